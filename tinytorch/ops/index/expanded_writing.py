"""Writing where one element of memory stands for many of a tensor's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.out import check_writable
from ...state import grad_enabled
from ...warnings import warn


@contextmanager
def opened(name: str, target: Tensor, value: Any, refused: bool = False) -> Iterator[None]:
    """Let an expanded tensor be written to: of what goes to one element the last number stays.

    Raises:
        RuntimeError: If that is ``refused``, or a gradient of it would be wanted, which has no
            place for what was written over; or if the memory is read-only for another reason.
    """
    xp = target._xp
    wants = grad_enabled() and (target.requires_grad or getattr(value, "requires_grad", False))
    if refused or wants or xp.memory_is_readonly(target._data):
        check_writable(name, target)
    warn(
        f"Use of {name}_ on expanded tensors is deprecated, for one element stands for many "
        "there. Please clone() the tensor first."
    )
    closed = target._data
    target._data = xp.opened(closed)
    try:
        yield
    finally:
        target._data = closed
