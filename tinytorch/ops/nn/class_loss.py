"""Negative log-likelihood and cross entropy, with kernels and their gradients to any order."""

from __future__ import annotations

import math
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.node_recording import keep_versions
from ...dispatch.op import Array, Backend, Index, composite, op, piecewise
from ...dispatch.out import scalar_name
from ...dtypes import float64, int64, uint8
from ...graph.nodes import Node, node_of, target_of
from ..checks import as_int, check_supported
from ..pointwise.division import over
from .loss import SPACE, check_scalar_type, reduced, reduction_of, refuse_grad
from .softmax import _softmax, log_softmax

_DOUBLE = float64.dtype
_OUT_OF_BOUNDS = "Target {index} is out of bounds."

# Shapes: input (batch, classes, *), target (batch, *).


def _places(xp: Backend, shape: tuple[int, ...], classes: Array) -> Array:
    """Where ``input[n, classes[n, *], *]`` lies in the flattened input, for each target."""
    inner = math.prod(shape[2:]) if len(shape) > 2 else 1
    if inner == 1:
        return classes.reshape(-1) + xp.row_starts[shape[:2]]
    at = xp.arange(shape[0] * inner)
    return (at // inner * shape[1] + classes.reshape(-1)) * inner + at % inner


# ``ignore_index`` is None where it is known that every target counts, and is a class.


def _valid(xp: Backend, target: Array, ignore_index: int | None) -> tuple[Array | None, Array]:
    """Which targets count, None for all, and the targets with 0 in place of the others."""
    if ignore_index is None:
        return None, target
    valid = target != ignore_index
    return valid, xp.where(valid, target, 0)


def _counted(xp: Any, valid: Any, values: Any) -> Any:
    """``values`` where the target counts, else 0."""
    return values if valid is None else xp.where(valid, values, 0)


def _check_classes(xp: Backend, input: Array, classes: Array, ignore_index: int | None) -> None:
    if ignore_index is not None:
        xp.check_indices(
            "cross_entropy", classes, input.shape[1], 1, negative=False, text=_OUT_OF_BOUNDS
        )


@op(public=False, node="NllLossBackward0")
def _negative_at(xp: Backend, input: Array, target: Index, ignore_index: int | None) -> Array:
    """-input at the target classes, 0 where the target is ignored."""
    valid, classes = _valid(xp, target, ignore_index)
    _check_classes(xp, input, classes, ignore_index)
    picked = xp.take(input.reshape(-1), _places(xp, input.shape, classes))
    return _counted(xp, valid, -picked.reshape(target.shape))


@op(public=False)
def _negative_onto(
    xp: Backend, grad: Array, target: Index, ignore_index: int | None, shape: Any
) -> Array:
    """The transpose of ``_negative_at``: -grad at the target classes, else 0."""
    valid, classes = _valid(xp, target, ignore_index)
    out = xp.zeros(math.prod(shape), grad.dtype)
    out[_places(xp, shape, classes)] = _counted(xp, valid, -grad).reshape(-1)
    return out.reshape(shape)


_negative_at.vjp(input=piecewise(
    lambda xp, g, target, ignore_index, in_shape: xp.call(
        _negative_onto, g, target, ignore_index, in_shape
    )
))  # fmt: skip
_negative_onto.vjp(
    grad=lambda xp, g, target, ignore_index: xp.call(_negative_at, g, target, ignore_index)
)


def _loss_name(node: Node) -> str:
    images = len(target_of(node.edges[0])[0]) > 2
    return "NllLoss2DBackward0" if images else "NllLossBackward0"


@op(public=False, node=_loss_name)
def _surprise(xp: Backend, input: Array, target: Index, ignore_index: int | None) -> Array:
    """-log softmax(input) at the target classes, 0 where the target is ignored."""
    fused = None if ignore_index is None else xp.fused("surprise", input, target, ignore_index)
    if fused is not None:
        out, wrong = fused
        xp.check_extremes("cross_entropy", wrong, input.shape[1], 1, _OUT_OF_BOUNDS)
        return out
    if ignore_index is None:
        return _of_classes(xp, input, target)
    valid, classes = _valid(xp, target, ignore_index)
    _check_classes(xp, input, classes, ignore_index)
    return _counted(xp, valid, _of_classes(xp, input, classes))


def _of_classes(xp: Backend, input: Array, classes: Array) -> Array:
    """-log softmax(input) at each of the classes."""
    plain = input.dtype.char == "f" and xp.is_moderate(input, 1)
    x = input if plain else input - xp.highest(input, 1)  # no term of the sum is above 1 then
    if input.ndim > 2:
        losses = xp.sum(xp.exp(x), 1)
        picked = x.reshape(-1)[_places(xp, input.shape, classes)].reshape(classes.shape)
    else:
        losses = xp.sum_along(xp.exp(x), -1)[:, 0]
        picked = xp.one_of_each_row(x, classes)
    if plain:  # of two large numbers, whose difference may be small
        losses, picked = losses.astype(_DOUBLE), picked.astype(_DOUBLE)
    xp.log(losses, losses)
    losses -= picked
    return losses.astype(input.dtype) if plain else losses


@op(public=False)
def _surprise_grad(
    xp: Backend, grad: Array, input: Array, target: Index, ignore_index: int | None
) -> Array:
    """grad · (softmax(input) - one_hot(target)), 0 where the target is ignored."""
    if ignore_index is not None:
        fused = xp.fused("surprise_grad", grad, input, target, ignore_index)
        if fused is not None:
            return fused
    valid, classes = _valid(xp, target, ignore_index)
    # Row-major, whatever the input's order, so that the flattened form is a view to be written to.
    out = xp.ascontiguousarray(xp.call(_softmax, input, 1))
    out.reshape(-1)[_places(xp, input.shape, classes)] -= 1
    out *= _column(xp, _counted(xp, valid, grad))
    return out


def _column(xp: Any, grad: Any) -> Any:
    """A gradient per target beside the classes; one for all of them as it is."""
    return xp.expand_dims(grad, 1) if grad.ndim else grad


_surprise.vjp(
    input=lambda xp, g, input, target, ignore_index: xp.call(
        _surprise_grad, g, input, target, ignore_index
    )
)


@op(public=False, node=_loss_name)
def _reduced_surprise(
    xp: Backend, input: Array, target: Index, ignore_index: int | None, mean: bool
) -> Array:
    """The sum of ``_surprise``, or its mean over the targets that count."""
    if ignore_index is None:
        losses = _of_classes(xp, input, target)
        return xp.mean(losses) if mean else xp.total(losses)
    total = xp.total(_surprise.kernel(xp, input, target, ignore_index))
    return total / xp.sum(target != ignore_index).astype(input.dtype) if mean else total


@op(public=False)
def _spread(xp: Backend, grad: Array, target: Index, ignore_index: int | None, mean: bool) -> Array:
    """The gradient of each ``_surprise`` by that of their sum or mean."""
    if ignore_index is None:
        return grad / target.size if mean else grad
    valid = target != ignore_index
    each = grad / xp.sum(valid).astype(grad.dtype) if mean else grad
    return xp.where(valid, each, 0)


def _spread_vjp(xp: Any, g: Any, target: Any, ignore_index: int | None, mean: bool) -> Any:
    if ignore_index is None:
        return g / math.prod(target.shape) if mean else g
    valid = target != ignore_index
    total = xp.sum(xp.where(valid, g, 0))
    return total / xp.sum(valid) if mean else total


_spread.vjp(grad=_spread_vjp)
_reduced_surprise.vjp(
    input=lambda xp, g, input, target, ignore_index, mean: xp.call(
        _surprise_grad,
        xp.call(_spread, g, target, ignore_index, mean),
        input,
        target,
        ignore_index,
    )
)


def _of_counted(xp: Any, g: Any, target: Any, ignore_index: int | None) -> Any:
    if ignore_index is None:
        return g
    return xp.where(xp.expand_dims(target != ignore_index, 1), g, 0)


def _surprise_grad_vjp_grad(
    xp: Any, g: Any, input: Any, target: Any, ignore_index: int | None
) -> Any:
    counted = _of_counted(xp, g, target, ignore_index)
    expected = xp.sum(counted * xp.call(_softmax, input, 1), axis=1)
    return expected + xp.call(_negative_at, g, target, ignore_index)


def _surprise_grad_vjp_input(
    xp: Any, g: Any, grad: Any, input: Any, target: Any, ignore_index: int | None
) -> Any:
    p = xp.call(_softmax, input, 1)
    g = _of_counted(xp, g, target, ignore_index) * _column(xp, grad)
    return p * (g - xp.sum(g * p, axis=1, keepdims=True))


_surprise_grad.vjp(grad=_surprise_grad_vjp_grad, input=_surprise_grad_vjp_input)


@op(public=False)
def _target_weights(
    xp: Backend, input: Array, target: Index, weight: Array | None, ignore_index: int
) -> Array:
    """The weight of each target's class, 0 where the target is ignored."""
    if weight is None:
        return (target != ignore_index).astype(input.dtype)
    valid, classes = _valid(xp, target, ignore_index)
    _check_classes(xp, input, classes, ignore_index)
    return _counted(xp, valid, weight[classes])


#: What classes are told by, as NumPy has it.
_CLASS_NUMBERS = (int64.dtype, uint8.dtype)


def _mean_weighted(loss: Any, weights: Any, reduction: str) -> Tensor:
    """Reduce losses; the mean divides by the sum of the targets' weights."""
    if reduction == "mean":
        return loss.sum() / weights.sum()  # type: ignore[no-any-return]
    return reduced(loss, reduction)


def _named(loss: Any, ndim: int, reduction: str) -> Any:
    """A loss of inputs of ``ndim`` dimensions with the node that PyTorch's one kernel makes.

    It has one for images; what is not of their shape takes it, and losses then get theirs again.
    """
    node = node_of(loss._node) if loss._rg else None
    if node is not None:
        images = "ViewBackward0" if reduction == "none" and ndim != 4 else "NllLoss2DBackward0"
        node.op = node.op.rename("NllLossBackward0" if ndim < 3 else images)
    return loss


def _check_batch(input: Tensor, target: Tensor) -> tuple[Any, Any]:
    """Input and class numbers with a batch dimension; ValueError where they do not fit."""
    have, wanted = input._data.shape, target._data.shape
    if not have:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    x: Any = input
    y: Any = target
    if len(have) == 1:
        if target.ndim == 1 and target.shape[0] != 1:
            raise ValueError(
                f"For 1D input, 1D target must have size 1, but got target size: {target.shape[0]}"
            )
        return x.unsqueeze(0), y.reshape(1)
    if not wanted or have[0] != wanted[0]:
        raise ValueError(
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
            f"({target.shape[0] if target.ndim else 0})."
        )
    return x, y


def _check_target(input: Any, target: Any, weight: Any) -> None:
    """RuntimeError for class numbers or weights that do not fit; in PyTorch's order."""
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
    _check_numbers(input, target, fits)
    if weight is not None:
        _check_weight(input, weight)
    _check_kinds(input, target)


def _check_numbers(input: Any, target: Any, fits: bool) -> None:
    if target._data.dtype not in _CLASS_NUMBERS:
        found = scalar_name(target.dtype)
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {found}")
    if not fits:
        raise RuntimeError(
            f"size mismatch (got input: {list(input.shape)} , target: {list(target.shape)}"
        )


def _check_kinds(input: Any, target: Any) -> None:
    """Refuse what PyTorch computes no loss of: all but floats; and bytes for pixels' classes."""
    if target._data.dtype.kind == "u" and input.ndim > 2:
        check_scalar_type(int64, target)
    if input._data.dtype.kind not in "fV":
        frame = "nll_loss_out_frame" if input.ndim == 2 else "nll_loss2d_forward_out_frame"
        check_supported(input._xp, frame, "uibc", input._data)


def _all_count(input: Any, target: Any, ignore_index: int) -> bool:
    """Whether every target is known to count and to be a class, without waiting for a device."""
    plain = ignore_index.__class__ is int and ignore_index < 0
    ends = target._xp.extremes(target._data) if plain else None
    return ends is not None and 0 <= ends[0] <= ends[1] < input._data.shape[1]


def _check_weight(input: Any, weight: Any) -> None:
    classes = input.shape[1]
    if input.ndim > 2 and weight.numel() != classes:
        raise RuntimeError("weight tensor should be defined either for all or no classes")
    _check_count("", classes, weight)
    check_scalar_type(input.dtype, weight)


def _check_count(name: str, classes: int, weight: Any) -> None:
    if weight.numel() != classes or weight.ndim > 1:
        raise RuntimeError(
            f"{name}weight tensor should be defined either for all {classes} classes or no "
            f"classes but got weight tensor of shape: {list(weight.shape)}"
        )


@composite(namespaces=SPACE)
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
        target: Class numbers, shape ``(batch, *)``, or 0-d.
        weight: A factor for each class, shape ``(classes,)``. Default: all 1.
        size_average: Deprecated; see ``reduction``.
        ignore_index: Targets of this value count nothing. Default: -100.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"`` (the sum divided by that of the targets' weights), ``"sum"`` or
            ``"none"``. Default: ``"mean"``.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the target's shape.

    Raises:
        ValueError: If the batch sizes differ or ``reduction`` is unknown.
        RuntimeError: If other sizes, or dtypes, do not fit.
        IndexError: If a target is no class.

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
    weights = _target_weights(x, y, weight, ignore_index)
    loss: Any = _negative_at(x, y, ignore_index)
    if weight is not None:
        loss = loss * weights
    loss = _mean_weighted(loss if input.ndim > 1 else loss[0], weights, reduction)
    return keep_versions(_named(loss, input.ndim, reduction), input, weight)


@composite(namespaces=SPACE)
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
        target: Class numbers, shape ``(batch, *)``, or 0-d; or probabilities of the shape of
            ``input``.
        weight: A factor for each class, shape ``(classes,)``. Default: all 1.
        size_average: Deprecated; see ``reduction``.
        ignore_index: Class numbers of this value count nothing. Default: -100.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"`` (for class numbers the sum divided by that of the targets'
            weights), ``"sum"`` or ``"none"``. Default: ``"mean"``.
        label_smoothing: Share of the target that is spread over all classes. Default: 0.

    Returns:
        A 0-d tensor, or for ``"none"`` one of shape ``(batch, *)``.

    Raises:
        ValueError: If the batch sizes differ or ``reduction`` is unknown.
        RuntimeError: If other sizes, or dtypes, do not fit, or ``label_smoothing`` is no share.
        IndexError: If a target is no class.

    Example:
        >>> tt.nn.functional.cross_entropy(tt.zeros(2, 4), tt.tensor([1, 3]))
        tensor(1.3863)

    Reference:
        C. Szegedy et al., "Rethinking the Inception architecture for computer vision" (2015),
        for label smoothing.
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if weight is None and label_smoothing == 0 and reduction in ("mean", "sum"):
        if _are_rows(input._data, target._data) and _all_count(input, target, ignore_index):
            return _reduced_surprise(input, target, None, reduction == "mean")
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if ignore_index.__class__ is not int:
        ignore_index = as_int("cross_entropy", "ignore_index", ignore_index)
    if target._data.shape == input._data.shape and input.ndim:
        _check_probabilities(target, ignore_index)
        return _of_probabilities(input, target, weight, reduction, label_smoothing)
    if input._data.dtype.kind not in "fV":
        kernel = "kernel" if input.ndim > 2 else "lastdim_kernel"
        check_supported(input._xp, f"log_softmax_{kernel}_impl", "uibc", input._data)
    x, y = _check_batch(input, target)
    _check_target(x, y, weight)
    if weight is None and not label_smoothing and reduction in ("mean", "sum"):
        if _all_count(x, y, ignore_index):
            return _reduced_surprise(x, y, None, reduction == "mean")
        return _reduced_surprise(x, y, ignore_index, reduction == "mean")
    weights: Any = _target_weights(x, y, weight, ignore_index)
    if label_smoothing:
        exact, even = (
            _mean_weighted(loss if input.ndim > 1 else loss[0], weights, reduction)
            for loss in _exact_and_even(x, y, weight, weights, ignore_index)
        )
        loss: Any = exact * (1 - label_smoothing) + even * (label_smoothing / x.shape[1])
        return loss  # type: ignore[no-any-return]
    loss = _surprise(x, y, ignore_index)
    loss = loss if weight is None else loss * weights
    loss = _mean_weighted(loss if input.ndim > 1 else loss[0], weights, reduction)
    return _named(loss, input.ndim, reduction)  # type: ignore[no-any-return]


def _are_rows(input: Any, target: Any) -> bool:
    """Whether raw arrays are rows of real numbers, and a class number for each."""
    if input.ndim != 2 or input.dtype.kind != "f" or target.dtype != _CLASS_NUMBERS[0]:
        return False
    return bool(target.shape == input.shape[:1])


def _check_probabilities(target: Tensor, ignore_index: int) -> None:
    if not target.is_floating_point():
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, "
            f"got {scalar_name(target.dtype)}"
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")


def _of_probabilities(
    input: Any, target: Any, weight: Any, reduction: str, smoothing: float
) -> Tensor:
    x, y = (input, target) if input.ndim > 1 else (input.unsqueeze(0), target.unsqueeze(0))
    classes = x.shape[1]
    if weight is not None:
        _check_count("cross_entropy: ", classes, weight)
    if smoothing:
        y = y * (1 - smoothing) + smoothing / max(classes, 1)
    terms = log_softmax(x, 1) * y
    if weight is not None:
        terms = terms * _per_class(weight, x.ndim)
    if reduction == "none":
        return -terms.sum(1 if input.ndim > 1 else (0, 1))  # type: ignore[no-any-return]
    total = -terms.sum()
    if reduction == "mean":
        return over(total, x.numel() // max(classes, 1))  # type: ignore[no-any-return]
    if reduction != "sum":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return total  # type: ignore[no-any-return]


def _exact_and_even(x: Any, y: Any, weight: Any, weights: Any, ignore_index: int) -> Any:
    """The losses of the target classes, and the sums of those of all classes."""
    log_probs: Any = log_softmax(x, 1)
    terms = log_probs if weight is None else log_probs * _per_class(weight, x.ndim)
    exact: Any = _negative_at(log_probs, y, ignore_index)
    exact = exact if weight is None else exact * weights
    return exact, -terms.sum(1).masked_fill(y == ignore_index, 0)


def _per_class(weight: Any, ndim: int) -> Any:
    return weight.reshape(1, -1, *(1,) * (ndim - 2))


@composite(namespaces=SPACE)
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
        target: Class numbers, shape ``(batch, *)``, or 0-d; or probabilities of the shape of
            the logits, ``(batch, classes, *)``.
        linear_bias: Shape ``(classes, *)``. Default: none.
        weight: A factor for each class, shape ``(classes,)``. Default: all 1.
        reduction: ``"mean"`` (weighted), ``"sum"`` or ``"none"``. Default: ``"mean"``.
        ignore_index: Class numbers of this value count nothing. Default: -100.
        label_smoothing: Share of the target that is spread over all classes. Default: 0.
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
