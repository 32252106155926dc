"""QR factors, and products of Householder reflections."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor, wrap
from ...dispatch.op import (
    Array,
    Backend,
    Nodes,
    Out,
    Overlap,
    accepts_none,
    composite,
    no_derivative,
    op,
    torch_convention,
)
from ...dispatch.out import scalar_name
from ..results import named_result, write_result
from ..shape.diagonal import tril, triu
from .shared import adjoint, check_floating, check_matrix
from .triangular import solve_triangular

_Qr = named_result("linalg_qr", "Q R")
_Geqrf = named_result("geqrf", "a tau")
_MODES = ("reduced", "complete", "r")


@op(namespaces=("linalg",), returns=_Qr)
def qr(xp: Backend, A: Array, mode: str = "reduced") -> tuple[Array, Array]:
    """The factors of ``A = Q R``: orthonormal columns and an upper triangular matrix.

    Args:
        A: ``(..., m, n)``, floating-point or complex.
        mode: ``"reduced"`` (default): k is the smaller of m and n; ``"complete"``: k is m;
            ``"r"``: ``Q`` is empty. Mode ``"r"`` is not differentiable, nor is ``"complete"`` if
            m is above n.

    Returns:
        ``Q`` ``(..., m, k)`` and ``R`` ``(..., k, n)``.

    Raises:
        RuntimeError: For another mode, fewer than two dimensions or another dtype; in a
            backward pass for a mode without a derivative.

    Example:
        >>> tt.linalg.qr(tt.tensor([[3.0], [4.0]])).R.abs()
        tensor([[5.]])
    """
    check_matrix(xp, "linalg.qr", A)
    if mode not in _MODES:
        raise RuntimeError(
            f"linalg.qr: qr received unrecognized mode '{mode}' but expected one of 'reduced' "
            "(default), 'r', or 'complete'"
        )
    if not A.size:
        return _empty_factors(xp, A, mode)
    if mode == "r":
        return xp.empty((0,), A.dtype), xp.linalg.qr(A, "r")
    q, r = xp.linalg.qr(A, mode)
    return q, r


def _empty_factors(xp: Backend, A: Array, mode: str) -> tuple[Array, Array]:
    """The factors of matrices without elements: identity matrices and zeros."""
    batch, (m, n) = A.shape[:-2], A.shape[-2:]
    k = m if mode == "complete" else min(m, n)
    r = xp.zeros((*batch, k, n), A.dtype)
    if mode == "r":
        return xp.empty((0,), A.dtype), r
    return xp.array(xp.broadcast_to(xp.eye(m, k, dtype=A.dtype), (*batch, m, k))), r


def _qr_backward(xp: Any, g: Any, out: Any, mode: str) -> Any:
    """``(q + Q h(triu(r R^H - Q^H q))) R^-H``, where h adds the adjoint below the diagonal.

    q and r are the gradients of Q and R. In a wide matrix, the columns ``Y = Q V`` to the right of
    the square have the gradient ``Q v``, and add ``Y v^H`` to that of Q.

    Reference:
        Walter & Lehmann, "Algorithmic differentiation of linear algebra functions", 2018,
        arXiv:1001.1654; Roberts & Roberts, "QR and LQ decomposition matrix backpropagation
        algorithms for square, wide, and deep matrices", 2020, arXiv:2009.10071.
    """
    q_grad, r_grad = g
    q, r = out
    if mode == "r":
        raise RuntimeError(
            "linalg.qr: The derivative of linalg.qr depends on Q, which is not computed when "
            "mode='r'. Please use linalg.qr(A, mode='reduced') if you are going to require "
            "gradients."
        )
    m, n = q.shape[-2], r.shape[-1]
    if mode == "complete" and m > n:
        raise RuntimeError(
            "linalg.qr: The QR decomposition is not differentiable when mode='complete' and "
            f"nrows > ncols, got {m} and {n}."
        )
    rest = None
    if n > m:
        if r_grad is not None:
            rest = xp.matmul(q, r_grad[..., :, m:])
            added = xp.matmul(xp.matmul(q, r[..., :, m:]), adjoint(xp, r_grad[..., :, m:]))
            q_grad = added if q_grad is None else q_grad + added
            r_grad = r_grad[..., :, :m]
        else:
            rest = xp.zeros_like(xp.matmul(q, r[..., :, m:]))
        r = r[..., :, :m]
    result = _square_qr_backward(xp, q_grad, r_grad, q, r)
    return result if rest is None else xp.concatenate((result, rest), axis=-1)


def _square_qr_backward(xp: Any, q_grad: Any, r_grad: Any, q: Any, r: Any) -> Any:
    """The gradient of a matrix whose ``R`` is square.

    ``q_grad`` and ``r_grad`` are the gradients of the factors ``q`` and ``r``, or None.
    """
    r_h = adjoint(xp, r)
    inner = 0 if r_grad is None else xp.matmul(r_grad, r_h)
    if q_grad is not None:
        inner = inner - xp.matmul(adjoint(xp, q), q_grad)
    upper = xp.triu(inner)
    full = upper + adjoint(xp, upper)
    full = full - xp.tril(xp.triu(full)) * 0.5
    result = xp.matmul(q, full)
    result = result if q_grad is None else result + q_grad
    return xp.call(solve_triangular, r_h, result, upper=False, left=False)


qr.vjp(A=accepts_none(torch_convention(_qr_backward)))


@op(method=True, returns=_Geqrf, out=Out.SAFE_CAST, overlap=Overlap.ALLOWED)
def geqrf(xp: Backend, input: Array) -> tuple[Array, Array]:
    """QR factors in LAPACK's packed form; not differentiable.

    Args:
        input: ``(..., m, n)``, floating-point or complex.

    Returns:
        ``a`` ``(..., m, n)``: ``R`` on and above the diagonal, Householder vectors below, and
        ``tau`` ``(..., min(m, n))``, their factors: arguments of ``linalg.householder_product``.

    Raises:
        RuntimeError: For fewer than two dimensions or another dtype.

    Example:
        >>> a, tau = tt.geqrf(tt.tensor([[3.0], [4.0]]))
        >>> tt.linalg.householder_product(a, tau).abs()
        tensor([[0.6000],
                [0.8000]])
    """
    check_matrix(xp, "geqrf", input, "input")
    m, n = input.shape[-2:]
    if not input.size:
        return xp.array(input), xp.zeros((*input.shape[:-2], min(m, n)), input.dtype)
    packed, tau = xp.linalg.qr(input, "raw")
    return xp.swapaxes(packed, -1, -2), tau


geqrf.vjp(input=no_derivative("geqrf", NotImplementedError))


# -- reflections -----------------------------------------------------------------------------------


def _reflectors(A: Tensor, tau: Tensor) -> tuple[Tensor, Tensor]:
    """The V and U of ``H_1 ... H_k = 1 - V (1 + U)^-1 diag(tau) V^H`` for k reflections.

    V holds the vectors in its columns; U is ``diag(tau)`` times the strictly upper triangle of
    ``V^H V``. Any tau may be zero.

    Reference:
        Joffrain, Low, Quintana-Ortí, van de Geijn & Van Zee, "Accumulating Householder
        transformations, revisited", ACM Trans. Math. Softw. 32 (2006).
    """
    k = tau.shape[-1]
    unit = wrap(A._xp.eye(A.shape[-2], k, dtype=A._data.dtype), A._xp)
    vectors = tril(A[..., :, :k], -1) + unit
    return vectors, tau[..., :, None] * triu(vectors.mH @ vectors, 1)


def _check_reflectors(name: str, A: Tensor, tau: Tensor, at: str) -> None:
    """Raise RuntimeError unless ``A`` and ``tau`` can hold Householder reflections.

    ``argument`` is the name of ``A`` in errors.
    """
    if A.ndim < 2:
        raise RuntimeError(
            f"torch.{name}: {at} must have at least 2 dimensions, got shape {list(A.shape)}."
        )
    if tau.shape[:-1] != A.shape[:-2]:
        raise RuntimeError(
            f"torch.{name}: batch dimensions of tau must be equal to {at}.shape[:-2], but got "
            f"{list(tau.shape)} and {list(A.shape)}"
        )
    if tau.dtype is not A.dtype:
        raise RuntimeError(
            f"torch.{name}: tau dtype {scalar_name(tau.dtype)} does not match {at} dtype "
            f"{scalar_name(A.dtype)}"
        )


def _householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The first n columns of the product of the reflections in ``A``, which is ``(..., m, n)``."""
    n, k = A.shape[-1], tau.shape[-1]
    unit = wrap(A._xp.eye(A.shape[-2], n, dtype=A._data.dtype), A._xp)
    if not k:
        return unit + A * 0
    vectors, triangle = _reflectors(A, tau)
    right = tau[..., :, None] * vectors[..., :n, :].mH
    right = solve_triangular(triangle, right, upper=True, unitriangular=True)
    return unit - vectors @ right


@composite(namespaces=("linalg",), node="LinalgHouseholderProductBackward0")
def householder_product(A: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of a product of Householder reflections ``1 - tau v v^H``.

    Args:
        A: ``(..., m, n)``, m at least n, from ``geqrf``: the vectors v are below its diagonal.
        tau: ``(..., k)``, k at most n.

    Returns:
        ``(..., m, n)``, with orthonormal columns if the arguments are from ``geqrf``.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> tt.linalg.householder_product(tt.zeros(2, 1), tt.tensor([2.0]))
        tensor([[-1.],
                [ 0.]])
    """
    name = "linalg.householder_product"
    _check_reflectors(name, A, tau, "input")
    for wide, text in (
        (A.shape[-2] < A.shape[-1], "input.shape[-2] must be greater than or equal to "
                                    "input.shape[-1]"),
        (A.shape[-1] < tau.shape[-1], "input.shape[-1] must be greater than or equal to "
                                      "tau.shape[-1]"),
    ):  # fmt: skip
        if wide:
            raise RuntimeError(
                f"torch.{name}: {text}, got shapes {list(A.shape)} and {list(tau.shape)}"
            )
    check_floating(A._xp, name, A._data)
    return write_result(out, _householder_product(A, tau), name)  # type: ignore[no-any-return]


@composite(method=True, node="LinalgHouseholderProductBackward0")
def orgqr(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of a product of reflections; see ``linalg.householder_product``.

    Args:
        input: ``(..., m, n)``; the vectors of the reflections are below its diagonal.
        tau: ``(..., k)``, the factors of the reflections, k at most n.

    Example:
        >>> tt.orgqr(tt.zeros(1, 1), tt.tensor([2.0]))
        tensor([[-1.]])
    """
    return householder_product(input, tau, out=out)


@composite(method=True, node=Nodes("OrmqrBackward0", frees=True), out=Out.EXACT)
def ormqr(
    input: Tensor,
    tau: Tensor,
    other: Tensor,
    left: bool = True,
    transpose: bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The product of a matrix and the square ``Q`` of Householder reflections.

    Args:
        input: ``(..., q, k)``, from ``geqrf``: the vectors are below its diagonal.
        tau: ``(..., k)``.
        other: ``(..., m, n)``, with m = q for ``left``, else n = q.
        left: Compute ``Q @ other`` (default) or ``other @ Q``.
        transpose: Use the adjoint of ``Q``; default False.

    Returns:
        ``(..., m, n)``.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> tt.ormqr(tt.zeros(2, 1), tt.tensor([2.0]), tt.eye(2))
        tensor([[-1.,  0.],
                [ 0.,  1.]])
    """
    _check_reflectors("ormqr", input, tau, "input")
    if other.ndim < 2:
        raise RuntimeError("torch.ormqr: other must have at least 2 dimensions.")
    if other.ndim != input.ndim:
        raise RuntimeError(
            "torch.ormqr: Expected other to have the same number of dimensions as input, but got "
            f"other.ndim equal to {other.ndim} and input.ndim is equal to {input.ndim}"
        )
    side = -2 if left else -1
    if tau.shape[-1] != min(other.shape[side], input.shape[-1]):
        raise RuntimeError(
            f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{side}], "
            f"input.shape[-1]), got {tau.shape[-1]}, {other.shape[side]} and {input.shape[-1]}"
        )
    if other.shape[side] != input.shape[-2]:
        raise RuntimeError(
            f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2], got "
            f"{other.shape[side]} and {input.shape[-2]}"
        )
    check_floating(input._xp, "ormqr", input._data)
    # other @ Q is the adjoint of Q^H @ other^H.
    target = other if left else other.mH
    product = _apply_reflections(input, tau, target, transpose if left else not transpose)
    return write_result(out, product if left else product.mH.resolve_conj(), "ormqr")  # type: ignore[no-any-return]


def _apply_reflections(A: Tensor, tau: Tensor, target: Tensor, inverse: bool) -> Tensor:
    """``Q @ target``, or ``Q^H @ target`` with ``inverse``, for the reflections in ``A``."""
    if not tau.shape[-1]:
        return target.clone()
    vectors, triangle = _reflectors(A, tau)
    right = vectors.mH @ target
    if inverse:
        right = solve_triangular(triangle.mH, right, upper=False, unitriangular=True)
        right = tau[..., :, None].conj() * right
    else:
        right = tau[..., :, None] * right
        right = solve_triangular(triangle, right, upper=True, unitriangular=True)
    return target - vectors @ right
