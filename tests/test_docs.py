"""Every example in a docstring, the README or ``docs/`` is run and must print what it says."""

from __future__ import annotations

import ast
import codeop
import doctest
import importlib
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy
import pytest

import tinytorch as tt
from tests.docstrings import PARSER, read_examples, run_examples

ROOT = Path(__file__).parent.parent
Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def docstrings(node: Definition, prefix: str) -> Iterator[tuple[str, ast.AST, str]]:
    """Yield the dotted name, the node and the docstring of ``node`` and of all inside it.

    Read from the source: what a decorator returns may hide where it came from.
    """
    text = ast.get_docstring(node)
    if text is not None:
        yield prefix, node, text
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from docstrings(child, f"{prefix}.{child.name}")


def examples() -> Iterator[doctest.DocTest]:
    for path in sorted((ROOT / "tinytorch").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for dotted, node, text in docstrings(ast.parse(path.read_text()), name):
            test = read_examples(text, dotted, str(path), getattr(node, "lineno", 0))
            if test.examples:
                yield test


#: What people read: the README and the site's pages, not what is written when it is built.
TEXTS = [
    ROOT / "README.md",
    *(
        path
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if not {"generated", "node_modules"} & set(path.parts)
    ),
]


def blocks(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the language and the text of each fenced block of a page."""
    fence = r"^( *)(`{3,})([^`\n]*)\n(.*?)^\1\2$"
    for match in re.finditer(fence, path.read_text(), re.MULTILINE | re.DOTALL):
        yield match[3].strip(), textwrap.dedent(match[4])


def sessions() -> Iterator[doctest.DocTest]:
    """Yield the sessions of each text; one continues where the one before it ended."""
    for path in TEXTS:
        written = [block for language, block in blocks(path) if language == "pycon"]
        if written:
            yield PARSER.get_doctest("\n".join(written), {}, path.stem, path.name, 0)


WRITTEN = list(examples())


@pytest.mark.parametrize("test", WRITTEN, ids=lambda test: test.name)
def test_the_examples_of_each_docstring_print_what_they_show(
    test: doctest.DocTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "install_as_torch" in test.name:  # another test of this process may have loaded PyTorch
        for name in [each for each in sys.modules if each.partition(".")[0] == "torch"]:
            monkeypatch.delitem(sys.modules, name)
    run_examples(test)


@pytest.mark.parametrize("test", list(sessions()), ids=lambda test: test.name)
def test_the_sessions_of_each_page_print_what_they_show(
    test: doctest.DocTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert test.examples
    monkeypatch.chdir(tmp_path)  # a session may write a file or register a backend
    monkeypatch.setattr(tt.backends, "_registry", dict(tt.backends._registry))
    if test.name == "precision":
        pytest.importorskip("ml_dtypes", reason="the extra [lowp] is not installed")
    run_examples(test)


def inputs(block: str) -> Iterator[str]:
    """Yield the input of each example of a session, as it is typed at a prompt."""
    for match in re.finditer(r"^>>> .*(?:\n\.\.\..*)*", block, re.MULTILINE):
        yield "\n".join(line[4:] for line in match[0].splitlines())


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_sessions_can_be_pasted_at_a_prompt(path: Path) -> None:
    """An indented block ends with an empty line, and nothing in them is for the tests alone."""
    for language, block in blocks(path):
        assert "doctest:" not in block
        typed = inputs(block) if language == "pycon" else ()
        assert [code for code in typed if codeop.compile_command(code) is None] == []


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_blocks_of_python_are_python(path: Path) -> None:
    """A block that is no session is not run, and a session stands in a block that is."""
    for language, block in blocks(path):
        if language == "python":
            compile(block, path.name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        elif language != "pycon":
            assert ">>>" not in block, f"{path.name}: a session is marked ```pycon"


def test_readme_opens_with_a_session() -> None:
    assert [test.name for test in sessions()][0] == "README"


def twin(name: str) -> str:
    """Return the in-place form's plain name and the other way round: one example serves both."""
    return name[:-1] if name.endswith("_") else f"{name}_"


def is_error(member: object) -> bool:
    """Errors and named tuples of results are met, not called, and need no example."""
    return inspect.isclass(member) and issubclass(member, BaseException | tuple)


#: Modules whose functions are operations: their ``dir()`` tells what is theirs.
NAMESPACES = [
    "tinytorch",
    "tinytorch.autograd",
    "tinytorch.fft",
    "tinytorch.func",
    "tinytorch.linalg",
    "tinytorch.nn",
    "tinytorch.nn.functional",
    "tinytorch.nn.init",
    "tinytorch.numpy",
    "tinytorch.optim",
    "tinytorch.optim.lr_scheduler",
    "tinytorch.signal.windows",
    "tinytorch.special",
    "tinytorch.utils.data",
]


def modules() -> list[str]:
    """Those above, and every public module that lists what is its own, beside what it imports."""
    paths = [path for path in (ROOT / "tinytorch").rglob("*.py") if "\n__all__" in path.read_text()]
    parts = [path.relative_to(ROOT).with_suffix("").parts for path in paths]
    names = [".".join(p[:-1] if p[-1] == "__init__" else p) for p in parts]
    inner = re.compile(r"tinytorch\.(compat|ops)\.|\._")
    return sorted({*NAMESPACES, *(name for name in names if not inner.search(name))})


def members(namespace: str) -> dict[str, Any]:
    """The functions and classes of a module that need an example."""
    module = importlib.import_module(namespace)
    names = dir(module) if namespace in NAMESPACES else module.__all__
    found = {name: getattr(module, name) for name in names if not name.startswith("_")}
    return {
        name: member
        for name, member in found.items()
        if (inspect.isroutine(member) or inspect.isclass(member))
        and not is_error(member)
        # What forwards to an array library stands for a function of that.
        and all(
            (getattr(m, "__module__", None) or "").partition(".")[0] == "tinytorch"
            for m in (member, getattr(member, "__wrapped__", member))
        )
    }


@pytest.mark.parametrize("namespace", modules())
def test_everything_public_has_an_example(namespace: str) -> None:
    own = members(namespace)
    assert own or namespace not in NAMESPACES, f"{namespace} is empty"
    shown = {name for name, member in own.items() if ">>>" in (member.__doc__ or "")}
    without = [name for name in own if not {name, twin(name)} & shown]
    assert not without, f"no example in {namespace}: {', '.join(without)}"


@pytest.mark.parametrize("namespace", modules())
def test_examples_that_are_put_together(namespace: str) -> None:
    """Of docstrings that are in no source, for functions of a family share one."""
    written = {example.source for test in WRITTEN for example in test.examples}
    for name, member in members(namespace).items():
        text = inspect.getdoc(member) or ""
        test = read_examples(text, f"{namespace}.{name}", namespace)
        if not {example.source for example in test.examples} <= written:
            run_examples(test)


#: Methods that a class's example calls by another name, or that its base's example shows.
CALLED = {"backward", "extra_repr", "forward", "initialize_parameters", "jvp", "reset_parameters",
          "setup_context", "vjp"}  # fmt: skip
#: Classes that are no calls but a contract: for who writes a backend.
CONTRACTS = {"Backend"}


@pytest.mark.parametrize("namespace", modules())
def test_public_methods_are_shown(namespace: str) -> None:
    """By an example of their own, of their class or of a base."""
    classes = {
        name: member
        for name, member in members(namespace).items()
        if inspect.isclass(member) and name not in CONTRACTS
    }
    without = [
        f"{name}.{method}"
        for name, cls in classes.items()
        for method, found in vars(cls).items()
        if isinstance(found, FunctionType | staticmethod | classmethod)
        and not method.startswith("_")
        and method not in CALLED
        and not shows(cls, method)
    ]
    assert not without, f"no example in {namespace}: {', '.join(without)}"


def shows(cls: type, method: str) -> bool:
    """Whether an example of a class, or of a base, calls a method."""
    for base in cls.__mro__:
        if ">>>" in (getattr(vars(base).get(method), "__doc__", None) or ""):
            return True
        if re.search(rf"(>>>|\.\.\.).*(\.|def ){method}\b", base.__doc__ or ""):
            return True
    return False


def test_methods_of_tensors_have_examples() -> None:
    methods = {
        name: member
        for name in dir(tt.Tensor)
        if not name.startswith("_")
        if callable(member := getattr(tt.Tensor, name))
    }
    assert "item" in methods and "sin_" in methods
    without = [name for name, method in methods.items() if ">>>" not in (method.__doc__ or "")]
    assert not without, f"no example in Tensor: {', '.join(without)}"


def accepted_calls() -> list[str]:
    """The calls that the page for users of PyTorch lists as rejected there and accepted here."""
    page = (ROOT / "docs" / "coming_from" / "pytorch.md").read_text(encoding="utf-8")
    (section,) = re.findall(r"^## What PyTorch rejects .*?(?=^## )", page, re.MULTILINE | re.DOTALL)
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return [call for cell in cells for call in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("call", accepted_calls())
def test_pytorch_rejects_the_calls_that_its_page_lists(torch: Any, call: str) -> None:
    outcomes = []
    for library in (torch, tt):
        names = {"torch": library, "numpy": numpy, "x": library.ones(2, 3)}
        names["w"] = library.ones(2, requires_grad=True)
        try:
            outcomes.append(eval(call, names))
        except (AttributeError, RuntimeError, TypeError, ValueError) as error:
            outcomes.append(type(error))
    theirs, ours = outcomes
    assert isinstance(theirs, type)
    assert isinstance(ours, tt.Tensor | numpy.ndarray)


def title(path: Path) -> str:
    """The title of a page."""
    return next(line[2:] for line in path.read_text("utf-8").splitlines() if line[:2] == "# ")


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_to_a_page_say_its_title(path: Path) -> None:
    links = re.findall(r"(?<!!)\[([^\[\]]+)\]\(([\w./]+\.md)\)", path.read_text("utf-8"))
    shown = {target: " ".join(text.replace("*", "").split()) for text, target in links}
    assert shown == {target: title(path.parent / target) for target in shown}


def test_pages_show_the_recorded_scores() -> None:
    scores = json.loads((ROOT / "tests" / "parity.json").read_text())
    wide, narrow = scores["float64"], scores["float32"]
    readme = (ROOT / "README.md").read_text("utf-8")
    page = (ROOT / "docs" / "coming_from" / "pytorch.md").read_text("utf-8")
    assert f"All {wide['ops']} operations" in readme
    assert f"with {wide['grads']} gradients" in readme
    assert (
        f"in float64 all {wide['ops']} operations pass every sample of PyTorch's databases, with "
        f"{wide['grads']} gradients, {wide['dtypes']:,} dtype rules and {wide['forms']} methods, "
        f"operators and aliases, and {wide['errors']} of 593 wrong inputs raise. "
        f"In float32, {narrow['ops']} operations and {narrow['grads']} gradients pass"
    ) in " ".join(page.split())
    passed = json.loads((ROOT / "tests" / "numpy_suite" / "figures.json").read_text())["passed"]
    (shown,) = re.findall(r"more than ([\d,]+) of NumPy's own tests", readme)
    assert int(shown.replace(",", "")) < passed
