"""OpenBLAS's number of threads around products, read while they run."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import tinytorch as tt
from tinytorch.backends.numpy import blas

SMALL, LARGE = blas.SMALL, blas.SMALL + 1


@pytest.fixture
def control() -> Iterator[blas.Threads]:
    found = blas.threads()
    if found is None:
        pytest.skip("NumPy runs on another BLAS")
    before = found.get()
    found.set(2)
    yield found
    found.set(before)


class Held:
    """A call that stays inside its function, in a thread of its own, until `leave`."""

    def __init__(self, work: int) -> None:
        self.entered, self.left = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=blas.call, args=(work, self.stay))
        self.thread.start()
        assert self.entered.wait(300)

    def stay(self) -> None:
        self.entered.set()
        assert self.left.wait(300)

    def leave(self) -> None:
        self.left.set()
        self.thread.join()


def test_a_small_product_takes_one_thread_and_a_large_one_all(control: blas.Threads) -> None:
    assert blas.call(SMALL, control.get) == 1
    assert control.get() == 2
    assert blas.call(LARGE, control.get) == 2


def test_another_error_and_an_interrupt_restore_the_number(control: blas.Threads) -> None:
    for error in (ValueError, KeyboardInterrupt, SystemExit):

        def fails(error: type[BaseException] = error) -> None:
            assert control.get() == 1
            raise error

        with pytest.raises(error):
            blas.call(SMALL, fails)
        assert control.get() == 2


def test_the_number_stays_while_another_thread_is_in_a_large_product(
    control: blas.Threads,
) -> None:
    large = Held(LARGE)
    assert blas.call(SMALL, control.get) == 2
    large.leave()
    assert blas.call(SMALL, control.get) == 1


def test_the_last_of_two_small_products_restores_the_number(control: blas.Threads) -> None:
    first, second = Held(SMALL), Held(SMALL)
    first.leave()
    assert control.get() == 1
    assert blas.count() == 2
    second.leave()
    assert control.get() == 2


def test_a_number_set_meanwhile_is_in_force_after_the_product(control: blas.Threads) -> None:
    product = Held(SMALL)
    tt.set_num_threads(3)
    assert (control.get(), tt.get_num_threads()) == (1, 3)
    product.leave()
    assert control.get() == tt.get_num_threads() == 3


def test_interrupts_at_random_moments_leave_the_number(control: blas.Threads) -> None:
    """A timer's KeyboardInterrupt arrives between any two steps of a call."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals are handled in the main thread alone")
    caught = 0
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for i in range(300):
            try:
                signal.setitimer(signal.ITIMER_REAL, 2e-5 + i * 1e-7)
                for _ in range(100_000):
                    blas.call(SMALL, int)
            except KeyboardInterrupt:
                caught += 1
            assert control.get() == 2
            assert not blas._running
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert caught == 300


def test_threads_of_a_blas_other_than_openblas_are_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "threads", lambda: None)
    assert blas.call(SMALL, lambda x, y: x + y, 1, y=2) == 3


MATRICES = np.random.default_rng(0).normal(size=(2, 512, 512))
PRODUCTS: list[tuple[str, Callable[[tt.Tensor], object], list[int]]] = [
    ("of few numbers", lambda a: a[0, :8, :8] @ a[1, :8, :8], []),
    ("of a batch and a layer", lambda a: a[0, :64, :64] @ a[1, :64, :256], [1, 2]),
    ("of many rows and few columns", lambda a: a[0, :150, :16] @ a[1, :16, :150], [1, 2]),
    ("of a matrix and a vector", lambda a: a[0, :128, :128] @ a[1, 0, :128], [1, 2]),
    ("of large matrices", lambda a: a[0] @ a[1], []),
    ("with ones, a sum of columns", lambda a: a[0, :64].sum(0), [1, 2]),
    # Rows of 512 elements, for which OpenBLAS starts no thread.
    ("with ones, a sum of everything", lambda a: a[0, :64].sum(), []),
]


@pytest.mark.parametrize(
    ("product", "changes"), [p[1:] for p in PRODUCTS], ids=[p[0] for p in PRODUCTS]
)
def test_products_say_how_large_they_are(
    product: Callable[[tt.Tensor], object],
    changes: list[int],
    control: blas.Threads,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if tt.get_backend() != "numpy":
        pytest.skip("threads are the NumPy backend's")
    seen: list[int] = []

    def record(count: int) -> None:
        seen.append(count)
        control.set(count)

    with monkeypatch.context() as patch:
        patch.setattr(blas, "threads", lambda: blas.Threads(control.get, record))
        found = product(tt.tensor(MATRICES))
    assert seen == changes
    np.testing.assert_allclose(found, product(MATRICES), rtol=1e-9, atol=1e-9)  # type: ignore[arg-type]
