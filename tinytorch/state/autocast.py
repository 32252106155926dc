"""The switches of mixed precision, which is off; see ``amp``."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..backends import BackendUnavailableError, load
from ..warnings import warn
from . import Variable

#: By type of device the dtype that was chosen, in this context.
_DTYPES: Variable[dict[str, dtypes.dtype]] = Variable("autocast_dtypes", {})
_NESTING: Variable[int] = Variable("autocast_nesting", 0)


def is_autocast_available(device_type: str) -> bool:
    """False: operations run in the precision of their inputs.

    Args:
        device_type: ``"cpu"``, ``"cuda"``, ...

    Example:
        >>> import tinytorch as tt
        >>> tt.amp.is_autocast_available("cpu")
        False
    """
    return False


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """False.

    Args:
        device_type: ``"cpu"``, ``"cuda"``, ...

    Example:
        >>> import tinytorch as tt
        >>> tt.is_autocast_enabled()
        False
    """
    return False


def is_autocast_cache_enabled() -> bool:
    """False.

    Example:
        >>> import tinytorch as tt
        >>> tt.is_autocast_cache_enabled()
        False
    """
    return False


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """What ``autocast`` is asked for by default: float16 on a GPU, else bfloat16.

    Args:
        device_type: ``"cpu"``, ``"cuda"``, ...

    Example:
        >>> import tinytorch as tt
        >>> tt.get_autocast_dtype("cuda")
        tinytorch.float16
    """
    chosen = _DTYPES.get().get(device_type)
    return chosen or (dtypes.float16 if device_type == "cuda" else dtypes.bfloat16)


def is_autocast_cpu_enabled() -> bool:
    """``is_autocast_enabled("cpu")``, under its old name.

    Example:
        >>> import tinytorch as tt
        >>> tt.is_autocast_cpu_enabled()
        False
    """
    return is_autocast_enabled("cpu")


def get_autocast_cpu_dtype() -> dtypes.dtype:
    """``get_autocast_dtype("cpu")``, under its old name.

    Example:
        >>> import tinytorch as tt
        >>> tt.get_autocast_cpu_dtype().itemsize
        2
    """
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> dtypes.dtype:
    """``get_autocast_dtype("cuda")``, under its old name.

    Example:
        >>> import tinytorch as tt
        >>> tt.get_autocast_gpu_dtype()
        tinytorch.float16
    """
    return get_autocast_dtype("cuda")


def set_autocast_enabled(device_type: Any, enabled: Any = None) -> None:
    """Switch mixed precision off.

    Args:
        device_type: ``"cpu"``, ``"cuda"``, ...; or, alone, ``enabled`` for ``"cuda"``.
        enabled: Whether to switch it on.

    Raises:
        NotImplementedError: If it would be on.

    Example:
        >>> import tinytorch as tt
        >>> tt.set_autocast_enabled("cpu", False)
    """
    if enabled is None:
        device_type, enabled = "cuda", device_type
    if enabled:
        refuse(device_type, get_autocast_dtype(device_type))


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Choose what ``autocast`` is asked for by default, in this thread.

    Args:
        device_type: ``"cpu"``, ``"cuda"``, ...
        dtype: The dtype.

    Example:
        >>> import tinytorch as tt
        >>> before = tt.get_autocast_dtype("cpu")
        >>> tt.set_autocast_dtype("cpu", tt.float16)
        >>> tt.get_autocast_dtype("cpu")
        tinytorch.float16
        >>> tt.set_autocast_dtype("cpu", before)
    """
    _DTYPES.set({**_DTYPES.get(), device_type: dtypes.as_dtype(dtype)})


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """``set_autocast_dtype("cpu", dtype)``, under its old name.

    Args:
        dtype: The dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.set_autocast_cpu_dtype(tt.get_autocast_cpu_dtype())
    """
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: Any) -> None:
    """``set_autocast_dtype("cuda", dtype)``, under its old name.

    Args:
        dtype: The dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.set_autocast_gpu_dtype(tt.float16)
    """
    set_autocast_dtype("cuda", dtype)


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """``set_autocast_enabled("cpu", enabled)``, under its old name.

    Args:
        enabled: Whether to switch it on.

    Raises:
        NotImplementedError: If it would be on.

    Example:
        >>> import tinytorch as tt
        >>> tt.set_autocast_cpu_enabled(False)
    """
    set_autocast_enabled("cpu", enabled)


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Nothing: there are no casts to be kept.

    Args:
        enabled: Accepted for compatibility.

    Example:
        >>> import tinytorch as tt
        >>> tt.set_autocast_cache_enabled(True)
    """


def clear_autocast_cache() -> None:
    """Nothing: there are no casts that were kept.

    Example:
        >>> import tinytorch as tt
        >>> tt.clear_autocast_cache()
    """


def autocast_increment_nesting() -> int:
    """Count one more block of ``autocast``, as PyTorch's own does when it begins.

    Returns:
        How many there are.

    Example:
        >>> import tinytorch as tt
        >>> tt.autocast_increment_nesting(), tt.autocast_decrement_nesting()
        (1, 0)
    """
    return _nested(1)


def autocast_decrement_nesting() -> int:
    """Count one block of ``autocast`` less.

    Returns:
        How many there are.

    Example:
        >>> import tinytorch as tt
        >>> tt.autocast_increment_nesting(), tt.autocast_decrement_nesting()
        (1, 0)
    """
    return _nested(-1)


def _nested(more: int) -> int:
    _NESTING.set(_NESTING.get() + more)
    return _NESTING.get()


def has_gpu() -> bool:
    """Whether there is a GPU."""
    try:
        return int(load("cupy").cuda.runtime.getDeviceCount()) > 0
    except BackendUnavailableError:
        return False


def refuse(device_type: str, dtype: dtypes.dtype) -> None:
    """NotImplementedError where PyTorch would compute in ``dtype``, a warning where it does not."""
    if device_type == "cuda" and not has_gpu():
        text = "User provided device_type of 'cuda', but CUDA is not available. Disabling"
    elif dtype.itemsize > 2:
        text = f"In {device_type.upper()} autocast, but the target dtype is not supported. " \
               "Disabling autocast."  # fmt: skip
    else:
        raise NotImplementedError(
            f"autocast(device_type={device_type!r}, dtype={dtype!r}): no operation of tinytorch "
            "chooses a lower precision by itself; pass enabled=False, or convert the model and its "
            "inputs with .to(dtype)"
        )
    warn(text, UserWarning)


for _function in (
    is_autocast_enabled,
    is_autocast_cache_enabled,
    get_autocast_dtype,
    is_autocast_cpu_enabled,
    get_autocast_cpu_dtype,
    get_autocast_gpu_dtype,
    set_autocast_enabled,
    set_autocast_dtype,
    set_autocast_cpu_dtype,
    set_autocast_gpu_dtype,
    set_autocast_cpu_enabled,
    set_autocast_cache_enabled,
    clear_autocast_cache,
    autocast_increment_nesting,
    autocast_decrement_nesting,
):
    _function.__module__ = "tinytorch"
is_autocast_available.__module__ = "tinytorch.amp"
