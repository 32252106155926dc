"""``autograd.Variable``: the wrapper of tensors that recorded gradients before 2018."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..warnings import warn
from ..graph.engine import CURRENT, call_after_backward


class _ExecutionEngine:
    """``Variable._execution_engine``, through which programs reach the running backward pass."""

    @staticmethod
    def queue_callback(callback: Callable[[], object]) -> None:
        """Call a function when the running backward pass is complete.

        Raises:
            RuntimeError: Outside of a backward pass.
        """
        call_after_backward(callback)

    @staticmethod
    def is_checkpoint_valid() -> bool:
        """Whether a reentrant checkpoint works: not in ``grad`` or ``backward(inputs=...)``."""
        task = CURRENT.get()
        return task is None or not task.capturing


class _EveryTensor(type):
    """Metaclass of ``Variable``: every tensor is an instance."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_EveryTensor):
    """A tensor on the memory of ``data``, for programs from before 2018.

    Args:
        data: A tensor. Default: an empty one.
        requires_grad: Whether the new tensor requires grad. Default: False.
        volatile: Without effect; a warning if true.

    Raises:
        TypeError: If ``data`` is not a tensor.

    Example:
        >>> x = tt.autograd.Variable(tt.ones(2), requires_grad=True)
        >>> isinstance(x, tt.autograd.Variable), x.requires_grad
        (True, True)
    """

    _execution_engine = _ExecutionEngine()

    def __new__(  # type: ignore[misc]
        cls, data: Tensor | None = None, requires_grad: bool = False, volatile: bool | None = None
    ) -> Tensor:
        if volatile:
            warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
        if data is None:
            data = Tensor()
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)
