"""What the tests compare with."""

from __future__ import annotations

import importlib
import re
import warnings
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.calls import Call, called


def libraries() -> tuple[Any, Any]:
    """tinytorch and PyTorch, for a test that is marked ``torch``."""
    return tt, importlib.import_module("torch")


def counted(*arrays: np.ndarray) -> Any:
    """Where every number counts: on a GPU subnormal float32 are 0, see ``docs/numerics.md``."""
    if tt.get_backend() != "cupy":
        return np.full(arrays[0].shape, True)
    smallest = np.finfo(np.float32).tiny
    return np.all([(x == 0) | ~(abs(x) < smallest) for x in arrays], axis=0)


def plain(value: Any) -> Any:
    """A result of either library in Python's own terms."""
    if hasattr(value, "detach"):
        array = value.detach().cpu().numpy()
        return array.dtype.name, np.round(array, 5).tolist()
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return value


def outcome(library: Any, call: Call) -> Any:
    """What a call gives, or the type of its error and what is told of a missing kernel."""
    library.manual_seed(0)
    names = {
        "L": library, "F": library.nn.functional, "T": library.tensor, "X": library.arange(6.0),
        "B": library.tensor([[True, False], [True, True]]),
    }  # fmt: skip
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plain(called(call, names))
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        return type(error).__name__, re.findall('"\\w+" not implemented for .*', str(error))


def given(library: Any, call: Call, **names: Any) -> Any:
    """What a call gives with a library ``L``, its ``F``, and tensors of int32 as ``T``."""

    def integers(values: Any) -> Any:
        return library.tensor(values, dtype=library.int32)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        functional = library.nn.functional
        return called(call, {"L": library, "F": functional, "T": integers, **names})


def refused(call: Call, kind: type[Exception], phrase: str, **makers: Call) -> None:
    """Assert that both libraries refuse a call alike.

    Args:
        call: See ``given``.
        kind: The class of the error.
        phrase: What it says, among other things.
        **makers: Of a library each, what the call needs besides, which is made anew.
    """
    for library in libraries():
        names = {name: make(library) for name, make in makers.items()}
        with pytest.raises(kind) as caught:
            given(library, call, **names)
        assert phrase in str(caught.value)
