"""Indexing, gathering, scattering, windows, statistics and matrices on shapes drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import tinytorch as tt
from tests.ops.same_as_torch import host
from tests.ops.strategies import SETTINGS, arrays, compare, dims, laid_out

hypothesis = pytest.importorskip("hypothesis", reason="it makes the samples")
from hypothesis import assume, given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

#: Arrays that are stretched are among those that are shared.
pytestmark = pytest.mark.filterwarnings("ignore:The given NumPy array is not writable:UserWarning")

some = st.integers(1, 4)


@st.composite
def places(draw: Any, size: int, shape: tuple[int, ...], low: int = 0) -> Any:
    """Whole numbers from ``low`` to below ``size``, as an int64 array of a shape."""
    values = draw(
        st.lists(
            st.integers(low, size - 1), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))
        )
    )
    return np.array(values, np.int64).reshape(shape)


# -- subscripts: NumPy is the oracle, since PyTorch has no negative steps --------------------------


@st.composite
def subscripts(draw: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """What may stand in brackets after an array of a shape."""
    bound = st.none() | st.integers(-5, 5)
    parts: list[Any] = []
    lists = draw(st.sampled_from(((), (1,), (2, 1), (2,))))
    for size in shape[: draw(st.integers(0, len(shape)))]:
        kind = draw(st.sampled_from(("slice", "slice", "int", "list", "mask", "none")))
        if kind == "none":
            parts.append(None)
        if kind == "int" and size:
            parts.append(draw(st.integers(-size, size - 1)))
        elif kind == "list" and size:
            parts.append(draw(places(size, lists, -size)))
        elif kind == "mask" and not any(isinstance(p, np.ndarray) for p in parts):
            parts.append(np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)),
                                  bool))  # fmt: skip
        else:
            step = draw(st.sampled_from((None, 1, 2, -1, -2)))
            parts.append(slice(draw(bound), draw(bound), step))
    if draw(st.booleans()):
        parts.append(...)
    return tuple(parts)


def as_tensors(index: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(tt.tensor(part) if isinstance(part, np.ndarray) else part for part in index)


@hypothesis.settings(SETTINGS, max_examples=150)
@given(data=st.data())
def test_subscripts_read_what_numpy_reads(data: Any) -> None:
    array = data.draw(arrays("fi"))
    index = data.draw(subscripts(array.shape))
    try:
        wanted = array[index]
    except IndexError:
        with pytest.raises((IndexError, RuntimeError)):
            tt.from_numpy(array)[as_tensors(index)]
        return
    x = tt.from_numpy(array)
    if array.dtype.kind == "f":
        x.requires_grad_()
    got = x[as_tensors(index)]
    assert got.shape == wanted.shape
    np.testing.assert_array_equal(host(got), wanted)
    if x.requires_grad:
        got.sum().backward()
        counts = np.zeros(array.shape)
        np.add.at(counts, index, 1)
        np.testing.assert_array_equal(host(x.grad), counts)


@hypothesis.settings(SETTINGS, max_examples=150)
@given(data=st.data())
def test_subscripts_write_where_numpy_writes(data: Any) -> None:
    array = np.array(data.draw(arrays("fi")))
    index = data.draw(subscripts(array.shape))
    try:
        part = array[index]
    except IndexError:
        assume(False)
    shape = tuple(n if data.draw(st.booleans()) else 1 for n in part.shape)
    value = np.full(shape, data.draw(st.integers(-9, 9)), array.dtype)
    x = tt.tensor(array)
    array[index] = value
    x[as_tensors(index)] = tt.tensor(value)
    np.testing.assert_array_equal(host(x), array)


# -- selecting and scattering along a dimension ----------------------------------------------------
# The call takes the array, sources of the index's shape, the index and the dimension.


def put_along(a: Any, s: Any, i: Any, d: int) -> Any:
    out = np.array(a)
    np.put_along_axis(out, i, s, d)
    return out


ALONG: dict[str, tuple[str, Any, Any]] = {
    "gather": ("fi", lambda lib, x, s, i, d: lib.gather(x, d, i),
               lambda a, s, i, d: np.take_along_axis(a, i, d)),
    "take_along_dim": ("f", lambda lib, x, s, i, d: lib.take_along_dim(x, i, d),
                       lambda a, s, i, d: np.take_along_axis(a, i, d)),
    "scatter number": ("fi", lambda lib, x, s, i, d: lib.scatter(x, d, i, 2),
                       lambda a, s, i, d: put_along(a, 2, i, d)),
    "scatter_add": ("fi", lambda lib, x, s, i, d: lib.scatter_add(x, d, i, s), None),
    **{f"scatter_reduce {how}": ("f", lambda lib, x, s, i, d, how=how: lib.scatter_reduce(
        x, d, i, s, how, include_self=how != "prod"), None)
       for how in ("sum", "prod", "mean", "amax", "amin")},
}  # fmt: skip


@pytest.mark.parametrize("name", ALONG)
@SETTINGS
@given(data=st.data())
def test_along_an_index(name: str, data: Any) -> None:
    kinds, call, by_numpy = ALONG[name]
    array = data.draw(arrays(kinds.replace("f", "d"), least=1, smallest=1))
    dim = data.draw(dims(array.ndim))
    shape = list(array.shape)
    shape[dim] = data.draw(st.integers(0, 4))
    index = data.draw(places(array.shape[dim], tuple(shape)))
    source = data.draw(laid_out(tuple(shape), "d")).astype(array.dtype)
    compare(call, by_numpy, [array, source, index], dim)


# The call takes the array, sources as long as the index along the dimension, the index, the
# dimension.
SLICES: dict[str, tuple[Any, Any]] = {
    "index_select": (lambda lib, x, s, i, d: lib.index_select(x, d, i),
                     lambda a, s, i, d: np.take(a, i, d)),
    "index_add": (lambda lib, x, s, i, d: lib.index_add(x, d, i, s, alpha=2), None),
    "index_copy": (lambda lib, x, s, i, d: lib.index_copy(x, d, i, s), None),
    "index_fill": (lambda lib, x, s, i, d: lib.index_fill(x, d, i, 3), None),
    **{f"index_reduce {how}": (lambda lib, x, s, i, d, how=how: lib.index_reduce(x, d, i, s, how),
                               None)
       for how in ("prod", "mean", "amax")},
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:index_reduce.. is in beta")
@pytest.mark.parametrize("name", SLICES)
@SETTINGS
@given(data=st.data())
def test_whole_slices(name: str, data: Any) -> None:
    call, by_numpy = SLICES[name]
    array = data.draw(arrays("d", least=1, smallest=1))
    dim = data.draw(dims(array.ndim))
    size = array.shape[dim]
    # Which of two sources for one place stays is nobody's promise.
    chosen = data.draw(st.lists(st.integers(0, size - 1), unique=name == "index_copy", max_size=4))
    shape = list(array.shape)
    shape[dim] = len(chosen)
    source = data.draw(laid_out(tuple(shape), "d"))
    compare(call, by_numpy, [array, source, np.array(chosen, np.int64)], dim)


MASKS: dict[str, tuple[Any, Any]] = {
    "masked_select": (lambda lib, x, m: lib.masked_select(x, m), lambda a, m: a[m]),
    "masked_fill": (lambda lib, x, m: lib.masked_fill(x, m, 2), lambda a, m: np.where(m, 2, a)),
    "masked_scatter": (lambda lib, x, m: lib.masked_scatter(x, m, x * 3), None),
    "where": (lambda lib, x, m: lib.where(m, x, -1), lambda a, m: np.where(m, a, -1)),
    "subscript": (lambda lib, x, m: x[m], lambda a, m: a[m]),
    "take": (lambda lib, x, m: lib.take(x, m.long() - 1), lambda a, m: a.take(m.astype(int) - 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", MASKS)
@SETTINGS
@given(data=st.data())
def test_masks(name: str, data: Any) -> None:
    call, by_numpy = MASKS[name]
    array = data.draw(arrays("fic"))
    compare(call, by_numpy, [array, data.draw(laid_out(array.shape, "b"))])


# -- windows over images ---------------------------------------------------------------------------


def windows(a: Any, n: int, step: int, pad: int, fill: float) -> Any:
    a = np.pad(a, [(0, 0), (0, 0), (pad, pad), (pad, pad)], constant_values=fill)
    return sliding_window_view(a, (n, n), (2, 3))[:, :, ::step, ::step]


WINDOWS: dict[str, tuple[Any, Any]] = {
    "max_pool2d": (lambda lib, x, n, s, p: lib.nn.functional.max_pool2d(x, n, s, p),
                   lambda a, n, s, p: windows(a, n, s, p, -np.inf).max((-2, -1))),
    "max_pool2d ceil": (lambda lib, x, n, s, p: lib.nn.functional.max_pool2d(
        x, n, s, p, ceil_mode=True, return_indices=True), None),
    "avg_pool2d": (lambda lib, x, n, s, p: lib.nn.functional.avg_pool2d(x, n, s, p),
                   lambda a, n, s, p: windows(a, n, s, p, 0).mean((-2, -1))),
    "avg_pool2d own": (lambda lib, x, n, s, p: lib.nn.functional.avg_pool2d(
        x, n, s, p, count_include_pad=False, ceil_mode=True), None),
    "lp_pool2d": (lambda lib, x, n, s, p: lib.nn.functional.lp_pool2d(x.abs() + 1, 2, n, s),
                  lambda a, n, s, p: ((windows(abs(a) + 1, n, s, 0, 0) ** 2).sum((-2, -1))) ** 0.5),
    "adaptive_avg_pool2d": (
        lambda lib, x, n, s, p: lib.nn.functional.adaptive_avg_pool2d(x, (n, s)), None),
    "adaptive_max_pool2d": (
        lambda lib, x, n, s, p: lib.nn.functional.adaptive_max_pool2d(x, (n, s)), None),
    "unfold": (lambda lib, x, n, s, p: lib.nn.functional.unfold(x, n, 1, p, s), None),
    "pad": (lambda lib, x, n, s, p: lib.nn.functional.pad(x, (n, -p, p, s), value=3.0), None),
    **{f"pad {mode}": (lambda lib, x, n, s, p, mode=mode: lib.nn.functional.pad(
        x, (p, s - 1, n - 1, p), mode), None) for mode in ("reflect", "replicate", "circular")},
    **{f"interpolate {mode}": (lambda lib, x, n, s, p, mode=mode: lib.nn.functional.interpolate(
        x, (n + s, n), mode=mode), None) for mode in ("nearest", "bilinear", "area")},
}  # fmt: skip


@pytest.mark.parametrize("name", WINDOWS)
@SETTINGS
@given(data=st.data())
def test_windows(name: str, data: Any) -> None:
    call, by_numpy = WINDOWS[name]
    shape = (data.draw(st.integers(0, 2)), data.draw(some), data.draw(some), data.draw(some))
    image = data.draw(laid_out(shape, "d"))
    sizes = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 2)), data.draw(st.integers(0, 1))
    compare(call, by_numpy, [image], *sizes)


def correlated(a: Any, w: Any, step: int, pad: int) -> Any:
    return np.einsum("bchwij,ocij->bohw", windows(a, w.shape[-1], step, pad, 0), w)


@SETTINGS
@given(data=st.data())
def test_convolutions(data: Any) -> None:
    groups, size = data.draw(st.integers(1, 2)), data.draw(st.integers(1, 3))
    step, pad = data.draw(st.integers(1, 2)), data.draw(st.integers(0, 1))
    batch, height, width = data.draw(st.tuples(st.integers(0, 2), some, some))
    image = data.draw(laid_out((batch, 2, height, width), "f"))
    weight = data.draw(laid_out((4, 2 // groups, size, size), "f"))
    compare(
        lambda lib, x, w: lib.nn.functional.conv2d(x, w, None, step, pad, 1, groups),
        (lambda a, w: correlated(a, w, step, pad)) if groups == 1 else None, [image, weight],
    )  # fmt: skip
    row = data.draw(laid_out((2, 2, width), "f"))
    compare(lambda lib, x, w: lib.nn.functional.conv1d(x, w, None, 1, pad, 2, groups), None,
            [row, weight[..., 0]])  # fmt: skip
    back = data.draw(laid_out((2, 4 // groups, size, size), "f"))
    # Of no images PyTorch makes images without pixels, which it refuses otherwise.
    assume(batch)
    compare(
        lambda lib, x, w: lib.nn.functional.conv_transpose2d(x, w, None, step, pad, 0, groups),
        None, [image, back],
    )  # fmt: skip


# -- statistics, searches, transforms, matrices ---------------------------------------------------
STATISTICS: dict[str, tuple[str, Any, Any]] = {
    "cov": ("f", lambda lib, x: lib.cov(x), None),
    "corrcoef": ("d", lambda lib, x: lib.corrcoef(x), None),
    "histc": ("f", lambda lib, x: lib.histc(x.detach(), 4, -1, 1),
              lambda a: np.histogram(a, 4, (-1, 1))[0]),
    "bincount": ("i", lambda lib, x: lib.bincount(x.abs().flatten()),
                 lambda a: np.bincount(abs(a).ravel())),
    "bucketize": ("f", lambda lib, x: lib.bucketize(
        x.detach(), lib.tensor([-1.0, 0.0, 0.5], dtype=x.dtype)),
                  lambda a: np.searchsorted([-1, 0, 0.5], a)),
    "searchsorted": ("f", lambda lib, x: lib.searchsorted(
        lib.tensor([-1.0, 0.0, 0.5], dtype=lib.float64), x.detach(), right=True),
        lambda a: np.searchsorted([-1, 0, 0.5], a, "right")),
    "unique": ("ib", lambda lib, x: lib.unique(x, return_inverse=True, return_counts=True),
               lambda a: np.unique(a, return_inverse=True, return_counts=True)),
    "unique_consecutive": ("i", lambda lib, x: lib.unique_consecutive(x), None),
    "isin": ("i", lambda lib, x: lib.isin(x, lib.tensor([1, -2])), lambda a: np.isin(a, [1, -2])),
    "median": ("d", lambda lib, x: (lib.median(x), lib.nanmedian(x)), None),
    "quantile": ("d", lambda lib, x: lib.quantile(x, 0.4), lambda a: np.quantile(a, 0.4)),
    "norm": ("fc", lambda lib, x: lib.norm(x), np.linalg.norm),
    "fft2": ("fc", lambda lib, x: lib.fft.fft2(x, (2, 3)), lambda a: np.fft.fft2(a, (2, 3))),
    "rfft": ("f", lambda lib, x: lib.fft.rfft(x, 5, -1, "ortho"),
             lambda a: np.fft.rfft(a, 5, -1, "ortho")),
    "hfft": ("c", lambda lib, x: lib.fft.hfft(x, 5), lambda a: np.fft.hfft(a, 5)),
    "irfft2": ("c", lambda lib, x: lib.fft.irfft2(x), None),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("name", STATISTICS)
@SETTINGS
@given(data=st.data())
def test_statistics_and_transforms(name: str, data: Any) -> None:
    kinds, call, by_numpy = STATISTICS[name]
    smallest = 1 if "fft" in name else 0  # PyTorch's library refuses empty arrays
    compare(call, by_numpy, [data.draw(arrays(kinds, smallest=smallest))])


def hermitian(a: Any) -> Any:
    return a @ np.conj(np.swapaxes(a, -1, -2)) + 3 * np.eye(a.shape[-1])


MATRICES: dict[str, tuple[Any, Any]] = {
    "inv": (lambda lib, a: lib.linalg.inv(a), np.linalg.inv),
    "det": (lambda lib, a: lib.linalg.det(a), np.linalg.det),
    "slogdet": (lambda lib, a: tuple(lib.linalg.slogdet(a)), np.linalg.slogdet),
    # PyTorch gives the diagonal, which is real, imaginary parts of gradients.
    "cholesky": (lambda lib, a: lib.linalg.cholesky((a + a.mH) / 2), np.linalg.cholesky),
    "cholesky upper": (lambda lib, a: lib.linalg.cholesky((a + a.mH) / 2, upper=True), None),
    "cholesky product": (lambda lib, a: lib.linalg.cholesky(a) @ lib.linalg.cholesky(a).mH,
                         lambda a: a),
    "eigvalsh": (lambda lib, a: lib.linalg.eigvalsh(a), np.linalg.eigvalsh),
    "pinv": (lambda lib, a: lib.linalg.pinv(a), np.linalg.pinv),
    "trace": (lambda lib, a: lib.trace(a.flatten(0, -2)),
              lambda a: np.trace(a.reshape(-1, a.shape[-1]))),
    "power": (lambda lib, a: lib.linalg.matrix_power(a, 3),
              lambda a: np.linalg.matrix_power(a, 3)),
    "power below 0": (lambda lib, a: lib.linalg.matrix_power(a, -2),
                      lambda a: np.linalg.matrix_power(a, -2)),
    "norm": (lambda lib, a: lib.linalg.matrix_norm(a), None),
    "nuclear": (lambda lib, a: lib.linalg.matrix_norm(a, "nuc"), None),
    "rank": (lambda lib, a: lib.linalg.matrix_rank(a), np.linalg.matrix_rank),
    "exp": (lambda lib, a: lib.linalg.matrix_exp(a / 9), None),
    "solve": (lambda lib, a: lib.linalg.solve(a, a.mT[..., :1]),
              lambda a: np.linalg.solve(a, a.swapaxes(-1, -2)[..., :1])),
    "triangular": (lambda lib, a: lib.linalg.solve_triangular(a, a[..., :2], upper=False), None),
    "lu_factor": (lambda lib, a: lib.linalg.lu_factor(a)[0], None),
    "lstsq": (lambda lib, a: lib.linalg.lstsq(a[..., :2], a[..., 2:]).solution, None),
    "diagonal": (lambda lib, a: lib.linalg.diagonal(a), lambda a: np.diagonal(a, 0, -2, -1)),
    "cross": (lambda lib, a: lib.linalg.cross(a[..., :1], a[..., :3], dim=-2), None),
    "multi_dot": (lambda lib, a: lib.linalg.multi_dot([a, a, a]),
                  lambda a: np.linalg.multi_dot([a, a, a])),
    "kron": (lambda lib, a: lib.kron(a, a), lambda a: np.kron(a, a)),
    "outer": (lambda lib, a: lib.outer(a[..., 0].ravel(), a[0].ravel()), None),
    "tensordot": (lambda lib, a: lib.tensordot(a, a, 1), lambda a: np.tensordot(a, a, 1)),
    "inner": (lambda lib, a: lib.inner(a, a), lambda a: np.inner(a, a)),
    "addmm": (lambda lib, a: lib.addmm(a[0], a, a, beta=0.5), None),
    "baddbmm": (lambda lib, a: lib.baddbmm(a[0], a, a, alpha=0.5), None),
    "cdist": (lambda lib, a: lib.cdist(a, a * 2), None),
}  # fmt: skip


@pytest.mark.parametrize("name", MATRICES)
@SETTINGS
@given(data=st.data())
def test_matrices(name: str, data: Any) -> None:
    call, by_numpy = MATRICES[name]
    size = data.draw(st.integers(0, 4))
    batch = data.draw(st.sampled_from(((), (0,), (1,), (2,), (2, 1))))
    a = hermitian(data.draw(laid_out((*batch, size, size), "df" if name == "cdist" else "dc")))
    if data.draw(st.booleans()):
        a = np.asfortranarray(a)
    compare(call, by_numpy, [a])
