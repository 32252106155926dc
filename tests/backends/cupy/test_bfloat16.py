"""bfloat16 on a GPU's library: what its arrays go through, and with which roundings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import strictcupy
from strictcupy.backend import StrictBackend

import tinytorch as tt
from tinytorch.backends import load, registered
from tinytorch.backends.cupy.kernels import FusedKernels

ml_dtypes = pytest.importorskip("ml_dtypes", reason="the extra [lowp] is not installed")
F = tt.nn.functional


@pytest.fixture(autouse=True)
def strict() -> Iterator[StrictBackend]:
    if "strict" not in registered():
        tt.register_backend("strict", "strictcupy.backend:StrictBackend")
    with tt.backend_context("strict"):
        yield load("strict")  # type: ignore[misc]


def numbers(*shape: int, seed: int = 0) -> Any:
    return np.random.RandomState(seed).randn(*shape).astype(ml_dtypes.bfloat16)


def tensor(host: Any) -> Any:
    return tt.as_tensor(load("strict").from_numpy(host))


def host(x: Any) -> Any:
    return x._xp.to_numpy(x._data)


def rounded(wide: Any) -> Any:
    return np.asarray(wide, "f4").astype(ml_dtypes.bfloat16)


def within_a_unit(found: Any, wanted: Any) -> bool:
    """Sums in another order may round to a neighbour."""
    a, b = (np.asarray(each, "f4") for each in (found, wanted))
    return bool((abs(a - b) <= 2.0**-7 * abs(b) + 2.0**-10).all())


@pytest.mark.parametrize(("a", "b"), [
    (numbers(5, 7), numbers(7, 3)), (numbers(7, 5).T, numbers(3, 7).T),
    (numbers(2, 5, 7), numbers(2, 7, 3)), (numbers(2, 5, 7), numbers(2, 3, 7).swapaxes(1, 2)),
    (numbers(2, 5, 7), numbers(7, 3)), (numbers(5, 7), numbers(7)),
], ids=["2-D", "2-D transposed", "batched", "batched transposed", "folded", "vector"])  # fmt: skip
def test_products_are_cublas_and_are_rounded_once(a: Any, b: Any, monkeypatch: Any) -> None:
    given: list[str] = []
    matmul = strictcupy.matmul
    monkeypatch.setattr(
        strictcupy,
        "matmul",
        lambda x, y, **kw: given.append(x.dtype.name + y.dtype.name) or matmul(x, y, **kw),
    )
    x, y = tensor(a).requires_grad_(), tensor(b).requires_grad_()
    out = x @ y
    assert given == 1 * ["bfloat16bfloat16"]
    assert within_a_unit(host(out), rounded(a.astype("f4") @ b.astype("f4")))
    grad = tt.ones_like(out)
    out.backward(grad)
    assert set(given) == {"bfloat16bfloat16"} and len(given) > 1
    assert x.grad is not None and x.grad.dtype is y.grad.dtype is tt.bfloat16
    wide = [tt.tensor(each.astype("f4"), requires_grad=True) for each in (a, b)]
    (wide[0] @ wide[1]).backward(tt.ones(out.shape))
    for low, high in zip((x, y), wide):
        assert within_a_unit(host(low.grad), host(high.grad))


@pytest.mark.parametrize("shape", [(5, 7), (2, 5, 7)])
@pytest.mark.parametrize("turned", [False, True])
def test_a_layer_adds_its_bias_before_it_rounds(shape: tuple[int, ...], turned: bool) -> None:
    a, w, b = numbers(*shape), numbers(3, 7, seed=1), numbers(3, seed=2)
    weight = tensor(np.ascontiguousarray(w.T)).T if turned else tensor(w)
    found = host(F.linear(tensor(a), weight, tensor(b)))
    wide = a.astype("f4") @ w.astype("f4").T + b.astype("f4")
    assert found.shape == wide.shape and within_a_unit(found, rounded(wide))
    # Rounded twice, some of many would be further from the exact number than half a unit.
    errors = abs(found.astype("f8") - a.astype("f8") @ w.astype("f8").T - b.astype("f8"))
    assert (errors <= 0.501 * np.spacing(abs(found)).astype("f8")).all()


@pytest.mark.parametrize(("name", "call"), [
    ("softmax", lambda x: F.softmax(x, 1)), ("softmax", lambda x: F.softmax(x, 0)),
    ("log_softmax", lambda x: F.log_softmax(x, -1)),
    ("layer_norm", lambda x: F.layer_norm(x, (7,))),
    ("layer_norm", lambda x: F.layer_norm(x, (7,), x[0], x[1])),
])  # fmt: skip
def test_fused_kernels_accept_bfloat16_where_no_graph_is_recorded(
    name: str, call: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []
    own = getattr(FusedKernels, f"_{name}")
    monkeypatch.setattr(
        FusedKernels,
        f"_{name}",
        lambda self, x, *more: given.append(x.dtype.name) or own(self, x, *more),
    )
    values = numbers(5, 7)
    found = call(tensor(values))
    assert given == ["bfloat16"]
    wanted = call(tt.tensor(values.astype("f4")))
    assert np.array_equal(host(found), rounded(host(wanted)))
    given.clear()
    x = tensor(values).requires_grad_()
    call(x).sum().backward()
    assert given == ["float32"] and x.grad is not None


def test_optimizers_update_bfloat16_by_one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [numbers(3, 4), numbers(4, seed=1)]
    params = [tensor(each).requires_grad_() for each in values]
    for each in params:
        each.grad = tt.ones_like(each)
    tt.optim.SGD(params, lr=0.1, weight_decay=0.5).step()
    for each, value in zip(params, values):
        wide = value.astype("f4")
        assert np.array_equal(host(each), rounded(wide - np.float32(0.1) * (1 + 0.5 * wide)))


def test_the_strict_backend_refuses_float8() -> None:
    with pytest.raises(TypeError, match="backend 'strict' has no dtype 'float8_e5m2'"):
        tt.ones(2, dtype="float8_e5m2")


@pytest.mark.parametrize("call", ["where(x == x, x, x)", "sort(x)", "around(x)"])
def test_the_stand_in_raises_where_cupy_has_no_bfloat16_loop(call: str) -> None:
    x = strictcupy.asarray(numbers(3))
    names = {"x": x, "i": strictcupy.asarray([0])}
    with pytest.raises(TypeError, match="bfloat16"):
        eval(f"cp.{call}", {"cp": strictcupy, **names})
