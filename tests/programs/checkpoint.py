"""Saving and restoring: state_dict of model, optimizer, scheduler and generator; deepcopy; EMA."""

import copy
import pickle

import torch
import torch.nn as nn

torch.manual_seed(11)
X, y = torch.randn(32, 5), torch.randn(32, 1)


def build():
    return nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.ELU(), nn.Linear(16, 1))


def step(model, optimizer):
    optimizer.zero_grad()
    loss = nn.functional.smooth_l1_loss(model(X), y)
    loss.backward()
    optimizer.step()
    return loss.item()


model = build()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
ema = copy.deepcopy(model)
for p in ema.parameters():
    p.requires_grad_(False)
for epoch in range(4):
    print(f"loss {step(model, optimizer):.5f}")
    scheduler.step()
    with torch.no_grad():
        for slow, fast in zip(ema.parameters(), model.parameters()):
            slow.mul_(0.9).add_(fast, alpha=0.1)

checkpoint = {
    "epoch": 4,
    "model": model.state_dict(),
    "optimizer": optimizer.state_dict(),
    "scheduler": scheduler.state_dict(),
}
saved = pickle.loads(pickle.dumps(checkpoint))
print(list(saved["model"])[:3], saved["epoch"])

other = build()
missing, unexpected = other.load_state_dict(saved["model"], strict=False)
print(missing, unexpected)
second = torch.optim.Adam(other.parameters(), lr=1.0)
second.load_state_dict(saved["optimizer"])
print(second.param_groups[0]["lr"])
for _ in range(3):
    a, b = step(model, optimizer), step(other, second)
    print(f"loss {a:.5f} {a == b}")
same = all(torch.equal(p, q) for p, q in zip(model.parameters(), other.parameters()))
print(same, sum(p.abs().sum().item() for p in ema.parameters()) > 0)
state = other.state_dict()
state.pop("0.weight")
try:
    build().load_state_dict(state)
except RuntimeError as error:
    print(str(error).splitlines()[1].strip())
