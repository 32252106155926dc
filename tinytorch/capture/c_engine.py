"""C engine: the groups of a program as functions of one compiled library, the rest as NumPy's.

A group is called with a block of memory that stays as it is. It has the addresses of three others:
addresses, sizes, and which addresses change from run to run. Those are read from a tuple of the
arrays, at the places where CPython and NumPy keep them; ``layout_is_known`` checks these places on
real objects.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from . import numpy_engine
from .c_compiler import cache_folder, find_compiler, load_library
from .c_convolution import convolution_text, is_convolution, is_finite
from .c_prelude import PRELUDE
from .c_losses import expand_losses
from .c_text import PARAMETERS, TYPES, Text, letter, levels, lower, sort_by_level, write_text
from .graph import Kind, Node, Program, Value
from .grouping import LoopGroup, LoopOp, Step, group_nodes
from .memory import MemoryPlan, Where, plan_memory
from .numpy_engine import SAVED, Executable, ProgramWriter, writes_out
from .products import join_products
from .simplify import simplify

#: From this many elements on a second thread saves time.
_THREADED = 1 << 19
#: From this many products on a second thread saves time.
_THREADED_PRODUCTS = 1 << 22
#: Up to this many elements two calls of NumPy are as fast as one of a compiled function.
_FEW = 2048
#: Offset of the address of the elements in an array, and of the first item in a tuple.
_ARRAY_OFFSET, _TUPLE_OFFSET = object.__basicsize__, tuple.__basicsize__
_Address = ctypes.c_void_p
#: Kinds of nodes of which no call of NumPy's computes with floating-point numbers.
_QUIET = Kind.VIEW, Kind.CONSTANT, Kind.ACTION
#: Copy of a transposed matrix, a cache line of a row after the other.
_TRANSPOSE = f"""void NAME({PARAMETERS}) {{
bind(p, slots, tuple);
const i64 C = n[0], R = n[1];
const T *in = (const T *)p[0];
T *out = (T *)p[1];
for (i64 j = 0; j < C; j += 16) for (i64 r = lo; r < hi; r++)
  for (i64 c = j; c < (j + 16 < C ? j + 16 : C); c++) out[r * C + c] = in[c * R + r];
}}"""


@functools.cache
def layout_is_known() -> bool:
    """Whether arrays and tuples have their contents where the compiled text reads them."""
    arrays = tuple(numpy.empty(size, "float32")[1:] for size in (2, 5, 9))
    for k, array in enumerate(arrays):
        item = _Address.from_address(id(arrays) + _TUPLE_OFFSET + k * ctypes.sizeof(_Address))
        data = _Address.from_address(id(array) + _ARRAY_OFFSET)
        if item.value != id(array) or data.value != array.ctypes.data:
            return False
    return ctypes.sizeof(_Address) == 8


class CompiledExecutable(Executable):
    """Program whose groups are functions of a compiled library."""

    engine = "c"


class LateExecutable:
    """Program that is run by NumPy at first, and is compiled when it has run ``RUNS`` times.

    The number of runs, not their time, decides: equal programs have equal results.

    Args:
        program: The program.
    """

    RUNS = 20

    def __init__(self, program: Program) -> None:
        self._program: Program | None = program
        self._current = numpy_engine.prepare(program)
        self._left = self.RUNS

    def __getattr__(self, name: str) -> Any:
        return getattr(self._current, name)

    @property
    def engine(self) -> str:
        """The engine of the next run."""
        later = f", c after {self._left} runs" if self._program is not None else ""
        return f"{self._current.engine}{later}"

    def run(self, arrays: Sequence[numpy.ndarray[Any, Any]]) -> list[numpy.ndarray[Any, Any]]:
        """Return the program's outputs, and write the inputs that it writes."""
        if self._program is not None:
            if not self._left:
                self._current, self._program = prepare(self._program), None
            self._left -= 1
        return self._current.run(arrays)


def describe() -> str:
    """Return which engine compiled functions run on, and why."""
    compiler = find_compiler()
    if compiler is None:
        return "numpy (no C compiler found)"
    if not layout_is_known():
        return "numpy (the memory of arrays is laid out in an unknown way)"
    return f"numpy, c after {LateExecutable.RUNS} runs ({' '.join(compiler)}, {cache_folder()})"


def prepare_late(program: Program) -> Executable | LateExecutable:
    """Prepare a program for NumPy, and for C after some runs where a compiler is found."""
    if find_compiler() is None or not layout_is_known():
        return numpy_engine.prepare(program)
    return LateExecutable(program)


def prepare(program: Program) -> Executable:
    """Plan and compile a program; where nothing can be compiled, prepare it for NumPy."""
    if not layout_is_known():
        return numpy_engine.prepare(program)
    simple = join_products(expand_losses(simplify(program)))
    steps = [*choose_groups(group_nodes(simple, lower, least=1, strided=True))]
    for step in steps:
        if isinstance(step, LoopGroup):
            sort_by_level(step)
            step.may_overwrite = max(levels(step).values()) == 0
    writer = CWriter(simple, steps, plan_memory(simple, steps, has_target, SAVED))
    try:
        return writer.write()
    except NoLibraryError:
        return numpy_engine.prepare(program)


def choose_groups(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield the steps, groups that are not worth a compiled function as nodes."""
    for step in steps:
        if isinstance(step, Node) or not all(map(is_whole, step.ops)):
            yield step
        elif len(step.ops) > (2 if step.size <= _FEW else 1):
            yield step
        else:
            yield from (op.node for op in step.ops)


def is_whole(op: LoopOp) -> bool:
    """Whether an operation is its node, with the arguments of the node and not what they view."""
    given = [arg for arg in op.node.args if isinstance(arg, Value)]
    return not op.is_part and all(arg in given for arg in op.args if isinstance(arg, Value))


def has_target(node: Node) -> bool:
    """Whether the result of a node can be computed into given memory."""
    return is_convolution(node) or writes_out(node)


class NoLibraryError(Exception):
    """Raised where nothing can be compiled."""


class CWriter(ProgramWriter):
    """Writer of the function of a program whose groups are compiled."""

    executable: type[Executable] = CompiledExecutable

    def __init__(self, program: Program, steps: Sequence[Step], layout: MemoryPlan) -> None:
        super().__init__(program, steps, layout)
        self.texts: dict[str, str] = {}  # name of each function by its text
        self.kept: list[Any] = []  # memory that only the compiled functions read
        self.number_arrays: dict[Value, str] = {}  # names of arrays of numbers
        self.space.update(partial=functools.partial, fit_layout=fit_layout, is_finite=is_finite)

    def write(self) -> Executable:
        """Return the executable."""
        made = super().write()
        made.calls_numpy = not all(
            isinstance(step, LoopGroup) or step.kind in _QUIET for step in self.steps
        )
        return made

    def write_group(self, group: LoopGroup) -> None:
        """Write the call of the compiled function of a group."""
        for value in group.stores:
            self.target(value)
        text = write_text(group)
        count = group.size if text.is_flat else group.rows
        self.lines.append(self.call_text(text, count, group.size >= _THREADED))

    def write_node(self, node: Node) -> None:
        """Write the lines of a node; of a convolution the call of a compiled function."""
        if not is_convolution(node):
            super().write_node(node)
            return
        out: Value = node.outputs[0]  # type: ignore[assignment]
        name = self.target(out)
        is_large = math.prod(out.shape) * math.prod(node.args[1].shape[1:]) >= _THREADED_PRODUCTS
        text = self.call_text(convolution_text(node), node.args[0].shape[0], is_large)
        if node.name == "op._conv_input":
            other = f"copyto({name}, {self.call(node)})"
            text = f"{text} if is_finite({self.names[node.args[1]]}) else {other}"
        self.lines.append(text)

    def transposition(self, matrix: Any, value: Value) -> str:
        """Return the text that copies the transpose of a matrix to a value."""
        body = _TRANSPOSE.replace("T ", f"{TYPES[letter(value.dtype)]} ")
        text = Text(body, [(matrix, "array"), (value, "store")], [*matrix.shape])
        return self.call_text(text, value.shape[0], False)

    def call_text(self, text: Text, count: int, is_large: bool) -> str:
        """Return the call of the compiled function of a text for all rows."""
        name = self.texts.setdefault(text.body, f"c{len(self.texts)}")
        addresses, slots, arrays = self.bind(text)
        sizes = numpy.array([*text.sizes, 0], numpy.int64)
        memory = [block.ctypes.data for block in (addresses, sizes, slots)]
        arguments = numpy.array([*memory, 0, count], numpy.int64)
        self.kept += [addresses, sizes, slots, arguments]
        given = f"{arguments.ctypes.data}, ({''.join(f'{array}, ' for array in arrays)})"
        if is_large and not text.sums:
            return f"in_parts(partial({name}_part, {given}), {count})"
        return f"{name}({given})"

    def bind(self, text: Text) -> tuple[Any, Any, list[str]]:
        """Return the addresses of a call, the places of those that change, and their arrays."""
        addresses = numpy.zeros(len(text.parameters) + 1, numpy.uintp)
        changing, arrays = [], []
        for k, (thing, _) in enumerate(text.parameters):
            array = thing if isinstance(thing, numpy.ndarray) else self.arrays.get(thing)
            if array is not None:
                self.kept.append(array)
                addresses[k] = array.ctypes.data
            else:
                changing.append(k)
                arrays.append(self.dynamic_text(thing))
        slots = numpy.array([len(changing), *changing], numpy.int64)
        return addresses, slots, arrays

    def dynamic_text(self, value: Value) -> str:
        """Return the text of an array that a call of NumPy's has made, in the layout expected."""
        place = self.layout.places.get(value)
        name = self.names[value]
        if value in self.numbers:
            return self.number_array(value)
        if place is not None and place.where is Where.FRESH and value not in self.allocated:
            return f"fit_layout({name}, {self.share(value.strides)})"
        return name

    def number_array(self, value: Value) -> str:
        """Return the name of a number as an array, after the line that makes it at first."""
        if value not in self.number_arrays:
            text, name = self.array_text(value), f"n{len(self.number_arrays)}"
            self.number_arrays[value] = name
            self.lines.append(f"{name} = {text}")
        return self.number_arrays[value]

    def finish(self) -> None:
        """Compile the library and bind its functions."""
        offsets = f"#define TUPLE_OFFSET {_TUPLE_OFFSET}\n#define ARRAY_OFFSET {_ARRAY_OFFSET}\n"
        bodies = [
            f"{body.replace('NAME', name, 1)}\nFOR_ALL_ROWS({name})"
            for body, name in self.texts.items()
        ]
        library = load_library("\n".join([offsets + PRELUDE, *bodies, ""])) if bodies else None
        if bodies and library is None:
            raise NoLibraryError
        for name in self.texts.values():
            for function, rows in ((f"{name}_all", 0), (f"{name}_part", 2)):
                found = self.space[function] = getattr(library, function)
                found.argtypes = [_Address, ctypes.py_object, *[ctypes.c_int64] * rows]
                found.restype = None
            self.space[name] = self.space[f"{name}_all"]
        self.space["kept"] = self.kept, library


def fit_layout(array: Any, strides: tuple[int, ...]) -> Any:
    """Return the array if it has these strides, else a copy that has them."""
    if array.strides == strides:
        return array
    like: Any = numpy.empty(0, array.dtype)  # never read: only its layout counts
    out = numpy.empty_like(numpy.lib.stride_tricks.as_strided(like, array.shape, strides))
    out[...] = array
    return out
