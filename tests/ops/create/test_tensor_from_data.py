"""``tensor``, ``as_tensor``, ``asarray`` and ``new_tensor``: what they make of what they get."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import compare

#: torch warns of what is slow, and of tensors that lose their history.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Creating a tensor from a list:UserWarning"),
    pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad:UserWarning"),
]

DATA: dict[str, Any] = {
    "float64": lambda lib: np.float64(1),
    "float32": lambda lib: np.float32(1),
    "int32": lambda lib: np.int32(1),
    "bool": lambda lib: np.bool_(True),
    "complex128": lambda lib: np.complex128(1j),
    "list of float64": lambda lib: [np.float64(1), np.float64(2)],
    "list of float32": lambda lib: [np.float32(1), np.float32(2)],
    "float64 last": lambda lib: [1.0, np.float64(2)],
    "int64 and float": lambda lib: [np.int64(1), 2.5],
    "uint8 and int8": lambda lib: [np.uint8(1), np.int8(2)],
    "uint8 and int": lambda lib: [np.uint8(1), 2],
    "nested scalars": lambda lib: [[np.float64(1), 2], [3, 4]],
    "arrays": lambda lib: [np.array([1.0, 2.0]), np.array([3.0, 4.0])],
    "int arrays": lambda lib: [np.array([1, 2], dtype=np.int16), [3, 4]],
    "array": lambda lib: np.array([[1, 2]], dtype=np.uint8),
    "0-d array": lambda lib: np.array(5.0),
    "tensors": lambda lib: [lib.tensor(1.0), lib.tensor(2.0)],
    "float64 tensors": lambda lib: [lib.tensor(1.0, dtype=lib.float64), lib.tensor(2.0)],
    "int32 tensors": lambda lib: [lib.tensor(1, dtype=lib.int32)],
    "tensors of one element": lambda lib: [lib.tensor([1.0]), lib.tensor([[3.0]])],
    "tensors among numbers": lambda lib: [[lib.tensor(1.0), 2], [3, 4]],
    "int tensor and float": lambda lib: [lib.tensor(1), 2.5],
    "tensor that requires grad": lambda lib: [lib.tensor([1.0], requires_grad=True)],
    "bools": lambda lib: [True, False],
    "bools and ints": lambda lib: [True, 2],
    "bools and floats": lambda lib: [[True], [2.0]],
    "ints and complex": lambda lib: [1, 2j],
    "nothing": lambda lib: [],
    "nested nothing": lambda lib: ([], []),
    "tuple": lambda lib: ((1, 2), [3, 4]),
    "range": lambda lib: range(3),
    "list of ranges": lambda lib: [range(3), range(3)],
    "bytearray": lambda lib: bytearray(b"ab"),
    "array of the standard library": lambda lib: array.array("d", [1.5, 2.5]),
    "shape": lambda lib: [lib.ones(2, 3).shape, (4, 5)],
    "least int": lambda lib: -(2**63),
    "infinite in float32": lambda lib: [1e39],
}


@pytest.mark.torch
@pytest.mark.parametrize("name", DATA)
def test_tensor_is_torchs(name: str) -> None:
    compare(lambda lib: (lib.tensor(DATA[name](lib)), lib.as_tensor(DATA[name](lib))), orders=0)


#: What torch's ``asarray`` takes for raw memory.
BUFFERS = {"bytearray", "array of the standard library"}


@pytest.mark.torch
@pytest.mark.parametrize("name", [name for name in DATA if name not in BUFFERS])
def test_asarray_is_torchs(name: str) -> None:
    compare(lambda lib: lib.asarray(DATA[name](lib)), orders=0)


@pytest.mark.torch
@pytest.mark.parametrize("name", DATA)
def test_default_dtype_counts_for_pythons_floats_alone(name: str) -> None:
    def call(lib: Any) -> Any:
        lib.set_default_dtype(lib.float64)
        try:
            return lib.tensor(DATA[name](lib))
        finally:
            lib.set_default_dtype(lib.float32)

    compare(call, orders=0)


WITH_DTYPE: dict[str, Any] = {
    "wrapped": lambda lib: (
        lib.tensor(-1, dtype=lib.uint8), lib.tensor([-255, 3], dtype=lib.uint8),
    ),
    "uint64": lambda lib: lib.tensor([2**63], dtype=lib.uint64),
    "truncated": lambda lib: (lib.tensor([1.5, -1.5], dtype=lib.int8), lib.tensor(2.5).int()),
    "bool": lambda lib: lib.tensor([0.5, 0], dtype=lib.bool),
    "long int": lambda lib: lib.tensor([1 << 70], dtype=lib.float32),
    "scalars": lambda lib: lib.tensor([np.float64(1), lib.tensor(2)], dtype=lib.int32),
    "new_tensor": lambda lib: (
        lib.zeros(2, dtype=lib.float64).new_tensor(np.float32(1)),
        lib.zeros(2).new_tensor([np.float64(1)]),
        lib.zeros(2, dtype=lib.int64).new_tensor([lib.tensor(1)]),
        lib.zeros(2).new_tensor(np.array([1, 2]), dtype=lib.int32),
    ),
    "scalar_tensor": lambda lib: (
        lib.scalar_tensor(3), lib.scalar_tensor(np.float64(3)), lib.scalar_tensor(True),
        lib.scalar_tensor(2, dtype=lib.int32, layout=lib.strided, pin_memory=False),
        lib.scalar_tensor(lib.tensor(2), requires_grad=True),
    ),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("name", WITH_DTYPE)
def test_tensor_of_data_and_a_dtype_is_pytorchs(name: str) -> None:
    compare(WITH_DTYPE[name], orders=0)


REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "ragged": ([[1], [1, 2]], ValueError, r"expected sequence of length 1 at dim 1 \(got 2\)"),
    "deeper ragged": ([[[1], [2]], [[1]]], ValueError, "length 2 at dim 1"),
    "a number for a list": ([[1, 2], 3], TypeError, "not a sequence"),
    "a list for an int": ([1, [2]], TypeError, "'list' object cannot be interpreted"),
    "a list for a float": ([1.0, [2.0]], TypeError, "must be real number, not list"),
    "several elements": ([np.float32(1), tt.ones(2)], ValueError, "only one element tensors"),
    "no elements": ([tt.ones(0)], ValueError, "only one element tensors"),
    "None": (None, RuntimeError, "Could not infer dtype of NoneType"),
    "None in a list": ([1, None], RuntimeError, "Could not infer dtype of NoneType"),
    "dict": ({1: 2}, RuntimeError, "Could not infer dtype of dict"),
    "iterator": (iter([1]), RuntimeError, "Could not infer dtype of list_iterator"),
    "str": ("a", TypeError, "invalid data type 'str'"),
    "list of str": (["a"], ValueError, "too many dimensions 'str'"),
    "str after a number": ([1, "a"], TypeError, "invalid data type 'str'"),
    "text array": (np.array(["a"]), TypeError, "supported types are"),
    "beyond int64": ([2**63], ValueError, "Overflow when unpacking long long"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_tensor_refuses_invalid_data(name: str) -> None:
    data, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        tt.tensor(data)


@pytest.mark.parametrize("value", [300, -256])
def test_numbers_beyond_the_dtype_are_refused(value: int) -> None:
    with pytest.raises(RuntimeError, match="cannot be converted to type uint8 without overflow"):
        tt.tensor([value], dtype=tt.uint8)


def test_asarray_shares_or_copies() -> None:
    x = tt.ones(2)
    assert tt.asarray(x) is x and tt.asarray(x, copy=False) is x
    copied = tt.asarray(x, copy=True)
    x.fill_(3)
    assert copied.tolist() == [1, 1]
    raw = x.detach()._data
    tt.asarray(raw)[0] = 7
    assert raw[0] == 7
    with pytest.raises(ValueError, match="dtype 'Float' into dtype 'Double'"):
        tt.asarray(x, dtype=tt.float64, copy=False)
    with pytest.raises(ValueError, match="can't alias arbitrary sequence"):
        tt.asarray([1.0], copy=False)


def test_asarray_keeps_history() -> None:
    x = tt.ones(2, requires_grad=True)
    tt.asarray(x, dtype=tt.float64, copy=True).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [1, 1]
    assert tt.asarray([1.0], requires_grad=True).requires_grad


@pytest.mark.parametrize("kind", ["e", "f", "d", "F", "D", "?", "b", "B", "h", "i", "q"])
def test_asarray_shares_the_memory_of_a_buffer(torch: Any, kind: str) -> None:
    if tt.get_backend() != "numpy":
        pytest.skip("memory of the host is shared on the host alone")
    for library in (tt, torch):
        source = np.ones(3, kind)
        dtype = library.from_numpy(source).dtype
        shared = library.asarray(memoryview(source), dtype=dtype, copy=False)
        copied = library.asarray(memoryview(source), dtype=dtype, copy=True)
        shared[1] = 0
        assert source.tolist() == [1, 0, 1] and copied.tolist() == [1, 1, 1]


@pytest.mark.parametrize("name", ["tensor", "as_tensor", "asarray"])
def test_numbers_in_another_byte_order_are_copied_in_that_of_the_processor(name: str) -> None:
    foreign = np.array([1, 256], dtype=np.dtype("i4").newbyteorder("S"))
    made = getattr(tt, name)(foreign)
    assert made.dtype is tt.int32 and made.tolist() == [1, 256]
    assert made.view(tt.int16).tolist() == np.array([1, 256], "i4").view("i2").tolist()
