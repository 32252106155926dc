"""REINFORCE on a corridor, with categorical sampling by hand and discounted returns."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)


class Corridor:
    def __init__(self, length=6):
        self.length = length

    def reset(self):
        self.at = self.length // 2
        return self.observe()

    def observe(self):
        return F.one_hot(torch.tensor(self.at), self.length).float()

    def step(self, action):
        self.at = max(0, min(self.length - 1, self.at + (1 if action == 1 else -1)))
        done = self.at in (0, self.length - 1)
        return self.observe(), 1.0 if self.at == self.length - 1 else -0.1, done


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(6, 16)
        self.affine2 = nn.Linear(16, 2)
        self.saved_log_probs, self.rewards = [], []

    def forward(self, x):
        return F.softmax(self.affine2(F.relu(self.affine1(x))), dim=-1)


policy = Policy()
optimizer = torch.optim.RMSprop(policy.parameters(), lr=1e-2)
eps = torch.finfo(torch.float32).eps


def select_action(state):
    probs = policy(state.unsqueeze(0))
    action = (torch.rand(1) < probs[0, 1]).long()
    policy.saved_log_probs.append(probs.log().gather(1, action.view(1, 1)).squeeze())
    return action.item()


def finish_episode():
    R, returns = 0, []
    for r in policy.rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    if len(returns) > 1:
        returns = (returns - returns.mean()) / (returns.std() + eps)
    loss = [-log_prob * R for log_prob, R in zip(policy.saved_log_probs, returns)]
    optimizer.zero_grad()
    loss = torch.stack(loss).sum()
    loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]
    return loss.item()


env, running = Corridor(), 0.0
for episode in range(25):
    state, ep_reward = env.reset(), 0.0
    for t in range(20):
        action = select_action(state)
        state, reward, done = env.step(action)
        policy.rewards.append(reward)
        ep_reward += reward
        if done:
            break
    running = 0.05 * ep_reward + 0.95 * running
    print(f"steps {t + 1} policy {finish_episode():.3f} running {running:.4f}")
