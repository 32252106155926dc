"""Indices are checked without a wait; what they found is raised at the next transfer."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import strictcupy
from strictcupy.backend import StrictCudaBackend

import tinytorch as tt
from tinytorch.backends.cupy import CupyBackend


class Counted:
    """A function that counts what it finds."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.found = function, 0

    def __call__(self, *args: Any) -> Any:
        found = self.function(*args)
        self.found += found is not None
        return found


@pytest.fixture
def xp() -> Any:
    return StrictCudaBackend()


def test_deferred_checks_do_not_wait(xp: Any) -> None:
    index, valid = xp.asarray([0, 5]), xp.asarray([False])
    with strictcupy.record_syncs() as log:
        xp.check_indices("gather", index, 3, 0)
        xp.check_all(valid, "no")
    assert log == []


@pytest.mark.parametrize("wait", ["to_numpy", "item", "synchronize"])
def test_a_failed_check_raises_at_the_next_wait_and_only_once(xp: Any, wait: str) -> None:
    xp.check_indices("gather", xp.asarray([0, 5]), 3, 1)
    arguments = [] if wait == "synchronize" else [xp.zeros(1)]
    with pytest.raises(IndexError, match="index 5 is out of bounds") as caught:
        getattr(xp, wait)(*arguments)
    assert "CUDA_LAUNCH_BLOCKING=1" in caught.value.__notes__[0]
    getattr(xp, wait)(*arguments)


def test_check_indices_accepts_negative_indices_unless_negative_is_false(xp: Any) -> None:
    xp.check_indices("gather", xp.asarray([-3, 2]), 3, 0)
    xp.synchronize()
    xp.check_indices("embedding", xp.asarray([-1]), 3, 0, negative=False)
    with pytest.raises(IndexError, match="index -1"):
        xp.synchronize()


def test_check_all_raises_when_an_element_is_false(xp: Any) -> None:
    xp.check_all(xp.asarray([True]), "fine")
    xp.synchronize()
    xp.check_all(xp.asarray([True, False]), "probabilities must be in [0, 1]")
    with pytest.raises(RuntimeError, match="probabilities"):
        xp.synchronize()


def test_empty_indices_are_fine(xp: Any) -> None:
    xp.check_indices("gather", xp.zeros(0, "int64"), 0, 0)
    xp.synchronize()


def test_pending_checks_are_not_kept_without_bound(xp: Any) -> None:
    index = xp.asarray([5])
    with pytest.raises(IndexError):
        for _ in range(2000):
            xp.check_indices("gather", index, 3, 0)


def test_a_solver_waits_so_its_input_is_checked_before(xp: Any) -> None:
    A = tt.tensor([[1.0, np.nan], [0.0, 1.0]], backend=xp)
    with pytest.raises(RuntimeError, match="should not contain infs or NaNs"):
        tt.linalg.eig(A)


def test_each_check_is_reported_once_whichever_thread_waits(
    xp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xp, "_answer", answering := Counted(xp._answer))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work() -> None:
        for i in range(200):
            xp.check_indices("gather", xp.asarray([5]), 3, 0)
            if i % 3 == 0:
                with contextlib.suppress(IndexError):
                    xp.synchronize()

    try:
        with ThreadPoolExecutor(6) as pool:
            for each in [pool.submit(work) for _ in range(6)]:
                each.result()
    finally:
        sys.setswitchinterval(before)
    with contextlib.suppress(IndexError):
        xp.synchronize()
    assert answering.found == 1200
    xp.synchronize()


@pytest.mark.parametrize("interrupted", [0, 1])
def test_an_interrupted_wait_loses_no_check(
    xp: Any, monkeypatch: pytest.MonkeyPatch, interrupted: int
) -> None:
    for index in (5, 6):
        xp.check_indices("gather", xp.asarray([index]), 3, 0)
    answer, asked = xp._answer, []

    def interrupt(*what: Any) -> Any:
        asked.append(what)
        if len(asked) == 1 + interrupted:
            raise KeyboardInterrupt
        return answer(*what)

    monkeypatch.setattr(xp, "_answer", interrupt)
    with pytest.raises(KeyboardInterrupt):
        xp.synchronize()
    with pytest.raises(IndexError, match="index 5") as caught:
        xp.synchronize()
    assert "index 6" in caught.value.__notes__[1]
    xp.synchronize()


def test_the_first_error_mentions_the_other_failed_checks(xp: Any) -> None:
    for index in (5, 1, 6, 7):
        xp.check_indices("gather", xp.asarray([index]), 3, 0)
    with pytest.raises(IndexError, match="index 5") as caught:
        xp.synchronize()
    assert caught.value.__notes__[1].startswith("2 later checks failed too; the next: ")
    assert "index 6" in caught.value.__notes__[1]


class Asked(CupyBackend):
    """CuPy's backend, whose manners the environment decides, on the stand-in."""

    name = "asked"

    def open(self) -> tuple[Any, Any]:
        return strictcupy, strictcupy.cupyx


def test_immediate_checks_raise_at_their_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    with pytest.raises(IndexError, match=r"gather\(\): index 5"):
        Asked().check_indices("gather", strictcupy.asarray([5]), 3, 0)


def test_all_pending_checks_are_read_in_one_transfer(xp: Any) -> None:
    for index in (1, 2):
        xp.check_indices("gather", xp.asarray([index]), 3, 0)
        xp.check_indices("gather", xp.asarray([index], "uint8"), 3, 0)
        xp.check_all(xp.asarray([True, index < 3]), "no")
        xp.check_extremes("embedding", xp.asarray([0, index]), 3, 0, "{index}")
    with strictcupy.record_syncs() as log:
        xp.raise_pending()
    assert [entry.kind for entry in log] == ["asnumpy"]
    xp.check_all(xp.asarray([True]), "fine")
    xp.check_indices("gather", xp.asarray([-4, 2]), 3, 0)
    xp.check_all(xp.asarray([False]), "not fine")
    with pytest.raises(IndexError, match="index -4") as caught:
        xp.raise_pending()
    assert "not fine" in caught.value.__notes__[1]


def test_an_answer_is_awaited_on_the_stream_that_computes_it(
    xp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, awaited = strictcupy.cuda.Stream(), []
    with stream:
        xp.check_indices("gather", xp.asarray([1]), 3, 0)
    xp.check_indices("gather", xp.asarray([1]), 3, 0)
    waiting = lambda here, event: awaited.append((here.ptr, event._stream.ptr))  # noqa: E731
    monkeypatch.setattr(strictcupy.cuda.Stream, "wait_event", waiting)
    xp.raise_pending()
    assert awaited == [(strictcupy.cuda.Stream.null.ptr, stream.ptr)]
