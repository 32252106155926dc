"""``autograd.Variable``: what tensors were wrapped in before they recorded gradients themselves."""

from __future__ import annotations

from typing import Any

from .._tensor import Tensor


class _EveryTensor(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_EveryTensor):
    """A tensor, for programs of before 2018: it shares the memory of ``data``.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.autograd.Variable(tt.ones(2), requires_grad=True)
        >>> isinstance(x, tt.autograd.Variable), x.requires_grad
        (True, True)
    """

    def __new__(cls, data: Tensor, requires_grad: bool = False) -> Tensor:  # type: ignore[misc]
        return data.detach().requires_grad_(requires_grad)
