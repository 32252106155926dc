"""Random numbers inside ``vmap``: refused, the same for every example, or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn

from ..backends.base import Backend
from ..core.tensor import Tensor
from ..state import DRAWN, current_backend, generator, generator_context
from ._trees import flatten


#: Methods that read or set the state of an engine; some engines have a part of these alone.
_STATE_METHODS = frozenset(
    ("get_state", "has_moved", "initial_seed", "manual_seed", "rewind", "set_state", "snapshot")
)


class _StateOnly:
    """Stands for a generator in a block: its state can be read and set as outside.

    Args:
        engine: The generator's engine.
    """

    def __init__(self, engine: Any) -> None:
        for name in _STATE_METHODS:
            if hasattr(engine, name):
                setattr(self, name, getattr(engine, name))


class Noticing(_StateOnly):
    """Calls a function before a generator draws.

    Args:
        found: The generator.
        notice: The function.
    """

    def __init__(self, found: Any, notice: Callable[[], None]) -> None:
        super().__init__(getattr(found, "_engine", found))
        self._found = found
        self._notice = notice

    def __getattr__(self, name: str) -> Any:
        if name not in _STATE_METHODS:
            self._notice()
        return getattr(self._found, name)


class Refusing(_StateOnly):
    """Raises for every random number."""

    def __getattr__(self, name: str) -> NoReturn:
        if name in _STATE_METHODS:
            raise AttributeError(name, name=name, obj=self)
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the "
            "'same' or 'different' randomness flags on vmap or perform the randomness operation "
            "out of vmap"
        )


def check_randomness(randomness: Any) -> None:
    """RuntimeError for a mode that is none."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )


def _backends(args: Any) -> list[Backend]:
    used = [leaf._xp for leaf in flatten(args)[0] if isinstance(leaf, Tensor)]
    return [*dict.fromkeys([current_backend(), *used])]


@contextmanager
def drawing(randomness: str, args: Any) -> Iterator[None]:
    """Refuse random functions inside a block, if that is the mode.

    Args:
        randomness: The mode.
        args: What the function in the block is given, which says what backends it uses.
    """
    with ExitStack() as stack:
        for backend in _backends(args) if randomness == "error" else ():
            found = generator(backend)
            if not isinstance(found, Refusing):
                refusing = Refusing(getattr(found, "_engine", found))
                stack.enter_context(generator_context(refusing, backend))
        yield


@contextmanager
def noticing_draws(args: Any, notice: Callable[[], None]) -> Iterator[None]:
    """Call ``notice`` before each random number that a block draws."""

    def on_draw(engine: Any) -> None:
        notice()
        if outer is not None:
            outer(engine)

    outer = DRAWN.get()
    token = DRAWN.set(on_draw)
    try:
        with ExitStack() as stack:
            for backend in _backends(args):
                found = generator(backend)
                if not isinstance(found, Refusing):
                    stack.enter_context(generator_context(Noticing(found, notice), backend))
            yield
    finally:
        DRAWN.reset(token)


class Repeated:
    """The state of the generators at the first example, for the others to start from.

    Args:
        randomness: The mode; there is nothing to put back unless it is ``"same"``.
        args: What the function is given, which says what backends it uses.
    """

    def __init__(self, randomness: str, args: Any) -> None:
        self.wanted = randomness == "same"
        self.states: dict[int, tuple[Any, Any]] = {}
        self.outer = DRAWN.get()
        for found in map(generator, _backends(args)) if self.wanted else ():
            if not isinstance(found, Refusing):
                self._keep(getattr(found, "_engine", found))

    @contextmanager
    def noticing(self) -> Iterator[None]:
        """Keep the state of the generators too that the function in a block uses of its own."""
        token = DRAWN.set(self._note)
        try:
            yield
        finally:
            DRAWN.reset(token)

    def _note(self, engine: Any) -> None:
        if self.wanted:
            self._keep(engine)
        if self.outer is not None:
            self.outer(engine)

    def _keep(self, engine: Any) -> None:
        if id(engine) not in self.states:
            self.states[id(engine)] = (engine, engine.get_state())

    def restart(self) -> None:
        """Put the generators back to where they were."""
        for engine, state in self.states.values():
            engine.set_state(state)
