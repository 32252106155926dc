"""Private functions of ``torch.nn.functional`` that copies of its attention import."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..dtypes import bool as bool_
from ..warnings import warn


def _in_projection_packed(
    q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None
) -> list[Tensor]:
    """Project query, key and value by one matrix, whose rows are those of the three in turn.

    Args:
        q, k, v: Query, key and value, ``(..., embed)``.
        w: The matrix, ``(3 embed, embed)``.
        b: The bias, ``(3 embed,)``; default none.

    Example:
        >>> x, w = tt.ones(1, 2), tt.arange(12.0).reshape(6, 2)
        >>> [part.tolist() for part in tt.nn.functional._in_projection_packed(x, x, x, w)]
        [[[1.0, 5.0]], [[9.0, 13.0]], [[17.0, 21.0]]]
    """
    biases = (None,) * 3 if b is None else b.chunk(3)
    given = zip((q, k, v), w.chunk(3), biases, strict=True)
    return [_project(x, part, bias) for x, part, bias in given]


def _project(x: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
    """``nn.functional.linear``, from which this module is imported."""
    return x @ w.t() if b is None else x @ w.t() + b


def _in_projection(
    q: Tensor, k: Tensor, v: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor,
    b_q: Tensor | None = None, b_k: Tensor | None = None, b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Project query, key and value by a matrix each.

    Args:
        q, k, v: Query, key and value, ``(..., embed)``.
        w_q, w_k, w_v: The matrices, ``(embed, embed)``.
        b_q, b_k, b_v: The biases, ``(embed,)``; default none.

    Example:
        >>> x, w = tt.ones(1, 2), tt.eye(2)
        >>> tt.nn.functional._in_projection(x, x, x, w, 2 * w, 3 * w)[2]
        tensor([[3., 3.]])
    """
    return _project(q, w_q, b_q), _project(k, w_k, b_k), _project(v, w_v, b_v)


def _none_or_dtype(input: Tensor | None) -> Any:
    """Dtype of a tensor; None for None.

    Args:
        input: The tensor, or None.

    Raises:
        RuntimeError: For any other object.

    Example:
        >>> tt.nn.functional._none_or_dtype(tt.ones(1))
        tinytorch.float32
    """
    if input is None or isinstance(input, Tensor):
        return None if input is None else input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")


def _canonical_mask(
    mask: Tensor | None, mask_name: str, other_type: Any, other_name: str, target_type: Any,
    check_other: bool = True,
) -> Tensor | None:  # fmt: skip
    """Convert a bool mask to one that is added, with -inf where it is True.

    Args:
        mask: A bool or floating-point mask, or None.
        mask_name: Its name, for errors.
        other_type: Dtype of the mask that is used with it, or None.
        other_name: The name of that one.
        target_type: Dtype of the result.
        check_other: Whether to warn if the two dtypes differ. Default: True.

    Raises:
        AssertionError: For a mask of another dtype.

    Example:
        >>> mask = tt.tensor([False, True])
        >>> tt.nn.functional._canonical_mask(mask, "mask", None, "", tt.float32)
        tensor([0., -inf])
    """
    if mask is None:
        return None
    if mask.dtype is not bool_ and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype is not other_type:
        warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type "
            "for both instead."
        )
    if mask.is_floating_point():
        return mask
    return mask.new_zeros(mask.shape, dtype=target_type).masked_fill_(mask, float("-inf"))


def _mha_shape_check(
    query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None,
    attn_mask: Tensor | None, num_heads: int,
) -> bool:  # fmt: skip
    """Whether the inputs of an attention are a batch; their dimensions are checked.

    Args:
        query, key, value: The inputs, ``(length, batch, embed)`` or ``(length, embed)``.
        key_padding_mask: ``(batch, length)``, without the batch ``(length,)``, or None.
        attn_mask: A mask of two or three dimensions, or None.
        num_heads: The number of heads.

    Raises:
        AssertionError: If numbers of dimensions do not belong together.

    Example:
        >>> x = tt.ones(2, 4)
        >>> tt.nn.functional._mha_shape_check(x, x, x, None, None, 2)
        False
    """
    dims = query.dim()
    if dims not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor"
        )
    expected = (num_heads, query.shape[0], key.shape[0])
    padding, attention = (None if m is None else m.dim() for m in (key_padding_mask, attn_mask))
    if (key.dim(), value.dim()) != (dims, dims):
        wrong = f"key and value to be {dims}-D but found {key.dim()}-D and {value.dim()}-D"
    elif padding not in (None, dims - 1):
        wrong = f"key_padding_mask to be None or {dims - 1}-D but found {padding}-D"
    elif attention not in (None, 2, 3):
        wrong = f"attn_mask to be None, 2-D or 3-D but found {attention}-D"
    elif dims == 2 and attn_mask is not None and attention == 3 and attn_mask.shape != expected:
        wrong = f"attn_mask shape to be {expected} but got {tuple(attn_mask.shape)}"
    else:
        return dims == 3
    raise AssertionError(f"For {'' if dims == 3 else 'un'}batched query, expected {wrong}")
