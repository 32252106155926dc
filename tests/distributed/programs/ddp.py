"""PyTorch's way to train on several processes; prints a digest that one process has to give, too.

The ranks' batches together are one process's batch. ``python ddp.py OPTION``.
"""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

CASES = {
    "plain": {},
    "small buckets": {"bucket_cap_mb": 0.0005},
    "views": {"gradient_as_bucket_view": True},
    "unused": {"find_unused_parameters": True, "bucket_cap_mb": 0.0005},
    "static": {"static_graph": True},
}


class Net(nn.Module):
    def __init__(self, unused):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16), nn.ReLU())
        self.head = nn.Linear(16, 3)
        self.spare = nn.Linear(16, 3) if unused else None

    def forward(self, x):
        return self.head(self.body(x))


def train(options, rank, size, steps=12):
    torch.manual_seed(7 + rank)  # the module of rank 0 has to win
    net = Net("find_unused_parameters" in options)
    model = DDP(net, **options) if size > 1 else net
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    torch.manual_seed(0)
    x, y = torch.randn(24, 6, dtype=torch.float32), torch.randint(0, 3, (24,))
    x, y = x[rank::size], y[rank::size]
    for step in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        total = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
    names = list(model.state_dict())
    assert all(name.startswith("module.") for name in names) == (size > 1)
    weights = torch.cat([p.detach().reshape(-1) for p in net.parameters()])
    return torch.cat([weights, total.reshape(1)])


def accumulate(rank, size):
    """Two backward passes a step, of which the second alone is reduced."""
    torch.manual_seed(rank)
    net = nn.Linear(4, 2)
    model = DDP(net) if size > 1 else net
    torch.manual_seed(1)
    data = torch.randn(2, 12, 4)[:, rank::size]
    for _ in range(3):
        if size > 1:
            with model.no_sync():
                model(data[0]).square().mean().backward()
        else:
            model(data[0]).square().mean().backward()
        model(data[1]).square().mean().backward()
        with torch.no_grad():
            for p in net.parameters():
                p -= 0.1 * p.grad
        model.zero_grad()
    return torch.cat([p.detach().reshape(-1) for p in net.parameters()])


def hooks(rank, size):
    """A communication hook that does what is done without one."""
    torch.manual_seed(rank)
    net = nn.Linear(4, 2)
    model = DDP(net) if size > 1 else net

    def mean(state, bucket):
        flat = bucket.buffer().div_(size)
        work = dist.all_reduce(flat, async_op=True)
        return work.get_future().then(lambda done: done.value()[0])

    if size > 1:
        model.register_comm_hook(None, mean)
    torch.manual_seed(1)
    model(torch.randn(12, 4)[rank::size]).square().mean().backward()
    return torch.cat([p.grad.reshape(-1) for p in net.parameters()])


def main():
    alone = "alone" in sys.argv
    rank, size = 0, 1
    if not alone:
        dist.init_process_group("gloo")
        rank, size = dist.get_rank(), dist.get_world_size()
    results = {name: train(options, rank, size) for name, options in CASES.items()}
    results["no_sync"] = accumulate(rank, size)
    results["hook"] = hooks(rank, size)
    if alone:
        torch.save(results, sys.argv[1])
        return
    expected = torch.load(sys.argv[1])
    for name, weights in results.items():
        arrays = [torch.zeros_like(weights) for _ in range(size)]
        dist.all_gather(arrays, weights)
        for each in arrays:
            assert torch.equal(each, weights), f"{name}: ranks have different weights"
        torch.testing.assert_close(weights, expected[name], rtol=2e-5, atol=2e-6, msg=name)
    if rank == 0:
        print("equal weights", sorted(results))
    dist.barrier()  # PyTorch's rank 0 takes the store with it when it goes
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
