"""Saves that are killed, find no room or no permission, or meet at one path leave a whole file."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tinytorch as tt
from tests.faults.campaign import Extent, Skipped, check, finish, start


def _is_whole(path: Path) -> bool:
    number, values = tt.load(path)
    return bool((values == float(number)).all())


def _litter(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.suffix == ".part"]


def _save(path: str, seed: int, saves: int, count: int) -> None:
    import itertools

    import tinytorch as tt

    for number in itertools.islice(itertools.count(seed), saves or None):
        tt.save([number, tt.full((count,), float(number))], path)
        if number == seed:
            print("ready", flush=True)


@check
def killed_saves(form: Extent) -> str:
    """A process that is killed while it saves leaves a whole file and at most one more."""
    kills, litter = form.pick(5, 50), 0
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "weights.pt")
        tt.save([0, tt.zeros(1)], path)
        for _ in range(kills):
            process = start(_save, str(path), form.random.randrange(1000), 0, 2_000_000)
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            time.sleep(form.random.uniform(0.001, 0.05))
            process.send_signal(signal.SIGKILL)
            finish(process)
            assert _is_whole(path)
            left = _litter(path.parent)
            assert len(left) <= 1, left
            litter += len(left)
            for each in left:
                each.unlink()
    return f"{kills} kills, each left a whole file; {litter} left a part beside it"


def _on_small_disk(folder: str) -> None:
    import errno
    import os

    import tinytorch as tt

    path = os.path.join(folder, "weights.pt")
    tt.save([1, tt.ones(150_000)], path)  # 600 kB on a disk of 1 MB
    tt.save([2, tt.full((150_000,), 2.0)], path)
    number, values = tt.load(path)
    assert number == 2 and bool((values == 2).all())
    for large in (400_000, 1_000_000):
        try:
            tt.save([3, tt.ones(large)], path)
            raise AssertionError("it cannot have fitted")
        except OSError as error:
            assert error.errno == errno.ENOSPC, error
        number, values = tt.load(path)
        assert number == 2 and bool((values == 2).all())
    assert os.listdir(folder) == ["weights.pt"]
    print("whole")


@check
def full_disk(form: Extent) -> str:
    """A disk without room for two files gets the new one; without room for one it keeps the old."""
    if not shutil.which("unshare"):
        raise Skipped("there is no unshare, which mounts a small disk for one process")
    with tempfile.TemporaryDirectory() as folder:
        mount = f"mount -t tmpfs -o size=1m tmpfs {folder}"
        allowed = subprocess.run(
            ["unshare", "-m", "sh", "-c", mount], capture_output=True, check=False
        )
        if allowed.returncode:
            raise Skipped(f"no disk can be mounted: {allowed.stderr.decode().strip()}")
        before = ["unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "-"]
        process = start(_on_small_disk, folder, before=before)
        out, err = finish(process)
    assert out == "whole\n", err
    return "written in place where one file fits, the old one kept where none does"


def _as_another_user(folder: str) -> None:
    import os

    import tinytorch as tt

    tt.save(1, os.path.join(folder, "own.pt"))  # what is imported on first use is there
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    for name, value in (("read_only.pt", 2), ("locked/weights.pt", 3), ("locked/new.pt", 4)):
        try:
            tt.save(value, os.path.join(folder, name))
            print("saved")
        except PermissionError as error:
            print("refused", os.path.basename(error.filename))


@check
def another_user(form: Extent) -> str:
    """A read-only file is refused; in a read-only folder a file is written in place."""
    if sys.platform == "win32" or os.geteuid() != 0:
        raise Skipped("only root can become another user")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "locked").mkdir()
        for each, mode in (("read_only.pt", 0o444), ("locked/weights.pt", 0o666)):
            tt.save(1, folder / each)
            (folder / each).chmod(mode)
        (folder / "locked").chmod(0o555)
        folder.chmod(0o777)
        out, err = finish(start(_as_another_user, name))
        assert out == "refused read_only.pt\nsaved\nrefused new.pt\n", (out, err)
        values = [tt.load(folder / each) for each in ("read_only.pt", "locked/weights.pt")]
        assert values == [1, 3] and not _litter(folder), values
    return "a read-only file refused, a writable one in a read-only folder written"


@check
def links_and_long_names(form: Extent) -> str:
    """Hard and symbolic links stay and name the new contents; a name may be as long as any."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "w" * 252 + ".pt")
        hard, symbolic = path.with_name("hard.pt"), path.with_name("symbolic.pt")
        tt.save(1, path)
        os.link(path, hard)
        symbolic.symlink_to(path.name)
        for number, each in enumerate((path, hard, symbolic), 2):
            tt.save(number, each)
            assert [tt.load(one) for one in (path, hard, symbolic)] == [number] * 3
        assert symbolic.is_symlink() and path.stat().st_nlink == 2 and not _litter(path.parent)
    return "hard and symbolic links stay, a name of 255 bytes is saved to"


@check
def many_on_one_path(form: Extent) -> str:
    """Four processes and four threads save to one path: it is one of their files at any time."""
    saves, looks = form.pick(20, 200), 0
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "weights.pt")
        tt.save([0, tt.zeros(1)], path)
        for writers in (
            [start(_save, str(path), 1000 * each, saves, 200_000) for each in range(4)],
            [start(_save_by_threads, str(path), saves)],
        ):
            while any(each.poll() is None for each in writers):
                assert _is_whole(path)
                looks += 1
            for each in writers:
                _, err = finish(each)
                assert each.returncode == 0, err
            assert _is_whole(path) and not _litter(path.parent)
    return f"{8 * saves} saves, whole at each of {looks} looks"


def _save_by_threads(path: str, saves: int) -> None:
    from concurrent.futures import ThreadPoolExecutor

    import tinytorch as tt

    def save(seed: int) -> None:
        for number in range(seed, seed + saves):
            tt.save([number, tt.full((200_000,), float(number))], path)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(save, [0, 1000, 2000, 3000]))
