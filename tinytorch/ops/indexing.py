"""Reading and writing selected elements: ``x[...]``, and by index tensors."""

from __future__ import annotations

from typing import Any

from .. import _state
from .._inplace import assign
from .._write import check_writable
from .._op import OPS, Array, Backend, Index, Mask, Operand, composite, op
from .._tensor import Tensor, wrap
from ..autograd.graph import Node
from ..autograd.views import check_inplace, edge_of, rebase
from .shape import normalize_dim

# -- x[index] ----------------------------------------------------------------------------------


@op(view=True, method=False)
def _getitem(xp: Backend, input: Array, index: Any) -> Array:
    return input[index]


_getitem.vjp(input=lambda xp, g, in_shape, index: xp.call(_scatter_item, g, index, in_shape))


@op(method=False)
def _scatter_item(xp: Backend, input: Array, index: Any, shape: Any) -> Array:
    """Zeros of ``shape`` with ``input`` added at ``index``: the gradient of reading there."""
    out = xp.zeros(tuple(shape), input.dtype)
    if _is_basic(index):
        out[index] = input
    else:
        xp.index_add(out, index, input)
    return out


_scatter_item.vjp(input=lambda xp, g, index: xp.call(_getitem, g, index))


@op(method=False)
def _setitem(xp: Backend, input: Array, value: Array, index: Any) -> Array:
    """``input`` with ``value`` written at ``index``."""
    out = xp.array(input)
    out[index] = value
    return out


_setitem.vjp(
    input=lambda xp, g, index: xp.call(_clear_item, g, index),
    value=lambda xp, g, index: xp.call(_getitem, g, index),
)


@op(method=False)
def _clear_item(xp: Backend, input: Array, index: Any) -> Array:
    out = xp.array(input)
    out[index] = 0
    return out


_clear_item.vjp(input=lambda xp, g, index: xp.call(_clear_item, g, index))


def _is_basic(index: Any) -> bool:
    """Whether an index names each element at most once, by ints, slices and None."""
    items = index if isinstance(index, tuple) else (index,)
    return all(item is None or item is Ellipsis or isinstance(item, (int, slice)) for item in items)


def raw_index(tensor: Tensor, index: Any) -> Any:
    """An index of ``tensor`` with arrays of its backend for tensors and lists.

    Raises:
        IndexError: For too many indices, one out of range, or one of a wrong type.
    """
    items = index if isinstance(index, tuple) else (index,)
    xp, shape = tensor._xp, tensor._data.shape
    raw = [_raw_item(tensor, item) for item in items]
    consumed = sum(_consumes(item) for item in raw)
    if consumed > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    at = 0
    for item in raw:
        if item is Ellipsis:
            at = len(shape) - (consumed - at)
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
        return slice(_bound(item.start), _bound(item.stop), _bound(item.step))
    if not isinstance(item, Tensor):
        if hasattr(item, "__index__"):
            return item.__index__()
        if isinstance(item, (list, tuple, range)) or hasattr(item, "__array_interface__"):
            item = wrap(tensor._xp.convert(list(item) if isinstance(item, range) else item), tensor._xp)
            if not item._data.size and item._data.dtype.kind == "f":
                item = item.to("int64")
        else:
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
                f"are valid indices (got {type(item).__name__})"
            )
    if item._data.dtype.kind not in "iub":
        raise IndexError(
            "tensors used as indices must be long, int, byte or bool tensors, got "
            f"{item.dtype}"
        )
    if item._xp is not tensor._xp:
        item = item.to(backend=tensor._xp)
    if not item._data.shape and item._data.dtype.kind != "b" and tensor._xp.device_type == "cpu":
        return int(item._data)
    return item._data


def _bound(value: Any) -> Any:
    return value if value is None else value.__index__()


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
    xp.check_indices("index", item, shape[at], at)


def _get(self: Tensor, index: Any) -> Tensor:
    return _getitem(self, raw_index(self, index))


def _set(self: Tensor, index: Any, value: Any) -> None:
    check_writable("index_put", self)
    raw = raw_index(self, index)
    xp = self._xp
    if not isinstance(value, Tensor):
        if not isinstance(value, (bool, int, float, complex)):
            value = OPS["tensor"].function(value, backend=xp)
        else:
            value = wrap(xp.convert(value, self.dtype if _fits(value, self) else None), xp)
    elif value._xp is not xp:
        value = _moved(self, value)
    _write_at(self, raw, value)


def _fits(value: Any, tensor: Tensor) -> bool:
    return not isinstance(value, complex) or tensor.is_complex()


def _moved(self: Tensor, value: Tensor) -> Tensor:
    if value._data.shape:
        raise RuntimeError(
            f"index_put: Expected all tensors to be on the same device, but got value on "
            f"{value.device}, different from the tensor on {self.device}"
        )
    return value.to(backend=self._xp)


def _write_at(target: Tensor, index: Any, value: Tensor) -> None:
    """``target[index] = value`` with its history."""
    if value.dtype.category > target.dtype.category and value.is_complex():
        raise RuntimeError("value cannot be converted to type without overflow: complex to real")
    recording = _state.grad_enabled()
    edges = (edge_of(target), edge_of(value)) if recording else (None, None)
    wants = edges[0] is not None or edges[1] is not None
    if wants:
        _check_target(target)
    data = target._data
    try:
        data[index] = _fitted(value._data, data, index)
    except ValueError as error:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value._data.shape)} cannot be broadcast "
            f"to indexing result: {error}"
        ) from None
    target._bump()
    if wants:
        node = Node(
            OPS["_setitem"], target._xp, edges, (None, None, index), (), data.shape, data.dtype
        )
        rebase(target, node, OPS["_view_scatter"])


def _check_target(target: Tensor) -> None:
    """``check_inplace`` of the part that is written to, a view."""
    if target._base is None and target._rg and target._node is None:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )
    check_inplace(target)


def _fitted(value: Array, data: Array, index: Any) -> Array:
    """The value in the target's dtype, without leading dimensions of size 1 too many."""
    if value.dtype.kind == "c" and data.dtype.kind != "c":
        value = value.real
    while value.ndim > data.ndim and value.shape[0] == 1:
        value = value[0]
    return value if value.dtype == data.dtype else value.astype(data.dtype)


setattr(Tensor, "__getitem__", _get)
setattr(Tensor, "__setitem__", _set)


# -- by index tensors ---------------------------------------------------------------------------


@op
def index_select(xp: Backend, input: Array, dim: int, index: Index) -> Array:
    """The slices of ``input`` along ``dim`` that ``index`` names.

    Args:
        input: Tensor of any shape.
        dim: The dimension to choose in.
        index: Integer tensor of at most one dimension.

    Raises:
        IndexError: If an index is out of range.

    Example:
        >>> import tinytorch as tt
        >>> tt.index_select(tt.tensor([10, 20, 30]), 0, tt.tensor([2, 0]))
        tensor([30, 10])
    """
    at = normalize_dim("index_select", dim, input.ndim)
    if index.dtype.kind != "i":
        raise RuntimeError(
            f"index_select(): Expected dtype int32 or int64 for index, got {index.dtype}"
        )
    if index.ndim > 1:
        raise IndexError(
            f"index_select(): Index is supposed to be a vector, got shape {list(index.shape)}"
        )
    size = input.shape[at] if input.ndim else 1
    xp.check_indices("index_select", index, size, at, negative=False)
    if not input.ndim:
        return xp.reshape(xp.take(xp.reshape(input, (1,)), xp.reshape(index, (-1,)), 0), ())
    return xp.take(input, xp.reshape(index, (-1,)), axis=at)


index_select.vjp(
    input=lambda xp, g, in_shape, dim, index: xp.call(_index_sum, g, in_shape, dim, index)
)


@op(method=False)
def _index_sum(xp: Backend, input: Array, shape: Any, dim: int, index: Index) -> Array:
    """Zeros of ``shape`` with the slices of ``input`` added where ``index`` says."""
    out = xp.zeros(tuple(shape), input.dtype)
    if not shape:
        xp.index_add(xp.reshape(out, (1,)), xp.zeros_like(index).reshape(-1), input.reshape(-1))
        return out
    lead = (slice(None),) * (dim % len(shape))
    xp.index_add(out, (*lead, xp.reshape(index, (-1,))), input)
    return out


_index_sum.vjp(input=lambda xp, g, dim, index: xp.call(index_select, g, dim, index))


@op
def gather(
    xp: Backend, input: Array, dim: int, index: Index, *, sparse_grad: bool = False
) -> Array:
    """``out[i][j][k] = input[index[i][j][k]][j][k]`` for ``dim=0``, and so on.

    Args:
        input: Tensor of any shape.
        dim: The dimension to choose along.
        index: int64 tensor with as many dimensions, no larger than ``input`` but for ``dim``.
        sparse_grad: Accepted for compatibility; gradients are dense.

    Returns:
        A tensor of ``index``'s shape.

    Raises:
        RuntimeError: If shapes do not fit or an index is out of range.

    Example:
        >>> import tinytorch as tt
        >>> tt.gather(tt.tensor([[1, 2], [3, 4]]), 1, tt.tensor([[1], [0]]))
        tensor([[2],
                [3]])
    """
    at = _check_gather("gather", input, dim, index)
    if not input.ndim:
        return xp.reshape(xp.take(xp.reshape(input, (1,)), xp.reshape(index, (-1,)), 0), index.shape)
    if not index.ndim:
        return xp.reshape(xp.take(input, xp.reshape(index, (1,)), at), ())
    return input[_grid(xp, index, at)]


def _check_gather(name: str, input: Array, dim: int, index: Array) -> int:
    at = normalize_dim(name, dim, input.ndim)
    if index.dtype.kind != "i":
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index, got {index.dtype}")
    if max(index.ndim, 1) != max(input.ndim, 1):
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as input tensor: "
            f"{name} got index of shape {list(index.shape)} and input of shape {list(input.shape)}"
        )
    for d, (n, m) in enumerate(zip(index.shape, input.shape, strict=False)):
        if d != at and n > m:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(index.shape)} to be "
                f"no larger than self {list(input.shape)} apart from dimension {at}"
            )
    return at


def _grid(xp: Backend, index: Array, at: int) -> tuple[Array, ...]:
    """The index tuple that picks ``index`` along one dimension and each place in the others."""
    ndim = index.ndim
    grid = []
    for d in range(ndim):
        if d == at:
            grid.append(index)
        else:
            shape = tuple(-1 if i == d else 1 for i in range(ndim))
            grid.append(xp.reshape(xp.arange(index.shape[d]), shape))
    return tuple(grid)


gather.vjp(
    input=lambda xp, g, in_shape, dim, index: xp.call(_gather_sum, g, in_shape, dim, index)
)


@op(method=False)
def _gather_sum(xp: Backend, input: Array, shape: Any, dim: int, index: Index) -> Array:
    """Zeros of ``shape`` with ``input`` added where ``gather`` would read."""
    out = xp.zeros(tuple(shape), input.dtype)
    _add_along(xp, out, dim, index, input)
    return out


def _add_along(xp: Backend, out: Array, dim: int, index: Array, source: Array) -> None:
    if not out.ndim or not index.ndim:
        flat = xp.reshape(out, (-1,))
        xp.index_add(flat, xp.reshape(index, (-1,)), xp.reshape(source, (-1,)))
        return
    xp.index_add(out, _grid(xp, index, dim % out.ndim), source)


_gather_sum.vjp(input=lambda xp, g, dim, index: xp.call(gather, g, dim, index))


@op(inplace=True)
def scatter_add(xp: Backend, input: Array, dim: int, index: Index, src: Array) -> Array:
    """``input`` with ``src`` added at the places ``index`` names along ``dim``.

    Args:
        input: Tensor of any shape.
        dim: The dimension to scatter along.
        index: int64 tensor with as many dimensions.
        src: Tensor at least as large as ``index`` in every dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros(3).scatter_add(0, tt.tensor([0, 0, 2]), tt.ones(3))
        tensor([2., 0., 1.])
    """
    at = _check_gather("scatter_add", input, dim, index)
    xp.check_indices("scatter_add", index, input.shape[at] if input.ndim else 1, at, negative=False)
    out = xp.array(input)
    _add_along(xp, out, dim, index, src[tuple(slice(0, n) for n in index.shape)])
    return out


scatter_add.vjp(
    input=lambda xp, g: g,
    src=lambda xp, g, in_shape, dim, index: xp.call(_gather_into, g, dim, index, in_shape),
)


@op(method=False)
def _gather_into(xp: Backend, input: Array, dim: int, index: Index, shape: Any) -> Array:
    """``gather`` in the corner of zeros of ``shape``."""
    picked = gather.kernel(xp, input, dim, index)
    if tuple(picked.shape) == tuple(shape):
        return picked
    out = xp.zeros(tuple(shape), input.dtype)
    out[tuple(slice(0, n) for n in picked.shape)] = picked
    return out


_gather_into.vjp(
    input=lambda xp, g, in_shape, dim, index: xp.call(
        _gather_sum, _corner(g, index.shape), in_shape, dim, index
    )
)


def _corner(g: Any, shape: Any) -> Any:
    return g[tuple(slice(0, n) for n in shape)]


@op(method=False)
def _scatter_tensor(xp: Backend, input: Array, dim: int, index: Index, src: Array) -> Array:
    at = _check_gather("scatter", input, dim, index)
    xp.check_indices("scatter", index, input.shape[at] if input.ndim else 1, at, negative=False)
    out = xp.array(input)
    value = src[tuple(slice(0, n) for n in index.shape)] if src.ndim else src
    if not out.ndim or not index.ndim:
        xp.reshape(out, (-1,))[xp.reshape(index, (-1,))] = xp.reshape(value, (-1,))
    else:
        out[_grid(xp, index, at)] = value
    return out


_scatter_tensor.vjp(
    input=lambda xp, g, dim, index: xp.call(_scatter_clear, g, dim, index),
    src=lambda xp, g, in_shape, dim, index: xp.call(_gather_into, g, dim, index, in_shape),
)


@op(method=False)
def _scatter_clear(xp: Backend, input: Array, dim: int, index: Index) -> Array:
    return _scatter_tensor.kernel(xp, input, dim, index, xp.zeros((), input.dtype))


_scatter_clear.vjp(input=lambda xp, g, dim, index: xp.call(_scatter_clear, g, dim, index))


@composite(inplace=True)
def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: Any = None
) -> Tensor:
    """``input`` with ``src`` written at the places ``index`` names along ``dim``.

    Args:
        input: Tensor of any shape.
        dim: The dimension to scatter along.
        index: int64 tensor with as many dimensions.
        src: Tensor at least as large as ``index``, or a number.
        value: A number, in place of ``src``.
        reduce: None to overwrite, ``"add"`` or ``"multiply"``.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros(3).scatter(0, tt.tensor([1]), 5.0)
        tensor([0., 5., 0.])
    """
    given = src if value is None else value
    if reduce is not None:
        mode = {"add": "sum", "multiply": "prod"}.get(reduce)
        if mode is None:
            raise RuntimeError("reduce argument must be either add or multiply.")
        return input.scatter_reduce(dim, index, _as_source(input, index, given), mode)  # type: ignore[attr-defined, no-any-return]
    if isinstance(given, Tensor) and given.ndim == 0 and index.ndim:
        given = given.expand(index.shape)
    if isinstance(given, Tensor) and given.dtype is not input.dtype:
        raise RuntimeError(
            f"scatter(): Expected self.dtype to be equal to src.dtype, got {input.dtype} and "
            f"{given.dtype}"
        )
    return _scatter_tensor(input, dim, index, _as_source(input, index, given))


def _as_source(input: Tensor, index: Tensor, given: Any) -> Tensor:
    if isinstance(given, Tensor):
        return given
    number = wrap(input._xp.asarray(given, dtype=input._data.dtype), input._xp)
    return number.expand(index.shape)


@op(inplace=True)
def masked_fill(xp: Backend, input: Array, mask: Mask, value: Operand) -> Array:
    """``input`` with ``value`` where ``mask`` is true.

    Args:
        input: Tensor of any shape.
        mask: Bool tensor whose shape broadcasts with ``input``'s.
        value: A number or 0-d tensor.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros(2).masked_fill(tt.tensor([True, False]), 7.0)
        tensor([7., 0.])
    """
    if mask.dtype.kind != "b":
        raise RuntimeError(
            f"masked_fill: expected mask dtype to be Bool but got {mask.dtype}"
        )
    if getattr(value, "ndim", 0):
        raise RuntimeError(
            "masked_fill only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    return xp.where(mask, xp.asarray(value, dtype=input.dtype), input)


masked_fill.vjp(
    input=lambda xp, g, mask: xp.where(mask, xp.zeros_like(g), g),
    value=lambda xp, g, mask: xp.where(mask, g, xp.zeros_like(g)),
)


@composite
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements of ``input`` where ``mask`` is true, in one dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.masked_select(tt.arange(3), tt.tensor([True, False, True]))
        tensor([0, 2])
    """
    if mask._data.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = OPS["broadcast_shapes"].function(input.shape, mask.shape)
    return input.expand(shape)[mask.expand(shape)]  # type: ignore[no-any-return]


@composite(namespaces=("", "nn.functional"), method=False, public=False)
def copy_(input: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write ``src``, broadcast and cast, over ``input``."""
    source = src if isinstance(src, Tensor) else OPS["tensor"].function(src, backend=input._xp)
    if source._xp is not input._xp:
        source = source.to(backend=input._xp)
    if source.dtype is not input.dtype:
        source = source.to(input.dtype)
    return assign(input, source, "copy_")


setattr(Tensor, "copy_", copy_)

