"""Commands in a folder of their own, as a user of the command line runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import TypeAlias

ROOT = Path(__file__).parent.parent
Done: TypeAlias = "subprocess.CompletedProcess[str]"


class Runner:
    """Runs commands in a folder of their own, with a ``torch`` there that must not be loaded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        poison = folder / "site" / "torch"
        poison.mkdir(parents=True)
        (poison / "__init__.py").write_text("raise SystemExit('the real torch was loaded')")
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(poison.parent)]),
            "HOME": str(folder),
        }
        for name in ("TINYTORCH_BACKEND", "OPENBLAS_CORETYPE", "PYTHONSTARTUP"):
            self.environment.pop(name, None)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return path

    def python(self, *arguments: str, input: str = "", **env: str) -> Done:
        return subprocess.run(
            [sys.executable, *arguments],
            input=input, capture_output=True, text=True, timeout=300, check=False,
            cwd=self.folder, env={**self.environment, **env},
        )  # fmt: skip

    def tinytorch(self, *arguments: str, **kwargs: str) -> Done:
        return self.python("-m", "tinytorch", *arguments, **kwargs)

    def output(self, *arguments: str, **kwargs: str) -> str:
        done = self.tinytorch(*arguments, **kwargs)
        assert done.returncode == 0, done.stderr
        return done.stdout
