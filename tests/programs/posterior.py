"""Bayesian regression with correlated coefficients: variational inference, then Monte Carlo."""

import torch
from torch.distributions import LKJCholesky, biject_to, constraints, transform_to
from torch.distributions.gamma import Gamma
from torch.distributions.half_cauchy import HalfCauchy
from torch.distributions.log_normal import LogNormal
from torch.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from torch.distributions.multivariate_normal import MultivariateNormal
from torch.distributions.normal import Normal
from torch.distributions.weibull import Weibull

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
features = torch.randn(40, 2)
response = features @ torch.tensor([1.0, -2.0]) + 0.3 * torch.randn(40)

regions = {
    "scales": (constraints.positive, (2,)),
    "factor": (constraints.corr_cholesky, (1,)),
    "weights": (constraints.real, (2,)),
    "noise": (constraints.interval(0.0, 5.0), ()),
}
sizes = [torch.Size(shape).numel() for _, shape in regions.values()]


def log_joint(free):
    """Of unconstrained numbers: priors, likelihood, and the Jacobians of the transforms."""
    total, values = 0.0, {}
    for part, (name, (region, shape)) in zip(free.split(sizes), regions.items()):
        transform = biject_to(region)
        x = part.reshape(shape)
        values[name] = transform(x)
        total = total + transform.log_abs_det_jacobian(x, values[name]).sum()
    total = total + HalfCauchy(1.0).log_prob(values["scales"]).sum()
    total = total + LKJCholesky(2, 2.0).log_prob(values["factor"])
    factor = values["scales"].unsqueeze(-1) * values["factor"]
    prior = MultivariateNormal(torch.zeros(2), scale_tril=factor)
    total = total + prior.log_prob(values["weights"])
    total = total + LogNormal(0.0, 1.0).log_prob(values["noise"])
    return total + Normal(features @ values["weights"], values["noise"]).log_prob(response).sum()


n = sum(sizes)
loc, log_diag = torch.zeros(n, requires_grad=True), torch.zeros(n, requires_grad=True)
shared = (0.1 * torch.randn(n, 1)).requires_grad_()
optimizer = torch.optim.Adam([loc, log_diag, shared], lr=0.05)
for step in range(60):
    guide = LowRankMultivariateNormal(loc, shared, log_diag.exp())
    free = guide.rsample()
    loss = -log_joint(free) - guide.entropy()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 15 == 14:
        print(f"loss {loss.item():.4f}")
print(loc[3:5].detach(), guide.variance[3:5].detach())


def gradient(free):
    free = free.detach().requires_grad_()
    value = log_joint(free)
    return value.detach(), torch.autograd.grad(value, free)[0]


# Hamiltonian Monte Carlo from there.
free, kept, accepted = loc.detach(), [], 0
for _ in range(12):
    momentum = torch.randn(n)
    value, slope = gradient(free)
    energy = value - 0.5 * momentum.square().sum()
    place = free
    for _ in range(8):
        momentum = momentum + 0.02 * slope
        place = place + 0.04 * momentum
        new_value, slope = gradient(place)
        momentum = momentum + 0.02 * slope
    if torch.rand(()).log() < new_value - 0.5 * momentum.square().sum() - energy:
        free, accepted = place, accepted + 1
    kept.append(free)
print(accepted, torch.stack(kept).mean(0)[3:5])

# Maximum likelihood of constrained parameters.
lifetimes = Weibull(2.0, 1.5).sample((100,))
raw = {name: torch.zeros(1, requires_grad=True) for name in Weibull.arg_constraints}
optimizer = torch.optim.Adam(raw.values(), lr=0.1)
for _ in range(50):
    found = {k: transform_to(Weibull.arg_constraints[k])(v) for k, v in raw.items()}
    loss = -Weibull(**found).log_prob(lifetimes).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"nll {loss.item():.4f}", *(v.detach() for v in found.values()))
rates = Gamma(3.0, found["scale"].detach())
print(rates.mean, rates.cdf(torch.ones(1)), biject_to(rates.support).inv(rates.mean))
