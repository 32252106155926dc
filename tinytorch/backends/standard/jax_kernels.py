"""Convolution, its gradients, and updates of optimizers by XLA."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Sizes = Sequence[int]
Arrays = Sequence[Any]


def make_kernels(library: Any, wrap: Callable[[Any], Any]) -> dict[str, Callable[..., Any]]:
    """Return the kernels by the names that ``Backend.fused`` has.

    Args:
        library: The ``JaxLibrary``.
        wrap: Function that makes an array of the backend from one of JAX.
    """
    found = _XlaConvolutions(library, wrap)
    kernels = {name: getattr(found, name) for name in ("conv", "conv_input", "conv_weight")}
    updates = _XlaUpdates(library)
    return kernels | {"adam_update": updates.adam_update, "sgd_update": updates.sgd_update}


class _XlaConvolutions:
    """Convolution, whose gradients are the transposes of two linear functions."""

    def __init__(self, library: Any, wrap: Callable[[Any], Any]) -> None:
        self.jax, self.wrap, self.widen = library.jax, wrap, library.widen

    def conv(
        self, input: Any, weight: Any, bias: Any, stride: Sizes, padding: Sizes, dilation: Sizes,
        groups: int, size: Sizes,
    ) -> Any:  # fmt: skip
        """Convolution of the result size ``size``."""
        if input.dtype.kind not in "fc" or not input.size or input.dtype != weight.dtype:
            return None
        run = self.widen(_convolve)
        out = run(self.jax, input.raw, weight.raw, stride, padding, dilation, groups, size)
        return self.wrap(out) if bias is None else self.wrap(out) + bias.reshape(
            -1, *(1,) * len(size)
        )  # fmt: skip

    def conv_input(
        self, grad: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
        size: Sizes,
    ) -> Any:  # fmt: skip
        """Gradient of a convolution with respect to its input, of image size ``size``."""
        if grad.dtype.kind not in "fc" or not grad.size or grad.dtype != weight.dtype:
            return None
        shape = (grad.shape[0], groups * weight.shape[1], *size)
        args = stride, padding, dilation, groups, grad.shape[2:]
        return self._transpose(
            lambda input: _convolve(self.jax, input, weight.raw, *args), shape, grad
        )

    def conv_weight(
        self, input: Any, grad: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
        size: Sizes,
    ) -> Any:  # fmt: skip
        """Gradient of a convolution with respect to its weight, of kernel size ``size``."""
        if grad.dtype.kind not in "fc" or not grad.size or grad.dtype != input.dtype:
            return None
        shape = (grad.shape[1], input.shape[1] // groups, *size)
        args = stride, padding, dilation, groups, grad.shape[2:]
        return self._transpose(
            lambda weight: _convolve(self.jax, input.raw, weight, *args), shape, grad
        )

    def _transpose(self, function: Callable[[Any], Any], shape: Sizes, grad: Any) -> Any:
        """Apply the transpose of a linear function to ``grad``."""
        like = self.jax.ShapeDtypeStruct(tuple(shape), grad.dtype)

        def run(raw: Any) -> Any:
            return self.jax.linear_transpose(function, like)(raw)[0]

        return self.wrap(self.widen(run)(grad.raw))


class _XlaUpdates:
    """Updates of optimizers, compiled for all parameters at once.

    Numbers that a schedule changes are arguments of the compiled function, the others constants.
    """

    def __init__(self, library: Any) -> None:
        self.numpy = library.jax.numpy
        jit, fixed = library.jax.jit, ("weight_decay", "maximize")
        adam = jit(self._compute_adam, static_argnames=(*fixed, "decoupled"))
        sgd = jit(self._compute_sgd, static_argnames=(*fixed, "nesterov"))
        self._adam, self._sgd = library.widen(adam), library.widen(sgd)

    def adam_update(self, xp: Any, *arrays: Arrays, step: float, **numbers: Any) -> Any:
        """Adam and AdamW."""
        if not _are_updatable(arrays, step, *numbers.values()):
            return NotImplemented
        root = (1.0 - numbers["beta2"] ** step) ** 0.5
        numbers["step_size"] = numbers["lr"] * root / (1.0 - numbers["beta1"] ** step)
        numbers["eps"] *= root
        params, _, *state = arrays
        return _run(self._adam, arrays, (params, *state), numbers)

    def sgd_update(self, xp: Any, *arrays: Arrays, **numbers: Any) -> Any:
        """Stochastic gradient descent."""
        if not _are_updatable(arrays, *numbers.values()):
            return NotImplemented
        params, _, buffers = arrays
        return _run(self._sgd, arrays, (params, buffers), numbers)

    def _compute_adam(
        self, params: Arrays, grads: Arrays, means: Arrays, squares: Arrays, largest: Arrays, *,
        lr: Any, step_size: Any, beta1: Any, beta2: Any, eps: Any, weight_decay: float,
        decoupled: bool, maximize: bool,
    ) -> tuple[Arrays, ...]:  # fmt: skip
        """Return new parameters and state; ``eps`` and ``step_size`` are corrected for the bias."""
        np = self.numpy
        decay = 0.0 if decoupled else weight_decay
        if decoupled and weight_decay:
            params = [p * (1 - lr * weight_decay) for p in params]
        slopes = _descent_directions(params, grads, decay, maximize)
        means = _pairs(lambda mean, d: beta1 * mean + (1 - beta1) * d, means, slopes)
        squares = _pairs(lambda square, d: beta2 * square + (1 - beta2) * d * d, squares, slopes)
        largest = _pairs(np.maximum, largest, squares) if largest else largest
        steps = _pairs(lambda mean, v: mean / (np.sqrt(v) + eps), means, largest or squares)
        return _pairs(lambda p, s: p - step_size * s, params, steps), means, squares, largest

    def _compute_sgd(
        self, params: Arrays, grads: Arrays, buffers: Arrays, *, lr: Any, momentum: Any,
        dampening: Any, weight_decay: float, nesterov: bool, maximize: bool,
    ) -> tuple[Arrays, ...]:  # fmt: skip
        """Return new parameters and momentum buffers."""
        slopes = _descent_directions(params, grads, weight_decay, maximize)
        if buffers:
            buffers = _pairs(lambda b, d: momentum * b + (1 - dampening) * d, buffers, slopes)
            slopes = _pairs(lambda b, d: d + momentum * b, buffers, slopes) if nesterov else buffers
        return _pairs(lambda p, d: p - lr * d, params, slopes), buffers


def _pairs(function: Callable[[Any, Any], Any], xs: Arrays, ys: Arrays) -> list[Any]:
    """Apply a function to the arrays of two sequences, pair by pair."""
    return [function(x, y) for x, y in zip(xs, ys, strict=True)]


def _descent_directions(
    params: Arrays, grads: Arrays, weight_decay: float, maximize: bool
) -> list[Any]:
    """Gradients of the minimized objective, with that of an L2 penalty."""
    grads = [-g for g in grads] if maximize else list(grads)
    return _pairs(lambda p, g: g + weight_decay * p, params, grads) if weight_decay else grads


def _are_updatable(arrays: Sequence[Arrays], *numbers: Any) -> bool:
    """Whether arrays have one dtype, float32 or float64, and numbers are Python's.

    What is written does not share memory, so the order of the updates does not matter.
    """
    dtype = arrays[0][0].dtype
    written = [each for part in (arrays[0], *arrays[2:]) for each in part]
    return (
        dtype.char in "fd"
        and all(each.dtype == dtype for part in arrays for each in part)
        and len({each.store.key for each in written}) == len(written)
        and all(isinstance(number, (int, float)) for number in numbers)
    )


def _run(
    compute: Callable[..., Any], arrays: Sequence[Arrays], written: Sequence[Arrays],
    numbers: dict[str, Any],
) -> None:  # fmt: skip
    """Compute new values and write them; first check that all arrays may be written."""
    for part in written:
        for each in part:
            each.check_trace()
    found = compute(*[[each.raw for each in part] for part in arrays], **numbers)
    for part, raws in zip(written, found, strict=True):
        for each, raw in zip(part, raws, strict=True):
            each.write(raw)


def _convolve(
    jax: Any, input: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
    size: Sizes,
) -> Any:  # fmt: skip
    """Convolution by XLA, padded at each end as far as the result needs."""
    sizes = zip(input.shape[2:], weight.shape[2:], stride, padding, dilation, size, strict=True)
    pads = [
        (pad, (result - 1) * move + step * (kernel - 1) + 1 - image - pad)
        for image, kernel, move, pad, step, result in sizes
    ]
    axes = "DHW"[3 - len(size) :]
    names = f"NC{axes}", f"OI{axes}", f"NC{axes}"
    return jax.lax.conv_general_dilated(
        input, weight, tuple(stride), pads, None, tuple(dilation), names,
        feature_group_count=groups,
    )  # fmt: skip
