"""How many floating-point operations products take: a multiplication and an addition are two.

A formula takes what its function takes and yields what the call costs. Operations have the names
that PyTorch's kernels have.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..core.tensor import Tensor
from ..ops.linalg.einsum_subscripts import from_sublists, label_sizes, make_plan


class Work(NamedTuple):
    """What one product costs.

    Attributes:
        name: The operation.
        flops: What it costs.
        backward: The operation that computes its gradients.
        backward_flops: What those cost that are wanted.
    """

    name: str
    flops: int
    backward: str
    backward_flops: int


def _product(name: str, backward: str, flops: int, *factors: Tensor) -> Work:
    """A product, of which the gradient of each factor costs as much as itself."""
    return Work(name, flops, backward, flops * sum(each.requires_grad for each in factors))


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Iterator[Work]:
    """``nn.functional.linear``: all rows in one product."""
    flops = 2 * input.numel() * (weight.shape[0] if weight.ndim == 2 else 1)
    yield _product("mm" if bias is None else "addmm", "mm", flops, input, weight)


def matmul(input: Tensor, other: Tensor, **_: Any) -> Iterator[Work]:
    """``matmul``, ``mm`` and ``bmm``; a product with a vector on the right is not counted."""
    if other.ndim < 2:
        return
    name = "bmm" if min(input.ndim, other.ndim) > 2 else "mm"
    rows = input.shape[-2] if input.ndim > 1 else 1
    batch = math.prod(_broadcast(input.shape[:-2], other.shape[:-2]))
    flops = 2 * batch * rows * other.shape[-2] * other.shape[-1]
    yield _product(name, name, flops, input, other)


def _broadcast(left: Sequence[int], right: Sequence[int]) -> list[int]:
    size = max(len(left), len(right))
    pairs = zip((1,) * (size - len(left)) + tuple(left), (1,) * (size - len(right)) + tuple(right))
    return [b if a == 1 else a for a, b in pairs]


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, **_: Any) -> Iterator[Work]:
    """``addmm``."""
    for work in matmul(mat1, mat2):
        yield work._replace(name="addmm")


def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, **_: Any) -> Iterator[Work]:
    """``baddbmm``."""
    for work in matmul(batch1, batch2):
        yield work._replace(name="baddbmm")


def tensordot(a: Tensor, b: Tensor, *_: Any, out: Tensor, **__: Any) -> Iterator[Work]:
    """``tensordot``: one product of matrices, whose elements are as many as the result's."""
    if out.numel():
        summed = math.isqrt(a.numel() * b.numel() // out.numel())
        yield _product("mm", "mm", 2 * out.numel() * summed, a, b)


def convolution(input: Tensor, weight: Tensor, *_: Any, out: Tensor, **__: Any) -> Iterator[Work]:
    """``conv1d`` and its kin: each element of the result takes a window of all channels."""
    yield _convolved(input, weight, input, out)


def transposed_convolution(
    input: Tensor, weight: Tensor, *_: Any, out: Tensor, **__: Any
) -> Iterator[Work]:
    """``conv_transpose1d`` and its kin: each element of the input gives to a window."""
    yield _convolved(input, weight, out, input)


def _convolved(input: Tensor, weight: Tensor, wide: Tensor, narrow: Tensor) -> Work:
    """A convolution of ``wide`` that gives ``narrow``, or the transposed one of ``narrow``.

    PyTorch counts the weight's gradient as that of all channels with all, whatever the groups.
    """
    batch = narrow.shape[0] if narrow.ndim == weight.ndim else 1
    places = 2 * batch * math.prod(narrow.shape[2 - weight.ndim :])
    flops = places * weight.numel()
    channels = narrow.shape[1 - weight.ndim] * wide.shape[1 - weight.ndim]
    of_weight = places * channels * math.prod(weight.shape[2:])
    gradients = flops * input.requires_grad + of_weight * weight.requires_grad
    return Work("convolution", flops, "convolution_backward", gradients)


def attention(query: Tensor, key: Tensor, value: Tensor, *_: Any, **__: Any) -> Iterator[Work]:
    """``scaled_dot_product_attention``: two products, and five in the backward pass.

    Those are the gradients of both and the scores anew.
    """
    name = "_scaled_dot_product_flash_attention"
    rows = 2 * math.prod(query.shape[:-1]) * key.shape[-2]
    scores, values = rows * query.shape[-1], rows * value.shape[-1]
    wanted = any(each.requires_grad for each in (query, key, value))
    yield Work(name, scores + values, f"{name}_backward", (3 * scores + 2 * values) * wanted)


def multi_head_attention(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
    in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Any, bias_v: Any,
    add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor, out_proj_bias: Tensor | None,
    *_: Any, q_proj_weight: Any = None, k_proj_weight: Any = None, v_proj_weight: Any = None,
    need_weights: bool = True, **__: Any,
) -> Iterator[Work]:  # fmt: skip
    """``multi_head_attention_forward``: projections, attention by batches, a projection."""
    own = (q_proj_weight, k_proj_weight, v_proj_weight)
    weights = own if in_proj_weight is None else in_proj_weight.chunk(3)
    for input, weight in zip((query, key, value), weights, strict=True):
        yield from linear(input, weight, in_proj_bias)
    lengths = query.shape[0] * (key.shape[0] + (bias_k is not None) + add_zero_attn)
    batch = query.shape[1] if query.ndim == 3 else 1
    flops = 2 * batch * lengths * embed_dim_to_check
    wanted = any(each.requires_grad for each in (query, key, value, *weights))
    if need_weights:
        for _each in range(2):
            yield Work("bmm", flops, "bmm", 2 * flops * wanted)
    else:
        name = "_scaled_dot_product_flash_attention"
        yield Work(name, 2 * flops, f"{name}_backward", 5 * flops * wanted)
    flops = 2 * query.numel() * embed_dim_to_check
    gradients = flops * (wanted + out_proj_weight.requires_grad)
    yield Work("mm" if out_proj_bias is None else "addmm", flops, "mm", gradients)


def einsum(equation: Any, *operands: Any) -> Iterator[Work]:
    """``einsum``: a product of batches for each pair of operands that is contracted."""
    if not isinstance(equation, str):
        equation, given = from_sublists((equation, *operands))
        operands = tuple(given)
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    shapes = tuple(tuple(each.shape) for each in operands)
    plan, sizes = make_plan(equation, shapes), label_sizes(equation, shapes)
    factors = list(operands)
    for i, j, left, right, product in plan.pairs:
        pair = [factors[i], factors[j]]
        factors = [each for k, each in enumerate(factors) if k not in (i, j)]
        factors.append(next((each for each in pair if each.requires_grad), pair[0]))
        if {*left} & {*right} - {*product}:
            flops = 2 * math.prod(sizes[label] for label in {*left, *right})
            yield _product("bmm", "bmm", flops, *pair)


FORMULAS: dict[str, Callable[..., Iterator[Work]]] = {
    "linear": linear,
    **dict.fromkeys(("matmul", "mm", "bmm"), matmul),
    "addmm": addmm, "baddbmm": baddbmm, "tensordot": tensordot,
    **{f"conv{n}d": convolution for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": transposed_convolution for n in (1, 2, 3)},
    "scaled_dot_product_attention": attention,
    "multi_head_attention_forward": multi_head_attention,
    "einsum": einsum,
}  # fmt: skip


def works(name: str, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Work]:
    """The products in a call of the function ``name`` that returned ``out``."""
    formula = FORMULAS[name]
    given = {**kwargs, "out": out} if "out" in inspect.signature(formula).parameters else kwargs
    return list(formula(*args, **given))
