"""Types of tensors and of functions of them; each line also runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_type

import numpy as np

import tinytorch as tt
import tinytorch.nn.functional as F
from tinytorch import Tensor, nn


def creation() -> None:
    assert_type(tt.zeros(2, 3), Tensor)
    assert_type(tt.zeros((2, 3), dtype=tt.float64), Tensor)
    assert_type(tt.zeros(size=[2, 3]), Tensor)
    assert_type(tt.full((2,), 7), Tensor)
    assert_type(tt.arange(3, device="cpu"), Tensor)
    assert_type(tt.tensor([[1, 2], [3, 4]]), Tensor)
    assert_type(tt.float32, tt.dtype)
    assert_type(tt.int, tt.dtype)
    assert_type(tt.zeros_like(tt.ones(2), dtype=tt.int64), Tensor)
    assert_type(tt.ones(2).new_zeros(2, 3), Tensor)
    assert_type(tt.rand(2, generator=tt.Generator()), Tensor)


def operators(x: Tensor) -> None:
    assert_type(x + 1, Tensor)
    assert_type(2.5 * x, Tensor)
    assert_type(1 - x, Tensor)
    assert_type(-x, Tensor)
    assert_type(x**2, Tensor)
    assert_type(2**x, Tensor)
    assert_type(x @ x, Tensor)
    assert_type(x == 2, Tensor)
    assert_type(x != x, Tensor)
    assert_type((x > 0) & (x < 2), Tensor)
    assert_type(abs(x), Tensor)
    y = x.clone()
    y += 1
    y[0] = 5
    y[y > 3] = 0
    assert_type(y, Tensor)
    assert_type(x[0, None, 1:], Tensor)
    assert_type([row for row in x], list[Tensor])  # noqa: C416
    assert_type(bool((x == x).all()), bool)


def attributes(x: Tensor) -> None:
    assert_type(x.shape, tt.Size)
    assert_type(x.shape[0], int)
    assert_type(x.shape[:1], tt.Size)
    assert_type(x.size(), tt.Size)
    assert_type(x.size(0), int)
    assert_type(x.stride(), tuple[int, ...])
    assert_type(x.stride(0), int)
    assert_type(x.dtype, tt.dtype)
    assert_type(x.device, tt.device)
    assert_type(x.backend, tt.Backend)
    assert_type(x.grad, Tensor | None)
    assert_type(x.T, Tensor)
    assert_type(x.numpy(), np.ndarray[Any, Any])


def methods(x: Tensor) -> None:
    assert_type(x.sin().exp_(), Tensor)
    assert_type(x.view(-1), Tensor)
    assert_type(x.reshape((4,)), Tensor)
    assert_type(x.permute(1, 0), Tensor)
    assert_type(x.to(tt.float64), Tensor)
    assert_type(x.float(), Tensor)
    assert_type(x.split(1), tuple[Tensor, ...])
    assert_type(nn.Parameter(x).detach().zero_(), Tensor)


def results_by_arguments(x: Tensor) -> None:
    assert_type(tt.max(x), Tensor)
    assert_type(tt.max(x, x), Tensor)
    assert_type(tt.where(x > 0), tuple[Tensor, ...])
    assert_type(tt.where(x > 0, x, 0.0), Tensor)
    assert_type(tt.max(x, 1).values, Tensor)
    values, indices = x.min(dim=0)
    assert_type(values, Tensor)
    assert_type(indices, Tensor)
    assert_type(x.max(axis=0).values, Tensor)
    assert_type(tt.median(x, axis=0, keepdim=True).indices, Tensor)
    image = x.reshape(1, 1, 2, 2)
    assert_type(F.max_pool2d(image, 2), Tensor)
    assert_type(F.max_pool2d(image, 2, return_indices=True), tuple[Tensor, Tensor])
    assert_type(x.type(), str)
    assert_type(x.type(tt.float64), Tensor)


def layers(x: Tensor) -> None:
    lstm = nn.LSTM(2, 3)
    assert_type(lstm(x), tuple[Tensor, tuple[Tensor, Tensor]])
    packed = nn.utils.rnn.pack_sequence([x, x[:1]])
    assert_type(lstm(packed)[0], nn.utils.rnn.PackedSequence)
    assert_type(nn.GRU(2, 3)(x)[0], Tensor)
    assert_type(nn.MaxPool2d(2)(x.reshape(1, 2, 2)), Tensor)


def numpy_spellings(x: Tensor) -> None:
    assert_type(tt.sum(x, axis=0, keepdims=True), Tensor)
    assert_type(x.mean(axis=(0, 1)), Tensor)
    assert_type(x.std(axis=0, ddof=1), Tensor)
    assert_type(tt.clip(x, a_min=0, a_max=1), Tensor)
    assert_type(tt.concatenate([x, x], axis=1), Tensor)


def outputs(x: Tensor) -> None:
    out = tt.empty(2, 2)
    assert_type(tt.add(x, 1, out=out), Tensor)
    assert_type(tt.sin(x, out=out), Tensor)


def generic(tensors: Sequence[Tensor]) -> Tensor:
    return tt.cat(tensors)


def main() -> None:
    x = tt.tensor([[1.0, 2.0], [3.0, 4.0]])
    creation()
    for show in (operators, attributes, methods, results_by_arguments, layers):
        show(x)
    numpy_spellings(x)
    outputs(x)
    assert generic([x, x]).shape == (4, 2)


if __name__ == "__main__":
    main()
