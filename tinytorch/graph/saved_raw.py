"""Hooks for one tensor that a node saved: ``grad_fn._raw_saved_self.register_hooks``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .above import ABOVE
from .nodes import FREED, Node
from .saved_packing import Packed, PackedNode, SavedOutput, packed_of
from .saved_tensors import saved_arguments
from .views import edge_of

_TWICE = (
    "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one "
    "pair of hooks is allowed at a time."
)
_FREED = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values "
    "of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to "
    "access saved variables after calling backward."
)


class SavedTensor:
    """What a node keeps of a tensor for its backward pass.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.ones(2, requires_grad=True)
        >>> y = x.exp()
        >>> y.grad_fn._raw_saved_result.register_hooks(lambda t: t.numpy(force=True), tt.tensor)
        >>> y.sum().backward()
        >>> x.grad
        tensor([2.7183, 2.7183])
    """

    def __init__(self, node: Node, pack: Callable[[Any], None]) -> None:
        self._node = node
        self._pack = pack

    def register_hooks(
        self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]
    ) -> None:
        """Have it stored otherwise: as ``pack_hook`` makes it, at once.

        Args:
            pack_hook: Called with the tensor; its result is kept instead.
            unpack_hook: Called with that when the gradient is computed; gives a tensor.

        Raises:
            TypeError: If one is not callable, or later if ``unpack_hook`` gives no tensor.
            RuntimeError: If there are hooks already, or the graph was freed.
        """
        if not (callable(pack_hook) and callable(unpack_hook)):
            raise TypeError("register_hooks(): incompatible function arguments: expected two "
                            f"functions, got {pack_hook!r} and {unpack_hook!r}")  # fmt: skip
        if self._node.args is FREED:
            raise RuntimeError(_FREED)
        self._pack((pack_hook, unpack_hook))


def of_place(node: Node, place: int) -> SavedTensor:
    """That of the argument at ``place``; -1 for the result."""

    def pack(hooks: Any) -> None:
        packed = packed_of(node)
        own = node._extra().setdefault("hooked", set())
        if place in own or (packed is not None and not own):
            raise RuntimeError(_TWICE)
        if packed is not None:
            packed.restore(node)
        tensor = ABOVE.output_of(node).detach() if place < 0 else saved_arguments(node)[place]
        chosen = Packed(tensor, hooks, None if place < 0 else edge_of(tensor))
        if packed is None:
            packed = PackedNode(node, _result(node), (_same, _same), edge_of)
            node._extra()["packed"] = packed
        if place < 0:
            packed.out = chosen
        else:
            packed.arguments[place] = chosen
        own.add(place)
        packed.strip(node)

    return SavedTensor(node, pack)


def of_context(node: Node, ctx: Any) -> tuple[SavedTensor, ...]:
    """Those of what a user's ``Function`` gave to ``save_for_backward``."""
    return tuple(_of_item(node, ctx, i) for i in range(len(ctx._saved)))


def _of_item(node: Node, ctx: Any, i: int) -> SavedTensor:
    def pack(hooks: Any) -> None:
        saved = list(ctx._saved)
        tensor = saved[i]
        if isinstance(tensor, Packed):
            raise RuntimeError(_TWICE)
        if isinstance(tensor, SavedOutput):
            tensor.data = Packed(ctx._output(tensor).detach(), hooks, None)
        else:
            saved[i] = Packed(tensor, hooks, edge_of(tensor))
        ctx._saved = tuple(saved)

    return SavedTensor(node, pack)


def _result(node: Node) -> Any:
    out = None if node.out is None else ABOVE.output_of(node)
    if isinstance(out, tuple):
        return tuple(None if t is None else t.detach() for t in out)
    return None if out is None else out.detach()


def _same(tensor: Any) -> Any:
    return tensor
