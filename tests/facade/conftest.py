"""These tests look at names, some of them NumPy's own: they run on it whatever the suite's is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tinytorch as tt


@pytest.fixture(autouse=True)
def on_numpy() -> Iterator[None]:
    with tt.backend_context("numpy"):
        yield
