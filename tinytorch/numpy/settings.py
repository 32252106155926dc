"""NumPy's settings: print options, text of arrays and numbers, and floating-point errors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, ContextDecorator
from typing import Any

from ..state import current_backend
from .functions.conversion import host
from .ndarray import ndarray


def get_printoptions() -> dict[str, Any]:
    """The print options of arrays: ``precision``, ``threshold``, ``linewidth`` and more.

    Example:
        >>> np.get_printoptions()["precision"]
        8
    """
    return host().get_printoptions()  # type: ignore[no-any-return]


def set_printoptions(**options: Any) -> None:
    """Set print options of arrays; see ``numpy.set_printoptions``.

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
    """Context manager that sets print options of arrays and restores them on exit.

    Args:
        **options: Options of ``set_printoptions``.

    Example:
        >>> with np.printoptions(precision=2):
        ...     print(np.array([1 / 3]))
        [0.33]
    """
    return host().printoptions(**options)  # type: ignore[no-any-return]


def _array_formatter(name: str, summary: str, example: str, shown: str) -> Callable[..., str]:
    """Create NumPy's function ``name`` from an array to text, with a docstring of this summary."""

    def function(a: Any, *args: Any, **options: Any) -> str:
        array = a._host() if isinstance(a, ndarray) else host().asarray(a)
        return getattr(host(), name)(array, *args, **options)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{summary}; see ``numpy.{name}``.

    Args:
        a: Array-like.
        *args: Arguments of NumPy's function.
        **options: Options of NumPy's function.

    Example:
        >>> {example}
        {shown}
    """
    return function


array2string: Callable[..., str] = _array_formatter(
    "array2string", "Text of an array", "np.array2string(np.array([1, 2]), separator=', ')",
    "'[1, 2]'",
)  # fmt: skip
array_repr: Callable[..., str] = _array_formatter(
    "array_repr", "``repr`` of an array", "np.array_repr(np.array([1, 2]))", "'array([1, 2])'"
)
array_str: Callable[..., str] = _array_formatter(
    "array_str", "``str`` of an array", "np.array_str(np.array([1, 2]))", "'[1 2]'"
)


def _number_formatter(name: str, summary: str, shown: str) -> Callable[..., str]:
    """Create NumPy's function ``name`` from a number to text, with a docstring of this summary."""

    @functools.wraps(getattr(host(), name), assigned=())
    def function(x: Any, *args: Any, **options: Any) -> str:
        number = x._host()[()] if isinstance(x, ndarray) else x  # keeps its dtype
        return getattr(host(), name)(number, *args, **options)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{summary}; see ``numpy.{name}``.

    Args:
        x: A number.
        *args: Arguments of NumPy's function.
        **options: Options of NumPy's function.

    Example:
        >>> np.{name}(1.5)
        {shown}
    """
    return function


format_float_positional: Callable[..., str] = _number_formatter(
    "format_float_positional", "Text of a number without an exponent", "'1.5'"
)
format_float_scientific: Callable[..., str] = _number_formatter(
    "format_float_scientific", "Text of a number with an exponent", "'1.5e+00'"
)


class errstate(ContextDecorator):
    """Ignore, warn of or raise floating-point errors inside a ``with`` block or a function.

    The array library detects the errors. One that computes on a device detects none, so this has
    no effect there; Fourier transforms and matrix factorizations report none either.

    Args:
        all: ``"ignore"``, ``"warn"`` or ``"raise"`` for all kinds of errors.
        divide: For divisions by zero.
        over: For results that are too large.
        under: For results that are too small.
        invalid: For results that are not a number.
        call: A function that NumPy calls for kinds of errors set to ``"call"``.

    Raises:
        FloatingPointError: In the block, for an error of a kind set to ``"raise"``.

    Example:
        >>> with tt.errstate(divide="raise"):
        ...     tt.ones(1) / 0
        Traceback (most recent call last):
            ...
        FloatingPointError: divide by zero encountered in divide
    """

    def __init__(self, **options: Any) -> None:
        self.options = options
        self._open: Any = None

    def __enter__(self) -> None:
        context: AbstractContextManager[Any] = current_backend().errstate(**self.options)
        context.__enter__()
        self._open = context, self._open  # no call, which Ctrl-C could interrupt

    def __exit__(self, *error: Any) -> None:
        context, self._open = self._open
        context.__exit__(*error)
