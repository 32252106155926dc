"""Tensors made by NumPy's names: from arrays, iterables, functions, patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...ops.create.factories import eye, zeros
from ...ops.create.ranges import arange
from ...ops.shape.views import contiguous
from ...state import default_dtype
from .conversion import array_of, as_dtype, float_array, host
from .index_grids import indices
from .registration import shared


@shared
def array(
    object: Any, dtype: Any = None, *, copy: bool | None = True, order: str | None = "K",
    subok: bool = False, ndmin: int = 0, like: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor with a copy of ``object``; the gradient flows through it.

    Args:
        object: A number, nested sequences of numbers or tensors, an array, or a tensor.
        dtype: Default: an array's own; the default dtype for Python floats, int64 for ints.
        copy: Whether to copy (default); None copies only if needed, False must not copy.
        order: Accepted; the result is in row-major order.
        subok: Accepted.
        ndmin: The least number of dimensions; new ones of size 1 go in front.
        like: Accepted.

    Raises:
        ValueError: If a copy is needed and ``copy`` is False.

    Example:
        >>> import tinytorch as tt
        >>> tt.array([1, 2], ndmin=2)
        tensor([[1, 2]])
    """
    wanted = dtype if default_dtype() is dtypes.float64 else None
    return copied(array_of(object, dtype=wanted), object, dtype, copy, ndmin)


def copied(source: Any, object: Any, dtype: Any, copy: bool | None, ndmin: int = 0) -> Tensor:
    """``source``, which was made of ``object``, in another dtype and as a copy if needed."""
    kind = None if dtype is None else dtypes.as_dtype(dtype)
    shares = hasattr(object, "dtype")
    if kind is not None and not shares and source.is_complex() and kind.category in (1, 2):
        raise TypeError(f"array(): complex numbers do not fit into {kind}")
    found = source if kind is None else source.to(kind)
    if copy is False and (found is not source or not shares):
        raise ValueError("array(): a copy cannot be avoided; copy=None copies only if needed")
    if copy and shares and found is source:
        found = found.clone()
    if ndmin <= found.ndim:
        return found  # type: ignore[no-any-return]
    return found.reshape([1] * (ndmin - found.ndim) + list(found.shape))  # type: ignore


@shared
def asanyarray(
    a: Any, dtype: Any = None, order: str | None = None, *, device: Any = None,
    copy: bool | None = None, like: Any = None,
) -> Tensor:  # fmt: skip
    """``a`` as a tensor, the same one if it is one of that dtype.

    Args:
        a: A tensor, or what makes one.
        dtype: The wanted dtype; default ``a``'s, float64 for Python floats.
        order: Accepted; the result is in row-major order.
        device: Where; default where ``a`` is, or as the state says.
        copy: Whether to copy; None, the default, copies only if needed, False must not copy.
        like: Accepted.

    Example:
        >>> import tinytorch as tt
        >>> tt.asanyarray([1, 2])
        tensor([1, 2])
    """
    if isinstance(a, Tensor) and dtype is None and device is None and not copy:
        return a
    source: Any = array_of(a, dtype=dtype if default_dtype() is dtypes.float64 else None)
    return copied(source if device is None else source.to(device), a, dtype, copy)


@shared
def ascontiguousarray(a: Any, dtype: Any = None) -> Tensor:
    """``a`` as a tensor in row-major order, of at least one dimension.

    Args:
        a: A tensor, or what makes one.
        dtype: The wanted dtype; default ``a``'s.

    Example:
        >>> import tinytorch as tt
        >>> tt.ascontiguousarray(tt.ones(2, 3).T).is_contiguous()
        True
    """
    found: Any = contiguous(asanyarray(a, dtype))
    return found if found.ndim else found.reshape(1)  # type: ignore[no-any-return]


@shared
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """``x`` in another dtype; see ``Tensor.to``.

    Args:
        x: Tensor of any shape.
        dtype: The wanted dtype.
        copy: Whether to copy even where nothing changes (default).
        device: Where; default where ``x`` is.

    Example:
        >>> import tinytorch as tt
        >>> tt.astype(tt.tensor([1.5]), tt.int64)
        tensor([1])
    """
    source: Any = array_of(x)
    return source.to(device, dtypes.as_dtype(dtype), copy=copy)  # type: ignore[no-any-return]


@shared
def copy(a: Any, order: str = "K") -> Tensor:
    """A copy of ``a`` in memory of its own; the gradient flows through it.

    Args:
        a: A tensor, or what makes one.
        order: Accepted; the copy is in row-major order.

    Example:
        >>> import tinytorch as tt
        >>> tt.copy([1, 2])
        tensor([1, 2])
    """
    return array(a)


@shared
def identity(n: int, dtype: Any = None) -> Tensor:
    """A square matrix with ones on its diagonal and zeros elsewhere.

    Args:
        n: Rows and columns.
        dtype: Default: the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.identity(2)
        tensor([[1., 0.],
                [0., 1.]])
    """
    return eye(n, dtype=dtype)


@shared
def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Tensor:
    """A matrix with ones on and below a diagonal and zeros elsewhere.

    Args:
        N: Rows.
        M: Columns; default ``N``.
        k: Which diagonal; default the main one, positive ones are above it.
        dtype: Default: the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.tri(2, 3)
        tensor([[1., 0., 0.],
                [1., 1., 0.]])
    """
    rows: Any = arange(N)[:, None]
    below = rows >= arange(-k, (N if M is None else M) - k)
    return below.to(zeros(0, dtype=dtype).dtype)  # type: ignore[no-any-return]


@shared
def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Tensor:
    """Numbers whose quotients are equal, from ``start`` to ``stop``.

    Args:
        start: The first: a number, or a tensor of them; complex ones lie on a spiral.
        stop: The last; between real ones of different signs there is only NaN.
        num: How many; default 50.
        endpoint: Whether ``stop`` is one of them; default yes.
        dtype: Of the result; default that of ``start`` and ``stop``, as floats.
        axis: Where the new dimension goes; default first.

    Raises:
        ValueError: If a bound is 0.

    Example:
        >>> import tinytorch as tt
        >>> tt.geomspace(1, 1000, 4).round()
        tensor([   1.,   10.,  100., 1000.])
    """
    first, last = float_array(start), float_array(stop)
    first, last = first + last * 0, last + first * 0
    if bool(((first == 0) | (last == 0)).any()):
        raise ValueError("geomspace(): start and stop must not be 0")
    steps = max(num - 1 if endpoint else num, 1)
    part: Any = arange(num, dtype=first.dtype.to_real(), backend=first._xp) / steps
    part = part.reshape([-1] + [1] * first.ndim)
    found: Any = first * 10 ** ((last / first).log10() * part)
    exact = (part == 1) & bool(endpoint)
    found = found.where(~exact, last).where(part != 0, first)
    found = found.movedim(0, axis)
    return found if dtype is None else found.to(dtypes.as_dtype(dtype))  # type: ignore


@shared
def fromfunction(
    function: Callable[..., Any], shape: Sequence[int], *, dtype: Any = None, **kwargs: Any
) -> Tensor:
    """The results of a function of the indices of every element of a grid.

    Args:
        function: Takes a tensor of indices for each dimension, all at once.
        shape: The sizes of the grid.
        dtype: Of the indices; default the default dtype.
        **kwargs: More arguments for ``function``.

    Returns:
        What ``function`` returns, as a tensor.

    Example:
        >>> import tinytorch as tt
        >>> tt.fromfunction(lambda i, j: i + j, (2, 2), dtype=tt.int64)
        tensor([[0, 1],
                [1, 2]])
    """
    grid = indices(shape, default_dtype() if dtype is None else dtype)
    return array_of(function(*grid, **kwargs))


@shared
def fromiter(iter: Iterable[Any], dtype: Any, count: int = -1, *, like: Any = None) -> Tensor:
    """The items of an iterable, along the first dimension.

    Args:
        iter: Gives numbers, or sequences of them for a dtype with a shape.
        dtype: Of the result; ``(int, 2)`` means that each item is two integers.
        count: How many items to take; default all.
        like: Accepted.

    Raises:
        ValueError: If there are fewer than ``count``.

    Example:
        >>> import tinytorch as tt
        >>> tt.fromiter((i * i for i in range(4)), tt.int64)
        tensor([0, 1, 4, 9])
    """
    base: Any = dtype
    shape: Any = ()
    if isinstance(dtype, tuple):
        base, shape = host().dtype(dtype).base, host().dtype(dtype).shape
    items = list(iter if count < 0 else islice(iter, count))
    if len(items) < count:
        raise ValueError(f"fromiter(): iterator too short: expected {count}, got {len(items)}")
    found: Any = array_of(items).to(dtypes.as_dtype(base) if base is dtype else as_dtype(base))
    if not shape or found.shape[1:] == shape:
        return found  # type: ignore[no-any-return]
    if found.numel():
        raise ValueError(f"fromiter(): expected items of shape {shape}, got {found.shape[1:]}")
    return found.reshape((0, *shape))  # type: ignore[no-any-return]
