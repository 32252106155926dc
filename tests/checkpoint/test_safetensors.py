"""Files of safetensors whose headers are damaged or made up, beside the package ``safetensors``."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tinytorch as tt

oracle: Any = pytest.importorskip("safetensors.numpy")
SafetensorError: Any = pytest.importorskip("safetensors").SafetensorError


def contents(header: Any, size: int = 0) -> bytes:
    """A file with this header, as JSON or as bytes, and so many bytes after it."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(range(size))


def one(**fields: Any) -> bytes:
    """A file of one tensor of two numbers with other fields."""
    return contents({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **fields}}, 8)


def two(first: tuple[int, int], second: tuple[int, int], size: int) -> bytes:
    """A file of two tensors that lie at these offsets."""
    places = zip("ab", (first, second))
    return contents(
        {
            name: {"dtype": "U8", "shape": [end - begin], "data_offsets": [begin, end]}
            for name, (begin, end) in places
        },
        size,
    )


ENTRY = b'"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}'
LATER = b'"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}'
FILES = {
    "right": one(),
    "scalar": one(shape=[], data_offsets=[0, 8], dtype="F64"),
    "in another order": two((4, 8), (0, 4), 8),
    "an empty tensor between": two((0, 0), (0, 8), 8),
    "an empty tensor inside": two((2, 2), (0, 4), 4),
    "overlap": two((0, 8), (4, 12), 12),
    "the same place": two((0, 8), (0, 8), 8),
    "a hole": two((0, 4), (8, 12), 12),
    "a hole at the start": two((4, 8), (8, 12), 12),
    "bytes at the end": two((0, 4), (4, 8), 12),
    "bytes that are missing": two((0, 4), (4, 8), 7),
    "negative offsets": one(data_offsets=[-8, 0]),
    "an end before the beginning": one(data_offsets=[8, 0]),
    "past the end": one(shape=[4], data_offsets=[0, 16]),
    "three offsets": one(data_offsets=[0, 4, 8]),
    "one offset": one(data_offsets=[8]),
    "offsets of floats": one(data_offsets=[0.0, 8.0]),
    "minus nothing": contents(one()[8:-8].replace(b"[0, 8]", b"[-0, 8]"), 8),
    "negative shape": one(shape=[-1, -2]),
    "a shape too large": one(shape=[2**40, 2**40]),
    "a shape too large, of no elements": one(shape=[2**63, 2, 0], data_offsets=[0, 0]),
    "a size of 70 bits": one(shape=[2**70]),
    "a shape of floats": one(shape=[2.0]),
    "a shape of bools": one(shape=[True, 2]),
    "a shape of text": one(shape="2"),
    "no shape": one(shape=None),
    "another size": one(shape=[3]),
    "an unknown dtype": one(dtype="X32"),
    "a dtype in small letters": one(dtype="f32"),
    "a dtype that is a number": one(dtype=3),
    "a field more": one(more=1),
    "two tensors of one name": contents(b"{" + ENTRY + b"," + LATER + b"}", 8),
    "two dtypes": contents(b"{" + ENTRY[:-1] + b',"dtype":"F32"}}', 4),
    "two maps of metadata": contents(b'{"__metadata__":{},"__metadata__":{},' + ENTRY + b"}", 4),
    "metadata": contents(b'{"__metadata__":{"x":"1"},' + ENTRY + b"}", 4),
    "metadata of nothing": contents(b'{"__metadata__":null,' + ENTRY + b"}", 4),
    "metadata that is a list": contents(b'{"__metadata__":[1],' + ENTRY + b"}", 4),
    "metadata of numbers": contents(b'{"__metadata__":{"x":1},' + ENTRY + b"}", 4),
    "metadata of maps": contents(b'{"__metadata__":{"x":{}},' + ENTRY + b"}", 4),
    "a field missing": contents({"a": {"dtype": "F32", "shape": [0]}}),
    "an entry that is null": contents({"a": None}),
    "a list": contents([1]),
    "a text": contents("x"),
    "nothing at all": b"",
    "no header": contents(b""),
    "no tensors": contents({}),
    "no tensors and bytes": contents({}, 8),
    "blanks around": contents(b"  {}  "),
    "zeros after": contents(b"{}\0\0"),
    "no UTF-8": contents(b'{"\xff":1}'),
    "half of a pair": contents(b'{"\\ud800' + ENTRY[2:] + b"}", 4),
    "a byte order mark": contents(b"\xef\xbb\xbf{}"),
    "JSON that ends": contents(b'{"a":'),
    "a thousand lists": contents(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "an unknown field 125 deep": one(other=json.loads("[" * 125 + "]" * 125)),
    "an unknown field 126 deep": one(other=json.loads("[" * 126 + "]" * 126)),
    "brackets in a text": one(other='\\"' + "[{" * 200),
    "not a number": one().replace(b"[2]", b"NaN"),
    "too long a header": (100_000_001).to_bytes(8, "little") + b"{}",
    "a header of 2 ** 63 bytes": (2**63).to_bytes(8, "little") + b"{}",
    "a header that is cut off": (50).to_bytes(8, "little") + b"{}",
    "three bytes": b"\0\0\0",
}


def read(load: Callable[[], Any]) -> Any:
    """The tensors as lists, or None for an error."""
    try:
        return {name: value.tolist() for name, value in load().items()}
    except (RuntimeError, SafetensorError):
        return None


def check_loading(data: bytes, path: Path) -> None:
    """Check that ``load`` reads what safetensors reads, and refuses the rest by one class."""
    path.write_bytes(data)
    right = read(lambda: oracle.load(data))
    assert read(lambda: tt.load(path)) == right
    assert read(lambda: tt.load(path, mmap=True)) == right


@pytest.mark.parametrize("name", FILES)
def test_files_that_safetensors_refuses_are_refused(name: str, tmp_path: Path) -> None:
    check_loading(FILES[name], tmp_path / "x.safetensors")


def test_damaged_files_are_refused_where_safetensors_refuses_them(tmp_path: Path) -> None:
    whole = oracle.save({"a": tt.arange(6.0).reshape(2, 3).numpy(), "b": tt.ones(3).numpy()})
    generator = random.Random(0)
    for _ in range(400):
        data = bytearray(whole)
        if generator.random() < 0.3:
            del data[generator.randrange(len(data)) :]
        for _ in range(generator.choice([1, 1, 2])):
            if data:
                data[generator.randrange(min(len(data), 150))] = generator.randrange(256)
        check_loading(bytes(data), tmp_path / "x.safetensors")


def test_a_refusal_names_the_file_and_the_entry(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    path.write_bytes(FILES["overlap"])
    with pytest.raises(RuntimeError, match=r"weights\.safetensors: entry 'b': invalid offset"):
        tt.load(path)
    path.write_bytes(contents(b"{" + ENTRY + b"," + ENTRY + b"}", 4))
    with pytest.raises(RuntimeError, match=r"weights\.safetensors: entry 'a': there are two"):
        tt.load(path)  # the format forbids it, and the package takes the last one
