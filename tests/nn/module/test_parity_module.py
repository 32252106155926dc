"""Module does what PyTorch's does, told apart by nothing but the library's name."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest

from tests.nn import parity
from tests.oracles import assert_same_behavior

pytestmark = pytest.mark.torch

SCENARIOS: list[Callable[[Any], Any]] = []


def scenario(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    SCENARIOS.append(function)
    return function


def nested(lib: Any) -> Any:
    nn = lib.nn
    net = nn.Sequential(
        OrderedDict(
            stem=nn.Linear(4, 3),
            body=nn.ModuleList([nn.Sequential(nn.Linear(3, 3), nn.ReLU()) for _ in range(3)]),
            heads=nn.ModuleDict({"a": nn.Linear(3, 1), "b": nn.Linear(3, 2, bias=False)}),
        )
    )
    net.register_buffer("steps", lib.zeros(2))
    net.body.register_buffer("scratch", lib.ones(1), persistent=False)
    net.extra = nn.ParameterList([lib.zeros(2, 3)])
    net.named = nn.ParameterDict({"z": lib.zeros(2), "y": lib.ones(1)})
    return net


@scenario
def operations_as_attributes_of_a_class(lib: Any) -> Any:
    class Gate(lib.nn.Module):  # type: ignore[misc, name-defined]
        act, bound = lib.tanh, lib.nn.functional.softplus

        def forward(self, x: Any) -> Any:
            return self.act(x) * self.bound(x)

    class Other(Gate):
        act = lib.special.expit
        forward = lib.relu

    x = lib.tensor([-1.0, 2.0])
    own = Gate.act is Gate().act is lib.tanh
    return [Gate()(x), Other()(x), Other().act(x), Gate.act(x), own]


@scenario
def members_of_a_class_with_its_own_getattr(lib: Any) -> Any:
    asked = []

    class Guide(lib.nn.Module):  # type: ignore[misc, name-defined]
        made = False

        def __init__(self) -> None:
            super().__init__()
            self.loc = lib.nn.Parameter(lib.zeros(1))
            self.inner = lib.nn.Linear(1, 1)
            self.made = True

        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            return "its own" if self.made and name == "loc" else super().__getattr__(name)

    guide = Guide()
    found = [guide.loc, repr(guide.inner), list(guide.state_dict()), copy.deepcopy(guide).loc]
    return [*found, [name for name in asked if name in ("loc", "inner")]]


@scenario
def representation(lib: Any) -> Any:
    return repr(nested(lib))


@scenario
def weights(lib: Any) -> Any:
    return nested(lib).state_dict()


@scenario
def traversal(lib: Any) -> Any:
    net = nested(lib)
    return [
        [name for name, _ in net.named_modules()],
        [name for name, _ in net.named_modules(prefix="p")],
        [name for name, _ in net.named_children()],
        [name for name, _ in net.named_parameters(prefix="p")],
        [name for name, _ in net.named_parameters(recurse=False)],
        [name for name, _ in net.named_buffers()],
        list(net.state_dict(prefix="x.")._metadata),
    ]


@scenario
def names_in_dir(lib: Any) -> Any:
    mine = {"stem", "body", "heads", "steps", "extra", "training", "forward", "0"}
    return sorted(mine & set(dir(nested(lib))))


@scenario
def errors_of_loading(lib: Any) -> Any:
    net = nested(lib)
    state = net.state_dict()
    state["stem.weight"] = lib.zeros(2, 2)
    state["body.1.0.bias"] = lib.zeros(5)
    state["new.key"] = lib.zeros(1)
    state["stem.new"] = lib.zeros(1)
    del state["heads.b.weight"], state["steps"]
    net.load_state_dict(state)


@scenario
def keys_without_strict(lib: Any) -> Any:
    net = nested(lib)
    result = net.load_state_dict({"stem.weight": lib.zeros(3, 4), "q": 1, "heads.c": 2}, False)
    return [result.missing_keys, result.unexpected_keys, repr(result)]


@scenario
def loading_from_a_list(lib: Any) -> Any:
    nested(lib).load_state_dict([1])


@scenario
def missing_attribute(lib: Any) -> Any:
    return nested(lib).stem.wieght


@scenario
def missing_submodule(lib: Any) -> Any:
    nested(lib).get_submodule("body.7")


@scenario
def number_as_parameter(lib: Any) -> Any:
    nested(lib).stem.weight = 3


@scenario
def number_as_child(lib: Any) -> Any:
    nested(lib).stem = 3


@scenario
def list_as_buffer(lib: Any) -> Any:
    nested(lib).register_buffer("steps", [1])


@scenario
def taken_name(lib: Any) -> Any:
    nested(lib).register_buffer("forward", None)


@scenario
def empty_name(lib: Any) -> Any:
    nested(lib).add_module("", lib.nn.ReLU())


@scenario
def dotted_name(lib: Any) -> Any:
    nested(lib).add_module("a.b", lib.nn.ReLU())


@scenario
def number_as_module(lib: Any) -> Any:
    nested(lib).add_module("a", 3)


@scenario
def no_forward(lib: Any) -> Any:
    lib.nn.ModuleList()(1)


@scenario
def conversion_to_integers(lib: Any) -> Any:
    nested(lib).to(lib.int32)


@scenario
def conversions(lib: Any) -> Any:
    net = nested(lib)
    net.register_buffer("count", lib.tensor(3))
    net.double()
    first = [str(value.dtype) for value in net.state_dict().values()]
    net.to("cpu", lib.float32)
    return first, [str(value.dtype) for value in net.state_dict().values()]


@scenario
def memory_formats(lib: Any) -> Any:
    net = lib.nn.Sequential(lib.nn.Conv2d(2, 3, 2), lib.nn.Linear(3, 2))
    weight = net[0].weight
    net.to(memory_format=lib.channels_last)
    net.to(lib.float64)
    return [net[0].weight is weight, *(p.stride() for p in net.parameters())]


@scenario
def conversion_in_place_counts_as_a_change(lib: Any) -> Any:
    layer = lib.nn.Linear(3, 2)
    layer.weight.grad = lib.ones(2, 3)
    before = layer.weight._version, layer.weight.grad._version
    product = layer.weight * layer.weight
    layer._apply(lambda tensor: tensor.add_(1.0))
    steps = layer.weight._version - before[0], layer.weight.grad._version - before[1]
    try:
        product.sum().backward()
    except RuntimeError as error:
        return steps, layer.weight.grad, "modified by an inplace operation" in str(error)


@scenario
def a_buffer_that_answers_for_a_tensor(lib: Any) -> Any:
    class Like:
        @classmethod
        def __torch_function__(cls, *args: Any) -> Any:
            return NotImplemented

    net = lib.nn.Module()
    net.register_buffer("like", Like())
    net.like = other = Like()
    return net.get_buffer("like") is other


@scenario
def a_subclass_that_has_no_persistent_buffers(lib: Any) -> Any:
    class Net(lib.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self, persistent: bool) -> None:
            super().__init__()
            self.mean = lib.nn.Buffer(lib.zeros(2), persistent=persistent)

        def register_buffer(self, name: str, value: Any) -> None:
            super().register_buffer(name, value, True)

    try:
        Net(False)
    except RuntimeError:
        return list(Net(True).state_dict())


@scenario
def lists_of_meta_parameters(lib: Any) -> Any:
    parameters = lib.nn.ParameterList([lib.nn.Parameter(lib.empty(1, device="meta"))])
    named = lib.nn.ParameterDict({"a": lib.nn.Parameter(lib.empty(1, device="meta"))})
    return "meta)" in repr(parameters), "meta)" in repr(named)


@scenario
def deep_copies(lib: Any) -> Any:
    net = nested(lib)
    net.heads.a.weight = net.heads.b.weight
    other = copy.deepcopy(net).requires_grad_(False)
    shared = other.heads.a.weight is other.heads.b.weight
    return [shared, net.stem.weight.requires_grad, [name for name, _ in other.named_parameters()]]


@scenario
def modes(lib: Any) -> Any:
    net = nested(lib).eval()
    net.body.train()
    return [module.training for module in net.modules()]


@scenario
def order_of_hooks(lib: Any) -> Any:
    seen: list[Any] = []
    net = lib.nn.Sequential(lib.nn.Linear(2, 2), lib.nn.Tanh())
    for name, module in net.named_modules():
        for word in ("first", "second"):
            module.register_forward_pre_hook(lambda m, a, n=name, w=word: seen.append((n, w, 1)))
            module.register_forward_hook(lambda m, a, o, n=name, w=word: seen.append((n, w, 2)))
            module.register_full_backward_pre_hook(
                lambda m, o, n=name, w=word: seen.append((n, w, 3, len(o)))
            )
            module.register_full_backward_hook(
                lambda m, i, o, n=name, w=word: seen.append((n, w, 4, i[0], o[0]))
            )
    net(lib.ones(1, 2, requires_grad=True)).sum().backward()
    return seen


@scenario
def hooks_with_kwargs(lib: Any) -> Any:
    class Scale(lib.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any, *, by: float = 1.0) -> Any:
            return x * by

    layer = Scale()
    layer.register_forward_pre_hook(lambda m, a, k: (a, {"by": 5.0}), with_kwargs=True)
    layer.register_forward_hook(lambda m, a, k, o: o + k["by"], with_kwargs=True, prepend=True)
    return layer(lib.ones(2), by=2.0)


@pytest.mark.parametrize("use", SCENARIOS, ids=lambda use: use.__name__)
def test_each_scenario_of_a_module_behaves_as_in_pytorch(use: Callable[[Any], Any]) -> None:
    assert_same_behavior(use)


METHODS = [
    "add_module", "apply", "buffers", "children", "cpu", "cuda", "double", "eval", "extra_repr",
    "float", "get_buffer", "get_parameter", "get_submodule", "half", "load_state_dict", "modules",
    "named_buffers", "named_children", "named_modules", "named_parameters", "parameters",
    "register_backward_hook", "register_buffer", "register_forward_hook",
    "register_forward_pre_hook", "register_full_backward_hook",
    "register_full_backward_pre_hook", "register_load_state_dict_post_hook",
    "register_load_state_dict_pre_hook", "register_module", "register_parameter",
    "register_state_dict_post_hook", "register_state_dict_pre_hook", "requires_grad_",
    "set_submodule", "state_dict", "to_empty", "train", "type", "zero_grad",
]  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_arguments_of_module_methods_are_pytorchs(name: str) -> None:
    import tinytorch as tt

    ours, theirs = getattr(tt.nn.Module, name), getattr(parity.torch.nn.Module, name)
    assert parity.arguments(ours) == parity.arguments(theirs)


def test_module_has_every_public_name() -> None:
    import tinytorch as tt

    other_devices = {"compile", "ipu", "mtia", "xpu"}
    theirs = {name for name in dir(parity.torch.nn.Module) if not name.startswith("_")}
    assert theirs - {"T_destination"} - other_devices <= set(dir(tt.nn.Module))
