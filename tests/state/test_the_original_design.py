"""The design that the library began with: what goes wrong in it, and does not here.

It is described at https://codereview.stackexchange.com/questions/298430; ``docs/state.md`` answers
its two questions, and these are the tests of the answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

import tinytorch as tt
from tinytorch.backends.numpy import NumpyBackend


class Global:
    """One variable for all, switched by type and put back without a ``finally``."""

    def __init__(self, kinds: dict[str, type]) -> None:
        self.kinds = kinds
        self.active: Any = kinds["numpy"]()

    def get(self) -> str:
        return str(self.active.name)

    def set(self, name: str) -> None:
        if name in self.kinds:
            self.active = self.kinds[name]()
        else:
            print("backend_type not recognised. ")

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        before = self.active.name
        self.set(name)
        yield
        self.set(before)


class Other(NumpyBackend):
    name = "other"


@pytest.fixture
def old() -> Global:
    return Global({"numpy": NumpyBackend, "other": Other})


@pytest.fixture(autouse=True)
def other() -> Iterator[None]:
    tt.register_backend("other", Other)
    yield
    tt.backends._registry.pop("other")


Scope = Callable[[str], AbstractContextManager[Any]]


def after_an_exception(scope: Scope, get: Callable[[], str]) -> str:
    with pytest.raises(KeyError), scope("other"):
        raise KeyError
    return get()


def test_an_exception_restores_the_backend_here_but_not_in_the_original_design(old: Global) -> None:
    assert after_an_exception(old.scope, old.get) == "other"
    assert after_an_exception(tt.backend_context, tt.get_backend) == "numpy"


def test_a_setter_that_assigns_another_name_changes_nothing_and_set_backend_does() -> None:
    """The original ``set_state`` declares one name global and assigns another, which is local."""
    names: dict[str, Any] = {}
    exec(
        "active = 'numpy'\ndef set_state(name):\n    global active\n    default_backend = name\n",
        names,
    )
    names["set_state"]("other")
    assert names["active"] == "numpy"
    with tt.backend_context("numpy"):
        tt.set_backend("other")
        assert tt.get_backend() == "other"


def test_an_unknown_name_raises_here_but_prints_in_the_original_design(
    old: Global, capsys: pytest.CaptureFixture[str]
) -> None:
    old.set("othre")
    assert (old.get(), capsys.readouterr().out) == ("numpy", "backend_type not recognised. \n")
    with pytest.raises(tt.UnknownBackendError, match="Did you mean 'other'"):
        tt.set_backend("othre")


def test_switching_back_gives_the_same_instance(old: Global) -> None:
    before = old.active
    with old.scope("other"):
        pass
    assert old.active is not before
    mine = tt.zeros(1).backend
    with tt.backend_context("other"):
        pass
    assert tt.zeros(1).backend is mine


def test_overlapping_blocks_restore_here_but_not_in_the_original_design(old: Global) -> None:
    first, second = old.scope("other"), old.scope("numpy")
    first.__enter__(), second.__enter__()
    first.__exit__(None, None, None), second.__exit__(None, None, None)
    assert old.get() == "other", "the second put back what it had found"
    mine, another = tt.backend_context("other"), tt.backend_context("numpy")
    mine.__enter__(), another.__enter__()
    mine.__exit__(None, None, None), another.__exit__(None, None, None)
    assert tt.get_backend() == "numpy"


def seen_by_another_thread(scope: Scope, get: Callable[[], str]) -> str:
    """What a thread sees that was there before, while this one is in a block."""
    inside, seen, found = threading.Event(), threading.Event(), []

    def look() -> None:
        inside.wait(300)
        found.append(get())
        seen.set()

    thread = threading.Thread(target=look)
    thread.start()
    with scope("other"):
        inside.set()
        seen.wait(300)
    thread.join()
    return found[0]


def test_another_thread_sees_no_scope_here_but_does_in_the_original_design(old: Global) -> None:
    assert seen_by_another_thread(old.scope, old.get) == "other"
    assert seen_by_another_thread(tt.backend_context, tt.get_backend) == "numpy"
