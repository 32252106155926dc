"""Differences along a dimension, and the trapezoidal rule."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import composite
from ..checks import as_int
from ..create.factories import as_tensor
from ..index.slicing import slice_
from ..pointwise.arithmetic import sub, times
from ..pointwise.comparison import logical_xor
from ..pointwise.division import over
from ..results import write_result
from ..shape.joining import cat
from ..shape.sizes import normalize_dim
from .cumulative import cumsum


def _neighbors(input: Tensor, at: int) -> tuple[Tensor, Tensor]:
    """All elements along ``at`` except the first, and all except the last."""
    return slice_(input, at, 1, None, 1), slice_(input, at, None, -1, 1)


@composite(method=True)
def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Differences of adjacent elements along ``dim``; for bools, whether they differ.

    Args:
        input: Tensor of at least one dimension.
        n: The order of the differences; default 1.
        dim: The dimension; default the last.
        prepend: Elements to add before ``input``; default None.
        append: Elements to add after ``input``; default None.

    Returns:
        Tensor that is ``n`` shorter along ``dim``.

    Raises:
        RuntimeError: If ``n`` is negative, ``input`` is 0-d, or the shape of ``prepend`` or
            ``append`` differs from that of ``input`` in another dimension than ``dim``.

    Example:
        >>> tt.diff(tt.tensor([1, 4, 9]))
        tensor([3, 5])
    """
    ndim = input._data.ndim
    if not ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    n = as_int("diff", "n", n)
    if n < 0:
        raise RuntimeError(f"diff: order must be non-negative but got {n}")
    at = normalize_dim("diff", dim, ndim)
    found = input
    if prepend is not None or append is not None:
        ends = [_check_end(end, input, at) for end in (prepend, append)]
        parts = [part for part in (ends[0], input, ends[1]) if part is not None]
        found = cat(parts, at) if n else input
    steps = min(n, found._data.shape[at])
    if not steps:
        return write_result(out, found.clone(), "diff")  # type: ignore[no-any-return]
    step: Any = logical_xor if found._data.dtype.kind == "b" else sub
    for _ in range(steps - 1):
        found = step(*_neighbors(found, at))
    # The keyword ``out`` keeps a call from the fast path.
    options = {} if out is None else {"out": out}
    return step(*_neighbors(found, at), **options)  # type: ignore[no-any-return]


def _check_end(value: Any, input: Tensor, at: int) -> Any:
    """Check ``prepend`` or ``append``; a number is expanded to a slice."""
    if isinstance(value, Tensor) and value.ndim != input.ndim:
        raise RuntimeError(
            "diff expects prepend or append to be the same dimension as input, got shapes "
            f"{list(value.shape)} and {list(input.shape)}"
        )
    if isinstance(value, Tensor):
        for d, (n, wanted) in enumerate(zip(value.shape, input.shape, strict=True)):
            if n != wanted and d != at:
                raise RuntimeError(
                    "diff expects the shape of tensor to prepend or append to match that of input "
                    f"except along the differencing dimension; input.size({d}) = {wanted}, but got "
                    f"tensor.size({d}) = {n}"
                )
    if value is None or isinstance(value, Tensor):
        return value
    made = as_tensor(value, backend=input._xp)
    shape = [1 if d == at else n for d, n in enumerate(input.shape)]
    return made if made.ndim else made.to(input.dtype).expand(shape)


def _widths(name: str, y: Tensor, x: Tensor, at: int) -> Tensor:
    """Distances of the sample points ``x`` along dimension ``at`` of ``y``."""
    ndim, dims = y._data.ndim, x._data.ndim
    if dims == 1:
        if x.shape[0] != y.shape[at]:
            raise RuntimeError(
                f"{name}: There must be one `x` value for each sample point, got {x.shape[0]} for "
                f"{y.shape[at]} along dimension {at}"
            )
        return diff(x).reshape([-1 if i == at else 1 for i in range(ndim)])
    if dims < ndim:
        x = x.reshape([1] * (ndim - dims) + list(x.shape))
    return diff(x, 1, at)


def _areas(name: str, y: Tensor, x: Any, dx: Any, dim: int) -> tuple[Tensor, int]:
    """Areas of the trapezoids below ``y``, and the nonnegative dimension.

    Args:
        name: Name of the operation.
        y: The samples.
        x: Their positions, or None.
        dx: Their distance, if there is no ``x``; None is 1.
        dim: The dimension of the samples.
    """
    ndim = y._data.ndim
    if not ndim:
        raise IndexError(f"{name}: Dimension specified as {dim} but tensor has no dimensions")
    at = normalize_dim(name, dim, ndim)
    if y.dtype.kind == "b" or getattr(x, "dtype", y.dtype).kind == "b":
        given = "`y`" if x is None else "`x` or `y`"
        raise RuntimeError(f"{name}: received a bool input for {given}, but bool is not supported")
    if x is not None and dx is not None:
        raise TypeError(f"{name}() received an invalid combination of arguments: both x and dx")
    if dx is not None and not isinstance(dx, Tensor) and isinstance(dx, (bool, complex)):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")
    later, earlier = _neighbors(y, at)
    if x is not None:
        width: Any = _widths(name, y, x, at)
        return over((later + earlier) * width, 2), at
    return over(times(later + earlier, 1 if dx is None else dx), 2), at


@composite(aliases=("trapz",))
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """Integral of ``y`` along ``dim`` by the trapezoidal rule.

    Args:
        y: Tensor of values.
        x: The sample points, of one dimension or of a shape that broadcasts with ``y``'s.
        dx: The distance between sample points, if ``x`` is not passed; default 1.
        dim: The dimension; default the last.

    Returns:
        Tensor without that dimension.

    Raises:
        RuntimeError: If ``x`` does not fit.

    Example:
        >>> tt.trapezoid(tt.tensor([1.0, 2.0, 4.0]))
        tensor(4.5000)
    """
    shape = y._data.shape
    if shape and not shape[normalize_dim("trapezoid", dim, len(shape))]:
        return y.detach().sum(dim, dtype=y.dtype)  # an empty integral is not recorded
    if x is None and y.dtype.kind in "ui":
        y = y.to("int64")  # as for a sum: 255 + 200 exceeds uint8
    areas, at = _areas("trapezoid", y, x, dx, dim)
    return areas.sum(at)


@composite(like=trapezoid)
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1
) -> Tensor:
    """Cumulative integral of ``y`` along ``dim`` by the trapezoidal rule.

    Returns:
        Tensor that is shorter by 1 along that dimension.

    Example:
        >>> tt.cumulative_trapezoid(tt.tensor([1.0, 2.0, 4.0]))
        tensor([1.5000, 4.5000])
    """
    areas, at = _areas("cumulative_trapezoid", y, x, dx, dim)
    return cumsum(areas, at)
