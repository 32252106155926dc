"""Files of safetensors: a header in JSON, and the elements of one tensor after the other.

Reference: https://github.com/huggingface/safetensors#format
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from typing import IO, Any

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
#: The largest header that the format allows.
_LONGEST = 100_000_000


def is_safetensors(head: bytes) -> bool:
    """Whether a file begins as one of safetensors: with a length, and a brace."""
    return len(head) == 9 and head[8:] == b"{" and int.from_bytes(head[:8], "little") <= _LONGEST


def read_safetensors(
    file: IO[bytes], restore: Callable[[LoadedStorage, str], LoadedStorage], mapped: bool
) -> dict[str, Tensor]:
    """The tensors of a file by name; ``mapped``, their bytes are read when they are used."""
    if sys.byteorder != "little":
        raise NotImplementedError("load(): safetensors' numbers have the other order of bytes here")
    length = int.from_bytes(file.read(8), "little")
    text = file.read(length)
    if len(text) < length:
        raise RuntimeError("load(): the file is cut off in its header")
    header = json.loads(text)
    header.pop("__metadata__", None)
    start = file.tell()
    data = mapped_copy(file) if mapped else None
    found = {}
    for name, facts in header.items():
        begin, end = facts["data_offsets"]
        memory: Any = data
        offset = start + begin
        if data is None:
            file.seek(start + begin)
            memory, offset = bytearray(file.read(end - begin)), 0
        found[name] = _tensor(name, facts, memory, offset, end - begin, restore)
    return found


def _tensor(
    name: str, facts: dict[str, Any], memory: Any, offset: int, count: int,
    restore: Callable[[LoadedStorage, str], LoadedStorage],
) -> Tensor:  # fmt: skip
    dtype = _DTYPES.get(facts["dtype"])
    if dtype is None:
        raise NotImplementedError(
            f"load(): {name!r} has dtype {facts['dtype']}, which tinytorch does not have"
        )
    if math.prod(facts["shape"]) * dtype.itemsize != count or len(memory) - offset < count:
        raise RuntimeError(
            f"load(): {name!r} of shape {facts['shape']} and dtype {facts['dtype']} does not fit "
            "the bytes that it has in the file"
        )
    host = backends.load("numpy")
    array = host.frombuffer(memory, "uint8", count, offset) if count else host.empty(0, "uint8")
    storage = restore(LoadedStorage(array, StorageType("UntypedStorage", dtype), host), "cpu")
    xp = storage.backend.here()
    flat = storage.widened(dtype) if is_widened(dtype, xp) else storage.array(dtype)
    return wrap(flat.reshape(facts["shape"]), xp)
