"""``ufunc``, NumPy's elementwise functions as objects with ``reduce``, ``at`` and the like."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, overload

from ..core.tensor import Tensor
from ..state.tracebacks import shorten
from . import functions, wrapping
from .functions.conversion import as_dtype, host, tensor_of
from .ndarray import ndarray
from .wrapping import host_function, wrap_function

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike  # noqa: TID251
    from typing_extensions import TypeVar as TypeVarWithDefault

    _Tensors: TypeAlias = Tensor | Sequence[Tensor]
    Calls_co = TypeVarWithDefault("Calls_co", default=Callable[..., Any], covariant=True)
else:
    #: Protocol by which a ufunc is called; the stubs give it for each of NumPy's.
    Calls_co = TypeVar("Calls_co", covariant=True)

#: Functions that are ``reduce`` and ``accumulate`` of a ufunc, and faster than the general ones.
_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
    "logical_or": "any",
}  # fmt: skip
_RUNNING = {"add": "cumsum", "multiply": "cumprod"}
#: Default of an argument that may be None.
_NOTHING: Any = object()


class ufunc(Generic[Calls_co]):
    """Function that is applied to each element of its operands.

    Args:
        name: NumPy's name.
        function: The function on Tensors.

    Example:
        >>> np.add.outer([1, 2], [10, 20])
        array([[11, 21],
               [12, 22]])
        >>> np.multiply.accumulate([1, 2, 3])
        array([1, 2, 6])
    """

    __name__: str
    __qualname__: str

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._host = getattr(host(), name)
        self._function = function
        self.host: Callable[..., Any] | None = host_function(name)
        self._call = wrap_function(function, host=self.host, subclass=True)
        wrapper: Any = self
        functools.update_wrapper(wrapper, function)
        self.__name__ = self.__qualname__ = name
        self.__signature__: inspect.Signature = inspect.signature(function)

    if TYPE_CHECKING:
        __call__: Calls_co
    else:

        def __call__(self, *operands, **options):
            try:
                return self._call(*operands, **options)
            except Exception as error:
                shorten(error)
                raise

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self) -> str:
        return self.__name__

    @property
    def nin(self) -> int:
        """Number of operands."""
        return int(self._host.nin)

    @property
    def nout(self) -> int:
        """Number of results."""
        return int(self._host.nout)

    @property
    def nargs(self) -> int:
        """Number of operands and results together."""
        return int(self._host.nargs)

    @property
    def ntypes(self) -> int:
        """Number of NumPy's loops; see ``types``."""
        return int(self._host.ntypes)

    @property
    def types(self) -> list[str]:
        """Dtypes of NumPy's loops as characters, for example ``"dd->d"``."""
        return list(self._host.types)

    @property
    def identity(self) -> Any:
        """The identity element, or None."""
        return self._host.identity

    @property
    def signature(self) -> str | None:
        """Core dimensions of a generalized ufunc, such as ``"(m,n),(n,p)->(m,p)"``; else None."""
        found: str | None = self._host.signature
        return found

    def resolve_dtypes(self, *args: Any, **options: Any) -> Any:
        """The dtypes of operands and results; see ``numpy.ufunc.resolve_dtypes``.

        Example:
            >>> np.add.resolve_dtypes((np.dtype("f4"), int, None))
            (dtype('float32'), dtype('float32'), dtype('float32'))
        """
        return self._host.resolve_dtypes(*args, **options)

    @overload
    def reduce(
        self, array: _Tensors, axis: int | Sequence[int] | None = 0, dtype: DTypeLike | None = None,
        out: Tensor | None = None, keepdims: bool = False, initial: Any = ...,
        where: ArrayLike = True,
    ) -> Tensor: ...  # fmt: skip
    @overload
    def reduce(
        self, array: ArrayLike, axis: int | Sequence[int] | None = 0,
        dtype: DTypeLike | None = None, out: ndarray | None = None, keepdims: bool = False,
        initial: Any = ..., where: ArrayLike = True,
    ) -> ndarray: ...  # fmt: skip
    def reduce(
        self, array: Any, axis: int | Sequence[int] | None = 0, dtype: Any = None, out: Any = None,
        keepdims: bool = False, initial: Any = _NOTHING, where: Any = True,
    ) -> Any:  # fmt: skip
        """Reduce dimensions by applying the function to their elements, one after the other.

        Args:
            array: Array-like.
            axis: Dimension or dimensions; default the first, None means all.
            dtype: Dtype to compute in.
            out: Array for the result.
            keepdims: Keep the reduced dimensions with size 1.
            initial: Value to begin with.
            where: Mask of the elements that count; default all.

        Raises:
            ValueError: If there are no elements, no ``initial`` and no identity.

        Example:
            >>> np.maximum.reduce([[1, 5], [3, 2]])
            array([3, 5])
        """
        options: dict[str, Any] = {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims}
        if initial is not _NOTHING:
            options["initial"] = initial
        if where is not True:
            options["where"] = where
        return self._reduce(array, **options)

    @overload
    def accumulate(
        self, array: _Tensors, axis: int = 0, dtype: DTypeLike | None = None,
        out: Tensor | None = None,
    ) -> Tensor: ...  # fmt: skip
    @overload
    def accumulate(
        self, array: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None,
        out: ndarray | None = None,
    ) -> ndarray: ...  # fmt: skip
    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Results of ``reduce`` up to each element of a dimension.

        Args:
            array: Array-like.
            axis: The dimension; default the first.
            dtype: Dtype to compute in.
            out: Array for the result.

        Example:
            >>> np.add.accumulate([1, 2, 3])
            array([1, 3, 6])
        """
        return self._accumulate(array, axis, dtype, out)

    @overload
    def reduceat(
        self, array: _Tensors, indices: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None,
        out: Tensor | None = None,
    ) -> Tensor: ...  # fmt: skip
    @overload
    def reduceat(
        self, array: ArrayLike, indices: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None,
        out: ndarray | None = None,
    ) -> ndarray: ...  # fmt: skip
    def reduceat(
        self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
    ) -> Any:
        """``reduce`` over slices, each from one of ``indices`` to the next.

        Args:
            array: Array-like.
            indices: Starts of the slices; if the next is not larger, the slice has one element.
            axis: The dimension; default the first.
            dtype: Dtype to compute in.
            out: Array for the result.

        Example:
            >>> np.add.reduceat([1, 2, 3, 4], [0, 2])
            array([3, 7])
        """
        return self._reduceat(array, indices, axis, dtype, out)

    @overload
    def outer(self, A: _Tensors, B: ArrayLike, /, **options: Any) -> Tensor: ...
    @overload
    def outer(self, A: ArrayLike, B: _Tensors, /, **options: Any) -> Tensor: ...
    @overload
    def outer(self, A: ArrayLike, B: ArrayLike, /, **options: Any) -> ndarray: ...
    def outer(self, A: Any, B: Any, /, **options: Any) -> Any:
        """Apply the function to every pair of an element of ``A`` and one of ``B``.

        Args:
            A: Array-like.
            B: Array-like.
            **options: Options of the function.

        Example:
            >>> np.subtract.outer([1, 2], [10, 20])
            array([[ -9, -19],
                   [ -8, -18]])
        """
        return self._outer(A, B, **options)

    def at(self, a: Tensor | ndarray, indices: Any, b: ArrayLike = _NOTHING, /) -> None:
        """Apply the function to elements of ``a`` in place, once for each time one is indexed.

        Args:
            a: The array to change.
            indices: Index of ``a``.
            b: The second operand of a function of two.

        Example:
            >>> a = np.zeros(3)
            >>> np.add.at(a, [0, 0, 2], 1)
            >>> a
            array([2., 0., 1.])
        """
        given = (a, indices) if b is _NOTHING else (a, indices, b)
        own = self._method("at")
        if own is None or not wrapping.call_mutating(own, given, {}):
            self._run_at(a, indices, b)

    def _method(self, name: str) -> Any:
        """NumPy's method of this name, for the argument ``host`` of ``wrap_function``.

        It is None if NumPy's ufunc may not be called instead of this one.
        """
        return None if self.host is None else wrapping.guard_method(self._host, name)

    @functools.cached_property
    def _reduce(self) -> Any:
        """``reduce`` on arrays: NumPy's own where it can be called, else ``_reduce`` below."""
        made = functools.partial(_reduce, self.__name__, self._function)
        return wrap_function(made, host=self._method("reduce"), subclass=True)

    @functools.cached_property
    def _accumulate(self) -> Any:
        """``accumulate`` on arrays; see ``_reduce``."""
        made = functools.partial(_accumulate, self.__name__, self._function)
        return wrap_function(made, host=self._method("accumulate"), subclass=True)

    @functools.cached_property
    def _reduceat(self) -> Any:
        """``reduceat`` on arrays; see ``_reduce``."""
        made = functools.partial(_reduceat, self.__name__, self._function)
        return wrap_function(made, host=self._method("reduceat"), subclass=True)

    @functools.cached_property
    def _outer(self) -> Any:
        """``outer`` on arrays; see ``_reduce``."""
        return wrap_function(functools.partial(_outer, self._function), host=self._method("outer"))

    @functools.cached_property
    def _run_at(self) -> Any:
        """``at`` on arrays if NumPy's own cannot be called."""
        return wrap_function(functools.partial(_apply_at, self._function))


def _reduce(
    name: str, function: Any, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None,
    keepdims: bool = False, initial: Any = _NOTHING, where: Any = True,
) -> Any:  # fmt: skip
    """``ufunc.reduce`` on Tensors.

    Args:
        name: Name of the ufunc.
        function: The ufunc on Tensors.
        array, axis, dtype, out, keepdims, initial, where: See ``ufunc.reduce``.
    """
    if name in _REDUCTIONS and not (name.startswith("logical") and initial is not _NOTHING):
        options = {"dtype": dtype, "out": out, "keepdims": keepdims or None, "initial": initial}
        given = {n: v for n, v in options.items() if v is not None and v is not _NOTHING}
        if where is not True:
            given["where"] = where
        return getattr(functions, _REDUCTIONS[name])(array, axis=axis, **given)
    x = tensor_of(array)
    x = x if dtype is None else x.to(as_dtype(dtype))
    start = getattr(host(), name).identity if initial is _NOTHING else initial
    if where is not True:
        x = functions.where(where, x, start)
    axes = tuple(range(x.ndim)) if axis is None else axis
    axes = sorted((a % x.ndim for a in axes), reverse=True) if isinstance(axes, tuple) else [axes]
    for d in axes:
        x = _fold(name, function, x.unbind(d), start if initial is not _NOTHING else _NOTHING)
        x = x.unsqueeze(d) if keepdims else x
        initial = _NOTHING
    return x if out is None else out.copy_(x)


def _fold(name: str, function: Any, parts: Sequence[Any], start: Any) -> Any:
    """Reduce a sequence of Tensors of one shape by a ufunc of two operands.

    Args:
        name: Name of the ufunc.
        function: The ufunc on Tensors.
        parts: The Tensors, from the first to the last.
        start: The value to begin with; ``_NOTHING`` means the first Tensor, or for an empty
            sequence the identity of the ufunc.

    Raises:
        ValueError: For an empty sequence without ``start`` and without an identity.
    """
    if start is _NOTHING:
        if not parts:
            identity = getattr(host(), name).identity
            if identity is None:
                raise ValueError(
                    f"zero-size array to reduction operation {name} which has no identity"
                )
            return functions.asarray(identity)
        return functools.reduce(function, parts)
    return functools.reduce(function, parts, start)


def _accumulate(name: str, function: Any, array: Any, axis: int, dtype: Any, out: Any) -> Any:
    """``ufunc.accumulate`` on Tensors, of the ufunc ``name``, which is ``function`` on Tensors."""
    if name in _RUNNING:
        return getattr(functions, _RUNNING[name])(array, axis=axis, dtype=dtype, out=out)
    x = tensor_of(array)
    parts = (x if dtype is None else x.to(as_dtype(dtype))).unbind(axis)
    found: list[Any] = []
    for part in parts:
        found.append(function(found[-1], part) if found else part)
    result = functions.stack(found, axis=axis) if found else x.clone()
    return result if out is None else out.copy_(result)


def _reduceat(
    name: str, function: Any, array: Any, indices: Any, axis: int, dtype: Any, out: Any
) -> Any:
    """``ufunc.reduceat`` on Tensors, of the ufunc ``name``, which is ``function`` on Tensors."""
    x = tensor_of(array)
    size = x.shape[axis]
    starts = [int(i) for i in tensor_of(indices).tolist()]
    for i in starts:
        if not 0 <= i < size:
            raise IndexError(f"index {i} out-of-bounds in {name}.reduceat [0, {size})")
    ends = [*starts[1:], size]
    parts = [
        _reduce(
            name, function, x.narrow(axis, i, max(end - i, 1)), axis, dtype, None, False, _NOTHING,
            True,
        )
        for i, end in zip(starts, ends, strict=True)
    ]  # fmt: skip
    result = functions.stack(parts, axis=axis)
    return result if out is None else out.copy_(result)


def _outer(function: Any, a: Any, b: Any, **options: Any) -> Any:
    """``ufunc.outer`` on Tensors, of the ufunc that is ``function`` on Tensors."""
    x, y = tensor_of(a), tensor_of(b)
    return function(x.reshape(tuple(x.shape) + (1,) * y.ndim), y, **options)


def _apply_at(function: Any, a: Any, indices: Any, b: Any) -> None:
    """Implement ``ufunc.at`` on Tensors, of the ufunc that is ``function`` on Tensors.

    The function is applied in rounds: in each one no element is indexed twice.
    """
    from .indexing import as_tensor_index

    target = tensor_of(a)
    flat = functions.arange(target.numel()).reshape(tuple(target.shape))
    places = flat[as_tensor_index(indices)].reshape(-1)
    values: tuple[Any, ...] = ()
    if b is not _NOTHING:
        shape = flat[as_tensor_index(indices)].shape
        values = (functions.broadcast_to(tensor_of(b, target._xp), tuple(shape)).reshape(-1),)
    elements = functions.ravel(target)
    for mask in _rounds(places):
        at = places[mask]
        done = function(elements[at], *(v[mask] for v in values)).to(target.dtype)
        elements = elements.index_put((at,), done)
    target.copy_(elements.reshape(tuple(target.shape)))


def _rounds(places: Any) -> list[Any]:
    """Masks of the first, second, ... occurrence of each value of the 1-d Tensor ``places``."""
    order = functions.argsort(places, stable=True)
    ordered = places[order]
    first = functions.searchsorted(ordered, ordered)
    occurrence = functions.empty_like(places)
    occurrence[order] = functions.arange(places.numel()) - first
    return [occurrence == i for i in range(int(occurrence.max()) + 1 if places.numel() else 0)]
