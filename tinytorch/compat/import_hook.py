"""Modules found under other names: PyTorch's private ones, and those of old pickles."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_OWN = __name__.partition(".")[0]
#: Where modules are, by the names that PyTorch's have and that pickles were written with.
ELSEWHERE = {
    "_C": "compat.c_module",
    "__config__": "compat.config",
    "_custom_ops": "compat.custom_ops",
    "_dynamo": "compat.dynamo",
    "_higher_order_ops": "compat.higher_order_ops",
    "_subclasses": "compat.subclasses",
    "_tensor": "core.tensor",
    "_tensor_str": "compat.tensor_str",
    "_utils": "compat.utils",
    # pickles of versions before 0.2
    "_device": "core.device",
    "_layouts": "core.layout",
    "_size": "core.size",
    "_state._backend": "state.backend",
    "_state._carry": "state.carry",
    "_state._grad": "state.grad",
    "_state": "state",
    "_storage": "core.storage",
    "autograd.checking": "autograd.gradient_check",
    "backends.cuda_devices": "backends.cupy.devices",
    "distributions.counts": "distributions.discrete",
    "distributions.extremes": "distributions.extreme_values",
    "ops._typed_storage": "ops.create.typed_storage",
    "ops._untyped_storage": "ops.create.untyped_storage",
    "ops.applied_functions": "ops.reduce.applied_functions",
    "ops.index_tools": "ops.index.index_tools",
}


def install() -> None:
    """Have imports of the names in ``ELSEWHERE`` find their modules; once is enough."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Alias:
    """Hands out a module that is loaded already."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has put the alias's spec in the place of the module's own,
        # which reload and pickle go by.
        module.__spec__ = self._spec


def alias(fullname: str, module: ModuleType) -> ModuleSpec:
    """How ``import fullname`` finds a module that is loaded already."""
    # A Loader by what it does: the class's module takes 8 ms to import.
    loader: Any = _Alias(module)
    return ModuleSpec(fullname, loader, is_package=hasattr(module, "__path__"))


class _Finder:
    """Answers for the names in ``ELSEWHERE`` and below them, and for nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root, _, name = fullname.partition(".")
        if root != _OWN:
            return None
        place = _place(name)
        if place is None:
            return None
        return alias(fullname, import_module(f"{_OWN}.{place}"))


def _place(name: str) -> str | None:
    for old, new in ELSEWHERE.items():
        if name == old or name.startswith(f"{old}."):
            return new + name[len(old) :]
    return None
