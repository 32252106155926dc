"""NumPy's functions of polynomials, given by their coefficients from the highest power down."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from operator import add, sub
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import composite
from ...ops.create import factories, ranges
from ...ops.shape import joining
from . import linalg, signals, ufuncs
from .conversion import as_float, host, is_recorded, promote_strong, tensor_of
from .creation import vander
from .joins import concatenate
from .registration import numpy_function, numpy_function_with_fit, register_as


def _coefficients(value: Any) -> Any:
    """Tensor of a polynomial's coefficients; a single number becomes a vector."""
    found = tensor_of(value)
    return found if found.ndim else found.reshape(1)


def _align(a1: Any, a2: Any) -> list[Any]:
    """Return the coefficients of two polynomials as tensors of equal length.

    Zeros are put in front of the shorter one, as coefficients of higher powers.
    """
    found = [_coefficients(a) for a in promote_strong(a1, a2)]
    size = max(p.shape[0] for p in found)
    return [concatenate([p.new_zeros(size - p.shape[0]), p]) for p in found]


def _make_operation(
    name: str, summary: str, compute: Callable[[Any, Any], Any], *example: str
) -> Callable[..., Tensor]:
    """Make and register ``polyadd``, ``polysub`` or ``polymul``.

    Args:
        name: Name of the function.
        summary: Beginning of its docstring.
        compute: Function from the coefficients of two polynomials to those of the result.
        *example: Lines of the docstring's example.
    """

    def function(a1: Any, a2: Any) -> Tensor:
        return compute(a1, a2)  # type: ignore[no-any-return]

    doc = f"""{summary} of two polynomials.

    Args:
        a1, a2: Coefficients of a polynomial, from the highest power down.
    """
    return register_as(function, name, doc, *example)


polyadd: Callable[..., Tensor] = _make_operation(
    "polyadd", "Sum", lambda p, q: add(*_align(p, q)),
    ">>> np.polyadd([1, 2], [9, 5, 4])", "array([9, 6, 6])",
)  # fmt: skip
polysub: Callable[..., Tensor] = _make_operation(
    "polysub", "Difference", lambda p, q: sub(*_align(p, q)),
    ">>> np.polysub([2, 10, -2], [3, 10, -4])", "array([-1,  0,  2])",
)  # fmt: skip
polymul: Callable[..., Tensor] = _make_operation(
    "polymul", "Product",
    lambda p, q: signals.convolve(*promote_strong(_coefficients(p), _coefficients(q))),
    ">>> np.polymul([1, 1], [1, -1])", "array([ 1,  0, -1])",
)  # fmt: skip


@numpy_function
def polydiv(u: Any, v: Any) -> tuple[Tensor, Tensor]:
    """Quotient and remainder of two polynomials.

    Args:
        u: Coefficients of the dividend, from the highest power down.
        v: Coefficients of the divisor.

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
    # NumPy drops leading coefficients of the remainder that are nearly 0.
    while rest.shape[0] > 1 and not is_recorded(rest) and abs(rest[0].item()) <= 1e-8:
        rest = rest[1:]
    return joining.stack(quotient) if quotient else rest.new_zeros(1), rest


@numpy_function
def polyval(p: Any, x: Any) -> Tensor:
    """Values of a polynomial.

    Args:
        p: Coefficients, from the highest power down.
        x: Points at which to evaluate it: Tensor or array-like.

    Example:
        >>> np.polyval([3, 0, 1], [5, 0])
        array([76,  1])
    """
    points = tensor_of(x)
    found = points.new_zeros(tuple(points.shape))
    for coefficient in tensor_of(p):
        found = ufuncs.add(ufuncs.multiply(found, points), coefficient)
    return found  # type: ignore[no-any-return]


@numpy_function
def polyder(p: Any, m: int = 1) -> Tensor:
    """Derivative of a polynomial.

    Args:
        p: Coefficients, from the highest power down.
        m: Order of the derivative; default 1.

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
    """Antiderivative of a polynomial.

    Args:
        p: Coefficients, from the highest power down.
        m: Number of integrations; default 1.
        k: Constant of integration, one for all or one for each integration; default 0.

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
    """Polynomial with given roots, or characteristic polynomial of a matrix.

    Args:
        seq_of_zeros: The roots, or a square matrix whose eigenvalues are the roots.

    Returns:
        Coefficients, from the highest power down; the first is 1.

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
    return found.real if _is_conjugate_closed(x) else found  # type: ignore[no-any-return]


def _is_conjugate_closed(x: Any) -> bool:
    """Whether complex roots come with their conjugates, so that their polynomial is real."""
    values = x.detach().cpu().numpy()
    numpy = host()
    return x.is_complex() and bool((numpy.sort(values) == numpy.sort(values.conj())).all())


@composite(namespaces=("numpy",), like=polyval)
def roots(p: Any) -> Tensor:
    """Roots of a polynomial: the eigenvalues of its companion matrix.

    Raises:
        RuntimeError: If the first coefficient is 0 and requires grad.
        ValueError: If ``p`` has more than one dimension.

    Example:
        >>> np.roots([1, -3, 2])
        array([2., 1.])
    """
    x = _coefficients(p)
    if x.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    nonzero = x.detach().nonzero().reshape(-1).tolist()
    if not nonzero:
        return x.new_zeros(0, dtype=dtypes.float64)  # type: ignore[no-any-return]
    if is_recorded(x) and nonzero[0]:
        raise RuntimeError(
            "roots(): expected a first coefficient other than 0, as it requires grad"
        )
    last = x.shape[0] - 1 if is_recorded(x) else nonzero[-1]
    inner = as_float(x[nonzero[0] : last + 1])
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
    """Polynomial of a degree that fits points best, in the sense of least squares.

    Args:
        x: Coordinates of the points: tensor of shape ``(n,)``.
        y: Values at the points: tensor of shape ``(n,)``, or ``(n, k)`` for ``k`` polynomials.
        deg: The degree.
        rcond: Singular values below ``rcond`` times the largest count as 0; default ``n`` times
            the dtype's precision.
        full: Also return the other results of ``linalg.lstsq``.
        w: Weights of the points, of shape ``(n,)``.
        cov: Also return the covariance matrix of the coefficients, scaled by the residuals
            unless ``cov`` is ``"unscaled"``.

    Returns:
        Coefficients, from the highest power down; with ``full`` a tuple of them, the residuals,
        the rank, the singular values and ``rcond``.

    Raises:
        TypeError: For other shapes, or no points.
        ValueError: If ``deg`` is negative, or there are too few points for a covariance.

    Example:
        >>> np.polyfit([0, 1, 2, 3], [1, 3, 5, 7], 1).round(6)
        array([2., 1.])
    """
    at, values = _check_points(as_float(x), as_float(y), deg)
    rcond = at.shape[0] * dtypes.finfo(at.dtype).eps if rcond is None else rcond
    powers: Any = vander(at, deg + 1)
    if w is not None:
        weights = _check_weights(as_float(w), values)
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


def _check_points(x: Any, y: Any, deg: int) -> tuple[Any, Any]:
    """Check the shapes of ``polyfit``'s points and the degree; return the points."""
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1 or not x.shape[0]:
        raise TypeError(f"expected 1D, non-empty vector for x, got shape {tuple(x.shape)}")
    if y.ndim not in (1, 2):
        raise TypeError(f"expected 1D or 2D array for y, got shape {tuple(y.shape)}")
    if x.shape[0] != y.shape[0]:
        raise TypeError(f"expected x and y to have same length, got {x.shape[0]}, {y.shape[0]}")
    return x, y


def _check_weights(w: Any, y: Any) -> Any:
    """Check the shape of ``polyfit``'s weights and return them."""
    if w.ndim != 1:
        raise TypeError(f"expected a 1-d array for weights, got shape {tuple(w.shape)}")
    if w.shape[0] != y.shape[0]:
        raise TypeError(f"expected w and y to have the same length, got {len(w)}, {len(y)}")
    return w


def _covariance(powers: Any, scale: Any, residuals: Any, ndim: int, cov: Any) -> Any:
    """Covariance matrix of the coefficients of ``polyfit``.

    Args:
        powers: Vandermonde matrix of shape ``(n, deg + 1)``, each column divided by its norm.
        scale: Those norms, of shape ``(deg + 1,)``.
        residuals: Sum of the squared residuals for each polynomial.
        ndim: Number of dimensions of ``y``; with 2 the result has a last dimension for them.
        cov: ``"unscaled"``, or True to multiply by the variance of the residuals.
    """
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
