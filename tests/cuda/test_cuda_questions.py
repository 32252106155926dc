"""What ``tt.cuda`` is asked before it is used, and its generators: without a GPU, and with two."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from strictcupy.backend import pretended_cuda

import tinytorch as tt

without_gpu = pytest.mark.skipif(tt.cuda.is_available(), reason="there is a GPU here")


@without_gpu
def test_queries_of_cuda_return_pytorchs_values_without_a_gpu(torch: Any) -> None:
    if torch.cuda.is_available():
        pytest.skip("PyTorch has a GPU here")
    for name in ("is_initialized", "get_arch_list", "get_rng_state_all"):
        assert getattr(tt.cuda, name)() == getattr(torch.cuda, name)(), name
    assert tt.cuda.is_bf16_supported() is False
    for nothing in (tt.cuda.seed, tt.cuda.seed_all, tt.cuda.ipc_collect):
        assert nothing() is None


@without_gpu
@pytest.mark.parametrize(
    "use",
    [
        tt.cuda.init, tt.cuda.mem_get_info, tt.cuda.initial_seed, tt.cuda.get_rng_state,
        lambda: tt.cuda.can_device_access_peer(0, 1),
        lambda: tt.cuda.set_rng_state(tt.get_rng_state()),
    ],
)  # fmt: skip
def test_functions_that_need_a_gpu_raise_without_one(use: Callable[[], Any]) -> None:
    with pytest.raises(tt.BackendUnavailableError, match="backend 'cupy' is not available"):
        use()


class TestTwoDevices:
    @pytest.fixture(autouse=True)
    def devices(self) -> Iterator[None]:
        with pretended_cuda(2), tt.backend_context("numpy"):
            yield

    def test_queries_of_cuda_return_values_of_the_device(self) -> None:
        tt.cuda.init()
        assert tt.cuda.is_initialized()
        assert tt.cuda.get_arch_list() == ["sm_80"]
        assert tt.cuda.is_bf16_supported() is (importlib.util.find_spec("ml_dtypes") is not None)
        free, total = tt.cuda.mem_get_info()
        assert 0 < free <= total
        assert tt.cuda.can_device_access_peer(0, "cuda:1")
        assert not tt.cuda.can_device_access_peer(1, 1)
        with pytest.raises(RuntimeError, match="invalid device ordinal"):
            tt.cuda.can_device_access_peer(0, 7)

    @pytest.mark.parametrize("device", ["cuda:1", 1, tt.device("cuda", 1)])
    def test_set_rng_state_repeats_the_numbers_drawn(self, device: Any) -> None:
        tt.cuda.manual_seed_all(3)
        state = tt.cuda.get_rng_state(device)
        assert state.device == tt.device("cpu") and state.dtype == tt.uint8
        first = tt.rand(5, device="cuda:1")
        other = tt.rand(5, device="cuda:0")
        assert first.tolist() == other.tolist(), "each device has the whole stream"
        tt.cuda.set_rng_state(state, device)
        assert tt.rand(5, device="cuda:1").tolist() == first.tolist()
        assert tt.rand(5, device="cuda:0").tolist() != other.tolist(), "the other went on"

    def test_set_rng_state_all_restores_the_state_of_every_device(self) -> None:
        states = tt.cuda.get_rng_state_all()
        drawn = [tt.randn(3, device=f"cuda:{i}").tolist() for i in range(2)]
        tt.cuda.set_rng_state_all(states)
        assert [tt.randn(3, device=f"cuda:{i}").tolist() for i in range(2)] == drawn

    def test_each_device_has_a_seed_of_its_own(self) -> None:
        with tt.cuda.device(1):
            tt.cuda.manual_seed(11)
            assert tt.cuda.initial_seed() == 11
            tt.cuda.seed()
            assert tt.cuda.initial_seed() != 11
        tt.cuda.seed_all()
        seeds = set()
        for number in range(2):
            with tt.cuda.device(number):
                seeds.add(tt.cuda.initial_seed())
        assert len(seeds) == 1, "all alike"
