"""Gradients that communication hooks make of two ranks' own, and parameters after averages.

Runs under PyTorch's gloo as well; each rank writes the values to a file of JSON.
"""

import json
import pickle
import sys
import warnings
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import debugging_hooks, powerSGD_hook
from torch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
from torch.distributed.algorithms.model_averaging.hierarchical_model_averager import (
    HierarchicalModelAverager,
)
from torch.distributed.optim import PostLocalSGDOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP

warnings.simplefilter("ignore")
dist.init_process_group("gloo")
RANK, SIZE = dist.get_rank(), dist.get_world_size()


def gradients(hook, state, again=False):
    """Norms and corners of the gradients of six steps; ``again`` loads the state of a pickle."""
    torch.manual_seed(4)
    net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 8))
    model = DDP(net)
    model.register_comm_hook(state, hook)
    found = []
    for step in range(6):
        torch.manual_seed(10 * step + RANK)
        model.zero_grad()
        model(torch.randn(5, 6)).square().sum().backward()
        grads = [p.grad.reshape(-1) for p in net.parameters()]
        found += [[grad.norm().item(), *grad[:2].tolist()] for grad in grads]
        if again:
            state.__setstate__(pickle.loads(pickle.dumps(state)).__getstate__())
    return found, torch.rand(1).item()


POWER = {
    "one": {},
    "two": {"matrix_approximation_rank": 2, "min_compression_rate": 1},
    "three": {"matrix_approximation_rank": 3, "min_compression_rate": 0.5, "random_seed": 7},
    "together": {"batch_tensors_with_same_shape": True, "orthogonalization_epsilon": 1e-3},
    "without error": {"use_error_feedback": False},
    "cold": {"warm_start": False},
    "early": {"warm_start": False, "use_error_feedback": False, "start_powerSGD_iter": 1},
    "nothing": {"min_compression_rate": 1e6},
    "pickled": {"matrix_approximation_rank": 2},
}


def averages(averager, of_optimizer=True):
    """A parameter after each step of an optimizer that averages."""
    weight = nn.Parameter(torch.full((2,), RANK + 1.0))
    local = torch.optim.SGD([weight], lr=0.1 * (RANK + 1), momentum=0.9)
    optimizer = PostLocalSGDOptimizer(local, averager) if of_optimizer else local
    found = []
    for step in range(7):
        optimizer.zero_grad()
        (weight * (step + RANK)).sum().backward()
        optimizer.step()
        if not of_optimizer:
            averager.average_parameters([weight])
        found.append(weight.tolist())
    if of_optimizer:
        saved = optimizer.state_dict()
        averager.step = 0
        optimizer.load_state_dict(saved)
        found.append(averager.step)
    return found


values = {}
for name, options in POWER.items():
    state = powerSGD_hook.PowerSGDState(None, **{"start_powerSGD_iter": 2, **options})
    values[name] = gradients(powerSGD_hook.powerSGD_hook, state, name == "pickled")
    values[f"{name}: statistics"] = state.compression_stats(), state.iter
values["noop"] = gradients(debugging_hooks.noop_hook, None)
values["periodic"] = averages(PeriodicModelAverager(period=3, warmup_steps=2))
levels = HierarchicalModelAverager({2: 1, 3: SIZE}, warmup_steps=1)
values["hierarchical"] = averages(levels, of_optimizer=False)
for wrong in ({}, {0: SIZE}, {2: SIZE + 1}):
    try:
        HierarchicalModelAverager(wrong)
    except ValueError as error:
        values[f"averager {wrong}"] = str(error).split(" must ")[0]
for wrong in ({"start_powerSGD_iter": 1}, {"start_powerSGD_iter": 0, "warm_start": False}):
    try:
        powerSGD_hook.PowerSGDState(None, **wrong)
    except ValueError as error:
        values[f"state {wrong}"] = str(error)[:60]
Path(f"{sys.argv[1]}.{RANK}").write_text(json.dumps(values))
dist.destroy_process_group()
