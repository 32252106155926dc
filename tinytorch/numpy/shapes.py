"""NumPy's functions of shapes: other sizes, orders, joins and cuts of the same elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._op import composite
from .._tensor import Tensor
from ..ops._arrays import axes_of, flat_if_none, in_bounds, reduction_axes
from ._dialect import (
    allowed, called, filed, joined, numpy_function, tensor_of, tensors_of, top_level, written,
)  # fmt: skip
from ._forms import one_or_several


@numpy_function
def reshape(
    a: Any, /, shape: int | Sequence[int], order: str = "C", *, copy: bool | None = None
) -> Tensor:
    """``a`` in another shape.

    Args:
        a: Tensor, or what makes one.
        shape: The sizes; one of them may be -1.
        order: ``"C"``, the last index changes fastest, ``"F"``, the first, or ``"A"``.
        copy: Whether the result must be a copy (True), must not be one (False), or may (None).

    Raises:
        ValueError: If a copy is needed and ``copy`` is False.
    """
    x = tensor_of(a)
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    found = x.reshape(sizes) if order == "C" else x.reshape(sizes, order=order)
    if copy is False and x._xp.owner(found._data) != x._xp.owner(x._data):
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return found.clone() if copy else found  # type: ignore[no-any-return]


@numpy_function
def ravel(a: Any, order: str = "C") -> Tensor:
    """The elements in one dimension.

    Args:
        a: Tensor, or what makes one.
        order: ``"C"``, the last index changes fastest, ``"F"``, the first, or ``"A"``.
    """
    x = tensor_of(a)
    return x.ravel() if order in "CK" else x.ravel(order=order)  # type: ignore[no-any-return]


@numpy_function
def transpose(a: Any, axes: Any = None) -> Tensor:
    """``a`` with its dimensions in another order.

    Args:
        a: Tensor, or what makes one.
        axes: The order; default reversed.
    """
    x = tensor_of(a)
    order = tuple(range(x.ndim))[::-1] if axes is None else tuple(axes)
    return x.permute(order) if x.ndim else x  # type: ignore[no-any-return]


@numpy_function
def squeeze(a: Any, axis: Any = None) -> Tensor:
    """``a`` without dimensions of size 1.

    Args:
        a: Tensor, or what makes one.
        axis: Which; default all of them.

    Raises:
        ValueError: For one that has another size.
    """
    x = tensor_of(a)
    if axis is None:
        return x.squeeze()  # type: ignore[no-any-return]
    axes = reduction_axes("squeeze", axis, x.ndim)
    if any(x.shape[d] != 1 for d in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return x.squeeze(axes) if axes else x  # type: ignore[no-any-return]


@composite(namespaces=("numpy",), method=False, aliases=("concat",))
def concatenate(
    arrays: Any, /, axis: int | None = 0, out: Tensor | None = None, *, dtype: Any = None,
    casting: str = "same_kind",
) -> Tensor:  # fmt: skip
    """``arrays`` joined along an existing dimension.

    Args:
        arrays: Tensors, or what makes them.
        axis: The dimension; None means they are flattened first.
        out: Where to write the result.
        dtype: Of the result; default by NumPy's rules of promotion.
        casting: Which casts ``dtype`` may make: ``"no"``, ``"equiv"``, ``"safe"``,
            ``"same_kind"`` (default) or ``"unsafe"``.
    """
    parts = allowed(joined(*arrays), dtype, casting)
    parts, at = ([part.ravel() for part in parts], 0) if axis is None else (parts, axis)
    if parts:
        axes_of("concatenate", at, parts[0].ndim or 1)
    if len({part.ndim for part in parts}) > 1:  # PyTorch passes over empty vectors
        raise ValueError(
            "concatenate(): all the input array dimensions must be alike, got "
            f"{[part.ndim for part in parts]}"
        )
    return written(top_level("cat")(parts, at), out)  # type: ignore[no-any-return]


@numpy_function
def stack(
    arrays: Any, axis: int = 0, out: Tensor | None = None, *, dtype: Any = None,
    casting: str = "same_kind",
) -> Tensor:  # fmt: skip
    """``arrays`` of one shape joined along a new dimension.

    Args:
        arrays: Tensors, or what makes them.
        axis: Where the new dimension goes; default first.
        out: Where to write the result.
        dtype: Of the result; default by NumPy's rules of promotion.
        casting: Which casts ``dtype`` may make: ``"no"``, ``"equiv"``, ``"safe"``,
            ``"same_kind"`` (default) or ``"unsafe"``.
    """
    parts = allowed(joined(*arrays), dtype, casting)
    return written(top_level("stack")(parts, axis), out)  # type: ignore[no-any-return]


def _stacked(name: str, summary: str) -> Callable[..., Tensor]:
    def function(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Tensor:
        return top_level(name)(allowed(joined(*tup), dtype, casting))  # type: ignore[no-any-return]

    return filed(function, name, f"""{summary}

    Args:
        tup: Tensors, or what makes them.
        dtype: Of the result; default by NumPy's rules of promotion.
        casting: Which casts ``dtype`` may make: ``"no"``, ``"equiv"``, ``"safe"``,
            ``"same_kind"`` (default) or ``"unsafe"``.
    """)


hstack = _stacked("hstack", "Tensors side by side: along the second dimension, or the only one.")
vstack = _stacked("vstack", "Tensors one below the other: rows, or along the first dimension.")
row_stack = _stacked("row_stack", "Tensors one below the other: ``vstack``.")
dstack = _stacked("dstack", "Tensors behind each other: along the third dimension.")
column_stack = _stacked("column_stack", "Vectors as the columns of a matrix.")


def _leaves(arrays: Any) -> list[Any]:
    if not isinstance(arrays, list):
        return [arrays]
    return [leaf for part in arrays for leaf in _leaves(part)]


@numpy_function
def block(arrays: Any) -> Tensor:
    """A tensor put together from blocks.

    Args:
        arrays: Nested lists of tensors: the innermost are joined along the last dimension,
            those around them along the one before, and so on.

    Raises:
        ValueError: For an empty list, or shapes that do not fit.
    """
    found = iter(joined(*_leaves(arrays)))

    def replaced(part: Any) -> Any:
        return list(map(replaced, part)) if isinstance(part, list) else next(found)

    return top_level("block")(replaced(arrays))  # type: ignore[no-any-return]


def _at_least(name: str, count: int) -> Callable[..., Tensor | tuple[Tensor, ...]]:
    def function(*arys: Any) -> Tensor | tuple[Tensor, ...]:
        found = tuple(top_level(name)(x) for x in tensors_of(*arys))
        return found[0] if len(found) == 1 else found

    doc = f"""Tensors with at least {count} dimension{"s" * (count > 1)}.

    Args:
        *arys: Tensors, or what makes them.

    Returns:
        One tensor, or a tuple of as many as were given.
    """
    return one_or_several(called(function, name, doc))


atleast_1d = _at_least("atleast_1d", 1)
atleast_2d = _at_least("atleast_2d", 2)
atleast_3d = _at_least("atleast_3d", 3)


def _cut(ary: Any, given: Any, axis: int, equal: bool) -> tuple[Tensor, ...]:
    x = tensor_of(ary)
    axes_of("split", axis, x.ndim)
    at = given.tolist() if hasattr(given, "tolist") else given
    if equal and isinstance(at, int) and x.shape[axis] % at:
        raise ValueError("array split does not result in an equal division")
    return tuple(top_level("tensor_split")(x, at, axis))


@numpy_function
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """A tensor cut into equal parts, or before given places.

    Args:
        ary: Tensor, or what makes one.
        indices_or_sections: How many parts, or the places.
        axis: The dimension; default the first.

    Returns:
        Views.

    Raises:
        ValueError: If the parts are not equal.
    """
    return _cut(ary, indices_or_sections, axis, True)


@numpy_function
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """A tensor cut into parts of nearly equal size, or before given places.

    Args:
        ary: Tensor, or what makes one.
        indices_or_sections: How many parts, or the places.
        axis: The dimension; default the first.

    Returns:
        Views.
    """
    return _cut(ary, indices_or_sections, axis, False)


def _cut_along(name: str, axis: int, least: int, word: str) -> Callable[..., tuple[Tensor, ...]]:
    def function(ary: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
        x = tensor_of(ary)
        if x.ndim < least:
            raise ValueError(
                f"{name} only works on arrays of {least} or more dimensions, got {x.ndim}"
            )
        return _cut(x, indices_or_sections, min(axis, x.ndim - 1), True)

    return filed(function, name, f"""A tensor cut into equal parts, or before given places, {word}.

    Args:
        ary: Tensor, or what makes one.
        indices_or_sections: How many parts, or the places.

    Returns:
        Views.
    """)


hsplit = _cut_along("hsplit", 1, 1, "along the second dimension, or the only one")
vsplit = _cut_along("vsplit", 0, 2, "along the first dimension")
dsplit = _cut_along("dsplit", 2, 3, "along the third dimension")


@numpy_function
def tile(A: Any, reps: Any) -> Tensor:
    """``A`` several times along each dimension.

    Args:
        A: Tensor, or what makes one.
        reps: How often: an int, or several, counted from the last dimension.
    """
    return top_level("tile")(tensor_of(A), tuple(_ints(reps)))  # type: ignore[no-any-return]


def _ints(given: Any) -> list[int]:
    plain = given.tolist() if hasattr(given, "tolist") else given
    return [int(n) for n in plain] if isinstance(plain, (tuple, list)) else [int(plain)]


@numpy_function
def flip(m: Any, axis: Any = None) -> Tensor:
    """The elements in reverse order along ``axis``.

    Args:
        m: Tensor, or what makes one.
        axis: Dimension or dimensions; None, the default, means all.
    """
    x = tensor_of(m)
    return x.flip(axes_of("flip", axis, x.ndim))  # type: ignore[no-any-return]


@numpy_function
def roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    """The elements moved along ``axis``; what leaves at one end comes in at the other.

    Args:
        a: Tensor, or what makes one.
        shift: How far, for each axis.
        axis: Dimension or dimensions; None, the default, means the flattened tensor.
    """
    x = tensor_of(a)
    shifts = _ints(shift)
    if axis is None:
        total = 0
        for n in shifts:
            total += n
        return x.ravel().roll(total).reshape(tuple(x.shape))  # type: ignore[no-any-return]
    axes = axes_of("roll", axis, x.ndim)
    if not axes:
        return x.clone()  # type: ignore[no-any-return]
    count = max(len(shifts), len(axes))
    many = [list(given) * (count if len(given) == 1 else 1) for given in (shifts, axes)]
    for n, d in zip(*many, strict=True):
        x = x.roll(n, d)
    return x  # type: ignore[no-any-return]


@numpy_function
def rot90(m: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """A plane of ``m`` turned by right angles.

    Args:
        m: Tensor, or what makes one.
        k: How often.
        axes: From which dimension to which; default from the first to the second.
    """
    return top_level("rot90")(tensor_of(m), k, list(axes))  # type: ignore[no-any-return]


def _simple(name: str, summary: str) -> Callable[..., Tensor]:
    """A function of one tensor and plain arguments that both libraries have."""

    def function(a: Any, /) -> Tensor:
        return top_level(name)(tensor_of(a))  # type: ignore[no-any-return]

    doc = f"{summary}\n\n    Args:\n        a: Tensor, or what makes one.\n    "
    return filed(function, name, doc)


fliplr = _simple("fliplr", "The columns in reverse order.")
flipud = _simple("flipud", "The rows in reverse order.")


@numpy_function
def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """``a`` with dimensions moved to other places.

    Args:
        a: Tensor, or what makes one.
        source: Which dimensions.
        destination: Where they go.
    """
    x = tensor_of(a)
    return x.movedim(  # type: ignore[no-any-return]
        axes_of("moveaxis", source, x.ndim), axes_of("moveaxis", destination, x.ndim)
    )


@numpy_function
def swapaxes(a: Any, axis1: int, axis2: int) -> Tensor:
    """``a`` with two dimensions exchanged.

    Args:
        a: Tensor, or what makes one.
        axis1: One of them.
        axis2: The other.
    """
    x = tensor_of(a)
    (first,), (second,) = (axes_of("swapaxes", d, x.ndim) for d in (axis1, axis2))
    return x.transpose(first, second)  # type: ignore[no-any-return]


@numpy_function
def broadcast_to(array: Any, shape: int | Sequence[int], subok: bool = False) -> Tensor:
    """``array`` stretched to a shape.

    Args:
        array: Tensor, or what makes one.
        shape: The sizes.
        subok: Accepted.
    """
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return top_level("broadcast_to")(tensor_of(array), sizes)  # type: ignore[no-any-return]


@numpy_function
def take(
    a: Any, indices: Any, axis: int | None = None, out: Tensor | None = None, mode: str = "raise"
) -> Tensor:
    """The elements, or slices along ``axis``, at given places.

    Args:
        a: Tensor, or what makes one.
        indices: Integers of any shape.
        axis: The dimension; None, the default, means that of the flattened tensor.
        out: Where to write the result.
        mode: What happens to a place out of range: ``"raise"``, ``"wrap"`` or ``"clip"``.

    Raises:
        IndexError: For a place out of range.
    """
    x = tensor_of(a)
    x, at = flat_if_none("take", x if x.ndim else x.reshape(1), axis)
    places = in_bounds("take", tensor_of(indices, x._xp).long(), x.shape[at], mode)
    found = x[(slice(None),) * at + (places,)]
    return written(found, out)  # type: ignore[no-any-return]
