"""Products of NumPy arrays, as products of long pieces.

``numpy.multiply.reduce`` along the last dimension waits for each product before the next. Cut
into pieces, which are multiplied with each other, a row keeps the processor's vectors busy.
"""

from __future__ import annotations

from typing import Any

import numpy

#: Below this many elements one reduction is as fast.
_FEW = 2048
#: Rows of up to this many elements are multiplied up one by one.
_SHORT = 64
#: Pieces are to be this long at least, for what starting a loop costs, or a quarter of the row.
_LONG = 128
#: At most so many pieces.
_PIECES = 32


def float_prod(array: Any, axis: Any, dtype: Any, keepdims: bool) -> Any:
    """The product over ``axis``, or None where one reduction is to do it.

    Args:
        array: Array.
        axis: A dimension, several, or None for all of them.
        dtype: What to multiply in; None for the array's own.
        keepdims: Whether they stay, with size 1.

    Returns:
        Array or scalar.
    """
    if array.size < _FEW or not array.flags.c_contiguous:
        return None
    if dtype is not None and dtype != array.dtype:  # float64 equals None, to NumPy
        return None
    if array.dtype.kind not in "fiu" or array.dtype.char == "e":
        return None
    ndim = array.ndim
    given = range(ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    axes = sorted(a % ndim for a in given)
    kept = ndim - len(axes)
    if not axes or axes != list(range(kept, ndim)):
        return None
    count = 1
    for size in array.shape[:kept]:
        count *= size
    rows = _rows(array.reshape(count, -1)) if count else array.reshape(0, 1)
    product: Any = numpy.multiply.reduce(rows, 1, array.dtype)
    if keepdims:
        return product.reshape(array.shape[:kept] + (1,) * len(axes))
    return product.reshape(array.shape[:kept]) if kept else product[0]


def _rows(rows: Any) -> Any:
    """Short rows of the same products."""
    while rows.shape[1] > _SHORT:
        count, size = rows.shape
        pieces = min(_PIECES, max(size // _LONG, 4))
        length = size // pieces
        whole = rows[:, : pieces * length].reshape(count, pieces, length)
        product = numpy.multiply.reduce(whole, 1, rows.dtype)
        rest = rows[:, pieces * length :]
        rows = numpy.concatenate((product, rest), 1) if rest.shape[1] else product
    return rows
