"""What libraries call of PyTorch's compiled part, ``torch._C``."""

from __future__ import annotations

import enum
from typing import Any

from ..core.device import device
from ..core.tensor import Tensor
from ..core.torch_function import DisableTorchFunction as DisableTorchFunction
from ..core.torch_function import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from ..core.torch_function import is_on as _is_torch_function_enabled
from ..core.torch_function import refusing as _disabled_torch_function_impl
from ..facade.resolve import find
from ..func._level import is_transforming
from ..nn.module.conversion import _parse_to as parse_to
from ..ops.linalg.shared import LinAlgError as _LinAlgError
from .unsupported import Absent

__all__ = [
    "DisableTorchFunction", "DisableTorchFunctionSubclass", "DispatchKey", "DispatchKeySet",
    "_LinAlgError", "_disabled_torch_function_impl", "_get_tracing_state",
    "_is_torch_function_enabled", "_log_api_usage_once",
]  # fmt: skip

#: The class of the class of tensors, by which libraries tell tensor types from others.
_TensorMeta: type = type(Tensor)


def _is_fwd_grad_enabled() -> bool:
    """True: dual tensors carry their tangents on."""
    return True


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


class _Functorch:
    """``torch._C._functorch``: what libraries ask of the tensors that ``func`` makes."""

    @staticmethod
    def is_legacy_batchedtensor(tensor: Tensor) -> bool:
        """False: those of ``grad(is_grads_batched=True)`` are ordinary ones."""
        return False


_functorch = _Functorch()


def _are_functorch_transforms_active() -> bool:
    """Whether a function that ``func`` differentiates or maps is running."""
    return is_transforming()


def _get_tracing_state() -> None:
    """None: nothing is being traced."""


def _is_tracing() -> bool:
    """False: nothing is being traced."""
    return False


def _log_api_usage_once(event: str) -> None:
    """Nothing: no use of the library is counted.

    Args:
        event: What was used.
    """


class DispatchKey(enum.Enum):
    """Names of what PyTorch chooses a kernel by; libraries gather them in sets when imported."""

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


class Graph(Absent, why="there is no TorchScript here"):
    """TorchScript's record of a program, which symbolic functions of an export are given.

    Example:
        >>> from tinytorch._C import Graph
        >>> isinstance(None, Graph)
        False
    """


class PyTorchFileReader(Absent, why="read checkpoints with load()"):
    """What reads the records of a checkpoint in PyTorch; nothing is one here.

    Example:
        >>> import tinytorch as tt
        >>> isinstance(None, tt.PyTorchFileReader)
        False
    """


class PyTorchFileWriter(Absent, why="write checkpoints with save()"):
    """What writes the records of a checkpoint in PyTorch; nothing is one here.

    Example:
        >>> import tinytorch as tt
        >>> isinstance(None, tt.PyTorchFileWriter)
        False
    """


class ScriptObject(Absent, why="there is no TorchScript here"):
    """A value of a compiled class; nothing is one here.

    Example:
        >>> import tinytorch as tt
        >>> isinstance(None, tt.ScriptObject)
        False
    """


class TensorType(Absent, why="there is no TorchScript here"):
    """TorchScript's type of tensors; nothing is one here.

    Example:
        >>> import tinytorch as tt
        >>> isinstance(None, tt.TensorType)
        False
    """


class Value(Absent, why="there is no TorchScript here"):
    """A value in TorchScript's record of a program; nothing is one here.

    Example:
        >>> from tinytorch._C import Value
        >>> isinstance(None, Value)
        False
    """
