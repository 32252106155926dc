"""Common calls on few elements, whose time is mostly the library's overhead.

All libraries run in one process, in turns of a few milliseconds: the calls are too small for
threads, and the minimum over many turns is the time without disturbance. Every row is measured with
one thread and with two. A further column is the time in NumPy alone (`bare`), because some results
of one routine of PyTorch need several calls of NumPy.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from . import bare, ops
from .libraries import Libraries
from .report import ResultRow
from .timing import Effort, Statement, least_of, loops_for

BUDGET = 1.0
MEAN = 0.8  # bound on the geometric mean of the ratios
OVER_BARE = 1.4  # bound for rows whose calls of NumPy alone take longer


class Call(NamedTuple):
    """One row: its source in a library ``m`` with ``F``, and in NumPy ``n`` with ``bare``."""

    source: str
    bare: str | None = None


#: Tensors of shape (3, 4): ``x y``, ``z`` of zeros, ``c`` which is modified, ``p`` which requires
#: a gradient. ``q`` is (16, 16), ``h`` (8, 16), ``a b`` have 16 and ``A B`` 1000 elements, ``r R``
#: the same with a gradient. There are also ``mask i labels``, and layers.
CALLS = {
    "zeros(3, 4)": Call("m.zeros(3, 4)", "n.zeros((3, 4), f)"),
    "ones(3, 4)": Call("m.ones(3, 4)", "o = n.empty((3, 4), f); o.fill(1)"),
    "full((3, 4), 2.0)": Call("m.full((3, 4), 2.0)", "o = n.empty((3, 4), f); o.fill(2.0)"),
    "empty(3, 4)": Call("m.empty(3, 4)", "n.empty((3, 4), f)"),
    "arange(10)": Call("m.arange(10)", "n.arange(10)"),
    "linspace(0, 1, 5)": Call("m.linspace(0, 1, 5)", "bare.linspace(0, 1, 5)"),
    "eye(3)": Call("m.eye(3)", "o = n.zeros((3, 3), f); o.ravel()[::4] = 1"),
    "tensor([1., 2., 3.])": Call("m.tensor([1.0, 2.0, 3.0])", "n.array([1.0, 2.0, 3.0], f)"),
    "tensor(1.)": Call("m.tensor(1.0)", "n.array(1.0, f)"),
    "zeros_like(x)": Call("m.zeros_like(x)", "n.zeros(x.shape, x.dtype)"),
    "rand(3, 4)": Call("m.rand(3, 4)", "bare.rand((3, 4))"),
    "randn(3, 4)": Call("m.randn(3, 4)", "bare.randn_few(12, (3, 4))"),
    "randn(8, 16)": Call("m.randn(8, 16)", "bare.randn_many(128, (8, 16))"),
    "randint(0, 10, (3, 4))": Call("m.randint(0, 10, (3, 4))", "bare.randint(10, (3, 4))"),
    "x[0]": Call("x[0]", "x[0]"),
    "x[0], recorded": Call("p[0]", "p[0]"),
    "x[1:3]": Call("x[1:3]", "x[1:3]"),
    "x[1:3], recorded": Call("p[1:3]", "p[1:3]"),
    "x[:, 0]": Call("x[:, 0]", "x[:, 0]"),
    "x[0, 1]": Call("x[0, 1]", "x[0, 1, ...]"),
    "x[None]": Call("x[None]", "x[None]"),
    "x[mask]": Call("x[mask]", "x[mask]"),
    "x[idx]": Call("x[i]", "x[i]"),
    "x[0] = 1.": Call("c[0] = 1.0", "c[0] = 1.0"),
    "reshape": Call("x.reshape(4, 3)", "x.reshape(4, 3)"),
    "view": Call("x.view(12)", "x.reshape(12)"),
    "transpose": Call("x.transpose(0, 1)", "x.swapaxes(0, 1)"),
    "unsqueeze": Call("x.unsqueeze(0)", "x[None]"),
    "squeeze": Call("x.squeeze()", "x.squeeze()"),
    "permute": Call("x.permute(1, 0)", "x.transpose(1, 0)"),
    "expand": Call("x.expand(2, 3, 4)", "n.ndarray((2, 3, 4), f, x, 0, (0, 16, 4))"),
    "flatten": Call("x.flatten()", "x.reshape(-1)"),
    "chunk": Call("x.chunk(2)", "x[:2], x[2:]"),
    "split": Call("x.split(2)", "x[:2], x[2:]"),
    "cat of two": Call("m.cat([x, y])", "n.concatenate([x, y])"),
    "stack of two": Call("m.stack([x, y])", "n.concatenate([x[None], y[None]])"),
    "add_": Call("c.add_(z)", "n.add(c, z, c)"),
    "add_(1)": Call("c.add_(1)", "n.add(c, 1, c)"),
    "mul_": Call("c.mul_(z)", "n.multiply(c, z, c)"),
    "zero_": Call("c.zero_()", "c.fill(0)"),
    "copy_": Call("c.copy_(x)", "n.copyto(c, x)"),
    "x += y": Call("t = c; t += z", "t = c; t += z"),
    "sum()": Call("x.sum()", "x.ravel().dot(ones)"),
    "sum(0)": Call("x.sum(0)", "bare.add_up(x, 0)"),
    "mean(1)": Call("x.mean(1)", "bare.mean(x)"),
    "max(1)": Call("x.max(1)", "bare.maxima(x)"),
    "argmax(1)": Call("x.argmax(1)", "x.argmax(1)"),
    "var(1)": Call("x.var(1)", "bare.var(x)"),
    "softmax": Call("m.softmax(x, 1)", "bare.softmax(x)"),
    "log_softmax": Call("m.log_softmax(x, 1)", "bare.log_softmax(x)"),
    "x == y": Call("x == y", "x == y"),
    "x > 0": Call("x > 0", "x > 0"),
    "where": Call("m.where(mask, x, y)", "n.where(mask, x, y)"),
    "x @ y of 16": Call("q @ q", "q.dot(q)"),
    "F.linear": Call("F.linear(h, w, v)", "bare.linear(h, w, v)"),
    "nn.Linear": Call("linear(h)", "bare.linear(h, w, v)"),
    "nn.LayerNorm": Call("norm(h)", "bare.layer_norm(h, v, v)"),
    "nn.Embedding": Call("embed(labels)", "q.take(labels, 0)"),
    "F.relu": Call("F.relu(x)", "bare.relu(x)"),
    "F.cross_entropy": Call("F.cross_entropy(h, labels)", "bare.cross_entropy(h, labels)"),
    "F.mse_loss": Call("F.mse_loss(x, y)", "bare.mse_loss(x, y)"),
    "add, 16": Call("a + b", "a + b"),
    "add, 1000": Call("A + B", "A + B"),
    "mul, 16": Call("a * b", "a * b"),
    "exp, 16": Call("a.exp()", "n.exp(a)"),
    "exp, 1000": Call("A.exp()", "n.exp(A)"),
    "add, 16, recorded": Call("r + b", "a + b"),
    "add, 1000, recorded": Call("R + B", "A + B"),
    "exp, 16, recorded": Call("r.exp()", "n.exp(a)"),
    "x + 1": Call("x + 1", "x + 1"),
    "2 * x": Call("2 * x", "2 * x"),
    "x ** 2": Call("x ** 2", "n.square(x)"),
    "-x": Call("-x", "-x"),
    "add(x, y, alpha=2)": Call("m.add(x, y, alpha=2)", "o = y * f(2); o += x"),
    "item()": Call("s.item()", "s.item()"),
    "shape": Call("x.shape", "x.shape"),
    "detach": Call("p.detach()"),
    "clone": Call("x.clone()", "x.copy()"),
    "to(float64)": Call("x.to(m.float64)", "x.astype(n.float64)"),
    "network, forward and backward": Call(
        "network.zero_grad(); F.mse_loss(network(h), h).backward()", "bare.network(h, h, layers)"
    ),
    "chain of 100, 16": Call("r.grad = None; chain(r, b).backward()", "by_hand(a, b)"),
}


def operands(m: Any) -> dict[str, Any]:
    """Return the names that `CALLS` use, as arrays of NumPy or tensors of another library."""
    numbers = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray[Any, Any]:
        return numbers.standard_normal(shape).astype(np.float32)

    small, large = ops.operands(16), ops.operands(1000)
    arrays = {
        "x": normal(3, 4), "y": normal(3, 4), "z": np.zeros((3, 4), np.float32),
        "c": normal(3, 4), "p": normal(3, 4), "q": normal(16, 16), "h": normal(8, 16),
        "w": normal(16, 16), "v": normal(16), "s": normal(),
        "a": small[0], "b": small[1], "A": large[0], "B": large[1], "r": small[0], "R": large[0],
        "mask": normal(3, 4) > 0, "i": np.array([2, 0]), "labels": numbers.integers(0, 16, 8),
    }  # fmt: skip
    if m is np:
        layers = [arrays["w"], arrays["v"], arrays["q"], arrays["v"]]
        more = {
            "n": np,
            "f": np.float32,
            "bare": bare,
            "ones": np.ones(12, np.float32),
            "layers": layers,
        }
        return arrays | more | {"by_hand": ops.chain_by_hand}
    tensors = {name: m.tensor(np.array(array)) for name, array in arrays.items()}
    for name in "p", "r", "R":
        tensors[name].requires_grad_()
    nn = m.nn
    made = {"linear": nn.Linear(16, 16), "norm": nn.LayerNorm(16), "embed": nn.Embedding(16, 16)}
    made["network"] = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 16))
    w, v, q = tensors["w"], tensors["v"], tensors["q"]
    values = {"linear": (w, v), "norm": (v, v), "embed": (q,), "network": (w, v, q, v)}
    with m.no_grad():
        for name, module in made.items():
            for parameter, value in zip(module.parameters(), values[name], strict=True):
                parameter.copy_(value)
    return tensors | made | {"m": m, "F": nn.functional, "chain": ops.run_chain}


def statements(libraries: Libraries, name: str) -> dict[str, Statement]:
    """Return a row of `CALLS` in NumPy, tinytorch and PyTorch."""
    call = CALLS[name]
    found = {"numpy": Statement(call.bare, operands(np))} if call.bare is not None else {}
    for library, m in libraries.torch_like().items():
        found[library] = Statement(call.source, operands(m))
    return found


def row(work: str, name: str, threads: int, libraries: Libraries, effort: Effort) -> ResultRow:
    """Measure a row of `CALLS`: the minimum over many short turns for each library."""
    many, short = 4 * effort.rounds, effort.seconds / 10
    effort = replace(effort, rounds=many, seconds=short, rest=0.0)
    before = {m: m.get_num_threads() for m in libraries.torch_like().values()}
    for m in before:
        m.set_num_threads(threads)
    timers = {library: s.timer() for library, s in statements(libraries, name).items()}
    loops = {library: loops_for(timer, effort.seconds) for library, timer in timers.items()}
    turns = {library: partial(timer.timeit, loops[library]) for library, timer in timers.items()}
    values = least_of(turns, effort)
    for m, number in before.items():
        m.set_num_threads(number)
    return ResultRow(
        work, "µs", {name: total / loops[name] for name, total in values.items()}, BUDGET
    )


def summary(label: str, rows: Sequence[ResultRow]) -> list[str]:
    """Return lines with the mean ratio, and with the rows that are slower than PyTorch's.

    Args:
        label: Prefix of the work of the rows to summarize.
        rows: Rows of any work.
    """
    found = [(r.figure_value(), r) for r in rows if r.work.startswith(label)]
    ratios = [(ratio, r) for ratio, r in found if ratio is not None]
    if not ratios:
        return []
    mean = statistics.geometric_mean([ratio for ratio, _ in ratios])
    lines = [f"{label}geometric mean of {len(ratios)} rows {mean:.2f} (at most {MEAN})"]
    for ratio, r in sorted(ratios, key=lambda pair: -pair[0]):
        if ratio <= BUDGET:
            break
        over = r.ratio("numpy")
        line = f"{r.work}: {ratio:.2f} of PyTorch's time"
        if over is not None:
            alone = r.values["numpy"] / r.values["torch"]
            line += f"; NumPy's calls alone {alone:.2f}, and {over:.2f} of theirs"
            line += f" (at most {OVER_BARE})" if alone > BUDGET else ""
        lines.append(line)
    return lines
