"""In-place forms, which write the result of an operation over its first argument."""

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
from .arguments import explain_shapes, positional_arguments, prepare, unwrap
from .backward import Backward
from .node_recording import any_requires_grad, make_node, on_record, resolve, save_result
from .operation import Op, Out, Overlap
from .out import check_overlap, check_writable, has_shared_elements, scalar_name, write
from .reduced_precision import call_in_float32, call_reduced, has_reduced


def call_inplace_slowly(
    op: Op, function: Any, values: tuple[Any, ...], more: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Run a call of an in-place form that is not on its fast path.

    Args:
        op: The operation.
        function: Its in-place form, which overrides get.
        values: Arguments for the parameters that accept a position, also those given by name.
        more: Further arguments by position.
        options: All arguments by name.
    """
    args = positional_arguments(op, values, more, options)
    override = torch_function.call_override(op, function, args, options)
    if override is not torch_function.NO_OVERRIDE:
        return override
    return record_operation(call_inplace, op, args, options, "_")


def _check_target(op: Op, target: Any) -> None:
    """Raise an error if the first argument is no tensor, or complex where ``op`` forbids that."""
    if not isinstance(target, Tensor):
        raise TypeError(
            f"{op.name}_(): argument 'input' (position 1) must be Tensor, not "
            f"{type(target).__name__}"
        )
    if op.out is Out.EXACT_FOR_REALS and target.is_complex():
        raise RuntimeError(f"In-place {op.name} is not supported for complex tensors.")


def _check_dtype(op: Op, target: Tensor, dtype: Any) -> None:
    """Raise RuntimeError if ``dtype=`` is not the dtype of the tensor that is written."""
    if dtype is not None and as_dtype(dtype) is not target.dtype:
        raise RuntimeError(
            f"{op.name}_(): Bad in-place call: input tensor dtype {target.dtype.name} and output "
            f"tensor dtype {as_dtype(dtype).name} should match"
        )


def call_inplace(
    op: Op, args: tuple[Any, ...], options: dict[str, Any], node: Any = None
) -> Tensor:
    """Run ``op`` and write its result over its first argument.

    Args:
        op: The operation.
        args: Its arguments by position.
        options: Its arguments by name.
        node: torch's name of the nodes, if it is not the operation's.
    """
    target: Tensor = args[0]
    _check_target(op, target)
    _check_dtype(op, target, options.get("dtype"))
    if isinstance(target, LazyView):
        return write_resolved(
            target, f"{op.name}_", lambda work: call_inplace(op, (work, *args[1:]), options, node)
        )
    if op.registered.expanded is not None and has_shared_elements(target):
        return op.registered.expanded(*args, **options)  # type: ignore[no-any-return]
    check_writable(op.name, target)
    if op.kernel is None:
        return _assign_composite(op, target, args, options)
    if not op.accepts_reduced and has_reduced((*args, *options.values())):
        args = _replace_target(target, args, options)
        value = call_in_float32(op, op.function, args, (), options)
        value = call_reduced(op, args, options) if value is None else value
        return assign(target, value, f"{op.name}_")
    given, xp = prepare(op, args, options)
    backward = op.backward.drop_numbers(given) if node is None else op.backward.rename(node)
    operands = (target, *given[1:])
    wants = grad_enabled() and backward.differentiable and any_requires_grad(backward, operands)
    # Whether a view requires grad depends on its base; one that does not may be modified.
    if wants and any(isinstance(t, Tensor) and t.requires_grad for t in operands):
        check_inplace(target)
        if backward.saves[0]:  # a rule reads the old value, which is about to be overwritten
            given = (_copy_old_value(target, given[0]), *given[1:])
    # A comparison has no derivative. torch does not check logical operations.
    constant = op.promote is not None and not backward.differentiable
    constant = constant and grad_enabled() and target.requires_grad
    if constant:
        check_inplace(target)
    _check_overlap(op, target, operands[1:])
    _record_and_write(op, xp, target, given, backward if wants else None)
    if constant:
        _set_history(target, backward.backward_name, edge_of(target), None)
    return target


def _assign_composite(op: Op, target: Tensor, args: tuple[Any, ...], options: Any) -> Tensor:
    """Run a composite and write its result over ``target``, its first argument."""
    given = (*args, *options.values())
    _check_overlap(op, target, given[1:])
    value = op.function(*_replace_target(target, args, options), **options)
    if op.out is Out.EXACT and value.dtype is not target.dtype:
        raise RuntimeError(
            f"the base given to {op.name}_ has dtype {scalar_name(target.dtype)} but the "
            f"operation's result requires dtype {scalar_name(value.dtype)}"
        )
    return assign(target, value, f"{op.name}_")


def _replace_target(target: Tensor, args: tuple[Any, ...], options: Any) -> tuple[Any, ...]:
    """Return the arguments with a copy of the target for the target, if the call is recorded.

    The operations that compute the result may save the old value, which is about to be modified.
    """
    given = (*args, *options.values())
    if not (grad_enabled() and any(isinstance(v, Tensor) and v._rg for v in given)):
        return args
    old = _copy_old_value(target, target)
    return tuple(old if value is target else value for value in args)


def _check_overlap(op: Op, target: Tensor, others: tuple[Any, ...]) -> None:
    """Raise RuntimeError if ``target`` shares memory with ``others``, unless ``op`` allows it."""
    if op.overlap not in (None, Overlap.CHECKED):
        return
    if target._vc is not None or op.plan.picks:
        check_overlap(target, target._data, others, op.plan.picks)


def _copy_old_value(target: Tensor, operand: Tensor) -> Tensor:
    """Return a copy of the target's value, before it is overwritten, with its edge in the graph.

    Args:
        target: The tensor that is about to be modified.
        operand: The target as the kernel gets it, possibly cast to another dtype.
    """
    old = wrap(target._xp.array(operand._data), target._xp)
    edge = edge_of(operand)
    if edge is not None:
        old._rg = True
        old._node = None if edge is operand else edge
    return old


def _record_and_write(
    op: Op, xp: Any, target: Tensor, given: tuple[Any, ...], backward: Backward | None
) -> None:
    """Run a kernel, write its result over ``target``, and record the call.

    Args:
        op: The operation.
        xp: The backend.
        target: The tensor to write to.
        given: All arguments of the kernel, converted and promoted.
        backward: The rules of the node; None if the call is not recorded.
    """
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
            save_result(node, target)
        rebase(target, node, LATE_BOUND.write_rules().view_scatter)
        if Recording.watched:
            on_record(node, target)


def write_resolved(target: Tensor, name: str, change: Callable[[Tensor], Any]) -> Tensor:
    """Modify a lazily conjugated or negated tensor in place, by way of a resolved copy.

    Args:
        target: The tensor.
        name: The name of the operation.
        change: Function that modifies the copy, a tensor with the same elements and history.
    """
    work = resolve(target)
    change(work)
    return assign(target, work, name)


def assign(target: Tensor, value: Tensor, name: str) -> Tensor:
    """Write ``value`` over ``target``, whose history becomes that of ``value``; return ``target``.

    ``name`` is that of the in-place form, such as ``add_``.
    """
    check_writable(name.rstrip("_"), target)
    xp = target._xp
    edge = edge_of(value) if grad_enabled() else None
    if edge is not None:
        check_inplace(target)
    elif grad_enabled() and target._rg and target.requires_grad:
        check_inplace(target)
    if target._vc is not None:
        check_overlap(target, target._data, (value,))
    shape, target_shape = value._data.shape, target._data.shape
    if len(shape) > len(target_shape):
        raise RuntimeError(
            f"{name}: output with shape {list(target_shape)} doesn't match the broadcast shape "
            f"{list(shape)}"
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
            _set_history(target, "CopyBackwards", edge_of(target), edge)
        else:  # the value was computed from the old value of the target
            _set_history(target, None, edge)
    return target


def _set_history(target: Tensor, name: Any, *edges: Any) -> None:
    """Set a node on ``target`` for a value written over it.

    Args:
        target: The tensor.
        name: Name of the node, whose edges are those of the old and the new value. None for a node
            whose only edge is that of the new value.
        *edges: The edges.
    """
    data = target._data
    rules = LATE_BOUND.write_rules()
    backward = rules.assigned if name is None else rules.overwritten.rename(name)
    node = Node(backward, target._xp, edges, (None,) * len(edges), (), data.shape, data.dtype)
    rebase(target, node, LATE_BOUND.write_rules().view_scatter)
