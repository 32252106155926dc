"""One training step of a perceptron 784-256-256-10 on random data, in every library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .libraries import Libraries
from .timing import Statement

SIZES = (784, 256, 256, 10)
LR = 1e-3
Arrays = list[np.ndarray]


def data(batch: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pixels `(batch, 784)` in float32 and labels `(batch,)` in int64."""
    rng = np.random.default_rng(0)
    return rng.random((batch, SIZES[0]), dtype=np.float32), rng.integers(0, SIZES[-1], batch)


def initial() -> Arrays:
    """Return the weights `(in, out)` and biases `(out,)`, layer by layer."""
    rng = np.random.default_rng(1)
    arrays = []
    for fan_in, fan_out in zip(SIZES, SIZES[1:]):
        bound = 1 / np.sqrt(fan_in)
        arrays.append(rng.uniform(-bound, bound, (fan_in, fan_out)).astype(np.float32))
        arrays.append(rng.uniform(-bound, bound, fan_out).astype(np.float32))
    return arrays


def step(libraries: Libraries, optimizer: str, batch: int) -> dict[str, Statement]:
    """Return one step: forward, loss, backward, update."""
    makers: dict[str, Callable[[], Callable[[], object]]] = {
        "numpy": lambda: numpy_step(optimizer, batch)
    }
    for name, m in libraries.torch_like().items():
        makers[name] = lambda m=m: torch_step(m, optimizer, batch)
    if "autograd" in libraries:
        makers["autograd"] = lambda: autograd_step(optimizer, batch)
    if "mygrad" in libraries:
        makers["mygrad"] = lambda: mygrad_step(libraries["mygrad"], optimizer, batch)
    return {name: Statement("step()", {"step": make()}) for name, make in makers.items()}


def torch_step(m: Any, optimizer: str, batch: int) -> Callable[[], object]:
    """Return the step in PyTorch's API; ``m`` is ``tinytorch`` or ``torch``."""
    x, labels = (m.tensor(array) for array in data(batch))
    layers = [m.nn.Linear(fan_in, fan_out) for fan_in, fan_out in zip(SIZES, SIZES[1:])]
    with m.no_grad():
        for parameter, array in zip((p for layer in layers for p in layer.parameters()), initial()):
            parameter.copy_(m.tensor(array.T.copy()))
    model = m.nn.Sequential(layers[0], m.nn.ReLU(), layers[1], m.nn.ReLU(), layers[2])
    loss_fn = m.nn.CrossEntropyLoss()
    update = {"SGD": m.optim.SGD, "Adam": m.optim.Adam}[optimizer](model.parameters(), lr=LR)

    def run() -> Any:
        update.zero_grad()
        loss = loss_fn(model(x), labels)
        loss.backward()
        update.step()
        return loss

    return run


def numpy_step(optimizer: str, batch: int) -> Callable[[], object]:
    """Return the step with gradients written out by hand, without other optimization."""
    x, labels = data(batch)
    parameters = initial()
    update = UPDATES[optimizer](parameters)

    def run() -> np.ndarray:
        loss, grads = loss_and_grads(parameters, x, labels)
        update(grads)
        return loss

    return run


def loss_and_grads(parameters: Arrays, x: np.ndarray, labels: np.ndarray) -> tuple[Any, Arrays]:
    """Return the cross entropy of the perceptron, and its gradients with respect to the parameters.

    Args:
        parameters: Weights and biases, layer by layer; see ``initial``.
        x: Pixels of shape ``(batch, 784)``.
        labels: Labels of shape ``(batch,)``.
    """
    w1, b1, w2, b2, w3, b3 = parameters
    h1 = np.maximum(x @ w1 + b1, 0)
    h2 = np.maximum(h1 @ w2 + b2, 0)
    logits = h2 @ w3 + b3
    rows = np.arange(len(x))
    shifted = logits - logits.max(axis=1, keepdims=True)
    exponentials = np.exp(shifted)
    sums = exponentials.sum(axis=1, keepdims=True)
    loss = (np.log(sums[:, 0]) - shifted[rows, labels]).mean()

    g = exponentials / sums
    g[rows, labels] -= 1
    g /= len(x)
    g2 = (g @ w3.T) * (h2 > 0)
    g1 = (g2 @ w2.T) * (h1 > 0)
    pairs = ((x.T @ g1, g1), (h1.T @ g2, g2), (h2.T @ g, g))
    return loss, [part for w, b in pairs for part in (w, b.sum(axis=0))]


def sgd(parameters: Arrays) -> Callable[[Arrays], None]:
    """Return a function that updates the parameters in place by their gradients."""

    def update(grads: Arrays) -> None:
        for parameter, grad in zip(parameters, grads):
            parameter -= LR * grad

    return update


def adam(parameters: Arrays) -> Callable[[Arrays], None]:
    """Return a function that updates the parameters in place by Adam, given their gradients.

    Reference: D. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", 2015, algorithm 1
    """
    means = [np.zeros_like(p) for p in parameters]
    squares = [np.zeros_like(p) for p in parameters]
    count = 0

    def update(grads: Arrays) -> None:
        nonlocal count
        count += 1
        for parameter, grad, mean, square in zip(parameters, grads, means, squares):
            mean += 0.1 * (grad - mean)
            square += 0.001 * (grad * grad - square)
            root = np.sqrt(square / (1 - 0.999**count)) + 1e-8
            parameter -= LR / (1 - 0.9**count) * mean / root

    return update


UPDATES = {"SGD": sgd, "Adam": adam}


def autograd_step(optimizer: str, batch: int) -> Callable[[], object]:
    """Return the step with autograd's gradients and the update by hand."""
    from autograd import numpy as anp
    from autograd import value_and_grad

    x, labels = data(batch)
    rows = np.arange(batch)
    parameters = initial()
    update = UPDATES[optimizer](parameters)

    def loss(values: Arrays) -> Any:
        w1, b1, w2, b2, w3, b3 = values
        h1 = anp.maximum(anp.dot(x, w1) + b1, 0)
        h2 = anp.maximum(anp.dot(h1, w2) + b2, 0)
        logits = anp.dot(h2, w3) + b3
        shifted = logits - anp.max(logits, axis=1, keepdims=True)
        sums = anp.log(anp.sum(anp.exp(shifted), axis=1))
        return anp.mean(sums - shifted[rows, labels])

    differentiate = value_and_grad(loss)

    def run() -> Any:
        value, grads = differentiate(parameters)
        update(grads)
        return value

    return run


def mygrad_step(mg: Any, optimizer: str, batch: int) -> Callable[[], object]:
    """Return the step with MyGrad's gradients and fused loss, and the update by hand."""
    from mygrad.nnet.activations import relu
    from mygrad.nnet.losses import softmax_crossentropy

    x, labels = data(batch)
    tensors = [mg.tensor(array) for array in initial()]
    update = UPDATES[optimizer]([tensor.data for tensor in tensors])

    def run() -> Any:
        w1, b1, w2, b2, w3, b3 = tensors
        h1 = relu(mg.matmul(x, w1) + b1)
        h2 = relu(mg.matmul(h1, w2) + b2)
        loss = softmax_crossentropy(mg.matmul(h2, w3) + b3, labels)
        loss.backward()
        update([tensor.grad for tensor in tensors])
        return loss

    return run
