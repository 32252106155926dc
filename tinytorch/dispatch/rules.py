"""What a gradient rule says of itself beside its formula: that there is none, what it reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def no_derivative(name: str, error: type[RuntimeError] = RuntimeError) -> Callable[[Any, Any], Any]:
    """A rule for an operation without a derivative: it refuses, rather than give none.

    Args:
        name: torch's name of the operation.
        error: Its error, NotImplementedError where it says so itself.
    """
    own = error is NotImplementedError
    text = f"the derivative for {name!r} is not implemented."
    text = text if own else f"derivative for aten::{name} is not implemented"

    def rule(xp: Any, g: Any) -> Any:
        raise error(text)

    rule.missing = True  # type: ignore[attr-defined]
    return rule


def piecewise(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a rule whose gradient depends on the operation's arguments, but in jumps alone.

    The derivative of such a gradient is zeros then, as in torch, rather than missing.
    """
    rule.piecewise = True  # type: ignore[attr-defined]
    return rule


def accepts_none(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a rule that takes None for a missing gradient of one of several results.

    Other rules get zeros there.
    """
    rule.accepts_none = True  # type: ignore[attr-defined]
    return rule


def reads(**values: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """State by parameter which arguments' values its gradient is computed from.

    Of the others the rule takes shapes alone, so that they may be changed in place.
    """

    def stated(rule: Callable[..., Any]) -> Callable[..., Any]:
        rule.reads = values  # type: ignore[attr-defined]
        return rule

    return stated


def reads_results(*places: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """State which of several results a rule reads.

    The others are None to it, are not kept, and may be changed in place.
    """

    def stated(rule: Callable[..., Any]) -> Callable[..., Any]:
        rule.results = places  # type: ignore[attr-defined]
        return rule

    return stated


def torch_convention(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Adapt a rule for complex arguments that is written in torch's convention.

    Inside a backward pass gradients are the conjugates of torch's, so that a holomorphic
    function's rule is its plain derivative. A rule for one that is not holomorphic is often
    known in torch's convention; this conjugates what goes in and what comes out.
    """
    code = rule.__code__
    names = code.co_varnames[2 : code.co_argcount]

    def conjugated(xp: Any, g: Any, *values: Any) -> Any:
        result = rule(xp, _conjugate(xp, g), *values)
        if isinstance(result, (tuple, list)):
            return [_conjugate(xp, h) for h in result]
        return _conjugate(xp, result)

    conjugated.needs = names  # type: ignore[attr-defined]
    return conjugated


def _conjugate(xp: Any, g: Any) -> Any:
    if isinstance(g, (tuple, list)):
        return tuple(_conjugate(xp, h) for h in g)
    return g if g is None or g.dtype.kind != "c" else xp.conj(g)
