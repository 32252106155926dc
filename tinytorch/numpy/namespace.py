"""Look up the names of ``tinytorch.numpy``: functions on arrays, and NumPy's own, wrapped."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core.tensor import Holder, Tensor
from ..state import current_backend, grad_enabled
from ..state.tracebacks import short
from . import functions, wrapping
from .functions.conversion import as_dtype, host
from .ndarray import array_of_tensor, wrap_result
from .scalars import ScalarType, scalar_type
from .ufunc import ufunc
from .wrapping import host_function, keeps_subclass, scalar_rule, wrap_function

#: Classes of arguments and results that are passed on as they are.
_VALUES = frozenset((int, float, bool, complex, str, type(None)))


def wrap_numpy(
    function: Callable[..., Any], convert: Callable[[str, Any], Any] | None = None
) -> Any:
    """Wrap one of NumPy's functions, so that it accepts arrays of any backend and returns arrays.

    Args:
        function: NumPy's function.
        convert: Converts an argument for it, given the function's name and the argument. The
            default, ``to_numpy``, raises a RuntimeError for an array that requires grad.
    """
    name, convert = function.__name__, convert or to_numpy

    @short
    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        given = [v if v.__class__ in _VALUES else convert(name, v) for v in args]
        named = {key: convert(name, value) for key, value in options.items()}
        found = function(*given, **named)
        if found.__class__ in _VALUES or isinstance(found, host().dtype):
            return found
        return from_numpy(found, backend_in((*args, *options.values())))

    call.__module__ = "tinytorch.numpy"
    return call


def to_numpy(name: str, value: Any) -> Any:
    """Replace arrays and Tensors in an argument by NumPy's own arrays and scalars.

    Raises:
        RuntimeError: For one that requires grad, since the function cannot be differentiated.
    """
    tensor = value._tensor if isinstance(value, Holder) else value
    if isinstance(tensor, Tensor):
        if tensor.requires_grad and grad_enabled():
            raise RuntimeError(
                f"{name} is NumPy's own function and not differentiable: got an array that "
                "requires grad; call it on array.detach() or under tt.no_grad()"
            )
        return to_detached(name, value)
    return map_nested(value, functools.partial(to_numpy, name))


def to_detached(name: str, value: Any) -> Any:
    """``to_numpy`` that accepts also arrays that require grad: no gradient flows."""
    tensor = value._tensor if isinstance(value, Holder) else value
    if isinstance(tensor, Tensor):
        found: Any = tensor.detach().cpu().numpy()
        return found[()] if getattr(value, "_scalar", not found.shape) else found
    return map_nested(value, functools.partial(to_detached, name))


def to_zeros(name: str, value: Any) -> Any:
    """Replace arrays in an argument by zeros of the same shape and dtype, which copy no memory."""
    if isinstance(value, Holder):
        value = value._tensor
    if isinstance(value, Tensor):
        return host().broadcast_to(host().zeros((), value.dtype.dtype), tuple(value.shape))
    return map_nested(value, functools.partial(to_zeros, name))


def to_dtype(name: str, value: Any) -> Any:
    """Replace arrays in an argument by their NumPy dtypes, and scalar types by NumPy's own."""
    if isinstance(value, Holder):
        return value._tensor._data.dtype
    if isinstance(value, ScalarType):
        return value._numpy_type
    if isinstance(value, Tensor):
        return value.dtype.dtype
    return map_nested(value, functools.partial(to_dtype, name))


def map_nested(value: Any, change: Callable[[Any], Any]) -> Any:
    """Apply ``change`` to the items of a list, tuple or dict; return another value as it is."""
    if isinstance(value, dict):
        return {key: change(part) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(change, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(change, value))
    return value


def from_numpy(value: Any, backend: Any = None) -> Any:
    """Replace NumPy's own arrays, scalars and scalar types in a result by those of this package.

    Args:
        value: Result of one of NumPy's functions.
        backend: Backend of the arrays; default the active one.
    """
    numpy = host()
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        if value.dtype.kind == "O":  # of numbers perhaps, as `frompyfunc` returns
            value = numpy.array(value.tolist())
        as_dtype(value.dtype.newbyteorder("="))
        wrap = wrap_result if isinstance(value, numpy.generic) else array_of_tensor
        return wrap(functions.asarray(value, backend=backend or current_backend()))
    if isinstance(value, type) and issubclass(value, numpy.generic):
        return scalar_type(value)
    return map_nested(value, functools.partial(from_numpy, backend=backend))


def backend_in(values: Any) -> Any:
    """The backend of the first array among ``values`` or in their sequences; None without one."""
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
    """Turn a function of Python numbers into one of arrays, with the methods of a ``ufunc``.

    Args:
        func: Function that accepts and returns numbers.
        nin: Number of its arguments.
        nout: Number of its results.
        identity: Result of ``reduce`` for no elements.

    Returns:
        A function of arrays. Its results have the dtype of the numbers; no gradient flows to them.

    Raises:
        RuntimeError: If it is called with an array that requires grad.
        TypeError: If a result of ``func`` is not a number.

    Example:
        >>> larger = np.frompyfunc(lambda x, y: x if x > y else y, 2, 1)
        >>> larger([1, 5], 3)
        array([3, 5])
        >>> larger.reduce([1, 5, 2])
        5
    """
    made = host().frompyfunc(func, nin, nout, identity=identity)
    function = wrap_numpy(made)
    function.__wrapped__, function.__module__ = made, func.__module__
    for name in ("reduce", "accumulate", "reduceat", "outer", "at"):
        setattr(function, name, wrap_numpy(getattr(made, name)))
    for name in ("nin", "nout", "nargs", "identity"):
        setattr(function, name, getattr(made, name))
    return function


#: Functions whose result is an array also for a Tensor.
_MAKE_ARRAYS = ("array", "asanyarray", "asarray", "ascontiguousarray", "from_dlpack")
#: Functions that write to their first argument.
_WRITE = ("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask")


def wrap_writer(function: Callable[..., None], host: Callable[..., None]) -> Callable[..., None]:
    """Wrap a function that writes to its first argument, to call NumPy's own if possible.

    Args:
        function: The function on arrays and Tensors.
        host: NumPy's own.
    """

    @short
    @functools.wraps(function)
    def public(*args: Any, **options: Any) -> None:
        if args and getattr(args[0], "_scalar", False):
            raise TypeError(f"{function.__name__}() argument 1 must be an array, got a scalar")
        if not wrapping.call_mutating(host, args, options):
            function(*args, **options)

    return public


#: NumPy's own functions that read no elements, each with the conversion of its arguments.
_NUMPY_ARGUMENTS = {
    "can_cast": to_dtype, "common_type": to_zeros, "einsum_path": to_zeros, "isdtype": to_dtype,
    "isscalar": to_detached, "issubdtype": to_dtype, "min_scalar_type": to_detached,
    "promote_types": to_dtype, "result_type": to_dtype,
}  # fmt: skip
#: By name: what only NumPy has, and what to use instead.
NUMPY_ONLY = {
    name: use
    for names, use in (
        ("matrix asmatrix bmat", "matrices: use arrays of two dimensions"),
        ("memmap", "arrays in files: read them with np.load or np.fromfile"),
        ("fromregex rec recarray record", "structures: use an array for each field"),
        ("nditer nested_iters", "loops over its memory: use np.ndenumerate or np.broadcast"),
        (
            "busday_count busday_offset busdaycalendar datetime64 datetime_as_string "
            "datetime_data is_busday isnat timedelta64",
            "dates: use numbers of days or seconds",
        ),
        ("char strings", "arrays of strings: keep strings in lists"),
        ("ma", "masked arrays: use NaN and np.nanmean and the like, or where="),
        ("ctypeslib", "pointers of C: use array.ctypes"),
        ("core f2py test", "modules for its build and its tests: import numpy"),
    )
    for name in names.split()
}


@functools.cache
def get_function(name: str) -> Any:
    """NumPy's function of this name, for arrays and Tensors; None if there is none.

    An elementwise function is a ``ufunc``.
    """
    if name in _NUMPY_ARGUMENTS:
        return wrap_numpy(getattr(host(), name), _NUMPY_ARGUMENTS[name])
    function = functions.function_of(name)
    if function is None:
        return None
    known: Any = getattr(host(), name, None)
    if hasattr(known, "nin"):  # A ufunc: all of its names return one object.
        same = known.__name__ if functions.function_of(known.__name__) else name
        return ufunc(name, function) if same == name else get_function(same)
    made = wrap_function(
        function, name in _MAKE_ARRAYS, host_function(name), scalar_rule(name), keeps_subclass(name)
    )
    if name in _WRITE:
        made = wrap_writer(made, getattr(host(), name))
    made.__module__ = "tinytorch.numpy"
    return made


@functools.cache
def numpy_attribute(name: str) -> Any:
    """NumPy's attribute of this name, wrapped; None if it has none.

    It is one without a function in ``numpy.functions``: a class, a constant, or a function that
    is called on NumPy's own arrays.

    Raises:
        AttributeError: For a name in ``NUMPY_ONLY``.
    """
    if name in NUMPY_ONLY:
        text = f"np.{name}: NumPy alone has {NUMPY_ONLY[name]}"
        raise AttributeError(text, name=name, obj=None)
    value = getattr(host(), name, None)
    if isinstance(value, type):
        return scalar_type(value) if issubclass(value, host().generic) else value
    return wrap_numpy(value) if callable(value) else value
