"""Interpolation and grid sampling: PyTorch's values and gradients, edges, errors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import assert_raises, compare_functional, has_second_derivatives, host
from tinytorch.autograd import gradcheck

F: Any = tt.nn.functional
randn = np.random.randn

MODES = {
    "nearest": 2, "nearest-exact": 2, "linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3,
    "area": 2,
}  # fmt: skip
WAYS = [
    {"size": 5}, {"size": 13}, {"size": 7}, {"scale_factor": 2}, {"scale_factor": 0.4},
    {"scale_factor": 1.7}, {"scale_factor": 1.7, "recompute_scale_factor": True},
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_interpolation_is_pytorchs(mode: str, way: Any, dtype: str) -> None:
    shape = (2, 3, 7, 6, 5)[: MODES[mode] + 2]
    # PyTorch's backward pass of the nearest modes disagrees with its forward pass now and then.
    compare_functional("interpolate", randn(*shape).astype(dtype), mode=mode, **way)
    if "linear" in mode or mode == "bicubic":
        compare_functional(
            "interpolate", randn(*shape).astype(dtype), mode=mode, align_corners=True, **way
        )


@pytest.mark.torch
@pytest.mark.parametrize("mode", ["nearest", "linear", "area"])
@pytest.mark.parametrize("size", [9001, 40_000])
def test_interpolation_of_long_sequences_is_pytorchs(mode: str, size: int) -> None:
    compare_functional("interpolate", randn(1, 1, 20_000), size, mode=mode)


@pytest.mark.torch
@pytest.mark.parametrize("spatial", [1, 3])
def test_nearest_and_area_in_other_dimensions(spatial: int) -> None:
    for mode in ("nearest", "nearest-exact", "area"):
        compare_functional(
            "interpolate", randn(2, 3, *(4, 5, 6)[:spatial]), (3, 7, 5)[:spatial], mode=mode
        )


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic", "area"])
def test_an_infinite_gradient_stays_with_the_pixels_it_comes_from(torch: Any, mode: str) -> None:
    found = []
    for library in (tt, torch):
        x = library.ones(1, 1, 6, 7, requires_grad=True)
        g = library.ones(1, 1, 4, 3)
        g[0, 0, 0, 0] = np.inf
        library.nn.functional.interpolate(x, (4, 3), mode=mode).backward(g)
        found.append(host(x.grad))
    np.testing.assert_allclose(*found, rtol=1e-5)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_halves_are_weighed_in_single_precision(torch: Any, mode: str) -> None:
    x = (100 * randn(2, 3, 4, 5)).astype("float16")
    exact = torch.nn.functional.interpolate(torch.tensor(x.astype("float64")), (7, 9), mode=mode)
    found = host(F.interpolate(tt.tensor(x), (7, 9), mode=mode))
    np.testing.assert_allclose(found, host(exact), rtol=1e-3, atol=1e-3)


@pytest.mark.torch
@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
@pytest.mark.parametrize("size", [(3, 4), (5, 20), (17, 13)])
def test_antialiased_interpolation_is_pytorchs(mode: str, size: Any) -> None:
    options = {"antialias": True, "mode": mode}
    compare_functional("interpolate", randn(2, 2, 11, 13), size, **options)
    if mode != "lanczos":
        compare_functional("interpolate", randn(2, 2, 11, 13), size, align_corners=True, **options)


def test_pixels_at_the_edge_of_rounding(torch: Any) -> None:
    """Positions whose product with the step is an integer, or just misses it."""
    for length, scale in itertools.product(range(1, 40, 3), (1.36, 2.72, 0.6, 1.12, 2.3)):
        x = np.arange(float(length), dtype="float32")[None, None]
        if int(length * scale):
            wanted = torch.nn.functional.interpolate(torch.tensor(x), scale_factor=scale)
            got = F.interpolate(tt.tensor(x), scale_factor=scale)
            np.testing.assert_array_equal(host(got), host(wanted))


def test_interpolation_of_uint8_rounds_as_pytorchs(torch: Any) -> None:
    x = np.random.randint(0, 256, (1, 3, 9, 8)).astype("uint8")
    compare_functional("interpolate", x, size=(5, 12))
    for mode in ("bilinear", "bicubic"):
        options = {"size": (5, 12), "mode": mode}
        wanted = host(torch.nn.functional.interpolate(torch.tensor(x), **options)).astype(int)
        got = host(F.interpolate(tt.tensor(x), **options))
        assert got.dtype == np.uint8 and np.array_equal(got, wanted)


def test_upsample_functions_warn_and_equal_interpolate() -> None:
    x = tt.tensor(randn(1, 2, 3, 4))
    bilinear = {"mode": "bilinear", "align_corners": True}
    same = {"upsample_bilinear": bilinear, "upsample_nearest": {}}
    for name, options in same.items():
        with pytest.warns(UserWarning, match="interpolate"):
            old = getattr(F, name)(x, scale_factor=2)
        np.testing.assert_array_equal(host(old), host(F.interpolate(x, scale_factor=2, **options)))
    with pytest.warns(UserWarning, match="interpolate"):
        assert tuple(F.upsample(x, size=5).shape) == (1, 2, 5, 5)


@pytest.mark.parametrize(
    ("error", "text", "shape", "options"),
    [
        (ValueError, "either size or scale_factor", (1, 1, 4), {}),
        (ValueError, "only one of size or scale_factor", (1, 1, 4),
         {"size": 2, "scale_factor": 2}),
        (ValueError, "same number of spatial dimensions", (1, 1, 4), {"size": (2, 2)}),
        (ValueError, "align_corners option can only", (1, 1, 4),
         {"size": 2, "align_corners": True}),
        (ValueError, "Anti-alias option is restricted", (1, 1, 4),
         {"size": 2, "mode": "linear", "antialias": True}),
        (ValueError, "recompute_scale_factor is not meaningful", (1, 1, 4),
         {"size": 2, "recompute_scale_factor": True}),
        (NotImplementedError, "bilinear mode needs 4D input", (1, 1, 4),
         {"size": 2, "mode": "bilinear"}),
        (NotImplementedError, r"got 2D\) for the modes", (1, 4), {"size": 2}),
        (NotImplementedError, "got sinc", (1, 1, 4), {"size": 2, "mode": "sinc"}),
        (RuntimeError, "should be greater than 0", (1, 1, 4), {"size": 0}),
        (RuntimeError, "Non-empty 3D data tensor expected", (1, 0, 4), {"size": 2}),
    ],
)  # fmt: skip
def test_interpolation_refuses_wrong_arguments(
    error: Any, text: str, shape: Any, options: Any
) -> None:
    assert_raises("interpolate", error, text, randn(*shape), **options)


def test_interpolation_refuses_integers() -> None:
    x = np.ones((1, 1, 4), int)
    assert_raises("interpolate", NotImplementedError, "not implemented for 'Long'", x, 2)


# -- grids -----------------------------------------------------------------------------------------


@pytest.mark.torch
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("corners", [True, False])
def test_grid_sample_is_pytorchs(mode: str, padding: str, corners: bool) -> None:
    options = {"mode": mode, "padding_mode": padding, "align_corners": corners}
    compare_functional(
        "grid_sample", randn(2, 3, 5, 6), np.random.uniform(-3, 3, (2, 3, 4, 2)), **options
    )
    if mode != "bicubic":
        grid = np.random.uniform(-2, 2, (2, 2, 3, 4, 3))
        compare_functional("grid_sample", randn(2, 3, 4, 1, 5), grid, **options)


def test_the_identity_grid_gives_the_image_back() -> None:
    image = tt.tensor(randn(2, 3, 4, 5))
    identity = tt.tensor([[[1.0, 0, 0], [0, 1, 0]]], dtype=tt.float64).expand(2, 2, 3)
    for corners in (True, False):
        grid = F.affine_grid(identity, image.shape, corners)
        same = F.grid_sample(image, grid, align_corners=corners)
        np.testing.assert_allclose(host(same), host(image), atol=1e-12)


@pytest.mark.torch
@pytest.mark.parametrize("corners", [True, False])
def test_affine_grid_is_pytorchs(corners: bool) -> None:
    compare_functional("affine_grid", randn(2, 2, 3), (2, 3, 4, 5), corners)
    compare_functional("affine_grid", randn(2, 3, 4), (2, 1, 2 if corners else 1, 4, 5), corners)
    compare_functional("affine_grid", randn(2, 2, 3).astype("float32"), (2, 3, 4, 5), corners)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("place", [float("inf"), float("-inf"), float("nan"), 3e38])
def test_a_volume_has_zeros_at_infinity(torch: Any, mode: str, place: float) -> None:
    found = []
    for lib in (tt, torch):
        volume = lib.arange(1.0, 28.0).view(1, 1, 3, 3, 3).requires_grad_()
        points = [[place, 0.1, 0.2], [0.1, 0.2, 0.3]]
        grid = lib.tensor(points).view(1, 1, 1, 2, 3).requires_grad_()
        sample = lib.nn.functional.grid_sample(volume, grid, mode, "zeros", False)
        sample.sum().backward()
        found.append([x.flatten().tolist() for x in (sample, volume.grad, grid.grad)])
    assert found[0][0][0] == 0
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)


def test_nan_coordinates_give_nan() -> None:
    nowhere = tt.full((1, 1, 1, 2), float("nan"))
    out = F.grid_sample(tt.ones(1, 1, 2, 2), nowhere, align_corners=False)
    assert np.isnan(host(out)).all()


@pytest.mark.torch
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding", ["border", "reflection"])
def test_nan_coordinates_count_as_the_first_pixels(mode: str, padding: str) -> None:
    places = np.array([[np.nan, 0.0], [0.3, np.nan], [np.inf, -0.2], [np.nan, np.nan]])
    compare_functional(
        "grid_sample", randn(1, 2, 3, 3), places[None, None], mode=mode, padding_mode=padding,
        align_corners=False, grad=False,
    )  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("scale", [1.1, 1.19, 2.3, 2.4, (1.2, 2.1), 0.7])
def test_sizes_count_where_the_factor_only_just_misses_them(scale: Any) -> None:
    """PyTorch copies what keeps its size, and in images repeats what becomes twice as large."""
    for shape in [(1, 2, 3, 2), (2, 1, 4, 5), (1, 3, 2, 2)]:
        compare_functional("interpolate", randn(*shape), scale_factor=scale, mode="nearest")
        for corners in (False, True):
            options = {"mode": "bilinear", "align_corners": corners}
            compare_functional("interpolate", randn(*shape), scale_factor=scale, **options)
    if isinstance(scale, float):
        compare_functional("interpolate", randn(1, 2, 3), scale_factor=scale, mode="linear")
        # PyTorch's gradients of these two follow the rule of images, unlike their values.
        compare_functional(
            "interpolate", randn(1, 2, 3), scale_factor=scale, mode="nearest", grad=False
        )
        x = randn(1, 2, 3, 2, 2)
        compare_functional("interpolate", x, scale_factor=scale, mode="nearest", grad=False)
        compare_functional("interpolate", x, scale_factor=scale, mode="trilinear")


def leaf(array: Any) -> Any:
    return tt.tensor(array, requires_grad=True)


@pytest.mark.parametrize(
    ("resize", "shape"),
    [
        (lambda x: F.interpolate(x, 5, mode="linear"), (1, 2, 3)),
        (lambda x: F.interpolate(x, (3, 5), mode="bicubic"), (1, 1, 4, 3)),
        (lambda x: F.interpolate(x, (2, 3), mode="bilinear", antialias=True), (1, 1, 5, 4)),
        (lambda x: F.interpolate(x, (2, 5), mode="area"), (1, 1, 3, 3)),
    ],
)
def test_interpolation_has_first_and_second_derivatives(resize: Any, shape: Any) -> None:
    assert gradcheck(resize, (leaf(randn(*shape)),))
    assert has_second_derivatives(lambda x: resize(x) ** 2, (leaf(randn(*shape)),))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "reflection"])
def test_grid_sample_has_first_and_second_derivatives(mode: str, padding: str) -> None:
    # Away from the middles and edges of pixels, where the slope jumps.
    grid = np.array([[[[-0.61, 0.33], [0.13, -0.21]], [[1.4, 0.2], [-0.37, 0.57]]]])

    def sample(image: Any, grid: Any) -> Any:
        return F.grid_sample(image, grid, mode, padding, False)

    assert gradcheck(sample, (leaf(randn(1, 2, 3, 4)), leaf(grid)))
    assert has_second_derivatives(sample, (leaf(randn(1, 1, 3, 4)), leaf(grid)))


@pytest.mark.parametrize(
    ("error", "text", "image", "grid", "options"),
    [
        (RuntimeError, "size 2 in last dimension", (1, 1, 2, 2), (1, 1, 1, 3), {}),
        (RuntimeError, "same batch size", (2, 1, 2, 2), (1, 1, 1, 2), {}),
        (RuntimeError, "same number of dimensions", (1, 1, 2, 2), (1, 1, 1, 1, 2), {}),
        (RuntimeError, "non-empty spatial dimensions", (1, 1, 0, 2), (1, 1, 1, 2), {}),
        (RuntimeError, "only supports 4D", (1, 1, 2, 2, 2), (1, 1, 1, 1, 3), {"mode": "bicubic"}),
        (ValueError, "expected mode to be", (1, 1, 2, 2), (1, 1, 1, 2), {"mode": "linear"}),
        (ValueError, "expected padding_mode", (1, 1, 2, 2), (1, 1, 1, 2), {"padding_mode": "no"}),
    ],
)
def test_grid_sample_refuses_wrong_grids(
    error: Any, text: str, image: Any, grid: Any, options: Any
) -> None:
    assert_raises("grid_sample", error, text, randn(*image), randn(*grid), **options)


def test_affine_grid_refuses_wrong_arguments() -> None:
    assert_raises("affine_grid", ValueError, "of shape Nx3x4", randn(2, 2, 3), (2, 1, 4, 5, 6))
    assert_raises(
        "affine_grid", ValueError, "floating point", np.ones((2, 2, 3), int), (2, 1, 4, 5)
    )
    assert_raises("affine_grid", NotImplementedError, "only supports 4D", randn(2, 2, 3), (2, 1, 4))
    assert_raises("affine_grid", ValueError, "positive output size", randn(2, 2, 3), (2, 1, 4, 0))
    assert_raises(
        "grid_sample",
        RuntimeError,
        "expected scalar type Double",
        randn(1, 1, 2, 2),
        randn(1, 1, 1, 2).astype("float32"),
        align_corners=False,
    )


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("shape", [(1, 1, 8, 8), (2, 5, 9, 11), (1, 3, 64, 7)])
@pytest.mark.parametrize(
    "how", [{"size": (16, 16)}, {"size": (3, 20)}, {"scale_factor": 1.7}, {"scale_factor": 0.3}]
)
def test_interpolation_of_uint8_equals_pytorchs_exactly(
    torch: Any, mode: str, antialias: bool, shape: Any, how: Any
) -> None:
    x = np.random.RandomState(3).randint(0, 256, shape).astype("uint8")
    given = {"mode": mode, "antialias": antialias, **how}
    wanted = torch.nn.functional.interpolate(torch.tensor(x), **given).numpy()
    got = tt.nn.functional.interpolate(tt.tensor(x), **given).numpy(force=True)
    assert got.dtype == np.uint8
    np.testing.assert_array_equal(got, wanted)
