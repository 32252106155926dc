"""NumPy's own tests, as its wheel ships them, with ``numpy`` answered by ``tinytorch.numpy``.

Each file is copied with its imports changed and run in a process of its own. Fewer passed than
the committed figure is a failure; ``--raise`` writes it anew where it has risen, and ``--show``
says how each test of some files ended.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy
import set_apart

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FIGURES = HERE / "figures.json"
BUILD = ROOT / "build" / "numpy_suite"
SECONDS = 900
FOLDERS = ("_core", "lib", "linalg", "fft", "random", "polynomial")
#: Modules whose public names are answered; others are NumPy's own, and private.
_ANSWERED = r"""
    (?: _core (?: \.(?:umath|numeric|shape_base|fromnumeric|_multiarray_umath) )?
    | lib (?: \.(?:stride_tricks|_function_base_impl|_index_tricks_impl|_nanfunctions_impl
                  |_stride_tricks_impl|_npyio_impl|_shape_base_impl) )?
    | linalg | fft | random | exceptions | polynomial (?:\.\w+)? | testing | ma\.testutils )"""
_IMPORT = re.compile(rf"^(\s*(?:from|import)\s+)numpy(?:\.({_ANSWERED}))?(?=\s)", re.M | re.X)
_PRIVATE = re.compile(r"\._core(?:\.(?!umath)\w+)?|\.lib\._\w+")


def rewritten(text: str) -> str:
    """A test file that imports ``answered`` for ``numpy``."""

    def replace(found: re.Match[str]) -> str:
        part = f".{found[2]}" if found[2] else ""
        part = part.replace("_multiarray_", "").replace("_stride_tricks_impl", "stride_tricks")
        part = _PRIVATE.sub("", part)
        part = part.replace("ma.testutils", "testing")
        name = f"answered{part}"
        bare = found[1].strip() == "import" and text[found.end()] == "\n"
        return f"{found[1]}{name}" + (" as numpy" if bare else "")

    return _IMPORT.sub(replace, text)


def files() -> list[Path]:
    """The test files that are not set apart."""
    apart = re.compile("|".join(set_apart.FILES.values()), re.X)
    wheel = Path(numpy.__file__).parent
    found = (path for name in FOLDERS for path in sorted(wheel.glob(f"{name}/tests/test_*.py")))
    return [path for path in found if not apart.search(path.name)]


def copy(path: Path) -> Path:
    """The rewritten copy of a test file, with its data beside it."""
    folder = BUILD / path.parts[-3]
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / "data"
    if not data.exists() and (path.parent / "data").exists():
        data.symlink_to(path.parent / "data")
    target = folder / path.name
    target.write_text(rewritten(path.read_text()))
    return target


def run(path: Path, options: list[str]) -> dict[str, tuple[str, str]]:
    """Run a file: outcome and error text of each test."""
    target = copy(path)
    log = target.with_suffix(".jsonl")
    log.unlink(missing_ok=True)
    command = [
        sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(BUILD), "-p",
        "plugin", "-p", "no:cacheprovider", "--tb=native", str(target), *options,
    ]  # fmt: skip
    paths = os.pathsep.join([str(ROOT), str(HERE)])
    environment = {**os.environ, "NUMPY_SUITE_LOG": str(log), "PYTHONPATH": paths}
    with target.with_suffix(".txt").open("w") as output:
        try:
            subprocess.run(
                command, cwd=BUILD, env=environment, stdout=output, stderr=output, check=False,
                timeout=SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            print(f"{path.name}: more than {SECONDS} s")
    ended: dict[str, tuple[str, str]] = {}
    if not log.exists():
        return {path.name: ("broken", target.with_suffix(".txt").read_text()[-800:])}
    for line in log.read_text().splitlines():
        test, outcome, text = json.loads(line)
        if ended.get(test, ("",))[0] != "failed":
            ended[test] = (outcome, text)
    return ended


def count_outcomes(path: Path, options: argparse.Namespace) -> Counter[str]:
    """Run a file, print its counts, and return the number of tests by outcome."""
    ended = run(path, ["-k", options.k] if options.k else [])
    count = Counter("failed" if o in ("begun", "broken") else o for o, _ in ended.values())
    shown = (f"{kind} {count[kind]:5}" for kind in ("passed", "failed", "apart"))
    print(f"{'/'.join((path.parts[-3], path.name)):45}", *shown, flush=True)
    if options.show:
        for test, (outcome, text) in ended.items():
            if outcome != "passed":
                print(f"  {outcome} {test.partition('::')[2]}: {text[:300]!r}")
    return count


def compare_with_figure(passed: int, raising: bool) -> int:
    """Return 1 if fewer tests passed than the committed figure, after raising it if ``raising``."""
    least = json.loads(FIGURES.read_text())["passed"]
    if raising:
        FIGURES.write_text(json.dumps({"passed": max(passed, least)}) + "\n")
    if passed < least:
        print(f"numpy-suite: {passed} passed, below the committed {least}")
    return int(passed < least)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of paths of files; default all")
    parser.add_argument("--raise", dest="raising", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("-k", help="as pytest's")
    options = parser.parse_args()
    together: Counter[str] = Counter()
    for path in files():
        shown = "/".join(path.parts[-3:])
        if not options.names or any(name in shown for name in options.names):
            together += count_outcomes(path, options)
    passed, scope = together["passed"], together["passed"] + together["failed"]
    share = 100 * passed / max(scope, 1)
    print(f"together: {passed} of {scope} passed, {share:.1f} %; {together['apart']} set apart")
    whole = not options.names and not options.k
    return compare_with_figure(passed, options.raising) if whole else 0


if __name__ == "__main__":
    sys.exit(main())
