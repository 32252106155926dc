"""Memory that is read while it is written to: which overlaps are refused, as in PyTorch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..backends.storage import dense_order
from ..core.tensor import Tensor
from .spec import Op


def check_overlap(target: Tensor, data: Any, others: Iterable[Any], alone: bool = False) -> None:
    """RuntimeError if elements about to be written to are read for others, too.

    As PyTorch does, this looks at tensors without gaps alone, and lets pass those that share each
    element with the same element of the target.

    Args:
        target: A tensor.
        data: The array that is written to: its own, or a part of that.
        others: What is read; no matter what is no tensor.
        alone: Whether even the target itself must not be read, because elements are written in
            another order than they are read.
    """
    shared = target._vc  # tensors that share memory share that
    for other in others:
        if isinstance(other, Tensor) and other._vc is shared:
            if shared is None and other is not target:
                continue
            if _meet(target._xp, data, other._data, alone):
                raise RuntimeError(
                    "unsupported operation: some elements of the input tensor and the written-to "
                    "tensor refer to a single memory location. Please clone() the tensor before "
                    "performing the operation."
                )


def check_out(op: Op, out: Any, args: Iterable[Any]) -> None:
    """``check_overlap`` for ``out=`` of operations that write while they read."""
    alone = op.plan.picks or op.plan.sequence is not None or op.buffered == "apart"
    elementwise = op.inplace or op.buffered in (False, "first")
    if op.kernel is not None:
        elementwise = elementwise or op.promote is not None or op.plan.params == ("input",)
    if op.buffered is True and not op.inplace or not (alone or elementwise):
        return
    read = [t for arg in args for t in (arg if isinstance(arg, (tuple, list)) else (arg,))]
    if op.buffered in (True, "first"):  # the others are read before, but this is copied to ``out``
        read = read[:1]
    # Where there is an in-place form, the first one's elements go to the same places.
    first, rest = (read[:1], read[1:]) if op.plan.picks and op.inplace else ([], read)
    for each in out if isinstance(out, (tuple, list)) else (out,):
        if isinstance(each, Tensor):
            check_overlap(each, each._data, first)
            check_overlap(each, each._data, rest, alone)


def check_resized(op: Op, out: Any, result: Any, args: tuple[Any, ...]) -> None:
    """RuntimeError where ``out=`` would have to be resized and is an operand itself.

    As in PyTorch, reductions may resize what they read.
    """
    if not isinstance(out, Tensor) or not isinstance(result, Tensor):
        return
    shape, wanted = out._data.shape, result._data.shape
    if shape == wanted or not any(arg is out for arg in args):
        return
    several = sum(isinstance(arg, Tensor) for arg in args) > 1
    grows = op.kernel is None and (len(wanted), result._data.size) > (len(shape), out._data.size)
    if op.is_elementwise or several and (grows or op.promote is not None):
        raise RuntimeError(
            f"{op.name}(): output with shape {list(shape)} doesn't match the broadcast shape "
            f"{list(wanted)}"
        )


def _meet(xp: Any, a: Any, b: Any, alone: bool) -> bool:
    if a is b:
        return alone
    if not a.size or not b.size or dense_order(a) is None or dense_order(b) is None:
        return False
    first, second = xp.address(a), xp.address(b)
    if first == second and a.nbytes == b.nbytes and a.ndim == b.ndim:
        steps = zip(a.shape, a.strides, b.strides, strict=True)
        if all(n == 1 or s == t for n, s, t in steps):
            return alone
    return bool(first < second + b.nbytes and second < first + a.nbytes)
