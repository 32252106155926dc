"""Examples in docstrings, where `tt` is `tinytorch` and `np` is `tinytorch.numpy`."""

from __future__ import annotations

import doctest

import tinytorch as tt
import tinytorch.numpy

#: Names that an example uses without an import.
NAMES = {"tt": tt, "np": tinytorch.numpy}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PARSER = doctest.DocTestParser()


def read_examples(text: str, name: str, path: str | None = None, line: int = 0) -> doctest.DocTest:
    """Return the examples of a docstring, which stands in a line of a file."""
    return PARSER.get_doctest(text, NAMES, name, path, line)


def run_examples(test: doctest.DocTest) -> None:
    """Run examples; fail with what was expected and what came."""
    report: list[str] = []
    failures = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append)
    assert not failures.failed, "".join(report)
