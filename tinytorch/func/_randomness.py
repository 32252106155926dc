"""Random numbers inside ``vmap``, by its argument ``randomness``: error, same or different."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from ..backends.base import Backend
from ..core.tensor import Tensor
from ..state import DRAWN, bind, current_backend, generator, generator_context
from ._trees import flatten
from ..state.bindings import contextmanager


#: Methods that read or set the state of an engine; some engines do not have all of them.
_STATE_METHODS = frozenset(
    ("get_state", "has_moved", "initial_seed", "manual_seed", "rewind", "set_state", "snapshot")
)


class _StateMethods:
    """Generator that replaces another one in a block, with the same methods for the state.

    Args:
        engine: The random engine of the replaced generator, whose methods these are.
    """

    def __init__(self, engine: Any) -> None:
        for name in _STATE_METHODS:
            if hasattr(engine, name):
                setattr(self, name, getattr(engine, name))


class NotifyingGenerator(_StateMethods):
    """Generator that calls a function before it draws.

    Args:
        wrapped: The generator that draws.
        notify: The function.
    """

    def __init__(self, wrapped: Any, notify: Callable[[], None]) -> None:
        super().__init__(getattr(wrapped, "_engine", wrapped))
        self._wrapped = wrapped
        self._notify = notify

    def __getattr__(self, name: str) -> Any:
        if name not in _STATE_METHODS:
            self._notify()
        return getattr(self._wrapped, name)


class ForbiddenGenerator(_StateMethods):
    """Generator that raises when it draws."""

    def __getattr__(self, name: str) -> NoReturn:
        if name in _STATE_METHODS:
            raise AttributeError(name, name=name, obj=self)
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the "
            "'same' or 'different' randomness flags on vmap or perform the randomness operation "
            "out of vmap"
        )


def check_randomness(randomness: Any) -> None:
    """Raise a RuntimeError if the argument ``randomness`` has an invalid value."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )


def _backends(args: Any) -> list[Backend]:
    """Backends of the tensors in a tree, and the current one."""
    used = [leaf._xp for leaf in flatten(args)[0] if isinstance(leaf, Tensor)]
    return [*dict.fromkeys([current_backend(), *used])]


@contextmanager
def forbid_random(randomness: str, args: Any) -> Iterator[None]:
    """Make random functions raise inside a block, if ``randomness`` is ``"error"``.

    Args:
        randomness: The argument of ``vmap``.
        args: Arguments of the function in the block; the generators of their backends are replaced.
    """

    def forbid(found: Any) -> ForbiddenGenerator:
        return ForbiddenGenerator(getattr(found, "_engine", found))

    with _replace_generators(_backends(args) if randomness == "error" else [], forbid):
        yield


@contextmanager
def _replace_generators(backends: list[Backend], replace: Callable[[Any], Any]) -> Iterator[None]:
    """Replace the generators of backends in a block, except those that are forbidden.

    It calls itself, since ``ExitStack`` may be interrupted when it has entered a block and not yet
    noted that it has to leave it.
    """
    if not backends:
        yield
        return
    backend, *others = backends
    found = generator(backend)
    new = found if isinstance(found, ForbiddenGenerator) else replace(found)
    with generator_context(new, backend), _replace_generators(others, replace):
        yield


@contextmanager
def notify_draws(args: Any, notify: Callable[[], None]) -> Iterator[None]:
    """Call ``notify`` before each draw of random numbers in a block.

    Args:
        args: Arguments of the function in the block; the generators of their backends are replaced.
        notify: The function.
    """

    # DRAWN is called for generators that the function passes itself; those of the backends are
    # replaced below.
    def on_draw(engine: Any) -> None:
        notify()
        if outer is not None:
            outer(engine)

    outer = DRAWN.get()
    with (
        bind(DRAWN, on_draw),
        _replace_generators(_backends(args), lambda found: NotifyingGenerator(found, notify)),
    ):
        yield


class GeneratorStates:
    """States of the generators before the first example, to restore for each other example.

    Args:
        randomness: The argument of ``vmap``; states are saved only if it is ``"same"``.
        args: Arguments of the function; the generators of their backends are saved.
    """

    def __init__(self, randomness: str, args: Any) -> None:
        self.is_same = randomness == "same"
        self.states: dict[int, tuple[Any, Any]] = {}
        self.outer = DRAWN.get()
        for found in map(generator, _backends(args)) if self.is_same else ():
            if not isinstance(found, ForbiddenGenerator):
                self._save(getattr(found, "_engine", found))

    @contextmanager
    def save_new(self) -> Iterator[None]:
        """Save the state of each further generator before it first draws in a block."""
        with bind(DRAWN, self._on_draw):
            yield

    def _on_draw(self, engine: Any) -> None:
        """Save the state of an engine that is about to draw, and call the outer callback."""
        if self.is_same:
            self._save(engine)
        if self.outer is not None:
            self.outer(engine)

    def _save(self, engine: Any) -> None:
        """Save the state of an engine, unless it has been saved."""
        if id(engine) not in self.states:
            self.states[id(engine)] = (engine, engine.get_state())

    def restart(self) -> None:
        """Restore the saved states."""
        for engine, state in self.states.values():
            engine.set_state(state)
