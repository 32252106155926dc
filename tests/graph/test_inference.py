"""Inference mode in one thread or task leaves the tensors of the others alone."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

import pytest

import tinytorch as tt
from tinytorch.core.tensor import creation


def in_thread(function: Callable[[], Any]) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def made() -> tuple[tt.Tensor, tt.Tensor]:
    x = tt.ones(2)
    return x + 1, (x * 2)[0]


def test_tensors_of_another_thread_are_normal() -> None:
    with tt.inference_mode():
        result, view = in_thread(made)
        mine = tt.ones(2) + 1
    assert mine.is_inference() and not result.is_inference() and not view.is_inference()
    x = tt.ones(2, requires_grad=True)
    (x * result).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    result.add_(1)
    assert result._version == 1


def test_views_and_detached_tensors_follow_what_they_share_memory_with() -> None:
    normal = tt.ones(2)
    with tt.inference_mode():
        mine = tt.ones(2)
        assert not normal[0].is_inference() and not normal.detach().is_inference()
    assert mine[0].is_inference() and mine.detach().is_inference() and mine.data.is_inference()


def test_a_task_that_goes_on_in_inference_mode_still_marks() -> None:
    with tt.inference_mode():
        context = contextvars.copy_context()
    assert not tt.ones(1).is_inference()
    assert context.run(lambda: tt.ones(1).is_inference())


def test_new_tensors_are_not_checked_outside_of_inference_mode() -> None:
    tt.ones(1)  # the first tensor after a block looks whether there is another one
    assert creation.version is None
    with tt.inference_mode(), tt.inference_mode():
        assert creation.version is not None
    tt.ones(1)
    assert creation.version is None


def test_a_generator_is_left_while_it_waits() -> None:
    @tt.inference_mode()
    def tensors() -> Any:
        while True:
            yield tt.ones(1)

    running = tensors()
    assert next(running).is_inference()
    assert not tt.ones(1).is_inference()
    assert next(running).is_inference()
    running.close()


def test_a_change_is_seen_while_another_thread_is_in_inference_mode() -> None:
    inside, done = threading.Event(), threading.Event()

    def hold() -> None:
        with tt.inference_mode():
            inside.set()
            done.wait(300)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(300)
    x, weight = tt.eye(2, requires_grad=True), tt.ones(2)
    loss = tt.nn.functional.nll_loss(x, tt.tensor([0, 1]), weight)
    weight.add_(1)
    done.set()
    thread.join()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
