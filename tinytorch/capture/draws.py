"""Random engines whose draws are nodes: each replay draws anew from the same engine."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ..backends import load
from .calls import symbols, unwrap, wrap_result
from .graph import Kind, Node
from .recorder import arrays_in, current_recorder
from .traced_memory import map_tree

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
        return _Draw(name, self.engine, value) if name in _DRAWS else value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordedEngine) and other.engine is self.engine

    def __hash__(self) -> int:
        return id(self.engine)

    def set_state(self, state: Any) -> None:
        """Set the state, the same at each replay."""
        _Draw("set_state", self.engine, self.engine.set_state)(state)

    def get_state(self) -> Any:
        """Return the state, which is a break: it differs between replays."""
        recorder = current_recorder()
        if recorder is not None:
            recorder.note_break("state of a random generator")
        return self.engine.get_state()

    def snapshot(self) -> Snapshot:
        """Return the state for ``rewind``, taken anew by each replay."""
        found = Snapshot(self.engine)
        _Draw("snapshot", self.engine, found.take)()
        return found

    def rewind(self, snapshot: Any) -> None:
        """Continue from a snapshot; one that was not recorded is a break."""
        if isinstance(snapshot, Snapshot):
            _Draw("rewind", self.engine, snapshot.restore)()
            return
        recorder = current_recorder()
        if recorder is not None:
            recorder.note_break("state of a random generator")
        self.engine.rewind(snapshot)

    def has_moved(self, snapshot: Any) -> bool:
        """Whether numbers were drawn since a snapshot."""
        return bool(self.engine.has_moved(getattr(snapshot, "state", snapshot)))


class Snapshot(threading.local):
    """State of an engine that a replay takes and restores, one for each thread.

    Attributes:
        engine: The engine.
        state: The state that was last taken.
    """

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.state: Any = None

    def take(self) -> None:
        """Take the state."""
        self.state = self.engine.snapshot()

    def restore(self) -> None:
        """Continue from the state."""
        self.engine.rewind(self.state)


class _Draw:
    """Method of an engine, recorded as a node of the kind DRAW."""

    def __init__(self, name: str, engine: Any, function: Callable[..., Any]) -> None:
        self._name, self._engine, self._function = name, engine, function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        recorder = current_recorder()
        real = map_tree(unwrap, args), map_tree(unwrap, kwargs)
        if recorder is None:
            return self._function(*real[0], **real[1])
        draw = recorder.hosts.draw
        node = Node(
            Kind.DRAW, f"draw.{self._name}", self._function, symbols(args), symbols(kwargs),
            recorder.tag,
        )  # fmt: skip
        recorder.check_engine(self._engine)
        recorder.draws.append((self._engine, self._engine.snapshot()))
        sources = [*arrays_in(args), *arrays_in(kwargs)]
        count = len(recorder.program.nodes)
        result = wrap_result(recorder, draw(self._function, *real), node, args, sources)
        recorder.see_engine(self._engine)
        if len(recorder.program.nodes) == count:
            recorder.program.nodes.append(node)
        return result


def record_draws(generator: Any) -> RecordedEngine:
    """Return the engine of a generator, or an engine, with recorded draws."""
    if isinstance(generator, RecordedEngine):
        return generator
    return RecordedEngine(getattr(generator, "_engine", generator))


def make_engine(seed: int) -> RecordedEngine:
    """Return a new engine, which each replay seeds anew."""
    recorder = current_recorder()
    backend = load("numpy") if recorder is None else recorder.backend
    made = RecordedEngine(backend.make_generator(seed))
    made.manual_seed(seed)
    return made
