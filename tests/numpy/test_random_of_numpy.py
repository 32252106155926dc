"""``numpy.random``: both kinds of generators, their sources of bits, and their states."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp

#: How the methods of both kinds are called, with little beside the size.
ARGUMENTS: dict[str, Any] = {
    "beta": (2, 3), "binomial": (10, 0.5), "bytes": None, "chisquare": (2,), "choice": (5,),
    "dirichlet": ([1.0, 2.0],), "f": (2, 3), "gamma": (2,), "geometric": (0.5,),
    "hypergeometric": (5, 5, 4), "integers": (10,), "logseries": (0.5,),
    "multinomial": (6, [0.5, 0.5]), "multivariate_hypergeometric": ([3, 4], 2),
    "multivariate_normal": ([0, 1], [[1, 0], [0, 2]]), "negative_binomial": (3, 0.5),
    "noncentral_chisquare": (2, 1), "noncentral_f": (2, 3, 1), "pareto": (3,), "poisson": (4,),
    "power": (2,), "randint": (10,), "random_integers": (10,), "standard_gamma": (2,),
    "standard_t": (3,), "triangular": (0, 1, 2), "vonmises": (0, 4), "wald": (1, 2),
    "weibull": (2,), "zipf": (3,),
}  # fmt: skip
#: Which take no size by name, and are called below.
OTHERS = """bit_generator bytes get_state permutation permuted rand randn seed set_state shuffle
    spawn""".split()
KINDS = {"Generator": np.random.default_rng, "RandomState": np.random.RandomState}
METHODS = [
    (kind, name)
    for kind in KINDS
    for name in dir(getattr(np.random, kind))
    if not name.startswith("_") and name not in OTHERS
]


@pytest.fixture(autouse=True)
def _on_numpy() -> Any:
    """Whose streams these are."""
    with tt.backend_context("numpy"):
        yield


def pair(kind: str, seed: int = 3) -> tuple[Any, Any]:
    make = "default_rng" if kind == "Generator" else kind
    return getattr(tnp.random, make)(seed), getattr(np.random, make)(seed)


def assert_same_draws(ours: Any, theirs: Any) -> None:
    assert np.shape(theirs) == np.shape(ours)
    np.testing.assert_array_equal(np.asarray(ours), theirs)
    if isinstance(theirs, np.ndarray):
        assert isinstance(ours, tnp.ndarray) and ours.dtype == theirs.dtype


@pytest.mark.parametrize("kind", KINDS)
def test_generators_have_every_method_of_numpys(kind: str) -> None:
    theirs = {name for name in dir(getattr(np.random, kind)) if not name.startswith("_")}
    assert theirs - set(dir(getattr(tnp.random, kind))) == set()
    assert isinstance(pair(kind)[0], getattr(tnp.random, kind))
    other = next(name for name in KINDS if name != kind)
    assert not isinstance(pair(kind)[0], getattr(tnp.random, other))


@pytest.mark.filterwarnings("ignore:This function is deprecated. Please call randint")
@pytest.mark.parametrize(("kind", "name"), METHODS)
def test_draws_of_each_distribution_are_numpys(kind: str, name: str) -> None:
    for ours, theirs in zip(*(draws(source, name) for source in pair(kind)), strict=True):
        assert_same_draws(ours, theirs)
    assert getattr(getattr(tnp.random, kind), name).__doc__


def draws(source: Any, name: str) -> list[Any]:
    law = getattr(source, name)
    return [law(*ARGUMENTS.get(name, ()), **o) for o in ({"size": 4}, {"size": (2, 3)}, {})]


@pytest.mark.filterwarnings("ignore:This function is deprecated. Please call randint")
@pytest.mark.parametrize("name", [name for kind, name in METHODS if hasattr(np.random, name)])
def test_function_of_the_module_is_numpys(name: str) -> None:
    found = []
    for lib in (tnp, np):
        lib.random.seed(5)
        found.append(draws(lib.random, name))
    for ours, theirs in zip(*found, strict=True):
        assert_same_draws(ours, theirs)


@pytest.mark.parametrize("kind", KINDS)
def test_permutations_and_shuffles_are_numpys(kind: str) -> None:
    ours, theirs = pair(kind)
    x, y = tnp.arange(12).reshape(3, 4), np.arange(12).reshape(3, 4)
    assert_same_draws(ours.permutation(x), theirs.permutation(y))
    assert_same_draws(ours.permutation(7), theirs.permutation(7))
    assert ours.bytes(3) == theirs.bytes(3)
    ours.shuffle(x)
    theirs.shuffle(y)
    assert_same_draws(x, y)
    assert_same_draws(ours.choice(x[0], (2, 2)), theirs.choice(y[0], (2, 2)))
    assert_same_draws(ours.choice(x[0], 2, replace=False), theirs.choice(y[0], 2, replace=False))
    assert_same_draws(ours.choice(tnp.asarray(5), 3), theirs.choice(np.asarray(5), 3))
    assert ours.choice([10, 20]) == theirs.choice([10, 20])
    p = tnp.array([0.2, 0.8])
    assert_same_draws(
        ours.choice(["a", "b"].index("b") + 1, 5, p=p), theirs.choice(2, 5, p=[0.2, 0.8])
    )


def test_generator_permutes_and_chooses_along_an_axis() -> None:
    ours, theirs = pair("Generator")
    x, y = tnp.arange(12).reshape(3, 4), np.arange(12).reshape(3, 4)
    assert_same_draws(ours.permutation(x, axis=1), theirs.permutation(y, axis=1))
    assert_same_draws(ours.choice(x, 3, axis=1), theirs.choice(y, 3, axis=1))
    assert_same_draws(
        ours.choice(x, 2, False, axis=1, shuffle=False), theirs.choice(y, 2, False, None, 1, False)
    )
    for axis in (None, 0, 1):
        assert_same_draws(ours.permuted(x, axis=axis), theirs.permuted(y, axis=axis))
    ours.shuffle(x, axis=1)
    theirs.shuffle(y, axis=1)
    assert_same_draws(x, y)
    out = tnp.zeros((3, 4), int)
    assert ours.permuted(x, axis=1, out=out) is out
    assert_same_draws(out, theirs.permuted(y, axis=1))


@pytest.mark.parametrize("bits", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_sources_of_bits_are_numpys(bits: str) -> None:
    ours = tnp.random.Generator(getattr(tnp.random, bits)(7))
    theirs = np.random.Generator(getattr(np.random, bits)(7))
    assert_same_draws(ours.normal(size=5), theirs.normal(size=5))
    assert type(ours.bit_generator) is getattr(np.random, bits)
    assert str(ours) == str(theirs) == f"Generator({bits})"
    state = ours.bit_generator.state
    first = ours.random(3)
    ours.bit_generator.state = state
    assert_same_draws(ours.random(3), np.asarray(first))
    assert_same_draws(tnp.random.RandomState(getattr(tnp.random, bits)(7)).rand(2),
         np.random.RandomState(getattr(np.random, bits)(7)).rand(2))  # fmt: skip


def test_seeds_are_taken_as_numpy_takes_them() -> None:
    for seed in ([1, 2], tnp.array([1, 2]), np.random.SeedSequence(5)):
        theirs = np.random.default_rng(np.asarray(seed) if isinstance(seed, tnp.ndarray) else seed)
        assert_same_draws(tnp.random.default_rng(seed).random(3), theirs.random(3))
    assert_same_draws(
        tnp.random.RandomState(tnp.array([1, 2])).rand(2), np.random.RandomState([1, 2]).rand(2)
    )
    for make in ("default_rng", "RandomState"):
        ours, theirs = getattr(tnp.random, make)(tnp.int64(3)), getattr(np.random, make)(3)
        assert_same_draws(ours.normal(size=3), theirs.normal(size=3))
    generator = tnp.random.default_rng(3)
    assert tnp.random.default_rng(generator) is generator
    children, theirs = generator.spawn(2), np.random.default_rng(3).spawn(2)
    for a, b in zip(children, theirs, strict=True):
        assert isinstance(a, tnp.random.Generator)
        assert_same_draws(a.random(2), b.random(2))


def test_states_are_kept_and_set() -> None:
    tnp.random.seed(4)
    state = tnp.random.get_state()
    first = tnp.random.rand(3)
    tnp.random.set_state(state)
    assert_same_draws(tnp.random.sample(3), np.asarray(first))
    ours, theirs = pair("RandomState")
    np.testing.assert_equal(ours.get_state(), theirs.get_state())
    ours.set_state(state)
    assert_same_draws(ours.rand(3), np.asarray(first))
    ours.seed(9)
    theirs.seed(9)
    assert_same_draws(ours.randn(2, 3), theirs.randn(2, 3))


def test_module_draws_from_numpys_own_state() -> None:
    np.random.seed(8)
    wanted = np.random.rand(2)
    np.random.seed(8)
    assert_same_draws(tnp.random.ranf(2), wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_a_copied_generator_draws_the_same_numbers(kind: str) -> None:
    ours, theirs = pair(kind)
    for again in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert_same_draws(again.normal(size=3), copy.deepcopy(theirs).normal(size=3))


def test_out_is_written_to_and_noticed() -> None:
    ours, theirs = pair("Generator")
    out, wanted = tnp.ones(3), np.ones(3)
    x = tnp.ones(3)
    x.requires_grad = True
    product = x * out
    assert ours.random(out=out) is out
    theirs.random(out=wanted)
    assert_same_draws(out, wanted)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


def test_gradients_are_kept_or_refused() -> None:
    x = tnp.arange(6.0).reshape(2, 3)
    x.requires_grad = True
    rng = tnp.random.default_rng(0)
    total = rng.permutation(x).sum() + rng.permuted(x, axis=1).sum() + rng.choice(x, 2).sum()
    total.backward()
    assert x.grad is not None and x.grad.sum() == 6 * 3
    with pytest.raises(RuntimeError, match="no gradient flows through what is drawn"):
        tnp.random.normal(x, 1.0)
    assert isinstance(rng.permutation(tt.ones(3)), tt.Tensor)


@pytest.mark.parametrize(("call", "error"), [
    (lambda lib: lib.random.choice(3.5, 2), ValueError),
    (lambda lib: lib.random.choice([[1, 2], [3, 4]], 2), ValueError),
    (lambda lib: lib.random.choice([], 2), ValueError),
    (lambda lib: lib.random.default_rng(0).choice(3.5, 2), ValueError),
    (lambda lib: lib.random.permutation(1.2), IndexError),
    (lambda lib: lib.random.default_rng(0).permutation([1, 2], axis=1), np.exceptions.AxisError),
    (lambda lib: lib.random.default_rng(0).shuffle(lib.ones((3, 2)), axis=3), IndexError),
    (lambda lib: lib.random.default_rng(0).permuted(lib.ones(3), out=lib.ones(2)), ValueError),
    (lambda lib: lib.random.default_rng(0).permuted(lib.ones(3), out=lib.ones(3, int)), TypeError),
])  # fmt: skip
def test_error_is_of_numpys_type(call: Any, error: type[Exception]) -> None:
    for lib in (np, tnp):
        with pytest.raises(error):
            call(lib)


def test_numbers_of_a_dtype_and_sizes_that_are_arrays() -> None:
    ours, theirs = pair("Generator")
    assert_same_draws(ours.integers(9, dtype=np.int8), theirs.integers(9, dtype=np.int8))
    assert ours.integers(9).dtype == theirs.integers(9).dtype == np.int64  # type: ignore[attr-defined]
    assert isinstance(tnp.random.randint(9), int) and isinstance(tnp.random.rand(), float)
    size = tnp.int_(2)
    assert tnp.random.multivariate_normal([0], [[1]], size=size).shape == (2, 1)
    p = tnp.array([0.31, 0.69], dtype="f2")  # which add up to 1 in its precision
    assert tnp.random.choice(2, 3, p=p).shape == (3,)
