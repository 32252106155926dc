"""Rows added up by index in NumPy: the gradient of a look-up table.

``numpy.add.at`` takes rows one element at a time. Here the first of the rows for each place are
added in one go, then the second ones, and so on, of fewer and fewer places; a place with many
rows has them summed up by itself.
"""

from __future__ import annotations

from typing import Any

import numpy

#: Shorter rows are added element by element, and so are fewer elements in all.
_SHORT = 8
_FEW = 4096
#: More rows than this for one place are summed up in one reduction.
_MANY = 32


def add_rows(target: Any, index: Any, values: Any) -> bool:
    """``target[index] += values``, repeated indices summed; False if it is none of rows.

    Args:
        target: Array of shape ``(size, ...)``, changed in place.
        index: Integer array of shape ``(n,)``, if it is to be done here.
        values: Array of shape ``(n, ...)`` and the same dtype.
    """
    if not isinstance(index, numpy.ndarray) or index.ndim != 1 or index.dtype.kind not in "iu":
        return False
    if target.ndim < 2 or values.size < _FEW or target[:1].size < _SHORT:
        return False
    if values.shape != (index.size, *target.shape[1:]) or values.dtype != target.dtype:
        return False
    if index.dtype.kind == "i":
        index = numpy.where(index < 0, index + target.shape[0], index)
    order = numpy.argsort(index, kind="stable")
    ordered = index[order]
    starts = numpy.flatnonzero(numpy.concatenate(([True], ordered[1:] != ordered[:-1])))
    counts = numpy.diff(starts, append=index.size)
    by_count = numpy.argsort(-counts)
    starts, counts = starts[by_count], counts[by_count]
    total = values[order[starts]]
    several = int(numpy.searchsorted(-counts, -_MANY))  # places with more than that
    for i in range(several):
        rows = order[starts[i] : starts[i] + counts[i]]
        total[i] = numpy.add.reduce(values[rows], 0)
    for k in range(1, int(counts[several]) if several < counts.size else 1):
        more = int(numpy.searchsorted(-counts, -k))  # places with a row beyond the k-th
        total[several:more] += values[order[starts[several:more] + k]]
    target[ordered[starts]] += total
    return True
