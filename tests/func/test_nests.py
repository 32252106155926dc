"""Transforms of transforms of transforms are what they are under PyTorch."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

pytestmark = pytest.mark.torch

Function = Callable[[Any], Any]
#: By name, what makes a function of a vector from one, in either library.
TRANSFORMS: dict[str, Callable[[Any, Function], Function]] = {
    "grad": lambda L, f: L.func.grad(lambda x: (f(x) ** 2).sum()),
    "value": lambda L, f: lambda x: L.func.grad_and_value(lambda x: f(x).sum())(x)[1],
    "jacrev": lambda L, f: L.func.jacrev(f),
    "jacfwd": lambda L, f: L.func.jacfwd(f),
    "jvp": lambda L, f: lambda x: L.func.jvp(f, (x,), (x * x,))[1],
    "vjp": lambda L, f: lambda x: L.func.vjp(f, x)[1](f(x))[0],
    "linearize": lambda L, f: lambda x: f(x) + along(L, f, x),
    "vmap": lambda L, f: lambda x: L.vmap(f)(L.stack([x, x.cos()])),
    "vmap last": lambda L, f: lambda x: L.vmap(f, in_dims=-1, out_dims=-1)(L.outer(x, x[:2])),
    "no_grad": lambda L, f: lambda x: x.sum() * without_grad(L, f, x),
    "detach": lambda L, f: lambda x: f(x) * x.detach().sum(),
}


def without_grad(library: Any, f: Function, x: Any) -> Any:
    with library.no_grad():
        return f(x)


def along(library: Any, f: Function, x: Any) -> Any:
    """The derivative along the argument; PyTorch's linearize cannot be nested, but its jvp can."""
    if library is tt:
        return tt.func.linearize(f, x)[1](x)
    return library.func.jvp(f, (x,), (x,))[1]


def results(library: Any, names: tuple[str, ...], wanted: Any) -> list[Any]:
    """The value, whether it requires grad, and its gradients by the argument and what is captured.

    Args:
        library: Either library.
        names: The transforms, the outermost first.
        wanted: Whether the argument and the captured tensor require grad.
    """
    x = library.tensor([0.3, -0.4, 0.5], dtype=library.float64, requires_grad=wanted[0])
    w = library.tensor([0.7, 0.2, -0.3], dtype=library.float64, requires_grad=wanted[1])

    def f(x: Any) -> Any:
        return (x * w).sin() * x.sum() + w.prod()

    for name in reversed(names):
        f = TRANSFORMS[name](library, f)
    value = f(x)
    with library.no_grad():
        assert not f(x).requires_grad
    weights = library.linspace(0.5, 1.5, value.numel(), dtype=library.float64)
    total = (value * weights.reshape(value.shape)).sum() + 0 * (x.sum() + w.sum())
    tensors = [t for t in (x, w) if t.requires_grad]
    grads = library.autograd.grad(total, tensors) if tensors else ()
    return [value.requires_grad, value, f(x.detach()), *grads]


def compare_transforms(names: tuple[str, ...], wanted: Any) -> None:
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (flag, *found), (torchs, *meant) = (results(L, names, wanted) for L in (tt, torch))
    assert flag <= torchs  # PyTorch calls some constants differentiable; their gradients are zero
    for mine, theirs in zip(found, meant, strict=True):
        np.testing.assert_allclose(
            mine.detach().cpu().numpy(), theirs.detach().numpy(), 1e-12, 1e-13
        )


@pytest.mark.parametrize("wanted", [(True, True), (False, True), (False, False)], ids=str)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_one_transform_equals_pytorchs(name: str, wanted: tuple[bool, bool]) -> None:
    compare_transforms((name,), wanted)


@pytest.mark.parametrize("wanted", [(True, True), (False, False)], ids=str)
@pytest.mark.parametrize("outer", TRANSFORMS)
def test_two_nested_transforms_equal_pytorchs(outer: str, wanted: tuple[bool, bool]) -> None:
    for inner in TRANSFORMS:
        # Forward mode takes no notice of no_grad; jvp here does, see its docs.
        if not (inner == "no_grad" and outer in ("jvp", "jacfwd", "linearize")):
            compare_transforms((outer, inner), wanted)


THREE = list(itertools.product(["grad", "jacrev", "jvp", "vmap"], repeat=3))


@pytest.mark.parametrize("names", THREE, ids="-".join)
def test_three_nested_transforms_equal_pytorchs(names: tuple[str, ...]) -> None:
    compare_transforms(names, (True, True))
