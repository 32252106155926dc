"""Sobol sequences of points that fill the unit cube evenly, as ``torch.quasirandom``."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from . import dtypes
from .core.tensor import Tensor
from .ops.create.factories import tensor
from .ops.create.ranges import arange
from .ops.pointwise.selection import where
from .ops.random.sampling import randint
from .ops.random.sobol_directions import DIMENSIONS, direction_numbers
from .ops.shape.joining import cat
from .random import Generator
from .state import get_default_dtype

__all__ = ["SobolEngine"]


class SobolEngine:
    """Generator of the points of a Sobol sequence, equal to PyTorch's, on the CPU.

    Args:
        dimension: Number of coordinates of a point, from 1 to 512 (in PyTorch to 21201).
        scramble: Whether to scramble the sequence by Owen's method. Default: False.
        seed: Seed of the scrambling. Default: the default generator's present state is used.

    Raises:
        ValueError: For a dimension that PyTorch does not support, either.
        NotImplementedError: For more dimensions than 512.

    Example:
        >>> tt.quasirandom.SobolEngine(2).draw(4)
        tensor([[0.0000, 0.0000],
                [0.5000, 0.5000],
                [0.7500, 0.2500],
                [0.2500, 0.7500]])

    Reference: A. B. Owen, Scrambling Sobol and Niederreiter-Xing points, Journal of Complexity 14,
    466-489 (1998); P. Bratley and B. L. Fox, Algorithm 659, ACM TOMS 14, 88-100 (1988).
    """

    MAXBIT: ClassVar[int] = 30
    MAXDIM: ClassVar[int] = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]"
            )
        if dimension > DIMENSIONS:
            raise NotImplementedError(
                f"SobolEngine: tinytorch has direction numbers for {DIMENSIONS} dimensions, got "
                f"{dimension}"
            )
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        self.sobolstate: Any = tensor(direction_numbers(dimension, self.MAXBIT), device="cpu")
        self.shift: Any = tensor([0] * dimension, device="cpu")
        if scramble:
            self._scramble()
        self.quasi: Any = self.shift.clone()
        self._first_point = (self.quasi / 2**self.MAXBIT).reshape(1, -1)
        self.num_generated: int = 0

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """Return the next ``n`` points, of shape ``(n, dimension)``, with coordinates in [0, 1).

        Args:
            n: Number of points. Default: 1.
            out: Tensor to which the points are written; it is resized. Default: a new tensor.
            dtype: A floating-point dtype. Default: the default dtype.

        Example:
            >>> tt.quasirandom.SobolEngine(1).draw(3)
            tensor([[0.0000],
                    [0.5000],
                    [0.7500]])
        """
        wanted = get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)
        whole: Any = self._points(self.num_generated, n)
        result: Any = whole.to(wanted) * 2.0**-self.MAXBIT
        if not self.num_generated and n:
            # PyTorch rounds the first point to the dtype that was the default at the beginning.
            result = cat([self._first_point.to(wanted), result[1:]])
        if n:
            self.quasi = whole[-1].clone()
        self.num_generated += n
        if out is None:
            return result  # type: ignore[no-any-return]
        into: Any = out
        return into.resize_as_(result).copy_(result)  # type: ignore[no-any-return]

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """Return the next ``2**m`` points.

        Args:
            m: The exponent.
            out: Tensor to which the points are written; it is resized. Default: a new tensor.
            dtype: A floating-point dtype. Default: the default dtype.

        Raises:
            ValueError: If the number of all points drawn so far would not be a power of two.

        Example:
            >>> tt.quasirandom.SobolEngine(1).draw_base2(2).shape
            tinytorch.Size([4, 1])
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> Self:
        """Restart the sequence at its first point, and return the engine itself.

        Example:
            >>> engine = tt.quasirandom.SobolEngine(1)
            >>> first = engine.draw(2)
            >>> tt.equal(engine.reset().draw(2), first)
            True
        """
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> Self:
        """Skip the next ``n`` points, and return the engine itself.

        Args:
            n: Number of points.

        Example:
            >>> tt.quasirandom.SobolEngine(1).fast_forward(2).draw(1)
            tensor([[0.7500]])
        """
        if n:
            self.quasi = self._points(self.num_generated + n - 1, 1)[0]
        self.num_generated += n
        return self

    def _points(self, start: int, n: int) -> Any:
        """Return points ``start`` to ``start + n - 1`` as integers, in units of ``2**-MAXBIT``.

        A point is the bitwise XOR of the direction numbers at the bits that are set in the Gray
        code of its index.
        """
        index: Any = arange(start, start + n, device="cpu")
        code = (index ^ (index >> 1)).unsqueeze(1)
        points: Any = self.shift.expand(n, -1)
        for bit in range((start + n).bit_length()):
            points = points ^ where((code >> bit) & 1 == 1, self.sobolstate[:, bit], 0)
        return points

    def _scramble(self) -> None:
        """Draw a random shift, and multiply the state by random lower triangular bit matrices."""
        generator = None if self.seed is None else Generator("cpu").manual_seed(self.seed)
        bits, powers = self.MAXBIT, 2 ** arange(self.MAXBIT, device="cpu")
        drawn: Any = randint(2, (self.dimension, bits), device="cpu", generator=generator)
        self.shift = (drawn * powers).sum(1)
        size = (self.dimension, bits, bits)
        lower: Any = randint(2, size, device="cpu", generator=generator).tril()
        lower.diagonal(0, -2, -1).fill_(1)
        # Bits of the state from the highest down, as columns; the product is modulo 2.
        exponent = arange(bits - 1, -1, -1, device="cpu").view(1, -1, 1)
        columns = (self.sobolstate.unsqueeze(1) >> exponent) & 1
        self.sobolstate = ((lower @ columns % 2) * 2**exponent).sum(1)

    def __repr__(self) -> str:
        facts = [f"dimension={self.dimension}"]
        facts += ["scramble=True"] if self.scramble else []
        facts += [] if self.seed is None else [f"seed={self.seed}"]
        return f"{type(self).__name__}({', '.join(facts)})"
