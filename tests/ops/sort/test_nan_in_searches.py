"""NaN orders after every number wherever values are ordered or looked for.

PyTorch's ``searchsorted`` walks past a NaN among the boundaries, so that every number lies behind
it; ours keeps the order of ``sort``. See ``docs/numerics.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp

NAN, INF = float("nan"), float("inf")
BOUNDARIES = [[], [NAN], [1.0, NAN], [1.0, 2.0, NAN, NAN], [1.0, 2.0, 2.0, 3.0], [-INF, 0.0, INF]]
VALUES = [-INF, 0.0, 1.0, 1.5, 2.0, 3.0, INF, NAN]


def places(boundaries: list[float], values: Any, right: bool) -> list[int]:
    """What NumPy says of numbers, to which NaN is larger than all; of a NaN, the end."""
    found = np.searchsorted(boundaries, values, side="right" if right else "left")
    return [len(boundaries) if v != v else int(n) for v, n in zip(values, found, strict=True)]


@pytest.mark.parametrize("boundaries", BOUNDARIES)
@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_searchsorted_and_bucketize_place_nan_last(
    boundaries: list[float], right: bool, dtype: str
) -> None:
    kind = getattr(tt, dtype)
    edges, values = tt.tensor(boundaries, dtype=kind), tt.tensor(VALUES, dtype=kind)
    wanted = places(boundaries, VALUES, right)
    assert tt.searchsorted(edges, values, right=right).tolist() == wanted
    assert tt.bucketize(values, edges, right=right).tolist() == wanted
    assert [int(tt.searchsorted(edges, v, right=right)) for v in VALUES] == wanted
    rows = tt.searchsorted(tt.stack([edges, edges]), tt.stack([values, values]), right=right)
    assert rows.tolist() == [wanted, wanted]
    assert tt.searchsorted(edges, values, right=right, out_int32=True).tolist() == wanted
    if boundaries:
        order = tt.arange(len(boundaries) - 1, -1, -1)
        backwards = edges.flip(0)
        found = tt.searchsorted(backwards, values, right=right, sorter=order)
        assert found.tolist() == wanted


@pytest.mark.parametrize("right", [False, True])
def test_searchsorted_without_nan_boundaries_is_pytorchs(torch: Any, right: bool) -> None:
    for boundaries in (b for b in BOUNDARIES if NAN not in b):
        wanted = torch.searchsorted(torch.tensor(boundaries), torch.tensor(VALUES), right=right)
        found = tt.searchsorted(tt.tensor(boundaries), tt.tensor(VALUES), right=right)
        assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("right", [False, True])
def test_boundaries_that_are_not_sorted_are_bisected_as_pytorchs(torch: Any, right: bool) -> None:
    found = [
        [
            library.searchsorted(edges, values, right=right).tolist(),
            library.searchsorted(library.stack([edges] * 2), values.reshape(2, -1)).tolist(),
            library.bucketize(values.reshape(2, -1), edges, right=right).tolist(),
        ]
        for library in (tt, torch)
        for edges in (library.tensor([3.0, 1e30, -1.0, 4.0, 0.0, 2.0, -5.0]),)
        for values in (library.tensor(VALUES),)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("boundaries", BOUNDARIES)
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_of_nan_and_infinity_is_numpys(boundaries: list[float], side: Any) -> None:
    wanted = np.searchsorted(boundaries, VALUES, side=side)
    assert tnp.searchsorted(boundaries, VALUES, side=side).tolist() == wanted.tolist()


@pytest.mark.parametrize("right", [False, True])
def test_digitize_of_nan_and_infinity_is_numpys(right: bool) -> None:
    for bins in ([0.0, 1.0, 2.0], [2.0, 1.0, 0.0]):
        wanted = np.digitize(VALUES, bins, right=right)
        assert tnp.digitize(VALUES, bins, right=right).tolist() == wanted.tolist()


ORDERED: dict[str, Callable[[Any], Any]] = {
    "sort": lambda x: x.sort().values, "sort, descending": lambda x: x.sort(descending=True).values,
    "argsort": lambda x: x.argsort(stable=True), "topk": lambda x: x.topk(2).values,
    "topk, smallest": lambda x: x.topk(2, largest=False).values,
    "kthvalue": lambda x: x.kthvalue(x.shape[-1]).values, "median": lambda x: x.median(-1).values,
    "nanmedian": lambda x: x.nanmedian(-1).values, "argmax": lambda x: x.argmax(-1),
    "argmin": lambda x: x.argmin(-1), "max": lambda x: x.max(-1), "cummax": lambda x: x.cummax(-1),
    "cummin": lambda x: x.cummin(-1), "unique": lambda x: x.unique(), "msort": lambda x: x.msort(),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERED)
@pytest.mark.parametrize("size", [5, 40, 3000])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_orders_with_nan_are_pytorchs(torch: Any, name: str, size: int, dtype: str) -> None:
    x = np.random.randint(0, 4, (2, size)).astype(dtype)
    x[:, np.random.randint(0, size, size // 10 + 1)] = NAN
    ours, theirs = ORDERED[name](tt.tensor(x)), ORDERED[name](torch.tensor(x))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
