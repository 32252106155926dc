"""``record``: run a function once, and return its result and its program."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from ..state import backend_context, current_backend, generator
from ..state.bindings import contextmanager
from . import slots
from .arrays import ProgramArray
from .backend import NUMPY, RECORDING
from .graph import Program, Value
from .recorder import ProgramRecorder
from .tags import TagRecorder
from .traced_memory import Input
from .trees import tensors_in


@dataclass
class Recording:
    """One call of a function, and the program of later calls.

    Attributes:
        program: The program. Its outputs are the tensors of ``result`` in the order of
            ``leaves``, then the gradients of ``gradients``.
        sources: What binds each input of the program.
        result: What the function returned, with real tensors.
        outputs: The value of each tensor in ``result``, in the order of ``leaves``.
        gradients: Tensors whose ``.grad`` the function set, with the value; None for one that it
            set to None.
        breaks: What was read from the program, with the line; a program with breaks must not be
            replayed.
        guards: Functions without arguments, with the values that they must return at a replay.
        once: Reasons why the program stands for this call alone: the next call is recorded again.
        actions: Functions to call after each replay.
        leaves: The tensors of ``result``.
    """

    program: Program
    sources: list[Input]
    result: Any
    outputs: list[Value]
    breaks: list[tuple[str, str]]
    guards: list[tuple[Callable[[], Any], Any]]
    once: list[str]
    actions: list[Callable[[], Any]]
    gradients: list[tuple[Any, Value | None]] = field(default_factory=list)
    leaves: list[Any] = field(default_factory=list)

    @property
    def writes(self) -> list[tuple[int, Value]]:
        """Numbers of the inputs that the program writes, with their final values."""
        return self.program.writes


@contextmanager
def recording(tensors: Sequence[Any], outside: FrameType) -> Iterator[ProgramRecorder]:
    """Scope in which this thread records on a new ``ProgramRecorder``.

    Args:
        tensors: Tensors whose arrays are inputs in this order.
        outside: The frame that calls what is recorded.
    """
    backend = current_backend()
    recorder = ProgramRecorder(ProgramArray, backend if backend.engine else NUMPY)
    recorder.bind_arguments([tensor._data for tensor in tensors])
    recorder.outside = outside
    with slots.replace_slots(recorder), recorder.active():
        try:
            with backend_context(RECORDING):
                default = generator(recorder.backend)
                recorder.see_engine(getattr(default, "_engine", default))
                with TagRecorder(recorder).active():
                    yield recorder
        finally:
            recorder.outside = None
            recorder.finish()


def record(function: Callable[[], Any], tensors: Sequence[Any]) -> Recording:
    """Call a function, and record what it computes.

    Args:
        function: Function without arguments.
        tensors: Tensors on the NumPy backend that are the program's first inputs, each once.
            Any other tensor that the function reads becomes an input that is bound to its memory.

    Returns:
        The recording, whose ``result`` is what ``function`` returned, as if it had been called
        alone: generators and tensors that it writes have changed.
    """
    before = [(tensor, tensor._grad) for tensor in tensors]
    with recording(tensors, sys._getframe(1)) as recorder:
        result = function()
        leaves = tensors_in(result)
        outputs = [value_of(recorder, leaf) for leaf in leaves]
        gradients = [
            (tensor, None if tensor._grad is None else value_of(recorder, tensor._grad))
            for tensor, old in before if tensor._grad is not old
        ]  # fmt: skip
    recorder.program.outputs = [*outputs, *[value for _, value in gradients if value is not None]]
    return Recording(
        recorder.program, recorder.sources, result, outputs, recorder.breaks, recorder.guards,
        recorder.once, recorder.actions, gradients, leaves,
    )  # fmt: skip


def value_of(recorder: ProgramRecorder, tensor: Any) -> Value:
    """Return the value of a tensor at this point."""
    data = tensor._data
    if data.__class__ is not ProgramArray:
        raise TypeError(f"expected a tensor on the NumPy backend, got one on {tensor._xp}")
    return data.value()
