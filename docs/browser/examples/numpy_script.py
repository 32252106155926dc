# A NumPy script with gradients: its import line is the only change.
import tinytorch.numpy as np
from tinytorch.func import grad

rng = np.random.default_rng(0)
x = rng.normal(size=(50, 3))
y = x @ np.array([1.0, -2.0, 0.5]) + 0.01 * rng.normal(size=50)


def loss(w):
    return np.mean((x @ w - y) ** 2)


w = np.zeros(3)
for _ in range(100):
    w = w - 0.1 * grad(loss)(w)
print(w.round(2))
