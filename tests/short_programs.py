"""Short programs, ``program(torch, note)``, to compare under tinytorch and under PyTorch.

``torch`` is the library, ``note`` is handed the values to compare. They stand in folders
``programs``, by what they are about.
"""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tinytorch as tt

Program = Callable[[Any, Callable[..., None]], None]


def load(folder: Path) -> dict[str, Program]:
    """The programs of a folder, by ``module.function``."""
    names = [
        ".".join(("tests", folder.parent.name, folder.name, p.stem)) for p in folder.glob("*.py")
    ]
    return {
        f"{module.rpartition('.')[2]}.{name}": function
        for module in sorted(names)
        for name, function in inspect.getmembers(
            importlib.import_module(module), inspect.isfunction
        )
    }


def plain(value: Any) -> Any:
    """Convert a value of either library to Python's types, for a comparison."""
    if hasattr(value, "requires_grad") and hasattr(value, "detach"):
        array = value.detach().numpy()
        dtype = str(value.dtype).rpartition(".")[2]
        return np.round(array, 4).tolist(), dtype, value.requires_grad
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return str(value).replace("tinytorch", "torch")


def run(library: Any, program: Program) -> tuple[list[Any], list[str], str]:
    """Run a program: the values it notes, and the types and text of the error that ends it."""
    noted: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            program(library, lambda *values: noted.append(plain(values)))
        except Exception as error:
            return noted, [kind.__name__ for kind in type(error).__mro__], str(error)
        finally:  # a program may leave gradients switched off, or anomaly mode on
            tt.set_grad_enabled(True)
            tt.autograd.set_detect_anomaly(False)
    return noted, [""], ""


def words(text: str) -> str:
    """The beginning of an error's text, without the names of operations."""
    plain = re.sub(r"Output \d of \w+", "Output", text.replace("tinytorch", "torch"))
    return re.sub(r"\W+", " ", plain)[:120]


def agree(torch: Any, program: Program, in_the_same_words: bool) -> None:
    """Assert that a program notes equal values and ends with the same error under both."""
    done, kinds, text = run(tt, program)
    meant, (kind, *_), torchs = run(torch, program)
    assert repr(done) == repr(meant)  # by repr: NaN equals NaN
    assert kind in kinds
    if in_the_same_words:
        assert words(text) == words(torchs)


def misspelt(program: Program) -> bool:
    """Such a program fails alike under both libraries, with one of these errors."""
    return run(tt, program)[1] in ("AttributeError", "NameError")
