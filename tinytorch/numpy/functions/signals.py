"""NumPy's convolution, interpolation and window functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...ops.create.factories import ones
from ...ops.create.ranges import arange
from ...ops.nn.convolution import conv1d
from ...ops.nn.padding import constant_pad_nd
from ...ops.pointwise.selection import where
from ...ops.reduce.differences import diff
from ...ops.shape.joining import cat
from ...ops.sort.sorting import searchsorted
from ...ops.special.bessel_functions import i0
from ...state import default_dtype
from .conversion import array_of, arrays_of, float_array, is_inexact, unify_dtypes
from .registration import promote_first, register_shared, register_shared_as


def _convolve_full(a: Any, v: Any) -> Any:
    """Full convolution, of ``n + m - 1`` elements, of vectors of ``n`` and ``m`` elements."""
    n, m = a.shape[0], v.shape[0]
    if a.dtype is v.dtype and a.is_floating_point():
        return conv1d(a.reshape(1, 1, n), v.flip(0).reshape(1, 1, m), padding=m - 1).reshape(-1)
    # Shift row i of the table of products a[i] * v[j] by i, so that column k has those with
    # i + j = k: the padded rows are one element longer than the new ones, so reshaping shifts them.
    table: Any = constant_pad_nd(a[:, None] * v[None, :], [0, n])
    return table.reshape(-1)[: n * (n + m - 1)].reshape(n, n + m - 1).sum(0).to(table.dtype)


def _convolve(name: str, a: Any, v: Any, mode: str) -> Tensor:
    """Convolution of two vectors.

    Args:
        name: Name of the calling function, for errors.
        a: Tensor of shape ``(n,)``.
        v: Tensor of shape ``(m,)``.
        mode: ``"full"``, ``"same"`` or ``"valid"``; see ``convolve``.
    """
    n, m = a.shape[0], v.shape[0]
    if not n or not m:
        raise ValueError(f"{name}(): got an empty signal: sizes {n} and {m}")
    short, long = min(n, m), max(n, m)
    lengths = {"full": n + m - 1, "same": long, "valid": long - short + 1}
    if mode not in lengths:
        raise ValueError(f"{name}(): mode must be 'full', 'same' or 'valid', got {mode!r}")
    start = {"full": 0, "same": (short - 1) // 2, "valid": short - 1}[mode]
    return _convolve_full(a, v)[start : start + lengths[mode]]  # type: ignore[no-any-return]


@register_shared(prepare=promote_first(2))
def convolve(a: Any, v: Any, mode: str = "full") -> Tensor:
    """Convolution of two signals: ``result[k]`` is the sum of ``a[i] * v[k - i]``.

    Args:
        a: Tensor of shape ``(n,)``.
        v: Tensor of shape ``(m,)``.
        mode: ``"full"`` (default), all ``n + m - 1`` overlaps; ``"same"``, the middle
            ``max(n, m)`` of them; or ``"valid"``, only complete overlaps.

    Raises:
        ValueError: For an empty signal or another mode.

    Example:
        >>> tt.convolve([1, 2, 3], [0, 1])
        tensor([0, 1, 2, 3])
    """
    x, y = (t.reshape(1) if not t.ndim else t for t in arrays_of(a, v))
    return _convolve("convolve", x, y, mode)


@register_shared(prepare=promote_first(2))
def correlate(a: Any, v: Any, mode: str = "valid") -> Tensor:
    """Cross-correlation of two signals: ``result[k]`` is the sum of ``a[i + k] * conj(v[i])``.

    Args:
        a: Tensor of shape ``(n,)``.
        v: Tensor of shape ``(m,)``, which is conjugated.
        mode: ``"valid"`` (default), ``"same"`` or ``"full"``, as for ``convolve``.

    Raises:
        ValueError: For an empty signal or another mode.

    Example:
        >>> tt.correlate([1, 2, 3], [0, 1])
        tensor([2, 3])
    """
    x, y = arrays_of(a, v)
    if y.shape[0] > x.shape[0]:  # With exchanged signals the shifts have the opposite order.
        found: Any = _convolve("correlate", y.conj_physical(), x.flip(0), mode)
        return found.flip(0)  # type: ignore[no-any-return]
    return _convolve("correlate", x, y.flip(0).conj_physical(), mode)


@register_shared
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None
) -> Tensor:
    """Linear interpolation between samples.

    Args:
        x: Points at which to interpolate; tensor of any shape.
        xp: Points of the samples; tensor of shape ``(n,)``, in ascending order unless ``period``
            is given.
        fp: The samples; tensor of shape ``(n,)``.
        left: Value for ``x < xp[0]``; default ``fp[0]``.
        right: Value for ``x > xp[-1]``; default ``fp[-1]``.
        period: Period of ``x``; default None: not periodic.

    Returns:
        Tensor of ``x``'s shape; gradients flow to ``x``, ``xp`` and ``fp``.

    Raises:
        ValueError: If there are no samples, ``xp`` and ``fp`` differ in length, or ``period`` is 0.

    Example:
        >>> tt.interp(2.5, [1.0, 2.0, 3.0], [3.0, 2.0, 0.0])
        tensor(1.)
    """
    at, points, values = (float_array(t) for t in arrays_of(x, xp, fp))
    if points.shape != values.shape or points.ndim != 1 or not points.shape[0]:
        raise ValueError(
            f"interp(): xp and fp must be non-empty, of one dimension and of the same length, got "
            f"shapes {list(points.shape)} and {list(values.shape)}"
        )
    if period is not None:
        at, points, values = _reduce_to_period(at, points, values, period)
        left = right = None
    return _interpolate(at, points, values, left, right)


def _reduce_to_period(x: Any, xp: Any, fp: Any, period: float) -> tuple[Any, Any, Any]:
    """Return the arguments ``(x, xp, fp)`` of a periodic ``interp`` for an ordinary one.

    ``x`` and ``xp`` are taken modulo the period, and the samples are sorted by ``xp``. The last
    sample is also put one period before the first one, and the first one a period after the last.
    """
    if period == 0:
        raise ValueError("interp(): period must be a non-zero value")
    period = abs(period)
    x, xp = x % period, xp % period
    order = xp.argsort(stable=True)
    xp, fp = xp[order], fp[order]
    return x, cat([xp[-1:] - period, xp, xp[:1] + period]), cat([fp[-1:], fp, fp[:1]])


def _interpolate(x: Any, xp: Any, fp: Any, left: Any, right: Any) -> Tensor:
    """``interp`` of floating-point tensors without a period; the arguments are ``interp``'s."""
    size = xp.shape[0]
    points = x.detach().to(xp.dtype).contiguous()
    above = searchsorted(xp.detach(), points, right=True).clamp(1, max(size - 1, 1))
    low, high = (above - 1), above.clamp(max=size - 1)
    width = xp[high] - xp[low]
    slope = (fp[high] - fp[low]) / width.masked_fill(width == 0, 1)
    found = fp[low] + slope * (x - xp[low])
    found = where(x < xp[0], fp[0] if left is None else array_of(left, fp._xp), found)
    found = where(x > xp[-1], fp[-1] if right is None else array_of(right, fp._xp), found)
    found = where(x == xp[-1], fp[-1], found)
    return found.to(fp.dtype)


@register_shared
def digitize(x: Any, bins: Any, right: bool = False) -> Tensor:
    """Index of the bin of each element: ``bins[i - 1] <= x < bins[i]`` has index ``i``.

    Elements before the first edge have index 0, those after the last edge ``len(bins)``.

    Args:
        x: Tensor of any shape.
        bins: Edges, in ascending or descending order; tensor of one dimension.
        right: Whether a bin includes its upper edge instead of its lower edge.

    Returns:
        int64 tensor of ``x``'s shape.

    Raises:
        ValueError: If ``bins`` does not have one dimension.

    Example:
        >>> tt.digitize(tt.tensor([0.2, 6.4, 3.0]), [0.0, 1.0, 2.5, 4.0])
        tensor([1, 4, 3])
    """
    values, edges = unify_dtypes(x, bins)
    if edges.ndim != 1:
        raise ValueError(f"digitize(): bins must have one dimension, got shape {list(edges.shape)}")
    if edges.shape[0] > 1 and bool(edges[0] > edges[-1]):
        found = searchsorted(edges.flip(0), values, right=not right)
        return edges.shape[0] - found  # type: ignore[no-any-return]
    return searchsorted(edges, values, right=not right)


@register_shared
def unwrap(
    p: Any, discont: float | None = None, axis: int = -1, *, period: float = 2 * math.pi
) -> Tensor:
    """Remove jumps from phases by adding multiples of the period.

    Args:
        p: Tensor of phases; integers are cast to the default dtype unless ``period`` is an int.
        discont: The smallest jump between neighbors that is removed; default half a period.
        axis: The dimension of the neighbors; default the last.
        period: Period of the phases; default 2 pi.

    Example:
        >>> tt.unwrap(tt.tensor([0, 3, 6, 2]), period=4)
        tensor([ 0, -1, -2, -2])
    """
    x: Any = array_of(p)
    integral = not is_inexact(x) and isinstance(period, int)
    x = x if integral else float_array(x)
    if not x.shape[axis]:
        return x.clone()  # type: ignore[no-any-return]
    half = period // 2 if integral else period / 2
    steps: Any = diff(x, 1, axis)
    reduced = (steps + half) % period - half
    if 2 * half == period:  # A step of exactly half a period keeps its sign.
        reduced = reduced.masked_fill((reduced == -half) & (steps > 0), half)
    least = period / 2 if discont is None else discont
    change = (reduced - steps).masked_fill(steps.abs() < least, 0)
    first = x.narrow(axis, 0, 1)
    return cat([first, x.narrow(axis, 1, x.shape[axis] - 1) + change.cumsum(axis)], axis)


@register_shared
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Tensor:
    """Differences of neighboring elements of the flattened tensor.

    Args:
        ary: Tensor of any shape.
        to_end: Elements to append; default none.
        to_begin: Elements to prepend; default none.

    Returns:
        Tensor of one dimension.

    Example:
        >>> tt.ediff1d(tt.tensor([1, 4, 9]), to_begin=0)
        tensor([0, 3, 5])
    """
    flat: Any = array_of(ary).ravel()
    parts = [part for part in (to_begin, flat[1:] - flat[:-1], to_end) if part is not None]
    return cat([array_of(part, flat._xp).ravel().to(flat.dtype) for part in parts])


def _sample_points(M: Any) -> Any:
    """``M`` equidistant points from -1 to 1, where a window is evaluated; None if ``M`` <= 1.

    ``M`` is a number or a 0-d tensor.
    """
    count = M.item() if hasattr(M, "item") else M
    if count <= 1:
        return None
    return arange(1 - count, count, 2, dtype=default_dtype()) / (count - 1)


def _trivial_window(M: Any) -> Tensor:
    """Window of at most one sample: ``[1]`` or empty."""
    return ones(int(M >= 1))


def _make_cosine_window(
    name: str, summary: str, weights: tuple[float, ...], *example: str
) -> Callable[..., Tensor]:
    """Make and register a window: the sum of ``weights[k] * cos(k * pi * x)``, x from -1 to 1.

    Args:
        name: Name of the function.
        summary: First line of its docstring.
        weights: The weights, that of the constant first.
        *example: Lines of the docstring's example.
    """

    def function(M: int) -> Tensor:
        points = _sample_points(M)
        if points is None:
            return _trivial_window(M)
        angle = points * math.pi
        waves = [w * (angle * k).cos() for k, w in enumerate(weights) if k]
        return sum(waves, waves[0] * 0 + weights[0])  # type: ignore[no-any-return]

    doc = f"""{summary}

    Args:
        M: Number of samples; below 1 the window is empty.

    Returns:
        Tensor of shape ``(M,)`` of the default dtype.
    """
    return register_shared_as(function, name, doc, *example)


hamming: Callable[..., Tensor] = _make_cosine_window(
    "hamming", "Hamming window, a raised cosine that minimizes the nearest side lobe.",
    (0.54, 0.46), ">>> tt.hamming(3)", "tensor([0.0800, 1.0000, 0.0800])",
)  # fmt: skip
hanning: Callable[..., Tensor] = _make_cosine_window(
    "hanning", "Hann window, a raised cosine that ends at 0.", (0.5, 0.5),
    ">>> tt.hanning(3)", "tensor([0., 1., 0.])",
)  # fmt: skip
blackman: Callable[..., Tensor] = _make_cosine_window(
    "blackman", "Blackman window, a sum of three cosines.", (0.42, 0.5, 0.08),
    ">>> tt.blackman(5)[1:4]", "tensor([0.3400, 1.0000, 0.3400])",
)  # fmt: skip


@register_shared(like=hamming)
def bartlett(M: int) -> Tensor:
    """Bartlett window, a triangle that ends at 0.

    Returns:
        Tensor of shape ``(M,)`` of the default dtype.

    Example:
        >>> tt.bartlett(5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    points = _sample_points(M)
    return _trivial_window(M) if points is None else 1 - points.abs()


@register_shared(like=hamming)
def kaiser(M: int, beta: float) -> Tensor:
    """Kaiser window, defined by a Bessel function.

    Args:
        beta: Steepness of the window; 0 is a rectangle.

    Returns:
        Tensor of shape ``(M,)`` of the default dtype.

    Example:
        >>> tt.kaiser(3, 2.0)
        tensor([0.4387, 1.0000, 0.4387])
    """
    points = _sample_points(M)
    if points is None:
        return _trivial_window(M)
    height: Any = i0(beta * (1 - points**2).clamp(min=0).sqrt())
    return height / height.new_full((), beta).i0()  # type: ignore[no-any-return]
