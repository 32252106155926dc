"""PyTorch's programs print the same if every module that they call is compiled."""

from __future__ import annotations

import contextlib
import gc
import io
import weakref
from pathlib import Path
from typing import Any

import pytest

import tinytorch
from tests.capture.compiled_program import CompiledCalls
from tests.test_programs import PROGRAMS, for_tinytorch
from tinytorch import nn

tt: Any = tinytorch

#: Programs of which no call can be replayed, and why.
EAGER = {
    "custom_function": "calls no module", "lbfgs": "calls no module",
    "posterior": "calls no module", "mixture_model": "calls no module",
    "actor_critic": "returns distributions",
    "mixture_density": "returns distributions", "ensembles": "is a function that vmap maps",
    "hooks": "registers hooks", "gcn": "multiplies by a sparse matrix",
    "graphsage": "multiplies by a sparse matrix",
}  # fmt: skip


def run(path: Path) -> str:
    """Return what a program prints."""
    out, dtype = io.StringIO(), tt.get_default_dtype()
    tt.manual_seed(0)
    try:
        with contextlib.redirect_stdout(out):
            source = compile(for_tinytorch(path.read_text()), str(path), "exec")
            exec(source, {"__name__": "__main__"})
    finally:
        tt.set_default_dtype(dtype)
    return out.getvalue()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")
def test_a_program_prints_the_same_compiled(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = run(path)
    calls = CompiledCalls()
    monkeypatch.setattr(nn.Module, "__call__", calls.method())
    assert run(path) == expected
    assert (calls.recordings() == 0) is (path.stem in EAGER)


def test_recordings_do_not_keep_arguments_and_results_alive() -> None:
    compiled = tt.compile(lambda x: (x * 2 + 1, x))
    for requires_grad in (False, True):
        x = tt.ones(10, requires_grad=requires_grad)
        y, _ = compiled(x)
        found = weakref.ref(x), weakref.ref(y)
        del x, y, _
        gc.collect()
        assert [each() for each in found] == [None, None]


def test_recordings_do_not_keep_modules_alive() -> None:
    net = nn.Linear(2, 2)
    compiled = tt.compile(net)
    compiled(tt.ones(1, 2)).sum().backward()
    found = weakref.ref(net)
    del net, compiled
    gc.collect()
    assert found() is None
