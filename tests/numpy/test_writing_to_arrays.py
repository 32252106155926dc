"""What is written to parts of arrays, and what NumPy refuses to write."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tinytorch.numpy as np
from tinytorch.state import current_backend


def behind(m: Any) -> Any:
    a = m.arange(5)
    a[1:] = a[:-1]
    return a


def reversed_in_place(m: Any) -> Any:
    a = m.arange(5)
    a[...] = a[::-1]
    return a


def more_dimensions(m: Any) -> Any:
    a = m.zeros((2, 3))
    a[...] = m.ones((1, 1, 2, 3))
    a[0] = m.full((1, 1, 3), 2)
    return a


def complex_in_real(m: Any) -> Any:
    a = m.zeros(3)
    with pytest.warns(numpy.exceptions.ComplexWarning):
        a[:] = m.array([1j, 2, 3])
    return a


WRITTEN = [behind, reversed_in_place, more_dimensions, complex_in_real]


@pytest.mark.parametrize("write", WRITTEN)
def test_values_written_to_arrays_are_numpys(write: Callable[[Any], Any]) -> None:
    found, wanted = write(np), write(numpy)
    assert found.tolist() == wanted.tolist()
    assert found.dtype == wanted.dtype


def beyond(m: Any) -> None:
    m.zeros(3, dtype=m.int8)[0] = 300


def nan_among_integers(m: Any) -> None:
    m.zeros(3, dtype=m.int8)[:2] = m.nan


def complex_number(m: Any) -> None:
    m.zeros(3)[0] = 1j


def other_shape(m: Any) -> None:
    m.zeros((2, 3))[:, :2] = m.ones(3)


def other_shape_by_places(m: Any) -> None:
    m.zeros((2, 3))[[0, 1, 1]] = m.ones(2)


def broadcast(m: Any) -> None:
    m.broadcast_to(m.arange(3), (2, 3))[0] = 1


def two_ellipses(m: Any) -> None:
    m.zeros((2, 3))[..., ...]


REFUSED = [
    beyond, nan_among_integers, complex_number, other_shape, other_shape_by_places, broadcast,
    two_ellipses,
]  # fmt: skip


@pytest.mark.parametrize("write", REFUSED)
def test_writes_that_numpy_refuses_raise_its_error(write: Callable[[Any], None]) -> None:
    with pytest.raises(Exception) as wanted:
        write(numpy)
    with pytest.raises(wanted.type) as found:
        write(np)
    assert str(found.value).strip() == str(wanted.value).strip()


def test_writing_a_value_that_fits_gives_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        a = np.zeros(3, dtype=np.complex64)
        a[0] = np.array(1j)
    assert a.tolist() == [1j, 0, 0]


ROWS = numpy.array([[1, numpy.nan, 3], [numpy.nan] * 3, [4, 5, 6.0]])


@pytest.mark.parametrize("name", ["nanmax", "nanmin", "nanmean", "nanvar", "nanstd"])
def test_rows_without_numbers_are_nan_and_warned_of(name: str) -> None:
    with pytest.warns(RuntimeWarning) as wanted:
        expected = getattr(numpy, name)(ROWS, axis=1)
    with pytest.warns(RuntimeWarning) as found:
        got = getattr(np, name)(np.array(ROWS), axis=1)
    numpy.testing.assert_allclose(got.tolist(), expected)
    assert [str(w.message) for w in found] == [str(w.message) for w in wanted]


@pytest.mark.parametrize("name", ["nanmax", "nanmin", "nanmean", "nanvar", "nanstd"])
def test_nan_reductions_with_where_and_out_are_numpys(name: str) -> None:
    chosen = numpy.array([True, True, False])
    options = {"initial": 2.0} if name in ("nanmax", "nanmin") else {}
    expected = getattr(numpy, name)(ROWS[::2], axis=1, where=chosen, **options)
    out = np.zeros(2)
    getattr(np, name)(np.array(ROWS[::2]), axis=1, where=np.array(chosen), out=out, **options)
    numpy.testing.assert_allclose(out.tolist(), expected)


@pytest.mark.parametrize("axis", [0, 1, (0, 2), (2, 1), None])
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_weighted_quantiles_are_numpys(name: str, axis: Any) -> None:
    draw = numpy.random.default_rng(0)
    values, weights = draw.random((4, 5, 3)), draw.integers(0, 4, (4, 5, 3))
    values[0, 0, 0] = numpy.nan
    for q in (0.0, 0.3, [0.2, 0.7, 1.0]):
        options = {"axis": axis, "weights": weights, "method": "inverted_cdf", "keepdims": True}
        expected = getattr(numpy, name)(values, q, **options)
        found = getattr(np, name)(np.array(values), q, **options)
        numpy.testing.assert_array_equal(found.tolist(), expected)


def test_weights_of_one_dimension_apply_along_the_axis() -> None:
    values, weights = numpy.arange(12.0).reshape(3, 4), numpy.array([0.0, 1, 2, 1])
    options: dict[str, Any] = {"axis": 1, "weights": weights, "method": "inverted_cdf"}
    expected = numpy.percentile(values, [25, 75], **options)
    assert np.percentile(np.array(values), [25, 75], **options).tolist() == expected.tolist()


@pytest.mark.parametrize("weights", [[1, -1, 1], [0, 0, 0], [1, numpy.inf, 1]])
def test_weights_without_a_positive_sum_are_refused(weights: list[float]) -> None:
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="[Ww]eights"):
        np.quantile([1.0, 2, 3], 0.5, weights=weights, method="inverted_cdf")


@pytest.mark.parametrize("trim", ["f", "b", "fb"])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), ()])
def test_trim_zeros_along_axes_is_numpys(trim: str, axis: Any) -> None:
    a = numpy.zeros((5, 6), int)
    a[1:3, 2:5] = 7
    expected = numpy.trim_zeros(a, trim, axis)
    assert np.trim_zeros(np.array(a), trim, axis).tolist() == expected.tolist()


@pytest.mark.parametrize("length", [0, 1, -3, 5, 2.5, numpy.uint8(4), numpy.float32(5)])
@pytest.mark.parametrize("name", ["hanning", "hamming", "blackman", "bartlett"])
def test_window_functions_of_any_length_are_numpys(name: str, length: Any) -> None:
    expected = getattr(numpy, name)(length)
    numpy.testing.assert_allclose(getattr(np, name)(length).tolist(), expected, atol=1e-15)


@pytest.mark.parametrize("write", ["a / 0", "np.log(a - 1)", "np.sqrt(-a)", "a * 1e308"])
def test_floating_point_errors_are_warned_of(write: str) -> None:
    if str(current_backend()) != "numpy":
        pytest.skip("devices tell of none")
    a = np.array([1.0, 20.0])
    with pytest.warns(RuntimeWarning):
        eval(write, {"np": np, "a": a})
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        eval(write, {"np": np, "a": a})


def by_copyto(m: Any) -> Any:
    a = m.zeros(4, dtype=m.float32)
    m.copyto(a, [1, 2, 3, 4], where=[True, False, True, False])
    return a


def at_places(m: Any) -> Any:
    a = m.arange(5)
    m.put(a, [0, -1], [10, 20])
    m.putmask(a, a > 15, [1, 2])
    m.place(a, a == 1, [7, 8])
    return a


def several_times(m: Any) -> Any:
    a = m.zeros(3, dtype=m.int32)
    m.add.at(a, [0, 0, 2], [1, 2, 3])
    m.negative.at(a, [2])
    return a


def in_place(m: Any) -> Any:
    a = m.array([[3, 1, 2], [9, 7, 8]])
    a.sort(axis=0)
    a.partition(1)
    a[0].fill(5)
    return a


def by_flat(m: Any) -> Any:
    a = m.arange(6).reshape(2, 3)
    part = a.flat[1:4]
    part[...] = 100
    a.flat[[0, 5]] = 7, 8
    a.T.flat[1::2] = -1
    return a


@pytest.mark.parametrize("write", [by_copyto, at_places, several_times, in_place, by_flat])
def test_functions_that_write_to_arrays_are_numpys(write: Callable[[Any], Any]) -> None:
    assert write(np).tolist() == write(numpy).tolist()


def test_functions_that_write_count_as_changes() -> None:
    base = np.array([1.0, 2.0])
    base.requires_grad = True
    factor = np.array([3.0, 4.0])
    product = (base * factor).sum()
    np.copyto(factor, [0.0, 0.0])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


def test_copyto_is_recorded_for_gradients() -> None:
    weight = np.array([1.0, 2.0])
    weight.requires_grad = True
    target = np.zeros(2)
    np.copyto(target, 3 * weight)
    target.sum().backward()
    assert weight.grad is not None
    assert weight.grad.tolist() == [3, 3]


LAYOUTS = {
    "rows": lambda m: m.arange(6).reshape(2, 3),
    "columns": lambda m: m.arange(6).reshape(2, 3).T,
    "mixed": lambda m: m.arange(24).reshape(2, 3, 4).swapaxes(1, 2),
    "backwards": lambda m: m.arange(6).reshape(2, 3)[::-1],
    "number": lambda m: m.array(5),
}


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_ravel_flatten_and_copy_follow_the_order_argument(layout: str, order: str) -> None:
    found, wanted = LAYOUTS[layout](np), LAYOUTS[layout](numpy)
    assert found.ravel(order).tolist() == wanted.ravel(order).tolist()
    assert found.flatten(order).tolist() == wanted.flatten(order).tolist()
    assert found.copy(order).tolist() == wanted.copy(order).tolist()
    assert found.copy(order).strides == wanted.copy(order).strides


@pytest.mark.parametrize("kind", [int, float, complex])
def test_arrays_with_dimensions_are_no_numbers(kind: type) -> None:
    assert kind(np.array(1.0)) == 1
    try:
        wanted = kind(numpy.array([1.0]))
    except TypeError:
        with pytest.raises(TypeError, match="0-dimensional"):
            kind(np.array([1.0]))
    else:
        assert kind(np.array([1.0])) == wanted


def test_resizing_a_view_is_refused() -> None:
    a = np.arange(4)
    with pytest.raises(ValueError, match="does not own its data"):
        a[1:].resize(2, 2)
    a.resize((2, 3))
    assert a.tolist() == [[0, 1, 2], [3, 0, 0]]


def test_arrays_can_be_made_of_an_arrays_buffer() -> None:
    a = np.arange(6)
    part = np.ndarray((2, 2), int, buffer=a, offset=8)
    assert part.tolist() == [[1, 2], [3, 4]]


def test_matrices_are_multiplied_in_place_by_matrices_alone() -> None:
    for m in (numpy, np):
        a: Any = m.ones(3)
        with pytest.raises(ValueError, match="inplace matrix multiplication requires"):
            a @= m.ones(3)
    b = np.ones(3)
    b @= np.full((3, 3), 2.0)
    assert b.tolist() == [6, 6, 6]


def test_arrays_are_unequal_to_strings_and_none() -> None:
    for other in ("a", b"1", None):
        assert (np.array([1, 2]) == other).tolist() == [False, False]
        assert (np.array([1, 2]) != other).tolist() == [True, True]


def test_sizes_below_zero_stretch_nothing() -> None:
    with pytest.raises(ValueError, match="non-negative"):
        np.broadcast_to(np.array([1, 2]), (-1, 2))


def test_assigning_a_shape_that_needs_a_copy_is_refused() -> None:
    part = np.arange(12).reshape(3, 4)[:, :2]
    with pytest.raises(AttributeError, match="Incompatible shape for in-place modification"):
        part.shape = (6,)


@pytest.mark.parametrize("name", ["absolute", "conjugate", "remainder", "divide", "arccos"])
def test_a_ufunc_is_one_under_all_its_names(name: str) -> None:
    same = [n for n in dir(numpy) if getattr(numpy, n) is getattr(numpy, name)]
    assert len(same) > 1
    assert all(getattr(np, n) is getattr(np, name) for n in same)


@pytest.mark.parametrize("order", ["c", "f", "a", "k"])
def test_the_order_argument_accepts_lower_case(order: str) -> None:
    a = numpy.arange(6).reshape(2, 3).T
    assert np.array(a).ravel(order).tolist() == a.ravel(order.upper()).tolist()


@pytest.mark.parametrize("name", ["add", "subtract", "maximum", "floor_divide", "bitwise_xor"])
def test_reduce_accumulate_reduceat_and_outer_are_numpys(name: str) -> None:
    mine, theirs = getattr(np, name), getattr(numpy, name)
    values = numpy.array([[7, 2, 3], [6, 5, 1]])
    array = np.array(values)
    out = np.zeros(2, dtype=int)
    assert mine.reduce(array, axis=1, out=out) is out
    assert out.tolist() == theirs.reduce(values, axis=1).tolist()
    assert mine.reduce(array, 0, keepdims=True).tolist() == [theirs.reduce(values, 0).tolist()]
    assert mine.accumulate(array, 1).tolist() == theirs.accumulate(values, 1).tolist()
    assert mine.reduceat(array, [0, 2], 1).tolist() == theirs.reduceat(values, [0, 2], 1).tolist()
    assert mine.outer(array[0], array[1]).tolist() == theirs.outer(*values).tolist()


class HasArrayMethod:
    """Object whose `__array__` returns a tinytorch array."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array([1.0, 2.0])


def test_objects_whose_array_method_returns_a_tinytorch_array_are_accepted() -> None:
    assert np.asarray(HasArrayMethod()).tolist() == [1, 2]
    assert np.array(HasArrayMethod(), dtype=int).tolist() == [1, 2]
    assert (np.ones(2) + HasArrayMethod()).tolist() == [2, 3]


@pytest.mark.parametrize("name", ["format_float_positional", "format_float_scientific"])
def test_numbers_are_formatted_in_their_own_dtype(name: str) -> None:
    for kind in (numpy.float16, numpy.float32, numpy.float64):
        number = kind(0.1)
        wanted = getattr(numpy, name)(number, 3, unique=True)
        assert getattr(np, name)(np.array(number), 3, unique=True) == wanted
        assert getattr(np, name)(np.array(number)) == getattr(numpy, name)(number)
