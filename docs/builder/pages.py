"""The reference: a page for each public module, several for one with many names."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tinytorch.core.tensor import Tensor

from .entries import entry
from .names import (
    ROOT,
    UNSUPPORTED,
    Name,
    is_unsupported,
    methods_of_operations,
    modules,
    names,
    other,
    own,
)
from .text import convert

#: A module with more names has a page for each folder that defines some of them.
LIMIT = 80
#: A submodule with at most so many names is a section of the page of its package.
FEW = 8
#: Words with their own capitals.
PROPER = {"batchnorm": "Batch norm", "dataloader": "DataLoader", "nan": "NaN", "numpy": "NumPy"}
#: The page of a module's unsupported names, if it has several pages.
UNSUPPORTED_PAGE = UNSUPPORTED.rpartition(".")[2]
#: Classes that have pages of their own.
APART = ("tinytorch.Tensor", "tinytorch.numpy.ndarray", "tinytorch.nn.Module")


def pages() -> dict[str, str]:
    """The text of every page, by its path below ``reference/`` without ``.rst``."""
    found = {"index": _index(), "elsewhere": _elsewhere()}
    for module in filter(_has_page, modules()):
        found |= _module(module)
    return found


@cache
def _describes_names(module: str) -> bool:
    """Whether a module or one of its submodules describes any name."""
    within = (each for each in modules() if each == module or each.startswith(f"{module}."))
    return any(map(own, within))


def _has_page(module: str) -> bool:
    """Whether a module has a page; if not, its names are on the page of its package."""
    return _describes_names(module) and (module.count(".") < 2 or len(own(module)) > FEW)


def _index() -> str:
    """The page of all public modules."""
    top = [module for module in modules() if module.count(".") == 1 and _has_page(module)]
    rows = [f"* :doc:`{name} </reference/{name}>`: {_summary(name)}" for name in top]
    apart = [f":doc:`{name} </reference/{name}>`" for name in ("tinytorch", *APART)]
    return "\n".join(
        [
            *_title("API reference", "="),
            "Every public name, from the docstrings. What PyTorch or NumPy has under the same "
            "name does the same here; what differs stands beside it. Functions of "
            "``tinytorch.numpy`` give its arrays, and Tensors where they are given one.",
            "",
            "In the examples ``tt`` is ``tinytorch`` and ``np`` is ``tinytorch.numpy``: "
            "``import tinytorch as tt``, ``import tinytorch.numpy as np``.",
            "",
            f"Functions are in {apart[0]}; the classes {', '.join(apart[1:])} have pages of their "
            "own. The modules:",
            "",
            *rows,
            "* :doc:`/reference/elsewhere`: modules whose names are all described elsewhere.",
            "",
            *_toctree(["tinytorch", *APART, *top, "elsewhere"], hidden=True),
        ]
    )


def _summary(module: str) -> str:
    """The first sentence of a module's docstring, for a list."""
    documentation = inspect.getdoc(importlib.import_module(module)) or ""
    return _escape_line(documentation.split("\n\n")[0])


def _elsewhere() -> str:
    """The page of the modules whose names are all described under other modules."""
    lines = [*_title("Other homes of names", "=")]
    lines += ["Modules whose names are all described elsewhere.", ""]
    for module in modules():
        if not _describes_names(module):
            lines += [*_title(module, "-"), f".. py:module:: {module}", "", *_links(module)]
    return "\n".join(lines)


def _module(module: str) -> dict[str, str]:
    """Text of a module's pages, by path: its own page, and those of parts of its names.

    A module with more than ``LIMIT`` names has a page for each folder that defines some of them,
    and the classes of ``APART`` have pages of their own. The page of the module links to these, and
    describes the submodules without pages.
    """
    here = [name for name in own(module) if name.full_name not in APART]
    pages = {name.full_name: _class_page(name) for name in own(module) if name.full_name in APART}
    sections = [f":py:obj:`{full_name}` has a page of its own.\n" for full_name in pages]
    sections += [] if len(here) > LIMIT else _sections(here)
    below = []
    for folder, members in _group_by_folder(here).items() if len(here) > LIMIT else ():
        path = f"{module}/{folder}"
        below.append(path)
        pages |= _folder_pages(path, folder, members)
        is_one_family = len(_families(members)) == 1
        purpose = _escape_line(_purpose(next(iter(_families(members))))) if is_one_family else ""
        introduction = [f"   {purpose}", ""] if purpose else []
        sections += [f":doc:`{_words(folder)} </reference/{path}>`", *introduction]
        sections += ["   " + _links_to(members), ""]
    inner = [each for each in modules() if module != "tinytorch" and _page_owner(each) == module]
    below += [each for each in inner if _has_page(each)]
    text = [*_title(module, "="), *_head(module), *_toctree(below, bool(sections)), *sections]
    text += _others(module)
    for each in inner:
        if not _has_page(each) and _describes_names(each):
            text += [*_title(each, "-"), *_head(each)]
            text += [line for name in own(each) for line in entry(name)] + _links(each)
    return {**pages, module: "\n".join(text)}


def _page_owner(module: str) -> str:
    """The nearest enclosing module that has a page; "" without one."""
    above = module.rpartition(".")[0]
    return above if not above or _has_page(above) else _page_owner(above)


def _head(module: str) -> list[str]:
    """Directive of a module, and the first paragraph of its docstring."""
    documentation = inspect.getdoc(importlib.import_module(module)) or ""
    above, _, last = module.rpartition(".")
    # PyTorch has functions and modules of one name; the function is what programs call.
    taken = above in modules() and any(name.name == last for name in own(above))
    kind = "currentmodule" if taken else "module"
    return [f".. py:{kind}:: {module}", "", *_escape_lines(documentation.split("\n\n")[0]), ""]


def _group_by_folder(members: list[Name]) -> dict[str, list[Name]]:
    """Names by the folder that defines them; see ``_folder``.

    Folders of operations come first. The names of folders with one or two names follow under
    ``"more"``, and unsupported names come last.
    """
    found: dict[str, list[Name]] = {"more": []}
    for name in members:
        found.setdefault(_folder(name), []).append(name)
    small = [folder for folder in found if len(found[folder]) < 3 and folder != "more"]
    more = found.pop("more") + [name for folder in small for name in found.pop(folder)]
    operations = {_folder(name) for name in members if hasattr(name.value, "op")}
    order = sorted(found, key=lambda folder: (folder not in operations, folder))
    found = {folder: found[folder] for folder in order} | ({"more": more} if more else {})
    last = found.pop(UNSUPPORTED_PAGE, None)
    return found | ({UNSUPPORTED_PAGE: last} if last else {})


def _folder_pages(path: str, folder: str, members: list[Name]) -> dict[str, str]:
    """Text of the pages of a folder, by path.

    A folder with more than ``LIMIT`` names has a page of links and one page for each family.

    Args:
        path: Path of the folder's page.
        folder: Name of the folder.
        members: Names that the folder defines.
    """
    if len(members) <= LIMIT or len(_families(members)) == 1:
        lines = [*_title(_words(folder), "="), *_current(members), *_sections(members)]
        return {path: "\n".join(lines)}
    pages, below = {}, list[str]()
    overview = [*_title(_words(folder), "="), *_current(members)]
    for home, family in _families(members).items():
        last = home.rpartition(".")[2]
        below.append(f"{path}/{last}")
        pages[below[-1]] = "\n".join(
            [*_title(_words(last), "="), *_escape_lines(_purpose(home)), "", *_current(family)]
            + [line for name in family for line in entry(name)]
        )
        overview += [*_escape_lines(_purpose(home)), "", _links_to(family), ""]
    overview += _toctree(below, hidden=True)
    return {path: "\n".join(overview), **pages}


def _links_to(members: Iterable[Name]) -> str:
    return ", ".join(f":py:obj:`{name.name} <{name.full_name}>`" for name in members)


def _class_page(name: Name) -> str:
    """The page of a class of ``APART``: its methods.

    Methods of Tensor that are operations are described with the functions, so that the page links
    to them, without those that are in-place forms of others.
    """
    lines = [*_title(name.full_name, "="), f".. py:currentmodule:: {name.space}", ""]
    if name.value is Tensor:
        operations = {m for found in methods_of_operations().values() for m in found}
        linked = (m for m in sorted(operations) if m.removesuffix("_") not in operations - {m})
        links = (f":py:obj:`{m} <tinytorch.Tensor.{m}>`" for m in linked)
        lines += [
            "Methods that are described with the functions they are, as their in-place forms",
            "(``add_``) are:",
            "",
            ", ".join(links),
            "",
        ]
    return "\n".join([*lines, *entry(name)])


def _sections(members: Iterable[Name]) -> list[str]:
    """Entries, with a heading for each family if there are several."""
    lines: list[str] = []
    families = _families(members)
    for home, family in families.items():
        if len(families) > 1 and home != family[0].space:  # the page begins with these
            title = _words(home.rpartition(".")[2])
            purpose = "" if _purpose(home) == f"{title}." else _purpose(home)
            lines += [*_title(title, "-"), *_escape_lines(purpose), ""]
        lines += [line for name in family for line in entry(name)]
    return lines


def _others(module: str) -> list[str]:
    """Links to the names that other pages describe; a module is described on its own page."""
    rows = _links(module)
    return [*_title("Described elsewhere", "-"), *rows] if rows != [""] else []


def _links(module: str) -> list[str]:
    """Lines of links for the names of a module that other pages describe, and an empty line."""
    rows = [
        f"* ``{name.full_name}`` is :py:obj:`{meant.full_name}`" for name, meant in other(module)
    ] + [
        f"* ``{name.full_name}`` is the module ``{name.value.__name__}``"
        for name in names(module)
        if inspect.ismodule(name.value) and name.full_name not in modules()
    ]
    return [*rows, ""]


def _families(members: Iterable[Name]) -> dict[str, list[Name]]:
    """Names by the module that defines them: the page's own first, unsupported ones last."""
    found: dict[str, list[Name]] = {}
    for name in members:
        found.setdefault(UNSUPPORTED if is_unsupported(name) else name.home, []).append(name)

    def order(home: str) -> tuple[bool, bool, str]:
        return home == UNSUPPORTED, home != found[home][0].space, home

    return {home: found[home] for home in sorted(found, key=order)}


def _folder(name: Name) -> str:
    """The folder of a name at the top level or of an operation; the module of another name.

    ``UNSUPPORTED_PAGE``, ``"more"``, ``"values"`` and ``"compat"`` stand for a folder, too.
    """
    if is_unsupported(name):
        return UNSUPPORTED_PAGE
    if name.home == name.space:
        return "more" if callable(name.value) else "values"
    parts = [part for part in name.home.split(".") if part not in ("tinytorch", "ops")]
    if parts[0] == "_C":  # names that PyTorch has there and programs use
        return "compat"
    return parts[0] if name.space == "tinytorch" else parts[-1]


@cache
def _purpose(home: str) -> str:
    """First paragraph of the docstring of a module or package, read from its source."""
    path = ROOT.joinpath(*home.split("."))
    files = (file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file())
    text = next((Path(file).read_text(encoding="utf-8") for file in files), "")
    return (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0]


def _words(name: str) -> str:
    """A title from the name of a folder or file; two or three letters are an abbreviation."""
    first, *others = name.strip("_").split("_")
    first = PROPER.get(first, first.upper() if len(name) < 4 else first.capitalize())
    return " ".join([first, *(PROPER.get(word, word) for word in others)])


def _escape_lines(text: str) -> list[str]:
    return convert(text, lambda word: None)


def _escape_line(text: str) -> str:
    return " ".join(_escape_lines(text)).strip()


def _current(members: list[Name]) -> list[str]:
    return [f".. py:currentmodule:: {members[0].space}", ""]


def _title(text: str, line: str) -> list[str]:
    return [text, line * len(text), ""]


def _toctree(paths: list[str], hidden: bool = False) -> list[str]:
    """Lines of Sphinx's table of contents for pages below ``reference/``; none without pages."""
    if not paths:
        return []
    rows = [f"   /reference/{path}" for path in paths]
    return [".. toctree::", "   :maxdepth: 1", *(["   :hidden:"] if hidden else []), "", *rows, ""]
