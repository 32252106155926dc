"""Scopes: what they set and restore, whatever happens inside and wherever they are left."""

from __future__ import annotations

import contextvars
import gc
import importlib
import threading
import weakref
from contextlib import ExitStack

import pytest

from tests.state.fakes import COLOURS

tt = importlib.import_module("tinytorch.state")


def in_thread(function, *args):
    """What ``function`` returns or raises in another thread."""
    outcome = []

    def run():
        try:
            outcome.append((function(*args), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(300)
    ((result, error),) = outcome
    if error is not None:
        raise error
    return result


def suspended(colour):
    """A generator waiting inside a plain ``with`` block."""
    with tt.backend_context(colour):
        yield tt.get_backend()


def test_nested_scopes_restore_in_turn():
    seen = []
    with tt.backend_context("red"):
        with tt.backend_context("green"):
            with tt.backend_context("blue"):
                seen.append(tt.get_backend())
            seen.append(tt.get_backend())
        seen.append(tt.get_backend())
    assert seen == ["blue", "green", "red"]
    assert tt.get_backend() == "numpy"


@pytest.mark.parametrize(
    "error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit, StopIteration]
)
def test_scope_restores_on_any_exception(error):
    with pytest.raises(error), tt.backend_context("red"):
        tt.set_backend("blue")
        with tt.backend_context("green"):
            raise error
    assert tt.get_backend() == "numpy"


def test_scope_swallows_no_exception():
    after = []
    with pytest.raises(ZeroDivisionError):
        with tt.backend_context("red"):
            1 / 0
        after.append("reached")
    assert after == []


def test_one_object_is_reusable_and_re_entrant():
    scope = tt.backend_context("red")
    for _ in range(3):
        with scope:
            with tt.backend_context("green"):
                with scope:
                    assert tt.get_backend() == "red"
                assert tt.get_backend() == "green"
            tt.set_backend("blue")
            with scope, scope:
                assert tt.get_backend() == "red"
            assert tt.get_backend() == "blue"
        assert tt.get_backend() == "numpy"


def test_one_object_in_many_threads_at_once():
    scope, barrier = tt.backend_context("red"), threading.Barrier(8)
    failures = []

    def worker(own):
        tt.set_backend(own)
        for _ in range(200):
            barrier.wait(300)
            with scope:
                barrier.wait(300)
                if tt.get_backend() != "red":
                    failures.append("inside")
            if tt.get_backend() != own:
                failures.append("outside")

    threads = [threading.Thread(target=worker, args=(COLOURS[i % 3],)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert failures == []


def test_scopes_left_in_the_order_they_were_entered():
    first, second = tt.backend_context("red"), tt.backend_context("green")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert tt.get_backend() == "green"
    second.__exit__(None, None, None)
    assert tt.get_backend() == "numpy"


def test_leaving_more_often_than_entering_is_an_error():
    scope = tt.backend_context("red")
    with scope:
        pass
    with pytest.raises(RuntimeError, match="backend_context: left more often than entered"):
        scope.__exit__(None, None, None)


def test_a_scope_can_be_entered_and_left_through_an_exit_stack():
    with ExitStack() as stack:
        for colour in COLOURS:
            stack.enter_context(tt.backend_context(colour))
        assert tt.get_backend() == "blue"
    assert tt.get_backend() == "numpy"


def test_scope_is_not_seen_by_a_context_copied_before_it():
    before = contextvars.copy_context()
    with tt.backend_context("red"):
        assert before.run(tt.get_backend) == "numpy"
        assert contextvars.copy_context().run(tt.get_backend) == "red"


def test_copied_context_keeps_the_scope_after_the_block_has_ended():
    with tt.backend_context("red"):
        copy = contextvars.copy_context()
    assert tt.get_backend() == "numpy"
    assert copy.run(tt.get_backend) == "red"
    assert in_thread(copy.run, tt.get_backend) == "red"


def test_set_backend_in_a_copied_context_stays_there():
    with tt.backend_context("red"):
        copy = contextvars.copy_context()
        copy.run(tt.set_backend, "blue")
        assert tt.get_backend() == "red"
        assert copy.run(tt.get_backend) == "blue"
    assert tt.get_backend() == "numpy"


class TestGeneratorSuspendedInAScope:
    """PEP 568's problem: the frame a plain ``with`` leaves behind in the caller's context."""

    def test_a_generator_closed_where_it_was_started_restores_the_scope(self):
        waiting = suspended("red")
        assert next(waiting) == "red"
        waiting.close()
        assert tt.get_backend() == "numpy"

    def test_a_generator_closed_in_another_thread_changes_neither_thread(self):
        waiting = suspended("red")
        next(waiting)

        def close():
            with tt.backend_context("blue"):
                waiting.close()
                return tt.get_backend()

        assert in_thread(close) == "blue"
        assert tt.get_backend() == "numpy"

    def test_a_generator_closed_in_another_context_changes_neither_context(self):
        empty = contextvars.copy_context()
        waiting = suspended("red")
        next(waiting)
        empty.run(waiting.close)
        assert (empty.run(tt.get_backend), tt.get_backend()) == ("numpy", "numpy")

    def test_a_generator_closed_in_a_copy_of_its_context_changes_neither(self):
        waiting = suspended("red")
        next(waiting)
        copy = contextvars.copy_context()
        copy.run(waiting.close)
        assert (copy.run(tt.get_backend), tt.get_backend()) == ("numpy", "numpy")

    def test_a_generator_closed_inside_a_later_scope_leaves_that_scope(self):
        waiting = suspended("red")
        next(waiting)
        with tt.backend_context("green"):
            waiting.close()
            assert tt.get_backend() == "green"
            tt.set_backend("blue")
        assert tt.get_backend() == "numpy"

    def test_a_generator_closed_after_the_scope_it_was_started_in_restores_nothing(self):
        with tt.backend_context("green"):
            waiting = suspended("red")
            next(waiting)
        waiting.close()
        assert tt.get_backend() == "numpy"

    def test_a_generator_collected_in_another_thread_ends_its_scope(self):
        waiting = [suspended("red")]
        next(waiting[0])
        in_thread(waiting.clear)
        gc.collect()
        assert tt.get_backend() == "numpy"

    def test_two_generators_that_take_turns_do_not_mix(self):
        one, two = suspended("red"), suspended("green")
        assert (next(one), next(two)) == ("red", "green")
        one.close()
        assert tt.get_backend() == "green"
        two.close()
        assert tt.get_backend() == "numpy"

    def test_scopes_of_the_thread_that_closes_it_are_kept(self):
        waiting = suspended("red")
        next(waiting)
        held, done = threading.Event(), threading.Event()
        seen = []

        def worker():
            with tt.backend_context("blue"):
                waiting.close()
                held.set()
                assert done.wait(300)
                seen.append(tt.get_backend())
            seen.append(tt.get_backend())

        thread = threading.Thread(target=worker)
        thread.start()
        assert held.wait(300)
        assert tt.get_backend() == "numpy"
        done.set()
        thread.join(300)
        # The thread was started inside the suspended block, which is red until it is closed.
        assert seen == ["blue", "numpy"]


def test_a_shared_object_left_elsewhere_does_not_end_the_blocks_still_running():
    scope = tt.backend_context("red")

    def body():
        with scope:
            yield

    waiting = body()
    empty = contextvars.copy_context()
    empty.run(next, waiting)
    with scope:
        in_thread(waiting.close)
        assert tt.get_backend() == "red"
    assert tt.get_backend() == "numpy"


def test_a_thousand_nested_scopes_leave_nothing_behind():
    with ExitStack() as stack:
        for i in range(1000):
            stack.enter_context(tt.backend_context(COLOURS[i % 3]))
    assert tt.get_backend() == "numpy"
    frame = tt.backend.BACKEND.var.get()
    assert frame is None


def test_finished_scopes_are_freed_without_the_garbage_collector():
    class Marker(tt.Scope):
        __slots__ = ("__weakref__", "value")

        def _settings(self):
            return ((tt.grad.GRAD, False),)

    gc.disable()
    try:
        scope = Marker()
        alive = weakref.ref(scope)
        with scope:
            assert not tt.is_grad_enabled()
        del scope
        assert alive() is None
    finally:
        gc.enable()


def test_set_backend_many_times_in_a_scope_does_not_grow_the_stack():
    with tt.backend_context("red"):
        for i in range(1000):
            tt.set_backend(COLOURS[i % 3])
        assert tt.backend.BACKEND.var.get().parent is None
