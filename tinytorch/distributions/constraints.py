"""Regions that parameters and values of distributions lie in, as ``torch.distributions``.

A constraint's ``check`` tells of each value, or of each vector or matrix of values, whether it
lies in the region.

Example:
    >>> import tinytorch as tt
    >>> from tinytorch.distributions import constraints
    >>> constraints.positive.check(tt.tensor([-1.0, 2.0]))
    tensor([False,  True])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._tensor import Tensor

__all__ = [
    "Constraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
    "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval",
    "interval", "is_dependent", "less_than", "lower_cholesky", "lower_triangular", "multinomial",
    "nonnegative", "nonnegative_integer", "one_hot", "positive", "positive_definite",
    "positive_integer", "positive_semidefinite", "real", "real_vector", "simplex", "square",
    "stack", "symmetric", "unit_interval",
]  # fmt: skip


class Constraint:
    """A region of values.

    Attributes:
        is_discrete: Whether the region consists of separate values.
        event_dim: How many of the last dimensions belong to one value.
    """

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Tensor) -> Tensor:
        """Whether each value lies in the region: bools of the shape without event dimensions."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__.strip("_").title().replace("_", "") + "()"


class _Named(Constraint):
    """A region that a function decides on."""

    def __init__(
        self, name: str, check: Callable[[Tensor], Any], event_dim: int = 0, discrete: bool = False
    ) -> None:
        self._name, self._check = name, check
        self.event_dim, self.is_discrete = event_dim, discrete

    def check(self, value: Tensor) -> Tensor:
        found: Tensor = self._check(value)
        return found

    def __repr__(self) -> str:
        return f"{self._name}()"


class _Dependent(Constraint):
    """A region that depends on other values, and is not checked.

    Args:
        is_discrete: As for every constraint. Left out, asking for it is an error.
        event_dim: The same.
    """

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented):
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> Any:
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self) -> Any:
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(
        self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> Any:
        """Another one, with what is known of it."""
        known = self._is_discrete if is_discrete is NotImplemented else is_discrete
        dims = self._event_dim if event_dim is NotImplemented else event_dim
        return _Dependent(is_discrete=known, event_dim=dims)

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")

    def __repr__(self) -> str:
        return "Dependent()"


class dependent_property(property, _Dependent):
    """A property of a distribution whose constraint depends on the distribution's parameters.

    Args:
        fn: The property's function; left out, the result is a decorator.
        is_discrete: As for every constraint.
        event_dim: The same.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributions.Uniform(0.0, 2.0).support
        Interval(lower_bound=0.0, upper_bound=2.0)
    """

    def __init__(
        self, fn: Any = None, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> None:
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Any) -> Any:  # type: ignore[override]
        return dependent_property(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint depends on other values, so that it cannot be checked.

    Args:
        constraint: A constraint.

    Example:
        >>> from tinytorch.distributions import constraints
        >>> constraints.is_dependent(constraints.dependent)
        True
    """
    return isinstance(constraint, _Dependent)


class independent(Constraint):
    """Another constraint, of which some batch dimensions count as event dimensions.

    Args:
        base_constraint: The other one.
        reinterpreted_batch_ndims: How many.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch.distributions import constraints
        >>> constraints.independent(constraints.positive, 1).check(tt.tensor([-1.0, 2.0]))
        tensor(False)
    """

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> Any:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        found: Tensor = self.base_constraint.check(value)
        if found.dim() < self.reinterpreted_batch_ndims:
            expected = self.base_constraint.event_dim + self.reinterpreted_batch_ndims
            raise ValueError(f"Expected value.dim() >= {expected} but got {value.dim()}")
        kept = found.dim() - self.reinterpreted_batch_ndims
        return found.reshape((*found.shape[:kept], -1)).all(-1)

    def __repr__(self) -> str:
        return f"Independent({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class _Bounded(Constraint):
    """A region between bounds, of which the first or the last may be missing."""

    def __init__(self, **bounds: Any) -> None:
        self._bounds = bounds
        for name, value in bounds.items():
            setattr(self, name, value)

    def __repr__(self) -> str:
        written = ", ".join(f"{name}={value}" for name, value in self._bounds.items())
        return f"{_class_name(type(self))}({written})"


def _class_name(kind: type) -> str:
    return "".join(part.capitalize() for part in kind.__name__.split("_"))


class integer_interval(_Bounded):
    """Whole numbers between two bounds, both included.

    Args:
        lower_bound: The least.
        upper_bound: The greatest.
    """

    is_discrete = True

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound, upper_bound=upper_bound)

    def check(self, value: Tensor) -> Any:
        low, high = self._bounds.values()
        return (value % 1 == 0) & (low <= value) & (value <= high)


class _IntegerGreaterThan(_Bounded):
    is_discrete = True

    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound)

    def check(self, value: Tensor) -> Any:
        (low,) = self._bounds.values()
        return (value % 1 == 0) & (value >= low)


class greater_than(_Bounded):
    """Numbers above a bound.

    Args:
        lower_bound: The bound.
    """

    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound)

    def check(self, value: Tensor) -> Any:
        (low,) = self._bounds.values()
        return value > low


class greater_than_eq(greater_than):
    """Numbers that are at least a bound.

    Args:
        lower_bound: The bound.
    """

    def check(self, value: Tensor) -> Any:
        (low,) = self._bounds.values()
        return value >= low


class less_than(_Bounded):
    """Numbers below a bound.

    Args:
        upper_bound: The bound.
    """

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(upper_bound=upper_bound)

    def check(self, value: Tensor) -> Any:
        (high,) = self._bounds.values()
        return value < high


class interval(_Bounded):
    """Numbers between two bounds, both included.

    Args:
        lower_bound: The least.
        upper_bound: The greatest.
    """

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound, upper_bound=upper_bound)

    def check(self, value: Tensor) -> Any:
        low, high = self._bounds.values()
        return (value >= low) & (value <= high)


class half_open_interval(interval):
    """Numbers between two bounds, the upper one excluded.

    Args:
        lower_bound: The least.
        upper_bound: The bound above.
    """

    def check(self, value: Tensor) -> Any:
        low, high = self._bounds.values()
        return (value >= low) & (value < high)


class multinomial(_Bounded):
    """Vectors of counts whose sum is at most a bound.

    Args:
        upper_bound: The bound.
    """

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(upper_bound=upper_bound)

    def check(self, x: Tensor) -> Any:
        (high,) = self._bounds.values()
        return (x >= 0).all(-1) & (x.sum(-1) <= high)


class _Parts(Constraint):
    """Constraints of parts of a tensor."""

    def __init__(self, cseq: Any, dim: int = 0) -> None:
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self) -> Any:
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> Any:
        return max(c.event_dim for c in self.cseq)


class cat(_Parts):
    """Constraints of the stretches of a dimension.

    Args:
        cseq: The constraints.
        dim: The dimension.
        lengths: How long the stretches are. Default: 1 each.
    """

    def __init__(self, cseq: Any, dim: int = 0, lengths: Any = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)

    def check(self, value: Tensor) -> Tensor:
        from ..ops.joining import cat as joined

        parts = value.split(self.lengths, self.dim)
        return joined([c.check(v) for c, v in zip(self.cseq, parts, strict=True)], self.dim)


class stack(_Parts):
    """Constraints of the slices of a dimension.

    Args:
        cseq: The constraints.
        dim: The dimension.
    """

    def check(self, value: Tensor) -> Tensor:
        from ..ops.joining import stack as joined

        parts = value.unbind(self.dim)
        return joined([c.check(v) for c, v in zip(self.cseq, parts, strict=True)], self.dim)


def _is_simplex(value: Tensor) -> Tensor:
    return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


def _is_lower(value: Tensor) -> Tensor:
    return (value.tril() == value).flatten(-2).all(-1)


def _is_cholesky(value: Tensor) -> Tensor:
    return _is_lower(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


def _has_unit_rows(value: Tensor) -> Tensor:
    slack = 10 * value.shape[-1] * _precision(value)
    return (((value * value).sum(-1).sqrt() - 1).abs() <= slack).all(-1) & _is_cholesky(value)


def _precision(value: Tensor) -> float:
    from ..dtypes import finfo

    return finfo(value.dtype).eps


def _is_square(value: Tensor) -> Tensor:
    from ..ops.creation import full

    same = value.shape[-1] == value.shape[-2]
    return full(value.shape[:-2], same, dtype=(value == value).dtype)


def _is_symmetric(value: Tensor) -> Tensor:
    square = _is_square(value)
    if value.shape[-1] != value.shape[-2]:
        return square
    return value.isclose(value.mT, atol=1e-6).flatten(-2).all(-1)


def _is_semidefinite(value: Tensor) -> Tensor:
    from ..ops.linalg_eigen import eigvalsh

    symmetric = _is_symmetric(value)
    return (eigvalsh(value) >= 0).all(-1) if bool(symmetric.all()) else symmetric


def _is_definite(value: Tensor) -> Tensor:
    from ..ops.linalg_triangular import cholesky_ex

    symmetric = _is_symmetric(value)
    return cholesky_ex(value)[1] == 0 if bool(symmetric.all()) else symmetric


def _is_one_hot(value: Tensor) -> Tensor:
    return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


dependent = _Dependent()
boolean = _Named("Boolean", lambda value: (value == 0) | (value == 1), discrete=True)
one_hot = _Named("OneHot", _is_one_hot, 1, discrete=True)
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
real = _Named("Real", lambda value: value == value)  # not NaN
real_vector = independent(real, 1)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
simplex = _Named("Simplex", _is_simplex, 1)
lower_triangular = _Named("LowerTriangular", _is_lower, 2)
lower_cholesky = _Named("LowerCholesky", _is_cholesky, 2)
corr_cholesky = _Named("CorrCholesky", _has_unit_rows, 2)
square = _Named("Square", _is_square, 2)
symmetric = _Named("Symmetric", _is_symmetric, 2)
positive_semidefinite = _Named("PositiveSemidefinite", _is_semidefinite, 2)
positive_definite = _Named("PositiveDefinite", _is_definite, 2)
