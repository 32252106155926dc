"""What Python's functions for numbers call: ``round``, ``divmod``, ``math.floor`` and its kin.

A tensor of one element is a number to them; of one with more they take each element.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..core import torch_function_members
from ..core.tensor import Tensor


def rounded(self: Tensor, ndigits: int | None = None) -> Any:
    """What ``round(tensor, ndigits)`` gives; halves go to the even neighbour.

    Args:
        ndigits: Decimal places to keep; default none, and of a single element an int.

    Returns:
        An int, or a tensor of the same dtype, through which gradients flow as through ``round``.

    Example:
        >>> import tinytorch as tt
        >>> round(tt.tensor(2.5)), round(tt.tensor([0.126, 2.5]), 2)
        (2, tensor([0.1300, 2.5000]))
    """
    if ndigits is None and self.numel() == 1:
        return round(self.item())
    found: Any = self
    return found.round(decimals=ndigits or 0)


def quotient_and_remainder(self: Tensor, other: Any) -> tuple[Tensor, Tensor]:
    """What ``divmod(tensor, other)`` gives: ``tensor // other`` and ``tensor % other``.

    Args:
        other: Tensor or number.

    Example:
        >>> import tinytorch as tt
        >>> divmod(tt.tensor([7, -7]), 2)
        (tensor([ 3, -4]), tensor([1, 1]))
    """
    found: Any = self
    return found // other, found % other


def reflected_quotient_and_remainder(self: Tensor, other: Any) -> tuple[Tensor, Tensor]:
    """What ``divmod(other, tensor)`` gives: ``other // tensor`` and ``other % tensor``.

    Args:
        other: A number.

    Example:
        >>> import tinytorch as tt
        >>> divmod(7, tt.tensor([2, 4]))
        (tensor([3, 1]), tensor([1, 3]))
    """
    return other // self, other % self


def _to_integer(name: str) -> Callable[[Tensor], Any]:
    whole = getattr(math, name)

    def function(self: Tensor) -> Any:
        return whole(self.item()) if self.numel() == 1 else getattr(self, name)()

    function.__name__ = function.__qualname__ = f"__{name}__"
    function.__doc__ = f"""What ``math.{name}(tensor)`` gives: an int, or of more elements a tensor.

    Example:
        >>> import math
        >>> import tinytorch as tt
        >>> math.{name}(tt.tensor(2.5)) == math.{name}(2.5)
        True
    """
    return function


def attach() -> None:
    """Give tensors the protocols."""
    protocols: dict[str, Any] = {
        "__round__": rounded, "__divmod__": quotient_and_remainder,
        "__rdivmod__": reflected_quotient_and_remainder,
        **{f"__{name}__": _to_integer(name) for name in ("floor", "ceil", "trunc")},
    }  # fmt: skip
    for name, function in protocols.items():
        torch_function_members.attach(Tensor, name, function)
