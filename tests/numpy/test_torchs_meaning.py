"""At the top level the names that NumPy and PyTorch share mean what PyTorch means by them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.numpy import elementwise_calls, names, own_calls, torch_calls
from tests.numpy.data import ARRAYS
from tests.numpy.evaluation import (
    Case,
    cases,
    evaluate,
    group_by_name,
    join_tables,
    tensors,
)
from tests.oracles import flatten

#: In another test file: PyTorch's archives.
ELSEWHERE = ("load", "save")


def elementwise() -> dict[str, list[Case]]:
    found = cases(*elementwise_calls.UNARY, *elementwise_calls.BINARY)
    return {name: listed for name, listed in found.items() if name not in torch_calls.NOT_HERE}


CASES = join_tables(
    elementwise(),
    group_by_name(torch_calls.CALLS),
    {name: [Case(call) for call in calls] for name, calls in torch_calls.EXPRESSIONS.items()},
    cases(own_calls.KINDS),
)


def test_every_shared_name_has_a_case() -> None:
    known = {*CASES, *ELSEWHERE}
    assert [n for n in (*names.STANDARD, *names.SHARED) if n not in known] == []


@pytest.mark.parametrize(
    "case",
    [case for name in (*names.STANDARD, *names.SHARED) for case in CASES.get(name, ())],
    ids=str,
)
def test_names_at_the_top_level_have_pytorchs_results(torch: Any, case: Case) -> None:
    data = {name: torch.from_numpy(array.copy()) for name, array in ARRAYS.items()}
    wanted = flatten(evaluate(case, torch, data))
    mine = flatten(evaluate(case, tt, tensors()))
    assert len(mine) == len(wanted)
    for a, b in zip(mine, wanted, strict=True):
        compare_tensors(a, b, torch)


def compare_tensors(a: Any, b: Any, torch: Any) -> None:
    """Values, shapes and dtypes."""
    if not isinstance(b, torch.Tensor):
        assert str(a).replace("tinytorch", "torch") == str(b).replace("tinytorch", "torch")
        return
    assert a.dtype.name == str(b.dtype).removeprefix("torch.")
    assert tuple(a.shape) == tuple(b.shape)
    rtol = 1e-12 if b.dtype in (torch.float64, torch.complex128) else 1e-6
    np.testing.assert_allclose(
        a.resolve_conj().numpy(), b.resolve_conj().numpy(), rtol=rtol, atol=rtol
    )


@pytest.mark.parametrize("call", [
    lambda x: tt.max(x, axis=0, where=x > 1), lambda x: tt.max(x, axis=0, initial=5),
    lambda x: tt.quantile(x, 0.5, axis=0, weights=x), lambda x: tt.cov(x, bias=True, typo=1),
    lambda x: tt.sort(x, axis=0, typo=1), lambda x: tt.median(x, axis=0, typo=1),
    lambda x: tt.split(x, indices_or_sections=1, typo=1), lambda x: tt.unique(x, axis=0, typo=1),
])  # fmt: skip
def test_keywords_of_neither_library_are_refused(call: Any) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        call(tt.tensor([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("call", [
    lambda x: tt.sum(x, where=x > 1), lambda x: tt.exp(x, dtype="float64"),
    lambda x: tt.zeros(3, order="C"), lambda x: tt.max(x, axis=0, initial=5),
])  # fmt: skip
def test_error_says_where_numpys_function_is(call: Any) -> None:
    with pytest.raises(TypeError, match=r"NumPy's function of the name is tinytorch\.numpy\."):
        call(tt.tensor([1.0, 2.0, 3.0]))
