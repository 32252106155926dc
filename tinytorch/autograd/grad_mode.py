"""Context managers of grad mode, and PyTorch's switch for multithreaded backward passes.

Example:
    >>> from tinytorch.autograd.grad_mode import no_grad
    >>> with no_grad():
    ...     tt.is_grad_enabled()
    False
"""

from __future__ import annotations

from ..state import enable_grad as enable_grad
from ..state import inference_mode as inference_mode
from ..state import no_grad as no_grad
from ..state import set_grad_enabled as set_grad_enabled

__all__ = [
    "enable_grad", "inference_mode", "is_multithreading_enabled", "no_grad", "set_grad_enabled",
    "set_multithreading_enabled",
]  # fmt: skip


def is_multithreading_enabled() -> bool:
    """False: a backward pass runs in the thread that calls it.

    Example:
        >>> tt.autograd.is_multithreading_enabled()
        False
    """
    return False


class set_multithreading_enabled:
    """Function and context manager that is accepted and has no effect.

    A backward pass always runs one operation after the other, as PyTorch's does for False. A single
    operation uses several threads if that is faster.

    Args:
        mode: Whether PyTorch may run the backward passes of several devices at once.

    Raises:
        TypeError: If ``mode`` is not a bool.

    Example:
        >>> x = tt.ones(2, requires_grad=True)
        >>> with tt.autograd.set_multithreading_enabled(False):
        ...     x.sum().backward()
        >>> x.grad
        tensor([1., 1.])
    """

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                "set_multithreading_enabled(): argument 'mode' must be bool, not "
                f"{type(mode).__name__}"
            )
        self.mode = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass

    def clone(self) -> set_multithreading_enabled:
        """Return a copy of this object.

        Example:
            >>> with tt.autograd.set_multithreading_enabled(False) as mode:
            ...     pass
            >>> tt.autograd.set_multithreading_enabled(True).clone().mode
            True
        """
        return type(self)(self.mode)
