"""What small calls take in NumPy alone, where that is more than one call.

Each function makes the fewest and quickest calls that lead to PyTorch's result: nothing built on
NumPy can be quicker, so these times say which of PyTorch's are out of reach.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_maximum, _total = np.maximum.reduce, np.add.reduce

#: PyTorch's engine, and NumPy's: the same words from the same seed.
WORDS = np.random.MT19937(0)
_RANDOM = np.random.RandomState(WORDS)


def seed(number: int) -> None:
    """Restart the random numbers."""
    _RANDOM.seed(number)


# -- random numbers, as PyTorch makes them of the engine's words ---------------------------------


def rand(count: int, shape: tuple[int, ...]) -> Array:
    """Numbers from ``[0, 1)``: the low 24 bits of a word each."""
    units = (WORDS.random_raw(count) & np.uint64(0xFFFFFF)).astype(np.float32)
    units *= np.float32(2.0**-24)
    return units.reshape(shape)


def randn_few(count: int, shape: tuple[int, ...]) -> Array:
    """Fewer than 16 normals, an even number: Box and Muller's pairs, two words a uniform."""
    flat = iter(WORDS.random_raw(2 * count).tolist())
    values = []
    for a, b, c, d in zip(flat, flat, flat, flat):
        angle = 2.0 * math.pi * (((a & 0x1FFFFF) << 32 | b) * 2.0**-53)
        radius = math.sqrt(-2.0 * math.log1p(-(((c & 0x1FFFFF) << 32 | d) * 2.0**-53)))
        values += [radius * math.cos(angle), radius * math.sin(angle)]
    return np.array(values, np.float32).reshape(shape)


def randn_many(count: int, shape: tuple[int, ...]) -> Array:
    """Normals, a multiple of 16: in blocks of 8 radii and 8 angles."""
    units = rand(count, (count // 16, 2, 8))
    radius = np.float32(1) - units[:, 0]
    np.log(radius, radius)
    radius *= np.float32(-2)
    np.sqrt(radius, radius)
    angle = units[:, 1] * np.float32(2 * math.pi)
    np.multiply(radius, np.cos(angle), units[:, 0])
    np.multiply(radius, np.sin(angle), units[:, 1])
    return units.reshape(shape)


def randint(high: int, count: int, shape: tuple[int, ...]) -> Array:
    """Integers from ``[0, high)``: a word modulo ``high`` each."""
    return (WORDS.random_raw(count) % np.uint64(high)).astype(np.int64).reshape(shape)


# -- what takes several calls ----------------------------------------------------------------------


def softmax(x: Array) -> Array:
    """Exponentials of each row over their sum."""
    e = np.exp(x - _maximum(x, 1, None, None, True))
    e /= _total(e, 1, None, None, True)
    return e


def log_softmax(x: Array) -> Array:
    """Each row less the logarithm of the sum of its exponentials."""
    shifted = x - _maximum(x, 1, None, None, True)
    shifted -= np.log(_total(np.exp(shifted), 1, None, None, True))
    return shifted


def var(x: Array) -> Array:
    """The unbiased variance of each row."""
    n = x.shape[1]
    centered = x - _total(x, 1, None, None, True) / np.float32(n)
    centered *= centered
    return _total(centered, 1) / np.float32(n - 1)


def maxima(x: Array) -> tuple[Array, Array]:
    """The largest of each row, and where it is."""
    return _maximum(x, 1), x.argmax(1)


def linear(x: Array, weight: Array, bias: Array) -> Array:
    """Rows times a weight of shape ``(out, in)``, and a bias."""
    out = x @ weight.T
    out += bias
    return out


def layer_norm(x: Array, weight: Array, bias: Array) -> Array:
    """Rows of mean 0 and variance 1, times a weight, and a bias."""
    n = np.float32(x.shape[1])
    out = x - _total(x, 1, None, None, True) / n
    scale = _total(out * out, 1, None, None, True)
    scale /= n
    scale += np.float32(1e-5)
    np.sqrt(scale, scale)
    out /= scale
    out *= weight
    out += bias
    return out


def cross_entropy(x: Array, labels: Array, rows: Array) -> Array:
    """The mean of -log softmax(x) at the labels; ``rows`` is 0, 1, ..."""
    shifted = x - _maximum(x, 1, None, None, True)
    losses = np.log(_total(np.exp(shifted), 1))
    losses -= shifted[rows, labels]
    return _total(losses) / np.float32(len(x))


def mse_loss(x: Array, y: Array) -> Array:
    """The mean of the squared differences."""
    d = (x - y).ravel()
    return d.dot(d) / np.float32(d.size)


def linspace(start: float, stop: float, steps: int) -> Array:
    """Numbers at equal distances."""
    out = np.arange(steps, dtype=np.float32)
    out *= np.float32((stop - start) / (steps - 1))
    out += np.float32(start)
    return out


def network(x: Array, y: Array, layers: list[Array]) -> Array:
    """The loss of two layers and a ReLU between, and the gradients of their parameters."""
    w1, b1, w2, b2 = layers
    h = x @ w1.T
    h += b1
    np.maximum(h, 0, out=h)
    out = h @ w2.T
    out += b2
    out -= y
    flat = out.ravel()
    loss = flat.dot(flat) / np.float32(flat.size)
    g = out * np.float32(2 / flat.size)
    gh = g @ w2
    gh *= h > 0
    gh.T @ x, _total(gh, 0), g.T @ h, _total(g, 0)
    return loss  # type: ignore[no-any-return]
