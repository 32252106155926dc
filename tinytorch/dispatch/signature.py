"""Signatures and docstrings of public functions, built when they are first read.

To build one for every operation at import would take longer than the import. The parameters that
many operations share are documented here.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from .operation import Op, Out

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
        return spec.wraps_out
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


_SHOWN = {
    "Array": "Tensor", "ArrayOrInput": "Tensor", "Operand": "Tensor | complex",
    "Index": "Tensor", "Mask": "Tensor",
}  # fmt: skip


def shown(annotation: Any) -> Any:
    """A kernel's annotation as users read it: arrays are tensors to them."""
    if not isinstance(annotation, str):
        return annotation
    return re.sub(
        r"\b(Array|ArrayOrInput|Operand|Index|Mask)\b", lambda m: _SHOWN[m[0]], annotation
    )


#: Between the lines of an ``Args:`` section, and of one of its entries.
_LINE, _NEXT = "\n        ", "\n            "
_SHARED = {
    "layout": "``tinytorch.strided``, the only one there is, or None, the default.",
    "device": "Where the result is made. Default None: where the active backend makes tensors.",
    "pin_memory": f"Whether it lies in pinned memory; only on the CPU, where there is a GPU.{_NEXT}"
    "Default False.",
    "requires_grad": "Whether it is a leaf whose gradient is wanted. Default False.",
    "backend": "A backend or its name, before ``device``. Default None: the active one.",
    "memory_format": "In which order the elements lie in memory. Default: as they do in ``input``.",
    "non_blocking": "Whether not to wait for a transfer to end; see ``to``. Default False.",
    "_stacklevel": "Accepted for compatibility.",
}
_INPUT = f"{_LINE}input: Tensor of any shape."
_FLOAT_INPUT = f"{_LINE}input: Tensor of any shape; integers and bools count as the default dtype."
_OUT = (
    f"{_LINE}out: Tensor that takes the result, gets its shape and is returned; RuntimeError if"
    f"{_NEXT}its dtype {{}}. Default None: a new tensor."
)
_WIDER_OUT, _EXACT_OUT = _OUT.format("cannot hold it"), _OUT.format("is another")
_SEVERAL_OUT = (
    f"{_LINE}out: Tensors that take the results, get their shapes and are returned; RuntimeError"
    f"{_NEXT}if the dtype of one is another. Default None: new tensors."
)
#: What may stand after a docstring's ``Args:``.
_LATER = ("Returns:\n", "Raises:\n", "Example:\n", "Reference:\n")


def documented(
    spec: Op, doc: str, keywords: Iterable[str], like: Callable[..., Any] | None = None
) -> str:
    """An operation's docstring with the parameters that it leaves to this module.

    Args:
        spec: The operation.
        doc: What it says itself.
        keywords: Parameters that it takes beside its own.
        like: A function that takes the same under the same names, to say what they are.
    """
    if like is not None:
        doc = _borrowed(spec, doc, like.__doc__ or "")
    at, more = doc.find("Args:\n"), ""
    if at < 0 and "input" in spec.plan.index:
        more = _FLOAT_INPUT if spec.promote == "float" else _INPUT
    told = "out" not in spec.plan.index and _SHARED.keys().isdisjoint(spec.plan.index)
    for name in keywords if told else (*spec.plan.params, *keywords):
        if f"    {name}:" not in doc:
            more += _out(spec) if name == "out" else _shared(name)
    return _inserted(doc, at, more) if more else doc


def without_out(doc: str) -> str:
    """A docstring without what it says of ``out``."""
    at = doc.find("    out: ")
    if at < 0:
        return doc
    start = doc.rindex("\n", 0, at)
    deeper = doc[start : at + 4] + " "
    end = doc.find("\n", at)
    while end >= 0 and doc.startswith(deeper, end):
        end = doc.find("\n", end + 1)
    return doc[:start] + doc[end:] if end >= 0 else doc[:start]


def _out(spec: Op) -> str:
    if spec.returns is not None or str(spec.annotations.get("return")).startswith("tuple"):
        return _SEVERAL_OUT
    return _EXACT_OUT if spec.out in (Out.EXACT, Out.DTYPE_ARGUMENT) else _WIDER_OUT


def _shared(name: str) -> str:
    return f"{_LINE}{name}: {_SHARED[name]}" if name in _SHARED else ""


def _borrowed(spec: Op, doc: str, other: str) -> str:
    """A docstring with what another one says of the parameters that it does not name."""
    told, own = _told(other), _told(doc)
    names = (name for name in spec.plan.params if name in told.keys() - own)
    more = "".join(f"{_LINE}{name}: {told[name]}" for name in names)
    return _inserted(doc, doc.find("Args:\n"), more) if more else doc


def _told(doc: str) -> dict[str, str]:
    """What a docstring says of each parameter."""
    _, _, rest = doc.partition("Args:\n")
    told = {}
    for entry in re.split(r"\n(?= *\*{0,2}\w+(?:, \*{0,2}\w+)*:)", rest.partition("\n\n")[0]):
        names, _, text = entry.strip().partition(": ")
        text = re.sub(r"\n +", _NEXT, text)
        told.update(dict.fromkeys(names.replace("*", "").split(", "), text))
    return told


def _inserted(doc: str, at: int, more: str) -> str:
    """A docstring with more at the end of its ``Args:``, which are at ``at``, or before the rest.

    Args:
        doc: The docstring.
        at: Where its ``Args:`` begin; -1 if it has none.
        more: Lines, each with the line break before it.
    """
    if at >= 0:
        end = doc.find("\n\n", at)
        if end < 0:
            end = len(doc.rstrip())
    else:
        at = end = min((i for i in map(doc.find, _LATER) if i >= 0), default=-1)
        if end < 0:
            return f"{doc.rstrip()}\n\n    Args:{more}\n    "
        more = f"Args:{more}\n\n    "
    if doc[at - 1] == "\n":  # Python 3.13 takes the indentation out of docstrings
        more = more.replace("\n    ", "\n")
    return doc[:end] + more + doc[end:]
