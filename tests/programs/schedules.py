"""Learning-rate schedules, gradient clipping, accumulation, and parameter groups."""

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, OneCycleLR, ReduceLROnPlateau

torch.manual_seed(10)
X = torch.randn(64, 6)
y = X.sum(dim=1, keepdim=True).sin()


def make():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 24), nn.SiLU(), nn.Linear(24, 1))


def train(model, optimizer, scheduler, steps=8, clip=None, accumulate=1):
    for step in range(steps):
        optimizer.zero_grad()
        for part in range(accumulate):
            rows = slice(part * 64 // accumulate, (part + 1) * 64 // accumulate)
            loss = nn.functional.mse_loss(model(X[rows]), y[rows]) / accumulate
            loss.backward()
        norm = None
        if clip is not None:
            norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=clip)
        else:
            nn.utils.clip_grad_value_(model.parameters(), clip_value=0.5)
        optimizer.step()
        if isinstance(scheduler, ReduceLROnPlateau):
            scheduler.step(loss)
        else:
            scheduler.step()
    lrs = [group["lr"] for group in optimizer.param_groups]
    print(f"loss {loss.item():.5f} lr {lrs[0]:.5f} {norm is not None}")


model = make()
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
train(model, opt, CosineAnnealingLR(opt, T_max=8), clip=1.0)

model = make()
opt = torch.optim.AdamW(
    [
        {"params": model[0].parameters(), "lr": 1e-2},
        {"params": model[2].parameters()},
    ],
    lr=3e-3,
    amsgrad=True,
)
train(model, opt, LambdaLR(opt, lr_lambda=lambda epoch: 0.9**epoch), accumulate=4)

model = make()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
train(model, opt, OneCycleLR(opt, max_lr=0.05, total_steps=10))

model = make()
opt = torch.optim.RMSprop(model.parameters(), lr=1e-2, alpha=0.9, centered=True)
train(model, opt, ReduceLROnPlateau(opt, mode="min", factor=0.5, patience=1), steps=12)

warmup = torch.optim.lr_scheduler.LinearLR(opt, start_factor=0.1, total_iters=3)
decay = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.9)
chain = torch.optim.lr_scheduler.SequentialLR(opt, [warmup, decay], milestones=[3])
rates = []
for _ in range(6):
    opt.step()
    chain.step()
    rates.append(round(chain.get_last_lr()[0], 6))
print(rates)
