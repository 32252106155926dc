"""``starting.py WHAT MOMENT SECONDS [RANK SIZE PORT]``: rank 1 fails while the ranks work.

WHAT is ``kill`` or ``stop``, so many seconds after MPI begins to start; or ``meet``: no rank fails.
"""

import datetime
import os
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist

WHAT, MOMENT, SECONDS = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
if len(sys.argv) > 4:
    names = ("RANK", "WORLD_SIZE", "MASTER_PORT")
    os.environ.update(zip(names, sys.argv[4:]), MASTER_ADDR="127.0.0.1")
RANK = int(os.environ.get("RANK", os.environ.get("PMI_RANK", 0)))
SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}


def fail():
    time.sleep(MOMENT)
    os.kill(os.getpid(), SIGNALS[WHAT])


def calls(size):
    """Every collective, messages, and the beginning of a group."""
    x = torch.ones(size)
    yield lambda: dist.all_reduce(x)
    yield lambda: dist.broadcast(x, 0)
    yield lambda: dist.reduce(x, 0)
    yield lambda: dist.all_gather([x.clone() for _ in range(size)], x)
    yield lambda: dist.all_gather_into_tensor(torch.ones(size * size), x)
    yield lambda: dist.gather(x, [x.clone() for _ in range(size)] if RANK == 0 else None)
    yield lambda: dist.scatter(x, [x.clone() for _ in range(size)] if RANK == 0 else None)
    yield lambda: dist.reduce_scatter(x, [x.clone() for _ in range(size)])
    yield lambda: dist.all_to_all_single(torch.ones(size), x)
    yield lambda: dist.all_gather_object([None] * size, {"rank": RANK})
    yield lambda: dist.broadcast_object_list(["a"], 1)
    yield lambda: dist.send(x, (RANK + 1) % size) if RANK % 2 else dist.recv(x)
    yield lambda: dist.monitored_barrier()
    yield lambda: dist.destroy_process_group(dist.new_group())
    yield lambda: dist.barrier()


if RANK == 1 and WHAT in SIGNALS:
    threading.Thread(target=fail, daemon=True).start()
began = time.monotonic()
try:
    dist.init_process_group("mpi", timeout=datetime.timedelta(seconds=SECONDS))
    while WHAT != "meet":  # until the moment has come
        for call in calls(dist.get_world_size()):
            began = time.monotonic()
            call()
    dist.barrier()
except RuntimeError as error:
    print(f"\nwaited {time.monotonic() - began:.2f} s: {error}", file=sys.stderr, flush=True)
    sys.exit(7)
