"""``associative_scan``: cumulative results of a function of two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...func._trees import flatten, unflatten
from ...ops.shape.joining import stack
from .scan import slices_of

__all__ = ["associative_scan"]


def associative_scan(
    combine_fn: Callable[[Any, Any], Any], xs: Any, dim: int, reverse: bool = False,
    combine_mode: str = "pointwise",
) -> Any:  # fmt: skip
    """The slices of ``xs`` combined from the first up to each.

    Args:
        combine_fn: Takes two slices and returns one; it has to be associative.
        xs: A tensor, or a tree of them, of as many slices along ``dim``.
        dim: The dimension.
        reverse: Whether to begin with the last slice. Default: False.
        combine_mode: ``"pointwise"`` or ``"generic"``, which makes no difference here.

    Raises:
        RuntimeError: If there is nothing to go through.
        ValueError: For another mode.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch._higher_order_ops import associative_scan
        >>> associative_scan(lambda a, b: a * b, tt.tensor([1.0, 2.0, 3.0]), 0)
        tensor([1., 2., 6.])
    """
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(
            f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}"
        )
    leaves, structure = flatten(xs)
    slices = slices_of(leaves, dim, reverse)
    results = [unflatten(structure, slices[0])]
    for each in slices[1:]:
        results.append(combine_fn(results[-1], unflatten(structure, each)))
    results = results[::-1] if reverse else results
    columns = zip(*(flatten(result)[0] for result in results), strict=True)
    return unflatten(structure, [stack(list(column), dim) for column in columns])
