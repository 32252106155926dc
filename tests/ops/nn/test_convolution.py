"""Convolutions: PyTorch's values, derivatives of both orders, edges, errors, memory, threads."""

from __future__ import annotations

import itertools
import tracemalloc
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import assert_raises, compare_functional, has_second_derivatives, host
from tinytorch.autograd import gradcheck
from tinytorch.ops.nn import conv_kernels

F: Any = tt.nn.functional
randn = np.random.randn

CONVOLUTIONS = [
    ((2, 3, 9), (4, 3, 3), {}),
    ((2, 3, 9), (4, 3, 4), {"padding": "same", "dilation": 2}),
    ((3, 9), (4, 3, 3), {"stride": 2}),
    ((2, 3, 8, 7), (4, 3, 3, 3), {"padding": 1}),
    ((2, 4, 8, 9), (6, 2, 3, 2), {"padding": (2, 1), "stride": 2, "groups": 2, "dilation": (1, 2)}),
    ((2, 4, 6, 6), (8, 1, 3, 3), {"groups": 4, "padding": "valid"}),
    ((2, 3, 5, 5), (7, 3, 1, 1), {}),
    ((2, 3, 5, 5), (7, 3, 1, 1), {"stride": 2}),
    ((3, 4, 9, 8), (6, 2, 1, 1), {"groups": 2}),
    ((3, 6, 6), (2, 3, 3, 3), {"padding": 3}),
    ((2, 2, 5, 5), (9, 2, 3, 3), {"padding": 4}),
    ((0, 3, 5, 5), (2, 3, 3, 3), {}),
    ((0, 3, 20, 20), (2, 3, 3, 3), {}),
    ((2, 3, 40), (4, 3, 5), {"padding": 3, "dilation": 2}),
    ((3, 4, 20, 25), (6, 2, 3, 2), {"padding": (2, 1), "groups": 2, "dilation": (2, 1)}),
    ((2, 2, 4, 5, 20), (3, 2, 2, 3, 3), {"padding": 1}),
    ((2, 3, 5, 6, 7), (4, 3, 2, 3, 2), {"padding": (1, 0, 1), "stride": (1, 2, 1)}),
    ((2, 2, 6, 6), (1, 2, 3, 3), {"dilation": 2}),
    ((2, 2, 3, 40), (2, 1, 2, 3), {"groups": 2}),
    ((2, 1, 20, 24), (1, 1, 9, 9), {"padding": 4}),
    ((2, 1, 40, 39), (1, 1, 9, 8), {"stride": (1, 2), "dilation": (2, 1)}),
    ((3, 1, 300), (1, 1, 70), {}),
]


@pytest.fixture
def many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the parameter True, small batches are computed as large ones are."""
    if request.param:
        for name in ("_few_columns", "_transposed_columns"):
            monkeypatch.setattr(conv_kernels, name, lambda *args: None)


@pytest.mark.torch
@pytest.mark.parametrize(("shape", "weight", "options"), CONVOLUTIONS)
@pytest.mark.parametrize(
    ("bias", "many"), [(True, False), (False, True), (True, True)], indirect=["many"]
)
def test_convolutions_are_pytorchs(
    shape: Any, weight: Any, options: Any, bias: bool, many: None
) -> None:
    spatial = len(weight) - 2
    added = randn(weight[0]) if bias else None
    compare_functional(f"conv{spatial}d", randn(*shape), randn(*weight), added, **options)


@pytest.mark.torch
@pytest.mark.parametrize(
    ("shape", "weight", "options"),
    [
        ((2, 3, 9), (3, 4, 3), {}),
        ((2, 4, 5, 6), (4, 3, 3, 2), {"stride": 2, "groups": 2, "output_padding": (1, 0)}),
        ((4, 5, 6), (4, 3, 3, 3), {"stride": (1, 2), "padding": 1, "dilation": 2}),
        ((2, 3, 3, 4, 3), (3, 2, 2, 2, 3), {"stride": 2, "padding": 1}),
        ((2, 3, 5, 5), (3, 2, 2, 2), {"stride": 3, "output_padding": 2}),
        ((2, 3, 5, 5), (3, 2, 2, 2), {"stride": 1, "padding": 2}),
        ((2, 3, 2, 2), (3, 2, 1, 2), {"stride": (3, 4), "padding": (0, 1), "output_padding": 1}),
    ],
)
@pytest.mark.parametrize("many", [False, True], indirect=True)
def test_transposed_convolutions_are_pytorchs(
    shape: Any, weight: Any, options: Any, many: None
) -> None:
    spatial = len(weight) - 2
    outputs = weight[1] * options.get("groups", 1)
    name = f"conv_transpose{spatial}d"
    compare_functional(name, randn(*shape), randn(*weight), randn(outputs), **options)


def test_conv_tbc_and_the_general_convolution_are_pytorchs(torch: Any) -> None:
    compare_functional("conv_tbc", randn(5, 2, 3), randn(2, 3, 4), randn(4), 1)
    x, w = randn(2, 3, 5, 5), randn(2, 3, 3, 3)
    how = (None, (1, 1), (1, 1), (1, 1), False, (0, 0), 1)
    wanted = torch.convolution(torch.tensor(x), torch.tensor(w), *how)
    np.testing.assert_allclose(host(tt.convolution(tt.tensor(x), tt.tensor(w), *how)), wanted)


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float32", "float16", "complex128", "int64", "int32"])
def test_convolutions_of_each_dtype_are_pytorchs(dtype: str) -> None:
    x = (3 * randn(2, 3, 6, 6)).astype(dtype)
    w = (3 * randn(2, 3, 3, 3)).astype(dtype)
    if dtype == "complex128":
        x, w = x + 1j * randn(*x.shape), w + 1j * randn(*w.shape)
    compare_functional("conv2d", x, w, grad=dtype != "float16")


def test_conv2d_equals_the_sum_over_windows() -> None:
    x, w, b = randn(1, 2, 5, 6), randn(3, 2, 2, 3), randn(3)
    out = np.zeros((3, 2, 2))
    padded = np.pad(x[0], ((0, 0), (0, 0), (1, 1)))
    for o, y, z in itertools.product(range(3), range(2), range(2)):
        window = padded[:, 2 * y : 2 * y + 3 : 2, 2 * z : 2 * z + 5 : 2]
        out[o, y, z] = (window * w[o]).sum() + b[o]
    got = F.conv2d(tt.tensor(x), tt.tensor(w), tt.tensor(b), stride=2, padding=(0, 1), dilation=2)
    np.testing.assert_allclose(host(got)[0], out)


def leaf(*shape: int) -> Any:
    return tt.tensor(randn(*shape), requires_grad=True)


@pytest.mark.parametrize(
    "options",
    [{}, {"padding": 1}, {"stride": 2, "dilation": 2, "padding": 2}, {"groups": 2}],
)
def test_convolutions_have_first_and_second_derivatives(options: Any) -> None:
    groups = options.get("groups", 1)
    given = (leaf(1, 2, 5, 4), leaf(2, 2 // groups, 2, 2), leaf(2))
    assert gradcheck(lambda *a: F.conv2d(*a, **options), given)
    assert has_second_derivatives(lambda *a: F.conv2d(*a, **options), given)
    assert has_second_derivatives(lambda *a: F.conv_transpose2d(*a, **options), given)


def test_complex_convolutions_have_derivatives() -> None:
    x = tt.tensor(randn(1, 1, 3, 3) + 1j * randn(1, 1, 3, 3), requires_grad=True)
    w = tt.tensor(randn(1, 1, 2, 2) + 1j * randn(1, 1, 2, 2), requires_grad=True)
    assert gradcheck(F.conv2d, (x, w))


def test_an_image_that_is_no_run_of_memory() -> None:
    x, w = tt.tensor(randn(2, 6, 14, 3)), tt.tensor(randn(4, 3, 2, 2))
    view = x.permute(0, 3, 2, 1)[:, :, ::2]
    wanted = F.conv2d(view.contiguous(), w)
    np.testing.assert_allclose(host(F.conv2d(view, w)), host(wanted))


@pytest.mark.parametrize("memory", [1, 20_000, 200_000])
@pytest.mark.parametrize("padding", [0, 2])
def test_convolutions_computed_in_pieces_have_the_same_result_and_gradients(
    memory: int, padding: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result, and both gradients: that by the input by its products with the input itself."""
    x, w, bias = randn(5, 4, 19, 23), randn(6, 2, 3, 3), randn(6)
    monkeypatch.setattr(type(tt.tensor(x)._xp), "column_bytes", memory)
    inputs = [tt.tensor(a, requires_grad=True) for a in (x, w, bias)]
    found = F.conv2d(*inputs, padding=padding, groups=2)
    padded = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    windows, groups = windows.reshape(5, 2, 2, *windows.shape[2:]), w.reshape(2, 3, 2, 3, 3)
    product = np.einsum("ngcyxij,gocij->ngoyx", windows, groups).reshape(found.shape)
    np.testing.assert_allclose(host(found), product + bias[:, None, None], 1e-12, 1e-12)
    g = randn(*found.shape)
    found.backward(tt.tensor(g))
    by_x, by_w, by_bias = (host(each.grad) for each in inputs)
    halves = g.reshape(5, 2, 3, *g.shape[2:])
    wanted = np.einsum("ngcyxij,ngoyx->gocij", windows, halves).reshape(w.shape)
    np.testing.assert_allclose(by_w, wanted, 1e-12, 1e-12)
    np.testing.assert_allclose(by_bias, g.sum((0, 2, 3)), 1e-12, 1e-12)
    each = np.einsum("noyx,noyx->n", product, g)
    np.testing.assert_allclose(np.einsum("ncyx,ncyx->n", by_x, x), each, 1e-12, 1e-12)


@pytest.mark.parametrize(("stride", "padding", "dilation"), [(2, 0, 1), (2, 2, 1), (3, 1, 2)])
@pytest.mark.parametrize("memory", [1, 3000])
def test_transposed_convolutions_of_images_in_pieces(
    stride: int, padding: int, dilation: int, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of an image whose columns would take more memory are computed in several parts."""
    from tinytorch.ops.nn import conv_kernels

    x, w = randn(3, 4, 9, 7), randn(4, 2, 3, 4)
    monkeypatch.setattr(type(tt.tensor(x)._xp), "column_bytes", 1)
    monkeypatch.setattr(conv_kernels, "_MOST_BYTES", memory)
    options = {"stride": stride, "padding": padding, "dilation": dilation}
    found = host(F.conv_transpose2d(tt.tensor(x), tt.tensor(w), **options))
    height, width = (8 * stride + 2 * dilation + 1), (6 * stride + 3 * dilation + 1)
    wanted = np.zeros((3, 2, height, width))
    for i, j in np.ndindex(3, 4):
        rows = slice(i * dilation, i * dilation + 8 * stride + 1, stride)
        columns = slice(j * dilation, j * dilation + 6 * stride + 1, stride)
        wanted[:, :, rows, columns] += np.einsum("nohw,oc->nchw", x, w[:, :, i, j])
    inside = slice(padding, height - padding), slice(padding, width - padding)
    np.testing.assert_allclose(found, wanted[(..., *inside)], 1e-12, 1e-12)


def test_a_transposed_convolution_of_a_large_image_has_small_columns() -> None:
    """All columns of this image would take 128 MB."""
    if tt.get_backend() != "numpy":
        pytest.skip("tracemalloc sees NumPy's memory alone")
    x, w = tt.zeros(1, 1, 256, 256), tt.zeros(1, 8, 8, 8)
    tracemalloc.start()
    try:
        out = F.conv_transpose2d(x, w, stride=2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * out.nbytes + (64 << 20)


def test_nan_stays_in_its_windows() -> None:
    for size in (5, 20):
        x = tt.zeros(1, 1, size, size)
        x[0, 0, 0, 0] = float("nan")
        out = host(F.conv2d(x, tt.ones(1, 1, 3, 3)))
        assert np.isnan(out[0, 0, 0, 0]) and np.isnan(out).sum() == 1


WRONG = [
    ((2, 3, 8, 8), (4, 2, 3, 3), {}, "to have 2 channels, but got 3 channels instead"),
    ((2, 2), (4, 3, 3, 3), {}, r"Expected 3D \(unbatched\) or 4D \(batched\) input to conv2d"),
    ((2, 3, 8, 8), (4, 3), {}, "weight should have at least three dimensions"),
    ((2, 3, 2, 2), (4, 3, 3, 3), {}, "Kernel size can't be greater than actual input size"),
    ((2, 3, 8, 8), (4, 3, 3, 3), {"bias": np.ones(5)}, "expected bias to be 1-dimensional with 4"),
    ((2, 4, 8, 8), (4, 2, 3, 3), {"groups": 3}, "expected weight to be divisible by 3"),
    ((2, 4, 8, 8), (2, 2, 3, 3), {"groups": 3}, "expected weight to be at least 3"),
    ((2, 4, 8, 8), (4, 4, 3, 3), {"groups": 0}, "non-positive groups is not supported"),
    ((2, 4, 8, 8), (4, 4, 3, 3), {"stride": 0}, "non-positive stride is not supported"),
    ((2, 4, 8, 8), (4, 4, 3, 3), {"padding": -1}, "negative padding is not supported"),
    ((2, 4, 8, 8), (4, 4, 3, 3), {"dilation": 0}, "dilation should be greater than zero"),
    ((2, 4, 8, 8), (4, 4, 3, 3), {"stride": (1, 2, 3)}, "a list of 2 values"),
    ((2, 4, 8, 8), (4, 4, 3, 3), {"padding": "some"}, "Invalid padding string"),
    ((2, 4, 8, 8), (4, 4, 3, 3), {"padding": "same", "stride": 2}, "strided convolutions"),
    ((2, 4, 0, 8), (4, 4, 3, 3), {"padding": 2}, "Only zero batch or zero channel inputs"),
]


@pytest.mark.parametrize(("shape", "weight", "options", "text"), WRONG)
def test_convolutions_refuse_wrong_shapes(shape: Any, weight: Any, options: Any, text: str) -> None:
    assert_raises("conv2d", RuntimeError, text, randn(*shape), randn(*weight), **options)


def test_convolutions_refuse_wrong_dtypes_and_types() -> None:
    x, w = randn(1, 1, 3, 3), randn(1, 1, 2, 2)
    assert_raises("conv2d", RuntimeError, "should be the same", x, w.astype("float32"))
    assert_raises("conv2d", RuntimeError, "bias type", x, w, randn(1).astype("float32"))
    assert_raises("conv2d", TypeError, "argument 'weight'", x, None)
    assert_raises("conv2d", TypeError, "'stride' must be tuple of ints", x, w, stride=1.5)
    assert_raises("conv2d", NotImplementedError, "not implemented for 'Bool'", x > 0, w > 0)


def test_transposed_convolutions_refuse_wrong_output_padding() -> None:
    x, w = randn(1, 1, 3, 3), randn(1, 1, 2, 2)
    text = "output padding must be smaller than either stride or dilation"
    assert_raises("conv_transpose2d", RuntimeError, text, x, w, output_padding=1)
    assert_raises(
        "conv_transpose2d", RuntimeError, "negative output_padding", x, w, output_padding=-1
    )
    assert_raises("conv_transpose2d", RuntimeError, "Output size is too small", x, w, padding=3)


@pytest.mark.parametrize(("channels", "images"), [(16, 32), (64, 64)])
def test_columns_take_no_more_memory_than_they_may(channels: int, images: int) -> None:
    """Those of the whole batch would be 1.5 and 12 times as large; each thread has its own."""
    if tt.get_backend() != "numpy":
        pytest.skip("tracemalloc sees NumPy's memory alone")
    x, w = tt.zeros(images, channels, 32, 32), tt.zeros(channels, channels, 3, 3)
    limit, threads = x._xp.column_bytes, tt.get_num_threads()
    assert x.numel() * 9 * 4 >= 1.5 * limit
    tt.set_num_threads(1)
    try:
        F.conv2d(x, w, padding=1)
        tracemalloc.start()
        out = F.conv2d(x, w, padding=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        tt.set_num_threads(threads)
    assert peak < out.nbytes + 1.05 * limit


def test_convolutions_in_threads_have_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    if tt.get_backend() != "numpy":
        pytest.skip("threads are the NumPy backend's")
    from tinytorch.backends.numpy import blas

    x, w = leaf(9, 8, 16, 16), leaf(8, 8, 3, 3)
    cotangent = tt.tensor(randn(9, 8, 16, 16))
    results = []
    for count in (1, 3):
        control = blas.Threads(lambda count=count: count, lambda n: None)
        monkeypatch.setattr(blas, "threads", lambda control=control: control)
        monkeypatch.setattr(blas, "_pool", None)
        x.grad = w.grad = None
        out = F.conv2d(x, w, padding=1)
        out.backward(cotangent)
        results.append([host(t) for t in (out, x.grad, w.grad)])
    for one, three in zip(*results, strict=True):
        np.testing.assert_allclose(one, three, rtol=1e-12, atol=1e-12)


def test_an_error_in_a_thread_is_raised_and_blas_has_its_threads_back() -> None:
    from tinytorch.backends.numpy import blas

    control = blas.threads()
    if control is None:
        pytest.skip("NumPy runs on another BLAS")
    before = control.get()
    control.set(2)

    def fails(start: int, stop: int) -> None:
        if start:
            raise ValueError("in a thread")

    try:
        with pytest.raises(ValueError, match="in a thread"):
            blas.run(fails, 2)
        assert control.get() == 2
    finally:
        control.set(before)
