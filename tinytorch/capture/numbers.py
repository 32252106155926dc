"""Numbers of the host that differ between replays: learning rates, step counts, their formulas.

A traced number stands for a Python float. Its formulas become nodes on float64 scalars, computed by
Python's operators as eager code computes them.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from .graph import Kind, Value
from .recorder import ProgramRecorder, is_users
from .traced_memory import Input


class TracedNumber:
    """Python float that is an input or a result of the program.

    Attributes:
        number: Its present value.
        value: Its 0-d float64 value in the program.
        read: Of an input: the function that returns its present value.
    """

    __slots__ = ("number", "read", "recorder", "value")

    def __init__(
        self, number: float, value: Value, recorder: ProgramRecorder,
        read: Callable[[], Any] | None = None,
    ) -> None:  # fmt: skip
        self.number: float = number
        self.value: Value = value
        self.recorder: ProgramRecorder = recorder
        self.read: Callable[[], Any] | None = read

    def as_array(self, dtype: Any) -> Any:
        """Return it as a recorded 0-d array, rounded once."""
        host = numpy.array(self.number, dtype)
        convert = ToDtype(numpy.dtype(dtype))
        node = self.recorder.add(Kind.CALL, "number.astype", convert, (self.value,), {})
        return self.recorder.fresh(host, self.recorder.output(node, host))

    def compute(self, name: str, function: Callable[..., float], *args: Any) -> TracedNumber:
        """Record a function of Python floats."""
        numbers = [arg.number if arg.__class__ is TracedNumber else arg for arg in args]
        result = float(function(*numbers))
        symbols = tuple([arg.value if arg.__class__ is TracedNumber else arg for arg in args])
        node = self.recorder.add(Kind.CALL, f"number.{name}", OnFloats(function), symbols, {})
        value = self.recorder.output(node, numpy.array(result, numpy.float64))
        return TracedNumber(result, value, self.recorder)

    # -- facts ------------------------------------------------------------------------------

    def guard(self, name: str, test: Callable[[Any], Any]) -> Any:
        """Return ``test(number)``, which must be the same at each replay."""
        found = test(self.number)
        if self.read is None:
            self.recorder.note_break(f"{name} of a number that is computed")
        else:
            read = self.read
            self.recorder.guards.append((lambda: test(float(read())), found))
        return found

    def __bool__(self) -> bool:
        return bool(self.guard("bool", bool))

    def __float__(self) -> float:
        if self.read is None:
            self.recorder.note_break("float of a number")
        return float(self.guard("float", float)) if self.read else float(self.number)

    def __index__(self) -> int:
        raise TypeError("'float' object cannot be interpreted as an integer")

    def __hash__(self) -> int:
        return hash(self.value)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TracedNumber):  # as the key of a bucket of parameters
            return self.value is other.value
        return bool(self.guard("eq", lambda number: number == other))

    def __repr__(self) -> str:
        return f"traced {self.number!r}"


@dataclass
class SharedCount:
    """Count of several inputs, which are equal at each replay.

    Attributes:
        number: The count after it was increased.
        value: The value of the inputs then.
        inputs: Their numbers.
    """

    number: TracedNumber
    value: Value
    inputs: list[int]


def increase_count(recorder: ProgramRecorder, array: Any, by: float) -> TracedNumber:
    """Record the addition of a number to a 0-d array.

    Step counts of the parameters of an optimizer are equal, and guards ensure that. So the formulas
    of the first one, and the updates that depend on them, are those of all.
    """
    memory = array.memory
    key = array.host.item(), by, array.dtype
    is_listed = not array.chain and not memory.store.version and recorder.is_listed(memory)
    found: SharedCount | None = recorder.counts.get(key) if is_listed else None
    if found is not None:
        array.host[...] = found.number.number
        array.set_value(found.value)
        found.inputs.append(memory.input)
        return found.number
    array[...] = array.as_number() + by
    number: TracedNumber = array.as_number()
    if is_listed:
        recorder.counts[key] = SharedCount(number, array.value(), [memory.input])
    return number


class OnFloats:
    """Function of Python floats that accepts 0-d arrays and returns one."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., float]) -> None:
        self.function: Callable[..., float] = function

    def __call__(self, *args: Any) -> Any:
        return numpy.array(self.function(*map(_as_float, args)), numpy.float64)


def _as_float(value: Any) -> Any:
    return value.item() if isinstance(value, (numpy.ndarray, numpy.generic)) else value


class WithFloats:
    """Function of arrays that gets Python floats for the 0-d values at some places."""

    __slots__ = ("function", "places")

    def __init__(self, function: Callable[..., Any], places: frozenset[Any]) -> None:
        self.function: Callable[..., Any] = function
        self.places: frozenset[Any] = places

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = tuple([_as_float(arg) if i in self.places else arg for i, arg in enumerate(args)])
        kwargs = {k: _as_float(arg) if k in self.places else arg for k, arg in kwargs.items()}
        return self.function(*args, **kwargs)


class ToDtype:
    """Conversion of a float64 scalar to a 0-d array of a dtype."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: Any) -> None:
        self.dtype: Any = dtype

    def __call__(self, value: Any) -> Any:
        return numpy.array(_as_float(value), self.dtype)


#: Hyperparameters that schedulers change.
_TRACED = frozenset(("lr", "momentum"))


def trace_group(recorder: ProgramRecorder, group: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a parameter group with traced learning rates, momentums and betas.

    All other hyperparameters are guarded; all of them if the program itself reads them, as a
    function does that multiplies a loss by the learning rate.
    """
    if recorder.actions:
        recorder.note_break("a learning rate after the step of a scheduler")
    traced = dict(group)
    guarded = [name for name in group if name != "params"] if reads_groups(recorder.outside) else []
    for name, value in group.items():
        if name in _TRACED and isinstance(value, (int, float)):
            traced[name] = _trace(recorder, (id(group), name), _ReadItem(group, name))
        elif name == "betas" and all(isinstance(beta, float) for beta in value):
            traced[name] = tuple(
                [
                    _trace(recorder, (id(group), name, i), _ReadItem(group, name, i))
                    for i in range(len(value))
                ]
            )
        elif name != "params" and name not in guarded:
            guarded.append(name)
    read = _ReadFacts(group, guarded)
    recorder.guards.append((read, read()))
    return traced


def reads_groups(outside: Any) -> bool:
    """Whether a recorded function of the program names the hyperparameters.

    Args:
        outside: The frame that calls the recorded function.
    """
    frame: Any = sys._getframe(1)
    while frame is not None and frame is not outside:
        code = frame.f_code
        if is_users(code.co_filename) and not _READERS.isdisjoint(code.co_names):
            return True
        frame = frame.f_back
    return False


#: Attributes and methods through which a program reads hyperparameters.
_READERS = frozenset(("param_groups", "get_last_lr"))


def _trace(recorder: ProgramRecorder, key: Any, read: Callable[[], Any]) -> TracedNumber:
    """Return the traced number of an input, one for each key."""
    found = recorder.numbers.get(key)
    if found is None:
        number = float(read())
        host = numpy.array(number, numpy.float64)
        value = recorder.add_input(Input("number", host, read=read), host)
        found = recorder.numbers[key] = TracedNumber(number, value, recorder, read)
    return found


class _ReadItem:
    """Function that returns a hyperparameter, or an item of it."""

    __slots__ = ("_group", "_index", "_name")

    def __init__(self, group: dict[str, Any], name: str, index: int | None = None) -> None:
        self._group, self._name, self._index = group, name, index

    def __call__(self) -> Any:
        value = self._group[self._name]
        return value if self._index is None else value[self._index]


class _ReadFacts:
    """Function that returns hyperparameters; of tensors their identity."""

    __slots__ = ("_group", "_names")

    def __init__(self, group: dict[str, Any], names: list[str]) -> None:
        self._group, self._names = group, names

    def __call__(self) -> Any:
        values = [self._group.get(name) for name in self._names]
        return [id(value) if hasattr(value, "_data") else value for value in values]


def _install_operators() -> None:
    """Define the operators of traced numbers with each other, Python's numbers and arrays."""
    for word in "add sub mul truediv pow mod floordiv".split():
        function = getattr(operator, word)
        setattr(TracedNumber, f"__{word}__", _operator(word, function, False))
        setattr(TracedNumber, f"__r{word}__", _operator(word, function, True))
    for word, function in (
        ("neg", operator.neg), ("pos", operator.pos), ("abs", operator.abs),
    ):  # fmt: skip
        setattr(TracedNumber, f"__{word}__", _unary(word, function))
    for word in "lt le gt ge ne".split():
        setattr(TracedNumber, f"__{word}__", _comparison(word, getattr(operator, word)))


def _operator(word: str, function: Callable[..., Any], exchanged: bool) -> Callable[..., Any]:
    def operate(self: TracedNumber, other: Any) -> Any:
        if not isinstance(other, (int, float, TracedNumber, numpy.floating)):
            return NotImplemented
        pair = (other, self) if exchanged else (self, other)
        return self.compute(word, function, *pair)

    return operate


def _unary(word: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def operate(self: TracedNumber) -> Any:
        return self.compute(word, function, self)

    return operate


def _comparison(word: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def compare(self: TracedNumber, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            if other.__class__ is not TracedNumber:
                return NotImplemented
            other = float(other)
        return bool(self.guard(word, lambda number: function(number, other)))

    return compare


_install_operators()
