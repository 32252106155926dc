"""Optimizer updates of many tensors, up to a hundred of them in one launch.

A launch takes the host as long as the GPU needs to update a small layer, so separate launches
would leave the GPU waiting. The addresses of the tensors are passed in the kernel's arguments, of
which CUDA takes 4096 bytes. A row of the grid updates one tensor; its columns loop over elements.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy

#: C++ types of the dtypes the kernels take, and the type they compute in.
TYPES = {
    "float16": ("__half", "float"), "float32": ("float", "float"), "float64": ("double", "double"),
    "bfloat16": ("bfloat16", "float"),
}  # fmt: skip
#: The upper half of a float, rounded to the nearest, the even one of two. CUDA's own header is not
#: everywhere where CuPy is.
_BFLOAT16 = r"""
struct bfloat16 {
    unsigned short bits;
    union Float { float number; unsigned int bits; };
    bfloat16() = default;
    __device__ explicit bfloat16(float value) {
        Float whole;
        whole.number = value;
        if (value != value) bits = 0x7fc0;
        else bits = (whole.bits + 0x7fff + ((whole.bits >> 16) & 1)) >> 16;
    }
    __device__ explicit operator float() const {
        Float whole;
        whole.bits = (unsigned int)bits << 16;
        return whole.number;
    }
};
"""
#: First lines of the sources by dtype.
INCLUDES = {"float16": "#include <cuda_fp16.h>", "bfloat16": _BFLOAT16}
#: NumPy's characters of the dtypes; ``E`` is the bfloat16 of ``ml_dtypes``.
LETTERS = "efdE"


THREADS = 256
#: Bytes for the addresses and sizes. The scalars after them fit into the rest of the 4096.
_TABLE_BYTES = 3840
_ELEMENTS_PER_THREAD = 4
_MOST_BLOCKS = 1024

Arrays = Sequence[Any]

_SOURCE = r"""
%(include)s
typedef %(T)s T;
typedef %(C)s C;

// What the N arrays of each of the M tensors are, and how long.
template <int N> struct Table {
    static const int M = %(bytes)d / (8 * (N + 1));
    T* at[N][M];
    long long size[M];
};

#define EACH(i, table) \
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; \
         i < table.size[blockIdx.y]; i += (long long)gridDim.x * blockDim.x)

extern "C" __global__ void sgd(const Table<2> table, double lr, double decay, double sign) {
    T* p = table.at[0][blockIdx.y];
    const T* g = table.at[1][blockIdx.y];
    EACH(i, table) {
        C value = (C)p[i];
        p[i] = (T)(value - (C)lr * ((C)sign * (C)g[i] + (C)decay * value));
    }
}

extern "C" __global__ void sgd_momentum(
    const Table<3> table, double lr, double decay, double sign, double momentum, double fresh,
    double nesterov
) {
    T* p = table.at[0][blockIdx.y];
    const T* g = table.at[1][blockIdx.y];
    T* buffer = table.at[2][blockIdx.y];
    EACH(i, table) {
        C value = (C)p[i];
        C d = (C)sign * (C)g[i] + (C)decay * value;
        C speed = (C)momentum * (C)buffer[i] + (C)fresh * d;
        buffer[i] = (T)speed;
        p[i] = (T)(value - (C)lr * (nesterov != 0 ? d + (C)momentum * speed : speed));
    }
}

// One element: the moments, and the step that the square root of ``*largest`` divides.
__device__ __forceinline__ void adam_element(
    T* p, const T* g, T* mean, T* square, T* largest, double step_size, double floor,
    double beta1, double beta2, double shrink, double decay, double sign
) {
    C value = (C)*p * (C)shrink;
    C d = (C)sign * (C)*g + (C)decay * value;
    C m = (C)beta1 * (C)*mean + (C)(1 - beta1) * d;
    C s = (C)beta2 * (C)*square + (C)(1 - beta2) * d * d;
    *mean = (T)m;
    *square = (T)s;
    if (largest) {
        s = s < (C)*largest ? (C)*largest : s;
        *largest = (T)s;
    }
    *p = (T)(value - (C)step_size * m / (sqrt(s) + (C)floor));
}

extern "C" __global__ void adam(
    const Table<4> table, double step_size, double floor, double beta1, double beta2,
    double shrink, double decay, double sign
) {
    int k = blockIdx.y;
    EACH(i, table) adam_element(
        table.at[0][k] + i, table.at[1][k] + i, table.at[2][k] + i, table.at[3][k] + i, 0,
        step_size, floor, beta1, beta2, shrink, decay, sign);
}

extern "C" __global__ void adam_largest(
    const Table<5> table, double step_size, double floor, double beta1, double beta2,
    double shrink, double decay, double sign
) {
    int k = blockIdx.y;
    EACH(i, table) adam_element(
        table.at[0][k] + i, table.at[1][k] + i, table.at[2][k] + i, table.at[3][k] + i,
        table.at[4][k] + i, step_size, floor, beta1, beta2, shrink, decay, sign);
}
"""


def update_source(dtype: str) -> str:
    """CUDA source of the updates for a dtype."""
    storage, compute = TYPES[dtype]
    include = INCLUDES.get(dtype, "")
    return _SOURCE % {"T": storage, "C": compute, "include": include, "bytes": _TABLE_BYTES}


@functools.cache
def _table_type(columns: int, most: int) -> numpy.dtype[Any]:
    """NumPy dtype of the table that the kernels read.

    It holds the addresses of up to ``most`` arrays of each of ``columns`` kinds (parameters,
    gradients and so on), and the sizes of the parameters.
    """
    return numpy.dtype([("at", "u8", (columns, most)), ("size", "i8", (most,))])


class Updates:
    """Updates on one CuPy backend, with the signatures of ``tinytorch.optim._kernels``."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp
        self._functions: dict[tuple[str, str], Any] = {}

    def sgd(
        self, params: Arrays, grads: Arrays, momentum_buffers: Arrays, *, lr: float,
        momentum: float, dampening: float, weight_decay: float, nesterov: bool, maximize: bool,
    ) -> Any:  # fmt: skip
        """SGD; NotImplemented for unsupported arrays."""
        numbers = [lr, weight_decay, -1.0 if maximize else 1.0]
        if not momentum_buffers:
            return self._run("sgd", [params, grads], numbers)
        numbers += [momentum, 1.0 - dampening, float(nesterov)]
        return self._run("sgd_momentum", [params, grads, momentum_buffers], numbers)

    def adam(
        self, params: Arrays, grads: Arrays, exp_avgs: Arrays, exp_avg_sqs: Arrays,
        max_exp_avg_sqs: Arrays, *, step: float, lr: float, beta1: float, beta2: float, eps: float,
        weight_decay: float, decoupled: bool, maximize: bool,
    ) -> Any:  # fmt: skip
        """Adam and AdamW; NotImplemented for unsupported arrays."""
        root = math.sqrt(1.0 - beta2**step)
        numbers = [
            lr * root / (1.0 - beta1**step), eps * root, beta1, beta2,
            1.0 - lr * weight_decay if decoupled else 1.0, 0.0 if decoupled else weight_decay,
            -1.0 if maximize else 1.0,
        ]  # fmt: skip
        columns = [params, grads, exp_avgs, exp_avg_sqs]
        if not max_exp_avg_sqs:
            return self._run("adam", columns, numbers)
        return self._run("adam_largest", [*columns, max_exp_avg_sqs], numbers)

    def _run(self, name: str, columns: list[Arrays], numbers: list[float]) -> Any:
        """Run an update on all parameters.

        Args:
            name: Name of the CUDA function.
            columns: Lists of parameters, of gradients, and of each kind of the optimizer's state.
            numbers: The function's scalar arguments.

        Returns:
            None; NotImplemented if an array is unsupported.
        """
        groups: dict[str, list[tuple[Any, ...]]] = {}
        for p, g, *state in zip(*columns, strict=True):
            if not self._takes((p, *state)) or g.dtype != p.dtype:
                return NotImplemented
            if p.size:
                groups.setdefault(p.dtype.name, []).append((p, self._as_row_major(g), *state))
        most = _TABLE_BYTES // (8 * (len(columns) + 1))
        for dtype, rows in groups.items():
            for start in range(0, len(rows), most):
                self._launch(name, dtype, rows[start : start + most], most, numbers)
        return None

    def _takes(self, arrays: Iterable[Any]) -> bool:
        """Whether all arrays are row-major and of one supported dtype."""
        first, *others = arrays
        return (
            first.dtype.name in TYPES
            and first.flags.c_contiguous
            and all(a.dtype == first.dtype and a.flags.c_contiguous for a in others)
        )

    def _as_row_major(self, array: Any) -> Any:
        return array if array.flags.c_contiguous else self.xp.ascontiguousarray(array)

    def _launch(
        self, name: str, dtype: str, rows: list[tuple[Any, ...]], most: int, numbers: list[float]
    ) -> None:
        """Launch one kernel for up to ``most`` parameters.

        ``rows`` holds the arrays of each parameter; the other arguments are those of ``_run``.
        """
        table = numpy.zeros(1, _table_type(len(rows[0]), most))
        count = len(rows)
        table["at"][0, :, :count] = [[array.data.ptr for array in column] for column in zip(*rows)]
        table["size"][0, :count] = sizes = [row[0].size for row in rows]
        blocks = min(-(-max(sizes) // (THREADS * _ELEMENTS_PER_THREAD)), _MOST_BLOCKS)
        self._function(dtype, name)((blocks, count), (THREADS,), (table, *numbers))

    def _function(self, dtype: str, name: str) -> Any:
        """Return the CUDA function ``name`` for a dtype, compiled on first use."""
        key = dtype, name
        if key not in self._functions:
            module = self.xp.RawModule(code=update_source(dtype), options=("--std=c++14",))
            self._functions[key] = module.get_function(name)
        return self._functions[key]
