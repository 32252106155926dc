"""The slow path of a call: every call that the fast path of a public function leaves.

Overrides, NumPy's keywords, ``out=``, an ``inplace`` flag, conversion, promotion; then ``apply``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from ..core import torch_function
from ..core.tensor import Tensor
from ..core.waiting import Waiting
from ..graph.nodes import next_seq, node_of
from ..graph.views import release
from ..state import grad_enabled
from ..state.recorder import recorded
from . import autocast
from .arguments import (
    as_given,
    checked,
    prepare,
    repeated_argument_error,
    selected_numpy_form,
    torchs_name,
    unexpected,
)
from .backward import Backward
from .error_context import retold
from .inplace import call_inplace
from .low_precision import asks_for_low, call_low, composite_low, is_low
from .operation import Op, Out
from .out import check_out, check_resized, refuse_recorded, write_to_out
from .record import apply
from .waiting_views import elements_of, view_of_waiting


def slow(
    op: Op, function: Any, values: tuple[Any, ...], more: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """A call of ``function`` that is not plain.

    Args:
        op: The operation.
        function: Its function, or its method.
        values: The parameters that can be given by position; what came by name is there, too.
        more: What else was given by position.
        options: What was given by name.
    """
    args = as_given(op, values, more, options)
    if not op.view:
        for value in args:
            if value.__class__ in torch_function.WAITING:
                return function(*map(_written_out, args), **options)
    answer = torch_function.asked(op, function, args, options)
    return recorded(call, op, args, options) if answer is torch_function.NOBODY else answer


def _written_out(value: Any) -> Any:
    return elements_of(value) if isinstance(value, Waiting) else value


def call(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call ``op`` with anything a user may pass, nobody being asked."""
    if autocast.is_on() and options.get("out") is None:
        cast = autocast.casts(op, args, options)
        if cast is not None:
            args, options, end = cast
            with autocast.Off():
                result = call(op, args, options)
                return result if end is None else result.to(end)
    if options:
        form = selected_numpy_form(op, options)
        if form is not None:
            return form(*args, **options)
        out = options.pop("out", None)
        if out is not None:
            return call_into(op, out, args, options)
    if op.plan.flag is not None and (
        options.get("inplace") or (len(args) > op.plan.flag and args[-1])
    ):
        options.pop("inplace", None)
        return call_inplace(op, args[: op.plan.flag], options)
    if not op.takes_low and (is_low(args) or options and asks_for_low(op, options)):
        return call_low(op, args, options)
    given, xp = prepare(op, args, options)
    if op.view and isinstance(given[op.plan.tensors[0]], Waiting):
        return view_of_waiting(op, xp, given)
    return apply(op, xp, given)


def call_into(op: Op, out: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The operation with its result written to ``out``."""
    check_out(op, out, (*args, *options.values()))
    if op.out is Out.DTYPE_ARGUMENT and isinstance(out, Tensor) and options.get("dtype") is None:
        options["dtype"] = out.dtype
    exact = _is_exact(op.out, (*args, *options.values()))
    with autocast.Off():
        result = call_plain(op, args, options)
    check_resized(op, out, result, (*args, *options.values()))
    return write_to_out(out, result, op, exact)


def _is_exact(mode: Out | None, given: tuple[Any, ...]) -> bool:
    """Whether what was given decides that ``out=`` has to have the result's dtype."""
    if mode is Out.EXACT_WITH_NUMBERS:
        return any(v is not None and not isinstance(v, Tensor) for v in given)
    complex_given = any(isinstance(v, Tensor) and v.is_complex() for v in given)
    return mode is Out.EXACT_FOR_REALS and not complex_given


def call_plain(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """``call`` without recording, for a caller that writes the result elsewhere."""
    given, _ = prepare(op, args, options)
    if op.backward.differentiable and grad_enabled():
        behind = given if op.plan.sequence is None else (*given, *given[op.plan.sequence])
        if any(isinstance(t, Tensor) and t.requires_grad for t in behind):
            refuse_recorded(op)
    return call(op, args, options)


def slow_composite(op: Op, function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """``slow`` for an operation that is a function over tensors."""
    at = op.plan.positional
    args = as_given(op, args[:at], args[at:], options)
    if op.public:
        asked = torch_function.relevant(args, options)
        if asked and op.qualname in torch_function.UNASKED:
            with torch_function.Off(1):
                return slow_composite(op, function, args, options)
        if asked or torch_function.must_ask():
            return torch_function.ask(function, asked, args, options)
    return recorded(call_composite, op, args, options)


def call_composite(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """``call`` for an operation that is a function over tensors."""
    if autocast.is_on() and options.get("out") is None:
        cast = autocast.casts(op, args, options)
        if cast is not None:
            with autocast.Off():
                return call_composite(op, *cast[:2])
    if "out" in options and op.wraps_out:
        return _composite_into(op, options.pop("out"), args, options)
    if op.is_wide and (is_low(args) or options and is_low([*options.values()])):
        return composite_low(op, body_of(op), args, options)
    if options:
        form = selected_numpy_form(op, options)
        if form is not None:
            return form(*args, **options)
        if not op.plan.index.keys() >= options.keys():
            several = _several(op.body)
            if several in options:
                args = (*args, options.pop(several))
            options = _rename_options(op, options)
    try:
        return checked(op, body_of(op))(*args, **options)
    except TOLD as error:
        better = told(op, args, options, error)
        if better is error:
            raise
        raise better from None


#: The errors of composites that may be told better.
TOLD: tuple[type[Exception], ...] = (
    AttributeError,
    TypeError,
    RuntimeError,
    ValueError,
    IndexError,
)


def told(op: Op, args: tuple[Any, ...], options: dict[str, Any], error: Exception) -> Exception:
    """The error to raise for one in a composite: the same if an override may have raised it."""
    fits = all(isinstance(args[i], Tensor) for i in op.plan.tensors if i < len(args))
    if fits and op.public and torch_function.relevant(args, options):
        return error
    return retold(op, args, options, error)


def _several(source: Callable[..., Any]) -> str | None:
    """The name of ``*sizes`` or the like, by which PyTorch takes them as one sequence."""
    code = source.__code__
    named_ones = code.co_argcount + code.co_kwonlyargcount
    return code.co_varnames[named_ones] if code.co_flags & 0x04 else None


def body_of(op: Op) -> Callable[..., Any]:
    """What a composite runs: its function, whose results get nodes of its name."""
    body: Callable[..., Any] = op.body
    return named(op, body) if op.node.name is not None or op.node.frees else body


def named(op: Op, source: Callable[..., Any]) -> Callable[..., Any]:
    """A composite's function whose results have nodes of its name: to torch it is one operation.

    Those free what it says, too.
    """
    node: Any = op.node.name

    def function(*args: Any, **options: Any) -> Any:
        before = next_seq()
        result = source(*args, **options)
        for t in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(t, Tensor) and t._base is not None:
                _release_from(t, args, options)
            made = node_of(t._node) if isinstance(t, Tensor) and t._rg else None
            if made is not None and made.seq > before and isinstance(made.op, Backward):
                name = node(made) if callable(node) else node
                if name is not None or op.node.frees:
                    made.op = made.op.called(name or made.op.backward_name, op.node.frees or None)
        return result

    return function


def _release_from(result: Tensor, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Make a composite's result no view, unless its base is an argument or that one's base."""
    given: list[Any] = [*args, *options.values()]
    while given:
        value = given.pop()
        if isinstance(value, (tuple, list)):
            given.extend(value)
        elif isinstance(value, Tensor) and (result._base is value or result._base is value._base):
            return
    release(result)


def _composite_into(op: Op, out: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A composite with its result written to ``out``."""
    if out is not None:
        check_out(op, out, (*args, *options.values()))
    with autocast.Off() if out is not None else nullcontext():
        result = op.function(*args, **options)
    if out is None:
        return result
    check_resized(op, out, result, (*args, *options.values()))
    return write_unrecorded(out, result, op)


def write_unrecorded(out: Any, result: Any, op: Op) -> Any:
    """``write_to_out`` for what was computed as usual.

    Raises:
        RuntimeError: If the result is part of a graph, or its dtype does not fit ``out``.
    """
    parts = result if isinstance(result, tuple) else (result,)
    if grad_enabled() and any(isinstance(t, Tensor) and t.requires_grad for t in parts):
        refuse_recorded(op)
    return write_to_out(out, result, op)


def _rename_options(op: Op, options: dict[str, Any]) -> dict[str, Any]:
    """The keywords of a call by the names of the composite's parameters.

    Raises:
        TypeError: For a keyword that it does not have, or two for one parameter.
    """
    named: dict[str, Any] = {}
    for name, value in options.items():
        own = name if name in op.plan.index else torchs_name(op, name)
        if own is None:
            if not op.body.__code__.co_flags & 0x08:
                raise unexpected(op, name)
            own = name
        if own in named or own != name and own in options:
            raise repeated_argument_error(op, own, name)
        named[own] = value
    return named
