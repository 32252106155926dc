"""Examples of operations on arrays that have derivatives: a call and small arrays, off kinks.

A value without a call is for the function of the key's name. A key may go on after a space, for
another example of the same operation. Floating-point arrays are what the result is derived by.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.oracles import numbers

Example = tuple[Any, ...]

X, Y = numbers(2, 3), numbers(2, 3, seed=1) + 0.37
Z = numbers(2, 3, seed=2) - 0.2
V, W = numbers(3), numbers(3, seed=1) + 0.2
P, Q = np.exp(X / 2), np.exp(Y / 2)  # positive
U = X / 2.5  # between -1 and 1
SHARE, PART = 0.5 + X / 5, 0.5 + Y / 6  # between 0 and 1
ONE = np.array(0.7)
BATCH = numbers(2, 2, 3, seed=3)
OTHER = numbers(3, 2, seed=5)
MASK = np.array([[True, False, True], [False, False, True]])
AT = np.array([2, 0, 2])
SPOTS = np.array([[0, 2, 2], [1, 0, 1]])


def masked(lib: Any, x: Any, y: Any) -> Any:
    """Write through a mask."""
    z = x.clone()
    z[z > 0] = y[:1].sum()
    return z


def write_views(lib: Any, x: Any, y: Any) -> Any:
    """Write into views of views."""
    z = x.clone()
    z[:, 1:].mul_(y[:, 1:])
    z[0, ::2] = y[1, ::2] * 2
    z.T[1].copy_(y[:, 1])
    return z * z


def overwrite_views(lib: Any, x: Any, y: Any) -> Any:
    """Overwrite views with values that do not depend on them."""
    z = x * y
    z[0].zero_()
    z[1:, 1:] = x[1:, 1:] * 3
    return z


def cast(lib: Any, x: Any) -> Any:
    return x.to(lib.complex128)


def accumulate_at(lib: Any, x: Any, y: Any) -> Any:
    """Add to rows by index, to one of them twice."""
    rows = lib.tensor([1, 0, 1])
    return x.index_put((rows,), y[0].expand(3, 3), accumulate=True)


def refill(lib: Any, x: Any) -> Any:
    """Overwrite with random numbers, which have no gradient."""
    y = x * 2
    y.normal_()
    return y * 0 + x


ELEMENTWISE: dict[str, Example] = {
    **dict.fromkeys(
        "abs asinh atan ceil conj_physical cos cosh deg2rad erf erfc exp exp2 expm1 floor frac i0 "
        "nan_to_num neg rad2deg reciprocal relu round selu sgn sigmoid sign sin sinc sinh square "
        "tan tanh trunc angle positive clone celu digamma lgamma special.erfcx "
        "special.i0e special.i1 special.i1e special.log_ndtr special.ndtr "
        "nn.functional.elu nn.functional.gelu nn.functional.hardshrink nn.functional.hardsigmoid "
        "nn.functional.hardswish nn.functional.hardtanh nn.functional.leaky_relu "
        "nn.functional.logsigmoid nn.functional.mish nn.functional.relu6 nn.functional.silu "
        "nn.functional.softplus nn.functional.softshrink nn.functional.softsign "
        "nn.functional.tanhshrink".split(),
        (X,),
    ),
    **dict.fromkeys("log log10 log1p log2 rsqrt sqrt special.entr".split(), (P,)),
    **dict.fromkeys("acos asin atanh erfinv".split(), (U,)),
    **dict.fromkeys("logit special.ndtri".split(), (SHARE,)),
    "acosh": (P + 1,),
    **dict.fromkeys(
        "add sub mul div atan2 hypot maximum minimum fmax fmin fmod remainder copysign logaddexp "
        "logaddexp2 nextafter".split(),
        (X, Y),
    ),
    "add alpha": (lambda lib, x, y: lib.add(x, y, alpha=3), X, V),
    "sub alpha": (lambda lib, x, y: lib.sub(x, y, alpha=3), X, V),
    "rsub": (lambda lib, x, y: lib.rsub(x, y, alpha=3), X, V),
    "mul broadcast": (lambda lib, x, y: x * y, X[:, :1], V),
    "div modes": (lambda lib, x, y: (lib.div(x, y, rounding_mode="floor"), 2 / y), X, Y),
    "pow": (P, Y),
    "pow numbers": (lambda lib, x: (x**3, x**0.5, 2**x, x**-1), P),
    "float_power": (P, Y),
    "ldexp": (X, Y),
    "ldexp of integers": (lambda lib, x, i: lib.ldexp(x, i), X, SPOTS),
    "xlogy": (X, Q),
    "special.xlog1py": (X, Q),
    "fmod number": (lambda lib, x: lib.fmod(x, 0.9), X),
    "threshold": (lambda lib, x: lib.threshold(x, 0.1, 3.0), X),
    "prelu": (lambda lib, x, w: lib.prelu(x, w), X, V),
    "nn.functional.glu": (lambda lib, x: lib.nn.functional.glu(x, 0), X),
    "nn.functional.gelu tanh": (
        lambda lib, x: lib.nn.functional.gelu(x, approximate="tanh"), X),
    "polygamma": (lambda lib, x: (lib.polygamma(1, x), lib.polygamma(2, x)), P),
    "mvlgamma": (lambda lib, x: lib.mvlgamma(x + 2, 3), P),
    "igamma": (lambda lib, x: lib.igamma(lib.tensor([0.7, 1.3, 2.5], dtype=lib.float64), x), P),
    "igammac": (lambda lib, x: lib.igammac(lib.tensor([0.7, 1.3, 2.5], dtype=lib.float64), x), P),
    "special.zeta": (lambda lib, q: lib.special.zeta(2.5, q), P),
    "frexp": (lambda lib, x: lib.frexp(x).mantissa, X),
    "clamp": (lambda lib, x: (lib.clamp(x, -1, 1), lib.clamp(x, max=0.5)), X),
    "clamp tensors": (lambda lib, x, y, z: lib.clamp(x, y - 1, z + 1), X, Y, Z),
    "clamp_min": (X, Y),
    "clamp_max": (X, Y),
    "where": (lambda lib, m, x, y: lib.where(m, x, y), MASK, X, V),
    "where number": (lambda lib, m, x: lib.where(m, x, 2.0), MASK, X),
    "lerp": (X, Y, Z),
    "lerp number": (lambda lib, x, y: lib.lerp(x, y, 0.3), X, Y),
    "addcmul": (lambda lib, x, y, z: lib.addcmul(x, y, z, value=2), X, Y, Z),
    "addcdiv": (lambda lib, x, y, z: lib.addcdiv(x, y, z, value=2), X, Y, Q),
    "fill": (lambda lib, x, v: lib.fill(x, v), X, ONE),
    "masked_fill": (lambda lib, x, v, m: lib.masked_fill(x, m, v), X, ONE, MASK),
    "masked_scatter": (lambda lib, x, y, m: lib.masked_scatter(x, m, y), X, Y, MASK),
    "masked_select": (lambda lib, x, m: lib.masked_select(x, m), X, MASK),
    **{name: (lambda lib, x, name=name: getattr(x, name.removeprefix("Tensor."))(), X)
       for name in "conj resolve_conj resolve_neg Tensor.double Tensor.cdouble Tensor.cpu "
                   "contiguous".split()},
    "contiguous turned": (lambda lib, x: x.transpose(0, -1).contiguous(), X),
    "contiguous channels last": (
        lambda lib, x: lib.stack((x.flatten(), x.flatten())).reshape(1, 2, -1, 1).contiguous(
            memory_format=lib.channels_last
        ),
        X,
    ),
    "to": (lambda lib, x: x.to("cpu", lib.complex128), X),
    "Tensor.type": (lambda lib, x: x.type(lib.complex128), X),
    "Tensor.type_as": (lambda lib, x, y: x.type_as(y), X, Y),
    "complex": (X, Y),
    "polar": (P, Y),
    "real": (lambda lib, x, y: lib.complex(x, y).real, X, Y),
    "imag": (lambda lib, x, y: lib.complex(x, y).imag, X, Y),
    "view_as_real": (lambda lib, x, y: lib.view_as_real(lib.complex(x, y)), X, Y),
    "view_as_complex": (lambda lib, x: lib.view_as_complex(x), numbers(3, 2)),
    "_to_dtype": (cast, X),
}  # fmt: skip

SHAPES: dict[str, Example] = {
    **dict.fromkeys(
        "t ravel flatten squeeze fliplr flipud trace diag diagflat atleast_1d atleast_2d "
        "atleast_3d adjoint alias_copy t_copy squeeze_copy unbind_copy diagonal_copy".split(),
        (X,),
    ),
    "Tensor.T": (lambda lib, x: x.T, X),
    "Tensor.mT": (lambda lib, x: x.mT, BATCH),
    "Tensor.mH": (lambda lib, x: x.mH, BATCH),
    "Tensor.H": (lambda lib, x: x.H, X),
    "reshape": (lambda lib, x: lib.reshape(x, (3, 2)), X),
    "reshape_as": (lambda lib, x, y: x.reshape_as(y), X, OTHER),
    "view_as": (lambda lib, x, y: x.view_as(y), X, OTHER),
    "view": (lambda lib, x: x.view(-1), X),
    "view_copy": (lambda lib, x: lib.view_copy(x, (3, 2)), X),
    "_view": (lambda lib, x: x.view(3, 2), X),
    "transpose": (lambda lib, x: lib.transpose(x, 0, -1), BATCH),
    "transpose_copy": (lambda lib, x: lib.transpose_copy(x, 0, -1), BATCH),
    "permute_copy": (lambda lib, x: lib.permute_copy(x, (2, 0, 1)), BATCH),
    "permute": (lambda lib, x: lib.permute(x, (2, 0, 1)), BATCH),
    "movedim": (lambda lib, x: lib.movedim(x, (0, 1), (-1, 0)), BATCH),
    "unflatten": (lambda lib, x: lib.unflatten(x, 1, (1, 3)), X),
    "squeeze dim": (lambda lib, x: lib.squeeze(x, 1), X[:, :1]),
    "unsqueeze": (lambda lib, x: lib.unsqueeze(x, -1), X),
    "expand": (lambda lib, x: x.expand(2, -1, 3), X[:, :1]),
    "expand_as": (lambda lib, x, y: x.expand_as(y), X[:1], X),
    "expand_copy": (lambda lib, x: lib.expand_copy(x, (2, 3)), X[:, :1]),
    "unsqueeze_copy": (lambda lib, x: lib.unsqueeze_copy(x, 1), X),
    "broadcast_tensors": (lambda lib, x, y: lib.broadcast_tensors(x, y), X[:, :1], V),
    "broadcast_to": (lambda lib, x: lib.broadcast_to(x, (2, 2, 3)), X),
    "Tensor.sum_to_size": (lambda lib, x: x.sum_to_size(2, 1), X),
    "flip": (lambda lib, x: lib.flip(x, (0, -1)), X),
    "rot90": (lambda lib, x: lib.rot90(x, 3), X),
    "roll": (lambda lib, x: lib.roll(x, (1, -1), (0, 1)), X),
    "tile": (lambda lib, x: lib.tile(x, (2, 1, 2)), X),
    "Tensor.repeat": (lambda lib, x: x.repeat(2, 1, 2), X),
    "repeat_interleave": (lambda lib, x: lib.repeat_interleave(x, 2, 1), X),
    "diagonal": (lambda lib, x: lib.diagonal(x, 1), X),
    "diag_embed": (lambda lib, x: lib.diag_embed(x, -1), X),
    "tril": (lambda lib, x: lib.tril(x, -1), X),
    "triu": (lambda lib, x: lib.triu(x, 1), X),
    "select": (lambda lib, x: lib.select(x, 1, -1), X),
    "narrow": (lambda lib, x: lib.narrow(x, 1, 1, 2), X),
    "slice": (lambda lib, x: x[:, ::2], X),
    "Tensor.fill_diagonal_": (lambda lib, x: (x * 1).fill_diagonal_(2.0), X),
    "narrow_copy": (lambda lib, x: lib.narrow_copy(x, 1, 1, 2), X),
    "unfold_copy": (lambda lib, x: lib.unfold_copy(x, 1, 2, 1), X),
    "unfold": (lambda lib, x: x.unfold(1, 2, 1), X),
    "select_scatter": (lambda lib, x, y: lib.select_scatter(x, y, 1, 1), X, V[:2]),
    "slice_scatter": (lambda lib, x, y: lib.slice_scatter(x, y, 1, 0, 3, 2), X, OTHER[:2]),
    "diagonal_scatter": (lambda lib, x, y: lib.diagonal_scatter(x, y), X, V[:2]),
    "as_strided": (lambda lib, x: lib.as_strided(x, (2, 2), (1, 2), 1), X),
    "as_strided_copy": (lambda lib, x: lib.as_strided_copy(x, (2, 2), (1, 1)), X),
    "as_strided_scatter": (
        lambda lib, x, y: lib.as_strided_scatter(x, y, (2, 2), (1, 2), 1), X, OTHER[:2]),
    "cat": (lambda lib, x, y: lib.cat([x, y], 1), X, Y),
    "stack": (lambda lib, x, y: lib.stack([x, y], -1), X, Y),
    **{name: (lambda lib, x, y, name=name: getattr(lib, name)([x, y]), X, Y)
       for name in ("hstack", "vstack", "dstack", "column_stack")},
    "block_diag": (lambda lib, x, y: lib.block_diag(x, y), X, V),
    "cartesian_prod": (lambda lib, x, y: lib.cartesian_prod(x, y), V[:2], W),
    "combinations": (lambda lib, x: lib.combinations(x), V),
    "meshgrid": (lambda lib, x, y: lib.meshgrid(x, y, indexing="xy"), V[:2], W),
    "unbind": (lambda lib, x: lib.unbind(x, 1), X),
    "split": (lambda lib, x: lib.split(x, 2, 1), X),
    "split_with_sizes": (lambda lib, x: lib.split_with_sizes(x, (1, 2), 1), X),
    "chunk": (lambda lib, x: lib.chunk(x, 2, 1), X),
    "unsafe_split_with_sizes": (
        lambda lib, x: lib.unsafe_split_with_sizes(x, (1, 2), 1), X),
    "unsafe_split": (lambda lib, x: lib.unsafe_split(x, 2, 1), X),
    "unsafe_chunk": (lambda lib, x: lib.unsafe_chunk(x, 2, 1), X),
    "split_with_sizes_copy": (lambda lib, x: lib.split_with_sizes_copy(x, (1, 2), 1), X),
    "tensor_split": (lambda lib, x: (lib.tensor_split(x, (1,), 1), lib.tensor_split(x, 2, 1)), X),
    "tensor_split overlapping": (lambda lib, x: lib.tensor_split(x, (2, 1), 1), X),
    "hsplit": (lambda lib, x: lib.hsplit(x, 3), X),
    "vsplit": (lambda lib, x: lib.vsplit(x, 2), X),
    "dsplit": (lambda lib, x: lib.dsplit(x, (1,)), BATCH),
    "nn.functional.pixel_shuffle": (
        lambda lib, x: lib.nn.functional.pixel_shuffle(x, 2), numbers(1, 4, 1, 2)),
    "nn.functional.pixel_unshuffle": (
        lambda lib, x: lib.nn.functional.pixel_unshuffle(x, 2), numbers(1, 2, 2)),
    "nn.functional.channel_shuffle": (
        lambda lib, x: lib.nn.functional.channel_shuffle(x, 2), numbers(1, 4, 2)),
    "copy_": (lambda lib, x, y: x.clone().copy_(y), X, V),
    "zero_": (lambda lib, x: x + (x * 2).zero_(), X),
    "fill_": (lambda lib, x, v: x * (x * 2).fill_(v), X, ONE),
    **{f"{name}_": (lambda lib, x, name=name, args=args: getattr(x.clone(), f"{name}_")(*args), X)
       for name, args in {"squeeze": (), "unsqueeze": (1,), "transpose": (0, 1), "t": (),
                          "as_strided": ((2, 2), (1, 1))}.items()},
    "masked": (masked, X, Y),
    "written": (write_views, X, Y),
    "cleared": (overwrite_views, X, Y),
    "added": (accumulate_at, X, Y),
    "_refilled": (refill, X),
}  # fmt: skip

INDEXING: dict[str, Example] = {
    "index_select": (lambda lib, x, i: lib.index_select(x, 1, i), X, AT),
    "gather": (lambda lib, x, i: lib.gather(x, 1, i), X, SPOTS),
    "take": (X, np.array([[5, 0], [-1, 2]])),
    "take_along_dim": (lambda lib, x, i: lib.take_along_dim(x, i, 1), X, SPOTS),
    "_getitem": (lambda lib, x, i: (x[:, i], x[None, 0, i], x[..., 1]), X, AT),
    "index_put": (lambda lib, x, y, i: x.index_put((i,), y[:1]), X, Y, np.array([1, 0])),
    "index_add": (lambda lib, x, y, i: lib.index_add(x, 1, i, y, alpha=2), X, Y, AT),
    "index_copy": (lambda lib, x, y, i: lib.index_copy(x, 1, i, y), X, Y, np.array([2, 0, 1])),
    "index_fill": (lambda lib, x, v, i: lib.index_fill(x, 1, i, v), X, ONE, AT),
    "index_reduce": (lambda lib, x, y, i: lib.index_reduce(x, 1, i, y, "prod"), X, Y, AT),
    "put": (lambda lib, x, y, i: lib.put(x, i, y), X, V, np.array([5, 0, 2])),
    "put added": (lambda lib, x, y, i: lib.put(x, i, y, accumulate=True), X, V, AT),
    "scatter": (lambda lib, x, y, i: lib.scatter(x, 1, i, y), X, Y, SPOTS[:, :2]),
    "scatter number": (lambda lib, x, i: lib.scatter(x, 1, i, 2.0), X, SPOTS),
    "scatter_add": (lambda lib, x, y, i: lib.scatter_add(x, 1, i, y), X, Y, SPOTS),
    **{
        f"scatter_reduce {how}": (
            lambda lib, x, y, i, how=how: lib.scatter_reduce(x, 1, i, y, how), X, Y, SPOTS)
        for how in ("sum", "prod", "mean", "amax", "amin")
    },
    "nn.functional.embedding": (
        lambda lib, w, i: lib.nn.functional.embedding(i, w), X.T, SPOTS),
    "nn.functional.embedding padded": (
        lambda lib, w, i: lib.nn.functional.embedding(i, w, padding_idx=1),
        X.T, np.array([2, 1, 2])),
    "nn.functional.embedding scaled": (
        lambda lib, w, i: lib.nn.functional.embedding(i, w, scale_grad_by_freq=True),
        X.T, np.array([2, 1, 2])),
}  # fmt: skip

REDUCTIONS: dict[str, Example] = {
    **dict.fromkeys(
        "sum nansum mean nanmean prod amax amin max min median nanmedian var std var_mean std_mean "
        "norm corrcoef cov".split(),
        (X,),
    ),
    "sum dim": (lambda lib, x: lib.sum(x, (0, -1), keepdim=True), BATCH),
    "mean dim": (lambda lib, x: lib.mean(x, -1), BATCH),
    "prod dim": (lambda lib, x: lib.prod(x, 1, keepdim=True), X),
    "prod zero": (lambda lib, x: lib.prod(x * lib.tensor([1.0, 0.0, 1.0]), 1), X),
    "logsumexp": (lambda lib, x: lib.logsumexp(x, 1), X),
    "max dim": (lambda lib, x: lib.max(x, 1).values, X),
    "min dim": (lambda lib, x: lib.min(x, 1).values, X),
    "aminmax": (lambda lib, x: lib.aminmax(x, dim=0), X),
    "var dim": (lambda lib, x: lib.var(x, 1, correction=0, keepdim=True), X),
    "var of columns": (lambda lib, x: lib.var(x, 0), X),
    "std dim": (lambda lib, x: lib.std(x, 0, keepdim=True), numbers(4, 2)),
    "cumsum": (lambda lib, x: lib.cumsum(x, 1), X),
    "cumprod": (lambda lib, x: lib.cumprod(x, -1), X),
    "cumprod zero": (lambda lib, x: lib.cumprod(x * lib.tensor([1.0, 0.0, 1.0]), 1), X),
    "logcumsumexp": (lambda lib, x: lib.logcumsumexp(x, 1), X),
    "cummax": (lambda lib, x: lib.cummax(x, 1).values, X),
    "cummin": (lambda lib, x: lib.cummin(x, 1).values, X),
    "diff": (lambda lib, x: lib.diff(x, 2), X),
    "trapezoid": (X, Y),
    "cumulative_trapezoid": (X, Y),
    "gradient": (lambda lib, x: lib.gradient(x, dim=1)[0], X),
    "sort": (lambda lib, x: lib.sort(x, 1, descending=True).values, X),
    "msort": (X,),
    "topk": (lambda lib, x: lib.topk(x, 2).values, X),
    "kthvalue": (lambda lib, x: lib.kthvalue(x, 2, 1).values, X),
    "median dim": (lambda lib, x: lib.median(x, 1).values, X),
    "nanmedian dim": (lambda lib, x: lib.nanmedian(x, 1).values, X),
    "mode": (lambda lib, x: lib.mode(x, 1).values, X),
    "quantile": (lambda lib, x: lib.quantile(x, 0.3, 1), X),
    "quantile ranks": (lambda lib, x, q: lib.quantile(x, q, 1), X, np.array([0.3, 0.7])),
    "nanquantile": (lambda lib, x: lib.nanquantile(x, 0.3, 1), X),
    "linalg.vector_norm": (lambda lib, x: (lib.linalg.vector_norm(x, 3, 1),
                                           lib.linalg.vector_norm(x, 1)), X),
    "norm infinite": (lambda lib, x: (lib.norm(x, np.inf, 1), lib.norm(x, -np.inf, 1)), X),
    "dist": (X, Y),
    "renorm": (lambda lib, x: lib.renorm(x, 2, 0, 1.0), X),
    "softmax": (lambda lib, x: lib.softmax(x, 1), X),
    "log_softmax": (lambda lib, x: lib.log_softmax(x, 0), X),
    "nn.functional.softmin": (lambda lib, x: lib.nn.functional.softmin(x, 0), X),
}  # fmt: skip
