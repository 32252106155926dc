"""The page's Python code: it runs and completes lines, and trains on the digits."""

import ast
import asyncio
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
        """Run ``source`` and print the value of each expression, as Python's REPL does."""
        name = NAME.format(next(self._numbers))
        linecache.cache[name] = len(source), None, source.splitlines(True), name
        try:
            tree = ast.Interactive(ast.parse(source, name).body)
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            done = eval(compile(tree, name, "single", flags), self.namespace)
            if isawaitable(done):
                await done
        except SystemExit:
            print("The page has no process to leave: reload it to start anew.", file=sys.stderr)
        except BaseException as error:
            traceback.print_exception(
                error.with_traceback(self._skip_own_frames(error.__traceback__))
            )
        sys.stdout.flush()
        sys.stderr.flush()

    def _skip_own_frames(self, frames):
        while frames and not re.match(NAME.format(r"\d+"), frames.tb_frame.f_code.co_filename):
            frames = frames.tb_next
        return frames

    def complete(self, before):
        """Return, as JSON, the start of the word before the cursor and its completions."""
        word = re.search(r"[\w.]*$", before)[0]
        found = (self._completer.complete(word, n) for n in count()) if word else ()
        matches = set(takewhile(lambda match: match is not None, found))
        return json.dumps({"start": len(before) - len(word), "matches": sorted(matches)})

    async def train(self, report):
        """Train the classifier; call ``report`` after each epoch with values to draw, as JSON."""
        tt.manual_seed(0)
        images, labels = digits.load()
        model = digits.build()
        self.namespace.update(images=images, labels=labels, model=model)
        for seen in digits.train(model, images, labels):
            report(json.dumps(seen))
            await asyncio.sleep(0)  # lines that were typed during the training


session = Session(vars(sys.modules["__main__"]))
