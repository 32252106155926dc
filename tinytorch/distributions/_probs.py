"""Base class of distributions whose parameter is ``probs`` or ``logits``."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Size, Tensor
from .distribution import Distribution
from .utils import broadcast_all, is_number, lazy_property, logits_to_probs, probs_to_logits

__all__: list[str] = []


class _ProbsOrLogits(Distribution):
    """A distribution whose parameter is given as ``probs`` or as ``logits``."""

    _is_binary = True  # log-odds of one probability; False: log probabilities of categories

    def _set_probs_or_logits(self, probs: Any, logits: Any) -> bool:
        """Store the parameter that is given; return whether it is a Python number."""
        given = _select_given(probs, logits)
        (value,) = broadcast_all(given)
        setattr(self, "logits" if probs is None else "probs", value)
        return is_number(given)

    @property
    def _param(self) -> Tensor:
        """The parameter that was given, ``probs`` or ``logits``."""
        found: Tensor = vars(self)["probs" if "probs" in vars(self) else "logits"]
        return found

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        """``Tensor.new`` of the parameter."""
        return self._param.new(*args, **kwargs)

    @lazy_property
    def logits(self) -> Tensor:
        """Log-odds, or log probabilities."""
        return probs_to_logits(self.probs, is_binary=self._is_binary)

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities."""
        return logits_to_probs(self.logits, is_binary=self._is_binary)

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return self._param.shape


def _select_given(probs: Any, logits: Any) -> Any:
    """Return the parameter that is given; raise unless exactly one is."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return logits if probs is None else probs


def _expand_support(distribution: Distribution, values: Tensor, expand: bool) -> Tensor:
    """Reshape the values ``(n,)`` of a distribution of scalars to ``(n, 1, ..., 1)``.

    If ``expand``, expand them to ``(n, *batch_shape)``.
    """
    values = values.view((-1, *(1 for _ in distribution.batch_shape)))
    return values.expand((-1, *distribution.batch_shape)) if expand else values
