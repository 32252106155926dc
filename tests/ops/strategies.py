"""Strategies of arrays and dimensions for property tests, and the comparison with PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

import tinytorch as tt
from tests.oracles import assert_all_close, derivatives, flatten, libraries

#: Every run draws the same samples, so that a failure repeats.
SETTINGS = settings(max_examples=25, deadline=None, derandomize=True)
REFUSALS = (RuntimeError, IndexError, ValueError, TypeError)

Array = np.ndarray[Any, Any]
#: A drawn sample: arrays, and the call's other arguments.
Sample = tuple[list[Array], tuple[Any, ...]]


@st.composite
def shapes(draw: Any, least: int = 0, most: int = 3, smallest: int = 0) -> tuple[int, ...]:
    return tuple(draw(st.lists(st.integers(smallest, 4), min_size=least, max_size=most)))


@st.composite
def laid_out(draw: Any, shape: tuple[int, ...], kinds: str = "f") -> Array:
    """An array of a shape: contiguous, transposed, reversed, with steps, repeated.

    Args:
        draw: Hypothesis passes it.
        shape: The shape.
        kinds: Letters of the dtypes to choose from: f for float64, d for float64 without equal
            elements, i for int64, b for bool, c for complex128.
    """
    kind = draw(st.sampled_from(kinds))
    generator = np.random.default_rng(draw(st.integers(0, 2**16)))
    steps = [draw(st.sampled_from((1, 2, -1))) for _ in shape]
    order = draw(st.permutations(range(len(shape))))
    wide = tuple(shape[d] * abs(steps[d]) for d in order)
    base: Any = generator.standard_normal(wide)
    if kind == "c":
        base = base + 1j * generator.standard_normal(wide)
    elif kind in "ib":
        base = generator.integers(-3, 4, wide) if kind == "i" else base > 0
    array = np.asarray(base).transpose(np.argsort(order)) if shape else np.asarray(base)
    array = array[tuple(slice(None, None, step) for step in steps)]
    if kind != "d" and shape and shape[0] and draw(st.integers(0, 5)) == 0:
        array = np.broadcast_to(array[:1], shape)
    return np.asarray(array)


@st.composite
def arrays(draw: Any, kinds: str = "f", least: int = 0, most: int = 3, smallest: int = 0) -> Array:
    """An array of ``least`` to ``most`` dimensions, of sizes from ``smallest`` to 4."""
    return draw(laid_out(draw(shapes(least, most, smallest)), kinds))


@st.composite
def places(draw: Any, size: int, shape: tuple[int, ...], low: int = 0) -> Any:
    """Whole numbers from ``low`` to below ``size``, as an int64 array of a shape."""
    values = draw(
        st.lists(
            st.integers(low, size - 1), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))
        )
    )
    return np.array(values, np.int64).reshape(shape)


@st.composite
def broadcastable(draw: Any, count: int, kinds: str = "f") -> list[Array]:
    """Arrays whose shapes broadcast, 0-d and empty ones among them."""
    shape = draw(shapes())
    sides = []
    for _ in range(count):
        cut = draw(st.integers(0, len(shape)))
        side = tuple(draw(st.sampled_from((n, 1))) if n else 0 for n in shape[cut:])
        sides.append(draw(laid_out(side, kinds)))
    return sides


def dims(ndim: int) -> Any:
    """A dimension, counted from either end; 0 or -1 where there are none."""
    return st.integers(-ndim, ndim - 1) if ndim else st.sampled_from((0, -1))


@st.composite
def several_dims(draw: Any, ndim: int) -> tuple[int, ...]:
    """Distinct dimensions, at least one if there are any, each counted from either end."""
    chosen = draw(st.lists(st.integers(0, ndim - 1), unique=True, min_size=1)) if ndim else []
    return tuple(d - ndim if draw(st.booleans()) else d for d in chosen)


def _tensors(library: Any, given: list[Array]) -> list[Any]:
    """Tensors of the arrays, with their layouts in tinytorch; PyTorch has no negative strides."""
    if library is tt:
        found = [tt.from_numpy(a) for a in given]
    else:
        found = [library.from_numpy(a.copy()) for a in given]
    for tensor, array in zip(found, given, strict=True):
        if array.dtype.kind in "fc":
            tensor.requires_grad_()
    return found


def _outcome(library: Any, call: Callable[..., Any], given: list[Array], rest: Any) -> Any:
    tensors = _tensors(library, given)
    results = flatten(call(library, *tensors, *rest))
    watched = [t for t in tensors if t.requires_grad]
    outs = [r for r in results if getattr(r, "requires_grad", False)]
    gradients = derivatives(library, outs, watched, 1) if watched else []
    return [r.detach() if hasattr(r, "detach") else r for r in results], gradients


def compare_samples(call: Callable[..., Any], given: list[Array], *rest: Any) -> None:
    """Assert that ``call(library, *tensors, *rest)`` has PyTorch's results.

    Gradients and refusals included.

    Args:
        call: The call.
        given: Arrays to make tensors of.
        *rest: Further arguments.
    """
    given = [np.asarray(a) for a in given]  # NumPy makes numbers of 0-d results
    _, torch = libraries()
    try:
        wanted, slopes = _outcome(torch, call, given, rest)
    except REFUSALS:
        with pytest.raises(REFUSALS):
            call(tt, *_tensors(tt, given), *rest)
        return
    got, gradients = _outcome(tt, call, given, rest)
    assert_all_close(got, wanted)
    assert_all_close(gradients, slopes)
