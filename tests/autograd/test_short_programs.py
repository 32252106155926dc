"""Short programs of autograd do under tinytorch what they do under PyTorch, errors included."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.autograd import (
    programs_of_checkpoints,
    programs_of_checks,
    programs_of_expanding,
    programs_of_functional,
    programs_of_functions,
    programs_of_graphs,
    programs_of_hooks,
    programs_of_inference,
    programs_of_marks,
    programs_of_passes,
    programs_of_reshaping,
    programs_of_saved,
    programs_of_tensors,
    programs_of_views,
    programs_without_derivatives,
)

import tinytorch as tt


def _programs(text: str) -> dict[str, str]:
    parts = re.split(r"(?m)^# (.*)\n", text)[1:]
    names, programs = parts[::2], parts[1::2]
    assert len(set(names)) == len(names), "of two programs with one name the first would be lost"
    return dict(zip(names, programs, strict=True))


#: Those whose errors also have PyTorch's words.
IN_THE_SAME_WORDS = _programs(programs_of_inference.PROGRAMS + programs_of_views.PROGRAMS)
PROGRAMS = IN_THE_SAME_WORDS | _programs(
    programs_of_functions.PROGRAMS
    + programs_of_tensors.PROGRAMS
    + programs_of_graphs.PROGRAMS
    + programs_of_saved.PROGRAMS
    + programs_of_functional.PROGRAMS
    + programs_of_checkpoints.PROGRAMS
    + programs_of_passes.PROGRAMS
    + programs_of_hooks.PROGRAMS
    + programs_without_derivatives.PROGRAMS
    + programs_of_reshaping.PROGRAMS
    + programs_of_expanding.PROGRAMS
    + programs_of_marks.PROGRAMS
    + programs_of_checks.PROGRAMS
)


@pytest.fixture(autouse=True)
def switched_on() -> Iterator[None]:
    """A program that fails may leave gradients switched off, or anomaly mode on."""
    yield
    tt.set_grad_enabled(True)
    tt.autograd.set_detect_anomaly(False)


def plain(value: Any) -> Any:
    """A value of either library in terms of Python's own."""
    if hasattr(value, "requires_grad") and hasattr(value, "detach"):
        array = value.detach().numpy()
        dtype = str(value.dtype).rpartition(".")[2]
        return np.round(array, 4).tolist(), dtype, value.requires_grad
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return str(value).replace("tinytorch", "torch")


def run(library: Any, source: str) -> tuple[list[Any], str, str]:
    """What the program notes, and the type and text of the error it ends with."""
    noted: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(source, {"L": library, "p": lambda *a: noted.append(plain(a)), "__name__": "m"})
        except Exception as error:
            return noted, type(error).__name__, str(error)
    return noted, "", ""


def words(text: str) -> str:
    """The beginning of an error's text, without the names of operations."""
    plain = re.sub(r"Output \d of \w+", "Output", text.replace("tinytorch", "torch"))
    return re.sub(r"\W+", " ", plain)[:120]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_does_what_it_does_under_torch(torch: Any, name: str) -> None:
    *done, text = run(tt, PROGRAMS[name])
    *meant, torchs = run(torch, PROGRAMS[name])
    assert repr(done) == repr(meant)  # by repr: NaN equals NaN
    if name in IN_THE_SAME_WORDS:
        assert words(text) == words(torchs)


def test_programs_are_not_misspelt() -> None:
    """A misspelt program fails alike under both libraries, with one of these errors."""
    for source in PROGRAMS.values():
        assert run(tt, source)[1] not in ("AttributeError", "NameError", "SyntaxError")
