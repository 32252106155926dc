"""``torch.embedding_bag``: the bags, and what is known of them besides."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor, wrap
from ...dispatch.op import composite
from .embedding import _bag_sums, _bags, _firsts_of_segments, _padding, computable_rows
from .embedding import embedding_bag as bags_alone

_MODES = ("sum", "mean", "max")


@composite
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """``nn.functional.embedding_bag`` as PyTorch's kernel has it, with facts of the bags.

    Args:
        weight: The table, ``(num_embeddings, embedding_dim)``.
        indices: Integer tensor, ``(n,)``.
        offsets: ``(bags,)``: where each bag begins.
        scale_grad_by_freq: Divide a row's gradient by how often it occurs.
        mode: 0 for sums (default), 1 for means, 2 for maxima.
        sparse: Must be False.
        per_sample_weights: Factors, ``(n,)``, for sums alone.
        include_last_offset: Whether ``offsets`` ends with the end of the last bag.
        padding_idx: A row that counts in no bag.

    Returns:
        Four tensors: the bags, ``(bags, embedding_dim)``; the bag of each index, ``(n,)``; the
        indices of each bag that count, ``(bags,)``; and the index that each maximum is of,
        ``(bags, embedding_dim)``. The last two are PyTorch's own where the mode does not need
        them: zeros for sums, and the third again for means.

    Raises:
        RuntimeError: For a mode that is none.
        ValueError: If arguments do not fit each other.

    Example:
        >>> import tinytorch as tt
        >>> table = tt.tensor([[1.0, 2.0], [3.0, 6.0]])
        >>> tt.embedding_bag(table, tt.tensor([0, 1, 1]), tt.tensor([0, 2]), mode=1)[0]
        tensor([[2., 4.],
                [3., 6.]])
    """
    if mode not in (0, 1, 2):
        raise RuntimeError(f"embedding_bag: expected mode to be 0, 1 or 2, got {mode}")
    out = bags_alone(
        indices, weight, offsets, None, 2, scale_grad_by_freq, _MODES[mode], sparse,
        per_sample_weights, include_last_offset, padding_idx,
    )  # fmt: skip
    many: Any = indices
    flat, bags, count = _bags(many, offsets, include_last_offset)
    of_each: Any = wrap(bags, many._xp)
    padding = _padding(padding_idx, weight.shape[0])
    counted: Any = flat == flat if padding is None else flat != padding
    sizes: Any = _bag_sums(counted.to(dtypes.int64), of_each, count)
    if mode == 0:
        sizes = sizes * 0
    places = _places_of_maxima(weight, flat, bags, counted, count) if mode == 2 else sizes.clone()
    return out, of_each.to(indices.dtype), sizes.to(indices.dtype), places.to(indices.dtype)


def _places_of_maxima(weight: Any, flat: Any, bags: Any, counted: Any, count: int) -> Any:
    """The index that each maximum is of, ``(bags, embedding_dim)``; 0 in a bag that has none."""
    if not (flat.numel() and count):
        return flat.new_zeros((count, weight.shape[1]))
    xp = weight._xp
    rows = computable_rows(xp, weight._data, flat._data)
    values = xp.where(counted._data[:, None], rows, -xp.inf)
    first = wrap(_firsts_of_segments(xp, values, bags, count), xp)
    members: Any = _bag_sums(counted.to(dtypes.int64), wrap(bags, xp), count)
    return flat[first].masked_fill((members == 0).unsqueeze(1), 0)
