"""Replay of a recording on new arguments with the reference engine, as a compiled function does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tinytorch as tt
from tinytorch.capture.recording import record
from tinytorch.capture.replay import run_program


class Replayer:
    """Recorded function of tensors.

    Args:
        function: Function of tensors.
        tensors: Its arguments at the recording.
        more: Further tensors whose ``.grad`` it sets.
    """

    def __init__(
        self, function: Callable[..., Any], tensors: Sequence[Any], more: Sequence[Any] = ()
    ) -> None:
        self.count = len(tensors)
        self.recording = record(lambda: function(*tensors), [*tensors, *more])
        self.more = list(more)

    def feeds(self, tensors: Sequence[Any]) -> list[Any]:
        """The arrays and numbers that the inputs are bound to."""
        listed = [*tensors, *self.more]
        found = []
        for source in self.recording.sources:
            if source.kind == "argument" and not source.root:
                found.append(listed[source.index]._data)
            else:
                found.append(source.array if source.read is None else source.read())
        return found

    def __call__(self, *tensors: Any) -> list[Any]:
        """Replay: return the results as arrays, write what the function writes, run its actions."""
        recording = self.recording
        assert not recording.breaks
        assert all(read() == value for read, value in recording.guards)
        feeds = self.feeds(tensors)
        arrays = run_program(recording.program, feeds)
        after = arrays[len(recording.program.outputs) :]
        for (number, _), array in zip(recording.writes, after, strict=True):
            feeds[number][...] = array
        count = len(recording.outputs)
        following = iter(arrays[count : len(recording.program.outputs)])
        for tensor, value in recording.gradients:
            tensor.grad = None if value is None else tt.from_numpy(next(following))
        for action in recording.actions:
            action()
        return arrays[:count]
