"""Compiled steps on a GPU: programs that are recorded on the host, beside eager steps on CuPy.

A step is recorded on NumPy's arrays, and its program runs on copies of them on the device: first
kernel by kernel, then as a CUDA graph if it can be captured. Each result is compared with the
host's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import compiled

#: Works of ``compiled.WORKS`` that are measured.
NAMES = (
    "gelu tanh, 4 M", "gelu erf, 4 M", "softmax, 4096x1024", "layer norm, 4096x1024",
    "MLP step, Adam, 512", "GPT step, 3 layers, 8",
)  # fmt: skip
#: Calls before the recording: optimizers create their state in the first ones.
_FIRST = 2
Report = dict[str, Any]


class DeviceProgram:
    """Program of a step, with its arrays on the device.

    Args:
        step: Function without arguments, of tensors on the NumPy backend.
        backend: The CuPy backend.
        graphs: Whether the program may be captured.
    """

    def __init__(self, step: Callable[[], Any], backend: Any, graphs: bool = True) -> None:
        from tinytorch.capture import cuda_engine
        from tinytorch.capture.recording import record
        from tinytorch.capture.replay import run_program

        for _ in range(_FIRST):
            step()
        recording = record(step, [])
        if recording.breaks:
            raise RuntimeError(f"the step reads a number: {recording.breaks[0]}")
        found = [
            source.array if source.read is None else np.float64(source.read())
            for source in recording.sources
        ]
        self._program, self._host = recording.program, found
        self._expected = run_program(recording.program, found)[: len(recording.program.outputs)]
        self._arrays = [
            backend.library.array(each, order="K") if isinstance(each, np.ndarray) else each
            for each in found
        ]
        self.executable = cuda_engine.prepare(recording.program, backend)
        if not graphs:
            self.executable.graph = None

    def __call__(self) -> list[Any]:
        """Run the program."""
        return self.executable.run(self._arrays)

    def largest_difference(self) -> float:
        """Run the program, and return the largest difference from the host's result.

        It is relative to the largest element of a result.
        """
        worst = 0.0
        for found, wanted in zip(self(), self._expected, strict=True):
            scale = max(1e-30, float(np.abs(wanted).max()))
            worst = max(worst, float(np.abs(found.get() - wanted).max()) / scale)
        return worst


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
                report["eager"] = _milliseconds(device_time, make(tt))
            for kind, graphs in (("kernels", False), ("graph", True)):
                with tt.backend_context("numpy"):
                    program = DeviceProgram(make(tt), backend, graphs)
                report[f"difference, {kind}"] = program.largest_difference()
                report[kind] = _milliseconds(device_time, program)
                graph = program.executable.graph
                if graphs and (graph is None or graph.failure):
                    report["no graph"] = "it gets numbers" if graph is None else graph.failure
        except Exception as error:  # a failure is a result, too: report it
            report["failed"] = f"{type(error).__name__}: {str(error)[:200]}"
        yield name, report


def _milliseconds(device_time: Callable[[Callable[[], Any]], float], work: Any) -> float:
    return round(device_time(work) * 1e3, 4)
