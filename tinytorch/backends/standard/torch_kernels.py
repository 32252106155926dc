"""Fused kernels of PyTorch's: layers and their gradients, and updates of optimizers.

Each kernel returns None, or an update NotImplemented, for the dtypes and shapes for which PyTorch's
function computes something else than the operation of this library, or was not tested.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Sizes = Sequence[int]
#: PyTorch's number for the reduction "none".
_NO_REDUCTION = 0


def make_kernels(torch: Any, wrap: Callable[[Any], Any]) -> dict[str, Callable[..., Any]]:
    """Return the kernels by the names that ``Backend.fused`` has.

    Args:
        torch: The module.
        wrap: Function that makes an array of the backend from a tensor of PyTorch.
    """
    found: dict[str, Callable[..., Any]] = {}
    for kernels in (_Convolutions, _Pooling, _Layers, _Attention, _Updates):
        made = kernels(torch, wrap)
        found.update({n: getattr(made, n) for n in vars(kernels) if not n.startswith("_")})
    return found


class _Kernels:
    """Kernels on arrays of the backend. The public methods are hooks."""

    def __init__(self, torch: Any, wrap: Callable[[Any], Any]) -> None:
        self.torch, self.wrap, self.functional = torch, wrap, torch.nn.functional
        self.aten = torch.ops.aten

    def _wrap_each(self, raws: Sequence[Any]) -> tuple[Any, ...]:
        """Wrap results; None stays None."""
        return tuple([None if raw is None else self.wrap(raw) for raw in raws])


class _Convolutions(_Kernels):
    """Convolution and its gradients."""

    def conv(
        self, input: Any, weight: Any, bias: Any, stride: Sizes, padding: Sizes, dilation: Sizes,
        groups: int, size: Sizes,
    ) -> Any:  # fmt: skip
        """Convolution of the result size ``size``."""
        if not _fits(input, weight, stride, padding, dilation, size):
            return None
        added = None if bias is None else bias.raw
        zeros = (0,) * len(size)
        return self.wrap(
            self.torch.convolution(
                input.raw, weight.raw, added, stride, padding, dilation, False, zeros, groups
            )
        )

    def conv_input(
        self, grad: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
        size: Sizes,
    ) -> Any:  # fmt: skip
        """Gradient of a convolution with respect to its input, of image size ``size``."""
        shape = (grad.shape[0], groups * weight.shape[1], *size)
        like = grad.raw.new_empty(1).expand(shape)
        if not _fits(like, weight, stride, padding, dilation, grad.shape[2:], grad):
            return None
        return self._backward(grad, like, weight.raw, stride, padding, dilation, groups, 0)

    def conv_weight(
        self, input: Any, grad: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
        size: Sizes,
    ) -> Any:  # fmt: skip
        """Gradient of a convolution with respect to its weight, of kernel size ``size``."""
        like = grad.raw.new_empty(1).expand((grad.shape[1], input.shape[1] // groups, *size))
        if not _fits(input, like, stride, padding, dilation, grad.shape[2:], grad):
            return None
        return self._backward(grad, input.raw, like, stride, padding, dilation, groups, 1)

    def _backward(
        self, grad: Any, input: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes,
        groups: int, which: int,
    ) -> Any:  # fmt: skip
        """One of the gradients of PyTorch's convolution."""
        wanted = (which == 0, which == 1, False)
        zeros = [0] * len(stride)
        found = self.aten.convolution_backward.default(
            grad.raw, input, weight, None, stride, padding, dilation, False, zeros, groups, wanted
        )
        return self.wrap(found[which])


class _Pooling(_Kernels):
    """Maxima and sums of windows; the last argument of each is the number of windows."""

    def max_pool(self, input: Any, *sizes: Sizes) -> Any:
        """Maxima, and their int64 indices in the flattened image."""
        if not _have_one_dtype(input):
            return None
        name = "max_pool3d_with_indices" if len(sizes[0]) == 3 else "max_pool2d_with_indices"
        return self._pool(name, (input,), input.shape, sizes, ())

    def max_pool_backward(self, grad: Any, input: Any, indices: Any, *sizes: Sizes) -> Any:
        """Gradient of the maxima with respect to the input."""
        if not _have_one_dtype(grad, input):
            return None
        name = "max_pool3d_with_indices_backward" if len(sizes[0]) == 3 else (
            "max_pool2d_with_indices_backward"
        )  # fmt: skip
        return self._pool(name, (grad, input), input.shape, sizes, (_as_image(indices.raw, sizes),))

    def sum_pool(self, input: Any, *sizes: Sizes) -> Any:
        """Sums."""
        if not _have_one_dtype(input) or max(sizes[3]) > 1:
            return None
        name = "avg_pool3d" if len(sizes[0]) == 3 else "avg_pool2d"
        return self._pool(name, (input,), input.shape, sizes[:3] + sizes[4:], (True, 1))

    def sum_pool_backward(self, grad: Any, shape: Sizes, *sizes: Sizes) -> Any:
        """Gradient of the sums with respect to an input of ``shape``."""
        if not _have_one_dtype(grad) or max(sizes[3]) > 1:
            return None
        name = "avg_pool3d_backward" if len(sizes[0]) == 3 else "avg_pool2d_backward"
        like = self.wrap(grad.raw.new_empty(shape))
        return self._pool(name, (grad, like), shape, sizes[:3] + sizes[4:], (True, 1))

    def _pool(
        self, name: str, arrays: Sequence[Any], shape: Sizes, sizes: Sequence[Sizes],
        more: Sequence[Any],
    ) -> Any:  # fmt: skip
        """Call a function of PyTorch's with the sizes that it takes."""
        *sizes, count = sizes
        ceil = _has_partial_window(shape, sizes, count)
        raws = [_as_image(each.raw, sizes) for each in arrays]
        if len(count) == 1:
            sizes = [(0 if at == 2 else 1, *each) for at, each in enumerate(sizes)]
        found = getattr(self.aten, name).default(*raws, *sizes, ceil, *more)
        results = found if found.__class__ is tuple else (found,)
        wrapped = [self.wrap(raw.squeeze(-2) if len(count) == 1 else raw) for raw in results]
        return tuple(wrapped) if found.__class__ is tuple else wrapped[0]


def _as_image(raw: Any, sizes: Sequence[Sizes]) -> Any:
    """Return sequences as images of one row: PyTorch has indices of maxima for images alone."""
    return raw.unsqueeze(-2) if len(sizes[0]) == 1 else raw


def _has_partial_window(shape: Sizes, sizes: Sequence[Sizes], count: Sizes) -> bool:
    """Whether the last window along a dimension extends beyond the padding."""
    dilations = sizes[3] if len(sizes) > 3 else (1,) * len(count)
    image = shape[len(shape) - len(count) :]
    dims = zip(image, *sizes[:3], dilations, count, strict=True)
    return any(
        (size + 2 * pad - step * (kernel - 1) - 1) // move + 1 != windows
        for size, kernel, move, pad, step, windows in dims
    )


class _Layers(_Kernels):
    """Linear layers, normalization, softmax, GELU and embedding."""

    def linear(self, input: Any, weight: Any, bias: Any) -> Any:
        """``input @ weight.T + bias``."""
        if not _have_one_dtype(input, weight, bias) or bias.ndim != 1:
            return None
        return self.wrap(self.functional.linear(input.raw, weight.raw, bias.raw))

    def layer_norm(self, input: Any, weight: Any, bias: Any, count: int, eps: float) -> Any:
        """Normalization over the last ``count`` dimensions."""
        if not _have_one_dtype(input, *_present(weight, bias)):
            return None
        raws = [None if part is None else part.raw for part in (weight, bias)]
        shape = input.shape[len(input.shape) - count :]
        return self.wrap(self.functional.layer_norm(input.raw, shape, *raws, eps))

    def layer_norm_backward(
        self, grad: Any, input: Any, weight: Any, count: int, eps: float, wanted: Sequence[bool]
    ) -> Any:
        """Gradients of input, weight and bias; None for each that is not ``wanted``."""
        if not _have_one_dtype(grad, input, *_present(weight)):
            return None
        shape = input.shape[len(input.shape) - count :]
        scale = None if weight is None else weight.raw
        like = input.raw.new_empty(shape) if wanted[2] else None  # its values are not read
        _, *statistics = self.torch.native_layer_norm(input.raw, shape, scale, None, eps)
        return self._wrap_each(
            self.aten.native_layer_norm_backward.default(
                grad.raw, input.raw, shape, *statistics, scale, like, wanted
            )
        )

    def batch_norm(self, input: Any, weight: Any, bias: Any, eps: float) -> Any:
        """Normalization of each channel, and the mean and variance of each, ``(1, C, 1, ...)``."""
        if not _have_one_dtype(input, *_present(weight, bias)):
            return None
        added = [None if part is None else part.raw for part in (weight, bias)]
        mean, var = self.torch.batch_norm_update_stats(input.raw, None, None, 0.0)
        out, *_ = self.torch.native_batch_norm(input.raw, *added, mean, var, False, 0.0, eps)
        form = (1, -1, *(1,) * (input.ndim - 2))
        return self._wrap_each((out, mean.view(form), var.view(form)))

    def batch_norm_backward(
        self, grad: Any, input: Any, weight: Any, mean: Any, var: Any, eps: float,
        wanted: Sequence[bool],
    ) -> Any:  # fmt: skip
        """Gradients of input, weight and bias; None for each that is not ``wanted``."""
        if not _have_one_dtype(grad, input, mean, *_present(weight)):
            return None
        scale = None if weight is None else weight.raw
        deviation = (var.raw + eps).rsqrt_().view(-1)
        return self._wrap_each(
            self.aten.native_batch_norm_backward.default(
                grad.raw, input.raw, scale, None, None, mean.raw.view(-1), deviation, True, eps,
                wanted,
            )
        )  # fmt: skip

    def embedding(self, input: Any, weight: Any) -> Any:
        """Rows of ``weight`` at indices; an invalid index raises IndexError."""
        if not _have_one_dtype(weight) or not _is_on_cpu(weight):
            return None
        return self.wrap(self.aten.embedding.default(weight.raw, input.raw))

    def embedding_backward(self, grad: Any, index: Any, rows: int, padding_idx: int) -> Any:
        """Rows of ``grad`` summed by index, of which ``padding_idx`` gets none."""
        if not _have_one_dtype(grad) or not _is_on_cpu(grad):
            return None
        run = self.aten.embedding_dense_backward.default
        return self.wrap(run(grad.raw, index.raw, rows, padding_idx, False))

    def relu(self, input: Any) -> Any:
        """``max(input, 0)``."""
        return self.wrap(self.torch.relu(input.raw)) if _have_one_dtype(input) else None

    def relu_backward(self, grad: Any, out: Any) -> Any:
        """``grad`` where the result ``out`` of ReLU is not 0, else 0."""
        if not _have_one_dtype(grad, out):
            return None
        return self.wrap(self.aten.threshold_backward.default(grad.raw, out.raw, 0))

    def gelu(self, input: Any) -> Any:
        """``x * P(X <= x)``."""
        return self.wrap(self.functional.gelu(input.raw)) if _have_one_dtype(input) else None

    def softmax(self, input: Any, dim: int) -> Any:
        """Softmax along one dimension."""
        return self.wrap(self.torch.softmax(input.raw, dim)) if _have_one_dtype(input) else None

    def log_softmax(self, input: Any, dim: int) -> Any:
        """Logarithm of softmax."""
        return self.wrap(self.torch.log_softmax(input.raw, dim)) if _have_one_dtype(input) else None

    def cross_entropy(self, input: Any, target: Any, ignore_index: int) -> Any:
        """``-log softmax(input)`` at the targets. On the CPU PyTorch checks these at once."""
        if input.ndim != 2 or not _have_one_dtype(input) or not _is_on_cpu(input):
            return None
        scores = self.torch.log_softmax(input.raw, 1)
        run = self.aten.nll_loss_forward.default
        losses, _ = run(scores, target.raw, None, _NO_REDUCTION, ignore_index)
        return self.wrap(losses), None

    def cross_entropy_backward(
        self, grad: Any, input: Any, target: Any, ignore_index: int
    ) -> Any:  # fmt: skip
        """``grad * (softmax(input) - one_hot(target))``."""
        if grad.shape != target.shape or input.ndim != 2 or not _is_on_cpu(input) or (
            not _have_one_dtype(input, grad)
        ):  # fmt: skip
            return None
        scores, at = self.torch.log_softmax(input.raw, 1), target.raw
        weight = scores.new_empty(())  # the sum of weights, which means alone are divided by
        run = self.aten.nll_loss_backward.default
        slopes = run(grad.raw, scores, at, None, _NO_REDUCTION, ignore_index, weight)
        return self.wrap(
            self.aten._log_softmax_backward_data.default(slopes, scores, 1, scores.dtype)
        )


class _Attention(_Kernels):
    """Attention without an array of all scores."""

    def attention(
        self, query: Any, key: Any, value: Any, bias: Any, scale: float, causal: bool
    ) -> Any:
        """Weighted means of the values, and the logarithms of the sums of the weights."""
        if not self._supports(query, key, value, bias, causal):
            return None
        return self._wrap_each(
            self.aten._scaled_dot_product_flash_attention_for_cpu.default(
                query.raw, key.raw, value.raw, 0.0, causal, attn_mask=_as_mask(bias), scale=scale
            )
        )

    def attention_backward(
        self, grad: Any, query: Any, key: Any, value: Any, bias: Any, out: Any, sums: Any,
        scale: float, causal: bool,
    ) -> Any:  # fmt: skip
        """Gradients of queries, keys and values, from both results of ``attention``."""
        run = self.aten._scaled_dot_product_flash_attention_for_cpu_backward.default
        raws = [each.raw for each in (grad, query, key, value, out, sums)]
        return self._wrap_each(run(*raws, 0.0, causal, attn_mask=_as_mask(bias), scale=scale))

    def _supports(self, query: Any, key: Any, value: Any, bias: Any, causal: bool) -> bool:
        """Whether PyTorch's function is known to compute the same as the operation here."""
        same = query.shape[-1] == value.shape[-1] and not (causal and bias is not None)
        return same and _is_on_cpu(query) and _have_one_dtype(query, key, value, *_present(bias))


class _Updates(_Kernels):
    """Updates of optimizers, for all parameters in one call."""

    def adam_update(self, xp: Any, *arrays: Sequence[Any], **numbers: Any) -> Any:
        """Adam and AdamW."""
        step, decoupled = numbers.pop("step"), numbers.pop("decoupled")
        if not _are_updatable(arrays, step, numbers["lr"]):
            return NotImplemented
        raws = [[each.raw for each in part] for part in arrays]
        steps = [self.torch.tensor(float(step))] * len(raws[0])
        run = self.aten._fused_adamw_ if decoupled else self.aten._fused_adam_
        return run.default(*raws, steps, amsgrad=bool(raws[4]), **numbers)

    def sgd_update(self, xp: Any, *arrays: Sequence[Any], **numbers: Any) -> Any:
        """Stochastic gradient descent."""
        if not _are_updatable(arrays, 0.0, numbers["lr"]):
            return NotImplemented
        raws = [[each.raw for each in part] for part in arrays]
        return self.aten._fused_sgd_.default(*raws, is_first_step=False, **numbers)


def _are_updatable(arrays: Sequence[Sequence[Any]], *numbers: Any) -> bool:
    """Whether arrays are row-major, of one dtype and on the CPU, and numbers are Python's."""
    flat = [each for part in arrays for each in part]
    return (
        all(isinstance(number, (int, float)) for number in numbers)
        and _is_on_cpu(flat[0])
        and _have_one_dtype(*flat)
        and all(each.raw.is_contiguous() for each in flat)
    )


def _as_mask(bias: Any) -> Any:
    """Return a bias of scores with four dimensions; None stays None."""
    return None if bias is None else bias.raw.reshape((1,) * (4 - bias.ndim) + bias.shape)


def _present(*arrays: Any) -> list[Any]:
    """List the arrays that are not None."""
    return [each for each in arrays if each is not None]


def _is_on_cpu(array: Any) -> bool:
    """Whether an array is in the CPU's memory, where the kernel was tested."""
    return array.raw.device.type == "cpu"  # type: ignore[no-any-return]


def _have_one_dtype(*arrays: Any) -> bool:
    """Whether arrays have one dtype, float32 or float64, and elements."""
    dtype = arrays[0].dtype
    if dtype.char not in "fd":
        return False
    return all(each.dtype == dtype and 0 not in each.shape for each in arrays)


def _fits(
    input: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, size: Sizes,
    grad: Any = None,
) -> bool:  # fmt: skip
    """Whether PyTorch's convolution has results of the image size ``size``.

    It pads both ends of a dimension alike; the operation here may pad one end more.
    """
    if 0 in (*input.shape, *weight.shape, *size):
        return False
    arrays = [each for each in (input, weight, grad) if hasattr(each, "itemsize")]
    is_float = _have_one_dtype(*[each for each in arrays if hasattr(each, "library")])
    sizes = zip(input.shape[2:], weight.shape[2:], stride, padding, dilation, size, strict=True)
    return is_float and min(padding, default=0) >= 0 and all(
        (image + 2 * pad - step * (kernel - 1) - 1) // move + 1 == result
        for image, kernel, move, pad, step, result in sizes
    )  # fmt: skip
