"""What laws have in common that are given by chances or by their logarithms."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Size, Tensor
from .distribution import Distribution
from .utils import broadcast_all, is_number, lazy_property, logits_to_probs, probs_to_logits

__all__: list[str] = []


class _Chances(Distribution):
    """A law with chances, which are given as ``probs`` or as ``logits``."""

    _is_binary = True  # a chance and its log-odds; else those of categories

    def _set_chance(self, probs: Any, logits: Any) -> bool:
        """Keep the one that is given; tell whether it is a number."""
        given = _given(probs, logits)
        (value,) = broadcast_all(given)
        setattr(self, "logits" if probs is None else "probs", value)
        return is_number(given)

    @property
    def _param(self) -> Tensor:
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
        """Chances."""
        return logits_to_probs(self.logits, is_binary=self._is_binary)

    @property
    def param_shape(self) -> Size:
        """The shape of the chances."""
        return self._param.shape


def _given(probs: Any, logits: Any) -> Any:
    """The one of the two that is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return logits if probs is None else probs


def _listed(law: Distribution, values: Tensor, expand: bool) -> Tensor:
    """All values of a law of numbers, along a new first dimension."""
    values = values.view((-1, *(1 for _ in law.batch_shape)))
    return values.expand((-1, *law.batch_shape)) if expand else values
