"""``Function.vmap``: the rule by which a user's function runs for all examples of a ``vmap``.

While a program has a function with such a rule, ``vmap`` gives stand-ins for all examples to the
first run of what it maps, and the function calls the rule with the values that they hold. After an
operation that cannot run for all examples at once, ``forward`` runs for each example instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..autograd.function import Function
from ..core.tensor import Tensor
from ..graph.inference import APPLYING
from ._batched import Level, first_example, levels_of, mapped_over, stand_in, together, value_of
from ._trees import flatten, map_leaves, spread, unflatten


class VmapInfo(NamedTuple):
    """What ``Function.vmap`` gets to know.

    Attributes:
        batch_size: How many examples there are.
        randomness: As ``vmap`` was given it.
    """

    batch_size: int
    randomness: str


@contextmanager
def applying(rule: Any) -> Iterator[None]:
    """Have ``Function.apply`` call ``rule`` first while a block runs."""
    token = APPLYING.set(rule)
    try:
        yield
    finally:
        APPLYING.reset(token)


def by_rule(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Result of ``cls.apply`` for all examples at once; NotImplemented without stand-ins."""
    leaves, structure = flatten(args)
    levels = together(leaves)
    if not levels:
        return NotImplemented
    if kwargs or not _has_rule(cls) or any(level.failed for level in levels):
        return cls.apply(*map_leaves(first_example, args), **map_leaves(first_example, kwargs))
    level = levels[-1]
    for each in levels:
        each.has_rule = True
    dims = [0 if level in levels_of(leaf) else None for leaf in leaves]
    given = [leaf if dim is None else _opened(leaf) for leaf, dim in zip(leaves, dims, strict=True)]
    info = VmapInfo(level.size, level.randomness)
    result = cls.vmap(info, unflatten(structure, dims), *unflatten(structure, given))
    return _closed(result, level)


def have_rules() -> bool:
    """Whether the program has a function with a rule."""
    return any(cls.vmap is not Function.vmap for cls in _subclasses(Function))


def _subclasses(cls: Any) -> Iterator[Any]:
    for subclass in cls.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _has_rule(cls: Any) -> bool:
    own = cls.vmap is not Function.vmap
    if own and cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and "
            "an overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
            "overridden vmap staticmethod to avoid ambiguity."
        )
    return own


def _opened(leaf: Any) -> Any:
    """What a stand-in holds, with the examples of its innermost level along dimension 0."""
    outer = levels_of(leaf)[:-1]
    return stand_in(value_of(leaf), outer) if outer else value_of(leaf)


def _closed(result: Any, level: Level) -> Any:
    """The output of a rule as stand-ins."""
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with "
            f"pytree structure compatible with the output. Got a {type(result)} instead"
        )
    leaves, structure = flatten(result[0])
    dims = spread(result[1], structure)
    if dims is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) "
            f"tuple. Expected out_dims={result[1]} to be compatible with the structure of "
            f"`output`. out_dims has structure {flatten(result[1])[1]} but output has structure "
            f"{structure}."
        )
    made = [_over(leaf, dim, level) for leaf, dim in zip(leaves, dims, strict=True)]
    return unflatten(structure, made)


def _over(leaf: Any, dim: Any, level: Level) -> Any:
    if dim is None or not isinstance(leaf, Tensor):
        return leaf
    rank = value_of(leaf).ndim - len(levels_of(leaf))
    return mapped_over(leaf, dim % rank, level)
