"""``RawModule`` and ``ElementwiseKernel``: tinytorch's fused kernels, by name, on the host.

No CUDA is compiled. What stands here is what each kernel computes, from the very arguments with
which a GPU would be launched: so the code around a launch runs as it does there, memory is walked
as it lies, and an array with gaps, of another dtype or on another device is an error instead of
garbage. ``test_cuda_sources.py`` compiles the sources themselves and runs them on the host.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from typing import Any

import numpy

from . import _devices
from ._array import ndarray, row_major, unwrap, wrap

_ELEMENTS: dict[str, Any] = {"float": "float32", "double": "float64", "__half": "float16"}
try:
    import ml_dtypes
except ImportError:  # then there is no array to launch a kernel on
    pass
else:
    _ELEMENTS["bfloat16"] = ml_dtypes.bfloat16


class RawModule:
    """A compiled source; of its functions those of ``KERNELS`` can be called."""

    def __init__(self, *, code: str, options: tuple[str, ...] = ()) -> None:
        found = re.search(r"typedef (\w+) T;", code)
        if found is None or "__global__" not in code:
            raise NotImplementedError("strictcupy compiles no kernels")
        self._code, self._dtype = code, numpy.dtype(_ELEMENTS[found[1]])

    def get_function(self, name: str) -> Callable[..., None]:
        """Return the kernel: ``kernel(grid, block, arguments)``."""
        if f"__global__ void {name}(" not in self._code:
            raise NotImplementedError(f"named symbol not found: {name}")

        def launch(grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Any, ...]) -> None:
            if min(grid) < 1 or not 1 <= block[0] <= 1024:
                raise ValueError(f"{name}: invalid configuration {grid}, {block}")
            with numpy.errstate(all="ignore"):
                KERNELS[name](self._dtype, grid, *map(_memory, args))

        return launch


def _memory(value: Any) -> Any:
    """The flat memory of a device array; numbers and host structures as they are."""
    if not isinstance(value, ndarray):
        return value
    _devices.check(value)
    host = unwrap(value)
    if not host.flags.c_contiguous:
        raise ValueError("a kernel walks memory: it needs a row-major array")
    return host.reshape(-1)


def _wide(dtype: Any) -> Any:
    """The type that a kernel computes in."""
    return numpy.promote_types(dtype, "float32")


def _rows(dtype: Any, array: Any, grid: tuple[int, ...], n: int) -> Any:
    if array.dtype != dtype or array.size != grid[0] * n:
        raise ValueError(
            f"a kernel of {grid[0]} rows of {n} {dtype} got {array.size} of {array.dtype}"
        )
    return array.reshape(grid[0], n).astype(_wide(dtype))


def _subtract_max(x: Any) -> Any:
    return x - x.max(1, keepdims=True)


def _softmax(dtype: Any, grid: Any, x: Any, out: Any, n: int) -> None:
    powers = numpy.exp(_subtract_max(_rows(dtype, x, grid, n)))
    out[...] = (powers * (1 / powers.sum(1, keepdims=True))).reshape(-1)


def _log_softmax(dtype: Any, grid: Any, x: Any, out: Any, n: int) -> None:
    shifted = _subtract_max(_rows(dtype, x, grid, n))
    out[...] = (shifted - numpy.log(numpy.exp(shifted).sum(1, keepdims=True))).reshape(-1)


def _cross_entropy(
    dtype: Any, grid: Any, x: Any, target: Any, out: Any, extremes: Any, n: int, skip: int
) -> None:
    shifted = _subtract_max(_rows(dtype, x, grid, n))
    wrong = (target != skip) & ((target < 0) | (target >= n))
    if wrong.any():
        extremes[0] = min(extremes[0], target[wrong].min())
        extremes[1] = max(extremes[1], target[wrong].max())
    counts = target != skip
    picked = shifted[numpy.arange(grid[0]), numpy.where(counts & ~wrong, target, 0)]
    loss = numpy.log(numpy.exp(shifted).sum(1)) - picked
    out[...] = numpy.where(counts, loss, 0)


def _cross_entropy_backward(
    dtype: Any, grid: Any, grad: Any, x: Any, target: Any, out: Any, n: int, skip: int
) -> None:
    powers = numpy.exp(_subtract_max(_rows(dtype, x, grid, n)))
    shares = powers * (1 / powers.sum(1, keepdims=True))
    shares -= numpy.arange(n) == target[:, None]
    each = _rows(dtype, grad, grid, 1) * shares
    out[...] = numpy.where(target[:, None] == skip, 0, each).reshape(-1)


def _layer_norm(
    dtype: Any, grid: Any, x: Any, weight: Any, bias: Any, out: Any, n: int, eps: float
) -> None:
    rows = _rows(dtype, x, grid, n)
    rows = rows - rows.mean(1, keepdims=True)
    scale = 1 / numpy.sqrt((rows * rows).mean(1, keepdims=True).astype(float) + eps)
    rows = rows * scale.astype(rows.dtype)
    if not isinstance(weight, int):
        rows = rows * _rows(dtype, weight, (1,), n)
    if not isinstance(bias, int):
        rows = rows + _rows(dtype, bias, (1,), n)
    out[...] = rows.reshape(-1)


# The optimizers' updates: a table of addresses, a tensor a row of the grid.


def _tensors(dtype: Any, grid: Any, table: Any) -> Any:
    if table.size != 1 or table.nbytes > 4000:
        raise ValueError("CUDA takes one structure of 4 KiB at most")
    for k in range(grid[1]):
        size = int(table["size"][0, k])
        yield [_array_at(dtype, int(address), size) for address in table["at"][0, :, k]]


def _array_at(dtype: Any, address: int, size: int) -> Any:
    memory = (ctypes.c_char * (size * dtype.itemsize)).from_address(address)
    return numpy.frombuffer(memory, dtype)


def _sgd(
    dtype: Any, grid: Any, table: Any, lr: float, decay: float, sign: float,
    momentum: float = 0.0, fresh: float = 1.0, nesterov: float = 0.0,
) -> None:  # fmt: skip
    c = _wide(dtype).type
    for p, g, *buffers in _tensors(dtype, grid, table):
        value = p.astype(c)
        step = c(sign) * g.astype(c) + c(decay) * value
        for buffer in buffers:
            speed = c(momentum) * buffer.astype(c) + c(fresh) * step
            buffer[...] = speed
            step = step + c(momentum) * speed if nesterov else speed
        p[...] = value - c(lr) * step


def _adam(
    dtype: Any, grid: Any, table: Any, step_size: float, floor: float, beta1: float,
    beta2: float, shrink: float, decay: float, sign: float,
) -> None:  # fmt: skip
    c = _wide(dtype).type
    for p, g, mean, square, *largest in _tensors(dtype, grid, table):
        value = p.astype(c) * c(shrink)
        d = c(sign) * g.astype(c) + c(decay) * value
        m = c(beta1) * mean.astype(c) + c(1 - beta1) * d
        s = c(beta2) * square.astype(c) + c(1 - beta2) * d * d
        mean[...], square[...] = m, s
        for most in largest:
            s = numpy.where(s < most.astype(c), most.astype(c), s)
            most[...] = s
        p[...] = value - c(step_size) * m / (numpy.sqrt(s) + c(floor))


KERNELS: dict[str, Callable[..., None]] = {
    "softmax": _softmax, "log_softmax": _log_softmax, "cross_entropy": _cross_entropy,
    "cross_entropy_backward": _cross_entropy_backward, "layer_norm": _layer_norm, "sgd": _sgd,
    "sgd_momentum": _sgd, "adam": _adam, "adam_largest": _adam,
}  # fmt: skip


# Elements


def _gelu(x: Any) -> Any:
    from .cupyx.scipy.special import functions

    t = x.dtype.type
    inner = functions().erf((x * t(0.5**0.5)).astype(_wide(x.dtype))).astype(t)
    return x * t(0.5) * (t(1) + inner)


def _gelu_half(x: Any) -> Any:
    return _gelu(x.astype(_wide(x.dtype))).astype(x.dtype)


def _apply_mask(x: Any, mask: Any) -> Any:
    return numpy.where(mask, x, x.dtype.type(0))


def _dropout(x: Any, keep: Any, scale: float) -> Any:
    return x * numpy.where(keep, x.dtype.type(scale), x.dtype.type(0))


ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "tinytorch_gelu": _gelu, "tinytorch_gelu_half": _gelu_half,
    "tinytorch_mask": _apply_mask, "tinytorch_dropout": _dropout,
}  # fmt: skip


class ElementwiseKernel:
    """A kernel over broadcast arrays, for those of ``ELEMENTWISE``."""

    def __init__(
        self, in_params: str, out_params: str, operation: str, name: str = "kernel"
    ) -> None:
        if name not in ELEMENTWISE:
            raise NotImplementedError("strictcupy compiles no kernels")
        self._function, self.nin = ELEMENTWISE[name], in_params.count(",") + 1
        self._bools = [p.split()[0] == "bool" for p in in_params.split(",")]

    def __call__(self, *args: Any) -> ndarray:
        if len(args) not in (self.nin, self.nin + 1):
            raise TypeError("Wrong number of arguments")
        args, out = args[: self.nin], args[self.nin :]
        hosts = []
        for value, wants_bool in zip(args, self._bools):
            if isinstance(value, numpy.ndarray):
                raise TypeError(f"Unsupported type {type(value)}")
            host = unwrap(value)
            if wants_bool and isinstance(value, ndarray) and host.dtype != bool:
                raise TypeError(f"Type is mismatched. {host.dtype} bool")
            hosts.append(numpy.asarray(host, bool) if wants_bool else host)
        with numpy.errstate(all="ignore"):
            result = self._function(*hosts)
        return _store(result, *out) if out else wrap(row_major(result))


def _store(result: Any, out: ndarray) -> ndarray:
    if out.shape != result.shape:
        raise ValueError("Out shape is mismatched")
    out._host[...] = result
    return out
