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

#: Default limits of the random numbers.
LOWEST, HIGHEST, HIGHEST_INTEGER = -9, 9, 10


def make_tensor(
    *shape: Any, dtype: dtypes.dtype, device: Any, low: float | None = None,
    high: float | None = None, requires_grad: bool = False, noncontiguous: bool = False,
    exclude_zero: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Create a tensor of uniform random numbers from ``[low, high)``, the same as PyTorch's.

    Args:
        *shape: Sizes, as arguments or as a sequence.
        dtype: Dtype of the result: bool, an integer, floating-point or complex dtype.
        device: Device of the result.
        low: Lower limit (of both parts of complex numbers), raised to the smallest number of the
            dtype. Default: 0 for bool and unsigned integers, else -9.
        high: Upper limit, which is excluded. Default: 2 for bool, 10 for integers, else 9.
        requires_grad: Whether the result requires grad. Default: False.
        noncontiguous: Whether the result is not contiguous, if it has two or more elements.
            Default: False.
        exclude_zero: Whether to replace zeros by 1, or by the dtype's smallest normal number.
            Default: False.
        memory_format: Memory format; excludes ``noncontiguous``. Default: contiguous.

    Returns:
        A tensor of that shape and dtype.

    Raises:
        ValueError: If ``low`` is not less than ``high``, either is NaN, or the dtype has none of
            the numbers; if an integer tensor would require grad; if both ``noncontiguous`` and
            ``memory_format`` are given.
        TypeError: If ``dtype`` is not a dtype.

    Example:
        >>> x = tt.testing.make_tensor(2, 3, dtype=tt.float32, device="cpu", low=-1, high=1)
        >>> x.shape, bool((x.abs() <= 1).all())
        (tinytorch.Size([2, 3]), True)
    """
    sizes = tuple(shape[0] if len(shape) == 1 and isinstance(shape[0], Sequence) else shape)
    _check_arguments(dtype, requires_grad, noncontiguous, memory_format)
    has_gaps = noncontiguous and math.prod(sizes) > 1
    if has_gaps:
        sizes = (*sizes[:-1], 2 * sizes[-1])
    out = _sample(sizes, dtype, device, *_limits(dtype, low, high))
    if has_gaps:
        out = out[..., 1::2]  # starts at 1, so that the storage offset is not 0
    elif memory_format is not None:
        out = out.clone(memory_format=memory_format)
    if exclude_zero:
        out[out == 0] = dtypes.finfo(dtype).tiny if _is_inexact(dtype) else 1
    return out.requires_grad_() if requires_grad else out


def _is_inexact(dtype: dtypes.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex


def _check_arguments(
    dtype: dtypes.dtype, requires_grad: bool, noncontiguous: bool, memory_format: Any
) -> None:
    """Raise if arguments of ``make_tensor`` are invalid or exclude each other."""
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
    """Limits of the values of ``make_tensor``, clamped to the range of the dtype.

    Args:
        dtype: The dtype.
        low: Lower limit, or None for the default.
        high: Upper limit, or None for the default.

    Returns:
        The lower and the upper limit; integers if the dtype is not inexact.

    Raises:
        ValueError: For NaN, an empty interval, or one outside the range of the dtype.
    """
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
    """Range of a dtype and the default limits of its values.

    Returns:
        Four numbers: the smallest value, the end of the range, and the default ``low`` and
        ``high``.
    """
    if dtype is dtypes.bool:
        return 0, 2, 0, 2
    if _is_inexact(dtype):
        info = dtypes.finfo(dtype)
        return info.min, info.max, LOWEST, HIGHEST
    whole = dtypes.iinfo(dtype)
    # The end of the range is the largest number plus 1, except for int64, where that overflows.
    end = whole.max + (dtype is not dtypes.int64)
    return whole.min, end, LOWEST, HIGHEST_INTEGER


def _sample(
    sizes: tuple[int, ...], dtype: dtypes.dtype, device: Any, low: Any, high: Any
) -> Tensor:
    """Tensor of uniform random numbers from ``[low, high)``; of complex ones, both parts."""
    if not _is_inexact(dtype):
        return randint(low, high, sizes, device=device, dtype=dtype)
    out = empty(sizes, dtype=dtype, device=device)
    real = cast(Any, view_as_real(out) if dtype.is_complex else out)
    if high - low >= dtypes.finfo(dtype).max:  # unsupported by uniform_
        real.uniform_(low / 2, high / 2).mul_(2)
    else:
        real.uniform_(low, high)
    return out
