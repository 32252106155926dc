"""torchvision's own kernels, where they load beside PyTorch, compute what those here compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.fresh import program
from tests.oracles import host
from tests.runner import Runner


@pytest.fixture
def libraries(torch: Any) -> tuple[Any, Any]:
    try:
        import torchvision  # noqa: F401
    except (ImportError, RuntimeError) as error:  # RuntimeError: its library does not load
        pytest.skip(f"torchvision's kernels are missing: {error}")
    return tt, torch


def tensors(library: Any, arrays: list[Any], dtype: str) -> list[Any]:
    """Tensors of a library, which require gradients."""
    return [library.tensor(a, dtype=getattr(library, dtype), requires_grad=True) for a in arrays]


def assert_equal(libraries: Any, call: Any, arrays: list[Any], dtype: str) -> None:
    """Compare the values of ``call(operators, *tensors)``, and the gradients of all tensors."""
    found: list[list[Any]] = []
    for library in libraries:
        inputs = tensors(library, arrays, dtype)
        outs = call(library.ops.torchvision, *inputs)
        outs = outs if isinstance(outs, tuple) else (outs,)
        weights = np.random.default_rng(0).normal(size=tuple(outs[0].shape))
        outs[0].backward(library.tensor(weights, dtype=outs[0].dtype))
        grads = [t.grad for t in inputs if t.grad is not None]
        found.append([host(t.detach()) for t in (*outs, *grads)])
    tolerance = 1e-4 if dtype == "float32" else 1e-10
    assert len(found[0]) == len(found[1])
    for ours, theirs in zip(*found, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def test_the_operators_are_imported_at_their_first_use(runner: Runner) -> None:
    def uses() -> None:
        import sys

        import tinytorch

        tinytorch.ones(2)
        print("tinytorch.compat.torchvision" in sys.modules, "torchvision" in sys.modules)
        print(tinytorch.ops.torchvision.nms)
        print("tinytorch.compat.torchvision" in sys.modules, "torchvision" in sys.modules)

    done = runner.python("-c", program(uses))
    assert done.stdout.splitlines() == ["False False", "torchvision.nms", "True False"]


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", ["roi_align", "ps_roi_align", "roi_pool", "ps_roi_pool"])
def test_pooling_is_torchvisions(libraries: Any, name: str, seed: int, dtype: str) -> None:
    rng = np.random.default_rng(seed)
    images, regions, *size = (int(n) for n in rng.integers(1, 5, 4))
    height, width = rng.integers(1, 15, 2)
    x = rng.normal(size=(images, 2 * size[0] * size[1], height, width))
    corners = np.sort(rng.uniform(-6, 2.6 * max(height, width), (regions, 2, 2)), 1)
    if name == "ps_roi_pool":  # its backward pass has other bins at the last row and column
        x = np.pad(x, ((0, 0), (0, 0), (0, 40), (0, 40)))
    index = rng.integers(0, images, (regions, 1))
    rois = np.concatenate([index, corners.reshape(regions, 4)], axis=1)
    ratio = int(rng.integers(-1, 4))
    extra: Any = {"roi_align": (ratio, seed % 2 == 0), "ps_roi_align": (ratio,)}.get(name, ())
    call = lambda ops, x, rois: getattr(ops, name)(x, rois.detach(), 0.5, *size, *extra)  # noqa: E731
    assert_equal(libraries, call, [x, rois], dtype)


@pytest.mark.torch
@pytest.mark.parametrize("seed", range(6))
def test_deformable_convolution_is_torchvisions(libraries: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups, offset_groups = int(rng.choice([1, 2])), int(rng.choice([1, 2, 4]))
    kernel, stride, dilation = (rng.integers(1, 4, 2) for _ in range(3))
    padding = rng.integers(0, 3, 2)
    size = dilation * (kernel - 1) + 1 + rng.integers(0, 6, 2)
    result = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    elements = offset_groups * kernel.prod()
    shapes: list[Any] = [
        (2, 4, *size), (6, 4 // groups, *kernel), (2, 2 * elements, *result),
        (2, elements, *result), (6,),
    ]  # fmt: skip
    settings = [int(n) for n in (*stride, *padding, *dilation, groups, offset_groups)]
    arrays = [3 * rng.normal(size=shape) for shape in shapes]
    call = lambda ops, *inputs: ops.deform_conv2d(*inputs, *settings, True)  # noqa: E731
    assert_equal(libraries, call, arrays, "float64")


@pytest.mark.torch
@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 0.7])
def test_suppression_is_torchvisions(libraries: Any, threshold: float) -> None:
    rng = np.random.default_rng(0)
    corners = rng.uniform(0, 30, (1200, 2)).round()
    boxes = np.concatenate([corners, corners + rng.integers(0, 9, (1200, 2))], axis=1)
    scores = rng.random(1200).round(2)
    found = []
    for library in libraries:
        given = [t.detach() for t in tensors(library, [boxes, scores], "float32")]
        found.append(library.ops.torchvision.nms(*given, threshold).tolist())
    assert found[0] == found[1]
