"""What drawing by ``numpy.random``'s functions gives: a number, or an array where a size is given.

By how many parameters a law has; ``N`` is ``int`` for laws of whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, TypeVar, overload

from .ndarray import ndarray

N = TypeVar("N", covariant=True)
Sizes: TypeAlias = int | Sequence[int]


class Law0(Protocol[N]):
    """Of no parameters."""

    @overload
    def __call__(self) -> N: ...
    @overload
    def __call__(self, size: Sizes, /, **options: Any) -> ndarray: ...
    @overload
    def __call__(self, *, size: Sizes, **options: Any) -> ndarray: ...


class Law1(Protocol[N]):
    """Of one parameter."""

    @overload
    def __call__(self, a: Any = ..., /, *, size: Sizes, **options: Any) -> ndarray: ...
    @overload
    def __call__(self, a: float = ..., /, **options: float) -> N: ...
    @overload
    def __call__(self, a: Any = ..., size: Any = ..., /, **options: Any) -> ndarray: ...


class Law2(Protocol[N]):
    """Of two parameters."""

    @overload
    def __call__(
        self, a: Any = ..., b: Any = ..., /, *, size: Sizes, **options: Any
    ) -> ndarray: ...
    @overload
    def __call__(self, a: float = ..., b: float = ..., /, **options: float) -> N: ...
    @overload
    def __call__(
        self, a: Any = ..., b: Any = ..., size: Any = ..., /, **options: Any
    ) -> ndarray: ...


class Law3(Protocol[N]):
    """Of three parameters."""

    @overload
    def __call__(
        self, a: Any = ..., b: Any = ..., c: Any = ..., /, *, size: Sizes, **options: Any
    ) -> ndarray: ...
    @overload
    def __call__(
        self, a: float = ..., b: float = ..., c: float = ..., /, **options: float
    ) -> N: ...
    @overload
    def __call__(
        self, a: Any = ..., b: Any = ..., c: Any = ..., size: Any = ..., /, **options: Any
    ) -> ndarray: ...


class Sized(Protocol):
    """The laws whose parameters are the sizes."""

    @overload
    def __call__(self) -> float: ...
    @overload
    def __call__(self, size: int, /, *sizes: int) -> ndarray: ...
