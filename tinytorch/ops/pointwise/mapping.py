"""Python functions called for every element: slow, and without gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import composite
from ...dispatch.out import check_writable

#: Python class of the elements of each kind of dtype.
_KINDS: dict[str, Callable[[Any], Any]] = {
    "b": bool, "i": int, "u": int, "f": float, "c": complex,
}  # fmt: skip


@composite(namespaces=("Tensor",))
def apply_(input: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace every element ``x`` by ``callable(x)``, in place.

    Args:
        input: Tensor on the CPU that does not require grad.
        callable: Function of a Python number that returns one.

    Returns:
        ``input``.

    Raises:
        RuntimeError: If ``input`` requires grad.
        TypeError: If it is not on the CPU, or a result is not a number.

    Example:
        >>> tt.tensor([1.0, 4.0]).apply_(lambda x: x * 10)
        tensor([10., 40.])
    """
    return _map_elements("apply", input, [], callable)


@composite(namespaces=("Tensor",))
def map_(input: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace every element ``x`` by ``callable(x, y)``, with ``y`` of another tensor, in place.

    Args:
        input: Tensor on the CPU that does not require grad.
        tensor: Tensor of the same dtype, whose shape broadcasts to that of ``input``.
        callable: Function of two Python numbers that returns one.

    Returns:
        ``input``.

    Raises:
        RuntimeError: If a tensor requires grad, or the shapes do not fit.
        TypeError: If a tensor is not on the CPU, the dtypes differ, or a result is not a number.

    Example:
        >>> tt.tensor([7, 9]).map_(tt.tensor([2, 5]), lambda x, y: x % y)
        tensor([1, 4])
    """
    return _map_elements("map", input, [tensor], callable)


@composite(namespaces=("Tensor",))
def map2_(input: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replace every element by ``callable(element, x, y)``, in place; see ``map_``.

    Args:
        input: Tensor on the CPU, which is written to.
        x: Tensor whose shape broadcasts to that of ``input``.
        y: Tensor whose shape broadcasts to that of ``input``.
        callable: Function of three Python numbers that returns one.

    Example:
        >>> tt.zeros(2).map2_(tt.ones(2), tt.tensor([2.0, 3.0]), lambda a, b, c: a + b * c)
        tensor([2., 3.])
    """
    return _map_elements("map2", input, [x, y], callable)


def _map_elements(
    name: str, input: Tensor, others: list[Any], function: Callable[..., Any]
) -> Tensor:
    """Write ``function`` of each element, and of the others' elements there, to ``input``.

    ``name`` is that of the operation without its underscore.
    """
    for position, other in enumerate(others, 1):
        _check_argument(name, position, input, other)
    _check_argument(name, 0, input, input)
    check_writable(name, input)
    xp, data = input._xp, input._data
    # Compute all results before the first write, so that an exception leaves the tensor unchanged.
    columns = [xp.to_numpy(t.expand(data.shape)._data).ravel().tolist() for t in (input, *others)]
    numbers = [_to_element(data.dtype.kind, function(*row)) for row in zip(*columns, strict=True)]
    xp.copyto(data, xp.reshape(xp.convert(numbers, input.dtype), data.shape))
    input._bump()
    return input


def _to_element(kind: str, value: Any) -> Any:
    """Convert the result of a function to a Python number of the dtype's ``kind``."""
    forms = ("__complex__", "__float__", "__index__") if kind == "c" else ("__float__", "__index__")
    if not any(hasattr(value, form) for form in forms):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    return _KINDS[kind](value)


def _check_argument(name: str, position: int, input: Tensor, other: Any) -> None:
    """Raise unless ``other`` is a CPU tensor of the dtype of ``input`` without grad."""
    if not isinstance(other, Tensor):
        raise TypeError(
            f"{name}_(): argument 'other' (position {position}) must be Tensor, not "
            f"{type(other).__name__}"
        )
    if other.requires_grad:
        raise RuntimeError(
            f"Can't call {name}_() on Variable that requires grad. Use var.detach().{name}_() "
            "instead."
        )
    if other._xp.device_type != "cpu":
        raise TypeError(f"{name}_ is only implemented on CPU tensors, got one on {other.device}")
    if other.dtype is not input.dtype:
        raise TypeError(f"{name}_: expected {input.type()} for 'other' (got {other.type()})")
