"""Pooling of every kind: PyTorch's values and gradients, both orders of derivative, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import assert_raises, compare_functional, has_second_derivatives, host
from tinytorch.autograd import gradcheck
from tinytorch.ops.nn import adaptive_pooling, pooling

F: Any = tt.nn.functional
randn = np.random.randn

SHAPES = {1: (2, 3, 11), 2: (2, 3, 9, 7), 3: (2, 2, 6, 5, 7)}
WINDOWS = [
    {"kernel_size": 2},
    {"kernel_size": 3, "stride": 2},
    {"kernel_size": 3, "stride": 1, "padding": 1},
    {"kernel_size": 2, "stride": 3, "padding": 1, "ceil_mode": True},
    {"kernel_size": 3, "stride": 2, "ceil_mode": True},
]


@pytest.fixture(params=[False, True])
def many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the parameter True, small images are pooled as large ones are."""
    if request.param:
        monkeypatch.setattr(pooling, "table_of_windows", lambda *args: None)
        monkeypatch.setattr(adaptive_pooling, "_adaptive_table", lambda *args: None)


@pytest.mark.torch
@pytest.mark.parametrize("windows", WINDOWS)
@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_max_pooling_is_pytorchs(spatial: int, windows: Any, many: None) -> None:
    name = f"max_pool{spatial}d"
    x = randn(*SHAPES[spatial])
    compare_functional(name, x, **windows)
    compare_functional(name, x[0], return_indices=True, **windows)
    compare_functional(name, x, dilation=2, **{**windows, "padding": 0})


@pytest.mark.torch
@pytest.mark.parametrize("windows", WINDOWS)
@pytest.mark.parametrize("spatial", [1, 2, 3])
@pytest.mark.parametrize("count", [True, False])
def test_average_pooling_is_pytorchs(spatial: int, windows: Any, count: bool, many: None) -> None:
    name = f"avg_pool{spatial}d"
    compare_functional(name, randn(*SHAPES[spatial]), count_include_pad=count, **windows)
    if spatial > 1:
        compare_functional(name, randn(*SHAPES[spatial]), divisor_override=-3, **windows)


@pytest.mark.torch
@pytest.mark.parametrize("p", [1, 2, 3.5])
def test_power_average_pooling_is_pytorchs(p: float) -> None:
    for spatial in (1, 2, 3):
        x = np.abs(randn(*SHAPES[spatial])) + 0.1
        compare_functional(f"lp_pool{spatial}d", x, p, 3, 2)
        compare_functional(f"lp_pool{spatial}d", x, p, 2, ceil_mode=True)


@pytest.mark.torch
@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_lp_pool_of_infinite_order_is_pytorchs(spatial: int) -> None:
    compare_functional(f"lp_pool{spatial}d", randn(*SHAPES[spatial]), np.inf, 3, 2)
    compare_functional(f"lp_pool{spatial}d", randn(*SHAPES[spatial]), -np.inf, 2, ceil_mode=True)


@pytest.mark.torch
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_adaptive_pooling_is_pytorchs(size: int, many: None) -> None:
    for spatial in (1, 2, 3):
        x = randn(*SHAPES[spatial])
        compare_functional(f"adaptive_avg_pool{spatial}d", x, size)
        compare_functional(f"adaptive_max_pool{spatial}d", x[0], size, return_indices=True)
    compare_functional("adaptive_avg_pool2d", randn(2, 3, 9, 7), (None, size))


@pytest.mark.torch
def test_pooling_over_long_adjacent_windows_is_pytorchs() -> None:
    for name in ("max_pool2d", "avg_pool2d"):
        compare_functional(name, randn(2, 3, 20, 36), (10, 12))
    compare_functional("max_pool2d", randn(2, 3, 20, 36), (10, 12), return_indices=True)


@pytest.mark.torch
@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_unpooling_inverts_max_pooling(spatial: int) -> None:
    x = randn(*SHAPES[spatial])
    pooled, index = getattr(F, f"max_pool{spatial}d")(tt.tensor(x), 2, return_indices=True)
    back = host(getattr(F, f"max_unpool{spatial}d")(pooled, index, 2, output_size=x.shape))
    assert back.shape == x.shape and (back != 0).sum() == pooled.numel()
    np.testing.assert_array_equal(back[back != 0], x[back != 0])
    compare_functional(f"max_unpool{spatial}d", host(pooled), host(index), 2, output_size=x.shape)


@pytest.mark.parametrize("spatial", [2, 3])
def test_fractional_pools_draw_torchs_windows(torch: Any, spatial: int) -> None:
    shape = (2, 3, 9, 11, 10)[: spatial + 2]
    name = f"fractional_max_pool{spatial}d"
    samples = np.random.rand(2, 3, spatial)
    options = {"output_size": 4, "return_indices": True}
    compare_functional(name, randn(*shape), 3, _random_samples=samples, grad=False, **options)
    x = randn(*shape)
    outs = []
    for library in (tt, torch):
        library.manual_seed(5)
        pool = getattr(library.nn.functional, name)
        outs.append(pool(library.tensor(x), 2, output_ratio=(0.5,) * spatial))
    np.testing.assert_array_equal(host(outs[0]), host(outs[1]))


def leaf(*shape: int) -> Any:
    """Distinct numbers far from each other: no step of a difference changes which is largest."""
    count = int(np.prod(shape))
    return tt.tensor(np.random.permutation(count).reshape(shape) / 8.0, requires_grad=True)


@pytest.mark.parametrize(
    "pool",
    [
        lambda x: F.max_pool2d(x, 2, 1, 1),
        lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True),
        lambda x: F.avg_pool2d(x, 3, 2, 1, True, False),
        lambda x: F.adaptive_avg_pool2d(x, 3),
        lambda x: F.adaptive_max_pool2d(x, (3, 2)),
        lambda x: F.lp_pool2d(x + 1, 3, 2),
        lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2, output_size=x.shape),
    ],
)
def test_pooling_has_first_and_second_derivatives(pool: Any) -> None:
    assert gradcheck(pool, (leaf(1, 2, 4, 5),))
    assert has_second_derivatives(lambda x: pool(x) ** 2, (leaf(1, 1, 4, 4),))


def test_the_first_of_equal_maxima_gets_the_gradient() -> None:
    x = tt.zeros(1, 1, 4, 4, requires_grad=True)
    F.max_pool2d(x, 2).sum().backward()
    wanted = np.zeros((4, 4))
    wanted[::2, ::2] = 1
    np.testing.assert_array_equal(host(x.grad)[0, 0], wanted)


@pytest.mark.torch
def test_minus_infinity_is_larger_than_padding() -> None:
    x = np.full((1, 1, 3, 3), -np.inf)
    compare_functional("max_pool2d", x, 2, 2, 1, return_indices=True)
    _, index = F.max_pool2d(tt.tensor(x), 2, 2, 1, return_indices=True)
    assert host(index).tolist() == [[[[0, 1], [3, 4]]]]


@pytest.mark.torch
def test_nan_is_the_maximum_of_its_window() -> None:
    x = randn(1, 1, 6, 6)
    x[0, 0, 2, 3] = np.nan
    compare_functional("max_pool2d", x, 3, 1, 1)
    compare_functional("max_pool2d", x, 2, return_indices=True, grad=False)
    compare_functional("adaptive_avg_pool2d", x, 4)


@pytest.mark.torch
def test_pooling_accepts_integers_and_empty_batches() -> None:
    compare_functional("max_pool2d", np.arange(16).reshape(1, 1, 4, 4), 2, padding=1)
    for name in ("max_pool2d", "avg_pool2d", "adaptive_avg_pool2d", "adaptive_max_pool2d"):
        compare_functional(name, randn(0, 3, 4, 4), 2)


@pytest.mark.parametrize(
    ("name", "error", "text", "shape", "options"),
    [
        ("max_pool2d", RuntimeError, "Output size is too small", (1, 3, 4, 4), {"kernel_size": 5}),
        ("max_pool2d", RuntimeError, "pad should be at most half of effective kernel size",
         (1, 3, 4, 4), {"kernel_size": 2, "padding": 2}),
        ("avg_pool2d", RuntimeError, "pad must be non-negative",
         (1, 3, 4, 4), {"kernel_size": 2, "padding": -1}),
        ("max_pool2d", RuntimeError, "stride must be greater than zero",
         (1, 3, 4, 4), {"kernel_size": 2, "stride": 0}),
        ("max_pool2d", RuntimeError, "a tuple of two ints",
         (1, 3, 4, 4), {"kernel_size": (2, 2, 2)}),
        ("max_pool2d", RuntimeError, r"non-empty 3D or 4D \(batch mode\)",
         (4, 4), {"kernel_size": 2}),
        ("avg_pool2d", RuntimeError, "divisor must be not zero",
         (1, 3, 4, 4), {"kernel_size": 2, "divisor_override": 0}),
        ("avg_pool2d", TypeError, "must be tuple of ints", (1, 3, 4, 4), {"kernel_size": 1.5}),
        ("avg_pool3d", RuntimeError,
         r"input image \(T: 5 H: 6 W: 1\) smaller than kernel size \(kT: 2 kH: 2 kW: 2\)",
         (1, 5, 6, 1), {"kernel_size": 2, "padding": 1}),
        ("adaptive_avg_pool2d", RuntimeError, "greater than or equal to 0",
         (1, 3, 4, 4), {"output_size": -1}),
        ("adaptive_max_pool2d", ValueError, "Input dimension should be at least 3",
         (4, 4), {"output_size": (1, 1)}),
        ("adaptive_max_pool2d", RuntimeError, "Expected 3D or 4D tensor, but got",
         (4, 4), {"output_size": 1}),
        ("fractional_max_pool2d", ValueError, "either an output_size or an output_ratio",
         (1, 3, 4, 4), {"kernel_size": 2}),
        ("fractional_max_pool2d", RuntimeError, "too large relative to input",
         (1, 3, 4, 4), {"kernel_size": 2, "output_size": 4}),
    ],
)  # fmt: skip
def test_pooling_refuses_wrong_arguments(
    name: str, error: Any, text: str, shape: Any, options: Any
) -> None:
    assert_raises(name, error, text, randn(*shape), **options)


def test_pooling_refuses_unsupported_dtypes() -> None:
    assert_raises("max_pool2d", NotImplementedError, "'ComplexDouble'", randn(1, 1, 4, 4) + 0j, 2)
    assert_raises("max_pool2d", NotImplementedError, "'Bool'", randn(1, 1, 4, 4) > 0, 2)
    assert_raises(
        "adaptive_avg_pool2d", NotImplementedError, "'Long'", np.ones((1, 1, 4, 4), int), 2
    )


def test_unpooling_refuses_what_does_not_fit() -> None:
    x, index = randn(1, 1, 2, 2), np.zeros((1, 1, 2, 2), "int64")
    assert_raises("max_unpool2d", RuntimeError, "Found an invalid max index", x, index + 16, 2)
    assert_raises("max_unpool2d", RuntimeError, "Found an invalid max index", x, index - 1, 2)
    assert_raises("max_unpool2d", RuntimeError, "Expected shape of indices", x, index[..., :1], 2)
    assert_raises("max_unpool2d", RuntimeError, "should be type int64", x, index.astype("int32"), 2)
    text = "dim 0 must be between 2 and 6"
    assert_raises("max_unpool2d", ValueError, text, x, index, 2, output_size=(9, 9))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("avg_pool2d", {"kernel_size": 7, "stride": 1}),
        ("avg_pool2d", {"kernel_size": 3, "padding": 1, "count_include_pad": False}),
        ("adaptive_avg_pool2d", {"output_size": 3}), ("adaptive_avg_pool2d", {"output_size": 2}),
        ("adaptive_avg_pool2d", {"output_size": 1}),
    ],
)  # fmt: skip
def test_means_of_halves_are_rounded_once(torch: Any, name: str, options: Any) -> None:
    values = (100 + 10 * np.random.RandomState(5).randn(3, 4, 20, 20)).astype("float16")
    found = []
    for lib, dtype in ((tt, tt.float16), (torch, torch.float64)):
        x = lib.tensor(values.tolist(), dtype=dtype, requires_grad=True)
        out = getattr(lib.nn.functional, name)(x, **options)
        out.sum().backward()
        assert out.dtype is dtype and x.grad is not None
        found.append((out.tolist(), x.grad.tolist()))
    for ours, exact in zip(*found, strict=True):
        np.testing.assert_allclose(ours, np.array(exact, "float16"), rtol=1e-3)


@pytest.mark.parametrize("kind", ["avg", "max"])
def test_adaptive_pooling_of_a_volume_without_channels_is_empty(kind: str) -> None:
    x = tt.ones(0, 4, 4, 4, requires_grad=True)
    out = getattr(tt.nn.functional, f"adaptive_{kind}_pool3d")(x, 2)
    out.sum().backward()
    assert out.shape == (0, 2, 2, 2) and x.grad is not None and x.grad.shape == x.shape


def test_the_format_of_a_volume_without_a_batch(torch: Any) -> None:
    steps = []
    for lib in (tt, torch):
        x = lib.arange(240.0).reshape(1, 2, 4, 5, 6).contiguous(memory_format=lib.channels_last_3d)
        pooled = lib.nn.functional.max_pool3d(x[0], 2, return_indices=True)
        steps.append([(*each.stride(), each.flatten().tolist()) for each in pooled])
    assert steps[0] == steps[1]


@pytest.mark.torch
def test_maxima_of_nan_infinity_and_equal_elements_are_pytorchs() -> None:
    x = np.zeros((2, 1, 4, 6), "float32")
    x[0, 0, 1] = np.nan
    x[0, 0, 3, 2] = np.nan
    x[1] = -np.inf
    x[1, 0, 0, 0] = np.inf
    for sample in x:
        compare_functional("max_pool2d", sample, 2, 1, 1, return_indices=True, grad=False)
        compare_functional("max_pool2d", sample, 3, 2, return_indices=True, grad=False)
        compare_functional("adaptive_max_pool2d", sample, (3, 4), return_indices=True, grad=False)
