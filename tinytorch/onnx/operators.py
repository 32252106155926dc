"""ONNX operators as functions of tensors: arithmetic, comparisons, shapes, indices, reductions.

Each function has the operator's inputs as positional parameters and its attributes as keywords;
``OPERATORS`` has all of them by name. They follow opset 13 and later.

Reference: https://onnx.ai/onnx/operators/
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from .. import dtypes
from ..core.tensor import Tensor
from ..dispatch.registry import find


_F = TypeVar("_F", bound=Callable[..., Any])
#: The functions by operator.
OPERATORS: dict[str, Callable[..., Any]] = {}
#: dtypes by their numbers in ONNX's ``TensorProto.DataType``.
DTYPES = {
    1: dtypes.float32, 2: dtypes.uint8, 3: dtypes.int8, 4: dtypes.uint16, 5: dtypes.int16,
    6: dtypes.int32, 7: dtypes.int64, 9: dtypes.bool, 10: dtypes.float16, 11: dtypes.float64,
    12: dtypes.uint32, 13: dtypes.uint64, 14: dtypes.complex64, 15: dtypes.complex128,
    16: dtypes.bfloat16,
}  # fmt: skip


class _Operations:
    """The public operations of a namespace as attributes."""

    def __init__(self, space: str) -> None:
        self._space = space

    def __getattr__(self, name: str) -> Any:
        return find(self._space, name)


T, F, LINALG = _Operations(""), _Operations("nn.functional"), _Operations("linalg")


def operator(*names: str) -> Callable[[_F], _F]:
    """Decorator that registers the function of an operator.

    Args:
        *names: Names of the operator.
    """

    def register(function: _F) -> _F:
        OPERATORS.update(dict.fromkeys(names, function))
        return function

    return register


def integers(tensor: Any) -> list[int]:
    """Return the elements of a tensor of shapes, axes or sizes."""
    return [int(each) for each in tensor.reshape(-1).tolist()]


def _register_elementwise() -> None:
    """Register the operators that are one operation of the same arguments."""
    same = {
        "Abs": "abs", "Neg": "neg", "Exp": "exp", "Log": "log", "Sqrt": "sqrt", "Sin": "sin",
        "Cos": "cos", "Tan": "tan", "Asin": "asin", "Acos": "acos", "Atan": "atan",
        "Sinh": "sinh", "Cosh": "cosh", "Tanh": "tanh", "Asinh": "asinh", "Acosh": "acosh",
        "Atanh": "atanh", "Erf": "erf", "Sigmoid": "sigmoid", "Relu": "relu", "Sign": "sign",
        "Floor": "floor", "Ceil": "ceil", "Round": "round", "Reciprocal": "reciprocal",
        "Not": "logical_not", "IsNaN": "isnan", "BitwiseNot": "bitwise_not", "Add": "add",
        "Sub": "sub", "Mul": "mul", "MatMul": "matmul", "Equal": "eq", "Greater": "gt",
        "GreaterOrEqual": "ge", "Less": "lt", "LessOrEqual": "le", "And": "logical_and",
        "Or": "logical_or", "Xor": "logical_xor", "BitwiseAnd": "bitwise_and",
        "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor", "Where": "where", "Det": "det",
    }  # fmt: skip
    for name, operation in same.items():
        OPERATORS[name] = _caller(operation)


def _caller(name: str) -> Callable[..., Any]:
    """Return a function that looks the operation up when it is called."""
    return lambda *inputs: find("", name)(*inputs)


_register_elementwise()


@operator("Identity")
def _identity(x: Any) -> Any:
    return x


@operator("Div")
def _divide(a: Tensor, b: Tensor) -> Any:
    integral = not a.is_floating_point() and not a.is_complex()
    return T.div(a, b, rounding_mode="trunc") if integral else a / b


@operator("Pow")
def _power(x: Tensor, y: Tensor) -> Any:
    return T.pow(x, y).to(x.dtype)


@operator("Mod")
def _modulo(a: Tensor, b: Tensor, *, fmod: int = 0) -> Any:
    return T.fmod(a, b) if fmod else T.remainder(a, b)


@operator("BitShift")
def _shift_bits(x: Tensor, y: Tensor, *, direction: str) -> Any:
    left = direction == "LEFT"
    return (T.bitwise_left_shift if left else T.bitwise_right_shift)(x, y)


@operator("IsInf")
def _is_infinite(x: Tensor, *, detect_negative: int = 1, detect_positive: int = 1) -> Any:
    chosen = ((x < 0) & bool(detect_negative)) | ((x > 0) & bool(detect_positive))
    return T.isinf(x) & chosen


@operator("Max")
def _maximum(*inputs: Tensor) -> Any:
    return _fold(T.maximum, inputs)


@operator("Min")
def _minimum(*inputs: Tensor) -> Any:
    return _fold(T.minimum, inputs)


@operator("Sum")
def _sum_inputs(*inputs: Tensor) -> Any:
    return _fold(T.add, inputs)


@operator("Mean")
def _mean_inputs(*inputs: Tensor) -> Any:
    return _fold(T.add, inputs) / len(inputs)


def _fold(function: Any, inputs: tuple[Any, ...]) -> Any:
    """Apply a function of two arguments to all inputs from the left."""
    result = inputs[0]
    for each in inputs[1:]:
        result = function(result, each)
    return result


@operator("Clip")
def _clip(x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Any:
    x = x if low is None else T.maximum(x, low.reshape(()))
    return x if high is None else T.minimum(x, high.reshape(()))


# -- dtypes and creation -----------------------------------------------------------------------


def dtype_of(number: int) -> Any:
    """Return the dtype of a number in a file.

    Raises:
        NotImplementedError: If there is no such dtype here.
    """
    if number not in DTYPES:
        raise NotImplementedError(f"onnx: tensors of the data type {number} are not supported")
    return DTYPES[number]


@operator("Cast")
def _cast(x: Tensor, *, to: int, saturate: int = 1, round_mode: str = "up") -> Any:
    return x.to(dtype_of(to))


@operator("CastLike")
def _cast_like(x: Tensor, like: Tensor, *, saturate: int = 1, round_mode: str = "up") -> Any:
    return x.to(like.dtype)


@operator("Shape")
def _shape(x: Tensor, *, start: int = 0, end: int | None = None) -> Any:
    return T.tensor([*x.shape][start:end], dtype=dtypes.int64, device=x.device)


@operator("Size")
def _size(x: Tensor) -> Any:
    return T.tensor(x.numel(), device=x.device)


@operator("ConstantOfShape")
def _constant_of_shape(shape: Tensor, *, value: Tensor | None = None) -> Any:
    number = 0.0 if value is None else value.reshape(-1)[0].item()
    dtype = dtypes.float32 if value is None else value.dtype
    return T.full(tuple(integers(shape)), number, dtype=dtype, device=shape.device)


@operator("Range")
def _range(start: Tensor, limit: Tensor, delta: Tensor) -> Any:
    ends = [each.item() for each in (start, limit, delta)]
    return T.arange(*ends, dtype=start.dtype, device=start.device)


@operator("EyeLike")
def _eye_like(x: Tensor, *, dtype: int | None = None, k: int = 0) -> Any:
    rows, columns = x.shape
    ones = T.ones(rows, columns, dtype=x.dtype if dtype is None else dtype_of(dtype))
    return T.triu(T.tril(ones, k), k)


@operator("OneHot")
def _one_hot(indices: Tensor, depth: Tensor, values: Tensor, *, axis: int = -1) -> Any:
    count = int(depth.reshape(-1)[0].item())
    found = indices.to(dtypes.int64)
    axis = axis + indices.dim() + 1 if axis < 0 else axis
    shape = [1] * (indices.dim() + 1)
    shape[axis] = count
    classes = T.arange(count).reshape(shape)
    hot = (found % count).unsqueeze(axis) == classes
    hot = hot & ((found >= -count) & (found < count)).unsqueeze(axis)
    return T.where(hot, values[1], values[0])


@operator("Trilu")
def _triangle(x: Tensor, k: Tensor | None = None, *, upper: int = 1) -> Any:
    diagonal = 0 if k is None else int(k.item())
    return (T.triu if upper else T.tril)(x, diagonal)


# -- shapes ------------------------------------------------------------------------------------


@operator("Reshape")
def _reshape(x: Tensor, shape: Tensor, *, allowzero: int = 0) -> Any:
    sizes = integers(shape)
    if not allowzero:
        sizes = [x.shape[i] if size == 0 else size for i, size in enumerate(sizes)]
    return x.reshape(sizes)


@operator("Transpose")
def _transpose(x: Tensor, *, perm: list[int] | None = None) -> Any:
    return x.permute(tuple(range(x.dim())[::-1] if perm is None else perm))


@operator("Flatten")
def _flatten(x: Tensor, *, axis: int = 1) -> Any:
    axis = axis + x.dim() if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


@operator("Squeeze")
def _squeeze(x: Tensor, axes: Tensor | None = None) -> Any:
    return x.squeeze() if axes is None else x.squeeze(tuple(integers(axes)))


@operator("Unsqueeze")
def _unsqueeze(x: Tensor, axes: Tensor) -> Any:
    dims = x.dim() + axes.numel()
    for axis in sorted(each % dims for each in integers(axes)):
        x = x.unsqueeze(axis)
    return x


@operator("Concat")
def _concatenate(*inputs: Tensor, axis: int) -> Any:
    return T.cat(inputs, axis)


@operator("Split")
def _split(
    x: Tensor, sizes: Tensor | None = None, *, axis: int = 0, num_outputs: int | None = None,
    outputs: int = 0,
) -> Any:  # fmt: skip
    if sizes is not None:
        return T.split(x, integers(sizes), axis)
    return T.split(x, -(-x.shape[axis] // (num_outputs or outputs)), axis)


@operator("Slice")
def _slice(
    x: Tensor, starts: Tensor, ends: Tensor, axes: Tensor | None = None, steps: Tensor | None = None
) -> Any:  # fmt: skip
    first, last = integers(starts), integers(ends)
    chosen = range(len(first)) if axes is None else integers(axes)
    by = [1] * len(first) if steps is None else integers(steps)
    for axis, start, end, step in zip(chosen, first, last, by, strict=True):
        size = x.shape[axis]
        if step > 0:
            index = (slice(None),) * (axis % x.dim()) + (slice(start, end, step),)
            x = x[index]
        else:
            places = range(size)[slice(start, None if end < -size else end, step)]
            x = x.index_select(axis, T.tensor([*places], dtype=dtypes.int64, device=x.device))
    return x


@operator("Expand")
def _expand(x: Tensor, shape: Tensor) -> Any:
    return T.broadcast_to(x, T.broadcast_shapes(tuple(x.shape), tuple(integers(shape))))


@operator("Tile")
def _tile(x: Tensor, repeats: Tensor) -> Any:
    return x.repeat(*integers(repeats)) if x.dim() else x


@operator("Pad")
def _pad(
    x: Tensor, pads: Tensor, value: Tensor | None = None, axes: Tensor | None = None, *,
    mode: str = "constant",
) -> Any:  # fmt: skip
    amounts = integers(pads)
    chosen = [*range(x.dim())] if axes is None else [a % x.dim() for a in integers(axes)]
    for axis, before, after in zip(
        chosen, amounts[: len(chosen)], amounts[len(chosen) :], strict=True
    ):
        x = _pad_axis(x, axis, before, after, mode, value)
    return x


def _pad_axis(x: Tensor, axis: int, before: int, after: int, mode: str, value: Any) -> Any:
    """Pad one axis; negative amounts remove elements."""
    size = x.shape[axis]
    if mode == "constant":
        x = x.narrow(axis, max(0, -before), size - max(0, -before) - max(0, -after))
        number = 0 if value is None else value.item()
        parts = [x]
        for amount, at in ((before, 0), (after, 1)):
            shape = [*x.shape[:axis], max(0, amount), *x.shape[axis + 1 :]]
            parts.insert(at * len(parts), T.full(shape, number, dtype=x.dtype, device=x.device))
        return T.cat(parts, axis) if before > 0 or after > 0 else x
    places = T.arange(-before, size + after, device=x.device)
    if mode == "reflect":
        period = max(1, 2 * (size - 1))
        places = (places % period - (size - 1)).abs().neg() + size - 1
    else:
        places = places.clamp(0, size - 1) if mode == "edge" else places % size
    return x.index_select(axis, places)


@operator("DepthToSpace")
def _depth_to_space(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Any:
    n, c, h, w = x.shape
    b = blocksize
    if mode == "DCR":
        y = x.reshape(n, b, b, c // b**2, h, w).permute(0, 3, 4, 1, 5, 2)
    else:
        y = x.reshape(n, c // b**2, b, b, h, w).permute(0, 1, 4, 2, 5, 3)
    return y.reshape(n, c // b**2, h * b, w * b)


@operator("SpaceToDepth")
def _space_to_depth(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Any:
    n, c, h, w = x.shape
    b = blocksize
    y = x.reshape(n, c, h // b, b, w // b, b)
    y = y.permute(0, 3, 5, 1, 2, 4) if mode == "DCR" else y.permute(0, 1, 3, 5, 2, 4)
    return y.reshape(n, c * b * b, h // b, w // b)


@operator("ReverseSequence")
def _reverse_sequence(
    x: Tensor, lengths: Tensor, *, batch_axis: int = 1, time_axis: int = 0
) -> Any:
    y = x.movedim((batch_axis, time_axis), (0, 1))
    steps, long = T.arange(y.shape[1]), lengths.to(dtypes.int64).unsqueeze(1)
    places = T.where(steps < long, long - 1 - steps, steps)
    rows = T.arange(y.shape[0]).unsqueeze(1)
    return y[rows, places].movedim((0, 1), (batch_axis, time_axis))


# -- indices -----------------------------------------------------------------------------------


def _wrap_indices(indices: Tensor, size: int) -> Any:
    """Return indices of which negative ones count from the end as those from the start."""
    return T.where(indices < 0, indices + size, indices).to(dtypes.int64)


@operator("Gather")
def _gather(x: Tensor, indices: Tensor, *, axis: int = 0) -> Any:
    found = _wrap_indices(indices, x.shape[axis])
    y = x.index_select(axis, found.reshape(-1))
    axis = axis % x.dim()
    return y.reshape([*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]])


@operator("GatherElements")
def _gather_elements(x: Tensor, indices: Tensor, *, axis: int = 0) -> Any:
    return T.gather(x, axis, _wrap_indices(indices, x.shape[axis]))


@operator("GatherND")
def _gather_nd(x: Tensor, indices: Tensor, *, batch_dims: int = 0) -> Any:
    b, count = batch_dims, indices.shape[-1]
    rows = [
        T.arange(x.shape[i]).reshape([-1 if j == i else 1 for j in range(indices.dim() - 1)])
        for i in range(b)
    ]
    found = [_wrap_indices(indices[..., i], x.shape[b + i]) for i in range(count)]
    return x[(*rows, *found)]


@operator("ScatterElements", "Scatter")
def _scatter_elements(
    x: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0, reduction: str = "none"
) -> Any:  # fmt: skip
    found = _wrap_indices(indices, x.shape[axis])
    if reduction == "none":
        return T.scatter(x, axis, found, updates)
    kinds = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}
    return T.scatter_reduce(x, axis, found, updates, kinds[reduction])


@operator("ScatterND")
def _scatter_nd(x: Tensor, indices: Tensor, updates: Tensor, *, reduction: str = "none") -> Any:
    count = indices.shape[-1]
    places = T.zeros(indices.shape[:-1], dtype=dtypes.int64)
    for i in range(count):
        places = places * x.shape[i] + _wrap_indices(indices[..., i], x.shape[i])
    inner = math.prod(x.shape[count:])
    found = (places.reshape(-1, 1) * inner + T.arange(inner)).reshape(-1)
    flat = _scatter_elements(x.reshape(-1), found, updates.reshape(-1), reduction=reduction)
    return flat.reshape(x.shape)


@operator("NonZero")
def _nonzero(x: Tensor) -> Any:
    return T.nonzero(x).t()


@operator("Compress")
def _compress(x: Tensor, condition: Tensor, *, axis: int | None = None) -> Any:
    places = T.nonzero(condition).reshape(-1)
    return x.reshape(-1)[places] if axis is None else x.index_select(axis, places)


@operator("TopK")
def _top_k(x: Tensor, k: Tensor, *, axis: int = -1, largest: int = 1, sorted: int = 1) -> Any:
    # A stable sort gives the lower index of equal elements first, as ONNX requires.
    values, indices = T.sort(x, axis, descending=bool(largest), stable=True)
    count = int(k.item())
    return values.narrow(axis, 0, count), indices.narrow(axis, 0, count)


@operator("Unique")
def _unique(x: Tensor, *, axis: int | None = None, sorted: int = 1) -> Any:
    values, inverse, counts = T.unique(x, return_inverse=True, return_counts=True, dim=axis)
    n = counts.numel()
    flat = inverse.reshape(-1)
    places = T.arange(flat.numel() - 1, -1, -1)
    first = T.zeros(n, dtype=dtypes.int64).scatter(0, flat.flip(0), places)
    if not sorted:
        order = T.argsort(first)
        rank = T.argsort(order)
        values = values.index_select(0 if axis is None else axis, order)
        first, counts, inverse = first[order], counts[order], rank[inverse]
    return values, first, inverse, counts


# -- reductions --------------------------------------------------------------------------------


def _reduction(name: str, function: Any) -> None:
    """Register a reduction; ``function`` gets the tensor, the dimensions and ``keepdim``."""

    @operator(name)
    def reduce(
        x: Tensor, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
    ) -> Any:  # fmt: skip
        chosen = [] if axes is None else integers(axes) if isinstance(axes, Tensor) else axes
        if not chosen and noop_with_empty_axes:
            return _map_before_reduction(name, x)
        dims = tuple(chosen or range(x.dim()))
        return function(x, dims, bool(keepdims)) if dims else _map_before_reduction(name, x)


def _map_before_reduction(name: str, x: Tensor) -> Any:
    """Return what a reduction over no axis makes of each element."""
    maps: dict[str, Any] = {
        "ReduceL1": T.abs, "ReduceL2": T.abs, "ReduceSumSquare": T.square, "ReduceLogSum": T.log
    }  # fmt: skip
    return maps[name](x) if name in maps else x


def _product(x: Tensor, dims: Any, keep: bool) -> Any:
    for dim in sorted((each % x.dim() for each in dims), reverse=True):
        x = T.prod(x, dim, keepdim=keep)
    return x


def _largest(x: Tensor, dims: Any, keep: bool) -> Any:
    return _extreme(x, dims, keep, T.amax)


def _smallest(x: Tensor, dims: Any, keep: bool) -> Any:
    return _extreme(x, dims, keep, T.amin)


def _extreme(x: Tensor, dims: Any, keep: bool, function: Any) -> Any:
    """Return the extreme elements; that of none is the end of the dtype's range."""
    lowest = function is T.amax
    reduced = {dim % x.dim() for dim in dims}
    if any(x.shape[dim] == 0 for dim in reduced):
        sizes = [1 if i in reduced else n for i, n in enumerate(x.shape)]
        sizes = sizes if keep else [n for i, n in enumerate(sizes) if i not in reduced]
        return T.full(sizes, _end_of_range(x.dtype, lowest), dtype=x.dtype, device=x.device)
    return function(x, dims, keep)


def _end_of_range(dtype: Any, lowest: bool) -> Any:
    """Return the lowest or largest value of a dtype."""
    if dtype is dtypes.bool:
        return not lowest
    if dtype.is_floating_point:
        return -math.inf if lowest else math.inf
    limits = dtypes.iinfo(dtype)
    return limits.min if lowest else limits.max


for _name, _function in {
    "ReduceSum": lambda x, d, k: T.sum(x, d, keepdim=k).to(x.dtype),
    "ReduceMean": lambda x, d, k: (
        T.mean(x, d, keepdim=k) if x.is_floating_point()
        else T.mean(x.double(), d, keepdim=k).to(x.dtype)
    ),
    "ReduceMax": _largest, "ReduceMin": _smallest, "ReduceProd": _product,
    "ReduceL1": lambda x, d, k: T.sum(T.abs(x), d, keepdim=k).to(x.dtype),
    "ReduceL2": lambda x, d, k: (
        T.sqrt(T.sum(T.square(x), d, keepdim=k).to(x.dtype)).to(x.dtype)
    ),
    "ReduceLogSum": lambda x, d, k: T.log(T.sum(x, d, keepdim=k)),
    "ReduceLogSumExp": lambda x, d, k: T.logsumexp(x, d, keepdim=k),
    "ReduceSumSquare": lambda x, d, k: T.sum(T.square(x), d, keepdim=k).to(x.dtype),
}.items():  # fmt: skip
    _reduction(_name, _function)


@operator("ArgMax")
def _arg_max(x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Any:
    return _arg_extreme(T.argmax, x, axis, keepdims, select_last_index)


@operator("ArgMin")
def _arg_min(x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Any:
    return _arg_extreme(T.argmin, x, axis, keepdims, select_last_index)


def _arg_extreme(function: Any, x: Tensor, axis: int, keepdims: int, last: int) -> Any:
    if not last:
        return function(x, axis, keepdim=bool(keepdims))
    return x.shape[axis] - 1 - function(x.flip(axis), axis, keepdim=bool(keepdims))


@operator("CumSum")
def _cumulative_sum(x: Tensor, axis: Tensor, *, exclusive: int = 0, reverse: int = 0) -> Any:
    dim = int(axis.item())
    y = x.flip(dim) if reverse else x
    total = T.cumsum(y, dim).to(x.dtype)
    total = total - y if exclusive else total
    return total.flip(dim) if reverse else total


@operator("Einsum")
def _einsum(*inputs: Tensor, equation: str) -> Any:
    return T.einsum(equation, *inputs)
