"""``ops.torchvision``: pooling of regions and suppression of boxes, by their formulas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import host
from tinytorch.autograd import gradcheck, gradgradcheck

vision: Any = tt.ops.torchvision
NAMES = ("roi_align", "ps_roi_align", "ps_roi_pool", "roi_pool")


def regions(count: int, images: int, size: float, rng: Any) -> Any:
    """Random regions, of which some reach beyond the image."""
    corners = np.sort(rng.uniform(-2, size + 3, (count, 2, 2)), axis=1).reshape(count, 4)
    return np.concatenate([rng.integers(0, images, (count, 1)), corners], axis=1)


def pool(name: str, x: Any, rois: Any, *args: Any) -> Any:
    """Call an operator; return what is pooled, without indices."""
    found = getattr(vision, name)(x, rois, *args)
    return found if name == "roi_align" else found[0]


def pixel(image: Any, y: float, x: float) -> float:
    """Linear interpolation of an image (Mask R-CNN, section 3), 0 beyond one pixel outside."""
    height, width = image.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return 0.0
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    top, left = math.floor(y), math.floor(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    v, u = y - top, x - left
    upper = (1 - u) * image[top, left] + u * image[top, right]
    lower = (1 - u) * image[bottom, left] + u * image[bottom, right]
    return float((1 - v) * upper + v * lower)


def mean_of_samples(
    image: Any, start: Any, step: Any, samples: tuple[int, int], place: tuple[int, int]
) -> float:
    """Mean of the samples in the bin at ``place``, of size ``step``."""
    total = 0.0
    for i in range(samples[0]):
        for j in range(samples[1]):
            y = start[0] + (place[0] + (i + 0.5) / samples[0]) * step[0]
            x = start[1] + (place[1] + (j + 0.5) / samples[1]) * step[1]
            total += pixel(image, y, x)
    return total / max(samples[0] * samples[1], 1)


@pytest.mark.parametrize("ratio", [-1, 1, 3])
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("by_position", [False, True])
def test_means_of_bins_are_those_of_their_samples(
    ratio: int, aligned: bool, by_position: bool
) -> None:
    rng = np.random.default_rng(0)
    size, scale, channels = (2, 3), 0.5, 12 if by_position else 2
    x, rois = rng.normal(size=(2, channels, 6, 7)), regions(6, 2, 13, rng)
    args = (scale, *size, ratio)
    if by_position:
        found, index = vision.ps_roi_align(tt.tensor(x), tt.tensor(rois), *args)
        assert host(index[0]).tolist() == np.arange(12).reshape(2, 2, 3).tolist()
        aligned = True
    else:
        found = vision.roi_align(tt.tensor(x), tt.tensor(rois), *args, aligned)
    expected = np.empty((6, 2, *size))
    for k, c, i, j in np.ndindex(expected.shape):
        corners = rois[k, 1:] * scale - (0.5 if aligned else 0)
        start, extent = corners[1::-1], corners[3:1:-1] - corners[1::-1]
        step = (extent if aligned else np.maximum(extent, 1)) / size
        samples = (ratio, ratio) if ratio > 0 else tuple(np.ceil(step).astype(int))
        channel = (c * size[0] + i) * size[1] + j if by_position else c
        expected[k, c, i, j] = mean_of_samples(
            x[int(rois[k, 0]), channel], start, step, samples, (i, j)
        )
    np.testing.assert_allclose(host(found), expected, rtol=1e-9, atol=1e-12)


def test_the_mean_of_a_linear_image_is_its_value_at_the_center_of_the_bin() -> None:
    y, x = np.mgrid[0:8, 0:9]
    image = (3.0 + 2 * y - x)[None, None]
    region = tt.tensor([[0, 1.5, 2.0, 6.5, 7.0]], dtype=tt.float64)
    found = vision.roi_align(tt.tensor(image), region, 1.0, 2, 2, -1, True)
    centers = [[3.0 + 2 * (v - 0.5) - (u - 0.5) for u in (2.75, 5.25)] for v in (3.25, 5.75)]
    np.testing.assert_allclose(host(found)[0, 0], centers, rtol=1e-12)


def edges(first: float, last: float, bins: int, bound: int, extra: int) -> list[tuple[int, int]]:
    """First pixel of each bin and the one after its last (Fast R-CNN, section 2.1)."""
    start, stop = (math.copysign(math.floor(abs(v) + 0.5), v) for v in (first, last))
    step = max(stop - start + extra, 1) / bins
    ends = [(math.floor(i * step) + start, math.ceil((i + 1) * step) + start) for i in range(bins)]
    return [(int(min(max(a, 0), bound)), int(min(max(b, 0), bound))) for a, b in ends]


@pytest.mark.parametrize("largest", [True, False])
def test_pools_of_whole_pixels_are_those_of_their_windows(largest: bool) -> None:
    rng = np.random.default_rng(1)
    size, scale, name = (3, 2), 0.5, "roi_pool" if largest else "ps_roi_pool"
    x = rng.integers(0, 5, (2, 2 if largest else 12, 6, 7)).astype(float)  # with equal elements
    rois = np.concatenate([regions(8, 2, 13, rng), [[1, 3.0, 3.0, 3.0, 3.0]]])
    found, index = getattr(vision, name)(tt.tensor(x), tt.tensor(rois), scale, *size)
    bounds, extra = ((6, 7), 1) if largest else ((5, 6), 0)
    for k, c, i, j in np.ndindex(found.shape):
        _, x1, y1, x2, y2 = rois[k] * scale
        top, bottom = edges(y1, y2, size[0], bounds[0], extra)[i]
        left, right = edges(x1, x2, size[1], bounds[1], extra)[j]
        channel = c if largest else (c * size[0] + i) * size[1] + j
        window = x[int(rois[k, 0]), channel, top:bottom, left:right]
        place = -1
        if not window.size:
            expected = 0.0
        elif largest:
            expected = window.max()
            row, column = np.argwhere(window == expected)[0]
            place = (top + row) * 7 + left + column
        else:
            expected = window.mean()
        assert float(found[k, c, i, j]) == pytest.approx(expected, rel=1e-12)
        assert int(index[k, c, i, j]) == (place if largest else channel)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_those_of_finite_differences(name: str) -> None:
    rng = np.random.default_rng(4)
    channels = 1 if name in ("roi_align", "roi_pool") else 4
    x = tt.tensor(rng.permutation(12 * channels).reshape(2, channels, 2, 3) / 4)
    x.requires_grad_()
    rois = tt.tensor(regions(3, 2, 3, rng))
    extra = {"roi_align": (-1, True), "ps_roi_align": (2,)}.get(name, ())
    call = lambda x: pool(name, x, rois, 0.5, 2, 2, *extra)  # noqa: E731
    assert gradcheck(call, (x,)) and gradgradcheck(call, (x,))


def test_regions_have_no_gradient() -> None:
    rois = tt.tensor([[0.0, 0.0, 0.0, 2.0, 2.0]], requires_grad=True)
    assert not vision.roi_align(tt.ones(1, 1, 4, 4), rois, 1.0, 2, 2, 2, False).requires_grad


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_a_pixel_that_is_not_finite_stays_out_of_other_regions(value: float) -> None:
    x = tt.ones(1, 1, 6, 6)
    x[0, 0, 1, 1] = value
    rois = tt.tensor([[0.0, 0.0, 0.0, 2.0, 2.0], [0.0, 3.0, 3.0, 5.0, 5.0]])
    found = vision.roi_align(x, rois, 1.0, 1, 1, 2, False)
    np.testing.assert_array_equal(host(found).reshape(2), [value, 1.0])


def test_a_region_that_is_not_finite_pools_to_nothing() -> None:
    x = tt.ones(1, 1, 6, 6)
    rois = tt.tensor([[0.0, 0.0, 0.0, 2.0, 2.0]] * 3)
    rois[1, 3], rois[2, 2] = math.inf, math.nan
    for ratio in (-1, 2):
        assert vision.roi_align(x, rois, 1.0, 1, 1, ratio, True).flatten().tolist() == [1, 0, 0]


def test_half_precision_is_computed_in_single_precision() -> None:
    rng = np.random.default_rng(5)
    x, rois = rng.normal(size=(2, 2, 6, 6)), regions(4, 2, 6, rng)
    half = [tt.tensor(a.astype(np.float16)) for a in (x, rois)]
    exact = [t.float() for t in half]
    found, expected = (vision.roi_align(*t, 0.7, 2, 2, -1, True) for t in (half, exact))
    assert found.dtype is tt.float16
    np.testing.assert_array_equal(host(found), host(expected).astype(np.float16))


def test_many_regions_of_large_images_are_computed_in_parts(monkeypatch: Any) -> None:
    from tinytorch.ops.nn import regions as module

    rng = np.random.default_rng(3)
    x, rois = tt.tensor(rng.normal(size=(2, 3, 6, 6))), tt.tensor(regions(9, 2, 6, rng))
    at_once = vision.roi_align(x, rois, 1.0, 2, 2, 2, True)
    monkeypatch.setattr(module, "_AT_ONCE", 80)
    np.testing.assert_allclose(host(vision.roi_align(x, rois, 1.0, 2, 2, 2, True)), host(at_once))


@pytest.mark.parametrize("name", NAMES)
def test_no_regions_pool_to_nothing(name: str) -> None:
    extra = {"roi_align": (-1, True), "ps_roi_align": (2,)}.get(name, ())
    x = tt.ones(1, 4, 3, 3, requires_grad=True)
    found = pool(name, x, tt.zeros(0, 5), 1.0, 2, 2, *extra)
    assert found.shape == (0, 1 if name.startswith("ps") else 4, 2, 2)
    found.sum().backward()
    assert x.grad is not None and not x.grad.any()


def test_a_region_without_samples_is_nan_by_position() -> None:
    x = tt.ones(1, 1, 3, 3, requires_grad=True)
    region = tt.tensor([[0.0, 1.0, 1.0, 1.0, 2.0]])
    assert vision.ps_roi_align(x, region, 1.0, 1, 1, -1)[0].isnan().all()
    assert vision.roi_align(x, region, 1.0, 1, 1, -1, True).item() == 0


@pytest.mark.parametrize("name", NAMES)
def test_shapes_and_dtypes_that_do_not_fit_are_refused(name: str) -> None:
    extra = {"roi_align": (-1, True), "ps_roi_align": (2,)}.get(name, ())
    x, rois = tt.ones(1, 4, 3, 3), tt.zeros(2, 5)
    with pytest.raises(RuntimeError, match="should have shape|must have shape"):
        pool(name, x, rois[:, :4], 1.0, 2, 2, *extra)
    with pytest.raises(RuntimeError, match="type torch.FloatTensor does not equal torch.Double"):
        pool(name, x, rois.double(), 1.0, 2, 2, *extra)
    with pytest.raises(RuntimeError, match="index of an image below 1"):
        pool(name, x, rois + 1, 1.0, 2, 2, *extra)
    with pytest.raises(IndexError, match="Dimension out of range"):
        pool(name, x[0], rois, 1.0, 2, 2, *extra)
    with pytest.raises(NotImplementedError, match="not implemented for 'Int'"):
        pool(name, x.int(), rois.int(), 1.0, 2, 2, *extra)
    if name.startswith("ps"):
        with pytest.raises(RuntimeError, match="multiple of pooling height"):
            pool(name, x, rois, 1.0, 3, 2, *extra)


def suppress(boxes: Any, scores: Any, threshold: float) -> list[int]:
    """Indices of the boxes that are left, by the definition (Girshick et al., section 2.3)."""
    order = sorted(range(len(boxes)), key=lambda i: -scores[i])
    left: list[int] = []
    for i in order:
        for j in left:
            low, high = (
                np.maximum(boxes[i, :2], boxes[j, :2]),
                np.minimum(boxes[i, 2:], boxes[j, 2:]),
            )
            common = np.prod(np.maximum(high - low, 0))
            areas = [np.prod(boxes[n, 2:] - boxes[n, :2]) for n in (i, j)]
            if common / (sum(areas) - common) > threshold:
                break
        else:
            left.append(i)
    return left


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 1.0])
def test_nms_leaves_what_no_better_box_overlaps(threshold: float, monkeypatch: Any) -> None:
    from tinytorch.ops.nn import regions as module

    monkeypatch.setattr(module, "_BLOCK", 16)
    rng = np.random.default_rng(4)
    corners = rng.uniform(0, 12, (120, 2)).round(1)
    boxes = np.concatenate([corners, corners + rng.uniform(1, 6, (120, 2)).round(1)], 1)
    scores = rng.random(120).round(1)
    found = vision.nms(tt.tensor(boxes), tt.tensor(scores), threshold)
    assert found.dtype is tt.int64
    assert found.tolist() == suppress(boxes, scores, threshold)


def test_nms_compares_with_a_threshold_of_double_precision() -> None:
    boxes, scores = tt.tensor([[0.0, 0.0, 10.0, 1.0], [0.0, 0.0, 3.0, 1.0]]), tt.tensor([0.9, 0.1])
    # 3 / 10 is 0.30000001192... in float32, and more than 0.3.
    assert vision.nms(boxes, scores, 0.3).tolist() == [0]
    assert vision.nms(boxes.double(), scores.double(), 0.3).tolist() == [0, 1]


def test_nms_of_no_boxes_and_of_boxes_without_area() -> None:
    assert vision.nms(tt.zeros(0, 4), tt.zeros(0), 0.5).shape == (0,)
    assert vision.nms(tt.zeros(2, 4), tt.tensor([0.1, 0.2]), 0.0).tolist() == [1, 0]


def test_nms_refuses_what_does_not_fit() -> None:
    boxes, scores = tt.zeros(2, 4), tt.zeros(2)
    for args, text in (
        ((boxes[None], scores), "boxes should be a 2d tensor, got 3D"),
        ((boxes[:, :3], scores), "boxes should have 4 elements in dimension 1, got 3"),
        ((boxes, scores[None]), "scores should be a 1d tensor, got 2D"),
        ((boxes, scores[:1]), "same number of elements in dimension 0, got 2 and 1"),
        ((boxes, scores.double()), "dets should have the same type as scores"),
    ):
        with pytest.raises(RuntimeError, match=text):
            vision.nms(*args, 0.5)


def test_autocast_computes_in_float32_and_returns_the_first_dtype() -> None:
    x = tt.ones(1, 1, 4, 4, dtype=tt.float16)
    rois = tt.tensor([[0.0, 0.0, 0.0, 2.0, 2.0]])
    with tt.autocast(x.device.type, dtype=tt.float16):
        found = vision.roi_align(x, rois, 1.0, 1, 1, 2, False)
    assert found.dtype is tt.float16 and found.item() == 1


def test_operators_without_a_kernel_raise_by_name() -> None:
    with pytest.raises(NotImplementedError, match=r"ops.torchvision.qnms: tensors cannot be quant"):
        vision.qnms(tt.zeros(1, 4), tt.zeros(1), 0.5)
    with pytest.raises(AttributeError, match="has no attribute 'soft_nms'"):
        vision.soft_nms


def test_a_formula_that_torchvision_registers_does_not_replace_the_gradient() -> None:
    tt.library.register_autograd("torchvision::roi_align", lambda ctx, g: (2 * g,) + (None,) * 6)
    x: Any = tt.ones(1, 1, 4, 4, requires_grad=True)
    vision.roi_align(
        x, tt.tensor([[0.0, 0.0, 0.0, 2.0, 2.0]]), 1.0, 2, 2, 2, False
    ).sum().backward()
    assert float(x.grad.sum()) == pytest.approx(4)  # the weights of each mean sum to 1


def test_the_schema_of_an_operator_is_torchvisions() -> None:
    declared = "torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
    assert str(vision.nms.default._schema) == declared
