"""Records of a running profile: operations, gradients, and parts of the program with names."""

from __future__ import annotations

import contextlib
import os
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from threading import get_native_id
from time import perf_counter_ns
from typing import Any, NamedTuple

from ..core.tensor import Tensor
from ..dispatch.tensor_protocols import aten_name
from ..graph.nodes import Node, node_of
from ..state.bindings import contextmanager
from ..state.recorder import PROGRAM_MODULES, RECORDER
from ..state.tracebacks import GENERATED
from ..utils.flop_counter import FORMULAS, call_flops

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


class Record(NamedTuple):
    """Record of one operation, gradient or named part of the program.

    Attributes:
        name: PyTorch's name, such as ``aten::add`` or ``AddBackward0``.
        start: Time of its start, in nanoseconds of ``time.perf_counter_ns``.
        end: Time of its end.
        thread: The thread's number.
        kind: The category in Chrome's traces: ``cpu_op`` or ``user_annotation``.
        shapes: The shape of each argument that is a tensor, ``[]`` for the others.
        stack: The lines of the program that led to it, the innermost first.
        flops: Number of floating-point operations, for operations with a formula; otherwise 0.
        memory: Bytes in use at its end minus those at its start.
        sequence: Creation number of its node, or of the node whose gradients it computed, or -1.
        backward: Whether it computed gradients.
        module: Name of the module whose operation an exported program ran, or "".
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
    module: str = ""


class Recording:
    """The ``state.recorder.Recorder`` of one run of a profile.

    Args:
        shapes: Whether shapes of arguments are recorded.
        memory: Whether memory, as counted by ``tracemalloc``, is recorded.
        stack: Whether the lines of the program are recorded.
        flops: Whether floating-point operations are counted.
        synchronizes: Whether the device is synchronized after each operation.
        modules: Whether the modules of exported programs are recorded. Default: False.
    """

    def __init__(
        self, shapes: bool, memory: bool, stack: bool, flops: bool, synchronizes: bool,
        modules: bool = False,
    ) -> None:  # fmt: skip
        self.records: list[Record] = []
        self._shapes, self._stack, self._flops = shapes, stack, flops
        self._synchronizes, self._modules = synchronizes, modules
        self._memory: Callable[[], int] = _traced_memory if memory else _no_memory
        self.enabled = True

    def operation(self, name: str, run: Callable[[], Any], op: Any, args: Any, options: Any) -> Any:
        """Call an operation, and record it with its time, shapes, stack, memory and FLOPs.

        Args:
            name: Name of the function.
            run: Function without arguments that runs the operation.
            op: The operation.
            args: Its positional arguments.
            options: Its keyword arguments.

        Returns:
            The result of ``run()``.
        """
        called = aten_name(name, op)
        if called is None or not self.enabled:
            return run()
        shapes = _shapes_of(args) if self._shapes else None
        stack = _stack() if self._stack else None
        before, start = self._memory(), perf_counter_ns()
        result = None
        try:
            result = run()
        finally:
            if self._synchronizes:
                _wait_for(result, *args)
            end = perf_counter_ns()
            memory = self._memory() - before
            flops = _flops_of(op, result, args, options) if self._flops else 0
            module = PROGRAM_MODULES.get()[-1:] if self._modules else ()
            record = Record(
                called, start, end, get_native_id(), "cpu_op", shapes, stack, flops, memory,
                _sequence_of(result), False, *module,
            )  # fmt: skip
            self.records.append(record)
        return result

    def visits(self, visit: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        """Wrap ``visit(node, gradient)`` of a backward pass so that each call is recorded."""

        def record_visit(node: Node, g: Any) -> None:
            shapes = [_shape(each) for each in (g if isinstance(g, list) else [g])]
            with self._record_gradient(node.name(), shapes, node.xp, node.seq):
                visit(node, g)

        return record_visit

    def accumulations(
        self, accumulate: Callable[[Any, Any, bool], None]
    ) -> Callable[[Any, Any, bool], None]:
        """Wrap ``accumulate(leaf, gradient, fresh)`` so that each call is recorded."""

        def record_accumulation(leaf: Any, g: Any, fresh: bool) -> None:
            name = "torch::autograd::AccumulateGrad"
            with self._record_gradient(name, [_shape(g)], leaf._xp, -1):
                accumulate(leaf, g, fresh)

        return record_accumulation

    @contextmanager
    def _record_gradient(
        self, name: str, shapes: list[Any], xp: Any, sequence: int
    ) -> Iterator[None]:  # fmt: skip
        """Record the block of a ``with`` statement, which computes gradients.

        Args:
            name: Name of the node.
            shapes: Shapes of the gradients that the node receives.
            xp: Backend, which is synchronized if the recording does so.
            sequence: Creation number of the node, or -1.
        """
        given = shapes if self._shapes else None
        with self._record_block(name, shapes=given, sequence=sequence, backward=True):
            yield
            if self._synchronizes:
                xp.synchronize()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Record a block as a part of the program with a name."""
        with self._record_block(name, kind="user_annotation"):
            yield

    @contextmanager
    def _record_block(self, name: str, **fields: Any) -> Iterator[None]:
        """Record a block; ``fields`` are further fields of the ``Record``."""
        if not self.enabled:
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
                Record(name, start, end, get_native_id(), stack=stack, memory=memory, **fields)
            )


def _traced_memory() -> int:
    return tracemalloc.get_traced_memory()[0]


def _no_memory() -> int:
    return 0


def _shape(value: Any) -> list[Any]:
    return list(getattr(value, "shape", ()))


def _shapes_of(args: tuple[Any, ...]) -> list[Any]:
    """Shapes of arguments in PyTorch's form, a list with one entry for each argument.

    The entry is the shape of a tensor, a list of shapes for a list of tensors, and ``[]`` for
    other values.
    """
    return [
        [_shape(each) for each in value]
        if isinstance(value, (tuple, list)) and value and isinstance(value[0], Tensor)
        else (_shape(value) if isinstance(value, Tensor) else [])
        for value in args
    ]


def _wait_for(*values: Any) -> None:
    """Synchronize the device of the first tensor among values."""
    for value in values:
        if isinstance(value, Tensor):
            value._xp.synchronize()
            return


def _sequence_of(result: Any) -> int:
    """Creation number of the autograd node of a result, or of its first tensor; -1 without one."""
    first = result[0] if isinstance(result, tuple) and result else result
    node = node_of(first._node) if isinstance(first, Tensor) and first._rg else None
    return -1 if node is None else node.seq


def _flops_of(op: Any, result: Any, args: tuple[Any, ...], options: dict[str, Any]) -> int:
    """Floating-point operations of a call; 0 for an operation without a formula, or an error.

    Args:
        op: The operation.
        result: Result of the call; None if it raised.
        args: Positional arguments.
        options: Keyword arguments.
    """
    if op.name not in FORMULAS or result is None:
        return 0
    return sum(work.flops for work in call_flops(op.name, result, args, options))


def _stack() -> list[str]:
    """Lines of the program in the call stack, the innermost first, without those of tinytorch.

    A line has the form ``"file(number): function"``.
    """
    lines = []
    frame: Any = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith((_PACKAGE, GENERATED)):
            lines.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return lines


__all__ = ["record_function"]


class record_function(contextlib.ContextDecorator):
    """Context manager, or decorator, that gives a part of a program a name in profiles.

    It has no effect without an active profile.

    Args:
        name: The part's name.
        args: Further text, which is not shown. Default: None.

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
