"""``poly1d``, polynomials as objects, and functions that return a ``poly1d`` for a ``poly1d``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from ..core.tensor import Holder
from . import functions
from .functions import polynomials
from .functions.conversion import host, is_recorded
from .namespace import to_detached
from .ndarray import array_of_tensor, ndarray
from .wrapping import host_function, wrap_function

_asarray = wrap_function(functions.asarray, always=True)


class poly1d(Holder):
    """A polynomial of one variable, with operators; ``np.polynomial`` is NumPy's newer API.

    As an array it is its coefficients.

    Args:
        c_or_r: The coefficients, that of the highest power first, or the roots.
        r: Whether they are the roots.
        variable: Name of the variable when printed; default ``x``.

    Attributes:
        variable: Name of the variable.
        coeffs: The coefficients, without leading zeros unless they require grad; ``c``,
            ``coef`` and ``coefficients`` are the same.
        order: The highest power; ``o`` is the same.
        roots: The roots; ``r`` is the same.

    Raises:
        ValueError: For coefficients of more than one dimension.

    Example:
        >>> p = np.poly1d([1, -3, 2])
        >>> p(5), p.roots, p * p
        (12, array([2., 1.]), poly1d([  1,  -6,  13, -12,   4]))
    """

    __module__ = "tinytorch.numpy"
    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        name: str = getattr(c_or_r, "variable", "x")
        self.variable: str = variable or name
        found = _poly(c_or_r) if r else _asarray(c_or_r)
        if found.ndim > 1:
            raise ValueError("Polynomial must be 1d only.")
        self._tensor = _trim_leading_zeros(found._tensor.reshape(-1))

    @property
    def coeffs(self) -> ndarray:
        """The coefficients, that of the highest power first."""
        return array_of_tensor(self._tensor)

    @coeffs.setter
    def coeffs(self, value: Any) -> None:  # for ``p.coeffs += 1``
        if getattr(value, "_tensor", None) is not self._tensor:
            raise AttributeError("Cannot set attribute")

    @property
    def order(self) -> int:
        """The highest power."""
        return len(self._tensor) - 1

    @property
    def roots(self) -> ndarray:
        """The roots."""
        return array_of_tensor(polynomials.roots(self._tensor))

    c = coeffs
    coef = coeffs
    coefficients = coeffs
    o = order
    r = roots

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._tensor.__array__(dtype, copy)

    def __call__(self, val: Any) -> Any:
        return polyval(self, val)

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Iterator[ndarray]:
        return iter(self.coeffs)

    def __getitem__(self, power: int) -> Any:
        """Coefficient of a power; 0 for one above the highest."""
        if 0 <= power <= self.order:
            return self.coeffs[self.order - power]
        return _asarray(0, self.coeffs.dtype)

    def __setitem__(self, power: int, value: Any) -> None:
        if power < 0:
            raise ValueError("Does not support negative powers.")
        more = power - self.order
        if more > 0:
            zeros = functions.zeros(more, self.coeffs.dtype)
            self._tensor = functions.concatenate([zeros, self._tensor])
        self.coeffs[self.order - power] = value

    def _numpy_poly1d(self) -> Any:
        """NumPy's own ``poly1d`` with the same coefficients, to print it."""
        return host().poly1d(to_detached("poly1d", self._tensor), variable=self.variable)

    def __repr__(self) -> str:
        return repr(self._numpy_poly1d())

    def __str__(self) -> str:
        return str(self._numpy_poly1d())

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, poly1d):
            return NotImplemented
        return bool(functions.array_equal(self._tensor, other._tensor))

    def __neg__(self) -> poly1d:
        return poly1d(functions.negative(self._tensor))

    def __pos__(self) -> poly1d:
        return self

    def __add__(self, other: Any) -> poly1d:
        return polyadd(self, other)  # type: ignore[no-any-return]

    def __sub__(self, other: Any) -> poly1d:
        return polysub(self, other)  # type: ignore[no-any-return]

    def __rsub__(self, other: Any) -> poly1d:
        return polysub(other, self)  # type: ignore[no-any-return]

    def __mul__(self, other: Any) -> poly1d:
        return polymul(self, other)  # type: ignore[no-any-return]

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return poly1d(self.coeffs / other) if host().isscalar(other) else polydiv(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return poly1d(other / self.coeffs) if host().isscalar(other) else polydiv(other, self)

    def __pow__(self, power: int) -> poly1d:
        if power != int(power) or power < 0:
            raise ValueError("Power to non-negative integers only.")
        return functools.reduce(polymul, [self] * int(power), poly1d([1]))

    def integ(self, m: int = 1, k: Any = 0) -> poly1d:
        """An integral; see ``polyint``.

        Args:
            m: Number of integrations; default 1.
            k: The constants of integration.

        Example:
            >>> np.poly1d([2, 1]).integ()
            poly1d([1., 1., 0.])
        """
        return polyint(self, m, k)  # type: ignore[no-any-return]

    def deriv(self, m: int = 1) -> poly1d:
        """The derivative; see ``polyder``.

        Args:
            m: Order of the derivative; default 1.

        Example:
            >>> np.poly1d([1, 2, 3]).deriv()
            poly1d([2, 2])
        """
        return polyder(self, m)  # type: ignore[no-any-return]


def _trim_leading_zeros(coefficients: Any) -> Any:
    """Drop the zeros before the first other coefficient, unless the coefficients require grad."""
    if is_recorded(coefficients):
        return coefficients
    places = coefficients.nonzero().reshape(-1).tolist()
    return coefficients[places[0] :] if places else coefficients.new_zeros(1)


def _wrap_poly(function: Callable[..., Any]) -> Any:
    """Wrap a function on coefficients, such as ``polyadd``, for arrays and ``poly1d``.

    If an argument is a ``poly1d``, the result, or each item of a tuple, is a ``poly1d``.
    """
    run = wrap_function(function, host=host_function(function.__name__))

    @functools.wraps(function)
    def public(*args: Any, **options: Any) -> Any:
        found = run(*args, **options)
        if not any(isinstance(value, poly1d) for value in args):
            return found
        return tuple(map(poly1d, found)) if isinstance(found, tuple) else poly1d(found)

    public.__module__ = "tinytorch.numpy"
    return public


_poly = wrap_function(polynomials.poly)
_values = wrap_function(polynomials.polyval, host=host_function("polyval"))
polyadd: Any = _wrap_poly(polynomials.polyadd)
polyder: Any = _wrap_poly(polynomials.polyder)
polydiv: Any = _wrap_poly(polynomials.polydiv)
polyint: Any = _wrap_poly(polynomials.polyint)
polymul: Any = _wrap_poly(polynomials.polymul)
polysub: Any = _wrap_poly(polynomials.polysub)


@functools.wraps(polynomials.polyval)
def polyval(p: Any, x: Any) -> Any:
    if not isinstance(x, poly1d):
        return _values(p, x)
    found = poly1d([0])
    for coefficient in _asarray(p):
        found = found * x + coefficient
    return found


polyval.__module__ = "tinytorch.numpy"
