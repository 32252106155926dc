"""Damaged and hostile files of programs raise ``ExportError`` soon, and take little memory."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tinytorch as tt
from tests import hostile
from tinytorch import nn


def members() -> dict[str, bytes]:
    """The members of a sound file: a layer with a weight and a bias."""
    file = io.BytesIO()
    program = tt.export.export(nn.Linear(2, 3), (tt.ones(4, 2),), dynamic_shapes=[{0: "n"}])
    tt.export.save(program, file)
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archived(parts: dict[str, bytes], **options: Any) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **options) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def changed(change: Callable[[dict[str, Any]], Any]) -> bytes:
    """A file whose JSON was changed."""
    parts = members()
    program = json.loads(parts["program.json"])
    found = change(program)
    parts["program.json"] = json.dumps(program if found is None else found).encode()
    return archived(parts)


def with_array(content: bytes) -> bytes:
    return archived({**members(), "tensors/0.npy": content})


def npy(header: str, content: bytes = b"\0" * 24, version: bytes = b"\x01\x00") -> bytes:
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text + content


def shaped(shape: str, descr: str = "'<f4'") -> bytes:
    return npy(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}")


def pickled() -> bytes:
    file = io.BytesIO()
    numpy.save(file, numpy.array([print], dtype=object), allow_pickle=True)
    return file.getvalue()


def overlapping() -> bytes:
    """An archive whose directory names one member a thousand times."""
    content = archived({**members(), "big": b"\0" * 4096})
    end = content.rindex(b"PK\x05\x06")
    start = int.from_bytes(content[end + 16 : end + 20], "little")
    directory = content[start:end]
    entry = directory[directory.rindex(b"PK\x01\x02") :]
    more = directory + entry * 1000
    tail = bytearray(content[end:])
    count = int.from_bytes(tail[10:12], "little") + 1000
    tail[8:10] = tail[10:12] = count.to_bytes(2, "little")
    tail[12:16] = len(more).to_bytes(4, "little")
    return content[:start] + more + bytes(tail)


def set_step(at: int, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(program: dict[str, Any]) -> None:
        program["steps"][0][at] = value

    return change


def nested(program: dict[str, Any]) -> Any:
    return json.loads("[" * 900 + "]" * 900)


SLOT = {"tuple": [{"slot": "input"}, {"slot": "weight"}, {"slot": "bias"}]}

HOSTILE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "truncated": ("not a zip file", lambda: archived(members())[:-30]),
    "zip bomb": ("a member is compressed", lambda: archived(
        {**members(), "tensors/0.npy": b"\0" * (96 << 20)}, compression=zipfile.ZIP_DEFLATED)),
    "compressed JSON": ("a member is compressed", lambda: archived(
        {"program.json": b" " * (64 << 20)}, compression=zipfile.ZIP_BZIP2)),
    "overlapping members": ("members are larger than the file|Overlapped", overlapping),
    "no JSON": ("no item named 'program.json'", lambda: archived({})),
    "deep JSON": ("recursion|no exported program", lambda: archived(
        {"program.json": b"[" * 200_000})),
    "list": ("no attribute 'get'", lambda: changed(lambda p: [])),
    "nested lists": ("no exported program", lambda: changed(nested)),
    "bytes": ("no exported program", lambda: archived({"program.json": b"\xff\xfe{}"})),
    "huge array": ("has the shape", lambda: with_array(shaped("(1099511627776, 1024)"))),
    "negative array": ("has the shape", lambda: with_array(shaped("(-3, -2)"))),
    "small array": ("has the shape", lambda: with_array(shaped("(3, 1)"))),
    "wrong dtype": ("expected a tensor of float32", lambda: with_array(shaped("(3, 1)", "'<f8'"))),
    "records": ("no exported program", lambda: with_array(shaped("(3,)", "[('a', '<f8')]"))),
    "code in a header": ("no exported program", lambda: with_array(npy("__import__('os')"))),
    "pickled array": ("has the shape|Object arrays", lambda: with_array(pickled())),
    "later format": ("in version", lambda: with_array(npy("{}", version=b"\x03\x00"))),
    "unknown kind": ("as script", lambda: changed(
        lambda p: p["tensors"].update(weight=["script", "float32"]))),
    "missing tensor": ("no item named", lambda: changed(
        lambda p: p["tensors"].update(more=["constant", "float32"]))),
    "unknown slot": ("'other' is not defined before", lambda: changed(
        set_step(1, {"tuple": [{"slot": "other"}]}))),
    "cycle": ("'linear' is not defined before", lambda: changed(
        set_step(1, {"tuple": [{"slot": "linear"}]}))),
    "slot twice": ("'bias' is defined twice", lambda: changed(
        lambda p: p["steps"].append(["neg", {"tuple": [{"slot": "input"}]}, {"dict": {}}, ["bias"],
                                     p["steps"][0][4], ["", ""]]))),
    "input twice": ("defined twice", lambda: changed(
        lambda p: p.update(inputs=2 * p["inputs"], shapes=2 * p["shapes"]))),
    "result": ("'y' is not defined before", lambda: changed(
        lambda p: p.update(result={"slot": "y"}))),
    "shapes": ("1 inputs with 2 shapes", lambda: changed(
        lambda p: p["shapes"].append(p["shapes"][0]))),
    "shapes of a step": ("results with 0 shapes", lambda: changed(set_step(4, []))),
    "text as a shape": ("expected a shape", lambda: changed(
        lambda p: p.update(shapes=[["abc", "float32"]]))),
    "text as a size": ("expected numbers as a size", lambda: changed(
        lambda p: p["shapes"][0].__setitem__(0, {"tuple": [{"size": ["a", 0, {"n": 1}]}, 2]}))),
    "unknown dimension": ("depends on no dynamic size", lambda: changed(
        set_step(1, {"tuple": [{"size": [4, 0, {"m": 1}]}]}))),
    "arguments": ("no tuple and dict", lambda: changed(set_step(1, [1, 2]))),
    "options": ("no tuple and dict", lambda: changed(set_step(2, 3))),
    "two kinds": ("too many values|unpack", lambda: changed(
        set_step(1, {"tuple": [], "slot": "input"}))),
    "no dtype": ("no dtype 'dtype'", lambda: changed(
        set_step(2, {"dict": {"a": {"dtype": "dtype"}}}))),
    "attribute": ("no operation '__class__'", lambda: changed(set_step(0, "__class__"))),
    "number as a name": ("no exported program", lambda: changed(set_step(0, 7))),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_raise_soon_and_without_much_memory(name: str) -> None:
    message, make = HOSTILE[name]
    content = make()
    with hostile.limits(), pytest.raises(tt.export.ExportError, match=message):
        tt.export.load(io.BytesIO(content))
    with pytest.raises(NotImplementedError, match=r"jit.load: .*programs of jit\.save"):
        tt.jit.load(io.BytesIO(content))


def test_the_sound_file_is_loaded() -> None:
    """The other cases fail for what they change alone."""
    program = tt.export.load(io.BytesIO(archived(members())))
    assert program(tt.ones(7, 2)).shape == (7, 3)


def test_random_bytes_in_a_program_never_crash() -> None:
    generator, content = numpy.random.default_rng(0), archived(members())
    outcomes = set()
    for _ in range(200):
        damaged = bytearray(content)
        for place in generator.integers(0, len(content), 3):
            damaged[place] = generator.integers(256)
        try:
            tt.export.load(io.BytesIO(bytes(damaged)))
            outcomes.add("loaded")
        except tt.export.ExportError:
            outcomes.add("refused")
    assert "refused" in outcomes  # nearly always, by the checksums of the archive
