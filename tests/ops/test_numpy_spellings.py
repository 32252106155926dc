"""Calls in NumPy's spelling, which PyTorch does not take, do what NumPy does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import flatten
from tinytorch.autograd import gradcheck, gradgradcheck

X = np.arange(24.0).reshape(2, 3, 4)
M = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
V = np.array([3.0, 1.0, 2.0])

CALLS: dict[str, Any] = {
    "sum": lambda lib, x, m, v: lib.sum(x, axis=(0, 1), keepdims=True),
    "sum of all": lambda lib, x, m, v: lib.sum(x, axis=None),
    "prod": lambda lib, x, m, v: lib.prod(m, axis=1),
    "mean": lambda lib, x, m, v: x.mean(axis=1, keepdims=True),
    "max": lambda lib, x, m, v: lib.max(x, axis=(0, 1)),
    "min": lambda lib, x, m, v: m.min(axis=(1,)),
    "sort": lambda lib, x, m, v: lib.sort(m, axis=1, kind="stable"),
    "argsort": lambda lib, x, m, v: lib.argsort(m, axis=-1, kind="stable"),
    "std": lambda lib, x, m, v: lib.std(m, axis=1, ddof=0),
    "var": lambda lib, x, m, v: m.var(axis=0, ddof=1),
    "quantile": lambda lib, x, m, v: lib.quantile(m, 0.3, axis=1),
    "argmax": lambda lib, x, m, v: lib.argmax(m, axis=1, keepdims=True),
    "cumsum": lambda lib, x, m, v: m.cumsum(axis=0),
    "flip": lambda lib, x, m, v: lib.flip(x, axis=(0, 2)),
    "roll": lambda lib, x, m, v: lib.roll(x, (1, 1), axis=(0, 1)),
    "unique": lambda lib, x, m, v: lib.unique(v, return_index=True),
    "clip": lambda lib, x, m, v: lib.clip(m, a_min=1.5, a_max=None),
    "concatenate": lambda lib, x, m, v: lib.concatenate([m, m + 1], axis=1),
    "concatenate flat": lambda lib, x, m, v: lib.concatenate([m, v], axis=None),
    "split": lambda lib, x, m, v: lib.split(m, indices_or_sections=3, axis=1),
    "split at": lambda lib, x, m, v: lib.split(v, indices_or_sections=[1]),
    "transpose": lambda lib, x, m, v: lib.transpose(x, (2, 0, 1)),
    "transpose of all": lambda lib, x, m, v: x.transpose(),
    "reshape F": lambda lib, x, m, v: lib.reshape(x, (4, -1), order="F"),
    "reshape method": lambda lib, x, m, v: x.reshape(6, 4, order="F"),
    "reshape C": lambda lib, x, m, v: x.reshape((6, 4), order="C"),
    "reshape A": lambda lib, x, m, v: m.T.reshape(6, order="A"),
    "ravel F": lambda lib, x, m, v: lib.ravel(m, order="F"),
    "ravel C": lambda lib, x, m, v: m.ravel(order="C"),
    "flatten F": lambda lib, x, m, v: x.flatten(order="F"),
    "flatten C": lambda lib, x, m, v: x.flatten("C"),
    "fft": lambda lib, x, m, v: lib.fft.fft(m, n=4, axis=0),
    "trapezoid": lambda lib, x, m, v: lib.trapezoid(m, axis=0),
    "cov": lambda lib, x, m, v: lib.cov(m, rowvar=False, bias=True),
    "repeat": lambda lib, x, m, v: m.repeat(2, axis=0),
    "take": lambda lib, x, m, v: m.take([0, 1], axis=1),
    "norm": lambda lib, x, m, v: lib.linalg.norm(m, axis=1, keepdims=True),
    "tril": lambda lib, x, m, v: lib.tril(m, k=1),
    "round": lambda lib, x, m, v: lib.round(m * 1.234, 1),
    "tile": lambda lib, x, m, v: lib.tile(v, (2, 2)),
    "diagonal": lambda lib, x, m, v: lib.diagonal(x, offset=1, axis1=1, axis2=2),
    "diagonal method": lambda lib, x, m, v: x.diagonal(axis1=0, axis2=2),
    "swapaxes": lambda lib, x, m, v: lib.swapaxes(x, axis1=0, axis2=2),
    "transpose ints": lambda lib, x, m, v: x.transpose(2, 0, 1),
    "transpose axes": lambda lib, x, m, v: lib.transpose(x, axes=(2, 0, 1)),
    "broadcast_to": lambda lib, x, m, v: lib.broadcast_to(v, shape=(2, 3)),
    "vstack": lambda lib, x, m, v: lib.vstack(tup=[v, v]),
    "quantile method": lambda lib, x, m, v: lib.quantile(m, 0.3, axis=1, method="lower"),
    "fft2": lambda lib, x, m, v: lib.fft.fft2(x, axes=(0, 1)),
    "fftn": lambda lib, x, m, v: lib.fft.fftn(x, axes=(0, 2)),
    "irfftn": lambda lib, x, m, v: lib.fft.irfftn(x, axes=(0, 1)),
    "fftshift": lambda lib, x, m, v: lib.fft.fftshift(x, axes=1),
    "int of NumPy's": lambda lib, x, m, v: lib.sum(x.reshape(np.int64(6), 4), np.int64(1)),
    "trace": lambda lib, x, m, v: lib.trace(m, offset=1),
    "trace of planes": lambda lib, x, m, v: lib.trace(x, offset=1, axis1=1, axis2=2),
    "tile by reps": lambda lib, x, m, v: lib.tile(v, reps=(2, 1)),
    "tile of A": lambda lib, x, m, v: lib.tile(A=v, reps=2),
    "dot of matrices": lambda lib, x, m, v: lib.dot(m, m.T),
    "dot of more": lambda lib, x, m, v: lib.dot(x, m.T[:, :1].repeat(4, axis=1).T),
    "outer of a matrix": lambda lib, x, m, v: lib.outer(m, v),
    "vander of a list": lambda lib, x, m, v: lib.vander([1.0, 2.0, 3.0], increasing=True),
    "atleast_1d of a number": lambda lib, x, m, v: lib.atleast_1d(1.0),
    "atleast_2d of a list": lambda lib, x, m, v: lib.atleast_2d([1.0, 2.0]),
    "atleast_3d of several": lambda lib, x, m, v: lib.atleast_3d(v, 2.0),
    "gradient by distance": lambda lib, x, m, v: lib.gradient(v, 2.0),
    "gradient by distances": lambda lib, x, m, v: lib.gradient(m, 1.0, 2.0),
    "gradient of a list": lambda lib, x, m, v: lib.gradient([1.0, 2.0, 4.0], axis=0),
    "linspace without its end": lambda lib, x, m, v: lib.linspace(
        0, 1, 5, endpoint=False, dtype=float
    ),
    "select": lambda lib, x, m, v: lib.select([m > 3, m > 1], [m, m * 2], default=9.0),
    "take wrapped": lambda lib, x, m, v: lib.take(m, [0, 7], axis=1, mode="wrap"),
    "take clipped": lambda lib, x, m, v: lib.take(m, [0, 7], axis=None, mode="clip"),
    "cov of two": lambda lib, x, m, v: lib.cov(v, v * v),
    "corrcoef of two": lambda lib, x, m, v: lib.corrcoef(v, v * v),
    "diff after a number": lambda lib, x, m, v: lib.diff(v, prepend=0.0),
    "ones_like of a shape": lambda lib, x, m, v: lib.ones_like(m, shape=(3,)),
    "transpose of matrices": lambda lib, x, m, v: lib.linalg.matrix_transpose(x),
    "outer of vectors": lambda lib, x, m, v: lib.linalg.outer(v, v),
    "tensordot": lambda lib, x, m, v: lib.linalg.tensordot(m, m, axes=2),
    "traces": lambda lib, x, m, v: lib.linalg.trace(x, offset=1),
    "reversed": lambda lib, x, m, v: x[::-1, :, ::-2],
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_with_numpys_arguments_have_numpys_result(name: str) -> None:
    ours = flatten(CALLS[name](tt, tt.tensor(X), tt.tensor(M), tt.tensor(V)))
    theirs = flatten(CALLS[name](np, X, M, V))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert tuple(a.shape) == np.shape(b)
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["dot", "outer"])
def test_products_of_more_dimensions_are_differentiable(name: str) -> None:
    function = getattr(tt, name)
    for shapes in [((3,), (3,)), ((2, 3), (3, 4)), ((2, 2, 3), (4, 3, 2)), ((), (2,))]:
        given = [tt.rand(shape, dtype=tt.float64, requires_grad=True) for shape in shapes]
        assert gradcheck(function, given) and gradgradcheck(function, given)


def test_products_that_do_not_fit_are_refused() -> None:
    with pytest.raises(RuntimeError, match="1D tensors expected, but got 2D and 1D"):
        tt.dot(tt.ones(2, 3), tt.ones(2))


def test_trace_along_dimensions_is_differentiable() -> None:
    x = tt.rand(2, 3, 3, dtype=tt.float64, requires_grad=True)
    assert gradcheck(lambda x: tt.trace(x, offset=1, axis1=1, axis2=2), [x])
    assert gradgradcheck(tt.trace, [x[0].detach().requires_grad_()])


def test_dtypes_of_numpys_promote_as_torchs() -> None:
    assert tt.result_type(np.float32, np.int64) is tt.float32
    assert tt.result_type(tt.ones(1), np.dtype("float64"), 2) is tt.float64


@pytest.mark.parametrize(
    "call",
    [
        lambda x: tt.add(x, x, alpha=np.float64(2)),
        lambda x: x * np.float64(2), lambda x: np.float64(2) * x, lambda x: x.add(np.float64(2)),
        lambda x: x ** np.float64(2), lambda x: x.clamp(np.float64(0), np.float64(0.5)),
        lambda x: tt.where(x > 0, np.float64(1), x), lambda x: x / np.float64(3),
    ],
)  # fmt: skip
def test_numbers_of_numpys_are_numbers(call: Any) -> None:
    assert call(tt.ones(2)).dtype is tt.float32
    assert call(tt.ones(2, dtype=tt.float64)).dtype is tt.float64


def test_torchs_keyword_of_the_method_split() -> None:
    assert [len(part) for part in tt.arange(5).split(split_size=2)] == [2, 2, 1]


def test_constants_are_numpys() -> None:
    assert (tt.pi, tt.e, tt.inf) == (np.pi, np.e, np.inf) and np.isnan(tt.nan)
    assert tt.ones(2)[:, tt.newaxis].shape == (2, 1)


def test_ravel_in_another_order_has_a_gradient() -> None:
    x = tt.tensor(M, requires_grad=True)
    weights = tt.arange(6.0, dtype=tt.float64)
    (x.ravel(order="F") * weights).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [[0, 2, 4], [1, 3, 5]]


def test_unknown_order_is_refused() -> None:
    with pytest.raises(ValueError, match="order must be 'C', 'F' or 'A', got 'Q'"):
        tt.ones(2, 2).ravel(order="Q")
    with pytest.raises(ValueError, match="give the order as order='F'"):
        tt.ones(2, 2).flatten("F")
