"""The reference: a page for each public module, several for one with many names."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from tinytorch.core.tensor import Tensor

from .entries import entry, external_name, parameters, target
from .names import (
    Name,
    described_names,
    inplace_forms,
    is_module,
    is_shared,
    is_unsupported,
    methods,
    modules,
    names,
    other,
    own,
)
from .purposes import headings, names_with_heading
from .text import convert, summarize

#: A module with more names has a page for each heading.
LIMIT = 80
#: A submodule with at most so many names is a section of the page of its package.
FEW = 8
#: Headings of names that the files of ``purposes/`` do not list.
NUMPYS = "NumPy's functions on tensors"
UNSUPPORTED = "Unsupported names"
#: Classes that have pages of their own.
APART = ("tinytorch.Tensor", "tinytorch.numpy.ndarray", "tinytorch.nn.Module")


@dataclass
class Group:
    """Names of a module under one heading; those of a module without headings have no title."""

    title: str
    slug: str = ""
    text: str = ""
    names: list[Name] = field(default_factory=list)


def pages() -> dict[str, str]:
    """The text of every page, by its path below ``reference/`` without ``.rst``."""
    found = {"index": _index(), "elsewhere": _elsewhere()}
    for module in filter(has_page, modules()):
        found |= _module(module)
    return found


# -- which names stand where --------------------------------------------------------------------


def groups(module: str) -> list[Group]:
    """The names of a module by purpose.

    Raises:
        LookupError: If a file of ``purposes/`` lists a name that the module does not have, or none
            for a name of the module.
    """
    left = {name.name: name for name in names(module) if _is_shown(name)}
    found = []
    for heading in headings(module):
        absent = [name for name in heading.names if name not in left]
        if absent:
            raise LookupError(f"purposes/{module}.txt: not in {module}, or twice: {absent}")
        members = [left.pop(name) for name in heading.names]
        found.append(Group(heading.title, heading.slug, heading.text, members))
    rest = [name for name in left.values() if name in own(module)]
    unsupported = [name for name in rest if is_unsupported(name)]
    numpys = [name for name in rest if module == "tinytorch" and _is_numpys(name)]
    others = [name for name in rest if name not in unsupported and name not in numpys]
    if headings(module) and others:
        unplaced = ", ".join(name.name for name in others)
        raise LookupError(f"purposes/{module}.txt: expected a heading for {unplaced}")
    found += [
        Group("", names=others),
        Group(NUMPYS, "numpys-functions", "``tinytorch.numpy`` has them for arrays.", numpys),
        Group(
            UNSUPPORTED, "unsupported", "They can be imported, and raise when called.", unsupported
        ),
    ]
    return [group for group in found if group.names]


def group_paths(module: str) -> list[tuple[str, Group]]:
    """The groups of a module, each with the path of its page.

    It is that of the module, if that has at most ``LIMIT`` names.
    """
    found = groups(module)
    is_split = sum(len(group.names) for group in found) > LIMIT and len(found) > 1
    return [(f"{module}/{group.slug}" if is_split else module, group) for group in found]


def _is_shown(name: Name) -> bool:
    """Whether a name has a line of its own: neither a module nor an in-place form of another."""
    return not is_module(name.value) and name.name not in inplace_forms(name.space).values()


def _is_numpys(name: Name) -> bool:
    """Whether a name at the top level is one of NumPy's."""
    return name.home.startswith("tinytorch.numpy")


@cache
def describes_names(module: str) -> bool:
    """Whether a module or one of its submodules describes any name."""
    within = (each for each in modules() if each == module or each.startswith(f"{module}."))
    return any(map(own, within))


def has_page(module: str) -> bool:
    """Whether a module has a page; if not, its names are on the page of its package."""
    return describes_names(module) and (module.count(".") < 2 or len(own(module)) > FEW)


def _page_owner(module: str) -> str:
    """The nearest enclosing module that has a page; "" without one."""
    above = module.rpartition(".")[0]
    return above if not above or has_page(above) else _page_owner(above)


def inner_modules(module: str) -> list[str]:
    """The modules below a module that its page links to or describes."""
    return [each for each in modules() if module != "tinytorch" and _page_owner(each) == module]


# -- pages --------------------------------------------------------------------------------------


def _index() -> str:
    """The page of all public modules."""
    top = [module for module in modules() if module.count(".") == 1 and has_page(module)]
    unplaced = {*top, *APART} - names_with_heading("modules")
    if unplaced:
        raise LookupError(f"purposes/modules.txt: expected a heading for {sorted(unplaced)}")
    lines = [
        *_title("API reference", "="),
        "Every public name, with its docstring. A name that PyTorch or NumPy has does here what it "
        "does there; its entry states the differences. Functions of ``tinytorch.numpy`` return "
        "its arrays, and Tensors if they were called with one.",
        "",
        "In the examples ``tt`` is ``tinytorch`` and ``np`` is ``tinytorch.numpy``: "
        "``import tinytorch as tt``, ``import tinytorch.numpy as np``.",
        "",
    ]
    for heading in headings("modules"):
        rows = (
            (f":doc:`{name} </reference/{name}>`", _page_summary(name)) for name in heading.names
        )
        lines += [*_title(heading.title, "-"), *_table(rows)]
    lines += [":doc:`/reference/elsewhere` lists the modules whose names all stand elsewhere.", ""]
    return "\n".join(lines + _toctree(["tinytorch", *APART, *top, "elsewhere"], hidden=True))


def _page_summary(page: str) -> str:
    """One line about a module or a class with a page."""
    module, _, last = page.rpartition(".")
    value = importlib.import_module(page) if page in modules() else getattr(
        importlib.import_module(module), last)  # fmt: skip
    return summarize(inspect.getdoc(value) or "", lambda word: None)


def _elsewhere() -> str:
    """The page of the modules whose names are all described under other modules."""
    lines = [*_title("Other homes of names", "=")]
    lines += ["Modules whose names are all described elsewhere.", ""]
    for module in modules():
        if not describes_names(module):
            lines += [*_title(module, "-"), f".. py:module:: {module}", "", *_links(module)]
    return "\n".join(lines)


def _module(module: str) -> dict[str, str]:
    """Text of a module's pages, by path: its own page, and those of its headings and classes.

    A module with more than ``LIMIT`` names has a page for each heading, and the classes of
    ``APART`` have pages of their own. The page of the module has the tables, and describes the
    submodules without pages.
    """
    pages = {name.full_name: _class_page(name) for name in own(module) if name.full_name in APART}
    sections, below = list[str](), list[str]()
    for path, group in group_paths(module):
        is_split = path != module
        if is_split:
            head = [*_title(group.title, "="), f".. py:currentmodule:: {module}", ""]
            pages[path] = "\n".join([*head, *_body(group)])
            below.append(path)
        title = f":doc:`{group.title} </reference/{path}>`" if is_split else group.title
        sections += _title(title, "-") if group.title else []
        sections += _overview(group) if is_split else _body(group)
    inner = inner_modules(module)
    below += [each for each in inner if has_page(each)]
    text = [*_title(module, "="), *_head(module), *_submodules(inner), *sections, *_others(module)]
    for each in inner:
        if not has_page(each) and describes_names(each):
            text += [*_title(each, "-"), *_head(each)]
            text += [line for name in own(each) for line in entry(name)] + _links(each)
    return {**pages, module: "\n".join(text + _toctree(below, hidden=True))}


def _submodules(inner: list[str]) -> list[str]:
    """Table of the submodules that have pages."""
    rows = [(f":doc:`{each} </reference/{each}>`", _page_summary(each))
            for each in inner if has_page(each)]  # fmt: skip
    return [*_title("Submodules", "-"), *_table(rows)] if rows else []


def _head(module: str) -> list[str]:
    """Directive of a module, and the first paragraph of its docstring."""
    documentation = inspect.getdoc(importlib.import_module(module)) or ""
    above, _, last = module.rpartition(".")
    # PyTorch has functions and modules of one name; the function is what programs call.
    taken = above in modules() and any(name.name == last for name in own(above))
    kind = "currentmodule" if taken else "module"
    return [f".. py:{kind}:: {module}", "", *_escape_lines(documentation.split("\n\n")[0]), ""]


def _overview(group: Group) -> list[str]:
    """The sentence about a group, and the table of its names."""
    return [group.text, "", *_table((_link(name), summary(name)) for name in group.names)]


def _body(group: Group) -> list[str]:
    """The overview of a group, and the entries of the names that its module describes."""
    described = [name for name in group.names if name in own(name.space)]
    entries = [line for name in described if name.full_name not in APART for line in entry(name)]
    is_alone = len(group.names) == 1 and described and entries
    return [*([group.text, ""] if is_alone else _overview(group)), *entries]


def _link(name: Name) -> str:
    """Link to the entry of a name, under the name."""
    meant = described_names()[id(name.value)] if is_shared(name.value) else name
    return f":py:obj:`{name.name} <{meant.full_name}>`"


def summary(name: Name) -> str:
    """One line about a name: the first sentence of its docstring; the value of a constant."""
    value = name.value
    if not is_shared(value):
        text = repr(value)
        if len(text) < 60 and "\n" not in text and " object at " not in text:
            return f"``{text}``"
        kind = type(value)
        ours = kind.__module__.startswith("tinytorch")
        return (
            summarize(inspect.getdoc(kind) or "", lambda word: None)
            if ours
            else f"A {kind.__name__}."
        )
    meant = described_names()[id(value)]
    if meant != name and meant.space == name.space:
        return f"Alias of {_link(meant)}."
    link = (lambda word: None) if external_name(name, value) else partial(
        target, name, parameters(value))  # fmt: skip
    return summarize(inspect.getdoc(value) or "", link)


def _class_page(name: Name) -> str:
    """The page of a class of ``APART``: the table of its members, and their entries."""
    lines = [*_title(name.full_name, "="), f".. py:currentmodule:: {name.space}", ""]
    if name.value is Tensor:
        rows = [
            (f":py:obj:`{member} <tinytorch.Tensor.{member}>`", _member_summary(name, value))
            for member, value in methods().items()
            if member.removesuffix("_") not in methods().keys() - {member}
        ]
        lines += ["Methods such as ``add_`` are the in-place forms of ``add``.", "", *_table(rows)]
    return "\n".join([*lines, *entry(name)])


def _member_summary(cls: Name, member: Any) -> str:
    """One line about a method or a property."""
    documentation = inspect.getdoc(getattr(member, "fget", None) or member) or ""
    return summarize(documentation, partial(target, cls, parameters(member)))


def _others(module: str) -> list[str]:
    """Links to the names that other pages describe; a module is described on its own page."""
    rows = _links(module)
    return [*_title("Described elsewhere", "-"), *rows] if rows != [""] else []


def _links(module: str) -> list[str]:
    """Lines of links for the names of a module that other pages describe, and an empty line.

    Names in a table of the module have their links there.
    """
    rows = [
        f"* ``{name.full_name}`` is :py:obj:`{meant.full_name}`"
        for name, meant in other(module)
        if name.name not in names_with_heading(module)
    ] + [
        f"* ``{name.full_name}`` is the module ``{name.value.__name__}``"
        for name in names(module)
        if inspect.ismodule(name.value) and name.full_name not in modules()
    ]
    return [*rows, ""]


# -- reStructuredText ---------------------------------------------------------------------------


def _escape_lines(text: str) -> list[str]:
    return convert(text, lambda word: None)


def _title(text: str, line: str) -> list[str]:
    return [text, line * len(text), ""]


def _table(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Lines of a table of links and sentences."""
    return [
        ".. list-table::",
        "   :class: summary",
        "   :widths: 30 70",
        "",
        *(line for link, text in rows for line in (f"   * - {link}", f"     - {text}".rstrip())),
        "",
    ]


def _toctree(paths: list[str], hidden: bool = False) -> list[str]:
    """Lines of Sphinx's table of contents for pages below ``reference/``; none without pages."""
    if not paths:
        return []
    rows = [f"   /reference/{path}" for path in paths]
    return [".. toctree::", "   :maxdepth: 1", *(["   :hidden:"] if hidden else []), "", *rows, ""]
