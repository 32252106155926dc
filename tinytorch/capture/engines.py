"""Choice of the engine that replays a program."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Protocol

import numpy

from . import c_engine, numpy_engine
from .graph import Program
from .replay import run_program
from .settings import ENGINES


class PreparedProgram(Protocol):
    """Program that is ready to run, in one thread at a time."""

    nbytes: int

    @property
    def engine(self) -> str:
        """The engine of the next run."""

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the outputs as new arrays, and write the inputs that the program writes."""


class ReferenceProgram:
    """Prepared program that runs one node after the other.

    Args:
        program: The program.
    """

    nbytes: int = 0
    engine: str = "reference"

    def __init__(self, program: Program) -> None:
        self._program = program

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the outputs as new arrays, and write the inputs that the program writes."""
        found = run_program(self._program, arrays)
        count = len(self._program.outputs)
        for (number, _), value in zip(self._program.writes, found[count:], strict=True):
            numpy.copyto(arrays[number], value)
        return found[:count]


def describe() -> str:
    """Return which engine compiled functions run on without another choice, and why."""
    chosen = os.environ.get("TINYTORCH_COMPILE")
    return f"{chosen} (TINYTORCH_COMPILE)" if chosen else c_engine.describe()


def prepare(program: Program, engine: str) -> PreparedProgram:
    """Make a program ready to run.

    Args:
        program: The program.
        engine: ``"reference"``, ``"numpy"``, ``"c"``; or ``"auto"``: that of the environment
            variable ``TINYTORCH_COMPILE``, or NumPy, and C after some runs if there is a compiler.
    """
    if engine == "auto":
        engine = os.environ.get("TINYTORCH_COMPILE") or engine
    if engine not in (*ENGINES, "auto"):
        raise ValueError(f"expected an engine of {', '.join(ENGINES)}, got {engine!r}")
    if engine == "reference":
        return ReferenceProgram(program)
    if engine == "numpy":
        return numpy_engine.prepare(program)
    return c_engine.prepare(program) if engine == "c" else c_engine.prepare_late(program)
