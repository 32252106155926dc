"""Comparison of random numbers that tinytorch and PyTorch draw from one seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import tinytorch as tt
from tests.oracles import DRAWN
from tests.oracles import host as host

SIZES = [0, 1, 2, 5, 15, 16, 17, 31, 32, 100, 1000, 40001]
FLOATS = ["float32", "float64", "float16"]
COMPLEX = ["complex64", "complex128"]


def draw_both(draw: Callable[[Any], Any], seed: int = 7) -> tuple[Any, Any]:
    """``draw(tt)`` and ``draw(torch)`` from one seed; assert that both streams end in one state."""
    results = []
    for library in (tt, torch):
        library.manual_seed(seed)
        results.append(draw(library))
    assert state_bytes(tt) == state_bytes(torch), "the streams went apart"
    return results[0], results[1]


def state_bytes(library: Any) -> bytes:
    return bytes(host(library.get_rng_state()))


def assert_exact(draw: Callable[[Any], Any], seed: int = 7) -> None:
    ours, theirs = (host(x) for x in draw_both(draw, seed))
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    np.testing.assert_array_equal(ours, theirs)


def assert_close(draw: Callable[[Any], Any], seed: int = 7) -> None:
    ours, theirs = (host(x) for x in draw_both(draw, seed))
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    tolerance = DRAWN[str(ours.dtype)]
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def dtype_of(library: Any, name: str) -> Any:
    return getattr(library, name)


#: Tensors whose order in memory differs.
SHAPED: dict[str, Callable[[Any], Any]] = {
    "contiguous": lambda lib: lib.zeros(4, 30),
    "transposed": lambda lib: lib.zeros(4, 30).t(),
    "permuted": lambda lib: lib.zeros(3, 4, 5).permute(2, 0, 1),
    "every other": lambda lib: lib.zeros(6, 20)[:, ::2],
    "row of ones": lambda lib: lib.zeros(20, 1).t(),
    "expanded": lambda lib: lib.zeros(4, 1).expand(4, 20),
    "float64": lambda lib: lib.zeros(4, 30, dtype=lib.float64).t(),
    "0-d": lambda lib: lib.zeros(()),
}
