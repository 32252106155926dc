"""Examples of NumPy's elementwise functions: those of the operations that they run.

They are put into the docstrings when a function is first looked up, for only then is the
operation loaded.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from ._dialect import top_level, with_example
from .ufuncs import OF_ONE, OF_TWO

_SIZES = (">>> np.{}([-1.5, 2.0])", "tensor([1.5000, 2.0000], dtype=tinytorch.float64)")
_INVERTED = (">>> np.{}([0, 5])", "tensor([-1, -6])")
_QUOTIENTS = (">>> np.{}([6, 5], 2)", "tensor([3.0000, 2.5000], dtype=tinytorch.float64)")
_RESTS = (">>> np.{}([-7, 7], 3)", "tensor([2, 1])")
_UP = (">>> np.{}([1, 3], 2)", "tensor([ 4, 12])")
_DOWN = (">>> np.{}([8, -8], 2)", "tensor([ 2, -2])")
#: Of those whose operation's example writes an operator, or what PyTorch alone can say.
_OWN = {
    "abs": _SIZES, "absolute": _SIZES, "fabs": _SIZES,
    "bitwise_invert": _INVERTED, "bitwise_not": _INVERTED, "invert": _INVERTED,
    "divide": _QUOTIENTS, "true_divide": _QUOTIENTS, "mod": _RESTS, "remainder": _RESTS,
    "bitwise_left_shift": _UP, "left_shift": _UP, "bitwise_right_shift": _DOWN,
    "right_shift": _DOWN,
    "add": (">>> np.{}([1, 2], [10, 20])", "tensor([11, 22])"),
    "bitwise_and": (">>> np.{}([6, 5], 3)", "tensor([2, 1])"),
    "bitwise_or": (">>> np.{}([6, 5], 3)", "tensor([7, 7])"),
    "bitwise_xor": (">>> np.{}([6, 5], 3)", "tensor([5, 6])"),
    "floor_divide": (">>> np.{}([-7, 7], 2)", "tensor([-4,  3])"),
    "negative": (">>> np.{}([1, -2])", "tensor([-1,  2])"),
    "positive": (">>> np.{}([1, -2])", "tensor([ 1, -2])"),
}  # fmt: skip


def shown(function: Any, name: str) -> Any:
    """The function ``tinytorch.numpy`` has under a name, with an example if it is elementwise."""
    doc = function.__doc__
    torch = (OF_ONE.get(name) or OF_TWO.get(name) or (None,))[0]
    if torch is not None and doc and ">>>" not in doc:
        own = (line.format(name) for line in _OWN.get(name, ()))
        function.__doc__ = with_example(doc, *own or _of(torch or name, name))
    return function


def _of(torch: str, name: str) -> list[str]:
    """The lines of an operation's example, with the operation called by NumPy's name."""
    text = inspect.getdoc(top_level(torch)) or ""
    _, _, example = text.partition("Example:\n")
    block = re.match(r"(?: +.*\n?)*", example)
    lines = inspect.cleandoc(block[0] if block else "").splitlines()
    return [re.sub(rf"\btt\.{torch}\(", f"np.{name}(", line) for line in lines]
