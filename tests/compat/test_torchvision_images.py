"""``ops.image``, which torchvision's ``io`` calls: images read and written by Pillow."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import host
from tinytorch.compat import torchvision

PIL_Image: Any = pytest.importorskip("PIL.Image")
images: Any = tt.ops.image
UNCHANGED, GRAY, GRAY_ALPHA, RGB, RGB_ALPHA = range(5)
PIXELS = np.random.default_rng(0).integers(0, 256, (5, 6, 4), dtype=np.uint8)


def encode(pixels: Any, format: str, mode: str | None = None, **options: Any) -> Any:
    """Bytes of an image that Pillow writes, as a tensor."""
    file = io.BytesIO()
    picture = PIL_Image.fromarray(pixels)
    (picture.convert(mode) if mode else picture).save(file, format, **options)
    return tt.tensor(list(file.getvalue()), dtype=tt.uint8)


def as_rows(image: Any) -> Any:
    """Pixels ``(height, width, channels)``, as Pillow has them."""
    return host(image).transpose(1, 2, 0)


@pytest.mark.parametrize("channels", [1, 3])
def test_png_keeps_every_pixel(channels: int) -> None:
    pixels = PIXELS[..., :channels]
    image = tt.tensor(pixels).permute(2, 0, 1)
    encoded = images.encode_png(image, 6)
    assert encoded.dtype is tt.uint8 and encoded[1:4].tolist() == list(b"PNG")
    assert (as_rows(images.decode_image(encoded, UNCHANGED)) == pixels).all()
    for level in (0, 9):
        assert (as_rows(images.decode_png(images.encode_png(image, level), 0)) == pixels).all()


def test_jpeg_is_decoded_as_pillow_decodes_it() -> None:
    smooth = np.add.outer(3 * np.arange(40), 2 * np.arange(30))[..., None] + [0, 5, 9]
    image = tt.tensor(smooth.astype(np.uint8)).permute(2, 0, 1)
    encoded = images.encode_jpeg(image, 90)
    picture = PIL_Image.open(io.BytesIO(bytes(encoded.tolist())))
    assert (as_rows(images.decode_image(encoded, UNCHANGED)) == np.asarray(picture)).all()
    assert abs(as_rows(images.decode_jpeg(encoded, RGB)).astype(int) - smooth).mean() < 3
    gray = as_rows(images.decode_jpeg(encoded, GRAY))[..., 0]
    luminance = smooth @ [0.299, 0.587, 0.114]  # ITU-R BT.601
    assert abs(gray - luminance).mean() < 2


def test_png_is_converted_to_other_modes() -> None:
    encoded = encode(PIXELS, "PNG")
    assert (as_rows(images.decode_png(encoded, UNCHANGED)) == PIXELS).all()
    assert (as_rows(images.decode_png(encoded, RGB)) == PIXELS[..., :3]).all()
    gray = as_rows(images.decode_png(encoded, GRAY_ALPHA))
    # The weights of libpng's manual, which torchvision sets; it rounds down.
    weighted = PIXELS[..., :3] @ [0.2989, 0.587, 0.1141]
    assert (abs(gray[..., 0] - (weighted - 0.5)) <= 0.51).all()
    assert (gray[..., 1] == PIXELS[..., 3]).all()
    opaque = as_rows(images.decode_png(encode(PIXELS[..., :3], "PNG"), RGB_ALPHA))
    assert (opaque[..., 3] == 255).all() and (opaque[..., :3] == PIXELS[..., :3]).all()


def test_png_of_sixteen_bits_is_uint16() -> None:
    deep = PIXELS[..., 0].astype(np.uint16) * 257
    encoded = encode(deep, "PNG")
    found = images.decode_png(encoded, UNCHANGED)
    assert found.dtype is tt.uint16 and (host(found)[0] == deep).all()
    with_alpha = host(images.decode_image(encoded, RGB_ALPHA))
    assert (with_alpha[:3] == deep).all() and (with_alpha[3] == 65535).all()


def test_gif_has_a_dimension_for_several_frames() -> None:
    frames = [PIL_Image.new("RGB", (4, 3), color) for color in ("red", "blue")]
    file = io.BytesIO()
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    found = host(images.decode_image(tt.tensor(list(file.getvalue()), dtype=tt.uint8), UNCHANGED))
    assert found.shape == (2, 3, 3, 4)
    assert found[:, :, 0, 0].tolist() == [[255, 0, 0], [0, 0, 255]]
    assert images.decode_gif(encode(PIXELS[..., 0], "GIF")).shape == (3, 5, 6)


def test_webp_without_loss_keeps_every_pixel() -> None:
    encoded = encode(PIXELS[..., :3], "WEBP", lossless=True)
    assert (as_rows(images.decode_image(encoded, UNCHANGED)) == PIXELS[..., :3]).all()
    with pytest.warns(UserWarning, match="Webp does not support grayscale conversions"):
        assert images.decode_webp(encoded, GRAY).shape == (3, 5, 6)


def test_an_image_is_turned_as_its_exif_data_say() -> None:
    exif = PIL_Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees clockwise
    encoded = encode(PIXELS[..., :3], "PNG", exif=exif)
    turned = as_rows(images.decode_image(encoded, UNCHANGED, True))
    assert (turned == np.rot90(PIXELS[..., :3], -1)).all()
    assert images.decode_image(encoded, UNCHANGED).shape == (3, 5, 6)


def test_files_are_read_and_written(tmp_path: Path) -> None:
    path = str(tmp_path / "bytes")
    images.write_file(path, tt.tensor([1, 2, 255], dtype=tt.uint8))
    assert (tmp_path / "bytes").read_bytes() == b"\x01\x02\xff"
    assert images.read_file(path).tolist() == [1, 2, 255]
    (tmp_path / "empty").touch()
    for call, text in (
        (lambda: images.read_file(str(tmp_path / "none")), r"\[Errno 2\] No such file"),
        (lambda: images.read_file(str(tmp_path / "empty")), "Expected a non empty file"),
        (lambda: images.write_file(path, tt.ones(2)), "dtype should be uint8"),
        (lambda: images.write_file(path, tt.ones(2, 2).byte()), "1-dimensional tensor"),
        (lambda: images.write_file(str(tmp_path), tt.ones(2).byte()), "Error opening output file"),
    ):
        with pytest.raises(RuntimeError, match=text):
            call()


def test_what_is_no_image_is_refused() -> None:
    png, jpeg = encode(PIXELS[..., :3], "PNG"), encode(PIXELS[..., :3], "JPEG")
    for call, text in (
        (lambda: images.decode_png(jpeg, 0), "Content is not png!"),
        (lambda: images.decode_jpeg(png, 0), "Not a JPEG file: starts with 0x89 0x50"),
        (lambda: images.decode_webp(png, 0), "WebPGetFeatures failed"),
        (lambda: images.decode_gif(png), "DGifOpenFileName"),
        (lambda: images.decode_image(encode(PIXELS, "TIFF"), 0), "Unsupported image file"),
        (lambda: images.decode_image(png[:60], 0), "incomplete or truncated"),
        (lambda: images.decode_jpeg(jpeg[: len(jpeg) // 2], 0), "incomplete or truncated"),
        (lambda: images.decode_jpeg(jpeg, GRAY_ALPHA), "mode is not supported for JPEG files"),
        (lambda: images.decode_png(png, 9), "mode is not supported for PNG files"),
        (lambda: images.decode_png(png.float(), 0), "uint8 data type, got float"),
        (lambda: images.decode_png(png[None], 0), "1-dimensional and non-empty, got 2 dims"),
        (lambda: images.decode_image(png.float(), 0), "Expected a torch.uint8 tensor"),
        (lambda: images.decode_image(png[:0], 0), "Expected a non empty 1-dimensional"),
        (lambda: images.encode_png(tt.ones(3, 2, 2), 6), "dtype should be uint8"),
        (lambda: images.encode_png(tt.ones(2, 2).byte(), 6), "3-dimensional tensor"),
        (lambda: images.encode_jpeg(tt.ones(2, 2, 2).byte(), 6), "should be 1 or 3, got: 2"),
        (lambda: images.encode_png(tt.ones(3, 2, 2).byte(), 10), "between 0 and 9"),
    ):
        with pytest.raises(RuntimeError, match=text):
            call()


def test_torchvision_on_pytorch_itself_is_left_alone() -> None:
    def has_no_ops() -> bool:
        return False

    for torch, expected in ((tt, True), (SimpleNamespace(Tensor=object), False)):
        module: Any = SimpleNamespace(
            __name__="torchvision.extension", torch=torch, _has_ops=has_no_ops
        )
        torchvision.register(module)
        assert module._has_ops() is expected
