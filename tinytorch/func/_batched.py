"""Tensors that stand for all examples of ``vmap`` at once.

A function that only does arithmetic on its examples, compares them and looks up by them need not
run once for each. Its first run gets stand-ins: each acts as the first example, and operations that
compute the same for all examples at once do so on the values of all. Any other operation marks the
levels of its stand-ins as failed and runs on the first examples alone, so that the run is that of
the first example whatever happens in it, and the other examples follow one by one.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

from ..core.device import device
from ..core.storage import Storage
from ..core.tensor import Tensor
from ..core.torch_function import member
from ..dispatch.op import NAMESPACES
from ..dtypes import dtype
from ..state import inference_mode
from ._trees import map_leaves

#: What is asked of an example by a method, and what makes tensors like it.
_OF_ONE = frozenset((
    "dim", "element_size", "is_complex", "is_floating_point", "new_full", "new_ones", "new_zeros",
))  # fmt: skip
_ATTRIBUTES = ("device", "dtype", "ndim", "shape", "size")
#: Forms whose first argument may be a number without being promoted as a tensor.
_NUMBER_FIRST = frozenset((
    "__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__rfloordiv__", "__rmod__", "__rpow__",
    "__rand__", "__ror__", "__rxor__", "pow",
))  # fmt: skip
_PLAIN_VALUES = frozenset((int, float, bool, complex, str, type(None), dtype, device))
_INTEGERS = frozenset(("int64", "int32", "int16", "int8"))
#: Errors that may concern another example than the first one, which raises its own.
_ERRORS = (
    ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError,
    Warning,
)  # fmt: skip
_NUMBER = itertools.count()


class Level:
    """A dimension that is mapped over; an inner one has a greater number.

    Attributes:
        size: The number of examples.
        randomness: As ``vmap`` was given it.
        failed: Whether an operation has run on the first example alone.
        has_rule: Whether the rule of a ``Function`` has been called for its examples.
    """

    def __init__(self, size: int, randomness: str = "error") -> None:
        self.number = next(_NUMBER)
        self.size = size
        self.randomness = randomness
        self.failed = False
        self.has_rule = False


@functools.cache
def _stand_in() -> type[Tensor]:
    """The class of stand-ins. Made when needed: from then on subclasses are looked for."""

    class StandIn(Tensor):
        """Holds ``_value``, which begins with ``_mapped_levels``; has no memory of its own."""

        __slots__ = ()

        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return _call(func, args, kwargs or {})

        def __iter__(self) -> Any:
            return iter(first_example(self))

    for name in (*Storage.__slots__, "_inference", "_level", "_mapped", "_shift", "_whole"):
        setattr(StandIn, name, _field_of_first(name))
    return StandIn


def _field_of_first(name: str) -> property:
    """Return the property that reads and writes a field of the first example."""

    def write(self: Any, value: Any) -> None:
        setattr(first_example(self), name, value)

    return property(lambda self: getattr(first_example(self), name), write)


def stand_in(value: Tensor, levels: tuple[Level, ...], example: Any = None) -> Any:
    """A tensor that stands for each example in ``value``, whose first dimensions are ``levels``.

    ``example`` is the first one, by default a view of ``value``.
    """
    made: Any = object.__new__(_stand_in())
    made._value, made._mapped_levels, made._first = value, levels, example
    return made


def is_stand_in(x: Any) -> bool:
    """Whether ``x`` stands for several examples."""
    return "_mapped_levels" in getattr(x, "__dict__", ())


def mapped_over(leaf: Any, dim: int, level: Level, example: Any = None) -> Any:
    """A stand-in for the examples along ``dim`` of a tensor or of another stand-in."""
    outer = levels_of(leaf)
    value = value_of(leaf).movedim(len(outer) + dim, len(outer))
    return stand_in(value, (*outer, level), example)


def can_stack(result: Any, level: Level, dim: int | None) -> bool:
    """Whether ``stack_examples`` can return a result."""
    levels = levels_of(result)
    if dim is None:
        return level not in levels
    rank = value_of(result).ndim - len(levels) if isinstance(result, Tensor) else -1
    return -rank - 1 <= dim <= rank


def stack_examples(result: Any, level: Level, dim: int | None) -> Any:
    """Copy of a result outside ``level``, with its examples along ``dim``."""
    if dim is None:
        return result
    levels = levels_of(result)
    outer = tuple(other for other in levels if other is not level)
    together = (*outer, level)
    rank = value_of(result).ndim - len(levels)
    value = lifted(result, together, rank)
    sizes = [each.size for each in together]
    value = value.expand(*sizes, *value.shape[len(together) :])
    at = len(outer)
    value = value.movedim(at, at + (dim % (rank + 1))).clone()
    return stand_in(value, outer) if outer else value


def stack_elements(result: Any, levels: tuple[Level, ...]) -> Any:
    """View of a result outside ``levels``, with the examples of each along a leading dimension."""
    own = levels_of(result)
    outer = tuple(level for level in own if level not in levels)
    value = lifted(result, (*outer, *levels), value_of(result).ndim - len(own))
    sizes = [level.size for level in (*outer, *levels)]
    value = value.expand(*sizes, *value.shape[len(sizes) :])
    return stand_in(value, outer) if outer else value


def lifted(x: Any, levels: tuple[Level, ...], rank: int) -> Any:
    """The values of ``x`` with all of ``levels`` in front and ``rank`` dimensions behind them."""
    own, value = levels_of(x), value_of(x)
    shape = value.shape[len(own) :]
    sizes = [level.size if level in own else 1 for level in levels]
    return value.reshape(*sizes, *[1] * (rank - len(shape)), *shape)


def first_example(x: Any) -> Any:
    """The first example of a stand-in, whose levels fail; anything else as it is."""
    if not is_stand_in(x):
        return x
    for level in x._mapped_levels:
        level.failed = True
    return first(x)


def resolved(x: Any) -> Any:
    """The first example of a stand-in of which a level failed; anything else as it is."""
    return first_example(x) if any(level.failed for level in levels_of(x)) else x


# -- operations on stand-ins -----------------------------------------------------------------------


def levels_of(x: Any) -> tuple[Level, ...]:
    return x._mapped_levels if is_stand_in(x) else ()


def value_of(x: Any) -> Any:
    return x._value if is_stand_in(x) else x


def _call(func: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call ``func`` for all examples at once where it allows that, else for the first ones."""
    found = _call_at_once(func, args, options)
    if found is not NotImplemented:
        return found
    return func(*map_leaves(first_example, args), **map_leaves(first_example, options))


def _call_at_once(func: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call ``func`` for all examples at once, or return NotImplemented."""
    given = (*args, *options.values())
    written, op = getattr(func, "__name__", ""), getattr(func, "op", None)
    name = written if op is None else op.name
    elementwise = name == "detach" if op is None else op.is_elementwise
    if name == "__get__" and func in _attributes():
        return getattr(first(args[0]), _attributes()[func])
    if name in _OF_ONE and is_stand_in(args[0]):
        return getattr(first(args[0]), name)(*args[1:], **options)
    if any(level.failed for level in together(given)):
        return NotImplemented
    try:
        if name == "__getitem__":
            return _item(args[0], args[1])
        if elementwise and not _writes(op, written, args, options):
            if _are_plain(op, given) and (isinstance(given[0], Tensor) or written in _NUMBER_FIRST):
                return _elementwise(func, args, options)
    except _ERRORS:
        return NotImplemented
    return NotImplemented


@functools.cache
def _attributes() -> dict[Any, str]:
    return {member(Tensor, name).__get__: name for name in _ATTRIBUTES}


def _writes(op: Any, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Whether a call changes a tensor; also ``where`` with a condition alone, which finds places.

    ``name`` is the form's: ``add_`` and ``__iadd__`` are forms of ``add``.
    """
    if name.startswith("__i") and name != "__invert__" or name.endswith("_") > name.endswith("__"):
        return True
    flag = op.plan.index.get("inplace", len(args)) if op is not None else len(args)
    return (
        "out" in options or "inplace" in options or len(args) > flag
        or (name == "where" and len(args) + len(options) < 3)
    )  # fmt: skip


def _are_plain(op: Any, given: tuple[Any, ...]) -> bool:
    """Whether all are plain values, or tensors in the place of tensors."""
    tensors = sum(isinstance(v, Tensor) for v in given)
    known = all(isinstance(v, Tensor) or type(v) in _PLAIN_VALUES for v in given)
    return known and tensors <= max(1, len(op.plan.tensors) if op is not None else 1)


def first(x: Any) -> Any:
    """The first example of a stand-in, always the same object: operations may write to it."""
    if not is_stand_in(x):
        return x
    if x._first is None:
        value = x._value
        # The mode of this moment is not that in which the value was made.
        with inference_mode(False) if value.requires_grad else nullcontext():
            x._first = value[(0,) * len(x._mapped_levels)]
    return x._first


def together(values: Iterable[Any]) -> tuple[Level, ...]:
    found = {level for value in values for level in levels_of(value)}
    return tuple(sorted(found, key=lambda level: level.number))


def _elementwise(func: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """``func`` of all examples, with the promotion that each would have."""
    tensors = [v for v in (*args, *options.values()) if isinstance(v, Tensor)]
    ranks = [value_of(t).ndim - len(levels_of(t)) for t in tensors]
    rank, levels = max(ranks), together(tensors)
    # In promotion tensors without dimensions count less than others, and a stand-in's have some.
    if rank and min(ranks) == 0 and len({value_of(t).dtype for t in tensors}) > 1:
        return NotImplemented

    def whole(v: Any) -> Any:
        return lifted(v, levels, rank) if isinstance(v, Tensor) else v

    result = func(*map(whole, args), **{name: whole(v) for name, v in options.items()})
    sizes = tuple(level.size for level in levels)
    if type(result) is not Tensor or result.shape[: len(sizes)] != sizes:
        return NotImplemented
    return stand_in(result, levels) if result.ndim == len(sizes) + rank else NotImplemented


# -- looking up ------------------------------------------------------------------------------------


def _item(x: Any, index: Any) -> Any:
    """``x[index]`` with integers and whole dimensions in the index."""
    items = list(index) if isinstance(index, tuple) else [index]
    own, value = levels_of(x), value_of(x)
    rank = value.ndim - len(own)
    kinds = [_kind(item) for item in items]
    if "other" in kinds or kinds.count("rest") > 1 or len(items) > rank + ("rest" in kinds):
        return NotImplemented
    if "rest" in kinds:
        at = kinds.index("rest")
        items[at : at + 1] = [slice(None)] * (rank - len(items) + 1)
    items += [slice(None)] * (rank - len(items))
    taken = [d for d in range(rank) if not isinstance(items[d], slice)]
    kept = [d for d in range(rank) if isinstance(items[d], slice)]
    levels = together([x, *items])
    order = [*range(len(own)), *(len(own) + d for d in (*taken, *kept))]
    places: list[Any] = [slice(None)] * len(own)  # a view, as each example's would be
    if any(isinstance(items[d], Tensor) for d in taken):
        places = [_places(level, levels, value.device) for level in own]
    places += [lifted(items[d], levels, 0) if isinstance(items[d], Tensor) else items[d]
               for d in taken]  # fmt: skip
    return stand_in(value.permute(order)[tuple(places)], levels)


def _kind(item: Any) -> str:
    if item is ...:
        return "rest"
    if isinstance(item, slice) and item == slice(None):
        return "whole"
    if isinstance(item, Tensor):
        value = value_of(item)
        number = value.ndim == len(levels_of(item)) and value.dtype.name in _INTEGERS
        return "number" if number else "other"
    return "number" if type(item) is int else "other"


def _places(level: Level, levels: tuple[Level, ...], where: Any) -> Any:
    sizes = [level.size if other is level else 1 for other in levels]
    made: Any = NAMESPACES[""]["arange"](level.size, device=where)
    return made.reshape(sizes)
