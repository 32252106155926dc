"""The units that the site's search ranks: names of the reference, their headings, page sections.

``_static/search.js`` ranks them in the browser. Sphinx's own search ranks whole pages, each of
which describes many names.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

from .entries import class_members, external_name
from .names import ROOT, Name, methods_of_operations, modules, own
from .pages import APART, Group, describes_names, group_paths, has_page, inner_modules

DOCS = ROOT / "docs"
#: Characters of a docstring, besides its first paragraph, in which words are found.
LENGTH = 500

#: One unit: title, address below the site, context, a sentence, further words.
Unit = tuple[str, str, str, str, str]


def script() -> str:
    """The text of the file that the page of results loads."""
    return f"const UNITS = {json.dumps(units(), ensure_ascii=False, separators=(',', ':'))};\n"


def units() -> list[Unit]:
    """Every unit of the site."""
    found = [unit for path in sorted(DOCS.rglob("*.md")) for unit in _sections(path)]
    for module in filter(has_page, modules()):
        found += _module(module)
    return found


def _sections(path: Path) -> Iterator[Unit]:
    """The sections of a page, without its code."""
    page = path.relative_to(DOCS).with_suffix("")
    if page.parts[0] in ("generated", "reference"):
        return
    prose = re.sub(
        r"^( *)(```|:::).*?^\1\2$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S
    )
    _, *parts = re.split(r"^#{1,3} ", prose, flags=re.MULTILINE)
    title = ""
    for part in parts:
        heading, _, text = part.partition("\n")
        anchor = f"#{_identify(heading)}" if title else ""
        name, words = _unmark_page(heading), _unmark_page(text)
        first = re.match(r".{,200}?[.:](?= |$)|.{,200}", words)
        yield name, f"{page}.html{anchor}", title or "Guide", first[0] if first else "", words
        title = title or name


def _module(module: str) -> Iterator[Unit]:
    """A module, its headings, its names, and the names of submodules without pages."""
    first, rest = _split(inspect.getdoc(importlib.import_module(module)) or "")
    page = f"reference/{module}.html"
    yield module, page, "Module", first, rest
    for path, group in group_paths(module):
        address = f"reference/{path}.html"
        if group.title:
            anchor = "" if path != module else f"#{_identify(group.title)}"
            yield group.title, address + anchor, module, _unmark(group.text), ""
        for name in group.names:
            if name in own(module):
                yield from _name(name, address, group)
    for each in inner_modules(module):
        if not has_page(each) and describes_names(each):
            for name in own(each):
                yield from _name(name, page, Group(each))


def _name(name: Name, page: str, group: Group) -> Iterator[Unit]:
    """A name and, for a class, its members that are described with it."""
    page = f"reference/{name.full_name}.html" if name.full_name in APART else page
    is_documented = callable(name.value) or type(name.value).__module__.startswith("tinytorch")
    first, rest = _split((inspect.getdoc(name.value) or "") if is_documented else "")
    context = group.title or name.space
    yield name.full_name, f"{page}#{name.full_name}", context, first, f"{group.text} {rest}"
    if not inspect.isclass(name.value) or external_name(name, name.value):
        return
    operations = {member for found in methods_of_operations().values() for member in found}
    for member, raw in class_members(name.value).items():
        if hasattr(raw, "__get__") and not (name.full_name == APART[0] and member in operations):
            documentation = inspect.getdoc(getattr(raw, "fget", None) or raw) or ""
            full_name = f"{name.full_name}.{member}"
            yield (
                full_name,
                f"{page}#{full_name}",
                f"Member of {name.full_name}",
                *_split(documentation),
            )


def _split(docstring: str) -> tuple[str, str]:
    """The first paragraph of a docstring, and the beginning of the rest without examples."""
    if re.match(r"\w+\(", docstring):  # NumPy's ufuncs begin with their signature
        docstring = docstring.partition("\n\n")[2]
    first, _, rest = docstring.partition("\n\n")
    prose = re.sub(r"^ *(>>>|\.\.\.).*$|^\w+:$", "", rest.partition("\nExample")[0], flags=re.M)
    return _unmark(first), _unmark(prose)[:LENGTH]


def _unmark(text: str) -> str:
    """A docstring without backquotes, as one line."""
    return " ".join(text.replace("`", "").split())


def _unmark_page(text: str) -> str:
    """A text in Markdown without its markup, as one line."""
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)|<[^>]+>", r"\1", text)
    return _unmark(re.sub(r"^[-: ]+$", "", re.sub(r"\*\*|\|", " ", text), flags=re.MULTILINE))


def _identify(title: str) -> str:
    """The anchor that docutils makes of a title."""
    words = re.sub(r"[^a-z0-9]+", "-", _unmark_page(title).lower())
    return re.sub(r"^[-0-9]+|-+$", "", words)
