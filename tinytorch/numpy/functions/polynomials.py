"""Polynomials by their coefficients, that of the highest power first."""

from __future__ import annotations

import warnings
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...ops.create import factories, ranges
from ...ops.shape import joining
from . import linalg, signals, ufuncs
from .conversion import as_float, host, is_recorded, promote_strong, tensor_of
from .creation import vander
from .joins import concatenate
from .registration import numpy_function, numpy_function_with_fit


def _coefficients(value: Any) -> Any:
    """A tensor of one dimension, in floating-point numbers for what divides."""
    found = tensor_of(value)
    return found if found.ndim else found.reshape(1)


def _aligned(a1: Any, a2: Any) -> list[Any]:
    """Both with as many coefficients, zeros in front."""
    found = [_coefficients(a) for a in promote_strong(a1, a2)]
    size = max(p.shape[0] for p in found)
    return [concatenate([p.new_zeros(size - p.shape[0]), p]) for p in found]


@numpy_function
def polyadd(a1: Any, a2: Any) -> Tensor:
    """The sum of two polynomials.

    Args:
        a1: The coefficients, that of the highest power first.
        a2: The same.

    Example:
        >>> np.polyadd([1, 2], [9, 5, 4])
        array([9, 6, 6])
    """
    x, y = _aligned(a1, a2)
    return x + y  # type: ignore[no-any-return]


@numpy_function
def polysub(a1: Any, a2: Any) -> Tensor:
    """The difference of two polynomials.

    Args:
        a1: The coefficients, that of the highest power first.
        a2: The same.

    Example:
        >>> np.polysub([2, 10, -2], [3, 10, -4])
        array([-1,  0,  2])
    """
    x, y = _aligned(a1, a2)
    return x - y  # type: ignore[no-any-return]


@numpy_function
def polymul(a1: Any, a2: Any) -> Tensor:
    """The product of two polynomials.

    Args:
        a1: The coefficients, that of the highest power first.
        a2: The same.

    Example:
        >>> np.polymul([1, 1], [1, -1])
        array([ 1,  0, -1])
    """
    x, y = promote_strong(_coefficients(a1), _coefficients(a2))
    return signals.convolve(x, y)


@numpy_function
def polydiv(u: Any, v: Any) -> tuple[Tensor, Tensor]:
    """The quotient of two polynomials and what remains.

    Args:
        u: The coefficients of what is divided, that of the highest power first.
        v: Those of what it is divided by.

    Example:
        >>> np.polydiv([3.0, 5.0, 2.0], [2.0, 1.0])
        (array([1.5 , 1.75]), array([0.25]))
    """
    rest, divisor = (as_float(p) for p in promote_strong(_coefficients(u), _coefficients(v)))
    size = divisor.shape[0]
    quotient, rest = [], rest.clone()
    for k in range(rest.shape[0] - size + 1):
        quotient.append(rest[k] / divisor[0])
        less = rest[k : k + size] - quotient[-1] * divisor
        rest = concatenate([rest[:k], less, rest[k + size :]])
    # As NumPy does: what is next to nothing in front is dropped.
    while rest.shape[0] > 1 and not is_recorded(rest) and abs(rest[0].item()) <= 1e-8:
        rest = rest[1:]
    return joining.stack(quotient) if quotient else rest.new_zeros(1), rest


@numpy_function
def polyval(p: Any, x: Any) -> Tensor:
    """The values of a polynomial.

    Args:
        p: The coefficients, that of the highest power first.
        x: Where: Tensor, or what makes one.

    Example:
        >>> np.polyval([3, 0, 1], [5, 0])
        array([76,  1])
    """
    multiply, add = ufuncs.multiply, ufuncs.add
    at = tensor_of(x)
    found = at.new_zeros(tuple(at.shape))
    for coefficient in tensor_of(p):
        found = add(multiply(found, at), coefficient)
    return found  # type: ignore[no-any-return]


@numpy_function
def polyder(p: Any, m: int = 1) -> Tensor:
    """The derivative of a polynomial.

    Args:
        p: The coefficients, that of the highest power first.
        m: How often to derive; default once.

    Raises:
        ValueError: If ``m`` is negative.

    Example:
        >>> np.polyder([1, 1, 1, 1])
        array([3, 2, 1])
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    found = tensor_of(p)
    for _ in range(m):
        powers = ranges.arange(found.shape[0] - 1, 0, -1) if len(found) else found
        (found, powers) = promote_strong(found[:-1], powers)
        found = found * powers
    return found  # type: ignore[no-any-return]


@numpy_function
def polyint(p: Any, m: int = 1, k: Any = None) -> Tensor:
    """An integral of a polynomial.

    Args:
        p: The coefficients, that of the highest power first.
        m: How often to integrate; default once.
        k: The constants, one for all or one for each integration; default 0.

    Raises:
        ValueError: If ``m`` is negative, or ``k`` has too few constants.

    Example:
        >>> np.polyint([3, 2, 1])
        array([1., 1., 1., 0.])
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = _coefficients(0 if k is None else k)
    constants = constants.expand(m) if constants.shape[0] == 1 else constants
    if constants.shape[0] < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    found = tensor_of(p)
    for constant in constants[:m]:
        powers = ranges.arange(found.shape[0], 0, -1, dtype=dtypes.int64)
        found = concatenate([ufuncs.divide(found, powers), constant.reshape(1)])
    return found  # type: ignore[no-any-return]


@numpy_function
def poly(seq_of_zeros: Any) -> Tensor:
    """The polynomial that has given roots, or the characteristic one of a matrix.

    Args:
        seq_of_zeros: The roots, or a square matrix, of which they are the eigenvalues.

    Returns:
        The coefficients, that of the highest power first, which is 1.

    Raises:
        ValueError: For another shape.

    Example:
        >>> np.poly([2, 3])
        array([ 1., -5.,  6.])
    """
    x = _coefficients(seq_of_zeros)
    if x.ndim == 2 and x.shape[0] == x.shape[1] != 0:
        x = linalg.eigvals(x)
    elif x.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    x = as_float(x)
    if not x.shape[0]:
        return x.new_ones(())  # type: ignore[no-any-return]
    found = x.new_ones(1)
    for zero in x:
        found = concatenate([found, found.new_zeros(1)]) - zero * concatenate(
            [found.new_zeros(1), found]
        )
    return found.real if _comes_in_pairs(x) else found  # type: ignore[no-any-return]


def _comes_in_pairs(x: Any) -> bool:
    """Whether complex numbers are each other's conjugates, so that their polynomial is real."""
    values = x.detach().cpu().numpy()
    numpy = host()
    return x.is_complex() and bool((numpy.sort(values) == numpy.sort(values.conj())).all())


@numpy_function
def roots(p: Any) -> Tensor:
    """The roots of a polynomial: the eigenvalues of its companion matrix.

    Args:
        p: The coefficients, that of the highest power first.

    Raises:
        RuntimeError: If the first coefficient is 0 and requires grad.
        ValueError: If there are more dimensions than one.

    Example:
        >>> np.roots([1, -3, 2])
        array([2., 1.])
    """
    x = _coefficients(p)
    if x.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    places = x.detach().nonzero().reshape(-1).tolist()
    if not places:
        return x.new_zeros(0, dtype=dtypes.float64)  # type: ignore[no-any-return]
    if is_recorded(x) and places[0]:
        raise RuntimeError("roots(): expected a first coefficient other than 0, for its gradient")
    last = x.shape[0] - 1 if is_recorded(x) else places[-1]
    inner = as_float(x[places[0] : last + 1])
    size = inner.shape[0] - 1
    zeros = inner.new_zeros(x.shape[0] - 1 - last)
    if not size:
        return zeros  # type: ignore[no-any-return]
    below = factories.eye(size - 1, size, dtype=inner.dtype, backend=inner._xp)
    companion = concatenate([(-inner[1:] / inner[0]).reshape(1, -1), below])
    return concatenate(promote_strong(linalg.eigvals(companion), zeros))


@numpy_function_with_fit
def polyfit(
    x: Any, y: Any, deg: int, rcond: float | None = None, full: bool = False, w: Any = None,
    cov: Any = False,
) -> Any:  # fmt: skip
    """The polynomial of a degree that is nearest to points, in the sense of least squares.

    Args:
        x: Where they are: tensor of shape ``(n,)``.
        y: Their values: tensor of shape ``(n,)``, or ``(n, k)`` for several polynomials.
        deg: The degree.
        rcond: Singular values below this part of the largest count as 0; default the precision
            times ``n``.
        full: Also return what ``linalg.lstsq`` tells.
        w: Weights of the points, of shape ``(n,)``.
        cov: Also return the covariance of the coefficients, scaled by the residuals unless it is
            ``"unscaled"``.

    Returns:
        The coefficients, that of the highest power first; with ``full`` also the residuals, the
        rank, the singular values and ``rcond``.

    Raises:
        TypeError: For other shapes, or no points.
        ValueError: If ``deg`` is negative, or there are too few points for a covariance.

    Example:
        >>> np.polyfit([0, 1, 2, 3], [1, 3, 5, 7], 1).round(6)
        array([2., 1.])
    """
    at, values = _points(as_float(x), as_float(y), deg)
    rcond = at.shape[0] * dtypes.finfo(at.dtype).eps if rcond is None else rcond
    powers: Any = vander(at, deg + 1)
    if w is not None:
        weights = _weights(as_float(w), values)
        powers = powers * weights.unsqueeze(-1)
        values = values * (weights.unsqueeze(-1) if values.ndim == 2 else weights)
    scale = (powers * powers).sum(0).sqrt()
    found, residuals, rank, s = linalg.lstsq(powers / scale, values, rcond)
    found = found / (scale.unsqueeze(-1) if found.ndim == 2 else scale)
    if full:
        return found, residuals, rank, s, rcond
    if int(rank) != deg + 1:
        warnings.warn("Polyfit may be poorly conditioned", host().exceptions.RankWarning, 4)
    if not cov:
        return found
    return found, _covariance(powers / scale, scale, residuals, values.ndim, cov)


def _points(x: Any, y: Any, deg: int) -> tuple[Any, Any]:
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1 or not x.shape[0]:
        raise TypeError(f"expected 1D, non-empty vector for x, got shape {tuple(x.shape)}")
    if y.ndim not in (1, 2):
        raise TypeError(f"expected 1D or 2D array for y, got shape {tuple(y.shape)}")
    if x.shape[0] != y.shape[0]:
        raise TypeError(f"expected x and y to have same length, got {x.shape[0]}, {y.shape[0]}")
    return x, y


def _weights(w: Any, y: Any) -> Any:
    if w.ndim != 1:
        raise TypeError(f"expected a 1-d array for weights, got shape {tuple(w.shape)}")
    if w.shape[0] != y.shape[0]:
        raise TypeError(f"expected w and y to have the same length, got {len(w)}, {len(y)}")
    return w


def _covariance(powers: Any, scale: Any, residuals: Any, ndim: int, cov: Any) -> Any:
    count, order = powers.shape
    base: Any = linalg.inv(powers.T @ powers)
    base = base / (scale.unsqueeze(-1) * scale)
    base = base if ndim == 1 else base.unsqueeze(-1)
    if cov == "unscaled":
        return base
    if count <= order:
        raise ValueError(
            "the number of data points must exceed order to scale the covariance matrix"
        )
    return base * (residuals / (count - order))
