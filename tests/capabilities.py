"""Capabilities that the library of a backend may lack, and the tests that need them.

``pytest --backend NAME`` skips a test that needs what the library lacks. Most such tests raise an
error that says so. The others are listed by what they need, never by the name of a backend.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import pytest

from tinytorch import dtypes
from tinytorch.backends import Backend
from tinytorch.backends.standard import StandardBackend

TESTS = Path(__file__).parent

#: Errors that name a capability that the library lacks.
_ERRORS = {
    r"backend '\w+' has no dtype '?(\w+)": "the library has no {0}",
    r"the bits of one cannot be written": "bits cannot be written through a view of another dtype",
}
_STRIDES, _FLOAT16 = "strides", "float16"
_GAPS = "copy that keeps gaps between rows"
_SUBNORMAL = "remainder of division by subnormal numbers"
#: Files or single tests, by the capability that they need. Immutable values do not show in which
#: order results lie in memory.
_NEED = {
    _FLOAT16: (  # tests that compare the error with PyTorch's result
        "ops/test_further_names.py::test_to_dense_and_dequantize_of_dense_tensors_are_pytorchs",
    ),
    _GAPS: ("ops/test_formats_of_results.py::test_strides_of_copies_are_pytorchs[clone-gaps]",),
    _SUBNORMAL: (
        "ops/test_large_arrays.py::test_remainders_of_large_arrays_are_exact[remainder-special]",
    ),
    _STRIDES: (
        "ops/nn/test_attention.py::test_order_in_memory_is_pytorchs",
        "ops/test_derivatives.py::test_derivatives_by_views_are_torchs[as_strided_]",
        "ops/test_formats_of_results.py",
        "ops/shape/test_memory_order.py",
    ),
}


def capabilities(backend: Backend) -> set[str]:
    """Capabilities of a backend, of those that tests need."""
    found = {_FLOAT16} if backend.supports(dtypes.float16) else set()
    if not isinstance(backend, StandardBackend):
        return found | {_GAPS, _SUBNORMAL, _STRIDES}
    return found | ({_STRIDES} if backend.raw_library.strided else {_SUBNORMAL})


def missing(item: pytest.Item, found: set[str]) -> str | None:
    """Return the capability that a test needs and a backend lacks, or None."""
    path = item.path.relative_to(TESTS).as_posix()
    names = f"{path}::{item.name}", f"{path}::{item.name.partition('[')[0]}", path
    for need, tests in _NEED.items():
        if need not in found and any(name in tests for name in names):
            return need
    return None


def find_reason(error: BaseException | None, backend: Backend) -> str | None:
    """Return why a test is skipped: a lack of a library that its error, or the cause of it, names.

    NumPy's and CuPy's backends lack nothing that a test may skip for.
    """
    while isinstance(backend, StandardBackend) and error is not None:
        for pattern, reason in _ERRORS.items():
            if match := re.search(pattern, str(error)):
                return reason.format(*match.groups())
        error = error.__cause__ or error.__context__
    return None


class Sampler:
    """Plug-in of pytest that selects so many tests, by a hash of their names.

    Args:
        count: Number of tests, of those that ``-m`` and ``-k`` leave.
        seed: Chooses the sample.
    """

    def __init__(self, count: int, seed: int) -> None:
        self.count, self.seed = count, seed

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Keep the tests with the smallest hashes, in their order."""
        ordered = sorted(items, key=lambda item: zlib.crc32(f"{self.seed}{item.nodeid}".encode()))
        config.hook.pytest_deselected(items=ordered[self.count :])
        chosen = set(ordered[: self.count])
        items[:] = [item for item in items if item in chosen]
