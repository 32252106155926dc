"""Devices as contexts: a scope of the device's backend."""

from __future__ import annotations

import importlib
import threading
from typing import Any

import pytest

from tinytorch.backends.numpy import NumpyBackend
from tinytorch.core.device import device
from tinytorch.ops.create.factories import ones

tt = importlib.import_module("tinytorch.state")


@pytest.fixture(autouse=True)
def other_backend_active():
    """A state that ``cpu`` differs from."""
    tt.set_backend("red")


def test_the_cpu_device_as_a_scope_selects_numpy():
    cpu = device("cpu")
    with cpu as entered:
        assert entered is cpu and tt.get_backend() == "numpy"
    assert tt.get_backend() == "red"


def test_device_restores_on_an_exception_and_nests():
    cpu = device("cpu")
    with pytest.raises(KeyError), cpu, tt.backend_context("blue"), cpu:
        raise KeyError
    assert tt.get_backend() == "red"


def test_a_device_as_a_decorator_holds_during_the_call():
    assert device("cpu")(tt.get_backend)() == "numpy"


def test_one_device_in_two_threads_that_overlap():
    cpu, entered, left = device("cpu"), threading.Event(), threading.Event()
    seen = []

    def worker():
        tt.set_backend("blue")
        with cpu:
            entered.set()
            assert left.wait(300)
            seen.append(tt.get_backend())
        seen.append(tt.get_backend())

    thread = threading.Thread(target=worker)
    with cpu:
        thread.start()
        assert entered.wait(300)
    assert tt.get_backend() == "red"
    left.set()
    thread.join(300)
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


#: What names a device, and what does not.
TEXTS = (
    "cpu", "cuda", "cuda:0", "cuda:1", "mps", "meta", "cpu:0", "cpux", "CPU", "", "cpu:", ":0",
    "cpu:x", "cpu:-1", "cpu:00", "cpu :0", "cpu:0:0",
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_names_a_device_where_it_does_for_torch(torch: Any, text):
    try:
        wanted = torch.device(text)
    except RuntimeError as error:
        with pytest.raises(RuntimeError) as info:
            device(text)
        assert str(info.value).split(" ")[:3] == str(error).split(" ")[:3]
    else:
        assert repr(device(text)) == repr(wanted)


@pytest.mark.parametrize(
    "arguments", [("cuda", -1), (-1,), ("cuda", "0"), ("cuda", 1.0), ("cpu:0", 0)]
)
def test_invalid_device_indices_are_refused_as_by_pytorch(torch: Any, arguments):
    with pytest.raises((RuntimeError, TypeError)) as wanted:
        torch.device(*arguments)
    with pytest.raises(wanted.type) as info:
        device(*arguments)
    assert str(info.value).split(" ")[:2] == str(wanted.value).split(" ")[:2]


def test_the_backends_there_are_name_devices():
    class Abacus(NumpyBackend):
        name = "abacus"
        device_type = "beads"

    assert str(ones(1, backend=Abacus()).device) == "beads"
    assert str(device("beads:3")) == "beads:3"
    assert str(device("red")) == "red"
    with pytest.raises(
        RuntimeError, match=r"Expected one of cpu, cuda, meta, .*red.*beads.*: redd$"
    ):
        device("redd")


@pytest.mark.parametrize("given", [
    ((), {"device": "cuda:1"}), ((), {"type": "cuda", "index": 1}), (("cuda",), {"index": 1}),
    (("cuda", 1), {}), (("cuda:1",), {}),
])  # fmt: skip
def test_a_device_can_be_named_in_every_way_of_pytorchs(torch: Any, given):
    args, options = given
    for made in (device, torch.device):
        place = made(*args, **options)
        assert (place.type, place.index) == ("cuda", 1)
        assert made(place) == made(device=place) == place != "cuda:1"


@pytest.mark.parametrize("given", [
    (("cpu",), {"device": "cpu"}), ((), {}), ((True,), {}), ((0, 1), {}), ((), {"index": 1}),
])  # fmt: skip
def test_other_names_of_devices_are_refused_as_by_pytorch(torch: Any, given):
    args, options = given
    for made in (device, torch.device):
        with pytest.raises(TypeError):
            made(*args, **options)
