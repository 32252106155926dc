"""The functions that are written when they are first called."""

from __future__ import annotations

from datetime import datetime
from types import FunctionType

import pytest

import tinytorch as tt


@pytest.mark.parametrize("function", [tt.add, tt.Tensor.__add__, tt.zeros, tt.Tensor.add_])
def test_a_kernel_may_import_something_in_c(function: FunctionType) -> None:
    """CuPy's do: what imports in C asks its caller's names for the builtins."""
    names = {**function.__globals__, "parse": datetime.strptime}
    asked = FunctionType((lambda: parse("2020", "%Y")).__code__, names)  # noqa: F821
    assert asked() == datetime(2020, 1, 1)
