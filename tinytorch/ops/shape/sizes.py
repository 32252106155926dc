"""Reshaping, permuting and expanding tensors; most results are views."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, ArrayOrInput, Backend, Nodes, Shape, op
from ...graph.nodes import Node
from ...graph.special_nodes import argument
from ..checks import as_int, as_ints
from ..memory_order import as_row_major, copy_in_memory_order

#: Names of the nodes of reshaping operations: of a view, and of a copy.
_RESHAPE_NODES = Nodes("ViewBackward0", copy="UnsafeViewBackward0")


@op(method=True, view=True, node=_RESHAPE_NODES)
def reshape(xp: Backend, input: Array, shape: Shape) -> Array:
    """The elements of ``input``, in row-major order, in another shape.

    Args:
        input: Tensor of any shape.
        shape: The new sizes, as a sequence or one by one. One of them may be -1 and is then
            inferred.

    Returns:
        A view if the strides allow it, else a copy.

    Raises:
        RuntimeError: If the number of elements differs.

    Example:
        >>> tt.arange(4).reshape(2, -1)
        tensor([[0, 1],
                [2, 3]])
    """
    return reshape_array("reshape", input, shape)


reshape.vjp(input=lambda xp, g, in_shape: g.reshape(in_shape))


def reshape_array(name: str, input: Array, shape: Sequence[int]) -> Array:
    """Reshape an array to a shape in which one size may be -1."""
    for n in shape:
        if n.__class__ is not int or n < -1:
            break
    else:
        try:
            return input.reshape(shape)
        except ValueError:  # raise PyTorch's error below
            pass
    return input.reshape(infer_shape(name, input.shape, shape))


def infer_shape(name: str, have: tuple[int, ...], wanted: Sequence[int]) -> tuple[int, ...]:
    """Replace a -1 in ``wanted`` by its size; raise if the numbers of elements differ."""
    total = math.prod(have)
    if wanted.__class__ is tuple:
        product = 1
        for n in wanted:
            if n.__class__ is not int or n <= 0:
                break
            product *= n
        else:
            if product == total:
                return wanted
    shape = as_ints(name, "shape", wanted)
    product = math.prod(shape)
    if product == total > 0 and min(shape, default=1) > 0:
        return shape
    if product < 0 == total % product and min(shape) == -1 == -shape.count(-1):
        at = shape.index(-1)
        return (*shape[:at], total // -product, *shape[at + 1 :])
    unknown = [i for i, n in enumerate(shape) if n == -1]
    known = math.prod(n for n in shape if n != -1)
    if len(unknown) > 1:
        raise RuntimeError(f"{name}: only one dimension can be inferred, got shape {list(shape)}")
    wrong = next((i for i, n in enumerate(shape) if n < -1), None)
    if wrong is not None:
        raise RuntimeError(
            f"{name}: invalid shape dimension {shape[wrong]} at index {wrong} of shape "
            f"{list(shape)}"
        )
    if unknown and known == 0 == total:
        raise RuntimeError(
            f"cannot reshape tensor of {total} elements into shape {list(shape)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        )
    if total % known if unknown and known else total != known:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {total}")
    return tuple(total // known if n == -1 else n for n in shape)


def normalize_dim(name: str, dim: int, ndim: int) -> int:
    """Convert a negative ``dim``; raise IndexError if there is no such dimension."""
    if dim.__class__ is not int:
        if isinstance(dim, Tensor) and dim.ndim:
            raise TypeError(f"{name}(): argument 'dim' must be int, not Tensor")
        dim = as_int(name, "dim", dim)
    elif 0 <= dim < ndim:
        return dim
    bound = max(ndim, 1)
    if not -bound <= dim < bound:
        raise IndexError(
            f"{name}: Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], "
            f"but got {dim})"
        )
    return dim % bound


def normalize_dims(name: str, dims: int | Sequence[int], ndim: int) -> tuple[int, ...]:
    """Normalize one dimension or several to a tuple; raise IndexError if one does not exist."""
    if dims.__class__ is int:
        return (normalize_dim(name, dims, ndim),)
    return tuple([normalize_dim(name, d, ndim) for d in as_ints(name, "dims", dims)])


def distinct_dims(name: str, dims: int | Sequence[int], ndim: int) -> tuple[int, ...]:
    """Normalize dimensions, and raise if one is repeated."""
    found = normalize_dims(name, dims, ndim)
    if len(found) > 1 and len(set(found)) < len(found):
        twice = next(d for d in found if found.count(d) > 1)
        raise RuntimeError(f"{name}: dim {twice} appears multiple times in the list of dims")
    return found


@op(method=True, view=True, aliases=("swapaxes", "swapdims"))
def transpose(
    xp: Backend, input: Array, dim0: int | Shape | None = None, dim1: int | None = None
) -> Array:
    """``input`` with two dimensions swapped.

    Without dimensions it is NumPy's ``transpose``, which reverses all dimensions. With a sequence
    it is ``permute``.

    Args:
        input: Tensor of any shape.
        dim0: The first dimension; negative numbers count from the end.
        dim1: The second dimension.

    Returns:
        A view.

    Raises:
        IndexError: If there is no such dimension.

    Example:
        >>> tt.zeros(2, 3).transpose(0, 1).shape
        tinytorch.Size([3, 2])
    """
    if dim0.__class__ is int is dim1.__class__:
        try:
            return input.swapaxes(dim0, dim1)
        except (ValueError, IndexError):  # no such dimension: raise PyTorch's error below
            pass
    ndim = input.ndim
    given: Any = dim0  # a sequence of all dimensions if it is the only argument
    if dim1 is None:
        return input.transpose(None if given is None else _permutation(given, ndim))
    first = normalize_dim("transpose", given, ndim)
    second = normalize_dim("transpose", dim1, ndim)
    return input.swapaxes(first, second) if ndim else input[...]


def _transpose_gradient(xp: Any, g: Any, dim0: Any, dim1: Any) -> Any:
    """Undo ``transpose`` of two dimensions, or of all in NumPy's form."""
    if dim1 is None:
        return xp.transpose(g, None if dim0 is None else _inverse_permutation(dim0, g.ndim))
    return g.swapaxes(dim0, dim1) if g.ndim else g


transpose.vjp(input=_transpose_gradient)


@op(method=True, view=True)
def permute(xp: Backend, input: Array, dims: Shape) -> Array:
    """``input`` with its dimensions in another order.

    Args:
        input: Tensor of any shape.
        dims: The order, as a sequence or as ints one by one.

    Returns:
        A view.

    Raises:
        RuntimeError: If ``dims`` is not a permutation of all dimensions.

    Example:
        >>> tt.zeros(2, 3, 4).permute(2, 0, 1).shape
        tinytorch.Size([4, 2, 3])
    """
    for d in dims:
        if d.__class__ is not int:
            break
    else:
        try:
            return input.transpose(dims)
        except ValueError:  # raise PyTorch's error below
            pass
    return input.transpose(_permutation(dims, input.ndim))


def _permutation(dims: Sequence[int], ndim: int) -> tuple[int, ...]:
    """The dimensions of ``permute``, nonnegative; RuntimeError unless each occurs once."""
    if len(dims) != ndim:
        raise RuntimeError(
            "permute: number of dimensions in the tensor input does not match the length of the "
            f"desired ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = "
            f"{len(dims)}"
        )
    order = normalize_dims("permute", dims, ndim)
    if len(set(order)) < ndim:
        raise RuntimeError(f"permute: duplicate dims are not allowed, got {list(dims)}")
    return order


def _inverse_permutation(dims: Sequence[int], ndim: int) -> tuple[int, ...]:
    """The permutation that undoes ``permute(dims)``."""
    order = _permutation(dims, ndim)
    return tuple(sorted(range(ndim), key=order.__getitem__))


permute.vjp(input=lambda xp, g, dims: g.transpose(_inverse_permutation(dims, g.ndim)))


@op(method=True, view=True, node=_RESHAPE_NODES)
def flatten(xp: Backend, input: Array, start_dim: int = 0, end_dim: int = -1) -> ArrayOrInput:
    """Merge the dimensions of ``input`` from ``start_dim`` to ``end_dim`` into one.

    For a single dimension the result is ``input`` itself.

    Args:
        input: Tensor of any shape; a 0-d tensor becomes a tensor of shape ``(1,)``.
        start_dim: The first dimension to merge; default 0.
        end_dim: The last dimension to merge; default -1.

    Raises:
        RuntimeError: If ``start_dim`` comes after ``end_dim``.

    Example:
        >>> tt.zeros(2, 3, 4).flatten(1).shape
        tinytorch.Size([2, 12])
    """
    ndim = input.ndim
    if ndim > 1 and input.flags.c_contiguous and start_dim.__class__ is int and start_dim == 0:
        if end_dim.__class__ is int and (end_dim == -1 or end_dim == ndim - 1):
            return input.ravel()  # a view, faster than reshape
    if isinstance(start_dim, str):  # in NumPy the first argument is the order
        if start_dim != "C":
            raise ValueError(f"flatten(): give the order as order={start_dim!r}")
        start_dim = 0
    first = normalize_dim("flatten", start_dim, ndim)
    last = normalize_dim("flatten", end_dim, ndim)
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if first == last and ndim:
        return input
    shape = input.shape
    size = math.prod(shape[first : last + 1])
    return input.reshape((*shape[:first], size, *shape[last + 1 :]))


flatten.vjp(input=lambda xp, g, in_shape: g.reshape(in_shape))


@op(method=True, view=True, node="ViewBackward0")
def ravel(xp: Backend, input: Array) -> Array:
    """The elements of ``input`` in one dimension, in row-major order.

    Example:
        >>> tt.zeros(2, 3).ravel().shape
        tinytorch.Size([6])
    """
    return as_row_major(xp, input).reshape(-1 if input.size else 0)


ravel.vjp(input=lambda xp, g, in_shape: g.reshape(in_shape))


def _reshape_in_order(name: str, input: Tensor, shape: Sequence[int], order: str) -> Tensor:
    """Reshape ``input``, reading and writing its elements in NumPy's ``order``."""
    flags = input._data.flags
    order = order.upper()
    if order == "A":
        order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
    if order == "C":
        return reshape(input, shape)
    if order != "F":
        raise ValueError(f"{name}(): order must be 'C', 'F' or 'A', got {order!r}")
    return transpose(reshape(transpose(input), tuple(shape)[::-1]))


@reshape.numpy
def _numpy_reshape(input: Tensor, *shape: Any, order: str = "C", **options: Any) -> Tensor:
    given = options.get("shape", shape)
    sizes = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    return _reshape_in_order("reshape", input, sizes, order)


@ravel.numpy
def _numpy_ravel(input: Tensor, order: str = "C") -> Tensor:
    return _reshape_in_order("ravel", input, (-1,) if input.numel() else (0,), order)


@flatten.numpy
def _numpy_flatten(input: Tensor, order: str = "C") -> Tensor:
    return _numpy_ravel(input, order)


@op(method=True, view=True, node=_RESHAPE_NODES)
def unflatten(xp: Backend, input: Array, dim: int, sizes: Shape) -> Array:
    """Split the dimension ``dim`` of ``input`` into several dimensions.

    Args:
        input: Tensor of any shape.
        dim: The dimension to split.
        sizes: The sizes of the new dimensions, one of which may be -1.

    Example:
        >>> tt.zeros(2, 6).unflatten(1, (2, -1)).shape
        tinytorch.Size([2, 2, 3])
    """
    shape = tuple(input.shape)
    at = normalize_dim("unflatten", dim, len(shape))
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if not shape:
        raise RuntimeError(f"unflatten: Dimension specified as {dim} but tensor has no dimensions")
    try:
        parts = infer_shape("unflatten", (shape[at],), sizes)
    except RuntimeError:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
            f"({shape[at]}) in the input tensor"
        ) from None
    return input.reshape((*shape[:at], *parts, *shape[at + 1 :]))


unflatten.vjp(input=lambda xp, g, in_shape: g.reshape(in_shape))


def _squeeze_name(node: Node) -> str:
    dim = argument(node, "dim")
    return f"SqueezeBackward{0 if dim is None else 2 if isinstance(dim, (tuple, list)) else 1}"


@op(method=True, view=True, inplace=False, node=_squeeze_name)
def squeeze(xp: Backend, input: Array, dim: int | Sequence[int] | None = None) -> Array:
    """``input`` without its dimensions of size 1.

    Args:
        input: Tensor of any shape.
        dim: The dimension or dimensions to remove if their size is 1; default None, which means
            all.

    Returns:
        A view.

    Example:
        >>> tt.zeros(2, 1, 3, 1).squeeze(1).shape
        tinytorch.Size([2, 3, 1])
    """
    if dim is None:
        return input.squeeze()
    shape = input.shape
    drop = distinct_dims("squeeze", dim, len(shape))
    return input.squeeze(tuple([d for d in drop if shape and shape[d] == 1]))


squeeze.vjp(input=lambda xp, g, in_shape: g.reshape(in_shape))


@op(method=True, view=True)
def unsqueeze(xp: Backend, input: Array, dim: int) -> Array:
    """``input`` with a dimension of size 1 inserted before ``dim``.

    Args:
        input: Tensor of shape ``(d_0, ..., d_n-1)``.
        dim: Position of the new dimension, from ``-n - 1`` to ``n``.

    Returns:
        A view.

    Example:
        >>> tt.zeros(3).unsqueeze(0).shape
        tinytorch.Size([1, 3])
    """
    if dim.__class__ is not int or not 0 <= dim <= input.ndim:
        dim = normalize_dim("unsqueeze", dim, input.ndim + 1)
    return xp.expand_dims(input, dim)


unsqueeze.vjp(input=lambda xp, g, in_shape: g.reshape(in_shape))


@op(view=True, method=True, aliases=())
def expand(xp: Backend, input: Array, size: Shape) -> Array:
    """Expand dimensions of size 1 to a larger shape without copying.

    Args:
        input: Tensor whose sizes are 1 wherever ``size`` differs.
        size: The new sizes, as a sequence or one by one; -1 means the present size.

    Returns:
        A view in which several elements may share memory. Writing to such a view raises.

    Raises:
        RuntimeError: If a size other than 1 would change.

    Example:
        >>> tt.tensor([[1], [2]]).expand(2, 3)
        tensor([[1, 1, 1],
                [2, 2, 2]])
    """
    for n in size:
        if n.__class__ is not int or n < 1:
            break
    else:
        if math.prod(size) > input.size:  # a larger result is not writable
            try:
                return xp.broadcast_to(input, size)
            except ValueError:  # raise PyTorch's error below
                pass
    wanted = expanded_size(input.shape, size)
    if input.size and math.prod(wanted) == input.size:
        return input.reshape(wanted)  # the same number of elements: a writable view
    return xp.broadcast_to(input, wanted)


def expanded_size(shape: tuple[int, ...], size: Sequence[int]) -> tuple[int, ...]:
    """The shape of ``expand(size)``, with -1 replaced; RuntimeError if ``shape`` does not fit."""
    wanted = as_ints("expand", "size", size)
    lead = len(wanted) - len(shape)
    if lead >= 0 and min(wanted, default=0) >= 0:
        for own, n in zip(shape, wanted[lead:]):
            if own != n and own != 1:
                break
        else:
            return wanted
    if lead < 0:
        raise RuntimeError(
            f"expand: the number of sizes "
            f"provided ({len(wanted)}) must be greater or equal to the number of dimensions in the "
            f"tensor ({len(shape)})"
        )
    result = []
    # PyTorch's error names the last dimension that does not fit.
    for i, n in reversed(list(enumerate(wanted))):
        have = shape[i - lead] if i >= lead else None
        if n == -1 and have is None:
            raise RuntimeError(
                f"expand: The expanded size of the tensor (-1) isn't allowed in a leading, "
                f"non-existing dimension {i}"
            )
        if have not in (None, 1, n) and n != -1:
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({have}) at "
                f"non-singleton dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: "
                f"{list(shape)}"
            )
        result.append(have if n == -1 and have is not None else n)
    return tuple(reversed(result))


expand.vjp(input=lambda xp, g: g)  # the engine sums over the expanded dimensions


_WHOLE, _BACKWARDS = slice(None), slice(None, None, -1)


@op(method=True)
def flip(xp: Backend, input: Array, dims: Shape | None = None) -> Array:
    """``input`` with the order of its elements reversed along ``dims``.

    Args:
        input: Tensor of any shape.
        dims: Dimensions to reverse, as a sequence or one by one. Default None: all of them.

    Returns:
        A copy.

    Raises:
        RuntimeError: If a dimension is repeated.

    Example:
        >>> tt.flip(tt.arange(3), (0,))
        tensor([2, 1, 0])
    """
    ndim = input.ndim
    axes = tuple(range(ndim)) if dims is None else distinct_dims("flip", dims, ndim)
    if axes and ndim:
        input = input[tuple([_BACKWARDS if d in axes else _WHOLE for d in range(ndim)])]
    return copy_in_memory_order(xp, input)


flip.vjp(input=lambda xp, g, dims: xp.call(flip, g, dims))


@flip.numpy
def _numpy_flip(input: Any = None, axis: Any = None, **options: Any) -> Tensor:
    return flip(options.pop("m", input), axis)
