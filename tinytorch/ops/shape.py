"""Other shapes of the same elements; most results are views."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .._op import Array, Backend, Shape, op


@op(view=True)
def reshape(xp: Backend, input: Array, shape: Shape) -> Array:
    """The elements of ``input`` in row-major order, in another shape.

    Args:
        input: Tensor of any shape.
        shape: The new sizes, as a sequence or one by one; one of them may be -1 and is
            then inferred.

    Returns:
        A view where strides allow it, else a copy.

    Raises:
        RuntimeError: If the number of elements differs.

    Example:
        >>> import tinytorch as tt
        >>> tt.arange(4).reshape(2, -1)
        tensor([[0, 1],
                [2, 3]])
    """
    return xp.reshape(input, infer_shape("reshape", tuple(input.shape), shape))


reshape.vjp(input=lambda xp, g, in_shape: xp.reshape(g, in_shape))


def infer_shape(name: str, have: tuple[int, ...], wanted: Sequence[int]) -> tuple[int, ...]:
    """``wanted`` with a -1 worked out; RuntimeError if the element counts differ."""
    shape = tuple(int(n) for n in wanted)
    total = math.prod(have)
    unknown = [i for i, n in enumerate(shape) if n == -1]
    known = math.prod(n for n in shape if n != -1)
    if len(unknown) > 1:
        raise RuntimeError(f"{name}: only one dimension can be inferred, got shape {list(shape)}")
    if any(n < -1 for n in shape):
        raise RuntimeError(f"{name}: invalid shape dimension {min(shape)}, got {list(shape)}")
    if unknown and known == 0:
        raise RuntimeError(
            f"cannot reshape tensor of {total} elements into shape {list(shape)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        )
    if (total % known if unknown else total != known):
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {total}")
    return tuple(total // known if n == -1 else n for n in shape)


def normalize_dim(name: str, dim: int, ndim: int) -> int:
    """``dim`` counted from the front; IndexError if there is no such dimension."""
    bound = max(ndim, 1)
    if not -bound <= dim < bound:
        raise IndexError(
            f"{name}: Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], "
            f"but got {dim})"
        )
    return dim % bound


@op(view=True, aliases=("swapaxes", "swapdims"))
def transpose(xp: Backend, input: Array, dim0: int, dim1: int) -> Array:
    """``input`` with two dimensions swapped.

    Args:
        input: Tensor of any shape.
        dim0: One dimension; negative ones count from the end.
        dim1: The other.

    Returns:
        A view.

    Raises:
        IndexError: If there is no such dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros(2, 3).transpose(0, 1).shape
        tinytorch.Size([3, 2])
    """
    ndim = len(input.shape)
    first = normalize_dim("transpose", dim0, ndim)
    second = normalize_dim("transpose", dim1, ndim)
    return xp.swapaxes(input, first, second) if ndim else input[...]


transpose.vjp(input=lambda xp, g, dim0, dim1: xp.swapaxes(g, dim0, dim1) if g.ndim else g)
