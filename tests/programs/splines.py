"""Layers of learnable splines (KAN): B-splines by recursion, initial curves by least squares."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)


class SplineLinear(nn.Module):
    def __init__(self, inputs, outputs, intervals=4, order=3):
        super().__init__()
        self.intervals, self.order = intervals, order
        step = 2 / intervals
        knots = torch.arange(-order, intervals + order + 1) * step - 1
        self.register_buffer("knots", knots.expand(inputs, -1).contiguous())
        self.base = nn.Parameter(torch.empty(outputs, inputs))
        self.curve = nn.Parameter(torch.empty(outputs, inputs, intervals + order))
        nn.init.kaiming_uniform_(self.base, a=math.sqrt(5))
        self.reset_curves()

    @torch.no_grad()
    def reset_curves(self):
        outputs, inputs, _ = self.curve.shape
        noise = (torch.rand(self.intervals + 1, inputs, outputs) - 0.5) * 0.1 / self.intervals
        points = self.knots.T[self.order : -self.order]
        bases = self.bases(points).transpose(0, 1)
        found = torch.linalg.lstsq(bases, noise.transpose(0, 1), driver="gelsd").solution
        self.curve.data.copy_(found.permute(2, 0, 1))

    def bases(self, x):
        t, x = self.knots, x.unsqueeze(-1)
        b = ((x >= t[:, :-1]) & (x < t[:, 1:])).to(x.dtype)
        for k in range(1, self.order + 1):
            rising = (x - t[:, : -(k + 1)]) / (t[:, k:-1] - t[:, : -(k + 1)])
            falling = (t[:, k + 1 :] - x) / (t[:, k + 1 :] - t[:, 1:-k])
            b = rising * b[:, :, :-1] + falling * b[:, :, 1:]
        return b.contiguous()

    def forward(self, x):
        spline = F.linear(self.bases(x).view(x.size(0), -1), self.curve.flatten(1))
        return F.linear(F.silu(x), self.base) + spline

    def regularization(self):
        size = self.curve.abs().mean(-1)
        p = size / size.sum()
        return size.sum() - torch.sum(p * p.log())

    def extra_repr(self):
        return f"{self.base.shape[1]}, {self.base.shape[0]}, order={self.order}"


net = nn.Sequential(SplineLinear(2, 5), SplineLinear(5, 1))
print(net, [name for name, _ in net.named_buffers()])
optimizer = torch.optim.NAdam(net.parameters(), lr=2e-2)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.97)
x = torch.rand(64, 2) * 1.8 - 0.9
y = (torch.sin(math.pi * x[:, :1]) + x[:, 1:] ** 2).exp()
for step in range(40):
    loss = F.mse_loss(net(x), y) + 1e-3 * sum(layer.regularization() for layer in net)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 10 == 0:
        print(f"loss {loss.item():.5f} lr {scheduler.get_last_lr()[0]:.5f}")
inside = torch.linspace(-0.9, 0.9, 5)[:, None].expand(5, 2)
print(net[0].bases(inside).sum(-1).mean(dim=1), net[0].curve.grad.norm())
