"""NumPy's arrays and dtypes among tensors as type checkers see them; every line also runs."""

from __future__ import annotations

from typing import assert_type

import numpy

import tinytorch as tt
import tinytorch.numpy as np
from tinytorch import Tensor
from tinytorch.nn import functional as F

t = tt.ones(2, dtype=float)
array = numpy.ones(2)
number = numpy.float64(2.0)

# Which operand is a tensor does not matter to the result; to checkers `array + t` is NumPy's, whose
# declarations take in whatever has `__array__`.
assert_type(t + array, Tensor)
assert_type(t @ array, Tensor)
assert_type(t == array, Tensor)
assert_type(t < array, Tensor)
assert_type(number * t, Tensor)
assert_type(t**number, Tensor)
t += array
t[0] = number
t[:] = array
assert_type(t[numpy.array([0, 1])], Tensor)
assert_type(t[array > 0], Tensor)
assert_type(t[numpy.int64(0)], Tensor)
assert_type(t[None, ..., [0, 1]], Tensor)
assert_type(t[range(2)], Tensor)
assert_type(t[tt.tensor([True, False])], Tensor)

assert_type(tt.sin(array), Tensor)
assert_type(tt.cat([t, array]), Tensor)
assert_type(tt.stack((array, t)), Tensor)
assert_type(tt.add(array, t), Tensor)
assert_type(tt.where(array > 0, t, array), Tensor)
assert_type(tt.matmul(t, array), Tensor)
assert_type(t.dot(array), Tensor)
assert_type(t.masked_fill(array > 0, 2.0), Tensor)
assert_type(F.relu(array), Tensor)

assert_type(tt.zeros(3, dtype=int), Tensor)
assert_type(tt.zeros(3, dtype="float32"), Tensor)
assert_type(tt.arange(3, dtype=numpy.float32), Tensor)
assert_type(t.sum(dtype=complex), Tensor)
assert_type(t.to(float), Tensor)

np.random.seed(0)
assert_type(np.random.normal(0.0, 1.0, size=3), Tensor)
assert_type(np.random.normal(0.0, 1.0, (2, 3)), Tensor)
assert_type(np.random.normal(t, 1.0), Tensor)
assert_type(np.random.normal(loc=1.0), float)
assert_type(np.random.rand(2, 3), Tensor)
assert_type(np.random.random(), float)
assert_type(np.random.randint(10, size=3), Tensor)
assert_type(np.random.randint(10), int)
assert_type(np.random.choice(5), int)
assert_type(np.random.choice([1, 2, 3], 2), Tensor)
assert_type(np.random.permutation(4), Tensor)
assert_type(np.random.default_rng(0).integers(0, 5, 2), Tensor)
u, s, vh = np.linalg.svd(np.eye(2))
assert_type(s, Tensor)
assert_type(np.linalg.svd(np.eye(2), compute_uv=False), Tensor)
assert_type(np.linalg.qr(np.eye(2)).Q, Tensor)
assert_type(np.linalg.eigh(np.eye(2)).eigenvalues, Tensor)
