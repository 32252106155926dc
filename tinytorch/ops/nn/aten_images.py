"""Samplers of images in the forms that PyTorch's ``nn.functional`` calls at the top level."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.tensor import Tensor
from ...dispatch.op import composite
from .grid import affine_places, grid_sample

_INTERPOLATIONS = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


@composite(method=False)
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """``nn.functional.grid_sample`` with numbers for the modes.

    Args:
        input: ``(batch, channels, *image)``.
        grid: ``(batch, *places, dimensions)``.
        interpolation_mode: 0 for bilinear, 1 for nearest, 2 for bicubic.
        padding_mode: 0 for zeros, 1 for the border, 2 for reflection.
        align_corners: Whether -1 and 1 are the centers of the pixels at the corners.

    Raises:
        ValueError: For another number of a mode.

    Example:
        >>> import tinytorch as tt
        >>> tt.grid_sampler(tt.ones(1, 1, 2, 2), tt.zeros(1, 1, 1, 2), 0, 0, False)
        tensor([[[[1.]]]])
    """
    for value, known in ((interpolation_mode, _INTERPOLATIONS), (padding_mode, _PADDINGS)):
        if value not in range(3):
            raise ValueError(f"grid_sampler: expected a mode of 0 to 2 ({known}), got {value}")
    modes = _INTERPOLATIONS[interpolation_mode], _PADDINGS[padding_mode]
    return grid_sample(input, grid, *modes, align_corners)


@composite(method=False, like=grid_sampler)
def grid_sampler_2d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """``grid_sampler`` of images.

    Example:
        >>> import tinytorch as tt
        >>> tt.grid_sampler_2d(tt.ones(1, 1, 2, 2), tt.zeros(1, 1, 1, 2), 0, 0, False)
        tensor([[[[1.]]]])
    """
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


@composite(method=False, like=grid_sampler)
def grid_sampler_3d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """``grid_sampler`` of volumes.

    Example:
        >>> import tinytorch as tt
        >>> tt.grid_sampler_3d(tt.ones(1, 1, 2, 2, 2), tt.zeros(1, 1, 1, 1, 3), 0, 0, False)
        tensor([[[[[1.]]]]])
    """
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


@composite(method=False)
def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """``nn.functional.affine_grid``, told about the corners.

    Args:
        theta: ``(batch, 2, 3)`` for images, ``(batch, 3, 4)`` for volumes.
        size: ``(batch, channels, *image)`` of the result that is wanted.
        align_corners: As it will be given to ``grid_sampler``.

    Example:
        >>> import tinytorch as tt
        >>> tt.affine_grid_generator(tt.eye(2, 3)[None], (1, 1, 1, 2), True)
        tensor([[[[-1.,  0.],
                  [ 1.,  0.]]]])
    """
    return affine_places(theta, size, align_corners)
