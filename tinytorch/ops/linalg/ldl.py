"""LDL factors of symmetric and Hermitian matrices that need not be definite."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Index, composite, no_derivative, op
from ...dispatch.out import scalar_name
from ..named_results import named_result
from ..out import written
from .shared import (
    LinAlgError,
    check_matrix,
    check_same_dtype,
    check_square,
    common_batch,
    failed_element,
)
from .symmetric import factor_ldl, solve_ldl

_LdlFactor = named_result("linalg_ldl_factor", "LD pivots")
_LdlFactorEx = named_result("linalg_ldl_factor_ex", "LD pivots info")


@op(namespaces=("linalg",), returns=_LdlFactorEx, node="NotImplemented")
def ldl_factor_ex(
    xp: Backend, A: Array, *, hermitian: bool = False, check_errors: bool = False
) -> tuple[Array, Array, Array]:
    """LDL factors in one matrix, with LAPACK's pivots and status; not differentiable.

    Args:
        A: ``(..., n, n)``, symmetric or Hermitian; the lower triangle is read.
        hermitian: Whether complex matrices are Hermitian or (default) symmetric.
        check_errors: Raise where a pivot is zero; default False.

    Returns:
        ``LD`` ``(..., n, n)``; ``pivots`` int32 ``(..., n)``, in pairs of negative ones where
        a pivot has two columns; ``info`` int32 ``(...)``, 0 or the number of the first pivot
        that is exactly zero.

    Raises:
        RuntimeError: If the matrices are not square or not floating-point or complex.
        LinAlgError: With ``check_errors`` for a zero pivot.

    Example:
        >>> import tinytorch as tt
        >>> tt.linalg.ldl_factor_ex(tt.tensor([[4.0, 2.0], [2.0, 3.0]])).LD
        tensor([[4.0000, 0.0000],
                [0.5000, 2.0000]])
    """
    check_square(xp, "torch.linalg.ldl_factor_ex", A)
    ld, pivots, info = factor_ldl(xp, A, hermitian and A.dtype.kind == "c")
    if check_errors and info.size and bool((info != 0).any()):
        where, code = failed_element(xp, info)
        raise LinAlgError(
            f"torch.linalg.ldl_factor_ex: {where}The diagonal element {code} of D is exactly zero: "
            "the matrix is singular."
        )
    return ld, pivots, info


ldl_factor_ex.vjp(A=no_derivative("linalg_ldl_factor_ex"))


@composite(namespaces=("linalg",))
def ldl_factor(A: Tensor, *, hermitian: bool = False, out: Any = None) -> Any:
    """LDL factors in one matrix, with LAPACK's pivots; see ``linalg.ldl_factor_ex``.

    Args:
        A: ``(..., n, n)``, symmetric or Hermitian; the lower triangle is read.
        hermitian: Whether complex matrices are Hermitian or (default) symmetric.
        out: A pair of tensors to write the results to.

    Returns:
        ``LD`` and ``pivots``, what ``linalg.ldl_solve`` takes.

    Raises:
        RuntimeError: If the matrices are not square or not floating-point or complex.

    Example:
        >>> import tinytorch as tt
        >>> tt.linalg.ldl_factor(tt.tensor([[0.0, 1.0], [1.0, 0.0]])).pivots
        tensor([-2, -2], dtype=tinytorch.int32)
    """
    LD, pivots, _ = ldl_factor_ex(A, hermitian=hermitian)
    return written(out, _LdlFactor(LD, pivots), "linalg.ldl_factor")


@op(namespaces=("linalg",), node="NotImplemented")
def ldl_solve(xp: Backend, LD: Array, pivots: Index, B: Array, *, hermitian: bool = False) -> Array:
    """The solution ``X`` of ``A X = B`` from the LDL factors of ``A``; not differentiable.

    Args:
        LD: ``(..., n, n)``, from ``linalg.ldl_factor``.
        pivots: int32 ``(..., n)``, from the same.
        B: ``(..., n, k)``; leading dimensions broadcast.
        hermitian: As it was for ``linalg.ldl_factor``.

    Returns:
        Tensor of the broadcast shape of ``B``.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> import tinytorch as tt
        >>> LD, pivots = tt.linalg.ldl_factor(tt.tensor([[0.0, 1.0], [1.0, 0.0]]))
        >>> tt.linalg.ldl_solve(LD, pivots, tt.tensor([[1.0], [2.0]]))
        tensor([[2.],
                [1.]])
    """
    _check_solve(xp, LD, pivots, B)
    batch = common_batch(xp, "torch.linalg.ldl_solve", LD, B)
    n = LD.shape[-1]
    ld, b = (xp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (LD, B))
    rows = xp.broadcast_to(pivots, (*batch, n))
    return solve_ldl(xp, ld, rows, b, hermitian and LD.dtype.kind == "c")


ldl_solve.vjp(LD=no_derivative("linalg_ldl_solve"), B=no_derivative("linalg_ldl_solve"))


def _check_solve(xp: Backend, LD: Array, pivots: Array, B: Array) -> None:
    name = "torch.linalg.ldl_solve"
    check_square(xp, name, LD, "LD")
    check_matrix(xp, name, B, "B")
    if pivots.dtype.kind not in "iu":
        raise RuntimeError(
            f"{name}: Expected pivots to be integers. Got {scalar_name(xp.dtype_of(pivots))}"
        )
    if pivots.shape != LD.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(pivots.shape)} instead"
        )
    n = LD.shape[-1]
    if B.shape[-2] != n:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {n} by {n} but each b matrix "
            f"is {B.shape[-2]} by {B.shape[-1]}"
        )
    check_same_dtype(xp, name, LD, B)
    text = "Pivots given to ldl_solve must all satisfy |pivot| {}. Did you properly pass the result"
    xp.check_all(abs(pivots) >= 1, text.format(">= 1") + " of ldl_factor?")
    xp.check_all(abs(pivots) <= n, text.format("<= LD.size(-2)") + " of ldl_factor?")
