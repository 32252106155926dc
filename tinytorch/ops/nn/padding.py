"""Padding by a constant, by reflection, by replication and circular; negative padding crops."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.arguments import is_rejected_bool
from ...dispatch.node_recording import keep_versions
from ...dispatch.op import Array, Backend, Nodes, composite, op, piecewise
from ...dispatch.promotion import convert_to_write
from ...graph.nodes import Node
from ...graph.special_nodes import argument
from ..checks import check_supported
from ..memory_order import suggest_memory_format, to_memory_format
from ..shape.views import following

#: Number of elements to add before and after, for each dimension.
Sides = tuple[tuple[int, int], ...]


@op(node="ConstantPadNdBackward0")
def _pad_constant(xp: Backend, input: Array, sides: Sides, value: float) -> Array:
    """``input`` padded with ``value``.

    ``sides`` has a pair for each dimension: numbers of elements before and after it. Negative
    numbers crop.
    """
    shape, inner, source = _padded_shape(tuple(input.shape), sides)
    out = xp.full(shape, value, input.dtype) if value else xp.zeros(shape, input.dtype)
    out[inner] = input[source]
    return to_memory_format(xp, out, suggest_memory_format(input))


@functools.lru_cache(maxsize=256)
def _padded_shape(shape: tuple[int, ...], sides: Sides) -> tuple[tuple[int, ...], Any, Any]:
    """The shape of padded arrays of ``shape``, and the slices of the part that both contain.

    They are slices of the padded array, and those of the array itself.
    """
    triples = [(n, a, b) for n, (a, b) in zip(shape, sides, strict=True)]
    inner = tuple([slice(max(a, 0), n + a + b - max(b, 0)) for n, a, b in triples])
    source = tuple([slice(max(-a, 0), n - max(-b, 0)) for n, a, b in triples])
    return tuple([sum(triple) for triple in triples]), inner, source


_pad_constant.vjp(
    input=lambda xp, g, sides: xp.call(_pad_constant, g, tuple((-a, -b) for a, b in sides), 0)
)


def _edges(length: int, before: int, after: int, mode: str) -> tuple[slice, slice]:
    """Slices of the elements of a dimension that the padding copies before and after it.

    ``length`` is the size of the dimension, ``before`` and ``after`` are the numbers of copies.
    """
    if mode == "reflect":
        end = length - 2 - after
        return slice(before, 0, -1), slice(length - 2, end if end >= 0 else None, -1)
    if mode == "replicate":
        return slice(0, 1), slice(length - 1, length)
    return slice(length - before, length), slice(0, after)


def _regions(
    ndim: int, axis: int, length: int, before: int, after: int, mode: str
) -> list[tuple[Any, Any]]:
    """Pairs of indices: of elements of the input, and of their copies in the padded array.

    There is a pair for the padding before dimension ``axis``, which has size ``length`` in the
    input, and one for the padding after it.
    """
    lead = (slice(None),) * (axis % ndim)
    first, last = _edges(length, before, after, mode)
    pairs = []
    if before:
        pairs.append(((*lead, first), (*lead, slice(0, before))))
    if after:
        pairs.append(((*lead, last), (*lead, slice(before + length, before + length + after))))
    return pairs


def _padding_node_name(node: Node) -> str | None:
    """PyTorch's name of the node of a padding; None keeps the name of another operation."""
    if "mode" not in node.op.index:  # the operation is no padding
        return None
    kind = {"reflect": "Reflection", "replicate": "Replication"}.get(argument(node, "mode"))
    count, edge = 1, node.edges[0]
    while edge.__class__ is Node and edge.op.name == node.op.name:  # a node per dimension
        count, edge = count + 1, edge.edges[0]
    return f"{kind}Pad{count}DBackward0" if kind else "CopySlices"


@op(node=_padding_node_name)
def _pad_edge(xp: Backend, input: Array, axis: int, before: int, after: int, mode: str) -> Array:
    """``input`` with copies of its elements before and after it along one dimension.

    ``before`` and ``after`` are the numbers of copies.
    """
    axis, length = axis % input.ndim, input.shape[axis]
    shape = (*input.shape[:axis], length + before + after, *input.shape[axis + 1 :])
    out = xp.empty(shape, input.dtype)
    out[((slice(None),) * axis) + (slice(before, before + length),)] = input
    for source, target in _regions(input.ndim, axis, length, before, after, mode):
        out[target] = input[source]
    return out


@op
def _fold_edge(xp: Backend, input: Array, axis: int, before: int, after: int, mode: str) -> Array:
    """Gradient of ``_pad_edge``: the padding is removed and added to the elements it copies."""
    length = input.shape[axis] - before - after
    inside = ((slice(None),) * (axis % input.ndim)) + (slice(before, before + length),)
    out = xp.array(input[inside])
    for source, target in _regions(input.ndim, axis, length, before, after, mode):
        part = input[target]
        out[source] += xp.sum(part, axis=axis, keepdims=True) if mode == "replicate" else part
    return out


_pad_edge.vjp(input=piecewise(
    lambda xp, g, axis, before, after, mode: xp.call(_fold_edge, g, axis, before, after, mode)
))  # fmt: skip
_fold_edge.vjp(
    input=lambda xp, g, axis, before, after, mode: xp.call(_pad_edge, g, axis, before, after, mode)
)


@composite(namespaces=("nn.functional",))
def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """``input`` with elements added at both ends of its last dimensions.

    Args:
        input: Tensor of any shape; in the modes other than ``"constant"`` a batch of images
            with as many dimensions as ``pad`` has pairs, or one image.
        pad: Number of elements to add before and after, in pairs, the last dimension first;
            negative numbers remove elements.
        mode: ``"constant"`` (default) adds ``value``, ``"reflect"`` mirrors the elements at the
            edge element, ``"replicate"`` repeats the edge element, ``"circular"`` continues at
            the other end.
        value: The constant; default 0.

    Returns:
        A new tensor.

    Raises:
        RuntimeError: If ``pad`` does not fit the shape, or is too large for the mode.
        NotImplementedError: For another mode, or a number of dimensions a mode does not support.

    Example:
        >>> tt.nn.functional.pad(tt.tensor([1, 2, 3]), (1, 2))
        tensor([0, 1, 2, 3, 0, 0])
        >>> tt.nn.functional.pad(tt.tensor([[1, 2, 3]]), (0, 2), mode="reflect")
        tensor([[1, 2, 3, 2, 1]])
    """
    amounts = _check_pad(pad, input)
    if mode == "constant":
        # PyTorch converts an int to a float, so that a negative one is an error for uint8.
        return _pad_with(input, amounts, float(value) if isinstance(value, int) else value)
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    _check_image(input, amounts, mode)
    out = _pad_edges(input, amounts, mode)
    return out if mode == "circular" else keep_versions(out, input)


@composite(node=Nodes(_padding_node_name, frees=True))
def _pad_edges(input: Tensor, amounts: list[tuple[int, int]], mode: str) -> Tensor:
    """``input`` with each dimension padded in ``mode``, the last dimension first.

    ``amounts`` has pairs of numbers of elements before and after, for the last dimension first.
    """
    out: Any = input.clone() if not any(map(any, amounts)) else input
    for i, (before, after) in enumerate(amounts):
        out = _pad_dim(out, -1 - i, before, after, mode)
    if mode != "circular" and max(map(max, amounts)) <= 0:  # a copy with the node of a padding
        out = _pad_edge(out, -1, 0, 0, mode)
    out = out if mode == "circular" else following(out, input)
    return out.clone() if out._base is not None else out  # type: ignore[no-any-return]


@composite
def constant_pad_nd(input: Tensor, pad: Sequence[int], value: float = 0) -> Tensor:
    """``nn.functional.pad`` with a constant.

    Args:
        input: Tensor of any shape.
        pad: Number of elements to add before and after, in pairs, the last dimension first.
        value: The constant; default 0.

    Example:
        >>> tt.constant_pad_nd(tt.tensor([1, 2]), (1, 0), 7)
        tensor([7, 1, 2])
    """
    return _pad_with(input, _check_pad(pad, input), value)


def _check_pad(pad: Any, input: Tensor) -> list[tuple[int, int]]:
    """``pad`` as pairs of ints, the last dimension first; raise if it is malformed."""
    if not isinstance(pad, (tuple, list)):
        raise TypeError(
            f"pad(): argument 'pad' (position 2) must be tuple of ints, not {type(pad).__name__}"
        )
    for i, n in enumerate(pad):
        if is_rejected_bool(n, pad) or not hasattr(n, "__index__"):
            raise TypeError(
                "pad(): argument 'pad' (position 2) must be tuple of ints, but found element of "
                f"type {type(n).__name__} at pos {i}"
            )
    if len(pad) % 2:
        raise RuntimeError(f"pad: Padding length must be divisible by 2, got {len(pad)}")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "pad: Padding length should be less than or equal to two times the input dimension but "
            f"got padding length {len(pad)} and input of dimension {input.ndim}"
        )
    numbers = list(map(operator.index, pad))
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _pad_with(input: Tensor, amounts: list[tuple[int, int]], value: float | None) -> Tensor:
    """``input`` padded with the constant ``value``; None stands for 0.

    ``amounts`` has pairs of numbers of elements before and after, for the last dimension first.
    """
    if isinstance(value, complex) and not input.is_complex():
        raise TypeError("pad(): argument 'value' (position 4) must be float, not complex")
    shape = input._data.shape
    sides = ((0, 0),) * (len(shape) - len(amounts)) + tuple(amounts[::-1])
    for dim, (n, (a, b)) in enumerate(zip(shape, sides, strict=True)):
        if (a < 0 or b < 0) and (n + a + b < 0 or -min(a, 0) - min(b, 0) > n):
            raise RuntimeError(
                f"pad: The input size {n}, plus negative padding {a} and {b} resulted in a "
                f"negative output size, which is invalid. Check dimension {dim} of your input."
            )
    return _pad_constant(input, sides, convert_to_write(value or 0, input.dtype))


def _check_image(input: Tensor, amounts: list[tuple[int, int]], mode: str) -> None:
    """Raise an error for an input that cannot be padded by ``amounts`` in ``mode``."""
    spatial = len(amounts)
    if not 1 <= spatial <= 3 or input.ndim not in (spatial + 1, spatial + 2):
        raise NotImplementedError(
            f"pad: Padding size {2 * spatial} is not supported for {input.ndim}D input tensor "
            f"(mode {mode!r}): only 2D and 3D inputs for 2 numbers, 3D and 4D for 4, 4D and 5D "
            "for 6"
        )
    if mode != "circular" and 0 in input.shape[-spatial - 1 :]:
        raise RuntimeError(
            f"pad: Expected {spatial + 1}D or {spatial + 2}D (batch mode) tensor with possibly 0 "
            f"batch size and other non-zero dimensions for input, but got: {list(input.shape)}"
        )
    if mode != "circular":
        check_supported(input._xp, f"{mode} pad", input._data, unsupported="b")
    for i, (before, after) in enumerate(amounts):
        _check_side(input, input.ndim - 1 - i, before, after, mode)
    sizes = [n + sum(pair) for n, pair in zip(reversed(input.shape), amounts, strict=False)]
    if mode != "circular" and not any(sizes):
        raise RuntimeError(_too_small(input, f"{sizes[0]} for padding {amounts}"))


def _check_side(input: Tensor, dim: int, before: int, after: int, mode: str) -> None:
    """Raise RuntimeError if a dimension is too small to be padded in ``mode``."""
    length = input.shape[dim]
    where = f"padding ({before}, {after}) at dimension {dim} of input {list(input.shape)}"
    if mode == "reflect" and max(before, after) >= length:
        raise RuntimeError(
            "pad: Argument #4: Padding size should be less than the corresponding input "
            f"dimension, but got: {where}"
        )
    if mode == "circular" and max(before, after) > length + min(before, after, 0):
        raise RuntimeError(f"pad: Padding value causes wrapping around more than once: {where}")
    if length + before + after < 0:
        raise RuntimeError(_too_small(input, f"{length + before + after} for {where}"))


def _too_small(input: Tensor, output_size: str) -> str:
    """Message of the error of an input that is too small; ``output_size`` describes the result."""
    return f"pad: input ({list(input.shape)}) is too small. Calculated output size: {output_size}"


def _pad_dim(x: Any, dim: int, before: int, after: int, mode: str) -> Any:
    """Pad and crop one dimension: circular padding crops first, the other modes last."""
    steps = [(max(before, 0), max(after, 0)), (min(before, 0), min(after, 0))]
    for a, b in reversed(steps) if mode == "circular" else steps:
        if a > 0 or b > 0:
            x = _pad_edge(x, dim, a, b, mode)
        elif a < 0 or b < 0:
            x = x.narrow(dim, -a, x.shape[dim] + a + b)
    return x
