"""``Distribution``, the base class of all distributions."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import Any

from ..core.tensor import Size, Tensor
from ..state import no_grad
from ..state.tracebacks import ShortTracebacks
from ..warnings import warn
from . import constraints
from .utils import lazy_property

__all__ = ["Distribution"]


class Distribution(ShortTracebacks):
    """A probability distribution, or a batch of them.

    A sample has the shape ``sample_shape + batch_shape + event_shape``: the draws, the
    distributions of the batch, and the dimensions of one value.

    Args:
        batch_shape: The shape of the batch.
        event_shape: The shape of one value.
        validate_args: Whether parameters and values are checked. Default: the value set by
            ``set_default_validate_args``.

    Raises:
        ValueError: If a parameter does not satisfy its constraint.

    Attributes:
        has_rsample: Whether ``rsample`` draws differentiable samples.
        has_enumerate_support: Whether ``enumerate_support`` lists all values.

    Example:
        >>> from tinytorch.distributions import Normal
        >>> normal = Normal(tt.zeros(3), 1.0)
        >>> [list(shape) for shape in (normal.batch_shape, normal.sample((2,)).shape)]
        [[3], [2, 3]]
    """

    has_rsample: bool = False
    has_enumerate_support: bool = False
    _validate_args: bool = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether distributions check their parameters and values by default.

        Example:
            >>> tt.distributions.Distribution.set_default_validate_args(False)
            >>> distribution = tt.distributions.Normal(0.0, -1.0)
            >>> tt.distributions.Distribution.set_default_validate_args(True)
        """
        if value not in (True, False):
            raise ValueError(f"expected True or False, got {value!r}")
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Any = Size(), event_shape: Any = Size(), validate_args: Any = None
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        """Raise for a parameter outside its constraint; warn if ``arg_constraints`` is missing."""
        try:
            regions = self.arg_constraints
        except NotImplementedError:
            warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = "
                "{}` or initialize the distribution with `validate_args=False` to turn off "
                "validation.",
            )  # fmt: skip
            return
        found = {
            name: (region, region.check(getattr(self, name)).all())
            for name, region in regions.items()
            if not (constraints.is_dependent(region) or self._is_derived(name))
        }
        # Collect all results first: the host then waits for the device only once.
        if found and not _holds(reduce(and_, [valid for _, valid in found.values()])):
            self._raise_invalid_parameter(
                *next((name, r) for name, (r, valid) in found.items() if not bool(valid))
            )

    def _is_derived(self, name: str) -> bool:
        """Whether a parameter is a lazy property, computed from another parameter."""
        return name not in vars(self) and isinstance(getattr(type(self), name), lazy_property)

    def _raise_invalid_parameter(self, name: str, region: Any) -> None:
        """Raise ValueError for the parameter ``name``, which violates the constraint ``region``."""
        value = getattr(self, name)
        raise ValueError(
            f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of "
            f"distribution {self!r} to satisfy the constraint {region!r}, but found invalid "
            f"values:\n{value}"
        )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its parameters expanded to a larger batch.

        Args:
            batch_shape: The batch's shape.

        Raises:
            NotImplementedError: If the class defines ``__init__`` but not ``expand``.

        Example:
            >>> normal = tt.distributions.Normal(tt.zeros(2), 1.0)
            >>> normal.expand((3, 2)).batch_shape
            tinytorch.Size([3, 2])
        """
        new = self._get_checked_instance(self._library_class(), _instance)
        shape = Size(batch_shape)
        for name in self._parameters():
            if name in vars(self):
                ndim = self._parameter_event_dim(name)
                value = getattr(self, name)
                tail = value.shape[value.dim() - ndim :]
                setattr(new, name, value.expand((*shape, *tail)))
        self._copy_extra_state(new, shape)
        Distribution.__init__(new, shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _library_class(self) -> Any:
        """The nearest base class that this library defines."""
        package = __name__.rpartition(".")[0]
        modules = ((kind, getattr(kind, "__module__", "")) for kind in type(self).__mro__)
        return next(kind for kind, module in modules if module.startswith(package))

    def _parameters(self) -> tuple[str, ...]:
        """Names of the parameters that ``expand`` expands."""
        return tuple(self._regions())

    def _regions(self) -> Any:
        """Constraints of the parameters of the nearest class that this library defines."""
        own = self._library_class().arg_constraints
        return self.arg_constraints if isinstance(own, property) else own

    def _parameter_event_dim(self, name: str) -> int:
        found: int = self._regions()[name].event_dim
        return found

    def _copy_extra_state(self, new: Any, batch_shape: Size) -> None:
        """Copy the state that is not a parameter to an expanded distribution."""

    def _get_checked_instance(self, cls: Any, _instance: Any = None) -> Any:
        """Return ``_instance``, or by default an uninitialized instance of this class.

        ``expand`` calls it. A subclass of ``cls`` with another ``__init__`` has to override that.
        """
        if _instance is None and type(self).__init__ is not cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ "
                "method must also define a custom .expand() method."
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch.

        Example:
            >>> normal = tt.distributions.Normal(tt.zeros(2), 1.0)
            >>> normal.batch_shape
            tinytorch.Size([2])
        """
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one value.

        Example:
            >>> normal = tt.distributions.Normal(tt.zeros(2), 1.0)
            >>> normal.event_shape
            tinytorch.Size([])
        """
        return self._event_shape

    @property
    def arg_constraints(self) -> Any:
        """The constraints of the parameters, by name.

        Example:
            >>> coin = tt.distributions.Bernoulli(tt.tensor([0.5]))
            >>> coin.arg_constraints["probs"]
            Interval(lower_bound=0.0, upper_bound=1.0)
        """
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The constraint of the values.

        Example:
            >>> coin = tt.distributions.Bernoulli(tt.tensor([0.5]))
            >>> coin.support
            Boolean()
        """
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The mean.

        Example:
            >>> normal = tt.distributions.Normal(tt.zeros(2), 1.0)
            >>> normal.mean
            tensor([0., 0.])
        """
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most probable value.

        Example:
            >>> normal = tt.distributions.Normal(tt.zeros(2), 1.0)
            >>> normal.mode
            tensor([0., 0.])
        """
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance.

        Example:
            >>> normal = tt.distributions.Normal(tt.zeros(2), 1.0)
            >>> normal.variance
            tensor([1., 1.])
        """
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation.

        Example:
            >>> normal = tt.distributions.Normal(tt.zeros(2), 1.0)
            >>> normal.stddev
            tensor([1., 1.])
        """
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples drawn from the distribution, without a gradient.

        Args:
            sample_shape: The shape of the draws.

        Example:
            >>> normal = tt.distributions.Normal(tt.zeros(2), 1.0)
            >>> normal.sample((3,)).shape
            tinytorch.Size([3, 2])
        """
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Reparameterized samples, through which gradients flow to the parameters.

        Args:
            sample_shape: The shape of the draws.

        Example:
            >>> loc = tt.zeros(2, requires_grad=True)
            >>> tt.distributions.Normal(loc, 1.0).rsample().sum().backward()
            >>> loc.grad
            tensor([1., 1.])
        """
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """Deprecated alias of ``sample((n,))``.

        Example:
            >>> import warnings
            >>> normal = tt.distributions.Normal(tt.zeros(2), 1.0)
            >>> with warnings.catch_warnings(action="ignore"):
            ...     normal.sample_n(3).shape
            tinytorch.Size([3, 2])
        """
        warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning)
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or of the probability, at each value.

        Args:
            value: Values, whose shape broadcasts with ``batch_shape + event_shape``.

        Example:
            >>> normal = tt.distributions.Normal(tt.zeros(2), 1.0)
            >>> normal.log_prob(tt.tensor([0.0, 1.0]))
            tensor([-0.9189, -1.4189])
        """
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The cumulative distribution function: the probability of at most each of ``value``.

        Example:
            >>> normal = tt.distributions.Normal(tt.zeros(2), 1.0)
            >>> normal.cdf(tt.tensor([0.0, 1.0]))
            tensor([0.5000, 0.8413])
        """
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile of each probability: the inverse of ``cdf``.

        Example:
            >>> normal = tt.distributions.Normal(tt.zeros(2), 1.0)
            >>> normal.icdf(tt.tensor([0.5, 0.9]))
            tensor([0.0000, 1.2816])
        """
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All possible values, along a new first dimension.

        Args:
            expand: Whether the values are expanded over the batch shape.

        Example:
            >>> coin = tt.distributions.Bernoulli(tt.tensor([0.5]))
            >>> coin.enumerate_support()
            tensor([[0.],
                    [1.]])
        """
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy, in nats.

        Example:
            >>> normal = tt.distributions.Normal(tt.zeros(2), 1.0)
            >>> normal.entropy()
            tensor([1.4189, 1.4189])
        """
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """The exponential of the entropy.

        Example:
            >>> coin = tt.distributions.Bernoulli(tt.tensor([0.5]))
            >>> coin.perplexity()
            tensor([2.])
        """
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Any = Size()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _check_sample(self, value: Tensor) -> None:
        """Check the argument of ``log_prob`` or ``cdf``, if arguments are validated."""
        if self._validate_args:
            self._validate_sample(value)

    def _validate_sample(self, value: Any) -> None:
        """Raise ValueError unless a value has the right shape and is in the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        self._check_shape(value)
        try:
            support = self.support
        except NotImplementedError:
            warn(
                f"{type(self)} does not define `support` to enable sample validation. Please "
                "initialize the distribution with `validate_args=False` to turn off validation."
            )
            return
        if not _holds(support.check(value).all()):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{value}"
            )

    def _check_shape(self, value: Tensor) -> None:
        """Check that a value has the event shape, and that it broadcasts with the batch shape."""
        start = value.dim() - len(self._event_shape)
        if value.shape[start:] != self._event_shape:
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.size()} vs {self._event_shape}."
            )
        expected = (*self._batch_shape, *self._event_shape)
        for i, j in zip(reversed(value.shape), reversed(expected), strict=False):
            if 1 not in (i, j) and i != j:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{value.size()} vs {Size(expected)}."
                )

    def __repr__(self) -> str:
        names = [name for name in self._repr_parameters() if name in vars(self)]
        values = {name: vars(self)[name] for name in names}
        written = [
            f"{name}: {value if value.numel() == 1 else value.size()}"
            for name, value in values.items()
        ]
        return f"{type(self).__name__}({', '.join(written)})"

    def _repr_parameters(self) -> Any:
        return self.arg_constraints


def _holds(valid: Tensor) -> bool:
    """Whether a bool tensor is True, which is expected."""
    if valid.__class__ is Tensor and valid._xp.recorded is not None:
        return valid._xp.holds(valid._data)
    return bool(valid)
