"""Base class of transforms, their inverses and compositions."""

from __future__ import annotations

import weakref
from typing import Any

from ..core.tensor import Size, Tensor
from ..state.tracebacks import ShortTracebacks
from . import constraints
from .utils import _sum_rightmost

__all__ = ["ComposeTransform", "Transform", "identity_transform"]


def check_dims(shape: Any, least: int) -> None:
    """Raise if a shape has fewer than ``least`` dimensions."""
    if len(shape) < least:
        raise ValueError("Too few dimensions on input")


class Transform(ShortTracebacks):
    """An invertible function of tensors.

    A subclass defines ``domain``, ``codomain``, ``_call``, ``_inverse`` and
    ``log_abs_det_jacobian``.

    Args:
        cache_size: 1 to cache the last argument and result, so that the inverse of the result is
            the same tensor as the argument; 0 for no cache.

    Attributes:
        bijective: Whether there is one inverse.
        domain: The constraint of arguments.
        codomain: The constraint of results.

    Example:
        >>> from tinytorch.distributions.transforms import ExpTransform
        >>> ExpTransform().inv(tt.ones(2))
        tensor([0., 0.])
    """

    bijective: Any = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._cached_x_y: tuple[Any, Any] = (None, None)
        self._inv: Any = None
        super().__init__()  # a subclass may also be a Module

    @property
    def event_dim(self) -> int:
        """The number of event dimensions of an argument and of a result.

        Example:
            >>> from tinytorch.distributions import transforms
            >>> transforms.ExpTransform().event_dim
            0
        """
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")
        found: int = self.domain.event_dim
        return found

    @property
    def inv(self) -> Any:
        """The inverse transform, whose ``inv`` is this transform.

        Example:
            >>> from tinytorch.distributions import transforms
            >>> transforms.AffineTransform(1.0, 2.0).inv(tt.tensor([5.0]))
            tensor([2.])
        """
        found = self._inv() if self._inv is not None else None
        if found is None:
            found = _InverseTransform(self)
            self._inv = weakref.ref(found)
        return found

    @property
    def sign(self) -> Any:
        """1 for an increasing function, -1 for a decreasing one.

        Example:
            >>> from tinytorch.distributions import transforms
            >>> transforms.AffineTransform(0.0, -2.0).sign
            -1
        """
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another cache size.

        Args:
            cache_size: 0 or 1.

        Example:
            >>> from tinytorch.distributions import transforms
            >>> exp = transforms.ExpTransform().with_cache()
            >>> x = tt.ones(1)
            >>> exp.inv(exp(x)) is x
            True
        """
        return self if self._cache_size == cache_size else self._copy_with_cache(cache_size)

    def _copy_with_cache(self, cache_size: int) -> Any:
        """Build the same transform with a cache of this size."""
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_inv": None}  # a weak reference cannot be pickled

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __call__(self, x: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._call(x)
        x_old, y_old = self._cached_x_y
        if x is x_old:
            return y_old  # type: ignore[no-any-return]
        y = self._call(x)
        self._cached_x_y = x, y
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        """Compute the inverse, or return the cached argument if ``y`` is its image."""
        if self._cache_size == 0:
            return self._inverse(y)
        x_old, y_old = self._cached_x_y
        if y is y_old:
            return x_old  # type: ignore[no-any-return]
        x = self._inverse(y)
        self._cached_x_y = x, y
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """The logarithm of the absolute value of the Jacobian's determinant.

        Args:
            x: The argument.
            y: The result for it.

        Example:
            >>> from tinytorch.distributions import transforms
            >>> x = tt.zeros(1)
            >>> double = transforms.AffineTransform(0.0, 2.0)
            >>> double.log_abs_det_jacobian(x, double(x))
            tensor([0.6931])
        """
        raise NotImplementedError

    def forward_shape(self, shape: Any) -> Size:
        """The shape of the result for an argument of this shape.

        Example:
            >>> from tinytorch.distributions import transforms
            >>> transforms.StickBreakingTransform().forward_shape((3,))
            tinytorch.Size([4])
        """
        return Size(shape)

    def inverse_shape(self, shape: Any) -> Size:
        """The shape of the argument for a result of this shape.

        Example:
            >>> from tinytorch.distributions import transforms
            >>> transforms.StickBreakingTransform().inverse_shape((4,))
            tinytorch.Size([3])
        """
        return Size(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _ParameterlessTransform(Transform):
    """A transform without parameters: all instances of its class are equal."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    __hash__ = Transform.__hash__


class _InverseTransform(Transform):
    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv: Any = transform

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return self._inv.domain

    @property
    def bijective(self) -> Any:
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    @property
    def inv(self) -> Any:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Any:
        return self.inv.with_cache(cache_size).inv

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = Transform.__hash__

    def __call__(self, x: Tensor) -> Tensor:
        found: Tensor = self._inv._inv_call(x)
        return found

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        found: Tensor = -self._inv.log_abs_det_jacobian(y, x)
        return found

    def forward_shape(self, shape: Any) -> Size:
        found: Size = self._inv.inverse_shape(shape)
        return found

    def inverse_shape(self, shape: Any) -> Size:
        found: Size = self._inv.forward_shape(shape)
        return found

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"


class ComposeTransform(Transform):
    """The composition of several transforms, applied one after the other.

    Args:
        parts: The transforms, the first one first.
        cache_size: As for ``Transform``.

    Example:
        >>> from tinytorch.distributions import transforms
        >>> parts = [transforms.AffineTransform(0.0, 2.0), transforms.ExpTransform()]
        >>> transforms.ComposeTransform(parts)(tt.zeros(1))
        tensor([1.])
    """

    def __init__(self, parts: Any, cache_size: int = 0) -> None:
        parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)
        super().__init__(cache_size=cache_size)
        self.parts: list[Any] = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = Transform.__hash__

    def _required_event_dim(self, backwards: bool) -> int:
        """Number of event dimensions of the domain with which each part gets those of its domain.

        If ``backwards``, it is that of the codomain, for the inverses of the parts.
        """
        dims = 0
        for part in self.parts if backwards else reversed(self.parts):
            goes_in, comes_out = part.domain.event_dim, part.codomain.event_dim
            if backwards:
                goes_in, comes_out = comes_out, goes_in
            dims = max(dims + goes_in - comes_out, goes_in)
        return dims

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        if not self.parts:
            return constraints.real
        found = self.parts[0].domain
        lacking = self._required_event_dim(backwards=False) - found.event_dim
        return constraints.independent(found, lacking) if lacking > 0 else found

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        if not self.parts:
            return constraints.real
        found = self.parts[-1].codomain
        lacking = self._required_event_dim(backwards=True) - found.event_dim
        return constraints.independent(found, lacking) if lacking > 0 else found

    @property
    def bijective(self) -> Any:
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        sign = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    @property
    def inv(self) -> Any:
        found = self._inv() if self._inv is not None else None
        if found is None:
            found = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv = weakref.ref(found)
            found._inv = weakref.ref(self)
        return found

    def _copy_with_cache(self, cache_size: int) -> Any:
        return ComposeTransform(self.parts, cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return x.new_zeros(x.shape)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        dims, total = self.domain.event_dim, None
        for part, before, after in zip(self.parts, values[:-1], values[1:], strict=True):
            change = part.log_abs_det_jacobian(before, after)
            change = _sum_rightmost(change, dims - part.domain.event_dim)
            total = change if total is None else total + change
            dims += part.codomain.event_dim - part.domain.event_dim
        return total  # type: ignore[return-value]

    def forward_shape(self, shape: Any) -> Size:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return Size(shape)

    def inverse_shape(self, shape: Any) -> Size:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return Size(shape)

    def __repr__(self) -> str:
        inner = ",\n    ".join(repr(part) for part in self.parts)
        return f"ComposeTransform(\n    {inner}\n)"


identity_transform: ComposeTransform = ComposeTransform([])
