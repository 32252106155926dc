"""Where the active backend comes from, and which threads a setter affects."""

from __future__ import annotations

import importlib
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fresh import process, run
from tests.state.fakes import CLASSES
from tinytorch.backends import Backend, load

# The package's attribute `state` is a function, which `import tinytorch.state as tt` would bind.
tt = importlib.import_module("tinytorch.state")


def elsewhere(function, *args):
    """What ``function`` returns in a thread that inherits nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TINYTORCH_THREAD_INHERIT", "0")
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(function, *args).result(timeout=300)


def test_numpy_is_the_default_backend():
    assert tt.get_backend() == "numpy"
    assert tt.get_default_backend() == "numpy"


def test_each_level_hides_the_one_below(monkeypatch):
    monkeypatch.setenv("TINYTORCH_BACKEND", "green")
    assert tt.get_backend() == "green"
    tt.set_default_backend("red")
    assert tt.get_backend() == "red"
    tt.set_backend("blue")
    assert tt.get_backend() == "blue"
    with tt.backend_context("green"):
        assert tt.get_backend() == "green"
    assert tt.get_backend() == "blue"
    tt.reset_backend()
    assert tt.get_backend() == "red"
    tt.set_default_backend(None)
    assert tt.get_backend() == "green"


def test_get_backend_returns_a_string_and_current_backend_the_object():
    tt.set_backend("red")
    assert type(tt.get_backend()) is str
    assert tt.current_backend() is load("red")
    assert isinstance(tt.current_backend(), Backend)


@pytest.mark.parametrize("setter", [tt.set_backend, tt.set_default_backend, tt.set_state])
def test_setters_set_and_return_nothing(setter):
    assert setter("red") is None
    assert tt.get_backend() == "red"


def test_set_backend_changes_the_calling_thread_alone():
    tt.set_backend("red")
    assert elsewhere(tt.get_backend) == "numpy"
    assert elsewhere(lambda: (tt.set_backend("blue"), tt.get_backend())[1]) == "blue"
    assert tt.get_backend() == "red"


def test_default_backend_reaches_running_threads_that_chose_nothing():
    ask, tell = threading.Event(), threading.Event()
    seen = []

    def worker():
        seen.append(tt.get_backend())
        tell.set()
        assert ask.wait(300)
        seen.append(tt.get_backend())

    thread = threading.Thread(target=worker)
    thread.start()
    assert tell.wait(300)
    tt.set_default_backend("green")
    ask.set()
    thread.join(300)
    assert seen == ["numpy", "green"]


def test_set_backend_in_a_scope_replaces_its_value_until_it_ends():
    tt.set_backend("red")
    with tt.backend_context("green"):
        tt.set_backend("blue")
        assert tt.get_backend() == "blue"
        with tt.backend_context("green"):
            assert tt.get_backend() == "green"
        assert tt.get_backend() == "blue"
    assert tt.get_backend() == "red"


def test_reset_backend_in_a_scope_gives_the_scope_its_own_value_back():
    tt.set_backend("red")
    with tt.backend_context("green"):
        tt.set_backend("blue")
        tt.reset_backend()
        assert tt.get_backend() == "green"
    assert tt.get_backend() == "red"


def test_names_classes_and_instances_of_backends_are_accepted():
    for chosen in ("red", CLASSES["red"], load("red")):
        tt.reset_backend()
        tt.set_backend(chosen)
        assert tt.current_backend() is load("red")
        with tt.backend_context(chosen) as entered:
            assert entered is load("red")


def test_backend_type_is_accepted_wherever_a_name_is():
    numpy = tt.BackendType.NUMPY
    tt.set_default_backend("red")
    for use in (tt.set_backend, tt.set_default_backend, tt.set_state):
        use(numpy)
        assert tt.get_backend() == numpy == "numpy"
    for scope in (tt.backend_context(numpy), tt.state(numpy)):
        tt.set_backend("red")
        with scope:
            assert tt.get_backend() == "numpy"
    built_in = tt.list_backends()[: len(tt.BackendType)]
    assert [str(each) for each in tt.BackendType] == built_in
    assert hash(numpy) == hash("numpy") and tt.BackendType("cupy") is tt.BackendType.CUPY


def test_the_environment_variable_sets_the_backend_of_a_fresh_process():
    def program():
        import importlib

        importlib.import_module("tests.state.fakes")  # registers "green"
        tt = importlib.import_module("tinytorch.state")
        print(tt.get_backend(), tt.get_default_backend())

    assert run(program, TINYTORCH_BACKEND="green") == "green green"


def test_case_and_blanks_in_the_environment_variable_do_not_matter(monkeypatch):
    monkeypatch.setenv("TINYTORCH_BACKEND", " NumPy ")
    assert tt.get_backend() == tt.get_default_backend() == "numpy"


def test_invalid_environment_variable_raises_at_first_use_and_not_at_import():
    def program():
        import importlib

        tt = importlib.import_module("tinytorch.state")
        print("imported")
        with tt.backend_context("numpy"):
            print(tt.get_backend())
        tt.get_backend()

    done = process(program, TINYTORCH_BACKEND="nunpy")
    assert done.stdout.split() == ["imported", "numpy"]
    last = done.stderr.strip().splitlines()[-1]
    assert "UnknownBackendError: environment variable TINYTORCH_BACKEND=nunpy: " in last
    assert "Did you mean 'numpy'?" in last


def test_invalid_environment_variable_raises_at_every_use_until_it_is_mended(monkeypatch):
    monkeypatch.setenv("TINYTORCH_BACKEND", "violet")
    for use in (tt.get_backend, tt.current_backend, tt.get_default_backend, tt.get_state):
        with pytest.raises(tt.UnknownBackendError, match="TINYTORCH_BACKEND=violet") as caught:
            use()
        assert caught.value.name == "violet" and "red" in caught.value.known
    monkeypatch.setenv("TINYTORCH_BACKEND", " BLUE ")
    assert tt.get_backend() == "blue"


def test_unavailable_backend_in_the_environment_names_the_variable(monkeypatch):
    tt.register_backend("lost", "a_package_nobody_has:Backend")
    monkeypatch.setenv("TINYTORCH_BACKEND", "lost")
    with pytest.raises(tt.BackendUnavailableError, match="TINYTORCH_BACKEND=lost") as caught:
        tt.get_backend()
    assert (caught.value.backend, caught.value.reason) == ("lost", "not installed")


def test_empty_environment_variable_is_none(monkeypatch):
    monkeypatch.setenv("TINYTORCH_BACKEND", "")
    assert tt.get_backend() == "numpy"
