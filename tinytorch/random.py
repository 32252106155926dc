"""Seeds and random generators: ``tinytorch.random``, as ``torch.random``.

Every backend has a default generator, which random functions use when they are given
none. Seeded alike, every generator gives PyTorch's CPU numbers.

    >>> _ = tt.manual_seed(0)
    >>> tt.rand(2)
    tensor([0.4963, 0.7682])
"""

from __future__ import annotations

import contextlib
import operator
import os
from collections.abc import Iterable, Iterator
from typing import Any, Self

from . import backends
from .backends.base import Backend
from .core.device import device as Device
from .core.tensor import Tensor, wrap
from .dispatch.creation import backend_for
from .state import current_backend, set_generator_factory
from .state import generator as generator_of

__all__ = [
    "Generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state", "thread_safe_generator",
]  # fmt: skip

#: What torch seeds a generator with that nobody has seeded.
_UNSEEDED = 67280421310721


class Generator:
    """A stream of random numbers of its own.

    Args:
        device: Where the numbers are wanted. Default: where the active backend's are.

    Attributes:
        backend: The backend whose arrays it draws.

    Raises:
        ImportError: If the device's backend cannot be used here.

    Example:
        >>> generator = tt.Generator().manual_seed(0)
        >>> tt.randint(10, (4,), generator=generator)
        tensor([4, 9, 3, 0])
    """

    backend: Backend
    _engine: Any

    def __init__(self, device: Any = None) -> None:
        self.backend = backend_for(device)
        self._engine = self.backend.make_generator(_UNSEEDED)

    @property
    def device(self) -> Device:
        """Where the numbers are drawn.

        Example:
            >>> generator = tt.Generator().manual_seed(0)
            >>> generator.device
            device(type='cpu')
        """
        xp = self.backend.here()
        return Device(xp.device_type, xp.device_index(xp.empty(0)))

    def manual_seed(self, seed: int) -> Generator:
        """Restart the stream at ``seed``; returns the generator itself.

        Args:
            seed: Between -2**63 and 2**64 - 1; a negative one counts down from 2**64.

        Raises:
            TypeError: If ``seed`` is no int.
            ValueError: If it is out of range.

        Example:
            >>> generator = tt.Generator()
            >>> tt.rand(2, generator=generator.manual_seed(0))
            tensor([0.4963, 0.7682])
        """
        self._engine.manual_seed(_checked_seed(seed))
        return self

    def seed(self) -> int:
        """Restart the stream at a seed from the operating system, and return that seed.

        Example:
            >>> generator = tt.Generator()
            >>> generator.seed() == generator.initial_seed()
            True
        """
        fresh = _fresh_seed()
        self._engine.manual_seed(fresh)
        return fresh

    def initial_seed(self) -> int:
        """The seed of the present stream.

        Example:
            >>> generator = tt.Generator().manual_seed(0)
            >>> generator.initial_seed()
            0
        """
        return int(self._engine.initial_seed())

    def get_offset(self) -> int:
        """Position in the stream of a GPU's generator of PyTorch's; none here has one.

        Raises:
            RuntimeError: Always.

        Example:
            >>> tt.Generator().get_offset()
            Traceback (most recent call last):
                ...
            RuntimeError: CPU Generator does not use offset
        """
        raise RuntimeError(f"{self.device.type.upper()} Generator does not use offset")

    def set_offset(self, offset: int) -> Generator:
        """Set what ``get_offset`` returns; see there.

        Raises:
            RuntimeError: Always.

        Example:
            >>> tt.Generator().set_offset(0)
            Traceback (most recent call last):
                ...
            RuntimeError: CPU Generator does not use offset
        """
        raise RuntimeError(f"{self.device.type.upper()} Generator does not use offset")

    def get_state(self) -> Tensor:
        """The state, a uint8 tensor on the CPU that ``torch.set_rng_state`` also reads.

        Example:
            >>> generator = tt.Generator().manual_seed(0)
            >>> generator.get_state().dtype
            tinytorch.uint8
        """
        host = backends.load("numpy")
        return wrap(host.from_numpy(self._engine.get_state()), host)

    def set_state(self, new_state: Tensor) -> Self:
        """Continue from a state that ``get_state``, here or in torch, returned.

        Returns:
            The generator itself.

        Raises:
            TypeError: If ``new_state`` is no uint8 tensor.
            RuntimeError: If it is no state.

        Example:
            >>> generator = tt.Generator().manual_seed(0)
            >>> state = generator.get_state()
            >>> first = tt.rand(2, generator=generator)
            >>> tt.equal(tt.rand(2, generator=generator.set_state(state)), first)
            True
        """
        if not isinstance(new_state, Tensor) or new_state.dtype.name != "uint8":
            raise TypeError("RNG state must be a torch.ByteTensor: a Tensor of dtype uint8")
        self._engine.set_state(new_state._xp.to_numpy(new_state._data))
        return self

    def clone_state(self) -> Generator:
        """A new generator that goes on as this one would.

        Example:
            >>> generator = tt.Generator().manual_seed(0)
            >>> other = generator.clone_state()
            >>> tt.equal(tt.rand(2, generator=other), tt.rand(2, generator=generator))
            True
        """
        return _rebuild(type(self), self.backend.name, self._engine.get_state())

    def __repr__(self) -> str:
        return f"Generator(device='{self.device}', initial_seed={self.initial_seed()})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Generator):
            return NotImplemented
        return self._engine is other._engine

    def __hash__(self) -> int:
        return id(self._engine)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.backend.name, self._engine.get_state())


def _rebuild(cls: type[Generator], backend: str, state: Any) -> Generator:
    generator = _around(backends.load(backend).here(), None, cls)
    generator._engine.set_state(state)
    return generator


def _around(backend: Backend, engine: Any, cls: type[Generator] = Generator) -> Generator:
    generator = object.__new__(cls)
    generator.backend = backend
    generator._engine = backend.make_generator(_UNSEEDED) if engine is None else engine
    return generator


def _checked_seed(seed: Any) -> int:
    if not hasattr(seed, "__index__"):
        raise TypeError(f"manual_seed expected a long, but got {type(seed).__name__}")
    number = operator.index(seed)
    if not -(2**63) <= number < 2**64:
        raise ValueError(
            f"manual_seed: Overflow when unpacking long long: expected a seed between -2**63 and "
            f"2**64 - 1, got {number}"
        )
    return number % 2**64


def _fresh_seed() -> int:
    return int.from_bytes(os.urandom(8), "little")


def _default(backend: Backend | None = None) -> Generator:
    """The generator that random functions use on a backend (default: the active one)."""
    if backend is None:
        backend = current_backend()
    found = generator_of(backend)
    return found if isinstance(found, Generator) else _around(backend, found)


def _backends() -> list[Backend]:
    """The active backend and every other that is loaded, of each device in use."""
    found = [current_backend()]
    for registration in tuple(backends._registry.values()):
        if registration.backend is not None:
            found += [backend for backend in registration.backend.in_use() if backend not in found]
    return found


def _defaults() -> list[Generator]:
    """The default generators of the active backend and of every other that is loaded."""
    return [_default(backend) for backend in _backends()]


# -- the default generators ----------------------------------------------------------------


def manual_seed(seed: int) -> Generator:
    """Seed the default generators of all backends, those not loaded yet included.

    Args:
        seed: Anything ``int()`` takes, between -2**63 and 2**64 - 1.

    Returns:
        The active backend's default generator.

    Raises:
        ValueError: If ``seed`` is no number or out of range.

    Example:
        >>> tt.manual_seed(1).initial_seed()
        1
    """
    number = _checked_seed(int(seed))
    set_generator_factory(lambda backend: backend.make_generator(number))
    for generator in _defaults():
        generator.manual_seed(number)
    return _default()


def seed() -> int:
    """Seed the default generators from the operating system.

    Returns:
        The seed, with which ``manual_seed`` repeats what follows.

    Example:
        >>> number = tt.seed()
        >>> first = tt.rand(3)
        >>> _ = tt.manual_seed(number)
        >>> bool((first == tt.rand(3)).all())
        True
    """
    fresh = _fresh_seed()
    manual_seed(fresh)
    return fresh


def initial_seed() -> int:
    """The seed of the active backend's default generator.

    Example:
        >>> _ = tt.manual_seed(7)
        >>> tt.initial_seed()
        7
    """
    return _default().initial_seed()


def get_rng_state() -> Tensor:
    """The state of the active backend's default generator: 5056 bytes, as torch lays them out.

    Returns:
        A uint8 tensor on the CPU; torch reads it through ``torch.from_numpy``.

    Example:
        >>> state = tt.get_rng_state()
        >>> first = tt.rand(3)
        >>> tt.set_rng_state(state)
        >>> bool((first == tt.rand(3)).all())
        True
    """
    return _default().get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Have the active backend's default generator continue from a state.

    Args:
        new_state: What ``get_rng_state`` returned, here or in torch.

    Raises:
        TypeError: If it is no uint8 tensor.
        RuntimeError: If it is no state.

    Example:
        >>> tt.set_rng_state(tt.get_rng_state())
    """
    _default().set_state(new_state)


@contextlib.contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None, enabled: bool = True, device_type: str | None = None
) -> Iterator[None]:
    """Put the default generators back, at the end of a block, to where they were.

    Args:
        devices: Devices whose generators to put back, beside the active backend's.
            Default: all.
        enabled: Whether to do anything.
        device_type: The type of the devices that ``devices`` gives as numbers.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> with tt.random.fork_rng():
        ...     print(tt.rand(1))
        tensor([0.4963])
        >>> tt.rand(1)
        tensor([0.4963])
    """
    if not enabled:
        yield
        return
    engines = [generator._engine for generator in _forked(devices, device_type)]
    saved = [(engine, _snapshot(engine)) for engine in engines]
    try:
        yield
    finally:
        _restore(saved)


def _forked(devices: Iterable[Any] | None, device_type: str | None) -> list[Generator]:
    if devices is None:
        return _defaults()
    named = [Device(device_type or "cuda", d) if isinstance(d, int) else d for d in devices]
    found = dict.fromkeys([current_backend(), *map(backend_for, named)])
    return [_default(backend) for backend in found]


def _states() -> list[tuple[Any, Any]]:
    """Every default generator's engine with its state, for ``_restore``."""
    generators = [generator_of(backend) for backend in _backends()]
    engines = [g._engine if isinstance(g, Generator) else g for g in generators]
    return [(engine, _snapshot(engine)) for engine in engines]


def _snapshot(engine: Any) -> Any:
    """State of an engine; one of a backend from outside may have ``get_state`` alone."""
    return engine.snapshot() if hasattr(engine, "snapshot") else engine.get_state()


def _has_moved(engine: Any, state: Any) -> bool:
    # Without a quick comparison the state is restored, which is right in either case.
    return not hasattr(engine, "has_moved") or bool(engine.has_moved(state))


def _drawn(saved: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Select the engines that were drawn from since ``_states`` was called."""
    return [(engine, state) for engine, state in saved if _has_moved(engine, state)]


def _restore(saved: Iterable[tuple[Any, Any]]) -> None:
    """Put engines back to where they were when ``_states`` was called."""
    for engine, state in saved:
        (engine.rewind if hasattr(engine, "rewind") else engine.set_state)(state)


def thread_safe_generator() -> None:
    """None: the default generator may be used from any thread, also a DataLoader's.

    Draws hold a lock, and a worker has a default generator of its own.

    Example:
        >>> generator = tt.random.thread_safe_generator()
        >>> tt.rand(2, generator=generator).shape
        tinytorch.Size([2])
    """
    return None


def __getattr__(name: str) -> Any:
    if name == "default_generator":
        return _default()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "default_generator"])
