"""Plain arguments: flags and floats, as PyTorch takes them and nothing else.

A flag is True or False, not what merely counts as such; a float may be any number, and one of
NumPy's or a tensor of no dimensions stands for one of Python's, so that it does not decide the
dtype of the result; a tensor that requires grad does not, whose gradient would be lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .spec import Op

#: The defaults of parameters that are numbers of any kind, as ``end`` of ``arange`` is.
_OF_ANY_KIND = (int, type(None))
#: So many elements of 16 bytes cannot be addressed.
_LIMIT = 2**59
_NO_FLOATS = (str, bytes, list, tuple, dict, type(None))
#: Parameters that are C++ doubles to PyTorch; a factor, as ``alpha``, may be a complex number.
_REAL = frozenset((
    "atol", "dropout_p", "eps", "label_smoothing", "margin", "max_norm", "momentum", "nan",
    "neginf", "norm_type", "p", "posinf", "rcond", "rtol",
))  # fmt: skip

#: What names elements without an array of indices, and NumPy takes as it is.
BASIC = frozenset((int, slice, type(None), type(...)))


def is_basic(index: Any) -> bool:
    """Whether an index, or each of a tuple of them, names elements without an array."""
    if index.__class__ is not tuple:
        return index.__class__ in BASIC
    for item in index:  # a loop, as a generator takes three times as long
        if item.__class__ not in BASIC:
            return False
    return True


def taken(op: Op, position: int, value: Any, placed: bool = False) -> Any:
    """What is given for the plain parameter at ``position``, as the operation takes it.

    Args:
        op: The operation.
        position: Where the parameter is.
        value: What was given.
        placed: Whether it was given by position, which an error then tells.

    Raises:
        TypeError: If PyTorch does not take it.
    """
    kind, or_none = op.plan.scalars[position]
    if value.__class__ is kind or (value is None and or_none):
        return value
    imaginary = isinstance(value, complex) and op.plan.params[position] in _REAL
    if kind is float and not isinstance(value, _NO_FLOATS) and not imaginary:
        if value.__class__ is bool:  # a number of any kind, as 1 is, is refused as what it is
            return value if op.plan.defaults[position].__class__ in _OF_ANY_KIND else float(value)
        if not getattr(value, "requires_grad", False):
            return value.item() if hasattr(value, "dtype") and not value.ndim else value
    place = f" (position {position + 1})" if placed else ""
    raise unfit(op.name, f"'{op.plan.params[position]}'{place}", kind, value)


def unfit(name: str, argument: str, kind: type, value: Any) -> TypeError:
    """The error for a value of another kind, in PyTorch's words."""
    given = type(value)
    of_numpy = getattr(given, "__module__", None) == "numpy"
    found = f"numpy.{given.__name__}" if of_numpy else given.__name__
    return TypeError(f"{name}(): argument {argument} must be {kind.__name__}, not {found}")


def leads(value: Any, values: Any) -> bool:
    """Whether it is a bool where a list of ints may hold none.

    PyTorch looks for it in the first place alone: behind an int a bool is 0 or 1.
    """
    return value.__class__ is bool and values[0].__class__ is bool


def checked_size(name: str, size: Any) -> tuple[int, ...]:
    """A shape as a tuple of ints; RuntimeError for negative sizes, TypeError for no ints."""
    if size.__class__ is tuple and len(size) < 4:
        for n in size:
            if n.__class__ is not int or not 0 <= n < 65536:
                break
        else:
            return size
    if not isinstance(size, (tuple, list)):
        size = (size,)
    shape = []
    for n in size:
        if leads(n, size) or not hasattr(n, "__index__"):
            raise TypeError(
                f"{name}(): argument 'size' must be tuple of ints, but found element of type "
                f"{type(n).__name__}"
            )
        shape.append(n.__index__())
    if any(n < 0 for n in shape):
        raise RuntimeError(
            f"{name}: Trying to create tensor with negative dimension {min(shape)}: {shape}"
        )
    if math.prod(shape) >= _LIMIT:
        raise RuntimeError(f"{name}: Storage size calculation overflowed with sizes={shape}")
    if 0 in shape and math.prod(n or 1 for n in shape) >= _LIMIT:
        raise RuntimeError(f"{name}: Stride calculation overflowed with sizes={shape}")
    return tuple(shape)


def exact(op: Op, args: tuple[Any, ...]) -> bool:
    """Whether the arguments given by position for plain parameters are what they should be."""
    n = len(args)
    for position, kind in op.plan.looked_at:
        if position < n and args[position].__class__ is not kind:
            return False
    return True


def taken_in_place(op: Op, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments given by position, the plain ones among them as the operation takes them."""
    found = list(args)
    for position, _ in op.plan.looked_at:
        if position < len(args):
            found[position] = taken(op, position, args[position], placed=True)
    return tuple(found)


def checked(op: Op, source: Callable[..., Any]) -> Callable[..., Any]:
    """A composite's function behind a look at its plain arguments; itself if there are none.

    NumPy's functions take whatever counts as True.
    """
    if not op.plan.scalars:
        return source
    if op.namespaces[0].partition(".")[0] == "numpy":
        return truthful(op, source)
    index, plain = op.plan.index, op.plan.scalars

    def function(*args: Any, **options: Any) -> Any:
        if not exact(op, args):
            args = taken_in_place(op, args)
        for name, value in options.items():
            if index.get(name) in plain:
                options[name] = taken(op, index[name], value)
        return source(*args, **options)

    return function


def truthful(op: Op, source: Callable[..., Any]) -> Callable[..., Any]:
    """``source``, with what NumPy takes for True or False made a bool."""
    places = frozenset(i for i, kind in op.plan.looked_at if kind is bool)
    names = frozenset(op.plan.params[i] for i, (kind, _) in op.plan.scalars.items() if kind is bool)

    def function(*args: Any, **options: Any) -> Any:
        args = tuple([truth(v) if i in places else v for i, v in enumerate(args)])
        for name in names & options.keys():
            options[name] = truth(options[name])
        return source(*args, **options)

    return function


def truth(value: Any) -> Any:
    """A number of any library's as a bool; text and None are none."""
    return value if value is None or isinstance(value, (bool, str)) else bool(value)
