"""Rules of the export: the ONNX nodes of each operation on tensors.

A rule gets the graph, the call and its arguments by name, and returns the name of the result, or a
list of names. The operators are those of https://onnx.ai/onnx/operators/.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .export_graph import GraphWriter
from ..export.tracing import OperationCall as Call
from ..export.tracing import Size, Ref

Rule = Callable[..., Any]
#: Rules by the name of the operation.
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule for operations."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def axis_of(dim: int, ref: Ref) -> int:
    """Return a dimension as a nonnegative int."""
    return dim % max(len(ref.shape), 1)


def _axes(dim: Any, ref: Ref) -> list[int] | None:
    if dim is None or dim == ():
        return None
    return [axis_of(d, ref) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))]


def _sizes_from(first: Any, rest: Sequence[Any]) -> list[int]:
    """Return the sizes of ``f(2, 3)`` or ``f((2, 3))``."""
    return [*first] if isinstance(first, (tuple, list)) else [first, *rest]


def _as_many(value: Any, count: int) -> list[int]:
    return [*value] if isinstance(value, (tuple, list)) else [value] * count


# -- elementwise -----------------------------------------------------------------------------------

#: Operations that are one operator on a floating-point tensor.
UNARY = {
    "abs": "Abs", "acos": "Acos", "acosh": "Acosh", "asin": "Asin", "asinh": "Asinh",
    "atan": "Atan", "atanh": "Atanh", "cos": "Cos", "cosh": "Cosh", "erf": "Erf",
    "exp": "Exp", "hardswish": "HardSwish", "isinf": "IsInf", "isnan": "IsNaN",
    "log": "Log", "mish": "Mish",
    "neg": "Neg", "reciprocal": "Reciprocal",
    "sigmoid": "Sigmoid", "sign": "Sign", "sin": "Sin", "sinh": "Sinh", "softsign": "Softsign",
    "sqrt": "Sqrt", "tan": "Tan", "tanh": "Tanh",
}  # fmt: skip
#: Operations on two operands in the dtype of the result.
BINARY = {"mul": "Mul", "maximum": "Max", "minimum": "Min", "pow": "Pow", "fmod": "Mod"}
COMPARISONS = {
    "eq": "Equal", "gt": "Greater", "ge": "GreaterOrEqual", "lt": "Less", "le": "LessOrEqual",
}  # fmt: skip
LOGICAL = {"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor"}


def _unary(operator: str) -> Rule:
    def apply(g: GraphWriter, call: Call, input: Ref, inplace: bool = False, **rest: Any) -> str:
        for name, value in rest.items():
            if value:
                raise g.error(f"with {name}={value!r} has no counterpart in ONNX")
        dtype = input.dtype if operator.startswith("Is") else call.results[0].dtype
        return str(g.add(operator, g.cast(input, dtype)))

    return apply


def operands(call: Call, arguments: dict[str, Any]) -> list[Any]:
    """Return the first two arguments of a call."""
    return list(arguments.values())[:2]


def _binary(operator: str) -> Rule:
    def apply(g: GraphWriter, call: Call, **arguments: Any) -> str:
        dtype = call.results[0].dtype
        extra = {"fmod": 1} if operator == "Mod" else {}
        return str(g.add(operator, *[g.cast(x, dtype) for x in operands(call, arguments)], **extra))

    return apply


def common_dtype(items: Sequence[Any]) -> Any:
    """Return the dtype in which operands are compared."""
    arrays = [item.dtype for item in items if isinstance(item, Ref)]
    numbers = [item for item in items if not isinstance(item, Ref)]
    dtype = numpy.result_type(*arrays)
    if any(isinstance(n, float) for n in numbers) and dtype.kind in "iub":
        return numpy.dtype("float32")
    return numpy.dtype("int64") if dtype.kind == "b" and numbers else dtype


def _comparison(operator: str) -> Rule:
    def apply(g: GraphWriter, call: Call, **arguments: Any) -> str:
        items = operands(call, arguments)
        dtype = common_dtype(items)
        return str(g.add(operator, *[g.cast(x, dtype) for x in items]))

    return apply


def _logical(operator: str) -> Rule:
    def apply(g: GraphWriter, call: Call, **arguments: Any) -> str:
        return str(g.add(operator, *[g.cast(x, numpy.bool_) for x in operands(call, arguments)]))

    return apply


for _table, _make in ((UNARY, _unary), (BINARY, _binary), (COMPARISONS, _comparison),
                      (LOGICAL, _logical)):  # fmt: skip
    for _name, _operator in _table.items():
        RULES[_name] = _make(_operator)


@rule("ne", "not_equal")
def _not_equal(g: GraphWriter, call: Call, **arguments: Any) -> str:
    return str(g.add("Not", _comparison("Equal")(g, call, **arguments)))


@rule("logical_not")
def _logical_not(g: GraphWriter, call: Call, input: Ref) -> str:
    return str(g.add("Not", g.cast(input, numpy.bool_)))


@rule("add", "sub", "rsub")
def _sum(g: GraphWriter, call: Call, alpha: Any = 1, **arguments: Any) -> str:
    dtype, (first, second) = call.results[0].dtype, operands(call, arguments)
    if call.name.strip("_") == "rsub":
        first, second = second, first
    second = g.cast(second, dtype)
    if alpha != 1:
        second = g.add("Mul", second, g.cast(alpha, dtype))
    operator = "Add" if call.name.strip("_") == "add" else "Sub"
    return str(g.add(operator, g.cast(first, dtype), second))


@rule("div", "true_divide")
def _quotient(g: GraphWriter, call: Call, rounding_mode: Any = None, **arguments: Any) -> str:
    dtype = call.results[0].dtype
    if rounding_mode == "floor" and dtype.kind in "iu":
        return str(_floor_divide(g, call, **arguments))
    result = g.add("Div", *[g.cast(x, dtype) for x in operands(call, arguments)])
    if rounding_mode == "trunc" and dtype.kind == "f":
        return str(g.add("Mul", g.add("Sign", result), g.add("Floor", g.add("Abs", result))))
    return str(g.add("Floor", result) if rounding_mode == "floor" else result)


@rule("floor_divide", "remainder")
def _floor_divide(g: GraphWriter, call: Call, **arguments: Any) -> str:
    """By the remainder with the sign of the divisor, which ONNX has for integers alone."""
    dtype = call.results[0].dtype
    first, second = [g.name(g.cast(x, dtype)) for x in operands(call, arguments)]
    if dtype.kind == "f":
        quotient = g.add("Floor", g.add("Div", first, second))
        if not call.name.startswith("remainder"):
            return str(quotient)
        return str(g.add("Sub", first, g.add("Mul", quotient, second)))
    rest = g.add("Mod", first, second)
    if call.name.startswith("remainder"):
        return str(rest)
    return str(g.add("Div", g.add("Sub", first, rest), second))


@rule("rsqrt")
def _rsqrt(g: GraphWriter, call: Call, input: Ref) -> str:
    return str(g.add("Reciprocal", g.add("Sqrt", g.cast(input, call.results[0].dtype))))


@rule("square")
def _square(g: GraphWriter, call: Call, input: Ref) -> str:
    return str(g.add("Mul", input, input))


@rule("log1p")
def _log1p(g: GraphWriter, call: Call, input: Ref) -> str:
    return str(g.add("Log", g.add("Add", input, numpy.array(1, input.dtype))))


@rule("expm1")
def _expm1(g: GraphWriter, call: Call, input: Ref) -> str:
    return str(g.add("Sub", g.add("Exp", input), numpy.array(1, input.dtype)))


@rule("where")
def _where(g: GraphWriter, call: Call, condition: Ref, **arguments: Any) -> str:
    chosen = [g.cast(x, call.results[0].dtype) for x in operands(call, arguments)]
    return str(g.add("Where", condition, *chosen))


@rule("masked_fill")
def _masked_fill(g: GraphWriter, call: Call, input: Ref, mask: Ref, value: Any) -> str:
    return str(g.add("Where", mask, g.cast(value, input.dtype), input))


@rule("clamp", "clip", "hardtanh")
def _clamp(g: GraphWriter, call: Call, input: Ref, **bounds: Any) -> str:
    defaults = (-1.0, 1.0) if call.name.startswith("hardtanh") else (None, None)
    low, high = (
        next((bounds[key] for key in keys if bounds.get(key) is not None), default)
        for keys, default in zip((("min", "min_val"), ("max", "max_val")), defaults, strict=True)
    )
    result, dtype = g.cast(input, call.results[0].dtype), call.results[0].dtype
    parts = [None if x is None else g.cast(x, dtype) for x in (low, high)]
    if not any(isinstance(x, Ref) for x in (low, high)):
        return str(g.add("Clip", result, *parts))
    for operator, part in zip(("Max", "Min"), parts, strict=True):  # bounds that broadcast
        result = result if part is None else g.add(operator, result, part)
    return g.name(result)


@rule("relu6")
def _relu6(g: GraphWriter, call: Call, input: Ref, **rest: Any) -> str:
    return str(g.add("Clip", input, numpy.array(0, input.dtype), numpy.array(6, input.dtype)))


@rule("silu")
def _silu(g: GraphWriter, call: Call, input: Ref, **rest: Any) -> str:
    return str(g.add("Mul", input, g.add("Sigmoid", input)))


@rule("gelu")
def _gelu(g: GraphWriter, call: Call, input: Ref, approximate: str = "none") -> str:
    if g.opset >= 20:
        return str(g.add("Gelu", input, approximate=approximate))
    one, half = numpy.array(1, input.dtype), numpy.array(0.5, input.dtype)
    if approximate == "none":
        part = g.add("Erf", g.add("Mul", input, numpy.array(math.sqrt(0.5), input.dtype)))
    else:
        cube = g.add("Mul", g.add("Mul", input, input), input)
        inner = g.add("Add", input, g.add("Mul", cube, numpy.array(0.044715, input.dtype)))
        scale = numpy.array(math.sqrt(2 / math.pi), input.dtype)
        part = g.add("Tanh", g.add("Mul", inner, scale))
    return str(g.add("Mul", g.add("Mul", input, half), g.add("Add", part, one)))


@rule("leaky_relu")
def _leaky_relu(
    g: GraphWriter, call: Call, input: Ref, negative_slope: float = 0.01, **rest: Any
) -> str:
    return str(g.add("LeakyRelu", input, alpha=float(negative_slope)))


@rule("elu")
def _elu(g: GraphWriter, call: Call, input: Ref, alpha: float = 1.0, **rest: Any) -> str:
    return str(g.add("Elu", input, alpha=float(alpha)))


@rule("selu")
def _selu(g: GraphWriter, call: Call, input: Ref, **rest: Any) -> str:
    return str(g.add("Selu", input))


@rule("hardsigmoid")
def _hardsigmoid(g: GraphWriter, call: Call, input: Ref, **rest: Any) -> str:
    return str(g.add("HardSigmoid", input, alpha=1 / 6, beta=0.5))


@rule("prelu")
def _prelu(g: GraphWriter, call: Call, input: Ref, weight: Ref) -> str:
    count = max(len(input.shape) - 2, 0)
    slope = g.add("Reshape", weight, g.sizes([*weight.shape, *[1] * count]))
    return str(g.add("PRelu", input, slope))


@rule("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_dropout")
def _dropout(g: GraphWriter, call: Call, input: Ref, **rest: Any) -> str:
    if rest.get("training", True) and rest.get("p", 0.5):
        raise g.error("draws random numbers: call model.eval() before the export")
    return g.tensor(input)


@rule("contiguous", "clone", "detach", "alias", "positive", "expand_copy", "requires_grad_")
def _same(g: GraphWriter, call: Call, input: Ref, **rest: Any) -> str:
    return g.tensor(input)


@rule("_to_dtype", "to", "type_as", "float", "double", "half", "long", "int", "bool")
def _cast(g: GraphWriter, call: Call, input: Ref, **rest: Any) -> str:
    return g.name(g.cast(input, call.results[0].dtype))


# -- products --------------------------------------------------------------------------------------


@rule("linear")
def _linear(g: GraphWriter, call: Call, input: Ref, weight: Ref, bias: Ref | None = None) -> str:
    if len(input.shape) == 2:
        return str(g.add("Gemm", input, weight, *([] if bias is None else [bias]), transB=1))
    result = g.add("MatMul", input, g.add("Transpose", weight))
    return str(result if bias is None else g.add("Add", result, bias))


@rule("matmul", "mm", "bmm", "mv", "dot", "__matmul__", "linalg.matmul")
def _matmul(g: GraphWriter, call: Call, **arguments: Any) -> str:
    return str(g.add("MatMul", *operands(call, arguments)))


@rule("addmm")
def _addmm(
    g: GraphWriter,
    call: Call,
    input: Ref,
    mat1: Ref,
    mat2: Ref,
    beta: Any = 1,
    alpha: Any = 1,
) -> str:
    return str(g.add("Gemm", mat1, mat2, input, alpha=float(alpha), beta=float(beta)))


@rule("einsum")
def _einsum(g: GraphWriter, call: Call, **arguments: Any) -> str:
    found: list[Any] = []
    for each in arguments.values():
        found.extend(each if isinstance(each, (tuple, list)) else [each])
    equation = next(item for item in found if isinstance(item, str))
    items = [item for item in found if isinstance(item, Ref)]
    return str(g.add("Einsum", *items, equation=equation))


@rule("scaled_dot_product_attention")
def _attention(
    g: GraphWriter, call: Call, query: Ref, key: Ref, value: Ref, attn_mask: Ref | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
    enable_gqa: bool = False,
) -> str:  # fmt: skip
    if dropout_p or enable_gqa:
        raise g.error("with dropout or grouped queries has no counterpart in ONNX")
    ndim, dtype = len(key.shape), query.dtype
    if scale is None and isinstance(query.shape[-1], Size):
        raise g.error("needs a fixed number of features")
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    swapped = g.add("Transpose", key, perm=[*range(ndim - 2), ndim - 1, ndim - 2])
    scores = g.add("MatMul", g.add("Mul", query, numpy.array(factor, dtype)), swapped)
    if is_causal:
        shape = g.sizes([query.shape[-2], key.shape[-2]])
        ones = g.add("Expand", numpy.array(True), shape)
        attn_mask = g.add("Trilu", g.add("Cast", ones, to=g.type_of("int64")), upper=0)
        scores = g.add("Where", g.cast(attn_mask, numpy.bool_), scores, _minus_infinity(dtype))
    elif attn_mask is not None and attn_mask.dtype == numpy.bool_:
        scores = g.add("Where", attn_mask, scores, _minus_infinity(dtype))
    elif attn_mask is not None:
        scores = g.add("Add", scores, attn_mask)
    return str(g.add("MatMul", g.add("Softmax", scores, axis=-1), value))


def _minus_infinity(dtype: Any) -> Any:
    return numpy.array(-numpy.inf, dtype)


@rule("attention_weights")
def _attention_weights(
    g: GraphWriter, call: Call, query: Ref, key: Ref, mask: Ref | None = None,
    scale: float | None = None, *rest: Any, **more: Any,
) -> str:  # fmt: skip
    raise g.error("has no counterpart in ONNX in this form")


# -- shapes ----------------------------------------------------------------------------------------


@rule("reshape", "view", "_view", "unflatten", "flatten", "squeeze", "unsqueeze", "view_as",
      "reshape_as", "ravel")  # fmt: skip
def _reshape(g: GraphWriter, call: Call, input: Ref, **rest: Any) -> str:
    """A reshape to the shape of the result, in which one size may be unknown."""
    shape = list(call.results[0].shape)
    unknown = [i for i, size in enumerate(shape) if isinstance(size, Size) and size.terms is None]
    if len(unknown) > 1:
        raise g.error("has two sizes that are no sums of multiples of the inputs' sizes")
    dynamic = [i for i, size in enumerate(shape) if isinstance(size, Size)]
    for i in unknown or (dynamic if len(dynamic) == 1 else []):
        if 0 not in shape:
            shape[i] = -1
    return str(g.add("Reshape", input, g.sizes(shape)))


@rule("transpose", "swapaxes", "t", "mT", "T", "adjoint")
def _transpose(g: GraphWriter, call: Call, input: Ref, **rest: Any) -> str:
    perm = list(range(len(input.shape)))
    if len(perm) < 2:
        return g.tensor(input)
    i, j = (axis_of(d, input) for d in (list(rest.values()) or [-2, -1]))
    perm[i], perm[j] = perm[j], perm[i]
    return str(g.add("Transpose", input, perm=perm))


@rule("permute")
def _permute(g: GraphWriter, call: Call, input: Ref, dims: Any = (), args: Any = ()) -> str:
    perm = [axis_of(d, input) for d in _sizes_from(dims, args[1:] if args else ())]
    return str(g.add("Transpose", input, perm=perm))


@rule("movedim")
def _movedim(g: GraphWriter, call: Call, input: Ref, source: Any, destination: Any) -> str:
    sources, targets = _axes(source, input) or [], _axes(destination, input) or []
    perm = [d for d in range(len(input.shape)) if d not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        perm.insert(target, origin)
    return str(g.add("Transpose", input, perm=perm))


@rule("expand", "expand_as", "broadcast_to")
def _expand(g: GraphWriter, call: Call, input: Ref, **rest: Any) -> str:
    return str(g.add("Expand", input, g.sizes(call.results[0].shape)))


@rule("repeat", "tile")
def _repeat(g: GraphWriter, call: Call, input: Ref, **rest: Any) -> str:
    first, *more = rest.values()
    counts = _sizes_from(first, more[0][1:] if more and isinstance(more[0], tuple) else more)
    lead = max(len(counts) - len(input.shape), 0)
    counts = [1] * (len(input.shape) - len(counts)) + counts
    source: Any = input
    if lead:
        source = g.add("Reshape", input, g.sizes([*[1] * lead, *input.shape]))
    return str(g.add("Tile", source, g.sizes(counts)))


@rule("cat", "concat", "concatenate")
def _cat(g: GraphWriter, call: Call, tensors: Sequence[Ref], dim: int = 0) -> str:
    dtype = call.results[0].dtype
    used = [t for t in tensors if t.shape != (0,)]
    return str(g.add("Concat", *[g.cast(t, dtype) for t in used], axis=axis_of(dim, used[0])))


@rule("stack")
def _stack(g: GraphWriter, call: Call, tensors: Sequence[Ref], dim: int = 0) -> str:
    axis = axis_of(dim, call.results[0])
    dtype, where = call.results[0].dtype, numpy.array([axis], "int64")
    return str(g.add("Concat", *[g.add("Unsqueeze", g.cast(t, dtype), where) for t in tensors],
                     axis=axis))  # fmt: skip


@rule("chunk", "split", "tensor_split", "split_with_sizes")
def _split(g: GraphWriter, call: Call, dim: int = 0, **arguments: Any) -> Any:
    input = next(iter(arguments.values()))
    axis = axis_of(dim, input)
    sizes = [result.shape[axis] for result in call.results]
    if len(sizes) == 1:
        return [g.tensor(input)]
    return g.add("Split", input, g.sizes(sizes), axis=axis, outputs=len(sizes))


@rule("unbind")
def _unbind(g: GraphWriter, call: Call, input: Ref, dim: int = 0) -> list[str]:
    axis = axis_of(dim, input)
    return [g.add("Gather", input, numpy.array(i), axis=axis) for i in range(len(call.results))]


@rule("select")
def _select(g: GraphWriter, call: Call, input: Ref, dim: int, index: int) -> str:
    return str(g.add("Gather", input, g.scalar_size(index), axis=axis_of(dim, input)))


@rule("narrow")
def _narrow(g: GraphWriter, call: Call, input: Ref, dim: int, start: int, length: int) -> str:
    stop = g.add("Add", g.size(start), g.size(length))
    return str(g.add("Slice", input, g.size(start), stop, g.sizes([axis_of(dim, input)])))


@rule("_getitem", "getitem", "__getitem__")
def _getitem(g: GraphWriter, call: Call, input: Ref, **arguments: Any) -> str:
    """Slices, integers, None and tensors of integers, in this order of nodes."""
    return g.name(_take(g, call, input, len(input.shape), next(iter(arguments.values()))))


def _take(g: GraphWriter, call: Call, source: Any, rank: int, index: Any) -> Any:
    """Index a tensor of ``rank`` dimensions."""
    key = list(index) if isinstance(index, tuple) else [index]
    tables = [k for k in key if isinstance(k, Ref) and len(k.shape) != 1]
    if any(isinstance(k, bool) for k in key) or (tables and None in key[key.index(tables[0]) :]):
        raise g.error("with a bool, or None after a tensor of indices, has no counterpart in ONNX")
    missing = rank - sum(k is not None and k is not Ellipsis for k in key)
    at = next((i for i, k in enumerate(key) if k is Ellipsis), None)
    if at is None:
        key.append(Ellipsis)
        at = len(key) - 1
    key[at : at + 1] = [slice(None)] * missing
    dims = [k for k in key if k is not None]
    result = _slice(g, source, dims)
    tensors = [k for k in dims if isinstance(k, Ref)]
    if tensors and len(tensors) + sum(isinstance(k, int) for k in dims) > 1:
        if None in key:
            raise g.error("with several indices and None has no counterpart in ONNX here")
        return _gather_several(g, result, dims)
    for axis in reversed(range(len(dims))):
        if isinstance(dims[axis], (int, Ref)):
            result = _gather_one(g, call, result, dims, axis)
    new = [i for i, k in enumerate([k for k in key if not isinstance(k, int)]) if k is None]
    if new:
        result = g.add("Unsqueeze", result, numpy.array(new, "int64"))
    return result


@rule("_setitem_")
def _setitem(g: GraphWriter, call: Call, **arguments: Any) -> str:
    """Assign to the elements whose positions the same index chooses."""
    input, key, value = call.args
    if isinstance(key, Ref) and key.dtype == numpy.bool_:
        return _assign_to_mask(g, input, key, value)
    flat = g.add("Reshape", input, g.sizes([-1]))
    zero, one = numpy.array(0, "int64"), numpy.array(1, "int64")
    count = g.add("Squeeze", g.add("Shape", flat))
    positions = g.add("Reshape", g.add("Range", zero, count, one), g.shape_of(input))
    chosen = _take(g, call, positions, len(input.shape), key)
    values = g.add("Expand", g.cast(value, input.dtype), g.add("Shape", chosen))
    parts = [g.add("Reshape", each, g.sizes([-1])) for each in (chosen, values)]
    written = g.add("ScatterElements", flat, *parts, axis=0)
    return str(g.add("Reshape", written, g.shape_of(input)))


def _assign_to_mask(g: GraphWriter, input: Ref, mask: Ref, value: Any) -> str:
    if isinstance(value, Ref) and value.shape:
        raise g.error("with a mask and several values has no counterpart in ONNX")
    more = range(len(mask.shape), len(input.shape))
    where = g.add("Unsqueeze", mask, g.sizes(more)) if len(more) else mask
    return str(g.add("Where", where, g.cast(value, input.dtype), input))


def _slice(g: GraphWriter, input: Any, dims: list[Any]) -> Any:
    """Apply the slices of a key."""
    found = [(axis, k) for axis, k in enumerate(dims) if isinstance(k, slice) and k != slice(None)]
    if not found:
        return input
    starts = [0 if k.start is None else k.start for _, k in found]
    stops = [2**62 if k.stop is None else k.stop for _, k in found]
    steps = [1 if k.step is None else k.step for _, k in found]
    parts = [starts, stops, [axis for axis, _ in found], steps]
    return g.add("Slice", input, *[g.sizes(part) for part in parts])


def _gather_one(g: GraphWriter, call: Call, result: Any, dims: list[Any], axis: int) -> Any:
    """Apply an integer, or a tensor of integers, of a key."""
    item = dims[axis]
    if isinstance(item, int):
        return g.add("Gather", result, g.scalar_size(item), axis=axis)
    if item.dtype == numpy.bool_:
        raise g.error("with a mask as index has a size that depends on values")
    return g.add("Gather", result, item, axis=axis)


def _gather_several(g: GraphWriter, source: Any, dims: list[Any]) -> Any:
    """Index with several tensors or integers, after the slices of the key.

    Args:
        g: The graph.
        source: The sliced tensor.
        dims: The key, an item for each dimension of ``source``.
    """
    places = [i for i, item in enumerate(dims) if isinstance(item, (Ref, int))]
    rest = [i for i in range(len(dims)) if i not in places]
    items = [dims[i] for i in places]
    if any(isinstance(i, Ref) and i.dtype == numpy.bool_ for i in items):
        raise g.error("with a mask as index has a size that depends on values")
    shapes = [item.shape for item in items if isinstance(item, Ref)]
    rank = max(len(shape) for shape in shapes)
    # The sum has the shape to which all are broadcast.
    total: Any = None
    parts = [g.cast(item, numpy.dtype("int64")) if isinstance(item, Ref) else g.scalar_size(item)
             for item in items]  # fmt: skip
    for part in parts:
        total = part if total is None else g.add("Add", total, part)
    shape = g.add("Shape", total)
    wide = [g.add("Unsqueeze", g.add("Expand", part, shape), numpy.array([rank], "int64"))
            for part in parts]  # fmt: skip
    front = g.add("Transpose", source, perm=[*places, *rest])
    found = g.add("GatherND", front, g.add("Concat", *wide, axis=rank))
    adjacent = places == list(range(places[0], places[-1] + 1))
    if not adjacent or not places[0]:
        return found
    before = [rank + i for i in range(places[0])]
    after = [rank + i for i in range(places[0], len(rest))]
    return g.add("Transpose", found, perm=[*before, *range(rank), *after])


@rule("index_select")
def _index_select(g: GraphWriter, call: Call, input: Ref, dim: int, index: Ref) -> str:
    return str(g.add("Gather", input, index, axis=axis_of(dim, input)))


@rule("gather")
def _gather(g: GraphWriter, call: Call, input: Ref, dim: int, index: Ref, **rest: Any) -> str:
    return str(g.add("GatherElements", input, index, axis=axis_of(dim, input)))


@rule("embedding", "_embedding")
def _embedding(g: GraphWriter, call: Call, input: Ref, weight: Ref, **rest: Any) -> str:
    return str(g.add("Gather", weight, input))


@rule("triu", "tril")
def _triangle(g: GraphWriter, call: Call, input: Ref, diagonal: int = 0) -> str:
    upper = int(call.name.startswith("triu"))
    source: Any = input
    if input.dtype == numpy.bool_:
        source = g.cast(input, numpy.dtype("int64"))
    result = g.add("Trilu", source, g.scalar_size(diagonal), upper=upper)
    return str(result if input.dtype != numpy.bool_ else g.cast(result, numpy.bool_))


@rule("pad")
def _pad(
    g: GraphWriter, call: Call, input: Ref, pad: Sequence[int], mode: str = "constant",
    value: Any = None,
) -> str:  # fmt: skip
    modes = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    before = [0] * len(input.shape)
    after = list(before)
    for i in range(len(pad) // 2):
        before[-1 - i], after[-1 - i] = pad[2 * i], pad[2 * i + 1]
    fill = numpy.array(0 if value is None else value, input.dtype) if mode == "constant" else None
    return str(g.add("Pad", input, g.sizes([*before, *after]), fill, mode=modes[mode]))


# -- new tensors -----------------------------------------------------------------------------------


@rule("zeros", "ones", "full", "new_zeros", "new_ones", "new_full", "zeros_like", "ones_like",
      "full_like", "new_empty", "empty", "empty_like")  # fmt: skip
def _full(g: GraphWriter, call: Call, **arguments: Any) -> str:
    result = call.results[0]
    value = 1 if "ones" in call.name else 0
    if "full" in call.name:
        items = [*arguments.items()]
        value = arguments.get("fill_value", items[-1][1] if items else 0)
    return str(g.add("Expand", g.cast(value, result.dtype), g.sizes(result.shape)))


@rule("arange")
def _arange(g: GraphWriter, call: Call, **arguments: Any) -> str:
    result, given = call.results[0], arguments.values()
    bounds = [v for v in given if isinstance(v, (int, float)) and v.__class__ is not bool]
    bounds = [0, *bounds] if len(bounds) == 1 else bounds
    bounds = [*bounds, 1] if len(bounds) == 2 else bounds
    return str(g.add("Range", *[g.cast(b, result.dtype) for b in bounds]))


# -- reductions ------------------------------------------------------------------------------------


def _reduction(operator: str) -> Rule:
    def apply(
        g: GraphWriter,
        call: Call,
        input: Ref,
        dim: Any = None,
        keepdim: bool = False,
        **rest: Any,
    ) -> str:
        axes = _axes(dim, input)
        names = [] if axes is None else [numpy.array(axes, "int64")]
        source = g.cast(input, call.results[0].dtype)
        if operator in ("ReduceMax", "ReduceMin", "ReduceProd", "ReduceMean") and g.opset < 18:
            return str(g.add(operator, source, axes=axes, keepdims=int(keepdim)))
        return str(g.add(operator, source, *names, keepdims=int(keepdim)))

    return apply


for _name, _operator in (("sum", "ReduceSum"), ("mean", "ReduceMean"), ("prod", "ReduceProd"),
                         ("amax", "ReduceMax"), ("amin", "ReduceMin")):  # fmt: skip
    RULES[_name] = _reduction(_operator)


@rule("max", "min")
def _extreme(
    g: GraphWriter,
    call: Call,
    input: Ref,
    dim: Any = None,
    keepdim: bool = False,
    **rest: Any,
) -> Any:
    if isinstance(dim, Ref):
        return _binary(BINARY[call.name + "imum"])(g, call, input=input, other=dim)
    operator = "Reduce" + call.name.capitalize()
    value = _reduction(operator)(g, call, input, dim, keepdim)
    if dim is None:
        return value
    index = g.add("Arg" + call.name.capitalize(), input, axis=axis_of(dim, input),
                  keepdims=int(keepdim))  # fmt: skip
    return [value, index]


@rule("argmax", "argmin")
def _argument(
    g: GraphWriter, call: Call, input: Ref, dim: int | None = None, keepdim: bool = False
) -> str:
    source: Any = input
    if dim is None:
        source, dim = g.add("Reshape", input, g.sizes([-1])), 0
        if keepdim:
            raise g.error("with keepdim and without dim has no counterpart in ONNX")
        return str(g.add(f"Arg{call.name[3:].capitalize()}", source, axis=0, keepdims=0))
    operator = f"Arg{call.name[3:].capitalize()}"
    return str(g.add(operator, source, axis=axis_of(dim, input), keepdims=int(keepdim)))


@rule("cumsum")
def _cumsum(g: GraphWriter, call: Call, input: Ref, dim: int, **rest: Any) -> str:
    source = g.cast(input, call.results[0].dtype)
    return str(g.add("CumSum", source, numpy.array(axis_of(dim, input), "int64")))


@rule("topk")
def _topk(
    g: GraphWriter, call: Call, input: Ref, k: int, dim: int = -1, largest: bool = True,
    sorted: bool = True,
) -> Any:  # fmt: skip
    return g.add("TopK", input, g.size(k), axis=axis_of(dim, input), largest=int(largest),
                 sorted=1, outputs=2)  # fmt: skip


@rule("softmax", "log_softmax")
def _softmax(g: GraphWriter, call: Call, input: Ref, dim: int = -1, **rest: Any) -> str:
    operator = "LogSoftmax" if call.name == "log_softmax" else "Softmax"
    return str(g.add(operator, g.cast(input, call.results[0].dtype), axis=axis_of(dim, input)))
