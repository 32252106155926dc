"""Learning to learn: gradients through gradient steps, and the functional forms of modules."""

from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, hessian, jacrev, vmap

torch.manual_seed(10)
model = nn.Sequential(OrderedDict(hidden=nn.Linear(1, 16), act=nn.Tanh(), out=nn.Linear(16, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def adapt(x, y, steps=2, lr=0.05):
    weights = OrderedDict(model.named_parameters())
    for _ in range(steps):
        loss = F.mse_loss(functional_call(model, weights, (x,)), y)
        gradients = torch.autograd.grad(loss, weights.values(), create_graph=True)
        weights = OrderedDict(
            (name, weight - lr * gradient)
            for (name, weight), gradient in zip(weights.items(), gradients)
        )
    return weights


tasks = [torch.rand(2).tolist() for _ in range(3)]
for _ in range(6):
    optimizer.zero_grad()
    total = 0.0
    for size, phase in tasks:
        x, query = torch.rand(2, 10, 1) * 4 - 2
        weights = adapt(x, size * torch.sin(x + phase))
        predicted = functional_call(model, weights, (query,))
        loss = F.mse_loss(predicted, size * torch.sin(query + phase))
        loss.backward()
        total += loss.item()
    optimizer.step()
    print(f"loss {total:.5f} gradient {model.hidden.weight.grad.norm():.5f}")

weights = {name: p.detach() for name, p in model.named_parameters()}
x, y = torch.randn(2, 4, 1)


def loss_of(weights, x, y):
    return F.mse_loss(functional_call(model, weights, (x,)), y)


whole = grad(loss_of)(weights, x, y)
each = vmap(grad(loss_of), in_dims=(None, 0, 0))(weights, x, y)
for name, gradient in whole.items():
    print(name, tuple(each[name].shape), torch.allclose(each[name].mean(0), gradient, atol=1e-6))
print(jacrev(lambda v: v**2)(torch.arange(3.0)))
print(hessian(lambda v: (v**3).sum())(torch.arange(3.0)))
