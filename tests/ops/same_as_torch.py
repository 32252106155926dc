"""Run one piece of code with tinytorch and with PyTorch, and compare everything it gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tinytorch as tt

TOLERANCE = {"rtol": 1e-9, "atol": 1e-9}


def host(value: Any) -> np.ndarray[Any, Any]:
    """A result of either library as a NumPy array."""
    return np.asarray(value.numpy(force=True) if hasattr(value, "detach") else value)


def flat(value: Any) -> list[Any]:
    """Results in nested tuples and lists, one after the other."""
    if isinstance(value, (tuple, list)) and type(value).__name__ != "Size":
        return [item for part in value for item in flat(part)]
    return [value]


def agree(ours: Any, theirs: Any) -> None:
    """Assert that two results have the same structure, shapes, dtypes and values."""
    ours, theirs = flat(ours), flat(theirs)
    assert len(ours) == len(theirs)
    for a, b in zip(map(host, ours), map(host, theirs), strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, **(TOLERANCE if b.dtype.kind in "fc" else {}))


def weights(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """Irregular numbers to weigh results with."""
    values = np.cos(np.arange(np.prod(shape, dtype=int)) * 1.7 + 0.3).reshape(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 0.5j * np.flip(values)
    return np.asarray(values, dtype)


def derivatives(library: Any, outs: list[Any], inputs: list[Any], orders: int) -> list[Any]:
    """Gradients of the weighted results, then those of the weighted gradients, and so on."""
    found: list[Any] = []
    for order in range(orders):
        outs = [out for out in outs if out is not None and out.requires_grad]
        if not outs:  # one library knows that they are constant, the other takes derivatives
            found += [library.zeros_like(x) for x in inputs]
            continue
        cotangents = [library.tensor(weights(tuple(o.shape), host(o).dtype)) for o in outs]
        outs = list(
            library.autograd.grad(
                outs, inputs, cotangents, create_graph=order + 1 < orders, allow_unused=True
            )
        )
        found += [
            library.zeros_like(x) if g is None else g for g, x in zip(outs, inputs, strict=True)
        ]
    return found


def same(call: Callable[..., Any], *arrays: Any, orders: int = 2) -> None:
    """Assert that ``call(library, *tensors)`` gives the same in both libraries.

    Args:
        call: What to compare; its first argument is the library.
        *arrays: Arrays; floating-point and complex ones become tensors that require grad.
        orders: How many orders of derivatives to compare.
    """
    import torch

    results = []
    for library in (tt, torch):
        tensors = [library.tensor(np.array(a)) for a in arrays]
        for tensor in tensors:
            if orders and host(tensor).dtype.kind in "fc":
                tensor.requires_grad_()
        out = call(library, *tensors)
        inputs = [t for t in tensors if t.requires_grad]
        outs = [o for o in flat(out) if getattr(o, "requires_grad", False)]
        results.append((out, derivatives(library, outs, inputs, orders) if inputs else []))
    agree(results[0][0], results[1][0])
    agree(results[0][1], results[1][1])


def numbers(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Distinct numbers in random order, none near another or near 0."""
    size = int(np.prod(shape))
    values = np.random.RandomState(seed).permutation(size) - (size - 1) / 2 + 0.25
    return values.reshape(shape) * 0.7


def complexes(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Complex numbers, their parts as in ``numbers``."""
    return numbers(*shape, seed=seed) + 1j * numbers(*shape, seed=seed + 1)
