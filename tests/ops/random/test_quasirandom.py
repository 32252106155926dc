"""Sobol sequences are PyTorch's, number for number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt


def drawn(library: Any, dimension: int, scramble: bool) -> list[Any]:
    """What is asked of an engine in turn."""
    engine = library.quasirandom.SobolEngine(dimension, scramble, 7 if scramble else None)
    out = library.zeros(0)
    engine.draw(4, out=out)
    return [
        out, engine.quasi, engine.sobolstate, engine.draw(), engine.fast_forward(5).draw(2),
        engine.draw(3, dtype=library.float64), engine.reset().fast_forward(4).draw(1),
        engine.reset().draw_base2(3), library.tensor(engine.num_generated), engine.draw_base2(3),
        library.quasirandom.SobolEngine(2, True, 1).draw(3, dtype=library.float64),
    ]  # fmt: skip


@pytest.mark.parametrize("scramble", [False, True])
@pytest.mark.parametrize("dimension", [1, 5, 512])
def test_sobol_sequences_are_pytorchs(torch: Any, dimension: int, scramble: bool) -> None:
    pairs = zip(drawn(tt, dimension, scramble), drawn(torch, dimension, scramble), strict=True)
    for ours, theirs in pairs:
        assert ours.numpy().dtype == theirs.numpy().dtype
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_scrambling_without_a_seed_follows_the_default_generator(torch: Any) -> None:
    for library in (tt, torch):
        library.manual_seed(3)
    with tt.device("cpu"):
        ours = tt.quasirandom.SobolEngine(3, scramble=True)
    theirs = torch.quasirandom.SobolEngine(3, scramble=True)
    assert ours.draw(4).tolist() == theirs.draw(4).tolist() and repr(ours) == repr(theirs)


def test_unsupported_dimensions_and_misaligned_draw_base2_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\[1, 21201\]"):
        tt.quasirandom.SobolEngine(0)
    with pytest.raises(NotImplementedError, match="direction numbers for 512 dimensions, got 513"):
        tt.quasirandom.SobolEngine(513)
    with pytest.raises(ValueError, match="balance properties.*3 points have been"):
        tt.quasirandom.SobolEngine(2).fast_forward(3).draw_base2(3)


def test_points_are_in_each_part_of_the_square() -> None:
    """Each of 16 by 16 squares, and of 256 strips either way, has one of 256 points."""
    points = tt.quasirandom.SobolEngine(2).draw(256)
    for rows, columns in ((16, 16), (256, 1), (1, 256)):
        place = (points[:, 0] * rows).long() * columns + (points[:, 1] * columns).long()
        assert place.sort().values.tolist() == list(range(256))
