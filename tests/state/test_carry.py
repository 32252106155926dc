"""The state as a value, in pools, in Dask and in other processes."""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.state.fakes import Green
from tinytorch import dtypes

tt = importlib.import_module("tinytorch.state")


def report(*_args):
    """Everything a worker finds."""
    return tuple(tt.get_state())


def add(a, b=1):
    """A sum, and who is asked for it."""
    return a + b, tt.get_backend()


async def later(value):
    await asyncio.sleep(0)
    return value, tt.get_backend()


RED = ("red", dtypes.float64, False, False)


@pytest.fixture
def red_state():
    """A state that differs from a worker's in backend, dtype and grad mode."""
    with tt.backend_context("red"), tt.default_dtype_context("float64"), tt.no_grad():
        return tt.get_state()


def test_get_state_says_what_is_active(red_state):
    assert tuple(tt.get_state()) == ("numpy", dtypes.float32, True, False)
    assert tuple(red_state) == RED
    with tt.inference_mode():
        assert tt.get_state().inference_mode and not tt.get_state().grad_enabled


def test_state_pickles_and_compares(red_state):
    copy = pickle.loads(pickle.dumps(red_state))
    assert copy == red_state != tt.get_state()
    assert copy.default_dtype is dtypes.float64


def test_apply_as_a_call_lasts_for_this_thread_alone(red_state):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: None).result(30)
        red_state.apply()
        assert report() == RED
        assert pool.submit(report).result(30) == ("numpy", dtypes.float32, True, False)
    tt.reset_state()
    assert report() == ("numpy", dtypes.float32, True, False)


def test_apply_as_a_context_restores_the_state(red_state):
    tt.set_backend("blue")
    before = report()
    for raised in (False, True):
        try:
            with red_state.apply():
                assert report() == RED
                if raised:
                    raise KeyError
        except KeyError:
            assert raised
        assert report() == before


def test_apply_inside_scopes_ends_with_them(red_state):
    with tt.backend_context("blue"), tt.enable_grad():
        red_state.apply()
        assert (tt.get_backend(), tt.is_grad_enabled()) == ("red", False)
        with red_state.apply():
            assert tt.get_backend() == "red"
    assert (tt.get_backend(), tt.is_grad_enabled()) == ("numpy", True)


def test_apply_as_a_decorator_sets_the_state_during_calls_only(red_state):
    decorated = red_state.apply()(report)
    assert report() == ("numpy", dtypes.float32, True, False)
    assert decorated() == RED


def test_failed_apply_changes_nothing(red_state):
    tt.register_backend("lost", "a_package_nobody_has:Backend")
    before = report()
    with pytest.raises(tt.BackendUnavailableError):
        red_state._replace(backend="lost").apply()
    assert report() == before


def test_set_state_reset_state_and_state_set_and_restore_the_state(red_state):
    tt.set_state(red_state)
    assert report() == RED
    tt.reset_state()
    assert report() == ("numpy", dtypes.float32, True, False)
    with tt.state(red_state):
        assert report() == RED
    scope = tt.state(red_state)
    for _ in range(2):
        with scope, scope:
            assert report() == RED
    with tt.state(tt.BackendType.NUMPY):
        assert tt.get_backend() == "numpy"
    assert report() == ("numpy", dtypes.float32, True, False)


def test_reset_state_inside_scopes_gives_back_what_they_were_entered_with(red_state):
    with tt.state(red_state):
        tt.set_backend("blue")
        tt.set_grad_enabled(True)
        tt.reset_state()
        assert report() == RED


def test_backend_without_a_registered_name_is_carried_as_itself():
    class Unregistered(Green):
        pass

    own = Unregistered()
    with tt.backend_context(own):
        state = tt.get_state()
        assert state.backend is own
    with state.apply():
        assert tt.current_backend() is own
    assert tt.get_state().backend == "numpy"


def test_propagate_carries_the_callers_state_into_a_pool(red_state):
    with ThreadPoolExecutor(2) as pool:
        pool.submit(report).result(30)
        with red_state.apply():
            carried = tt.propagate(report)
            assert pool.submit(report).result(30) != RED
        assert list(pool.map(carried, range(8))) == [RED] * 8
        assert pool.submit(report).result(30) == ("numpy", dtypes.float32, True, False)


def test_propagate_takes_its_snapshot_when_called():
    tt.set_backend("red")
    carried = tt.propagate(add)
    tt.set_backend("blue")
    assert carried(1, b=2) == (3, "red")
    assert tt.get_backend() == "blue"


def test_propagated_function_keeps_its_name_and_pickles():
    with tt.backend_context("red"):
        carried = tt.propagate(add)
    assert (carried.__name__, carried.__doc__) == ("add", "A sum, and who is asked for it.")
    assert carried.__wrapped__ is add
    assert pickle.loads(pickle.dumps(carried))(1) == (2, "red")


def test_propagate_accepts_coroutines_generators_and_methods():
    def generate():
        yield tt.get_backend()

    class Model:
        def method(self):
            return tt.get_backend()

    with tt.backend_context("red"):
        carried = [tt.propagate(f) for f in (later, generate, Model().method)]
    assert asyncio.run(carried[0](5)) == (5, "red")
    assert list(carried[1]()) == ["red"]
    assert carried[2]() == "red"
    assert tt.get_backend() == "numpy"


def test_propagate_requires_a_function():
    with pytest.raises(TypeError, match="expected a function"):
        tt.propagate(3)


@pytest.fixture(scope="module")
def processes():
    """Two workers that import this module afresh."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        yield pool


def test_spawned_process_starts_with_the_defaults(processes, red_state):
    red_state.apply()
    assert processes.submit(report).result(120) == ("numpy", dtypes.float32, True, False)


def test_propagate_runs_a_function_in_the_callers_state_in_spawned_processes(processes, red_state):
    with red_state.apply():
        carried = tt.propagate(report)
    assert list(processes.map(carried, range(4), timeout=300)) == [RED] * 4
    assert processes.submit(report).result(120) == ("numpy", dtypes.float32, True, False)


def test_state_initialises_spawned_workers(red_state):
    context = multiprocessing.get_context("spawn")
    state = red_state._replace(backend="numpy")  # the child has not imported red's module yet
    with concurrent.futures.ProcessPoolExecutor(
        1, mp_context=context, initializer=state.apply
    ) as pool:
        for _ in range(2):
            assert pool.submit(report).result(120) == tuple(state)


def test_state_of_a_backend_a_process_lacks_is_an_error_that_says_so(processes):
    tt.register_backend("mine", Green, replace=True)

    class Mine(Green):
        name = "mine"

    tt.register_backend("mine", Mine, replace=True)
    with tt.backend_context("mine"):
        carried = tt.propagate(report)
    with pytest.raises(tt.UnknownBackendError, match="unknown backend 'mine'"):
        processes.submit(carried).result(120)


class TestDask:
    """Dask's threaded scheduler, whose pool outlives the caller's scopes."""

    @pytest.fixture(autouse=True)
    def dask(self):
        self.dask = pytest.importorskip("dask", reason="Dask is not installed")

    def compute(self, function, count=8):
        tasks = [self.dask.delayed(function)(i) for i in range(count)]
        return list(self.dask.compute(*tasks, scheduler="threads", num_workers=2))

    def test_propagate_carries_the_callers_state(self, red_state):
        plain = ("numpy", dtypes.float32, True, False)
        assert self.compute(report) == [plain] * 8
        with red_state.apply():
            carried = tt.propagate(report)
        assert self.compute(carried) == [RED] * 8
        assert self.compute(report) == [plain] * 8

    def test_apply_inside_of_a_dask_task_sets_the_state(self, red_state):
        def task(_):
            with red_state.apply():
                return report()

        assert self.compute(task) == [RED] * 8

    def test_threads_born_under_a_choice_have_it_with_a_pool_of_their_own(self):
        tt.set_backend("green")
        with ThreadPoolExecutor(2) as pool, self.dask.config.set(pool=pool):
            assert {backend for backend, *_ in self.compute(report)} == {"green"}
