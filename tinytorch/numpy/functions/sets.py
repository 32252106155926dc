"""Sets: the distinct elements of tensors, and what two of them have in common."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ops.named_results import named_result
from ...ops.shape.joining import cat
from ...ops.sort.membership import isin
from ...ops.sort.unique import unique
from .conversion import array_of, arrays_of
from .registration import joining, shared

_unique_all_result = named_result("unique_all", "values indices inverse_indices counts")
_unique_counts_result = named_result("unique_counts", "values counts")
_unique_inverse_result = named_result("unique_inverse", "values inverse_indices")


@shared
def unique_values(x: Any) -> Tensor:
    """The distinct elements, in ascending order; NaNs are distinct from each other.

    Args:
        x: Tensor of any shape.

    Example:
        >>> import tinytorch as tt
        >>> tt.unique_values(tt.tensor([3, 1, 3]))
        tensor([1, 3])
    """
    return unique(array_of(x))  # type: ignore[no-any-return]


@shared
def unique_counts(x: Any) -> tuple[Tensor, Tensor]:
    """The distinct elements, in ascending order, and how often each comes.

    Args:
        x: Tensor of any shape.

    Returns:
        A named tuple ``(values, counts)``.

    Example:
        >>> import tinytorch as tt
        >>> tt.unique_counts(tt.tensor([3, 1, 3])).counts
        tensor([1, 2])
    """
    return _unique_counts_result(  # type: ignore[no-any-return]
        *unique(array_of(x), return_counts=True)
    )


@shared
def unique_inverse(x: Any) -> tuple[Tensor, Tensor]:
    """The distinct elements, in ascending order, and where among them each element is.

    Args:
        x: Tensor of any shape.

    Returns:
        A named tuple ``(values, inverse_indices)``.

    Example:
        >>> import tinytorch as tt
        >>> tt.unique_inverse(tt.tensor([3, 1, 3])).inverse_indices
        tensor([1, 0, 1])
    """
    return _unique_inverse_result(  # type: ignore[no-any-return]
        *unique(array_of(x), return_inverse=True)
    )


@shared
def unique_all(x: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The distinct elements, in ascending order, with places and counts.

    Args:
        x: Tensor of any shape.

    Returns:
        A named tuple ``(values, indices, inverse_indices, counts)``; ``indices`` are the places
        of first occurrence in the flattened tensor.

    Example:
        >>> import tinytorch as tt
        >>> tt.unique_all(tt.tensor([3, 1, 3])).indices
        tensor([1, 0])
    """
    options: Any = {
        "return_index": True,
        "return_inverse": True,
        "return_counts": True,
        "equal_nan": False,
    }
    found: Any = unique(array_of(x), **options)
    return _unique_all_result(*found)  # type: ignore[no-any-return]


def _distinct(x: Any, assume_unique: bool) -> Any:
    return x.ravel() if assume_unique else unique(x)


@shared(prepare=joining(2))
def union1d(ar1: Any, ar2: Any) -> Tensor:
    """The elements that are in either tensor, each once and in ascending order.

    Args:
        ar1: Tensor of any shape.
        ar2: Tensor of any shape.

    Example:
        >>> import tinytorch as tt
        >>> tt.union1d(tt.tensor([3, 1]), tt.tensor([1, 2]))
        tensor([1, 2, 3])
    """
    return unique(cat([x.ravel() for x in arrays_of(ar1, ar2)]))  # type: ignore[no-any-return]


@shared(prepare=joining(2), forms=(
    "(..., return_indices: Literal[False] = False) -> Tensor",
    "(..., return_indices: Literal[True]) -> tuple[Tensor, Tensor, Tensor]",
))  # fmt: skip
def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """The elements that are in both tensors, each once and in ascending order.

    Args:
        ar1: Tensor of any shape.
        ar2: Tensor of any shape.
        assume_unique: The elements of each are known to be distinct.
        return_indices: Also return where each is in the flattened tensors, first occurrences.

    Returns:
        The elements; with ``return_indices`` a tuple with the places in ``ar1`` and ``ar2``.

    Example:
        >>> import tinytorch as tt
        >>> tt.intersect1d(tt.tensor([3, 1, 2]), tt.tensor([2, 3]))
        tensor([2, 3])
    """
    a, b = arrays_of(ar1, ar2)
    options: Any = {"return_index": True}
    first, at = unique(a, **options)
    second, other = unique(b, **options)
    mine, theirs = isin(first, second), isin(second, first)
    return (first[mine], at[mine], other[theirs]) if return_indices else first[mine]


@shared
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    """The elements of the first tensor that are not in the second.

    Args:
        ar1: Tensor of any shape.
        ar2: Tensor of any shape.
        assume_unique: The elements of each are known to be distinct; the order is then kept.

    Returns:
        Tensor of one dimension, in ascending order.

    Example:
        >>> import tinytorch as tt
        >>> tt.setdiff1d(tt.tensor([3, 1, 2]), tt.tensor([2]))
        tensor([1, 3])
    """
    a, b = arrays_of(ar1, ar2)
    kept = _distinct(a, assume_unique)
    return kept[~isin(kept, b)]  # type: ignore[no-any-return]


@shared(prepare=joining(2))
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    """The elements that are in one of the tensors alone, each once and in ascending order.

    Args:
        ar1: Tensor of any shape.
        ar2: Tensor of any shape.
        assume_unique: The elements of each are known to be distinct.

    Example:
        >>> import tinytorch as tt
        >>> tt.setxor1d(tt.tensor([3, 1]), tt.tensor([1, 2]))
        tensor([2, 3])
    """
    a, b = (_distinct(x, assume_unique) for x in arrays_of(ar1, ar2))
    either = cat([a[~isin(a, b)], b[~isin(b, a)]])
    return unique(either)  # type: ignore[no-any-return]
