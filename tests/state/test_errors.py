"""Errors of switches, which change nothing and say what to do."""

from __future__ import annotations

import importlib
import re
import threading

import pytest

from tests.state.fakes import Flaky, Red
from tinytorch.backends import load

tt = importlib.import_module("tinytorch.state")

SWITCHES = {
    "set_backend": tt.set_backend,
    "set_default_backend": tt.set_default_backend,
    "set_state": tt.set_state,
    "backend_context": lambda b: tt.backend_context(b).__enter__(),
    "state": lambda b: tt.state(b).__enter__(),
}


@pytest.fixture(params=SWITCHES)
def switch(request):
    """Each way to change the backend."""
    return SWITCHES[request.param]


def test_unknown_name_lists_the_registered_ones_and_the_nearest(switch):
    with tt.backend_context("green"):
        with pytest.raises(ValueError, match=r"unknown backend 'Rd'; the registered") as caught:
            switch("Rd")
        assert tt.get_backend() == "green"
    assert tt.get_backend() == tt.get_default_backend() == "numpy"
    message = str(caught.value)
    assert isinstance(caught.value, tt.UnknownBackendError)
    assert re.search("numpy, cupy, .*red, green, blue", message)
    assert message.endswith("Did you mean 'red'?")


def test_unknown_name_near_none_suggests_nothing(switch):
    with pytest.raises(tt.UnknownBackendError) as caught:
        switch("xxxxxxxxxxxx")
    assert "Did you mean" not in str(caught.value)


def test_unknown_name_prints_nothing(switch, capsys):
    with pytest.raises(tt.UnknownBackendError):
        switch("violet")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("wrong", [3, 1.5, b"numpy", ["numpy"], {"numpy"}, int, object()])
def test_wrong_type_is_a_type_error_that_names_it(switch, wrong):
    with pytest.raises(TypeError, match="expected a backend's name") as caught:
        switch(wrong)
    assert type(wrong).__name__ in str(caught.value)
    assert tt.get_backend() == tt.get_default_backend() == "numpy"


@pytest.mark.parametrize("use", [tt.set_backend, tt.backend_context, tt.set_state])
def test_none_is_refused_with_the_way_to_reset(use):
    with pytest.raises(TypeError, match=r"got None \(reset_backend\(\)"):
        use(None)


def test_scope_of_an_unknown_name_or_type_fails_before_it_is_entered():
    with pytest.raises(tt.UnknownBackendError):
        tt.backend_context("violet")
    with pytest.raises(TypeError):
        tt.backend_context(3)


def test_a_backend_of_a_missing_package_is_unavailable(switch):
    tt.register_backend("lost", "a_package_nobody_has.inner:Backend", hint="buy it")
    with pytest.raises(ImportError) as caught:
        switch("lost")
    assert isinstance(caught.value, tt.BackendUnavailableError)
    assert (caught.value.backend, caught.value.reason) == ("lost", "not installed")
    assert str(caught.value) == (
        "backend 'lost' is not available: it needs the package 'a_package_nobody_has', which "
        "is not installed; buy it"
    )
    assert tt.get_backend() == tt.get_default_backend() == "numpy"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ImportError("libcudart.so.12: cannot open"), "cannot be imported: ImportError: libcud"),
        (OSError("no such library"), "fails to load: OSError: no such library"),
        (RuntimeError("half installed"), "fails to load: RuntimeError: half installed"),
    ],
)
def test_a_backend_whose_package_is_broken_is_unavailable(switch, error, words):
    tt.register_backend("flaky", Flaky)
    Flaky.error = error
    with pytest.raises(tt.BackendUnavailableError, match="'flaky' is registered but broken") as c:
        switch("flaky")
    assert words in str(c.value)
    assert c.value.reason == "broken" and c.value.__cause__ is error
    assert tt.get_backend() == tt.get_default_backend() == "numpy"


def test_a_backends_own_reason_is_passed_on(switch):
    tt.register_backend("flaky", Flaky)
    Flaky.error = tt.BackendUnavailableError(
        "no usable device: plug one in", backend="flaky", reason="no device"
    )
    with pytest.raises(tt.BackendUnavailableError, match="no usable device") as caught:
        switch("flaky")
    assert caught.value is Flaky.error


def test_interrupt_while_loading_is_not_disguised(switch):
    def interrupted():
        raise KeyboardInterrupt

    tt.register_backend("flaky", interrupted)
    with pytest.raises(KeyboardInterrupt):
        switch("flaky")
    assert tt.get_backend() == tt.get_default_backend() == "numpy"


def test_a_failed_load_is_tried_again(switch):
    tt.register_backend("flaky", Flaky)
    Flaky.error = OSError("not yet")
    for _ in range(2):
        with pytest.raises(tt.BackendUnavailableError):
            switch("flaky")
    Flaky.error = None
    tt.set_backend("flaky")
    assert tt.get_backend() == "flaky"


def test_failed_scope_leaves_the_scopes_around_it(switch):
    tt.register_backend("flaky", Flaky)
    Flaky.error = OSError("gone")
    with tt.backend_context("red"):
        tt.set_backend("blue")
        with pytest.raises(tt.BackendUnavailableError):
            switch("flaky")
        assert tt.get_backend() == "blue"
    assert tt.get_backend() == "numpy"


THREADS = 16


def wait_for_all(users):
    """Return when every thread of `race` has released the semaphore ``users``."""
    for _ in range(THREADS):
        assert users.acquire(timeout=300)


def race(function, count=THREADS):
    """Results or errors of ``function`` in many threads at the same moment."""
    barrier, found = threading.Barrier(count), []

    def worker():
        barrier.wait(300)
        try:
            found.append(function())
        except Exception as error:
            found.append(error)

    threads = [threading.Thread(target=worker) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert len(found) == count
    return found


def test_racing_first_loads_make_one_instance():
    made, users = [], threading.Semaphore(0)

    def loader():
        made.append(threading.get_ident())
        wait_for_all(users)
        backend = Red()
        backend.name = "slow"
        return backend

    tt.register_backend("slow", loader)

    def use():
        users.release()
        tt.set_backend("slow")
        return tt.current_backend()

    assert len(set(map(id, race(use)))) == len(made) == 1


def test_racing_first_loads_of_one_class_make_one_instance():
    users = threading.Semaphore(0)

    class Slow(Red):
        def __init__(self):
            wait_for_all(users)
            super().__init__()

    assert len(set(map(id, race(lambda: users.release() or load(Slow))))) == 1


def test_racing_failed_loads_fail_in_every_thread():
    tt.register_backend("flaky", Flaky)
    Flaky.error = OSError("gone")
    found = race(lambda: tt.set_backend("flaky"))
    assert {type(each) for each in found} == {tt.BackendUnavailableError}


def test_racing_first_uses_of_the_default_make_one_instance(monkeypatch):
    monkeypatch.setenv("TINYTORCH_BACKEND", "red")
    assert set(map(id, race(tt.current_backend))) == {id(load("red"))}
