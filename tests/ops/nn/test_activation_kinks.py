"""Activations where their pieces meet and far out: both derivatives are PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt

INF = float("inf")
POINTS = [
    0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 6.0, -6.0, 25.0, -25.0, 88.0, -88.0,
    1e-30, -1e-30, 1e4, -1e4, INF, -INF,
]  # fmt: skip
ACTIVATIONS: list[tuple[str, dict[str, float]]] = [
    ("relu", {}), ("relu6", {}), ("hardtanh", {}), ("hardtanh", {"min_val": -0.5, "max_val": 2.0}),
    ("leaky_relu", {}), ("leaky_relu", {"negative_slope": 0.0}),
    ("leaky_relu", {"negative_slope": -0.5}), ("leaky_relu", {"negative_slope": 2.0}),
    ("elu", {}), ("elu", {"alpha": 0.5}), ("elu", {"alpha": -1.0}), ("selu", {}), ("celu", {}),
    ("celu", {"alpha": 2.0}), ("celu", {"alpha": -1.0}), ("hardshrink", {}), ("softshrink", {}),
    ("threshold", {"threshold": 0.5, "value": -1.0}), ("hardswish", {}), ("softplus", {}),
    ("logsigmoid", {}), ("silu", {}), ("tanhshrink", {}), ("sigmoid", {}), ("rrelu", {}),
    ("prelu", {"weight": 0.25}), ("prelu", {"weight": -1.0}), ("prelu", {"weight": 2.0}),
]  # fmt: skip


def derivatives(lib: Any, name: str, options: dict[str, float]) -> list[Any]:
    """The value, its gradients; that by the input, by the input, the weight and what came."""
    inputs = [lib.tensor(POINTS, dtype=lib.float64, requires_grad=True)]
    if name == "prelu":
        inputs.append(lib.tensor([options["weight"]], dtype=lib.float64, requires_grad=True))
        value = lib.nn.functional.prelu(*inputs)
    else:
        value = getattr(lib.nn.functional, name)(*inputs, **options)
    came = lib.full_like(value, 1.5).requires_grad_()
    first = lib.autograd.grad(value, inputs, came, create_graph=True)
    given = lib.autograd.grad(first[0], [*inputs, came], lib.ones_like(first[0]), allow_unused=True)
    # What PyTorch leaves out as None is a gradient of zeros here, and the other way round.
    second = [0 if g is None else g.tolist() for g in given]
    return [value.tolist(), *(each.tolist() for each in first), *second]


@pytest.mark.parametrize(("name", "options"), ACTIVATIONS)
def test_first_and_second_derivatives_at_kinks_are_pytorchs(
    torch: Any, name: str, options: dict[str, float]
) -> None:
    ours, theirs = (derivatives(lib, name, options) for lib in (tt, torch))
    for one, other in zip(ours, theirs, strict=True):
        one, other = np.broadcast_arrays(np.asarray(one, float), np.asarray(other, float))
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-15)


def test_the_slopes_of_prelu_below_infinities() -> None:
    """The gradient by the weight is not NaN where a number above 0 is infinite."""
    x, weight = tt.tensor([INF, -2.0]), tt.tensor([0.5], requires_grad=True)
    came = tt.tensor([1.0, 1.0], requires_grad=True)
    value = tt.nn.functional.prelu(x, weight)
    (slope,) = tt.autograd.grad(value, weight, came, create_graph=True)
    (by_came,) = tt.autograd.grad(slope.sum(), came)
    assert slope.tolist() == [-2.0] and by_came.tolist() == [0.0, -2.0]


def test_a_threshold_lets_the_gradient_of_nan_pass() -> None:
    x = tt.tensor([float("nan"), 0.0], requires_grad=True)
    tt.nn.functional.threshold(x, 0.5, 1.0).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [1.0, 0.0]


def test_second_derivatives_of_a_zeroth_power_are_pytorchs_at_infinity(torch: Any) -> None:
    found = []
    for lib in (tt, torch):
        x = lib.tensor([INF, 2.0, -3.0], requires_grad=True)
        slopes = lib.autograd.grad((x ** lib.zeros(3)).sum(), x, create_graph=True)
        power = lib.zeros(3, requires_grad=True)
        both = lib.autograd.grad((x**power).sum(), (x, power), create_graph=True)
        second = lib.autograd.grad(both[0][:2].sum() + both[1][:2].sum(), (x, power))
        found.append([t.detach().numpy() for t in (*slopes, *second)])
    for ours, torchs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, torchs)


@pytest.mark.parametrize(
    ("name", "options"), [case for case in ACTIVATIONS if case[0] not in ("prelu", "tanhshrink")]
)
def test_activations_of_float16_are_rounded_once(
    torch: Any, name: str, options: dict[str, float]
) -> None:
    points = np.concatenate([np.linspace(-15, 15, 999), [-80.0, 80.0]]).astype("float16")
    found = []
    for lib in (tt, torch):
        x = lib.tensor(points.tolist(), dtype=lib.float16, requires_grad=True)
        value = getattr(lib.nn.functional, name)(x, **options)
        value.backward(lib.full_like(value, 0.75))
        found.append((value.tolist(), x.grad.tolist()))
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1.1e-3, atol=1e-7)
