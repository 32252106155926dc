"""A normalizing flow learns two moons: density and samples by a chain of transforms."""

import math

import torch
from torch import nn
from torch.distributions import Independent, TransformedDistribution, constraints
from torch.distributions.normal import Normal
from torch.distributions.transforms import AffineTransform, ComposeTransform, Transform

torch.manual_seed(0)
angle = math.pi * torch.rand(256)
upper = torch.arange(256) % 2 == 0
moons = torch.stack(
    [
        torch.where(upper, angle.cos(), 1 - angle.cos()),
        torch.where(upper, angle.sin(), 0.5 - angle.sin()),
    ],
    1,
) + 0.05 * torch.randn(256, 2)


class Coupling(Transform):
    """One coordinate is moved and scaled by what a network makes of the other."""

    domain = constraints.real_vector
    codomain = constraints.real_vector
    bijective = True

    def __init__(self, net, kept):
        super().__init__(cache_size=1)
        self.net, self.kept = net, kept

    def parameters(self, fixed):
        log_scale, shift = self.net(fixed).chunk(2, -1)
        return log_scale.tanh(), shift

    def split(self, x):
        return (x[..., :1], x[..., 1:]) if self.kept == 0 else (x[..., 1:], x[..., :1])

    def join(self, fixed, moved):
        return torch.cat([fixed, moved] if self.kept == 0 else [moved, fixed], -1)

    def _call(self, x):
        fixed, moved = self.split(x)
        log_scale, shift = self.parameters(fixed)
        return self.join(fixed, moved * log_scale.exp() + shift)

    def _inverse(self, y):
        fixed, moved = self.split(y)
        log_scale, shift = self.parameters(fixed)
        return self.join(fixed, (moved - shift) * (-log_scale).exp())

    def log_abs_det_jacobian(self, x, y):
        return self.parameters(self.split(x)[0])[0].sum(-1)


nets = nn.ModuleList(nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 2)) for _ in range(4))
base = Independent(Normal(torch.zeros(2), torch.ones(2)), 1)
steps = [Coupling(net, i % 2) for i, net in enumerate(nets)]
flow = TransformedDistribution(base, [*steps, AffineTransform(0.5, torch.ones(2), event_dim=1)])
optimizer = torch.optim.Adam(nets.parameters(), lr=1e-2)
for step in range(60):
    loss = -flow.log_prob(moons).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 15 == 14:
        print(f"loss {loss.item():.4f}")
print(flow.event_shape, flow.batch_shape, flow.support)
with torch.no_grad():
    x = flow.sample((3,))
    chain = ComposeTransform(flow.transforms)
    z = chain.inv(x)
    print(x.shape, chain(z).sub(x).abs().max() < 1e-4)
    print(f"{(base.log_prob(z) - chain.log_abs_det_jacobian(z, x)).sum().item():.3f}")
    print(f"{flow.log_prob(x).sum().item():.3f}")
