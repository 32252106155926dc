"""Reductions and normalisations of elements that a mask is True of, beside PyTorch's."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

pytestmark = pytest.mark.filterwarnings("ignore:.*prototype stage")
X = np.random.default_rng(0).normal(size=(3, 4, 2))
MASK = np.random.default_rng(1).random((3, 4, 2)) > 0.4
MASK[1, :, 0] = False
REDUCED = ("sum", "prod", "amax", "amin", "mean", "logsumexp", "var", "std", "norm")
ALONG = ("softmax", "softmin", "log_softmax", "cumsum", "cumprod", "argmax", "argmin", "median")


def call(library: Any, name: str, *args: Any, mask: Any = MASK, dtype: str = "float64",
         **options: Any) -> Any:  # fmt: skip
    """Value, gradient where there is one, and dtype."""
    x = library.tensor(X if dtype == "float64" else (X * 10).round())
    x = x.to(getattr(library, dtype)).requires_grad_(dtype == "float64")
    given = {} if mask is None else {"mask": library.tensor(mask)}
    y = getattr(library.masked, name)(x, *args, **given, **options)
    grad = None
    if y.requires_grad:
        (y * library.arange(1.0, y.numel() + 1, dtype=y.dtype).reshape(y.shape)).sum().backward()
        grad = x.grad.tolist()
    return y.detach().tolist(), grad, str(y.dtype).rpartition(".")[2], list(y.shape)


def compare_masked(
    torch: Any, name: str, *args: Any, gradients: bool = True, **options: Any
) -> None:
    ours, theirs = (call(library, name, *args, **options) for library in (tt, torch))
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-6, atol=1e-12)
    if gradients and theirs[1] is not None:
        np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-6, atol=1e-12)
    assert ours[2:] == theirs[2:]


@pytest.mark.parametrize("dim", [1, -1, (0, 2), None, ()], ids=str)
@pytest.mark.parametrize("name", REDUCED)
def test_masked_reductions_and_their_gradients_are_pytorchs(
    torch: Any, name: str, dim: Any
) -> None:
    args = (2.0, dim) if name == "norm" else (dim,)
    plain = name in ("sum", "mean", "norm")  # where PyTorch's gradients have no NaN of empty rows
    for options in ({}, {"keepdim": True}, {"mask": None}, {"mask": MASK[:, :1]}):
        compare_masked(torch, name, *args, gradients=plain and dim in (1, (0, 2), None), **options)


@pytest.mark.parametrize("name", ALONG)
def test_masked_functions_along_a_dimension_are_pytorchs(torch: Any, name: str) -> None:
    for dim in (1, -1):
        for options in ({}, {"mask": None}, {"mask": MASK[:, :, :1]}):
            compare_masked(torch, name, dim, gradients=False, **options)


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, math.inf, -math.inf, 0.5])
def test_masked_norms_are_pytorchs(torch: Any, order: float) -> None:
    compare_masked(torch, "norm", order, 1, gradients=False)
    if order > 0:
        compare_masked(torch, "normalize", order, 1, gradients=False)


def test_masked_variances_are_pytorchs(torch: Any) -> None:
    for name in ("var", "std"):
        for options in ({"unbiased": False}, {"correction": 2}, {"unbiased": True}):
            compare_masked(torch, name, 1, gradients=False, **options)
    for library in (tt, torch):
        with pytest.raises(AssertionError, match="Only one of unbiased"):
            library.masked.var(library.ones(2), unbiased=True, correction=1)


@pytest.mark.parametrize("name", ["sum", "prod", "amax", "amin", "argmax", "cumsum"])
def test_masked_reductions_of_integers_are_pytorchs(torch: Any, name: str) -> None:
    compare_masked(torch, name, 1, dtype="int64")


def test_medians_of_integers_and_what_has_no_mean(torch: Any) -> None:
    full = MASK | (np.arange(4) == 0)[:, None]
    compare_masked(torch, "median", 1, dtype="int64", mask=full)
    for library in (tt, torch):
        x, mask = library.arange(4), library.tensor([False] * 4)
        with pytest.raises(ValueError, match="no fully masked out rows"):
            library.masked.median(x, 0, mask=mask)
        with pytest.raises(ValueError, match="Could not infer output dtype"):
            library.masked.mean(x, mask=mask)


def test_sums_of_exponentials_of_two(torch: Any) -> None:
    found = []
    for library in (tt, torch):
        x, mask = library.tensor(X), library.tensor(MASK)
        found.append(library.masked.logaddexp(x, -x, input_mask=mask, other_mask=~mask).tolist())
    np.testing.assert_allclose(found[0], found[1])


def test_a_mask_must_fit_its_input(lib: Any) -> None:
    with pytest.raises(RuntimeError):
        lib.masked.sum(lib.ones(2, 3), 1, mask=lib.ones(4) > 0)


def test_masked_tensors_are_refused() -> None:
    with warnings.catch_warnings():
        for call in (tt.masked.masked_tensor, tt.masked.as_masked_tensor, tt.masked.MaskedTensor):
            with pytest.raises(NotImplementedError, match="tensors have no masks here"):
                call(tt.ones(1), tt.ones(1) > 0)
    assert not tt.masked.is_masked_tensor(tt.ones(1))
    assert not isinstance(tt.ones(1), tt.masked.MaskedTensor)
