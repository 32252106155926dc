"""Wrap functions on Tensors as functions on arrays.

NumPy's functions are written on Tensors (``numpy.functions``). A wrapped function accepts arrays,
of which it uses the Tensors that they hold, and returns an array unless a Tensor was among its
arguments. On the NumPy backend, if no gradient is recorded and the values are the same, NumPy's own
function runs on the memory of the arrays instead.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from enum import Enum
from typing import Any

from ..backends import load
from ..core.device import device
from ..core.tensor import Holder, Tensor, creation
from ..core.torch_function import PLAIN
from ..dtypes import dtype
from ..graph.inference import UNSETTLED
from ..state import current_backend
from ..state.tracebacks import shorten
from .functions.conversion import as_dtype
from .functions.files import Archive
from .ndarray import array_of_tensor, as_class_of, ndarray, wrap_result

NUMPY = load("numpy")
numpy: Any = NUMPY.library
#: Sentinel: NumPy's function has not been called, or its result cannot be used.
NOT_CALLED = object()
#: Classes of arguments that are passed to NumPy as they are.
_PASSED_AS_IS = frozenset((int, float, bool, complex, str, type(None), slice, type, range))
#: By function: the kinds of operands for which its values, the array API's, differ from NumPy's.
_DIFFERENT_KINDS = {"divmod": "fc", "expm1": "c", "floor_divide": "fc", "sign": "c", "tanh": "c"}
#: Functions that write to their arguments, return views of them, accept more than NumPy's, or are
#: deprecated.
_SHARING = frozenset(
    """asanyarray asarray ascontiguousarray broadcast_arrays broadcast_to copyto diagonal
    expand_dims fftfreq fill_diagonal from_dlpack imag load matrix_transpose moveaxis
    nan_to_num permute_dims place put put_along_axis putmask ravel real reshape
    rfftfreq rollaxis row_stack save savez savez_compressed squeeze swapaxes transpose
    unstack""".split()
)
#: Functions that are faster than NumPy's from ``_MANY`` elements on: they multiply by ones.
_FASTER, _MANY = frozenset(("mean", "sum")), 500_000
#: Options that NumPy's functions do not have.
_OURS = frozenset(("device", "backend", "descending"))
_new = object.__new__
_array = numpy.ndarray
#: Whether NumPy's indices have 64 bits, as tensors of indices have on every platform.
_WIDE = numpy.argsort([0]).dtype == "int64"
_SEQUENCES = (list, tuple)
_OPERANDS = frozenset(
    (int, float, bool, complex, _array)
    + tuple(kind for kind in numpy.sctypeDict.values() if issubclass(kind, numpy.number))
)
#: The characters of NumPy's dtypes that tensors have, too.
_NUMBERS = frozenset("?bBhHiIlLqQefdFD")


def host_function(name: str, home: Any = numpy) -> Callable[..., Any] | None:
    """NumPy's function of this name, if it may be called instead of this package's; else None.

    The function may return ``NOT_CALLED`` for some arguments.

    Args:
        name: Name of the function.
        home: Module of NumPy, or its class of arrays, that has the function.
    """
    if name in _SHARING or not _WIDE:
        return None
    found: Callable[..., Any] | None = getattr(home, name, None)
    if name in _FASTER:
        return _decline_large(found)
    if name == "argsort":
        return _stable_argsort(found)
    return found if name not in _DIFFERENT_KINDS else _decline_kinds(found, _DIFFERENT_KINDS[name])


def guard_method(ufunc: Any, method: str) -> Callable[..., Any]:
    """A method of NumPy's ufunc, such as ``reduce``.

    It returns ``NOT_CALLED`` for operands for which its values differ from the array API's.
    """
    function = getattr(ufunc, method)
    kinds = _DIFFERENT_KINDS.get(ufunc.__name__)
    return function if kinds is None else _decline_kinds(function, kinds)


def _decline_kinds(function: Any, kinds: str) -> Callable[..., Any]:
    """Wrap NumPy's function so that it returns ``NOT_CALLED`` for operands of some dtypes.

    Args:
        function: NumPy's function.
        kinds: NumPy's kind letters of these dtypes.
    """

    def call(*operands: Any, **options: Any) -> Any:
        if any(numpy.asarray(value).dtype.kind in kinds for value in operands):
            return NOT_CALLED
        return function(*operands, **options)

    return call


def _decline_large(function: Any) -> Callable[..., Any]:
    """Wrap NumPy's ``sum`` or ``mean`` so that it returns ``NOT_CALLED`` for a large float array.

    For such an array this package's function is faster.
    """

    def call(array: Any, *args: Any, **options: Any) -> Any:
        if array.__class__ is _array and array.size >= _MANY and array.dtype.kind == "f":
            return NOT_CALLED
        return function(array, *args, **options)

    return call


def _stable_argsort(function: Any) -> Callable[..., Any]:
    """Wrap ``numpy.argsort`` so that it is stable by default.

    A short vector of floats is sorted by NumPy's unstable algorithm, which is faster; if elements
    turn out to be equal or NaN, it is sorted once more.
    """

    def call(*args: Any, **options: Any) -> Any:
        if len(args) < 3 and options.keys().isdisjoint(("kind", "stable")):
            if len(args) == 1 and not options and _is_faster_unstable(args[0]):
                order = function(*args)
                ordered = args[0].take(order)
                # Without equal elements and NaN there is one order only.
                if numpy.count_nonzero(ordered[1:] > ordered[:-1]) == len(order) - 1:
                    return order
            options["stable"] = True
        return function(*args, **options)

    return call


def _is_faster_unstable(array: Any) -> bool:
    """Whether an unstable sort and a check take less time than a stable sort (with AVX-512)."""
    return (
        array.__class__ is _array
        and array.ndim == 1
        and 200 <= array.size <= 50_000
        and array.dtype.kind == "f"
    )


def can_call_numpy(tensor: Any) -> bool:
    """Whether NumPy may be called on the memory of a Tensor.

    It must be a NumPy array of a Tensor that requires no grad, has no override and is not of
    inference mode; and no mode or profile may be active.
    """
    return (
        tensor._xp is NUMPY
        and tensor.__class__ in PLAIN
        and tensor._vc is not UNSETTLED  # type: ignore[attr-defined]
        and not (tensor._rg and tensor.requires_grad)  # type: ignore[attr-defined]
    )


def call_numpy(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call NumPy's function on the memory of the arrays among its arguments.

    Args:
        function: NumPy's function, or a function that may return ``NOT_CALLED``.
        args: The positional arguments, with this package's arrays.
        options: The keyword arguments, likewise.

    Returns:
        The result, as arrays. ``NOT_CALLED`` in inference mode or ``vmap``; if an argument or
        option cannot be converted for NumPy; for ``where=`` without ``out=``; if there is no array
        and another backend is active; or if the result shares memory with an argument.
    """
    if creation.version is not None:  # inference mode or ``vmap`` marks new tensors
        return NOT_CALLED
    given: list[Any] = []
    has_array = False
    for value in args:
        cls = value.__class__
        if cls is ndarray:
            tensor = value._tensor
            if tensor._xp is not NUMPY or tensor._rg or tensor.__class__ not in PLAIN:
                if not can_call_numpy(tensor):
                    return NOT_CALLED
            given.append(tensor._data)
            has_array = True
        elif cls in _PASSED_AS_IS:
            given.append(value)
        else:
            raw = _convert_argument(value)
            if raw is NOT_CALLED:
                return NOT_CALLED
            given.append(raw)
            has_array = has_array or (cls in _SEQUENCES and ndarray in map(type, value))
    out = None
    if options:
        out = options.get("out")
        options = {name: _convert_argument(value) for name, value in options.items()}
        if not _OURS.isdisjoint(options) or any(value is NOT_CALLED for value in options.values()):
            return NOT_CALLED
        if out is None and "where" in options or out is not None and not _are_arrays(out):
            return NOT_CALLED
    if not has_array and current_backend() is not NUMPY:
        return NOT_CALLED
    if out is None:
        result = function(*given, **options) if options else function(*given)
        return result if result is NOT_CALLED else _wrap_numpy_result(result, given)
    if function(*given, **options) is NOT_CALLED:
        return NOT_CALLED
    for target in out if out.__class__ is tuple else (out,):
        target._tensor._bump()
    return out[0] if out.__class__ is tuple and len(out) == 1 else out


def call_operator(function: Callable[..., Any], array: ndarray, other: Any) -> Any:
    """``call_numpy`` for an operator, with fewer checks than for any function.

    Args:
        function: NumPy's function of two arrays.
        array: The operand whose method was called.
        other: The other operand.
    """
    tensor = array._tensor
    if creation.version is not None or tensor._xp is not NUMPY or tensor.__class__ not in PLAIN:
        return NOT_CALLED
    if array.__class__ is not ndarray or tensor._rg and tensor.requires_grad:
        return NOT_CALLED
    cls = other.__class__
    if cls is ndarray:
        other_tensor = other._tensor
        if (
            other_tensor._xp is not NUMPY or other_tensor._rg or other_tensor.__class__ not in PLAIN
        ) and not can_call_numpy(other_tensor):
            return NOT_CALLED
        other = other_tensor._data
    elif cls not in _OPERANDS:
        return NOT_CALLED
    result = function(tensor._data, other)
    if result is NOT_CALLED:
        return NOT_CALLED
    if result.__class__ is tuple:  # of divmod
        return tuple(_wrap_numpy_result(part, []) for part in result)
    scalar = result.__class__ is not _array
    if scalar:
        result = numpy.asarray(result)
    return wrap_memory(result, scalar) if cls is _array else _new_array(result, scalar)


def call_inplace_operator(function: Callable[..., Any], array: ndarray, other: Any) -> bool:
    """Call NumPy's function of an in-place operator with ``out=array``, if possible.

    Returns:
        Whether NumPy's function has been called.
    """
    tensor: Any = array._tensor
    other = _convert_argument(other)
    if other is NOT_CALLED or creation.version is not None or not can_call_numpy(tensor):
        return False
    if function(tensor._data, other, out=tensor._data) is NOT_CALLED:
        return False
    tensor._bump()
    return True


def get_item(array: ndarray, key: Any) -> Any:
    """``array[key]`` if NumPy may be called and the result is not a view; else ``NOT_CALLED``."""
    if creation.version is not None or not can_call_numpy(array._tensor):
        return NOT_CALLED
    key = key if key.__class__ is int else _convert_argument(key)
    if key is NOT_CALLED or key.__class__ is slice:
        return NOT_CALLED
    result = array._tensor._data[key]
    if result.__class__ is not _array:
        return _new_array(numpy.asarray(result), True)
    if result.base is not None or array.__class__ is not ndarray:
        return NOT_CALLED
    return _new_array(result)


def set_item(array: ndarray, key: Any, value: Any) -> bool:
    """Run ``array[key] = value`` on the array's memory by NumPy, if possible.

    Returns:
        Whether NumPy has been called.
    """
    tensor: Any = array._tensor
    if creation.version is not None or not can_call_numpy(tensor):
        return False
    key, value = _convert_argument(key), _convert_argument(value)
    if key is NOT_CALLED or value is NOT_CALLED:
        return False
    tensor._data[key] = value
    tensor._bump()
    return True


def call_mutating(
    function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> bool:
    """Call NumPy's function that writes to its first argument, if possible.

    Args:
        function: NumPy's function.
        args: The positional arguments, with this package's arrays.
        options: The keyword arguments, likewise.

    Returns:
        Whether NumPy's function has been called.
    """
    if creation.version is not None or not args or args[0].__class__ is not ndarray:
        return False
    given = [_convert_argument(value) for value in args]
    named = {name: _convert_argument(value) for name, value in options.items()}
    if any(value is NOT_CALLED for value in (*given, *named.values())):
        return False
    if function(*given, **named) is NOT_CALLED:
        return False
    args[0]._tensor._bump()
    return True


def _are_arrays(out: Any) -> bool:
    """Whether ``out``, or each item of a tuple, is an exact ``ndarray``."""
    return all(each.__class__ is ndarray for each in (out if out.__class__ is tuple else (out,)))


def _convert_argument(value: Any) -> Any:
    """Convert an argument of a function for a call of NumPy.

    Arrays become the NumPy arrays of their memory, dtypes and scalar types become NumPy's own, and
    lists and tuples are converted recursively.

    Returns:
        The converted argument; ``NOT_CALLED`` if it has an array that ``can_call_numpy`` excludes,
        or a class that is not known here.
    """
    cls = value.__class__
    if cls in _PASSED_AS_IS or cls is _array:
        return value
    if cls is ndarray:
        if not can_call_numpy(value._tensor):
            return NOT_CALLED
        return value._tensor._data[()] if value._scalar else value._tensor._data
    if cls is dtype:
        return value.dtype
    if cls is list or cls is tuple:
        if set(map(type, value)) <= _PASSED_AS_IS:
            return value
        parts = [_convert_argument(part) for part in value]
        return NOT_CALLED if any(part is NOT_CALLED for part in parts) else cls(parts)
    if issubclass(cls, type):
        return getattr(value, "_numpy_type", value)
    return value if isinstance(value, (numpy.generic, numpy.dtype)) else NOT_CALLED


def _wrap_numpy_result(result: Any, given: list[Any]) -> Any:
    """Wrap the NumPy arrays and scalars of a result as arrays of this package.

    Args:
        result: Result of NumPy's function.
        given: Its positional arguments.

    Returns:
        The wrapped result; ``NOT_CALLED`` if an array of it shares memory with an argument.
    """
    cls = result.__class__
    if cls is _array:
        for value in given:
            if value is result:
                return NOT_CALLED
        if result.base is not None and _shares_memory(result, given):
            return NOT_CALLED
        return wrap_memory(result)
    if isinstance(result, numpy.generic):
        return wrap_memory(numpy.asarray(result), True)
    if isinstance(result, (tuple, list)):
        parts = [_wrap_numpy_result(part, given) for part in result]
        if any(part is NOT_CALLED for part in parts):
            return NOT_CALLED
        return cls(*parts) if hasattr(result, "_fields") else cls(parts)
    return result


def _shares_memory(result: Any, given: list[Any]) -> bool:
    """Whether a result may overlap an array among the arguments or in their sequences."""
    several = (value if value.__class__ in _SEQUENCES else (value,) for value in given)
    parts = (part for each in several for part in each)
    return any(part.__class__ is _array and numpy.may_share_memory(result, part) for part in parts)


def wrap_memory(data: Any, scalar: bool = False) -> ndarray:
    """Wrap a NumPy array that no other array shares; as one of NumPy's scalars if ``scalar``.

    Raises:
        TypeError: For a dtype that tensors do not have.
    """
    if data.dtype.char not in _NUMBERS or not data.dtype.isnative:
        as_dtype(data.dtype)
    return _new_array(data, scalar)


def _new_array(data: Any, scalar: bool = False) -> ndarray:
    """``wrap_memory`` without the check of the dtype."""
    tensor = _new(Tensor)
    tensor._data = data
    tensor._xp = NUMPY
    tensor._rg = False
    tensor._node = tensor._grad = tensor._base = tensor._vc = None
    array = _new(ndarray)
    array._tensor = tensor
    array._scalar = scalar
    return array


#: Frequent classes of arguments that hold no array.
_UNWRAPPED = frozenset((int, float, bool, complex, str, type(None), slice, type, dtype, device))
#: Functions whose 0-d result is an array in NumPy, and not a scalar.
_ARRAYS = frozenset(
    """array asanyarray asarray asarray_chkfinite block broadcast_arrays broadcast_to copy cov
    cross empty empty_like from_dlpack full full_like i0 isin ones ones_like piecewise
    real_if_close require reshape resize roll select tensordot tile unique_all unique_inverse where
    zeros zeros_like""".split()
)
#: Functions whose 0-d result is a scalar if their first argument is one.
_LIKE_FIRST = frozenset("imag permute_dims real squeeze transpose trim_zeros".split())
#: Functions whose result is an exact ``ndarray`` also for arguments of a subclass.
_WITHOUT_SUBCLASS = frozenset(
    """append argmax argmin argwhere array asarray asarray_chkfinite ascontiguousarray
    asfortranarray asmatrix bmat broadcast_arrays broadcast_to column_stack concat concatenate copy
    corrcoef cov cross digitize dstack flatnonzero from_dlpack frombuffer histogram
    histogram_bin_edges histogramdd hstack intersect1d iscomplex isin lexsort meshgrid nonzero outer
    pad poly polyint row_stack searchsorted select setdiff1d setxor1d sinc sort_complex stack
    tensordot tril triu union1d unwrap vstack where""".split()
)


def keeps_subclass(name: str) -> bool:
    """Whether NumPy's function or method of this name returns instances of a subclass."""
    return name not in _WITHOUT_SUBCLASS


class Scalars(Enum):
    """Rule by which a function's 0-d results are scalars of NumPy, or 0-d arrays."""

    ALWAYS = 1
    NEVER = 2
    #: Scalars if the first argument is a scalar.
    LIKE_FIRST = 3


def scalar_rule(name: str) -> Scalars:
    """The rule for 0-d results of NumPy's function of this name."""
    if name in _LIKE_FIRST:
        return Scalars.LIKE_FIRST
    return Scalars.NEVER if name in _ARRAYS else Scalars.ALWAYS


def wrap_function(
    function: Callable[..., Any],
    always: bool = False,
    host: Callable[..., Any] | None = None,
    scalars: Scalars = Scalars.ALWAYS,
    subclass: bool = False,
) -> Any:
    """Wrap a function on Tensors as one on arrays and Tensors, which returns the same class.

    Args:
        function: Accepts and returns Tensors.
        always: Whether the result is an array also if Tensors were among the arguments.
        host: NumPy's own function, called instead where ``call_numpy`` can call it.
        scalars: Which 0-d results are scalars.
        subclass: Whether a result has the class of an argument of a subclass of ``ndarray``.
    """
    limit = -1 if host is None else _positions_before_out(function)
    wrapper = {Scalars.ALWAYS: wrap_result, Scalars.NEVER: array_of_tensor}.get(scalars)

    def public(*args: Any, **options: Any) -> Any:
        try:
            if host is not None and len(args) <= limit:
                result = call_numpy(host, args, options)
                if result is not NOT_CALLED:
                    return result
            tensors: list[Tensor] = []
            given = [
                a._tensor
                if a.__class__ is ndarray
                else a
                if a.__class__ in _UNWRAPPED
                else unwrap(a, tensors)
                for a in args
            ]
            if options:
                if getattr(options.get("out"), "_scalar", False):
                    raise TypeError("return arrays must be of ArrayType, got a scalar for out=")
                result = function(*given, **{n: unwrap(a, tensors) for n, a in options.items()})
            else:
                result = function(*given)
            if tensors and not always:
                return result
            wrap = wrapper or _wrapper_like(args)
            if subclass and (first := _subclass_instance(args)) is not None:
                return as_class_of(first, wrap_results(result, (*args, *options.values()), wrap))
            if options or result.__class__ is not Tensor:
                return wrap_results(result, (*args, *options.values()), wrap)
            holders = [a for a in args if a.__class__ is ndarray and a._tensor is result]
            return _reuse_argument(holders[0], wrap) if holders else wrap(result)
        except Exception as error:
            shorten(error)
            raise

    functools.update_wrapper(public, function)
    return public


def _subclass_instance(args: tuple[Any, ...]) -> ndarray | None:
    """The argument whose class the results get: an instance of a subclass of ``ndarray``.

    Of several, it is the first one of the highest ``__array_priority__``. Without any, it is None.
    """
    found = [a for a in args if a.__class__ is not ndarray and isinstance(a, ndarray)]
    return max(found, key=lambda a: a.__array_priority__) if found else None


def _wrapper_like(args: tuple[Any, ...]) -> Callable[[Any], ndarray]:
    """The function that wraps results by the rule ``Scalars.LIKE_FIRST``, given the arguments."""
    is_scalar = bool(args) and getattr(args[0], "_scalar", False)
    return wrap_result if is_scalar else array_of_tensor


def _positions_before_out(function: Callable[..., Any]) -> int:
    """Number of positional arguments that can be passed without passing ``out``."""
    parameters = inspect.signature(function).parameters
    several = any(each.kind is each.VAR_POSITIONAL for each in parameters.values())
    if several or "out" not in parameters:
        return sys.maxsize
    return list(parameters).index("out")


def unwrap(value: Any, tensors: list[Tensor]) -> Any:
    """Replace arrays in an argument by the Tensors that they hold.

    Lists and tuples are unwrapped recursively, and a function is wrapped as a callback.

    Args:
        value: The argument.
        tensors: List to which the argument's own Tensors are appended. If there are some, the
            result of the function stays a Tensor.
    """
    cls = value.__class__
    if cls in _UNWRAPPED:
        return value
    if isinstance(value, Holder):
        return value._tensor
    if isinstance(value, Tensor):
        tensors.append(value)
        return value
    if cls is list or cls is tuple:
        kinds = set(map(type, value))
        if kinds <= _UNWRAPPED:
            return value
        return cls(unwrap(part, tensors) for part in value)
    if callable(value) and not isinstance(value, type) and not hasattr(value, "dtype"):
        return wrap_callback(value, tensors)
    return value


def wrap_results(
    result: Any, given: tuple[Any, ...] = (), wrap: Callable[[Any], ndarray] = wrap_result
) -> Any:
    """Replace Tensors in a result by arrays.

    Args:
        result: Result of a function on Tensors.
        given: The arguments: an array whose Tensor is the result is itself returned.
        wrap: Makes an array of a Tensor.
    """
    if isinstance(result, Tensor):
        for value in given:
            for array in value if value.__class__ is tuple else (value,):
                if isinstance(array, ndarray) and array._tensor is result:
                    return _reuse_argument(array, wrap)
        return wrap(result)
    if isinstance(result, Archive):
        return result.of(array_of_tensor)
    if isinstance(result, (tuple, list)):
        parts = [wrap_results(part, given, wrap) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


def _reuse_argument(array: ndarray, wrap: Callable[[Any], ndarray]) -> ndarray:
    """Return the argument ``array``, whose Tensor a function has returned.

    If ``array`` is a scalar and ``wrap``, the function that wraps results, makes no scalars, the
    result is a 0-d array with a copy.
    """
    if array._scalar and wrap is array_of_tensor:
        return array_of_tensor(array._tensor.clone())
    return array


def wrap_callback(function: Callable[..., Any], tensors: list[Tensor]) -> Callable[..., Any]:
    """Wrap a function that is an argument, so that it is called with arrays.

    It is called with Tensors if ``tensors``, which is read at the time of the call, holds some.
    """

    @functools.wraps(function)
    def callback(*args: Any, **options: Any) -> Any:
        if tensors:
            return function(*args, **options)
        named = {name: wrap_results(value) for name, value in options.items()}
        return unwrap(function(*map(wrap_results, args), **named), [])

    return callback
