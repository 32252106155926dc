"""Registry of the formulas of Kullback-Leibler divergences, by pairs of classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..warnings import warn
from .distribution import Distribution

__all__ = ["kl_divergence", "register_kl"]

Formula = Callable[[Any, Any], Tensor]

_KL_REGISTRY: dict[tuple[type, type], Formula] = {}
_KL_MEMOIZE: dict[tuple[type, type], Formula | None] = {}  # cache of lookups


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """Register the function that computes the divergence of two classes; a decorator.

    Args:
        type_p: The class of the first distribution.
        type_q: The class of the second distribution.

    Raises:
        TypeError: If an argument is not a class.

    Example:
        >>> from tinytorch.distributions import Normal, kl_divergence, register_kl
        >>> class Standard(Normal):
        ...     def __init__(self):
        ...         super().__init__(0.0, 1.0)
        >>> @register_kl(Standard, Standard)
        ... def same(p, q):
        ...     return tt.zeros(())
        >>> kl_divergence(Standard(), Standard())
        tensor(0.)
    """
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type):  # any class is allowed, as in a mixin of distributions
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {given}")

    def decorator(formula: Any) -> Any:
        _KL_REGISTRY[type_p, type_q] = formula
        _KL_MEMOIZE.clear()
        return formula

    return decorator


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The Kullback-Leibler divergence of ``q`` from ``p``: the mean of ``log p(x) - log q(x)``.

    Args:
        p: The distribution over which the mean is taken.
        q: The distribution that is compared with ``p``.

    Returns:
        Tensor of the batch's shape.

    Raises:
        NotImplementedError: If no formula is registered for the two classes.

    Example:
        >>> from tinytorch.distributions import Normal, kl_divergence
        >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
        tensor(0.5000)
    """
    kinds = type(p), type(q)
    if kinds not in _KL_MEMOIZE:
        _KL_MEMOIZE[kinds] = _find_formula(*kinds)
    formula = _KL_MEMOIZE[kinds]
    if formula is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
            f"{type(q).__name__}"
        )
    return formula(p, q)


def _find_formula(type_p: type, type_q: type) -> Formula | None:
    """Formula registered for the nearest base classes of both; the first argument has priority.

    Warns:
        RuntimeWarning: If priority of the second argument would select another formula.
    """
    pairs = [(p, q) for p in type_p.__mro__ for q in type_q.__mro__ if (p, q) in _KL_REGISTRY]
    if not pairs:
        return None
    p, q = pairs[0]
    other_p, other_q = min(pairs, key=lambda pair: type_q.__mro__.index(pair[1]))
    if _KL_REGISTRY[p, q] is not _KL_REGISTRY[other_p, other_q]:
        warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please "
            f"register_kl({p.__name__}, {other_q.__name__})", RuntimeWarning,
        )  # fmt: skip
    return _KL_REGISTRY[p, q]
