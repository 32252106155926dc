"""Graph of a recorded program: values, the nodes that compute them, inputs, outputs and writes.

Values are immutable: a write to an array is a node that computes the array's next value. An engine
turns a ``Program`` into a function of NumPy arrays.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy


class Kind(enum.Enum):
    """Kind of a node: how its function treats the arguments."""

    __hash__ = object.__hash__  # a member is equal to itself alone; Enum's is a call of Python

    #: Call of ``function`` that returns new arrays.
    CALL = "call"
    #: Call of ``function`` that returns a view of its first argument.
    VIEW = "view"
    #: Copy of the first argument with the part that ``views`` select replaced by the second.
    PUT = "put"
    #: Call of ``function``, which writes its first argument, on a copy that is the result.
    MUTATE = "mutate"
    #: Call of ``function`` that raises if its arguments are invalid, without a result.
    CHECK = "check"
    #: Call of ``function`` for its effect outside of the program, without arguments and result.
    ACTION = "action"
    #: Call of ``function``, which advances a random generator.
    DRAW = "draw"
    #: Array that is the same at each replay: ``args[0]``.
    CONSTANT = "constant"


@dataclass(frozen=True, slots=True)
class Tag:
    """Origin of a node.

    Attributes:
        operation: Public name of the tensor operation, as ``"conv2d"``.
        arguments: Its arguments by name; a tensor is its ``Value``.
        call: Number of the call of the operation in the program: nodes of one call share it.
        module: Path of the module whose ``forward`` ran, as ``"encoder.layers.0"``.
        phase: ``"forward"``, ``"backward"`` or ``"update"`` (of an optimizer).
        line: ``file:line`` of the user's code.
    """

    operation: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    call: int = 0
    module: str = ""
    phase: str = "forward"
    line: str = ""


class Value:
    """Immutable array of a program.

    Attributes:
        shape: Sizes.
        dtype: NumPy's dtype.
        strides: Strides in bytes, as they were when the program was recorded.
        node: The node that computes it; None of an input.
        index: Its place among the outputs of ``node``.
    """

    __slots__ = ("dtype", "index", "node", "shape", "strides")

    def __init__(self, like: numpy.ndarray[Any, Any], node: Node | None = None, index: int = 0):
        self.shape: tuple[int, ...] = like.shape
        self.dtype: numpy.dtype[Any] = like.dtype
        self.strides: tuple[int, ...] = like.strides
        self.node: Node | None = node
        self.index: int = index


class Node:
    """One step of a program.

    Attributes:
        kind: What is done.
        name: Name of the function, for engines and for people: ``"add"`` (a ufunc of NumPy's),
            ``"xp.sum"`` (a method of ``NumpyBackend``), ``"numpy.sort"``, ``"ndarray.reshape"``.
        function: The function on NumPy arrays.
        args, kwargs: Its arguments; ``Value`` in tuples, lists and dicts at any depth.
        outputs: One ``Value`` for an array, several for a tuple; None for what is not used.
        views: Of a PUT: the view operations, each ``(function, args, kwargs)``, in order.
        tag: Where it comes from.
    """

    __slots__ = ("_reads", "args", "function", "kind", "kwargs", "name", "outputs", "tag", "views")

    def __init__(
        self, kind: Kind, name: str, function: Callable[..., Any] | None,
        args: tuple[Any, ...], kwargs: dict[str, Any], tag: Tag,
    ) -> None:  # fmt: skip
        self.kind: Kind = kind
        self.name: str = name
        self.function: Callable[..., Any] | None = function
        self.args: tuple[Any, ...] = args
        self.kwargs: dict[str, Any] = kwargs
        self.tag: Tag = tag
        self.outputs: list[Value | None] = []
        self.views: tuple[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]], ...] = ()
        self._reads: tuple[Value, ...] | None = None

    @property
    def reads(self) -> tuple[Value, ...]:
        """The values among its arguments, and those of ``views``; found at first use."""
        found = self._reads
        if found is None:
            values: list[Value] = []
            _collect(self.args, values)
            if self.kwargs:
                _collect(self.kwargs, values)
            for _, args, kwargs in self.views:
                _collect((args, kwargs), values)
            found = self._reads = tuple(values)
        return found


@dataclass
class Program:
    """Recorded program.

    Attributes:
        nodes: In the order of execution.
        inputs: Values that each replay gets, arrays and traced numbers (0-d).
        outputs: Values that it returns.
        writes: For inputs that the program writes: the number of the input and its final value.
    """

    nodes: list[Node] = field(default_factory=list)
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    writes: list[tuple[int, Value]] = field(default_factory=list)


_CONTAINERS = frozenset((tuple, list, dict, slice))


def values_in(tree: Any) -> Iterator[Value]:
    """Return an iterator over the values in an argument of a node."""
    if tree.__class__ is Value:
        return iter((tree,))
    found: list[Value] = []
    _collect(tree, found)
    return iter(found)


def _collect(tree: Any, found: list[Value]) -> None:
    """Append the values in an argument to a list."""
    kind = tree.__class__
    if kind is dict:
        tree = tree.values()
    elif kind is slice:
        tree = tree.start, tree.stop, tree.step
    elif not isinstance(tree, (tuple, list)):
        return
    for item in tree:
        kind = item.__class__
        if kind is Value:
            found.append(item)
        elif kind in _CONTAINERS or isinstance(item, tuple):
            _collect(item, found)
