"""Stand-ins for all examples of ``vmap`` at once, and what is the same for them as for each.

A function of numbers that only does arithmetic on them, compares them and looks up by them need
not run once for each: it runs once with a stand-in, which has the shape of one example and holds
all. What is not known here to be the same for all at once ends the attempt, and so does any error;
then the function runs for each example, as it would have.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from ..core import torch_function
from ..core.device import device
from ..core.tensor import Tensor
from ..core.torch_function_members import member
from ..dispatch.op import NAMESPACES
from ..dtypes import dtype
from ..graph.inference import mapped
from ..state import DRAWN
from ._randomness import drawing
from ._trees import flatten

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
_NUMBER = itertools.count()


class CannotBatch(BaseException):
    """Ends an attempt; no Exception, which the function might hide."""


class Level:
    """A dimension that is mapped over; an inner one has a greater number.

    Attributes:
        size: The number of examples.
        randomness: As ``vmap`` was given it.
        failed: Whether something met their stand-ins that is not known to be the same for all.
    """

    def __init__(self, size: int, randomness: str = "error") -> None:
        self.number = next(_NUMBER)
        self.size = size
        self.randomness = randomness
        self.failed = False


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
            return _answer(func, args, kwargs or {})

        def __iter__(self) -> NoReturn:
            _fail([self])

    return StandIn


def stand_in(value: Tensor, levels: tuple[Level, ...]) -> Any:
    """A tensor that stands for each example in ``value``, whose first dimensions are ``levels``."""
    made: Any = object.__new__(_stand_in())
    made._value, made._mapped_levels = value, levels
    return made


def is_stand_in(x: Any) -> bool:
    """Whether ``x`` stands for several examples."""
    return "_mapped_levels" in getattr(x, "__dict__", ())


def mapped_over(leaf: Any, dim: int, level: Level) -> Any:
    """A stand-in for the examples along ``dim`` of a tensor or of another stand-in."""
    outer = levels_of(leaf)
    value = value_of(leaf).movedim(len(outer) + dim, len(outer))
    return stand_in(value, (*outer, level))


def let_out(result: Any, level: Level, dim: int | None) -> Any:
    """A result for those outside ``level``, its examples along ``dim``; None: it has none."""
    levels = levels_of(result)
    if not isinstance(result, Tensor) and dim is not None or level in levels and dim is None:
        raise CannotBatch
    if dim is None:
        return result
    outer = tuple(other for other in levels if other is not level)
    together = (*outer, level)
    rank = value_of(result).ndim - len(levels)
    if not -rank - 1 <= dim <= rank:
        raise CannotBatch
    value = lifted(result, together, rank)
    sizes = [each.size for each in together]
    value = value.expand(*sizes, *value.shape[len(together) :])
    at = len(outer)
    value = value.movedim(at, at + (dim % (rank + 1))).clone()
    return stand_in(value, outer) if outer else value


def lifted(x: Any, levels: tuple[Level, ...], rank: int) -> Any:
    """What ``x`` holds with all of ``levels`` in front and ``rank`` dimensions behind them."""
    own, value = levels_of(x), value_of(x)
    shape = value.shape[len(own) :]
    sizes = [level.size if level in own else 1 for level in levels]
    return value.reshape(*sizes, *[1] * (rank - len(shape)), *shape)


def once(
    function: Callable[..., Any], args: Iterable[Any], levels: tuple[Level, ...], **options: Any
) -> Any:
    """What ``function`` gives with stand-ins of ``levels`` among ``args``.

    Raises:
        CannotBatch: If that may not be what it would give for each example.
    """

    def refuse(engine: Any) -> NoReturn:
        _end(levels)

    token = DRAWN.set(refuse)
    try:
        with drawing("error", [value_of(leaf) for leaf in flatten((args, options))[0]]), mapped():
            result = function(*args, **options)
    except Exception:  # of the attempt's own making, perhaps: the examples will tell
        raise CannotBatch from None
    finally:
        DRAWN.reset(token)
    if any(level.failed for level in levels):
        raise CannotBatch
    return result


# -- what a stand-in answers ---------------------------------------------------------------------


def levels_of(x: Any) -> tuple[Level, ...]:
    return x._mapped_levels if is_stand_in(x) else ()


def value_of(x: Any) -> Any:
    return x._value if is_stand_in(x) else x


def _end(levels: Iterable[Level]) -> NoReturn:
    for level in levels:
        level.failed = True
    raise CannotBatch


def _fail(values: Iterable[Any]) -> NoReturn:
    _end(together(values))


def _answer(func: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    given = (*args, *options.values())
    written, op = getattr(func, "__name__", ""), getattr(func, "op", None)
    name = written if op is None else op.name
    elementwise = name == "detach" if op is None else op.is_elementwise
    if name == "__get__" and func in _attributes():
        return getattr(_example(args[0]), _attributes()[func])
    if name in _OF_ONE and is_stand_in(args[0]):
        return getattr(_example(args[0]), name)(*args[1:], **options)
    if name == "__getitem__":
        return _item(args[0], args[1])
    if elementwise and not _writes(op, written, args, options):
        if _are_plain(op, given) and (isinstance(given[0], Tensor) or written in _NUMBER_FIRST):
            return _elementwise(func, args, options)
    _fail((*given, *torch_function.relevant(args, options)))


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


def _example(x: Any) -> Any:
    """The first example, for what all have in common."""
    return value_of(x)[(0,) * len(levels_of(x))]


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
        _fail(tensors)

    def whole(v: Any) -> Any:
        return lifted(v, levels, rank) if isinstance(v, Tensor) else v

    result = func(*map(whole, args), **{name: whole(v) for name, v in options.items()})
    sizes = tuple(level.size for level in levels)
    if type(result) is not Tensor or result.shape[: len(sizes)] != sizes:
        _fail(tensors)
    if result.ndim != len(sizes) + rank:
        _fail(tensors)
    return stand_in(result, levels)


# -- looking up ------------------------------------------------------------------------------------


def _item(x: Any, index: Any) -> Any:
    """``x[index]`` with integers and whole dimensions in the index."""
    items = list(index) if isinstance(index, tuple) else [index]
    own, value = levels_of(x), value_of(x)
    rank = value.ndim - len(own)
    kinds = [_kind(item) for item in items]
    if "other" in kinds or kinds.count("rest") > 1 or len(items) > rank + ("rest" in kinds):
        _fail([x, *items])
    if "rest" in kinds:
        at = kinds.index("rest")
        items[at : at + 1] = [slice(None)] * (rank - len(items) + 1)
    items += [slice(None)] * (rank - len(items))
    taken = [d for d in range(rank) if not isinstance(items[d], slice)]
    kept = [d for d in range(rank) if isinstance(items[d], slice)]
    levels = together([x, *items])
    order = [*range(len(own)), *(len(own) + d for d in (*taken, *kept))]
    places: list[Any] = [_places(level, levels, value.device) for level in own]
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
