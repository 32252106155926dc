"""``make_tensor``: PyTorch's numbers, limits and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
          "complex64", "complex128"]  # fmt: skip


def made(library: Any, *shape: Any, dtype: str, **options: Any) -> Any:
    library.manual_seed(5)
    device = "cpu" if library is not tt else tt.get_default_device()
    return library.testing.make_tensor(
        *shape, dtype=getattr(library, dtype), device=device, **options
    )


def make_same(*shape: Any, **options: Any) -> Any:
    """Assert that both libraries make the same tensor; return it."""
    import torch

    ours, theirs = made(tt, *shape, **options), made(torch, *shape, **options)
    a, b = ours.detach().cpu().numpy(), theirs.detach().numpy()
    assert a.dtype == b.dtype and a.shape == b.shape
    # What is scaled to a wide range may be rounded in another order.
    np.testing.assert_allclose(a, b, rtol=3e-16 if b.dtype.itemsize >= 8 else 0, atol=0)
    assert ours.requires_grad is theirs.requires_grad and ours.is_leaf is theirs.is_leaf
    assert not b.size or ours.stride() == theirs.stride()
    return ours


@pytest.fixture(autouse=True)
def numbers_of_the_processor() -> None:
    if tt.get_backend() == "cupy":
        pytest.skip("a GPU draws other numbers")


@pytest.mark.torch
@pytest.mark.parametrize("dtype", DTYPES)
def test_make_tensor_draws_pytorchs_numbers(dtype: str) -> None:
    make_same(3, 4, dtype=dtype)
    make_same((30,), dtype=dtype, exclude_zero=True)
    make_same([2, 3], dtype=dtype, noncontiguous=True)
    make_same((), dtype=dtype)
    make_same(0, 3, dtype=dtype)
    make_same(1, dtype=dtype, noncontiguous=True)


@pytest.mark.torch
@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "bool"])
@pytest.mark.parametrize("limits", [(0.5, 5.5), (2, 100), (1, None), (None, 3), (-1e400, 5)])
def test_make_tensor_respects_its_limits_as_pytorchs(dtype: str, limits: Any) -> None:
    out = make_same(20, dtype=dtype, low=limits[0], high=limits[1])
    real = tt.view_as_real(out) if out.is_complex() else out
    if limits[1] is not None:
        assert bool((real <= limits[1]).all())


@pytest.mark.torch
def test_make_tensor_over_an_infinite_range_is_finite() -> None:
    assert bool(
        make_same(9, dtype="float32", low=-float("inf"), high=float("inf")).isfinite().all()
    )


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_make_tensor_accepts_requires_grad(dtype: str) -> None:
    assert make_same(3, dtype=dtype, requires_grad=True).requires_grad
    assert make_same(3, dtype=dtype, requires_grad=True, noncontiguous=True).is_leaf


@pytest.mark.torch
def test_make_tensor_with_equal_limits_warns() -> None:
    with pytest.warns(FutureWarning, match="Passing `low==high` to `torch.testing.make_tensor`"):
        make_same(3, dtype="float32", low=2, high=2)


@pytest.mark.parametrize(
    ("dtype", "options"),
    [
        ("float32", {"low": 2, "high": 1}),
        ("int64", {"low": 2, "high": 2}),
        ("float32", {"low": float("nan")}),
        ("float64", {"high": float("nan")}),
        ("uint8", {"low": 256, "high": 300}),
        ("int8", {"low": -300, "high": -200}),
        ("bool", {"low": 2, "high": 3}),
        ("int32", {"requires_grad": True}),
        ("bool", {"requires_grad": True}),
    ],
)
def test_make_tensor_refuses_what_pytorchs_refuses(torch: Any, dtype: str, options: Any) -> None:
    texts = []
    for library in (tt, torch):
        with pytest.raises(ValueError) as caught:
            made(library, 3, dtype=dtype, **options)
        texts.append(str(caught.value).replace("tinytorch", "torch"))
    assert texts[0] == texts[1]


def test_make_tensor_refuses_noncontiguous_with_a_memory_format() -> None:
    with pytest.raises(ValueError, match="are mutually exclusive"):
        made(tt, 2, 3, 4, 5, dtype="float32", noncontiguous=True, memory_format=tt.channels_last)


@pytest.mark.parametrize("options", [{}, {"requires_grad": True}])
def test_make_tensor_refuses_an_unknown_dtype(torch: Any, options: Any) -> None:
    for library in (tt, torch):
        with pytest.raises(TypeError, match="is not supported"):
            library.testing.make_tensor(3, dtype="float33", device="cpu", **options)
