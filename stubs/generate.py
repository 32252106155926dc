"""Write the type stubs, ``stubs/tinytorch/``, from the operations and the sources.

    python stubs/generate.py           # write them
    python stubs/generate.py --check   # fail if they are not what would be written
    python stubs/generate.py --list    # print the sources that they stand for
    python stubs/generate.py --plain D # write them to D without NumPy's spellings, for stubtest,
                                       # which knows one signature per function: the run-time one

A module gets a stub if it answers for names that are nowhere in its source (it has a
``__getattr__``, or a table in ``compat.tables``), and so does ``core.tensor``, whose class gets its
methods from the operations.
Everything else is ordinary typed Python and speaks for itself: the stubs are partial.

Beside them it writes ``tinytorch/dispatch/index.py``, by which a name is found at run time.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The folder this script lies in holds a ``tinytorch``, too: the stubs, which are not to be run.
sys.path.insert(0, str(ROOT))

from stub_families import write_families  # noqa: E402
from stub_modules import stub_modules, write_module  # noqa: E402

OUTPUT = ROOT / "stubs" / "tinytorch"
FAMILIES = ROOT / "tinytorch" / "dispatch" / "index.py"


def generate(dialects: bool = True) -> dict[Path, str]:
    """Every file of the stubs, by its path in their folder, with its text."""
    files = {Path("py.typed"): "partial\n"}
    for module, path in stub_modules(ROOT).items():
        inner = path.relative_to(ROOT / "tinytorch").with_suffix(".pyi")
        files[inner] = write_module(module, dialects)
    return files


def differences(files: dict[Path, str]) -> list[str]:
    """What is missing, superfluous or out of date in ``stubs/tinytorch/``."""
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
    """Write the files into a folder, and remove stubs that are none of them."""
    for path in folder.rglob("*.pyi"):
        if path.relative_to(folder) not in files:
            path.unlink()
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Do what the arguments ask for; the exit status."""
    match arguments:
        case []:
            FAMILIES.write_text(write_families(), encoding="utf-8")
            write(OUTPUT, generate())
        case ["--check"]:
            found = differences(generate())
            if found:
                sys.stderr.write("\n".join(["stubs/tinytorch:", *found, "run `make stubs`", ""]))
                return 1
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
