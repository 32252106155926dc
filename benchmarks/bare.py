"""PyTorch's small calls in NumPy alone, where they need more than one call of NumPy's.

Each function makes the fewest and quickest calls that compute PyTorch's result. No library on NumPy
can be quicker, so these times show which of PyTorch's times cannot be reached.
"""

from __future__ import annotations

import math
from math import cos, log1p, sin, sqrt
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_maximum = np.maximum.reduce

#: PyTorch's generator is also NumPy's: both draw the same words from one seed.
WORDS = np.random.MT19937(0)
_RANDOM = np.random.RandomState(WORDS)


def seed(number: int) -> None:
    """Seed the random numbers."""
    _RANDOM.seed(number)


# -- random numbers, which PyTorch computes from the generator's words -------------------------
# A call converts a 0-d array in half the time of a Python number or a NumPy scalar.

_FLOAT32, _FLOAT64, _INT64 = (np.dtype(name) for name in ("float32", "float64", "int64"))
# Mask of a word's low 24 bits; distance of neighboring uniform numbers of 24 bits.
_LOW24, _UNIT = np.array(0xFFFFFF, np.uint64), np.array(2.0**-24, np.float32)
_ONE, _MINUS_TWO, _TURN = (np.array(v, np.float32) for v in (1.0, -2.0, 2.0 * math.pi))
# Factors that make integers of 53 bits an angle, and minus a uniform number.
_TURN53, _MINUS53 = 2.0 * math.pi * 2.0**-53, -(2.0**-53)
_WORDS = {10: np.array(10, np.uint64)}


def rand(shape: tuple[int, ...]) -> Array:
    """Uniform numbers in ``[0, 1)``, each from the low 24 bits of a word."""
    words = WORDS.random_raw(shape)
    words &= _LOW24
    units = words.astype(_FLOAT32)
    units *= _UNIT
    return units


def randn_few(count: int, shape: tuple[int, ...]) -> Array:
    """Fewer than 16 normal numbers: Box-Muller pairs, each uniform number from two words.

    Args:
        count: Number of results, an even number below 16.
        shape: Shape of the result, with ``count`` elements.
    """
    flat = iter(WORDS.random_raw(2 * count).tolist())
    values = []
    for a, b, c, d in zip(flat, flat, flat, flat):
        angle = ((a & 0x1FFFFF) << 32 | b) * _TURN53
        radius = sqrt(-2.0 * log1p(((c & 0x1FFFFF) << 32 | d) * _MINUS53))
        values += (radius * cos(angle), radius * sin(angle))
    return np.array(values, _FLOAT32).reshape(shape)


def randn_many(count: int, shape: tuple[int, ...]) -> Array:
    """At least 16 normal numbers, by Box-Muller in blocks of 8 radii and 8 angles.

    Args:
        count: Number of results, a multiple of 16.
        shape: Shape of the result, with ``count`` elements.
    """
    units = rand((count // 16, 2, 8))
    radius = _ONE - units[:, 0]
    np.log(radius, radius)
    radius *= _MINUS_TWO
    np.sqrt(radius, radius)
    angle = units[:, 1] * _TURN
    np.multiply(radius, np.cos(angle), units[:, 0])
    np.multiply(radius, np.sin(angle, angle), units[:, 1])
    return units.reshape(shape)


def randint(high: int, shape: tuple[int, ...]) -> Array:
    """Integers in ``[0, high)``, each a word modulo ``high``."""
    return (WORDS.random_raw(shape) % _WORDS[high]).view(_INT64)


# -- results of several calls ----------------------------------------------------------------------
# A product with ones sums in a third of the time of ``add.reduce``, and a division of two scalars
# takes a seventh of the time of one of 0-d arrays.

_ONES = {n: np.ones(n, np.float32) for n in (3, 4, 8, 16)}
_WIDE_ONES = {n: np.ones(n) for n in (4, 8)}
_NUMBERS = {n: np.array(n, np.float32) for n in (0, 1, 1e-5, 3, 4, 8, 12, 16, 128)}
_WIDE = {n: np.array(n, np.float64) for n in (3, 4)}
_SCALARS = {n: np.float32(n) for n in (8, 12, 128)}
_STARTS = {shape: np.arange(shape[0]) * shape[1] for shape in ((3, 4), (8, 16))}


def add_up(x: Array, axis: int) -> Array:
    """The sum of a matrix over dimension 0 or 1, as a product with ones."""
    ones = _ONES[x.shape[axis]]
    return x.dot(ones) if axis else ones.dot(x)


def mean(x: Array) -> Array:
    """The mean of each row."""
    return add_up(x, 1) / _NUMBERS[x.shape[1]]


def _highest(x: Array) -> Array:
    """The maximum of each row, as a column."""
    return x.ravel()[x.argmax(1) + _STARTS[x.shape]][:, None]


def _is_moderate(x: Array) -> bool:
    """Whether the norm shows that no exponential overflows and no row of them is all zeros.

    A norm of at most 40 bounds each element, and exp(40) and exp(-40) are float32 numbers.
    """
    flat = x.ravel()
    return flat.dot(flat) <= 1600.0  # type: ignore[no-any-return]


def softmax(x: Array) -> Array:
    """The exponentials of each row, divided by their sum."""
    e = np.exp(x if _is_moderate(x) else x - _highest(x))
    e /= add_up(e, 1)[:, None]
    return e


def log_softmax(x: Array) -> Array:
    """Each row minus the logarithm of the sum of its exponentials."""
    shifted = x - _maximum(x, 1, None, None, True)
    shifted -= np.log(add_up(np.exp(shifted), 1))[:, None]
    return shifted


def var(x: Array) -> Array:
    """The unbiased variance of each row; the squares are summed in float64."""
    wide, count = x.astype(_FLOAT64), x.shape[1]
    mean = wide.dot(_WIDE_ONES[count])
    mean /= _WIDE[count]
    wide -= mean[:, None]
    total = np.vecdot(wide, wide)
    total /= _WIDE[count - 1]
    return total.astype(_FLOAT32)


def maxima(x: Array) -> tuple[Array, Array]:
    """The maximum of each row, and its index."""
    index = x.argmax(1)
    return x.ravel()[index + _STARTS[x.shape]], index


def linear(x: Array, weight: Array, bias: Array) -> Array:
    """Rows times a weight of shape ``(out, in)``, plus a bias."""
    out = x.dot(weight.T)
    out += bias
    return out


def layer_norm(x: Array, weight: Array, bias: Array) -> Array:
    """Rows normalized to mean 0 and variance 1, times a weight, plus a bias."""
    out = x - mean(x)[:, None]
    scale = np.vecdot(out, out)
    scale /= _NUMBERS[x.shape[1]]
    scale += _NUMBERS[1e-5]
    np.sqrt(scale, scale)
    out /= scale[:, None]
    out *= weight
    out += bias
    return out


def cross_entropy(x: Array, labels: Array) -> Array:
    """The mean of -log softmax(x) at the labels."""
    shifted = x if _is_moderate(x) else x - _highest(x)
    losses = np.log(add_up(np.exp(shifted), 1).astype(_FLOAT64))
    losses -= shifted.ravel()[labels + _STARTS[x.shape]]
    return np.float32(losses.dot(_WIDE_ONES[len(x)]) / len(x))  # type: ignore[return-value]


def mse_loss(x: Array, y: Array) -> Array:
    """The mean of the squared differences."""
    d = (x - y).ravel()
    return d.dot(d) / _SCALARS[d.size]  # type: ignore[no-any-return]


def relu(x: Array) -> Array:
    """The maximum of each element and 0."""
    return np.maximum(_NUMBERS[0], x)


def linspace(start: float, stop: float, steps: int) -> Array:
    """Numbers at equal distances."""
    step = (stop - start) / (steps - 1)
    return np.array([start + step * i for i in range(steps)], _FLOAT32)


def network(x: Array, y: Array, layers: list[Array]) -> Array:
    """Mean squared error of two layers with a ReLU between them; compute their gradients, too.

    Args:
        x: Input of shape ``(rows, features)``.
        y: Target.
        layers: Weight and bias of the first layer, and of the second one.
    """
    w1, b1, w2, b2 = layers
    h = relu(linear(x, w1, b1))
    out = linear(h, w2, b2)
    out -= y
    flat = out.ravel()
    loss = flat.dot(flat) / _SCALARS[flat.size]
    g = out * np.float32(2 / flat.size)
    gh = g.dot(w2)
    gh *= h > _NUMBERS[0]
    gh.T.dot(x), add_up(gh, 0), g.T.dot(h), add_up(g, 0)
    return loss  # type: ignore[no-any-return]
