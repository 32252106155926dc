"""A default is what it is when it is asked for, not what it was when the library was loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tinytorch as tt

#: Calls that give no dtype, and what their results are made of.
CALLS: dict[str, Callable[[Any], Any]] = {
    "tensor": lambda L: L.tensor([1.0]), "tensor of none": lambda L: L.tensor([]),
    "Tensor": lambda L: L.Tensor(2), "asarray": lambda L: L.asarray(1.5),
    "zeros": lambda L: L.zeros(2), "ones": lambda L: L.ones(2), "empty": lambda L: L.empty(2),
    "eye": lambda L: L.eye(2), "full": lambda L: L.full((2,), 1.5),
    "arange": lambda L: L.arange(0.0, 1.0, 0.5), "linspace": lambda L: L.linspace(0, 1, 3),
    "logspace": lambda L: L.logspace(0, 1, 3), "rand": lambda L: L.rand(2),
    "randn": lambda L: L.randn(2), "normal": lambda L: L.normal(0.0, 1.0, (2,)),
    "hann_window": lambda L: L.hann_window(4), "fftfreq": lambda L: L.fft.fftfreq(4),
    "integers divided": lambda L: L.tensor([1, 2]) / 2,
    "a float added to integers": lambda L: L.tensor([1, 2]) + 1.5,
    "sine of integers": lambda L: L.sin(L.tensor([1, 2])),
    "result_type": lambda L: L.empty(0, dtype=L.result_type(1, 1.5)),
    "clamp": lambda L: L.tensor([1, 2]).clamp(0.5), "Linear": lambda L: L.nn.Linear(1, 1).weight,
    "Normal": lambda L: L.distributions.Normal(0, 1).sample(),
    "storage": lambda L: L.empty(0, dtype=L.TypedStorage(2).dtype),
}  # fmt: skip


pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated:UserWarning")


@pytest.fixture(params=["float16", "float32", "float64"])
def default(request: pytest.FixtureRequest) -> Iterator[tt.dtype]:
    before, chosen = tt.get_default_dtype(), getattr(tt, request.param)
    tt.set_default_dtype(chosen)
    yield chosen
    tt.set_default_dtype(before)


@pytest.mark.parametrize("name", CALLS)
def test_floats_have_the_default_dtype(default: tt.dtype, name: str) -> None:
    assert CALLS[name](tt).dtype is default


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_floats_have_the_default_dtype_in_pytorch_too(torch: Any, name: str, dtype: str) -> None:
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, dtype))
    try:
        assert CALLS[name](torch).dtype is getattr(torch, dtype)
    finally:
        torch.set_default_dtype(before)


def test_finfo_without_argument_is_of_the_default_dtype(default: tt.dtype) -> None:
    assert tt.finfo().dtype == default.name
    assert tt.finfo().bits == 8 * default.itemsize and tt.finfo().eps == tt.finfo(default).eps


def test_finfo_follows_the_default_dtype_of_a_scope() -> None:
    with tt.default_dtype_context(tt.float64):
        assert tt.finfo().bits == 64
    assert tt.finfo().bits == 32


def test_the_repr_omits_the_default_dtype(default: tt.dtype) -> None:
    assert "dtype" not in repr(tt.ones(1, dtype=default))
    other = tt.float32 if default is tt.float64 else tt.float64
    assert f"dtype={other}" in repr(tt.ones(1, dtype=other))
