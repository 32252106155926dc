"""The site's reference holds every public name; its pages and links fit together."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
STUBS = ROOT / "stubs" / "tinytorch"


@cache
def reference() -> dict[str, str]:
    """The pages that the site's extension writes, without Sphinx."""
    sys.path.insert(0, str(DOCS))
    try:
        from builder.pages import pages  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(DOCS))
    return dict(pages())


@cache
def on_pages() -> frozenset[str]:
    """Every dotted name that is described or listed on a page of the reference."""
    found: set[str] = set()
    for text in reference().values():
        found.update(re.findall(r"^\* ``(tinytorch\.[\w.]+)`` is", text, re.MULTILINE))
        module = cls = ""
        # A second signature stands under the first, as far in as that.
        line = r"^(?:(   )?\.\. py:(\w+):: | {17})([\w.]+)"
        for inner, kind, name in re.findall(line, text, re.MULTILINE):
            if kind in ("module", "currentmodule"):
                module = name
            if kind == "class" and not inner:
                cls = name
            found.add(module if name == module else f"{module}.{cls}.{name}" if inner
                      else f"{module}.{name}")  # fmt: skip
    return frozenset(found)


def declared(tree: ast.Module | ast.ClassDef) -> Iterator[str]:
    """The names that a stub, or a class in one, declares: those of ``__all__`` where it has one."""
    listed = [node.value for node in tree.body if isinstance(node, ast.Assign)
              and ast.unparse(node.targets[0]) == "__all__"]  # fmt: skip
    if listed:
        yield from ast.literal_eval(listed[0])
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if "TypeAlias" not in ast.unparse(node.annotation):
                yield node.target.id
        elif isinstance(node, ast.ImportFrom):
            yield from (a.asname for a in node.names if a.asname == a.name)


def public(names: Iterator[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def module_of(path: Path) -> str:
    parts = path.relative_to(STUBS.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


#: Stubs of public modules; those that say how something public is made are not for programs.
PUBLIC = [
    path
    for path in sorted(STUBS.rglob("*.pyi"))
    if not re.search(
        r"\._|\.(core|dispatch|facade|ops|state|compat|checkpoint)\b"
        r"|numpy\.ndarray$",
        module_of(path),
    )
]


@pytest.mark.parametrize("path", PUBLIC, ids=module_of)
def test_every_name_of_the_stubs_is_in_the_reference(path: Path) -> None:
    module = module_of(path)
    names = public(declared(ast.parse(path.read_text(encoding="utf-8"))))
    missing = sorted(n for n in names if f"{module}.{n}" not in on_pages())
    assert not missing


def test_every_method_of_the_array_classes_is_in_the_reference() -> None:
    for file, cls, home in (
        ("core/tensor.pyi", "Tensor", "tinytorch"),
        ("numpy/ndarray.pyi", "ndarray", "tinytorch.numpy"),
    ):
        tree = ast.parse((STUBS / file).read_text(encoding="utf-8"))
        (node,) = (n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == cls)
        names = public(declared(node))
        assert len(names) > 50
        assert not sorted(n for n in names if f"{home}.{cls}.{n}" not in on_pages())
