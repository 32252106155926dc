"""Run the same thing on tinytorch and on PyTorch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

import tinytorch as tt
from tests.calls import Call, called, words
from tests.nn.loss_cases import array as array
from tests.nn.loss_cases import constant as constant

TOLERANCE = {"float32": {"rtol": 5e-5, "atol": 5e-6}, "float64": {"rtol": 1e-9, "atol": 1e-11}}


def both(use: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Call ``use`` with each library, with the same seed."""
    results = []
    for lib in (tt, torch):
        lib.manual_seed(0)
        results.append(use(lib))
    return results[0], results[1]


def outcome(use: Callable[[Any], Any], lib: Any) -> Any:
    """What ``use`` returns or raises, as comparable values without the library's name."""
    try:
        return plain(use(lib))
    except Exception as error:
        return type(error).__name__, plain(str(error))


def plain(value: Any) -> Any:
    """Tensors as arrays, names of PyTorch as ours."""
    if isinstance(value, (tt.Tensor, torch.Tensor)):
        return np.asarray(value.detach())
    if isinstance(value, str):
        return value.replace("tinytorch", "torch")
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


def assert_same(ours: Any, theirs: Any) -> None:
    """Compare two results of ``plain``, numbers within the tolerance of their dtype."""
    assert type(ours) is type(theirs), f"{ours!r} against {theirs!r}"
    if isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, **TOLERANCE.get(theirs.dtype.name, {}))
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key in theirs:
            assert_same(ours[key], theirs[key])
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other)
    else:
        assert ours == theirs


def same(use: Callable[[Any], Any]) -> None:
    """Assert that ``use`` does the same with both libraries, errors and warnings aside."""
    ours, theirs = both(lambda lib: outcome(use, lib))
    assert_same(ours, theirs)


def refusals(use: Callable[[Any], Any]) -> tuple[str, str]:
    """The texts of the errors, of one type, that both libraries raise in ``use``."""
    ours, theirs = both(lambda lib: outcome(use, lib))
    assert isinstance(theirs, tuple), "PyTorch accepts it"
    assert isinstance(ours, tuple) and ours[0] == theirs[0], (ours, theirs)
    return ours[1], theirs[1]


def refused(use: Callable[[Any], Any], words: int = 3) -> None:
    """Assert that both libraries refuse ``use`` alike, to the first ``words`` of the text."""
    ours, theirs = refusals(use)
    assert ours.split()[:words] == theirs.split()[:words], (ours, theirs)


def made(lib: Any, make: Call) -> Any:
    """What ``make`` gives with a library's ``nn``."""
    return called(make, {"nn": lib.nn, "lib": lib})


def of_nn(use: Call) -> Callable[[Any], Any]:
    """The same as a function of the library."""
    return lambda lib: made(lib, use)


def arguments(function: Any) -> list[tuple[str, Any]]:
    """Names and defaults of a signature's parameters."""
    return [
        (parameter.name, getattr(parameter.default, "__name__", parameter.default))
        for parameter in inspect.signature(function).parameters.values()
    ]


def gradients(lib: Any, function: Callable[..., Any], *arrays: Any) -> list[Any]:
    """The result of a function of float arrays, and its gradients by them.

    The result is reduced with fixed weights, so that every element has a gradient of its own.
    What ``constant`` made gets no gradient.
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
    """A layer with weights of its own that both libraries share exactly."""
    layer = made(lib, make).to(getattr(lib, dtype))
    for seed, param in enumerate(layer.parameters()):
        if not hasattr(param, "materialize"):
            values = array(*param.shape, dtype=dtype, seed=seed + 5)
            param.data.copy_(lib.tensor(values))
    return layer


def layer_results(lib: Any, make: Call, inputs: Any, dtype: str = "float32") -> Any:
    """A layer's outputs, gradients and state after a call."""
    inputs = [each.astype(dtype) if each.dtype.kind == "f" else each for each in inputs]
    layer = make_layer(lib, make, dtype)
    # In-place layers cannot change a leaf.
    call = (
        layer if "True" not in str(words(make)) else lambda *args: layer(*(1 * arg for arg in args))
    )
    results = gradients(lib, call, *inputs)
    return [results, [param.grad for param in layer.parameters()], layer.state_dict()]
