"""The exponential of batches of matrices: Taylor polynomials of few products, and squarings.

The 1-norm of a matrix decides the degree, 1, 2, 4, 8, 12 or 18; one too large for the highest is
halved until it is not, and the result squared as often.

Source: Bader, Blanes, Casas, "Computing the matrix exponential with an optimized Taylor polynomial
approximation", Mathematics 7 (2019) 1174, whose tables give the numbers below. PyTorch goes the
same way, so that where a matrix magnifies rounding, a program sees what it sees there.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

#: The largest norm for each degree, by the bytes of a real number.
_LARGEST = {
    4: (1.192092800768788e-07, 5.978858893805233e-04, 5.116619363445086e-02,
        5.800524627688768e-01, 1.461661507209034, 3.010066362817634),
    8: (2.220446049250313e-16, 2.580956802971767e-08, 3.397168839976962e-04,
        4.991228871115323e-02, 2.996158913811580e-01, 1.090863719290036),
}  # fmt: skip
_HIGHEST = 5
#: Matrices of fewer rows are multiplied sum by sum, in order, as PyTorch multiplies them: BLAS
#: rounds otherwise.
_TINY = 8
#: Elements of the matrices exponentiated at a time: a dozen arrays of as many are held meanwhile.
_MOST = 1 << 18


def exponential(xp: Any, a: Any) -> Any:
    """``exp(a)`` of ``(..., n, n)``; all NaN for a matrix with a NaN or infinity."""
    n = a.shape[-1]
    if n <= 1 or not a.size:
        return xp.exp(a)
    flat = a.reshape(-1, n, n)
    out = xp.empty_like(flat)
    some = max(_MOST // (n * n), 1)
    for start in range(0, len(flat), some):
        out[start : start + some] = _of_some(xp, flat[start : start + some])
    return out.reshape(a.shape)


def _of_some(xp: Any, a: Any) -> Any:
    """``exp(a)`` of ``(m, n, n)``."""
    steps, halvings = _steps(xp, a)
    order = xp.argsort(steps)
    counts = xp.bincount(steps).tolist()
    scale = xp.astype(xp.exp2(-halvings), a.real.dtype)[order][:, None, None]
    out = xp.empty_like(a)
    out[order] = _by_steps(xp, a[order] * scale, counts)
    return out


def _steps(xp: Any, a: Any) -> tuple[Any, Any]:
    """How far up the degrees, and then the halvings, every matrix goes; the halvings alone."""
    largest = _LARGEST[a.real.dtype.itemsize]
    norms = xp.max(xp.sum(abs(a), axis=-2), axis=-1)
    norms = xp.where(xp.isfinite(norms), norms, largest[_HIGHEST])
    halvings = xp.ceil(xp.log2(xp.maximum(norms / largest[_HIGHEST], 1)))
    steps = xp.astype(halvings, "int64")
    for norm in largest[:_HIGHEST]:
        steps = steps + (norms > norm)
    return steps, halvings


def _by_steps(xp: Any, a: Any, counts: list[int]) -> Any:
    """``exp(a)`` of matrices in the order of their steps, of which each has so many."""
    parts, start = [], 0
    for degree, stop in enumerate(accumulate([*counts[:_HIGHEST], sum(counts[_HIGHEST:])])):
        if stop > start:
            parts.append(_POLYNOMIALS[degree](xp, a[start:stop]))
        start = stop
    result = parts[0] if len(parts) == 1 else xp.concatenate(parts)
    for start in list(accumulate(counts))[_HIGHEST:-1]:
        result[start:] = _product(xp, result[start:], result[start:])
    return result


def _product(xp: Any, a: Any, b: Any) -> Any:
    if a.shape[-1] < _TINY:
        return xp.einsum("...ij,...jk->...ik", a, b)
    return xp.matmul(a, b)


def _sum(matrices: list[Any], weights: tuple[float, ...]) -> Any:
    total = None
    for matrix, weight in zip(matrices, weights):
        if weight:
            term = matrix if weight == 1 else matrix * weight
            total = term if total is None else total + term
    return total


def _powers(xp: Any, a: Any, count: int) -> list[Any]:
    """The first of 1, a, a², a³ and a⁶."""
    powers = [xp.broadcast_to(xp.eye(a.shape[-1], dtype=a.dtype), a.shape), a]
    for left, right in ((1, 1), (1, 2), (3, 3))[: count - 2]:
        powers.append(_product(xp, powers[left], powers[right]))
    return powers


def _degree_1(xp: Any, a: Any) -> Any:
    return _sum(_powers(xp, a, 2), (1, 1))


def _degree_2(xp: Any, a: Any) -> Any:
    return _sum(_powers(xp, a, 3), (1, 1, 1 / 2))


def _degree_4(xp: Any, a: Any) -> Any:
    powers = _powers(xp, a, 3)
    rest = _product(xp, powers[2], _sum(powers, (1 / 2, 1 / 6, 1 / 24)))
    return _sum([*powers, rest], (1, 1, 0, 1))


_ROOT = 177**0.5
_X3 = 2 / 3
_OF_4 = (_X3 * (1 + _ROOT) / 88, _X3 * (1 + _ROOT) / 352)
#: The last is divided by the square of x3 in the paper; PyTorch has it by x3 and loses digits.
_OF_8 = (
    (-271 + 29 * _ROOT) / (315 * _X3), 11 * (_ROOT - 1) / (1260 * _X3),
    11 * (_ROOT - 9) / (5040 * _X3), (89 - _ROOT) / (5040 * _X3**2),
)  # fmt: skip


def _degree_8(xp: Any, a: Any) -> Any:
    powers = _powers(xp, a, 3)
    fourth = _product(xp, powers[2], _sum(powers[1:], _OF_4))
    eighth = _product(xp, _sum([powers[2], fourth], (_X3, 1)), _sum([*powers, fourth], _OF_8))
    return _sum([*powers, eighth], (1, 1, (857 - 58 * _ROOT) / 630, 1))


_OF_12 = (
    (9.0198e-16, 0.46932117595418237389, -0.20099424927047284052, -0.04623946134063071740),
    (5.31597895759871264183, 1.19926790417132231573, 0.01179296240992997031,
     0.01108844528519167989),
    (0.18188869982170434744, 0.05502798439925399070, 0.09351590770535414968,
     0.00610700528898058230),
    (-2.0861320e-13, -0.13181061013830184015, -0.02027855540589259079, -0.00675951846863086359),
)  # fmt: skip


def _degree_12(xp: Any, a: Any) -> Any:
    powers = _powers(xp, a, 4)
    first, second, third, sixth = (_sum(powers, weights) for weights in _OF_12)
    sixth = third + _product(xp, sixth, sixth)
    return first + _product(xp, second + sixth, sixth)


_OF_18 = (
    (0, -1.00365581030144618291e-01, -8.02924648241156932449e-03, -8.92138498045729985177e-04, 0),
    (0, 3.97849749499645077844e-01, 1.36783778460411720168, 4.98289622525382669416e-01,
     -6.37898194594723280150e-04),
    (-1.09676396052962061844e+01, 1.68015813878906206114, 5.71779846478865511061e-02,
     -6.98210122488052056106e-03, 3.34975017086070470649e-05),
    (-9.04316832390810593223e-02, -6.76404519071381882256e-02, 6.75961301770459654925e-02,
     2.95552570429315521194e-02, -1.39180257516060693404e-05),
    (0, 0, -9.23364619367118555360e-02, -1.69364939002081722752e-02, -1.40086798182036094347e-05),
)  # fmt: skip


def _degree_18(xp: Any, a: Any) -> Any:
    powers = _powers(xp, a, 5)
    first, second, third, fourth, fifth = (_sum(powers, weights) for weights in _OF_18)
    ninth = fourth + _product(xp, first, fifth)
    return second + _product(xp, third + ninth, ninth)


_POLYNOMIALS = (_degree_1, _degree_2, _degree_4, _degree_8, _degree_12, _degree_18)
