"""Signatures and docstrings of public functions, built when they are first read.

Building them for every operation at import would take longer than the import itself. The parameters
that many operations share are documented here.
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
    """Signature that ``make()`` builds when it is first read."""

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


def make_signature(
    spec: Op, source: Callable[..., Any], common: dict[str, tuple[str, Any]]
) -> LazySignature:
    """Return the signature of an operation's public function.

    Args:
        spec: The operation.
        source: Its kernel, or a composite's function.
        common: Keywords that it accepts besides its own, as ``{name: (annotation, default)}``.
    """
    return LazySignature(partial(_build_signature, spec, source, common))


def make_inplace_signature(spec: Op) -> LazySignature:
    """Return the signature of an operation's in-place form, which has no ``out``."""
    return LazySignature(partial(_build_inplace_signature, spec))


def make_operator_signature(spec: Op, reflected: bool = False) -> LazySignature:
    """Return the signature of the method of one of Python's operators."""
    return LazySignature(partial(_build_operator_signature, spec, reflected))


def _build_signature(
    spec: Op, source: Callable[..., Any], common: dict[str, tuple[str, Any]]
) -> inspect.Signature:
    """Build the signature that ``make_signature`` describes, from that of ``source``.

    A kernel's first parameter, the backend ``xp``, is left out; the keywords in ``common`` and
    ``out`` (see ``takes_out``) are added at the end.
    """
    signature = inspect.signature(source)
    declared = list(signature.parameters.values())[1 if spec.kernel else 0 :]
    parameters = [_make_variadic(spec, p) for p in declared if p.name not in common]
    parameters += [_keyword(name, *rest) for name, rest in common.items()]
    returns = public_annotation(signature.return_annotation)
    if takes_out(spec) and "out" not in {p.name for p in parameters}:
        parameters.append(_keyword("out", f"{returns} | None", None))
    return signature.replace(
        parameters=[p.replace(annotation=public_annotation(p.annotation)) for p in parameters],
        return_annotation=returns,
    )


def _make_variadic(spec: Op, parameter: Parameter) -> Parameter:
    """Return ``*size`` for the parameter of sizes, if it is the last one given by position.

    Any other parameter, and every parameter of a composite, is returned unchanged.
    """
    at = spec.plan.sizes
    if spec.kernel is None or at is None or at != spec.plan.positional - 1:
        return parameter
    if parameter.name != spec.plan.params[at]:
        return parameter
    return Parameter(parameter.name, Parameter.VAR_POSITIONAL, annotation="int | Sequence[int]")


def takes_out(spec: Op) -> bool:
    """Whether the public signature has ``out=``.

    It has none for views, attributes, and operations that are only methods or functions of
    ``nn.functional``. A composite has it if the option ``out`` was given.
    """
    if spec.kernel is None:
        return spec.wraps_out
    public = [space for space in spec.namespaces if space not in ("Tensor", "nn.functional")]
    return bool(public) and not spec.view and not spec.attribute


def _keyword(name: str, annotation: str, default: Any) -> Parameter:
    """Return a keyword-only parameter."""
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _build_inplace_signature(spec: Op) -> inspect.Signature:
    """Build the public signature without ``out``, whose first parameter and result are Tensors."""
    signature = inspect.signature(spec.function)
    parameters = [p for p in signature.parameters.values() if p.name != "out"]
    parameters[0] = parameters[0].replace(annotation="Tensor")
    return signature.replace(parameters=parameters, return_annotation="Tensor")


def _build_operator_signature(spec: Op, reflected: bool) -> inspect.Signature:
    """Build the signature ``(self, other)`` of an operator, or ``(self)`` for one operand.

    The annotation of ``other`` is that of the operation's second operand; of its first one if the
    operator is reflected, since ``self`` is then on the right.
    """
    signature = inspect.signature(spec.function)
    operands = list(signature.parameters.values())[: len(spec.plan.tensors)]
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD, annotation="Tensor")]
    if len(operands) > 1:
        operand = operands[0 if reflected else 1]
        parameters.append(operand.replace(name="other", default=Parameter.empty))
    return inspect.Signature(parameters, return_annotation=signature.return_annotation)


#: Public types by the name of a kernel's annotation.
_PUBLIC_TYPES = {
    "Array": "Tensor", "ArrayOrInput": "Tensor", "Operand": "Tensor | complex",
    "Index": "Tensor", "Mask": "Tensor",
}  # fmt: skip


def public_annotation(annotation: Any) -> Any:
    """Return the annotation in the public signature for a parameter or result of a kernel.

    A kernel's types of arrays, such as ``Array``, become those of tensors: ``Sequence[Array]``
    becomes ``Sequence[Tensor]``. An annotation that is not a string is returned unchanged.
    """
    if not isinstance(annotation, str):
        return annotation
    return re.sub(rf"\b({'|'.join(_PUBLIC_TYPES)})\b", lambda m: _PUBLIC_TYPES[m[0]], annotation)


#: Between the lines of an ``Args:`` section, and of one of its entries.
_LINE, _NEXT = "\n        ", "\n            "
_SHARED = {
    "layout": "``tinytorch.strided``, the only supported layout, or None, the default.",
    "device": "The device of the result. Default None: that of the active backend.",
    "pin_memory": "Whether to use pinned memory; only on the CPU with a GPU. Default False.",
    "requires_grad": "Whether the result is a leaf that requires grad. Default False.",
    "backend": "A backend or its name, instead of ``device``. Default None: the active backend.",
    "memory_format": "The order of the elements in memory. Default: that of ``input``.",
    "non_blocking": "Whether to return before a transfer ends; see ``to``. Default False.",
    "generator": "A ``Generator``. Default: the default generator.",
    "_stacklevel": "Accepted for compatibility.",
}
_INPUT = f"{_LINE}input: Tensor of any shape."
_FLOAT_INPUT = f"{_LINE}input: Tensor of any shape; integers and bools count as the default dtype."
_OUT = (
    f"{_LINE}out: Tensor to which the result is written; it is resized and returned. RuntimeError"
    f"{_NEXT}if its dtype {{}}. Default None: a new tensor."
)
_WIDER_OUT, _EXACT_OUT = _OUT.format("cannot hold it"), _OUT.format("is another")
_SEVERAL_OUT = (
    f"{_LINE}out: Tensors to which the results are written; they are resized and returned."
    f"{_NEXT}RuntimeError if the dtype of one is another. Default None: new tensors."
)
#: Sections of a docstring that may follow ``Args:``.
_LATER = ("Returns:\n", "Raises:\n", "Example:\n", "Reference:\n")


def complete_docstring(
    spec: Op, doc: str, keywords: Iterable[str], like: Callable[..., Any] | None = None
) -> str:
    """Return an operation's docstring with descriptions of shared parameters added.

    Args:
        spec: The operation.
        doc: Its own docstring.
        keywords: Parameters that it accepts besides its own.
        like: A function with parameters of the same names and meaning, whose descriptions are used,
            and whose ``Raises:`` is used if ``doc`` has none.
    """
    if like is not None:
        doc = _add_from_docstring(spec, doc, like.__doc__ or "")
    at, more = doc.find("Args:\n"), ""
    if at < 0 and "input" in spec.plan.index:
        more = _FLOAT_INPUT if spec.promote == "float" else _INPUT
    complete = "out" not in spec.plan.index and _SHARED.keys().isdisjoint(spec.plan.index)
    for name in keywords if complete else (*spec.plan.params, *keywords):
        if f"    {name}:" not in doc:
            more += _text_of_out(spec) if name == "out" else _shared_text(name)
    return _insert_parameters(doc, at, more) if more else doc


def drop_out(doc: str) -> str:
    """Return a docstring without its ``Args:`` entry for ``out``, which may have several lines."""
    at = doc.find("    out: ")
    if at < 0:
        return doc
    start = doc.rindex("\n", 0, at)
    # The further lines of the entry are indented by at least one more space.
    deeper = doc[start : at + 4] + " "
    end = doc.find("\n", at)
    while end >= 0 and doc.startswith(deeper, end):
        end = doc.find("\n", end + 1)
    return doc[:start] + doc[end:] if end >= 0 else doc[:start]


def _text_of_out(spec: Op) -> str:
    """Return the ``Args:`` entry for ``out``: several tensors, the exact dtype, or a wider one."""
    if spec.returns is not None or str(spec.annotations.get("return")).startswith("tuple"):
        return _SEVERAL_OUT
    return _EXACT_OUT if spec.out in (Out.EXACT, Out.DTYPE_ARGUMENT) else _WIDER_OUT


def _shared_text(name: str) -> str:
    """Return the ``Args:`` entry for a shared parameter; an empty text for any other one."""
    return f"{_LINE}{name}: {_SHARED[name]}" if name in _SHARED else ""


def _add_from_docstring(spec: Op, doc: str, other: str) -> str:
    """Return ``doc`` with the entries of ``other`` for the parameters that ``doc`` does not have.

    The ``Args:`` of the result has the parameters in the order of the signature. The ``Raises:`` of
    ``other`` is added if ``doc`` has no such section.

    Args:
        spec: The operation, which has the order of the parameters.
        doc: Its docstring.
        other: The docstring of a function with parameters of the same names and meaning.
    """
    at = doc.find("Args:\n")
    described = _parameter_texts(doc) if at >= 0 else {}
    texts = _parameter_texts(other) | described
    if "out" not in described:
        texts.pop("out", None)  # its text depends on the operation: see ``_text_of_out``
    names = dict.fromkeys([*(name for name in spec.plan.params if name in texts), *described])
    if at >= 0:
        head, end = doc[:at].rstrip(" "), doc.find("\n\n", at)
        doc = head + doc[end:].lstrip("\n") if end >= 0 else head.rstrip() + "\n    "
    lines = "".join(f"{_LINE}{name}: {texts[name]}" for name in names)
    doc = _insert_parameters(doc, -1, lines) if lines else doc
    raises = re.search(r"Raises:\n.*?\n\n *", other, re.DOTALL)
    if raises and "Raises:\n" not in doc:
        at = min((i for i in map(doc.find, _LATER[2:]) if i >= 0), default=len(doc))
        doc = doc[:at] + raises[0] + doc[at:]
    return doc


def _parameter_texts(doc: str) -> dict[str, str]:
    """Return the text of each parameter's ``Args:`` entry in a docstring, by parameter name.

    The parameters of a common entry (``x, y: ...``) get the same text; ``*`` and ``**`` before a
    name are dropped.
    """
    _, _, rest = doc.partition("Args:\n")
    texts = {}
    # An entry begins at a line with names and a colon.
    for entry in re.split(r"\n(?= *\*{0,2}\w+(?:, \*{0,2}\w+)*:)", rest.partition("\n\n")[0]):
        names, _, text = entry.strip().partition(": ")
        text = re.sub(r"\n +", _NEXT, text)
        texts.update(dict.fromkeys(names.replace("*", "").split(", "), text))
    return texts


def _insert_parameters(doc: str, at: int, more: str) -> str:
    """Return a docstring with lines added at the end of its ``Args:``, or with a new such section.

    Args:
        doc: The docstring.
        at: The index of its ``Args:``; -1 if it has none.
        more: The lines, each after a line break.
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
    if doc[at - 1] == "\n":  # Python 3.13 removes the indentation of docstrings
        more = more.replace("\n    ", "\n")
    return doc[:end] + more + doc[end:]
