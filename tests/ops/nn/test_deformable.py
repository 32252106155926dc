"""``ops.torchvision.deform_conv2d``: closed forms, finite differences, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import host
from tinytorch.autograd import gradcheck

vision: Any = tt.ops.torchvision
RNG = np.random.default_rng(0)


def tensors(
    size: tuple[int, int],
    kernel: tuple[int, int],
    result: tuple[int, int],
    groups: int = 1,
    offset_groups: int = 1,
) -> list[Any]:
    """Image, weight, offset, mask and bias."""
    elements = offset_groups * kernel[0] * kernel[1]
    shapes = (
        (2, 4, *size), (6, 4 // groups, *kernel), (2, 2 * elements, *result),
        (2, elements, *result), (6,),
    )  # fmt: skip
    return [tt.tensor(RNG.normal(size=shape)) for shape in shapes]


@pytest.mark.parametrize("groups", [1, 2])
def test_without_offsets_it_is_conv2d(groups: int) -> None:
    x, weight, offset, mask, bias = tensors((7, 8), (3, 2), (4, 8), groups)
    settings: Any = {"stride": (2, 1), "padding": (1, 1), "dilation": (1, 2), "groups": groups}
    found = vision.deform_conv2d(
        x, weight, offset * 0, mask, bias, 2, 1, 1, 1, 1, 2, groups, 1, False
    )
    expected = tt.nn.functional.conv2d(x, weight, bias, **settings)
    np.testing.assert_allclose(host(found), host(expected), rtol=1e-9, atol=1e-12)


def test_an_offset_of_whole_pixels_reads_the_pixels_there() -> None:
    x, weight, offset, mask, bias = tensors((6, 6), (1, 1), (6, 6))
    offset[:, 0], offset[:, 1] = 1, -2  # down and to the left
    found = vision.deform_conv2d(x, weight, offset, mask, bias, 1, 1, 0, 0, 1, 1, 1, 1, False)
    moved = tt.zeros_like(x)
    moved[:, :, :-1, 2:] = x[:, :, 1:, :-2]
    expected = tt.nn.functional.conv2d(moved, weight, bias)
    np.testing.assert_allclose(host(found), host(expected), rtol=1e-9, atol=1e-12)


def test_an_offset_of_half_a_pixel_reads_means_and_zeros_outside() -> None:
    x = tt.tensor([[[[1.0, 3.0, 7.0]]]])
    offset = tt.tensor([0.0, 0.5]).reshape(1, 2, 1, 1).expand(1, 2, 1, 3)
    none = tt.zeros(1)
    args = (x, tt.ones(1, 1, 1, 1), offset, none, none, 1, 1, 0, 0, 1, 1, 1, 1, False)
    assert vision.deform_conv2d(*args).tolist() == [[[[2.0, 5.0, 3.5]]]]


def test_groups_of_channels_have_offsets_and_masks_of_their_own() -> None:
    x, weight, offset, mask, bias = tensors((4, 4), (1, 1), (4, 4), offset_groups=2)
    offset *= 0
    offset[:, 3] = 1  # the second half of the channels, one pixel to the right
    found = vision.deform_conv2d(x, weight, offset, mask, bias, 1, 1, 0, 0, 1, 1, 1, 2, True)
    moved = x.clone()
    moved[:, 2:] = 0
    moved[:, 2:, :, :-1] = x[:, 2:, :, 1:]
    masked = moved * mask.repeat_interleave(2, 1)
    expected = tt.nn.functional.conv2d(masked, weight, bias)
    np.testing.assert_allclose(host(found), host(expected), rtol=1e-9, atol=1e-12)


def test_gradients_are_those_of_finite_differences() -> None:
    inputs = [t.requires_grad_() for t in tensors((4, 3), (2, 2), (2, 3), 2, 2)]
    settings = (2, 1, 1, 1, 2, 2, 2, 2, True)
    small = [t[:1, :, ...] if t.ndim == 4 and i != 1 else t for i, t in enumerate(inputs)]
    inputs = [t.detach().requires_grad_() for t in small]
    inputs[2] = inputs[2][..., :2, :3].detach().requires_grad_()
    assert gradcheck(lambda *t: vision.deform_conv2d(*t, *settings), inputs)


def test_shapes_and_dtypes_that_do_not_fit_are_refused() -> None:
    x, weight, offset, mask, bias = tensors((4, 4), (3, 3), (2, 2))

    def call(
        x: Any = x, weight: Any = weight, offset: Any = offset, mask: Any = mask,
        stride: int = 1, pad: int = 0, dilation: int = 1, groups: int = 1,
    ) -> Any:  # fmt: skip
        pairs = (stride, stride, pad, pad, dilation, dilation)
        return vision.deform_conv2d(x, weight, offset, mask, bias, *pairs, groups, 1, True)

    assert call().shape == (2, 6, 2, 2)
    for options, text in (
        ({"x": x[0]}, r"input_c.ndimension\(\) == 4 to be true"),
        ({"offset": offset.float()}, "expected scalar type Double but found Float"),
        ({"groups": 3}, r"weight_c.size\(1\) \* n_weight_grps == input_c.size\(1\)"),
        ({"stride": 0}, "stride_h: 0 stride_w: 0"),
        ({"pad": -1}, "pad_h: -1 pad_w: -1"),
        ({"dilation": 0}, "dilation_h: 0 dilation_w: 0"),
        ({"offset": offset[:1]}, "invalid batch size of offset"),
        ({"mask": mask[:1]}, "invalid batch size of mask"),
        ({"offset": offset[:, :9]}, r"offset.shape\[1\] is not valid: got: 9 expected: 18"),
        ({"mask": mask[:, :3]}, r"mask.shape\[1\] is not valid: got: 3 expected: 9"),
        ({"offset": offset[..., :1]}, r"offset output dims: \(2, 1\) - computed output dims"),
        ({"mask": mask[..., :1]}, r"mask output dims: \(2, 1\) - computed output dims: \(2, 2\)"),
    ):
        with pytest.raises(RuntimeError, match=text):
            call(**options)
