"""``DataLoader(pin_memory=True)``: pinned batches with a GPU, a warning without."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import pytest
from strictcupy.backend import pretended_cuda

import tinytorch as tt
from tinytorch.utils.data import DataLoader, TensorDataset


def test_pin_memory_without_a_gpu_warns_as_pytorch_does(torch: Any) -> None:
    if tt.cuda.is_available() or torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.warns(UserWarning) as theirs:
        list(torch.utils.data.DataLoader([1, 2, 3], pin_memory=True))
    with pytest.warns(UserWarning) as ours:
        batches = list(DataLoader([1, 2, 3], pin_memory=True))
    assert [str(w.message) for w in ours] == [str(w.message) for w in theirs]
    assert ours[0].filename == __file__
    assert [b.tolist() for b in batches] == [[1], [2], [3]]
    assert not batches[0].is_pinned()


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_are_pinned(workers: int) -> None:
    with pretended_cuda(1), tt.backend_context("numpy"):
        data = TensorDataset(tt.arange(6.0).reshape(6, 1), tt.arange(6))
        loader = DataLoader(data, batch_size=4, pin_memory=True, num_workers=workers)
        for x, y in loader:
            assert x.is_pinned() and y.is_pinned()
            assert x.to("cuda", non_blocking=True)[:, 0].tolist() == y.tolist()
        assert not next(iter(DataLoader(data)))[0].is_pinned()


class Pair(NamedTuple):
    """A sample with named parts."""

    first: Any
    second: Any


class Own:
    """Something that pins itself."""

    pinned = False

    def pin_memory(self) -> Own:
        self.pinned = True
        return self


def test_containers_keep_their_kind() -> None:
    sample = OrderedDict(
        pair=Pair(tt.ones(2), "name"), parts=[tt.ones(1), (tt.zeros(1), 3)], own=Own(),
        array=np.ones(2),
    )  # fmt: skip
    with pretended_cuda(1), tt.backend_context("numpy"):
        loader = DataLoader([sample], batch_size=None, pin_memory=True, collate_fn=lambda s: s)
        (found,) = loader
        assert type(found) is OrderedDict
        assert type(found["pair"]) is Pair and found["pair"].second == "name"
        assert found["pair"].first.is_pinned()
        assert found["parts"][1][0].is_pinned() and found["parts"][1][1] == 3
        assert type(found["parts"][1]) is tuple
        assert found["own"].pinned
        assert found["array"] is sample["array"]
