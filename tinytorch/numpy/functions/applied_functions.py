"""Functions that apply a Python function to parts of tensors: slices, pieces, elements."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...ops.shape.joining import stack
from ...ops.shape.sizes import normalize_dim
from ...ops.shape.strides import broadcast_tensors
from .conversion import array_of, arrays_of
from .registration import register_shared


@register_shared
def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Tensor:
    """Apply a function to each 1-d slice along a dimension; gradients flow through it.

    Args:
        func1d: Function of a tensor of shape ``(arr.shape[axis],)`` that returns a number or a
            tensor, of one shape for all slices.
        axis: The dimension of the slices.
        arr: Tensor of at least one dimension.
        *args: More arguments for ``func1d``.
        **kwargs: More keyword arguments for it.

    Returns:
        Tensor of ``arr``'s shape in which the shape of the results replaces ``axis``.

    Raises:
        ValueError: If there are no slices.

    Example:
        >>> tt.apply_along_axis(lambda x: x[0] + x[-1], 1, tt.tensor([[1, 2, 3], [4, 5, 6]]))
        tensor([ 4, 10])
    """
    x: Any = array_of(arr)
    at = normalize_dim("apply_along_axis", axis, x.ndim)
    rows = x.movedim(at, -1)
    outer = list(rows.shape[:-1])
    flat = rows.reshape(-1, rows.shape[-1]) if rows.numel() else rows[:0].reshape(0, 1)
    if not flat.shape[0]:
        raise ValueError("apply_along_axis(): cannot apply to slices of an empty tensor")
    found: Any = stack(arrays_of(*(func1d(row, *args, **kwargs) for row in flat)))
    inner = list(found.shape[1:])
    found = found.reshape(outer + inner)
    places = list(range(len(outer), len(outer) + len(inner)))
    return found.movedim(places, [at + i for i in range(len(inner))])  # type: ignore


@register_shared
def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Tensor:
    """Evaluate a piecewise function; gradients flow through the pieces.

    Args:
        x: Tensor of any shape.
        condlist: A condition for each piece, of ``x``'s shape; the last one that is true counts.
        funclist: For each piece a number, or a function of the elements where its condition is
            true; an additional one is for the other elements, whose default is 0.
        *args: More arguments for the functions.
        **kw: More keyword arguments for them.

    Returns:
        Tensor of ``x``'s shape and dtype.

    Raises:
        ValueError: If there are neither as many functions as conditions nor one more.

    Example:
        >>> x = tt.tensor([-2.0, 3.0])
        >>> tt.piecewise(x, [x < 0, x >= 0], [lambda x: -x, 10])
        tensor([ 2., 10.])
    """
    source: Any = array_of(x)
    given = list(condlist) if isinstance(condlist, (tuple, list)) else [condlist]
    if given and isinstance(given[0], bool):
        given = [given] if source.ndim else given
    masks = [array_of(c, source._xp).bool().expand(tuple(source.shape)) for c in given]
    if len(funclist) == len(masks) + 1:
        rest = functools.reduce(lambda a, b: a | b, masks)
        masks.append(~rest)
    elif len(funclist) != len(masks):
        raise ValueError(
            f"piecewise(): with {len(masks)} condition(s), either {len(masks)} or "
            f"{len(masks) + 1} functions are expected, got {len(funclist)}"
        )
    found = source.new_zeros(tuple(source.shape))
    for mask, piece in zip(masks, funclist, strict=True):
        values = piece(source[mask], *args, **kw) if callable(piece) else piece
        new = array_of(values, source._xp).to(source.dtype)
        found = found.index_put((mask,), new)
    return found  # type: ignore[no-any-return]


class vectorize:
    """Turn a function of numbers into one of tensors, called once for each element.

    Results that are tensors keep their gradient. It is a loop, so it is as slow as one.

    Args:
        pyfunc: Function of a 0-d tensor for each argument that returns a number, a 0-d tensor or
            a tuple of them.
        otypes: The dtypes of the results; default those that the function returns.
        doc: The docstring; default the function's.
        excluded: Positions or names of arguments that are passed on unchanged.

    Example:
        >>> larger = tt.vectorize(lambda a, b: a if a > b else b)
        >>> larger(tt.tensor([1, 5, 3]), 2)
        tensor([2, 5, 3])
    """

    def __init__(
        self, pyfunc: Callable[..., Any], otypes: Any = None, doc: str | None = None,
        excluded: Any = None,
    ) -> None:  # fmt: skip
        functools.update_wrapper(self, pyfunc)
        self.pyfunc = pyfunc
        self.otypes: list[dtypes.dtype] | None = (
            [dtypes.as_dtype(t) for t in otypes] if otypes is not None else None
        )
        self.excluded: set[Any] = set(excluded or ())
        self.__doc__ = inspect.getdoc(pyfunc) if doc is None else doc

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor | tuple[Tensor, ...]:
        places = [i for i in range(len(args)) if i not in self.excluded]
        names = [name for name in kwargs if name not in self.excluded]
        given = arrays_of(*(args[i] for i in places), *(kwargs[name] for name in names))
        many = broadcast_tensors(*given)
        shape = list(many[0].shape)
        if not many[0].numel() and self.otypes is None:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        results = []
        for elements in zip(*(x.reshape(-1) for x in many), strict=True):
            row, named = list(args), dict(kwargs)
            for i, element in zip(places, elements, strict=False):
                row[i] = element
            named.update(zip(names, elements[len(places) :], strict=True))
            results.append(self.pyfunc(*row, **named))
        return self._join(results, shape)

    def _join(self, results: list[Any], shape: list[int]) -> Tensor | tuple[Tensor, ...]:
        """Join the results of all calls to one tensor; results that are tuples to a tuple of them.

        Args:
            results: Result of the function for each element, in row-major order.
            shape: Shape of the tensors to return.
        """
        several = bool(results) and isinstance(results[0], tuple)
        columns: list[Any] = [list(c) for c in zip(*results, strict=True)] if several else [results]
        if not results and self.otypes is not None:
            columns = [[] for _ in self.otypes]
        found = [array_of(column).reshape(shape) for column in columns]
        if self.otypes is not None:
            found = [x.to(self.otypes[i]) for i, x in enumerate(found)]
        return tuple(found) if several or len(found) > 1 else found[0]
