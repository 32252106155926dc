"""Checkpoints that are damaged, hostile or more than weights, and where tensors are put."""

from __future__ import annotations

import copyreg
import io
import os
import pickle
import random
import zipfile
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from strictcupy.backend import pretended_cuda

import tinytorch as tt
from tinytorch import nn

ON_NUMPY = pytest.mark.skipif(
    "config.getoption('--backend') != 'numpy'", reason="cpu means numpy there"
)


def saved(obj: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    tt.save(obj, file, **options)
    return file.getvalue()


def load(data: bytes, **options: Any) -> Any:
    return tt.load(io.BytesIO(data), **options)


def archive(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, data in files.items():
            made.writestr(f"archive/{name}", data)
    return file.getvalue()


def checkpoint(data_pkl: bytes, **storages: bytes) -> bytes:
    files = {"data.pkl": data_pkl, "version": b"3\n"}
    return archive(files | {f"data/{key}": data for key, data in storages.items()})


# -- damage ------------------------------------------------------------------------------------


def test_a_file_that_is_not_a_checkpoint_raises_pytorchs_error() -> None:
    with pytest.raises(EOFError, match="Ran out of input"):
        load(b"")
    with pytest.raises(pickle.UnpicklingError, match="invalid load key"):
        load(b"not a checkpoint")
    with pytest.raises(RuntimeError, match="Invalid magic number"):
        load(pickle.dumps({"a": 1}))
    with pytest.raises(RuntimeError, match="PytorchStreamReader failed reading zip archive"):
        load(b"PK\x03\x04 and nothing else")
    with pytest.raises(RuntimeError, match="TorchScript"):
        load(archive({"data.pkl": b"", "constants.pkl": b"", "version": b"3"}))


def test_an_archive_that_was_packed_again_is_read() -> None:
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(saved(tt.arange(100)))) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name))
    assert load(packed.getvalue()).sum().item() == 4950


def test_errors_name_the_missing_part_of_an_archive() -> None:
    with pytest.raises(RuntimeError, match="failed locating file data.pkl: file not found"):
        load(archive({"version": b"3\n"}))
    with zipfile.ZipFile(io.BytesIO(saved(tt.ones(2)))) as made:
        data_pkl = made.read("archive/data.pkl")
    with pytest.raises(RuntimeError, match="failed locating file data/0: file not found"):
        load(checkpoint(data_pkl))
    with pytest.raises(
        RuntimeError, match=r"file data/0: record size \(3 bytes\) .* expected size \(8"
    ):
        load(checkpoint(data_pkl, **{"0": b"abc"}))


@pytest.mark.parametrize("legacy", [False, True])
def test_every_truncation_is_an_error(legacy: bool) -> None:
    whole = saved([tt.arange(5), "text"], _use_new_zipfile_serialization=not legacy)
    for length in range(len(whole)):
        with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError)):
            load(whole[:length])


def test_damaged_pickles_are_unpickling_errors_or_load() -> None:
    """Whatever one changed byte makes of the pickle, it ends in one of a few ways."""
    with zipfile.ZipFile(io.BytesIO(saved({"a": tt.ones(2), "b": [1, (2.5, "c")]}))) as made:
        data_pkl, data = made.read("archive/data.pkl"), made.read("archive/data/0")
    refused = 0
    for position in range(len(data_pkl)):
        damaged = bytearray(data_pkl)
        damaged[position] ^= 1 << random.randrange(8)
        try:
            load(checkpoint(bytes(damaged), **{"0": data}))
        except (pickle.UnpicklingError, EOFError, RuntimeError, TypeError):
            refused += 1
    assert refused > len(data_pkl) // 4


@pytest.mark.parametrize("legacy", [False, True])
def test_damaged_files_are_clear_errors_or_load(legacy: bool) -> None:
    obj = {"a": tt.ones(2), "b": [1, (2.5, "c")]}
    whole = saved(obj, _use_new_zipfile_serialization=not legacy)
    for _ in range(1500):
        damaged = bytearray(whole)
        position = random.randrange(len(damaged))
        if random.random() < 0.7:
            damaged[position] = random.randrange(256)
        else:
            del damaged[position]
        # NotImplementedError is a RuntimeError
        with suppress(pickle.UnpicklingError, EOFError, RuntimeError, TypeError):
            load(bytes(damaged))


def test_files_of_the_wrong_kind_are_refused() -> None:
    not_a_file: Any = 5
    with pytest.raises(AttributeError, match="path-like|file-like object with a 'write'"):
        tt.save({}, not_a_file)
    with pytest.raises(AttributeError, match="file-like object with a 'read'"):
        tt.load(not_a_file)
    with pytest.raises(FileNotFoundError):
        tt.load("there is no such file.pt")
    with pytest.raises(RuntimeError, match="Parent directory there/is none does not exist"):
        tt.save({}, "there/is none/file.pt")


# -- weights only --------------------------------------------------------------------------------


class Runs:
    """Executes code when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.system, ("exit 1",)


class Point:
    """A class of a user's."""

    def __init__(self, x: int = 0) -> None:
        self.x = x


class Slotted:
    """Another, with slots."""

    __slots__ = ("x",)


@pytest.fixture(autouse=True)
def no_safe_globals() -> Any:
    tt.serialization.clear_safe_globals()
    yield
    tt.serialization.clear_safe_globals()


@pytest.mark.parametrize("options", [{}, {"_use_new_zipfile_serialization": False}])
def test_a_pickle_that_calls_code_is_refused(options: Any) -> None:
    data = saved({"evil": Runs()}, **options)
    for allowed in ([], [os.system]):
        with (
            tt.serialization.safe_globals(allowed),
            pytest.raises(
                pickle.UnpicklingError,
                match=r"(?s)Weights only load failed.*module posix is blocked",
            ),
        ):
            load(data)


PROBES = {
    "eval": b"cbuiltins\neval\n(X\x01\x00\x00\x001tR.",
    "getattr": b"cbuiltins\ngetattr\n.",
    "protocol 4": b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93.",
    "a method of what may be called": b"ccollections\nOrderedDict.fromkeys\n.",
    "an instance": b"(ios\nsystem\n.",
    "an object": b"(cos\nsystem\no.",
    "an extension": b"\x82\x01.",
    "a dtype called": b"ctorch\nfloat32\n(K\x01tR.",
    "a device called": b"ctorch\ndevice\n(X\x03\x00\x00\x00cputR(ctorch\nSize\ntR.",
    "a builder called by a builder": (
        b"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch\nfloat32\nctorch\nTensor\n)}tR."
    ),
    "a class called by a builder with a list": (
        b"ctorch._tensor\n_rebuild_from_type_v2\n](ctorch.nn.parameter\nParameter\n"
        b"ctorch\nTensor\n)}eR."
    ),
    "attributes of a class": b"ctorch\nTensor\n}X\x01\x00\x00\x00xK\x01sb.",
    "slots of a function": b"ctorch._utils\n_rebuild_tensor_v2\nN}X\x01\x00\x00\x00xK\x01s\x86b.",
    "a new object of a class": b"ctorch\nTensor\n)\x81.",
    "items of a class": b"ctorch\nTensor\nK\x00K\x01s.",
    "elements of a class": b"ctorch\nTensor\nK\x01a.",
    "bytes in another encoding": b"c_codecs\nencode\n(X\x01\x00\x00\x00aX\x05\x00\x00\x00idnatR.",
    "an unknown persistent id": b"K\x01Q.",
    "a storage of negative size": (
        b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu"
        b"J\xff\xff\xff\xfftQ."
    ),
    "a storage without a type": b"(X\x07\x00\x00\x00storageK\x01K\x01K\x01K\x01tQ.",
}


@pytest.mark.parametrize("name", PROBES)
def test_loading_calls_only_allowed_functions(name: str) -> None:
    with pytest.raises((pickle.UnpicklingError, TypeError)):
        load(checkpoint(PROBES[name]))


CALLED: list[int] = []


def called() -> None:
    """Notes that it was."""
    CALLED.append(1)


def test_an_extension_that_the_program_knows_is_not_called() -> None:
    copyreg.add_extension(__name__, "called", 241)
    try:
        assert pickle.loads(b"\x80\x02\x82\xf1.") is called  # and is kept from now on
        for data in (b"\x80\x02\x82\xf1)R.", checkpoint(b"\x80\x02\x82\xf1)R.")):
            with pytest.raises((pickle.UnpicklingError, RuntimeError), match="magic|operand"):
                load(data)
        assert not CALLED
    finally:
        copyreg.remove_extension(__name__, "called", 241)


def test_a_tensor_that_exceeds_its_storage_is_refused() -> None:
    ours = tt.arange(8)
    with zipfile.ZipFile(io.BytesIO(saved(ours))) as made:
        data_pkl, data = made.read("archive/data.pkl"), made.read("archive/data/0")
    assert data_pkl.count(b"K\x08\x85") == 1
    longer = data_pkl.replace(b"K\x08\x85", b"K\x09\x85")
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 64"):
        load(checkpoint(longer, **{"0": data}))


def test_user_classes_must_be_added_to_the_safe_globals() -> None:
    slotted = Slotted()
    slotted.x = 2  # type: ignore[attr-defined]
    data = saved({"p": Point(3), "s": slotted})
    with pytest.raises(pickle.UnpicklingError, match=r"GLOBAL .*\.Point was not an allowed"):
        load(data)
    assert load(data, weights_only=False)["p"].x == 3
    tt.serialization.add_safe_globals([Point, Slotted])
    loaded = load(data)
    assert loaded["p"].x == 3 and loaded["s"].x == 2
    assert tt.serialization.get_safe_globals() == [Point, Slotted]
    with tt.serialization.safe_globals([nn.Linear]):
        assert nn.Linear in tt.serialization.get_safe_globals()
    assert nn.Linear not in tt.serialization.get_safe_globals()
    tt.serialization.clear_safe_globals()
    with pytest.raises(pickle.UnpicklingError):
        load(data)


def test_a_safe_global_may_go_by_another_name() -> None:
    with tt.serialization.safe_globals([(Point, "old.place.Point")]):
        loaded = load(checkpoint(b"cold.place\nPoint\n(K\x07tR."))
        assert type(loaded) is Point and loaded.x == 7
        assert tt.serialization.get_safe_globals() == [(Point, "old.place.Point")]
    with pytest.raises(ValueError, match="expected an object and its full name"):
        tt.serialization.add_safe_globals([(Point,)])


def test_unsafe_globals_are_listed_without_running_anything(tmp_path: Path) -> None:
    unsafe = tt.serialization.get_unsafe_globals_in_checkpoint
    tt.save({"p": Point(), "evil": Runs(), "x": tt.ones(2)}, tmp_path / "x.pt")
    assert unsafe(tmp_path / "x.pt") == [f"{__name__}.Point", "posix.system"]
    with tt.serialization.safe_globals([Point]):
        assert unsafe(tmp_path / "x.pt") == ["posix.system"]
    assert unsafe(io.BytesIO(saved(nn.Linear(1, 1).state_dict()))) == []


def test_weights_only_and_a_pickle_module_exclude_each_other() -> None:
    with pytest.raises(RuntimeError, match="explicit pickle_module"):
        load(saved(1), pickle_module=pickle, weights_only=True)
    assert load(saved(Point(4)), pickle_module=pickle).x == 4


def test_pickle_modules_are_used_if_they_can_write_names() -> None:
    seen = []

    class Pickler(pickle._Pickler):  # type: ignore[misc,name-defined]  # private to pickle
        def save(self, obj: Any, *args: Any, **more: Any) -> None:
            seen.append(obj)
            super().save(obj, *args, **more)

    module = SimpleNamespace(Pickler=Pickler, Unpickler=pickle.Unpickler)
    data = saved({"x": tt.ones(2)}, pickle_module=module)
    assert "x" in seen and load(data)["x"].tolist() == [1.0, 1.0]
    assert load(data, pickle_module=module)["x"].tolist() == [1.0, 1.0]
    in_c = SimpleNamespace(Pickler=type("Pickler", (pickle.Pickler,), {}))
    with pytest.raises(TypeError, match="subclass of pickle._Pickler"):
        saved(1, pickle_module=in_c)


def test_errors_name_kinds_of_tensors_that_tinytorch_lacks() -> None:
    for name, what in (
        ("_rebuild_nested_tensor", "a nested tensor"), ("_rebuild_qtensor", "a quantized tensor")
    ):  # fmt: skip
        with pytest.raises(NotImplementedError, match=what):
            load(checkpoint(f"ctorch._utils\n{name}\n.".encode()))
    with pytest.raises(NotImplementedError, match="dtype float8_e8m0fnu"):
        load(checkpoint(b"ctorch\nfloat8_e8m0fnu\n."))


@ON_NUMPY
def test_a_dtype_the_backend_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        type(tt.zeros(1).backend), "supports", lambda self, dtype: dtype.name != "bfloat16"
    )
    pickled = (
        b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nBFloat16Storage\n"
        b"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQK\x00K\x02\x85K\x01\x85\x89"
        b"ccollections\nOrderedDict\n)RtR."
    )
    with pytest.raises(TypeError, match="dtype bfloat16, which the backend 'numpy' does not have"):
        tt.load(io.BytesIO(checkpoint(pickled, **{"0": b"\0\0\0\0"})), upcast=False)


# -- where to --------------------------------------------------------------------------------------


def test_map_location_takes_several_forms() -> None:
    data = saved(tt.arange(3, device="cpu"))
    forms: list[Any] = [
        "cpu",
        tt.device("cpu"),
        {"cpu": "cpu"},
        lambda storage, location: storage,
        lambda storage, location: None,
        tt.zeros(1, device="cpu").backend,
    ]
    for form in forms:
        loaded = load(data, map_location=form)
        assert loaded.tolist() == [0, 1, 2] and loaded.device == tt.device("cpu")
    seen = []
    load(data, map_location=lambda storage, location: seen.append(location))
    assert seen == ["cpu"]


@ON_NUMPY
def test_a_device_that_cannot_be_used_is_an_error() -> None:
    data = saved(tt.arange(3))
    with pytest.raises(RuntimeError, match="don't know how to restore data location"):
        load(data, map_location="abacus")
    with pytest.raises(TypeError, match="expected map_location to be a device"):
        load(data, map_location=2.5)


@ON_NUMPY
def test_tensors_go_back_to_their_gpu() -> None:
    with pretended_cuda(2):
        there = {"a": tt.arange(3, device="cuda:1"), "b": tt.ones(2, device="cuda:0"),
                 "c": tt.zeros(2)}  # fmt: skip
        base = tt.arange(6.0, device="cuda:1").reshape(2, 3)
        data = saved({**there, "base": base, "view": base.t()})
        loaded = load(data)
        assert [str(loaded[name].device) for name in "abc"] == ["cuda:1", "cuda:0", "cpu"]
        assert loaded["a"].tolist() == [0, 1, 2]
        loaded["base"].zero_()
        assert not loaded["view"].cpu().numpy().any() and loaded["view"].stride() == (1, 3)
        moved = load(data, map_location={"cuda:1": "cuda:0"})
        assert str(moved["a"].device) == "cuda:0"
        moved = load(data, map_location=lambda storage, location: storage.cuda(1))
        assert str(moved["c"].device) == "cuda:1"
        with pytest.raises(RuntimeError, match="tagged with cuda:7"):
            load(data, map_location={"cuda:0": "cuda:7"})
    host = load(data, map_location="cpu")
    assert all(tensor.device == tt.device("cpu") for tensor in host.values())
    np.testing.assert_array_equal(host["view"].numpy(), [[0, 3], [1, 4], [2, 5]])


@ON_NUMPY
def test_loading_for_a_missing_gpu_suggests_map_location(monkeypatch: pytest.MonkeyPatch) -> None:
    with pretended_cuda(1):
        data = saved(tt.ones(2, device="cuda"))

    def missing() -> Any:
        raise ModuleNotFoundError("No module named 'cupy'", name="cupy")

    from tinytorch import backends

    monkeypatch.setitem(backends._registry, "cupy", backends._Registration("cupy", missing))
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on .*map_location"):
        load(data)
    assert load(data, map_location="cpu").tolist() == [1.0, 1.0]
