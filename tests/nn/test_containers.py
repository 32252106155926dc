"""Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

import pytest

import tinytorch as tt
from tinytorch import nn


def acts() -> list[nn.Module]:
    return [nn.ReLU(), nn.Tanh(), nn.Sigmoid()]


# -- Sequential -----------------------------------------------------------------------------------


def test_sequential_calls_its_modules_in_order() -> None:
    net = nn.Sequential(nn.ReLU(), nn.Identity())
    assert net(tt.tensor([-1.0, 2.0])).tolist() == [0, 2]


def test_sequential_takes_named_modules() -> None:
    net = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh()))
    assert net.a is net[0] and net.b is net[-1]
    assert repr(net) == "Sequential(\n  (a): ReLU()\n  (b): Tanh()\n)"


def test_sequential_slices_keep_names() -> None:
    net = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh(), c=nn.Sigmoid()))
    assert list(net[1:]._modules) == ["b", "c"]
    assert net[1:][0] is net.b


def test_sequential_can_be_edited_like_a_list() -> None:
    relu, tanh, sigmoid = acts()
    net = nn.Sequential(relu)
    assert net.append(sigmoid).insert(1, tanh) is net
    assert list(net) == [relu, tanh, sigmoid] and list(net._modules) == ["0", "1", "2"]
    net[1] = sigmoid
    assert net[1] is sigmoid
    del net[0]
    assert list(net) == [sigmoid, sigmoid] and list(net._modules) == ["0", "1"]
    assert net.pop(0) is sigmoid and len(net) == 1
    net.extend([relu, tanh])
    assert list(net) == [sigmoid, relu, tanh]
    del net[1:]
    assert list(net) == [sigmoid]


def test_sequential_can_be_added_and_multiplied() -> None:
    a, b = nn.Sequential(nn.ReLU()), nn.Sequential(nn.Tanh())
    assert list(a + b) == [a[0], b[0]]
    assert list(a * 2) == list(2 * a) == [a[0], a[0]]
    c = nn.Sequential(nn.ReLU())
    c += b
    assert list(c) == [c[0], b[0]]
    c *= 2
    assert len(c) == 4 and c[2] is c[0]


@pytest.mark.parametrize(
    ("use", "error", "text"),
    [
        (lambda net: net[3], IndexError, "index 3 is out of range"),
        (lambda net: net[-4], IndexError, "index -4 is out of range"),
        (lambda net: net.insert(5, nn.ReLU()), IndexError, "Index out of range: 5"),
        (lambda net: net.insert(0, 3), AssertionError, "module should be of type"),
        (lambda net: net + [1], ValueError, "only objects of Sequential class"),
        (lambda net: net * 0, ValueError, "Non-positive multiplication factor"),
        (lambda net: net * 1.5, TypeError, r"unsupported operand type\(s\) for \*"),
        (lambda net: nn.Sequential(3), TypeError, "int is not a Module subclass"),
    ],
)
def test_sequential_raises_pytorchs_errors(use: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        use(nn.Sequential(*acts()))


def test_dir_of_a_container_omits_positions() -> None:
    assert "0" not in dir(nn.Sequential(nn.ReLU())) and "0" not in dir(nn.ModuleList([nn.ReLU()]))


# -- ModuleList -----------------------------------------------------------------------------------


def test_module_list_has_the_methods_of_a_list() -> None:
    relu, tanh, sigmoid = acts()
    layers = nn.ModuleList([relu])
    layers += [tanh]
    layers.append(sigmoid)
    assert list(layers) == [relu, tanh, sigmoid] and len(layers) == 3
    assert layers[-1] is sigmoid and list(layers[:2]) == [relu, tanh]
    layers.insert(1, sigmoid)
    assert list(layers) == [relu, sigmoid, tanh, sigmoid]
    del layers[1], layers[0]
    assert list(layers) == [tanh, sigmoid] and list(layers._modules) == ["0", "1"]
    layers[0] = relu
    assert layers.pop(0) is relu
    assert list(layers + [tanh]) == [sigmoid, tanh]


def test_module_list_extends_itself() -> None:
    layers = nn.ModuleList([nn.ReLU()])
    layers.extend(layers)
    assert len(layers) == 2


def test_the_repr_of_module_list_folds_repeated_modules() -> None:
    layers = nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh(), nn.ReLU()])
    assert repr(layers) == ("ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Tanh()\n  (3): ReLU()\n)")
    assert repr(nn.ModuleList()) == "ModuleList()"


def test_module_list_raises_pytorchs_errors() -> None:
    with pytest.raises(TypeError, match="ModuleList.extend should be called with an iterable"):
        nn.ModuleList().extend(3)  # type: ignore[arg-type]
    with pytest.raises(IndexError, match="index 0 is out of range"):
        nn.ModuleList()[0]
    with pytest.raises(NotImplementedError):
        nn.ModuleList()(tt.ones(1))


# -- ModuleDict --------------------------------------------------------------------------------


def test_module_dict_has_the_methods_of_a_dict() -> None:
    relu, tanh, sigmoid = acts()
    heads = nn.ModuleDict({"b": relu, "a": tanh})
    assert list(heads) == list(heads.keys()) == ["b", "a"]
    heads["c"] = sigmoid
    assert list(heads.items())[2] == ("c", sigmoid) and list(heads.values())[0] is relu
    assert "c" in heads and len(heads) == 3 and heads.c is sigmoid
    del heads["b"]
    assert heads.pop("a") is tanh
    heads.update([("d", relu), ("e", tanh)])
    heads.update(nn.ModuleDict({"f": relu}))
    assert list(heads) == ["c", "d", "e", "f"]
    heads.clear()
    assert len(heads) == 0 and not hasattr(heads, "c")


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (3, TypeError, "called with an iterable of key/value pairs, but got int"),
        ([3], TypeError, "element #0 should be Iterable; is ?int"),
        ([(1, 2, 3)], ValueError, "element #0 has length 3; 2 is required"),
        ({"keys": nn.ReLU()}, KeyError, "attribute 'keys' already exists"),
        ({"a.b": nn.ReLU()}, KeyError, "can.+t contain"),
    ],
)
def test_module_dict_raises_pytorchs_errors(given: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        nn.ModuleDict(given)


# -- ParameterList and ParameterDict -----------------------------------------------------------


def test_parameter_list_registers_its_tensors_as_parameters() -> None:
    params = nn.ParameterList([tt.zeros(2), nn.Parameter(tt.ones(3))])
    assert all(isinstance(param, nn.Parameter) for param in params)
    assert [name for name, _ in params.named_parameters()] == ["0", "1"]
    params.append(tt.zeros(1))
    params += [tt.zeros(4)]
    params.append("note")
    assert len(params) == 5 and params[-1] == "note" and params[3].shape == (4,)
    params[0] = tt.ones(5)
    assert isinstance(params[0], nn.Parameter) and params[0].shape == (5,)
    assert [p.shape for p in params[1:3]] == [(3,), (1,)]
    assert list(params.state_dict()) == ["0", "1", "2", "3"]
    assert len(copy.deepcopy(params)) == 5


def test_parameter_list_raises_pytorchs_errors() -> None:
    with pytest.raises(TypeError, match="ParameterList.extend should be called with an iterable"):
        nn.ParameterList(tt.zeros(2))
    with pytest.raises(IndexError, match="index 1 is out of range"):
        nn.ParameterList([tt.zeros(1)])[1]
    with pytest.raises(RuntimeError, match="should not be called"):
        nn.ParameterList()()


def test_parameter_dict_registers_its_tensors_as_parameters() -> None:
    params = nn.ParameterDict({"b": tt.zeros(2), "a": tt.ones(3)})
    assert list(params) == ["a", "b"]
    assert [name for name, _ in params.named_parameters()] == ["a", "b"]
    params["c"] = tt.zeros(1)
    assert isinstance(params.c, nn.Parameter) and "c" in params
    assert list(reversed(params)) == ["c", "b", "a"]
    assert params.setdefault("d", tt.zeros(1)) is params["d"]
    assert params.get("none", 3) == 3 and params.get("a") is params["a"]
    assert params.popitem()[0] == "d" and params.pop("c").shape == (1,)
    merged = params | nn.ParameterDict({"e": tt.zeros(1)})
    assert list(merged) == ["a", "b", "e"] and merged["a"] is params["a"]
    params |= {"f": tt.zeros(1)}
    assert list(params.keys()) == ["a", "b", "f"]
    assert [value.shape for value in params.values()] == [(3,), (2,), (1,)]
    del params["f"]
    assert list(params.copy()) == ["a", "b"]
    params.clear()
    assert len(params) == 0
    assert list(params.fromkeys(["x", "y"])) == ["x", "y"]


def test_parameter_dict_raises_pytorchs_errors() -> None:
    with pytest.raises(TypeError, match="cannot be used as a key as it is not a string"):
        nn.ParameterDict()[3]  # type: ignore[index]
    with pytest.raises(ValueError, match="has length 1; 2 is required"):
        nn.ParameterDict([("a",)])
    with pytest.raises(RuntimeError, match="should not be called"):
        nn.ParameterDict()(1)
