"""How far apart two results are, in words."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.tensor import Tensor


def scalar_text(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    """What to say of two numbers."""
    absolute = abs(actual - expected)
    relative = float("inf") if expected == 0 else absolute / abs(expected)
    return "\n".join(
        (
            f"Scalars are not {_close(rtol, atol)}!",
            "",
            f"Expected {expected} but got {actual}.",
            f"Absolute difference: {absolute}{_allowed(atol, rtol, atol)}",
            f"Relative difference: {relative}{_allowed(rtol, rtol, atol)}",
        )
    )


def tensor_text(a: Tensor, b: Tensor, matches: Tensor, rtol: float, atol: float) -> str:
    """What to say of two tensors of one shape, device and dtype, of which some elements match."""
    if not a.shape:
        return scalar_text(a.item(), b.item(), rtol, atol)
    count = matches.numel()
    wrong = count - int(matches.sum())
    if not (a.is_floating_point() or a.is_complex()):  # differences of bytes may be no bytes
        a, b = a.to(dtypes.int64), b.to(dtypes.int64)
    absolute = (a - b).abs().masked_fill(matches, 0)
    relative = (absolute / b.abs()).masked_fill(matches, 0)
    return "\n".join(
        (
            f"Tensor-likes are not {_close(rtol, atol)}!",
            "",
            f"Mismatched elements: {wrong} / {count} ({wrong / count:.1%})",
            f"Greatest absolute difference: {_greatest(absolute)}{_allowed(atol, rtol, atol)}",
            f"Greatest relative difference: {_greatest(relative)}{_allowed(rtol, rtol, atol)}",
        )
    )


def _close(rtol: float, atol: float) -> str:
    return "equal" if rtol == 0 and atol == 0 else "close"


def _allowed(tolerance: float, rtol: float, atol: float) -> str:
    return "" if rtol == 0 and atol == 0 else f" (up to {tolerance} allowed)"


def _greatest(differences: Tensor) -> str:
    """The largest, or the first that is no number, and where in the tensor it is."""
    flat = differences.flatten()
    place = int(flat.argmax())
    index: list[int] = []
    rest = place
    for size in reversed(differences.shape):
        rest, here = divmod(rest, size)
        index.insert(0, here)
    return f"{flat[place].item()} at index {tuple(index)}"
