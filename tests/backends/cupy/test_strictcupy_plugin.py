"""The stand-in, installed as a distribution, is a backend: tinytorch is not edited for it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fresh import run, search_path

ROOT = Path(__file__).parents[3]


def computes(site: str) -> None:
    import sys

    import tinytorch as tt

    assert "strict" in tt.list_backends(), tt.list_backends()
    assert "strictcupy" not in sys.modules, "listing must not import"
    with tt.backend_context("strict"):
        assert tt.get_backend() == "strict"
        x = tt.ones(2, 3)
        assert str(x.backend) == "strict"
        assert (x + x).tolist() == [[2.0] * 3] * 2
    import strictcupy

    assert strictcupy.__file__.startswith(site), strictcupy.__file__
    assert strictcupy.linalg.inv(strictcupy.eye(2)).shape == (2, 2)
    assert strictcupy.lib.stride_tricks and strictcupy.cupyx.scipy


@pytest.mark.slow
def test_an_installed_distribution_needs_no_registration(tmp_path: Path) -> None:
    # A copy, since building leaves its files beside the sources.
    source, site = tmp_path / "strictcupy", tmp_path / "site"
    shutil.copytree(ROOT / "tests" / "strictcupy", source)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    flags = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(site)]
    subprocess.run([*pip, *flags, str(source)], check=True)
    run(computes, str(site), PYTHONPATH=search_path(site))
