"""GradScaler's refusals are PyTorch's."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import tinytorch as tt


def ready(lib: Any) -> tuple[Any, Any, Any]:
    """A parameter, its optimizer and a scaler that did nothing yet."""
    weight = lib.ones(2, requires_grad=True)
    return weight, lib.optim.SGD([weight], lr=0.1), lib.amp.GradScaler("cpu")


def step_unscaled(lib: Any) -> None:
    weight, optimizer, scaler = ready(lib)
    weight.sum().backward()
    scaler.step(optimizer)


def unscale_unscaled(lib: Any) -> None:
    weight, optimizer, scaler = ready(lib)
    weight.sum().backward()
    scaler.unscale_(optimizer)


def update_unscaled(lib: Any) -> None:
    ready(lib)[2].update()


def update_without_a_step(lib: Any) -> None:
    weight, _, scaler = ready(lib)
    scaler.scale(weight.sum()).backward()
    scaler.update()


def step_without_gradients(lib: Any) -> None:
    weight, optimizer, scaler = ready(lib)
    scaler.scale(weight.sum())
    scaler.step(optimizer)


def update_to_several(lib: Any) -> None:
    weight, _, scaler = ready(lib)
    scaler.scale(weight.sum())
    scaler.update(lib.ones(2))


def update_to_what_requires_grad(lib: Any) -> None:
    weight, _, scaler = ready(lib)
    scaler.scale(weight.sum())
    scaler.update(lib.ones(1, requires_grad=True))


def pickled_amid_a_step(lib: Any) -> None:
    weight, optimizer, scaler = ready(lib)
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    pickle.dumps(scaler)


USES: list[tuple[Any, str]] = [
    (step_unscaled, "Attempted step but _scale is None"),
    (unscale_unscaled, "Attempted unscale_ but _scale is None"),
    (update_unscaled, "Attempted update but _scale is None"),
    (update_without_a_step, "No inf checks were recorded prior to update"),
    (step_without_gradients, "No inf checks were recorded for this optimizer"),
    (update_to_several, "new_scale should be a float or a 1-element"),
    (update_to_what_requires_grad, "new_scale should be a float or a 1-element"),
    (pickled_amid_a_step, "A GradScaler instance may only be pickled at the beginning"),
    (lambda lib: lib.amp.GradScaler("cpu", growth_factor=1.0), "growth factor must be > 1.0"),
    (lambda lib: lib.amp.GradScaler("cpu", backoff_factor=1.0), "backoff factor must be < 1.0"),
]


@pytest.mark.parametrize(("use", "text"), USES)
def test_wrong_use_of_grad_scaler_raises_pytorchs_errors(torch: Any, use: Any, text: str) -> None:
    with pytest.raises(AssertionError, match=text):
        use(tt)
    with pytest.raises(AssertionError, match=text):
        use(torch)


def test_a_scaler_can_be_pickled_between_steps() -> None:
    weight, optimizer, scaler = ready(tt)
    scaler.scale(weight.sum()).backward()
    scaler.step(optimizer)
    scaler.update(8.0)
    assert pickle.loads(pickle.dumps(scaler)).get_scale() == 8.0
