"""What an error that arose inside a composite says of the call that the user made."""

from __future__ import annotations

import re
from typing import Any

from ..core.tensor import Tensor
from .arguments import torchs_name
from .operation import OPS, Op

#: The operation that a text begins with: ``name(): ...``, ``name: ...`` or ``name_: ...``.
_SUBJECT = re.compile(r"(\w+?)(?=_?(?:\(\))?: |\(\) )")


def retold(op: Op, args: tuple[Any, ...], options: dict[str, Any], error: Exception) -> Exception:
    """The error to raise for ``error``: of a wrong argument, or with ``op`` for its subject.

    Args:
        op: The composite that was called.
        args: Its arguments by position.
        options: Its other arguments.
        error: What came out of it. The name of an operation that is not public is replaced.
    """
    if isinstance(error, (AttributeError, TypeError)):
        wrong = _no_tensor(op, args, options)
        if wrong is not None:
            return TypeError(wrong)
    text = str(error)
    subject = _SUBJECT.match(text)
    if subject is not None and op.public and error.args == (text,):
        inner = OPS.get(subject[1])
        if inner is not None and not inner.public:
            error.args = (op.name + text[subject.end() :],)
    return as_numpys(error) if op.namespaces[0].partition(".")[0] == "numpy" else error


class ArrayError(ValueError, RuntimeError):
    """What is a RuntimeError to PyTorch and a ValueError to NumPy, such as shapes that differ."""


class ArrayTypeError(TypeError, NotImplementedError):
    """What is not implemented for a dtype: a TypeError to NumPy."""


class ArrayIndexError(ValueError, IndexError):
    """What is out of range: a dimension is a ValueError to NumPy, too."""


#: By PyTorch's type of error what NumPy's functions raise.
_AS_NUMPYS = {
    RuntimeError: ArrayError, NotImplementedError: ArrayTypeError, IndexError: ArrayIndexError,
}  # fmt: skip


def as_numpys(error: Exception) -> Exception:
    """The same error, but one that ``except`` finds by NumPy's type as well as by PyTorch's."""
    kind = _AS_NUMPYS.get(type(error))
    if kind is None:
        return error
    made = kind(*error.args).with_traceback(error.__traceback__)
    for note in getattr(error, "__notes__", ()):
        made.add_note(note)
    return made


def _no_tensor(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> str | None:
    """What is wrong with the first argument that should be a tensor and is none."""
    given = dict(zip(op.plan.params, args, strict=False))
    given.update({torchs_name(op, name) or name: value for name, value in options.items()})
    for i in op.plan.tensors:
        name = op.plan.params[i]
        value = given.get(name)
        if name not in given or (value is None and i in op.plan.optional):
            continue
        if i == op.plan.sequence:
            for k, item in enumerate(value if isinstance(value, (tuple, list)) else ()):
                if not isinstance(item, Tensor):
                    return (
                        f"{op.name}(): expected Tensor as element {k} in argument {i}, "
                        f"but got {type(item).__name__}"
                    )
        elif not isinstance(value, Tensor):
            return (
                f"{op.name}(): argument '{name}' (position {i + 1}) must be Tensor, "
                f"not {type(value).__name__}"
            )
    return None
