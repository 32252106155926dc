"""A user's program as type checkers see it: data, a model of their own, a training loop."""

from __future__ import annotations

from typing import assert_type

import tinytorch as tt
import tinytorch.nn.functional as F
from tinytorch import Tensor, nn, optim
from tinytorch.utils.data import DataLoader, Dataset, TensorDataset


class Spiral(Dataset[tuple[Tensor, Tensor]]):
    def __init__(self, count: int) -> None:
        angle = tt.linspace(0, 6, count)
        self.points = tt.stack([angle * angle.cos(), angle * angle.sin()], dim=1)
        self.classes = (angle > 3).long()

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.points[index], self.classes[index]


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.scale = nn.Parameter(tt.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        assert_type(self.linear, nn.Linear)
        assert_type(self.linear(x), Tensor)
        assert_type(self.linear.weight, nn.Parameter)
        return x + self.scale * F.gelu(self.norm(self.linear(x)))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), Block(16), nn.Dropout(0.1))
        self.head = nn.Linear(16, 2)

    def forward(self, x: Tensor) -> Tensor:
        features = self.body(x)
        return self.head(features)


def train(net: Net, loader: DataLoader[tuple[Tensor, Tensor]], epochs: int) -> list[float]:
    optimizer = optim.AdamW(net.parameters(), lr=1e-2, weight_decay=1e-4)
    criterion = nn.CrossEntropyLoss()
    losses: list[float] = []
    net.train()
    for _ in range(epochs):
        for points, classes in loader:
            optimizer.zero_grad()
            out = net(points)
            assert_type(out, Tensor)
            loss = criterion(out, classes)
            assert_type(loss, Tensor)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


@tt.no_grad()
def accuracy(net: Net, points: Tensor, classes: Tensor) -> float:
    net.eval()
    hits = net(points).argmax(dim=1) == classes
    assert_type(hits, Tensor)
    return float(hits.float().mean())


def train_by_hand(x: Tensor) -> Tensor:
    weight = tt.randn(2, 2, requires_grad=True)
    y = F.softmax(x @ weight, dim=-1)
    (grad,) = tt.autograd.grad(y.sum(), [weight])
    with tt.no_grad():
        weight -= 0.1 * grad
        for parameter in Net().parameters():
            parameter *= 0.9
            assert_type(parameter, nn.Parameter)
    assert_type(weight.grad, Tensor | None)
    return weight.detach()


def main() -> None:
    generator = tt.manual_seed(0)
    assert_type(generator, tt.Generator)
    data = Spiral(64)
    net = Net()
    losses = train(net, DataLoader(data, batch_size=16, shuffle=True), epochs=20)
    assert losses[-1] < losses[0]
    assert accuracy(net, data.points, data.classes) > 0.5
    state = net.state_dict()
    Net().load_state_dict(state)
    assert train_by_hand(data.points).shape == (2, 2)
    assert len(TensorDataset(data.points, data.classes)) == 64
    with tt.backend_context("numpy"):
        assert_type(tt.get_backend(), str)


if __name__ == "__main__":
    main()
