"""Reading and writing selected elements: ``x[...]``."""

from __future__ import annotations

import math
from functools import update_wrapper
from typing import Any

from ... import dtypes
from ...autograd.inference import UNSETTLED, refuse_saved
from ...autograd.node_names import argument
from ...autograd.nodes import Node
from ...autograd.views import check_inplace, edge_of, rebase
from ...core import torch_function
from ...core.tensor import Tensor, making, wrap
from ...core.waiting import Waiting
from ...dispatch.compiled import serve, unwritten
from ...dispatch.inplace import write_through
from ...dispatch.op import OPS, Array, Backend, Op, composite, op
from ...dispatch.out import check_writable, scalar_name
from ...dispatch.overlap import check_overlap
from ...dispatch.promotion import written_number
from ...dispatch.record import note_versions
from ...dispatch.scalar_arguments import is_basic
from ...dispatch.template_arguments import Form
from ...state import grad_enabled
from ...state.tracebacks import short
from ...warnings import warn
from ..memory_order import copied, in_rows, order_of_chosen, ordered_like, restored
from ..shape.sizes import expanded_size
from .expanded_writing import opened
from .positions import one_ellipsis, row_major, slices, stands_alone, usable_index

#: PyTorch's words where there is nothing to choose.
_NOTHING = "{name}(): index {index} is out of bounds for dimension with size 0 (dimension {dim})"

# -- x[index] ----------------------------------------------------------------------------------


def _read_name(node: Node) -> str:
    """torch's name, which is that of its last step: it selects, slices and inserts one by one."""
    index = argument(node, "index")
    last = "Alias"
    for item in index if isinstance(index, tuple) else (index,):
        if hasattr(item, "dtype") or isinstance(item, bool):
            return "IndexBackward0"
        if isinstance(item, int):
            last = "Select"
        elif item is None:
            last = "Unsqueeze"
        elif item is not Ellipsis and (item != slice(None) or not isinstance(index, tuple)):
            last = "Slice"
    return f"{last}Backward0"


@op(view=True, method=False, node=_read_name, copy_node="IndexBackward0", frees="copies")
def _getitem(xp: Backend, input: Array, index: Any) -> Array:
    if index.__class__ is int:
        return input[index, ...]
    if index.__class__ is input.__class__ and index.dtype.kind == "i" and index.ndim:
        if input.flags.c_contiguous:
            return input.take(index, 0)
    if index is not None and xp.truncates_slices:
        _refuse_floats(index)
    out = input[index]
    if out.__class__ is input.__class__ and out.base is input:
        return out
    if not isinstance(out, input.__class__):
        # NumPy gives the number where ints name one element; with dots, the view of it.
        return input[(*index, ...)]
    if _has_arrays(index) and out.ndim:  # a copy, whose order in memory is the library's choice
        xp.check_read(index)
        if input.flags.c_contiguous:
            return out if out.flags.c_contiguous else xp.ascontiguousarray(out)
        order = order_of_chosen(input, index, out)
        return restored(xp, in_rows(xp, xp.transpose(out, order)), order)
    return out


def _refuse_floats(index: Any) -> None:
    """TypeError for a slice with another bound than an integer."""
    for item in index if index.__class__ is tuple else (index,):
        if item.__class__ is slice:
            _whole(item)


_getitem.vjp(input=lambda xp, g, in_shape, index: xp.call(_scatter_item, g, index, in_shape))


def _has_arrays(index: Any) -> bool:
    if hasattr(index, "dtype"):
        return True
    return any(hasattr(i, "dtype") for i in (index if isinstance(index, tuple) else (index,)))


@op(method=False)
def _scatter_item(xp: Backend, input: Array, index: Any, shape: Any) -> Array:
    """Zeros of ``shape`` with ``input`` added at ``index``: the gradient of reading there."""
    out = xp.zeros(tuple(shape), input.dtype)
    _add_at(xp, out, index, input)
    return out


def _add_at(xp: Backend, out: Array, index: Any, values: Array) -> None:
    """``out[index] += values`` for a row-major ``out``, repeated elements summed."""
    items = index if isinstance(index, tuple) else (index,)
    arrays = [item for item in items if hasattr(item, "dtype")]
    if not arrays or (len(items) == 1 and arrays[0].dtype.kind == "b"):
        out[index] += values  # names no element twice
    elif len(arrays) == len(items) and all(item.dtype.kind in "iu" for item in items):
        _add_rows(xp, out, items, values)
    else:
        xp.index_add(out, index, values)


def _add_rows(xp: Backend, out: Array, items: tuple[Array, ...], values: Array) -> None:
    """``_add_at`` for integer arrays, which choose in the first dimensions."""
    count = len(items)
    row: Any = 0
    for item, size in zip(items, out.shape, strict=False):
        row = row * size + xp.where(item < 0, item + size, item)
    rest = out.shape[count:]
    values = xp.broadcast_to(values, (*row.shape, *rest))
    places = slices(xp, row.reshape(-1), 0, (math.prod(out.shape[:count]), *rest))
    xp.index_add(out.reshape(-1), places, values.reshape(-1))


_scatter_item.vjp(input=lambda xp, g, index: xp.call(_getitem, g, index))


def _written_name(node: Node) -> str:
    index = argument(node, "index")
    items = index if isinstance(index, tuple) else (index,)
    whole = all(hasattr(i, "dtype") or i == slice(None) or i is Ellipsis for i in items)
    return "IndexPutBackward0" if whole and _has_arrays(index) else "CopySlices"


@op(method=False, node=_written_name, frees=True)
def _setitem(xp: Backend, input: Array, value: Array, index: Any) -> Array:
    """``input`` with ``value`` written at ``index``."""
    out = copied(xp, input)
    xp.write_item(out, index, value)
    return out


def _value_gradient(xp: Any, g: Any, index: Any, in_shape: Any) -> Any:
    g = xp.call(_getitem, g, index)
    lead = len(in_shape) - g.ndim  # the value may have had dimensions of size 1 too many
    return xp.reshape(g, (1,) * lead + tuple(g.shape)) if lead > 0 else g


_setitem.vjp(input=lambda xp, g, index: xp.call(_clear_item, g, index), value=_value_gradient)


@op(method=False)
def _clear_item(xp: Backend, input: Array, index: Any) -> Array:
    out = copied(xp, input)
    xp.write_item(out, index, 0)
    return out


_clear_item.vjp(input=lambda xp, g, index: xp.call(_clear_item, g, index))


def raw_index(tensor: Tensor, index: Any) -> Any:
    """An index of ``tensor`` with arrays of its backend for tensors and lists.

    Raises:
        IndexError: For too many indices, one out of range, or one of a wrong type.
    """
    xp, shape = tensor._xp, tensor._data.shape
    if index.__class__ is list and len(index) < 32 and any(map(stands_alone, index)):
        warn(
            "Using a non-tuple sequence for multidimensional indexing is deprecated; use "
            "x[tuple(seq)] instead of x[seq]."
        )
        index = tuple(index)
    if index.__class__ is int and shape and -shape[0] <= index < shape[0]:
        return index
    items = index if isinstance(index, tuple) else (index,)
    raw = [_raw_item(tensor, item) for item in items]
    consumed = sum(_consumes(item) for item in raw)
    if consumed > len(shape):
        if not shape:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python to convert a "
                "0-dim tensor to a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    at, dots = 0, False
    for item in raw:
        if item is Ellipsis:
            if dots:
                return raw_index(tensor, one_ellipsis(items, len(shape), consumed))
            at, dots = len(shape) - (consumed - at), True
        elif isinstance(item, int) and not isinstance(item, bool):
            if not -shape[at] <= item < shape[at]:
                raise IndexError(
                    f"index {item} is out of bounds for dimension {at} with size {shape[at]}"
                )
        elif isinstance(item, xp.array_type):
            _check_array_index(xp, item, shape, at)
        at += 0 if item is Ellipsis else _consumes(item)
    return tuple(raw) if isinstance(index, tuple) else raw[0]


def _raw_item(tensor: Tensor, item: Any) -> Any:
    if item is None or item is Ellipsis or isinstance(item, (bool, int)):
        return item
    if isinstance(item, slice):
        return _whole(item)
    if not isinstance(item, Tensor):
        if hasattr(item, "__index__") and not getattr(item, "ndim", 0):
            return item.__index__()
        if isinstance(item, (list, tuple, range)) or hasattr(item, "__array_interface__"):
            plain = list(item) if isinstance(item, range) else item
            item = wrap(tensor._xp.convert(plain), tensor._xp)
            if not item._data.size and item._data.dtype.kind == "f":
                item = item.to("int64")
        else:
            if isinstance(item, (str, bytes)):
                raise TypeError(f"new(): invalid data type '{type(item).__name__}'")
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
                f"are valid indices (got {type(item).__name__})"
            )
    if item._data.dtype.kind not in "ib":
        item = usable_index(item)
    if item._xp is not tensor._xp:
        item = item.to(backend=tensor._xp)
    if not item._data.shape and item._data.dtype.kind != "b":
        return int(tensor._xp.item(item._data))  # gives a view, for which a GPU's host waits
    if item._inference and grad_enabled() and tensor.requires_grad:
        refuse_saved()
    return item._data


def _whole(given: slice) -> slice:
    return slice(_bound(given.start), _bound(given.stop), _bound(given.step))


def _bound(value: Any) -> Any:
    if value is None:
        return None
    if not hasattr(value, "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return value.__index__()


def _consumes(item: Any) -> int:
    """How many dimensions an index item stands for."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, (int, slice)):
        return 1
    return int(item.ndim) if item.dtype.kind == "b" else 1


def _check_array_index(xp: Backend, item: Array, shape: tuple[int, ...], at: int) -> None:
    if item.dtype.kind == "b":
        for d, (n, m) in enumerate(zip(item.shape, shape[at:], strict=False)):
            if n != m:
                raise IndexError(
                    f"The shape of the mask {list(item.shape)} at index {d} does not match the "
                    f"shape of the indexed tensor {list(shape)} at index {at + d}"
                )
        return
    if shape[at]:
        xp.check_indices("index", item, shape[at], at)
    else:
        xp.check_indices("index", item, 0, at, text=_NOTHING)


def _read(self: Tensor, index: Any) -> Tensor:
    """``self[index]``."""
    return _read_slowly(_getitem.op, getitem, self, index)


def _read_slowly(op: Op, function: Any, self: Tensor, index: Any) -> Tensor:
    """``self[index]`` where the index is not plain, or wrong."""
    if self.__class__ in torch_function.PLAIN and _is_one_array(self, index):
        raw = index._data
    else:
        answer = _answer(function, self, index)
        if answer is not torch_function.NOBODY:
            return answer  # type: ignore[no-any-return]
        raw = raw_index(self, index)
    if raw.__class__ is tuple and _ints_stand_apart(raw):
        before, raw = _ints_first(raw)
        self = _getitem(self, before)
    out = _getitem(self, raw)
    if out._rg is True:  # recorded, and no view
        _keep_index(out._node, index)
    return out


getitem: Any = serve(unwritten("getitem"), _getitem.op, Form.ITEM, _read_slowly)
update_wrapper(getitem, _read)


def _is_one_array(self: Tensor, index: Any) -> bool:
    """Whether an index is a plain tensor of integers or bools; IndexError if it does not fit."""
    kind: Any = index.__class__
    if kind not in torch_function.PLAIN or index._xp is not self._xp or index._inference:
        return False
    array, shape = index._data, self._data.shape
    kind, ndim = array.dtype.kind, array.ndim
    if kind not in "ib" or not ndim or not shape or (kind == "b" and ndim > len(shape)):
        return False
    _check_array_index(self._xp, array, shape, 0)
    return True


def _answer(function: Any, tensor: Tensor, *rest: Any) -> Any:
    """What somebody makes of reading or writing elements, who is an item of the index perhaps."""
    items = rest[0] if isinstance(rest[0], (tuple, list)) else rest[:1]
    values = torch_function.overloaded((tensor, *items, *rest[1:]))
    if values or torch_function.must_ask():
        return torch_function.ask(function, values, (tensor, *rest), {})
    return torch_function.NOBODY


def _keep_index(node: Any, index: Any) -> None:
    """Let a backward pass see it if an index was modified after it had been read at."""
    items = index if isinstance(index, (tuple, list)) else (index,)
    tensors = tuple(item for item in items if isinstance(item, Tensor))
    if tensors:
        node.saved = tensors
        note_versions(node)


def _ints_stand_apart(index: tuple[Any, ...]) -> bool:
    """Whether there are ints that do not adjoin the arrays.

    To NumPy an int beside arrays is one of them, and what they select comes first where they
    are apart. To torch it selects before they do, and they alone decide.
    """
    arrays = [i for i, item in enumerate(index) if hasattr(item, "dtype") or item.__class__ is bool]
    ints = [i for i, item in enumerate(index) if item.__class__ is int]
    if not arrays or not ints:
        return False
    chosen = sorted(arrays + ints)
    return chosen[-1] - chosen[0] >= len(chosen)


def _ints_first(index: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Two indices, one after the other: that without its arrays, and that of the arrays."""
    before: list[Any] = []
    after: list[Any] = []
    for item in index:
        if hasattr(item, "dtype"):
            before += [slice(None)] * _consumes(item)
            after.append(item)
        elif isinstance(item, bool):
            after.append(item)
        else:
            before.append(item)
            if item.__class__ is not int:
                after.append(item if item is Ellipsis else slice(None))
    return tuple(before), tuple(after)


@short
def _set(self: Tensor, index: Any, value: Any) -> None:
    if self.__class__ in torch_function.PLAIN and self._rg is False and making.version is None:
        if is_basic(index) and _write_plainly(self, index, value):
            return
    if self.__class__ not in torch_function.PLAIN or not is_basic(index) or not _is_plain(value):
        answer = _answer(_set, self, index, value)
        if answer is not torch_function.NOBODY:
            return
    if isinstance(self, Waiting):
        write_through(self, "index_put_", lambda work: set_writable(work, index, value))
        return
    if self._xp.readonly(self._data):
        return _set_part(self, index, value)
    check_writable("index_put", self)
    set_writable(self, index, value)


def _write_plainly(self: Tensor, index: Any, value: Any) -> bool:
    """Write at a basic index where nothing has to be looked at or recorded, if that is so."""
    xp, data, version = self._xp, self._data, self._vc
    if version is UNSETTLED or not xp.refuses_writes:
        return False
    given: Any = value.__class__
    if given in torch_function.PLAIN:
        if value._rg is not False or value._xp is not xp or value._vc is version is not None:
            return False
        value = value._data
        if value.dtype is not data.dtype or value is data:
            return False
    elif given is not float or data.dtype.char not in "fd" or not -1e38 < value < 1e38:
        return False
    try:
        data[index] = value
    except (IndexError, TypeError, ValueError):
        return False  # somebody says in PyTorch's words what is wrong
    if version is None:
        self._vc = [1]
    else:
        version[0] += 1
    return True


def _is_plain(value: Any) -> bool:
    return value.__class__ in torch_function.PLAIN or value.__class__ in (int, float, bool)


def set_writable(self: Tensor, index: Any, value: Any) -> None:
    """``self[index] = value`` where that may be written."""
    xp = self._xp
    raw = raw_index(self, index)
    if not isinstance(value, Tensor):
        if value is None or isinstance(value, (str, bytes, dict)):
            raise TypeError(f"can't assign a {type(value).__name__} to a {self.type()}")
        if not isinstance(value, (bool, int, float, complex)):
            value = OPS["tensor"].function(value, backend=xp)
        else:
            # Here alone halves take what is beyond them, as infinity.
            limits = dtypes.float64 if self.dtype is dtypes.float16 else self.dtype
            value = written_number(value, limits)
            value = wrap(xp.convert(value, self.dtype), xp)
    elif value._xp is not xp:
        value = _moved(self, value)
    if raw.__class__ is tuple and _ints_stand_apart(raw):
        before, raw = _ints_first(raw)
        self = _getitem(self, before)
    _write_at(self, raw, value, index)


def _set_part(self: Tensor, index: Any, value: Any) -> None:
    """Write to a part of an expanded tensor, which may have each of its elements once."""
    part = getitem(self, index)
    if part._base is None:
        with opened("index_put", self, value):
            return set_writable(self, index, value)
    if not isinstance(value, Tensor):
        value = OPS["tensor"].function(value, backend=self._xp)
    part.copy_(value)


def _moved(self: Tensor, value: Tensor) -> Tensor:
    if value._data.shape:
        raise RuntimeError(
            f"index_put: Expected all tensors to be on the same device, but got value on "
            f"{value.device}, different from the tensor on {self.device}"
        )
    return value.to(backend=self._xp)


def _write_at(target: Tensor, index: Any, value: Tensor, given: Any) -> None:
    """``target[index] = value`` with its history; ``given`` is the index with its tensors."""
    if value.is_complex() and not target.is_complex():
        if _has_arrays(index):
            _check_put(target, value)
        value = value.to(target.dtype)
    recording = grad_enabled() and target._data.dtype.kind in "fc"
    edges = (edge_of(target), edge_of(value)) if recording else (None, None)
    wants = edges[0] is not None or edges[1] is not None
    if wants:
        _check_target(target)
    data = target._data
    if value is target or value._vc is not None and value._vc is target._vc:
        _check_shared(target, index, value)
    fitted = _fitted(value._data, data)
    try:
        target._xp.write_item(data, index, fitted)
    except (ValueError, TypeError):
        part = data[index].shape
        extra = fitted.ndim - len(part)
        if extra > 0 and all(n == 1 for n in fitted.shape[:extra]):
            return _write_at(target, index, value.reshape(fitted.shape[extra:]), given)
        if not _has_arrays(index):
            expanded_size(fitted.shape, part)  # says how they differ
        _check_fits(value, part)
        raise
    target._bump()
    if wants:
        node = Node(
            OPS["_setitem"].backward,
            target._xp,
            edges,
            (None, None, index),
            (),
            data.shape,
            data.dtype,
        )
        _keep_index(node, given)
        rebase(target, node, OPS["_view_scatter"].backward)


def _check_shared(target: Tensor, index: Any, value: Tensor) -> None:
    """RuntimeError if writing a part of ``target`` into ``target`` overlaps.

    What is broadcast counts as read before, as it does in PyTorch.
    """
    data = target._data
    if _has_arrays(index):
        if value._data.size > 1:
            check_overlap(target, data, (value,), alone=True)
    elif value._data.shape == (part := data[index]).shape:
        check_overlap(target, part, (value,))


def _check_put(target: Tensor, value: Tensor) -> None:
    if value.dtype is not target.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{scalar_name(target.dtype)} for the destination and {scalar_name(value.dtype)} for "
            "the source."
        )


def _check_target(target: Tensor) -> None:
    """``check_inplace`` of the part that is written to, a view."""
    if target._base is None and target._rg and target._node is None:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )
    check_inplace(target)


def _fitted(value: Array, data: Array) -> Array:
    """The value in the target's dtype, without leading dimensions of size 1 too many."""
    while value.ndim > data.ndim and value.shape[0] == 1:
        value = value[0]
    return value if value.dtype == data.dtype else value.astype(data.dtype)


for _name, _function in (("__getitem__", getitem), ("__setitem__", _set)):
    _function.__name__, _function.__qualname__ = _name, f"Tensor.{_name}"
    setattr(Tensor, _name, _function)


@composite(inplace=True)
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """``input`` with ``values`` written at ``input[indices]``.

    Args:
        input: Tensor of any shape.
        indices: A sequence of int64 or bool tensors that broadcast; None for a whole dimension.
        values: Tensor of ``input``'s dtype whose shape broadcasts to that of ``input[indices]``.
        accumulate: Add rather than write; default False.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        IndexError: If an index is out of range.
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> import tinytorch as tt
        >>> where = (tt.tensor([0, 0]),)
        >>> tt.zeros(2).index_put(where, tt.tensor([1.0, 2.0]), accumulate=True)
        tensor([3., 0.])
    """
    if not accumulate and values.numel() == 1 and all(map(_masks, indices)):
        values = values.to(input.dtype).reshape(())  # a number for all that the masks choose
    _check_put(input, values)
    raw = raw_index(input, tuple(slice(None) if i is None else i for i in indices))
    try:
        out = (_additem if accumulate else _setitem)(input, values, raw)
    except (ValueError, TypeError, RuntimeError):
        _check_fits(values, input._data[raw].shape)
        raise
    if out._rg:
        _keep_index(out._node, indices)
    return out


def _check_fits(value: Tensor, part: tuple[int, ...]) -> None:
    """RuntimeError unless a value can be written where an index says."""
    lead = len(part) - value.ndim
    if lead < 0 or any(n not in (1, m) for n, m in zip(value.shape, part[lead:], strict=True)):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to "
            f"indexing result of shape {list(part)}"
        )


def _masks(index: Tensor | None) -> bool:
    return index is None or index.dtype is dtypes.bool


@op(method=False, node="IndexPutBackward0", frees=True)
def _additem(xp: Backend, input: Array, value: Array, index: Any) -> Array:
    out = row_major(xp, input)
    _add_at(xp, out, index, value)
    return ordered_like(xp, out, input)


_additem.vjp(input=lambda xp, g: g, value=lambda xp, g, index: xp.call(_getitem, g, index))
