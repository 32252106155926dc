"""A scope that a thread was started in ends there when it ends, however the thread was born."""

from __future__ import annotations

import asyncio
import importlib
import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

import pytest

from tests.state.test_threads import start

tt = importlib.import_module("tinytorch.state")


class Asked:
    """A thread that says what backend it sees, whenever it is asked, until it is told to stop."""

    def __init__(self, make=lambda work: threading.Thread(target=work)):
        self.questions = queue.Queue()
        self.answers = queue.Queue()
        self.thread = make(self.work)
        self.thread.start()

    def work(self):
        while (question := self.questions.get(timeout=300)) is not None:
            self.answers.put(question())

    def __call__(self, question=tt.get_backend):
        self.questions.put(question)
        return self.answers.get(timeout=300)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.questions.put(None)
        self.thread.join(300)


def timer(work):
    return threading.Timer(0, work)


@pytest.mark.parametrize("make", [(), (timer,)])
@pytest.mark.parametrize("choice", [None, "red"])
def test_an_inherited_scope_ends_in_the_thread_with_its_block(make, choice):
    if choice:
        tt.set_backend(choice)
    with tt.backend_context("green"):
        asked = Asked(*make)
        assert asked() == "green"
    with asked:
        assert asked() == (choice or "numpy")
        with tt.backend_context("blue"):  # not its scope: it was there before
            assert asked() == (choice or "numpy")


def test_scopes_end_one_by_one_in_any_order():
    outer, inner = tt.backend_context("red"), tt.backend_context("green")
    outer.__enter__()
    inner.__enter__()
    with Asked() as first:
        inner.__exit__(None, None, None)
        assert first() == "red"
        inner.__enter__()
        with Asked() as second:
            outer.__exit__(None, None, None)  # a generator may outlive what it was started in
            assert (first(), second()) == ("numpy", "green")
            inner.__exit__(None, None, None)
            assert (first(), second()) == ("numpy", "numpy")


def test_a_backend_set_inside_of_an_inherited_scope_ends_with_it():
    tt.set_backend("red")
    with tt.backend_context("green"):
        tt.set_backend("blue")
        asked = Asked()
        assert asked() == "blue"
    with asked:
        assert asked() == "red"


def test_the_scope_ends_when_its_block_raises():
    with pytest.raises(KeyError), tt.backend_context("green"):
        asked = Asked()
        assert asked() == "green"
        raise KeyError
    with asked:
        assert asked() == "numpy"


def test_a_decorated_function_is_a_scope():
    asked = tt.backend_context("green")(lambda: Asked())()
    with asked:
        assert asked() == "numpy"


def test_a_paused_generator_keeps_the_scope_of_its_threads_open():
    @tt.backend_context("green")
    def steps():
        with Asked() as asked:
            yield asked

    running = steps()
    asked = next(running)
    assert (asked(), tt.get_backend()) == ("green", "numpy")
    running.close()
    assert not asked.thread.is_alive()


def test_the_threads_own_choice_stays():
    with tt.backend_context("green"):
        asked = Asked()
        assert asked(lambda: (tt.set_backend("blue"), tt.get_backend())[1]) == "blue"
    with asked:
        assert asked() == "blue"


def test_the_threads_own_block_puts_back_what_was_inherited():
    def block():
        with tt.get_state()._replace(backend="blue").apply():
            return tt.get_backend()

    with tt.backend_context("green"):
        asked = Asked()
        assert (asked(block), asked()) == ("blue", "green")
    with asked:
        assert asked() == "numpy"


def test_grandchildren_have_it_until_it_ends():
    tt.set_backend("red")
    with tt.backend_context("green"):
        first = Asked()
        second = first(Asked)
        assert second() == "green"
    with first, second:
        assert (first(), second(), first(lambda: start(tt.get_backend))) == ("red",) * 3


def test_threads_inherit_no_scope_if_the_environment_variable_forbids_it(monkeypatch):
    monkeypatch.setenv("TINYTORCH_THREAD_INHERIT", "0")
    with tt.backend_context("green"), Asked() as asked:
        assert asked() == "numpy"


def test_pool_workers_follow_the_scope_of_their_submitter():
    with ThreadPoolExecutor(1) as pool, ThreadPool(1) as other:
        with tt.backend_context("red"):
            assert pool.submit(tt.get_backend).result(30) == "red"
        assert pool.submit(tt.get_backend).result(30) == "numpy"
        assert other.apply(tt.get_backend) == "numpy"
        with tt.backend_context("blue"):  # reused inside a scope: carried only by `propagate`
            assert pool.submit(tt.get_backend).result(30) == "numpy"
            assert pool.submit(tt.propagate(tt.get_backend)).result(30) == "blue"
        assert pool.submit(tt.get_backend).result(30) == "numpy"


def test_a_pool_made_in_a_scope_follows_its_end():
    with tt.backend_context("red"):
        pool = ThreadPool(1)
        assert pool.apply(tt.get_backend) == "red"
    with pool:
        assert pool.apply(tt.get_backend) == "numpy"


def test_executors_of_event_loops_follow_the_scope():
    async def ask():
        loop = asyncio.get_running_loop()
        with tt.backend_context("red"):
            inside = await loop.run_in_executor(None, tt.get_backend)
            carried = await asyncio.to_thread(tt.get_backend)
        outside = await loop.run_in_executor(None, tt.get_backend)
        return inside, carried, outside, await asyncio.to_thread(tt.get_backend)

    assert asyncio.run(ask()) == ("red", "red", "numpy", "numpy")


def test_the_scheduler_of_dask_follows_the_scope():
    dask = pytest.importorskip("dask")
    asked = dask.delayed(tt.get_backend, pure=False)

    def answers():
        return set(dask.compute(*[asked() for _ in range(8)], scheduler="threads", num_workers=2))

    with tt.backend_context("red"):
        assert answers() == {"red"}
    assert answers() == {"numpy"}
    tt.set_backend("blue")
    with dask.config.set(pool=ThreadPoolExecutor(2)):
        assert answers() == {"blue"}
