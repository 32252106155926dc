"""Writes of results to existing tensors: ``out=``, checks of dtypes and of overlapping memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import dtypes
from ..backends.storage import dense_order
from ..core.lazy_bits import stored_pair
from ..core.tensor import Tensor
from ..graph.inference import MAPPED, check_mapped, check_update
from ..state import grad_enabled
from ..warnings import warn
from .operation import Op, Out, Overlap


def write(xp: Any, data: Any, y: Any, name: str) -> None:
    """Copy the result of a kernel into the array of a tensor that is modified in place.

    Args:
        xp: The backend.
        data: The array to write to.
        y: The result, which may have a shape that broadcasts to that of ``data``.
        name: Name of the operation, for errors.

    Raises:
        RuntimeError: If the result does not broadcast, or has a dtype of a higher category, such as
            floats for an array of integers.
    """
    wanted, have = xp.dtype_of(y), xp.dtype_of(data)
    if wanted.category > have.category:
        raise RuntimeError(
            f"{name}_: result type {scalar_name(wanted)} can't be cast to the desired output type "
            f"{scalar_name(have)}"
        )
    if y.shape != data.shape:
        if len(y.shape) > len(data.shape) or any(
            a != b and a != 1 for a, b in zip(y.shape[::-1], data.shape[::-1], strict=False)
        ):
            raise RuntimeError(
                f"{name}_: output with shape {list(data.shape)} doesn't match the broadcast "
                f"shape {list(y.shape)}"
            )
    xp.copyto(data, y, casting="unsafe")


def check_writable(name: str, target: Tensor) -> None:
    """Raise RuntimeError for a tensor that may not be written.

    Several of its elements share memory, or it is an inference tensor, or from outside a ``vmap``.
    """
    _check_writable_here(name, target)
    if has_shared_elements(target):
        raise RuntimeError(
            f"{name}_: unsupported operation: more than one element of the written-to tensor "
            "refers to a single memory location. Please clone() the tensor before performing "
            "the operation."
        )


def has_shared_elements(target: Tensor) -> bool:
    """Whether several elements share memory, as in an expanded tensor, or memory is read-only."""
    return target._xp.readonly(target._data) and not _make_writable(target)


def _check_writable_here(name: str, target: Tensor) -> None:
    """Raise RuntimeError for an inference tensor, or one from outside a ``vmap``."""
    if target._inference:
        check_update(target)
    if MAPPED.get():
        check_mapped(name, target)


def _make_writable(tensor: Tensor) -> bool:
    """Make a part of an expanded tensor writable if its elements share no memory.

    NumPy returns expanded arrays, and parts of them, as read-only.

    Returns:
        Whether the tensor's array is writable now.
    """
    xp = tensor._xp
    if xp.memory_is_readonly(tensor._data):
        return False
    try:
        tensor._data = xp.writable(tensor._data)
    except ValueError:
        return False
    return True


_SCALAR_NAMES = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int",
    "int64": "Long", "float16": "Half", "bfloat16": "BFloat16", "float32": "Float",
    "float64": "Double", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
    "float8_e4m3fn": "Float8_e4m3fn", "float8_e4m3fnuz": "Float8_e4m3fnuz",
    "float8_e5m2": "Float8_e5m2", "float8_e5m2fnuz": "Float8_e5m2fnuz",
    "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
}  # fmt: skip


def scalar_name(dtype: dtypes.dtype) -> str:
    """torch's C++ name of a dtype, used in its error messages."""
    return _SCALAR_NAMES[dtype.name]


def raise_recorded(op: Op) -> None:
    """Raise torch's RuntimeError for ``out=`` in a call that would be recorded."""
    raise RuntimeError(
        f"{op.name}(): functions with out=... arguments don't support automatic "
        "differentiation, but one of the arguments requires grad."
    )


def _is_constant(op: Op) -> bool:
    """Whether an operation has tensor arguments and no derivative, such as a comparison.

    For these torch does not check ``out.requires_grad``.
    """
    return bool(op.plan.tensors) and op.kernel is not None and not op.backward.differentiable


def write_to_out(out: Any, result: Any, op: Op, exact: bool = False, warn: bool = True) -> Any:
    """Write a result, or several, to ``out=``, which is resized as torch resizes it.

    Args:
        out: The argument ``out=``.
        result: A tensor, or a tuple of tensors.
        op: The operation.
        exact: Whether ``out`` must have the result's dtype.
        warn: Whether to warn when a tensor with elements is resized.

    Raises:
        RuntimeError: If the dtype does not fit, or with ``exact`` is another one, or if the device
            is another one.
        TypeError: If ``out`` is no tensor, or has another length than there are results.
    """
    if isinstance(result, tuple):
        if not isinstance(out, (tuple, list)) or len(out) != len(result):
            raise TypeError(f"{op.name}(): argument 'out' must be a tuple of {len(result)} Tensors")
        for o, r in zip(out, result, strict=True):
            write_to_out(o, r, op, op.out not in (Out.CAST_EACH, Out.SAFE_CAST))
        return type(result)._out_type(*out) if hasattr(result, "_out_type") else tuple(out)
    if isinstance(out, (tuple, list)) and len(out) == 1:
        out = out[0]
    if not isinstance(out, Tensor):
        raise TypeError(f"{op.name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if out.requires_grad and grad_enabled() and not _is_constant(op):
        raise_recorded(op)
    wanted, have = result.dtype, out.dtype
    if wanted is not have:
        _check_dtypes(op, wanted, have, exact)
    if out._xp is not result._xp:
        raise RuntimeError(
            f"{op.name}(): Expected all tensors to be on the same device, but found at least two "
            f"devices: the result is on {result.device}, argument 'out' on {out.device}"
        )
    if out._data.shape == result._data.shape:
        check_writable(op.name, out)
    else:
        _check_writable_here(op.name, out)
        if warn and out._data.size:
            _warn_about_resize(out, result)
        out._data = out._xp.empty(result._data.shape, out._data.dtype)
        if out._whole is not None:
            out._whole = None
    out._xp.copyto(*stored_pair(out, result._data), casting="unsafe")
    out._bump()
    return out


def _check_dtypes(op: Op, wanted: dtypes.dtype, have: dtypes.dtype, exact: bool) -> None:
    """Raise an error if a result may not be written to ``out=`` of another dtype."""
    if exact or op.out in (Out.EXACT, Out.DTYPE_ARGUMENT):
        raise RuntimeError(
            f"{op.name}(): Expected out tensor to have dtype {wanted.name}, but got {have.name} "
            "instead"
        )
    if op.out is Out.BOOL:
        if have.name not in ("bool", "uint8"):
            raise RuntimeError(
                f"{op.name} only supports bool tensor for result, got: {scalar_name(have)}"
            )
    elif wanted.category > have.category and op.out is not Out.ANY:
        raise _cast_error(op, wanted, have)


def _cast_error(op: Op, wanted: dtypes.dtype, have: dtypes.dtype) -> Exception:
    """Return the error for a result that cannot be cast to ``out``, a TypeError for a sequence."""
    text = f"{scalar_name(wanted)} can't be cast to the desired output type {scalar_name(have)}"
    if op.plan.sequence is not None:
        return TypeError(f"{op.name}(): input types {text}")
    if "linalg" in op.namespaces or op.out is Out.SAFE_CAST:
        return RuntimeError(
            f"{op.name}: Expected result to be safely castable from {scalar_name(wanted)} dtype, "
            f"but got result with dtype {scalar_name(have)}"
        )
    return RuntimeError(f"{op.name}: result type {text}")


def _warn_about_resize(out: Tensor, result: Tensor) -> None:
    """Warn that ``out=``, which has elements, is resized to the shape of the result."""
    warn(
        "An output with one or more elements was resized since it had shape "
        f"{list(out.shape)}, which does not match the required output shape "
        f"{list(result.shape)}. This behavior is deprecated, and in a future PyTorch release "
        "outputs will not be resized unless they have zero elements. You can explicitly reuse an "
        "out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
        UserWarning,
    )


def check_overlap(target: Tensor, data: Any, others: Iterable[Any], alone: bool = False) -> None:
    """Raise RuntimeError if elements that are written are read for other elements, too.

    As PyTorch does, this checks only tensors without gaps, and allows those that share each element
    with the same element of the target.

    Args:
        target: A tensor.
        data: The array that is written to: its own, or a part of it.
        others: The values that are read; those that are no tensors are ignored.
        alone: Whether even the target itself must not be read, because elements are written in
            another order than they are read.
    """
    shared = target._vc  # tensors that share memory share their version counter
    for other in others:
        if isinstance(other, Tensor) and other._vc is shared:
            if shared is None and other is not target:
                continue
            itself = other is target and data is other._data
            if alone if itself else _overlaps(target._xp, data, other._data, alone):
                raise RuntimeError(
                    "unsupported operation: some elements of the input tensor and the written-to "
                    "tensor refer to a single memory location. Please clone() the tensor before "
                    "performing the operation."
                )


def check_out(op: Op, out: Any, args: Iterable[Any]) -> None:
    """Check ``out=`` for overlaps with the arguments, if the operation writes while it reads."""
    alone = op.plan.picks or op.plan.sequence is not None or op.overlap is Overlap.DISJOINT
    elementwise = op.inplace or op.overlap in (Overlap.CHECKED, Overlap.FIRST)
    if op.kernel is not None:
        elementwise = elementwise or op.promote is not None or op.plan.params == ("input",)
    if op.overlap is Overlap.ALLOWED and not op.inplace or not (alone or elementwise):
        return
    read = [t for arg in args for t in (arg if isinstance(arg, (tuple, list)) else (arg,))]
    if op.overlap in (Overlap.ALLOWED, Overlap.FIRST):
        # The first argument is copied to ``out``; the others are read before anything is written.
        read = read[:1]
    # If there is an in-place form, elements of the first argument keep their positions in ``out``.
    first, rest = (read[:1], read[1:]) if op.plan.picks and op.inplace else ([], read)
    for each in out if isinstance(out, (tuple, list)) else (out,):
        if isinstance(each, Tensor):
            check_overlap(each, each._data, first)
            check_overlap(each, each._data, rest, alone)


def check_resized(op: Op, out: Any, result: Any, args: tuple[Any, ...]) -> None:
    """Raise RuntimeError if ``out=`` is an operand itself and would have to be resized.

    As in PyTorch, reductions may resize their operand.
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


def _overlaps(xp: Any, a: Any, b: Any, alone: bool) -> bool:
    """Whether two arrays without gaps share memory in a way that ``check_overlap`` forbids.

    Arrays whose elements at the same index are at the same address share memory only with
    ``alone``.
    """
    if not a.size or not b.size or dense_order(a) is None or dense_order(b) is None:
        return False
    first, second = xp.address(a), xp.address(b)
    if first == second and a.nbytes == b.nbytes and a.ndim == b.ndim:
        steps = zip(a.shape, a.strides, b.strides, strict=True)
        if all(n == 1 or s == t for n, s, t in steps):
            return alone
    return bool(first < second + b.nbytes and second < first + a.nbytes)
