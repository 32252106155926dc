"""Negative log-likelihood and cross entropy losses; their kernels have gradients of any order.

Shapes, if nothing else is said: input (N, C, *), target (N, *). The ``ignore_index`` of a kernel is
None if all targets are known to be class indices.
"""

from __future__ import annotations

import math
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.node_recording import keep_versions
from ...dispatch.op import Array, Backend, Index, composite, op, piecewise
from ...dispatch.out import scalar_name
from ...dtypes import float64, int64, uint8
from ...graph.nodes import Node, node_of, shape_and_dtype
from ..checks import as_int, check_supported
from ..pointwise.division import over
from ..shape.joining import cat
from .loss import SPACE, check_scalar_type, mse_loss, reduce_loss, reduction_of, refuse_grad
from .softmax import _softmax, log_softmax

_DOUBLE = float64.dtype
_OUT_OF_BOUNDS = "Target {index} is out of bounds."


def _flat_indices(xp: Backend, shape: tuple[int, ...], classes: Array) -> Array:
    """Index of each ``input[n, classes[n, *], *]`` in the flattened input of shape ``shape``."""
    inner = math.prod(shape[2:]) if len(shape) > 2 else 1
    if inner == 1:
        return classes.reshape(-1) + xp.row_starts[shape[:2]]
    i = xp.arange(shape[0] * inner)
    return (i // inner * shape[1] + classes.reshape(-1)) * inner + i % inner


def _mask_ignored(
    xp: Backend, target: Array, ignore_index: int | None
) -> tuple[Array | None, Array]:
    """Mask of the targets that are not ignored, and the targets with 0 in place of ignored ones.

    The mask is None if ``ignore_index`` is None: then no target is ignored.
    """
    if ignore_index is None:
        return None, target
    valid = target != ignore_index
    return valid, xp.where(valid, target, 0)


def _zero_ignored(xp: Any, valid: Any, values: Any) -> Any:
    """``values`` where the mask ``valid`` is True or None, else 0."""
    return values if valid is None else xp.where(valid, values, 0)


def _check_classes(xp: Backend, input: Array, classes: Array, ignore_index: int | None) -> None:
    """Raise IndexError unless all ``classes`` are numbers of classes of ``input``."""
    if ignore_index is not None:
        xp.check_indices(
            "cross_entropy", classes, input.shape[1], 1, negative=False, text=_OUT_OF_BOUNDS
        )


@op(public=False, node="NllLossBackward0")
def _nll(xp: Backend, input: Array, target: Index, ignore_index: int | None) -> Array:
    """``-input`` at the target classes, 0 where the target is ignored."""
    valid, classes = _mask_ignored(xp, target, ignore_index)
    _check_classes(xp, input, classes, ignore_index)
    picked = xp.take(input.reshape(-1), _flat_indices(xp, input.shape, classes))
    return _zero_ignored(xp, valid, -picked.reshape(target.shape))


@op(public=False)
def _nll_backward(
    xp: Backend, grad: Array, target: Index, ignore_index: int | None, shape: Any
) -> Array:
    """Gradient of ``_nll``: ``-grad`` at the target classes, else 0. ``shape`` is its input's."""
    valid, classes = _mask_ignored(xp, target, ignore_index)
    out = xp.zeros(math.prod(shape), grad.dtype)
    out[_flat_indices(xp, shape, classes)] = _zero_ignored(xp, valid, -grad).reshape(-1)
    return out.reshape(shape)


_nll.vjp(input=piecewise(
    lambda xp, g, target, ignore_index, in_shape: xp.call(
        _nll_backward, g, target, ignore_index, in_shape
    )
))  # fmt: skip
_nll_backward.vjp(grad=lambda xp, g, target, ignore_index: xp.call(_nll, g, target, ignore_index))


def _cross_entropy_node_name(node: Node) -> str:
    """PyTorch's name of the node of a cross entropy, by the dimensions of its input."""
    input_shape, _ = shape_and_dtype(node.edges[0])
    is_image = len(input_shape) > 2
    return "NllLoss2DBackward0" if is_image else "NllLossBackward0"


@op(public=False, node=_cross_entropy_node_name)
def _cross_entropy(xp: Backend, input: Array, target: Index, ignore_index: int | None) -> Array:
    """``-log softmax(input)`` at the target classes, 0 where the target is ignored."""
    fused = None if ignore_index is None else xp.fused("cross_entropy", input, target, ignore_index)
    if fused is not None:
        out, extremes = fused
        xp.check_extremes("cross_entropy", extremes, input.shape[1], 1, _OUT_OF_BOUNDS)
        return out
    if ignore_index is None:
        return _class_losses(xp, input, target)
    valid, classes = _mask_ignored(xp, target, ignore_index)
    _check_classes(xp, input, classes, ignore_index)
    return _zero_ignored(xp, valid, _class_losses(xp, input, classes))


def _class_losses(xp: Backend, input: Array, classes: Array) -> Array:
    """``-log softmax(input)`` at the class of each target, ``(N, *)``."""
    is_moderate = input.dtype.char == "f" and xp.is_moderate(input, 1)
    x = input if is_moderate else input - xp.highest(input, 1)  # so that exp cannot overflow
    if input.ndim > 2:
        losses = xp.sum(xp.exp(x), 1)
        picked = x.reshape(-1)[_flat_indices(xp, input.shape, classes)].reshape(classes.shape)
    else:
        losses = xp.sum_along(xp.exp(x), -1)[:, 0]
        picked = xp.one_of_each_row(x, classes)
    if is_moderate:  # the difference of two large numbers may be small
        losses, picked = losses.astype(_DOUBLE), picked.astype(_DOUBLE)
    xp.log(losses, losses)
    losses -= picked
    return losses.astype(input.dtype) if is_moderate else losses


@op(public=False)
def _cross_entropy_backward(
    xp: Backend, grad: Array, input: Array, target: Index, ignore_index: int | None
) -> Array:
    """``grad * (softmax(input) - one_hot(target))``, 0 where the target is ignored."""
    if ignore_index is not None:
        fused = xp.fused("cross_entropy_backward", grad, input, target, ignore_index)
        if fused is not None:
            return fused
    valid, classes = _mask_ignored(xp, target, ignore_index)
    # Contiguous, so that reshape(-1) is a view.
    out = xp.ascontiguousarray(xp.call(_softmax, input, 1))
    out.reshape(-1)[_flat_indices(xp, input.shape, classes)] -= 1
    out *= _expand_classes(xp, _zero_ignored(xp, valid, grad))
    return out


def _expand_classes(xp: Any, grad: Any) -> Any:
    """``(N, *)`` as ``(N, 1, *)``, which broadcasts with the classes; a 0-d gradient as it is."""
    return xp.expand_dims(grad, 1) if grad.ndim else grad


_cross_entropy.vjp(
    input=lambda xp, g, input, target, ignore_index: xp.call(
        _cross_entropy_backward, g, input, target, ignore_index
    )
)


@op(public=False, node=_cross_entropy_node_name)
def _reduced_cross_entropy(
    xp: Backend, input: Array, target: Index, ignore_index: int | None, mean: bool
) -> Array:
    """Sum of ``_cross_entropy``, or its mean over the targets that are not ignored."""
    if ignore_index is None:
        losses = _class_losses(xp, input, target)
        return xp.mean(losses) if mean else xp.total(losses)
    total = xp.total(_cross_entropy.kernel(xp, input, target, ignore_index))
    return total / xp.sum(target != ignore_index).astype(input.dtype) if mean else total


@op(public=False)
def _reduction_backward(
    xp: Backend, grad: Array, target: Index, ignore_index: int | None, mean: bool
) -> Array:
    """Gradient of each loss, from ``grad``, the 0-d gradient of their sum or mean.

    It is 0-d, too, if no target is ignored.
    """
    if ignore_index is None:
        return grad / target.size if mean else grad
    valid = target != ignore_index
    each = grad / xp.sum(valid).astype(grad.dtype) if mean else grad
    return xp.where(valid, each, 0)


def _reduction_double_backward(
    xp: Any, g: Any, target: Any, ignore_index: int | None, mean: bool
) -> Any:
    """Gradient rule of ``_reduction_backward`` for its argument ``grad``, a 0-d result."""
    if ignore_index is None:
        return g / math.prod(target.shape) if mean else g
    valid = target != ignore_index
    total = xp.sum(xp.where(valid, g, 0))
    return total / xp.sum(valid) if mean else total


_reduction_backward.vjp(grad=_reduction_double_backward)
_reduced_cross_entropy.vjp(
    input=lambda xp, g, input, target, ignore_index, mean: xp.call(
        _cross_entropy_backward,
        xp.call(_reduction_backward, g, target, ignore_index, mean), input, target, ignore_index,
    )
)  # fmt: skip


def _zero_ignored_classes(xp: Any, g: Any, target: Any, ignore_index: int | None) -> Any:
    """``g``, ``(N, C, *)``, with zeros for all classes where the target is ignored."""
    if ignore_index is None:
        return g
    return xp.where(xp.expand_dims(target != ignore_index, 1), g, 0)


def _double_backward_grad(
    xp: Any, g: Any, input: Any, target: Any, ignore_index: int | None
) -> Any:
    """Gradient rule of ``_cross_entropy_backward`` for its argument ``grad``, ``(N, *)``."""
    g_valid = _zero_ignored_classes(xp, g, target, ignore_index)
    mean = xp.sum(g_valid * xp.call(_softmax, input, 1), axis=1)
    return mean + xp.call(_nll, g, target, ignore_index)


def _double_backward_input(
    xp: Any, g: Any, grad: Any, input: Any, target: Any, ignore_index: int | None
) -> Any:
    """Gradient rule of ``_cross_entropy_backward`` for its ``input``, ``(N, C, *)``."""
    p = xp.call(_softmax, input, 1)
    g = _zero_ignored_classes(xp, g, target, ignore_index) * _expand_classes(xp, grad)
    return p * (g - xp.sum(g * p, axis=1, keepdims=True))


_cross_entropy_backward.vjp(grad=_double_backward_grad, input=_double_backward_input)


@op(public=False)
def _target_weights(
    xp: Backend, input: Array, target: Index, weight: Array | None, ignore_index: int
) -> Array:
    """Weight of each target's class, 0 where the target is ignored."""
    if weight is None:
        return (target != ignore_index).astype(input.dtype)
    valid, classes = _mask_ignored(xp, target, ignore_index)
    _check_classes(xp, input, classes, ignore_index)
    return _zero_ignored(xp, valid, weight[classes])


#: NumPy dtypes of class indices.
_INDEX_DTYPES = (int64.dtype, uint8.dtype)


def _reduce_by_weights(loss: Any, weights: Any, reduction: str) -> Tensor:
    """Reduced losses; the mean divides the sum by the sum of the targets' ``weights``."""
    if reduction == "mean":
        return loss.sum() / weights.sum()  # type: ignore[no-any-return]
    return reduce_loss(loss, reduction)


def _rename_node(loss: Any, ndim: int, reduction: str) -> Any:
    """``loss``, after its node got PyTorch's name for inputs of ``ndim`` dimensions.

    PyTorch has kernels for 2-d and 4-d inputs. It reshapes other inputs of 3 or more dimensions
    to 4-d, and then reshapes losses without a reduction back, which gives the node of a view.
    """
    node = node_of(loss._node) if loss._rg else None
    if node is not None:
        name = "ViewBackward0" if reduction == "none" and ndim != 4 else "NllLoss2DBackward0"
        node.op = node.op.rename("NllLossBackward0" if ndim < 3 else name)
    return loss


def _check_batch(input: Tensor, target: Tensor) -> tuple[Any, Any]:
    """Input and class indices with a batch dimension; raise ValueError if they do not fit."""
    shape, target_shape = input._data.shape, target._data.shape
    if not shape:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    x: Any = input
    y: Any = target
    if len(shape) == 1:
        if target.ndim == 1 and target.shape[0] != 1:
            raise ValueError(
                f"For 1D input, 1D target must have size 1, but got target size: {target.shape[0]}"
            )
        return x.unsqueeze(0), y.reshape(1)
    if not target_shape or shape[0] != target_shape[0]:
        raise ValueError(
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
            f"({target.shape[0] if target.ndim else 0})."
        )
    return x, y


def _check_target(input: Any, target: Any, weight: Any) -> None:
    """Raise RuntimeError for class indices or weights that do not fit, in PyTorch's order."""
    shape = input._data.shape
    expected = (shape[0], *shape[2:])
    fits = target._data.shape == expected
    if not fits and input.ndim not in (2, 4):
        raise RuntimeError(f"Expected target size {list(expected)}, got {list(target.shape)}")
    if weight is not None:
        refuse_grad(f"{'nll_loss' if input.ndim == 2 else 'nll_loss2d'}_forward", weight=weight)
    if not fits and input.ndim == 2:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not fits and target.ndim != 3:
        raise RuntimeError(
            "only batches of spatial targets supported (3D tensors) but got targets of "
            f"dimension: {target.ndim}"
        )
    _check_indices(input, target, fits)
    if weight is not None:
        _check_weight(input, weight)
    _check_kinds(input, target)


def _fill_classes(input: Any, target: Any, weight: Any, ignore_index: int) -> tuple[Any, Any]:
    """Input and weight; an input without classes gets one, if all targets are ignored."""
    if input._data.shape[1]:
        return input, weight
    for index in target[target != ignore_index].reshape(-1)[:1].tolist():
        raise IndexError(_OUT_OF_BOUNDS.format(index=index))
    return cat([input, input.new_zeros((input.shape[0], 1, *input.shape[2:]))], 1), None


def _check_indices(input: Any, target: Any, fits: bool) -> None:
    """Raise RuntimeError unless targets are int64 or uint8 and of the right shape, ``fits``."""
    if target._data.dtype not in _INDEX_DTYPES:
        found = scalar_name(target.dtype)
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {found}")
    if not fits:
        raise RuntimeError(
            f"size mismatch (got input: {list(input.shape)} , target: {list(target.shape)}"
        )


def _check_kinds(input: Any, target: Any) -> None:
    """Raise for dtypes that PyTorch does not support: integer inputs, uint8 targets of images."""
    if target._data.dtype.kind == "u" and input.ndim > 2:
        check_scalar_type(int64, target)
    if input._data.dtype.kind not in "fV":
        frame = "nll_loss_out_frame" if input.ndim == 2 else "nll_loss2d_forward_out_frame"
        check_supported(input._xp, frame, input._data, unsupported="uibc")


def _are_classes(input: Any, target: Any, ignore_index: int) -> bool:
    """Whether the host knows that all targets are class indices, and none is ``ignore_index``."""
    is_negative = ignore_index.__class__ is int and ignore_index < 0
    ends = target._xp.extremes(target._data) if is_negative else None
    return ends is not None and 0 <= ends[0] <= ends[1] < input._data.shape[1]


def _check_weight(input: Any, weight: Any) -> None:
    """Raise RuntimeError unless ``weight`` has one element per class, in the input's dtype."""
    classes = input.shape[1]
    if input.ndim > 2 and weight.numel() != classes:
        raise RuntimeError("weight tensor should be defined either for all or no classes")
    _check_weight_size("", classes, weight)
    check_scalar_type(input.dtype, weight)


def _check_weight_size(prefix: str, classes: int, weight: Any) -> None:
    """Raise RuntimeError unless ``weight`` has one element per class.

    ``prefix`` is a prefix of the error, such as ``"cross_entropy: "``.
    """
    if weight.numel() != classes or weight.ndim > 1:
        raise RuntimeError(
            f"{prefix}weight tensor should be defined either for all {classes} classes or no "
            f"classes but got weight tensor of shape: {list(weight.shape)}"
        )


@composite(namespaces=SPACE, like=mse_loss)
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-input[target], where ``input`` holds the logarithms of the classes' probabilities.

    Args:
        input: Shape ``(batch, classes, *)``, or ``(classes,)``.
        target: Class indices, shape ``(batch, *)``, or 0-d.
        weight: A factor for each class, shape ``(classes,)``. Default: all 1.
        ignore_index: Targets of this value are ignored. Default: -100.
        reduction: ``"mean"`` (the sum divided by that of the targets' weights), ``"sum"`` or
            ``"none"``. Default: ``"mean"``.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the target's shape.

    Raises:
        ValueError: If the batch sizes differ or ``reduction`` is unknown.
        RuntimeError: If other sizes, or dtypes, do not fit.
        IndexError: If a target is not a class index.

    Example:
        >>> log_probs = tt.tensor([[0.25, 0.75]]).log()
        >>> tt.nn.functional.nll_loss(log_probs, tt.tensor([1]))
        tensor(0.2877)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if ignore_index.__class__ is not int:
        ignore_index = as_int("nll_loss", "ignore_index", ignore_index)
    x, y = _check_batch(input, target)
    _check_target(x, y, weight)
    x, weight = _fill_classes(x, y, weight, ignore_index)
    weights = _target_weights(x, y, weight, ignore_index)
    loss: Any = _nll(x, y, ignore_index)
    if weight is not None:
        loss = loss * weights
    loss = _reduce_by_weights(loss if input.ndim > 1 else loss[0], weights, reduction)
    return keep_versions(_rename_node(loss, input.ndim, reduction), input, weight)


@composite(namespaces=SPACE, like=nll_loss)
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy between the softmax of the input and the target classes.

    Args:
        input: Logits, shape ``(batch, classes, *)``, or ``(classes,)``.
        target: Class indices, shape ``(batch, *)``, or 0-d; or probabilities of the shape of
            ``input``.
        reduction: ``"mean"`` (for class indices the sum divided by that of the targets'
            weights), ``"sum"`` or ``"none"``. Default: ``"mean"``.
        label_smoothing: Part of the target that is distributed evenly over all classes, between 0
            and 1. Default: 0.

    Returns:
        A 0-d tensor, or for ``"none"`` one of shape ``(batch, *)``.

    Raises:
        ValueError: If the batch sizes differ or ``reduction`` is unknown.
        RuntimeError: If other sizes, or dtypes, do not fit, or ``label_smoothing`` is out of range.
        IndexError: If a target is not a class index.

    Example:
        >>> tt.nn.functional.cross_entropy(tt.zeros(2, 4), tt.tensor([1, 3]))
        tensor(1.3863)

    Reference:
        C. Szegedy et al., "Rethinking the Inception architecture for computer vision" (2015),
        for label smoothing.
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if weight is None and label_smoothing == 0 and reduction in ("mean", "sum"):
        if _are_rows(input._data, target._data) and _are_classes(input, target, ignore_index):
            return _reduced_cross_entropy(input, target, None, reduction == "mean")
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if ignore_index.__class__ is not int:
        ignore_index = as_int("cross_entropy", "ignore_index", ignore_index)
    if target._data.shape == input._data.shape and input.ndim:
        _check_probabilities(target, ignore_index)
        return _soft_cross_entropy(input, target, weight, reduction, label_smoothing)
    if input._data.dtype.kind not in "fV":
        kernel = "kernel" if input.ndim > 2 else "lastdim_kernel"
        check_supported(input._xp, f"log_softmax_{kernel}_impl", input._data, unsupported="uibc")
    x, y = _check_batch(input, target)
    _check_target(x, y, weight)
    x, weight = _fill_classes(x, y, weight, ignore_index)
    if weight is None and not label_smoothing and reduction in ("mean", "sum"):
        if _are_classes(x, y, ignore_index):
            return _reduced_cross_entropy(x, y, None, reduction == "mean")
        return _reduced_cross_entropy(x, y, ignore_index, reduction == "mean")
    weights: Any = _target_weights(x, y, weight, ignore_index)
    if label_smoothing:
        target_loss, total_loss = (
            _reduce_by_weights(loss if input.ndim > 1 else loss[0], weights, reduction)
            for loss in _smoothing_losses(x, y, weight, weights, ignore_index)
        )
        even = label_smoothing / x.shape[1]
        loss: Any = target_loss * (1 - label_smoothing) + total_loss * even
        return loss  # type: ignore[no-any-return]
    loss = _cross_entropy(x, y, ignore_index)
    loss = loss if weight is None else loss * weights
    loss = _reduce_by_weights(loss if input.ndim > 1 else loss[0], weights, reduction)
    return _rename_node(loss, input.ndim, reduction)  # type: ignore[no-any-return]


def _are_rows(input: Any, target: Any) -> bool:
    """Whether ``input`` is a real matrix, and ``target`` an int64 class index for each row."""
    if input.ndim != 2 or input.dtype.kind != "f" or target.dtype != _INDEX_DTYPES[0]:
        return False
    return bool(target.shape == input.shape[:1])


def _check_probabilities(target: Tensor, ignore_index: int) -> None:
    """Raise RuntimeError for probabilities that are not floating-point, or an ignored class."""
    if not target.is_floating_point():
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, "
            f"got {scalar_name(target.dtype)}"
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")


def _soft_cross_entropy(
    input: Any, target: Any, weight: Any, reduction: str, smoothing: float
) -> Tensor:
    """Cross entropy with probabilities, ``(N, C, *)`` or ``(C,)``, as the target."""
    x, y = (input, target) if input.ndim > 1 else (input.unsqueeze(0), target.unsqueeze(0))
    classes = x.shape[1]
    if weight is not None:
        _check_weight_size("cross_entropy: ", classes, weight)
    if smoothing:
        y = y * (1 - smoothing) + smoothing / max(classes, 1)
    terms = log_softmax(x, 1) * y
    if weight is not None:
        terms = terms * _broadcast_classes(weight, x.ndim)
    if reduction == "none":
        return -terms.sum(1 if input.ndim > 1 else (0, 1))  # type: ignore[no-any-return]
    total = -terms.sum()
    if reduction == "mean":
        return over(total, x.numel() // max(classes, 1))  # type: ignore[no-any-return]
    if reduction != "sum":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return total  # type: ignore[no-any-return]


def _smoothing_losses(x: Any, y: Any, weight: Any, weights: Any, ignore_index: int) -> Any:
    """Losses for label smoothing, ``(N, *)`` each.

    The first are the losses of the target classes times ``weights``, the weights of the targets.
    The second are sums of the losses of all classes, weighted by ``weight``, the classes' weights.
    """
    log_probs: Any = log_softmax(x, 1)
    terms = log_probs if weight is None else log_probs * _broadcast_classes(weight, x.ndim)
    loss: Any = _nll(log_probs, y, ignore_index)
    loss = loss if weight is None else loss * weights
    return loss, -terms.sum(1).masked_fill(y == ignore_index, 0)


def _broadcast_classes(weight: Any, ndim: int) -> Any:
    """``(C,)`` as ``(1, C, 1, ...)``."""
    return weight.reshape(1, -1, *(1,) * (ndim - 2))


@composite(namespaces=SPACE, like=cross_entropy)
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """``cross_entropy`` of the logits ``input @ linear_weight.T + linear_bias``.

    Args:
        input: Shape ``(batch, in_features)``, or ``(in_features,)``.
        linear_weight: Shape ``(classes, *, in_features)``.
        target: Class indices, shape ``(batch, *)``, or 0-d; or probabilities of the shape of
            the logits, ``(batch, classes, *)``.
        linear_bias: Shape ``(classes, *)``. Default: none.
        options: Accepted as in PyTorch, where it bounds the memory used. Default: None.

    Returns:
        A 0-d tensor, or for ``"none"`` one of shape ``(batch, *)``.

    Raises:
        RuntimeError: If shapes do not fit, or ``ignore_index`` is given with probabilities.

    Example:
        >>> x, w = tt.zeros(2, 3), tt.ones(4, 3)
        >>> tt.nn.functional.linear_cross_entropy(x, w, tt.tensor([1, 3]))
        tensor(1.3863)
    """
    _check_linear(input, linear_weight, linear_bias)
    classes, *inner = linear_weight.shape[:-1]
    shape = (*input.shape[:-1], classes, *inner)
    w: Any = linear_weight
    logits: Any = input @ w.flatten(0, -2).t()
    if linear_bias is not None:
        bias: Any = linear_bias
        logits = logits + bias.reshape(-1)
    if ignore_index is not None and target.shape == shape:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    return cross_entropy(
        logits.reshape(shape),
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )


def _check_linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    """Raise RuntimeError for sizes or dtypes that do not fit ``linear_cross_entropy``."""
    if input.ndim not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if weight.ndim < 2:
        raise RuntimeError(
            f"expected linear_weight with dimensionality at least 2, got {weight.ndim}"
        )
    if input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {weight.shape[-1]}, respectively"
        )
    if bias is not None and bias.dtype is not input.dtype:
        raise RuntimeError(
            "linear_cross_entropy: self and mat2 must have the same dtype, but got "
            f"{scalar_name(bias.dtype)} and {scalar_name(input.dtype)}"
        )
    if bias is not None and bias.shape != weight.shape[:-1]:
        raise RuntimeError(
            f"expected linear_bias shape {tuple(weight.shape[:-1])}, got {tuple(bias.shape)}"
        )
    if weight.ndim > 2 and input.ndim == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires "
            f"batched input, got unbatched input with shape {tuple(input.shape)}"
        )
