"""Fast paths: one tensor, two tensors, or a tensor and a number, with nothing to convert.

A wrapper is chosen once, when an operation is defined, to fit its kind. It handles what needs
no thought and hands everything else to the general path in ``_call``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _state
from ._arguments import bind, explain_shapes
from ._call import call, results
from ._record import record, record_binary, record_unary
from ._spec import REQUIRED, Op
from ._tensor import Tensor, new, wrap

grad_enabled = _state.grad_enabled


def make_function(op: Op) -> Callable[..., Any]:
    """The public function that fits ``op``'s kind."""
    if op.view or op.returns is not None or op.sequence is not None or not op.tensors:
        return _general(op)
    if op.params == ("input",):
        return _unary(op)
    if op.params == ("input", "inplace"):
        return _unary_with_flag(op)
    if op.tensors == op.operands == (0, 1) and op.positional == 2 and op.params[0] == "input":
        if all(d is not REQUIRED for d in op.defaults[2:]):
            return _binary(op)
    if op.tensors == (0,) and op.promote is None and op.shape_position is op.flag is None:
        return _leading(op)
    return _general(op)


def _unary(op: Op) -> Callable[..., Any]:
    kernel = op.kernel
    only_floats = op.promote == "float"

    def function(input: Any = REQUIRED, **options: Any) -> Any:
        if options or not isinstance(input, Tensor):
            return call(op, () if input is REQUIRED else (input,), options)
        x = input._data
        if only_floats and x.dtype.kind not in "fc":
            return call(op, (input,), options)
        xp = input._xp
        y = kernel(xp, x)
        if y.__class__ is not x.__class__:
            y = xp.asarray(y)
        out = new(Tensor)
        out._data = y
        out._xp = xp
        out._rg = False
        out._node = out.grad = out._vc = out._base = out._view = None
        if input._rg and op.differentiable and grad_enabled():
            record_unary(op, xp, out, input, x)
        return out

    return function


def _unary_with_flag(op: Op) -> Callable[..., Any]:
    plain = _unary(op)

    def function(input: Any = REQUIRED, inplace: bool = False, **options: Any) -> Any:
        if inplace:
            return call(op, (input,), {"inplace": True, **options})
        return plain(input, **options)

    return function


def _binary(op: Op) -> Callable[..., Any]:
    forward = operands(op, call)

    def function(input: Any = REQUIRED, other: Any = REQUIRED, **options: Any) -> Any:
        if options or other is REQUIRED or not isinstance(input, Tensor):
            return call(op, _given(op, input, other, options), options)
        return forward(input, other)

    return function


def _given(op: Op, input: Any, other: Any, options: dict[str, Any]) -> tuple[Any, ...]:
    """What was given by position; either operand may have come by another keyword."""
    if input is REQUIRED:
        if other is not REQUIRED:
            options[op.params[1]] = other
        return ()
    return (input,) if other is REQUIRED else (input, other)


def operands(op: Op, fallback: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """A tensor and another, or a number; ``fallback`` takes every call that is less plain."""
    only_floats = op.promote == "float"
    number_types = (int, float) if 1 in op.numbers else ()
    kernels: dict[Any, Callable[..., Any]] = {}

    def forward(input: Any, other: Any) -> Any:
        x = input._data
        xp = input._xp
        rg = input._rg
        dtype = x.dtype
        if isinstance(other, Tensor):
            y = other._data
            if y.dtype is not dtype or other._xp is not xp:
                return fallback(op, (input, other), {})
            if only_floats and dtype.kind not in "fc":
                return fallback(op, (input, other), {})
            rg = rg or other._rg
        elif other.__class__ in number_types and dtype.kind == "f":
            y = other
        else:
            return fallback(op, (input, other), {})
        try:
            z = (kernels.get(xp) or _find_kernel(op, xp, kernels))(x, y)
        except ValueError as error:
            raise explain_shapes(op, (input, other), error) from None
        if z.__class__ is not x.__class__:
            z = xp.asarray(z)
        out = new(Tensor)
        out._data = z
        out._xp = xp
        out._rg = False
        out._node = out.grad = out._vc = out._base = out._view = None
        if rg and op.differentiable and grad_enabled():
            record_binary(op, xp, out, input, other, x, y)
        return out

    return forward


def _leading(op: Op) -> Callable[..., Any]:
    """One tensor first and plain values after it: reductions, softmax, ..."""

    def function(*args: Any, **options: Any) -> Any:
        if not args or not isinstance(args[0], Tensor) or not _plain(op, options):
            return call(op, args, options)
        given = tuple(bind(op, args, options))
        input = given[0]
        xp = input._xp
        raws = (input._data, *given[1:])
        y = op.run(xp, raws)
        if y.__class__ is tuple or y.__class__ is list:
            return results(op, xp, y, given, raws)
        out = wrap(y if y.__class__ is xp.array_type else xp.asarray(y), xp)
        if input._rg and op.differentiable and grad_enabled():
            record(op, xp, out, given, raws)
        return out

    return function


def _plain(op: Op, options: dict[str, Any]) -> bool:
    """Whether all keywords are the operation's own parameters."""
    index = op.index
    return not options or all(name in index for name in options)


def _find_kernel(op: Op, xp: Any, kernels: dict[Any, Any]) -> Callable[..., Any]:
    """The kernel on a backend: the library's function itself where it is no more than that."""
    kernel = op.kernel
    found = getattr(xp, op.ufunc) if op.ufunc else lambda x, y: kernel(xp, x, y)
    kernels[xp] = found
    return found


def _general(op: Op) -> Callable[..., Any]:
    def function(*args: Any, **options: Any) -> Any:
        return call(op, args, options)

    return function
