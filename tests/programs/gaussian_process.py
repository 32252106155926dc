"""Regression by a Gaussian process: Cholesky factors, a fitted kernel, samples, a Hessian."""

import math

import torch
from torch import nn
from torch.nn.functional import softplus

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)

x = torch.linspace(0, 1, 20)
y = torch.sin(2 * math.pi * x) + 0.2 * torch.randn(x.size())
wanted = torch.linspace(-0.2, 1.2, 7)


class Process(nn.Module):
    def __init__(self):
        super().__init__()
        self.raw_length = nn.Parameter(torch.tensor(0.0))
        self.raw_scale = nn.Parameter(torch.tensor(0.0))
        self.raw_noise = nn.Parameter(torch.tensor(-1.0))

    @property
    def noise(self):
        return softplus(self.raw_noise)

    def kernel(self, a, b):
        distance = (a.unsqueeze(-1) - b.unsqueeze(-2)).square()
        return softplus(self.raw_scale) * torch.exp(-distance / 2 / softplus(self.raw_length) ** 2)

    def factor(self):
        return torch.linalg.cholesky(self.kernel(x, x) + self.noise * torch.eye(len(x)))

    def forward(self):
        factor = self.factor()
        alpha = torch.cholesky_solve(y.unsqueeze(-1), factor).squeeze(-1)
        return 0.5 * y @ alpha + factor.diagonal().log().sum() + len(x) / 2 * math.log(2 * math.pi)

    def predict(self, at):
        factor, cross = self.factor(), self.kernel(x, at)
        mean = cross.T @ torch.cholesky_solve(y[:, None], factor)[:, 0]
        v = torch.linalg.solve_triangular(factor, cross, upper=False)
        return mean, self.kernel(at, at) - v.T @ v


process = Process()
optimizer = torch.optim.Adam(process.parameters(), lr=0.1)
for step in range(16):
    optimizer.zero_grad()
    loss = process()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"loss {loss.item():.6f} noise {process.noise.item():.6f}")

with torch.no_grad():
    mean, covariance = process.predict(wanted)
    print(mean)
    print(covariance.diagonal().clamp_min(0).sqrt())
    root = torch.linalg.cholesky(covariance + 1e-8 * torch.eye(len(wanted)))
    print((root @ torch.randn(len(wanted), 2))[0])
print(torch.linalg.slogdet(covariance + torch.eye(len(wanted))))


def evidence(log_scale, log_noise):
    k = torch.exp(log_scale) * torch.exp(-((x[:, None] - x) ** 2))
    k = k + torch.exp(log_noise) * torch.eye(len(x))
    return 0.5 * y @ torch.linalg.solve(k, y) + 0.5 * torch.logdet(k)


at = (torch.tensor(0.0), torch.tensor(-1.0))
for row in torch.autograd.functional.hessian(evidence, at):
    print(" ".join(f"{value.item():.6f}" for value in row))
torch.set_default_dtype(torch.float32)
