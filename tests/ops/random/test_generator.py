"""Generators, seeds and states, against PyTorch's."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.ops.random.random_oracle import assert_close, assert_exact, host, state_bytes, torch

pytestmark = pytest.mark.torch


# -- generators and seeds ------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**32 - 1, 2**32 + 5, -1, -(2**63), 2**64 - 1, 1.7])
def test_seeds_are_read_as_torch_reads_them(seed: int) -> None:
    assert_exact(lambda lib: lib.rand(4), seed)
    assert tt.initial_seed() == torch.initial_seed()


def test_random_functions_accept_a_generator() -> None:
    def draw(lib: Any) -> Any:
        g = lib.Generator().manual_seed(5)
        return lib.cat([
            lib.rand(3, generator=g), lib.randn(20, generator=g),
            lib.randint(9, (3,), generator=g), lib.randperm(5, generator=g),
            lib.normal(0.0, 1.0, (3,), generator=g), lib.zeros(4).normal_(generator=g),
            lib.normal(lib.zeros(3), 1.0, generator=g), lib.rand_like(lib.zeros(2), generator=g),
            lib.bernoulli(lib.full((4,), 0.5), generator=g), lib.zeros(3).uniform_(generator=g),
            lib.multinomial(lib.ones(6), 3, generator=g), lib.zeros(3).random_(9, generator=g),
        ])  # fmt: skip

    assert_close(draw)


def test_generator_has_torchs_methods() -> None:
    g, h = tt.Generator(), torch.Generator()
    assert g.initial_seed() == h.initial_seed()
    assert bytes(host(g.get_state())) == bytes(host(h.get_state()))
    assert g.device == tt.zeros(1).device
    assert g.manual_seed(-2) is g and g.initial_seed() == 2**64 - 2
    assert g.seed() == g.initial_seed()
    assert g != tt.Generator() and g == g


def test_manual_seed_returns_the_default_generator() -> None:
    g = tt.manual_seed(4)
    first = tt.rand(3)
    g.manual_seed(4)
    assert tt.rand(3, generator=g).tolist() == first.tolist()
    assert g == tt.random.default_generator
    assert tt.rand(1).tolist() != first[:1].tolist()


def test_seed_returns_a_new_seed_each_time() -> None:
    assert tt.seed() != tt.seed()
    number = tt.seed()
    first = tt.rand(3).tolist()
    tt.manual_seed(number)
    assert tt.rand(3).tolist() == first


def test_copies_of_a_generator_go_their_own_way() -> None:
    g = tt.Generator().manual_seed(1)
    tt.randn(3, generator=g)
    copies = [g.clone_state(), copy.deepcopy(g), pickle.loads(pickle.dumps(g))]
    expected = tt.randn(30, generator=g).tolist()
    for other in copies:
        assert tt.randn(30, generator=other).tolist() == expected


@pytest.mark.parametrize("drawn", [0, 1, 3, 623, 624, 625, 1300])
def test_states_are_exchanged_with_torch(drawn: int) -> None:
    torch.manual_seed(9)
    torch.rand(drawn)
    torch.randn(3)
    tt.set_rng_state(tt.tensor(host(torch.get_rng_state())))
    assert_streams_agree()
    tt.manual_seed(9)
    tt.rand(drawn)
    tt.randn(3)
    torch.set_rng_state(torch.from_numpy(host(tt.get_rng_state())))
    assert_streams_agree()


def assert_streams_agree() -> None:
    np.testing.assert_allclose(host(tt.randn(9)), host(torch.randn(9)), rtol=3e-7)
    np.testing.assert_array_equal(host(tt.rand(700)), host(torch.rand(700)))


def test_fork_rng_puts_the_generators_back() -> None:
    tt.manual_seed(0)
    tt.randn(3)
    before = state_bytes(tt)
    with pytest.raises(ZeroDivisionError), tt.random.fork_rng():
        tt.manual_seed(1)
        raise ZeroDivisionError
    assert state_bytes(tt) == before
    with tt.random.fork_rng(devices=[]):
        tt.rand(3)
    assert state_bytes(tt) == before
    with tt.random.fork_rng(enabled=False):
        tt.rand(3)
    assert state_bytes(tt) != before


def test_draws_from_many_threads_take_each_number_once() -> None:
    g = tt.Generator().manual_seed(0)
    blocks: list[list[float]] = []

    def work() -> None:
        for _ in range(50):
            blocks.append(tt.rand(30, dtype=tt.float64, generator=g).tolist())  # noqa: PERF401

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    g.manual_seed(0)
    alone = [tt.rand(30, dtype=tt.float64, generator=g).tolist() for _ in range(400)]
    assert sorted(blocks) == sorted(alone)
