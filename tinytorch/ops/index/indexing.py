"""Reading of selected elements: ``x[...]``."""

from __future__ import annotations

import math
from functools import update_wrapper
from typing import Any

from ...core import torch_function
from ...core.tensor import Tensor, wrap
from ...dispatch.generated_functions import install_slow_path, make_function
from ...dispatch.node_recording import note_versions
from ...dispatch.op import Array, Backend, Nodes, Op, op
from ...dispatch.operation import Form
from ...graph.inference import raise_saved_inference
from ...graph.nodes import Node
from ...graph.special_nodes import argument
from ...state import grad_enabled
from ...warnings import warn
from ..memory_order import advanced_index_order, as_row_major, restore_order
from .positions import convert_index, is_index_item, merge_ellipses, slice_positions

#: PyTorch's error for an index into a dimension of size 0.
_EMPTY_DIMENSION = (
    "{name}(): index {index} is out of bounds for dimension with size 0 (dimension {dim})"
)

# -- x[index] ----------------------------------------------------------------------------------


def _read_name(node: Node) -> str:
    """PyTorch's name of the node of an index.

    PyTorch applies the items of an index one by one, as select, slice and so on. The name is that
    of the last operation.
    """
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


@op(view=True, node=Nodes(_read_name, copy="IndexBackward0", copy_frees=True))
def _getitem(xp: Backend, input: Array, index: Any) -> Array:
    """``input[index]`` for a converted index: a view, or a copy in the memory order of PyTorch."""
    if index.__class__ is int:
        return input[index, ...]
    if index.__class__ is input.__class__ and index.dtype.kind == "i" and index.ndim:
        if input.flags.c_contiguous:
            return _take_rows(xp, input, index)
    if index is not None and xp.truncates_slices:
        check_slice_bounds(index)
    out = input[index]
    if out.__class__ is input.__class__ and out.base is input:
        return out
    if not isinstance(out, input.__class__):
        # For an index of ints NumPy returns a scalar; with an ellipsis it returns a 0-d view.
        return input[(*index, ...)]
    if has_arrays(index) and out.ndim:  # a copy, whose memory order depends on the library
        xp.check_read(index)
        if input.flags.c_contiguous:
            return out if out.flags.c_contiguous else xp.ascontiguousarray(out)
        order = advanced_index_order(input, index, out)
        return restore_order(xp, as_row_major(xp, out.transpose(order)), order)
    return out


def _take_rows(xp: Backend, input: Array, index: Array) -> Array:
    """Take the rows of a row-major array at an array of integers."""
    try:
        taken: Array = xp.take(input, index, 0)
        return taken
    except IndexError as error:
        wrong = error
    _check_array_index(xp, index, input.shape, 0)
    raise wrong


def check_slice_bounds(index: Any) -> None:
    """Raise TypeError for a slice whose bounds are not integers."""
    for item in index if index.__class__ is tuple else (index,):
        if item.__class__ is slice:
            _to_int_slice(item)


_getitem.vjp(input=lambda xp, g, in_shape, index: xp.call(_scatter_item, g, index, in_shape))


def has_arrays(index: Any) -> bool:
    """Whether an index is an array or contains one."""
    if hasattr(index, "dtype"):
        return True
    for item in index if isinstance(index, tuple) else (index,):
        if hasattr(item, "dtype"):
            return True
    return False


@op
def _scatter_item(xp: Backend, input: Array, index: Any, shape: Any) -> Array:
    """Add ``input`` to zeros of ``shape`` at ``index``: the gradient of indexing."""
    out = xp.zeros(tuple(shape), input.dtype)
    add_at(xp, out, index, input)
    return out


def add_at(xp: Backend, out: Array, index: Any, values: Array) -> None:
    """``out[index] += values`` for a row-major ``out``; repeated indices are summed."""
    items = index if isinstance(index, tuple) else (index,)
    arrays = [item for item in items if hasattr(item, "dtype")]
    if not arrays or (len(items) == 1 and arrays[0].dtype.kind == "b"):
        out[index] += values  # no index is repeated
    elif len(arrays) == len(items) and all(item.dtype.kind in "iu" for item in items):
        _add_rows(xp, out, items, values)
    else:
        xp.index_add(out, index, values)


def _add_rows(xp: Backend, out: Array, items: tuple[Array, ...], values: Array) -> None:
    """``add_at`` for integer arrays that index the first dimensions."""
    count = len(items)
    row: Any = 0
    for item, size in zip(items, out.shape, strict=False):
        row = row * size + xp.where(item < 0, item + size, item)
    rest = out.shape[count:]
    values = xp.broadcast_to(values, (*row.shape, *rest))
    places = slice_positions(xp, row.reshape(-1), 0, (math.prod(out.shape[:count]), *rest))
    xp.index_add(out.reshape(-1), places, values.reshape(-1))


_scatter_item.vjp(input=lambda xp, g, index: xp.call(_getitem, g, index))


def raw_index(tensor: Tensor, index: Any) -> Any:
    """Convert the tensors and lists of an index to arrays of the tensor's backend.

    Raises:
        IndexError: If there are too many indices, or one is out of range or of a wrong type.
    """
    xp, shape = tensor._xp, tensor._data.shape
    if index.__class__ is list and len(index) < 32 and any(map(is_index_item, index)):
        warn(
            "Using a non-tuple sequence for multidimensional indexing is deprecated; use "
            "x[tuple(seq)] instead of x[seq]."
        )
        index = tuple(index)
    if index.__class__ is int and shape and -shape[0] <= index < shape[0]:
        return index
    items = index if isinstance(index, tuple) else (index,)
    raw = [_raw_item(tensor, item) for item in items]
    consumed = sum(_count_dims(item) for item in raw)
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
                return raw_index(tensor, merge_ellipses(items, len(shape), consumed))
            at, dots = len(shape) - (consumed - at), True
        elif isinstance(item, int) and not isinstance(item, bool):
            if not -shape[at] <= item < shape[at]:
                raise IndexError(
                    f"index {item} is out of bounds for dimension {at} with size {shape[at]}"
                )
        elif isinstance(item, xp.array_type):
            _check_array_index(xp, item, shape, at)
        at += 0 if item is Ellipsis else _count_dims(item)
    return tuple(raw) if isinstance(index, tuple) else raw[0]


def _raw_item(tensor: Tensor, item: Any) -> Any:
    """Convert one item of an index for ``raw_index``.

    Returns:
        None, an ellipsis, a bool, an int, a slice of ints, or an array of ints or bools.
    """
    if item is None or item is Ellipsis or isinstance(item, (bool, int)):
        return item
    if isinstance(item, slice):
        return _to_int_slice(item)
    if not isinstance(item, Tensor):
        if hasattr(item, "__index__") and not getattr(item, "ndim", 0):
            return item.__index__()
        if isinstance(item, (list, tuple, range)) or hasattr(item, "__array_interface__"):
            values = list(item) if isinstance(item, range) else item
            item = wrap(tensor._xp.convert(values), tensor._xp)
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
        item = convert_index(item)
    if item._xp is not tensor._xp:
        item = item.to(backend=tensor._xp)
    if not item._data.shape and item._data.dtype.kind != "b":
        # An int makes the result a view, but the host waits for a GPU.
        return int(tensor._xp.item(item._data))
    if item._inference and grad_enabled() and tensor.requires_grad:
        raise_saved_inference()
    return item._data


def _to_int_slice(given: slice) -> slice:
    """Convert the bounds of a slice to ints; raise TypeError if they are not integers."""
    return slice(_to_int_bound(given.start), _to_int_bound(given.stop), _to_int_bound(given.step))


def _to_int_bound(value: Any) -> Any:
    """Convert a bound of a slice to an int, or None; raise TypeError for other values."""
    if value is None:
        return None
    if not hasattr(value, "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return value.__index__()


def _count_dims(item: Any) -> int:
    """Number of dimensions that an item of an index consumes."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, (int, slice)):
        return 1
    return int(item.ndim) if item.dtype.kind == "b" else 1


def _check_array_index(xp: Backend, item: Array, shape: tuple[int, ...], at: int) -> None:
    """Raise IndexError if a mask or int array does not fit ``shape`` from dimension ``at`` on."""
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
        xp.check_indices("index", item, 0, at, text=_EMPTY_DIMENSION)


def _read(self: Tensor, index: Any) -> Tensor:
    """``self[index]``."""
    return _read_slow_path(_getitem.op, getitem, self, index)


def _read_slow_path(op: Op, function: Any, self: Tensor, index: Any) -> Tensor:
    """Slow path of ``self[index]``: overrides, conversions and errors."""
    if self.__class__ in torch_function.PLAIN and _is_valid_array_index(self, index):
        raw = index._data
    else:
        result = override_result(function, self, index)
        if result is not torch_function.NO_OVERRIDE:
            return result  # type: ignore[no-any-return]
        raw = raw_index(self, index)
    if raw.__class__ is tuple and has_separate_ints(raw):
        before, raw = split_ints_first(raw)
        self = _getitem(self, before)
    out = _getitem(self, raw)
    if out._rg is True:  # recorded, and not a view
        save_index(out._node, index)
    return out


getitem: Any = install_slow_path(make_function("getitem"), _getitem.op, Form.ITEM, _read_slow_path)
update_wrapper(getitem, _read)


def _is_valid_array_index(self: Tensor, index: Any) -> bool:
    """Whether an index is an exact Tensor of ints or bools; raise if it is out of range."""
    kind: Any = index.__class__
    if kind not in torch_function.PLAIN or index._xp is not self._xp or index._inference:
        return False
    array, data = index._data, self._data
    kind, ndim = array.dtype.kind, array.ndim
    if kind not in "ib" or not ndim or not data.ndim or (kind == "b" and ndim > data.ndim):
        return False
    if kind == "b" or not (data.flags.c_contiguous and self._xp.checks_indices):
        _check_array_index(self._xp, array, data.shape, 0)  # otherwise ``_take_rows`` checks it
    return True


def override_result(function: Any, tensor: Tensor, *rest: Any) -> Any:
    """Result of an override of indexing; the tensor, an item or the value may override it."""
    items = rest[0] if isinstance(rest[0], (tuple, list)) else rest[:1]
    values = torch_function.overriding_arguments((tensor, *items, *rest[1:]))
    if values or torch_function.has_mode():
        return torch_function.dispatch_override(function, values, (tensor, *rest), {})
    return torch_function.NO_OVERRIDE


def save_index(node: Any, index: Any) -> None:
    """Save the tensors of an index, so that a backward pass detects their modification."""
    items = index if isinstance(index, (tuple, list)) else (index,)
    tensors = tuple(item for item in items if isinstance(item, Tensor))
    if tensors:
        node.saved = tensors
        note_versions(node)


def has_separate_ints(index: tuple[Any, ...]) -> bool:
    """Whether an index has ints that are not adjacent to its arrays.

    NumPy treats an int beside arrays as an array, and puts the dimensions of arrays that are
    not adjacent first. In torch ints select first, and only the arrays decide.
    """
    arrays = [i for i, item in enumerate(index) if hasattr(item, "dtype") or item.__class__ is bool]
    ints = [i for i, item in enumerate(index) if item.__class__ is int]
    if not arrays or not ints:
        return False
    chosen = sorted(arrays + ints)
    return chosen[-1] - chosen[0] >= len(chosen)


def split_ints_first(index: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Split an index into a basic one, to apply first, and one of its arrays, for the result.

    ``(array, slice(1, 3), 0)`` becomes ``(:, 1:3, 0)`` and ``(array, :)``. So ints select first, as
    in PyTorch, and NumPy does not treat them as arrays; see ``has_separate_ints``.
    """
    before: list[Any] = []
    after: list[Any] = []
    for item in index:
        if hasattr(item, "dtype"):
            before += [slice(None)] * _count_dims(item)
            after.append(item)
        elif isinstance(item, bool):
            after.append(item)
        else:
            before.append(item)
            if item.__class__ is not int:
                after.append(item if item is Ellipsis else slice(None))
    return tuple(before), tuple(after)


getitem.__name__, getitem.__qualname__ = "__getitem__", "Tensor.__getitem__"
Tensor.__getitem__ = getitem  # type: ignore[method-assign]
