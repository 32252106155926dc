"""Levels: running calls of differentiated functions, and products with Jacobians.

A level replaces the arguments that it differentiates with respect to by its inputs: new tensors on
the same memory. So nested levels do not mix up each other's derivatives. When a level exits, a
result that depends on its inputs alone is detached, and a result that depends on a tensor from
outside the level keeps its ``grad_fn``.

``func`` uses one level for each call, and ``forward_ad`` one for a block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from ..core.tensor import Tensor
from ..graph.late_bound import LATE_BOUND
from ..graph.nodes import Node, NodeOutput
from ..graph.views import TRANSFORM, edge_of, set_kind
from ..state import (
    Variable, bind, enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled,
)  # fmt: skip
from ..state.bindings import contextmanager
from .function import FORWARD_MODE
from .functional import fill_missing, gradients, zeros_for

L = TypeVar("L", bound="Level")

#: Keys of the levels that are running in this context, the innermost last; a function that ``vmap``
#: runs has a key, too.
_ACTIVE: Variable[tuple[object, ...]] = Variable("levels", ())


class Level:
    """One call of a function that is differentiated.

    Attributes:
        key: Mark of the level's leaves; not the level itself, to avoid a reference cycle.
        recording: Whether grad mode was enabled when the level began, so that results may require
            grad outside of it.
        inputs: The tensors that replace the arguments that are differentiated.
    """

    def __init__(self) -> None:
        self.key: object = object()
        self.recording: bool = is_grad_enabled()
        self.inputs: tuple[Tensor, ...] = ()

    def wrap_input(self, x: Any) -> Tensor:
        """Return a new tensor on the memory of the argument ``x``, for ``inputs``."""
        if not isinstance(x, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
        if self.recording and x.requires_grad:
            view: Any = x.view_as(x)
            set_kind(view, TRANSFORM)
            return view  # type: ignore[no-any-return]
        return self.leaf(x.clone() if x.is_inference() else x)

    def leaf(self, x: Tensor) -> Tensor:
        """Return a leaf of this level on the memory of ``x``."""
        leaf = x.detach().requires_grad_()
        vars(leaf)["_level"] = self.key
        return leaf

    def export(self, tensor: Any, recording: bool | None = None) -> Any:
        """Return a result for the code outside, detached unless it requires grad there, too.

        Args:
            tensor: A tensor.
            recording: Whether it may require grad outside. Default: as when the level began.
        """
        if not isinstance(tensor, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(tensor)}")
        if not tensor.requires_grad:
            return tensor
        recording = self.recording if recording is None else recording
        return tensor if recording and self.is_recorded_outside(tensor) else tensor.detach()

    def is_recorded_outside(self, tensor: Tensor) -> bool:
        """Whether ``tensor`` depends on a tensor that requires grad outside this level."""
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

    def needs_recording(self, tensors: Iterable[Tensor]) -> bool:
        """Whether results computed from ``tensors`` may require grad outside this level."""
        outside = (t.requires_grad and self.is_recorded_outside(t) for t in tensors)
        return self.recording and any(outside)

    def gradients(self, output: Tensor) -> tuple[tuple[Tensor, ...], Tensor]:
        """Return the gradient of ``output``, of one element, for each input, and ``output``.

        All of them are exported.
        """
        record = self.needs_recording((output,))
        found = gradients((output,), self.inputs, None, record)
        filled = fill_missing(found, self.inputs, False, record, "back")
        if not record:  # neither the output nor a gradient requires grad outside
            return filled, output.detach() if output.requires_grad else output
        return tuple(map(self.export, filled)), output


@contextmanager
def enter_level(create: Callable[[], L]) -> Iterator[L]:
    """Run a block in the new level ``create()``, with gradients recorded whatever the modes are."""
    level = create()
    with bind(_ACTIVE, (*_ACTIVE.get(), level.key)), force_recording():
        yield level


@contextmanager
def transforming() -> Iterator[None]:
    """Run a block as a function that ``vmap`` runs: it has a key, but no inputs."""
    with bind(_ACTIVE, (*_ACTIVE.get(), object())):
        yield


def is_transforming() -> bool:
    """Whether a function that a transform differentiates or maps is running."""
    return bool(_ACTIVE.get())


def force_recording() -> Any:
    """Context manager: gradients are recorded inside, whatever the modes outside are."""
    return inference_mode(False) if is_inference_mode_enabled() else enable_grad()


def writable_input(input: Tensor) -> Tensor:
    """Return an alias of a level's input that is not a leaf, so that a function may write to it.

    A tensor with a node or a base outside the level is returned as it is: the write must reach
    these.
    """
    if input._node is not None or input._base is not None:
        return input
    alias = input.detach()
    data = alias._data
    op = LATE_BOUND.write_rules().assigned.rename("AliasBackward0")
    alias._node = Node(op, alias._xp, (input,), (None,), (), data.shape, data.dtype)
    alias._rg = True
    return alias


class JacobianProduct:
    """Product of tangents with the Jacobian of recorded outputs, by two backward passes.

    The first pass computes gradients ``back`` of the outputs with weights of zeros, which is linear
    in the weights; a call computes the gradient of ``back`` with respect to these weights, with the
    tangents as its own weights. See ``func.forward``.

    Args:
        level: The level in which the outputs were recorded; it has not exited.
        outputs: Results of the differentiated function.
    """

    def __init__(self, level: Level, outputs: tuple[Tensor, ...]) -> None:
        self.level = level
        self.outputs = outputs
        self.weights: tuple[Tensor, ...] = tuple(
            level.leaf(zeros_for(out)) if out.is_floating_point() or out.is_complex()
            else zeros_for(out) for out in outputs
        )  # fmt: skip
        self.variables: tuple[Tensor, ...] = tuple(w for w in self.weights if w.requires_grad)
        with bind(FORWARD_MODE, True), force_recording():
            self.back: tuple[Any, ...] = gradients(outputs, level.inputs, self.weights, True)

    def __call__(self, tangents: tuple[Tensor | None, ...], recording: bool) -> list[Tensor]:
        """Return the tangent of each output.

        Args:
            tangents: A tangent of each input of the level; None stands for zeros.
            recording: Whether the result may require grad outside the level.
        """
        pairs = [(b, t) for b, t in zip(self.back, tangents, strict=True)
                 if b is not None and t is not None]  # fmt: skip
        if not pairs or not self.variables:
            return [zeros_for(out) for out in self.outputs]
        back, vectors = zip(*pairs, strict=True)
        sources = (t for t in (*self.outputs, *vectors) if t.requires_grad)
        record = recording and any(map(self.level.is_recorded_outside, sources))
        with force_recording():
            found = iter(gradients(back, self.variables, vectors, record))
        products = tuple(next(found) if w.requires_grad else None for w in self.weights)
        filled = fill_missing(products, self.outputs, False, record, "back_trick")
        return [self.level.export(t, recording) for t in filled]


def check_tangent_shape(primal: Tensor, tangent: Tensor) -> None:
    """Raise a RuntimeError if a tangent and its primal differ in shape."""
    if primal.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the "
            f"original Tensor, this is not supported. Tensor is of size {list(primal.shape)} "
            f"while the given forward gradient is of size {list(tangent.shape)}."
        )
