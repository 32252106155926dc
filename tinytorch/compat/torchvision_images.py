"""Reading and writing of images by Pillow: ``ops.image``, which torchvision's ``io`` calls.

An encoded image is a uint8 tensor of its bytes, and a decoded one is ``(channels, height, width)``
on the CPU.

References:
    https://docs.pytorch.org/vision/stable/io.html
    https://pillow.readthedocs.io/en/stable/handbook/image-file-formats.html
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from .. import dtypes
from ..backends import load
from ..core.tensor import Tensor, wrap
from ..dispatch.out import scalar_name
from ..warnings import warn

#: Pillow's modes for those of ``torchvision.io.ImageReadMode``; 0 leaves an image unchanged.
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
#: First bytes of the formats that ``decode_image`` distinguishes.
_SIGNATURES = {
    b"\xff\xd8\xff": "jpeg", b"\x89PNG": "png", b"GIF87a": "gif", b"GIF89a": "gif",
    b"RIFF": "webp",
}  # fmt: skip
_TRUNCATED = "Image is incomplete or truncated"


def read_file(path: str) -> Tensor:
    """Read the bytes of a file.

    Raises:
        RuntimeError: If the file cannot be read or is empty.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise RuntimeError(str(error)) from error
    if not data:
        raise RuntimeError("Expected a non empty file")
    return _to_tensor(data)


def write_file(filename: str, data: Tensor) -> Tensor:
    """Write the bytes of a uint8 tensor to a file, and return the tensor.

    Raises:
        RuntimeError: For another dtype or several dimensions, or if the file cannot be written.
    """
    if data.dtype is not dtypes.uint8:
        raise RuntimeError("Input tensor dtype should be uint8")
    if data.ndim != 1:
        raise RuntimeError("Input data should be a 1-dimensional tensor")
    try:
        with open(filename, "wb") as file:
            file.write(_to_bytes(data))
    except OSError as error:
        raise RuntimeError(f"Error opening output file: {error}") from error
    return data


# -- decoding ------------------------------------------------------------------------------------


def decode_image(data: Tensor, mode: int, apply_exif_orientation: bool = False) -> Tensor:
    """Decode a JPEG, PNG, WebP or GIF file.

    Args:
        data: The bytes of the file.
        mode: 0 unchanged, 1 gray, 2 gray with alpha, 3 RGB, 4 RGB with alpha; GIF is RGB.
        apply_exif_orientation: Whether to turn a JPEG or PNG image as its EXIF data say.

    Returns:
        ``(channels, height, width)``, with the images of an animation in front; uint8, or uint16
        for 16-bit PNG.

    Raises:
        RuntimeError: If the bytes are no such image.

    Example:
        >>> encoded = tt.ops.image.encode_png(tt.full((3, 2, 2), 7, dtype=tt.uint8), 6)
        >>> tt.ops.image.decode_image(encoded, 0).shape
        tinytorch.Size([3, 2, 2])
    """
    if data.dtype is not dtypes.uint8:
        raise RuntimeError("Expected a torch.uint8 tensor")
    if data.ndim != 1 or not data.numel():
        raise RuntimeError("Expected a non empty 1-dimensional tensor")
    start = _to_bytes(data[:8])
    found = next((name for mark, name in _SIGNATURES.items() if start.startswith(mark)), None)
    match found:
        case "jpeg":
            return decode_jpeg(data, mode, apply_exif_orientation)
        case "png":
            return decode_png(data, mode, apply_exif_orientation)
        case "gif":
            return decode_gif(data)
        case "webp":
            return decode_webp(data, mode)
    raise RuntimeError(
        "Unsupported image file. Only jpeg, png, webp and gif are currently supported. For avif "
        "and heic format, please rely on `decode_avif` and `decode_heic` directly."
    )


def decode_png(data: Tensor, mode: int, apply_exif_orientation: bool = False) -> Tensor:
    """Decode a PNG file; see ``decode_image``. An unchanged palette image has its indices.

    Raises:
        NotImplementedError: For 16 bits and several channels, which Pillow does not read.
    """
    image = _open(data, "PNG", "Content is not png!")
    _check_mode(mode, range(5), "PNG")
    if _to_bytes(data[24:25]) == b"\x10" and not image.mode.startswith("I"):
        raise NotImplementedError("decode_png: Pillow reads 16-bit PNG files of one channel only")
    image = _turn(image) if apply_exif_orientation else image
    if image.mode.startswith("I"):
        return _gray_16(image, mode)
    if image.mode in ("RGB", "RGBA", "P") and mode in (1, 2):
        return _gray(image, mode)
    if image.mode == "1":
        image = image.convert("L")
    return _to_image(image.convert(_MODES[mode]) if mode else image)


def decode_jpeg(data: Tensor, mode: int, apply_exif_orientation: bool = False) -> Tensor:
    """Decode a JPEG file; see ``decode_image``. The modes are unchanged, gray and RGB."""
    start = " ".join(f"0x{byte:02x}" for byte in _to_bytes(data[:2]))
    image = _open(data, "JPEG", f"Not a JPEG file: starts with {start}")
    _check_mode(mode, (0, 1, 3), "JPEG")
    if mode == 1:
        image.draft("L", None)  # decode the luminance alone
    image = _turn(image) if apply_exif_orientation else image
    return _to_image(image.convert(_MODES[mode]) if mode else image)


def decode_webp(encoded_data: Tensor, mode: int) -> Tensor:
    """Decode a WebP file; see ``decode_image``. The modes are unchanged, RGB, RGB with alpha."""
    image = _open(encoded_data, "WEBP", "WebPGetFeatures failed")
    if mode in (1, 2):
        warn(
            "Webp does not support grayscale conversions. The returned tensor will be in the "
            "colorspace of the original image."
        )
    return _to_image(image.convert(_MODES[mode]) if mode in (3, 4) else image)


def decode_gif(data: Tensor) -> Tensor:
    """Decode a GIF file to RGB: ``(3, height, width)``, or ``(n, 3, height, width)``."""
    image = _open(data, "GIF", "DGifOpenFileName() failed - 103")
    frames = []
    for i in range(image.n_frames):
        image.seek(i)
        frames.append(_to_image(image.convert("RGB")))
    if len(frames) == 1:
        return frames[0]
    stacked = load("numpy").library.stack([frame._data for frame in frames])
    return wrap(stacked, load("numpy"))


def _open(data: Tensor, format: str, wrong_format: str) -> Any:
    """Open and load an image by Pillow.

    Args:
        data: The bytes of the file.
        format: Pillow's name of the format.
        wrong_format: The error for a file of another format.

    Raises:
        RuntimeError: If ``data`` are not the bytes of an image in the format.
    """
    if data.dtype is not dtypes.uint8:
        name = scalar_name(data.dtype).lower()
        raise RuntimeError(f"Input tensor must have uint8 data type, got {name}")
    if data.ndim != 1 or not data.numel():
        raise RuntimeError(
            "Input tensor must be 1-dimensional and non-empty, got "
            f"{data.ndim} dims  and {data.numel()} numels."
        )
    pillow = _pillow()
    try:
        return pillow.Image.open(io.BytesIO(_to_bytes(data)), formats=[format])
    except pillow.UnidentifiedImageError as error:
        raise RuntimeError(wrong_format) from error
    except OSError as error:
        raise RuntimeError(f"{_TRUNCATED}: {error}") from error


def _pillow() -> Any:
    """Import Pillow.

    Raises:
        ImportError: Without Pillow.
    """
    try:
        import PIL.Image
    except ImportError as error:
        raise ImportError("images are read and written by Pillow: pip install pillow") from error
    return PIL


def _check_mode(mode: int, supported: Any, format: str) -> None:
    """Raise RuntimeError for a mode that a format does not support."""
    if mode not in supported:
        raise RuntimeError(f"The provided mode is not supported for {format} files")


def _turn(image: Any) -> Any:
    """Turn an image as its EXIF data say."""
    from PIL import ImageOps

    return ImageOps.exif_transpose(image)


def _to_image(image: Any) -> Tensor:
    """Convert a Pillow image to a uint8 tensor ``(channels, height, width)``.

    Raises:
        RuntimeError: If the file of the image ends too early.
    """
    numpy = load("numpy").library
    try:
        pixels = numpy.array(image)
    except OSError as error:
        raise RuntimeError(f"{_TRUNCATED}: {error}") from error
    if image.mode == "CMYK":
        pixels = 255 - pixels  # Pillow inverts them
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    return wrap(pixels.transpose(2, 0, 1), load("numpy"))


def _gray(image: Any, mode: int) -> Tensor:
    """Convert an image to gray, in mode 2 with alpha, by the integers of libpng."""
    numpy = load("numpy").library
    pixels = numpy.array(image.convert("RGBA")).astype("int32")
    gray = (pixels[..., :3] @ numpy.array([9794, 19235, 3739])) >> 15
    channels = numpy.stack([gray, pixels[..., 3]][:mode])
    return wrap(channels.astype("uint8"), load("numpy"))


def _gray_16(image: Any, mode: int) -> Tensor:
    """Convert a 16-bit image of one channel to a uint16 tensor with the channels of ``mode``."""
    numpy = load("numpy").library
    gray = numpy.array(image).astype("uint16")
    opaque = numpy.full_like(gray, 65535)
    channels = [gray] * (3 if mode in (3, 4) else 1) + [opaque] * (mode in (2, 4))
    return wrap(numpy.stack(channels), load("numpy"))


# -- encoding ------------------------------------------------------------------------------------


def encode_png(data: Tensor, compression_level: int) -> Tensor:
    """Encode an image as PNG.

    Args:
        data: uint8, ``(1, height, width)`` or ``(3, height, width)``.
        compression_level: From 0, the fastest, to 9, the smallest.

    Returns:
        The bytes of the file.

    Raises:
        RuntimeError: For another shape, dtype or level.
    """
    if not 0 <= compression_level <= 9:
        raise RuntimeError("Compression level should be between 0 and 9")
    return _encode(data, format="PNG", compress_level=compression_level)


def encode_jpeg(data: Tensor, quality: int) -> Tensor:
    """Encode an image as JPEG.

    Args:
        data: uint8, ``(1, height, width)`` or ``(3, height, width)``.
        quality: From 1, the smallest, to 100, the best.

    Returns:
        The bytes of the file.

    Raises:
        RuntimeError: For another shape or dtype.
    """
    return _encode(data, format="JPEG", quality=quality)


def _encode(data: Tensor, **options: Any) -> Tensor:
    """Encode a uint8 image by Pillow, with options of its ``save``."""
    if data.dtype is not dtypes.uint8:
        raise RuntimeError("Input tensor dtype should be uint8")
    if data.ndim != 3:
        raise RuntimeError("Input data should be a 3-dimensional tensor")
    if data.shape[0] not in (1, 3):
        raise RuntimeError(f"The number of channels should be 1 or 3, got: {data.shape[0]}")
    pixels = data._xp.to_numpy(data._data).transpose(1, 2, 0)
    image = _pillow().Image.fromarray(pixels[..., 0] if data.shape[0] == 1 else pixels.copy())
    file = io.BytesIO()
    image.save(file, **options)
    return _to_tensor(file.getvalue())


def _to_tensor(data: bytes) -> Tensor:
    """uint8 tensor of some bytes."""
    numpy = load("numpy").library
    return wrap(numpy.frombuffer(bytearray(data), "uint8"), load("numpy"))


def _to_bytes(data: Tensor) -> bytes:
    """Bytes of a uint8 tensor."""
    return bytes(data._xp.to_numpy(data._data).tobytes())


#: The operators.
OPERATORS: tuple[Callable[..., Any], ...] = (
    read_file, write_file, decode_image, decode_png, decode_jpeg, decode_webp, decode_gif,
    encode_png, encode_jpeg,
)  # fmt: skip
