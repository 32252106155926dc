"""Work in which the arrays are large: networks, convolution, pointwise formulas, reductions.

Networks and formulas are PyTorch programs, run with ``tinytorch`` and ``torch`` from the same
weights and data. The operations of `OPS` have no budget: for most of them NumPy has no routine
to match PyTorch's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .libraries import Libraries
from .timing import Statement

Step = Callable[[], Any]
SIDE = 1000

#: Single operations on square matrices: ``x`` of any floats, ``p`` of floats near 1, ``i`` of
#: indices, ``n`` of integers.
OPS = {
    "prod": "m.prod(p, 1)",
    "topk": "m.topk(x, 5, 1)",
    "sort": "m.sort(x, 1)",
    "median": "m.median(x, 1)",
    "mode": "m.mode(n, 1)",
    "unique": "m.unique(n)",
    "cummax": "m.cummax(x, 1)",
    "cumsum": "m.cumsum(x, 1)",
    "gather": "m.gather(x, 1, i)",
    "scatter_add": "m.scatter_add(x, 1, i, p)",
    "lu_factor": "m.linalg.lu_factor(x)",
}


def random(*shape: int, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    """Normal numbers in float32, times ``scale``."""
    return (scale * np.random.default_rng(seed).standard_normal(shape)).astype(np.float32)


def steps(libraries: Libraries, make: Callable[[Any], Step]) -> dict[str, Statement]:
    """Return the steps that ``make`` builds with ``tinytorch`` and with ``torch``."""
    made = {name: make(m) for name, m in libraries.torch_like().items()}
    return {name: Statement("step()", {"step": step}) for name, step in made.items()}


def set_weights(m: Any, model: Any) -> Any:
    """Set the weights of a model, the same in every library; return the model."""
    with m.no_grad():
        for seed, parameter in enumerate(model.parameters()):
            shape = tuple(parameter.shape)
            scale = 1 / math.sqrt(math.prod(shape[1:])) if len(shape) > 1 else 0.1
            parameter.copy_(m.tensor(random(*shape, seed=seed, scale=scale)))
    return model


def training(m: Any, model: Any, loss: Callable[[], Any]) -> Step:
    """Return a training step by Adam.

    Args:
        m: tinytorch or PyTorch.
        model: The module to train.
        loss: Function that computes the loss of the model.
    """
    update = m.optim.Adam(model.parameters(), lr=1e-3)

    def run() -> Any:
        update.zero_grad()
        value = loss()
        value.backward()
        update.step()
        return value

    return run


# -- networks ----------------------------------------------------------------------------------


def lenet(m: Any, batch: int) -> Step:
    """A training step of LeNet-5, with ReLU and maxima.

    Reference: LeCun, Bottou, Bengio & Haffner, "Gradient-based learning", 1998
    """
    nn = m.nn
    model = set_weights(m, nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    ))  # fmt: skip
    x = m.tensor(random(batch, 1, 28, 28))
    labels = m.tensor(np.arange(batch) % 10)
    return training(m, model, lambda: nn.functional.cross_entropy(model(x), labels))


def residual(m: Any, batch: int, width: int = 16, side: int = 16) -> Step:
    """A training step of a residual block with batch normalization, and a mean over the image."""
    nn = m.nn
    convolutions = [nn.Conv2d(width, width, 3, padding=1, bias=False) for _ in range(2)]
    body = nn.Sequential(
        convolutions[0], nn.BatchNorm2d(width), nn.ReLU(), convolutions[1], nn.BatchNorm2d(width)
    )
    end = nn.Sequential(nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(width * 64, 10))
    model = set_weights(m, nn.Sequential(body, end))
    x, labels = m.tensor(random(batch, width, side, side)), m.tensor(np.arange(batch) % 10)
    return training(m, model, lambda: nn.functional.cross_entropy(end(x + body(x)), labels))


def attention(m: Any, batch: int, heads: int = 4, length: int = 64, width: int = 32) -> Step:
    """Causal scaled dot-product attention, forward and backward."""
    shape = (batch, heads, length, width)
    tensors = [m.tensor(random(*shape, seed=seed), requires_grad=True) for seed in range(3)]
    ones = m.ones(*shape)

    def run() -> Any:
        for tensor in tensors:
            tensor.grad = None
        out = m.nn.functional.scaled_dot_product_attention(*tensors, is_causal=True)
        out.backward(ones)
        return tensors[0].grad

    return run


def gpt(m: Any, batch: int, layers: int = 4, width: int = 128, length: int = 64) -> Step:
    """A step of a language model of causal attention blocks, as in nanoGPT."""
    nn, heads, words = m.nn, 4, 65
    mask = m.tril(m.ones(length, length)) == 0

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.wide, self.back = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def attend(self, x: Any) -> Any:
            shape = (batch, length, heads, width // heads)
            q, k, v = (t.view(shape).transpose(1, 2) for t in self.qkv(x).split(width, dim=2))
            scores = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(width // heads))
            weights = nn.functional.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
            return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))

        def forward(self, x: Any) -> Any:
            x = x + self.attend(self.norm1(x))
            return x + self.back(nn.functional.gelu(self.wide(self.norm2(x))))

    table, blocks = nn.Embedding(words, width), [Block() for _ in range(layers)]
    head = nn.Linear(width, words)
    model = set_weights(m, nn.Sequential(table, *blocks, nn.LayerNorm(width), head))
    tokens = np.random.default_rng(0).integers(0, words, (batch, length + 1))
    x, labels = m.tensor(tokens[:, :-1]), m.tensor(tokens[:, 1:])

    def loss() -> Any:
        return nn.functional.cross_entropy(model(x).reshape(-1, words), labels.reshape(-1))

    return training(m, model, loss)


def cells(m: Any, kind: str, batch: int = 32, length: int = 20, width: int = 128) -> Step:
    """A recurrent cell over a sequence, forward and backward."""
    cell = set_weights(m, {"LSTM": m.nn.LSTMCell, "GRU": m.nn.GRUCell}[kind](width, width))
    x = m.tensor(random(length, batch, width))

    def run() -> Any:
        cell.zero_grad()
        state = None
        for step in x:
            state = cell(step, state)
        last = state if kind == "GRU" else state[0]
        loss = (last * last).sum()
        loss.backward()
        return loss

    return run


def recurrent(m: Any, batch: int = 32, length: int = 20, width: int = 128) -> Step:
    """A layer of LSTM over a sequence, forward and backward."""
    layer = set_weights(m, m.nn.LSTM(width, width))
    x = m.tensor(random(length, batch, width))

    def run() -> Any:
        layer.zero_grad()
        out, _ = layer(x)
        loss = (out[-1] * out[-1]).sum()
        loss.backward()
        return loss

    return run


# -- single operations -------------------------------------------------------------------------


def convolution(m: Any, backward: bool, groups: int = 1, batch: int = 16) -> Step:
    """A convolution of 64 channels of 32×32 images with 3×3 kernels, forward or also backward."""
    x = m.tensor(random(batch, 64, 32, 32), requires_grad=backward)
    weight = m.tensor(random(64, 64 // groups, 3, 3, scale=0.05), requires_grad=backward)
    ones = m.ones(batch, 64, 32, 32)

    def forward() -> Any:
        return m.nn.functional.conv2d(x, weight, padding=1, groups=groups)

    def forward_and_backward() -> Any:
        out = forward()
        x.grad = weight.grad = None
        out.backward(ones)
        return out.detach().sum()

    return forward_and_backward if backward else forward


def pointwise(m: Any, size: int) -> Step:
    """The formula of GELU, forward and backward."""
    x = m.tensor(random(size), requires_grad=True)
    ones = m.ones(size)

    def run() -> Any:
        x.grad = None
        y = 0.5 * x * (1 + m.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))
        y.backward(ones)
        return x.grad

    return run


def softmax(libraries: Libraries, side: int) -> dict[str, Statement]:
    """Return the softmax of every row; NumPy's line is the formula."""
    x = random(side, side)
    source = "e = n.exp(x - x.max(1, keepdims=True)); e / e.sum(1, keepdims=True)"
    return {"numpy": Statement(source, {"n": np, "x": x})} | {
        name: Statement("m.softmax(x, 1)", {"m": m, "x": m.tensor(x)})
        for name, m in libraries.torch_like().items()
    }


def total(libraries: Libraries, size: int) -> dict[str, Statement]:
    """Return the sum of all elements."""
    x = random(size)
    return {"numpy": Statement("x.sum()", {"x": x})} | {
        name: Statement("x.sum()", {"x": m.tensor(x)}) for name, m in libraries.torch_like().items()
    }


def operation(libraries: Libraries, op: str) -> dict[str, Statement]:
    """Return the statement of one of `OPS` for tinytorch and PyTorch."""
    rng = np.random.default_rng(0)
    arrays = {
        "x": random(SIDE, SIDE), "p": 1 + random(SIDE, SIDE, scale=0.01),
        "i": rng.integers(0, SIDE, (SIDE, SIDE)), "n": rng.integers(-SIDE, SIDE, (SIDE, SIDE)),
    }  # fmt: skip
    return {
        name: Statement(OPS[op], {"m": m, **{k: m.tensor(a) for k, a in arrays.items()}})
        for name, m in libraries.torch_like().items()
    }
