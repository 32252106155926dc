"""Functions for the hooks of ``weight_norm`` and ``spectral_norm``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.tensor import Tensor
from ...state.tracebacks import short
from ..module import Module
from ..parameter import Parameter


@short
def check_no_hook(module: Module, kind: type[Any], what: str, name: str) -> None:
    """Raise RuntimeError if a hook of this class computes a parameter already.

    Args:
        module: The module.
        kind: Class of the hook.
        what: Name of the function that registers such hooks, for the error.
        name: Name of the parameter.
    """
    if _find_key(module, kind, name) is not None:
        raise RuntimeError(f"Cannot register two {what} hooks on the same parameter {name}")


@short
def pop_hook(module: Module, kind: type[Any], what: str, name: str) -> Any:
    """Remove and return the hook of this class that computes a parameter.

    Raises:
        ValueError: If there is no such hook.
    """
    key = _find_key(module, kind, name)
    if key is None:
        raise ValueError(f"{what} of '{name}' not found in {module}")
    return module._forward_pre_hooks.pop(key)


def _find_key(module: Module, kind: type[Any], name: str) -> int | None:
    """Return the key of a hook among the module's forward pre-hooks; None if there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            return key
    return None


@short
def replace_parts(module: Module, name: str, parts: Iterable[str], weight: Tensor) -> Module:
    """Replace the parts ``<name>_<part>`` of a computed weight by an ordinary parameter."""
    for attribute in (name, *(f"{name}_{part}" for part in parts)):
        delattr(module, attribute)
    module.register_parameter(name, Parameter(weight.detach()))
    return module
