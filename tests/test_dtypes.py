"""What stands for a dtype: its names, NumPy's, Python's types; and the limits of each."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tinytorch import dtypes

NUMBERS = ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
           "complex64 complex128").split()  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_numpys_spellings_of_a_dtype_are_taken(name: str) -> None:
    wanted, theirs = getattr(tt, name), np.dtype(name)
    spellings: list[Any] = [name, theirs, theirs.type, wanted]
    if name != "bool":
        spellings.append(theirs.str[1:])  # such as f4
    for spelling in spellings:
        assert tt.zeros(2, dtype=spelling).dtype is wanted
        assert tt.zeros(2).astype(spelling).dtype is wanted


def test_types_of_python_stand_for_the_widest_dtypes() -> None:
    for kind, wanted in ((bool, tt.bool), (int, tt.int64), (float, tt.float64),
                         (complex, tt.complex128)):  # fmt: skip
        assert tt.zeros(2, dtype=kind).dtype is wanted


@pytest.mark.parametrize("name", ["flot32", "q4", "f3", ""])
def test_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match="expected one of bool, .*got " + repr(name)):
        tt.zeros(2, dtype=name)


@pytest.mark.parametrize("name", [n for n in NUMBERS if n.startswith(("float", "complex"))])
def test_limits_of_floats_are_numpys(name: str) -> None:
    ours, theirs = tt.finfo(getattr(tt, name)), np.finfo(name)
    for limit in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "smallest_subnormal"):
        assert float(getattr(ours, limit)) == float(getattr(theirs, limit)), limit


@pytest.mark.parametrize("name", [n for n in NUMBERS if n.startswith(("int", "uint"))])
def test_limits_of_integers_are_numpys(name: str) -> None:
    ours, theirs = tt.iinfo(getattr(tt, name)), np.iinfo(name)
    assert (ours.bits, ours.min, ours.max) == (theirs.bits, theirs.min, theirs.max)


@pytest.mark.parametrize("dtype", [*dtypes.NAMED_ALONE, *dtypes.ALL], ids=repr)
def test_copies_of_a_dtype_are_the_dtype_itself(dtype: tt.dtype) -> None:
    assert copy.deepcopy(dtype) is copy.copy(dtype) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype


@pytest.mark.parametrize("dtype", dtypes.FLOAT8, ids=repr)
def test_finfo_of_float8_is_pytorchs(torch: Any, dtype: tt.dtype) -> None:
    theirs = torch.finfo(getattr(torch, dtype.name))
    assert all(getattr(tt.finfo(dtype), name) == getattr(theirs, name)
               for name in ("bits", "max", "min", "tiny", "smallest_normal", "dtype"))  # fmt: skip
    if dtype.name != "float8_e5m2fnuz":  # two bits of mantissa, and PyTorch's eps is 1/8
        assert tt.finfo(dtype).eps == theirs.eps


@pytest.mark.parametrize("name", [
    "alignment", "byteorder", "char", "descr", "fields", "hasobject", "isnative", "itemsize",
    "kind", "names", "num", "str", "type",
])  # fmt: skip
def test_attributes_of_dtypes_are_numpys(name: str) -> None:
    for dtype in (tt.bool, tt.uint8, tt.int64, tt.float16, tt.float32, tt.complex128):
        assert getattr(dtype, name) == getattr(np.dtype(dtype.name), name)
        assert dtype.newbyteorder("S") == np.dtype(dtype.name).newbyteorder("S")
