"""``meeting.py HOW WHERE RANK SIZE SECONDS``: a process that no launcher of MPI's started."""

import datetime
import os
import signal
import sys

import torch
import torch.distributed as dist

HOW, WHERE, RANK, SIZE, SECONDS = sys.argv[1:]
rank, size = int(RANK), int(SIZE)
given = {"timeout": datetime.timedelta(seconds=float(SECONDS))}
if HOW == "env":
    host, port = WHERE.split(":")
    os.environ.update(MASTER_ADDR=host, MASTER_PORT=port, RANK=RANK, WORLD_SIZE=SIZE)
elif HOW == "store":
    given.update(store=dist.FileStore(WHERE, size), rank=rank, world_size=size)
elif HOW == "query":
    given.update(init_method=f"tcp://{WHERE}?rank={rank}&world_size={size}")
else:
    given.update(init_method=f"{HOW}://{WHERE}", rank=rank, world_size=size)
dist.init_process_group("gloo", **given)
assert "PMI_RANK" not in os.environ
total = torch.tensor(2.0**rank)
dist.all_reduce(total)
print(dist.get_rank(), dist.get_world_size(), total.item())
if HOW == "tcp" and rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
if HOW == "tcp":
    dist.all_reduce(total)
dist.destroy_process_group()
dist.init_process_group("gloo", **given)  # MPI stays as it was
dist.barrier()
dist.destroy_process_group()
