"""Batches in pinned host memory, from which a GPU copies while the program goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...backends import BackendUnavailableError, load
from ...core.tensor import Tensor
from ...warnings import warn


def pinning(wanted: bool, device: str = "") -> Callable[[Any], Any] | None:
    """What to do with each batch, None for nothing; a warning where there is no GPU."""
    if not wanted:
        return None
    if device:
        warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the device,"
            f"ignore pin_memory_device='{device}'."
        )
    try:
        load("cupy")
    except BackendUnavailableError:
        warn(
            "'pin_memory' argument is set as true but no accelerator is found, then device "
            "pinned memory won't be used.",
        )
        return None
    return pin


def pin(batch: Any) -> Any:
    """``batch`` with every tensor in it pinned, also inside containers.

    Anything else that has a method ``pin_memory`` is asked for it; the rest stays as it is.
    """
    if isinstance(batch, Tensor) or hasattr(batch, "pin_memory"):
        return batch.pin_memory()
    if isinstance(batch, (str, bytes)):
        return batch
    if isinstance(batch, Mapping):
        made: Any = {key: pin(value) for key, value in batch.items()}
        return made if type(batch) is dict else type(batch)(made)  # type: ignore[call-arg]
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*map(pin, batch))
    if isinstance(batch, (tuple, list)):
        return type(batch)(map(pin, batch))
    return [pin(item) for item in batch] if isinstance(batch, Sequence) else batch
