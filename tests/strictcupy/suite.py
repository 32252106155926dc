"""The whole suite on another backend: what ``pytest --backend strict`` sets and leaves out.

On ``strict``, and on ``cupy`` where there is a GPU, the device ``cpu`` means that backend and the
backend calls its device ``cpu``, so that a test written for NumPy, with its ``.numpy()`` and its
``device="cpu"``, exercises every operation there. Checks raise at once, as on NumPy.
"""

from __future__ import annotations

import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import tinytorch
from tinytorch.backends import Backend, load, register_backend
from tinytorch.backends.deferred import DeferredChecks
from tinytorch.core import device as devices
from tinytorch.state import generator

TESTS = Path(__file__).parent.parent
#: Folders and files that run on numpy alone: they are about one backend by name, about names or
#: files, or compute in processes, whose backend is numpy.
NOT_ABOUT_ARRAYS = (
    "backends/cupy",
    "backends/numpy",
    "backends/rng/test_torch_mt19937.py",
    "backends/test_registry.py",
    "backends/test_standard.py",
    "capture",
    "checkpoint/test_upcast.py",
    "clients",
    "compat/test_install_as_torch.py",
    "compat/test_let_through.py",
    "compat/test_tables.py",
    "core/test_array_interfaces.py",
    "core/test_dlpack.py",
    "cuda",
    "distributed",
    "export",
    "facade",
    "golden",
    "multiprocessing",
    "onnx",
    "ops/pointwise/test_silence.py",
    "published",
    "state",
    "strictcupy",
    "test_benchmarks.py",
    "test_docs_site.py",
    "test_examples.py",
    "test_gpu_benchmark.py",
    "test_layout.py",
    "test_main.py",
    "test_repl.py",
    "test_security.py",
    "test_stubs.py",
    "test_torch_versions.py",
    "test_wheel.py",
    "test_words.py",
    "typing",
    "utils/data/test_pinning.py",
    "utils/data/test_processes.py",
)
#: Examples in docstrings that name a backend, want NumPy's way with errors, which CuPy lacks,
#: share memory with an array of NumPy's or among processes, which a GPU cannot, start workers, pin
#: memory of the host, forbid writing to it, or draw what CuPy's newer generators do not.
EXAMPLES_WITH_NUMPY = tuple(
    f"test_the_examples_of_each_docstring_print_what_they_show[tinytorch.{module}"
    for module in (
        "state", "backends", "numpy.settings.errstate", "ops.shape.tensor_functions.from_dlpack",
        "core.dlpack", "utils.dlpack", "ops.create.conversion.pin_memory",
        "numpy.methods.setflags", "numpy.random.Generator", "multiprocessing",
        "ops.create.shared_memory",
        "ops.create.untyped_storage.UntypedStorage.share_memory_",
        "nn.module.conversion.Conversion.share_memory", "optim.adagrad.Adagrad.share_memory",
        "utils.data._workers.WorkerInfo",
        # They show engines, files or layouts of NumPy's.
        "compiler", "export", "jit.programs", "onnx.exporting", "nn.module.__init__.Module.compile",
    )
)  # fmt: skip
#: Tables of more cases than this run as a sample of a third, or of about twice this number if that
#: is fewer: NumPy's run has all of them.
LONG_TABLE = 20
_ROW_BY_ROW = "CuPy writes results row by row, whatever the order of the operands"
_COMPLEX_QUOTIENTS = "CuPy's quotient of a complex number and 0 is NaN in both parts"
_FORKS = "a process that is forked cannot use the GPU of its parent"
_LOW = "CuPy has no float8"
_SEEDS = "a seed gives NumPy's numbers on NumPy alone"
#: Single tests that hold on numpy alone, all their cases or one of them, and why.
NUMPY_ALONE = {
    "test_docs.py::test_pytorch_rejects_the_calls_that_its_page_lists"
    '[torch.is_busday("2024-07-05")]': "CuPy has no business days",
    "autograd/test_short_programs.py::test_programs_are_not_misspelt": "it reads names",
    "test_programs.py::test_the_browser_pages_other_examples_print_their_closed_forms": (
        "the browser has NumPy alone"
    ),
    "autograd/test_random_programs.py::test_random_program_does_what_it_does_under_torch[99]": (
        _ROW_BY_ROW
    ),
    "checkpoint/test_serialization_storages.py::"
    "test_a_storage_of_a_dtype_that_numpy_lacks_can_be_saved": _LOW,
    "compat/test_names.py::test_every_public_name_is_here_or_left_out": _LOW,
    "dispatch/test_reduced_precision.py::test_formats_and_dtypes_as_arguments_decide_as_in_pytorch"
    "[x.to(L.float8_e4m3fn)[:1] == 0.3]": _LOW,
    "dispatch/test_reduced_precision.py::test_formats_and_dtypes_as_arguments_decide_as_in_pytorch"
    "[x.to(L.float8_e5m2)[:1] == 0.3]": _LOW,
    "numpy/test_elementwise_dtypes.py::"
    "test_complex_division_by_zero_has_numpys_result_dtype": _COMPLEX_QUOTIENTS,
    # NumPy's own functions are called there; ours want bools for flags, ints for counts.
    "numpy/test_keyword_values.py::"
    "test_keyword_values_of_every_kind_have_numpys_outcome": "flags of other types than bool",
    "ops/linalg/test_einsum.py::"
    "test_strides_of_einsums_result_are_pytorchs[ij,ij->ji]": _ROW_BY_ROW,
    "ops/test_formats_of_results.py::"
    "test_strides_of_image_operations_are_pytorchs[prelu]": _ROW_BY_ROW,
    "ops/test_formats_of_results.py::"
    "test_strides_of_image_operations_are_pytorchs[scaled by channel]": _ROW_BY_ROW,
    "ops/test_formats_of_results.py::"
    "test_strides_of_volume_operations_are_pytorchs[relu]": _ROW_BY_ROW,
    "ops/shape/test_memory_order.py::"
    "test_memory_orders_of_image_operations_are_pytorchs[relu]": _ROW_BY_ROW,
    "ops/test_conventions.py::test_zero_keeps_its_sign_in_rectifiers": (
        "which of two equal numbers a maximum takes is the library's choice"
    ),
    "ops/pointwise/test_elementwise.py::test_bounds_of_large_tensors_keep_the_signs_of_zeros": (
        "CUDA's maximum of zeros is the positive one, in PyTorch's kernels too"
    ),
    "ops/random/test_random.py::"
    "test_random_functions_accept_device_and_backend": "cpu means numpy there",
    "ops/reduce/test_float_sums.py::test_long_sums_of_views_are_near_the_exact_ones": (
        "CuPy sums as it does; how NumPy's backend sums is tested there"
    ),
    "test_docs.py::test_examples_that_are_put_together[tinytorch.numpy.random]": _SEEDS,
    "test_docs.py::"
    "test_the_sessions_of_each_page_print_what_they_show": "they show the name of the backend",
    "utils/data/test_dataloader.py::test_workers_batches_and_random_numbers_match": _FORKS,
    "utils/data/test_dataloader.py::test_workers_share_a_stream_as_in_pytorch": _FORKS,
    "utils/data/test_dataloader.py::test_workers_draw_pytorchs_random_numbers": _FORKS,
    "utils/data/test_dataloader.py::test_workers_call_methods_of_their_copy": _FORKS,
    "utils/data/test_dataloader.py::test_workers_errors_are_as_in_pytorch": _FORKS,
}


def run_on(name: str) -> None:
    """Make a backend the default and the meaning of ``cpu``."""
    if name == "strict":
        import strictcupy

        from tests.capture.cuda_host import make_module

        register_backend(name, "strictcupy.backend:StrictBackend")
        strictcupy.RawModule = make_module  # for compiled functions
    backend = load(name)
    if isinstance(backend, DeferredChecks):
        backend.immediate = True
    backend.device_type = "cpu"
    backend.device_index = _no_index  # type: ignore[method-assign]
    devices._BACKEND_OF_TYPE["cpu"] = name
    tinytorch.set_default_backend(name)
    _have_one_stream(backend)


def _no_index(array: Any) -> None:
    """Stand in for the index of a device: the device ``cpu`` has none."""


def _have_one_stream(backend: Backend) -> None:
    """Let the samplers of data, which draw on NumPy, draw from the stream of the device ``cpu``."""
    device, host = (generator(b) for b in (backend, load("numpy")))
    host.__dict__ = device.__dict__


def is_left_out(name: str, seed: int, cases: int) -> bool:
    """Whether a case of a table stays out of the sample that runs on another backend.

    Args:
        name: The id of the case.
        seed: Chooses the sample; every case is in the sample of some seed.
        cases: Number of cases of the table.
    """
    if cases <= LONG_TABLE:
        return False
    return zlib.crc32(f"{seed}{name}".encode()) % max(3, cases // (2 * LONG_TABLE)) != 0


def is_about_numpy(path: Path) -> bool:
    """Whether all tests of a file or folder run on NumPy alone."""
    return path.is_relative_to(TESTS) and path.relative_to(TESTS).as_posix().startswith(
        NOT_ABOUT_ARRAYS
    )


def on_numpy_alone(item: pytest.Item) -> bool:
    """Whether another backend has no part in a test."""
    path = item.path.relative_to(TESTS).as_posix()
    names = f"{path}::{item.name}", f"{path}::{item.name.partition('[')[0]}"
    return (
        is_about_numpy(item.path)
        or any(name in NUMPY_ALONE for name in names)
        or item.name.startswith(EXAMPLES_WITH_NUMPY)
    )


def sample(items: list[pytest.Item], seed: int) -> list[pytest.Item]:
    """Select the tests that run: of a long table of cases a sample, all of the others."""
    tables = [item.nodeid.partition("[")[0] for item in items]
    cases = Counter(tables)
    return [
        item
        for item, table in zip(items, tables, strict=True)
        if not is_left_out(item.nodeid, seed, cases[table])
    ]
