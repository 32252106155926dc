"""NumPy's arrays and dtypes among tensors as type checkers see them; every line also runs."""

from __future__ import annotations

from typing import assert_type

import numpy
from numpy.typing import ArrayLike

import tinytorch as tt
import tinytorch.numpy as np
from tinytorch import Tensor, nn
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

# NumPy's dialect beside tensors: its functions keep the class, a tensor among operands makes one.
a = np.ones(2)
assert_type(a + t, Tensor)
assert_type(t + a, Tensor)
assert_type(a @ t, Tensor)
assert_type(t @ a, Tensor)
assert_type(a == t, Tensor)
assert_type(t < a, Tensor)
assert_type(t[a > 0], Tensor)
assert_type(a[t > 0], np.ndarray)
assert_type(np.sin(t), Tensor)
assert_type(np.add(a, t), Tensor)
assert_type(np.add(t, a), Tensor)
assert_type(np.add.reduce(t), Tensor)
assert_type(np.concatenate([t, t]), Tensor)
assert_type(np.where(t > 0, a, t), Tensor)
assert_type(a.dot(t), Tensor)
assert_type(np.asarray(t), np.ndarray)
a *= t
t += a
a[0] = t[0]
assert_type(a, np.ndarray)
assert_type(t, Tensor)

# PyTorch's functions and modules take arrays and give tensors.
assert_type(tt.as_tensor(a), Tensor)
assert_type(tt.sin(a), Tensor)
assert_type(tt.add(a, t), Tensor)
assert_type(tt.stack([t, a]), Tensor)
assert_type(tt.where(a > 0, t, a), Tensor)
assert_type(F.mse_loss(t, a), Tensor)
assert_type(nn.MSELoss()(t, a), Tensor)
assert_type(nn.MSELoss()(a, t), Tensor)
layer = nn.Linear(2, 3, dtype=tt.float64)
assert_type(layer(a), Tensor)
assert_type(nn.Sequential(layer, nn.ReLU())(a), Tensor)
assert_type(nn.LSTM(2, 3, dtype=tt.float64)(a[None]), tuple[Tensor, tuple[Tensor, Tensor]])


class Scaled(nn.Module):
    def forward(self, x: Tensor, factor: float = 1.0) -> Tensor:
        return x.view(-1) * factor


assert_type(Scaled()(a, 2.0), Tensor)

# NumPy's own arrays and functions; to checkers `array + a` is NumPy's, as `array + t` is.
assert_type(a + array, np.ndarray)
assert_type(a == array, np.ndarray)
assert_type(number * a, np.ndarray)
assert_type(np.hypot(array, a), np.ndarray)
assert_type(np.asarray(array), np.ndarray)
assert_type(np.stack([array, array]), np.ndarray)
print(numpy.sqrt(a), numpy.mean(a, axis=0), numpy.asarray(a).tolist())


def normalize(x: ArrayLike) -> np.ndarray:
    return np.asarray(x) / np.max(x)


for given in (a, array, 2.0, [1, 2]):
    assert_type(normalize(given), np.ndarray)

np.random.seed(0)
assert_type(np.random.normal(0.0, 1.0, size=3), np.ndarray)
assert_type(np.random.normal(0.0, 1.0, (2, 3)), np.ndarray)
assert_type(np.random.normal(a, 1.0), np.ndarray)
assert_type(np.random.normal(loc=1.0), float)
assert_type(np.random.rand(2, 3), np.ndarray)
assert_type(np.random.random(), float)
assert_type(np.random.randint(10, size=3), np.ndarray)
assert_type(np.random.randint(10), int)
assert_type(np.random.choice(5), int)
assert_type(np.random.choice([1, 2, 3], 2), np.ndarray)
assert_type(np.random.choice(t, 2), Tensor)
assert_type(np.random.permutation(4), np.ndarray)
assert_type(np.random.default_rng(0).integers(0, 5, 2), np.ndarray)
u, s, vh = np.linalg.svd(np.eye(2))
assert_type(s, np.ndarray)
assert_type(np.linalg.svd(np.eye(2), compute_uv=False), np.ndarray)
assert_type(np.linalg.qr(np.eye(2)).Q, np.ndarray)
assert_type(np.linalg.eigh(np.eye(2)).eigenvalues, np.ndarray)
assert_type(np.linalg.eigh(tt.eye(2)).eigenvalues, Tensor)
