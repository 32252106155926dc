"""Fused CUDA kernels, each of which replaces several calls of the library.

``Backend.kernel`` looks a kernel up by name. The generic form in NumPy's names is beside the
operation. Sources are CUDA C++ for CuPy's ``RawKernel`` (one block of threads per row) and
``ElementwiseKernel``, compiled on first use.
"""

from __future__ import annotations

import math
from typing import Any

from .gemm import linear
from .updates import INCLUDES, LETTERS, TYPES, Updates

THREADS = 256
#: Most blocks of a grid. CuPy would pass the lower 32 bits of a larger number.
_MOST_BLOCKS = 2**31 - 1

_ROWS = r"""
%(include)s
typedef %(T)s T;
typedef %(C)s C;

__device__ __forceinline__ C larger(C a, C b) { return (a > b || a != a) ? a : b; }

// Combine one value of each thread of the block; every thread gets the result.
template <bool MAXIMUM>
__device__ C combine(C value) {
    __shared__ C part[32];
    for (int step = 16; step > 0; step >>= 1) {
        C other = __shfl_xor_sync(0xffffffffu, value, step);
        value = MAXIMUM ? larger(value, other) : value + other;
    }
    __syncthreads();
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = value;
    __syncthreads();
    value = part[0];
    for (int i = 1; i < (blockDim.x >> 5); ++i)
        value = MAXIMUM ? larger(value, part[i]) : value + part[i];
    return value;
}

__device__ C highest(const T* row, long long n) {
    C best = (C)row[0];
    for (long long i = threadIdx.x; i < n; i += blockDim.x) best = larger(best, (C)row[i]);
    return combine<true>(best);
}

__device__ C exponentials(const T* row, long long n, C top) {
    C total = 0;
    for (long long i = threadIdx.x; i < n; i += blockDim.x) total += exp((C)row[i] - top);
    return combine<false>(total);
}

extern "C" __global__ void softmax(const T* x, T* out, long long n) {
    const T* row = x + blockIdx.x * n;
    C top = highest(row, n);
    C scale = 1 / exponentials(row, n, top);
    for (long long i = threadIdx.x; i < n; i += blockDim.x)
        out[blockIdx.x * n + i] = (T)(exp((C)row[i] - top) * scale);
}

extern "C" __global__ void log_softmax(const T* x, T* out, long long n) {
    const T* row = x + blockIdx.x * n;
    C top = highest(row, n);
    C total = log(exponentials(row, n, top));
    for (long long i = threadIdx.x; i < n; i += blockDim.x)
        out[blockIdx.x * n + i] = (T)((C)row[i] - top - total);
}

// -log softmax(x)[target]; extremes collects the targets' range, for the check of bounds.
extern "C" __global__ void cross_entropy(
    const T* x, const long long* target, T* out, long long* extremes, long long n, long long skip
) {
    const T* row = x + blockIdx.x * n;
    long long t = target[blockIdx.x];
    C top = highest(row, n);
    C total = exponentials(row, n, top);
    if (threadIdx.x) return;
    bool counts = t != skip;
    if (counts && (t < 0 || t >= n)) {
        atomicMin(extremes, t);
        atomicMax(extremes + 1, t);
        t = 0;
    }
    out[blockIdx.x] = counts ? (T)(log(total) - ((C)row[t] - top)) : (T)0;
}

extern "C" __global__ void cross_entropy_backward(
    const T* grad, const T* x, const long long* target, T* out, long long n, long long skip
) {
    const T* row = x + blockIdx.x * n;
    long long t = target[blockIdx.x];
    C top = highest(row, n);
    C g = t == skip ? (C)0 : (C)grad[blockIdx.x];
    C scale = 1 / exponentials(row, n, top);
    for (long long i = threadIdx.x; i < n; i += blockDim.x) {
        C p = exp((C)row[i] - top) * scale;
        out[blockIdx.x * n + i] = t == skip ? (T)0 : (T)(g * (p - (i == t ? (C)1 : (C)0)));
    }
}

extern "C" __global__ void layer_norm(
    const T* x, const T* weight, const T* bias, T* out, long long n, double eps
) {
    const T* row = x + blockIdx.x * n;
    C total = 0;
    for (long long i = threadIdx.x; i < n; i += blockDim.x) total += (C)row[i];
    C mean = combine<false>(total) / n;
    C squares = 0;
    for (long long i = threadIdx.x; i < n; i += blockDim.x) {
        C d = (C)row[i] - mean;
        squares += d * d;
    }
    C scale = (C)(1 / sqrt((double)(combine<false>(squares) / n) + eps));
    for (long long i = threadIdx.x; i < n; i += blockDim.x) {
        C value = ((C)row[i] - mean) * scale;
        if (weight) value *= (C)weight[i];
        if (bias) value += (C)bias[i];
        out[blockIdx.x * n + i] = (T)value;
    }
}
"""

#: ``name: (inputs, outputs, body)`` of the elementwise kernels.
ELEMENTWISE = {
    "gelu": (
        "T x", "T out",
        f"out = x * (T)0.5 * ((T)1 + (T)erf(x * (T){math.sqrt(0.5)!r}))",
    ),
    # For negative x, 1 + erf(x) in float32 has too few digits for the last bit of a float16.
    "gelu_half": (
        "T x", "T out",
        "float wide = (float)x; "
        f"out = (T)(wide * 0.5f * erfcf(wide * (float){-math.sqrt(0.5)!r}))",
    ),
    "mask": ("T x, bool mask", "T out", "out = mask ? x : (T)0"),
    # A product also with 0, so that infinities and NaN become NaN, as in PyTorch.
    "dropout": (
        "T x, bool keep, float64 scale", "T out", "out = x * (keep ? (T)scale : (T)0)",
    ),
}  # fmt: skip


def row_source(dtype: str) -> str:
    """CUDA source of the row kernels for a dtype."""
    storage, compute = TYPES[dtype]
    return _ROWS % {"T": storage, "C": compute, "include": INCLUDES.get(dtype, "")}


class FusedKernels:
    """Fused kernels of one CuPy backend by name, for ``backend.kernel``."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp
        self._functions: dict[tuple[str, str], Any] = {}
        self._elementwise: dict[str, Any] = {}
        self._updates = Updates(xp)

    def get(self, name: str) -> Any:
        """Return the kernel called ``name``, or None."""
        return getattr(self, f"_{name}", None)

    # -- rows --------------------------------------------------------------------------------

    def _row(self, dtype: Any, name: str) -> Any:
        """Return the row kernel ``name`` for a dtype, compiled on first use."""
        key = dtype.char, name
        if key not in self._functions:
            module = self.xp.RawModule(code=row_source(dtype.name), options=("--std=c++14",))
            self._functions[key] = module.get_function(name)
        return self._functions[key]

    def _takes(self, array: Any) -> bool:
        """Whether kernels support an array: its dtype, and at least one element."""
        return array.dtype.char in LETTERS and bool(array.size > 0)

    def _takes_rows(self, array: Any, length: int) -> bool:
        """Whether row kernels support an array of rows of ``length`` elements, one block each."""
        return self._takes(array) and bool(array.size // length <= _MOST_BLOCKS)

    def _run_row_kernel(self, name: str, input: Any, dim: int) -> Any:
        """Run a kernel that maps rows to rows along ``dim``; None for unsupported arrays.

        The result is row-major, because callers write to its flattened form.
        """
        if not input.ndim or not self._takes_rows(input, input.shape[dim]):
            return None
        xp = self.xp
        last = dim in (-1, input.ndim - 1)
        rows = xp.ascontiguousarray(input if last else xp.moveaxis(input, dim, -1))
        out = xp.empty(rows.shape, rows.dtype)
        n = rows.shape[-1]
        self._row(rows.dtype, name)((rows.size // n,), (THREADS,), (rows, out, n))
        return out if last else xp.ascontiguousarray(xp.moveaxis(out, -1, dim))

    def _takes_classes(self, input: Any, target: Any) -> bool:
        """Whether the kernels of cross entropy support ``(rows, classes)`` and their targets."""
        fits = input.ndim == 2 and self._takes_rows(input, input.shape[1])
        return fits and bool(target.dtype.name == "int64")

    def _softmax(self, input: Any, dim: int) -> Any:
        return self._run_row_kernel("softmax", input, dim)

    def _log_softmax(self, input: Any, dim: int) -> Any:
        return self._run_row_kernel("log_softmax", input, dim)

    def _cross_entropy(self, input: Any, target: Any, ignore_index: int) -> Any:
        """Losses, and the range of classes out of bounds; None for unsupported arrays."""
        if not self._takes_classes(input, target):
            return None
        xp = self.xp
        rows, n = input.shape
        out, extremes = xp.empty(rows, input.dtype), xp.zeros(2, "int64")
        arguments = (xp.ascontiguousarray(input), xp.ascontiguousarray(target), out, extremes, n)
        self._row(input.dtype, "cross_entropy")((rows,), (THREADS,), (*arguments, ignore_index))
        return out, extremes

    def _cross_entropy_backward(self, grad: Any, input: Any, target: Any, ignore_index: int) -> Any:
        """Gradient of ``input`` for the gradients of the losses; None for unsupported arrays."""
        if not self._takes_classes(input, target):
            return None
        xp = self.xp
        rows, n = input.shape
        out = xp.empty((rows, n), input.dtype)
        given = grad.astype(input.dtype, copy=False)
        arguments = [xp.ascontiguousarray(a) for a in (given, input, target)]
        self._row(input.dtype, "cross_entropy_backward")(
            (rows,), (THREADS,), (*arguments, out, n, ignore_index)
        )
        return out

    def _layer_norm(self, input: Any, weight: Any, bias: Any, count: int, eps: float) -> Any:
        """Layer normalization over the last ``count`` dimensions; None for unsupported arrays."""
        given = [a for a in (weight, bias) if a is not None]
        n = math.prod(input.shape[-count:])
        if not self._takes_rows(input, n) or any(a.dtype != input.dtype for a in given):
            return None
        xp = self.xp
        rows = xp.ascontiguousarray(input)
        out = xp.empty(rows.shape, rows.dtype)
        # The kernel treats the address 0 as no weight or bias.
        flat = [0 if a is None else xp.ascontiguousarray(a) for a in (weight, bias)]
        self._row(rows.dtype, "layer_norm")(
            (rows.size // n,), (THREADS,), (rows, *flat, out, n, float(eps))
        )
        return out

    # -- products ----------------------------------------------------------------------------

    def _linear(self, input: Any, weight: Any, bias: Any) -> Any:
        return linear(self.xp, input, weight, bias)

    # -- elements ----------------------------------------------------------------------------

    def elementwise(self, name: str) -> Any:
        """Return the elementwise kernel called ``name``."""
        if name not in self._elementwise:
            inputs, outputs, body = ELEMENTWISE[name]
            self._elementwise[name] = self.xp.ElementwiseKernel(
                inputs, outputs, body, f"tinytorch_{name}"
            )
        return self._elementwise[name]

    def _gelu(self, input: Any) -> Any:
        name = "gelu_half" if input.dtype.itemsize == 2 else "gelu"
        return self._run_like(input, name, input) if self._takes(input) else None

    def _mask(self, array: Any, mask: Any) -> Any:
        return self.elementwise("mask")(array, mask)

    def _dropout(self, input: Any, keep: Any, scale: float) -> Any:
        if not self._takes(input):
            return None
        return self._run_like(keep, "dropout", input, keep, scale)

    def _run_like(self, array: Any, name: str, *arguments: Any) -> Any:
        """Run an elementwise kernel whose result has PyTorch's memory order, not CuPy's row-major.

        An expanded array has no order: its strides of 0 would come innermost.
        """
        kernel = self.elementwise(name)
        input = arguments[0]
        if array.flags.c_contiguous or array.shape != input.shape or 0 in array.strides:
            return kernel(*arguments)
        return kernel(*arguments, self.xp.empty_like(array, input.dtype))

    # -- optimizers ----------------------------------------------------------------------------

    def _sgd_update(self, xp: Any, *arrays: Any, **numbers: Any) -> Any:
        return self._updates.sgd(*arrays, **numbers)

    def _adam_update(self, xp: Any, *arrays: Any, **numbers: Any) -> Any:
        return self._updates.adam(*arrays, **numbers)
