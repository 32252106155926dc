"""Reductions of segments are PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import compare, numbers

pytestmark = pytest.mark.torch

TIED = np.array([1.0, 3.0, 3.0, 0.0, 2.0, 0.0])
#: Data, and how its segments are given.
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "a vector": (TIED, {"lengths": [3, 1, 2]}),
    "one segment": (TIED, {"lengths": [6]}),
    "an empty segment": (numbers(6), {"lengths": [2, 0, 4]}),
    "empty ones at the ends": (numbers(6), {"lengths": [0, 6, 0]}),
    "rows": (numbers(4, 2, 3), {"lengths": [1, 3]}),
    "along another dimension": (numbers(2, 6), {"lengths": [[1, 5], [3, 3]], "axis": 1}),
    "between dimensions": (numbers(2, 6, 3), {"lengths": [[1, 5], [6, 0]], "axis": -2}),
    "offsets": (numbers(6), {"offsets": [0, 2, 2, 6]}),
    "offsets that leave some out": (numbers(6), {"offsets": [1, 2, 5]}),
    "lengths that leave some out": (numbers(6), {"lengths": [2, 3], "unsafe": True}),
}


def call(library: Any, x: Any, reduce: str, given: dict[str, Any], **options: Any) -> Any:
    tensors = {k: library.tensor(v) if isinstance(v, list) else v for k, v in given.items()}
    return library.segment_reduce(x, reduce, **tensors, **options)


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("case", CASES)
def test_segment_reduce_is_pytorchs(case: str, reduce: str) -> None:
    data, given = CASES[case]
    compare(lambda t, x: call(t, x, reduce, given), data, orders=1)
    compare(lambda t, x: call(t, x, reduce, given, initial=1.25), data, orders=1)


WRONG: dict[str, Any] = {
    "Either lengths or offsets must be defined": {},
    "indices based reduction is not supported": {"indices": [0, 6]},
    "lengths contains negative value": {"lengths": [2, 5, -1]},
    "to sum to data.size": {"lengths": [2, 3]},
    "Expected segment_length >= 0 to be true": {"offsets": [2, 0, 6]},
    "reduce argument must be either sum": {"reduce": "median", "lengths": [6]},
    "Expected axis to be the last dimension": {"lengths": [6], "shape": (6, 2), "axis": 1},
    "Dimension out of range": {"lengths": [6], "axis": 1},
    "not implemented for 'Float'": {"lengths": [6.0]},
    "not implemented for 'Long'": {"lengths": [6], "dtype": "int64"},
}


@pytest.mark.parametrize("text", WRONG)
def test_segment_reduce_refuses_what_pytorchs_refuses(torch: Any, text: str) -> None:
    kinds = []
    for library in (tt, torch):
        given = dict(WRONG[text])
        dtype = getattr(library, given.pop("dtype", "float32"))
        x = library.ones(given.pop("shape", (6,)), dtype=dtype)
        with pytest.raises((RuntimeError, IndexError), match=text) as caught:
            call(library, x, given.pop("reduce", "sum"), given)
        kinds.append(caught.type)
    assert kinds[0] is kinds[1]
