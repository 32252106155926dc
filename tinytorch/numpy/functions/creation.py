"""NumPy's functions that create arrays: from data, filled, ranges, grids and patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...ops.create import factories, ranges
from ...ops.create.factories import as_tensor
from ...ops.linalg import vector_products
from ...ops.shape import strides
from ...ops.shape.views import contiguous
from ...state import default_dtype
from .conversion import (
    array_of,
    as_dtype,
    common_dtype,
    float64_default,
    float_array,
    host,
    is_inexact,
    promote,
    tensor_of,
    tensors_of,
)
from .index_grids import indices, open_grid
from .registration import numpy_function, numpy_function_with_step, register_as, register_shared


@register_shared
def array(
    object: Any, dtype: Any = None, *, copy: bool | None = True, order: str | None = "K",
    subok: bool = False, ndmin: int = 0, like: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor with a copy of ``object``, through which the gradient flows.

    Args:
        object: A number, nested sequences of numbers or tensors, an array, or a tensor.
        dtype: Default: an array's own; the default dtype for Python floats, int64 for ints.
        copy: Whether to copy (default); None copies only if needed, False must not copy.
        order: Accepted; the result is in row-major order.
        subok: Accepted.
        ndmin: Minimum number of dimensions; new ones have size 1 and come first.
        like: Accepted.

    Raises:
        ValueError: If a copy is needed and ``copy`` is False.

    Example:
        >>> tt.array([1, 2], ndmin=2)
        tensor([[1, 2]])
    """
    wanted = dtype if default_dtype() is dtypes.float64 else None
    return cast_and_copy(array_of(object, dtype=wanted), object, dtype, copy, ndmin)


def cast_and_copy(
    source: Any, object: Any, dtype: Any, copy: bool | None, ndmin: int = 0
) -> Tensor:
    """Cast and copy a tensor by the arguments of ``array``.

    Args:
        source: The tensor, made from ``object``.
        object: The argument of ``array``. If it has no attribute ``dtype``, as a list, ``source``
            shares no memory with it.
        dtype: Wanted dtype or None.
        copy: Whether to copy; None copies only if needed, False raises if a copy is needed.
        ndmin: Minimum number of dimensions.
    """
    kind = None if dtype is None else dtypes.as_dtype(dtype)
    shares = hasattr(object, "dtype")
    if kind is not None and not shares and source.is_complex() and kind.kind in "iuf":
        raise TypeError(f"array(): complex numbers do not fit into {kind}")
    found = source if kind is None else source.to(kind)
    if copy is False and (found is not source or not shares):
        raise ValueError("array(): a copy cannot be avoided; copy=None copies only if needed")
    if copy and shares and found is source:
        found = found.clone()
    if ndmin <= found.ndim:
        return found  # type: ignore[no-any-return]
    return found.reshape([1] * (ndmin - found.ndim) + list(found.shape))  # type: ignore


@register_shared
def asanyarray(
    a: Any, dtype: Any = None, order: str | None = None, *, device: Any = None,
    copy: bool | None = None, like: Any = None,
) -> Tensor:  # fmt: skip
    """``a`` as a tensor; ``a`` itself if it is a tensor of that dtype.

    Args:
        a: Tensor or array-like.
        dtype: The wanted dtype; default ``a``'s, float64 for Python floats.
        order: Accepted; the result is in row-major order.
        device: Device of the result; default ``a``'s, or the default device.
        copy: Whether to copy; None, the default, copies only if needed, False must not copy.
        like: Accepted.

    Example:
        >>> tt.asanyarray([1, 2])
        tensor([1, 2])
    """
    if isinstance(a, Tensor) and dtype is None and device is None and not copy:
        return a
    source: Any = array_of(a, dtype=dtype if default_dtype() is dtypes.float64 else None)
    return cast_and_copy(source if device is None else source.to(device), a, dtype, copy)


@register_shared
def ascontiguousarray(a: Any, dtype: Any = None) -> Tensor:
    """``a`` as a tensor in row-major order, of at least one dimension.

    Args:
        a: Tensor or array-like.
        dtype: The wanted dtype; default ``a``'s.

    Example:
        >>> tt.ascontiguousarray(tt.ones(2, 3).T).is_contiguous()
        True
    """
    found: Any = contiguous(asanyarray(a, dtype))
    return found if found.ndim else found.reshape(1)  # type: ignore[no-any-return]


@register_shared
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """``x`` cast to a dtype; see ``Tensor.to``.

    Args:
        x: Tensor of any shape.
        dtype: The wanted dtype.
        copy: Whether to copy a tensor of that dtype, too; default True.
        device: Device of the result; default ``x``'s.

    Example:
        >>> tt.astype(tt.tensor([1.5]), tt.int64)
        tensor([1])
    """
    source: Any = array_of(x)
    return source.to(device, dtypes.as_dtype(dtype), copy=copy)  # type: ignore[no-any-return]


@register_shared
def copy(a: Any, order: str = "K", subok: Any = False) -> Tensor:
    """A copy of ``a`` in new memory; the gradient flows through it.

    Args:
        a: Tensor or array-like.
        order: Accepted; the copy is in row-major order.
        subok: Accepted; in NumPy, True keeps a subclass of its array.

    Example:
        >>> tt.copy([1, 2])
        tensor([1, 2])
    """
    return array(a)


@register_shared
def identity(n: int, dtype: Any = None) -> Tensor:
    """A square matrix with ones on its diagonal and zeros elsewhere.

    Args:
        n: Number of rows and of columns.
        dtype: Default: the default dtype.

    Example:
        >>> tt.identity(2)
        tensor([[1., 0.],
                [0., 1.]])
    """
    return factories.eye(n, dtype=dtype)


@register_shared
def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Tensor:
    """A matrix with ones on and below a diagonal and zeros elsewhere.

    Args:
        N: Number of rows.
        M: Number of columns; default ``N``.
        k: The diagonal: 0, the default, is the main one, positive ones are above it.
        dtype: Default: the default dtype.

    Example:
        >>> tt.tri(2, 3)
        tensor([[1., 0., 0.],
                [1., 1., 0.]])
    """
    rows: Any = ranges.arange(N)[:, None]
    below = rows >= ranges.arange(-k, (N if M is None else M) - k)
    return below.to(factories.zeros(0, dtype=dtype).dtype)  # type: ignore[no-any-return]


@register_shared
def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Tensor:
    """Numbers from ``start`` to ``stop``, each the same multiple of the one before.

    Args:
        start: The first: a number or a tensor; complex results lie on a spiral.
        stop: The last; between real numbers of different signs the results are NaN.
        num: Number of results; default 50.
        endpoint: Whether ``stop`` is one of them; default True.
        dtype: Dtype of the result; default that of ``start`` and ``stop``, as floats.
        axis: Position of the new dimension; default first.

    Raises:
        ValueError: If a bound is 0.

    Example:
        >>> tt.geomspace(1, 1000, 4).round()
        tensor([   1.,   10.,  100., 1000.])
    """
    first, last = float_array(start), float_array(stop)
    first, last = first + last * 0, last + first * 0
    if bool(((first == 0) | (last == 0)).any()):
        raise ValueError("geomspace(): start and stop must not be 0")
    steps = max(num - 1 if endpoint else num, 1)
    part: Any = ranges.arange(num, dtype=first.dtype.to_real(), backend=first._xp) / steps
    part = part.reshape([-1] + [1] * first.ndim)
    found: Any = first * 10 ** ((last / first).log10() * part)
    exact = (part == 1) & bool(endpoint)
    found = found.where(~exact, last).where(part != 0, first)
    found = found.movedim(0, axis)
    return found if dtype is None else found.to(dtypes.as_dtype(dtype))  # type: ignore


@register_shared
def fromfunction(
    function: Callable[..., Any], shape: Sequence[int], *, dtype: Any = None, **kwargs: Any
) -> Tensor:
    """Call a function once with the indices of all elements of a grid.

    Args:
        function: Function of a tensor of indices for each dimension.
        shape: The sizes of the grid.
        dtype: Dtype of the indices; default the default dtype.
        **kwargs: More arguments for ``function``.

    Returns:
        The result of ``function``, as a tensor.

    Example:
        >>> tt.fromfunction(lambda i, j: i + j, (2, 2), dtype=tt.int64)
        tensor([[0, 1],
                [1, 2]])
    """
    grid = indices(shape, default_dtype() if dtype is None else dtype)
    return array_of(function(*grid, **kwargs))  # type: ignore[no-any-return]


@register_shared
def fromiter(iter: Iterable[Any], dtype: Any, count: int = -1, *, like: Any = None) -> Tensor:
    """The items of an iterable, along the first dimension.

    Args:
        iter: Iterable of numbers, or of sequences of numbers for a dtype with a shape.
        dtype: Dtype of the result; ``(int, 2)`` means that each item is two integers.
        count: Number of items to read; default all.
        like: Accepted.

    Raises:
        ValueError: If there are fewer than ``count`` items.

    Example:
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


def _device_options(device: Any, backend: Any = None) -> dict[str, Any]:
    """The arguments that are not None, as a dictionary of keyword arguments for a factory."""
    given = {"device": device, "backend": backend}
    return {name: value for name, value in given.items() if value is not None}


def _sizes(shape: Any) -> tuple[int, ...]:
    """Tuple of sizes from an integer, a sequence or an array."""
    given = shape.tolist() if hasattr(shape, "tolist") else shape
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


def _make_filler(
    name: str, torch_function: Any, summary: str, *example: str
) -> Callable[..., Tensor]:
    """Make and register NumPy's ``zeros``, ``ones`` or ``empty``.

    Args:
        name: Name of the function.
        torch_function: PyTorch's function of that name, which is called with sizes and a dtype.
        summary: First line of the docstring.
        *example: Lines of the docstring's example.
    """

    def function(
        shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None,
        backend: Any = None,
    ) -> Tensor:  # fmt: skip
        kind = dtypes.float64 if dtype is None else as_dtype(dtype)
        options = _device_options(device, backend)
        return torch_function(_sizes(shape), dtype=kind, **options)  # type: ignore[no-any-return]

    doc = f"""{summary}

    Args:
        shape: The sizes.
        dtype: Default float64.
        order: Accepted; the array is in row-major order.
        device: Device of the array; default the default device.
        like: Accepted.
        backend: A backend or its name; default the active one.
    """
    return register_as(function, name, doc, *example)


zeros: Callable[..., Tensor] = _make_filler(
    "zeros", factories.zeros, "A tensor of zeros.", ">>> np.zeros(2)", "array([0., 0.])"
)
ones: Callable[..., Tensor] = _make_filler(
    "ones", factories.ones, "A tensor of ones.",
    ">>> np.ones((2, 2), dtype=int)", "array([[1, 1],", "       [1, 1]])",
)  # fmt: skip
empty: Callable[..., Tensor] = _make_filler(
    "empty", factories.empty, "A tensor that is not initialized.",
    ">>> np.empty((2, 3)).shape", "(2, 3)",
)  # fmt: skip


@numpy_function
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None,
    like: Any = None, backend: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor filled with a value, or with values that are broadcast to a shape.

    Args:
        shape: The sizes.
        fill_value: A number or a tensor.
        dtype: Default that of the value.
        order: Accepted; the array is in row-major order.
        device: Device of the array; default ``fill_value``'s, or the default device.
        like: Accepted.
        backend: A backend or its name.

    Example:
        >>> np.full(2, 7)
        array([7, 7])
    """
    value: Any = asarray(fill_value, dtype, device=device, backend=backend)
    return value.expand(_sizes(shape)).clone()  # type: ignore[no-any-return]


def _make_filler_like(
    name: str, torch_function: Any, summary: str, *example: str
) -> Callable[..., Tensor]:
    """Make and register NumPy's ``zeros_like``, ``ones_like`` or ``empty_like``.

    Args:
        name: ``"zeros"``, ``"ones"`` or ``"empty"``.
        torch_function: PyTorch's function ``name``, which is called with sizes and a dtype.
        summary: Beginning of the docstring.
        *example: Lines of the docstring's example.
    """

    def function(
        a: Any, /, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
        device: Any = None, backend: Any = None,
    ) -> Tensor:  # fmt: skip
        x = tensor_of(a)
        kind = x.dtype if dtype is None else as_dtype(dtype)
        sizes = tuple(x.shape) if shape is None else _sizes(shape)
        options = _device_options(device, backend) or {"backend": x._xp}
        return torch_function(sizes, dtype=kind, **options)  # type: ignore[no-any-return]

    doc = f"""{summary} with the shape and dtype of another.

    Args:
        a: Tensor or array-like.
        dtype: Default ``a``'s.
        order: Accepted; the tensor is in row-major order.
        subok: Accepted.
        shape: The sizes; default ``a``'s.
        device: Device of the array; default ``a``'s.
        backend: A backend or its name.
    """
    return register_as(function, f"{name}_like", doc, *example)


zeros_like: Callable[..., Tensor] = _make_filler_like(
    "zeros", factories.zeros, "A tensor of zeros", ">>> np.zeros_like([1, 2])", "array([0, 0])"
)
ones_like: Callable[..., Tensor] = _make_filler_like(
    "ones", factories.ones, "A tensor of ones", ">>> np.ones_like([1.5, 2.5])", "array([1., 1.])"
)
empty_like: Callable[..., Tensor] = _make_filler_like(
    "empty", factories.empty, "A tensor that is not initialized,",
    ">>> np.empty_like([[1, 2], [3, 4]]).shape", "(2, 2)",
)  # fmt: skip


@numpy_function
def full_like(
    a: Any, /, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True,
    shape: Any = None, *, device: Any = None, backend: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor filled with a value, with the shape and dtype of another.

    Args:
        a: Tensor or array-like.
        fill_value: A number or a tensor.
        dtype: Default ``a``'s.
        order: Accepted; the tensor is in row-major order.
        subok: Accepted.
        shape: The sizes; default ``a``'s.
        device: Device of the array; default ``a``'s.
        backend: A backend or its name.

    Example:
        >>> np.full_like([1, 2], 7)
        array([7, 7])
    """
    x = tensor_of(a)
    options = _device_options(device, backend) or {"backend": x._xp}
    value: Any = asarray(fill_value, x.dtype if dtype is None else dtype, **options)
    return value.expand(tuple(x.shape) if shape is None else _sizes(shape)).clone()  # type: ignore


@numpy_function
def asarray(
    a: Any, dtype: Any = None, order: str | None = None, *, device: Any = None,
    copy: bool | None = None, like: Any = None, backend: Any = None,
) -> Tensor:  # fmt: skip
    """``a`` as a tensor; ``a`` itself if it is a tensor of that dtype.

    Args:
        a: Tensor or array-like.
        dtype: The wanted dtype; default ``a``'s, float64 for Python floats.
        order: Accepted; the result is in row-major order.
        device: Device of the result; default ``a``'s, or the default device.
        copy: Whether to copy; None, the default, copies only if needed, False must not copy.
        like: Accepted.
        backend: A backend or its name.

    Example:
        >>> x = np.array([1, 2])
        >>> np.asarray(x) is x
        True
    """
    options = _device_options(device, backend)
    if isinstance(a, Tensor) and dtype is None and not copy and not options:
        return a
    kind = None if dtype is None else as_dtype(dtype)
    source = tensor_of(a, dtype=dtype)
    if not options:
        return cast_and_copy(source, a, kind, copy)
    moved: Any = (source if source is a else as_tensor(source)).to(**options)
    return cast_and_copy(moved, moved, kind, copy)


@numpy_function
def arange(
    start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None,
    like: Any = None, backend: Any = None,
) -> Tensor:  # fmt: skip
    """Evenly spaced numbers: ``arange(stop)`` or ``arange(start, stop, step)``.

    Args:
        start: The first number; as the only argument it is ``stop``, and the first number is 0.
        stop: The end, which is excluded.
        step: The distance; default 1.
        dtype: Default int64 if all are ints, else float64.
        device: Device of the array; default the default device.
        like: Accepted.
        backend: A backend or its name.

    Example:
        >>> np.arange(1, 2, 0.25)
        array([1.  , 1.25, 1.5 , 1.75])
    """
    first, last = (0, start) if stop is None else (0 if start is None else start, stop)
    step = 1 if step is None else step
    if not step:
        raise ZeroDivisionError(f"arange(): step must not be 0, from {first} to {last}")
    values = [v.item() if hasattr(v, "item") else v for v in (first, last, step)]
    kind = None if dtype is None else as_dtype(dtype)
    # For the dtype bool, the numbers are computed first and then cast.
    torch_kind = None if kind is dtypes.bool else kind
    options = _device_options(device, backend)
    with float64_default():
        found: Any = ranges.arange(*_clip_stop(*values), dtype=torch_kind, **options)
    return found if torch_kind is kind else found.to(kind)  # type: ignore[no-any-return]


def _clip_stop(first: Any, last: Any, step: Any) -> tuple[Any, Any, Any]:
    """Return the arguments ``(first, last, step)`` of PyTorch's ``arange`` for NumPy's.

    If ``step`` leads away from ``last``, NumPy's range is empty and PyTorch's function raises. In
    this case ``first`` is returned as ``last``, so that the range is empty in PyTorch, too.
    """
    if (last - first) / step < 0:
        last = first + 0 * last  # in the common type of both
    return first, last, step


def _steps(start: Any, stop: Any, num: int, endpoint: bool) -> tuple[list[Any], Any, Any]:
    """Prepare ``linspace``, whose arguments these are.

    Returns:
        The list of both ends as floating-point tensors of one shape; the fraction of the way from
        the first end to the last for each number, of shape ``(num, 1, ...)``; and the number of
        steps between the ends.
    """
    ends = promote(start, stop)
    if not is_inexact(ends[0]):
        ends = [t.to(dtypes.float64) for t in ends]
    first, last = strides.broadcast_tensors(*ends)
    index = ranges.arange(num, dtype=first.dtype.to_real(), backend=first._xp)
    fraction = index.reshape([-1] + [1] * first.ndim) / max(num - 1 if endpoint else num, 1)
    return [first, last], fraction, max(num - 1 if endpoint else num, 0)


@numpy_function_with_step
def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False,
    dtype: Any = None, axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    """``num`` evenly spaced numbers from ``start`` to ``stop``.

    Args:
        start: The first: a number or a tensor.
        stop: The last.
        num: Number of results; default 50.
        endpoint: Whether ``stop`` is one of them; default True.
        retstep: Also return the distance.
        dtype: Dtype of the result; default float64.
        axis: Position of the new dimension; default first.
        device: Device of the result; default that of ``start`` and ``stop``.

    Example:
        >>> np.linspace(0, 1, 5)
        array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    (first, last), part, count = _steps(start, stop, num, endpoint)
    found = first + (last - first) * part
    if endpoint and num > 1:
        found = found.where(part != 1, last)
    found = found.movedim(0, axis) if found.ndim > 1 else found
    if dtype is not None:
        kind = as_dtype(dtype)
        found = (found.floor() if kind.kind in "biu" else found).to(kind)
    found = found if device is None else found.to(device=device)
    if retstep:
        step = (last - first) / count if count else first * float("nan")
        return found, step
    return found


@numpy_function
def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0,
    dtype: Any = None, axis: int = 0,
) -> Tensor:  # fmt: skip
    """``base`` raised to evenly spaced exponents from ``start`` to ``stop``.

    Args:
        start: The first exponent: a number or a tensor.
        stop: The last exponent.
        num: Number of results; default 50.
        endpoint: Whether ``stop`` is one of the exponents; default True.
        base: The base; default 10.
        dtype: Dtype of the result; default float64.
        axis: Position of the new dimension; default first.

    Example:
        >>> np.logspace(0, 3, 4)
        array([   1.,   10.,  100., 1000.])
    """
    powers: Any = linspace(start, stop, num, endpoint, axis=axis)
    found = tensor_of(base, powers._xp) ** powers
    return found if dtype is None else found.to(as_dtype(dtype))  # type: ignore


@numpy_function
def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = None, order: str = "C", *,
    device: Any = None, like: Any = None, backend: Any = None,
) -> Tensor:  # fmt: skip
    """A matrix with ones on a diagonal and zeros elsewhere.

    Args:
        N: Number of rows.
        M: Number of columns; default ``N``.
        k: The diagonal: 0, the default, is the main one, positive ones are above it.
        dtype: Default float64.
        order: Accepted; the array is in row-major order.
        device: Device of the array; default the default device.
        like: Accepted.
        backend: A backend or its name.

    Example:
        >>> np.eye(2, 3, k=1)
        array([[0., 1., 0.],
               [0., 0., 1.]])
    """
    kind = dtypes.float64 if dtype is None else as_dtype(dtype)
    return factories.eye(
        N, N if M is None else M, k=k, dtype=kind, **_device_options(device, backend)
    )


@numpy_function
def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Tensor, ...]:
    """The coordinates of every point of a grid.

    Args:
        *xi: The coordinates along each dimension.
        copy: Whether to copy the results, so that they share no memory.
        sparse: Whether to return tensors that broadcast to the grid instead.
        indexing: ``"xy"`` (default), the first coordinate along the second dimension, or
            ``"ij"``, along the first.

    Raises:
        ValueError: For another ``indexing``.

    Example:
        >>> x, y = np.meshgrid([1, 2, 3], [10, 20])
        >>> x + y
        array([[11, 12, 13],
               [21, 22, 23]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    flat = [x.reshape(-1) for x in tensors_of(*xi)]
    swapped = indexing == "xy" and len(flat) > 1
    if swapped:
        flat[0], flat[1] = flat[1], flat[0]
    parts: Any = open_grid(*flat)
    if not sparse:
        shape = [x.shape[0] for x in flat]
        parts = [part.expand(shape) for part in parts]
    found = [part.clone() for part in parts] if copy else list(parts)
    if swapped:
        found[0], found[1] = found[1], found[0]
    return tuple(found)


@numpy_function
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of each element of a vector, as the columns of a matrix.

    Args:
        x: Tensor of shape ``(n,)``.
        N: Number of columns; default ``n``.
        increasing: Whether the powers increase from left to right.

    Example:
        >>> np.vander([1, 2, 3], 3)
        array([[1, 1, 1],
               [4, 2, 1],
               [9, 3, 1]])
    """
    source = tensor_of(x)
    wide = source.to(common_dtype(source, dtypes.int64))  # NumPy's dtype, so that powers fit
    return vector_products.vander(wide, N, increasing)
