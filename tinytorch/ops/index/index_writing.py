"""Writing of slices along a dimension, and of elements of the flattened tensor."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Index, Operand, Out, composite, op
from ...dispatch.out import scalar_name
from ...dispatch.promotion import convert_to_write, fit_number
from ...dtypes import int64
from ...warnings import warn_once
from ..memory_order import copy_in_memory_order, match_memory_order
from ..shape.sizes import expand, normalize_dim, reshape
from .assignment import index_put, set_writable
from .filling import allow_expanded_write
from .gathering import check_slices, flat_positions, index_select, take
from .positions import add_slices, is_int64, row_major
from .scattering import scatter_reduce


def _check(xp: Backend, name: str, input: Array, dim: int, index: Array, source: Array) -> Any:
    """Check all shapes; return the nonnegative dimension and the index as a vector."""
    if source.dtype != input.dtype:
        raise RuntimeError(
            f"{name}(): self and source expected to have the same dtype, but got (self) "
            f"{input.dtype.name} and (source) {source.dtype.name}"
        )
    if name == "index_copy" and index.dtype != xp.native_dtype(int64):
        found = scalar_name(xp.dtype_of(index))
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {found}")
    # For slices of several elements torch raises another type of error.
    error = RuntimeError if name == "index_add" and input.ndim > 1 else IndexError
    at, index = check_slices(
        xp, name, input, dim, index, error, not _ignores_indices(name, input.shape, dim)
    )
    check_source(name, tuple(input.shape), at, index.size, tuple(source.shape))
    return at, index


def _ignores_indices(name: str, shape: tuple[int, ...], dim: int) -> bool:
    """Whether indices out of range are accepted, as in PyTorch, since nothing is written."""
    if name == "index_add" and len(shape) > 1:
        return 0 in shape
    return any(not n for d, n in enumerate(shape) if d != dim % len(shape))


def check_source(
    name: str, shape: tuple[int, ...], at: int, count: int, source: tuple[int, ...]
) -> None:
    """Raise unless the shape of ``source`` is ``shape`` with ``count`` slices along ``at``."""
    rest = [s[:at] + s[at + 1 :] for s in (shape, source)]
    if rest[0] != rest[1] or len(shape) != len(source) and max(len(shape), len(source)) > 1:
        if name == "index_copy" and shape and source and len(shape) != len(source):
            raise IndexError(
                "index_copy(): When source and destination are not scalars, their dimensionality "
                f"must match, but got shapes {list(source)} and {list(shape)}"
            )
        raise RuntimeError(
            f"{name}(): source tensor shape must match self tensor shape, excluding the specified "
            f"dimension. Got self.shape = {list(shape)} source.shape = {list(source)}"
        )
    have = source[at] if source else 1
    if have != count:
        # torch's error type differs between the two operations.
        raise (IndexError if name == "index_copy" else RuntimeError)(
            f"{name}(): Number of indices ({count}) should be equal to source.size(dim) ({have})"
        )


@op(method=True, inplace=True, out=Out.EXACT)
def index_add(
    xp: Backend, input: Array, dim: int, index: Index, source: Array, *, alpha: float = 1
) -> Array:
    """Copy of ``input`` with ``alpha * source`` added to the slices at ``index``.

    Args:
        input: Tensor of any shape.
        dim: The dimension that is indexed.
        index: int32 or int64 tensor of at most one dimension. Values for repeated indices are
            summed.
        source: Tensor of ``input``'s dtype and shape, except for ``index``'s size at ``dim``.
        alpha: Factor of ``source``; default 1.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.
        IndexError: If an index of a vector is out of range; RuntimeError for more dimensions.

    Example:
        >>> tt.zeros(3).index_add(0, tt.tensor([0, 2, 0]), tt.tensor([1.0, 2.0, 3.0]))
        tensor([4., 0., 2.])
    """
    at, index = _check(xp, "index_add", input, dim, index, source)
    out = row_major(xp, input)
    if not out.size:
        return out
    if alpha != 1:
        alpha = (
            convert_to_write(alpha, xp.dtype_of(source)) if isinstance(alpha, complex) else alpha
        )
        if source.dtype.kind in "ui":
            alpha = int(alpha)
        source = source * fit_number(alpha, xp.dtype_of(source), xp)
    add_slices(xp, out, at, index, source)
    return out


index_add.vjp(
    input=lambda xp, g: g,
    source=lambda xp, g, in_shape, dim, index, alpha: (
        xp.call(index_select, g, dim, index).reshape(in_shape) * alpha
    ),
)


@op(method=True, inplace=True, out=Out.EXACT, like=index_add)
def index_copy(xp: Backend, input: Array, dim: int, index: Index, source: Array) -> Array:
    """Copy of ``input`` with ``source`` written to the slices at ``index``.

    Args:
        index: int64 tensor of at most one dimension, without repetitions.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.
        IndexError: If an index is out of range.

    Example:
        >>> tt.zeros(3).index_copy(0, tt.tensor([0, 2]), tt.tensor([1.0, 2.0]))
        tensor([1., 0., 2.])
    """
    at, index = _check(xp, "index_copy", input, dim, index, source)
    out = row_major(xp, input)
    if not out.size:
        return out
    if not out.ndim:
        return xp.array(source.reshape(-1)[-1:].reshape(())) if index.size else out
    out[(slice(None),) * at + (index,)] = source
    return out


index_copy.vjp(
    input=lambda xp, g, dim, index: xp.call(index_fill, g, dim, index, 0),
    source=lambda xp, g, in_shape, dim, index: xp.call(index_select, g, dim, index).reshape(
        in_shape
    ),
)


@op(method=True, inplace=True)
def index_fill(xp: Backend, input: Array, dim: int, index: Index, value: Operand) -> Array:
    """Copy of ``input`` with ``value`` in all elements of the slices at ``index``.

    Args:
        input: Tensor of any shape.
        dim: The dimension that is indexed.
        index: int64 tensor of at most one dimension.
        value: A number or a 0-d tensor.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: If ``value`` has dimensions.
        IndexError: If an index is out of range.

    Example:
        >>> tt.zeros(3).index_fill(0, tt.tensor([1]), 7.0)
        tensor([0., 7., 0.])
    """
    if getattr(value, "ndim", 0):
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    is_complex = isinstance(value, complex) or hasattr(value, "dtype") and value.dtype.kind == "c"
    if is_complex and input.dtype.kind != "c":
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    at = normalize_dim("index_fill", dim, input.ndim)
    size = input.shape[at] if input.ndim else 1
    if not is_int64(index):
        raise IndexError(f"index_fill_(): Expected dtype int64 for index, got {index.dtype.name}")
    if index.ndim > 1:
        raise RuntimeError("index_fill_(): Index is supposed to be a vector")
    if _ignores_indices("index_fill", input.shape, at):
        return copy_in_memory_order(xp, input)
    xp.check_indices("index_fill", index, size, at)
    out = copy_in_memory_order(xp, input)
    rows = out if out.ndim else out.reshape(1)
    number = convert_to_write(value, xp.dtype_of(out))
    xp.write_item(rows, (slice(None),) * at + (index.reshape(-1),), number)
    return out


def _fill_expanded(input: Any, dim: int, index: Any, value: Any) -> Any:
    """``index_fill_`` for an expanded tensor."""
    filled = index_fill(input, dim, index, value)
    where = (slice(None),) * normalize_dim("index_fill", dim, input.ndim) + (index.reshape(-1),)
    with allow_expanded_write("index_fill", input, value):
        set_writable(input, where, filled[where])
    return input


index_fill.op.registered.expanded = _fill_expanded


def _put_expanded(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """``index_put_`` for an expanded tensor; RuntimeError if ``accumulate`` is True."""
    index_put(input, indices, values)  # raises the errors of shapes and dtypes
    with allow_expanded_write("index_put", input, values, refused=accumulate):
        set_writable(input, tuple(slice(None) if i is None else i for i in indices), values)
    return input


index_put.op.registered.expanded = _put_expanded


def _fill_value_gradient(xp: Any, g: Any, dim: int, index: Any) -> Any:
    """Gradient of the fill value: the sum of ``g`` over the overwritten elements."""
    return xp.sum(g - xp.call(index_fill, g, dim, index, 0))


index_fill.vjp(
    input=lambda xp, g, dim, index: xp.call(index_fill, g, dim, index, 0),
    value=_fill_value_gradient,
)

_REDUCTIONS = ("prod", "mean", "amax", "amin")


@composite(method=True, inplace=True, node="IndexReduceBackward0", out=Out.EXACT, like=index_add)
def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *,
    include_self: bool = True,
) -> Tensor:  # fmt: skip
    """Copy of ``input`` with ``source`` reduced into the slices at ``index``.

    Args:
        index: int32 or int64 tensor of at most one dimension.
        reduce: ``"prod"``, ``"mean"``, ``"amax"`` or ``"amin"``.
        include_self: Whether ``input``'s own elements are part of the reduction; default True.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, or ``reduce`` is unknown.
        IndexError: If an index is out of range.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     tt.ones(2).index_reduce(0, tt.tensor([0, 0]), tt.tensor([2.0, 3.0]), "prod")
        tensor([6., 1.])
    """
    warn_once("index_reduce() is in beta and the API may change at any time.")
    if reduce not in _REDUCTIONS:
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    return reduce_slices(input, dim, index, source, reduce, include_self)


def reduce_slices(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool = True
) -> Tensor:
    """``index_reduce`` without its warning."""
    at, _ = check_slices(input._xp, "index_reduce", input._data, dim, index._data)
    check_source("index_reduce", input.shape, at, index.numel(), source.shape)
    if not source.ndim:
        index = reshape(index, ())
    else:
        rows = reshape(index, tuple(-1 if i == at else 1 for i in range(source.ndim)))
        index = expand(rows, source.shape)
    return scatter_reduce(input, dim, index, source, reduce, include_self=include_self)


# -- indices into the flattened tensor ---------------------------------------------------------


@op(method=True, inplace=True)
def put(xp: Backend, input: Array, index: Index, source: Array, accumulate: bool = False) -> Array:
    """Copy of ``input`` with ``source`` written at indices into the flattened tensor.

    Args:
        input: Tensor of any shape.
        index: int64 tensor of any shape; negative indices count from the end.
        source: Tensor of ``input``'s dtype with as many elements as ``index``.
        accumulate: Whether to add instead of overwriting; default False.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: If the dtypes differ.
        IndexError: If an index is out of range, or the numbers of elements differ.

    Example:
        >>> tt.zeros(2, 2).put(tt.tensor([0, -1]), tt.tensor([1.0, 2.0]))
        tensor([[1., 0.],
                [0., 2.]])
    """
    if source.dtype != input.dtype:
        raise RuntimeError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{input.dtype.name} and source.dtype = {source.dtype.name}"
        )
    if index.size != source.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source "
            f"with {source.size} elements and index with {index.size}"
        )
    out = row_major(xp, input)
    places = flat_positions(xp, "put", out, index)
    if accumulate:
        xp.index_add(out.reshape(-1), places, source.reshape(-1))
    else:
        out.reshape(-1)[places] = source.reshape(-1)
    return match_memory_order(xp, out, input)


def _put_gradient(xp: Any, g: Any, index: Any, accumulate: bool) -> Any:
    """Gradient of ``put``'s input: zeros at the index, unless values are added."""
    return g if accumulate else xp.call(_put_zeros, g, index)


put.vjp(
    input=_put_gradient,
    source=lambda xp, g, in_shape, index: xp.call(take, g, index).reshape(in_shape),
)


@op
def _put_zeros(xp: Backend, input: Array, index: Index) -> Array:
    """Copy of ``input`` with zeros at flat positions."""
    out = row_major(xp, input)
    out.reshape(-1)[flat_positions(xp, "put", out, index)] = 0
    return out


_put_zeros.vjp(input=lambda xp, g, index: xp.call(_put_zeros, g, index))
