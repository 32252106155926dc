"""The stand-in says of which of CuPy's functions the host waits inside, where a GPU is CuPy itself.

They read a size or a value back although nothing in their names says so: an operation that calls
one in a training step would stop the queue there.
"""

from __future__ import annotations

from typing import Any

import pytest
import strictcupy
from strictcupy import contract, record_syncs
from strictcupy.backend import StrictCudaBackend

import tinytorch as tt

WAITING = [
    "xp.lib.stride_tricks.sliding_window_view(x, 2, 1)", "xp.tril_indices(3)",
    "xp.triu_indices(3)", "xp.tril_indices_from(A)", "xp.triu_indices_from(A)",
    "xp.unravel_index(xp.arange(3), (2, 3))", "xp.choose(r.astype('i4'), xp.stack([r, r]))",
    "xp.linspace(s, 5, 3)", "xp.linspace(0, s, 3)", "xp.arange(s)", "xp.ix_(r)",
    "xp.repeat(v, [1, 2, 0])", "v.repeat([1, 2, 0])", "xp.place(x, m, v)", "x.fill(s)",
    "xp.array_equal(x, x, True)", "xp.array_equal(x, x, equal_nan=True)", "xp.gradient(v, v)",
    "xp.argpartition(x, 1)", "x.argpartition(1, 0)",
    "xp.ravel_multi_index((n[0], n[0]), (9, 9), 'raise')", "xp.linalg.cond(A)",
    "xp.histogram(x)", "xp.histogram(x, v, range=(0, 2))",
    "xp.real_if_close(c)", "xp.random.randint(0, 5, 3)", "special.logsumexp(x)",
]  # fmt: skip
NOT_WAITING = [
    "xp.choose(r.astype('i4'), xp.stack([r, r]), mode='wrap')", "xp.linspace(0, 5, 3)",
    "xp.arange(0, 5, 1)", "xp.ix_(j, j)", "xp.repeat(v, 2)", "x.fill(2.0)", "xp.full(3, s)",
    "xp.full_like(x, s)", "xp.searchsorted(v, x)", "xp.roll(x, 1)", "xp.tri(3)",
    "xp.partition(x, 1)", "xp.array_equal(x, x)", "xp.gradient(v, 2.0)", "xp.gradient(x)",
    "xp.ravel_multi_index((n[0], n[0]), (9, 9))", "xp.digitize(x, v)",
    "xp.histogram(x, 2, (0, 4))", "xp.histogram(x, bins=2, range=(0, 4))",
    "xp.ravel_multi_index((n[0], n[0]), (9, 9), mode=('clip', 'wrap'))",
    "xp.clip(x, 0, s)", "xp.random.uniform(0, 1, 3)",
]  # fmt: skip


def stand_in() -> contract.Library:
    return contract.Library(strictcupy, strictcupy.cupyx, strictcupy.asarray)


def waits(case: str) -> bool:
    library = stand_in()
    names = library.names()
    with record_syncs() as log:
        assert library.run(case, names) is None
    return any(entry.kind != "upload" for entry in log)


@pytest.mark.parametrize("case", WAITING)
def test_waiting_is_logged(case: str) -> None:
    if "special." in case:
        pytest.importorskip("scipy.special", reason="SciPy computes the stand-in's function")
    assert waits(case)


@pytest.mark.parametrize("case", NOT_WAITING)
def test_not_waiting_is_not(case: str) -> None:
    assert not waits(case)


def test_cupy_waits_there_and_only_there() -> None:
    cupy: Any = pytest.importorskip("cupy", reason="CuPy is not installed")
    if not cupy.is_available():
        pytest.skip("what waits shows on a GPU alone")
    real = contract.real_library()
    cases = WAITING + NOT_WAITING
    assert {case: real.waits(case) for case in cases} == {case: case in WAITING for case in cases}


def test_flat_indices_wrap_as_cupys_do() -> None:
    index = strictcupy.asarray([1, 7])
    assert strictcupy.ravel_multi_index((index, index), (2, 3)).tolist() == [4, 4]
    with pytest.raises(ValueError, match="invalid entry"):
        strictcupy.ravel_multi_index((index, index), (2, 3), mode="raise")


@pytest.mark.parametrize("value", [[1, 2], (1, 2)])
def test_an_array_is_not_filled_with_a_list(value: Any) -> None:
    text = f"'{type(value).__name__}' object has no attribute 'dtype'"
    with pytest.raises(AttributeError, match=text):
        strictcupy.full(2, value)
    with pytest.raises(AttributeError, match=text):
        strictcupy.full_like(strictcupy.zeros(2), value)
    assert strictcupy.full((2,), 3, "f4").tolist() == [3.0, 3.0]
    assert strictcupy.full_like(strictcupy.zeros(2), 3).tolist() == [3.0, 3.0]


def test_a_short_time_transform_does_not_wait() -> None:
    with tt.backend_context(StrictCudaBackend()):
        signal = tt.rand(2, 40, requires_grad=True)
        window = tt.hann_window(8)
        with record_syncs() as log:
            spectrum = tt.stft(signal, 8, 4, window=window, return_complex=True)
            spectrum.abs().sum().backward()
    assert [entry for entry in log if entry.kind != "upload"] == []
