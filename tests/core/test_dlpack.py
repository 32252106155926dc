"""Memory shared with other libraries by DLPack, both ways."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

pytestmark = pytest.mark.skipif(
    "config.getoption('--backend') != 'numpy'", reason="NumPy takes memory of the CPU alone"
)


def test_from_dlpack_shares_memory() -> None:
    array = np.zeros(3)
    ours = tt.from_dlpack(array)
    ours += 1
    assert array.tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(TypeError, match="__dlpack__"):
        tt.from_dlpack([1.0])
    x = tt.ones(2, requires_grad=True)
    assert tt.from_dlpack(x).data_ptr() == x.data_ptr()


def test_memory_is_handed_to_other_libraries() -> None:
    x = tt.arange(6.0).reshape(2, 3)
    array = np.from_dlpack(x.t())
    array += 1
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]] and array.shape == (3, 2)
    kind, number = x.__dlpack_device__()
    assert (int(kind), number) == (1, 0)
    copy = np.from_dlpack(x, copy=True)
    copy += 1
    assert x[0, 0].item() == 1
    with pytest.raises(BufferError, match=r"require gradient, use tensor.detach\(\)"):
        np.from_dlpack(tt.ones(2, requires_grad=True))


def test_memory_is_shared_with_pytorch(torch: Any) -> None:
    theirs, x = torch.zeros(2), tt.zeros(2, 3)
    tt.from_dlpack(theirs).fill_(5)
    torch.from_dlpack(x).fill_(7)
    assert theirs.tolist() == [5.0, 5.0] and x.tolist() == [[7.0] * 3] * 2


def test_from_dlpack_copies_when_asked() -> None:
    array = np.zeros(2)
    assert tt.from_dlpack(array, device="cpu", copy=False).fill_(1).tolist() == array.tolist()
    tt.from_dlpack(array, copy=True).fill_(2)
    assert array.tolist() == [1.0, 1.0]


def test_capsules_are_consumed_only_once() -> None:
    # Unlike `np.from_dlpack`, `to_dlpack` accepts a tensor that requires grad: it detaches it.
    x = tt.zeros(2, requires_grad=True)
    capsule = tt.utils.dlpack.to_dlpack(x)
    tt.utils.dlpack.from_dlpack(capsule).fill_(3)
    assert x.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="capsules can be consumed only once"):
        tt.from_dlpack(capsule)


class Unversioned(ctypes.Structure):
    """The start of DLPack's ``DLManagedTensor``."""

    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2)]


class Versioned(ctypes.Structure):
    """The start of DLPack's ``DLManagedTensorVersioned``."""

    _fields_ = [("version", ctypes.c_uint32 * 2), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64),
                ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2)]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "kind"), [(b"dltensor", Unversioned), (b"dltensor_versioned", Versioned)]
)
def test_capsules_say_on_which_device_they_are(name: bytes, kind: Any) -> None:
    memory = kind(device=(7, 0))  # Vulkan
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    capsule = make(("PyCapsule_New", ctypes.pythonapi))(ctypes.addressof(memory), name, None)
    with pytest.raises(BufferError, match="no backend has devices of DLPack's type 7"):
        tt.from_dlpack(capsule)


def test_tensors_of_the_cpu_have_no_address_on_a_gpu() -> None:
    assert not hasattr(tt.ones(2), "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="on non-CUDA tensor type"):
        tt.ones(2).__cuda_array_interface__


@pytest.mark.parametrize("mix", [
    lambda ours, theirs: tt.add(ours, theirs), lambda ours, theirs: ours + theirs,
    lambda ours, theirs: theirs + ours, lambda ours, theirs: tt.stack([theirs]),
    lambda ours, theirs: theirs.add(ours),
])  # fmt: skip
def test_tensors_of_both_libraries_do_not_mix(torch: Any, mix: Any) -> None:
    """Each has a default ``__torch_function__`` that calls the other's function again."""
    with pytest.raises(TypeError):
        mix(tt.ones(2), torch.ones(2))
    assert tt.from_dlpack(torch.ones(2)).tolist() == [1, 1]


@pytest.mark.parametrize("name", """
    bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 complex64
    complex128 bfloat16 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz
""".split())  # fmt: skip
def test_every_dtype_of_dlpack_is_shared_both_ways(torch: Any, name: str) -> None:
    if name == "bfloat16" or name.startswith("float8"):
        pytest.importorskip("ml_dtypes", reason="the extra [lowp] is not installed")
    values, wide = [[0, 1, 2], [3, 1, 0]], "complex128" if name.startswith("c") else "float64"
    theirs = torch.tensor(values).to(getattr(torch, name))
    ours = tt.tensor(values).to(getattr(tt, name))

    def same(found: Any, wanted: Any) -> None:
        assert str(found.dtype).rpartition(".")[2] == name and found.shape == wanted.shape
        assert found.data_ptr() == wanted.data_ptr()
        libs = (torch, tt) if isinstance(found, torch.Tensor) else (tt, torch)
        a, b = (x.to(getattr(lib, wide)) for x, lib in zip((found, wanted), libs, strict=True))
        assert a.tolist() == b.tolist()

    for part in (lambda x: x, lambda x: x.t()[1:], lambda x: x[1, 1]):
        same(tt.from_dlpack(part(theirs)), part(theirs))
        same(torch.from_dlpack(part(ours)), part(ours))
        same(tt.from_dlpack(torch.utils.dlpack.to_dlpack(part(theirs))), part(theirs))
        same(torch.utils.dlpack.from_dlpack(tt.utils.dlpack.to_dlpack(part(ours))), part(ours))
    copy = torch.from_dlpack(ours, copy=True)
    assert copy.data_ptr() != ours.data_ptr() and copy.dtype == getattr(torch, name)
    assert tt.from_dlpack(tt.utils.dlpack.to_dlpack(ours)).dtype is ours.dtype
    assert tt.from_dlpack(theirs[:0]).shape == torch.from_dlpack(ours[:0]).shape == (0, 3)
    assert ours.__dlpack__(dl_device=(1, 0), copy=True, max_version=(1, 0)) is not None
