"""Gathering, scattering, windows, statistics and matrices on shapes drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.ops.strategies import SETTINGS, arrays, compare_samples, dims, laid_out, places

#: Arrays that are stretched are among those that are shared.
pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:The given NumPy array is not writable:UserWarning"),
]

some = st.integers(1, 4)


# -- selecting and scattering along a dimension ----------------------------------------------------
# The call takes the array, sources of the index's shape, the index and the dimension.


ALONG: dict[str, tuple[str, Any]] = {
    "gather": ("fi", lambda lib, x, s, i, d: lib.gather(x, d, i)),
    "take_along_dim": ("f", lambda lib, x, s, i, d: lib.take_along_dim(x, i, d)),
    "scatter number": ("fi", lambda lib, x, s, i, d: lib.scatter(x, d, i, 2)),
    "scatter_add": ("fi", lambda lib, x, s, i, d: lib.scatter_add(x, d, i, s)),
    **{f"scatter_reduce {how}": ("f", lambda lib, x, s, i, d, how=how: lib.scatter_reduce(
        x, d, i, s, how, include_self=how != "prod"))
       for how in ("sum", "prod", "mean", "amax", "amin")},
}  # fmt: skip


@pytest.mark.parametrize("name", ALONG)
@SETTINGS
@given(data=st.data())
def test_indexing_functions_along_a_dimension_are_pytorchs(name: str, data: Any) -> None:
    kinds, call = ALONG[name]
    array = data.draw(arrays(kinds.replace("f", "d"), least=1, smallest=1))
    dim = data.draw(dims(array.ndim))
    shape = list(array.shape)
    shape[dim] = data.draw(st.integers(0, 4))
    index = data.draw(places(array.shape[dim], tuple(shape)))
    source = data.draw(laid_out(tuple(shape), "d")).astype(array.dtype)
    compare_samples(call, [array, source, index], dim)


# The call takes the array, sources as long as the index along the dimension, the index, the
# dimension.
SLICES: dict[str, Any] = {
    "index_select": lambda lib, x, s, i, d: lib.index_select(x, d, i),
    "index_add": lambda lib, x, s, i, d: lib.index_add(x, d, i, s, alpha=2),
    "index_copy": lambda lib, x, s, i, d: lib.index_copy(x, d, i, s),
    "index_fill": lambda lib, x, s, i, d: lib.index_fill(x, d, i, 3),
    **{f"index_reduce {how}": lambda lib, x, s, i, d, how=how: lib.index_reduce(x, d, i, s, how)
       for how in ("prod", "mean", "amax")},
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:index_reduce.. is in beta")
@pytest.mark.parametrize("name", SLICES)
@SETTINGS
@given(data=st.data())
def test_functions_of_whole_slices_are_pytorchs(name: str, data: Any) -> None:
    call = SLICES[name]
    array = data.draw(arrays("d", least=1, smallest=1))
    dim = data.draw(dims(array.ndim))
    size = array.shape[dim]
    # Which of two sources for one place stays is nobody's promise.
    chosen = data.draw(st.lists(st.integers(0, size - 1), unique=name == "index_copy", max_size=4))
    shape = list(array.shape)
    shape[dim] = len(chosen)
    source = data.draw(laid_out(tuple(shape), "d"))
    compare_samples(call, [array, source, np.array(chosen, np.int64)], dim)


MASKS: dict[str, Any] = {
    "masked_select": lambda lib, x, m: lib.masked_select(x, m),
    "masked_fill": lambda lib, x, m: lib.masked_fill(x, m, 2),
    "masked_scatter": lambda lib, x, m: lib.masked_scatter(x, m, x * 3),
    "where": lambda lib, x, m: lib.where(m, x, -1),
    "subscript": lambda lib, x, m: x[m],
    "take": lambda lib, x, m: lib.take(x, m.long() - 1),
}  # fmt: skip


@pytest.mark.parametrize("name", MASKS)
@SETTINGS
@given(data=st.data())
def test_functions_with_masks_are_pytorchs(name: str, data: Any) -> None:
    call = MASKS[name]
    array = data.draw(arrays("fic"))
    compare_samples(call, [array, data.draw(laid_out(array.shape, "b"))])


# -- windows over images ---------------------------------------------------------------------------


WINDOWS: dict[str, Any] = {
    "max_pool2d": lambda lib, x, n, s, p: lib.nn.functional.max_pool2d(x, n, s, p),
    "max_pool2d ceil": lambda lib, x, n, s, p: lib.nn.functional.max_pool2d(
        x, n, s, p, ceil_mode=True, return_indices=True),
    "avg_pool2d": lambda lib, x, n, s, p: lib.nn.functional.avg_pool2d(x, n, s, p),
    "avg_pool2d own": lambda lib, x, n, s, p: lib.nn.functional.avg_pool2d(
        x, n, s, p, count_include_pad=False, ceil_mode=True),
    "lp_pool2d": lambda lib, x, n, s, p: lib.nn.functional.lp_pool2d(x.abs() + 1, 2, n, s),
    "adaptive_avg_pool2d": lambda lib, x, n, s, p: lib.nn.functional.adaptive_avg_pool2d(x, (n, s)),
    "adaptive_max_pool2d": lambda lib, x, n, s, p: lib.nn.functional.adaptive_max_pool2d(x, (n, s)),
    "unfold": lambda lib, x, n, s, p: lib.nn.functional.unfold(x, n, 1, p, s),
    "pad": lambda lib, x, n, s, p: lib.nn.functional.pad(x, (n, -p, p, s), value=3.0),
    **{f"pad {mode}": lambda lib, x, n, s, p, mode=mode: lib.nn.functional.pad(
        x, (p, s - 1, n - 1, p), mode) for mode in ("reflect", "replicate", "circular")},
    **{f"interpolate {mode}": lambda lib, x, n, s, p, mode=mode: lib.nn.functional.interpolate(
        x, (n + s, n), mode=mode) for mode in ("nearest", "bilinear", "area")},
}  # fmt: skip


@pytest.mark.parametrize("name", WINDOWS)
@SETTINGS
@given(data=st.data())
def test_functions_of_windows_are_pytorchs(name: str, data: Any) -> None:
    call = WINDOWS[name]
    shape = (data.draw(st.integers(0, 2)), data.draw(some), data.draw(some), data.draw(some))
    image = data.draw(laid_out(shape, "d"))
    sizes = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 2)), data.draw(st.integers(0, 1))
    compare_samples(call, [image], *sizes)


@SETTINGS
@given(data=st.data())
def test_convolutions_of_random_sizes_are_pytorchs(data: Any) -> None:
    groups, size = data.draw(st.integers(1, 2)), data.draw(st.integers(1, 3))
    step, pad = data.draw(st.integers(1, 2)), data.draw(st.integers(0, 1))
    batch, height, width = data.draw(st.tuples(st.integers(0, 2), some, some))
    image = data.draw(laid_out((batch, 2, height, width), "f"))
    weight = data.draw(laid_out((4, 2 // groups, size, size), "f"))
    compare_samples(
        lambda lib, x, w: lib.nn.functional.conv2d(x, w, None, step, pad, 1, groups),
        [image, weight],
    )
    row = data.draw(laid_out((2, 2, width), "f"))
    compare_samples(lambda lib, x, w: lib.nn.functional.conv1d(x, w, None, 1, pad, 2, groups),
            [row, weight[..., 0]])  # fmt: skip
    back = data.draw(laid_out((2, 4 // groups, size, size), "f"))
    # Of no images PyTorch makes images without pixels, which it refuses otherwise.
    assume(batch)
    # Of size 0 they are refused by one of PyTorch's kernels and empty by another.
    assume((min(height, width) - 1) * step - 2 * pad + size > 0)
    compare_samples(
        lambda lib, x, w: lib.nn.functional.conv_transpose2d(x, w, None, step, pad, 0, groups),
        [image, back],
    )


# -- statistics, searches, transforms, matrices ---------------------------------------------------
STATISTICS: dict[str, tuple[str, Any]] = {
    "cov": ("f", lambda lib, x: lib.cov(x)),
    "corrcoef": ("d", lambda lib, x: lib.corrcoef(x)),
    "histc": ("f", lambda lib, x: lib.histc(x.detach(), 4, -1, 1)),
    "bincount": ("i", lambda lib, x: lib.bincount(x.abs().flatten())),
    "bucketize": ("f", lambda lib, x: lib.bucketize(
        x.detach(), lib.tensor([-1.0, 0.0, 0.5], dtype=x.dtype))),
    "searchsorted": ("f", lambda lib, x: lib.searchsorted(
        lib.tensor([-1.0, 0.0, 0.5], dtype=lib.float64), x.detach(), right=True)),
    "unique": ("ib", lambda lib, x: lib.unique(x, return_inverse=True, return_counts=True)),
    "unique_consecutive": ("i", lambda lib, x: lib.unique_consecutive(x)),
    "isin": ("i", lambda lib, x: lib.isin(x, lib.tensor([1, -2]))),
    "median": ("d", lambda lib, x: (lib.median(x), lib.nanmedian(x))),
    "quantile": ("d", lambda lib, x: lib.quantile(x, 0.4)),
    "norm": ("fc", lambda lib, x: lib.norm(x)),
    "fft2": ("fc", lambda lib, x: lib.fft.fft2(x, (2, 3))),
    "rfft": ("f", lambda lib, x: lib.fft.rfft(x, 5, -1, "ortho")),
    "hfft": ("c", lambda lib, x: lib.fft.hfft(x, 5)),
    "irfft2": ("c", lambda lib, x: lib.fft.irfft2(x)),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("name", STATISTICS)
@SETTINGS
@given(data=st.data())
def test_statistics_and_transforms_are_pytorchs(name: str, data: Any) -> None:
    kinds, call = STATISTICS[name]
    smallest = 1 if "fft" in name else 0  # PyTorch's library refuses empty arrays
    compare_samples(call, [data.draw(arrays(kinds, smallest=smallest))])


def hermitian(a: Any) -> Any:
    return a @ np.conj(np.swapaxes(a, -1, -2)) + 3 * np.eye(a.shape[-1])


MATRICES: dict[str, Any] = {
    "inv": lambda lib, a: lib.linalg.inv(a),
    "det": lambda lib, a: lib.linalg.det(a),
    "slogdet": lambda lib, a: tuple(lib.linalg.slogdet(a)),
    # PyTorch gives the diagonal, which is real, imaginary parts of gradients.
    "cholesky": lambda lib, a: lib.linalg.cholesky((a + a.mH) / 2),
    "cholesky upper": lambda lib, a: lib.linalg.cholesky((a + a.mH) / 2, upper=True),
    "cholesky product": lambda lib, a: lib.linalg.cholesky(a) @ lib.linalg.cholesky(a).mH,
    "eigvalsh": lambda lib, a: lib.linalg.eigvalsh(a),
    "pinv": lambda lib, a: lib.linalg.pinv(a),
    "trace": lambda lib, a: lib.trace(a.flatten(0, -2)),
    "power": lambda lib, a: lib.linalg.matrix_power(a, 3),
    "power below 0": lambda lib, a: lib.linalg.matrix_power(a, -2),
    "norm": lambda lib, a: lib.linalg.matrix_norm(a),
    "nuclear": lambda lib, a: lib.linalg.matrix_norm(a, "nuc"),
    "rank": lambda lib, a: lib.linalg.matrix_rank(a),
    "exp": lambda lib, a: lib.linalg.matrix_exp(a / 9),
    "solve": lambda lib, a: lib.linalg.solve(a, a.mT[..., :1]),
    "triangular": lambda lib, a: lib.linalg.solve_triangular(a, a[..., :2], upper=False),
    "lu_factor": lambda lib, a: lib.linalg.lu_factor(a)[0],
    "lstsq": lambda lib, a: lib.linalg.lstsq(a[..., :2], a[..., 2:]).solution,
    "diagonal": lambda lib, a: lib.linalg.diagonal(a),
    "cross": lambda lib, a: lib.linalg.cross(a[..., :1], a[..., :3], dim=-2),
    "multi_dot": lambda lib, a: lib.linalg.multi_dot([a, a, a]),
    "kron": lambda lib, a: lib.kron(a, a),
    "outer": lambda lib, a: lib.outer(a[..., 0].ravel(), a[0].ravel()),
    "tensordot": lambda lib, a: lib.tensordot(a, a, 1),
    "inner": lambda lib, a: lib.inner(a, a),
    "addmm": lambda lib, a: lib.addmm(a[0], a, a, beta=0.5),
    "baddbmm": lambda lib, a: lib.baddbmm(a[0], a, a, alpha=0.5),
    "cdist": lambda lib, a: lib.cdist(a, a * 2),
}  # fmt: skip


@pytest.mark.parametrize("name", MATRICES)
@SETTINGS
@given(data=st.data())
def test_functions_of_matrices_are_pytorchs(name: str, data: Any) -> None:
    call = MATRICES[name]
    size = data.draw(st.integers(0, 4))
    batch = data.draw(st.sampled_from(((), (0,), (1,), (2,), (2, 1))))
    a = hermitian(data.draw(laid_out((*batch, size, size), "df" if name == "cdist" else "dc")))
    if data.draw(st.booleans()):
        a = np.asfortranarray(a)
    compare_samples(call, [a])
