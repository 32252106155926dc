"""PyTorch's conventions where another choice is at hand: what is a copy, a view, -0.0, empty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import assert_all_close, compare, host, numbers

Call = Callable[..., Any]


def changed(x: Any, view: Any, change: Callable[[Any], Any]) -> Any:
    """``x`` after an in-place change of ``view(x)``, without the history of a leaf."""
    y = x * 1
    change(view(y))
    return y


ELEMENTS: dict[str, Call] = {
    "an element": lambda m, x: changed(x, lambda y: y[0, 1], lambda v: v.mul_(3)),
    "an element of a row": lambda m, x: changed(x, lambda y: y[1][-1], lambda v: v.zero_()),
    "an element by a tensor": lambda m, x: changed(
        x, lambda y: y[m.tensor(0), m.tensor(1)], lambda v: v.add_(4)
    ),
    "a comparison of an element": lambda m, x: changed(x, lambda y: y[0, 0], lambda v: v.gt_(0)),
    "a comparison of everything": lambda m, x: changed(x, lambda y: y, lambda v: v.le_(0.5)),
    "stretched by nothing": lambda m, x: changed(
        x, lambda y: y.expand(1, 2, 3), lambda v: v.mul_(2)
    ),
    "stretched like itself": lambda m, x: changed(x, lambda y: y.expand_as(x), lambda v: v.add_(1)),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", ELEMENTS)
def test_writes_to_views_reach_their_base(name: str) -> None:
    compare(ELEMENTS[name], numbers(2, 3), orders=0)
    compare(lambda m, x: (ELEMENTS[name](m, x) ** 2).sum(), numbers(2, 3), orders=1)


def test_an_indexed_element_shares_memory() -> None:
    x = tt.zeros(3)
    element = x[1]
    element += 7
    x[2] = 5
    assert x.tolist() == [0.0, 7.0, 5.0]
    assert element.shape == ()


def written(x: Any, index: Any, value: Any) -> Any:
    y = x * 1
    y[index] = value
    return y


def listed(library: Any, *items: Any) -> Any:
    """A list, for which PyTorch takes a tuple, warning."""
    return list(items) if library is tt else items


ALL = slice(None)
INDICES: dict[str, Call] = {
    "an int before a slice": lambda m, x, i: x[0, :, i],
    "an int before a new dimension": lambda m, x, i: x[1, None, i],
    "an int before dots": lambda m, x, i: x[-1, ..., i],
    "an int before a mask": lambda m, x, i: x[0, :, x[0, 0] > 0],
    "an int after a slice": lambda m, x, i: x[i, :, 1],
    "an int beside": lambda m, x, i: x[:, 1, i],
    "an int between": lambda m, x, i: x[i, 1, i],
    "a slice between": lambda m, x, i: x[i, :, i],
    "a list of tensors": lambda m, x, i: x[listed(m, i, i)],
    "a list with a slice": lambda m, x, i: x[listed(m, ALL, i)],
    "written by a list": lambda m, x, i: written(x, listed(m, i, i), x[0, :2] * 2),
    "written apart": lambda m, x, i: written(x, (0, ALL, i), x[1, :, :2] * 2),
    "written along the last": lambda m, x, i: written(x, (0, ALL, i), x[1, 0, :2]),
    "written to a new dimension": lambda m, x, i: written(x, (1, None, i), x[:, 0] * 3),
    "written to an element": lambda m, x, i: written(x, (0, 1, 2), x[0, 0, :1] * 2),
    "written with ones too many": lambda m, x, i: written(x, (0, 1), x[:1, :1, :] * 2),
    "written by a mask": lambda m, x, i: written(x, x > 0, x[:1, :1, :1]),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", INDICES)
@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
def test_ints_select_before_tensors_do(name: str) -> None:
    compare(INDICES[name], numbers(2, 3, 4), np.array([0, 1]))


CHANGED: dict[str, Call] = {
    "a square": lambda m, x: (x**2).add_(1),
    "a square in place": lambda m, x: (x * 1).pow_(2).mul_(3),
    "a power": lambda m, x: (x**2.5).add_(1),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", CHANGED)
def test_powers_may_be_changed_in_place(name: str) -> None:
    compare(CHANGED[name], np.array([0.5, 1.5, 2.5]))


def test_selected_elements_lie_in_the_order_of_the_dimensions_they_came_from() -> None:
    x = tt.tensor(numbers(2, 3, 4))
    assert x[:, :, tt.tensor([0, 2])].is_contiguous()
    assert x.permute(2, 1, 0)[tt.tensor([0, 2])].stride() == (6, 1, 3)


def test_values_of_another_shape_are_refused() -> None:
    x = tt.zeros(2, 3)
    for index in (x == 0, (slice(None), tt.tensor([0]))):
        with pytest.raises(RuntimeError, match="shape mismatch: value tensor of shape"):
            x[index] = tt.ones(4, 5)
    with pytest.raises(RuntimeError, match="number of sizes provided .0. must be greater or equal"):
        x[0, 0] = tt.ones(4, 5)


ROW_MAJOR: dict[str, Call] = {
    "cat": lambda m, x: m.cat([x, x]),
    "stack": lambda m, x: m.stack([x, x], 1),
    "vstack": lambda m, x: m.vstack([x, x]),
    "repeat": lambda m, x: x.repeat(1, 1),
    "tile": lambda m, x: x.tile(2),
    "clone": lambda m, x: x.clone(memory_format=m.contiguous_format),
    "transpose_copy": lambda m, x: m.transpose_copy(x.t(), 0, 1),
    "expand_copy": lambda m, x: m.expand_copy(x, (2, 3, 4)),
    "unfold": lambda m, x: m.nn.functional.unfold(x.reshape(1, 1, 3, 4), 2),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", ROW_MAJOR)
def test_results_lie_in_row_major_order(name: str) -> None:
    # What PyTorch gives may be seen through ``view`` whatever the order of the input.
    compare(lambda m, x: ROW_MAJOR[name](m, x.t()).view(-1), numbers(4, 3), orders=0)


@pytest.mark.torch
def test_contiguous_tensor_is_itself() -> None:
    x = tt.ones(2, 3, requires_grad=True)
    assert x.contiguous() is x
    assert x.t().contiguous() is not x
    compare(lambda m, x: x.t().contiguous() * 2, numbers(2, 3))


COPIES: dict[str, Call] = {
    "index_copy of a number": lambda m, x: m.index_copy(
        x.sum(), 0, m.tensor([0]), x.prod().reshape(1)
    ),
    "logcumsumexp of one": lambda m, x: m.logcumsumexp(x[:1, :1] * (1 + 1j), 1),
    "repeat_interleave of one": lambda m, x: m.repeat_interleave(x[0, :1], 3),
    "repeat_interleave once": lambda m, x: m.repeat_interleave(x, 1, dim=1),
    "a polynomial of degree 1": lambda m, x: m.special.chebyshev_polynomial_t(x, 1),
    "tile": lambda m, x: m.tile(x, dims=(1, 1)),
    "ravel of every second": lambda m, x: x.reshape(6)[::2].ravel(),
    "edges of a histogram": lambda m, x: m.histogram(x, m.sort(x[0]).values).bin_edges,
}


@pytest.mark.torch
@pytest.mark.parametrize("name", COPIES)
def test_operations_listed_as_copies_share_no_memory(name: str) -> None:
    compare(COPIES[name], numbers(2, 3), orders=0)
    x = tt.tensor(numbers(2, 3))
    before = x.tolist()
    COPIES[name](tt, x).fill_(0)
    assert x.tolist() == before


PLAIN: dict[str, Call] = {
    "all along no dimension": lambda m, x: m.all(x, dim=()),
    "any along no dimension": lambda m, x: m.any(x > 0, dim=(), keepdim=True),
    "sum along no dimension": lambda m, x: m.sum(x, dim=()),
    "bools added twice": lambda m, x: m.add(x > 0, x < 1, alpha=2),
    "bools added no times": lambda m, x: m.add(x > 0, x < 1, alpha=0),
    "a factor cut to an integer": lambda m, x: m.addcmul(
        m.tensor([1, 2]), m.tensor([3, 4]), m.tensor([5, -6]), value=3.9
    ),
    "an imaginary number as a bool": lambda m, x: (x * 1j).bool(),
    "small integers contracted": lambda m, x: m.tensordot(
        m.ones(1, 1, 1, dtype=m.int8), m.ones(2, 1, 2, dtype=m.int8), ([0, 1], [2, 1])
    ),
    "a threshold cut to an integer": lambda m, x: m.nn.functional.threshold(
        m.tensor([-4, -7, 0]), -4.1, -5.4
    ),
    "a comparison in a narrower dtype": lambda m, x: m.tensor([0, 2, 3]).ge_(m.tensor(2.5)),
    "a comparison of bools with a number": lambda m, x: m.tensor([True, False]).lt_(1),
    "tile by keyword": lambda m, x: m.tile(x, dims=(2,)),
    "tile one by one": lambda m, x: x.tile(2, 1, 2),
    "permute_copy by keyword": lambda m, x: m.permute_copy(x, dims=(1, 0)),
    "expand_copy by keyword": lambda m, x: m.expand_copy(x[:, :1], size=(2, 4)),
    "view_copy by keyword": lambda m, x: m.view_copy(x, size=(3, 2)),
    "view_copy in another dtype": lambda m, x: m.view_copy(x, dtype=m.int64),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", PLAIN)
def test_results_of_further_operations_are_pytorchs(name: str) -> None:
    compare(PLAIN[name], numbers(2, 3), orders=0)


RECTIFIERS: dict[str, Call] = {
    name: lambda m, x, name=name: getattr(m.nn.functional, name)(x)
    for name in "relu relu6 elu celu selu leaky_relu hardtanh".split()
}
#: In float32 their exponentials may be off by some units in the last place.
ROUNDED = ("elu", "celu", "selu")
RECTIFIERS["clamp"] = lambda m, x: m.clamp(x, 0, 1)
RECTIFIERS["clamp from above"] = lambda m, x: m.clamp(x, max=0.0)


@pytest.mark.parametrize("name", RECTIFIERS)
@pytest.mark.parametrize("size", [7, 40_000])
def test_zero_keeps_its_sign_in_rectifiers(torch: Any, name: str, size: int) -> None:
    for dtype in (np.float16, np.float32, np.float64):
        values = np.resize(np.array([-0.0, 0.0, -1.5, 2.5, np.nan, 0.5, -0.0], dtype), size)
        ours = RECTIFIERS[name](tt, tt.tensor(values))
        theirs = RECTIFIERS[name](torch, torch.tensor(values))
        if dtype is np.float64 or (dtype is np.float32 and name not in ROUNDED):
            assert_all_close(ours, theirs)
        else:
            np.testing.assert_allclose(host(ours), host(theirs), rtol=4 * np.finfo(dtype).eps)
        zero = host(theirs) == 0
        assert (np.signbit(host(ours)) == np.signbit(host(theirs)))[zero].all()


def test_comparison_in_place_of_a_leaf_is_refused() -> None:
    x = tt.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.gt_(0)
    y = x * 2
    y.gt_(3)
    assert y.requires_grad and y.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("turned", [False, True])
def test_gradients_lie_in_memory_as_their_leaves(torch: Any, turned: bool) -> None:
    strides = []
    for library in (tt, torch):
        weight = library.tensor(numbers(4, 3))
        weight = (weight.t() if turned else weight).requires_grad_()
        product = library.tensor(numbers(5, weight.shape[1])) @ weight.t()
        (product * product).sum().backward()
        strides.append(tuple(weight.grad.stride()))
        again = weight.grad.t() if turned else weight.grad
        assert again.view(-1).shape == (12,)
    assert strides[0] == strides[1]


@pytest.mark.parametrize("place", [3, -1])
def test_gathering_out_of_range_is_a_runtime_error(place: int) -> None:
    x, index = tt.zeros(3), tt.tensor([place])
    calls: list[Callable[[], Any]] = [
        lambda: x.gather(0, index),
        lambda: x.scatter(0, index, 1.0),
        lambda: x.scatter_add(0, index, x[:1]),
        lambda: x.scatter_reduce(0, index, x[:1], "amax"),
    ]
    for call in calls:
        text = rf"index {place} is out of bounds for dimension 0 with size 3"
        with pytest.raises(RuntimeError, match=text):
            call()


def test_logic_in_place_of_a_leaf_is_allowed_as_in_torch() -> None:
    x = tt.tensor([1.0, 0.0], requires_grad=True)
    x.logical_not_()
    assert x.tolist() == [0.0, 1.0]


def test_integers_that_are_written_to_do_not_require_grad() -> None:
    places = tt.zeros(2, dtype=tt.int64)
    places[0] = tt.tensor(3.7, requires_grad=True)
    assert places.tolist() == [3, 0] and not places.requires_grad


FACTORS: dict[str, Call] = {
    "cholesky_solve": lambda m, l, b: m.cholesky_solve(b, l),
    "cholesky_solve, upper": lambda m, l, b: m.cholesky_solve(b, l.mH, upper=True),
    "cholesky_inverse": lambda m, l, b: m.cholesky_inverse(l),
    "cholesky_inverse, upper": lambda m, l, b: m.cholesky_inverse(l.mH, upper=True),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", FACTORS)
@pytest.mark.parametrize("unit", [1, 1 + 0.5j])
def test_gradients_of_factors_are_those_of_whole_matrices(name: str, unit: complex) -> None:
    factor = np.tril(numbers(3, 3) * 0.1, -1) * unit + np.diag([2.0, 1.5, 3.0])  # real there
    compare(FACTORS[name], factor, numbers(3, 2) * unit)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:stft with return_complex=False")
def test_spectra_of_complex_signals_as_pairs_of_numbers() -> None:
    window = np.ones(4)
    signal = numbers(9) * (1 + 0.5j)
    compare(lambda m, x, w: m.stft(x, 4, window=w, return_complex=False), signal, window, orders=1)
    compare(lambda m, x, w: m.stft(x, 4, window=w), signal, window, orders=1)


OWN_MEMORY: dict[str, Call] = {
    "elements taken away": lambda m, x: m.nn.functional.pad(x, (-1, 0, 0, -1), mode="replicate"),
    "pixels of one channel": lambda m, x: m.pixel_shuffle(x, 1),
    "channels of one pixel": lambda m, x: m.pixel_unshuffle(x, 1),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", OWN_MEMORY)
def test_results_that_may_be_changed(name: str) -> None:
    def call(m: Any, x: Any) -> Any:
        OWN_MEMORY[name](m, x).add_(1)
        return x

    compare(call, numbers(1, 2, 4, 4), orders=0)


#: name: what rounds once, from more than half precision, and what it is in doubles.
HALVES: dict[str, tuple[Any, Any]] = {
    "lerp": (lambda a, b: tt.lerp(a, b, 0.3), lambda a, b: a + 0.3 * (b - a)),
    "lerp by a tensor": (lambda a, b: tt.lerp(a, b, b), lambda a, b: a + b * (b - a)),
    "addcmul": (lambda a, b: tt.addcmul(a, a, b, value=0.7), lambda a, b: a + 0.7 * a * b),
    "addcdiv": (lambda a, b: tt.addcdiv(a, a, b, value=0.7), lambda a, b: a + 0.7 * a / b),
    "add": (lambda a, b: tt.add(a, b, alpha=0.3), lambda a, b: a + 0.3 * b),
    "sub": (lambda a, b: tt.sub(a, b, alpha=0.3), lambda a, b: a - 0.3 * b),
    "sinc": (lambda a, b: tt.sinc(a), lambda a, b: np.sinc(a)),
    "silu": (lambda a, b: tt.nn.functional.silu(a), lambda a, b: a / (1 + np.exp(-a))),
    "mish": (lambda a, b: tt.nn.functional.mish(a), lambda a, b: a * np.tanh(np.log1p(np.exp(a)))),
    "softmax": (lambda a, b: a.softmax(0), lambda a, b: np.exp(a) / np.exp(a).sum(0)),
    "log_softmax": (lambda a, b: a.log_softmax(0), lambda a, b: a - np.log(np.exp(a).sum(0))),
}


@pytest.mark.parametrize("name", HALVES)
def test_operations_on_float16_are_rounded_once(name: str) -> None:
    call, formula = HALVES[name]
    generator = np.random.RandomState(0)
    a, b = (generator.uniform(low, 2, 200).astype(np.float16) for low in (-2, 0.1))
    found = call(tt.tensor(a), tt.tensor(b)).cpu().numpy()
    exact = formula(a.astype(np.float64), b.astype(np.float64))
    assert found.dtype == np.float16
    # Half a unit in the last place, and single precision's own error.
    limit = np.spacing(np.abs(exact).astype(np.float16)).astype(np.float64) * 0.51 + 1e-6
    assert (np.abs(found - exact) <= limit).all()
