"""Broadcasting: sizes stretched without copying, and summed back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.tensor import Size, Tensor
from ...dispatch.op import Array, Backend, Shape, composite, op
from ...graph.nodes import sum_to_shape
from ..checks import integers_of
from .sizes import expand, expanded_size


@op(method=True, view=True, node="ExpandBackward0")
def broadcast_to(xp: Backend, input: Array, size: Shape) -> Array:
    """``input`` stretched to shape ``size`` by broadcasting; see ``Tensor.expand``.

    Args:
        input: Tensor whose sizes are 1 or those of ``size``, aligned at the last dimension.
        size: The shape, as a sequence or as ints one by one.

    Example:
        >>> import tinytorch as tt
        >>> tt.broadcast_to(tt.tensor([1, 2]), (2, 2))
        tensor([[1, 2],
                [1, 2]])
    """
    wanted = expanded_size(tuple(input.shape), size)
    if input.size and math.prod(wanted) == input.size:  # a view that may be written to
        return input.reshape(wanted)
    return xp.broadcast_to(input, wanted)


broadcast_to.vjp(input=lambda xp, g: g)


@composite(method=True)
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` stretched to the shape of ``other`` without copying; see ``expand``.

    Args:
        input: Tensor whose shape broadcasts to that of ``other``.
        other: Tensor of the wanted shape.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([1, 2]).expand_as(tt.zeros(3, 2)).shape
        tinytorch.Size([3, 2])
    """
    return expand(input, tuple(other.shape))


@composite
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of the given shapes broadcast to.

    Args:
        *shapes: Sequences of ints; an int stands for a shape of one dimension.

    Returns:
        A ``Size``.

    Raises:
        RuntimeError: If the shapes do not broadcast.

    Example:
        >>> import tinytorch as tt
        >>> tt.broadcast_shapes((2, 1), (3,))
        tinytorch.Size([2, 3])
    """
    given = [integers_of("broadcast_shapes", "shapes", shape) for shape in shapes]
    if any(n < 0 for shape in given for n in shape):
        raise ValueError(
            f"broadcast_shapes: Attempting to broadcast a dimension with negative length! {given}"
        )
    ndim = max((len(shape) for shape in given), default=0)
    result = [1] * ndim
    for i, shape in enumerate(given):
        for d, n in enumerate(shape, ndim - len(shape)):
            if n != 1 and result[d] not in (1, n):
                raise RuntimeError(
                    f"broadcast_shapes: Attempting to broadcast a dimension of length {n} at "
                    f"{d - ndim}! Mismatching argument at index {i} had {shape}; but expected "
                    f"shape should be broadcastable to {result}"
                )
            result[d] = n if n != 1 else result[d]
    return Size(result)


@composite
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors, each stretched to their common shape without copying.

    Args:
        *tensors: Tensors whose shapes broadcast, one by one or as a sequence.

    Returns:
        A tuple of views, and of the tensors themselves where they have that shape.

    Raises:
        RuntimeError: If the shapes do not broadcast.

    Example:
        >>> import tinytorch as tt
        >>> a, b = tt.broadcast_tensors(tt.zeros(2, 1), tt.zeros(3))
        >>> a.shape, b.shape
        (tinytorch.Size([2, 3]), tinytorch.Size([2, 3]))
    """
    many = tensors_of(tensors)
    common = many[0].shape if many else ()
    for tensor in many[1:]:
        common = _common_shape(common, tensor.shape)
    return tuple(t if t.shape == common else expand(t, common) for t in many)


def tensors_of(given: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """Tensors given one by one or as one sequence."""
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = tuple(given[0])
    for tensor in given:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expected Tensors, but got {type(tensor).__name__}")
    return given


def _common_shape(a: Sequence[int], b: Sequence[int]) -> Size:
    for k in range(1, min(len(a), len(b)) + 1):
        if a[-k] != b[-k] and 1 not in (a[-k], b[-k]):
            raise RuntimeError(
                f"The size of tensor a ({a[-k]}) must match the size of tensor b ({b[-k]}) at "
                f"non-singleton dimension {max(len(a), len(b)) - k}"
            )
    return broadcast_shapes(a, b)


@composite(namespaces=("Tensor",))
def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """``input`` summed over what a tensor of shape ``size`` would be stretched along.

    Args:
        input: Tensor of any shape.
        *size: A shape that broadcasts to ``input``'s, as a sequence or one by one.

    Returns:
        Tensor of shape ``size``.

    Raises:
        RuntimeError: If ``size`` does not broadcast to the shape of ``input``.

    Example:
        >>> import tinytorch as tt
        >>> tt.ones(2, 3).sum_to_size(1, 3)
        tensor([[2., 2., 2.]])
    """
    many = len(size) == 1 and isinstance(size[0], (tuple, list))
    wanted = integers_of("sum_to_size", "size", size[0] if many else size)
    lead = input.ndim - len(wanted)
    if lead < 0 or any(n not in (1, m) for n, m in zip(wanted, input.shape[lead:], strict=True)):
        raise RuntimeError(
            f"sum_to_size: size {list(wanted)} is not expandable to size {list(input.shape)}."
        )
    if not wanted:
        return input.sum()
    same = input.shape == wanted
    return input if same else sum_to_shape(input, wanted)
