"""Tables and charts of the benchmark's results in `benchmarks/results/`."""

from __future__ import annotations

import html
import json
import re
import statistics
from collections.abc import Iterable, Iterator
from itertools import chain
from math import log2
from pathlib import Path
from typing import Any

from benchmarks.libraries import NAMES
from benchmarks.report import UNITS

from .benchmark_names import describe, find
from .names import ROOT

RESULTS = ROOT / "benchmarks" / "results"
Run = dict[str, Any]
#: Ends and ticks of the axis of ratios; a ratio beyond an end is drawn at that end.
LOW, HIGH = 1 / 16, 16
TICKS = {1 / 16: "1/16", 1 / 4: "¼", 1: "1", 4: "4", 16: "16"}


def files() -> dict[str, str]:
    """The text of each table and chart, by its file name."""
    runs = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in machines()}
    on_cpu = {name: run for name, run in runs.items() if "rows" in run}
    found = {f"{name}.md": table(run) for name, run in on_cpu.items()}
    for section in ("small", "large"):
        found[f"{section}.md"] = ratio_chart(list(on_cpu.values()), section)
    for name, run in runs.items():
        if "host overhead" in run:
            found[f"{name}.md"] = gpu_table(run)
            found[f"{name}-chart.md"] = gpu_chart(run)
    return found


def machines() -> list[Path]:
    """The recorded runs, without the last measurement and that of compiled steps."""
    return sorted(
        path for path in RESULTS.glob("*.json") if path.stem not in ("latest", "compiled")
    )


def machine_name(run: Run) -> str:
    """The name of a run's machine, and the versions of the libraries."""
    versions = run["machine"].get("versions", run["machine"])
    return f"{processor(run)}, PyTorch {versions['torch']}, NumPy {versions['numpy']}"


def processor(run: Run) -> str:
    """The name of a run's GPU or processor."""
    machine = run["machine"]
    return str(machine.get("device") or machine["processor"]).replace("(R)", "")


# -- tables ----------------------------------------------------------------------------


def table(run: Run) -> str:
    """A run's times for each library, and tinytorch's as a ratio to NumPy's and PyTorch's."""
    head = ["Work", "Unit", *NAMES, "/ numpy", "/ torch"]
    return "\n".join([f"{machine_name(run)}:", "", *_rows(head, map(_cells, run["rows"]))])


def _cells(row: dict[str, Any]) -> list[str]:
    """Cells of a table's row, from the record of one task; a dash for a missing figure."""
    values, ratios = row["values"], row["ratios"]
    scale = UNITS[row["unit"]]
    return [
        describe(row["work"]),
        row["unit"],
        *(f"{values[name] * scale:.3g}" if name in values else "–" for name in NAMES),
        *(f"{ratios[name]:.2f}" if name in ratios else "–" for name in ("numpy", "torch")),
    ]


def gpu_table(run: Run) -> str:
    """Table of a GPU: calls on the host in µs, matrix products in TFLOP/s, training steps in ms."""
    head = ["Work", "Unit", "tinytorch", "torch"]
    return "\n".join([f"{machine_name(run)}:", "", *_rows(head, map(list, _gpu_rows(run)))])


def _gpu_rows(run: Run) -> Iterator[tuple[str, str, str, str]]:
    """Yield the work, the unit, tinytorch's and PyTorch's figures of a run on a GPU."""
    ours, theirs = run["host overhead"]["tinytorch"], run["host overhead"]["torch"]
    calls = {
        "add": "`add`, time of the host", "add recorded": "`add` recorded for a gradient, host",
        "matmul 16x16": "`matmul` of 16 × 16 numbers, host", "softmax": "`softmax`, host",
    }  # fmt: skip
    for name in ours:
        yield calls[name], "µs", f"{ours[name]:.1f}", f"{theirs[name]:.1f}"
    for name, each in _products(run):
        yield name, "TFLOP/s", f"{each['tinytorch']:.0f}", f"{each['torch']:.0f}"
    networks = {"mlp": "a large perceptron", "digits": "the perceptron of the digits"}
    for part, name in networks.items():
        both = (f"{run[part][library]['ms per step']:.2f}" for library in ("tinytorch", "torch"))
        yield f"Training step of {name}", "ms", *both  # type: ignore[misc]


def _products(run: Run) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the name in words and the speeds of each matrix product on a GPU."""
    for name, each in run["products"].items():
        if "tinytorch" in each:
            dtype, size, *transposed = name.split()
            what = "64 products of 1024" if size == "64x1024" else f"product of {size}"
            side = size.rpartition("x")[2]
            yield f"{dtype}: {what} × {side}{', transposed' if transposed else ''}", each


def _rows(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown, with right-aligned figures."""
    yield "| " + " | ".join(head) + " |"
    yield "|---|---|" + "---:|" * (len(head) - 2)
    yield from ("| " + " | ".join(row) + " |" for row in rows)
    yield ""


# -- charts ----------------------------------------------------------------------------
# They are HTML, which fits the width of a phone and follows the site's light and dark theme.


def ratio_chart(runs: list[Run], section: str) -> str:
    """A chart of tinytorch's time over PyTorch's: a row for each work, a mark for each machine."""
    figures = [_ratios(run, section) for run in runs]
    works = dict.fromkeys(chain.from_iterable(figures))
    labels = [processor(run) for run in runs]
    ticks = {_position(ratio): text for ratio, text in TICKS.items()}
    rows = (
        _chart_row(work, [found.get(work) for found in figures], labels) for work in works
    )  # fmt: skip
    return _chart("dots", "Time over PyTorch's: less than 1 is faster", labels, ticks, rows)


def _ratios(run: Run, section: str) -> dict[str, float]:
    """tinytorch's times over PyTorch's, by the names in words of the rows of a section."""
    found: dict[str, list[float]] = {}
    for row in run["rows"]:
        name, _ = find(row["work"])
        if name.section == section and "torch" in row["ratios"]:
            text = name.summary or describe(row["work"])
            found.setdefault(text, []).append(row["ratios"]["torch"])
    return {
        (f"{len(values)} {text}, mean" if len(values) > 1 else text):
        statistics.geometric_mean(values) for text, values in found.items()
    }  # fmt: skip


def _position(ratio: float) -> float:
    """Percentage of the axis' length at which a ratio is drawn, with a margin at both ends."""
    within = min(max(ratio, LOW), HIGH)
    return round(4 + 92 * log2(within / LOW) / log2(HIGH / LOW), 1)


def _chart_row(work: str, ratios: list[float | None], labels: list[str]) -> str:
    """A row of a chart of ratios, in HTML."""
    marks = "".join(
        f'<i class="mark-{index}" style="left:{_position(ratio)}%" '
        f'title="{html.escape(label)}: {ratio:.2f}"></i>'
        for index, (ratio, label) in enumerate(zip(ratios, labels, strict=True))
        if ratio is not None
    )
    figures = "".join(f"<td>{'–' if ratio is None else f'{ratio:.2f}'}</td>" for ratio in ratios)
    return f'<tr><th scope="row">{_inline(work)}</th><td>{marks}</td>{figures}</tr>'


def gpu_chart(run: Run) -> str:
    """A chart of the speed of matrix products on a GPU, beside PyTorch's."""
    found = dict(_products(run))
    largest = max(max(each["tinytorch"], each["torch"]) for each in found.values())
    step = 200
    ticks = {round(100 * tick / largest, 1): str(tick) for tick in range(0, int(largest), step)}
    libraries = ["tinytorch", "torch"]
    rows = []
    for name, each in found.items():
        bars = "".join(
            f'<b class="mark-{index}" style="width:{100 * each[library] / largest:.1f}%"></b>'
            for index, library in enumerate(libraries)
        )
        figures = "".join(f"<td>{each[library]:.0f}</td>" for library in libraries)
        rows.append(f'<tr><th scope="row">{_inline(name)}</th><td>{bars}</td>{figures}</tr>')
    return _chart(
        "bars",
        "TFLOP/s, 10¹² operations per second: more is faster",
        ["tinytorch", "PyTorch"],
        ticks,
        rows,
    )


def _chart(
    kind: str, title: str, labels: list[str], ticks: dict[float, str], rows: Iterable[str]
) -> str:
    """A chart in HTML: a table whose second column is drawn, and the others are figures."""
    axis = "".join(f'<s style="left:{place}%">{text}</s>' for place, text in ticks.items())
    marks = [f'<i class="mark-{index}"></i>' for index in range(len(labels))]
    keys = ", ".join(f"{mark}{html.escape(label)}" for mark, label in zip(marks, labels))
    columns = "".join(
        f'<th scope="col" aria-label="{html.escape(label)}">{mark}</th>'
        for mark, label in zip(marks, labels)
    )
    return "\n".join(
        [
            f'<table class="chart {kind}"><caption>{title}. {keys}</caption>',
            f'<thead><tr><th></th><td aria-hidden="true">{axis}</td>{columns}</tr></thead>',
            "<tbody>",
            *rows,
            "</tbody></table>",
            "",
        ]
    )


def _inline(text: str) -> str:
    """A line of Markdown, of which only backticks have a meaning, as HTML."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text, quote=False))
