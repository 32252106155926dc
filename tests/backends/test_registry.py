"""The registry of backends: names, loaders, entry points, and who gets which instance."""

from __future__ import annotations

import importlib.metadata
import json
import math
import pickle
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tinytorch as tt
from tests.fresh import program, run, search_path
from tinytorch import backends
from tinytorch.backends import (
    Backend,
    BackendType,
    BackendUnavailableError,
    UnknownBackendError,
    list_backends,
    load,
    loaded,
    register_backend,
)

ROOT = Path(__file__).parents[2]


class Paper(Backend):
    """Enough of a backend to be loaded."""

    name = "paper"
    library = math
    array_type = list


class Unnamed(Backend):
    """A class that leaves its name to the registration."""

    library = math
    array_type = list


SHARED = Paper()


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """The registry, as it was before and after."""
    monkeypatch.setattr(backends, "_registry", dict(backends._registry))


class Point:
    """An entry point, as far as the registry asks."""

    def __init__(self, name, value):
        self.name, self.value = name, value


@pytest.fixture
def declared(monkeypatch):
    """A list of entry points in the place of the installed ones."""
    points: list[Point] = []
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: list(points))
    monkeypatch.setattr(backends, "_is_declared", lambda: True)
    return points


# -- names and loaders ---------------------------------------------------------------------


def test_built_in_names_come_first_and_are_in_the_same_table():
    assert list_backends()[:2] == ["numpy", "cupy"]
    register_backend("paper", Paper)
    assert "paper" in list_backends()[2:]


def test_numpy_loads_from_its_name_its_constant_and_its_class():
    from tinytorch.backends.numpy import NumpyBackend

    numpy = load("numpy")
    assert isinstance(numpy, NumpyBackend) and numpy.name == str(numpy) == "numpy"
    assert load(BackendType.NUMPY) is load(NumpyBackend) is load(numpy) is numpy


@pytest.mark.parametrize(
    "loader", [Paper, lambda: Paper(), SHARED, f"{__name__}:Paper", f"{__name__}:SHARED"]
)
def test_register_backend_accepts_every_kind_of_loader(loader):
    register_backend("paper", loader)
    assert load("paper").name == "paper"
    assert load("paper") is load("paper")


def test_registering_and_listing_load_no_backend():
    register_backend("paper", lambda: calls.append(1) or Paper())
    calls: list[int] = []
    assert "paper" in list_backends() and backends.loaded("paper") is None
    assert backends.check("paper") == "paper" and calls == []
    assert load("paper") is load("paper") is backends.loaded("paper")
    assert calls == [1]


def test_register_backend_as_a_decorator_registers_the_class():
    @register_backend("decorated")
    class Decorated(Paper):
        name = "decorated"

    assert type(load("decorated")) is Decorated


def test_a_class_without_a_name_gets_the_registered_one():
    register_backend("given", Unnamed)
    assert load("given").name == str(load("given")) == "given"
    assert not hasattr(Unnamed, "name")


def test_a_class_under_a_second_name_goes_by_that():
    register_backend("paper", Paper)
    register_backend("second", Paper)
    assert (load("paper").name, load("second").name) == ("paper", "second")


def test_a_loader_whose_backend_has_another_name_is_refused():
    register_backend("second", lambda: Paper())
    with pytest.raises(BackendUnavailableError, match="a backend named 'paper'") as caught:
        load("second")
    assert caught.value.reason == "broken" and caught.value.__cause__ is None  # it says it all


def test_a_loader_that_returns_something_else_is_refused():
    register_backend("paper", lambda: 3)
    with pytest.raises(BackendUnavailableError, match="must return a Backend, got int 3"):
        load("paper")


def test_a_taken_name_is_refused_unless_replaced():
    register_backend("paper", Paper)
    first = load("paper")
    with pytest.raises(ValueError, match="the name 'paper' is taken by .*Paper"):
        register_backend("paper", lambda: Paper())
    assert load("paper") is first
    register_backend("paper", lambda: Paper(), replace=True)
    assert load("paper") is not first


def test_registering_the_same_source_again_keeps_the_instance():
    register_backend("paper", Paper)
    first = load("paper")
    register_backend("paper", Paper)
    again = type("Paper", (Paper,), {"__module__": Paper.__module__, "__qualname__": "Paper"})
    register_backend("paper", again)  # what importlib.reload of the module does
    assert load("paper") is first


@pytest.mark.parametrize("name", [3, None, b"paper", Paper])
def test_a_name_is_a_string(name):
    with pytest.raises(TypeError, match="expected name to be a str"):
        register_backend(name, Paper)


@pytest.mark.parametrize("name", ["", "  ", "\n"])
def test_a_name_is_not_blank(name):
    with pytest.raises(ValueError, match="expected a name, got only blanks"):
        register_backend(name, Paper)


@pytest.mark.parametrize("name", [" Paper ", "PAPER", "paper\n", "\tpaper"])
def test_case_and_blanks_of_a_name_do_not_matter(name, monkeypatch):
    register_backend(f" {name}", Paper)
    own = name.strip()
    with tt.backend_context("paPer  "):
        assert tt.get_backend() == own
    assert load(" pAPER").name == own == loaded("paper").name
    with pytest.raises(ValueError, match="is taken by"):
        register_backend("PapeR", lambda: None)
    register_backend("PapeR", Paper, replace=True)
    assert "PapeR" in list_backends() and (own == "PapeR" or own not in list_backends())
    with pytest.raises(UnknownBackendError, match="Did you mean 'PapeR'"):
        load(" papper")


@pytest.mark.parametrize("loader", [3, b"module:name", ["paper"]])
def test_a_loader_can_be_called(loader):
    with pytest.raises(TypeError, match="expected the loader of 'paper' to be a Backend class"):
        register_backend("paper", loader)
    assert "paper" not in list_backends()


# -- instances, classes and pickles ----------------------------------------------------------


def test_an_instance_stands_for_itself_and_is_not_filed():
    own = Paper()
    assert load(own) is own and "paper" not in list_backends()


def test_a_class_has_one_instance_registered_or_not():
    class Local(Paper):
        pass

    assert load(Local) is load(Local) and type(load(Local)) is Local
    register_backend("paper", Paper)
    assert load(Paper) is load("paper")


@pytest.mark.parametrize("name", ["numpy", "paper"])
def test_backends_pickle_by_name(name):
    register_backend("paper", Paper)
    assert pickle.loads(pickle.dumps(load(name))) is load(name)


@pytest.mark.parametrize("wrong", [3, None, int, object(), Backend.__init__])
def test_loading_an_unsupported_type_is_a_type_error(wrong):
    for use in (load, backends.check):
        with pytest.raises(TypeError, match="expected a backend's name, a BackendType"):
            use(wrong)


@pytest.mark.parametrize(
    "error",
    [
        UnknownBackendError("unknown", name="a", known=("b",)),
        BackendUnavailableError("gone", backend="a", reason="no device"),
    ],
)
def test_errors_keep_their_attributes_when_pickled(error):
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


# -- loading under way -----------------------------------------------------------------------


def test_a_loader_that_loads_its_own_backend_is_an_error_not_a_deadlock():
    register_backend("paper", lambda: load("paper"))
    with pytest.raises(BackendUnavailableError, match="loads itself while it is loading"):
        load("paper")


def test_loading_one_backend_does_not_hold_up_another():
    inside, go = threading.Event(), threading.Event()

    def slow():
        inside.set()
        assert go.wait(300)
        return Paper()

    register_backend("paper", slow)
    found = []
    thread = threading.Thread(target=lambda: found.append(load("paper")))
    thread.start()
    assert inside.wait(300)
    register_backend("given", Unnamed)
    assert load("given").name == "given" and found == []
    go.set()
    thread.join(300)
    assert found == [load("paper")]


def test_a_module_may_load_its_backend_while_other_threads_load_it(tmp_path, monkeypatch):
    """A thread importing the module waits for ours; ours must not wait for the import."""

    def plugin():
        import threading
        import time

        from tinytorch.backends import Backend, load

        class Slow(Backend):
            name, library, array_type = "slow", time, list

        (loading,) = [t for t in threading.enumerate() if t.name == "loading"]
        loading.begun.set()
        assert loading.imports.wait(300)
        backend = load("slow")  # noqa: F841  # an attribute of the module

    (tmp_path / "slow_plugin.py").write_text(program(plugin))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "slow_plugin", raising=False)
    register_backend("slow", "slow_plugin:Slow")
    begun, imports = threading.Event(), threading.Event()
    import_module = importlib.import_module

    def noted(name, *args):
        if threading.current_thread() is loading:
            imports.set()
        return import_module(name, *args)

    monkeypatch.setattr(importlib, "import_module", noted)
    loading = threading.Thread(target=lambda: begun.wait(300) and load("slow"), daemon=True)
    loading.name, loading.begun, loading.imports = "loading", begun, imports
    importing = threading.Thread(target=lambda: import_module("slow_plugin"), daemon=True)
    threads = [loading, importing]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not any(thread.is_alive() for thread in threads)
    assert imports.is_set() and sys.modules["slow_plugin"].backend is load("slow")


# -- entry points ----------------------------------------------------------------------------


def test_entry_points_are_listed_loaded_and_suggested(declared):
    declared.append(Point("paper", f"{__name__}:Paper"))
    assert list_backends()[-1] == "paper"
    assert load("paper").name == "paper"
    with pytest.raises(UnknownBackendError, match=r"cupy.*, paper\. Did you mean 'paper'\?"):
        load("papr")


def test_entry_points_cannot_displace_what_is_registered(declared):
    declared += [Point("numpy", f"{__name__}:Paper"), Point("given", f"{__name__}:Paper")]
    register_backend("given", Unnamed)
    assert load("numpy").name == "numpy" and type(load("given")) is Unnamed
    assert list_backends().count("numpy") == list_backends().count("given") == 1


def test_two_distributions_that_declare_one_name_are_warned_about(declared):
    declared += [Point("paper", f"{__name__}:Paper"), Point("paper", "elsewhere:Paper")]
    with pytest.warns(RuntimeWarning, match="two installed distributions declare .* 'paper'"):
        assert type(load("paper")) is Paper


def test_one_distribution_seen_twice_is_not_warned_about(declared):
    declared += [Point("paper", f"{__name__}:Paper")] * 2
    assert type(load("paper")) is Paper


def test_an_entry_point_that_names_nothing_is_broken(declared):
    declared.append(Point("paper", f"{__name__}:Nothing"))
    with pytest.raises(BackendUnavailableError, match="has no 'Nothing'") as caught:
        load("paper")
    assert caught.value.reason == "broken"


def test_names_that_are_registered_ask_for_no_entry_points(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "entry_points", None)
    register_backend("paper", Paper)
    assert load("paper").name == "paper" and load("numpy").name == "numpy"


# -- a distribution that is really installed ---------------------------------------------------


@pytest.fixture(scope="module")
def plugins(tmp_path_factory):
    """A search path with a folder into which pip has installed tests/plugin_example."""
    pytest.importorskip("setuptools", minversion="69", reason="pip builds with setuptools")
    source = tmp_path_factory.mktemp("source") / "plugin_example"
    shutil.copytree(ROOT / "tests" / "plugin_example", source)  # pip leaves its build here
    target = tmp_path_factory.mktemp("plugins")
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--quiet"]
    command = [sys.executable, "-m", "pip", "install", *offline, "--target", target, source]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return search_path(target)


def test_installed_distribution_is_found_without_an_edit_or_an_import(plugins):
    def chooses():
        import importlib
        import sys

        tt = importlib.import_module("tinytorch.state")
        print(*tt.list_backends())
        assert "tinytorch_ledger" not in sys.modules
        tt.set_backend("ledger")
        print(tt.get_backend(), tt.current_backend())

    names, active = run(chooses, PYTHONPATH=plugins).splitlines()
    assert {"numpy", "cupy", "ledger", "ledger-unfinished"} <= set(names.split())
    assert active == "ledger ledger"


def test_installed_backend_runs_a_program(plugins):
    def differentiates():
        import tinytorch as tt

        with tt.backend_context("ledger") as backend:
            x = tt.ones(2, 3, requires_grad=True)
        y = (x * 2).sin().sum()  # what follows goes by its inputs
        y.backward()
        print(y.backend.name, x.grad.backend.name, backend.ledger["sin"])
        print(x.grad.tolist())

    names, grad = run(differentiates, PYTHONPATH=plugins).splitlines()
    assert names == "ledger ledger 1"
    expected = [[2 * math.cos(2)] * 3] * 2
    assert json.loads(grad) == [pytest.approx(row, rel=1e-6) for row in expected]


def test_environment_variable_can_name_an_installed_backend(plugins):
    def asks():
        from tinytorch.state import get_backend

        print(get_backend())

    assert run(asks, PYTHONPATH=plugins, TINYTORCH_BACKEND="ledger") == "ledger"


def test_installed_backend_is_carried_into_a_spawned_process(plugins):
    def spawns():
        import importlib
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        tt = importlib.import_module("tinytorch.state")
        context = multiprocessing.get_context("spawn")
        with tt.backend_context("ledger"), ProcessPoolExecutor(1, context) as pool:
            print(pool.submit(tt.propagate(tt.get_backend)).result())
            print(pool.submit(tt.get_backend).result())

    assert run(spawns, PYTHONPATH=plugins).split() == ["ledger", "numpy"]


def test_installed_backend_that_cannot_be_imported_says_so(plugins):
    def chooses():
        import importlib

        tt = importlib.import_module("tinytorch.state")
        try:
            tt.set_backend("ledger-unfinished")
        except ImportError as error:
            print(type(error).__name__, error.reason, tt.get_backend(), error, sep="|")

    kind, reason, active, message = run(chooses, PYTHONPATH=plugins).split("|")
    assert (kind, reason, active) == ("BackendUnavailableError", "not installed", "numpy")
    assert "the package 'tinytorch_ledger_unfinished'" in message


# -- what importing costs ------------------------------------------------------------------------


def test_registry_and_state_import_nothing_heavy_and_no_gpu_library():
    def without_the_facade(folder):  # which loads more
        import importlib
        import importlib.util
        import sys
        import types

        import numpy  # noqa: F401

        package = types.ModuleType("tinytorch")
        package.__path__ = [folder]
        sys.modules["tinytorch"] = package
        before = set(sys.modules)
        importlib.import_module("tinytorch.state")
        print(*(name for name in set(sys.modules) - before if "tinytorch" not in name))

    # Backends import threading for their locks, and gc is built in; asyncio, inspect and
    # importlib.metadata wait.
    loaded = run(without_the_facade, str(ROOT / "tinytorch")).split()
    assert set(loaded) <= {"__future__", "gc", "threading"}
