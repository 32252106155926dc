"""In-place forms and ``out=``: an operation's result written over memory that exists."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from . import _state, dtypes
from ._call import any_rg, explain_shapes, keep_out, make_node, prepare, unwrap
from ._op import OPS, Op
from ._signature import of_inplace
from ._tensor import Tensor, wrap
from .autograd.graph import Node
from .autograd.views import check_inplace, edge_of, rebase


def make_inplace_function(op: Op) -> Callable[..., Any]:
    """``name_``, a method and a function."""

    def function(input: Any, *args: Any, **options: Any) -> Any:
        return call_inplace(op, (input, *args), options)

    function.__name__ = function.__qualname__ = f"{op.name}_"
    function.__module__ = getattr(op, "module", "tinytorch")
    function.__doc__ = f"In-place form of ``{op.qualname}``: writes the result over ``input``."
    function.__wrapped__ = inspect.unwrap(op.function)  # type: ignore[attr-defined]
    function.__signature__ = of_inplace(op)  # type: ignore[attr-defined]
    function.op = op  # type: ignore[attr-defined]
    return function


def call_inplace(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Tensor:
    """Run ``op`` and write its result over its first argument."""
    target = args[0]
    if not isinstance(target, Tensor):
        raise TypeError(
            f"{op.name}_(): argument 'input' (position 1) must be Tensor, not "
            f"{type(target).__name__}"
        )
    check_writable(op.name, target)
    if op.kernel is None:
        return assign(target, op.function(*args, **options), f"{op.name}_")
    given, xp = prepare(op, args, options)
    check_result_dtype(op, given[0], target)
    wants = _state.grad_enabled() and op.differentiable and any_rg(op, (target, *given[1:]))
    if wants:
        check_inplace(target)
        if op.saves[0]:  # a rule wants the old value, which is about to go
            given = (_old_value(target, given[0]), *given[1:])
    _record_and_write(op, xp, target, given, bool(wants))
    return target


def _old_value(target: Tensor, operand: Tensor) -> Tensor:
    """A copy of the target's value in the target's place in the graph."""
    old = wrap(target._xp.array(operand._data), target._xp)
    edge = edge_of(operand)
    if edge is not None:
        old._rg = True
        old._node = None if edge is operand else edge
    return old


def _record_and_write(
    op: Op, xp: Any, target: Tensor, given: tuple[Any, ...], wants: bool
) -> None:
    raws = tuple(unwrap(v) for v in given)
    data = target._data
    node = make_node(op, xp, given, raws) if wants else None
    try:
        if op.takes_out and raws[0] is data:
            y = op.run(xp, raws, out=data)
        else:
            y = op.run(xp, raws)
    except ValueError as error:
        raise explain_shapes(op, given, error) from None
    if y is not data:
        write(xp, data, y, op.name)
    target._bump()
    if node is not None and data.dtype.kind in "fc":
        node.shape = data.shape
        node.dtype = data.dtype
        if op.saves_out:
            keep_out(node, target)
        rebase(target, node, OPS["_view_scatter"])


def write(xp: Any, data: Any, y: Any, name: str) -> None:
    """Copy a kernel's result over ``data``, refusing another shape or a wider kind."""
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
    """RuntimeError for memory that may not be written: expanded, or from inference mode."""
    if target._xp.readonly(target._data):
        raise RuntimeError(
            f"{name}_: unsupported operation: more than one element of the written-to tensor "
            "refers to a single memory location. Please clone() the tensor before performing "
            "the operation."
        )
    if target._version == -1 and not _state.inference_enabled():
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can "
            "make a clone to get a normal tensor before doing inplace update."
        )


def check_result_dtype(op: Op, promoted: Tensor, target: Tensor) -> None:
    """RuntimeError if the result's kind does not fit the target, as in torch."""
    if op.promote is None or promoted is target:
        return
    wanted, have = promoted.dtype, target.dtype
    if wanted.category > have.category:
        raise RuntimeError(
            f"{op.name}_: result type {scalar_name(wanted)} can't be cast to the desired output "
            f"type {scalar_name(have)}"
        )


_SCALAR_NAMES = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int",
    "int64": "Long", "float16": "Half", "bfloat16": "BFloat16", "float32": "Float",
    "float64": "Double", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
    "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
}  # fmt: skip


def scalar_name(dtype: dtypes.dtype) -> str:
    """torch's C++ name of a dtype, as its error texts use it."""
    return _SCALAR_NAMES[dtype.name]


def assign(target: Tensor, value: Tensor, name: str) -> Tensor:
    """Write ``value`` over ``target`` and give it the value's history."""
    check_writable(name.rstrip("_"), target)
    xp = target._xp
    edge = edge_of(value) if _state.grad_enabled() else None
    if edge is not None:
        check_inplace(target)
    elif _state.grad_enabled() and target._rg and target.requires_grad:
        check_inplace(target)
    wanted, have = value.dtype, target.dtype
    if wanted.category > have.category:
        raise RuntimeError(
            f"{name}: result type {scalar_name(wanted)} can't be cast to the desired output type "
            f"{scalar_name(have)}"
        )
    if edge is not None and (wanted is not have or value._data.shape != target._data.shape):
        value = value.to(have).expand(target._data.shape)  # type: ignore[attr-defined]
    write(xp, target._data, value._data, name.rstrip("_"))
    target._bump()
    if edge is not None or (target._rg and _state.grad_enabled() and target.requires_grad):
        # A constant written over everything cuts the old history off: its edge is None.
        data = target._data
        node = Node(OPS["_assigned"], xp, (edge,), (None,), (), data.shape, data.dtype)
        rebase(target, node, OPS["_view_scatter"])
    return target


def write_to_out(out: Any, result: Any, op: Op) -> Any:
    """Put a result (or several) into ``out=``, resizing it as torch does."""
    if isinstance(result, tuple):
        if not isinstance(out, (tuple, list)) or len(out) != len(result):
            raise TypeError(f"{op.name}(): argument 'out' must be a tuple of {len(result)} Tensors")
        for o, r in zip(out, result, strict=True):
            write_to_out(o, r, op)
        return type(result)(*out) if hasattr(result, "_fields") else tuple(out)
    if isinstance(out, (tuple, list)) and len(out) == 1:
        out = out[0]
    if not isinstance(out, Tensor):
        raise TypeError(f"{op.name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    wanted, have = result.dtype, out.dtype
    if wanted.category > have.category:
        raise RuntimeError(
            f"{op.name}: result type {scalar_name(wanted)} can't be cast to the desired output "
            f"type {scalar_name(have)}"
        )
    if out._xp is not result._xp:
        raise RuntimeError(
            f"{op.name}(): Expected all tensors to be on the same device, but found at least two "
            f"devices: the result is on {result.device}, argument 'out' on {out.device}"
        )
    if out._data.shape != result._data.shape:
        out._data = out._xp.empty(result._data.shape, out._data.dtype)
    out._xp.copyto(out._data, result._data, casting="unsafe")
    out._bump()
    return out


__all__ = ["assign", "call_inplace", "write_to_out"]
