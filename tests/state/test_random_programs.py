"""Programs drawn by chance: whatever is nested, assigned, paused or thrown, a model agrees."""

from __future__ import annotations

import importlib
import random
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.state import fakes

tt = importlib.import_module("tinytorch.state")

NAMES = ("numpy", *fakes.COLOURS)


def paused(name: str, rng: random.Random) -> Generator[None, str, None]:
    """A decorated generator that looks after its own scope at every step."""

    @tt.backend_context(name)
    def body() -> Generator[None, str, None]:
        now = name
        while True:
            assert tt.get_backend() == now
            order = yield
            assert tt.get_backend() == now
            if order == "set":
                now = rng.choice(NAMES)
                tt.set_backend(now)
            elif order == "reset":
                tt.reset_backend()
                now = name
            elif order == "nest":
                inner = rng.choice(NAMES)
                with tt.backend_context(inner):
                    yield
                    assert tt.get_backend() == inner

    made = body()
    next(made)
    return made


class Program:
    """The state, and what it should be: scopes with the value each was entered with and has."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.chosen: str | None = None
        self.scopes: list[tuple[Any, str, str]] = []
        self.paused: list[Generator[None, str, None]] = []

    def expected(self) -> str:
        return self.scopes[-1][2] if self.scopes else self.chosen or "numpy"

    def enter(self) -> None:
        name = self.rng.choice(NAMES)
        scope = tt.backend_context(name)
        scope.__enter__()
        self.scopes.append((scope, name, name))

    def leave(self) -> None:
        if self.scopes:
            self.scopes.pop()[0].__exit__(None, None, None)

    def assign(self) -> None:
        name = self.rng.choice(NAMES)
        tt.set_backend(name)
        self._now(name, name)

    def reset(self) -> None:
        tt.reset_backend()
        self._now(self.scopes[-1][1] if self.scopes else "", None)

    def _now(self, in_scope: str, outside: str | None) -> None:
        if self.scopes:
            scope, entered, _ = self.scopes.pop()
            self.scopes.append((scope, entered, in_scope))
        else:
            self.chosen = outside

    def start(self) -> None:
        self.paused.append(paused(self.rng.choice(NAMES), self.rng))

    def resume(self) -> None:
        if self.paused:
            self.rng.choice(self.paused).send(self.rng.choice(("", "set", "reset", "nest")))

    def stop(self) -> None:
        if self.paused:
            made = self.paused.pop(self.rng.randrange(len(self.paused)))
            if self.rng.random() < 0.5:
                made.close()
            else:
                with pytest.raises(KeyError):
                    made.throw(KeyError())

    def run(self, steps: int) -> None:
        acts = (self.enter, self.leave, self.assign, self.reset, self.start, self.resume, self.stop)
        for _ in range(steps):
            self.rng.choices(acts, (4, 3, 3, 2, 2, 4, 1))[0]()
            assert tt.get_backend() == self.expected()
        while self.scopes:
            self.leave()
        assert tt.get_backend() == self.expected()
        tt.reset_backend()


def test_programs_agree_with_a_model_in_every_thread() -> None:
    def programs(first: int) -> None:
        for seed in range(first, first + 10):
            Program(random.Random(seed)).run(150)

    with ThreadPoolExecutor(4) as pool:
        for each in [pool.submit(programs, 10 * i) for i in range(4)]:
            each.result()
    assert tt.get_backend() == "numpy"
