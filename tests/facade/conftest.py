"""Fixture of the tests of names, some of which only NumPy's backend has: they run on NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tinytorch as tt


@pytest.fixture(autouse=True)
def on_numpy() -> Iterator[None]:
    with tt.backend_context("numpy"):
        yield
