"""Score the library with PyTorch's own test databases; fail below the committed figures.

The scoring program comes with PyTorch's databases and is in ``../shared/score``, or where
``TINYTORCH_SCORE`` says; without it nothing runs. ``python tests/parity.py --raise`` writes the
figures that have risen.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import parity_bfloat16

ROOT = Path(__file__).resolve().parents[1]
FIGURES = Path(__file__).with_suffix(".json")
DEFAULT = ROOT.parent / "shared" / "score" / "torch_conformance.py"
MEASURES = ("ops", "grads", "dtypes", "errors", "forms", "right")


def score(program: Path, dtype: str, report: Path) -> dict[str, int]:
    """Number of units that pass, by measure, in one dtype."""
    command = [
        sys.executable, str(program), "--candidate", "tinytorch", "--what", "ops",
        "--max-samples", "0", "--jobs", "2", "--dtype", dtype, "--json", str(report),
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    closing = done.stdout.strip().splitlines()[-1]
    print(f"{dtype}: {closing}")
    return {
        words[0]: int(words[1].partition("/")[0])
        for words in (part.split() for part in closing.split(", "))
        if words[0] in MEASURES
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--raise", dest="raising", action="store_true")
    parser.add_argument("--dtype", nargs="*", default=["float64", "float32", "bfloat16"])
    options = parser.parse_args()
    program = Path(os.environ.get("TINYTORCH_SCORE", DEFAULT))
    if not program.is_file():
        print(f"parity: skipped, there is no scoring program at {program}")
        return 0
    wanted = json.loads(FIGURES.read_text())
    below = 0
    with tempfile.TemporaryDirectory() as folder:
        for dtype in options.dtype:
            if dtype == "bfloat16":  # which the scoring program does not know
                found = parity_bfloat16.score(program, [], samples=4, report=False)
                print(f"{dtype}: {found}")
            else:
                found = score(program, dtype, Path(folder) / f"{dtype}.json")
            floor = wanted.setdefault(dtype, {})
            for measure in [name for name in MEASURES if name in floor or name in found]:
                have, least = found.get(measure, 0), floor.get(measure, 0)
                if have < least:
                    print(f"parity: {measure} in {dtype}: {have}, below the committed {least}")
                    below += 1
                if options.raising:
                    floor[measure] = max(have, least)
    if options.raising:
        FIGURES.write_text(json.dumps(wanted, indent=1) + "\n")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
