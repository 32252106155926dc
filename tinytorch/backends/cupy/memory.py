"""CuPy's lack of memory as the error that programs expect: torch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import OutOfMemoryError

#: What tells our allocator from CuPy's.
_MARK = "of_tinytorch"


def raise_torchs_error(cupy: Any) -> None:
    """Have CuPy's allocator, whichever it is, raise an ``OutOfMemoryError`` that is ours too.

    Programs catch it to try again with less, as ``torch.cuda.OutOfMemoryError`` or as a
    RuntimeError; those that know CuPy still get a MemoryError, of CuPy's own class.
    """
    allocate = cupy.cuda.get_allocator()
    if hasattr(allocate, _MARK):
        return
    try:
        cupy.cuda.set_allocator(_translating(allocate, cupy.cuda.memory.OutOfMemoryError))
    except ValueError:  # inside ``using_allocator`` the program has chosen one
        return


def _translating(allocate: Callable[[int], Any], error: type[Exception]) -> Callable[[int], Any]:
    # CuPy's own __init__ wants sizes; Python 3.14 finds it before that of RuntimeError.
    members = {"__module__": "tinytorch", "__reduce__": _reduce, "__init__": Exception.__init__}
    both = type("OutOfMemoryError", (OutOfMemoryError, error), members)

    def allocating(size: int) -> Any:
        try:
            return allocate(size)
        except error as found:
            raise both(
                f"CUDA out of memory. Tried to allocate {size / 2**20:.2f} MiB. {found}"
            ) from found

    setattr(allocating, _MARK, True)
    return allocating


def _reduce(self: Exception) -> tuple[type[Exception], tuple[Any, ...]]:
    """A process without CuPy can read it."""
    return OutOfMemoryError, self.args
