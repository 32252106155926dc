"""Seeds and random number generators, as ``torch.random``.

Each backend has a default generator, which random functions use if they receive no other. With
equal seeds, every generator draws the random numbers of PyTorch's CPU generator.

    >>> _ = tt.manual_seed(0)
    >>> tt.rand(2)
    tensor([0.4963, 0.7682])
"""

from __future__ import annotations

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
from .state.bindings import contextmanager

__all__ = [
    "Generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state", "thread_safe_generator",
]  # fmt: skip

#: PyTorch's seed of a generator before the first ``manual_seed``.
_DEFAULT_SEED = 67280421310721


class Generator:
    """Random number generator with a state of its own.

    Args:
        device: The device of the random tensors. Default: the active backend's device.

    Attributes:
        backend: The backend of the arrays that it draws.

    Raises:
        ImportError: If the device's backend cannot be loaded.

    Example:
        >>> generator = tt.Generator().manual_seed(0)
        >>> tt.randint(10, (4,), generator=generator)
        tensor([4, 9, 3, 0])
    """

    backend: Backend
    _engine: Any

    def __init__(self, device: Any = None) -> None:
        self.backend = backend_for(device)
        self._engine = self.backend.make_generator(_DEFAULT_SEED)

    @property
    def device(self) -> Device:
        """Device of the random tensors.

        Example:
            >>> generator = tt.Generator().manual_seed(0)
            >>> generator.device
            device(type='cpu')
        """
        xp = self.backend.here()  # makes the generator's device current
        return Device(xp.device_type, xp.device_index(xp.empty(0)))

    def manual_seed(self, seed: int) -> Generator:
        """Seed the generator and return the generator itself.

        Args:
            seed: Integer from -2**63 to 2**64 - 1; 2**64 is added to a negative one.

        Raises:
            TypeError: If ``seed`` is not an integer.
            ValueError: If it is out of range.

        Example:
            >>> generator = tt.Generator()
            >>> tt.rand(2, generator=generator.manual_seed(0))
            tensor([0.4963, 0.7682])
        """
        self._engine.manual_seed(_check_seed(seed))
        return self

    def seed(self) -> int:
        """Seed the generator from the operating system's randomness, and return that seed.

        Example:
            >>> generator = tt.Generator()
            >>> generator.seed() == generator.initial_seed()
            True
        """
        seed = _system_seed()
        self._engine.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """Seed with which the generator was last seeded.

        Example:
            >>> generator = tt.Generator().manual_seed(0)
            >>> generator.initial_seed()
            0
        """
        return int(self._engine.initial_seed())

    def get_offset(self) -> int:
        """Raise an error: only PyTorch's GPU generators have an offset.

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
        """Raise an error: only PyTorch's GPU generators have an offset.

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
        """State as a uint8 tensor on the CPU, in the format of ``torch.get_rng_state``.

        Example:
            >>> generator = tt.Generator().manual_seed(0)
            >>> generator.get_state().dtype
            tinytorch.uint8
        """
        host = backends.load("numpy")
        return wrap(host.from_numpy(self._engine.get_state()), host)

    def set_state(self, new_state: Tensor) -> Self:
        """Set the state to one that ``get_state`` of tinytorch or PyTorch returned.

        Returns:
            The generator itself.

        Raises:
            TypeError: If ``new_state`` is not a uint8 tensor.
            RuntimeError: If it is not a generator's state.

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
        """Return a new generator with the same state.

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
    """Rebuild a generator from its pickle."""
    generator = _make_generator(backends.load(backend).here(), None, cls)
    generator._engine.set_state(state)
    return generator


def _make_generator(backend: Backend, engine: Any, cls: type[Generator] = Generator) -> Generator:
    """Return a ``Generator`` that draws from a backend's random engine.

    Args:
        backend: The backend.
        engine: A result of its ``make_generator``; None for a new one with the default seed.
        cls: The class of the result.
    """
    generator = object.__new__(cls)
    generator.backend = backend
    generator._engine = backend.make_generator(_DEFAULT_SEED) if engine is None else engine
    return generator


def _check_seed(seed: Any) -> int:
    """Check a seed and return it modulo 2**64."""
    if not hasattr(seed, "__index__"):
        raise TypeError(f"manual_seed expected a long, but got {type(seed).__name__}")
    number = operator.index(seed)
    if not -(2**63) <= number < 2**64:
        raise ValueError(
            f"manual_seed: Overflow when unpacking long long: expected a seed between -2**63 and "
            f"2**64 - 1, got {number}"
        )
    return number % 2**64


def _system_seed() -> int:
    """Return a seed of 64 bits from the operating system."""
    return int.from_bytes(os.urandom(8), "little")


def _default_generator(backend: Backend | None = None) -> Generator:
    """Default generator of a backend (default: the active backend)."""
    if backend is None:
        backend = current_backend()
    found = generator_of(backend)
    return found if isinstance(found, Generator) else _make_generator(backend, found)


def _loaded_backends() -> list[Backend]:
    """The active backend and all other loaded backends, one for each device in use."""
    found = [current_backend()]
    for registration in tuple(backends._registry.values()):
        if registration.backend is not None:
            found += [backend for backend in registration.backend.in_use() if backend not in found]
    # A backend that records draws from the generator of the backend that it records.
    return [backend for backend in found if backend is not found[0].recorded]


def _default_generators() -> list[Generator]:
    """The default generators of all loaded backends, the active one first."""
    return [_default_generator(backend) for backend in _loaded_backends()]


def manual_seed(seed: int) -> Generator:
    """Seed the default generators of all backends, also of those that are loaded later.

    Args:
        seed: Value that ``int()`` accepts, from -2**63 to 2**64 - 1.

    Returns:
        The active backend's default generator.

    Raises:
        ValueError: If ``seed`` is not a number or is out of range.

    Example:
        >>> tt.manual_seed(1).initial_seed()
        1
    """
    number = _check_seed(int(seed))
    set_generator_factory(lambda backend: backend.make_generator(number))
    for generator in _default_generators():
        generator.manual_seed(number)
    return _default_generator()


def seed() -> int:
    """Seed the default generators from the operating system's randomness, and return the seed.

    Example:
        >>> number = tt.seed()
        >>> first = tt.rand(3)
        >>> _ = tt.manual_seed(number)
        >>> bool((first == tt.rand(3)).all())
        True
    """
    seed = _system_seed()
    manual_seed(seed)
    return seed


def initial_seed() -> int:
    """Seed of the active backend's default generator.

    Example:
        >>> _ = tt.manual_seed(7)
        >>> tt.initial_seed()
        7
    """
    return _default_generator().initial_seed()


def get_rng_state() -> Tensor:
    """State of the active backend's default generator, in PyTorch's format of 5056 bytes.

    Returns:
        A uint8 tensor on the CPU; ``torch.from_numpy(state.numpy())`` is a state for PyTorch.

    Example:
        >>> state = tt.get_rng_state()
        >>> first = tt.rand(3)
        >>> tt.set_rng_state(state)
        >>> bool((first == tt.rand(3)).all())
        True
    """
    return _default_generator().get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Set the state of the active backend's default generator.

    Args:
        new_state: A state that ``get_rng_state`` of tinytorch or PyTorch returned.

    Raises:
        TypeError: If it is not a uint8 tensor.
        RuntimeError: If it is not a generator's state.

    Example:
        >>> tt.set_rng_state(tt.get_rng_state())
    """
    _default_generator().set_state(new_state)


@contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None, enabled: bool = True, device_type: str | None = None
) -> Iterator[None]:
    """Context manager that restores the default generators' states on exit.

    Args:
        devices: Devices whose generators are restored, in addition to the active backend's.
            Default: all.
        enabled: Whether the context manager does anything.
        device_type: The type of those ``devices`` that are indices.

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
    engines = [generator._engine for generator in _fork_generators(devices, device_type)]
    saved = [(engine, _snapshot(engine)) for engine in engines]
    try:
        yield
    finally:
        _restore_states(saved)


def _fork_generators(devices: Iterable[Any] | None, device_type: str | None) -> list[Generator]:
    """The default generators that ``fork_rng`` restores."""
    if devices is None:
        return _default_generators()
    named = [Device(device_type or "cuda", d) if isinstance(d, int) else d for d in devices]
    found = dict.fromkeys([current_backend(), *map(backend_for, named)])
    return [_default_generator(backend) for backend in found]


def _save_states() -> list[tuple[Any, Any]]:
    """Return each default generator's engine with its state, for ``_restore_states``."""
    generators = [generator_of(backend) for backend in _loaded_backends()]
    engines = [g._engine if isinstance(g, Generator) else g for g in generators]
    return [(engine, _snapshot(engine)) for engine in engines]


def _snapshot(engine: Any) -> Any:
    """State of an engine; a backend outside tinytorch may define only ``get_state``."""
    return engine.snapshot() if hasattr(engine, "snapshot") else engine.get_state()


def _has_moved(engine: Any, state: Any) -> bool:
    """Whether an engine has drawn random numbers since ``state``; True if it cannot compare."""
    return not hasattr(engine, "has_moved") or bool(engine.has_moved(state))


def _select_moved(saved: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Select the engines that have drawn random numbers since ``_save_states``."""
    return [(engine, state) for engine, state in saved if _has_moved(engine, state)]


def _restore_states(saved: Iterable[tuple[Any, Any]]) -> None:
    """Restore the states that ``_save_states`` returned."""
    for engine, state in saved:
        (engine.rewind if hasattr(engine, "rewind") else engine.set_state)(state)


def thread_safe_generator() -> None:
    """Return None, which stands for the default generator: any thread may use it.

    Drawing holds a lock, and each worker of a DataLoader has its own default generator.

    Example:
        >>> generator = tt.random.thread_safe_generator()
        >>> tt.rand(2, generator=generator).shape
        tinytorch.Size([2])
    """
    return None


def __getattr__(name: str) -> Any:
    if name == "default_generator":
        return _default_generator()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "default_generator"])
