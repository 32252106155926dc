"""PyTorch's references of its operations, run by tinytorch, give PyTorch's results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

# PyTorch's wheels hold its own tests' samples without the package that these import.
pytest.importorskip("expecttest", reason="torch.testing._internal imports it")

import torch.testing._internal.common_methods_invocations as samples
from decompositions import sources
from decompositions.comparison import assert_same, first_samples, to_tinytorch

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore"),  # both libraries', of the samples
]
DRAWN = "empty rand normal bernoulli uniform exponential geometric cauchy dropout".split()
#: Dtypes that tinytorch has no tensors of, and an operator of another signature than its function.
ELSEWHERE = ("_conversions.bfloat16", "_conversions.chalf", "istft")
REFERENCES = [
    reference for reference in samples.python_ref_db
    if not any(part in reference.name for part in (*DRAWN, *ELSEWHERE))
]  # fmt: skip


def function(name: str) -> Any:
    found = sources.load()
    for part in name.split("."):
        found = getattr(found, part)
    if name == "_refs.where":  # the samples give the condition second
        return lambda input, condition, other: found(condition, input, other)
    return found


def calls(reference: Any, dtype: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The first of PyTorch's samples, as arguments and keywords."""
    for sample in first_samples(reference, dtype, 6):
        yield (sample.input, *sample.args), sample.kwargs


@pytest.mark.sampled(3)
@pytest.mark.parametrize("reference", REFERENCES, ids=lambda reference: reference.name)
def test_results_are_those_of_pytorchs_references(reference: Any) -> None:
    ours = function(reference.name)
    for dtype in (torch.float32, torch.int64, torch.complex64, torch.bool):
        for args, kwargs in calls(reference, dtype):
            wanted = reference.op(*args, **kwargs)
            assert_same(ours(*to_tinytorch(args), **to_tinytorch(kwargs)), wanted)
