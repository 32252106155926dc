"""A mixture density network fits a relation with several answers; policies of several kinds."""

import torch
import torch.nn as nn
from torch.distributions import Categorical, MixtureSameFamily, kl_divergence
from torch.distributions.beta import Beta
from torch.distributions.normal import Normal
from torch.distributions.relaxed_categorical import RelaxedOneHotCategorical
from torch.distributions.transformed_distribution import TransformedDistribution
from torch.distributions.transforms import TanhTransform

torch.manual_seed(1)
y = 4 * torch.rand(200, 1) - 2
x = 0.7 * y + torch.sin(2.5 * y) + 0.1 * torch.randn(200, 1)


class Density(nn.Module):
    def __init__(self, parts=4):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 24), nn.Tanh())
        self.head = nn.Linear(24, 3 * parts)

    def forward(self, x):
        logits, means, spreads = self.head(self.body(x)).chunk(3, -1)
        spreads = nn.functional.softplus(spreads) + 1e-2
        return MixtureSameFamily(Categorical(logits=logits), Normal(2 * means, spreads))


model = Density()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(60):
    loss = -model(x).log_prob(y.squeeze(-1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 15 == 14:
        print(f"loss {loss.item():.4f}")
with torch.no_grad():
    found = model(torch.tensor([[-1.0], [0.0], [1.0]]))
    print(f"{found.mean.sum().item():.3f} {found.variance.sum().item():.3f}")
    print(f"{found.cdf(torch.zeros(3)).sum().item():.3f}", found.sample((2,)).shape)
    print(found.expand((2, 3)).component_distribution.batch_shape)

# A squashed Gaussian policy, as in soft actor-critic, its divergence from a prior, and a Beta one.
mean = torch.tensor([0.2, -0.5], requires_grad=True)
log_std = torch.zeros(2, requires_grad=True)
policy = TransformedDistribution(Normal(mean, log_std.exp()), [TanhTransform(cache_size=1)])
action = policy.rsample((5,))
surprise = policy.log_prob(action).sum(-1).mean()
surprise.backward()
print(f"{surprise.item():.4f}", mean.grad, log_std.grad)
print(kl_divergence(Normal(mean, log_std.exp()), Normal(0.0, 1.0)).sum().detach())
bounded = Beta(torch.tensor([2.0, 0.5]), torch.tensor([1.0, 3.0]))
print(bounded.entropy(), bounded.log_prob(torch.tensor([0.3, 0.3])))

# A relaxed choice passes gradients on to its logits.
logits = torch.tensor([0.1, 0.5, -0.3], requires_grad=True)
choice = RelaxedOneHotCategorical(torch.tensor(0.7), logits=logits).rsample((4,))
(choice * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
print(choice.sum(-1), logits.grad)
