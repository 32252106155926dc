"""Captum: how much each input did, and that the parts add up to the whole."""

import torch
from captum.attr import DeepLift, IntegratedGradients, Saliency
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
x = torch.rand(4, 3)
whole = (model(x) - model(torch.zeros(4, 3)))[:, 0].detach()
for method in (IntegratedGradients(model), DeepLift(model)):
    parts = method.attribute(x, target=0).sum(1).float().detach()
    torch.testing.assert_close(parts, whole, rtol=0, atol=0.02)
inner = x.clone().requires_grad_()
(slopes,) = torch.autograd.grad(model(inner)[:, 0].sum(), inner)
torch.testing.assert_close(Saliency(model).attribute(x, target=0), slopes.abs())
print("done")
