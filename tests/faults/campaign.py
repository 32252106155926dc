"""Registry of the checks that ``make faults`` runs, and the processes that they start."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.fresh import program, search_path


class Skipped(Exception):
    """Raised by a check that this machine does not allow; its text is the reason."""


@dataclass(frozen=True)
class Extent:
    """Extent of a check.

    Attributes:
        short: Whether the short form runs, of seconds for each check.
        seed: Seed of ``random``, for the processes that a check starts.
        random: Source of the random moments.
    """

    short: bool
    seed: int
    random: Random

    def pick(self, short: int, long: int) -> int:
        """Return ``short`` in the short form, else ``long``."""
        return short if self.short else long


Check = Callable[[Extent], str]
#: The checks by ``campaign.function``.
CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    """Register a check: it returns its figures as a line, and raises where something is wrong.

    It raises ``Skipped`` with the reason where the machine does not allow it.
    """
    CHECKS[f"{function.__module__.rpartition('.')[2]}.{function.__name__}"] = function
    return function


def start(
    function: Callable[..., None], *arguments: object, before: Sequence[str] = (), **options: Any
) -> subprocess.Popen[str]:
    """Start a fresh interpreter that executes the body of ``function``; its output is piped.

    Args:
        function: Its body is the program; its parameters are set to ``arguments``.
        *arguments: Values whose ``repr`` is Python.
        before: Command that the interpreter is an argument of.
        **options: Of ``subprocess.Popen``.
    """
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": search_path()}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [*before, sys.executable, "-c", program(function, *arguments)]
    return subprocess.Popen(command, text=True, env=env, **{**pipes, **options})


def finish(process: subprocess.Popen[str], seconds: float = 60) -> tuple[str, str]:
    """Wait for a process and return its output and errors; it is killed after ``seconds``.

    Raises:
        AssertionError: If it had to be killed.
    """
    try:
        return process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"still ran after {seconds} s\n{out}\n{err}") from None
