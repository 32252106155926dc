"""Numbers of the gamma law, each from as many uniform and normal ones as it takes.

The formulas, and so the numbers, are those of PyTorch's CPU generator.
"""

from __future__ import annotations

import math

from .discrete_samplers import Unit

LAWS = ("standard_gamma",)
#: 1 / 3 in single precision, as PyTorch has it in any.
_THIRD = 11184811 / 2**25


class Normals:
    """Normal numbers two at a time out of uniform ones; of a pair the second waits.

    Args:
        unit: Gives the next uniform number.
        pending: A normal number that waits from before, or None.
    """

    def __init__(self, unit: Unit, pending: float | None) -> None:
        self.unit = unit
        self.pending = pending

    def __call__(self) -> float:
        if self.pending is not None:
            found, self.pending = self.pending, None
            return found
        angle = 2 * math.pi * self.unit()
        radius = math.sqrt(-2 * math.log1p(-self.unit()))
        self.pending = radius * math.sin(angle)
        return radius * math.cos(angle)


def standard_gamma(normal: Normals, shape: float) -> float:
    """A number of the gamma law of this shape and of rate 1; NaN for a NaN.

    Reference:
        Marsaglia and Tsang: A simple method for generating gamma variables, ACM Transactions on
        Mathematical Software 26 (2000).
    """
    if shape == 0 or math.isnan(shape):
        return shape
    factor = 1.0
    if shape < 1:  # from the law one higher, which rejects less
        factor = (1 - normal.unit()) ** (1 / shape)
        shape += 1
    d = shape - _THIRD
    c = 1 / math.sqrt(9 * d)
    while True:
        x = normal()
        root = 1 + c * x
        if root <= 0:
            continue
        cube = root * root * root
        u = 1 - normal.unit()
        square = x * x
        if u < 1 - 0.0331 * square * square:
            return factor * d * cube
        if math.log(u) < 0.5 * square + d * (1 - cube + math.log(cube)):
            return factor * d * cube
