"""What small calls take in NumPy alone, where that is more than one call.

Each function makes the fewest and quickest calls that lead to PyTorch's result: nothing built on
NumPy can be quicker, so these times say which of PyTorch's are out of reach.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_maximum = np.maximum.reduce

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
# A product with ones adds up in a third of the time that ``add.reduce`` takes, and a 0-d array is
# divided by in half the time of a Python number.

_ONES = {n: np.ones(n, np.float32) for n in (3, 4, 8, 16)}
_NUMBERS = {n: np.array(n, np.float32) for n in (0, 1, 1e-5, 3, 4, 8, 12, 16, 128)}


def add_up(x: Array, axis: int) -> Array:
    """The sum of a matrix over rows or columns."""
    ones = _ONES[x.shape[axis]]
    return x.dot(ones) if axis else ones.dot(x)


def mean(x: Array) -> Array:
    """The mean of each row."""
    return add_up(x, 1) / _NUMBERS[x.shape[1]]


def softmax(x: Array) -> Array:
    """Exponentials of each row over their sum."""
    e = x - _maximum(x, 1, None, None, True)
    np.exp(e, e)
    e /= add_up(e, 1)[:, None]
    return e


def log_softmax(x: Array) -> Array:
    """Each row less the logarithm of the sum of its exponentials."""
    shifted = x - _maximum(x, 1, None, None, True)
    shifted -= np.log(add_up(np.exp(shifted), 1))[:, None]
    return shifted


def var(x: Array) -> Array:
    """The unbiased variance of each row, its squares added up in float64."""
    wide = (x - mean(x)[:, None]).astype(np.float64)
    wide *= wide
    total = wide.dot(np.ones(4))
    total /= x.shape[1] - 1
    return total.astype(np.float32)


def maxima(x: Array) -> tuple[Array, Array]:
    """The largest of each row, and where it is."""
    return _maximum(x, 1), x.argmax(1)


def linear(x: Array, weight: Array, bias: Array) -> Array:
    """Rows times a weight of shape ``(out, in)``, and a bias."""
    out = x.dot(weight.T)
    out += bias
    return out


def layer_norm(x: Array, weight: Array, bias: Array) -> Array:
    """Rows of mean 0 and variance 1, times a weight, and a bias."""
    out = x - mean(x)[:, None]
    scale = mean(out * out)
    scale += _NUMBERS[1e-5]
    np.sqrt(scale, scale)
    out /= scale[:, None]
    out *= weight
    out += bias
    return out


def cross_entropy(x: Array, labels: Array, rows: Array) -> Array:
    """The mean of -log softmax(x) at the labels; ``rows`` is 0, 1, ..."""
    shifted = x - _maximum(x, 1, None, None, True)
    losses = np.log(add_up(np.exp(shifted), 1))
    losses -= shifted[rows, labels]
    return losses.dot(_ONES[len(x)]) / _NUMBERS[len(x)]


def mse_loss(x: Array, y: Array) -> Array:
    """The mean of the squared differences."""
    d = (x - y).ravel()
    return d.dot(d) / _NUMBERS[d.size]


def relu(x: Array) -> Array:
    """The numbers above 0."""
    return np.maximum(_NUMBERS[0], x)


def linspace(start: float, stop: float, steps: int) -> Array:
    """Numbers at equal distances."""
    out = np.arange(steps, dtype=np.float32)
    out *= np.float32((stop - start) / (steps - 1))
    out += np.float32(start)
    return out


def network(x: Array, y: Array, layers: list[Array]) -> Array:
    """The loss of two layers and a ReLU between, and the gradients of their parameters."""
    w1, b1, w2, b2 = layers
    h = relu(linear(x, w1, b1))
    out = linear(h, w2, b2)
    out -= y
    flat = out.ravel()
    loss = flat.dot(flat) / _NUMBERS[flat.size]
    g = out * np.float32(2 / flat.size)
    gh = g.dot(w2)
    gh *= h > _NUMBERS[0]
    gh.T.dot(x), add_up(gh, 0), g.T.dot(h), add_up(g, 0)
    return loss  # type: ignore[no-any-return]
