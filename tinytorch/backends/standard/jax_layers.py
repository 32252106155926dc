"""Kernels of layers on JAX, each compiled by XLA as one: pooling, normalization, attention, ...

Gradients are JAX's own of the same functions, which are differentiable by JAX, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

Sizes = Sequence[int]


def make_kernels(library: Any, wrap: Callable[[Any], Any]) -> dict[str, Callable[..., Any]]:
    """Return the kernels by the names that ``Backend.fused`` has.

    Args:
        library: The ``JaxLibrary``.
        wrap: Function that makes an array of the backend from one of JAX.
    """
    functions = _LayerFunctions(library.jax)

    def compile_kernel(name: str) -> Callable[..., Any]:
        """Return a kernel that compiles a method for each combination of its options."""
        function, count = getattr(functions, name), _ARRAYS[name]
        compiled: dict[Any, Callable[..., Any]] = {}

        def kernel(*args: Any) -> Any:
            arrays, options = args[:count], args[count:]
            if not _are_supported(arrays):
                return None
            if options not in compiled:
                compiled[options] = library.widen(
                    library.jax.jit(lambda *raws: function(*raws, *options))
                )
            found = compiled[options](*[None if a is None else a.raw for a in arrays])
            if not isinstance(found, tuple):
                return wrap(found)
            return tuple([None if raw is None else wrap(raw) for raw in found])

        return kernel

    return {name: compile_kernel(name) for name in _ARRAYS}


#: Number of arrays among the arguments of each kernel; the others are options.
_ARRAYS = {
    "max_pool": 1, "max_pool_backward": 3, "sum_pool": 1, "sum_pool_backward": 1, "layer_norm": 3,
    "layer_norm_backward": 3, "batch_norm": 3, "batch_norm_backward": 5, "attention": 4,
    "attention_backward": 7, "embedding_backward": 2, "relu": 1, "relu_backward": 2, "gelu": 1,
    "softmax": 1, "log_softmax": 1,
}  # fmt: skip


def _are_supported(arrays: Sequence[Any]) -> bool:
    """Whether the floating-point arrays have one dtype, float32 or float64, and elements."""
    given = [each for each in arrays if each is not None and each.dtype.kind not in "iu"]
    dtype = given[0].dtype
    return dtype.char in "fd" and all(each.dtype == dtype and each.size for each in given)


class _LayerFunctions:
    """Functions of raw arrays by the names of kernels."""

    def __init__(self, jax: Any) -> None:
        self.jax, self.numpy, self.lax = jax, jax.numpy, jax.lax

    def _gradients(self, function: Callable[..., Any], grad: Any, *raws: Any) -> Any:
        """Gradients of ``function`` at ``raws``; ``grad`` is that of its result."""
        return self.jax.vjp(function, *raws)[1](grad)

    # -- pooling ----------------------------------------------------------------------------

    def max_pool(self, input: Any, *sizes: Sizes) -> tuple[Any, Any]:
        """Maxima, and their int64 indices in the flattened image: the last NaN, or the first."""
        np, lead = self.numpy, input.ndim - len(sizes[0])
        image = input.shape[lead:]
        places = np.arange(math.prod(image), dtype="int64").reshape(image)
        values = self.lax.stop_gradient(input)
        pair = values, np.broadcast_to(places, input.shape)
        initial = np.asarray(-np.inf, input.dtype), np.asarray(places.size, "int64")
        _, index = self._reduce(pair, initial, self._choose_larger, *sizes)
        flat = input.reshape(*input.shape[:lead], -1)
        found = np.take_along_axis(flat, index.reshape(*index.shape[:lead], -1), -1)
        return found.reshape(index.shape), index

    def _choose_larger(self, a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
        """Pair of a value and its index: NaN before numbers, the larger, of equal ones the first.

        Of several NaN the last is chosen.
        """
        np, (x, i), (y, j) = self.numpy, a, b
        nan_x, nan_y = x != x, y != y
        by_nan = nan_y & (~nan_x | (j > i))
        second = by_nan | (~nan_x & ~nan_y & ((y > x) | ((y == x) & (j < i))))
        return np.where(second, y, x), np.where(second, j, i)

    def max_pool_backward(self, grad: Any, input: Any, indices: Any, *sizes: Sizes) -> Any:
        """Gradient of the maxima with respect to the input."""
        np, lead = self.numpy, input.ndim - len(sizes[0])
        rows = math.prod(input.shape[:lead])
        zeros = np.zeros((rows, math.prod(input.shape[lead:])), grad.dtype)
        at = np.arange(rows)[:, None], indices.reshape(rows, -1)
        return zeros.at[at].add(grad.reshape(rows, -1)).reshape(input.shape)

    def sum_pool(self, input: Any, *sizes: Sizes) -> Any:
        """Sums of windows."""
        zero = numpy.zeros((), input.dtype)[()]  # a constant, by which JAX knows a sum
        return self._reduce(input, zero, self.lax.add, *sizes)

    def sum_pool_backward(self, grad: Any, shape: Sizes, *sizes: Sizes) -> Any:
        """Gradient of the sums with respect to an input of ``shape``."""
        like = self.numpy.zeros(tuple(shape), grad.dtype)
        return self._gradients(lambda input: self.sum_pool(input, *sizes), grad, like)[0]

    def _reduce(
        self, input: Any, initial: Any, combine: Callable[[Any, Any], Any], kernel: Sizes,
        stride: Sizes, padding: Sizes, dilation: Sizes, size: Sizes,
    ) -> Any:  # fmt: skip
        """Reduce windows, padded at each end as far as the result needs."""
        image = self.jax.tree.leaves(input)[0].shape[-len(size) :]
        ones = (1,) * (self.jax.tree.leaves(input)[0].ndim - len(size))
        ends = [
            (count - 1) * move + step * (k - 1) + 1 - n - pad
            for n, k, move, pad, step, count in zip(
                image, kernel, stride, padding, dilation, size, strict=True
            )
        ]
        used = tuple(slice(n + min(end, 0)) for n, end in zip(image, ends, strict=True))
        input = self.jax.tree.map(lambda x: x[(..., *used)], input)
        pads = [(pad, max(end, 0)) for pad, end in zip(padding, ends, strict=True)]
        return self.lax.reduce_window(
            input, initial, combine, (*ones, *kernel), (*ones, *stride),
            [*((0, 0) for _ in ones), *pads], None, (*ones, *dilation),
        )  # fmt: skip

    # -- normalization ----------------------------------------------------------------------

    def layer_norm(self, input: Any, weight: Any, bias: Any, count: int, eps: float) -> Any:
        """Normalization over the last ``count`` dimensions."""
        axes = tuple(range(input.ndim - count, input.ndim))
        return self._normalize(input, weight, bias, axes, eps)[0]

    def layer_norm_backward(
        self, grad: Any, input: Any, weight: Any, count: int, eps: float, wanted: Sequence[bool]
    ) -> Any:
        """Gradients of input, weight and bias; None for each that is not ``wanted``."""
        like = self.numpy.zeros(input.shape[input.ndim - count :], input.dtype)

        def run(input: Any, weight: Any, bias: Any) -> Any:
            return self.layer_norm(input, weight, bias, count, eps)

        return self._select(self._gradients(run, grad, input, weight, like), wanted)

    def batch_norm(self, input: Any, weight: Any, bias: Any, eps: float) -> Any:
        """Normalization of each channel, and the mean and variance of each, ``(1, C, 1, ...)``."""
        form = (-1, *(1,) * (input.ndim - 2))
        w, b = (None if part is None else part.reshape(form) for part in (weight, bias))
        return self._normalize(input, w, b, (0, *range(2, input.ndim)), eps)

    def batch_norm_backward(
        self, grad: Any, input: Any, weight: Any, mean: Any, var: Any, eps: float,
        wanted: Sequence[bool],
    ) -> Any:  # fmt: skip
        """Gradients of input, weight and bias; None for each that is not ``wanted``."""
        like = self.numpy.zeros(input.shape[1], input.dtype)

        def run(input: Any, weight: Any, bias: Any) -> Any:
            return self.batch_norm(input, weight, bias, eps)[0]

        return self._select(self._gradients(run, grad, input, weight, like), wanted)

    def _normalize(self, x: Any, weight: Any, bias: Any, axes: tuple[int, ...], eps: float) -> Any:
        """``(x - mean) / sqrt(var + eps) * weight + bias``, the mean and the variance."""
        np = self.numpy
        mean = np.mean(x, axes, keepdims=True)
        centered = x - mean
        var = np.mean(centered * centered, axes, keepdims=True)
        out = centered * self.lax.rsqrt(var + eps)
        out = out if weight is None else out * weight
        return (out if bias is None else out + bias), mean, var

    @staticmethod
    def _select(found: Sequence[Any], wanted: Sequence[bool]) -> tuple[Any, ...]:
        """Return the wanted ones, and None for the others."""
        return tuple([each if want else None for each, want in zip(found, wanted, strict=True)])

    # -- attention and embedding ------------------------------------------------------------

    def attention(
        self, query: Any, key: Any, value: Any, bias: Any, scale: float, causal: bool
    ) -> tuple[Any, Any]:
        """Weighted means of the values, and the logarithms of the sums of the weights."""
        scores = self._scores(query, key, bias, scale, causal)
        sums = self.jax.nn.logsumexp(scores, -1)
        return self.numpy.matmul(self._weights(scores, sums), value), sums

    def attention_backward(
        self, grad: Any, query: Any, key: Any, value: Any, bias: Any, out: Any, sums: Any,
        scale: float, causal: bool,
    ) -> tuple[Any, ...]:  # fmt: skip
        """Gradients of queries, keys and values, from both results of ``attention``."""
        np = self.numpy
        weights = self._weights(self._scores(query, key, bias, scale, causal), sums)
        inner = np.sum(grad * out, -1, keepdims=True)
        scores = weights * (np.matmul(grad, value.mT) - inner) * scale
        of_query, of_key = np.matmul(scores, key), np.matmul(scores.mT, query)
        return of_query, of_key, np.matmul(weights.mT, grad)

    def _scores(self, query: Any, key: Any, bias: Any, scale: float, causal: bool) -> Any:
        """Scores of all pairs of queries and keys; -inf for a key after a ``causal`` query."""
        np = self.numpy
        scores = np.matmul(query, key.mT) * scale
        scores = scores if bias is None else scores + bias
        return np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf) if causal else (
            scores
        )  # fmt: skip

    def _weights(self, scores: Any, sums: Any) -> Any:
        """Weights of the keys; those of a query without keys are 0."""
        np = self.numpy
        return np.exp(scores - np.where(sums == -np.inf, 0, sums)[..., None])

    def embedding_backward(self, grad: Any, index: Any, rows: int, padding_idx: int) -> Any:
        """Rows of ``grad`` summed by index, of which ``padding_idx`` gets none."""
        rest = grad.shape[index.ndim :]
        total = self.numpy.zeros((rows, *rest), grad.dtype)
        total = total.at[index.reshape(-1)].add(grad.reshape(-1, *rest))
        return total if padding_idx < 0 else total.at[padding_idx].set(0)

    # -- functions of elements and rows -----------------------------------------------------

    def relu(self, input: Any) -> Any:
        """``max(input, 0)``. JAX's gradient of ``maximum`` at 0 would be 1/2."""
        return self.jax.nn.relu(input)

    def relu_backward(self, grad: Any, out: Any) -> Any:
        """``grad`` where the result ``out`` of ReLU is not 0, else 0."""
        return self.numpy.where(out == 0, 0, grad)

    def gelu(self, input: Any) -> Any:
        """``x * P(X <= x)``."""
        return self.jax.nn.gelu(input, approximate=False)

    def softmax(self, input: Any, dim: int) -> Any:
        """Softmax along one dimension."""
        return self.jax.nn.softmax(input, dim)

    def log_softmax(self, input: Any, dim: int) -> Any:
        """Logarithm of softmax."""
        return self.jax.nn.log_softmax(input, dim)
