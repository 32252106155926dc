"""Fast paths: one tensor, two tensors, or a tensor and a number, with nothing to convert.

A wrapper is chosen once, when an operation is defined, to fit its kind. It handles what needs
no thought and hands everything else to the general path in ``_call``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _state, _tensor
from ._arguments import bind, explain_shapes
from ._call import call, results, view_result
from ._record import record, record_binary, record_leading, record_unary
from ._spec import REQUIRED, Op
from ._tensor import Tensor, new, unmodified, wrap

GRAD = _state.GRAD
grad_enabled = _state.grad_enabled
scoped_grad = _state.scoped_grad


def _mark(inference: bool) -> None:
    global new, unmodified
    new, unmodified = _tensor.new, _tensor.unmodified


_state.when_inference.append(_mark)


def make_function(op: Op) -> Callable[..., Any]:
    """The public function that fits ``op``'s kind."""
    if op.view and op.tensors == (0,) and op.flag is None and op.promote is None:
        return _viewing(op)
    if op.sequence == 0 and op.tensors == (0,) and op.flag is None and not op.view:
        return _joining(op)
    if op.view or op.returns is not None or op.sequence is not None or not op.tensors:
        return _general(op)
    if op.params == ("input",):
        return _unary(op)
    if op.params == ("input", "inplace"):
        return _unary_with_flag(op)
    if op.tensors == op.operands == (0, 1) and op.positional == 2 and op.params[0] == "input":
        if all(d is not REQUIRED for d in op.defaults[2:]):
            return _binary(op)
    if op.whole is not None:
        return _reduction(op, op.whole)
    if op.shape_position is op.flag is None:
        return _leading(op) if op.tensors == (0,) and op.promote is None else _several(op)
    return _general(op)


def _unary(op: Op) -> Callable[..., Any]:
    kernel = op.kernel
    only_floats = op.promote == "float"
    last: Any = None

    def is_float(dtype: Any) -> bool:
        nonlocal last
        if dtype.kind not in "fc":
            return False
        last = dtype
        return True

    def function(input: Any = REQUIRED, **options: Any) -> Any:
        if options or not isinstance(input, Tensor):
            return call(op, () if input is REQUIRED else (input,), options)
        x = input._data
        if only_floats and x.dtype is not last and not is_float(x.dtype):
            return call(op, (input,), options)
        xp = input._xp
        y = kernel(xp, x)
        if y.__class__ is not x.__class__:
            y = xp.asarray(y)
        out = new(Tensor)
        out._data = y
        out._xp = xp
        out._rg = False
        out._node = out._grad = out._base = out._view = None
        out._vc = unmodified
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
    forward, _ = operands(op, call)

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


_SMALL = {i: i for i in range(128)}  # numbers that fit every integer dtype


#: ``(xp, dtype, run, kinds, number)``: how an operation of two operands runs on the arrays of one
#: backend and native dtype. ``run`` is the kernel on two arrays, or None where the general path has
#: to convert first; ``kinds`` are the classes of numbers that may be an operand; ``number(value)``
#: is such a number as the kernel takes it, or None to leave it to the general path. (No named
#: tuple: Python takes a plain one apart several times faster.)
Plan = tuple[Any, Any, Any, tuple[type, ...], Callable[[Any], Any]]


def _plan(op: Op, xp: Any, dtype: Any) -> Plan:
    floats = dtype.kind == "f"
    kernel = op.kernel
    run = None
    if dtype.kind in "fc" or op.promote != "float":
        run = lambda x, y: kernel(xp, x, y)  # noqa: E731
    if 1 not in op.numbers:
        return xp, dtype, run, (), _SMALL.get
    # The library's function itself: the kernel is no more than that, but for halves.
    if floats and op.ufunc and dtype.itemsize > 2:
        return xp, dtype, getattr(xp, op.ufunc), (float, int), xp.number(dtype)
    if floats:
        return xp, dtype, run, (float, int), lambda number: number
    return xp, dtype, run, (int,) if dtype.kind in "iu" else (), _SMALL.get


def operands(
    op: Op, fallback: Callable[..., Any]
) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """Two tensors, or a tensor and a number, and a number and a tensor.

    ``fallback(op, (input, other), {})`` takes every call that is less plain. Long, because what
    both functions share would cost a call: they are what a small program does all day.
    """
    plans: dict[Any, Plan] = {}
    last: Plan = (None, None, None, (), _SMALL.get)

    def find(xp: Any, dtype: Any) -> Plan:
        nonlocal last
        plan = plans.get((xp, dtype))
        if plan is None:
            plan = plans[xp, dtype] = _plan(op, xp, dtype)
        last = plan
        return plan

    def forward(input: Any, other: Any) -> Any:
        x = input._data
        xp = input._xp
        dtype = x.dtype
        known, kept, run, kinds, number = last
        if known is not xp or kept is not dtype:
            _, _, run, kinds, number = find(xp, dtype)
        if isinstance(other, Tensor):
            y = other._data
            if y.dtype is not dtype or other._xp is not xp or run is None:
                return fallback(op, (input, other), {})
            rg = input._rg or other._rg
        else:
            rg = input._rg
            y = number(other) if other.__class__ in kinds else None
            if y is None or run is None:
                return fallback(op, (input, other), {})
        try:
            z = run(x, y)
        except ValueError as error:
            raise explain_shapes(op, (input, other), error) from None
        if z.__class__ is not x.__class__:
            z = xp.asarray(z)
        out = new(Tensor)
        out._data = z
        out._xp = xp
        out._rg = False
        out._node = out._grad = out._base = out._view = None
        out._vc = unmodified
        # The first two are grad_enabled() where nobody chose, without the frame of a call.
        if rg and (scoped_grad() is None and not GRAD.by_thread or grad_enabled()):
            record_binary(op, xp, out, input, other, x, y)
        return out

    def reflected(input: Any, other: Any) -> Any:
        x = input._data
        xp = input._xp
        known, kept, run, kinds, number = last
        if known is not xp or kept is not x.dtype:
            _, _, run, kinds, number = find(xp, x.dtype)
        y = number(other) if other.__class__ in kinds else None
        if y is None or run is None:
            return fallback(op, (other, input), {})
        z = run(y, x)
        out = wrap(z if z.__class__ is x.__class__ else xp.asarray(z), xp)
        if input._rg and op.differentiable and grad_enabled():
            record(op, xp, out, (other, input, *op.tail), (other, x, *op.tail))
        return out

    return forward, reflected


def _leading(op: Op) -> Callable[..., Any]:
    """One tensor first and plain values after it: reductions, softmax, ..."""
    kernel, run = op.kernel, op.positional_kernel
    required, positional, defaults = op.required - 1, op.positional - 1, op.defaults[1:]

    def function(input: Any = REQUIRED, *args: Any, **options: Any) -> Any:
        if not isinstance(input, Tensor):
            return call(op, () if input is REQUIRED else (input, *args), options)
        xp = input._xp
        x = input._data
        n = len(args)
        if not options and required <= n <= positional:
            if n:
                rest = args + defaults[n:]
                y = run(xp, x, *rest)
            else:
                rest = defaults
                y = kernel(xp, x)
        elif _plain(op, options):
            rest = tuple(bind(op, (input, *args), options)[1:])
            y = run(xp, x, *rest)
        else:
            return call(op, (input, *args), options)
        if y.__class__ is tuple or y.__class__ is list:
            return results(op, xp, y, (input, *rest), (x, *rest))
        out = new(Tensor)
        out._data = y if y.__class__ is x.__class__ else xp.asarray(y)
        out._xp = xp
        out._rg = False
        out._node = out._grad = out._base = out._view = None
        out._vc = unmodified
        if input._rg and op.differentiable and grad_enabled():
            record_leading(op, xp, out, input, x, rest)
        return out

    return function


def _reduction(op: Op, whole: str) -> Callable[..., Any]:
    """``_leading``, where the backend's method ``whole`` reduces all elements to a 0-d array."""
    general = _leading(op)
    last: tuple[Any, Any] = None, None

    def find(xp: Any) -> Any:
        nonlocal last
        found = getattr(xp, whole)
        last = xp, found
        return found  # not what is in last: another thread may have put its own there

    def function(input: Any = REQUIRED, *args: Any, **options: Any) -> Any:
        if args or options or not isinstance(input, Tensor):
            return general(input, *args, **options)
        xp = input._xp
        known, reduce = last
        if known is not xp:
            reduce = find(xp)
        x = input._data
        out = new(Tensor)
        out._data = reduce(x)
        out._xp = xp
        out._rg = False
        out._node = out._grad = out._base = out._view = None
        out._vc = unmodified
        if input._rg and op.differentiable and grad_enabled():
            record_unary(op, xp, out, input, x)
        return out

    return function


def _viewing(op: Op) -> Callable[..., Any]:
    """One tensor first, of which the result may be a view, and plain values after it."""
    run, sizes = op.positional_kernel, op.shape_position == 1
    required, positional, defaults = op.required - 1, op.positional - 1, op.defaults[1:]

    def function(input: Any = REQUIRED, *args: Any, **options: Any) -> Any:
        if options or not isinstance(input, Tensor):
            return call(op, () if input is REQUIRED else (input, *args), options)
        if sizes and args and not isinstance(args[0], (tuple, list)):
            if args[0].__class__ is not int:
                return call(op, (input, *args), options)
            args = (args,)
        n = len(args)
        if not required <= n <= positional:
            return call(op, (input, *args), options)
        xp = input._xp
        x = input._data
        given = (input, *args, *defaults[n:])
        try:
            y = run(xp, x, *given[1:])
        except ValueError as error:
            raise explain_shapes(op, given, error) from None
        if y.__class__ is tuple or y.__class__ is list:
            return results(op, xp, y, given, (x, *given[1:]))
        out = wrap(y if y.__class__ is x.__class__ else xp.asarray(y), xp)
        wants = input._rg and op.differentiable and grad_enabled()
        if xp.is_view(y, x):
            view_result(op, xp, out, given, (x, *given[1:]), bool(wants))
        elif wants:
            record_leading(op, xp, out, input, x, given[1:])
        return out

    return function


def _several(op: Op) -> Callable[..., Any]:
    """Tensors and plain values in any order; tensors that may be left out, too.

    Long, because the function inside is one loop over the arguments and what surrounds it.
    """
    run, tensors, operands, optional = op.positional_kernel, op.tensors, op.operands, op.optional
    required, positional, defaults = op.required, op.positional, op.defaults

    def function(*args: Any, **options: Any) -> Any:
        n = len(args)
        if not options and required <= n <= positional:
            given = args + defaults[n:]
        elif _plain(op, options):
            given = tuple(bind(op, args, options))
        else:
            return call(op, args, options)
        raws = list(given)
        xp = dtype = None
        wants = False
        for i in tensors:
            tensor = given[i]
            if isinstance(tensor, Tensor):
                x = raws[i] = tensor._data
                if tensor._xp is not xp:
                    if xp is not None:
                        return call(op, args, options)
                    xp = tensor._xp
                if op.promote is not None and i in operands and x.dtype is not dtype:
                    if dtype is not None or x.dtype.kind != "f":
                        return call(op, args, options)
                    dtype = x.dtype
                wants = wants or tensor._rg
            elif tensor is not None or i not in optional:
                return call(op, args, options)
        if xp is None:
            return call(op, args, options)
        try:
            y = run(xp, *raws)
        except ValueError as error:
            raise explain_shapes(op, given, error) from None
        if y.__class__ is tuple or y.__class__ is list:
            return results(op, xp, y, given, tuple(raws))
        out = wrap(y if y.__class__ is xp.array_type else xp.asarray(y), xp)
        if wants and op.differentiable and grad_enabled():
            record(op, xp, out, given, tuple(raws))
        return out

    return function


def _joining(op: Op) -> Callable[..., Any]:
    """A list of tensors first and plain values after it."""
    run, defaults, positional = op.positional_kernel, op.defaults, op.positional

    def function(*args: Any, **options: Any) -> Any:
        n = len(args)
        if options and _plain(op, options):
            args, options = tuple(bind(op, args, options)), {}
        elif not options and op.required <= n <= positional:
            args += defaults[n:]
        if options or not args or args[0].__class__ not in (tuple, list) or not args[0]:
            return call(op, args, options)
        tensors, rest = args[0], args[1:]
        raws = []
        wants = False
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                return call(op, args, options)
            raws.append(tensor._data)
            wants = wants or tensor._rg
        xp, dtype = tensors[0]._xp, raws[0].dtype
        for tensor, raw in zip(tensors, raws, strict=True):
            if tensor._xp is not xp or raw.dtype is not dtype:
                return call(op, args, options)
        out = wrap(run(xp, tuple(raws), *rest), xp)
        if wants and op.differentiable and grad_enabled():
            record(op, xp, out, args, (tuple(raws), *rest))
        return out

    return function


def _plain(op: Op, options: dict[str, Any]) -> bool:
    """Whether all keywords are the operation's own parameters."""
    index = op.index
    return not options or all(name in index for name in options)


def _general(op: Op) -> Callable[..., Any]:
    def function(*args: Any, **options: Any) -> Any:
        return call(op, args, options)

    return function
