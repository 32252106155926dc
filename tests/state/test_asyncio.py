"""Scopes under asyncio: isolated per task, and inherited by tasks and threads that it starts."""

from __future__ import annotations

import asyncio
import gc
import importlib

import pytest

from tests.state.fakes import COLOURS

tt = importlib.import_module("tinytorch.state")


async def interleave(times=5):
    for _ in range(times):
        await asyncio.sleep(0)


def test_tasks_do_not_see_each_others_scopes():
    async def work(colour):
        seen = set()
        for _ in range(20):
            with tt.backend_context(colour):
                await interleave(2)
                seen.add(tt.get_backend())
                tt.set_backend(colour)
                await interleave(1)
                seen.add(tt.get_backend())
            seen.add(tt.get_backend() + " outside")
        return seen

    async def main():
        return await asyncio.gather(*map(work, COLOURS))

    expected = [{colour, "numpy outside"} for colour in COLOURS]
    assert asyncio.run(main()) == expected
    assert tt.get_backend() == "numpy"


def test_one_object_in_many_tasks_at_once():
    scope = tt.backend_context("red")

    async def work(number):
        for _ in range(number % 4):
            await asyncio.sleep(0)
        with scope:
            await interleave(number % 5)
            inside = tt.get_backend()
        return inside, tt.get_backend()

    async def main():
        with tt.backend_context("green"):
            return await asyncio.gather(*map(work, range(20)))

    assert set(asyncio.run(main())) == {("red", "green")}


def test_task_takes_its_parents_scope_along_and_keeps_it():
    async def child():
        seen = [tt.get_backend()]
        await interleave()
        return [*seen, tt.get_backend()]

    async def main():
        with tt.backend_context("red"):
            task = asyncio.create_task(child())
            await asyncio.sleep(0)
        assert tt.get_backend() == "numpy"
        return await task

    assert asyncio.run(main()) == ["red", "red"]


def test_set_backend_of_a_task_stays_out_of_its_parents_scope():
    async def child():
        tt.set_backend("blue")
        await asyncio.sleep(0)
        return tt.get_backend()

    async def main():
        with tt.backend_context("red"):
            assert await asyncio.create_task(child()) == "blue"
            assert tt.get_backend() == "red"

    asyncio.run(main())


def test_a_cancelled_task_restores_its_scopes():
    restored = []

    async def victim(ready):
        try:
            with tt.backend_context("red"), tt.no_grad():
                ready.set()
                await asyncio.sleep(60)
        finally:
            restored.append((tt.get_backend(), tt.is_grad_enabled()))

    async def main():
        ready = asyncio.Event()
        task = asyncio.create_task(victim(ready))
        await ready.wait()
        assert tt.get_backend() == "numpy" and tt.is_grad_enabled()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert restored == [("numpy", True)]


def test_a_timeout_restores_the_scopes_that_it_leaves():
    async def main():
        with tt.backend_context("green"):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    with tt.backend_context("red"):
                        await asyncio.sleep(60)
            return tt.get_backend()

    assert asyncio.run(main()) == "green"


def test_to_thread_follows_the_scope():
    def worker():
        before = tt.get_backend(), tt.is_grad_enabled()
        tt.set_backend("blue")
        with tt.backend_context("green"):
            inside = tt.get_backend()
        return before, inside, tt.get_backend()

    async def main():
        with tt.backend_context("red"), tt.no_grad():
            found = await asyncio.to_thread(worker)
            assert tt.get_backend() == "red"
        return found, await asyncio.to_thread(tt.get_backend)

    # The pool's thread was born inside the scope, and that has ended.
    assert asyncio.run(main()) == ((("red", False), "green", "blue"), "numpy")


def test_call_soon_follows_the_scope():
    async def main():
        loop = asyncio.get_running_loop()
        found = loop.create_future()
        with tt.backend_context("red"):
            loop.call_soon(lambda: found.set_result(tt.get_backend()))
        return await found, tt.get_backend()

    assert asyncio.run(main()) == ("red", "numpy")


def test_set_backend_outside_scopes_outlives_the_task():
    async def main():
        await asyncio.create_task(set_it())
        return tt.get_backend()

    async def set_it():
        tt.set_backend("red")

    assert asyncio.run(main()) == "red"
    assert tt.get_backend() == "red"


def test_asynchronous_generator_closed_by_another_task():
    async def body():
        with tt.backend_context("red"):
            yield tt.get_backend()

    async def main():
        steps = body()
        assert await anext(steps) == "red"
        await asyncio.create_task(steps.aclose())
        return tt.get_backend()

    assert asyncio.run(main()) == "numpy"


def test_asynchronous_generator_abandoned_and_closed_by_the_loop():
    async def body():
        with tt.backend_context("red"):
            yield tt.get_backend()
            yield tt.get_backend()

    async def main():
        async for each in body():
            assert each == "red"
            break
        gc.collect()
        await interleave()
        return tt.get_backend()

    assert asyncio.run(main()) == "numpy"


def test_set_up_and_torn_down_by_different_tasks():
    """What an asynchronous fixture does."""

    async def fixture():
        with tt.backend_context("red"):
            yield

    async def main():
        steps = fixture()
        await asyncio.create_task(anext(steps))
        assert tt.get_backend() == "numpy"

        async def tear_down():
            with tt.backend_context("green"):
                with pytest.raises(StopAsyncIteration):
                    await anext(steps)
                return tt.get_backend()

        return await asyncio.create_task(tear_down())

    assert asyncio.run(main()) == "green"
    assert tt.get_backend() == "numpy"


def test_grad_mode_is_isolated_between_tasks():
    async def work(mode):
        with tt.set_grad_enabled(mode):
            await interleave()
            return tt.is_grad_enabled()

    @tt.no_grad
    async def decorated():
        await interleave()
        return tt.is_grad_enabled()

    async def watch():
        seen = set()
        for _ in range(10):
            seen.add(tt.is_grad_enabled())
            await asyncio.sleep(0)
        return seen

    async def main():
        return await asyncio.gather(work(True), work(False), decorated(), watch())

    assert asyncio.run(main()) == [True, False, False, {True}]
