"""NumPy's array: it holds a Tensor and has NumPy's methods, operators and attributes."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, Self, overload

from ..backends.base import Backend
from ..core.tensor import Holder, Tensor
from ..core.torch_function import PLAIN
from ..ops.create import factories
from ..state.tracebacks import shorten
from . import functions
from .functions.conversion import host
from .functions.registration import raise_numpy_errors

if TYPE_CHECKING:
    import numpy  # noqa: TID251  # for its dtypes
    from typing_extensions import TypeVar

    Shape_co = TypeVar(
        "Shape_co", bound=tuple[Any, ...], default=tuple[Any, ...], covariant=True
    )  # fmt: skip
    Dtype_co = TypeVar(
        "Dtype_co", bound=numpy.dtype[Any], default=numpy.dtype[Any], covariant=True
    )  # fmt: skip
else:
    from typing import TypeVar

    #: Type parameters of NumPy's array, for type checkers.
    Shape_co = TypeVar("Shape_co", covariant=True)
    Dtype_co = TypeVar("Dtype_co", covariant=True)


class ndarray(Holder, Generic[Shape_co, Dtype_co]):
    """A multi-dimensional array with NumPy's methods, operators and attributes, and gradients.

    It holds a Tensor, and with it memory and a place in the graph: ``np.asarray(tensor)`` and
    ``tt.as_tensor(array)`` convert one to the other without a copy. ``np.array``, ``np.zeros`` and
    the other functions are the usual way to make one.

    Args:
        shape: The sizes.
        dtype: Default float64.
        buffer: Object whose memory to share; default: new memory, which is not initialized.
        offset: Offset of the first element in the buffer, in bytes.
        strides: Steps along each dimension, in bytes; default row-major.
        order: Accepted for ``"C"``.

    Example:
        >>> a = np.array([3, 1, 2])
        >>> a.sort()
        >>> a / 2
        array([0.5, 1. , 1.5])
    """

    __slots__ = ("_scalar",)
    __module__ = "tinytorch.numpy"
    #: Whether this 0-d array stands for one of NumPy's scalars: it is immutable and hashable, and
    #: an index that is one counts as an integer. ``np.array(1)`` is a 0-d array, not a scalar.
    _scalar: bool
    #: NumPy's operators defer to these: a NumPy array times such an array is one of these.
    __array_priority__ = 1001.0

    def __new__(
        cls, shape: int | Sequence[int], dtype: Any = float, buffer: Any = None, offset: int = 0,
        strides: Sequence[int] | None = None, order: str | None = None,
    ) -> ndarray:  # fmt: skip
        if buffer is None and strides is None:
            return make_instance(cls, functions.empty(shape, dtype), None)
        memory = buffer._host() if isinstance(buffer, ndarray) else buffer
        made = host().ndarray(shape, numpy_dtype(dtype), memory, offset, strides, order)
        return make_instance(cls, factories.as_tensor(made), None)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            try:
                # NumPy's scalars have methods that its arrays lack, for example `is_integer`.
                if name[0] != "_" and self._scalar and hasattr(self.dtype.type, name):
                    return getattr(self._host()[()], name)
                raise AttributeError(
                    f"'ndarray' object has no attribute {name!r}", name=name, obj=self
                )
            except Exception as error:
                shorten(error)
                raise

    # -- attributes ------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes; assigning sizes with the same number of elements reshapes the array."""
        return self._tensor._data.shape  # type: ignore[no-any-return]

    @shape.setter
    @raise_numpy_errors
    def shape(self, shape: int | Sequence[int]) -> None:
        tensor: Any = self._tensor
        try:
            self._tensor = tensor.view(shape)
        except RuntimeError:
            if math.prod(_sizes(shape)) != self.size:
                raise
            text = "Incompatible shape for in-place modification. Use `.reshape()` to make a copy"
            raise AttributeError(f"{text} with the desired shape.") from None

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._tensor._data.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self._tensor._data.size)

    @property
    def dtype(self) -> Dtype_co:
        """The dtype, NumPy's own; assigning another reinterprets the memory."""
        return self._tensor._data.dtype  # type: ignore[no-any-return]

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        self._tensor = self.view(dtype)._tensor  # type: ignore[attr-defined]

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return int(self._tensor._data.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return int(self._tensor._data.nbytes)

    @property
    def strides(self) -> tuple[int, ...]:
        """Steps along each dimension, in bytes."""
        return tuple(self._tensor._data.strides)

    @property
    def flags(self) -> Any:
        """Flags of the array library: layout of the memory, and whether it may be written to."""
        return (self._host()[()] if self._scalar else self._tensor._data).flags

    @property
    def backend(self) -> Backend:
        """The backend that holds the memory; ``str()`` of it is its name."""
        return self._tensor._xp

    @property
    def device(self) -> str:
        """The device: ``"cpu"``, or the array API's name of another."""
        return str(self._tensor.device)

    @property
    def base(self) -> ndarray | None:
        """The array that this is a view of, or None."""
        base = self._tensor._base
        return None if base is None else array_of_tensor(base)

    @property
    def data(self) -> memoryview:
        """The memory as a ``memoryview``."""
        return memoryview(self._host())

    @property
    def ctypes(self) -> Any:
        """Address and sizes of the memory for ``ctypes``; see ``numpy.ndarray.ctypes``."""
        return self._host().ctypes

    @property
    def T(self) -> ndarray:
        """The array with its dimensions in reverse order, a view."""
        return wrap_like(self, functions.transpose(self._tensor))

    @property
    def mT(self) -> ndarray:
        """The array with its last two dimensions swapped, a view."""
        if self.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return array_of_tensor(self._tensor.swapaxes(-2, -1))  # type: ignore[attr-defined]

    @property
    def real(self) -> ndarray:
        """The real parts, a view."""
        return wrap_like(self, functions.real(self._tensor))

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value  # type: ignore[index]

    @property
    def imag(self) -> ndarray:
        """The imaginary parts: a view of a complex array, zeros for a real one."""
        if self._tensor._data.dtype.kind == "c":
            return wrap_like(self, self._tensor.imag)  # type: ignore[attr-defined]
        return wrap_like(self, functions.zeros_like(self._tensor))

    @imag.setter
    def imag(self, value: Any) -> None:
        if self._tensor._data.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        self.imag[...] = value  # type: ignore[index]

    # -- gradients -------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this array; see ``tinytorch.Tensor.requires_grad``."""
        return self._tensor.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._tensor.requires_grad = value

    @property
    def grad(self) -> ndarray | None:
        """The gradient that backward passes have accumulated, or None."""
        grad = self._tensor.grad
        return None if grad is None else array_of_tensor(grad)

    @grad.setter
    def grad(self, value: ndarray | None) -> None:
        self._tensor.grad = None if value is None else value._tensor

    def backward(self, gradient: Any = None, retain_graph: bool | None = None) -> None:
        """Add the gradient of this array to ``grad`` of every leaf it was computed from.

        Args:
            gradient: Gradient with respect to this array; needed unless it has one element.
            retain_graph: Keep what the graph saved, for another backward pass.

        Example:
            >>> w = np.array([1.0, 2.0])
            >>> w.requires_grad = True
            >>> (w**2).sum().backward()
            >>> w.grad
            array([2., 4.])
        """
        g = None if gradient is None else functions.asarray(_unwrap(gradient))
        self._tensor.backward(g, retain_graph)

    def detach(self) -> ndarray:
        """The same memory, detached from the graph.

        Example:
            >>> w = np.array([1.0, 2.0])
            >>> w.requires_grad = True
            >>> (2 * w).detach().requires_grad
            False
        """
        return wrap_like(self, self._tensor.detach())

    @classmethod
    def around(cls, tensor: Any) -> Self:
        """The array that holds ``tensor``.

        Example:
            >>> np.ndarray.around(tt.ones(2))
            array([1., 1.], dtype=float32)
        """
        array = object.__new__(cls)
        array._tensor = tensor
        array._scalar = False
        return array

    # -- items -----------------------------------------------------------------------------------

    def __delitem__(self, key: Any) -> None:
        raise ValueError("cannot delete array elements")

    def __len__(self) -> int:
        shape = self._tensor._data.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return int(shape[0])

    def __iter__(self) -> Iterator[ndarray]:
        if not self._tensor._data.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))  # type: ignore[index]

    def __contains__(self, element: Any) -> bool:
        return bool((self == element).any())

    # -- conversion to a number ------------------------------------------------------------------

    def item(self, *place: Any) -> Any:
        """An element as a Python number.

        Args:
            *place: Index of the element: none for the only one, one number for an index of the
                flattened array, or one number for each dimension.

        Raises:
            ValueError: Without an index, if the array has not exactly one element.

        Example:
            >>> np.array([[1, 2], [3, 4]]).item(1, 0)
            3
        """
        if not place:
            if self.size != 1:
                raise ValueError("can only convert an array of size 1 to a Python scalar")
            return self._tensor.item()
        where = place[0] if len(place) == 1 else place
        flat = not isinstance(where, tuple)
        tensor: Any = functions.ravel(self._tensor) if flat else self._tensor
        return tensor[where].item()

    def _number(self) -> Any:
        """Array of the backend's library or NumPy, for ``int()``, ``float()`` and ``complex()``."""
        tensor = self._tensor
        return tensor._data if tensor.__class__ in PLAIN else self._host()

    def __bool__(self) -> bool:
        if self._tensor._data.size != 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. "
                "Use a.any() or a.all()"
                if self.size
                else "The truth value of an empty array is ambiguous. "
                "Use `array.size > 0` to check that an array is not empty."
            )
        return bool(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __float__(self) -> float:
        return float(self._number())

    def __complex__(self) -> complex:
        return complex(self._number())

    def __index__(self) -> int:
        if self._tensor._data.dtype.kind not in "iu" or self._tensor._data.shape:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self._number())

    @overload
    def __round__(self, ndigits: None = None) -> int: ...
    @overload
    def __round__(self, ndigits: int) -> ndarray: ...
    def __round__(self, ndigits: int | None = None) -> Any:
        if ndigits is None:
            return round(self._host().item())
        return wrap_result(functions.round(self._tensor, ndigits))

    def __hash__(self) -> int:
        if not self._scalar:
            raise TypeError("unhashable type: 'ndarray'")
        return hash(self._host().item())

    # -- conversion to text ----------------------------------------------------------------------

    def __repr__(self) -> str:
        return str(self) if self._scalar else str(host().array_repr(self._host()))

    def __str__(self) -> str:
        if self._tensor._data.shape:
            return str(host().array_str(self._host()))
        return str(self._host()[()])

    def __format__(self, spec: str) -> str:
        if self._tensor._data.shape:
            return object.__format__(self, spec)
        return format(self._host()[()], spec)

    # -- conversion for other libraries ----------------------------------------------------------

    def _host(self) -> Any:
        """NumPy's own array of the elements; on the NumPy backend it shares the memory."""
        return self._tensor.detach().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._tensor.__array__(dtype, copy)

    @property
    def __array_interface__(self) -> Any:
        return self._tensor.detach().__array_interface__  # type: ignore[attr-defined]

    def __dlpack__(
        self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None, copy: bool | None = None,
    ) -> Any:  # fmt: skip
        tensor: Any = self._tensor
        options = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
        return tensor.__dlpack__(stream=-1 if stream is None else stream, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._tensor.__dlpack_device__()  # type: ignore[attr-defined, no-any-return]

    def to_device(self, device: Any, /, *, stream: Any = None) -> ndarray:
        """The array on another device.

        Args:
            device: Argument of ``tinytorch.device``.
            stream: Must be None.

        Example:
            >>> np.zeros(2).to_device("cpu").device
            'cpu'
        """
        if stream is not None:
            raise ValueError(f"to_device(): stream must be None, got {stream!r}")
        return wrap_like(self, self._tensor.to(device=device))  # type: ignore[attr-defined]

    # -- copies and pickles ----------------------------------------------------------------------

    def __copy__(self) -> ndarray:
        return wrap_like(self, self._tensor.clone())  # type: ignore[attr-defined]

    def __deepcopy__(self, memo: dict[int, Any]) -> ndarray:
        return wrap_like(self, copy.deepcopy(self._tensor.detach(), memo))

    def __reduce__(self) -> Any:
        return wrap_result if self._scalar else array_of_tensor, (self._tensor.detach(),)

    def __class_getitem__(cls, item: Any) -> GenericAlias:
        return GenericAlias(cls, item)

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call ``func``, one of PyTorch's functions, with the Tensors that arrays hold."""
        named = {name: _unwrap(value) for name, value in (kwargs or {}).items()}
        return func(*map(_unwrap, args), **named)


def array_of_tensor(tensor: Any) -> ndarray:
    """Array that holds a Tensor: a faster ``ndarray.around``."""
    array = object.__new__(ndarray)
    array._tensor = tensor
    array._scalar = False
    return array


def wrap_result(tensor: Any) -> ndarray:
    """Array that holds a function's result; a 0-d result is a scalar, as in NumPy."""
    array = object.__new__(ndarray)
    array._tensor = tensor
    array._scalar = not tensor._data.shape
    return array


def wrap_like(array: ndarray, tensor: Tensor) -> ndarray:
    """Wrap a Tensor computed from ``array``: in its class, and as a scalar if it is one.

    If ``tensor`` is the one that ``array`` holds, ``array`` itself is returned.
    """
    if tensor is array._tensor:
        return array
    if array.__class__ is not ndarray:
        return as_class_of(array, array_of_tensor(tensor))  # type: ignore[no-any-return]
    return wrap_result(tensor) if array._scalar else array_of_tensor(tensor)


def as_class_of(array: ndarray, result: Any) -> Any:
    """Convert the arrays of a result to the class of ``array``; see ``make_instance``."""
    if isinstance(result, (tuple, list)):
        parts = [as_class_of(array, part) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    if result.__class__ is not ndarray:
        return result
    return make_instance(type(array), result._tensor, array)


def make_instance(cls: type[ndarray], tensor: Any, source: ndarray | None) -> ndarray:
    """Array of a class that holds ``tensor``, after its ``__array_finalize__(source)`` has run."""
    made = cls.around(tensor)
    finalize = getattr(made, "__array_finalize__", None)
    if finalize is not None:
        finalize(source)
    return made


def _sizes(shape: int | Sequence[int]) -> tuple[int, ...]:
    """Tuple of sizes from an integer or a sequence."""
    return (shape,) if isinstance(shape, int) else tuple(shape)


def numpy_dtype(dtype: Any) -> numpy.dtype[Any]:
    """NumPy's own dtype from anything that it accepts as one."""
    return host().dtype(dtype)  # type: ignore[no-any-return]


def _unwrap(value: Any) -> Any:
    """Replace arrays in an argument and in its lists and tuples by the Tensors that they hold."""
    if isinstance(value, Holder):
        return value._tensor
    if value.__class__ is list or value.__class__ is tuple:
        return type(value)(map(_unwrap, value))
    return value
