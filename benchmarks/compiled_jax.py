"""Compiled training steps on the backend ``"jax"`` beside JAX by hand and PyTorch.

``python -m benchmarks --only compiled`` measures these rows where JAX is installed, all libraries
in one process of one thread. The figures are processor time: a step ends when its results are
there.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

from . import libraries, mlp
from .compiled import limit_threads, time_step
from .report import ResultRow
from .timing import Effort, least_of

Step = Callable[[], Any]
#: Batches of the rows.
BATCHES = {"MLP step, Adam, 64": 64, "MLP step, Adam, 512": 512}
#: Bounds on the time over JAX by hand, and over PyTorch.
OVER_JAX, OVER_TORCH = 1.15, 1.0


def measure(effort: Effort, parts: Sequence[str]) -> list[ResultRow]:
    """Measure the rows whose work holds one of ``parts``, or all; none without JAX."""
    names = [name for name in BATCHES if not parts or any(part in name for part in parts)]
    if not libraries.is_installed("jax"):
        return []
    context = multiprocessing.get_context("spawn")
    with limit_threads(1), ProcessPoolExecutor(1, context) as pool:
        return [row for name in names for row in pool.submit(measure_work, name, effort).result()]


def measure_work(name: str, effort: Effort) -> list[ResultRow]:
    """Measure one work in this process."""
    batch, found = BATCHES[name], libraries.load(("tinytorch", "torch"))
    steps = {"tinytorch": compiled_step(found["tinytorch"], batch), "jax": step_by_hand(batch)}
    if "torch" in found:
        found["torch"].set_num_threads(1)
        steps["torch"] = mlp.torch_step(found["torch"], "Adam", batch)
    for step in steps.values():
        for _ in range(5):
            step()
    timers = {who: partial(time_step, step, effort.seconds) for who, step in steps.items()}
    least = least_of(timers, effort)
    return [
        ResultRow(f"compiled, jax: {name}", "ms", least, OVER_TORCH),
        ResultRow(f"compiled, jax over JAX by hand: {name}", "ms", least, OVER_JAX, "over jax"),
    ]


def compiled_step(m: Any, batch: int) -> Step:
    """Return the step of this library, which waits for its results."""
    jax = m.backends.load("jax")
    with m.backend_context(jax):
        step = m.compile(mlp.torch_step(m, "Adam", batch), fullgraph=True)

    def run() -> Any:
        with m.backend_context(jax):
            return jax.unwrap(step()).block_until_ready()

    return run


def step_by_hand(batch: int) -> Step:
    """Return the step in JAX: gradients by ``jax.value_and_grad``, the update by hand."""
    import jax
    from jax import numpy as jnp

    def loss_of(values: Any, x: Any, labels: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = values
        h1 = jax.nn.relu(x @ w1 + b1)
        h2 = jax.nn.relu(h1 @ w2 + b2)
        logs = jax.nn.log_softmax(h2 @ w3 + b3)
        return -jnp.take_along_axis(logs, labels[:, None], 1).mean()

    @partial(jax.jit, donate_argnums=(0, 1, 2))
    def step(values: Any, means: Any, squares: Any, count: Any, x: Any, labels: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(values, x, labels)
        count += 1
        means = [0.9 * m + 0.1 * g for m, g in zip(means, grads)]
        squares = [0.999 * s + 0.001 * g * g for s, g in zip(squares, grads)]
        rate, scale = mlp.LR / (1 - 0.9**count), 1 - 0.999**count
        values = [
            v - rate * m / (jnp.sqrt(s / scale) + 1e-8)
            for v, m, s in zip(values, means, squares)
        ]  # fmt: skip
        return loss, values, means, squares, count

    x, labels = map(jnp.asarray, mlp.data(batch))
    values = list(map(jnp.asarray, mlp.initial()))
    state = [values, [v * 0 for v in values], [v * 0 for v in values], jnp.float32(0)]

    def run() -> Any:
        loss, *state[:] = step(*state, x, labels)
        return jax.block_until_ready((loss, state))[0]

    return run
