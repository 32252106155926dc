"""Reductions, orders, views, joins and parts on shapes and strides that nobody chose by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.ops.strategies import (
    SETTINGS,
    arrays,
    broadcastable,
    compare,
    dims,
    laid_out,
    several_dims,
    shapes,
)

hypothesis = pytest.importorskip("hypothesis", reason="it makes the samples")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

pytestmark = [
    # PyTorch's warning about the variance of one element; the result, NaN, is compared.
    pytest.mark.filterwarnings("ignore:.*degrees of freedom"),
    # Arrays that are stretched are among those that are shared.
    pytest.mark.filterwarnings("ignore:The given NumPy array is not writable:UserWarning"),
]
small = st.integers(-3, 3)


def along(function: Any) -> Any:
    """NumPy's function along an axis, also of an array without axes."""
    return lambda a, d: function(a, d) if a.ndim else function(a.reshape(1), 0)


def sums(a: Any, d: int) -> Any:
    return np.exp(a).sum(d)


# -- along one dimension: kinds of dtypes, the call, NumPy's way -----------------------------------
ALONG: dict[str, tuple[str, Any, Any]] = {
    "sum": ("fibc", lambda lib, x, d: lib.sum(x, d), along(np.sum)),
    "mean": ("fc", lambda lib, x, d: x.mean(d, keepdim=True),
             lambda a, d: a.mean(d, keepdims=True)),
    "prod": ("fic", lambda lib, x, d: lib.prod(x, d), along(np.prod)),
    "nansum": ("fi", lambda lib, x, d: lib.nansum(x, d), along(np.nansum)),
    "nanmean": ("f", lambda lib, x, d: lib.nanmean(x, d), along(np.mean)),
    "std": ("f", lambda lib, x, d: lib.std(x, d), lambda a, d: a.std(d, ddof=1)),
    "var": ("fc", lambda lib, x, d: lib.var(x, d, correction=0), lambda a, d: a.var(d)),
    "logsumexp": ("f", lambda lib, x, d: lib.logsumexp(x, d), lambda a, d: np.log(sums(a, d))),
    "amax": ("fib", lambda lib, x, d: lib.amax(x, d), along(np.max)),
    "amin": ("fib", lambda lib, x, d: lib.amin(x, d, keepdim=True),
             lambda a, d: a.min(d, keepdims=True)),
    "max": ("di", lambda lib, x, d: lib.max(x, d).values, along(np.max)),
    "min": ("d", lambda lib, x, d: tuple(lib.min(x, d)),
            lambda a, d: (a.min(d), a.argmin(d))),
    "aminmax": ("fi", lambda lib, x, d: tuple(lib.aminmax(x, dim=d)),
                lambda a, d: (a.min(d), a.max(d))),
    "argmax": ("d", lambda lib, x, d: lib.argmax(x, d), along(np.argmax)),
    "argmin": ("d", lambda lib, x, d: lib.argmin(x, d, keepdim=True),
               lambda a, d: a.argmin(d, keepdims=True)),
    "all": ("fib", lambda lib, x, d: lib.all(x, d), along(np.all)),
    "any": ("fib", lambda lib, x, d: lib.any(x, d), along(np.any)),
    "count_nonzero": ("fib", lambda lib, x, d: lib.count_nonzero(x, d), along(np.count_nonzero)),
    "vector_norm": ("fc", lambda lib, x, d: lib.linalg.vector_norm(x, 3, d),
                    lambda a, d: (abs(a) ** 3).sum(d) ** (1 / 3)),
    "median": ("d", lambda lib, x, d: lib.median(x, d).values,
               lambda a, d: np.quantile(a, 0.5, d, method="lower")),
    "quantile": ("d", lambda lib, x, d: lib.quantile(x, 0.3, d),
                 lambda a, d: np.quantile(a, 0.3, d)),
    "nanquantile": ("d", lambda lib, x, d: lib.nanquantile(x, 0.8, d, keepdim=True),
                    lambda a, d: np.nanquantile(a, 0.8, d, keepdims=True)),
    "mode": ("i", lambda lib, x, d: lib.mode(x, d).values, None),
    "cumsum": ("fibc", lambda lib, x, d: lib.cumsum(x, d), along(np.cumsum)),
    "cumprod": ("fic", lambda lib, x, d: lib.cumprod(x, d), along(np.cumprod)),
    "cummax": ("di", lambda lib, x, d: lib.cummax(x, d).values, along(np.maximum.accumulate)),
    "cummin": ("d", lambda lib, x, d: tuple(lib.cummin(x, d)), None),
    "logcumsumexp": ("f", lambda lib, x, d: lib.logcumsumexp(x, d),
                     lambda a, d: np.logaddexp.accumulate(a, d)),
    "sort": ("dib", lambda lib, x, d: lib.sort(x, d, descending=True).values,
             lambda a, d: np.flip(np.sort(a, d), d)),
    "argsort": ("fi", lambda lib, x, d: lib.argsort(x, dim=d, stable=True),
                lambda a, d: np.argsort(a, d, kind="stable")),
    "topk": ("d", lambda lib, x, d: lib.topk(x, 1, d).values,
             lambda a, d: a.max(d, keepdims=True)),
    "kthvalue": ("d", lambda lib, x, d: lib.kthvalue(x, 1, d, True).values,
                 lambda a, d: a.min(d, keepdims=True)),
    "diff": ("fib", lambda lib, x, d: lib.diff(x, dim=d), lambda a, d: np.diff(a, axis=d)),
    "trapezoid": ("f", lambda lib, x, d: lib.trapezoid(x, dim=d),
                  lambda a, d: np.trapezoid(a, axis=d)),
    "flip": ("fibc", lambda lib, x, d: lib.flip(x, (d,)), along(np.flip)),
    "unbind": ("fi", lambda lib, x, d: lib.unbind(x, d),
               lambda a, d: list(np.moveaxis(a, d, 0))),
    "unsqueeze": ("fi", lambda lib, x, d: lib.unsqueeze(x, d), None),
    "squeeze": ("fi", lambda lib, x, d: lib.squeeze(x, d), None),
    "unique": ("ib", lambda lib, x, d: lib.unique(x, dim=d), None),
    "softmax": ("f", lambda lib, x, d: lib.softmax(x, d),
                lambda a, d: np.exp(a) / np.expand_dims(sums(a, d), d)),
    "log_softmax": ("f", lambda lib, x, d: lib.log_softmax(x, d),
                    lambda a, d: a - np.log(np.expand_dims(sums(a, d), d))),
    "softmin": ("f", lambda lib, x, d: lib.nn.functional.softmin(x, d),
                lambda a, d: np.exp(-a) / np.expand_dims(sums(-a, d), d)),
    "glu": ("f", lambda lib, x, d: lib.nn.functional.glu(x, d), None),
    "normalize": ("f", lambda lib, x, d: lib.nn.functional.normalize(x, dim=d), None),
    "fftshift": ("fi", lambda lib, x, d: lib.fft.fftshift(x, d), np.fft.fftshift),
    "ifftshift": ("fi", lambda lib, x, d: lib.fft.ifftshift(x, d), np.fft.ifftshift),
}  # fmt: skip


@pytest.mark.parametrize("name", ALONG)
@SETTINGS
@given(data=st.data())
def test_along_a_dimension(name: str, data: Any) -> None:
    kinds, call, by_numpy = ALONG[name]
    array = data.draw(arrays(kinds))
    compare(call, by_numpy, [array], data.draw(dims(array.ndim)))


# -- over several dimensions -----------------------------------------------------------------------
OVER: dict[str, tuple[str, Any, Any]] = {
    "sum": ("fib", lambda lib, x, d, keep: lib.sum(x, d, keep),
            lambda a, d, keep: a.sum(d, keepdims=keep)),
    "mean": ("f", lambda lib, x, d, keep: lib.mean(x, d, keep),
             lambda a, d, keep: a.mean(d, keepdims=keep)),
    "amax": ("fi", lambda lib, x, d, keep: lib.amax(x, d, keep),
             lambda a, d, keep: a.max(d, keepdims=keep)),
    "amin": ("fi", lambda lib, x, d, keep: lib.amin(x, d, keep),
             lambda a, d, keep: a.min(d, keepdims=keep)),
    "var": ("f", lambda lib, x, d, keep: lib.var(x, d, correction=0, keepdim=keep),
            lambda a, d, keep: a.var(d, keepdims=keep)),
    "std_mean": ("f", lambda lib, x, d, keep: lib.std_mean(x, d, keepdim=keep),
                 lambda a, d, keep: (a.std(d, ddof=1, keepdims=keep), a.mean(d, keepdims=keep))),
    "logsumexp": ("f", lambda lib, x, d, keep: lib.logsumexp(x, d, keep),
                  lambda a, d, keep: np.log(np.exp(a).sum(d, keepdims=keep))),
    "all": ("fib", lambda lib, x, d, keep: lib.all(x, d, keep),
            lambda a, d, keep: a.all(d, keepdims=keep)),
    "any": ("fib", lambda lib, x, d, keep: lib.any(x, d, keep),
            lambda a, d, keep: a.any(d, keepdims=keep)),
    "vector_norm": ("fc", lambda lib, x, d, keep: lib.linalg.vector_norm(x, 2, d, keep),
                    lambda a, d, keep: (abs(a) ** 2).sum(d, keepdims=keep) ** 0.5),
    "flip": ("fib", lambda lib, x, d, _: lib.flip(x, d), lambda a, d, _: np.flip(a, d)),
    "fftn": ("fc", lambda lib, x, d, _: lib.fft.fftn(x, dim=d),
             lambda a, d, _: np.fft.fftn(a, axes=d)),
    "ifftn": ("c", lambda lib, x, d, _: lib.fft.ifftn(x, dim=d, norm="ortho"),
              lambda a, d, _: np.fft.ifftn(a, axes=d, norm="ortho")),
    "rfftn": ("f", lambda lib, x, d, _: lib.fft.rfftn(x, dim=d),
              lambda a, d, _: np.fft.rfftn(a, axes=d)),
    "irfftn": ("fc", lambda lib, x, d, _: lib.fft.irfftn(x, dim=d),
               lambda a, d, _: np.fft.irfftn(a, axes=d)),
    "hfftn": ("c", lambda lib, x, d, _: lib.fft.hfftn(x, dim=d), None),
}  # fmt: skip


@pytest.mark.parametrize("name", OVER)
@SETTINGS
@given(data=st.data())
def test_over_dimensions(name: str, data: Any) -> None:
    kinds, call, by_numpy = OVER[name]
    # PyTorch's transforms of empty arrays fail inside the library that they call.
    array = data.draw(arrays(kinds, smallest=1 if "fft" in name else 0))
    chosen = data.draw(several_dims(array.ndim))
    compare(call, by_numpy, [array], chosen, data.draw(st.booleans()))


# -- views and rearrangements: the call, NumPy's way, and its further arguments by shape -----------


def two_dims(shape: Any) -> Any:
    return st.tuples(dims(len(shape)), dims(len(shape)))


def with_dim(*others: Any) -> Any:
    return lambda shape: st.tuples(*others, dims(len(shape)))


def orders(shape: Any) -> Any:
    ndim = len(shape)
    return (
        st.permutations(range(ndim))
        .flatmap(lambda p: st.tuples(*(st.sampled_from((d, d - ndim)) for d in p)))
        .map(lambda p: (p,))
    )


def new_shapes(shape: Any) -> Any:
    """Sizes in another order, with ones between them, or -1 for one of them."""
    sizes = st.permutations([*shape, 1])
    return st.tuples(sizes) | st.just((-1,)) | st.tuples(st.just((*shape[:1], -1)))


def grown(shape: Any) -> Any:
    return st.tuples(st.tuples(st.integers(0, 3), *(st.sampled_from((-1, n)) for n in shape)))


VIEWS: dict[str, tuple[Any, Any, Any]] = {
    "transpose": (lambda lib, x, a, b: lib.transpose(x, a, b), np.swapaxes, two_dims),
    "movedim": (lambda lib, x, a, b: lib.movedim(x, a, b), np.moveaxis, two_dims),
    "permute": (lambda lib, x, p: lib.permute(x, p), np.transpose, orders),
    "T": (lambda lib, x: x.mT if x.ndim else x, None, lambda shape: st.just(())),
    "reshape": (lambda lib, x, s: lib.reshape(x, s if isinstance(s, (tuple, list)) else (s,)),
                np.reshape, new_shapes),
    "flatten": (lambda lib, x, a, b: lib.flatten(x, a, b), None, two_dims),
    "expand": (lambda lib, x, s: x.expand(s), None, grown),
    "squeeze": (lambda lib, x: lib.squeeze(x), np.squeeze, lambda shape: st.just(())),
    "squeeze several": (lambda lib, x, d: lib.squeeze(x, d), None,
                        lambda shape: st.tuples(several_dims(len(shape)))),
    "roll": (lambda lib, x, n, d: lib.roll(x, n, d), np.roll, with_dim(small)),
    "roll all": (lambda lib, x, n: lib.roll(x, n), np.roll, lambda shape: st.tuples(small)),
    "rot90": (lambda lib, x, n, a, b: lib.rot90(x, n, (a, b)),
              lambda a, n, *d: np.rot90(a, n, d),
              lambda shape: st.tuples(small, dims(len(shape)), dims(len(shape)))),
    "narrow": (lambda lib, x, start, n, d: lib.narrow(x, d, start, n), None,
               with_dim(small, st.integers(0, 3))),
    "select": (lambda lib, x, i, d: lib.select(x, d, i),
               lambda a, i, d: np.take(a, i, d), with_dim(small)),
    "unfold": (lambda lib, x, n, step, d: x.unfold(d, n, step), None,
               with_dim(st.integers(0, 3), st.integers(1, 2))),
    "diagonal": (lambda lib, x, n, a, b: lib.diagonal(x, n, a, b), np.diagonal,
                 lambda shape: st.tuples(small, dims(len(shape)), dims(len(shape)))),
    "diag": (lambda lib, x, n: lib.diag(x, n), np.diag, lambda shape: st.tuples(small)),
    "diag_embed": (lambda lib, x, n: lib.diag_embed(x, n), None, lambda shape: st.tuples(small)),
    "tril": (lambda lib, x, n: lib.tril(x, n), np.tril, lambda shape: st.tuples(small)),
    "triu": (lambda lib, x, n: lib.triu(x, n), np.triu, lambda shape: st.tuples(small)),
    "repeat_interleave": (lambda lib, x, n, d: lib.repeat_interleave(x, n, d if x.ndim else None),
                          lambda a, n, d: np.repeat(a, n, d if a.ndim else None),
                          with_dim(st.integers(0, 3))),
    "tile": (lambda lib, x, n: lib.tile(x, n), np.tile,
             lambda shape: st.tuples(shapes(most=3))),
    "split": (lambda lib, x, n, d: lib.split(x, n, d), None, with_dim(st.integers(0, 3))),
    "chunk": (lambda lib, x, n, d: lib.chunk(x, n, d), None, with_dim(st.integers(0, 3))),
    "tensor_split": (lambda lib, x, n, d: lib.tensor_split(x, n, d), np.array_split,
                     with_dim(st.integers(0, 5))),
    "tensor_split places": (
        lambda lib, x, n, d: lib.tensor_split(x, n, d), None,
        with_dim(st.tuples(small, small))),
    "atleast_3d": (lambda lib, x: lib.atleast_3d(x), np.atleast_3d, lambda shape: st.just(())),
    "nonzero": (lambda lib, x: lib.nonzero(x), lambda a: np.stack(a.nonzero(), -1),
                lambda shape: st.just(())),
    "unflatten": (lambda lib, x, d: lib.unflatten(x, d, (1, -1)), None, with_dim()),
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
@SETTINGS
@given(data=st.data())
def test_views_and_rearrangements(name: str, data: Any) -> None:
    call, by_numpy, further = VIEWS[name]
    array = data.draw(arrays("fibc"))
    compare(call, by_numpy, [array], *data.draw(further(array.shape)))


# -- joining ---------------------------------------------------------------------------------------
JOINS: dict[str, tuple[Any, Any]] = {
    "cat": (lambda lib, *xs: lib.cat(xs[:-1], xs[-1]), lambda *a: np.concatenate(a[:-1], a[-1])),
    "stack": (lambda lib, *xs: lib.stack(xs[:-1], xs[-1]), lambda *a: np.stack(a[:-1], a[-1])),
    **{name: (lambda lib, *xs, name=name: getattr(lib, name)(xs[:-1]),
              lambda *a, name=name: getattr(np, name)(a[:-1]))
       for name in ("hstack", "vstack", "dstack", "column_stack")},
}  # fmt: skip


@pytest.mark.parametrize("name", JOINS)
@SETTINGS
@given(data=st.data())
def test_joins(name: str, data: Any) -> None:
    call, by_numpy = JOINS[name]
    shape = data.draw(shapes())
    dim = data.draw(dims(len(shape)))
    parts = []
    for _ in range(data.draw(st.integers(1, 3))):
        sizes = list(shape)
        if name == "cat" and sizes:
            sizes[dim] = data.draw(st.integers(0, 3))
        parts.append(data.draw(laid_out(tuple(sizes), "fibc")))
    compare(call, by_numpy, parts, dim)


# -- comparing, logic and bits of two broadcast operands -------------------------------------------
PAIRS: dict[str, tuple[str, Any]] = {
    "eq": ("fibc", np.equal), "ne": ("fibc", np.not_equal), "lt": ("fib", np.less),
    "le": ("fib", np.less_equal), "gt": ("fib", np.greater), "ge": ("fib", np.greater_equal),
    "logical_and": ("fib", np.logical_and), "logical_or": ("fib", np.logical_or),
    "logical_xor": ("fib", np.logical_xor), "isclose": ("f", np.isclose),
    "bitwise_and": ("ib", np.bitwise_and), "bitwise_or": ("ib", np.bitwise_or),
    "bitwise_xor": ("ib", np.bitwise_xor), "gcd": ("i", np.gcd), "lcm": ("i", np.lcm),
    "add": ("fibc", np.add), "mul": ("fibc", np.multiply), "maximum": ("f", np.maximum),
    "minimum": ("f", np.minimum), "fmax": ("fib", np.fmax), "hypot": ("f", np.hypot),
    "xlogy": ("f", None), "heaviside": ("i", np.heaviside), "nextafter": ("f", np.nextafter),
    "true_divide": ("i", None), "float_power": ("i", None),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
@SETTINGS
@given(data=st.data())
def test_pairs(name: str, data: Any) -> None:
    kinds, by_numpy = PAIRS[name]
    operands = data.draw(broadcastable(2, kinds))
    compare(lambda lib, x, y: getattr(lib, name)(x, y), by_numpy, operands)


@SETTINGS
@given(data=st.data())
def test_choices(data: Any) -> None:
    condition = data.draw(broadcastable(1, "b"))
    x, y = data.draw(broadcastable(2, "fi"))
    try:
        np.broadcast_shapes(condition[0].shape, x.shape, y.shape)
    except ValueError:
        condition = [x > y]
    compare(lambda lib, c, x, y: lib.where(c, x, y), np.where, [*condition, x, y])
    compare(lambda lib, x, y: lib.lerp(x, y, 0.3), None, [x, y])
    compare(lambda lib, x, low, high: lib.clamp(x, low, high), None, [x, y, y + 1])
