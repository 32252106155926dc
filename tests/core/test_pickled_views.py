"""Pickles keep where a tensor lies in its memory, and that tensors share it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import tinytorch as tt

VIEWS: dict[str, Callable[[Any], Any]] = {
    "the tensor": lambda x: x, "part": lambda x: x[1:], "one element": lambda x: x[2],
    "every other": lambda x: x[1::2], "transposed": lambda x: x.view(2, 4).t(),
    "a column": lambda x: x.view(2, 4)[:, 1], "expanded": lambda x: x[3].expand(5),
    "windows": lambda x: x.unfold(0, 3, 2), "as strided": lambda x: x.as_strided((2, 2), (3, 1), 1),
    "diagonal": lambda x: x.view(2, 4).diagonal(1), "detached": lambda x: x[5:].detach(),
    "permuted": lambda x: x.view(2, 2, 2).permute(2, 0, 1), "data": lambda x: x[6:].data,
}  # fmt: skip
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def pickled(value: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))


def place(x: Any) -> tuple[Any, ...]:
    return x.storage_offset(), x.stride(), tuple(x.shape), x.untyped_storage().nbytes(), x.tolist()


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_view_keeps_its_place(name: str, protocol: int) -> None:
    view = VIEWS[name](tt.arange(8.0))
    assert place(pickled(view, protocol)) == place(view)


@pytest.mark.parametrize("name", VIEWS)
def test_a_pickled_view_has_pytorchs_offset_and_strides(torch: Any, name: str) -> None:
    ours, theirs = VIEWS[name](tt.arange(8.0)), VIEWS[name](torch.arange(8.0))
    assert place(pickled(ours)) == place(pickled(theirs))


@pytest.mark.parametrize("name", VIEWS)
def test_two_views_in_one_pickle_share_their_memory(name: str) -> None:
    base = tt.arange(8.0)
    found, view = pickled({"base": base, "view": VIEWS[name](base)}).values()
    assert view.untyped_storage() == found.untyped_storage()
    found.fill_(7)
    assert (view == 7).all()
    first, second = pickled([VIEWS[name](base)] * 2)
    assert first is second


def test_memory_is_in_a_pickle_once() -> None:
    base = tt.zeros(10_000)
    alone, together = pickle.dumps(base), pickle.dumps([base, base[1:], base.view(100, 100).t()])
    assert len(together) < len(alone) + 1000


def test_pickled_views_of_another_dtype_share_their_memory() -> None:
    memory = tt.arange(16, dtype=tt.uint8)
    numbers = memory[4:12].view(tt.float32)
    kept, found = pickled((memory, numbers))
    assert found.storage_offset() == numbers.storage_offset() == 1
    assert found.dtype is tt.float32 and found.data_ptr() == kept.data_ptr() + 4
    parts = tt.tensor([1 + 2j, 3 + 4j])
    whole, imaginary = pickled((parts, parts.imag))
    whole.zero_()
    assert imaginary.tolist() == [0, 0] and imaginary.stride() == (2,)


def test_storages_and_tensors_share_their_memory() -> None:
    base = tt.arange(4.0)
    found = pickled((base.untyped_storage(), base[1:], base[2:].untyped_storage()))
    assert found[0] == found[1].untyped_storage() == found[2]
    assert found[0].nbytes() == 16 and type(found[0]) is tt.UntypedStorage


def test_shared_parameters_stay_shared() -> None:
    layer: Any = tt.nn.Linear(2, 3, bias=False)
    layer.row = tt.nn.Parameter(layer.weight.data[1])
    found = pickled(layer)
    with tt.no_grad():
        found.weight[1] = 5
    assert found.row.tolist() == [5, 5] and found.row.requires_grad
    assert layer.row.tolist() != [5, 5]


def test_a_shallow_copy_shares_the_memory() -> None:
    base = tt.zeros(4)
    view = copy.copy(base[1:])
    view.fill_(1)
    assert base.tolist() == [0, 1, 1, 1] and view.storage_offset() == 1


class Labelled(tt.Tensor):
    label: str


def test_pickled_views_keep_their_subclass_and_attributes() -> None:
    part: Any = tt.arange(3.0).as_subclass(Labelled)[1:]
    part.label = "a"
    found = pickled(part)
    assert type(found) is Labelled and found.label == "a" and found.storage_offset() == 1


@pytest.mark.parametrize("make", [
    lambda: tt.zeros(0, 3), lambda: tt.tensor(3), lambda: tt.ones(3, requires_grad=True),
    lambda: tt.tensor([True, False]), lambda: tt.ones(2, dtype=tt.complex64),
    lambda: tt.ones(2, 3).flip(0),
])  # fmt: skip
def test_pickled_tensors_keep_dtype_shape_and_requires_grad(make: Any) -> None:
    x = make()
    found = pickled(x)
    assert found.dtype is x.dtype and found.requires_grad is x.requires_grad
    assert found.tolist() == x.tolist() and found.shape == x.shape


def test_pickled_meta_tensors_keep_shape_and_strides() -> None:
    x = tt.ones(2, 3, device="meta").t()
    for found in (pickled(x), copy.copy(x)):
        assert (found.device.type, found.shape, found.stride()) == ("meta", (3, 2), (1, 3))
    assert pickled(x.untyped_storage()).nbytes() == 24


@pytest.mark.parametrize("name", ["cloudpickle", "joblib.externals.cloudpickle"])
def test_pickles_of_other_libraries_keep_shared_memory(name: str) -> None:
    """They have picklers of their own, which keep what is shared as Python's does."""
    base = tt.arange(4.0)
    pickler = pytest.importorskip(name, reason="comes with the extra `clients`")
    found, part = pickle.loads(pickler.dumps((base, base[1:])))
    found.zero_()
    assert part.tolist() == [0, 0, 0]
