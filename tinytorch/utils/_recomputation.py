"""Regions of ``utils.checkpoint`` whose saved tensors are computed again in the backward pass.

A region replaces the hooks for saved tensors (see ``graph.saved_tensors.Hooks``) while the
function is called. It packs a node as a whole: what stands in ``Node.args`` is an index alone. The
first node that the backward pass visits has the function called again, and takes from the node of
the same index there what it needs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from .. import random
from ..core.device import device
from ..core.tensor import Size, Tensor
from ..dispatch.autocast import AutocastState, autocast_state
from ..graph.engine import CURRENT
from ..graph.saved_tensors import (
    Packing,
    Recording,
    detach_at,
    saved_arguments,
    version_of,
)
from ..state import enable_grad, grad_enabled
from ..state.tracebacks import InternalError

if TYPE_CHECKING:
    from ..graph.engine import GraphTask
    from ..graph.nodes import Edge, Node

NOTHING: AbstractContextManager[Any] = contextlib.nullcontext()

#: What both calls must agree on in what one node saved: its backend; for each tensor the shape, the
#: dtype and the number of the device.
_Facts = list[Any]


class CheckpointError(RuntimeError):
    """A function did not compute the second time what it had computed the first time."""

    __module__ = "tinytorch.utils.checkpoint"


class _Enough(InternalError):
    """Everything that was saved has been computed again."""


class Region:
    """One checkpointed call, which can be repeated with the same random numbers and casts."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        preserve: bool,
        context: AbstractContextManager[Any],
    ) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        self.context = context
        self.states = random._states() if preserve else []
        self.autocast = autocast_state()
        self.versions = [
            (tensor, version_of(tensor))
            for tensor in args
            if isinstance(tensor, Tensor) and not tensor._inference
        ]
        self.early_stop = self.checked = True
        #: By index, facts of what a node saved, or a user's ``Function`` as a single tensor.
        self.facts: list[_Facts] = []
        #: By index, what was computed again outside of a pass and not taken yet.
        self.again: dict[int, Any] = {}
        # Key of the same in a pass, which would keep this object alive if it were the key.
        self.key = object()

    def call(self, context: AbstractContextManager[Any], early_stop: bool, checked: bool) -> Any:
        """Call the function for the first time, inside a context."""
        self.early_stop, self.checked = early_stop, checked
        Recording.needs_current = True
        with Packing(self):
            if context is NOTHING:
                result = self.function(*self.args, **self.kwargs)
            else:
                with context:
                    result = self.function(*self.args, **self.kwargs)
        self.states = random._drawn(self.states)
        return result

    # -- in the place of hooks -------------------------------------------------------------

    def pack(self, tensor: Tensor) -> int:
        """Keep the index of a tensor alone."""
        self.facts.append(_facts_of_tensor(tensor))
        return len(self.facts) - 1

    def unpack(self, index: int) -> Tensor:
        """The tensor of an index, computed again with all others if need be."""
        tensor: Tensor = self.take(index, CURRENT.get())
        return tensor

    def pack_node(self, node: Node, out: Any, edge_of: Callable[[Any], Edge]) -> None:
        """Let ``node`` keep the index of what it saved alone."""
        facts = self.facts
        place = _Place(self, len(facts), node)
        facts.append(_facts_of(node))
        node.args = place
        node.saved = ()
        node.versions = node.out = node.out_version = None

    # -- the second call -------------------------------------------------------------------

    def take(self, index: int, task: GraphTask | None) -> Any:
        """Remove and return what was saved under an index, computed again if need be."""
        again = self.again if task is None else task.stored.setdefault(self.key, {})
        if index not in again:
            again.clear()
            again.update(enumerate(self._recompute()))
        return again.pop(index)

    def _recompute(self) -> list[Any]:
        self._check_versions()
        second = _Second(len(self.facts) if self.early_stop else -1)
        before = random._states() if self.states else []
        random._restore(self.states)
        try:
            with Packing(second):
                self._call_again()
        except _Enough:
            pass
        finally:
            random._restore(before)
        if second.facts != self.facts:
            self._compare(second.facts)
        return second.items

    def _call_again(self) -> None:
        as_before = grad_enabled() and autocast_state() == self.autocast
        if as_before and self.context is NOTHING:
            self.function(*self.args, **self.kwargs)
            return
        with enable_grad(), AutocastState(self.autocast), self.context:
            self.function(*self.args, **self.kwargs)

    def _check_versions(self) -> None:
        for tensor, version in self.versions:
            if version_of(tensor) != version:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an "
                    f"inplace operation: [Tensor of shape {list(tensor.shape)}] is at version "
                    f"{tensor._version}; expected version {version} instead. It is an argument of "
                    "a checkpointed function."
                )

    def _compare(self, second: list[_Facts]) -> None:
        counts = [[len(facts) // 3 for facts in each] for each in (self.facts, second)]
        if counts[0] != counts[1]:
            raise CheckpointError(
                "tinytorch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\nNumber of tensors saved during forward: "
                f"{sum(counts[0])}\nNumber of tensors saved during recomputation: "
                f"{sum(counts[1])}."
            )
        pairs = zip(_describe(self.facts), _describe(second), strict=True)
        differing = [
            f"tensor at position {i}:\nsaved metadata: {first}\nrecomputed metadata: {again}"
            for i, (first, again) in enumerate(pairs)
            if first != again
        ]
        if self.checked and differing:
            raise CheckpointError(
                "tinytorch.utils.checkpoint: Recomputed values for the following tensors have "
                "different metadata than during the forward pass.\n" + "\n".join(differing)
            )


class _Place:
    """The index of everything that a node saved; it stands in ``Node.args``."""

    __slots__ = ("bare", "index", "region")

    def __init__(self, region: Region, index: int, node: Node) -> None:
        self.region = region
        self.index = index
        #: The arguments of the node that are no arrays, for names that depend on them.
        self.bare = () if node.op.backward_name.__class__ is str else _without_saved(node)

    def strip(self, node: Node) -> None:
        """Stand in the place of everything that ``node`` saved."""
        node.args = self
        node.saved = ()
        node.out = None

    def restore(self, node: Node, task: GraphTask | None = None) -> None:
        """Give ``node`` what it saved, computed again, for one visit."""
        region, index = self.region, self.index
        again = region.again if task is None else task.stored.get(region.key)
        item = again.pop(index, None) if again else None
        node.args, saved, node.out = region.take(index, task) if item is None else item
        if task is None or task.create_graph:
            node.saved = saved
            node.saved = _at_edges(node)


def _at_edges(node: Node) -> tuple[Tensor, ...]:
    """The saved tensors of ``node`` in the place in the graph that its arguments have."""
    op, edges = node.op, node.edges
    if op.sequence is not None and op.sequence in op.differentiable:
        at = {op.sequence: edges}
    else:
        at = dict(zip(op.differentiable, edges, strict=True))
    placed: list[Tensor] = []
    for position, value in enumerate(saved_arguments(node)):
        if isinstance(value, Tensor):
            placed.append(detach_at(value, at.get(position)))
        elif position == op.sequence and position in op.saved_positions:
            placed += map(detach_at, value, at.get(position, [None] * len(value)))
    return tuple(placed)


def _without_saved(node: Node) -> tuple[Any, ...]:
    """The arguments of ``node`` without the arrays that it saved."""
    bare = list(node.args)
    for position in node.op.saved_positions:
        value = bare[position]
        bare[position] = (None,) * len(value) if value.__class__ is tuple else None
    return tuple(bare)


class _Second:
    """Collects what is saved in the second call, which is not packed; in the place of hooks."""

    def __init__(self, enough: int) -> None:
        #: After so many items the call is stopped.
        self.enough = enough
        self.items: list[Any] = []
        self.facts: list[_Facts] = []

    def pack(self, tensor: Tensor) -> Tensor:
        """Note a tensor, and save it without its place in the graph."""
        detached = tensor.detach()
        self.items.append(detached)
        self.facts.append(_facts_of_tensor(tensor))
        if len(self.items) == self.enough:
            raise _Enough
        return detached

    def unpack(self, tensor: Tensor) -> Tensor:
        """The tensor itself."""
        return tensor

    def pack_node(self, node: Node, out: Any, edge_of: Callable[[Any], Edge]) -> None:
        """Note what ``node`` saved."""
        items = self.items
        items.append((node.args, node.saved, node.out))
        self.facts.append(_facts_of(node))
        if len(items) == self.enough:
            raise _Enough


def _facts_of_tensor(tensor: Tensor) -> _Facts:
    data, xp = tensor._data, tensor._xp
    return [xp, data.shape, data.dtype, xp.device_index(data)]


def _facts_of(node: Node) -> _Facts:
    """Facts of everything that ``node`` saved of its arguments and its result or results."""
    xp, out = node.xp, node.out
    facts = [xp]
    for tensor in node.saved:
        data = tensor._data
        facts += data.shape, data.dtype, None
    if out.__class__ is tuple:
        for data in out:
            if data is not None:
                facts += data.shape, data.dtype, None
    elif out is not None:
        facts += out.shape, out.dtype, None
    if xp.device_type != "cpu":
        results = out if out.__class__ is tuple else (out,)
        arrays = [*(tensor._data for tensor in node.saved), *(r for r in results if r is not None)]
        facts[3::3] = map(xp.device_index, arrays)
    return facts


def _describe(all_facts: list[_Facts]) -> list[str]:
    return [
        f"{(Size(shape), xp.dtype_of_native(dtype), str(device(xp.device_type, index)))}"
        for xp, *facts in all_facts
        for shape, dtype, index in zip(facts[::3], facts[1::3], facts[2::3], strict=True)
    ]
