"""What other libraries reach a tensor's memory by, and its numbers without a gradient."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import tinytorch as tt


def on_cpu(*shape: int, **options: Any) -> Any:
    return tt.arange(24.0, device="cpu", **options)[: np.prod(shape, dtype=int)].reshape(shape)


@pytest.mark.parametrize(
    "x", [on_cpu(2, 3), on_cpu(2, 3).T, on_cpu(4)[::2], on_cpu(0, 2), on_cpu(), on_cpu(1).expand(3)]
)
def test_array_interface_holds_address_shape_and_dtype(x: Any) -> None:
    interface = x.__array_interface__
    assert interface["data"][0] == x.data_ptr() or not x.numel()
    assert interface["shape"] == tuple(x.shape) and interface["typestr"] == x.numpy().dtype.str
    assert interface["strides"] == tuple(4 * n for n in x.stride())
    holder = type("Holder", (), {"__array_interface__": interface})()
    np.testing.assert_array_equal(np.asarray(holder), x.numpy())


def test_a_tensor_is_no_array_of_numpys(lib: Any) -> None:
    with pytest.raises(TypeError, match=r"expected np.ndarray \(got Tensor\)"):
        lib.from_numpy(lib.ones(2))


def test_c_functions_are_given_the_memory() -> None:
    x = on_cpu(3)
    assert x.ctypes.data == x.data_ptr() and [*x.ctypes.shape] == [3]
    pointer = x.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
    pointer[1] = 7.0
    assert x.tolist() == [0.0, 7.0, 2.0]


def test_the_array_interface_of_a_meta_tensor_raises_attribute_error() -> None:
    x = tt.ones(2, device="meta")
    for name in ("__array_interface__", "ctypes"):
        assert not hasattr(x, name)
        with pytest.raises(AttributeError, match=f"{name} of a tensor on meta"):
            getattr(x, name)
    with pytest.raises(AttributeError, match="requires grad"):
        on_cpu(2).requires_grad_().__array_interface__


def test_numpy_reads_what_requires_grad_and_says_so_once() -> None:
    x = on_cpu(3).requires_grad_()
    with pytest.warns(UserWarning, match="no gradient flows"):
        np.testing.assert_array_equal(np.asarray(x), [0, 1, 2])
    np.testing.assert_array_equal(np.array(x * 2), [0, 2, 4])
    with pytest.raises(RuntimeError, match="requires grad"):
        x.numpy()


def test_numpy_reads_a_leaf_without_a_warning_under_no_grad() -> None:
    x = on_cpu(3).requires_grad_()
    with tt.no_grad():
        np.testing.assert_array_equal(np.asarray(x), [0, 1, 2])


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.atleast_1d(x, None), lambda x: np.broadcast_arrays(None, x),
        lambda x: np.array_equal(x, None), lambda x: np.isin(x, None),
        lambda x: np.stack([x, None]),
    ],
)  # fmt: skip
def test_none_in_place_of_an_array_has_numpys_outcome(call: Any) -> None:
    wanted = call(np.float32(1))
    found = call(tt.ones((), device="cpu"))
    assert repr(found) == repr(wanted)


def test_none_for_an_option_is_not() -> None:
    x = tt.ones(2)
    for found in (np.concatenate([x, x], None), np.sum(x, None), np.clip(x, None, 2)):
        assert isinstance(found, tt.Tensor)
