"""``faults.py WHAT SECONDS ...``: a rank fails while the others wait for it."""

import datetime
import os
import signal
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist

WHAT, SECONDS = sys.argv[1], float(sys.argv[2])
dist.init_process_group("mpi", timeout=datetime.timedelta(seconds=SECONDS))
RANK = dist.get_rank()


def save_until_killed(folder):
    """Rank 1 kills rank 0 in the middle of its second checkpoint."""
    path = folder / "model.pt"
    if RANK == 0:
        torch.save({"step": 1, "weight": torch.ones(1_000_000)}, path)
        dist.broadcast_object_list([os.getpid()], 0)
        while True:
            torch.save({"step": 2, "weight": torch.ones(20_000_000)}, path)
    pid = [None]
    dist.broadcast_object_list(pid, 0)
    while not any(part.stat().st_size > 1_000_000 for part in parts(folder)):
        pass
    os.kill(pid[0], signal.SIGKILL)


def parts(folder):
    """Files that are being written: not there under their names, if all is well."""
    return [file for file in folder.iterdir() if file.suffix == ".part"] or [
        file for file in folder.iterdir() if file.stat().st_size > 10_000_000
    ]


if WHAT == "save":
    save_until_killed(Path(sys.argv[3]))
elif WHAT == "shapes":
    dist.all_reduce(torch.ones(2 + RANK))
elif WHAT == "collectives":
    dist.all_reduce(torch.ones(2)) if RANK else dist.broadcast(torch.ones(2), 0)
elif WHAT == "absent":
    time.sleep(1.5 * SECONDS) if RANK else dist.all_reduce(torch.ones(2))
elif WHAT == "monitored":
    limit = datetime.timedelta(seconds=0.75 * SECONDS)
    time.sleep(1.5 * SECONDS) if RANK else dist.monitored_barrier(timeout=limit)
elif WHAT == "length":
    dist.send(torch.ones(2), 1) if RANK == 0 else dist.recv(torch.ones(3), 0)
elif RANK == 1:
    time.sleep(0.1)
    if WHAT == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if WHAT == "raise":
        raise ValueError("of rank 1")
    if WHAT == "leave":
        os._exit(0)
    if WHAT == "exit":
        sys.exit(3)
    if WHAT == "stop":
        time.sleep(1.5 * SECONDS)
dist.all_reduce(torch.ones(1000))
