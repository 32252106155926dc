"""Programs that both libraries trace: each is a function of the library that returns a program."""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class Pair(NamedTuple):
    """A result with names."""

    first: Any
    second: Any


def operators(L: Any) -> Any:
    def program(x: Any) -> Any:
        y = 3 - x
        y += 2
        y = y @ x, -x, ~(x == 1), x // 2, x % 3, x**2, 2**x, x / 2, x * float("inf"), abs(x)
        return y, 1 - x, 2 / x, (x > 0) & (x < 5) | (x != 2), x <= x, x >= 1, +x

    return program


def functions(L: Any) -> Any:
    def program(x: Any, y: Any) -> Any:
        z = L.cat([x, y], dim=1)
        z = L.nn.functional.gelu(z).to(L.float64)
        a, b = z.chunk(2, dim=1)
        return {"a": a.view(a.size(0), -1).shape[0], "b": [b.float(), L.stack((a, b)).T]}

    return program


def inputs(L: Any) -> Any:
    def program(input: Any, max: Any = None, *args: Any, scale: float = 2.0, **kwargs: Any) -> Any:
        return L.relu(input) * scale, max, args, kwargs

    return program


def annotations(L: Any) -> Any:
    def program(x, y=1):  # type: ignore[no-untyped-def]
        return x + y

    program.__annotations__ = {"x": L.Tensor, "y": int, "return": L.Tensor}
    return program


def indices(L: Any) -> Any:
    return lambda x: (x[0], x[:, 1:], x[..., None], x[x.size(0) // 2 :, ::2], x[[0, 1]])


def arithmetic(L: Any) -> Any:
    return lambda x: x * math.sqrt(x.size(1)) + math.floor(x.size(0) / 2)


def creation(L: Any) -> Any:
    return lambda x: L.zeros(x.size(0)) + L.full((x.size(1),), 1.0) + L.arange(x.size(1))


def constants(L: Any) -> Any:
    one = L.ones(3)
    return lambda x: x * one + one


def names(L: Any) -> Any:
    return lambda x: Pair(x + 1, x - 1)


def attributes(L: Any) -> Any:
    return lambda x: (x.shape, x.dtype, x.device, x.real.foo(1).bar)


def unpacking(L: Any) -> Any:
    def program(x: Any) -> Any:
        n, c = x.shape
        return x.reshape(c, n)

    return program


PROGRAMS: dict[str, Any] = {
    function.__name__: function
    for function in (
        operators, functions, inputs, annotations, indices, arithmetic, creation, constants, names,
        attributes, unpacking,
    )
}  # fmt: skip


# -- modules -----------------------------------------------------------------------------------


def network(L: Any) -> Any:
    """A module with parameters, buffers, lists, and modules in modules."""
    nn = L.nn

    class Inner(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.lin = nn.Linear(3, 3)

        def forward(self, x: Any, k: Any) -> Any:
            return self.lin(x) + k

    class Net(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(L.arange(3.0))
            self.register_buffer("b", L.ones(3))
            self.c = L.zeros(3)
            self.lin = nn.Linear(3, 3)
            self.seq = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
            self.several = nn.ParameterList([nn.Parameter(L.ones(3))])
            self.inner = Inner()

        def forward(self, x: Any) -> Any:
            x = x + self.w.t() * self.b - self.c + L.ones(1) + self.several[0] + self.w
            return self.inner(self.seq(self.lin(x)), k=self.w)

    return Net()


def residual(L: Any) -> Any:
    """A residual block with convolutions and batch norms, which fuse."""
    nn = L.nn

    class Block(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(2, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
            self.conv2, self.bn2 = nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4)
            self.down = nn.Sequential(nn.Conv2d(2, 4, 1), nn.BatchNorm2d(4))
            self.relu = nn.ReLU()
            self.head = nn.Linear(4, 2)

        def forward(self, x: Any) -> Any:
            y = self.relu(self.bn1(self.conv1(x)))
            y = self.relu(self.bn2(self.conv2(y)) + self.down(x))
            return self.head(L.flatten(nn.functional.adaptive_avg_pool2d(y, 1), 1))

    return Block()


def transformer(L: Any) -> Any:
    """A layer of leaves that have several results."""
    nn = L.nn

    class Layer(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
            self.norm, self.lstm = nn.LayerNorm(4), nn.LSTM(4, 4, batch_first=True)

        def forward(self, x: Any) -> Any:
            y, _ = self.attention(x, x, x, need_weights=False)
            z, (h, c) = self.lstm(self.norm(x + y))
            return z + h[-1][:, None]

    return Layer()


MODULES = {"network": (network, (2, 3)), "residual": (residual, (2, 2, 5, 5)),
           "transformer": (transformer, (2, 3, 4))}  # fmt: skip
