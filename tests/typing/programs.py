"""Models and training as PyTorch's users annotate them; every line also runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_type

import tinytorch as tt
from tinytorch import Tensor, nn
from tinytorch.autograd import Function
from tinytorch.nn import functional as F
from tinytorch.optim import LBFGS, SGD, Adam
from tinytorch.optim.lr_scheduler import CosineAnnealingLR, StepLR
from tinytorch.utils.data import DataLoader, Dataset


class Scale(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None]:
        return grad_outputs[0] * ctx.factor, None


class Words(Dataset[dict[str, Tensor]]):
    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        return {"words": tt.arange(index + 1), "label": tt.tensor(index % 2)}


def collate(batch: list[dict[str, Tensor]]) -> tuple[Tensor, Tensor]:
    words = nn.utils.rnn.pad_sequence([item["words"] for item in batch], batch_first=True)
    return words, tt.stack([item["label"] for item in batch])


class Tagger(nn.Module):
    mask: Tensor

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.rnn = nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(2)])
        self.head = nn.Linear(width, 2)
        self.register_buffer("mask", tt.ones(8, 8).triu(1).bool())
        nn.init.zeros_(self.head.bias)
        nn.init.xavier_uniform_(self.head.weight, gain=nn.init.calculate_gain("relu"))

    def forward(self, words: Tensor) -> Tensor:
        x = self.embed(words)
        output, (hidden, cell) = self.rnn(x)
        assert_type(output, Tensor)
        assert_type(hidden, Tensor)
        assert_type(cell, Tensor)
        length = words.size(1)
        mask = self.mask[:length, :length]
        attended, weights = self.attention(output, output, output, attn_mask=mask)
        assert_type(attended, Tensor)
        assert_type(weights, Tensor | None)
        for norm in self.norms:
            attended = norm(attended)
        return self.head(attended.mean(dim=1))


def train(model: Tagger, loader: DataLoader[Any]) -> Iterator[float]:
    optimizer = Adam(model.parameters(), lr=1e-2)
    scheduler = StepLR(optimizer, step_size=2, gamma=0.5)
    for words, label in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(words), label)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        assert_type(norm, Tensor)
        optimizer.step()
        scheduler.step()
        yield loss.item()
    print(f"{scheduler.get_last_lr()[0]:.3f}")


def fit(x: Tensor, y: Tensor) -> Tensor:
    weight = nn.Parameter(tt.zeros(x.shape[1]))
    optimizer = LBFGS([weight], max_iter=5)

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = F.mse_loss(x @ weight, y)
        loss.backward()
        return loss

    optimizer.step(closure)
    return weight.detach()


def watch(layer: nn.Linear, x: Tensor) -> list[Tensor]:
    seen: list[Tensor] = []

    def hook(module: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
        seen.append(output.detach())

    handle = layer.register_forward_hook(hook)
    y = Scale.apply(layer(x), 2.0)
    y.sum().backward()
    handle.remove()
    layer.weight.data.normal_(0.0, 0.1)
    layer.bias.data.fill_(0)
    if layer.weight.grad is not None:
        seen.append(layer.weight.grad)
    return seen


def restore(model: Tagger) -> Tagger:
    other = Tagger(7, 4)
    missing, unexpected = other.load_state_dict(model.state_dict())
    assert_type(missing, list[str])
    assert_type(unexpected, list[str])
    optimizer = SGD(other.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    optimizer.load_state_dict(optimizer.state_dict())
    CosineAnnealingLR(optimizer, T_max=3)
    return other.to(tt.float64)


model = Tagger(7, 4)
batches = DataLoader(Words(), batch_size=2, shuffle=True, collate_fn=collate)
assert len(list(train(model, batches))) == 3
assert fit(tt.randn(8, 3), tt.randn(8)).shape == (3,)
assert len(watch(nn.Linear(2, 2), tt.ones(1, 2))) == 2
assert restore(model).head.weight.dtype is tt.float64
scores = tt.einsum("bhid,bhjd->bhij", tt.ones(1, 2, 3, 4), tt.ones(1, 2, 3, 4))
assert_type(scores.masked_fill(scores > 9, 0.0).softmax(-1), Tensor)
values, places = tt.topk(scores, 2)
assert_type(values, Tensor)
