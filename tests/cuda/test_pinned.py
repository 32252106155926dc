"""Pinned host memory and transfers that do not wait: honest without a GPU, right with one.

On the stand-in a transfer to the host happens when somebody waits for it, not before; and memory
that is given back while a transfer reads from it is an error.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from strictcupy import record_syncs
from strictcupy.backend import PretendedCuda, pretended_cuda

import tinytorch as tt

without_gpu = pytest.mark.skipif(tt.cuda.is_available(), reason="there is a GPU here")


@without_gpu
@pytest.mark.parametrize(
    "use",
    [lambda lib: lib.ones(2).pin_memory(), lambda lib: lib.empty(0).pin_memory()],
)
def test_pinning_without_a_gpu_is_an_error_as_in_torch(
    use: Callable[..., object], torch: Any
) -> None:
    if torch.cuda.is_available():
        pytest.skip("PyTorch has a GPU here")
    with pytest.raises(RuntimeError) as theirs:
        use(torch)
    with pytest.raises(RuntimeError) as ours:
        use(tt)
    assert str(ours.value).startswith(str(theirs.value).rstrip("."))
    assert "CuPy is not installed" in str(ours.value) or "backend 'cupy'" in str(ours.value)


def test_tensors_are_not_pinned_by_default(torch: Any) -> None:
    assert tt.ones(2).is_pinned() is torch.ones(2).is_pinned() is False


@without_gpu
def test_non_blocking_on_the_cpu_changes_nothing() -> None:
    x = tt.ones(2)
    assert x.to("cpu", non_blocking=True) is x
    assert x.to(tt.int64, True).tolist() == [1, 1]
    assert x.to("cpu", tt.float32, True, True) is not x


@pytest.fixture
def cuda() -> Iterator[PretendedCuda]:
    with pretended_cuda(2) as backend, tt.backend_context("numpy"):
        yield backend


@pytest.mark.usefixtures("cuda")
class TestPinnedMemory:
    def test_pinning_copies_once(self) -> None:
        x = tt.arange(6.0).reshape(2, 3)
        y = x.pin_memory()
        assert y.is_pinned() and not x.is_pinned()
        assert y.device == tt.device("cpu")
        assert tt.equal(x, y) and not np.shares_memory(x.numpy(), y.numpy())
        assert y.pin_memory() is y
        assert y[1:].is_pinned(), "a view lies in the same memory"
        assert not (y + 1).is_pinned()

    def test_gradients_flow_back_over_pinned_memory(self) -> None:
        x = tt.tensor([1.0, 2.0], requires_grad=True)
        (x.pin_memory().to("cuda:1", non_blocking=True) ** 2).sum().backward()
        assert x.grad.tolist() == [2.0, 4.0]

    def test_creation_functions_accept_pin_memory(self) -> None:
        assert tt.zeros(3, pin_memory=True).is_pinned()
        assert tt.tensor([1, 2], pin_memory=True).tolist() == [1, 2]
        assert tt.tensor([1, 2], pin_memory=True).is_pinned()

    @pytest.mark.parametrize("name", ["rand_like", "randn_like", "randint_like", "normal"])
    def test_random_functions_pin_the_numbers_they_draw(self, name: str) -> None:
        args: dict[str, tuple[Any, ...]] = {"normal": (0.0, 1.0, (3,)), "randint_like": (10,)}
        given = args.get(name, ())
        given = given if name == "normal" else (tt.ones(3), *given)
        tt.manual_seed(0)
        plain = getattr(tt, name)(*given)
        tt.manual_seed(0)
        x = getattr(tt, name)(*given, pin_memory=True, requires_grad=name != "randint_like")
        assert x.is_pinned() and not plain.is_pinned()
        assert x.requires_grad is (name != "randint_like") and x.is_leaf
        assert x.tolist() == plain.tolist()
        with pytest.raises(RuntimeError, match="[Oo]nly dense CPU tensors can be pinned"):
            getattr(tt, name)(*given, device="cuda", pin_memory=True)

    def test_only_cpu_tensors_can_be_pinned(self) -> None:
        assert not tt.ones(2, device="cuda").is_pinned()
        with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
            tt.ones(2, device="cuda").pin_memory()
        with pytest.raises(RuntimeError, match="[Oo]nly dense CPU tensors can be pinned"):
            tt.zeros(2, device="cuda", pin_memory=True)


class TestNonBlocking:
    @pytest.mark.parametrize("where", ["cuda:0", "cuda:1"])
    def test_a_non_blocking_move_to_a_device_does_not_wait(
        self, cuda: PretendedCuda, where: str
    ) -> None:
        tt.cuda.set_device(0)
        x = tt.arange(4.0).pin_memory()
        with record_syncs() as log:
            y = x.to(where, non_blocking=True)
            z = y * 2
        assert {entry.kind for entry in log} == {"upload"}
        assert y.device == tt.device(where)
        assert z.tolist() == [0, 2, 4, 6]

    def test_memory_is_kept_until_the_copy_is_done(self, cuda: PretendedCuda) -> None:
        y = tt.arange(4.0).pin_memory().to("cuda", non_blocking=True)
        tt.zeros(3).pin_memory().to("cuda", non_blocking=True)
        tt.cuda.synchronize()  # the stand-in raises if the memory is gone
        assert y.tolist() == [0, 1, 2, 3]
        tt.zeros(3).pin_memory().to("cuda", non_blocking=True)
        assert len(cuda.at(0)._held) == 1, "what is done is let go"

    def test_memory_is_let_go_when_the_device_has_been_waited_for(
        self, cuda: PretendedCuda
    ) -> None:
        x = tt.ones(2).pin_memory()
        memory = weakref.ref(x.numpy())
        y = x.to("cuda", non_blocking=True)
        del x
        assert memory() is not None, "the copy reads from it"
        tt.cuda.synchronize()
        gc.collect()
        assert memory() is None
        assert y.tolist() == [1, 1]

    def test_a_copy_to_the_host_may_be_dropped_before_it_is_done(self, cuda: PretendedCuda) -> None:
        tt.ones(2, device="cuda").to("cpu", non_blocking=True)
        gc.collect()
        tt.cuda.synchronize()  # the stand-in raises if the memory is gone
        assert cuda.at(0)._held == []

    @pytest.mark.parametrize("transposed", [False, True])
    def test_a_copy_that_blocks_has_read_pinned_memory_when_it_returns(
        self, cuda: PretendedCuda, transposed: bool
    ) -> None:
        x = tt.arange(6.0).reshape(2, 3).pin_memory()
        y = (x.T if transposed else x).to("cuda")
        x.zero_()
        tt.cuda.synchronize()  # the stand-in raises if the memory was written to too early
        assert y.flatten().sort().values.tolist() == [0, 1, 2, 3, 4, 5]

    def test_a_non_blocking_move_to_the_host_does_not_wait(self, cuda: PretendedCuda) -> None:
        x = tt.arange(3.0, device="cuda:1")
        with record_syncs() as log:
            y = x.to("cpu", non_blocking=True)
        assert log == []
        assert y.is_pinned()
        assert np.isnan(y.numpy()).all(), "the stand-in has not copied yet"
        tt.cuda.synchronize(0)
        assert np.isnan(y.numpy()).all(), "that was another device"
        tt.cuda.synchronize("cuda:1")
        assert y.tolist() == [0, 1, 2]

    def test_a_non_blocking_move_to_the_host_is_ordered_by_its_stream(
        self, cuda: PretendedCuda
    ) -> None:
        stream, done = tt.cuda.Stream(), tt.cuda.Event()
        x = tt.arange(3.0, device="cuda")
        with tt.cuda.stream(stream):
            y = x.to("cpu", non_blocking=True)
            done.record()
        assert not stream.query() and not done.query()
        tt.cuda.current_stream().synchronize()
        assert np.isnan(y.numpy()).all(), "that was another stream"
        done.synchronize()
        assert y.tolist() == [0, 1, 2]
        assert stream.query() and done.query()

    def test_a_non_blocking_move_from_pageable_memory_copies_at_once(
        self, cuda: PretendedCuda
    ) -> None:
        assert tt.ones(3).to("cuda", non_blocking=True).tolist() == [1, 1, 1]
        assert cuda.at(0)._held == []

    def test_a_strided_pinned_view_moves_to_a_device(self, cuda: PretendedCuda) -> None:
        x = tt.arange(6.0).pin_memory().reshape(2, 3).T
        assert x.to("cuda", non_blocking=True).tolist() == [[0, 3], [1, 4], [2, 5]]

    @pytest.mark.parametrize("where", ["cuda:0", "cuda:1"])
    def test_gradient_over_every_kind_of_move(self, cuda: PretendedCuda, where: str) -> None:
        x = tt.tensor([1.0, -2.0], requires_grad=True)
        y = x.pin_memory().to(where, non_blocking=True).square()
        z = y.to("cuda:0", non_blocking=True).to("cpu", non_blocking=True)
        tt.cuda.synchronize("cuda:0")
        (z * tt.tensor([1.0, 3.0])).sum().backward()
        assert x.grad.device == tt.device("cpu")
        assert x.grad.tolist() == [2.0, -12.0]

    def test_copy_and_module_to_accept_non_blocking(self, cuda: PretendedCuda) -> None:
        x = tt.zeros(2, device="cuda:1")
        x.copy_(tt.ones(2).pin_memory(), non_blocking=True)
        assert x.tolist() == [1, 1]
        layer = tt.nn.Linear(2, 2).to("cuda:1", non_blocking=True)
        assert layer.weight.device == tt.device("cuda:1")
