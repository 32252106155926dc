"""The signatures that ``help``, ``inspect`` and the stubs show, built when somebody asks.

Building one for every operation at import would take longer than the import.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .spec import Op

Parameter = inspect.Parameter


class LazySignature(inspect.Signature):
    """A signature that is made by ``make()`` when it is first looked at."""

    __slots__ = ("_make", "_built")

    def __init__(self, make: Callable[[], inspect.Signature]) -> None:
        self._make = make
        self._built: inspect.Signature | None = None

    def _real(self) -> inspect.Signature:
        if self._built is None:
            self._built = self._make()
        return self._built

    @property
    def parameters(self) -> Any:
        return self._real().parameters

    @property
    def _parameters(self) -> Any:
        return self._real().parameters

    @property
    def _return_annotation(self) -> Any:
        return self._real().return_annotation

    @property
    def return_annotation(self) -> Any:
        return self._real().return_annotation

    def replace(self, **changes: Any) -> inspect.Signature:  # type: ignore[override]
        return self._real().replace(**changes)

    def __reduce__(self) -> Any:
        return self._real().__reduce__()


def of_function(
    spec: Op, source: Callable[..., Any], common: dict[str, tuple[str, Any]]
) -> LazySignature:
    """The signature of an operation's public function.

    Args:
        spec: The operation.
        source: Its kernel, or the function a composite is.
        common: Keywords it takes beside its own, as ``{name: (annotation, default)}``.
    """
    return LazySignature(partial(_of_function, spec, source, common))


def of_inplace(spec: Op) -> LazySignature:
    """The signature of an operation's in-place form: it has no ``out``."""
    return LazySignature(partial(_of_inplace, spec))


def of_operator(spec: Op, reflected: bool = False) -> LazySignature:
    """The signature of a method behind one of Python's operators."""
    return LazySignature(partial(_of_operator, spec, reflected))


def _of_function(
    spec: Op, source: Callable[..., Any], common: dict[str, tuple[str, Any]]
) -> inspect.Signature:
    signature = inspect.signature(source)
    own = list(signature.parameters.values())[1 if spec.kernel else 0 :]
    parameters = [_one_by_one(spec, p) for p in own if p.name not in common]
    parameters += [_keyword(name, *rest) for name, rest in common.items()]
    returns = shown(signature.return_annotation)
    if takes_out(spec) and "out" not in {p.name for p in parameters}:
        parameters.append(_keyword("out", f"{returns} | None", None))
    return signature.replace(
        parameters=[p.replace(annotation=shown(p.annotation)) for p in parameters],
        return_annotation=returns,
    )


def _one_by_one(spec: Op, parameter: Parameter) -> Parameter:
    """The parameter for sizes as ``*size`` if it is the last that may come by position."""
    at = spec.plan.sizes
    if spec.kernel is None or at is None or at != spec.plan.positional - 1:
        return parameter
    if parameter.name != spec.plan.params[at]:
        return parameter
    return Parameter(parameter.name, Parameter.VAR_POSITIONAL, annotation="int | Sequence[int]")


def takes_out(spec: Op) -> bool:
    """Whether ``out=`` is worth showing: views have none, and torch's nn.functional neither."""
    if spec.kernel is None:
        return spec.out
    public = [space for space in spec.namespaces if space not in ("Tensor", "nn.functional")]
    return bool(public) and not spec.view and not spec.attribute


def _keyword(name: str, annotation: str, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _of_inplace(spec: Op) -> inspect.Signature:
    signature = inspect.signature(spec.function)
    parameters = [p for p in signature.parameters.values() if p.name != "out"]
    parameters[0] = parameters[0].replace(annotation="Tensor")
    return signature.replace(parameters=parameters, return_annotation="Tensor")


def _of_operator(spec: Op, reflected: bool) -> inspect.Signature:
    signature = inspect.signature(spec.function)
    operands = list(signature.parameters.values())[: len(spec.plan.tensors)]
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD, annotation="Tensor")]
    if len(operands) > 1:
        taken = operands[0 if reflected else 1]
        parameters.append(taken.replace(name="other", default=Parameter.empty))
    return inspect.Signature(parameters, return_annotation=signature.return_annotation)


_SHOWN = {"Array": "Tensor", "Operand": "Tensor | complex", "Index": "Tensor", "Mask": "Tensor"}


def shown(annotation: Any) -> Any:
    """A kernel's annotation as users read it: arrays are tensors to them."""
    if not isinstance(annotation, str):
        return annotation
    return re.sub(r"\b(Array|Operand|Index|Mask)\b", lambda m: _SHOWN[m[0]], annotation)
