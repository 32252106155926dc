"""Hooks of tensors and nodes: tables, handles, calls, and checks of the returned values."""

from __future__ import annotations

import itertools
from typing import Any

from ..backends.weak_references import WeakValues


class RemovableHandle:
    """Handle that removes a hook by ``remove()``, or when a ``with`` block of it exits.

    Example:
        >>> x = tt.ones(2, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: grad * 2)
        >>> handle.remove()
    """

    _next_id = itertools.count().__next__

    def __init__(self, hooks: dict[int, Any]) -> None:
        self.hooks = hooks
        self.id: int = RemovableHandle._next_id()

    def hooks_dict_ref(self) -> dict[int, Any]:
        """The table that holds the hook of this handle, by the ids of the handles.

        Example:
            >>> handle = tt.ones(2, requires_grad=True).register_hook(print)
            >>> handle.id in handle.hooks_dict_ref()
            True
        """
        return self.hooks

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        self.hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def add_hook(hooks: dict[int, Any], hook: Any) -> RemovableHandle:
    """Add ``hook`` to an ordered table and return the handle that removes it."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


class LeafHooks(dict[int, Any]):
    """Hooks of a leaf, in order; the class has a weak reference to every table of a leaf."""

    _tables: WeakValues[int, LeafHooks] = WeakValues()

    def __init__(self) -> None:
        super().__init__()
        LeafHooks._tables[id(self)] = self

    @classmethod
    def in_use(cls) -> bool:
        """Whether any leaf has a hook; other threads may add tables at the same time."""
        for ref in cls._tables.refs():
            if ref():
                return True
        return False


class BeforeAccumulation:
    """Pre-hook of ``AccumulateGrad``, stored among the hooks of the leaf's gradient."""

    def __init__(self, hook: Any) -> None:
        self.hook = hook

    def __call__(self, g: Any) -> Any:
        result = self.hook((g,))
        return None if result is None else result[0]


class AfterAccumulation:
    """Hook of ``AccumulateGrad``, stored among the post-accumulate-grad hooks of the leaf."""

    def __init__(self, hook: Any) -> None:
        self.hook = hook


def check_returns_none(value: Any, leaf: Any) -> None:
    """Raise an error if a post-accumulate-grad hook returned a value other than None or its leaf.

    Raises:
        RuntimeError: If the value is a tensor.
        TypeError: If it is anything else.
    """
    if value is not None and value is not leaf:
        text = "Tensor post accumulate grad hooks should return None."
        if hasattr(value, "_data"):
            raise RuntimeError(text)
        raise TypeError(f"expected Variable, but hook returned {type(value).__name__!r}: {text}")


def check_count(hook: Any, values: Any, expected: int) -> None:
    """Check that a node's hook returned as many gradients as it was called with.

    Raises:
        TypeError: If the value is not a tuple.
        RuntimeError: If the tuple has another length.
    """
    if not isinstance(values, tuple):
        raise TypeError(f"expected tuple, but hook returned {type(values).__name__!r}")
    if len(values) != expected:
        raise RuntimeError(
            f"hook {hook_name(hook)!r} has returned an incorrect number of values (got "
            f"{len(values)}, but expected {expected})"
        )


def call_hook(hook: Any, of: str, *args: Any) -> Any:
    """Call a user's hook; an error that it raises gets a note that names the hook.

    Args:
        hook: The function.
        of: The kind of hook and its object, for the note: ``"hook of Linear"``.
        *args: Arguments of the hook.
    """
    try:
        return hook(*args)
    except Exception as error:
        error.add_note(f"in {hook_name(hook)!r}, a {of}")
        error._in_hook = True  # type: ignore[attr-defined]
        raise


def hook_name(hook: Any) -> str:
    """Name of a hook in messages."""
    return getattr(hook, "__name__", None) or repr(hook)


def call_tensor_hook(hook: Any, g: Any) -> Any:
    """Return ``hook(g)`` for the gradient ``g`` of a tensor, or ``g`` if the hook returns None.

    Raises:
        TypeError: If the hook returns anything but a tensor or None.
        RuntimeError: If it returns a tensor of another shape or dtype.
    """
    shape, dtype = g._form()
    result = call_hook(hook, f"hook of a tensor of shape {tuple(shape)}", g)
    if result is None:
        return g
    name = hook_name(hook)
    if not hasattr(result, "_form"):
        raise TypeError(f"expected Variable, but hook returned {type(result).__name__!r}")
    own_shape, own_dtype = result._form()
    if own_shape != shape:
        raise RuntimeError(f"hook {name!r} has changed the size of value")
    if own_dtype != dtype:
        raise RuntimeError(
            f"hook {name!r} has changed the type of value (was {g.dtype} got {result.dtype})"
        )
    return result
