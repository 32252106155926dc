"""In-place filling and copying, and writing to expanded tensors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.inplace import assign, call_inplace
from ...dispatch.op import OPS, Array, Backend, Op, Operand, Overlap, Reduced, composite, op
from ...dispatch.out import check_writable
from ...dispatch.promotion import convert_to_write
from ...graph.special_nodes import name_by_operand
from ...state import grad_enabled
from ...warnings import warn


@op(
    method=True,
    overlap=Overlap.ALLOWED,
    node=name_by_operand("value", "FillBackward2", "FillBackward1"),
    reduced=Reduced.NATIVE,
)
def fill(xp: Backend, input: Array, value: Operand, *, out: Array | None = None) -> Array:
    """A tensor filled with ``value``, in the shape and dtype of ``input``.

    Args:
        input: Tensor of any shape.
        value: A number or 0-d tensor.

    Raises:
        RuntimeError: If ``value`` has dimensions.

    Example:
        >>> tt.fill(tt.zeros(2), 3)
        tensor([3., 3.])
    """
    if getattr(value, "ndim", 0):
        raise RuntimeError(
            "fill only supports 0-dimension value tensor but got tensor with "
            f"{value.ndim} dimensions."
        )
    if out is None:
        dtype = input.dtype
        if value.__class__ in (int, float) and dtype.char in "fd" and -1e38 < value < 1e38:
            return xp.full(input.shape, float(value), dtype)
        out = xp.empty(input.shape, dtype)
    xp.copyto(out, convert_to_write(value, xp.dtype_of(out)), casting="unsafe")
    return out


fill.vjp(input=lambda xp, g: xp.zeros_like(g), value=lambda xp, g: xp.sum(g))


@op(backend_function="write_zeros", reduced=Reduced.NATIVE)
def _write_zeros(xp: Backend, input: Array, *, out: Array) -> Array:
    xp.write_zeros(out)
    return out


@composite(method=True, fast=_write_zeros)
def zero_(input: Tensor) -> Tensor:
    """Set all elements of ``input`` to zero, in place.

    Example:
        >>> tt.ones(2).zero_()
        tensor([0., 0.])
    """
    call_inplace(fill.op, (_drop_expanded_dims(input), 0), {}, "ZeroBackward0")
    return input


@composite(method=True, fast=fill)
def fill_(input: Tensor, value: Operand) -> Tensor:
    """Set all elements of ``input`` to ``value``, in place.

    Args:
        input: Tensor of any shape; it is changed.
        value: A number or 0-d tensor, which is converted to the dtype of ``input``.

    Returns:
        ``input``.

    Raises:
        RuntimeError: If ``value`` has dimensions, or if it is a tensor and ``input`` is expanded.

    Example:
        >>> tt.ones(2).fill_(3)
        tensor([3., 3.])
    """
    target = input if isinstance(value, Tensor) else _drop_expanded_dims(input)
    call_inplace(fill.op, (target, value), {})
    return input


def _drop_expanded_dims(tensor: Tensor) -> Tensor:
    """Slice the expanded dimensions of a tensor to size 1; return other values unchanged."""
    data = getattr(tensor, "_data", None)
    if data is None or not tensor._xp.readonly(data):
        return tensor
    return tensor[tuple(slice(None) if step else slice(0, 1) for step in data.strides)]


@op(promote="alike", reduced=Reduced.NATIVE)
def _copy_into(
    xp: Backend, input: Array, src: Array, non_blocking: bool = False, *, out: Array
) -> Array:
    """Copy the elements of ``src`` to ``out``, broadcast and converted to its dtype."""
    if src.ndim > out.ndim:
        raise ValueError("copy_(): the source has more dimensions than the target")
    xp.copyto(out, src)
    return out


@composite(namespaces=("Tensor",), fast=_copy_into)
def copy_(input: Tensor, src: Operand, non_blocking: bool = False) -> Tensor:
    """Copy ``src`` to ``input`` in place, with broadcasting and a cast.

    Args:
        input, src: The tensor that is changed, and a tensor, or data for one, that broadcasts to
            its shape. ``non_blocking`` is as for ``to``.

    Example:
        >>> tt.zeros(2).copy_(tt.tensor([1, 2]))
        tensor([1., 2.])
    """
    source = src if isinstance(src, Tensor) else OPS["tensor"].function(src, backend=input._xp)
    if source._xp is not input._xp:
        source = source.to(backend=input._xp, non_blocking=non_blocking)
    if source.dtype is not input.dtype:
        source = source.to(input.dtype)
    return assign(input, source, "copy_")


@composite(namespaces=("Tensor",))
def module_load(input: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """The new value of a parameter when a state dict is loaded by swapping.

    A subclass overrides it to control loading; see ``set_swap_module_params_on_conversion``.

    Args:
        input: The parameter.
        other: The value in the state dict.
        assign: Whether to return ``other`` itself, instead of copying its values to ``input``.
            Default: False.

    Returns:
        A tensor that is detached from the graph.

    Example:
        >>> tt.zeros(2).module_load(tt.ones(2))
        tensor([1., 1.])
    """
    return other.detach() if assign else copy_(input, other).detach()


@op(public=False)
def _fill_diagonal(xp: Backend, input: Array, value: Any, wrap: bool) -> Array:
    """Copy of ``input`` with ``value`` on its main diagonal."""
    flat = xp.array(input.reshape((-1,)))
    step = sum(math.prod(input.shape[d:]) for d in range(1, input.ndim)) + 1
    # In a matrix with more rows than columns, further steps continue after an empty row.
    end = flat.shape[0] if wrap else min(input.shape) * step
    xp.write_item(flat, slice(None, end, step), value)
    return flat.reshape(input.shape)


_fill_diagonal.vjp(input=lambda xp, g, wrap: xp.call(_fill_diagonal, g, 0, wrap))


@composite(namespaces=("Tensor",))
def fill_diagonal_(input: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Set the main diagonal of ``input`` to ``fill_value``, in place.

    Args:
        input: A matrix, or a tensor of more dimensions of equal size.
        fill_value: A number.
        wrap: Whether the diagonal of a matrix with more rows than columns starts again below its
            end, after an empty row; default False.

    Returns:
        ``input``.

    Raises:
        RuntimeError: If there are fewer than two dimensions, or more than two of different sizes.

    Example:
        >>> tt.zeros(2, 3).fill_diagonal_(5)
        tensor([[5., 0., 0.],
                [0., 5., 0.]])
    """
    if input.ndim < 2:
        raise RuntimeError(f"fill_diagonal_: dimensions must larger than 1, got {input.ndim}")
    if input.ndim > 2 and len(set(input.shape)) > 1:
        raise RuntimeError(
            "fill_diagonal_: all dimensions of input must be of equal length, got shape "
            f"{list(input.shape)}"
        )
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    if isinstance(value, complex) and not input.is_complex():
        raise RuntimeError(
            f"fill_diagonal_: value cannot be converted to type {input.dtype.name} without overflow"
        )
    value = convert_to_write(value, input.dtype)
    return call_inplace(_fill_diagonal.op, (input, value, bool(wrap)), {})


@contextmanager
def allow_expanded_write(
    name: str, target: Tensor, value: Any, refused: bool = False
) -> Iterator[None]:
    """Context in which an expanded tensor is writable, with PyTorch's deprecation warning.

    Of several values written to one element the last one remains.

    Args:
        name: Name of the operation, for messages.
        target: The expanded tensor.
        value: The value that will be written.
        refused: Whether the operation does not support expanded tensors.

    Raises:
        RuntimeError: If ``refused`` is True, if the write would be recorded (there is no gradient
            for overwritten values), or if the memory is read-only for another reason.
    """
    xp = target._xp
    is_recorded = grad_enabled() and (
        target.requires_grad or getattr(value, "requires_grad", False)
    )
    if refused or is_recorded or xp.memory_is_readonly(target._data):
        check_writable(name, target)
    warn(
        f"Use of {name}_ on expanded tensors is deprecated, for one element stands for many "
        "there. Please clone() the tensor first."
    )
    original = target._data
    target._data = xp.writable_view(original)
    try:
        yield
    finally:
        target._data = original


def write_changes(op: Op, name: str = "") -> None:
    """Register the in-place form of ``op`` for expanded tensors, which writes changed elements.

    The result must not depend on the order of the writes.
    """

    def write(input: Tensor, *args: Any, **options: Any) -> Tensor:
        result = op.function(input.detach(), *args, **options)._data
        with allow_expanded_write(name or op.name, input, None):
            changed = result != input._data
            input._xp.write_item(input._data, changed, result[changed])
            input._bump()
        return input

    op.registered.expanded = write


write_changes(_fill_diagonal.op, "fill_diagonal")
