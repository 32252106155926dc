"""What a profile notes down while a program runs: one ``Record`` for each thing that it did.

Parts of a program with names, which profiles show beside the operations.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_native_id
from time import perf_counter_ns
from typing import Any, NamedTuple

from ..core.tensor import Tensor
from ..dispatch.tensor_protocols import aten_name
from ..graph.nodes import Node, node_of
from ..state.recorder import RECORDER
from ..state.tracebacks import GENERATED
from ..utils.flop_counter import FORMULAS, works

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


class Record(NamedTuple):
    """What ran from when to when.

    Attributes:
        name: PyTorch's name of it: ``aten::add``, ``AddBackward0``.
        start: When it began, in nanoseconds of ``time.perf_counter_ns``; and when it was over.
        end: See above.
        thread: The thread's number.
        kind: The category in Chrome's traces: ``cpu_op`` or ``user_annotation``.
        shapes: The shape of each argument that is a tensor, ``[]`` for the others.
        stack: The program's lines that led there, the innermost first.
        flops: How many floating-point operations it took, where a formula knows.
        memory: How many bytes more were in use at its end than at its beginning.
        sequence: Number of the node that it made, or whose gradients it computed; -1: no node.
        backward: Whether it computed gradients.
    """

    name: str
    start: int
    end: int
    thread: int
    kind: str = "cpu_op"
    shapes: list[Any] | None = None
    stack: list[str] | None = None
    flops: int = 0
    memory: int = 0
    sequence: int = -1
    backward: bool = False


class Recording:
    """The ``state.recorder.Recorder`` of one run of a profile.

    Args:
        shapes: Whether shapes of arguments are noted.
        memory: Whether memory is, which ``tracemalloc`` counts.
        stack: Whether the program's lines are.
        flops: Whether floating-point operations are.
        waits: Whether the device's work is waited for after each operation.
    """

    def __init__(
        self, shapes: bool, memory: bool, stack: bool, flops: bool, waits: bool
    ) -> None:  # fmt: skip
        self.records: list[Record] = []
        self._shapes, self._stack, self._flops, self._is_lazy = shapes, stack, flops, waits
        self._memory: Callable[[], int] = _traced if memory else _nothing
        self.on = True

    def operation(self, name: str, run: Callable[[], Any], op: Any, args: Any, options: Any) -> Any:
        """What ``run()`` gives, noted as the operation ``name`` of these arguments."""
        called = aten_name(name, op)
        if called is None or not self.on:
            return run()
        shapes = _shapes_of(args) if self._shapes else None
        stack = _stack() if self._stack else None
        before, start = self._memory(), perf_counter_ns()
        result = None
        try:
            result = run()
        finally:
            if self._is_lazy:
                _wait_for(result, *args)
            end = perf_counter_ns()
            memory = self._memory() - before
            flops = _flops_of(op, result, args, options) if self._flops else 0
            record = Record(
                called, start, end, get_native_id(), "cpu_op", shapes, stack, flops, memory,
                _sequence_of(result),
            )  # fmt: skip
            self.records.append(record)
        return result

    def visits(self, visit: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        """``visit(node, gradient)`` of a backward pass, with each call noted."""

        def noted(node: Node, g: Any) -> None:
            shapes = [_shape(each) for each in (g if isinstance(g, list) else [g])]
            with self._backward(node.name(), shapes, node.xp, node.seq):
                visit(node, g)

        return noted

    def accumulations(
        self, accumulate: Callable[[Any, Any, bool], None]
    ) -> Callable[[Any, Any, bool], None]:
        """``accumulate(leaf, gradient, fresh)`` at its end, with each call noted."""

        def noted(leaf: Any, g: Any, fresh: bool) -> None:
            with self._backward("torch::autograd::AccumulateGrad", [_shape(g)], leaf._xp, -1):
                accumulate(leaf, g, fresh)

        return noted

    @contextmanager
    def _backward(self, name: str, shapes: list[Any], xp: Any, sequence: int) -> Iterator[None]:
        given = shapes if self._shapes else None
        with self._timed(name, shapes=given, sequence=sequence, backward=True):
            yield
            if self._is_lazy:
                xp.synchronize()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """A part of the program that has a name."""
        with self._timed(name, kind="user_annotation"):
            yield

    @contextmanager
    def _timed(self, name: str, **said: Any) -> Iterator[None]:
        if not self.on:
            yield
            return
        stack = _stack() if self._stack else None
        before, start = self._memory(), perf_counter_ns()
        try:
            yield
        finally:
            end = perf_counter_ns()
            memory = self._memory() - before
            self.records.append(
                Record(name, start, end, get_native_id(), stack=stack, memory=memory, **said)
            )


def _traced() -> int:
    return tracemalloc.get_traced_memory()[0]


def _nothing() -> int:
    return 0


def _shape(value: Any) -> list[Any]:
    return list(getattr(value, "shape", ()))


def _shapes_of(args: tuple[Any, ...]) -> list[Any]:
    """As PyTorch tells them: nothing for what is no tensor, a list for a list of tensors."""
    return [
        [_shape(each) for each in value]
        if isinstance(value, (tuple, list)) and value and isinstance(value[0], Tensor)
        else (_shape(value) if isinstance(value, Tensor) else [])
        for value in args
    ]


def _wait_for(*values: Any) -> None:
    """Have the device of the first tensor do all it was told to."""
    for value in values:
        if isinstance(value, Tensor):
            value._xp.synchronize()
            return


def _sequence_of(result: Any) -> int:
    first = result[0] if isinstance(result, tuple) and result else result
    node = node_of(first._node) if isinstance(first, Tensor) and first._rg else None
    return -1 if node is None else node.seq


def _flops_of(op: Any, result: Any, args: tuple[Any, ...], options: dict[str, Any]) -> int:
    if op.name not in FORMULAS or result is None:
        return 0
    return sum(work.flops for work in works(op.name, result, args, options))


def _stack() -> list[str]:
    """The program's lines that lead here, none of the library's own among them."""
    lines = []
    frame: Any = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith((_PACKAGE, GENERATED)):
            lines.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return lines


__all__ = ["record_function"]


class record_function(contextlib.ContextDecorator):  # named as a function
    """A part of a program with a name; a decorator, too. Without a profile nothing happens.

    Args:
        name: The part's name.
        args: What else to say of it; it is not shown. Default: None.

    Example:
        >>> with tt.profiler.profile() as prof:
        ...     with tt.profiler.record_function("forward"):
        ...         y = tt.ones(1) + 1
        >>> [event.name for event in prof.events()]
        ['forward', 'aten::ones', 'aten::add']
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._open: list[Any] = []

    def _recreate_cm(self) -> record_function:
        return type(self)(self.name, self.args)  # a decorated function may run in many threads

    def __enter__(self) -> record_function:
        recorder = RECORDER.get()
        part = contextlib.nullcontext() if recorder is None else recorder.part(self.name)
        part.__enter__()
        self._open.append(part)
        return self

    def __exit__(self, *error: object) -> None:
        self._open.pop().__exit__(None, None, None)
