"""Tensors beside NumPy's arrays in Python's operators: NumPy's promotion on either side.

PyTorch leaves ``tensor * array`` to NumPy, which promotes an array of no dimensions like any other
and gives float64 for float32 and int64.
"""

from __future__ import annotations

import itertools
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    name.strip("_"): getattr(operator, name)
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "eq", "ne",
                 "lt", "le", "gt", "ge", "and_", "or_", "xor", "lshift", "rshift")
}  # fmt: skip
INPLACE = {
    name: getattr(operator, f"i{name}")
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or",
                 "xor", "lshift", "rshift")
}  # fmt: skip
DTYPES = ["bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64", "complex64"]
SHAPES = [((2,), (2,)), ((2,), ()), ((), (2,)), ((2, 2), (2,)), ((2,), (2, 2))]


def values(dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.resize([1, 2, 3], shape).astype(dtype)


def numpys(call: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """NumPy's result, or what it is that it refuses the operands with."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what NumPy says of PyTorch's way to call it
            return call(left, right)
    except (TypeError, ValueError) as error:
        return error


def is_ordered(name: str, *dtypes: str) -> bool:
    """NumPy alone has an order of complex numbers."""
    return name not in ("lt", "le", "gt", "ge") or "complex64" not in dtypes


def choose_pairs(*shapes: tuple[int, ...]) -> list[tuple[str, str]]:
    """Half of the pairs of dtypes: the next pair of shapes has the other half."""
    return [*itertools.product(DTYPES, DTYPES)][SHAPES.index(shapes) % 2 :: 2]  # type: ignore[arg-type]


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize(("tensor_shape", "array_shape"), SHAPES)
def test_an_array_operand_gives_the_same_result_on_either_side(
    name: str, tensor_shape: tuple[int, ...], array_shape: tuple[int, ...]
) -> None:
    call = OPERATORS[name]
    for ours, theirs in choose_pairs(tensor_shape, array_shape):
        if not is_ordered(name, ours, theirs):
            continue
        first, second = values(ours, tensor_shape), values(theirs, array_shape)
        tensor = tt.tensor(first)
        for operands, beside in (
            ((tensor, second), (first, second)),
            ((second, tensor), (second, first)),
        ):
            wanted = numpys(call, *beside)
            if isinstance(wanted, Exception):
                with pytest.raises((TypeError, ValueError, RuntimeError)):
                    call(*operands)
                continue
            got = call(*operands)
            assert isinstance(got, tt.Tensor)
            assert got.numpy().dtype == wanted.dtype, (ours, theirs)
            np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-3)


@pytest.mark.parametrize("name", INPLACE)
@pytest.mark.parametrize(("tensor_shape", "array_shape"), SHAPES)
def test_in_place_operators_with_array_operands_have_numpys_result(
    name: str, tensor_shape: tuple[int, ...], array_shape: tuple[int, ...]
) -> None:
    """In place where the result has the tensor's form; else the name gets a new tensor."""
    for ours, theirs in choose_pairs(tensor_shape, array_shape):
        first, second = values(ours, tensor_shape), values(theirs, array_shape)
        tensor = tt.tensor(first)
        wanted = numpys(getattr(operator, f"__{name}__"), first, second)
        if isinstance(wanted, Exception):
            with pytest.raises((TypeError, ValueError, RuntimeError)):
                INPLACE[name](tensor, second)
            continue
        got = INPLACE[name](tensor, second)
        assert got.numpy().dtype == wanted.dtype, (ours, theirs)
        np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-3)
        fits = (wanted.shape, wanted.dtype) == (first.shape, first.dtype) and name != "matmul"
        assert (got is tensor) is fits
        if not fits:
            assert (tensor.numpy() == first).all()


@pytest.mark.parametrize("name", [name for name in OPERATORS if name not in ("eq", "ne")])
def test_tensor_with_array_on_the_right_has_pytorchs_result_dtype(torch: Any, name: str) -> None:
    for tensor_dtype, array_dtype in itertools.product(DTYPES, DTYPES):
        first, second = values(tensor_dtype, (2,)), values(array_dtype, (2,))
        wanted = numpys(OPERATORS[name], torch.tensor(first), second)
        if not isinstance(wanted, Exception) and is_ordered(name, tensor_dtype, array_dtype):
            got = OPERATORS[name](tt.tensor(first), second).numpy().dtype
            # PyTorch makes uint8 of what is bool to NumPy.
            assert wanted.numpy().dtype == ("uint8" if got == "bool" else got), (
                tensor_dtype,
                array_dtype,
            )


@pytest.mark.parametrize("name", ["add", "mul", "truediv", "pow"])
def test_numbers_of_numpy_count_as_pythons(name: str) -> None:
    for number in (np.float64(2), np.int64(2), np.float32(2)):
        for operands in ((tt.ones(2), number), (number, tt.ones(2))):
            assert OPERATORS[name](*operands).dtype is tt.float32


def test_gradients_flow_through_operators_with_array_operands() -> None:
    x = tt.tensor([1.0, 2.0], requires_grad=True)
    y = x * np.array(3.0)
    assert y.dtype is tt.float64
    y.sum().backward()
    assert x.grad is not None and x.grad.dtype is tt.float32 and x.grad.tolist() == [3.0, 3.0]
    for product in (x @ np.array([1.0, 2.0]), np.array([1.0, 2.0]) @ x):
        x.grad = None
        product.backward()
        assert x.grad.tolist() == [1.0, 2.0]


def test_adding_an_array_in_place_to_a_view_writes_to_its_base() -> None:
    x = tt.zeros(2, 2)
    row = x[0]
    row += np.ones(2, np.float32)
    assert x.tolist() == [[1.0, 1.0], [0.0, 0.0]]
