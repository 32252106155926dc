"""Deep Q-learning with replay memory, target network and soft updates, on a small corridor."""

import math
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(4)
random.seed(4)
Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))
GAMMA, TAU, BATCH = 0.9, 0.05, 16


class Corridor:
    """Walk right from 0 to 4; a step costs 0.1, arriving gives 1."""

    def reset(self):
        self.place, self.steps = 0, 0
        return self.observe()

    def observe(self):
        return F.one_hot(torch.tensor(self.place), 5).float().unsqueeze(0)

    def step(self, action):
        self.place = max(0, self.place + (1 if action == 1 else -1))
        self.steps += 1
        done = self.place == 4
        return (None if done else self.observe()), (1.0 if done else -0.1), self.steps >= 20


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


class DQN(nn.Module):
    def __init__(self, n_observations, n_actions):
        super(DQN, self).__init__()
        self.layer1 = nn.Linear(n_observations, 24)
        self.layer2 = nn.Linear(24, n_actions)

    def forward(self, x):
        return self.layer2(F.relu(self.layer1(x)))


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
policy_net = DQN(5, 2).to(device)
target_net = DQN(5, 2).to(device)
target_net.load_state_dict(policy_net.state_dict())
optimizer = optim.AdamW(policy_net.parameters(), lr=5e-3, amsgrad=True)
memory = ReplayMemory(500)
steps_done = 0


def select_action(state):
    global steps_done
    threshold = 0.05 + 0.85 * math.exp(-1.0 * steps_done / 60)
    steps_done += 1
    if random.random() > threshold:
        with torch.no_grad():
            return policy_net(state).max(1).indices.view(1, 1)
    return torch.tensor([[random.randrange(2)]], device=device, dtype=torch.long)


def optimize_model():
    if len(memory) < BATCH:
        return None
    batch = Transition(*zip(*memory.sample(BATCH)))
    mask = torch.tensor(tuple(s is not None for s in batch.next_state), dtype=torch.bool)
    non_final = torch.cat([s for s in batch.next_state if s is not None])
    state_batch, action_batch = torch.cat(batch.state), torch.cat(batch.action)
    reward_batch = torch.cat(batch.reward)
    state_action_values = policy_net(state_batch).gather(1, action_batch)
    next_state_values = torch.zeros(BATCH, device=device)
    with torch.no_grad():
        next_state_values[mask] = target_net(non_final).max(1).values
    expected = (next_state_values * GAMMA) + reward_batch
    loss = nn.SmoothL1Loss()(state_action_values, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    return loss.item()


env = Corridor()
for episode in range(14):
    state, losses, total = env.reset(), [], 0.0
    while True:
        action = select_action(state)
        next_state, reward, truncated = env.step(action.item())
        total += reward
        memory.push(state, action, next_state, torch.tensor([reward], device=device))
        loss = optimize_model()
        if loss is not None:
            losses.append(loss)
        target_state, policy_state = target_net.state_dict(), policy_net.state_dict()
        for key in policy_state:
            target_state[key] = policy_state[key] * TAU + target_state[key] * (1 - TAU)
        target_net.load_state_dict(target_state)
        if next_state is None or truncated:
            break
        state = next_state
    mean = sum(losses) / max(1, len(losses))
    print(f"episode {episode} return {total:.1f} steps {env.steps} mean {mean:.4f}")
greedy = [int(policy_net(F.one_hot(torch.tensor([i]), 5).float()).argmax()) for i in range(4)]
print(greedy)
