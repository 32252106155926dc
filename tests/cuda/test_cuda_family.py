"""The names of ``torch.cuda`` and ``torch.accelerator``: without a GPU, and with two pretended."""

from __future__ import annotations

import pickle
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import strictcupy
from strictcupy.backend import PretendedCuda, pretended_cuda

import tinytorch as tt
from tests.calls import Call, words
from tests.fresh import run
from tinytorch.backends.cupy import errors

without_gpu = pytest.mark.skipif(tt.cuda.is_available(), reason="there is a GPU here")

#: What torch.cuda has and CuPy has nothing for, and what is deprecated there.
NOT_HERE = {
    "GreenContext", "MemPool", "caching_allocator_alloc", "caching_allocator_delete",
    "caching_allocator_disabled", "caching_allocator_enable", "change_current_allocator",
    "CUDAPluggableAllocator", "CudaError", "DeferredCudaCallError", "check_error", "cudaStatus",
    "current_solver_handle", "host_memory_stats_as_nested_dict", "jiterator", "memory_snapshot",
    "nccl", "reset_accumulated_host_memory_stats", "reset_peak_host_memory_stats", "sparse",
    "tunable", "use_mem_pool",
}  # fmt: skip


@pytest.fixture(scope="module")
def torch(torch: Any) -> Any:
    if torch.cuda.is_available():
        pytest.skip("PyTorch has a GPU here")
    return torch


def test_every_name_is_here_or_said_not_to_be(torch: Any) -> None:
    for theirs, ours in ((torch.cuda, tt.cuda), (torch.accelerator, tt.accelerator)):
        names = {name for name in theirs.__all__ if not name.endswith("Storage")}
        missing = {name for name in names if not hasattr(ours, name)}
        assert missing - {"Graph"} == NOT_HERE & names
    assert issubclass(tt.OutOfMemoryError, RuntimeError)
    assert tt.OutOfMemoryError is tt.cuda.OutOfMemoryError


@without_gpu
@pytest.mark.parametrize(
    "question",
    [
        lambda cuda: cuda.memory_stats(),
        lambda cuda: cuda.memory_stats_as_nested_dict(),
        lambda cuda: cuda.host_memory_stats(),
        lambda cuda: cuda.memory_allocated(),
        lambda cuda: cuda.max_memory_allocated(),
        lambda cuda: cuda.memory_reserved(),
        lambda cuda: cuda.max_memory_reserved(),
        lambda cuda: cuda.memory_cached(),
        lambda cuda: cuda.max_memory_cached(),
        lambda cuda: cuda.list_gpu_processes(),
        lambda cuda: cuda.is_tf32_supported(),
        lambda cuda: cuda.is_bf16_supported(),
        lambda cuda: cuda.get_gencode_flags(),
        lambda cuda: cuda.has_magma,
        lambda cuda: cuda.has_half,
        lambda cuda: cuda.empty_cache(),
        lambda cuda: cuda.set_device(-1),
        lambda cuda: cuda.set_stream(None),
        lambda cuda: cuda.stream(None).__enter__(),
        lambda cuda: cuda.StreamContext(None).__enter__(),
        lambda cuda: cuda.device(-1).__enter__(),
    ],
    ids=words,
)
def test_queries_of_cuda_return_pytorchs_values_without_a_gpu(torch: Any, question: Call) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert question(tt.cuda) == question(torch.cuda)


@without_gpu
def test_there_are_no_generators_and_looking_loads_nothing(torch: Any) -> None:
    assert len(tt.cuda.default_generators) == len(torch.cuda.default_generators) == 0
    assert tt.cuda.default_generators == torch.cuda.default_generators
    with pytest.raises(IndexError, match="there is no device 0"):
        tt.cuda.default_generators[0]
    with tt.cuda.device_of(tt.ones(1)):
        pass

    def program() -> None:
        import sys

        import tinytorch as tt

        [getattr(tt.cuda, name) for name in dir(tt.cuda)]
        print("tinytorch.backends.cupy" in sys.modules)

    assert run(program) == "False"


@without_gpu
@pytest.mark.parametrize(
    "use",
    [
        tt.cuda.memory_summary, tt.cuda.get_per_process_memory_fraction, tt.cuda.cudart,
        lambda: tt.cuda.set_per_process_memory_fraction(0.5), tt.cuda.current_blas_handle,
        tt.cuda.get_sync_debug_mode, lambda: tt.cuda.set_sync_debug_mode("warn"),
        lambda: tt.cuda.ExternalStream(0), lambda: tt.cuda.nvtx.range_push("a"),
        tt.cuda.profiler.start, tt.accelerator.memory_allocated, tt.accelerator.empty_cache,
        tt.accelerator.current_stream, tt.accelerator.get_memory_info,
        tt.accelerator.get_device_capability, tt.accelerator.reset_peak_memory_stats,
        tt.accelerator.device_index(0).__enter__, tt.accelerator.empty_host_cache,
    ],
)  # fmt: skip
def test_functions_that_need_a_gpu_raise_without_one(use: Callable[[], Any]) -> None:
    with pytest.raises(RuntimeError, match="backend 'cupy' is not available") as caught:
        use()
    assert isinstance(caught.value, tt.BackendUnavailableError)


def test_cuda_graphs_are_refused() -> None:
    for use in (tt.cuda.CUDAGraph, tt.cuda.graph_pool_handle, lambda: tt.cuda.graph(None)):
        with pytest.raises(NotImplementedError, match="CuPy raises for cuBLAS"):
            use()


def test_telemetry_says_what_to_install(monkeypatch: pytest.MonkeyPatch, torch: Any) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    for name in ("utilization", "temperature", "power_draw", "clock_rate", "memory_usage",
                 "device_memory_used"):  # fmt: skip
        with pytest.raises(ModuleNotFoundError) as theirs:
            getattr(torch.cuda, name)()
        with pytest.raises(ModuleNotFoundError, match="pip install nvidia-ml-py") as ours:
            getattr(tt.cuda, name)()
        assert str(ours.value).startswith(str(theirs.value).rstrip("."))


@pytest.fixture
def cuda() -> Iterator[PretendedCuda]:
    with pretended_cuda(2) as backend, tt.backend_context("numpy"):
        yield backend


@pytest.fixture
def pool(cuda: PretendedCuda) -> Iterator[Any]:
    found = strictcupy.get_default_memory_pool()
    yield found
    found.used.clear()
    found.limits.clear()


@pytest.mark.usefixtures("cuda")
class TestTwoDevices:
    def test_memory_is_counted_by_device(self, pool: Any) -> None:
        pool.used.update({0: 5 << 20, 1: 7})
        assert tt.cuda.memory_allocated() == tt.cuda.memory_allocated("cuda:0") == 5 << 20
        assert tt.cuda.memory_allocated(1) == tt.cuda.memory_reserved("cuda:1") == 7
        assert tt.cuda.current_device() == 0, "asking changes nothing"
        stats = tt.cuda.memory_stats(1)
        assert stats["allocated_bytes.all.current"] == stats["reserved_bytes.all.current"] == 7
        nested = tt.cuda.memory_stats_as_nested_dict(1)
        assert nested["allocated_bytes"]["all"]["current"] == 7
        tt.cuda.reset_peak_memory_stats(1)
        assert tt.accelerator.max_memory_allocated(1) == 7
        text = tt.cuda.memory_summary()
        assert "5.00 MiB" in text and "16.00 GiB" in text
        with pytest.warns(FutureWarning, match="renamed to `tinytorch.cuda.memory_reserved`"):
            assert tt.cuda.memory_cached(1) == 7

    def test_lack_of_memory_is_torchs_error(self, pool: Any) -> None:
        assert tt.cuda.get_per_process_memory_fraction(1) == 1.0
        tt.cuda.set_per_process_memory_fraction(2.0**-20, "cuda:1")
        assert tt.cuda.get_per_process_memory_fraction(1) == 2.0**-20
        assert tt.cuda.get_per_process_memory_fraction(0) == 1.0
        tt.empty(1 << 20, device="cuda:0")
        text = r"CUDA out of memory. Tried to allocate 4.00 MiB. .*limit set to: 16,384"
        with pytest.raises(tt.cuda.OutOfMemoryError, match=text) as caught:
            tt.empty(1 << 20, device="cuda:1")
        assert isinstance(caught.value, RuntimeError) and isinstance(caught.value, MemoryError)
        again = pickle.loads(pickle.dumps(caught.value))
        assert type(again) is tt.OutOfMemoryError and str(again) == str(caught.value)
        tt.empty(1000, device="cuda:1")
        tt.cuda.set_per_process_memory_fraction(0.0, 1)
        with pytest.raises(RuntimeError, match="out of memory"):
            tt.empty(1, device="cuda:1")

    def test_fractions_are_checked_as_in_torch(self) -> None:
        with pytest.raises(TypeError, match="Invalid type for fraction argument"):
            tt.cuda.set_per_process_memory_fraction(1)
        with pytest.raises(ValueError, match="Invalid fraction value: 1.5. Allowed range: 0~1"):
            tt.cuda.set_per_process_memory_fraction(1.5)

    def test_default_generators_seed_their_own_device(self) -> None:
        assert len(tt.cuda.default_generators) == 2
        tt.cuda.default_generators[1].manual_seed(5)
        with tt.cuda.device(1):
            assert tt.cuda.initial_seed() == 5
        assert tt.cuda.default_generators[-1].initial_seed() == 5
        assert [g.device for g in tt.cuda.default_generators] == [
            tt.device("cuda", 0), tt.device("cuda", 1),
        ]  # fmt: skip

    def test_a_tensors_device_is_made_current(self) -> None:
        with tt.cuda.device_of(tt.ones(1, device="cuda:1")):
            assert tt.cuda.current_device() == 1
            with tt.cuda.device_of(tt.ones(1)), tt.accelerator.device_index(None):
                assert tt.cuda.current_device() == 1
            with tt.accelerator.device_index(0):
                assert tt.accelerator.current_device_index() == 0
        assert tt.cuda.current_device() == 0

    def test_external_streams_equal_the_stream_that_they_wrap(self) -> None:
        theirs = tt.cuda.Stream("cuda:1")
        ours = tt.cuda.ExternalStream(theirs.cuda_stream, "cuda:1")
        assert ours == theirs and ours.device == tt.device("cuda", 1)
        assert theirs.__cuda_stream__() == (0, theirs.cuda_stream)
        with tt.cuda.stream(ours):
            assert tt.cuda.current_device() == 1
            assert tt.cuda.current_stream() == theirs == tt.accelerator.current_stream(1)
            x = tt.ones(2, device="cuda") * 2
        assert tt.cuda.current_device() == 0 and tt.cuda.current_stream(1) != theirs
        ours.synchronize()
        assert x.tolist() == [2, 2]
        assert tt.cuda.get_stream_from_external(0) == tt.cuda.default_stream()
        assert tt.cuda.is_current_stream_capturing() is False

    def test_nvtx_ranges_reach_the_profiler(self, monkeypatch: pytest.MonkeyPatch) -> None:
        told: list[str] = []
        profiled: list[str] = []
        monkeypatch.setattr(strictcupy.cuda.nvtx, "told", told)
        monkeypatch.setattr(strictcupy.cuda.runtime, "profiled", profiled)
        with pytest.raises(KeyError), tt.cuda.nvtx.range("step {}", 3):
            tt.cuda.nvtx.mark("now")
            raise KeyError
        tt.cuda.nvtx.range_end(tt.cuda.nvtx.range_start("over"))
        assert told == ["push step 3", "mark now", "pop", "start over", "end 4"]
        with tt.cuda.profiler.profile():
            tt.cuda.cudart().cudaProfilerStop()
        assert profiled == ["start", "stop", "stop"]
        assert tt.cuda.current_blas_handle() == 1000

    def test_sync_debug_modes_other_than_default_are_refused(self) -> None:
        assert tt.cuda.get_sync_debug_mode() == 0
        tt.cuda.set_sync_debug_mode("default")
        with pytest.raises(NotImplementedError, match="CuPy reports only some"):
            tt.cuda.set_sync_debug_mode("error")
        with pytest.raises(RuntimeError, match="expected one of `default`, `warn`, `error`"):
            tt.cuda.set_sync_debug_mode("loud")

    def test_properties_of_the_device_are_returned(self) -> None:
        assert tt.cuda.is_tf32_supported() is True
        assert tt.cuda.get_gencode_flags() == "-gencode compute=compute_80,code=sm_80"
        known = tt.accelerator.get_device_capability(0)["supported_dtypes"]
        assert tt.float16 in known and tt.complex64 in known

    def test_telemetry_looks_up_the_device_by_its_pci_bus(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        nvml: Any = types.ModuleType("pynvml")
        nvml.nvmlInit = lambda: None
        nvml.nvmlDeviceGetHandleByPciBusId = lambda bus: bus
        nvml.nvmlDeviceGetUtilizationRates = lambda at: types.SimpleNamespace(gpu=3, memory=4)
        nvml.nvmlDeviceGetTemperature = lambda at, sensor: {"0000:01:00.0": 50}[at] + sensor
        nvml.nvmlDeviceGetComputeRunningProcesses = lambda at: [
            types.SimpleNamespace(pid=7, usedGpuMemory=3 << 20)
        ]
        nvml.NVML_TEMPERATURE_GPU = 0
        monkeypatch.setitem(sys.modules, "pynvml", nvml)
        assert (tt.cuda.utilization(1), tt.cuda.memory_usage("cuda:0")) == (3, 4)
        assert tt.cuda.temperature(1) == 50
        assert tt.cuda.list_gpu_processes(1).splitlines() == [
            "GPU:1", "process          7 uses     3.00 MiB GPU memory",
        ]  # fmt: skip


def test_real_cupys_lack_of_memory_is_torchs_error_too() -> None:
    cupy = pytest.importorskip("cupy", reason="CuPy has the class")
    theirs = cupy.cuda.memory.OutOfMemoryError

    def refuse(size: int) -> Any:
        raise theirs(size, 5, 0)

    allocate = cupy.cuda.get_allocator()
    try:
        cupy.cuda.set_allocator(refuse)
        errors.raise_torchs_error(cupy)
        errors.raise_torchs_error(cupy)  # a second time changes nothing
        for kind in (tt.OutOfMemoryError, RuntimeError, theirs, MemoryError):
            with pytest.raises(kind, match=r"Tried to allocate 4.00 MiB. Out of memory alloc"):
                cupy.empty(1 << 20, "f4")
    finally:
        cupy.cuda.set_allocator(allocate)
