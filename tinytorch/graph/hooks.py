"""Hooks of tensors and nodes: tables, handles, calls, and checks of the results."""

from __future__ import annotations

import itertools
from typing import Any

from ..backends.weak_references import WeakValues


class RemovableHandle:
    """Takes a hook away again; also a context manager.

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
        """The hooks among which the one of this handle was put, by the ids of their handles.

        Example:
            >>> handle = tt.ones(2, requires_grad=True).register_hook(print)
            >>> handle.id in handle.hooks_dict_ref()
            True
        """
        return self.hooks

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        self.hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def add_hook(hooks: dict[int, Any], hook: Any) -> RemovableHandle:
    """File ``hook`` in an ordered table and return the handle that removes it."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


class LeafHooks(dict[int, Any]):
    """The hooks of a leaf, in order; a pass asks whether any leaf has some."""

    _tables: WeakValues[int, LeafHooks] = WeakValues()

    def __init__(self) -> None:
        super().__init__()
        LeafHooks._tables[id(self)] = self

    @classmethod
    def in_use(cls) -> bool:
        """Whether there is a hook in a table; other threads may make tables meanwhile."""
        for ref in cls._tables.refs():
            if ref():
                return True
        return False


class BeforeAccumulation:
    """A hook of ``AccumulateGrad`` among those that take a leaf's gradient."""

    def __init__(self, hook: Any) -> None:
        self.hook = hook

    def __call__(self, g: Any) -> Any:
        result = self.hook((g,))
        return None if result is None else result[0]


class AfterAccumulation:
    """A hook of ``AccumulateGrad`` among those that take the leaf."""

    def __init__(self, hook: Any) -> None:
        self.hook = hook


def check_nothing(value: Any, leaf: Any) -> None:
    """Refuse what a hook returned that is called after accumulation, but for the leaf itself."""
    if value is not None and value is not leaf:
        text = "Tensor post accumulate grad hooks should return None."
        if hasattr(value, "_data"):
            raise RuntimeError(text)
        raise TypeError(f"expected Variable, but hook returned {type(value).__name__!r}: {text}")


def check_count(hook: Any, values: Any, expected: int) -> None:
    """Refuse what a node's hook returned that is not as many gradients as it was given.

    Raises:
        TypeError: If it is no tuple.
        RuntimeError: If it is one of another length.
    """
    if not isinstance(values, tuple):
        raise TypeError(f"expected tuple, but hook returned {type(values).__name__!r}")
    if len(values) != expected:
        raise RuntimeError(
            f"hook {name_of(hook)!r} has returned an incorrect number of values (got "
            f"{len(values)}, but expected {expected})"
        )


def call_hook(hook: Any, of: str, *args: Any) -> Any:
    """What a user's hook returns; an error of its gets a note that names the hook.

    Args:
        hook: The function.
        of: What it hangs on, for the note: ``"hook of Linear"``.
        *args: What it is called with.
    """
    try:
        return hook(*args)
    except Exception as error:
        error.add_note(f"in {name_of(hook)!r}, a {of}")
        error._in_hook = True  # type: ignore[attr-defined]
        raise


def name_of(hook: Any) -> str:
    """What texts call a hook."""
    return getattr(hook, "__name__", None) or repr(hook)


def hooked(hook: Any, g: Any) -> Any:
    """What a user's hook makes of the gradient ``g``, or ``g`` itself if it returns None.

    Raises:
        TypeError: If it returns no tensor.
        RuntimeError: If it returns one of another shape or dtype.
    """
    result = call_hook(hook, f"hook of a tensor of shape {tuple(g._data.shape)}", g)
    if result is None:
        return g
    name = name_of(hook)
    if not hasattr(result, "_data"):
        raise TypeError(f"expected Variable, but hook returned {type(result).__name__!r}")
    if result._data.shape != g._data.shape:
        raise RuntimeError(f"hook {name!r} has changed the size of value")
    if result._data.dtype != g._data.dtype:
        raise RuntimeError(
            f"hook {name!r} has changed the type of value (was {g.dtype} got {result.dtype})"
        )
    return result
