"""Fused kernels of the backend "torch": results and gradients are PyTorch's and NumPy's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

pytestmark = pytest.mark.torch


def numbers(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Normal numbers, some of them equal."""
    return np.random.default_rng(seed).standard_normal(shape).round(1).astype(np.float32)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Number of results of each fused kernel."""
    backend: Any = tt.backends.load("torch")
    backend.kernel("conv")  # makes the table of kernels
    found: Counter[str] = Counter()

    def count(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            result = kernel(*args, **options)
            refused = NotImplemented if name.endswith("_update") else None
            found[name] += result is not refused
            return result

        return call

    counted = {name: count(name, kernel) for name, kernel in backend._kernels.items()}
    monkeypatch.setattr(backend, "_kernels", counted)
    return found


def results(m: Any, function: Callable[..., Any], *arrays: np.ndarray[Any, Any]) -> list[Any]:
    """Result of a function of tensors, and the gradients of its floating-point arguments."""
    tensors = [m.tensor(np.array(array)) for array in arrays]
    inputs = [t.requires_grad_() for t in tensors if t.is_floating_point()]
    out = function(m, *tensors)
    weights = np.random.default_rng(9).standard_normal(tuple(out.shape)).astype(np.float32)
    (out * m.tensor(weights).to(out.dtype)).sum().backward()
    return [np.asarray(t.tolist()) for t in (out.detach(), *(t.grad for t in inputs))]


IMAGES, VOLUMES, LINES = numbers(2, 3, 7, 8), numbers(2, 2, 5, 6, 5), numbers(3, 2, 9)
#: Function of a library and tensors, its arrays, and the kernels that have to compute it.
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], str]] = {
    "max of lines": (
        lambda m, x: m.nn.functional.max_pool1d(x, 3, 2, 1), (LINES,),
        "max_pool max_pool_backward",
    ),
    "max of images": (
        lambda m, x: m.nn.functional.max_pool2d(x, (2, 3), (1, 2), (1, 0), (2, 1)), (IMAGES,),
        "max_pool max_pool_backward",
    ),
    "max of one image, partial windows": (
        lambda m, x: m.nn.functional.max_pool2d(x, 2, 3, 1, ceil_mode=True), (IMAGES[0],),
        "max_pool max_pool_backward",
    ),
    "max of volumes": (
        lambda m, x: m.nn.functional.max_pool3d(x, (2, 3, 2), 2, (1, 0, 1)), (VOLUMES,),
        "max_pool max_pool_backward",
    ),
    "max of images, columns last": (
        lambda m, x: m.nn.functional.max_pool2d(x.to(memory_format=m.channels_last), 2), (IMAGES,),
        "max_pool max_pool_backward",
    ),
    "mean of lines": (
        lambda m, x: m.nn.functional.avg_pool1d(x, 3, 2, 1, count_include_pad=False), (LINES,),
        "sum_pool sum_pool_backward",
    ),
    "mean of images": (
        lambda m, x: m.nn.functional.avg_pool2d(x, (2, 3), (1, 2), (1, 0), True), (IMAGES,),
        "sum_pool sum_pool_backward",
    ),
    "mean of images by another divisor": (
        lambda m, x: m.nn.functional.avg_pool2d(x, 2, divisor_override=3), (IMAGES,),
        "sum_pool sum_pool_backward",
    ),
    "mean of volumes": (
        lambda m, x: m.nn.functional.avg_pool3d(x, (2, 3, 2), 2, (1, 0, 1)), (VOLUMES,),
        "sum_pool sum_pool_backward",
    ),
    "batch norm": (
        lambda m, x, w, b: m.nn.functional.batch_norm(x, None, None, w, b, True),
        (IMAGES, numbers(3, seed=1), numbers(3, seed=2)), "batch_norm batch_norm_backward",
    ),
    "batch norm of vectors, no parameters": (
        lambda m, x: m.nn.functional.batch_norm(x, None, None, None, None, True),
        (numbers(6, 4),), "batch_norm batch_norm_backward",
    ),
    "layer norm": (
        lambda m, x, w, b: m.nn.functional.layer_norm(x, (7, 8), w, b),
        (IMAGES, numbers(7, 8, seed=1), numbers(7, 8, seed=2)), "layer_norm layer_norm_backward",
    ),
    "layer norm without parameters": (
        lambda m, x: m.nn.functional.layer_norm(x, (8,)), (IMAGES,),
        "layer_norm layer_norm_backward",
    ),
    "layer norm without a scale": (
        lambda m, x, b: m.nn.functional.layer_norm(x, (8,), None, b), (IMAGES, numbers(8)),
        "layer_norm layer_norm_backward",
    ),
    "embedding": (
        lambda m, i, w: m.nn.functional.embedding(i, w, padding_idx=2),
        (np.array([[0, 2, 3], [3, 3, 1]]), numbers(5, 4)), "embedding embedding_backward",
    ),
    "embedding by int32": (
        lambda m, i, w: m.nn.functional.embedding(i, w),
        (np.array([0, 2, 2], np.int32), numbers(5, 4)), "embedding embedding_backward",
    ),
}  # fmt: skip
QUERY, KEY, VALUE = (
    numbers(2, 3, *shape, seed=at) for at, shape in enumerate([(5, 4)] + [(6, 4)] * 2)
)
MASK = np.random.default_rng(3).random((5, 6)) > 0.4
MASK[1] = False  # a query without keys


def attend(**options: Any) -> Callable[..., Any]:
    """Return scaled dot-product attention with options."""

    def run(m: Any, q: Any, k: Any, v: Any, *mask: Any) -> Any:
        given = {"attn_mask": mask[0].detach()} if mask else {}
        return m.nn.functional.scaled_dot_product_attention(q, k, v, **given, **options)

    return run


def attend_by_parts(m: Any, x: Any) -> Any:
    """Attention of queries, keys and values that are parts of one array, heads merged again."""
    q, k, v = (t.reshape(2, 5, 3, 4).transpose(1, 2) for t in x.chunk(3, -1))
    out = m.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    return out.transpose(1, 2).reshape(2, 5, 12)


KERNELS = "attention attention_backward"
PROGRAMS |= {
    "attention": (attend(), (QUERY, KEY, VALUE), KERNELS),
    "attention, causal": (attend(is_causal=True), (QUERY, KEY, VALUE), KERNELS),
    "attention, scaled": (attend(scale=0.3), (QUERY, KEY, VALUE), KERNELS),
    "attention, masked": (attend(), (QUERY, KEY, VALUE, MASK), KERNELS),
    "attention of parts": (attend_by_parts, (numbers(2, 5, 36),), KERNELS),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_compute_pytorchs_and_numpys_results(
    name: str, dtype: str, calls: Counter[str], torch: Any
) -> None:
    function, arrays, kernels = PROGRAMS[name]
    arrays = tuple(a.astype(dtype) if a.dtype.kind == "f" else a for a in arrays)
    with tt.backend_context("torch"):
        found = results(tt, function, *arrays)
    assert set(kernels.split()) <= {each for each, count in calls.items() if count}
    with tt.backend_context("numpy"):
        here = results(tt, function, *arrays)
    for ours, on_numpy, theirs in zip(found, here, results(torch, function, *arrays), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(ours, on_numpy, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("max of images", "float16"),
        ("max of images", "int64"),
        ("mean of images", "int64"),
        ("layer norm", "float16"),
        ("embedding", "float16"),
        ("embedding", "complex64"),
    ],
)
def test_kernels_leave_other_dtypes_to_the_shared_code(
    name: str, dtype: str, calls: Counter[str]
) -> None:
    function, arrays, _ = PROGRAMS[name]
    arrays = tuple(a.astype(dtype) if a.dtype.kind == "f" else a for a in arrays)
    found = []
    for backend in ("torch", "numpy"):
        with tt.backend_context(backend):
            found.append(function(tt, *map(tt.tensor, arrays)))
    assert not [each for each, count in calls.items() if count]
    np.testing.assert_allclose(found[0].numpy(), found[1].numpy(), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("name", ["max of images", "batch norm", "layer norm", "attention"])
def test_second_derivatives_go_through_the_kernels(name: str) -> None:
    function, arrays, _ = PROGRAMS[name]
    found = []
    for backend in ("torch", "numpy"):
        with tt.backend_context(backend):
            x, *rest = (tt.tensor(a.astype("float64"), requires_grad=True) for a in arrays)
            (first,) = tt.autograd.grad((function(tt, x, *rest) ** 3).sum(), x, create_graph=True)
            found.append(tt.autograd.grad((first**2).sum(), x)[0].numpy())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-7, atol=1e-9)


def test_the_first_of_equal_maxima_gets_the_gradient() -> None:
    with tt.backend_context("torch"):
        x = tt.tensor([[[[1.0, 5.0], [5.0, 5.0]]]], requires_grad=True)
        tt.nn.functional.max_pool2d(x, 2).sum().backward()
        assert x.grad is not None
        assert x.grad.tolist() == [[[[0.0, 1.0], [0.0, 0.0]]]]
        nan = tt.tensor([[[[1.0, float("nan")], [5.0, 5.0]]]])
        assert tt.nn.functional.max_pool2d(nan, 2).isnan().all()


def test_an_invalid_index_of_an_embedding_raises() -> None:
    with tt.backend_context("torch"):
        for index in (5, -1):
            with pytest.raises(IndexError, match="index out of range in self"):
                tt.nn.functional.embedding(tt.tensor([0, index]), tt.ones(5, 2)).tolist()


OPTIMIZERS: dict[str, dict[str, Any]] = {
    "Adam": {"lr": 0.1, "weight_decay": 0.1},
    "Adam, maximum": {"lr": 0.1, "amsgrad": True, "maximize": True},
    "AdamW": {"lr": 0.1, "weight_decay": 0.1},
    "SGD": {"lr": 0.1, "weight_decay": 0.1},
    "SGD, momentum": {"lr": 0.1, "momentum": 0.9, "dampening": 0.1, "maximize": True},
    "SGD, nesterov": {"lr": 0.1, "momentum": 0.9, "nesterov": True},
}


def optimize(m: Any, name: str, options: dict[str, Any], transposed: bool) -> list[Any]:
    """Parameters after three steps."""
    starts = [m.tensor(numbers(4, 3)), m.tensor(numbers(3, seed=1))]
    starts[0] = starts[0].T if transposed else starts[0]
    parameters = [start.requires_grad_() for start in starts]
    optimizer = getattr(m.optim, name.partition(",")[0])(parameters, **options)
    for step in range(3):
        optimizer.zero_grad()
        sum(((p - step) ** 2).sum() for p in parameters).backward()
        optimizer.step()
    return [np.asarray(p.tolist()) for p in parameters]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_updates_are_pytorchs(name: str, transposed: bool, calls: Counter[str], torch: Any) -> None:
    options = OPTIMIZERS[name]
    with tt.backend_context("torch"):
        found = optimize(tt, name, options, transposed)
    kernel = "sgd_update" if name.startswith("SGD") else "adam_update"
    assert calls[kernel] == (0 if transposed else 3)  # a transposed parameter is not row-major
    for ours, theirs in zip(found, optimize(torch, name, options, transposed), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
