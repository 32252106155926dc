"""``einsum``, and the products that are special cases of it.

The equation and the operands' shapes determine an ``EinsumPlan``, which is cached: what to do to
each operand, and in which order to contract the operands in pairs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Out, Overlap, composite, op
from ...dispatch.out import scalar_name
from ..checks import check_supported
from ..pointwise.arithmetic import mul
from ..reduce.reduction import sum as sum_
from ..results import write_result
from ..shape.diagonal import diagonal
from ..shape.sizes import distinct_dims, permute, reshape

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#: Dimensions under an ellipsis get labels from here on, counted from the last one backwards.
_ELLIPSIS_BASE = 0x100


class OperandStep(NamedTuple):
    """Preparation of one operand before it is contracted with another.

    Attributes:
        diagonals: Pairs of dimensions to take the diagonal of, which becomes the last dimension.
        shape: The shape without dimensions of size 1 that broadcast; None to keep all.
        sums: Dimensions to sum over: neither another operand nor the result has their label.
        term: The operand's labels afterwards.
    """

    diagonals: tuple[tuple[int, int], ...]
    shape: tuple[int, ...] | None
    sums: tuple[int, ...]
    term: str


class EinsumPlan(NamedTuple):
    """Plan of the evaluation of an equation.

    Attributes:
        steps: The preparation of each operand.
        pairs: The contractions: the positions of two operands, which are removed from the list of
            operands, and the terms of both and of their product, which is appended to the list.
        order: The permutation of the last product's dimensions to the result's; None for none.
    """

    steps: tuple[OperandStep, ...]
    pairs: tuple[tuple[int, int, str, str, str], ...]
    order: tuple[int, ...] | None


def from_sublists(operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """The equation and operands of ``einsum(a, [0, 1], b, [1, 2], [0, 2])``."""
    pairs = len(operands) // 2
    inputs = ",".join(_subscripts(operands[2 * i + 1]) for i in range(pairs))
    if len(operands) % 2:
        inputs = f"{inputs}->{_subscripts(operands[-1])}"
    return inputs, [operands[2 * i] for i in range(pairs)]


def _subscripts(labels: Any) -> str:
    """The term of an equation for a list of ints and Ellipsis."""
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
def make_plan(equation: str, shapes: tuple[tuple[int, ...], ...]) -> EinsumPlan:
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
    terms = [_expand_term(i, terms, len(shape)) for i, shape in enumerate(shapes)]
    result = _result_term(terms, output if arrow else None, len(inputs) + 2)
    sizes = _sizes(terms, shapes)
    full = [_full_size_labels(t, s, sizes) for t, s in zip(terms, shapes, strict=True)]
    # Squeeze dimensions of size 1 instead of summing over them, which would widen integers.
    sums = {c: n for c, n in sizes.items() if n != 1 or c in result or len(terms) == 1}
    steps = tuple(
        _make_step(term, shape, {*"".join(full[:i] + full[i + 1 :]), *result}, sums)
        for i, (term, shape) in enumerate(zip(terms, shapes, strict=True))
    )
    pairs, last = _contraction_order([s.term for s in steps], result, sizes)
    return EinsumPlan(steps, pairs, None if last == result else tuple(map(last.index, result)))


def label_sizes(equation: str, shapes: tuple[tuple[int, ...], ...]) -> dict[str, int]:
    """The size of each label of an equation, and of each dimension under an ellipsis."""
    terms = equation.replace(" ", "").partition("->")[0].split(",")
    return _sizes([_expand_term(i, terms, len(shape)) for i, shape in enumerate(shapes)], shapes)


def _mark_ellipsis(term: str, where: str, start: int) -> str:
    """The term with its ellipsis as one character, ``\\0``; RuntimeError for invalid characters.

    ``where`` names the term in an error, and ``start`` is its position in the equation.
    """
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


def _expand_term(index: int, terms: list[str], ndim: int) -> str:
    """The labels of the ``ndim`` dimensions of operand ``index``, with those of an ellipsis.

    ``terms`` are the terms of all operands in the equation.
    """
    marked = _mark_ellipsis(terms[index], f"operand {index}", len(",".join([*terms[:index], ""])))
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
    """Labels of ``count`` dimensions under an ellipsis, aligned at the last dimension."""
    return "".join(chr(_ELLIPSIS_BASE + k) for k in reversed(range(count)))


def _result_term(terms: list[str], output: str | None, start: int) -> str:
    """The labels of the result.

    Args:
        terms: The labels of each operand.
        output: The equation's term of the result; None for the labels of an ellipsis, followed by
            the other labels that are used once.
        start: The position of ``output`` in the equation, for errors.
    """
    together = "".join(terms)
    count = max(
        (ord(c) - _ELLIPSIS_BASE + 1 for c in together if ord(c) >= _ELLIPSIS_BASE), default=0
    )
    if output is None:
        once = sorted(c for c in set(together) if c in _LETTERS and together.count(c) == 1)
        return _ellipsis(count) + "".join(once)
    marked = _mark_ellipsis(output, "output", start)
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
    """The size of every label after broadcasting; RuntimeError for sizes that do not broadcast.

    ``terms`` are the labels of each operand, and ``shapes`` the operands' shapes.
    """
    sizes: dict[str, int] = {}
    for i, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        own_sizes: dict[str, int] = {}
        for c, n in zip(term, shape, strict=True):
            if own_sizes.setdefault(c, n) != n:
                raise RuntimeError(
                    f"einsum(): subscript {c} is repeated for operand {i} but the sizes don't "
                    f"match, {n} != {own_sizes[c]}"
                )
            known = sizes.setdefault(c, n)
            if n != known and 1 not in (n, known):
                label = f"subscript {c}" if c in _LETTERS else "a dimension under the ellipsis"
                raise RuntimeError(
                    f"einsum(): operands do not broadcast: {label} has size {n} for operand {i} "
                    f"which does not broadcast with previously seen size {known}"
                )
            sizes[c] = n if known == 1 else known
    return sizes


def _full_size_labels(term: str, shape: tuple[int, ...], sizes: dict[str, int]) -> str:
    """The labels of a term without those of its dimensions of size 1 that broadcast.

    ``sizes`` holds the size of each label after broadcasting.
    """
    return "".join(c for c, n in zip(term, shape, strict=True) if n == sizes[c])


def _make_step(
    term: str, shape: tuple[int, ...], elsewhere: set[str], sizes: dict[str, int]
) -> OperandStep:
    """The preparation of one operand.

    Args:
        term: The operand's labels.
        shape: The operand's shape.
        elsewhere: The labels of the other operands and of the result.
        sizes: Sizes of labels. A dimension of another size is squeezed.
    """
    size_of = dict(zip(term, shape, strict=True))
    diagonals = []
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            first = term.index(c)
            second = term.index(c, first + 1)
            diagonals.append((first, second))
            term = term[:first] + term[first + 1 : second] + term[second + 1 :] + c
    labels = "".join(c for c in term if size_of[c] == sizes.get(c))
    squeezed = tuple(size_of[c] for c in labels) if labels != term else None
    sums = tuple(i for i, c in enumerate(labels) if c not in elsewhere)
    return OperandStep(
        tuple(diagonals), squeezed, sums, "".join(c for c in labels if c in elsewhere)
    )


def _contraction_order(
    terms: list[str], result: str, sizes: dict[str, int]
) -> tuple[tuple[tuple[int, int, str, str, str], ...], str]:
    """``EinsumPlan.pairs``, the cheapest pair first, and the term of the last product.

    Args:
        terms: The labels of each operand; the list is changed.
        result: The labels of the result.
        sizes: The size of each label.
    """
    pairs = []
    while len(terms) > 1:
        i, j = _cheapest_pair(terms, sizes)
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


def _cheapest_pair(terms: list[str], sizes: dict[str, int]) -> tuple[int, int]:
    """Positions of the two terms whose contraction takes the fewest multiplications."""

    def cost(pair: tuple[int, int]) -> int:
        return math.prod(sizes[c] for c in {*terms[pair[0]], *terms[pair[1]]})

    count = len(terms)
    return min(((i, j) for i in range(count) for j in range(i + 1, count)), key=cost)


# -- the primitives ------------------------------------------------------------------------------


class _ContractionLayout(NamedTuple):
    """Layout of two operands as batches of matrices, ``(batch, left, inner) @ (..., right)``.

    Attributes:
        swap: Whether to exchange the operands.
        first: The permutation of the first operand's dimensions.
        second: That of the second operand's.
        flip_first: Whether the first operand is permuted to ``(batch, inner, left)``.
        flip_second: Whether the second operand is permuted to ``(batch, right, inner)``.
        batch: The number of dimensions that all three terms share.
        inner: The number of dimensions that are summed over; 0 for an element-wise product.
        order: The permutation of the product's dimensions to the result's; None for none.
    """

    swap: bool
    first: tuple[int, ...]
    second: tuple[int, ...]
    flip_first: bool
    flip_second: bool
    batch: int
    inner: int
    order: tuple[int, ...] | None


@functools.lru_cache(maxsize=1024)
def _make_layout(a: str, b: str, result: str) -> _ContractionLayout:
    """The layout for the contraction of terms ``a`` and ``b`` to ``result``."""
    batch = [c for c in a if c in b and c in result]
    inner = [c for c in a if c in b and c not in result]
    left = [c for c in a if c not in b]
    right = [c for c in b if c not in a]
    if not inner:
        return _elementwise_layout(a, b, result)
    # As in PyTorch, the first operand is the one whose dimensions come first in the result, so
    # that the matrix product has its elements in the result's order.
    swap = bool(left and right) and result.index(right[0]) < result.index(left[0])
    if swap:
        a, b, left, right = b, a, right, left
    # BLAS accepts transposed matrices, so choose the order that needs no copy.
    flip_a = bool(left and inner) and a.index(inner[0]) < a.index(left[0])
    flip_b = bool(right and inner) and b.index(right[0]) < b.index(inner[0])
    first = batch + (inner + left if flip_a else left + inner)
    second = batch + (right + inner if flip_b else inner + right)
    have = batch + left + right
    order = tuple(have.index(c) for c in result)
    return _ContractionLayout(
        swap, tuple(map(a.index, first)), tuple(map(b.index, second)), flip_a, flip_b,
        len(batch), len(inner), None if order == tuple(range(len(have))) else order,
    )  # fmt: skip


def _elementwise_layout(a: str, b: str, result: str) -> _ContractionLayout:
    """The layout of a product without a sum: both operands in the result's dimension order."""
    first, second = (tuple(term.index(c) for c in result if c in term) for term in (a, b))
    return _ContractionLayout(False, first, second, False, False, 0, 0, None)


@op(promote="arithmetic", node="ViewBackward0")
def _contract(xp: Backend, input: Array, other: Array, a: str, b: str, result: str) -> Array:
    """Sum of products of two operands over the labels that are not in ``result``.

    ``a``, ``b`` and ``result`` label the dimensions. No label is twice in a term, and each is in
    two of the three terms at least, so the gradients are contractions of the same kind.
    """
    plan = _make_layout(a, b, result)
    if plan.swap:
        input, other = other, input
    x, y = input.transpose(plan.first), other.transpose(plan.second)
    if not plan.inner:
        return _align_to_result(xp, x, a, result) * _align_to_result(xp, y, b, result)
    batch, left, inner = _group_sizes(x.shape, plan.batch, plan.inner, plan.flip_first)
    _, right, _ = _group_sizes(y.shape, plan.batch, plan.inner, not plan.flip_second)
    product = xp.matmul(
        _as_matrices(x, batch, left, inner, plan.flip_first),
        _as_matrices(y, batch, inner, right, plan.flip_second),
    )
    product = product.reshape((*batch, *left, *right))
    return product if plan.order is None else product.transpose(plan.order)


def _align_to_result(xp: Any, x: Array, term: str, result: str) -> Array:
    """An operand in the result's order, with size 1 for the labels that it does not have."""
    sizes = iter(x.shape)
    return xp.reshape(x, tuple(next(sizes) if c in term else 1 for c in result))


def _group_sizes(shape: Any, batch: int, inner: int, inner_first: bool) -> tuple[Any, Any, Any]:
    """Sizes of an operand's dimensions in three groups: batch, its own, and those summed over.

    ``batch`` and ``inner`` are the numbers of dimensions in the first and the last group;
    ``inner_first`` is whether the last group comes before the operand's own.
    """
    lead, rest = shape[:batch], shape[batch:]
    if inner_first:
        return lead, rest[inner:], rest[:inner]
    return lead, rest[: len(rest) - inner], rest[len(rest) - inner :]


def _as_matrices(x: Array, batch: Any, rows: Any, columns: Any, flip: bool) -> Array:
    """An operand as matrices of ``rows`` by ``columns``, tuples of the sizes of several dimensions.

    ``flip`` is whether the operand has the dimensions of the columns first.
    """
    lead = (math.prod(batch),) if batch else ()
    shape = (math.prod(rows), math.prod(columns))
    x = x.reshape((*lead, *(shape[::-1] if flip else shape)))
    return x.swapaxes(-1, -2) if flip else x


_contract.vjp(
    input=lambda xp, g, other, a, b, result: xp.call(_contract, g, other, result, b, a),
    other=lambda xp, g, input, a, b, result: xp.call(_contract, input, g, a, result, b),
)


# -- einsum --------------------------------------------------------------------------------------


@composite
def einsum(*args: Any, optimize: Any = True) -> Tensor:
    """Sums of products of the operands' elements, in Einstein's notation.

    ``"ij,jk->ik"`` labels the dimensions of each operand and, after the arrow, those of the
    result. A label that is not in the result is summed over; one that is repeated in a term takes
    the diagonal. Without an arrow the result has the labels that occur once, in alphabetical
    order. ``...`` stands for dimensions that broadcast; a result without it sums over them.
    Operands are contracted in pairs, the cheapest first, as matrix products.

    Args:
        *args: The equation and then the operands, or NumPy's form: an operand, a list of
            ints that label its dimensions, the next operand and its list, ..., and the
            result's list.
        optimize: NumPy's keyword, which has no effect: the order is always chosen as above.

    Returns:
        Tensor with the result's dimensions.

    Raises:
        RuntimeError: If the equation is malformed or contradicts the operands' shapes, or if
            products of tensors of different dtypes are to be summed.
        NotImplementedError: If products of bools are to be summed.
        ValueError: If there is no operand, or an int in a list is not in the range [0, 52).

    Example:
        >>> a, b = tt.arange(4).reshape(2, 2), tt.tensor([[1, 0], [1, 1]])
        >>> tt.einsum("ij,jk->ik", a, b)
        tensor([[1, 1],
                [5, 3]])
        >>> tt.einsum("ii", a)
        tensor(3)
        >>> tt.einsum(a, [0, 1], [1, 0])
        tensor([[0, 2],
                [1, 3]])
    """
    if len(args) == 2 and isinstance(args[1], (list, tuple)) and isinstance(args[0], str):
        if args[1]:
            return einsum(args[0], *args[1], optimize=optimize)  # overrides see the operands
    equation, operands = _parse_arguments(args)
    shapes = tuple(tuple(t.shape) for t in operands)
    plan = make_plan(equation, shapes)
    if len({t.dtype for t in operands}) > 1 or operands[0].dtype is dtypes.bool:
        _check_contractions(operands, plan)
        common = reduce(dtypes.promote_types, (t.dtype for t in operands))
        # Squeezing may make an operand 0-d, which promotes differently, so convert it before.
        operands = [t.to(common) for t in operands]
    tensors = [_apply_step(t, step) for t, step in zip(operands, plan.steps, strict=True)]
    for i, j, first, second, product in plan.pairs:
        second_tensor, first_tensor = tensors.pop(j), tensors.pop(i)
        tensors.append(_contract(first_tensor, second_tensor, first, second, product))
    if plan.order is None and tensors[0] is not operands[0]:
        return tensors[0]
    return permute(tensors[0], plan.order or range(tensors[0].ndim))


def _check_contractions(operands: list[Tensor], plan: EinsumPlan) -> None:
    """Raise for operands of two dtypes, and for bools, whose products are to be summed."""
    kinds = [t.dtype for t in operands]
    for i, j, first, second, product in plan.pairs:
        other, one = kinds.pop(j), kinds.pop(i)
        kinds.append(dtypes.promote_types(one, other))
        if not set(first) & set(second) <= set(product):
            _check_not_bool("bmm", *operands)
            if one is not other:
                wanted, found = map(scalar_name, (one, other))
                raise RuntimeError(f"einsum(): expected scalar type {wanted} but found {found}")


def _check_not_bool(kernel: str, *operands: Tensor) -> None:
    """Raise NotImplementedError for bools, except for empty matrices, which PyTorch supports."""
    if operands[0]._data.dtype.kind in "fc":
        return
    if all(t.dtype is dtypes.bool and (t.numel() or kernel == "dot") for t in operands):
        check_supported(operands[0]._xp, kernel, operands[0]._data, unsupported="b")


def _parse_arguments(args: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """The equation and the operands of a call of ``einsum`` in either form."""
    operands: list[Any] = []
    if args and isinstance(args[0], str):
        equation, operands = args[0], list(args[1:])
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = list(operands[0])
    elif len(args) > 1:
        equation, operands = from_sublists(args)
    if not operands:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one "
            "operand and its subscripts list"
        )
    for i, operand in enumerate(operands):
        if not isinstance(operand, Tensor):
            raise TypeError(f"einsum(): operand {i} must be Tensor, not {type(operand).__name__}")
    return equation, operands


def _apply_step(tensor: Tensor, step: OperandStep) -> Tensor:
    """The operand after the diagonals, the reshape and the sums of its preparation."""
    for dim0, dim1 in step.diagonals:
        tensor = diagonal(tensor, 0, dim0, dim1)
    if step.shape is not None:
        tensor = reshape(tensor, step.shape)
    if step.sums:
        tensor = sum_(tensor, step.sums)
    return tensor


# -- contractions with a name ----------------------------------------------------------------------


@composite(out=Out.EXACT)
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """Sum of products over pairs of dimensions of two tensors.

    Args:
        a: Tensor of any shape.
        b: Tensor of any shape.
        dims: The dimensions of ``a`` and those of ``b`` to sum over, as two lists; or an int n
            for the last n of ``a`` and the first n of ``b``. Default 2.

    Returns:
        Tensor with the other dimensions of ``a`` and then those of ``b``.

    Raises:
        RuntimeError: If sizes, numbers of dimensions or dtypes differ.
        NotImplementedError: For bools.

    Example:
        >>> tt.tensordot(tt.ones(2, 3, 4), tt.ones(3, 4, 5)).shape
        tinytorch.Size([2, 5])
        >>> tt.tensordot(tt.ones(2, 3), tt.ones(4, 3), dims=([1], [1])).shape
        tinytorch.Size([2, 4])
    """
    _check_same_dtype("tensordot", a, b)
    first, second = _paired_dims(a, b, dims)
    for i, j in zip(first, second, strict=True):
        if a.shape[i] != b.shape[j] and 1 not in (a.shape[i], b.shape[j]):
            raise RuntimeError(
                f"tensordot: contracted dimensions need to match, but first has size {a.shape[i]} "
                f"in dim {i} and second has size {b.shape[j]} in dim {j}"
            )
    labels_a = [*range(a.ndim)]
    labels_b = [*range(a.ndim, a.ndim + b.ndim)]
    for i, j in zip(first, second, strict=True):
        labels_b[j] = i
    labels = [c for i, c in enumerate(labels_a) if i not in first]
    labels += [c for j, c in enumerate(labels_b) if j not in second]
    _check_not_bool("addmm_impl_cpu_" if labels else "dot", a, b)
    if out is None and all(a.shape[i] == b.shape[j] for i, j in zip(first, second, strict=True)):
        terms = ["".join(map(chr, term)) for term in (labels_a, labels_b, labels)]
        return _contract(a, b, *terms)
    # Like sum, einsum widens integers when it sums over one operand's dimension.
    result = einsum(a, labels_a, b, labels_b, labels).to(a.dtype)
    return write_result(out, result, "tensordot")  # type: ignore[no-any-return]


def _check_same_dtype(name: str, a: Tensor, b: Tensor) -> None:
    """Raise RuntimeError for operands of two dtypes; ``name`` is the function."""
    if a._data.dtype is not b._data.dtype and a.dtype is not b.dtype:
        raise RuntimeError(
            f"{name}(): both inputs should have same dtype, but got {scalar_name(a.dtype)} and "
            f"{scalar_name(b.dtype)}"
        )


def _paired_dims(a: Tensor, b: Tensor, dims: Any) -> tuple[list[int], list[int]]:
    """The dimensions of ``a`` and of ``b`` to sum over, from ``dims`` of ``tensordot``."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(
                f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims} for shapes "
                f"{list(a.shape)} and {list(b.shape)}"
            )
        return list(range(a.ndim - dims, a.ndim)), list(range(dims))
    first, second = (
        distinct_dims("tensordot", d, t.ndim) for d, t in zip(dims, (a, b), strict=True)
    )
    if len(first) != len(second):
        raise RuntimeError(
            "tensordot: both dimension lists should have same length, got "
            f"{len(first)} and {len(second)}"
        )
    return list(first), list(second)


@composite(method=True, out=Out.EXACT)
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sum of products over the last dimension of two tensors.

    Args:
        input: ``(..., k)``, or 0-d, which multiplies ``other``.
        other: ``(..., k)``, or 0-d.

    Returns:
        Tensor with the other dimensions of ``input`` and then those of ``other``.

    Raises:
        RuntimeError: If the last dimensions or the dtypes differ.
        NotImplementedError: For bools, unless one is 0-d.

    Example:
        >>> tt.inner(tt.tensor([1.0, 2.0]), tt.tensor([[3.0, 4.0], [5.0, 6.0]]))
        tensor([11., 17.])
    """
    shape, other_shape = input._data.shape, other._data.shape
    if not shape or not other_shape:
        result = input * other
    elif shape[-1] != other_shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    else:
        _check_same_dtype("inner", input, other)
        terms = _inner_terms(len(shape), len(other_shape))
        _check_not_bool("addmm_impl_cpu_" if terms[2] else "dot", input, other)
        result = _contract(input, other, *terms)
    return write_result(out, result, "inner")  # type: ignore[no-any-return]


@functools.cache
def _inner_terms(ndim: int, other: int) -> tuple[str, str, str]:
    """Labels of ``_contract`` for ``inner`` of tensors with these numbers of dimensions."""
    a, b = range(ndim), range(ndim, ndim + other - 1)
    first, second = ("".join(map(chr, labels)) for labels in (a, b))
    return first, second + first[-1], first[:-1] + second


@composite(method=True, node="UnsafeViewBackward0", out=Out.CAST, overlap=Overlap.CHECKED)
def kron(input: Tensor, other: Tensor) -> Tensor:
    """Kronecker product: every element of ``input`` times the whole of ``other``.

    Args:
        input: ``(a_0, ..., a_n)``; the one with fewer dimensions gets leading ones.
        other: ``(b_0, ..., b_n)``.

    Returns:
        ``(a_0 b_0, ..., a_n b_n)``.

    Example:
        >>> tt.kron(tt.tensor([1, 10]), tt.tensor([1, 2]))
        tensor([ 1,  2, 10, 20])
    """
    a, b = input._data.shape, other._data.shape
    a, b = (1,) * (len(b) - len(a)) + a, (1,) * (len(a) - len(b)) + b
    rows = tuple([size for n in a for size in (n, 1)])
    product = mul(reshape(input, rows), reshape(other, tuple([k for n in b for k in (1, n)])))
    return reshape(product, tuple([m * n for m, n in zip(a, b, strict=True)]))
