"""Levels of ``func``: calls whose arguments and results are trees of tensors."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, ParamSpec, TypeVar

from ..autograd.levels import Level, entered, writable_for
from ..core.tensor import Tensor
from ._trees import Tree, flatten, map_leaves, unflatten

ArgNums = int | tuple[int, ...] | None


class CallLevel(Level):
    """One call of a function whose arguments are trees.

    Attributes:
        structure: The tree whose leaves the stand-ins are.
    """

    structure: Tree

    def arguments(
        self, args: tuple[Any, ...], argnums: ArgNums, writable: bool = False
    ) -> tuple[Any, ...]:
        """``args`` with stand-ins for those that ``argnums`` says (default: all).

        ``writable``: whether the function may write to them, as it may in forward mode.
        """
        places = chosen(range(len(args)) if argnums is None else argnums, len(args))
        leaves, self.structure = flatten(tuple(args[i] for i in places))
        self.given = tuple(self.stand_in(leaf) for leaf in leaves)
        shown = [writable_for(given) for given in self.given] if writable else self.given
        replaced = dict(zip(places, unflatten(self.structure, shown), strict=True))
        return tuple(replaced[i] if i in replaced else self.others(args[i])
                     for i in range(len(args)))  # fmt: skip

    def others(self, tree: Any) -> Any:
        """What is not differentiated by; written to, it does not join this level's graph."""
        return map_leaves(_apart, tree)


def entered_call() -> AbstractContextManager[CallLevel]:
    """Run a block as the level of a call: it is recorded, whatever the modes outside."""
    return entered(CallLevel)


def _apart(x: Any) -> Any:
    if not isinstance(x, Tensor) or x.requires_grad:
        return x
    return x.clone() if x.is_inference() else x.detach()


def chosen(argnums: Any, count: int) -> tuple[int, ...]:
    """The places of the arguments that ``argnums`` names.

    Raises:
        RuntimeError: If it names none, one twice, or one that is not there.
    """
    if isinstance(argnums, range):
        return tuple(argnums)
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    several = argnums if isinstance(argnums, tuple) else (argnums,)
    places = tuple(_place(i, count) for i in several)
    if not places:
        raise RuntimeError("argnums must be non-empty")
    if len(set(places)) != len(places):
        raise RuntimeError(f"argnums elements must be unique, got {places}")
    return places


def _place(argnum: Any, count: int) -> int:
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def parted(name: str, result: Any, has_aux: bool) -> tuple[Any, Any]:
    """The output and the auxiliary values of what a function returned."""
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return result


def tensors_of(name: str, output: Any) -> tuple[tuple[Tensor, ...], Tree]:
    """The tensors a function returned, and the tree they are in; RuntimeError if there is none."""
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


def refuse_complex(name: str, tree: Any, what: str) -> None:
    """RuntimeError for a complex tensor in a tree."""
    for i, leaf in enumerate(flatten(tree)[0]):
        if isinstance(leaf, Tensor) and leaf.is_complex():
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened "
                f"input idx: {i}"
            )


Function = Callable[..., Any]
#: The arguments and the result of a function that a transform takes and gives back.
P = ParamSpec("P")
R = TypeVar("R")
#: An argument that is differentiated by, and so what the derivative is like. Its bound is what
#: pyright takes the arguments of a lambda for.
A = TypeVar("A", bound=Any)
Aux = TypeVar("Aux")
