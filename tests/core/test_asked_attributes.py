"""Libraries ask a value what it has: ``hasattr`` answers, of any tensor and any name."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt


def in_inference_mode() -> tt.Tensor:
    with tt.inference_mode():
        return tt.ones(2, 3)


MADE: dict[str, Callable[[], Any]] = {
    "real": lambda: tt.ones(2, 3),
    "no dimension": lambda: tt.ones(()),
    "one dimension": lambda: tt.ones(3),
    "three dimensions": lambda: tt.ones(2, 3, 4),
    "complex": lambda: tt.ones(2, 3, dtype=tt.complex64),
    "int": lambda: tt.ones(2, 3, dtype=tt.int64),
    "bool": lambda: tt.ones(2, 3) > 0,
    "requires grad": lambda: tt.ones(2, 3, requires_grad=True),
    "recorded": lambda: tt.ones(2, 3, requires_grad=True) * 2,
    "meta": lambda: tt.ones(2, 3, device="meta"),
    "parameter": lambda: tt.nn.Parameter(tt.ones(2, 3)),
    "inference": in_inference_mode,
}
#: What PyTorch refuses with a RuntimeError alone, by which programs tell it from a missing name.
REFUSED = {"H", "mH", "mT"}
#: What PyTorch warns of when it is read.
WARNED = {"H", "T", "mH", "mT", "grad", "_grad", "volatile"}


def raise_warnings(tensor: Any, names: set[str]) -> None:
    for name in sorted(names):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if name in WARNED else "error")
            with contextlib.suppress(*[RuntimeError] * (name in REFUSED)):
                hasattr(tensor, name)


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_hasattr_of_any_attribute_neither_raises_nor_warns(make: Callable[[], Any]) -> None:
    raise_warnings(make(), {*dir(np.ndarray), *dir(tt.Tensor)})


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_hasattr_of_pytorchs_names_neither_raises_nor_warns(
    torch: Any, make: Callable[[], Any]
) -> None:
    raise_warnings(make(), {*dir(torch.Tensor)})


@pytest.mark.parametrize(
    ("name", "shape"), [("imag", (2, 2)), ("H", (3,)), ("H", (1, 2, 3)), ("mH", (3,)), ("mT", (3,))]
)
def test_attributes_that_pytorch_refuses_raise_runtime_error(
    lib: Any, name: str, shape: tuple[int, ...]
) -> None:
    with pytest.raises(RuntimeError, match=name):
        getattr(lib.ones(shape), name)
