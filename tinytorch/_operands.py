"""Two operands, plain and recorded: the path that most operations of most programs take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _asking, _call, _state, _tensor
from ._arguments import explain_shapes
from ._asking import PLAIN
from ._call import call
from ._record import keep_more, note_versions, record
from ._spec import REQUIRED, Op
from ._tensor import Tensor, new, unmodified, wrap
from .autograd.nodes import Node, next_seq
from .autograd.packing import Recording
from .autograd.views import edge_of

GRAD = _state.GRAD
grad_enabled = _state.grad_enabled
scoped_grad = _state.scoped_grad
new_node = object.__new__


def _mark(inference: bool) -> None:
    global new, unmodified
    new, unmodified = _tensor.new, _tensor.unmodified


_state.when_inference.append(_mark)
plain: Any = Tensor  # see _fast


def _ask(mode: bool) -> None:
    global call, plain, PLAIN
    call = _call.asking_call
    plain, PLAIN = (None, set()) if mode else (Tensor, _asking.PLAIN)


_asking.when_asking(_ask)


def binary(op: Op) -> Callable[..., Any]:
    """The public function of an operation of two operands."""
    forward, _ = operands(op, call)
    if op.former_order:
        return _with_factor(op, forward)

    def function(input: Any = REQUIRED, other: Any = REQUIRED, **options: Any) -> Any:
        if (
            options
            or other is REQUIRED
            or (input.__class__ is not plain and input.__class__ not in PLAIN)
        ):
            return call(op, _given(op, input, other, options), options)
        return forward(input, other)

    return function


def _with_factor(op: Op, forward: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The same, where a factor may stand between the operands, as in ``add(a, 2, b)``."""

    def function(input: Any = REQUIRED, other: Any = REQUIRED, *more: Any, **options: Any) -> Any:
        if more:
            return call(op, (input, other, *more), options)
        if (
            options
            or other is REQUIRED
            or (input.__class__ is not plain and input.__class__ not in PLAIN)
        ):
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

    ``fallback(op, (input, other), {})`` takes every call that is less plain. Long, because both
    functions are, and share what they know of backend and dtype.
    """
    plans: dict[Any, Plan] = {}
    last: Plan = (None, None, None, (), _SMALL.get)

    def ask(mode: bool) -> None:
        nonlocal fallback
        fallback = _call.asking_call

    if fallback is _call.call:
        _asking.when_asking(ask)

    def find(xp: Any, dtype: Any) -> Plan:
        nonlocal last
        plan = plans.get((xp, dtype))
        if plan is None:
            plan = plans[xp, dtype] = _plan(op, xp, dtype)
        last = plan
        return plan

    def forward(input: Any, other: Any) -> Any:
        """Long, because it is what a program does all day: a call costs a tenth of the whole.

        The second half is what ``record`` does, for parameters at their defaults.
        """
        x = input._data
        xp = input._xp
        dtype = x.dtype
        known, kept, run, kinds, number = last
        if known is not xp or kept is not dtype:
            _, _, run, kinds, number = find(xp, dtype)
        if other.__class__ is plain or other.__class__ in PLAIN:
            y = other._data
            if y.dtype is not dtype or other._xp is not xp or run is None:
                return fallback(op, (input, other), {})
            rg = other._rg
        else:
            y = number(other) if other.__class__ in kinds else None
            if y is None or run is None:
                return fallback(op, (input, other), {})
            rg = None  # a number
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
        own = input._rg
        # The first two are grad_enabled() where nobody chose, without the frame of a call.
        if not (own or rg) or not (scoped_grad() is None and not GRAD.by_thread or grad_enabled()):
            return out
        if not op.both:
            rest = op.defaults[2:]
            record(op, xp, out, (input, other, *rest), (x, y, *rest))
            return out
        first = (input._node or input) if own is True else (edge_of(input) if own else None)
        second = (other._node or other) if rg is True else (edge_of(other) if rg else None)
        saves = op.saves
        if first is None or second is None:
            saves = op.saves_for[second is not None]
        dtype = z.dtype
        if first is second is None or (dtype is not x.dtype and dtype.kind not in "fc"):
            return out
        node = new_node(Node)
        node.seq = next_seq()
        node.op = op
        node.xp = xp
        node.edges = (first, second)
        node.shape = z.shape
        node.dtype = dtype
        node.versions = node.out = node.out_version = node.hooks = node.extra = None
        if op.saves_none:
            node.args = op.bare
            node.saved = ()
        else:
            keeps, keeps_other = saves[0], saves[1]
            args = (x if keeps else None, y if keeps_other else None)
            node.args = args + op.tail if op.tail else args
            if not keeps_other or rg is None:
                node.saved = (input,) if keeps else ()
                modified = keeps and input._vc is not None
            elif keeps:
                node.saved = (input, other)
                modified = input._vc is not None or other._vc is not None
            else:
                node.saved = (other,)
                modified = other._vc is not None
            if modified:
                note_versions(node)
        out._node = node
        out._rg = True
        if op.saves_out or Recording.watched:
            keep_more(op, node, out)
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
            record(op.reflected, xp, out, (other, input, *op.tail), (other, x, *op.tail))
        return out

    return forward, reflected
