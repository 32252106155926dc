"""C text of convolutions with few weights, where copies of windows take longer than the products.

Images are padded one at a time. The pixels that one element of the kernel reads, from the first
window to the last, are one run of the padded image's memory, with some elements between two rows
that belong to no window: their sums are dropped. The gradient of the input is a convolution of the
padded gradient with the flipped kernel; that of the weight is computed for several results at once.

The padding of a gradient is multiplied, too. Where the weight is not finite, that would change the
result, and NumPy computes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy

from .c_text import PARAMETERS, TYPES, Text, letter
from .graph import Kind, Node, Value
from .grouping import is_row_major

#: Most elements of the weight, and of an image and of a result of one: they stay in the cache.
_FEW_WEIGHTS, _FEW_PIXELS = 4096, 1 << 16
_NAMES = ("op._conv", "op._conv_input", "op._conv_weight")

_START = """void NAME({parameters}) {{
bind(p, slots, tuple);
const i64 C = n[0], O = n[1], H = n[2], W = n[3], Y = n[4], X = n[5], PY = n[6], PX = n[7];
enum {{ KH = {height}, KW = {width}, K = KH * KW }};
const i64 S = X + KW - 1, plane = (Y + KH - 1) * S, run = (Y - 1) * S + X;
const T *in = (const T *)p[0];
T *pad = calloc(C * plane + 64, sizeof(T));
"""
_PAD = """for (i64 c = 0; c < C; c++) for (i64 y = 0; y < H; y++)
  memcpy(pad + c * plane + (y + PY) * S + PX, in + ((m * C + c) * H + y) * W, W * sizeof(T));
"""
_CONVOLVE = """for (i64 m = lo; m < hi; m++) {{
{pad}for (i64 o = 0; o < O; o += 2) {{
  const i64 second = o + 1 < O ? o + 1 : o;
  memset(a, 0, 2 * run * sizeof(T));
  for (i64 c = 0; c < C; c++) for (i64 y = 0; y < KH; y++) {{
    const T *x = pad + c * plane + y * S;
    const T *u = w + (o * C + c) * K + y * KW, *v = w + (second * C + c) * K + y * KW;
    {constants}
    #pragma GCC ivdep
    for (i64 i = 0; i < run; i++) {{
      T s = a[i], t = b[i];
      {products}
      a[i] = s; b[i] = t;
    }}
  }}
  for (i64 y = 0; y < Y; y++) for (i64 x = 0; x < X; x++) {{
    out[((m * O + o) * Y + y) * X + x] = a[y * S + x]{bias};
    out[((m * O + second) * Y + y) * X + x] = b[y * S + x]{bias_of_second};
  }}
}}
}}
"""
_FLIP = """T *w = malloc(C * O * K * sizeof(T));
for (i64 o = 0; o < O; o++) for (i64 c = 0; c < C; c++) for (i64 k = 0; k < K; k++)
  w[(o * C + c) * K + k] = weight[(c * O + o) * K + K - 1 - k];
"""
_WEIGHT = """const T *grad = (const T *)p[1];
typedef T vec __attribute__((vector_size(LANES * sizeof(T)), aligned(sizeof(T))));
const i64 B = (O + LANES - 1) / LANES;
T *g = calloc(Y * X * B * LANES, sizeof(T)), *sum = calloc(C * K * B * LANES, sizeof(T));
for (i64 m = lo; m < hi; m++) {{
{pad}for (i64 o = 0; o < O; o++) for (i64 i = 0; i < Y * X; i++)
  g[i * B * LANES + o] = grad[(m * O + o) * Y * X + i];
for (i64 o = 0; o < B; o++) for (i64 c = 0; c < C; c++) for (i64 k = 0; k < KH; k++) {{
  vec {zeros};
  for (i64 y = 0; y < Y; y++) {{
    const T *x = pad + c * plane + (y + k) * S;
    const vec *u = (const vec *)g + y * X * B + o;
    for (i64 i = 0; i < X; i++) {{ vec q = u[i * B]; {products} }}
  }}
  vec *w = (vec *)sum + (c * K + k * KW) * B + o;
  {stores}
}}
}}
for (i64 o = 0; o < O; o++) for (i64 k = 0; k < C * K; k++)
  ((T *)p[2])[o * C * K + k] = sum[k * B * LANES + o];
free(g); free(sum);
"""


def is_convolution(node: Node) -> bool:
    """Whether a node is a two-dimensional convolution of stride 1, or a gradient, with C text."""
    if node.kind is not Kind.CALL or node.name not in _NAMES or node.kwargs:
        return False
    if len(node.args) != (7 if node.name == "op._conv_weight" else 8):
        return False
    values = list(arrays_of(node))
    dtypes = {value.dtype for value in values}
    if len(dtypes) != 1 or values[0].dtype.char not in "fd" or not all(map(is_row_major, values)):
        return False
    if any(len(value.shape) not in (1, 4) or 0 in value.shape for value in values):
        return False
    stride, _, dilation, groups = node.args[-5:-1]
    if groups != 1 or {*stride, *dilation} != {1}:
        return False
    if node.name == "op._conv_input" and node.args[2] is not None:
        return False
    sizes = sizes_of(node)
    return (
        min(sizes[-2:]) >= 0 and math.prod(weight_of(node).shape) <= _FEW_WEIGHTS
        and max(image_sizes(node)) <= _FEW_PIXELS
    )  # fmt: skip


def arrays_of(node: Node) -> Iterator[Value]:
    """Yield the arrays that a convolution reads and writes."""
    yield from (arg for arg in node.args[:3] if isinstance(arg, Value))
    yield from (value for value in node.outputs if value is not None)


def weight_of(node: Node) -> Value:
    """Return the weight, or its gradient."""
    found = node.outputs[0] if node.name == "op._conv_weight" else node.args[1]
    assert found is not None
    return found


def sizes_of(node: Node) -> list[int]:
    """Return channels and results, height and width of the image and the result, and paddings."""
    source, out = node.args[0], node.outputs[0]
    kernel, padding = weight_of(node).shape[2:], node.args[-4]
    if node.name == "op._conv_weight":
        out = node.args[1]
    if node.name == "op._conv_input":
        padding = [size - 1 - pad for size, pad in zip(kernel, padding, strict=True)]
    assert out is not None
    return [source.shape[1], out.shape[1], *source.shape[2:], *out.shape[2:], *padding]


def image_sizes(node: Node) -> tuple[int, int]:
    """Return the number of elements of a padded image and of a result of one."""
    channels, results, _, _, *size = sizes_of(node)[:6]
    kernel = weight_of(node).shape[2:]
    padded = math.prod(s + k - 1 for s, k in zip(size, kernel, strict=True))
    return channels * padded, results * padded


def convolution_text(node: Node) -> Text:
    """Return the C text of a convolution; its function is called for a range of images."""
    height, width = weight_of(node).shape[2:]
    start = _START.format(parameters=PARAMETERS, height=height, width=width)
    body = weight_text(node, width) if node.name == "op._conv_weight" else image_text(node, width)
    kind = TYPES[letter(node.args[0].dtype)]
    text = Text(sizes=sizes_of(node), sums=node.name == "op._conv_weight")
    text.body = f"{start}{body}free(pad);\n}}".replace("T ", f"{kind} ").replace("(T)", f"({kind})")
    text.parameters = [(value, "array") for value in arrays_of(node)]
    return text


def image_text(node: Node, width: int) -> str:
    """Return the text of a convolution or of the gradient of its input."""
    has_bias = len([*arrays_of(node)]) == 4
    place = 3 if has_bias else 2
    lines = [f"T *out = (T *)p[{place}], *a = malloc(2 * run * sizeof(T)), *b = a + run;"]
    flips = node.name == "op._conv_input"
    name = "weight" if flips else "w"
    lines.append(f"const T *{name} = (const T *)p[1];")
    if has_bias:
        lines.append("const T *bias = (const T *)p[2];")
    fma = "FMA" if node.args[0].dtype.char == "f" else "__builtin_fma"
    constants = " ".join(f"const T u{k} = u[{k}], v{k} = v[{k}];" for k in range(width))
    products = " ".join(
        f"s = {fma}(u{k}, x[i + {k}], s); t = {fma}(v{k}, x[i + {k}], t);" for k in range(width)
    )
    loop = _CONVOLVE.format(
        pad=_PAD, constants=constants, products=products,
        bias=" + bias[o]" if has_bias else "",
        bias_of_second=" + bias[second]" if has_bias else "",
    )  # fmt: skip
    end = "free(a);\n" + ("free(w);\n" if flips else "")
    return "\n".join(lines) + "\n" + (_FLIP if flips else "") + loop + end


def weight_text(node: Node, width: int) -> str:
    """Return the text of the gradient of the weight, for several results at a time."""
    places = range(width)
    lanes = 16 if node.args[1].shape[1] > 8 else 8
    text = _WEIGHT.format(
        pad=_PAD,
        zeros=", ".join(f"s{k} = {{0}}" for k in places),
        products=" ".join(f"s{k} += q * x[i + {k}];" for k in places),
        stores=" ".join(f"w[{k} * B] += s{k};" for k in places),
    )
    return text.replace("LANES", str(lanes))


def is_finite(array: numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.floating]]) -> bool:
    """Whether all elements of an array are finite."""
    return bool(numpy.isfinite(array).all())
