"""Anomaly mode: errors and NaN in a backward pass show the forward call they come from."""

from __future__ import annotations

from typing import Any

from ..graph.engine import Anomaly
from ..graph.saved_tensors import Recording
from ..warnings import warn


class _Restoring:
    """Base of the context managers that restore the mode from before their creation."""

    def __init__(self) -> None:
        self._before = (Anomaly.enabled, Anomaly.check_nan)

    def __exit__(self, *exception: Any) -> None:
        try:
            _set(*self._before)
        except BaseException:  # such as a KeyboardInterrupt between two settings
            _set(*self._before)
            raise


class set_detect_anomaly(_Restoring):
    """Switch anomaly mode on or off, as a function or for a ``with`` block.

    While it is on, each recorded operation stores the traceback of its call, an error in its
    gradient has that traceback as a note, and a gradient with NaN is an error. It is slow.

    Args:
        mode: Whether anomaly mode is on.
        check_nan: Whether NaN in a gradient is an error; default True.

    Example:
        >>> with tt.autograd.set_detect_anomaly(True):
        ...     tt.is_anomaly_enabled()
        True
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        super().__init__()
        _set(mode, check_nan)

    def __enter__(self) -> None:
        pass


def _set(mode: bool, check_nan: bool) -> None:
    """Set anomaly mode, and whether operations record tracebacks for it."""
    Anomaly.enabled, Anomaly.check_nan = mode, check_nan
    Recording.set_anomaly(mode)


class detect_anomaly(_Restoring):
    """``set_detect_anomaly(True)`` for a ``with`` block.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it warns that it is on, as PyTorch's does
        ...     anomaly = tt.autograd.detect_anomaly()
        >>> with anomaly:
        ...     loss = tt.ones(1, requires_grad=True).sum()
    """

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__()
        self._check_nan = check_nan
        warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging."
        )

    def __enter__(self) -> None:
        try:
            _set(True, self._check_nan)
        except BaseException:  # such as a KeyboardInterrupt between two settings
            _set(*self._before)
            raise


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on.

    Example:
        >>> tt.is_anomaly_enabled()
        False
    """
    return Anomaly.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether NaN in a gradient is an error while anomaly mode is on.

    Example:
        >>> tt.is_anomaly_check_nan_enabled()
        True
    """
    return Anomaly.check_nan


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Turn anomaly mode on or off; ``set_detect_anomaly`` without its ``with`` block.

    Args:
        enabled: Whether anomaly mode is on.
        check_nan: Whether NaN in a gradient is an error. Default: True.

    Example:
        >>> tt.set_anomaly_enabled(False)
    """
    _set(enabled, check_nan)
