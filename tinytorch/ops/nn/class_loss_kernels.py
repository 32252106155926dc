"""Kernels of the losses of classes, with their gradients to any order."""

from __future__ import annotations

import math
from typing import Any

from ...autograd.nodes import Node, target_of
from ...dispatch.op import Array, Backend, Index, op, piecewise
from ...dtypes import float64
from .softmax import _softmax

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
