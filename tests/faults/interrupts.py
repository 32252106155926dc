"""Ctrl-C at random moments: each arrives as KeyboardInterrupt, and the state is right after it."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable

from tests.faults.campaign import Extent, check, finish, start


def _rounds(body: str, rounds: int, folder: str) -> None:
    import gc
    import os
    import signal
    import sys
    import time
    import traceback

    import tinytorch as tt
    import tinytorch.numpy as tnp
    from tinytorch.autograd import levels
    from tinytorch.core.torch_function import modes
    from tinytorch.graph.saved_tensors import HOOK_STACK
    from tinytorch.state.recorder import RECORDER

    def training():
        net = tt.nn.Sequential(tt.nn.Linear(8, 16), tt.nn.Tanh(), tt.nn.Linear(16, 1))
        optimizer = tt.optim.Adam(net.parameters())
        x, y = tt.randn(32, 8), tt.randn(32, 1)
        while True:
            optimizer.zero_grad()
            tt.nn.functional.mse_loss(net(x), y).backward()
            optimizer.step()
            yield

    garbage = [[number] for number in range(100_000)]

    def collections():
        while True:
            with tt.inference_mode():
                cycle = [tt.ones(2), garbage]
                cycle.append(cycle)
            gc.collect()
            yield

    def loaders():
        dataset = tt.utils.data.TensorDataset(tt.arange(64.0), tt.arange(64))
        while True:
            loader = tt.utils.data.DataLoader(
                dataset, batch_size=8, shuffle=True, num_workers=2,
                multiprocessing_context="thread",
            )  # fmt: skip
            for x, _ in loader:
                x.sum()
            yield

    def left_loops():
        dataset = tt.utils.data.TensorDataset(tt.arange(64.0))
        while True:
            for context in ("fork", "thread"):
                for (x,) in tt.utils.data.DataLoader(
                    dataset, batch_size=8, num_workers=2, multiprocessing_context=context
                ):
                    x.sum()
                    break
            yield

    def dropped_graphs():
        names = tt.utils.weak.WeakIdKeyDictionary()
        while True:
            x = tt.ones(4, requires_grad=True)
            x.register_hook(lambda grad: None)
            y = tt.utils.checkpoint.checkpoint(tt.sin, x * 2, use_reentrant=False)
            tt.autograd.graph.register_multi_grad_hook((x, y), lambda grads: None)
            names[x] = y.grad_fn.next_functions
            y.sum().backward()
            shared = tt.ones(4).share_memory_()
            cycle = [x, y, shared]
            cycle.append(cycle)
            yield

    def saves():
        path = os.path.join(folder, "weights.pt")
        while True:
            tt.save({"weight": tt.ones(2000)}, path)
            assert tt.load(path)["weight"].sum().item() == 2000
            yield

    @tt.no_grad()
    def double(x):
        return x * 2

    def scopes():
        x = tt.ones(3, requires_grad=True)
        while True:
            with tt.no_grad(), tt.backend_context("numpy"), tt.default_dtype_context(tt.float64):
                with tt.enable_grad(), tt.inference_mode(), tt.autocast("cpu"):
                    double(x)
                with tt.set_grad_enabled(True):
                    double(x)
            yield

    def recordings():
        net = tt.nn.Sequential(tt.nn.Linear(8, 16), tt.nn.Tanh(), tt.nn.Linear(16, 1))
        optimizer = tt.optim.SGD(net.parameters(), lr=0.01)
        x, y = tt.randn(32, 8), tt.randn(32, 1)

        def step():
            optimizer.zero_grad()
            loss = tt.nn.functional.mse_loss(net(x), y)
            loss.backward()
            optimizer.step()
            return loss

        while True:
            compiled_step, compiled_net = tt.compile(step), tt.compile(net)
            for _ in range(3):
                compiled_step()
                tt.testing.assert_close(compiled_net(x), net(x), rtol=1e-4, atol=1e-5)
            yield

    def files():
        path = os.path.join(folder, "weights.pt")
        program = tt.export.export(tt.nn.Linear(3, 2), (tt.ones(1, 3),))
        while True:
            tt.save({"weight": tt.ones(2000)}, path, _use_new_zipfile_serialization=False)
            assert tt.load(path)["weight"].sum().item() == 2000
            tt.export.save(program, path)
            tt.export.load(path).module()(tt.ones(1, 3))
            with open(path, "wb") as file:
                tnp.savez(file, a=tnp.ones(100), b=tnp.arange(5))
            with tnp.load(path) as archive:
                assert archive["a"].sum() == 100
            yield

    def transforms():
        class Square(tt.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, g):
                return 2 * ctx.saved_tensors[0] * g

        class Mode(tt.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                return func(*args, **(kwargs or {}))

        @tt.inference_mode()
        def numbers():
            for _ in range(3):
                yield tt.ones(2) * 2

        func = tt.func
        x = tt.arange(3.0)
        leaf = tt.arange(3.0, requires_grad=True)
        while True:
            func.vmap(func.grad(lambda a: func.jvp(tt.sin, (a,), (a,))[1]))(x)
            func.vmap(lambda a: a + tt.rand(2), randomness="different")(x)
            func.hessian(lambda a: (a**3).sum())(x)
            with tt.autograd.graph.save_on_cpu(), Mode(), tt.random.fork_rng():
                tt.rand(2)
                Square.apply(leaf).sum().backward()
            with tt.autograd.detect_anomaly(), tt.profiler.profile() as prof:
                Square.apply(leaf).sum().backward()
            prof.key_averages()
            with tt.autograd.forward_ad.dual_level(), tt.device("cpu"):
                tt.autograd.forward_ad.make_dual(x, x) * 2
            for each in numbers():
                each.sum()
            with tnp.errstate(all="ignore"):
                tnp.log(tnp.zeros(2)) + tnp.random.default_rng(0).random(2)
            yield

    def check_state():
        state = tt.get_state()
        assert state.backend == "numpy", state
        assert state.grad_enabled and not state.inference_mode, state
        assert state.default_dtype is tt.float32, state
        assert tt.ones(1, requires_grad=True).mul(2).requires_grad
        assert not tt.is_autocast_enabled("cpu")
        before = tt.get_rng_state()
        numbers = tt.rand(3)
        tt.set_rng_state(before)
        assert tt.equal(tt.rand(3), numbers)
        assert not (modes.get() or HOOK_STACK.get() or RECORDER.get() or levels._ACTIVE.get())
        assert not tt.is_anomaly_enabled()
        left = set(os.listdir(folder)) - {"weights.pt"}
        assert not left, left

    def note_and_raise(number, frame):
        place[:] = traceback.format_stack(frame)
        raise KeyboardInterrupt

    place = []
    signal.signal(signal.SIGINT, note_and_raise)
    steps = locals()[body]()
    for _ in range(20):
        next(steps)  # what is imported on first use is there
    check_state()
    lost, interrupt = 0, None
    for _ in range(rounds):
        try:
            end = time.monotonic() + 2
            print("ready", flush=True)
            while time.monotonic() < end:
                next(steps)
            lost += 1
            print("lost at:", *place, sep="\n", file=sys.stderr)
        except KeyboardInterrupt as error:
            interrupt = error
        try:
            check_state()
        except (AssertionError, RuntimeError) as error:  # draws in a block of vmap raise the latter
            # Python executes the handler of a signal before the first instruction of a function
            # as well. Where that is an __exit__ the block ends without it, here as in PyTorch.
            last = list(traceback.walk_tb(interrupt.__traceback__))[-2]  # before the handler
            name, line = last[0].f_code.co_name, last[1] - last[0].f_code.co_firstlineno
            if name not in ("__exit__", "leave") or line:
                raise error from interrupt  # which shows where it arrived
            print("no exit", flush=True)
            sys.exit(0)
        steps = locals()[body]()
        print("checked", flush=True)
    print("lost", lost)
    sys.exit(lost > 0)


#: Finalizers of the standard library, as CPython names them. The library uses none of these types.
FINALIZERS = (
    "<function _ConnectionBase.__del__", "<Finalize object",
    "<function WeakSet.__init__", "<function WeakValueDictionary.__init__",
)  # fmt: skip


def _interrupt(body: str, count: int, form: Extent) -> str:
    sent = unfinished = 0
    while sent < count:
        done, result, err = _send(body, count - sent, form)
        sent += done
        unfinished += result == "no exit"
        # Python's own connections, processes, threads and locks are finalized by Python code
        # (``__del__`` and callbacks of weak references, such as those of the sets ``_dangling`` of
        # threading and multiprocessing), where CPython drops what is raised.
        pythons = sum(err.count(f"Exception ignored in: {place}") for place in FINALIZERS)
        allowed = (f"lost {pythons}", "lost 0", "no exit")
        assert result in allowed, f"{body}: {result}, {sent} sent\n{err}"
        assert unfinished <= max(5, count // 10), f"{unfinished} of {sent} blocks were not left"
    beside = f" but for {unfinished} before an __exit__" if unfinished else ""
    return f"{sent} interrupts, 0 lost, the state right after each{beside}"


def _send(body: str, count: int, form: Extent) -> tuple[int, str, str]:
    """Send up to ``count`` signals to a process: their number, its last line and its errors."""
    sent, result = 0, "ended early"
    with tempfile.TemporaryDirectory() as folder:
        process = start(_rounds, body, count, folder)
        assert process.stdout is not None
        for line in process.stdout:
            if line == "ready\n":
                time.sleep(form.random.uniform(0.001, 0.03))
                os.kill(process.pid, signal.SIGINT)
                sent += 1
            elif line != "checked\n":
                result = line.strip()
                break
        _, err = finish(process)
    return sent, result, err


def _register(body: str) -> Callable[[Extent], str]:
    def interrupt(form: Extent) -> str:
        return _interrupt(body, form.pick(20, 200), form)

    interrupt.__name__ = f"ctrl_c_in_{body}"
    return check(interrupt)


for _body in (
    "recordings", "files", "transforms", "training", "collections", "loaders", "left_loops",
    "dropped_graphs", "saves", "scopes",
):  # fmt: skip
    _register(_body)
