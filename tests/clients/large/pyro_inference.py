"""Pyro: a mean that variational inference and Hamiltonian Monte Carlo find."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import MCMC, NUTS, SVI, Trace_ELBO
from pyro.infer.autoguide import AutoNormal

pyro.set_rng_seed(0)
data = torch.randn(50) + 3


def model(data):
    mean = pyro.sample("mean", dist.Normal(0.0, 10.0))
    with pyro.plate("each", len(data)):
        pyro.sample("x", dist.Normal(mean, 1.0), obs=data)


guide = AutoNormal(model)
inference = SVI(model, guide, pyro.optim.Adam({"lr": 0.1}), Trace_ELBO())
losses = [inference.step(data) for _ in range(200)]
assert losses[-1] < losses[0]
assert abs(guide.median()["mean"] - data.mean()) < 0.3
chain = MCMC(NUTS(model), num_samples=50, warmup_steps=30, disable_progbar=True)
chain.run(data)
assert abs(chain.get_samples()["mean"].mean() - data.mean()) < 0.2
print("done")
