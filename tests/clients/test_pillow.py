"""Pillow makes images of tensors, and tensors are made of images."""

from __future__ import annotations

import numpy as np
import pytest

import tinytorch as tt

Image = pytest.importorskip("PIL.Image")
PIXELS = tt.arange(24, dtype=tt.uint8).reshape(2, 4, 3)


@pytest.mark.parametrize(
    "pixels", [PIXELS, PIXELS[:, :, 0], PIXELS.flip(0), PIXELS.permute(1, 0, 2)]
)
def test_images_are_made_of_tensors_and_back(pixels: tt.Tensor) -> None:
    image = Image.fromarray(pixels)
    assert image.size == (pixels.shape[1], pixels.shape[0])
    assert tt.equal(tt.tensor(np.asarray(image)), pixels)


def test_a_tensor_of_a_changed_image_is_not_the_image() -> None:
    image = Image.fromarray(PIXELS.clone())
    image.putpixel((0, 0), (9, 9, 9))
    assert tt.as_tensor(np.array(image))[0, 0].tolist() == [9, 9, 9]
