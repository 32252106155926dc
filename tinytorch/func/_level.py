"""Levels of ``func``: calls of functions whose arguments and results are trees of tensors."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, ParamSpec, TypeVar

from ..autograd.levels import Level, enter_level, writable_input
from ..core.tensor import Tensor
from ._trees import Tree, flatten, map_leaves, unflatten

ArgNums = int | tuple[int, ...] | None


class CallLevel(Level):
    """One call of a differentiated function whose arguments are trees.

    Attributes:
        structure: Structure of the tree whose leaves are ``inputs``.
    """

    structure: Tree

    def arguments(
        self, args: tuple[Any, ...], argnums: ArgNums, writable: bool = False
    ) -> tuple[Any, ...]:
        """Set ``inputs`` and return the arguments to call the function with.

        Args:
            args: The user's arguments.
            argnums: Positions of the arguments to differentiate with respect to. None for all.
            writable: Whether the function may write to these, as in forward mode.
        """
        positions = normalize_argnums(range(len(args)) if argnums is None else argnums, len(args))
        leaves, self.structure = flatten(tuple(args[i] for i in positions))
        self.inputs = tuple(self.wrap_input(leaf) for leaf in leaves)
        passed = [writable_input(x) for x in self.inputs] if writable else self.inputs
        replaced = dict(zip(positions, unflatten(self.structure, passed), strict=True))
        return tuple(replaced[i] if i in replaced else detach_constants(args[i])
                     for i in range(len(args)))  # fmt: skip


def enter_call_level() -> AbstractContextManager[CallLevel]:
    """Run a block in a new ``CallLevel``, with gradients recorded whatever the modes are."""
    return enter_level(CallLevel)


def detach_constants(tree: Any) -> Any:
    """Detach the tensors of an argument that is not differentiated, except those that require grad.

    A write to a detached tensor does not make the argument a part of the level's graph.
    """

    def detach(x: Any) -> Any:
        if not isinstance(x, Tensor) or x.requires_grad:
            return x
        return x.clone() if x.is_inference() else x.detach()

    return map_leaves(detach, tree)


def normalize_argnums(argnums: Any, count: int) -> tuple[int, ...]:
    """Return the positions of ``argnums`` as a tuple of numbers from 0 to ``count - 1``.

    Raises:
        RuntimeError: If there is none, one occurs twice, or one is out of range.
    """
    if isinstance(argnums, range):
        return tuple(argnums)
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    several = argnums if isinstance(argnums, tuple) else (argnums,)
    positions = tuple(_normalize_argnum(i, count) for i in several)
    if not positions:
        raise RuntimeError("argnums must be non-empty")
    if len(set(positions)) != len(positions):
        raise RuntimeError(f"argnums elements must be unique, got {positions}")
    return positions


def _normalize_argnum(argnum: Any, count: int) -> int:
    """Return a position, which may be negative, as a number from 0 to ``count - 1``."""
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def split_aux(name: str, result: Any, has_aux: bool) -> tuple[Any, Any]:
    """Split a function's result into output and auxiliary values (None without ``has_aux``)."""
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return result


def flatten_output(name: str, output: Any) -> tuple[tuple[Tensor, ...], Tree]:
    """Return the tensors of a function's output, and its structure.

    Raises:
        RuntimeError: If the output is empty, None, or has a leaf that is not a tensor.
    """
    leaves, structure = flatten(output)
    if not leaves or (len(leaves) == 1 and leaves[0] is None):
        raise RuntimeError(
            f"{name}: Expected f to be a function that has non-empty output (got output = {leaves})"
        )
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{name}: expected f(*primals) to return only tensors, got unsupported type "
                f"{type(leaf)}"
            )
    return tuple(leaves), structure


def check_real(name: str, tree: Any, what: str) -> None:
    """Raise a RuntimeError if a tensor of a tree is complex; ``what`` names the tree."""
    for i, leaf in enumerate(flatten(tree)[0]):
        if isinstance(leaf, Tensor) and leaf.is_complex():
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened "
                f"input idx: {i}"
            )


Function = Callable[..., Any]
#: Parameters and result of the function that a transform accepts and of that which it returns.
P = ParamSpec("P")
R = TypeVar("R")
#: Type of the argument to differentiate with respect to, and of its gradient. The bound is the type
#: that pyright infers for parameters of a lambda.
A = TypeVar("A", bound=Any)
Aux = TypeVar("Aux")
