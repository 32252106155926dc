"""Break the library in thirty places, one at a time, and see that the tests notice each.

``make mutations`` runs it: signs of gradient rules, sizes of kernels off by one, checks of
arguments left out. It works on a copy of the tree, and fails where a mutation survives, or where
the text that it is about is not there exactly once any more.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ELEMENTWISE = "ops/pointwise/test_elementwise.py dispatch/test_operands.py ops/test_derivatives.py"


@dataclass(frozen=True)
class Mutation:
    """One text of the package, what it becomes, and the tests below ``tests`` that must fail."""

    old: str
    new: str
    tests: str


def disable_check(check: str, tests: str, before: str = "") -> Mutation:
    """Mutation that disables the check of an argument; ``before`` is the text in front of it."""
    return Mutation(f"{before}if {check}:", f"{before}if False and ({check}):", tests)


RULES = [
    Mutation(
        "\ntan.vjp(input=lambda xp, g, out: g * (1 + out * out))",
        "\ntan.vjp(input=lambda xp, g, out: g * (1 - out * out))",
        ELEMENTWISE,
    ),
    Mutation("-g / xp.sqrt(1 - input * input)", "g / xp.sqrt(1 - input * input)", ELEMENTWISE),
    Mutation("g * -xp.sin(input)", "g * xp.sin(input)", ELEMENTWISE),
    Mutation(
        "\nerf.vjp(input=lambda xp, g, input: g *",
        "\nerf.vjp(input=lambda xp, g, input: -g *",
        ELEMENTWISE,
    ),
    Mutation(
        "-g * _divide_by_square(xp, input, input, other)",
        "g * _divide_by_square(xp, input, input, other)",
        ELEMENTWISE,
    ),
    Mutation("input, end: g * (end - input)", "input, end: g * (input - end)", ELEMENTWISE),
    Mutation(
        "g[..., None, None] * xp.call(_cofactor, A)",
        "-g[..., None, None] * xp.call(_cofactor, A)",
        "ops/linalg/test_linalg.py ops/linalg/test_linear_algebra.py",
    ),
    Mutation(
        "in_shape, dim: _suffix_sum(xp, g, dim)",
        "in_shape, dim: -_suffix_sum(xp, g, dim)",
        "ops/reduce/test_reduction.py ops/test_derivatives.py",
    ),
    Mutation(
        "return -xp.matmul(out_t, xp.matmul(g, out_t))",
        "return xp.matmul(out_t, xp.matmul(g, out_t))",
        "ops/linalg/test_linalg.py ops/linalg/test_linear_algebra.py",
    ),
    Mutation(
        "* xp.exp(input - spread(xp, out,",
        "* -xp.exp(input - spread(xp, out,",
        "ops/reduce/test_reduction.py ops/test_derivatives.py",
    ),
]
KERNELS = [
    Mutation(
        "shape[at] = (have - size) // step + 1",
        "shape[at] = (have - size) // step",
        "ops/shape/test_shape.py signal/test_windows.py ops/reduce/test_segments.py",
    ),
    Mutation(
        "return tuple((n - e) // s + 1 for n, e, s in zip(padded, extent",
        "return tuple((n - e) // s for n, e, s in zip(padded, extent",
        "ops/nn/test_convolution.py",
    ),
    Mutation(
        "intervals = max(steps - 1, 1)", "intervals = max(steps, 1)", "ops/create/test_creation.py"
    ),
    Mutation("size = edges.shape[0] - 1", "size = edges.shape[0]", "numpy"),
    Mutation("points = M if sym else M + 1", "points = M", "signal/test_windows.py"),
    Mutation("steps < (n + 1) // 2", "steps < n // 2", "ops/fft/test_fft.py"),
    Mutation(
        "spectrum[..., : n_fft // 2 + 1]", "spectrum[..., : n_fft // 2]", "ops/fft/test_fft.py"
    ),
    Mutation(
        "(offset if upper else offset + 1), 0, col)",
        "offset, 0, col)",
        "ops/create/test_creation.py",
    ),
    Mutation(
        "((2 * k + 1 - x) * now - k * before)",
        "((2 * k - x) * now - k * before)",
        "ops/special/test_special.py",
    ),
    Mutation("math.nan, size - 1 - 0", "math.nan, size - 2 - 0", "numpy"),
]
CHECKS = [
    disable_check('approximate not in ("none", "tanh")', "ops/pointwise/test_elementwise.py nn"),
    disable_check("min(args.stride) <= 0", "ops/nn/test_convolution.py"),
    disable_check("not delta > 0", "nn"),
    disable_check(
        "sum(sizes) != input.shape[at]", "ops/shape/test_shape.py ops/shape/test_joining.py"
    ),
    disable_check(
        "p not in (1, 2)",
        "nn ops/nn ops/test_calls_refused.py",
        before='of ``multi_margin_loss`` that do not fit."""\n    ',
    ),
    disable_check("not 0 <= label_smoothing <= 1", "nn ops/nn", before="\n    "),
    disable_check(
        "input.shape[1] != vec.shape[0]",
        "ops/test_calls_refused.py",
    ),
    disable_check("sorter.shape != sequence.shape", "ops/test_calls_refused.py"),
    disable_check("min(t.ndim for t in (query, key, value)) < 3", "ops/nn/test_attention.py"),
    disable_check("input.shape.count(0) > 1", "ops/test_calls_refused.py"),
]
TABLES = {"sign in a rule": RULES, "off by one in a kernel": KERNELS, "dropped check": CHECKS}


def place(mutation: Mutation, package: Path) -> Path:
    """The one file of a package that holds the text to be replaced."""
    found = [
        (path, count)
        for path in sorted(package.rglob("*.py"))
        if (count := path.read_text(encoding="utf-8").count(mutation.old))
    ]
    if [count for _, count in found] != [1]:
        sys.exit(f"{mutation.old.strip()!r} is not there exactly once: {found}")
    return found[0][0]


def is_caught(mutation: Mutation, copy: Path, options: list[str]) -> bool:
    """Whether the tests fail on a copy of the tree with a mutation, which is undone afterwards."""
    path = place(mutation, copy / "tinytorch")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    tests = [f"tests/{name}" for name in mutation.tests.split()]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *options]
    done = subprocess.run(
        [*command, *tests], cwd=copy, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    path.write_text(text, encoding="utf-8")
    if done.returncode not in (0, 1):  # no test failed, nor did all pass
        sys.exit(done.stdout[-2000:] + done.stderr[-2000:])
    return done.returncode == 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="those whose text has this in it")
    parser.add_argument("options", nargs="*", help="for pytest")
    given = parser.parse_args()
    survived = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "build", "*.egg-info"))
        for kind, table in TABLES.items():
            for mutation in (each for each in table if given.only in each.old):
                noticed = is_caught(mutation, copy, given.options)
                what = f"{kind}: {mutation.old.strip()}"
                print("caught  " if noticed else "SURVIVED", what, flush=True)
                survived += [] if noticed else [what]
    if survived:
        sys.exit(f"{len(survived)} survived")


if __name__ == "__main__":
    main()
