"""Every name of NumPy's main namespace: NumPy's meaning in ``tinytorch.numpy``, and all it needs.

The tables say how each is called; a name without an entry fails.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy_names import names, own_calls, shared_calls
from numpy_names.evaluation import assert_same, evaluate, numpys, numpys_age, tensors

import tinytorch as tt
import tinytorch.numpy as tnp

FUNCTIONS = {**shared_calls.CALLS, **own_calls.CALLS}
#: Tested on their own below.
ELSEWHERE = {
    "empty": "its elements are arbitrary", "load": "", "save": "", "savez": "",
    "savez_compressed": "", "errstate": "", "printoptions": "", "set_printoptions": "",
    "typename": "PyTorch's, of a tensor",
}  # fmt: skip


def calls(chosen: Any) -> list[str]:
    """The expressions for some names, in full."""
    found = []
    for name in chosen:
        if name not in own_calls.EXPRESSIONS:
            found += [f"lib.{name}({arguments})" for arguments in FUNCTIONS.get(name, ())]
        found += own_calls.EXPRESSIONS.get(name, [])
    return found


def test_every_name_has_a_case() -> None:
    known = FUNCTIONS.keys() | own_calls.EXPRESSIONS.keys() | ELSEWHERE.keys()
    assert [name for name in names.ANSWERED if name not in known] == []
    assert [name for name, listed in FUNCTIONS.items() if not listed] == []


def test_names_are_numpys() -> None:
    assert [n for n in (*names.ANSWERED, *names.OUT_OF_SCOPE) if not _numpy_has(n)] == []


def _numpy_has(name: str) -> bool:
    gone = {"bitwise_invert", "row_stack", "complex256", "float128", "clongdouble"}
    return hasattr(np, name) or name in gone or numpys_age(name) is not None


def own_names(text: str) -> Any:
    """NumPy's own names for what it has under another one."""
    return text.replace("lib.row_stack", "lib.vstack")


@pytest.mark.parametrize("text", calls(names.ANSWERED))
def test_numpys_meaning(text: str) -> None:
    """In ``tinytorch.numpy``: the same values, shapes and dtypes."""
    theirs = numpys(own_names(text))
    assert_same(evaluate(text, tnp, tensors()), theirs)


@pytest.mark.parametrize("text", calls((*names.STANDARD_ONLY, *names.WANTED)))
def test_numpys_own_at_the_top_level(text: str) -> None:
    """In ``tinytorch``, where PyTorch has nothing of the name: the same values and shapes."""
    theirs = numpys(text)
    with tt.default_dtype_context(tt.float64):
        ours = evaluate(text, tt, tensors())
    assert_same(ours, theirs, dtypes=False)
