"""``TorchVersion``, a string that is compared as a version number."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["TorchVersion"]


class TorchVersion(str):
    """Text of a version, which is compared by its numbers instead of its characters.

    Example:
        >>> from tinytorch.torch_version import TorchVersion
        >>> TorchVersion("2.13.0") > "2.4", TorchVersion("2.13.0") >= (2, 0)
        (True, True)
    """

    __slots__ = ()

    def __lt__(self, other: Any) -> bool:
        return _numbers(self) < _numbers(other)

    def __le__(self, other: Any) -> bool:
        return _numbers(self) <= _numbers(other)

    def __gt__(self, other: Any) -> bool:
        return _numbers(self) > _numbers(other)

    def __ge__(self, other: Any) -> bool:
        return _numbers(self) >= _numbers(other)

    def __eq__(self, other: object) -> bool:
        return _numbers(self) == _numbers(other)

    __hash__ = str.__hash__


def _numbers(version: Any) -> tuple[int, ...]:
    """Return the numbers of a release without zeros at the end: (1, 10) for ``1.10.0a0+cpu``."""
    text = version if isinstance(version, str) else ".".join(map(str, version))
    found = re.match(r"[\d.]*", text)
    numbers = [int(part) for part in (found[0] if found else "").split(".") if part]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
