"""The page's Python code: it runs and completes lines, and trains on the digits."""

import ast
import codeop
import json
import linecache
import re
import rlcompleter
import sys
import traceback
from inspect import isawaitable
from itertools import count, takewhile

import digits
import tinytorch as tt
from tinytorch.__main__ import banner

NAME = "<input-{}>"


class Session:
    """A REPL over ``namespace``; it prints to ``sys.stdout`` and ``sys.stderr``."""

    def __init__(self, namespace):
        self.namespace = namespace
        self.namespace["tt"] = tt
        self._numbers = count(1)
        self._completer = rlcompleter.Completer(namespace)

    def banner(self):
        return banner()

    def is_whole(self, source):
        """Whether ``source`` is complete: an indented block ends with an empty line."""
        last = source.split("\n")[-1]
        if last.strip() and last[0].isspace():
            return False
        try:
            return codeop.compile_command(source, "<input>", "exec") is not None
        except (SyntaxError, ValueError, OverflowError):
            return True  # running it reports the error

    async def run(self, source):
        """Run ``source`` and print the value of its last expression, as notebooks do.

        A single statement prints the values of all its expressions, as in Python's REPL.
        """
        name = NAME.format(next(self._numbers))
        linecache.cache[name] = len(source), None, source.splitlines(True), name
        try:
            body = ast.parse(source, name).body
            if any(imports_torch(node) for statement in body for node in ast.walk(statement)):
                tt.install_as_torch()
            shows = len(body) == 1 or (body and isinstance(body[-1], ast.Expr))
            last = [body.pop()] if shows else []
            await self._execute(ast.Module(body, []), name, "exec")
            await self._execute(ast.Interactive(last), name, "single")
        except SystemExit:
            print("The page has no process to exit: reload it to start anew.", file=sys.stderr)
        except BaseException as error:
            print_error(error)
        sys.stdout.flush()
        sys.stderr.flush()

    async def _execute(self, tree, name, mode):
        """Execute a tree of statements; ``await`` is allowed at its top level."""
        if tree.body:
            code = compile(tree, name, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            done = eval(code, self.namespace)
            if isawaitable(done):
                await done

    def complete(self, before):
        """Return, as JSON, the start of the word before the cursor and its completions."""
        word = re.search(r"[\w.]*$", before)[0]
        found = (self._completer.complete(word, n) for n in count()) if word else ()
        matches = set(takewhile(lambda match: match is not None, found))
        return json.dumps({"start": len(before) - len(word), "matches": sorted(matches)})

    def train(self, report):
        """Train the classifier; call ``report`` after each epoch with values to draw, as JSON.

        Returns whether the training ran to its end: Stop interrupts it.
        """
        tt.manual_seed(0)
        images, labels = digits.load()
        model = digits.build()
        self.namespace.update(images=images, labels=labels, model=model)
        try:
            for seen in digits.train(model, images, labels):
                report(json.dumps(seen))
        except KeyboardInterrupt:
            return False
        return True


def imports_torch(node):
    """Whether a statement imports ``torch`` or one of its modules."""
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    if isinstance(node, ast.ImportFrom) and not node.level:
        names = [node.module]
    return any(name.partition(".")[0] == "torch" for name in names)


def print_error(error):
    """Print the traceback of an error from the lines that were typed on.

    Errors that it replaced are left out, unless one was raised from another on purpose.
    """
    frames = error.__traceback__
    while frames and not re.match(NAME.format(r"\d+"), frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    traceback.print_exception(error.with_traceback(frames), chain=error.__cause__ is not None)


session = Session(vars(sys.modules["__main__"]))
