"""Files of which bytes were changed or cut off: an error that ``load`` names, or what was saved."""

from __future__ import annotations

import io
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tinytorch as tt

#: What ``load`` says that it raises.
ERRORS = (pickle.UnpicklingError, RuntimeError, TypeError, EOFError)


def contents(write: Callable[[Any], Any]) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


VALUE = {
    "weight": tt.arange(6.0).reshape(2, 3), "bias": tt.ones(4, dtype=tt.int64)[1:3],
    "more": [1, 2.5, "text", None, {"key": (1, 2)}],
}  # fmt: skip
ARRAYS = {"a": numpy.arange(6.0), "b": numpy.ones(3)}
#: Files by their format, and whether its checksums tell that a number was changed.
FILES = {
    "zip": (contents(lambda file: tt.save(VALUE, file)), True),
    "legacy": (
        contents(lambda file: tt.save(VALUE, file, _use_new_zipfile_serialization=False)), False,
    ),
    "npy": (contents(lambda file: numpy.save(file, ARRAYS["a"])), False),
    "npz": (contents(lambda file: numpy.savez(file, **ARRAYS)), True),
    "compressed npz": (contents(lambda file: numpy.savez_compressed(file, **ARRAYS)), True),
}  # fmt: skip


def damage(whole: bytes, generator: random.Random) -> bytes:
    """Cut the end off, or change some bytes."""
    data = bytearray(whole)
    if generator.random() < 0.25:
        del data[generator.randrange(len(data)) :]
        return bytes(data)
    for _ in range(generator.choice([1, 1, 2, 5])):
        at = generator.randrange(len(data))
        flipped = data[at] ^ 1 << generator.randrange(8)
        data[at] = generator.choice([generator.randrange(256), 0, 255, flipped])
    return bytes(data)


def numbers(found: Any) -> str:
    """The numbers of the tensors in ``found``, whose names a damage may have changed."""
    tensors = found.values() if isinstance(found, dict) else [found]
    return repr([value.tolist() if isinstance(value, tt.Tensor) else value for value in tensors])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", FILES)
def test_a_damaged_file_is_an_error_of_a_documented_class(kind: str) -> None:
    whole, checked = FILES[kind]
    right = numbers(tt.load(io.BytesIO(whole)))
    generator = random.Random(0)
    for _ in range(400):
        data = damage(whole, generator)
        try:
            found = tt.load(io.BytesIO(data))
        except ERRORS as error:
            assert not isinstance(error, RecursionError)
        else:
            assert (
                not checked
                or numbers(found) == right
                or len(found) < len(tt.load(io.BytesIO(whole)))
            )
