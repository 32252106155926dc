"""The row kernels' CUDA sources run on the host: a thread for each of a block's, in step.

Shuffles and ``__syncthreads`` become a barrier, shared memory a static array, and blocks run one
after another; the rest is the very source that a GPU compiles.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.oracles import FEW_STEPS
from tinytorch.backends.cupy.kernels import row_source

_HOST = r"""
#include <cmath>
#include <pthread.h>
#include <thread>
#include <vector>
#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
using std::exp; using std::log; using std::sqrt;
struct Place { unsigned x; };
static thread_local Place threadIdx;
static Place blockIdx, blockDim;
static pthread_barrier_t step_together;
static double lanes[1024];
static void __syncthreads() { pthread_barrier_wait(&step_together); }
template <class C> C __shfl_xor_sync(unsigned, C value, int mask) {
    lanes[threadIdx.x] = value;
    __syncthreads();
    C other = (C)lanes[threadIdx.x ^ mask];
    __syncthreads();
    return other;
}
static void atomicMin(long long* at, long long v) { if (v < *at) *at = v; }
static void atomicMax(long long* at, long long v) { if (v > *at) *at = v; }
%(source)s

template <class Kernel> void launch(unsigned blocks, unsigned threads, Kernel kernel) {
    blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
        pthread_barrier_init(&step_together, nullptr, threads);
        std::vector<std::thread> block;
        for (unsigned i = 0; i < threads; ++i)
            block.emplace_back([=] { threadIdx.x = i; kernel(); });
        for (auto& each : block) each.join();
        pthread_barrier_destroy(&step_together);
    }
}
extern "C" void run(int which, unsigned blocks, unsigned threads, void** p, long long n,
                    long long skip, double eps) {
    launch(blocks, threads, [=] {
        const T *a = (T*)p[0], *b = (T*)p[1], *c = (T*)p[2];
        const long long* target = (long long*)p[3];
        T* out = (T*)p[4];
        if (which == 0) softmax(a, out, n);
        if (which == 1) log_softmax(a, out, n);
        if (which == 2) cross_entropy(a, target, out, (long long*)p[5], n, skip);
        if (which == 3) cross_entropy_backward(b, a, target, out, n, skip);
        if (which == 4) layer_norm(a, b, c, out, n, eps);
    });
}
"""
_ORDER = ("softmax", "log_softmax", "cross_entropy", "cross_entropy_backward", "layer_norm")
Run = Callable[..., None]


@pytest.fixture(scope="module", params=["float32", "float64"])
def rows(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The dtype, and a function that runs a kernel on arrays of it."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler here")
    folder = tmp_path_factory.mktemp("rows")
    path, library = folder / "rows.cpp", folder / "rows.so"
    path.write_text(_HOST % {"source": row_source(request.param)})
    flags = ["-std=c++14", "-O1", "-shared", "-fPIC", "-pthread", "-fpermissive", "-w"]
    subprocess.run([compiler, *flags, str(path), "-o", str(library)], check=True)
    function = ctypes.CDLL(str(library)).run

    def run(name: str, out: Any, x: Any, *more: Any, skip: int = -100, eps: float = 0.0) -> None:
        """``more``: the gradient or weight, the bias, the targets, the extremes; None for none."""
        b, c, target, extremes = (*more, *[None] * (4 - len(more)))
        pointers = (ctypes.c_void_p * 6)(
            *[None if a is None else a.ctypes.data for a in (x, b, c, target, out, extremes)]
        )
        function(
            _ORDER.index(name), x.shape[0], 64, pointers,
            ctypes.c_longlong(x.shape[1]), ctypes.c_longlong(skip), ctypes.c_double(eps),
        )  # fmt: skip

    return request.param, run


def scores(dtype: str, count: int) -> Any:
    x = np.random.default_rng(count).normal(size=(3, count)) * 3
    x[1] += 1e4  # what is large must not cost the small their digits
    return x.astype(dtype)


def shifted(x: Any) -> Any:
    x = x.astype(float)
    return x - x.max(1, keepdims=True)


@pytest.mark.parametrize("count", [1, 5, 64, 300])
def test_softmax_kernels_equal_numpys_formula(rows: tuple[str, Run], count: int) -> None:
    dtype, run = rows
    x = scores(dtype, count)
    out, logs = np.empty_like(x), np.empty_like(x)
    run("softmax", out, x)
    run("log_softmax", logs, x)
    total = np.exp(shifted(x)).sum(1, keepdims=True)
    near = {"rtol": 4 * FEW_STEPS[dtype], "atol": FEW_STEPS[dtype]}
    np.testing.assert_allclose(out, np.exp(shifted(x)) / total, **near)
    np.testing.assert_allclose(logs, shifted(x) - np.log(total), **near)


def test_nan_and_infinity_are_kept(rows: tuple[str, Run]) -> None:
    dtype, run = rows
    x = np.array([[0.0, np.nan, 1.0], [0.0, -np.inf, 0.0], [np.inf, 0.0, 1.0]], dtype)
    out = np.empty_like(x)
    run("softmax", out, x)
    assert np.isnan(out[0]).all() and np.isnan(out[2]).all()
    np.testing.assert_allclose(out[1], [0.5, 0, 0.5])


@pytest.mark.parametrize("skip", [-100, 1])
def test_cross_entropy_and_its_gradient(rows: tuple[str, Run], skip: int) -> None:
    dtype, run = rows
    x, target = scores(dtype, 70), np.array([69, 0, 1])
    grad = np.array([1.0, -2.0, 3.0], dtype)
    loss, extremes = np.empty(3, dtype), np.zeros(2, "i8")
    run("cross_entropy", loss, x, None, None, target, extremes, skip=skip)
    powers = np.exp(shifted(x))
    counts = target != skip
    wanted = np.log(powers.sum(1)) - shifted(x)[range(3), target]
    near = {"rtol": 4 * FEW_STEPS[dtype], "atol": FEW_STEPS[dtype]}
    np.testing.assert_allclose(loss, np.where(counts, wanted, 0), **near)
    assert extremes.tolist() == [0, 0], "every target is a class"
    out = np.empty_like(x)
    run("cross_entropy_backward", out, x, grad, None, target, skip=skip)
    share = powers / powers.sum(1, keepdims=True)
    share[range(3), target] -= 1
    wanted = np.where(counts[:, None], grad[:, None].astype(float) * share, 0)
    np.testing.assert_allclose(out, wanted, **near)


def test_targets_out_of_range_are_reported(rows: tuple[str, Run]) -> None:
    dtype, run = rows
    x, loss, extremes = scores(dtype, 4), np.empty(3, dtype), np.zeros(2, "i8")
    run("cross_entropy", loss, x, None, None, np.array([-7, 3, 9]), extremes)
    assert extremes.tolist() == [-7, 9]


@pytest.mark.parametrize("affine", [False, True])
def test_layer_norm_kernel_equals_numpys_formula(rows: tuple[str, Run], affine: bool) -> None:
    dtype, run = rows
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(3, 100)) + 5).astype(dtype)
    weight, bias = (rng.normal(size=100).astype(dtype) for _ in range(2))
    out = np.empty_like(x)
    run("layer_norm", out, x, *((weight, bias) if affine else ()), eps=1e-3)
    wide = x.astype(float)
    wanted = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-3)
    wanted = wanted * weight + bias if affine else wanted
    tolerance = 10 * FEW_STEPS[dtype]
    np.testing.assert_allclose(out, wanted, rtol=tolerance, atol=tolerance)
