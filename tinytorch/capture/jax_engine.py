"""Recorded programs as functions that XLA compiles, for the backend ``"jax"``.

A program is one function of JAX's arrays: its inputs are parameters, state and arguments, its
results the outputs and the next values of what it writes. The host computes, before each run, what
depends on numbers alone (learning rates, step counts, the keys of random numbers), and passes the
results as scalars, so that another rate is no other program.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy

from ..backends.standard.backend import OWN_DRAWS
from .backend import StaleProgramError
from .entry import Refusal
from .graph import Kind, Node, Program, Value, values_in
from .jax_lowering import NodeLowering
from .replay import bind, run_node
from .simplify import drop_dead_nodes

#: Draws of numbers that the compiled function computes from a key.
_KEYED = frozenset(("draw.uniform", "draw.normal", "draw.bernoulli"))
#: References to the value of a parameter that nothing outside of a run holds.
_UNSHARED = 5


class LoweringError(Refusal):
    """A node cannot be computed inside of a function that JAX compiles."""

    def __init__(self, node: Node, text: str) -> None:
        what, line = node.tag.operation or node.name, node.tag.line
        super().__init__(f"JAX cannot compile {what}{f', at {line}' if line else ''}: {text}")


class JaxProgram:
    """Program that XLA compiles when it first runs; several threads may run it at once.

    Args:
        program: The program.
        backend: The backend ``"jax"``.
        arrays: An array for each input: of NumPy, if the host has its values, or of the backend.
        donates: Whether XLA may reuse the memory of what the program writes. Default: not on a CPU,
            where that is no faster.

    Attributes:
        program: The program, without what nothing reads.

    Raises:
        LoweringError: If JAX cannot compute a node; the message has the line of the program.
    """

    engine: str = "jax"

    def __init__(
        self, program: Program, backend: Any, arrays: Sequence[Any], donates: bool | None = None
    ) -> None:  # fmt: skip
        self.program: Program = drop_dead_nodes(program)
        self._backend, library = backend, backend.raw_library
        pairs = zip(program.inputs, arrays, strict=True)
        on_host = {value for value, array in pairs if isinstance(array, numpy.ndarray)}
        self._compiled: list[Node] = []
        #: Nodes of the host, each with the key that it draws, or None.
        self._on_host: list[tuple[Node, Value | None]] = []
        self._split(on_host)
        self._find_arguments(on_host)
        self._checks: list[Any] = []
        if donates is None:
            donates = backend.device_type != "cpu"
        has_conditions = any(node.name == "holds" for node in self._compiled)
        self._donated = self._find_donated() if donates and not has_conditions else []
        jit = library.jax.jit(self._trace, donate_argnums=tuple(self._donated))
        like = library.jax.ShapeDtypeStruct
        library.widen(jit.trace)(*[like(v.shape, v.dtype) for v in self._arguments])
        self._call: Any = library.widen(jit)

    # -- what the host computes, and what XLA -----------------------------------------------

    def _split(self, on_host: set[Value]) -> None:
        """Split the nodes; add the values that the host computes to ``on_host``."""
        for node in self.program.nodes:
            given = set(values_in((node.args, node.kwargs)))
            if node.kind is Kind.DRAW and is_keyed(node):
                self._on_host.append((node, Value(numpy.zeros((), numpy.int64))))
                self._compiled.append(node)
            elif node.kind is Kind.DRAW:
                if not on_host.issuperset(given):
                    raise LoweringError(node, "the numbers are drawn on the host")
                self._add_on_host(node, on_host)
            elif is_scalar(node) and on_host.issuperset(given):
                self._add_on_host(node, on_host)
                if not given:  # a constant, which both may read
                    self._compiled.append(node)
            else:
                self._compiled.append(node)

    def _add_on_host(self, node: Node, on_host: set[Value]) -> None:
        self._on_host.append((node, None))
        on_host.update(value for value in node.outputs if value is not None)

    def _find_arguments(self, on_host: set[Value]) -> None:
        """Choose the arguments and the results of the compiled function."""
        program = self.program
        made = {value for node in self._compiled for value in node.outputs if value is not None}
        read = [v for node in self._compiled for v in values_in((node.args, node.kwargs))]
        self._keys = [key for _, key in self._on_host if key is not None]
        self._arguments = [*(v for v in dict.fromkeys(read) if v not in made), *self._keys]
        results = [*program.outputs, *[value for _, value in program.writes]]
        self._results = [v for v in dict.fromkeys(results) if v in made and v not in on_host]

    def _find_donated(self) -> list[int]:
        """Return the places of the arguments that the program replaces."""
        replaced = {self.program.inputs[number] for number, _ in self.program.writes}
        return [i for i, value in enumerate(self._arguments) if value in replaced]

    def _trace(self, *raws: Any) -> Any:
        """Compute the results, what checks need, and conditions; JAX traces this function."""
        wrap = self._backend.library.wrap
        values = dict(zip(self._arguments, map(wrap, raws), strict=True))
        lowering = NodeLowering(self._backend, [values[key].raw for key in self._keys])
        token = OWN_DRAWS.set(True)
        try:
            for node in self._compiled:
                try:
                    lowering.run(node, values)
                except Exception as error:
                    text = f"{type(error).__name__}: {error}".partition("\n")[0]
                    raise LoweringError(node, text) from error
        finally:
            OWN_DRAWS.reset(token)
        self._checks = [check for _, check in lowering.checks]
        answers = [answer for answer, _ in lowering.checks]
        return [values[value].raw for value in self._results], answers, lowering.conditions

    # -- runs -------------------------------------------------------------------------------

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the outputs as new arrays, and write the inputs that the program writes.

        Raises:
            StaleProgramError: If a condition does not hold that held when it was recorded.
        """
        program, wrap = self.program, self._backend.library.wrap
        values: dict[Value, Any] = dict(zip(program.inputs, arrays, strict=True))
        for node, key in self._on_host:
            run_on_host(node, key, values)
        raws = [raw_of(values[value]) for value in self._arguments]
        for i in self._donated:
            if sys.getrefcount(raws[i]) > _UNSHARED:
                raws[i] = raws[i].copy()
        found, answers, conditions = self._call(*raws)
        if not all(map(bool, conditions)):
            raise StaleProgramError("a condition does not hold that held when it was recorded")
        for answer, check in zip(answers, self._checks, strict=True):
            self._backend._defer(wrap(answer), check)
        values.update(zip(self._results, found, strict=True))
        for number, value in program.writes:
            write(arrays[number], values[value])
        return [self._as_result(values[value]) for value in program.outputs]

    def prepare(self) -> JaxProgram:
        """Return the program itself."""
        return self

    def _as_result(self, value: Any) -> Any:
        """Return an array of the backend with memory of its own."""
        if isinstance(value, numpy.ndarray):
            return self._backend.from_numpy(value)
        return self._backend.library.wrap(raw_of(value))


def prepare_both(
    forward: Program, backward: Program, arrays: dict[Value, Any], backend: Any
) -> tuple[JaxProgram, JaxProgram]:  # fmt: skip
    """Return the programs of a call and of its backward pass.

    Args:
        forward: The program of a call.
        backward: That of the backward pass, whose other inputs are values of ``forward``.
        arrays: An array for each input of ``forward``.
        backend: The backend ``"jax"``.
    """
    given = [arrays.get(value) for value in backward.inputs]
    run = JaxProgram(forward, backend, list(arrays.values()))
    return run, JaxProgram(backward, backend, given)


def is_keyed(node: Node) -> bool:
    """Whether a draw is computed from a key inside of the compiled function."""
    value = node.outputs[0] if node.outputs else None
    if node.name not in _KEYED or value is None:
        return False
    return node.name == "draw.bernoulli" or value.dtype.char in "fd"


def is_scalar(node: Node) -> bool:
    """Whether a node computes a number of a constant or of other numbers."""
    if not node.outputs or any(value is not None and value.shape for value in node.outputs):
        return False
    return node.kind is Kind.CONSTANT or any(values_in((node.args, node.kwargs)))


def run_on_host(node: Node, key: Value | None, values: dict[Value, Any]) -> None:
    """Compute the outputs of a node of the host, or the key of a draw."""
    if node.kind is not Kind.DRAW:
        run_node(node, values)
        return
    function: Any = node.function
    if key is not None:
        values[key] = numpy.array(function.__self__._next_key(), numpy.int64)
        return
    found = function(*bind(node.args, values), **bind(node.kwargs, values))
    if node.outputs and node.outputs[0] is not None:
        values[node.outputs[0]] = found


def raw_of(value: Any) -> Any:
    """Return the array of JAX of an array of the backend; other arrays as they are."""
    return getattr(value, "raw", value)


def write(array: Any, value: Any) -> None:
    """Replace the elements of an array, of NumPy or of the backend."""
    raw = raw_of(value)
    if isinstance(array, numpy.ndarray):
        numpy.copyto(array, numpy.asarray(raw))
        return
    if isinstance(raw, numpy.ndarray):
        raw = array.library.from_host(raw)
    array.write(raw)
