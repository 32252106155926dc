"""Constraints of parameters and values, as ``torch.distributions.constraints``.

A constraint's ``check`` returns for each value, or for each vector or matrix of values, whether
it lies in the region.

Example:
    >>> from tinytorch.distributions import constraints
    >>> constraints.positive.check(tt.tensor([-1.0, 2.0]))
    tensor([False,  True])
"""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ._constraint import Constraint as Constraint
from ._constraint import MixtureSameFamilyConstraint as MixtureSameFamilyConstraint
from ._constraint import _Cat, _Dependent, _DependentProperty, _IndependentConstraint, _Stack
from ._constraint import is_dependent as is_dependent
from ._matrix_constraints import (
    _CorrCholesky,
    _LowerCholesky,
    _LowerTriangular,
    _PositiveDefinite,
    _PositiveSemidefinite,
    _Square,
    _Symmetric,
)

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent",
    "dependent_property", "greater_than", "greater_than_eq", "half_open_interval", "independent",
    "integer_interval", "interval", "is_dependent", "less_than", "lower_cholesky",
    "lower_triangular", "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive",
    "positive_definite", "positive_integer", "positive_semidefinite", "real", "real_vector",
    "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip


class _Boolean(Constraint):
    """The numbers 0 and 1."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    """One-hot vectors: a single 1, zeros elsewhere."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Real(Constraint):
    """All real numbers, infinities included."""

    def check(self, value: Tensor) -> Tensor:
        return value == value  # not NaN


class _Simplex(Constraint):
    """Vectors of nonnegative numbers whose sum is 1."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _AtLeast(Constraint):
    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound


class _AtMost(Constraint):
    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound


class _Between(Constraint):
    lower_bound: Any
    upper_bound: Any

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound


def _is_integer(value: Tensor) -> Tensor:
    return value % 1 == 0


class _IntegerInterval(_Between):
    """Integers between two bounds, both included.

    Args:
        lower_bound: The least.
        upper_bound: The greatest.

    Example:
        >>> from tinytorch.distributions import constraints
        >>> constraints.integer_interval(0, 3).check(tt.tensor([0.0, 1.5, 3.0, 4.0]))
        tensor([ True, False,  True, False])
    """

    is_discrete = True

    def check(self, value: Tensor) -> Any:
        return _is_integer(value) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(_AtMost):
    """Integers up to a bound, which is included.

    Args:
        upper_bound: The greatest.
    """

    is_discrete = True

    def check(self, value: Tensor) -> Any:
        return _is_integer(value) & (value <= self.upper_bound)


class _IntegerGreaterThan(_AtLeast):
    """Integers from a bound on, which is included.

    Args:
        lower_bound: The least.
    """

    is_discrete = True

    def check(self, value: Tensor) -> Any:
        return _is_integer(value) & (value >= self.lower_bound)


class _GreaterThan(_AtLeast):
    """Numbers above a bound.

    Args:
        lower_bound: The bound.

    Example:
        >>> from tinytorch.distributions import constraints
        >>> constraints.greater_than(1).check(tt.tensor([1.0, 2.0]))
        tensor([False,  True])
    """

    def check(self, value: Tensor) -> Any:
        return self.lower_bound < value


class _GreaterThanEq(_AtLeast):
    """Numbers greater than or equal to a bound.

    Args:
        lower_bound: The bound.

    Example:
        >>> from tinytorch.distributions import constraints
        >>> constraints.greater_than_eq(1).check(tt.tensor([0.0, 1.0]))
        tensor([False,  True])
    """

    def check(self, value: Tensor) -> Any:
        return self.lower_bound <= value


class _LessThan(_AtMost):
    """Numbers below a bound.

    Args:
        upper_bound: The bound.

    Example:
        >>> from tinytorch.distributions import constraints
        >>> constraints.less_than(1).check(tt.tensor([0.0, 1.0]))
        tensor([ True, False])
    """

    def check(self, value: Tensor) -> Any:
        return value < self.upper_bound


class _Interval(_Between):
    """Numbers between two bounds, both included.

    Args:
        lower_bound: The least.
        upper_bound: The greatest.

    Example:
        >>> from tinytorch.distributions import constraints
        >>> constraints.interval(0, 1).check(tt.tensor([-1.0, 0.0, 1.0]))
        tensor([False,  True,  True])
    """

    def check(self, value: Tensor) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """Numbers between two bounds, the upper one excluded.

    Args:
        lower_bound: The least.
        upper_bound: The bound above.

    Example:
        >>> from tinytorch.distributions import constraints
        >>> constraints.half_open_interval(0, 1).check(tt.tensor([-1.0, 0.0, 1.0]))
        tensor([False,  True, False])
    """

    def check(self, value: Tensor) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Multinomial(_AtMost):
    """Vectors of counts whose sum is at most a bound.

    Args:
        upper_bound: The bound.

    Example:
        >>> from tinytorch.distributions import constraints
        >>> constraints.multinomial(3).check(tt.tensor([[1, 2], [2, 2]]))
        tensor([ True, False])
    """

    is_discrete = True
    event_dim = 1

    def check(self, x: Tensor) -> Any:
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)

    def _bounds(self) -> str:
        return ""


dependent: _Dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean: _Boolean = _Boolean()
one_hot: _OneHot = _OneHot()
nonnegative_integer: _IntegerGreaterThan = _IntegerGreaterThan(0)
positive_integer: _IntegerGreaterThan = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real: _Real = _Real()
real_vector: _IndependentConstraint = independent(real, 1)
positive: _GreaterThan = _GreaterThan(0.0)
nonnegative: _GreaterThanEq = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval: _Interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex: _Simplex = _Simplex()
lower_triangular: _LowerTriangular = _LowerTriangular()
lower_cholesky: _LowerCholesky = _LowerCholesky()
corr_cholesky: _CorrCholesky = _CorrCholesky()
square: _Square = _Square()
symmetric: _Symmetric = _Symmetric()
positive_semidefinite: _PositiveSemidefinite = _PositiveSemidefinite()
positive_definite: _PositiveDefinite = _PositiveDefinite()
cat = _Cat
stack = _Stack
