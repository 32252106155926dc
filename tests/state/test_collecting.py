"""Scopes of paused generators that nobody closes: Python does, when it collects garbage."""

from __future__ import annotations

import pytest

from tests.fresh import run


# Before Python 3.12 a collection may run inside any C function that allocates. NumPy's `errstate`
# sets a context variable from C, as decimal's contexts do; the thresholds have it hit often.
def forgetful(threshold: int) -> None:
    import gc

    import numpy as np

    import tinytorch as tt

    def plain():
        with tt.enable_grad(), tt.backend_context("numpy"):
            yield

    @tt.no_grad()
    def decorated():
        try:
            yield
        finally:
            assert not tt.is_grad_enabled()

    def leave_behind(function):
        generator = function()
        next(generator)
        cycle = [generator]
        cycle.append(cycle)

    gc.set_threshold(threshold)
    for number in range(5_000):
        leave_behind(plain)
        leave_behind(decorated)
        with np.errstate(all="ignore"), tt.no_grad():
            with np.errstate(all="ignore"):
                assert not tt.is_grad_enabled()
            with tt.enable_grad():
                assert tt.is_grad_enabled()
    gc.collect()
    assert tt.is_grad_enabled()
    assert tt.get_state().backend == "numpy", tt.get_state()
    print("done")


@pytest.mark.parametrize("threshold", [7, 13, 50])
def test_scopes_of_collected_generators_end_without_a_trace(threshold: int) -> None:
    assert run(forgetful, threshold) == "done"


def interrupted() -> None:
    import gc
    import os
    import signal
    import subprocess
    import sys

    import tinytorch as tt

    garbage = [[number] for number in range(300_000)]
    code = "import os, sys; sys.stdin.readline(); os.kill(int(sys.argv[1]), 2)"
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert not any(hasattr(each, "__code__") for each in gc.callbacks)
    for _ in range(3):
        command = [sys.executable, "-S", "-c", code, str(os.getpid())]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as sender:
            try:
                sender.stdin.write(b"now\n")
                sender.stdin.flush()
                while sender.poll() is None:
                    with tt.inference_mode():
                        cycle = [garbage]
                        cycle.append(cycle)
                    gc.collect()
                print("lost")
            except KeyboardInterrupt:
                print("raised")
    assert tt.is_grad_enabled() and not tt.is_inference_mode_enabled()


def test_an_interrupt_during_a_collection_is_raised() -> None:
    assert run(interrupted).split() == ["raised"] * 3
