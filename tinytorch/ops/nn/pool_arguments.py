"""What the poolings share: their arguments, checked and as windows along each dimension."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.out import scalar_name
from ..checks import integer_each
from .sliding_windows import Slide

#: An int for every dimension, or an int for each.
Size = int | Sequence[int]

#: The signatures of a pooling that can tell where its elements came from.
WITH_INDICES = (
    "(..., return_indices: Literal[False] = False) -> Tensor",
    "(..., return_indices: Literal[True]) -> tuple[Tensor, Tensor]",
)

#: An argument as one int per pooled dimension.
per_dimension: partial[tuple[int, ...]] = partial(
    integer_each,
    "{name}: {argument} must either be a single int, or a tuple of {words} (it should contain "
    "{words}), got {given}",
)


def check_input(name: str, input: Any, spatial: int) -> None:
    """Error unless ``input`` is a batch of images, or one, with nothing empty but the batch."""
    if not isinstance(input, Tensor):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    low = spatial + 1
    shape = tuple(input.shape)
    if spatial > 1 and len(shape) not in (low, low + 1):
        raise RuntimeError(
            f"{name}: non-empty {low}D or {low + 1}D (batch mode) tensor expected for input, but "
            f"got:{list(shape)}"
        )
    if len(shape) not in (low, low + 1) or 0 in shape[-low:]:
        raise RuntimeError(
            f"{name}: Expected {low}D or {low + 1}D (batch mode) tensor with optional 0 dim batch "
            f"size for input (input's non-batch dimensions to have positive length), but "
            f"got:{list(shape)}"
        )


def check_numbers(name: str, input: Tensor, refused: str) -> None:
    """NotImplementedError for a dtype whose kind is one of ``refused``."""
    if input._data.dtype.kind in refused:
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_name(input.dtype)}'")


def slides(
    name: str,
    input: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    spatial: int,
) -> list[Slide]:
    """The windows along each of the last ``spatial`` dimensions.

    Raises:
        RuntimeError: For numbers out of range, or if there is not one window.
    """
    kernel = per_dimension(name, "kernel_size", kernel_size, spatial)
    unsaid = stride is None or (isinstance(stride, (tuple, list)) and not stride)
    steps = kernel if unsaid else per_dimension(name, "stride", stride, spatial)
    pads = per_dimension(name, "padding", padding, spatial)
    gaps = per_dimension(name, "dilation", dilation, spatial)
    _check_positive(name, kernel_size=kernel, stride=steps, dilation=gaps)
    sizes = tuple(input.shape[-spatial:])
    found = []
    for i, (n, k, s, p, d) in enumerate(zip(sizes, kernel, steps, pads, gaps, strict=True)):
        _check_padding(name, p, k, d)
        found.append(Slide(i - spatial, k, s, p, d, windows(n, k, s, p, d, ceil_mode)))
    if any(slide.size < 1 for slide in found):
        planes = input.shape[-spatial - 1]
        given = "x".join(map(str, (planes, *sizes)))
        computed = "x".join(map(str, (planes, *(max(s.size, 0) for s in found))))
        raise RuntimeError(
            f"{name}: Given input size: ({given}). Calculated output size: ({computed}). Output "
            f"size is too small (Invalid computed output size: {min(s.size for s in found)})"
        )
    return found


def windows(length: int, kernel: int, stride: int, padding: int, dilation: int, ceil: bool) -> int:
    """How many windows fit; with ``ceil``, the last may reach over the end but not start there."""
    room = length + 2 * padding - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil else 0)) // stride + 1
    if ceil and (count - 1) * stride >= length + padding:
        count -= 1
    return count


def _check_positive(name: str, **given: tuple[int, ...]) -> None:
    for argument, values in given.items():
        if min(values) <= 0:
            zero = f" ({argument} should not be zero)" if argument == "stride" else ""
            raise RuntimeError(
                f"{name}: {argument} must be greater than zero, but got {min(values)}{zero}"
            )


def _check_padding(name: str, padding: int, kernel: int, dilation: int) -> None:
    if padding < 0:
        raise RuntimeError(f"{name}: pad must be non-negative, but got pad: {padding}")
    if padding > ((kernel - 1) * dilation + 1) // 2:
        raise RuntimeError(
            f"{name}: pad should be at most half of effective kernel size, but got pad={padding}, "
            f"kernel_size={kernel} and dilation={dilation}"
        )
