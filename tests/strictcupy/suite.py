"""The whole suite on another backend: what ``pytest --backend strict`` sets and leaves out.

On ``strict``, and on ``cupy`` where there is a GPU, the device ``cpu`` means that backend and the
backend calls its device ``cpu``, so that a test written for NumPy, with its ``.numpy()`` and its
``device="cpu"``, exercises every operation there. Checks raise at once, as on NumPy.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import tinytorch
from tinytorch import _device
from tinytorch.backends import load, register_backend
from tinytorch.backends.deferred import DeferredChecks

TESTS = Path(__file__).parent.parent
#: What is not about arrays, or about one backend by name: it runs on numpy alone.
NOT_ABOUT_ARRAYS = (
    "data/test_pinning.py", "facade", "state", "strictcupy", "typing", "test_benchmarks.py",
    "test_cuda_sources.py", "test_cupy_backend.py", "test_device", "test_docs.py",
    "test_examples.py", "test_fused_dropout.py", "test_gpu_benchmark.py", "test_layout.py",
    "test_main.py", "test_pinned.py", "test_registry.py", "test_strictcupy", "test_stubs.py",
    "test_wheel.py",
)  # fmt: skip
#: The examples in the operations' docstrings are about arrays again.
OPERATION_EXAMPLES = "test_docstring_example[tinytorch.ops"
#: Single tests that hold on numpy alone, and why.
NUMPY_ALONE = {
    "test_random.py::test_device_and_backend_arguments": "cpu means numpy there",
    "data/test_dataloader.py::test_batches_and_random_numbers_match": "samplers draw on numpy",
    "data/test_dataloader.py::test_workers_draw_pytorchs_random_numbers": "samplers draw on numpy",
    "ops/test_float_sums.py::test_long_sums_of_views_are_near_the_exact_ones": (
        "CuPy sums as it does; how NumPy's backend sums is tested there"
    ),
    "test_programs.py::test_program_prints_what_it_prints_under_torch": "samplers draw on numpy",
}


def run_on(name: str) -> None:
    """Make a backend the default and the meaning of ``cpu``."""
    if name == "strict":
        register_backend(name, "strictcupy.backend:StrictBackend")
    backend = load(name)
    if isinstance(backend, DeferredChecks):
        backend.immediate = True
    backend.device_type = "cpu"
    _device._BACKEND_OF_TYPE["cpu"] = name
    tinytorch.set_default_backend(name)


def on_numpy_alone(item: pytest.Item) -> bool:
    """Whether another backend has no part in a test."""
    path = item.path.relative_to(TESTS).as_posix()
    if item.name.startswith(OPERATION_EXAMPLES):
        return False
    name = f"{path}::{item.name.partition('[')[0]}"
    return path.startswith(NOT_ABOUT_ARRAYS) or name in NUMPY_ALONE
