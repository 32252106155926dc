"""``swap_tensors``: two tensors that change places."""

from __future__ import annotations

import weakref
from typing import Any

from .tensor import Tensor

__all__ = ["swap_tensors"]


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Give each of two tensors what the other is: class, values, gradient, attributes.

    Whoever holds one of them holds the other's content afterwards. Views of them, and graphs they
    are leaves of, are not followed: make the exchange where there are none.

    Args:
        t1: A tensor.
        t2: Another.

    Raises:
        RuntimeError: If one of them has weak references, or they are of classes with other slots.

    Example:
        >>> import tinytorch as tt
        >>> a, b = tt.nn.Parameter(tt.zeros(2)), tt.ones(3)
        >>> tt.utils.swap_tensors(a, b)
        >>> a, type(b).__name__
        (tensor([1., 1., 1.]), 'Parameter')
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    if _slots(t1) != _slots(t2):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    contents = [_content(t1), _content(t2)]
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    for tensor, content in ((t1, contents[1]), (t2, contents[0])):
        for name, value in content.items():
            setattr(tensor, name, value)


def _slots(tensor: Any) -> set[str]:
    named = (vars(cls).get("__slots__", ()) for cls in type(tensor).__mro__)
    every = {name for slots in named for name in ((slots,) if isinstance(slots, str) else slots)}
    return every - {"__weakref__", "__dict__"}


def _content(tensor: Any) -> dict[str, Any]:
    """What a tensor is made of, by the names of its slots and ``__dict__``."""
    found = {name: getattr(tensor, name) for name in _slots(tensor) if hasattr(tensor, name)}
    return {"__dict__": dict(tensor.__dict__), **found}


def set_module(obj: Any, mod: str) -> None:
    """Say that a class or function is a module's.

    Args:
        obj: The class or function.
        mod: The module's name.

    Example:
        >>> import tinytorch as tt
        >>> class Layer: ...
        >>> tt.utils.set_module(Layer, "layers")
        >>> Layer
        <class 'layers.Layer'>

    Raises:
        TypeError: If ``mod`` is no text.
    """
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod
