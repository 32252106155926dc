"""Run the bodies of functions as programs, in interpreters that have not imported tinytorch yet.

A new interpreter spends most of its start on NumPy. So one process imports NumPy once and forks a
child for each program; it is started at the first program that does not need an interpreter of its
own. Scripts that import other large libraries are forked from a process that has imported them.
"""

from __future__ import annotations

import ast
import atexit
import inspect
import marshal
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from textwrap import dedent

#: Seconds after which a program is stuck.
LIMIT = 300
Done = subprocess.CompletedProcess[str]


def program(function: Callable[..., None], *arguments: object) -> str:
    """Source of a module: the body of a function, after assignments of ``arguments``."""
    (definition,) = ast.parse(dedent(inspect.getsource(function))).body
    assert isinstance(definition, ast.FunctionDef)
    names = inspect.signature(function).parameters
    given = [f"{name} = {value!r}" for name, value in zip(names, arguments, strict=True)]
    return "\n".join([*given, ast.unparse(ast.Module(definition.body, []))])


def process(
    function: Callable[..., None], *arguments: object, options: Sequence[str] = (), **env: str
) -> Done:
    """Run the body of ``function`` in a process whose import path is that of this one.

    Args:
        function: The program.
        *arguments: Values of its parameters; their ``repr`` is an expression.
        options: Options of the interpreter, which is a new one then.
        **env: Environment variables; those for the interpreter need a new one, too.
    """
    text = program(function, *arguments)
    environment = {**os.environ, "PYTHONPATH": search_path(), **env}
    settings = {name for name in env if name.startswith("PYTHON")} - {"PYTHONPATH"}
    if options or settings or not hasattr(os, "fork"):
        return subprocess.run(
            [sys.executable, *options, "-c", text],
            capture_output=True, text=True, timeout=LIMIT, check=False, env=environment,
        )  # fmt: skip
    return _fork(_server(os.getpid()), text, environment, Path.cwd())


def script(path: Path, *arguments: str, cwd: Path, modules: Sequence[str], **env: str) -> Done:
    """Run a script as ``python path arguments`` does, where ``modules`` are imported already.

    Args:
        path: The script.
        *arguments: Its arguments.
        cwd: The working folder.
        modules: Names of the libraries, which are imported once for all scripts.
        **env: Environment variables, set before the libraries are imported.
    """

    def body(path: str, arguments: list[str]) -> None:
        import os
        import runpy
        import sys

        sys.argv = [path, *arguments]
        sys.path.insert(0, os.path.dirname(path))
        runpy.run_path(path, run_name="__main__")

    environment = {**os.environ, "PYTHONPATH": search_path(), **env}
    server = _server(os.getpid(), tuple(modules), tuple(env.items()))
    return _fork(server, program(body, str(path), [*arguments]), environment, cwd)


def run(function: Callable[..., None], *arguments: object, **env: str) -> str:
    """Output of the body of ``function``, executed in a process of its own."""
    done = process(function, *arguments, **env)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def search_path(*before: object) -> str:
    """A ``PYTHONPATH`` of ``before`` and this process's import path."""
    return os.pathsep.join(map(str, [*before, *filter(None, sys.path)]))


def _serve(modules: Sequence[str]) -> None:
    """Fork a child for each program that standard input brings, and write how it ended.

    The body is a program itself. It imports built-in modules alone, so that a child finds nothing
    loaded but ``modules`` and what these import.
    """
    import marshal
    import os
    import sys

    for name in modules:
        __import__(name)

    while True:
        try:
            text, environment, folder, files = marshal.load(sys.stdin.buffer)
        except EOFError:
            break
        child = os.fork()
        if child == 0:
            for number, (name, flags) in enumerate(files):
                opened = os.open(name, flags)
                os.dup2(opened, number)
                os.close(opened)
            sys.stdin = os.fdopen(0)
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
            paths = environment["PYTHONPATH"].split(os.pathsep)
            sys.path[1:1] = [path for path in paths if path not in sys.path]
            main = sys.modules["__main__"] = type(sys)("__main__")
            exec(compile(text, "<string>", "exec"), main.__dict__)
            break
        marshal.dump(os.waitpid(child, 0), sys.stdout.buffer)
        sys.stdout.buffer.flush()


@cache
def _server(
    owner: int, modules: Sequence[str] = ("numpy",), env: Sequence[tuple[str, str]] = ()
) -> subprocess.Popen[bytes]:
    """The process that forks programs; a fork of this process, another ``owner``, has its own."""
    server = subprocess.Popen(
        [sys.executable, "-c", program(_serve, modules)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        env={**os.environ, "PYTHONPATH": search_path(), **dict(env)},
    )  # fmt: skip
    atexit.register(_close, server)
    return server


def _close(server: subprocess.Popen[bytes]) -> None:
    """End a process that forks, and its child."""
    if server.poll() is None:
        os.killpg(server.pid, signal.SIGKILL)
    server.communicate()
    _server.cache_clear()


def _fork(
    server: subprocess.Popen[bytes], text: str, environment: dict[str, str], cwd: Path
) -> Done:
    """Run a program in a child of a process that has its libraries."""
    assert server.stdin is not None and server.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        out, err = (Path(folder, name) for name in ("out", "err"))
        writing = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        files = (os.devnull, os.O_RDONLY), (str(out), writing), (str(err), writing)
        marshal.dump((text, environment, str(cwd), files), server.stdin)
        server.stdin.flush()
        if not select.select([server.stdout], [], [], LIMIT)[0]:
            _close(server)
            raise subprocess.TimeoutExpired(text, LIMIT)
        _, status = marshal.load(server.stdout)
        code = os.waitstatus_to_exitcode(status)
        return subprocess.CompletedProcess(text, code, out.read_text(), err.read_text())
