"""Public functions, methods and in-place forms of kernels, generated at their first call."""

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

from ..core.device import backend_for
from ..core.tensor import blank, creation, tensors
from ..core.torch_function import PLAIN, VALUES
from ..dtypes import LOW, as_dtype, dtype, float32
from ..graph.inference import UNSETTLED, mark
from ..graph.nodes import Node, next_seq
from ..graph.saved_tensors import Recording
from ..graph.views import VIEW, edge_of, track_view, unrecorded_kind
from ..state import GRAD, current_backend, grad_enabled, place_of_new, scoped_grad
from ..state import default_dtype as _default_dtype
from ..state.tracebacks import GENERATED, shorten
from .arguments import BASIC, check_size, explain_shapes, is_basic, positional_arguments
from .call import call_slowly, make_composite_function
from .function_text import write_function
from .inplace import call_inplace_slowly
from .node_recording import note_versions, on_record, pick_view, record, wrap_results, wrap_views
from .operation import REQUIRED, Form, Op
from .reduced_precision import call_in_float32
from .signature import drop_out, make_inplace_signature

#: Values of the names that all generated functions share.
_SHARED: dict[str, Any] = {
    "_as_dtype": as_dtype, "_current_backend": current_backend, "_GRAD": GRAD, "_PLAIN": PLAIN,
    "_VIEW": VIEW, "_Recording": Recording, "_Exception": Exception, "_UNSETTLED": UNSETTLED,
    "_PLACES": frozenset(("device", "backend")), "_ValueError": ValueError, "_any": any,
    "_backend_for": backend_for, "_basic": BASIC, "_bool": bool, "_default_dtype": _default_dtype,
    "_check_size": check_size, "_dtypes": dtype, "_LOW": frozenset(LOW), "_edge_of": edge_of,
    "_explain_shapes": explain_shapes, "_grad_enabled": grad_enabled, "_int": int,
    "_is_basic": is_basic, "_issubclass": issubclass, "_len": len, "_list": list,
    "_making": creation, "_mark": mark, "_next": next, "_next_seq": next_seq,
    "_no_item": (IndexError, TypeError), "_nodes": blank(Node), "_note_versions": note_versions,
    "_numbers": (float, int, bool),
    "_place_of_new": place_of_new, "_reals": (float, int), "_record": record, "_required": REQUIRED,
    "_results": wrap_results, "_several_views": wrap_views, "_scoped_grad": scoped_grad,
    "_shorten": shorten, "_single": float32.dtype, "_tensors": tensors, "_track_view": track_view,
    "_tuple": tuple, "_unrecorded_kind": unrecorded_kind, "_values": VALUES, "_watch": on_record,
}  # fmt: skip

_generation_lock = threading.Lock()
_text_numbers = itertools.count()


def _generate_and_call(*args: Any, **options: Any) -> Any:
    """Generate the code of the called function, and call it with the same arguments.

    Only the code object of this function is used: ``make_function`` creates each function from it,
    with a dictionary of globals of its own, in which ``install_slow_path`` sets ``_generate``.
    ``_generate()`` replaces the code of that function, so that this code runs once.
    """
    # The globals of the function that was called, not of this module.
    names = globals()
    try:
        return names["_generate"]()(*args, **options)
    except Exception as error:
        names["_shorten"](error)
        raise


def make_function(name: str) -> Any:
    """Return a function that generates its code at its first call; see ``install_slow_path``."""
    # A library's kernel that imports a module in C looks up the builtins in the caller's globals.
    names = {"__name__": __name__, "__builtins__": builtins, "_shorten": shorten}
    return FunctionType(_generate_and_call.__code__, names, name)


def install_slow_path(function: Any, op: Op, form: Form, slow: Callable[..., Any]) -> Any:
    """Set up ``function`` as one of ``op``'s, to be generated at its first call, and return it.

    Args:
        function: The result of ``make_function``.
        op: The operation.
        form: The kind of function: the public one, an operator, the in-place form, ...
        slow: The function that runs every call off the fast path: see ``function_text``. Its first
            two arguments are the operation and the function.
    """
    names = function.__globals__
    names["_generate"] = partial(_generate_function, op, form, function)
    names["_in_float32"] = partial(call_in_float32, op, function)
    names["_slow"] = partial(slow, op, function)
    return function


def make_public_function(op: Op, name: str) -> Any:
    """Return a new public function, or method, of an operation, with ``name`` as its name."""
    fast = op.registered.fast
    if op.kernel is not None:
        return install_slow_path(make_function(name), op, Form.FUNCTION, call_slowly)
    if fast is None:
        return make_composite_function(op)

    function = make_function(name)
    composite = make_composite_function(op, function)

    def slow_path(fast: Op, function: Any, values: Any, more: Any, options: Any) -> Any:
        return composite(*positional_arguments(fast, values, more, options), **options)

    form = Form.INPLACE if name.endswith("_") else Form.FUNCTION
    return install_slow_path(function, fast, form, slow_path)


@functools.cache
def make_inplace_function(op: Op) -> Any:
    """Return the in-place form ``name_``; method and function are one object, for pickles."""

    function = install_slow_path(make_function(op.name), op, Form.INPLACE, call_inplace_slowly)
    function.__name__ = f"{op.name}_"
    function.__module__, function.__qualname__ = op.module_and_qualname(function.__name__)
    function.__wrapped__ = inspect.unwrap(op.function)
    function.__doc__ = (
        f"In-place form of ``{op.qualname}``: writes the result over ``input`` and returns it.\n\n"
        f"    {drop_out(op.function.__doc__ or '')}"
    )
    function.__signature__ = make_inplace_signature(op)
    function.op = op
    return function


def _generate_function(op: Op, form: Form, function: FunctionType) -> FunctionType:
    """Replace the code of ``function``, unless another thread has done so, and return it."""
    module = inspect.unwrap(op.function).__module__
    if module in sys.modules:  # the rules follow the kernel: wait until all are registered
        import_module(module)
    # Outside the lock: this may import a module that calls another generated function.
    code, names = _compile_text(write_function(op, form)), _globals_of(op)
    with _generation_lock:
        if function.__code__ is _generate_and_call.__code__:
            _install(function, code, names, op.plan.defaults if form.has_names else ())
    return function


def _install(
    function: FunctionType, code: CodeType, names: dict[str, Any], defaults: tuple[Any, ...]
) -> None:
    """Set the generated code of a function, in place of the code that generates it.

    ``names`` are globals for this operation alone, ``defaults`` those of the first parameters.
    """
    function.__globals__.update(_SHARED)
    function.__globals__.update(names, __name__=None)  # silent: see ``facade.packages``
    function.__defaults__ = defaults[: code.co_argcount] or None
    function.__code__ = code.replace(co_name=function.__name__, co_qualname=function.__qualname__)


def _globals_of(op: Op) -> dict[str, Any]:
    """Return the globals of a generated function that differ between operations, by name."""
    op.registered.is_generated = True
    last: list[BinaryPlan] = [(None, None, None, (), _SMALL_INTS.get)]
    defaults = {f"_d{i}": default for i, default in enumerate(op.plan.defaults)}
    keywords = {f"_n{i}": name for i, name in enumerate(op.plan.params)}
    return defaults | keywords | {
        "_op": op, "_backward": op.backward, "_kernel": op.kernel,
        "_forward_with_saved": op.registered.forward_with_saved,
        "_step": op.function, "_pick": pick_view(op), "_copied": op.backward.copy_variant,
        "_reflected": op.backward.reflected_variant, "_last": last,
        "_find": partial(_find_binary_plan, op, {}, last),
    }  # fmt: skip


@functools.cache
def _compile_text(text: str) -> CodeType:
    """Return the code object of a function's text; operations with the same text share it."""
    name = f"{GENERATED}{next(_text_numbers)}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    module = compile(text, name, "exec")
    return next(code for code in module.co_consts if isinstance(code, CodeType))


# -- two operands -----------------------------------------------------------------------------

_SMALL_INTS = {i: i for i in range(128)}  # numbers that fit every integer dtype


#: ``(xp, dtype, run, kinds, number)``: how an operation of two operands runs on the arrays of one
#: backend and native dtype. ``run`` is the kernel on two arrays, or None if the slow path has to
#: convert them first; ``kinds`` are the classes of numbers that may be an operand;
#: ``number(value)`` converts such a number for the kernel, and returns None for one that needs the
#: slow path. (This is no named tuple, since Python unpacks a tuple several times faster.)
BinaryPlan = tuple[Any, Any, Any, tuple[type, ...], Callable[[Any], Any]]


def _find_binary_plan(
    op: Op, plans: dict[Any, BinaryPlan], last: list[BinaryPlan], xp: Any, dtype: Any
) -> BinaryPlan:
    """Return the plan for a backend and native dtype.

    ``plans`` has the operation's plans by ``(xp, dtype)``; ``last`` has one element, the plan that
    the generated function tries first, which is replaced.
    """
    plan = plans.get((xp, dtype))
    if plan is None:
        plan = plans[xp, dtype] = _make_binary_plan(op, xp, dtype)
    run = plan[2]
    if run is not None:  # else the slow path calls again in another dtype, which is then the last
        last[0] = plan
    return plan


def _make_binary_plan(op: Op, xp: Any, dtype: Any) -> BinaryPlan:
    """Return the plan of an operation of two operands for one backend and native dtype."""
    is_float = dtype.kind == "f"
    run = None
    # NumPy numbers its own dtypes below 256; the others are of reduced precision.
    must_widen = dtype.num > 255 and not op.accepts_reduced
    if (dtype.kind in "fc" or op.promote != "float") and not must_widen:
        run = partial(op.kernel, xp)
    if 1 not in op.plan.numbers:
        return xp, dtype, run, (), _SMALL_INTS.get
    # The kernel equals the library's function except for float16, so call the latter directly.
    if is_float and op.backend_function and dtype.itemsize > 2:
        return xp, dtype, getattr(xp, op.backend_function), (float, int), xp.number(dtype)
    if is_float:
        return xp, dtype, run, (float, int, bool), lambda n: int(n) if n.__class__ is bool else n
    return xp, dtype, run, (int,) if dtype.kind in "iu" else (), _SMALL_INTS.get
