"""What a kernel keeps on the way to its result, for its gradient rule alone."""

from __future__ import annotations

import gc
import math
import weakref
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tinytorch import autograd

gelu: Any = tt.nn.functional.gelu
DTYPES = {"float32": 2e-6, "float64": 1e-14}


def slope_of_gelu(x: Any) -> Any:
    share = [0.5 * math.erfc(-v / math.sqrt(2.0)) for v in x.ravel().tolist()]
    density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return np.reshape(share, x.shape) + x * density


def second_slope_of_gelu(x: Any) -> Any:
    return (2 - x * x) * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def leaf(dtype: str, *shape: int) -> tt.Tensor:
    values = np.random.default_rng(0).standard_normal(shape) * 2
    return tt.tensor(values.astype(dtype), requires_grad=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0, 3), (7,), (300, 500)])
def test_first_second_and_third_derivatives_of_gelu_are_exact(
    dtype: str, shape: tuple[int, ...]
) -> None:
    x = leaf(dtype, *shape)
    exact = x.detach().numpy().astype("float64")
    bound = DTYPES[dtype]
    y = gelu(x)
    (plain,) = autograd.grad(y, x, tt.ones_like(y), retain_graph=True)
    (again,) = autograd.grad(y, x, tt.ones_like(y), retain_graph=True)
    (recorded,) = autograd.grad(y, x, tt.ones_like(y), create_graph=True)
    (second,) = autograd.grad(recorded, x, tt.ones_like(y))
    for found in (plain, again, recorded.detach()):
        np.testing.assert_allclose(found.numpy(), slope_of_gelu(exact), rtol=0, atol=bound)
    np.testing.assert_allclose(second.numpy(), second_slope_of_gelu(exact), rtol=0, atol=4 * bound)


def test_gelu_of_a_strided_view_has_the_right_gradient() -> None:
    x = leaf("float64", 6, 8)
    y = gelu(x[::2, 1:].mT)
    y.sum().backward()
    wanted = np.zeros((6, 8))
    wanted[::2, 1:] = slope_of_gelu(x.detach().numpy()[::2, 1:])
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), wanted, rtol=0, atol=1e-14)


def test_the_result_may_be_changed_and_the_argument_may_not() -> None:
    x = leaf("float64", 5)
    gelu(x).mul_(3.0).sum().backward()
    assert x.grad is not None
    wanted = 3 * slope_of_gelu(x.detach().numpy())
    np.testing.assert_allclose(x.grad.numpy(), wanted, rtol=0, atol=1e-14)
    inner = x * 1.0
    y = gelu(inner)
    inner.mul_(2.0)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.sum().backward()


def test_saved_tensor_hooks_are_called_with_the_argument_of_gelu_alone() -> None:
    x = leaf("float64", 5)
    seen = []

    def pack(tensor: tt.Tensor) -> tt.Tensor:
        seen.append(tensor)
        return tensor * 2

    with autograd.graph.saved_tensors_hooks(pack, lambda t: t / 2):
        y = gelu(x)
    y.sum().backward()
    assert len(seen) == 1 and seen[0] is x
    assert x.grad is not None
    wanted = slope_of_gelu(x.detach().numpy())
    np.testing.assert_allclose(x.grad.numpy(), wanted, rtol=0, atol=1e-14)


def test_a_backward_pass_frees_the_saved_array() -> None:
    y = gelu(leaf("float64", 5))
    kept = y._node.out
    if kept is None:
        pytest.skip("this backend's own kernel keeps nothing")
    alive = weakref.ref(kept)
    del kept
    y.sum().backward()
    gc.collect()
    assert alive() is None
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()


def test_gelu_is_not_recorded_without_need_of_a_gradient() -> None:
    x = leaf("float64", 5)
    with tt.no_grad():
        assert not gelu(x).requires_grad
    with tt.inference_mode():
        assert gelu(x).is_inference()
    assert gelu(x.detach()).grad_fn is None
