"""A script in NumPy's words as type checkers see it; every line also runs."""

from __future__ import annotations

from typing import assert_type

import tinytorch.numpy as np
from tinytorch import Tensor, dtype

a = np.arange(12).reshape(3, 4)
assert_type(a, Tensor)
assert_type(np.linspace(0, 1, 5) * 2 + np.pi, Tensor)
points, step = np.linspace(0, 1, 5, retstep=True)
assert_type(step, Tensor)
assert_type(np.where(a > 2, a, 0), Tensor)
rows, columns = np.where(a > 2)
assert_type(rows, Tensor)
assert_type(np.nonzero(a)[0], Tensor)
assert_type(np.unique(a)[::-1], Tensor)
values, counts = np.unique(a % 3, return_counts=True)
assert_type(counts, Tensor)
assert_type(np.atleast_2d([1, 2]).T, Tensor)
assert_type(np.atleast_1d(1, 2), tuple[Tensor, ...])
assert_type(np.zeros((2, 3), dtype=float), Tensor)
assert_type(np.array([1, 2], dtype="f4"), Tensor)
assert_type(np.ones(2, dtype=np.float32).dtype, dtype)
assert_type(np.max(a, axis=1), Tensor)
assert_type(np.sum(a, axis=(0, 1), keepdims=True), Tensor)
assert_type(np.concatenate([a, a], axis=0), Tensor)
assert_type(np.split(a, 3), tuple[Tensor, ...])
assert_type(np.einsum("ij,kj->ik", a, a), Tensor)
assert_type(np.linalg.inv(np.eye(3)), Tensor)
assert_type(np.fft.rfft(np.ones(4)), Tensor)
assert_type(a[:, np.newaxis], Tensor)
assert_type(a.astype(np.float64).T @ a.astype("float64"), Tensor)
np.random.seed(0)
