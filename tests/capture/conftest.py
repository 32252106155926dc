"""Cache of compiled libraries that the tests of compiled programs share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def session_libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the libraries of one run: equal texts are compiled once."""
    return tmp_path_factory.mktemp("libraries") / "cache"


@pytest.fixture(autouse=True)
def library_folder(session_libraries: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the libraries of compiled programs away from the user's cache."""
    monkeypatch.setenv("TINYTORCH_CACHE", str(session_libraries))
    return session_libraries
