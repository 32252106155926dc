"""The fused kernels' CUDA sources compile, without a GPU; and the updates compute what they should.

NVRTC needs no driver: where CuPy is installed every source is compiled for an A100 (sm_80) and an
H100 (sm_90). The optimizers' updates are plain C++ but for a few words of CUDA's, so that a host
compiler can make a function of the very same source, run here against the NumPy twins.
"""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tinytorch.backends import load
from tinytorch.backends.cupy.kernels import ELEMENTWISE, FusedKernels, row_source
from tinytorch.backends.cupy.updates import TYPES, Updates, update_source
from tinytorch.optim import _kernels as twins

#: CuPy's own types stand for halves in an ElementwiseKernel.
CUPY_TYPES = {
    "float16": "float16", "float32": "float", "float64": "double", "bfloat16": "bfloat16",
}  # fmt: skip


def elementwise_source(name: str, dtype: str) -> str:
    """An elementwise kernel's body in a loop like the one that CuPy writes around it."""
    inputs, outputs, body = ELEMENTWISE[name]
    ins = [declaration.split() for declaration in inputs.split(",")]
    outs = [declaration.split() for declaration in outputs.split(",")]
    words = {"T": "T", "bool": "bool", "float64": "double"}
    parameters = [f"const {words[t]}* {n}_" for t, n in ins] + [f"{t}* {n}_" for t, n in outs]
    reads = [f"const {words[t]} {n} = {n}_[i];" for t, n in ins]
    reads += [f"{t}& {n} = {n}_[i];" for t, n in outs]
    return (
        "#include <cupy/complex.cuh>\n#include <cupy/carray.cuh>\n#include <cupy/float16.cuh>\n"
        f"{'#include <cupy/bfloat16.cuh>' * (dtype == 'bfloat16')}\n"
        f"typedef {CUPY_TYPES[dtype]} T;\n"
        f'extern "C" __global__ void tinytorch_{name}({", ".join(parameters)}, long long n) {{\n'
        "  for (long long i = threadIdx.x; i < n; i += blockDim.x) {\n"
        f"    {' '.join(reads)}\n    {body};\n  }}\n}}\n"
    )


SOURCES: dict[str, tuple[Callable[[str], str], tuple[str, ...]]] = {
    "rows": (
        row_source,
        ("softmax", "log_softmax", "cross_entropy", "cross_entropy_backward", "layer_norm"),
    ),
    "updates": (update_source, ("sgd", "sgd_momentum", "adam", "adam_largest")),
    **{
        name: (lambda dtype, name=name: elementwise_source(name, dtype), (f"tinytorch_{name}",))
        for name in ELEMENTWISE
    },
}


def include_folders() -> list[str]:
    """Where CuPy's headers and CUDA's are."""
    cupy = importlib.util.find_spec("cupy")
    assert cupy is not None and cupy.origin is not None
    own = Path(cupy.origin).parent / "_core" / "include"
    folders = [own, *(own / "cupy" / "_cccl" / part for part in ("cub", "thrust", "libcudacxx"))]
    spec = importlib.util.find_spec("nvidia.cuda_runtime")
    if spec is not None:
        folders += [Path(p) / "include" for p in spec.submodule_search_locations or ()]
    folders += [Path("/usr/local/cuda/include")]
    return [str(folder) for folder in folders if folder.is_dir()]


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", SOURCES)
def test_each_source_compiles_for_the_gpu(name: str, dtype: str, arch: str) -> None:
    pytest.importorskip("cupy", reason="CuPy brings NVRTC")
    from cupy.cuda import nvrtc

    source, kernels = SOURCES[name]
    program = nvrtc.createProgram(source(dtype), f"{name}.cu", [], [])
    # CuPy compiles its own kernels as C++17; ours say what they are.
    standard = "--std=c++17" if name in ELEMENTWISE else "--std=c++14"
    options = [standard, f"--gpu-architecture={arch}"]
    options += [f"-I{folder}" for folder in include_folders()]
    try:
        nvrtc.compileProgram(program, options)
    except Exception as error:
        pytest.fail(f"{error}\n{nvrtc.getProgramLog(program)}")
    machine_code = nvrtc.getCUBIN(program)
    for kernel in kernels:
        assert kernel.encode() in machine_code


def test_every_kernel_that_is_looked_up_has_a_source() -> None:
    names = {name[1:] for name in vars(FusedKernels) if name.startswith("_") and name[1] != "_"}
    helpers = {"row", "takes", "takes_rows", "takes_classes", "run_row_kernel", "run_like"}
    helpers.add("linear")  # is cuBLAS's
    compiled = {k for _, kernels in SOURCES.values() for k in kernels}
    for name in names - helpers:
        source = name.removesuffix("_update")
        assert source in compiled or f"tinytorch_{source}" in compiled, name


def test_more_rows_than_a_grid_has_blocks_are_left_to_the_twins() -> None:
    # CuPy would launch the kernel on the remainder by 2**32 and say nothing.
    x = np.broadcast_to(np.float16(0), (2**31, 1))
    rows, kernels = np.broadcast_to(0, len(x)), FusedKernels(None)
    assert kernels.get("softmax")(x, 1) is None
    assert kernels.get("log_softmax")(x.reshape(1, 2**31), 0) is None
    assert kernels.get("layer_norm")(x, None, None, 1, 1e-5) is None
    assert kernels.get("cross_entropy")(x, rows, -100) is None
    assert kernels.get("cross_entropy_backward")(rows, x, rows, -100) is None


# -- the updates on the host ---------------------------------------------------------------------

_HOST = r"""
#include <cmath>
#define __global__
#define __device__
#define __forceinline__ inline
struct Place { unsigned x, y; };
static Place blockIdx, threadIdx, blockDim, gridDim;
using std::sqrt;
%(source)s

#define LAUNCH(kernel, ...) \
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y) \
    for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) \
    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) kernel(__VA_ARGS__)

extern "C" void launch(
    int which, const void* table, const double* n, unsigned x, unsigned y, unsigned threads
) {
    gridDim.x = x; gridDim.y = y; blockDim.x = threads;
    if (which == 0) LAUNCH(sgd, *(const Table<2>*)table, n[0], n[1], n[2]);
    if (which == 1)
        LAUNCH(sgd_momentum, *(const Table<3>*)table, n[0], n[1], n[2], n[3], n[4], n[5]);
    if (which == 2) LAUNCH(adam, *(const Table<4>*)table, n[0], n[1], n[2], n[3], n[4], n[5], n[6]);
    if (which == 3)
        LAUNCH(adam_largest, *(const Table<5>*)table, n[0], n[1], n[2], n[3], n[4], n[5], n[6]);
}
"""
_ORDER = ("sgd", "sgd_momentum", "adam", "adam_largest")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler here")
    folder, made = tmp_path_factory.mktemp("updates"), dict[str, Any]()

    def library(source: str) -> Any:
        if source not in made:
            path = folder / f"{len(made)}.cpp"
            path.write_text(_HOST % {"source": source})
            out = path.with_suffix(".so")
            subprocess.run(
                [compiler, "-std=c++14", "-O1", "-shared", "-fPIC", str(path), "-o", str(out)],
                check=True, capture_output=True,
            )  # fmt: skip
            made[source] = ctypes.CDLL(str(out)).launch
        return made[source]

    return library


class _Pointer:
    def __init__(self, ptr: int) -> None:
        self.ptr = ptr


class _Array(np.ndarray):
    """A NumPy array whose address is found as CuPy's is."""

    @property
    def data(self) -> Any:  # type: ignore[override]
        return _Pointer(self.ctypes.data)


class HostModule:
    """Stands for CuPy's ``RawModule``: the same source, grid and arguments, run on the host."""

    launches: list[tuple[str, Any, Any]] = []

    def __init__(self, library: Any) -> None:
        self.library = library

    def get_function(self, name: str) -> Callable[..., None]:
        def call(grid: tuple[int, int], block: tuple[int], arguments: tuple[Any, ...]) -> None:
            table, *numbers = arguments
            assert table.size == 1, "CuPy passes an array of one structure by value"
            assert table.nbytes + 8 * len(numbers) <= 4096, "CUDA takes no more"
            values = (ctypes.c_double * 8)(*numbers)
            which = _ORDER.index(name)
            self.library(which, ctypes.c_void_p(table.ctypes.data), values, *grid, *block)
            self.launches.append((name, grid, block))

        return call


class HostLibrary:
    """The little of CuPy that ``Updates`` uses."""

    def __init__(self, compiled: Callable[[str], Any]) -> None:
        self._compiled = compiled

    def RawModule(self, code: str, options: tuple[str, ...]) -> HostModule:
        return HostModule(self._compiled(code))

    def ascontiguousarray(self, array: Any) -> Any:
        return np.ascontiguousarray(array).view(_Array)


SHAPES = [(3, 5), (), (1,), (0, 2), (4099,), (2, 3, 4)]
SGD = {"lr": 0.1, "momentum": 0.0, "dampening": 0.0, "weight_decay": 0.0, "nesterov": False,
       "maximize": False}  # fmt: skip
ADAM = {"step": 3.0, "lr": 0.01, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "weight_decay": 0.0,
        "decoupled": False, "maximize": False}  # fmt: skip
CASES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "sgd": ("sgd", 0, SGD),
    "sgd decay maximize": ("sgd", 0, {**SGD, "weight_decay": 0.1, "maximize": True}),
    "momentum": ("sgd", 1, {**SGD, "momentum": 0.9, "dampening": 0.2}),
    "nesterov": ("sgd", 1, {**SGD, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    "adam": ("adam", 2, ADAM),
    "adam decay maximize": ("adam", 2, {**ADAM, "weight_decay": 0.1, "maximize": True}),
    "adamw": ("adam", 2, {**ADAM, "weight_decay": 0.1, "decoupled": True}),
    "amsgrad": ("adam", 3, {**ADAM, "weight_decay": 0.1}),
}


def columns_of(count: int, shapes: list[tuple[int, ...]], dtype: str) -> list[list[Any]]:
    """Parameters and gradients of any sign, and state that is positive."""
    rng = np.random.default_rng(0)
    columns = [[rng.standard_normal(shape) for shape in shapes] for _ in range(2)]
    columns += [[rng.random(shape) for shape in shapes] for _ in range(count)]
    return [[np.array(a, dtype).view(_Array) for a in column] for column in columns]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
def test_updates_agree_with_their_twins(compiled: Any, case: str, dtype: str, many: bool) -> None:
    kernel, state, numbers = CASES[case]
    shapes = SHAPES * 40 if many else SHAPES
    ours, theirs = (columns_of(state, shapes, dtype) for _ in range(2))
    expected = [[a.view(np.ndarray) for a in column] for column in theirs]
    full = 1 if kernel == "sgd" else 3
    gaps: list[Any] = [[]] * (full - state)
    HostModule.launches.clear()
    assert getattr(Updates(HostLibrary(compiled)), kernel)(*ours, *gaps, **numbers) is None
    twins.KERNELS[f"{kernel}_update"](load("numpy"), *expected, *gaps, **numbers)
    tolerance = 2e-6 if dtype == "float32" else 1e-14
    for column, wanted in zip(ours, expected, strict=True):
        for a, b in zip(column, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    tensors = sum(a.size > 0 for a in ours[0])
    most = 3840 // (8 * (state + 3))
    assert len(HostModule.launches) == -(-tensors // most), "one launch for many tensors"


@pytest.mark.parametrize("case", CASES)
def test_updates_of_bfloat16_are_rounded_once(compiled: Any, case: str) -> None:
    low = pytest.importorskip("ml_dtypes", reason="the extra [lowp] is not installed").bfloat16
    kernel, state, numbers = CASES[case]
    ours = columns_of(state, SHAPES, low)
    wide = [[np.array(a, "float32") for a in column] for column in ours]
    full = 1 if kernel == "sgd" else 3
    gaps: list[Any] = [[]] * (full - state)
    assert getattr(Updates(HostLibrary(compiled)), kernel)(*ours, *gaps, **numbers) is None
    twins.KERNELS[f"{kernel}_update"](load("numpy"), *wide, *gaps, **numbers)
    for column, wanted in zip(ours, wide, strict=True):
        for a, b in zip(column, wanted, strict=True):
            # Float32 in another order may fall on the other side of a tie.
            assert (abs(a.astype("f8") - b) <= 0.5001 * abs(np.spacing(b.astype(low)))).all()


def test_dtypes_may_be_mixed_and_gradients_strided(compiled: Any) -> None:
    p = [np.ones((2, 3), "f4").view(_Array), np.ones((2, 3), "f8").view(_Array)]
    g = [np.arange(6, dtype="f4").reshape(3, 2).T.view(_Array), np.ones((2, 3)).view(_Array)]
    Updates(HostLibrary(compiled)).sgd(p, g, [], **{**SGD, "lr": 1.0})
    assert p[0].tolist() == [[1, -1, -3], [0, -2, -4]]
    assert p[1].tolist() == [[0, 0, 0]] * 2


@pytest.mark.parametrize(
    "p", [np.ones((3, 2), "f4").T, np.ones(3, "i4")], ids=["strided", "integer"]
)
def test_updates_of_unsupported_parameters_return_not_implemented(compiled: Any, p: Any) -> None:
    found = Updates(HostLibrary(compiled)).sgd([p.view(_Array)], [p.view(_Array)], [], **SGD)
    assert found is NotImplemented
    assert (p == 1).all(), "and is unchanged"
