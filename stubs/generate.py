"""Write the type stubs, ``stubs/tinytorch/``, from the operations and the sources.

    python stubs/generate.py           # write them
    python stubs/generate.py --check   # fail if they are not what would be written
    python stubs/generate.py --list    # print the sources that they stand for

A module gets a stub if it answers for names that are nowhere in its source (it has a
``__getattr__``), and so does ``_tensor``, whose class gets its methods from the operations.
Everything else is ordinary typed Python and speaks for itself: the stubs are partial.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The folder this script lies in holds a ``tinytorch``, too: the stubs, which are not to be run.
sys.path.insert(0, str(ROOT))

from stub_modules import stub_modules, write_module  # noqa: E402

OUTPUT = ROOT / "stubs" / "tinytorch"


def generate() -> dict[Path, str]:
    """Every file of the stubs with its text."""
    files = {OUTPUT / "py.typed": "partial\n"}
    for module, path in stub_modules(ROOT).items():
        files[OUTPUT / path.relative_to(ROOT / "tinytorch").with_suffix(".pyi")] = write_module(
            module
        )
    return files


def differences(files: dict[Path, str]) -> list[str]:
    """What is missing, superfluous or out of date in ``stubs/tinytorch/``."""
    present = {path for path in OUTPUT.rglob("*") if path.is_file()}
    found = [f"{path.relative_to(ROOT)} is not generated" for path in present - files.keys()]
    for path, text in files.items():
        if path not in present:
            found.append(f"{path.relative_to(ROOT)} is missing")
        elif path.read_text() != text:
            found.append(f"{path.relative_to(ROOT)} is out of date")
    return sorted(found)


def main(arguments: list[str]) -> int:
    """Write or, with ``--check``, compare; the exit status."""
    if arguments == ["--list"]:
        sources = [str(path.relative_to(ROOT)) for path in stub_modules(ROOT).values()]
        sys.stdout.write(" ".join(sources) + "\n")
        return 0
    files = generate()
    if arguments == ["--check"]:
        found = differences(files)
        if found:
            sys.stderr.write("\n".join([*found, "run `make stubs`", ""]))
        return bool(found)
    for path in OUTPUT.rglob("*.pyi"):
        if path not in files:
            path.unlink()
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
