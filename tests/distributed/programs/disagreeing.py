"""``disagreeing.py MEMORY``: ranks whose calls do not fit together, each case in its own group.

MEMORY is ``shared``, or ``none`` for ranks that share no memory.
"""

import importlib
import os
import sys
import warnings

import torch
import torch.distributed as dist

warnings.simplefilter("ignore")
if sys.argv[1] == "none":
    agreement = importlib.import_module("tinytorch.distributed.agreement")
    agreement._share = lambda *arguments: None
dist.init_process_group("gloo")
RANK, SIZE = dist.get_rank(), dist.get_world_size()
LAST = RANK == SIZE - 1  # calls something else than the others
Op = dist.ReduceOp


def ones(count=2, dtype=torch.float32):
    return torch.ones(count, dtype=dtype)


def gather(group, root):
    dist.gather(ones(), [ones() for _ in range(SIZE)] if RANK == root else None, root, group)


CASES = {
    "kinds": lambda g: dist.all_reduce(ones(), group=g) if LAST else dist.broadcast(ones(), 0, g),
    "barrier": lambda g: dist.barrier(g) if LAST else dist.all_reduce(ones(), group=g),
    "roots": lambda g: dist.broadcast(ones(), int(LAST), g),
    "roots of reduce": lambda g: dist.reduce(ones(), int(LAST), group=g),
    "roots of objects": lambda g: dist.broadcast_object_list([1], int(LAST), g),
    "roots of gather": lambda g: gather(g, SIZE - 1 if LAST else 0),
    "operations": lambda g: dist.all_reduce(ones(), Op.MAX if LAST else Op.SUM, g),
    "dtypes": lambda g: dist.all_reduce(ones(2, torch.int32 if LAST else torch.float32), group=g),
    "sizes": lambda g: dist.all_reduce(ones(2 + LAST), group=g),
    "large sizes": lambda g: dist.all_reduce(ones(200_000 + LAST), group=g),
    "sizes of parts": lambda g: dist.all_gather(
        [ones(2 + LAST) for _ in range(SIZE)], ones(2 + LAST), g
    ),
    "sizes of scattered parts": lambda g: dist.reduce_scatter(
        ones(2 + LAST), [ones(2 + LAST) for _ in range(SIZE)], group=g
    ),
    "sizes in an exchange": lambda g: dist.all_to_all_single(
        ones(SIZE * (1 + LAST)), ones(SIZE * (1 + LAST)), group=g
    ),
    "asynchronous": lambda g: [
        work.wait()
        for work in [
            dist.all_reduce(ones(), group=g, async_op=True),
            dist.all_reduce(ones(), Op.MAX if LAST else Op.SUM, g, async_op=True),
        ]
    ],
}
for name, case in CASES.items():
    group = dist.new_group()
    try:
        case(group)
    except RuntimeError as error:
        os.write(1, f"{name}: {error}\n".encode())  # one write: lines of ranks do not mix
    else:
        os.write(2, f"{name}: no error on rank {RANK}\n".encode())
