"""Max poolings that always tell where their elements came from."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import composite
from . import adaptive_pooling, pooling, unpooling
from .pooling import Size

_F = ("nn.functional",)


@composite(namespaces=("", *_F), like=pooling.max_pool1d)
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """``max_pool1d`` with ``return_indices=True``, whatever that says here.

    Args:
        return_indices: Accepted for compatibility: they are returned anyway.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.max_pool1d_with_indices(tt.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
        (tensor([[3., 2.]]), tensor([[1, 2]]))
    """
    given = (input, kernel_size, stride or None, padding, dilation, ceil_mode)
    return pooling.max_pool1d(*given, True)  # type: ignore[no-any-return]


@composite(namespaces=_F, like=pooling.max_pool2d)
def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """``max_pool2d`` with ``return_indices=True``, whatever that says here.

    Args:
        return_indices: Accepted for compatibility: they are returned anyway.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.max_pool2d_with_indices(tt.tensor([[[1.0, 3.0], [2.0, 0.0]]]), 2)
        (tensor([[[3.]]]), tensor([[[1]]]))
    """
    given = (input, kernel_size, stride or None, padding, dilation, ceil_mode)
    return pooling.max_pool2d(*given, True)  # type: ignore[no-any-return]


@composite(namespaces=_F, like=pooling.max_pool3d)
def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """``max_pool3d`` with ``return_indices=True``, whatever that says here.

    Args:
        return_indices: Accepted for compatibility: they are returned anyway.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.max_pool3d_with_indices(tt.ones(1, 2, 2, 2), 2)[1].shape
        tinytorch.Size([1, 1, 1, 1])
    """
    given = (input, kernel_size, stride or None, padding, dilation, ceil_mode)
    return pooling.max_pool3d(*given, True)  # type: ignore[no-any-return]


@composite(like=adaptive_pooling.adaptive_max_pool1d)
def adaptive_max_pool1d(input: Tensor, output_size: Size) -> tuple[Tensor, Tensor]:
    """``nn.functional.adaptive_max_pool1d`` with the indices, which are always returned here.

    Example:
        >>> import tinytorch as tt
        >>> tt.adaptive_max_pool1d(tt.tensor([[1.0, 2.0, 4.0]]), 2)
        (tensor([[2., 4.]]), tensor([[1, 2]]))
    """
    return adaptive_pooling.adaptive_max_pool1d(  # type: ignore[no-any-return]
        input, output_size, True
    )


@composite(namespaces=_F, like=adaptive_pooling.adaptive_max_pool1d)
def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Size, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """``adaptive_max_pool1d`` with ``return_indices=True``, whatever that says here.

    Args:
        return_indices: Accepted for compatibility: they are returned anyway.

    Example:
        >>> import tinytorch as tt
        >>> F = tt.nn.functional
        >>> F.adaptive_max_pool1d_with_indices(tt.tensor([[1.0, 2.0, 4.0]]), 2)
        (tensor([[2., 4.]]), tensor([[1, 2]]))
    """
    return adaptive_max_pool1d(input, output_size)


@composite(namespaces=_F, like=adaptive_pooling.adaptive_max_pool2d)
def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """``adaptive_max_pool2d`` with ``return_indices=True``, whatever that says here.

    Args:
        return_indices: Accepted for compatibility: they are returned anyway.

    Example:
        >>> import tinytorch as tt
        >>> F = tt.nn.functional
        >>> F.adaptive_max_pool2d_with_indices(tt.tensor([[[1.0, 3.0], [2.0, 0.0]]]), 1)
        (tensor([[[3.]]]), tensor([[[1]]]))
    """
    return adaptive_pooling.adaptive_max_pool2d(  # type: ignore[no-any-return]
        input, output_size, True
    )


@composite(namespaces=_F, like=adaptive_pooling.adaptive_max_pool3d)
def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """``adaptive_max_pool3d`` with ``return_indices=True``, whatever that says here.

    Args:
        return_indices: Accepted for compatibility: they are returned anyway.

    Example:
        >>> import tinytorch as tt
        >>> F = tt.nn.functional
        >>> F.adaptive_max_pool3d_with_indices(tt.ones(1, 2, 2, 2), 1)[1].shape
        tinytorch.Size([1, 1, 1, 1])
    """
    return adaptive_pooling.adaptive_max_pool3d(  # type: ignore[no-any-return]
        input, output_size, True
    )


@composite(namespaces=_F, like=unpooling.fractional_max_pool2d)
def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Size,
    output_size: Size | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """``fractional_max_pool2d`` with ``return_indices=True``, whatever that says here.

    Args:
        return_indices: Accepted for compatibility: they are returned anyway.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.arange(16.0).reshape(1, 4, 4)
        >>> tt.nn.functional.fractional_max_pool2d_with_indices(x, 2, output_size=1)
        (tensor([[[15.]]]), tensor([[[15]]]))
    """
    return unpooling.fractional_max_pool2d(  # type: ignore[no-any-return]
        input, kernel_size, output_size, output_ratio, True, _random_samples
    )


@composite(namespaces=_F, like=unpooling.fractional_max_pool3d)
def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Size,
    output_size: Size | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """``fractional_max_pool3d`` with ``return_indices=True``, whatever that says here.

    Args:
        return_indices: Accepted for compatibility: they are returned anyway.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.arange(8.0).reshape(1, 2, 2, 2)
        >>> tt.nn.functional.fractional_max_pool3d_with_indices(x, 2, output_size=1)
        (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return unpooling.fractional_max_pool3d(  # type: ignore[no-any-return]
        input, kernel_size, output_size, output_ratio, True, _random_samples
    )
