"""Arguments of a call to a kernel's: binding, conversion, promotion; flags and floats.

A flag is True or False; a float may be any number, and one of NumPy's or a tensor of no dimensions
stands for one of Python's, so that it does not decide the dtype of the result. A tensor that
requires grad is an error there, as its gradient would be lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Number
from typing import Any

from ..core.tensor import Tensor
from ..graph.late_bound import LATE_BOUND
from ..warnings import warn_once
from .operation import REQUIRED, Op
from .promotion import common_backend, promote_operands, to_tensor

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
BASIC: frozenset[type] = frozenset((int, slice, type(None), type(...)))


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


#: NumPy's spellings of parameters, and those of torch that methods alone have: what they may
#: stand for, the first that the operation has.
SPELLINGS: dict[str, tuple[str, ...]] = {
    "axis": ("dim",), "axes": ("dims", "dim", "dim0"), "dims": ("dim",), "keepdims": ("keepdim",),
    "x": ("input",), "a": ("input",), "x1": ("input",), "x2": ("other",), "self": ("input",),
    "arr": ("input",), "A": ("input",), "reps": ("dims",), "a_min": ("min",), "a_max": ("max",),
    "axis1": ("dim0", "dim1"), "axis2": ("dim2", "dim1"), "shape": ("size",), "tup": ("tensors",),
    "arrays": ("tensors",), "tensor": ("input",),
    "method": ("interpolation",), "split_size": ("split_size_or_sections",),
    "input": ("A", "x", "B", "b", "L", "tensor"), "input2": ("L", "tau"), "input3": ("other",),
    "other": ("B", "src"), "b": ("B",), "sections": ("indices_or_sections",),
    "indices": ("indices_or_sections",), "tensor_indices_or_sections": ("indices_or_sections",),
    "element": ("elements",), "test_element": ("test_elements",), "axis0": ("dim0",),
    "train": ("training",), "the_template": ("other",), "from": ("from_",),
}  # fmt: skip


def torchs_name(op: Op, name: str) -> str | None:
    """The parameter of ``op`` that NumPy calls ``name``; None if there is none."""
    if name == "axis" and op.name in _WITHOUT_AXIS:
        return None
    return next((torch for torch in SPELLINGS.get(name, ()) if torch in op.plan.index), None)


#: Keywords only NumPy has: their presence means the call is NumPy's.
NUMPY_KEYWORDS = frozenset(
    ("axis", "keepdims", "ddof", "kind", "num", "k", "N", "return_index", "indices_or_sections",
     "equal_nan", "a_min", "a_max", "order", "rowvar", "bias")
)  # fmt: skip


#: Functions for which PyTorch has no ``axis``; NumPy's call of that spelling means another thing.
_WITHOUT_AXIS = frozenset(("split",))


def selected_numpy_form(op: Op, options: dict[str, Any]) -> Callable[..., Any] | None:
    """The operation's form with NumPy's meaning, if the keywords of a call select it.

    ``axis`` and ``keepdims`` are PyTorch's own other names of ``dim`` and ``keepdim``. They select
    NumPy's meaning only where PyTorch takes neither the name nor, as for a tuple or None in the
    place of one dimension, the value.
    """
    form = op.registered.numpy_form
    if form is None or NUMPY_KEYWORDS.isdisjoint(options):
        return None
    if "dim" not in op.plan.index or not NUMPY_KEYWORDS.intersection(options) <= _ALIASES:
        return form
    takes_one = str(op.annotations.get("dim", "")).startswith("int")
    if takes_one and isinstance(options.get("axis", 0), (tuple, list, type(None))):
        return form
    return None


_ALIASES = frozenset(("axis", "keepdims"))

#: Keywords that NumPy's functions take under ``tinytorch.numpy`` alone.
_NUMPYS_ALONE = frozenset(("where", "initial", "order", "casting", "dtype", "like", "subok"))


def unexpected(op: Op, name: str) -> TypeError:
    """Return the error of a keyword that an operation does not have.

    It names the nearest keyword, or the function of NumPy's that has this one.
    """
    from difflib import get_close_matches
    from inspect import signature

    text = f"{op.name}() got an unexpected keyword argument '{name}'"
    known = signature(op.function).parameters
    near = get_close_matches(name, known, 1)
    if near and name not in SPELLINGS:
        return TypeError(f"{text}. Did you mean '{near[0]}'?")
    if name in _NUMPYS_ALONE and op.namespaces[0] == "":
        namespace: Any = LATE_BOUND.graph_namespace()
        if namespace.function_of(op.name) is not None:
            text += f"; NumPy's function of the name is tinytorch.numpy.{op.name}"
    return TypeError(text)


def repeated_argument_error(op: Op, first: str, second: str) -> TypeError:
    """Return the error of two keywords for one parameter."""
    return TypeError(f"{op.name}() got both '{first}' and '{second}', which are the same argument")


def as_given(
    op: Op, values: tuple[Any, ...], more: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, ...]:
    """The arguments that were given by position, apart from those that are their defaults."""
    n = len(values)
    for name in options:
        n = min(n, op.plan.index.get(name, n))
    if not more:
        while n and values[n - 1] is op.plan.defaults[n - 1]:
            n -= 1
    return values[:n] + more


def prepare(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
    """The full argument tuple, tensors converted and promoted, and the backend."""
    given = bind(op, args, options)
    xp = _plain_backend(op, given)
    if xp is not None:
        return tuple(given), xp
    xp = common_backend(op, given)
    for i in op.plan.tensors:
        value = given[i]
        if i == op.plan.sequence:
            if value is not None:
                if op.strict:
                    _refuse_numbers(op, i, value)
                given[i] = tuple(to_tensor(op, i, v, xp) for v in value)
        elif value is None:
            if i not in op.plan.optional:
                _refuse_as_tensor(op, i, value)
        elif not isinstance(value, Tensor):
            if not isinstance(value, (bool, int, float, complex)):
                weak = i in op.plan.numbers and isinstance(value, Number) and _any_tensor(op, given)
                # A number of NumPy's beside a tensor is one of Python's, as in torch.
                given[i] = value.item() if weak else to_tensor(op, i, value, xp)
            elif i not in op.plan.numbers:
                if op.strict:
                    _refuse_as_tensor(op, i, value)
                given[i] = to_tensor(op, i, value, xp)
            elif op.strict and not _any_tensor(op, given):
                _refuse_as_tensor(op, i, value)
    if op.promote is not None:
        promote_operands(op, given, xp)
    return tuple(given), xp


def _any_tensor(op: Op, given: list[Any]) -> bool:
    return any(isinstance(given[k], Tensor) for k in op.plan.tensors)


def _plain_backend(op: Op, given: list[Any]) -> Any:
    """The backend of arguments that need neither conversion nor promotion, else None."""
    xp = dtype = None
    for i in op.plan.tensors:
        value = given[i]
        if isinstance(value, Tensor) and i != op.plan.sequence:
            if value._xp is not xp:
                if xp is not None:
                    return None
                xp = value._xp
            if op.promote is not None and i in op.plan.operands:
                own = value._data.dtype
                if own is not dtype:
                    if dtype is not None or own.kind != "f":
                        return None
                    dtype = own
        elif value is None:
            if i not in op.plan.optional:
                return None
        elif i not in op.plan.numbers or value.__class__ not in _REAL_ARGUMENTS:
            return None
    return xp


_REAL_ARGUMENTS = (int, float)


def _refuse_as_tensor(op: Op, position: int, value: Any) -> None:
    raise TypeError(
        f"{op.name}(): argument '{op.plan.params[position]}' (position {position + 1}) must be "
        f"Tensor, not {type(value).__name__}"
    )


def _refuse_numbers(op: Op, position: int, values: Any) -> None:
    for k, value in enumerate(values):
        if isinstance(value, Number):
            raise TypeError(
                f"{op.name}(): expected Tensor as element {k} in argument {position}, but got "
                f"{type(value).__name__}"
            )


def bind(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
    """Arguments in the order of ``op.plan.params``, defaults filled in."""
    at = op.plan.sizes
    if at is not None and len(args) > at and _is_int(args[at]):
        if not (len(args) == at + 1 and isinstance(args[at], Tensor) and args[at].ndim):
            args = (*args[:at], args[at:])
    n = len(args)
    more = op.plan.more_sizes
    if n > op.plan.positional and more is not None:
        args = (*args[:more], args[more:])
        n = len(args)
    if n > op.plan.positional:
        args, options = _in_present_order(op, args, options)
        n = len(args)
    if n > op.plan.unchecked:
        args = taken_in_place(op, args)
    given = [*args, *op.plan.defaults[n:]]
    for name, value in options.items():
        i = op.plan.index.get(name)
        if i is None:
            torch = torchs_name(op, name)
            if torch is None:
                raise unexpected(op, name)
            # torch's swapaxes counts its axes from 0, NumPy's from 1.
            i = op.plan.index["dim1" if name == "axis1" and "axis0" in options else torch]
        if i < n:
            raise TypeError(f"{op.name}() got multiple values for argument '{op.plan.params[i]}'")
        if op.plan.params[i] != name and op.plan.params[i] in options:
            raise repeated_argument_error(op, op.plan.params[i], name)
        given[i] = taken(op, i, value) if i in op.plan.scalars else value
    for i in range(n, len(given)):
        if given[i] is REQUIRED:
            raise TypeError(
                f"{op.name}() missing required argument '{op.plan.params[i]}' (pos {i + 1})"
            )
    return given


def _in_present_order(
    op: Op, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Too many positional arguments as tensors and keywords, where the numbers among them may be.

    Raises:
        TypeError: If they may not.
    """
    names = op.former_order
    if op.plan.positional == 2 and names and len(args) == 3 and options.keys().isdisjoint(names):
        first, factor, second = args  # of which the operands may be numbers, too
        if isinstance(factor, Number) or isinstance(factor, Tensor) and not factor.ndim:
            _warn_of_order(op)
            return (first, second), {**options, names[0]: getattr(factor, "item", lambda: factor)()}
    tensors = tuple(value for value in args if isinstance(value, Tensor))
    numbers = [value for value in args if isinstance(value, Number)]
    fits = len(tensors) == op.plan.positional and len(numbers) + len(tensors) == len(args)
    fits = fits and len(numbers) <= len(names) and options.keys().isdisjoint(names)
    if not fits or any(isinstance(value, Number) for value in args[1 - op.plan.positional :]):
        raise TypeError(
            f"{op.name}() takes {op.plan.positional} positional arguments but {len(args)} were "
            "given"
        )
    _warn_of_order(op)
    return tensors, {**options, **dict(zip(names, numbers, strict=False))}


def _warn_of_order(op: Op) -> None:
    warn_once(
        f"This overload of {op.name} is deprecated: give {' and '.join(op.former_order)} by name, "
        "after the tensors."
    )


def _is_int(value: Any) -> bool:
    """Whether an argument is one of several sizes; NumPy's ints are, its arrays are not."""
    if isinstance(value, (int, Tensor)):
        return True
    return hasattr(value, "__index__") and not getattr(value, "ndim", 0)


def unwrap(value: Any) -> Any:
    """The raw array behind a tensor, also in tuples and lists; anything else as it is."""
    if isinstance(value, Tensor):
        return value._data
    if value.__class__ is tuple or value.__class__ is list:
        return value.__class__(unwrap(v) for v in value)
    return value


def explain_shapes(op: Op, given: tuple[Any, ...], error: ValueError) -> Exception:
    """torch's error for operands that do not broadcast; any other error as it is."""
    text = str(error)
    shapes = [tuple(given[i]._data.shape) for i in op.plan.tensors if isinstance(given[i], Tensor)]
    if "non-broadcastable output" in text or "Out shape" in text:  # NumPy's words, and CuPy's
        wanted = given[op.plan.tensors[0]]._xp.broadcast_shapes(*shapes)
        return RuntimeError(
            f"{op.name}_: output with shape {list(shapes[0])} doesn't match the broadcast shape "
            f"{list(wanted)}"
        )
    if "broadcast" not in text:
        return error
    a: tuple[int, ...] = ()
    for b in shapes:
        for k in range(1, min(len(a), len(b)) + 1):
            if a[-k] != b[-k] and 1 not in (a[-k], b[-k]):
                dim = max(len(a), len(b)) - k
                others = ", ".join(str(list(shape)) for shape in shapes[:-1])
                return RuntimeError(
                    f"{op.name}: The size of tensor a ({a[-k]}) must match the size of tensor b "
                    f"({b[-k]}) at non-singleton dimension {dim}; got shapes {others} and "
                    f"{list(shapes[-1])}"
                )
        a = _stretched(a, b)
    return RuntimeError(f"{op.name}: shapes {[list(s) for s in shapes]} do not broadcast: {text}")


def _stretched(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that two shapes broadcast to, of which it is known that they do."""
    long, short = (a, b) if len(a) > len(b) else (b, a)
    lead = len(long) - len(short)
    return long[:lead] + tuple(m if n == 1 else n for n, m in zip(long[lead:], short, strict=True))
