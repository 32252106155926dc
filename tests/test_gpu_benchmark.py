"""``python -m benchmarks.gpu``: a part may fail in any way; all run on pretended GPUs."""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from strictcupy.backend import pretended_cuda

import tinytorch as tt
from benchmarks import compiled, gpu, gpu_bfloat16, gpu_compiled, gpu_suite
from tests.capture.cuda_host import make_module
from tests.fresh import program, search_path
from tests.processes import is_running, wait_until
from tinytorch.backends.cupy.gemm import gemm
from tinytorch.capture.c_compiler import find_compiler

pytestmark = pytest.mark.slow

# What a part's process does instead of the part.


def stops(file: str) -> None:
    raise SystemExit(3)


def aborts(file: str) -> None:
    import os
    import sys

    print("lost", file=sys.stderr)
    os.abort()


def hangs(file: str) -> None:
    import time
    from pathlib import Path

    from benchmarks import gpu

    gpu._part["file"] = Path(file)
    gpu.keep({"4096": 1.5})
    time.sleep(60)


def fails_after_a_figure(file: str) -> None:
    from pathlib import Path

    from benchmarks import gpu

    gpu.PARTS["mlp"] = (lambda seconds: gpu.keep({"ms": 2}) or 1 / 0, 1.0)
    gpu.run_part("mlp", Path(file), 1)


def gives(file: str, name: str, figures: dict[str, float]) -> None:
    from pathlib import Path

    from benchmarks import gpu

    gpu.PARTS[name] = (lambda seconds: figures, 1.0)
    gpu.run_part(name, Path(file), 1)


def lacks_a_library(file: str) -> None:
    raise ImportError("no module called cupy")


ENDS: dict[str, tuple[Any, ...]] = {
    "machine": (stops,),
    "host overhead": (aborts,),
    "products": (hangs,),
    "mlp": (fails_after_a_figure,),
    "digits": (gives, "digits", {"ms": 1.5}),
    "compiled": (gives, "compiled", {}),
    "gpu tests": (gives, "gpu tests", {}),
    "suite": (lacks_a_library,),
    "suite beside PyTorch": (gives, "suite beside PyTorch", {}),
}


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    def command(name: str, file: Path, seconds: float) -> list[str]:
        end, *arguments = ENDS[name]
        return [sys.executable, "-c", program(end, str(file), *arguments)]

    monkeypatch.setenv("PYTHONPATH", search_path())
    monkeypatch.setattr(gpu, "command", command)
    monkeypatch.setattr(gpu, "unusable", lambda: "")
    monkeypatch.setattr(gpu, "LEAST", 1.0)
    slow = {name: (part, 6.0 if name == "products" else 60.0)
            for name, (part, _) in gpu.PARTS.items()}  # fmt: skip
    monkeypatch.setattr(gpu, "PARTS", slow)


@pytest.mark.usefixtures("failing")
def test_every_failure_is_reported_and_stops_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "results" / "gpu.json"
    assert gpu.main(["--json", str(file)]) == 5
    report = json.loads(file.read_text())
    assert list(report) == list(gpu.PARTS)
    assert "status 3" in report["machine"]["error"]
    assert "lost" in report["host overhead"]["error"]
    assert report["products"] == {"4096": 1.5, "error": "not done after 6 s"}
    assert report["mlp"]["ms"] == 2 and "ZeroDivisionError" in report["mlp"]["error"]
    assert report["digits"] == {"ms": 1.5}
    assert "no module called cupy" in report["suite"]["error"]
    out = capsys.readouterr().out
    assert "digits" in out
    assert "ZeroDivisionError: division by zero" in out and "Traceback" not in out


@pytest.mark.usefixtures("failing")
def test_parts_can_be_chosen(tmp_path: Path) -> None:
    file = tmp_path / "gpu.json"
    assert gpu.main(["--json", str(file), "--only", "digits"]) == 0
    assert list(json.loads(file.read_text())) == ["digits"]


def test_why_there_is_no_gpu_is_said_and_nothing_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cupy.py").write_text("raise ImportError('broken by hand')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    file = tmp_path / "results" / "gpu.json"
    assert gpu.main(["--json", str(file), "--only", "machine", "mlp"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("no part can run: ") and "ImportError: broken by hand" in line
    assert "reinstall it" in line
    assert not file.parent.exists()


def test_all_parts_take_less_than_ten_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, given = 1000.0, {}

    def use_up(name: str, seconds: float) -> dict[str, Any]:
        nonlocal now
        given[name] = seconds
        now += seconds
        return {}

    def answer() -> str:
        nonlocal now
        now += gpu.ANSWERS_WITHIN
        return ""

    monkeypatch.setattr(gpu, "run_isolated", use_up)
    monkeypatch.setattr(gpu, "unusable", answer)
    monkeypatch.setattr(gpu.time, "perf_counter", lambda: now)
    file = tmp_path / "gpu.json"
    assert gpu.main(["--json", str(file)]) == 0
    assert now == 1000.0 + gpu.ALL_WITHIN < 1600.0
    *begun, last = gpu.PARTS
    assert list(given) == begun and begun[-1] == "suite" and given["suite"] > 180
    assert json.loads(file.read_text())[last] == {"stopped": "no time left"}


@pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler to run kernels")
def test_compiled_steps_are_measured_beside_eager_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import strictcupy

    def scale(m: Any, x: Any) -> Any:
        return x * x.detach().sum().item()

    monkeypatch.setenv("TINYTORCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(strictcupy, "RawModule", make_module, raising=False)
    works = {
        "softmax": partial(compiled.rows, function=compiled.softmax, side=(8, 40)),
        "reads": partial(compiled.rows, function=scale, side=(8, 40)),
    }
    with pretended_cuda() as backend:
        rows = dict(gpu_compiled.measure(backend, lambda work: work() and 0.001, works))
    row = rows["softmax"]
    assert row["eager"] == row["compiled"] == 1.0 and row["difference"] < 1e-6
    assert "begin_capture" in row["no graph"]  # which the stand-in lacks
    assert "reads a value" in rows["reads"]["failed"]


def test_the_rows_of_compiled_steps_are_those_of_the_other_benchmark() -> None:
    assert set(gpu_compiled.NAMES) <= compiled.WORKS.keys()


def test_processes_started_by_a_part_end_with_it(tmp_path: Path) -> None:
    def child(file: str) -> None:
        import os
        import pathlib
        import time

        whole = pathlib.Path(file + ".new")
        whole.write_text(str(os.getpid()))
        whole.rename(file)
        time.sleep(600)

    def parent(child: str, file: str, waits: bool) -> None:
        import pathlib
        import subprocess
        import sys
        import time

        started = subprocess.Popen([sys.executable, "-c", child])
        while not pathlib.Path(file).exists():
            time.sleep(0.01)
        sys.exit(started.wait() if waits else 3)

    def ended(file: Path, waits: bool, seconds: float) -> str:
        text = program(parent, program(child, str(file)), str(file), waits)
        return gpu._run_process([sys.executable, "-c", text], seconds)

    files = tmp_path / "first", tmp_path / "second"
    assert ended(files[0], True, 3.0) == "not done after 3 s"
    assert ended(files[1], False, 60.0) == "ended with status 3\n"
    for file in files:
        if file.exists():  # a busy machine may not have started the first one's child
            wait_until(lambda file=file: not is_running(int(file.read_text())), 10)


def every_end(seconds: float) -> None:
    """Tests that end in every way, one of them with spaces and a dash in its name."""
    import time

    import pytest

    @pytest.mark.parametrize("x", ["a b", "c - d"])
    def test_some(x):
        assert x == "a b", "no good"

    def test_skipped():
        pytest.skip("why not")

    @pytest.fixture
    def broken():
        raise OSError("gone: " + __file__)

    def test_error(broken):
        pass

    def test_slow():
        time.sleep(seconds)


def losing() -> None:
    """A GPU that a test loses, for its process and whatever else it would compute."""
    import sys
    import types

    import pytest

    def lost():
        raise RuntimeError("illegal address")

    def lose():
        runtime = types.SimpleNamespace(CUDARuntimeError=RuntimeError, deviceSynchronize=lost)
        sys.modules["cupy"] = types.SimpleNamespace(cuda=types.SimpleNamespace(runtime=runtime))

    def use():
        if "cupy" in sys.modules:
            sys.modules["cupy"].cuda.runtime.deviceSynchronize()

    @pytest.mark.parametrize("i", range(20))
    def test_use(i):
        if i == 3:
            lose()
        use()


def test_a_process_that_lost_its_gpu_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("xdist", reason="it runs tests in several processes")
    (tmp_path / "test_it.py").write_text(program(losing))
    (tmp_path / "test_unreadable.py").write_text("import no_such_package")
    monkeypatch.chdir(tmp_path)
    report = gpu_suite.run([".", "-n", "2"], 60.0)
    assert set(report["failed"]) == {"test_it.py::test_use[3]", "test_unreadable.py"}
    assert "no_such_package" in report["failed"]["test_unreadable.py"]
    assert report["counts"]["passed"] == 19


@pytest.mark.parametrize("processes", ["alone", "several"])
def test_outcomes_are_noted_with_their_reasons(
    processes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if processes == "several":
        pytest.importorskip("xdist", reason="it runs tests in several processes")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(program(every_end, 0))
    monkeypatch.chdir(tmp_path)
    report = gpu_suite.run(["tests", *(["-n", "2"] if processes == "several" else [])], 60.0)
    assert report["counts"] == {"passed": 2, "failed": 1, "skipped": 1, "error": 1}
    assert list(report["failed"]) == ["tests/test_it.py::test_error",
                                      "tests/test_it.py::test_some[c - d]"]  # fmt: skip
    assert "no good" in report["failed"]["tests/test_it.py::test_some[c - d]"]
    # Figures are kept, and read where the machine's folders say nothing.
    assert "gone: test_it.py" in report["failed"]["tests/test_it.py::test_error"]
    assert "error" not in report and "stopped" not in report


def test_results_before_the_time_limit_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(program(every_end, 60))
    monkeypatch.chdir(tmp_path)
    report = gpu_suite.run(["tests"], 8.0)
    assert report["stopped"].startswith("after 8 s")
    assert report["counts"] == {"passed": 1, "failed": 1, "skipped": 1, "error": 1}
    assert list(report["failed"]) == ["tests/test_it.py::test_error",
                                      "tests/test_it.py::test_some[c - d]"]  # fmt: skip
    assert "no good" in report["failed"]["tests/test_it.py::test_some[c - d]"]


def test_a_part_without_figures_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "command", lambda *given: [sys.executable, "-c", "pass"])
    assert gpu.run_isolated("mlp", 9.0) == {"error": "it left no figures"}


def test_the_command_runs_a_part(tmp_path: Path) -> None:
    command = gpu.command("mlp", tmp_path / "x", 9.0)
    assert command[1:5] == ["-m", "benchmarks.gpu", "--part", "mlp"]
    assert command[-2:] == ["--seconds", "9.0"]


@pytest.fixture
def on_pretended_gpus(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(gpu, "_libraries", lambda: iter([("tinytorch", tt)]))
    with pretended_cuda(1):
        yield


@pytest.mark.usefixtures("on_pretended_gpus")
@pytest.mark.parametrize("part", [gpu.mlp, gpu.digits])
def test_training_runs_on_the_stand_in(
    part: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    train = gpu._train

    def train_small(sizes: tuple[int, ...], batch: int, *others: Any) -> Any:
        return train((sizes[0], *[16] * len(sizes[1:-1]), sizes[-1]), 16, *others)

    monkeypatch.setattr(gpu, "_train", train_small)
    monkeypatch.setattr(gpu, "_device_time", lambda work, m, repeats: work() and 1.0)
    monkeypatch.setattr(gpu, "REPEATS", 1)
    figures = part()["tinytorch"]
    assert len(figures["losses"]) == 20
    assert figures["losses"][-1] < figures["losses"][0]


def test_the_hosts_time_is_without_its_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "REPEATS", 3)
    clock = 0.0

    def spend(seconds: float) -> None:
        nonlocal clock
        clock += seconds

    monkeypatch.setattr(gpu.time, "perf_counter", lambda: clock)
    cuda = SimpleNamespace(synchronize=lambda: spend(0.2))
    found = gpu._queueing(lambda: spend(0.01), SimpleNamespace(cuda=cuda))
    assert found == pytest.approx(0.01)


@pytest.mark.usefixtures("on_pretended_gpus")
def test_products_have_a_row_for_each_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def rate(m: Any, dtype: str, left: Any, right: Any, transposed: bool) -> float:
        asked.append((dtype, _compute[0]))
        return 1.0

    _compute = ["full"]
    core = SimpleNamespace(
        get_compute_type=lambda dtype: _compute[0],
        set_compute_type=lambda dtype, kind: _compute.__setitem__(0, kind),
        _routines_linalg=SimpleNamespace(COMPUTE_TYPE_TF32="tf32"),
    )
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(_core=core))
    monkeypatch.setattr(gpu, "_rate_in", rate)
    monkeypatch.setattr(gpu, "_bfloat16_rate", lambda *given: 2.0)
    report = gpu.products()
    assert {key.split()[0] for key in report} == {"float32", "tf32", "float16", "bfloat16"}
    assert [kind for dtype, kind in asked if dtype == "float32"] == ["full"] * 3 + ["tf32"] * 3
    assert _compute == ["full"], "and then it is as before"
    assert report["tf32 4096"] == {"tinytorch": 1.0}
    assert report["bfloat16 64x1024"] == {"cuBLAS by CuPy, not tinytorch": 2.0}


@pytest.mark.parametrize("kind", ["full", "tf32"])
def test_products_are_left_to_cupy_where_it_is_to_use_tf32(kind: str) -> None:
    calls: list[str] = []
    library = SimpleNamespace(
        _core=SimpleNamespace(
            _routines_linalg=SimpleNamespace(
                COMPUTE_TYPE_TF32="tf32", get_compute_type=lambda dtype: kind
            )
        ),
        cuda=SimpleNamespace(
            cublas=SimpleNamespace(
                sgemm=lambda *given: calls.append("sgemm"),
                dgemm=lambda *given: calls.append("dgemm"),
            ),
            device=SimpleNamespace(get_cublas_handle=lambda: 0),
        ),
        empty=lambda shape, dtype: _array(np.empty(shape, dtype)),
    )
    for dtype in ("f4", "f8"):
        gemm(library, _array(np.ones((2, 3), dtype)), _array(np.ones((3, 4), dtype)))
    assert calls == (["dgemm"] if kind == "tf32" else ["sgemm", "dgemm"])


class _Array(np.ndarray):
    """An array of NumPy's with an address where CuPy's have theirs."""

    @property
    def data(self) -> Any:  # type: ignore[override]
        return SimpleNamespace(ptr=self.ctypes.data)


def _bfloat16_at(address: int, rows: int, columns: int, step: int) -> Any:
    """A matrix of uint16 as cuBLAS sees it: columns first, each ``step`` from the last."""
    memory = (ctypes.c_uint16 * (step * columns)).from_address(address)
    return np.frombuffer(memory, "uint16").reshape(columns, step)[:, :rows].T


def _gemm(handle: int, ta: int, tb: int, m: int, n: int, k: int, alpha: int, A: int, a_type: int,
          lda: int, B: int, b_type: int, ldb: int, beta: int, C: int, c_type: int, ldc: int,
          compute: int, algo: int) -> None:  # fmt: skip
    """cuBLAS's ``gemmEx`` of bfloat16, by its definition and NumPy."""
    assert (handle, a_type, b_type, c_type, compute, algo) == (7, 14, 14, 14, 68, -1)
    factors = [ctypes.c_float.from_address(x).value for x in (alpha, beta)]
    assert factors == [1.0, 0.0]
    a, b = (
        _bfloat16_at(A, *((k, m) if ta else (m, k)), lda),
        _bfloat16_at(B, *((n, k) if tb else (k, n)), ldb),
    )
    a, b = (gpu_bfloat16.numbers(x.T if t else x) for x, t in ((a, ta), (b, tb)))
    _bfloat16_at(C, m, n, ldc)[...] = gpu_bfloat16.bits(a @ b)


def _batched_gemm(*given: Any) -> None:
    first, (A, *a), (stride_a, B, *b) = given[:7], given[7:10], given[10:14]
    stride_b, beta, C, *c = given[14:19]
    stride_c, count, *how = given[19:]
    for i in range(count):
        at = [x + 2 * i * step for x, step in ((A, stride_a), (B, stride_b), (C, stride_c))]
        _gemm(*first, at[0], *a, at[1], *b, beta, at[2], *c, *how)


def _cupy(**changes: Any) -> Any:
    cublas = {"gemmEx": _gemm, "gemmStridedBatchedEx": _batched_gemm, "CUBLAS_COMPUTE_32F": 68,
              "CUBLAS_GEMM_DEFAULT": -1, **changes}  # fmt: skip
    return SimpleNamespace(
        asarray=lambda host: host.view(_Array), asnumpy=np.asarray,
        zeros=lambda shape, dtype: np.zeros(shape, dtype).view(_Array),
        cuda=SimpleNamespace(
            cublas=SimpleNamespace(**cublas), runtime=SimpleNamespace(CUDA_R_16BF=14),
            device=SimpleNamespace(get_cublas_handle=lambda: 7),
        ),
    )  # fmt: skip


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_products_of_bfloat16_are_products(batch: tuple[int, ...], transposed: bool) -> None:
    rng = np.random.default_rng(0)
    left = rng.random((*batch, 5, 6), dtype=np.float32)
    right = rng.random((*batch, 7, 6) if transposed else (*batch, 6, 7), dtype=np.float32)
    found = gpu_bfloat16.checked_product(_cupy(), left, right, transposed)()
    wanted = left @ (right.swapaxes(-1, -2) if transposed else right)
    np.testing.assert_allclose(gpu_bfloat16.numbers(found), wanted, 2.0**-7)
    nothing = {"gemmEx": lambda *given: None, "gemmStridedBatchedEx": lambda *given: None}
    with pytest.raises(ArithmeticError, match="not their product"):
        gpu_bfloat16.checked_product(_cupy(**nothing), left, right, transposed)


def test_bfloat16_is_rounded_as_pytorchs(torch: Any) -> None:
    values = np.random.default_rng(0).random(1000, dtype=np.float32)
    values[:2] = 1 + 2.0**-8, 1 + 3 * 2.0**-8  # between two
    wanted = torch.tensor(values).to(torch.bfloat16)
    np.testing.assert_array_equal(
        gpu_bfloat16.bits(values), wanted.view(torch.int16).numpy().astype("uint16")
    )


def test_cupys_cublas_is_called_as_it_wants() -> None:
    cupy: Any = pytest.importorskip("cupy", reason="CuPy is not installed")
    cublas, real = _cupy().cuda.cublas, cupy.cuda.cublas
    assert cupy.cuda.runtime.CUDA_R_16BF == 14
    for name in ("CUBLAS_COMPUTE_32F", "CUBLAS_GEMM_DEFAULT"):
        assert getattr(real, name) == getattr(cublas, name)
    for name, count in (("gemmEx", 19), ("gemmStridedBatchedEx", 23)):
        assert len(getattr(real, name).__doc__.split(",")) == count


def _array(host: Any) -> Any:
    return SimpleNamespace(
        dtype=host.dtype, shape=host.shape, size=host.size, flags=host.flags,
        data=SimpleNamespace(ptr=0),
    )  # fmt: skip
