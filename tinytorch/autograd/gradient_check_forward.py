"""Tangents against finite differences: the part of ``gradcheck`` that looks at dual tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..core.tensor import Tensor, wrap


class GradcheckError(RuntimeError):
    """A gradient differs from its finite differences."""


class Limits(NamedTuple):
    """Which output is looked at, and how much its derivatives may differ."""

    at: int
    atol: float
    rtol: float

    def differ(self, analytical: complex, numerical: complex) -> bool:
        """Whether they differ by more, as NaN does."""
        return not abs(analytical - numerical) <= self.atol + self.rtol * abs(numerical)


def differentiable_outputs(func: Callable[..., Any], args: tuple[Any, ...]) -> list[Tensor]:
    """What ``func`` gives, without what no gradient flows through."""
    out = func(*args)
    outs = out if isinstance(out, (tuple, list)) else (out,)
    return [o for o in outs if isinstance(o, Tensor) and (o.is_floating_point() or o.is_complex())]


def directions(tensor: Tensor) -> list[complex]:
    """Along which each element moves."""
    return [1.0, 1j] if tensor.is_complex() else [1.0]


def check_forward(
    func: Any, args: tuple[Any, ...], watched: list[Tensor], numerical: list[Any], limits: Limits
) -> None:
    """GradcheckError if the tangents of an output differ from its finite differences.

    Args:
        func: The function.
        args: Its arguments.
        watched: Those that require grad.
        numerical: For each of them a row per element of the output, and part of it where it is
            complex: how that changes with each element of the argument, ``1j`` times with its
            imaginary part.
        limits: Which output, and the tolerances.
    """
    for number, (tensor, rows) in enumerate(zip(watched, numerical, strict=True)):
        for column in range(tensor.numel()):
            for part in directions(tensor):
                moved = _tangent(func, args, tensor, column, part, limits.at)
                for row, have in zip(rows, moved, strict=True):
                    want = complex(row[column])
                    want = want.real if part == 1.0 else want.imag
                    if limits.differ(have, want):
                        raise GradcheckError(
                            f"Jacobian computed with forward mode mismatch for output {limits.at} "
                            f"with respect to input {number}, at element {column} of the input: "
                            f"numerical {want}, analytical {have}"
                        )


def _tangent(
    func: Any, args: tuple[Any, ...], tensor: Tensor, column: int, part: complex, at: int
) -> list[float]:
    """How each element of the output, or each part of it, moves with one of the input."""
    from .forward_ad import dual_level, make_dual, unpack_dual

    with dual_level():
        duals = [
            make_dual(arg.detach(), _unit(arg, column if arg is tensor else None, part))
            if isinstance(arg, Tensor) and arg.requires_grad else arg for arg in args
        ]  # fmt: skip
        out = differentiable_outputs(func, tuple(duals))[at]
        moved = unpack_dual(out).tangent
    parts = len(directions(out))
    if moved is None:
        return [0.0] * (out.numel() * parts)
    values = moved.detach().reshape(-1).tolist()
    return [x for v in values for x in ((v.real, v.imag) if parts == 2 else (v,))]


def _unit(like: Tensor, column: int | None, part: complex) -> Tensor:
    """Zeros like a tensor, but for one element."""
    data = like._xp.zeros(like._data.shape, like._data.dtype)
    if column is not None:
        data.reshape(-1)[column] = part
    return wrap(data, like._xp)
