"""``tt.cuda`` where there is no GPU: honest answers, clear errors. With one, the real thing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tinytorch as tt

needs_gpu = pytest.mark.skipif(not tt.cuda.is_available(), reason="no CuPy with a usable GPU here")
without_gpu = pytest.mark.skipif(tt.cuda.is_available(), reason="there is a GPU here")


@without_gpu
def test_queries_of_cuda_work_without_a_gpu() -> None:
    assert tt.cuda.is_available() is False
    assert tt.cuda.device_count() == 0
    assert tt.cuda.memory_allocated() == 0
    assert tt.cuda.max_memory_allocated() == 0
    assert tt.cuda.memory_reserved() == 0
    tt.cuda.empty_cache()
    tt.cuda.manual_seed_all(0)


@without_gpu
@pytest.mark.parametrize(
    "use",
    [
        tt.cuda.current_device, tt.cuda.synchronize, tt.cuda.get_device_name, tt.cuda.Stream,
        tt.cuda.Event, lambda: tt.cuda.set_device(0), lambda: tt.zeros(2, device="cuda"),
        lambda: tt.zeros(2).to("cuda"), lambda: tt.zeros(2).cuda(), lambda: tt.set_backend("cupy"),
    ],
)  # fmt: skip
def test_functions_that_need_a_gpu_raise_without_one(use: Callable[[], Any]) -> None:
    before = tt.get_backend()
    with pytest.raises(tt.BackendUnavailableError, match="backend 'cupy' is not available"):
        use()
    assert tt.get_backend() == before


@needs_gpu
def test_memory_statistics_count_an_allocation() -> None:
    tt.cuda.empty_cache()
    tt.cuda.reset_peak_memory_stats()
    before = tt.cuda.memory_allocated()
    x = tt.zeros(1 << 20, device="cuda")
    assert tt.cuda.memory_allocated() >= before + 4 * (1 << 20)
    del x
    assert tt.cuda.max_memory_allocated() >= before + 4 * (1 << 20)


@needs_gpu
def test_events_measure_elapsed_time() -> None:
    start, end = tt.cuda.Event(enable_timing=True), tt.cuda.Event(enable_timing=True)
    x = tt.ones(512, 512, device="cuda")
    start.record()
    x @ x
    end.record()
    tt.cuda.synchronize()
    assert start.elapsed_time(end) > 0.0


@needs_gpu
def test_work_goes_to_a_stream() -> None:
    stream = tt.cuda.Stream()
    with tt.cuda.stream(stream):
        x = tt.ones(1000, device="cuda") * 2
    stream.synchronize()
    assert x.sum().item() == 2000.0


@needs_gpu
def test_name_and_properties_of_the_device_are_returned() -> None:
    assert tt.cuda.get_device_name()
    assert tt.cuda.get_device_properties().total_memory > 0
    assert tt.ones(1, device="cuda").device == tt.device("cuda", tt.cuda.current_device())
