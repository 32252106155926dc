"""Short programs of ``func`` do under tinytorch what they do under PyTorch, errors included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import short_programs

PROGRAMS = short_programs.load(Path(__file__).parent / "programs")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_does_what_it_does_under_torch(torch: Any, name: str) -> None:
    in_the_same_words = not name.startswith("vmap_in_other_words")
    short_programs.agree(torch, PROGRAMS[name], in_the_same_words)


def test_programs_are_not_misspelt() -> None:
    assert [name for name in PROGRAMS if short_programs.misspelt(PROGRAMS[name])] == []
