"""Determinants, powers and exponentials of square matrices.

The exponential is a Taylor polynomial of few products. The 1-norm of a matrix decides its degree:
1, 2, 4, 8, 12 or 18. A matrix of a larger norm is halved until degree 18 suffices, and the result
is squared as often. The coefficients are those of Bader, Blanes, Casas, "Computing the matrix
exponential with an optimized Taylor polynomial approximation", Mathematics 7 (2019) 1174. PyTorch
computes it the same way, so rounding errors are the same, too.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

from ...core.layout import contiguous_format
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Out, composite, op, reads_results
from ...dispatch.out import scalar_name
from ..checks import as_int
from ..memory_order import as_row_major
from ..results import named_result, write_result
from .matmul import matmul, transpose_matrices
from .shared import call_routine, check_sides, check_square, svd_factors
from .solve import inv, inv_ex


@op(namespaces=("linalg", ""), method=True, out=Out.EXACT)
def det(xp: Backend, A: Array) -> Array:
    """The determinant of every matrix of a batch.

    It is differentiable everywhere, at singular matrices too.

    Args:
        A: ``(..., n, n)``, floating-point or complex.

    Returns:
        ``(...)``; 1 for a matrix without elements.

    Raises:
        RuntimeError: If the matrices are not square or not floating-point or complex.

    Example:
        >>> tt.linalg.det(tt.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor(8.)
    """
    check_square(xp, "linalg.det", A)
    if not A.size:
        return xp.ones(A.shape[:-2], A.dtype)
    return xp.linalg.det(A)


det.vjp(A=lambda xp, g, A: g[..., None, None] * xp.call(_cofactor, A))


@op
def _cofactor(xp: Backend, A: Array) -> Array:
    """The matrix of cofactors, ``det(A) A^-T``: the gradient of the determinant.

    With ``A = U S V^H`` it is ``d conj(U) C conj(V^H)``: d is the determinant of ``U V^H``, and C
    the cofactors of S, which exist for singular matrices, too.
    """
    if not A.size:
        return xp.zeros(A.shape, A.dtype)
    inverse = call_routine(xp, xp.linalg.inv, A, failure=lambda: None)
    if inverse is not None:
        # By the inverse's LU factors: near a singular matrix other formulas are rounded otherwise.
        sign, logabsdet = xp.linalg.slogdet(A)
        return (sign * xp.exp(logabsdet))[..., None, None] * transpose_matrices(xp, inverse)
    u, s, vh, phase = _svd_with_phase(xp, A)
    i = xp.arange(s.shape[-1])
    others = xp.where(i[:, None] == i, 1, s[..., None, :])
    return _times_unitary_factors(xp, u, xp.prod(others, axis=-1)[..., None, :], vh, phase)


def _svd_with_phase(xp: Any, A: Array) -> tuple[Array, Array, Array, Array]:
    """``U``, ``S`` and ``V^H`` of matrices, and ``det(U V^H)``, ``(..., 1, 1)``."""
    u, s, vh = svd_factors(xp, A, True)
    return u, s, vh, (xp.linalg.det(u) * xp.linalg.det(vh))[..., None, None]


def _times_unitary_factors(xp: Any, u: Array, middle: Array, vh: Array, phase: Array) -> Array:
    """``phase conj(u) middle conj(vh)``; a ``middle`` of one row holds a diagonal matrix."""
    left = xp.conj(u)
    left = left * middle if middle.shape[-2] == 1 else xp.matmul(left, middle)
    return phase * xp.matmul(left, xp.conj(vh))


_cofactor.vjp(A=lambda xp, g, A: xp.call(_cofactor_derivative, A, g))


@op
def _cofactor_derivative(xp: Backend, A: Array, H: Array) -> Array:
    """The derivative of the cofactors at ``A``, which may be singular, in direction ``H``.

    For a diagonal matrix S, let ``e_ij`` be the product of its elements without numbers i and j.
    Element (i, j) of the derivative is ``-H_ji e_ij``; diagonal element i is the sum of
    ``H_jj e_ij`` over all j but i. The SVD of ``A`` reduces the general case to this one.
    """
    if not A.size:
        return xp.zeros(A.shape, A.dtype)
    u, s, vh, phase = _svd_with_phase(xp, A)
    i = xp.arange(s.shape[-1])
    same = i[:, None] == i
    omitted = same[:, None, :] | same[None, :, :]
    products = xp.prod(xp.where(omitted, 1, s[..., None, None, :]), axis=-1)
    inner = xp.matmul(
        xp.matmul(xp.conj(xp.swapaxes(u, -1, -2)), H), xp.conj(xp.swapaxes(vh, -1, -2))
    )
    off_diagonal = xp.where(same, 0, products)
    diagonal = xp.matmul(off_diagonal, xp.diagonal(inner, 0, -2, -1)[..., None])
    middle = xp.where(same, diagonal, -off_diagonal * xp.swapaxes(inner, -1, -2))
    return _times_unitary_factors(xp, u, middle, vh, phase)


def _cofactor_second_derivative(xp: Any, g: Any, A: Any, H: Any) -> Any:
    """The third derivative of the determinant, for invertible matrices.

    With ``X = A^-1`` it is the second derivative of ``det(A) X^T`` in directions H and g.
    """
    x = xp.call(inv, A)
    xh, xg = xp.matmul(x, H), xp.matmul(x, g)
    trace_h, trace_g = _trace(xp, xh), _trace(xp, xg)
    both = _trace(xp, xp.matmul(xh, xg))
    total = (trace_h * trace_g - both) * x
    total = total - trace_h * xp.matmul(xg, x) - trace_g * xp.matmul(xh, x)
    total = total + xp.matmul(xh, xp.matmul(xg, x)) + xp.matmul(xg, xp.matmul(xh, x))
    return xp.call(det, A)[..., None, None] * transpose_matrices(xp, total)


def _trace(xp: Any, x: Any) -> Any:
    """The trace of each matrix, ``(..., 1, 1)``."""
    return xp.sum(xp.diagonal(x, 0, -2, -1), -1)[..., None, None]


_cofactor_derivative.vjp(
    H=lambda xp, g, A: xp.call(_cofactor_derivative, A, g), A=_cofactor_second_derivative
)

_Slogdet = named_result("linalg_slogdet", "sign logabsdet")


@op(namespaces=("linalg",), returns=_Slogdet, like=det)
def slogdet(xp: Backend, A: Array) -> tuple[Array, Array]:
    """The sign of every matrix's determinant and the logarithm of its absolute value.

    Returns:
        ``sign``, of absolute value 1 or 0, in the dtype of ``A``, and ``logabsdet``, real and
        -inf where the determinant is 0; both ``(...)``.

    Example:
        >>> tt.linalg.slogdet(tt.tensor([[0.0, 1.0], [1.0, 0.0]])).sign
        tensor(-1.)
    """
    check_square(xp, "linalg.slogdet", A)
    if not A.size:
        ones = xp.ones(A.shape[:-2], A.dtype)
        return ones, xp.zeros_like(ones.real)
    sign, logarithm = xp.linalg.slogdet(A)
    return sign, logarithm


@slogdet.vjp_joint("A")
@reads_results(0)
def _slogdet_backward(xp: Any, g: Any, in_shape: Any, out: Any, A: Any) -> tuple[Any]:
    """Gradient of ``A`` in ``slogdet``."""
    # d log det(A) = tr(A^-1 dA); its imaginary part is the change of the sign's phase.
    factor = g[1]
    if A.dtype.kind == "c":
        factor = factor + 1j * xp.imag(g[0] * out[0])
    inverse = xp.call(inv_ex, A)[0]
    return (factor[..., None, None] * transpose_matrices(xp, inverse),)


@composite(method=True, node="WhereBackward0")
def logdet(input: Tensor) -> Tensor:
    """The logarithm of every matrix's determinant: NaN for negative, -inf for zero.

    Args:
        input: ``(..., n, n)``, floating-point or complex.

    Returns:
        ``(...)``.

    Raises:
        RuntimeError: If the matrices are not square or not floating-point or complex.

    Example:
        >>> tt.logdet(tt.eye(3))
        tensor(0.)
    """
    check_square(input._xp, "logdet", input._data)
    sign, logarithm = slogdet(input)
    if input.is_complex():
        return logarithm + sign.log()
    return logarithm.masked_fill(sign == -1, math.nan)


#: The largest norm for each degree, by the item size of the real dtype.
_LARGEST = {
    4: (1.192092800768788e-07, 5.978858893805233e-04, 5.116619363445086e-02,
        5.800524627688768e-01, 1.461661507209034, 3.010066362817634),
    8: (2.220446049250313e-16, 2.580956802971767e-08, 3.397168839976962e-04,
        4.991228871115323e-02, 2.996158913811580e-01, 1.090863719290036),
}  # fmt: skip
_LAST_STEP = 5
#: Matrices of fewer rows are multiplied by einsum, which adds in PyTorch's order: BLAS would round
#: differently.
_EINSUM_ROWS = 8
#: Elements of the matrices in one chunk, for which about a dozen arrays of this size are allocated.
_CHUNK_ELEMENTS = 1 << 18


def exponential(xp: Any, a: Any) -> Any:
    """``exp(a)`` of ``(..., n, n)``; all NaN for a matrix with a NaN or infinity."""
    n = a.shape[-1]
    if n <= 1 or not a.size:
        return xp.exp(a)
    flat = a.reshape(-1, n, n)
    out = xp.empty_like(flat)
    count = max(_CHUNK_ELEMENTS // (n * n), 1)
    for start in range(0, len(flat), count):
        out[start : start + count] = _exponential_of_chunk(xp, flat[start : start + count])
    return out.reshape(a.shape)


def _exponential_of_chunk(xp: Any, a: Any) -> Any:
    """``exp(a)`` of ``(m, n, n)``; the matrices are sorted by their degree."""
    steps, halvings = _count_steps(xp, a)
    order = xp.argsort(steps)
    counts = xp.bincount(steps).tolist()
    scale = xp.astype(xp.exp2(-halvings), a.real.dtype)[order][:, None, None]
    out = xp.empty_like(a)
    out[order] = _exponential_by_steps(xp, a[order] * scale, counts)
    return out


def _count_steps(xp: Any, a: Any) -> tuple[Any, Any]:
    """The step of each matrix, ``(m,)``, and the number of times that it must be halved.

    The step is the index of the polynomial's degree, plus the number of halvings.
    """
    largest = _LARGEST[a.real.dtype.itemsize]
    norms = xp.max(xp.sum(abs(a), axis=-2), axis=-1)
    norms = xp.where(xp.isfinite(norms), norms, largest[_LAST_STEP])
    halvings = xp.ceil(xp.log2(xp.maximum(norms / largest[_LAST_STEP], 1)))
    steps = xp.astype(halvings, "int64")
    for norm in largest[:_LAST_STEP]:
        steps = steps + (norms > norm)
    return steps, halvings


def _exponential_by_steps(xp: Any, a: Any, counts: list[int]) -> Any:
    """Exponential of the matrices before they were halved and sorted; see ``_count_steps``.

    ``counts[k]`` is the number of matrices of step k. A matrix of step ``_LAST_STEP + j`` was
    halved j times, so its exponential is the result of the polynomial, squared j times.
    """
    parts, start = [], 0
    for degree, stop in enumerate(accumulate([*counts[:_LAST_STEP], sum(counts[_LAST_STEP:])])):
        if stop > start:
            parts.append(_POLYNOMIALS[degree](xp, a[start:stop]))
        start = stop
    result = parts[0] if len(parts) == 1 else xp.concatenate(parts)
    for start in list(accumulate(counts))[_LAST_STEP:-1]:
        result[start:] = _product(xp, result[start:], result[start:])
    return result


def _product(xp: Any, a: Any, b: Any) -> Any:
    """Matrix products, rounded as by PyTorch."""
    if a.shape[-1] < _EINSUM_ROWS:
        return xp.einsum("...ij,...jk->...ik", a, b)
    return xp.matmul(a, b)


def _weighted_sum(matrices: list[Any], weights: tuple[float, ...]) -> Any:
    """The sum of weight times matrix, without multiplications by 0 and 1."""
    total = None
    for matrix, weight in zip(matrices, weights):
        if weight:
            term = matrix if weight == 1 else matrix * weight
            total = term if total is None else total + term
    return total


def _powers(xp: Any, a: Any, count: int) -> list[Any]:
    """The first ``count`` of the matrices 1, a, a², a³ and a⁶."""
    powers = [xp.broadcast_to(xp.eye(a.shape[-1], dtype=a.dtype), a.shape), a]
    for left, right in ((1, 1), (1, 2), (3, 3))[: count - 2]:
        powers.append(_product(xp, powers[left], powers[right]))
    return powers


def _degree_1(xp: Any, a: Any) -> Any:
    """Taylor polynomial ``1 + a``."""
    return _weighted_sum(_powers(xp, a, 2), (1, 1))


def _degree_2(xp: Any, a: Any) -> Any:
    """Taylor polynomial ``1 + a + a²/2``."""
    return _weighted_sum(_powers(xp, a, 3), (1, 1, 1 / 2))


def _degree_4(xp: Any, a: Any) -> Any:
    """Taylor polynomial of degree 4, by two products of matrices."""
    powers = _powers(xp, a, 3)
    rest = _product(xp, powers[2], _weighted_sum(powers, (1 / 2, 1 / 6, 1 / 24)))
    return _weighted_sum([*powers, rest], (1, 1, 0, 1))


_ROOT = 177**0.5
_X3 = 2 / 3
_WEIGHTS_4 = (_X3 * (1 + _ROOT) / 88, _X3 * (1 + _ROOT) / 352)
#: The last divisor has the square of x3, as in the paper; PyTorch has x3 and loses digits.
_WEIGHTS_8 = (
    (-271 + 29 * _ROOT) / (315 * _X3), 11 * (_ROOT - 1) / (1260 * _X3),
    11 * (_ROOT - 9) / (5040 * _X3), (89 - _ROOT) / (5040 * _X3**2),
)  # fmt: skip


def _degree_8(xp: Any, a: Any) -> Any:
    """Taylor polynomial of degree 8, by three products of matrices."""
    powers = _powers(xp, a, 3)
    fourth = _product(xp, powers[2], _weighted_sum(powers[1:], _WEIGHTS_4))
    eighth = _product(
        xp,
        _weighted_sum([powers[2], fourth], (_X3, 1)),
        _weighted_sum([*powers, fourth], _WEIGHTS_8),
    )
    return _weighted_sum([*powers, eighth], (1, 1, (857 - 58 * _ROOT) / 630, 1))


_WEIGHTS_12 = (
    (9.0198e-16, 0.46932117595418237389, -0.20099424927047284052, -0.04623946134063071740),
    (5.31597895759871264183, 1.19926790417132231573, 0.01179296240992997031,
     0.01108844528519167989),
    (0.18188869982170434744, 0.05502798439925399070, 0.09351590770535414968,
     0.00610700528898058230),
    (-2.0861320e-13, -0.13181061013830184015, -0.02027855540589259079, -0.00675951846863086359),
)  # fmt: skip


def _degree_12(xp: Any, a: Any) -> Any:
    """Taylor polynomial of degree 12, by four products of matrices."""
    powers = _powers(xp, a, 4)
    first, second, third, sixth = (_weighted_sum(powers, weights) for weights in _WEIGHTS_12)
    sixth = third + _product(xp, sixth, sixth)
    return first + _product(xp, second + sixth, sixth)


_WEIGHTS_18 = (
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
    """Taylor polynomial of degree 18, by five products of matrices."""
    powers = _powers(xp, a, 5)
    first, second, third, fourth, fifth = (
        _weighted_sum(powers, weights) for weights in _WEIGHTS_18
    )
    ninth = fourth + _product(xp, first, fifth)
    return second + _product(xp, third + ninth, ninth)


_POLYNOMIALS = (_degree_1, _degree_2, _degree_4, _degree_8, _degree_12, _degree_18)


@op
def _identity(xp: Backend, A: Array) -> Array:
    """Identity matrices in the shape of ``A``: its power 0, whose gradient is zero."""
    return xp.array(xp.broadcast_to(xp.eye(A.shape[-1], dtype=A.dtype), A.shape), order="C")


_identity.vjp(A=lambda xp, g: xp.zeros_like(g))


@composite(namespaces=("linalg", ""), method=True)
def matrix_power(A: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """Power ``n`` of every matrix of a batch: the product of n factors ``A``.

    Args:
        A: ``(..., m, m)``.
        n: The exponent; 0 gives the identity, a negative one the power of the inverse.

    Returns:
        ``(..., m, m)``.

    Raises:
        RuntimeError: If the matrices are not square.
        TypeError: If ``n`` is not an int.
        LinAlgError: If ``n`` is negative and a matrix is singular.

    Example:
        >>> tt.linalg.matrix_power(tt.tensor([[1.0, 1.0], [0.0, 1.0]]), 5)
        tensor([[1., 5.],
                [0., 1.]])
    """
    n = as_int("linalg.matrix_power", "n", n)
    check_sides("linalg.matrix_power", A)
    if n == 0:
        result = _identity(A)
    else:
        result = _power_by_squaring(inv(A) if n < 0 else A, abs(n))
    return write_result(out, result, "linalg.matrix_power")  # type: ignore[no-any-return]


def _power_by_squaring(base: Tensor, n: int) -> Tensor:
    """``base ** n`` for n of at least 1, by squaring, from the highest bit of n."""
    result = base
    for bit in bin(n)[3:]:
        result = matmul(result, result)
        if bit == "1":
            result = matmul(result, base)
    return result.clone(memory_format=contiguous_format) if result is base else result


# -- exponential -----------------------------------------------------------------------------------


@op(namespaces=("linalg", ""), method=True)
def matrix_exp(xp: Backend, A: Array) -> Array:
    """The exponential of every matrix of a batch: the sum of ``A^k / k!``.

    Args:
        A: ``(..., n, n)``, floating-point or complex.

    Returns:
        ``(..., n, n)``.

    Raises:
        RuntimeError: If the matrices are not square or not floating-point or complex.

    Example:
        >>> tt.linalg.matrix_exp(tt.tensor([[0.0, 1.0], [0.0, 0.0]]))
        tensor([[1., 1.],
                [0., 1.]])

    Reference:
        Bader, Blanes, Casas, "Computing the matrix exponential with an optimized Taylor polynomial
        approximation", Mathematics 7 (2019) 1174.
    """
    if A.dtype.kind not in "fc":
        raise RuntimeError(
            "linalg.matrix_exp: Expected a floating point or complex tensor as input. Got "
            f"{scalar_name(xp.dtype_of(A))}"
        )
    check_sides("linalg.matrix_exp", A)
    if A.dtype.itemsize < 4:  # BLAS has no float16
        return xp.astype(exponential(xp, xp.astype(A, "float32")), A.dtype)
    return as_row_major(xp, exponential(xp, A))


@matrix_exp.vjp_joint("A")
def _matrix_exp_backward(xp: Any, g: Any, in_shape: Any, A: Any) -> tuple[Any]:
    """The upper right block of the exponential of ``[[A^T, g], [0, A^T]]``.

    Reference:
        Mathias, "A chain rule for matrix functions and applications", SIAM J. Matrix Anal.
        Appl. 17 (1996).
    """
    n = A.shape[-1]
    a_t = transpose_matrices(xp, A)
    upper = xp.concatenate((a_t, g), axis=-1)
    lower = xp.concatenate((xp.zeros_like(a_t), a_t), axis=-1)
    whole = xp.call(matrix_exp, xp.concatenate((upper, lower), axis=-2))
    return (whole[..., :n, n:],)
