"""State with which a new thread starts, and the absence of races between threads."""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

import pytest

from tests.fresh import run
from tests.state.fakes import COLOURS
from tinytorch.backends import load

tt = importlib.import_module("tinytorch.state")


def start(function, make=threading.Thread):
    """Return the result of ``function`` in a new thread."""
    found = []
    thread = make(target=lambda: found.append(function()))
    thread.start()
    thread.join(300)
    return found[0]


def test_backends_set_by_eight_threads_do_not_affect_each_other():
    wrong: list[tuple[int, int]] = []
    names = ["numpy", *COLOURS]

    def worker(number):
        backends = [load(name) for name in names]
        for i in range(100_000):
            chosen = (i * (number + 1)) % 4
            tt.set_backend(names[chosen])
            if tt.current_backend() is not backends[chosen]:
                wrong.append((number, i))

    # Switch threads every 10 µs, so that a race shows.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=worker, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(300)
    finally:
        sys.setswitchinterval(interval)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []
    assert tt.get_backend() == "numpy"


def test_scopes_and_modes_of_eight_threads_do_not_affect_each_other():
    wrong: list[str] = []

    def worker(number):
        own = COLOURS[number % 3]
        tt.set_backend(own)
        for i in range(2_000):
            other = COLOURS[i % 3]
            with tt.backend_context(other), tt.set_grad_enabled(i % 2 == 0):
                if (tt.get_backend(), tt.is_grad_enabled()) != (other, i % 2 == 0):
                    wrong.append("inside")
            if (tt.get_backend(), tt.is_grad_enabled()) != (own, True):
                wrong.append("outside")

    threads = [threading.Thread(target=worker, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert wrong == []


def test_thread_begins_with_its_spawners_choice():
    tt.set_backend("red")
    assert start(tt.get_backend) == "red"


def test_thread_begins_with_its_spawners_scope():
    tt.set_backend("red")
    with tt.backend_context("green"):
        assert start(tt.get_backend) == "green"
        tt.set_backend("blue")
        assert start(tt.get_backend) == "blue"


def test_snapshot_is_taken_at_start_not_before_or_after():
    go = threading.Event()
    found = []

    def worker():
        assert go.wait(300)
        found.append(tt.get_backend())

    thread = threading.Thread(target=worker)
    tt.set_backend("red")
    thread.start()
    tt.set_backend("blue")
    go.set()
    thread.join(300)
    assert found == ["red"]


def test_nested_threads_inherit_from_their_own_spawner():
    tt.set_backend("red")

    def middle():
        own = tt.get_backend()
        tt.set_backend("green")
        with tt.backend_context("blue"):
            inner = start(tt.get_backend)
        return own, inner, start(tt.get_backend)

    assert start(middle) == ("red", "blue", "green")
    assert tt.get_backend() == "red"


def test_spawner_without_a_choice_leaves_the_thread_to_the_default():
    first, second = threading.Event(), threading.Event()
    found = []

    def worker():
        found.append(tt.get_backend())
        first.set()
        assert second.wait(300)
        found.append(tt.get_backend())

    thread = threading.Thread(target=worker)
    thread.start()
    assert first.wait(300)
    tt.set_backend("blue")  # the spawner's, too late for this thread
    tt.set_default_backend("red")
    second.set()
    thread.join(300)
    assert found == ["numpy", "red"]


def test_reset_backend_forgets_what_was_inherited():
    tt.set_backend("red")
    assert start(lambda: (tt.reset_backend(), tt.get_backend())[1]) == "numpy"


def test_a_backend_set_in_a_thread_stays_there():
    tt.set_backend("red")
    assert start(lambda: (tt.set_backend("blue"), tt.get_backend())[1]) == "blue"
    assert tt.get_backend() == "red"


def test_timer_begins_with_its_spawners_choice():
    found = []
    tt.set_backend("green")
    timer = threading.Timer(0.01, lambda: found.append(tt.get_backend()))
    timer.start()
    tt.set_backend("blue")
    timer.join(300)
    assert found == ["green"]


def test_a_thread_subclass_with_its_own_start_inherits():
    class Worker(threading.Thread):
        def start(self):
            self.prepared = True
            super().start()

    tt.set_backend("red")
    assert start(tt.get_backend, Worker) == "red"


def test_pool_workers_keep_a_choice_they_were_born_with():
    tt.set_backend("red")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(tt.get_backend).result(30) == "red"
        tt.set_backend("blue")
        assert pool.submit(tt.get_backend).result(30) == "red"
        assert pool.submit(tt.propagate(tt.get_backend)).result(30) == "blue"
        assert pool.submit(tt.get_backend).result(30) == "red"


def test_workers_of_a_multiprocessing_thread_pool_inherit_the_choice():
    tt.set_backend("red")
    with ThreadPool(2) as pool:
        assert pool.map(lambda _: tt.get_backend(), range(4)) == ["red"] * 4


def test_threads_do_not_inherit_if_the_environment_variable_forbids_it(monkeypatch):
    tt.set_backend("red")
    monkeypatch.setenv("TINYTORCH_THREAD_INHERIT", "0")
    assert start(tt.get_backend) == "numpy"
    monkeypatch.setenv("TINYTORCH_THREAD_INHERIT", "1")
    assert start(tt.get_backend) == "red"


def test_a_thread_that_threading_did_not_start_follows_the_default():
    import _thread

    tt.set_backend("red")
    found, done = [], threading.Event()
    _thread.start_new_thread(lambda: (found.append(tt.get_backend()), done.set()), ())
    assert done.wait(300)
    assert found == ["numpy"]


def test_thread_ids_are_reused_and_choices_are_not():
    for _ in range(20):
        assert start(lambda: (threading.get_ident(), tt.get_backend())[1]) == "numpy"
        start(lambda: tt.set_backend("red"))


def test_starting_twice_is_the_usual_error_and_changes_nothing():
    go, found = threading.Event(), []

    def worker():
        assert go.wait(300)
        found.append(tt.get_backend())

    tt.set_backend("red")
    thread = threading.Thread(target=worker)
    thread.start()
    tt.set_backend("blue")
    with pytest.raises(RuntimeError, match="threads can only be started once"):
        thread.start()
    go.set()
    thread.join(300)
    assert found == ["red"]


def test_thread_start_is_wrapped_once_whoever_wraps_it_too(monkeypatch):
    ours = threading.Thread.start
    assert ours.__name__ == "start" and ours.__wrapped__.__module__ == "threading"
    tt.backend._inherit_on_start()
    assert threading.Thread.start is ours

    @functools.wraps(ours)
    def someone_elses(self):
        calls.append(self)
        ours(self)

    calls: list[threading.Thread] = []
    monkeypatch.setattr(threading.Thread, "start", someone_elses)
    tt.backend._inherit_on_start()
    assert threading.Thread.start is someone_elses
    tt.set_backend("red")
    assert start(tt.get_backend) == "red"
    assert len(calls) == 1


def test_a_second_copy_of_the_package_takes_over():
    """In a process of its own: the copy registers its functions with modules of the first one."""

    def program():
        import importlib
        import sys
        import threading
        from concurrent.futures import ThreadPoolExecutor

        from tinytorch.backends import register_backend
        from tinytorch.backends.numpy import NumpyBackend

        class Red(NumpyBackend):
            name = "red"

        first = importlib.import_module("tinytorch.state")
        first.set_backend("numpy")
        before = threading.Thread.start
        for name in [n for n in sys.modules if n.startswith("tinytorch.state")]:
            del sys.modules[name]
        copy = importlib.import_module("tinytorch.state")
        assert copy is not first and threading.Thread.start is before
        register_backend("red", Red)
        copy.set_backend("red")
        with ThreadPoolExecutor(1) as pool:
            print(pool.submit(copy.get_backend).result())

    assert run(program).split() == ["red"]


def test_new_threads_start_grad_enabled():
    tt.set_grad_enabled(False)
    with tt.inference_mode():
        assert start(lambda: (tt.is_grad_enabled(), tt.is_inference_mode_enabled())) == (
            True,
            False,
        )
    assert not tt.is_grad_enabled()


def test_scopes_of_forgotten_generators_end_while_threads_enter_others():
    """Python 3.11 crashed: garbage was collected, and with it scopes, while a scope was entered."""

    def program():
        from concurrent.futures import ThreadPoolExecutor

        import tinytorch as tt

        @tt.no_grad()
        def paused():
            yield

        def work():
            for _ in range(2000):
                made = paused()
                next(made)
                ring = [made]
                ring.append(ring)  # found as garbage later, in whichever thread looks
                del made, ring
                for _ in range(3):
                    with tt.no_grad(), tt.enable_grad():
                        assert tt.is_grad_enabled()
            assert tt.is_grad_enabled()

        with ThreadPoolExecutor(4) as pool:
            for each in [pool.submit(work) for _ in range(4)]:
                each.result()

    assert run(program) == ""
