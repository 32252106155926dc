"""``make_tensor``: random inputs of any dtype."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from .. import dtypes
from ..core.tensor import Tensor
from ..ops.create.factories import empty
from ..ops.pointwise.complex_numbers import view_as_real
from ..ops.random.sampling import randint
from ..warnings import warn

#: Where numbers are drawn from unless the caller says so.
LOWEST, HIGHEST, HIGHEST_INTEGER = -9, 9, 10


def make_tensor(
    *shape: Any,
    dtype: dtypes.dtype,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Random numbers from ``[low, high)``; the generator gives PyTorch's.

    Args:
        *shape: Sizes, one by one or as a sequence.
        dtype: Of the result: bool, an integer, floating-point or complex dtype.
        device: Where it is to live.
        low: The smallest number (of both parts of complex ones). Default: 0 for bool and unsigned
            integers, else -9. Numbers that the dtype cannot hold are replaced by its least.
        high: The end of the numbers. Default: 2 for bool, 10 for integers, else 9.
        requires_grad: Whether to record what is done with it; default False.
        noncontiguous: Whether to leave gaps in memory, if there are two elements or more.
        exclude_zero: Whether to put 1, or the dtype's smallest normal number, for zeros.
        memory_format: In which order its elements lie in memory; not together with
            ``noncontiguous``. Default: row-major.

    Returns:
        A tensor of that shape and dtype.

    Raises:
        ValueError: If ``low`` is not below ``high``, either is NaN, the dtype holds none of the
            numbers, an integer is to require grad, or both ``noncontiguous`` and
            ``memory_format`` are given.
        TypeError: If the dtype is none of these.

    Example:
        >>> x = tt.testing.make_tensor(2, 3, dtype=tt.float32, device="cpu", low=-1, high=1)
        >>> x.shape, bool((x.abs() <= 1).all())
        (tinytorch.Size([2, 3]), True)
    """
    sizes = tuple(shape[0] if len(shape) == 1 and isinstance(shape[0], Sequence) else shape)
    _check(dtype, requires_grad, noncontiguous, memory_format)
    gaps = noncontiguous and math.prod(sizes) > 1
    if gaps:
        sizes = (*sizes[:-1], 2 * sizes[-1])
    out = _drawn(sizes, dtype, device, *_limits(dtype, low, high))
    if gaps:
        out = out[..., 1::2]  # not from the first on, so that the offset counts, too
    elif memory_format is not None:
        out = out.clone(memory_format=memory_format)
    if exclude_zero:
        out[out == 0] = dtypes.finfo(dtype).tiny if _is_inexact(dtype) else 1
    return out.requires_grad_() if requires_grad else out


def _is_inexact(dtype: dtypes.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex


def _check(
    dtype: dtypes.dtype, requires_grad: bool, noncontiguous: bool, memory_format: Any
) -> None:
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"{noncontiguous=} and {memory_format=}"
        )
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(
            f"The requested dtype '{dtype}' is not supported by tinytorch.testing.make_tensor()."
        )
    if requires_grad and not _is_inexact(dtype):
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
            f"{dtype=}"
        )


def _limits(dtype: dtypes.dtype, low: float | None, high: float | None) -> tuple[Any, Any]:
    """The numbers that the caller wants, as far as the dtype has them."""
    least, end, usual_low, usual_high = _range(dtype)
    low = usual_low if low is None else low
    high = usual_high if high is None else high
    if low != low or high != high:
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and _is_inexact(dtype):
        warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is "
            "deprecated. Use `torch.full(...)` instead.",
            FutureWarning,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= end:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} "
            f"only supports [{least}, {end})"
        )
    low, high = (min(max(limit, least), end) for limit in (low, high))
    return (low, high) if _is_inexact(dtype) else (math.ceil(low), math.ceil(high))


def _range(dtype: dtypes.dtype) -> tuple[float, float, float, float]:
    """The least number of a dtype, the end of its numbers, and the usual limits."""
    if dtype is dtypes.bool:
        return 0, 2, 0, 2
    if _is_inexact(dtype):
        info = dtypes.finfo(dtype)
        return info.min, info.max, LOWEST, HIGHEST
    whole = dtypes.iinfo(dtype)
    # The largest int64 cannot be drawn: what comes after it is none, as a limit must be.
    end = whole.max + (dtype is not dtypes.int64)
    return whole.min, end, LOWEST, HIGHEST_INTEGER


def _drawn(sizes: tuple[int, ...], dtype: dtypes.dtype, device: Any, low: Any, high: Any) -> Tensor:
    if not _is_inexact(dtype):
        return randint(low, high, sizes, device=device, dtype=dtype)
    out = empty(sizes, dtype=dtype, device=device)
    real = cast(Any, view_as_real(out) if dtype.is_complex else out)
    if high - low >= dtypes.finfo(dtype).max:  # which uniform_ refuses
        real.uniform_(low / 2, high / 2).mul_(2)
    else:
        real.uniform_(low, high)
    return out
