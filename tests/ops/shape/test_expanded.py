"""Writing to expanded tensors: what PyTorch merely warns of, and what it refuses."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import tinytorch as tt
from tests.calls import Call, call_with_names, words

#: ``E`` is ``[0, 1, 2]`` seen twice, ``M`` a mask of one True a row.
WRITES: list[Call] = [
    lambda E, M: E.masked_fill_(M, 7.0),
    lambda L, E, M: E.masked_fill_(M[1], L.tensor(7.0)),
    lambda E: E.masked_fill_(E < 0, 7.0),
    lambda L, E: E.index_fill_(0, L.tensor([0]), 5.0),
    lambda L, E: E.index_fill_(-1, L.tensor([2, 0]), 5),
    lambda L, E: E.index_fill_(1, L.tensor([], dtype=L.int64), 5.0),
    lambda L, E: E.index_put_((L.tensor([0]),), L.tensor(4.0)),
    lambda L, E: E.index_put_((L.tensor([0, 1]), L.tensor([1, 1])), L.tensor([4.0, 6.0])),
    lambda E, M: E.__setitem__(M, 3),
    lambda L, E, M: E.__setitem__(M, L.tensor([4.0, 6.0])),
    lambda L, E: E.__setitem__((slice(None), L.tensor([2, 1])), L.tensor([4.0, 6.0])),
]
REFUSED: list[Call] = [
    lambda E: E.add_(1),
    lambda L, E: E.fill_(L.tensor(1.0)),
    lambda L, E, M: E.masked_scatter_(M, L.ones(6)),
    lambda L, E: E[:1].mul_(L.ones(2, 3)),
]


def seen(library: Any, program: Call) -> tuple[list[Any], list[str]]:
    base = library.arange(3.0)
    mask = library.tensor([[True, False, False], [False, False, True]])
    names = {"L": library, "E": base.expand(2, 3), "M": mask}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call_with_names(program, names)
    return base.tolist(), [str(w.message).split(" on ")[0] for w in caught]


@pytest.mark.parametrize("program", WRITES, ids=words)
def test_the_shared_elements_are_written_with_a_warning(torch: Any, program: Call) -> None:
    torch.set_warn_always(True)
    try:
        wanted, warned = seen(torch, program)
    finally:
        torch.set_warn_always(False)
    ours, (message,) = seen(tt, program)
    assert ours == wanted and message in warned


@pytest.mark.parametrize("program", REFUSED, ids=words)
def test_other_writes_to_expanded_tensors_are_refused(torch: Any, program: Call) -> None:
    for library in (torch, tt):
        with pytest.raises(RuntimeError):
            seen(library, program)


@pytest.mark.filterwarnings("ignore:Use of")
def test_an_expanded_tensor_that_was_written_counts_the_version() -> None:
    base = tt.zeros(3)
    wide = base.expand(2, 3)
    wide.masked_fill_(wide == 0, 1.0)
    assert base._version == wide._version == 1
    with pytest.raises(RuntimeError, match="single memory location"):
        wide.add_(1)
    with pytest.raises(RuntimeError, match="only supports boolean masks"):
        wide.masked_fill_(wide, 1.0)
    assert base.tolist() == [1.0, 1.0, 1.0]


def test_a_part_that_has_each_element_once_is_written(torch: Any) -> None:
    for library in (torch, tt):
        base = library.arange(3.0)
        part = base.expand(2, 3).detach()[:1]
        part += 1
        part[..., 0] *= 5
        assert base.tolist() == [5.0, 2.0, 3.0]


def test_writing_to_an_expanded_tensor_with_a_graph_is_refused() -> None:
    wide = (tt.zeros(3, requires_grad=True) * 1).expand(2, 3)
    with pytest.raises(RuntimeError, match="single memory location"):
        wide.masked_fill_(wide == 0, 1.0)
