"""Tensors of evenly spaced numbers."""

from __future__ import annotations

import math
from typing import Any

from .. import _state, dtypes
from .._caller import warn
from .._creation import creation
from .._op import Array, Backend
from .._tensor import Tensor
from .._write import scalar_name


def _number(name: str, value: Any) -> Any:
    """A bound as a Python number; RuntimeError for a tensor with dimensions."""
    if not isinstance(value, Tensor):
        return value.item() if hasattr(value, "item") else value
    if value.ndim:
        raise RuntimeError(
            f"{name} only supports 0-dimensional start and end tensors, but got one of shape "
            f"{list(value.shape)}"
        )
    return value.item()


@creation(default_dtype=False)
def arange(
    xp: Backend, start: float | None = None, end: float | None = None, step: float = 1, *,
    dtype: Any = None,
) -> Array:
    """Numbers from ``start`` to below ``end``, ``step`` apart.

    Args:
        start: First number; with one argument, ``end``, and the first is 0, as without it.
        end: Where to stop; not included.
        step: Distance; negative to count down.
        dtype: Default: int64 if all are ints, else the default dtype.

    Raises:
        RuntimeError: If ``step`` is 0 or leads away from ``end``, or there is no end.
        TypeError: Without an argument.

    Example:
        >>> import tinytorch as tt
        >>> tt.arange(1, 7, 2)
        tensor([1, 3, 5])
    """
    if end is None:
        if start is None:
            raise TypeError("arange() missing required argument 'end' (pos 1)")
        start, end = 0, start
    start = 0 if start is None else start
    start, end, step = (_number("arange", v) for v in (start, end, step))
    if dtype is None:
        integers = all(isinstance(v, int) for v in (start, end, step))
        dtype = xp.native_dtype(dtypes.int64 if integers else _state.default_dtype())
    if dtype.name == "int64":
        start, end, step = (_whole(v) for v in (start, end, step))
    count = _count(start, end, step)
    if dtype.kind == "b":
        raise NotImplementedError("\"arange_cpu\" not implemented for 'Bool'")
    if dtype.kind in "fc":
        # In float64, so that no rounding error of a step is added up.
        return (xp.arange(count, dtype="float64") * step + start).astype(dtype)
    return (xp.arange(count, dtype="int64") * int(step) + int(start)).astype(dtype)


@creation(default_dtype=False)
def range(
    xp: Backend, start: float, end: float, step: float = 1, *, dtype: Any = None
) -> Array:
    """Numbers from ``start`` to ``end``, which is included; deprecated, as it is in PyTorch.

    Args:
        start: First number.
        end: Where to stop; the last number, if the steps meet it.
        step: Distance; negative to count down.
        dtype: Default: the default dtype, also for ints.

    Raises:
        RuntimeError: If ``step`` is 0 or leads away from ``end``.
        NotImplementedError: For bools and complex numbers.

    Example:
        >>> import warnings
        >>> import tinytorch as tt
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", UserWarning)
        ...     tt.range(1, 3)
        tensor([1., 2., 3.])
    """
    warn(
        "tinytorch.range is deprecated, because its behavior is inconsistent with Python's range "
        "builtin. Instead, use tinytorch.arange, which produces values in [start, end).",
    )
    start, end, step = (_number("range", v) for v in (start, end, step))
    wanted = dtype or xp.native_dtype(_state.default_dtype())
    if wanted.kind in "bc":
        shown = scalar_name(xp.dtype_of_native(wanted))
        raise NotImplementedError(f"\"range_cpu\" not implemented for '{shown}'")
    _count(start, end, step, "range")
    if wanted.kind in "iu":  # the steps are rounded, not the numbers
        start, end, step = (_whole(v) for v in (start, end, step))
        _count(start, end, step, "range")
    count = int((end - start) / step + 1)
    return (xp.arange(count, dtype="float64") * step + start).astype(wanted)


def _whole(value: Any) -> Any:
    """A finite float as an int, as torch reads the bounds of an int64 range."""
    return int(value) if isinstance(value, float) and math.isfinite(value) else value


def _count(start: Any, end: Any, step: Any, name: str = "arange") -> int:
    if isinstance(start + end + step, complex):
        raise RuntimeError(f"{name}: value cannot be converted to type double without overflow")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"{name}: unsupported range: {start} -> {end}")
    if step == 0:
        raise RuntimeError(f"{name}: step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"{name}: upper bound and lower bound inconsistent with step sign: start={start}, "
            f"end={end}, step={step}"
        )
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        return -((start - end) // step)
    return int(math.ceil((end - start) / step))


def _spaced(
    xp: Backend, name: str, start: Any, end: Any, steps: Any, dtype: Any
) -> tuple[Array, Any]:
    """``steps`` numbers from ``start`` to ``end``, each counted from the nearer one.

    Returns:
        The numbers in full precision, and the native dtype they are wanted in.
    """
    if not hasattr(steps, "__index__"):
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got (int, int, "
            f"{type(steps).__name__}): steps must be an int"
        )
    steps = steps.__index__()
    if steps < 0:
        raise RuntimeError(f"{name}: number of steps must be non-negative, got {steps}")
    start, end = _number(name, start), _number(name, end)
    dtype = _spaced_dtype(xp, name, start + end, dtype)
    if dtype.kind in "iu":
        start, end = (_converted(name, v, dtype) for v in (start, end))
    place = xp.arange(steps, dtype="float64")
    step = (end - start) / (steps - 1) if steps > 1 else 0.0
    first, second = start + step * place, end - step * (steps - 1 - place)
    return xp.where(place * 2 < steps, first, second), dtype


def _converted(name: str, end: float, dtype: Any) -> int:
    if not math.isfinite(end):
        raise RuntimeError(
            f"{name}: value cannot be converted to type {dtype.name} without overflow: {end}"
        )
    return int(end)


def _spaced_dtype(xp: Backend, name: str, sample: Any, dtype: Any) -> Any:
    default = _state.default_dtype()
    if dtype is None:
        return xp.native_dtype(default.to_complex() if isinstance(sample, complex) else default)
    if isinstance(sample, complex) and dtype.kind != "c":
        shown = scalar_name(xp.dtype_of_native(dtype))
        raise RuntimeError(f"{name}: value cannot be converted to type {shown} without overflow")
    return dtype


@creation(default_dtype=False)
def linspace(
    xp: Backend, start: Any, end: Any, steps: int = 50, *, endpoint: bool = True,
    dtype: Any = None,
) -> Array:  # fmt: skip
    """``steps`` evenly spaced numbers from ``start`` to ``end``, both included.

    Args:
        start: First number, or a 0-d tensor.
        end: Last number, or a 0-d tensor.
        steps: How many; default 50.
        endpoint: Whether ``end`` is one of them; default yes.
        dtype: Default: the default dtype.

    Returns:
        Tensor of shape ``(steps,)``.

    Raises:
        RuntimeError: If ``steps`` is negative.
        TypeError: If it is no int.

    Example:
        >>> import tinytorch as tt
        >>> tt.linspace(0, 1, 3)
        tensor([0.0000, 0.5000, 1.0000])
    """
    if not endpoint:
        numbers, dtype = _spaced(xp, "linspace", start, end, steps + 1, dtype)
        return numbers[:-1].astype(dtype)
    numbers, dtype = _spaced(xp, "linspace", start, end, steps, dtype)
    return numbers.astype(dtype)


@creation(default_dtype=False)
def logspace(
    xp: Backend, start: Any, end: Any, steps: int = 50, base: float = 10.0, *, dtype: Any = None
) -> Array:
    """``base`` to the power of ``steps`` evenly spaced numbers from ``start`` to ``end``.

    Args:
        start: First exponent, or a 0-d tensor.
        end: Last exponent, or a 0-d tensor.
        steps: How many; default 50.
        base: What is raised; default 10.
        dtype: Default: the default dtype.

    Returns:
        Tensor of shape ``(steps,)``.

    Raises:
        RuntimeError: If ``steps`` is negative.
        TypeError: If it is no int.

    Example:
        >>> import tinytorch as tt
        >>> tt.logspace(0, 2, 3)
        tensor([  1.,  10., 100.])
    """
    exponents, dtype = _spaced(xp, "logspace", start, end, steps, dtype)
    return xp.power(xp.asarray(base, dtype=exponents.dtype), exponents).astype(dtype)
