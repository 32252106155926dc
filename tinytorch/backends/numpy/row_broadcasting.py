"""NumPy's operations on rows and a number for each row, without the buffers that slow them down.

Where several rows fit NumPy's buffer, of 8192 elements, its operations of two arrays copy what is
repeated along the rows into it: two to three times as slow as row after row. With a smaller
buffer than a row there is nothing to copy.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from types import TracebackType

import numpy

#: Shorter rows are faster in the buffer.
_SHORT = 256
#: Of longer ones no two fit it.
_LONG = 4096
#: Fewer elements than this are not worth two changes of the buffer's size.
_FEW = 32768


class _SmallBuffer:
    """While open, this thread's operations have a buffer smaller than any row."""

    __slots__ = ("_size",)

    def __enter__(self) -> None:
        self._size = numpy.setbufsize(_SHORT)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        numpy.setbufsize(self._size)


_AS_IT_IS: AbstractContextManager[None] = nullcontext()


def row_after_row(row: int, size: int) -> AbstractContextManager[None]:
    """What to open for operations on ``size`` elements in rows of ``row``."""
    return _SmallBuffer() if _SHORT <= row <= _LONG and size >= _FEW else _AS_IT_IS
