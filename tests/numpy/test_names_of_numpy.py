"""Every name of NumPy's main namespace: NumPy's meaning in ``tinytorch.numpy``, and all it needs.

The tables say how each is called; a name without an entry fails.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp
from tests.numpy import elementwise_calls, names, own_calls, shared_calls
from tests.numpy.evaluation import (
    Case,
    arrays,
    assert_same,
    cases,
    evaluate,
    evaluate_in_numpy,
    group_by_name,
    join_tables,
    reason_to_skip,
    tensors,
)

FUNCTIONS = {
    **join_tables(
        cases(*elementwise_calls.UNARY, *elementwise_calls.BINARY, shared_calls.ROW_STACK),
        group_by_name(elementwise_calls.ELEMENTWISE),
        group_by_name(shared_calls.CALLS),
        group_by_name(own_calls.CALLS),
    ),
    **{name: [Case(call) for call in calls] for name, calls in own_calls.EXPRESSIONS.items()},
    **cases(own_calls.KINDS),
}
#: Tested on their own below.
ELSEWHERE = {
    "empty": "its elements are arbitrary", "load": "", "save": "", "savez": "",
    "savez_compressed": "", "errstate": "", "printoptions": "", "set_printoptions": "",
    "typename": "PyTorch's, of a tensor",
}  # fmt: skip


def of(chosen: Any) -> list[Case]:
    """The cases of some names."""
    return [case for name in chosen for case in FUNCTIONS.get(name, ())]


def test_every_name_has_a_case() -> None:
    known = FUNCTIONS.keys() | ELSEWHERE.keys()
    assert [name for name in names.ANSWERED if name not in known] == []
    assert [name for name, listed in FUNCTIONS.items() if not listed] == []


def test_listed_names_exist_in_numpy() -> None:
    assert [n for n in (*names.ANSWERED, *names.OUT_OF_SCOPE) if not _numpy_has(n)] == []


def _numpy_has(name: str) -> bool:
    gone = {"bitwise_invert", "row_stack", "complex256", "float128", "clongdouble"}
    return hasattr(np, name) or name in gone or reason_to_skip(name) is not None


@pytest.mark.parametrize("case", of(names.ANSWERED), ids=str)
def test_names_in_tinytorch_numpy_have_numpys_results(case: Case) -> None:
    """In ``tinytorch.numpy``: the same values, shapes and dtypes."""
    theirs = evaluate_in_numpy(case)
    assert_same(evaluate(case, tnp, arrays()), theirs)


@pytest.mark.parametrize(
    "case", of(n for n in (*names.STANDARD_ONLY, *names.WANTED) if n != "ndarray"), ids=str
)
def test_names_of_numpy_alone_have_numpys_results_at_the_top_level(case: Case) -> None:
    """In ``tinytorch``, where PyTorch has nothing of the name: the same values and shapes."""
    theirs = evaluate_in_numpy(case)
    with tt.default_dtype_context(tt.float64):
        ours = evaluate(case, tt, tensors())
    assert_same(ours, theirs, dtypes=False)
