"""Checkpoints below float32: as they are where the dtypes are installed, else as float32."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import tinytorch as tt
from tests.fresh import run

pytest.importorskip("ml_dtypes", reason="the extra [lowp] is not installed")
pytestmark = pytest.mark.skipif(
    "config.getoption('--backend') != 'numpy'", reason="cpu means numpy there"
)

VALUES = {"bfloat16": [0.1, -3.0, 1e30], "float8_e4m3fn": [0.1, -3.0, 400.0],
          "float8_e5m2": [0.1, -3.0, 5e4]}  # fmt: skip


def weights(lib: Any) -> dict[str, Any]:
    made = {n: lib.tensor(values).to(getattr(lib, n)) for n, values in VALUES.items()}
    return {**made, "tied": made["bfloat16"][1:]}


def saved(lib: Any, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    lib.save(weights(lib), file, **options)
    file.seek(0)
    return file


def test_pytorchs_weights_are_read_as_they_are_or_as_float32(torch: Any) -> None:
    for new in (True, False):
        file = saved(torch, _use_new_zipfile_serialization=new)
        for upcast in (None, True):
            file.seek(0)
            found = tt.load(file, upcast=upcast)
            for name, wanted in weights(torch).items():
                same = found[name].dtype.name == repr(wanted.dtype).removeprefix("torch.")
                assert same if upcast is None else found[name].dtype is tt.float32
                assert found[name].float().tolist() == wanted.float().tolist()
            found["bfloat16"][1] = 7.0
            assert found["tied"][0].item() == 7.0


def test_pytorch_reads_what_was_saved(torch: Any) -> None:
    found = torch.load(saved(tt))
    for name, wanted in weights(torch).items():
        assert found[name].dtype == wanted.dtype and torch.equal(found[name], wanted)


def test_without_ml_dtypes_bfloat16_is_read_as_float32_with_a_warning(tmp_path: Path) -> None:
    def program(path: str) -> None:
        import sys
        import warnings

        sys.modules["ml_dtypes"] = None  # type: ignore[assignment]
        import tinytorch as tt

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = tt.load(path)
            tt.load(path)
        # one warning for each dtype, in the first load only
        messages = [str(each.message) for each in caught]
        assert len(messages) == 3 and all("ml_dtypes" in each for each in messages), messages
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tt.load(path, upcast=True)
        try:
            tt.load(path, upcast=False)
        except TypeError as error:
            assert "install the package ml_dtypes" in str(error)
        else:
            raise AssertionError("expected a TypeError")
        for name, tensor in found.items():
            assert tensor.dtype is tt.float32
            print(name, tensor.tolist())

    path = tmp_path / "weights.pt"
    path.write_bytes(saved(tt).getvalue())
    printed = run(program, str(path))
    wanted = "".join(f"{n} {each.float().tolist()}\n" for n, each in weights(tt).items())
    assert printed == wanted.strip()


@pytest.mark.parametrize("mmap", [False, True])
def test_safetensors_are_read_without_the_package(tmp_path: Path, torch: Any, mmap: bool) -> None:
    files = pytest.importorskip("safetensors.torch", reason="safetensors is not installed")
    path = tmp_path / "x.safetensors"
    wanted = {"e": torch.ones(0, 3), "s": torch.tensor(2), "b": torch.tensor([[True], [False]])}
    wanted |= {n: torch.tensor(values).to(getattr(torch, n)) for n, values in VALUES.items()}
    files.save_file(wanted, path, metadata={"format": "pt"})
    for upcast in (None, True):
        found = tt.load(path, mmap=mmap, upcast=upcast)
        assert found.keys() == wanted.keys()
        for name, tensor in wanted.items():
            low = name in VALUES
            assert found[name].dtype.name == (
                "float32" if low and upcast else repr(tensor.dtype).removeprefix("torch.")
            )
            assert found[name].shape == tensor.shape
            assert found[name].to(tt.float32).tolist() == tensor.float().tolist()
    found["s"].fill_(3)
    assert tt.load(path)["s"].item() == 2


def safetensors_file(header: str, data: bytes) -> io.BytesIO:
    return io.BytesIO(len(header).to_bytes(8, "little") + header.encode() + data)


def test_a_mapped_file_need_not_fit_memory(tmp_path: Path) -> None:
    """A sparse file of a terabyte is opened, and one number of it read."""
    path, count = tmp_path / "large.safetensors", 1 << 38
    header = f'{{"x":{{"dtype":"F32","shape":[{count}],"data_offsets":[0,{4 * count}]}}}}'
    with path.open("wb") as file:
        file.write(safetensors_file(header, b"").getvalue())
        try:
            file.truncate(8 + len(header) + 4 * count)
        except OSError as error:
            pytest.skip(f"the file system has no such files: {error}")
    assert tt.load(path, mmap=True)["x"][count - 1].item() == 0.0


@pytest.mark.parametrize(("header", "data", "kind", "words"), [
    ('{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}', b"1234", RuntimeError, "cover"),
    ('{"x":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}', b"12345678", RuntimeError, "fit"),
    ('{"x":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}}', b"1", NotImplementedError, "F4"),
])  # fmt: skip
def test_loading_damaged_safetensors_raises(
    header: str, data: bytes, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        tt.load(safetensors_file(header, data))
