"""Storages in checkpoints: written and read as PyTorch's, and shared as they were."""

from __future__ import annotations

import gzip
import importlib
import io
import pickle
import tempfile
from pathlib import Path
from typing import Any

import pytest

import tinytorch as tt
from tests.oracles import libraries

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")]


def saved(library: Any, obj: Any, new: bool) -> io.BytesIO:
    file = io.BytesIO()
    library.save(obj, file, _use_new_zipfile_serialization=new)
    file.seek(0)
    return file


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("new", [True, False])
@pytest.mark.parametrize("reader", ["tinytorch", "torch"])
@pytest.mark.parametrize("writer", ["tinytorch", "torch"])
def test_storages_share_memory_with_tensors(
    writer: str, reader: str, new: bool, weights_only: bool
) -> None:
    w, r = (importlib.import_module(name) for name in (writer, reader))
    x = w.arange(6.0, device="cpu")
    things = [x.storage(), x, x[2:4], {"again": x.storage(), "alone": w.IntStorage([1, 2])}]
    storage, whole, part, others = r.load(saved(w, things, new), weights_only=weights_only)
    assert type(storage) is type(others["again"]) is type(others["alone"]) is r.TypedStorage
    assert storage.dtype is r.float32 and others["alone"].dtype is r.int32
    storage[2] = 9.0
    assert whole.tolist() == others["again"].tolist() == [0.0, 1.0, 9.0, 3.0, 4.0, 5.0]
    assert part.tolist() == [9.0, 3.0] and others["alone"].tolist() == [1, 2]


@pytest.mark.parametrize("weights_only", [True, False])
def test_untyped_storages_can_be_saved_without_tensors(weights_only: bool) -> None:
    _, torch = libraries()
    for writer, reader in ((tt, tt), (torch, tt), (tt, torch)):
        x = writer.arange(4, dtype=writer.uint8, device="cpu")
        memory, part = x.untyped_storage(), writer.UntypedStorage([7, 8, 9])[1:]
        found = reader.load(saved(writer, [memory, part], True), weights_only=weights_only)
        # PyTorch reads bytes as a TypedStorage of them.
        assert [storage.tolist() for storage in found] == [[0, 1, 2, 3], [8, 9]]
        assert isinstance(found[0], (reader.UntypedStorage, reader.TypedStorage))


def test_one_memory_has_one_dtype() -> None:
    for library in libraries():
        x = library.ones(2, device="cpu")
        with pytest.raises(RuntimeError, match="view the same data as different types"):
            library.save([x, x.untyped_storage()], io.BytesIO())


def test_a_storage_of_a_dtype_that_numpy_lacks_can_be_saved() -> None:
    _, torch = libraries()
    file = saved(torch, [torch.ones(2, dtype=torch.bfloat16).storage(), torch.ones(1)], True)
    storage, one = tt.load(file, map_location="cpu")
    assert storage.nbytes() == 4 and one.tolist() == [1.0]


@pytest.mark.parametrize("new", [True, False])
def test_save_flushes_an_open_file(tmp_path: Path, new: bool) -> None:
    for library in libraries():
        with tempfile.NamedTemporaryFile(dir=tmp_path) as file:
            library.save(library.ones(2), file, _use_new_zipfile_serialization=new)
            copy = tmp_path / "copy.gz"
            copy.write_bytes(gzip.compress(Path(file.name).read_bytes()))
        with gzip.open(copy) as packed:
            assert library.load(packed).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("weights_only", [True, False])
def test_meta_tensors_are_saved_and_loaded_without_values(weights_only: bool) -> None:
    _, torch = libraries()
    for writer, reader in ((tt, tt), (torch, tt), (tt, torch)):
        x = writer.ones(2, 3, dtype=writer.float16, device="meta").t()
        weight = writer.nn.Parameter(writer.empty(2**20, 2**22, device="meta"))
        found = reader.load(saved(writer, [x, weight], True), weights_only=weights_only)
        assert all(isinstance(t, reader.Tensor) and t.is_meta for t in found)
        assert found[0].dtype is reader.float16 and not found[0].requires_grad
        assert tuple(found[0].shape) == (3, 2) and found[0].stride() == (1, 3)
        assert isinstance(found[1], reader.nn.Parameter) and found[1].requires_grad
        assert tuple(found[1].shape) == (2**20, 2**22)


def test_texts_of_python_2_read_as_bytes() -> None:
    _, torch = libraries()
    data = saved(torch, [torch.ones(2), "text"], False).getvalue()
    for text in (b"storage", b"cpu", b"text"):
        # Python 3 writes BINUNICODE and a length of 4 bytes. Python 2 wrote its str as
        # SHORT_BINSTRING and a length of 1 byte.
        unicode = pickle.BINUNICODE + bytes([len(text), 0, 0, 0]) + text
        assert unicode in data
        data = data.replace(unicode, pickle.SHORT_BINSTRING + bytes([len(text)]) + text)
    for library in (tt, torch):
        options = {"weights_only": False, "encoding": "bytes"}
        ones, text = library.load(io.BytesIO(data), map_location="cpu", **options)
        assert ones.tolist() == [1.0, 1.0] and text == b"text"
