"""Levels: the calls of differentiated functions that are under way, and what belongs to them.

A level gives the function stand-ins for the arguments it differentiates by: tensors of its own,
on the same memory. So nested levels cannot take each other's derivatives for their own. When it
ends, its stand-ins count for nothing: a result that depends on them alone is cut off from the
graph, and one that depends on a tensor from outside keeps its place in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from ..autograd.functional import filled, gradients
from ..core.tensor import Tensor
from ..graph.above import ABOVE
from ..graph.nodes import Node, Slot
from ..graph.views import TRANSFORM, edge_of, fix
from ..state import (
    Variable,
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
)  # fmt: skip
from ._trees import Tree, flatten, map_leaves, unflatten

#: The keys of the levels whose functions are running in this context, the innermost last; a
#: function that is mapped has one, too.
_ACTIVE: Variable[tuple[object, ...]] = Variable("levels", ())

ArgNums = int | tuple[int, ...] | None


class Level:
    """One call of a function that is differentiated.

    Attributes:
        key: What marks its leaves; not itself, lest they hold each other.
        recording: Whether gradients were recorded outside, so that results may depend on it.
        given: The stand-ins for the tensors it is differentiated by.
        structure: The tree that they are the leaves of.
    """

    def __init__(self) -> None:
        self.key: object = object()
        self.recording: bool = is_grad_enabled()
        self.given: tuple[Tensor, ...] = ()
        self.structure: Tree

    # -- what goes in ------------------------------------------------------------------------

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

    def stand_in(self, x: Any) -> Tensor:
        """A tensor in the place of ``x`` whose gradient this level takes."""
        if not isinstance(x, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
        if self.recording and x.requires_grad:
            view: Any = x.view_as(x)
            fix(view, TRANSFORM)
            return view  # type: ignore[no-any-return]
        return self.leaf(x.clone() if x.is_inference() else x)

    def leaf(self, x: Tensor) -> Tensor:
        """A leaf of this level's own on the memory of ``x``."""
        own = x.detach().requires_grad_()
        vars(own)["_level"] = self.key
        return own

    def others(self, tree: Any) -> Any:
        """What is not differentiated by; written to, it does not join this level's graph."""
        return map_leaves(_apart, tree)

    # -- what comes out ----------------------------------------------------------------------

    def let_out(self, tensor: Any, recording: bool | None = None) -> Any:
        """A result as those outside get it.

        Args:
            tensor: A tensor.
            recording: Whether it may depend on what is outside. Default: as when the level began.
        """
        if not isinstance(tensor, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(tensor)}")
        if not tensor.requires_grad:
            return tensor
        wanted = self.recording if recording is None else recording
        return tensor if wanted and self.is_tied(tensor) else tensor.detach()

    def is_tied(self, tensor: Tensor) -> bool:
        """Whether ``tensor`` depends on one that requires grad outside this level."""
        levels = [key for key in _ACTIVE.get() if key is not self.key]
        pending, seen = [edge_of(tensor)], set()
        while pending:
            edge = pending.pop()
            if edge is None or id(edge) in seen:
                continue
            seen.add(id(edge))
            if edge.__class__ is Node:
                pending.extend(edge.edges)
            elif edge.__class__ is Slot:
                pending.append(edge.node)
            else:
                owner = vars(edge).get("_level")
                if owner is None or owner in levels:
                    return True
        return False

    def depends(self, tensors: Iterable[Tensor]) -> bool:
        """Whether what is computed from ``tensors`` has to be recorded for those outside."""
        return self.recording and any(t.requires_grad and self.is_tied(t) for t in tensors)

    # -- the backward pass -------------------------------------------------------------------

    def gradients(self, output: Tensor) -> tuple[tuple[Tensor, ...], Tensor]:
        """The gradient of ``output``, of one element, for each stand-in, and ``output`` let out."""
        record = self.depends((output,))
        found = gradients((output,), self.given, None, record)
        done = filled(found, self.given, False, record, "back")
        if not record:  # then nothing depends on what is outside
            return done, output.detach() if output.requires_grad else output
        return tuple(map(self.let_out, done)), output


@contextmanager
def entered() -> Iterator[Level]:
    """Run a block as a level: it is recorded, whatever the modes outside."""
    level = Level()
    token = _ACTIVE.set((*_ACTIVE.get(), level.key))
    try:
        with recorded_anyway():
            yield level
    finally:
        _ACTIVE.reset(token)


@contextmanager
def transforming() -> Iterator[None]:
    """Run a block as a function that is mapped, which gives its arguments no level of their own."""
    token = _ACTIVE.set((*_ACTIVE.get(), object()))
    try:
        yield
    finally:
        _ACTIVE.reset(token)


def is_transforming() -> bool:
    """Whether a function that is differentiated or mapped is running."""
    return bool(_ACTIVE.get())


def recorded_anyway() -> Any:
    """Have gradients recorded inside a block, whatever the modes outside."""
    return inference_mode(False) if is_inference_mode_enabled() else enable_grad()


def writable_for(given: Tensor) -> Tensor:
    """What the function gets for the stand-in ``given``: its value, no leaf but made of one.

    One that depends on what is outside stays as it is: that would have to know of the change.
    """
    if given._node is not None or given._base is not None:
        return given
    shown = given.detach()
    data = shown._data
    op = ABOVE.writing().assigned.called("AliasBackward0")
    shown._node = Node(op, shown._xp, (given,), (None,), (), data.shape, data.dtype)
    shown._rg = True
    return shown


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
