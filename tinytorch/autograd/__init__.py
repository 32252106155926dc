"""Automatic differentiation: ``backward`` and ``grad``, user-defined functions, derivatives."""

from __future__ import annotations

from typing import Any

from ..graph.hooks import RemovableHandle as RemovableHandle
from ..state import enable_grad as enable_grad
from ..state import inference_mode as inference_mode
from ..state import no_grad as no_grad
from ..state import set_grad_enabled as set_grad_enabled
from ..state.recorder import RECORDER
from .anomaly import detect_anomaly as detect_anomaly
from .anomaly import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from .anomaly import is_anomaly_enabled as is_anomaly_enabled
from .anomaly import set_detect_anomaly as set_detect_anomaly


def _profiler_enabled() -> bool:
    """Whether a profiler is active."""
    return RECORDER.get() is not None


def _disable_profiler() -> None:
    """End the active profile of this thread.

    Raises:
        RuntimeError: If no profile is active.
    """
    from ..profiler.run import disable

    disable()


def _is_checkpoint_valid() -> bool:
    """Whether a reentrant checkpoint works in the running backward pass, or none is running."""
    from .variable import Variable

    return Variable._execution_engine.is_checkpoint_valid()


def _tensor_or_tensors_to_tuple(tensors: Any, length: int) -> tuple[Any, ...]:
    """Return a tuple of one tensor or of several; for None a tuple with ``length`` times None."""
    if tensors is None:
        return (None,) * length
    return (tensors,) if hasattr(tensors, "requires_grad") else tuple(tensors)


def __getattr__(name: str) -> object:
    """Import the module of a name on first access: these modules import ``Tensor``."""
    import importlib

    for module, names in _LAZY.items():
        if name in names:
            return getattr(importlib.import_module(f"tinytorch.autograd.{module}"), name)
    raise AttributeError(f"module 'tinytorch.autograd' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*_EAGER, *_MODULES, *(name for names in _LAZY.values() for name in names)})


_EAGER = (
    "RemovableHandle", "detect_anomaly", "enable_grad", "inference_mode", "is_anomaly_enabled",
    "is_anomaly_check_nan_enabled", "no_grad", "set_detect_anomaly", "set_grad_enabled",
)  # fmt: skip
_MODULES = (
    "forward_ad", "function", "functional", "grad_mode", "graph", "profiler", "variable",
)  # fmt: skip
_LAZY = {
    "backward_pass": ("backward", "grad"),
    "function": ("Function", "FunctionCtx", "once_differentiable"),
    "gradient_check": ("GradcheckError", "gradcheck", "gradgradcheck"),
    "variable": ("Variable",),
    "grad_mode": ("is_multithreading_enabled", "set_multithreading_enabled"),
}
