"""The CuPy backend for NVIDIA GPUs. CuPy is imported when the backend is created."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

import numpy

from ...dtypes import bfloat16, dtype
from ..base import Array
from ..default_operations import index_combine, scan
from ..deferred import DeferredChecks
from ..numpy.gamma_formulas import apply_reflection
from ..storage import WritableMemory
from . import formulas
from .devices import CudaDevices
from .errors import (
    format_version,
    load_cuda_library,
    open_cupy,
    raise_torchs_error,
    refuse_after_fork,
)
from .gemm import gemm
from .kernels import FusedKernels

#: Operations that consist of products, also in their gradients. cuBLAS sums them in float32.
_PRODUCTS = frozenset(("matmul", "mm", "bmm", "linear"))
#: Operations whose fused kernels take bfloat16, unlike the formulas of their gradients.
_FUSED = frozenset(("_softmax", "_log_softmax", "layer_norm", "_layer_norm"))
#: Characters of the dtypes of 16 bits: NumPy's float16 and ml_dtypes' bfloat16.
_HALVES = "eE"
#: Characters of the dtypes of atomic addition, which ``cupy.add.at`` is limited to.
_ATOMIC = "ilILqQefd"


class CupyBackend(WritableMemory, DeferredChecks, CudaDevices):
    """CuPy backend: NumPy's names on a GPU, without index checks or implicit conversion.

    Raises:
        BackendUnavailableError: If CuPy, CUDA's libraries, the driver or a GPU is missing;
            ``reason`` and the message say which.
    """

    extras: Any

    name = "cupy"
    device_type = "cuda"
    engine = "cuda"
    #: CuPy has bfloat16 since version 14, https://github.com/cupy/cupy/pull/9494.
    low: frozenset[dtype] = frozenset((bfloat16,))
    #: Whether the library's cuBLAS can be called directly.
    _cublas = True

    def __init__(self) -> None:
        super().__init__()
        self.library, self.extras = self.open()
        self.array_type: type = self.library.ndarray
        self._fused: FusedKernels | None = None
        raise_torchs_error(self.library)
        refuse_after_fork(self)
        self.look_for_devices()

    def open(self) -> tuple[Any, Any]:
        """Import and return the library and its extras, ``cupy`` and ``cupyx``."""
        return open_cupy(self.name)

    def serve_library(self) -> None:
        """Do nothing: ``__getattr__`` looks names of CuPy up on first use, and some are missing."""

    def __getattr__(self, name: str) -> Any:
        """Look up a name of CuPy at its first use, and store it as an attribute."""
        if name.startswith("__"):
            raise AttributeError(name)
        load_cuda_library(name, self.library, self.name)
        try:
            value = getattr(self.library, name)
        except AttributeError:
            raise AttributeError(f"backend {self.name!r} has no {name!r}") from None
        setattr(self, name, value)
        return value

    def _start_empty(self) -> None:
        super()._start_empty()
        self._clear_pending()
        self._fused = None

    # -- conversion and memory ----------------------------------------------------------

    def asarray(self, a: Any, dtype: Any = None) -> Array:
        """``cupy.asarray`` that keeps the sign of the scalar -0.0, which CuPy fills with zeros."""
        number = isinstance(a, (float, complex, numpy.generic, numpy.ndarray))
        if number and not numpy.ndim(a) and not a:
            return self.library.asarray(numpy.asarray(a, dtype).reshape(1)).reshape(())
        return self.library.asarray(a, dtype)

    def from_numpy(self, array: numpy.ndarray[Any, Any]) -> Array:
        return self.asarray(array)

    def to_numpy(self, array: Array) -> numpy.ndarray[Any, Any]:
        host: numpy.ndarray[Any, Any] = self.library.asnumpy(array)
        if self._pending:
            self.raise_pending()
        return host

    def item(self, array: Array) -> Any:
        value = array.item()
        if self._pending:
            self.raise_pending()
        return value

    truncates_slices = True

    def is_view(self, out: Array, source: Array) -> bool:
        # A view made by as_strided has no base, but every array has its allocation.
        return out is source or bool(out.data.mem == source.data.mem)

    def owner(self, array: Array) -> Any:
        return array.data.mem

    def memory(self, array: Array) -> tuple[Array, int] | None:
        """Whole memory block of ``array`` and its offset there. See ``Backend``.

        A view made by ``as_strided`` has no base. Its block is the allocation, whose size CuPy
        rounds up.
        """
        block, allocation = super().memory(array), array.data.mem
        before = int(array.data.ptr - allocation.ptr)
        steps = (before, *array.strides)
        if array.base is not None or not array.size or (block and not before) or min(steps) < 0:
            return block
        size = array.itemsize
        if any(step % size for step in steps):
            return None
        shape = (allocation.size // size,)
        return self.library.ndarray(shape, array.dtype, array.data - before), before // size

    def address(self, array: Array) -> int:
        return int(array.data.ptr)

    def expand_dims(self, array: Array, axis: int) -> Array:
        """View with one more dimension, whose stride spans the next dimension as in PyTorch."""
        if array.flags.c_contiguous or not array.size:
            return self.library.expand_dims(array, axis)
        position = axis % (array.ndim + 1)
        shape, steps = array.shape, array.strides
        step = shape[position] * steps[position] if position < array.ndim else array.itemsize
        return self.as_strided(
            array,
            (*shape[:position], 1, *shape[position:]),
            (*steps[:position], step, *steps[position:]),
        )

    # -- operations ---------------------------------------------------------------------

    def index_combine(self, name: str, target: Array, index: Array, values: Array) -> None:
        index_combine(self, getattr(self.library, name), target, index, values)

    def accumulate(self, name: str, array: Array, axis: int) -> Array:
        return scan(self, getattr(self.library, name), array, axis)

    def write_item(self, target: Array, index: Any, value: Any) -> None:
        """``target[index] = value``; a number at a mask is written without waiting."""
        # CuPy would count the selected elements, for which the host has to wait.
        mask = index[0] if isinstance(index, tuple) and len(index) == 1 else index
        kind = getattr(getattr(mask, "dtype", None), "kind", "")
        if kind == "b" and mask.ndim and not getattr(value, "ndim", 0):
            where = mask.reshape(mask.shape + (1,) * (target.ndim - mask.ndim))
            self.library.copyto(target, value, "unsafe", where)
        else:
            zero = isinstance(value, (float, complex)) and not value
            target[index] = self.asarray(value, target.dtype) if zero else value

    def sparse_product(
        self, values: Array, rows: Array, columns: Array, size: int, dense: Array
    ) -> Array | None:
        """cuSPARSE's product, of the dtypes that it computes in."""
        is_supported = dense.dtype.char in "fdFD" and values.size and dense.size
        if not is_supported or self.extras.__name__ != "cupyx":
            return None
        from cupyx.scipy import sparse

        shape = size, dense.shape[0]
        matrix = sparse.coo_matrix((values, (rows, columns)), shape=shape).tocsr()
        return matrix @ self.library.ascontiguousarray(dense)

    def index_add(self, target: Array, index: Any, values: Array) -> None:
        """``target[index] += values`` by atomic additions, which CuPy has for some dtypes only."""
        add = self.library.add
        if target.dtype.char in _ATOMIC:
            add.at(target, index, values)
        elif target.dtype.kind == "c":
            values = self.library.asarray(values)
            add.at(target.real, index, values.real)
            add.at(target.imag, index, values.imag)
        else:
            # The lower bits of a sum in 32 bits are the sum that wraps around in fewer bits.
            wide = target.astype("int32")
            add.at(wide, index, values)
            target[...] = wide.astype(target.dtype)

    def sum(
        self, array: Array, axis: Any = None, dtype: Any = None, out: Any = None,
        keepdims: bool = False,
    ) -> Array:  # fmt: skip
        """``cupy.sum``; float16 and bfloat16 are summed in float32 and rounded once."""
        if dtype is None and array.dtype.char not in _HALVES:
            return self.library.sum(array, axis, None, out, keepdims)
        return self._reduce("sum", array, axis, dtype, out, keepdims)

    def prod(
        self, array: Array, axis: Any = None, dtype: Any = None, out: Any = None,
        keepdims: bool = False,
    ) -> Array:  # fmt: skip
        """``cupy.prod``; float16 and bfloat16 are multiplied in float32 and rounded once."""
        return self._reduce("prod", array, axis, dtype, out, keepdims)

    def _reduce(
        self, name: str, array: Array, axis: Any, dtype: Any, out: Any, keepdims: bool
    ) -> Array:
        """Call CuPy's reduction ``name``; for a result of 16 bits in float32, rounded once.

        CuPy's CUB would compute in the dtype of the array. The other arguments are NumPy's.
        """
        function = getattr(self.library, name)
        result_dtype = array.dtype if dtype is None else numpy.dtype(dtype)
        if out is not None or result_dtype.char not in _HALVES:
            return function(array, axis, dtype, out, keepdims)
        halves = array.astype(result_dtype, copy=False)
        return function(halves, axis, "float32", None, keepdims).astype(result_dtype)

    def sort(self, array: Array, axis: int = -1, kind: Any = None) -> Array:
        """``cupy.sort`` with all NaNs last."""
        return self.library.sort(self._clear_nan_signs(array, axis), axis, kind)

    def argsort(self, array: Array, axis: int = -1, kind: Any = None) -> Array:
        """``cupy.argsort`` with all NaNs last."""
        return self.library.argsort(self._clear_nan_signs(array, axis), axis, kind)

    def _clear_nan_signs(self, array: Array, axis: int | None) -> Array:
        """Clear the signs of NaNs if CuPy would sort negative ones first.

        CuPy sorts one-dimensional float32 and float64 by bits, and others by comparison.
        """
        if array.dtype.char in "fd" and (array.ndim == 1 or axis is None):
            return self.library.where(array == array, array, math.nan)
        return array

    def remainder(self, a: Any, b: Any) -> Array:
        """NumPy's function; CuPy's is computed from a rounded quotient."""
        return formulas.remainder(self.library, a, b)

    def floor_divide(self, a: Any, b: Any) -> Array:
        """NumPy's function; CuPy's is computed from a rounded quotient."""
        return formulas.floor_divide(self.library, a, b)

    def fmod(self, a: Any, b: Any) -> Array:
        """NumPy's function; CuPy's computes integers in float64."""
        return formulas.fmod(self.library, a, b)

    def nextafter(self, a: Any, b: Any) -> Array:
        """NumPy's function; CuPy's is wrong at subnormal and infinite numbers."""
        return formulas.nextafter(self.library, a, b)

    def special(self, name: str) -> Callable[..., Array]:
        """Return CuPy's special function ``name``, or SciPy's on the host if CuPy has none."""
        functions = self.extras.scipy.special
        if name in ("i0e", "i1e"):
            unscaled, order = getattr(functions, name[:2]), int(name[1])
            return lambda x: formulas.scaled_bessel(self.library, unscaled, order, x)
        function: Callable[..., Array] | None = getattr(functions, name, None)
        return self._wrap_host_function(super().special(name)) if function is None else function

    def _wrap_host_function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function of NumPy arrays: copy CuPy arrays to the host, and the results back."""

        def call(*arrays: Array) -> Any:
            result = function(*map(self.to_numpy, arrays))
            parts = result if isinstance(result, tuple) else (result,)
            copies = tuple(self.from_numpy(numpy.asarray(part)) for part in parts)
            return copies if isinstance(result, tuple) else copies[0]

        return call

    def _error_function(self, name: str, array: Array) -> Array:
        return self.special(name)(array)

    def digamma(self, array: Array) -> Array:
        # CuPy's function is less accurate near the poles and returns -inf at -0 as well.
        right = self.special("psi")(self.where(array < 0, 1 - array, array))
        infinity = self.copysign(self.asarray(math.inf, array.dtype), -array)
        return apply_reflection(self, array, self.where(array == 0, infinity, right))

    def raising(self) -> AbstractContextManager[object]:
        # cuSOLVER's status stays on the device until it is read, so the host waits here. Errors
        # of the input are raised before those of the solver.
        self.raise_pending()
        return self.extras.errstate(linalg="raise")  # type: ignore[no-any-return]

    # -- fused kernels ------------------------------------------------------------------

    def kernel(self, name: str) -> Any:
        if self._fused is None:
            self._fused = FusedKernels(self)
        return self._fused.get(name)

    def matmul(self, a: Array, b: Array, out: Array | None = None) -> Array:
        """``cupy.matmul``, with a stack of matrices times one matrix as a single product."""
        if out is None and a.ndim > 2 == b.ndim and a.size and a.flags.c_contiguous:
            if a.shape[-1] == b.shape[0]:
                rows = self.matmul(a.reshape(-1, b.shape[0]), b)
                return rows.reshape(*a.shape[:-1], b.shape[1])
        if out is None and a.ndim == b.ndim == 2 and self._cublas:
            product = gemm(self.library, a, b)
            if product is not None:
                return product
        return self.library.matmul(a, b, out=out)

    low_kernels: ClassVar[frozenset[str]] = _PRODUCTS | _FUSED

    def kernel_accepts_reduced(self, name: str, arrays: Sequence[Array], recorded: bool) -> bool:
        """Whether a kernel accepts bfloat16 (character E): that of a product, or a fused one.

        A fused kernel accepts it only if the call is not recorded, since its gradient is a formula.
        """
        if any(array.dtype.char != "E" or not array.size for array in arrays):
            return False
        # Fused kernels work along a dimension, which 0-d arrays do not have.
        is_fused = name in _FUSED and not recorded and arrays[0].ndim > 0
        return name in _PRODUCTS or is_fused

    def masked(self, array: Array, mask: Array) -> Array:
        kernel = self.kernel("mask")
        return super().masked(array, mask) if kernel is None else kernel(array, mask)

    # -- devices ------------------------------------------------------------------------

    def synchronize(self) -> None:
        self.here()
        self.library.cuda.Device().synchronize()
        self.let_go()
        self.raise_pending()

    def info(self) -> dict[str, str]:
        runtime = self.library.cuda.runtime
        properties = map(runtime.getDeviceProperties, range(runtime.getDeviceCount()))
        return {
            **super().info(),
            "CUDA": format_version(runtime.runtimeGetVersion()),
            "driver": f"CUDA {format_version(runtime.driverGetVersion())}",
            "GPUs": ", ".join(each["name"].decode() for each in properties),
        }
