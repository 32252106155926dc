"""The programs under examples/ print the same if their modules and functions are compiled."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import fresh
from tests.test_examples import EXAMPLES, LIBRARIES, ROOT, THREADS

#: Examples with arguments for few steps, since rounding grows from step to step.
FEW = {
    "digits": ["--epochs=3"], "chargpt": ["--steps=15"], "detector": ["--steps=3"],
    "vae": ["--epochs=3"], "gcn": ["--steps=50"], "gaussian_process": ["--steps=3"],
    "heat": ["--steps=1"], "pole": ["--updates=3"], "orbit": ["--rounds=2"],
    "generate": ["--steps=10", "--length=30"], "onnx_digits": ["--epochs=1"],
    "counting_backend": ["--steps=10"],
}  # fmt: skip
#: Examples that are not run here, and why.
APART = {
    "dask_folds": "workers train on other backends",
    "distributed_digits": "its processes are started by MPI",
    "embeddings": "needs weights that are downloaded",
}
#: Examples without a call that can be replayed, and why.
EAGER = {"gcn": "multiplies by a sparse matrix"}

_TIMES = re.compile(r"[\d.]+ s\b|[\d.]+ (?=letters a second|without)")
_RUNNER = ROOT / "tests" / "capture" / "compiled_program.py"


@pytest.fixture(autouse=True)
def libraries() -> None:
    for module in ("sklearn", "matplotlib", "tqdm"):
        pytest.importorskip(module, reason="the `examples` extra is not installed")


def test_every_example_is_run_or_has_a_reason() -> None:
    assert sorted([*FEW, *APART]) == EXAMPLES


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", FEW)
def test_an_example_prints_the_same_compiled(name: str, tmp_path: Path) -> None:
    if name == "onnx_digits":
        pytest.importorskip("onnxruntime", reason="the example reads its model with onnxruntime")
    path, found = ROOT / "examples" / f"{name}.py", []
    for script, arguments in ((path, FEW[name]), (_RUNNER, [str(path), *FEW[name]])):
        done = fresh.script(script, *arguments, cwd=tmp_path, modules=LIBRARIES, **THREADS)
        found.append((_TIMES.sub("", done.stdout), done.returncode))
    assert found[0] == found[1], done.stderr
    assert len(found[0][0]) > 20
    (count,) = re.findall(r"recordings: (\d+)", done.stderr)
    assert (count == "0") is (name in EAGER)
