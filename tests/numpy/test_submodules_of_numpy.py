"""What NumPy keeps in submodules, and programs that use it all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp
from tests.calls import Call, parameters, words
from tests.numpy import scripts
from tests.numpy.data import ARRAYS, SMOOTH
from tests.numpy.evaluation import Case, arrays, assert_same, evaluate, tensors
from tests.oracles import flatten
from tinytorch.dispatch.call import as_numpy_error

LINALG: list[Call] = [
    lambda lib, q: lib.linalg.inv(q),
    lambda lib: lib.linalg.inv([[1, 2], [3, 4]]),
    lambda lib, q: lib.linalg.det(q),
    lambda lib, q: lib.linalg.det(q.astype("float32")),
    lambda lib, q: lib.linalg.slogdet(q),
    lambda lib, m: lib.linalg.svdvals(m),
    lambda lib, q: lib.linalg.svd(q)[1],
    lambda lib, m: lib.linalg.svd(m, compute_uv=False),
    lambda lib, m: lib.linalg.qr(m, "r")[0, 0] ** 2,
    lambda lib, v: lib.linalg.norm(v),
    lambda lib, q: lib.linalg.cholesky(q @ q.T),
    lambda lib, q: lib.linalg.cholesky(q @ q.T, upper=True),
    lambda lib, q: lib.linalg.eigh(q + q.T)[0],
    lambda lib, q: lib.linalg.eigvalsh(q, "U"),
    lambda lib, q: lib.linalg.eig(q + q.T)[0].dtype,
    lambda lib: lib.linalg.eigvals([[0, 1], [-1, 0]]).dtype,
    lambda lib: lib.linalg.eigvals([[2, 0], [0, 2]]),
    lambda lib, v, q: lib.linalg.solve(q, v),
    lambda lib, m, q: lib.linalg.solve(q, m.T),
    lambda lib: lib.linalg.solve([[2, 0], [0, 4]], [1, 1]),
    lambda lib: lib.linalg.norm([3, 4]),
    lambda lib, q: lib.linalg.solve(lib.stack([q, q + 1]), q),
    lambda lib, q: lib.linalg.solve(lib.stack([q, q + 1, q]), q),
    lambda lib, m, v: lib.linalg.lstsq(m.T, v),
    lambda lib, m: lib.linalg.lstsq(m, [1, 2]),
    lambda lib, m, q: lib.linalg.lstsq(m.T, q, rcond=0.1),
    lambda lib, m: lib.linalg.pinv(m),
    lambda lib, m: lib.linalg.pinv(m, 0.5),
    lambda lib, q: lib.linalg.matrix_rank(q),
    lambda lib: lib.linalg.matrix_rank(lib.ones((2, 2))),
    lambda lib, v: lib.linalg.matrix_rank(v),
    lambda lib, q: lib.linalg.matrix_rank(q, 1.0),
    lambda lib, q: lib.linalg.cond(q),
    lambda lib, q: lib.linalg.cond(q, 1),
    lambda lib, m: lib.linalg.norm(m, axis=0),
    lambda lib, m: lib.linalg.norm(m, "fro"),
    lambda lib, m: lib.linalg.norm(m, 1),
    lambda lib, m: lib.linalg.norm(m, 2),
    lambda lib, x: lib.linalg.norm(x),
    lambda lib, m: lib.linalg.norm(m, ord=1, axis=1, keepdims=True),
    lambda lib, x: lib.linalg.vector_norm(x, axis=(0, 1), ord=1),
    lambda lib, x: lib.linalg.matrix_norm(x),
    lambda lib, q: lib.linalg.matrix_power(q, 3),
    lambda lib: lib.linalg.matrix_power([[1, 1], [1, 0]], 5),
    lambda lib, q: lib.linalg.matrix_power(q, -1),
    lambda lib, m, v, q: lib.linalg.multi_dot([m, q, v]),
    lambda lib: lib.linalg.tensorinv(lib.eye(4).reshape(4, 2, 2), 1),
    lambda lib: lib.linalg.tensorsolve(lib.eye(4).reshape(2, 2, 4), lib.ones((2, 2))),
    lambda lib, x: lib.linalg.diagonal(x),
    lambda lib, x: lib.linalg.trace(x),
    lambda lib, q: lib.linalg.trace(q, offset=1),
    lambda lib, v, i: lib.linalg.outer(v, i),
    lambda lib, v, i: lib.linalg.cross(v, i),
    lambda lib, m, q: lib.linalg.matmul(m, q),
    lambda lib, m, q: lib.linalg.tensordot(q, m.T, axes=1),
    lambda lib, v, q: lib.linalg.vecdot(q, v),
    lambda lib, x: lib.linalg.matrix_transpose(x),
]
FFT: list[Call] = [
    lambda lib: lib.fft.fft([1, 2, 3]),
    lambda lib, m: lib.fft.fft(m, axis=0),
    lambda lib, m: lib.fft.fft(m, 5),
    lambda lib, f: lib.fft.fft(f),
    lambda lib, c: lib.fft.ifft(c),
    lambda lib, v: lib.fft.rfft(v),
    lambda lib, i: lib.fft.rfft(i, 4),
    lambda lib, c: lib.fft.irfft(c),
    lambda lib, c: lib.fft.irfft(c, 5, norm="ortho"),
    lambda lib, c: lib.fft.hfft(c),
    lambda lib, v: lib.fft.ihfft(v),
    lambda lib, m: lib.fft.fft2(m),
    lambda lib, m: lib.fft.ifft2(m),
    lambda lib, x: lib.fft.rfft2(x),
    lambda lib, m: lib.fft.irfft2(m),
    lambda lib, x: lib.fft.fftn(x),
    lambda lib, x: lib.fft.fftn(x, axes=(0, 2)),
    lambda lib, x: lib.fft.ifftn(x, norm="forward"),
    lambda lib, x: lib.fft.rfftn(x),
    lambda lib, m: lib.fft.irfftn(m),
    lambda lib, m: lib.fft.fftshift(m),
    lambda lib, m: lib.fft.fftshift(m, axes=1),
    lambda lib: lib.fft.ifftshift([1, 2, 3]),
    lambda lib: lib.fft.fftfreq(5),
    lambda lib: lib.fft.fftfreq(4, 0.5),
    lambda lib: lib.fft.rfftfreq(5, d=lib.array(0.1)),
]


@pytest.mark.parametrize("call", LINALG + FFT, ids=words)
def test_calls_of_submodules_are_numpys(call: Call) -> None:
    theirs = evaluate(Case(call), np, ARRAYS)
    rtol = 1e-5 if "float32" in str(words(call)) or "f" in parameters(call) else 1e-10
    assert_same(evaluate(Case(call), tnp, arrays()), theirs, rtol=rtol)


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, q: lib.linalg.inv(q),
        lambda lib, m, v: lib.linalg.lstsq(m.T, v)[0],
        lambda lib, m: lib.linalg.norm(m, 2),
        lambda lib, v, q: lib.linalg.solve(q, v),
        lambda lib, m: lib.linalg.pinv(m),
        lambda lib, v: lib.fft.rfft(v).real,
    ],
    ids=words,
)
def test_gradients_of_submodules_are_finite_differences(call: Call) -> None:
    data = tensors(SMOOTH)
    names = [name for name in parameters(call) if name != "lib"]

    def function(*values: Any) -> Any:
        return evaluate(Case(call), tnp, {**data, **dict(zip(names, values, strict=True))})

    given = [data[name].clone().requires_grad_() for name in names]
    assert tt.autograd.gradcheck(function, given)


@pytest.mark.parametrize("call", [
    lambda x: np.linalg.inv(x), lambda x: np.linalg.norm(x, axis=1), lambda x: np.fft.fft(x).real,
    lambda x: np.linalg.eigvalsh(x), lambda x: np.linalg.solve(x, [1, 2]),
    lambda x: np.fft.rfft2(x).real,
])  # fmt: skip
def test_numpys_functions_of_tensors_are_recorded(call: Callable[[Any], Any]) -> None:
    x = tt.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=tt.float64, requires_grad=True)
    found = call(x)
    assert isinstance(found, tt.Tensor) and found.requires_grad
    np.testing.assert_allclose(found.detach().numpy(), call(x.detach().numpy()), rtol=1e-12)


@pytest.mark.parametrize(("call", "error"), [
    (lambda lib: lib.linalg.solve(lib.eye(2), lib.ones(3)), ValueError),
    (lambda lib: lib.linalg.outer(lib.eye(2), [1]), ValueError),
    (lambda lib: lib.linalg.svdvals([1, 2]), ValueError),
    (lambda lib: lib.fft.fft(lib.ones(2), axis=1), IndexError),
    (lambda lib: lib.fft.fft(3.0), IndexError),
    (lambda lib: lib.linalg.norm(lib.ones(2), axis=2), np.exceptions.AxisError),
    (lambda lib: lib.lib.stride_tricks.sliding_window_view([1, 2], 3), ValueError),
    (lambda lib: lib.lib.stride_tricks.sliding_window_view([1, 2], (1, 1)), ValueError),
])  # fmt: skip
def test_error_is_of_numpys_type(call: Callable[[Any], Any], error: type[Exception]) -> None:
    for lib in (np, tnp):
        with pytest.raises(error):
            call(lib)


def test_singular_matrices_are_refused_by_each_librarys_class() -> None:
    for lib in (np, tnp):
        with pytest.raises(lib.linalg.LinAlgError):
            lib.linalg.inv([[1, 2], [2, 4]])


def test_unsupported_options_of_numpy_are_refused() -> None:
    with pytest.raises(ValueError, match="mode must be 'reduced', 'complete' or 'r'"):
        tnp.linalg.qr(tt.eye(2), "economic")  # deprecated there
    with pytest.raises(ValueError, match="strides must be multiples of 8 bytes"):
        tnp.lib.stride_tricks.as_strided(tnp.ones(2), (2,), (3,))


def test_an_error_keeps_its_notes() -> None:
    found = RuntimeError("shapes differ")
    found.add_note("found by an earlier operation")
    told = as_numpy_error(found)
    assert isinstance(told, ValueError) and isinstance(told, RuntimeError)
    assert str(told) == "shapes differ" and told.__notes__ == found.__notes__


# -- random numbers ------------------------------------------------------------------------------


def test_seed_gives_numpys_numbers() -> None:
    with tt.backend_context("numpy"):
        drawn = []
        for lib in (np, tnp):
            lib.random.seed(3)
            law = lib.random
            drawn.append((law.rand(2, 3), law.normal(1, 2, size=4), law.rand(), law.randint(9)))
        assert_same(drawn[1], drawn[0])
        assert isinstance(tnp.random.rand(), float) and isinstance(tnp.random.randint(3), int)
        ours, theirs = tnp.random.default_rng(5), np.random.default_rng(5)
        assert_same(ours.exponential(2.0, (2, 2)), theirs.exponential(2.0, (2, 2)))
        assert_same(ours.permutation(tnp.eye(4)), theirs.permutation(np.eye(4)))
        x, y = tnp.arange(6), np.arange(6)
        assert ours.shuffle(x) is None and theirs.shuffle(y) is None
        assert_same(x, y)
        found = ours.choice(x, (2, 2), p=tnp.full(6, 1 / 6))
        assert_same(found, theirs.choice(y, (2, 2), p=[1 / 6] * 6))
        count = np.int64(7)  # no int of Python's
        assert_same(ours.permutation(count), theirs.permutation(count))
        assert ours.choice(count) == theirs.choice(count)


def test_draws_are_on_the_active_backend() -> None:
    assert tnp.random.rand(2).backend.name == tt.get_backend()
    x = tnp.arange(5)
    tnp.random.shuffle(x)
    assert sorted(x.tolist()) == [0, 1, 2, 3, 4]
    for p in ([0, 1, 0], [0.0, 1.0, 0.0], tnp.array([0, 1, 0])):
        assert tnp.random.choice([10, 20, 30], (2, 2), p=p).tolist() == [[20, 20], [20, 20]]


@pytest.mark.parametrize("generator", [np.random.RandomState, np.random.default_rng])
def test_lists_are_shuffled_in_place_and_as_numpys(generator: Any) -> None:
    with tt.backend_context("numpy"):
        ours, theirs = list(range(9)), list(range(9))
        getattr(tnp.random, generator.__name__)(3).shuffle(ours)
        generator(3).shuffle(theirs)
        assert ours == theirs
    tnp.random.shuffle(ours)
    assert sorted(ours) == sorted(theirs)


def test_gradient_flows_through_what_is_drawn() -> None:
    x = tt.ones(3, dtype=tt.float64, requires_grad=True)
    tnp.random.permutation(x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [1, 1, 1]


# -- programs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("program", scripts.PROGRAMS, ids=lambda p: p.__name__)
def test_programs_have_numpys_results(program: Callable[[Any], Any]) -> None:
    backend = "numpy" if program.__name__ in scripts.DRAWING else tt.get_backend()
    with tt.backend_context(backend):
        ours, theirs = flatten(program(tnp)), flatten(program(np))
        assert_same(ours, theirs, rtol=1e-8)
    assert not any(isinstance(a, np.ndarray) for a in ours)
