"""torchdiffeq: solutions of differential equations, and gradients by the adjoint one."""

import math

import torch
from torchdiffeq import odeint, odeint_adjoint

times = torch.tensor([0.0, 1.0])
for method in ("dopri5", "rk4", "adaptive_heun"):
    steps = {"options": {"step_size": 0.1}} if method == "rk4" else {}
    found = odeint(lambda t, y: -y, torch.ones(1), times, method=method, **steps)
    assert abs(found[-1].item() - math.exp(-1)) < 1e-3


class Decay(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = torch.nn.Parameter(torch.tensor(1.0))

    def forward(self, t, y):
        return -self.rate * y


decay = Decay()
odeint_adjoint(decay, torch.ones(1), times)[-1].sum().backward()
assert abs(decay.rate.grad.item() + math.exp(-1)) < 1e-3
print("done")
