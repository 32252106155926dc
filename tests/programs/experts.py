"""Mixture of experts: each row goes to two of four networks, and a loss keeps them all busy."""

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

torch.manual_seed(21)


@dataclass
class Config:
    dim: int = 8
    hidden: int = 16
    experts: int = 4
    chosen: int = 2


class Mixture(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.gate = nn.Linear(config.dim, config.experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(
                nn.Linear(config.dim, config.hidden),
                nn.SiLU(),
                nn.Linear(config.hidden, config.dim),
            )
            for _ in range(config.experts)
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        probs = self.gate(x).softmax(dim=-1)
        weights, chosen = torch.topk(probs, self.config.chosen)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            rows, place = torch.where(chosen == number)
            if rows.numel() == 0:
                continue
            out.index_add_(0, rows, weights[rows, place, None] * expert(x[rows]))
        share = F.one_hot(chosen[:, 0], self.config.experts).float().mean(dim=0)
        return out, self.config.experts * (share * probs.mean(dim=0)).sum()


model = Mixture(Config())
print(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x = torch.randn(64, 8)
target = torch.where(x[:, :1] > 0, x.roll(1, dims=1), x.flip(1))
for step in range(40):
    out, balance = model(x)
    loss = F.mse_loss(out, target) + 0.01 * balance
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 10 == 0:
        print(f"loss {loss.item():.5f} balance {balance:.4f} norm {norm:.4f}")
model.eval()
with torch.inference_mode():
    best = model.gate(x).argmax(dim=-1)
    print("rows of each expert", torch.bincount(best, minlength=4).tolist())
    for number, expert in enumerate(model.experts):
        print(number, expert[0].weight.std(), expert(x[best == number]).shape)
