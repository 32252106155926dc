"""Every test of the state begins and ends with none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.state import fakes
from tinytorch import backends
from tinytorch.state import (
    default_generator,
    defaults,
    get_default_backend,
    get_default_dtype,
    reset_state,
    set_default_backend,
    set_default_dtype,
)


@pytest.fixture(autouse=True)
def clean_state(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run the test without a chosen backend or environment variable, and restore the registry."""
    monkeypatch.delenv("TINYTORCH_BACKEND", raising=False)
    monkeypatch.delenv("TINYTORCH_THREAD_INHERIT", raising=False)
    monkeypatch.setattr(backends, "_registry", dict(backends._registry))
    monkeypatch.setattr(fakes.Flaky, "error", None)
    # The tests make fake generators for NumPy's own backend.
    monkeypatch.setattr(defaults, "_generators", {})
    monkeypatch.setattr(defaults, "_make_generator", default_generator)
    before, backend = get_default_dtype(), get_default_backend()
    _forget()
    yield
    _forget()
    set_default_dtype(before)
    set_default_backend(backend)


def _forget() -> None:
    reset_state()
    set_default_backend(None)
