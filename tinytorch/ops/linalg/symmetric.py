"""Kernels for symmetric matrices that need not be definite, over whole batches."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...dispatch.op import Array, Backend
from .substitution import first_failure, substitute

#: Bunch and Kaufman's bound on the growth of elements.
_ALPHA = (1 + math.sqrt(17)) / 8


def factor_ldl(xp: Backend, matrix: Array, hermitian: bool) -> tuple[Array, Array, Array]:
    """LAPACK's ``LD``, pivots and ``info`` of every matrix, from its lower triangle.

    Each column is eliminated in all matrices of the batch at once: masks tell where it is a
    pivot of its own, the first of a pivot of two columns, or the second, already done.

    Reference:
        Bunch & Kaufman, "Some stable methods for calculating inertia and solving symmetric
        linear systems", Math. Comp. 31 (1977).
    """
    found = xp.ldl(matrix, hermitian)
    if found is not None:
        return found
    a = _mirrored(xp, matrix, hermitian)
    n = a.shape[-1]
    pivots = xp.zeros(a.shape[:-1], xp.native_dtype(dtypes.int32))
    failed = xp.zeros(a.shape[:-1], bool)
    second = xp.zeros(a.shape[:-2], bool)
    for k in range(n):
        at, double, zero = _choose(xp, a[..., k:, k:], second, hermitian)
        single = xp.logical_not(second | double)
        swapped = xp.where(double, 1, 0)
        order = _swap(xp, n - k, swapped, xp.where(second, swapped, at))
        rest = a[..., k:, k:]
        rest[...] = _reordered(xp, rest, order)
        _eliminate(xp, rest, single & xp.logical_not(zero), double, hermitian)
        failed[..., k] = single & zero
        number = xp.astype(at + (k + 1), pivots.dtype)
        pivots[..., k] = xp.where(second, pivots[..., k], xp.where(double, -number, number))
        if k + 1 < n:
            pivots[..., k + 1] = xp.where(double, -number, 0)
        second = double
    return xp.tril(a), pivots, first_failure(xp, failed)


def _mirrored(xp: Any, matrix: Array, hermitian: bool) -> Array:
    """The matrix with its lower triangle on both sides."""
    lower = xp.tril(matrix)
    strict = xp.swapaxes(xp.tril(matrix, -1), -1, -2)
    if not hermitian or matrix.dtype.kind != "c":
        return lower + strict
    full = lower + xp.conj(strict)
    place = xp.arange(matrix.shape[-1])
    full[..., place, place] = full[..., place, place].real
    return full


def _size(x: Array) -> Array:
    """LAPACK's measure of a number, so that the pivots are the same."""
    return abs(x.real) + abs(x.imag) if x.dtype.kind == "c" else abs(x)


def _choose(xp: Any, rest: Array, second: Array, hermitian: bool) -> tuple[Array, Array, Array]:
    """For the first column of ``rest``: which row to bring up, whether as one of two, and
    whether the column is zero."""
    size = _size(rest)
    own = size[..., 0, 0]
    if rest.shape[-1] == 1:
        never = xp.zeros(own.shape, bool)
        return xp.zeros(own.shape, int), never, own == 0
    place = xp.arange(rest.shape[-1])
    best = xp.argmax(size[..., 1:, 0], axis=-1) + 1
    column = xp.max(size[..., 1:, 0], axis=-1)
    row = xp.take_along_axis(size, best[..., None, None], axis=-2)[..., 0, :]
    other = xp.take_along_axis(row, best[..., None], axis=-1)[..., 0]
    row = xp.max(xp.where(place == best[..., None], 0, row), axis=-1)
    zero = xp.maximum(own, column) == 0
    # column * (column / row) may divide by a row that is zero only if the column is, too.
    enough = (own >= _ALPHA * column) | (own * row >= _ALPHA * column * column)
    stay = zero | enough
    alone = xp.logical_not(stay) & (other >= _ALPHA * row)
    double = xp.logical_not(stay | alone | second)
    return xp.where(stay | second, 0, best), double, zero


def _swap(xp: Any, size: int, first: Array, other: Array) -> Array:
    """The order of rows with ``first`` and ``other`` exchanged, per matrix."""
    place = xp.arange(size)
    first, other = first[..., None], other[..., None]
    return xp.where(place == first, other, xp.where(place == other, first, place))


def _reordered(xp: Any, a: Array, order: Array) -> Array:
    rows = xp.take_along_axis(a, order[..., :, None], axis=-2)
    return xp.take_along_axis(rows, order[..., None, :], axis=-1)


def _eliminate(xp: Any, rest: Array, single: Array, double: Array, hermitian: bool) -> None:
    """Take the pivot's share off what is below and right of it, and leave ``L`` in its columns."""
    n = rest.shape[-1]
    if n == 1:
        return
    conj = xp.conj if hermitian else (lambda x: x)
    pivot = xp.where(single, rest[..., 0, 0], 1)
    column = rest[..., 1:, 0]
    scaled = column / pivot[..., None]
    once = single[..., None, None]
    share = xp.where(once, scaled[..., :, None] * conj(column)[..., None, :], 0)
    if n > 2:
        pair = rest[..., 2:, :2]
        solved = _over_pair(xp, pair, rest, double, hermitian)
        twice = double[..., None, None]
        product = xp.matmul(solved, xp.swapaxes(conj(pair), -1, -2))
        share[..., 1:, 1:] += xp.where(twice, product, 0)
        rest[..., 2:, :2] = xp.where(twice, solved, pair)
        column = rest[..., 1:, 0]
    rest[..., 1:, 1:] -= share
    rest[..., 1:, 0] = xp.where(single[..., None], scaled, column)


def _over_pair(xp: Any, pair: Array, rest: Array, double: Array, hermitian: bool) -> Array:
    """``pair`` times the inverse of the pivot of two columns, where there is one."""
    a, b, c = (xp.where(double, rest[..., i, j], 1) for i, j in ((0, 0), (1, 1), (1, 0)))
    first, other = _divided(
        xp, pair[..., 0], pair[..., 1], a[..., None], b[..., None], c[..., None], hermitian
    )
    return xp.stack((first, other), axis=-1)


def _divided(
    xp: Any, x: Array, y: Array, a: Array, b: Array, c: Array, hermitian: bool
) -> tuple[Array, Array]:
    """The row ``(x, y)`` times the inverse of ``[[a, e], [c, b]]``, e being c or its conjugate.

    Everything is divided by the size of c first, the largest of the four: nothing overflows.
    """
    scale = abs(c)
    scale = xp.where(scale == 0, 1, scale)
    a, b, c = a / scale, b / scale, c / scale
    e = xp.conj(c) if hermitian else c
    factor = scale * (a * b - c * e)
    factor = xp.where(factor == 0, 1, factor)
    return (x * b - y * c) / factor, (y * a - x * e) / factor


def solve_ldl(xp: Backend, ld: Array, pivots: Array, b: Array, hermitian: bool) -> Array:
    """The solution of ``A x = b`` from the factors of ``A``; all of one batch shape."""
    n = ld.shape[-1]
    starts = _starts(xp, pivots)
    lower, order = _standard(xp, ld, pivots, starts)
    x = xp.take_along_axis(b, order[..., None], axis=-2)
    substitute(xp, lower, x, unit=True)
    x = _over_blocks(xp, ld, starts, x, hermitian)
    turned = xp.swapaxes(lower, -1, -2)
    turned = xp.conj(turned) if hermitian else turned
    substitute(xp, turned, x, upper=True, unit=True)
    back = xp.argsort(order, axis=-1)
    return xp.take_along_axis(x, back[..., None], axis=-2) if n else x


def _starts(xp: Any, pivots: Array) -> Array:
    """Where a pivot of two columns begins: at every other one of the negative pivots."""
    starts = xp.zeros(pivots.shape, bool)
    for k in range(pivots.shape[-1]):
        starts[..., k] = pivots[..., k] < 0
        if k:
            starts[..., k] &= xp.logical_not(starts[..., k - 1])
    return starts


def _standard(xp: Any, ld: Array, pivots: Array, starts: Array) -> tuple[Array, Array]:
    """``L`` with ``A[order][:, order] = L D L^T``: LAPACK leaves later swaps out of it."""
    n = ld.shape[-1]
    place = xp.arange(n)
    # Below a pair's first diagonal element is D's, not L's.
    lower = xp.tril(ld, -1)
    lower = xp.where((place[:, None] == place + 1) & starts[..., None, :], 0, lower)
    order = xp.array(xp.broadcast_to(place, ld.shape[:-1]))
    for k in range(n):
        before = starts[..., k - 1] if k else xp.zeros(ld.shape[:-2], bool)
        first = k + xp.where(starts[..., k], 1, 0)
        other = xp.where(before, first, xp.astype(abs(pivots[..., k]), order.dtype) - 1)
        swap = _swap(xp, n, first, other)
        order = xp.take_along_axis(order, swap, axis=-1)
        lower[..., :, :k] = xp.take_along_axis(lower[..., :, :k], swap[..., :, None], axis=-2)
    return lower, order


def _over_blocks(xp: Any, ld: Array, starts: Array, x: Array, hermitian: bool) -> Array:
    """The inverse of the block-diagonal ``D`` times ``x``."""
    own = xp.diagonal(ld, 0, -2, -1)[..., None]
    if ld.shape[-1] < 2:
        return x / own
    off = xp.diagonal(ld, -1, -2, -1)[..., None]
    begins = starts[..., :-1, None]
    # D acts from the left here: its transpose acts on rows, which exchanges c and e.
    c = xp.conj(off) if hermitian else off
    first, other = _divided(
        xp, x[..., :-1, :], x[..., 1:, :], own[..., :-1, :], own[..., 1:, :], c, hermitian
    )
    result = x / own
    result[..., :-1, :] = xp.where(begins, first, result[..., :-1, :])
    result[..., 1:, :] = xp.where(begins, other, result[..., 1:, :])
    return result
