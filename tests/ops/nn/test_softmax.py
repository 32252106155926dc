"""Softmax and its relatives, and activations with parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tinytorch import autograd

F: Any = tt.nn.functional
FAMILY = {"softmax": F.softmax, "log_softmax": F.log_softmax, "softmin": F.softmin}


def leaf(values: Any) -> tt.Tensor:
    return tt.tensor(values, dtype=tt.float64, requires_grad=True)


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize(
    ("shape", "dim"), [((4,), 0), ((2, 3), 1), ((2, 3, 4), -2), ((), 0), ((2, 0), 1), ((0, 3), 0)]
)
def test_values_and_gradients_of_softmax_are_pytorchs(
    torch: Any, name: str, shape: tuple[int, ...], dim: int
) -> None:
    x, g = np.random.randn(*shape), np.random.randn(*shape)
    t = torch.tensor(x, requires_grad=True)
    wanted = getattr(torch.nn.functional, name)(t, dim=dim)
    (wanted_grad,) = torch.autograd.grad(wanted, t, torch.tensor(g))
    y = leaf(x)
    got = FAMILY[name](y, dim)
    (got_grad,) = autograd.grad(got, y, tt.tensor(g))
    np.testing.assert_allclose(got.detach().numpy(), wanted.detach().numpy(), rtol=1e-13)
    np.testing.assert_allclose(got_grad.numpy(), wanted_grad.numpy(), rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("name", FAMILY)
def test_softmax_and_related_functions_have_first_and_second_derivatives(name: str) -> None:
    x = leaf(np.random.randn(2, 3))
    for dim in (0, 1):
        assert autograd.gradcheck(lambda x: FAMILY[name](x, dim), (x,))
        assert autograd.gradgradcheck(lambda x: FAMILY[name](x, dim), (x,))


def test_large_numbers_do_not_overflow() -> None:
    x = leaf([1000.0, 0.0, -1000.0])
    assert F.softmax(x, 0).tolist() == [1.0, 0.0, 0.0]
    assert F.log_softmax(x, 0).tolist() == [0.0, -1000.0, -2000.0]
    assert F.log_softmax(leaf([1e4, 1e4]), 0).tolist() == [-math.log(2)] * 2


@pytest.mark.parametrize("shape", [(8, 2), (4000, 2), (4, 2, 30)])
@pytest.mark.parametrize("shift", [0.0, 9.0, 1000.0])
def test_losses_of_confident_logits_keep_the_digits_of_float32(
    shape: tuple[int, ...], shift: float
) -> None:
    x = np.zeros(shape, np.float32)
    x[:, 1] = np.linspace(-12, -2, x[:, 1].size).reshape(x[:, 1].shape)
    x += np.float32(shift)
    y = np.zeros((shape[0], *shape[2:]), np.int64)
    wanted = np.log1p(np.exp(x[:, 1].astype(float) - x[:, 0]))
    found = F.cross_entropy(tt.tensor(x), tt.tensor(y), reduction="none").numpy()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-7)
    mean = F.cross_entropy(tt.tensor(x), tt.tensor(y)).item()
    np.testing.assert_allclose(mean, wanted.mean(), rtol=0, atol=2e-7)


def test_softmax_of_minus_infinity_is_zero_and_of_nothing_finite_nan() -> None:
    x = leaf([0.0, -math.inf])
    assert F.softmax(x, 0).tolist() == [1.0, 0.0]
    assert F.log_softmax(x, 0).tolist() == [0.0, -math.inf]
    assert F.softmax(leaf([-math.inf, -math.inf]), 0).isnan().all()


def test_legacy_dim_is_chosen_by_the_number_of_dimensions() -> None:
    for shape, dim in [((3,), 0), ((2, 3), 1), ((2, 3, 4), 0), ((2, 3, 4, 5), 1)]:
        x = tt.randn(*shape)
        with pytest.warns(UserWarning, match="Implicit dimension choice for softmax") as seen:
            assert F.softmax(x).tolist() == F.softmax(x, dim).tolist()
        assert seen[0].filename == __file__


def test_softmax_refuses_integers_and_accepts_a_dtype() -> None:
    x = tt.tensor([1, 2])
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        F.softmax(x, 0)
    assert F.softmax(x, 0, dtype=tt.float64).dtype is tt.float64
    assert F.log_softmax(tt.ones(2), 0).dtype is tt.float32
    assert tt.softmax(tt.ones(2), dim=0).tolist() == tt.ones(2).softmax(-1).tolist() == [0.5, 0.5]
    with pytest.raises(IndexError, match="Dimension out of range"):
        F.softmax(tt.ones(2), 1)


def test_softmax_of_a_transposed_input_is_right() -> None:
    x = tt.randn(3, 4, dtype=tt.float64)
    np.testing.assert_allclose(F.softmax(x.t(), 0).numpy(), F.softmax(x, 1).numpy().T, rtol=1e-15)


# -- activations with parameters -------------------------------------------------------------------

WITH_PARAMETERS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("leaky_relu", (0.3,), {}),
    ("leaky_relu", (-0.3,), {}),
    ("leaky_relu", (1.5,), {}),
    ("elu", (1.7,), {}),
    ("celu", (2.0,), {}),
    ("hardtanh", (-0.5, 1.2), {}),
    ("hardshrink", (0.7,), {}),
    ("softshrink", (0.7,), {}),
    ("threshold", (0.2, -3.0), {}),
    ("softplus", (2.0, 1.5), {}),
    ("gelu", (), {"approximate": "tanh"}),
    ("glu", (0,), {}),
    ("rrelu", (0.2, 0.4), {}),
]


@pytest.mark.parametrize(("name", "arguments", "options"), WITH_PARAMETERS)
def test_activations_with_parameters_are_pytorchs(
    torch: Any, name: str, arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    x = leaf([-2.3, -0.6, 0.4, 1.6])

    def f(x: tt.Tensor) -> Any:
        return getattr(F, name)(x, *arguments, **options)

    assert autograd.gradcheck(f, (x,))
    assert autograd.gradgradcheck(f, (x,))
    wanted = getattr(torch.nn.functional, name)(
        torch.tensor(x.detach().numpy()), *arguments, **options
    )
    np.testing.assert_allclose(f(x).detach().numpy(), wanted.numpy(), rtol=1e-13)


@pytest.mark.parametrize(
    "name",
    ["relu", "relu6", "elu", "celu", "selu", "silu", "mish", "hardtanh", "hardsigmoid",
     "hardswish", "leaky_relu"],
)  # fmt: skip
def test_inplace_flag_writes_over_the_input(name: str) -> None:
    values = [-2.0, -0.5, 1.5, 7.0]
    f = getattr(F, name)
    wanted = f(tt.tensor(values)).tolist()
    x = tt.tensor(values)
    assert f(x, inplace=True) is x and x.tolist() == wanted
    y = leaf(values)
    (f(y * 1.0, inplace=True) * 2).sum().backward()
    z = leaf(values)
    (f(z) * 2).sum().backward()
    assert y.grad is not None and z.grad is not None
    assert y.grad.tolist() == z.grad.tolist()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mish", {}), ("softplus", {}), ("softplus", {"beta": 2}), ("softplus", {"threshold": 5}),
        ("gelu", {}), ("gelu", {"approximate": "tanh"}), ("silu", {}), ("logsigmoid", {}),
        ("selu", {}), ("tanhshrink", {}), ("softsign", {}), ("hardswish", {}),
    ],
)  # fmt: skip
def test_halves_neither_overflow_nor_lose_their_slope(name: str, options: Any) -> None:
    values = [-900.0, -60.0, -12.0, -0.5, 0.25, 4.9, 5.7, 11.0, 16.0, 60.0, 900.0]
    x = tt.tensor(values, dtype=tt.float16, requires_grad=True)
    wide = x.detach().double().requires_grad_()
    found = []
    for leaf_ in (x, wide):
        out = getattr(F, name)(leaf_, **options)
        found.append((out.tolist(), autograd.grad(out.sum(), leaf_)[0].tolist()))
    for ours, wanted in zip(*found, strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=4e-3, atol=4e-3)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, math.inf])
def test_gradients_of_small_norms_in_half_precision(p: float) -> None:
    x = tt.tensor([[1e-3, -2e-3, 5e-4]], dtype=tt.float16, requires_grad=True)
    wide = x.detach().double().requires_grad_()
    half, wanted = (
        autograd.grad(F.normalize(y, p).sum(), y, create_graph=True)[0] for y in (x, wide)
    )
    np.testing.assert_allclose(half.tolist(), wanted.tolist(), rtol=2e-2)


@pytest.mark.parametrize(
    ("name", "error", "text", "value", "arguments"),
    [
        ("relu", RuntimeError, "Boolean inputs not supported for relu", True, ()),
        ("relu", NotImplementedError, "not implemented for 'ComplexFloat'", 1j, ()),
        ("hardtanh", RuntimeError, "Bool inputs not supported for hardtanh", True, ()),
        ("relu6", RuntimeError, "Bool inputs not supported for hardtanh", True, ()),
        ("hardtanh", NotImplementedError, "not implemented for 'ComplexFloat'", 1j, ()),
        ("hardtanh", ValueError, "min_val cannot be greater than max_val", True, (1.0, 0.0)),
        ("glu", RuntimeError, "glu does not support scalars", 1.0, ()),
        ("softshrink", RuntimeError, r"lambda must be in range \[0, 3.40282e\+38\]", 1.0, (-1.0,)),
    ],
)
def test_activations_refuse_wrong_arguments(
    name: str, error: type[Exception], text: str, value: Any, arguments: tuple[float, ...]
) -> None:
    with pytest.raises(error, match=text):
        getattr(F, name)(tt.tensor(value), *arguments)


def test_unsigned_numbers_have_no_negative_limits() -> None:
    x = tt.tensor([0, 3, 200], dtype=tt.uint8)
    assert F.hardtanh(x, 1.0, 7.0).tolist() == [1, 3, 7]
    with pytest.raises(RuntimeError, match="on an unsigned type with negative limits"):
        F.hardtanh(x)


def test_prelu_learns_one_slope_or_one_per_channel() -> None:
    x = leaf(np.random.randn(2, 3, 4))
    for weight in (leaf([0.25]), leaf([0.1, 0.2, 0.3]), leaf(0.3)):
        assert autograd.gradcheck(F.prelu, (x, weight))
        assert autograd.gradgradcheck(F.prelu, (x, weight))
    out = F.prelu(tt.tensor([[-1.0, -1.0, -1.0]]), tt.tensor([0.1, 0.2, 0.3]))
    np.testing.assert_allclose(out.tolist(), [[-0.1, -0.2, -0.3]], rtol=1e-6)
