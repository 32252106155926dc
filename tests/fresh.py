"""Functions as programs of their own, in an interpreter in which nothing has been imported yet."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from textwrap import dedent


def program(function: Callable[..., None], *arguments: object) -> str:
    """The body of a function as a module, in which its parameters name ``arguments``."""
    (definition,) = ast.parse(dedent(inspect.getsource(function))).body
    assert isinstance(definition, ast.FunctionDef)
    names = inspect.signature(function).parameters
    given = [f"{name} = {value!r}" for name, value in zip(names, arguments, strict=True)]
    return "\n".join([*given, ast.unparse(ast.Module(definition.body, []))])


def process(
    function: Callable[..., None], *arguments: object, options: Sequence[str] = (), **env: str
) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter after the body of ``function``; it finds the modules found here."""
    return subprocess.run(
        [sys.executable, *options, "-c", program(function, *arguments)],
        capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "PYTHONPATH": search_path(), **env},
    )  # fmt: skip


def run(function: Callable[..., None], *arguments: object, **env: str) -> str:
    """What the body of ``function`` prints in a fresh interpreter."""
    done = process(function, *arguments, **env)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def search_path(*before: object) -> str:
    """A ``PYTHONPATH`` of ``before`` and the folders in which modules are found here."""
    return os.pathsep.join(map(str, [*before, *filter(None, sys.path)]))
