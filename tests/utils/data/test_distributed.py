"""DistributedSampler: shares of a dataset, beside PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

from tinytorch.utils.data import DataLoader, DistributedSampler


@pytest.mark.parametrize("count", [0, 1, 2, 5, 9, 12])
@pytest.mark.parametrize("replicas", [1, 2, 3, 7])
@pytest.mark.parametrize("options", [{}, {"shuffle": False}, {"drop_last": True}, {"seed": 5}])
def test_indices_of_each_rank_are_pytorchs(
    torch: Any, count: int, replicas: int, options: Any
) -> None:
    for rank in range(replicas):
        shares = [
            kind(range(count), replicas, rank, **options)
            for kind in (DistributedSampler, torch.utils.data.DistributedSampler)
        ]
        for epoch in (0, 3):
            for share in shares:
                share.set_epoch(epoch)
            # PyTorch's number of samples may fall below 0, or its share of nothing fail.
            if not count or (count < replicas and options.get("drop_last")):
                assert list(shares[0]) == [] and len(shares[0]) == 0
            else:
                assert list(shares[0]) == list(shares[1])
                assert len(shares[0]) == len(shares[1])


def test_every_index_is_visited_once_or_again() -> None:
    shares = [list(DistributedSampler(range(10), 3, rank)) for rank in range(3)]
    assert {len(share) for share in shares} == {4}
    assert set().union(*shares) == set(range(10))
    sampler = DistributedSampler(range(4), 2, 1, shuffle=False)
    assert [batch.tolist() for batch in DataLoader(range(4), 2, sampler=sampler)] == [[1, 3]]


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("Default process group has not been initialized", ()),
        ("Default process group has not been initialized", (2,)),
        (r"Invalid rank 2, rank should be in the interval \[0, 1\]", (2, 2)),
        (r"Invalid rank -1", (2, -1)),
    ],
)
def test_distributed_sampler_refuses_wrong_arguments(text: str, given: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=text):
        DistributedSampler(range(3), *given)
