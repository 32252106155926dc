"""Collation: from samples to batches."""

from __future__ import annotations

import collections
from typing import Any, NamedTuple

import numpy as np
import pytest

import tinytorch as tt
from tinytorch.utils.data import default_collate, default_convert
from tinytorch.utils.data.collate import collate, default_collate_fn_map


class Pair(NamedTuple):
    a: Any
    b: Any


class Bag(collections.UserList):  # type: ignore[type-arg]
    """A mutable sequence of the user's own."""


def plain(batch: Any) -> Any:
    """A batch with its tensors as (dtype, list), to compare across libraries."""
    if hasattr(batch, "tolist"):
        return str(batch.dtype).rpartition(".")[2], batch.tolist()
    if isinstance(batch, dict):
        return type(batch).__name__, {key: plain(value) for key, value in batch.items()}
    if isinstance(batch, (list, tuple, Bag)):
        return type(batch).__name__, [plain(item) for item in batch]
    return batch


BATCHES: list[Any] = [
    lambda t: [t([1.0, 2.0]), t([3.0, 4.0])],
    lambda t: [t([[1], [2]]), t([[3], [4]])],
    lambda t: [1, 2],
    lambda t: [1, 2.5],
    lambda t: [1.5, 2],
    lambda t: [True, False],
    lambda t: ["a", "b"],
    lambda t: [b"a", b"b"],
    lambda t: [{"a": 1, "b": 2.0}, {"a": 3, "b": 4.0}],
    lambda t: [collections.OrderedDict(a=1), collections.OrderedDict(a=2)],
    lambda t: [collections.defaultdict(int, a=1), collections.defaultdict(int, a=2)],
    lambda t: [(1, "a", t([1])), (2, "b", t([2]))],
    lambda t: [[1, 2], [3, 4]],
    lambda t: ((1, 2), (3, 4)),
    lambda t: [Pair(1, {"x": (1, 2)}), Pair(3, {"x": (4, 5)})],
    lambda t: [Bag([1, 2]), Bag([3, 4])],
    lambda t: [range(2), range(2)],
    lambda t: [np.ones(2), np.zeros(2)],
    lambda t: [np.ones(2, "f4"), np.zeros(2, "f4")],
    lambda t: [np.float32(1), np.float32(2)],
    lambda t: [np.float64(1), np.float64(2)],
    lambda t: [np.int64(1)],
    lambda t: [np.bool_(True)],
    lambda t: [np.str_("a"), np.str_("b")],
    lambda t: [np.array(1, "i2")],
]


@pytest.mark.parametrize("case", range(len(BATCHES)))
def test_collated_batches_are_pytorchs(torch: Any, case: int) -> None:
    ours = default_collate(BATCHES[case](tt.tensor))
    theirs = torch.utils.data.default_collate(BATCHES[case](torch.tensor))
    assert type(ours).__name__ == type(theirs).__name__
    assert plain(ours) == plain(theirs)


WRONG: list[tuple[Any, type[Exception], str]] = [
    ([object()], TypeError, "found <class 'object'>"),
    ([None], TypeError, "default_collate: batch must contain tensors, numpy arrays, numbers"),
    ([np.array(["a"])], TypeError, "found <U1"),
    ([np.array([object()])], TypeError, "found object"),
    ([[1, 2], [1]], RuntimeError, "each element in list of batch should be of equal size"),
    ([{"a": 1}, {"b": 1}], KeyError, "a"),
    ([], IndexError, ""),
]


@pytest.mark.parametrize(("batch", "kind", "text"), WRONG)
def test_default_collate_refuses_other_samples(
    batch: Any, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind) as caught:
        default_collate(batch)
    assert text in str(caught.value)


def test_tensors_of_different_shapes_are_refused() -> None:
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size"):
        default_collate([tt.ones(2), tt.ones(3)])


def test_gradients_flow_through_a_batch() -> None:
    x = tt.ones(2, requires_grad=True)
    default_collate([x, x]).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [2.0, 2.0]


def test_collate_accepts_rules_for_types() -> None:
    rules = {str: lambda batch, *, collate_fn_map: "+".join(batch)}
    assert collate([("a", "x"), ("b", "y")], collate_fn_map=rules) == ["a+b", "x+y"]
    with pytest.raises(TypeError, match="found <class 'int'>"):
        collate([1], collate_fn_map=rules)


def test_a_type_may_be_added_to_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(default_collate_fn_map, complex, lambda batch, **_: sum(batch))
    assert default_collate([(1j, 1), (2j, 2)])[0] == 3j


CONVERTED: list[Any] = [
    (1, np.ones(1)),
    [np.ones(1, "f4"), "a"],
    Pair(1, np.ones(1)),
    Bag([np.ones(1)]),
    range(2),
    collections.OrderedDict(a=np.ones(1)),
    {"a": {"b": [np.float32(2)]}},
    np.array("x"),
    b"bytes",
    None,
]


@pytest.mark.parametrize("case", range(len(CONVERTED)))
def test_default_convert_is_pytorchs(torch: Any, case: int) -> None:
    theirs = torch.utils.data.default_convert(CONVERTED[case])
    assert plain(default_convert(CONVERTED[case])) == plain(theirs)


def test_tensors_are_not_converted() -> None:
    x = tt.ones(2)
    assert default_convert(x) is x
