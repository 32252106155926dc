"""Files of safetensors: a header in JSON, followed by the elements of the tensors.

Reference: https://github.com/huggingface/safetensors#format
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from itertools import accumulate
from typing import IO, Any, NamedTuple, NoReturn

from .. import backends, dtypes
from ..core.tensor import Tensor, wrap
from .names import LoadedStorage, StorageType, is_widened
from .storages import mapped_copy

_DTYPES = {
    "BOOL": dtypes.bool, "U8": dtypes.uint8, "I8": dtypes.int8, "U16": dtypes.uint16,
    "I16": dtypes.int16, "U32": dtypes.uint32, "I32": dtypes.int32, "U64": dtypes.uint64,
    "I64": dtypes.int64, "F16": dtypes.float16, "BF16": dtypes.bfloat16, "F32": dtypes.float32,
    "F64": dtypes.float64, "C64": dtypes.complex64, "F8_E4M3": dtypes.FLOAT8[0],
    "F8_E5M2": dtypes.FLOAT8[2],
}  # fmt: skip
#: Dtypes of the format that are not supported here.
_OTHERS = (
    "F4", "F6_E2M3", "F6_E3M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "F8_E4M3B11FNUZ",
)  # fmt: skip
#: Limits of the format: size of the header, numbers, and depth of nesting of Rust's parser.
_LONGEST = 100_000_000
_LARGEST = 2**64 - 1
_DEEPEST = 127


class _Entry(NamedTuple):
    """Tensor of the file, with offsets of its bytes from the end of the header."""

    name: str
    dtype: str
    shape: list[int]
    begin: int
    end: int


def is_safetensors(head: bytes) -> bool:
    """Whether a file begins as a file of safetensors: with a length, and a brace."""
    return len(head) == 9 and head[8:] == b"{" and int.from_bytes(head[:8], "little") <= _LONGEST


def read_safetensors(
    file: IO[bytes], restore: Callable[[LoadedStorage, str], LoadedStorage], mapped: bool
) -> dict[str, Tensor]:
    """Read the tensors of a file by name; if ``mapped``, their bytes are read when they are used.

    Raises:
        RuntimeError: If the format does not allow the header; the rest is not read then.
    """
    if sys.byteorder != "little":
        raise NotImplementedError("load(): safetensors' numbers have the other order of bytes here")
    try:
        entries = _read_header(file)
    except _Invalid as error:
        raise RuntimeError(f"load(): {getattr(file, 'name', 'the file')}: {error}") from None
    start = file.tell()
    data = mapped_copy(file) if mapped else None
    found = {}
    for entry in entries:
        memory: Any = data
        offset = start + entry.begin
        if data is None:
            file.seek(offset)
            memory, offset = bytearray(file.read(entry.end - entry.begin)), 0
        found[entry.name] = _tensor(entry, memory, offset, restore)
    return found


# -- the header ----------------------------------------------------------------------------------


class _Invalid(Exception):
    """Error: the format does not allow the header."""


def _read_header(file: IO[bytes]) -> list[_Entry]:
    """Read and check the header; the file is at the end of the header afterwards."""
    head = file.read(8)
    length = int.from_bytes(head, "little")
    if len(head) < 8 or length > _LONGEST:
        raise _Invalid("the header is too small" if len(head) < 8 else "the header is too large")
    text = file.read(length)
    if len(text) < length:
        raise _Invalid("the file is cut off in its header")
    start = file.tell()
    size = file.seek(0, os.SEEK_END) - start
    file.seek(start)
    header = _parse(text)
    _check_metadata([value for name, value in header if name == "__metadata__"])
    entries = [_read_entry(name, value) for name, value in header if name != "__metadata__"]
    if len({entry.name for entry in entries}) < len(entries):
        names = [entry.name for entry in entries]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Invalid(f"entry {twice!r}: there are two of that name")
    position = 0
    for entry in sorted(entries, key=lambda entry: (entry.begin, entry.end)):
        if entry.begin != position or entry.end < entry.begin:
            raise _Invalid(
                f"entry {entry.name!r}: invalid offset, expected bytes from {position}, got "
                f"{entry.begin} to {entry.end}"
            )
        _check_size(entry)
        position = entry.end
    if position != size:
        raise _Invalid(
            f"incomplete metadata, file not fully covered: the entries have {position} bytes, "
            f"and the file {size}"
        )
    return entries


class _Pairs(list[tuple[str, Any]]):
    """Object of JSON with all its names, also repeated ones."""


def _parse(text: bytes) -> _Pairs:
    """Parse the header as a JSON object; its objects are lists of pairs, which keep duplicates."""
    try:
        header = json.loads(
            text.decode(),
            object_pairs_hook=_Pairs,
            parse_constant=_refuse_constant,
            # Rust's parser reads -0 as a float.
            parse_int=lambda digits: float(digits) if digits[0] == "-" else int(digits),
        )
        brackets = re.sub(rb'"(?:\\.|[^"\\])*"|[^][{}"]+', b"", text)
        if max(accumulate(1 if each in b"[{" else -1 for each in brackets)) > _DEEPEST:
            raise RecursionError
    except RecursionError:
        raise _Invalid("invalid JSON in header: it is nested too deeply") from None
    except ValueError as error:
        raise _Invalid(f"invalid JSON in header: {error}") from None
    if not isinstance(header, _Pairs):
        raise _Invalid("invalid JSON in header: expected an object")
    return header


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a value of JSON")


def _check_metadata(found: list[Any]) -> None:
    """Check the values of all entries ``__metadata__``: one map from text to text at most."""
    if len(found) > 1:
        raise _Invalid("entry '__metadata__': there are two of that name")
    for pairs in found:
        if pairs is None:
            continue
        if not isinstance(pairs, _Pairs) or not all(_is_text(value) for _, value in pairs):
            raise _Invalid("entry '__metadata__': expected a map from text to text")
        if not all(_is_text(name) for name, _ in pairs):
            raise _Invalid("entry '__metadata__': a name is not valid text")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not any("\ud800" <= each <= "\udfff" for each in value)


def _read_entry(name: str, value: Any) -> _Entry:
    """Check the header's value for the tensor ``name`` and return it as an ``_Entry``.

    The value is an object with three fields, or a list of the three in order, which the parser of
    the package ``safetensors`` accepts, too.
    """
    fields = ("dtype", "shape", "data_offsets")
    # For each field the values given: several if an object repeats it, none if it lacks it.
    if isinstance(value, _Pairs):
        given = [[each for key, each in value if key == field] for field in fields]
    elif isinstance(value, list) and len(value) == len(fields):
        given = [[each] for each in value]
    else:
        raise _Invalid(f"entry {name!r}: expected an object with {', '.join(fields)}")
    for field, values in zip(fields, given):
        if len(values) != 1:
            raise _Invalid(f"entry {name!r}: expected one {field!r}, got {len(values)}")
    dtype, shape, offsets = (values[0] for values in given)
    if not _is_text(name):
        raise _Invalid(f"entry {name!r}: the name is not valid text")
    if not isinstance(dtype, str) or dtype not in _DTYPES and dtype not in _OTHERS:
        raise _Invalid(f"entry {name!r}: unknown dtype {dtype!r}")
    for field, numbers in (("shape", shape), ("data_offsets", offsets)):
        if type(numbers) is not list or not all(map(_is_size, numbers)):
            raise _Invalid(f"entry {name!r}: {field!r} has to be a list of sizes, got {numbers!r}")
    if len(offsets) != 2:
        raise _Invalid(f"entry {name!r}: 'data_offsets' has to have 2 elements, got {offsets!r}")
    return _Entry(name, dtype, shape, *offsets)


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _LARGEST


def _check_size(entry: _Entry) -> None:
    """Check that the shape and the dtype of an entry fit the number of its bytes."""
    if entry.dtype in _OTHERS:
        raise NotImplementedError(
            f"load(): entry {entry.name!r} has dtype {entry.dtype}, which tinytorch does not have"
        )
    size = 1
    for factor in (*entry.shape, _DTYPES[entry.dtype].itemsize):
        size *= factor
        if size > _LARGEST:
            raise _Invalid(f"entry {entry.name!r}: shape {entry.shape} has too many bytes")
    if size != entry.end - entry.begin or max(entry.shape, default=0) > sys.maxsize:
        raise _Invalid(
            f"entry {entry.name!r}: shape {entry.shape} and dtype {entry.dtype} do not fit the "
            f"{entry.end - entry.begin} bytes that it has in the file"
        )


def _tensor(
    entry: _Entry, memory: Any, offset: int, restore: Callable[[LoadedStorage, str], LoadedStorage]
) -> Tensor:
    """Return the tensor of an entry.

    Args:
        entry: The entry.
        memory: Buffer that contains its bytes.
        offset: Index of the first of them in ``memory``.
        restore: Function of a storage and a location that moves it to its device.
    """
    dtype, count = _DTYPES[entry.dtype], entry.end - entry.begin
    host = backends.load("numpy")
    array = host.frombuffer(memory, "uint8", count, offset) if count else host.empty(0, "uint8")
    storage = restore(LoadedStorage(array, StorageType("UntypedStorage", dtype), host), "cpu")
    xp = storage.backend.here()
    flat = storage.widen(dtype) if is_widened(dtype, xp) else storage.array(dtype)
    return wrap(flat.reshape(entry.shape), xp)
