"""Maxima, minima, clamping, and selection by a condition, element by element."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...core.torch_function import attach
from ...dispatch.op import Array, Backend, Mask, Operand, Out, composite, op
from ...dispatch.promotion import result_dtype
from ...graph.nodes import Node
from ...graph.special_nodes import name_by_operand, is_tensor
from ...warnings import warn
from ..checks import check_not_complex, kind_of


def _check_not_complex(name: str, *operands: Any) -> None:
    if kind_of(*operands) == "c":
        raise RuntimeError(f"{name} not implemented for complex tensors.")


@op
def _zero_unmasked(xp: Backend, input: Array, mask: Mask) -> Array:
    """``input`` where ``mask`` is True, 0 elsewhere, even if ``input`` is inf or NaN."""
    return xp.masked(input, mask)


_zero_unmasked.vjp(input=lambda xp, g, mask: xp.call(_zero_unmasked, g, mask))


def masked(xp: Any, g: Any, mask: Any) -> Any:
    """``g`` where ``mask`` is True, 0 elsewhere, for use in gradient rules."""
    return xp.call(_zero_unmasked, g, mask)


def _split_ties(xp: Any, g: Any, is_other: Any, equal: Any) -> Any:
    """``g`` where the argument was selected, ``g / 2`` where both are equal, 0 elsewhere."""
    return xp.where(equal, g * 0.5, xp.where(is_other, 0, g))


@op(method=True, promote="arithmetic", strict=True, elementwise=True)
def maximum(xp: Backend, input: Array, other: Array, *, out: Array | None = None) -> Array:
    """The larger of each pair of elements; NaN if either is NaN.

    Args:
        input: Tensor of any shape.
        other: Tensor; the two shapes broadcast.

    Returns:
        Tensor of the broadcast shape. Where both are equal, each receives half of the gradient.

    Raises:
        RuntimeError: For complex tensors.

    Example:
        >>> tt.maximum(tt.tensor([1.0, 4.0]), tt.tensor([3.0, 2.0]))
        tensor([3., 4.])
    """
    _check_not_complex("maximum", input, other)
    return xp.maximum(input, other) if out is None else xp.maximum(input, other, out=out)


maximum.vjp(
    input=lambda xp, g, input, other: _split_ties(xp, g, input < other, input == other),
    other=lambda xp, g, input, other: _split_ties(xp, g, other < input, input == other),
)


@op(method=True, promote="arithmetic", strict=True, elementwise=True, like=maximum)
def minimum(xp: Backend, input: Array, other: Array, *, out: Array | None = None) -> Array:
    """The smaller of each pair of elements; NaN if either is NaN.

    Returns:
        Tensor of the broadcast shape. Where both are equal, each receives half of the gradient.

    Example:
        >>> tt.minimum(tt.tensor([1.0, 4.0]), tt.tensor([3.0, 2.0]))
        tensor([1., 2.])
    """
    _check_not_complex("minimum", input, other)
    return xp.minimum(input, other) if out is None else xp.minimum(input, other, out=out)


minimum.vjp(
    input=lambda xp, g, input, other: _split_ties(xp, g, input > other, input == other),
    other=lambda xp, g, input, other: _split_ties(xp, g, other > input, input == other),
)


@op(method=True, promote="arithmetic", strict=True, elementwise=True)
def fmax(xp: Backend, input: Array, other: Array) -> Array:
    """The larger of each pair of elements; the other element if one is NaN.

    Args:
        input: Tensor of any shape. It receives the whole gradient where both are equal.
        other: Tensor; the two shapes broadcast.

    Raises:
        RuntimeError: For complex tensors.

    Example:
        >>> tt.fmax(tt.tensor([1.0, float("nan")]), tt.tensor([3.0, 2.0]))
        tensor([3., 2.])
    """
    _check_not_complex("fmax", input, other)
    return xp.fmax(input, other)


fmax.vjp(
    input=lambda xp, g, input, other: masked(xp, g, (input >= other) | xp.isnan(other)),
    other=lambda xp, g, input, other: masked(xp, g, ~((input >= other) | xp.isnan(other))),
)


@op(method=True, promote="arithmetic", strict=True, elementwise=True, like=fmax)
def fmin(xp: Backend, input: Array, other: Array) -> Array:
    """The smaller of each pair of elements; the other element if one is NaN.

    Example:
        >>> tt.fmin(tt.tensor([1.0, float("nan")]), tt.tensor([3.0, 2.0]))
        tensor([1., 2.])
    """
    _check_not_complex("fmin", input, other)
    return xp.fmin(input, other)


fmin.vjp(
    input=lambda xp, g, input, other: masked(xp, g, (input <= other) | xp.isnan(other)),
    other=lambda xp, g, input, other: masked(xp, g, ~((input <= other) | xp.isnan(other))),
)


def _clamp_name(node: Node) -> str:
    tensors = is_tensor(node, "min") or is_tensor(node, "max")
    return "ClampBackward0" if tensors else "ClampBackward1"


@op(
    method=True,
    inplace=True,
    promote="limits",
    aliases=("clip",),
    node=_clamp_name,
    out=Out.EXACT_WITH_NUMBERS,
)
def clamp(
    xp: Backend, input: Array, min: Operand | None = None, max: Operand | None = None
) -> Array:
    """Clamp each element of ``input`` to the interval from ``min`` to ``max``.

    Args:
        input: Tensor of any shape.
        min: Lower bound, a number or a tensor that broadcasts; None for no bound.
        max: Upper bound, likewise. Where it is below ``min``, the result is ``max``.

    Returns:
        Tensor of the broadcast shape and torch's promoted dtype. Gradients flow to ``input``
        where it is within the bounds, including the bounds.

    Raises:
        RuntimeError: If both bounds are None, or if an integer dtype cannot represent a bound.
        NotImplementedError: For complex tensors.

    Example:
        >>> tt.clamp(tt.tensor([-1.0, 0.5, 2.0]), 0, 1)
        tensor([0.0000, 0.5000, 1.0000])
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    check_not_complex("clamp", input)
    if min is not None and max is not None and min.__class__ is not max.__class__:
        _check_bounds(min, max)
    return xp.between(input, min, max)


def _check_bounds(low: Any, high: Any) -> None:
    """Raise TypeError if one bound is a number and the other a tensor with dimensions."""
    kinds = ["Tensor" if hasattr(v, "dtype") else type(v).__name__ for v in (low, high)]
    if kinds.count("Tensor") == 1 and any(getattr(v, "shape", ()) for v in (low, high)):
        raise TypeError(
            "clamp() received an invalid combination of arguments: expected 'min' and 'max' to be "
            f"two Tensors or two numbers, got {kinds[0]} and {kinds[1]}"
        )


def _clamp_gradient(xp: Any, g: Any, input: Any, min: Any, max: Any) -> Any:
    """``g`` where ``input`` is within the bounds, 0 elsewhere; None for no bound."""
    if max is None:
        return masked(xp, g, input >= min)
    if min is None:
        return masked(xp, g, input <= max)
    return masked(xp, g, (input >= min) & (input <= max))


clamp.vjp(
    input=_clamp_gradient,
    min=lambda xp, g, input, min, max: masked(
        xp, g, input < min if max is None else (input < min) & (min < max)
    ),
    max=lambda xp, g, input, min, max: masked(
        xp, g, input > max if min is None else (input > max) | (max < min)
    ),
)


@op(
    method=True,
    inplace=True,
    promote="limits",
    strict=True,
    node=name_by_operand("min", "ClampMinBackward0", "ClampMinBackward1"),
    out=Out.EXACT_WITH_NUMBERS,
)
def clamp_min(xp: Backend, input: Array, min: Operand) -> Array:
    """``input`` with the lower bound ``min``, element by element.

    Args:
        input: Tensor of any shape.
        min: Number, or tensor that broadcasts.

    Example:
        >>> tt.clamp_min(tt.tensor([-1.0, 2.0]), 0)
        tensor([0., 2.])
    """
    return xp.call(clamp, input, min, None)


clamp_min.vjp(
    input=lambda xp, g, input, min: masked(xp, g, input >= min),
    min=lambda xp, g, input, min: masked(xp, g, input < min),
)


@op(
    method=True,
    inplace=True,
    promote="limits",
    strict=True,
    node=name_by_operand("max", "ClampMaxBackward0", "ClampMaxBackward1"),
    out=Out.EXACT_WITH_NUMBERS,
)
def clamp_max(xp: Backend, input: Array, max: Operand) -> Array:
    """``input`` with the upper bound ``max``, element by element.

    Args:
        input: Tensor of any shape.
        max: Number, or tensor that broadcasts.

    Example:
        >>> tt.clamp_max(tt.tensor([-1.0, 2.0]), 0)
        tensor([-1.,  0.])
    """
    return xp.call(clamp, input, None, max)


clamp_max.vjp(
    input=lambda xp, g, input, max: masked(xp, g, input <= max),
    max=lambda xp, g, input, max: masked(xp, g, input > max),
)


@op(forms=(
    "(condition: Tensor, input: None = None, other: None = None) -> tuple[Tensor, ...]",
    "(condition: Tensor, input: Tensor | complex, other: Tensor | complex, *, out: Any = None)"
    " -> Tensor",
), promote="arithmetic", out=Out.EXACT, elementwise=True)  # fmt: skip
def where(
    xp: Backend, condition: Mask, input: Operand | None = None, other: Operand | None = None
) -> Array:
    """Elements of ``input`` where ``condition`` is True, of ``other`` elsewhere.

    Args:
        condition: bool tensor.
        input: Tensor or number.
        other: Tensor or number; the three shapes broadcast. A call without ``input`` and
            ``other`` is ``condition.nonzero(as_tuple=True)``.

    Returns:
        Tensor of the broadcast shape and torch's promoted dtype. With one argument, a tuple of
        int64 tensors, one for each dimension.

    Raises:
        RuntimeError: If ``condition`` is not bool.

    Example:
        >>> x = tt.tensor([-1.0, 2.0])
        >>> tt.where(x > 0, x, 0)
        tensor([0., 2.])
        >>> tt.where(x > 0)
        (tensor([1]),)
    """
    same: Any = condition.__class__
    if input.__class__ is same and other.__class__ is same and condition.dtype.kind == "b":
        return xp.where(condition, input, other)
    if input is None and other is None:
        return xp.nonzero(xp.atleast_1d(condition))
    if input is None or other is None:
        raise TypeError("where(): input and other go together: give both or none")
    if condition.dtype.kind != "b" and condition.dtype != "uint8":
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{condition.dtype}"
        )
    if condition.dtype == "uint8":
        warn(
            "where received a uint8 condition tensor. This behavior is deprecated and will be "
            "removed in a future version of PyTorch. Use a boolean condition instead."
        )
    if not hasattr(input, "dtype") and not hasattr(other, "dtype"):
        input = xp.asarray(input, xp.native_dtype(result_dtype((input, other))))
    return xp.where(condition, input, other)


where.vjp(
    input=lambda xp, g, condition: xp.where(condition, g, 0),
    other=lambda xp, g, condition: xp.where(condition, 0, g),
)


@composite(namespaces=("Tensor",), public=False)
def _where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """``self`` where ``condition`` is True, ``other`` elsewhere; see ``tinytorch.where``.

    Args:
        self: Tensor of any shape.
        condition: bool tensor; the shapes broadcast.
        other: Tensor or number.

    Example:
        >>> tt.tensor([1.0, -1.0]).where(tt.tensor([True, False]), 0.0)
        tensor([1., 0.])
    """
    return where(condition, self, other)


_where_method.__name__, _where_method.__qualname__ = "where", "Tensor.where"
attach(Tensor, "where", _where_method)
