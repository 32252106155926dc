"""What libraries call of PyTorch's compiled part, ``torch._C``."""

from __future__ import annotations

import enum
from typing import Any

from ..core.device import device
from ..core.tensor import Tensor
from ..dispatch.registry import find
from ..nn.module.conversion import _parse_to as parse_to

__all__ = ["DispatchKey", "DispatchKeySet"]

#: The class of the class of tensors, by which libraries tell tensor types from others.
_TensorMeta: type = type(Tensor)


class _Functions:
    """``torch._C._nn``: functions of ``nn.functional`` under the names of their kernels."""

    @staticmethod
    def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
        """The device, dtype, ``non_blocking`` and memory format that ``Module.to`` is given."""
        dtype, options = parse_to(*args, **kwargs)
        where = options.get("device")
        return (None if where is None else device(where), dtype,
                bool(options.get("non_blocking")), options.get("memory_format"))  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        found = None if name.startswith("__") else find("nn.functional", name)
        if found is None:
            raise AttributeError(f"module 'torch._C._nn' has no attribute {name!r}")
        return found


_nn = _Functions()


def _find_function(name: str) -> Any:
    """Find a function of PyTorch's ``_VariableFunctions``: those of the top level."""
    found = None if name.startswith("__") else find("", name)
    if found is None:
        raise AttributeError(f"type object '_VariableFunctions' has no attribute {name!r}")
    return found


class _TopLevelFunctions:
    """``torch._C._VariableFunctions``: functions of the top level."""

    def __getattr__(self, name: str) -> Any:
        return _find_function(name)


_VariableFunctions = _TopLevelFunctions()


class _Functorch:
    """``torch._C._functorch``: what libraries ask of the tensors that ``func`` makes."""

    @staticmethod
    def is_legacy_batchedtensor(tensor: Tensor) -> bool:
        """False: those of ``grad(is_grads_batched=True)`` are ordinary ones."""
        return False


_functorch = _Functorch()


class DispatchKey(enum.Enum):
    """Names of what PyTorch chooses a kernel by; libraries gather them in sets when imported.

    Example:
        >>> import tinytorch as tt
        >>> tt.DispatchKey.CPU.name
        'CPU'
    """

    CPU = 1
    CUDA = 2
    Meta = 3
    AutogradCPU = 4
    AutogradCUDA = 5
    Autograd = 6
    AutocastCPU = 7
    AutocastCUDA = 8
    AutocastXPU = 9
    CompositeExplicitAutograd = 10
    CompositeImplicitAutograd = 11


class DispatchKeySet:
    """A set of such names.

    Args:
        key: One of them, or several.

    Example:
        >>> from tinytorch._C import DispatchKey, DispatchKeySet
        >>> both = DispatchKeySet(DispatchKey.CPU) | DispatchKeySet(DispatchKey.CUDA)
        >>> both.has(DispatchKey.CUDA), both.has(DispatchKey.Meta)
        (True, False)
    """

    def __init__(self, key: DispatchKey | frozenset[DispatchKey]) -> None:
        self._keys = frozenset([key]) if isinstance(key, DispatchKey) else key

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self._keys | other._keys)

    def has(self, key: DispatchKey) -> bool:
        """Whether a name is in it."""
        return key in self._keys
