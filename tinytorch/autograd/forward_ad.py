"""Forward-mode differentiation with dual tensors: a value, the primal, and its tangent.

A dual tensor is a tensor on the memory of its primal that requires grad. ``unpack_dual`` computes
the tangent of a result by two backward passes, as ``func.jvp`` does. The tangent is that of forward
mode, for every operation that has a second derivative. There are three differences to PyTorch:

* Dual tensors require grad.
* A dual tensor whose primal requires grad may not be written to, nor a tensor that the gradient of
  an earlier result needs, except under ``graph.allow_mutation_on_saved_tensors``.
* Results computed under ``no_grad`` inside the level are constants. ``no_grad`` around the level
  has no effect on it.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, ContextDecorator
from typing import Any, NamedTuple

from ..core.tensor import Tensor
from ..graph.nodes import reachable
from ..graph.views import edge_of
from ..state import Variable
from .levels import JacobianProduct, Level, check_tangent_shape, enter_level, writable_input

__all__ = [
    "UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
    "unpack_dual",
]  # fmt: skip


class UnpackedDualTensor(NamedTuple):
    """Result of ``unpack_dual``.

    Attributes:
        primal: The value.
        tangent: Its tangent; None for a tensor that does not depend on dual tensors.
    """

    primal: Tensor
    tangent: Tensor | None


class _DualLevel:
    """A level, with the tangents of the dual tensors created in it."""

    def __init__(self) -> None:
        self.block: AbstractContextManager[Level] = enter_level(Level)
        self.level: Level
        self.tangents: list[Tensor] = []

    def enter(self) -> None:
        """Make it the current level."""
        try:
            self.level = self.block.__enter__()
            _CURRENT_LEVEL.set(self)
        except BaseException:  # such as a KeyboardInterrupt
            _CURRENT_LEVEL.set(None)
            self.block.__exit__(*sys.exc_info())
            raise

    def exit(self) -> None:
        """Make no level the current one; a second call does nothing."""
        self.block.__exit__(None, None, None)
        _CURRENT_LEVEL.set(None)

    def add(self, primal: Tensor, tangent: Tensor) -> Tensor:
        """Create a dual tensor."""
        if self._has_tangent(primal):
            raise RuntimeError(
                "Making a dual Tensor based on a Tensor that already has a forward gradient at "
                "the same level 0 is not supported."
            )
        dual = self.level.wrap_input(primal)
        self.level.inputs += (dual,)
        self.tangents.append(tangent)
        return writable_input(dual)

    def _has_tangent(self, primal: Tensor) -> bool:
        """Whether ``primal`` depends on a dual tensor of this level."""
        found = reachable((edge_of(primal),)) if primal.requires_grad else ()
        return any(id(edge_of(dual)) in found for dual in self.level.inputs)

    def unpack(self, tensor: Tensor) -> UnpackedDualTensor:
        """Compute the primal and the tangent of a tensor."""
        if not (tensor.requires_grad and self.tangents):
            return UnpackedDualTensor(tensor, None)
        product = JacobianProduct(self.level, (tensor,))
        primal = self.level.export(tensor)
        if all(back is None for back in product.back):
            return UnpackedDualTensor(primal, None)
        pairs = zip(self.tangents, self.level.inputs, strict=True)
        tangents = tuple(tangent.to(dual.dtype) for tangent, dual in pairs)
        return UnpackedDualTensor(primal, product(tangents, self.level.recording)[0])


#: The level that has been entered in this context; there is one at most, as in PyTorch.
_CURRENT_LEVEL: Variable[_DualLevel | None] = Variable("dual_level", None)


def enter_dual_level() -> int:
    """Enter a level: until it exits, ``make_dual`` creates dual tensors. See ``dual_level``.

    Returns:
        The level's number, 0.

    Raises:
        RuntimeError: If a level has been entered already.

    Example:
        >>> from tinytorch.autograd import forward_ad
        >>> level = forward_ad.enter_dual_level()
        >>> x = forward_ad.make_dual(tt.tensor(3.0), tt.tensor(1.0))
        >>> forward_ad.unpack_dual(x * x).tangent
        tensor(6.)
        >>> forward_ad.exit_dual_level()
    """
    if _CURRENT_LEVEL.get() is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _DualLevel().enter()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Exit the level: its dual tensors no longer have tangents.

    Args:
        level: Its number. Default: that of the current level.

    Raises:
        RuntimeError: If there is no current level, or ``level`` is not its number.

    Example:
        >>> from tinytorch.autograd import forward_ad
        >>> level = forward_ad.enter_dual_level()
        >>> x = forward_ad.make_dual(tt.tensor(3.0), tt.tensor(1.0))
        >>> forward_ad.exit_dual_level()
        >>> forward_ad.unpack_dual(x).tangent is None
        True
    """
    current = _CURRENT_LEVEL.get()
    if level is not None and level != (-1 if current is None else 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This "
            "is not supported."
        )
    if current is None:
        raise RuntimeError("Dual level must be a positive number.")
    current.exit()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """Return a dual tensor on the memory of ``tensor`` with the tangent ``tangent``.

    Args:
        tensor: The primal, of a floating-point or complex dtype.
        tangent: Its tangent, of the same shape.
        level: The level's number. Default: that of the current level.

    Raises:
        RuntimeError: Outside of a level, or if the shapes differ.
        ValueError: For tensors of integers.

    Example:
        >>> import tinytorch.autograd.forward_ad as forward_ad
        >>> with forward_ad.dual_level():
        ...     x = forward_ad.make_dual(tt.tensor([0.0, 1.0]), tt.ones(2))
        ...     forward_ad.unpack_dual(x.sin()).tangent
        tensor([1.0000, 0.5403])
    """
    current = _CURRENT_LEVEL.get()
    if current is None or (level is not None and level < 0):
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
    check_tangent_shape(tensor, tangent)
    return current.add(tensor, tangent)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Return the primal and the tangent of a tensor.

    Args:
        tensor: Any tensor.
        level: The level's number. Default: that of the current level.

    Returns:
        The primal and the tangent. The tangent is None outside of a level, and for a tensor that
        does not depend on dual tensors.

    Raises:
        RuntimeError: If ``level`` is not the number of a level.

    Example:
        >>> import tinytorch.autograd.forward_ad as forward_ad
        >>> with forward_ad.dual_level():
        ...     x = forward_ad.make_dual(tt.tensor(3.0), tt.tensor(2.0))
        ...     forward_ad.unpack_dual(x * x)
        UnpackedDualTensor(primal=tensor(9.), tangent=tensor(12.))
    """
    current = _CURRENT_LEVEL.get()
    if current is None or (level is not None and level < 0):
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise TypeError(
            "_unpack_dual(): argument 'dual' (position 1) must be Tensor, not "
            f"{type(tensor).__name__}"
        )
    if level:
        raise RuntimeError("Invalid level given to _fw_primal")
    return current.unpack(tensor)


class dual_level(ContextDecorator):
    """Level of dual tensors for a ``with`` block, or, as a decorator, for the calls of a function.

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
        try:
            exit_dual_level()
        except BaseException:  # such as a KeyboardInterrupt
            current = _CURRENT_LEVEL.get()
            if current is not None:
                current.exit()
            raise
