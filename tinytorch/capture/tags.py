"""Tags of nodes: the operation, its arguments, the user's line; set as a profiler is called."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from ..core.tensor import Tensor
from ..core.torch_function import count_watchers
from ..state import bind
from ..state.recorder import RECORDER
from .arrays import ProgramArray
from .graph import Tag
from .recorder import ProgramRecorder, is_users
from .traced_memory import map_tree
from ..state.bindings import contextmanager


class TagRecorder:
    """Profiler that sets the tag of the nodes of each operation.

    It also keeps calls off their fast path, so that each passes here. An active profiler of the
    program is called as without a recording.

    Args:
        recorder: The recorder of the program.
    """

    def __init__(self, recorder: ProgramRecorder) -> None:
        self._recorder = recorder
        self._outer: Any = RECORDER.get()
        self._paths: dict[int, dict[int, str]] = {}

    @contextmanager
    def active(self) -> Iterator[None]:
        """Scope in which operations are tagged."""
        count_watchers(1)
        try:
            with bind(RECORDER, self):
                yield
        finally:
            count_watchers(-1)

    def operation(self, name: str, run: Callable[[], Any], op: Any, args: Any, options: Any) -> Any:
        """Run an operation; nodes of operations inside of it have its tag."""
        outer, recorder = self._outer, self._recorder
        if outer is not None:
            run = _wrap(outer.operation, name, run, op, args, options)
        tag = recorder.tag
        if tag.operation:
            return run()
        recorder.calls += 1
        line, modules = self._place()
        recorder.tag = Tag(
            name, _named_arguments(op, args, options), recorder.calls, self._path(modules),
            recorder.phase, line,
        )  # fmt: skip
        try:
            return run()
        finally:
            recorder.tag = tag

    def _place(self) -> tuple[str, list[Any]]:
        """Return the line of the program, and the modules whose ``forward`` runs, inner first."""
        line, modules = "", []
        frame: Any = sys._getframe(2)
        while frame is not None and frame is not self._recorder.outside:
            code = frame.f_code
            if code.co_name == "forward" and code.co_argcount:
                module = frame.f_locals.get(code.co_varnames[0])
                if hasattr(module, "named_modules"):
                    modules.append(module)
            if not line and is_users(code.co_filename):
                line = f"{code.co_filename}:{frame.f_lineno}"
            frame = frame.f_back
        return line, modules

    def _path(self, modules: list[Any]) -> str:
        """Return the path of the innermost module in the outermost that contains it."""
        for outer in reversed(modules):
            paths = self._paths.get(id(outer))
            if paths is None:
                paths = {id(module): name for name, module in outer.named_modules()}
                self._paths[id(outer)] = paths
            if id(modules[0]) in paths:
                return paths[id(modules[0])]
        return ""

    def visits(self, visit: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        """Wrap the visits of nodes of a backward pass."""
        self._recorder.passes += 1
        if self._outer is not None:
            visit = self._outer.visits(visit)

        def visit_with_tag(node: Any, gradient: Any) -> None:
            op = getattr(node.op, "op", None)
            with self._tag(getattr(op, "name", "") or node.name(), "backward"):
                visit(node, gradient)

        return visit_with_tag

    def accumulations(
        self, accumulate: Callable[[Any, Any, bool], None]
    ) -> Callable[[Any, Any, bool], None]:
        """Wrap the accumulations of the gradients of leaves."""
        if self._outer is not None:
            accumulate = self._outer.accumulations(accumulate)

        def accumulate_with_tag(leaf: Any, gradient: Any, fresh: bool) -> None:
            with self._tag("accumulate_grad", "backward"):
                accumulate(leaf, gradient, fresh)

        return accumulate_with_tag

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Tag a named part: the step of an optimizer is the phase ``"update"``."""
        phase = "update" if name.startswith("Optimizer.step") else self._recorder.phase
        operation = name.partition("#")[2] or self._recorder.tag.operation
        with self._tag(operation, phase):
            yield

    @contextmanager
    def _tag(self, operation: str, phase: str) -> Iterator[None]:
        recorder = self._recorder
        tag, before = recorder.tag, recorder.phase
        recorder.calls += 1
        recorder.phase = phase
        recorder.tag = Tag(operation, {}, recorder.calls, tag.module, phase, tag.line)
        try:
            yield
        finally:
            recorder.tag, recorder.phase = tag, before


def _wrap(function: Callable[..., Any], name: str, run: Any, *rest: Any) -> Callable[[], Any]:
    return lambda: function(name, run, *rest)


def _named_arguments(op: Any, args: Any, options: Any) -> dict[str, Any]:
    """Arguments of a call by name, with values for tensors."""
    names = op.plan.params if op is not None else ()
    named = dict(zip(names, args, strict=False))
    if len(args) > len(names):
        named["args"] = args[len(names) :]
    named.update(options)
    return {name: map_tree(_value, item) for name, item in named.items()}


def _value(item: Any) -> Any:
    if not isinstance(item, Tensor):
        return item
    data = item._data
    return data.value() if data.__class__ is ProgramArray else item
