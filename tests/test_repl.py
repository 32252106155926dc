"""``python -m tinytorch`` without arguments: the REPL."""

from __future__ import annotations

import pytest

from tests.fresh import program
from tests.runner import Runner


def test_repl_has_tt_and_says_what_runs(runner: Runner) -> None:
    done = runner.tinytorch(input="tt.ones(2) + 1\n__name__, tt.__name__\n")
    assert done.returncode == 0
    assert "tensor([2., 2.])" in done.stdout
    assert "('__main__', 'tinytorch')" in done.stdout
    assert "backend numpy" in done.stderr
    assert "tt is tinytorch" in done.stderr


def test_repl_goes_on_after_an_error(runner: Runner) -> None:
    done = runner.tinytorch(input="tt.matmull\nprint('still here')\n")
    assert "Did you mean: 'matmul'?" in done.stderr
    assert done.stderr.count("Did you mean") == 1
    assert "still here" in done.stdout


def test_repl_says_which_attribute_was_meant(runner: Runner) -> None:
    done = runner.tinytorch(input="tt.ones(2).reshapee\ntt.nn.Lineer\ntt.ones(1).qqqq\n1 / 0\n")
    said = [line for line in done.stderr.splitlines() if "Error: " in line]
    assert said == [
        "AttributeError: 'Tensor' object has no attribute 'reshapee'. Did you mean: 'reshape'?",
        "AttributeError: module 'tinytorch.nn' has no attribute 'Lineer'. Did you mean: 'Linear'?",
        "AttributeError: 'Tensor' object has no attribute 'qqqq'",
        "ZeroDivisionError: division by zero",
    ]


def test_repl_leaves_torch_alone(runner: Runner) -> None:
    done = runner.tinytorch(input="import torch\n")
    assert "the real torch was loaded" in done.stderr


def test_repl_completes_with_tab(runner: Runner) -> None:
    pytest.importorskip("readline", reason="Python for Windows has no readline")
    text = "import readline\nprint(readline.get_completer()('tt.zeros_l', 0))\n"
    assert "tt.zeros_like(" in runner.tinytorch(input=text).stdout


def test_repl_says_why_there_is_no_backend(runner: Runner) -> None:
    done = runner.tinytorch(input="1 + 1\n", TINYTORCH_BACKEND="nunpy")
    assert "no backend: " in done.stderr
    assert "TINYTORCH_BACKEND" in done.stderr
    assert "2" in done.stdout


def test_the_ipython_repl_evaluates_a_line(runner: Runner) -> None:
    pytest.importorskip("IPython", reason="the IPython REPL needs IPython")
    out = runner.output("--ipython", input="tt.ones(2) + 1\nexit\n")
    assert "tinytorch" in out and "tensor([2., 2.])" in out


def test_without_ipython_the_repl_of_python_starts(runner: Runner) -> None:
    def hidden() -> None:
        import importlib.util
        import runpy
        import sys

        find = importlib.util.find_spec
        importlib.util.find_spec = lambda name: None if name == "IPython" else find(name)
        sys.argv[1:] = ["--ipython"]
        runpy.run_module("tinytorch", run_name="__main__")

    done = runner.python("-c", program(hidden), input="print(tt.ones(1))\n")
    assert "IPython is not installed" in done.stderr
    assert "tensor([1.])" in done.stdout


def test_pythons_own_repl_is_taken_where_there_is_one(runner: Runner) -> None:
    def module(CAN_USE_PYREPL: bool) -> None:
        def interactive_console(mainmodule, quiet=False, pythonstartup=False):
            names = vars(mainmodule)
            print("own", names["__name__"], names["tt"].__name__, pythonstartup)

    runner.write("site/_pyrepl/main.py", program(module, True))
    done = runner.tinytorch()
    assert done.stdout == "own __main__ tinytorch True\n"
    assert "tt is tinytorch" in done.stderr
    basic = runner.tinytorch(input="print(tt.ones(1))\n", PYTHON_BASIC_REPL="1")
    assert "tensor([1.])" in basic.stdout and "own" not in basic.stdout


def test_input_that_is_no_terminal_is_read_by_the_basic_repl(runner: Runner) -> None:
    runner.write("site/_pyrepl/main.py", "CAN_USE_PYREPL = False")
    assert "tensor([1.])" in runner.tinytorch(input="print(tt.ones(1))\n").stdout
