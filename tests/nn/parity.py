"""Layers of both libraries with the same weights, and their outputs, gradients and state."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import torch as torch

import tinytorch as tt
from tests.calls import Call, call_with_names, words
from tests.nn.loss_cases import array as array
from tests.nn.loss_cases import constant as constant


def build(lib: Any, make: Call) -> Any:
    """Call ``make`` with a library as ``lib`` and its ``nn``."""
    return call_with_names(make, {"nn": lib.nn, "lib": lib})


def as_library_call(use: Call) -> Callable[[Any], Any]:
    """``build`` of ``use`` as a function of the library."""
    return lambda lib: build(lib, use)


def arguments(function: Any) -> list[tuple[str, Any]]:
    """Names and defaults of a signature's parameters."""
    return [
        (parameter.name, getattr(parameter.default, "__name__", parameter.default))
        for parameter in inspect.signature(function).parameters.values()
    ]


def gradients(lib: Any, function: Callable[..., Any], *arrays: Any) -> list[Any]:
    """Result of a function of float arrays, and its gradients with respect to them.

    The result is reduced with fixed weights, so that every element has a gradient of its own.
    Arrays made by ``constant`` get no gradient.
    """
    inputs = [
        lib.tensor(each.copy(), requires_grad=each.dtype.kind == "f" and each.flags.writeable)
        if isinstance(each, np.ndarray)
        else each
        for each in arrays
    ]
    out = function(*inputs)
    if out.requires_grad:
        weights = np.cos(np.arange(out.numel(), dtype=float)).reshape(tuple(out.shape))
        (out * lib.tensor(weights.astype(np.asarray(out.detach()).dtype))).sum().backward()
    return [out, *(x.grad for x in inputs if isinstance(x, (tt.Tensor, torch.Tensor)))]


def make_layer(lib: Any, make: Call, dtype: str = "float32") -> Any:
    """Layer whose weights depend on their shapes and order alone: equal in both libraries."""
    layer = build(lib, make).to(getattr(lib, dtype))
    for seed, param in enumerate(layer.parameters()):
        if not hasattr(param, "materialize"):
            values = array(*param.shape, dtype=dtype, seed=seed + 5)
            param.data.copy_(lib.tensor(values))
    return layer


def layer_results(lib: Any, make: Call, inputs: Any, dtype: str = "float32") -> Any:
    """Outputs, gradients and ``state_dict()`` of a layer after a call."""
    inputs = [each.astype(dtype) if each.dtype.kind == "f" else each for each in inputs]
    layer = make_layer(lib, make, dtype)
    # In-place layers cannot change a leaf.
    call = (
        layer if "True" not in str(words(make)) else lambda *args: layer(*(1 * arg for arg in args))
    )
    results = gradients(lib, call, *inputs)
    return [results, [param.grad for param in layer.parameters()], layer.state_dict()]
