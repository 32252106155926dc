"""BoTorch: a fitted Gaussian process tells where to look next for the largest value."""

import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

torch.manual_seed(0)
bounds = torch.stack([torch.zeros(2), torch.ones(2)]).double()
x = torch.rand(8, 2, dtype=torch.float64)
for _ in range(6):
    y = -(x - 0.5).pow(2).sum(1, keepdim=True)
    model = SingleTaskGP(x, y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    acquisition = LogExpectedImprovement(model, y.max())
    best, _ = optimize_acqf(acquisition, bounds=bounds, q=1, num_restarts=2, raw_samples=16)
    x = torch.cat([x, best])
assert (x - 0.5).abs().amax(1).min() < 0.1, x
print("done")
