"""Every operation in every dtype beside float64: how far rounding takes results and gradients.

The reference is PyTorch in float64 (complex128, int64) on the same numbers, rounded to the dtype
first. An error is measured against the largest element of the reference, plus 1, and must stay
below the dtype's ``BESIDE_WIDER``. ``docs/numerics.md`` says where a GPU differs by its nature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch

import tinytorch as tt
from tests.ops import array_examples, layer_examples
from tests.oracles import BESIDE_WIDER, flatten, host, weights

#: What PyTorch has to say of what it would rather not have.
pytestmark = [
    pytest.mark.torch,
    *(
        pytest.mark.filterwarnings(f"ignore:{text}")
        for text in (".*deprecated", "Casting complex values", "index_reduce.. is in beta")
    ),
]

EXAMPLES: dict[str, Any] = {
    **array_examples.ELEMENTWISE, **array_examples.SHAPES, **array_examples.INDEXING,
    **array_examples.REDUCTIONS, **layer_examples.LINEAR_ALGEBRA, **layer_examples.TRANSFORMS,
    **layer_examples.LAYERS, **layer_examples.LOSSES,
}  # fmt: skip

#: Examples where PyTorch is no reference, and why.
NO_REFERENCE = {
    "scatter": "PyTorch refuses the gradient of a source larger than the index",
    "vander": "PyTorch's backward fails: it has written over what it needs",
    "digamma": "PyTorch's trigamma is right to 1e-10 alone; see test_trigamma_is_scipys",
    "polygamma": "likewise",
    "nn.functional.hardsigmoid": "its sixth is a float32 there",
}


def find(library: Any, name: str) -> Any:
    for part in name.split("."):
        library = getattr(library, part)
    return library


def example_of(key: str) -> tuple[Callable[..., Any], list[Any]]:
    """The example's call, ``call(library, *tensors)``, and its arrays."""
    first, *rest = EXAMPLES[key]
    if callable(first):
        return first, rest
    return lambda library, *tensors: find(library, key)(*tensors), [first, *rest]


def cast(array: Any, dtype: str) -> Any:
    """An array in a dtype, if it holds floating-point numbers; complex ones get both parts."""
    if array.dtype.kind != "f":
        return array
    if dtype.startswith("complex"):
        array = array + 1j * (0.6 * np.roll(array, 1) + 0.1)
    return np.asarray(array, dtype)


def widened(array: Any) -> Any:
    if array.dtype == "int32":
        return array.astype("int64")
    return array.astype({"f": np.float64, "c": np.complex128}.get(array.dtype.kind, array.dtype))


@contextmanager
def float64_by_default(library: Any) -> Iterator[None]:
    before = library.get_default_dtype()
    library.set_default_dtype(library.float64)
    try:
        yield
    finally:
        library.set_default_dtype(before)


def evaluate(library: Any, call: Any, arrays: list[Any], dtype: str | None) -> list[Any]:
    """Results and gradients on the host. ``dtype``: what the weights are rounded to."""
    tensors = [library.tensor(np.array(a)) for a in arrays]
    leaves = [t.requires_grad_() for t in tensors if host(t).dtype.kind in "fc"]
    outs = [o for o in flatten(call(library, *tensors)) if hasattr(o, "requires_grad")]
    found = [host(o) for o in outs]
    outs = [o for o in outs if o.requires_grad]
    if outs:
        given = [_weight(library, host(o), dtype) for o in outs]
        grads = library.autograd.grad(outs, leaves, given, allow_unused=True)
        zero = [np.zeros(t.shape, host(t).dtype) for t in leaves]
        found += [z if g is None else host(g) for g, z in zip(grads, zero, strict=True)]
    return found


def _weight(library: Any, out: Any, dtype: str | None) -> Any:
    values = weights(out.shape, out.dtype)
    if dtype == "float16":
        values = values.astype("complex64" if out.dtype.kind == "c" else dtype)
    return library.tensor(values.astype(out.dtype))


Refusals = (RuntimeError, TypeError, ValueError, NotImplementedError)


def reference_of(call: Any, arrays: list[Any], dtype: str) -> list[Any] | None:
    """PyTorch's results and gradients; results alone where it has no gradients, else None."""
    wide = [widened(a) for a in arrays]
    with float64_by_default(torch):
        try:
            return evaluate(torch, call, wide, dtype)
        except Refusals:
            try:
                with torch.no_grad():
                    return evaluate(torch, call, wide, dtype)
            except Refusals:
                return None


def error(ours: Any, reference: Any, dtype: str) -> float:
    """The largest difference over the largest element; equal infinities and NaN are equal."""
    if ours.dtype.kind not in "fc":
        return 0.0 if np.array_equal(ours, reference) else np.inf
    if ours.dtype.kind == "f":  # what is beyond the dtype is infinite in it
        beyond = np.abs(reference) > np.finfo(ours.dtype).max
        reference = np.where(beyond, np.copysign(np.inf, reference), reference)
    with np.errstate(all="ignore"):
        same = (ours == reference) | (np.isnan(ours) & np.isnan(reference))
        difference = np.where(same, 0, np.abs(ours - reference))
        finite = np.where(np.isfinite(reference), np.abs(reference), 0)
    return float(np.max(difference, initial=0.0) / (1 + np.max(finite, initial=0.0)))


def has_reference(call: Any, arrays: list[Any], dtype: str) -> bool:
    """Compare what a call gives in a dtype with the reference; False if there is none."""
    reference = reference_of(call, arrays, dtype)
    if reference is None:
        return False
    try:
        ours = evaluate(tt, call, arrays, dtype)
    except Refusals:
        with pytest.raises(Refusals):  # then PyTorch refuses that very dtype too
            evaluate(torch, call, arrays, dtype)
        return True
    assert len(ours) >= len(reference) > 0
    limit = BESIDE_WIDER.get(dtype, BESIDE_WIDER["float32"])
    for a, b in zip(ours, reference, strict=False):
        assert (a.shape, a.dtype.kind) == (b.shape, b.dtype.kind), dtype
        assert error(a, b, dtype) <= limit, dtype
    return True


@pytest.mark.parametrize("key", [key for key in EXAMPLES if key not in NO_REFERENCE])
def test_results_and_gradients_of_each_dtype_have_a_precise_reference(key: str) -> None:
    call, arrays = example_of(key)
    compared = {
        dtype: has_reference(call, [cast(a, dtype) for a in arrays], dtype)
        for dtype in BESIDE_WIDER
    }
    assert all(compared[dtype] for dtype in ("float16", "float32", "float64"))


# -- shapes ------------------------------------------------------------------------------------

PLAIN = [
    key
    for key in array_examples.ELEMENTWISE
    if key not in (*NO_REFERENCE, "nn.functional.glu", "igamma", "igammac")  # they want a shape
    and all(np.shape(a) == (2, 3) for a in EXAMPLES[key] if not callable(a))
]


def every_other(call: Any) -> Any:
    return lambda library, *tensors: call(library, *[t[:, ::2].T for t in tensors])


SHAPES: dict[str, Callable[[Any], Any]] = {
    "no dimensions": lambda a: np.array(a[1, 1]), "empty": lambda a: a[:0],
    "many": lambda a: np.tile(a, (40, 50)),
}  # fmt: skip


@pytest.mark.parametrize("key", PLAIN)
def test_results_of_every_shape_have_a_precise_reference(key: str) -> None:
    call, arrays = example_of(key)
    for dtype in ("float16", "float32"):
        given = [cast(a, dtype) for a in arrays]
        for change in SHAPES.values():
            assert has_reference(call, [change(a) for a in given], dtype)
        assert has_reference(every_other(call), [np.repeat(a, 2, axis=1) for a in given], dtype)


# -- integers, bools, and what has no gradient ---------------------------------------------------

I, J = array_examples.numbers(3, 4), array_examples.numbers(3, 4, seed=1)
#: Calls of two arrays; of integers, their values are small.
WITHOUT_GRADIENTS: dict[str, Callable[..., Any]] = {
    **{
        name: (lambda lib, x, y, name=name: getattr(lib, name)(x, y))
        for name in "eq ne lt le gt ge floor_divide logical_and logical_or logical_xor isclose "
        "heaviside bitwise_and bitwise_or bitwise_xor gcd lcm true_divide add sub mul remainder "
        "fmod maximum minimum atan2 copysign".split()
    },
    **{
        name: (lambda lib, x, y, name=name: getattr(lib, name)(x))
        for name in "isnan isinf isfinite isreal signbit logical_not sign argmax argmin "
        "count_nonzero any all nonzero argwhere bitwise_not neg abs square sum prod mean "
        "max min amax amin sort argsort unique diff tril exp sin sqrt sigmoid "
        "floor ceil trunc round positive std var median mode clone".split()
    },
    "shift": lambda lib, x, y: (x << 2, x >> 1),
    "any along": lambda lib, x, y: (lib.any(x, 0), lib.all(x, 1)),
    "argmax along": lambda lib, x, y: (lib.argmax(x, 1), lib.argmin(x, 0, keepdim=True)),
    "sum along": lambda lib, x, y: (lib.sum(x, 1), lib.prod(x, 0)),
    "running": lambda lib, x, y: (lib.cumsum(x, 1), lib.cumprod(x, 0)),
    "numbers": lambda lib, x, y: (x + 2, 3 * x, x % 3, x * 1.5, x / 2, 2 / (x + 100)),
    "powers": lambda lib, x, y: (x**2, 2 ** lib.abs(x), x // 2, x - 1),
    "flip": lambda lib, x, y: lib.flip(x, (0, 1)),
    "logcumsumexp": lambda lib, x, y: lib.logcumsumexp(x, 1),
    "products": lambda lib, x, y: (x @ y.T, lib.dot(x[0], y[0]), lib.outer(x[0], y[1])),
    "where": lambda lib, x, y: lib.where(x > y, x, y),
    "isin": lambda lib, x, y: lib.isin(x, y[0]),
    "searchsorted": lambda lib, x, y: lib.searchsorted(lib.sort(x)[0], y),
    "bucketize": lambda lib, x, y: lib.bucketize(x, lib.sort(y.flatten())[0]),
    "masks": lambda lib, x, y: (x[x > 0], x.masked_fill(y > 0, 1), x[:, [2, 0]]),
    "scatter_add": lambda lib, x, y: lib.scatter_add(x, 1, (y > 0).long(), y),
    "index_add": lambda lib, x, y: lib.index_add(x, 0, lib.tensor([1, 1, 0]), y),
    "topk": lambda lib, x, y: lib.topk(x, 2).values,
    "bincount": lambda lib, x, y: lib.bincount(lib.abs(x).flatten()),
    "one_hot": lambda lib, x, y: lib.nn.functional.one_hot(lib.abs(x), 40),
    "histc": lambda lib, x, y: lib.histc(x, 5),
    "conv": lambda lib, x, y: lib.nn.functional.max_pool1d(x, 2),
    "cross": lambda lib, x, y: lib.cross(x[:, :3], y[:, :3], dim=1),
}
DTYPES = ("int32", "int64", "uint8", "bool", "float32")


@pytest.mark.parametrize("name", WITHOUT_GRADIENTS)
def test_functions_without_gradients_have_a_reference_in_each_dtype(name: str) -> None:
    compared = []
    for dtype in DTYPES:
        arrays = [np.abs(a) if dtype == "uint8" else 2 * a for a in (I, J)]
        arrays = [a > 0 if dtype == "bool" else a.astype(dtype) for a in arrays]
        call = WITHOUT_GRADIENTS[name]
        compared.append(
            has_reference(lambda lib, x, y: call(lib, x.detach(), y.detach()), arrays, dtype)
        )
    assert any(compared)


@pytest.mark.parametrize(("dtype", "limit"), [("float32", 2e-6), ("float64", 1e-13)])
def test_trigamma_is_scipys(dtype: str, limit: float) -> None:
    special = pytest.importorskip("scipy.special", reason="SciPy is the reference")
    for values in (array_examples.X, array_examples.P):
        x = tt.tensor(values.astype(dtype), requires_grad=True)
        tt.digamma(x).sum().backward()
        expected = special.polygamma(1, values.astype(dtype).astype("f8"))
        assert error(host(x.grad), expected, dtype) <= limit
        expected = special.digamma(values.astype(dtype).astype("f8"))
        assert error(host(tt.digamma(x)), expected, dtype) <= limit
