"""Raw gradients of what reads one triangle of a Hermitian matrix: those that PyTorch gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import compare

pytestmark = pytest.mark.torch

RNG = np.random.default_rng(0)


def hermitian(n: int, dtype: str) -> Any:
    half = RNG.standard_normal((2, n, n)) + 1j * RNG.standard_normal((2, n, n))
    half = half if dtype == "complex128" else half.real
    return half @ half.conj().swapaxes(-1, -2) + n * np.eye(n)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("upper", [False, True])
def test_gradients_of_cholesky_are_pytorchs(dtype: str, upper: bool) -> None:
    compare(lambda m, x: m.linalg.cholesky(x, upper=upper), hermitian(3, dtype))
    compare(lambda m, x: m.linalg.cholesky_ex(x, upper=upper).L, hermitian(1, dtype))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("side", ["L", "U"])
def test_gradients_of_eigvalsh_are_pytorchs(dtype: str, side: str) -> None:
    compare(lambda m, x: m.linalg.eigvalsh(x, UPLO=side), hermitian(3, dtype))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients_of_eigh_that_do_not_depend_on_phases_are_pytorchs(dtype: str) -> None:
    """What does not depend on the factors of absolute value 1 that vectors are free to have."""
    compare(lambda m, x: m.linalg.eigh(x)[1].abs(), hermitian(3, dtype))


@pytest.mark.parametrize("call", [
    lambda m, a: m.linalg.svd(a, full_matrices=False)[0],
    lambda m, a: m.linalg.svd(a, full_matrices=False)[2],
    lambda m, a: m.linalg.eigh(a[:, :2] + a[:, :2].mH)[1],
    lambda m, a: m.linalg.eig(a[:, :2])[1],
])  # fmt: skip
def test_losses_that_depend_on_phases_are_refused(torch: Any, call: Any) -> None:
    rng = np.random.default_rng(0)
    array = rng.standard_normal((4, 3, 2)) + 1j * rng.standard_normal((4, 3, 2))
    messages = []
    for m in (tt, torch):
        a = m.tensor(array, requires_grad=True)
        (call(m, a).abs() ** 3).sum().backward()
        with pytest.raises(RuntimeError, match="ill-defined") as info:
            call(m, a).real.sum().backward()
        messages.append(str(info.value).split("\n")[0])
    assert messages[0] == messages[1]
