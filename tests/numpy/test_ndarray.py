"""NumPy's array: every method, attribute and operator gives what NumPy's does."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp
from tests.calls import words
from tests.numpy.evaluation import assert_same

#: What NumPy's array has and this has not, and why.
APART = {
    "__array_finalize__": "called on subclasses alone, where they define it",
    "__array_struct__": "a structure of C",
    "__array_wrap__": "called on subclasses alone, where they define it",
    "__setstate__": "how NumPy's own pickles are read",
}


def test_an_array_has_every_attribute_of_numpys() -> None:
    missing = {name for name in dir(np.ndarray) if not hasattr(tnp.ndarray, name)}
    assert missing == set(APART)


Use = Callable[[Any], Any]

#: Uses of an array of (2, 3) floats, ``[[3, 1, 2], [0, 5, 4]]``.
USES: list[Use] = [
    lambda a: a.T, lambda a: a.mT, lambda a: a.all(), lambda a: a.any(0), lambda a: a.argmax(),
    lambda a: a.argmin(1), lambda a: a.argpartition(1, axis=0).shape, lambda a: a.argsort(),
    lambda a: a.argsort(axis=0), lambda a: a.astype(int), lambda a: a.astype(np.float32),
    lambda a: a.astype("int8").byteswap(), lambda a: a.base is None, lambda a: a.clip(1, 4),
    lambda a: a.clip(min=2), lambda a: a.astype(int).choose(range(6)),
    lambda a: (a > 2).astype(int).choose([-a, a + 1]),
    lambda a: a.astype(int).choose([a, 0], mode="wrap"),
    lambda a: a.compress([True, False, True], axis=1), lambda a: a.conj(), lambda a: a.conjugate(),
    lambda a: a.copy(), lambda a: a.cumprod(), lambda a: a.cumsum(1), lambda a: a.diagonal(),
    lambda a: a.diagonal(1), lambda a: a.dot([1, 2, 3]), lambda a: a.dtype,
    lambda a: a.T.flags.c_contiguous, lambda a: a.flatten(), lambda a: a.flatten("F"),
    lambda a: list(a.flat), lambda a: a.flat[3], lambda a: a.flat[1:4], lambda a: len(a.flat),
    lambda a: a.imag, lambda a: a.item(4), lambda a: a.item(1, 2), lambda a: a.itemsize,
    lambda a: a.max(), lambda a: a.max(axis=1, keepdims=True), lambda a: a.mean(),
    lambda a: a.mean(0), lambda a: a.min((0, 1)), lambda a: a.nbytes, lambda a: a.ndim,
    lambda a: a.nonzero(), lambda a: a.prod(1), lambda a: a.ravel(), lambda a: a.ravel("F"),
    lambda a: a.real, lambda a: a.repeat(2), lambda a: a.repeat([1, 2], axis=0),
    lambda a: a.reshape(3, 2), lambda a: a.reshape((3, -1)), lambda a: a.reshape(6, order="F"),
    lambda a: a.round(1), lambda a: a[0].searchsorted([2.5]), lambda a: a.shape, lambda a: a.size,
    lambda a: a[None].squeeze(), lambda a: a[None].squeeze(axis=0), lambda a: a.std(),
    lambda a: a.std(1, ddof=1), lambda a: a.strides, lambda a: a.sum(), lambda a: a.sum(0),
    lambda a: a.sum(axis=1, dtype="float32"), lambda a: a.sum(where=a > 2),
    lambda a: a.swapaxes(0, 1), lambda a: a.take([0, 5]), lambda a: a.take([0, 2], axis=1),
    lambda a: list(a.tobytes()), lambda a: list(a.tobytes("F")), lambda a: a.tolist(),
    lambda a: a.trace(), lambda a: a.transpose(), lambda a: a.transpose(1, 0),
    lambda a: a.transpose((1, 0)), lambda a: a.var(0), lambda a: a.view(np.int64),
    lambda a: a.getfield(np.int32, 4), lambda a: a.device, lambda a: a.to_device("cpu"),
    lambda a: str(a.data.format), lambda a: len(a), lambda a: [row.sum() for row in a],
    lambda a: 5.0 in a, lambda a: 7 in a, lambda a: bool(a[0, 0]), lambda a: int(a[0, 0]),
    lambda a: float(a[0, 0]), lambda a: complex(a[0, 0]),
    lambda a: operator.index(a.astype(int)[1, 1]), lambda a: hash(a[0, 0]),
    lambda a: f"{a[0, 1]:.2f}", lambda a: str(a), lambda a: repr(a),
    lambda a: repr(a.astype(np.float32)), lambda a: str(a[0, 0]), lambda a: f"{a}",
    lambda a: round(a[0, 0]), lambda a: copy.copy(a), lambda a: copy.deepcopy(a),
    # operators
    lambda a: -a, lambda a: +a, lambda a: abs(-a), lambda a: ~(a > 1), lambda a: a + 1,
    lambda a: 1 - a, lambda a: a * a, lambda a: a / 2, lambda a: 2 / (a + 1), lambda a: a // 2,
    lambda a: 7 % (a + 1), lambda a: divmod(a, 2), lambda a: a**2, lambda a: 2**a,
    lambda a: a @ a.T, lambda a: a.astype(int) << 1, lambda a: a.astype(int) >> 1,
    lambda a: a.astype(int) & 3, lambda a: a.astype(int) | 8, lambda a: 5 ^ a.astype(int),
    lambda a: a == 1, lambda a: a != [3, 1, 2], lambda a: a < a[::-1], lambda a: a <= 2,
    lambda a: a > 2, lambda a: a >= (1, 2, 3), lambda a: a + [1, 2, 3], lambda a: [1, 2, 3] + a,
    lambda a: divmod(a.astype(int), 2), lambda a: divmod(7, a.astype(int) + 1),
    lambda a: [0, 1] * a.astype(int)[0, 2], lambda a: a.astype(int)[0, 2] * (0, 1),
    lambda a: a.astype(int)[0] * [1, 2, 3],
    lambda a: a == None, lambda a: a != None,  # noqa: E711  elementwise in NumPy
    lambda a: a.astype(int) / 2, lambda a: a.astype(int) // 2, lambda a: a.astype(np.int8) + 1,
    lambda a: a.astype(np.float32) + 1.0, lambda a: a.astype(np.float32) * np.float64(2),
    lambda a: a.astype(np.int32) * 1.0, lambda a: a.astype(int) @ [0.5, 1, 2],
    lambda a: (a > 1) + (a > 2), lambda a: (a > 1) * 2, lambda a: a.astype(np.uint8) - 1,
    lambda a: a.astype(np.float32) + np.ones(3), lambda a: np.ones(3) - a,
    lambda a: np.float64(2) * a, lambda a: a.astype(np.float32).sum() + 1.0,
    lambda a: a.astype(np.int8).sum(),
]  # fmt: skip


def array() -> Any:
    return np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])


@pytest.mark.parametrize("use", USES, ids=words)
def test_uses_of_an_array_have_numpys_result(use: Use) -> None:
    assert_same(use(tnp.array(array())), use(array()))


def written(change: Callable[[Any], Any], a: Any) -> Any:
    result = change(a)
    return a if result is None else (a, result)


def _operate(name: str, other: Any) -> Callable[[Any], Any]:
    def change(a: Any) -> None:
        assert getattr(operator, name)(a, other) is a

    change.__name__ = f"{name}_{other}"
    return change


#: What changes it in place.
CHANGES: list[Any] = [
    lambda a: a.fill(5), lambda a: a.sort(), lambda a: a.sort(axis=0), lambda a: a[1].sort(),
    lambda a: a.partition(1), lambda a: a.put([0, 4], [7, 8]),
    lambda a: a.resize(4, 2, refcheck=False), lambda a: a.resize((2, 2), refcheck=False),
    lambda a: a.setfield(1, np.int32, 4), lambda a: setattr(a, "shape", (3, 2)),
    lambda a: a.flat.__setitem__(slice(None, 3), 9), lambda a: setattr(a, "flat", [1, 2]),
    lambda a: a.flat.__setitem__([1, 3], [8, 9]), lambda a: setattr(a, "real", 4),
    lambda a: a.byteswap(inplace=True).byteswap(inplace=True), lambda a: a.T.fill(2),
    lambda a: a.ravel().fill(3), lambda a: a[:, 0].fill(3),
    lambda a: a.reshape(-1).__setitem__(0, 9),
    # items
    lambda a: a.__setitem__(0, 5), lambda a: a.__setitem__((1, 2), 7.5),
    lambda a: a.__setitem__(a > 2, -1), lambda a: a.__setitem__(a > 2, [7, 8, 9]),
    lambda a: a.__setitem__(([0, 1], [1, 2]), [8, 9]),
    lambda a: a.__setitem__((slice(None), [0, 2]), 0), lambda a: a.__setitem__(..., 1),
    lambda a: a.__setitem__(slice(None, None, -1), [[1, 2, 3], [4, 5, 6]]),
    lambda a: a.__setitem__((0, range(2)), 6), lambda a: a.__setitem__(np.array([1], np.uint8), 6),
    lambda a: a.__setitem__(slice(0, 0), 3),
    *(_operate(f"i{name}", 2) for name in "add sub mul truediv floordiv mod pow".split()),
    _operate("iadd", [1, 2, 3]), _operate("imul", np.ones((2, 1))),
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=words)
def test_in_place_changes_of_an_array_are_numpys(change: Any) -> None:
    assert_same(written(change, tnp.array(array())), written(change, array()))


#: Indices into an array of (2, 3, 4).
INDICES: list[Any] = [
    0, -1, slice(1), slice(None, None, -1), (0, 1), (0, 1, 2), (0, ..., 1), (..., None), None, ...,
    (slice(None), slice(None, None, 2)), [1, 0], (slice(None), [2, 0]), ([0, 1], [1, 2]),
    (0, slice(None), [1, 2]), (slice(None), 0, [1, 2]), ([1, 0], slice(None), 0),
    (slice(None), [0, 1], slice(None)), (0, None, [1, 2]), ([[0], [1]], [0, 2]), range(2),
    (slice(None), range(2), 1), np.array([True, False]), (np.array([True, False]), 1),
    (slice(None), [True, False, True]), np.array([1, 0], np.uint8), np.int64(1), np.array(1),
    (np.int8(0), np.int8(1)), [], (slice(None), []), True, False, (0, True), (1, 1, None, [0, 1]),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_indexing_an_array_is_numpys(index: Any) -> None:
    a = np.arange(24.0).reshape(2, 3, 4)
    assert_same(tnp.array(a)[index], a[index])
    parts = index if isinstance(index, tuple) else (index,)
    ours = tuple(tnp.array(p) if isinstance(p, np.ndarray) else p for p in parts)
    assert_same(tnp.array(a)[ours], a[index])


@pytest.mark.parametrize(
    "index", ["a", 0.5, [0.5], (0, "a"), 5, (0, 0, 0, 0), [7], slice("a")], ids=repr
)
def test_an_invalid_index_raises_numpys_error(index: Any) -> None:
    a = np.arange(24.0).reshape(2, 3, 4)
    with pytest.raises((IndexError, TypeError)) as theirs:
        a[index]
    with pytest.raises(theirs.type):
        tnp.array(a)[index]


def test_scalars_are_copies_and_not_views() -> None:
    a = tnp.array([1.0, 2.0])
    first, total = a[0], a.sum()
    before = total
    a[0] = 5
    first += 1
    total += 1
    assert (float(first), float(before), a.tolist()) == (2, 3, [5, 2])
    assert {a[0]: "five"}[tnp.array(5.0)[()]] == "five"


def test_scalars_have_the_methods_of_numpys_scalars() -> None:
    assert (tnp.log(8) / tnp.log(2)).is_integer()
    assert tnp.float64(0.75).as_integer_ratio() == (3, 4)
    assert tnp.arange(7)[6].bit_count() == 2
    with pytest.raises(AttributeError, match="no attribute 'is_integer'"):
        tnp.ones(1).is_integer()
    with pytest.raises(AttributeError, match="no attribute 'is_integer'"):
        tnp.array(True).is_integer()


@pytest.mark.parametrize("size", [16, 1000])
@pytest.mark.parametrize("kind", ["random", "equals", "nan"])
def test_order_of_equal_elements_is_kept(size: int, kind: str) -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 9, size) * 1.0 if kind == "equals" else rng.random(size)
    if kind == "nan":
        values[::5] = np.nan
    order = np.argsort(values, stable=True)
    assert_same(tnp.argsort(tnp.array(values)), order)
    assert_same(tnp.array(values).argsort(), order)


def test_parts_of_an_array_are_views() -> None:
    a = tnp.zeros((2, 3))
    a[0][1] = 1
    a.T[2] += 2
    a.reshape(-1)[3:] -= 1
    assert a.tolist() == [[0, 1, 2], [-1, -1, 1]]


def test_an_array_is_recorded_in_the_graph() -> None:
    a = tnp.array([1.0, 2.0, 3.0])
    a.requires_grad = True
    b = a * 2
    b[1] = 0
    (b.cumsum() * np.arange(1, 4)).sum().backward()
    assert a.grad is not None and a.grad.tolist() == [12, 0, 6]
    a.grad = None
    tt.as_tensor(a).exp().sum().backward()
    np.testing.assert_allclose(a.grad, np.exp([1, 2, 3]), rtol=1e-15)


@pytest.mark.parametrize("use", [
    lambda x: x.std(), lambda x: x.var(1, ddof=1), lambda x: x.max(0), lambda x: x.clip(1, 3.5),
    lambda x: x[[0, 1], [1, 2]], lambda x: x.T @ x, lambda x: x.flat[2:4],
    lambda x: 2 ** x / (x + 2), lambda x: x.take([0, 5]), lambda x: x.astype(complex).imag + x,
    lambda x: x.ravel("F") ** 3, lambda x: abs(x - 2.2), lambda x: x.repeat(2).cumprod(),
    lambda x: x.mean() * x.trace(),
])  # fmt: skip
def test_gradients_of_uses_of_an_array_are_finite_differences(use: Use) -> None:
    data = array() + 0.3
    weights = np.arange(1.0, 1 + np.size(use(data))).reshape(np.shape(use(data)))
    x = tnp.array(data)
    x.requires_grad = True
    (use(x) * weights).sum().backward()
    for place in np.ndindex(data.shape):
        sides = []
        for step in (1e-6, -1e-6):
            moved = data.copy()
            moved[place] += step
            sides.append((use(moved) * weights).sum())
        assert x.grad is not None
        assert float(x.grad[place]) == pytest.approx((sides[0] - sides[1]) / 2e-6, rel=1e-6)


# -- beside tensors and NumPy's own --------------------------------------------------------------


def test_results_of_arrays_are_arrays_and_of_tensors_tensors() -> None:
    a, t = tnp.ones(2), tt.ones(2)
    for value in (tnp.exp(a), tnp.stack([a, a]), tnp.zeros_like(a), tnp.add(1, 2), tnp.asarray(t)):
        assert type(value) is tnp.ndarray
    for value in (
        tnp.exp(t),
        tnp.stack([a, t]),
        a + t,
        t + a,
        tt.exp(a),
        tt.as_tensor(a),
        tt.stack([a]),
    ):
        assert type(value) is tt.Tensor
    assert not tt.is_tensor(a) and tnp.asarray(a) is a and tt.as_tensor(tnp.asarray(t)) is t


def test_memory_is_shared_with_the_tensor() -> None:
    t = tt.zeros(2)
    a = tnp.asarray(t)
    a[0] = 1
    t[1] = 2
    assert t.tolist() == a.tolist() == [1, 2]


def test_modules_and_losses_take_arrays() -> None:
    x, labels = tnp.ones((2, 3), np.float32), tnp.array([0, 1])
    layer = tt.nn.Linear(3, 2)
    tt.nn.functional.cross_entropy(layer(x), labels).backward()
    assert layer.weight.grad is not None
    assert len(tt.utils.data.TensorDataset(tt.as_tensor(x), tt.as_tensor(labels))) == 2


class Spread(tt.nn.Module):
    """Written for Tensors: the deviation divides by one less than there are elements."""

    def forward(self, x: tt.Tensor, weight: tt.Tensor) -> tt.Tensor:
        return (x.view(-1) * weight.view(-1)).std()


def test_a_module_called_with_arrays_receives_tensors() -> None:
    x, weight = tnp.array([[1.0, 2.0], [3.0, 4.0]]), tnp.ones(4)
    t = tt.as_tensor(x)
    for spread in (Spread()(x, weight), Spread()(t, weight), Spread()(t, weight=weight)):
        assert type(spread) is tt.Tensor
        assert spread.item() == pytest.approx(np.std([1, 2, 3, 4], ddof=1))
    sequence, _ = tt.nn.LSTM(2, 3)(x.astype(np.float32))
    assert sequence.shape == (2, 3)


@pytest.mark.parametrize("transform", ["grad", "jacrev", "jacfwd", "hessian"])
def test_func_transforms_of_arrays_return_arrays(transform: str) -> None:
    def function(x: Any) -> Any:
        return (x**3).sum() if transform in ("grad", "hessian") else x**3

    x = np.array([1.0, 2.0])
    found = getattr(tt.func, transform)(function)(tnp.array(x))
    assert type(found) is tnp.ndarray
    wanted = {"grad": 3 * x**2, "hessian": np.diag(6 * x)}.get(transform, np.diag(3 * x**2))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_numpys_functions_of_arrays_return_arrays() -> None:
    a = tnp.array([1.0, 4.0])
    for found in (np.sqrt(a), np.concatenate([a, np.ones(1)]), np.ones(2) + a, np.add.outer(a, a)):
        assert type(found) is tnp.ndarray
    assert np.sum(a) == 5 and type(np.sum(a)) is tnp.ndarray
    into = np.zeros(2)
    np.multiply(a, 2, out=into)
    assert into.tolist() == [2, 8]
    into += a
    assert into.tolist() == [3, 12]


@pytest.mark.parametrize("write", [
    lambda x: x[1:].fill(9), lambda x: np.add(x, 1, out=x), lambda x: x.T.__setitem__(..., 0),
    lambda x: tnp.copyto(x, 0), lambda x: x.sort(), lambda x: x.fill(0), lambda x: x.put([0], 5),
    lambda x: tnp.add.at(x, [0], 1), lambda x: tnp.cumsum(x, 0, None, x),
    lambda x: tnp.nan_to_num(x, copy=False), lambda x: operator.isub(x, 1),
    lambda x: tnp.random.shuffle(x), lambda x: x.partition(1), lambda x: x.flat.__setitem__(0, 3),
    lambda x: tnp.fill_diagonal(x[None], 3), lambda x: setattr(x, "real", 3),
    lambda x: tnp.place(x, [True, False, False], [3]), lambda x: x.byteswap(True),
    lambda x: tnp.clip(x, 0, 1, x), lambda x: tnp.exp(x, x), lambda x: tnp.sqrt(x, out=(x,)),
    lambda x: tnp.round(x, out=x), lambda x: x.clip(0, 1, out=x), lambda x: x.ravel().fill(1),
    lambda x: tt.as_tensor(x).zero_(), lambda x: tnp.atleast_1d(x).fill(0),
    lambda x: tnp.array(x, copy=None).fill(0), lambda x: tnp.split(x, 1)[0].fill(0),
    lambda x: tnp.flip(x).fill(0), lambda x: tnp.trim_zeros(x).fill(0),
    lambda x: tnp.real_if_close(x).fill(0), lambda x: tnp.rot90(x[None]).fill(0),
    lambda x: tnp.atleast_2d(x).fill(0), lambda x: tnp.lib.stride_tricks.as_strided(x).fill(0),
    lambda x: tnp.hsplit(x, 1)[0].fill(0), lambda x: tnp.matrix_transpose(x[None]).fill(0),
], ids=words)  # fmt: skip
def test_writing_to_a_saved_array_is_detected_in_backward(write: Use) -> None:
    """As it is to a Tensor: what a graph has saved must not have changed."""
    x, weight = tnp.array([1.0, 3.0, 2.0]), tt.ones(3, dtype=tt.float64, requires_grad=True)
    total = (weight * tt.as_tensor(x)).sum()
    write(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        total.backward()


def test_out_is_written_once() -> None:
    x = tnp.array([0.0, 1.0])
    assert tnp.exp(x, x) is x
    np.testing.assert_allclose(x.tolist(), np.exp([0, 1]), rtol=1e-15)


@pytest.mark.parametrize("name", ["sum", "mean"])
def test_sums_and_means_of_large_arrays_are_near_the_exact_ones(name: str) -> None:
    """They are summed in an order of their own."""
    data = np.random.default_rng(0).standard_normal((1000, 600))
    for axis in (None, 0, 1):
        exact = getattr(data.astype(np.longdouble), name)(axis=axis)
        found = getattr(tnp.array(data), name)(axis=axis)
        np.testing.assert_allclose(found.tolist(), exact.astype(float), rtol=1e-11, atol=1e-11)


def test_an_array_survives_pickling_and_moving_between_backends() -> None:
    a = tnp.array([[1, 2], [3, 4]], dtype=np.int16)
    again = pickle.loads(pickle.dumps(a))
    assert type(again) is tnp.ndarray and again.dtype == np.int16 and again.tolist() == a.tolist()
    with tt.backend_context("numpy"):
        a = tnp.array([[1, 2], [3, 4]], dtype=np.int16)
        assert np.from_dlpack(a).tolist() == a.data.tolist() == [[1, 2], [3, 4]]
        a.setflags(write=False)
        assert not a.flags.writeable


@pytest.mark.parametrize("wrong", [
    lambda a: bool(a), lambda a: hash(a), lambda a: int(a), lambda a: a.item(),
    lambda a: a.item(9), lambda a: a.reshape(4), lambda a: setattr(a, "shape", (5,)),
    lambda a: a.astype("int8", casting="safe"), lambda a: operator.iadd(a.astype(int), 0.5),
    lambda a: a[0].mT, lambda a: setattr(a, "imag", 1), lambda a: len(a[0, 0]),
    lambda a: iter(a[0, 0]), lambda a: a.sum(axis=3), lambda a: a + np.ones(4),
    lambda a: a.__setitem__(0, [1, 2]), lambda a: a @ np.ones(2), lambda a: a.take(9),
    lambda a: a << 1, lambda a: a.resize(-1), lambda a: a.squeeze(0), lambda a: a.nope,
    lambda a: operator.delitem(a, 0),
])  # fmt: skip
def test_wrong_use_of_an_array_raises_numpys_error(wrong: Use) -> None:
    with pytest.raises(Exception) as theirs:
        wrong(array())
    with pytest.raises(Exception) as ours:
        wrong(tnp.array(array()))
    builtin = next(kind for kind in theirs.type.__mro__ if kind.__module__ == "builtins")
    assert isinstance(ours.value, builtin), (theirs.type, ours.type)


def subclass_of(library: Any) -> Any:
    """The example of a subclass in NumPy's documentation."""

    class Unit(library.ndarray):
        def __new__(cls, data: Any, unit: str | None = None) -> Any:
            made = library.asarray(data).view(cls)
            made.unit = unit
            return made

        def __array_finalize__(self, source: Any) -> None:
            self.unit = getattr(source, "unit", None)

    return Unit


@pytest.mark.parametrize("library", [np, tnp], ids=["numpy", "tinytorch"])
def test_views_of_a_subclass_keep_class_and_attributes(library: Any) -> None:
    kind = subclass_of(library)
    array = library.ones(2)
    view = kind(array, "m")
    view[0] = 5
    assert array.tolist() == [5, 1] and view.sum() == 6
    assert type(view) is kind and view.unit == "m"
    assert type(view.view(type=kind)) is kind and view.view(kind).unit == "m"
    assert type(view.view(library.ndarray)) is library.ndarray
    integers = view.view("int64", kind)
    assert integers.dtype == "int64" and integers.unit == "m"
    with pytest.raises(ValueError, match="sub-type of ndarray"):
        array.view("int64", int)


#: Expressions of an array ``a`` of a subclass, and ``b`` of one with a higher priority.
OF_SUBCLASSES = """
    a + 1 | 1 + a | a + a | a + b | b - a | a * np.arange(3.0) | np.arange(3.0) * a | -a | a == a
    a < 2 | a[0] | a[:, 1] | a[a > 2] | a[[0, 1]] | a[None] | a.T | a.copy() | a.reshape(3, 2)
    a.flatten() | a.sum() | a.sum(0) | a.mean(1) | a.max(0) | a.cumsum() | a.astype(int) | a @ a.T
    a.transpose() | a.squeeze() | a.real | a.argsort() | a.nonzero() | a.take([0, 1]) | a.view()
    a.view(np.ndarray) | a.compress([True, False], 0) | np.sin(a) | np.add(a, b) | np.divmod(a, 2)
    divmod(a, 2) | a ** 2 | np.modf(a) | np.add.reduce(a) | np.add.accumulate(a) | np.sum(a)
    np.reshape(a, 6) | np.sort(a) | np.clip(a, 0, 1) | np.zeros_like(a) | np.concatenate([a, a])
    np.stack([a, a]) | np.where(a > 1, a, a) | np.asarray(a) | np.asanyarray(a) | np.dot(a, a.T)
    np.add(a, a, out=a) | np.add(1, 1, out=a) | type(a)((2,)) | a.__iadd__(1)
    np.broadcast_to(a, (2, 2, 3))
"""


@pytest.mark.parametrize(
    "expression", [part.strip() for part in OF_SUBCLASSES.strip().replace("\n", "|").split("|")]
)
def test_results_for_subclasses_have_numpys_class_and_attribute(expression: str) -> None:
    found = []
    for library in (np, tnp):

        class Tagged(library.ndarray):  # type: ignore[name-defined,misc]
            def __array_finalize__(self, source: Any) -> None:
                self.tag = getattr(source, "tag", 0)

        class Preferred(Tagged):
            __array_priority__ = 2000.0

        a, b = (library.arange(6.0).reshape(2, 3).view(kind) for kind in (Tagged, Preferred))
        a.tag, b.tag = 7, 8
        result = eval(expression, {"np": library, "a": a, "b": b})
        parts = result if isinstance(result, tuple) else (result,)
        found.append([(type(part).__name__, getattr(part, "tag", None)) for part in parts])
    assert found[1] == found[0]
