"""``starting.py WHAT MOMENT SECONDS [RANK SIZE PORT]``: rank 1 fails at a moment of MPI's start.

``kill MOMENT`` and ``stop MOMENT``: after so many seconds, from another thread.
"""

import datetime
import os
import signal
import sys
import threading
import time

import torch.distributed as dist

WHAT, MOMENT, SECONDS = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
if len(sys.argv) > 4:
    names = ("RANK", "WORLD_SIZE", "MASTER_PORT")
    os.environ.update(zip(names, sys.argv[4:]), MASTER_ADDR="127.0.0.1")
rank = int(os.environ.get("RANK", os.environ.get("PMI_RANK", 0)))


def fail():
    time.sleep(MOMENT)
    os.kill(os.getpid(), signal.SIGKILL if WHAT == "kill" else signal.SIGSTOP)


if rank == 1:
    threading.Thread(target=fail, daemon=True).start()
began = time.monotonic()
try:
    dist.init_process_group("mpi", timeout=datetime.timedelta(seconds=SECONDS))
    while True:  # until the moment has come
        began = time.monotonic()
        dist.barrier()
        time.sleep(0.001)
except RuntimeError as error:
    print(f"{time.monotonic() - began:.2f} {error}", file=sys.stderr, flush=True)
    sys.exit(7)
