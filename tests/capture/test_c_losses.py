"""Cross entropies of the C engine are those of the closed form, and raise for invalid targets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch
from tinytorch.capture import c_compiler
from tinytorch.capture.c_losses import expand_losses
from tinytorch.capture.simplify import simplify

tt: Any = tinytorch
F = tt.nn.functional
pytestmark = pytest.mark.skipif(c_compiler.find_compiler() is None, reason="there is no C compiler")


def make_step(**options: Any) -> Any:
    """A compiled function of scores and targets that returns the loss and its gradient."""

    def step(scores: Any, target: Any) -> Any:
        x = scores.detach().requires_grad_()
        loss = F.cross_entropy(x * 1, target, **options)
        loss.backward()
        return loss.detach(), x.grad

    return tt.compile(step, backend="c", fullgraph=True)


def node_names(compiled: Any) -> list[str]:
    """Names of the nodes that the C engine runs."""
    program = simplify(compiled._compiled.entries[0].call.lanes.program)
    return [node.name for node in expand_losses(program).nodes]


def closed_form(
    scores: Any, target: Any, ignore_index: int = -100, reduction: str = "mean"
) -> tuple[Any, Any]:
    """Loss and gradient in float64."""
    scores, rows = scores.astype("float64"), np.arange(len(target))
    valid = target != ignore_index
    classes = np.where(valid, target, 0)
    powers = np.exp(scores - scores.max(1, keepdims=True))
    chances = powers / powers.sum(1, keepdims=True)
    losses = np.log(powers.sum(1)) + scores.max(1) - scores[rows, classes]
    gradient = chances.copy()
    gradient[rows, classes] -= 1
    count = valid.sum() if reduction == "mean" else 1
    return losses[valid].sum() / count, gradient * valid[:, None] / count


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("ignore_index", [-100, 2, 9])
@pytest.mark.parametrize("shape", [(7, 5), (2, 2), (300, 70)], ids=str)
def test_losses_and_gradients_are_those_of_the_closed_form(
    shape: tuple[int, int], ignore_index: int, reduction: str
) -> None:
    rng, options = np.random.default_rng(0), {"ignore_index": ignore_index, "reduction": reduction}
    step = make_step(**options)
    for scale in (1, 1, 30, 1000):
        scores = (rng.standard_normal(shape) * scale).astype("float32")
        target = rng.integers(0, shape[1], shape[0])
        target[rng.random(shape[0]) < 0.2] = ignore_index
        target[0] = 1
        found = step(tt.tensor(scores), tt.tensor(target))
        for part, expected in zip(found, closed_form(scores, target, **options), strict=True):
            np.testing.assert_allclose(part.numpy(), expected, 2e-5, 1e-6)
    names = node_names(step)
    assert "op._reduced_cross_entropy" not in names and "setitem" not in names


@pytest.mark.parametrize("invalid", [5, -1, -101])
@pytest.mark.parametrize("ignore_index", [-100, 2])
def test_a_target_out_of_range_raises_and_changes_nothing(ignore_index: int, invalid: int) -> None:
    step = make_step(ignore_index=ignore_index)
    scores, target = tt.randn(6, 5), tt.tensor([0, 1, 2, 3, 4, 0])
    expected = [step(scores, target) for _ in range(3)][-1]
    wrong = target.clone()
    wrong[3] = invalid
    with pytest.raises(IndexError, match=f"Target {invalid} is out of bounds"):
        step(scores, wrong)
    again = step(scores, target)
    assert all(tt.equal(a, b) for a, b in zip(again, expected, strict=True))


def test_no_valid_target_is_a_mean_of_nothing() -> None:
    step, target = make_step(), tt.full((4,), -100)
    for _ in range(3):
        loss, gradient = step(tt.randn(4, 3), target)
    assert loss.isnan() and gradient.isnan().all() | (gradient == 0).all()


def test_infinite_scores() -> None:
    step, target = make_step(reduction="sum"), tt.tensor([0, 1, 1])
    scores = tt.tensor([[0.0, -tt.inf, 1.0], [0.0, -tt.inf, 1.0], [0.0, tt.nan, 1.0]])
    for row, expected in ((slice(0, 1), False), (slice(1, 2), True), (slice(2, 3), False)):
        two = scores[row].expand(2, 3).contiguous()
        for _ in range(3):
            loss, _ = step(two, target[row].expand(2).contiguous())
        assert bool(loss.isinf()) is expected
    assert loss.isnan()


@pytest.mark.parametrize("other", [-100, 1])
def test_a_decrement_of_other_indices_stays(other: int) -> None:
    def step(scores: Any, target: Any, places: Any) -> Any:
        loss, table = F.cross_entropy(scores, target), scores * 1
        classes = tt.where(places != other, places, 0)
        table.view(-1)[classes + tt.arange(4) * 3] -= 1
        return loss, table

    compiled = tt.compile(step, backend="c", fullgraph=True)
    scores, target = tt.randn(4, 3), tt.tensor([0, 1, 2, 0])
    for places in (target, target.flip(0), tt.tensor([3, 1, 2, 0])):  # 3 is in the next row
        for _ in range(3):
            found, expected = compiled(scores, target, places), step(scores, target, places)
            assert all(tt.allclose(a, b) for a, b in zip(found, expected, strict=True))


DECREMENTS: dict[str, Any] = {
    "an argument": lambda table, places: (places, 1),
    "a slice": lambda table, places: (slice(0, 4), 1),
    "other rows": lambda table, places: (places + tt.tensor([0, 3, 3, 9]), 1),
    "a number of each row": lambda table, places: (places + tt.arange(4) * 3, tt.arange(4.0)),
    "two": lambda table, places: (tt.where(places != -100, places, 0) + tt.arange(4) * 3, 2),
    "ignored as 1": lambda table, places: (tt.where(places != -100, places, 1) + tt.arange(4), 1),
}


@pytest.mark.parametrize("decrement", DECREMENTS.values(), ids=DECREMENTS)
def test_other_decrements_stay(decrement: Any) -> None:
    def step(scores: Any, target: Any) -> Any:
        loss, table = F.cross_entropy(scores, target), scores * 1
        index, number = decrement(table, target)
        table.view(-1)[index] -= number
        return loss, table, (target != tt.arange(4)).sum().float()

    compiled = tt.compile(step, backend="c", fullgraph=True)
    for _ in range(3):
        scores, target = tt.randn(4, 3), tt.tensor([0, 1, 2, 0])
        found, expected = compiled(scores, target), step(scores, target)
        assert all(tt.allclose(a, b) for a, b in zip(found, expected, strict=True))
