"""Batched tensors: all examples of ``vmap`` in one tensor.

``vmap`` may first try one run of its function for all examples, with batched tensors as arguments.
Elementwise operations and indexing compute with the values of all examples. Any other operation
marks the ``VmapLevel`` of its arguments as failed and continues with the first example of each
alone, so that the run becomes that of the first example; ``vmap`` then runs the function for each
other example. Properties of a batched tensor, such as its shape, are those of an example.
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

#: Methods that are called with the first example: they read properties that all examples share.
_EXAMPLE_METHODS = frozenset((
    "dim", "element_size", "is_complex", "is_floating_point", "new_full", "new_ones", "new_zeros",
))  # fmt: skip
_ATTRIBUTES = ("device", "dtype", "ndim", "shape", "size")
#: Forms of operations whose first argument may be a number that is not promoted as a tensor.
_NUMBER_FIRST_FORMS = frozenset((
    "__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__rfloordiv__", "__rmod__", "__rpow__",
    "__rand__", "__ror__", "__rxor__", "pow",
))  # fmt: skip
_VALUE_TYPES = frozenset((int, float, bool, complex, str, type(None), dtype, device))
_INTEGERS = frozenset(("int64", "int32", "int16", "int8"))
#: Errors of a batched call that are dropped: they may be those of a later example. The first
#: example raises its own.
_ERRORS = (
    ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError,
    Warning,
)  # fmt: skip
_NUMBER = itertools.count()


class VmapLevel:
    """One running ``vmap``: the dimension of its examples; an inner one has a greater number.

    Attributes:
        size: The number of examples.
        randomness: The argument ``randomness`` of ``vmap``.
        failed: Whether an operation has run on the first example alone.
        has_rule: Whether the ``vmap`` of a ``Function`` has been called for its examples.
    """

    def __init__(self, size: int, randomness: str = "error") -> None:
        self.number = next(_NUMBER)
        self.size = size
        self.randomness = randomness
        self.failed = False
        self.has_rule = False


@functools.cache
def _batched_class() -> type[Tensor]:
    """Return the class ``BatchedTensor``, created on first use.

    Once a subclass with ``__torch_function__`` exists, calls are checked for overrides.
    """

    class BatchedTensor(Tensor):
        """Tensor of all examples.

        ``_value`` has their values; its first dimensions are those of ``_mapped_levels``. A
        batched tensor has no memory of its own.
        """

        __slots__ = ()

        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return _call(func, args, kwargs or {})

        def __iter__(self) -> Any:
            return iter(fall_back(self))

    for name in (*Storage.__slots__, "_inference", "_level", "_mapped", "_shift", "_whole"):
        setattr(BatchedTensor, name, _first_example_field(name))
    return BatchedTensor


def _first_example_field(name: str) -> property:
    """Return a property that falls back to the first example and reads or writes its field."""

    def write(self: Any, value: Any) -> None:
        setattr(fall_back(self), name, value)

    return property(lambda self: getattr(fall_back(self), name), write)


def batched_tensor(value: Tensor, levels: tuple[VmapLevel, ...], example: Any = None) -> Any:
    """Return a batched tensor of the examples in ``value``, whose first dimensions are ``levels``.

    ``example`` is the first example, by default a view of ``value``.
    """
    batched: Any = object.__new__(_batched_class())
    batched._value, batched._mapped_levels, batched._first = value, levels, example
    return batched


def is_batched(x: Any) -> bool:
    """Whether ``x`` is a batched tensor."""
    return "_mapped_levels" in getattr(x, "__dict__", ())


def batch_over(leaf: Any, dim: int, level: VmapLevel, example: Any = None) -> Any:
    """Return a batched tensor of the examples along ``dim`` of a tensor, batched or not."""
    outer = levels_of(leaf)
    value = value_of(leaf).movedim(len(outer) + dim, len(outer))
    return batched_tensor(value, (*outer, level), example)


def can_stack(result: Any, level: VmapLevel, dim: int | None) -> bool:
    """Whether ``stack_examples`` accepts a result and an output dimension."""
    levels = levels_of(result)
    if dim is None:
        return level not in levels
    rank = value_of(result).ndim - len(levels) if isinstance(result, Tensor) else -1
    return -rank - 1 <= dim <= rank


def stack_examples(result: Any, level: VmapLevel, dim: int | None) -> Any:
    """Copy of a result for the code outside ``level``, with its examples along ``dim``.

    For None it is the result itself, which does not have ``level`` then; see ``can_stack``.
    """
    if dim is None:
        return result
    value, outer, rank = _expand(result, (level,))
    at = len(outer)
    value = value.movedim(at, at + (dim % (rank + 1))).clone()
    return batched_tensor(value, outer) if outer else value


def stack_elements(result: Any, levels: tuple[VmapLevel, ...]) -> Any:
    """View of a result for the code outside ``levels``, each of which is a leading dimension."""
    value, outer, _ = _expand(result, levels)
    return batched_tensor(value, outer) if outer else value


def _expand(
    result: Any, levels: tuple[VmapLevel, ...]
) -> tuple[Any, tuple[VmapLevel, ...], int]:  # fmt: skip
    """Return the values of a result, its other levels, and the rank of an example.

    The first dimensions of the values are those of the other levels, then those of ``levels``.
    """
    own = levels_of(result)
    outer = tuple(level for level in own if level not in levels)
    rank = value_of(result).ndim - len(own)
    value = align(result, (*outer, *levels), rank)
    sizes = [level.size for level in (*outer, *levels)]
    return value.expand(*sizes, *value.shape[len(sizes) :]), outer, rank


def align(x: Any, levels: tuple[VmapLevel, ...], rank: int) -> Any:
    """Return the values of ``x`` as ``(*levels, *example)``, with ``rank`` dimensions of examples.

    The size is 1 along a level that ``x`` does not have, and along dimensions that are added.
    """
    own, value = levels_of(x), value_of(x)
    shape = value.shape[len(own) :]
    sizes = [level.size if level in own else 1 for level in levels]
    return value.reshape(*sizes, *[1] * (rank - len(shape)), *shape)


def fall_back(x: Any) -> Any:
    """Return the first example of a batched tensor and mark its levels as failed.

    Any other value is returned as it is.
    """
    if not is_batched(x):
        return x
    for level in x._mapped_levels:
        level.failed = True
    return first_example(x)


def fall_back_if_failed(x: Any) -> Any:
    """``fall_back`` for a batched tensor with a failed level; any other value is returned."""
    return fall_back(x) if any(level.failed for level in levels_of(x)) else x


def levels_of(x: Any) -> tuple[VmapLevel, ...]:
    """Levels of a batched tensor; none for any other value."""
    return x._mapped_levels if is_batched(x) else ()


def value_of(x: Any) -> Any:
    """Values of a batched tensor; any other value is returned as it is."""
    return x._value if is_batched(x) else x


def _call(func: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call ``func`` for all examples at once if that is possible, else for the first examples."""
    found = _call_at_once(func, args, options)
    if found is not NotImplemented:
        return found
    return func(*map_leaves(fall_back, args), **map_leaves(fall_back, options))


def _call_at_once(func: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call ``func`` for all examples at once, or return NotImplemented."""
    given = (*args, *options.values())
    form, op = getattr(func, "__name__", ""), getattr(func, "op", None)
    name = form if op is None else op.name
    elementwise = name == "detach" if op is None else op.is_elementwise
    if name == "__get__" and func in _attributes():
        return getattr(first_example(args[0]), _attributes()[func])
    if name in _EXAMPLE_METHODS and is_batched(args[0]):
        return getattr(first_example(args[0]), name)(*args[1:], **options)
    if any(level.failed for level in sorted_levels(given)):
        return NotImplemented
    try:
        if name == "__getitem__":
            return _batched_item(args[0], args[1])
        if elementwise and not _writes(op, form, args, options):
            is_first_fit = isinstance(given[0], Tensor) or form in _NUMBER_FIRST_FORMS
            if is_first_fit and _are_supported(op, given):
                return _elementwise(func, args, options)
    except _ERRORS:
        return NotImplemented
    return NotImplemented


@functools.cache
def _attributes() -> dict[Any, str]:
    """Getters of the properties that all examples share, with their names."""
    return {member(Tensor, name).__get__: name for name in _ATTRIBUTES}


def _writes(op: Any, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Whether a call changes a tensor, or is ``where(condition)``, which returns indices.

    ``name`` is that of the form: ``add_`` and ``__iadd__`` are forms of ``add``.
    """
    if name.startswith("__i") and name != "__invert__" or name.endswith("_") > name.endswith("__"):
        return True
    flag = op.plan.index.get("inplace", len(args)) if op is not None else len(args)
    return (
        "out" in options or "inplace" in options or len(args) > flag
        or (name == "where" and len(args) + len(options) < 3)
    )  # fmt: skip


def _are_supported(op: Any, given: tuple[Any, ...]) -> bool:
    """Whether all arguments are tensors or of ``_VALUE_TYPES``, with tensors as operands only."""
    tensors = sum(isinstance(v, Tensor) for v in given)
    known = all(isinstance(v, Tensor) or type(v) in _VALUE_TYPES for v in given)
    return known and tensors <= max(1, len(op.plan.tensors) if op is not None else 1)


def first_example(x: Any) -> Any:
    """Return the first example of a batched tensor, always the same object, so that writes stay.

    Any other value is returned as it is.
    """
    if not is_batched(x):
        return x
    if x._first is None:
        value = x._value
        # An example is an inference tensor only if the value is one, whatever the mode is now.
        with inference_mode(False) if value.requires_grad else nullcontext():
            x._first = value[(0,) * len(x._mapped_levels)]
    return x._first


def sorted_levels(values: Iterable[Any]) -> tuple[VmapLevel, ...]:
    """Levels of all values, the outermost first."""
    found = {level for value in values for level in levels_of(value)}
    return tuple(sorted(found, key=lambda level: level.number))


def _elementwise(func: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call an elementwise ``func`` for all examples at once.

    Returns:
        The batched result; NotImplemented if it could differ from the results for each example, as
        when type promotion differs.
    """
    tensors = [v for v in (*args, *options.values()) if isinstance(v, Tensor)]
    ranks = [value_of(t).ndim - len(levels_of(t)) for t in tensors]
    rank, levels = max(ranks), sorted_levels(tensors)
    # A tensor without dimensions promotes less than others, but a batched value has dimensions.
    if rank and min(ranks) == 0 and len({value_of(t).dtype for t in tensors}) > 1:
        return NotImplemented

    def align_operand(v: Any) -> Any:
        return align(v, levels, rank) if isinstance(v, Tensor) else v

    result = func(
        *map(align_operand, args), **{name: align_operand(v) for name, v in options.items()}
    )
    sizes = tuple(level.size for level in levels)
    if type(result) is not Tensor or result.shape[: len(sizes)] != sizes:
        return NotImplemented
    return batched_tensor(result, levels) if result.ndim == len(sizes) + rank else NotImplemented


def _batched_item(x: Any, index: Any) -> Any:
    """``x[index]`` for an index of integers, ``:`` and ``...``; otherwise NotImplemented.

    An integer may be a batched tensor or an integer tensor without dimensions.
    """
    items = list(index) if isinstance(index, tuple) else [index]
    x_levels, value = levels_of(x), value_of(x)
    rank = value.ndim - len(x_levels)  # dimensions of an example
    kinds = [_index_kind(item) for item in items]
    if "other" in kinds or kinds.count("rest") > 1 or len(items) > rank + ("rest" in kinds):
        return NotImplemented
    if "rest" in kinds:
        at = kinds.index("rest")
        items[at : at + 1] = [slice(None)] * (rank - len(items) + 1)
    items += [slice(None)] * (rank - len(items))
    indexed = [d for d in range(rank) if not isinstance(items[d], slice)]
    sliced = [d for d in range(rank) if isinstance(items[d], slice)]
    levels = sorted_levels([x, *items])
    # The levels come first, then the dimensions with an integer, then those with ``:``.
    order = [*range(len(x_levels)), *(len(x_levels) + d for d in (*indexed, *sliced))]
    indices: list[Any] = [slice(None)] * len(x_levels)  # so that the result is a view
    if any(isinstance(items[d], Tensor) for d in indexed):
        indices = [_example_indices(level, levels, value.device) for level in x_levels]
    indices += [align(items[d], levels, 0) if isinstance(items[d], Tensor) else items[d]
                for d in indexed]  # fmt: skip
    return batched_tensor(value.permute(order)[tuple(indices)], levels)


def _index_kind(item: Any) -> str:
    """Kind of an index's item: "rest" for ``...``, "whole" for ``:``, "number", or "other"."""
    if item is ...:
        return "rest"
    if isinstance(item, slice) and item == slice(None):
        return "whole"
    if isinstance(item, Tensor):
        value = value_of(item)
        number = value.ndim == len(levels_of(item)) and value.dtype.name in _INTEGERS
        return "number" if number else "other"
    return "number" if type(item) is int else "other"


def _example_indices(level: VmapLevel, levels: tuple[VmapLevel, ...], device: Any) -> Any:
    """Return the indices of the examples of ``level``, for an index with a dimension per level.

    The result has a dimension for each of ``levels``, of size 1 except for that of ``level``.
    """
    sizes = [level.size if other is level else 1 for other in levels]
    return NAMESPACES[""]["arange"](level.size, device=device).reshape(sizes)
