"""``assert_close`` accepts the same values as PyTorch's, and raises the same errors."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

nan, inf = float("nan"), float("inf")


def outcome(library: Any, call: Callable[[Any, Any], Any]) -> tuple[str, str]:
    """Type and text of the error of a comparison, with PyTorch's names; empty if it passes."""
    try:
        call(library, library.testing.assert_close)
    except Exception as error:
        text = str(error).replace("tinytorch", "torch")
        return type(error).__name__, text.replace("torch.core.tensor.Tensor", "torch.Tensor")
    return "", ""


def same_outcome(call: Callable[[Any, Any], Any]) -> tuple[str, str]:
    """Assert that both libraries raise the same error, or none; return its type and text."""
    import torch

    ours = outcome(tt, call)
    assert ours == outcome(torch, call)
    return ours


AGREEING = {
    "tensors": lambda t, close: close(t.tensor([1.0, 2.0]), t.tensor([1.0, 2.000001])),
    "infinities": lambda t, close: close(t.tensor([inf, -inf]), t.tensor([inf, -inf])),
    "nan": lambda t, close: close(t.tensor([nan]), t.tensor([nan]), equal_nan=True),
    "numbers": lambda t, close: close(1.0, 1.0 + 1e-9),
    "nan of numbers": lambda t, close: close(nan, nan, equal_nan=True),
    "other numbers": lambda t, close: close(1, 1.0, check_dtype=False),
    "a subclass": lambda t, close: close(t.nn.Parameter(t.ones(2)), t.ones(2)),
    "grad": lambda t, close: close(t.ones(2, requires_grad=True), t.ones(2)),
    "dtypes": lambda t, close: close(t.ones(2), t.ones(2).double(), check_dtype=False),
    "strides": lambda t, close: close(t.eye(2).t(), t.eye(2)),
    "arrays": lambda t, close: close(np.ones(2), np.ones(2)),
    "array and number": lambda t, close: close(np.float32(1), 1.0),
    "booleans": lambda t, close: close(np.bool_(True), True),
    "none": lambda t, close: close(None, None),
    "sequences": lambda t, close: close([t.ones(2), 2.0, None], (t.ones(2), 2.0, None)),
    "mappings": lambda t, close: close(OrderedDict(b=1, a=t.ones(1)), {"a": t.ones(1), "b": 1}),
    "tolerances": lambda t, close: close(t.ones(2), t.ones(2) + 0.5, rtol=0.0, atol=0.5),
    "relative to expected": lambda t, close: close(t.tensor(1.0), t.tensor(2.0), rtol=0.5, atol=0),
    "nothing": lambda t, close: close(t.ones(0), t.ones(0)),
    "no items": lambda t, close: close([], ()),
    "halves": lambda t, close: close(t.ones(2).half(), t.tensor([1.0, 1.001]).half()),
    "complex": lambda t, close: close(t.tensor([1 + 1e-7j]), t.tensor([1 + 0j])),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("case", AGREEING)
def test_values_that_agree_pass_as_in_pytorch(case: str) -> None:
    assert same_outcome(AGREEING[case]) == ("", "")


VALUES = {
    "floats": lambda t, close: close(t.tensor([[1.0, 2], [3, 4]]), t.tensor([[1.0, 0], [5, 4]])),
    "halves": lambda t, close: close(t.tensor([1.0, 2]).half(), t.tensor([1.0, 2.1]).half()),
    "doubles": lambda t, close: close(t.ones(3).double(), t.ones(3).double() + 1e-6),
    "integers": lambda t, close: close(t.tensor([1, 2, 3]), t.tensor([1, 0, 4])),
    "bytes": lambda t, close: close(t.tensor([1, 2]).to(t.uint8), t.tensor([3, 2]).to(t.uint8)),
    "booleans": lambda t, close: close(t.tensor([True, False]), t.tensor([True, True])),
    "complex": lambda t, close: close(t.tensor([1 + 1j, 2]), t.tensor([1, 2 + 0j])),
    "nan": lambda t, close: close(t.tensor([1.0, nan, 2]), t.tensor([1.0, nan, 3])),
    "one nan": lambda t, close: close(t.tensor([5.0, nan]), t.tensor([1.0, 2.0]), equal_nan=True),
    "infinities": lambda t, close: close(t.tensor([inf, 1.0]), t.tensor([-inf, 1.0])),
    "0-d": lambda t, close: close(t.tensor(1.5), t.tensor(2.5)),
    "0-d integers": lambda t, close: close(t.tensor(1), t.tensor(0)),
    "0-d arrays": lambda t, close: close(np.array(1.0), np.array(2.0)),
    "arrays": lambda t, close: close(np.ones(2), np.ones(2) + 1),
    "numbers": lambda t, close: close(1.0, 1.1),
    "integers of Python": lambda t, close: close(3, 4),
    "complex numbers": lambda t, close: close(1j, 2j),
    "zero": lambda t, close: close(1.0, 0.0),
    "infinite numbers": lambda t, close: close(1.0, inf),
    "nan numbers": lambda t, close: close(nan, nan),
    "exactly": lambda t, close: close(t.ones(2), t.ones(2) + 1, rtol=0, atol=0),
    "tolerances": lambda t, close: close(t.ones(2), t.ones(2) + 1, rtol=0.1, atol=1e-3),
    "promoted": lambda t, close: close(t.ones(2), t.tensor([1, 2]), check_dtype=False),
    "in a list": lambda t, close: close([t.ones(1), [1.0, 2.0]], [t.ones(1), [1.0, 3.0]]),
    "in a mapping": lambda t, close: close({"a": {"b": t.ones(1)}}, {"a": {"b": t.zeros(1)}}),
    "by an integer key": lambda t, close: close({1: 2.0}, {1: 3.0}),
    "the first of them": lambda t, close: close({"b": 1.0, "a": 2.0}, {"b": 2.0, "a": 3.0}),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("case", VALUES)
def test_errors_for_different_values_are_pytorchs(case: str) -> None:
    kind, text = same_outcome(VALUES[case])
    assert kind == "AssertionError" and ("close!" in text or "equal!" in text)


OTHERS = {
    "shape": lambda t, close: close(t.ones(2), t.ones(2, 1)),
    "dtype": lambda t, close: close(t.ones(2), t.ones(2).double()),
    "shape first": lambda t, close: close(t.ones(2), t.ones(3).double()),
    "stride": lambda t, close: close(t.eye(2).t(), t.eye(2), check_stride=True),
    "types of numbers": lambda t, close: close(1, 1.0),
    "none": lambda t, close: close(t.ones(1), None),
    "booleans": lambda t, close: close(True, False),
    "array and tensor": lambda t, close: close(np.ones(1), t.ones(1)),
    "number and tensor": lambda t, close: close(1.0, t.tensor(1.0)),
    "texts": lambda t, close: close("a", "a"),
    "sets": lambda t, close: close({1}, {1}),
    "lists of texts": lambda t, close: close(["a"], ["a"]),
    "array of texts": lambda t, close: close(np.array(["a"]), np.array(["a"])),
    "length": lambda t, close: close([1, 2], [1]),
    "inner length": lambda t, close: close([[1, 2]], [[1]]),
    "keys": lambda t, close: close({"a": 1, "c": 0}, {"b": 1, "c": 0}),
    "list and mapping": lambda t, close: close([1], {"a": 1}),
    "structure before values": lambda t, close: close([1, [2]], [3, [2, 3]]),
    "no atol": lambda t, close: close(t.ones(1), t.ones(1), rtol=0.1),
    "no rtol": lambda t, close: close([1.0], [1.0], atol=0.1),
    "strict type": lambda t, close: close(
        t.ones(2), t.ones(2).double(), rtol=1, atol=1, allow_subclasses=False),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("case", OTHERS)
def test_errors_for_different_attributes_are_pytorchs(case: str) -> None:
    kind, text = same_outcome(OTHERS[case])
    assert kind in ("AssertionError", "TypeError", "ValueError") and text


def test_subclasses_where_they_are_not_allowed() -> None:
    with pytest.raises(TypeError, match="No comparison pair was able to handle inputs of type"):
        tt.testing.assert_close(tt.nn.Parameter(tt.ones(2)), tt.ones(2), allow_subclasses=False)


@pytest.mark.torch
@pytest.mark.parametrize("msg", ["mine", lambda text: f"<{text}>"])
def test_the_msg_argument_replaces_or_rewrites_the_error(msg: Any) -> None:
    kind, text = same_outcome(lambda t, close: close([1.0], [2.0], msg=msg))
    assert kind == "AssertionError" and ("mine" in text or text[0] == "<")
    kind, text = same_outcome(lambda t, close: close([1.0], [2.0, 3.0], msg=msg))
    assert "length of the sequences" in text  # ``msg`` applies to differing values only


def test_a_boolean_is_no_number() -> None:
    # PyTorch fails on it with an error of its own inside.
    with pytest.raises(TypeError, match="No comparison pair .*'bool'> and <class 'int'>[.]"):
        tt.testing.assert_close(True, 1)


def test_negative_tolerances_are_refused() -> None:
    with pytest.raises(RuntimeError, match="rtol must be greater than or equal to zero"):
        tt.testing.assert_close(tt.ones(1), tt.zeros(1), rtol=-1, atol=0)


@pytest.mark.torch
@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "complex64", "complex128", "int8", "int64", "bool"]
)
def test_default_tolerances_are_pytorchs(dtype: str) -> None:
    """Differences on both sides of the tolerances pass and fail as in PyTorch."""
    for step in (0, 5e-8, 3e-7, 9e-6, 1.3e-5, 1e-3, 2e-3):

        def compare(t: Any, close: Any, step: float = step) -> None:
            kind = getattr(t, dtype)
            close(t.tensor([1 + step, 1]).to(kind), t.ones(2).to(kind))

        same_outcome(compare)


def test_tensors_on_different_devices_are_unequal() -> None:
    if not tt.ones(1).is_cuda:
        pytest.skip("there is one device")
    a, b = tt.ones(2, device="cpu"), tt.ones(2)
    with pytest.raises(AssertionError, match="The values for attribute 'device' do not match: cpu"):
        tt.testing.assert_close(a, b)
    tt.testing.assert_close(a, b, check_device=False)


def test_meta_tensors_are_compared_by_their_attributes(torch: Any) -> None:
    for library in (tt, torch):
        a, close = library.empty(2, 3, device="meta"), library.testing.assert_close
        close(a, a + 1)
        close(a, library.ones(2, 3), check_device=False)
        for other, name in ((a[0], "shape"), (a.double(), "dtype"), (library.ones(2, 3), "device")):
            with pytest.raises(AssertionError, match=f"The values for attribute '{name}' do not"):
                close(a, other)


ALLCLOSE = {
    "numbers": lambda t: t.testing.assert_allclose([1.0, 2.0], t.tensor([1.0, 2.00001])),
    "nan": lambda t: t.testing.assert_allclose(t.tensor(nan), nan),
    "dtypes": lambda t: t.testing.assert_allclose(t.ones(2), t.ones(2).double()),
    "values": lambda t: t.testing.assert_allclose(t.ones(2), [1.0, 1.001]),
    "text": lambda t: t.testing.assert_allclose(t.ones(2), [1.0, 1.1], msg="mine"),
    "one tolerance": lambda t: t.testing.assert_allclose(t.ones(2), t.ones(2), rtol=0.1),
}


@pytest.mark.torch
@pytest.mark.parametrize("case", ALLCLOSE)
def test_assert_allclose_is_deprecated_and_works_as_pytorchs(case: str) -> None:
    with pytest.warns(FutureWarning, match="assert_close"):
        same_outcome(lambda t, close: ALLCLOSE[case](t))
