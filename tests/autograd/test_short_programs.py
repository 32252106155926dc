"""Short programs of autograd do under tinytorch what they do under PyTorch, errors included."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.autograd import programs_of_functions, programs_of_tensors

import tinytorch as tt


def _programs() -> dict[str, str]:
    text = programs_of_functions.PROGRAMS + programs_of_tensors.PROGRAMS
    parts = re.split(r"(?m)^# (.*)\n", text)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


PROGRAMS = _programs()


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


def run(library: Any, source: str) -> tuple[list[Any], str]:
    """What the program notes, and the type of the error it ends with."""
    noted: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(source, {"L": library, "p": lambda *a: noted.append(plain(a)), "__name__": "m"})
        except Exception as error:
            return noted, type(error).__name__
    return noted, ""


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_does_what_it_does_under_torch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle")
    # By repr: NaN equals NaN.
    assert repr(run(tt, PROGRAMS[name])) == repr(run(torch, PROGRAMS[name]))


def test_programs_are_not_misspelt() -> None:
    """A misspelt program fails alike under both libraries, with one of these errors."""
    for source in PROGRAMS.values():
        assert run(tt, source)[1] not in ("AttributeError", "NameError", "SyntaxError")
