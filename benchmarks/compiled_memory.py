"""Memory of compiled steps beside that of eager ones: peak resident memory, each in its process.

python -m benchmarks --only compiled memory
"""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from . import compiled, libraries
from .report import ResultRow

WORKS = (
    "MLP step, Adam, 64", "LSTM cells, 50 steps", "LeNet step, 64", "GPT step, 3 layers, 8",
)  # fmt: skip
#: Steps before the measured ones, in which programs are recorded and planned, and measured steps.
_FIRST, _STEPS = 5, 10
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def measure(parts: Sequence[str]) -> list[ResultRow]:
    """Return a row for each work and engine; none where the system does not tell the memory.

    Args:
        parts: Texts of which the name of a row must hold one; none for all rows.
    """
    if not _CLEAR.exists():
        return []
    context, found = multiprocessing.get_context("spawn"), []
    names = [w for w in WORKS if not parts or any(part in f"memory: {w}" for part in parts)]
    for name in names:
        values = {}
        for who in ("eager", *compiled.ENGINES):
            with compiled.limit_threads(1), ProcessPoolExecutor(1, context) as pool:
                values[who] = pool.submit(peak, name, who).result()
        found += [
            ResultRow(
                f"compiled, {who}, memory: {name}", "MB",
                {"tinytorch": values[who], "eager": values["eager"]}, 1.0, "over eager",
            )
            for who in compiled.ENGINES
        ]  # fmt: skip
    return found


def peak(name: str, who: str) -> float:
    """Return the peak of steps after the first ones, above the memory before them, in megabytes."""
    m: Any = libraries.load(("tinytorch",))["tinytorch"]
    step = compiled.WORKS[name].make(m)
    if who != "eager":
        step = m.compile(step, backend=who)
    warm_up(m)
    gc.collect()
    before = resident("VmRSS")
    for _ in range(_FIRST):
        step()
    _CLEAR.write_text("5")  # the peak is the present memory
    for _ in range(_STEPS):
        step()
    return max(resident("VmHWM") - before, 0.0)


def warm_up(m: Any) -> None:
    """Compile a small training step, so that the modules which that needs are imported."""
    net = m.nn.Linear(2, 2)
    optimizer = m.optim.Adam(net.parameters())

    @m.compile(backend="c")  # type: ignore[untyped-decorator]
    def step() -> Any:
        optimizer.zero_grad()
        loss = m.nn.functional.cross_entropy(net(m.ones(2, 2)).relu(), m.tensor([0, 1]))
        loss.backward()
        optimizer.step()
        return loss.detach()

    for _ in range(3):
        step()


def resident(name: str) -> float:
    """Return an entry of the process's status in megabytes."""
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) / 1024
