"""NumPy's settings: how arrays are printed, and what floating-point errors do."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, ContextDecorator
from typing import Any

from ..state import current_backend
from .functions.conversion import host
from .ndarray import ndarray


def get_printoptions() -> dict[str, Any]:
    """How arrays are printed: ``precision``, ``threshold``, ``linewidth`` and more.

    Example:
        >>> np.get_printoptions()["precision"]
        8
    """
    return host().get_printoptions()  # type: ignore[no-any-return]


def set_printoptions(**options: Any) -> None:
    """Change how arrays are printed; see ``numpy.set_printoptions``.

    Args:
        **options: ``precision``, ``threshold``, ``edgeitems``, ``linewidth``, ``suppress``,
            ``nanstr``, ``infstr``, ``formatter``, ``sign``, ``floatmode``, ``legacy``.

    Example:
        >>> np.set_printoptions(precision=2)
        >>> np.array([1 / 3])
        array([0.33])
        >>> np.set_printoptions(precision=8)
    """
    host().set_printoptions(**options)


def printoptions(**options: Any) -> AbstractContextManager[dict[str, Any]]:
    """A scope in which arrays are printed in another way.

    Args:
        **options: As for ``set_printoptions``.

    Example:
        >>> with np.printoptions(precision=2):
        ...     print(np.array([1 / 3]))
        [0.33]
    """
    return host().printoptions(**options)  # type: ignore[no-any-return]


def _text(name: str, summary: str, example: str, shown: str) -> Callable[..., str]:
    def function(a: Any, *args: Any, **options: Any) -> str:
        array = a._host() if isinstance(a, ndarray) else host().asarray(a)
        return getattr(host(), name)(array, *args, **options)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{summary}; see ``numpy.{name}``.

    Args:
        a: Array, or what makes one.
        *args: As for NumPy's function.
        **options: As for NumPy's function.

    Example:
        >>> {example}
        {shown}
    """
    return function


array2string: Callable[..., str] = _text(
    "array2string", "An array as text", "np.array2string(np.array([1, 2]), separator=', ')",
    "'[1, 2]'",
)  # fmt: skip
array_repr: Callable[..., str] = _text(
    "array_repr", "What ``repr`` gives of an array", "np.array_repr(np.array([1, 2]))",
    "'array([1, 2])'",
)  # fmt: skip
array_str: Callable[..., str] = _text(
    "array_str", "What ``str`` gives of an array", "np.array_str(np.array([1, 2]))", "'[1 2]'"
)


def _of_number(name: str, summary: str, shown: str) -> Callable[..., str]:
    @functools.wraps(getattr(host(), name), assigned=())
    def function(x: Any, *args: Any, **options: Any) -> str:
        number = x._host()[()] if isinstance(x, ndarray) else x  # in its own dtype
        return getattr(host(), name)(number, *args, **options)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{summary}; see ``numpy.{name}``.

    Args:
        x: A number.
        *args: As for NumPy's function.
        **options: As for NumPy's function.

    Example:
        >>> np.{name}(1.5)
        {shown}
    """
    return function


format_float_positional: Callable[..., str] = _of_number(
    "format_float_positional", "A number as text, without an exponent", "'1.5'"
)
format_float_scientific: Callable[..., str] = _of_number(
    "format_float_scientific", "A number as text, with an exponent", "'1.5e+00'"
)


class errstate(ContextDecorator):
    """Ignore, warn of or raise floating-point errors inside a ``with`` block or a function.

    It is the array library that sees them; one that computes on a device sees none, and there
    this does nothing. Fourier transforms and factorizations of matrices tell of none.

    Args:
        all: ``"ignore"``, ``"warn"`` or ``"raise"`` for all kinds of errors.
        divide: For divisions by zero.
        over: For results that are too large.
        under: For results that are too small.
        invalid: For results that are no number.
        call: A function for NumPy to call, with ``"call"`` for one of the above.

    Raises:
        FloatingPointError: Inside, for what is to be raised.

    Example:
        >>> with tt.errstate(divide="raise"):
        ...     tt.ones(1) / 0
        Traceback (most recent call last):
            ...
        FloatingPointError: divide by zero encountered in divide
    """

    def __init__(self, **options: Any) -> None:
        self.options = options
        self._entered: list[AbstractContextManager[Any]] = []

    def __enter__(self) -> None:
        context = current_backend().errstate(**self.options)
        context.__enter__()
        self._entered.append(context)

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)
