"""The random engine by itself: bits, rounding, shuffles, and the laws its numbers follow."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from strictcupy.backend import StrictBackend

from tinytorch.backends import load
from tinytorch.backends.rng.formulas import (
    insert_by_links,
    modulo,
    multiply_add,
    search_rows,
    swap_by_links,
    swap_loop,
)
from tinytorch.backends.rng.mt19937 import HostGenerator, TorchMT19937

COUNT = 20000


def words(seed: int, count: int) -> np.ndarray[Any, Any]:
    return np.random.RandomState(seed).randint(0, 2**32, size=count, dtype=np.uint32)


def engine(seed: int = 0) -> TorchMT19937:
    return TorchMT19937(seed)


# -- bits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 7, 623, 624, 625, 4096, 4097, 40000])
def test_a_float32_takes_24_bits_of_one_word(count: int) -> None:
    expected = (words(3, count) % 2**24).astype(np.float32) / np.float32(2**24)
    np.testing.assert_array_equal(engine(3).uniform((count,), np.float32), expected)


@pytest.mark.parametrize("count", [1, 7, 312, 2048, 2049, 40000])
def test_a_float64_takes_53_bits_of_two_words(count: int) -> None:
    high, low = words(3, 2 * count).astype(np.float64).reshape(-1, 2).T
    expected = (high % 2**21 * 2.0**32 + low) * 2.0**-53
    np.testing.assert_array_equal(engine(3).uniform((count,), np.float64), expected)


def test_the_stream_does_not_depend_on_how_it_is_cut() -> None:
    cuts = [1, 5, 0, 623, 2000, 5000, 40000, 3]
    drawn, whole = engine(), engine()
    parts = [drawn.uniform((n,), np.float32) for n in cuts]
    np.testing.assert_array_equal(np.concatenate(parts), whole.uniform((sum(cuts),), np.float32))


def test_shapes_are_filled_in_row_major_order() -> None:
    for shape in ((), (0, 3), (2, 3, 4), (1, 40000)):
        flat = engine().normal((math.prod(shape),), np.float64)
        shaped = engine().normal(shape, np.float64)
        assert shaped.shape == shape
        np.testing.assert_array_equal(shaped.ravel(), flat)


@pytest.mark.parametrize("extent", [1, 2, 3, 10, 2**16, 2**28 - 1, 2**32 - 1])
def test_modulo_equals_numpys_remainder(extent: int) -> None:
    drawn = words(0, 1000)
    np.testing.assert_array_equal(modulo(drawn.copy(), extent), drawn % np.uint32(extent))


# -- rounding ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "shift"), [(1.07, -0.3), (2.0**-30, 1.0), (1e10, 3e-7), (3.0, 1e17)]
)
def test_multiply_add_rounds_once(scale: float, shift: float) -> None:
    x = engine(1).uniform((500,), np.float64)
    expected = [float(Fraction(v) * Fraction(scale) + Fraction(shift)) for v in x.tolist()]
    np.testing.assert_array_equal(multiply_add(x.copy(), scale, shift), expected)


def test_multiply_add_of_float32_rounds_once() -> None:
    x = engine(1).uniform((500,), np.float32)
    scale, shift = float(np.float32(1.07)), float(np.float32(-0.3))
    exact = [Fraction(v) * Fraction(scale) + Fraction(shift) for v in x.tolist()]
    expected = np.array([float(v) for v in exact]).astype(np.float32)
    np.testing.assert_array_equal(multiply_add(x.copy(), scale, shift), expected)


def test_multiply_add_of_huge_numbers_stays_finite() -> None:
    x = np.array([0.25, 0.5])
    assert multiply_add(x, 2.0**1000, 1.0).tolist() == [2.0**998, 2.0**999]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_uniform_never_reaches_its_upper_bound(dtype: Any) -> None:
    step = np.finfo(dtype).eps
    drawn = engine().uniform((COUNT,), dtype, 1.0, 1.0 + 2 * step)
    assert set(drawn.tolist()) == {1.0, 1.0 + step}


# -- shuffles ------------------------------------------------------------------------------


def inside_out(places: np.ndarray[Any, Any]) -> list[int]:
    values = list(range(len(places)))
    for i, place in enumerate(places.tolist()):
        values[i] = values[place]
        values[place] = i
    return values


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 50, 3000])
def test_vectorised_shuffles_equal_the_loops(count: int) -> None:
    rng = np.random.default_rng(count)
    for _ in range(30 if count < 100 else 2):
        partners = rng.integers(np.arange(count - 1), count)
        np.testing.assert_array_equal(swap_by_links(partners, count), swap_loop(partners, count))
        places = rng.integers(0, np.arange(count) + 1)
        np.testing.assert_array_equal(insert_by_links(places), inside_out(places))


@pytest.mark.parametrize("count", [0, 1, 2, 1000, 1001, 5000])
def test_a_permutation_holds_every_number_once(count: int) -> None:
    assert sorted(engine().permutation(count).tolist()) == list(range(count))


def test_long_permutations_are_made_by_inserting_each_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tinytorch.backends.rng.mt19937._LONG_PERMUTATION", 50)
    high, low = words(0, 120).reshape(-1, 2).T.tolist()
    places = np.array([(h * 2**32 + k) % (i + 1) for i, (h, k) in enumerate(zip(high, low))])
    assert engine().permutation(60).tolist() == inside_out(places)


def test_search_rows_finds_the_first_share_not_below() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 8, 9, 100):
        weights, units = rng.random((5, n)), rng.random((5, 40))
        shares = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
        expected = [np.minimum(np.searchsorted(s, u), n - 1) for s, u in zip(shares, units)]
        np.testing.assert_array_equal(search_rows(np, weights, units), expected)


# -- state ---------------------------------------------------------------------------------


def test_a_state_holds_the_cached_second_normal() -> None:
    source = engine(5)
    source.normal((3,), np.float64)
    other = engine()
    other.set_state(source.get_state())
    assert other.initial_seed() == 5
    for _ in range(3):
        drawn, again = (e.normal((7,), np.float64) for e in (source, other))
        np.testing.assert_array_equal(drawn, again)


def test_a_state_survives_its_bytes() -> None:
    source = engine(2**63 + 11)
    for draws in (0, 1, 624, 700):
        source.uniform((draws,), np.float32)
        state = source.get_state()
        other = engine()
        other.set_state(state)
        assert other.get_state().tobytes() == state.tobytes()


def test_the_host_generator_hands_out_the_backends_arrays() -> None:
    class Elsewhere:
        library = np

        def from_numpy(self, array: Any) -> Any:
            return ("device", array)

        def to_numpy(self, array: Any) -> Any:
            return array[1]

    there: Any = HostGenerator(Elsewhere(), 3)  # type: ignore[arg-type]
    here = engine(3)
    for name, args in {
        "uniform": ((4,), np.float32), "normal": ((4,), np.complex64),
        "integers": (0, 5, (4,), np.int64), "bits": ((4,), np.int32), "permutation": (4,),
        "exponential": ((4,), np.float32), "geometric": ((4,), np.float32, 0.5),
        "cauchy": ((4,), np.float32), "log_normal": ((4,), np.float32),
        "bernoulli": (0.5, (4,), np.float32),
    }.items():  # fmt: skip
        label, drawn = getattr(there, name)(*args)
        assert label == "device"
        np.testing.assert_array_equal(drawn, getattr(here, name)(*args))
    assert load("numpy").make_generator(3).uniform((), np.float64) == engine(3).uniform(
        (), np.float64
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_probabilities_are_compared_on_their_device(dtype: Any) -> None:
    xp = load(StrictBackend)
    chances = np.random.default_rng(0).random((5, 7)).astype(dtype)
    there, here = HostGenerator(xp, 3), engine(3)
    drawn = there.bernoulli(xp.asarray(chances), (5, 7), np.float32)
    assert type(drawn) is xp.array_type and drawn.dtype == np.float32
    np.testing.assert_array_equal(drawn.get(), here.bernoulli(chances, (5, 7), np.float32))
    assert there.get_state().tolist() == here.get_state().tolist()
    with pytest.raises(RuntimeError, match="p_in >= 0 && p_in <= 1"):
        there.bernoulli(xp.asarray(chances + 1), (5, 7), np.float32)


@pytest.mark.parametrize(("count", "replacement"), [(1, False), (3, False), (1, True), (6, True)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_weights_are_searched_on_their_device(count: int, replacement: bool, dtype: Any) -> None:
    xp = load(StrictBackend)
    weights = np.random.default_rng(0).random((5, 4)).astype(dtype)
    there, here = HostGenerator(xp, 3), engine(3)
    drawn = there.multinomial(xp.asarray(weights), count, replacement)
    assert type(drawn) is xp.array_type and drawn.dtype == np.int64
    np.testing.assert_array_equal(drawn.get(), here.multinomial(weights, count, replacement))
    assert there.get_state().tolist() == here.get_state().tolist()
    with pytest.raises(RuntimeError, match="element < 0"):
        there.multinomial(xp.asarray(-weights), count, replacement)


# -- laws ----------------------------------------------------------------------------------


def distance(sample: np.ndarray[Any, Any], law: Callable[[Any], Any]) -> float:
    """Kolmogorov and Smirnov's statistic: sqrt(n) times the largest gap between the two."""
    ordered = np.sort(sample.astype(np.float64))
    n = len(ordered)
    share = law(ordered)
    steps = np.arange(n + 1) / n
    return float(np.sqrt(n) * max((steps[1:] - share).max(), (share - steps[:-1]).max()))


def normal_law(x: Any) -> Any:
    return np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in x.tolist()])


LAWS: dict[str, tuple[Callable[[TorchMT19937, Any], Any], Callable[[Any], Any]]] = {
    "uniform": (lambda e, d: e.uniform((COUNT,), d), lambda x: x),
    "uniform scaled": (lambda e, d: e.uniform((COUNT,), d, -2, 3), lambda x: (x + 2) / 5),
    "normal": (lambda e, d: e.normal((COUNT,), d), normal_law),
    "normal pairs": (lambda e, d: e.normal((COUNT,), d, contiguous=False), normal_law),
    "normal shifted": (lambda e, d: e.normal((COUNT,), d, 3, 2), lambda x: normal_law((x - 3) / 2)),
    "exponential": (lambda e, d: e.exponential((COUNT,), d, 2.0), lambda x: 1 - np.exp(-2 * x)),
    "cauchy": (
        lambda e, d: e.cauchy((COUNT,), d, 1, 2), lambda x: 0.5 + np.arctan((x - 1) / 2) / np.pi
    ),
    "log_normal": (
        lambda e, d: e.log_normal((COUNT,), d, 0.5, 0.3),
        lambda x: normal_law((np.log(x) - 0.5) / 0.3),
    ),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", LAWS)
def test_continuous_draws_follow_their_distribution(name: str, dtype: Any) -> None:
    draw, law = LAWS[name]
    assert distance(draw(engine(1), dtype), law) < 1.95  # exceeded once in a thousand seeds


def chi_square(counts: Any, expected: Any) -> float:
    """Pearson's statistic as a standard normal number (Wilson and Hilferty 1931)."""
    counts, expected = np.asarray(counts, float), np.asarray(expected, float)
    statistic = ((counts - expected) ** 2 / expected).sum()
    freedom = len(counts) - 1
    spread = 2 / (9 * freedom)
    return float(((statistic / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread))


def test_discrete_draws_follow_their_distribution() -> None:
    e = engine(2)
    dice = np.bincount(e.integers(0, 7, (COUNT,), np.int64).astype(np.intp), minlength=7)
    assert chi_square(dice, [COUNT / 7] * 7) < 3
    ones = int(e.bernoulli(0.3, (COUNT,), np.int64).sum())
    assert chi_square([ones, COUNT - ones], [COUNT * 0.3, COUNT * 0.7]) < 3
    trials = np.minimum(e.geometric((COUNT,), np.int64, 0.4), 8).astype(np.intp)
    trials = np.bincount(trials, minlength=9)[1:]
    shares = [0.4 * 0.6**k for k in range(7)]
    assert chi_square(trials, COUNT * np.array([*shares, 1 - sum(shares)])) < 3


def test_permutations_are_equally_likely() -> None:
    e = engine(3)
    orders = [tuple(e.permutation(4).tolist()) for _ in range(6000)]
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == 24
    assert chi_square(counts, [250] * 24) < 3


@pytest.mark.parametrize("replacement", [False, True])
def test_multinomial_follows_the_weights(replacement: bool) -> None:
    weights = np.array([0.1, 0.2, 0.0, 0.7])
    rows = np.broadcast_to(weights, (COUNT, 4))
    drawn = engine(4).multinomial(rows, 2, replacement)
    assert 2 not in drawn
    first = np.bincount(drawn[:, 0].astype(np.intp), minlength=4)[[0, 1, 3]]
    assert chi_square(first, COUNT * weights[[0, 1, 3]]) < 3
    second = np.bincount(drawn[:, 1].astype(np.intp), minlength=4)[[0, 1, 3]]
    left = [sum(a * b / (1 - a) for a in (0.1, 0.2, 0.7) if a != b) for b in (0.1, 0.2, 0.7)]
    assert chi_square(second, COUNT * (weights[[0, 1, 3]] if replacement else np.array(left))) < 3
    if not replacement:
        assert (drawn[:, 0] != drawn[:, 1]).all()
