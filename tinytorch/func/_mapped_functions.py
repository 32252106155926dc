"""``Function.vmap``: what a user's function does with all examples of a ``vmap`` at once.

Where ``vmap`` runs a function for one example after the other, the first call of a ``Function``
that has such a rule ends that, and the outermost ``vmap`` tries stand-ins for all examples, with
which the rule is called. Where something else meets them that is not known to be the same for all
at once, the examples run one by one after all, and ``forward`` does with each what it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..autograd.function import Function
from ..core.tensor import Tensor
from ..graph.inference import APPLYING
from ._batched import CannotBatch, Level, levels_of, mapped_over, stand_in, together, value_of
from ._trees import flatten, spread, unflatten


class VmapInfo(NamedTuple):
    """What ``Function.vmap`` gets to know.

    Attributes:
        batch_size: How many examples there are.
        randomness: As ``vmap`` was given it.
    """

    batch_size: int
    randomness: str


class Wanted(BaseException):
    """Takes the call of a function that has a rule to the outermost ``vmap``."""


class RuleFailed(BaseException):
    """Takes the error of a rule past an attempt that may fail for other reasons."""


@contextmanager
def applying(rule: Any) -> Iterator[None]:
    """Have every ``Function`` that is applied in a block ask ``rule`` first."""
    token = APPLYING.set(rule)
    try:
        yield
    finally:
        APPLYING.reset(token)


def want(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function asks that is called for each example."""
    if _has_rule(cls):
        raise Wanted
    return NotImplemented


def by_rule(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function asks that is called with stand-ins for all examples, or with none."""
    leaves, structure = flatten(args)
    levels = together(leaves)
    if not levels:
        return NotImplemented
    if kwargs or not _has_rule(cls):
        raise CannotBatch
    level, outer = levels[-1], len(levels) > 1
    dims = [0 if level in levels_of(leaf) else None for leaf in leaves]
    given = [leaf if dim is None else _opened(leaf) for leaf, dim in zip(leaves, dims, strict=True)]
    info = VmapInfo(level.size, level.randomness)
    try:
        result = cls.vmap(info, unflatten(structure, dims), *unflatten(structure, given))
        return _closed(result, level)
    except Exception as error:
        if outer:  # the stand-ins of others may be what it met
            raise
        raise RuleFailed from error


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
