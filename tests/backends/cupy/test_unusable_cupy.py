"""What the CuPy backend says where CuPy cannot work: each cause told apart."""

from __future__ import annotations

import importlib
import os
import re
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import strictcupy

from tests.fresh import run
from tinytorch.backends import BackendUnavailableError
from tinytorch.backends.cupy import CupyBackend
from tinytorch.backends.errors import INSTALL_CUPY, how_to_install

CUDARuntimeError = strictcupy.cuda.runtime.CUDARuntimeError


def fails(error: Exception) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        raise error

    return function


class CompileException(Exception):  # CuPy's name
    """What CuPy raises for a kernel that NVRTC refuses: nothing but an Exception."""


def fake_cupy(
    count: Any = lambda: 1,
    driver: int = 12080,
    nvrtc: Any = lambda: (12, 8),
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
    def test_error_without_cupy_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        error = error_with(monkeypatch, None)
        assert error.reason == "not installed"
        assert "pip install 'cupy-cuda12x[ctk]'" in str(error)

    def test_pages_and_the_extra_name_the_same_package(self) -> None:
        root = Path(__file__).parents[3]
        (package,) = re.findall(r"cupy-cuda12x[^\s'`):>]*", INSTALL_CUPY)
        pages = [root / "README.md", root / "setup.cfg", *(root / "docs").rglob("*.md")]
        named = {
            page.name: {name.replace("13", "12") for name in found}
            for page in pages
            if (found := re.findall(r"cupy-cuda1[23]x[^\s'`),:>]*", page.read_text()))
        }
        assert {"README.md", "setup.cfg", "quickstart.md"} <= named.keys()
        assert named == dict.fromkeys(named, {package})

    def test_in_a_browser_pip_is_not_advised(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "platform", "emscripten")
        text = str(error_with(monkeypatch, None))
        assert text.endswith("CUDA does not run in a browser: use the backend 'numpy'")
        assert "pip install" not in how_to_install("scipy")
        assert "micropip.install('scipy')" in how_to_install("scipy")

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
    def test_error_for_a_broken_cupy_has_its_import_error_as_cause(
        self, monkeypatch: pytest.MonkeyPatch, cause: Exception
    ) -> None:
        monkeypatch.setattr(importlib, "import_module", fails(cause))
        error = error_with(monkeypatch, fake_cupy())
        assert error.reason == "broken"
        assert str(cause) in str(error)
        assert error.__cause__ is cause

    def test_only_the_original_error_of_cupys_installation_page_is_shown(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        page = "==\nFailed to import CuPy.\n\nOriginal error:\n  ImportError: libcuda.so.1\n==\n"
        monkeypatch.setattr(importlib, "import_module", fails(ImportError(page)))
        text = str(error_with(monkeypatch, fake_cupy()))
        assert "(ImportError: libcuda.so.1);" in text
        assert "=" not in text and "\n" not in text

    def test_an_empty_folder_named_cupy_is_a_broken_installation(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        error = error_with(monkeypatch, types.ModuleType("cupy"))
        assert error.reason == "broken" and "no attribute '__version__'" in str(error)

    @pytest.mark.parametrize("version", ["13.6.0", "9.0.0b1"])
    def test_error_for_an_old_cupy_names_its_version(
        self, monkeypatch: pytest.MonkeyPatch, version: str
    ) -> None:
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
    def test_error_for_a_cuda_status_names_reason_and_cure(
        self, monkeypatch: pytest.MonkeyPatch, status: int, driver: int, reason: str, cure: str
    ) -> None:
        cupy = fake_cupy(count=fails(CUDARuntimeError(status)), driver=driver)
        error = error_with(monkeypatch, cupy)
        assert error.reason == reason
        assert cure in str(error)

    def test_driver_too_old_names_both_versions(self, monkeypatch: pytest.MonkeyPatch) -> None:
        cupy = fake_cupy(count=fails(CUDARuntimeError(35)), driver=11040)
        assert "(CUDA 11.4 against 12.9)" in str(error_with(monkeypatch, cupy))

    def test_a_device_count_of_zero_is_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert error_with(monkeypatch, fake_cupy(count=lambda: 0)).reason == "no device"

    @pytest.mark.parametrize(
        "cause", [ImportError("libcublas.so.12"), RuntimeError("No such file:\nlibnvrtc.so.12")]
    )
    def test_error_for_missing_cuda_libraries_says_what_to_install(
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
    def test_error_for_a_failing_first_kernel_names_reason_and_cure(
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

    def test_a_usable_cupy_is_loaded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        cupy = fake_cupy()
        install(monkeypatch, cupy)
        assert CupyBackend().library is cupy


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_the_error_in_a_forked_child_suggests_spawn() -> None:
    def program() -> None:
        import os

        import strictcupy.backend as b

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

    run(program)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_switch_in_a_forked_child_raises_and_changes_nothing() -> None:
    def program() -> None:
        import os
        import threading

        from strictcupy.backend import pretended_cuda

        import tinytorch as tt

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
                for each in threads:
                    each.start()
                for each in threads:
                    each.join()
                tt.manual_seed(0)
                quiet = (tt.cuda.is_available(), tt.cuda.device_count(), tt.cuda.is_initialized())
                failed += [each for each in quiet if each]
                failed += [tt.ones(2).is_pinned()]
                os._exit(len([each for each in failed if each]))
            assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
            assert tt.cuda.device_count() == 2

    run(program)


def test_the_facade_never_imports_cupy() -> None:
    def program() -> None:
        import sys

        sys.modules["cupy"] = None
        import tinytorch

        dir(tinytorch), [getattr(tinytorch, name, None) for name in dir(tinytorch)]
        assert "tinytorch.backends.cupy" not in sys.modules
        assert not [name for name in sys.modules if name.startswith("cupy.") or name == "cupyx"]

    run(program)
