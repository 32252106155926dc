"""What the CuPy backend says where CuPy cannot work, and what it adds to CuPy."""

from __future__ import annotations

import contextlib
import importlib
import os
import subprocess
import sys
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import strictcupy
import tinytorch as tt
from strictcupy.backend import StrictBackend, StrictCudaBackend
from tinytorch.backends import BackendUnavailableError, load
from tinytorch.backends.cupy import CupyBackend

CUDARuntimeError = strictcupy.cuda.runtime.CUDARuntimeError


def fails(error: Exception) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        raise error

    return function


class CompileException(Exception):  # noqa: N818  # CuPy's name
    """What CuPy raises for a kernel that NVRTC refuses: nothing but an Exception."""


def fake_cupy(
    count: Any = lambda: 1, driver: int = 12080, nvrtc: Any = lambda: (12, 8),
    ones: Any = strictcupy.ones,
) -> types.ModuleType:
    """A module ``cupy`` whose device answers as told."""
    cupy = types.ModuleType("cupy")
    cupy.ndarray, cupy.ones, cupy.__version__ = strictcupy.ndarray, ones, "14.0.0"
    cupy.fft, cupy.linalg = strictcupy.fft, strictcupy.linalg
    runtime = types.SimpleNamespace(
        CUDARuntimeError=CUDARuntimeError,
        getDeviceCount=count,
        driverGetVersion=lambda: driver,
        runtimeGetVersion=lambda: 12090,
    )
    cupy.cuda = types.SimpleNamespace(
        runtime=runtime, nvrtc=types.SimpleNamespace(getVersion=nvrtc), cublas=None,
        memory=strictcupy.cuda.memory, get_allocator=lambda: None, set_allocator=lambda f: None,
        compiler=types.SimpleNamespace(CompileException=CompileException),
        cufft=None, cusolver=None,
    )  # fmt: skip
    return cupy


def install(monkeypatch: pytest.MonkeyPatch, cupy: Any) -> None:
    """Have ``import cupy`` give ``cupy``, and its extras be there."""
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    for extra in ("cupyx", "cupyx.scipy", "cupyx.scipy.special"):
        monkeypatch.setitem(sys.modules, extra, types.ModuleType(extra))


def error_with(monkeypatch: pytest.MonkeyPatch, cupy: Any) -> BackendUnavailableError:
    """The error that making the backend raises when ``import cupy`` gives ``cupy``."""
    install(monkeypatch, cupy)
    with pytest.raises(BackendUnavailableError) as caught:
        CupyBackend()
    assert str(caught.value).startswith("backend 'cupy' is not available: ")
    assert caught.value.backend == "cupy"
    return caught.value


class TestEachCauseIsToldApart:
    def test_not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        error = error_with(monkeypatch, None)
        assert error.reason == "not installed"
        assert "pip install 'tinytorch[cupy]'" in str(error)

    @pytest.mark.parametrize(
        "cause",
        [
            ImportError("undefined symbol: cuInit"),
            ModuleNotFoundError("No module named 'fastrlock'", name="fastrlock"),
            OSError("libcuda.so.1: invalid ELF header"),
            RuntimeError("numpy is too old"),
        ],
        ids=lambda cause: type(cause).__name__,
    )
    def test_installed_but_broken(self, monkeypatch: pytest.MonkeyPatch, cause: Exception) -> None:
        monkeypatch.setattr(importlib, "import_module", fails(cause))
        error = error_with(monkeypatch, fake_cupy())
        assert error.reason == "broken"
        assert str(cause) in str(error)
        assert error.__cause__ is cause

    def test_of_cupys_page_about_installing_it_the_error_is_kept(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        page = "==\nFailed to import CuPy.\n\nOriginal error:\n  ImportError: libcuda.so.1\n==\n"
        monkeypatch.setattr(importlib, "import_module", fails(ImportError(page)))
        text = str(error_with(monkeypatch, fake_cupy()))
        assert "(ImportError: libcuda.so.1);" in text
        assert "=" not in text and "\n" not in text

    @pytest.mark.parametrize("version", ["13.6.0", "9.0.0b1"])
    def test_cupy_too_old(self, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
        cupy = fake_cupy()
        cupy.__version__ = version
        error = error_with(monkeypatch, cupy)
        assert error.reason == "CuPy too old"
        assert version in str(error) and "pip install -U" in str(error)

    @pytest.mark.parametrize(
        ("status", "driver", "reason", "cure"),
        [
            (35, 0, "no driver", "use the backend 'numpy'"),
            (35, 11040, "driver too old", "update the driver"),
            (100, 12080, "no device", "CUDA_VISIBLE_DEVICES"),
            (3, 12080, "not initialised", "'spawn', not 'fork'"),
            (46, 12080, "device busy", "choose another GPU"),
            (2, 12080, "no memory", "choose another GPU"),
            (802, 12080, "not initialised", "nvidia-fabricmanager"),
            (803, 12080, "driver mismatch", "reboot"),
            (804, 12080, "driver too old", "cuda-compat"),
            (999, 12080, "broken", "nvidia-smi"),
        ],
    )
    def test_cuda_status(
        self, monkeypatch: pytest.MonkeyPatch, status: int, driver: int, reason: str, cure: str
    ) -> None:
        cupy = fake_cupy(count=fails(CUDARuntimeError(status)), driver=driver)
        error = error_with(monkeypatch, cupy)
        assert error.reason == reason
        assert cure in str(error)

    def test_driver_too_old_names_both_versions(self, monkeypatch: pytest.MonkeyPatch) -> None:
        cupy = fake_cupy(count=fails(CUDARuntimeError(35)), driver=11040)
        assert "(CUDA 11.4 against 12.9)" in str(error_with(monkeypatch, cupy))

    def test_no_device_without_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert error_with(monkeypatch, fake_cupy(count=lambda: 0)).reason == "no device"

    @pytest.mark.parametrize(
        "cause", [ImportError("libcublas.so.12"), RuntimeError("No such file:\nlibnvrtc.so.12")]
    )
    def test_cuda_libraries_missing(
        self, monkeypatch: pytest.MonkeyPatch, cause: Exception
    ) -> None:
        error = error_with(monkeypatch, fake_cupy(nvrtc=fails(cause)))
        assert error.reason == "CUDA libraries missing"
        assert "cupy-cuda12x[ctk]" in str(error)
        assert "\n" not in str(error)

    @pytest.mark.parametrize(
        ("cause", "reason", "cure"),
        [
            (
                CompileException('cannot open source file "cuda_fp16.h"\n1 error detected'),
                "CUDA libraries missing", "cupy-cuda12x[ctk]",
            ),
            (
                CompileException("nvrtc: error: invalid value for --gpu-architecture (-arch)"),
                "GPU not supported", "knows this GPU",
            ),
            (strictcupy.cuda.OutOfMemoryError(512, 0), "no memory", "`nvidia-smi`"),
            (RuntimeError("CUDA is not found."), "CUDA libraries missing", "cupy-cuda12x[ctk]"),
        ],
        ids=["headers", "architecture", "memory", "no toolkit"],
    )  # fmt: skip
    def test_the_first_kernel_fails(
        self, monkeypatch: pytest.MonkeyPatch, cause: Exception, reason: str, cure: str
    ) -> None:
        error = error_with(monkeypatch, fake_cupy(ones=fails(cause)))
        assert error.reason == reason
        assert cure in str(error)
        assert "\n" not in str(error)
        assert error.__cause__ is cause

    @pytest.mark.parametrize(("namespace", "library"), [("fft", "cufft"), ("linalg", "cusolver")])
    def test_a_library_that_is_loaded_late_is_missing(
        self, monkeypatch: pytest.MonkeyPatch, namespace: str, library: str
    ) -> None:
        class Cuda(types.SimpleNamespace):
            def __getattr__(self, name: str) -> Any:
                if name == library and not there:
                    raise ImportError(f"Failure finding lib{library}.so.11\n")
                return None

        there: list[bool] = []
        cupy = fake_cupy()
        facts = vars(cupy.cuda)
        del facts[library]
        cupy.cuda = Cuda(**facts)
        install(monkeypatch, cupy)
        backend = CupyBackend()
        with pytest.raises(BackendUnavailableError, match=f"lib{library}.so.11") as caught:
            getattr(backend, namespace)
        assert caught.value.reason == "CUDA libraries missing"
        assert "cupy-cuda12x[ctk]" in str(caught.value)
        there.append(True)
        assert getattr(backend, namespace) is getattr(strictcupy, namespace)

    def test_nothing_is_wrong(self, monkeypatch: pytest.MonkeyPatch) -> None:
        cupy = fake_cupy()
        install(monkeypatch, cupy)
        assert CupyBackend().library is cupy


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_child_is_told_to_spawn() -> None:
    script = """
import os, strictcupy.backend as b
from tinytorch.backends import BackendUnavailableError
backend = b.StrictBackend()
kept = backend.sin
if os.fork() == 0:
    for use in (lambda: backend.sin, lambda: backend.linalg, backend.synchronize):
        try:
            use()
        except BackendUnavailableError as error:
            assert error.reason == "forked" and "'spawn'" in str(error), error
        else:
            os._exit(1)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
assert backend.sin is kept
"""
    subprocess.run([sys.executable, "-c", script], check=True, env=_environment())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_switch_in_a_forked_child_raises_and_changes_nothing() -> None:
    script = """
import os, threading
import tinytorch as tt
from strictcupy.backend import pretended_cuda
with pretended_cuda(2):
    tt.ones(2, device="cuda:1")
    if os.fork() == 0:
        def switches():
            yield lambda: tt.set_backend("cupy")
            yield lambda: tt.backend_context("cupy").__enter__()
            yield lambda: tt.set_default_backend("cupy")
            yield lambda: tt.device("cuda").__enter__()
            yield lambda: tt.ones(2).to("cuda")
        def work():
            for switch in switches():
                try:
                    switch()
                except tt.BackendUnavailableError as error:
                    assert error.reason == "forked" and "'spawn'" in str(error), error
                else:
                    failed.append(switch)
            if tt.get_backend() != "numpy" or tt.ones(2).sum().item() != 2:
                failed.append(work)
        failed = []
        work()
        threads = [threading.Thread(target=work) for _ in range(3)]
        for each in threads: each.start()
        for each in threads: each.join()
        tt.manual_seed(0)
        quiet = (tt.cuda.is_available(), tt.cuda.device_count(), tt.cuda.is_initialized())
        failed += [each for each in quiet if each]
        failed += [tt.ones(2).is_pinned()]
        os._exit(len([each for each in failed if each]))
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
    assert tt.cuda.device_count() == 2
"""
    subprocess.run([sys.executable, "-c", script], check=True, env=_environment())


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def test_the_facade_never_imports_cupy() -> None:
    script = """
import sys
sys.modules["cupy"] = None
import tinytorch
dir(tinytorch), [getattr(tinytorch, name, None) for name in dir(tinytorch)]
assert "tinytorch.backends.cupy" not in sys.modules
assert not [name for name in sys.modules if name.startswith("cupy.") or name == "cupyx"]
"""
    subprocess.run([sys.executable, "-c", script], check=True, env=_environment())


@pytest.fixture(scope="module")
def xp() -> Any:
    return load(StrictBackend)


class TestBackend:
    """The lines that CuPy and the stand-in share."""

    def test_names_fall_through(self, xp: Any) -> None:
        assert xp.sin is strictcupy.sin
        assert xp.array_type is strictcupy.ndarray
        with pytest.raises(AttributeError, match="backend 'strict' has no 'busday_count'"):
            xp.busday_count

    def test_transfers(self, xp: Any) -> None:
        values = np.arange(4.0)
        device = xp.from_numpy(values)
        assert type(device) is xp.array_type
        assert np.array_equal(xp.to_numpy(device), values)

    def test_views(self, xp: Any) -> None:
        x = xp.zeros((2, 3))
        assert xp.is_view(x.reshape(6), x)
        assert xp.is_view(x.T[0], x[1:])
        assert not xp.is_view(x.copy(), x)
        assert not xp.is_view(x + 1, x)

    def test_a_broadcast_array_is_readonly(self, xp: Any) -> None:
        x = xp.zeros((1, 3))
        assert xp.readonly(xp.broadcast_to(x, (2, 3)))
        assert not xp.readonly(x)
        assert not xp.readonly(xp.broadcast_to(x, (1, 1, 3)))

    @pytest.mark.parametrize("char", "?bBhHiIlLefdFD")
    def test_index_add_sums_repeats_in_every_dtype(self, xp: Any, char: str) -> None:
        index, values = np.array([0, 2, 0]), np.array([1, 1, 1]).astype(char)
        expected = np.zeros(3, char)
        np.add.at(expected, index, values)
        target = xp.zeros(3, char)
        xp.index_add(target, xp.asarray(index), xp.asarray(values))
        assert target.dtype == expected.dtype
        assert np.array_equal(xp.to_numpy(target), expected)

    def test_index_add_keeps_both_parts_of_complex_numbers(self, xp: Any) -> None:
        target = xp.zeros(2, "complex64")
        xp.index_add(target, xp.asarray([1, 1]), xp.asarray([1 + 2j, 3 - 1j]))
        assert xp.to_numpy(target).tolist() == [0, 4 + 1j]

    def test_erf_is_one_kernel(self, xp: Any) -> None:
        x = xp.asarray(np.array([-1.0, 0.0, 0.5], "f4"))
        assert xp.erf(x).dtype == np.float32
        assert np.allclose(xp.to_numpy(xp.erf(x)), [-0.8427008, 0, 0.5204999], rtol=1e-6)

    def test_special_functions_that_cupy_lacks_run_on_the_host(self, xp: Any) -> None:
        scipy = pytest.importorskip("scipy.special", reason="SciPy has the function")
        x = xp.asarray([0.5, 1.5])
        assert not hasattr(xp.extras.scipy.special, "airy")
        for part, expected in zip(xp.special("airy")(x), scipy.airy([0.5, 1.5]), strict=True):
            assert type(part) is xp.array_type
            assert np.array_equal(xp.to_numpy(part), expected)
        with strictcupy.record_syncs() as log:
            xp.special("erf")(x)
        assert log == [], "CuPy has this one"

    def test_devices(self) -> None:
        xp = StrictCudaBackend()
        assert xp.devices() == ["strictcuda:0"]
        assert xp.device_index(xp.zeros(1)) == 0

    def test_synchronize_waits(self, xp: Any) -> None:
        with strictcupy.record_syncs() as log:
            xp.synchronize()
        assert [entry.kind for entry in log] == ["synchronize"]

    def test_info_names_versions_and_devices(self, xp: Any) -> None:
        info = xp.info()
        assert info["version"] == strictcupy.__version__
        assert info["GPUs"] == "strictcupy"
        assert info["driver"] == "CUDA 12.8"


class Counted:
    """A function that counts what it finds."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.found = function, 0

    def __call__(self, *args: Any) -> Any:
        found = self.function(*args)
        self.found += found is not None
        return found


class TestDeferredChecks:
    """Indices are checked without a wait; what they found is raised at the next transfer."""

    @pytest.fixture
    def xp(self) -> Any:
        return StrictCudaBackend()

    def test_do_not_wait(self, xp: Any) -> None:
        index, valid = xp.asarray([0, 5]), xp.asarray([False])
        with strictcupy.record_syncs() as log:
            xp.check_indices("gather", index, 3, 0)
            xp.check_all(valid, "no")
        assert log == []

    @pytest.mark.parametrize("wait", ["to_numpy", "item", "synchronize"])
    def test_raise_at_the_next_wait_and_once(self, xp: Any, wait: str) -> None:
        xp.check_indices("gather", xp.asarray([0, 5]), 3, 1)
        arguments = [] if wait == "synchronize" else [xp.zeros(1)]
        with pytest.raises(IndexError, match="index 5 is out of bounds") as caught:
            getattr(xp, wait)(*arguments)
        assert "CUDA_LAUNCH_BLOCKING=1" in caught.value.__notes__[0]
        getattr(xp, wait)(*arguments)

    def test_negative_indices(self, xp: Any) -> None:
        xp.check_indices("gather", xp.asarray([-3, 2]), 3, 0)
        xp.synchronize()
        xp.check_indices("embedding", xp.asarray([-1]), 3, 0, negative=False)
        with pytest.raises(IndexError, match="index -1"):
            xp.synchronize()

    def test_check_all(self, xp: Any) -> None:
        xp.check_all(xp.asarray([True]), "fine")
        xp.synchronize()
        xp.check_all(xp.asarray([True, False]), "probabilities must be in [0, 1]")
        with pytest.raises(RuntimeError, match="probabilities"):
            xp.synchronize()

    def test_empty_indices_are_fine(self, xp: Any) -> None:
        xp.check_indices("gather", xp.zeros(0, "int64"), 0, 0)
        xp.synchronize()

    def test_are_not_kept_without_bound(self, xp: Any) -> None:
        index = xp.asarray([5])
        with pytest.raises(IndexError):
            for _ in range(2000):
                xp.check_indices("gather", index, 3, 0)

    def test_a_solver_waits_so_its_input_is_checked_before(self, xp: Any) -> None:
        A = tt.tensor([[1.0, np.nan], [0.0, 1.0]], backend=xp)
        with pytest.raises(RuntimeError, match="should not contain infs or NaNs"):
            tt.linalg.eig(A)

    def test_each_is_answered_once_whoever_waits(
        self, xp: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(xp, "_answer", answering := Counted(xp._answer))
        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)

        def work() -> None:
            for i in range(200):
                xp.check_indices("gather", xp.asarray([5]), 3, 0)
                if i % 3 == 0:
                    with contextlib.suppress(IndexError):
                        xp.synchronize()

        try:
            with ThreadPoolExecutor(6) as pool:
                for each in [pool.submit(work) for _ in range(6)]:
                    each.result()
        finally:
            sys.setswitchinterval(before)
        with contextlib.suppress(IndexError):
            xp.synchronize()
        assert answering.found == 1200
        xp.synchronize()

    @pytest.mark.parametrize("interrupted", [0, 1])
    def test_an_interrupted_wait_forgets_none(
        self, xp: Any, monkeypatch: pytest.MonkeyPatch, interrupted: int
    ) -> None:
        for index in (5, 6):
            xp.check_indices("gather", xp.asarray([index]), 3, 0)
        answer, asked = xp._answer, []

        def interrupt(*what: Any) -> Any:
            asked.append(what)
            if len(asked) == 1 + interrupted:
                raise KeyboardInterrupt
            return answer(*what)

        monkeypatch.setattr(xp, "_answer", interrupt)
        with pytest.raises(KeyboardInterrupt):
            xp.synchronize()
        with pytest.raises(IndexError, match="index 5") as caught:
            xp.synchronize()
        assert "index 6" in caught.value.__notes__[1]
        xp.synchronize()

    def test_the_first_error_tells_of_the_others(self, xp: Any) -> None:
        for index in (5, 1, 6, 7):
            xp.check_indices("gather", xp.asarray([index]), 3, 0)
        with pytest.raises(IndexError, match="index 5") as caught:
            xp.synchronize()
        assert caught.value.__notes__[1].startswith("2 later checks failed too; the next: ")
        assert "index 6" in caught.value.__notes__[1]

    def test_immediate_ones_raise_where_they_are(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
        install(monkeypatch, fake_cupy())
        backend = CupyBackend()
        with pytest.raises(IndexError, match=r"gather\(\): index 5"):
            backend.check_indices("gather", strictcupy.asarray([5]), 3, 0)
