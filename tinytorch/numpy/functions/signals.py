"""NumPy's convolution, interpolation and window functions."""

from __future__ import annotations

import math
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
from .conversion import array_of, arrays_of, float_array, unify_dtypes
from .registration import promote_first, register_shared


def _full_product(a: Any, v: Any) -> Any:
    """All sums of products of two signals of one dimension."""
    n, m = a.shape[0], v.shape[0]
    if a.dtype is v.dtype and a.is_floating_point():
        return conv1d(a.reshape(1, 1, n), v.flip(0).reshape(1, 1, m), padding=m - 1).reshape(-1)
    # Row i of the table of products, moved i places to the right: the sums are its columns.
    table: Any = constant_pad_nd(a[:, None] * v[None, :], [0, n])
    return table.reshape(-1)[: n * (n + m - 1)].reshape(n, n + m - 1).sum(0).to(table.dtype)


def _convolved(name: str, a: Any, v: Any, mode: str) -> Tensor:
    n, m = a.shape[0], v.shape[0]
    if not n or not m:
        raise ValueError(f"{name}(): got an empty signal: sizes {n} and {m}")
    short, long = min(n, m), max(n, m)
    lengths = {"full": n + m - 1, "same": long, "valid": long - short + 1}
    if mode not in lengths:
        raise ValueError(f"{name}(): mode must be 'full', 'same' or 'valid', got {mode!r}")
    start = {"full": 0, "same": (short - 1) // 2, "valid": short - 1}[mode]
    return _full_product(a, v)[start : start + lengths[mode]]  # type: ignore[no-any-return]


@register_shared(prepare=promote_first(2))
def convolve(a: Any, v: Any, mode: str = "full") -> Tensor:
    """The convolution of two signals: sums of products with one of them reversed.

    Args:
        a: Tensor of shape ``(n,)``.
        v: Tensor of shape ``(m,)``.
        mode: ``"full"``, every overlap, ``n + m - 1`` of them; ``"same"``, the middle
            ``max(n, m)``; or ``"valid"``, those that are complete.

    Raises:
        ValueError: For an empty signal or another mode.

    Example:
        >>> tt.convolve([1, 2, 3], [0, 1])
        tensor([0, 1, 2, 3])
    """
    x, y = (t.reshape(1) if not t.ndim else t for t in arrays_of(a, v))
    return _convolved("convolve", x, y, mode)


@register_shared(prepare=promote_first(2))
def correlate(a: Any, v: Any, mode: str = "valid") -> Tensor:
    """The cross-correlation of two signals: sums of products at every shift.

    Args:
        a: Tensor of shape ``(n,)``.
        v: Tensor of shape ``(m,)``; its conjugate is taken.
        mode: ``"valid"`` (default), ``"same"`` or ``"full"``, as for ``convolve``.

    Raises:
        ValueError: For an empty signal or another mode.

    Example:
        >>> tt.correlate([1, 2, 3], [0, 1])
        tensor([2, 3])
    """
    x, y = arrays_of(a, v)
    swapped = y.shape[0] > x.shape[0]
    if swapped:  # a shift the other way
        found: Any = _convolved("correlate", y.conj_physical(), x.flip(0), mode)
        return found.flip(0)  # type: ignore[no-any-return]
    return _convolved("correlate", x, y.flip(0).conj_physical(), mode)


@register_shared
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None
) -> Tensor:
    """Values between samples, on the straight lines that join them.

    Args:
        x: Where to look; tensor of any shape.
        xp: Where the samples are; tensor of shape ``(n,)``, in ascending order unless
            there is a ``period``.
        fp: The samples; tensor of shape ``(n,)``.
        left: The value below the first sample; default that of the first.
        right: The value above the last sample; default that of the last.
        period: After which ``x`` repeats; default never.

    Returns:
        Tensor of ``x``'s shape; gradients flow to ``x``, ``xp`` and ``fp``.

    Raises:
        ValueError: If there are no samples, their numbers differ, or ``period`` is 0.

    Example:
        >>> tt.interp(2.5, [1.0, 2.0, 3.0], [3.0, 2.0, 0.0])
        tensor(1.)
    """
    at, places, values = (float_array(t) for t in arrays_of(x, xp, fp))
    if places.shape != values.shape or places.ndim != 1 or not places.shape[0]:
        raise ValueError(
            f"interp(): xp and fp must be non-empty, of one dimension and of the same length, got "
            f"shapes {list(places.shape)} and {list(values.shape)}"
        )
    if period is not None:
        at, places, values = _periodic(at, places, values, period)
        left = right = None
    return _between(at, places, values, left, right)


def _periodic(x: Any, xp: Any, fp: Any, period: float) -> tuple[Any, Any, Any]:
    """The samples of one period, in order, with a neighbour at either end."""
    if period == 0:
        raise ValueError("interp(): period must be a non-zero value")
    period = abs(period)
    x, xp = x % period, xp % period
    order = xp.argsort(stable=True)
    xp, fp = xp[order], fp[order]
    return (
        x, cat([xp[-1:] - period, xp, xp[:1] + period]), cat([fp[-1:], fp, fp[:1]])
    )  # fmt: skip


def _between(x: Any, xp: Any, fp: Any, left: Any, right: Any) -> Tensor:
    size = xp.shape[0]
    plain = x.detach().to(xp.dtype).contiguous()
    above = searchsorted(xp.detach(), plain, right=True).clamp(1, max(size - 1, 1))
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
    """Which bin each element falls into, counted from 1; 0 and the last one are outside.

    Args:
        x: Tensor of any shape.
        bins: Edges, in ascending or descending order; tensor of one dimension.
        right: Whether a bin holds its upper edge rather than its lower one.

    Returns:
        int64 tensor of ``x``'s shape.

    Raises:
        ValueError: If ``bins`` has not one dimension.

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
    """Phases without their jumps: neighbours differ by at most half a period.

    Args:
        p: Tensor of phases; integers are cast to the default dtype unless ``period`` is an int.
        discont: The least jump that is removed; default half a period.
        axis: The dimension along which neighbours lie; default the last.
        period: What the phases repeat after; default 2 pi.

    Example:
        >>> tt.unwrap(tt.tensor([0, 3, 6, 2]), period=4)
        tensor([ 0, -1, -2, -2])
    """
    x: Any = array_of(p)
    whole = x.dtype.category < 2 and isinstance(period, int)
    x = x if whole else float_array(x)
    if not x.shape[axis]:
        return x.clone()  # type: ignore[no-any-return]
    half = period // 2 if whole else period / 2
    steps: Any = diff(x, 1, axis)
    kept = (steps + half) % period - half
    if 2 * half == period:  # a jump of half a period is one up, if the phase grew
        kept = kept.masked_fill((kept == -half) & (steps > 0), half)
    least = period / 2 if discont is None else discont
    change = (kept - steps).masked_fill(steps.abs() < least, 0)
    first = x.narrow(axis, 0, 1)
    return cat([first, x.narrow(axis, 1, x.shape[axis] - 1) + change.cumsum(axis)], axis)


@register_shared
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Tensor:
    """The differences of neighbours in the flattened tensor.

    Args:
        ary: Tensor of any shape.
        to_end: What to put after them.
        to_begin: What to put before them.

    Returns:
        Tensor of one dimension.

    Example:
        >>> tt.ediff1d(tt.tensor([1, 4, 9]), to_begin=0)
        tensor([0, 3, 5])
    """
    flat: Any = array_of(ary).ravel()
    parts = [to_begin, flat[1:] - flat[:-1], to_end]
    kept = [array_of(part, flat._xp).ravel() for part in parts if part is not None]
    return cat([part.to(flat.dtype) for part in kept])


def _places(M: Any) -> Any:
    """Where the samples lie, from -1 to 1; the only one is None."""
    count = M.item() if hasattr(M, "item") else M
    if count <= 1:
        return None
    return arange(1 - count, count, 2, dtype=default_dtype()) / (count - 1)


def _few(M: Any) -> Tensor:
    """What one sample and fewer are: 1, and nothing."""
    return ones(int(M >= 1))


def _cosines(M: int, *weights: float) -> Tensor:
    """A sum of cosines."""
    places = _places(M)
    if places is None:
        return _few(M)
    angle = places * math.pi
    waves = [w * (angle * k).cos() for k, w in enumerate(weights) if k]
    return sum(waves, waves[0] * 0 + weights[0])  # type: ignore[no-any-return]


@register_shared
def hamming(M: int) -> Tensor:
    """The Hamming window, a raised cosine that minimises the nearest side lobe.

    Args:
        M: The number of samples; none if it is below 1.

    Returns:
        Tensor of shape ``(M,)`` of the default dtype.

    Example:
        >>> tt.hamming(3)
        tensor([0.0800, 1.0000, 0.0800])
    """
    return _cosines(M, 0.54, 0.46)


@register_shared
def hanning(M: int) -> Tensor:
    """The Hann window, a raised cosine that ends at 0.

    Args:
        M: The number of samples; none if it is below 1.

    Returns:
        Tensor of shape ``(M,)`` of the default dtype.

    Example:
        >>> tt.hanning(3)
        tensor([0., 1., 0.])
    """
    return _cosines(M, 0.5, 0.5)


@register_shared
def blackman(M: int) -> Tensor:
    """The Blackman window, a sum of three cosines.

    Args:
        M: The number of samples; none if it is below 1.

    Returns:
        Tensor of shape ``(M,)`` of the default dtype.

    Example:
        >>> tt.blackman(5)[1:4]
        tensor([0.3400, 1.0000, 0.3400])
    """
    return _cosines(M, 0.42, 0.5, 0.08)


@register_shared
def bartlett(M: int) -> Tensor:
    """The Bartlett window, a triangle that ends at 0.

    Args:
        M: The number of samples; none if it is below 1.

    Returns:
        Tensor of shape ``(M,)`` of the default dtype.

    Example:
        >>> tt.bartlett(5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    places = _places(M)
    return _few(M) if places is None else 1 - places.abs()


@register_shared
def kaiser(M: int, beta: float) -> Tensor:
    """The Kaiser window, made of Bessel functions.

    Args:
        M: The number of samples; none if it is below 1.
        beta: How fast it falls; 0 is a rectangle.

    Returns:
        Tensor of shape ``(M,)`` of the default dtype.

    Example:
        >>> tt.kaiser(3, 2.0)
        tensor([0.4387, 1.0000, 0.4387])
    """
    places = _places(M)
    if places is None:
        return _few(M)
    height: Any = i0(beta * (1 - places**2).clamp(min=0).sqrt())
    return height / height.new_full((), beta).i0()  # type: ignore[no-any-return]
