"""Stable-Baselines3: PPO, A2C, DQN and SAC for some steps; an agent that is saved and loaded."""

import tempfile

import gymnasium
import numpy as np
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.evaluation import evaluate_policy

options = {"seed": 0, "verbose": 0, "device": "cpu"}
ppo = PPO("MlpPolicy", "CartPole-v1", n_steps=256, **options).learn(4096)
before = evaluate_policy(PPO("MlpPolicy", "CartPole-v1", **options), ppo.get_env(), 5)[0]
after = evaluate_policy(ppo, ppo.get_env(), 5)[0]
assert after > before, (before, after)
A2C("MlpPolicy", "CartPole-v1", **options).learn(300)
DQN("MlpPolicy", "CartPole-v1", learning_starts=50, **options).learn(300)
SAC("MlpPolicy", "Pendulum-v1", learning_starts=50, **options).learn(120)
observation, _ = gymnasium.make("CartPole-v1").reset(seed=0)
with tempfile.TemporaryDirectory() as folder:
    ppo.save(f"{folder}/agent")
    again = PPO.load(f"{folder}/agent")
assert np.array_equal(*(each.predict(observation, deterministic=True)[0] for each in (ppo, again)))
print("done")
