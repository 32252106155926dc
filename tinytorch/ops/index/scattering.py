"""Writing of selected elements along a dimension: ``scatter`` and its reductions."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor, wrap
from ...dispatch.op import Array, Backend, Index, Operand, Out, composite, op
from ...dispatch.out import scalar_name
from ...dispatch.promotion import convert_to_write, to_python_number
from ...graph.special_nodes import name_by_operand
from ...warnings import warn
from ..checks import check_supported
from ..shape.sizes import expand
from .gathering import check_along, gather, gather_sum
from .positions import corner, gather_positions, row_major


def _check(xp: Backend, name: str, input: Array, dim: int, index: Array, src: Any) -> int:
    """Check that index and source fit; return the nonnegative dimension."""
    if hasattr(src, "dtype") and src.dtype != input.dtype:
        raise RuntimeError(
            f"{name}(): Expected self.dtype to be equal to src.dtype, got {input.dtype.name} and "
            f"{src.dtype.name}"
        )
    axis = check_along(xp, name, input, dim, index)
    if not hasattr(src, "shape") or not index.size:
        return axis
    if max(src.ndim, 1) != max(index.ndim, 1):
        kind = IndexError if src.ndim < index.ndim else RuntimeError  # as in torch
        raise kind(
            f"{name}(): Index tensor must have the same number of dimensions as src tensor, got "
            f"index of shape {list(index.shape)} and src of shape {list(src.shape)}"
        )
    if index.shape != src.shape and any(
        n > m for n, m in zip(index.shape, src.shape, strict=False)
    ):
        raise RuntimeError(
            f"{name}(): Expected index {list(index.shape)} to be no larger than self "
            f"{list(input.shape)} apart from dimension {axis} and to be no larger size than src "
            f"{list(src.shape)}"
        )
    return axis


@op(method=True, inplace=True, out=Out.EXACT)
def scatter_add(xp: Backend, input: Array, dim: int, index: Index, src: Array) -> Array:
    """Copy of ``input`` with ``src`` added at the indices ``index`` along ``dim``.

    Args:
        input: Tensor of any shape.
        dim: The dimension to scatter along.
        index: int64 tensor with as many dimensions, not larger than ``input`` except in ``dim``.
        src: Tensor of ``input``'s dtype, at least as large as ``index`` in every dimension.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, or an index is out of range.

    Example:
        >>> tt.zeros(3).scatter_add(0, tt.tensor([0, 0, 2]), tt.ones(3))
        tensor([2., 0., 1.])
    """
    axis = _check(xp, "scatter_add", input, dim, index, src)
    out = row_major(xp, input)
    if index.size:
        values = corner(src, index.shape).reshape(-1)
        xp.index_add(out.reshape(-1), gather_positions(xp, index, axis, input.shape), values)
    return out


def _src_gradient(xp: Any, g: Any, in_shape: Any, dim: int, index: Any) -> Any:
    """Gradient of a source: ``g`` at the indices to which it was written."""
    if not in_shape and index.ndim:  # one number for all; the engine sums
        return xp.call(gather, g, dim, index)
    return xp.call(_gather_into, g, dim, index, in_shape)


scatter_add.vjp(input=lambda xp, g: g, src=_src_gradient)


@op
def _gather_into(xp: Backend, input: Array, dim: int, index: Index, shape: Any) -> Array:
    """``gather`` padded with zeros to ``shape``."""
    picked = xp.call(gather, input, dim, index)
    if tuple(picked.shape) == tuple(shape):
        return picked
    out = xp.zeros(tuple(shape), input.dtype)
    if picked.size:
        corner(out, picked.shape)[...] = picked
    return out


_gather_into.vjp(
    input=lambda xp, g, in_shape, dim, index: xp.call(
        gather_sum, corner(g, index.shape), in_shape, dim, index
    )
)


@op(node=name_by_operand("src", "ScatterBackward1", "ScatterBackward0"))
def _scatter(xp: Backend, input: Array, dim: int, index: Index, src: Operand) -> Array:
    """Copy of ``input`` with ``src``, a number or a tensor, written at ``index``."""
    if getattr(src, "shape", None) == () != index.shape:
        src = xp.broadcast_to(src, index.shape)
    axis = _check(xp, "scatter", input, dim, index, src)
    out = row_major(xp, input)
    if index.size:
        if hasattr(src, "shape"):
            value = corner(src, index.shape).reshape(-1)
        else:
            value = convert_to_write(src, xp.dtype_of(out))
        xp.write_item(out.reshape(-1), gather_positions(xp, index, axis, input.shape), value)
    return out


_scatter.vjp(input=lambda xp, g, dim, index: xp.call(_scatter, g, dim, index, 0), src=_src_gradient)

_SCATTER_MODES = {"add": "sum", "multiply": "prod"}


@composite(method=True, inplace=True, out=Out.EXACT, fast=_scatter, like=scatter_add)
def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None,
    reduce: str | None = None,
) -> Tensor:  # fmt: skip
    """Copy of ``input`` with ``src`` written at the indices ``index`` along ``dim``.

    Args:
        src: Tensor of ``input``'s dtype, at least as large as ``index``, or a number. For repeated
            indices it is undefined which value is written.
        value: A number, in place of ``src``.
        reduce: None, the default, overwrites; otherwise ``"add"`` or ``"multiply"``.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, ``reduce`` is unknown, or an index is out of
            range.

    Example:
        >>> tt.zeros(3).scatter(0, tt.tensor([1]), 5.0)
        tensor([0., 5., 0.])
    """
    source = to_python_number(src if value is None else value)
    if reduce is None:
        return _scatter(input, dim, index, source)
    if reduce not in _SCATTER_MODES:
        raise RuntimeError("scatter(): reduce argument must be either add or multiply.")
    if isinstance(src, Tensor):
        warn(
            "The reduce argument of torch.scatter with Tensor src is deprecated and will be "
            "removed in a future PyTorch release. Use torch.scatter_reduce instead for more "
            "reduction options."
        )
    if not isinstance(source, Tensor):
        number = wrap(input._xp.asarray(source, dtype=input._data.dtype), input._xp)
        source = number
    if not source.ndim:
        source = expand(source, index.shape)
    return scatter_reduce(input, dim, index, source, _SCATTER_MODES[reduce])


# -- reductions -----------------------------------------------------------------------------------


@op
def _scatter_product(xp: Backend, input: Array, dim: int, index: Index, src: Array) -> Array:
    """Copy of ``input``, multiplied by ``src`` at the positions of ``index``."""
    return _combine(xp, "multiply", input, dim, index, src)


def _combine(xp: Backend, name: str, input: Array, dim: int, index: Array, src: Array) -> Array:
    """Copy of ``input``, combined with ``src`` at ``index`` by the ufunc ``name``."""
    axis = _check(xp, "scatter_reduce", input, dim, index, src)
    out = row_major(xp, input)
    if index.size:
        values = corner(src, index.shape).reshape(-1)
        xp.index_combine(
            name, out.reshape(-1), gather_positions(xp, index, axis, input.shape), values
        )
    return out


@_scatter_product.vjp_joint("input", "src")
def _product_gradient(
    xp: Any, g: Any, out: Any, in_shape: Any, input: Any, dim: int, index: Any, src: Any
) -> tuple[Any, Any]:
    """Gradients of ``input`` and ``src``: ``g`` times the product of the other factors.

    It is the product divided by the factor. For a zero factor it is computed from the nonzero
    factors and from the other zero ones.
    """
    of_input = of_src = None
    if in_shape[0] is not None:
        of_input = g * xp.call(_scatter_product, xp.zeros_like(input) + 1, dim, index, src)
    if in_shape[1] is not None:
        shape = in_shape[1]
        zero = src == 0
        factors = xp.where(zero, 1, src)
        others = xp.call(_scatter_product, input, dim, index, factors)
        other_zeros = _other_zeros(xp, input, dim, index, src, zero)
        of_src = xp.where(
            zero,
            other_zeros * xp.call(_gather_into, g * others, dim, index, shape),
            xp.call(_gather_into, g * out, dim, index, shape) / factors,
        )
    return of_input, of_src


def _other_zeros(xp: Any, input: Any, dim: int, index: Any, src: Any, zero: Any) -> Any:
    """For each zero factor, the product of the other zero factors at its index; 1 if none.

    With exactly one other zero factor, the product is that factor, whose value is 0 but whose
    derivative is not.
    """
    shape = tuple(src.shape)
    zeros = xp.zeros_like(input)
    zero_count = xp.call(scatter_add, zeros, dim, index, xp.astype(zero, src.dtype))
    count = xp.call(_gather_into, zero_count, dim, index, shape)
    zero_sum = xp.call(scatter_add, zeros, dim, index, xp.where(zero, src, 0))
    other = xp.call(_gather_into, zero_sum, dim, index, shape) - src
    return xp.where(count == 1, 1, xp.where(count == 2, other, 0))


@op
def _scatter_extreme(
    xp: Backend, input: Array, dim: int, index: Index, src: Array, name: str, include_self: bool
) -> Array:
    """Copy of ``input``, with the maximum or minimum (``name``) with ``src`` at ``index``."""
    reduction = {"maximum": "amax", "minimum": "amin"}[name]
    check_supported(xp, f"scatter_gather_tensor_cpu_reduce_{reduction}", input, unsupported="c")
    return _combine(xp, name, input, dim, index, src)


@_scatter_extreme.vjp_joint("input", "src")
def _extreme_gradient(
    xp: Any, g: Any, out: Any, in_shape: Any, input: Any, dim: int, index: Any, src: Any,
    include_self: bool,
) -> tuple[Any, Any]:  # fmt: skip
    """Gradients of an extremum; elements that are equal to it share the gradient equally."""
    shape = tuple(src.shape)
    is_input = xp.astype(input == out, input.dtype)
    if not include_self:  # an overwritten element is not reduced, though it may be equal
        is_input = xp.call(_scatter, is_input, dim, index, 0)
    is_src = xp.astype(src == xp.call(_gather_into, out, dim, index, shape), src.dtype)
    share = g / xp.call(scatter_add, is_input, dim, index, is_src)
    of_src = is_src * xp.call(_gather_into, share, dim, index, shape)
    return xp.where(input == out, share, 0), of_src


def _identity(mode: str, dtype: dtypes.dtype) -> Any:
    """Identity element of a reduction: the initial value before the first source."""
    if mode in ("sum", "mean"):
        return 0
    if mode == "prod":
        return 1
    if dtype.kind == "b":
        return mode == "amin"
    if dtype.is_complex:
        kernel = f"scatter_gather_tensor_cpu_reduce_{mode}"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(dtype)}'")
    if dtype.is_floating_point:
        return float("-inf") if mode == "amax" else float("inf")
    limits = dtypes.iinfo(dtype)
    return limits.min if mode == "amax" else limits.max


#: Other names of reductions, which all reducing operations except ``index_reduce`` accept.
REDUCTION_ALIASES = {"max": "amax", "min": "amin"}


@composite(
    method=True, inplace=True, node="ScatterReduceBackward0", out=Out.EXACT, like=scatter_add
)
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Copy of ``input`` with ``src`` reduced into it at the indices ``index`` along ``dim``.

    Args:
        reduce: ``"sum"``, ``"prod"``, ``"mean"``, ``"amax"`` or ``"amin"``; ``"max"`` and
            ``"min"`` are aliases of the last two.
        include_self: Whether ``input``'s own elements are part of the reduction; default True.
            Elements that are not indexed are unchanged.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, ``reduce`` is unknown, or an index is out of
            range.

    Example:
        >>> tt.zeros(2).scatter_reduce(0, tt.tensor([0, 0, 1]), tt.tensor([1., 3., 5.]), "mean",
        ...                            include_self=False)
        tensor([2., 5.])
    """
    reduce = REDUCTION_ALIASES.get(reduce, reduce)
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(
            "scatter_reduce(): reduce argument must be either sum, prod, mean, amax or amin, got "
            f"{reduce}."
        )
    start = input
    if not include_self:
        start = _scatter(input, dim, index, _identity(reduce, input.dtype))
    if reduce == "sum":
        return scatter_add(start, dim, index, src)
    if reduce == "mean":
        total = scatter_add(start, dim, index, src)
        return _divide_by_count(total, _scatter_count(input.detach(), dim, index, include_self))
    if reduce == "prod":
        return _scatter_product(start, dim, index, src)
    name = "maximum" if reduce == "amax" else "minimum"
    return _scatter_extreme(start, dim, index, src, name, include_self)


@op
def _scatter_count(xp: Backend, input: Array, dim: int, index: Index, include_self: bool) -> Array:
    """Number of values that ``scatter_reduce`` averages for each element, at least 1."""
    native = input.dtype if input.dtype.kind in "fc" else xp.native_dtype(dtypes.int64)
    count = xp.ones(input.shape, native) if include_self else xp.zeros(input.shape, native)
    if index.size:
        places = gather_positions(xp, index, dim % max(input.ndim, 1), input.shape)
        xp.index_add(count.reshape(-1), places, xp.ones(places.shape, native))
    return xp.maximum(count, xp.ones((), native)) if native.kind != "c" else count + (count == 0)


def _divide_by_count(total: Tensor, count: Tensor) -> Tensor:
    """Mean from a sum and a count; integers are divided with rounding down."""
    if total.dtype.category > 1:  # floating point or complex
        return total / count
    return (total // count).to(total.dtype)
