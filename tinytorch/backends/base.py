"""The contract of a backend, with defaults for everything but the library itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy

from .. import dtypes
from . import low_precision
from .default_operations import SmallArrays, SpecialFunctions, lane_starts, row_starts
from .devices import Array as Array
from .storage import shares_elements, whole_memory


class Backend(SpecialFunctions):
    """Array library behind tensors: the ``xp`` of every kernel.

    Kernels use NumPy's names on their first argument ``xp``. A name that this class does not
    define is the library's own (``xp.sin`` is ``numpy.sin``). Operations that libraries implement
    differently are methods of this class, so that kernels need not distinguish backends.

    A backend sets three attributes and overrides the methods that its library needs:

    Attributes:
        name: Name for ``tt.set_backend`` and ``tt.get_backend``.
        library: Module whose functions have NumPy's names.
        array_type: The class of the library's arrays.
        device_type: The type of ``Tensor.device``.
        block_elements: Elements per block when kernels of several passes process a large array
            in blocks that fit the processor's cache; None to never do so.
        column_bytes: Most bytes that the columns of a convolution may take at a time.

    Example:
        >>> xp = tt.zeros(2).backend
        >>> isinstance(xp, tt.Backend), str(xp)
        (True, 'numpy')
    """

    name: str
    library: ModuleType
    array_type: type
    device_type: str = "cpu"
    block_elements: int | None = None
    column_bytes: int = 1 << 28

    def __new__(cls, *args: Any, **options: Any) -> Self:
        backend = super().__new__(cls)
        if hasattr(cls, "library"):
            backend.serve_library()
        # An attribute of the instance is three times as fast to read as one of the class.
        setattr(backend, "refuses_writes", cls.refuses_writes)
        return backend

    def serve_library(self) -> None:
        """Set the names of the library that this class does not define as attributes.

        Called when a backend is created, or when it is registered if its class has no
        ``library``. NumPy's functions are set without their ``__array_function__`` dispatch.
        Attributes are used because a ``__getattr__`` would make all other look-ups twice as slow.
        """
        cls = type(self)
        for name, value in vars(self.library).items():
            if not name.startswith("_") and not hasattr(cls, name):
                setattr(self, name, self.served(name, getattr(value, "_implementation", value)))

    def served(self, name: str, value: Any) -> Any:
        """Return the object that kernels get for ``name`` of the library. Default: ``value``."""
        return value

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def __reduce__(self) -> tuple[Callable[[str], Backend], tuple[str]]:
        return self.registry.load, (self.name,)

    # -- dtypes ---------------------------------------------------------------------

    def native_dtype(self, dtype: dtypes.dtype) -> Any:
        """Return the library's object for ``dtype``; raise TypeError if there is none."""
        if not self.supports(dtype):
            why = low_precision.missing(dtype, self.low)
            raise TypeError(f"backend {self.name!r} has no dtype {dtype.name!r}{why}")
        return dtype.dtype

    #: Reduced-precision dtypes that arrays can have if the package ``ml_dtypes`` is installed.
    low: frozenset[dtypes.dtype] = frozenset(dtypes.LOW)

    def supports(self, dtype: dtypes.dtype) -> bool:
        """Whether arrays can have ``dtype``."""
        native = dtype.dtype
        if native is not None and native.num < 256:  # one of NumPy's own
            return True
        if dtype in Backend.low:
            return dtype in self.low and low_precision.bind()
        return dtype.dtype is not None

    def exposes(self, dtype: dtypes.dtype) -> bool:
        """Whether ``tt.NAME`` returns ``dtype`` while the backend is active."""
        return self.supports(dtype)

    def names_of_dtypes(self) -> set[str]:
        """Names of the supported dtypes, as far as is known without an import."""
        if type(self).supports is not Backend.supports:
            return {name for name, dtype in dtypes.NAMES.items() if self.supports(dtype)}
        low = self.low if low_precision.is_there() else frozenset[dtypes.dtype]()
        return {
            name for name, dtype in dtypes.NAMES.items()
            if (dtype in low if dtype in Backend.low else dtype.dtype is not None)
        }  # fmt: skip

    #: Operations for which ``kernel_accepts_reduced`` may return True.
    low_kernels: ClassVar[frozenset[str]] = frozenset()

    def kernel_accepts_reduced(self, name: str, arrays: Sequence[Array], recorded: bool) -> bool:
        """Whether a kernel accepts reduced-precision arrays, computes in float32 and rounds once.

        Args:
            name: Name of the operation.
            arrays: Its operands, of which at least one has a reduced-precision dtype.
            recorded: Whether the call is recorded for gradients.
        """
        return False

    def dtype_of(self, array: Array) -> dtypes.dtype:
        """Return the dtype of an array; raise TypeError if PyTorch has no such dtype."""
        return _DTYPE_OF_CHAR.get(array.dtype.char) or self.dtype_of_native(array.dtype)

    def dtype_of_native(self, native: Any) -> dtypes.dtype:
        """Return the dtype for the library's dtype object ``native``."""
        try:
            return _DTYPE_OF_CHAR[native.char]
        except KeyError:
            low = _LOW.get(native.name)
            if low is not None and low_precision.bind():
                if low is dtypes.bfloat16:  # the others share characters with complex
                    _DTYPE_OF_CHAR[native.char] = low
                return low
            raise TypeError(
                f"can't convert np.ndarray of type numpy.{native.type.__name__} ({native}). "
                "The only supported types are: "
                + ", ".join(d.name for d in dtypes.ALL if d.dtype is not None)
            ) from None

    # -- conversion -----------------------------------------------------------------

    def to_numpy(self, array: Array) -> numpy.ndarray[Any, Any]:
        """Convert ``array`` to a NumPy array that shares its memory if the library can."""
        return numpy.asarray(array)

    def from_numpy(self, array: numpy.ndarray[Any, Any]) -> Array:
        """Convert a NumPy array to one of this library that shares its memory if possible."""
        return self.library.asarray(array)

    def item(self, array: Array) -> Any:
        """Return the only element as a Python scalar. The host waits for the device."""
        return array.item()

    def scalar(self, array: Array) -> Any:
        """Return the only element as a Python number of an optimizer's formulas.

        A backend that records returns a number that differs between replays.
        """
        return self.item(array)

    def increase(self, array: Array, by: float) -> Any:
        """Add to the only element, a count; return the sum as ``scalar`` does."""
        array[...] = self.scalar(array) + by
        return self.scalar(array)

    def convert(self, data: Any, dtype: dtypes.dtype | None = None) -> Array:
        """Create an array from scalars, nested sequences or arrays of other libraries."""
        if dtype is None:
            host = numpy.array(data)
        elif dtype.itemsize == 1 and dtype in dtypes.FLOAT8:
            host = low_precision.cast(numpy.array(data, "float32"), self.native_dtype(dtype))
        else:
            host = numpy.array(data, self.native_dtype(dtype))
        return self.from_numpy(host)

    def adopt(self, data: Any) -> Any:
        """Wrap an array of the library in the class of this backend's arrays.

        Args:
            data: Any object; one that needs no wrapping is returned itself.
        """
        return data

    def unwrap(self, tensor: Any) -> Any:
        """Return the library's array that a tensor, or an array of this backend, holds.

        Example:
            >>> x = tt.zeros(2)
            >>> type(x.backend.unwrap(x))
            <class 'numpy.ndarray'>
        """
        return getattr(tensor, "_data", tensor)

    def is_view(self, out: Array, source: Array) -> bool:
        """Whether ``out``, made from ``source`` by a shape operation, shares its memory."""
        if out is source:
            return True
        base = out.base
        if base is None or base is source or base is source.base:
            return base is not None
        return bool(self.owner(out) == self.owner(source))

    def owner(self, array: Array) -> Any:
        """Return a key of the memory of ``array``, which all views of that memory share."""
        while (base := getattr(array, "base", None)) is not None:
            array = base
        return id(array)

    def address(self, array: Array) -> int:
        """Address of the first element of ``array``, in bytes."""
        return int(array.__array_interface__["data"][0])

    def memory(self, array: Array) -> tuple[Array, int] | None:
        """Return the whole memory block of ``array`` as a one-dimensional array of its dtype.

        Returns:
            That array and the offset of ``array`` in it, in elements; None if there is no such
            array, because the memory has gaps or ``array`` has a negative stride.
        """
        return whole_memory(self, array)

    def diagonal(self, array: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
        """View of the diagonals of two dimensions as the last one; writable if ``array`` is."""
        return self.library.diagonal(array, offset, axis1, axis2)

    def as_strided(self, array: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
        """Writable view with the given shape and strides in bytes. The caller checks bounds."""
        return self.library.lib.stride_tricks.as_strided(array, tuple(shape), tuple(strides))

    # -- operations that libraries implement differently ------------------------------------------

    def lu(self, matrix: Array) -> tuple[Array, Array, Array] | None:
        """LU factors in one matrix, LAPACK's pivots and ``info``; None as for ``ldl``."""
        return None

    def rows_from_pivots(self, pivots: Array, size: int) -> Array | None:
        """The old index of each of ``size`` rows after LAPACK's swaps; None as for ``lu``."""
        return None

    def ldl(self, matrix: Array, hermitian: bool) -> tuple[Array, Array, Array] | None:
        """LAPACK's LDL factors, pivots and ``info``; None to use the generic algorithm."""
        return None

    def loses_nan(self, matrix: Array) -> bool:
        """Whether the library may return numbers where the solutions for ``matrix`` are NaN."""
        return False

    def is_moderate(self, array: Array, axis: int) -> bool:
        """Whether ``exp`` does not overflow, and does not underflow everywhere along ``axis``.

        Softmax then needs no subtraction of the maximum along ``axis``. True is returned only
        if this check costs less than the subtraction.
        """
        return False

    def is_finite(self, array: Array) -> bool | None:
        """Whether all elements are finite; None if the host would have to wait for the device."""
        return bool(self.isfinite(array).all())

    def sum_along(self, array: Array, axis: int) -> Array:
        """Sum along ``axis``, which stays with size 1."""
        return self.sum(array, axis, None, None, True)

    def highest(self, array: Array, axis: int) -> Array:
        """Maximum along ``axis``, which stays with size 1."""
        return array.max(axis, None, True)

    def one_of_each_row(self, array: Array, index: Array) -> Array:
        """Element ``index[i]`` of row ``i`` of a row-major array; ``index`` is int64 and valid."""
        return array.reshape(-1)[index + self.row_starts[array.shape]]

    @cached_property
    def row_starts(self) -> SmallArrays:
        """Offsets of the first elements of rows, by shape."""
        return SmallArrays(self, partial(row_starts, self))

    @cached_property
    def lane_starts(self) -> SmallArrays:
        """Offsets of the lanes along a dimension; see ``default_operations.lane_starts``."""
        return SmallArrays(self, partial(lane_starts, self))

    def astype(self, array: Array, dtype: Any) -> Array:
        """Cast to another native dtype; ``array`` itself if it has that dtype."""
        return array.astype(dtype, copy=False)

    def masked(self, array: Array, mask: Array) -> Array:
        """``array`` where ``mask`` is True, else 0. The two broadcast."""
        return self.library.where(mask, array, 0)

    def between(self, array: Array, low: Any, high: Any) -> Array:
        """Clamp ``array`` to at least ``low`` and then at most ``high``; None for no bound.

        An element equal to a bound stays as it is, so that -0.0 is kept. NumPy's ``maximum``
        returns its second operand of two equal ones, as the processor's instruction does.
        """
        if low is not None:
            array = self.library.maximum(low, array)
        return array if high is None else self.library.minimum(high, array)

    def add_scaled(
        self, target: Array, array: Array, scale: float, keep: float = 1.0,
        buffer: Array | None = None,
    ) -> None:  # fmt: skip
        """``target = keep * target + scale * array`` in place; ``buffer`` is scratch memory."""
        if keep != 1.0:
            self.multiply(target, keep, out=target)
        if scale != 1.0:
            array = self.multiply(array, scale, out=buffer)
        self.add(target, array, out=target)

    def sum_of_products(self, a: Array, b: Array) -> Array:
        """Sum of ``a * b`` over the last dimension, which stays with size 1."""
        return self.sum(a * b, axis=-1, keepdims=True)

    def square_total(self, array: Array) -> Any:
        """Sum of the squares of all elements of a real array."""
        return self.sum(array * array)

    def squared_deviation(self, array: Array, mean: Array) -> Any:
        """Sum in float64 of the squares of a real array's elements less their ``mean``."""
        centered = self.astype(array - mean, "float64")
        return self.sum(centered * centered)

    def squared_deviations(self, array: Array, axes: Any, keepdims: bool) -> Array | None:
        """Sums in float64 of the squares of a real array's distances from the means along axes.

        None if the library does not compute them while it reads the array once.
        """
        return None

    def raising(self) -> AbstractContextManager[object]:
        """Context in which a failed factorization raises ``xp.linalg.LinAlgError``."""
        return nullcontext()

    def errstate(self, **options: Any) -> AbstractContextManager[object]:
        """Context that sets the handling of floating-point errors, which devices do not report."""
        return nullcontext()

    #: Whether arrays have values; those of the device ``meta`` have none.
    has_numbers: ClassVar[bool] = True

    def check_numbers(self) -> None:
        """Raise NotImplementedError if arrays have no values to read."""
        if not self.has_numbers:
            raise NotImplementedError(f"Not available for {self.device_type!r} device type")

    #: Whether the library truncates floats in a slice to integers.
    truncates_slices: ClassVar[bool] = False
    #: Whether the library's ``take`` raises IndexError where an index is out of bounds.
    checks_indices: ClassVar[bool] = False

    #: Whether calls are recorded. True for the namespace of gradient rules under
    #: ``create_graph``, whose operands are Tensors that a rule must not write to.
    records: ClassVar[bool] = False

    #: The backend whose calls this one records for ``tt.compile``; None for all others. The one
    #: that records is ``capture.backend.RecordingBackend``, which has further methods.
    recorded: ClassVar[Backend | None] = None
    #: Engine of ``tt.compile`` that runs recorded programs; "" if functions run eagerly.
    engine: ClassVar[str] = ""
    #: Number of threads that record now.
    recordings: ClassVar[int] = 0

    #: Whether the library itself raises on a write to an array that is ``readonly``.
    refuses_writes: ClassVar[bool] = True

    def readonly(self, array: Array) -> bool:
        """Whether ``array`` must not be written: several of its elements share one memory."""
        return not array.flags.writeable

    def memory_is_readonly(self, array: Array) -> bool:
        """Whether the memory of ``array`` is read-only, whatever the layout of ``array``."""
        owner = part = array
        while (part := getattr(part, "base", None)) is not None:
            owner = part if hasattr(part, "flags") else owner
        return not owner.flags.writeable

    def writable(self, array: Array) -> Array:
        """Return ``array`` as writable, also if it is a part of an expanded one.

        Raises:
            ValueError: If several of its elements share one memory.
        """
        if not array.flags.writeable:
            if shares_elements(array):
                raise ValueError("one element stands for many")
            array = array.view()
            try:
                array.flags.writeable = True
            except ValueError:  # NumPy does not look for the memory behind a window by strides
                array = self.writable_view(array)
        return array

    def writable_view(self, array: Array) -> Array:
        """Writable view even if elements share one memory: the value written last stays."""
        found = self.memory(array)
        if found is None:  # an array without elements
            return array
        flat, start = found
        return self.as_strided(flat[start:], array.shape, array.strides)

    #: Whether the library may trace a function, which then must not change state from outside.
    traces: ClassVar[bool] = False

    def check_state(self, array: Array) -> None:
        """Raise RuntimeError if a function that is traced changes state that it did not make.

        Args:
            array: The state, or the parameter to which it belongs.
        """

    def check_not_compiling(self, what: str) -> None:
        """Raise RuntimeError if ``what`` happens in a function that is traced to run later."""

    def blockwise(self, function: Callable[..., Array], *arrays: Array, unit: int = 1) -> Array:
        """Compute ``function(*arrays)``, block by block if the backend does so.

        Args:
            function: Function that works element by element or along the last dimension.
            arrays: Arrays of one shape, or 0-d.
            unit: Number of consecutive elements that a block must not split: 1, or a row.

        Returns:
            Array with the shape of the last array and the dtype of the first.
        """
        return function(*arrays)

    def in_parts(
        self, work: Callable[[int, int], Any], count: int, products: bool = False
    ) -> list[Any]:
        """Results of ``work(start, stop)`` for the parts of ``range(count)``, in order.

        Here the whole range is one part; a backend can compute several parts in threads.

        Args:
            work: Function of the bounds of a part.
            count: Size of the range.
            products: Whether matrix products take most of the time of ``work``.
        """
        return [work(0, count)]

    def row_after_row(self, row: int, size: int) -> AbstractContextManager[None]:
        """Context for operations on an array and one value for each of its rows.

        Args:
            row: Number of elements of a row.
            size: Number of elements of the array.
        """
        return nullcontext()

    #: Whether the backend has any fused kernel of its own.
    fuses: ClassVar[bool] = True

    def fused(self, name: str, *args: Any) -> Any:
        """Result of the backend's fused kernel ``name``; None if it has none for these ``args``."""
        kernel = self.kernel(name)
        return None if kernel is None else kernel(*args)

    def total(self, array: Array) -> Any:
        """Sum of all elements as a 0-d array; int64 for integers and bools."""
        integers = array.dtype.kind in "biu"
        return self.asarray(self.sum(array, dtype=self.library.int64 if integers else None))

    def number(self, dtype: Any) -> Callable[[float], Any]:
        """Return a function that converts a Python scalar for a ufunc with arrays of ``dtype``."""
        return _identity

    def constants(self, array: Array, *numbers: float) -> Sequence[Any]:
        """Return Python scalars in the form that an operation with a float ``array`` takes fastest.

        The dtype of the result is that of ``array`` in either form.
        """
        return numbers

    def kernel(self, name: str) -> Callable[..., Any] | None:
        """Return the backend's fused kernel for ``name``; None to use the generic one."""
        return None

    def call(self, operation: Any, *args: Any, **kwargs: Any) -> Any:
        """Run the kernel of another operation on raw arrays, inside a kernel or gradient rule."""
        return operation.kernel(self, *args, **kwargs)

    # -- devices and randomness ---------------------------------------------------------

    def device_index(self, array: Array) -> int | None:
        """Index of the device that holds ``array``; None if the backend has one device."""
        return None

    def synchronize(self) -> None:
        """Wait until all work queued on the device is done."""

    def devices(self) -> list[str]:
        """Names of the usable devices, such as ``["cuda:0"]``."""
        return [self.device_type]

    def make_generator(self, seed: int) -> Any:
        """Create a generator of PyTorch's CPU streams that returns arrays of this library."""
        from .rng.mt19937 import HostGenerator

        return HostGenerator(self, seed)

    def info(self) -> dict[str, str]:
        """Facts for ``python -m tinytorch --info``."""
        version = getattr(self.library, "__version__", "unknown")
        return {"library": self.library.__name__, "version": str(version)}


def _bind_numpy_twins() -> dict[str, dtypes.dtype]:
    """Set each ``dtype.dtype`` to NumPy's dtype; return the dtypes by NumPy's character codes."""
    by_char: dict[str, dtypes.dtype] = {}
    for dtype in dtypes.ALL:
        if dtype in dtypes.LOW:
            continue  # NumPy has no such types
        dtype.dtype = numpy.dtype(dtype.name)
        by_char[dtype.dtype.char] = dtype
    # Two of C's int, long and long long have one size but distinct types, by platform.
    for char in "ilqILQ":
        by_char.setdefault(char, dtypes.NAMES[numpy.dtype(char).name])
    return by_char


_DTYPE_OF_CHAR = _bind_numpy_twins()
_LOW = {dtype.name: dtype for dtype in dtypes.LOW}


def _identity(number: float) -> float:
    return number
