"""Methods and operators of NumPy's array."""

from __future__ import annotations

import builtins
import inspect
import operator
import sys
from collections.abc import Callable
from numbers import Integral
from types import ModuleType
from typing import Any

from ..core.tensor import Tensor
from ..state.tracebacks import shorten, shorten_class
from . import functions, wrapping
from .functions.conversion import as_dtype, cast_all, host
from .indexing import getitem, setitem
from .iteration import flatiter
from .namespace import get_function
from .ndarray import array_of_tensor, make_instance, ndarray, numpy_dtype, wrap_like, wrap_result
from .ufunc import ufunc
from .wrapping import keeps_subclass, scalar_rule, unwrap, wrap_function, wrap_results

#: Methods that call the function of their name with the array as its first argument.
_FUNCTIONS = (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip",
    "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod",
    "ravel", "repeat", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take",
    "trace", "var",
)  # fmt: skip


def astype(
    self: ndarray, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True,
    copy: bool = True,
) -> ndarray:  # fmt: skip
    """The array cast to a dtype.

    Args:
        dtype: The wanted dtype.
        order: Accepted; the result is in row-major order.
        casting: Which casts are allowed: ``"no"``, ``"equiv"``, ``"safe"``, ``"same_kind"`` or
            ``"unsafe"`` (default).
        subok: Accepted.
        copy: Whether to copy an array that has this dtype already; default True.

    Raises:
        TypeError: If ``casting`` does not allow it.

    Example:
        >>> np.array([1.7, -1.7]).astype(int)
        array([ 1, -1])
    """
    given = (self, numpy_dtype(dtype), order, casting, subok, copy)
    direct_result = wrapping.call_numpy(host().ndarray.astype, given, {})
    if direct_result is not wrapping.NOT_CALLED:
        direct_result._scalar = self._scalar
        return direct_result  # type: ignore[no-any-return]
    (found,) = cast_all((self._tensor,), dtype, casting)
    return wrap_like(self, found.clone() if found is self._tensor and copy else found)


def copy(self: ndarray, order: str = "C") -> ndarray:
    """A copy, through which gradients flow.

    Args:
        order: Memory layout: ``"C"`` (default) row-major; ``"F"`` column-major; ``"A"`` the same
            as the array if that is column-major, else row-major; ``"K"`` the same as the array.

    Example:
        >>> a = np.zeros(2)
        >>> b = a.copy()
        >>> b[0] = 1
        >>> a
        array([0., 0.])
    """
    tensor: Any = self._tensor
    order = order.upper()
    if order == "K":
        return wrap_like(self, tensor.clone())
    flags = tensor._data.flags
    if order == "F" or (order == "A" and flags.f_contiguous and not flags.c_contiguous):
        reverse = tuple(range(tensor.ndim))[::-1]
        columns = tensor.permute(reverse).clone().contiguous() if reverse else tensor.clone()
        return array_of_tensor(columns.permute(reverse) if reverse else columns)
    return wrap_like(self, tensor.clone().contiguous())


def view(self: ndarray, dtype: Any = None, type: Any = None) -> ndarray:
    """View of the same memory as elements of another dtype.

    Args:
        dtype: Default: the array's own.
        type: The class of the result, ``ndarray`` or a subclass, whose ``__array_finalize__`` is
            called with this array. It may be passed as ``dtype``. Default: ``ndarray``.

    Raises:
        ValueError: If the bytes of the last dimension cannot be divided into such elements.

    Example:
        >>> np.array([1.0], dtype=np.float32).view(np.int32)
        array([1065353216], dtype=int32)
    """
    tensor: Any = self._tensor
    if isinstance(dtype, builtins.type) and issubclass(dtype, ndarray):
        dtype, type = None, dtype
    seen = tensor.view(self.shape if dtype is None else as_dtype(dtype))
    if type is None or type is ndarray is self.__class__:
        return wrap_like(self, seen)
    if not (isinstance(type, builtins.type) and issubclass(type, ndarray)):
        raise ValueError("Type must be a sub-type of ndarray type")
    return make_instance(type, seen, self)


def reshape(self: ndarray, *shape: Any, order: str = "C", copy: bool | None = None) -> ndarray:
    """The same elements in another shape, a view if possible.

    Args:
        *shape: The sizes, one by one or as a sequence; -1 for a size that is inferred.
        order: ``"C"``, the last index changes fastest (default), or ``"F"``, the first.
        copy: Whether to copy; None, the default, means if needed.

    Example:
        >>> np.arange(4).reshape(2, -1)
        array([[0, 1],
               [2, 3]])
    """
    sizes = shape[0] if len(shape) == 1 else shape
    if order == "C" and copy is None:
        return wrap_like(self, functions.reshape(self._tensor, sizes))
    return get_function("reshape")(self, sizes, order=order, copy=copy)  # type: ignore[no-any-return]


def transpose(self: ndarray, *axes: Any) -> ndarray:
    """View with the dimensions in another order.

    Args:
        *axes: The dimensions, one by one or as a sequence; default: in reverse order.

    Example:
        >>> np.zeros((2, 3, 4)).transpose(1, 0, 2).shape
        (3, 2, 4)
    """
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], Integral) else axes or None
    return get_function("transpose")(self, order)  # type: ignore[no-any-return]


def flatten(self: ndarray, order: str = "C") -> ndarray:
    """A 1-d copy.

    Args:
        order: See ``numpy.ravel``; default ``"C"``, the last index changes fastest.

    Example:
        >>> np.array([[1, 2], [3, 4]]).flatten("F")
        array([1, 3, 2, 4])
    """
    return get_function("ravel")(self, order).copy()  # type: ignore[no-any-return]


def conjugate(self: ndarray) -> ndarray:
    """The complex conjugate of each element.

    Example:
        >>> np.array([1 + 2j]).conjugate()
        array([1.-2.j])
    """
    return get_function("conjugate")(self)  # type: ignore[no-any-return]


def compress(self: ndarray, condition: Any, axis: int | None = None, out: Any = None) -> ndarray:
    """The slices along a dimension for which a condition is true; see ``numpy.compress``.

    Args:
        condition: Bools, one for each slice.
        axis: The dimension; None, the default, means that of the flattened array.
        out: Array for the result.

    Example:
        >>> np.array([1, 2, 3]).compress([True, False, True])
        array([1, 3])
    """
    found = get_function("compress")(condition, self, axis)
    return found if out is None else get_function("copyto")(out, found) or out  # type: ignore[no-any-return]


# -- conversion ----------------------------------------------------------------------------------


def tolist(self: ndarray) -> Any:
    """The elements as nested lists of Python numbers; for a 0-d array, the number.

    Example:
        >>> np.array([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
    """
    return self._host().tolist()


def tobytes(self: ndarray, order: str = "C") -> bytes:
    """The bytes of the elements.

    Args:
        order: ``"C"`` row-major (default), or ``"F"`` column-major.

    Example:
        >>> np.array([1, 256], dtype=np.int16).tobytes()
        b'\\x01\\x00\\x00\\x01'
    """
    return self._host().tobytes(order)  # type: ignore[no-any-return]


def tofile(self: ndarray, fid: Any, sep: str = "", format: str = "%s") -> None:
    """Write the elements to a file; see ``numpy.ndarray.tofile``.

    Args:
        fid: A path or an open file.
        sep: Separator of elements, which are written as text; empty, the default, writes bytes.
        format: Format of an element as text.

    Example:
        >>> import pathlib
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "numbers")
        ...     np.array([1, 2]).tofile(path, sep=" ")
        ...     path.read_text()
        '1 2'
    """
    self._host().tofile(fid, sep, format)


def dumps(self: ndarray) -> bytes:
    """The pickle of the elements, as an array of NumPy's own.

    Example:
        >>> import pickle
        >>> pickle.loads(np.array([1, 2]).dumps())
        array([1, 2])
    """
    return self._host().dumps()  # type: ignore[no-any-return]


def dump(self: ndarray, file: Any) -> None:
    """Write ``dumps()`` to a file.

    Args:
        file: A path or an open file.

    Example:
        >>> import io
        >>> np.array([1, 2]).dump(io.BytesIO())
    """
    self._host().dump(file)


def getfield(self: ndarray, dtype: Any, offset: int = 0) -> ndarray:
    """View of part of the bytes of each element as elements of another dtype.

    Args:
        dtype: Dtype of the parts.
        offset: Offset of the part in an element, in bytes.

    Example:
        >>> np.array([1 + 2j]).getfield(float, 8)
        array([2.])
    """
    tensor: Any = self._tensor
    wanted = numpy_dtype(dtype)
    part = tensor.unsqueeze(-1).view(as_dtype("uint8"))[..., offset : offset + wanted.itemsize]
    return wrap_like(self, part.view(as_dtype(wanted)).squeeze(-1))


# -- protocols -----------------------------------------------------------------------------------


def array_ufunc(self: ndarray, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """Implement ``__array_ufunc__``: call ``ufunc`` of NumPy, or a method of it, with arrays."""
    if out := options.get("out", ()):
        if any(isinstance(target, host().ndarray) for target in out):
            raw = [v._host() if isinstance(v, ndarray) else v for v in inputs]
            return getattr(ufunc, method)(*raw, **options)
        if len(out) == 1:
            options["out"] = out[0]
    for value in inputs:
        if value.__class__ is not ndarray and isinstance(value, host().ma.MaskedArray):
            return NotImplemented
    own: Any = get_function(ufunc.__name__)
    if own is None:  # a ufunc of another library
        return _call_on_tensors(self._tensor.__array_ufunc__, (ufunc, method), inputs, options)
    if method != "__call__":
        own = getattr(own, method)
    return own(*inputs, **options)


def array_function(self: ndarray, func: Any, types: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Implement ``__array_function__``: call NumPy's function ``func`` with arrays."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return self._tensor.__array_function__(func, types, args, kwargs)

    return _call_on_tensors(call, (), args, kwargs)


def _call_on_tensors(
    function: Callable[..., Any], first: tuple[Any, ...], args: Any, options: dict[str, Any]
) -> Any:
    """Call ``function(*first, *args, **options)`` and wrap the Tensors of its result as arrays.

    Arrays in ``args`` and ``options`` are replaced by the Tensors that they hold. If there are
    Tensors among these arguments, the result is not wrapped.
    """
    tensors: list[Any] = []
    given = [unwrap(a, tensors) for a in args]
    named = {name: unwrap(a, tensors) for name, a in options.items()}
    found = function(*first, *given, **named)
    return found if tensors else wrap_results(found, (*args, *options.values()))


def array_namespace(self: ndarray, *, api_version: str | None = None) -> ModuleType:
    """The namespace of arrays, ``tinytorch.numpy``, by the array API standard."""
    self._tensor.__array_namespace__(api_version=api_version)
    return sys.modules[ndarray.__module__]


def _method_signature(signature: inspect.Signature) -> inspect.Signature:
    """The signature of a method that calls a function with ``self`` as its first argument."""
    rest = [
        p.replace(kind=p.POSITIONAL_OR_KEYWORD) if p.kind is p.POSITIONAL_ONLY else p
        for p in list(signature.parameters.values())[1:]
    ]
    array = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    return signature.replace(parameters=[array, *rest])


def attach_methods() -> None:
    """Set the methods of ``ndarray``."""
    for name in _FUNCTIONS:
        own = wrapping.host_function(name, host().ndarray)
        function: Any = functions.function_of(name)
        method = wrap_function(
            function, host=own, scalars=scalar_rule(name), subclass=keeps_subclass(name)
        )
        method.__signature__ = _method_signature(inspect.signature(function))
        setattr(ndarray, name, method)
    for function in (
        astype, copy, view, reshape, transpose, flatten, conjugate, compress, fill, sort,
        partition, put, resize, byteswap, setflags, tolist, tobytes, tofile, dumps, dump, getfield,
        setfield,
    ):  # fmt: skip
        setattr(ndarray, function.__name__, function)
        function.__qualname__ = f"ndarray.{function.__name__}"
    others: dict[str, Any] = {
        "__getitem__": getitem, "__setitem__": setitem, "conj": conjugate,
        "flat": property(flatiter, _set_flat), "__array_namespace__": array_namespace,
        "__array_ufunc__": array_ufunc, "__array_function__": array_function,
    }  # fmt: skip
    for name, value in others.items():
        setattr(ndarray, name, value)


def _set_flat(self: ndarray, value: Any) -> None:
    """Setter of ``ndarray.flat``: write to all elements in row-major order."""
    flatiter(self)[:] = value


#: Python's names of arithmetic operators, and NumPy's of their functions.
BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
    "floordiv": "floor_divide", "mod": "remainder", "divmod": "divmod", "pow": "power",
    "lshift": "left_shift", "rshift": "right_shift", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "matmul": "matmul",
}  # fmt: skip
_COMPARISONS = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal",
}  # fmt: skip
_UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
_FUNCTIONS_OF_OPERATORS = {**BINARY, **_COMPARISONS, **_UNARY}
#: Classes of operands for which an operator returns ``NotImplemented``.
_NOT_OPERANDS = (str, bytes, dict, set, type(None))


def _is_operand(other: Any) -> bool:
    """Whether an operator accepts an operand, instead of returning ``NotImplemented`` for it."""
    if isinstance(other, (Tensor, *_NOT_OPERANDS)):
        return False
    priority = getattr(other, "__array_priority__", 0.0)
    limit = 0.0 if isinstance(other, host().ndarray) else ndarray.__array_priority__
    return not (priority > limit or _overrides_ufuncs(other))


def _overrides_ufuncs(other: Any) -> bool:
    """Whether an operand has an ``__array_ufunc__`` of its own: a Series of pandas, for example."""
    usual = host().ndarray.__array_ufunc__
    own = getattr(type(other), "__array_ufunc__", usual)
    return own is not usual and not isinstance(other, ndarray)


#: Operators that mean the same for arrays and Tensors of one floating-point dtype.
_SHARED = frozenset((*"add sub mul truediv pow neg abs".split(), *_COMPARISONS))


def _call_tensor_operator(apply: Any, array: ndarray, other: Any) -> Any:
    """Call Tensor's operator if both operands have one floating-point dtype.

    It is the fast path if NumPy cannot be called: on another backend, or with gradients.

    Args:
        apply: Function of two operands that runs Tensor's operator; None if the operator differs
            from NumPy's.
        array: The operand whose method was called.
        other: The other operand; a Python float or int has the dtype of ``array``.

    Returns:
        The result as an array, or ``NOT_CALLED``.
    """
    tensor: Any = array._tensor
    kind = tensor._data.dtype
    if apply is None or kind.kind != "f" or array.__class__ is not ndarray:
        return wrapping.NOT_CALLED
    cls = other.__class__
    if cls is ndarray:
        other = other._tensor
        if other._data.dtype is not kind:
            return wrapping.NOT_CALLED
    elif cls is not float and cls is not int:
        return wrapping.NOT_CALLED
    return wrap_result(apply(tensor, other))


def _fast_functions(sign: str, swap: bool) -> list[Any]:
    """Functions of two operands for the fast paths of an operator of arrays.

    Args:
        sign: Python's name of the operator, without underscores, such as ``"add"``.
        swap: Whether the functions exchange their operands, for a reflected operator.

    Returns:
        A list of NumPy's function and Tensor's operator. Either is None if it may not be called.
    """
    found = [get_function(_FUNCTIONS_OF_OPERATORS[sign]).host]
    found.append(getattr(operator, f"__{sign}__") if sign in _SHARED else None)
    return [None if f is None else lambda a, b, f=f: f(b, a) for f in found] if swap else found


def _binary(sign: str, swap: bool = False) -> Callable[..., Any]:
    """Make the method of a binary operator, which tries two fast paths before the ufunc.

    Args:
        sign: Python's name of the operator, without underscores, such as ``"add"``.
        swap: Whether to make the reflected method, such as ``__radd__``.
    """
    function: ufunc = get_function(_FUNCTIONS_OF_OPERATORS[sign])
    # Both exchange their operands for ``swap`` themselves.
    numpy_function, tensor_operator = _fast_functions(sign, swap)

    def method(self: ndarray, other: Any, /) -> Any:
        try:
            if numpy_function is not None:
                result = wrapping.call_operator(numpy_function, self, other)
                if result is not wrapping.NOT_CALLED:
                    return result
            result = _call_tensor_operator(tensor_operator, self, other)
            if result is not wrapping.NOT_CALLED:
                return result
            if not _is_operand(other):
                return NotImplemented
            return function(other, self) if swap else function(self, other)
        except Exception as error:
            shorten(error)
            raise

    return method


def _inplace(function: ufunc) -> Callable[..., Any]:
    """Make the method of the in-place operator that applies a ufunc, such as ``__iadd__``."""
    host = function.host

    def method(self: ndarray, other: Any, /) -> Any:
        try:
            if self._scalar:  # It is immutable, so this returns a new scalar.
                return function(self, other)
            if host is not None and wrapping.call_inplace_operator(host, self, other):
                return self
            if isinstance(other, Tensor):
                other = array_of_tensor(other)
            return function(self, other, out=self)
        except Exception as error:
            shorten(error)
            raise

    return method


def _accept_modulus(power: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the method of ``**`` so that ``pow(array, other, mod)`` returns ``NotImplemented``."""

    def method(self: ndarray, other: Any, mod: None = None, /) -> Any:
        return power(self, other) if mod is None else NotImplemented

    return method


#: Classes of operands that equal no element of an array.
_UNEQUAL = (str, bytes, type(None))


def _comparison(sign: str) -> Callable[..., Any]:
    """Make the method of a comparison, such as ``"eq"``.

    ``==`` and ``!=`` with a string, bytes or None return False or True for each element.
    """
    compare = _binary(sign)

    def method(self: ndarray, other: Any, /) -> Any:
        try:
            result = compare(self, other)
            if result is NotImplemented and sign in ("eq", "ne") and isinstance(other, _UNEQUAL):
                return get_function("full")(self.shape, sign == "ne")
            return result
        except Exception as error:
            shorten(error)
            raise

    return method


def attach_operators() -> None:
    """Set the operators of ``ndarray``."""
    members: dict[str, Any] = {}
    for sign, name in BINARY.items():
        members[f"__{sign}__"] = _binary(sign)
        members[f"__r{sign}__"] = _binary(sign, swap=True)
        if sign != "divmod":
            members[f"__i{sign}__"] = _inplace(get_function(name))
    for name in ("__mul__", "__rmul__"):
        members[name] = _repeat_sequences(members[name])
    members["__imatmul__"] = _check_imatmul(members["__imatmul__"])
    members |= {f"__{sign}__": _comparison(sign) for sign in _COMPARISONS}
    members |= {f"__{sign}__": _unary(sign) for sign in _UNARY}
    members["__pow__"] = _accept_modulus(members["__pow__"])
    for name, method in members.items():
        method.__name__, method.__qualname__ = name, f"ndarray.{name}"
        setattr(ndarray, name, method)
    shorten_class(ndarray)


def _repeat_sequences(product: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the method of ``*`` so that an integer scalar repeats a list, as NumPy's does."""

    def method(self: ndarray, other: Any, /) -> Any:
        try:
            if other.__class__ in (list, tuple) and self._scalar and self.dtype.kind in "iu":
                return other * int(self)
            return product(self, other)
        except Exception as error:
            shorten(error)
            raise

    return method


def _check_imatmul(inplace: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the method of ``@=`` to raise NumPy's error for too few dimensions."""

    def method(self: ndarray, other: Any, /) -> Any:
        if not self.ndim or getattr(other, "ndim", 2) < 2:
            raise ValueError(
                "inplace matrix multiplication requires the first operand to have at least one "
                "and the second at least two dimensions."
            )
        return inplace(self, other)

    return method


def _unary(sign: str) -> Callable[..., Any]:
    """Make the method of a unary operator, such as ``"neg"``.

    The fast paths of binary operators serve it, too; their second operand, 0, is not used.
    """
    function: ufunc = get_function(_UNARY[sign])
    found = _fast_functions(sign, False)
    host, apply = [None if f is None else lambda a, b, f=f: f(a) for f in found]

    def method(self: ndarray, /) -> Any:
        try:
            if host is not None:
                result = wrapping.call_operator(host, self, 0)
                if result is not wrapping.NOT_CALLED:
                    return result
            result = _call_tensor_operator(apply, self, 0)
            return function(self) if result is wrapping.NOT_CALLED else result
        except Exception as error:
            shorten(error)
            raise

    return method


def fill(self: ndarray, value: Any) -> None:
    """Set every element to one value.

    Args:
        value: A number.

    Example:
        >>> a = np.zeros(2)
        >>> a.fill(5)
        >>> a
        array([5., 5.])
    """
    if not wrapping.call_mutating(host().ndarray.fill, (self, value), {}):
        self[...] = value


def sort(
    self: ndarray, axis: int = -1, kind: str | None = None, order: Any = None, *,
    stable: bool | None = None,
) -> None:  # fmt: skip
    """Sort the elements along a dimension, in place.

    Args:
        axis: The dimension; default the last.
        kind: Accepted; the sort is stable.
        order: Must be None.
        stable: Accepted.

    Example:
        >>> a = np.array([3, 1, 2])
        >>> a.sort()
        >>> a
        array([1, 2, 3])
    """
    given = (self, axis, kind, order)
    if not wrapping.call_mutating(host().ndarray.sort, given, {"stable": stable}):
        self[...] = array_of_tensor(functions.sort(self._tensor, axis))


def partition(
    self: ndarray, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None
) -> None:
    """Move to the positions ``kth`` the elements that a sort would, smaller ones before them.

    Args:
        kth: A position, or several.
        axis: The dimension; default the last.
        kind: Accepted.
        order: Must be None.

    Example:
        >>> a = np.array([3, 1, 2])
        >>> a.partition(1)
        >>> a[1]
        2
    """
    if not wrapping.call_mutating(host().ndarray.partition, (self, kth, axis, kind, order), {}):
        self[...] = array_of_tensor(functions.partition(self._tensor, kth, axis))


def put(self: ndarray, indices: Any, values: Any, mode: str = "raise") -> None:
    """Set elements of the flattened array to values; see ``numpy.put``.

    Args:
        indices: Indices of the elements.
        values: The values, repeated as often as needed.
        mode: Treatment of indices out of bounds: ``"raise"``, ``"wrap"`` or ``"clip"``.

    Example:
        >>> a = np.zeros(3)
        >>> a.put([0, 2], [5, 7])
        >>> a
        array([5., 0., 7.])
    """
    get_function("put")(self, indices, values, mode)


def resize(self: ndarray, *new_shape: Any, refcheck: bool = True) -> None:
    """Change the shape of the array in place, with zeros for new elements.

    Args:
        *new_shape: The sizes, one by one or as a sequence.
        refcheck: Accepted; views of the array do not change.

    Raises:
        ValueError: If the array is a view.

    Example:
        >>> a = np.array([1, 2, 3])
        >>> a.resize(2, 2)
        >>> a
        array([[1, 2],
               [3, 0]])
    """
    shape = new_shape[0] if len(new_shape) == 1 else new_shape
    if shape is None or shape == ():
        return
    if self._tensor._base is not None:
        raise ValueError("cannot resize this array: it does not own its data")
    found: Any = functions.zeros(shape, as_dtype(self.dtype), backend=self._tensor._xp)
    count = min(found.numel(), self.size)
    found.reshape(-1)[:count] = functions.ravel(self._tensor)[:count]
    self._tensor = found


def byteswap(self: ndarray, inplace: bool = False) -> ndarray:
    """The array with the bytes of each element in reverse order.

    Args:
        inplace: Whether to overwrite this array.

    Example:
        >>> np.array([1, 256], dtype=np.int16).byteswap()
        array([256,   1], dtype=int16)
    """
    swapped = get_function("asarray")(self._host().byteswap())
    if not inplace:
        return wrap_like(self, swapped._tensor)
    self[...] = swapped
    return self


def setflags(
    self: ndarray, write: bool | None = None, align: bool | None = None, uic: bool | None = None
) -> None:
    """Set whether the array may be written to.

    Args:
        write: Whether it may; None leaves it as it is.
        align: Accepted for True.
        uic: Accepted for False.

    Example:
        >>> a = np.zeros(2)
        >>> a.setflags(write=False)
        >>> a.flags.writeable
        False
    """
    self._tensor._data.setflags(write=write, align=align, uic=uic)


def setfield(self: ndarray, val: Any, dtype: Any, offset: int = 0) -> None:
    """Set part of the bytes of each element.

    Args:
        val: Value for the parts.
        dtype: Dtype of the parts.
        offset: Offset of the part in an element, in bytes.

    Example:
        >>> a = np.zeros(1, dtype=complex)
        >>> a.setfield(3, float, 8)
        >>> a
        array([0.+3.j])
    """
    self.getfield(dtype, offset)[...] = val
