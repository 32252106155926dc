"""Programs that fused kernels compute, for the tests of each backend that has some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt


def numbers(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Normal numbers, some of them equal."""
    return np.random.default_rng(seed).standard_normal(shape).round(1).astype(np.float32)


def count_calls(name: str, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the results of each fused kernel of a backend, until the test ends."""
    backend: Any = tt.backends.load(name)
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
    "softmax": (lambda m, x: m.softmax(x, 1), (IMAGES,), "softmax"),
    "log softmax": (lambda m, x: m.nn.functional.log_softmax(x, -1), (IMAGES,), "log_softmax"),
    "relu": (lambda m, x: m.relu(x), (IMAGES,), "relu relu_backward"),
    "gelu": (lambda m, x: m.nn.functional.gelu(x), (IMAGES,), "gelu"),
    "attention": (attend(), (QUERY, KEY, VALUE), KERNELS),
    "attention, causal": (attend(is_causal=True), (QUERY, KEY, VALUE), KERNELS),
    "attention, scaled": (attend(scale=0.3), (QUERY, KEY, VALUE), KERNELS),
    "attention, masked": (attend(), (QUERY, KEY, VALUE, MASK), KERNELS),
    "attention of parts": (attend_by_parts, (numbers(2, 5, 36),), KERNELS),
}

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
