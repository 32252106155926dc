"""Calls while a function is recorded: made on the real arrays, and added to the program."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from .graph import Kind, Node
from .numbers import TracedNumber, WithFloats
from .recorder import ProgramRecorder, arrays_in, current_recorder, has_arrays
from .traced_memory import TracedArray, map_tree, root_of

#: Functions of NumPy's that write to their first argument.
_MUTATING = frozenset("copyto put place putmask put_along_axis fill_diagonal".split())
#: Functions whose arguments or results are no arrays' values.
_FACTS = frozenset((
    "result_type promote_types can_cast iinfo finfo dtype isscalar broadcast_shapes ndim shape "
    "size issubdtype errstate iscomplexobj isrealobj may_share_memory shares_memory "
    "min_scalar_type einsum_path ndindex geterr seterr"
).split())  # fmt: skip
#: Functions whose results depend on values in their shape, or are Python's.
_READING = frozenset((
    "nonzero flatnonzero unique unique_values unique_inverse unique_counts unique_all argwhere "
    "array_equal compress extract allclose histogram trim_zeros union1d intersect1d setdiff1d"
).split())  # fmt: skip


def unwrap(item: Any) -> Any:
    """Return the real array of a recorded one, and the float of a traced number."""
    if isinstance(item, TracedArray):
        return item.host
    return item.number if item.__class__ is TracedNumber else item


def _symbol(item: Any) -> Any:
    """Return the value of a recorded array, and of a traced number."""
    if isinstance(item, TracedArray):
        return item.value()
    return item.value if item.__class__ is TracedNumber else item


def symbols(tree: Any) -> Any:
    """Return arguments with the values of recorded arrays."""
    return map_tree(_symbol, tree)


#: Classes of arguments that hold no arrays.
_WITHOUT_ARRAYS = frozenset((
    int, float, bool, str, type(None), type, type(...), numpy.ndarray,
    *[type(numpy.dtype(char)) for char in "?bhilqBHILQefdgFDG"],
))  # fmt: skip


def split(args: Any, sources: list[TracedArray]) -> tuple[list[Any], list[Any]]:
    """Return the items of arguments for the real call, and for the node.

    Args:
        args: Tuple or list of arguments.
        sources: List to which their recorded arrays are appended.
    """
    real: list[Any] = []
    node: list[Any] = []
    for arg in args:
        kind = arg.__class__
        if isinstance(arg, TracedArray):
            sources.append(arg)
            real.append(arg.host)
            node.append(arg.value())
        elif kind is tuple or kind is list:
            first, second = split(arg, sources)
            real.append(kind(first))
            node.append(kind(second))
        elif kind in _WITHOUT_ARRAYS or kind is slice and _is_plain(arg):
            real.append(arg)
            node.append(arg)
        else:
            sources.extend(arrays_in(arg))
            real.append(map_tree(unwrap, arg))
            node.append(symbols(arg))
    return real, node


def _is_plain(item: slice) -> bool:
    """Whether the bounds of a slice are no arrays."""
    return {item.start.__class__, item.stop.__class__, item.step.__class__} <= _WITHOUT_ARRAYS


def call(
    name: str, function: Callable[..., Any], args: Any, kwargs: Any, kind: Kind = Kind.CALL
) -> Any:
    """Call a function on the real arrays, and record the call.

    Returns:
        What the function returns, with recorded arrays for arrays and NumPy's scalars.
    """
    if kwargs and "out" in kwargs:
        if kwargs["out"] is not None:
            return _call_with_out(name, function, args, kwargs)
        kwargs = {key: value for key, value in kwargs.items() if key != "out"}
    recorder = current_recorder()
    if recorder is None:
        return function(*map_tree(unwrap, args), **map_tree(unwrap, kwargs))
    sources: list[TracedArray] = []
    real, symbol = split(args, sources)
    node = Node(kind, name, function, tuple(symbol), kwargs, recorder.tag)
    if kwargs:
        first, second = split(kwargs.values(), sources)
        node.kwargs = dict(zip(kwargs, second, strict=True))
        kwargs = dict(zip(kwargs, first, strict=True))
    return wrap_result(recorder, function(*real, **kwargs), node, args, sources)


def wrap_result(
    recorder: ProgramRecorder, result: Any, node: Node, args: Any, sources: list[TracedArray]
) -> Any:
    """Wrap what a function returned; add its node unless its results are arguments or views."""
    if result.__class__ is numpy.ndarray:  # the usual case
        out = _as_view(recorder, result, node, None, args, sources)
        if out is None:
            recorder.program.nodes.append(node)
            out = recorder.fresh(result, recorder.output(node, result))
        return out
    is_several = result.__class__ is tuple or result.__class__ is list or hasattr(result, "_fields")
    wrapped, is_used = [], False
    for index, real in enumerate(result if is_several else (result,)):
        if isinstance(real, numpy.generic):
            real = numpy.asarray(real)
        if not isinstance(real, numpy.ndarray):
            wrapped.append(real)
            continue
        out = _as_view(recorder, real, node, index if is_several else None, args, sources)
        if out is None:
            out, is_used = recorder.fresh(real, recorder.output(node, real, index)), True
        wrapped.append(out)
    if is_used:
        recorder.program.nodes.append(node)
    if not is_several:
        return wrapped[0]
    if hasattr(result, "_fields"):
        return type(result)(*wrapped)
    return result.__class__(wrapped)


def _as_view(
    recorder: ProgramRecorder, real: Any, node: Node, index: int | None, args: Any,
    sources: list[TracedArray],
) -> Any:  # fmt: skip
    """Return a result that is an argument or a view of one; None for new memory."""
    for source in sources:
        if real is source.host:
            return source
    if real.base is None or not sources:
        return None
    if real.base is sources[0].host and args and args[0] is sources[0] and len(sources) == 1:
        return _view_of(recorder, sources[0], real, node, index, args)
    root = root_of(real)
    for source in sources:
        if root is source.host or root is root_of(source.host):
            return _view_of(recorder, source, real, node, index, args)
    return None


def _view_of(
    recorder: ProgramRecorder,
    source: TracedArray,
    real: Any,
    node: Node,
    index: int | None,
    args: Any,
) -> TracedArray:
    """Record a view of an argument."""
    function, rest = node.function, node.args[1:]
    name, kwargs = node.name, node.kwargs
    assert function is not None
    if args[0] is not source or len(args) > 1 and has_arrays(args[1:]):
        if not numpy.broadcast_to(source.host, real.shape).strides == real.strides:
            raise NotImplementedError(f"a view of an argument that is not the first: {name}")
        name, function, rest, kwargs = "numpy.broadcast_to", numpy.broadcast_to, (real.shape,), {}
    elif index is not None:
        name, function, rest, kwargs = name, ViewPart(function, index), rest, kwargs
    view = recorder.add(Kind.VIEW, name, function, (source.value(), *rest), kwargs)
    value = recorder.output(view, real)
    return source.view_as(real, (name, function, rest, kwargs), value)


class ViewPart:
    """View operation: one of several views that a function returns."""

    __slots__ = ("function", "index")

    def __init__(self, function: Callable[..., Any], index: int) -> None:
        self.function, self.index = function, index

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)[self.index]


def mutate(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a function that writes to its first argument, and record the call.

    A target that is no recorded array becomes one: a kernel's own array.
    """
    recorder = current_recorder()
    target = args[0]
    real = map_tree(unwrap, args), map_tree(unwrap, kwargs)
    if recorder is None:
        return function(*real[0], **real[1])
    if not isinstance(target, TracedArray):
        raise TypeError(f"{name} writes to an array that is not recorded")
    node = Node(Kind.MUTATE, name, function, symbols(args), symbols(kwargs), recorder.tag)
    result = function(*real[0], **real[1])
    recorder.program.nodes.append(node)
    target.set_value(recorder.output(node, target.host))
    return result


def _call_with_out(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Record a call with ``out=`` as a write to that array."""
    kwargs = dict(kwargs)
    out = kwargs.pop("out")
    if out.__class__ is tuple:
        if len(out) > 1:
            return _call_with_outs(name, function, args, kwargs, out)
        (out,) = out
        if out is None:
            return call(name, function, args, kwargs)
    mutate(name, IntoOut(function), (out, *args), kwargs)
    return out


def _call_with_outs(
    name: str, function: Callable[..., Any], args: Any, kwargs: Any, outs: Any
) -> Any:
    """Record a call with several ``out`` as a call and writes."""
    found = call(name, function, args, kwargs)
    for target, result in zip(outs, found, strict=True):
        if target is not None:
            write(target, result)
    return tuple([b if a is None else a for a, b in zip(outs, found, strict=True)])


class IntoOut:
    """Function that writes its result to its first argument, by ``out=``."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, out: Any, *args: Any, **kwargs: Any) -> None:
        self.function(*args, out=out, **kwargs)


def _call_plain_ufunc(ufunc: Any, args: Any) -> Any:
    """``call_ufunc`` without options, whose result is new memory."""
    recorder = current_recorder()
    if recorder is None:
        return ufunc(*map_tree(unwrap, args))
    for item in args:
        if item.__class__ is TracedNumber:
            args = tuple(fit_numbers(args))
            break
    real, symbol = split(args, [])
    result = numpy.asarray(ufunc(*real))
    node = Node(Kind.CALL, ufunc.__name__, ufunc, tuple(symbol), {}, recorder.tag)
    recorder.program.nodes.append(node)
    return recorder.fresh(result, recorder.output(node, result))


def call_ufunc(ufunc: Any, args: Any, kwargs: Any) -> Any:
    """Record a call of a ufunc; with a fitting ``out=`` as a call and a write."""
    if not kwargs and len(args) <= ufunc.nin and ufunc.nout == 1:
        return _call_plain_ufunc(ufunc, args)
    if len(args) > ufunc.nin:
        outs = args[ufunc.nin :]
        args, kwargs = args[: ufunc.nin], {**kwargs, "out": outs if len(outs) > 1 else outs[0]}
    if any(item.__class__ is TracedNumber for item in args):
        args = tuple(fit_numbers(args))
    out = kwargs.get("out") if kwargs else None
    if out.__class__ is tuple and len(out) == 1:
        (out,) = out
    if out is None or out.__class__ is tuple or len(kwargs) > 1 or current_recorder() is None:
        return call(ufunc.__name__, ufunc, args, kwargs)
    recorder: Any = current_recorder()
    real, symbol = split(args, [])
    node = Node(Kind.CALL, ufunc.__name__, ufunc, tuple(symbol), {}, recorder.tag)
    if ufunc.__name__ in _KEEP_DTYPE and _has_layout(real, out.host):
        ufunc(*real, out=out.host)
        recorder.program.nodes.append(node)
        out.set_value(recorder.output(node, out.host))
        return out
    result = ufunc(*real)
    if result.shape != out.shape or result.dtype != out.dtype:
        return call(ufunc.__name__, ufunc, args, {"out": out})
    if out.strides != result.strides and ufunc.__name__ not in _SAME_IN_ANY_LAYOUT:
        node.function = InLayout(ufunc, out.strides)
        result = node.function(*real)
    out.host[...] = result
    recorder.program.nodes.append(node)
    out.set_value(recorder.output(node, out.host))
    return out


#: Ufuncs whose result has the dtype of floating-point arguments; they round in one way.
_KEEP_DTYPE = frozenset((
    "add subtract multiply divide maximum minimum sqrt square negative absolute"
).split())  # fmt: skip


def _has_layout(items: list[Any], out: Any) -> bool:
    """Whether a ufunc of these arguments has a result with the shape and dtype of ``out``."""
    arrays = [item for item in items if item.__class__ is not float]
    if out.dtype.kind != "f" or any(
        item.__class__ is not numpy.ndarray or item.dtype != out.dtype for item in arrays
    ):
        return False
    shapes = {item.shape for item in arrays}
    return out.shape in shapes and shapes <= {out.shape, ()}


#: Ufuncs that round in one way: a formula for vectors and one for single elements may differ.
_SAME_IN_ANY_LAYOUT = frozenset((
    "add subtract multiply divide negative absolute positive maximum minimum sqrt square "
    "reciprocal fmax fmin sign floor ceil trunc rint conjugate equal not_equal less "
    "less_equal greater greater_equal bitwise_and bitwise_or bitwise_xor invert logical_and "
    "logical_or logical_not"
).split())  # fmt: skip


class InLayout:
    """Ufunc that computes its result with given strides, as an ``out=`` had them."""

    __slots__ = ("strides", "ufunc")

    def __init__(self, ufunc: Any, strides: tuple[int, ...]) -> None:
        self.ufunc: Any = ufunc
        self.strides: tuple[int, ...] = strides

    def __call__(self, *args: Any) -> Any:
        natural = self.ufunc(*args)
        if any(step < 0 for step in self.strides) or not natural.size:
            return natural
        steps = zip(natural.shape, self.strides, strict=True)
        extent = sum((size - 1) * step for size, step in steps) + natural.itemsize
        buffer = numpy.empty(extent, numpy.uint8)
        out = numpy.ndarray(natural.shape, natural.dtype, buffer, 0, self.strides)
        return self.ufunc(*args, out=out)


def fit_numbers(args: Any) -> Iterator[Any]:
    """Convert traced numbers to the dtype that NumPy gives a Python float beside the arrays."""
    dtypes = [item.dtype for item in args if hasattr(item, "dtype")]
    others = [item for item in args if isinstance(item, (int, float, complex))]
    dtype = numpy.result_type(*dtypes, *others, 0.0)
    for item in args:
        yield item.as_array(dtype) if item.__class__ is TracedNumber else item


def write(target: TracedArray, value: Any) -> None:
    """Record ``target[...] = value``."""
    if not target.is_recorded():
        target.host[...] = unwrap(value)
        return
    if value.__class__ is TracedNumber:
        value = value.as_array(target.host.dtype)
    real = unwrap(value)
    if (
        not isinstance(value, TracedArray)
        or real.shape != target.host.shape or real.dtype != target.host.dtype
    ):  # fmt: skip
        mutate("setitem", operator.setitem, (target, Ellipsis, value), {})
        return
    if value.memory is target.memory and value.chain == target.chain:
        return  # x += y ends with x[...] = x
    symbol = value.value()
    target.host[...] = real
    target.set_value(symbol)


def call_named(
    name: str, reads: bool, function: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Record a call of a function of NumPy's or of the NumPy backend."""
    if reads:
        for array in arrays_in((args, kwargs)):
            array.note_break(name)
            break
    places = [i for i, arg in enumerate(args) if arg.__class__ is TracedNumber]
    names = [key for key, arg in kwargs.items() if arg.__class__ is TracedNumber]
    if places or names:
        function = WithFloats(function, frozenset((*places, *names)))
    return call(name, function, args, kwargs)


def call_numpy(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a function of NumPy's, and record the call by the set that contains the name.

    A function of ``_FACTS`` is called without a node, one of ``_MUTATING`` is recorded as a write
    to its first argument, and one of ``_READING`` notes a break.
    """
    short = name.rpartition(".")[2]
    if short in _FACTS:
        return function(*map_tree(unwrap, args), **map_tree(unwrap, kwargs))
    if short in _MUTATING:
        return mutate(name, function, args, kwargs)
    return call_named(name, short in _READING, function, *args, **kwargs)
