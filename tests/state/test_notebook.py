"""Choices in a notebook, which last from one cell to the next, awaiting or not."""

from __future__ import annotations

import importlib

import pytest

tt = importlib.import_module("tinytorch.state")


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """A notebook's shell, without history on disk."""
    pytest.importorskip("IPython", reason="IPython is not installed")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    from IPython.core.history import HistoryManager
    from IPython.core.interactiveshell import InteractiveShell

    monkeypatch.setattr(HistoryManager, "enabled", False)
    made = InteractiveShell()
    made.autoawait = True
    made.user_ns["tt"] = tt
    yield made
    made.reset(new_session=False)


def cell(shell, source):
    """Run one cell and return its last expression."""
    done = shell.run_cell(source, store_history=False)
    done.raise_error()
    return done.result


AWAIT = "import asyncio; await asyncio.sleep(0)\n"


def test_set_backend_survives_between_cells_that_await(shell):
    assert cell(shell, AWAIT + "tt.get_backend()") == "numpy"
    cell(shell, AWAIT + "tt.set_backend('red')\n" + AWAIT)
    assert cell(shell, "tt.get_backend()") == "red"
    assert cell(shell, AWAIT + "tt.get_backend()") == "red"
    cell(shell, "tt.set_backend('blue')")
    assert cell(shell, AWAIT + "tt.get_backend()") == "blue"
    assert tt.get_backend() == "blue"


def test_grad_mode_survives_between_cells_that_await(shell):
    cell(shell, AWAIT + "tt.set_grad_enabled(False)")
    assert cell(shell, AWAIT + "tt.is_grad_enabled()") is False


def test_scope_ends_with_its_cell_also_when_the_cell_fails(shell):
    source = "with tt.backend_context('red'):\n    await asyncio.sleep(0)\n    1 / 0"
    cell(shell, AWAIT)
    done = shell.run_cell(source, store_history=False)
    assert isinstance(done.error_in_exec, ZeroDivisionError)
    assert cell(shell, AWAIT + "tt.get_backend()") == "numpy"


def test_task_left_running_by_a_cell_keeps_its_scope_to_itself(shell):
    cell(
        shell,
        AWAIT + "seen = []\n"
        "async def work():\n"
        "    with tt.backend_context('red'):\n"
        "        while len(seen) < 3:\n"
        "            seen.append(tt.get_backend())\n"
        "            await asyncio.sleep(0)\n"
        "task = asyncio.create_task(work())\n"
        "await asyncio.sleep(0)",
    )
    assert cell(shell, "tt.get_backend()") == "numpy"
    assert cell(shell, "await task\n(seen, tt.get_backend())") == (["red"] * 3, "numpy")
