"""Rule 6: a device as a context is its backend's scope."""

from __future__ import annotations

import threading

import pytest

from tinytorch import _state as tt
from tinytorch._device import device


@pytest.fixture(autouse=True)
def other_backend_active():
    """A state that ``cpu`` differs from."""
    tt.set_backend("red")


def test_cpu_is_numpy():
    cpu = device("cpu")
    with cpu as entered:
        assert entered is cpu and tt.get_backend() == "numpy"
    assert tt.get_backend() == "red"


def test_device_restores_on_an_exception_and_nests():
    cpu = device("cpu")
    with pytest.raises(KeyError), cpu, tt.backend_context("blue"), cpu:
        raise KeyError
    assert tt.get_backend() == "red"


def test_device_decorates():
    assert device("cpu")(tt.get_backend)() == "numpy"


def test_one_device_in_two_threads_that_overlap():
    cpu, entered, left = device("cpu"), threading.Event(), threading.Event()
    seen = []

    def worker():
        tt.set_backend("blue")
        with cpu:
            entered.set()
            assert left.wait(30)
            seen.append(tt.get_backend())
        seen.append(tt.get_backend())

    thread = threading.Thread(target=worker)
    with cpu:
        thread.start()
        assert entered.wait(30)
    assert tt.get_backend() == "red"
    left.set()
    thread.join(30)
    assert seen == ["numpy", "blue"]


def test_cuda_without_a_gpu_changes_nothing():
    from tinytorch import backends

    try:
        backends.load("cupy")
    except tt.BackendUnavailableError:
        pass
    else:
        pytest.skip("CuPy has a device here")
    with pytest.raises(tt.BackendUnavailableError, match="cupy"), device("cuda"):
        raise AssertionError("must not be entered")
    assert tt.get_backend() == "red"
