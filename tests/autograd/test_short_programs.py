"""Short programs of autograd do under tinytorch what they do under PyTorch, errors included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import short_programs

PROGRAMS = short_programs.load(Path(__file__).parent / "programs")
#: The modules whose programs' errors also have PyTorch's words.
IN_THE_SAME_WORDS = ("inference", "views")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_does_what_it_does_under_torch(torch: Any, name: str) -> None:
    short_programs.agree(torch, PROGRAMS[name], name.startswith(IN_THE_SAME_WORDS))


def test_programs_are_not_misspelt() -> None:
    assert [name for name in PROGRAMS if short_programs.misspelt(PROGRAMS[name])] == []
