"""One value, or another tensor's values, written over memory that exists.

One value along a diagonal, in memory that exists.

Writing where one element of memory stands for many of a tensor's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.inplace import assign, call_inplace
from ...dispatch.op import OPS, Array, Backend, Op, Operand, Overlap, Reduced, composite, op
from ...dispatch.out import check_writable
from ...dispatch.promotion import written_number
from ...graph.special_nodes import by_operand
from ...state import grad_enabled
from ...warnings import warn


@op(
    method=True,
    overlap=Overlap.ALLOWED,
    node=by_operand("value", "FillBackward2", "FillBackward1"),
    reduced=Reduced.NATIVE,
)
def fill(xp: Backend, input: Array, value: Operand, *, out: Array | None = None) -> Array:
    """``value`` everywhere, in the shape and dtype of ``input``.

    Args:
        input: Tensor of any shape.
        value: A number or 0-d tensor.

    Raises:
        RuntimeError: If ``value`` has dimensions.

    Example:
        >>> import tinytorch as tt
        >>> tt.fill(tt.zeros(2), 3)
        tensor([3., 3.])
    """
    if getattr(value, "ndim", 0):
        raise RuntimeError(
            "fill only supports 0-dimension value tensor but got tensor with "
            f"{value.ndim} dimensions."
        )
    if out is None:
        out = xp.empty(input.shape, input.dtype)
    xp.copyto(out, written_number(value, xp.dtype_of(out)), casting="unsafe")
    return out


fill.vjp(input=lambda xp, g: xp.zeros_like(g), value=lambda xp, g: xp.sum(g))


@op(backend_function="write_zeros", reduced=Reduced.NATIVE)
def _zeros_over(xp: Backend, input: Array, *, out: Array) -> Array:
    xp.write_zeros(out)
    return out


@composite(method=True, fast=_zeros_over)
def zero_(input: Tensor) -> Tensor:
    """Write zeros over ``input``.

    Example:
        >>> import tinytorch as tt
        >>> tt.ones(2).zero_()
        tensor([0., 0.])
    """
    call_inplace(fill.op, (_each_once(input), 0), {}, "ZeroBackward0")
    return input


@composite(method=True, fast=fill)
def fill_(input: Tensor, value: Operand) -> Tensor:
    """Write ``value``, a number or 0-d tensor, over ``input``.

    Args:
        input: Tensor of any shape; it is changed.
        value: What every element becomes, in the dtype of ``input``.

    Returns:
        ``input``.

    Raises:
        RuntimeError: If ``value`` has dimensions, or if it is a tensor and ``input`` is expanded.

    Example:
        >>> import tinytorch as tt
        >>> tt.ones(2).fill_(3)
        tensor([3., 3.])
    """
    target = input if isinstance(value, Tensor) else _each_once(input)
    call_inplace(fill.op, (target, value), {})
    return input


def _each_once(tensor: Tensor) -> Tensor:
    """An expanded tensor without its repetitions; others as they are."""
    data = getattr(tensor, "_data", None)
    if data is None or not tensor._xp.readonly(data):
        return tensor
    return tensor[tuple(slice(None) if step else slice(0, 1) for step in data.strides)]


@op(promote="alike", reduced=Reduced.NATIVE)
def _copied_over(
    xp: Backend, input: Array, src: Array, non_blocking: bool = False, *, out: Array
) -> Array:
    if src.ndim > out.ndim:
        raise ValueError("copy_(): the source has more dimensions than the target")
    xp.copyto(out, src)
    return out


@composite(namespaces=("Tensor",), fast=_copied_over)
def copy_(input: Tensor, src: Operand, non_blocking: bool = False) -> Tensor:
    """Write ``src``, broadcast and cast, over ``input``; ``non_blocking`` as for ``to``.

    Args:
        input, src: A tensor, and another, or what makes one, that broadcasts to its shape.

    Example:
        >>> import tinytorch as tt
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
    """What a parameter is to become when a state dict is loaded by swapping.

    A subclass overrides it to load itself; see ``set_swap_module_params_on_conversion``.

    Args:
        input: The parameter.
        other: What the state dict holds.
        assign: Whether ``other`` itself is taken, instead of its values into ``input``.
            Default: False.

    Returns:
        A tensor without history.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros(2).module_load(tt.ones(2))
        tensor([1., 1.])
    """
    return other.detach() if assign else copy_(input, other).detach()


@op(public=False)
def _diagonal_filled(xp: Backend, input: Array, value: Any, wrap: bool) -> Array:
    """``input`` with ``value`` on its main diagonal."""
    flat = xp.array(xp.reshape(input, (-1,)))
    step = sum(math.prod(input.shape[d:]) for d in range(1, input.ndim)) + 1
    # In a matrix with more rows than columns the steps lead on, past an empty row.
    end = flat.shape[0] if wrap else min(input.shape) * step
    xp.write_item(flat, slice(None, end, step), value)
    return xp.reshape(flat, input.shape)


_diagonal_filled.vjp(input=lambda xp, g, wrap: xp.call(_diagonal_filled, g, 0, wrap))


@composite(namespaces=("Tensor",))
def fill_diagonal_(input: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Write ``fill_value`` over the main diagonal of ``input``.

    Args:
        input: A matrix, or a tensor of more dimensions of one length.
        fill_value: A number.
        wrap: Whether the diagonal of a matrix with more rows than columns begins anew below its
            end, after an empty row; default False.

    Returns:
        ``input``.

    Raises:
        RuntimeError: For fewer than two dimensions, or more than two of different lengths.

    Example:
        >>> import tinytorch as tt
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
    value = written_number(value, input.dtype)
    return call_inplace(_diagonal_filled.op, (input, value, bool(wrap)), {})


@contextmanager
def opened(name: str, target: Tensor, value: Any, refused: bool = False) -> Iterator[None]:
    """Let an expanded tensor be written to: of what goes to one element the last number stays.

    Raises:
        RuntimeError: If that is ``refused``, or a gradient of it would be wanted, which has no
            place for what was written over; or if the memory is read-only for another reason.
    """
    xp = target._xp
    wants = grad_enabled() and (target.requires_grad or getattr(value, "requires_grad", False))
    if refused or wants or xp.memory_is_readonly(target._data):
        check_writable(name, target)
    warn(
        f"Use of {name}_ on expanded tensors is deprecated, for one element stands for many "
        "there. Please clone() the tensor first."
    )
    closed = target._data
    target._data = xp.opened(closed)
    try:
        yield
    finally:
        target._data = closed


def write_changes(op: Op, name: str = "") -> None:
    """Register an in-place form for expanded tensors, which writes the elements that change.

    The result must be the same in whatever order they are written.
    """

    def write(input: Tensor, *args: Any, **options: Any) -> Tensor:
        result = op.function(input.detach(), *args, **options)._data
        with opened(name or op.name, input, None):
            changed = result != input._data
            input._xp.write_item(input._data, changed, result[changed])
            input._bump()
        return input

    op.registered.expanded = write


write_changes(_diagonal_filled.op, "fill_diagonal")
