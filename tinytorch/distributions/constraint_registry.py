"""Registries of transforms from real numbers into a constraint: ``biject_to``, ``transform_to``.

Example:
    >>> from tinytorch.distributions import constraints, transform_to
    >>> transform_to(constraints.positive)(tt.zeros(1))
    tensor([1.])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from . import constraints, transforms
from ._constraint import Constraint

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Registry of the transform into the region of each class of constraint.

    Example:
        >>> from tinytorch.distributions import biject_to, constraints
        >>> biject_to(constraints.positive)
        ExpTransform()
    """

    def __init__(self) -> None:
        self._registry: dict[Any, Callable[[Any], Any]] = {}

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Register the function that builds the transform for a class of constraints.

        Args:
            constraint: A constraint, or its class.
            factory: Function from the constraint to its transform. If left out, the result is a
                decorator.

        Raises:
            TypeError: If ``constraint`` is neither a constraint nor a subclass of ``Constraint``.

        Example:
            >>> from tinytorch.distributions import constraints, transforms
            >>> registry = tt.distributions.constraint_registry.ConstraintRegistry()
            >>> @registry.register(constraints.positive)
            ... def exp(constraint):
            ...     return transforms.ExpTransform()
            >>> registry(constraints.positive)
            ExpTransform()
        """
        if factory is None:
            return lambda made: self.register(constraint, made)
        kind = type(constraint) if isinstance(constraint, Constraint) else constraint
        if not (isinstance(kind, type) and issubclass(kind, Constraint)):
            raise TypeError(
                "Expected constraint to be either a Constraint subclass or instance, but got "
                f"{constraint}"
            )
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to: ConstraintRegistry = ConstraintRegistry()
transform_to: ConstraintRegistry = ConstraintRegistry()


def _to_interval(constraint: Any) -> Any:
    """Transform from real numbers to an interval: a sigmoid, scaled unless it is (0, 1)."""
    low, high = constraint.lower_bound, constraint.upper_bound
    if not isinstance(low, Tensor) and not isinstance(high, Tensor) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    scale = transforms.AffineTransform(low, high - low)
    return transforms.ComposeTransform([transforms.SigmoidTransform(), scale])


def _to_greater_than(constraint: Any) -> Any:
    """Transform from real numbers to those above a bound: exp, shifted unless the bound is 0."""
    low = constraint.lower_bound
    if not isinstance(low, Tensor) and low == 0:
        return transforms.ExpTransform()
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(low, 1)]
    )


def _to_less_than(constraint: Any) -> Any:
    shift = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shift])


def _make_independent(registry: ConstraintRegistry) -> Callable[[Any], Any]:
    """Return a function from an independent constraint to its ``IndependentTransform``."""
    return lambda constraint: transforms.IndependentTransform(
        registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims
    )


def _make_cat(registry: ConstraintRegistry) -> Callable[[Any], Any]:
    """Return a function from a ``constraints.cat`` to the transforms of its parts, joined."""
    return lambda constraint: transforms.CatTransform(
        [registry(part) for part in constraint.cseq], constraint.dim, constraint.lengths
    )


def _make_stack(registry: ConstraintRegistry) -> Callable[[Any], Any]:
    """Return a function from a ``constraints.stack`` to the transforms of its parts, stacked."""
    return lambda constraint: transforms.StackTransform(
        [registry(part) for part in constraint.cseq], constraint.dim
    )


def _make_parameterless(kind: Any) -> Callable[[Any], Any]:
    return lambda constraint: kind()


for _registry in (biject_to, transform_to):
    _registry.register(constraints.real, lambda constraint: transforms.identity_transform)
    _registry.register(constraints.independent, _make_independent(_registry))
    _registry.register(constraints.greater_than, _to_greater_than)
    _registry.register(constraints.greater_than_eq, _to_greater_than)
    _registry.register(constraints.less_than, _to_less_than)
    _registry.register(constraints.interval, _to_interval)
    _registry.register(constraints.half_open_interval, _to_interval)
    _registry.register(
        constraints.corr_cholesky, _make_parameterless(transforms.CorrCholeskyTransform)
    )
    _registry.register(constraints.cat, _make_cat(_registry))
    _registry.register(constraints.stack, _make_stack(_registry))

biject_to.register(constraints.simplex, _make_parameterless(transforms.StickBreakingTransform))
transform_to.register(constraints.simplex, _make_parameterless(transforms.SoftmaxTransform))
transform_to.register(
    constraints.lower_cholesky, _make_parameterless(transforms.LowerCholeskyTransform)
)
for _definite in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_definite, _make_parameterless(transforms.PositiveDefiniteTransform))
