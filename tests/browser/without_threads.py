"""Features that the browser's Python lacks: threads, processes, a second event loop.

A test is skipped there if its code, or that of a test's function or fixture it uses, names one.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

import pytest

ABSENT = {
    "threads": {"Thread", "ThreadPool", "ThreadPoolExecutor", "Timer", "run_in_executor",
                "start_new_thread", "to_thread"},
    "processes": {"Popen", "ProcessPoolExecutor", "multiprocessing", "subprocess"},
    "second event loop": {"asyncio"},
}  # fmt: skip


def names_in(code: CodeType) -> set[str]:
    inner = [names_in(const) for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*inner)


def reachable_names(function: FunctionType, seen: set[CodeType]) -> Iterator[str]:
    """Yield the names that a function and the tests' functions which it calls use."""
    if function.__code__ in seen:
        return
    seen.add(function.__code__)
    names = names_in(function.__code__)
    yield from names
    near = [function.__globals__.get(name) for name in names]
    near += [cell.cell_contents for cell in function.__closure__ or ()]
    for value in (*near, *(function.__defaults__ or ())):
        yield from names_of(value, seen)


def names_of(value: Any, seen: set[CodeType]) -> Iterator[str]:
    """The name of a value and, of what belongs to the tests, the names that it uses."""
    yield getattr(value, "__name__", "")
    value = getattr(value, "__wrapped__", getattr(value, "__func__", value))
    if not str(getattr(value, "__module__", "")).startswith("tests."):
        return
    if isinstance(value, FunctionType):
        yield from reachable_names(value, seen)
    elif isinstance(value, type):
        for member in vars(value).values():
            yield from names_of(member, seen)


def what_it_runs(item: pytest.Function) -> Iterator[Any]:
    yield item.function
    yield from getattr(getattr(item, "callspec", None), "params", {}).values()
    for definitions in item._fixtureinfo.name2fixturedefs.values():
        yield definitions[-1].func


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    for item in items:
        seen: set[CodeType] = set()
        names = {name for value in what_it_runs(item) for name in names_of(value, seen)}
        for what in [what for what, needed in ABSENT.items() if names & needed]:
            item.add_marker(pytest.mark.skip(reason=f"the browser's Python has no {what}"))
