"""Powers and the exponential of square matrices."""

from __future__ import annotations

from typing import Any

from ...core.layout import contiguous_format
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, composite, op
from ...dispatch.out import scalar_name
from ..checks import integer
from ..memory_order import in_rows
from ..out import written
from .matmul import matmul
from .matrix_exponential import exponential
from .shared import check_sides, transposed
from .solve import inv


@op
def _identity(xp: Backend, A: Array) -> Array:
    """The identity in the shape of ``A``: its power 0, whose gradient is zero."""
    return xp.array(xp.broadcast_to(xp.eye(A.shape[-1], dtype=A.dtype), A.shape), order="C")


_identity.vjp(A=lambda xp, g: xp.zeros_like(g))


@composite(namespaces=("linalg", ""), method=True)
def matrix_power(A: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """``A`` times itself, n factors in all.

    Args:
        A: ``(..., m, m)``.
        n: The exponent; 0 gives the identity, a negative one the power of the inverse.
        out: Where to write the result.

    Returns:
        ``(..., m, m)``.

    Raises:
        RuntimeError: If the matrices are not square.
        TypeError: If ``n`` is no int.
        LinAlgError: If ``n`` is negative and a matrix is singular.

    Example:
        >>> import tinytorch as tt
        >>> tt.linalg.matrix_power(tt.tensor([[1.0, 1.0], [0.0, 1.0]]), 5)
        tensor([[1., 5.],
                [0., 1.]])
    """
    n = integer("linalg.matrix_power", "n", n)
    check_sides("linalg.matrix_power", A)
    if n == 0:
        result = _identity(A)
    else:
        result = _power(inv(A) if n < 0 else A, abs(n))
    return written(out, result, "linalg.matrix_power")  # type: ignore[no-any-return]


def _power(base: Tensor, n: int) -> Tensor:
    """By squaring, from the exponent's highest bit."""
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
        >>> import tinytorch as tt
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
    if A.dtype.itemsize < 4:  # BLAS has no product of halves
        return xp.astype(exponential(xp, xp.astype(A, "float32")), A.dtype)
    return in_rows(xp, exponential(xp, A))


@matrix_exp.vjp_joint("A")
def _matrix_exp_rule(xp: Any, g: Any, in_shape: Any, A: Any) -> tuple[Any]:
    """The upper right block of the exponential of ``[[A^T, g], [0, A^T]]``.

    Reference:
        Mathias, "A chain rule for matrix functions and applications", SIAM J. Matrix Anal.
        Appl. 17 (1996).
    """
    n = A.shape[-1]
    turned = transposed(xp, A)
    upper = xp.concatenate((turned, g), axis=-1)
    lower = xp.concatenate((xp.zeros_like(turned), turned), axis=-1)
    whole = xp.call(matrix_exp, xp.concatenate((upper, lower), axis=-2))
    return (whole[..., :n, n:],)
