"""What a compiled function reads in unusual ways is compared at each call."""

from __future__ import annotations

import array
import contextvars
import functools
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch
from tinytorch import nn

tt: Any = tinytorch

Case = tuple[Callable[[Any], Any], list[Callable[[], Any]]]
SCALE = 1.0


def constant_name() -> Case:
    class Config:
        scale = 1.0

    return lambda x: x * getattr(Config, "scale"), [lambda: setattr(Config, "scale", 2.0)]


def computed_name() -> Case:
    class Config:
        rate_a = 1.0

    name = "rate_{}"
    return lambda x: x * getattr(Config, name.format("a")), [lambda: setattr(Config, "rate_a", 2.0)]


def member_dict() -> Case:
    class Config:
        scale = 1.0

    return lambda x: x * vars(Config)["scale"], [lambda: setattr(Config, "scale", 2.0)]


def missing_member() -> Case:
    class Config:
        pass

    config = Config()

    def remove() -> None:
        del config.scale  # type: ignore[attr-defined]
        Config.scale = 5.0  # type: ignore[attr-defined]

    return lambda x: x * getattr(config, "scale", 1.0), [
        lambda: setattr(config, "scale", 2.0), remove,
    ]  # fmt: skip


def missing_member_of_a_module() -> Case:
    module: Any = types.ModuleType("settings_of_a_program")
    return lambda x: x * getattr(module, "scale", 1.0), [lambda: setattr(module, "scale", 2.0)]


def getattr_of_a_module() -> Case:
    module: Any = types.ModuleType("settings_of_a_program")
    values = {"scale": 1.0}
    module.__getattr__ = values.__getitem__
    return lambda x: x * module.scale, [lambda: values.update(scale=2.0)]


def getattr_of_a_class() -> Case:
    class Config:
        def __init__(self) -> None:
            vars(self)["values"] = {"scale": 1.0}

        def __getattr__(self, name: str) -> Any:
            return self.values[name]

    config = Config()
    return lambda x: x * config.scale, [lambda: config.values.update(scale=2.0)]


def metaclass() -> Case:
    class Meta(type):
        scale = 1.0

        @property
        def twice(cls) -> Any:
            return 2 * cls.base  # type: ignore[attr-defined]

    class Config(metaclass=Meta):
        base = 1.0

    return lambda x: x * Config.scale * Config.twice, [
        lambda: setattr(Meta, "scale", 2.0), lambda: setattr(Config, "base", 3.0),
    ]  # fmt: skip


def inherited_member() -> Case:
    class Base:
        scale = 1.0

    class Config(Base):
        pass

    config = Config()
    return lambda x: x * config.scale, [
        lambda: setattr(Config, "scale", 2.0), lambda: setattr(config, "scale", 3.0),
    ]  # fmt: skip


def members_that_are_no_functions() -> Case:
    class Config:
        layers = ["a"]
        move = staticmethod(lambda x: x + 1)
        scaled = classmethod(lambda cls, x: x * 2)
        power = functools.partialmethod(lambda self, x, n: x**n, n=2)

    config = Config()
    return lambda x: Config.scaled(Config.move(config.power(x))) * len(Config.layers), [
        lambda: setattr(Config, "layers", ["a", "b"]),
        lambda: setattr(Config, "move", staticmethod(lambda x: x - 1)),
        lambda: setattr(Config, "scaled", classmethod(lambda cls, x: x * 5)),
        lambda: setattr(Config, "power", functools.partialmethod(lambda self, x, n: x * n, n=3)),
    ]


def class_of_an_object() -> Case:
    class Twice(nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    class Thrice(nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 3

    module = Twice()
    return lambda x: module(x), [lambda: setattr(module, "__class__", Thrice)]


def cached_property() -> Case:
    offset = [1.0]

    class Config:
        @functools.cached_property
        def scale(self) -> float:
            return offset[0]

    return lambda x: x * Config().scale, [lambda: offset.append(offset.pop() + 1)]


def variable_of_a_context() -> Case:
    default = {"scale": 1.0}
    variable = contextvars.ContextVar("variable", default=default)
    return lambda x: x * variable.get()["scale"], [
        lambda: variable.get().update(scale=2.0), lambda: variable.set({"scale": 3.0}),
    ]  # fmt: skip


def weak_references() -> Case:
    class Config:
        scale = 1.0

    config = Config()
    reference, table = weakref.ref(config), weakref.WeakKeyDictionary({config: 1.0})

    def function(x: Any) -> Any:
        owner: Any = reference()
        return x * owner.scale * table[owner]

    return function, [
        lambda: setattr(config, "scale", 2.0), lambda: table.update({config: 3.0}),
    ]  # fmt: skip


def read_only_dict() -> Case:
    values = {"scale": 1.0}
    view = types.MappingProxyType(values)
    return lambda x: x * view["scale"], [lambda: values.update(scale=2.0)]


def bound_method_of_a_dict() -> Case:
    values = {"scale": 1.0}
    find = values.get
    return lambda x: x * find("scale"), [lambda: values.update(scale=2.0)]


def buffers() -> Case:
    few, several = bytearray(b"\x01"), array.array("d", [1.0])
    return lambda x: x * few[0] * several[0], [
        lambda: few.__setitem__(0, 2), lambda: several.__setitem__(0, 3.0),
    ]  # fmt: skip


def large_array() -> Case:
    values = np.ones(300_000)
    return lambda x: x * float(values.mean()), [lambda: values.fill(2.0)]


def large_containers() -> Case:
    items, table = [1.0] * 20_000, dict.fromkeys(range(20_000), 1.0)

    def double() -> None:
        items[:] = [2.0] * len(items)

    return lambda x: x * items[7] * table[9], [
        double, lambda: table.update(dict.fromkeys(table, 3.0)),
    ]  # fmt: skip


def one_element_of_a_large_array() -> Case:
    values, memory = np.ones(300_000), np.ones(3_000_000)
    return lambda x: x * float(values[1]) * float(memory[1]), [
        lambda: values.__setitem__(1, 2.0), lambda: memory.__setitem__(1, 3.0),
    ]  # fmt: skip


def one_item_of_a_large_container() -> Case:
    items, table = [1.0] * 20_000, dict.fromkeys(range(20_000), 1.0)
    nested, numbers = tuple([1.0] for _ in range(20_000)), set(range(20_000))
    return lambda x: x * items[7] * table[9] * nested[11][0] + (5 in numbers), [
        lambda: numbers.symmetric_difference_update((5, -1)),
        lambda: items.__setitem__(7, 2.0), lambda: table.__setitem__(9, 3.0),
        lambda: nested[11].__setitem__(0, 4.0),
    ]  # fmt: skip


def cache_of_a_function() -> Case:
    scale = [1.0]
    scaled = functools.lru_cache(lambda factor: factor * scale[0])

    def change() -> None:
        scale[0] = 2.0
        scaled.cache_clear()

    return lambda x: x * scaled(3.0), [change]


def order_of_modules() -> Case:
    layers = tt.nn.ModuleDict({"first": nn.Sigmoid(), "last": nn.Tanh()})

    def function(x: Any) -> Any:
        for layer in layers.values():
            x = layer(x)
        return x

    return function, [lambda: layers.update({"first": layers.pop("first")})]


def one_of_many_objects() -> Case:
    groups = [[[1.0] for _ in range(300)] for _ in range(100)]
    return lambda x: x * groups[-1][-1][0], [lambda: groups[-1][-1].__setitem__(0, 2.0)]


def evaluated_code() -> Case:
    def change() -> None:
        global SCALE
        SCALE += 1.0

    return lambda x: eval("x * SCALE", globals(), {"x": x}), [change]


def dict_of_globals() -> Case:
    def change() -> None:
        global SCALE
        SCALE += 1.0

    return lambda x: x * globals()["SC" + "ALE".lower().upper()], [change]


def import_inside() -> Case:
    module: Any = types.ModuleType("settings_of_a_program")
    module.scale = module.power = 1.0
    sys.modules[module.__name__] = module

    def function(x: Any) -> Any:
        import settings_of_a_program  # type: ignore[import-not-found]
        from settings_of_a_program import power

        return x * settings_of_a_program.scale**power

    return function, [
        lambda: setattr(module, "scale", 2.0), lambda: setattr(module, "power", 3.0),
    ]  # fmt: skip


def version_of_a_tensor() -> Case:
    tensor = tt.ones(2)
    return lambda x: x * (1 + tensor._version), [lambda: tensor.fill_(0)]


CASES = [
    constant_name, computed_name, member_dict, missing_member, missing_member_of_a_module,
    getattr_of_a_module, getattr_of_a_class, metaclass, inherited_member,
    members_that_are_no_functions, class_of_an_object, cached_property, variable_of_a_context,
    weak_references, read_only_dict, bound_method_of_a_dict, buffers, large_array,
    large_containers, one_element_of_a_large_array, one_item_of_a_large_container,
    one_of_many_objects, cache_of_a_function, order_of_modules, evaluated_code, dict_of_globals,
    import_inside, version_of_a_tensor,
]  # fmt: skip


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
@pytest.mark.filterwarnings("ignore:.*is compiled, but runs eagerly")
def test_what_is_read_is_compared(make: Callable[[], Case]) -> None:
    function, changes = make()
    compiled = tt.compile(function)
    x = tt.tensor([1.0, -2.0])
    before = None
    for change in [None, *changes]:
        if change is not None:
            change()
        expected = function(x)
        assert before is None or not tt.equal(expected, before)
        for _ in range(3):
            assert tt.equal(compiled(x), expected)
        before = expected


def test_leaves_and_results_are_calls_of_two_kinds() -> None:
    def function(x: Any) -> Any:
        return x * (2 if x.is_leaf else 3)

    compiled = tt.compile(function)
    leaf = tt.ones(2, requires_grad=True)
    for _ in range(3):
        for x in (leaf, leaf + 1, leaf.detach()):
            assert tt.equal(compiled(x), function(x))
