"""The stand-in says of which of CuPy's functions the host waits inside, where a GPU is CuPy itself.

They read a size or a value back although nothing in their names says so: an operation that calls
one in a training step would stop the queue there.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import strictcupy
from strictcupy import contract, record_syncs
from strictcupy.backend import StrictCudaBackend

import tinytorch as tt
from tests.calls import Call, call_with_names, parameters, words

WAITING: list[Call] = [
    lambda xp, x: xp.lib.stride_tricks.sliding_window_view(x, 2, 1),
    lambda xp: xp.tril_indices(3),
    lambda xp: xp.triu_indices(3),
    lambda xp, A: xp.tril_indices_from(A),
    lambda xp, A: xp.triu_indices_from(A),
    lambda xp: xp.unravel_index(xp.arange(3), (2, 3)),
    lambda xp, r: xp.choose(r.astype("i4"), xp.stack([r, r])),
    lambda xp, s: xp.linspace(s, 5, 3),
    lambda xp, s: xp.linspace(0, s, 3),
    lambda xp, s: xp.arange(s),
    lambda xp, r: xp.ix_(r),
    lambda xp, v: xp.repeat(v, [1, 2, 0]),
    lambda v: v.repeat([1, 2, 0]),
    lambda xp, x, m, v: xp.place(x, m, v),
    lambda x, s: x.fill(s),
    lambda xp, x: xp.array_equal(x, x, True),
    lambda xp, x: xp.array_equal(x, x, equal_nan=True),
    lambda xp, v: xp.gradient(v, v),
    lambda xp, x: xp.argpartition(x, 1),
    lambda x: x.argpartition(1, 0),
    lambda xp, n: xp.ravel_multi_index((n[0], n[0]), (9, 9), "raise"),
    lambda xp, A: xp.linalg.cond(A),
    lambda xp, x: xp.histogram(x),
    lambda xp, x, v: xp.histogram(x, v, range=(0, 2)),
    lambda xp, c: xp.real_if_close(c),
    lambda xp: xp.random.randint(0, 5, 3),
    lambda special, x: special.logsumexp(x),
]
NOT_WAITING: list[Call] = [
    lambda xp, r: xp.choose(r.astype("i4"), xp.stack([r, r]), mode="wrap"),
    lambda xp: xp.linspace(0, 5, 3),
    lambda xp: xp.arange(0, 5, 1),
    lambda xp, j: xp.ix_(j, j),
    lambda xp, v: xp.repeat(v, 2),
    lambda x: x.fill(2.0),
    lambda xp, s: xp.full(3, s),
    lambda xp, x, s: xp.full_like(x, s),
    lambda xp, x, v: xp.searchsorted(v, x),
    lambda xp, x: xp.roll(x, 1),
    lambda xp: xp.tri(3),
    lambda xp, x: xp.partition(x, 1),
    lambda xp, x: xp.array_equal(x, x),
    lambda xp, v: xp.gradient(v, 2.0),
    lambda xp, x: xp.gradient(x),
    lambda xp, n: xp.ravel_multi_index((n[0], n[0]), (9, 9)),
    lambda xp, x, v: xp.digitize(x, v),
    lambda xp, x: xp.histogram(x, 2, (0, 4)),
    lambda xp, x: xp.histogram(x, bins=2, range=(0, 4)),
    lambda xp, n: xp.ravel_multi_index((n[0], n[0]), (9, 9), mode=("clip", "wrap")),
    lambda xp, x, s: xp.clip(x, 0, s),
    lambda xp: xp.random.uniform(0, 1, 3),
]


def stand_in() -> contract.Library:
    return contract.Library(strictcupy, strictcupy.cupyx, strictcupy.asarray)


def waits(case: Call) -> bool:
    library = stand_in()
    names = library.names()
    with record_syncs() as log:
        assert library.run(partial(call_with_names, case), names) is None
    return any(entry.kind != "upload" for entry in log)


@pytest.mark.parametrize("case", WAITING, ids=words)
def test_a_call_listed_as_waiting_is_logged(case: Call) -> None:
    if "special" in parameters(case):
        pytest.importorskip("scipy.special", reason="SciPy computes the stand-in's function")
    assert waits(case)


@pytest.mark.parametrize("case", NOT_WAITING, ids=words)
def test_a_call_listed_as_not_waiting_is_not_logged(case: Call) -> None:
    assert not waits(case)


def test_cupy_waits_in_the_listed_calls_and_in_no_other() -> None:
    cupy: Any = pytest.importorskip("cupy", reason="CuPy is not installed")
    if not cupy.is_available():
        pytest.skip("what waits shows on a GPU alone")
    real = contract.real_library()
    cases = WAITING + NOT_WAITING
    waiting = {words(case) for case in WAITING}
    assert {words(case) for case in cases if real.waits(partial(call_with_names, case))} == waiting


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
