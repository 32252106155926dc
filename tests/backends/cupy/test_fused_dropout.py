"""Dropout through a backend's own kernel: the same numbers, gradients and memory manners.

The stand-in compiles no CUDA, so its kernel is the formula on the stand-in's arrays; the CUDA
source itself is compiled in ``test_cuda_sources.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from strictcupy.backend import PretendedCuda, StrictBackend, pretended_cuda

import tinytorch as tt
from tinytorch.nn import functional as F

DTYPES = ["float16", "float32", "float64"]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Names of the kernels that ran, on a backend that has one for dropout."""
    ran: list[str] = []

    def dropout(input: Any, keep: Any, scale: float) -> Any:
        assert keep.dtype == bool and isinstance(scale, float)
        ran.append("dropout")
        return input * (keep * input.dtype.type(scale))

    def kernel(self: Any, name: str) -> Any:
        return dropout if name == "dropout" else None

    monkeypatch.setattr(StrictBackend, "kernel", kernel)
    with pretended_cuda(1):
        yield ran


def values(dtype: str) -> Any:
    return np.random.default_rng(0).standard_normal((40, 50)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.7])
def test_values_and_gradients_of_fused_dropout_are_pytorchs(
    calls: list[str], dtype: str, p: float, torch: Any
) -> None:
    x = torch.tensor(values(dtype), requires_grad=True)
    torch.manual_seed(3)
    expected = torch.nn.functional.dropout(x, p)
    (expected * 2).sum().backward()
    for where, kernels in (("cpu", 0), ("cuda", 2)):
        calls.clear()
        y = tt.tensor(values(dtype), device=where, requires_grad=True)
        tt.manual_seed(3)
        found = F.dropout(y, p)
        (found * 2).sum().backward()
        assert np.array_equal(found.detach().cpu().numpy(), expected.detach().numpy())
        assert np.array_equal(y.grad.cpu().numpy(), x.grad.numpy())
        assert len(calls) == kernels


def test_infinities_become_nan_as_in_pytorch(calls: list[str], torch: Any) -> None:
    x = [float("inf"), float("nan"), -float("inf"), 1.0] * 8
    torch.manual_seed(0)
    expected = torch.nn.functional.dropout(torch.tensor(x), 0.5).numpy()
    tt.manual_seed(0)
    found = F.dropout(tt.tensor(x, device="cuda"), 0.5).cpu().numpy()
    np.testing.assert_array_equal(found, expected)
    assert calls


def test_in_place_channel_and_alpha_dropout_are_fused_too(calls: list[str], torch: Any) -> None:
    for name, shape in (("dropout2d", (3, 4, 5, 5)), ("dropout3d", (2, 3, 2, 2, 2))):
        host = np.ones(shape, "f4")
        torch.manual_seed(1)
        expected = getattr(torch.nn.functional, name)(torch.tensor(host), 0.4)
        tt.manual_seed(1)
        found = getattr(F, name)(tt.tensor(host, device="cuda"), 0.4)
        assert np.array_equal(found.cpu().numpy(), expected.numpy())
    x = tt.ones(100, device="cuda")
    assert F.dropout(x, 0.5, inplace=True) is x
    assert set(x.tolist()) == {0.0, 2.0}
    assert len(calls) == 3


def test_dropout_has_a_second_derivative(calls: list[str]) -> None:
    x = tt.full((20,), 3.0, device="cuda", requires_grad=True)
    y = F.dropout(x, 0.5)
    (g,) = tt.autograd.grad((y * y).sum(), x, create_graph=True)
    (h,) = tt.autograd.grad(g.sum(), x)
    assert set(h.tolist()) == {0.0, 8.0}
    assert h.tolist() == [8.0 * (v != 0) for v in y.tolist()]


def test_a_quarter_of_the_memory_goes_to_the_device(calls: list[str]) -> None:
    sent, from_numpy = [], PretendedCuda.from_numpy

    def record(self: Any, host: Any) -> Any:
        sent.append(np.asarray(host).dtype)
        return from_numpy(self, host)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PretendedCuda, "from_numpy", record)
        x = tt.ones(1000, device="cuda")
        sent.clear()
        F.dropout(x, 0.5)
    assert sent == [np.dtype(bool)]


def test_complex_tensors_take_the_kernel_that_is_not_fused(calls: list[str]) -> None:
    x = tt.ones(64, dtype=tt.complex64)
    tt.manual_seed(0)
    expected = F.dropout(x, 0.5).tolist()
    tt.manual_seed(0)
    assert F.dropout(x.to("cuda"), 0.5).tolist() == expected
    assert calls == []
