"""Tensors in memory that processes share."""

from __future__ import annotations

from ...core.sharing import share
from ...core.tensor import Tensor
from ...core.waiting import in_memory
from ...dispatch.op import composite


@composite(namespaces=("Tensor",))
def is_shared(input: Tensor) -> bool:
    """Whether other processes can be given the memory: after ``share_memory_``, and on a GPU.

    Example:
        >>> import tinytorch as tt
        >>> tt.ones(1, device="cpu").is_shared()
        False
    """
    return bool(input._xp.is_shared(in_memory(input)))


@composite(namespaces=("Tensor",))
def share_memory_(input: Tensor) -> Tensor:
    """Move the memory of ``input`` to where processes share it, and return ``input``.

    A process that is given the tensor, as an argument, through a queue or by a fork, sees what
    others write to it. Tensors that are parts of the same memory move with it; arrays of NumPy's
    stay. On a GPU, and if it is shared already, there is nothing to do.

    Raises:
        NotImplementedError: On a backend of the CPU whose memory cannot be shared, and where the
            system cannot pass memory to other processes.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.zeros(3, device="cpu")
        >>> view = x[1:]
        >>> x.share_memory_().is_shared(), view.is_shared()
        (True, True)
        >>> view += 1
        >>> x
        tensor([0., 1., 1.])
    """
    share([input])
    return input
