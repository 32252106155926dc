"""What docstrings say of the parameters that many operations share, said here alone.

It is put in where a public function gets its face, by searches in its docstring: making a
signature for each operation would take longer than the import.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .spec import Op

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
    return _EXACT_OUT if spec.exact_out in (True, "gives") else _WIDER_OUT


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
