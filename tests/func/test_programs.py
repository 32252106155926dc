"""Short programs of ``func`` do under tinytorch what they do under PyTorch, errors included."""

from __future__ import annotations
from typing import Any

import pytest
from tests.autograd.test_short_programs import run, words
from tests.autograd.test_short_programs import _programs as programs
from tests.func import (
    programs_of_derivatives, programs_of_duals, programs_of_mapped_functions, programs_of_vmap,
)  # fmt: skip

import tinytorch as tt

IN_THE_SAME_WORDS = programs(
    programs_of_derivatives.PROGRAMS
    + programs_of_duals.PROGRAMS
    + programs_of_vmap.PROGRAMS
    + programs_of_mapped_functions.PROGRAMS
)
PROGRAMS = IN_THE_SAME_WORDS | programs(programs_of_vmap.IN_OTHER_WORDS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_does_what_it_does_under_torch(torch: Any, name: str) -> None:
    *done, text = run(tt, PROGRAMS[name])
    *meant, torchs = run(torch, PROGRAMS[name])
    assert repr(done) == repr(meant)
    if name in IN_THE_SAME_WORDS:
        assert words(text) == words(torchs)


def test_programs_are_not_misspelt() -> None:
    """A misspelt program fails alike under both libraries, with one of these errors."""
    for name, source in PROGRAMS.items():
        kind = run(tt, source)[1]
        assert kind not in ("AttributeError", "NameError", "SyntaxError"), name
