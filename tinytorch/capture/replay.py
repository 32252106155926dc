"""The reference engine, one call for each node, and the way back from a replay that raised."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy

from ..state import generator
from .graph import Kind, Node, Program, Value
from .traced_memory import map_tree


def run_program(program: Program, arrays: Sequence[Any]) -> list[Any]:
    """Run a program.

    Args:
        program: The program.
        arrays: An array, or a number, for each input. They are not changed.

    Returns:
        The outputs, then the final values of the inputs in ``program.writes``, as new arrays.
    """
    values: dict[Value, Any] = dict(zip(program.inputs, arrays, strict=True))
    with numpy.errstate(all="ignore"):
        for node in program.nodes:
            run_node(node, values)
    found = [*program.outputs, *[value for _, value in program.writes]]
    given = {id(values[value]) for value in program.inputs}
    return [_own(values[value], given) for value in found]


def _own(array: Any, given: set[int]) -> Any:
    """Return an array that is no part of an input."""
    array = numpy.asarray(array)
    base = array
    while base is not None:
        if id(base) in given:
            return array.copy()
        base = getattr(base, "base", None)
    return array if array.flags.writeable else array.copy()


def bind(tree: Any, values: dict[Value, Any]) -> Any:
    """Return an argument with arrays for values."""
    return map_tree(lambda item: values[item] if item.__class__ is Value else item, tree)


def run_node(node: Node, values: dict[Value, Any]) -> None:
    """Compute the outputs of one node."""
    args, kwargs = bind(node.args, values), bind(node.kwargs, values)
    function: Any = node.function
    if node.kind is Kind.CONSTANT:
        result = args[0]
    elif node.kind is Kind.PUT:
        result = put(args[0], args[1], node.views)
    elif node.kind is Kind.MUTATE:
        result = copy_like(args[0])
        function(result, *args[1:], **kwargs)
    else:
        result = function(*args, **kwargs)
    outputs = node.outputs
    is_several = isinstance(result, (tuple, list))
    for index, value in enumerate(outputs):
        if value is not None:
            values[value] = numpy.asarray(result[index] if is_several else result)


def copy_like(array: Any) -> Any:
    """Writable copy with the same order of memory."""
    return numpy.array(array, order="K")


def put(base: Any, part: Any, views: Any) -> Any:
    """Return a copy of ``base`` with the part that ``views`` select replaced."""
    out = target = copy_like(base)
    for function, args, kwargs in views:
        target = function(target, *args, **kwargs)
    if not target.flags.writeable:
        target = target.view()
        target.flags.writeable = True
    operator.setitem(target, Ellipsis, part)
    return out


class Undo:
    """Undoes what a run of a program has changed before it raised.

    A program raises where eager code does, or where numbers lead elsewhere than they did when it
    was recorded. Either way the call runs again, eagerly, from the state before.

    Args:
        program: The program.
        backend: The backend that runs it.

    Attributes:
        is_needed: Whether a node of the program may raise.
        end: Number of the first node from which on none raises.
        written: Numbers of the inputs that may have been written when it does.
    """

    def __init__(self, program: Program, backend: Any) -> None:
        raising = [i for i, node in enumerate(program.nodes) if may_raise(node)]
        self.is_needed: bool = bool(raising)
        self.end: int = raising[-1] + 1 if raising else 0
        self.written: list[int] = []
        self._engines = engines_of(program, backend)
        if raising:
            before = program.nodes[: raising[-1]]
            early = {node.args[0] for node in before if _writes(node)}
            early.update(value for node in before for value in node.outputs if value is not None)
            self.written = [
                n for n, value in program.writes if value in early or program.inputs[n] in early
            ]

    def begin(self, arrays: Sequence[Any]) -> Callable[[], None]:
        """Return the function that restores the present state.

        Args:
            arrays: The arrays of the inputs.
        """
        copies = [(arrays[number], arrays[number].copy()) for number in self.written]
        states = [(engine, engine.snapshot()) for engine in self._engines]

        def restore() -> None:
            for array, before in copies:
                array[...] = before
            for engine, state in states:
                engine.rewind(state)

        return restore


def may_raise(node: Node) -> bool:
    """Whether a node may raise although it did not when it was recorded."""
    if node.function.__class__ is partial:  # a kernel in which nothing depends on values
        return False
    if node.kind is Kind.DRAW and node.args:  # a probability that is an array is checked
        return node.args[0].__class__ is Value or node.name.startswith("op.")
    return node.kind is Kind.CHECK or node.name.startswith(("numpy.linalg.", "op."))


def _writes(node: Node) -> bool:
    return node.kind in (Kind.PUT, Kind.MUTATE)


def engines_of(program: Program, backend: Any) -> list[Any]:
    """Return the random engines that a program advances on a backend, each once."""
    found = [engine_of(node, backend) for node in program.nodes if node.kind is Kind.DRAW]
    return list({id(each): each for each in found}.values())


def engine_of(node: Node, backend: Any) -> Any:
    """Return the random engine that a draw advances."""
    owner = getattr(node.function, "__self__", None)
    if owner is None:  # a kernel, which draws from the default generator
        owner = generator(backend)
    return getattr(owner, "engine", getattr(owner, "_engine", owner))
