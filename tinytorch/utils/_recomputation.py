"""Regions of ``utils.checkpoint``, whose saved tensors are recomputed in the backward pass.

A region replaces the hooks for saved tensors (see ``graph.saved_tensors.Hooks``) while the
function is called. It packs a node as a whole: ``Node.args`` is an index alone. When the backward
pass visits the first node, the function is called again, and each node takes what it needs from
the node of the same index in the second call.
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
from ..graph.saved_tensors import Packing, Recording, detach_at, saved_arguments, version_of
from ..state import enable_grad, grad_enabled
from ..state.tracebacks import InternalError

if TYPE_CHECKING:
    from ..graph.engine import GraphTask
    from ..graph.nodes import Edge, Node

NOTHING: AbstractContextManager[Any] = contextlib.nullcontext()

#: Metadata of what one node saved, which must be the same in both calls: its backend; for each
#: tensor the shape, the dtype and the index of the device.
_Metadata = list[Any]


class CheckpointError(RuntimeError):
    """Error of a checkpointed function whose recomputation differs from the first call."""

    __module__ = "tinytorch.utils.checkpoint"


class _AllRecomputed(InternalError):
    """Raised to end the second call: everything that was saved has been recomputed."""


class Region:
    """One checkpointed call, which is repeated with the same random numbers and autocast state.

    Args:
        function: The checkpointed function.
        args: Its positional arguments.
        kwargs: Its keyword arguments.
        preserve: Whether both calls draw the same random numbers.
        context: Context manager for the second call.
    """

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
        preserve: bool, context: AbstractContextManager[Any],
    ) -> None:  # fmt: skip
        self.function, self.args, self.kwargs = function, args, kwargs
        self.context = context
        self.states = random._save_states() if preserve else []
        self.autocast = autocast_state()
        self.versions = [
            (tensor, version_of(tensor))
            for tensor in args
            if isinstance(tensor, Tensor) and not tensor._inference
        ]
        self.early_stop = self.checked = True
        #: Metadata by index: of a node, or of a single tensor that a ``Function`` saved.
        self.metadata: list[_Metadata] = []
        #: By index: recomputed outside a backward pass and not taken yet.
        self.recomputed: dict[int, Any] = {}
        # Key of the same dict in a backward pass; this object as the key would be kept alive.
        self.key = object()

    def call(self, context: AbstractContextManager[Any], early_stop: bool, checked: bool) -> Any:
        """Call the function for the first time.

        Args:
            context: Context manager for the call.
            early_stop: Whether the second call stops once everything is recomputed.
            checked: Whether the metadata of both calls are compared.
        """
        self.early_stop, self.checked = early_stop, checked
        Recording.needs_current = True
        with Packing(self):
            if context is NOTHING:
                result = self.function(*self.args, **self.kwargs)
            else:
                with context:
                    result = self.function(*self.args, **self.kwargs)
        self.states = random._select_moved(self.states)
        return result

    # -- interface of hooks ----------------------------------------------------------------

    def pack(self, tensor: Tensor) -> int:
        """Return the index of a tensor, which is saved instead of it."""
        self.metadata.append(_tensor_metadata(tensor))
        return len(self.metadata) - 1

    def unpack(self, index: int) -> Tensor:
        """Return the saved tensor of an index; the first call recomputes all saved tensors."""
        tensor: Tensor = self.take(index, CURRENT.get())
        return tensor

    def pack_node(self, node: Node, out: Any, edge_of: Callable[[Any], Edge]) -> None:
        """Replace everything that ``node`` saved by an index.

        Args:
            node: The node.
            out: Ignored, as ``edge_of``: both are part of the interface of the hooks.
            edge_of: Ignored.
        """
        metadata = self.metadata
        index = _SavedIndex(self, len(metadata), node)
        metadata.append(_node_metadata(node))
        node.args = index
        node.saved = ()
        node.versions = node.out = node.out_version = None

    # -- the second call -------------------------------------------------------------------

    def take(self, index: int, task: GraphTask | None) -> Any:
        """Remove and return what was saved under an index; recompute if it is missing.

        Args:
            index: The index.
            task: The backward pass; None outside one.
        """
        items = self.recomputed if task is None else task.stored.setdefault(self.key, {})
        if index not in items:
            items.clear()
            items.update(enumerate(self._recompute()))
        return items.pop(index)

    def _recompute(self) -> list[Any]:
        """Call the function again, with the random states of the first call.

        Returns:
            Everything that the second call saves, by index: a tensor, or the ``args``, ``saved``
            and ``out`` of a node.

        Raises:
            CheckpointError: If the metadata of both calls differ.
        """
        self._check_versions()
        second = _Recomputation(len(self.metadata) if self.early_stop else -1)
        before = random._save_states() if self.states else []
        random._restore_states(self.states)
        try:
            with Packing(second):
                self._call_again()
        except _AllRecomputed:
            pass
        finally:
            random._restore_states(before)
        if second.metadata != self.metadata:
            self._compare(second.metadata)
        return second.items

    def _call_again(self) -> None:
        """Call the function with grad enabled, the first call's autocast, and ``self.context``."""
        # Without a change of state no scope is entered.
        is_same_state = grad_enabled() and autocast_state() == self.autocast
        if is_same_state and self.context is NOTHING:
            self.function(*self.args, **self.kwargs)
            return
        with enable_grad(), AutocastState(self.autocast), self.context:
            self.function(*self.args, **self.kwargs)

    def _check_versions(self) -> None:
        """Check that the arguments have not been modified in place since the first call."""
        for tensor, version in self.versions:
            if version_of(tensor) != version:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an "
                    f"inplace operation: [Tensor of shape {list(tensor.shape)}] is at version "
                    f"{tensor._version}; expected version {version} instead. It is an argument of "
                    "a checkpointed function."
                )

    def _compare(self, second: list[_Metadata]) -> None:
        """Raise a ``CheckpointError`` that describes how the metadata of both calls differ.

        Differences other than in the number of tensors are ignored unless `checked`.
        """
        # An entry has the backend, and three values for each tensor.
        counts = [[len(entry) // 3 for entry in each] for each in (self.metadata, second)]
        if counts[0] != counts[1]:
            raise CheckpointError(
                "tinytorch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\nNumber of tensors saved during forward: "
                f"{sum(counts[0])}\nNumber of tensors saved during recomputation: "
                f"{sum(counts[1])}."
            )
        pairs = zip(_describe(self.metadata), _describe(second), strict=True)
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


class _SavedIndex:
    """Index of everything that a node saved; it replaces ``Node.args`` between the two calls.

    Args:
        region: The checkpointed call.
        index: The index.
        node: The node.
    """

    __slots__ = ("bare", "index", "region")

    def __init__(self, region: Region, index: int, node: Node) -> None:
        self.region = region
        self.index = index
        # A node's name can depend on its arguments; then keep those that are not arrays.
        has_fixed_name = node.op.backward_name.__class__ is str
        self.bare = () if has_fixed_name else _arguments_without_saved(node)

    def strip(self, node: Node) -> None:
        """Replace everything that ``node`` saved by this index."""
        node.args = self
        node.saved = ()
        node.out = None

    def restore(self, node: Node, task: GraphTask | None = None) -> None:
        """Set what ``node`` saved to the recomputed values, for one visit of the backward pass.

        Args:
            node: The node.
            task: The backward pass; None outside one.
        """
        region, index = self.region, self.index
        items = region.recomputed if task is None else task.stored.get(region.key)
        item = items.pop(index, None) if items else None
        node.args, saved, node.out = region.take(index, task) if item is None else item
        if task is None or task.create_graph:
            node.saved = saved
            node.saved = _attach_saved(node)


def _attach_saved(node: Node) -> tuple[Tensor, ...]:
    """Saved tensors of ``node``, attached to the graph at the edges of its arguments."""
    op, edges = node.op, node.edges
    if op.sequence is not None and op.sequence in op.differentiable:
        edge_at = {op.sequence: edges}
    else:
        edge_at = dict(zip(op.differentiable, edges, strict=True))
    saved: list[Tensor] = []
    for position, value in enumerate(saved_arguments(node)):
        if isinstance(value, Tensor):
            saved.append(detach_at(value, edge_at.get(position)))
        elif position == op.sequence and position in op.saved_positions:
            saved += map(detach_at, value, edge_at.get(position, [None] * len(value)))
    return tuple(saved)


def _arguments_without_saved(node: Node) -> tuple[Any, ...]:
    """Arguments of ``node`` with None instead of the arrays that it saved."""
    bare = list(node.args)
    for position in node.op.saved_positions:
        value = bare[position]
        bare[position] = (None,) * len(value) if value.__class__ is tuple else None
    return tuple(bare)


class _Recomputation:
    """Hooks of the second call, which collect what is saved.

    Args:
        limit: Number of items after which the call is stopped; -1 for no limit.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.items: list[Any] = []
        self.metadata: list[_Metadata] = []

    def pack(self, tensor: Tensor) -> Tensor:
        """Collect a tensor, and save it detached from the graph."""
        detached = tensor.detach()
        self.items.append(detached)
        self.metadata.append(_tensor_metadata(tensor))
        if len(self.items) == self.limit:
            raise _AllRecomputed
        return detached

    def unpack(self, tensor: Tensor) -> Tensor:
        """Return the tensor itself."""
        return tensor

    def pack_node(self, node: Node, out: Any, edge_of: Callable[[Any], Edge]) -> None:
        """Collect everything that ``node`` saved; end the call after the last item.

        Args:
            node: The node.
            out: Ignored, as ``edge_of``: both are part of the interface of the hooks.
            edge_of: Ignored.
        """
        items = self.items
        items.append((node.args, node.saved, node.out))
        self.metadata.append(_node_metadata(node))
        if len(items) == self.limit:
            raise _AllRecomputed


def _tensor_metadata(tensor: Tensor) -> _Metadata:
    """Metadata of one tensor: its backend, shape, dtype and the index of its device."""
    data, xp = tensor._data, tensor._xp
    return [xp, data.shape, data.dtype, xp.device_index(data)]


def _node_metadata(node: Node) -> _Metadata:
    """Metadata of all arguments and results that ``node`` saved, in the form of ``_Metadata``.

    The index of the device is None on the CPU.
    """
    xp, out = node.xp, node.out
    metadata = [xp]
    for tensor in node.saved:
        data = tensor._data
        metadata += data.shape, data.dtype, None
    if out.__class__ is tuple:
        for data in out:
            if data is not None:
                metadata += data.shape, data.dtype, None
    elif out is not None:
        metadata += out.shape, out.dtype, None
    if xp.device_type != "cpu":
        results = out if out.__class__ is tuple else (out,)
        arrays = [*(tensor._data for tensor in node.saved), *(r for r in results if r is not None)]
        metadata[3::3] = map(xp.device_index, arrays)
    return metadata


def _describe(all_metadata: list[_Metadata]) -> list[str]:
    """Texts of the shape, dtype and device of each saved tensor."""
    return [
        f"{(Size(shape), xp.dtype_of_native(dtype), str(device(xp.device_type, index)))}"
        for xp, *entries in all_metadata
        for shape, dtype, index in zip(entries[::3], entries[1::3], entries[2::3], strict=True)
    ]
