"""Run a program compiled: ``python -m tests.capture.compiled_program PATH ARGUMENTS``.

Every module that no other module calls is compiled, and every function of the program without a
loop. At the end the number of recordings is written to standard error.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable
from typing import Any

import tinytorch
from tinytorch import nn
from tinytorch.capture.compiled import Compiled
from tinytorch.capture.optimized_module import compile_callable
from tinytorch.capture.recorder import current_recorder
from tinytorch.capture.settings import CompileOptions

tt: Any = tinytorch

CALL: Any = nn.Module.__call__
#: Functions that are not compiled.
_EXCLUDED = ("main", "draw", "parse", "read", "load")


class CompiledCalls:
    """``Module.__call__`` that compiles every module which no other module calls."""

    def __init__(self) -> None:
        self.made: dict[int, tuple[Any, Compiled]] = {}
        self._depth = 0

    def method(self) -> Callable[..., Any]:
        """Return the method of the class."""

        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            if self._depth or current_recorder() is not None:
                return CALL(module, *args, **kwargs)
            if id(module) not in self.made:
                compiled = Compiled(CALL.__get__(module), CompileOptions(quiet=True))
                self.made[id(module)] = module, compiled
            self._depth += 1
            try:
                return self.made[id(module)][1](*args, **kwargs)
            finally:
                self._depth -= 1

        return call

    def recordings(self) -> int:
        """Return the number of recordings of all modules."""
        return sum(not e.reason for _, compiled in self.made.values() for e in compiled.entries)


def compile_quietly(function: Any) -> Any:
    """Return a compiled function that gives no warning if it runs eagerly."""
    return compile_callable(function, CompileOptions(quiet=True))


def decorate(source: str) -> ast.Module:
    """Return the tree of a program whose short functions are decorated by ``compile_quietly``."""
    tree = ast.parse(source)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith(_EXCLUDED):
            if not any(isinstance(each, (ast.For, ast.While)) for each in ast.walk(node)):
                node.decorator_list.insert(0, ast.Name("compile_quietly", ast.Load()))
    return ast.fix_missing_locations(tree)


def main(path: str, *arguments: str) -> None:
    """Run a program as ``python path arguments`` does."""
    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(path))
    calls = CompiledCalls()
    nn.Module.__call__ = calls.method()  # type: ignore[method-assign]
    module = type(sys)("__main__")
    sys.modules["__main__"] = module
    vars(module).update(__file__=path, compile_quietly=compile_quietly)
    with open(path) as file:
        code = compile(decorate(file.read()), path, "exec")
    try:
        exec(code, vars(module))
    finally:
        found = sum(len(c.entries) for c in _programs())
        print(f"recordings: {found}", file=sys.stderr)


def _programs() -> list[Compiled]:
    """Return the compiled functions that have recordings."""
    from tinytorch.capture.compiled import _all

    found = [kept() for kept in _all.refs()]
    return [each for each in found if each is not None and any(not e.reason for e in each.entries)]


if __name__ == "__main__":
    main(*sys.argv[1:])
