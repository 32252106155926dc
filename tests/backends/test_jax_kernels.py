"""Kernels of the backend "jax" that XLA compiles: results and gradients are NumPy's."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.backends.kernels import OPTIMIZERS, PROGRAMS, count_calls, optimize, results

jax = pytest.importorskip("jax")

#: Kernels that JAX lacks: ``take`` is its gather already.
_ABSENT = frozenset(["embedding"])


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Number of results of each kernel."""
    return count_calls("jax", monkeypatch)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_compute_numpys_results(name: str, dtype: str, calls: Counter[str]) -> None:
    function, arrays, kernels = PROGRAMS[name]
    arrays = tuple(a.astype(dtype) if a.dtype.kind == "f" else a for a in arrays)
    found = []
    for backend in ("jax", "numpy"):
        with tt.backend_context(backend):
            found.append(results(tt, function, *arrays))
    assert {*kernels.split()} - _ABSENT <= {each for each, count in calls.items() if count}
    for ours, on_numpy in zip(*found, strict=True):
        np.testing.assert_allclose(ours, on_numpy, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_updates_are_numpys(name: str, transposed: bool, calls: Counter[str]) -> None:
    found = []
    for backend in ("jax", "numpy"):
        with tt.backend_context(backend):
            found.append(optimize(tt, name, OPTIMIZERS[name], transposed))
    assert calls["sgd_update" if name.startswith("SGD") else "adam_update"] == 3
    for ours, on_numpy in zip(*found, strict=True):
        np.testing.assert_allclose(ours, on_numpy, rtol=1e-5, atol=1e-6)


def test_parameters_that_share_memory_are_updated_one_after_the_other(calls: Counter[str]) -> None:
    found = []
    for backend in ("jax", "numpy"):
        with tt.backend_context(backend):
            whole = tt.ones(4)
            parts = [whole[:2].requires_grad_(), whole[2:].requires_grad_()]
            sum((part**2).sum() for part in parts).backward()
            tt.optim.SGD(parts, lr=0.1, momentum=0.9).step()
            found.append(whole.tolist())
    assert not calls["sgd_update"]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


@pytest.mark.parametrize(
    "name",
    ["max of images", "mean of images", "batch norm", "layer norm", "attention",
     "attention, causal", "relu"],
)  # fmt: skip
def test_kernels_go_through_jaxs_transforms(name: str) -> None:
    function, arrays, _ = PROGRAMS[name]
    raws = [jax.numpy.asarray(array) for array in arrays]

    def run(*raws: Any) -> Any:
        with tt.backend_context("jax"):
            out = function(tt, *map(tt.as_tensor, raws))
            return out.backend.unwrap(out)

    np.testing.assert_allclose(jax.jit(run)(*raws), run(*raws), rtol=1e-5, atol=1e-5)
    batch = tuple(jax.numpy.stack([raw, 2 * raw]) for raw in raws)
    np.testing.assert_allclose(jax.vmap(run)(*batch)[0], run(*raws), rtol=1e-5, atol=1e-5)
    weights = np.random.default_rng(9).standard_normal(run(*raws).shape).astype(np.float32)
    grads = jax.grad(lambda *raws: (run(*raws) * weights).sum(), range(len(raws)))(*raws)
    with tt.backend_context("numpy"):
        _, *expected = results(tt, function, *arrays)
    for found, each in zip(grads, expected, strict=True):
        np.testing.assert_allclose(found, each, rtol=1e-4, atol=1e-5)


def test_maxima_of_nan_and_of_equal_numbers_are_pytorchs() -> None:
    nan = float("nan")
    with tt.backend_context("jax"):
        x = tt.tensor([[[[1.0, 5.0, nan, nan], [5.0, 5.0, 2.0, nan]]]], requires_grad=True)
        out, index = tt.nn.functional.max_pool2d(x, 2, return_indices=True)
        assert index.tolist() == [[[[1, 7]]]]
        assert out.isnan().tolist() == [[[[False, True]]]]
        tt.nn.functional.max_pool2d(x, 2).sum().backward()
        assert x.grad is not None
        assert x.grad.tolist() == [[[[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]]]
