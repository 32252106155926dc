"""Flips, rolls, rotations and repetitions, which are copies; transposes, which are views."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Reduced, Shape, composite, op
from ...warnings import warn
from ..checks import as_int, as_ints, check_tensor
from ..index.gathering import index_select
from ..index.positions import int64_range, to_int64
from ..memory_order import as_row_major, suggest_memory_format, to_memory_format
from ..pointwise.complex_numbers import conj
from .sizes import (
    expand,
    flatten,
    flip,
    normalize_dim,
    normalize_dims,
    reshape,
    transpose,
)

Dims = int | Sequence[int]


@composite(method=True)
def fliplr(input: Tensor) -> Tensor:
    """``input`` with its columns in reverse order: ``flip`` along dimension 1.

    Args:
        input: Tensor of at least two dimensions.

    Raises:
        RuntimeError: For fewer than two dimensions.

    Example:
        >>> tt.fliplr(tt.tensor([[1, 2], [3, 4]]))
        tensor([[2, 1],
                [4, 3]])
    """
    if input.ndim < 2:
        raise RuntimeError(f"fliplr: Input must be >= 2-d., got {input.ndim}-d")
    return flip(input, (1,))


@composite(method=True)
def flipud(input: Tensor) -> Tensor:
    """``input`` with its rows in reverse order: ``flip`` along dimension 0.

    Args:
        input: Tensor of at least one dimension.

    Raises:
        RuntimeError: For a 0-d tensor.

    Example:
        >>> tt.flipud(tt.tensor([[1, 2], [3, 4]]))
        tensor([[3, 4],
                [1, 2]])
    """
    if input.ndim < 1:
        raise RuntimeError("flipud: Input must be >= 1-d., got 0-d")
    return flip(input, (0,))


@op(method=True)
def roll(xp: Backend, input: Array, shifts: Dims, dims: Dims | None = None) -> Array:
    """Shift the elements of ``input`` cyclically along dimensions.

    Args:
        input: Tensor of any shape.
        shifts: Number of positions for each dimension of ``dims``; negative numbers shift back.
        dims: The dimension or dimensions. Default None: shift the flattened tensor.

    Returns:
        A copy.

    Raises:
        RuntimeError: If ``shifts`` and ``dims`` differ in number.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.roll(tt.arange(4), 1)
        tensor([3, 0, 1, 2])
    """
    moves: Any = (shifts,)
    axes: Any = (dims,)
    if not (shifts.__class__ is int is dims.__class__ and -input.ndim <= dims < input.ndim):
        moves, axes = _normalize_roll(shifts, dims, input.ndim)
    if axes and not input.ndim:
        raise IndexError("roll: Dimension specified as 0 but tensor has no dimensions")
    if not axes:
        return as_row_major(xp, xp.roll(input, moves[0]))
    return to_memory_format(xp, xp.roll(input, moves, axes), suggest_memory_format(input))


def _normalize_roll(shifts: Any, dims: Any, ndim: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Convert shifts and dimensions to tuples of one length; no dimensions roll all elements."""
    moves = as_ints("roll", "shifts", shifts)
    given = (
        () if dims is None else (dims,) if dims.__class__ is int else as_ints("roll", "dims", dims)
    )
    if not moves:
        raise RuntimeError("roll: `shifts` required")
    if len(moves) != len(given) and (given or len(moves) > 1):
        raise RuntimeError(
            f"roll: shifts and dimensions must align. shifts: {len(moves)}, dims: {len(given)}"
        )
    return moves, normalize_dims("roll", given, ndim)


def _roll_back(xp: Any, g: Any, shifts: Any, dims: Any) -> Any:
    """Gradient of ``roll``: ``g`` rolled by the negative shifts."""
    moves, _ = _normalize_roll(shifts, dims, g.ndim)
    return xp.call(roll, g, tuple(-s for s in moves), dims)


roll.vjp(input=_roll_back)


@roll.numpy
def _numpy_roll(input: Any, shift: Any = None, axis: Any = None, **options: Any) -> Tensor:
    return roll(input, options.pop("shifts", shift), axis)


@composite(method=True, node="Rot90Backward0")
def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Rotate ``input`` by ``k`` times 90 degrees in the plane of two dimensions.

    Args:
        input: Tensor of at least two dimensions.
        k: Number of rotations, from the first of ``dims`` towards the second. Default 1.
        dims: The plane; default the first two dimensions.

    Returns:
        A copy.

    Raises:
        RuntimeError: If ``dims`` are not two different dimensions, or ``input`` has fewer than two.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.rot90(tt.tensor([[1, 2], [3, 4]]))
        tensor([[2, 4],
                [1, 3]])
    """
    if len(dims) != 2:
        raise RuntimeError(f"rot90: expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.ndim < 2:
        raise RuntimeError(f"rot90: expected total dims >= 2, but got total dims = {input.ndim}")
    first, second = normalize_dims("rot90", dims, input.ndim)
    if first == second:
        raise RuntimeError(f"rot90: expected rotation dims to be different, but got {list(dims)}")
    return _rotate(input, as_int("rot90", "k", k) % 4, first, second)


@op(node="Rot90Backward0", reduced=Reduced.NATIVE)
def _rotate(xp: Backend, input: Array, turns: int, first: int, second: int) -> Array:
    """``rot90`` by 0 to 3 turns; the result has PyTorch's memory order."""
    if not turns:
        return xp.array(input, order="C")
    if turns != 3:
        input = flip.kernel(xp, input, (second,) if turns == 1 else (first, second))
    else:
        input = flip.kernel(xp, input, (first,))
    return input.swapaxes(first, second) if turns != 2 else input


_rotate.vjp(
    input=lambda xp, g, turns, first, second: xp.call(_rotate, g, -turns % 4, first, second)
)


@rot90.numpy
def _numpy_rot90(input: Any, k: int = 1, **options: Any) -> Tensor:
    return rot90(input, k, options.pop("axes", options.pop("dims", (0, 1))))


# -- repetition ------------------------------------------------------------------------------------


@op(node="RepeatBackward0")
def _tile(xp: Backend, input: Array, repeats: Shape) -> Array:
    out = xp.tile(input, tuple(repeats))
    return xp.ascontiguousarray(out) if out.ndim else out


def _tile_gradient(xp: Any, g: Any, in_shape: Any, repeats: Any) -> Any:
    """Sum of the gradients of all copies of an element."""
    lead = len(repeats) - len(in_shape)
    sizes = (1,) * lead + tuple(in_shape)
    pairs = [n for pair in zip(repeats, sizes, strict=True) for n in pair]
    axes = tuple(range(0, len(pairs), 2))
    return xp.sum(g.reshape(tuple(pairs)), axis=axes).reshape(in_shape) if pairs else g


_tile.vjp(input=_tile_gradient)


@composite(namespaces=("Tensor",))
def repeat(input: Tensor, *repeats: Any, axis: int | None = None) -> Tensor:
    """Repeat ``input`` along each dimension.

    With ``axis=`` it is NumPy's ``repeat``, which repeats each element; see
    ``repeat_interleave``.

    Args:
        input: Tensor of any shape.
        *repeats: Number of repetitions for each dimension, as a sequence or one by one. If there
            are more numbers than dimensions, new dimensions are added in front.
        axis: The dimension, for NumPy's ``repeat``.

    Returns:
        A copy.

    Raises:
        RuntimeError: If there are fewer numbers than dimensions, or negative ones.

    Example:
        >>> tt.tensor([1, 2]).repeat(2, 2)
        tensor([[1, 2, 1, 2],
                [1, 2, 1, 2]])
    """
    if axis is not None:
        return repeat_interleave(input, repeats[0], axis)
    many = len(repeats) == 1 and isinstance(repeats[0], (tuple, list))
    counts = as_ints("repeat", "repeats", repeats[0] if many else repeats)
    if len(counts) < input.ndim:
        raise RuntimeError(
            "repeat: Number of dimensions of repeat dims can not be smaller than number of "
            f"dimensions of tensor, got {list(counts)} for a tensor of shape {list(input.shape)}"
        )
    if any(n < 0 for n in counts):
        raise RuntimeError(
            f"repeat: Trying to create tensor with negative dimension: repeats {list(counts)}"
        )
    return _tile(input, counts)


@composite(method=True)
def tile(input: Tensor, dims: Any, *more: Any) -> Tensor:
    """Repeat ``input`` along each dimension; missing numbers of repetitions are 1.

    Args:
        input: Tensor of any shape.
        dims: Number of repetitions for the last dimensions, as a sequence or one by one.
        *more: The other numbers, if they are passed one by one.

    Returns:
        A copy.

    Example:
        >>> tt.tile(tt.tensor([1, 2]), (2,))
        tensor([1, 2, 1, 2])
    """
    given = dims if isinstance(dims, (tuple, list)) else (dims, *more)
    counts = as_ints("tile", "dims", given)
    return repeat(input, (1,) * (input.ndim - len(counts)) + counts)


@op
def _repeat_index(xp: Backend, repeats: Array, output_size: int | None) -> Array:
    """Indices in which i occurs ``repeats[i]`` times; without ``output_size`` the host waits."""
    if repeats.dtype.kind != "i" or repeats.dtype.itemsize < 4:
        raise RuntimeError(
            f"repeat_interleave: repeats has to be Long or Int tensor, got {repeats.dtype.name}"
        )
    xp.check_all(repeats >= 0, "repeat_interleave: repeats can not be negative")
    ends = xp.cumsum(to_int64(xp, repeats))
    total = int(xp.item(ends[-1:])) if output_size is None and ends.size else (output_size or 0)
    if output_size is not None and ends.size:
        xp.check_all(
            ends[-1] == total, "repeat_interleave: allocated size does not match required size"
        )
    return to_int64(xp, xp.searchsorted(ends, int64_range(xp, total), side="right"))


@composite(method=True, node="ViewBackward0")
def repeat_interleave(
    input: Tensor | None = None, repeats: Any = None, dim: int | None = None, *,
    output_size: int | None = None,
) -> Tensor:  # fmt: skip
    """Repeat each element of ``input`` several times in a row.

    Args:
        input: Tensor of any shape.
        repeats: An int, or an int32 or int64 tensor with one number for each element along
            ``dim``. If it is the only argument, the numbers 0, 1, 2, ... are repeated.
        dim: The dimension; None, the default, means the flattened tensor.
        output_size: The result's size along ``dim``, which avoids a wait for the device.

    Returns:
        A copy.

    Raises:
        RuntimeError: If a number is negative or ``repeats`` does not fit ``input``.

    Example:
        >>> tt.repeat_interleave(tt.tensor([7, 8]), tt.tensor([1, 2]))
        tensor([7, 8, 8])
    """
    if input is None:
        input, repeats = repeats, None
    if repeats is None:
        check_tensor("repeat_interleave", input)
        if input.ndim != 1:
            raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
        return _repeat_index(input, output_size)
    source = flatten(input) if dim is None else input
    at = normalize_dim("repeat_interleave", dim or 0, source.ndim)
    if isinstance(repeats, (tuple, list)):
        repeats = input.new_tensor(repeats, dtype=dtypes.int64)
    if not isinstance(repeats, Tensor):
        result = _repeat_along(source, as_int("repeat_interleave", "repeats", repeats), at)
        if output_size is not None and result.shape[at] != output_size:
            raise RuntimeError(
                f"repeat_interleave: Invalid output_size, expected {result.shape[at]} but got "
                f"{output_size}"
            )
        return result
    size = source.shape[at] if source.ndim else 1
    if repeats.ndim == 0 or repeats.shape[0] == 1 != size:
        repeats = expand(reshape(repeats, (1,)), (size,))
    if repeats.ndim != 1 or repeats.shape[0] != size:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats.shape[0]} and input.size({at}) = {size}"
        )
    index = _repeat_index(repeats, output_size)
    return index_select(source if source.ndim else reshape(source, (1,)), at, index)


def _repeat_along(source: Tensor, repeats: int, at: int) -> Tensor:
    """``repeat_interleave`` along dimension ``at`` with one number of repetitions."""
    if repeats < 0:
        raise RuntimeError(f"repeat_interleave: Repeats must be non-negative, got {repeats}")
    return _repeat_each(source, repeats, at)


@op(node="ViewBackward0", reduced=Reduced.NATIVE)
def _repeat_each(xp: Backend, input: Array, repeats: int, at: int) -> Array:
    """Repeat each slice along ``at`` several times in a row."""
    return as_row_major(xp, (input if input.ndim else input.reshape(1)).repeat(repeats, at))


def _repeats_gradient(xp: Any, g: Any, in_shape: Any, repeats: int, at: int) -> Any:
    """Gradient of ``_repeat_each``: the sum over the repetitions."""
    shape = tuple(in_shape) or (1,)
    parts = g.reshape((*shape[: at + 1], repeats, *shape[at + 1 :]))
    return xp.sum(parts, axis=at + 1).reshape(in_shape)


_repeat_each.vjp(input=_repeats_gradient)


@op(method=True, view=True)
def t(xp: Backend, input: Array) -> Array:
    """The transpose of a matrix; a view of the same shape for fewer dimensions.

    Args:
        input: Tensor of at most two dimensions.

    Raises:
        RuntimeError: If ``input`` has more than two dimensions.

    Example:
        >>> tt.tensor([[1, 2], [3, 4]]).t()
        tensor([[1, 3],
                [2, 4]])
    """
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return input.transpose()


t.vjp(input=lambda xp, g: g.transpose())


@op(view=True, attribute=True, namespaces=("Tensor",), node="PermuteBackward0")
def T(xp: Backend, input: Array) -> Array:
    """``input`` with its dimensions reversed.

    Args:
        input: Tensor of shape ``(m, n)``; other numbers of dimensions are deprecated, as in
            PyTorch.

    Example:
        >>> tt.zeros(2, 3).T.shape
        tinytorch.Size([3, 2])
    """
    if input.ndim != 2:
        _warn_of_other_than_matrices(input.ndim)
    return input.transpose()


def _warn_of_other_than_matrices(ndim: int) -> None:
    """Warn that ``x.T`` is deprecated for a tensor that is not a matrix."""
    if not ndim:
        _warn_of_no_matrix("T")
        return
    warn(
        "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
        "deprecated. Consider `x.mT` to transpose batches of matrices or "
        "`x.permute(*range(x.ndim)[::-1])` to reverse the dimensions of a tensor."
    )


def _warn_of_no_matrix(name: str) -> None:
    """Warn that attribute ``name`` is deprecated for a tensor without dimensions."""
    real = name in ("T", "mT")
    hint = "This function is the identity in these cases." if real else "Consider using x.conj()."
    warn(f"Tensor.{name} is deprecated on 0-D tensors. {hint}")


T.vjp(input=lambda xp, g: g.transpose())


@op(view=True, attribute=True, namespaces=("Tensor",), node="TransposeBackward0")
def mT(xp: Backend, input: Array) -> Array:
    """``input`` with its last two dimensions swapped; a 0-d tensor unchanged.

    Args:
        input: ``(..., m, n)``, or a 0-d tensor.

    Raises:
        RuntimeError: If ``input`` has one dimension.

    Example:
        >>> tt.zeros(4, 2, 3).mT.shape
        tinytorch.Size([4, 3, 2])
    """
    if input.ndim == 1:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    if not input.ndim:
        _warn_of_no_matrix("mT")
    return _swap_last_dims(xp, input)


def _swap_last_dims(xp: Any, x: Any) -> Any:
    return x.swapaxes(-1, -2) if x.ndim else x


mT.vjp(input=lambda xp, g: _swap_last_dims(xp, g))


@composite(namespaces=("Tensor",), attribute=True, like=mT)
def mH(input: Tensor) -> Tensor:
    """``input`` with its last two dimensions swapped, conjugated if it is complex.

    Returns:
        A view.

    Example:
        >>> tt.tensor([[1j, 2.0]]).mH
        tensor([[0.-1.j],
                [2.-0.j]])
    """
    ndim = input._data.ndim
    if ndim == 1:
        raise RuntimeError(
            "tensor.mH is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    if not ndim:
        _warn_of_no_matrix("mH")
    swapped = transpose(input, -2, -1) if ndim else t(input)
    return conj(swapped) if input._data.dtype.kind == "c" else swapped


@composite(method=True, like=mT)
def adjoint(input: Tensor) -> Tensor:
    """``input`` with its last two dimensions swapped, conjugated if it is complex.

    Example:
        >>> tt.adjoint(tt.zeros(2, 3)).shape
        tinytorch.Size([3, 2])
    """
    return mH(input)


@composite(namespaces=("Tensor",), attribute=True)
def H(input: Tensor) -> Tensor:
    """The transpose of a matrix, conjugated if it is complex; a 0-d tensor unchanged.

    Args:
        input: ``(m, n)``, or a 0-d tensor.

    Raises:
        RuntimeError: If ``input`` has one dimension or more than two.

    Example:
        >>> tt.zeros(2, 3).H.shape
        tinytorch.Size([3, 2])
    """
    if input.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {input.ndim}-D tensor."
            + (" For batches of matrices, consider using tensor.mH" if input.ndim > 2 else "")
        )
    if not input.ndim:
        _warn_of_no_matrix("H")
    swapped = t(input)
    return conj(swapped)


@op(method=True, view=True, aliases=("moveaxis",), node="PermuteBackward0")
def movedim(
    xp: Backend, input: Array, source: int | Sequence[int], destination: int | Sequence[int]
) -> Array:
    """``input`` with some dimensions moved; the others keep their order.

    Args:
        input: Tensor of any shape.
        source: The dimension or dimensions to move.
        destination: The new position of each of these dimensions.

    Returns:
        A view.

    Raises:
        RuntimeError: If dimensions are repeated or their numbers differ.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.zeros(2, 3, 4).movedim(0, -1).shape
        tinytorch.Size([3, 4, 2])
    """
    return input.transpose(_move_permutation(source, destination, input.ndim))


def _move_permutation(source: Any, destination: Any, ndim: int) -> tuple[int, ...]:
    """The permutation that moves ``source`` to ``destination``."""
    return _moved_order(
        as_ints("movedim", "source", source), as_ints("movedim", "destination", destination), ndim
    )


@functools.lru_cache(maxsize=1024)
def _moved_order(
    source: tuple[int, ...], destination: tuple[int, ...], ndim: int
) -> tuple[int, ...]:
    """The cached results of ``_move_permutation``."""
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should "
            f"contain the same number of dims as destination ({list(destination)} dims)"
        )
    given = (source, destination)
    moved = [[normalize_dim("movedim", d, ndim) for d in dims] for dims in given]
    for argument, dims, shown in zip(("source", "destination"), moved, given, strict=True):
        if len(dims) > 1 and len(set(dims)) < len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{argument}` ({list(shown)})")
    order = [d for d in range(ndim) if d not in moved[0]]
    if not ndim:
        return ()
    for at, d in sorted(zip(moved[1], moved[0], strict=True)):
        order.insert(at, d)
    return tuple(order)


movedim.vjp(
    input=lambda xp, g, source, destination: xp.transpose(
        g, _move_permutation(destination, source, g.ndim)
    )
)
