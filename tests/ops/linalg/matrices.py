"""Matrices for tests of linear algebra, and the comparison with PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tinytorch as tt
from tests.oracles import flatten, has_second_derivatives

Arrays = Sequence[np.ndarray[Any, Any]]


def draw(*shape: int, complex_: bool = False) -> np.ndarray[Any, Any]:
    """Return standard normal numbers."""
    real = np.random.standard_normal(shape)
    return real + 1j * np.random.standard_normal(shape) if complex_ else real


def regular(*shape: int, complex_: bool = False) -> np.ndarray[Any, Any]:
    """Return square matrices far from singular."""
    return draw(*shape, complex_=complex_) + 3 * np.eye(shape[-1])


def definite(*shape: int, complex_: bool = False) -> np.ndarray[Any, Any]:
    """Return Hermitian positive-definite matrices."""
    a = draw(*shape, complex_=complex_)
    result: np.ndarray[Any, Any] = a @ a.conj().swapaxes(-1, -2) + np.eye(shape[-1])
    return result


def tensors(arrays: Arrays) -> list[Any]:
    return [tt.tensor(a, requires_grad=True) for a in arrays]


def agrees_with_torch(
    function: Callable[..., Any], arrays: Arrays, atol: float = 1e-9, project: Any = None
) -> None:
    """Compare values and gradients of ``function(library, *tensors)`` in both libraries.

    ``project`` is applied to both gradients first, where only part of them is determined.
    """
    import torch

    ours, theirs = tensors(arrays), [torch.tensor(a, requires_grad=True) for a in arrays]
    got, wanted = flatten(function(tt, *ours)), flatten(function(torch, *theirs))
    assert len(got) == len(wanted)
    for g, w in zip(got, wanted, strict=True):
        assert tuple(g.shape) == tuple(w.shape)
        assert g.dtype.name == str(w.dtype).removeprefix("torch.")
        value = w.detach().resolve_conj().numpy()
        np.testing.assert_allclose(g.detach().numpy(force=True), value, atol=atol, rtol=1e-7)
    pairs = [(g, w) for g, w in zip(got, wanted, strict=True) if w.requires_grad]
    cotangents = [draw(*w.shape, complex_=w.is_complex()) for _, w in pairs]
    torch.autograd.backward(
        [w for _, w in pairs], [torch.tensor(np.asarray(c)) for c in cotangents]
    )
    tt.autograd.backward([g for g, _ in pairs], [tt.tensor(np.asarray(c)) for c in cotangents])
    for o, t in zip(ours, theirs, strict=True):
        mine = o.grad.numpy()
        other = np.zeros_like(mine) if t.grad is None else t.grad.resolve_conj().numpy()
        if project is not None:
            mine, other = project(mine), project(other)
        np.testing.assert_allclose(mine, other, atol=10 * atol, rtol=1e-6)


def has_derivatives(function: Callable[..., Any], arrays: Arrays) -> None:
    """Compare the derivatives of both orders of ``function(*tensors)`` with differences."""
    inputs = tuple(tensors(arrays))
    assert tt.autograd.gradcheck(function, inputs)
    assert has_second_derivatives(function, inputs)
