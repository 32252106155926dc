"""Number theory of integers."""

from __future__ import annotations

from ...dispatch.op import Array, Backend, op
from ..checks import refuse


@op(method=True, inplace=True, promote="arithmetic", strict=True)
def gcd(xp: Backend, input: Array, other: Array) -> Array:
    """The greatest common divisor; ``gcd(0, 0)`` is 0.

    Args:
        input: Integer tensor of any shape.
        other: Integer tensor; the two shapes broadcast.

    Raises:
        NotImplementedError: For other dtypes.

    Example:
        >>> import tinytorch as tt
        >>> tt.gcd(tt.tensor([12, -18]), tt.tensor([8, 27]))
        tensor([4, 9])
    """
    refuse(xp, "gcd_cpu", "bfc", input, other)
    return xp.gcd(input, other)


@op(method=True, inplace=True, promote="arithmetic", strict=True)
def lcm(xp: Backend, input: Array, other: Array) -> Array:
    """The least common multiple, not negative; 0 if either is 0.

    Args:
        input: Integer tensor of any shape.
        other: Integer tensor; the two shapes broadcast.

    Raises:
        NotImplementedError: For other dtypes.

    Example:
        >>> import tinytorch as tt
        >>> tt.lcm(tt.tensor([4, 6]), tt.tensor([6, -15]))
        tensor([12, 30])
    """
    refuse(xp, "lcm_cpu", "bfc", input, other)
    return xp.lcm(input, other)
