"""Write the type stubs, ``stubs/tinytorch/``, from the operations and the sources.

    python stubs/generate.py           # write them
    python stubs/generate.py --check   # fail if they are not what would be written
    python stubs/generate.py --list    # print the sources that they stand for
    python stubs/generate.py --plain D # write them to D without NumPy's spellings, for stubtest,
                                       # which knows one signature per function: the run-time one
    python stubs/generate.py --check --plain D  # do both, reading the sources once

A module has a stub if some of its names are not in its source: it has a ``__getattr__`` or a table
in ``compat.tables``, or it is ``core.tensor``, whose class gets its methods from the operations.
All other modules are typed Python, which type checkers read: the stubs are partial.

The program also writes ``tinytorch/dispatch/index.py``, which maps names to modules at run time.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The folder of this script holds the stubs under the name ``tinytorch``: do not import those.
sys.path.insert(0, str(ROOT))

from stub_families import write_families  # noqa: E402
from stub_modules import stub_modules, write_module  # noqa: E402

OUTPUT = ROOT / "stubs" / "tinytorch"
FAMILIES = ROOT / "tinytorch" / "dispatch" / "index.py"


def generate(dialects: bool = True) -> dict[Path, str]:
    """The text of each file of the stubs, by its path in their folder."""
    files = {Path("py.typed"): "partial\n"}
    for module, path in stub_modules(ROOT).items():
        inner = path.relative_to(ROOT / "tinytorch").with_suffix(".pyi")
        files[inner] = write_module(module, dialects)
    return files


def differences(files: dict[Path, str]) -> list[str]:
    """List what is missing, superfluous or out of date in ``stubs/tinytorch/``."""
    present = {path.relative_to(OUTPUT) for path in OUTPUT.rglob("*") if path.is_file()}
    found = [f"{path} is not generated" for path in present - files.keys()]
    for path, text in files.items():
        if path not in present:
            found.append(f"{path} is missing")
        elif (OUTPUT / path).read_text(encoding="utf-8") != text:
            found.append(f"{path} is out of date")
    if FAMILIES.read_text(encoding="utf-8") != write_families():
        found.append("tinytorch/dispatch/index.py is out of date")
    return sorted(found)


def write(folder: Path, files: dict[Path, str]) -> None:
    """Write the files into a folder, and remove all other stubs from it."""
    for path in folder.rglob("*.pyi"):
        if path.relative_to(folder) not in files:
            path.unlink()
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Run the command of the arguments; return the exit status."""
    match arguments:
        case []:
            FAMILIES.write_text(write_families(), encoding="utf-8")
            write(OUTPUT, generate())
        case ["--check", *others]:
            found = differences(generate())
            if found:
                sys.stderr.write("\n".join(["stubs/tinytorch:", *found, "run `make stubs`", ""]))
                return 1
            return main(others) if others else 0
        case ["--list"]:
            modules = stub_modules(ROOT).values()
            sources = [str(path.relative_to(ROOT)) for path in modules if path.exists()]
            sys.stdout.write(" ".join(sources) + "\n")
        case ["--plain", folder]:
            write(Path(folder) / "tinytorch", generate(dialects=False))
        case _:
            sys.stderr.write(__doc__ or "")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
