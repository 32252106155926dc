"""Fused kernels of the backend "torch": results and gradients are PyTorch's and NumPy's."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.backends.kernels import OPTIMIZERS, PROGRAMS, count_calls, numbers, optimize, results

pytestmark = pytest.mark.torch


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Number of results of each kernel."""
    return count_calls("torch", monkeypatch)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_compute_pytorchs_and_numpys_results(
    name: str, dtype: str, calls: Counter[str], torch: Any
) -> None:
    function, arrays, kernels = PROGRAMS[name]
    arrays = tuple(a.astype(dtype) if a.dtype.kind == "f" else a for a in arrays)
    with tt.backend_context("torch"):
        found = results(tt, function, *arrays)
    assert set(kernels.split()) <= {each for each, count in calls.items() if count}
    with tt.backend_context("numpy"):
        here = results(tt, function, *arrays)
    for ours, on_numpy, theirs in zip(found, here, results(torch, function, *arrays), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(ours, on_numpy, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("max of images", "float16"),
        ("max of images", "int64"),
        ("mean of images", "int64"),
        ("layer norm", "float16"),
        ("embedding", "float16"),
        ("embedding", "complex64"),
    ],
)
def test_kernels_leave_other_dtypes_to_the_shared_code(
    name: str, dtype: str, calls: Counter[str]
) -> None:
    function, arrays, _ = PROGRAMS[name]
    arrays = tuple(a.astype(dtype) if a.dtype.kind == "f" else a for a in arrays)
    found = []
    for backend in ("torch", "numpy"):
        with tt.backend_context(backend):
            found.append(function(tt, *map(tt.tensor, arrays)))
    assert not [each for each, count in calls.items() if count]
    np.testing.assert_allclose(found[0].numpy(), found[1].numpy(), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("name", ["max of images", "batch norm", "layer norm", "attention"])
def test_second_derivatives_go_through_the_kernels(name: str) -> None:
    function, arrays, _ = PROGRAMS[name]
    found = []
    for backend in ("torch", "numpy"):
        with tt.backend_context(backend):
            x, *rest = (tt.tensor(a.astype("float64"), requires_grad=True) for a in arrays)
            (first,) = tt.autograd.grad((function(tt, x, *rest) ** 3).sum(), x, create_graph=True)
            found.append(tt.autograd.grad((first**2).sum(), x)[0].numpy())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-7, atol=1e-9)


def test_the_first_of_equal_maxima_gets_the_gradient() -> None:
    with tt.backend_context("torch"):
        x = tt.tensor([[[[1.0, 5.0], [5.0, 5.0]]]], requires_grad=True)
        tt.nn.functional.max_pool2d(x, 2).sum().backward()
        assert x.grad is not None
        assert x.grad.tolist() == [[[[0.0, 1.0], [0.0, 0.0]]]]
        nan = tt.tensor([[[[1.0, float("nan")], [5.0, 5.0]]]])
        assert tt.nn.functional.max_pool2d(nan, 2).isnan().all()


def test_an_invalid_index_of_an_embedding_raises() -> None:
    with tt.backend_context("torch"):
        for index in (5, -1):
            with pytest.raises(IndexError, match="index out of range in self"):
                tt.nn.functional.embedding(tt.tensor([0, index]), tt.ones(5, 2)).tolist()


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cross_entropy_is_pytorchs(
    reduction: str, dtype: str, calls: Counter[str], torch: Any
) -> None:
    scores = numbers(6, 4).astype(dtype)
    scores[1] *= 1000  # exp overflows
    scores[2, :2] = -np.inf
    labels = np.array([3, 0, 2, -100, 2, 1])

    def loss(m: Any, x: Any, target: Any) -> Any:
        return m.nn.functional.cross_entropy(x * 1, target, reduction=reduction)

    with tt.backend_context("torch"):
        found = results(tt, loss, scores, labels)
    assert calls["cross_entropy"] == calls["cross_entropy_backward"] == 1
    for ours, theirs in zip(found, results(torch, loss, scores, labels), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_an_invalid_target_of_cross_entropy_raises() -> None:
    with tt.backend_context("torch"):
        for target in (3, -1):
            with pytest.raises(IndexError, match=f"Target {target} is out of bounds"):
                tt.nn.functional.cross_entropy(tt.zeros(2, 3), tt.tensor([0, target])).item()


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_updates_are_pytorchs(name: str, transposed: bool, calls: Counter[str], torch: Any) -> None:
    options = OPTIMIZERS[name]
    with tt.backend_context("torch"):
        found = optimize(tt, name, options, transposed)
    kernel = "sgd_update" if name.startswith("SGD") else "adam_update"
    assert calls[kernel] == (0 if transposed else 3)  # a transposed parameter is not row-major
    for ours, theirs in zip(found, optimize(torch, name, options, transposed), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
