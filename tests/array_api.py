"""The public test suite of the array API standard, run on ``tinytorch.numpy``.

python tests/array_api.py FOLDER    # of both versions of the standard

FOLDER is a checkout of data-apis/array-api-tests with the standard's own repository,
data-apis/array-api, in its folder ``array-api``. Every failure must stand in `KNOWN`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

VERSIONS = ("2024.12", "2025.12")
ROOT = Path(__file__).resolve().parent.parent
#: Tests that fail, by version, and why.
KNOWN: dict[str, dict[str, str]] = {
    "2024.12": {
        "test_meshgrid": "gives a tuple, as NumPy and the standard of 2025 do",
        "test_broadcast_arrays": "gives a tuple, as NumPy and the standard of 2025 do",
        "test_devices": "gives a tuple, as the standard of 2025 does",
    },
    "2025.12": {
        "test_eig": "of a real matrix with real eigenvalues these are real, as in NumPy",
        "test_eigvals": "of a real matrix with real eigenvalues these are real, as in NumPy",
    },
}


def failures(folder: Path, version: str) -> tuple[list[str], str]:
    """Run the suite: the names of the tests that failed, and the last line of the report."""
    environment = os.environ | {
        "ARRAY_API_TESTS_MODULE": "tinytorch.numpy",
        "ARRAY_API_TESTS_VERSION": version,
        "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "array_api_tests"]
    options = ["--disable-deadline", "--max-examples", os.environ.get("EXAMPLES", "100")]
    done = subprocess.run(
        [*command, *options], cwd=folder, env=environment, capture_output=True, text=True
    )
    if done.returncode > 1:
        raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
    return re.findall(
        r"^FAILED \S*?::(?:\w+::)?(.+?)(?: - .*)?$", done.stdout, re.M
    ), done.stdout.splitlines()[-1]


def main(arguments: list[str]) -> int:
    """Run the suite; 1 if something fails that is not known to, or passes that is."""
    if len(arguments) != 1 or not Path(arguments[0], "array_api_tests").is_dir():
        print(__doc__)
        return 2
    wrong = 0
    for version in VERSIONS:
        failed, line = failures(Path(arguments[0]).resolve(), version)
        print(f"{version}: {line}")
        for name in failed:
            reason = KNOWN[version].get(name)
            print(f"  {name}: {reason or 'NOT KNOWN'}")
            wrong += reason is None
        for name in KNOWN[version].keys() - set(failed):
            print(f"  {name}: passes, and is said not to")
            wrong += 1
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
