"""What the CuPy backend adds to CuPy: the lines that CuPy and the stand-in share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import strictcupy
from strictcupy.backend import StrictBackend, StrictCudaBackend

from tinytorch.backends import load


@pytest.fixture(scope="module")
def xp() -> Any:
    return load(StrictBackend)


def test_names_that_the_backend_lacks_are_read_from_cupy(xp: Any) -> None:
    assert xp.sin is strictcupy.sin
    assert xp.array_type is strictcupy.ndarray
    with pytest.raises(AttributeError, match="backend 'strict' has no 'busday_count'"):
        xp.busday_count


def test_from_numpy_and_to_numpy_transfer_values(xp: Any) -> None:
    values = np.arange(4.0)
    device = xp.from_numpy(values)
    assert type(device) is xp.array_type
    assert np.array_equal(xp.to_numpy(device), values)


def test_is_view_recognizes_shared_memory(xp: Any) -> None:
    x = xp.zeros((2, 3))
    assert xp.is_view(x.reshape(6), x)
    assert xp.is_view(x.T[0], x[1:])
    assert not xp.is_view(x.copy(), x)
    assert not xp.is_view(x + 1, x)


def test_a_broadcast_array_is_readonly(xp: Any) -> None:
    x = xp.zeros((1, 3))
    assert xp.readonly(xp.broadcast_to(x, (2, 3)))
    assert not xp.readonly(x)
    assert not xp.readonly(xp.broadcast_to(x, (1, 1, 3)))


@pytest.mark.parametrize("char", "?bBhHiIlLefdFD")
def test_index_add_sums_repeats_in_every_dtype(xp: Any, char: str) -> None:
    index, values = np.array([0, 2, 0]), np.array([1, 1, 1]).astype(char)
    expected = np.zeros(3, char)
    np.add.at(expected, index, values)
    target = xp.zeros(3, char)
    xp.index_add(target, xp.asarray(index), xp.asarray(values))
    assert target.dtype == expected.dtype
    assert np.array_equal(xp.to_numpy(target), expected)


def test_index_add_keeps_both_parts_of_complex_numbers(xp: Any) -> None:
    target = xp.zeros(2, "complex64")
    xp.index_add(target, xp.asarray([1, 1]), xp.asarray([1 + 2j, 3 - 1j]))
    assert xp.to_numpy(target).tolist() == [0, 4 + 1j]


def test_erf_keeps_float32_and_has_the_right_values(xp: Any) -> None:
    x = xp.asarray(np.array([-1.0, 0.0, 0.5], "f4"))
    assert xp.erf(x).dtype == np.float32
    assert np.allclose(xp.to_numpy(xp.erf(x)), [-0.8427008, 0, 0.5204999], rtol=1e-6)


def test_special_functions_that_cupy_lacks_run_on_the_host(xp: Any) -> None:
    scipy = pytest.importorskip("scipy.special", reason="SciPy has the function")
    x = xp.asarray([0.5, 1.5])
    assert not hasattr(xp.extras.scipy.special, "airy")
    for part, expected in zip(xp.special("airy")(x), scipy.airy([0.5, 1.5]), strict=True):
        assert type(part) is xp.array_type
        assert np.array_equal(xp.to_numpy(part), expected)
    with strictcupy.record_syncs() as log:
        xp.special("erf")(x)
    assert log == [], "CuPy has this one"


def test_devices_and_device_index_name_the_device() -> None:
    xp = StrictCudaBackend()
    assert xp.devices() == ["strictcuda:0"]
    assert xp.device_index(xp.zeros(1)) == 0


def test_synchronize_is_recorded_as_one_wait(xp: Any) -> None:
    with strictcupy.record_syncs() as log:
        xp.synchronize()
    assert [entry.kind for entry in log] == ["synchronize"]


def test_info_names_versions_and_devices(xp: Any) -> None:
    info = xp.info()
    assert info["version"] == strictcupy.__version__
    assert info["GPUs"] == "strictcupy"
    assert info["driver"] == "CUDA 12.8"
