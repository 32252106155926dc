"""NumPy's joins and cuts: several tensors put together as one, one cut into several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import composite
from ...ops.shape import joining, splitting
from .conversion import allowed, axes_of, joined, tensor_of, tensors_of, written
from .registration import called, filed, numpy_function, one_or_several


@composite(namespaces=("numpy",), aliases=("concat",))
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

    Example:
        >>> import tinytorch.numpy as np
        >>> np.concatenate([[1, 2], [3.5]])
        array([1. , 2. , 3.5])
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
    return written(joining.cat(parts, at), out)  # type: ignore[no-any-return]


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

    Example:
        >>> import tinytorch.numpy as np
        >>> np.stack([[1, 2], [3, 4]], axis=1)
        array([[1, 3],
               [2, 4]])
    """
    parts = allowed(joined(*arrays), dtype, casting)
    return written(joining.stack(parts, axis), out)  # type: ignore[no-any-return]


def _stacked(name: str, stack: Any, summary: str, *example: str) -> Callable[..., Tensor]:
    def function(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Tensor:
        return stack(allowed(joined(*tup), dtype, casting))  # type: ignore[no-any-return]

    return filed(
        function,
        name,
        f"""{summary}

    Args:
        tup: Tensors, or what makes them.
        dtype: Of the result; default by NumPy's rules of promotion.
        casting: Which casts ``dtype`` may make: ``"no"``, ``"equiv"``, ``"safe"``,
            ``"same_kind"`` (default) or ``"unsafe"``.
    """,
        *example,
    )


hstack: Callable[..., Tensor] = _stacked(
    "hstack", joining.hstack, "Tensors side by side: along the second dimension, or the only one.",
    ">>> np.hstack([[1, 2], [3]])", "array([1, 2, 3])",
)  # fmt: skip
vstack: Callable[..., Tensor] = _stacked(
    "vstack", joining.vstack, "Tensors one below the other: rows, or along the first dimension.",
    ">>> np.vstack([[1, 2], [3, 4]])", "array([[1, 2],", "       [3, 4]])",
)  # fmt: skip
row_stack: Callable[..., Tensor] = _stacked(
    "row_stack", joining.vstack, "Tensors one below the other: ``vstack``.",
    ">>> np.row_stack([[1, 2], [3, 4]])", "array([[1, 2],", "       [3, 4]])",
)  # fmt: skip
dstack: Callable[..., Tensor] = _stacked(
    "dstack", joining.dstack, "Tensors behind each other: along the third dimension.",
    ">>> np.dstack([[1, 2], [3, 4]])", "array([[[1, 3],", "        [2, 4]]])",
)  # fmt: skip
column_stack: Callable[..., Tensor] = _stacked(
    "column_stack", joining.column_stack, "Vectors as the columns of a matrix.",
    ">>> np.column_stack([[1, 2], [3, 4]])", "array([[1, 3],", "       [2, 4]])",
)  # fmt: skip


def _at_least(
    name: str, widen: Any, count: int, *example: str
) -> Callable[..., Tensor | tuple[Tensor, ...]]:
    def function(*arys: Any) -> Tensor | tuple[Tensor, ...]:
        found = tuple(widen(x) for x in tensors_of(*arys))
        return found[0] if len(found) == 1 else found

    doc = f"""Tensors with at least {count} dimension{"s" * (count > 1)}.

    Args:
        *arys: Tensors, or what makes them.

    Returns:
        One tensor, or a tuple of as many as were given.
    """
    return one_or_several(called(function, name, doc, *example))


atleast_1d: Callable[..., Tensor | tuple[Tensor, ...]] = _at_least(
    "atleast_1d", joining.atleast_1d, 1,
    ">>> np.atleast_1d(3.0)", "array([3.])",
)  # fmt: skip
atleast_2d: Callable[..., Tensor | tuple[Tensor, ...]] = _at_least(
    "atleast_2d", joining.atleast_2d, 2,
    ">>> np.atleast_2d([1, 2])", "array([[1, 2]])",
)  # fmt: skip
atleast_3d: Callable[..., Tensor | tuple[Tensor, ...]] = _at_least(
    "atleast_3d", joining.atleast_3d, 3,
    ">>> np.atleast_3d([1, 2]).shape", "(1, 2, 1)",
)  # fmt: skip


def _cut(ary: Any, given: Any, axis: int, equal: bool) -> list[Tensor]:
    x = tensor_of(ary)
    axes_of("split", axis, x.ndim)
    at = given.tolist() if hasattr(given, "tolist") else given
    if equal and isinstance(at, int) and x.shape[axis] % at:
        raise ValueError("array split does not result in an equal division")
    return list(splitting.tensor_split(x, at, axis))


@numpy_function
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """A tensor cut into equal parts, or before given places.

    Args:
        ary: Tensor, or what makes one.
        indices_or_sections: How many parts, or the places.
        axis: The dimension; default the first.

    Returns:
        Views.

    Raises:
        ValueError: If the parts are not equal.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.split(np.array([1, 2, 3, 4]), 2)
        [array([1, 2]), array([3, 4])]
    """
    return _cut(ary, indices_or_sections, axis, True)


@numpy_function
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """A tensor cut into parts of nearly equal size, or before given places.

    Args:
        ary: Tensor, or what makes one.
        indices_or_sections: How many parts, or the places.
        axis: The dimension; default the first.

    Returns:
        Views.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.array_split([1, 2, 3], 2)
        [array([1, 2]), array([3])]
    """
    return _cut(ary, indices_or_sections, axis, False)


def _cut_along(
    name: str, axis: int, least: int, word: str, *example: str
) -> Callable[..., list[Tensor]]:
    def function(ary: Any, indices_or_sections: Any) -> list[Tensor]:
        x = tensor_of(ary)
        if x.ndim < least:
            raise ValueError(
                f"{name} only works on arrays of {least} or more dimensions, got {x.ndim}"
            )
        return _cut(x, indices_or_sections, min(axis, x.ndim - 1), True)

    return filed(
        function,
        name,
        f"""A tensor cut into equal parts, or before given places, {word}.

    Args:
        ary: Tensor, or what makes one.
        indices_or_sections: How many parts, or the places.

    Returns:
        Views.
    """,
        *example,
    )


hsplit: Callable[..., list[Tensor]] = _cut_along(
    "hsplit", 1, 1, "along the second dimension, or the only one",
    ">>> np.hsplit(np.array([[1, 2], [3, 4]]), 2)[0]", "array([[1],", "       [3]])",
)  # fmt: skip
vsplit: Callable[..., list[Tensor]] = _cut_along(
    "vsplit", 0, 2, "along the first dimension",
    ">>> np.vsplit(np.array([[1, 2], [3, 4]]), 2)[0]", "array([[1, 2]])",
)  # fmt: skip
dsplit: Callable[..., list[Tensor]] = _cut_along(
    "dsplit", 2, 3, "along the third dimension",
    ">>> np.dsplit(np.array([[[1, 2]]]), 2)[1]", "array([[[2]]])",
)  # fmt: skip
