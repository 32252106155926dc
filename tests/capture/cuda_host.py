"""CUDA text run on the host: the threads of a block are coroutines that take turns at barriers.

A thread runs until it waits for the others, in ``__syncthreads`` or a shuffle; then the next one
runs. So reductions and barriers mean what they mean on a GPU, without one.
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
from strictcupy import _kernels

from tinytorch.capture import c_compiler
from tinytorch.capture.c_prelude import HEADER as C_HEADER
from tinytorch.capture.cuda_text import HEADER

#: Stands for the header of the CUDA text.
_HOST = (
    "#define TUPLE_OFFSET 0\n#define ARRAY_OFFSET 0\n"
    + C_HEADER
    + r"""
#include <ucontext.h>
#define KERNEL static void
#define __shared__ static
#define THREADS 1024
#define STACK 65536
typedef struct { unsigned x, y; } Place;
static Place blockIdx, threadIdx, blockDim, gridDim;
static ucontext_t scheduler, threads[THREADS];
static char is_done[THREADS], *stacks;
static f64 shuffled[THREADS];
static int running;
static void __syncthreads(void) { swapcontext(&threads[running], &scheduler); }
static f64 __shfl_xor_sync(unsigned mask, f64 x, int step) {
  const int thread = running;
  shuffled[thread] = x;
  __syncthreads();
  const f64 found = shuffled[thread ^ step];
  __syncthreads();
  return found;
}
static void (*body)(void **);
static void **arguments;
static void enter(void) {
  body(arguments);
  is_done[running] = 1;
  swapcontext(&threads[running], &scheduler);
}
static void run_block(int backward) {
  const int count = blockDim.x * blockDim.y;
  for (int k = 0; k < count; k++) {
    is_done[k] = 0;
    getcontext(&threads[k]);
    threads[k].uc_stack.ss_sp = stacks + (size_t)k * STACK;
    threads[k].uc_stack.ss_size = STACK;
    threads[k].uc_link = 0;
    makecontext(&threads[k], enter, 0);
  }
  for (int left = count; left;) {
    left = 0;
    for (int k = 0; k < count; k++) {
      running = backward ? count - 1 - k : k;
      if (is_done[running]) continue;
      threadIdx.x = running % blockDim.x; threadIdx.y = running / blockDim.x;
      swapcontext(&scheduler, &threads[running]);
      left += !is_done[running];
    }
  }
}
static void run_grid(unsigned grid, unsigned x, unsigned y) {
  gridDim.x = grid; gridDim.y = 1; blockDim.x = x; blockDim.y = y;
  if (!stacks) stacks = malloc((size_t)THREADS * STACK);
  for (unsigned k = 0; k < grid; k++) { blockIdx.x = k; run_block(k % 2); }
}
"""
)
#: Held by a launch: threads and blocks are static variables of a library.
_LAUNCHING = threading.Lock()
_KERNEL = re.compile(r"KERNEL (\w+)\((.*?)\)")
_ADD_PARTS = ("add_parts_f32", "const f64 *parts, f32 *out, i64 teams, i64 width"), (
    "add_parts_f64", "const f64 *parts, f64 *out, i64 teams, i64 width"
)  # fmt: skip


def _entry(name: str, parameters: str) -> str:
    """C text of the function that runs a kernel with an array of the addresses of arguments."""
    types = [" ".join(part.split()[:-1]) + "*" * part.count("*") for part in parameters.split(",")]
    args = ", ".join(f"*({kind.strip()} *)v[{k}]" for k, kind in enumerate(types))
    return (
        f"static void call_{name}(void **v) {{ {name}({args}); }}\n"
        f"void run_{name}(void **v, unsigned grid, unsigned x, unsigned y) "
        f"{{ arguments = v; body = call_{name}; run_grid(grid, x, y); }}"
    )


class HostModule:
    """Stands for CuPy's ``RawModule``: the same text, grid and arguments, run on the host."""

    def __init__(self, *, code: str, options: tuple[str, ...] = ()) -> None:
        assert "--fmad=false" in options
        code = code.replace(HEADER, _HOST)
        kernels = [*_ADD_PARTS, *(k for k in _KERNEL.findall(code) if k[0] != "add_parts_")]
        # What the host's compiler makes of loops is not what a GPU runs.
        with patch.object(c_compiler, "_FLAGS", ["-O1", *c_compiler._FLAGS[1:]]):
            library = c_compiler.load_library("\n".join([code, *(_entry(*k) for k in kernels)]))
        assert library is not None, "the text does not compile"
        self._library = library
        self._parameters = {name: parameters.split(",") for name, parameters in kernels}

    def get_function(self, name: str) -> Callable[..., None]:
        """Return the kernel: ``kernel(grid, block, arguments)``."""
        function, parameters = getattr(self._library, f"run_{name}"), self._parameters[name]

        def launch(grid: tuple[int], block: tuple[int, int], args: tuple[Any, ...]) -> None:
            assert len(args) == len(parameters) and 8 * len(args) <= 4096
            assert grid[0] >= 1 and block[0] % 32 == 0 and block[0] * block[1] <= 1024
            values = [_argument(arg, "*" in kind) for arg, kind in zip(args, parameters)]
            table = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
            with _LAUNCHING:
                function(table, *grid, *block)

        return launch


def make_module(*, code: str, options: tuple[str, ...] = ()) -> Any:
    """``RawModule`` of the stand-in for CuPy, with the kernels of compiled programs."""
    module: Any = HostModule if HEADER in code else _kernels.RawModule
    return module(code=code, options=options)


def _argument(value: Any, is_pointer: bool) -> Any:
    """An argument as C's value: the address of an array, or an integer."""
    if is_pointer:
        return ctypes.c_void_p(address_of(value))
    assert type(value) is np.int64, "CuPy passes a Python int as its own choice of type"
    return ctypes.c_int64(int(value))


def address_of(array: Any) -> int:
    """Address of the first element of an array of NumPy's or of the stand-in for CuPy."""
    return int(getattr(array, "ctypes", None) and array.ctypes.data or array.data.ptr)
