"""Registering a hook of modules, with its options."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ...graph.hooks import RemovableHandle as RemovableHandle

Hook = Callable[..., Any]
Hooks = OrderedDict[int, Any]


class ModuleHandle(RemovableHandle):
    """Takes a hook away, and what its options were.

    Args:
        hooks: The hooks the new one was put among.
        options: Dictionaries that hold the ids of the hooks an option is set for.
    """

    def __init__(self, hooks: Hooks, options: tuple[Hooks, ...]) -> None:
        super().__init__(hooks)
        self.options = options

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        super().remove()
        for option in self.options:
            option.pop(self.id, None)


def add_hook(
    hooks: Hooks, hook: Any, *, prepend: bool = False, options: tuple[Hooks, ...] = ()
) -> RemovableHandle:
    """Put ``hook`` last, or first, among ``hooks`` and mark it in each of ``options``."""
    handle = ModuleHandle(hooks, options)
    hooks[handle.id] = hook
    for option in options:
        option[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle
