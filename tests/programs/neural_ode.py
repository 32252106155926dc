"""A neural differential equation: Euler and Runge-Kutta steps, and a gradient by hand."""

import torch
import torch.nn as nn

torch.manual_seed(0)
times = torch.linspace(0.0, 2.0, 41)
matrix = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])


def euler(f, y, t, h):
    return y + h * f(t, y)


def runge_kutta(f, y, t, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def solve(f, y, times, step=euler):
    path = [y]
    for start, end in zip(times[:-1], times[1:]):
        path.append(step(f, path[-1], start, end - start))
    return torch.stack(path)


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 2))
        for module in self.net.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, mean=0, std=0.1)
                nn.init.constant_(module.bias, val=0)

    def forward(self, t, y):
        return self.net(y**3)


class Discretized(torch.autograd.Function):
    """Keeps the states alone, and takes every step again on the way back."""

    @staticmethod
    def forward(ctx, y, times, field, *parameters):
        path = solve(field, y, times)
        ctx.field, ctx.times = field, times
        ctx.save_for_backward(path, *parameters)
        return path[-1]

    @staticmethod
    def backward(ctx, gradient):
        path, *parameters = ctx.saved_tensors
        totals = [torch.zeros_like(p) for p in parameters]
        for i in reversed(range(len(ctx.times) - 1)):
            with torch.enable_grad():
                y = path[i].detach().requires_grad_(True)
                after = euler(ctx.field, y, ctx.times[i], ctx.times[i + 1] - ctx.times[i])
                gradient, *own = torch.autograd.grad(after, (y, *parameters), gradient)
            totals = [total + g for total, g in zip(totals, own)]
        return (gradient, None, None, *totals)


with torch.no_grad():
    truth = solve(lambda t, y: (y**3) @ matrix, torch.tensor([[2.0, 0.0]]), times, runge_kutta)
print(truth[::10, 0])

field = Field()
optimizer = torch.optim.RMSprop(field.parameters(), lr=1e-2)
for _ in range(6):
    optimizer.zero_grad()
    start = torch.randperm(30)[:8].sort().values
    target = torch.stack([truth[start + i] for i in range(10)])
    loss = (solve(field, truth[start], times[:10]) - target).abs().mean()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.6f}")

y = torch.tensor([[1.5, 0.5]], requires_grad=True)
parameters = tuple(field.parameters())
by_hand = torch.autograd.grad(
    Discretized.apply(y, times[:6], field, *parameters).pow(2).sum(), (y, *parameters)
)
recorded = torch.autograd.grad(solve(field, y, times[:6])[-1].pow(2).sum(), (y, *parameters))
print([torch.allclose(a, b, atol=1e-5) for a, b in zip(by_hand, recorded)], by_hand[0])
