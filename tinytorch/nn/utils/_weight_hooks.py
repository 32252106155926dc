"""Functions for the hooks of ``weight_norm`` and ``spectral_norm``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.tensor import Tensor
from ...state.tracebacks import short
from ..module import Module
from ..parameter import Parameter


@short
def check_no_hook(module: Module, kind: type[Any], function_name: str, name: str) -> None:
    """Raise RuntimeError if a hook of class ``kind`` computes the parameter already.

    Args:
        module: The module.
        kind: Class of the hook: ``WeightNorm`` or ``SpectralNorm``.
        function_name: Name of the function that registers such hooks, for the error.
        name: Name of the parameter.
    """
    if _find_key(module, kind, name) is not None:
        raise RuntimeError(
            f"Cannot register two {function_name} hooks on the same parameter {name}"
        )


@short
def pop_hook(module: Module, kind: type[Any], function_name: str, name: str) -> Any:
    """Remove the hook that computes a parameter from the module's forward pre-hooks.

    Args:
        module: The module.
        kind: Class of the hook: ``WeightNorm`` or ``SpectralNorm``.
        function_name: Name of the function that registers such hooks, for the error.
        name: Name of the parameter that the hook computes.

    Returns:
        The hook.

    Raises:
        ValueError: If there is no such hook.
    """
    key = _find_key(module, kind, name)
    if key is None:
        raise ValueError(f"{function_name} of '{name}' not found in {module}")
    return module._forward_pre_hooks.pop(key)


def _find_key(module: Module, kind: type[Any], name: str) -> int | None:
    """Return the key of the hook among the module's forward pre-hooks; None if there is none.

    ``kind`` is the class of the hook, and ``name`` that of the parameter which the hook computes.
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            return key
    return None


@short
def replace_parts(module: Module, name: str, parts: Iterable[str], weight: Tensor) -> Module:
    """Make a computed weight an ordinary parameter, and delete the parameters that it depends on.

    Args:
        module: The module, which is returned.
        name: Name of the computed weight.
        parts: Endings of the names ``<name>_<part>`` of the parameters to delete.
        weight: Value of the new parameter.
    """
    for attribute in (name, *(f"{name}_{part}" for part in parts)):
        delattr(module, attribute)
    module.register_parameter(name, Parameter(weight.detach()))
    return module
