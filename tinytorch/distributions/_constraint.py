"""Base class of constraints, and constraints composed of other constraints."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from ..core.tensor import Tensor
from ..ops.shape.joining import cat as joined
from ..ops.shape.joining import stack as stacked

__all__ = ["Constraint", "MixtureSameFamilyConstraint", "is_dependent"]


class Constraint:
    """A region of the values that a tensor may have.

    Attributes:
        is_discrete: Whether the region consists of separate values.
        event_dim: The number of last dimensions that belong to one value.

    Example:
        >>> from tinytorch.distributions import constraints
        >>> constraints.simplex.check(tt.tensor([[0.5, 0.5], [0.5, 0.6]]))
        tensor([ True, False])
    """

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Tensor) -> Tensor:
        """Whether each value lies in the region: a bool tensor without the event dimensions.

        Example:
            >>> from tinytorch.distributions import constraints
            >>> constraints.positive.check(tt.tensor([-1.0, 2.0]))
            tensor([False,  True])
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__.removeprefix('_')}({self._bounds()})"

    def _bounds(self) -> str:
        """Text inside the brackets of ``repr``: the values that define the region."""
        return ", ".join(f"{name}={value}" for name, value in vars(self).items())


class _Dependent(Constraint):
    """A region that depends on other values and cannot be checked on its own.

    Args:
        is_discrete: As for every constraint. If left out, reading the attribute raises.
        event_dim: As for every constraint. If left out, reading the attribute raises.
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
        """A dependent constraint with the given attributes in place of its own."""
        discrete = self._is_discrete if is_discrete is NotImplemented else is_discrete
        dims = self._event_dim if event_dim is NotImplemented else event_dim
        return _Dependent(is_discrete=discrete, event_dim=dims)

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")

    def _bounds(self) -> str:
        return ""


class _DependentProperty(property, _Dependent):
    """A property of a distribution whose constraint depends on the distribution's parameters.

    Args:
        fn: The property's function. If left out, the result is a decorator.
        is_discrete: As for every constraint.
        event_dim: As for every constraint.

    Example:
        >>> tt.distributions.Uniform(0.0, 2.0).support
        Interval(lower_bound=0.0, upper_bound=2.0)
    """

    def __init__(
        self, fn: Any = None, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> None:
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Any) -> Any:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


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


def _check_constraint(constraint: Any) -> Any:
    """Return the argument ``base_constraint`` if it is a ``Constraint``; else raise."""
    if not isinstance(constraint, Constraint):
        raise AssertionError(
            f"base_constraint must be a Constraint, got {type(constraint).__name__}"
        )
    return constraint


def _all_over_last(found: Tensor, kept: int) -> Tensor:
    """Whether all elements are true over the dimensions after the first ``kept``."""
    return found.reshape((*found.shape[:kept], -1)).all(-1)


class _IndependentConstraint(Constraint):
    """A constraint some of whose batch dimensions count as event dimensions.

    Args:
        base_constraint: The constraint.
        reinterpreted_batch_ndims: The number of batch dimensions that count as event dimensions.

    Raises:
        AssertionError: If ``base_constraint`` is not a constraint, or the number is not a
            nonnegative int.

    Example:
        >>> from tinytorch.distributions import constraints
        >>> constraints.independent(constraints.positive, 1).check(tt.tensor([-1.0, 2.0]))
        tensor(False)
    """

    base_constraint: Any
    reinterpreted_batch_ndims: int

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        ndims = reinterpreted_batch_ndims
        if not isinstance(ndims, int):
            raise AssertionError(
                f"reinterpreted_batch_ndims must be an int, got {type(ndims).__name__}"
            )
        if ndims < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be >= 0, got {ndims}")
        self.base_constraint, self.reinterpreted_batch_ndims = (
            _check_constraint(base_constraint),
            ndims,
        )

    @property
    def is_discrete(self) -> Any:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        found: Tensor = self.base_constraint.check(value)
        batch_dims = found.dim() - self.reinterpreted_batch_ndims
        if batch_dims < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return _all_over_last(found, batch_dims)

    def _bounds(self) -> str:
        return f"{self.base_constraint!r}, {self.reinterpreted_batch_ndims}"


class MixtureSameFamilyConstraint(Constraint):
    """The region of the values of a mixture: the values that every component allows.

    Args:
        base_constraint: The components' constraint.

    Raises:
        AssertionError: If ``base_constraint`` is not a constraint.

    Example:
        >>> from tinytorch.distributions import constraints
        >>> each = constraints.interval(tt.zeros(2), tt.tensor([1.0, 3.0]))
        >>> constraints.MixtureSameFamilyConstraint(each).check(tt.tensor([0.5, 2.0, 0.1]))
        tensor([ True, False,  True])
    """

    def __init__(self, base_constraint: Any) -> None:
        self.base_constraint: Any = _check_constraint(base_constraint)

    @property
    def is_discrete(self) -> Any:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        return self.base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        batch_dims = value.dim() - self.event_dim
        if batch_dims < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        found = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        return _all_over_last(found, batch_dims)

    def _bounds(self) -> str:
        return repr(self.base_constraint)


def check_parts(cseq: Iterable[Any], kind: type, argument: str) -> list[Any]:
    """Return the elements of a sequence as a list, if all are of the class ``kind``; else raise.

    ``argument`` is the name of the sequence for the error.
    """
    parts = list(cseq)
    if not all(isinstance(part, kind) for part in parts):
        raise AssertionError(f"All elements of {argument} must be {kind.__name__} instances")
    return parts


def check_lengths(parts: list[Any], lengths: Any, argument: str) -> list[int]:
    """Return the lengths of the parts as a list, by default 1 each.

    Raise if there are more or fewer lengths than parts. ``argument`` is the name of the parts for
    the error.
    """
    found = [1] * len(parts) if lengths is None else list(lengths)
    if len(found) != len(parts):
        raise AssertionError(f"lengths ({len(found)}) must match {argument} ({len(parts)})")
    return found


def check_dim(dim: int, value: Tensor, name: str) -> None:
    """Raise if a tensor has no such dimension."""
    if not -value.dim() <= dim < value.dim():
        raise AssertionError(f"dim {dim} out of range for {name} with {value.dim()} dimensions")


def split_lengths(value: Tensor, lengths: list[int], dim: int) -> list[Tensor]:
    """Split a dimension into consecutive pieces of the given lengths."""
    starts = accumulate(lengths, initial=0)
    return [value.narrow(dim, start, n) for start, n in zip(starts, lengths, strict=False)]


class _PartsConstraint(Constraint):
    """Base of constraints that apply a constraint to each of several parts of a tensor."""

    cseq: list[Any]
    dim: int

    def __init__(self, cseq: Iterable[Any], dim: int = 0) -> None:
        self.cseq, self.dim = check_parts(cseq, Constraint, "cseq"), dim

    @property
    def is_discrete(self) -> Any:
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> Any:
        return max(c.event_dim for c in self.cseq)

    def _check_each(self, parts: Iterable[Tensor]) -> list[Tensor]:
        return [c.check(part) for c, part in zip(self.cseq, parts, strict=False)]

    def _bounds(self) -> str:
        return ""


class _Cat(_PartsConstraint):
    """Constraints of consecutive pieces of a dimension, one for each piece.

    Args:
        cseq: The constraints.
        dim: The dimension.
        lengths: The lengths of the pieces. Default: 1 each.

    Raises:
        AssertionError: If an element is not a constraint, if there are not as many lengths as
            constraints, or if a checked value has no such dimension.

    Example:
        >>> from tinytorch.distributions import constraints
        >>> both = constraints.cat([constraints.positive, constraints.real], lengths=[1, 2])
        >>> both.check(tt.tensor([-1.0, -1.0, 2.0]))
        tensor([False,  True,  True])
    """

    def __init__(self, cseq: Iterable[Any], dim: int = 0, lengths: Any = None) -> None:
        super().__init__(cseq, dim)
        self.lengths: list[int] = check_lengths(self.cseq, lengths, "cseq")

    def check(self, value: Tensor) -> Tensor:
        check_dim(self.dim, value, "value")
        return joined(self._check_each(split_lengths(value, self.lengths, self.dim)), self.dim)


class _Stack(_PartsConstraint):
    """Constraints of the slices of a dimension, one for each slice.

    Args:
        cseq: The constraints.
        dim: The dimension.

    Raises:
        AssertionError: If an element is not a constraint, or if a checked value has no such
            dimension.

    Example:
        >>> from tinytorch.distributions import constraints
        >>> both = constraints.stack([constraints.positive, constraints.real])
        >>> both.check(tt.tensor([[-1.0], [-1.0]]))
        tensor([[False],
                [ True]])
    """

    @property
    def event_dim(self) -> Any:
        inner = super().event_dim
        return inner + 1 if self.dim + inner < 0 else inner

    def check(self, value: Tensor) -> Tensor:
        check_dim(self.dim, value, "value")
        return stacked(self._check_each(value.unbind(self.dim)), self.dim)
