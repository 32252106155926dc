"""The works of ``compiled`` written for JAX: one jitted function of arrays for a step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from . import larger, mlp, ops

Step = Callable[[], Any]
#: Adam's decay rates, and the number that it adds to a denominator.
_BETAS, _EPS = (0.9, 0.999), 1e-8


def compile_step(function: Callable[..., Any], *arrays: Any) -> Step:
    """Return the step that calls a jitted function and waits for its results."""
    import jax

    run, given = jax.jit(function), [jax.numpy.asarray(array) for array in arrays]
    return lambda: jax.block_until_ready(run(*given))


def both_ways(function: Callable[[Any], Any], x: Any, grad: Any) -> Step:
    """Return the step that computes a function and its gradient from that of the result."""
    import jax

    def step(x: Any, grad: Any) -> Any:
        y, pull = jax.vjp(function, x)
        return y, pull(grad)[0]

    return compile_step(step, x, grad)


def chain(size: int) -> Step:
    """A hundred sums and products, and the gradient."""
    import jax

    a, b = ops.operands(size)
    return compile_step(lambda x, y: jax.grad(lambda x: ops.run_chain(x, y))(x), a, b)


def pointwise(function: Callable[[Any], Any], size: int = 4_000_000) -> Step:
    """A function of many elements, forward and backward."""
    return both_ways(function, larger.random(size), larger.random(size) * 0 + 1)


def polynomial(x: Any) -> Any:
    """A polynomial of degree five."""
    return ((((0.1 * x + 0.2) * x - 0.3) * x + 0.4) * x - 0.5) * x + 0.6


def gelu(x: Any, approximate: bool) -> Any:
    """GELU."""
    import jax

    return jax.nn.gelu(x, approximate=approximate)


def rows(function: Callable[[Any], Any], side: tuple[int, int] = (4096, 1024)) -> Step:
    """A function of the rows of a matrix, forward and backward."""
    return both_ways(function, larger.random(*side), larger.random(*side, seed=1, scale=0.1))


def softmax(x: Any) -> Any:
    """Softmax of each row."""
    import jax

    return jax.nn.softmax(x, -1)


def layer_norm(x: Any) -> Any:
    """Each row with mean 0 and variance 1."""
    centered = x - x.mean(-1, keepdims=True)
    return centered / ((centered * centered).mean(-1, keepdims=True) + 1e-5) ** 0.5


def perceptron(batch: int) -> Step:
    """A training step of the perceptron of ``mlp`` with Adam, which donates its state."""
    import jax

    x, labels = map(jax.numpy.asarray, mlp.data(batch))
    parameters = [jax.numpy.asarray(array) for array in mlp.initial()]
    state = [parameters, *([array * 0 for array in parameters] for _ in range(2)), 0.0]
    run = jax.jit(partial(_train, x=x, labels=labels), donate_argnums=0)

    def step() -> Any:
        nonlocal state
        state, loss = run(state)
        return jax.block_until_ready((loss, state))[0]

    return step


def _train(state: Any, x: Any, labels: Any) -> Any:
    """Return the state of Adam after a step, and the loss."""
    import jax

    parameters, means, squares, count = state
    loss, grads = jax.value_and_grad(_loss)(parameters, x, labels)
    count = count + 1
    first, second = _BETAS
    scale = mlp.LR * (1 - second**count) ** 0.5 / (1 - first**count)
    eps = _EPS * (1 - second**count) ** 0.5
    means = [first * m + (1 - first) * g for m, g in zip(means, grads, strict=True)]
    squares = [second * v + (1 - second) * g * g for v, g in zip(squares, grads, strict=True)]
    parameters = [
        p - scale * m / (v**0.5 + eps)
        for p, m, v in zip(parameters, means, squares, strict=True)
    ]  # fmt: skip
    return [parameters, means, squares, count], loss


def _loss(parameters: Any, x: Any, labels: Any) -> Any:
    """Cross entropy of the perceptron."""
    import jax

    for at in range(0, len(parameters), 2):
        x = x @ parameters[at] + parameters[at + 1]
        x = x if at + 2 == len(parameters) else jax.numpy.maximum(x, 0)
    chosen = jax.numpy.take_along_axis(jax.nn.log_softmax(x), labels[:, None], 1)
    return -chosen.mean()


STEPS: dict[str, Callable[[], Step]] = {
    "chain of 100, 16": partial(chain, 16),
    "chain of 100, 1000": partial(chain, 1000),
    "chain of 100, 1 M": partial(chain, 1_000_000),
    "polynomial, 4 M": partial(pointwise, polynomial),
    "gelu tanh, 4 M": partial(pointwise, partial(gelu, approximate=True)),
    "gelu erf, 4 M": partial(pointwise, partial(gelu, approximate=False)),
    "softmax, 4096x1024": partial(rows, softmax),
    "layer norm, 4096x1024": partial(rows, layer_norm),
    "MLP step, Adam, 64": partial(perceptron, 64),
    "MLP step, Adam, 512": partial(perceptron, 512),
}
