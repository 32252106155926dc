"""Interpolation: layers that resize sequences, images and volumes."""

from __future__ import annotations

from ..core.tensor import Tensor
from . import functional as F
from .common_types import Sizes
from .module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]

Factors = float | tuple[float, ...]


class Upsample(Module):
    """Interpolates a sequence, image or volume to a size, or by a factor.

    Args:
        size: Sizes of the output, or one for all. Default: given by ``scale_factor``.
        scale_factor: Factors of the sizes, or one for all. Default: given by ``size``.
        mode: ``"nearest"``, ``"linear"``, ``"bilinear"``, ``"bicubic"`` or ``"trilinear"``.
            Default: ``"nearest"``.
        align_corners: Whether the centers of the corner elements of input and output are
            aligned, instead of their outer edges. Default: None, which means False.
        recompute_scale_factor: Whether to compute the factor from the sizes of input and output.
            Default: False.

    Example:
        >>> tt.nn.Upsample(scale_factor=2)(tt.tensor([[[1.0, 2.0]]]))
        tensor([[[1., 1., 2., 2.]]])
    """

    name: str
    size: Sizes | None
    scale_factor: Factors | None
    mode: str
    align_corners: bool | None
    recompute_scale_factor: bool | None

    def __init__(
        self,
        size: Sizes | None = None,
        scale_factor: Factors | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Interpolate a tensor of shape ``(batch, channels, *)``."""
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )  # fmt: skip

    def extra_repr(self) -> str:
        name = "size" if self.scale_factor is None else "scale_factor"
        return f"{name}={getattr(self, name)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resizes images by repeating pixels.

    Example:
        >>> tt.nn.UpsamplingNearest2d(scale_factor=2)(tt.tensor([[[[1.0, 2.0]]]]))
        tensor([[[[1., 1., 2., 2.],
                  [1., 1., 2., 2.]]]])
    """

    def __init__(self, size: Sizes | None = None, scale_factor: Factors | None = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Resizes images by bilinear interpolation with aligned corners.

    Example:
        >>> tt.nn.UpsamplingBilinear2d((1, 3))(tt.tensor([[[[1.0, 2.0]]]]))
        tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """

    def __init__(self, size: Sizes | None = None, scale_factor: Factors | None = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
