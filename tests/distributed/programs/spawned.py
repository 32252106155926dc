"""``spawned.py COUNT PORT``: processes that the program starts itself train a model together."""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn, optim
from torch.nn.parallel import DistributedDataParallel


def train(rank, count, port):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = port
    dist.init_process_group("gloo", rank=rank, world_size=count)
    torch.manual_seed(rank)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 5)))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(torch.randn(20, 10)), torch.randn(20, 5)).backward()
        optimizer.step()
    weights = torch.cat([each.detach().flatten() for each in model.parameters()])
    others = [torch.empty_like(weights) for _ in range(count)]
    dist.all_gather(others, weights)
    if rank == 0:
        assert all(torch.equal(each, weights) for each in others)
        print(*weights[:20].tolist())
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(train, args=(int(sys.argv[1]), sys.argv[2]), nprocs=int(sys.argv[1]))
