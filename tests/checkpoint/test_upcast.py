"""Checkpoints below float32: as they are where the dtypes are installed, else as float32."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tinytorch as tt

pytest.importorskip("ml_dtypes", reason="the extra [lowp] is not installed")

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


BLOCKED = """
import sys, warnings
sys.modules["ml_dtypes"] = None
import tinytorch as tt
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    found = tt.load(sys.argv[1])
    again = tt.load(sys.argv[1])
words = [str(each.message) for each in said]
assert len(words) == 3 and all("ml_dtypes" in each for each in words), words
with warnings.catch_warnings():
    warnings.simplefilter("error")
    tt.load(sys.argv[1], upcast=True)
try:
    tt.load(sys.argv[1], upcast=False)
except TypeError as error:
    assert "install the package ml_dtypes" in str(error)
else:
    raise AssertionError("expected a TypeError")
for name, tensor in found.items():
    assert tensor.dtype is tt.float32
    print(name, tensor.tolist())
"""


def test_without_ml_dtypes_they_are_read_as_float32_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "weights.pt"
    path.write_bytes(saved(tt).getvalue())
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, str(path)], check=True, stdout=subprocess.PIPE, text=True
    )
    wanted = "".join(f"{n} {each.float().tolist()}\n" for n, each in weights(tt).items())
    assert done.stdout == wanted
