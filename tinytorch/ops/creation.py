"""Making tensors: from data, filled, ranges, identity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from .. import _state, dtypes
from .._convert import convert_sequence, dtype_of_number
from .._creation import backend_for, creation
from .._op import OPS, Array, Backend, Shape, composite
from .._tensor import Tensor, wrap

if TYPE_CHECKING:
    from .._device import device as Device


@creation
def zeros(xp: Backend, size: Shape, *, dtype: Any = None) -> Array:
    """A tensor of zeros.

    Args:
        size: The shape, as a sequence or as ints one by one.
        dtype: Default: the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros(2, 3)
        tensor([[0., 0., 0.],
                [0., 0., 0.]])
    """
    return xp.zeros(size, dtype)


@creation
def ones(xp: Backend, size: Shape, *, dtype: Any = None) -> Array:
    """A tensor of ones.

    Args:
        size: The shape, as a sequence or as ints one by one.
        dtype: Default: the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.ones(3)
        tensor([1., 1., 1.])
    """
    return xp.ones(size, dtype)


@creation
def empty(xp: Backend, size: Shape, *, dtype: Any = None) -> Array:
    """A tensor whose elements are whatever its memory held.

    Args:
        size: The shape, as a sequence or as ints one by one.
        dtype: Default: the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.empty(2, 3).shape
        tinytorch.Size([2, 3])
    """
    return xp.empty(size, dtype)


@creation(default_dtype=False)
def full(xp: Backend, size: Shape, fill_value: Any, *, dtype: Any = None) -> Array:
    """A tensor with one value everywhere.

    Args:
        size: The shape, a sequence of ints.
        fill_value: A number or a 0-d tensor.
        dtype: Default: the default dtype for a float, int64 for an int, bool for a bool.

    Example:
        >>> import tinytorch as tt
        >>> tt.full((2,), 3)
        tensor([3, 3])
    """
    if isinstance(fill_value, Tensor):
        dtype = fill_value._data.dtype if dtype is None else dtype
        fill_value = fill_value.item()
    if dtype is None:
        dtype = xp.native_dtype(dtype_of_number(fill_value))
    return xp.full(size, fill_value, dtype)


@creation(default_dtype=False)
def arange(
    xp: Backend, start: float, end: float | None = None, step: float = 1, *, dtype: Any = None
) -> Array:
    """Numbers from ``start`` to below ``end``, ``step`` apart.

    Args:
        start: First number; with one argument, ``end``, and the first is 0.
        end: Where to stop; not included.
        step: Distance; negative to count down.
        dtype: Default: int64 if all are ints, else the default dtype.

    Raises:
        RuntimeError: If ``step`` is 0 or leads away from ``end``.

    Example:
        >>> import tinytorch as tt
        >>> tt.arange(1, 7, 2)
        tensor([1, 3, 5])
    """
    if end is None:
        start, end = 0, start
    start, end, step = (v.item() if isinstance(v, Tensor) else v for v in (start, end, step))
    if dtype is None:
        integers = all(isinstance(v, int) for v in (start, end, step))
        dtype = xp.native_dtype(dtypes.int64 if integers else _state.default_dtype())
    if step == 0:
        raise RuntimeError("arange: step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"arange: upper bound and lower bound inconsistent with step sign: start={start}, "
            f"end={end}, step={step}"
        )
    if dtype.kind in "fc":
        count = math.ceil((end - start) / step)
        return (xp.arange(count, dtype="float64") * step + start).astype(dtype)
    return xp.arange(start, end, step, dtype=dtype)


@creation
def linspace(xp: Backend, start: Any, end: Any, steps: int, *, dtype: Any = None) -> Array:
    """``steps`` evenly spaced numbers from ``start`` to ``end``, both included.

    Args:
        start: First number.
        end: Last number.
        steps: How many.
        dtype: Default: the default dtype.

    Raises:
        RuntimeError: If ``steps`` is negative.

    Example:
        >>> import tinytorch as tt
        >>> tt.linspace(0, 1, 3)
        tensor([0.0000, 0.5000, 1.0000])
    """
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    start, end = (v.item() if isinstance(v, Tensor) else v for v in (start, end))
    return xp.linspace(start, end, steps).astype(dtype)


@creation
def eye(xp: Backend, n: int, m: int | None = None, *, dtype: Any = None) -> Array:
    """A matrix with ones on its diagonal and zeros elsewhere.

    Args:
        n: Rows.
        m: Columns; default ``n``.
        dtype: Default: the default dtype.

    Raises:
        RuntimeError: For a negative size.

    Example:
        >>> import tinytorch as tt
        >>> tt.eye(2)
        tensor([[1., 0.],
                [0., 1.]])
    """
    for name, size in (("n", n), ("m", m)):
        if size is not None and size < 0:
            raise RuntimeError(f"eye: {name} must be greater or equal to 0, got {size}")
    return xp.eye(n, m, dtype=dtype)


@composite(method=False)
def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    backend: Any = None,
) -> Tensor:
    """A new tensor with a copy of ``data``.

    Args:
        data: A number, nested sequences of numbers or tensors, an array, or a tensor.
        dtype: Default: the array's own; the default dtype for Python floats, int64 for
            ints, bool for bools.
        device: Where; default the active backend.
        requires_grad: Whether it is a leaf whose gradient is wanted.
        pin_memory: Accepted for compatibility.
        backend: A backend or its name; overrides the active one.

    Raises:
        ValueError: If nested sequences are ragged.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([[1, 2], [3, 4]])
        tensor([[1, 2],
                [3, 4]])
    """
    xp = backend_for(device, backend)
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    out = wrap(_array_of(data, xp, wanted), xp)
    return out.requires_grad_() if requires_grad else out


def _array_of(data: Any, xp: Backend, dtype: dtypes.dtype | None) -> Array:
    if isinstance(data, Tensor):
        raw = data._data if data._xp is xp else xp.from_numpy(data._xp.to_numpy(data._data))
        return xp.array(raw, dtype=None if dtype is None else xp.native_dtype(dtype))
    if isinstance(data, xp.array_type):
        return xp.array(data, dtype=None if dtype is None else xp.native_dtype(dtype))
    if isinstance(data, (bool, int, float, complex, list, tuple)):
        plain = _plain(data) if isinstance(data, (list, tuple)) else [data]
        array = convert_sequence(plain, xp, dtype)
        return array if isinstance(data, (list, tuple)) else array.reshape(())
    array = xp.convert(data, dtype)
    xp.dtype_of(array)  # TypeError for what torch has no dtype for
    return array


def _plain(data: Any) -> Any:
    """Nested sequences with tensors in them as sequences of numbers."""
    if isinstance(data, Tensor):
        return data.tolist()
    if isinstance(data, (list, tuple)):
        return [_plain(item) for item in data]
    return data




class Placement(TypedDict, total=False):
    """How a tensor made after another may differ from it."""

    dtype: dtypes.dtype | None
    layout: Any
    device: Device | str | int | None
    pin_memory: bool
    requires_grad: bool
    memory_format: Any
    backend: Backend | str | None


def _like(name: str, input: Tensor, size: Any, options: Any, *values: Any) -> Tensor:
    """A creation function with ``input``'s shape, dtype and backend as defaults."""
    if options.get("device") is None and options.get("backend") is None:
        options["backend"] = input._xp
    if options.get("dtype") is None:
        options["dtype"] = input.dtype
    options.pop("memory_format", None)
    shape = input.shape if size is None else size
    return OPS[name].function(shape, *values, **options)  # type: ignore[no-any-return]


@composite(method=False)
def zeros_like(input: Tensor, **options: Unpack[Placement]) -> Tensor:
    """Zeros in the shape, dtype and place of ``input``.

    Args:
        input: The model.
        **options: ``dtype``, ``device``, ``requires_grad`` to differ from it.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros_like(tt.tensor([1, 2]))
        tensor([0, 0])
    """
    return _like("zeros", input, None, options)


@composite(method=False)
def ones_like(input: Tensor, **options: Unpack[Placement]) -> Tensor:
    """Ones in the shape, dtype and place of ``input``.

    Args:
        input: The model.
        **options: ``dtype``, ``device``, ``requires_grad`` to differ from it.

    Example:
        >>> import tinytorch as tt
        >>> tt.ones_like(tt.tensor([1, 2]))
        tensor([1, 1])
    """
    return _like("ones", input, None, options)


@composite(method=False)
def empty_like(input: Tensor, **options: Unpack[Placement]) -> Tensor:
    """Uninitialised memory in the shape, dtype and place of ``input``.

    Args:
        input: The model.
        **options: ``dtype``, ``device``, ``requires_grad`` to differ from it.

    Example:
        >>> import tinytorch as tt
        >>> tt.empty_like(tt.zeros(2, 3)).shape
        tinytorch.Size([2, 3])
    """
    return _like("empty", input, None, options)


@composite(method=False)
def full_like(input: Tensor, fill_value: Any, **options: Unpack[Placement]) -> Tensor:
    """One value everywhere, in the shape, dtype and place of ``input``.

    Args:
        input: The model.
        fill_value: The number.
        **options: ``dtype``, ``device``, ``requires_grad`` to differ from it.

    Example:
        >>> import tinytorch as tt
        >>> tt.full_like(tt.zeros(2), 7)
        tensor([7., 7.])
    """
    return _like("full", input, None, options, fill_value)


@composite(namespaces=("Tensor",))
def new_zeros(input: Tensor, *size: int | Sequence[int], **options: Unpack[Placement]) -> Tensor:
    """Zeros of another shape, in the dtype and place of ``input``.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([1]).new_zeros(2)
        tensor([0, 0])
    """
    return _like("zeros", input, _sizes(size, options), options)


@composite(namespaces=("Tensor",))
def new_ones(input: Tensor, *size: int | Sequence[int], **options: Unpack[Placement]) -> Tensor:
    """Ones of another shape, in the dtype and place of ``input``.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([1]).new_ones(2)
        tensor([1, 1])
    """
    return _like("ones", input, _sizes(size, options), options)


@composite(namespaces=("Tensor",))
def new_empty(input: Tensor, *size: int | Sequence[int], **options: Unpack[Placement]) -> Tensor:
    """Uninitialised memory of another shape, in the dtype and place of ``input``.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([1]).new_empty(2).dtype
        tinytorch.int64
    """
    return _like("empty", input, _sizes(size, options), options)


@composite(namespaces=("Tensor",))
def new_full(input: Tensor, size: Shape, fill_value: Any, **options: Unpack[Placement]) -> Tensor:
    """One value everywhere in another shape, in the dtype and place of ``input``.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([1]).new_full((2,), 5)
        tensor([5, 5])
    """
    return _like("full", input, size, options, fill_value)


def _sizes(size: tuple[Any, ...], options: Any) -> Any:
    if "size" in options:
        return options.pop("size")
    return size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


@composite(namespaces=("Tensor",))
def new_tensor(input: Tensor, data: Any, **options: Unpack[Placement]) -> Tensor:
    """``tt.tensor(data)`` in the dtype and place of ``input``.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros(1).new_tensor([1, 2])
        tensor([1., 2.])
    """
    given: Any = options
    if given.get("dtype") is None:
        given["dtype"] = input.dtype
    if given.get("device") is None:
        given["backend"] = input._xp
    return tensor(data, **given)


@composite(method=False)
def as_tensor(data: Any, dtype: Any = None, device: Any = None, *, backend: Any = None) -> Tensor:
    """``data`` as a tensor, sharing its memory where possible.

    Args:
        data: A tensor, an array, a number or nested sequences.
        dtype: The wanted dtype; default as for ``tensor``.
        device: Where; default where ``data`` is, or the active backend.
        backend: A backend or its name; overrides the active one.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.ones(2)
        >>> tt.as_tensor(x) is x
        True
    """
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=device, backend=backend)
    xp = backend_for(device, backend)
    if isinstance(data, xp.array_type):
        xp.dtype_of(data)
        out = wrap(data, xp)
    else:
        return tensor(data, dtype=dtype, backend=xp)
    return out if dtype is None else out.to(dtype)


@composite(method=False)
def from_numpy(ndarray: Any) -> Tensor:
    """A tensor that shares the memory of a NumPy array; on other devices, a copy.

    Raises:
        TypeError: For anything but an array, or a dtype torch does not have.

    Example:
        >>> import numpy as np
        >>> import tinytorch as tt
        >>> tt.from_numpy(np.array([1, 2]))
        tensor([1, 2])
    """
    if not hasattr(ndarray, "__array_interface__") or not hasattr(ndarray, "strides"):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    xp = backend_for("cpu")
    xp.dtype_of(ndarray)
    return wrap(xp.from_numpy(ndarray), xp)
