"""Page docs/security.md lists every module that unpickles or executes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import tinytorch
from tests.sources import parse

ROOT = Path(tinytorch.__file__).parent
PAGE = ROOT.parent / "docs" / "security.md"
#: Built-in functions that execute text or code.
BUILTINS = {"exec", "eval", "compile", "__import__"}
#: Functions, methods and classes by which a module of any name unpickles, executes or loads code.
ATTRIBUTES = {
    "loads", "run_path", "run_module", "exec_module", "spec_from_file_location", "FunctionType",
    "CodeType", "LoadLibrary", "CDLL", "PyDLL", "RawModule", "recv", "recvfds",
}  # fmt: skip
MODULES = {
    "pickle",
    "cloudpickle",
    "dill",
    "marshal",
    "shelve",
    "joblib",
    "runpy",
    "codeop",
    "code",
}
#: Calls that read text, bytes, or a tensor: of JSON, sockets, NCCL; and ``compile`` of ``tt``.
HARMLESS = {
    ("json", "loads"), ("connection", "recv"), ("_own", "recv"), ("_server", "recv"),
    ("communicator", "recv"), ("reduction", "recvfds"),
}  # fmt: skip
UNRELATED = {"nn/module/__init__.py": {"compile"}}


def reads(tree: ast.AST) -> Iterator[str]:
    """What a module calls that unpickles or executes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ("Unpickler", "_Unpickler"):
            yield node.attr
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in BUILTINS | {"FunctionType", "CodeType"}:
            yield called.id
        if isinstance(called, ast.Attribute):
            base = called.value
            of = getattr(base, "id", getattr(base, "attr", ""))
            if called.attr in ATTRIBUTES and (of, called.attr) not in HARMLESS:
                yield f"{of}.{called.attr}"
            if of in MODULES and called.attr in ("load", "interact"):
                yield f"{of}.{called.attr}"
            if of == "builtins" and called.attr in BUILTINS:
                yield f"{of}.{called.attr}"


@cache
def found() -> dict[str, set[str]]:
    """What each module of the package calls, by its path."""
    modules = {}
    for path in ROOT.rglob("*.py"):
        name = path.relative_to(ROOT).as_posix()
        if names := set(reads(parse(path.read_text()))) - UNRELATED.get(name, set()):
            modules[name] = names
    return modules


def test_the_page_lists_what_unpickles_or_executes() -> None:
    listed = set(re.findall(r"`tinytorch/([\w/]+\.py)`", PAGE.read_text()))
    missing = {name: names for name, names in found().items() if name not in listed}
    assert not missing, f"docs/security.md does not list {missing}"
    assert all((ROOT / name).exists() for name in listed)


def test_the_list_is_found() -> None:
    text = (
        "import pickle, runpy\nfrom types import FunctionType\npickle.loads(b'')\nexec('')\n"
        "pickle.Unpickler(None)\nrunpy.run_path('')\nFunctionType(None, {})\npipe.recv()"
    )
    assert set(reads(ast.parse(text))) == {
        "pickle.loads", "exec", "Unpickler", "runpy.run_path", "FunctionType", "pipe.recv",
    }  # fmt: skip


def test_nothing_of_the_rendezvous_unpickles() -> None:
    names = ("pmi_server", "joining", "secret", "store", "debug", "agreement", "rendezvous")
    assert not {f"distributed/{name}.py" for name in names} & found().keys()
