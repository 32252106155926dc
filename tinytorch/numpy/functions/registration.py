"""Signatures for type checkers, of functions whose result depends on how they are called."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from ...dispatch.op import composite

F = TypeVar("F")


class Filing(Protocol):
    """What ``numpy_function`` is: a decorator that files a function under ``tinytorch.numpy``."""

    def __call__(self, function: F, /) -> F: ...


def _with_forms(*forms: str) -> Filing:
    filing: Any = composite(namespaces=("numpy",), forms=forms)
    return filing  # type: ignore[no-any-return]


#: Files a function under ``tinytorch.numpy``.
numpy_function: Filing = _with_forms()
#: As many results as arguments, one alone without a tuple.
one_or_several = _with_forms("(ary: Any, /) -> Tensor", "(*arys: Any) -> tuple[Tensor, ...]")
#: Also the step, if asked for.
with_step = _with_forms(
    "(..., retstep: Literal[False] = False) -> Tensor",
    "(..., retstep: Literal[True]) -> tuple[Tensor, Tensor]",
)
#: Places where nothing is to be chosen from.
choosing = _with_forms(
    "(condition: Any, x: Any, y: Any, /) -> Tensor",
    "(condition: Any, /) -> tuple[Tensor, ...]",
)
#: Also places and counts, if asked for.
with_places = _with_forms(
    "(..., return_index: Literal[False] = False, return_inverse: Literal[False] = False, "
    "return_counts: Literal[False] = False) -> Tensor",
    "(..., return_index: Literal[True]) -> tuple[Tensor, ...]",
    "(..., return_inverse: Literal[True]) -> tuple[Tensor, ...]",
    "(..., return_counts: Literal[True]) -> tuple[Tensor, ...]",
)
#: Also how good it is, if asked for.
with_fit = _with_forms(
    "(..., full: Literal[False] = False, cov: Literal[False] = False) -> Tensor",
    "(..., full: Literal[True]) -> tuple[Tensor, Tensor, int, Tensor, float]",
    "(..., cov: Literal[True, 'unscaled']) -> tuple[Tensor, Tensor]",
)
