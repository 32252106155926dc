"""Calls off the fast path, and the public functions of composites.

The generated function of a kernel runs the fast path only. Every other call comes here: overrides,
NumPy's keywords, ``out=``, an ``inplace`` flag, conversion, promotion; then ``apply``. The public
function of a composite is a closure that checks the classes of the arguments. An error inside a
composite is raised with the name of the composite and, for NumPy's functions, as NumPy's type.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from inspect import CO_VARARGS, CO_VARKEYWORDS
from operator import itemgetter
from typing import Any

from ..core import torch_function
from ..core.lazy_bits import LazyView
from ..core.tensor import Tensor
from ..core.torch_function import NOT_OVERRIDING, PLAIN
from ..graph.nodes import next_seq, node_of
from ..graph.views import own_memory
from ..state import grad_enabled
from ..state.recorder import record_operation
from ..state.tracebacks import shorten
from . import autocast
from .arguments import (
    add_flag_conversion,
    add_scalar_checks,
    positional_arguments,
    prepare,
    repeated_argument_error,
    select_numpy_form,
    torch_parameter,
    unexpected_keyword_error,
)
from .backward import Backward
from .inplace import call_inplace
from .node_recording import apply, apply_lazy_view, resolve
from .operation import OPS, Op, Out
from .out import check_out, check_resized, raise_recorded, write_to_out
from .reduced_precision import (
    call_composite_reduced,
    call_in_float32,
    call_reduced,
    has_reduced,
    requests_reduced,
)

#: The operation at the start of an error message: ``name(): ...``, ``name: ...``, ``name_: ...``.
_SUBJECT = re.compile(r"(\w+?)(?=_?(?:\(\))?: |\(\) )")


def rewrite_composite_error(
    op: Op, args: tuple[Any, ...], options: dict[str, Any], error: Exception
) -> Exception:
    """Return the error to raise instead of one from inside a composite.

    It is a TypeError for the first argument that should be a tensor, if the composite failed with
    an AttributeError or TypeError. Otherwise it is the same error, in which the name of an
    operation that is not public is replaced by that of the composite.

    Args:
        op: The composite that was called.
        args: Its arguments by position.
        options: Its other arguments.
        error: The error that it raised.
    """
    if isinstance(error, (AttributeError, TypeError)):
        wrong = _non_tensor_message(op, args, options)
        if wrong is not None:
            return TypeError(wrong)
    text = str(error)
    subject = _SUBJECT.match(text)
    if subject is not None and op.public and error.args == (text,):
        inner = OPS.get(subject[1])
        if inner is not None and not inner.public:
            error.args = (op.name + text[subject.end() :],)
    return as_numpy_error(error) if op.namespaces[0].partition(".")[0] == "numpy" else error


class ArrayError(ValueError, RuntimeError):
    """Error that is a RuntimeError in PyTorch and a ValueError in NumPy, as for unequal shapes."""


class ArrayTypeError(TypeError, NotImplementedError):
    """Error for a dtype that is not implemented, a TypeError in NumPy."""


class ArrayIndexError(ValueError, IndexError):
    """Error for an index or dimension out of range; a dimension is a ValueError in NumPy, too."""


#: Types of errors that NumPy's functions raise, by PyTorch's type.
_NUMPY_ERRORS = {
    RuntimeError: ArrayError, NotImplementedError: ArrayTypeError, IndexError: ArrayIndexError,
}  # fmt: skip


def as_numpy_error(error: Exception) -> Exception:
    """Return the error as one that is an instance of NumPy's type as well as of PyTorch's."""
    kind = _NUMPY_ERRORS.get(type(error))
    if kind is None:
        return error
    made = kind(*error.args).with_traceback(error.__traceback__)
    for note in getattr(error, "__notes__", ()):
        made.add_note(note)
    return made


def _non_tensor_message(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> str | None:
    """Return the message for the first argument that should be a tensor and is not, or None."""
    given = dict(zip(op.plan.params, args, strict=False))
    given.update({torch_parameter(op, name) or name: value for name, value in options.items()})
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


def call_slowly(
    op: Op, function: Any, values: tuple[Any, ...], more: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Run a call of ``function`` that is not on its fast path.

    Args:
        op: The operation.
        function: Its function, or its method.
        values: Arguments for the parameters that accept a position, also those given by name.
        more: Further arguments by position.
        options: All arguments by name.
    """
    args = positional_arguments(op, values, more, options)
    if not op.view:
        for value in args:
            if value.__class__ in torch_function.LAZY:
                return function(*map(_resolve, args), **options)
    override = torch_function.call_override(op, function, args, options)
    return (
        record_operation(call, op, args, options)
        if override is torch_function.NO_OVERRIDE
        else override
    )


def _resolve(value: Any) -> Any:
    """Return a lazily conjugated or negated tensor resolved; other values unchanged."""
    return resolve(value) if isinstance(value, LazyView) else value


def call(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call an operation with arguments of any kind, without overrides.

    Args:
        op: The operation, which has a kernel.
        args: Arguments by position.
        options: Arguments by name.
    """
    if autocast.is_on() and options.get("out") is None:
        cast = autocast.cast_arguments(op, args, options)
        if cast is not None:
            args, options, result_dtype = cast
            with autocast.NoAutocast():
                result = call(op, args, options)
                return result if result_dtype is None else result.to(result_dtype)
    if options:
        form = select_numpy_form(op, options)
        if form is not None:
            return form(*args, **options)
        out = options.pop("out", None)
        if out is not None:
            return call_with_out(op, out, args, options)
    if op.plan.flag is not None and (
        options.get("inplace") or (len(args) > op.plan.flag and args[-1])
    ):
        options.pop("inplace", None)
        return call_inplace(op, args[: op.plan.flag], options)
    if not op.accepts_reduced and (has_reduced(args) or options and requests_reduced(op, options)):
        return call_reduced(op, args, options)
    given, xp = prepare(op, args, options)
    if op.view and isinstance(given[op.plan.tensors[0]], LazyView):
        return apply_lazy_view(op, xp, given)
    return apply(op, xp, given)


def call_with_out(op: Op, out: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Run the operation and write its result to ``out``."""
    check_out(op, out, (*args, *options.values()))
    if op.out is Out.DTYPE_ARGUMENT and isinstance(out, Tensor) and options.get("dtype") is None:
        options["dtype"] = out.dtype
    exact = _is_exact(op.out, (*args, *options.values()))
    with autocast.NoAutocast():
        result = call_unrecorded(op, args, options)
    check_resized(op, out, result, (*args, *options.values()))
    return write_to_out(out, result, op, exact)


def _is_exact(mode: Out | None, given: tuple[Any, ...]) -> bool:
    """Whether the arguments require ``out=`` to have the result's dtype."""
    if mode is Out.EXACT_WITH_NUMBERS:
        return any(v is not None and not isinstance(v, Tensor) for v in given)
    complex_given = any(isinstance(v, Tensor) and v.is_complex() for v in given)
    return mode is Out.EXACT_FOR_REALS and not complex_given


def call_unrecorded(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Run ``call`` to write the result elsewhere; RuntimeError if it would be recorded."""
    given, _ = prepare(op, args, options)
    if op.backward.differentiable and grad_enabled():
        inputs = given if op.plan.sequence is None else (*given, *given[op.plan.sequence])
        if any(isinstance(t, Tensor) and t.requires_grad for t in inputs):
            raise_recorded(op)
    return call(op, args, options)


def call_composite_slowly(
    op: Op, function: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Run a call of a composite that its public function does not run itself.

    Args:
        op: The composite.
        function: Its function or method that was called, which overrides get.
        args: Arguments by position.
        options: Arguments by name.
    """
    at = op.plan.positional
    args = positional_arguments(op, args[:at], args[at:], options)
    if op.public:
        overriding = torch_function.find_overriding(args, options)
        if overriding and op.qualname in torch_function.NOT_OVERRIDABLE:
            with torch_function.DisableOverrides(1):
                return call_composite_slowly(op, function, args, options)
        if overriding or torch_function.has_mode():
            return torch_function.dispatch_override(function, overriding, args, options)
    return record_operation(call_composite, op, args, options)


def call_composite(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call a composite with arguments of any kind, without overrides."""
    if autocast.is_on() and options.get("out") is None:
        cast = autocast.cast_arguments(op, args, options)
        if cast is not None:
            with autocast.NoAutocast():
                return call_composite(op, *cast[:2])
    if "out" in options and op.wraps_out:
        return _call_composite_with_out(op, options.pop("out"), args, options)
    if op.computes_in_float32 and (
        has_reduced(args) or options and has_reduced([*options.values()])
    ):
        return call_composite_reduced(op, composite_body(op), args, options)
    if options:
        form = select_numpy_form(op, options)
        if form is not None:
            return form(*args, **options)
        if not op.plan.index.keys() >= options.keys():
            several = _variadic_name(op.body)
            if several in options:
                args = (*args, options.pop(several))
            options = _rename_options(op, options)
    try:
        return add_scalar_checks(op, composite_body(op))(*args, **options)
    except REWRITTEN_ERRORS as error:
        better = rewrite_error(op, args, options, error)
        if better is error:
            raise
        raise better from None


#: Types of errors of composites that may be rewritten.
REWRITTEN_ERRORS: tuple[type[Exception], ...] = (
    AttributeError,
    TypeError,
    RuntimeError,
    ValueError,
    IndexError,
)


def rewrite_error(
    op: Op, args: tuple[Any, ...], options: dict[str, Any], error: Exception
) -> Exception:
    """Return the error to raise instead of ``error``, which the body of a composite raised.

    If an argument has an override, the override may have raised it: it is then unchanged.
    """
    fits = all(isinstance(args[i], Tensor) for i in op.plan.tensors if i < len(args))
    if fits and op.public and torch_function.find_overriding(args, options):
        return error
    return rewrite_composite_error(op, args, options, error)


def _variadic_name(source: Callable[..., Any]) -> str | None:
    """Return the name of a parameter such as ``*sizes``, or None.

    PyTorch accepts a sequence for all of them as a keyword of that name.
    """
    code = source.__code__
    named = code.co_argcount + code.co_kwonlyargcount  # the variadic one comes after these
    return code.co_varnames[named] if code.co_flags & CO_VARARGS else None


def composite_body(op: Op) -> Callable[..., Any]:
    """Return a composite's function, which names the nodes of its results where PyTorch does."""
    body: Callable[..., Any] = op.body
    return _name_nodes(op, body) if _renames_nodes(op) else body


def _renames_nodes(op: Op) -> bool:
    """Whether a composite renames the nodes of its results."""
    return op.node.name is not None or bool(op.node.frees)


def _name_nodes(op: Op, source: Callable[..., Any]) -> Callable[..., Any]:
    """Return a composite's function that renames the nodes of its results."""

    def function(*args: Any, **options: Any) -> Any:
        before = next_seq()
        result = source(*args, **options)
        _rename_nodes(op, before, result, args, options)
        return result

    return function


def _rename_nodes(
    op: Op, before: int, result: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    """Rename the nodes of a composite's results that are newer than the number ``before``.

    To PyTorch such a composite is one operation. The option ``node`` also states when these nodes
    are freed.
    """
    results = result if isinstance(result, (tuple, list)) else (result,)
    for t in results:
        if t.__class__ is not Tensor or t._rg or t._base is not None:
            break
    else:  # no result has a node
        return
    node: Any = op.node.name
    for t in results:
        if isinstance(t, Tensor) and t._base is not None:
            _release_view(t, args, options)
        made = node_of(t._node) if isinstance(t, Tensor) and t._rg else None
        if made is not None and made.seq > before and isinstance(made.op, Backward):
            name = node(made) if callable(node) else node
            if name is not None or op.node.frees:
                made.op = made.op.rename(name or made.op.backward_name, op.node.frees or None)


def _release_view(result: Tensor, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Release a composite's result from its base, unless an argument is or has that base."""
    given: list[Any] = [*args, *options.values()]
    while given:
        value = given.pop()
        if isinstance(value, (tuple, list)):
            given.extend(value)
        elif isinstance(value, Tensor) and (result._base is value or result._base is value._base):
            return
    own_memory(result)


def _call_composite_with_out(
    op: Op, out: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Run a composite and write its result to ``out``."""
    if out is not None:
        check_out(op, out, (*args, *options.values()))
    with autocast.NoAutocast() if out is not None else nullcontext():
        result = op.function(*args, **options)
    if out is None:
        return result
    check_resized(op, out, result, (*args, *options.values()))
    return write_if_unrecorded(out, result, op)


def write_if_unrecorded(out: Any, result: Any, op: Op) -> Any:
    """Write a result to ``out`` if it was computed without recording.

    Raises:
        RuntimeError: If the result is part of a graph, or its dtype does not fit ``out``.
    """
    parts = result if isinstance(result, tuple) else (result,)
    if grad_enabled() and any(isinstance(t, Tensor) and t.requires_grad for t in parts):
        raise_recorded(op)
    return write_to_out(out, result, op)


def _rename_options(op: Op, options: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords of a call under the names of the composite's parameters.

    Raises:
        TypeError: For a keyword that it does not have, or two for one parameter.
    """
    named: dict[str, Any] = {}
    for name, value in options.items():
        own = name if name in op.plan.index else torch_parameter(op, name)
        if own is None:
            if not op.body.__code__.co_flags & CO_VARKEYWORDS:
                raise unexpected_keyword_error(op, name)
            own = name
        if own in named or own != name and own in options:
            raise repeated_argument_error(op, own, name)
        named[own] = value
    return named


def make_composite_function(op: Op, public: Any = None) -> Any:
    """Return the public function of a composite, which checks the arguments and runs its body.

    A call with an argument of another class than the declared ones, or of a class that may override
    it, goes to ``call_composite_slowly``. Overrides get ``public``, by default this function.
    """
    prepared: Any = None

    def function(*args: Any, **options: Any) -> Any:
        nonlocal prepared
        try:
            if prepared is None:
                prepared = _prepare_composite(op)
            body, renames, accepted, by_name, fits, computes_in_float32 = prepared
            if not PLAIN or fits is not None and not fits(args, options):
                return call_composite_slowly(op, public, args, options)
            count = len(args)
            for i, classes in accepted:
                if i >= count:
                    break
                kind = args[i].__class__
                if kind not in classes:
                    return call_composite_slowly(op, public, args, options)
                if computes_in_float32 and kind in PLAIN and args[i]._data.dtype.num > 255:
                    return _call_in_float32(op, public, args, options)
            if options and not _fits_by_name(by_name, options, computes_in_float32):
                return call_composite_slowly(op, public, args, options)
            try:
                before = next_seq() if renames else 0
                out = body(*args, **options)
            except REWRITTEN_ERRORS as error:
                better = rewrite_error(op, args, options, error)
                if better is error:
                    raise
                raise better from None
            if renames and (out.__class__ is not Tensor or out._rg or out._base is not None):
                _rename_nodes(op, before, out, args, options)
            return out
        except Exception as error:
            shorten(error)
            raise

    function.__name__ = op.name
    public = public or function
    return function


def _prepare_composite(op: Op) -> tuple[Any, ...]:
    """Return the body of a composite and the checks of its arguments.

    Returns:
        A tuple of the body; whether the nodes of its results are renamed; pairs of a parameter's
        position and the classes that it accepts; for each parameter that a name may give, these
        classes or None for all; the result of ``_make_sequence_check``; and whether tensors of
        reduced precision are computed in float32.
    """
    plan, body, renames = op.plan, op.body, _renames_nodes(op)
    if op.is_numpy_function and plan.scalars:
        body, renames = add_flag_conversion(op, composite_body(op)), False
    accepted: dict[int, Any] = {}
    for i, (kind, _) in {} if op.is_numpy_function else plan.scalars.items():
        accepted[i] = frozenset((kind, int if kind is float else bool, plan.defaults[i].__class__))
    if op.public:
        first = (0,) if plan.positional and not plan.tensors else plan.tensors
        accepted.update((i, NOT_OVERRIDING) for i in first if i != plan.sequence)
    return (
        body,
        renames,
        tuple(sorted(accepted.items(), key=itemgetter(0))),
        dict.fromkeys(plan.index) | {plan.params[i]: classes for i, classes in accepted.items()},
        _make_sequence_check(op),
        op.computes_in_float32,
    )


def _fits_by_name(
    by_name: dict[str, Any], options: dict[str, Any], computes_in_float32: bool
) -> bool:
    """Whether the keyword arguments are of the accepted classes, for the fast path.

    Args:
        by_name: The accepted classes by parameter, None for all.
        options: Arguments by name.
        computes_in_float32: Whether the fast path does not accept reduced precision.
    """
    for name, value in options.items():
        classes = by_name.get(name, ())
        if classes is not None:
            kind = value.__class__
            if kind not in classes:
                return False
            if computes_in_float32 and kind in PLAIN and value._data.dtype.num > 255:
                return False
    return True


def _make_sequence_check(op: Op) -> Callable[[Any, Any], bool] | None:
    """Return a predicate of a call's arguments: whether no tensor in them may override the call.

    It looks at the list of tensors and at the arguments of ``*args``, and gets the positional
    arguments and the keywords. None for a composite that has neither.
    """
    at, several = op.plan.sequence, bool(op.body.__code__.co_flags & CO_VARARGS)
    if not op.public or at is None and not several:
        return None

    def has_no_override(args: tuple[Any, ...], options: dict[str, Any]) -> bool:
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

    return has_no_override


def _call_in_float32(op: Op, function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Run a composite with a tensor of reduced precision in float32."""
    plan, count = op.plan, len(args)
    values = args[: plan.positional] + tuple(
        options.get(plan.params[i], plan.defaults[i]) for i in range(count, plan.positional)
    )
    out = call_in_float32(op, function, values, args[plan.positional :], options)
    return call_composite_slowly(op, function, args, options) if out is None else out
