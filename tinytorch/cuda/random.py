"""Random number generators of the CUDA devices.

With equal seeds they draw the random numbers of PyTorch's generator on the CPU.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..core.tensor import Tensor
from ..random import Generator, _default_generator
from .queries import backend, device_count, index_of_device, is_available

__all__ = [
    "default_generators", "get_rng_state", "get_rng_state_all", "initial_seed", "manual_seed",
    "manual_seed_all", "seed", "seed_all", "set_rng_state", "set_rng_state_all",
]  # fmt: skip


def _generator(device: Any) -> Generator:
    """Default generator of a device; ``"cuda"`` and None mean the current device."""
    return _default_generator(backend().at(index_of_device(device)))


class _Generators(Sequence[Generator]):
    """Sequence of the devices' default generators; unlike a tuple, it loads CuPy only when used."""

    def __len__(self) -> int:
        return device_count()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(len(self))[index])
        count = len(self)
        if not -count <= index < count:
            raise IndexError(f"default_generators: there is no device {index}, only {count}")
        return _generator(index % count)

    def __eq__(self, other: object) -> bool:
        return tuple(self) == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(tuple(self))


#: The default generator of each device, by index.
default_generators: Sequence[Generator] = _Generators()


def manual_seed(seed: int) -> None:
    """Seed the generator of the current device; nothing happens without a device.

    Example:
        >>> tt.cuda.manual_seed(0)
    """
    if is_available():
        _generator(None).manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all devices; nothing happens without a device.

    Example:
        >>> tt.cuda.manual_seed_all(0)
    """
    for index in range(device_count()):
        _generator(index).manual_seed(seed)


def seed() -> None:
    """Seed the current device's generator from the operating system's randomness, if any device.

    Example:
        >>> tt.cuda.seed()
    """
    if is_available():
        _generator(None).seed()


def seed_all() -> None:
    """Seed the generators of all devices with one seed from the operating system's randomness.

    Example:
        >>> tt.cuda.seed_all()
    """
    if is_available():
        manual_seed_all(_generator(None).seed())


def initial_seed() -> int:
    """Seed of the current device's generator.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     found = tt.cuda.initial_seed()
    """
    return _generator(None).initial_seed()


def get_rng_state(device: Any = "cuda") -> Tensor:
    """State of a device's generator, as a tensor of bytes on the CPU.

    Args:
        device: An index, ``"cuda:1"`` or a device. Default: the current device.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     state = tt.cuda.get_rng_state()
    """
    return _generator(device).get_state()


def get_rng_state_all() -> list[Tensor]:
    """States of all devices' generators; ``[]`` without a device.

    Example:
        >>> len(tt.cuda.get_rng_state_all()) == tt.cuda.device_count()
        True
    """
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state(new_state: Tensor, device: Any = "cuda") -> None:
    """Set the state of a device's generator to one that ``get_rng_state`` returned.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.set_rng_state(tt.cuda.get_rng_state())
    """
    _generator(device).set_state(new_state)


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Set the states of all devices' generators to those that ``get_rng_state_all`` returned.

    Example:
        >>> tt.cuda.set_rng_state_all(tt.cuda.get_rng_state_all())
    """
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
