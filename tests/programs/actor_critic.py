"""Two policies learn by their log probabilities, an estimate of the value helps one of them."""

import torch
import torch.nn as nn
from torch.distributions import Categorical, Independent, Normal, kl_divergence

torch.manual_seed(0)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 16)
        self.choice, self.value = nn.Linear(16, 4), nn.Linear(16, 1)

    def forward(self, state):
        hidden = torch.tanh(self.body(state))
        return Categorical(logits=self.choice(hidden)), self.value(hidden).squeeze(-1)


model = Actor()
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
for update in range(8):
    total = 0.0
    for _ in range(5):
        state = torch.randn(32, 3)
        right = state.argmax(1)
        policy, value = model(state)
        action = policy.sample()
        reward = (action == right).float()
        advantage = reward - value
        chosen = -(policy.log_prob(action) * advantage.detach()).mean()
        loss = chosen + 0.5 * advantage.pow(2).mean() - 0.01 * policy.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += 1 - policy.probs.gather(1, right[:, None]).mean().item()
    print(f"loss {total / 5:.4f} entropy {policy.entropy().mean().item():.4f}")

# A continuous policy that stays near its prior, by samples that pass gradients on.
mean = nn.Parameter(torch.zeros(2))
log_scale = nn.Parameter(torch.zeros(2))
goal, prior = torch.tensor([1.0, -0.5]), Independent(Normal(torch.zeros(2), 1.0), 1)
optimizer = torch.optim.SGD([mean, log_scale], lr=0.05)
for step in range(20):
    policy = Independent(Normal(mean, log_scale.exp()), 1)
    sample = policy.rsample((64,))
    cost = (sample - goal).pow(2).sum(-1).mean() + 0.1 * kl_divergence(policy, prior)
    optimizer.zero_grad()
    cost.backward()
    optimizer.step()
    if step % 5 == 4:
        print(f"cost {cost.item():.4f} of {policy.log_prob(goal).item():.4f}", mean.data)
