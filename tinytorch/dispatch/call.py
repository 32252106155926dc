"""Calls off the fast path, and the public functions of composites.

A call that the generated function of a kernel leaves comes here: overrides, NumPy's keywords,
``out=``, an ``inplace`` flag, conversion, promotion; then ``apply``. The public function of a
composite is a closure that checks the classes of the arguments. An error inside a composite is
raised with the name of the composite and, for NumPy's functions, as NumPy's type.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from operator import itemgetter
from typing import Any

from ..core import torch_function
from ..core.lazy_bits import LazyView
from ..core.tensor import Tensor
from ..core.torch_function import NOT_OVERRIDING, PLAIN
from ..graph.nodes import next_seq, node_of
from ..graph.views import release
from ..state import grad_enabled
from ..state.recorder import record_operation
from ..state.tracebacks import shorten
from . import autocast
from .arguments import (
    as_given,
    checked,
    prepare,
    repeated_argument_error,
    selected_numpy_form,
    torchs_name,
    truthful,
    unexpected,
)
from .backward import Backward
from .inplace import call_inplace
from .low_precision import asks_for_low, call_low, composite_low, in_float32, is_low
from .node_recording import apply, elements_of, view_of_waiting
from .operation import OPS, Op, Out
from .out import check_out, check_resized, refuse_recorded, write_to_out

#: The operation that a text begins with: ``name(): ...``, ``name: ...`` or ``name_: ...``.
_SUBJECT = re.compile(r"(\w+?)(?=_?(?:\(\))?: |\(\) )")


def retold(op: Op, args: tuple[Any, ...], options: dict[str, Any], error: Exception) -> Exception:
    """The error to raise for ``error``: of a wrong argument, or with ``op`` for its subject.

    Args:
        op: The composite that was called.
        args: Its arguments by position.
        options: Its other arguments.
        error: What came out of it. The name of an operation that is not public is replaced.
    """
    if isinstance(error, (AttributeError, TypeError)):
        wrong = _no_tensor(op, args, options)
        if wrong is not None:
            return TypeError(wrong)
    text = str(error)
    subject = _SUBJECT.match(text)
    if subject is not None and op.public and error.args == (text,):
        inner = OPS.get(subject[1])
        if inner is not None and not inner.public:
            error.args = (op.name + text[subject.end() :],)
    return as_numpys(error) if op.namespaces[0].partition(".")[0] == "numpy" else error


class ArrayError(ValueError, RuntimeError):
    """What is a RuntimeError to PyTorch and a ValueError to NumPy, such as shapes that differ."""


class ArrayTypeError(TypeError, NotImplementedError):
    """What is not implemented for a dtype: a TypeError to NumPy."""


class ArrayIndexError(ValueError, IndexError):
    """What is out of range: a dimension is a ValueError to NumPy, too."""


#: By PyTorch's type of error what NumPy's functions raise.
_AS_NUMPYS = {
    RuntimeError: ArrayError, NotImplementedError: ArrayTypeError, IndexError: ArrayIndexError,
}  # fmt: skip


def as_numpys(error: Exception) -> Exception:
    """The same error, but one that ``except`` finds by NumPy's type as well as by PyTorch's."""
    kind = _AS_NUMPYS.get(type(error))
    if kind is None:
        return error
    made = kind(*error.args).with_traceback(error.__traceback__)
    for note in getattr(error, "__notes__", ()):
        made.add_note(note)
    return made


def _no_tensor(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> str | None:
    """What is wrong with the first argument that should be a tensor and is none."""
    given = dict(zip(op.plan.params, args, strict=False))
    given.update({torchs_name(op, name) or name: value for name, value in options.items()})
    for i in op.plan.tensors:
        name = op.plan.params[i]
        value = given.get(name)
        if name not in given or (value is None and i in op.plan.optional):
            continue
        if i == op.plan.sequence:
            for k, item in enumerate(value if isinstance(value, (tuple, list)) else ()):
                if not isinstance(item, Tensor):
                    return (
                        f"{op.name}(): expected Tensor as element {k} in argument {i}, "
                        f"but got {type(item).__name__}"
                    )
        elif not isinstance(value, Tensor):
            return (
                f"{op.name}(): argument '{name}' (position {i + 1}) must be Tensor, "
                f"not {type(value).__name__}"
            )
    return None


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
            if value.__class__ in torch_function.LAZY:
                return function(*map(_written_out, args), **options)
    answer = torch_function.call_override(op, function, args, options)
    return (
        record_operation(call, op, args, options)
        if answer is torch_function.NO_OVERRIDE
        else answer
    )


def _written_out(value: Any) -> Any:
    return elements_of(value) if isinstance(value, LazyView) else value


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
    if op.view and isinstance(given[op.plan.tensors[0]], LazyView):
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
        asked = torch_function.find_overriding(args, options)
        if asked and op.qualname in torch_function.NOT_OVERRIDABLE:
            with torch_function.DisableOverrides(1):
                return slow_composite(op, function, args, options)
        if asked or torch_function.has_mode():
            return torch_function.dispatch_override(function, asked, args, options)
    return record_operation(call_composite, op, args, options)


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
    if fits and op.public and torch_function.find_overriding(args, options):
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


def make_composite_function(op: Op) -> Any:
    """Return the public function of a composite: its body, behind a look at the arguments.

    A call with an argument of another class than the declared ones, or of one that may override
    it, goes to ``slow_composite``.
    """
    prepared: Any = None

    def function(*args: Any, **options: Any) -> Any:
        nonlocal prepared
        try:
            if prepared is None:
                prepared = _prepare(op)
            body, accepted, fits, is_wide = prepared
            if not PLAIN or fits is not None and not fits(args, options):
                return slow_composite(op, function, args, options)
            count = len(args)
            for i, classes in accepted:
                if i >= count:
                    break
                kind = args[i].__class__
                if kind not in classes:
                    return slow_composite(op, function, args, options)
                if is_wide and kind in PLAIN and args[i]._data.dtype.num > 255:
                    return _call_wide(op, function, args, options)
            if options and not _fits_by_name(op, accepted, options):
                return slow_composite(op, function, args, options)
            try:
                return body(*args, **options)
            except TOLD as error:
                better = told(op, args, options, error)
                if better is error:
                    raise
                raise better from None
        except Exception as error:
            shorten(error)
            raise

    function.__name__ = op.name
    return function


def _prepare(op: Op) -> tuple[Any, ...]:
    """The body of a composite and the checks of its arguments.

    Returns:
        The body; positions with the classes that they accept; a check of lists and of arguments
        beyond the parameters, or None; and whether it may have to compute in float32.
    """
    plan, body = op.plan, body_of(op)
    if op.is_numpys:
        body = truthful(op, body) if plan.scalars else body
    accepted: dict[int, Any] = {}
    for i, (kind, _) in {} if op.is_numpys else plan.scalars.items():
        accepted[i] = frozenset((kind, int if kind is float else bool, plan.defaults[i].__class__))
    if op.public:
        first = (0,) if plan.positional and not plan.tensors else plan.tensors
        accepted.update((i, NOT_OVERRIDING) for i in first if i != plan.sequence)
    return body, tuple(sorted(accepted.items(), key=itemgetter(0))), _check_of_rest(op), op.is_wide


def _fits_by_name(op: Op, accepted: tuple[tuple[int, Any], ...], options: dict[str, Any]) -> bool:
    """Whether the arguments given by name are of the accepted classes."""
    if not op.plan.index.keys() >= options.keys():
        return False
    params = op.plan.params
    for i, classes in accepted:
        if params[i] in options:
            value: Any = options[params[i]]
            kind = value.__class__
            if kind not in classes:
                return False
            if op.is_wide and kind in PLAIN and value._data.dtype.num > 255:
                return False
    return True


def _check_of_rest(op: Op) -> Callable[[Any, Any], bool] | None:
    """Whether no tensor of a list, or of arguments beyond the parameters, may override."""
    at, several = op.plan.sequence, bool(op.body.__code__.co_flags & 0x04)
    if not op.public or at is None and not several:
        return None

    def check(args: tuple[Any, ...], options: dict[str, Any]) -> bool:
        if several:
            for value in args[op.plan.positional :]:
                if value.__class__ not in NOT_OVERRIDING:
                    return False
        if at is None:
            return True
        values = args[at] if at < len(args) else options.get(op.plan.params[at], ())
        if values.__class__ is not tuple and values.__class__ is not list:
            return False
        for value in values:
            if value.__class__ not in PLAIN:
                return False
        return True

    return check


def _call_wide(op: Op, function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A composite with a tensor of reduced precision, computed in float32."""
    plan, count = op.plan, len(args)
    values = args[: plan.positional] + tuple(
        options.get(plan.params[i], plan.defaults[i]) for i in range(count, plan.positional)
    )
    out = in_float32(op, function, values, args[plan.positional :], options)
    return slow_composite(op, function, args, options) if out is None else out
