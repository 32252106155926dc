"""Checkpoints: what PyTorch reads of ours, what we read of PyTorch's, and what nobody should."""

from __future__ import annotations

import collections
import io
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tinytorch as tt
from tests.fresh import run
from tinytorch import nn

pytestmark = pytest.mark.torch


LEGACY = {"_use_new_zipfile_serialization": False}
FORMATS = pytest.mark.parametrize("options", [{}, LEGACY], ids=["zip", "legacy"])
DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
    "complex64", "complex128",
]  # fmt: skip


def into_torch(obj: Any, **options: Any) -> Any:
    file = io.BytesIO()
    tt.save(obj, file, **options)
    file.seek(0)
    return torch.load(file, weights_only=True)


def from_torch(obj: Any, **options: Any) -> Any:
    file = io.BytesIO()
    torch.save(obj, file, **options)
    file.seek(0)
    return tt.load(file)


def again(obj: Any, **options: Any) -> Any:
    file = io.BytesIO()
    tt.save(obj, file)
    file.seek(0)
    return tt.load(file, **options)


def assert_equal_tensors(ours: Any, theirs: Any) -> None:
    assert type(theirs) is torch.Tensor
    assert ours.dtype.name == str(theirs.dtype).removeprefix("torch.")
    assert tuple(ours.shape) == tuple(theirs.shape) and ours.stride() == theirs.stride()
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


# -- tensors -------------------------------------------------------------------------------------


@FORMATS
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_cross_both_ways(dtype: str, options: Any) -> None:
    values = torch.arange(6).reshape(2, 3).to(getattr(torch, dtype))
    assert_equal_tensors(from_torch(values, **options), values)
    ours = tt.arange(6).reshape(2, 3).to(getattr(tt, dtype))
    assert_equal_tensors(ours, into_torch(ours, **options))


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
def test_dtypes_without_a_storage_type_of_their_own_cross_both_ways(dtype: str) -> None:
    values = torch.ones(3).to(getattr(torch, dtype))
    assert_equal_tensors(from_torch(values), values)
    ours = tt.ones(3, dtype=getattr(tt, dtype))
    assert_equal_tensors(ours, into_torch(ours))
    file = io.BytesIO()
    torch.save(values, file, **LEGACY)
    file.seek(0)
    assert_equal_tensors(tt.load(file), values)  # which PyTorch itself does not read


@pytest.mark.parametrize("shape", [(), (0,), (1,), (0, 3), (2, 0, 4), (1, 1, 5)])
def test_shapes_cross_both_ways(shape: tuple[int, ...]) -> None:
    assert tuple(into_torch(tt.zeros(shape)).shape) == shape
    assert tuple(from_torch(torch.zeros(shape)).shape) == shape


@FORMATS
def test_views_share_memory_again_in_torch(options: Any) -> None:
    base = tt.arange(12.0).reshape(3, 4)
    views = {"base": base, "row": base[1], "t": base.t(), "steps": base[:, ::2],
             "expanded": base[:, :1].expand(3, 4), "again": base}  # fmt: skip
    loaded = into_torch(views, **options)
    for name, view in views.items():
        assert_equal_tensors(view, loaded[name])
    assert loaded["again"] is loaded["base"]
    loaded["base"].zero_()
    assert all(not value.any() for value in loaded.values())


@FORMATS
def test_views_share_memory_again_here(options: Any) -> None:
    base = torch.arange(12.0).reshape(3, 4)
    views = {"base": base, "row": base[1], "t": base.t(), "steps": base[:, ::2],
             "expanded": base[:, :1].expand(3, 4), "again": base}  # fmt: skip
    loaded = from_torch(views, **options)
    for name, view in views.items():
        assert_equal_tensors(loaded[name], view)
    assert loaded["again"] is loaded["base"]
    loaded["base"].zero_()
    assert all(not value.any() for value in loaded.values())


@FORMATS
def test_parts_keep_their_place_in_the_memory(options: Any) -> None:
    def parts(x: Any) -> list[Any]:
        return [x[1], x[1:, 1:], x.t()[2:], x[2].detach(), x]

    wanted = parts(torch.arange(12.0).reshape(3, 4))
    for back in (from_torch(wanted, **options), again(parts(tt.arange(12.0).reshape(3, 4)))):
        for ours, theirs in zip(back, wanted, strict=True):
            assert ours.storage_offset() == theirs.storage_offset()
            assert ours.stride() == theirs.stride() and not ours._is_view()
            assert ours.as_strided((2,), (3,), 1).tolist() == [1.0, 4.0]


def test_shared_memory_is_saved_once() -> None:
    base = tt.zeros(10_000)
    file = io.BytesIO()
    tt.save([base, base[10:], base.view(100, 100).t()], file)
    assert file.tell() < 45_000


def test_column_major_memory_is_kept() -> None:
    ours = tt.from_numpy(np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    assert_equal_tensors(ours, into_torch(ours))


def test_backward_views_are_saved_as_copies() -> None:
    reversed_ = tt.from_numpy(np.arange(4.0)[::-1])
    assert into_torch(reversed_).tolist() == [3.0, 2.0, 1.0, 0.0]


def test_memory_of_two_dtypes_is_refused_as_in_torch() -> None:
    for library in (tt, torch):
        numbers = library.ones(2, dtype=library.complex64)
        with pytest.raises(RuntimeError, match="view the same data as different types"):
            library.save([numbers, library.view_as_real(numbers)], io.BytesIO())


def test_pending_conjugation_and_sign_are_carried_out() -> None:
    numbers = torch.tensor([1 + 2j, 3 - 1j])
    assert from_torch(numbers.conj()).tolist() == [1 - 2j, 3 + 1j]
    assert from_torch(numbers.conj().imag).tolist() == [-2.0, 1.0]


def test_requires_grad_and_parameters_cross_both_ways() -> None:
    loaded = into_torch([tt.ones(2, requires_grad=True), nn.Parameter(tt.ones(2), False)])
    assert loaded[0].requires_grad and loaded[0].is_leaf
    assert type(loaded[1]) is torch.nn.Parameter and not loaded[1].requires_grad
    ours = from_torch([torch.ones(2, requires_grad=True), torch.nn.Parameter(torch.ones(2))])
    assert ours[0].requires_grad and type(ours[0]) is tt.Tensor
    assert ours[1].requires_grad and type(ours[1]) is nn.Parameter


def test_results_are_saved_as_leaves() -> None:
    result = tt.ones(2, requires_grad=True) * 3
    loaded = into_torch(result)
    assert loaded.is_leaf and loaded.requires_grad and loaded.tolist() == [3.0, 3.0]


def test_attributes_of_tensors_cross_both_ways() -> None:
    ours, theirs = tt.ones(2), torch.ones(2)
    for library, value in ((tt, ours), (torch, theirs)):
        value.label = "a"
        value.other = library.zeros(1)
    assert into_torch(ours).label == "a" and into_torch(ours).other.tolist() == [0.0]
    assert from_torch(theirs).label == "a" and from_torch(theirs).other.tolist() == [0.0]
    weight, their_weight = nn.Parameter(tt.ones(2)), torch.nn.Parameter(torch.ones(2))
    weight.label = their_weight.label = "w"
    assert into_torch(weight).label == "w" and from_torch(their_weight).label == "w"


class Tagged(tt.Tensor):
    """A subclass of a user's."""


def test_subclasses_come_back_if_they_are_allowed() -> None:
    tagged = Tagged(tt.ones(2))
    with pytest.raises(pickle.UnpicklingError, match="Tagged was not an allowed global"):
        again(tagged)
    assert type(again(tagged, weights_only=False)) is Tagged
    with tt.serialization.safe_globals([Tagged]):
        assert type(again(tagged)) is Tagged


# -- other objects -------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [1, 2, 3, 4, 5])
def test_plain_objects_come_back_in_every_protocol(protocol: int) -> None:
    plain = [
        1,
        -1,
        2**70,
        2.5,
        1j,
        None,
        True,
        "ä",
        b"\xff",
        (),
        (1,),
        {1, 2},
        {"a": {2: [3]}},
        collections.Counter("aab"),
        collections.OrderedDict(b=1, a=2),
        bytearray(b"xy"),
    ]
    file = io.BytesIO()
    tt.save({"plain": plain, "tensor": tt.ones(2)}, file, pickle_protocol=protocol)
    file.seek(0)
    loaded = tt.load(file)
    assert loaded["plain"] == plain and [*map(type, loaded["plain"])] == [*map(type, plain)]
    assert loaded["tensor"].tolist() == [1.0, 1.0]


def test_plain_objects_cross_both_ways() -> None:
    plain = [1, -1, 2**70, 2.5, 1j, None, True, "ä", b"\xff", (), (1,), {1, 2}, {"a": {2: [3]}},
             collections.Counter("aab"), collections.OrderedDict(b=1, a=2)]  # fmt: skip
    assert into_torch(plain) == plain
    assert from_torch(plain) == plain


def test_sizes_dtypes_and_devices_cross_both_ways() -> None:
    def three(library: Any) -> list[Any]:
        return [library.Size([1, 2]), library.float16, library.device("cuda:1"), library.Tensor]

    assert into_torch(three(tt)) == three(torch)
    assert from_torch(three(torch)) == three(tt)
    assert type(from_torch(three(torch))[0]) is tt.Size


def test_one_object_named_twice_is_one_object_again() -> None:
    inner: list[Any] = [tt.ones(1)]
    inner.append(inner)
    loaded = again({"a": inner, "b": inner})
    assert loaded["a"] is loaded["b"] is loaded["a"][1]


# -- training goes on ------------------------------------------------------------------------------


def nets() -> tuple[Any, Any]:
    """The same model in both libraries, in double precision so that rounding decides nothing."""
    found = []
    for library in (tt, torch):
        library.manual_seed(0)
        found.append(library.nn.Sequential(
            library.nn.Linear(4, 8, bias=False), library.nn.BatchNorm1d(8), library.nn.Tanh(),
            library.nn.Linear(8, 2),
        ).double())  # fmt: skip
    return found[0], found[1]


def train(library: Any, net: Any, optimizer: Any, steps: int) -> list[float]:
    losses = []
    for step in range(steps):
        x = library.linspace(-1, 1, 24, dtype=library.float64).reshape(6, 4) * (step % 5 + 1)
        optimizer.zero_grad()
        loss = (net(x) - 0.5).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


OPTIMIZERS = [
    ("SGD", {"lr": 0.05, "momentum": 0.9}), ("Adam", {"lr": 0.01}),
    ("AdamW", {"lr": 0.01, "amsgrad": True}), ("RMSprop", {"lr": 0.01, "centered": True}),
    ("Adagrad", {"lr": 0.05}), ("Rprop", {"lr": 0.01}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=[name for name, _ in OPTIMIZERS])
@pytest.mark.parametrize("start", ["tinytorch", "torch"])
def test_training_goes_on_in_the_other_library(name: str, options: Any, start: str) -> None:
    ours, theirs = nets()
    first, second, cross = (tt, torch, into_torch) if start == "tinytorch" else (
        torch, tt, from_torch)  # fmt: skip
    net, other = (ours, theirs) if first is tt else (theirs, ours)
    optimizer = getattr(first.optim, name)(net.parameters(), **options)
    train(first, net, optimizer, 5)
    checkpoint = cross({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 5})
    assert checkpoint["epoch"] == 5
    other.load_state_dict(checkpoint["net"])
    resumed = getattr(second.optim, name)(other.parameters(), lr=99.0)
    resumed.load_state_dict(checkpoint["optimizer"])
    np.testing.assert_allclose(
        train(second, other, resumed, 5), train(first, net, optimizer, 5), rtol=1e-9
    )


def test_a_state_dict_is_as_large_as_pytorchs() -> None:
    """No parameter drags along memory that it was cut from."""
    files = []
    for library in (tt, torch):
        layers = library.nn
        net = layers.ModuleList([
            layers.Linear(7, 5), layers.Conv2d(3, 5, 3), layers.LSTM(5, 6, 2),
            layers.Embedding(9, 5), layers.MultiheadAttention(6, 2), layers.BatchNorm2d(5),
            layers.Bilinear(2, 3, 4), layers.ConvTranspose1d(3, 5, 3), layers.GRUCell(3, 5),
        ])  # fmt: skip
        optimizer = library.optim.Adam(net.parameters())
        for parameter in net.parameters():
            parameter.grad = library.ones_like(parameter)
        optimizer.step()
        library.nn.init.orthogonal_(net[0].weight)
        file = io.BytesIO()
        library.save([net.state_dict(), optimizer.state_dict()], file)
        files.append(file.tell())
    assert files[0] < files[1] * 1.05


def test_whole_modules_load_with_weights_only_false_alone() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5)).eval()
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        again(net)
    loaded = again(net, weights_only=False)
    assert repr(loaded) == repr(net) and not loaded.training
    x = tt.ones(1, 2)
    assert loaded(x).tolist() == net(x).tolist()


def test_pytorchs_modules_come_back_as_ours() -> None:
    _, net = nets()
    file = io.BytesIO()
    torch.save(net.eval(), file)
    file.seek(0)
    loaded = tt.load(file, weights_only=False)
    assert isinstance(loaded[0], nn.Linear) and not loaded.training
    x = torch.ones(3, 4, dtype=torch.float64)
    np.testing.assert_allclose(
        loaded(tt.ones(3, 4, dtype=tt.float64)).detach().numpy(), net(x).detach().numpy()
    )
    loaded.train()
    loaded(tt.randn(3, 4, dtype=tt.float64)).sum().backward()
    assert loaded[0].weight.grad.shape == (8, 4)


@pytest.mark.parametrize(
    "make",
    [
        lambda nn: nn.MultiheadAttention(4, 2),
        lambda nn: nn.Transformer(4, 2, 1, 1, 8, batch_first=True),
        lambda nn: nn.ModuleList([nn.LSTM(2, 3), nn.GRUCell(2, 3), nn.EmbeddingBag(4, 2)]),
        lambda nn: nn.ModuleDict({"loss": nn.CrossEntropyLoss(), "norm": nn.InstanceNorm2d(2)}),
        lambda nn: nn.Sequential(nn.Conv2d(1, 2, 3, padding_mode="circular"), nn.PReLU(), nn.GLU()),
        lambda nn: nn.AdaptiveLogSoftmaxWithLoss(4, 10, [3]),
    ],
)
def test_whole_modules_of_pytorchs_come_back_as_ours(make: Any) -> None:
    net, file = make(torch.nn), io.BytesIO()
    torch.save(net, file)
    file.seek(0)
    loaded = tt.load(file, weights_only=False)
    assert type(loaded) is type(make(nn)) and repr(loaded) == repr(make(nn))
    ours, theirs = loaded.state_dict(), net.state_dict()
    assert {key: x.tolist() for key, x in ours.items()} == {
        key: x.tolist() for key, x in theirs.items()
    }


def test_layouts_of_pytorchs_come_back_as_ours() -> None:
    assert from_torch({"layout": torch.strided})["layout"] is tt.strided


def test_named_results_of_pytorchs_come_back_as_ours() -> None:
    file = io.BytesIO()
    torch.save(torch.tensor([[1.0, 5.0], [7.0, 3.0]]).max(0), file)
    file.seek(0)
    found = tt.load(file, weights_only=False)
    assert isinstance(found, tt.return_types.max)
    assert found.values.tolist() == [7.0, 5.0] and found.indices.tolist() == [1, 0]


# -- files -----------------------------------------------------------------------------------------


def test_save_and_load_accept_paths_and_open_files(tmp_path: Path) -> None:
    for path in (tmp_path / "a.pt", str(tmp_path / "b.pt")):
        tt.save({"x": tt.arange(3)}, path)
        assert torch.load(path)["x"].tolist() == tt.load(path)["x"].tolist() == [0, 1, 2]
    with open(tmp_path / "c.pt", "wb") as file:
        file.write(b"before")
        tt.save(tt.arange(3), file)
    with open(tmp_path / "c.pt", "rb") as file:
        file.seek(6)
        assert tt.load(file).tolist() == [0, 1, 2]
        file.seek(6)
        assert torch.load(file).tolist() == [0, 1, 2]


def test_save_and_load_work_with_pipes() -> None:
    """Files that cannot seek."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as source:
        with os.fdopen(writing, "wb", buffering=0) as sink:
            tt.save(tt.arange(3), sink)
        assert tt.load(source).tolist() == [0, 1, 2]


@pytest.mark.parametrize("options", [{}, {"weights_only": False}])
def test_mapped_files_are_not_written_to(tmp_path: Path, options: Any) -> None:
    for library in (tt, torch):
        path = tmp_path / library.__name__
        library.save({"x": library.arange(1000.0), "e": library.zeros(0)}, path)
        before = path.read_bytes()
        loaded = tt.load(path, mmap=True, **options)
        assert loaded["x"].sum().item() == 499_500.0 and loaded["e"].shape == (0,)
        loaded["x"].zero_()
        assert path.read_bytes() == before
    with pytest.raises(ValueError, match="to use mmap=True"):
        tt.load(io.BytesIO(before), mmap=True)


def test_torch_maps_what_we_write(tmp_path: Path) -> None:
    tt.save([tt.arange(1000.0), tt.ones(3, dtype=tt.int8), tt.ones(2)], tmp_path / "x.pt")
    loaded = torch.load(tmp_path / "x.pt", mmap=True)
    assert loaded[0].sum() == 499_500 and loaded[2].tolist() == [1.0, 1.0]
    assert all(tensor.data_ptr() % 64 == 0 for tensor in loaded)


def test_a_big_endian_file_is_read() -> None:
    """What a big-endian machine writes differs by this record and the order of the bytes."""
    import zipfile

    file, foreign = io.BytesIO(), io.BytesIO()
    tt.save([tt.arange(3, dtype=tt.int16), tt.tensor([1 + 2j])], file)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(foreign, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("byteorder"):
                data = b"big" if sys.byteorder == "little" else b"little"
            elif "/data/" in name:
                kind = "int16" if name.endswith("0") else "complex64"
                data = np.frombuffer(data, kind).byteswap().tobytes()
            new.writestr(name, data)
    foreign.seek(0)
    loaded = tt.load(foreign)
    assert loaded[0].tolist() == [0, 1, 2] and loaded[1].tolist() == [1 + 2j]


def test_a_failed_save_leaves_the_file_alone(tmp_path: Path) -> None:
    tt.save(tt.ones(2), tmp_path / "x.pt")
    with pytest.raises((pickle.PicklingError, AttributeError)):
        tt.save([tt.zeros(2), lambda: 0], tmp_path / "x.pt")
    assert tt.load(tmp_path / "x.pt").tolist() == [1.0, 1.0]


def test_numpys_files_are_recognised(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(3))
    np.savez(tmp_path / "x.npz", a=np.ones(2), b=np.zeros((), np.int32))
    assert tt.load(tmp_path / "x.npy").tolist() == [0, 1, 2]
    loaded = tt.load(tmp_path / "x.npz")
    assert loaded["a"].dtype is tt.float64 and loaded["b"].dtype is tt.int32
    np.save(tmp_path / "o.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(RuntimeError, match="allow_pickle"):
        tt.load(tmp_path / "o.npy")


def test_reading_needs_no_torch(tmp_path: Path) -> None:
    torch.save({"x": torch.ones(2), "p": torch.nn.Parameter(torch.ones(1))}, tmp_path / "x.pt")

    def program(path: str) -> None:
        import sys

        sys.modules["torch"] = None
        import tinytorch as tt

        loaded = tt.load(path)
        print(loaded["x"].tolist(), type(loaded["p"]).__name__)

    assert run(program, str(tmp_path / "x.pt")) == "[1.0, 1.0] Parameter"
