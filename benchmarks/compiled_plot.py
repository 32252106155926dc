"""Draw the kept run of compiled steps: ``python -m benchmarks.compiled_plot``, needs Matplotlib.

It reads ``results/compiled.json``, which ``python -m benchmarks --only compiled --json
benchmarks/results/compiled.json`` writes, and draws for each work the time over eager PyTorch's.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .compiled import ratios
from .report import ResultRow

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "compiled.json"
PICTURE = HERE.parent / "docs" / "compiled.svg"
#: Marker and color of who ran a work.
STYLES = {
    "tinytorch, eager": ("tinytorch", "o", "#9db7e8"),
    "tinytorch, numpy": ("tinytorch, NumPy engine", "o", "#2962c4"),
    "tinytorch, c": ("tinytorch, C engine", "D", "#0b2e6f"),
    "torch.compile": ("torch.compile", "s", "#c8571b"),
    "by hand": ("NumPy by hand", "^", "#6b6b6b"),
    "jax": ("JAX by hand, jitted", "v", "#1b8a4b"),
}


def load(path: Path) -> list[ResultRow]:
    """Return the rows of a file of results."""
    names = ("work", "unit", "values", "budget", "figure", "at_least")
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return [ResultRow(**{name: row[name] for name in names}) for row in rows]


def draw(rows: Sequence[ResultRow]) -> Any:
    """Return the figure: processor time of one thread, and wall time of two beside it."""
    from matplotlib import pyplot as plt

    plt.rcParams["svg.hashsalt"] = "compiled"  # the same file for the same figures
    found = ratios(rows)
    single = {name: line for name, line in found.items() if not name.endswith("threads")}
    double = {
        name.rpartition(", ")[0]: line for name, line in found.items() if name.endswith("threads")
    }
    parts = {"one thread, processor time": single, "two threads, wall time": double}
    parts = {title: part for title, part in parts.items() if part}
    size = 4.2 * len(parts) + 2.4, 0.36 * len(single) + 1.6
    figure, axes = plt.subplots(
        1, len(parts), figsize=size, sharey=True, layout="constrained", squeeze=False
    )
    for ax, (title, part) in zip(axes[0], parts.items(), strict=True):
        draw_part(ax, part, [*single])
        ax.set_title(title, fontsize=10)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def draw_part(ax: Any, found: dict[str, dict[str, float]], names: list[str]) -> None:
    """Draw one mark for each work and who ran it."""
    for who, (label, marker, color) in STYLES.items():
        points = [(line[who], names.index(name)) for name, line in found.items() if who in line]
        if points:
            ax.plot(*zip(*points, strict=True), marker, color=color, label=label, markersize=6)
    ax.axvline(1, color="#888888", linewidth=1)
    ax.set_xscale("log")
    ax.set_yticks(range(len(names)), names, fontsize=9)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel("time over eager PyTorch's: less is faster", fontsize=9)
    ax.grid(axis="both", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def main() -> None:
    """Draw the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--output", type=Path, default=PICTURE)
    options = parser.parse_args()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    figure = draw(load(options.results))
    figure.savefig(
        options.output, metadata={"Date": None} if options.output.suffix == ".svg" else None
    )
    print(f"written: {options.output}")


if __name__ == "__main__":
    main()
