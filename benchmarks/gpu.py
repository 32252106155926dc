"""Tests and speed of the library on a GPU: ``python -m benchmarks.gpu``, under ten minutes.

The parts are the test suite on real CuPy, the host time of an operation beside PyTorch's, matrix
products, and two networks that both libraries train from the same weights, PyTorch in eager mode.
Each part runs in its own process with a time limit, because a GPU that has failed once fails for
the rest of its process: a failure is reported and stops no other part. The suite comes last and
takes the rest of the ten minutes. The program prints a table; ``--json`` writes the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from . import gpu_bfloat16, gpu_compiled, gpu_suite

HERE = Path(__file__).parent
RESULTS = HERE / "results"
Report = dict[str, Any]
#: Number of timed training steps.
REPEATS = 100


def machine() -> Report:
    """The machine of the figures: GPU, processor, versions."""
    import cupy

    facts: Report = {"system": platform.platform(), "cores": os.cpu_count(), "processor": _cpu()}
    facts["date"] = time.strftime("%Y-%m-%d", time.gmtime())
    facts |= {"python": platform.python_version(), "numpy": np.__version__}
    facts["cupy"] = cupy.__version__
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    facts["device"] = properties["name"].decode()
    facts["cuda"] = cupy.cuda.runtime.runtimeGetVersion()
    facts["driver"] = cupy.cuda.runtime.driverGetVersion()
    keep(facts)  # the first import of PyTorch can be slow
    try:
        import torch

        facts["torch"] = torch.__version__
        facts["torch sees the GPU"] = torch.cuda.is_available()
    except ImportError:
        facts["torch"] = "absent"
    return facts


def _cpu() -> str:
    """The processor's name, if the system reports it."""
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text().splitlines() if facts.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


# -- the parts -----------------------------------------------------------------------------------


def host_overhead() -> Report:
    """Host time per operation on 16 elements, in µs, without synchronization."""
    report: Report = {}
    for name, m in _libraries():
        report[name] = _overhead(m)
        keep(report)
    return report


def _overhead(m: Any) -> Report:
    """Host time of some operations of the library ``m``, in µs, by name."""
    x = m.ones(16, device="cuda")
    w = m.ones(16, device="cuda", requires_grad=True)
    m.cuda.synchronize()
    return {
        "add": _host_time(lambda: x + x, m),
        "add recorded": _host_time(lambda: x + w, m),
        "matmul 16x16": _host_time(_product(m), m),
        "softmax": _host_time(lambda: m.softmax(x, 0), m),
    }


def _product(m: Any) -> Callable[[], Any]:
    """Return a function that multiplies two 16x16 matrices by the library ``m``."""
    a = m.ones(16, 16, device="cuda")
    return lambda: a @ a


def _host_time(work: Callable[[], Any], m: Any) -> float:
    """Median µs of the host for a call of ``work``, which is queued on the device."""
    for _ in range(50):
        work()
    samples = []
    for _ in range(9):
        m.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(200):
            work()
        samples.append((time.perf_counter() - start) / 200 * 1e6)
    m.cuda.synchronize()
    return round(statistics.median(samples), 2)


def products() -> Report:
    """Rates of matrix products in TFLOP/s, beside PyTorch.

    tinytorch has no bfloat16; that row calls cuBLAS through CuPy.
    """
    shapes = {
        "4096": ((4096, 4096), (4096, 4096)),
        "4096 transposed": ((4096, 4096), (4096, 4096)),
        "64x1024": ((64, 1024, 1024), (64, 1024, 1024)),
    }
    report: Report = {}
    for precision in ("float32", "tf32", "float16", "bfloat16"):
        for name, (left, right) in shapes.items():
            row = report[f"{precision} {name}"] = {}
            for library, m in _libraries():
                rate = _rate
                if precision == "bfloat16" and library == "tinytorch":
                    library, rate = "cuBLAS by CuPy, not tinytorch", _bfloat16_rate
                row[library] = _attempt(
                    lambda m=m, rate=rate: rate(m, precision, left, right, "trans" in name)
                )
            keep(report)
    return report


def _bfloat16_rate(m: Any, precision: str, left: Any, right: Any, transposed: bool) -> float:
    """``_rate`` of cuBLAS's product of bfloat16, called through CuPy."""
    import cupy

    rng = np.random.default_rng(0)
    a, b = (rng.random(shape, dtype=np.float32) for shape in (left, right))
    work = gpu_bfloat16.checked_product(cupy, a, b, transposed)
    return _teraflops(left, right, _device_time(work, m, 10))


@contextmanager
def tf32() -> Iterator[None]:
    """Let both libraries multiply float32 on tensor cores: CuPy's ``CUPY_TF32=1``, for a block."""
    import cupy

    routines = cupy._core._routines_linalg
    before = cupy._core.get_compute_type(np.dtype("float32"))
    libraries = dict(_libraries())
    cupy._core.set_compute_type(np.dtype("float32"), routines.COMPUTE_TYPE_TF32)
    if "torch" in libraries:
        libraries["torch"].backends.cuda.matmul.allow_tf32 = True
    try:
        yield
    finally:
        cupy._core.set_compute_type(np.dtype("float32"), before)
        if "torch" in libraries:
            libraries["torch"].backends.cuda.matmul.allow_tf32 = False


def _rate(m: Any, precision: str, left: Any, right: Any, transposed: bool) -> float:
    """TFLOP/s of a matrix product by a library.

    Args:
        m: The library.
        precision: Name of a dtype, or ``"tf32"`` for float32 on tensor cores.
        left: Shape of the first operand.
        right: Shape of the second operand, square matrices.
        transposed: Whether the second operand is a transposed view.
    """
    if precision == "tf32":
        with tf32():
            return _rate_in(m, "float32", left, right, transposed)
    return _rate_in(m, precision, left, right, transposed)


def _rate_in(m: Any, dtype: str, left: Any, right: Any, transposed: bool) -> float:
    """``_rate`` for a dtype."""
    native = getattr(m, dtype)
    a = m.rand(*left, device="cuda").to(native)
    b = m.rand(*right, device="cuda").to(native)
    if transposed:
        b = b.transpose(-1, -2)
    return _teraflops(left, right, _device_time(lambda: a @ b, m, 10))


def _teraflops(left: Any, right: Any, seconds: float) -> float:
    """TFLOP/s of a matrix product of these two shapes that takes some seconds."""
    batch = left[0] if len(left) == 3 else 1
    return round(2 * batch * left[-2] * left[-1] * right[-1] / seconds / 1e12, 2)


def _device_time(work: Callable[[], Any], m: Any, repeats: int) -> float:
    """Median seconds between two events around ``work``."""
    for _ in range(3):
        work()
    samples = []
    for _ in range(repeats):
        start, end = m.cuda.Event(enable_timing=True), m.cuda.Event(enable_timing=True)
        start.record()
        work()
        end.record()
        end.synchronize()
        samples.append(start.elapsed_time(end) / 1e3)
    return statistics.median(samples)


def _queueing(work: Callable[[], Any], m: Any) -> float:
    """Median seconds of the host for ``work`` on an idle device.

    If they are as many as those of ``_device_time``, the device waits for the host.
    """
    samples = []
    for _ in range(REPEATS):
        m.cuda.synchronize()
        start = time.perf_counter()
        work()
        samples.append(time.perf_counter() - start)
    return statistics.median(samples)


def mlp() -> Report:
    """Training 784-1024-1024-10, batch 512, SGD: comparison of losses, time, peak memory."""
    return _train((784, 1024, 1024, 10), 512)


def digits() -> Report:
    """Training the demo's network 64-256-10, batch 32; losses are compared without dropout."""
    return _train((64, 256, 10), 32, "GELU", 0.3)


def compiled_steps() -> Report:
    """Steps of compiled programs beside eager ones, in ms on the device."""
    import tinytorch
    from tinytorch.backends import load

    report: Report = {}
    for name, row in gpu_compiled.measure(
        load("cupy"), lambda work: _device_time(work, tinytorch, 20)
    ):
        report[name] = row
        keep(report)
    return report


def _train(
    sizes: tuple[int, ...], batch: int, activation: str = "ReLU", dropout: float = 0.0
) -> Report:
    """Train a network in both libraries, from the same weights on the same data.

    Args:
        sizes: Number of inputs, of outputs of each layer.
        batch: Rows of the batch.
        activation: Class in ``nn`` between the layers.
        dropout: Probability of a dropout after each activation while the steps are timed.

    Returns:
        The figures of each library by its name, and their comparison.
    """
    rng = np.random.default_rng(0)
    x = rng.random((batch, sizes[0]), dtype=np.float32)
    labels = rng.integers(0, sizes[-1], batch)
    weights = [
        (rng.uniform(-1, 1, (n, k)) / np.sqrt(k)).astype(np.float32)
        for k, n in zip(sizes, sizes[1:], strict=False)
    ]
    report: Report = {}
    for name, m in _libraries():
        model = _network(m, weights, activation, dropout > 0)
        report[name] = _run(m, model, m.tensor(x).to("cuda"), m.tensor(labels).to("cuda"), dropout)
        keep(report)
    if "torch" in report and "tinytorch" in report:
        ours, theirs = report["tinytorch"], report["torch"]
        report["time over torch"] = round(ours["ms per step"] / theirs["ms per step"], 3)
        pairs = zip(ours["losses"], theirs["losses"], strict=True)
        report["largest loss difference"] = max(abs(a - b) for a, b in pairs)
    return report


def _network(m: Any, weights: Any, activation: str, dropout: bool) -> Any:
    """Linear layers with an activation and a dropout of probability 0 between them."""
    layers: list[Any] = []
    for weight in weights:
        layer = m.nn.Linear(weight.shape[1], weight.shape[0])
        with m.no_grad():
            layer.weight.copy_(m.tensor(weight))
            layer.bias.zero_()
        layers += [layer, getattr(m.nn, activation)()]
        if dropout:
            layers.append(m.nn.Dropout(0.0))
    after = 2 if dropout else 1
    return m.nn.Sequential(*layers[:-after]).to("cuda")


def _run(m: Any, model: Any, inputs: Any, targets: Any, dropout: float) -> Report:
    """Train a model by a library ``m``: 20 steps for the losses, then the steps that are timed."""
    loss_fn = m.nn.CrossEntropyLoss()
    optimizer = m.optim.SGD(model.parameters(), lr=0.1)

    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_fn(model(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss

    losses = [float(step().item()) for _ in range(20)]
    for layer in model:
        if isinstance(layer, m.nn.Dropout):
            layer.p = dropout
    seconds = _device_time(step, m, REPEATS)
    m.cuda.synchronize()  # read the checks, whose kernels may have to be compiled first
    start = time.perf_counter()
    for _ in range(REPEATS):
        step()
    m.cuda.synchronize()
    wall = (time.perf_counter() - start) / REPEATS
    return {
        "ms per step": round(seconds * 1e3, 4), "wall ms per step": round(wall * 1e3, 4),
        "host ms per step": round(_queueing(step, m) * 1e3, 4), "peak bytes": _peak(m, step),
        "losses": losses,
    }  # fmt: skip


def _peak(m: Any, step: Callable[[], Any]) -> int:
    """The peak memory of some steps, which are not timed: recording memory takes time."""
    m.cuda.reset_peak_memory_stats()
    for _ in range(5):
        step()
    return int(m.cuda.max_memory_allocated())


def _libraries() -> Iterator[tuple[str, Any]]:
    """Yield the names and modules of tinytorch and, if it can use the GPU, PyTorch."""
    import tinytorch

    yield "tinytorch", tinytorch
    try:
        import torch
    except ImportError:
        return
    if not torch.cuda.is_available():  # a PyTorch without CUDA
        return
    torch.backends.cuda.matmul.allow_tf32 = False
    yield "torch", torch


def _attempt(work: Callable[[], Any]) -> Any:
    """Return the result of ``work()``, or the text of its error."""
    try:
        return work()
    except Exception as error:  # a failure is a result, too: report it
        return f"{type(error).__name__}: {str(error)[:200]}"


# -- the program -------------------------------------------------------------------------------

#: Seconds for all parts together.
ALL_WITHIN = 590.0
#: Time limit in seconds of the first call on the GPU, which loads CuPy and compiles.
ANSWERS_WITHIN = 60.0
#: Seconds that must be left to start a part: starting and ending pytest takes some.
LEAST = 20.0
#: Functions of the parts, which get their seconds, and the most seconds that each may take.
PARTS: dict[str, tuple[Callable[[float], Report], float]] = {
    "machine": (lambda seconds: machine(), 25.0),
    "host overhead": (lambda seconds: host_overhead(), 50.0),
    "products": (lambda seconds: products(), 65.0),
    "mlp": (lambda seconds: mlp(), 45.0),
    "digits": (lambda seconds: digits(), 45.0),
    "compiled": (lambda seconds: compiled_steps(), 55.0),
    "gpu tests": (lambda seconds: gpu_suite.run_gpu_tests(seconds - 10), 60.0),
    "suite": (lambda seconds: gpu_suite.run_on_cupy(seconds - 15, "not torch"), ALL_WITHIN),
    "suite beside PyTorch": (
        lambda seconds: gpu_suite.run_on_cupy(seconds - 15, "torch"),
        ALL_WITHIN,
    ),
}


def command(name: str, file: Path, seconds: float) -> list[str]:
    """The command line of a part in a process of its own that writes its figures to ``file``."""
    return [sys.executable, "-m", "benchmarks.gpu", "--part", name, "--json", str(file),
            "--seconds", str(seconds)]  # fmt: skip


def unusable() -> str:
    """The reason why no GPU can be measured; empty if one can.

    The test runs in another process, so that this one leaves the GPU to the parts.
    """
    program = "import tinytorch; tinytorch.ones(1, device='cuda')"
    try:
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True,
            timeout=ANSWERS_WITHIN, check=False, cwd=HERE.parent,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"the GPU does not answer within {ANSWERS_WITHIN:.0f} s"
    return _last_line(done.stderr) if done.returncode else ""


def _last_line(text: str) -> str:
    """The last line of an error's text."""
    return (text.strip() or "no reason given").splitlines()[-1]


def run_isolated(name: str, seconds: float) -> Report:
    """Run a part in a process of its own; return its figures, or an ``error`` with the reason."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "part.json"
        failure = _run_process(command(name, file, seconds), seconds)
        if not file.exists():
            return {"error": failure or "it left no figures"}
        found: Report = json.loads(file.read_text())
        return {**found, "error": failure} if failure else found


def _run_process(command: list[str], seconds: float) -> str:
    """Run a program and end all processes that it started.

    Returns:
        The reason why it failed; empty if it did not.
    """
    with tempfile.TemporaryFile("w+") as errors:  # a pipe would stay open until its children end
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return f"not done after {seconds:.0f} s"
        finally:
            _kill(process)
        errors.seek(0)
        code = process.returncode
        return f"ended with status {code}\n{errors.read()[-2000:]}" if code else ""


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and its process group: a test that hangs would keep the GPU."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
    process.wait()


#: The file for the figures of the part that this process runs.
_part: dict[str, Path] = {}


def keep(report: Report) -> None:
    """Write the figures of a part so far, in case the rest fails or takes too long."""
    if "file" in _part:
        written = _part["file"].with_suffix(".new")
        written.write_text(json.dumps(report, default=str))
        written.replace(_part["file"])


def run_part(name: str, file: Path, seconds: float) -> None:
    """Run a part in this process and write its figures, or its traceback."""
    _part["file"] = file
    try:
        report = PARTS[name][0](seconds)
    except Exception:
        known = json.loads(file.read_text()) if file.exists() else {}
        report = {**known, "error": traceback.format_exc()}
    keep(report)


def main(arguments: list[str]) -> int:
    """Run the parts, print a table, write JSON; return the number of parts that failed.

    Without a GPU nothing is run and no file written.
    """
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--json", type=Path, default=RESULTS / "gpu.json")
    parser.add_argument("--only", nargs="*", choices=PARTS, help="names of the parts to run")
    parser.add_argument("--part", choices=PARTS, help="run one part in this very process")
    parser.add_argument("--seconds", type=float, default=ALL_WITHIN, help="to take at most")
    options = parser.parse_args(arguments)
    if options.part:
        run_part(options.part, options.json, options.seconds)
        return 0
    end = time.perf_counter() + options.seconds
    if reason := unusable():
        print(f"no part can run: {reason}", file=sys.stderr)
        return len(options.only or PARTS)
    report: Report = {}
    for name in options.only or PARTS:
        start = time.perf_counter()
        seconds = min(PARTS[name][1], end - start)
        report[name] = (
            {"stopped": "no time left"} if seconds < LEAST else run_isolated(name, seconds)
        )
        print(f"\n{name} ({time.perf_counter() - start:.1f} s)")
        _show(report[name])
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    return sum("error" in part for part in report.values())


def _show(part: Report) -> None:
    """Print the figures of a part."""
    for key, value in part.items():
        if key == "failed":
            lines = [f"{name}: {why}" for name, why in value.items()]
            print(f"  failed: {len(value)}", *lines[:40], sep="\n    ")
        elif key == "error":  # the table shows the reason, the file has the traceback
            print(f"  {key:28} {_last_line(value)}")
        elif isinstance(value, dict):
            cells = [f"{k} {v}" for k, v in value.items() if k != "losses"]
            print(f"  {key:28} " + "   ".join(cells))
        else:
            print(f"  {key:28} {value}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
