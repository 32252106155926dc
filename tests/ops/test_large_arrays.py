"""Operations that go another way when arrays are large: the same results, beside NumPy's."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import elements_to_compare
from tinytorch.ops.nn import attention

DTYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64")
SHAPES = [((3000,), 0), ((40, 60), 0), ((40, 60), 1), ((3, 300, 5), 1)]
LARGE_SLICES = [((9, 600), 0), ((3, 20, 200), 1)]


@pytest.fixture(autouse=True)
def numbers_of_its_own() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    global RNG
    RNG = np.random.default_rng(0)


def numbers(dtype: str, shape: tuple[int, ...], few: bool) -> np.ndarray:
    """Random numbers; few distinct ones, or with every special float among them."""
    values = RNG.standard_normal(shape) * 40
    if few:
        return np.round(values / 40).astype(dtype)
    array = values.astype(dtype)
    if array.dtype.kind == "f":
        flat = array.reshape(-1)
        for special in (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0):
            flat[RNG.integers(0, flat.size, 4)] = special
    return array


def stable_order(array: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    if not descending:
        return np.argsort(array, axis=axis, kind="stable")
    found = np.argsort(np.flip(array, axis), axis=axis, kind="stable")
    return array.shape[axis] - 1 - np.flip(found, axis)


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_sort_of_large_arrays_is_stable(
    shape: tuple[int, ...], axis: int, dtype: str, few: bool
) -> None:
    array = numbers(dtype, shape, few)
    for descending in (False, True):
        expected = stable_order(array, axis, descending)
        values, found = tt.sort(tt.tensor(array), axis, descending)
        np.testing.assert_array_equal(found.numpy(), expected)
        np.testing.assert_array_equal(values.numpy(), np.take_along_axis(array, expected, axis))


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_topk_of_large_arrays_is_the_first_of_the_order(
    shape: tuple[int, ...], axis: int, dtype: str, few: bool
) -> None:
    array = numbers(dtype, shape, few)
    size = shape[axis]
    for count in (1, 3, size // 3, size):
        for largest in (False, True):
            best = np.take(stable_order(array, axis, largest), range(count), axis)
            values, found = tt.topk(tt.tensor(array), count, axis, largest)
            np.testing.assert_array_equal(values.numpy(), np.take_along_axis(array, best, axis))
            picked = np.take_along_axis(array, found.numpy(), axis)
            np.testing.assert_array_equal(picked, values.numpy())
            assert (np.diff(np.sort(found.numpy(), axis), axis=axis) > 0).all()


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_kthvalue_of_large_arrays_is_numpys(
    shape: tuple[int, ...], axis: int, dtype: str, few: bool
) -> None:
    array = numbers(dtype, shape, few)
    ordered = np.sort(array, axis)
    for rank in (1, shape[axis] // 2, shape[axis]):
        values, found = tt.kthvalue(tt.tensor(array), rank, axis)
        np.testing.assert_array_equal(values.numpy(), np.take(ordered, rank - 1, axis))
        picked = np.take_along_axis(array, np.expand_dims(found.numpy(), axis), axis)
        np.testing.assert_array_equal(np.squeeze(picked, axis), values.numpy())


def test_integers_too_far_apart_for_a_place_beside_them() -> None:
    array = RNG.integers(-(2**63), 2**63 - 1, (20, 100), dtype="int64")
    array[:, ::7] = array[:, :1]
    values, found = tt.sort(tt.tensor(array), 1)
    np.testing.assert_array_equal(found.numpy(), stable_order(array, 1, False))
    np.testing.assert_array_equal(values.numpy(), np.sort(array, 1))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32"])
@pytest.mark.parametrize("shape", [(5000,), (3, 1000), (7, 4, 130), (2, 65, 70), (0, 3000)])
def test_products_of_large_arrays_are_precise(shape: tuple[int, ...], dtype: str) -> None:
    array = (1 + 0.01 * RNG.standard_normal(shape)).astype(dtype)
    if array.dtype.kind == "i":
        array = RNG.integers(1, 4, shape).astype(dtype)
    x = tt.tensor(array)
    rtol = 1e-4 if dtype == "float32" else 1e-10
    native = "int64" if array.dtype.kind == "i" else dtype
    for axis in (None, -1, 0, tuple(range(len(shape)))[1:] or None):
        for keep in (False, True):
            expected = np.prod(array, axis=axis, dtype=native, keepdims=keep)
            options: dict[str, Any] = {} if axis is None else {"dim": axis, "keepdim": keep}
            found = tt.prod(x, **options).numpy()
            if axis is None:
                expected = np.prod(array, dtype=native)
            assert found.dtype == native
            np.testing.assert_allclose(found, expected, rtol=rtol)


@pytest.mark.parametrize("most", [1, 3, 500])
def test_rows_are_added_up_by_index(most: int) -> None:
    index = RNG.integers(0, most, 700)
    index[:200] = 0  # many of one row
    rows = RNG.standard_normal((700, 12))
    table = tt.tensor(RNG.standard_normal((500, 12)), requires_grad=True)
    tt.nn.functional.embedding(tt.tensor(index), table).backward(tt.tensor(rows))
    expected = np.zeros((500, 12))
    np.add.at(expected, index, rows)
    np.testing.assert_allclose(table.grad.numpy(), expected, rtol=1e-12, atol=1e-12)
    added = tt.zeros(500, 12, dtype=tt.float64).index_add(0, tt.tensor(index), tt.tensor(rows))
    np.testing.assert_allclose(added.numpy(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(30, 30), (2, 40, 25), (3, 25, 40), (300, 3, 3)])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_factors_give_the_matrix_back(shape: tuple[int, ...], dtype: str) -> None:
    matrix = RNG.standard_normal(shape).astype(dtype)
    if dtype == "complex128":
        matrix += 1j * RNG.standard_normal(shape)
    P, L, U = (part.numpy() for part in tt.linalg.lu(tt.tensor(matrix)))
    np.testing.assert_allclose(P @ L @ U, matrix, atol=1e-12)
    assert np.abs(L).max() < 1.5  # of a complex number the larger part is what counts
    np.testing.assert_array_equal(np.tril(U, -1), 0)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_unique_of_large_arrays_is_numpys(dtype: str) -> None:
    array = np.round(10 * RNG.standard_normal((50, 60))).astype(dtype)
    expected = np.unique(array, return_inverse=True, return_counts=True)
    found = tt.unique(tt.tensor(array), return_inverse=True, return_counts=True)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.reshape(ours.shape))
    values, counts = tt.unique(tt.tensor(array), return_counts=True)
    np.testing.assert_array_equal(values.numpy(), expected[0])
    np.testing.assert_array_equal(counts.numpy(), expected[2])


@pytest.mark.parametrize("order", ["random", "rising", "constant"])
@pytest.mark.parametrize(("shape", "axis"), [*SHAPES, *LARGE_SLICES])
def test_cummax_and_cummin_of_large_arrays_are_numpys(
    shape: tuple[int, ...], axis: int, order: str
) -> None:
    array = RNG.standard_normal(shape)
    if order == "rising":
        array = np.sort(array, axis)
    if order == "constant":
        array = np.round(array / 10)
    place = np.indices(shape)[axis]
    for name, ufunc in (("cummax", np.maximum), ("cummin", np.minimum)):
        running = ufunc.accumulate(array, axis)
        reached = np.maximum.accumulate(np.where(array == running, place, 0), axis)
        values, indices = getattr(tt, name)(tt.tensor(array), axis)
        np.testing.assert_array_equal(values.numpy(), running)
        np.testing.assert_array_equal(indices.numpy(), reached)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "float64", "complex64"])
@pytest.mark.parametrize(("shape", "axis"), [*SHAPES, *LARGE_SLICES])
def test_cumsum_and_cumprod_of_large_arrays_are_numpys(
    shape: tuple[int, ...], axis: int, dtype: str
) -> None:
    array = np.round(10 * RNG.standard_normal(shape)).astype(dtype)
    wide = {"float32": "float64", "float64": "float64", "complex64": "complex128"}
    given = wide.get(dtype, "int64")
    for name, ufunc in (("cumsum", np.add), ("cumprod", np.multiply)):
        part = array if name == "cumsum" else np.where(array.real < 0, -1, 1).astype(dtype)
        out = getattr(tt, name)(tt.tensor(part), axis)
        expected = ufunc.accumulate(part, axis, dtype=given)
        assert out.dtype == (dtype if dtype in wide else "int64")
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize(("shape", "axis"), [*SHAPES, ((600, 250), 1)])
def test_running_products_and_their_gradients(shape: tuple[int, ...], axis: int) -> None:
    array = 1 + 0.01 * RNG.standard_normal(shape)
    x = tt.tensor(array, requires_grad=True)
    out = tt.cumprod(x, axis)
    expected = np.cumprod(array, axis)
    np.testing.assert_allclose(out.detach().numpy(), expected, rtol=1e-10)
    g = RNG.standard_normal(shape)
    out.backward(tt.tensor(g))
    # Each element is a factor of its own product and of those after it.
    later = np.flip(np.cumsum(np.flip(g * expected, axis), axis), axis)
    np.testing.assert_allclose(x.grad.numpy(), later / array, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64"])
def test_clamp_of_large_arrays_is_numpys(dtype: str) -> None:
    array = numbers(dtype, (30_000,), few=False)
    bounds = ((-1, 1), (None, 1), (-1, None), (2, -2), (0, np.nan), (None, -np.inf), (7, 1e300))
    for low, high in bounds:
        if dtype == "int64" and not all(bound is None or abs(bound) < 9 for bound in (low, high)):
            continue
        expected = array if low is None else np.maximum(array, np.asarray(low, dtype))
        with np.errstate(over="ignore"):
            top = None if high is None else np.asarray(high, "float64").astype(dtype)
        expected = expected if top is None else np.minimum(expected, top)
        found = tt.clamp(tt.tensor(array), low, high).numpy()
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex128", "bool"])
@pytest.mark.parametrize(
    ("shape", "order"),
    [((300, 333), (1, 0)), ((3, 190, 201), (0, 2, 1)), ((70, 80, 90), (2, 1, 0)),
     ((5, 70, 300), (1, 0, 2)), ((300, 100, 3), (1, 0, 2)), ((3, 150, 160), (2, 0, 1))],
    ids=str,
)  # fmt: skip
def test_copies_of_what_was_permuted(
    shape: tuple[int, ...], order: tuple[int, ...], dtype: str
) -> None:
    array = (RNG.standard_normal(shape) * 40).astype(dtype)
    for source in (array, array[..., ::-1], array[::2]):
        copy = tt.tensor(source.copy()).permute(order).contiguous()
        assert copy.is_contiguous()
        np.testing.assert_array_equal(copy.numpy(), source.transpose(order))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(90, 50), (300, 470), (900, 700)])
def test_choosing_by_a_mask_keeps_every_bit(shape: tuple[int, ...], dtype: str, order: str) -> None:
    x, y = (np.asarray(numbers(dtype, shape, False), order=order) for _ in range(2))
    mask = np.asarray(RNG.random(shape) < 0.5, order=order)
    number, bits = np.array(-2.5, dtype), f"i{x.dtype.itemsize}"
    for first, second in ((x, y), (x, number), (number, y)):
        found = tt.where(tt.tensor(mask), tt.tensor(first), tt.tensor(second)).numpy()
        expected = np.where(mask, first, second)
        np.testing.assert_array_equal(found.view(bits), expected.view(bits))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(90, 50), (300, 470), (900, 700)])
def test_no_gradient_passes_a_relu_below_zero(shape: tuple[int, ...], dtype: str) -> None:
    start, grad = RNG.standard_normal(shape).astype(dtype), numbers(dtype, shape, False)
    for change in (np.asarray, np.transpose):  # the gradient in two memory orders
        x = tt.tensor(start, requires_grad=True)
        tt.relu(x).backward(tt.tensor(change(change(grad).copy())))
        np.testing.assert_array_equal(x.grad.numpy(), np.where(start > 0, grad, 0))


def summed_distances(x: tt.Tensor) -> tt.Tensor:
    return tt.cdist(x, x.detach() + 1, 3.0).sum()


def margins_of_all(x: tt.Tensor) -> tt.Tensor:
    labels = tt.arange(x.shape[1]).expand(tuple(x.shape)).clone()
    labels[:, x.shape[1] // 2 :] = -1
    return tt.nn.functional.multilabel_margin_loss(x, labels)


def attended(x: tt.Tensor) -> tt.Tensor:
    return tt.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True).sum()


@pytest.mark.parametrize(("function", "shape"), [(summed_distances, (600, 64)),
                                                 (margins_of_all, (500, 200)),
                                                 (attended, (1, 1, 4096, 8))])  # fmt: skip
def test_memory_of_operations_on_all_pairs_is_bounded(
    function: Any, shape: tuple[int, ...]
) -> None:
    if tt.get_backend() != "numpy":
        pytest.skip("tracemalloc sees NumPy's memory alone")
    x = tt.tensor(RNG.standard_normal(shape).astype("float32"), requires_grad=True)
    tracemalloc.start()
    try:
        function(x).backward()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 32 << 20  # all pairs at once: 92, 38 and 64 MiB for each array of them


def test_gradients_of_cdist_in_several_blocks_are_right() -> None:
    a, b = RNG.standard_normal((300, 60)), RNG.standard_normal((200, 60))
    x, y = (tt.tensor(each, requires_grad=True) for each in (a, b))
    tt.cdist(x, y, 1.0).sum().backward()
    signs = np.sign(a[:, None] - b)
    np.testing.assert_allclose(x.grad.numpy(), signs.sum(1))
    np.testing.assert_allclose(y.grad.numpy(), -signs.sum(0))


def test_margins_of_labels_in_several_blocks() -> None:
    scores, half = RNG.standard_normal((80, 120)), 60
    x = tt.tensor(scores, requires_grad=True)
    loss = margins_of_all(x)
    loss.backward()
    gaps = np.maximum(1 - scores[:, :half, None] + scores[:, None, half:], 0)
    slope = np.concatenate((-(gaps > 0).sum(2), (gaps > 0).sum(1)), 1)
    np.testing.assert_allclose(loss.item(), gaps.sum() / scores.size)
    np.testing.assert_allclose(x.grad.numpy(), slope / scores.size)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [(5, 7), (7, 5), (6, 6)])
@pytest.mark.parametrize("mask", ["queries keys", "keys", "all", "head", None])
def test_attention_in_blocks_equals_attention_in_one(
    mask: str | None, queries: int, keys: int, causal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of a few queries of one head give what scores that are kept do, and its slopes."""
    monkeypatch.setattr(attention, "_block_scores", lambda xp: 14)
    given = [RNG.standard_normal((3, 2, n, 4)) for n in (queries, keys, keys)]
    shapes: dict[Any, Any] = {
        "queries keys": (queries, keys), "keys": (1, keys), "all": (3, 1, queries, keys),
        "head": (1, 2, queries, keys),
    }  # fmt: skip
    bias = tt.tensor(RNG.standard_normal(shapes[mask])) if mask else None
    found = []
    for many in (1 << 24, 0):
        monkeypatch.setattr(attention, "_MANY", many)
        q, k, v = leaves = [tt.tensor(each, requires_grad=True) for each in given]
        out: Any = tt.nn.functional.scaled_dot_product_attention(q, k, v, bias, 0.0, causal)
        first = tt.autograd.grad((out * out).sum(), leaves, create_graph=True)
        second = tt.autograd.grad(sum((slope * slope).sum() for slope in first), leaves)
        with tt.no_grad():
            again: Any = tt.nn.functional.scaled_dot_product_attention(q, k, v, bias, 0.0, causal)
        found.append([each.detach().numpy() for each in (out, again, *first, *second)])
    for whole, blocks in zip(*found, strict=True):
        np.testing.assert_allclose(blocks, whole, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("masked", [False, True])
def test_grouped_attention_in_blocks_equals_attention_in_one(
    masked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each head of the keys and values is that of a group of query heads."""
    monkeypatch.setattr(attention, "_block_scores", lambda xp: 14)
    monkeypatch.setattr(attention, "_MANY", 0)
    given = [RNG.standard_normal((2, n, 5, 4)) for n in (6, 2, 2)]
    mask = tt.tensor(RNG.standard_normal((2, 6, 5, 5))) if masked else None
    found = []
    for repeated in (False, True):
        q, k, v = leaves = [tt.tensor(each, requires_grad=True) for each in given]
        if repeated:
            k, v = (each.repeat_interleave(3, 1) for each in (k, v))
        out: Any = tt.nn.functional.scaled_dot_product_attention(
            q, k, v, mask, is_causal=not masked, enable_gqa=not repeated
        )
        slopes = tt.autograd.grad((out * out).sum(), leaves)
        found.append([each.detach().numpy() for each in (out, *slopes)])
    for grouped, alone in zip(*found, strict=True):
        np.testing.assert_allclose(grouped, alone, rtol=1e-12, atol=1e-12)


def quotients(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Dividends and divisors of float32: of every size, next to whole multiples, or special."""
    a = (RNG.standard_normal(9000) * 2.0 ** RNG.integers(-20, 20, 9000)).astype("float32")
    b = (RNG.standard_normal(9000) * 2.0 ** RNG.integers(-4, 8, 9000)).astype("float32")
    if kind == "near":
        a = np.nextafter(np.round(RNG.standard_normal(9000) * 1000).astype("float32") * b, a)
    elif kind == "bits":
        a = RNG.integers(-(2**31), 2**31, 9000).astype("int32").view("float32")
        with np.errstate(all="ignore"):
            b = (a * RNG.uniform(0.1, 4, 9000)).astype("float32")
    elif kind == "special":
        pairs = [
            (0, 1),
            (-0.0, 1),
            (0, -1),
            (-0.0, -1),
            (6, 3),
            (-6, 3),
            (6, -3),
            (1, 0),
            (0, 0),
            (np.inf, 1),
            (1, np.inf),
            (-1, np.inf),
            (np.nan, 1),
            (1, np.nan),
            (1e30, 1e-30),
        ]
        a, b = (np.resize(np.array(side, "float32"), 9000) for side in zip(*pairs, strict=True))
    return a, b


@pytest.mark.parametrize("kind", ["any", "near", "bits", "special"])
@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
def test_remainders_of_large_arrays_are_exact(name: str, kind: str) -> None:
    for a, b in (quotients(kind), tuple(x.reshape(60, 150) for x in quotients(kind))):
        with np.errstate(all="ignore"):
            # Of quotients that float32 rounds NumPy takes the floor of a rounded number.
            wide = a.astype("float64") / b
            few = np.abs(wide) < 2.0**20 if name == "floor_divide" else np.full(a.shape, True)
            expected = getattr(np, name)(a, b)
            few &= elements_to_compare(a, b, np.fmod(a, b))  # from which the other two are computed
        found = getattr(tt, name)(tt.tensor(a), tt.tensor(b)).numpy()
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found[few], expected[few])
        first = [tt.tensor(x.reshape(-1)[:15]) for x in (a, b)]
        short = getattr(tt, name)(*first).numpy()
        zero = short == 0
        signs = np.signbit(found.reshape(-1)[:15][zero])
        np.testing.assert_array_equal(signs, np.signbit(short[zero]))


@pytest.mark.parametrize("number", [0.7, -3, 2.0**-20, np.inf, -np.inf, np.nan, 0.0, -0.0])
@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
def test_remainders_with_a_python_number_equal_numpys_bitwise(name: str, number: float) -> None:
    a = np.concatenate([quotients("any")[0], [0.0, -0.0, 6.3, -6.3]]).astype("float32")
    b = np.float32(number)
    with np.errstate(all="ignore"):
        # NumPy floors a rounded quotient: compare floor_divide where float32 holds the quotient.
        comparable = np.abs(a.astype("float64") / b) < 2.0**20
        comparable |= np.full(a.shape, name != "floor_divide" or not np.isfinite(number))
        expected, expected_reversed = getattr(np, name)(a, b), getattr(np, name)(b, a)
    for x in (tt.tensor(a), tt.tensor(a).reshape(2, -1)):
        for other in (number, tt.tensor(number), tt.tensor(number, dtype=tt.float64)):
            found = getattr(tt, name)(x, other).numpy().reshape(-1)
            assert found.dtype == np.float32
            np.testing.assert_array_equal(found[comparable], expected[comparable])
            # The last elements, zeros among them, have the signs that a short array gets. The sign
            # of NaN is unspecified, and vector instructions may set another one.
            of_short_array = getattr(tt, name)(x.reshape(-1)[-15:], other).numpy()
            last = found[-15:]
            signs = np.signbit(last[~np.isnan(last)])
            np.testing.assert_array_equal(signs, np.signbit(of_short_array[~np.isnan(last)]))
    with np.errstate(all="ignore"):
        comparable = ~(np.abs(b / a.astype("float64")) >= 2.0**20) | (name != "floor_divide")
    found = getattr(tt, name)(tt.tensor(b), tt.tensor(a)).numpy()
    np.testing.assert_array_equal(found[comparable], expected_reversed[comparable])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logaddexp_of_large_arrays_is_numpys(dtype: str) -> None:
    a, b = numbers(dtype, (40, 60), False), numbers(dtype, (40, 60), False)
    with np.errstate(all="ignore"):
        expected = np.logaddexp(a, b)
    ulps = 4 * np.finfo(dtype).eps
    x, y = tt.tensor(a), tt.tensor(b)
    for found in (tt.logaddexp(x, y), x.T.contiguous().T.logaddexp(y)):
        assert found.numpy().dtype == dtype
        np.testing.assert_allclose(found.numpy(), expected, rtol=ulps, atol=ulps)
