"""Random indices for samplers, drawn on the host whatever backend is active.

The calls, their order and their sizes are those of PyTorch, so that one seed visits the
same samples.
"""

from __future__ import annotations

from typing import Any

from ... import backends, dtypes
from ...core.tensor import Tensor
from ...state import generator as generator_of

__all__ = ["fresh_generator", "integers", "permutation", "seed", "weighted", "weights"]


def _engine(generator: Any) -> Any:
    """The engine behind a ``Generator``; None stands for the default one of the CPU."""
    if generator is None:
        generator = generator_of(backends.load("numpy"))
    engine = getattr(generator, "_engine", generator)
    if not hasattr(engine, "permutation"):
        raise TypeError(f"argument 'generator' must be Generator, not {type(generator).__name__}")
    return engine


def seed(generator: Any = None) -> int:
    """A fresh seed in ``[0, 2**63)``."""
    return int(_engine(generator).bits((), "int64"))


def fresh_generator() -> Any:
    """An engine of its own, seeded from the default one."""
    return backends.load("numpy").make_generator(seed())


def integers(high: int, count: int, generator: Any) -> list[int]:
    """``count`` integers from 0 to ``high - 1``, independent of each other."""
    drawn: list[int] = _engine(generator).integers(0, high, (count,), "int64").tolist()
    return drawn


def permutation(count: int, generator: Any) -> list[int]:
    """The integers from 0 to ``count - 1``, shuffled."""
    order: list[int] = _engine(generator).permutation(count).tolist()
    return order


def weights(values: Any) -> Any:
    """Weights as a float64 array of NumPy's."""
    host = backends.load("numpy")
    if isinstance(values, Tensor):
        values = values._xp.to_numpy(values._data)
    return host.convert(values, dtypes.float64)


def weighted(values: Any, count: int, replacement: bool, generator: Any) -> list[int]:
    """``count`` indices drawn in proportion to ``values``."""
    if not replacement and count > len(values):
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement: "
            f"{count} of {len(values)}"
        )
    engine = _engine(generator)
    if generator is not None:
        values = generator.backend.from_numpy(values)
    drawn: list[int] = engine.multinomial(values, count, replacement).tolist()
    return drawn
