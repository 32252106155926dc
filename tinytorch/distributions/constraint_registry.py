"""From a constraint to a transform of all numbers into its region: ``biject_to``, ``transform_to``.

Example:
    >>> import tinytorch as tt
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
    """Which transform leads to the region of each kind of constraint.

    Example:
        >>> from tinytorch.distributions import biject_to, constraints
        >>> biject_to(constraints.positive)
        ExpTransform()
    """

    def __init__(self) -> None:
        self._registry: dict[Any, Callable[[Any], Any]] = {}

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Keep what makes the transform for a kind of constraint.

        Args:
            constraint: A constraint, or its class.
            factory: Function of the constraint. Left out, the result is a decorator.

        Raises:
            TypeError: For anything else than a constraint or a class of them.

        Example:
            >>> import tinytorch as tt
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


def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if not isinstance(low, Tensor) and not isinstance(high, Tensor) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    scale = transforms.AffineTransform(low, high - low)
    return transforms.ComposeTransform([transforms.SigmoidTransform(), scale])


def _above(constraint: Any) -> Any:
    low = constraint.lower_bound
    if not isinstance(low, Tensor) and low == 0:
        return transforms.ExpTransform()
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(low, 1)]
    )


def _below(constraint: Any) -> Any:
    shift = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shift])


def _independent(registry: ConstraintRegistry) -> Callable[[Any], Any]:
    return lambda constraint: transforms.IndependentTransform(
        registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims
    )


def _cat(registry: ConstraintRegistry) -> Callable[[Any], Any]:
    return lambda constraint: transforms.CatTransform(
        [registry(part) for part in constraint.cseq], constraint.dim, constraint.lengths
    )


def _stack(registry: ConstraintRegistry) -> Callable[[Any], Any]:
    return lambda constraint: transforms.StackTransform(
        [registry(part) for part in constraint.cseq], constraint.dim
    )


def _always(kind: Any) -> Callable[[Any], Any]:
    return lambda constraint: kind()


for _registry in (biject_to, transform_to):
    _registry.register(constraints.real, lambda constraint: transforms.identity_transform)
    _registry.register(constraints.independent, _independent(_registry))
    _registry.register(constraints.greater_than, _above)
    _registry.register(constraints.greater_than_eq, _above)
    _registry.register(constraints.less_than, _below)
    _registry.register(constraints.interval, _between)
    _registry.register(constraints.half_open_interval, _between)
    _registry.register(constraints.corr_cholesky, _always(transforms.CorrCholeskyTransform))
    _registry.register(constraints.cat, _cat(_registry))
    _registry.register(constraints.stack, _stack(_registry))

biject_to.register(constraints.simplex, _always(transforms.StickBreakingTransform))
transform_to.register(constraints.simplex, _always(transforms.SoftmaxTransform))
transform_to.register(constraints.lower_cholesky, _always(transforms.LowerCholeskyTransform))
for _definite in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_definite, _always(transforms.PositiveDefiniteTransform))
