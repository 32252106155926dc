"""Dual tensors: a value and how it changes, which what is computed from it carries on.

A dual tensor is a stand-in for its primal whose gradient can be taken, and the tangent of what was
computed from it comes, when ``unpack_dual`` asks, from two backward passes, as that of
``func.jvp``: exactly what forward mode gives, of every operation that has a second derivative.
What differs: dual tensors require grad; one whose primal does, too, is not to be written to, nor
what an earlier result needs, unless under ``graph.allow_mutation_on_saved_tensors``; and what runs
under ``no_grad`` inside the level is constant to it; around the level it makes no difference.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, ContextDecorator
from typing import Any, NamedTuple

from ..core.tensor import Tensor
from ..graph.nodes import reachable
from ..graph.views import edge_of
from ..state import Variable
from .levels import Level, Push, check_sizes, entered, writable_for

__all__ = [
    "UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
    "unpack_dual",
]  # fmt: skip


class UnpackedDualTensor(NamedTuple):
    """What ``unpack_dual`` returns.

    Attributes:
        primal: The value.
        tangent: How it changes; None for a tensor that does not depend on dual ones.
    """

    primal: Tensor
    tangent: Tensor | None


class _DualLevel:
    """The level that is open, and the dual tensors made in it."""

    def __init__(self) -> None:
        self.block: AbstractContextManager[Level] = entered(Level)
        self.level = self.block.__enter__()
        self.tangents: list[Tensor] = []

    def add(self, primal: Tensor, tangent: Tensor) -> Tensor:
        if self._depends(primal):
            raise RuntimeError(
                "Making a dual Tensor based on a Tensor that already has a forward gradient at "
                "the same level 0 is not supported."
            )
        given = self.level.stand_in(primal)
        self.level.given += (given,)
        self.tangents.append(tangent)
        return writable_for(given)

    def _depends(self, primal: Tensor) -> bool:
        """Whether ``primal`` has a tangent already."""
        found = reachable((edge_of(primal),)) if primal.requires_grad else ()
        return any(id(edge_of(given)) in found for given in self.level.given)

    def unpack(self, tensor: Tensor) -> UnpackedDualTensor:
        if not (tensor.requires_grad and self.tangents):
            return UnpackedDualTensor(tensor, None)
        push = Push(self.level, (tensor,))
        primal = self.level.let_out(tensor)
        if all(back is None for back in push.back):
            return UnpackedDualTensor(primal, None)
        pairs = zip(self.tangents, self.level.given, strict=True)
        tangents = tuple(tangent.to(dual.dtype) for tangent, dual in pairs)
        return UnpackedDualTensor(primal, push(tangents, self.level.recording)[0])


#: The level that is open in this context; there is one at most, as in PyTorch.
_OPEN: Variable[_DualLevel | None] = Variable("dual_level", None)


def enter_dual_level() -> int:
    """Open a level: until it is closed, ``make_dual`` makes dual tensors. See ``dual_level``.

    Returns:
        The level's number, 0.

    Raises:
        RuntimeError: If one is open.

    Example:
        >>> from tinytorch.autograd import forward_ad
        >>> level = forward_ad.enter_dual_level()
        >>> x = forward_ad.make_dual(tt.tensor(3.0), tt.tensor(1.0))
        >>> forward_ad.unpack_dual(x * x).tangent
        tensor(6.)
        >>> forward_ad.exit_dual_level()
    """
    if _OPEN.get() is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _OPEN.set(_DualLevel())
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level: what was a dual tensor has no tangent any more.

    Args:
        level: Its number. Default: that of the open one.

    Raises:
        RuntimeError: If no level is open, or that is not its number.

    Example:
        >>> from tinytorch.autograd import forward_ad
        >>> level = forward_ad.enter_dual_level()
        >>> x = forward_ad.make_dual(tt.tensor(3.0), tt.tensor(1.0))
        >>> forward_ad.exit_dual_level()
        >>> forward_ad.unpack_dual(x).tangent is None
        True
    """
    opened = _OPEN.get()
    if level is not None and level != (-1 if opened is None else 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This "
            "is not supported."
        )
    if opened is None:
        raise RuntimeError("Dual level must be a positive number.")
    _OPEN.set(None)
    opened.block.__exit__(None, None, None)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor on the memory of ``tensor`` that carries ``tangent``.

    Args:
        tensor: The value, of a floating or complex dtype.
        tangent: How it changes, of the same shape.
        level: The level's number. Default: that of the open one.

    Raises:
        RuntimeError: Outside of a level, or for other shapes.
        ValueError: For integers.

    Example:
        >>> import tinytorch.autograd.forward_ad as forward_ad
        >>> with forward_ad.dual_level():
        ...     x = forward_ad.make_dual(tt.tensor([0.0, 1.0]), tt.ones(2))
        ...     forward_ad.unpack_dual(x.sin()).tangent
        tensor([1.0000, 0.5403])
    """
    opened = _OPEN.get()
    if opened is None or (level is not None and level < 0):
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for name, value in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(value, Tensor):
            raise TypeError(f"make_dual(): {name} must be Tensor, not {type(value).__name__}")
        if not (value.is_floating_point() or value.is_complex()):
            raise ValueError(
                f"Expected {name} to be floating point or complex, but got: {value.dtype}"
            )
    check_sizes(tensor, tangent)
    return opened.add(tensor, tangent)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The value of a tensor and, if it depends on dual tensors, how it changes with them.

    Args:
        tensor: Any tensor.
        level: The level's number. Default: that of the open one.

    Returns:
        The primal and the tangent; the latter is None outside of a level, too.

    Raises:
        RuntimeError: If ``level`` is no level.

    Example:
        >>> import tinytorch.autograd.forward_ad as forward_ad
        >>> with forward_ad.dual_level():
        ...     x = forward_ad.make_dual(tt.tensor(3.0), tt.tensor(2.0))
        ...     forward_ad.unpack_dual(x * x)
        UnpackedDualTensor(primal=tensor(9.), tangent=tensor(12.))
    """
    opened = _OPEN.get()
    if opened is None or (level is not None and level < 0):
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise TypeError(
            "_unpack_dual(): argument 'dual' (position 1) must be Tensor, not "
            f"{type(tensor).__name__}"
        )
    if level:
        raise RuntimeError("Invalid level given to _fw_primal")
    return opened.unpack(tensor)


class dual_level(ContextDecorator):
    """Open a level of dual tensors for a ``with`` block, or while a function runs.

    Example:
        >>> import tinytorch.autograd.forward_ad as forward_ad
        >>> with forward_ad.dual_level():
        ...     x = forward_ad.make_dual(tt.ones(2), tt.tensor([1.0, 0.0]))
        ...     value, change = forward_ad.unpack_dual((x**3).sum())
        >>> value, change
        (tensor(2.), tensor(3.))

    Reference: https://pytorch.org/docs/stable/autograd.html#forward-mode-automatic-differentiation
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exception: Any) -> None:
        exit_dual_level()
