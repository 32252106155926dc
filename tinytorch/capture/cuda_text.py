"""CUDA text of a group: the operations of the C text, in kernels of teams of threads.

What a kernel computes for an element is written by ``c_text.py``; only the loops and the ends of
the reductions differ. A team is a warp, or a block of several. Where nothing belongs to a row, all
threads share the elements; otherwise a team computes a row, each thread of it some columns, and
reduces over its threads. A sum over all rows has one part for each team, which a second kernel
adds in order, so that equal calls have equal results.

Reference:
    M. Harris, Optimizing Parallel Reduction in CUDA, 2007.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .c_prelude import FUNCTIONS
from .c_text import TYPES, Text, TextWriter, letter
from .graph import Value
from .grouping import Access, LoopGroup, LoopOp

#: Options of the compiler: no product and sum are contracted, as in the C text.
OPTIONS = ("--std=c++17", "--fmad=false")
#: Most parameters of a kernel: their bytes are limited to 4096.
MOST_PARAMETERS = 500
#: Threads of a warp, and of a block.
WARP, BLOCK = 32, 256
#: Most teams: of kernels whose teams have parts of sums, and of others.
_MOST_PARTS, _MOST_TEAMS = 512, 1 << 20
#: Columns of a block of the kernel that adds parts, and the threads that share one.
PARTS_BLOCK = 32, 8

#: Types and macros of a GPU, in place of the header of the C text.
HEADER = r"""
typedef float f32; typedef double f64; typedef unsigned char b8; typedef unsigned char u8;
typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64;
typedef unsigned short uint16_t; typedef unsigned int uint32_t;
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fc00000)
#endif
#ifndef INT64_MIN
#define INT64_MIN (-0x7fffffffffffffffLL - 1)
#endif
#define FMA(a, b, c) fmaf(a, b, c)
#define __builtin_copysignf copysignf
#define __builtin_copysign copysign
#define INLINE static __device__ __forceinline__
#define KERNEL extern "C" __global__ void
"""
#: Reductions over the threads of a team, and the kernels that add the parts of a sum.
TEAMS = r"""
#define TEAM ((i64)blockIdx.x * blockDim.y + threadIdx.y)
#define TEAMS ((i64)gridDim.x * blockDim.y)
INLINE f32 add_f32(f32 a, f32 b) { return a + b; }
INLINE f64 add_f64(f64 a, f64 b) { return a + b; }
/* All threads of a team call it, and get the same result. */
#define REDUCTION(T, name, join) \
  INLINE T team_##name##_##T(T x) { \
    for (i32 step = 16; step > 0; step >>= 1) { \
      const T y = __shfl_xor_sync(0xffffffff, x, step); \
      x = join##_##T(x, y); \
    } \
    if (blockDim.x > 32) { \
      __shared__ T parts[32]; \
      if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x; \
      __syncthreads(); \
      x = parts[0]; \
      for (i32 k = 1; k < (i32)blockDim.x / 32; k++) x = join##_##T(x, parts[k]); \
      __syncthreads(); \
    } \
    return x; \
  }
REDUCTION(f32, sum, add) REDUCTION(f32, max, maximum) REDUCTION(f32, min, minimum)
REDUCTION(f64, sum, add) REDUCTION(f64, max, maximum) REDUCTION(f64, min, minimum)
#define ADD_PARTS(T) \
  KERNEL add_parts_##T(const f64 *parts, T *out, i64 teams, i64 width) { \
    __shared__ f64 sums[8][32]; \
    const i64 i = (i64)blockIdx.x * 32 + threadIdx.x; \
    f64 sum = 0; \
    if (i < width) \
      for (i64 k = threadIdx.y; k < teams; k += 8) sum += parts[k * width + i]; \
    sums[threadIdx.y][threadIdx.x] = sum; \
    __syncthreads(); \
    if (threadIdx.y == 0 && i < width) { \
      for (i32 k = 1; k < 8; k++) sum += sums[k][threadIdx.x]; \
      out[i] = (T)sum; \
    } \
  }
ADD_PARTS(f32) ADD_PARTS(f64)
"""
PRELUDE = HEADER + FUNCTIONS + TEAMS


class CudaTextWriter(TextWriter):
    """Writer of the kernel of a group; values of a former level are computed again."""

    cheap = math.inf

    def assemble(self, lines: list[str]) -> list[str]:
        """Return the lines of the kernel whose levels have these lines."""
        if self.is_flat:
            loop = lines
        else:
            loop = ["for (i64 r = TEAM; r < hi; r += TEAMS) {", *self.row, *lines, "}"]
        count, sizes = len(self.text.parameters), len(self.text.sizes)
        addresses = [f"a{k}" for k in range(count)]
        parameters = [f"char *{name}" for name in addresses]
        parameters += [f"i64 n{k}" for k in range(sizes)]
        return [
            f"KERNEL NAME({', '.join(parameters)}, i64 hi) {{",
            f"char *const p[] = {{{', '.join(addresses)}}};",
            f"const i64 n[] = {{{', '.join(f'n{k}' for k in range(sizes))}}};",
            "const i64 C = n[0]; (void)C;", *self.head, *loop, *self.tail, "}",
        ]  # fmt: skip

    def add_total(self, op: LoopOp) -> None:
        """Declare the team's part of the sum of all rows or of all elements."""
        j, k = self.number[op.out], self.add_parameter(op.out, "parts")
        if op.reduces is Access.SCALAR:
            self.head.append(f"f64 c{j} = 0;")
            self.tail += [
                f"c{j} = team_sum_f64(c{j});",
                f"if (threadIdx.x == 0) ((f64 *)p[{k}])[TEAM] = c{j};",
            ]
            return
        self.head += [
            f"f64 *d{j} = (f64 *)p[{k}] + TEAM * C;",
            f"for (i64 i = threadIdx.x; i < C; i += blockDim.x) d{j}[i] = 0;",
        ]

    def loop_header(self, sums: list[LoopOp]) -> list[str]:
        """Return the line that begins a loop over the columns of a thread, or over elements."""
        if self.is_flat:
            start = "i64 i = TEAM * blockDim.x + threadIdx.x; i < hi; i += TEAMS * blockDim.x"
        else:
            start = "i64 i = threadIdx.x; i < C; i += blockDim.x"
        return [f"for ({start}) {{"]

    def reduction_lines(self, sums: list[LoopOp]) -> tuple[list[str], list[str]]:
        """Return the lines before and after a loop that reduces."""
        start, end = super().reduction_lines([op for op in sums if op.reduces is not Access.ROW])
        for op in sums:
            if op.reduces is not Access.ROW:
                continue
            kind, name = TYPES[letter(op.out.dtype)], self.name(op.out)
            first = {"sum": "0", "max": "-INFINITY", "min": "INFINITY"}[op.name]
            start.append(f"{kind} {name} = {first};")
            found = name
            if op.name != "sum":
                start.append(f"i32 {name}n = 0;")
                found = f"{name}n ? NAN : {name}"
            end.append(f"{name} = team_{op.name}_{kind}({found});")
            if op.out in self.stores:
                end.append(self.store(op.out))
        return start, end

    def store(self, value: Value) -> str:
        """Return the line that stores a value; one thread stores that of a row."""
        line = super().store(value)
        is_row = self.group.made[value] is Access.ROW
        return f"if (threadIdx.x == 0) {line}" if is_row else line


def write_kernel(group: LoopGroup) -> Text:
    """Return the CUDA text of a group.

    Its parameters are the addresses, those of the parts of a sum with ``"parts"``, then the sizes
    and the number of rows, or of elements if ``is_flat``.
    """
    return CudaTextWriter(group).write()


@dataclass(frozen=True)
class Launch:
    """Blocks and threads of a kernel.

    Attributes:
        grid: Number of blocks.
        block: Threads of a team, and teams of a block.
        count: Number of rows, or of elements.
    """

    grid: int
    block: tuple[int, int]
    count: int

    @property
    def teams(self) -> int:
        """Number of teams, each with its part of a sum."""
        return self.grid * self.block[1]


def choose_launch(group: LoopGroup) -> Launch:
    """Return the blocks and threads that compute a group.

    A row of up to 256 columns is computed by a warp, a longer one by a block.
    """
    most = _MOST_PARTS if group.final else _MOST_TEAMS
    if group.is_flat:
        blocks = -(-group.size // BLOCK)
        return Launch(max(1, min(blocks, most)), (BLOCK, 1), group.size)
    if group.columns > BLOCK:
        return Launch(min(group.rows, most), (BLOCK, 1), group.rows)
    rows = BLOCK // WARP
    return Launch(min(-(-group.rows // rows), most // rows), (WARP, rows), group.rows)


def parts_of(text: Text) -> list[tuple[int, Value]]:
    """Return the parameters that are parts of a sum, each with the sum."""
    return [(k, value) for k, (value, what) in enumerate(text.parameters) if what == "parts"]


def part_width(group: LoopGroup, value: Value) -> int:
    """Return how many numbers a team has for a sum over all rows."""
    return 1 if group.made[value] is Access.SCALAR else group.columns


def program_text(bodies: dict[str, str]) -> str:
    """Return the text of a module of kernels.

    Args:
        bodies: The name of each kernel by its text.
    """
    kernels: list[Any] = [body.replace("NAME", name, 1) for body, name in bodies.items()]
    return "\n".join([PRELUDE, *kernels, ""])
