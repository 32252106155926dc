"""Losses in the forms of PyTorch's top level: their ``reduction`` is a number.

0 leaves a loss for every element, 1 gives their mean and 2 their sum. Some arguments are in another
order than in ``nn.functional``, and all of ``poisson_nll_loss`` are needed.
"""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import composite
from . import ctc_loss as ctc
from . import margin_loss, probability_loss
from .loss_reduction import reduced

_REDUCTIONS = ("none", "mean", "sum")


def _named(name: str, reduction: int) -> str:
    """The word for a number."""
    if isinstance(reduction, bool) or not isinstance(reduction, int):
        kind = type(reduction).__name__
        raise TypeError(f"{name}(): argument 'reduction' must be int, not {kind}")
    if reduction not in range(3):
        raise ValueError(f"{name}: {reduction} is not a valid value for reduction, 0 to 2 are")
    return _REDUCTIONS[reduction]


@composite(method=False, like=margin_loss.margin_ranking_loss)
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """``nn.functional.margin_ranking_loss`` with a number for the reduction.

    Args:
        reduction: 0 leaves every element, 1 (default) takes the mean, 2 the sum.

    Example:
        >>> import tinytorch as tt
        >>> tt.margin_ranking_loss(tt.tensor([1.0]), tt.tensor([3.0]), tt.tensor([1.0]), 0.5, 2)
        tensor(2.5000)
    """
    word = _named("margin_ranking_loss", reduction)
    return margin_loss.margin_ranking_loss(input1, input2, target, margin, reduction=word)


@composite(method=False, like=margin_loss.hinge_embedding_loss)
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 1
) -> Tensor:
    """``nn.functional.hinge_embedding_loss`` with a number for the reduction.

    Args:
        reduction: 0 leaves every element, 1 (default) takes the mean, 2 the sum.

    Example:
        >>> import tinytorch as tt
        >>> tt.hinge_embedding_loss(tt.tensor([0.5, 0.25]), tt.tensor([1.0, -1.0]), 1.0, 0)
        tensor([0.5000, 0.7500])
    """
    word = _named("hinge_embedding_loss", reduction)
    return margin_loss.hinge_embedding_loss(input, target, margin, reduction=word)


@composite(method=False, like=margin_loss.cosine_embedding_loss)
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """``nn.functional.cosine_embedding_loss`` with a number for the reduction.

    Args:
        reduction: 0 leaves every element, 1 (default) takes the mean, 2 the sum.

    Example:
        >>> import tinytorch as tt
        >>> x, y = tt.tensor([[1.0, 0.0]]), tt.tensor([[0.0, 1.0]])
        >>> tt.cosine_embedding_loss(x, y, tt.tensor([1.0]), 0.0, 2)
        tensor(1.)
    """
    word = _named("cosine_embedding_loss", reduction)
    return margin_loss.cosine_embedding_loss(input1, input2, target, margin, reduction=word)


@composite(method=False, like=margin_loss.triplet_margin_loss)
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 1,
) -> Tensor:
    """``nn.functional.triplet_margin_loss`` with a number for the reduction.

    Args:
        reduction: 0 leaves every element, 1 (default) takes the mean, 2 the sum.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.tensor([[1.0, 0.0]])
        >>> tt.triplet_margin_loss(x, x, x, 1.0, reduction=0)
        tensor([1.])
    """
    word = _named("triplet_margin_loss", reduction)
    return margin_loss.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, reduction=word
    )


@composite(method=False, like=ctc.ctc_loss)
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Tensor:
    """``nn.functional.ctc_loss`` with a number for the reduction.

    Args:
        reduction: 0 leaves every element, 1 (default) takes the mean, 2 the sum.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.full((2, 1, 2), 0.5).log()
        >>> tt.ctc_loss(x, tt.tensor([[1]]), (2,), (1,), 0, 2)
        tensor(0.2877)
    """
    word = _named("ctc_loss", reduction)
    return ctc.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, word, zero_infinity
    )


@composite(method=False, like=probability_loss.binary_cross_entropy_with_logits)
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = 1,
) -> Tensor:
    """``nn.functional.binary_cross_entropy_with_logits`` with a number for the reduction.

    Args:
        reduction: 0 leaves every element, 1 (default) takes the mean, 2 the sum.

    Example:
        >>> import tinytorch as tt
        >>> x, y = tt.tensor([0.0, 2.0]), tt.tensor([0.0, 1.0])
        >>> tt.binary_cross_entropy_with_logits(x, y)
        tensor(0.4100)
    """
    word = _named("binary_cross_entropy_with_logits", reduction)
    return probability_loss.binary_cross_entropy_with_logits(
        input, target, weight, reduction=word, pos_weight=pos_weight
    )


@composite(method=False, like=probability_loss.kl_div)
def kl_div(
    input: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False
) -> Tensor:
    """``nn.functional.kl_div`` with a number for the reduction; the mean is of all elements.

    Args:
        reduction: 0 leaves every element, 1 (default) takes the mean, 2 the sum.

    Example:
        >>> import tinytorch as tt
        >>> x, y = tt.tensor([[0.5, 0.5]]).log(), tt.tensor([[0.25, 0.75]])
        >>> tt.kl_div(x, y, 2)
        tensor(0.1308)
    """
    word = _named("kl_div", reduction)
    each = probability_loss.kl_div(input, target, reduction="none", log_target=log_target)
    return reduced(each, word)


@composite(method=False, like=probability_loss.poisson_nll_loss)
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    """``nn.functional.poisson_nll_loss``, told everything, with a number for the reduction.

    Args:
        reduction: 0 leaves every element, 1 takes the mean, 2 the sum.

    Example:
        >>> import tinytorch as tt
        >>> x, y = tt.tensor([0.0, 1.0]), tt.tensor([1.0, 2.0])
        >>> tt.poisson_nll_loss(x, y, True, False, 1e-8, 1)
        tensor(0.8591)
    """
    word = _named("poisson_nll_loss", reduction)
    return probability_loss.poisson_nll_loss(
        input, target, log_input, full, eps=eps, reduction=word
    )
