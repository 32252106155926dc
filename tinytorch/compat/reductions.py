"""Tensors between processes: a descriptor of their memory is sent instead of the elements.

The pickles of ``multiprocessing``, for a queue, a pipe or a new process, follow these rules after
they are registered. A process that sends a descriptor must live until it is received.

Reference: https://docs.pytorch.org/docs/stable/multiprocessing.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import backends
from ..backends.numpy import memory as shared_memory
from ..core import pickling
from ..core.pickling import Memory
from ..core.relocation import share
from ..core.tensor import Tensor
from ..nn.parameter import Buffer, Parameter
from ..ops.create.typed_storage import TypedStorage
from ..ops.create.untyped_storage import UntypedStorage

__all__ = ["init_reductions", "reduce_storage", "reduce_tensor"]


def check_leaf(tensor: Tensor) -> None:
    """Check that a tensor can be sent: gradients cannot be sent back from another process.

    Raises:
        RuntimeError: If it is the recorded result of an operation.

    Example:
        >>> from tinytorch.multiprocessing.reductions import check_leaf
        >>> check_leaf(tt.ones(2, requires_grad=True))
    """
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd "
            "does not support crossing process boundaries.  If you just want to transfer the "
            "data, call detach() on the tensor before serializing (e.g., putting it on the queue)."
        )


def reduce_tensor(tensor: Tensor) -> Any:
    """Reduce a tensor for a pickle between processes; its memory is shared from then on.

    Args:
        tensor: A leaf, or a tensor that does not require grad.

    Raises:
        RuntimeError: If it is the recorded result of an operation.

    Example:
        >>> from tinytorch.multiprocessing.reductions import reduce_tensor
        >>> x = tt.ones(2, device="cpu")
        >>> function, arguments = reduce_tensor(x)
        >>> function(*arguments)
        tensor([1., 1.])
    """
    check_leaf(tensor)
    if tensor._xp.can_be_shared:
        share([tensor])
    return tensor.__reduce_ex__(5)


def reduce_storage(storage: UntypedStorage) -> Any:
    """Reduce the memory of tensors for a pickle between processes; it is shared from then on.

    Example:
        >>> from tinytorch.multiprocessing.reductions import reduce_storage
        >>> function, arguments = reduce_storage(tt.UntypedStorage([1, 2]))
        >>> function(*arguments).tolist()
        [1, 2]
    """
    if storage._xp.can_be_shared:
        storage.share_memory_()
    return storage.__reduce_ex__(5)


def _reduce_memory(memory: Memory) -> Any:
    return place(memory, lambda segment: segment)


def place(memory: Memory, spell: Any) -> Any:
    """Reduce memory for a pickle between processes: a part of a shared segment, or the elements.

    Args:
        memory: The memory.
        spell: Function from the segment to its value in the pickle, which has to be unpickled as
            the array of all its bytes.
    """
    segment = shared_memory.segment_of(memory.flat) if memory.xp.can_be_shared else None
    if segment is None:
        return memory.__reduce__()
    start = memory.xp.address(memory.flat) - memory.xp.address(shared_memory.root_of(segment))
    dtype, backend = memory.xp.dtype_of(memory.flat), pickling.backend_spec(memory.xp)
    return _restore_memory, (spell(segment), start, memory.flat.nbytes, dtype, backend)


def _restore_memory(root: Any, start: int, nbytes: int, dtype: Any, backend: Any) -> Memory:
    """Return the memory of ``nbytes`` bytes from ``start`` on in a shared segment.

    ``root`` is the array of all bytes of the segment; ``backend`` specifies the backend.
    """
    xp = backends.load(backend)
    return Memory(root[start : start + nbytes].view(xp.native_dtype(dtype)), xp)


def _reduce_segment(segment: shared_memory.Segment) -> Any:
    """Reduce a shared segment to its file descriptor, duplicated for the other process."""
    from multiprocessing import reduction

    return _attach_segment, (reduction.DupFd(segment.descriptor),)


def _attach_segment(descriptor: Any) -> Any:
    return shared_memory.attach(descriptor.detach())


def init_reductions() -> None:
    """Register all rules with ``multiprocessing``, if memory can be passed between processes.

    Example:
        >>> from tinytorch.multiprocessing import reductions
        >>> reductions.init_reductions()
    """
    # Imported here: the import hook calls ``register`` of this module during that import.
    from multiprocessing import reduction

    register(reduction)


def register(module: Any) -> None:
    """Register the rules with ``multiprocessing.reduction``, after its import."""
    if not shared_memory.POSSIBLE:
        return
    rules: dict[type, Callable[[Any], Any]] = {
        Tensor: reduce_tensor, Parameter: reduce_tensor, Buffer: reduce_tensor,
        UntypedStorage: reduce_storage, TypedStorage: reduce_storage,
        Memory: _reduce_memory, shared_memory.Segment: _reduce_segment,
    }  # fmt: skip
    for kind, rule in rules.items():
        module.ForkingPickler.register(kind, rule)
