"""Storages made without a tensor: of a size, of numbers, of a buffer or a file, and by dtype."""

from __future__ import annotations

import copy
import pickle
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tinytorch as tt
from tests.oracles import libraries

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")

BYTES = bytearray([0, 1, 2, 3, 64, 5, 6, 64])
NAMES = (
    "Bool", "Byte", "Char", "ComplexDouble", "ComplexFloat", "Double", "Float", "Half", "Int",
    "Long", "Short",
)  # fmt: skip


def outcomes(case: Callable[[Any], Any]) -> tuple[Any, Any]:
    """What two libraries answer, or the classes and first words of their errors."""
    answers = []
    for library in libraries():
        try:
            answers.append(case(library))
        except (NotImplementedError, RuntimeError, TypeError, ValueError) as error:
            answers.append((type(error), str(error).replace("tinytorch", "torch")))
    return answers[0], answers[1]


#: name: what comes of storages made of sizes, numbers, buffers and other storages.
MADE: dict[str, Callable[[Any], Any]] = {
    "no size": lambda t: len(t.TypedStorage()),
    "a size": lambda t: (t.TypedStorage(3, dtype=t.int16).nbytes(), t.FloatStorage(2).nbytes()),
    "the default dtype": lambda t: str(t.TypedStorage(1).dtype).split(".")[1],
    "fractions as ints": lambda t: t.TypedStorage([1.5, 2], dtype=t.int32).tolist(),
    "a tuple": lambda t: t.DoubleStorage((1, 2)).tolist(),
    "complex numbers": lambda t: t.ComplexFloatStorage([1, 2j]).complex_double().tolist(),
    "memory": lambda t: t.IntStorage(wrap_storage=t.UntypedStorage([1, 0, 0, 0])).tolist(),
    "written through": lambda t: [
        (s.fill_(7), u.tolist()) for u in [t.UntypedStorage([1, 2])]
        for s in [t.ByteStorage(wrap_storage=u)]][0][1],
    "a copy of a storage": lambda t: [
        (copy.copy(s).fill_(0), s.tolist()) for s in [t.CharStorage([1, 2])]][0][1],
    "pickled": lambda t: pickle.loads(pickle.dumps(t.IntStorage([1, 2]))).tolist(),
    "moved to where it is": lambda t: [
        s.to(device="cpu") is s for s in [t.UntypedStorage(1, device="cpu")]],
    "its size in memory": lambda t: sys.getsizeof(t.FloatStorage(100)) - sys.getsizeof(
        t.FloatStorage(0)),
    "facts": lambda t: [
        (s.type(), s.is_sparse, s.filename, s.resizable()) for s in (
            t.UntypedStorage(1), t.LongStorage(1), t.BoolStorage([True]))],
    "names": lambda t: t.HalfStorage([1]).pickle_storage_type(),
    "complex numbers' bytes turned around": lambda t: [
        (s.byteswap(t.complex64), s.tolist()) for s in [t.UntypedStorage(range(16))]],
    "resized": lambda t: [
        s.nbytes() for s in [t.IntStorage([1, 2])] for n in (3, 1) if s.resize_(n) or True],
    "meta, typed, resized": lambda t: [
        s.size() for s in [t.TypedStorage([1, 2], device="meta")] if s.resize_(9) or True],
    "in memory that is not pinned": lambda t: t.FloatStorage(1).is_pinned(),
    "untyped": lambda t: t.ShortStorage([258])._untyped_storage.tolist(),
    "bytes of a buffer": lambda t: t.ByteStorage.from_buffer(BYTES).tolist(),
    "bytes by the other name": lambda t: t.UntypedStorage.from_buffer(
        BYTES, dtype=t.uint8).tolist(),
    "booleans of a buffer": lambda t: t.BoolStorage.from_buffer(BYTES, "big").tolist(),
    "great ends first": lambda t: t.ShortStorage.from_buffer(BYTES, "big").tolist(),
    "a part of a buffer": lambda t: t.FloatStorage.from_buffer(BYTES, "little", 1, 4).tolist(),
    "this machine's order": lambda t: t.IntStorage.from_buffer(BYTES, "native").tolist(),
    "another order": lambda t: t.IntStorage.from_buffer(BYTES, "middle"),
    "half a number": lambda t: t.IntStorage.from_buffer(BYTES[:6], "big"),
    "meta, resized": lambda t: t.UntypedStorage(3, device="meta").resize_(10).nbytes(),
    "meta, typed": lambda t: t.TypedStorage(3, device="meta", dtype=t.int16).nbytes(),
    "meta, shown": lambda t: repr(t.UntypedStorage(3, device="meta")).replace("tiny", ""),
    "meta, a number": lambda t: t.UntypedStorage(3, device="meta")[0],
    "meta, nothing": lambda t: t.UntypedStorage(0, device="meta")[0],
    "meta, a list": lambda t: t.ones(2).to("meta").storage().tolist(),
    "meta, copied": lambda t: t.UntypedStorage(3, device="meta").cpu(),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("name", MADE)
def test_typed_storages_of_sizes_lists_and_storages_are_pytorchs(name: str) -> None:
    ours, theirs = outcomes(MADE[name])
    assert ours == theirs


#: name: a call that is refused, and the words that both errors have.
REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "two sizes": (lambda t: t.FloatStorage(0, 0), "Too many positional arguments"),
    "a fraction for a size": (lambda t: t.FloatStorage(2.5), "Argument type not recognized"),
    "a tensor": (lambda t: t.TypedStorage(t.ones(2)), "Argument type not recognized"),
    "text": (lambda t: t.FloatStorage("ab"), "invalid data type 'str'"),
    "a dtype for a name": (lambda t: t.IntStorage(dtype=t.int32), "'dtype' cannot be specified"),
    "a device for a name": (lambda t: t.IntStorage(device="cpu"), "'device' cannot be specified"),
    "another keyword": (lambda t: t.IntStorage(kind=1), "unexpected keyword argument 'kind'"),
    "memory and a size": (
        lambda t: t.IntStorage(0, wrap_storage=t.UntypedStorage()), "No positional arguments"),
    "memory without dtype": (
        lambda t: t.TypedStorage(wrap_storage=t.UntypedStorage()), "'dtype' must be specified"),
    "memory as something": (
        lambda t: t.TypedStorage(wrap_storage=t.UntypedStorage(), dtype=0),
        "Argument 'dtype' must be torch.dtype"),
    "memory elsewhere": (
        lambda t: t.TypedStorage(wrap_storage=t.UntypedStorage(), dtype=t.int8, device="cpu"),
        "Argument 'device' should not be specified"),
    "memory with a dtype": (
        lambda t: t.IntStorage(wrap_storage=t.IntStorage()),
        "Argument 'wrap_storage' must be UntypedStorage"),
    "filled with a storage": (
        lambda t: t.IntStorage(1).fill_(t.IntStorage([1])), "cannot set item with value type"),
    "an order that is missing": (
        lambda t: t.IntStorage.from_buffer(BYTES), r"missing required argument 'byte_order'"),
    "more than there is": (
        lambda t: t.IntStorage.from_buffer(BYTES, "big", 3), "buffer has only [28] elements"),
    "from behind the end": (
        lambda t: t.ByteStorage.from_buffer(BYTES, "big", offset=9), "offset must be non-negative"),
    "for a tensor of another dtype": (
        lambda t: t.ones(2).set_(t.IntStorage([1])),
        "Expected a Storage of type [Ff]loat or an UntypedStorage, but got type Int"),
    "for a new tensor, likewise": (
        lambda t: t.ones(2).new(t.IntStorage([1])),
        "Expected a Storage of type Float or an UntypedStorage, but got type Int"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_typed_storages_of_unsupported_arguments_are_refused(torch: Any, name: str) -> None:
    call, words = REFUSED[name]
    kinds = []
    for library in (tt, torch):
        with pytest.raises((RuntimeError, TypeError, ValueError), match=words) as caught:
            call(library)
        kinds.append(caught.type)
    assert kinds[0] is kinds[1]


@pytest.mark.parametrize("name", NAMES)
def test_typed_storage_classes_have_pytorchs_names(torch: Any, name: str) -> None:
    for library in (tt, torch):
        kind = getattr(library, f"{name}Storage")
        made = kind([0, 1])
        assert isinstance(made, kind) and isinstance(made, library.TypedStorage)
        assert type(made) is library.TypedStorage and made.type() == f"torch.{name}Storage"
        assert made.dtype is kind.dtype and kind.__module__ == library.__name__
        others = [getattr(library, f"{other}Storage") for other in NAMES if other != name]
        assert not any(isinstance(made, other) for other in others)
        assert not isinstance(library.ones(1), kind)
    assert getattr(tt, f"{name}Storage").dtype.name == str(kind.dtype).removeprefix("torch.")


def test_from_file_of_a_typed_storage_counts_elements(torch: Any, tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    for library in (tt, torch):
        file.write_bytes(bytes(8))
        shared = library.FloatStorage.from_file(str(file), True, 2)
        shared.fill_(1.5)
        assert library.FloatStorage.from_file(str(file), False, 1).tolist() == [1.5]
        assert file.read_bytes() == bytes([0, 0, 192, 63] * 2)


def test_tensors_share_the_storages_they_are_made_of(torch: Any) -> None:
    for library in (tt, torch):
        memory = library.FloatStorage([1, 2, 3])
        for x in (library.Tensor(memory), library.FloatTensor(memory), library.ones(1).new(memory),
                  library.ones(1).new(memory.untyped())):  # fmt: skip
            memory[0] = 5
            assert x.tolist() == [5.0, 2.0, 3.0]
            x[0] = 1
            assert memory[0] == 1


def test_makers_of_typed_storages_are_deprecated() -> None:
    for make in (lambda: tt.TypedStorage(1), lambda: tt.FloatStorage(1)):
        with warnings.catch_warnings(), pytest.raises(UserWarning, match="is deprecated"):
            warnings.simplefilter("error")
            make()
