"""The stubs say what there is: every name, no ``Any`` where a tensor is meant, nothing stale."""

from __future__ import annotations

import ast
import configparser
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tinytorch as tt
from tinytorch import dtypes, nn
from tinytorch.backends import load
from tinytorch.dispatch.arguments import SPELLINGS
from tinytorch.facade.library_fallback import library_names

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "stubs" / "tinytorch"
STUBS = sorted(FOLDER.rglob("*.pyi"))

#: What may return anything, and why.
RETURNS_ANY = {
    "as_class_of": "any result of NumPy's, as it is, unless it holds arrays",
    "unwrap_holder": "any argument of the package's own, as it is, unless it holds a Tensor",
    "Tensor.ctypes": "a class that NumPy keeps to itself",
    "ndarray.ctypes": "the same",
    "ndarray.flags": "a class that each library keeps to itself",
    "ndarray.item": "a number of the type that the dtype says",
    "to_scipy": "a class of SciPy, which is optional",
    "ndarray.tolist": "lists as deep as there are dimensions, of such numbers",
}


#: An annotation that says too little; NumPy's dtypes need not say of which type they are.
VAGUE = re.compile(r"(?<!dtype\[)\b(Any|object)\b")


def module_of(path: Path) -> str:
    parts = ("tinytorch", *path.relative_to(FOLDER).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def declared(body: list[ast.stmt]) -> Iterator[str]:
    """The public names that the body of a stub or of a class in it declares."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield ast.unparse(node.target)
        elif isinstance(node, ast.Assign):
            yield ast.unparse(node.targets[0])
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.name for alias in node.names if alias.asname == alias.name)


def public(names: Iterator[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Imports the generator's own modules, which lie in a folder that is no package."""
    monkeypatch.syspath_prepend(str(ROOT / "stubs"))
    return importlib.import_module


def test_check_sees_stale_missing_and_superfluous_files(
    generator: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate = generator("generate")
    monkeypatch.setattr(generate, "OUTPUT", tmp_path)
    (tmp_path / "stale.pyi").write_text("x: int\n")
    (tmp_path / "extra.pyi").write_text("")
    files = {Path("stale.pyi"): "x: str\n", Path("missing.pyi"): ""}
    assert generate.differences(files) == [
        "extra.pyi is not generated", "missing.pyi is missing", "stale.pyi is out of date",
    ]  # fmt: skip
    generate.write(tmp_path, files)
    assert generate.differences(files) == []


def test_an_unknown_annotation_is_an_error(generator: Callable[[str], Any]) -> None:
    names, writer = generator("stub_names"), generator("stub_writer")
    scope = names.NameScope.of("tinytorch.ops.reduce.reduction")
    stub = writer.Writer("tinytorch", {}, {}, True)
    aliased = stub.expression(ast.parse("Dims", mode="eval").body, scope)
    assert aliased == "int | Sequence[int] | None"
    with pytest.raises(LookupError, match="nothing is called 'Dimms'"):
        stub.expression(ast.parse("Dimms", mode="eval").body, scope)


def test_name_that_means_something_else_here_gets_another(
    generator: Callable[[str], Any],
) -> None:
    names, writer = generator("stub_names"), generator("stub_writer")
    scope = names.NameScope.of("tinytorch.ops.reduce.reduction")
    stub = writer.Writer("tinytorch", {"int": names.Entity("tinytorch", "int")}, {}, True)
    assert stub.expression(ast.parse("int | float", mode="eval").body, scope) == "_int | float"
    assert "from builtins import int as _int" in stub.text()


class _WithoutDocstrings(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> None:
        """Remove docstrings and the dots of an empty body."""


def documented(tree: ast.Module | ast.ClassDef, value: Any) -> Iterator[tuple[ast.stmt, Any]]:
    """Yield the first declaration of each function and class of a stub that exists at run time."""
    seen = set()
    for node in tree.body:
        name = getattr(node, "name", "__")
        if name not in seen and not name.startswith("__") and hasattr(value, name):
            seen.add(name)
            yield node, getattr(value, name)
            if isinstance(node, ast.ClassDef):
                yield from documented(node, getattr(value, name))


@pytest.mark.parametrize("path", STUBS, ids=module_of)
def test_stub_of_the_wheel_adds_the_docstrings_that_help_shows(
    generator: Callable[[str], Any], path: Path
) -> None:
    text, module = path.read_text(), module_of(path)
    whole = ast.parse(generator("docstrings").add_docstrings(text, module))
    value = importlib.import_module(module)
    assert ast.get_docstring(whole) == inspect.getdoc(value)
    for node, member in documented(whole, value):
        assert isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        assert ast.get_docstring(node) == inspect.getdoc(member), node.name
    bare, ours = (_WithoutDocstrings().visit(each) for each in (whole, tree(path)))
    assert ast.dump(bare) == ast.dump(ours)


def test_stubs_of_the_repository_hold_no_docstrings() -> None:
    texts = [
        node for path in STUBS for node in ast.walk(tree(path))
        if isinstance(node, ast.Expr) and not isinstance(node.value.value, type(...))
    ]  # fmt: skip
    assert not texts


@pytest.mark.parametrize(
    "text",
    ["One line.", "Two\n\n    lines.\nThree.", 'Ends with "quotes"', "A \\ inside", "Ends with \\",
     'Has """three""" and \\n.'],
)  # fmt: skip
def test_docstring_reads_back_as_it_is(generator: Callable[[str], Any], text: str) -> None:
    lines = generator("docstrings").quote_docstring(text, 4)
    node = ast.parse("\n".join(["def f():", *lines])).body[0]
    assert isinstance(node, ast.FunctionDef) and ast.get_docstring(node) == text


def call_forms(generator: Callable[[str], Any], function: Any, dialects: bool) -> list[str]:
    forms = generator("stub_operations").call_forms("f", function, dialects)
    return [f"({ast.unparse(f.args)}) -> {ast.unparse(f.returns)}" for f in forms]


def test_required_parameter_gets_a_form_for_numpys_word(generator: Callable[[str], Any]) -> None:
    out = "out: tuple[Tensor, Tensor] | None=None"
    assert call_forms(generator, tt.cummax, True) == [
        f"(input: Tensor, dim: int, *, {out}) -> return_types.cummax",
        f"(input: Tensor, *, axis: int, {out}) -> return_types.cummax",
    ]
    assert call_forms(generator, tt.cummax, False) == [
        f"(input: Tensor, dim: int, *, {out}) -> return_types.cummax"
    ]


def test_form_changes_one_parameter_of_the_signature(generator: Callable[[str], Any]) -> None:
    plain, indices, either = call_forms(generator, tt.nn.functional.max_pool1d, True)
    assert plain.endswith("return_indices: Literal[False]=False) -> Tensor")
    assert indices.endswith("*, return_indices: Literal[True]) -> tuple[Tensor, Tensor]")
    assert either.endswith("return_indices: bool=False) -> Tensor | tuple[Tensor, Tensor]")


def test_sources_with_stubs_are_those_mypy_leaves_out(
    generator: Callable[[str], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    left_out = re.compile(config["mypy"]["exclude"])
    assert generator("generate").main(["--list"]) == 0
    sources = capsys.readouterr().out.split()
    assert sources
    everything = [p.relative_to(ROOT).as_posix() for p in (ROOT / "tinytorch").rglob("*.py")]
    assert sorted(sources) == sorted(path for path in everything if left_out.search(path))


def test_top_level_lists_what_its_stub_declares() -> None:
    """Apart from what only the active backend has: its library's names and some dtypes."""
    numpy = load("numpy")
    listed = {name for name in dir(tt) if not name.startswith("_")}
    of_numpy = {n for n in listed & library_names(numpy) if is_foreign(getattr(tt, n))}
    names = public(declared(tree(FOLDER / "__init__.pyi").body))
    assert names - dtypes.NAMES.keys() == listed - of_numpy - dtypes.NAMES.keys()
    assert names & dtypes.NAMES.keys() == dtypes.NAMES.keys()


def is_foreign(value: object) -> bool:
    """Whether a value is an array library's, seen through the facade."""
    home = getattr(getattr(value, "__wrapped__", value), "__module__", None) or ""
    return not home.startswith("tinytorch") and not inspect.ismodule(value)


def lists_itself(module: ModuleType) -> bool:
    """Whether a module defines ``__dir__``: every package has one, of the facade's."""
    file = getattr(module, "__file__", None)
    return "__dir__" in (vars(module) if file is None else Path(file).read_text("utf-8"))


NAMESPACES = [
    p
    for p in STUBS
    if p != FOLDER / "__init__.pyi" and lists_itself(importlib.import_module(module_of(p)))
]


@pytest.mark.parametrize("path", NAMESPACES, ids=module_of)
def test_namespace_lists_what_its_stub_declares(path: Path) -> None:
    module = importlib.import_module(module_of(path))
    assert public(declared(tree(path).body)) == {n for n in dir(module) if not n.startswith("_")}


def test_tensor_lists_what_its_stub_declares() -> None:
    (body,) = [
        node.body
        for node in tree(FOLDER / "core" / "tensor.pyi").body
        if isinstance(node, ast.ClassDef) and node.name == "Tensor"
    ]
    names = public(declared(body))
    inherited = {name for base in tt.Tensor.__mro__[1:] for name in vars(base)}
    listed = {name for name in dir(tt.ones(1)) if not name.startswith("_")}
    assert names | (inherited & listed) == listed


@pytest.mark.parametrize("path", STUBS, ids=module_of)
def test_no_stub_declares_a_module_getattr(path: Path) -> None:
    names = {node.name for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef)}
    assert not names & {"__getattr__", "__getattribute__"}


def functions(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node


@pytest.mark.parametrize("path", STUBS, ids=module_of)
def test_no_function_returns_any(path: Path) -> None:
    vague = {
        name for name, node in functions(tree(path).body)
        if not name.rpartition(".")[2].startswith("_")
        and (node.returns is None or VAGUE.search(ast.unparse(node.returns)))
    }  # fmt: skip
    assert vague <= RETURNS_ANY.keys()


#: What returns tensors or packed sequences, as it is given: tests/typing calls it with both.
BY_INPUT = ("GRU", "LSTM", "RNN")


def layers() -> list[type[nn.Module]]:
    """The public modules that compute something."""
    members = (getattr(nn, name) for name in dir(nn))
    return [m for m in members if inspect.isclass(m) and issubclass(m, nn.Module)
            and m.forward is not nn.Module.forward and m.__name__ not in BY_INPUT]  # fmt: skip


@pytest.mark.parametrize("layer", layers(), ids=lambda layer: layer.__name__)
def test_calling_a_layer_is_typed(layer: type[nn.Module]) -> None:
    returns = inspect.signature(layer.forward).return_annotation
    assert isinstance(returns, str) and not VAGUE.search(returns)


def test_every_public_function_annotates_every_parameter() -> None:
    bare = [
        f"{module_of(path)}.{name}({argument.arg})"
        for path in STUBS for name, node in functions(tree(path).body)
        for at, argument in enumerate([*node.args.posonlyargs, *node.args.args,
                                       *node.args.kwonlyargs])
        if argument.annotation is None and not (at == 0 and "." in name)
    ]  # fmt: skip
    assert not bare


def test_numpy_spellings_in_the_stubs_are_accepted() -> None:
    """A keyword that only the stub has stands for one of the function's, or for NumPy's form."""
    wrong = []
    for name, node in functions(tree(FOLDER / "__init__.pyi").body):
        function = getattr(tt, name)
        known = inspect.signature(function).parameters
        op = getattr(function, "op", None)
        numpy_form = None if op is None else op.registered.numpy_form
        own = inspect.signature(numpy_form).parameters if numpy_form is not None else {}
        for argument in node.args.kwonlyargs:
            spelt = argument.arg
            if {spelt, *SPELLINGS.get(spelt, ())}.isdisjoint({*known, *own}):
                wrong.append(f"{name}({spelt}=)")
    assert not wrong
