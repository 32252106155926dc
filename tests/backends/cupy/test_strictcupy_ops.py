"""An operation that would fail or wait on a GPU is caught on the stand-in, and not on NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
from strictcupy import record_syncs
from strictcupy.backend import StrictBackend

import tinytorch as tt
from tinytorch.dispatch.op import OPS, Array, Backend, op


def calls_numpy(xp: Backend, input: Array) -> Array:
    return numpy.sin(input)


def converts_to_numpy(xp: Backend, input: Array) -> Array:
    return xp.asarray(numpy.sort(numpy.asarray(input)))


def mixes_in_a_host_array(xp: Backend, input: Array) -> Array:
    return input + numpy.ones(input.shape)


def passes_where_to_a_reduction(xp: Backend, input: Array) -> Array:
    return xp.sum(input, where=input > 1)


def passes_initial_to_a_reduction(xp: Backend, input: Array) -> Array:
    return xp.max(input, initial=0)


def accumulates_with_a_ufunc(xp: Backend, input: Array) -> Array:
    return xp.maximum.accumulate(input)


def sizes_a_result_by_a_value(xp: Backend, input: Array) -> Array:
    return xp.zeros((input.astype("int64").max(), 2))


def reads_a_scalar(xp: Backend, input: Array) -> Array:
    return input * 2 if xp.sum(input) > 0 else input


def computes_with_python_s_math(xp: Backend, input: Array) -> Array:
    return input * float(xp.max(input))


def selects_with_a_mask(xp: Backend, input: Array) -> Array:
    return input[input > 1]


REFUSED = [
    calls_numpy, converts_to_numpy, mixes_in_a_host_array, passes_where_to_a_reduction,
    passes_initial_to_a_reduction, accumulates_with_a_ufunc, sizes_a_result_by_a_value,
]  # fmt: skip
WAITING = {
    reads_a_scalar: "bool",
    computes_with_python_s_math: "float",
    selects_with_a_mask: "mask",
}


@pytest.fixture(autouse=True)
def no_trace_in_the_registry() -> Iterator[None]:
    before = dict(OPS)
    yield
    OPS.clear()
    OPS.update(before)


@pytest.mark.parametrize("kernel", REFUSED, ids=lambda kernel: kernel.__name__)
def test_a_kernel_that_cupy_cannot_run_raises(kernel: Callable[..., Any]) -> None:
    function = op(kernel, public=False)
    with tt.backend_context("numpy"):
        function(tt.tensor([1.0, 2.0, 3.0]))
    with tt.backend_context(StrictBackend()):
        x = tt.tensor([1.0, 2.0, 3.0])
        with pytest.raises((TypeError, AttributeError, NotImplementedError)):
            function(x)


@pytest.mark.parametrize("kernel", WAITING, ids=lambda kernel: kernel.__name__)
def test_a_kernel_that_waits_for_the_device_is_logged(kernel: Callable[..., Any]) -> None:
    function = op(kernel, public=False)
    with tt.backend_context(StrictBackend()):
        x = tt.tensor([1.0, 2.0, 3.0])
        with record_syncs() as log:
            function(x)
    assert [entry.kind for entry in log] == [WAITING[kernel]]
    assert "test_strictcupy_ops.py" in log[0].where


def test_a_gradient_rule_that_cupy_cannot_run_raises() -> None:
    def double(xp: Backend, input: Array) -> Array:
        return input * 2

    function: Any = op(double, public=False)
    function.vjp(input=lambda xp, g: numpy.multiply(g, 2))
    with tt.backend_context(StrictBackend()):
        x = tt.ones(3, requires_grad=True)
        with pytest.raises(TypeError):
            function(x).sum().backward()
