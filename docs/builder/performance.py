"""Tables and plots of the benchmark's results in `benchmarks/results/`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.libraries import NAMES
from benchmarks.report import UNITS

from .names import ROOT

RESULTS = ROOT / "benchmarks" / "results"
#: Default colors: of tinytorch, and of PyTorch or a second machine.
COLOURS = ("#2962c4", "#d9722b")


def files() -> dict[str, str]:
    """The text of each table and picture, by its name."""
    runs = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in machines()}
    rows = {name: run for name, run in runs.items() if "rows" in run}
    found = {f"{name}.md": table(run) for name, run in rows.items()}
    found["ratios.svg"] = ratios(rows)
    for name, run in runs.items():
        if "host overhead" in run:
            found[f"{name}.md"] = gpu_table(run)
            found[f"{name}.svg"] = gpu_bars(run)
    return found


def machines() -> list[Path]:
    """The recorded runs, without ``latest.json``, which holds the last measurement."""
    return sorted(path for path in RESULTS.glob("*.json") if path.stem != "latest")


def machine_name(run: dict[str, Any]) -> str:
    """The name of a run's machine."""
    machine = run["machine"]
    versions = machine.get("versions", machine)
    words = str(machine.get("device") or machine["processor"]).replace("(R)", "")
    return f"{words}, PyTorch {versions['torch']}, NumPy {versions['numpy']}"


def table(run: dict[str, Any]) -> str:
    """A run's times for each library, and tinytorch's as a ratio to NumPy's and PyTorch's."""
    head = ["work", "unit", *NAMES, "/ numpy", "/ torch"]
    return "\n".join([f"{machine_name(run)}:", "", *_rows(head, map(_cells, run["rows"]))])


def _cells(row: dict[str, Any]) -> list[str]:
    """Cells of a table's row, from the record of one task; a dash for a missing figure."""
    values, ratios = row["values"], row["ratios"]
    scale = UNITS[row["unit"]]
    return [
        row["work"],
        row["unit"],
        *(f"{values[name] * scale:.3g}" if name in values else "–" for name in NAMES),
        *(f"{ratios[name]:.2f}" if name in ratios else "–" for name in ("numpy", "torch")),
    ]


def gpu_table(run: dict[str, Any]) -> str:
    """Table of a GPU: calls on the host in µs, matrix products in TFLOP/s, training steps in ms."""
    overhead, torch_overhead = run["host overhead"]["tinytorch"], run["host overhead"]["torch"]
    calls = [[f"{name}, host", "µs", f"{overhead[name]:.1f}", f"{torch_overhead[name]:.1f}"]
             for name in overhead]  # fmt: skip
    products = [
        [f"product, {name}", "TFLOP/s", f"{each['tinytorch']:.0f}", f"{each['torch']:.0f}"]
        for name, each in run["products"].items()
        if "tinytorch" in each
    ]
    steps = [
        [f"{part}, a training step", "ms", *(f"{run[part][name]['ms per step']:.2f}" for name in
         ("tinytorch", "torch"))]
        for part in ("mlp", "digits")
    ]  # fmt: skip
    head = ["work", "unit", "tinytorch", "torch"]
    return "\n".join([f"{machine_name(run)}:", "", *_rows(head, [*calls, *products, *steps])])


def _rows(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown, with right-aligned figures."""
    yield "| " + " | ".join(head) + " |"
    yield "|---|---|" + "---:|" * (len(head) - 2)
    yield from ("| " + " | ".join(row) + " |" for row in rows)
    yield ""


def ratios(runs: dict[str, dict[str, Any]]) -> str:
    """A plot of tinytorch's time over PyTorch's: a line for each task, a mark for each machine."""
    works = [row["work"] for row in next(iter(runs.values()))["rows"] if "torch" in row["ratios"]]
    figure, axes = _figure(7, 0.19 * len(works) + 1)
    heights = {work: -index for index, work in enumerate(works)}
    for (name, run), colour in zip(runs.items(), COLOURS, strict=False):
        found = [(row["ratios"]["torch"], heights[row["work"]]) for row in run["rows"]
                 if row["work"] in heights and "torch" in row["ratios"]]  # fmt: skip
        axes.scatter(*zip(*found, strict=True), s=18, color=colour, label=name, zorder=3)
    axes.axvline(1, color="#888888", linewidth=1)
    axes.set_xscale("log")
    axes.set_xticks([0.1, 0.25, 0.5, 1, 2, 4, 8, 16], "0.1 ¼ ½ 1 2 4 8 16".split())
    axes.minorticks_off()
    axes.set_xlabel("time over PyTorch's: left of the line tinytorch is faster")
    axes.set_yticks([*heights.values()], works)
    axes.set_ylim(-len(works), 1)
    axes.legend(loc="lower left", frameon=False)
    return _svg(figure)


def gpu_bars(run: dict[str, Any]) -> str:
    """A plot of matrix products on a GPU, beside PyTorch's."""
    found = {name: each for name, each in run["products"].items() if "tinytorch" in each}
    figure, axes = _figure(7, 0.4 * len(found) + 1)
    for part, (library, colour) in enumerate(zip(("tinytorch", "torch"), COLOURS, strict=True)):
        heights = [-index - 0.35 * part for index in range(len(found))]
        speeds = [each[library] for each in found.values()]
        axes.barh(heights, speeds, 0.33, color=colour, label=library, zorder=3)
    axes.set_xscale("log")
    axes.set_xlabel("TFLOP/s: further to the right is faster")
    axes.set_yticks([-index - 0.17 for index in range(len(found))], [*found])
    axes.legend(loc="lower right", frameon=True)
    return _svg(figure)


def _figure(width: float, height: float) -> tuple[Any, Any]:
    """Create a figure of a size in inches, and its axes with a grid and without a frame."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="both", color="#dddddd", linewidth=0.6)
    axes.tick_params(length=0, labelsize=8)
    return figure, axes


def _svg(figure: Any) -> str:
    """Text of a figure as SVG."""
    from io import StringIO

    from matplotlib import rc_context

    text = StringIO()
    # The same figures make the same file, and its text can be searched.
    with rc_context({"svg.hashsalt": "tinytorch", "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()
