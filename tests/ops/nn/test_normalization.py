"""Normalization: PyTorch's values and statistics, both orders of derivative, edges, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import (
    assert_close,
    assert_raises,
    compare_functional,
    has_second_derivatives,
    host,
)
from tinytorch.autograd import gradcheck

F: Any = tt.nn.functional
randn = np.random.randn
BATCHES = [(5, 3), (4, 3, 6), (3, 3, 4, 5), (2, 3, 2, 3, 4)]


@pytest.mark.parametrize("shape", BATCHES)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_batch_norm_is_pytorchs(
    torch: Any, shape: Any, training: bool, affine: bool, dtype: str
) -> None:
    mean, var = randn(3).astype(dtype), np.random.rand(3).astype(dtype) + 0.5
    x, w, b = (randn(*s).astype(dtype) for s in (shape, (3,), (3,)))
    running = []
    for library in (tt, torch):
        stats = [library.tensor(mean), library.tensor(var)]
        parameters = [library.tensor(w), library.tensor(b)] if affine else [None, None]
        out = library.nn.functional.batch_norm(
            library.tensor(x), *stats, *parameters, training, 0.3, 1e-3
        )
        running.append([out, *stats])
    for ours, theirs in zip(*running, strict=True):
        assert_close(ours, theirs)
    compare_functional("batch_norm", x, None, None, *((w, b) if affine else ()), training=True)


@pytest.mark.torch
def test_batch_norm_of_halves_keeps_its_statistics_in_single_precision() -> None:
    x, ones = randn(4, 3, 5).astype("float16"), np.ones(3, "float32")
    compare_functional("batch_norm", x, 0 * ones, ones, ones, ones, grad=False)
    compare_functional("batch_norm", x, None, None, ones, ones, training=True, grad=False)


@pytest.mark.torch
@pytest.mark.parametrize("scale", [100.0, 0.01])
def test_halves_whose_squares_are_beyond_them(scale: float) -> None:
    x, w = (randn(4, 6) * scale).astype("float16"), randn(6).astype("float16")
    # PyTorch rounds on the way to the gradients.
    compare_functional("layer_norm", x, (6,), w, w, grad=False)
    compare_functional("rms_norm", x, (6,), w, grad=False)
    compare_functional("rms_norm", x, (6,), eps=1e-5, grad=False)
    compare_functional("group_norm", x, 2, w, w, grad=False)


def test_running_statistics_are_moved_in_place_and_unrecorded() -> None:
    mean, var = tt.zeros(2), tt.ones(2)
    x = tt.tensor([[1.0, 2.0], [3.0, 6.0]], requires_grad=True)
    F.batch_norm(x, mean, var, training=True, momentum=0.5)
    assert mean.tolist() == [1.0, 2.0] and var.tolist() == [1.5, 4.5]
    assert not mean.requires_grad and mean._version == 1


@pytest.mark.parametrize("shape", BATCHES[1:])
def test_instance_norm_is_pytorchs(torch: Any, shape: Any) -> None:
    compare_functional("instance_norm", randn(*shape), weight=randn(3), bias=randn(3), eps=0.1)
    x, mean, var = randn(*shape), randn(3), np.random.rand(3)
    running = []
    for library in (tt, torch):
        stats = [library.tensor(mean), library.tensor(var)]
        out = library.nn.functional.instance_norm(library.tensor(x), *stats, momentum=0.2)
        running.append([out, *stats])
    for ours, theirs in zip(*running, strict=True):
        assert_close(ours, theirs)
    compare_functional("instance_norm", x, mean, var, use_input_stats=False, grad=False)


@pytest.mark.torch
@pytest.mark.parametrize("groups", [1, 2, 3, 6])
@pytest.mark.parametrize("shape", [(2, 6, 4), (2, 6, 3, 2), (3, 6)])
def test_group_norm_is_pytorchs(groups: int, shape: Any) -> None:
    compare_functional("group_norm", randn(*shape), groups, randn(6), randn(6))
    compare_functional("group_norm", randn(*shape), groups, eps=0.5)


@pytest.mark.torch
def test_layer_norm_and_rms_norm_are_pytorchs() -> None:
    x, w, b = randn(3, 4, 5), randn(4, 5), randn(4, 5)
    compare_functional("layer_norm", x, (4, 5), w, b)
    compare_functional("layer_norm", x, (5,))
    compare_functional("rms_norm", x, (4, 5), w)
    compare_functional("rms_norm", x.astype("float32"), (5,))


@pytest.mark.torch
@pytest.mark.parametrize("shape", [(5, 6, 80, 64), (3, 6, 9000), (2, 4, 30, 32, 32), (30_000, 6)])
def test_norms_of_inputs_larger_than_the_cache_are_pytorchs(shape: Any) -> None:
    """What is larger than the cache is gone through piece by piece."""
    size = shape[1]
    x, w, b = randn(*shape), randn(size), randn(size)
    before = np.getbufsize()
    compare_functional("batch_norm", x, None, None, w, b, training=True)
    compare_functional("batch_norm", x, None, None, training=True)
    compare_functional("group_norm", x, 2, w, b)
    if len(shape) > 2:
        compare_functional("instance_norm", x, weight=w, bias=b)
        last = (shape[-1],)
        compare_functional("layer_norm", x, last, randn(*last), randn(*last))
    compare_functional("layer_norm", np.ascontiguousarray(x.reshape(size, -1).T), (size,), w, b)
    assert np.getbufsize() == before


@pytest.mark.torch
@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("shape", [(2, 4, 3), (2, 4, 3, 2), (1, 3, 2, 2, 2)])
def test_local_response_norm_is_pytorchs(size: int, shape: Any) -> None:
    compare_functional("local_response_norm", randn(*shape), size, 0.3, 0.6, 1.5)


@pytest.mark.torch
@pytest.mark.parametrize("p", [2, 1, 0, 0.5, 3, np.inf])
def test_normalize_is_pytorchs(p: float) -> None:
    compare_functional("normalize", randn(3, 4, 2), p, 1)
    compare_functional("normalize", randn(3, 4), p, -1, 1.5)


@pytest.mark.torch
def test_normalize_at_zero_and_of_complex_numbers() -> None:
    compare_functional("normalize", np.zeros((2, 3)))
    compare_functional("normalize", randn(2, 3) + 1j * randn(2, 3))
    out = tt.zeros(1, 2)
    assert F.normalize(tt.tensor([[3.0, 4.0]]), out=out) is out
    np.testing.assert_allclose(host(out), [[0.6, 0.8]], rtol=1e-6)


def leaf(*shape: int) -> Any:
    return tt.tensor(randn(*shape), requires_grad=True)


@pytest.mark.parametrize(
    ("norm", "shapes"),
    [
        (lambda x, w, b: F.batch_norm(x, None, None, w, b, True), ((3, 2, 2), (2,), (2,))),
        (lambda x, w, b: F.instance_norm(x, None, None, w, b), ((2, 2, 3), (2,), (2,))),
        (lambda x, w, b: F.group_norm(x, 2, w, b), ((1, 4, 2), (4,), (4,))),
        (lambda x, w, b: F.layer_norm(x, (3,), w, b), ((2, 3), (3,), (3,))),
        (lambda x, w, b: F.layer_norm(x, (2, 3), w, b), ((2, 3), (2, 3), (2, 3))),
        (lambda x, w: F.rms_norm(x, (3,), w), ((2, 3), (3,))),
        (lambda x: F.local_response_norm(x, 3, 0.5), ((1, 4, 2),)),
        (lambda x: F.normalize(x), ((2, 3),)),
    ],
)
def test_norms_have_first_and_second_derivatives(norm: Any, shapes: Any) -> None:
    given = tuple(leaf(*shape) for shape in shapes)
    assert gradcheck(norm, given)
    assert has_second_derivatives(norm, given)


def test_parameters_of_another_dtype_for_no_elements() -> None:
    x = tt.zeros(0, 3, 2, dtype=tt.float64, requires_grad=True)
    weight = tt.ones(3, requires_grad=True)
    out = F.batch_norm(x, None, None, weight, training=True)
    out.sum().backward()
    assert out.dtype is tt.float64 and weight.grad is not None
    assert weight.grad.dtype is tt.float32 and weight.grad.tolist() == [0.0] * 3


@pytest.mark.torch
def test_norms_of_empty_inputs_are_pytorchs() -> None:
    compare_functional(
        "batch_norm", randn(0, 3), np.zeros(3), np.ones(3), training=True, grad=False
    )
    compare_functional("group_norm", randn(0, 4, 2), 2)
    compare_functional("local_response_norm", randn(0, 2, 3), 2)
    compare_functional("layer_norm", randn(0, 3), (3,), randn(3), randn(3))
    compare_functional("layer_norm", randn(3, 0), (0,), randn(0), randn(0))
    compare_functional("layer_norm", randn(2, 0, 3), (0, 3), randn(0, 3))


@pytest.mark.parametrize(
    ("name", "error", "text", "args", "options"),
    [
        ("batch_norm", ValueError, "Expected more than 1 value per channel when training",
         (np.ones((1, 3)), None, None), {"training": True}),
        ("batch_norm", RuntimeError, "running_mean must be defined in evaluation mode",
         (np.ones((2, 3)), None, None), {}),
        ("batch_norm", RuntimeError, "running_var should contain 3 elements not 4",
         (np.ones((2, 3)), np.ones(3), np.ones(4)), {}),
        ("batch_norm", RuntimeError, "weight should contain 3 elements not 2",
         (np.ones((2, 3)), None, None, np.ones(2)), {"training": True}),
        ("batch_norm", RuntimeError, "mixed dtype", (np.ones((2, 3)), np.ones(3, "float32"),
         np.ones(3, "float32")), {}),
        ("batch_norm", ValueError, "must either both be None or neither",
         (np.ones((2, 3)), np.ones(3), None), {}),
        ("batch_norm", NotImplementedError, "not implemented for 'Long'",
         (np.ones((2, 3), int), None, None), {"training": True}),
        ("instance_norm", ValueError, "Expected more than 1 spatial element",
         (np.ones((2, 3, 1)),), {}),
        ("instance_norm", RuntimeError, "to be defined when use_input_stats is false",
         (np.ones((2, 3, 2)),), {"use_input_stats": False}),
        ("group_norm", RuntimeError, "divisible by num_groups", (np.ones((2, 3, 2)), 2), {}),
        ("group_norm", ValueError, "Expected more than 1 value per channel when training",
         (np.ones((1, 3, 1)), 3), {}),
        ("group_norm", RuntimeError, "at least 2 dimensions", (np.ones(3), 1), {}),
        ("group_norm", RuntimeError, "Expected weight to be a vector",
         (np.ones((2, 4, 2)), 2, np.ones(3)), {}),
        ("layer_norm", RuntimeError, "Given normalized_shape", (np.ones((2, 3)), (2,)), {}),
        ("local_response_norm", ValueError, "Expected 3D or higher", (np.ones((2, 3)), 2), {}),
        ("normalize", RuntimeError, "Expected a floating point or complex tensor",
         (np.ones((2, 3), int),), {}),
        ("normalize", IndexError, "Dimension out of range", (randn(3),), {}),
    ],
)  # fmt: skip
def test_norms_refuse_wrong_arguments(
    name: str, error: Any, text: str, args: Any, options: Any
) -> None:
    assert_raises(name, error, text, *args, **options)
