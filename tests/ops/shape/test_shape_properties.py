"""Reductions, orders, views, joins and parts on shapes and strides that nobody chose by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ops.strategies import (
    SETTINGS,
    arrays,
    broadcastable,
    compare_samples,
    dims,
    laid_out,
    several_dims,
    shapes,
)

pytestmark = [
    pytest.mark.torch,
    # PyTorch's warning about the variance of one element; the result, NaN, is compared.
    pytest.mark.filterwarnings("ignore:.*degrees of freedom"),
    # Arrays that are stretched are among those that are shared.
    pytest.mark.filterwarnings("ignore:The given NumPy array is not writable:UserWarning"),
]
small = st.integers(-3, 3)


# -- along one dimension: kinds of dtypes, the call -----------------------------------
ALONG: dict[str, tuple[str, Any]] = {
    "sum": ("fibc", lambda lib, x, d: lib.sum(x, d)),
    "mean": ("fc", lambda lib, x, d: x.mean(d, keepdim=True)),
    "prod": ("fic", lambda lib, x, d: lib.prod(x, d)),
    "nansum": ("fi", lambda lib, x, d: lib.nansum(x, d)),
    "nanmean": ("f", lambda lib, x, d: lib.nanmean(x, d)),
    "std": ("f", lambda lib, x, d: lib.std(x, d)),
    "var": ("fc", lambda lib, x, d: lib.var(x, d, correction=0)),
    "logsumexp": ("f", lambda lib, x, d: lib.logsumexp(x, d)),
    "amax": ("fib", lambda lib, x, d: lib.amax(x, d)),
    "amin": ("fib", lambda lib, x, d: lib.amin(x, d, keepdim=True)),
    "max": ("di", lambda lib, x, d: lib.max(x, d).values),
    "min": ("d", lambda lib, x, d: tuple(lib.min(x, d))),
    "aminmax": ("fi", lambda lib, x, d: tuple(lib.aminmax(x, dim=d))),
    "argmax": ("d", lambda lib, x, d: lib.argmax(x, d)),
    "argmin": ("d", lambda lib, x, d: lib.argmin(x, d, keepdim=True)),
    "all": ("fib", lambda lib, x, d: lib.all(x, d)),
    "any": ("fib", lambda lib, x, d: lib.any(x, d)),
    "count_nonzero": ("fib", lambda lib, x, d: lib.count_nonzero(x, d)),
    "vector_norm": ("fc", lambda lib, x, d: lib.linalg.vector_norm(x, 3, d)),
    "median": ("d", lambda lib, x, d: lib.median(x, d).values),
    "quantile": ("d", lambda lib, x, d: lib.quantile(x, 0.3, d)),
    "nanquantile": ("d", lambda lib, x, d: lib.nanquantile(x, 0.8, d, keepdim=True)),
    "mode": ("i", lambda lib, x, d: lib.mode(x, d).values),
    "cumsum": ("fibc", lambda lib, x, d: lib.cumsum(x, d)),
    "cumprod": ("fic", lambda lib, x, d: lib.cumprod(x, d)),
    "cummax": ("di", lambda lib, x, d: lib.cummax(x, d).values),
    "cummin": ("d", lambda lib, x, d: tuple(lib.cummin(x, d))),
    "logcumsumexp": ("f", lambda lib, x, d: lib.logcumsumexp(x, d)),
    "sort": ("dib", lambda lib, x, d: lib.sort(x, d, descending=True).values),
    "argsort": ("fi", lambda lib, x, d: lib.argsort(x, dim=d, stable=True)),
    "topk": ("d", lambda lib, x, d: lib.topk(x, 1, d).values),
    "kthvalue": ("d", lambda lib, x, d: lib.kthvalue(x, 1, d, True).values),
    "diff": ("fib", lambda lib, x, d: lib.diff(x, dim=d)),
    "trapezoid": ("f", lambda lib, x, d: lib.trapezoid(x, dim=d)),
    "flip": ("fibc", lambda lib, x, d: lib.flip(x, (d,))),
    "unbind": ("fi", lambda lib, x, d: lib.unbind(x, d)),
    "unsqueeze": ("fi", lambda lib, x, d: lib.unsqueeze(x, d)),
    "squeeze": ("fi", lambda lib, x, d: lib.squeeze(x, d)),
    "unique": ("ib", lambda lib, x, d: lib.unique(x, dim=d)),
    "softmax": ("f", lambda lib, x, d: lib.softmax(x, d)),
    "log_softmax": ("f", lambda lib, x, d: lib.log_softmax(x, d)),
    "softmin": ("f", lambda lib, x, d: lib.nn.functional.softmin(x, d)),
    "glu": ("f", lambda lib, x, d: lib.nn.functional.glu(x, d)),
    "normalize": ("f", lambda lib, x, d: lib.nn.functional.normalize(x, dim=d)),
    "fftshift": ("fi", lambda lib, x, d: lib.fft.fftshift(x, d)),
    "ifftshift": ("fi", lambda lib, x, d: lib.fft.ifftshift(x, d)),
}  # fmt: skip


@pytest.mark.parametrize("name", ALONG)
@SETTINGS
@given(data=st.data())
def test_functions_along_a_dimension_are_pytorchs(name: str, data: Any) -> None:
    kinds, call = ALONG[name]
    array = data.draw(arrays(kinds))
    compare_samples(call, [array], data.draw(dims(array.ndim)))


# -- over several dimensions -----------------------------------------------------------------------
OVER: dict[str, tuple[str, Any]] = {
    "sum": ("fib", lambda lib, x, d, keep: lib.sum(x, d, keep)),
    "mean": ("f", lambda lib, x, d, keep: lib.mean(x, d, keep)),
    "amax": ("fi", lambda lib, x, d, keep: lib.amax(x, d, keep)),
    "amin": ("fi", lambda lib, x, d, keep: lib.amin(x, d, keep)),
    "var": ("f", lambda lib, x, d, keep: lib.var(x, d, correction=0, keepdim=keep)),
    "std_mean": ("f", lambda lib, x, d, keep: lib.std_mean(x, d, keepdim=keep)),
    "logsumexp": ("f", lambda lib, x, d, keep: lib.logsumexp(x, d, keep)),
    "all": ("fib", lambda lib, x, d, keep: lib.all(x, d, keep)),
    "any": ("fib", lambda lib, x, d, keep: lib.any(x, d, keep)),
    "vector_norm": ("fc", lambda lib, x, d, keep: lib.linalg.vector_norm(x, 2, d, keep)),
    "flip": ("fib", lambda lib, x, d, _: lib.flip(x, d)),
    "fftn": ("fc", lambda lib, x, d, _: lib.fft.fftn(x, dim=d)),
    "ifftn": ("c", lambda lib, x, d, _: lib.fft.ifftn(x, dim=d, norm="ortho")),
    "rfftn": ("f", lambda lib, x, d, _: lib.fft.rfftn(x, dim=d)),
    "irfftn": ("fc", lambda lib, x, d, _: lib.fft.irfftn(x, dim=d)),
    "hfftn": ("c", lambda lib, x, d, _: lib.fft.hfftn(x, dim=d)),
}  # fmt: skip


@pytest.mark.parametrize("name", OVER)
@SETTINGS
@given(data=st.data())
def test_functions_over_several_dimensions_are_pytorchs(name: str, data: Any) -> None:
    kinds, call = OVER[name]
    # PyTorch's transforms of empty arrays fail inside the library that they call.
    array = data.draw(arrays(kinds, smallest=1 if "fft" in name else 0))
    chosen = data.draw(several_dims(array.ndim))
    compare_samples(call, [array], chosen, data.draw(st.booleans()))


# -- views and rearrangements: the call and its further arguments by shape -----------


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


VIEWS: dict[str, tuple[Any, Any]] = {
    "transpose": (lambda lib, x, a, b: lib.transpose(x, a, b), two_dims),
    "movedim": (lambda lib, x, a, b: lib.movedim(x, a, b), two_dims),
    "permute": (lambda lib, x, p: lib.permute(x, p), orders),
    "T": (lambda lib, x: x.mT if x.ndim else x, lambda shape: st.just(())),
    "reshape": (lambda lib, x, s: lib.reshape(x, s if isinstance(s, (tuple, list)) else (s,)),
                new_shapes),
    "flatten": (lambda lib, x, a, b: lib.flatten(x, a, b), two_dims),
    "expand": (lambda lib, x, s: x.expand(s), grown),
    "squeeze": (lambda lib, x: lib.squeeze(x), lambda shape: st.just(())),
    "squeeze several": (lambda lib, x, d: lib.squeeze(x, d),
                        lambda shape: st.tuples(several_dims(len(shape)))),
    "roll": (lambda lib, x, n, d: lib.roll(x, n, d), with_dim(small)),
    "roll all": (lambda lib, x, n: lib.roll(x, n), lambda shape: st.tuples(small)),
    "rot90": (lambda lib, x, n, a, b: lib.rot90(x, n, (a, b)),
              lambda shape: st.tuples(small, dims(len(shape)), dims(len(shape)))),
    "narrow": (lambda lib, x, start, n, d: lib.narrow(x, d, start, n),
               with_dim(small, st.integers(0, 3))),
    "select": (lambda lib, x, i, d: lib.select(x, d, i), with_dim(small)),
    "unfold": (lambda lib, x, n, step, d: x.unfold(d, n, step),
               with_dim(st.integers(0, 3), st.integers(1, 2))),
    "diagonal": (lambda lib, x, n, a, b: lib.diagonal(x, n, a, b),
                 lambda shape: st.tuples(small, dims(len(shape)), dims(len(shape)))),
    "diag": (lambda lib, x, n: lib.diag(x, n), lambda shape: st.tuples(small)),
    "diag_embed": (lambda lib, x, n: lib.diag_embed(x, n), lambda shape: st.tuples(small)),
    "tril": (lambda lib, x, n: lib.tril(x, n), lambda shape: st.tuples(small)),
    "triu": (lambda lib, x, n: lib.triu(x, n), lambda shape: st.tuples(small)),
    "repeat_interleave": (lambda lib, x, n, d: lib.repeat_interleave(x, n, d if x.ndim else None),
                          with_dim(st.integers(0, 3))),
    "tile": (lambda lib, x, n: lib.tile(x, n),
             lambda shape: st.tuples(shapes(most=3))),
    "split": (lambda lib, x, n, d: lib.split(x, n, d), with_dim(st.integers(0, 3))),
    "chunk": (lambda lib, x, n, d: lib.chunk(x, n, d), with_dim(st.integers(0, 3))),
    "tensor_split": (lambda lib, x, n, d: lib.tensor_split(x, n, d),
                     with_dim(st.integers(0, 5))),
    "tensor_split places": (
        lambda lib, x, n, d: lib.tensor_split(x, n, d),
        with_dim(st.tuples(small, small))),
    "atleast_3d": (lambda lib, x: lib.atleast_3d(x), lambda shape: st.just(())),
    "nonzero": (lambda lib, x: lib.nonzero(x),
                lambda shape: st.just(())),
    "unflatten": (lambda lib, x, d: lib.unflatten(x, d, (1, -1)), with_dim()),
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
@SETTINGS
@given(data=st.data())
def test_views_and_rearrangements_are_pytorchs(name: str, data: Any) -> None:
    call, further = VIEWS[name]
    array = data.draw(arrays("fibc"))
    compare_samples(call, [array], *data.draw(further(array.shape)))


# -- joining ---------------------------------------------------------------------------------------
JOINS: dict[str, Any] = {
    "cat": lambda lib, *xs: lib.cat(xs[:-1], xs[-1]),
    "stack": lambda lib, *xs: lib.stack(xs[:-1], xs[-1]),
    **{name: lambda lib, *xs, name=name: getattr(lib, name)(xs[:-1])
       for name in ("hstack", "vstack", "dstack", "column_stack")},
}  # fmt: skip


@pytest.mark.parametrize("name", JOINS)
@SETTINGS
@given(data=st.data())
def test_joins_of_any_shapes_are_pytorchs(name: str, data: Any) -> None:
    call = JOINS[name]
    shape = data.draw(shapes())
    dim = data.draw(dims(len(shape)))
    parts = []
    for _ in range(data.draw(st.integers(1, 3))):
        sizes = list(shape)
        if name == "cat" and sizes:
            sizes[dim] = data.draw(st.integers(0, 3))
        parts.append(data.draw(laid_out(tuple(sizes), "fibc")))
    compare_samples(call, parts, dim)


# -- comparing, logic and bits of two broadcast operands -------------------------------------------
PAIRS: dict[str, str] = {
    "eq": "fibc", "ne": "fibc", "lt": "fib",
    "le": "fib", "gt": "fib", "ge": "fib",
    "logical_and": "fib", "logical_or": "fib",
    "logical_xor": "fib", "isclose": "f",
    "bitwise_and": "ib", "bitwise_or": "ib",
    "bitwise_xor": "ib", "gcd": "i", "lcm": "i",
    "add": "fibc", "mul": "fibc", "maximum": "f",
    "minimum": "f", "fmax": "fib", "hypot": "f",
    "xlogy": "f", "heaviside": "i", "nextafter": "f",
    "true_divide": "i", "float_power": "i",
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
@SETTINGS
@given(data=st.data())
def test_binary_functions_of_any_shapes_are_pytorchs(name: str, data: Any) -> None:
    kinds = PAIRS[name]
    operands = data.draw(broadcastable(2, kinds))
    compare_samples(lambda lib, x, y: getattr(lib, name)(x, y), operands)


@SETTINGS
@given(data=st.data())
def test_where_of_any_shapes_is_pytorchs(data: Any) -> None:
    condition = data.draw(broadcastable(1, "b"))
    x, y = data.draw(broadcastable(2, "fi"))
    try:
        np.broadcast_shapes(condition[0].shape, x.shape, y.shape)
    except ValueError:
        condition = [x > y]
    compare_samples(lambda lib, c, x, y: lib.where(c, x, y), [*condition, x, y])
    compare_samples(lambda lib, x, y: lib.lerp(x, y, 0.3), [x, y])
    compare_samples(lambda lib, x, low, high: lib.clamp(x, low, high), [x, y, y + 1])
