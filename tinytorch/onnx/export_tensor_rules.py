"""Rules of the export for sorting, indices, norms, rearranged images and further functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from .export_graph import GraphWriter
from .export_rules import RULES, _axes, _reduction, _unary, axis_of, operands, rule
from ..export.tracing import OperationCall as Call
from ..export.tracing import Size, Ref

#: The end of a slice that has none, forward and backward.
_END, _BEGIN = 2**62, -(2**62)


def _scalar(value: float, ref: Ref) -> Any:
    return numpy.array(value, ref.dtype)


def _reduce(
    g: GraphWriter, operator: str, source: Any, axes: Sequence[int] | None, keepdim: bool
) -> Any:
    """Add a reduction, whose axes are an attribute before opset 18."""
    keepdims = int(keepdim)
    if axes is None:
        return g.add(operator, source, keepdims=keepdims)
    if g.opset < 18 and operator != "ReduceSum":
        return g.add(operator, source, axes=list(axes), keepdims=keepdims)
    return g.add(operator, source, numpy.array(axes, "int64"), keepdims=keepdims)


# -- elementwise -----------------------------------------------------------------------------------

#: Other names of operations.
for _name, _other in {
    "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le",
    "swapdims": "swapaxes", "moveaxis": "movedim", "clamp_min": "clamp", "clamp_max": "clamp",
}.items():  # fmt: skip
    RULES[_name] = RULES[_other]


@rule("softmin")
def _softmin(g: GraphWriter, call: Call, input: Ref, dim: int = -1, **rest: Any) -> str:
    negative = g.add("Neg", g.cast(input, call.results[0].dtype))
    return str(g.add("Softmax", negative, axis=axis_of(dim, input)))


def _rounding(operator: str) -> Any:
    """Rule of a rounding, which is the identity for integers."""

    def apply(g: GraphWriter, call: Call, input: Ref, **rest: Any) -> str:
        return g.tensor(input) if input.dtype.kind in "iu" else floating(g, call, input, **rest)

    floating = _unary(operator)
    return apply


for _name in ("Floor", "Ceil", "Round"):
    RULES[_name.lower()] = _rounding(_name)


@rule("relu")
def _relu(g: GraphWriter, call: Call, input: Ref, inplace: bool = False) -> str:
    if input.dtype.kind == "f":
        return str(g.add("Relu", input))
    return str(g.add("Max", input, _scalar(0, input)))  # runtimes have no Relu of integers


@rule("trunc", "fix", "frac")
def _trunc(g: GraphWriter, call: Call, input: Ref) -> str:
    if input.dtype.kind in "iu":
        return g.tensor(input)
    whole = g.add("Mul", g.add("Sign", input), g.add("Floor", g.add("Abs", input)))
    return str(g.add("Sub", input, whole) if call.name == "frac" else whole)


@rule("exp2")
def _exp2(g: GraphWriter, call: Call, input: Ref) -> str:
    dtype = call.results[0].dtype
    return str(g.add("Pow", numpy.array(2, dtype), g.cast(input, dtype)))


@rule("log2", "log10")
def _log_of_base(g: GraphWriter, call: Call, input: Ref) -> str:
    dtype, base = call.results[0].dtype, 2 if call.name == "log2" else 10
    return str(g.add("Div", g.add("Log", g.cast(input, dtype)), numpy.array(math.log(base), dtype)))


@rule("logit")
def _logit(g: GraphWriter, call: Call, input: Ref, eps: float | None = None) -> str:
    source: Any = input
    if eps is not None:
        source = g.add("Clip", input, _scalar(eps, input), _scalar(1 - eps, input))
    return str(g.add("Log", g.add("Div", source, g.add("Sub", _scalar(1, input), source))))


@rule("erfc")
def _erfc(g: GraphWriter, call: Call, input: Ref) -> str:
    return str(g.add("Sub", _scalar(1, input), g.add("Erf", input)))


@rule("atan2", "arctan2")
def _atan2(g: GraphWriter, call: Call, input: Ref, other: Ref) -> str:
    """By the angle of the ratio, and half a turn where ``other`` is negative."""
    dtype = call.results[0].dtype
    zero, half = numpy.array(0, dtype), numpy.array(math.pi, dtype)
    y, x = (g.name(g.cast(each, dtype)) for each in (input, other))
    turn = g.add("Where", g.add("Less", y, zero), g.add("Neg", half), half)
    turn = g.add("Where", g.add("Less", x, zero), turn, zero)
    angle = g.add("Add", g.add("Atan", g.add("Div", y, x)), turn)
    at_origin = g.add("And", g.add("Equal", y, zero), g.add("Equal", x, zero))
    return str(g.add("Where", at_origin, zero, angle))


@rule("nansum")
def _nansum(g: GraphWriter, call: Call, input: Ref, dim: Any = None, keepdim: bool = False,
            dtype: Any = None) -> str:  # fmt: skip
    numbers = g.add("Where", g.add("IsNaN", input), _scalar(0, input), input)
    return str(_reduce(g, "ReduceSum", numbers, _axes(dim, input), keepdim))


@rule("logsigmoid")
def _logsigmoid(g: GraphWriter, call: Call, input: Ref) -> str:
    return str(g.add("Neg", g.add("Softplus", g.add("Neg", input))))


@rule("tanhshrink")
def _tanhshrink(g: GraphWriter, call: Call, input: Ref) -> str:
    return str(g.add("Sub", input, g.add("Tanh", input)))


@rule("softshrink", "hardshrink")
def _shrink(g: GraphWriter, call: Call, input: Ref, lambd: float = 0.5) -> str:
    bias = float(lambd) if call.name == "softshrink" else 0.0
    return str(g.add("Shrink", input, lambd=float(lambd), bias=bias))


@rule("threshold")
def _threshold(
    g: GraphWriter, call: Call, input: Ref, threshold: float, value: float, inplace: bool = False
) -> str:
    above = g.add("Greater", input, _scalar(threshold, input))
    return str(g.add("Where", above, input, _scalar(value, input)))


@rule("celu")
def _celu(g: GraphWriter, call: Call, input: Ref, alpha: float = 1.0, **rest: Any) -> str:
    below = g.add("Elu", g.add("Div", input, _scalar(alpha, input)))
    scaled = g.add("Mul", below, _scalar(alpha, input))
    return str(g.add("Where", g.add("Less", input, _scalar(0, input)), scaled, input))


@rule("softplus")
def _softplus(
    g: GraphWriter, call: Call, input: Ref, beta: float = 1, threshold: float = 20
) -> str:
    scaled = input if beta == 1 else g.add("Mul", input, _scalar(beta, input))
    smooth = g.add("Softplus", scaled)
    smooth = smooth if beta == 1 else g.add("Div", smooth, _scalar(beta, input))
    if threshold >= 20:  # a difference below float32's precision
        return str(smooth)
    linear = g.add("Greater", scaled, _scalar(threshold, input))
    return str(g.add("Where", linear, input, smooth))


@rule("rrelu")
def _rrelu(
    g: GraphWriter, call: Call, input: Ref, lower: float = 1 / 8, upper: float = 1 / 3,
    training: bool = False, **rest: Any,
) -> str:  # fmt: skip
    if training:
        raise g.error("draws random numbers: call model.eval() before the export")
    return str(g.add("LeakyRelu", input, alpha=(lower + upper) / 2))


@rule("isfinite")
def _isfinite(g: GraphWriter, call: Call, input: Ref) -> str:
    if input.dtype.kind != "f":
        return str(g.add("Equal", input, input))
    return str(g.add("Not", g.add("Or", g.add("IsInf", input), g.add("IsNaN", input))))


@rule("nan_to_num")
def _nan_to_num(
    g: GraphWriter, call: Call, input: Ref, nan: float | None = None, posinf: float | None = None,
    neginf: float | None = None,
) -> str:  # fmt: skip
    if input.dtype.kind != "f":
        return g.tensor(input)
    limits = numpy.finfo(input.dtype)
    result: Any = g.add("Where", g.add("IsNaN", input), _scalar(nan or 0, input), input)
    for sign, given, limit in ((1, posinf, limits.max), (-1, neginf, limits.min)):
        here = g.add("Equal", input, _scalar(sign * math.inf, input))
        value = limit if given is None else given
        result = g.add("Where", here, _scalar(value, input), result)
    return str(result)


@rule("addcmul", "addcdiv")
def _add_product(
    g: GraphWriter, call: Call, input: Ref, tensor1: Ref, tensor2: Ref, value: Any = 1
) -> str:
    dtype = call.results[0].dtype
    first, second = g.cast(tensor1, dtype), g.cast(tensor2, dtype)
    product = g.add("Mul" if call.name == "addcmul" else "Div", first, second)
    if value != 1:
        product = g.add("Mul", product, g.cast(value, dtype))
    return str(g.add("Add", g.cast(input, dtype), product))


@rule("lerp")
def _lerp(g: GraphWriter, call: Call, input: Ref, end: Any, weight: Any) -> str:
    distance = g.add("Sub", g.cast(end, input.dtype), input)
    return str(g.add("Add", input, g.add("Mul", g.cast(weight, input.dtype), distance)))


@rule("bitwise_and", "bitwise_or", "bitwise_xor")
def _bitwise(g: GraphWriter, call: Call, **arguments: Any) -> str:
    """Operators of bits, which opset 18 has for integers."""
    kind, dtype = call.name.removeprefix("bitwise_").capitalize(), call.results[0].dtype
    if dtype != numpy.bool_ and g.opset < 18:
        raise g.error("has no counterpart in ONNX for integers before opset 18")
    operator = kind if dtype == numpy.bool_ else f"Bitwise{kind}"
    return str(g.add(operator, *[g.cast(x, dtype) for x in operands(call, arguments)]))


@rule("bitwise_not")
def _bitwise_not(g: GraphWriter, call: Call, input: Ref) -> str:
    if input.dtype != numpy.bool_ and g.opset < 18:
        raise g.error("has no counterpart in ONNX for integers before opset 18")
    return str(g.add("Not" if input.dtype == numpy.bool_ else "BitwiseNot", input))


# -- reductions ------------------------------------------------------------------------------------


@rule("any", "all")
def _any(g: GraphWriter, call: Call, input: Ref, dim: Any = None, keepdim: bool = False) -> str:
    truth = g.cast(g.cast(input, numpy.dtype(bool)), numpy.dtype("int32"))
    if truth is input:  # int32 itself, whose values may be any
        truth = g.cast(g.add("Cast", input, to=g.type_of(bool)), numpy.dtype("int32"))
    operator = "ReduceMax" if call.name == "any" else "ReduceMin"
    result = _reduce(g, operator, g.name(truth), _axes(dim, input), keepdim)
    return g.name(g.cast(result, call.results[0].dtype))


@rule("count_nonzero")
def _count_nonzero(
    g: GraphWriter, call: Call, input: Ref, dim: Any = None, keepdim: bool = False
) -> str:
    counts = g.cast(g.add("Cast", input, to=g.type_of(bool)), numpy.dtype("int64"))
    return str(_reduce(g, "ReduceSum", counts, _axes(dim, input), keepdim))


@rule("logsumexp")
def _logsumexp(
    g: GraphWriter, call: Call, input: Ref, dim: Any = None, keepdim: bool = False
) -> str:
    """By the largest element, so that no exponential overflows."""
    axes = _axes(dim, input)
    largest = _reduce(g, "ReduceMax", input, axes, True)
    total = _reduce(g, "ReduceSum", g.add("Exp", g.add("Sub", input, largest)), axes, True)
    result = g.add("Add", g.add("Log", total), largest)
    if keepdim:
        return str(result)
    return str(g.add("Reshape", result, g.sizes(call.results[0].shape)))


@rule("var", "std", "var_mean", "std_mean")
def _variance(
    g: GraphWriter, call: Call, input: Ref, dim: Any = None, unbiased: Any = None,
    correction: Any = 1, keepdim: bool = False, **rest: Any,
) -> Any:  # fmt: skip
    if isinstance(dim, bool):  # var(unbiased)
        dim, unbiased = None, dim
    axes = _axes(dim, input) or list(range(len(input.shape)))
    sizes = [input.shape[axis] for axis in axes]
    correction = int(unbiased) if isinstance(unbiased, bool) else correction
    correction = 1 if correction is None else correction
    mean = _reduce(g, "ReduceMean", input, axes, True)
    difference = g.add("Sub", input, mean)
    squares = _reduce(g, "ReduceSum", g.add("Mul", difference, difference), axes, keepdim)
    if any(isinstance(size, Size) for size in sizes):
        count = g.add("ReduceProd", g.sizes(sizes), keepdims=0)
        degrees = g.add("Sub", g.cast(count, input.dtype), _scalar(correction, input))
    else:
        degrees = _scalar(math.prod(sizes) - correction, input)
    result = g.add("Div", squares, degrees)
    result = g.add("Sqrt", result) if call.name.startswith("std") else result
    if not call.name.endswith("mean"):
        return result
    return [result, _reduce(g, "ReduceMean", input, axes, keepdim)]


@rule("p_norm")
def _norm(
    g: GraphWriter, call: Call, input: Ref, p: float = 2.0, dim: Any = None, keepdim: bool = False,
    **rest: Any,
) -> str:  # fmt: skip
    axes = _axes(dim, input)
    if p in (1, 2):
        return str(_reduce(g, f"ReduceL{int(p)}", input, axes, keepdim))
    size = g.add("Abs", input)
    if math.isinf(p):
        return str(_reduce(g, "ReduceMax" if p > 0 else "ReduceMin", size, axes, keepdim))
    if p == 0:
        return str(_reduce(g, "ReduceSum", g.add("Sign", size), axes, keepdim))
    total = _reduce(g, "ReduceSum", g.add("Pow", size, _scalar(p, input)), axes, keepdim)
    return str(g.add("Pow", total, _scalar(1 / p, input)))


@rule("aminmax")
def _aminmax(
    g: GraphWriter, call: Call, input: Ref, dim: Any = None, keepdim: bool = False
) -> list[str]:
    return [_reduction(f"Reduce{kind}")(g, call, input, dim, keepdim) for kind in ("Min", "Max")]


@rule("_cosine")
def _cosine(
    g: GraphWriter, call: Call, x1: Ref, x2: Ref, dim: int = 1, eps: float = 1e-8, **rest: Any
) -> str:
    axes = [dim % len(call.results[0].shape + (1,)) - len(call.results[0].shape + (1,))]
    product = _reduce(g, "ReduceSum", g.add("Mul", x1, x2), axes, False)
    small = _scalar(eps, x1)
    lengths = [g.add("Max", _reduce(g, "ReduceL2", x, axes, False), small) for x in (x1, x2)]
    return str(g.add("Div", product, g.add("Mul", *lengths)))


# -- order and indices -----------------------------------------------------------------------------


@rule("sort", "argsort")
def _sort(
    g: GraphWriter, call: Call, input: Ref, dim: int = -1, descending: bool = False,
    stable: Any = None,
) -> Any:  # fmt: skip
    """By ``TopK`` of all elements, which keeps the order of equal ones."""
    axis = axis_of(dim, input)
    if not input.shape or input.dtype == numpy.bool_:
        raise g.error("of bools or a number has no counterpart in ONNX")
    found = g.add("TopK", input, g.size(input.shape[axis]), axis=axis, largest=int(descending),
                  sorted=1, outputs=2)  # fmt: skip
    return found if call.name == "sort" else found[1]


@rule("one_hot")
def _one_hot(g: GraphWriter, call: Call, tensor: Ref, num_classes: int = -1) -> str:
    if num_classes < 0:
        raise g.error("without num_classes has a size that depends on values")
    values = numpy.array([0, 1], "int64")
    return str(g.add("OneHot", tensor, numpy.array(num_classes, "int64"), values, axis=-1))


@rule("scatter", "scatter_add", "scatter_reduce")
def _scatter(
    g: GraphWriter, call: Call, input: Ref, dim: int, index: Ref, src: Any = None,
    reduce: str | None = None, include_self: bool = True, value: Any = None,
) -> str:  # fmt: skip
    names = {None: "none", "sum": "add", "add": "add", "prod": "mul", "multiply": "mul",
             "amax": "max", "amin": "min"}  # fmt: skip
    kind = "add" if call.name == "scatter_add" else names.get(reduce)
    if kind is None or not include_self or (kind in ("max", "min") and g.opset < 18):
        raise g.error(f"with reduce={reduce!r}, include_self={include_self} has no counterpart in "
                      f"ONNX's opset {g.opset}")  # fmt: skip
    source = value if src is None else src
    if not isinstance(source, Ref):
        source = g.add("Expand", g.cast(source, input.dtype), g.sizes(index.shape))
    elif tuple(source.shape) != tuple(index.shape):
        zeros = [0] * len(index.shape)
        axes = g.sizes(range(len(index.shape)))
        source = g.add("Slice", source, g.sizes(zeros), g.sizes(index.shape), axes)
    return str(g.add("ScatterElements", input, index, source, axis=axis_of(dim, input),
                     reduction=kind))  # fmt: skip


@rule("index_fill")
def _index_fill(g: GraphWriter, call: Call, input: Ref, dim: int, index: Ref, value: Any) -> str:
    axis = axis_of(dim, input)
    shape = [*input.shape]
    shape[axis] = index.shape[0] if index.shape else 1
    ones = [1] * len(shape)
    ones[axis] = -1
    where = g.add("Expand", g.add("Reshape", index, g.sizes(ones)), g.sizes(shape))
    fill = g.add("Expand", g.cast(value, input.dtype), g.sizes(shape))
    return str(g.add("ScatterElements", input, where, fill, axis=axis))


@rule("index_add")
def _index_add(
    g: GraphWriter, call: Call, input: Ref, dim: int, index: Ref, source: Ref, alpha: Any = 1
) -> str:
    axis, ones = axis_of(dim, input), [1] * len(input.shape)
    ones[axis] = -1
    where = g.add("Expand", g.add("Reshape", index, g.sizes(ones)), g.sizes(source.shape))
    added = source if alpha == 1 else g.add("Mul", source, _scalar(alpha, input))
    return str(g.add("ScatterElements", input, where, added, axis=axis, reduction="add"))


@rule("take_along_dim")
def _take_along_dim(
    g: GraphWriter, call: Call, input: Ref, indices: Ref, dim: int | None = None
) -> str:
    if dim is None:
        flat = [g.add("Reshape", x, g.sizes([-1])) for x in (input, indices)]
        return str(g.add("GatherElements", *flat, axis=0))
    sizes, wide = [*call.results[0].shape], [*call.results[0].shape]
    wide[axis_of(dim, input)] = input.shape[axis_of(dim, input)]
    parts = g.add("Expand", input, g.sizes(wide)), g.add("Expand", indices, g.sizes(sizes))
    return str(g.add("GatherElements", *parts, axis=axis_of(dim, input)))


@rule("repeat_interleave")
def _repeat_interleave(
    g: GraphWriter, call: Call, input: Ref, repeats: Any, dim: int | None = None, **rest: Any
) -> str:
    if not isinstance(repeats, int):
        raise g.error("with a tensor of repeats has no counterpart in ONNX")
    source: Any = input
    shape, axis = [*input.shape], 0 if dim is None else axis_of(dim, input)
    if dim is None:
        source, shape = g.add("Reshape", input, g.sizes([-1])), [call.results[0].shape[0]]
    inner = g.add("Unsqueeze", source, numpy.array([axis + 1], "int64"))
    counts = [1] * (len(shape) + 1)
    counts[axis + 1] = repeats
    tiled = g.add("Tile", inner, g.sizes(counts))
    shape[axis] = -1
    return str(g.add("Reshape", tiled, g.sizes(shape)))


@rule("roll")
def _roll(g: GraphWriter, call: Call, input: Ref, shifts: Any, dims: Any = None) -> str:
    """Two slices and their concatenation, for each dimension."""
    steps = [shifts] if isinstance(shifts, int) else [*shifts]
    if dims in (None, ()):
        flat = g.add("Reshape", input, g.sizes([-1]))
        size = math.prod(int(n) for n in input.shape)
        count = g.add("Size", input)
        count = g.add("Reshape", count, g.sizes([1]))
        if any(isinstance(n, Size) for n in input.shape):
            split = g.add("Mod", g.sizes([-steps[0]]), count)
        else:
            split = g.sizes([-steps[0] % max(size, 1)])
        return str(g.add("Reshape", _roll_one(g, flat, split, 0), g.shape_of(input)))
    result: Any = input
    for step, dim in zip(steps, [dims] if isinstance(dims, int) else dims, strict=True):
        axis = axis_of(dim, input)
        size = input.shape[axis]
        if isinstance(size, Size):
            split = g.add("Mod", g.sizes([-step]), g.size(size))
        else:
            split = g.sizes([-step % max(size, 1)])
        result = _roll_one(g, result, split, axis)
    return g.name(result)


def _roll_one(g: GraphWriter, source: Any, split: str, axis: int) -> Any:
    """Exchange the parts before and after ``split``."""
    where = g.sizes([axis])
    last = g.add("Slice", source, split, g.sizes([_END]), where)
    first = g.add("Slice", source, g.sizes([0]), split, where)
    return g.add("Concat", last, first, axis=axis)


@rule("flip")
def _flip(g: GraphWriter, call: Call, input: Ref, dims: Any = (), args: Any = ()) -> str:
    axes = _axes(dims, input) if not args else [axis_of(d, input) for d in args[1:]]
    axes = axes or []
    parts = [[-1] * len(axes), [_BEGIN] * len(axes), axes, [-1] * len(axes)]
    return str(g.add("Slice", input, *[g.sizes(part) for part in parts]))


@rule("diff")
def _diff(
    g: GraphWriter, call: Call, input: Ref, n: int = 1, dim: int = -1, prepend: Any = None,
    append: Any = None, **rest: Any,
) -> str:  # fmt: skip
    if prepend is not None or append is not None or input.dtype == numpy.bool_:
        raise g.error("of bools, with prepend or append has no counterpart in ONNX here")
    result, axis = g.tensor(input), g.sizes([axis_of(dim, input)])
    for _ in range(n):
        later = g.add("Slice", result, g.sizes([1]), g.sizes([_END]), axis)
        earlier = g.add("Slice", result, g.sizes([0]), g.sizes([-1]), axis)
        result = g.add("Sub", later, earlier)
    return result


@rule("eye")
def _eye(g: GraphWriter, call: Call, n: int, m: int | None = None, k: int = 0, **rest: Any) -> str:
    rows, columns = call.results[0].shape
    zero, one = numpy.array(0, "int64"), numpy.array(1, "int64")
    row = g.add("Range", zero, g.scalar_size(rows), one)
    column = g.add("Range", zero, g.scalar_size(columns), one)
    row = g.add("Unsqueeze", row, numpy.array([1], "int64"))
    here = g.add("Equal", g.add("Add", row, numpy.array(k, "int64")), column)
    return g.name(g.cast(here, call.results[0].dtype))


# -- products --------------------------------------------------------------------------------------


@rule("baddbmm")
def _baddbmm(
    g: GraphWriter, call: Call, input: Ref, batch1: Ref, batch2: Ref, beta: Any = 1, alpha: Any = 1
) -> str:
    product = g.add("MatMul", batch1, batch2)
    if alpha != 1:
        product = g.add("Mul", product, _scalar(alpha, batch1))
    if not beta:
        return str(product)
    scaled = input if beta == 1 else g.add("Mul", input, _scalar(beta, input))
    return str(g.add("Add", scaled, product))


@rule("outer", "ger")
def _outer(g: GraphWriter, call: Call, input: Ref, vec2: Ref) -> str:
    dtype = call.results[0].dtype
    column = g.add("Unsqueeze", g.cast(input, dtype), numpy.array([1], "int64"))
    return str(g.add("Mul", column, g.cast(vec2, dtype)))


@rule("tensordot")
def _tensordot(g: GraphWriter, call: Call, a: Ref, b: Ref, dims: Any = 2, **rest: Any) -> str:
    """As ``Einsum``: a letter for each dimension."""
    count = len(a.shape)
    if isinstance(dims, int):
        dims = range(count - dims, count), range(dims)
    left = "abcdefghijklm"[:count]
    right = [*"nopqrstuvwxyz"[: len(b.shape)]]
    pairs = zip(*[[d] if isinstance(d, int) else d for d in dims], strict=True)
    summed = ""
    for i, j in pairs:
        right[axis_of(j, b)] = left[axis_of(i, a)]
        summed += left[axis_of(i, a)]
    free = "".join(c for c in (*left, *right) if c not in summed)
    return str(g.add("Einsum", a, b, equation=f"{left},{''.join(right)}->{free}"))


@rule("_expand_along")
def _expand_along(g: GraphWriter, call: Call, input: Ref, at: int, shape: Any) -> str:
    """Part of ``meshgrid``: elements along one dimension, repeated along the others."""
    ones = [1] * len(call.results[0].shape)
    ones[at] = -1
    column = g.add("Reshape", input, g.sizes(ones))
    return str(g.add("Expand", column, g.sizes(call.results[0].shape)))


# -- images ----------------------------------------------------------------------------------------


@rule("glu")
def _glu(g: GraphWriter, call: Call, input: Ref, dim: int = -1) -> str:
    axis = axis_of(dim, input)
    half = call.results[0].shape[axis]
    first, second = g.add("Split", input, g.sizes([half, half]), axis=axis, outputs=2)
    return str(g.add("Mul", first, g.add("Sigmoid", second)))


def _rearrange(
    g: GraphWriter, input: Ref, parts: Sequence[int], perm: Sequence[int], result: Ref
) -> str:
    """Reshape the last three dimensions to ``parts``, permute these, and reshape to ``result``."""
    lead = len(input.shape) - 3
    split = g.add("Reshape", input, g.sizes([*input.shape[:lead], *parts]))
    order = [*range(lead), *(lead + i for i in perm)]
    moved = g.add("Transpose", split, perm=order)
    return str(g.add("Reshape", moved, g.sizes(result.shape)))


@rule("pixel_shuffle")
def _pixel_shuffle(g: GraphWriter, call: Call, input: Ref, upscale_factor: int) -> str:
    r, (c, h, w) = upscale_factor, input.shape[-3:]
    if len(input.shape) == 4:
        return str(g.add("DepthToSpace", input, blocksize=r, mode="CRD"))
    return _rearrange(g, input, [c // r**2, r, r, h, w], [0, 3, 1, 4, 2], call.results[0])


@rule("pixel_unshuffle")
def _pixel_unshuffle(g: GraphWriter, call: Call, input: Ref, downscale_factor: int) -> str:
    r, result = downscale_factor, call.results[0]
    h, w = result.shape[-2:]
    return _rearrange(g, input, [input.shape[-3], h, r, w, r], [0, 2, 4, 1, 3], result)


@rule("channel_shuffle")
def _channel_shuffle(g: GraphWriter, call: Call, input: Ref, groups: int) -> str:
    sizes = input.shape
    split = [sizes[0], groups, sizes[1] // groups, *sizes[2:]]
    order = [0, 2, 1, *range(3, len(split))]
    moved = g.add("Transpose", g.add("Reshape", input, g.sizes(split)), perm=order)
    return str(g.add("Reshape", moved, g.sizes(sizes)))


def _pairs(value: Any) -> list[int]:
    return [*value] if isinstance(value, (tuple, list)) else [value] * 2


def _window(g: GraphWriter, channels: int, kernel: Sequence[int], dtype: Any) -> Any:
    """Weights of a convolution by channel that copies each element of a window."""
    if isinstance(channels, Size):
        raise g.error("with a dynamic number of channels has no counterpart in ONNX")
    count = math.prod(kernel)
    one = numpy.eye(count, dtype=dtype).reshape(count, 1, *kernel)
    return numpy.tile(one, (channels, 1, 1, 1))


@rule("unfold")
def _unfold(
    g: GraphWriter, call: Call, input: Ref, kernel_size: Any = None, dilation: Any = 1,
    padding: Any = 0, stride: Any = 1, **rest: Any,
) -> str:  # fmt: skip
    """``nn.functional.unfold`` as a convolution whose kernels have a single one."""
    if len(input.shape) != 4 or kernel_size is None:  # Tensor.unfold, or no batch
        raise g.error("has no counterpart in ONNX but for a batch of images")
    kernel, channels = _pairs(kernel_size), input.shape[1]
    columns = g.add(
        "Conv", input, _window(g, channels, kernel, input.dtype), kernel_shape=kernel,
        group=channels, pads=_pairs(padding) * 2, strides=_pairs(stride),
        dilations=_pairs(dilation),
    )  # fmt: skip
    return str(g.add("Reshape", columns, g.sizes([0, channels * math.prod(kernel), -1])))


@rule("fold")
def _fold(
    g: GraphWriter, call: Call, input: Ref, output_size: Any, kernel_size: Any, dilation: Any = 1,
    padding: Any = 0, stride: Any = 1,
) -> str:  # fmt: skip
    """``nn.functional.fold`` as a transposed convolution whose kernels have a single one."""
    kernel, steps, pads = _pairs(kernel_size), _pairs(stride), _pairs(padding)
    gaps, sizes, result = _pairs(dilation), _pairs(output_size), call.results[0]
    if len(input.shape) != 3:
        raise g.error("without a batch has no counterpart in ONNX")
    spans = [(n + 2 * p - d * (k - 1) - 1, s)
             for n, k, s, p, d in zip(sizes, kernel, steps, pads, gaps, strict=True)]  # fmt: skip
    columns = [span // s + 1 for span, s in spans]
    image = g.add("Reshape", input, g.sizes([0, input.shape[1], *columns]))
    channels = result.shape[1]
    return str(g.add(
        "ConvTranspose", image, _window(g, channels, kernel, input.dtype), kernel_shape=kernel,
        group=channels, pads=pads * 2, strides=steps, dilations=gaps,
        output_padding=[span % s for span, s in spans],
    ))  # fmt: skip


@rule("local_response_norm")
def _local_response_norm(
    g: GraphWriter, call: Call, input: Ref, size: int, alpha: float = 1e-4, beta: float = 0.75,
    k: float = 1.0,
) -> str:  # fmt: skip
    if size % 2 == 0 or len(input.shape) != 4:
        raise g.error("with an even size, or of no images, has no counterpart in ONNX")
    return str(g.add("LRN", input, size=size, alpha=float(alpha), beta=float(beta), bias=float(k)))


@rule("grid_sample")
def _grid_sample(
    g: GraphWriter, call: Call, input: Ref, grid: Ref, mode: str = "bilinear",
    padding_mode: str = "zeros", align_corners: bool | None = None,
) -> str:  # fmt: skip
    modes = {"bilinear": "linear", "bicubic": "cubic"} if g.opset >= 20 else {}
    if len(input.shape) != 4:
        raise g.error("of volumes has no counterpart in ONNX here")
    corners = int(bool(align_corners))
    return str(g.add("GridSample", input, grid, mode=modes.get(mode, mode),
                     padding_mode=padding_mode, align_corners=corners))  # fmt: skip
