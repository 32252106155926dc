"""Gradient descent fits a mixture of Gaussians and a Bayesian's beliefs of counts."""

import torch
from torch import distributions as D
from torch.distributions import constraints, transform_to

torch.manual_seed(0)
centers = torch.tensor([[-2.0, 0.0], [2.0, 1.0], [0.0, -2.0]])
which = D.Categorical(torch.tensor([0.5, 0.3, 0.2])).sample((200,))
data = D.MultivariateNormal(centers[which], 0.2 * torch.eye(2)).sample()

weights = torch.zeros(3, requires_grad=True)
means = (0.5 * torch.randn(3, 2)).requires_grad_()
spreads = torch.zeros(3, 2, requires_grad=True)
positive = transform_to(constraints.positive)


def model():
    parts = D.Independent(D.Normal(means, positive(spreads)), 1)
    return D.MixtureSameFamily(D.Categorical(logits=weights), parts)


optimizer = torch.optim.Adam([weights, means, spreads], lr=0.1)
for step in range(60):
    loss = -model().log_prob(data).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 12 == 11:
        print(f"loss {loss.item():.4f}")
print(means.data.sort(0).values)
print(model().mixture_distribution.probs.sort().values)

# Beliefs of how often each category comes: the posterior is known, and found by its divergence.
counts = torch.bincount(which, minlength=3).double()
posterior = D.Dirichlet(1 + counts)
log_concentration = torch.zeros(3, dtype=torch.float64, requires_grad=True)
optimizer = torch.optim.Adam([log_concentration], lr=0.2)
for _ in range(150):
    guess = D.Dirichlet(log_concentration.exp())
    divergence = D.kl_divergence(guess, posterior)
    optimizer.zero_grad()
    divergence.backward()
    optimizer.step()
print(f"divergence {divergence.item():.6f}", posterior.mean, posterior.entropy())
print(D.Gamma(2.0, torch.tensor([0.5, 4.0])).sample((3,)))
