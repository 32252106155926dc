"""Binding, conversion and promotion of the arguments of a call; checks of bools and floats.

A bool parameter accepts True and False. A float parameter accepts any number; a NumPy scalar or a
0-d tensor becomes a Python number, so that it does not decide the dtype of the result. A tensor
that requires grad raises an error there, because its gradient would be lost.
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

#: Classes of the defaults of parameters that accept any number, such as ``end`` of ``arange``.
_ANY_NUMBER = (int, type(None))
#: A size in elements that cannot be addressed, at up to 16 bytes an element.
_LIMIT = 2**59
_NO_FLOATS = (str, bytes, list, tuple, dict, type(None))
#: Parameters that PyTorch declares as C++ doubles. A factor such as ``alpha`` may be complex.
_REAL = frozenset((
    "atol", "dropout_p", "eps", "label_smoothing", "margin", "max_norm", "momentum", "nan",
    "neginf", "norm_type", "p", "posinf", "rcond", "rtol",
))  # fmt: skip

#: Classes of basic indices, which NumPy accepts unchanged.
BASIC: frozenset[type] = frozenset((int, slice, type(None), type(...)))


def is_basic(index: Any) -> bool:
    """Whether an index, or each item of a tuple, is a basic index."""
    if index.__class__ is not tuple:
        return index.__class__ in BASIC
    for item in index:  # a loop, as a generator takes three times as long
        if item.__class__ not in BASIC:
            return False
    return True


def convert_scalar(op: Op, position: int, value: Any, placed: bool = False) -> Any:
    """Return the argument for a bool or float parameter as the operation accepts it.

    Args:
        op: The operation.
        position: Position of the parameter.
        value: The argument.
        placed: Whether it was given by position, which the error message then says.

    Raises:
        TypeError: If PyTorch does not accept it.
    """
    kind, or_none = op.plan.scalars[position]
    if value.__class__ is kind or (value is None and or_none):
        return value
    imaginary = isinstance(value, complex) and op.plan.params[position] in _REAL
    if kind is float and not isinstance(value, _NO_FLOATS) and not imaginary:
        if value.__class__ is bool:
            # A parameter that accepts any number gets the bool itself; the operation checks it.
            return value if op.plan.defaults[position].__class__ in _ANY_NUMBER else float(value)
        if not getattr(value, "requires_grad", False):
            return value.item() if hasattr(value, "dtype") and not value.ndim else value
    place = f" (position {position + 1})" if placed else ""
    raise wrong_type_error(op.name, f"'{op.plan.params[position]}'{place}", kind, value)


def wrong_type_error(name: str, argument: str, kind: type, value: Any) -> TypeError:
    """Return PyTorch's error for an argument of the wrong type."""
    cls = type(value)
    is_numpy = getattr(cls, "__module__", None) == "numpy"
    type_name = f"numpy.{cls.__name__}" if is_numpy else cls.__name__
    return TypeError(f"{name}(): argument {argument} must be {kind.__name__}, not {type_name}")


def is_rejected_bool(value: Any, values: Any) -> bool:
    """Whether ``value`` and the first of ``values`` are bools, which PyTorch rejects for ints.

    PyTorch checks the first one alone: after an int, a bool counts as 0 or 1.
    """
    return value.__class__ is bool and values[0].__class__ is bool


def check_size(name: str, size: Any) -> tuple[int, ...]:
    """Return a shape as a tuple of ints; RuntimeError for negative sizes, TypeError for others."""
    shape = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    for n in shape:
        if n.__class__ is not int:
            shape = tuple([_read_length(name, n, shape) for n in shape])
            break
    if shape and min(shape) < 0:
        raise RuntimeError(
            f"{name}: Trying to create tensor with negative dimension {min(shape)}: {[*shape]}"
        )
    if math.prod(shape) >= _LIMIT:
        raise RuntimeError(f"{name}: Storage size calculation overflowed with sizes={[*shape]}")
    if 0 in shape and math.prod(n or 1 for n in shape) >= _LIMIT:
        raise RuntimeError(f"{name}: Stride calculation overflowed with sizes={[*shape]}")
    return shape


def _read_length(name: str, length: Any, size: tuple[Any, ...]) -> int:
    """Return a length of a shape as an int; TypeError if it is not an int."""
    if is_rejected_bool(length, size) or not hasattr(length, "__index__"):
        raise TypeError(
            f"{name}(): argument 'size' must be tuple of ints, but found element of type "
            f"{type(length).__name__}"
        )
    return int(length.__index__())


def has_exact_scalars(op: Op, args: tuple[Any, ...]) -> bool:
    """Whether the positional arguments for bool and float parameters have the declared classes."""
    n = len(args)
    for position, kind in op.plan.positional_scalars:
        if position < n and args[position].__class__ is not kind:
            return False
    return True


def convert_scalars(op: Op, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the positional arguments; those for bool and float parameters are converted."""
    converted = list(args)
    for position, _ in op.plan.positional_scalars:
        if position < len(args):
            converted[position] = convert_scalar(op, position, args[position], placed=True)
    return tuple(converted)


def add_scalar_checks(op: Op, source: Callable[..., Any]) -> Callable[..., Any]:
    """Return a composite's function that first converts the arguments for bools and floats.

    Without such parameters it is ``source`` itself. NumPy's functions accept any value with a truth
    value as a bool.
    """
    if not op.plan.scalars:
        return source
    if op.namespaces[0].partition(".")[0] == "numpy":
        return add_flag_conversion(op, source)
    index, scalars = op.plan.index, op.plan.scalars

    def function(*args: Any, **options: Any) -> Any:
        if not has_exact_scalars(op, args):
            args = convert_scalars(op, args)
        for name, value in options.items():
            if index.get(name) in scalars:
                options[name] = convert_scalar(op, index[name], value)
        return source(*args, **options)

    return function


def add_flag_conversion(op: Op, source: Callable[..., Any]) -> Callable[..., Any]:
    """Return a wrapper of ``source`` that converts its bool parameters by ``to_bool``."""
    places = frozenset(i for i, kind in op.plan.positional_scalars if kind is bool)
    names = frozenset(op.plan.params[i] for i, (kind, _) in op.plan.scalars.items() if kind is bool)

    def function(*args: Any, **options: Any) -> Any:
        args = tuple([to_bool(v) if i in places else v for i, v in enumerate(args)])
        for name in names & options.keys():
            options[name] = to_bool(options[name])
        return source(*args, **options)

    return function


def to_bool(value: Any) -> Any:
    """Return a number of any library as a bool; None, bools and strings are returned unchanged."""
    return value if value is None or isinstance(value, (bool, str)) else bool(value)


#: Parameters that NumPy's spellings, and torch's spellings of methods alone, may stand for: the
#: first one that the operation has.
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


def torch_parameter(op: Op, name: str) -> str | None:
    """Return the parameter of ``op`` that NumPy calls ``name``, or None."""
    if name == "axis" and op.name in _NO_AXIS:
        return None
    return next((torch for torch in SPELLINGS.get(name, ()) if torch in op.plan.index), None)


#: Keywords that only NumPy has. A call with one of them has NumPy's meaning.
NUMPY_KEYWORDS = frozenset(
    ("axis", "keepdims", "ddof", "kind", "num", "k", "N", "return_index", "indices_or_sections",
     "equal_nan", "a_min", "a_max", "order", "rowvar", "bias")
)  # fmt: skip


#: Functions without ``axis`` in PyTorch, whose call with ``axis`` has another meaning in NumPy.
_NO_AXIS = frozenset(("split",))


def select_numpy_form(op: Op, options: dict[str, Any]) -> Callable[..., Any] | None:
    """Return the operation's form with NumPy's meaning if the keywords select it, or None.

    PyTorch itself accepts ``axis`` and ``keepdims`` as other names of ``dim`` and ``keepdim``. They
    select NumPy's meaning only if PyTorch does not accept the name or the value there, such as a
    tuple or None for a single dimension.
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

#: Keywords that NumPy's functions accept only under ``tinytorch.numpy``.
_NUMPY_ONLY = frozenset(("where", "initial", "order", "casting", "dtype", "like", "subok"))


def unexpected_keyword_error(op: Op, name: str) -> TypeError:
    """Return the error for a keyword that an operation does not have.

    Its message names the nearest keyword, or NumPy's function that has this one.
    """
    from difflib import get_close_matches
    from inspect import signature

    text = f"{op.name}() got an unexpected keyword argument '{name}'"
    known = signature(op.function).parameters
    near = get_close_matches(name, known, 1)
    if near and name not in SPELLINGS:
        return TypeError(f"{text}. Did you mean '{near[0]}'?")
    if name in _NUMPY_ONLY and op.namespaces[0] == "":
        namespace: Any = LATE_BOUND.graph_namespace()
        if namespace.function_of(op.name) is not None:
            text += f"; NumPy's function of the name is tinytorch.numpy.{op.name}"
    return TypeError(text)


def repeated_argument_error(op: Op, first: str, second: str) -> TypeError:
    """Return the error for two keywords that stand for one parameter."""
    return TypeError(f"{op.name}() got both '{first}' and '{second}', which are the same argument")


def positional_arguments(
    op: Op, values: tuple[Any, ...], more: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, ...]:
    """Return the arguments of a call that were given by position, for the slow path.

    Arguments given by name, and trailing ones that are the default, are left out.

    Args:
        op: The operation.
        values: Arguments for the parameters that accept a position, also those given by name.
        more: Further arguments by position.
        options: All arguments by name.
    """
    n = len(values)
    for name in options:
        n = min(n, op.plan.index.get(name, n))
    if not more:
        while n and values[n - 1] is op.plan.defaults[n - 1]:
            n -= 1
    return values[:n] + more


def prepare(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
    """Convert and promote the arguments of a call.

    Args:
        op: The operation.
        args: Arguments by position.
        options: Arguments by name.

    Returns:
        A tuple with one argument for each parameter, and the backend.

    Raises:
        TypeError: For a missing or unknown argument, or one of a class that ``op`` does not accept.
        RuntimeError: For tensors on different backends.
    """
    arguments = bind(op, args, options)
    xp = _fast_backend(op, arguments)
    if xp is not None:
        return tuple(arguments), xp
    xp = common_backend(op, arguments)
    for i in op.plan.tensors:
        value = arguments[i]
        if i == op.plan.sequence:
            if value is not None:
                if op.strict:
                    _check_no_numbers(op, i, value)
                arguments[i] = tuple(to_tensor(op, i, v, xp) for v in value)
        elif value is None:
            if i not in op.plan.optional:
                _raise_not_tensor(op, i, value)
        elif not isinstance(value, Tensor):
            if not isinstance(value, (bool, int, float, complex)):
                weak = (
                    i in op.plan.numbers
                    and isinstance(value, Number)
                    and _has_tensor(op, arguments)
                )
                # Beside a tensor a NumPy scalar counts as a Python number, as in torch.
                arguments[i] = value.item() if weak else to_tensor(op, i, value, xp)
            elif i not in op.plan.numbers:
                if op.strict:
                    _raise_not_tensor(op, i, value)
                arguments[i] = to_tensor(op, i, value, xp)
            elif op.strict and not _has_tensor(op, arguments):
                _raise_not_tensor(op, i, value)
    if op.promote is not None:
        promote_operands(op, arguments, xp)
    return tuple(arguments), xp


def _has_tensor(op: Op, arguments: list[Any]) -> bool:
    """Whether an argument for a tensor parameter is a tensor."""
    return any(isinstance(arguments[k], Tensor) for k in op.plan.tensors)


def _fast_backend(op: Op, arguments: list[Any]) -> Any:
    """Return the backend of arguments that need no conversion and no promotion, else None."""
    xp = dtype = None
    for i in op.plan.tensors:
        value = arguments[i]
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


def _raise_not_tensor(op: Op, position: int, value: Any) -> None:
    """Raise PyTorch's TypeError for an argument that must be a tensor."""
    raise TypeError(
        f"{op.name}(): argument '{op.plan.params[position]}' (position {position + 1}) must be "
        f"Tensor, not {type(value).__name__}"
    )


def _check_no_numbers(op: Op, position: int, values: Any) -> None:
    """Raise PyTorch's TypeError if there is a number in the list of tensors at ``position``."""
    for k, value in enumerate(values):
        if isinstance(value, Number):
            raise TypeError(
                f"{op.name}(): expected Tensor as element {k} in argument {position}, but got "
                f"{type(value).__name__}"
            )


def bind(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
    """Return the arguments in the order of ``op.plan.params``, with defaults filled in.

    Sizes passed one by one become one tuple; arguments for bools and floats are converted.

    Raises:
        TypeError: For a missing, unknown or repeated argument.
    """
    first = op.plan.sizes
    if first is not None and len(args) > first and _is_int(args[first]):
        if not (len(args) == first + 1 and isinstance(args[first], Tensor) and args[first].ndim):
            args = (*args[:first], args[first:])
    n = len(args)
    more = op.plan.more_sizes
    if n > op.plan.positional and more is not None:
        args = (*args[:more], args[more:])
        n = len(args)
    if n > op.plan.positional:
        args, options = _reorder_former_call(op, args, options)
        n = len(args)
    if n > op.plan.unchecked:
        args = convert_scalars(op, args)
    arguments = [*args, *op.plan.defaults[n:]]
    for name, value in options.items():
        i = op.plan.index.get(name)
        if i is None:
            torch = torch_parameter(op, name)
            if torch is None:
                raise unexpected_keyword_error(op, name)
            # torch's swapaxes numbers its axes from 0, NumPy's from 1.
            i = op.plan.index["dim1" if name == "axis1" and "axis0" in options else torch]
        if i < n:
            raise TypeError(f"{op.name}() got multiple values for argument '{op.plan.params[i]}'")
        if op.plan.params[i] != name and op.plan.params[i] in options:
            raise repeated_argument_error(op, op.plan.params[i], name)
        arguments[i] = convert_scalar(op, i, value) if i in op.plan.scalars else value
    for i in range(n, len(arguments)):
        if arguments[i] is REQUIRED:
            raise TypeError(
                f"{op.name}() missing required argument '{op.plan.params[i]}' (pos {i + 1})"
            )
    return arguments


def _reorder_former_call(
    op: Op, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Convert a call of a former overload, with factors between the tensors, to the present one.

    Returns:
        The tensors by position, and the keywords with the factors.

    Raises:
        TypeError: If there are too many positional arguments for any overload.
    """
    names = op.former_order
    if op.plan.positional == 2 and names and len(args) == 3 and options.keys().isdisjoint(names):
        first, factor, second = args  # here the operands may be numbers, too
        if isinstance(factor, Number) or isinstance(factor, Tensor) and not factor.ndim:
            _warn_about_order(op)
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
    _warn_about_order(op)
    return tensors, {**options, **dict(zip(names, numbers, strict=False))}


def _warn_about_order(op: Op) -> None:
    """Warn once that the call has factors between the tensors."""
    warn_once(
        f"This overload of {op.name} is deprecated: give {' and '.join(op.former_order)} by name, "
        "after the tensors."
    )


def _is_int(value: Any) -> bool:
    """Whether an argument is a single size: an int, a tensor or a NumPy int, but no array."""
    if isinstance(value, (int, Tensor)):
        return True
    return hasattr(value, "__index__") and not getattr(value, "ndim", 0)


def unwrap(value: Any) -> Any:
    """Return the raw array of a tensor, also in tuples and lists; other values unchanged."""
    if isinstance(value, Tensor):
        return value._data
    if value.__class__ is tuple or value.__class__ is list:
        return value.__class__(unwrap(v) for v in value)
    return value


def explain_shapes(op: Op, given: tuple[Any, ...], error: ValueError) -> Exception:
    """Return torch's error for operands that do not broadcast; any other error unchanged.

    Args:
        op: The operation.
        given: The arguments with their tensors.
        error: The error of the kernel, with the text of NumPy or CuPy.
    """
    text = str(error)
    shapes = [tuple(given[i]._data.shape) for i in op.plan.tensors if isinstance(given[i], Tensor)]
    if "non-broadcastable output" in text or "Out shape" in text:  # NumPy's words, and CuPy's
        broadcast_shape = given[op.plan.tensors[0]]._xp.broadcast_shapes(*shapes)
        return RuntimeError(
            f"{op.name}_: output with shape {list(shapes[0])} doesn't match the broadcast shape "
            f"{list(broadcast_shape)}"
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
        a = _broadcast_shape(a, b)
    return RuntimeError(f"{op.name}: shapes {[list(s) for s in shapes]} do not broadcast: {text}")


def _broadcast_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that two compatible shapes broadcast to."""
    long, short = (a, b) if len(a) > len(b) else (b, a)
    lead = len(long) - len(short)
    return long[:lead] + tuple(m if n == 1 else n for n, m in zip(long[lead:], short, strict=True))
