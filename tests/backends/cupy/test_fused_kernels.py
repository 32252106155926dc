"""Operations through fused kernels: values and gradients as on NumPy, in every order of memory.

The kernels are looked up by name and launched as on a GPU; the stand-in computes what each one
would. The CUDA sources are compiled, and run on the host, in ``test_cuda_sources.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from strictcupy import _kernels, record_syncs
from strictcupy.backend import pretended_cuda

import tinytorch as tt
from tests.oracles import FEW_STEPS
from tinytorch.nn import functional as F

#: Views of a (2, 3, 4) array in several orders of memory.
VIEWS: dict[str, Callable[[Any], Any]] = {
    "row-major": lambda x: x,
    "permuted": lambda x: x.permute(0, 2, 1),
    "reversed": lambda x: x.permute(2, 1, 0),
    "every other": lambda x: x[:, :, ::2],
    "matrix": lambda x: x[0],
    "transposed": lambda x: x[0].t(),
    "row": lambda x: x[0, 0],
}


@pytest.fixture(autouse=True)
def launched() -> Iterator[list[str]]:
    """Names of the kernels that ran."""
    names: list[str] = []

    def recorded(table: dict[str, Any]) -> dict[str, Any]:
        def of(name: str, kernel: Any) -> Any:
            def call(*args: Any) -> Any:
                names.append(name.removeprefix("tinytorch_"))
                return kernel(*args)

            return call

        return {name: of(name, kernel) for name, kernel in table.items()}

    with pytest.MonkeyPatch.context() as patch, pretended_cuda(1):
        patch.setattr(_kernels, "KERNELS", recorded(_kernels.KERNELS))
        patch.setattr(_kernels, "ELEMENTWISE", recorded(_kernels.ELEMENTWISE))
        yield names


def near(found: Any, wanted: Any, dtype: str) -> None:
    a, b = (x.detach().cpu().numpy().astype("f8") for x in (found, wanted))
    np.testing.assert_array_less(abs(a - b), FEW_STEPS[dtype] * (1 + abs(b)) + 1e-300)


def compare_devices(call: Callable[..., Any], arrays: list[Any], dtype: str) -> tt.Tensor:
    """The result on the pretended GPU, after it and the gradients are found to be NumPy's."""
    results = []
    for where in ("cuda", "cpu"):
        leaves = [tt.tensor(a.astype(dtype), device=where, requires_grad=True) for a in arrays]
        out = call(where, *leaves)
        weights = tt.arange(out.numel(), dtype=out.dtype, device=where).reshape(out.shape) % 5 - 1.5
        (out * weights).sum().backward()
        results.append([out, *[leaf.grad for leaf in leaves if leaf.grad is not None]])
    for found, wanted in zip(*results, strict=True):
        assert found.device.type == "cuda" and found.dtype == wanted.dtype
        near(found, wanted, dtype)
    return results[0][0]


def values(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("dtype", FEW_STEPS)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_fused_softmax_equals_the_cpus(
    name: str, view: str, dtype: str, launched: list[str]
) -> None:
    x = values(2, 3, 4)
    for dim in range(VIEWS[view](tt.tensor(x)).ndim):
        out = compare_devices(
            lambda _, x, dim=dim: getattr(F, name)(VIEWS[view](x), dim), [x], dtype
        )
        assert out.is_contiguous(), "whoever views it relies on that"
    assert name in launched


def test_log_softmax_of_large_numbers_keeps_its_digits() -> None:
    x = tt.tensor([[1e4, 1e4], [-1e4, 1e4]], device="cuda")
    np.testing.assert_allclose(F.log_softmax(x, 1).tolist(), [[-np.log(2)] * 2, [-2e4, 0]], 1e-7)
    loss = F.cross_entropy(x, tt.tensor([0, 1], device="cuda"), reduction="none")
    np.testing.assert_allclose(loss.tolist(), [np.log(2), 0], 1e-7)


@pytest.mark.parametrize("dtype", FEW_STEPS)
@pytest.mark.parametrize("options", [
    {}, {"reduction": "sum"}, {"reduction": "none"}, {"ignore_index": 1},
    {"ignore_index": 1, "reduction": "none"}, {"label_smoothing": 0.1},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (2, 0, 1)])
def test_fused_cross_entropy_equals_the_cpus(order: Any, options: Any, dtype: str) -> None:
    scores = values(3, 4, 5)
    shape = [scores.shape[i] for i in order]
    target = np.arange(shape[0] * shape[2]).reshape(shape[0], shape[2]) % shape[1]

    def loss(where: str, x: tt.Tensor) -> tt.Tensor:
        return F.cross_entropy(x.permute(order), tt.tensor(target, device=where), **options)

    compare_devices(loss, [scores], dtype)


@pytest.mark.parametrize("dtype", FEW_STEPS)
@pytest.mark.parametrize("transposed", [False, True])
def test_cross_entropy_of_rows_is_fused(transposed: bool, dtype: str, launched: list[str]) -> None:
    scores, target = values(4, 4), np.array([0, 3, 1, 2])

    def loss(where: str, x: tt.Tensor) -> tt.Tensor:
        return F.cross_entropy(x.t() if transposed else x, tt.tensor(target, device=where))

    compare_devices(loss, [scores], dtype)
    assert {"cross_entropy", "cross_entropy_backward"} <= set(launched)


@pytest.mark.parametrize("dtype", FEW_STEPS)
@pytest.mark.parametrize("affine", ["both", "weight", "neither"])
def test_fused_layer_norm_equals_the_cpus(affine: str, dtype: str, launched: list[str]) -> None:
    x, weight, bias = values(2, 3, 4), values(4, seed=1), values(4, seed=2)
    given = {"both": [weight, bias], "weight": [weight], "neither": []}[affine]
    compare_devices(lambda _, x, *rest: F.layer_norm(x, (4,), *rest), [x, *given], dtype)
    compare_devices(lambda _, x: F.layer_norm(x.permute(2, 0, 1), (2, 3)), [x], dtype)
    assert "layer_norm" in launched


@pytest.mark.parametrize("dtype", FEW_STEPS)
def test_fused_gelu_equals_the_cpus(dtype: str, launched: list[str]) -> None:
    compare_devices(lambda _, x: F.gelu(x.permute(1, 2, 0)), [values(2, 3, 4)], dtype)
    assert ("gelu_half" if dtype == "float16" else "gelu") in launched


OPTIMIZERS: dict[str, Callable[..., Any]] = {
    "sgd": lambda p: tt.optim.SGD(p, lr=0.1, weight_decay=0.1),
    "sgd_momentum": lambda p: tt.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "adam": lambda p: tt.optim.AdamW(p, lr=0.1),
    "adam_largest": lambda p: tt.optim.Adam(p, lr=0.1, amsgrad=True, weight_decay=0.1),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_fused_optimizers_update_as_on_the_cpu(name: str, dtype: str, launched: list[str]) -> None:
    ends = []
    for where in ("cuda", "cpu"):
        shapes = [(3, 4), (5,), (), (4099,)]
        parameters = [tt.tensor(values(*s).astype(dtype), device=where) for s in shapes]
        parameters = [p.requires_grad_() for p in parameters]
        optimizer = OPTIMIZERS[name](parameters)
        for _ in range(3):
            optimizer.zero_grad()
            sum((p.cos() * p).sum() for p in parameters).backward()
            optimizer.step()
        ends.append(parameters)
    for found, wanted in zip(*ends, strict=True):
        near(found, wanted, dtype)
    assert launched.count(name) == 3, "one launch a step, whatever the number of tensors"


def test_fused_kernels_do_not_wait() -> None:
    x = tt.randn(6, 5, device="cuda", requires_grad=True)
    weight = tt.ones(5, device="cuda", requires_grad=True)
    target = tt.tensor([0, 1, 2, 3, 4, 0], device="cuda")
    with record_syncs() as log:
        F.cross_entropy(F.gelu(F.layer_norm(x, (5,), weight)), target).backward()
        F.log_softmax(x, 0).sum().backward()
    assert [entry for entry in log if entry.kind != "upload"] == []


def test_layer_norm_with_weights_of_another_dtype_is_not_fused(launched: list[str]) -> None:
    xp = tt.zeros(1, device="cuda").backend
    x, weight = xp.zeros((2, 3), "float16"), xp.ones(3, "float32")
    assert xp.fused("layer_norm", x, weight, None, 1, 1e-5) is None
    assert launched == []
