"""CUDA engine: the groups of a program as kernels, the rest as calls of CuPy's.

The program is one that was recorded on NumPy's arrays: its functions stand for CuPy's. Numbers,
such as learning rates, are computed on the host before all else and copied to the device at once;
so are random numbers. A program whose calls get no number of the host is captured in a CUDA graph
when it has run on the same arrays twice, and is launched as a whole from then on.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy

from ..backends.deferred import ignore_checks
from .c_engine import is_whole
from .c_text import lower, sort_by_level
from .cuda_functions import translate
from .cuda_graph import CapturedRun
from .cuda_text import (
    MOST_PARAMETERS, OPTIONS, PARTS_BLOCK, choose_launch, part_width, program_text, write_kernel,
)  # fmt: skip
from .entry import Lanes, Refusal, used_inputs
from .graph import Kind, Node, Program, Value, values_in
from .grouping import LoopGroup, Step, group_nodes
from .memory import MemoryPlan, plan_memory
from .numbers import ToDtype, WithFloats
from .numpy_engine import Executable, ProgramWriter, is_dense, lay_out, writes_out
from .products import join_products
from .replay import engines_of
from .simplify import simplify, steps_of

#: Bytes of a number in the table of the device.
_SLOT = 16
#: Functions of arrays for those of Python floats.
_UFUNCS: dict[Any, Any] = {
    operator.add: numpy.add, operator.sub: numpy.subtract, operator.mul: numpy.multiply,
    operator.truediv: numpy.divide, operator.pow: numpy.power, operator.neg: numpy.negative,
    operator.pos: numpy.positive, operator.abs: numpy.absolute,
}  # fmt: skip


class CudaExecutable(Executable):
    """Program whose groups are kernels of a GPU.

    Args:
        writer: The writer of its function.
        source: The text of the function, of the numbers and the arrays.
        groups: The number of groups.

    Attributes:
        graph: The captured run; None if the program cannot be captured.
    """

    engine = "cuda"

    def __init__(self, writer: CudaWriter, source: str, groups: int) -> None:
        super().__init__(writer.space["run"], source, writer.layout.nbytes, groups)
        self._writer, self._backend = writer, writer.backend
        self._check = writer.space["check"]
        used = used_inputs(writer.program)
        inputs = [*enumerate(writer.program.inputs)]
        #: The inputs that are arrays of the device, and those that are copied to it.
        self._arrays = [(i, v) for i, v in inputs if v in used and v not in writer.host]
        self._uploaded = [
            i for i, v in inputs if v in used and v in writer.host and v not in writer.table.places
        ]
        self._stream: Any = None
        self.graph = self._make_graph() if writer.is_static else None

    def _make_graph(self) -> CapturedRun:
        """Return the captured run, which may copy the arrays that the program does not write."""
        written = {number for number, _ in self._writer.program.writes}
        makers: dict[int, Callable[[], Any] | None] = {
            i: None if i in written else functools.partial(self._writer.new_array, value)
            for i, value in [*self._arrays, *((i, self._writer.inputs[i]) for i in self._uploaded)]
            if math.prod(value.shape)
        }
        return CapturedRun(self._writer.library, makers)

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the program's outputs, and write the inputs that it writes.

        Args:
            arrays: One array of the device for each input, with the shape, dtype and strides of
                the recording; for a number a float, or a 0-d array of any library's.

        Raises:
            ValueError: If an array has another shape, dtype or strides.
        """
        numbers, given = self._begin(arrays)
        run = functools.partial(self._function, numbers)
        found = run(*given) if self.graph is None else self.graph.run(run, given)
        self._writer.table.write_host(arrays)
        return found

    def run_profiled(self, arrays: Sequence[Any], profiler: Any) -> list[Any]:
        """Run the program kernel by kernel, each part as a block of a profile."""
        numbers, given = self._begin(arrays)
        found = self.profiled.run([numbers, *given], profiler)
        self._writer.table.write_host(arrays)
        return found

    def try_on(self, arrays: Sequence[Any]) -> list[Any]:
        """Run the program without a graph on copies of the arrays that it writes."""
        copies = list(arrays)
        for number, _ in [*self._writer.program.writes, *self._writer.table.host_writes]:
            copies[number] = self._copy(arrays[number], self._writer.inputs[number])
        graph, self.graph = self.graph, None
        try:
            return self.run(copies)
        finally:
            self.graph = graph

    def _copy(self, array: Any, value: Value) -> Any:
        """Return a copy in the layout of a value."""
        if isinstance(array, numpy.ndarray):
            return array.copy()
        copy = self._writer.new_array(value)
        copy[...] = array
        return copy

    def _begin(self, arrays: Sequence[Any]) -> tuple[dict[Value, Any], list[Any]]:
        """Check and copy what a run reads; return the numbers, and an array for each input."""
        for i, value in self._arrays:
            array = arrays[i]
            if value.shape and not fits(array, value):
                raise ValueError(
                    f"expected an array of {value.shape}, {value.dtype}, strides {value.strides}, "
                    f"got {array.shape}, {array.dtype}, strides {array.strides}"
                )
        self._backend.here()
        self._wait_for_last_run()
        given = list(arrays)
        for i in self._uploaded:
            given[i] = self._writer.library.array(arrays[i], order="K")
        numbers = self._writer.table.compute(arrays)
        for draw in self._writer.draws:
            draw()
        self._check(*given)
        return numbers, given

    def _wait_for_last_run(self) -> None:
        """Let the current stream wait for the last run, which had the same memory."""
        stream = self._writer.library.cuda.get_current_stream()
        if self._stream is not None and self._stream.ptr != stream.ptr:
            stream.wait_event(self._stream.record())
        self._stream = stream


def fits(array: Any, value: Value) -> bool:
    """Whether an array has the shape, dtype and layout of a value."""
    if array.shape != value.shape or array.dtype != value.dtype:
        return False
    return array.strides == value.strides or steps_of(array) == steps_of(value)


def prepare(program: Program, backend: Any, host: frozenset[Value] | None = None) -> CudaExecutable:
    """Plan a program and compile its kernels.

    Args:
        program: A program that was recorded on NumPy's arrays.
        backend: The CuPy backend.
        host: The inputs whose arrays are NumPy's. Default: those that are 0-d of float64.

    Raises:
        NotImplementedError: If it calls what CuPy does not have, or writes to an array of the host
            what is not computed there.
    """
    if host is None:
        host = float64_scalars(program)
    backend.here()
    simple, steps = plan_steps(program, host)
    on_host = [pair for pair in simple.writes if simple.inputs[pair[0]] in host]
    simple.writes = [pair for pair in simple.writes if pair not in on_host]
    writer = CudaWriter(simple, steps, plan_memory(simple, steps, writes_out), backend, host)
    writer.table.host_writes = on_host
    return writer.write()


def prepare_both(
    forward: Program,
    backward: Program,
    arrays: Sequence[Any],
    backend: Any,
    complete: Callable[[Sequence[Any]], Sequence[Any]],
) -> tuple[Lanes, Lanes]:
    """Return the programs of a call and of its backward pass, each of which has run once.

    Args:
        forward: The program of a call.
        backward: That of the backward pass.
        arrays: An array for each input of ``forward``.
        backend: The CuPy backend.
        complete: Function of the outputs of ``forward`` that returns the arrays of ``backward``.

    Raises:
        Refusal: If one of them cannot be run.
    """
    pairs = zip(forward.inputs, arrays, strict=True)
    host = frozenset([value for value, array in pairs if isinstance(array, numpy.ndarray)])
    make = functools.partial(prepare, backend=backend, host=host)
    lanes = Lanes(forward, make), Lanes(backward, make)
    drawing = {*engines_of(forward, backend), *engines_of(backward, backend)}
    states = [(engine, engine.snapshot()) for engine in drawing]
    try:
        with ignore_checks():
            found = lanes[0].prepare().try_on(arrays)
            lanes[1].prepare().try_on(complete(found))
    except Exception as error:  # of any part of CuPy's
        raise Refusal(f"CuPy cannot run the program: {type(error).__name__}: {error}") from error
    finally:
        for engine, state in states:
            engine.rewind(state)
    return lanes


def plan_steps(program: Program, host: Collection[Value]) -> tuple[Program, list[Step]]:
    """Return a program that computes the same in fewer nodes, and its groups and other nodes.

    Args:
        program: The program.
        host: The inputs whose arrays are NumPy's.
    """
    simple = join_products(simplify(compute_on_device(program, host)))
    steps = [
        step.ops[0].node if isinstance(step, LoopGroup) and is_single(step) else step
        for step in group_nodes(simple, lower, least=1, strided=True)
    ]
    for step in steps:
        if isinstance(step, LoopGroup):
            sort_by_level(step)
            step.may_overwrite = all(op.reduces is None for op in step.ops)
    return simple, steps


def compute_on_device(program: Program, host: Collection[Value]) -> Program:
    """Return a program whose numbers are arrays if they depend on arrays of the device.

    Reading them would be waiting for the device. Ufuncs of numbers of the host become formulas.
    """
    early = {value for value in program.inputs if value in host and is_number(value)}
    nodes = []
    for node in program.nodes:
        if is_scalar_ufunc(node) and early.issuperset(values_in(node.args)):
            formula = functools.partial(compute_scalar, node.function, dtypes_of(node.args))
            node = replace_function(node, f"number.{node.name}", formula, node.args)
        if node.name.startswith("number."):
            if early.issuperset(values_in((node.args, node.kwargs))):
                early.update(value for value in node.outputs if value is not None)
            else:
                node = as_array_node(node)
        elif node.name == "xp.where" and isinstance(node.function, WithFloats):
            # CuPy's condition is an array; a number on the device is one.
            node = replace_function(node, node.name, node.function.function, node.args)
        nodes.append(node)
    return Program(nodes, program.inputs, program.outputs, program.writes)


def as_array_node(node: Node) -> Node:
    """Return the node that computes a number as a 0-d array; the node itself if there is none."""
    function: Any = node.function
    formula = getattr(function, "function", None)
    if formula is float or isinstance(function, ToDtype):
        dtype = numpy.dtype("float64") if formula is float else function.dtype
        name, found, args = "ndarray.astype", numpy.ndarray.astype, (node.args[0], dtype)
    elif formula in _UFUNCS:
        found, args = _UFUNCS[formula], node.args
        name = found.__name__
    else:
        return node
    return replace_function(node, name, found, args)


def replace_function(node: Node, name: str, function: Any, args: tuple[Any, ...]) -> Node:
    """Return a CALL of another function in the place of a node."""
    made = Node(Kind.CALL, name, function, args, {}, node.tag)
    made.outputs = node.outputs
    return made


def float64_scalars(program: Program) -> frozenset[Value]:
    """Return the inputs that are 0-d of float64, as traced numbers are."""
    return frozenset([v for v in program.inputs if not v.shape and v.dtype.char == "d"])


def is_scalar_ufunc(node: Node) -> bool:
    """Whether a node computes a number by a ufunc from values."""
    value = node.outputs[0] if len(node.outputs) == 1 else None
    return (
        value is not None and is_number(value) and isinstance(node.function, numpy.ufunc)
        and not node.kwargs and any(values_in(node.args))
    )  # fmt: skip


def dtypes_of(args: Sequence[Any]) -> list[Any]:
    """Return the dtype of each argument that is a value; None for the others."""
    return [arg.dtype if isinstance(arg, Value) else None for arg in args]


def compute_scalar(ufunc: Any, dtypes: Sequence[Any], *args: Any) -> Any:
    """Compute a ufunc of numbers in their dtypes."""
    pairs = zip(args, dtypes, strict=True)
    return ufunc(*[arg if dtype is None else numpy.asarray(arg, dtype) for arg, dtype in pairs])


def is_number(value: Value) -> bool:
    """Whether the host computes with an input of its own as a float."""
    return not value.shape and value.dtype.char in "fd"


def is_single(group: LoopGroup) -> bool:
    """Whether a group is one node, which CuPy computes by one kernel, too."""
    return len(group.ops) == 1 and is_whole(group.ops[0])


class NumberTable:
    """Numbers of a program that depend on those of the host alone: computed there, then copied.

    Args:
        program: The program.
        library: CuPy.
        host: The inputs whose arrays are NumPy's.

    Attributes:
        nodes: The formulas, in order.
        places: The number of each value's slot.
        host_writes: Inputs of the host that the program writes, with their final values.
    """

    def __init__(self, program: Program, library: Any, host: Collection[Value]) -> None:
        self.inputs: dict[Value, int] = {
            value: i for i, value in enumerate(program.inputs) if value in host and is_number(value)
        }  # fmt: skip
        self.nodes: list[Node] = []
        self.places: dict[Value, int] = {value: i for i, value in enumerate(self.inputs)}
        self.host_writes: list[tuple[int, Value]] = []
        count = len(self.inputs) + sum(n.name.startswith("number.") for n in program.nodes)
        self._host: Any = numpy.zeros(max(1, count) * _SLOT, numpy.uint8)
        self._device: Any = library.zeros(max(1, count) * _SLOT, numpy.uint8)
        self._known: dict[Value, Any] = {}

    def add(self, node: Node) -> bool:
        """Add a formula; False if it reads an array of the device."""
        if not all(value in self.places for value in values_in((node.args, node.kwargs))):
            return False
        value: Value = node.outputs[0]  # type: ignore[assignment]
        self.nodes.append(node)
        self.places[value] = len(self.places)
        return True

    def slot(self, value: Value, memory: Any) -> Any:
        """Return the 0-d array of a value in memory of the host or the device."""
        start = self.places[value] * _SLOT
        part = memory[start : start + value.dtype.itemsize]
        return part.view(value.dtype).reshape(())

    def get_device_array(self, value: Value) -> Any:
        """Return the 0-d array of a value on the device."""
        return self.slot(value, self._device)

    def compute(self, arrays: Sequence[Any]) -> dict[Value, Any]:
        """Compute the numbers, copy them to the device, and return them."""
        known: dict[Value, Any] = {value: float(arrays[i]) for value, i in self.inputs.items()}
        for node in self.nodes:
            args = [known[arg] if isinstance(arg, Value) else arg for arg in node.args]
            known[node.outputs[0]] = node.function(*args)  # type: ignore[index, misc]
        if known:
            for value, number in known.items():
                self.slot(value, self._host)[...] = number
            self._device.set(self._host)
        self._known = known
        return known

    def write_host(self, arrays: Sequence[Any]) -> None:
        """Write the inputs of the host that the program writes."""
        for number, value in self.host_writes:
            arrays[number][...] = self._known[value]


class CudaWriter(ProgramWriter):
    """Writer of the function of a program whose groups are kernels.

    Attributes:
        library: CuPy.
        table: The numbers.
        draws: Functions that draw random numbers into memory of the program, in order.
        host: The inputs whose arrays are NumPy's.
        is_static: Whether equal arrays lead to equal launches, whatever the numbers are.
    """

    def __init__(
        self, program: Program, steps: Sequence[Step], layout: MemoryPlan, backend: Any,
        host: Collection[Value],
    ) -> None:  # fmt: skip
        self.backend, self.library, self.host = backend, backend.library, host
        self.array_type = self.library.ndarray
        super().__init__(program, steps, layout)
        self.table = NumberTable(program, self.library, host)
        self.is_static = True
        self.inputs: list[Value] = program.inputs
        self.draws: list[Callable[[], None]] = []
        # Draws change a generator in order, so all of them come first or none.
        self._draws_first = not any(
            node.kind is Kind.DRAW and any(values_in((node.args, node.kwargs)))
            for node in program.nodes
        )
        self.texts: dict[str, str] = {}  # name of each kernel by its text
        self.checks: list[str] = []  # of inputs: before all else, since a graph would not raise
        library = self.library
        self.space.update(
            copyto=library.copyto, asarray=library.asarray,
            matmul=lambda a, b, out: library.matmul(a, b, out=out),
            concatenate=library.concatenate, call=lambda work, function, *args: function(*args),
            fit=self.fit,
        )  # fmt: skip

    def make_arena(self, nbytes: int) -> Any:
        """Return the memory of the values inside of the program."""
        return self.library.empty(max(1, nbytes), numpy.uint8)

    def write(self) -> CudaExecutable:
        """Return the executable."""
        made = super().write()
        executable = CudaExecutable(self, made.source, made.groups)
        executable.profiled = made.profiled
        return executable

    def translate(self, thing: Any) -> Any:
        """Return CuPy's function or array for one of NumPy's."""
        return translate(thing, self.backend)

    def header(self) -> str:
        """Return the parameters of the function."""
        return f"h, {super().header()}"

    # -- arrays -----------------------------------------------------------------------------

    def new_array(self, value: Value) -> Any:
        """Return new memory with the shape, dtype and layout of a value."""
        library, itemsize = self.library, value.dtype.itemsize
        if is_dense(value):
            return lay_out(library.empty(math.prod(value.shape), value.dtype), value)
        steps = zip(value.shape, value.strides, strict=True)
        extent = sum((size - 1) * abs(step) for size, step in steps) // itemsize + 1
        return self.backend.as_strided(
            library.empty(extent, value.dtype), value.shape, value.strides
        )

    def fit(self, array: Any, value: Value) -> Any:
        """Return the result of a call as an array with the layout of a value.

        Raises:
            NotImplementedError: If CuPy's result is of another kind than NumPy's was.
        """
        if fits(array, value):
            return array
        if array.shape != value.shape or array.dtype != value.dtype or min(value.strides) < 0:
            raise NotImplementedError(
                f"expected a result of {value.shape}, {value.dtype}, strides {value.strides}, got "
                f"{array.shape}, {array.dtype}, strides {array.strides}"
            )
        out = self.new_array(value)
        out[...] = array
        return out

    def allocation(self, value: Value) -> str:
        """Return the text that allocates memory for a result."""
        return f"{self.share(functools.partial(self.new_array, value))}()"

    def array_text(self, value: Value) -> str:
        """Return the text of a value as an array."""
        if value in self.table.places:
            if value not in self.arrays:
                self.arrays[value] = self.table.get_device_array(value)
            return self.share(self.arrays[value], "a")
        return super().array_text(value)

    # -- nodes ------------------------------------------------------------------------------

    def write_node(self, node: Node) -> None:
        """Write the lines of a node; a formula of numbers is computed before all others."""
        if node.kind is Kind.CONSTANT:
            value: Value = node.outputs[0]  # type: ignore[assignment]
            self.set_array(value, self.fit(self.library.asarray(node.args[0]), value))
        elif node.name.startswith("number.") and self.table.add(node):
            self.names[node.outputs[0]] = ""  # type: ignore[index]
        elif node.kind is Kind.CHECK and set(self.inputs).issuperset(
            values_in((node.args, node.kwargs))
        ):
            self.share_function(node)
            self.checks.append(self.call(node))
        elif node.kind is Kind.DRAW and self._draws_first:
            self.write_draw(node)
        else:
            self.is_static &= node.kind not in (Kind.CHECK, Kind.DRAW)
            self.is_static &= not node.name.startswith("number.")
            self.share_function(node)
            super().write_node(node)

    def write_draw(self, node: Node) -> None:
        """Add a draw to those that come before the function, with memory for its result."""
        draw = functools.partial(
            translate(node.function, self.backend, node.name), *node.args, **node.kwargs
        )
        targets = []
        for value in node.outputs:
            targets.append(None if value is None else self.new_array(value))
            if value is not None:
                self.set_array(value, targets[-1])
        self.draws.append(functools.partial(draw_into, draw, targets))

    def share_function(self, node: Node) -> None:
        """Name CuPy's function for that of a node, which the name of the node tells."""
        function: Any = node.function
        if isinstance(function, WithFloats):
            function = function.function
        if function is not None and id(function) not in self.by_id:
            name = self.by_id[id(function)] = f"f{len(self.by_id)}"
            self.space[name] = translate(function, self.backend, node.name)
            self.shared.append(function)

    def float_text(self, arg: Any) -> str:
        """Return the text of an argument as a Python float."""
        if not isinstance(arg, Value):
            return super().float_text(arg)
        self.is_static = False
        if arg in self.table.places:
            return f"float(h[{self.share(arg)}])"
        return super().float_text(arg)

    def write_call(self, node: Node) -> None:
        """Write a call whose results are new arrays, in the layouts that were recorded."""
        super().write_call(node)
        if node.kind is not Kind.VIEW:
            for value in node.outputs:
                if value is not None:
                    name = self.names[value]
                    self.lines.append(f"{name} = fit(asarray({name}), {self.share(value)})")

    # -- groups -----------------------------------------------------------------------------

    def write_group(self, group: LoopGroup) -> None:
        """Write the launch of the kernel of a group, and of those that add the parts of its sums.

        Raises:
            NotImplementedError: If the group has more arrays than a kernel can have.
        """
        for value in group.stores:
            self.target(value)
        text, launch = write_kernel(group), choose_launch(group)
        if len(text.parameters) + len(text.sizes) >= MOST_PARAMETERS:
            raise NotImplementedError(f"a group of {len(text.parameters)} arrays")
        name = self.texts.setdefault(text.body, f"c{len(self.texts)}")
        arrays, parts = [], []
        for thing, what in text.parameters:
            if what == "parts":
                width = part_width(group, thing)
                memory = self.library.empty(launch.teams * width, numpy.float64)
                parts.append((self.share(memory, "a"), thing, width))
                arrays.append(parts[-1][0])
            else:
                arrays.append(self.array_text(thing) if isinstance(thing, Value)
                              else self.share(thing))  # fmt: skip
        sizes = self.share(tuple(map(numpy.int64, (*text.sizes, launch.count))))
        self.lines.append(
            f"{name}(({launch.grid},), {launch.block}, ({', '.join(arrays)}, *{sizes}))"
        )
        for memory, value, width in parts:
            sizes = self.share((numpy.int64(launch.teams), numpy.int64(width)))
            kind = "f32" if value.dtype.char == "f" else "f64"
            self.lines.append(
                f"add_parts_{kind}(({-(-width // PARTS_BLOCK[0])},), {PARTS_BLOCK}, "
                f"({memory}, {self.array_text(value)}, *{sizes}))"
            )

    def finish(self) -> None:
        """Compile the kernels, and write the function of the checks."""
        if any(value not in self.table.places for _, value in self.table.host_writes):
            raise NotImplementedError("a tensor on the CPU gets values of the GPU")
        checks = "\n    ".join([*self.checks, "pass"])
        self.functions.append(f"def check({ProgramWriter.header(self)}):\n    {checks}")
        if self.texts:
            module = self.library.RawModule(code=program_text(self.texts), options=OPTIONS)
            for name in (*self.texts.values(), "add_parts_f32", "add_parts_f64"):
                self.space[name] = module.get_function(name)


def draw_into(draw: Callable[[], Any], targets: Sequence[Any]) -> None:
    """Draw random numbers, and copy them to memory of the program.

    Args:
        draw: Function that returns an array of the device, or several.
        targets: Memory for each result; None for one that nothing reads.
    """
    found = draw()
    results = found if isinstance(found, (tuple, list)) else (found,)
    for target, result in zip(targets, results, strict=False):
        if target is not None:
            target[...] = result
