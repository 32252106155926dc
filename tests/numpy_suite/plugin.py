"""A pytest plug-in for copies of NumPy's tests: what is set apart, how each ended, how long."""

from __future__ import annotations

import inspect
import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import answers
import numpy
import pytest
import set_apart

SECONDS = 20
answers.install()


def pytest_configure(config: pytest.Config) -> None:
    for marker in ("slow", "leaks_references", "thread_unsafe", "parallel_threads", "iterations"):
        config.addinivalue_line("markers", f"{marker}: NumPy's own")


def _kind(value: Any) -> Any:
    """The dtype that a parameter is or has, or None."""
    kind = getattr(value, "dtype", value)
    if isinstance(kind, type) and kind is not object and not issubclass(kind, numpy.generic):
        return None  # to NumPy any class is one of objects
    try:
        return numpy.dtype(kind) if isinstance(kind, str | type | numpy.dtype) else None
    except (SyntaxError, TypeError, ValueError):  # of what only looks like one
        return None


def _kinds(item: Any) -> list[str]:
    """The dtypes among the parameters of a test that are set apart."""
    values = getattr(getattr(item, "callspec", None), "params", {}).values()
    parts = (part for value in values for part in _parts(value))
    found = filter(None, map(_kind, parts))
    return [kind.name for kind in found if kind.kind in "OSUVMmT" or kind.char in "gG"]


def _parts(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else (value,)


def reason(item: Any) -> str | None:
    """Reason for which a test is set apart, or None."""
    if item.get_closest_marker("slow") is not None:
        return "slow: NumPy's own runs leave it out"
    if _kinds(item):
        return "dtypes"
    name = f"{Path(item.fspath).name}::{item.nodeid.partition('::')[2]}"
    source = re.sub(r"#.*", "", inspect.getsource(item.function))
    for why, pattern in set_apart.TESTS.items():
        if re.search(pattern, name, re.X):
            return why
    for why, pattern in set_apart.SOURCES.items():
        if re.search(pattern, source, re.X):
            return why
    return None


def _write(item: str, outcome: str, text: str = "") -> None:
    with open(os.environ["NUMPY_SUITE_LOG"], "a") as log:
        log.write(json.dumps([item, outcome, text]) + "\n")


def pytest_collection_modifyitems(items: list[Any]) -> None:
    answers.collecting = False
    kept = []
    for item in items:
        why = reason(item)
        if why is None:
            kept.append(item)
            _write(item.nodeid, "begun")
        else:
            _write(item.nodeid, "apart", why)
    items[:] = kept


def _stop(*_: Any) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Any:
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(SECONDS)
    try:
        return (yield)
    finally:
        signal.alarm(0)


def pytest_runtest_logreport(report: Any) -> None:
    if report.skipped:
        _write(report.nodeid, "apart", "NumPy itself skips it or expects it to fail")
    elif report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        text = crash.message if crash else str(report.longrepr)[-500:]
        _write(report.nodeid, "apart" if re.search(set_apart.REFUSED, text) else "failed", text)
    elif report.when == "call":
        _write(report.nodeid, "passed")
