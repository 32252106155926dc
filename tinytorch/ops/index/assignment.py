"""Writing of selected elements: ``x[...] = y`` and ``index_put``."""

from __future__ import annotations

from functools import update_wrapper
from typing import Any

from ... import dtypes
from ...core import torch_function
from ...core.lazy_bits import LazyView
from ...core.tensor import Tensor, wrap
from ...dispatch.arguments import is_basic
from ...dispatch.generated_functions import install_slow_path, make_function
from ...dispatch.inplace import write_resolved
from ...dispatch.op import OPS, Array, Backend, Nodes, Op, Operand, Reduced, composite, op
from ...dispatch.operation import Form
from ...dispatch.out import check_overlap, check_writable, scalar_name
from ...dispatch.promotion import convert_to_write
from ...graph.late_bound import LATE_BOUND
from ...graph.nodes import Node
from ...graph.special_nodes import argument
from ...graph.views import check_inplace, edge_of, rebase
from ...state import grad_enabled
from ...state.recorder import record_operation
from ..memory_order import copy_in_memory_order, match_memory_order
from ..shape.sizes import expanded_size
from .filling import allow_expanded_write
from .indexing import _getitem as getitem_kernel
from .indexing import (
    add_at,
    check_slice_bounds,
    getitem,
    has_arrays,
    has_separate_ints,
    override_result,
    raw_index,
    save_index,
    split_ints_first,
)
from .positions import row_major


def _setitem_name(node: Node) -> str:
    """PyTorch's name of the node of an assignment.

    It is IndexPutBackward0 if the index consists of arrays and full slices, else CopySlices.
    """
    index = argument(node, "index")
    items = index if isinstance(index, tuple) else (index,)
    whole = all(hasattr(i, "dtype") or i == slice(None) or i is Ellipsis for i in items)
    return "IndexPutBackward0" if whole and has_arrays(index) else "CopySlices"


@op(node=Nodes(_setitem_name, frees=True))
def _setitem(
    xp: Backend, input: Array, value: Operand, *, index: Any = ..., out: Array | None = None
) -> Array:
    """Copy of ``input`` with ``value`` written at ``index``."""
    if xp.truncates_slices:
        check_slice_bounds(index)
    if out is None:
        out = copy_in_memory_order(xp, input)
    xp.write_item(out, index, value)
    return out


def _value_gradient(xp: Any, g: Any, index: Any, in_shape: Any) -> Any:
    g = xp.call(getitem_kernel, g, index)
    lead = len(in_shape) - g.ndim  # the value may have had extra dimensions of size 1
    return g.reshape((1,) * lead + tuple(g.shape)) if lead > 0 else g


_setitem.vjp(input=lambda xp, g, index: xp.call(_clear_item, g, index), value=_value_gradient)


@op(reduced=Reduced.NATIVE)
def _clear_item(xp: Backend, input: Array, index: Any) -> Array:
    """Copy of ``input`` with zeros at ``index``: the gradient of ``input``."""
    out = copy_in_memory_order(xp, input)
    xp.write_item(out, index, 0)
    return out


_clear_item.vjp(input=lambda xp, g, index: xp.call(_clear_item, g, index))


def _write(self: Tensor, index: Any, value: Any) -> None:
    """``self[index] = value``."""
    _write_slow_path(_setitem.op, setitem, self, index, value)


def _write_slow_path(op: Op, function: Any, self: Tensor, index: Any, value: Any) -> None:
    """Slow path of ``self[index] = value``: overrides, recording, conversions and errors."""
    if (
        self.__class__ not in torch_function.PLAIN
        or not is_basic(index)
        or not _is_exact_tensor_or_number(value)
    ):
        result = override_result(function, self, index, value)
        if result is not torch_function.NO_OVERRIDE:
            return
    if isinstance(self, LazyView):
        write_resolved(self, "index_put_", lambda work: set_writable(work, index, value))
        return
    if self._xp.readonly(self._data):
        return _write_to_expanded(self, index, value)
    check_writable("index_put", self)
    record_operation(lambda *_: set_writable(self, index, value), op, (self, index, value), {}, "_")


setitem: Any = install_slow_path(
    make_function("setitem"), _setitem.op, Form.SET_ITEM, _write_slow_path
)
update_wrapper(setitem, _write)
setitem.__name__, setitem.__qualname__ = "__setitem__", "Tensor.__setitem__"
Tensor.__setitem__ = setitem  # type: ignore[method-assign]


def _is_exact_tensor_or_number(value: Any) -> bool:
    return value.__class__ in torch_function.PLAIN or value.__class__ in (int, float, bool)


def set_writable(self: Tensor, index: Any, value: Any) -> None:
    """``self[index] = value`` for a writable tensor."""
    xp = self._xp
    raw = raw_index(self, index)
    if not isinstance(value, Tensor):
        if value is None or isinstance(value, (str, bytes, dict)):
            raise TypeError(f"can't assign a {type(value).__name__} to a {self.type()}")
        if not isinstance(value, (bool, int, float, complex)):
            value = OPS["tensor"].function(value, backend=xp)
        else:
            # Only here may a number exceed float16; it becomes infinity.
            limits = dtypes.float64 if self.dtype is dtypes.float16 else self.dtype
            value = convert_to_write(value, limits)
            value = wrap(xp.convert(value, self.dtype), xp)
    else:
        if value._xp is not xp:
            value = _to_target_device(self, value)
        if value.dtype is not self.dtype and has_arrays(raw) and not _is_masked_fill(raw, value):
            _check_put(self, value)
    if raw.__class__ is tuple and has_separate_ints(raw):
        before, raw = split_ints_first(raw)
        self = getitem_kernel(self, before)
    _write_at(self, raw, value, index)


def _is_masked_fill(index: Any, value: Tensor) -> bool:
    """Whether one value is written by a mask, for which PyTorch uses ``masked_fill``."""
    if index.__class__ is tuple:
        index = index[0] if len(index) == 1 else None
    return value.numel() == 1 and hasattr(index, "dtype") and index.dtype.kind == "b"


def _write_to_expanded(self: Tensor, index: Any, value: Any) -> None:
    """``self[index] = value`` for an expanded tensor, through the view ``self[index]``.

    That view may be written if its own elements share no memory. If indexing returns a copy instead
    of a view, the write is deprecated, as in PyTorch.
    """
    part = getitem(self, index)
    if part._base is None:
        with allow_expanded_write("index_put", self, value):
            return set_writable(self, index, value)
    if not isinstance(value, Tensor):
        value = OPS["tensor"].function(value, backend=self._xp)
    part.copy_(value)


def _to_target_device(self: Tensor, value: Tensor) -> Tensor:
    """Move a value without dimensions to the device of ``self``; raise for another value."""
    if value._data.shape:
        raise RuntimeError(
            f"index_put: Expected all tensors to be on the same device, but got value on "
            f"{value.device}, different from the tensor on {self.device}"
        )
    return value.to(backend=self._xp)


def _write_at(target: Tensor, index: Any, value: Tensor, given: Any) -> None:
    """``target[index] = value``, recorded.

    Args:
        target: A writable tensor.
        index: The index, converted by ``raw_index``.
        value: Tensor on the backend of ``target``.
        given: The index before conversion, whose tensors are saved for the gradient.
    """
    if value.is_complex() and not target.is_complex():
        value = value.to(target.dtype)
    recording = grad_enabled() and target._data.dtype.kind in "fcV"
    edges = (edge_of(target), edge_of(value)) if recording else (None, None)
    is_recorded = edges[0] is not None or edges[1] is not None
    if is_recorded:
        _check_target(target)
        edges = (edge_of(target), edges[1])
    data = target._data
    if value is target or value._vc is not None and value._vc is target._vc:
        _check_shared(target, index, value)
    fitted = _fit_value(value._data, data)
    try:
        target._xp.write_item(data, index, fitted)
    except (ValueError, TypeError):  # the shapes do not fit; PyTorch drops leading sizes of 1
        part = data[index].shape
        extra = fitted.ndim - len(part)
        if extra > 0 and all(n == 1 for n in fitted.shape[:extra]):
            return _write_at(target, index, value.reshape(fitted.shape[extra:]), given)
        if not has_arrays(index):
            expanded_size(fitted.shape, part)  # raises PyTorch's error
        _check_fits(value, part)
        raise
    target._bump()
    if is_recorded:
        rules, in_part = _setitem.op.backward, not has_arrays(index)
        if _selects_all(given, data.shape):  # PyTorch writes to the tensor, not to a view of it
            in_part = False
            fills = data.ndim and not value._data.ndim
            rules = rules.rename("FillBackward3" if fills else "CopyBackwards", frees=False)
        node = Node(rules, target._xp, edges, (None, None, index), (), data.shape, data.dtype)
        save_index(node, given)
        rebase(target, node, LATE_BOUND.write_rules().view_scatter, in_part)


def _selects_all(index: Any, shape: tuple[int, ...]) -> bool:
    """Whether an index consists of slices from 0 to the end, as far as PyTorch notices."""
    items = list(index) if index.__class__ is tuple else [index]
    at = next((at for at, item in enumerate(items) if item is Ellipsis), None)
    if at is not None:
        items[at : at + 1] = [slice(None)] * (len(shape) + 1 - len(items))
    return len(items) <= len(shape) and all(
        item.__class__ is slice
        and (item.start is None or item.start == 0)
        and (item.stop is None or item.stop >= n)
        and (item.step is None or item.step == 1)
        for item, n in zip(items, shape, strict=False)
    )


def _check_shared(target: Tensor, index: Any, value: Tensor) -> None:
    """Raise if ``value`` overlaps the part of ``target`` to which it is written.

    A value that is broadcast counts as read before the write, as in PyTorch.
    """
    data = target._data
    if has_arrays(index):
        if value._data.size > 1:
            check_overlap(target, data, (value,), alone=True)
    elif value._data.shape == (part := data[index]).shape:
        check_overlap(target, part, (value,))


def _check_put(target: Tensor, value: Tensor) -> None:
    """Raise unless the value of a write at index arrays has the target's dtype."""
    if value.dtype is not target.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{scalar_name(target.dtype)} for the destination and {scalar_name(value.dtype)} for "
            "the source."
        )


def _check_target(target: Tensor) -> None:
    """Check that a part of ``target``, as a view, may be changed in place."""
    if target._base is None and target._rg and target._node is None:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )
    check_inplace(target)


def _fit_value(value: Array, data: Array) -> Array:
    """Convert a value to the target's dtype, and drop extra leading dimensions of size 1."""
    while value.ndim > data.ndim and value.shape[0] == 1:
        value = value[0]
    return value if value.dtype == data.dtype else value.astype(data.dtype)


@composite(method=True, inplace=True)
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Copy of ``input`` with ``values`` written at ``input[indices]``.

    Args:
        input: Tensor of any shape.
        indices: A sequence of int64 or bool tensors that broadcast, or None for all of a dimension.
        values: Tensor of ``input``'s dtype whose shape broadcasts to that of ``input[indices]``.
        accumulate: Whether to add instead of overwriting; default False.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        IndexError: If an index is out of range.
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> where = (tt.tensor([0, 0]),)
        >>> tt.zeros(2).index_put(where, tt.tensor([1.0, 2.0]), accumulate=True)
        tensor([3., 0.])
    """
    if not accumulate and values.numel() == 1 and all(map(_is_mask_or_none, indices)):
        # Write one value to all elements that the masks select.
        values = values.to(input.dtype).reshape(())
    _check_put(input, values)
    raw = raw_index(input, tuple(slice(None) if i is None else i for i in indices))
    try:
        out = (_add_at_index if accumulate else _setitem)(input, values, index=raw)
    except (ValueError, TypeError, RuntimeError):
        _check_fits(values, input._data[raw].shape)
        raise
    if out._rg:
        save_index(out._node, indices)
    return out


def _check_fits(value: Tensor, shape: tuple[int, ...]) -> None:
    """Raise unless the shape of a value broadcasts to that of the indexing result."""
    lead = len(shape) - value.ndim
    if lead < 0 or any(n not in (1, m) for n, m in zip(value.shape, shape[lead:], strict=True)):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to "
            f"indexing result of shape {list(shape)}"
        )


def _is_mask_or_none(index: Tensor | None) -> bool:
    return index is None or index.dtype is dtypes.bool


@op(node=Nodes("IndexPutBackward0", frees=True))
def _add_at_index(xp: Backend, input: Array, value: Array, index: Any) -> Array:
    out = row_major(xp, input)
    add_at(xp, out, index, value)
    return match_memory_order(xp, out, input)


_add_at_index.vjp(
    input=lambda xp, g: g, value=lambda xp, g, index: xp.call(getitem_kernel, g, index)
)
