"""``python -m tinytorch``: a REPL, a runner for PyTorch scripts, and a report about the system."""

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
    """Run the command line and return the exit status."""
    match arguments:
        case []:
            return repl()
        case ["--ipython"]:
            return repl(ipython=True)
        case ["--info"]:
            from .capture.engines import describe

            print(
                info.report(tinytorch.__version__),
                f"\nCompiled functions\n  {describe()}",
                sep="\n",
            )
        case ["-V" | "--version"]:
            print(f"tinytorch {tinytorch.__version__}")
        case ["-h" | "--help", *_]:
            print(HELP, end="")
        case _:
            return run(arguments)
    return 0


def run(arguments: list[str]) -> int:
    """Run a script, a module or code with tinytorch in the place of torch.

    The traceback of an error has only the program's lines, as if Python ran the program.

    Args:
        arguments: The command line, of a form that ``HELP`` lists.

    Returns:
        The exit status.
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
    """Run the program as ``run`` does, and raise its error."""
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
    """Print a problem with the command line and the usage; return the exit status 2."""
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
    """Run the ``__main__`` of a folder or zip file; return the exit status.

    Args:
        absolute: The absolute path.
        argv: The path as it was given, and the program's arguments.
    """
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
    """Set ``sys.argv`` and the first import path for a program, and import tinytorch as torch.

    Args:
        argv: The program's ``sys.argv``.
        first_path: The folder that comes first in ``sys.path``.
    """
    sys.argv = argv
    if not sys.flags.safe_path:
        sys.path[0] = first_path
    as_torch.install_as_torch()
    as_torch.install_in_children()


def _new_main(**facts: object) -> dict[str, Any]:
    """Create a new module ``__main__`` and return its namespace.

    The module stays in ``sys.modules`` until the process ends: threads and exit handlers may look
    it up late.

    Args:
        **facts: Further attributes of the module, such as ``__file__``.
    """
    module = ModuleType("__main__")
    if sys.version_info < (3, 14):  # later versions create annotations lazily
        vars(module)["__annotations__"] = {}
    vars(module).update(__builtins__=builtins, **facts)
    sys.modules["__main__"] = module
    return vars(module)


# -- the REPL -----------------------------------------------------------------------------


def banner() -> str:
    """Return the text that the REPL prints first."""
    python = ".".join(map(str, sys.version_info[:3]))
    return (
        f"tinytorch {tinytorch.__version__} on Python {python}, {_backend()}\n"
        "tt is tinytorch: tt.randn(2, 3), dir(tt), help(tt.matmul)"
    )


def _backend() -> str:
    """Return the text about the active backend in the banner."""
    try:
        return f"backend {tinytorch.get_backend()}"
    except (ValueError, ImportError) as error:  # of the backend in the environment variable
        return f"no backend: {error}"


def repl(*, ipython: bool = False) -> int:
    """Run a REPL until the end of input, and return the exit status.

    Args:
        ipython: Whether to use IPython if it is installed.
    """
    sys.argv = [""]
    if not sys.flags.safe_path:
        sys.path[0] = ""
    namespace = _new_main(tt=tinytorch)
    if ipython and find_spec("IPython") is not None:
        return _ipython_repl(namespace)
    if ipython:
        print("IPython is not installed; this is Python's own REPL.", file=sys.stderr)
    if not _run_python_repl():
        _complete_with_tab(namespace)
        Console(namespace).interact(banner(), exitmsg="")
    return 0


def _run_python_repl() -> bool:
    """Run Python's REPL with colors and multiline editing; return False if it is not available.

    Python has it from version 3.13 on. It needs a terminal, and the environment variable
    PYTHON_BASIC_REPL must not be set.
    """
    if find_spec("_pyrepl") is None or os.environ.get("PYTHON_BASIC_REPL"):
        return False
    from _pyrepl import main as pyrepl  # type: ignore[import-not-found]

    if not pyrepl.CAN_USE_PYREPL:
        return False
    print(banner(), file=sys.stderr)
    pyrepl.interactive_console(sys.modules["__main__"], pythonstartup=True)
    return True


class Console(code.InteractiveConsole):
    """Python's REPL, which suggests the nearest name after an AttributeError before 3.12, too."""

    def showtraceback(self) -> None:
        error = sys.exc_info()[1]
        if sys.version_info < (3, 12) and isinstance(error, AttributeError) and error.name:
            near = difflib.get_close_matches(error.name, dir(error.obj), 1)
            if near and error.obj is not None:
                error.args = (f"{error}. Did you mean: {near[0]!r}?",)
        super().showtraceback()


def _complete_with_tab(namespace: dict[str, Any]) -> None:
    """Let the tab key complete the names in a namespace, if Python has ``readline``."""
    if find_spec("readline") is None:
        return  # as in Python for Windows
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
    """Run IPython with the names in a namespace; return the exit status 0."""
    from IPython import start_ipython
    from traitlets.config import Config

    config = Config()
    config.TerminalInteractiveShell.banner1 = banner() + "\n"
    start_ipython(argv=[], user_ns=namespace, config=config)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
