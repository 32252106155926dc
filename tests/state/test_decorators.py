"""Scopes as decorators of every kind of function."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib
import inspect
import pickle
import types

import pytest

from tests.state.fakes import COLOURS

tt = importlib.import_module("tinytorch.state")


def seen(*_args):
    return tt.get_backend()


@tt.backend_context("red")
def documented(a: int, *, b: str = "x") -> tuple[int, str, str]:
    """Says what it does."""
    return a, b, tt.get_backend()


def test_function_runs_in_the_scope_and_its_caller_does_not():
    assert documented(1, b="y") == (1, "y", "red")
    assert tt.get_backend() == "numpy"


def test_decorated_function_keeps_name_signature_source_and_pickles():
    assert (documented.__name__, documented.__doc__) == ("documented", "Says what it does.")
    assert str(inspect.signature(documented)) == (
        "(a: 'int', *, b: 'str' = 'x') -> 'tuple[int, str, str]'"
    )
    assert "Says what it does." in inspect.getsource(documented)
    assert isinstance(documented, types.FunctionType)
    assert pickle.loads(pickle.dumps(documented)) is documented


def test_decorated_function_restores_on_an_exception():
    @tt.backend_context("red")
    def fail():
        tt.set_backend("blue")
        raise ValueError(tt.get_backend())

    with pytest.raises(ValueError, match="blue"):
        fail()
    assert tt.get_backend() == "numpy"


def test_a_recursive_decorated_function_nests_its_scopes():
    @tt.backend_context("red")
    def down(depth):
        return [tt.get_backend(), *down(depth - 1)] if depth else []

    assert down(50) == ["red"] * 50
    assert tt.get_backend() == "numpy"


def test_methods_of_every_kind_can_be_decorated():
    class Model:
        @tt.backend_context("red")
        def plain(self):
            return self, tt.get_backend()

        @tt.backend_context("red")
        @classmethod
        def of_class(cls):
            return cls, tt.get_backend()

        @tt.backend_context("red")
        @staticmethod
        def static():
            return tt.get_backend()

        @property
        @tt.backend_context("red")
        def derived(self):
            return tt.get_backend()

    model = Model()
    assert model.plain() == (model, "red")
    assert Model.of_class() == model.of_class() == (Model, "red")
    assert Model.static() == model.static() == model.derived == "red"


@pytest.mark.parametrize("wrong", [int, 3, None, "red"])
def test_only_functions_can_be_decorated(wrong):
    with pytest.raises(TypeError, match="expected a function, method, coroutine function"):
        tt.backend_context("red")(wrong)


def test_generator_is_in_the_scope_only_while_it_runs():
    @tt.backend_context("red")
    def body():
        yield tt.get_backend()
        yield tt.get_backend()

    inside = []
    for each in body():
        inside.append(each)
        assert tt.get_backend() == "numpy"
    assert inside == ["red", "red"]
    assert inspect.isgeneratorfunction(body)


def test_generator_keeps_send_throw_close_and_return():
    closed = []

    @tt.backend_context("red")
    def body():
        got = yield "first"
        try:
            yield got, tt.get_backend()
        except KeyError as error:
            yield "caught", error.args[0], tt.get_backend()
        try:
            yield "waiting"
        finally:
            closed.append(tt.get_backend())

    steps = body()
    assert next(steps) == "first"
    assert steps.send("sent") == ("sent", "red")
    assert steps.throw(KeyError("thrown")) == ("caught", "thrown", "red")
    assert next(steps) == "waiting"
    steps.close()
    assert closed == ["red"] and tt.get_backend() == "numpy"

    @tt.backend_context("red")
    def returning():
        yield
        return tt.get_backend()

    def delegating():
        return (yield from returning())

    steps = delegating()
    next(steps)
    with pytest.raises(StopIteration) as stop:
        next(steps)
    assert stop.value.value == "red"


def test_generator_resumed_in_other_scopes_is_always_in_its_own():
    @tt.backend_context("red")
    def body():
        while True:
            yield tt.get_backend()

    steps = body()
    for colour in COLOURS:
        with tt.backend_context(colour):
            assert next(steps) == "red"
            assert tt.get_backend() == colour
    steps.close()


def test_generator_keeps_what_it_set_and_entered_from_step_to_step():
    @tt.backend_context("red")
    def body():
        tt.set_backend("blue")
        yield tt.get_backend()
        with tt.backend_context("green"):
            yield tt.get_backend()
            yield tt.get_backend()
        yield tt.get_backend()

    got = []
    for each in body():
        got.append(each)
        assert tt.get_backend() == "numpy"
    assert got == ["blue", "green", "green", "blue"]


def test_generators_that_take_turns_do_not_mix():
    def body():
        while True:
            yield tt.get_backend()

    generators = [tt.backend_context(colour)(body)() for colour in COLOURS]
    for _ in range(3):
        assert [next(each) for each in generators] == COLOURS
    assert tt.get_backend() == "numpy"


def test_generator_that_swallows_its_closing_is_an_error_as_always():
    @tt.backend_context("red")
    def stubborn():
        try:
            yield
        except GeneratorExit:
            yield "no"

    steps = stubborn()
    next(steps)
    with pytest.raises(RuntimeError, match="generator ignored GeneratorExit"):
        steps.close()
    assert tt.get_backend() == "numpy"


def test_a_decorated_generator_can_be_a_contextmanager():
    seen = []

    @contextlib.contextmanager
    @tt.backend_context("red")
    def session():
        try:
            yield tt.get_backend()
        except KeyError as error:
            seen.append((error.args, tt.get_backend()))

    with session() as inside:
        assert (inside, tt.get_backend()) == ("red", "numpy")
        raise KeyError("caught")
    assert seen == [(("caught",), "red")]


def test_coroutine_is_in_the_scope_only_while_it_runs():
    @tt.backend_context("red")
    async def body():
        before = tt.get_backend()
        await asyncio.sleep(0)
        return before, tt.get_backend()

    # Stepped by hand, both in one context, as an event loop without tasks would do.
    one, two = body(), tt.backend_context("green")(body.__wrapped__)()
    one.send(None)
    assert tt.get_backend() == "numpy"
    two.send(None)
    results = []
    for coroutine in (one, two):
        with pytest.raises(StopIteration) as stop:
            coroutine.send(None)
        results.append(stop.value.value)
    assert results == [("red", "red"), ("green", "green")]
    assert inspect.iscoroutinefunction(body)


def test_coroutine_of_the_generator_kind_can_still_be_awaited():
    @tt.backend_context("red")
    @types.coroutine
    def pause():
        yield
        return tt.get_backend()

    async def main():
        return await pause(), tt.get_backend()

    assert asyncio.run(main()) == ("red", "numpy")


def test_a_decorated_asynchronous_generator_runs_in_the_scope():
    closed = []

    @tt.backend_context("red")
    async def body():
        try:
            got = yield tt.get_backend()
            await asyncio.sleep(0)
            try:
                yield got, tt.get_backend()
            except KeyError:
                yield "caught", tt.get_backend()
            yield "last"
        finally:
            await asyncio.sleep(0)
            closed.append(tt.get_backend())

    async def main():
        steps = body()
        assert await anext(steps) == "red"
        assert tt.get_backend() == "numpy"
        assert await steps.asend("sent") == ("sent", "red")
        assert await steps.athrow(KeyError("thrown")) == ("caught", "red")
        assert tt.get_backend() == "numpy"
        await steps.aclose()
        assert closed == ["red"] and tt.get_backend() == "numpy"
        return [each async for each in body()]

    assert asyncio.run(main()) == ["red", (None, "red"), "last"]
    assert closed == ["red", "red"]
    assert inspect.isasyncgenfunction(body)


def test_partials_and_callable_objects_can_be_decorated():
    class Callable:
        def __call__(self, value):
            return value, tt.get_backend()

    def generate(value):
        yield value, tt.get_backend()

    scope = tt.backend_context("red")
    assert scope(Callable())(1) == (1, "red")
    assert scope(functools.partial(seen, 1))() == "red"
    assert list(scope(functools.partial(generate, 1))()) == [(1, "red")]


def test_decorator_of_a_backend_that_is_missing_fails_at_the_call():
    tt.register_backend("lost", "a_package_nobody_has:Backend")

    @tt.backend_context("lost")
    def body():
        raise AssertionError("must not run")

    @tt.backend_context("lost")
    async def coroutine():
        raise AssertionError("must not run")

    with pytest.raises(tt.BackendUnavailableError, match="a_package_nobody_has"):
        body()
    with pytest.raises(tt.BackendUnavailableError, match="a_package_nobody_has"):
        asyncio.run(coroutine())
    assert tt.get_backend() == "numpy"
