"""Quantiles of all elements or along dimensions."""

from __future__ import annotations

import math
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Out, composite, op
from ...state import default_dtype
from ..index.gathering import gather_computed
from ..pointwise.addcmul_lerp import lerp
from ..shape.sizes import reshape
from ..sort.sorting import sort
from .reduction import Dims, reduced_axes

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _last_rank(xp: Any, rows: Any, ignore: bool) -> Any:
    """Rank of the largest element in each row: the last, or the last that is not NaN."""
    size = rows.shape[-1]
    nan_count = xp.sum(xp.astype(rows != rows, rows.dtype), axis=-1, keepdims=True)
    if ignore:
        return xp.maximum(size - 1 - nan_count, 0)
    return xp.where(nan_count > 0, math.nan, size - 1 - 0 * nan_count)


@op
def _positions(
    xp: Backend, rows: Array, q: Array, interpolation: str, ignore: bool
) -> tuple[Array, Array, Array]:
    """Indices of the elements below and above the quantiles, and the weights of the latter.

    Args:
        xp: The backend.
        rows: Sorted rows of shape ``(..., n)``.
        q: Quantiles of shape ``(m,)``.
        interpolation: PyTorch's name of the method; ``"nearest"`` and ``"higher"`` select the
            lower index.
        ignore: As for ``_last_rank``.
    """
    rank = q * _last_rank(xp, rows, ignore)
    # For a row with a NaN, the last element.
    rank = xp.where(rank == rank, rank, rows.shape[-1] - 1)
    below, above = xp.floor(rank), xp.ceil(rank)
    rounded = {"nearest": xp.rint(rank), "higher": above}.get(interpolation, below)
    return xp.astype(rounded, "int64"), xp.astype(above, "int64"), rank - below


def _rank_gradient(xp: Any, g: Any, rows: Any, ignore: bool) -> Any:
    """Gradient of the quantiles from that of the weights; 0 for a row with a NaN."""
    last = _last_rank(xp, rows, ignore)
    return xp.where(last == last, g[2] * last, 0)


_positions.vjp(q=_rank_gradient)


def quantile_along(
    name: str, input: Tensor, q: Any, dim: Any, keepdim: bool, interpolation: str, ignore: bool
) -> Tensor:
    """``quantile``, or ``nanquantile`` with ``ignore``; ``name`` is the one for errors.

    The arguments have been read from PyTorch's or NumPy's form; ``dim`` may be several dimensions.
    """
    if input.is_complex():
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if not input.is_floating_point():
        input = input.to(default_dtype())
    q = _check_q(name, q, input, interpolation)
    if not input.numel():
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    axes = reduced_axes(name, dim, input.ndim)
    sizes = [n for i, n in enumerate(input.shape) if axes is not None and i not in axes]
    rows = _sorted_rows(input, axes, sizes)
    found = _interpolate_at_ranks(rows, reshape(q, (-1,)), interpolation, ignore)
    if keepdim:
        sizes = [1 if axes is None or i in axes else n for i, n in enumerate(input.shape)]
    out = found.movedim(-1, 0)
    return reshape(out, (*q.shape, *sizes))


def _sorted_rows(input: Tensor, axes: tuple[int, ...] | None, sizes: list[int]) -> Tensor:
    """Move the reduced dimensions ``axes`` to one last dimension, and sort along it.

    ``sizes`` holds the sizes of the other dimensions; None for ``axes`` reduces all.
    """
    if axes is None:
        return sort(reshape(input, (-1,)))[0]
    moved = input.movedim(axes, tuple(range(-len(axes), 0)))
    size = math.prod(input.shape[i] for i in axes)
    return sort(reshape(moved, (*sizes, size)))[0]


def _check_q(name: str, q: Any, input: Tensor, interpolation: str) -> Tensor:
    """Return ``q`` as a tensor; RuntimeError unless it is in ``[0, 1]`` and fits ``input``."""
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    if not isinstance(q, Tensor):
        values = q if isinstance(q, (list, tuple)) else [q]
        for value in values:
            if not 0 <= value <= 1:
                raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {value}")
        return input.new_tensor(q)
    if q.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}() q tensor must be same dtype as the input tensor, got {q.dtype.name} and "
            f"{input.dtype.name}"
        )
    if q.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor, got shape {list(q.shape)}")
    input._xp.check_all(
        (q._data >= 0) & (q._data <= 1), f"{name}() q values must be in the range [0, 1]"
    )
    return q


def _interpolate_at_ranks(rows: Tensor, q: Tensor, interpolation: str, ignore: bool) -> Tensor:
    """Elements of sorted rows at the fractional ranks that ``q`` selects, interpolated.

    Args:
        rows: Sorted rows of shape ``(..., n)``.
        q: Quantiles of shape ``(m,)``.
        interpolation: PyTorch's name of the method.
        ignore: Whether NaNs are ignored; else the quantiles of a row with a NaN are NaN.

    Returns:
        Tensor of shape ``(..., m)``.
    """
    low, high, weight = _positions(rows.detach(), q, interpolation, ignore)
    below = gather_computed(rows, -1, low)
    if interpolation in ("nearest", "higher", "lower"):
        return below
    above = gather_computed(rows, -1, high)
    # It interpolates from the nearer end, which is exact for weights 0 and 1.
    return lerp(below, above, 0.5 if interpolation == "midpoint" else weight)


@composite(method=True, node="SqueezeBackward4", out=Out.EXACT)
def quantile(
    input: Tensor, q: Any, dim: Dims = None, keepdim: bool = False, *,
    interpolation: str = "linear",
) -> Tensor:  # fmt: skip
    """Quantiles of the elements; NaN if an element is NaN.

    Args:
        input: Real tensor of any shape; integers are cast to the default dtype.
        q: The probabilities, from 0 to 1: a number, or a tensor of at most one dimension.
        dim: The dimension (or several); None, the default, means all elements.
        keepdim: Whether to keep the reduced dimensions, with size 1.
        interpolation: The interpolation between two elements: ``"linear"``, ``"lower"``,
            ``"higher"``, ``"midpoint"`` or ``"nearest"``.

    Returns:
        Tensor without the reduced dimensions, with a new first dimension if ``q`` has one.

    Raises:
        RuntimeError: If ``q`` is out of range or there are no elements.

    Example:
        >>> tt.quantile(tt.tensor([1.0, 2.0, 3.0, 4.0]), 0.5)
        tensor(2.5000)
    """
    return quantile_along("quantile", input, q, dim, keepdim, interpolation, False)


@composite(method=True, node="SqueezeBackward4", out=Out.EXACT, like=quantile)
def nanquantile(
    input: Tensor, q: Any, dim: Dims = None, keepdim: bool = False, *,
    interpolation: str = "linear",
) -> Tensor:  # fmt: skip
    """``quantile`` of the elements that are not NaN; NaN if all elements are NaN.

    Returns:
        Tensor without the reduced dimensions, with a new first dimension if ``q`` has one.

    Example:
        >>> tt.nanquantile(tt.tensor([1.0, float("nan"), 3.0]), 0.5)
        tensor(2.)
    """
    return quantile_along("nanquantile", input, q, dim, keepdim, interpolation, True)


def _numpy_quantile(name: str, ignore: bool) -> Any:
    """NumPy's form of ``quantile``, or of ``nanquantile`` with ``ignore``."""

    def form(
        input: Tensor, q: Any, axis: Dims = None, out: Any = None, overwrite_input: bool = False,
        method: str = "linear", keepdims: bool = False, **options: Any,
    ) -> Tensor:  # fmt: skip
        options.setdefault("interpolation", method)
        dim, keepdim = options.pop("dim", axis), options.pop("keepdim", keepdims)
        return quantile_along(name, input, q, dim, keepdim, options["interpolation"], ignore)

    return form


quantile.numpy(_numpy_quantile("quantile", False))
nanquantile.numpy(_numpy_quantile("nanquantile", True))
