"""The docstring of every operation and layer describes each parameter of its signature."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import tinytorch as tt
from tinytorch.dispatch import registry
from tinytorch.dispatch.operation import NAMESPACES


def operations() -> Iterator[tuple[str, Any]]:
    """Every operation that a user may ask about, under each of its names and as a method."""
    registry.load_all()
    for space, table in NAMESPACES.items():
        yield from ((f"{space}.{name}".lstrip("."), function) for name, function in table.items())
    for name in dir(tt.Tensor):
        member = inspect.getattr_static(tt.Tensor, name)
        member = member.fget if isinstance(member, property) else member
        if hasattr(member, "op") and not name.startswith("_"):
            yield f"Tensor.{name}", member


def said(documentation: str) -> set[str]:
    """The parameters that a docstring's section ``Args:`` names."""
    found = re.search(r"^Args:\n(.*?)(?=^\S|\Z)", documentation, re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^    (\S[\w*, ]*): \S", found[1] if found else "", re.MULTILINE)
    return {name.strip("* ") for line in lines for name in line.split(",")}


def test_operations_say_what_each_parameter_is() -> None:
    every = dict(operations())
    assert len(every) > 1500
    silent = {
        name: sorted(unsaid)
        for name, function in every.items()
        if (
            unsaid := {*inspect.signature(function).parameters}
            - said(inspect.getdoc(function) or "")
        )
    }
    assert not silent


def test_in_place_forms_say_nothing_of_what_they_do_not_take() -> None:
    assert {"input", "other", "alpha", "out"} == said(inspect.getdoc(tt.add) or "")
    assert {"input", "other", "alpha"} == said(inspect.getdoc(tt.Tensor.add_) or "")


def test_layers_describe_each_argument() -> None:
    """Those too that a base class describes for its subclasses."""
    layers = {name: cls for name, cls in vars(tt.nn).items() if inspect.isclass(cls)}
    layers = {name: cls for name, cls in layers.items() if issubclass(cls, tt.nn.Module)}
    assert len(layers) > 150
    missing = {
        name: sorted(undescribed)
        for name, cls in layers.items()
        if (
            undescribed := {
                parameter.name
                for parameter in inspect.signature(cls).parameters.values()
                if not parameter.name.startswith("_") and "*" not in str(parameter)
            }
            - said(inspect.getdoc(cls) or "")
        )
    }
    assert not missing
