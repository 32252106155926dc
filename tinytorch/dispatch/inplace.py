"""In-place forms: an operation's result written over its first argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import torch_function
from ..core.lazy_bits import LazyView, stored_pair
from ..core.tensor import Tensor, wrap
from ..dtypes import as_dtype
from ..graph.late_bound import LATE_BOUND
from ..graph.nodes import Node
from ..graph.saved_tensors import Recording
from ..graph.views import check_inplace, edge_of, rebase
from ..state import grad_enabled
from ..state.recorder import record_operation
from .arguments import as_given, explain_shapes, prepare, unwrap
from .backward import Backward
from .low_precision import call_low, in_float32, is_low
from .node_recording import any_rg, elements_of, keep_out, make_node, watch
from .operation import Op, Out, Overlap
from .out import check_overlap, check_writable, scalar_name, stands_for_many, write


def slow_inplace(
    op: Op, function: Any, values: tuple[Any, ...], more: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """The slow path of an in-place form."""
    args = as_given(op, values, more, options)
    answer = torch_function.call_override(op, function, args, options)
    nobody = answer is torch_function.NO_OVERRIDE
    return record_operation(call_inplace, op, args, options, "_") if nobody else answer


def _check_target(op: Op, target: Any) -> None:
    if not isinstance(target, Tensor):
        raise TypeError(
            f"{op.name}_(): argument 'input' (position 1) must be Tensor, not "
            f"{type(target).__name__}"
        )
    if op.out is Out.EXACT_FOR_REALS and target.is_complex():
        raise RuntimeError(f"In-place {op.name} is not supported for complex tensors.")


def _check_dtype(op: Op, target: Tensor, dtype: Any) -> None:
    """RuntimeError for ``dtype=`` of another dtype than the tensor that is written."""
    if dtype is not None and as_dtype(dtype) is not target.dtype:
        raise RuntimeError(
            f"{op.name}_(): Bad in-place call: input tensor dtype {target.dtype.name} and output "
            f"tensor dtype {as_dtype(dtype).name} should match"
        )


def call_inplace(
    op: Op, args: tuple[Any, ...], options: dict[str, Any], node: Any = None
) -> Tensor:
    """Run ``op`` and write its result over its first argument.

    ``node`` is torch's name of the nodes, if that is not the operation's own.
    """
    target: Tensor = args[0]
    _check_target(op, target)
    _check_dtype(op, target, options.get("dtype"))
    if isinstance(target, LazyView):
        return write_through(
            target, f"{op.name}_", lambda work: call_inplace(op, (work, *args[1:]), options, node)
        )
    if op.registered.expanded is not None and stands_for_many(target):
        return op.registered.expanded(*args, **options)  # type: ignore[no-any-return]
    check_writable(op.name, target)
    if op.kernel is None:
        return _assign_composite(op, target, args, options)
    if not op.takes_low and is_low((*args, *options.values())):
        args = _with_old_value(target, args, options)
        value = in_float32(op, op.function, args, (), options)
        value = call_low(op, args, options) if value is None else value
        return assign(target, value, f"{op.name}_")
    given, xp = prepare(op, args, options)
    backward = op.backward.fixed(given) if node is None else op.backward.called(node)
    operands = (target, *given[1:])
    wants = grad_enabled() and backward.differentiable and any_rg(backward, operands)
    # A view may require grad, which its base decides; one that does not may be changed.
    if wants and any(isinstance(t, Tensor) and t.requires_grad for t in operands):
        check_inplace(target)
        if backward.saves[0]:  # a rule wants the old value, which is about to go
            given = (_old_value(target, given[0]), *given[1:])
    # Of a comparison; torch does not look at logical operations.
    constant = op.promote is not None and not backward.differentiable
    constant = constant and grad_enabled() and target.requires_grad
    if constant:
        check_inplace(target)
    _check_overlap(op, target, operands[1:])
    _record_and_write(op, xp, target, given, backward if wants else None)
    if constant:
        _give_history(target, backward.backward_name, edge_of(target), None)
    return target


def _assign_composite(op: Op, target: Tensor, args: tuple[Any, ...], options: Any) -> Tensor:
    given = (*args, *options.values())
    _check_overlap(op, target, given[1:])
    value = op.function(*_with_old_value(target, args, options), **options)
    if op.out is Out.EXACT and value.dtype is not target.dtype:
        raise RuntimeError(
            f"the base given to {op.name}_ has dtype {scalar_name(target.dtype)} but the "
            f"operation's result requires dtype {scalar_name(value.dtype)}"
        )
    return assign(target, value, f"{op.name}_")


def _with_old_value(target: Tensor, args: tuple[Any, ...], options: Any) -> tuple[Any, ...]:
    """Arguments whose target is a copy in its place of the graph, if gradients are wanted.

    The operations that compute the result may save its old value, which is about to be modified.
    """
    given = (*args, *options.values())
    if not (grad_enabled() and any(isinstance(v, Tensor) and v._rg for v in given)):
        return args
    old = _old_value(target, target)
    return tuple(old if value is target else value for value in args)


def _check_overlap(op: Op, target: Tensor, others: tuple[Any, ...]) -> None:
    if op.overlap not in (None, Overlap.CHECKED):
        return
    if target._vc is not None or op.plan.picks:
        check_overlap(target, target._data, others, op.plan.picks)


def _old_value(target: Tensor, operand: Tensor) -> Tensor:
    """A copy of the target's value in the target's place in the graph."""
    old = wrap(target._xp.array(operand._data), target._xp)
    edge = edge_of(operand)
    if edge is not None:
        old._rg = True
        old._node = None if edge is operand else edge
    return old


def _record_and_write(
    op: Op, xp: Any, target: Tensor, given: tuple[Any, ...], backward: Backward | None
) -> None:
    raws = tuple(unwrap(v) for v in given)
    data = target._data
    node = make_node(backward, xp, given, raws) if backward is not None else None
    try:
        if op.plan.takes_out and raws[0] is data:
            y = op.run(xp, raws, out=data)
        else:
            y = op.run(xp, raws)
    except ValueError as error:
        raise explain_shapes(op, given, error) from None
    if y is not data:
        write(xp, data, y, op.name)
    target._bump()
    if node is not None and data.dtype.kind in "fcV":
        node.shape = data.shape
        node.dtype = data.dtype
        if node.op.saves_out:
            keep_out(node, target)
        rebase(target, node, LATE_BOUND.writing().view_scatter)
        if Recording.watched:
            watch(node, target)


def write_through(target: Tensor, name: str, change: Callable[[Tensor], Any]) -> Tensor:
    """Change a tensor that waits in place: its elements in memory of their own, then written back.

    Args:
        target: What is changed.
        name: The name of the operation.
        change: What changes a plain tensor with the same elements and history.
    """
    work = elements_of(target)
    change(work)
    return assign(target, work, name)


def assign(target: Tensor, value: Tensor, name: str) -> Tensor:
    """Write ``value`` over ``target`` and give it the value's history."""
    check_writable(name.rstrip("_"), target)
    xp = target._xp
    edge = edge_of(value) if grad_enabled() else None
    if edge is not None:
        check_inplace(target)
    elif grad_enabled() and target._rg and target.requires_grad:
        check_inplace(target)
    if target._vc is not None:
        check_overlap(target, target._data, (value,))
    shape, own = value._data.shape, target._data.shape
    if len(shape) > len(own):
        raise RuntimeError(
            f"{name}: output with shape {list(own)} doesn't match the broadcast shape {list(shape)}"
        )
    wanted, have = value.dtype, target.dtype
    if wanted.category > have.category:
        raise RuntimeError(
            f"{name}: result type {scalar_name(wanted)} can't be cast to the desired output type "
            f"{scalar_name(have)}"
        )
    if edge is not None and (wanted is not have or value._data.shape != target._data.shape):
        value = value.to(have).expand(target._data.shape)
    write(xp, *stored_pair(target, value._data), name.rstrip("_"))
    target._bump()
    if edge is not None or (target._rg and grad_enabled() and target.requires_grad):
        if name == "copy_" or edge is None:
            _give_history(target, "CopyBackwards", edge_of(target), edge)
        else:  # what it was made of took its old value
            _give_history(target, None, edge)
    return target


def _give_history(target: Tensor, name: Any, *edges: Any) -> None:
    """Give ``target`` a node: of what was written over it, or of its old value and of that."""
    data = target._data
    writing = LATE_BOUND.writing()
    backward = writing.assigned if name is None else writing.written_over.called(name)
    node = Node(backward, target._xp, edges, (None,) * len(edges), (), data.shape, data.dtype)
    rebase(target, node, LATE_BOUND.writing().view_scatter)
