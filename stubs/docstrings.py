"""Write the stubs of a wheel: those of the repository, with the docstrings that ``help()`` shows.

    python stubs/docstrings.py FOLDER   # write them to FOLDER

``stubs/tinytorch`` holds signatures alone, so that a changed docstring changes no stub. The build
backend, ``.ci/sdist_backend.py``, runs this program for every wheel. It imports the library.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STUBS = ROOT / "stubs" / "tinytorch"


def add_docstrings(text: str, module: str) -> str:
    """Return the text of a module's stub, with docstrings."""
    lines = text.split("\n")
    found = [*documented_nodes(ast.parse(text), importlib.import_module(module))]
    for node, documentation in reversed(found):  # from the end, so that line numbers stay valid
        insert_docstring(lines, node, documentation)
    return "\n".join(lines)


def documented_nodes(tree: ast.Module | ast.ClassDef, value: Any) -> Iterator[tuple[Any, str]]:
    """Yield a stub's declarations in order, each with its docstring.

    Of overloads, or of a property and its setter, the first one has the docstring. Special
    methods have none.

    Args:
        tree: The stub of a module, or a class in it.
        value: That module or class.
    """
    if documentation := inspect.getdoc(value):
        yield tree, documentation
    seen = set()
    for node in tree.body:
        name = declared_name(node)
        if not name or name in seen or name.startswith("__") or not hasattr(value, name):
            continue
        seen.add(name)
        member = getattr(value, name)
        if isinstance(node, ast.ClassDef):
            yield from documented_nodes(node, member)
        elif documentation := own_docstring(member, node):
            yield node, documentation


def declared_name(node: ast.stmt) -> str:
    """The name of a function, a class or an annotated variable; empty for other statements."""
    if isinstance(node, ast.AnnAssign):
        return ast.unparse(node.target)
    return getattr(node, "name", "")


def own_docstring(value: Any, node: ast.stmt) -> str | None:
    """The docstring of a value; that of its class is not the docstring of a variable."""
    documentation = inspect.getdoc(value)
    if isinstance(node, ast.AnnAssign) and documentation == inspect.getdoc(type(value)):
        return None
    return documentation


def insert_docstring(lines: list[str], node: Any, documentation: str) -> None:
    """Insert a docstring into a stub: after a variable, at the beginning of anything else."""
    if isinstance(node, ast.AnnAssign):
        lines[node.end_lineno : node.end_lineno] = quote_docstring(documentation, node.col_offset)
    elif isinstance(node, ast.Module):
        lines[1:1] = quote_docstring(documentation, 0)  # after the comment that names the generator
    elif isinstance(node, ast.ClassDef):
        at = first_line(node.body[0]) - 1
        lines[at:at] = quote_docstring(documentation, node.col_offset + 4)
    else:
        body = node.body[0]  # the dots at the end of a line
        line = lines[body.lineno - 1]
        lines[body.lineno - 1] = line[: body.col_offset].rstrip() + line[body.end_col_offset :]
        lines[body.lineno : body.lineno] = quote_docstring(documentation, node.col_offset + 4)


def first_line(node: ast.stmt) -> int:
    """The line on which a statement begins, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def quote_docstring(text: str, indent: int) -> list[str]:
    """The lines of a docstring as source."""
    prefix = "r" if "\\" in text else ""
    if '"""' in text or text.endswith(('"', "\\")):
        prefix, text = "", text.replace("\\", r"\\").replace('"', r"\"")
    first, *rest = text.split("\n")
    space = " " * indent
    lines = [f'{space}{prefix}"""{first}', *(f"{space}{line}" if line else "" for line in rest)]
    return [*lines, f'{space}"""'] if rest else [f'{lines[0]}"""']


def module_of(path: Path) -> str:
    """The module that a path in the folder of the stubs stands for."""
    parts = ("tinytorch", *path.with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def main(folder: str) -> None:
    """Write the stubs with docstrings into a folder."""
    sys.path[0] = str(ROOT)  # the script's own folder holds the stubs under the library's name
    for source in STUBS.rglob("*.pyi"):
        path = source.relative_to(STUBS)
        target = Path(folder) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        text = add_docstrings(source.read_text(encoding="utf-8"), module_of(path))
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
