"""Random engines whose draws are nodes: each replay draws anew from the same engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..backends import load
from .arrays import map_tree, symbols, unwrap, wrap_result
from .graph import Kind, Node
from .recorder import arrays_in, current_recorder

#: Methods of an engine that draw numbers or change its state.
_DRAWS = frozenset((
    "uniform normal integers bits permutation bernoulli exponential geometric cauchy log_normal "
    "poisson binomial standard_gamma multinomial manual_seed"
).split())  # fmt: skip


class RecordedEngine:
    """Engine of PyTorch's random streams whose draws are recorded.

    Attributes:
        engine: The real engine, which a replay advances, too.
    """

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.engine, name)
        if name in _DRAWS:
            return _Draw(name, value)
        return value

    def set_state(self, state: Any) -> None:
        """Set the state, the same at each replay."""
        _Draw("set_state", self.engine.set_state)(state)

    def get_state(self) -> Any:
        """Return the state, which is a break: it differs between replays."""
        recorder = current_recorder()
        if recorder is not None:
            recorder.note_break("state of a random generator")
        return self.engine.get_state()


class _Draw:
    """Method of an engine, recorded as a node of the kind DRAW."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._name, self._function = name, function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        recorder = current_recorder()
        real = map_tree(unwrap, args), map_tree(unwrap, kwargs)
        if recorder is None:
            return self._function(*real[0], **real[1])
        node = Node(
            Kind.DRAW, f"draw.{self._name}", self._function, symbols(args), symbols(kwargs),
            recorder.tag,
        )  # fmt: skip
        engine = self._function.__self__  # type: ignore[attr-defined]
        recorder.draws.append((engine, engine.snapshot()))
        sources = [*arrays_in(args), *arrays_in(kwargs)]
        count = len(recorder.program.nodes)
        result = wrap_result(recorder, self._function(*real[0], **real[1]), node, args, sources)
        if len(recorder.program.nodes) == count:
            recorder.program.nodes.append(node)
        return result


def make_engine(seed: int) -> RecordedEngine:
    """Return a new engine, which each replay seeds anew."""
    made = RecordedEngine(load("numpy").make_generator(seed))
    made.manual_seed(seed)
    return made
