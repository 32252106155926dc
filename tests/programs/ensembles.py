"""An ensemble trained as one model by vmap, and gradients of single examples, clipped."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, stack_module_state, vmap

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(6, 8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(F.relu(self.hidden(x)))


models = [Net() for _ in range(4)]
base = models[0]
params, buffers = stack_module_state(models)
x = torch.randn(24, 6)
y = x[:, :3].argmax(1)


def loss_of_one(params, x, y):
    return F.cross_entropy(functional_call(base, params, (x,)), y)


def loss_of_example(params, x, y):
    return loss_of_one(params, x.unsqueeze(0), y.unsqueeze(0))


optimizer = torch.optim.Adam(params.values(), lr=0.05)
for step in range(5):
    losses = vmap(loss_of_one, in_dims=(0, None, None))(params, x, y)
    optimizer.zero_grad()
    losses.sum().backward()
    optimizer.step()
    print(f"loss {losses.mean().item():.5f} spread {losses.std().item():.5f}")

# Differentially private descent: each example's gradient is clipped before they are added.
weights = {name: p[0].detach().clone() for name, p in params.items()}
per_example = vmap(grad(loss_of_example), in_dims=(None, 0, 0))
for step in range(3):
    grads = per_example(weights, x, y)
    norms = torch.stack([g.flatten(1).norm(dim=1) for g in grads.values()], 1).norm(dim=1)
    factor = (0.5 / norms).clamp(max=1.0)
    for name, g in grads.items():
        clipped = torch.einsum("n,n...->...", factor, g) / len(x)
        weights[name] -= 0.5 * (clipped + 0.001 * torch.randn_like(clipped))
    print(f"norms {norms.min().item():.4f} to {norms.max().item():.4f}")

# Functions of numbers over all pairs of them.
distance = vmap(vmap(lambda i, j: (i - j).abs() * 2, (None, 0)), (0, None))
print(distance(torch.arange(3), torch.arange(4)))
