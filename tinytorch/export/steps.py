"""Steps of exported programs: operations by name, with slots for tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.tensor import Tensor
from ..dispatch.registry import OPS
from .tracing import ExportError

#: Operations that reach files, other processes or the state of generators.
_OUTSIDE = frozenset(
    "from_file share_memory_ manual_seed seed initial_seed get_rng_state set_rng_state set_".split()
)


#: Methods that read or write items, by the operation that they call.
ITEMS = {"_getitem": "__getitem__", "_setitem_": "__setitem__"}


class TensorSlot:
    """A tensor of a program: an input, a parameter, a constant or the result of a step.

    Attributes:
        name: Its name in the program.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name: str = name

    def __repr__(self) -> str:
        return self.name


class ProgramStep:
    """One operation of a program.

    Attributes:
        operation: Qualified name of the operation, or the name of a method that ends in ``_``.
        args, options: Its arguments; a ``TensorSlot`` for a tensor, a ``Size`` for a size that
            depends on the inputs.
        results: A slot for each tensor that it returns, in order.
        shapes: Sizes and dtype of each of these tensors; a ``Size`` where it is dynamic.
        module: Path and class of the module that calls it.
    """

    __slots__ = ("args", "function", "module", "operation", "options", "results", "shapes")

    def __init__(
        self, operation: str, args: tuple[Any, ...], options: dict[str, Any],
        results: list[TensorSlot], shapes: list[tuple[tuple[int, ...], Any]],
        module: Sequence[str] = ("", ""),
    ) -> None:  # fmt: skip
        path, kind = module
        self.module: tuple[str, str] = path, kind
        self.operation: str = operation
        self.args: tuple[Any, ...] = args
        self.options: dict[str, Any] = options
        self.results: list[TensorSlot] = results
        self.shapes: list[tuple[tuple[int, ...], Any]] = shapes
        self.function: Callable[..., Any] = find_operation(operation)

    def __repr__(self) -> str:
        arguments = [*map(repr, self.args), *(f"{k}={v!r}" for k, v in self.options.items())]
        results = ", ".join(map(repr, self.results)) or "_"
        return f"{results} = {self.operation}({', '.join(arguments)})"


def find_operation(name: str) -> Callable[..., Any]:
    """Return the function of an operation by its name in a program.

    Raises:
        ExportError: If there is none, or it uses files, other processes, storages or the state of
            generators.
    """
    last = name.rpartition(".")[2]
    if last in _OUTSIDE:
        raise ExportError(f"operation {name!r} cannot be part of a program")
    # Item access and in-place operations are looked up as methods of Tensor.
    is_item = name in ITEMS.values()
    if is_item or last.endswith("_") and not last.startswith("_") and hasattr(Tensor, last):
        return getattr(Tensor, last)  # type: ignore[no-any-return]
    try:
        function: Callable[..., Any] = OPS[name].function
    except KeyError:
        raise ExportError(f"there is no operation {name!r}") from None
    return function


def describe(shape: Sequence[int], dtype: Any) -> str:
    """Describe a tensor: ``float32[2, batch]``."""
    return f"{str(dtype).rpartition('.')[2]}[{', '.join(map(repr, shape))}]"
