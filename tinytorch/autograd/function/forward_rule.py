"""The ``jvp`` of a user's ``Function``, which forward mode takes in the place of ``backward``.

Tangents come from two backward passes, see ``func.forward``; the first one multiplies with the
transposed Jacobian. Where the user says what the Jacobian does to tangents, that is transposed: the
gradient, by the tangents, of what comes out.
"""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor, wrap
from ...state import Variable, enable_grad
from ..derivatives import gradients

#: Whether a first pass is under way, which is to follow ``jvp``.
PUSHING: Variable[bool] = Variable("pushing_tangents", False)


def likes(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What is to be known of the arguments to make tangents of them; None for no tensor."""
    return tuple(
        (a._data.shape, a._data.dtype, a._xp)
        if isinstance(a, Tensor) and a._data.dtype.kind in "fcV" else None for a in args
    )  # fmt: skip


def transposed(jvp: Any, ctx: Any, grads: list[Any]) -> tuple[Any, ...]:
    """The gradients of the arguments that ``jvp`` stands for.

    Args:
        jvp: The user's function of ``ctx`` and a tangent, or None, per argument.
        ctx: What ``forward`` left.
        grads: The gradients of the results, None for those that nothing depends on.
    """
    leaves = [None if like is None else _leaf(*like) for like in ctx._likes]
    with enable_grad():
        moved = jvp(ctx, *(None if leaf is None else leaf.clone() for leaf in leaves))
    results = moved if isinstance(moved, tuple) else (moved,)
    _check(ctx, results, len(grads))
    for result, g in zip(results, grads, strict=True):
        if isinstance(result, Tensor) and g is not None and result.shape != g.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the "
                "original Tensor, this is not supported. Tensor is of size "
                f"{list(g.shape)} while the given forward gradient is of size "
                f"{list(result.shape)}."
            )
    pairs = [(r, g) for r, g in zip(results, grads, strict=True)
             if isinstance(r, Tensor) and r.requires_grad and g is not None]  # fmt: skip
    if not pairs:
        return (None,) * len(leaves)
    outputs, weights = zip(*pairs, strict=True)
    wanted = [leaf for leaf in leaves if leaf is not None]
    found = iter(gradients(outputs, tuple(wanted), weights, True))
    return tuple(None if leaf is None else next(found) for leaf in leaves)


def _check(ctx: Any, results: tuple[Any, ...], expected: int) -> None:
    if len(results) != expected:
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{expected} but got {len(results)})"
        )
    for place in ctx._constant:
        if results[place] is not None:
            raise RuntimeError(
                f"Function's jvp returned a gradient at position {place}, but the corresponding "
                "forward output is not a differentiable Tensor. You should return None at that "
                "position instead."
            )


def _leaf(shape: Any, dtype: Any, xp: Any) -> Any:
    return wrap(xp.zeros(shape, dtype), xp).requires_grad_()
