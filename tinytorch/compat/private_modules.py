"""Members of PyTorch's private modules ``_C``, ``_dynamo`` and ``_tensor_str`` in use."""

from __future__ import annotations

import contextlib
import enum
from typing import Any

from ..core.device import device
from ..core.printing import _contents, _current_options, _append_suffixes
from ..core.printing import printoptions as printoptions
from ..core.printing import set_printoptions as set_printoptions
from ..core.tensor import Tensor
from ..dispatch.registry import find
from ..nn.module.conversion import _parse_to as parse_to

__all__ = [
    "DispatchKey",
    "DispatchKeySet",
    "PRINT_OPTS",
    "TransformGetItemToIndex",
    "_add_suffixes",
    "_tensor_str",
    "printoptions",
    "set_printoptions",
]

#: The metaclass of tensors, by which libraries recognize tensor types.
_TensorMeta: type = type(Tensor)


class _Functions:
    """``torch._C._nn``: functions of ``nn.functional`` by the names of their kernels."""

    @staticmethod
    def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
        """Parse the arguments of ``Module.to``: device, dtype, ``non_blocking``, memory format."""
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
    """Find a function of PyTorch's ``_VariableFunctions``, which are those of the top level."""
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
    """``torch._C._functorch``: tests of the tensors of ``func``, which libraries call."""

    @staticmethod
    def is_legacy_batchedtensor(tensor: Tensor) -> bool:
        """Return False: ``grad(is_grads_batched=True)`` has no tensors of a special kind."""
        return False


_functorch = _Functorch()


class DispatchKey(enum.Enum):
    """Keys by which PyTorch chooses a kernel; libraries collect them in sets when imported.

    Example:
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
    """Set of dispatch keys.

    Args:
        key: A key, or a set of keys.

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
        """Whether a key is in the set."""
        return key in self._keys


class TransformGetItemToIndex(contextlib.AbstractContextManager[None]):
    """Scope in which mapped tensors of ``vmap`` may index others, which they always may."""

    def __exit__(self, *error: object) -> None:
        """Do nothing."""


class _CurrentOptions:
    """Present print options as attributes: ``PRINT_OPTS.threshold``."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_current_options(), name)


PRINT_OPTS = _CurrentOptions()


def _tensor_str(self: Any, indent: int) -> str:
    """Return the text of the elements of a tensor.

    Args:
        self: The tensor.
        indent: Columns in front of the lines after the first.
    """
    return _contents(self.detach(), indent, _current_options())


def _add_suffixes(
    tensor_str: str, suffixes: list[str], indent: int, force_newline: bool = False
) -> str:
    """Append suffixes such as ``dtype=...``, and a bracket, to the text of the elements.

    Args:
        tensor_str: The text so far.
        suffixes: The suffixes.
        indent: Columns in front of a new line.
        force_newline: Accepted for compatibility.
    """
    return _append_suffixes(tensor_str, suffixes, indent, _current_options().linewidth)
