"""Functions of ``numpy.emath``: their results are complex where no real result exists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from . import ufuncs
from .conversion import tensor_of
from .registration import describe, raise_numpy_errors

__all__ = ["arccos", "arcsin", "arctanh", "log", "log10", "log2", "logn", "power", "sqrt"]


def _complex_if(outside: Callable[[Any], Any], x: Any) -> Any:
    """Cast a real tensor to a complex dtype if an element is outside a function's real domain.

    Args:
        outside: Predicate that returns the mask of such elements: ``_is_negative`` or
            ``_is_beyond_one``.
        x: The tensor; it is returned as it is if it is complex or no element is outside.
    """
    if x.is_complex() or not bool(outside(x).any()):
        return x
    is_single = x.dtype.itemsize < 4 or x.dtype is dtypes.float32
    return x.to(dtypes.complex64 if is_single else dtypes.complex128)


def _is_negative(x: Any) -> Any:
    """Mask of the elements outside the real domain of the square root and the logarithms."""
    return x < 0


def _is_beyond_one(x: Any) -> Any:
    """Mask of the elements outside the real domain of the inverse sine, cosine and tanh."""
    return x.abs() > 1


def _extend(name: str, outside: Any, *example: str) -> Callable[..., Tensor]:
    """Make the function of ``numpy.emath`` that extends a ufunc beyond its real domain.

    Args:
        name: Name of the ufunc.
        outside: Predicate of the elements outside the domain; see ``_complex_if``.
        *example: Lines of the docstring's example.
    """
    function = getattr(ufuncs, name)

    def compute(x: Any) -> Tensor:
        return function(_complex_if(outside, tensor_of(x)))  # type: ignore[no-any-return]

    condition = "negative" if outside is _is_negative else "less than -1 or greater than 1"
    doc = f"""``numpy.{name}``, complex if an element is {condition}.

    Args:
        x: Tensor or array-like.
    """
    return raise_numpy_errors(describe(compute, name, doc, *example))


sqrt: Callable[..., Tensor] = _extend(
    "sqrt", _is_negative, ">>> np.emath.sqrt([-1, 4])", "array([0.+1.j, 2.+0.j])"
)
log: Callable[..., Tensor] = _extend(
    "log", _is_negative, ">>> np.emath.log(-np.exp(1))", "(1+3.141592653589793j)"
)
log2: Callable[..., Tensor] = _extend(
    "log2", _is_negative, ">>> np.emath.log2([4, 8])", "array([2., 3.])"
)
log10: Callable[..., Tensor] = _extend(
    "log10", _is_negative, ">>> np.emath.log10([10, 100])", "array([1., 2.])"
)
arccos: Callable[..., Tensor] = _extend("arccos", _is_beyond_one, ">>> np.emath.arccos(1)", "0.0")
arcsin: Callable[..., Tensor] = _extend("arcsin", _is_beyond_one, ">>> np.emath.arcsin(0)", "0.0")
arctanh: Callable[..., Tensor] = _extend(
    "arctanh", _is_beyond_one, ">>> np.emath.arctanh([0, 0.5])",
    "array([0.        , 0.54930614])",
)  # fmt: skip


@raise_numpy_errors
def logn(n: Any, x: Any) -> Tensor:
    """The logarithm to any base, complex if an element is negative.

    Args:
        n: The base: Tensor or array-like.
        x: Tensor or array-like.

    Example:
        >>> np.emath.logn(2, [4, 8])
        array([2., 3.])
    """
    return log(x) / log(n)


@raise_numpy_errors
def power(x: Any, p: Any) -> Tensor:
    """``x`` raised to ``p``, complex if an element of ``x`` is negative.

    Args:
        x: Tensor or array-like.
        p: Exponents; if an integer one is negative, the result is of floats.

    Example:
        >>> np.emath.power([2, 4], -2)
        array([0.25  , 0.0625])
    """
    base, exponent = _complex_if(_is_negative, tensor_of(x)), tensor_of(p)
    if exponent.dtype.kind in "iu" and bool((exponent < 0).any()):
        exponent = exponent.to(dtypes.float64)
    return ufuncs.power(base, exponent)  # type: ignore[no-any-return]
