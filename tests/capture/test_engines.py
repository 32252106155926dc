"""PyTorch's operations and their gradients, replayed on other numbers by each engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tinytorch.capture import c_compiler, c_engine, numpy_blocks, numpy_engine

from tests.capture import survey

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(("engine", "every"), [("numpy", 10), ("numpy in blocks", 10), ("c", 40)])
def test_operations_are_right_on_each_engine(
    engine: str, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "c" and c_compiler.find_compiler() is None:
        pytest.skip("there is no C compiler")
    monkeypatch.setattr(c_engine, "_FEW", 0)
    if engine == "numpy in blocks":
        monkeypatch.setattr(numpy_engine, "BLOCK", 8)
        monkeypatch.setattr(numpy_blocks, "BLOCK", 7)
    prepare: Any = c_engine.prepare if engine == "c" else numpy_engine.prepare

    def run(program: Any, arrays: Any) -> list[Any]:
        """Run a program as the straightforward engine does, which writes no input."""
        copies = [np.array(a, order="K") if isinstance(a, np.ndarray) else a for a in arrays]
        outputs = prepare(program).run(copies)
        return [*outputs, *(copies[number] for number, _ in program.writes)]

    monkeypatch.setattr(survey, "run_program", run)
    infos = survey.choose(survey.operations(), every, 11)
    found = survey.survey(infos, "float32", count=2)
    bad = {name: verdict.why for name, verdict in found.items() if verdict in ("wrong", "raises")}
    assert not bad
    assert sum(verdict == "right" for verdict in found.values()) >= 8
