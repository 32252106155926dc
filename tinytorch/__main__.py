"""``python -m tinytorch``: a REPL, a runner for PyTorch scripts, and what runs here."""

from __future__ import annotations

import builtins
import code
import difflib
import os
import runpy
import sys
import zipfile
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import tinytorch

from .compat import as_torch
from .facade import info
from .state.tracebacks import skip_files

HELP = """\
usage: python -m tinytorch [--ipython]
       python -m tinytorch script.py [argument ...]
       python -m tinytorch -m module [argument ...]
       python -m tinytorch -c code [argument ...]
       python -m tinytorch --info | --version | --help

Without arguments: a REPL with tinytorch imported as tt.

With a script (- reads it from standard input), a module or code: runs it as Python would,
with tinytorch in the place of torch. `import torch` and `from torch.utils.data import
DataLoader` get tinytorch's; PyTorch itself is not loaded, installed or not. The same holds in
Python programs that it starts, unless the environment variable TINYTORCH_AS_TORCH is 0.

  --ipython   use IPython for the REPL, if it is installed
  --info      list backends, their state and devices, versions, and the BLAS kernels in use
  --version   print the version
  -h, --help  print this text

The environment variable TINYTORCH_BACKEND chooses the backend: numpy (the default), cupy
or one that an installed package provides.
"""


def main(arguments: list[str]) -> int:
    """Do what the command line asks for; return the exit status."""
    match arguments:
        case []:
            return repl()
        case ["--ipython"]:
            return repl(ipython=True)
        case ["--info"]:
            print(info.report(tinytorch.__version__))
        case ["-V" | "--version"]:
            print(f"tinytorch {tinytorch.__version__}")
        case ["-h" | "--help", *_]:
            print(HELP, end="")
        case _:
            return run(arguments)
    return 0


def run(arguments: list[str]) -> int:
    """Run a script, a module or code with tinytorch in the place of torch.

    An error shows its lines alone, as it does where Python runs them.
    """
    try:
        return _run(arguments)
    except Exception as error:
        error.__traceback__ = skip_files(error, (__file__, "<frozen runpy>"))
        shown = sys.last_type, sys.last_value, sys.last_traceback = (
            type(error), error, error.__traceback__,
        )  # fmt: skip
        sys.excepthook(*shown)
        return 1


def _run(arguments: list[str]) -> int:
    match arguments:
        case ["-m", module, *rest]:
            run_module(module, rest)
        case ["-c", text, *rest]:
            run_code(compile(text, "<string>", "exec", dont_inherit=True), ["-c", *rest])
        case ["-", *rest]:
            source = sys.stdin.read()
            run_code(compile(source, "<stdin>", "exec", dont_inherit=True), ["-", *rest])
        case [("-m" | "-c") as option]:
            return _refuse(f"argument expected for the {option} option")
        case [option, *_] if option.startswith("-"):
            return _refuse(f"unknown option {' '.join(arguments)}")
        case _:
            return run_path(arguments[0], arguments)
    return 0


def _refuse(problem: str) -> int:
    print(f"python -m tinytorch: {problem}\n", HELP.partition("\n\n")[0], sep="\n", file=sys.stderr)
    return 2


# -- scripts ------------------------------------------------------------------------------


def run_path(path: str, argv: list[str]) -> int:
    """Run a file, or the ``__main__`` of a folder or zip file, as ``python path`` does."""
    absolute = os.path.abspath(path)
    try:
        if os.path.isdir(path) or zipfile.is_zipfile(path):
            return _run_archive(absolute, argv)
        source = Path(path).read_bytes()
    except OSError as error:
        return _refuse(f"can't open file {path!r}: {error.strerror}")
    _take_over(argv, os.path.dirname(os.path.realpath(path)))
    loader = SourceFileLoader("__main__", absolute)
    namespace = _new_main(__file__=absolute, __loader__=loader, __cached__=None)
    exec(compile(source, absolute, "exec", dont_inherit=True), namespace)
    return 0


def _run_archive(absolute: str, argv: list[str]) -> int:
    spec = PathFinder.find_spec("__main__", [absolute])
    if spec is None:
        return _refuse(f"can't find '__main__' module in {argv[0]!r}")
    _take_over(argv, absolute)
    loader: Any = spec.loader  # for files or for zip files; both have get_code
    facts = {"__file__": spec.origin, "__loader__": loader, "__cached__": spec.cached}
    exec(loader.get_code("__main__"), _new_main(__spec__=spec, __package__="", **facts))
    return 0


def run_module(name: str, arguments: list[str]) -> None:
    """Run a module of the import path as ``python -m name`` does."""
    _take_over([name, *arguments], os.getcwd())
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def run_code(text: CodeType, argv: list[str]) -> None:
    """Run compiled code as ``python -c`` does."""
    _take_over(argv, "")
    exec(text, _new_main())


def _take_over(argv: list[str], first_path: str) -> None:
    """Give ``sys`` the values the program expects, and the name torch to tinytorch."""
    sys.argv = argv
    if not sys.flags.safe_path:
        sys.path[0] = first_path
    as_torch.install_as_torch()
    as_torch.install_in_children()


def _new_main(**facts: object) -> dict[str, Any]:
    """The namespace of a new ``__main__``.

    It stays for the rest of the process: threads and handlers at exit look it up late.
    """
    module = ModuleType("__main__")
    if sys.version_info < (3, 14):  # which made them lazy
        vars(module)["__annotations__"] = {}
    vars(module).update(__builtins__=builtins, **facts)
    sys.modules["__main__"] = module
    return vars(module)


# -- the REPL -----------------------------------------------------------------------------


def banner() -> str:
    """What the REPL opens with."""
    python = ".".join(map(str, sys.version_info[:3]))
    return (
        f"tinytorch {tinytorch.__version__} on Python {python}, {_backend()}\n"
        "tt is tinytorch: tt.randn(2, 3), dir(tt), help(tt.matmul)"
    )


def _backend() -> str:
    try:
        return f"backend {tinytorch.get_backend()}"
    except (ValueError, ImportError) as error:  # what the environment variable asks for
        return f"no backend: {error}"


def repl(*, ipython: bool = False) -> int:
    """Read, evaluate, print until the end of input."""
    sys.argv = [""]
    if not sys.flags.safe_path:
        sys.path[0] = ""
    namespace = _new_main(tt=tinytorch)
    if ipython and find_spec("IPython") is not None:
        return _ipython_repl(namespace)
    if ipython:
        print("IPython is not installed; this is Python's own REPL.", file=sys.stderr)
    if not _own_repl():
        _complete_with_tab(namespace)
        Console(namespace).interact(banner(), exitmsg="")
    return 0


def _own_repl() -> bool:
    """Python's REPL with colours and lines that can be edited together: False if there is none.

    Python has it from 3.13 on, where input comes from a terminal that it can write to, unless the
    variable PYTHON_BASIC_REPL is set.
    """
    if find_spec("_pyrepl") is None or os.environ.get("PYTHON_BASIC_REPL"):
        return False
    from _pyrepl import main as own  # type: ignore[import-not-found]

    if not own.CAN_USE_PYREPL:
        return False
    print(banner(), file=sys.stderr)
    own.interactive_console(sys.modules["__main__"], pythonstartup=True)
    return True


class Console(code.InteractiveConsole):
    """Python's REPL; before Python 3.12 ``code`` alone does not say what name was meant."""

    def showtraceback(self) -> None:
        error = sys.exc_info()[1]
        if sys.version_info < (3, 12) and isinstance(error, AttributeError) and error.name:
            near = difflib.get_close_matches(error.name, dir(error.obj), 1)
            if near and error.obj is not None:
                error.args = (f"{error}. Did you mean: {near[0]!r}?",)
        super().showtraceback()


def _complete_with_tab(namespace: dict[str, Any]) -> None:
    if find_spec("readline") is None:
        return  # Python for Windows comes without
    import readline
    import rlcompleter

    # Site's hook reads the user's settings and history, and keeps the history at exit.
    hook = getattr(sys, "__interactivehook__", None)
    if hook is not None and sys.stdin.isatty():
        hook()
    else:
        readline.parse_and_bind("tab: complete")
    readline.set_completer(rlcompleter.Completer(namespace).complete)


def _ipython_repl(namespace: dict[str, Any]) -> int:
    from IPython import start_ipython
    from traitlets.config import Config

    config = Config()
    config.TerminalInteractiveShell.banner1 = banner() + "\n"
    start_ipython(argv=[], user_ns=namespace, config=config)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
