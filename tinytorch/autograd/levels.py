"""Levels: the calls of differentiated functions that are under way, and products with Jacobians.

A level gives the function stand-ins for the arguments it differentiates by: tensors of its own,
on the same memory. So nested levels cannot take each other's derivatives for their own. When it
ends, its stand-ins count for nothing: a result that depends on them alone is cut off from the
graph, and one that depends on a tensor from outside keeps its place in it.

``func`` differentiates calls with them, and ``forward_ad`` a block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from ..core.tensor import Tensor
from ..graph.late_bound import LATE_BOUND
from ..graph.nodes import Node, NodeOutput
from ..graph.views import TRANSFORM, edge_of, set_kind
from ..state import (
    Variable,
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
)  # fmt: skip
from .function import PUSHING
from .functional import filled, gradients, zeros_for

L = TypeVar("L", bound="Level")

#: The keys of the levels whose functions are running in this context, the innermost last; a
#: function that is mapped has one, too.
_ACTIVE: Variable[tuple[object, ...]] = Variable("levels", ())


class Level:
    """One call of a function that is differentiated.

    Attributes:
        key: What marks its leaves; not itself, lest they hold each other.
        recording: Whether gradients were recorded outside, so that results may depend on it.
        given: The stand-ins for the tensors it is differentiated by.
    """

    def __init__(self) -> None:
        self.key: object = object()
        self.recording: bool = is_grad_enabled()
        self.given: tuple[Tensor, ...] = ()

    def stand_in(self, x: Any) -> Tensor:
        """A tensor in the place of ``x`` whose gradient this level takes."""
        if not isinstance(x, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
        if self.recording and x.requires_grad:
            view: Any = x.view_as(x)
            set_kind(view, TRANSFORM)
            return view  # type: ignore[no-any-return]
        return self.leaf(x.clone() if x.is_inference() else x)

    def leaf(self, x: Tensor) -> Tensor:
        """A leaf of this level's own on the memory of ``x``."""
        own = x.detach().requires_grad_()
        vars(own)["_level"] = self.key
        return own

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
            elif edge.__class__ is NodeOutput:
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
def entered(kind: Callable[[], L]) -> Iterator[L]:
    """Run a block as a new level of a kind: it is recorded, whatever the modes outside."""
    level = kind()
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
    """Return an alias of ``given`` that the function may write to, as it is no leaf.

    A tensor with a node or a base outside is returned as it is: a write must reach these.
    """
    if given._node is not None or given._base is not None:
        return given
    shown = given.detach()
    data = shown._data
    op = LATE_BOUND.write_rules().assigned.rename("AliasBackward0")
    shown._node = Node(op, shown._xp, (given,), (None,), (), data.shape, data.dtype)
    shown._rg = True
    return shown


class Push:
    """Product of tangents with the Jacobian of recorded outputs.

    Args:
        level: The level that the outputs were recorded at, which is still open.
        outputs: Results of the differentiated function.
    """

    def __init__(self, level: Level, outputs: tuple[Tensor, ...]) -> None:
        self.level = level
        self.outputs = outputs
        self.weights: tuple[Tensor, ...] = tuple(
            level.leaf(zeros_for(out)) if _varies(out) else zeros_for(out) for out in outputs
        )
        self.wanted: tuple[Tensor, ...] = tuple(w for w in self.weights if w.requires_grad)
        token = PUSHING.set(True)
        try:
            with recorded_anyway():
                self.back: tuple[Any, ...] = gradients(outputs, level.given, self.weights, True)
        finally:
            PUSHING.reset(token)

    def __call__(self, tangents: tuple[Tensor | None, ...], recording: bool) -> list[Tensor]:
        """A tangent for each output; None stands for zeros in the place of a tangent."""
        pairs = [(b, t) for b, t in zip(self.back, tangents, strict=True)
                 if b is not None and t is not None]  # fmt: skip
        if not pairs or not self.wanted:
            return [zeros_for(out) for out in self.outputs]
        back, given = zip(*pairs, strict=True)
        tied = (t for t in (*self.outputs, *given) if t.requires_grad)
        record = recording and any(map(self.level.is_tied, tied))
        with recorded_anyway():
            found = iter(gradients(back, self.wanted, given, record))
        every = tuple(next(found) if w.requires_grad else None for w in self.weights)
        done = filled(every, self.outputs, False, record, "back_trick")
        return [self.level.let_out(t, recording) for t in done]


def _varies(out: Tensor) -> bool:
    return out.is_floating_point() or out.is_complex()


def check_sizes(primal: Tensor, tangent: Tensor) -> None:
    """RuntimeError if a tangent has another shape than what it is of."""
    if primal.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the "
            f"original Tensor, this is not supported. Tensor is of size {list(primal.shape)} "
            f"while the given forward gradient is of size {list(tangent.shape)}."
        )
