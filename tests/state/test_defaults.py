"""Default dtype and default generators."""

from __future__ import annotations

import importlib
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.state.fakes import Colour
from tinytorch import dtypes
from tinytorch.backends import load

tt = importlib.import_module("tinytorch.state")


def test_default_dtype_begins_as_float32():
    assert tt.get_default_dtype() is tt.default_dtype() is dtypes.float32


@pytest.mark.parametrize("d", [dtypes.float64, "float64", float])
def test_set_default_dtype_holds_for_every_thread_as_in_torch(d):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(tt.get_default_dtype).result(30)
        tt.set_default_dtype(d)
        assert tt.get_default_dtype() is dtypes.float64
        assert pool.submit(tt.get_default_dtype).result(30) is dtypes.float64


@pytest.mark.parametrize("d", [dtypes.int64, dtypes.bool, dtypes.complex64, "int8"])
def test_only_floating_point_dtypes_can_be_the_default(d):
    for use in (tt.set_default_dtype, tt.default_dtype_context):
        with pytest.raises(TypeError, match="only floating-point types are supported"):
            use(d)
    assert tt.get_default_dtype() is dtypes.float32


def test_default_dtype_context_is_this_tasks_alone():
    with tt.default_dtype_context(dtypes.float64):
        assert tt.get_default_dtype() is dtypes.float64
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(tt.get_default_dtype).result(30) is dtypes.float32
        tt.set_default_dtype(dtypes.float16)
        assert tt.get_default_dtype() is dtypes.float16
    assert tt.get_default_dtype() is dtypes.float32


def test_default_dtype_context_restores_on_an_exception():
    with pytest.raises(KeyError), tt.default_dtype_context(dtypes.float64):
        raise KeyError
    assert tt.get_default_dtype() is dtypes.float32


def test_set_default_dtype_is_not_hidden_by_an_applied_state():
    with tt.default_dtype_context(dtypes.float64):
        state = tt.get_state()
    state.apply()
    assert tt.get_default_dtype() is dtypes.float64
    tt.set_default_dtype(dtypes.float16)
    assert tt.get_default_dtype() is dtypes.float16


class TestGenerator:
    """The default generators, with an engine that is a bare object."""

    @pytest.fixture(autouse=True)
    def fresh(self, monkeypatch):
        monkeypatch.setattr(tt.defaults, "_generators", {})
        monkeypatch.setattr(tt.defaults, "_make_generator", tt.default_generator)

    def test_one_generator_per_backend_made_at_first_use(self):
        red, blue = load("red"), load("blue")
        assert isinstance(red, Colour)
        red.seeds.clear()
        first = tt.generator(red)
        assert tt.generator(red) is first is not tt.generator(blue)
        assert len(red.seeds) == 1
        with tt.backend_context("red"):
            assert tt.generator() is first

    def test_generators_are_seeded_by_the_operating_system(self):
        class Seeded(Colour):
            name = "seeded"

        backends = [Seeded(), Seeded()]
        for backend in backends:
            tt.generator(backend)
        assert backends[0].seeds != backends[1].seeds
        assert all(0 <= seed < 2**64 for backend in backends for seed in backend.seeds)

    def test_racing_first_uses_make_one_generator(self):
        barrier, found = threading.Barrier(8), []

        def worker():
            barrier.wait(300)
            found.append(tt.generator(load("red")))

        threads = [threading.Thread(target=worker) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(300)
        assert len(found) == 8 and len(set(map(id, found))) == 1

    def test_set_generator_factory_wraps_generators(self):
        tt.set_generator_factory(lambda backend: ("wrapped", backend.name))
        assert tt.generator(load("red")) == ("wrapped", "red")

    def test_set_generator_replaces_the_default(self):
        tt.set_generator("mine", load("red"))
        assert tt.generator(load("red")) == "mine"
        with tt.backend_context("blue"):
            tt.set_generator("other")
        assert tt.generator(load("blue")) == "other"
        assert tt.generator(load("red")) == "mine"

    def test_generator_context_sets_and_restores_the_generator(self):
        red, blue = load("red"), load("blue")
        default = tt.generator(red)
        with tt.generator_context("outer", red), tt.generator_context("inner", blue):
            assert (tt.generator(red), tt.generator(blue)) == ("outer", "inner")
            with pytest.raises(KeyError), tt.generator_context("innermost", red):
                assert tt.generator(red) == "innermost"
                raise KeyError
            assert tt.generator(red) == "outer"
        assert tt.generator(red) is default
