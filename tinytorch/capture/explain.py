"""``compiler.explain``: what was recorded of a call, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from ..nn.module import Module
from .compiled import Compiled
from .entry import GuardedEntry
from .grouping import LoopGroup
from .optimized_module import OptimizedModule, original
from .profiling import name_step, operations
from .settings import CompileOptions


class Explanation:
    """Description of the recording of a call.

    Attributes:
        graph_count: Number of programs: 1, or 0 if calls run eagerly.
        graph_break_count: Number of reasons to run eagerly.
        break_reasons: These reasons, each with its line.
        op_count: Number of operations.
        ops_per_graph: For each program the names of its operations.
        out_guards: The guards.
        programs: The recorded programs.
    """

    def __init__(self, compiled: Compiled) -> None:
        self._entries = [entry for entry in compiled.entries if entry.call is not None]
        self._engine = compiled.options.engine
        self.graph_count: int = len(self._entries)
        self.break_reasons: list[str] = list(compiled.breaks)
        self.graph_break_count: int = len(self.break_reasons)
        self.programs: list[Any] = [entry.call.lanes.program for entry in self._entries]
        self.ops_per_graph: list[list[str]] = [operations(p.nodes) for p in self.programs]
        self.op_count: int = sum(map(len, self.ops_per_graph))
        self.out_guards: list[str] = [line for e in self._entries for line in e.describe()]

    def __str__(self) -> str:
        lines = [
            f"Graph Count: {self.graph_count}",
            f"Graph Break Count: {self.graph_break_count}",
            f"Op Count: {self.op_count}",
            "Break Reasons:", *(f"  {reason}" for reason in self.break_reasons),
        ]  # fmt: skip
        for entry in self._entries:
            lines += describe_entry(entry)
        return "\n".join([*lines, "Guards:", *(f"  {line}" for line in self.out_guards)])

    __repr__ = __str__


def explain_call(function: Callable[..., Any], args: Any, kwargs: Any) -> Explanation:
    """Record a call of a function or module, and explain the recording."""
    plain = original(function)
    if isinstance(plain, OptimizedModule):
        plain = plain._orig_mod
    compiled = Compiled(
        plain.__call__ if isinstance(plain, Module) else plain, CompileOptions(quiet=True)
    )
    compiled(*args, **kwargs)
    while not compiled.entries and compiled.will_retry():
        compiled(*args, **kwargs)
    return Explanation(compiled)


def describe_entry(entry: GuardedEntry) -> list[str]:
    """Return lines about a recording: operations, nodes, memory and the engine."""
    call = entry.call
    counts = Counter(operations(call.lanes.program.nodes))
    lines = ["Operations:", *(f"  {name} x {n}" for name, n in counts.most_common())]
    for label, lanes in (("Forward", call.lanes), ("Backward", call.backward_lanes)):
        program = lanes.program
        if not program.nodes:
            continue
        executable = lanes.prepare()
        groups = getattr(executable, "groups", None)
        lines += [
            f"{label}: {len(program.nodes)} nodes, {len(program.inputs)} inputs, "
            f"{len(program.outputs)} outputs, {len(program.writes)} inputs written",
            f"  engine {executable.engine}, "
            f"{executable.nbytes} bytes of memory"
            + ("" if groups is None else f", {groups} groups"),
            *(f"  group {text}" for text in describe_groups(executable)),
        ]
    return lines


def describe_groups(executable: Any) -> list[str]:
    """Return for each group its operations, the size of the loop, and the line of the program."""
    profiled = getattr(executable, "profiled", None)
    steps = [step for _, _, step in profiled.parts] if profiled is not None else []
    return [
        f"{name_step(step)}: {step.rows} x {step.columns}"
        for step in steps if isinstance(step, LoopGroup)
    ]  # fmt: skip
