"""Methods of NumPy's arrays that PyTorch's tensors do not have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import composite
from ..create.conversion import clone
from ..create.factories import as_tensor
from ..pointwise.complex_numbers import conj_physical
from ..shape.joining import stack
from ..shape.sizes import ravel
from ..shape.strides import broadcast_tensors
from ..sort.sorting import argsort
from .gathering import gather, nonzero


@composite(namespaces=("Tensor",))
def copy(input: Tensor, order: str = "C") -> Tensor:
    """Copy of ``input`` in new memory; gradients flow through it.

    Args:
        input: Tensor of any shape.
        order: Accepted and ignored; the copy is in row-major order.

    Example:
        >>> tt.ones(2).copy()
        tensor([1., 1.])
    """
    return clone(input)


@composite(namespaces=("Tensor",))
def conjugate(input: Tensor) -> Tensor:
    """The complex conjugate of each element, in new memory; a real tensor itself.

    Example:
        >>> tt.tensor([1 + 2j]).conjugate()
        tensor([1.-2.j])
    """
    return conj_physical(input) if input.is_complex() else input


@composite(namespaces=("Tensor",), attribute=True)
def flat(input: Tensor) -> Tensor:
    """The elements in one dimension, in row-major order; a view if ``ravel`` returns one.

    Example:
        >>> tt.tensor([[1, 2], [3, 4]]).flat[2]
        tensor(3)
    """
    return ravel(input)


@composite(namespaces=("Tensor",))
def compress(input: Tensor, condition: Any, axis: int | None = None) -> Tensor:
    """The slices of ``input`` along ``axis`` where ``condition`` is True.

    Args:
        input: Tensor of any shape.
        condition: Bools, one for each slice; the last ones may be missing.
        axis: The dimension; None, the default, means the flattened tensor.

    Returns:
        A copy.

    Example:
        >>> tt.tensor([[1, 2], [3, 4]]).compress([False, True], axis=0)
        tensor([[3, 4]])
    """
    places = nonzero(as_tensor(condition, backend=input._xp))[:, 0]
    source: Any = ravel(input) if axis is None else input
    return source.index_select(axis or 0, places)  # type: ignore[no-any-return]


@composite(namespaces=("Tensor",))
def choose(input: Tensor, choices: Sequence[Tensor]) -> Tensor:
    """Select each element from one of ``choices``; ``input`` holds the number of the choice.

    Args:
        input: Integers from 0 to the number of choices, not included.
        choices: Tensors that broadcast with ``input``.

    Returns:
        Tensor of the common shape.

    Raises:
        IndexError: If a number is out of range.

    Example:
        >>> tt.tensor([1, 0]).choose([tt.tensor([1, 2]), tt.tensor([10, 20])])
        tensor([10,  2])
    """
    number, *values = broadcast_tensors(input, *choices)
    chosen: Any = gather(stack(values), 0, number.long()[None])
    return chosen[0]  # type: ignore[no-any-return]


@composite(namespaces=("Tensor",))
def argpartition(input: Tensor, kth: Any, axis: int = -1) -> Tensor:
    """Indices that partition ``input``: smaller elements before the ``kth``, larger ones after.

    Args:
        input: Tensor of at least one dimension.
        kth: The position or positions. It has no effect, since the indices sort the whole tensor.
        axis: The dimension; default the last.

    Example:
        >>> tt.tensor([3, 1, 2]).argpartition(1)
        tensor([1, 2, 0])
    """
    return argsort(input, axis)


@composite(namespaces=("Tensor",))
def to_device(input: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    """The tensor on another device; see ``to``.

    Args:
        input: Tensor of any shape.
        device: A device, or its name.
        stream: Must be None.

    Example:
        >>> tt.ones(2).to_device("cpu")
        tensor([1., 1.])
    """
    if stream is not None:
        raise ValueError(f"to_device(): stream must be None, got {stream!r}")
    return input.to(device)
