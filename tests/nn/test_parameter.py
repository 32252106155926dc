"""Parameter, Buffer and their uninitialised forms."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import tinytorch as tt
from tinytorch import nn
from tinytorch.nn.parameter import is_lazy


def test_parameter_shares_memory_and_requires_grad() -> None:
    data = tt.zeros(2)
    param = nn.Parameter(data)
    data[0] = 5
    assert param.tolist() == [5, 0] and param.requires_grad and param.is_leaf
    assert isinstance(param, tt.Tensor)
    assert not nn.Parameter(data, requires_grad=False).requires_grad
    assert nn.Parameter().shape == (0,)


def test_results_of_operations_on_parameters_are_of_the_tensor_class() -> None:
    param = nn.Parameter(tt.ones(2))
    assert type(param * 2) is type(param.detach()) is type(param.data) is tt.Tensor
    assert type(param + param) is tt.Tensor


def test_parameter_of_a_computed_tensor_is_a_leaf() -> None:
    param = nn.Parameter(tt.ones(2, requires_grad=True) * 2)
    assert param.is_leaf and param.grad_fn is None


def test_parameter_of_wrong_data_is_refused() -> None:
    with pytest.raises(TypeError, match="Parameter: expected data to be a Tensor, got ndarray"):
        nn.Parameter(np.zeros(2))  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="floating point and complex dtype can require grad"):
        nn.Parameter(tt.zeros(2, dtype=tt.int64))
    assert nn.Parameter(tt.zeros(2, dtype=tt.int64), requires_grad=False).dtype == tt.int64


def test_parameters_and_buffers_have_pytorchs_repr() -> None:
    assert repr(nn.Parameter(tt.ones(1))) == (
        "Parameter containing:\ntensor([1.], requires_grad=True)"
    )
    assert repr(nn.Buffer(tt.ones(1))) == "tensor([1.])"


def test_copies_of_parameters_are_parameters() -> None:
    param = nn.Parameter(tt.ones(2), requires_grad=False)
    for other in (copy.deepcopy(param), pickle.loads(pickle.dumps(param))):
        assert type(other) is nn.Parameter and not other.requires_grad
        other.data.fill_(3)
        assert param.tolist() == [1, 1]


def test_attributes_set_on_a_parameter_are_pickled() -> None:
    param = nn.Parameter(tt.ones(2))
    param.note = "mine"
    param.register_hook(lambda grad: grad)
    assert pickle.loads(pickle.dumps(param)).note == "mine"


def test_deepcopy_leaves_the_gradient_behind_and_keeps_identity() -> None:
    param = nn.Parameter(tt.ones(2))
    param.sum().backward()
    first, second = copy.deepcopy([param, param])
    assert first is second and first.grad is None


def test_a_buffer_keeps_its_persistence_when_copied() -> None:
    buffer = nn.Buffer(tt.ones(2), persistent=False)
    assert isinstance(buffer, tt.Tensor) and not buffer.requires_grad
    assert not copy.deepcopy(buffer).persistent
    assert not pickle.loads(pickle.dumps(buffer)).persistent
    assert nn.Buffer().persistent


def test_uninitialized_parameter_becomes_a_parameter() -> None:
    param = nn.UninitializedParameter(dtype=tt.float64)
    assert is_lazy(param) and repr(param) == "<UninitializedParameter>"
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        param.shape
    assert is_lazy(copy.deepcopy(param))
    param.materialize((2, 3))
    assert type(param) is nn.Parameter and param.shape == (2, 3)
    assert param.dtype == tt.float64 and param.requires_grad


def test_uninitialized_parameter_cannot_be_counted() -> None:
    layer = nn.LazyLinear(3)
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in numel"):
        sum(p.numel() for p in layer.parameters())
    layer(tt.ones(1, 2))
    assert sum(p.numel() for p in layer.parameters()) == 9


def test_uninitialized_buffer_becomes_a_tensor() -> None:
    buffer = nn.UninitializedBuffer(persistent=False)
    assert is_lazy(buffer) and not buffer.requires_grad
    buffer.materialize((2,), dtype=tt.float64)
    assert not is_lazy(buffer) and buffer.shape == (2,) and buffer.dtype == tt.float64
