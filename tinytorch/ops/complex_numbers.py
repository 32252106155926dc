"""Complex numbers: signs and directions."""

from __future__ import annotations

from typing import Any

from .._op import Array, Backend, op, torch_convention


@op(inplace=True)
def sgn(xp: Backend, input: Array) -> Array:
    """The sign of real numbers, ``z / |z|`` of complex ones; 0 at 0.

    Example:
        >>> import tinytorch as tt
        >>> tt.sgn(tt.tensor([3 + 4j, 0j]))
        tensor([0.6000+0.8000j, 0.0000+0.0000j])
    """
    if input.dtype.kind == "c":
        size = xp.absolute(input)
        return input / xp.where(size == 0, xp.asarray(1, size.dtype), size)
    return xp.array(input) if input.dtype.kind == "b" else xp.sign(input)


def _sgn_gradient(xp: Any, g: Any, input: Any, out: Any) -> Any:
    """The part of ``g`` across the direction of ``input``, over its magnitude."""
    if input.dtype.kind != "c":
        return xp.zeros_like(g)
    size = xp.abs(input)
    across = g - out * xp.real(xp.conj(out) * g)
    return xp.where(size == 0, 0, across / xp.where(size == 0, 1, size))


sgn.vjp(input=torch_convention(_sgn_gradient))
