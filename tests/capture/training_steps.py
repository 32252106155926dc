"""Steps of training of small networks, for every backend whose functions are recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tinytorch
from tinytorch import nn, optim
from tinytorch.nn import functional as F
from tinytorch.nn.utils import clip_grad_norm_

tt: Any = tinytorch


def parameters_of(net: Any) -> list[Any]:
    return [*net.parameters(), *net.buffers()]


def train(net: Any, loss_of: Callable[[], Any], optimizer: Any, scheduler: Any = None) -> Any:
    """Return a step of training, and what it changes."""

    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        norm = clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        return loss.detach(), norm

    return step, parameters_of(net)


def make_mlp() -> Any:
    net = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3))
    x, y = tt.randn(12, 6), tt.randint(3, (12,))
    optimizer = optim.Adam(net.parameters(), lr=0.02)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, 0.05, total_steps=60)
    return train(net, lambda: F.cross_entropy(net(x), y), optimizer, scheduler)


def make_convolutions() -> Any:
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64, 3),
    )  # fmt: skip
    x, y = tt.randn(6, 1, 8, 8), tt.randint(3, (6,))
    optimizer = optim.SGD(net.parameters(), 0.05, momentum=0.9, weight_decay=1e-3, nesterov=True)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, 8)
    return train(net, lambda: F.cross_entropy(net(x), y), optimizer, scheduler)


class Language(nn.Module):
    """Causal language model of one layer, without dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.layer = nn.TransformerEncoderLayer(
            8,
            2,
            16,
            dropout=0.0,
            batch_first=True,
            bias=False,  # a bias of keys has no gradient
        )
        self.head = nn.Linear(8, 11)

    def forward(self, tokens: Any) -> Any:
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        return self.head(self.layer(self.embedding(tokens), src_mask=mask, is_causal=True))


def make_language() -> Any:
    net, tokens = Language(), tt.randint(11, (4, 7))
    optimizer = optim.AdamW(net.parameters(), lr=0.01, weight_decay=0.1)

    def loss_of() -> Any:
        return F.cross_entropy(net(tokens[:, :-1]).reshape(-1, 11), tokens[:, 1:].reshape(-1))

    return train(net, loss_of, optimizer)


def make_recurrent() -> Any:
    net = nn.LSTM(4, 5, batch_first=True)
    x = tt.randn(3, 4, 4)
    return train(net, lambda: net(x)[0].square().mean(), optim.RMSprop(net.parameters(), lr=0.01))


STEPS = make_mlp, make_convolutions, make_language, make_recurrent
