"""NumPy's arrays beside tensors, Python's types as dtypes, and derivatives with a type."""

from __future__ import annotations

from typing import assert_type

import numpy as np

import tinytorch as tt
import tinytorch.numpy as tnp
from tinytorch import func

t = tt.ones(2)
a = np.ones(2)
assert_type(t + a, tt.Tensor)
assert_type(t * a, tt.Tensor)
assert_type(t @ a, tt.Tensor)
assert_type(t == a, tt.Tensor)
assert_type(t[a > 0], tt.Tensor)
assert_type(tt.sin(a), tt.Tensor)
assert_type(tt.cat([t, tt.tensor(a)]), tt.Tensor)
assert_type(tt.add(t, a), tt.Tensor)
assert_type(tt.zeros(3, dtype=float), tt.Tensor)
assert_type(tt.ones((2, 3), dtype=np.float32), tt.Tensor)
assert_type(tnp.linalg.svd(tt.ones(2, 2)).S, tt.Tensor)
assert_type(tnp.linalg.svd(tt.ones(2, 2), compute_uv=False), tt.Tensor)
assert_type(tnp.random.normal(size=3), tnp.ndarray)
assert_type(tnp.random.rand(2, 3), tnp.ndarray)
assert_type(tnp.random.rand(), float)


def total(x: tt.Tensor) -> tt.Tensor:
    return (x * x).sum()


def scale(x: tt.Tensor, y: tt.Tensor, power: int = 2) -> tt.Tensor:
    return (x**power * y).sum()


def weighted_sum(parameters: dict[str, tt.Tensor], x: tt.Tensor) -> tt.Tensor:
    return (parameters["weight"] * x).sum()


assert_type(func.grad(total)(t), tt.Tensor)
assert_type(func.grad(scale)(t, t), tt.Tensor)
assert_type(func.grad(weighted_sum)({"weight": t}, t), dict[str, tt.Tensor])
assert_type(func.grad_and_value(total)(t), tuple[tt.Tensor, tt.Tensor])
assert_type(func.hessian(total)(t), tt.Tensor)
assert_type(func.vmap(func.grad(total))(t), tt.Tensor)
print(func.grad(scale, argnums=(0, 1))(t, t))
