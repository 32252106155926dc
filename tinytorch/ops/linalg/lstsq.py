"""Least squares."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor, wrap
from ...dispatch.op import composite
from ...dispatch.out import scalar_name
from ...state import no_grad
from ..named_results import named_result
from .shared import check_floating, common_batch
from .svd import pinv, svdvals

_Lstsq = named_result("linalg_lstsq", "solution residuals rank singular_values")
#: A limit that leaves gelsy the largest of the singular values, as its rank is 1 at least.
_MOST = 1 - 2.0**-20
_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@composite(namespaces=("linalg",), node="LinalgLstsqBackward0", out=True, exact_out=False)
def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """The ``X`` of least norm among those that minimise ``|A X - B|``, column by column.

    Args:
        A: ``(..., m, n)``, floating-point or complex.
        B: ``(..., m, k)`` or ``(..., m)``; leading dimensions broadcast.
        rcond: Singular values not above it, relative to the largest, count as zero; by default
            the dtype's precision times the larger of m and n.
        driver: Which of LAPACK's routines to follow in what is returned: ``"gels"``,
            ``"gelsy"`` (default), ``"gelsd"`` or ``"gelss"``. ``X`` comes from the
            pseudoinverse in any case, and is differentiable.

    Returns:
        ``solution``; ``residuals`` ``(..., k)``, squared norms of ``A X - B`` (k is 1 for a
        vector), empty for ``"gelsy"`` or unless m > n and every rank is n; ``rank`` int64
        ``(...)``, empty for ``"gels"``; ``singular_values``, empty but for ``"gelsd"`` and
        ``"gelss"``.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, or for another driver.

    Example:
        >>> import tinytorch as tt
        >>> line = tt.linalg.lstsq(tt.tensor([[1.0], [1.0]]), tt.tensor([[1.0], [3.0]]))
        >>> line.solution.round()
        tensor([[2.]])
    """
    driver = "gelsy" if driver is None else driver
    _check(A, B, driver)
    vector = B.ndim == 1 or (A.ndim - 1 == B.ndim and tuple(B.shape) == tuple(A.shape[:-1]))
    right = B.unsqueeze(-1) if vector else B
    _check_rows(A, right, -1 if vector else -2)
    xp = A._xp
    m, n = A.shape[-2:]
    precision = dtypes.finfo(A.dtype).eps * max(m, n)
    limit = precision if rcond is None or rcond < 0 else rcond
    if limit >= 1 and driver in ("gelsd", "gelsy"):  # as in LAPACK
        limit = precision if driver == "gelsd" else _MOST
    solution = pinv(A, rtol=limit) @ right
    with no_grad():
        values = svdvals(A)
        largest = values.amax(-1, keepdim=True) if min(m, n) else values
        rank = (values > largest * limit).sum(-1)
        full = m > n and driver != "gelsy" and (driver == "gels" or bool((rank == n).all()))
    empty = wrap(xp.empty((0,), values._data.dtype), xp)
    # Empty residuals are part of the graph too, as in torch.
    residuals = (A @ solution - right).abs().square().sum(-2) if full else _none_of(solution)
    return _Lstsq(
        solution.squeeze(-1) if vector else solution,
        residuals,
        wrap(xp.empty((0,), xp.native_dtype(dtypes.int64)), xp) if driver == "gels" else rank,
        values if driver in ("gelsd", "gelss") else empty,
    )


def _none_of(solution: Tensor) -> Tensor:
    return (solution.real if solution.is_complex() else solution).reshape(-1)[:0]


def _check(A: Tensor, B: Tensor, driver: str) -> None:
    name = "torch.linalg.lstsq"
    for at, tensor, ndim in (("input", A, 2), ("other", B, 1)):
        if tensor.ndim < ndim:
            raise RuntimeError(
                f"{name}: {at} must have at least {ndim} dimensions, got shape "
                f"{list(tensor.shape)}."
            )
    if not 0 <= A.ndim - B.ndim <= 1:
        raise RuntimeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - "
            f"other.dim()) <= 1, got shapes {list(A.shape)} and {list(B.shape)}"
        )
    if A.dtype is not B.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype "
            f"{scalar_name(A.dtype)} and other's dtype {scalar_name(B.dtype)}"
        )
    check_floating(A._xp, "linalg.lstsq", A._data)
    if driver not in _DRIVERS:
        raise RuntimeError(
            f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got {driver}"
        )


def _check_rows(A: Tensor, B: Tensor, at: int) -> None:
    if A.shape[-2] != B.shape[-2]:
        raise RuntimeError(
            f"torch.linalg.lstsq: input.size(-2) should match other.size({at}), got "
            f"{A.shape[-2]} and {B.shape[-2]}"
        )
    common_batch(A._xp, "linalg.lstsq", A._data, B._data)
