"""Compiled steps on a GPU beside eager ones, by kernels and as a CUDA graph.

A step is compiled by ``tt.compile`` on CuPy. It is measured as programs use it, which is as a CUDA
graph if it can be captured, and then kernel by kernel. Results are compared with the eager ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import compiled

#: Works of ``compiled.WORKS`` that are measured.
NAMES = (
    "chain of 100, 1 M", "gelu tanh, 4 M", "gelu erf, 4 M", "softmax, 4096x1024",
    "layer norm, 4096x1024", "MLP step, Adam, 512", "GPT step, 3 layers, 8", "LeNet step, 64",
)  # fmt: skip
#: Calls before a step is measured: optimizers create their state, then it is recorded, run on the
#: same arrays, run in the memory of the graph and captured.
_FIRST = 8
Report = dict[str, Any]


def measure(
    backend: Any, device_time: Callable[[Callable[[], Any]], float],
    works: dict[str, Callable[[Any], Callable[[], Any]]] | None = None,
) -> Iterator[tuple[str, Report]]:  # fmt: skip
    """Yield the name of each work with its figures, in ms.

    Args:
        backend: The CuPy backend.
        device_time: Function that returns the seconds of the device for a call.
        works: Functions that return a step of a library; without them those of ``NAMES``.
    """
    import tinytorch as tt

    works = works or {name: compiled.WORKS[name].make for name in NAMES}
    for name, make in works.items():
        report: Report = {}
        try:
            with tt.backend_context(backend):
                measure_work(report, make(tt), tt.compile(make(tt), fullgraph=True), device_time)
        except Exception as error:  # a failure is a result, too: report it
            report["failed"] = f"{type(error).__name__}: {str(error)[:200]}"
        yield name, report


def measure_work(
    report: Report,
    eager: Callable[[], Any],
    step: Any,
    device_time: Callable[[Callable[[], Any]], float],
) -> None:
    """Measure a step, eager and compiled.

    Args:
        report: The figures are added to it.
        eager: The eager step.
        step: The same step, compiled.
        device_time: See ``measure``.
    """
    wanted, found = ([work() for _ in range(_FIRST)][-1] for work in (eager, step))
    report["difference"] = largest_difference(found, wanted)
    report["eager"] = _milliseconds(device_time, eager)
    report["compiled"] = _milliseconds(device_time, step)
    executable = step._compiled.entries[0].call.lanes.prepare()
    if executable.graph is None or executable.graph.failure:
        report["no graph"] = executable.graph.failure if executable.graph else "it gets numbers"
        return
    executable.graph = None
    report["kernel by kernel"] = _milliseconds(device_time, step)


def largest_difference(found: Any, wanted: Any) -> float:
    """Return the largest difference of results, relative to the largest element of each."""
    if not isinstance(found, (tuple, list)):
        found, wanted = [found], [wanted]
    worst = 0.0
    for a, b in zip(found, wanted, strict=True):
        a, b = a.detach().cpu().numpy(), b.detach().cpu().numpy()
        scale = max(1e-30, float(np.abs(b).max()))
        worst = max(worst, float(np.abs(a - b).max()) / scale)
    return worst


def _milliseconds(device_time: Callable[[Callable[[], Any]], float], work: Any) -> float:
    return round(device_time(work) * 1e3, 4)
