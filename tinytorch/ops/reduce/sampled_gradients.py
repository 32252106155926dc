"""Derivatives of sampled functions by finite differences."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import composite
from ..create.factories import as_tensor
from ..pointwise.arithmetic import times
from ..pointwise.division import over
from ..shape.joining import cat
from ..shape.sizes import distinct_dims
from ..shape.views import contiguous


@composite(forms=(
    "(input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) "
    "-> tuple[Tensor, ...]",
    "(input: Tensor, distance: Any, /, *varargs: Any, dim: Any = None, edge_order: int = 1) "
    "-> Tensor | tuple[Tensor, ...]",
), node="CatBackward0")  # fmt: skip
def gradient(
    input: Any, *varargs: Any, spacing: Any = 1, dim: Any = None, edge_order: int = 1
) -> Any:
    """Derivatives of a sampled function, by second-order differences in the interior.

    With positional distances it is NumPy's ``gradient``: one tensor for one dimension.

    Args:
        input: The samples; at least ``edge_order + 1`` along every differentiated dimension.
        *varargs: NumPy's form of ``spacing``: distances of adjacent samples, one for all
            dimensions or one for each, or coordinates.
        spacing: PyTorch's form: a distance for all dimensions or one for each, or a list
            with the coordinates of each dimension as tensors. Default: 1.
        dim: Dimension or dimensions; None, the default, means all.
        edge_order: 1 (default) or 2: the order of the differences at both ends.

    Returns:
        One tensor of ``input``'s shape for each dimension.

    Raises:
        RuntimeError: If sizes, dimensions or ``edge_order`` do not fit.

    Example:
        >>> tt.gradient(tt.tensor([1.0, 2.0, 4.0, 7.0]))
        (tensor([1.0000, 1.5000, 2.5000, 3.0000]),)

    Reference:
        Fornberg: Generation of finite difference formulas on arbitrarily spaced grids,
        Mathematics of Computation 51 (1988).
    """
    if varargs:
        return _numpy_gradient(input, *varargs, axis=dim, edge_order=edge_order)
    input = input if isinstance(input, Tensor) else as_tensor(input)
    dims = _dims(input, dim)
    steps = _steps(input, spacing, dims)
    if edge_order not in (1, 2):
        raise RuntimeError(
            f"torch.gradient only supports edge_order=1 and edge_order=2, got {edge_order}"
        )
    for d in dims:
        if input.shape[d] < edge_order + 1:
            raise RuntimeError(
                "torch.gradient expected each dimension size to be at least edge_order+1, got "
                f"shape {list(input.shape)} and edge_order {edge_order}"
            )
    return tuple(
        _gradient_along(input, d, step, edge_order) for d, step in zip(dims, steps, strict=True)
    )


def _dims(input: Tensor, dim: Any) -> list[int]:
    """The nonnegative dimensions of ``gradient``; None for all."""
    given = range(input.ndim) if dim is None else dim
    dims = list(distinct_dims("gradient", given, input.ndim))
    if input.dtype.name in ("uint8", "bool"):
        raise RuntimeError(f"torch.gradient does not support {input.dtype.name} input.")
    return dims


def _steps(input: Tensor, spacing: Any, dims: Sequence[int]) -> list[Any]:
    """For each dimension the distance, or the differences of its coordinates."""
    spacing = 1 if spacing is None else spacing
    if isinstance(spacing, numbers.Number) or (isinstance(spacing, Tensor) and not spacing.ndim):
        return [spacing.item() if hasattr(spacing, "item") else spacing] * len(dims)
    if not isinstance(spacing, (list, tuple)):
        raise TypeError(
            "gradient(): argument 'spacing' must be a number, or a list of numbers or tensors, "
            f"not {type(spacing).__name__}"
        )
    if len(spacing) != len(dims):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
            f"equal to 'self.dim() = {input.ndim}', the number of dims, but got {len(spacing)}"
        )
    return [_step(input, s, d) for s, d in zip(spacing, dims, strict=True)]


def _step(input: Tensor, spacing: Any, dim: int) -> Any:
    """The distance along ``dim``, or the differences if ``spacing`` is a tensor of coordinates."""
    if not isinstance(spacing, Tensor):
        return spacing
    if spacing.ndim != 1 or spacing.shape[0] != input.shape[dim]:
        raise RuntimeError(
            "torch.gradient expected each element of spacing to have one dimension and the size "
            f"{input.shape[dim]} of dimension {dim}, but got shape {list(spacing.shape)}"
        )
    if spacing.device != input.device:
        raise RuntimeError(
            "torch.gradient expected each tensor to be on the same device, but got devices "
            f"{input.device} and {spacing.device}"
        )
    return spacing[1:] - spacing[:-1]


def _gradient_along(input: Tensor, dim: int, step: Any, edge_order: int) -> Tensor:
    """Numerical derivative along ``dim``, with one-sided differences at both ends."""
    x: Any = input.transpose(dim, -1)
    if isinstance(step, Tensor):
        inner, first, last = _uneven_differences(x, step, edge_order)
    else:
        inner, first, last = _even_differences(x, step, edge_order)
    parts = (first, inner, last) if x.shape[-1] > 2 else (first, last)
    return contiguous(cat(parts, -1).transpose(dim, -1))


def _even_differences(x: Any, step: Any, edge_order: int) -> tuple[Any, Any, Any]:
    """Differences of equidistant samples along the last dimension.

    Returns:
        The derivatives at the inner samples, the first one and the last one.
    """
    inner = over(x[..., 2:] - x[..., :-2], 2 * step)
    if edge_order == 1:
        first, last = x[..., 1:2] - x[..., :1], x[..., -1:] - x[..., -2:-1]
    else:
        first = times(x[..., :1], -1.5) + times(x[..., 1:2], 2) - times(x[..., 2:3], 0.5)
        last = times(x[..., -1:], 1.5) - times(x[..., -2:-1], 2) + times(x[..., -3:-2], 0.5)
    return inner, over(first, step), over(last, step)


def _uneven_differences(x: Any, h: Any, edge_order: int) -> tuple[Any, Any, Any]:
    """``_even_differences`` for samples with the distances ``h``."""
    a, b = h[:-1], h[1:]
    inner = (
        -b / (a * (a + b)) * x[..., :-2]
        + (b - a) / (a * b) * x[..., 1:-1]
        + a / (b * (a + b)) * x[..., 2:]
    )
    if edge_order == 1:
        first = (x[..., 1:2] - x[..., :1]) / h[0]
        return inner, first, (x[..., -1:] - x[..., -2:-1]) / h[-1]
    a, b = h[0], h[1]
    first = (
        -(2 * a + b) / (a * (a + b)) * x[..., :1]
        + (a + b) / (a * b) * x[..., 1:2]
        - a / (b * (a + b)) * x[..., 2:3]
    )
    a, b = h[-2], h[-1]
    last = (
        b / (a * (a + b)) * x[..., -3:-2]
        - (a + b) / (a * b) * x[..., -2:-1]
        + (2 * b + a) / (b * (a + b)) * x[..., -1:]
    )
    return inner, first, last


def _numpy_gradient(
    f: Tensor, *varargs: Any, axis: Any = None, edge_order: int = 1
) -> Tensor | tuple[Tensor, ...]:
    """NumPy's form: positional distances, and one tensor for a single axis."""
    samples: Any = f if isinstance(f, Tensor) else as_tensor(f)
    axes = range(samples.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    many = list(varargs) * (len(axes) if len(varargs) == 1 else 1)
    spacing = [as_tensor(s) if isinstance(s, (tuple, list)) else s for s in many] or 1
    found = gradient(samples, spacing=spacing, dim=list(axes), edge_order=edge_order)
    return found[0] if len(axes) == 1 else tuple(found)
