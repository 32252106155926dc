"""Fast paths: calls with nothing to convert; those of two operands are in ``_operands``.

A wrapper is chosen once, when an operation is defined, to fit its kind. It handles what needs
no thought and hands everything else to the general path in ``_call``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _asking, _call, _state, _tensor
from ._arguments import bind, explain_shapes
from ._asking import PLAIN
from ._call import call, results, view_result
from ._operands import binary
from ._plain_arguments import exact
from ._record import record, record_leading, record_unary
from ._spec import REQUIRED, Op
from ._tensor import Tensor, new, unmodified, wrap
from .autograd.packing import Recording

grad_enabled = _state.grad_enabled


def _mark(inference: bool) -> None:
    global new, unmodified
    new, unmodified = _tensor.new, _tensor.unmodified


_state.when_inference.append(_mark)
#: Tensor, but while a mode is active nothing: no call takes a fast path then.
plain: Any = Tensor


def _ask(mode: bool) -> None:
    global call, plain, PLAIN
    call = _call.asking_call
    plain, PLAIN = (None, set()) if mode else (Tensor, _asking.PLAIN)


_asking.when_asking(_ask)


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
            return binary(op)
    if op.whole is not None:
        return _reduction(op, op.whole)
    if op.keeps is not None:
        return _keeping(op, op.keeps)
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
        if options or input.__class__ is not plain and input.__class__ not in PLAIN:
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


def _leading(op: Op) -> Callable[..., Any]:
    """One tensor first and plain values after it: reductions, softmax, ..."""
    kernel, run = op.kernel, op.positional_kernel
    required, positional, defaults = op.required - 1, op.positional - 1, op.defaults[1:]
    unchecked = op.unchecked - 1

    def function(input: Any = REQUIRED, *args: Any, **options: Any) -> Any:
        if input.__class__ is not plain and input.__class__ not in PLAIN:
            return call(op, () if input is REQUIRED else (input, *args), options)
        xp = input._xp
        x = input._data
        n = len(args)
        if (
            not options and required <= n <= positional
            and (n <= unchecked or exact(op, (input, *args)))
        ):  # fmt: skip
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


def _keeping(op: Op, keeps: Callable[..., Any]) -> Callable[..., Any]:
    """``_leading``, where a recorded call keeps an array that the gradient rule can use."""
    general = _leading(op)

    def function(input: Any = REQUIRED, *args: Any, **options: Any) -> Any:
        if (
            input.__class__ is not plain and input.__class__ not in PLAIN
            or args or not _plain(op, options) or Recording.watched
            or not (input._rg and grad_enabled())
        ):  # fmt: skip
            return general(input, *args, **options)
        xp, x = input._xp, input._data
        rest = tuple(bind(op, (input,), options)[1:])
        y, kept = keeps(xp, x, *rest)
        out = wrap(y if y.__class__ is x.__class__ else xp.asarray(y), xp)
        record_leading(op, xp, out, input, x, rest)
        node: Any = out._node
        if node is not None:
            node.out = kept
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
        if args or options or input.__class__ is not plain and input.__class__ not in PLAIN:
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
    unchecked = op.unchecked - 1

    def function(input: Any = REQUIRED, *args: Any, **options: Any) -> Any:
        if options or input.__class__ is not plain and input.__class__ not in PLAIN:
            return call(op, () if input is REQUIRED else (input, *args), options)
        if sizes and args and not isinstance(args[0], (tuple, list)):
            if args[0].__class__ is not int:
                return call(op, (input, *args), options)
            args = (args,)
        n = len(args)
        if not required <= n <= positional or n > unchecked and not exact(op, (input, *args)):
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
            record_leading(op.copied, xp, out, input, x, given[1:])
        return out

    return function


def _several(op: Op) -> Callable[..., Any]:
    """Tensors and plain values in any order; tensors that may be left out, too.

    Long, because the function inside is one loop over the arguments and what surrounds it.
    """
    run, tensors, operands, optional = op.positional_kernel, op.tensors, op.operands, op.optional
    required, positional, defaults = op.required, op.positional, op.defaults
    unchecked = op.unchecked

    def function(*args: Any, **options: Any) -> Any:
        n = len(args)
        if (
            not options and required <= n <= positional
            and (n <= unchecked or exact(op, args))
        ):  # fmt: skip
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
            if tensor.__class__ is plain or tensor.__class__ in PLAIN:
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
    unchecked = op.unchecked

    def function(*args: Any, **options: Any) -> Any:
        n = len(args)
        given = ()
        if options and _plain(op, options):
            given = tuple(bind(op, args, options))
        elif not options and op.required <= n <= positional and (n <= unchecked or exact(op, args)):
            given = args + defaults[n:]
        if not given or given[0].__class__ not in (tuple, list) or not given[0]:
            return call(op, args, options)
        tensors, rest = given[0], given[1:]
        raws = []
        wants = False
        for tensor in tensors:
            if tensor.__class__ is not plain and tensor.__class__ not in PLAIN:
                return call(op, args, options)
            raws.append(tensor._data)
            wants = wants or tensor._rg
        xp, dtype = tensors[0]._xp, raws[0].dtype
        for tensor, raw in zip(tensors, raws, strict=True):
            if tensor._xp is not xp or raw.dtype is not dtype:
                return call(op, args, options)
        out = wrap(run(xp, tuple(raws), *rest), xp)
        if wants and op.differentiable and grad_enabled():
            record(op, xp, out, given, (tuple(raws), *rest))
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
