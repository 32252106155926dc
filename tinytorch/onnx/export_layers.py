"""Rules of the export for convolutions, pooling, normalization, resizing and recurrent layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .export_graph import GraphWriter
from .export_rules import _as_many, rule
from ..export.tracing import OperationCall as Call
from ..export.tracing import Size, Ref

# -- convolution -----------------------------------------------------------------------------------


def _spatial(input: Ref, name: str) -> int:
    """Number of spatial dimensions of an operation such as ``conv2d``."""
    return int(name.rstrip("_")[-2])


def _add_batch(g: GraphWriter, input: Ref, spatial: int) -> tuple[Any, bool]:
    """Return the input with a batch dimension, and whether it had one."""
    if len(input.shape) == spatial + 2:
        return input, True
    return g.add("Unsqueeze", input, numpy.array([0], "int64")), False


def _drop_batch(g: GraphWriter, result: Any, had_batch: bool) -> str:
    return str(result if had_batch else g.add("Squeeze", result, numpy.array([0], "int64")))


def _pads(padding: Any, spatial: int, kernel: Any = 1, dilation: Any = 1) -> dict[str, Any]:
    """Return the attribute of pads; ``"same"`` puts the odd one at the end."""
    if padding == "same":
        sizes = zip(_as_many(kernel, spatial), _as_many(dilation, spatial), strict=True)
        totals = [d * (k - 1) for k, d in sizes]
        return {"pads": [*(n // 2 for n in totals), *(n - n // 2 for n in totals)]}
    return {"pads": [*_as_many(0 if padding == "valid" else padding, spatial)] * 2}


@rule("conv1d", "conv2d", "conv3d")
def _conv(
    g: GraphWriter, call: Call, input: Ref, weight: Ref, bias: Ref | None = None, stride: Any = 1,
    padding: Any = 0, dilation: Any = 1, groups: int = 1,
) -> str:  # fmt: skip
    spatial = _spatial(input, call.name)
    source, had_batch = _add_batch(g, input, spatial)
    result = g.add(
        "Conv", source, weight, *([] if bias is None else [bias]),
        strides=_as_many(stride, spatial), dilations=_as_many(dilation, spatial), group=groups,
        kernel_shape=list(weight.shape[2:]),
        **_pads(padding, spatial, list(weight.shape[2:]), dilation),
    )  # fmt: skip
    return _drop_batch(g, result, had_batch)


@rule("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def _conv_transpose(
    g: GraphWriter, call: Call, input: Ref, weight: Ref, bias: Ref | None = None, stride: Any = 1,
    padding: Any = 0, output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> str:  # fmt: skip
    spatial = _spatial(input, call.name)
    source, had_batch = _add_batch(g, input, spatial)
    result = g.add(
        "ConvTranspose", source, weight, *([] if bias is None else [bias]),
        strides=_as_many(stride, spatial), dilations=_as_many(dilation, spatial), group=groups,
        output_padding=_as_many(output_padding, spatial), **_pads(padding, spatial),
    )  # fmt: skip
    return _drop_batch(g, result, had_batch)


# -- pooling ---------------------------------------------------------------------------------------


@rule("max_pool1d", "max_pool2d", "max_pool3d")
def _max_pool(
    g: GraphWriter, call: Call, input: Ref, kernel_size: Any, stride: Any = None, padding: Any = 0,
    dilation: Any = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> str:  # fmt: skip
    if return_indices:
        raise g.error("with return_indices has no counterpart in ONNX")
    spatial = _spatial(input, call.name)
    source, had_batch = _add_batch(g, input, spatial)
    result = g.add(
        "MaxPool", source, kernel_shape=_as_many(kernel_size, spatial),
        strides=_as_many(kernel_size if stride in (None, ()) else stride, spatial),
        dilations=_as_many(dilation, spatial), ceil_mode=int(ceil_mode), **_pads(padding, spatial),
    )  # fmt: skip
    return _drop_batch(g, result, had_batch)


@rule("avg_pool1d", "avg_pool2d", "avg_pool3d")
def _avg_pool(
    g: GraphWriter, call: Call, input: Ref, kernel_size: Any, stride: Any = None, padding: Any = 0,
    ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: Any = None,
) -> str:  # fmt: skip
    if divisor_override is not None:
        raise g.error("with divisor_override has no counterpart in ONNX")
    spatial = _spatial(input, call.name)
    source, had_batch = _add_batch(g, input, spatial)
    result = g.add(
        "AveragePool", source, kernel_shape=_as_many(kernel_size, spatial),
        strides=_as_many(kernel_size if stride in (None, ()) else stride, spatial),
        ceil_mode=int(ceil_mode), count_include_pad=int(count_include_pad),
        **_pads(padding, spatial),
    )  # fmt: skip
    return _drop_batch(g, result, had_batch)


@rule("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d",
      "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")  # fmt: skip
def _adaptive_pool(g: GraphWriter, call: Call, input: Ref, output_size: Any, **rest: Any) -> str:
    if rest.get("return_indices"):
        raise g.error("with return_indices has no counterpart in ONNX")
    kind = "Average" if "avg" in call.name else "Max"
    return _pool_to_size(g, input, call.results[0], _spatial(input, call.name), kind)


def _pool_to_size(g: GraphWriter, input: Ref, result: Ref, spatial: int, kind: str) -> str:
    """A pool where the windows are equal; else products with matrices of averages."""
    source, had_batch = _add_batch(g, input, spatial)
    sizes, lengths = result.shape[-spatial:], input.shape[-spatial:]
    if [*sizes] == [1] * spatial:
        return _drop_batch(g, g.add(f"Global{kind}Pool", source), had_batch)
    is_dynamic = any(isinstance(n, Size) for n in (*sizes, *lengths))
    steps = [] if is_dynamic else [n // size for size, n in zip(sizes, lengths, strict=True)]
    if not is_dynamic and not any(n % size for size, n in zip(sizes, lengths, strict=True)):
        made = g.add(f"{kind}Pool", source, kernel_shape=steps, strides=steps)
        return _drop_batch(g, made, had_batch)
    if is_dynamic or kind == "Max":
        raise g.error(f"from {tuple(lengths)} to {tuple(sizes)} has no counterpart in ONNX")
    made, rank = input, len(input.shape)
    for axis in range(rank - spatial, rank):
        perm = [*range(rank)]
        perm[-1], perm[axis] = axis, rank - 1
        matrix = _averages(result.shape[axis], input.shape[axis], input.dtype)
        made = g.add("MatMul", g.add("Transpose", made, perm=perm), matrix)
        made = g.add("Transpose", made, perm=perm)
    return str(made)


def _averages(size: int, n: int, dtype: Any) -> Any:
    """Matrix of the windows of an adaptive average, of shape (n, size)."""
    matrix = numpy.zeros((n, size), dtype)
    for i in range(size):
        begin, end = i * n // size, -(-(i + 1) * n // size)
        matrix[begin:end, i] = 1 / (end - begin)
    return matrix


# -- normalization ---------------------------------------------------------------------------------


def _or_fill(weight: Ref | None, size: Any, value: float, dtype: Any) -> Any:
    return numpy.full(size, value, dtype) if weight is None else weight


@rule("batch_norm")
def _batch_norm(
    g: GraphWriter, call: Call, input: Ref, running_mean: Ref | None, running_var: Ref | None,
    weight: Ref | None = None, bias: Ref | None = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> str:  # fmt: skip
    if training or running_mean is None or running_var is None:
        raise g.error("computes statistics of the batch: call model.eval() before the export")
    count, dtype = input.shape[1], input.dtype
    scale, shift = _or_fill(weight, count, 1, dtype), _or_fill(bias, count, 0, dtype)
    return str(g.add("BatchNormalization", input, scale, shift, running_mean, running_var,
                     epsilon=float(eps)))  # fmt: skip


@rule("layer_norm")
def _layer_norm(
    g: GraphWriter, call: Call, input: Ref, normalized_shape: Sequence[int],
    weight: Ref | None = None, bias: Ref | None = None, eps: float = 1e-5,
) -> str:  # fmt: skip
    shape = _as_many(normalized_shape, 1)
    scale = _or_fill(weight, shape, 1, input.dtype)
    return str(g.add("LayerNormalization", input, scale, *([] if bias is None else [bias]),
                     axis=-len(shape), epsilon=float(eps)))  # fmt: skip


@rule("rms_norm")
def _rms_norm(
    g: GraphWriter, call: Call, input: Ref, normalized_shape: Sequence[int],
    weight: Ref | None = None, eps: float | None = None,
) -> str:  # fmt: skip
    axes = list(range(-len(_as_many(normalized_shape, 1)), 0))
    mean_of: Any = {"axes": axes} if g.opset < 18 else {}
    extra = [] if mean_of else [numpy.array(axes, "int64")]
    mean = g.add("ReduceMean", g.add("Mul", input, input), *extra, keepdims=1, **mean_of)
    small = numpy.finfo(input.dtype).eps if eps is None else eps
    root = g.add("Sqrt", g.add("Add", mean, numpy.array(small, input.dtype)))
    result = g.add("Div", input, root)
    return str(result if weight is None else g.add("Mul", result, weight))


@rule("group_norm")
def _group_norm(
    g: GraphWriter, call: Call, input: Ref, num_groups: int, weight: Ref | None = None,
    bias: Ref | None = None, eps: float = 1e-5,
) -> str:  # fmt: skip
    """By ``InstanceNormalization`` of the groups, then the weights of the channels."""
    one, zero = (numpy.full(num_groups, value, input.dtype) for value in (1, 0))
    groups = g.add("Reshape", input, g.sizes([0, num_groups, -1]))  # 0 keeps the batch
    normal = g.add("InstanceNormalization", groups, one, zero, epsilon=float(eps))
    result = g.add("Reshape", normal, g.shape_of(input))
    channels = g.sizes([-1, *[1] * (len(input.shape) - 2)])
    if weight is not None:
        result = g.add("Mul", result, g.add("Reshape", weight, channels))
    return str(result if bias is None else g.add("Add", result, g.add("Reshape", bias, channels)))


@rule("instance_norm")
def _instance_norm(
    g: GraphWriter, call: Call, input: Ref, running_mean: Any = None, running_var: Any = None,
    weight: Ref | None = None, bias: Ref | None = None, use_input_stats: bool = True,
    momentum: float = 0.1, eps: float = 1e-5,
) -> str:  # fmt: skip
    count, dtype = input.shape[1], input.dtype
    scale, shift = _or_fill(weight, count, 1, dtype), _or_fill(bias, count, 0, dtype)
    if not use_input_stats:
        return str(g.add("BatchNormalization", input, scale, shift, running_mean, running_var,
                         epsilon=float(eps)))  # fmt: skip
    return str(g.add("InstanceNormalization", input, scale, shift, epsilon=float(eps)))


# -- resizing --------------------------------------------------------------------------------------


@rule("interpolate")
def _interpolate(
    g: GraphWriter, call: Call, input: Ref, size: Any = None, scale_factor: Any = None,
    mode: str = "nearest", align_corners: bool | None = None, **rest: Any,
) -> str:  # fmt: skip
    modes = {"nearest": "nearest", "linear": "linear", "bilinear": "linear", "trilinear": "linear",
             "bicubic": "cubic", "nearest-exact": "nearest"}  # fmt: skip
    if mode == "area":
        return _pool_to_size(g, input, call.results[0], len(input.shape) - 2, "Average")
    if mode not in modes or rest.get("antialias"):
        raise g.error(f"with mode={mode!r} and antialias has no counterpart in ONNX here")
    if mode == "nearest":
        place = "asymmetric"
    else:
        place = "align_corners" if align_corners else "half_pixel"
    extra: dict[str, Any] = {"nearest_mode": "floor"} if mode == "nearest" else {}
    if mode == "nearest-exact":
        extra = {"nearest_mode": "round_prefer_ceil"}
    if mode == "bicubic":
        extra = {"cubic_coeff_a": -0.75}
    spatial = len(input.shape) - 2
    scales, shape = None, None
    if scale_factor is None or rest.get("recompute_scale_factor"):
        shape = g.sizes(call.results[0].shape)
    else:
        scales = numpy.array([1, 1, *_as_many(scale_factor, spatial)], "float32")
    return str(g.add("Resize", input, None, scales, shape, mode=modes[mode],
                     coordinate_transformation_mode=place, **extra))  # fmt: skip


# -- recurrent layers ------------------------------------------------------------------------------

#: For each layer ONNX's order of the gates, by number of PyTorch's.
_GATES = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}


@rule("nn.LSTM", "nn.GRU", "nn.RNN")
def _recurrent(
    g: GraphWriter, call: Call, layer: Any, input: Ref, state: Any = None, **weights: Ref
) -> list[str]:
    """One node for each layer; both directions are one node."""
    if (
        len(input.shape) != 3
        or getattr(layer, "proj_size", None)
        or layer.training
        and layer.dropout
    ):
        raise g.error("without a batch, with projections or dropout has no counterpart in ONNX")
    operator = call.name.removeprefix("nn.")
    swap = layer.batch_first
    x: Any = g.add("Transpose", input, perm=[1, 0, 2]) if swap else input
    batch, ways = input.shape[0 if swap else 1], 2 if layer.bidirectional else 1
    states = _initial_states(g, call, layer, state, batch, ways)
    lasts: list[list[str]] = []
    for number in range(layer.num_layers):
        w, r, b = _packed_weights(weights, layer, operator, number, ways)
        initial = [parts[number] for parts in states]
        out = g.add(
            operator, x, w, r, b, None, *initial, hidden_size=layer.hidden_size,
            direction="bidirectional" if ways == 2 else "forward",
            outputs=3 if operator == "LSTM" else 2, **_options(layer, operator, ways),
        )  # fmt: skip
        lasts.append(out[1:])
        joined = g.add("Transpose", out[0], perm=[0, 2, 1, 3])  # time, batch, way, feature
        x = g.add("Reshape", joined, g.sizes([0, 0, ways * layer.hidden_size]))
    final = [g.add("Concat", *parts, axis=0) if len(parts) > 1 else parts[0]
             for parts in map(list, zip(*lasts, strict=True))]  # fmt: skip
    return [g.add("Transpose", x, perm=[1, 0, 2]) if swap else x, *final]


def _options(layer: Any, operator: str, ways: int) -> dict[str, Any]:
    if operator == "GRU":
        return {"linear_before_reset": 1}
    if operator == "RNN":
        return {"activations": ["Relu" if layer.nonlinearity == "relu" else "Tanh"] * ways}
    return {}


def _initial_states(
    g: GraphWriter, call: Call, layer: Any, state: Any, batch: int, ways: int
) -> list[list[str]]:
    """Return for each state (h, and c of an LSTM) the parts for the layers."""
    given = [] if state is None else [state] if isinstance(state, Ref) else list(state)
    count = layer.num_layers
    if not given:
        kinds = 2 if call.name == "nn.LSTM" else 1
        zeros = g.add("Expand", numpy.zeros((), call.results[0].dtype),
                      g.sizes([ways, batch, layer.hidden_size]))  # fmt: skip
        return [[zeros] * count for _ in range(kinds)]
    if count == 1:
        return [[g.tensor(each)] for each in given]
    sizes = g.sizes([ways] * count)
    return [g.add("Split", each, sizes, axis=0, outputs=count) for each in given]


def _packed_weights(
    weights: dict[str, Ref], layer: Any, operator: str, number: int, ways: int
) -> tuple[Any, Any, Any]:
    """Return the input weights, recurrent weights and biases of a layer in ONNX's order."""
    found: list[list[Any]] = [[], [], []]
    for suffix in ("", "_reverse")[:ways]:
        parts = [weights[f"{kind}_l{number}{suffix}"].array for kind in ("weight_ih", "weight_hh")]
        for i, part in enumerate(parts):
            found[i].append(_reorder(part, operator))
        biases = [weights.get(f"{kind}_l{number}{suffix}") for kind in ("bias_ih", "bias_hh")]
        size = parts[0].shape[0]
        found[2].append(numpy.concatenate([
            numpy.zeros(size, parts[0].dtype) if b is None else _reorder(b.array, operator)
            for b in biases
        ]))  # fmt: skip
    w, r, b = (numpy.stack(each) for each in found)
    return w, r, b


def _reorder(array: Any, operator: str) -> Any:
    order = _GATES[operator]
    return numpy.concatenate([numpy.split(array, len(order))[i] for i in order])
