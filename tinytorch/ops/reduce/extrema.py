"""Maxima and minima, and their indices."""

from __future__ import annotations

from operator import index as as_index
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import (
    OPS, Array, Backend, Nodes, Out, Overlap, accepts_none, composite, op, reads_results,
)  # fmt: skip
from ...graph.nodes import Node
from ..checks import check_supported
from ..index.gathering import gather_computed, gather_sum
from ..memory_order import as_row_major
from ..results import named_result
from ..shape.sizes import normalize_dim
from .reduction import Dims, element_count, reduced_axes, spread


@op(method=True, out=Out.EXACT)
def amax(xp: Backend, input: Array, dim: Dims = (), keepdim: bool = False) -> Array:
    """Maximum of all elements, or along ``dim``; equal elements share the gradient.

    Args:
        input: Nonempty tensor.
        dim: Dimension or dimensions; the default means all.
        keepdim: Whether to keep the reduced dimensions, with size 1.

    Raises:
        IndexError: If a reduced dimension has size 0.

    Example:
        >>> tt.amax(tt.tensor([[1, 5], [7, 3]]), 1)
        tensor([5, 7])
    """
    return _extreme(xp, "amax", xp.max, input, dim, keepdim)


@op(method=True, out=Out.EXACT, like=amax)
def amin(xp: Backend, input: Array, dim: Dims = (), keepdim: bool = False) -> Array:
    """Minimum of all elements, or along ``dim``; equal elements share the gradient.

    Example:
        >>> tt.amin(tt.tensor([[1, 5], [7, 3]]), 1)
        tensor([1, 3])
    """
    return _extreme(xp, "amin", xp.min, input, dim, keepdim)


def _extreme(xp: Any, name: str, reduce: Any, input: Array, dim: Any, keepdim: bool) -> Array:
    """``amax`` or ``amin``, by ``name``, with the backend's function ``reduce``."""
    if input.dtype.kind == "c":
        check_supported(xp, f"{name}_cpu", input, unsupported="c")
    ndim = input.ndim
    axes = reduced_axes(name, dim, ndim)
    if not input.size:
        _check_not_empty(name, input.shape, axes)
    out = reduce(input, axis=axes, keepdims=keepdim)
    return out if ndim < 3 else as_row_major(xp, out)


def _check_not_empty(name: str, shape: Any, axes: tuple[int, ...] | None) -> None:
    """Raise if a reduced dimension is empty: RuntimeError for all, IndexError for ``dim``."""
    if axes is None:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
    if element_count(shape, axes) == 0:
        raise IndexError(f"{name}(): Expected reduction dim {axes[0]} to have non-zero size.")


def _share_gradient(xp: Any, chosen: Any, g: Any, dim: Any, keepdim: Any) -> Any:
    """Divide ``g`` equally among the chosen elements of each slice."""
    axes = reduced_axes("amax", dim, chosen.ndim)
    weight = xp.astype(chosen, g.dtype)
    count = xp.sum(weight, axis=axes, keepdims=True)
    return spread(xp, g, chosen.shape, dim, keepdim) * (weight / count)


def _extreme_gradient(xp: Any, g: Any, out: Any, input: Any, dim: Any, keepdim: Any) -> Any:
    """Divide ``g`` equally among the elements that are equal to the extremum ``out``."""
    chosen = input == spread(xp, out, input.shape, dim, keepdim)
    return _share_gradient(xp, chosen, g, dim, keepdim)


amax.vjp(input=_extreme_gradient)
amin.vjp(input=_extreme_gradient)


@op
def _extreme_of_all(xp: Backend, input: Array, name: str) -> Array:
    """Maximum or minimum of all elements; ``name`` is ``"max"`` or ``"min"``."""
    check_supported(xp, f"{name}_all", input, unsupported="c")
    if not input.size:
        _check_not_empty(name, input.shape, None)
    return xp.max(input) if name == "max" else xp.min(input)


def _extreme_of_all_gradient(xp: Any, g: Any, out: Any, input: Any) -> Any:
    """Gradient of ``max`` and ``min`` of all elements; unlike ``amax``'s, also defined for NaN."""
    chosen = (input == out) | ((input != input) & (out != out))
    return share_equally(xp, g, chosen)


def share_equally(xp: Any, g: Any, chosen: Any) -> Any:
    """Divide the single gradient ``g`` equally among the chosen elements, 0 elsewhere."""
    # A product with the condition would be NaN for an infinite gradient.
    return xp.where(chosen, g / xp.sum(xp.astype(chosen, g.dtype)), 0)


_extreme_of_all.vjp(input=_extreme_of_all_gradient)


@op(method=True, out=Out.EXACT)
def argmax(xp: Backend, input: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """Index of the maximum, in the flattened tensor or along ``dim``; NaN is the largest.

    Args:
        input: Tensor of any shape.
        dim: The dimension; None, the default, means the flattened tensor.
        keepdim: Whether to keep the dimension, with size 1.

    Returns:
        int64 tensor.

    Example:
        >>> tt.argmax(tt.tensor([[1, 5], [7, 3]]), 1)
        tensor([1, 0])
    """
    return _arg_extreme(xp, "argmax", input, dim, keepdim)


@op(method=True, out=Out.EXACT, like=argmax)
def argmin(xp: Backend, input: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """Index of the minimum, in the flattened tensor or along ``dim``; NaN is the smallest.

    Returns:
        int64 tensor.

    Example:
        >>> tt.argmin(tt.tensor([[1, 5], [7, 3]]), 1)
        tensor([0, 1])
    """
    return _arg_extreme(xp, "argmin", input, dim, keepdim)


def _arg_extreme(xp: Any, name: str, input: Array, dim: int | None, keepdim: bool) -> Array:
    """``argmax`` or ``argmin``, by ``name``; of the flattened array if ``dim`` is None."""
    shape = input.shape
    ndim = len(shape)
    at = dim
    if dim is not None and not (dim.__class__ is int and 0 <= dim < ndim):
        at = normalize_dim(name, dim, ndim)
    if input.dtype.kind in "bc":
        kind = "bool" if input.dtype.kind == "b" else "complex"
        raise RuntimeError(f"{name}(): does not support {kind} input")
    if not input.size:
        _check_nonempty_along(name, shape, at)
    if not ndim:
        return xp.zeros((), xp.native_dtype(dtypes.int64))
    out = input.argmax(at) if name == "argmax" else input.argmin(at)
    if out.__class__ is not input.__class__ or out.dtype.itemsize < 8:
        out = xp.astype(xp.asarray(out), xp.native_dtype(dtypes.int64))
    if not keepdim:
        return out
    return out.reshape((1,) * ndim if at is None else (*shape[:at], 1, *shape[at + 1 :]))


def _check_nonempty_along(name: str, shape: tuple[int, ...], at: int | None) -> None:
    """Raise IndexError if the reduced dimension is empty."""
    if at is None:
        raise IndexError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
        )
    if shape[at] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {at} to have non-zero size.")


_max_result = named_result("max", "values indices")
_min_result = named_result("min", "values indices")


def _values_and_indices(
    xp: Backend, input: Array, name: str, dim: int, keepdim: bool
) -> tuple[Array, Array]:
    """Maxima or minima along ``dim`` and their indices.

    ``name`` is ``"argmax"`` or ``"argmin"``.
    """
    shape = input.shape
    ndim = len(shape)
    if not 0 <= dim < ndim:
        dim = normalize_dim(name[3:], dim, ndim)
    if not input.size:
        _check_nonempty_along(name[3:], shape, dim)
    numbers = input if input.dtype.kind != "b" else xp.astype(input, "uint8")
    if dim == ndim - 1 > 0 and input.flags.c_contiguous:
        index = _arg_extreme(xp, name, numbers, dim, False)
        values = xp.one_of_each_row(input, index)
        if not keepdim:
            return values, index
        return values.reshape((*shape[:dim], 1)), index.reshape((*shape[:dim], 1))
    index = _arg_extreme(xp, name, numbers, dim, True)
    values = xp.call(gather_computed, input, dim, index)
    if keepdim or not ndim:
        return values, index
    shape = (*shape[:dim], *shape[dim + 1 :])
    return values.reshape(shape), index.reshape(shape)


@reads_results(1)
def scatter_gradient(xp: Any, g: Any, in_shape: Any, dim: int, keepdim: bool, out: Any) -> Any:
    """Write the gradient of the extrema to zeros of ``in_shape`` at their indices."""
    g, index = g[0], out[1]
    dim %= len(in_shape) or 1
    if not keepdim and in_shape:
        form = (*in_shape[:dim], 1, *in_shape[dim + 1 :])
        g, index = xp.reshape(g, form), xp.reshape(index, form)
    return xp.call(gather_sum, g, in_shape, dim, index)


def _max_name(node: Node) -> str:
    return "MaxBackward1" if node.op.name == "_extreme_of_all" else "MaxBackward0"


@op(returns=_max_result, node=Nodes("MaxBackward0", frees=True))
def _max_along(xp: Backend, input: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    return _values_and_indices(xp, input, "argmax", dim, keepdim)


_max_along.vjp(input=scatter_gradient)


@composite(method=True, out=Out.CAST, overlap=Overlap.CHECKED, forms=(
    "(input: Tensor, dim: None = None, keepdim: bool = False, *, other: None = None,"
    " out: Tensor | None = None) -> Tensor",
    "(input: Tensor, dim: int, keepdim: bool = False, *, other: None = None,"
    " out: Sequence[Tensor] | None = None) -> return_types.max",
    "(input: Tensor, dim: Tensor, keepdim: bool = False, *, other: None = None,"
    " out: Tensor | None = None) -> Tensor",
    "(input: Tensor, *, other: Tensor, out: Tensor | None = None) -> Tensor",
), node=Nodes(_max_name, frees=True), fast=_max_along)  # fmt: skip
def max(
    input: Tensor,
    dim: int | Tensor | None = None,
    keepdim: bool = False,
    *,
    other: Tensor | None = None,
) -> Any:
    """Maximum of all elements, along ``dim`` with indices, or of two tensors.

    ``max(x)`` returns one tensor, ``max(x, dim)`` a named tuple ``(values, indices)``, and
    ``max(x, other)`` is ``maximum``. ``axis`` is an alias of ``dim``. With several dimensions
    the result is that of ``amax``, without indices.

    Args:
        input: Tensor of any shape.
        dim: The dimension, or the tensor to compare with.
        keepdim: Whether to keep the dimension, with size 1.
        other: The tensor to compare with.

    Example:
        >>> values, indices = tt.max(tt.tensor([[1, 5], [7, 3]]), 1)
        >>> values, indices
        (tensor([5, 7]), tensor([1, 0]))
    """
    return _max_or_min("max", input, dim, keepdim, other)


def _min_name(node: Node) -> str:
    return "MinBackward1" if node.op.name == "_extreme_of_all" else "MinBackward0"


@op(returns=_min_result, node=Nodes("MinBackward0", frees=True))
def _min_along(xp: Backend, input: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    return _values_and_indices(xp, input, "argmin", dim, keepdim)


_min_along.vjp(input=scatter_gradient)


@composite(method=True, out=Out.CAST, overlap=Overlap.CHECKED, forms=(
    "(input: Tensor, dim: None = None, keepdim: bool = False, *, other: None = None,"
    " out: Tensor | None = None) -> Tensor",
    "(input: Tensor, dim: int, keepdim: bool = False, *, other: None = None,"
    " out: Sequence[Tensor] | None = None) -> return_types.min",
    "(input: Tensor, dim: Tensor, keepdim: bool = False, *, other: None = None,"
    " out: Tensor | None = None) -> Tensor",
    "(input: Tensor, *, other: Tensor, out: Tensor | None = None) -> Tensor",
), node=Nodes(_min_name, frees=True), fast=_min_along, like=max)  # fmt: skip
def min(
    input: Tensor,
    dim: int | Tensor | None = None,
    keepdim: bool = False,
    *,
    other: Tensor | None = None,
) -> Any:
    """Minimum of all elements, along ``dim`` with indices, or of two tensors.

    ``min(x)`` returns one tensor, ``min(x, dim)`` a named tuple ``(values, indices)``, and
    ``min(x, other)`` is ``minimum``. ``axis`` is an alias of ``dim``. With several dimensions
    the result is that of ``amin``, without indices.

    Example:
        >>> tt.min(tt.tensor([3, 1, 2]))
        tensor(1)
    """
    return _max_or_min("min", input, dim, keepdim, other)


def _max_or_min(name: str, input: Tensor, dim: Any, keepdim: bool, other: Any) -> Any:
    """``max`` or ``min`` in each of its forms: of all elements, along ``dim``, of two tensors."""
    if not isinstance(input, Tensor):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    if isinstance(dim, Tensor):
        if keepdim:  # the form with two tensors has no keepdim
            dim = as_index(dim)
        else:
            other = dim
    if other is not None:
        return OPS[f"{name}imum"].function(input, other)
    if isinstance(dim, (tuple, list)) or (keepdim and dim is None):
        return OPS[f"a{name}"].function(input, dim or (), keepdim)
    if dim is None:
        return _extreme_of_all(input, name)
    at = normalize_dim(name, dim, input._data.ndim)
    return (_max_along if name == "max" else _min_along)(input, at, keepdim)


_aminmax_result = named_result("aminmax", "min max")


@op(node="AminmaxBackward0", returns=_aminmax_result)
def _aminmax(xp: Backend, input: Array, dim: Any, keepdim: bool) -> tuple[Array, Array]:
    """Results of ``amin`` and ``amax``."""
    least = _extreme(xp, "amin", xp.min, input, dim, keepdim)
    return least, _extreme(xp, "amax", xp.max, input, dim, keepdim)


@accepts_none
def _aminmax_gradient(xp: Any, g: Any, out: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    """Sum of the gradients of both results; None for a result without one."""
    parts = [
        _extreme_gradient(xp, each, extreme, input, dim, keepdim)
        for each, extreme in zip(g, out, strict=True)
        if each is not None
    ]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


_aminmax.vjp(input=_aminmax_gradient)


@composite(method=True, out=Out.CAST)
def aminmax(
    input: Tensor, *, dim: int | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """Minimum and maximum of all elements, or along ``dim``; equal elements share the gradient.

    Args:
        input: Nonempty tensor.
        dim: The dimension; None, the default, means all.
        keepdim: Whether to keep the reduced dimensions, with size 1.

    Returns:
        A named tuple ``(min, max)``.

    Raises:
        RuntimeError: If ``input`` is empty.
        IndexError: If ``dim`` has size 0, or does not exist.
        NotImplementedError: For complex tensors.

    Example:
        >>> tt.aminmax(tt.tensor([3, 1, 2])).max
        tensor(3)
    """
    if dim is None and not input._data.size:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
            "identity."
        )
    at: Any = () if dim is None else normalize_dim("aminmax", dim, input.ndim)
    return _aminmax(input, at, keepdim)  # type: ignore[return-value]
