"""The updates of the optimizers, on raw arrays, in place and over many tensors at once.

There is one function per optimizer. Its arguments are ``xp``, then parallel sequences of arrays
(parameters, gradients, state), then numbers by keyword. All arrays belong to ``xp``. A backend can
offer a fused form under the same name and signature (``Backend.kernel``). The implementations here
are shared by all other backends.

They write through ``out=`` and use the result of each call, so that an intermediate result is
one reused buffer, named ``s`` below. ``s`` is None for a small array, where it is cheaper to let
the library allocate. Large contiguous arrays are processed in blocks that stay in the processor's
cache, which makes Adam on a million elements 1.7 times faster.

Adafactor and Muon need each tensor as a whole and are not processed in blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from ..backends.base import Array, Backend

__all__ = [
    "KERNELS",
    "adafactor_update",
    "muon_update",
    "update",
]

Arrays: TypeAlias = Sequence[Array]

#: The shared implementations by name, filled by ``@kernel``.
KERNELS: dict[str, Callable[..., None]] = {}


def kernel(function: Callable[..., None]) -> Callable[..., None]:
    """Register a shared implementation under its name."""
    KERNELS[function.__name__] = function
    return function


def evaluate(function: Callable[..., Any], *numbers: Any) -> Any:
    """Return ``function(*numbers)``; of numbers that are traced for ``tt.compile`` a traced one."""
    for number in numbers:
        compute = getattr(number, "compute", None)
        if compute is not None:
            return compute(function.__name__, function, *numbers)
    return function(*numbers)


def update(xp: Backend, name: str, *arrays: Arrays, **numbers: Any) -> None:
    """Run the update ``name`` with the backend's own kernel, or the shared implementation.

    Args:
        xp: The backend of all the arrays.
        name: Key of ``KERNELS``.
        arrays: Parallel sequences: parameters, gradients, then the optimizer's state. An
            empty sequence is state that this configuration does not use. Complex arrays
            are updated as their real and imaginary parts.
        numbers: Hyperparameters, as the update declares them.
    """
    if any(array.dtype.kind == "c" for array in arrays[0]):
        arrays = tuple(_as_real(sequence) for sequence in arrays)
    own = xp.kernel(name)
    if own is None or own(xp, *arrays, **numbers) is NotImplemented:
        KERNELS[name](xp, *arrays, **numbers)


def _as_real(arrays: Arrays) -> list[Array]:
    """List the arrays, with two views, its real and imaginary part, in place of a complex one."""
    parts: list[Array] = []
    for array in arrays:
        parts.extend((array.real, array.imag) if array.dtype.kind == "c" else (array,))
    return parts


def _tiles(xp: Backend, *sequences: Arrays) -> Iterator[tuple[Any, ...]]:
    """Yield ``(*arrays, buffer)`` for each tensor, or for each block of a large tensor.

    ``arrays`` has one array of each sequence, or None for an empty sequence. The buffer is None
    for a tensor that is not split into blocks.

    A 0-d array is yielded as a vector, because NumPy returns results without dimensions as
    scalars, which cannot be written to.
    """
    limit = xp.block_elements
    buffers: dict[Any, Array] = {}
    nothing = (None,) * len(sequences[0])
    for arrays in zip(*(sequence or nothing for sequence in sequences), strict=True):
        if arrays[0].ndim == 0:
            arrays = tuple(None if array is None else array.reshape(1) for array in arrays)
        if limit is None or arrays[0].size <= limit or not _is_contiguous(arrays):
            yield (*arrays, None)
            continue
        dtype = arrays[0].dtype
        if dtype not in buffers:
            buffers[dtype] = xp.empty(limit, dtype=dtype)
        yield from _blocks(arrays, buffers[dtype])


def _is_contiguous(arrays: tuple[Any, ...]) -> bool:
    return all(array is None or array.flags.c_contiguous for array in arrays)


def _blocks(arrays: tuple[Any, ...], buffer: Array) -> Iterator[tuple[Any, ...]]:
    """Yield ``(*blocks, buffer)`` for parts of contiguous arrays of one size.

    Each block is a flat view of ``len(buffer)`` elements, the last one perhaps of fewer; the buffer
    is cut to the same length. None among ``arrays`` stays None.
    """
    flat = [None if array is None else array.reshape(-1) for array in arrays]
    limit = len(buffer)
    for start in range(0, arrays[0].size, limit):
        stop = min(start + limit, arrays[0].size)
        block = [None if array is None else array[start:stop] for array in flat]
        yield (*block, buffer[: stop - start])


def _descent_direction(
    xp: Backend, p: Array, g: Array, weight_decay: float, maximize: bool
) -> Array:
    """The gradient of the minimized objective: ``g``, or ``-g``, plus the L2 penalty's gradient."""
    if maximize:
        g = xp.negative(g)
    if weight_decay == 0:
        return g
    decay = xp.multiply(p, weight_decay)
    return xp.add(g, decay, out=decay)


def _shrink(xp: Backend, p: Array, lr: float, weight_decay: float) -> None:
    """``p *= 1 - lr * weight_decay``: decoupled weight decay, in place."""
    if weight_decay != 0:
        xp.multiply(p, 1.0 - lr * weight_decay, out=p)


def _update_average(xp: Backend, mean: Array, value: Array, keep: float, s: Array | None) -> None:
    """``mean = keep * mean + (1 - keep) * value``, in place."""
    xp.add_scaled(mean, value, 1.0 - keep, keep, s)


def _update_square_average(
    xp: Backend, mean: Array, value: Array, keep: float, s: Array | None
) -> None:
    """``mean = keep * mean + (1 - keep) * value**2``, in place."""
    s = xp.multiply(value, value, out=s)
    xp.add_scaled(mean, s, 1.0 - keep, keep, s)


def _subtract_scaled(xp: Backend, p: Array, value: Array, scale: float, s: Array | None) -> None:
    """``p -= scale * value``, in place; ``value`` may be ``s``."""
    xp.add_scaled(p, value, -scale, buffer=s)


@kernel
def sgd_update(
    xp: Backend, params: Arrays, grads: Arrays, momentum_buffers: Arrays, *,
    lr: float, momentum: float, dampening: float, weight_decay: float,
    nesterov: bool, maximize: bool,
) -> None:  # fmt: skip
    """Stochastic gradient descent; ``momentum_buffers`` is empty without momentum."""
    if not (momentum_buffers or weight_decay):
        for p, g in zip(params, grads, strict=True):
            xp.add_scaled(p, g, lr if maximize else -lr)
        return
    for p, g, buffer, s in _tiles(xp, params, grads, momentum_buffers):
        d = _descent_direction(xp, p, g, weight_decay, maximize)
        if buffer is not None:
            xp.add_scaled(buffer, d, 1.0 - dampening, momentum, s)
            if nesterov:
                s = xp.multiply(buffer, momentum, out=s)
                d = s = xp.add(s, d, out=s)
            else:
                d = buffer
        _subtract_scaled(xp, p, d, lr, s)


@kernel
def adam_update(
    xp: Backend, params: Arrays, grads: Arrays, exp_avgs: Arrays, exp_avg_sqs: Arrays,
    max_exp_avg_sqs: Arrays, *, step: float, lr: float, beta1: float, beta2: float,
    eps: float, weight_decay: float, decoupled: bool, maximize: bool,
) -> None:  # fmt: skip
    """Adam and AdamW; ``max_exp_avg_sqs`` is empty without AMSGrad.

    Multiplying both sides of the quotient by ``sqrt(1 - beta2**step)`` moves the bias
    correction of the second moment into two scalars, which saves a pass over memory.
    """
    root = (1.0 - beta2**step) ** 0.5  # not math.sqrt, since it may be a tensor
    step_size, floor = lr * root / (1.0 - beta1**step), eps * root
    penalty = 0.0 if decoupled else weight_decay
    tiles = _tiles(xp, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs)
    for p, g, mean, square, largest, s in tiles:
        if decoupled:
            _shrink(xp, p, lr, weight_decay)
        d = _descent_direction(xp, p, g, penalty, maximize)
        _update_average(xp, mean, d, beta1, s)
        _update_square_average(xp, square, d, beta2, s)
        if largest is not None:
            square = xp.maximum(largest, square, out=largest)
        s = xp.sqrt(square, out=s)
        s = xp.add(s, floor, out=s)
        s = xp.divide(mean, s, out=s)
        _subtract_scaled(xp, p, s, step_size, s)


@kernel
def nadam_update(
    xp: Backend, params: Arrays, grads: Arrays, exp_avgs: Arrays, exp_avg_sqs: Arrays, *,
    step: float, lr: float, beta1: float, beta2: float, eps: float, weight_decay: float,
    decoupled: bool, maximize: bool, mean_scale: float, grad_scale: float,
) -> None:  # fmt: skip
    """NAdam: Adam with Nesterov momentum.

    ``mean_scale`` and ``grad_scale`` are the weights of the first moment and of the gradient in
    the step. They depend on the product of the momentum schedule, which is per-tensor state.
    """
    correction = evaluate(math.sqrt, 1.0 - beta2**step)
    penalty = 0.0 if decoupled else weight_decay
    for p, g, mean, square, s in _tiles(xp, params, grads, exp_avgs, exp_avg_sqs):
        if decoupled:
            _shrink(xp, p, lr, weight_decay)
        d = _descent_direction(xp, p, g, penalty, maximize)
        _update_average(xp, mean, d, beta1, s)
        _update_square_average(xp, square, d, beta2, s)
        s = xp.sqrt(square, out=s)
        s = xp.divide(s, correction, out=s)
        s = xp.add(s, eps, out=s)
        blend = xp.multiply(d, grad_scale)
        blend = xp.add(blend, xp.multiply(mean, mean_scale), out=blend)
        s = xp.divide(blend, s, out=s)
        _subtract_scaled(xp, p, s, lr, s)


def _average_lengths(step: float, beta2: float) -> tuple[float, float]:
    """Length of the simple moving average that approximates the second moment, and its limit."""
    longest = 2.0 / (1.0 - beta2) - 1.0
    return longest - 2.0 * step * beta2**step / (1.0 - beta2**step), longest


def _is_variance_tractable(step: float, beta2: float) -> bool:
    """Whether the moving average is longer than 5 steps."""
    return bool(_average_lengths(step, beta2)[0] > 5.0)


def _rectified_step_size(lr: float, step: float, beta1: float, beta2: float) -> float:
    """Step size of RAdam."""
    step_size: float = lr / (1.0 - beta1**step)
    if not _is_variance_tractable(step, beta2):
        return step_size
    length, longest = _average_lengths(step, beta2)
    rectified = (length - 4.0) * (length - 2.0) * longest
    rectified /= (longest - 4.0) * (longest - 2.0) * length
    step_size *= math.sqrt(rectified * (1.0 - beta2**step))
    return step_size


@kernel
def radam_update(
    xp: Backend, params: Arrays, grads: Arrays, exp_avgs: Arrays, exp_avg_sqs: Arrays, *,
    step: float, lr: float, beta1: float, beta2: float, eps: float, weight_decay: float,
    decoupled: bool, maximize: bool,
) -> None:  # fmt: skip
    """RAdam: an adaptive step only where the variance of the second moment is tractable."""
    step_size = evaluate(_rectified_step_size, lr, step, beta1, beta2)
    adaptive = evaluate(_is_variance_tractable, step, beta2)
    penalty = 0.0 if decoupled else weight_decay
    for p, g, mean, square, s in _tiles(xp, params, grads, exp_avgs, exp_avg_sqs):
        if decoupled:
            _shrink(xp, p, lr, weight_decay)
        d = _descent_direction(xp, p, g, penalty, maximize)
        _update_average(xp, mean, d, beta1, s)
        _update_square_average(xp, square, d, beta2, s)
        if adaptive is not False:
            s = xp.sqrt(square, out=s)
            s = xp.add(s, eps, out=s)
            if adaptive is not True:  # it is traced, and differs between replays
                s = xp.where(adaptive, s, 1.0)
            mean = s = xp.divide(mean, s, out=s)
        _subtract_scaled(xp, p, mean, step_size, s)


@kernel
def adamax_update(
    xp: Backend, params: Arrays, grads: Arrays, exp_avgs: Arrays, exp_infs: Arrays, *,
    step: float, lr: float, beta1: float, beta2: float, eps: float, weight_decay: float,
    maximize: bool,
) -> None:  # fmt: skip
    """Adamax: Adam with the infinity norm in place of the second moment."""
    step_size = lr / (1.0 - beta1**step)
    for p, g, mean, largest, s in _tiles(xp, params, grads, exp_avgs, exp_infs):
        d = _descent_direction(xp, p, g, weight_decay, maximize)
        _update_average(xp, mean, d, beta1, s)
        s = xp.absolute(d, out=s)
        s = xp.add(s, eps, out=s)
        xp.multiply(largest, beta2, out=largest)
        xp.maximum(largest, s, out=largest)
        s = xp.divide(mean, largest, out=s)
        _subtract_scaled(xp, p, s, step_size, s)


@kernel
def adagrad_update(
    xp: Backend, params: Arrays, grads: Arrays, sums: Arrays, *,
    step: float, lr: float, lr_decay: float, eps: float, weight_decay: float, maximize: bool,
) -> None:  # fmt: skip
    """Adagrad: each element's learning rate falls with the sum of its squared gradients."""
    step_size = lr / (1.0 + (step - 1.0) * lr_decay)
    for p, g, total, s in _tiles(xp, params, grads, sums):
        d = _descent_direction(xp, p, g, weight_decay, maximize)
        s = xp.multiply(d, d, out=s)
        xp.add(total, s, out=total)
        s = xp.sqrt(total, out=s)
        s = xp.add(s, eps, out=s)
        s = xp.divide(d, s, out=s)
        _subtract_scaled(xp, p, s, step_size, s)


@kernel
def adadelta_update(
    xp: Backend, params: Arrays, grads: Arrays, square_avgs: Arrays, acc_deltas: Arrays, *,
    lr: float, rho: float, eps: float, weight_decay: float, maximize: bool,
) -> None:  # fmt: skip
    """Adadelta: running averages of past steps give each step the units of the parameter."""
    for p, g, square, steps, s in _tiles(xp, params, grads, square_avgs, acc_deltas):
        d = _descent_direction(xp, p, g, weight_decay, maximize)
        _update_square_average(xp, square, d, rho, s)
        delta = xp.sqrt(xp.add(steps, eps))
        s = xp.add(square, eps, out=s)
        s = xp.sqrt(s, out=s)
        delta = xp.divide(delta, s, out=delta)
        delta = xp.multiply(delta, d, out=delta)
        _update_square_average(xp, steps, delta, rho, s)
        _subtract_scaled(xp, p, delta, lr, s)


@kernel
def rmsprop_update(
    xp: Backend, params: Arrays, grads: Arrays, square_avgs: Arrays, grad_avgs: Arrays,
    momentum_buffers: Arrays, *, lr: float, alpha: float, eps: float, weight_decay: float,
    momentum: float, maximize: bool,
) -> None:  # fmt: skip
    """RMSprop; ``grad_avgs`` is empty unless centered, ``momentum_buffers`` without momentum."""
    tiles = _tiles(xp, params, grads, square_avgs, grad_avgs, momentum_buffers)
    for p, g, square, mean, buffer, s in tiles:
        d = _descent_direction(xp, p, g, weight_decay, maximize)
        _update_square_average(xp, square, d, alpha, s)
        if mean is None:
            s = xp.sqrt(square, out=s)
        else:
            _update_average(xp, mean, d, alpha, s)
            s = xp.multiply(mean, mean, out=s)
            s = xp.subtract(square, s, out=s)
            s = xp.sqrt(s, out=s)
        s = xp.add(s, eps, out=s)
        s = xp.divide(d, s, out=s)
        step = s
        if buffer is not None:
            xp.multiply(buffer, momentum, out=buffer)
            step = xp.add(buffer, s, out=buffer)
        _subtract_scaled(xp, p, step, lr, s)


@kernel
def rprop_update(
    xp: Backend, params: Arrays, grads: Arrays, prevs: Arrays, step_sizes: Arrays, *,
    shrink: float, grow: float, smallest: float, largest: float, maximize: bool,
) -> None:  # fmt: skip
    """Rprop: steps grow while a gradient keeps its sign, shrink when it flips."""
    for p, g, prev, size, _ in _tiles(xp, params, grads, prevs, step_sizes):
        d = xp.negative(g) if maximize else g
        agreement = xp.multiply(d, prev)
        flipped = agreement < 0
        factor = xp.where(flipped, shrink, xp.where(agreement > 0, grow, 1.0))
        xp.multiply(size, factor.astype(size.dtype), out=size)
        xp.clip(size, smallest, largest, out=size)
        # A flipped gradient is stored as 0: no step now, and no comparison in the next step.
        prev[...] = xp.where(flipped, xp.zeros_like(d), d)
        xp.subtract(p, xp.multiply(xp.sign(prev), size), out=p)


@kernel
def asgd_update(
    xp: Backend, params: Arrays, grads: Arrays, axs: Arrays, *,
    lambd: float, eta: float, mu: float, weight_decay: float, maximize: bool,
) -> None:  # fmt: skip
    """Averaged SGD: ``axs`` are the running averages of the parameters."""
    for p, g, average, s in _tiles(xp, params, grads, axs):
        d = _descent_direction(xp, p, g, weight_decay, maximize)
        _shrink(xp, p, eta, lambd)
        _subtract_scaled(xp, p, d, eta, s)
        starts = evaluate(_is_one, mu)
        if starts is True:
            average[...] = p
            continue
        s = xp.subtract(p, average, out=s)
        s = xp.multiply(s, mu, out=s)
        s = xp.add(average, s, out=average if starts is False else None)
        if starts is not False:  # it is traced, and differs between replays
            average[...] = xp.where(starts, p, s)


def _is_one(number: float) -> bool:
    return bool(number == 1)


def _rms(xp: Backend, array: Array) -> Any:
    """Root mean square of the elements."""
    return xp.sqrt(xp.mean(xp.square(array)))


def _mix(xp: Backend, average: Array, value: Array, weight: float) -> None:
    """``average += weight * (value - average)``, in place."""
    xp.add(average, (value - average) * weight, out=average)


def _factored_variance(
    xp: Backend, square: Array, row: Array, column: Array, weight: float, floor: float
) -> Array:
    """Update the averages of ``square`` over rows and columns; return the estimate of its average.

    Args:
        xp: The backend.
        square: Squared gradient, ``(..., n, m)``.
        row: Running average of the row means, ``(..., n, 1)``; changes in place.
        column: Running average of the column means, ``(..., 1, m)``; changes in place.
        weight: Weight of ``square`` in the running averages.
        floor: Lower bound of the mean of ``row``, by which is divided.

    Returns:
        ``row @ column / mean(row)``, of the shape of ``square``.
    """
    _mix(xp, row, xp.mean(square, axis=-1, keepdims=True), weight)
    _mix(xp, column, xp.mean(square, axis=-2, keepdims=True), weight)
    estimate = xp.matmul(row, column)
    return xp.divide(
        estimate, xp.maximum(xp.mean(row, axis=-2, keepdims=True), floor), out=estimate
    )


@kernel
def adafactor_update(
    xp: Backend, params: Arrays, grads: Arrays, rows: Arrays, columns: Arrays,
    variances: Arrays, *, step: float, lr: float, beta2_decay: float, eps1: float,
    eps2: float, d: float, weight_decay: float, maximize: bool,
) -> None:  # fmt: skip
    """Adafactor: matrices have ``rows`` and ``columns``, vectors ``variances``.

    The sequences that do not apply are empty, so one call updates either matrices or vectors.
    """
    weight = step**beta2_decay
    rate = evaluate(min, lr, 1.0 / evaluate(math.sqrt, step))
    nothing = (None,) * len(params)
    states = zip(rows or nothing, columns or nothing, variances or nothing, strict=True)
    for p, g, (row, column, variance) in zip(params, grads, states, strict=True):
        step_size = xp.maximum(_rms(xp, p), eps2) * rate
        if weight_decay != 0:
            xp.multiply(p, 1.0 - lr * weight_decay, out=p)
        square = xp.square(g)
        if variance is None:
            square = _factored_variance(xp, square, row, column, weight, eps1)
        else:
            _mix(xp, variance, square, weight)
            square = variance
        change = g / xp.sqrt(xp.maximum(square, eps1 * eps1))
        change = change * (step_size / xp.maximum(_rms(xp, change) / d, 1.0))
        (xp.add if maximize else xp.subtract)(p, change, out=p)


@kernel
def muon_update(
    xp: Backend, params: Arrays, grads: Arrays, momentum_buffers: Arrays, *,
    lr: float, weight_decay: float, momentum: float, nesterov: bool,
    ns_coefficients: tuple[float, float, float], eps: float, ns_steps: int,
    adjust_lr_fn: str | None,
) -> None:  # fmt: skip
    """Muon: momentum whose singular values are all replaced by about 1."""
    for p, g, buffer in zip(params, grads, momentum_buffers, strict=True):
        _mix(xp, buffer, g, 1.0 - momentum)
        change = g + (buffer - g) * momentum if nesterov else buffer
        change = _orthogonalize(xp, change, ns_coefficients, ns_steps, eps)
        scale = _size_factor(adjust_lr_fn, *p.shape) * lr
        xp.multiply(p, 1.0 - lr * weight_decay, out=p)
        xp.subtract(p, change * scale, out=p)


def _orthogonalize(
    xp: Backend, matrix: Array, coefficients: tuple[float, float, float], steps: int, eps: float
) -> Array:
    """Approximate the nearest orthogonal matrix by a quintic Newton-Schulz iteration.

    Each step maps a singular value ``x`` to ``a x + b x**3 + c x**5``. The coefficients are
    chosen to increase small values fast rather than to converge to 1.
    """
    a, b, c = coefficients
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if tall else matrix
    x = x / xp.maximum(xp.sqrt(xp.sum(xp.square(x))), eps)
    for _ in range(steps):
        gram = xp.matmul(x, x.T)
        x = x * a + xp.matmul(gram * b + xp.matmul(gram, gram) * c, x)
    return x.T if tall else x


def _size_factor(adjust_lr_fn: str | None, rows: int, columns: int) -> float:
    """Factor of the learning rate for a matrix of this size; see ``adjust_lr_fn`` of ``Muon``."""
    if adjust_lr_fn == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1.0, rows / columns))
