"""Which elements are among others."""

from __future__ import annotations

from ...dispatch.op import Array, Backend, Operand, Out, op
from ...dispatch.out import scalar_name


@op(promote="arithmetic", strict=True, out=Out.EXACT)
def isin(
    xp: Backend,
    elements: Operand,
    test_elements: Operand,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> Array:
    """Whether each of ``elements`` is equal to any of ``test_elements``.

    Args:
        elements: Tensor of any shape, or a number if the other is a tensor.
        test_elements: Tensor of any shape, or a number if the other is a tensor.
        assume_unique: Accepted; the result does not depend on it.
        invert: Whether each is equal to none.

    Returns:
        Bool tensor of the shape of ``elements``.

    Example:
        >>> import tinytorch as tt
        >>> tt.isin(tt.tensor([1, 2, 3]), tt.tensor([3, 1]))
        tensor([ True, False,  True])
    """
    flat = xp.asarray(elements).reshape(-1)
    known = xp.asarray(test_elements).reshape(-1)
    if known.dtype.kind in "bc":
        kind = scalar_name(xp.dtype_of(known))
        raise RuntimeError(f"Unsupported input type encountered for isin(): {kind}")
    known = xp.sort(known)
    if not known.size:
        found = xp.zeros(flat.shape, bool)
    else:
        at = xp.minimum(xp.searchsorted(known, flat), known.size - 1)
        found = known[at] == flat
    return (~found if invert else found).reshape(xp.asarray(elements).shape)
