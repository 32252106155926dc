"""What switches recording on and off, as ``torch.autograd.grad_mode`` has it.

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
    """False: a backward pass runs in the thread that asks for it.

    Example:
        >>> tt.autograd.is_multithreading_enabled()
        False
    """
    return False


class set_multithreading_enabled:  # as torch calls it
    """Accepted, as a function and as a context, and without effect.

    Single operations use several threads where that is faster, but a backward pass takes one
    after the other, which is what False asks for.

    Args:
        mode: Whether PyTorch may walk the graphs of several devices at once.

    Raises:
        TypeError: If ``mode`` is no bool.

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
        """Nothing to do."""

    def __exit__(self, *exception: object) -> None:
        """Nothing to undo."""

    def clone(self) -> set_multithreading_enabled:
        """Another one like it.

        Example:
            >>> with tt.autograd.set_multithreading_enabled(False) as mode:
            ...     pass
            >>> tt.autograd.set_multithreading_enabled(True).clone().mode
            True
        """
        return type(self)(self.mode)
