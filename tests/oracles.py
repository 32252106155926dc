"""Oracles of the tests, and the tolerances by dtype.

``compare`` and ``compare_functional`` run a call with both libraries and compare results and
derivatives; ``assert_same_behavior`` compares returned values or errors of any kind.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.calls import Call, call_with_names
from tinytorch.capture.replay import run_program

#: Results and gradients against PyTorch's, by dtype: sums in another order, other formulas.
TOLERANCE = {
    "float16": {"rtol": 2e-3, "atol": 2e-3}, "float32": {"rtol": 2e-5, "atol": 5e-6},
    "float64": {"rtol": 1e-9, "atol": 1e-11}, "complex64": {"rtol": 2e-5, "atol": 5e-6},
    "complex128": {"rtol": 1e-9, "atol": 1e-11},
}  # fmt: skip
#: Results of the same formula; in float32 they are equal to the bit.
ONE_FORMULA = {"rtol": 1e-9, "atol": 1e-9}
#: Results of short calls in float32.
CALLS = {"rtol": 2e-6, "atol": 2e-6}
#: Results of the same few operations: a step of an optimizer, a fused kernel.
FEW_STEPS = {"float16": 4e-3, "float32": 2e-6, "float64": 1e-13}
#: Random numbers of one stream that go through log, sin or cos, relative to 1 + |x|.
DRAWN = {
    "float16": 1e-3, "float32": 3e-7, "float64": 1e-15, "complex64": 3e-7, "complex128": 1e-15,
}  # fmt: skip
#: Results against those in a wider dtype: about ten units in the last place of a result near 1.
BESIDE_WIDER = {"float16": 8e-3, "float32": 2e-6, "float64": 1e-12, "complex64": 4e-6}

#: Results of a program in bfloat16 or a float8 type: few units in the last place, other orders.
REDUCED_PRECISION = {"rtol": 2e-2, "atol": 2e-2}
#: Relative and absolute error of a decomposition, which has other formulas, by bytes of a number.
DECOMPOSED = {2: (1e-2, 2e-3), 4: (1e-4, 2e-5), 8: (5e-9, 1e-9)}
#: Results against NumPy's own functions, relative and absolute.
AGAINST_NUMPY = {
    "float16": 1e-3, "float32": 1e-6, "complex64": 1e-6, "float64": 1e-12, "complex128": 1e-12,
}  # fmt: skip


def libraries() -> tuple[Any, Any]:
    """tinytorch and PyTorch, for a test that is marked ``torch``."""
    return tt, importlib.import_module("torch")


def elements_to_compare(*arrays: np.ndarray) -> Any:
    """Mask of the elements to compare: on a GPU those where no array has a subnormal float32.

    CUDA's kernels flush subnormal float32 to 0, see ``docs/numerics.md``.
    """
    if tt.get_backend() != "cupy":
        return np.full(arrays[0].shape, True)
    smallest = np.finfo(np.float32).tiny
    return np.all([(x == 0) | ~(abs(x) < smallest) for x in arrays], axis=0)


def host(value: Any) -> np.ndarray[Any, Any]:
    """A result of either library as a NumPy array."""
    return np.asarray(value.numpy(force=True) if hasattr(value, "detach") else value)


def flatten(value: Any) -> list[Any]:
    """Flatten nested tuples and lists of results."""
    if isinstance(value, (tuple, list)) and type(value).__name__ != "Size":
        return [item for part in value for item in flatten(part)]
    return [value]


def assert_close(ours: Any, theirs: Any, **tolerance: float) -> None:
    """Assert equal shape and dtype, and values within ``tolerance``, by default ``TOLERANCE``."""
    a, b = host(ours), host(theirs)
    assert a.shape == b.shape and a.dtype == b.dtype
    exact = b.dtype.kind not in "fc"
    within = {} if exact else tolerance or TOLERANCE[b.dtype.name]
    np.testing.assert_allclose(a, b, **within)


def assert_all_close(ours: Any, theirs: Any) -> None:
    """Assert that nested results have the same length, shapes, dtypes and, to 1e-9, values."""
    ours, theirs = flatten(ours), flatten(theirs)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert_close(a, b, **ONE_FORMULA)


# -- numbers to compare with -----------------------------------------------------------------------


def numbers(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Array of distinct numbers in random order, 0.7 apart and at least 0.175 from 0."""
    size = int(np.prod(shape))
    values = np.random.RandomState(seed).permutation(size) - (size - 1) / 2 + 0.25
    return values.reshape(shape) * 0.7


def complexes(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Array of complex numbers whose parts are those of ``numbers``."""
    return numbers(*shape, seed=seed) + 1j * numbers(*shape, seed=seed + 1)


def weights(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """Array of irregular weights for results, from which gradients are computed."""
    values = np.cos(np.arange(np.prod(shape, dtype=int)) * 1.7 + 0.3).reshape(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 0.5j * np.flip(values)
    return np.asarray(values, dtype)


# -- results and derivatives -----------------------------------------------------------------------


def derivatives(library: Any, outs: list[Any], inputs: list[Any], orders: int) -> list[Any]:
    """Gradients of the weighted results, then of the weighted gradients, up to ``orders``."""
    found: list[Any] = []
    for order in range(orders):
        outs = [out for out in outs if out is not None and out.requires_grad]
        if not outs:  # constant in this library; in the other they may have gradients of zeros
            found += [library.zeros_like(x) for x in inputs]
            continue
        cotangents = [library.tensor(weights(tuple(o.shape), host(o).dtype)) for o in outs]
        outs = list(
            library.autograd.grad(
                outs, inputs, cotangents, create_graph=order + 1 < orders, allow_unused=True
            )
        )
        found += [
            library.zeros_like(x) if g is None else g for g, x in zip(outs, inputs, strict=True)
        ]
    return found


def has_second_derivatives(function: Callable[..., Any], inputs: Any) -> bool:
    """Compare second derivatives with a finite difference of the first ones, along one direction.

    A random direction depends on every element of the second derivatives and costs three
    evaluations; ``gradgradcheck`` needs two for each element.

    Args:
        function: Returns tensors; those that require grad are differentiated.
        inputs: Its arguments; the derivatives are with respect to those that require grad, and to
            the weights of the results.
    """
    draws = np.random.RandomState(0)
    inputs = list(inputs)
    places = [i for i, x in enumerate(inputs) if getattr(x, "requires_grad", False)]
    varying = [inputs[i].detach() for i in places]

    def results(leaves: list[Any]) -> list[Any]:
        call_result = [*inputs]
        for i, leaf in zip(places, leaves, strict=True):
            call_result[i] = leaf
        return [
            out for out in flatten(function(*call_result)) if getattr(out, "requires_grad", False)
        ]

    def draw(like: Any) -> Any:
        values = draws.standard_normal((2, *like.shape))
        return tt.tensor(values[0] + 1j * values[1] if like.is_complex() else values[0]).to(like)

    def product(these: list[Any], those: list[Any]) -> Any:
        return sum((a.conj() * b).real.sum() for a, b in zip(these, those, strict=True))

    outs = results([x.requires_grad_() for x in map(tt.clone, varying)])
    point = [*varying, *(draw(out) for out in outs)]
    direction, seen = [draw(x) for x in point], [draw(x) for x in varying]

    def slope(step: float) -> tuple[Any, list[Any]]:
        moved = [(x + step * v).detach().requires_grad_() for x, v in zip(point, direction)]
        leaves, weights = moved[: len(places)], moved[len(places) :]
        firsts = tt.autograd.grad(
            results(leaves), leaves, weights, create_graph=True, materialize_grads=True
        )
        return product(seen, list(firsts)), moved

    value, leaves = slope(0.0)
    found = 0.0  # where the first derivatives are constant
    if value.requires_grad:
        seconds = tt.autograd.grad(value, leaves, materialize_grads=True)
        found = product(direction, list(seconds)).item()
    wanted = (slope(1e-6)[0] - slope(-1e-6)[0]).item() / 2e-6
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    return True


def compare(call: Callable[..., Any], *arrays: Any, orders: int = 2) -> None:
    """Assert that ``call(library, *tensors)`` has the same results and derivatives in both.

    Args:
        call: Function of the library and the tensors.
        *arrays: Arrays; floating-point and complex ones become tensors that require grad.
        orders: Number of orders of derivatives to compare.
    """
    import torch

    results = []
    for library in (tt, torch):
        tensors = [library.tensor(np.array(a)) for a in arrays]
        for tensor in tensors:
            if orders and host(tensor).dtype.kind in "fc":
                tensor.requires_grad_()
        out = call(library, *tensors)
        inputs = [t for t in tensors if t.requires_grad]
        outs = [o for o in flatten(out) if getattr(o, "requires_grad", False)]
        results.append((out, derivatives(library, outs, inputs, orders) if inputs else []))
    assert_all_close(results[0][0], results[1][0])
    assert_all_close(results[0][1], results[1][1])


def _as_argument(library: Any, value: Any, grad: bool) -> Any:
    """Convert an array to a tensor of ``library``; other values stay."""
    if isinstance(value, np.ndarray):
        grad = grad and value.dtype.kind in "fc"
        return library.tensor(value.copy(), requires_grad=grad)
    return value


def compare_functional(name: str, *args: Any, grad: bool = True, **options: Any) -> None:
    """Assert that ``nn.functional.name`` has the same results and gradients in both libraries.

    Args:
        name: The function, or a dotted name from the library's top.
        *args: Its arguments; arrays become tensors that require grad.
        grad: Whether to compare gradients, for a random cotangent.
        **options: Its keyword arguments, converted in the same way.
    """
    import torch

    outs, leaves = [], []
    for library in (tt, torch):
        function = library
        for part in (name if "." in name else f"nn.functional.{name}").split("."):
            function = getattr(function, part)
        tensors = [_as_argument(library, a, grad) for a in args]
        named = {key: _as_argument(library, a, grad) for key, a in options.items()}
        outs.append(function(*tensors, **named))
        everything = (*tensors, *named.values())
        leaves.append([t for t in everything if getattr(t, "requires_grad", False)])
    ours, theirs = (list(out) if isinstance(out, (tuple, list)) else [out] for out in outs)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert_close(a, b)
    if theirs[0].requires_grad:
        cotangent = np.random.randn(*theirs[0].shape).astype(host(theirs[0]).dtype)
        ours[0].backward(tt.tensor(cotangent))
        theirs[0].backward(torch.tensor(cotangent))
        for a, b in zip(*leaves, strict=True):
            wanted = torch.zeros_like(b) if b.grad is None else b.grad
            assert_close(tt.zeros_like(a) if a.grad is None else a.grad, wanted)


def assert_raises(name: str, error: type[Exception], text: str, *args: Any, **options: Any) -> None:
    """Assert that ``nn.functional.name`` raises ``error`` with ``text``; arrays become tensors."""
    tensors = [tt.tensor(a) if isinstance(a, np.ndarray) else a for a in args]
    named = {k: tt.tensor(a) if isinstance(a, np.ndarray) else a for k, a in options.items()}
    with pytest.raises(error, match=text):
        getattr(tt.nn.functional, name)(*tensors, **named)


# -- returned values and errors --------------------------------------------------------------------


def import_both(name: str) -> tuple[Any, Any]:
    """The module ``name`` below each library, such as ``"utils._pytree"``."""
    return importlib.import_module(f"tinytorch.{name}"), importlib.import_module(f"torch.{name}")


def call_both(use: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Results of ``use(library)`` for both libraries, seeded alike."""
    results = []
    for library in libraries():
        library.manual_seed(0)
        results.append(use(library))
    return results[0], results[1]


def to_comparable(value: Any) -> Any:
    """Convert a nested value for a comparison: tensors to arrays, tinytorch's name to torch's."""
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        return host(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, str):
        return value.replace("tinytorch", "torch")
    if isinstance(value, Mapping):
        return {key: to_comparable(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_comparable(each) for each in value]
    return value


def assert_same(ours: Any, theirs: Any, **tolerance: float) -> None:
    """Compare two results of ``to_comparable``: arrays, and with a tolerance floats, approximately.

    Args:
        ours: A nested value of tinytorch's.
        theirs: PyTorch's, or numbers that are recorded.
        **tolerance: ``rtol`` and ``atol``; without them arrays have ``TOLERANCE`` and floats none.
    """
    assert type(ours) is type(theirs), f"{ours!r} against {theirs!r}"
    if isinstance(theirs, np.ndarray):
        assert_close(ours, theirs, **tolerance)
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key in theirs:
            assert_same(ours[key], theirs[key], **tolerance)
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other, **tolerance)
    elif tolerance and isinstance(theirs, float):
        np.testing.assert_allclose(ours, theirs, **tolerance)
    else:
        assert ours == theirs


def result_or_error(use: Callable[[Any], Any], library: Any) -> Any:
    """Comparable value of ``use(library)``, or the type and text of its error."""
    try:
        return to_comparable(use(library))
    except Exception as error:
        return type(error).__name__, to_comparable(str(error))


def assert_same_behavior(use: Callable[[Any], Any]) -> None:
    """Assert that ``use`` returns the same value, or raises the same error, with both libraries."""
    ours, theirs = call_both(lambda library: result_or_error(use, library))
    assert_same(ours, theirs)


def error_texts(use: Callable[[Any], Any]) -> tuple[str, str]:
    """Texts of the errors that both libraries raise in ``use``; asserts that their types agree."""
    ours, theirs = call_both(lambda library: result_or_error(use, library))
    assert isinstance(theirs, tuple), "PyTorch accepts it"
    assert isinstance(ours, tuple) and ours[0] == theirs[0], (ours, theirs)
    return ours[1], theirs[1]


def assert_same_error(use: Callable[[Any], Any], words: int = 3) -> None:
    """Assert that both libraries raise one type of error with the same first ``words`` words."""
    ours, theirs = error_texts(use)
    assert ours.split()[:words] == theirs.split()[:words], (ours, theirs)


# -- calls as in ``tests/calls.py`` ----------------------------------------------------------------


def assert_same_outcome(call: Call) -> None:
    """Assert that a call returns the same value, or raises an error of the same type, in both."""
    assert_same(*call_both(lambda library: _call_outcome(library, call)), **CALLS)


def _call_outcome(library: Any, call: Call) -> Any:
    """Comparable value of a call, or the type of its error and the name of a missing kernel."""
    names = {
        "L": library, "F": library.nn.functional, "T": library.tensor, "X": library.arange(6.0),
        "B": library.tensor([[True, False], [True, True]]),
        "M": library.tensor([[1.0, 5.0, 2.0], [7.0, 0.0, 3.0]]),
    }  # fmt: skip
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return to_comparable(call_with_names(call, names))
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        return type(error).__name__, re.findall('"\\w+" not implemented for .*', str(error))


def call_result(library: Any, call: Call, **names: Any) -> Any:
    """Call with the library as ``L``, ``nn.functional`` as ``F``, an int32 ``tensor`` as ``T``."""

    def integers(values: Any) -> Any:
        return library.tensor(values, dtype=library.int32)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        functional = library.nn.functional
        return call_with_names(call, {"L": library, "F": functional, "T": integers, **names})


def assert_both_raise(call: Call, kind: type[Exception], phrase: str, **makers: Call) -> None:
    """Assert that a call raises an error of one class with one phrase in both libraries.

    Args:
        call: See ``call_result``.
        kind: The class of the error.
        phrase: Part of its text.
        **makers: Functions of the library that make further arguments of the call.
    """
    for library in libraries():
        names = {name: make(library) for name, make in makers.items()}
        with pytest.raises(kind) as caught:
            call_result(library, call, **names)
        assert phrase in str(caught.value)


# -- recorded programs -----------------------------------------------------------------------------


def compare_runs(
    executable: Any, program: Any, arrays: list[Any], tolerance: float = 0.0,
    upload: Callable[[Any], Any] | None = None,
) -> None:  # fmt: skip
    """Compare two runs of a prepared program with the engine that runs node after node.

    Args:
        executable: The prepared program.
        program: The program.
        arrays: An array for each input; those that the program writes change.
        tolerance: Relative and absolute; with 0 results are equal, also in the signs of zeros.
        upload: Function that returns the array of the engine for one of NumPy's. Default: a copy.
    """
    given = [np.array(x, order="K") if upload is None else upload(x) for x in arrays]
    for _ in range(2):
        expected = run_program(program, arrays)
        found = executable.run(given) + [given[number] for number, _ in program.writes]
        found = [each.get() if hasattr(each, "get") else each for each in found]
        for a, b in zip(found, expected, strict=True):
            assert a.shape == b.shape and a.dtype == b.dtype
            if tolerance:
                np.testing.assert_allclose(a, b, tolerance, tolerance)
                continue
            np.testing.assert_array_equal(a, b)
            if a.dtype.kind == "f":
                known = ~np.isnan(a)
                np.testing.assert_array_equal(np.signbit(a)[known], np.signbit(b)[known])
        results = len(program.outputs)
        for (number, _), value in zip(program.writes, found[results:], strict=True):
            arrays[number][...] = value
