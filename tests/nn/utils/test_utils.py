"""nn.utils: clipping gradients, parameters as one vector."""

from __future__ import annotations

import math
from typing import Any

import pytest

import tinytorch as tt
from tinytorch import nn


def params(*grads: Any) -> list[Any]:
    made = []
    for grad in grads:
        param = nn.Parameter(tt.zeros(len(grad) if grad is not None else 1))
        param.grad = None if grad is None else tt.tensor(grad)
        made.append(param)
    return made


def test_clip_grad_norm_scales_all_by_one_factor() -> None:
    a, b, c = params([3.0, 0.0], [4.0], None)
    total = nn.utils.clip_grad_norm_([a, b, c], 1.0)
    assert total.item() == 5.0
    assert a.grad.tolist() == pytest.approx([0.6, 0], rel=1e-5)
    assert b.grad.tolist() == pytest.approx([0.8], rel=1e-5)
    assert c.grad is None


def test_small_gradients_are_left_alone() -> None:
    (a,) = params([0.3, 0.4])
    grad = a.grad
    assert nn.utils.clip_grad_norm_(a, 1.0).item() == pytest.approx(0.5)
    assert a.grad is grad and a.grad.tolist() == pytest.approx([0.3, 0.4])


@pytest.mark.parametrize(
    ("kind", "norm"), [(1, 8.0), (2, 26**0.5), (3, 92 ** (1 / 3)), (math.inf, 4.0), ("inf", 4.0)]
)
def test_gradients_are_clipped_by_each_kind_of_norm(kind: Any, norm: float) -> None:
    given = params([3.0, -1.0], [-4.0])
    assert nn.utils.get_total_norm([p.grad for p in given], kind).item() == pytest.approx(norm)
    nn.utils.clip_grad_norm_(given, 2.0, norm_type=kind)
    left = nn.utils.get_total_norm([p.grad for p in given], kind).item()
    assert left == pytest.approx(2.0, rel=1e-5)


def test_error_if_nonfinite_makes_clip_grad_norm_raise_for_an_infinite_norm() -> None:
    (a,) = params([math.inf])
    with pytest.raises(RuntimeError, match="total norm of order 2.0 .* is non-finite"):
        nn.utils.clip_grad_norm_(a, 1.0, error_if_nonfinite=True)
    assert nn.utils.clip_grad_norm_(a, 1.0).item() == math.inf


def test_clipping_no_parameters_returns_zero() -> None:
    assert nn.utils.clip_grad_norm_([], 1.0).item() == 0
    with pytest.warns(UserWarning, match="is an empty generator"):
        nn.utils.clip_grad_norm_((p for p in []), 1.0)


def test_clip_grad_norm_without_underscore_is_deprecated() -> None:
    with pytest.warns(FutureWarning, match="deprecated in favor of `nn.utils.clip_grad_norm_`"):
        nn.utils.clip_grad_norm(params([3.0, 4.0]), 1.0)


def test_clip_grad_value_clamps_each_gradient() -> None:
    a, b = params([-3.0, 0.5], None)
    nn.utils.clip_grad_value_([a, b], 1)
    assert a.grad.tolist() == [-1, 0.5]


def test_clipping_limits_that_are_not_numbers_are_refused() -> None:
    weight = tt.ones(1, requires_grad=True)
    for clip in (nn.utils.clip_grad_norm_, nn.utils.clip_grad_value_):
        with pytest.raises(ValueError, match="could not convert string to float"):
            clip([weight], "a")  # type: ignore[operator]
    weight.grad = tt.tensor([4.0])
    nn.utils.clip_grad_norm_([weight], tt.tensor(2.0))  # type: ignore[arg-type]
    assert weight.grad.item() == pytest.approx(2.0)


def test_parameters_to_vector_is_inverted_by_vector_to_parameters() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    vector = nn.utils.parameters_to_vector(net.parameters())
    assert vector.shape == (13,)
    (vector * 2).sum().backward()
    assert net[0].bias.grad.tolist() == [2, 2, 2]
    nn.utils.vector_to_parameters(tt.arange(13.0), net.parameters())
    assert net[0].weight.tolist() == [[0, 1], [2, 3], [4, 5]] and net[1].bias.tolist() == [12]
    assert net[0].weight.requires_grad


def test_vector_to_parameters_refuses_a_list() -> None:
    with pytest.raises(TypeError, match="expected a Tensor, but got: list"):
        nn.utils.vector_to_parameters([1.0], [])  # type: ignore[arg-type]


def test_clipped_gradients_are_pytorchs(torch: Any) -> None:
    for kind in (1.0, 2.0, 3.5, math.inf):
        grads = []
        for lib in (tt, torch):
            given = [lib.nn.Parameter(lib.zeros(3, 4)), lib.nn.Parameter(lib.zeros(5))]
            for i, param in enumerate(given):
                param.grad = (lib.arange(float(param.numel())) - i - 3).reshape(param.shape)
            total = lib.nn.utils.clip_grad_norm_(given, 1.5, kind)
            grads.append([total.item(), *(g for p in given for g in p.grad.flatten().tolist())])
        assert grads[0] == pytest.approx(grads[1], rel=1e-5)
