"""Checksums of tensors."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...dispatch.op import Array, Backend, Out, op
from ..checks import integer, refuse
from .reduction import Dims, element_count, reduced_axes


@op(method=True, out=Out.EXACT)
def hash_tensor(
    xp: Backend, input: Array, dim: Dims = (), *, keepdim: bool = False, mode: int = 0
) -> Array:
    """A checksum of the elements' bits, of all or along ``dim``.

    The bits are those of the elements in float64, or in int64 for integers and bools,
    combined by exclusive or.

    Args:
        input: Real tensor of any shape.
        dim: Dimension or dimensions to combine; the default means all.
        keepdim: Keep the combined dimensions with size 1.
        mode: Only 0, exclusive or.

    Returns:
        uint64 tensor without the combined dimensions.

    Raises:
        RuntimeError: For another mode, or if there is nothing to combine.
        IndexError: If a dimension to combine has no size.
        NotImplementedError: For complex tensors.

    Example:
        >>> import tinytorch as tt
        >>> tt.hash_tensor(tt.tensor([3, 5])).item()
        6
    """
    if integer("hash_tensor", "mode", mode) != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    refuse(xp, "xor_sum_cpu", "c", input)
    axes = reduced_axes("hash_tensor", dim, input.ndim)
    if axes is None and not input.size:
        raise RuntimeError(
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify "
            "the reduction dim with the 'dim' argument."
        )
    empty = [d for d in axes or () if not input.shape[d]]
    if empty:
        raise IndexError(f"hash_tensor: Expected reduction dim {empty[0]} to have non-zero size.")
    wide = dtypes.float64 if input.dtype.kind == "f" else dtypes.int64
    bits = xp.ascontiguousarray(input.reshape(-1)).astype(xp.native_dtype(wide))
    bits = bits.view(xp.native_dtype(dtypes.uint64)).reshape(input.shape)
    return _xor_along(xp, bits, tuple(range(input.ndim)) if axes is None else axes, keepdim)


def _xor_along(xp: Backend, bits: Array, axes: tuple[int, ...], keepdim: bool) -> Any:
    """Exclusive or along ``axes``, halving what is left, for libraries without its reduction."""
    shape = bits.shape
    kept = tuple(i for i in range(bits.ndim) if i not in axes)
    count = element_count(shape, axes)
    rows = xp.transpose(bits, (*axes, *kept)).reshape((count, *(shape[i] for i in kept)))
    while rows.shape[0] > 1:
        half = rows.shape[0] // 2
        folded = rows[:half] ^ rows[half : 2 * half]
        rows = xp.concatenate((folded, rows[2 * half :]))
    total = rows[0] if count else xp.zeros(rows.shape[1:], rows.dtype)
    if not keepdim:
        return total
    return total.reshape(tuple(1 if i in axes else n for i, n in enumerate(shape)))
