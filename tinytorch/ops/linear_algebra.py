"""Products of matrices and vectors."""

from __future__ import annotations

from .._op import Array, Backend, op


@op(operators=("matmul",))
def matmul(xp: Backend, input: Array, other: Array) -> Array:
    """Matrix product; batches broadcast, vectors are promoted to matrices and back.

    Example:
        >>> import tinytorch as tt
        >>> (tt.ones(2, 3) @ tt.ones(3, 2))[0]
        tensor([3., 3.])
    """
    return xp.matmul(input, other)


matmul.vjp(
    input=lambda xp, g, other: xp.matmul(g, xp.swapaxes(other, -1, -2)),
    other=lambda xp, g, input: xp.matmul(xp.swapaxes(input, -1, -2), g),
)
