"""``autograd.graph``: edges of the autograd graph, hooks for its saved tensors and gradients.

Example:
    >>> x = tt.tensor([3.0], requires_grad=True)
    >>> def pack(tensor):
    ...     return tensor.half()
    >>> with tt.autograd.graph.saved_tensors_hooks(pack, lambda half: half.float()):
    ...     y = x * x
    >>> y.backward()
    >>> x.grad
    tensor([6.])
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from ..core.tensor import Tensor
from ..graph.engine import CURRENT
from ..graph.grad_fn import GraphNode, grad_fn_of
from ..graph.hooks import RemovableHandle
from ..graph.nodes import Edge, NodeOutput
from ..graph.saved_tensors import HOOKS_FORBIDDEN, HOOK_STACK, Hooks, Packing
from ..graph.views import edge_of
from ..state import Variable as _Variable
from ..state import bind
from ..state.bindings import contextmanager

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks",
    "get_gradient_edge", "increment_version", "register_multi_grad_hook", "save_on_cpu",
    "saved_tensors_hooks",
]  # fmt: skip

Node = GraphNode


class GradientEdge(NamedTuple):
    """Edge of a tensor, which ``grad`` and ``backward`` accept in the place of the tensor.

    Attributes:
        node: ``grad_fn`` of the tensor; an ``AccumulateGrad`` for a leaf.
        output_nr: Index of the tensor among the node's results.
        ownership_token: Reference that keeps this part of the graph alive.
    """

    node: GraphNode
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return the edge of a tensor, which keeps the graph alive but not the tensor's memory.

    Raises:
        RuntimeError: If the tensor does not require grad.

    Example:
        >>> x = tt.ones(2, requires_grad=True)
        >>> y = x * 3
        >>> edge = tt.autograd.graph.get_gradient_edge(y)
        >>> tt.autograd.grad(y.sum(), edge)
        (tensor([1., 1.]),)
    """
    edge = edge_of(tensor)
    node = grad_fn_of(edge)
    if node is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    return GradientEdge(node, edge.index if isinstance(edge, NodeOutput) else 0, edge)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Increase the version of a tensor, or of each of several, after a change outside of autograd.

    An inference tensor has no version; it is left unchanged.

    Example:
        >>> x = tt.ones(2)
        >>> tt.autograd.graph.increment_version(x)
        >>> x._version
        1
    """
    for each in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if not each._inference:
            each._bump()


# -- saved tensors -------------------------------------------------------------------------------


class saved_tensors_hooks(Packing):
    """Pack and unpack the tensors that operations in a ``with`` block save for the backward pass.

    The hooks of the innermost block are called. They apply to the current thread or asyncio task.

    Args:
        pack_hook: Called with each tensor that an operation saves; its result is saved instead.
        unpack_hook: Called with that result when the gradient is computed; returns a tensor of the
            same values.

    Raises:
        TypeError: If a hook is not callable, or later if ``unpack_hook`` returns no tensor.
        RuntimeError: Inside ``disable_saved_tensors_hooks``, or later if ``pack_hook`` changes its
            argument in place.

    Example:
        >>> x = tt.tensor([2.0], requires_grad=True)
        >>> with tt.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(force=True), tt.tensor):
        ...     y = x ** 2
        >>> y.backward()
        >>> x.grad
        tensor([4.])
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        if not (callable(pack_hook) and callable(unpack_hook)):
            raise TypeError(
                "saved_tensors_hooks(): expected two functions, got "
                f"{type(pack_hook).__name__} and {type(unpack_hook).__name__}"
            )
        super().__init__(Hooks(pack_hook, unpack_hook))
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook


class save_on_cpu(saved_tensors_hooks):
    """Store the tensors that operations in a ``with`` block save in host memory.

    Args:
        pin_memory: Whether to use pinned memory, which the device reads faster. Default: False.
        device_type: Accepted; tensors of any device are stored. Default: ``"cuda"``.

    Example:
        >>> x = tt.ones(2, requires_grad=True)
        >>> with tt.autograd.graph.save_on_cpu():
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad
        tensor([2., 2.])
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[Any, Tensor]:
            host: Tensor = tensor.cpu()
            return tensor.device, host.pin_memory() if pin_memory else host

        super().__init__(pack, lambda packed: packed[1].to(packed[0]))


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Make hooks for saved tensors an error inside a ``with`` block.

    Args:
        error_message: Message of the RuntimeError that they raise.

    Raises:
        RuntimeError: If such hooks are active already.

    Example:
        >>> with tt.autograd.graph.disable_saved_tensors_hooks("not here"):
        ...     with tt.autograd.graph.save_on_cpu():
        ...         pass
        Traceback (most recent call last):
        RuntimeError: not here
    """
    if HOOK_STACK.get():
        raise RuntimeError(error_message)
    with bind(HOOKS_FORBIDDEN, error_message):
        yield


#: Whether a block of ``allow_mutation_on_saved_tensors`` is running.
_COPYING: _Variable[bool] = _Variable("copying_saved_tensors", False)


class _Copies:
    """Copies of the saved tensors; the value of ``allow_mutation_on_saved_tensors`` in ``with``."""

    def __init__(self) -> None:
        self._copies: list[Tensor] = []

    def _pack(self, tensor: Tensor) -> int:
        self._copies.append(tensor.clone())
        return len(self._copies) - 1

    def _unpack(self, index: int) -> Tensor:
        if index >= len(self._copies):
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in "
                "which the graph was originally recorded."
            )
        return self._copies[index]

    def clear(self) -> None:
        """Delete the copies."""
        self._copies.clear()


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_Copies]:
    """Allow in-place changes of tensors that were saved for a backward pass, inside a block.

    Saved tensors are copied, so that gradients are those of the values at recording. The backward
    pass has to run inside the block, too.

    Raises:
        RuntimeError: Inside another such block.

    Example:
        >>> x = tt.ones(2, requires_grad=True)
        >>> with tt.autograd.graph.allow_mutation_on_saved_tensors():
        ...     y = x.clone()
        ...     z = (y ** 2).sum()
        ...     y += 1
        ...     z.backward()
        >>> x.grad
        tensor([2., 2.])
    """
    if _COPYING.get():
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    copies = _Copies()
    try:
        with bind(_COPYING, True), saved_tensors_hooks(copies._pack, copies._unpack):
            yield copies
    finally:
        copies.clear()


# -- hooks on several tensors --------------------------------------------------------------------


class _MultiHandle(RemovableHandle):
    """Handle that removes the hooks of several tensors."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        super().__init__({})
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Remove the hooks; a second call does nothing."""
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[[Sequence[Tensor | None]], None] | Callable[[Tensor], None],
    *,
    mode: Literal["all", "any"] = "all",
) -> RemovableHandle:
    """Call ``fn`` in a backward pass once the gradients of several tensors are computed.

    Args:
        tensors: Tensors that require grad.
        fn: With ``mode="all"`` called with the list of gradients, None for tensors that the pass
            does not reach; with ``"any"`` called with the first gradient alone.
        mode: ``"all"`` or ``"any"``. Default: ``"all"``.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Raises:
        ValueError: For another mode.

    Example:
        >>> a, b = tt.ones(1, requires_grad=True), tt.ones(1, requires_grad=True)
        >>> handle = tt.autograd.graph.register_multi_grad_hook((a, b), print)
        >>> (a * b * 2).backward()
        [tensor([2.]), tensor([2.])]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    hook: Any = _AllHook(tensors, fn) if mode == "all" else _AnyHook(fn)
    hooks = [functools.partial(hook, i) for i in range(len(tensors))]
    return _MultiHandle([t.register_hook(h) for t, h in zip(tensors, hooks, strict=True)])


class _AnyHook:
    """Hook of several tensors that calls ``fn`` with the first gradient of each backward pass."""

    def __init__(self, fn: Callable[[Any], None]) -> None:
        self.fn = fn
        self.lock = threading.Lock()

    def __call__(self, index: int, grad: Tensor) -> None:
        """Receive the gradient of the tensor at ``index``."""
        task: Any = CURRENT.get()
        with self.lock:
            is_first = self not in task.stored
            task.stored[self] = True
        if is_first:
            self.fn(grad)


class _AllHook:
    """Hook of several tensors that calls ``fn`` with the list of gradients when it is complete."""

    def __init__(self, tensors: Sequence[Tensor], fn: Callable[[Any], None]) -> None:
        self.fn = fn
        self.edges: list[Edge] = [edge_of(t) for t in tensors]
        self.lock = threading.Lock()

    def __call__(self, index: int, grad: Tensor) -> None:
        """Store the gradient of the tensor at ``index``; call ``fn`` if it was the last one.

        The running backward pass stores the number of gradients that it has yet to compute, and
        the list of gradients with None for those that are missing.
        """
        task: Any = CURRENT.get()
        with self.lock:
            if self not in task.stored:
                reached = sum(task.reaches(edge) for edge in self.edges)
                task.stored[self] = reached, [None] * len(self.edges)
            missing, grads = task.stored[self]
            missing -= 1
            grads[index] = grad
            task.stored[self] = missing, grads
        if not missing:
            self.fn(grads)
