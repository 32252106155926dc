"""The build backend: setuptools, with the list of what an sdist holds beside this file."""

from __future__ import annotations

from setuptools.build_meta import *  # noqa: F403  # a backend is its functions
from setuptools.command.egg_info import manifest_maker

# setuptools has no setting for it, and looks for it at the top alone.
manifest_maker.template = ".ci/MANIFEST.in"
