"""state_dict, load_state_dict, their hooks and their reports."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from typing import Any

import pytest

import tinytorch as tt
from tinytorch import nn


class Norm(nn.Module):
    """One of each: parameter, buffer, buffer that is not saved, None."""

    _version = 3

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(tt.ones(2))
        self.register_parameter("bias", None)
        self.register_buffer("mean", tt.zeros(2))
        self.register_buffer("steps", tt.tensor(0))
        self.register_buffer("scratch", tt.zeros(2), persistent=False)


def net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(2, 3), Norm())


def test_state_dict_lists_its_keys_in_order_of_registration() -> None:
    assert list(net().state_dict()) == ["0.weight", "0.bias", "1.weight", "1.mean", "1.steps"]


def test_prefix_is_put_before_every_key() -> None:
    assert list(nn.Linear(2, 3).state_dict(prefix="net.")) == ["net.weight", "net.bias"]


def test_state_dict_metadata_holds_the_module_versions() -> None:
    metadata = net().state_dict()._metadata
    assert metadata == {"": {"version": 1}, "0": {"version": 1}, "1": {"version": 3}}


def test_values_share_memory_and_have_no_graph() -> None:
    layer = nn.Linear(2, 3)
    state = layer.state_dict()
    assert not state["weight"].requires_grad
    layer.weight.data.fill_(7)
    assert state["weight"].tolist() == [[7, 7]] * 3


def test_keep_vars_gives_the_parameters() -> None:
    layer = nn.Linear(2, 3)
    assert layer.state_dict(keep_vars=True)["weight"] is layer.weight


def test_state_dict_adds_to_the_destination() -> None:
    found: dict[str, Any] = OrderedDict(a=1)
    assert nn.Linear(2, 3).state_dict(destination=found) is found
    assert list(found) == ["a", "weight", "bias"]


def test_positional_arguments_are_deprecated() -> None:
    with pytest.warns(FutureWarning, match="Positional args are being deprecated"):
        state = nn.Linear(2, 3).state_dict(None, "p.")
    assert list(state) == ["p.weight", "p.bias"]


def test_a_pickled_state_dict_loads_and_keeps_its_metadata() -> None:
    state = pickle.loads(pickle.dumps(net().state_dict()))
    assert net().load_state_dict(state) == ([], [])
    assert state._metadata["1"] == {"version": 3}


# -- loading -------------------------------------------------------------------------------------


def test_loading_copies_into_the_same_parameters() -> None:
    source, target = net(), net()
    weight = target[0].weight
    result = target.load_state_dict(source.state_dict())
    assert repr(result) == str(result) == "<All keys matched successfully>"
    assert target[0].weight is weight and tt.equal(weight, source[0].weight)
    source[0].weight.data.fill_(9)
    assert not tt.equal(weight, source[0].weight)


def test_load_state_dict_converts_to_the_parameters_dtype() -> None:
    layer = nn.Linear(2, 3)
    layer.load_state_dict(nn.Linear(2, 3, dtype=tt.float64).state_dict())
    assert layer.weight.dtype == tt.float32


def test_assign_takes_the_tensors_over() -> None:
    layer = nn.Linear(2, 3).requires_grad_(False)
    state = nn.Linear(2, 3, dtype=tt.float64).state_dict()
    layer.load_state_dict(state, assign=True)
    assert layer.weight.dtype == tt.float64
    assert isinstance(layer.weight, nn.Parameter) and not layer.weight.requires_grad
    state["weight"].fill_(4)
    assert layer.weight.tolist() == [[4, 4]] * 3


def test_an_optimizer_made_before_sees_what_was_loaded() -> None:
    layer = nn.Linear(2, 3)
    params = list(layer.parameters())
    layer.load_state_dict(nn.Linear(2, 3).state_dict())
    assert all(a is b for a, b in zip(params, layer.parameters(), strict=True))


def test_all_problems_are_reported_at_once() -> None:
    state = net().state_dict()
    state["0.weight"] = tt.zeros(3, 5)
    del state["1.mean"]
    state["1.extra"] = tt.zeros(1)
    state["2.weight"] = tt.zeros(1)
    with pytest.raises(RuntimeError) as info:
        net().load_state_dict(state)
    assert str(info.value) == (
        "Error(s) in loading state_dict for Sequential:\n"
        '\tMissing key(s) in state_dict: "1.mean". \n'
        '\tUnexpected key(s) in state_dict: "2.weight", "1.extra". \n'
        "\tsize mismatch for 0.weight: copying a param with shape tinytorch.Size([3, 5]) from "
        "checkpoint, the shape in current model is tinytorch.Size([3, 2])."
    )


def test_load_state_dict_without_strict_returns_missing_and_unexpected_keys() -> None:
    result = nn.Linear(2, 3).load_state_dict({"bias": tt.zeros(3), "b": 1}, strict=False)
    assert result.missing_keys == ["weight"] and result.unexpected_keys == ["b"]
    assert repr(result) == "_IncompatibleKeys(missing_keys=['weight'], unexpected_keys=['b'])"


def test_sizes_are_checked_without_strict_too() -> None:
    with pytest.raises(RuntimeError, match="size mismatch for bias"):
        nn.Linear(2, 3).load_state_dict({"bias": tt.zeros(4)}, strict=False)


def test_loading_a_value_that_is_not_a_tensor_is_an_error() -> None:
    state = {"weight": [[0.0, 0.0]] * 3, "bias": tt.zeros(3)}
    with pytest.raises(RuntimeError, match='"weight", expected .*Tensor-like object .*list'):
        nn.Linear(2, 3).load_state_dict(state)


def test_loading_a_state_that_is_not_a_mapping_is_an_error() -> None:
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got <class 'list'>"):
        nn.Linear(2, 3).load_state_dict([])  # type: ignore[arg-type]


def test_one_element_fits_a_scalar() -> None:
    norm = Norm()
    norm.load_state_dict({**norm.state_dict(), "steps": tt.tensor([4])})
    assert norm.steps.item() == 4


def test_the_given_dictionary_is_not_changed() -> None:
    target = nn.Linear(2, 3)
    target.register_load_state_dict_pre_hook(lambda module, state, *rest: state.pop("bias"))
    state = nn.Linear(2, 3).state_dict()
    target.load_state_dict(state, strict=False)
    assert list(state) == ["weight", "bias"]


# -- extra state, subclasses -----------------------------------------------------------------------


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def get_extra_state(self) -> Any:
        return {"count": self.count}

    def set_extra_state(self, state: Any) -> None:
        self.count = state["count"]


def test_extra_state_is_saved_and_loaded() -> None:
    source, target = nn.Sequential(Counter()), nn.Sequential(Counter())
    source[0].count = 5
    state = source.state_dict()
    assert state == {"0._extra_state": {"count": 5}}
    target.load_state_dict(state)
    assert target[0].count == 5


def test_missing_and_unexpected_extra_state_is_reported() -> None:
    with pytest.raises(RuntimeError, match='Missing key.*"_extra_state"'):
        Counter().load_state_dict({})
    with pytest.raises(RuntimeError, match='Unexpected key.*"_extra_state"'):
        nn.ReLU().load_state_dict({"_extra_state": 1})


def test_a_subclass_can_read_older_versions() -> None:
    class Renamed(nn.Module):
        _version = 2

        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(tt.ones(2))

        def _load_from_state_dict(
            self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any
        ) -> None:
            if local_metadata.get("version", 1) < 2:
                state_dict[prefix + "weight"] = state_dict.pop(prefix + "kernel")
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    target = nn.Sequential(Renamed())
    target.load_state_dict({"0.kernel": tt.zeros(2)})
    assert target[0].weight.tolist() == [0, 0]


# -- hooks -------------------------------------------------------------------------------------


def test_state_dict_hooks_are_called_before_and_after_saving() -> None:
    seen: list[Any] = []
    layer = nn.Linear(2, 3)
    pre = layer.register_state_dict_pre_hook(lambda *args: seen.append(args))
    post = layer.register_state_dict_post_hook(lambda *args: seen.append(args))
    state = nn.Sequential(layer).state_dict()
    assert seen == [(layer, "0.", False), (layer, state, "0.", {"version": 1})]
    pre.remove()
    post.remove()
    layer.state_dict()
    assert len(seen) == 2 and not layer._state_dict_post_hooks


def test_post_hook_must_return_none() -> None:
    layer = nn.Linear(2, 3)
    layer.register_state_dict_post_hook(lambda *args: {})
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        layer.state_dict()


def test_the_private_hook_of_the_root_may_replace_the_dictionary() -> None:
    layer = nn.Linear(2, 3)
    layer._register_state_dict_hook(lambda *args: {"all": 1})
    assert layer.state_dict() == {"all": 1}


def test_load_hooks_receive_pytorchs_arguments() -> None:
    seen: list[Any] = []
    layer = nn.Linear(2, 3)
    layer.register_load_state_dict_pre_hook(lambda *args: seen.append(args))
    layer._register_load_state_dict_pre_hook(lambda *args: seen.append(args))
    layer.register_load_state_dict_post_hook(lambda *args: seen.append(args))
    layer.load_state_dict(layer.state_dict())
    # The public pre-hook receives the module, too.
    with_module, without, after = seen
    assert with_module[0] is layer and len(with_module) == 8 and len(without) == 7
    assert with_module[2:] == ("", {"version": 1}, True, [], [], [])
    assert after == (layer, ([], []))


def test_post_hook_decides_what_strict_reports() -> None:
    layer = nn.Linear(2, 3)
    layer.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    assert layer.load_state_dict({}) == ([], [])
    layer.register_load_state_dict_post_hook(lambda module, keys: keys)
    with pytest.raises(AssertionError, match="returned a value"):
        layer.load_state_dict({})


def test_hooks_of_a_copy_receive_the_copy() -> None:
    seen: list[Any] = []
    layer = nn.Linear(2, 3)
    layer.register_load_state_dict_pre_hook(lambda module, *rest: seen.append(module))
    other = copy.deepcopy(layer)
    other.load_state_dict(layer.state_dict())
    assert seen == [other]


@pytest.mark.parametrize("prefix", ["module.", "net."])
def test_prefix_is_removed_as_in_pytorch(torch: Any, prefix: str) -> None:

    def consumed(library: Any) -> tuple[list[Any], list[Any]]:
        wrapped = library.nn.Sequential(OrderedDict(module=library.nn.Linear(2, 1)))
        wrapped.norm = library.nn.BatchNorm1d(3)
        state = wrapped.state_dict()
        library.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, prefix)
        return list(state), list(state._metadata.items())

    assert consumed(tt) == consumed(torch)
