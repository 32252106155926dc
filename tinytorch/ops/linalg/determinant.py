"""Determinants and their logarithms."""

from __future__ import annotations

import math
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, composite, op, reads_results
from ..named_results import named_result
from .shared import check_square, factors_of, guarded, transposed
from .solve import inv, inv_ex


@op(namespaces=("linalg", ""), method=True, exact_out=True)
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
        >>> import tinytorch as tt
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

    By ``A = U S V^H`` it is ``d conj(U) C conj(V^H)`` with d the determinant of ``U V^H`` and C
    the cofactors of S, which exist for singular matrices as well.
    """
    if not A.size:
        return xp.zeros(A.shape, A.dtype)
    inverse = guarded(xp, xp.linalg.inv, A, failure=lambda: None)
    if inverse is not None:
        return xp.linalg.det(A)[..., None, None] * transposed(xp, inverse)
    u, s, vh, phase = _unitary(xp, A)
    place = xp.arange(s.shape[-1])
    others = xp.where(place[:, None] == place, 1, s[..., None, :])
    return _turned(xp, u, xp.prod(others, axis=-1)[..., None, :], vh, phase)


def _unitary(xp: Any, A: Array) -> tuple[Array, Array, Array, Array]:
    u, s, vh = factors_of(xp, A, True)
    return u, s, vh, (xp.linalg.det(u) * xp.linalg.det(vh))[..., None, None]


def _turned(xp: Any, u: Array, middle: Array, vh: Array, phase: Array) -> Array:
    """``phase conj(u) middle conj(vh)``; a middle of one row is a diagonal."""
    left = xp.conj(u)
    left = left * middle if middle.shape[-2] == 1 else xp.matmul(left, middle)
    return phase * xp.matmul(left, xp.conj(vh))


_cofactor.vjp(A=lambda xp, g, A: xp.call(_cofactor_slope, A, g))


@op
def _cofactor_slope(xp: Backend, A: Array, H: Array) -> Array:
    """The derivative of the cofactors at ``A`` in direction ``H``, for any ``A``.

    At a diagonal S it has ``-H_ji e_ij`` off the diagonal and the sum of all other ``H_jj e_ij``
    on it, ``e_ij`` being the product of the elements of S but two.
    """
    if not A.size:
        return xp.zeros(A.shape, A.dtype)
    u, s, vh, phase = _unitary(xp, A)
    n = s.shape[-1]
    place = xp.arange(n)
    same = place[:, None] == place
    left_out = same[:, None, :] | same[None, :, :]
    products = xp.prod(xp.where(left_out, 1, s[..., None, None, :]), axis=-1)
    inner = xp.matmul(
        xp.matmul(xp.conj(xp.swapaxes(u, -1, -2)), H), xp.conj(xp.swapaxes(vh, -1, -2))
    )
    apart = xp.where(same, 0, products)
    diagonal = xp.matmul(apart, xp.diagonal(inner, 0, -2, -1)[..., None])
    middle = xp.where(same, diagonal, -apart * xp.swapaxes(inner, -1, -2))
    return _turned(xp, u, middle, vh, phase)


def _slope_matrix(xp: Any, g: Any, A: Any, H: Any) -> Any:
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
    return xp.call(det, A)[..., None, None] * transposed(xp, total)


def _trace(xp: Any, x: Any) -> Any:
    return xp.sum(xp.diagonal(x, 0, -2, -1), -1)[..., None, None]


_cofactor_slope.vjp(H=lambda xp, g, A: xp.call(_cofactor_slope, A, g), A=_slope_matrix)

_Slogdet = named_result("linalg_slogdet", "sign logabsdet")


@op(namespaces=("linalg",), returns=_Slogdet)
def slogdet(xp: Backend, A: Array) -> tuple[Array, Array]:
    """The sign of every matrix's determinant and the logarithm of its absolute value.

    Args:
        A: ``(..., n, n)``, floating-point or complex.

    Returns:
        ``sign``, of absolute value 1 or 0, in the dtype of ``A``, and ``logabsdet``, real and
        -inf where the determinant is 0; both ``(...)``.

    Raises:
        RuntimeError: If the matrices are not square or not floating-point or complex.

    Example:
        >>> import tinytorch as tt
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
def _slogdet_rule(xp: Any, g: Any, in_shape: Any, out: Any, A: Any) -> tuple[Any]:
    # log det has the derivative tr(A^-1 dA), whose imaginary part turns the sign.
    factor = g[1]
    if A.dtype.kind == "c":
        factor = factor + 1j * xp.imag(g[0] * out[0])
    inverse = xp.call(inv_ex, A)[0]
    return (factor[..., None, None] * transposed(xp, inverse),)


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
        >>> import tinytorch as tt
        >>> tt.logdet(tt.eye(3))
        tensor(0.)
    """
    check_square(input._xp, "logdet", input._data)
    sign, logarithm = slogdet(input)
    if input.is_complex():
        return logarithm + sign.log()
    return logarithm.masked_fill(sign == -1, math.nan)
