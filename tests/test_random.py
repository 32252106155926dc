"""Random tensors against PyTorch's: the same seed, the same numbers, the same place in the stream."""

from __future__ import annotations

import copy
import math
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

torch = pytest.importorskip("torch", reason="PyTorch's streams are the oracle")

SIZES = [0, 1, 2, 5, 15, 16, 17, 31, 32, 100, 1000, 40001]
FLOATS = ["float32", "float64", "float16"]
COMPLEX = ["complex64", "complex128"]
#: How far a number that goes through log, sin or cos may be off, relative to 1 + |x|.
ROUNDING = {
    "float16": 1e-3, "float32": 3e-7, "float64": 1e-15, "complex64": 3e-7, "complex128": 1e-15,
}  # fmt: skip


def host(x: Any) -> np.ndarray[Any, Any]:
    return x.numpy(force=True) if isinstance(x, tt.Tensor) else x.detach().resolve_conj().numpy()


def both(draw: Callable[[Any], Any], seed: int = 7) -> tuple[Any, Any]:
    """``draw(tt)`` and ``draw(torch)`` from one seed; both must end at one place."""
    results = []
    for library in (tt, torch):
        library.manual_seed(seed)
        results.append(draw(library))
    assert state_bytes(tt) == state_bytes(torch), "the streams went apart"
    return results[0], results[1]


def state_bytes(library: Any) -> bytes:
    return bytes(host(library.get_rng_state()))


def assert_exact(draw: Callable[[Any], Any], seed: int = 7) -> None:
    ours, theirs = (host(x) for x in both(draw, seed))
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    np.testing.assert_array_equal(ours, theirs)


def assert_close(draw: Callable[[Any], Any], seed: int = 7) -> None:
    ours, theirs = (host(x) for x in both(draw, seed))
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    tolerance = ROUNDING[str(ours.dtype)]
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def dtype_of(library: Any, name: str) -> Any:
    return getattr(library, name)


# -- creation ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
@pytest.mark.parametrize("size", SIZES)
def test_rand_is_torchs(size: int, dtype: str) -> None:
    assert_exact(lambda lib: lib.rand(size, dtype=dtype_of(lib, dtype)))


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
@pytest.mark.parametrize("size", SIZES)
def test_randn_is_torchs(size: int, dtype: str) -> None:
    assert_close(lambda lib: lib.randn(size, dtype=dtype_of(lib, dtype)))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "low, high",
    [(0, 2), (-5, 100), (0, 1 << 20), (3, 2**28 + 2), (0, 2**28), (-(2**62), 2**62),
     (-(2**63), 2**63 - 1)],
)  # fmt: skip
def test_randint_is_torchs(low: int, high: int, size: int) -> None:
    assert_exact(lambda lib: lib.randint(low, high, (size,)))


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int8", "int16", "int32", "float16", "float32", "float64"]
)
def test_randint_in_other_dtypes(dtype: str) -> None:
    assert_exact(lambda lib: lib.randint(0, 2, (3, 40), dtype=dtype_of(lib, dtype)))


@pytest.mark.parametrize("high", [2**24 + 5, 2**30, 2**31 + 129, 2**40 + 3])
def test_randint_bounds_round_to_a_float(high: int) -> None:
    with pytest.warns(UserWarning, match="is out of bounds .* within this range"):
        assert_exact(lambda lib: lib.randint(-high, high, (200,), dtype=lib.float32))


def test_randint_warns_of_gaps_in_a_float() -> None:
    with pytest.warns(UserWarning, match=r"from is out of bounds \[-\(2\^11\), 2\^11\]"):
        tt.randint(-3000, 5, (2,), dtype=tt.float16)


def test_randint_argument_forms() -> None:
    assert_exact(lambda lib: lib.randint(10, (4,)))
    assert_exact(lambda lib: lib.randint(low=2, high=10, size=(4, 2)))
    assert_exact(lambda lib: lib.randint(high=10, size=[4]))
    assert_exact(lambda lib: lib.randint(10, ()))


@pytest.mark.parametrize("n", [*SIZES, 999, 1000, 1001, 1500])
@pytest.mark.parametrize("dtype", ["int64", "int32", "float64"])
def test_randperm_is_torchs(n: int, dtype: str) -> None:
    assert_exact(lambda lib: lib.randperm(n, dtype=dtype_of(lib, dtype)))


def test_size_forms() -> None:
    assert_exact(lambda lib: lib.rand(2, 3))
    assert_exact(lambda lib: lib.rand((2, 3)))
    assert_exact(lambda lib: lib.rand(size=(2, 3)))
    assert_exact(lambda lib: lib.rand(()))
    assert_close(lambda lib: lib.randn([2, 3, 4]))


def test_default_dtype_decides() -> None:
    with tt.default_dtype_context(tt.float64):
        assert tt.rand(2).dtype == tt.randn(2).dtype == tt.normal(0, 1, (2,)).dtype == tt.float64
    assert tt.rand(2).dtype == tt.float32
    assert tt.randint(3, (2,)).dtype == tt.randperm(3).dtype == tt.int64


def test_requires_grad_makes_a_leaf() -> None:
    x = tt.rand(3, requires_grad=True)
    assert x.requires_grad and x.is_leaf
    assert tt.randn_like(x, requires_grad=True).requires_grad
    assert not tt.randn_like(x).requires_grad
    with pytest.raises(RuntimeError, match="floating point and complex dtype"):
        tt.randint(3, (2,), requires_grad=True)


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_out_decides_the_dtype(name: str) -> None:
    assert_close(lambda lib: getattr(lib, name)(40, out=lib.zeros(40, dtype=lib.float64)))
    with pytest.raises(RuntimeError, match="does not match dtype of out parameter"):
        getattr(tt, name)(3, dtype=tt.float64, out=tt.zeros(3))


def test_device_and_backend_arguments() -> None:
    with tt.backend_context("numpy"):
        assert tt.rand(3, device="cpu").backend.name == "numpy"
        assert tt.randperm(3, backend="numpy").backend.name == "numpy"
        assert tt.normal(0.0, 1.0, (3,), device=tt.device("cpu")).backend.name == "numpy"


# -- like another tensor --------------------------------------------------------------------


LIKE: dict[str, Callable[[Any, Any], Any]] = {
    "rand_like": lambda lib, x: lib.rand_like(x),
    "randn_like": lambda lib, x: lib.randn_like(x),
    "randint_like": lambda lib, x: lib.randint_like(x, -3, 50),
}
SHAPED: dict[str, Callable[[Any], Any]] = {
    "contiguous": lambda lib: lib.zeros(4, 30),
    "transposed": lambda lib: lib.zeros(4, 30).t(),
    "permuted": lambda lib: lib.zeros(3, 4, 5).permute(2, 0, 1),
    "every other": lambda lib: lib.zeros(6, 20)[:, ::2],
    "row of ones": lambda lib: lib.zeros(20, 1).t(),
    "expanded": lambda lib: lib.zeros(4, 1).expand(4, 20),
    "float64": lambda lib: lib.zeros(4, 30, dtype=lib.float64).t(),
    "0-d": lambda lib: lib.zeros(()),
}


@pytest.mark.parametrize("shaped", SHAPED)
@pytest.mark.parametrize("name", LIKE)
def test_like_forms_follow_memory(name: str, shaped: str) -> None:
    draw = lambda lib: LIKE[name](lib, SHAPED[shaped](lib))  # noqa: E731
    assert_close(draw)
    ours, theirs = both(draw)
    if 1 not in ours.shape:
        assert ours.stride() == theirs.stride()


def test_like_forms_take_a_dtype() -> None:
    assert_exact(lambda lib: lib.rand_like(lib.zeros(20, dtype=lib.int64), dtype=lib.float32))
    assert_exact(lambda lib: lib.randint_like(lib.zeros(20), 5, dtype=lib.int8))


# -- in place ----------------------------------------------------------------------------------


FILL: dict[str, Callable[[Any], Any]] = {
    "normal_": lambda x: x.normal_(),
    "normal_ shifted": lambda x: x.normal_(1.3, 0.7),
    "uniform_": lambda x: x.uniform_(),
    "uniform_ scaled": lambda x: x.uniform_(-0.3, 0.77),
    "bernoulli_": lambda x: x.bernoulli_(0.3),
    "random_": lambda x: x.random_(),
    "random_ below": lambda x: x.random_(1000),
    "random_ between": lambda x: x.random_(-7, 1000),
    "random_ above": lambda x: x.random_(5, None),
    "exponential_": lambda x: x.exponential_(2.5),
    "geometric_": lambda x: x.geometric_(0.2),
    "cauchy_": lambda x: x.cauchy_(1.0, 0.5),
    "log_normal_": lambda x: x.log_normal_(0.5, 0.3),
}
EXACT = [
    "uniform_", "uniform_ scaled", "bernoulli_", "random_", "random_ below", "random_ between",
    "random_ above", "geometric_",
]  # fmt: skip


def compare(name: str) -> Callable[..., None]:
    return assert_exact if name in EXACT else assert_close


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 100, 40001])
@pytest.mark.parametrize("name", FILL)
def test_fills_are_torchs(name: str, size: int, dtype: str) -> None:
    compare(name)(lambda lib: FILL[name](lib.zeros(size, dtype=dtype_of(lib, dtype))))


@pytest.mark.parametrize("shaped", ["transposed", "permuted", "every other", "float64"])
@pytest.mark.parametrize("name", FILL)
def test_fills_follow_memory(name: str, shaped: str) -> None:
    def draw(lib: Any) -> Any:
        x = SHAPED[shaped](lib)
        assert FILL[name](x) is x
        return x

    compare(name)(draw)


def test_filling_a_view_leaves_the_rest_alone() -> None:
    def draw(lib: Any) -> Any:
        x = lib.zeros(8, 9)
        x[2:5, 1::3].normal_()
        x[6:].uniform_(1, 2)
        return x

    assert_close(draw)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64"])
def test_integer_fills_are_torchs(dtype: str) -> None:
    for fill in (lambda x: x.random_(), lambda x: x.random_(2), lambda x: x.bernoulli_(0.5)):
        assert_exact(lambda lib, fill=fill: fill(lib.zeros(50, dtype=dtype_of(lib, dtype))))
    if dtype != "bool":
        assert_exact(lambda lib: lib.zeros(50, dtype=dtype_of(lib, dtype)).geometric_(0.3))
        assert_exact(lambda lib: lib.zeros(50, dtype=dtype_of(lib, dtype)).random_(3, None))


def test_random_over_all_64_bits() -> None:
    assert_exact(lambda lib: lib.zeros(9, dtype=lib.int64).random_(-(2**63), None))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_fills_are_torchs(dtype: str) -> None:
    assert_close(lambda lib: lib.zeros(20, dtype=dtype_of(lib, dtype)).normal_(1.0, 2.0))
    assert_close(lambda lib: lib.zeros(6, 5, dtype=dtype_of(lib, dtype)).t().normal_())
    assert_exact(lambda lib: lib.zeros(20, dtype=dtype_of(lib, dtype)).uniform_())


@pytest.mark.parametrize("bounds", [(5, 5), (-2, 2), (1e-3, 1), (-30000, 30000), (1.0, 1.0005)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_rounds_as_torch(bounds: tuple[float, float], dtype: str) -> None:
    assert_exact(lambda lib: lib.zeros(3000, dtype=dtype_of(lib, dtype)).uniform_(*bounds))


def test_a_normal_waits_for_the_next_call() -> None:
    def draw(lib: Any) -> Any:
        first = lib.randn(3)  # leaves the fourth behind
        between = lib.rand(5)
        second = lib.randn(2, dtype=lib.float64)
        blocks = lib.randn(16)
        last = lib.zeros(7).log_normal_()
        return lib.cat([first, between, second.to(lib.float32), blocks, last])

    assert_close(draw)


def test_linear_weights_are_torchs() -> None:
    """What ``nn.Linear(30, 20)`` draws: both uniform in +-1/sqrt(30)."""
    bound = 1 / math.sqrt(30)
    tt.manual_seed(3)
    weight = tt.zeros(20, 30).uniform_(-bound, bound)
    bias = tt.zeros(20).uniform_(-bound, bound)
    torch.manual_seed(3)
    layer = torch.nn.Linear(30, 20)
    np.testing.assert_allclose(host(weight), host(layer.weight), rtol=0, atol=3e-8)
    np.testing.assert_allclose(host(bias), host(layer.bias), rtol=0, atol=3e-8)


# -- from given parameters -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
def test_bernoulli_is_torchs(dtype: str) -> None:
    chances = np.linspace(0, 1, 600).reshape(20, 30).astype(dtype)

    def given(lib: Any) -> Any:
        return lib.tensor(chances.tolist(), dtype=dtype_of(lib, dtype))

    assert_exact(lambda lib: lib.bernoulli(given(lib)))
    assert_exact(lambda lib: lib.bernoulli(given(lib).t()))
    assert_exact(lambda lib: lib.bernoulli(given(lib), 0.3))
    assert_exact(lambda lib: given(lib).bernoulli(0.3))
    assert_exact(lambda lib: lib.zeros(20, 30).bernoulli_(given(lib)))
    assert_exact(lambda lib: lib.zeros(30, 20).t().bernoulli_(given(lib)))
    assert_exact(lambda lib: lib.zeros(20, 30, dtype=lib.int64).bernoulli_(given(lib)[3]))


@pytest.mark.parametrize("count", [1, 2, 40])
@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_multinomial_is_torchs(count: int, replacement: bool, dtype: str) -> None:
    weights = np.random.default_rng(0).random((7, 50))
    weights[:, ::9] = 0

    def draw(lib: Any) -> Any:
        given = lib.tensor(weights.tolist(), dtype=dtype_of(lib, dtype))
        return lib.cat([given[2].multinomial(count, replacement).reshape(1, -1),
                        lib.multinomial(given, count, replacement)])  # fmt: skip

    assert_exact(draw)


def test_multinomial_of_halves_is_torchs() -> None:
    assert_exact(lambda lib: lib.multinomial(lib.tensor([1.0, 2.0, 0.5], dtype=lib.float16), 1))


def test_normal_forms_are_torchs() -> None:
    def mean(lib: Any) -> Any:
        return lib.linspace(-1, 1, 30).reshape(5, 6)

    def std(lib: Any) -> Any:
        return lib.linspace(0.1, 1, 30).reshape(5, 6)

    assert_close(lambda lib: lib.normal(mean(lib), std(lib)))
    assert_close(lambda lib: lib.normal(mean(lib).t(), std(lib).t()))
    assert_close(lambda lib: lib.normal(mean(lib), 0.5))
    assert_close(lambda lib: lib.normal(mean(lib)))
    assert_close(lambda lib: lib.normal(0.5, std(lib)))
    assert_close(lambda lib: lib.normal(mean(lib)[:1], std(lib)[:, :1]))
    assert_close(lambda lib: lib.normal(mean(lib), std(lib).to(lib.float64)))
    assert_close(lambda lib: lib.normal(2.0, 3.0, (4, 5)))
    assert_close(lambda lib: lib.normal(2.0, 3.0, size=(20,), dtype=lib.float64))
    assert_close(lambda lib: lib.normal(mean(lib), 0.5, out=lib.zeros(5, 6)))


# -- autograd ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILL)
def test_no_gradient_flows_through_a_fill(name: str) -> None:
    for lib in (tt, torch):
        x = lib.ones(4, requires_grad=True)
        y = x * 1
        FILL[name](y)
        assert y.requires_grad
        y.sum().backward()
        assert host(x.grad).tolist() == [0, 0, 0, 0]


def test_a_leaf_that_requires_grad_is_not_filled() -> None:
    x = tt.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.normal_()
    with tt.no_grad():
        x.normal_()
    assert x._version == 1


def test_no_gradient_flows_through_a_sample() -> None:
    x = tt.full((4,), 0.5, requires_grad=True)
    for sample in (tt.bernoulli(x), tt.normal(x, 1.0), tt.normal(0.0, x), tt.normal(x, x)):
        assert sample.requires_grad
        (grad,) = tt.autograd.grad(sample.sum(), x)
        assert host(grad).tolist() == [0, 0, 0, 0]
    assert not tt.multinomial(x, 2).requires_grad


def test_a_fill_is_seen_by_the_version_check() -> None:
    x = tt.ones(3, requires_grad=True)
    y = x.exp()
    y.normal_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


# -- generators and seeds -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**32 - 1, 2**32 + 5, -1, -(2**63), 2**64 - 1, 1.7])
def test_seeds_are_read_as_torch_reads_them(seed: int) -> None:
    assert_exact(lambda lib: lib.rand(4), seed)
    assert tt.initial_seed() == torch.initial_seed()


def test_generator_argument() -> None:
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


def test_seed_is_new_each_time() -> None:
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
            blocks.append(tt.rand(30, dtype=tt.float64, generator=g).tolist())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    g.manual_seed(0)
    alone = [tt.rand(30, dtype=tt.float64, generator=g).tolist() for _ in range(400)]
    assert sorted(blocks) == sorted(alone)


# -- wrong use -------------------------------------------------------------------------------------------


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "empty range": (lambda lib: lib.randint(5, 5, (2,)), "from=5 >= to=5"),
    "too high": (lambda lib: lib.randint(0, 300, (2,), dtype=lib.uint8), "to - 1 is out of bounds"),
    "too low": (lambda lib: lib.randint(-1, 3, (2,), dtype=lib.uint8), "from is out of bounds"),
    "complex": (lambda lib: lib.randint(0, 3, (2,), dtype=lib.complex64), "check_random_bounds"),
    "no tuple": (lambda lib: lib.randint(3, 2), "'size'.* must be tuple of ints"),
    "no int": (lambda lib: lib.randint(0, 5.5, (2,)), "randint"),
    "negative n": (lambda lib: lib.randperm(-1), "negative dimension -1"),
    "n": (lambda lib: lib.randperm(300, dtype=lib.uint8), "without overflow"),
    "half": (lambda lib: lib.randperm(3000, dtype=lib.float16), "n cannot be greater than 2049"),
    "negative size": (lambda lib: lib.randn(-1), "negative dimension -1"),
    "rand int": (lambda lib: lib.rand(3, dtype=lib.int64), "check_uniform_bounds.*Long"),
    "randn int": (lambda lib: lib.randn(3, dtype=lib.int64), "normal_kernel_cpu.*Long"),
    "like int": (lambda lib: lib.rand_like(lib.zeros(3, dtype=lib.int64)), "not implemented"),
    "std": (lambda lib: lib.zeros(3).normal_(0, -1), r"std >= 0\.0, but found std -1"),
    "nan std": (lambda lib: lib.zeros(3).normal_(std=math.nan), "found std nan"),
    "std tensor": (lambda lib: lib.normal(lib.zeros(3), -lib.ones(3)), "all elements of std >= 0"),
    "shapes": (lambda lib: lib.normal(lib.zeros(3), lib.ones(4)), "must match the size of tensor"),
    "normal int": (lambda lib: lib.zeros(3, dtype=lib.int64).normal_(), "not implemented"),
    "normal size": (lambda lib: lib.normal(1.0, 2.0), r"normal\(\)"),
    "uniform order": (lambda lib: lib.zeros(3).uniform_(2, 1), "found from=2 > to=1"),
    "uniform bound": (lambda lib: lib.zeros(3).uniform_(0, math.inf), "to is out of bounds"),
    "uniform span": (
        lambda lib: lib.zeros(3, dtype=lib.float16).uniform_(-6e4, 6e4), "exceed the limit"
    ),
    "p": (lambda lib: lib.zeros(3).bernoulli_(1.5), r"p to be in \[0, 1\], but got p=1.5"),
    "p of sample": (lambda lib: lib.bernoulli(lib.rand(3), 1.5), r"p to be in \[0, 1\]"),
    "p tensor": (lambda lib: lib.bernoulli(lib.full((2,), 1.5)), "p_in >= 0 && p_in <= 1"),
    "p int": (lambda lib: lib.bernoulli(lib.ones(2, dtype=lib.int64)), "not implemented for 'Long'"),
    "p shape": (lambda lib: lib.zeros(3).bernoulli_(lib.rand(2)), "size of the tensor"),
    "bernoulli complex": (
        lambda lib: lib.zeros(3, dtype=lib.complex64).bernoulli_(), "ComplexFloat"
    ),
    "rate": (lambda lib: lib.zeros(3).exponential_(0), "lambda > 0.0, but found lambda=0"),
    "exponential int": (
        lambda lib: lib.zeros(3, dtype=lib.int64).exponential_(), "dtype must be a floating point"
    ),
    "geometric 0": (lambda lib: lib.zeros(3).geometric_(0), r"p to be in \(0, 1\), but got p=0"),
    "geometric 1": (lambda lib: lib.zeros(3).geometric_(1), r"p to be in \(0, 1\), but got p=1"),
    "geometric bool": (lambda lib: lib.zeros(3, dtype=lib.bool).geometric_(0.5), "geometric_cpu"),
    "sigma": (lambda lib: lib.zeros(3).cauchy_(0, 0), "sigma > 0.0, but found sigma=0"),
    "cauchy int": (lambda lib: lib.zeros(3, dtype=lib.int64).cauchy_(), "continuous probability"),
    "log std": (lambda lib: lib.zeros(3).log_normal_(0, 0), "std > 0.0, but found std=0"),
    "log int": (lambda lib: lib.zeros(3, dtype=lib.int64).log_normal_(), "log_normal_cpu"),
    "random range": (lambda lib: lib.zeros(3).random_(0), "from=0 >= to=0"),
    "random bool": (lambda lib: lib.zeros(3, dtype=lib.bool).random_(5), "out of bounds for"),
    "random float": (lambda lib: lib.zeros(3).random_(2.5), "random_"),
    "weights int": (lambda lib: lib.multinomial(lib.tensor([1, 2]), 1), "floating-point dtypes"),
    "weights 3-d": (lambda lib: lib.multinomial(lib.ones(2, 2, 2), 1), "must be 1 or 2 dim"),
    "weights 0-d": (lambda lib: lib.multinomial(lib.tensor(1.0), 1), "must be 1 or 2 dim"),
    "too many": (lambda lib: lib.multinomial(lib.ones(2), 3), "n_sample > prob_dist.size"),
    "no sample": (lambda lib: lib.multinomial(lib.ones(2), 0), "n_sample <= 0 samples"),
    "negative weight": (lambda lib: lib.multinomial(lib.tensor([1.0, -2.0]), 1), "element < 0"),
    "nan weight": (lambda lib: lib.multinomial(lib.tensor([1.0, math.nan]), 1), "`nan`"),
    "zero weights": (lambda lib: lib.multinomial(lib.zeros(2), 1), r"sum of probabilities <= 0"),
    "seed text": (lambda lib: lib.manual_seed("a"), "invalid literal"),
    "seed range": (lambda lib: lib.manual_seed(2**64), "Overflow when unpacking long"),
    "short state": (lambda lib: lib.set_rng_state(lib.zeros(3, dtype=lib.uint8)), "of size 5056"),
    "zero state": (
        lambda lib: lib.set_rng_state(lib.zeros(5056, dtype=lib.uint8)), "Invalid mt19937 state"
    ),
    "float state": (lambda lib: lib.set_rng_state(lib.zeros(5056)), "must be a torch.ByteTensor"),
    "generator": (lambda lib: lib.rand(2, generator=5), r"rand\(\)"),
    "expanded": (lambda lib: lib.zeros(1).expand(3).normal_(), "single memory location"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_refused_as_in_torch(case: str) -> None:
    call, words = WRONG[case]
    with pytest.raises(Exception) as theirs:
        call(torch)
    with pytest.raises(theirs.type, match=words):
        call(tt)


def test_a_generator_of_another_backend_is_refused() -> None:
    class Elsewhere:
        _engine = object()
        backend = type("Backend", (), {"device_type": "mars", "name": "mars"})()

    with pytest.raises(RuntimeError, match="Expected a '.*' device type for generator but found 'mars'"):
        tt.rand(2, generator=Elsewhere())
