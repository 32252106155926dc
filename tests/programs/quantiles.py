"""Quantile regression: the pinball loss, groups of parameters, a one-cycle schedule."""

import torch
import torch.nn as nn

torch.manual_seed(7)


class PinballLoss(nn.Module):
    def __init__(self, quantiles):
        super().__init__()
        self.register_buffer("quantiles", torch.as_tensor(quantiles), persistent=False)

    def forward(self, predicted, target):
        error = target[:, None] - predicted
        return torch.maximum((self.quantiles - 1) * error, self.quantiles * error).sum(1).mean()


x = torch.rand(200, 1) * 4
y = (torch.sin(x) + torch.randn_like(x) * (0.1 + 0.2 * x)).squeeze(1)
net = nn.Sequential(nn.Linear(1, 32), nn.SiLU(), nn.LayerNorm(32), nn.Linear(32, 3))
loss_of = PinballLoss([0.1, 0.5, 0.9])
print(loss_of.state_dict(), list(loss_of.buffers()))
optimizer = torch.optim.NAdam(
    [{"params": net[0].parameters(), "lr": 1e-2}, {"params": net[2:].parameters()}], lr=5e-3
)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=[0.02, 0.01], total_steps=25)
for step in range(25):
    optimizer.zero_grad()
    loss = loss_of(net(x), y)
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 6 == 0:
        print(f"loss {loss.item():.5f}", [round(rate, 6) for rate in scheduler.get_last_lr()])

with torch.no_grad():
    predicted = net(x)
    print((y[:, None] < predicted).float().mean(0), (predicted[:, 0] < predicted[:, 2]).all())
print(torch.quantile(y, torch.tensor([0.1, 0.5, 0.9])), torch.nanquantile(y, 0.3))
print(y.median(), y.kthvalue(7))
print(torch.histc(y, 5, -1, 1), torch.bucketize(y[:5], torch.tensor([-0.5, 0, 0.5, 1])))
print(torch.std_mean(y, correction=0), torch.corrcoef(torch.stack([x[:, 0], y])))
