"""Every test of the state begins and ends with none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.state import fakes
from tinytorch import _state, backends


@pytest.fixture(autouse=True)
def clean_state(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No choice made, no variable set; the registry as it was."""
    monkeypatch.delenv("TINYTORCH_BACKEND", raising=False)
    monkeypatch.delenv("TINYTORCH_THREAD_INHERIT", raising=False)
    monkeypatch.setattr(backends, "_registry", dict(backends._registry))
    monkeypatch.setattr(fakes.Flaky, "error", None)
    # The tests make fake generators for NumPy's own backend.
    monkeypatch.setattr(_state._defaults, "_generators", {})
    monkeypatch.setattr(_state._defaults, "_make_generator", _state.default_generator)
    before, backend = _state.get_default_dtype(), _state.get_default_backend()
    _forget()
    yield
    _forget()
    _state.set_default_dtype(before)
    _state.set_default_backend(backend)


def _forget() -> None:
    _state.reset_state()
    _state.set_default_backend(None)
