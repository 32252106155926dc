"""Module: registration, attributes, traversal, modes, conversion, copies, repr."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections import OrderedDict
from typing import Any

import pytest

import tinytorch as tt
from tinytorch import nn


class Block(nn.Module):
    """A parameter, an absent one, two buffers and a plain attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(tt.ones(2))
        self.register_parameter("bias", None)
        self.register_buffer("mean", tt.zeros(2))
        self.register_buffer("scratch", tt.zeros(2), persistent=False)
        self.size = 2

    def forward(self, x: Any) -> Any:
        return x * self.weight + self.mean


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = Block()
        self.rest = nn.ModuleList([Block(), nn.ReLU()])


def names(pairs: Any) -> list[str]:
    return [name for name, _ in pairs]


# -- registration ------------------------------------------------------------------------------


def test_parameters_buffers_and_children_are_found_by_name() -> None:
    net = Net()
    assert names(net.named_parameters()) == ["first.weight", "rest.0.weight"]
    assert names(net.named_buffers()) == [
        "first.mean", "first.scratch", "rest.0.mean", "rest.0.scratch",
    ]  # fmt: skip
    assert names(net.named_children()) == ["first", "rest"]
    assert names(net.named_modules()) == ["", "first", "rest", "rest.0", "rest.1"]


def test_named_parameters_and_buffers_accept_prefix_and_recurse() -> None:
    net = Net()
    assert names(net.named_parameters(prefix="net", recurse=True))[0] == "net.first.weight"
    assert names(net.named_parameters(recurse=False)) == []
    assert names(net.first.named_buffers(prefix="b", recurse=False)) == ["b.mean", "b.scratch"]


def test_a_shared_parameter_is_listed_once_unless_duplicates_are_kept() -> None:
    net = Net()
    net.rest[0].weight = net.first.weight
    assert names(net.named_parameters()) == ["first.weight"]
    assert names(net.named_parameters(remove_duplicate=False)) == ["first.weight", "rest.0.weight"]


def test_a_module_in_two_places_is_listed_once_unless_duplicates_are_kept() -> None:
    act = nn.ReLU()
    net = nn.Sequential(act, act)
    assert names(net.named_modules()) == ["", "0"]
    assert names(net.named_modules(remove_duplicate=False)) == ["", "0", "1"]
    assert names(net.named_children()) == ["0"]


def test_assignment_moves_a_name_between_kinds() -> None:
    block = Block()
    block.size = nn.Parameter(tt.zeros(3))
    assert names(block.named_parameters()) == ["weight", "size"]
    block.mean = nn.Parameter(tt.zeros(2))
    assert "mean" not in block._buffers and "mean" in block._parameters
    block.other = nn.ReLU()
    block.other = nn.Parameter(tt.zeros(3))
    assert "other" not in block._modules and block.other is block._parameters["other"]


def test_assigning_a_tensor_to_a_buffer_replaces_it() -> None:
    block = Block()
    block.mean = tt.ones(2)
    assert block.mean is block._buffers["mean"]
    assert block.mean.tolist() == [1, 1]
    block.scratch = tt.ones(2)
    assert "scratch" not in block.state_dict()


def test_buffer_class_registers_itself() -> None:
    block = Block()
    block.total = nn.Buffer(tt.zeros(3))
    block.cache = nn.Buffer(tt.zeros(3), persistent=False)
    assert "total" in block.state_dict() and "cache" not in block.state_dict()


def test_registered_parameters_are_ordinary_attributes() -> None:
    block = Block()
    assert vars(block)["weight"] is block._parameters["weight"]
    assert {"weight", "bias", "mean", "scratch", "forward"} <= set(dir(block))


@pytest.mark.parametrize("registry", ["_parameters", "_buffers", "_modules"])
def test_writing_to_a_registry_changes_the_attribute(registry: str) -> None:
    block = Block()
    value: Any = nn.Parameter(tt.zeros(1))
    held = getattr(block, registry)
    held["new"] = value
    assert block.new is value
    held.update(other=value)
    assert block.other is value
    assert held.pop("new") is value and not hasattr(block, "new")
    assert held.setdefault("third", value) is value and block.third is value
    assert held.popitem()[0] == "third" and not hasattr(block, "third")
    held |= {"fourth": value}
    assert block.fourth is value
    held.clear()
    assert not hasattr(block, "other") and not hasattr(block, "fourth")


def test_a_whole_registry_can_be_replaced() -> None:
    net = nn.Sequential(nn.ReLU(), nn.Tanh())
    net._modules = OrderedDict([("0", nn.Sigmoid())])
    assert list(net) == [net[0]] and isinstance(net[0], nn.Sigmoid)
    assert not hasattr(net, "1")


def test_deleting_an_attribute_unregisters_it() -> None:
    block = Block()
    del block.weight, block.mean, block.scratch
    assert not list(block.parameters()) and not list(block.buffers())
    assert not hasattr(block, "weight")
    assert block._non_persistent_buffers_set == set()
    with pytest.raises(AttributeError):
        del block.weight


def test_a_module_dies_without_the_collector() -> None:
    net = Net()
    gone = weakref.ref(net)
    gc.disable()
    try:
        del net
        assert gone() is None
    finally:
        gc.enable()


# -- errors --------------------------------------------------------------------------------------


def test_missing_attribute_names_the_class() -> None:
    with pytest.raises(AttributeError, match=r"^'Block' object has no attribute 'wieght'$") as info:
        Block().wieght
    assert info.value.name == "wieght"


def test_registration_before_init_is_an_error() -> None:
    class Late(nn.Module):
        def __init__(self, value: Any) -> None:
            self.value = value

    with pytest.raises(AttributeError, match=r"cannot assign parameters before Module.__init__"):
        Late(nn.Parameter(tt.ones(1)))
    with pytest.raises(AttributeError, match=r"cannot assign module before Module.__init__"):
        Late(nn.ReLU())


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("a.b", KeyError, 'can\'t contain "."'),
        ("", KeyError, "can't be empty string"),
        ("size", KeyError, "attribute 'size' already exists"),
        ("forward", KeyError, "attribute 'forward' already exists"),
        (3, TypeError, "name should be a string. Got int"),
    ],
)
def test_registering_under_an_invalid_name_is_refused(
    name: Any, error: type[Exception], text: str
) -> None:
    block = Block()
    for register in (block.register_buffer, block.register_parameter, block.add_module):
        with pytest.raises(error) as info:
            register(name, None)
        assert text in info.value.args[0]


def test_assigning_a_value_of_the_wrong_class_is_refused() -> None:
    block = Block()
    with pytest.raises(TypeError, match="cannot assign 'int' as parameter 'weight'"):
        block.weight = 3
    with pytest.raises(TypeError, match="cannot assign .*ReLU' as parameter 'weight'"):
        block.weight = nn.ReLU()
    with pytest.raises(TypeError, match="as buffer 'mean'"):
        block.mean = [0.0, 0.0]
    with pytest.raises(TypeError, match="object to buffer 'b'"):
        block.register_buffer("b", [0.0])
    with pytest.raises(TypeError, match="object to parameter 'p'"):
        block.register_parameter("p", tt.zeros(2))
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        block.add_module("m", 3)
    net = Net()
    with pytest.raises(TypeError, match="as child module 'first'"):
        net.first = 3


def test_a_computed_tensor_is_no_parameter() -> None:
    computed = nn.Parameter(tt.ones(2))
    with tt.enable_grad():
        computed._node = (tt.ones(2, requires_grad=True) * 2)._node
    with pytest.raises(ValueError, match="Cannot assign non-leaf Tensor to parameter 'p'"):
        nn.Module().register_parameter("p", computed)


def test_init_refuses_unexpected_arguments() -> None:
    with pytest.raises(TypeError, match=r"Module.__init__\(\) got an unexpected keyword .* 'a'"):
        nn.Module(a=1)
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        nn.Module(1)


def test_call_super_init_passes_arguments_on() -> None:
    class Other:
        def __init__(self, value: int = 0) -> None:
            self.value = value

    class Both(nn.Module, Other):
        call_super_init = True

    assert Both(value=3).value == 3


def test_calling_a_module_without_forward_is_not_implemented() -> None:
    with pytest.raises(NotImplementedError, match=r'\[Module\] is missing the required "forward"'):
        nn.Module()(1)


# -- by dotted name ----------------------------------------------------------------------------


def test_submodules_parameters_and_buffers_are_found_by_dotted_name() -> None:
    net = Net()
    assert net.get_submodule("rest.1") is net.rest[1]
    assert net.get_submodule("") is net
    assert net.get_parameter("rest.0.weight") is net.rest[0].weight
    assert net.get_buffer("first.mean") is net.first.mean


@pytest.mark.parametrize(
    ("method", "target", "text"),
    [
        ("get_submodule", "first.no", "Block has no attribute `no`"),
        ("get_submodule", "first.size", "`size` is not an nn.Module"),
        ("get_parameter", "first.no", "Block has no attribute `no`"),
        ("get_parameter", "first.mean", "`mean` is not an nn.Parameter"),
        ("get_buffer", "first.no", "Block has no attribute `no`"),
        ("get_buffer", "first.weight", "`weight` is not a buffer"),
    ],
)
def test_a_failed_look_up_names_the_missing_attribute(method: str, target: str, text: str) -> None:
    with pytest.raises(AttributeError, match=text):
        getattr(Net(), method)(target)


def test_set_submodule_replaces_a_module_by_dotted_name() -> None:
    net = Net()
    net.set_submodule("rest.1", nn.Tanh())
    assert isinstance(net.rest[1], nn.Tanh)
    with pytest.raises(ValueError, match="without a target name"):
        net.set_submodule("", nn.Tanh())
    with pytest.raises(AttributeError, match="has no attribute `new`"):
        net.set_submodule("first.new", nn.Tanh(), strict=True)
    with pytest.raises(AttributeError, match="`size` is not an nn.Module"):
        net.set_submodule("first.size", nn.Tanh())


# -- modes, gradients, functions on all --------------------------------------------------------


def test_train_and_eval_reach_everything() -> None:
    net = Net()
    assert net.eval() is net
    assert not any(module.training for module in net.modules())
    net.train()
    assert all(module.training for module in net.modules())
    with pytest.raises(ValueError, match="training mode is expected to be boolean"):
        net.train(1)  # type: ignore[arg-type]


def test_requires_grad_sets_the_flag_of_every_parameter() -> None:
    net = Net().requires_grad_(False)
    assert not any(param.requires_grad for param in net.parameters())


def test_zero_grad_sets_gradients_to_none_or_zero() -> None:
    block = Block()
    block(tt.ones(2)).sum().backward()
    grad = block.weight.grad
    block.zero_grad(set_to_none=False)
    assert block.weight.grad is grad and grad.tolist() == [0, 0]
    block.zero_grad()
    assert block.weight.grad is None


def test_apply_goes_from_the_leaves_up() -> None:
    seen: list[str] = []
    net = Net()
    assert net.apply(lambda module: seen.append(type(module).__name__)) is net
    assert seen == ["Block", "Block", "ReLU", "ModuleList", "Net"]


# -- conversion --------------------------------------------------------------------------------


def test_conversion_keeps_the_parameter_objects() -> None:
    block = Block()
    weight = block.weight
    block(tt.ones(2)).sum().backward()
    assert block.double() is block
    assert block.weight is weight
    assert weight.dtype == weight.grad.dtype == block.mean.dtype == tt.float64


@pytest.mark.parametrize(
    ("convert", "dtype"),
    [
        (lambda module: module.half(), tt.float16),
        (lambda module: module.double(), tt.float64),
        (lambda module: module.double().float(), tt.float32),
        (lambda module: module.to(tt.float64), tt.float64),
        (lambda module: module.to("cpu", tt.float64), tt.float64),
        (lambda module: module.to(dtype=tt.float64, device="cpu"), tt.float64),
        (lambda module: module.to(tt.zeros(1, dtype=tt.float64)), tt.float64),
        (lambda module: module.to("cpu"), tt.float32),
        (lambda module: module.cpu(), tt.float32),
    ],
)
def test_dtype_conversions_change_floating_point_tensors_only(
    convert: Any, dtype: tt.dtype
) -> None:
    block = Block()
    block.register_buffer("count", tt.zeros(1, dtype=tt.int64))
    convert(block)
    assert block.weight.dtype == block.mean.dtype == dtype
    assert block.count.dtype == tt.int64
    assert block.weight.requires_grad


def test_type_converts_integers_too() -> None:
    block = Block()
    block.register_buffer("count", tt.zeros(1, dtype=tt.int64))
    assert block.type(tt.float64).count.dtype == tt.float64


def test_to_refuses_integer_dtypes() -> None:
    with pytest.raises(TypeError, match="only accepts floating point or complex dtypes"):
        Block().to(tt.int64)
    for wrong in ((3, 4, 5, 6), ("cpu", 3)):
        with pytest.raises(TypeError, match="invalid combination of arguments"):
            Block().to(*wrong)


def test_to_empty_keeps_shapes() -> None:
    assert Block().to_empty(device="cpu").weight.shape == (2,)


# -- copies ------------------------------------------------------------------------------------


def test_deepcopy_is_independent() -> None:
    net = Net()
    other = copy.deepcopy(net)
    other.first.weight.data.fill_(5)
    assert net.first.weight.tolist() == [1, 1]
    assert other.first.weight is other.first._parameters["weight"]
    other.first._parameters["weight"] = net.first.weight
    assert other.first.weight is net.first.weight


def test_deepcopy_keeps_what_is_shared() -> None:
    net = Net()
    net.rest[0].weight = net.first.weight
    other = copy.deepcopy(net)
    assert other.rest[0].weight is other.first.weight


def test_a_pickled_module_keeps_weights_and_mode() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.ModuleList([nn.Tanh()]))
    net.eval()
    other = pickle.loads(pickle.dumps(net))
    assert repr(other) == repr(net) and not other.training
    assert tt.equal(other[0].weight, net[0].weight)
    assert isinstance(other[0].weight, nn.Parameter) and other[0].weight.requires_grad


def test_a_module_whose_getstate_copies_its_dict_is_pickled() -> None:
    clone = pickle.loads(pickle.dumps(CopiesDict()))
    clone._parameters["weight"] = nn.Parameter(tt.zeros(1))
    assert clone.weight.tolist() == [0]


class CopiesDict(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(tt.ones(1))

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()


# -- calls -------------------------------------------------------------------------------------


def test_call_passes_arguments_through() -> None:
    class Echo(nn.Module):
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return args, kwargs

    assert Echo()(1, 2, key=3) == ((1, 2), {"key": 3})


def test_the_repr_of_a_module_nests_children_and_shows_extra_repr() -> None:
    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.act = nn.ReLU()
            self.none = None

        def extra_repr(self) -> str:
            return "one\ntwo"

    assert repr(Named()) == "Named(\n  one\n  two\n  (act): ReLU()\n)"
    assert repr(nn.Module()) == "Module()"
