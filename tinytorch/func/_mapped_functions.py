"""``Function.vmap``: a user-defined rule that computes a ``Function`` for all examples of ``vmap``.

If a program has a ``Function`` with such a rule, the first run of a function that is mapped gets
batched tensors, and ``Function.apply`` calls the rule with their values. After an operation that
cannot run for all examples at once, ``forward`` runs for each example instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..autograd.function import Function
from ..core.tensor import Tensor
from ..graph.inference import APPLYING
from ..state import bind
from ._batched import (
    VmapLevel, batch_over, batched_tensor, fall_back, levels_of, sorted_levels, value_of,
)  # fmt: skip
from ._trees import broadcast_prefix, flatten, map_leaves, unflatten
from ..state.bindings import contextmanager


class VmapInfo(NamedTuple):
    """Argument ``info`` of ``Function.vmap``.

    Attributes:
        batch_size: Number of examples.
        randomness: The argument ``randomness`` of ``vmap``.
    """

    batch_size: int
    randomness: str


@contextmanager
def intercept_apply(rule: Any) -> Iterator[None]:
    """While a block runs, make ``Function.apply`` call ``rule`` first."""
    with bind(APPLYING, rule):
        yield


def call_vmap_rule(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of ``cls.apply`` for all examples, by the rule of ``cls`` if it has one.

    It is NotImplemented if no argument is a batched tensor. Without a rule, or after a failure,
    ``cls.apply`` is called with the first examples.
    """
    leaves, structure = flatten(args)
    levels = sorted_levels(leaves)
    if not levels:
        return NotImplemented
    if kwargs or not _has_rule(cls) or any(level.failed for level in levels):
        return cls.apply(*map_leaves(fall_back, args), **map_leaves(fall_back, kwargs))
    level = levels[-1]
    for each in levels:
        each.has_rule = True
    dims = [0 if level in levels_of(leaf) else None for leaf in leaves]
    given = [
        leaf if dim is None else _unwrap_level(leaf) for leaf, dim in zip(leaves, dims, strict=True)
    ]
    info = VmapInfo(level.size, level.randomness)
    result = cls.vmap(info, unflatten(structure, dims), *unflatten(structure, given))
    return _wrap_result(result, level)


def has_vmap_rules() -> bool:
    """Whether the program has defined a ``Function`` with a rule."""
    return any(cls.vmap is not Function.vmap for cls in _subclasses(Function))


def _subclasses(cls: Any) -> Iterator[Any]:
    """Yield all subclasses of a class, direct or not."""
    for subclass in cls.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _has_rule(cls: Any) -> bool:
    """Whether a ``Function`` overrides ``vmap``."""
    overrides = cls.vmap is not Function.vmap
    if overrides and cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and "
            "an overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
            "overridden vmap staticmethod to avoid ambiguity."
        )
    return overrides


def _unwrap_level(leaf: Any) -> Any:
    """Return a batched tensor without its innermost level, whose examples are along dimension 0."""
    outer = levels_of(leaf)[:-1]
    return batched_tensor(value_of(leaf), outer) if outer else value_of(leaf)


def _wrap_result(result: Any, level: VmapLevel) -> Any:
    """Convert the result of a rule, ``(output, out_dims)``, to a tree of batched tensors."""
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with "
            f"pytree structure compatible with the output. Got a {type(result)} instead"
        )
    leaves, structure = flatten(result[0])
    dims = broadcast_prefix(result[1], structure)
    if dims is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) "
            f"tuple. Expected out_dims={result[1]} to be compatible with the structure of "
            f"`output`. out_dims has structure {flatten(result[1])[1]} but output has structure "
            f"{structure}."
        )
    batched = [_wrap_leaf(leaf, dim, level) for leaf, dim in zip(leaves, dims, strict=True)]
    return unflatten(structure, batched)


def _wrap_leaf(leaf: Any, dim: Any, level: VmapLevel) -> Any:
    """Return a batched tensor of the examples along ``dim`` of a leaf.

    A leaf that is not a tensor, or whose ``dim`` is None, is returned unchanged.
    """
    if dim is None or not isinstance(leaf, Tensor):
        return leaf
    rank = value_of(leaf).ndim - len(levels_of(leaf))
    return batch_over(leaf, dim % rank, level)
