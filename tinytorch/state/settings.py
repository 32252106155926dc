"""Switches that PyTorch programs set: threads, determinism, precision of matrix products."""

from __future__ import annotations

from typing import Any

from ..warnings import is_warn_always_enabled as is_warn_always_enabled
from ..warnings import set_warn_always as set_warn_always

#: Values of the switches; PyTorch's own modules for some of them read it, too.
values: dict[str, Any] = {
    "deterministic": False, "warn_only": False, "precision": "highest", "interop": 1, "fill": True,
}  # fmt: skip
_PRECISIONS = ("highest", "high", "medium")
_MODES = ("default", "warn", "error")


def _check_positive(name: str, value: Any) -> int:
    """Return ``value``, an argument of the function ``name``, if it is a positive C int.

    Raises:
        TypeError: If it is not an int.
        RuntimeError: If it is less than 1.
        ValueError: If it does not fit a C int.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} expects an int, but got {type(value).__name__}")
    if value < 1:
        raise RuntimeError(f"{name} expects a positive integer, got {value}")
    if value > 2**31 - 1:
        raise ValueError(f"{name}: Overflow when unpacking long, got {value}")
    return value


def get_num_threads() -> int:
    """Return the number of threads that OpenBLAS, and large operations on NumPy, use.

    Example:
        >>> tt.get_num_threads() >= 1
        True
    """
    from ..backends.numpy import blas  # few programs need it

    return blas.count()


def set_num_threads(int: int) -> None:
    """Set the number of threads that OpenBLAS, and large operations on NumPy, use in this process.

    It has no effect if NumPy runs on another BLAS.

    Args:
        int: The number of threads.

    Raises:
        TypeError: If it is not an int.
        RuntimeError: If it is less than 1.
        ValueError: If it does not fit a C int.

    Example:
        >>> tt.set_num_threads(tt.get_num_threads())
    """
    number = _check_positive("set_num_threads", int)
    from ..backends.numpy import blas

    blas.set_count(number)


def get_num_interop_threads() -> int:
    """Return the number set by ``set_num_interop_threads``; 1 at first.

    Example:
        >>> tt.get_num_interop_threads()
        1
    """
    return int(values["interop"])


def set_num_interop_threads(int: int) -> None:
    """Set a number of threads, which has no effect: operations do not run in parallel.

    Args:
        int: The number of threads.

    Raises:
        TypeError: If it is not an int.
        RuntimeError: If it is less than 1.
        ValueError: If it does not fit a C int.

    Example:
        >>> tt.set_num_interop_threads(1)
    """
    values["interop"] = _check_positive("set_num_interop_threads", int)


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Set whether operations have to repeat their results exactly.

    On NumPy they always do. On CuPy, sums at repeated indices (``index_add``, gradients of
    gathering and embeddings) are atomic and may differ in their last digits in both modes.
    Uninitialized memory is filled: see ``utils.deterministic``.

    Args:
        mode: Whether results have to be repeated.
        warn_only: Whether a warning is enough. Default: False.

    Raises:
        TypeError: If one of them is not a bool.

    Example:
        >>> tt.use_deterministic_algorithms(True)
        >>> tt.are_deterministic_algorithms_enabled()
        True
        >>> tt.use_deterministic_algorithms(False)
    """
    for name, value in {"mode": mode, "warn_only": warn_only}.items():
        if not isinstance(value, bool):
            raise TypeError(
                f"use_deterministic_algorithms(): argument '{name}' must be bool, not "
                f"{type(value).__name__}"
            )
    values.update(deterministic=mode, warn_only=warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Whether ``use_deterministic_algorithms`` has switched the mode on.

    Example:
        >>> tt.are_deterministic_algorithms_enabled()
        False
    """
    return bool(values["deterministic"])


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether ``use_deterministic_algorithms`` was called with ``warn_only=True``.

    Example:
        >>> tt.is_deterministic_algorithms_warn_only_enabled()
        False
    """
    return bool(values["warn_only"])


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Call ``use_deterministic_algorithms`` by a number or a name of the mode.

    Args:
        debug_mode: 0 or ``"default"``, 1 or ``"warn"``, 2 or ``"error"``.

    Raises:
        TypeError: If it is neither an int nor a str.
        RuntimeError: If it is none of these.

    Example:
        >>> tt.set_deterministic_debug_mode("default")
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    known = _MODES if isinstance(debug_mode, str) else range(3)
    if debug_mode not in known:
        raise RuntimeError(
            "invalid value of debug_mode, expected one of `default`, `warn`, `error`, 0, 1, 2, "
            f"but got {debug_mode}"
        )
    number = _MODES.index(debug_mode) if isinstance(debug_mode, str) else debug_mode
    use_deterministic_algorithms(number > 0, warn_only=number == 1)


def get_deterministic_debug_mode() -> int:
    """Return 0, 1 or 2, as for ``set_deterministic_debug_mode``.

    Example:
        >>> tt.get_deterministic_debug_mode()
        0
    """
    return (1 if values["warn_only"] else 2) if values["deterministic"] else 0


def set_float32_matmul_precision(precision: str) -> None:
    """Set the precision of products of float32 matrices, which are always computed in float32.

    Args:
        precision: ``"highest"``, ``"high"`` or ``"medium"``.

    Raises:
        RuntimeError: If it is none of these.

    Example:
        >>> tt.set_float32_matmul_precision("highest")
    """
    if precision not in _PRECISIONS:
        raise RuntimeError(
            f"set_float32_matmul_precision: expected one of {', '.join(_PRECISIONS)}; got "
            f"{precision!r}"
        )
    values["precision"] = precision


def get_float32_matmul_precision() -> str:
    """Return the value set by ``set_float32_matmul_precision``; ``"highest"`` at first.

    Example:
        >>> tt.get_float32_matmul_precision()
        'highest'
    """
    return str(values["precision"])


def set_flush_denormal(mode: bool) -> bool:
    """Return False: Python cannot set the processor to flush denormal numbers to 0.

    Args:
        mode: Whether to flush them.

    Example:
        >>> tt.set_flush_denormal(True)
        False
    """
    return False


#: Names of this module that are public at the top level.
PUBLIC = (
    "are_deterministic_algorithms_enabled", "get_deterministic_debug_mode",
    "get_float32_matmul_precision", "get_num_interop_threads", "get_num_threads",
    "is_deterministic_algorithms_warn_only_enabled", "is_warn_always_enabled",
    "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal",
    "set_num_interop_threads", "set_num_threads", "set_warn_always",
    "use_deterministic_algorithms",
)  # fmt: skip
for _name in PUBLIC:
    globals()[_name].__module__ = "tinytorch"
