"""Docstrings of layers: a base class describes once what its subclasses share.

The docstring of ``_Conv`` describes the arguments of ``Conv1d``, ``Conv2d`` and ``Conv3d``. When
``tinytorch.nn`` is imported, `complete_docstrings` adds that text to the docstring of each of the
three, so that ``help()`` shows it.
"""

from __future__ import annotations

import inspect
import re
from types import CodeType

#: The sections of a docstring, in their order.
_SECTIONS = ("Args", "Attributes", "Raises", "Warns", "Example", "Reference")
#: Sections that a class inherits as a whole.
_INHERITED = {"Attributes", "Raises", "Reference"}
#: Arguments of most layers with parameters, where no docstring describes them.
_COMMON = {
    "device": "    device: Device of the parameters. Default: the active backend's.",
    "dtype": "    dtype: Dtype of the parameters. Default: the default dtype.",
}


def complete_docstrings(classes: list[type], root: type) -> None:
    """Add to the docstring of each class the sections and ``Args`` entries of its base classes.

    The class's own text is kept. A missing section is that of the first base class that has it,
    in the method resolution order; so is a missing entry of a parameter of ``__init__``.

    Args:
        classes: The classes whose docstrings are completed.
        root: Their common base class; nothing is inherited from it.
    """
    bases = {cls: [b for b in cls.__mro__ if issubclass(b, root) and b != root] for cls in classes}
    sections = {base: _sections(base) for found in bases.values() for base in found}
    arguments = {base: _entries(own.get("Args", "")) for base, own in sections.items()}
    for cls in classes:
        if cls.__doc__:  # ``python -OO`` removes it
            text: dict[str, str] = {}
            entries = dict(_COMMON)
            for base in reversed(bases[cls]):
                own = sections[base]
                text |= {k: v for k, v in own.items() if k in _INHERITED or base is cls}
                entries |= arguments[base]
            text["Args"] = "\n".join(entries[name] for name in _parameters(cls) if name in entries)
            parts = (f"{name}:\n{text[name]}" for name in _SECTIONS if text.get(name))
            cls.__doc__ = "\n\n".join((text[""], *parts))


def _sections(cls: type) -> dict[str, str]:
    """Split the docstring of a class by its sections; the text before them has the name ``""``."""
    # As ``inspect.cleandoc``, but faster: the text of a class of a module is indented by four.
    text = (vars(cls).get("__doc__") or "").replace("\n    ", "\n").strip()
    first, *rest = re.split(rf"^({'|'.join(_SECTIONS)}):\n", text, flags=re.MULTILINE)
    bodies = (body.rstrip("\n") for body in rest[1::2])
    return {"": first.rstrip("\n"), **dict(zip(rest[::2], bodies, strict=True))}


def _entries(text: str) -> dict[str, str]:
    """Split an ``Args`` section into the entries of its parameters, by their names."""
    entries = re.split(r"\n(?=    \S)", text) if text else ()
    return {entry.partition(":")[0].strip(" *"): entry for entry in entries}


def _parameters(cls: type) -> tuple[str, ...]:
    """Return the names of all parameters of ``cls.__init__``."""
    code: CodeType = inspect.unwrap(cls.__init__).__code__  # type: ignore[misc]
    flags = code.co_flags
    variadic = bool(flags & inspect.CO_VARARGS) + bool(flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + variadic]
