"""Functions on Tensors called with arrays, by NumPy itself where that gives the same.

NumPy's functions are written on Tensors (``numpy.functions``). A wrapped one takes arrays as the
Tensors that they hold, and returns an array unless a Tensor was among its arguments. On the NumPy
backend, where nothing is recorded, NumPy's own function runs on the memory of the arrays.
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
from ..dtypes import dtype as Dtype
from ..graph.inference import UNSETTLED
from ..state import current_backend
from ..state.tracebacks import shorten
from .functions.conversion import as_dtype
from .functions.files import Archive
from .ndarray import array_of_tensor, as_class_of, ndarray, wrap_result

NUMPY = load("numpy")
numpy: Any = NUMPY.library
#: What ``call_numpy`` gives where NumPy cannot be called.
NOT_CALLED = object()
#: Classes of arguments that are the same to NumPy.
_PASSED_AS_IS = frozenset((int, float, bool, complex, str, type(None), slice, type, range))
#: Of which kinds of operands the values differ from NumPy's, as the array API standard has it.
_DIFFERENT_KINDS = {"divmod": "fc", "expm1": "c", "floor_divide": "fc", "sign": "c", "tanh": "c"}
#: They write to their arguments, give views of them, take more than NumPy's do, or are deprecated.
_SHARING = frozenset(
    """asanyarray asarray ascontiguousarray broadcast_arrays broadcast_to copyto diagonal
    expand_dims fftfreq fill_diagonal from_dlpack imag load matrix_transpose moveaxis
    nan_to_num permute_dims place put put_along_axis putmask ravel real reshape
    rfftfreq rollaxis row_stack save savez savez_compressed squeeze swapaxes transpose
    unstack""".split()
)
#: Functions that are faster here, by products with ones, from so many elements on.
_FASTER, _MANY = frozenset(("mean", "sum")), 500_000
#: Options that NumPy has not.
_OURS = frozenset(("device", "backend", "descending"))
_new = object.__new__
_array = numpy.ndarray
#: Whether NumPy's indices are of 64 bits, as ours are everywhere.
_WIDE = numpy.argsort([0]).dtype == "int64"
_SEQUENCES = (list, tuple)
_OPERANDS = frozenset(
    (int, float, bool, complex, _array)
    + tuple(kind for kind in numpy.sctypeDict.values() if issubclass(kind, numpy.number))
)
#: The letters of NumPy's dtypes of which there are arrays here.
_NUMBERS = frozenset("?bBhHiIlLqQefdFD")


def host_function(name: str, home: Any = numpy) -> Callable[..., Any] | None:
    """NumPy's function of a name, if what it gives is what is wanted here."""
    if name in _SHARING or not _WIDE:
        return None
    found: Callable[..., Any] | None = getattr(home, name, None)
    if name in _FASTER:
        return _decline_large(found)
    if name == "argsort":
        return _stable_argsort(found)
    return found if name not in _DIFFERENT_KINDS else _decline_kinds(found, _DIFFERENT_KINDS[name])


def guard_method(ufunc: Any, method: str) -> Callable[..., Any]:
    """A method of NumPy's ufunc, or ``NOT_CALLED`` where its values differ from NumPy's."""
    function = getattr(ufunc, method)
    kinds = _DIFFERENT_KINDS.get(ufunc.__name__)
    return function if kinds is None else _decline_kinds(function, kinds)


def _decline_kinds(function: Any, kinds: str) -> Callable[..., Any]:
    """NumPy's function, which gives ``NOT_CALLED`` for operands of some kinds."""

    def call(*operands: Any, **options: Any) -> Any:
        if any(numpy.asarray(value).dtype.kind in kinds for value in operands):
            return NOT_CALLED
        return function(*operands, **options)

    return call


def _decline_large(function: Any) -> Callable[..., Any]:
    """NumPy's function, which gives ``NOT_CALLED`` for as many floats as ours is faster with."""

    def call(array: Any, *args: Any, **options: Any) -> Any:
        if array.__class__ is _array and array.size >= _MANY and array.dtype.kind == "f":
            return NOT_CALLED
        return function(array, *args, **options)

    return call


def _stable_argsort(function: Any) -> Callable[..., Any]:
    """NumPy's sorting function, which keeps the order of equal elements if nothing else is said."""

    def call(*args: Any, **options: Any) -> Any:
        if len(args) < 3 and options.keys().isdisjoint(("kind", "stable")):
            if len(args) == 1 and not options and _is_faster_unstable(args[0]):
                order = function(*args)
                ordered = args[0].take(order)
                # Without equal elements, and without NaN, there is but one order.
                if numpy.count_nonzero(ordered[1:] > ordered[:-1]) == len(order) - 1:
                    return order
            options["stable"] = True
        return function(*args, **options)

    return call


def _is_faster_unstable(array: Any) -> bool:
    """Whether a quick order is found and checked sooner than a stable one (with AVX-512)."""
    return (
        array.__class__ is _array
        and array.ndim == 1
        and 200 <= array.size <= 50_000
        and array.dtype.kind == "f"
    )


def can_call_numpy(tensor: Any) -> bool:
    """Whether NumPy may be called on what a Tensor holds."""
    return (
        tensor._xp is NUMPY
        and tensor.__class__ in PLAIN
        and tensor._vc is not UNSETTLED  # type: ignore[attr-defined]
        and not (tensor._rg and tensor.requires_grad)  # type: ignore[attr-defined]
    )


def call_numpy(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What NumPy's function gives for arguments that hold arrays, or ``NOT_CALLED``."""
    if creation.version is not None:
        return NOT_CALLED
    given: list[Any] = []
    known = False
    for value in args:
        cls = value.__class__
        if cls is ndarray:
            tensor = value._tensor
            if tensor._xp is not NUMPY or tensor._rg or tensor.__class__ not in PLAIN:
                if not can_call_numpy(tensor):
                    return NOT_CALLED
            given.append(tensor._data)
            known = True
        elif cls in _PASSED_AS_IS:
            given.append(value)
        else:
            raw = _to_numpy(value)
            if raw is NOT_CALLED:
                return NOT_CALLED
            given.append(raw)
            known = known or (cls in _SEQUENCES and ndarray in map(type, value))
    out = None
    if options:
        out = options.get("out")
        options = {name: _to_numpy(value) for name, value in options.items()}
        if not _OURS.isdisjoint(options) or any(value is NOT_CALLED for value in options.values()):
            return NOT_CALLED
        if out is None and "where" in options or out is not None and not _are_arrays(out):
            return NOT_CALLED
    if not known and current_backend() is not NUMPY:
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
    """``call_numpy`` for an operator of an array and whatever else."""
    tensor = array._tensor
    if creation.version is not None or tensor._xp is not NUMPY or tensor.__class__ not in PLAIN:
        return NOT_CALLED
    if array.__class__ is not ndarray or tensor._rg and tensor.requires_grad:
        return NOT_CALLED
    cls = other.__class__
    if cls is ndarray:
        theirs = other._tensor
        if theirs._xp is not NUMPY or theirs._rg or theirs.__class__ not in PLAIN:
            if not can_call_numpy(theirs):
                return NOT_CALLED
        other = theirs._data
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
    """Whether NumPy has written the result of an operator over the array."""
    tensor: Any = array._tensor
    other = _to_numpy(other)
    if other is NOT_CALLED or creation.version is not None or not can_call_numpy(tensor):
        return False
    if function(tensor._data, other, out=tensor._data) is NOT_CALLED:
        return False
    tensor._bump()
    return True


def get_item(array: ndarray, key: Any) -> Any:
    """``array[key]`` where that is no view, or ``NOT_CALLED``."""
    if creation.version is not None or not can_call_numpy(array._tensor):
        return NOT_CALLED
    key = key if key.__class__ is int else _to_numpy(key)
    if key is NOT_CALLED or key.__class__ is slice:
        return NOT_CALLED
    result = array._tensor._data[key]
    if result.__class__ is not _array:
        return _new_array(numpy.asarray(result), True)
    return (
        NOT_CALLED
        if result.base is not None or array.__class__ is not ndarray
        else _new_array(result)
    )


def set_item(array: ndarray, key: Any, value: Any) -> bool:
    """Whether NumPy has written ``value`` to the array."""
    tensor: Any = array._tensor
    key, value = _to_numpy(key), _to_numpy(value)
    if (
        key is NOT_CALLED
        or value is NOT_CALLED
        or creation.version is not None
        or not can_call_numpy(tensor)
    ):
        return False
    tensor._data[key] = value
    tensor._bump()
    return True


def call_mutating(
    function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> bool:
    """Whether NumPy's function, which gives nothing, has written to its first argument."""
    if creation.version is not None or not args or args[0].__class__ is not ndarray:
        return False
    given = [_to_numpy(value) for value in args]
    named = {name: _to_numpy(value) for name, value in options.items()}
    if any(value is NOT_CALLED for value in (*given, *named.values())):
        return False
    if function(*given, **named) is NOT_CALLED:
        return False
    args[0]._tensor._bump()
    return True


def _are_arrays(out: Any) -> bool:
    return all(each.__class__ is ndarray for each in (out if out.__class__ is tuple else (out,)))


def _to_numpy(value: Any) -> Any:
    cls = value.__class__
    if cls in _PASSED_AS_IS or cls is _array:
        return value
    if cls is ndarray:
        if not can_call_numpy(value._tensor):
            return NOT_CALLED
        return value._tensor._data[()] if value._scalar else value._tensor._data
    if cls is Dtype:
        return value.dtype
    if cls is list or cls is tuple:
        if set(map(type, value)) <= _PASSED_AS_IS:
            return value
        parts = [_to_numpy(part) for part in value]
        return NOT_CALLED if any(part is NOT_CALLED for part in parts) else cls(parts)
    if issubclass(cls, type):
        return getattr(value, "_of_host", value)  # of a scalar type, NumPy's own
    return value if isinstance(value, (numpy.generic, numpy.dtype)) else NOT_CALLED


def _wrap_numpy_result(result: Any, given: list[Any]) -> Any:
    """A result with arrays for NumPy's; ``NOT_CALLED`` if it shares an argument's memory."""
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
    several = (value if value.__class__ in _SEQUENCES else (value,) for value in given)
    parts = (part for each in several for part in each)
    return any(part.__class__ is _array and numpy.may_share_memory(result, part) for part in parts)


def wrap_memory(data: Any, scalar: bool = False) -> ndarray:
    """Array of memory that no other array shares, or the scalar of it.

    Raises:
        TypeError: For what is no number.
    """
    if data.dtype.char not in _NUMBERS or not data.dtype.isnative:
        as_dtype(data.dtype)
    return _new_array(data, scalar)


def _new_array(data: Any, scalar: bool = False) -> ndarray:
    """``wrap_memory`` memory that is known to hold numbers."""
    tensor = _new(Tensor)
    tensor._data = data
    tensor._xp = NUMPY
    tensor._rg = False
    tensor._node = tensor._grad = tensor._base = tensor._vc = None
    array = _new(ndarray)
    array._tensor = tensor
    array._scalar = scalar
    return array


#: Classes of arguments that hold no array, of which there are many.
_UNWRAPPED = frozenset((int, float, bool, complex, str, type(None), slice, type, dtype, device))
#: Functions whose result is an array in NumPy where it has no dimensions, and not a scalar.
_ARRAYS = frozenset(
    """array asanyarray asarray asarray_chkfinite block broadcast_arrays broadcast_to copy cov
    cross empty empty_like from_dlpack full full_like i0 isin ones ones_like piecewise
    real_if_close require reshape resize roll select tensordot tile unique_all unique_inverse where
    zeros zeros_like""".split()
)
#: Functions whose result is a scalar where their argument is one.
_LIKE_FIRST = frozenset("imag permute_dims real squeeze transpose trim_zeros".split())


#: Functions whose result is no instance of a subclass, whatever they are given.
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
    """When a result without dimensions is a scalar of NumPy's, and not an array."""

    ALWAYS = 1
    NEVER = 2
    #: When the first argument is one.
    LIKE_FIRST = 3


def scalar_rule(name: str) -> Scalars:
    """When a result without dimensions of NumPy's function of this name is a scalar."""
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
    """A function on Tensors as one on whatever NumPy takes, which keeps the class.

    Args:
        function: Takes and gives Tensors.
        always: Whether the result is an array also where Tensors were given.
        host: NumPy's own function, which is called where that gives the same.
        scalars: Of which results without dimensions NumPy makes scalars.
        subclass: Whether the result has the class of an argument that is of a subclass.
    """
    most = -1 if host is None else _positions_before_out(function)
    wrapper = {Scalars.ALWAYS: wrap_result, Scalars.NEVER: array_of_tensor}.get(scalars)

    def public(*args: Any, **options: Any) -> Any:
        try:
            if host is not None and len(args) <= most:
                result = call_numpy(host, args, options)
                if result is not NOT_CALLED:
                    return result
            met: list[Tensor] = []
            given = [
                a._tensor
                if a.__class__ is ndarray
                else a
                if a.__class__ in _UNWRAPPED
                else unwrap(a, met)
                for a in args
            ]
            if options:
                if getattr(options.get("out"), "_scalar", False):
                    raise TypeError("return arrays must be of ArrayType, got a scalar for out=")
                result = function(*given, **{name: unwrap(a, met) for name, a in options.items()})
            else:
                result = function(*given)
            if met and not always:
                return result
            wrap = wrapper or _wrapper_like(args)
            if subclass and (first := _subclass_instance(args)) is not None:
                return as_class_of(first, wrap_results(result, (*args, *options.values()), wrap))
            if options or result.__class__ is not Tensor:
                return wrap_results(result, (*args, *options.values()), wrap)
            again = [a for a in args if a.__class__ is ndarray and a._tensor is result]
            return _reuse_argument(again[0], wrap) if again else wrap(result)
        except Exception as error:
            shorten(error)
            raise

    functools.update_wrapper(public, function)
    return public


def _subclass_instance(args: tuple[Any, ...]) -> ndarray | None:
    """The argument of the highest ``__array_priority__`` whose class derives from ``ndarray``."""
    found = [a for a in args if a.__class__ is not ndarray and isinstance(a, ndarray)]
    return max(found, key=lambda a: a.__array_priority__) if found else None


def _wrapper_like(args: tuple[Any, ...]) -> Callable[[Any], ndarray]:
    is_scalar = bool(args) and getattr(args[0], "_scalar", False)
    return wrap_result if is_scalar else array_of_tensor


def _positions_before_out(function: Callable[..., Any]) -> int:
    """How many arguments come before one that would be written to."""
    parameters = inspect.signature(function).parameters
    several = any(each.kind is each.VAR_POSITIONAL for each in parameters.values())
    if several or "out" not in parameters:
        return sys.maxsize
    return list(parameters).index("out")


def unwrap(value: Any, met: list[Tensor]) -> Any:
    """What a function on Tensors is given for an argument; Tensors are added to ``met``."""
    cls = value.__class__
    if cls in _UNWRAPPED:
        return value
    if isinstance(value, Holder):
        return value._tensor
    if isinstance(value, Tensor):
        met.append(value)
        return value
    if cls is list or cls is tuple:
        kinds = set(map(type, value))
        if kinds <= _UNWRAPPED:
            return value
        return cls(unwrap(part, met) for part in value)
    if callable(value) and not isinstance(value, type) and not hasattr(value, "dtype"):
        return wrap_callback(value, met)
    return value


def wrap_results(
    result: Any, given: tuple[Any, ...] = (), wrap: Callable[[Any], ndarray] = wrap_result
) -> Any:
    """A result with its Tensors as arrays; one that was given as an array is that again."""
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
    """An argument that is the result; of a scalar, where the result is an array, a copy."""
    if array._scalar and wrap is array_of_tensor:
        return array_of_tensor(array._tensor.clone())
    return array


def wrap_callback(function: Callable[..., Any], met: list[Tensor]) -> Callable[..., Any]:
    """A function that is an argument: it, too, is given arrays where no Tensor was."""

    @functools.wraps(function)
    def callback(*args: Any, **options: Any) -> Any:
        if met:
            return function(*args, **options)
        named = {name: wrap_results(value) for name, value in options.items()}
        return unwrap(function(*map(wrap_results, args), **named), [])

    return callback
