"""Public functions of composites: closures that check the classes of the arguments."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from ..core.torch_function import NOT_OVERRIDING, PLAIN
from ..state.tracebacks import shorten
from .arguments import truthful
from .call import TOLD, body_of, slow_composite, told
from .low_precision import in_float32
from .operation import Op


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
