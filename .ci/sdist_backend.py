"""The build backend: setuptools, the list of what an sdist holds, and the docstrings of stubs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403  # a backend is its functions
from setuptools.command import build_py
from setuptools.command.egg_info import manifest_maker

# setuptools has no setting for it, and looks for it at the top alone.
manifest_maker.template = ".ci/MANIFEST.in"


class BuildPython(build_py.build_py):
    """The command that collects a wheel's files; the stubs among them get their docstrings."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # an editable install links the stubs of the repository
            folder = Path(self.build_lib, "tinytorch-stubs")
            subprocess.run([sys.executable, "-B", "stubs/docstrings.py", folder], check=True)


build_py.build_py = BuildPython


def get_requires_for_build_wheel(config_settings: Mapping[str, Any] | None = None) -> list[str]:
    """Requirements for building a wheel, which imports the library for its docstrings."""
    return [*build_meta.get_requires_for_build_wheel(config_settings), "numpy>=2.0"]
