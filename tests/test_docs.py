"""Every example in a docstring, the README or ``docs/`` is run and must print what it says."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tinytorch as tt

ROOT = Path(__file__).parent.parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
PARSER = doctest.DocTestParser()


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
            test = PARSER.get_doctest(text, {}, dotted, str(path), getattr(node, "lineno", 0))
            if test.examples:
                yield test


def sessions() -> Iterator[doctest.DocTest]:
    """Yield the sessions of each text; one continues where the one before it ended."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        blocks = re.findall(r"^```pycon\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL)
        if blocks:
            yield PARSER.get_doctest("\n".join(blocks), {}, path.stem, path.name, 0)


def run(test: doctest.DocTest) -> None:
    """Run one docstring's examples; fail with what was expected and what came."""
    report: list[str] = []
    failures = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append)
    assert not failures.failed, "".join(report)


@pytest.mark.parametrize("test", list(examples()), ids=lambda test: test.name)
def test_docstring_example(test: doctest.DocTest) -> None:
    run(test)


@pytest.mark.parametrize("test", list(sessions()), ids=lambda test: test.name)
def test_session(test: doctest.DocTest) -> None:
    assert test.examples
    run(test)


def test_readme_opens_with_a_session() -> None:
    assert [test.name for test in sessions()][0] == "README"


NAMESPACES = ["tinytorch", "tinytorch.autograd", "tinytorch.nn", "tinytorch.nn.functional",
              "tinytorch.nn.init", "tinytorch.optim", "tinytorch.optim.lr_scheduler",
              "tinytorch.utils.data", "tinytorch.linalg", "tinytorch.fft",
              "tinytorch.signal.windows", "tinytorch.func"]
#: Modules that list what is theirs, beside what they import.
LISTED = ["tinytorch.amp", "tinytorch.autograd.functional", "tinytorch.compiler", "tinytorch.cuda",
          "tinytorch.cuda.nvtx", "tinytorch.futures", "tinytorch.nn.utils.rnn",
          "tinytorch.overrides", "tinytorch.random", "tinytorch.serialization",
          "tinytorch.testing"]


@pytest.mark.parametrize("namespace", [*NAMESPACES, *LISTED])
def test_everything_public_has_an_example(namespace: str) -> None:
    module = importlib.import_module(namespace)
    names = module.__all__ if namespace in LISTED else dir(module)
    members = {name: getattr(module, name) for name in names if not name.startswith("_")}
    own = {name: member for name, member in members.items()
           if inspect.isroutine(member) or inspect.isclass(member)
           # What forwards to an array library stands for a function of that.
           if all((m.__module__ or "").partition(".")[0] == "tinytorch"
                  for m in (member, getattr(member, "__wrapped__", member)))}
    assert own, f"{namespace} is empty"
    shown = {name for name, member in own.items() if ">>>" in (member.__doc__ or "")}
    without = [name for name, member in own.items()
               if not {name, twin(name)} & shown and not is_error(member)]
    assert not without, f"no example in {namespace}: {', '.join(without)}"


def test_methods_of_tensors_have_examples() -> None:
    methods = {name: member for name in dir(tt.Tensor) if not name.startswith("_")
               if callable(member := getattr(tt.Tensor, name))}
    assert "item" in methods and "sin_" in methods
    without = [name for name, method in methods.items() if ">>>" not in (method.__doc__ or "")]
    assert not without, f"no example in Tensor: {', '.join(without)}"


def twin(name: str) -> str:
    """Return the in-place form's plain name and the other way round: one example serves both."""
    return name[:-1] if name.endswith("_") else f"{name}_"


def is_error(member: object) -> bool:
    """Errors and named tuples of results are met, not called, and need no example."""
    return inspect.isclass(member) and issubclass(member, BaseException | tuple)
