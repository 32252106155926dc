"""Datasets: samples, combinations and splits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tinytorch as tt
from tinytorch.utils.data import (
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)


class Letters(Dataset[str]):
    def __init__(self, text: str) -> None:
        self.text = text

    def __len__(self) -> int:
        return len(self.text)

    def __getitem__(self, index: int) -> str:
        return self.text[index]


class Batched(Letters):
    def __getitems__(self, indices: list[int]) -> list[str]:
        return [self.text[i].upper() for i in indices]


class Count(IterableDataset[int]):
    def __init__(self, stop: int) -> None:
        self.stop = stop

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.stop))

    def __len__(self) -> int:
        return self.stop


def test_the_base_class_says_what_is_missing() -> None:
    with pytest.raises(NotImplementedError, match="should implement __getitem__"):
        Dataset()[0]
    with pytest.raises(TypeError, match="has no len"):
        len(Dataset())  # type: ignore[arg-type]


def test_tensor_dataset_gives_rows() -> None:
    x, y = tt.arange(6).reshape(3, 2), tt.tensor([5, 6, 7])
    dataset = TensorDataset(x, y)
    row, label = dataset[1]
    assert row.tolist() == [2, 3] and label.item() == 6
    assert len(dataset) == 3 and dataset.tensors == (x, y)
    assert [t.shape[0] for t in dataset[1:]] == [2, 2]


def test_tensor_dataset_refuses_other_lengths() -> None:
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        TensorDataset(tt.ones(3), tt.ones(2))


def test_concatenated_datasets_are_indexed_one_after_the_other() -> None:
    both = Letters("ab") + Letters("cde")
    assert isinstance(both, ConcatDataset)
    assert [both[i] for i in range(-5, 5)] == [*"abcde"] * 2
    assert len(both) == 5 and both.cumulative_sizes == [2, 5]
    with pytest.raises(ValueError, match="absolute value of index should not exceed"):
        both[-6]
    with pytest.raises(IndexError):
        both[5]


def test_concatenation_refuses_nothing_and_streams() -> None:
    with pytest.raises(AssertionError, match="datasets should not be an empty iterable"):
        ConcatDataset([])
    with pytest.raises(AssertionError, match="ConcatDataset does not support IterableDataset"):
        ConcatDataset([Count(2)])


def test_streams_follow_each_other() -> None:
    chain = Count(2) + Count(3)
    assert isinstance(chain, ChainDataset)
    assert list(chain) == [0, 1, 0, 1, 2] and len(chain) == 5
    with pytest.raises(AssertionError, match="ChainDataset only supports IterableDataset"):
        list(ChainDataset([Letters("ab")]))  # type: ignore[list-item]


def test_stacked_datasets_return_tuples_or_dictionaries() -> None:
    by_place = StackDataset(Letters("ab"), Batched("cd"))
    assert by_place[1] == ("b", "d") and len(by_place) == 2
    assert by_place.__getitems__([1, 0]) == [("b", "D"), ("a", "C")]
    by_name = StackDataset(x=Letters("ab"), y=Letters("cd"))
    assert by_name[0] == {"x": "a", "y": "c"}
    assert by_name.__getitems__([1]) == [{"x": "b", "y": "d"}]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: StackDataset(), "At least one dataset should be passed"),
        (lambda: StackDataset("a", b="b"), "both types are given"),
        (lambda: StackDataset("ab", "c"), "Size mismatch between datasets"),
        (lambda: StackDataset(a="ab", b="c"), "Size mismatch between datasets"),
    ],
)
def test_stacked_datasets_refuse_wrong_arguments(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def test_a_subset_selects_by_its_indices() -> None:
    subset = Subset(Letters("abcdef"), [4, 0, 3])
    assert [*subset] == ["e", "a", "d"] and len(subset) == 3  # type: ignore[misc]
    assert subset.__getitems__([2, 0]) == ["d", "e"]
    assert Subset(Batched("abcdef"), [4, 0]).__getitems__([0]) == ["E"]
    rows = Subset(TensorDataset(tt.arange(5)), [4, 0, 3])
    assert rows[[0, 1]][0].tolist() == [4, 0]


def test_a_loader_calls_getitems_for_a_whole_batch() -> None:
    assert list(DataLoader(Batched("abcd"), batch_size=3)) == [["A", "B", "C"], ["D"]]


@pytest.mark.parametrize("lengths", [[30, 7], [0.3, 0.3, 0.4], [1.0], [0.5, 0.5], [10, 20, 7, 0]])
def test_random_split_deals_out_pytorchs_parts(torch: Any, lengths: list[float]) -> None:
    tt.manual_seed(3)
    torch.manual_seed(3)
    for ours, theirs in (
        (tt.Generator().manual_seed(5), torch.Generator().manual_seed(5)),
        (None, torch.default_generator),
    ):
        mine = random_split(range(37), lengths, ours)  # type: ignore[type-var]
        expected = torch.utils.data.random_split(range(37), lengths, theirs)
        assert [part.indices for part in mine] == [part.indices for part in expected]


@pytest.mark.parametrize("lengths", [[5, 6], [0.5, 0.6], [1.5, 0.9]])
def test_random_split_refuses_other_sums(lengths: list[float]) -> None:
    with pytest.raises(ValueError, match="Sum of input lengths does not equal the length"):
        random_split(range(10), lengths)  # type: ignore[type-var]


def test_random_split_refuses_fractions_out_of_range() -> None:
    with pytest.raises(ValueError, match="Fraction at index 0 is not between 0 and 1"):
        random_split(range(10), [1.5, -0.5])  # type: ignore[type-var]


def test_random_split_warns_of_empty_parts() -> None:
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        random_split(range(2), [0.9, 0.1])  # type: ignore[type-var]


def test_datasets_and_loaders_say_what_they_hold() -> None:
    pairs = TensorDataset(tt.zeros(3, 2), tt.arange(3))
    assert repr(pairs) == "TensorDataset((3, 2) float32, (3,) int64)"
    assert repr(Subset(pairs, [0, 2])) == f"Subset(2 of {pairs})"
    assert repr(pairs + pairs) == f"ConcatDataset([{pairs}, {pairs}])"
    assert repr(ConcatDataset([[1]] * 5)) == "ConcatDataset([[1], [1], [1], ... 2 more])"
    assert repr(StackDataset(a=pairs, b=[4, 5, 6])) == f"StackDataset(a={pairs}, b=[4, 5, 6])"
    assert repr(StackDataset(pairs, "abc")) == f"StackDataset({pairs}, 'abc')"
    loader = DataLoader(pairs, batch_size=2, shuffle=True, drop_last=True, num_workers=2)
    assert repr(loader) == (
        f"DataLoader({pairs}, batch_size=2, sampler=RandomSampler, drop_last=True, num_workers=2)"
    )
    assert repr(DataLoader(range(9), batch_size=None)) == "DataLoader(range(0, 9), batch_size=None)"
    assert len(repr(DataLoader(list(range(10_000))))) < 80
