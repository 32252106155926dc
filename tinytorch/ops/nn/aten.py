"""Samplers, layers and losses with the signatures of PyTorch's top level, such as ``batch_norm``.

They compute what the functions of the same names in ``nn.functional`` compute. Arguments are in
another order, most are required, and modes and reductions are numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor, wrap
from ...dispatch.op import Shape, composite
from ...dispatch.out import scalar_name
from ...graph.views import check_inplace
from ...state import grad_enabled
from . import batch_normalization, loss, margin_loss, normalization
from . import ctc_loss as ctc
from . import dropout as dropouts
from . import embedding as tables
from .embedding import _bag_sums, _check_padding_idx, _split_bags, bag_max_indices
from .grid import affine_grid, affine_grid_without_warnings, grid_sample
from .loss import reduce_loss
from .normalization import mean_and_scale, single

_INTERPOLATIONS = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


@composite(like=grid_sample)
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """``nn.functional.grid_sample`` with numbers for the modes.

    Args:
        interpolation_mode: 0 for bilinear, 1 for nearest, 2 for bicubic.
        padding_mode: 0 for zeros, 1 for the border, 2 for reflection.
        align_corners: Whether -1 and 1 are the centers of the corner pixels, not their edges.

    Raises:
        ValueError: For another number of a mode.

    Example:
        >>> tt.grid_sampler(tt.ones(1, 1, 2, 2), tt.zeros(1, 1, 1, 2), 0, 0, False)
        tensor([[[[1.]]]])
    """
    for value, known in ((interpolation_mode, _INTERPOLATIONS), (padding_mode, _PADDINGS)):
        if value not in range(3):
            raise ValueError(f"grid_sampler: expected a mode of 0 to 2 ({known}), got {value}")
    modes = _INTERPOLATIONS[interpolation_mode], _PADDINGS[padding_mode]
    return grid_sample(input, grid, *modes, align_corners)


@composite(like=grid_sampler)
def grid_sampler_2d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """``grid_sampler`` of images.

    Example:
        >>> tt.grid_sampler_2d(tt.ones(1, 1, 2, 2), tt.zeros(1, 1, 1, 2), 0, 0, False)
        tensor([[[[1.]]]])
    """
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


@composite(like=grid_sampler)
def grid_sampler_3d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """``grid_sampler`` of volumes.

    Example:
        >>> tt.grid_sampler_3d(tt.ones(1, 1, 2, 2, 2), tt.zeros(1, 1, 1, 1, 3), 0, 0, False)
        tensor([[[[[1.]]]]])
    """
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


@composite(like=affine_grid)
def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """``nn.functional.affine_grid`` with a required ``align_corners``.

    Args:
        align_corners: The argument that ``grid_sampler`` gets.

    Example:
        >>> tt.affine_grid_generator(tt.eye(2, 3)[None], (1, 1, 1, 2), True)
        tensor([[[[-1.,  0.],
                  [ 1.,  0.]]]])
    """
    return affine_grid_without_warnings(theta, size, align_corners)


# -- normalization ---------------------------------------------------------------------------------


@composite
def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """``nn.functional.batch_norm`` with the weight and the bias first.

    Args:
        input: ``(batch, channels, *)``.
        weight: ``(channels,)`` or None.
        bias: ``(channels,)`` or None.
        running_mean: ``(channels,)`` or None.
        running_var: ``(channels,)`` or None.
        training: Whether to use the batch's statistics.
        momentum: Weight of the batch in the running statistics.
        eps: Added to the variance.
        cudnn_enabled: Accepted for compatibility.

    Example:
        >>> x = tt.tensor([[1.0], [3.0]])
        >>> tt.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False)
        tensor([[-1.0000],
                [ 1.0000]])
    """
    return batch_normalization.batch_norm(
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )


@composite(like=normalization.group_norm)
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    """``nn.functional.group_norm``; ``cudnn_enabled`` is accepted for compatibility.

    Args:
        cudnn_enabled: Accepted for compatibility.

    Example:
        >>> tt.group_norm(tt.tensor([[1.0, 3.0]]), 1, None, None, 0.0, False)
        tensor([[-1.,  1.]])
    """
    return normalization.group_norm(input, num_groups, weight, bias, eps)


@composite(like=normalization.layer_norm)
def layer_norm(
    input: Tensor,
    normalized_shape: Shape,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:
    """``nn.functional.layer_norm``; ``cudnn_enable`` is accepted for compatibility.

    Args:
        cudnn_enable: Accepted for compatibility.

    Example:
        >>> tt.layer_norm(tt.tensor([[1.0, 3.0]]), (2,), None, None, 0.0, False)
        tensor([[-1.,  1.]])
    """
    return normalization.layer_norm(input, normalized_shape, weight, bias, eps)


@composite(like=batch_norm)
def instance_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
    running_var: Tensor | None, use_input_stats: bool, momentum: float, eps: float,
    cudnn_enabled: bool,
) -> Tensor:  # fmt: skip
    """``nn.functional.instance_norm`` with the weight and the bias first; see ``batch_norm``.

    Args:
        use_input_stats: Whether to use each sample's statistics.
        cudnn_enabled: Accepted for compatibility.

    Example:
        >>> x = tt.tensor([[[1.0, 3.0]]])
        >>> tt.instance_norm(x, None, None, None, None, True, 0.1, 0.0, False)
        tensor([[[-1.,  1.]]])
    """
    return batch_normalization.instance_norm(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def _statistics(
    input: Tensor, weight: Tensor | None, dims: Sequence[int], eps: float
) -> tuple[Tensor, Tensor]:
    """Mean and ``1 / sqrt(var + eps)`` over ``dims``, which keep size 1, in the weight's dtype."""
    mean, scale = mean_and_scale(single(input)[0], tuple(dims), eps)
    if not input.numel():
        mean = mean.nan_to_num(0.0)  # as in PyTorch; the variance is NaN
    like = input if weight is None else weight
    if mean._data.dtype is like._data.dtype:
        return mean, scale
    return mean.to(like.dtype), scale.to(like.dtype)


@composite(like=batch_norm)
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """``batch_norm``, with the batch's mean and ``1 / sqrt(var + eps)``, ``(channels,)`` each.

    Outside training these have no elements. Gradients flow through the first result only.

    Example:
        >>> x = tt.tensor([[1.0], [3.0]])
        >>> tt.native_batch_norm(x, None, None, None, None, True, 0.1, 3.0)[1:]
        (tensor([2.]), tensor([0.5000]))
    """
    out = batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)
    like = running_mean if weight is None else weight
    if not training and running_mean is not None:
        return out, running_mean.new_empty((0,)), running_mean.new_empty((0,))
    mean, scale = _statistics(input.detach(), like, [d for d in range(input.ndim) if d != 1], eps)
    return out, mean.flatten(), scale.flatten()


@composite(like=layer_norm)
def native_layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """``layer_norm``, with the mean and ``1 / sqrt(var + eps)``.

    These have size 1 in the normalized dimensions. Gradients flow through the first result only.

    Example:
        >>> tt.native_layer_norm(tt.tensor([[1.0, 3.0]]), (2,), None, None, 0.0)
        (tensor([[-1.,  1.]]), tensor([[2.]]), tensor([[1.]]))
    """
    shape = tuple(normalized_shape)
    out = normalization.layer_norm(input, shape, weight, bias, eps)
    return out, *_statistics(input.detach(), weight, range(-len(shape), 0), eps)


@composite(like=batch_norm)
def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """``group_norm``, with the mean and ``1 / sqrt(var + eps)`` of each group, ``(N, group)``.

    Args:
        input: ``(N, C, *)``.
        N: The batch size.
        C: The number of channels.
        HxW: The number of elements of an image.
        group: The number of groups.

    Raises:
        RuntimeError: If the sizes are not the input's.

    Example:
        >>> tt.native_group_norm(tt.tensor([[[1.0, 3.0]]]), None, None, 1, 1, 2, 1, 0.0)[1:]
        (tensor([[2.]]), tensor([[1.]]))
    """
    if input.numel() != N * C * HxW or input.numel() and tuple(input.shape[:2]) != (N, C):
        raise RuntimeError(
            f"native_group_norm: Expected X.numel() == N * C * HxW, got shape {list(input.shape)} "
            f"for N={N}, C={C} and HxW={HxW}"
        )
    x = input if input.numel() else input.reshape(N, C, HxW)  # its shape may be another one
    out = normalization.group_norm(x, group, weight, bias, eps).reshape(input.shape)
    mean, scale = _statistics(x.reshape(N, group, C // group * HxW), weight, (2,), eps)
    return out, mean.squeeze(2), scale.squeeze(2)


# -- dropout and random slopes ---------------------------------------------------------------------


@composite(like=dropouts.dropout)
def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """``dropout``, with the bool mask of the elements that are not dropped.

    Args:
        train: Whether elements are dropped; None is the same as True.

    Example:
        >>> tt.native_dropout(tt.ones(2), 0.5, False)
        (tensor([1., 1.]), tensor([True, True]))
    """
    if train is False or not input.numel():
        return input, input.new_ones(tuple(input.shape), dtype=dtypes.bool)
    dropouts.check_probability(p)
    mask = input.new_empty(tuple(input.shape), dtype=dtypes.bool).bernoulli_(1 - p)
    return input * mask * (0.0 if p == 1 else 1 / (1 - p)), mask


@composite(like=dropouts.dropout)
def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """``dropout`` written over ``input``.

    Args:
        train: Whether elements are dropped; else ``input`` is returned unchanged.

    Example:
        >>> tt.dropout_(tt.ones(2), 1.0, True)
        tensor([0., 0.])
    """
    return dropouts.dropout(input, p, train, True)


@composite(like=dropouts.alpha_dropout)
def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """``alpha_dropout`` written over ``input``.

    Args:
        train: Whether elements are dropped; else ``input`` is returned unchanged.

    Example:
        >>> tt.alpha_dropout_(tt.ones(2), 0.5, False)
        tensor([1., 1.])
    """
    return dropouts.alpha_dropout(input, p, train, True)


@composite(like=dropouts.feature_dropout)
def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """``feature_dropout`` written over ``input``.

    Args:
        train: Whether elements are dropped; else ``input`` is returned unchanged.

    Example:
        >>> tt.feature_dropout_(tt.ones(1, 2, 1), 1.0, True).sum()
        tensor(0.)
    """
    return dropouts.drop("feature_dropout", input, p, train, True, features=True)


@composite(like=dropouts.feature_alpha_dropout)
def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """``feature_alpha_dropout`` written over ``input``.

    Args:
        train: Whether elements are dropped; else ``input`` is returned unchanged.

    Example:
        >>> tt.feature_alpha_dropout_(tt.ones(1, 2, 1), 0.5, False).sum()
        tensor(2.)
    """
    return dropouts.feature_alpha_dropout(input, p, train, True)


@composite(namespaces=("", "nn.functional"), like=dropouts.rrelu)
def rrelu_(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> Tensor:
    """``rrelu`` written over ``input``.

    Example:
        >>> tt.rrelu_(tt.tensor([-2.0, 1.0]), 0.5, 0.5)
        tensor([-1.,  1.])
    """
    return dropouts.rrelu(input, lower, upper, training, True)


# -- tables ----------------------------------------------------------------------------------------


@composite(like=tables.embedding)
def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """``nn.functional.embedding`` with the table first.

    Args:
        indices: int32 or int64 tensor of any shape ``(*)``.
        padding_idx: Index of a row that gets no gradient; negative, the default, for none.

    Example:
        >>> tt.embedding(tt.tensor([[1.0, 2.0], [3.0, 4.0]]), tt.tensor([1]))
        tensor([[3., 4.]])
    """
    padding = padding_idx if padding_idx >= 0 else None
    return tables.embedding(
        indices, weight, padding, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse
    )


@composite
def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Scale the rows of a table at ``indices`` down to a norm, in place.

    Args:
        input: The table, ``(num_embeddings, embedding_dim)``.
        indices: Integer tensor of any shape.
        max_norm: Rows with a larger norm are scaled down to it.
        norm_type: Order of that norm.

    Returns:
        ``input``.

    Raises:
        RuntimeError: If ``input`` requires grad and gradients are enabled.

    Example:
        >>> tt.embedding_renorm_(tt.tensor([[3.0, 4.0], [6.0, 8.0]]), tt.tensor([0]), 1.0, 2.0)
        tensor([[0.6000, 0.8000],
                [6.0000, 8.0000]])
    """
    if grad_enabled() and input.requires_grad:
        check_inplace(input)
        raise RuntimeError("the derivative for 'embedding_renorm_' is not implemented")
    tables.renormalize(indices, input, max_norm, norm_type)
    return input


# -- gradients -------------------------------------------------------------------------------------


def _check_grad_output(
    name: str, grad_output: Tensor, output: Tensor, input_dtype: dtypes.dtype
) -> None:
    """Raise RuntimeError unless ``grad_output`` has the shape and dtype of ``output``.

    The dtype must be ``input_dtype``, too. ``name`` is the function's name, for errors.
    """
    for dtype in (output.dtype, dtypes.as_dtype(input_dtype)):
        if dtype is not grad_output.dtype:
            raise RuntimeError(
                f"expected scalar type {scalar_name(grad_output.dtype)} but found "
                f"{scalar_name(dtype)}"
            )
    if grad_output.shape != output.shape:
        raise RuntimeError(
            "Expected tensor for argument #1 'grad' to have same size as tensor for argument #2 "
            f"'output'; but {list(grad_output.shape)} does not equal {list(output.shape)} "
            f"(while checking arguments for {name})"
        )


@composite(public=True)
def _softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtypes.dtype
) -> Tensor:
    """Gradient of the input of ``softmax``, for custom autograd functions.

    Args:
        grad_output: The gradient of the output.
        output: The result of ``softmax``, of the same shape and dtype.
        dim: The dimension along which it sums to 1.
        input_dtype: The dtype of the input, which must be the same, too.

    Returns:
        Tensor of the same shape.

    Raises:
        RuntimeError: If shapes or dtypes differ.

    Example:
        >>> probs = tt.tensor([0.25, 0.75])
        >>> tt._softmax_backward_data(tt.tensor([1.0, 0.0]), probs, 0, tt.float32)
        tensor([ 0.1875, -0.1875])
    """
    _check_grad_output("softmax_backward", grad_output, output, input_dtype)
    if input_dtype in (dtypes.float16, dtypes.bfloat16):
        out = _softmax_backward_data(grad_output.float(), output.float(), dim, dtypes.float32)
        return out.to(input_dtype)
    product = grad_output * output
    return product - output * product.sum(dim, keepdim=True)


@composite(public=True, like=_softmax_backward_data)
def _log_softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtypes.dtype
) -> Tensor:
    """Gradient of the input of ``log_softmax``, for custom autograd functions.

    Example:
        >>> logs = tt.tensor([0.25, 0.75]).log()
        >>> tt._log_softmax_backward_data(tt.tensor([1.0, 0.0]), logs, 0, tt.float32)
        tensor([ 0.7500, -0.7500])
    """
    _check_grad_output("log_softmax_backward", grad_output, output, input_dtype)
    if input_dtype in (dtypes.float16, dtypes.bfloat16):
        out = _log_softmax_backward_data(grad_output.float(), output.float(), dim, dtypes.float32)
        return out.to(input_dtype)
    return grad_output - output.exp() * grad_output.sum(dim, keepdim=True)


_REDUCTIONS = ("none", "mean", "sum")


def _reduction_name(name: str, reduction: int) -> str:
    """Name in ``nn.functional`` of a reduction given as a number: 0 is none, 1 mean, 2 sum.

    ``name`` is the function, for errors.
    """
    if isinstance(reduction, bool) or not isinstance(reduction, int):
        kind = type(reduction).__name__
        raise TypeError(f"{name}(): argument 'reduction' must be int, not {kind}")
    if reduction not in range(3):
        raise ValueError(f"{name}: {reduction} is not a valid value for reduction, 0 to 2 are")
    return _REDUCTIONS[reduction]


@composite(like=margin_loss.margin_ranking_loss)
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """``nn.functional.margin_ranking_loss`` with a number for the reduction.

    Args:
        reduction: 0 for the loss of each element, 1 (default) for their mean, 2 for their sum.

    Example:
        >>> tt.margin_ranking_loss(tt.tensor([1.0]), tt.tensor([3.0]), tt.tensor([1.0]), 0.5, 2)
        tensor(2.5000)
    """
    reduction_name = _reduction_name("margin_ranking_loss", reduction)
    return margin_loss.margin_ranking_loss(input1, input2, target, margin, reduction=reduction_name)


@composite(like=margin_loss.hinge_embedding_loss)
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 1
) -> Tensor:
    """``nn.functional.hinge_embedding_loss`` with a number for the reduction.

    Args:
        reduction: 0 for the loss of each element, 1 (default) for their mean, 2 for their sum.

    Example:
        >>> tt.hinge_embedding_loss(tt.tensor([0.5, 0.25]), tt.tensor([1.0, -1.0]), 1.0, 0)
        tensor([0.5000, 0.7500])
    """
    reduction_name = _reduction_name("hinge_embedding_loss", reduction)
    return margin_loss.hinge_embedding_loss(input, target, margin, reduction=reduction_name)


@composite(like=margin_loss.cosine_embedding_loss)
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """``nn.functional.cosine_embedding_loss`` with a number for the reduction.

    Args:
        reduction: 0 for the loss of each element, 1 (default) for their mean, 2 for their sum.

    Example:
        >>> x, y = tt.tensor([[1.0, 0.0]]), tt.tensor([[0.0, 1.0]])
        >>> tt.cosine_embedding_loss(x, y, tt.tensor([1.0]), 0.0, 2)
        tensor(1.)
    """
    reduction_name = _reduction_name("cosine_embedding_loss", reduction)
    return margin_loss.cosine_embedding_loss(
        input1, input2, target, margin, reduction=reduction_name
    )


@composite(like=margin_loss.triplet_margin_loss)
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 1,
) -> Tensor:
    """``nn.functional.triplet_margin_loss`` with a number for the reduction.

    Args:
        reduction: 0 for the loss of each element, 1 (default) for their mean, 2 for their sum.

    Example:
        >>> x = tt.tensor([[1.0, 0.0]])
        >>> tt.triplet_margin_loss(x, x, x, 1.0, reduction=0)
        tensor([1.])
    """
    reduction_name = _reduction_name("triplet_margin_loss", reduction)
    return margin_loss.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, reduction=reduction_name
    )


@composite(like=ctc.ctc_loss)
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Tensor:
    """``nn.functional.ctc_loss`` with a number for the reduction.

    Args:
        reduction: 0 for the loss of each element, 1 (default) for their mean, 2 for their sum.

    Example:
        >>> x = tt.full((2, 1, 2), 0.5).log()
        >>> tt.ctc_loss(x, tt.tensor([[1]]), (2,), (1,), 0, 2)
        tensor(0.2877)
    """
    reduction_name = _reduction_name("ctc_loss", reduction)
    return ctc.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, reduction_name, zero_infinity
    )


@composite(like=loss.binary_cross_entropy_with_logits)
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = 1,
) -> Tensor:
    """``nn.functional.binary_cross_entropy_with_logits`` with a number for the reduction.

    Args:
        reduction: 0 for the loss of each element, 1 (default) for their mean, 2 for their sum.

    Example:
        >>> x, y = tt.tensor([0.0, 2.0]), tt.tensor([0.0, 1.0])
        >>> tt.binary_cross_entropy_with_logits(x, y)
        tensor(0.4100)
    """
    reduction_name = _reduction_name("binary_cross_entropy_with_logits", reduction)
    return loss.binary_cross_entropy_with_logits(
        input, target, weight, reduction=reduction_name, pos_weight=pos_weight
    )


@composite(like=loss.kl_div)
def kl_div(
    input: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False
) -> Tensor:
    """``nn.functional.kl_div`` with a number for the reduction; the mean is of all elements.

    Args:
        reduction: 0 for the loss of each element, 1 (default) for their mean, 2 for their sum.

    Example:
        >>> x, y = tt.tensor([[0.5, 0.5]]).log(), tt.tensor([[0.25, 0.75]])
        >>> tt.kl_div(x, y, 2)
        tensor(0.1308)
    """
    reduction_name = _reduction_name("kl_div", reduction)
    each = loss.kl_div(input, target, reduction="none", log_target=log_target)
    return reduce_loss(each, reduction_name)


@composite(like=loss.poisson_nll_loss)
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    """``nn.functional.poisson_nll_loss`` with all arguments, and a number for the reduction.

    Args:
        reduction: 0 for the loss of each element, 1 for their mean, 2 for their sum.

    Example:
        >>> x, y = tt.tensor([0.0, 1.0]), tt.tensor([1.0, 2.0])
        >>> tt.poisson_nll_loss(x, y, True, False, 1e-8, 1)
        tensor(0.8591)
    """
    reduction_name = _reduction_name("poisson_nll_loss", reduction)
    return loss.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=reduction_name)


_MODES = ("sum", "mean", "max")


@composite(like=tables.embedding_bag)
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """``nn.functional.embedding_bag`` with the table first, and further results about the bags.

    Args:
        indices: Integer tensor, ``(n,)``.
        offsets: ``(bags,)``: the start of each bag.
        mode: 0 for sums (default), 1 for means, 2 for maxima.
        per_sample_weights: Factors, ``(n,)``, for sums only.

    Returns:
        Four tensors: the bags, ``(bags, embedding_dim)``; the bag of each index, ``(n,)``; the
        number of indices in each bag, ``(bags,)``; and the index of each maximum,
        ``(bags, embedding_dim)``. As in PyTorch, the last two are zeros for sums, and the last is
        the third again for means.

    Raises:
        RuntimeError: For another mode.
        ValueError: If arguments do not fit together.

    Example:
        >>> table = tt.tensor([[1.0, 2.0], [3.0, 6.0]])
        >>> tt.embedding_bag(table, tt.tensor([0, 1, 1]), tt.tensor([0, 2]), mode=1)[0]
        tensor([[2., 4.],
                [3., 6.]])
    """
    if mode not in (0, 1, 2):
        raise RuntimeError(f"embedding_bag: expected mode to be 0, 1 or 2, got {mode}")
    out = tables.embedding_bag(
        indices, weight, offsets, None, 2, scale_grad_by_freq, _MODES[mode], sparse,
        per_sample_weights, include_last_offset, padding_idx,
    )  # fmt: skip
    many: Any = indices
    flat, bags, count = _split_bags(many, offsets, include_last_offset)
    bag_of_index: Any = wrap(bags, many._xp)
    padding = _check_padding_idx(padding_idx, weight.shape[0])
    valid: Any = flat == flat if padding is None else flat != padding
    sizes: Any = _bag_sums(valid.to(dtypes.int64), bag_of_index, count)
    if mode == 0:
        sizes = sizes * 0
    maxima = bag_max_indices(weight, flat, bags, valid, count) if mode == 2 else sizes.clone()
    return out, *(t.to(indices.dtype) for t in (bag_of_index, sizes, maxima))
