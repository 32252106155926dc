"""Run compiled groups with the compiler's checks of addresses and undefined behavior.

python -m tests.capture.sanitize               # random programs, and PyTorch's operations if it is
python -m tests.capture.sanitize --count 500   # installed
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tinytorch.capture import c_compiler, c_engine
from tinytorch.capture.replay import run_program

from tests.capture.program_builder import RandomProgram

CHECKS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1"]
#: Set in the process that has loaded the checks.
MARK = "TINYTORCH_SANITIZE"
SHAPES = [(6, 37), (37,), (6, 1), (1, 37), (3, 1, 37), ()]


def find_runtime(compiler: tuple[str, ...]) -> str | None:
    """Return the path of the library that checks addresses; None if the compiler has none."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.c"
        source.write_text("int main(void) { return 0; }")
        command = [*compiler, *CHECKS, str(source), "-o", f"{folder}/empty"]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return None
    command = [*compiler, "-print-file-name=libasan.so"]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return os.path.realpath(found) if os.path.isabs(found) else None


def compare_random_programs(count: int) -> None:
    """Run random programs, and compare them with the straightforward engine."""
    for seed in range(count):
        made = RandomProgram(50_000 + seed, SHAPES[: 4 + seed % 3], sums=seed % 2 > 0)
        program, arrays = made.builder.program, made.builder.arrays()
        expected = run_program(program, arrays)
        found = c_engine.prepare(program).run(arrays)
        for a, b in zip(found, expected, strict=False):
            np.testing.assert_allclose(a, b, 1e-3, 1e-3)


def survey_operations(every: int) -> None:
    """Run one of PyTorch's operations in ``every``."""
    from tests.capture import survey

    def run(program: Any, arrays: Any) -> list[Any]:
        copies = [np.array(a, order="K") if isinstance(a, np.ndarray) else a for a in arrays]
        outputs = c_engine.prepare(program).run(copies)
        return [*outputs, *(copies[number] for number, _ in program.writes)]

    vars(survey)["run_program"] = run
    found = survey.survey(survey.choose(survey.operations(), every, 5), "float32", count=1)
    bad = [name for name, verdict in found.items() if verdict in ("wrong", "raises")]
    assert not bad, bad


def main() -> int:
    """Run the checks, in a process that loads their library first."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=60, help="number of random programs")
    parser.add_argument(
        "--every", type=int, default=20, help="one of PyTorch's operations in so many"
    )
    options = parser.parse_args()
    compiler = c_compiler.find_compiler()
    runtime = None if compiler is None else find_runtime(compiler)
    if runtime is None:
        print(f"skipped: {compiler or 'no compiler'} cannot check addresses")
        return 0
    if MARK not in os.environ:
        more = {"LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0", MARK: "1"}
        command = [sys.executable, "-m", "tests.capture.sanitize", *sys.argv[1:]]
        return subprocess.run(command, env=os.environ | more, check=False).returncode
    c_compiler._FLAGS += CHECKS
    vars(c_engine)["_FEW"] = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TINYTORCH_CACHE"] = folder
        compare_random_programs(options.count)
        if importlib.util.find_spec("torch"):
            survey_operations(options.every)
    print("no error found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
