"""Functions that are written by ``template`` when they are first called."""

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

from ..core.tensor import Tensor, blank, making, tensors
from ..core.torch_function import PLAIN
from ..dtypes import LOW, as_dtype, dtype, float32
from ..graph.inference import UNSETTLED, mark
from ..graph.nodes import Node, next_seq
from ..graph.saved_tensors import Recording
from ..graph.views import SEVERAL, VIEW, edge_of, track, unrecorded_kind
from ..state import GRAD, current_backend, grad_enabled, place_of_new, scoped_grad
from ..state.tracebacks import WRITTEN, shorten
from .arguments import as_given, explain_shapes, unwrap
from .call import TOLD, Picking, body_of, results, slow, slow_composite, told
from .inplace import slow_inplace
from .low_precision import in_float32
from .parameter_docs import without_out
from .promotion import plain_number
from .record import note_versions, record, watch
from .scalar_arguments import BASIC, checked_size, is_basic, truthful
from .signature import of_inplace
from .spec import REQUIRED, Op
from .template import source
from .template_arguments import Form, is_numpys

#: What the template's names stand for in every function.
_SHARED: dict[str, Any] = {
    "_as_dtype": as_dtype,
    "_current_backend": current_backend,
    "_GRAD": GRAD,
    "_Node": Node,
    "_PLAIN": PLAIN,
    "_SEVERAL": SEVERAL,
    "_VIEW": VIEW,
    "_Recording": Recording,
    "_TOLD": TOLD,
    "_Exception": Exception,
    "_Tensor": Tensor,
    "_UNSETTLED": UNSETTLED,
    "_ValueError": ValueError,
    "_any": any,
    "_as_given": as_given,
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
    "_isinstance": isinstance,
    "_issubclass": issubclass,
    "_len": len,
    "_list": list,
    "_making": making,
    "_mark": mark,
    "_next": next,
    "_next_seq": next_seq,
    "_no_item": (IndexError, TypeError),
    "_nodes": blank(Node),
    "_note_versions": note_versions,
    "_place_of_new": place_of_new,
    "_plain_number": plain_number,
    "_reals": (float, int),
    "_record": record,
    "_required": REQUIRED,
    "_results": results,
    "_scoped_grad": scoped_grad,
    "_told": told,
    "_shorten": shorten,
    "_single": float32.dtype,
    "_tensors": tensors,
    "_track": track,
    "_tuple": tuple,
    "_unrecorded_kind": unrecorded_kind,
    "_unwrap": unwrap,
    "_values": frozenset((type(None), bool, int, float, complex, tuple, list, str, dtype)),
    "_watch": watch,
}

_writing = threading.Lock()
_written = itertools.count()


def _unwritten(*args: Any, **options: Any) -> Any:
    """What a function does that was never called: it is written, and called again."""
    names = globals()
    try:
        return names["_write"]()(*args, **options)
    except Exception as error:
        names["_shorten"](error)
        raise


def unwritten(name: str) -> Any:
    """A function that does not know yet what it does; see ``serve``."""
    # A library's kernel that imports something in C asks the caller's names for the builtins.
    names = {"__name__": __name__, "__builtins__": builtins, "_shorten": shorten}
    return FunctionType(_unwritten.__code__, names, name)


def serve(function: Any, op: Op, form: Form, slow: Callable[..., Any] | None = None) -> Any:
    """Make ``function`` one of ``op``'s, to be written when it is first called; returns it.

    Args:
        function: What ``unwritten`` gave.
        op: The operation.
        form: Which of its functions.
        slow: What takes every call that is not plain: see ``template``. It is called with the
            operation and the function before everything else.
    """
    names = function.__globals__
    names["_write"] = partial(_write, op, form, function)
    names["_in_float32"] = partial(in_float32, op, function)
    if slow is not None:
        names["_slow"] = partial(slow, op, function)
    op.registered.written.append(partial(_forget, function))
    return function


def serve_public(function: Any, op: Op) -> Any:
    """Make ``function`` the public function of an operation, or a method that does the same."""
    if op.kernel is None:
        return serve(function, op, Form.COMPOSITE, slow_composite)
    return serve(function, op, Form.FUNCTION, slow)


@functools.cache
def make_inplace_function(op: Op) -> Any:
    """``name_``, a method and a function; one object, so that it can be pickled by name."""

    function = serve(unwritten(op.name), op, Form.INPLACE, slow_inplace)
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


def _write(op: Op, form: Form, function: FunctionType) -> FunctionType:
    home = inspect.unwrap(op.function).__module__
    if home in sys.modules:  # its rules follow it there: wait for the whole
        import_module(home)
    while function.__code__ is _unwritten.__code__:
        state = function.__globals__.get("_forgotten")
        # Outside the lock: this may import, and what is imported may call what is not written.
        code, names = _code(source(op, form)), _own_names(op)
        with _writing:
            if function.__globals__.get("_forgotten") is state:
                _put(function, code, names, op, form)
    return function


def _put(function: FunctionType, code: CodeType, names: dict[str, Any], op: Op, form: Form) -> None:
    function.__globals__.update(_SHARED)
    function.__globals__.update(names, __name__=None)  # silent: see ``facade.packages``
    function.__defaults__ = op.plan.defaults[: code.co_argcount] or None if form in _OPEN else None
    function.__code__ = code.replace(co_name=function.__name__, co_qualname=function.__qualname__)


#: The forms whose arguments may be left out.
_OPEN = (Form.FUNCTION, Form.INPLACE, Form.COMPOSITE, Form.CREATION)


def _own_names(op: Op) -> dict[str, Any]:
    last: list[Plan] = [(None, None, None, (), _SMALL.get)]
    defaults = {f"_d{i}": default for i, default in enumerate(op.plan.defaults)}
    return defaults | {
        "_op": op, "_backward": op.backward, "_body": _body(op), "_kernel": op.kernel,
        "_keeps": op.keeps, "_step": op.function, "_pick": Picking(op),
        "_copied": op.backward.copied, "_reflected": op.backward.reflected, "_last": last,
        "_find": partial(_find, op, {}, last),
    }  # fmt: skip


def _body(op: Op) -> Any:
    """What a composite runs for arguments that need no look."""
    if op.kernel is not None:
        return None
    body = body_of(op)
    return truthful(op, body) if op.plan.scalars and is_numpys(op) else body


def _forget(function: FunctionType) -> None:
    """Have a function written again: what it was written from has changed."""
    with _writing:
        function.__globals__["_forgotten"] = object()  # one that is being written is out of date
        function.__code__ = _unwritten.__code__
        function.__defaults__ = None


@functools.cache
def _code(text: str) -> CodeType:
    """The compiled text of a function; operations of one shape have it in common."""
    name = f"{WRITTEN}{next(_written)}>"
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
    if floats and op.ufunc and dtype.itemsize > 2:
        return xp, dtype, getattr(xp, op.ufunc), (float, int), xp.number(dtype)
    if floats:
        return xp, dtype, run, (float, int), lambda number: number
    return xp, dtype, run, (int,) if dtype.kind in "iu" else (), _SMALL.get
