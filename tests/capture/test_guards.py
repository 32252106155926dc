"""A recording is replayed only if everything that it depends on is as it was."""

from __future__ import annotations

import argparse
import contextvars
import math
import os
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import tinytorch
from tinytorch import nn

tt: Any = tinytorch

SCALE = 2.0
NAMES = {"scale": 3.0}
WEIGHTS = [1.0, 2.0]
TABLE = np.arange(3.0, dtype=np.float32)
SPACE = types.ModuleType("a_module_of_the_program")


def recordings(compiled: Any) -> int:
    """Number of recordings of a compiled function or module."""
    owner: Any = compiled.forward if isinstance(compiled, nn.Module) else compiled._compiled
    return len([entry for entry in owner.entries if not entry.reason])


def breaks(compiled: Any) -> list[str]:
    owner: Any = compiled.forward if isinstance(compiled, nn.Module) else compiled._compiled
    return list(owner.breaks)


def check(function: Callable[..., Any], compiled: Any, *args: Any, **kwargs: Any) -> None:
    """Compare three calls with eager ones: the first may record, the others replay."""
    for _ in range(3):
        expected, found = function(*args, **kwargs), compiled(*args, **kwargs)
        assert found.dtype is expected.dtype and found.shape == expected.shape
        assert found.stride() == expected.stride()
        assert found.requires_grad is expected.requires_grad
        assert tt.allclose(found, expected, rtol=1e-6, atol=1e-6, equal_nan=True)


@contextmanager
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# -- arguments ---------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [
    tt.ones(4), tt.ones(2, 3), tt.ones(3, dtype=tt.float64), tt.ones(3, dtype=tt.int32),
    tt.ones(3, requires_grad=True), tt.ones(6)[::2], tt.ones(0), tt.tensor(2.0),
    tt.ones(1).expand(3),
], ids=lambda x: f"{x.dtype}{list(x.shape)}{x.requires_grad}")  # fmt: skip
def test_tensors_of_another_kind_are_recorded_anew(other: Any) -> None:
    def double(x: Any) -> Any:
        return x * 2 + x.dim()

    compiled = tt.compile(double)
    with no_warnings():
        check(double, compiled, tt.ones(3))
        check(double, compiled, other)
        assert recordings(compiled) == 2
        check(double, compiled, tt.full((3,), 7.0))
        check(double, compiled, other + 1 if other._base is None else other)
    assert recordings(compiled) <= 3


@pytest.mark.parametrize("values", [
    (1, 2), (1, True), (1, 1.0), (0.0, -0.0), (True, False), ("sum", "mean"), (None, 3),
    ((1, 2), (2, 1)), ((1, 2), [1, 2]), (2, 2 + 0j), (tt.float32, tt.float64),
    ({"a": 1}, {"a": 2}), ({"a": 1}, {"b": 1}), ((1, (2,)), ((1, 2),)), (slice(0, 1), slice(1, 2)),
], ids=str)  # fmt: skip
def test_other_arguments_are_compared_by_type_and_value(values: Any) -> None:
    seen: list[Any] = []

    def describe(x: Any, value: Any) -> Any:
        return x + sum(map(ord, f"{value!r}"))

    compiled = tt.compile(describe)
    with no_warnings():
        for value in (*values, *values):
            check(describe, compiled, tt.zeros(2), value)
            check(describe, compiled, tt.zeros(2), value=value)
    assert recordings(compiled) == 4 and not seen


def test_nan_as_an_argument_is_recorded_once() -> None:
    compiled = tt.compile(lambda x, value: x * value)
    for _ in range(4):
        assert compiled(tt.ones(1), float("nan")).isnan().all()
    assert recordings(compiled) == 1


def test_trees_of_tensors_are_arguments_and_results() -> None:
    def swap(tree: Any) -> Any:
        return {"b": [tree["a"][0] + 1, (tree["a"][1] * 2,)], "a": None, "n": 3}

    compiled = tt.compile(swap)
    for i in range(3):
        x, y = tt.full((2,), float(i)), tt.full((3,), float(i))
        found = compiled({"a": (x, y)})
        assert list(found) == ["b", "a", "n"] and found["a"] is None and found["n"] == 3
        assert tt.equal(found["b"][0], x + 1) and tt.equal(found["b"][1][0], y * 2)
    assert recordings(compiled) == 1
    assert tt.equal(compiled({"a": [x, y]})["b"][0], x + 1) and recordings(compiled) == 2


def test_one_tensor_in_two_places_is_another_call_than_two() -> None:
    def add_(x: Any, y: Any) -> Any:
        x.add_(1)
        return x * y

    compiled = tt.compile(add_)
    for _ in range(3):
        x, y = tt.ones(2), tt.ones(2)
        assert compiled(x, y).tolist() == [2.0, 2.0] and y.tolist() == [1.0, 1.0]
        assert compiled(x, x).tolist() == [9.0, 9.0]
    assert recordings(compiled) == 2


def test_arguments_that_share_memory_are_right() -> None:
    def add_(x: Any, y: Any) -> Any:
        x.add_(1)
        return y * 2

    compiled = tt.compile(add_)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            base = tt.zeros(4)
            assert compiled(base[:3], base[1:]).tolist() == [2.0, 2.0, 0.0]
    assert len(caught) == 1 and "shares memory" in str(caught[0].message)
    assert compiled(tt.zeros(3), tt.zeros(3)).tolist() == [0.0] * 3


def test_a_parameter_that_is_an_argument_too_is_right() -> None:
    layer = nn.Linear(2, 2)

    def use(w: Any, x: Any) -> Any:
        return layer(x) @ w

    compiled = tt.compile(use)
    x = tt.randn(3, 2)
    for w in (layer.weight, tt.ones(2, 2), layer.weight, tt.eye(2), layer.weight.t()):
        check(use, compiled, w, x)
    assert recordings(compiled) == 3


def test_parts_of_one_batch_are_recorded() -> None:
    batch = tt.randn(4, 6, requires_grad=True)
    whole = tt.randn(4, 6)

    def loss(x: Any, y: Any) -> Any:
        return ((x - y) ** 2).sum() + whole.sum()

    compiled = tt.compile(loss, fullgraph=True)
    for i in range(4):
        with tt.no_grad():
            batch.add_(i)
        expected, found = (f(batch[:, :-1], batch[:, 1:]) for f in (loss, compiled))
        assert tt.allclose(expected, found)
        (a,), (b,) = (tt.autograd.grad(each, batch) for each in (expected, found))
        assert tt.allclose(a, b)
        assert tt.allclose(compiled(whole[:2], whole[2:]), loss(whole[:2], whole[2:]))
    assert recordings(compiled) == 2
    assert tt.allclose(compiled(whole, whole[:]), whole.sum())


# -- modes -------------------------------------------------------------------------------------


def test_the_backend_of_tensors_is_a_guard() -> None:
    weight = tt.ones(2)
    compiled = tt.compile(lambda x: x * weight)
    assert [compiled(tt.ones(2)).tolist() for _ in range(3)] == [[1, 1]] * 3
    meta = tt.ones(2, device="meta")
    with pytest.warns(UserWarning, match="on the backend 'meta'"):
        assert tt.compile(lambda x: x * 2)(meta).is_meta
    doubled = tt.compile(lambda x: x * 2)
    assert [doubled(tt.ones(2)).tolist() for _ in range(3)] == [[2, 2]] * 3
    with pytest.warns(UserWarning, match="on the backend 'meta'"):
        assert doubled(meta).is_meta
    weight.data = meta
    with pytest.warns(UserWarning, match="on the backend 'meta'"):
        assert compiled(meta).is_meta


def test_modes_are_guards() -> None:
    layer = nn.Linear(3, 3)
    compiled = tt.compile(layer)
    x = tt.randn(2, 3)
    with no_warnings():
        for mode in (tt.enable_grad, tt.no_grad, tt.inference_mode, tt.no_grad, tt.enable_grad):
            with mode():
                check(layer, compiled, x)
                assert compiled(x).is_inference() is layer(x).is_inference()
    assert recordings(compiled) == 3


def test_the_default_dtype_is_a_guard() -> None:
    def fill(x: Any) -> Any:
        return x + tt.ones(2)

    compiled = tt.compile(fill)
    for dtype in (tt.float32, tt.float64, tt.float32):
        with tt.default_dtype_context(dtype):
            check(fill, compiled, tt.zeros(2, dtype=tt.int64))
    assert recordings(compiled) == 2


def test_autocast_is_a_guard_and_its_casts_are_not_constants() -> None:
    layer = nn.Linear(3, 3)
    compiled = tt.compile(layer)
    x = tt.randn(2, 3)
    for dtype in (tt.bfloat16, tt.float16, tt.bfloat16):
        with tt.autocast("cpu", dtype=dtype):
            layer(x)  # fills the cache of casts
            check(layer, compiled, x)
            assert compiled(x).dtype is dtype
        check(layer, compiled, x)
        with tt.no_grad():
            layer.weight.mul_(2)
    assert recordings(compiled) == 3


def test_deterministic_algorithms_are_a_guard() -> None:
    compiled = tt.compile(lambda x: x * (1 + tt.are_deterministic_algorithms_enabled()))
    try:
        assert compiled(tt.ones(1)).item() == 1
        tt.use_deterministic_algorithms(True)
        assert compiled(tt.ones(1)).item() == 2
    finally:
        tt.use_deterministic_algorithms(False)


# -- modules -----------------------------------------------------------------------------------


class Net(nn.Module):
    """A module whose attributes decide what it computes."""

    factor = 2.0

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.drop = nn.Dropout(0.5)
        self.second = nn.Linear(4, 2)
        self.register_buffer("shift", tt.zeros(2))
        self.shift: Any
        self.power, self.name, self.sizes, self.table = 1, "relu", (1, 2), {"a": 1.0}

    def activate(self, x: Any) -> Any:
        return getattr(x, self.name)()

    def forward(self, x: Any) -> Any:
        y = self.second(self.drop(self.activate(self.first(x))))
        scaled = y * self.factor * self.sizes[0] * self.table["a"]
        return scaled**self.power + self.shift


def test_attributes_of_modules_are_guards() -> None:
    net = Net().eval()
    compiled = tt.compile(net)
    x = tt.randn(5, 3)
    changes: list[Callable[[], Any]] = [
        lambda: setattr(net, "power", 2), lambda: setattr(net, "name", "sigmoid"),
        lambda: setattr(net, "sizes", (3, 2)), lambda: setattr(net, "factor", 5.0),
        lambda: net.table.update(a=4.0), lambda: delattr(net, "factor"),
        lambda: setattr(Net, "factor", 7.0), lambda: setattr(net, "second", nn.Linear(4, 2)),
        lambda: setattr(net.first, "weight", nn.Parameter(tt.randn(4, 3))),
        lambda: setattr(net, "shift", tt.ones(2)), lambda: net.second.requires_grad_(False),
        lambda: setattr(net.drop, "p", 0.25), lambda: setattr(net, "activate", tt.tanh),
        lambda: setattr(net.first, "bias", None),
    ]  # fmt: skip
    try:
        with no_warnings():
            check(net, compiled, x)
            for number, change in enumerate(changes):
                tt.compiler.reset()
                check(net, compiled, x)
                change()
                check(net, compiled, x)
                assert recordings(compiled) == 2, number
    finally:
        Net.factor = 2.0


def test_values_of_parameters_are_no_guards() -> None:
    net = Net().eval()
    compiled = tt.compile(net)
    x = tt.randn(5, 3)
    with tt.no_grad():
        check(net, compiled, x)
        net.first.weight.mul_(2)
        net.shift.fill_(3.0)
        check(net, compiled, x)
        net.first.weight.data = tt.randn(4, 3)
        check(net, compiled, x)
        net.load_state_dict(Net().state_dict())
        check(net, compiled, x)
        assert recordings(compiled) == 1
        net.double()
        check(net, compiled, x.double())
    assert recordings(compiled) == 2


def test_parameters_that_are_parts_of_one_memory() -> None:
    flat = tt.randn(12)
    net: Any = nn.Linear(3, 3)
    net.weight = nn.Parameter(flat[:9].view(3, 3))
    net.bias = nn.Parameter(flat[9:])
    compiled = tt.compile(net)
    x = tt.randn(2, 3)
    check(net, compiled, x)
    flat.mul_(2.0)
    check(net, compiled, x)
    assert recordings(compiled) == 1
    other = tt.randn(12)
    net.weight.data, net.bias.data = other[:9].view(3, 3), other[9:]
    check(net, compiled, x)
    assert recordings(compiled) == 2


def test_training_of_each_submodule_is_a_guard() -> None:
    net = Net()
    compiled = tt.compile(net)
    x = tt.randn(200, 3)
    for mode in (True, False, True, False):
        net.drop.train(mode)
        tt.manual_seed(0)
        expected = net(x)
        tt.manual_seed(0)
        assert tt.equal(compiled(x), expected)
        assert tt.equal(compiled(x), expected) is not mode
    assert recordings(compiled) == 2


def test_weights_that_are_tied_after_the_recording_are_seen() -> None:
    net: Any = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    compiled = tt.compile(net)
    x = tt.randn(2, 3)
    check(net, compiled, x)
    net[1].weight = net[0].weight
    check(net, compiled, x)
    net.append(nn.ReLU())
    check(net, compiled, x)
    assert recordings(compiled) == 3


# -- globals, closures, objects ----------------------------------------------------------------


def scaled(x: Any) -> Any:
    return x * SCALE


def through_another(x: Any) -> Any:
    return scaled(x) + SPACE.offset + NAMES["scale"] + WEIGHTS[1]


def test_globals_are_guards(monkeypatch: pytest.MonkeyPatch) -> None:
    SPACE.offset = 1.0  # type: ignore[attr-defined]
    compiled = tt.compile(through_another)
    x = tt.ones(2)
    with no_warnings():
        check(through_another, compiled, x)
        monkeypatch.setitem(globals(), "SCALE", 5.0)
        check(through_another, compiled, x)
        monkeypatch.setattr(SPACE, "offset", 9.0)
        check(through_another, compiled, x)
        monkeypatch.setitem(NAMES, "scale", -3.0)
        check(through_another, compiled, x)
        WEIGHTS[1] = 0.5
        check(through_another, compiled, x)
        monkeypatch.setitem(globals(), "scaled", tt.exp)
        check(through_another, compiled, x)
    assert recordings(compiled) == 6


def test_an_equal_global_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = tt.compile(scaled)
    for _ in range(20):
        monkeypatch.setitem(globals(), "SCALE", float("2.5"))
        check(scaled, compiled, tt.ones(2))
    assert recordings(compiled) == 1


def test_arrays_of_numpy_are_compared_by_value() -> None:
    def add(x: Any) -> Any:
        return x + tt.from_numpy(TABLE)

    compiled = tt.compile(add)
    check(add, compiled, tt.ones(3))
    TABLE[0] = 8.0
    check(add, compiled, tt.ones(3))
    assert recordings(compiled) == 2


def test_closures_and_defaults_are_guards() -> None:
    factor, tensor = 2.0, tt.ones(2)

    def use(x: Any, shift: Any = 1.0, *, power: Any = 1) -> Any:
        return (x * factor + shift) ** power + tensor

    compiled = tt.compile(use)
    x = tt.ones(2)
    check(use, compiled, x)
    factor = 3.0
    check(use, compiled, x)
    use.__defaults__ = (5.0,)
    check(use, compiled, x)
    use.__kwdefaults__ = {"power": 2}
    check(use, compiled, x)
    assert recordings(compiled) == 4
    tensor.fill_(7.0)  # its memory is an input
    check(use, compiled, x)
    assert recordings(compiled) == 4
    tensor = tt.full((2,), 9.0)
    check(use, compiled, x)
    assert recordings(compiled) == 5


class Plain:
    """An object of the program."""

    __slots__ = ("slot",)
    shared = 1.0

    def __init__(self, slot: float) -> None:
        self.slot = slot

    @property
    def doubled(self) -> float:
        return 2 * self.slot * self.shared


def test_attributes_of_objects_and_classes_are_guards() -> None:
    thing = Plain(2.0)

    def use(x: Any) -> Any:
        return x * thing.doubled

    compiled = tt.compile(use)
    try:
        check(use, compiled, tt.ones(2))
        thing.slot = 3.0
        check(use, compiled, tt.ones(2))
        Plain.shared = 4.0
        check(use, compiled, tt.ones(2))
    finally:
        Plain.shared = 1.0
    assert recordings(compiled) == 3


def test_methods_and_objects_as_arguments_are_recorded_by_object() -> None:
    class Model:
        def __init__(self, scale: float) -> None:
            self.scale, self.layer = scale, nn.Linear(2, 2)

        @tt.compile  # type: ignore[untyped-decorator]
        def run(self, x: Any) -> Any:
            return self.layer(x) * self.scale

    one, two = Model(2.0), Model(3.0)
    for _ in range(3):
        for model in (one, two):
            x = tt.randn(4, 2)
            assert tt.equal(model.run(x), model.layer(x) * model.scale)
    assert recordings(Model.run) == 2
    one.scale = 5.0
    assert tt.equal(one.run(x), one.layer(x) * 5.0) and recordings(Model.run) == 3


def test_contexts_threads_environments_and_namespaces_are_guards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    variable: contextvars.ContextVar[float] = contextvars.ContextVar("scale", default=2.0)
    local, options = threading.local(), argparse.Namespace(scale=3.0)
    local.scale = 5.0
    monkeypatch.setenv("SCALE_OF_A_TEST", "7")

    def use(x: Any) -> Any:
        scale = float(os.environ["SCALE_OF_A_TEST"]) * variable.get()
        return x * scale * local.scale * options.scale

    compiled = tt.compile(use)
    check(use, compiled, tt.ones(2))
    token = variable.set(11.0)
    check(use, compiled, tt.ones(2))
    local.scale = 13.0
    check(use, compiled, tt.ones(2))
    options.scale = 17.0
    check(use, compiled, tt.ones(2))
    monkeypatch.setenv("SCALE_OF_A_TEST", "19")
    check(use, compiled, tt.ones(2))
    assert recordings(compiled) == 5
    variable.reset(token)


def test_partial_functions_and_wrapped_functions_are_searched() -> None:
    import functools

    state = types.SimpleNamespace(scale=2.0)

    def inner(x: Any, shift: float) -> Any:
        return x * state.scale + shift

    @functools.wraps(inner)
    def outer(*args: Any) -> Any:
        return inner(*args)

    function = functools.partial(outer, shift) if (shift := None) else lambda x: outer(x, 1.0)
    compiled = tt.compile(function)
    check(function, compiled, tt.ones(2))
    state.scale = 4.0
    check(function, compiled, tt.ones(2))
    assert recordings(compiled) == 2
    partial = functools.partial(inner, shift=3.0)
    again = tt.compile(partial)
    check(partial, again, tt.ones(2))
    state.scale = 5.0
    check(partial, again, tt.ones(2))


def test_attributes_of_tensors_and_whether_there_are_gradients_are_guards() -> None:
    weight = nn.Parameter(tt.ones(2))
    weight.scale = 2.0  # type: ignore[attr-defined]

    def use(x: Any) -> Any:
        scale = getattr(x, "scale", 1.0) * getattr(weight, "scale", 1.0)
        return x * scale + (0 if weight.grad is None else 10) + (0 if x.grad is None else 100)

    compiled = tt.compile(use)
    with tt.no_grad():
        x = tt.ones(2)
        check(use, compiled, x)
        x.scale = 3.0
        check(use, compiled, x)
        weight.scale = 5.0  # type: ignore[attr-defined]
        check(use, compiled, x)
        weight.grad = tt.ones(2)
        check(use, compiled, x)
        x.grad = tt.ones(2)
        check(use, compiled, x)
    assert recordings(compiled) == 5


def test_the_order_of_dicts_and_replaced_methods_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = {"a": 1.0, "b": 2.0}
    layer = nn.Linear(2, 2)

    def use(x: Any) -> Any:
        first, second = weights.values()
        return layer(x) * first + second

    compiled = tt.compile(use)
    check(use, compiled, tt.ones(1, 2))
    weights["a"] = weights.pop("a")
    check(use, compiled, tt.ones(1, 2))
    monkeypatch.setattr(nn.Linear, "forward", lambda self, x: x * 3)
    check(use, compiled, tt.ones(1, 2))
    assert recordings(compiled) == 3


def test_replaced_functions_of_libraries_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    scale = [2.0]
    x = tt.tensor([-1.0, 2.0])
    compiled = tt.compile(lambda x: tt.nn.functional.relu(x) * math.floor(2.5))
    assert [compiled(x).tolist() for _ in range(3)] == [[0, 4]] * 3
    monkeypatch.setattr(math, "floor", math.ceil)
    assert [compiled(x).tolist() for _ in range(3)] == [[0, 6]] * 3
    monkeypatch.setattr(tt.nn.functional, "relu", lambda x: x * scale[0])
    assert [compiled(x).tolist() for _ in range(3)] == [[-6, 12]] * 3
    scale[0] = 1.0
    assert compiled(x).tolist() == [-3, 6]


def test_generators_of_a_scope_are_used() -> None:
    compiled = tt.compile(lambda: tt.rand(2))
    tt.manual_seed(0)
    outside = [compiled() for _ in range(4)]
    found = []
    for function in (compiled, lambda: tt.rand(2)):
        tt.manual_seed(5)
        with tt.random.fork_rng():
            tt.manual_seed(6)
            found.append([function(), function(), function()])
        found[-1].append(function())
    assert all(map(tt.equal, *found))
    tt.manual_seed(0)
    assert all(tt.equal(each, tt.rand(2)) for each in outside)


def test_numbers_of_numpy_are_compared_by_value() -> None:
    compiled = tt.compile(lambda x, n: x * float(n))
    for i in range(30):
        n = np.float64(i % 3)
        assert compiled(tt.ones(2), n).tolist() == [float(n)] * 2
    assert recordings(compiled) == 3


def test_modes_that_the_function_leaves_changed_are_changed_at_each_call() -> None:
    def leave(x: Any) -> Any:
        tt.set_grad_enabled(False)
        return x * 2

    compiled = tt.compile(leave)
    with pytest.warns(UserWarning, match="changes grad mode"):
        compiled(tt.ones(1))
    for _ in range(3):
        tt.set_grad_enabled(True)
        compiled(tt.ones(1))
        assert not tt.is_grad_enabled()
    tt.set_grad_enabled(True)


# -- the limit ---------------------------------------------------------------------------------


def test_after_eight_recordings_calls_run_eagerly_with_one_warning() -> None:
    compiled = tt.compile(lambda x: x + x.shape[0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for size in range(1, 20):
            assert compiled(tt.zeros(size)).tolist() == [float(size)] * size
    assert recordings(compiled) == 8 and len(caught) == 1
    assert "recompile_limit" in str(caught[0].message) and caught[0].filename == __file__


def test_the_limit_is_a_setting() -> None:
    config = tt._dynamo.config
    with config.patch(recompile_limit=2):
        compiled = tt.compile(lambda x: x + 1, fullgraph=True)
        for size in (1, 2):
            compiled(tt.zeros(size))
        with pytest.raises(tt._dynamo.exc.FailOnRecompileLimitHit, match="2 times"):
            compiled(tt.zeros(3))
    config.cache_size_limit = 3
    try:
        compiled(tt.zeros(3))
    finally:
        config.cache_size_limit = 8
    assert recordings(compiled) == 3


def test_guards_do_not_grow_with_the_number_of_calls() -> None:
    compiled = tt.compile(lambda x: x * math.pi)
    for i in range(100):
        assert compiled(tt.full((2,), float(i))).tolist()[0] == pytest.approx(i * math.pi, rel=1e-6)
    assert recordings(compiled) == 1 and not breaks(compiled)


# -- guards of programs that run often -------------------------------------------------------------


class Scaled:
    """Object with attributes, a list and a dict."""

    def __init__(self) -> None:
        self.scale, self.parts, self.names = 2.0, [1.0, 2.0], {"shift": 3.0}


def other_scale(x: Any) -> Any:
    return x * 5


CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "attribute": lambda owner, net: setattr(owner, "scale", 7.0),
    "item of a list": lambda owner, net: owner.parts.__setitem__(0, 7.0),
    "list that grows": lambda owner, net: owner.parts.append(7.0),
    "entry of a dict": lambda owner, net: owner.names.update(shift=7.0),
    "new entry": lambda owner, net: owner.names.update(more=7.0),
    "deleted attribute": lambda owner, net: delattr(owner, "scale"),
    "training": lambda owner, net: net.eval(),
    "parameter": lambda owner, net: setattr(net[0], "weight", nn.Parameter(tt.full((3, 3), 0.5))),
    "hook of a module": lambda owner, net: net[0].register_forward_hook(lambda m, a, out: out + 1),
    "global": lambda owner, net: globals().update(SCALE=SCALE + 1),
    "class": lambda owner, net: setattr(owner, "__class__", type("Other", (Scaled,), {})),
    "defaults": lambda owner, net: setattr(often, "__defaults__", (9.0,)),
    "requires_grad": lambda owner, net: net[0].weight.requires_grad_(False),
    "data": lambda owner, net: setattr(net[0].weight, "data", tt.randn(3, 3)),
    "strides of data": lambda owner, net: setattr(net[0].weight, "data", tt.randn(3, 3).t()),
}


def often(x: Any, factor: float = 1.0) -> Any:
    return x * factor * SCALE


@pytest.mark.filterwarnings("ignore:.*a module has a hook of Python")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_after_many_replays_is_seen(change: Callable[[Any, Any], Any]) -> None:
    owner, net = Scaled(), nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.0))

    def function(x: Any) -> Any:
        y = often(net(x)) * getattr(owner, "scale", 1.0)
        total = sum(owner.parts) + sum(owner.names.values())
        return y * total if net.training and type(owner) is Scaled else y - total

    compiled = tt.compile(function)
    x, defaults, scale = tt.ones(2, 3), often.__defaults__, SCALE
    try:
        for _ in range(15):
            assert tt.allclose(compiled(x), function(x))
        entry = compiled._compiled.entries[0]
        assert entry.reach._test() and entry.tensors._test()
        change(owner, net)
        check(function, compiled, x)
    finally:
        often.__defaults__ = defaults
        globals()["SCALE"] = scale
