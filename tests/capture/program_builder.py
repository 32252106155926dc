"""Programs made by hand, as the recorder makes them, and random ones."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinytorch.capture.graph import Kind, Node, Program, Tag, Value

Array = np.ndarray[Any, Any]
SPECIAL = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1e-40, -3.5, 1e30])


class Builder:
    """Program under construction, with the real array of each value."""

    def __init__(self) -> None:
        self.program = Program()
        self.real: dict[Value, Array] = {}

    def input(self, array: Any) -> Value:
        """Add an input."""
        value = Value(array)
        self.program.inputs.append(value)
        self.real[value] = array
        return value

    def arrays(self) -> list[Array]:
        """Copies of the inputs' arrays, in their layout."""
        return [np.array(self.real[value], order="K") for value in self.program.inputs]

    def get(self, tree: Any) -> Any:
        """The real arrays in an argument."""
        if isinstance(tree, Value):
            return self.real[tree]
        if isinstance(tree, (tuple, list)):
            return tree.__class__([self.get(item) for item in tree])
        return tree

    def add(self, node: Node, real: Any) -> Value:
        """Add a node with one result."""
        real = np.asarray(real)
        value = Value(real, node)
        node.outputs.append(value)
        self.program.nodes.append(node)
        self.real[value] = real
        return value

    def call(
        self, function: Callable[..., Any], *args: Any, name: str = "", **kwargs: Any
    ) -> Value:
        """Add a CALL."""
        name = name or getattr(function, "__name__", "function")
        node = Node(Kind.CALL, name, function, args, kwargs, Tag())
        with np.errstate(all="ignore"):
            return self.add(node, function(*self.get(args), **kwargs))

    def view(self, function: Callable[..., Any], source: Value, *args: Any) -> Value:
        """Add a VIEW."""
        node = Node(Kind.VIEW, function.__name__, function, (source, *args), {}, Tag())
        return self.add(node, function(self.real[source], *args))

    def constant(self, array: Array) -> Value:
        """Add a CONSTANT."""
        return self.add(Node(Kind.CONSTANT, "constant", None, (array,), {}, Tag()), array)

    def put(
        self, base: Value, part: Value, *views: tuple[Callable[..., Any], tuple[Any, ...]]
    ) -> Value:
        """Add a PUT."""
        node = Node(Kind.PUT, "put", None, (base, part), {}, Tag())
        node.views = tuple((function, args, {}) for function, args in views)
        out = target = np.array(self.real[base], order="K")
        for function, args in views:
            target = function(target, *args)
        target[...] = self.real[part]
        return self.add(node, out)

    def mutate(
        self, function: Callable[..., Any], base: Value, *args: Any, name: str = ""
    ) -> Value:
        """Add a MUTATE."""
        name = name or function.__name__
        node = Node(Kind.MUTATE, name, function, (base, *args), {}, Tag())
        out = np.array(self.real[base], order="K")
        function(out, *self.get(args))
        return self.add(node, out)

    def check(self, function: Callable[..., Any], *args: Any) -> None:
        """Add a CHECK."""
        node = Node(Kind.CHECK, "check", function, args, {}, Tag())
        self.program.nodes.append(node)


UNARY = ("negative", "absolute", "square", "sqrt", "sign", "floor", "isnan", "reciprocal", "rint")
INEXACT = ("exp", "tanh", "log")
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "less", "equal", "arctan2")


class RandomProgram:
    """Random program: pointwise operations, reductions, views and writes.

    Args:
        seed: Seed of the program and of its inputs.
        shapes: Shapes of its inputs, which broadcast.
        sums: Whether it has sums, whose order an engine may change.
        inexact: Whether it has functions that an engine may round differently.
    """

    def __init__(
        self,
        seed: int,
        shapes: Sequence[tuple[int, ...]],
        sums: bool = False,
        inexact: bool = True,
    ) -> None:
        self.unary_names = (*UNARY, *(INEXACT if inexact else ()))
        self.rng = np.random.default_rng(seed)
        self.builder = Builder()
        self.sums = sums
        self.values = [self.builder.input(self.draw(shape)) for shape in shapes]
        self.values.append(
            self.builder.input(self.rng.standard_normal(shapes[0]).astype("float32"))
        )
        for _ in range(int(self.rng.integers(5, 60))):
            self.extend()
        count = int(self.rng.integers(1, 4))
        self.builder.program.outputs = [self.pick() for _ in range(count)]
        self.add_writes()

    def draw(self, shape: tuple[int, ...]) -> Array:
        """An array of some dtype and layout, with special values if it is of floats."""
        dtype = self.rng.choice(["float32", "float32", "float32", "float64", "int64", "bool"])
        if dtype == "bool":
            array: Array = self.rng.random(shape) < 0.5
        elif dtype == "int64":
            array = self.rng.integers(-5, 6, shape)
        else:
            array = self.rng.standard_normal(shape)
            at = self.rng.random(shape) < 0.05
            array = np.where(at, self.rng.choice(SPECIAL, shape), array)
        array = np.asarray(array, dtype)
        return np.asfortranarray(array) if self.rng.random() < 0.2 else array

    def pick(self, test: Callable[[Value], bool] = lambda value: True) -> Value:
        """A value that passes a test, of the recent ones more often."""
        found = [value for value in self.values if test(value)]
        place = min(int(self.rng.exponential(4)), len(found) - 1)
        return found[-1 - place]

    def extend(self) -> None:
        """Add one node."""
        kinds = [self.unary, self.binary, self.binary, self.binary, self.select, self.cast]
        kinds += [self.reduce, self.view, self.view, self.put, self.change, self.copy]
        made = kinds[self.rng.integers(len(kinds))]()
        if made is not None:
            self.values.append(made)

    def unary(self) -> Value | None:
        """A ufunc of one argument."""
        value = self.pick(lambda value: value.dtype.kind == "f")
        return self.builder.call(getattr(np, str(self.rng.choice(self.unary_names))), value)

    def binary(self) -> Value | None:
        """A ufunc of two arguments, one of which may be a number."""
        a = self.pick(lambda value: value.dtype.kind in "fi")
        others = [v for v in self.values if v.dtype.kind in "fi" and fits(a.shape, v.shape)]
        b: Any = others[self.rng.integers(len(others))]
        if self.rng.random() < 0.3:
            b = float(self.rng.choice([0.5, -2.0, 0.0, 3.0]))
        pair = (a, b) if self.rng.random() < 0.5 else (b, a)
        return self.builder.call(getattr(np, str(self.rng.choice(BINARY))), *pair)

    def select(self) -> Value | None:
        """``where``."""
        a = self.pick(lambda value: value.dtype.kind == "f")
        mask = self.builder.call(np.greater, a, 0.25)
        return self.builder.call(np.where, mask, a, np.float32(-1), name="xp.where")

    def cast(self) -> Value | None:
        """``astype``."""
        value = self.pick(lambda value: value.dtype.kind in "fb")
        dtype = self.rng.choice(["float32", "float64"])
        return self.builder.call(np.ndarray.astype, value, np.dtype(dtype), name="ndarray.astype")

    def copy(self) -> Value | None:
        """A copy."""
        return self.builder.call(np.copy, self.pick(), name="numpy.copy")

    def reduce(self) -> Value | None:
        """A reduction along one dimension."""
        value = self.pick(lambda value: value.dtype.kind == "f")
        if not value.shape or 0 in value.shape:
            return None
        function: Any = np.max if not self.sums or self.rng.random() < 0.5 else np.sum
        axis = int(self.rng.integers(-len(value.shape), len(value.shape)))
        keep = bool(self.rng.random() < 0.7)
        name = f"xp.{'max' if function is np.max else 'sum'}"
        return self.builder.call(function, value, axis=axis, keepdims=keep, name=name)

    def view(self) -> Value | None:
        """A view."""
        value = self.pick()
        if len(value.shape) < 1:
            return None
        kind = self.rng.integers(4)
        if kind == 0:
            return self.builder.view(np.ndarray.transpose, value)
        if kind == 1 and self.builder.real[value].flags.c_contiguous:
            return self.builder.view(np.ndarray.reshape, value, (*value.shape, 1))
        if kind == 2:
            return self.builder.view(operator.getitem, value, (..., slice(1, None)))
        return self.builder.view(np.broadcast_to, value, (2, *value.shape))

    def put(self) -> Value | None:
        """A write to a part of a value."""
        base = self.pick(lambda value: value.dtype.kind == "f")
        if not base.shape or base.shape[-1] < 2 or 0 in base.strides:
            return None
        cut = (operator.getitem, ((..., slice(0, base.shape[-1] - 1)),))
        part = self.builder.view(*[cut[0], base, *cut[1]])
        part = self.builder.call(np.negative, part)
        return self.builder.put(base, part, cut)

    def change(self) -> Value | None:
        """A function that writes to its argument."""
        base = self.pick(lambda value: value.dtype.kind == "f")
        if not base.shape or 0 in base.strides:
            return None
        if self.rng.random() < 0.5:
            return self.builder.mutate(operator.setitem, base, ..., 0.5, name="setitem")
        return self.builder.mutate(np.ndarray.sort, base)

    def add_writes(self) -> None:
        """Let some inputs be written."""
        for number, source in enumerate(self.builder.program.inputs):
            same = [v for v in self.values if v.shape == source.shape and v.dtype == source.dtype]
            if self.rng.random() < 0.5:
                final = same[self.rng.integers(len(same))]
                self.builder.program.writes.append((number, final))


def fits(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether two shapes broadcast to at most 10,000 elements."""
    try:
        return bool(np.prod(np.broadcast_shapes(a, b)) <= 10_000)
    except ValueError:
        return False
