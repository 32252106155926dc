"""A script in NumPy's words as type checkers see it; every line also runs."""

from __future__ import annotations

from typing import Any, assert_type

import numpy

import tinytorch.numpy as np
from tinytorch.numpy.typing import NDArray

a = np.arange(12).reshape(3, 4)
assert_type(a, np.ndarray)
assert_type(np.linspace(0, 1, 5) * 2 + np.pi, np.ndarray)
points, step = np.linspace(0, 1, 5, retstep=True)
assert_type(step, np.ndarray)
assert_type(np.where(a > 2, a, 0), np.ndarray)
rows, columns = np.where(a > 2)
assert_type(rows, np.ndarray)
assert_type(np.nonzero(a)[0], np.ndarray)
assert_type(np.unique(a)[::-1], np.ndarray)
values, counts = np.unique(a % 3, return_counts=True)
assert_type(counts, np.ndarray)
assert_type(np.atleast_2d([1, 2]).T, np.ndarray)
assert_type(np.atleast_1d(1, 2), tuple[np.ndarray, ...])
assert_type(np.zeros((2, 3), dtype=float), np.ndarray)
assert_type(np.array([1, 2], dtype="f4"), np.ndarray)
assert_type(np.ones(2, dtype=np.float32).dtype, numpy.dtype[Any])
assert_type(np.max(a, axis=1), np.ndarray)
assert_type(np.sum(a, axis=(0, 1), keepdims=True), np.ndarray)
assert_type(np.concatenate([a, a], axis=0), np.ndarray)
assert_type(np.split(a, 3), list[np.ndarray])
assert_type(np.meshgrid([1, 2], [3, 4]), tuple[np.ndarray, ...])
assert_type(np.einsum("ij,kj->ik", a, a), np.ndarray)
assert_type(np.allclose(a, a), bool)
assert_type(np.linalg.inv(np.eye(3)), np.ndarray)
assert_type(np.linalg.slogdet(np.eye(3)).logabsdet, np.ndarray)
assert_type(np.fft.rfft(np.ones(4)), np.ndarray)
assert_type(np.lib.stride_tricks.sliding_window_view(a, (2, 2)), np.ndarray)
assert_type(np.mgrid[0:2, 0:3], np.ndarray)
assert_type(np.ogrid[0:2, 0:3], tuple[np.ndarray, ...])
assert_type(np.r_[1:4, 7], np.ndarray)

# Operators.
assert_type(-a, np.ndarray)
assert_type(abs(a), np.ndarray)
assert_type(~(a > 3), np.ndarray)
assert_type(a + 1, np.ndarray)
assert_type(1 - a, np.ndarray)
assert_type([1, 2, 3, 4] - a, np.ndarray)
assert_type(a @ a.T, np.ndarray)
assert_type(a / [[1.0], [2.0], [3.0]], np.ndarray)
assert_type(a**2 // 3 % 4, np.ndarray)
assert_type(a == 3, np.ndarray)
assert_type(a != a, np.ndarray)
assert_type((a < 3) | (a >= 5), np.ndarray)
a += 1
a[a > 11] -= a.min()
assert_type(a, np.ndarray)

# Methods and attributes.
assert_type(a.sum(), np.ndarray)
assert_type(a.mean(axis=0, keepdims=True), np.ndarray)
assert_type(a.std(ddof=1), np.ndarray)
assert_type(a.argmax(axis=1), np.ndarray)
assert_type(a.nonzero(), tuple[np.ndarray, ...])
assert_type(a.clip(0, 5).astype(np.float64).T @ a.astype("float64"), np.ndarray)
assert_type(a.dot(a.T), np.ndarray)
assert_type(a.copy().reshape(2, -1), np.ndarray)
assert_type(a.flatten().searchsorted([3, 4]), np.ndarray)
assert_type(a.shape, tuple[int, ...])
assert_type(a.size + a.ndim, int)
assert_type(a.dtype.itemsize, int)
assert_type(a.tobytes(), bytes)
a.sort()
a.fill(3)
a.shape = 4, 3

# Items, and what becomes a number.
assert_type(a[0], np.ndarray)
assert_type(a[1, ..., 0], np.ndarray)
assert_type(a[:, np.newaxis], np.ndarray)
assert_type(a[a > 3], np.ndarray)
assert_type(a[[0, 1]], np.ndarray)
assert_type(len(a), int)
assert_type(float(a[0, 0]), float)
assert_type(round(a.sum()), int)
assert_type([row.sum() for row in a], list[np.ndarray])
assert_type(next(a.flat), np.ndarray)
print(range(a.argmax()), np.zeros(a.argmax() + 1), "even" if a[0, 0] % 2 == 0 else "odd")

# Elementwise functions.
assert_type(np.sin(a), np.ndarray)
assert_type(np.maximum(a, 2, dtype=float), np.ndarray)
assert_type(np.add.reduce(a), np.ndarray)
assert_type(np.multiply.accumulate([1, 2, 3]), np.ndarray)
assert_type(np.subtract.outer([1, 2], a), np.ndarray)
assert_type(np.add.reduceat([1, 2, 3], [0, 2]), np.ndarray)
assert_type(np.divmod(a, 2), tuple[np.ndarray, np.ndarray])
assert_type(np.hypot.nin, int)
assert_type(list(map(np.exp, [a, a])), list[np.ndarray])
np.add.at(a, [0, 0], 1)
np.sqrt(np.ones(3), out=np.empty(3))


def distances(x: np.ndarray, f: np.ufunc = np.hypot) -> np.ndarray:
    distance: np.ndarray = f(x[:, None], x[None])
    return distance


distances(np.ones(2))


def largest(x: NDArray[np.float32], n: np.ndarray[Any, np.dtype[np.int64]]) -> NDArray[np.int64]:
    assert_type(x.dtype, numpy.dtype[np.float32])
    return np.argmax(x * n, axis=0)


largest(np.ones(3, dtype=np.float32), np.arange(3))
assert_type(np.float64(3), np.ndarray)
assert_type(np.polyfit([1, 2, 3], [1, 2, 3], 1), np.ndarray)
assert_type(np.packbits(np.array([1, 0], dtype=np.uint8)), np.ndarray)
assert_type(np.can_cast("i4", "f8"), bool)
np.testing.assert_allclose(np.zeros(2, dtype=np.bool_), [0, 0])
np.random.seed(0)
