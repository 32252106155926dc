"""Loader workers that raise, die and hang: an error in the loop, no process left."""

from __future__ import annotations

from tests.faults.campaign import Extent, check, finish, start


def _loop(fault: str, seed: int) -> None:
    import gc
    import multiprocessing
    import os
    import random
    import signal
    import threading
    import time

    import tinytorch as tt
    from tinytorch.utils.data._workers import stop_abandoned_workers

    class Faulty(tt.utils.data.Dataset):
        def __init__(self, at):
            self.at = at

        def __len__(self):
            return 64

        def __getitem__(self, index):
            if index != self.at:
                return tt.tensor(float(index))
            if fault == "raise":
                raise ValueError("element of no use")
            if fault == "exit":
                os._exit(3)
            if fault == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(3600)  # hang

    loader = tt.utils.data.DataLoader(
        Faulty(random.Random(seed).randrange(64)),
        batch_size=4, num_workers=2, timeout=2,
    )  # fmt: skip
    try:
        for _ in loader:
            pass
        print("no error")
    except (RuntimeError, ValueError) as error:
        print(type(error).__name__, str(error).strip().splitlines()[-1])
    del loader
    gc.collect()  # the traceback and the iterator hold each other
    # The next loader with workers does this: a worker that hangs does not end by itself.
    stop_abandoned_workers()
    left = multiprocessing.active_children()
    threads = [each for each in threading.enumerate() if not each.daemon]
    assert not left and len(threads) == 1, (left, threads)


EXPECTED = {
    "raise": "ValueError: element of no use",
    "exit": "exited unexpectedly: with exit code 3",
    "kill": "exited unexpectedly: killed by signal SIGKILL",
    "hang": "timed out after 2 seconds",
}


@check
def faulty_workers(form: Extent) -> str:
    """A worker that raises, exits, is killed, hangs: the loop raises and says which it was."""
    times = form.pick(1, 5)
    for fault, text in [*EXPECTED.items()] * times:
        out, err = finish(start(_loop, fault, form.random.randrange(2**32)))
        assert text in out and not err, f"{fault}:\n{out}\n{err}"
    return f"{len(EXPECTED) * times} faults, each an error, no process left"
