"""Einstein's notation: reading it, and planning which operands meet in which order.

Nothing here touches an array: a plan follows from the equation and the operands' shapes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#: Dimensions under an ellipsis get labels from here on, counted from the last one backwards.
_ELLIPSIS_BASE = 0x100


class Step(NamedTuple):
    """What happens to one operand on its own before it meets another.

    Attributes:
        diagonals: Pairs of dimensions to take the diagonal of, which goes to the end.
        shape: Its shape without dimensions of size 1 that others stretch; None to keep all.
        sums: Dimensions to sum over: no other operand and not the result has them.
        term: Its labels afterwards.
    """

    diagonals: tuple[tuple[int, int], ...]
    shape: tuple[int, ...] | None
    sums: tuple[int, ...]
    term: str


class Plan(NamedTuple):
    """How to evaluate an equation.

    Attributes:
        steps: One per operand.
        pairs: Positions of two operands, which leave the list, and the terms of both and of
            their product, which joins its end.
        order: The dimensions of the last operand in the order of the result; None if they
            are in it already.
    """

    steps: tuple[Step, ...]
    pairs: tuple[tuple[int, int, str, str, str], ...]
    order: tuple[int, ...] | None


def from_sublists(operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """The equation and operands of ``einsum(a, [0, 1], b, [1, 2], [0, 2])``."""
    pairs = len(operands) // 2
    inputs = ",".join(_letters(operands[2 * i + 1]) for i in range(pairs))
    if len(operands) % 2:
        inputs = f"{inputs}->{_letters(operands[-1])}"
    return inputs, [operands[2 * i] for i in range(pairs)]


def _letters(labels: Any) -> str:
    text = []
    for label in labels:
        if label is Ellipsis:
            text.append("...")
        elif isinstance(label, int) and 0 <= label < len(_LETTERS):
            text.append(_LETTERS[label])
        else:
            raise ValueError(
                "einsum(): subscript in subscript list is not within the valid range [0, 52): got "
                f"{label!r}; it must be an int or Ellipsis"
            )
    return "".join(text)


@functools.lru_cache(maxsize=1024)
def make_plan(equation: str, shapes: tuple[tuple[int, ...], ...]) -> Plan:
    """Plan the evaluation of ``equation`` for operands of ``shapes``.

    Raises:
        RuntimeError: If the equation is malformed or contradicts the shapes.
    """
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(shapes):
        more = "more" if len(shapes) > len(terms) else "fewer"
        raise RuntimeError(
            f"einsum(): {more} operands were provided than specified in the equation "
            f"'{equation}' ({len(shapes)} for {len(terms)} terms)"
        )
    terms = [_expand(i, terms, len(shape)) for i, shape in enumerate(shapes)]
    result = _result(terms, output if arrow else None, len(inputs) + 2)
    sizes = _sizes(terms, shapes)
    stretched = [_unstretched(t, s, sizes) for t, s in zip(terms, shapes, strict=True)]
    # A size of 1 is left out of a product and not summed over, which would widen integers.
    sums = {c: n for c, n in sizes.items() if n != 1 or c in result or len(terms) == 1}
    steps = tuple(
        _step(term, shape, {*"".join(stretched[:i] + stretched[i + 1 :]), *result}, sums)
        for i, (term, shape) in enumerate(zip(terms, shapes, strict=True))
    )
    pairs, last = _pairs([s.term for s in steps], result, sizes)
    return Plan(steps, pairs, None if last == result else tuple(map(last.index, result)))


def label_sizes(equation: str, shapes: tuple[tuple[int, ...], ...]) -> dict[str, int]:
    """What each label of an equation, and each dimension under an ellipsis, counts to."""
    terms = equation.replace(" ", "").partition("->")[0].split(",")
    return _sizes([_expand(i, terms, len(shape)) for i, shape in enumerate(shapes)], shapes)


def _check(term: str, where: str, start: int) -> str:
    """The term with its ellipsis marked by one character; RuntimeError for anything odd."""
    marked = term.replace("...", "\0", 1)
    for at, c in enumerate(marked):
        if c == ".":
            why = "that is not part of any ellipsis (...)"
            if "\0" in marked:
                why = "for which an ellipsis was already found"
                if where == "output":
                    why = "but an ellipsis (...) was already found"
            raise RuntimeError(f"einsum(): found '.' for {where} {why}")
        if c != "\0" and c not in _LETTERS:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {start + at} in the equation string, "
                f"subscripts must be in [a-zA-Z], got {c!r} for {where}"
            )
    return marked


def _expand(index: int, terms: list[str], ndim: int) -> str:
    marked = _check(terms[index], f"operand {index}", len(",".join([*terms[:index], ""])))
    count = ndim - len(marked.replace("\0", ""))
    if count < 0 and "\0" in marked:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({ndim - count}) is more than "
            f"the number of dimensions ({ndim}) for operand {index}"
        )
    if count and "\0" not in marked:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({ndim - count}) does not match "
            f"the number of dimensions ({ndim}) for operand {index} and no ellipsis was given"
        )
    return marked.replace("\0", _ellipsis(count))


def _ellipsis(count: int) -> str:
    """Labels of ``count`` dimensions under an ellipsis, lined up at the last."""
    return "".join(chr(_ELLIPSIS_BASE + k) for k in reversed(range(count)))


def _result(terms: list[str], output: str | None, start: int) -> str:
    together = "".join(terms)
    count = max(
        (ord(c) - _ELLIPSIS_BASE + 1 for c in together if ord(c) >= _ELLIPSIS_BASE), default=0
    )
    if output is None:
        once = sorted(c for c in set(together) if c in _LETTERS and together.count(c) == 1)
        return _ellipsis(count) + "".join(once)
    marked = _check(output, "output", start)
    for c in marked:
        if marked.count(c) > 1:
            raise RuntimeError(
                f"einsum(): output subscript {c} appears more than once in the output"
            )
        if c != "\0" and c not in together:
            raise RuntimeError(
                f"einsum(): output subscript {c} does not appear in the equation for any input "
                "operand"
            )
    return marked.replace("\0", _ellipsis(count))


def _sizes(terms: list[str], shapes: tuple[tuple[int, ...], ...]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for i, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        own: dict[str, int] = {}
        for c, n in zip(term, shape, strict=True):
            if own.setdefault(c, n) != n:
                raise RuntimeError(
                    f"einsum(): subscript {c} is repeated for operand {i} but the sizes don't "
                    f"match, {n} != {own[c]}"
                )
            have = sizes.setdefault(c, n)
            if n != have and 1 not in (n, have):
                name = f"subscript {c}" if c in _LETTERS else "a dimension under the ellipsis"
                raise RuntimeError(
                    f"einsum(): operands do not broadcast: {name} has size {n} for operand {i} "
                    f"which does not broadcast with previously seen size {have}"
                )
            sizes[c] = n if have == 1 else have
    return sizes


def _unstretched(term: str, shape: tuple[int, ...], sizes: dict[str, int]) -> str:
    """The labels that do not stand for a size of 1 others stretch: those need no product."""
    return "".join(c for c, n in zip(term, shape, strict=True) if n == sizes[c])


def _step(term: str, shape: tuple[int, ...], elsewhere: set[str], sizes: dict[str, int]) -> Step:
    """What is done to one operand, of which dimensions without a size in ``sizes`` vanish."""
    own = dict(zip(term, shape, strict=True))
    diagonals = []
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            first = term.index(c)
            second = term.index(c, first + 1)
            diagonals.append((first, second))
            term = term[:first] + term[first + 1 : second] + term[second + 1 :] + c
    kept = "".join(c for c in term if own[c] == sizes.get(c))
    squeezed = tuple(own[c] for c in kept) if kept != term else None
    sums = tuple(i for i, c in enumerate(kept) if c not in elsewhere)
    return Step(tuple(diagonals), squeezed, sums, "".join(c for c in kept if c in elsewhere))


def _pairs(
    terms: list[str], result: str, sizes: dict[str, int]
) -> tuple[tuple[tuple[int, int, str, str, str], ...], str]:
    """Contract the cheapest pair first, until one operand is left."""
    pairs = []
    while len(terms) > 1:
        i, j = _cheapest(terms, sizes)
        second, first = terms.pop(j), terms.pop(i)
        if terms:
            needed = {c for t in terms for c in t} | set(result)
            shared = [c for c in first if c in second]
            together = dict.fromkeys([*shared, *first, *second])
            product = "".join(c for c in together if c in needed)
        else:
            product = result
        pairs.append((i, j, first, second, product))
        terms.append(product)
    return tuple(pairs), terms[0]


def _cheapest(terms: list[str], sizes: dict[str, int]) -> tuple[int, int]:
    def cost(pair: tuple[int, int]) -> int:
        return math.prod(sizes[c] for c in {*terms[pair[0]], *terms[pair[1]]})

    count = len(terms)
    return min(((i, j) for i in range(count) for j in range(i + 1, count)), key=cost)


__all__ = ["Plan", "Step", "from_sublists", "label_sizes", "make_plan"]
