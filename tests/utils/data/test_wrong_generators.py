"""Generators of the wrong type, and the end of persistent workers, beside PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import tinytorch as tt


@pytest.mark.parametrize("wrong", [3, "a", 1.5, [1], object()])
def test_a_generator_of_a_wrong_type_is_a_type_error(lib: Any, wrong: Any) -> None:
    data = lib.utils.data
    for draw in (
        lambda: list(data.DataLoader(range(4), generator=wrong)),
        lambda: list(data.DataLoader(range(4), shuffle=True, generator=wrong)),
        lambda: list(data.RandomSampler(range(3), generator=wrong)),
        lambda: list(data.SubsetRandomSampler([0, 1], generator=wrong)),
        lambda: data.random_split(range(4), [2, 2], generator=wrong),
    ):
        with pytest.raises(TypeError, match="generator"):
            draw()


def test_persistent_workers_can_be_shut_down(lib: Any) -> None:
    if tt.get_backend() != "numpy":
        pytest.skip("what was forked after CUDA was in use cannot use it")
    loader = lib.utils.data.DataLoader(range(4), num_workers=1, persistent_workers=True)
    assert len(list(loader)) == 4
    loader._iterator._shutdown_workers()
