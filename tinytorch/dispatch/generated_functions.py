"""Public functions: those of kernels are generated at their first call, composites closures."""

from __future__ import annotations

import builtins
import functools
import inspect
import itertools
import linecache
import sys
import threading
from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import CodeType, FunctionType
from typing import Any

from ..core.tensor import blank, creation, tensors
from ..core.torch_function import PLAIN, VALUES
from ..dtypes import LOW, as_dtype, dtype, float32
from ..graph.inference import UNSETTLED, mark
from ..graph.nodes import Node, next_seq
from ..graph.saved_tensors import Recording
from ..graph.views import VIEW, edge_of, track, unrecorded_kind
from ..state import GRAD, current_backend, grad_enabled, place_of_new, scoped_grad
from ..state.tracebacks import GENERATED, shorten
from .arguments import BASIC, as_given, checked_size, explain_shapes, is_basic
from .call import make_composite_function, slow, slow_composite
from .function_text import write_function
from .inplace import slow_inplace
from .low_precision import in_float32
from .node_recording import note_versions, picking, record, results, several_views, watch
from .operation import REQUIRED, Form, Op
from .signature import of_inplace, without_out

#: Values of the names that all generated functions have.
_SHARED: dict[str, Any] = {
    "_as_dtype": as_dtype,
    "_current_backend": current_backend,
    "_GRAD": GRAD,
    "_PLAIN": PLAIN,
    "_VIEW": VIEW,
    "_Recording": Recording,
    "_Exception": Exception,
    "_UNSETTLED": UNSETTLED,
    "_ValueError": ValueError,
    "_any": any,
    "_basic": BASIC,
    "_bool": bool,
    "_checked_size": checked_size,
    "_dtypes": dtype,
    "_LOW": frozenset(LOW),
    "_edge_of": edge_of,
    "_explain_shapes": explain_shapes,
    "_grad_enabled": grad_enabled,
    "_int": int,
    "_is_basic": is_basic,
    "_issubclass": issubclass,
    "_len": len,
    "_list": list,
    "_making": creation,
    "_mark": mark,
    "_next": next,
    "_next_seq": next_seq,
    "_no_item": (IndexError, TypeError),
    "_nodes": blank(Node),
    "_note_versions": note_versions,
    "_place_of_new": place_of_new,
    "_reals": (float, int),
    "_record": record,
    "_required": REQUIRED,
    "_results": results,
    "_several_views": several_views,
    "_scoped_grad": scoped_grad,
    "_shorten": shorten,
    "_single": float32.dtype,
    "_tensors": tensors,
    "_track": track,
    "_tuple": tuple,
    "_unrecorded_kind": unrecorded_kind,
    "_values": VALUES,
    "_watch": watch,
}

_generating = threading.Lock()
_generated = itertools.count()


def _not_generated(*args: Any, **options: Any) -> Any:
    """Body of a function before its first call: generate it, and call it again."""
    names = globals()
    try:
        return names["_generate"]()(*args, **options)
    except Exception as error:
        names["_shorten"](error)
        raise


def make_function(name: str) -> Any:
    """Return a function that ``serve`` makes one of an operation's."""
    # A library's kernel that imports something in C asks the caller's names for the builtins.
    names = {"__name__": __name__, "__builtins__": builtins, "_shorten": shorten}
    return FunctionType(_not_generated.__code__, names, name)


def serve(function: Any, op: Op, form: Form, slow: Callable[..., Any]) -> Any:
    """Make ``function`` one of ``op``'s, to be generated at its first call; returns it.

    Args:
        function: The result of ``make_function``.
        op: The operation.
        form: Which of its functions.
        slow: Function of every call that is not on the fast path: see ``function_text``. It is
            called with the operation and the function before everything else.
    """
    names = function.__globals__
    names["_generate"] = partial(_generate, op, form, function)
    names["_in_float32"] = partial(in_float32, op, function)
    names["_slow"] = partial(slow, op, function)
    return function


def make_public_function(op: Op, name: str) -> Any:
    """Return the public function of an operation, or a method that does the same."""
    fast = op.registered.fast
    if op.kernel is not None:
        return serve(make_function(name), op, Form.FUNCTION, slow)
    if fast is None:
        return make_composite_function(op)

    def slow_path(fast: Op, function: Any, values: Any, more: Any, options: Any) -> Any:
        return slow_composite(op, function, as_given(fast, values, more, options), options)

    form = Form.INPLACE if name.endswith("_") else Form.FUNCTION
    return serve(make_function(name), fast, form, slow_path)


@functools.cache
def make_inplace_function(op: Op) -> Any:
    """``name_``, a method and a function; one object, so that it can be pickled by name."""

    function = serve(make_function(op.name), op, Form.INPLACE, slow_inplace)
    function.__name__ = f"{op.name}_"
    function.__module__, function.__qualname__ = op.home(function.__name__)
    function.__wrapped__ = inspect.unwrap(op.function)
    function.__doc__ = (
        f"In-place form of ``{op.qualname}``: writes the result over ``input`` and returns it.\n\n"
        f"    {without_out(op.function.__doc__ or '')}"
    )
    function.__signature__ = of_inplace(op)
    function.op = op
    return function


def _generate(op: Op, form: Form, function: FunctionType) -> FunctionType:
    module = inspect.unwrap(op.function).__module__
    if module in sys.modules:  # its rules follow it there: wait for the whole
        import_module(module)
    # Outside the lock: this may import, and what is imported may call another function.
    code, names = _code(write_function(op, form)), _names_of(op)
    with _generating:
        if function.__code__ is _not_generated.__code__:
            _install(function, code, names, op.plan.defaults if form.named else ())
    return function


def _install(
    function: FunctionType, code: CodeType, names: dict[str, Any], defaults: tuple[Any, ...]
) -> None:
    """Give a function its code, once and for all; running it before calls this function."""
    function.__globals__.update(_SHARED)
    function.__globals__.update(names, __name__=None)  # silent: see ``facade.packages``
    function.__defaults__ = defaults[: code.co_argcount] or None
    function.__code__ = code.replace(co_name=function.__name__, co_qualname=function.__qualname__)


def _names_of(op: Op) -> dict[str, Any]:
    """The values of the names that differ between operations."""
    op.registered.is_generated = True
    last: list[Plan] = [(None, None, None, (), _SMALL.get)]
    defaults = {f"_d{i}": default for i, default in enumerate(op.plan.defaults)}
    keywords = {f"_n{i}": name for i, name in enumerate(op.plan.params)}
    return defaults | keywords | {
        "_op": op, "_backward": op.backward, "_kernel": op.kernel,
        "_forward_with_saved": op.registered.forward_with_saved,
        "_step": op.function, "_pick": picking(op), "_copied": op.backward.copied,
        "_reflected": op.backward.reflected, "_last": last, "_find": partial(_find, op, {}, last),
    }  # fmt: skip


@functools.cache
def _code(text: str) -> CodeType:
    """The compiled text of a function; operations of one shape have it in common."""
    name = f"{GENERATED}{next(_generated)}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    module = compile(text, name, "exec")
    return next(code for code in module.co_consts if isinstance(code, CodeType))


# -- two operands -----------------------------------------------------------------------------

_SMALL = {i: i for i in range(128)}  # numbers that fit every integer dtype


#: ``(xp, dtype, run, kinds, number)``: how an operation of two operands runs on the arrays of one
#: backend and native dtype. ``run`` is the kernel on two arrays, or None where the general path has
#: to convert first; ``kinds`` are the classes of numbers that may be an operand; ``number(value)``
#: is such a number as the kernel takes it, or None to leave it to the general path. (No named
#: tuple: Python takes a plain one apart several times faster.)
Plan = tuple[Any, Any, Any, tuple[type, ...], Callable[[Any], Any]]


def _find(op: Op, plans: dict[Any, Plan], last: list[Plan], xp: Any, dtype: Any) -> Plan:
    plan = plans.get((xp, dtype))
    if plan is None:
        plan = plans[xp, dtype] = _plan(op, xp, dtype)
    if plan[2] is not None:  # what goes the long way leaves the place to what follows from it
        last[0] = plan
    return plan


def _plan(op: Op, xp: Any, dtype: Any) -> Plan:
    floats = dtype.kind == "f"
    run = None
    low = dtype.num > 255 and not op.takes_low
    if (dtype.kind in "fc" or op.promote != "float") and not low:
        run = partial(op.kernel, xp)
    if 1 not in op.plan.numbers:
        return xp, dtype, run, (), _SMALL.get
    # The library's function itself: the kernel is no more than that, but for halves.
    if floats and op.backend_function and dtype.itemsize > 2:
        return xp, dtype, getattr(xp, op.backend_function), (float, int), xp.number(dtype)
    if floats:
        return xp, dtype, run, (float, int), lambda number: number
    return xp, dtype, run, (int,) if dtype.kind in "iu" else (), _SMALL.get
