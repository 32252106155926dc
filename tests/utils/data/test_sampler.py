"""Samplers: what they yield, and in PyTorch's order where it is random."""

from __future__ import annotations

from typing import Any

import pytest

import tinytorch as tt
from tinytorch.utils.data import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

RANDOM: dict[str, Any] = {
    "shuffle": lambda lib, g: lib.RandomSampler(range(37), generator=g),
    "shuffle one": lambda lib, g: lib.RandomSampler(range(1), generator=g),
    "shuffle less": lambda lib, g: lib.RandomSampler(range(37), num_samples=5, generator=g),
    "shuffle more": lambda lib, g: lib.RandomSampler(range(37), num_samples=100, generator=g),
    "replace": lambda lib, g: lib.RandomSampler(range(37), True, generator=g),
    "replace more": lambda lib, g: lib.RandomSampler(range(37), True, 100, generator=g),
    "replace 64": lambda lib, g: lib.RandomSampler(range(37), True, 64, generator=g),
    "subset": lambda lib, g: lib.SubsetRandomSampler([3, 5, 9, 11, 12], generator=g),
    "weights": lambda lib, g: lib.WeightedRandomSampler([0.1, 0.5, 0.4, 0], 20, generator=g),
    "weights once": lambda lib, g: lib.WeightedRandomSampler([0.1, 5, 4], 2, False, generator=g),
}


@pytest.mark.parametrize("kind", RANDOM)
@pytest.mark.parametrize("own", [True, False])
def test_random_samplers_visit_pytorchs_indices(torch: Any, kind: str, own: bool) -> None:
    make = RANDOM[kind]
    tt.manual_seed(7)
    torch.manual_seed(7)
    mine = make(tt.utils.data, tt.Generator().manual_seed(3) if own else None)
    theirs = make(torch.utils.data, torch.Generator().manual_seed(3) if own else None)
    for _ in range(3):
        assert list(mine) == list(theirs)
    assert len(mine) == len(theirs)


def test_the_base_class_says_what_is_missing() -> None:
    with pytest.raises(NotImplementedError):
        iter(Sampler())
    with pytest.raises(TypeError, match="has no len"):
        len(Sampler())  # type: ignore[arg-type]


def test_sequential_sampler_yields_indices_in_order() -> None:
    sampler = SequentialSampler("abc")
    assert list(sampler) == [0, 1, 2] and len(sampler) == 3


@pytest.mark.parametrize("drop_last", [True, False])
@pytest.mark.parametrize("size", [0, 1, 3, 4, 9])
def test_batch_sampler_groups_indices(size: int, drop_last: bool) -> None:
    sampler = BatchSampler(SequentialSampler(range(size)), 3, drop_last)
    batches = list(sampler)
    assert len(sampler) == len(batches)
    wanted = size - size % 3 if drop_last else size
    assert [i for batch in batches for i in batch] == [*range(wanted)]
    assert all(len(batch) == 3 for batch in batches[:-1])


def test_random_sampler_follows_data_that_grows() -> None:
    data = [1, 2]
    sampler = RandomSampler(data)
    data.append(3)
    assert sorted(sampler) == [0, 1, 2] and len(sampler) == 3


WRONG: list[tuple[Any, type[Exception], str]] = [
    (lambda: RandomSampler([1], replacement=1), TypeError,  # type: ignore[arg-type]
     "replacement should be a boolean value, but got replacement=1"),
    (lambda: RandomSampler([1], num_samples=0), ValueError,
     "num_samples should be a positive integer value, but got num_samples=0"),
    (lambda: RandomSampler([]), ValueError, "got num_samples=0"),
    (lambda: WeightedRandomSampler([1, 2], 0), ValueError, "got num_samples=0"),
    (lambda: WeightedRandomSampler([1, 2], True), ValueError, "got num_samples=True"),
    (lambda: list(WeightedRandomSampler([1.0, 2.0], 3, False)), RuntimeError,
     "without replacement: 3 of 2"),
    (lambda: WeightedRandomSampler([1, 2], 2, replacement=1), ValueError,  # type: ignore[arg-type]
     "replacement should be a boolean value, but got replacement=1"),
    (lambda: WeightedRandomSampler([[1, 2.0]], 2), ValueError,  # type: ignore[list-item]
     "weights should be a 1d sequence but given weights have shape (1, 2)"),
    (lambda: BatchSampler([1], 0, False), ValueError,
     "batch_size should be a positive integer value, but got batch_size=0"),
    (lambda: BatchSampler([1], True, False), ValueError, "got batch_size=True"),
    (lambda: BatchSampler([1], 2, 0), ValueError,  # type: ignore[arg-type]
     "drop_last should be a boolean value, but got drop_last=0"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "text"), WRONG)
def test_wrong_arguments_are_refused(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value)


def test_weights_may_be_a_tensor() -> None:
    assert list(WeightedRandomSampler(tt.tensor([0.0, 2.0]), 3)) == [1, 1, 1]


def test_subsets_keep_the_kind_of_their_indices() -> None:
    assert sorted(SubsetRandomSampler(["b", "a"])) == ["a", "b"]  # type: ignore[list-item]
