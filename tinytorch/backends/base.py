"""The contract of a backend, with defaults for everything but the library itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy

from .. import dtypes
from . import low_precision
from .default_operations import RowStarts, SpecialFunctions
from .devices import Array as Array
from .storage import whole_memory


class Backend(SpecialFunctions):
    """An array library, as the kernels see it.

    A kernel calls its first argument ``xp`` with NumPy's names: a name this class does not define
    is the library's own (``xp.sin`` is ``numpy.sin``). What libraries disagree on is a method here,
    so that no kernel asks which backend it runs on.

    A backend sets three attributes and overrides what its library does differently:

    Attributes:
        name: What ``tt.set_backend`` and ``tt.get_backend`` call it.
        library: The module whose functions follow NumPy's names.
        array_type: The class of the library's arrays.
        device_type: The type of ``Tensor.device``.
        block_elements: Elements per block in which kernels of several passes walk through
            large arrays, so that a block stays in the processor's cache; None for never.
        column_bytes: How much memory the columns of a convolution may take at a time.

    Example:
        >>> import tinytorch as tt
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
        setattr(backend, "refuses_writes", cls.refuses_writes)  # found there in a third of the time
        return backend

    def serve_library(self) -> None:
        """Give kernels the library's names that this class does not define.

        Called when a backend is made, or registered if its class names no ``library``. NumPy's
        functions are taken without the look for foreign arrays among their arguments. (Names in
        the place of a ``__getattr__``, which makes every other look-up twice as slow.)
        """
        cls = type(self)
        for name, value in vars(self.library).items():
            if not name.startswith("_") and not hasattr(cls, name):
                setattr(self, name, self.served(name, getattr(value, "_implementation", value)))

    def served(self, name: str, value: Any) -> Any:
        """What kernels get for ``name`` of the library: ``value``, unless a backend wraps it."""
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
        """The library's object for ``dtype``; TypeError if it has none."""
        if not self.supports(dtype):
            why = low_precision.missing(dtype, self.low)
            raise TypeError(f"backend {self.name!r} has no dtype {dtype.name!r}{why}")
        return dtype.dtype

    #: Of which dtypes below float32 there are arrays, where the package ``ml_dtypes`` is installed.
    low: frozenset[dtypes.dtype] = frozenset(dtypes.LOW)

    def supports(self, dtype: dtypes.dtype) -> bool:
        """Whether arrays of ``dtype`` can be made."""
        if dtype in Backend.low:
            return dtype in self.low and low_precision.bind()
        return dtype.dtype is not None

    def names_of_dtypes(self) -> set[str]:
        """Names of the dtypes that are supported, as far as can be told without an import."""
        if type(self).supports is not Backend.supports:
            return {name for name, dtype in dtypes.NAMES.items() if self.supports(dtype)}
        low = self.low if low_precision.is_there() else frozenset[dtypes.dtype]()
        return {
            name for name, dtype in dtypes.NAMES.items()
            if (dtype in low if dtype in Backend.low else dtype.dtype is not None)
        }  # fmt: skip

    #: Operations of which ``takes_low`` may be true.
    low_kernels: ClassVar[frozenset[str]] = frozenset()

    def takes_low(self, name: str, arrays: Sequence[Array], recorded: bool) -> bool:
        """Whether an operation's kernel computes in float32 and rounds once by itself.

        Args:
            name: The operation's.
            arrays: Its operands, of which one at least is of a dtype below float32.
            recorded: Whether gradients are wanted.
        """
        return False

    def dtype_of(self, array: Array) -> dtypes.dtype:
        """The dtype of an array; TypeError for one that torch has no word for."""
        return self.dtype_of_native(array.dtype)

    def dtype_of_native(self, native: Any) -> dtypes.dtype:
        """The dtype the library's object ``native`` stands for."""
        try:
            return _DTYPE_OF_CHAR[native.char]
        except KeyError:
            low = _LOW.get(native.name)
            if low is not None and low_precision.bind():
                if low is dtypes.bfloat16:  # a float8's letter is a complex type's of NumPy, too
                    _DTYPE_OF_CHAR[native.char] = low
                return low
            raise TypeError(
                f"can't convert np.ndarray of type numpy.{native.type.__name__} ({native}). "
                "The only supported types are: "
                + ", ".join(d.name for d in dtypes.ALL if d.dtype is not None)
            ) from None

    # -- conversion -----------------------------------------------------------------

    def to_numpy(self, array: Array) -> numpy.ndarray[Any, Any]:
        """The array as a NumPy array; shares memory where the library can."""
        return numpy.asarray(array)

    def from_numpy(self, array: numpy.ndarray[Any, Any]) -> Array:
        """A NumPy array as one of this library; shares memory where the library can."""
        return self.library.asarray(array)

    def item(self, array: Array) -> Any:
        """The one element of an array as a Python number; the host waits for the device."""
        return array.item()

    def convert(self, data: Any, dtype: dtypes.dtype | None = None) -> Array:
        """A new array from numbers, nested sequences or foreign arrays."""
        if dtype is None:
            host = numpy.array(data)
        elif dtype in dtypes.FLOAT8:
            host = low_precision.cast(numpy.array(data, "float32"), self.native_dtype(dtype))
        else:
            host = numpy.array(data, self.native_dtype(dtype))
        return self.from_numpy(host)

    def is_view(self, out: Array, source: Array) -> bool:
        """Whether ``out``, made from ``source`` by a shape operation, shares its memory."""
        if out is source:
            return True
        base = out.base
        if base is None or base is source or base is source.base:
            return base is not None
        return bool(self.owner(out) == self.owner(source))

    def owner(self, array: Array) -> Any:
        """What tells the memory of ``array`` apart from other memory; views share it."""
        while (base := getattr(array, "base", None)) is not None:
            array = base
        return id(array)

    def address(self, array: Array) -> int:
        """Where the first element of ``array`` lies, in bytes."""
        return int(array.__array_interface__["data"][0])

    def memory(self, array: Array) -> tuple[Array, int] | None:
        """All the memory that ``array`` is a part of, as a one-dimensional array of its dtype.

        Returns:
            That array and where in it ``array`` begins, in elements; None if there is no such
            array, because the memory has gaps or ``array`` runs backwards through it.
        """
        return whole_memory(self, array)

    def diagonal(self, array: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
        """The diagonals of two dimensions, last: a view, writable if ``array`` is."""
        return self.library.diagonal(array, offset, axis1, axis2)

    def as_strided(self, array: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
        """A writable window into ``array``; ``strides`` in bytes. The caller checks bounds."""
        return self.library.lib.stride_tricks.as_strided(array, tuple(shape), tuple(strides))

    # -- operations libraries disagree on --------------------------------------------

    def lu(self, matrix: Array) -> tuple[Array, Array] | None:
        """LU factors in one matrix, and LAPACK's pivots; None where products are to do it."""
        return None

    def ldl(self, matrix: Array, hermitian: bool) -> tuple[Array, Array, Array] | None:
        """LAPACK's LDL factors, pivots and ``info``; None where products are to do it."""
        return None

    def loses_nan(self, matrix: Array) -> bool:
        """Whether the library's solutions for ``matrix`` may be numbers where they are NaN."""
        return False

    def is_moderate(self, array: Array, axis: int) -> bool:
        """Whether ``exp`` is known not to overflow, nor all of it along ``axis`` to vanish.

        The largest number along ``axis`` need not be taken off first then. Asked only where the
        answer costs less than that.
        """
        return False

    def sum_along(self, array: Array, axis: int) -> Array:
        """The sum along ``axis``, which is kept with size 1."""
        return self.sum(array, axis, None, None, True)

    def highest(self, array: Array, axis: int) -> Array:
        """The largest number along ``axis``, which is kept with size 1."""
        return array.max(axis, None, True)

    def one_of_each_row(self, array: Array, index: Array) -> Array:
        """The element of each row of a row-major array that ``index``, int64 and valid, names."""
        return array.reshape(-1)[index + self.row_starts[array.shape]]

    @cached_property
    def row_starts(self) -> RowStarts:
        """Where the rows of arrays begin, by shape."""
        return RowStarts(self)

    def astype(self, array: Array, dtype: Any) -> Array:
        """The array in another native dtype, itself if it has it already."""
        return array.astype(dtype, copy=False)

    def masked(self, array: Array, mask: Array) -> Array:
        """``array`` where ``mask`` holds, else 0; the two may broadcast."""
        return self.library.where(mask, array, 0)

    def between(self, array: Array, low: Any, high: Any) -> Array:
        """``array`` kept above ``low`` and then below ``high``; None for no bound.

        Of equal numbers the array's is taken, so that -0.0 stays, where the library decides so:
        NumPy does by the order, which is that of the processor's instruction.
        """
        if low is not None:
            array = self.library.maximum(low, array)
        return array if high is None else self.library.minimum(high, array)

    def add_scaled(
        self, target: Array, array: Array, scale: float, keep: float = 1.0,
        buffer: Array | None = None,
    ) -> None:  # fmt: skip
        """``target = keep * target + scale * array``, in place; ``buffer`` may hold a product."""
        if keep != 1.0:
            self.multiply(target, keep, out=target)
        if scale != 1.0:
            array = self.multiply(array, scale, out=buffer)
        self.add(target, array, out=target)

    def sum_of_products(self, a: Array, b: Array) -> Array:
        """The sum of ``a * b`` over the last dimension, which is kept with size 1."""
        return self.sum(a * b, axis=-1, keepdims=True)

    def raising(self) -> AbstractContextManager[object]:
        """A context in which a failed factorisation raises ``xp.linalg.LinAlgError``."""
        return nullcontext()

    def errstate(self, **options: Any) -> AbstractContextManager[object]:
        """How floating-point errors are treated inside; a device does not report them."""
        return nullcontext()

    #: Whether arrays have elements; those of the device ``meta`` have none.
    has_numbers: ClassVar[bool] = True

    def check_numbers(self) -> None:
        """NotImplementedError if arrays have no numbers to read."""
        if not self.has_numbers:
            raise NotImplementedError(f"Not available for {self.device_type!r} device type")

    #: Whether the library takes a slice of floats, as that of the integers below.
    truncates_slices: ClassVar[bool] = False
    #: Whether the library's ``take`` raises IndexError where an index is out of bounds.
    checks_indices: ClassVar[bool] = False

    #: Whether calls are recorded: True of the namespace of rules under ``create_graph``, whose
    #: operands are Tensors that a rule must not write to.
    records: ClassVar[bool] = False

    #: Whether the library itself refuses to write to what is ``readonly``.
    refuses_writes: ClassVar[bool] = True

    def readonly(self, array: Array) -> bool:
        """Whether writing to ``array`` is refused (one element stands for many)."""
        return not array.flags.writeable

    def memory_is_readonly(self, array: Array) -> bool:
        """Whether the memory of ``array`` may not be written, whatever the layout of ``array``."""
        owner = part = array
        while (part := getattr(part, "base", None)) is not None:
            owner = part if hasattr(part, "flags") else owner
        return not owner.flags.writeable

    def writable(self, array: Array) -> Array:
        """``array`` for writing, also where it is a part of an expanded one; else ValueError."""
        if not array.flags.writeable:
            steps = zip(array.shape, array.strides, strict=True)
            if array.size and any(step == 0 and size > 1 for size, step in steps):
                raise ValueError("one element stands for many")
            array = array.view()
            array.flags.writeable = True
        return array

    def opened(self, array: Array) -> Array:
        """``array`` for writing though one element stands for many: the last number stays."""
        array = array.view()
        array.flags.writeable = True
        return array

    def blockwise(self, function: Callable[..., Array], *arrays: Array, unit: int = 1) -> Array:
        """``function(*arrays)``, perhaps computed piece by piece.

        Args:
            function: Works element by element, or along the last dimension.
            arrays: Of one shape, or 0-d.
            unit: How many consecutive elements belong together: 1, or a row.

        Returns:
            Array of the last one's shape and the first one's dtype.
        """
        return function(*arrays)

    def in_parts(
        self, work: Callable[[int, int], Any], count: int, products: bool = False
    ) -> list[Any]:
        """The results of ``work(start, stop)`` on parts that make up ``range(count)``.

        ``products``: products of matrices take most of its time.
        """
        return [work(0, count)]

    def row_after_row(self, row: int, size: int) -> AbstractContextManager[None]:
        """Open around operations of arrays and a number for each of their rows.

        Args:
            row: Elements of a row.
            size: Elements of an array.
        """
        return nullcontext()

    #: Whether there is a kernel of the backend's own for anything.
    fuses: ClassVar[bool] = True

    def fused(self, name: str, *args: Any) -> Any:
        """The result of the backend's own kernel for ``name``; None if it has or takes none."""
        kernel = self.kernel(name)
        return None if kernel is None else kernel(*args)

    def total(self, array: Array) -> Any:
        """The sum of all elements, 0-d; that of integers and bools in int64."""
        integers = array.dtype.kind in "biu"
        return self.asarray(self.sum(array, dtype=self.library.int64 if integers else None))

    def number(self, dtype: Any) -> Callable[[float], Any]:
        """A function of Python numbers: how they go into a ufunc with arrays of ``dtype``."""
        return _unchanged

    def kernel(self, name: str) -> Callable[..., Any] | None:
        """The backend's own fused kernel for ``name``, or None: use the shared twin."""
        return None

    def call(self, operation: Any, *args: Any, **kwargs: Any) -> Any:
        """Run another operation's kernel on raw arrays, inside a kernel or a rule."""
        return operation.kernel(self, *args, **kwargs)

    # -- devices and randomness ---------------------------------------------------------

    def device_index(self, array: Array) -> int | None:
        """The number of the device that holds ``array``; None where there is but one."""
        return None

    def synchronize(self) -> None:
        """Wait until the work queued on the device is done."""

    def devices(self) -> list[str]:
        """Names of the usable devices, such as ``["cuda:0"]``."""
        return [self.device_type]

    def make_generator(self, seed: int) -> Any:
        """A random engine with torch's CPU streams, handing out this library's arrays."""
        from .rng.mt19937 import HostGenerator

        return HostGenerator(self, seed)

    def info(self) -> dict[str, str]:
        """Facts for ``python -m tinytorch --info``."""
        version = getattr(self.library, "__version__", "unknown")
        return {"library": self.library.__name__, "version": str(version)}


def _bind_numpy_twins() -> dict[str, dtypes.dtype]:
    by_char: dict[str, dtypes.dtype] = {}
    for dtype in dtypes.ALL:
        if dtype in dtypes.LOW:
            continue  # NumPy has no such types
        dtype.dtype = numpy.dtype(dtype.name)
        by_char[dtype.dtype.char] = dtype
    # Two of C's int, long and long long are distinct types of one size: which, is the machine's.
    for char in "ilqILQ":
        by_char.setdefault(char, dtypes.NAMES[numpy.dtype(char).name])
    return by_char


_DTYPE_OF_CHAR = _bind_numpy_twins()
_LOW = {dtype.name: dtype for dtype in dtypes.LOW}


def _unchanged(number: float) -> float:
    return number
