"""Attention with user-defined scores and masks: ``flex_attention``.

All scores, of shape ``(batch, heads, queries, keys)``, are computed: a ``BlockMask`` masks scores,
but saves no work.

Reference: PyTorch's documentation of ``torch.nn.attention.flex_attention``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from ...core.device import device as _device
from ...core.tensor import Tensor
from ...dtypes import float32, float64, int32
from ...func.mapping import map_elements
from ...ops.create.factories import ones
from ...ops.nn.padding import pad
from ...ops.pointwise.selection import where
from ...ops.sort.sorting import argsort

__all__ = [
    "AuxOutput", "AuxRequest", "BlockMask", "and_masks", "create_block_mask", "create_mask",
    "flex_attention", "noop_mask", "or_masks",
]  # fmt: skip

_DEFAULT_SPARSE_BLOCK_SIZE = 128
#: Function of the indices of batch, head, query and key: whether the query attends to the key.
MaskMod: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor], Any]


class AuxRequest(NamedTuple):
    """Additional results for ``flex_attention``: log-sum-exp of the scores, maximal scores."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """Results requested by ``AuxRequest``, ``(batch, heads, queries)``; the others are None."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Any:
    """Mask function that is always true: every query attends to every key.

    Example:
        >>> from tinytorch.nn.attention import flex_attention as flex
        >>> flex.create_mask(flex.noop_mask, 1, 1, 2, 2, device="cpu").all()
        tensor(True)
    """
    return ones((), dtype=bool, device=batch.device)


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """Return the logical and of several mask functions.

    Args:
        *mask_mods: The mask functions.

    Example:
        >>> from tinytorch.nn.attention import flex_attention as flex
        >>> def causal(b, h, q, kv):
        ...     return q >= kv
        >>> own = flex.and_masks(causal, lambda b, h, q, kv: q <= kv)
        >>> flex.create_mask(own, 1, 1, 2, 2, device="cpu")[0, 0]
        tensor([[ True, False],
                [False,  True]])
    """

    def all_masks(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Any:
        result: Any = ones((), dtype=bool, device=b.device)
        for mask in mask_mods:
            result = result & mask(b, h, q, k)
        return result

    return all_masks


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """Return the logical or of several mask functions.

    Args:
        *mask_mods: The mask functions.

    Example:
        >>> from tinytorch.nn.attention import flex_attention as flex
        >>> def causal(b, h, q, kv):
        ...     return q >= kv
        >>> near = flex.or_masks(causal, lambda b, h, q, kv: kv == q + 1)
        >>> flex.create_mask(near, 1, 1, 3, 3, device="cpu")[0, 0]
        tensor([[ True,  True, False],
                [ True,  True,  True],
                [ True,  True,  True]])
    """

    def any_mask(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Any:
        result: Any = ~ones((), dtype=bool, device=b.device)
        for mask in mask_mods:
            result = result | mask(b, h, q, k)
        return result

    return any_mask


def create_mask(
    mod_fn: MaskMod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None
) -> Tensor:
    """Return the bool tensor ``(B, H, Q_LEN, KV_LEN)`` of a mask function.

    Args:
        mod_fn: Mask function of four indices.
        B: Number of batches, or None for 1.
        H: Number of heads, or None for 1.
        Q_LEN: Number of queries.
        KV_LEN: Number of keys.
        device: Device of the tensor. Default: the active backend's.

    Example:
        >>> from tinytorch.nn.attention.flex_attention import create_mask
        >>> create_mask(lambda b, h, q, k: q >= k, None, None, 2, 2)
        tensor([[[[ True, False],
                  [ True,  True]]]])
    """
    sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
    mask: Any = map_elements(mod_fn, sizes, (), device)
    return mask.expand(sizes).clone()  # type: ignore[no-any-return]


class BlockMask:
    """Mask of pairs of queries and keys, divided into blocks; made by ``create_block_mask``.

    Attributes:
        mask_mod: Mask function of four indices.
        seq_lengths: Numbers of queries and keys.
        BLOCK_SIZE: Numbers of queries and of keys in a block.
        shape: ``(batches, heads, queries, keys)``.

    Args:
        mask_mod: Mask function of four indices.
        dense: bool tensor of the shape of the mask, True where a query attends to a key.
        block_size: Numbers of queries and of keys in a block.
        separate: Whether blocks that are all True are stored apart from partly masked ones.

    Example:
        >>> from tinytorch.nn.attention.flex_attention import create_block_mask
        >>> mask = create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 8, 8, BLOCK_SIZE=4)
        >>> mask.to_dense()
        tensor([[[[1, 0],
                  [1, 1]]]], dtype=tinytorch.int32)
    """

    def __init__(
        self, mask_mod: MaskMod, dense: Tensor, block_size: tuple[int, int], separate: bool
    ) -> None:
        self.mask_mod = mask_mod
        self.seq_lengths: tuple[int, int] = (dense.shape[-2], dense.shape[-1])
        self.BLOCK_SIZE = block_size
        self.shape: tuple[int, ...] = tuple(dense.shape)
        rows, columns = block_size
        padded: Any = pad(dense, (0, -dense.shape[-1] % columns, 0, -dense.shape[-2] % rows))
        blocks = padded.unflatten(-1, (-1, columns)).unflatten(-3, (-1, rows))
        count = blocks.sum((-3, -1))
        self._full = (count == rows * columns) & separate
        self._partial = (count > 0) & ~self._full

    def to_dense(self) -> Tensor:
        """Tensor ``(batches, heads, rows, columns)``: 0 for each fully masked block, else 1."""
        return (self._full | self._partial).to(int32)  # type: ignore[no-any-return]

    def sparsity(self) -> float:
        """Percentage of the pairs of queries and keys that are in fully masked blocks.

        Example:
            >>> from tinytorch.nn.attention.flex_attention import create_block_mask
            >>> mask = create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 8, 8, BLOCK_SIZE=4)
            >>> mask.sparsity()
            25.0
        """
        rows, columns = self.BLOCK_SIZE
        computed = int(self.to_dense().sum().item()) * rows * columns
        return 100 * (1 - computed / self.numel())

    def numel(self) -> int:
        """Number of pairs of queries and keys.

        Example:
            >>> from tinytorch.nn.attention.flex_attention import create_block_mask
            >>> mask = create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 8, 8, BLOCK_SIZE=4)
            >>> mask.numel()
            64
        """
        batches, heads, queries, keys = self.shape
        return batches * heads * queries * keys

    @property
    def kv_num_blocks(self) -> Tensor:
        """Number of partially masked blocks in each row of blocks.

        Example:
            >>> from tinytorch.nn.attention.flex_attention import create_block_mask
            >>> mask = create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 8, 8, BLOCK_SIZE=4)
            >>> mask.kv_num_blocks
            tensor([[[1, 1]]], dtype=tinytorch.int32)
        """
        return self._partial.sum(-1).to(int32)  # type: ignore[no-any-return]

    @property
    def kv_indices(self) -> Tensor:
        """Indices of the blocks of each row, those of partially masked blocks first.

        Example:
            >>> from tinytorch.nn.attention.flex_attention import create_block_mask
            >>> mask = create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 8, 8, BLOCK_SIZE=4)
            >>> mask.kv_indices
            tensor([[[[0, 1],
                      [1, 0]]]], dtype=tinytorch.int32)
        """
        return _indices_true_first(self._partial)

    @property
    def full_kv_num_blocks(self) -> Tensor:
        """Number of unmasked (full) blocks in each row of blocks.

        Example:
            >>> from tinytorch.nn.attention.flex_attention import create_block_mask
            >>> mask = create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 8, 8, BLOCK_SIZE=4)
            >>> mask.full_kv_num_blocks
            tensor([[[0, 1]]], dtype=tinytorch.int32)
        """
        return self._full.sum(-1).to(int32)  # type: ignore[no-any-return]

    @property
    def full_kv_indices(self) -> Tensor:
        """Indices of the blocks of each row, those of unmasked (full) blocks first.

        Example:
            >>> from tinytorch.nn.attention.flex_attention import create_block_mask
            >>> mask = create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 8, 8, BLOCK_SIZE=4)
            >>> mask.full_kv_indices
            tensor([[[[0, 1],
                      [0, 1]]]], dtype=tinytorch.int32)
        """
        return _indices_true_first(self._full)

    def __repr__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%)"


def _indices_true_first(blocks: Any) -> Tensor:
    """Return the order along the last dimension that puts the True elements of ``blocks`` first."""
    order: Any = argsort(blocks.to(int32), dim=-1, descending=True, stable=True)
    return order.to(int32)  # type: ignore[no-any-return]


def create_block_mask(
    mask_mod: MaskMod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int,
    device: Any = None, BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False, separate_full_blocks: bool = True, **options: Any,
) -> BlockMask:  # fmt: skip
    """Make a block mask for ``flex_attention`` from a mask function.

    Args:
        mask_mod: Function of the 0-d indices of batch, head, query and key that returns whether
            the query attends to the key.
        B: Number of batches; None if the mask is the same for all.
        H: Number of heads; None if the mask is the same for all.
        Q_LEN: Number of queries.
        KV_LEN: Number of keys.
        device: Device of the mask. Default: the active backend's.
        BLOCK_SIZE: Number of queries and of keys in a block. Default: 128.
        separate_full_blocks: Whether unmasked blocks are listed apart from partially masked ones.
            Default: True.
        **options: Have no effect; accepted for compatibility.

    A ``mask_mod`` that consists of arithmetic, comparisons and indexing of tensors is called once
    for all pairs. Any other is called for every pair, which takes minutes for thousands of keys.

    Example:
        >>> from tinytorch.nn.attention.flex_attention import create_block_mask
        >>> create_block_mask(lambda b, h, q, k: q >= k, None, None, 8, 8, BLOCK_SIZE=4)
        BlockMask(shape=(1, 1, 8, 8), sparsity=25.00%)
    """
    dense = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    pair = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    return BlockMask(mask_mod, dense, pair, separate_full_blocks)


def flex_attention(
    query: Tensor, key: Tensor, value: Tensor, score_mod: Callable[..., Any] | None = None,
    block_mask: BlockMask | None = None, scale: float | None = None, enable_gqa: bool = False,
    return_lse: bool = False, kernel_options: Any = None, *,
    return_aux: AuxRequest | None = None,
) -> Any:  # fmt: skip
    """Attention whose scores a function may modify: softmax of the scores times the values.

    Args:
        query: ``(batch, heads, queries, features)``.
        key: ``(batch, heads, keys, features)``.
        value: ``(batch, heads, keys, width)``.
        score_mod: Function of a score and the indices of batch, head, query and key that returns
            the modified score. Default: None, the scores are not modified.
        block_mask: Mask of the pairs of queries and keys. Default: None, no mask.
        scale: Factor of the dot products. Default: ``features ** -0.5``.
        enable_gqa: Whether ``key`` and ``value`` may have fewer heads than ``query``; several
            heads of queries then share one. Default: False.
        return_lse: Whether to return the log-sum-exp of the scores as well. Default: False.
        kernel_options: Has no effect; accepted for compatibility.
        return_aux: Additional results to return. Default: None.

    Returns:
        ``(batch, heads, queries, width)`` in the queries' dtype, with 0 for a query whose keys are
        all masked. With ``return_lse``, a pair of it and the log-sum-exp ``(batch, heads,
        queries)``; with ``return_aux``, a pair of it and an ``AuxOutput``.

    Raises:
        ValueError: If the numbers of heads differ without ``enable_gqa``, or a tensor has not four
            dimensions.

    Example:
        >>> from tinytorch.nn.attention.flex_attention import flex_attention
        >>> x = tt.ones(1, 1, 3, 2)
        >>> flex_attention(x, x, x, lambda score, b, h, q, k: score + (q - k)).shape
        tinytorch.Size([1, 1, 3, 2])
    """
    _check_shapes(query, key, value, enable_gqa)
    queries: Any = query
    repeats = queries.shape[1] // key.shape[1]
    keys, values = (x.repeat_interleave(repeats, 1) if repeats > 1 else x for x in (key, value))
    compute_dtype = float64 if queries.dtype is float64 else float32
    factor = queries.shape[-1] ** -0.5 if scale is None else scale
    scores: Any = (queries.to(compute_dtype) @ keys.to(compute_dtype).mT) * factor
    scores = _modify_scores(scores, score_mod, block_mask)
    lse = scores.logsumexp(-1)
    weights = scores.softmax(-1)
    weights = where((lse == -float("inf")).unsqueeze(-1), 0.0, weights)
    out = weights.to(queries.dtype) @ values.to(queries.dtype)
    if return_aux is not None:
        return out, AuxOutput(lse if return_aux.lse else None,
                              scores.amax(-1) if return_aux.max_scores else None)  # fmt: skip
    return (out, lse) if return_lse else out


def _check_shapes(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool) -> None:
    """Check that the tensors are 4-D, and that the heads of key and value divide those of query."""
    for tensor in (query, key, value):
        if tensor.ndim != 4:
            raise ValueError("NYI: query, key, and value must be 4D tensors")
    if query.shape[1] != key.shape[1] and not enable_gqa:
        raise ValueError(
            f"Expect query and key/value to have the same number of heads but got Hq="
            f"{query.shape[1]} and Hkv={key.shape[1]}. Try setting enable_gqa=True for GQA."
        )
    if query.shape[1] % key.shape[1]:
        raise ValueError(
            "Expect number of query heads to be a multiple of kv heads for GQA but got "
            f"Hq={query.shape[1]} and Hkv={key.shape[1]}."
        )


def _modify_scores(
    scores: Any, score_mod: Callable[..., Any] | None, block_mask: BlockMask | None
) -> Any:
    """Apply ``score_mod`` to the scores, and set masked scores to minus infinity."""
    sizes = _, _, queries, keys = tuple(scores.shape)
    device: _device = scores.device
    if score_mod is not None:
        scores = map_elements(score_mod, sizes, (scores,), device)
    if block_mask is None:
        return scores
    if block_mask.seq_lengths != (queries, keys):
        raise ValueError(
            f"block_mask was made for {block_mask.seq_lengths} queries and keys, got "
            f"{(queries, keys)}"
        )
    attends = map_elements(block_mask.mask_mod, sizes, (), device)
    return where(attends, scores, -float("inf"))
