"""Grad mode and inference mode: whether operations are recorded for ``backward``."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any, Self, TypeVar, overload

from .context_managers import AssignedScope, Scope
from .scopes import Frame, Settings, Slot, thread
from .tracebacks import shorten

_F = TypeVar("_F", bound=Callable[..., Any])

GRAD: Slot[bool] = Slot("grad")
INFERENCE: Slot[bool] = Slot("inference")
scoped_grad: Callable[[], Frame[bool] | None] = GRAD.var.get
_scoped_inference = INFERENCE.var.get

_ON: Settings = ((GRAD, True),)
_OFF: Settings = ((GRAD, False),)
# Leaving inference mode inside it turns recording on again, as in torch.
_NO_INFERENCE: Settings = ((GRAD, True), (INFERENCE, False))

#: Called with True when the first block of inference mode, or of a vmap, is entered in any thread
#: or task, and with False when the last one has exited. In between, new tensors are marked.
when_inference: list[Callable[[bool], None]] = []
_marking: bool | None = False
_vmap_blocks = 0
_inference_blocks: list[weakref.ref[_Block]] = []
_counting = threading.RLock()  # reentrant: a collection may enter a block while another is counted


def count_block(change: int) -> None:
    """Count a block of a vmap that is entered (1) or exits (-1)."""
    global _vmap_blocks
    with _counting:
        _vmap_blocks += change
        _update_marking()


def forget_ended_blocks() -> None:
    """Stop marking new tensors if no block of inference mode or of a vmap is left."""
    with _counting:
        _inference_blocks[:] = [ref for ref in _inference_blocks if ref() is not None]
        _update_marking()


def _update_marking() -> None:
    """Start or stop marking new tensors, and call ``when_inference`` if that changes.

    New tensors are marked while any thread or task is in a block of inference mode or of a vmap.
    """
    global _marking
    needed = _vmap_blocks > 0 or bool(_inference_blocks)
    if needed is not _marking:
        _marking = None  # a KeyboardInterrupt before the last call makes the next update repeat all
        for notify in when_inference:
            notify(needed)
        _marking = needed


class _Block:
    """Object that lives as long as a block of inference mode, or a copy of its context."""

    __slots__ = ("__weakref__",)


class _Inference(tuple[tuple[Slot[Any], Any], ...]):
    """Settings of a block in inference mode, and of every copy of its context.

    The only references to them are the block's and those of the copies. When they are collected,
    no code runs inside the block any more.
    """

    def __new__(cls) -> Self:
        made = super().__new__(cls, ((GRAD, False), (INFERENCE, True)))
        made.block = _Block()
        with _counting:
            _inference_blocks.append(weakref.ref(made.block))
            _update_marking()
        return made

    block: _Block


def grad_enabled() -> bool:
    """Whether operations are recorded in this thread and task; True in a new thread.

    In inference mode they are not recorded, also inside ``enable_grad``.
    """
    frame = scoped_grad()
    if frame is None:
        return not GRAD.by_thread or thread.grad is not False
    on = frame.value if frame.entry.live else GRAD.explicit() is not False
    if _scoped_inference() is None and not INFERENCE.by_thread:
        return on
    return on and not inference_enabled()


def inference_enabled() -> bool:
    """Whether inference mode is on in this thread and task; False in a new thread."""
    frame = _scoped_inference()
    if frame is None:
        return INFERENCE.by_thread and thread.inference is True
    if frame.entry.live:
        return frame.value
    return INFERENCE.explicit() is True


def is_grad_enabled() -> bool:
    """Whether grad mode is on, in which operations are recorded unless inference mode is on.

    Example:
        >>> with tt.no_grad():
        ...     tt.is_grad_enabled()
        False
        >>> tt.is_grad_enabled()
        True
    """
    frame = scoped_grad()
    if frame is None:
        return not GRAD.by_thread or thread.grad is not False
    return frame.value if frame.entry.live else GRAD.explicit() is not False


def is_inference_mode_enabled() -> bool:
    """Whether this code runs in inference mode.

    Example:
        >>> with tt.inference_mode():
        ...     tt.is_inference_mode_enabled()
        True
    """
    return inference_enabled()


class _ScopeWithoutArguments(Scope):
    """Scope without arguments, which as a decorator needs no parentheses."""

    __slots__ = ()
    takes_classes = True

    @overload
    def __new__(cls, orig_func: None = None) -> Self: ...
    @overload
    def __new__(cls, orig_func: _F) -> _F: ...  # type: ignore[misc]  # the decorated function
    def __new__(cls, orig_func: Any = None) -> Any:
        try:
            made = super().__new__(cls)
            return made if orig_func is None else made(orig_func)
        except Exception as error:
            shorten(error)
            raise

    def __init__(self) -> None:
        super().__init__()


class no_grad(_ScopeWithoutArguments):
    """Record nothing inside a ``with`` block or a function: results do not require grad.

    It holds for the current task, and not for threads that are started inside. As a decorator,
    with or without parentheses, it works on functions, coroutines and generators.

    Example:
        >>> x = tt.ones(2, requires_grad=True)
        >>> with tt.no_grad():
        ...     y = x * 2
        >>> y.requires_grad
        False
        >>> @tt.no_grad
        ... def double(x):
        ...     return x * 2
        >>> double(x).requires_grad
        False
    """

    __slots__ = ()

    def _settings(self) -> Settings:
        return _OFF


class enable_grad(_ScopeWithoutArguments):
    """Switch grad mode on inside a ``with`` block or a function, such as one inside ``no_grad``.

    It holds for the current task. As a decorator, with or without parentheses, it works on
    functions, coroutines and generators.

    Example:
        >>> x = tt.ones(2, requires_grad=True)
        >>> with tt.no_grad():
        ...     with tt.enable_grad():
        ...         y = x * 2
        >>> y.requires_grad
        True
    """

    __slots__ = ()

    def _settings(self) -> Settings:
        return _ON


class inference_mode(Scope):
    """Switch recording off, as ``no_grad``, for results that will never take part in a graph.

    Inside, grad mode is off. ``enable_grad`` turns it on, but operations are still not recorded.
    With ``mode=False`` inference mode is off and grad mode is on inside.

    Args:
        mode: Whether inference mode is on in the block. Default: True. A function, when
            ``inference_mode`` decorates without parentheses.

    Raises:
        TypeError: If ``mode`` is neither a bool nor a function.

    Example:
        >>> x = tt.ones(2, requires_grad=True)
        >>> with tt.inference_mode():
        ...     y = x * 2
        >>> y.requires_grad
        False
    """

    __slots__ = ("mode",)
    takes_classes = True

    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    @overload
    def __new__(cls, mode: _F) -> _F: ...  # type: ignore[misc]  # the decorated function
    def __new__(cls, mode: Any = True) -> Any:
        if isinstance(mode, bool):
            return super().__new__(cls)
        if callable(mode):
            return cls()(mode)
        raise TypeError(_not_bool("inference_mode", "mode", mode))

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self.mode: bool = mode

    def _settings(self) -> Settings:
        return _Inference() if self.mode else _NO_INFERENCE


class set_grad_enabled(AssignedScope):
    """Switch grad mode on or off: at once, for a ``with`` block, or for a function.

    As a statement it holds for this thread from now on, or inside a scope such as ``no_grad``
    until that block exits.

    Args:
        mode: Whether operations are recorded.

    Raises:
        TypeError: If ``mode`` is not a bool.

    Example:
        >>> with tt.set_grad_enabled(False):
        ...     tt.is_grad_enabled()
        False
        >>> tt.is_grad_enabled()
        True
    """

    __slots__ = ("mode",)
    takes_classes = True

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(_not_bool("set_grad_enabled", "enabled", mode))
        self.mode: bool = mode
        super().__init__()

    def _settings(self) -> Settings:
        return _ON if self.mode else _OFF


def _not_bool(function: str, argument: str, value: object) -> str:
    """Return the error's message for an argument that must be a bool."""
    return (
        f"{function}(): argument '{argument}' (position 1) must be bool, not {type(value).__name__}"
    )
