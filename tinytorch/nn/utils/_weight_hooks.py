"""What the older normalisations share: one hook per parameter, and the way back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.tensor import Tensor
from ...state.tracebacks import short
from ..module import Module
from ..parameter import Parameter


@short
def check_none(module: Module, kind: type[Any], what: str, name: str) -> None:
    """RuntimeError if a hook of this kind, that of ``what``, computes a parameter already."""
    if _key(module, kind, name) is not None:
        raise RuntimeError(f"Cannot register two {what} hooks on the same parameter {name}")


@short
def taken_off(module: Module, kind: type[Any], what: str, name: str) -> Any:
    """The hook of this kind that computed a parameter.

    Raises:
        ValueError: If there is none.
    """
    key = _key(module, kind, name)
    if key is None:
        raise ValueError(f"{what} of '{name}' not found in {module}")
    return module._forward_pre_hooks.pop(key)


def _key(module: Module, kind: type[Any], name: str) -> int | None:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            return key
    return None


@short
def replace_parts(module: Module, name: str, parts: Iterable[str], weight: Tensor) -> Module:
    """Make ``weight`` the parameter again that was computed from parts of these names."""
    for attribute in (name, *(f"{name}_{part}" for part in parts)):
        delattr(module, attribute)
    module.register_parameter(name, Parameter(weight.detach()))
    return module
