"""The data that the calls are written in terms of, as NumPy's arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

NAN = float("nan")

ARRAYS: dict[str, Any] = {
    "m": np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]]),
    "x": np.arange(24.0).reshape(2, 3, 4) * 1.5,
    "v": np.array([3.0, 1.0, 2.0]),
    "s": np.array([1.0, 2.0, 3.5]),
    "u": np.array([0.1, 0.5, 0.9]),
    "w": np.array([0.5, 2.0, 1.0, 4.0]),
    "v4": np.array([3.0, 0.5, 2.0, 1.0]),
    "w4": np.array([4.0, 3.0, 7.0]),
    "z": np.array([0.0, 1.0, 2.0, 0.0]),
    "q": np.array([[2.0, 1.0, 0.5], [0.0, 3.0, 1.0], [1.0, 1.0, 4.0]]),
    "q4": np.arange(16.0).reshape(4, 4),
    "t": np.zeros((7, 2)),
    "n": np.array([2.0, NAN, -1.0, 4.0]),
    "n2": np.array([[1.0, NAN, 3.0], [NAN, 5.0, 0.5]]),
    "f": np.array([1.5, -2.0, 0.25], np.float32),
    "h": np.array([1, 2, 3], np.int8),
    "i": np.array([3, 1, 2]),
    "j": np.array([5, 7, 1]),
    "r": np.array([3, 1, 3, 2, 1]),
    "b": np.array([True, False, True]),
    "c": np.array([1 + 2j, -1j, 3 - 1j]),
    "K": np.array([[2], [0]]),
}


def _shift(array: Any) -> Any:
    if array.dtype != "float64":
        return array
    return array + 0.011 * np.sqrt(1 + np.arange(array.size)).reshape(array.shape)


#: The same arrays, shifted a little so that no function is at a kink.
SMOOTH: dict[str, Any] = {name: _shift(array) for name, array in ARRAYS.items()}
