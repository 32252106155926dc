"""Files that ``save`` replaces, and file objects that hold several checkpoints."""

from __future__ import annotations

import errno
import io
import os
import pickle
import stat
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tinytorch as tt
from tests.fresh import run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "weights.pt"
    tt.save(1, found)
    return found


def test_a_new_file_has_the_mode_of_the_old_one_or_of_the_mask(path: Path) -> None:
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    path.chmod(0o640)
    tt.save(2, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(path.parent) == ["weights.pt"]


def test_saving_through_a_link_keeps_the_link(path: Path) -> None:
    hard, symbolic, dangling = (path.with_name(name) for name in ("hard", "symbolic", "dangling"))
    os.link(path, hard)
    symbolic.symlink_to("weights.pt")
    dangling.symlink_to("made.pt")
    tt.save(2, symbolic)
    assert symbolic.is_symlink() and path.stat().st_nlink == 2
    assert [tt.load(each) for each in (path, hard, symbolic)] == [2, 2, 2]
    tt.save(3, dangling)
    assert dangling.is_symlink() and tt.load(path.with_name("made.pt")) == 3
    loop = path.with_name("loop")
    loop.symlink_to("loop")
    with pytest.raises(OSError, match="symbolic links"):
        tt.save(4, loop)
    assert loop.is_symlink()


def test_save_accepts_long_file_names_and_pipes(path: Path) -> None:
    long = path.with_name("w" * 252 + ".pt")
    tt.save(5, long)
    assert tt.load(long) == 5
    pipe = path.with_name("pipe")
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    tt.save(6, pipe)
    reader.join()
    assert tt.load(io.BytesIO(found[0])) == 6 and pipe.is_fifo()


def as_another_user(folder: str) -> None:
    import os

    import tinytorch as tt

    tt.save(1, os.path.join(folder, "plain.pt"))  # what is imported on first use is there
    if os.geteuid() == 0:
        os.setresuid(65534, 65534, 65534)
    for name, value in (("read_only.pt", 2), ("locked/weights.pt", 3), ("locked/new.pt", 4)):
        try:
            tt.save(value, os.path.join(folder, name))
            print("saved")
        except PermissionError as error:
            print(os.path.basename(error.filename))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users can enter; the folders of ``tmp_path`` are pytest's, and closed."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


def test_the_mode_of_an_existing_file_decides_whether_it_is_overwritten(open_folder: Path) -> None:
    locked = open_folder / "locked"
    locked.mkdir(mode=0o755)
    read_only, inside = open_folder / "read_only.pt", locked / "weights.pt"
    for each, mode in ((read_only, 0o444), (inside, 0o666)):
        tt.save(1, each)
        each.chmod(mode)
    locked.chmod(0o555)
    try:
        said = run(as_another_user, str(open_folder)).split()
    finally:
        locked.chmod(0o755)
    # A file name stands for a PermissionError. A new file needs the permission of its folder.
    assert said == ["read_only.pt", "saved", "new.pt"]
    assert [tt.load(read_only), tt.load(inside)] == [1, 3]


@pytest.mark.parametrize(("free", "expected"), [(0, 1), (1 << 40, 2)])
def test_a_file_is_overwritten_in_place_if_the_disk_has_no_room_for_two(
    path: Path, monkeypatch: pytest.MonkeyPatch, free: int, expected: int
) -> None:
    """Where not even one fits the old file stays; ``make faults`` fills a real disk."""
    real = os.replace

    def full(source: Any, target: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    disk = os.statvfs_result((4096, 1, 0, free, free, 0, 0, 0, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda path: disk)
    value = [2, tt.zeros(1 if free else 100_000)]
    if free:
        tt.save(value, path)
        assert tt.load(path)[0] == expected
    else:
        with pytest.raises(OSError, match="No space left"):
            tt.save(value, path)
        assert tt.load(path) == expected
    monkeypatch.setattr(os, "replace", real)
    assert os.listdir(path.parent) == ["weights.pt"]


def test_threads_that_save_to_one_path_leave_one_of_their_files(path: Path) -> None:
    errors: list[BaseException] = []

    def save(number: int) -> None:
        try:
            for _ in range(20):
                tt.save([number, tt.full((1000,), float(number))], path)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=save, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    while any(each.is_alive() for each in threads):
        found = tt.load(path)
        assert found == 1 or found[1].tolist() == [float(found[0])] * 1000
    assert not errors and os.listdir(path.parent) == ["weights.pt"]


# -- several checkpoints in one file ---------------------------------------------------------------


def outcome(function: Callable[[], Any]) -> Any:
    """The result as a Python value, or None for an error."""
    try:
        result = function()
    except Exception:
        return None
    return result.tolist() if hasattr(result, "tolist") else result


def loads(save: Any, load: Any, new: bool, values: list[Any], before: bytes = b"") -> list[Any]:
    """Save ``values`` into one file and load as many and one more; None for an error."""
    file = io.BytesIO()
    file.write(before)
    for value in values:
        save(value, file, _use_new_zipfile_serialization=new)
    file.seek(len(before))
    return [outcome(lambda: load(file)) for _ in range(len(values) + 1)]


@pytest.mark.torch
@pytest.mark.parametrize("before", [b"", b"head of a file"])
@pytest.mark.parametrize("new", [False, True])
def test_several_saves_into_one_file_load_as_in_pytorch(new: bool, before: bytes) -> None:
    import torch

    theirs, ours = ([lib.full((2,), n) for n in (1, 2, 3)] for lib in (torch, tt))
    right = loads(torch.save, torch.load, new, theirs, before)
    assert right == ([[1, 1], None, None, None] if new else [[1, 1], [2, 2], [3, 3], None])
    assert loads(torch.save, tt.load, new, theirs, before) == right
    assert loads(tt.save, tt.load, new, ours, before) == right
    assert loads(tt.save, torch.load, new, ours, before) == right


@pytest.mark.parametrize("open_file", [io.BytesIO, tempfile.TemporaryFile])
def test_load_reads_from_the_file_position_and_stops_behind_the_object(open_file: Any) -> None:
    with open_file() as file:
        for number in (1, 2, 3):
            tt.save(tt.tensor(number), file, _use_new_zipfile_serialization=False)
        file.write(b"tail")
        file.seek(0)
        assert [tt.load(file).item() for _ in range(3)] == [1, 2, 3]
        assert file.read() == b"tail"
        with pytest.raises(EOFError):
            tt.load(file)


@pytest.mark.parametrize("counts", [(1, 1000), (1000, 1)])
def test_load_reads_the_archive_that_begins_at_the_file_position(counts: tuple[int, int]) -> None:
    """PyTorch reads it if the last one is laid out like it, and raises otherwise."""
    file = io.BytesIO()
    for count in counts:
        tt.save(tt.ones(count), file)
    file.seek(0)
    assert tt.load(file).shape == counts[:1]
    with pytest.raises((RuntimeError, pickle.UnpicklingError)):
        tt.load(file)


def damaged(change: Callable[[str, bytes], list[tuple[str, bytes]]]) -> io.BytesIO:
    """A checkpoint of five numbers, each of whose files is changed."""
    file, made = io.BytesIO(), io.BytesIO()
    tt.save(tt.arange(5.0), file)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            for each, data in change(name, old.read(name)):
                new.writestr(each, data)
    made.seek(0)
    return made


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("record size", lambda name, data: [(name, data + b"more" * name.endswith("/0"))]),
        ("record size", lambda name, data: [(name, data[: 16 if name.endswith("/0") else None])]),
        ("two files named", lambda name, data: [(name, data)] * (2 if "/0" in name else 1)),
    ],
)
def test_entries_that_are_not_their_storage_are_refused(text: str, change: Any) -> None:
    with pytest.raises(RuntimeError, match=text):
        tt.load(damaged(change))


def test_a_checksum_that_is_wrong_is_an_error() -> None:
    file = io.BytesIO()
    tt.save(tt.arange(5.0), file)
    data = bytearray(file.getvalue())
    data[data.index(tt.arange(5.0).numpy().tobytes()) + 6] ^= 1
    with pytest.raises(RuntimeError, match="checksum"):
        tt.load(io.BytesIO(data))
