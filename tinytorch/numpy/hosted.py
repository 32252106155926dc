"""NumPy's own functions, on the numbers of whatever backend; no gradient flows through them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core.holder import Holder
from ..core.tensor import Tensor
from ..state import current_backend, grad_enabled
from ..state.tracebacks import short
from . import functions
from .functions.conversion import as_dtype, host
from .ndarray import array_of_tensor, wrap_result
from .scalars import ScalarType, scalar_type

#: Classes of what is the same to both, in and out.
_VALUES = frozenset((int, float, bool, complex, str, type(None)))


def hosted(function: Callable[..., Any], plain: Callable[[str, Any], Any] | None = None) -> Any:
    """One of NumPy's functions, which takes arrays of any backend and gives arrays.

    Args:
        function: NumPy's.
        plain: What it is given for an argument, of the function's name and the argument; default
            ``numbers``.

    Raises:
        RuntimeError: When called with an array that requires grad.
    """
    name, opened = function.__name__, plain or numbers

    @short
    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        given = [v if v.__class__ in _VALUES else opened(name, v) for v in args]
        named = {key: opened(name, value) for key, value in options.items()}
        found = function(*given, **named)
        if found.__class__ in _VALUES or isinstance(found, host().dtype):
            return found
        return placed(found, backend_in((*args, *options.values())))

    call.__module__ = "tinytorch.numpy"
    return call


def numbers(name: str, value: Any) -> Any:
    """An argument with NumPy's own arrays and numbers for arrays.

    Raises:
        RuntimeError: For one that requires grad.
    """
    tensor = value._tensor if isinstance(value, Holder) else value
    if isinstance(tensor, Tensor):
        if tensor.requires_grad and grad_enabled():
            raise RuntimeError(
                f"{name} is NumPy's own function and not differentiable: got an array that "
                "requires grad; call it on array.detach() or under tt.no_grad()"
            )
        return detached(name, value)
    return within(value, functools.partial(numbers, name))


def detached(name: str, value: Any) -> Any:
    """``numbers``, whether or not a gradient is lost."""
    tensor = value._tensor if isinstance(value, Holder) else value
    if isinstance(tensor, Tensor):
        found: Any = tensor.detach().cpu().numpy()
        return found[()] if getattr(value, "_scalar", not found.shape) else found
    return within(value, functools.partial(detached, name))


def outlined(name: str, value: Any) -> Any:
    """An argument with zeros of the same shapes and dtypes, in no memory, for arrays."""
    if isinstance(value, Holder):
        value = value._tensor
    if isinstance(value, Tensor):
        return host().broadcast_to(host().zeros((), value.dtype.dtype), tuple(value.shape))
    return within(value, functools.partial(outlined, name))


def kind_of(name: str, value: Any) -> Any:
    """An argument with NumPy's own dtypes for arrays, and NumPy's own scalar types for ours."""
    if isinstance(value, Holder):
        return value._tensor._data.dtype
    if isinstance(value, ScalarType):
        return value._of_host
    if isinstance(value, Tensor):
        return value.dtype.dtype
    return within(value, functools.partial(kind_of, name))


def within(value: Any, change: Callable[[Any], Any]) -> Any:
    """Lists, tuples and dicts with ``change`` of what is in them; another value as it is."""
    if isinstance(value, dict):
        return {key: change(part) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(change, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(change, value))
    return value


def placed(value: Any, backend: Any = None) -> Any:
    """A result with arrays for NumPy's own arrays and numbers.

    Args:
        value: What one of NumPy's functions gave.
        backend: Where to; default the active backend.
    """
    numpy = host()
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        if value.dtype.kind == "O":  # numbers perhaps, as a function of Python's gave them
            value = numpy.array(value.tolist())
        as_dtype(value.dtype.newbyteorder("="))
        wrap = wrap_result if isinstance(value, numpy.generic) else array_of_tensor
        return wrap(functions.asarray(value, backend=backend or current_backend()))
    if isinstance(value, type) and issubclass(value, numpy.generic):
        return scalar_type(value)
    return within(value, functools.partial(placed, backend=backend))


def backend_in(values: Any) -> Any:
    """The backend of the first array among ``values`` and in their sequences; None if none is."""
    for value in values:
        if isinstance(value, Holder):
            return value._tensor._xp
        if isinstance(value, Tensor):
            return value._xp
        found = backend_in(value) if isinstance(value, (list, tuple)) else None
        if found is not None:
            return found
    return None


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> Any:
    """A function of Python numbers as one of arrays, with the methods of a ``ufunc``.

    Args:
        func: Takes and gives numbers.
        nin: How many it takes.
        nout: How many it gives.
        identity: What ``reduce`` begins with where there are no elements.

    Returns:
        A function of arrays. Its results have the dtype of the numbers; no gradient flows to them.

    Raises:
        RuntimeError: When it is called with an array that requires grad.
        TypeError: If what ``func`` gives is no number.

    Example:
        >>> import tinytorch.numpy as np
        >>> larger = np.frompyfunc(lambda x, y: x if x > y else y, 2, 1)
        >>> larger([1, 5], 3)
        array([3, 5])
        >>> larger.reduce([1, 5, 2])
        5
    """
    made = host().frompyfunc(func, nin, nout, identity=identity)
    function = hosted(made)
    function.__wrapped__, function.__module__ = made, func.__module__
    for name in ("reduce", "accumulate", "reduceat", "outer", "at"):
        setattr(function, name, hosted(getattr(made, name)))
    for name in ("nin", "nout", "nargs", "identity"):
        setattr(function, name, getattr(made, name))
    return function
