"""Recorded programs as functions that XLA compiles, for the backend ``"jax"``.

A program is one function of JAX's arrays: its inputs are parameters, state and arguments, its
results the outputs and the next values of what it writes. The host computes, before each run, what
depends on numbers alone (learning rates, step counts, the keys of random numbers), and passes the
results as scalars, so that another rate is no other program.
"""

from __future__ import annotations

import operator
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy

from ..backends.standard.backend import OWN_DRAWS
from ..backends.standard.store import Store
from .backend import StaleProgramError
from .entry import Refusal
from .graph import Kind, Node, Program, Value, values_in
from .jax_lowering import NodeLowering
from .numbers import OnFloats, ToDtype
from .simplify import drop_dead_nodes

#: Draws of numbers that the compiled function computes from a key.
_KEYED = frozenset(("draw.uniform", "draw.normal", "draw.bernoulli"))
#: Python's operators for the functions of numbers.
_SYMBOLS: dict[Any, str] = {
    operator.add: " + ", operator.sub: " - ", operator.mul: " * ", operator.truediv: " / ",
    operator.pow: " ** ",
}  # fmt: skip
_list = [object()]
#: ``sys.getrefcount`` of an item to which a list, or an attribute, alone refers.
_LISTED = sys.getrefcount(_list[0])
#: Held from where a run reads arrays to where it has replaced them: XLA may reuse their memory.
_REPLACING = threading.Lock()


class LoweringError(Refusal):
    """A node cannot be computed inside of a function that JAX compiles."""

    def __init__(self, node: Node, text: str) -> None:
        what, line = node.tag.operation or node.name, node.tag.line
        super().__init__(f"JAX cannot compile {what}{f', at {line}' if line else ''}: {text}")


class HostNumbers:
    """Numbers that the host computes before each run, by Python's floats as eager code does.

    Args:
        nodes: The nodes of the program.
        inputs: Inputs that are numbers, each with its place among the inputs.

    Attributes:
        names: The name of each value in the generated function: a float, or an array that is drawn
            on the host.
        arrays: The values that are such arrays.
        keys: The names of the keys of draws that are computed from one, in order.
        left: The nodes that the host does not compute.
    """

    def __init__(self, nodes: Sequence[Node], inputs: dict[Value, int]) -> None:
        self.names: dict[Value, str] = {}
        self.arrays: list[Value] = []
        self.keys: list[str] = []
        self.left: list[Node] = []
        self._lines: list[str] = []
        self._constants: dict[str, Any] = {}
        for value, number in inputs.items():
            self.names[value] = self._assign(f"arrays[{number}].item()")
        for node in nodes:
            self._add(node)

    def _add(self, node: Node) -> None:
        """Let the host compute a node, if it is a formula of numbers or a draw."""
        function: Any = node.function
        args = [arg for arg in node.args if isinstance(arg, Value)]
        if node.kind is Kind.DRAW:
            self._add_draw(node, function)
        elif function.__class__ in (OnFloats, ToDtype) and self.names.keys() >= set(args):
            run: Any = getattr(function, "function", None)  # of OnFloats
            if isinstance(function, ToDtype):
                run = partial(round_to, function.dtype)
            given = [
                self.names[arg] if isinstance(arg, Value) else self._name(arg) for arg in node.args
            ]
            self.names[node.outputs[0]] = self._call(run, given)  # type: ignore[index]
        else:
            self.left.append(node)

    def _add_draw(self, node: Node, function: Any) -> None:
        if is_keyed(node):
            self.keys.append(self._call(function.__self__._next_key, []))
            self.left.append(node)
            return
        if any(values_in((node.args, node.kwargs))) or not hasattr(function, "__self__"):
            raise LoweringError(node, "the numbers are drawn on the host, from values of tensors")
        name = self._call(partial(function, *node.args, **node.kwargs), [])
        if node.outputs and node.outputs[0] is not None:
            self.names[node.outputs[0]] = name
            self.arrays.append(node.outputs[0])

    def _name(self, constant: Any) -> str:
        """Return the name of a constant."""
        name = f"c{len(self._constants)}"
        self._constants[name] = constant
        return name

    def _assign(self, text: str) -> str:
        self._lines.append(f"  v{len(self._lines)} = {text}")
        return f"v{len(self._lines) - 1}"

    def _call(self, function: Callable[..., Any], given: list[str]) -> str:
        """Append a call, and return the name of its result."""
        if function in _SYMBOLS:
            return self._assign(_SYMBOLS[function].join(given))
        return self._assign(f"{self._name(function)}({', '.join(given)})")

    def build(self, *wanted: Sequence[str]) -> Callable[[Sequence[Any]], Any]:
        """Return the function of the program's inputs that computes lists of named values."""
        lists = ", ".join(f"[{', '.join(names)}]" for names in wanted)
        source = "\n".join(["def compute(arrays):", *self._lines, f"  return {lists}"])
        exec(compile(source, "<tinytorch host numbers>", "exec"), self._constants)
        return self._constants["compute"]  # type: ignore[no-any-return]


class JaxProgram:
    """Program that XLA compiles when it first runs; several threads may run it at once.

    Args:
        program: The program.
        backend: The backend ``"jax"``.
        arrays: An array for each input: of NumPy, if the host has its values, or of the backend.
        spare: Numbers of inputs whose memory may get results: gradients that a run replaces.

    Attributes:
        program: The program, without what nothing reads.

    Raises:
        LoweringError: If JAX cannot compute a node; the message has the line of the program.
    """

    engine: str = "jax"
    nbytes: int = 0  # XLA has the memory

    def __init__(
        self, program: Program, backend: Any, arrays: Sequence[Any], spare: Sequence[int] = ()
    ) -> None:  # fmt: skip
        self.program: Program = drop_dead_nodes(program)
        self._backend, library = backend, backend.raw_library
        pairs = enumerate(zip(program.inputs, arrays, strict=True))
        self._numbers = HostNumbers(
            self.program.nodes, {value: i for i, (value, array) in pairs if is_number(array)}
        )
        self._find_arguments(spare)
        self._checks: list[Any] = []
        self._donated = self._find_donated()
        vectors = ((len(self._floats),), "float64"), ((len(self._numbers.keys),), "int64")
        given = [vector for vector in vectors if vector[0] != (0,)]
        places = tuple([i + len(given) for i in self._donated])
        jit = library.jax.jit(self._trace, donate_argnums=places, keep_unused=bool(spare))
        like = library.jax.ShapeDtypeStruct
        library.widen(jit.trace)(
            *[like(*vector) for vector in given],
            *[like(value.shape, value.dtype) for value in self._arguments],
        )
        self._call: Any = library.widen(jit)

    def _find_arguments(self, spare: Sequence[int]) -> None:
        """Choose the arguments and the results of the compiled function."""
        program, numbers = self.program, self._numbers
        nodes = numbers.left
        made = {value for node in nodes for value in node.outputs if value is not None}
        read = dict.fromkeys(v for node in nodes for v in values_in((node.args, node.kwargs)))
        inputs = {value: i for i, value in enumerate(program.inputs)}
        #: The numbers among the arguments, which are one vector of float64.
        self._floats = [v for v in read if v in numbers.names and v not in numbers.arrays]
        arrays = [v for v in read if v in inputs and v not in numbers.names]
        drawn = [v for v in read if v in numbers.arrays]
        # XLA gives memory of arguments to results of the same shape, in order: replaced values and
        # those that replace them come first, in one order, so that no value is copied.
        new = {
            program.inputs[number]: value for number, value in program.writes if value in made
        }  # fmt: skip
        new = {value: new[value] for value in arrays if value in new}
        self._replaced = len(new)
        arrays = [*new, *(value for value in arrays if value not in new)]
        #: Places among the arguments of those that nothing reads.
        self._spare = range(len(arrays), len(arrays) + len(spare))
        arrays += [program.inputs[number] for number in spare]
        self._arguments = [*arrays, *drawn]
        self._sources = [inputs[value] for value in arrays]
        written = [value for _, value in program.writes]
        results = dict.fromkeys([*new.values(), *program.outputs, *written])
        self._results = [value for value in results if value in made]
        known = [value for value in results if value in numbers.names]
        returned = [value for value in results if value in inputs and value not in numbers.names]
        self._returned = [inputs[value] for value in returned]
        self._compute = numbers.build(*[
            [numbers.names[value] for value in values] for values in (self._floats, drawn, known)
        ], numbers.keys)  # fmt: skip
        #: Where a run has each value: first what is compiled, then what the host has.
        places = {value: i for i, value in enumerate([*self._results, *known, *returned])}
        self._made = len(self._results)
        self._outputs = [(places[value], value) for value in program.outputs]
        self._writes = [(number, places[value]) for number, value in program.writes]

    def _find_donated(self) -> list[int]:
        """Return the places of the arguments whose memory gets the values that replace them.

        There are none if a run may find that a condition does not hold.
        """
        if any(node.name == "holds" for node in self._numbers.left):
            return []
        return [*range(self._replaced), *self._spare]

    def _trace(self, *given: Any) -> Any:
        """Compute the results, what checks need, and conditions; JAX traces this function."""
        wrap = self._backend.library.wrap
        raws = list(given)
        floats = raws.pop(0) if self._floats else []
        keys = raws.pop(0) if self._numbers.keys else []
        values = dict(zip(self._arguments, map(wrap, raws), strict=True))
        for value, number in zip(self._floats, floats, strict=True):
            values[value] = wrap(number.astype(value.dtype))
        lowering = NodeLowering(self._backend, list(keys))
        token = OWN_DRAWS.set(True)
        try:
            for node in self._numbers.left:
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

    def run(self, arrays: Sequence[Any], spare: Sequence[Any] = ()) -> list[Any]:
        """Return the outputs as new arrays, and write the inputs that the program writes.

        Args:
            arrays: An array for each input.
            spare: The tensors of the inputs that are spare.

        Raises:
            StaleProgramError: If a condition does not hold that held when it was recorded.
        """
        floats, drawn, known, keys = self._compute(arrays)
        numbers = [numpy.array(floats, numpy.float64)] if floats else []
        if keys:
            numbers.append(numpy.array(keys, numpy.int64))
        with _REPLACING:
            returned = [snapshot(arrays[number]) for number in self._returned]
            raws = [getattr(arrays[number], "raw", arrays[number]) for number in self._sources]
            for i in self._donated:
                if sys.getrefcount(raws[i]) > _LISTED + 2:  # its store, and the array's reading
                    raws[i] = raws[i].copy()
            for k, i in enumerate(self._spare):
                if is_shared(k, spare, self._sources[i], arrays):
                    raws[i] = raws[i].copy()
            found, answers, conditions = self._call(*numbers, *raws, *map(raw_of, drawn))
            if not all(map(bool, conditions)):
                raise StaleProgramError("a condition does not hold that held when recorded")
            found += [*map(raw_of, known), *returned]
            for number, place in self._writes:
                write(arrays[number], found[place])
        wrap, trace = self._backend.library.wrap, self._backend.raw_library.eager_trace
        for answer, check in zip(answers, self._checks, strict=True):
            self._backend._defer(wrap(answer, trace), check)
        return [
            wrap(found[place], trace) if place < self._made else self._wrap(found[place], value)
            for place, value in self._outputs
        ]

    def prepare(self) -> JaxProgram:
        """Return the program itself."""
        return self

    def _wrap(self, raw: Any, value: Value) -> Any:
        """Return an array of the backend for a value that the host has."""
        library = self._backend.raw_library
        if isinstance(raw, library.array_class):
            return self._backend.library.wrap(raw, library.eager_trace)
        return self._backend.from_numpy(numpy.asarray(raw, value.dtype))


def prepare_both(
    forward: Program,
    backward: Program,
    arrays: dict[Value, Any],
    backend: Any,
    spare: Sequence[int],
) -> tuple[JaxProgram, JaxProgram]:
    """Return the programs of a call and of its backward pass.

    Args:
        forward: The program of a call.
        backward: That of the backward pass, whose other inputs are values of ``forward``.
        arrays: An array for each input of ``forward``.
        backend: The backend ``"jax"``.
        spare: See ``JaxProgram``, of ``forward``.
    """
    given = [arrays.get(value) for value in backward.inputs]
    run = JaxProgram(forward, backend, list(arrays.values()), spare)
    return run, JaxProgram(backward, backend, given)


def is_shared(place: int, tensors: Sequence[Any], number: int, arrays: Sequence[Any]) -> bool:
    """Whether anything else than its owner, and these lists, holds a gradient or its memory."""
    return (
        sys.getrefcount(tensors[place]) > _LISTED + 1
        or sys.getrefcount(arrays[number]) > _LISTED + 1
        or sys.getrefcount(arrays[number].store) > _LISTED or arrays[number].base is not None
    )  # fmt: skip


def is_number(array: Any) -> bool:
    """Whether the host has an input and computes with it as a float."""
    return isinstance(array, numpy.ndarray) and not array.shape and array.dtype.char in "fd"


def is_keyed(node: Node) -> bool:
    """Whether a draw is computed from a key inside of the compiled function."""
    value = node.outputs[0] if node.outputs else None
    if node.name not in _KEYED or value is None:
        return False
    return node.name == "draw.bernoulli" or value.dtype.char in "fd"


def round_to(dtype: Any, number: float) -> float:
    """Round a float to another dtype."""
    return dtype.type(number).item()  # type: ignore[no-any-return]


def raw_of(value: Any) -> Any:
    """Return the array of JAX of an array of the backend; other arrays as they are."""
    return getattr(value, "raw", value)


def snapshot(array: Any) -> Any:
    """Return the present elements of an array, which a write does not change."""
    return array.copy() if isinstance(array, numpy.ndarray) else array.raw


def write(array: Any, raw: Any) -> None:
    """Replace the elements of an array, of NumPy or of the backend."""
    if isinstance(array, numpy.ndarray):
        array[...] = raw if raw.__class__ is float else numpy.asarray(raw)
        return
    store = array.store
    if raw.__class__ is float:
        raw = array.library.from_host(numpy.asarray(raw, array.dtype))
    elif array._steps is None and array.base is None and store.__class__ is Store:
        with store.lock:
            store.raw = raw
            store.version += 1
            array._reading = store.version, raw
        return
    array.write(raw)
