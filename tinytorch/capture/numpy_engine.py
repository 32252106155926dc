"""NumPy engine: a program as one generated function of calls with ``out=``.

Pointwise operations on many elements are computed in blocks that stay in the processor's cache,
with the row reductions between them. Every call is the one that the function made when it was
recorded, so results are equal bit for bit; only sums of blocks of rows may be added in another
order.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy

from ..backends import load
from ..backends.numpy import blas
from ..backends.numpy.memory import row_after_row
from .graph import Kind, Node, Program, Value, values_in
from .grouping import LoopGroup, Step, group_nodes, is_row_major
from .memory import SELECTIONS, MemoryPlan, Pool, Where, empty_lines, nbytes, plan_memory
from .numpy_blocks import (
    BLOCK,
    add_parts,
    as_numbers,
    is_copy,
    is_ufunc,
    lay_flat,
    lower,
    write_group,
)
from .numbers import OnFloats, WithFloats
from .products import join_products
from .profiling import ProfiledFunction
from .simplify import is_like, simplify

#: Bytes from which an array is released when it is read no more.
_LARGE = 1 << 16
#: Bytes from which the result of a call is copied to the arena if it is saved for long, since it
#: would lie between short-lived arrays of the heap.
SAVED = 1 << 16
#: Bytes from which the memory of a result is used again when the user drops the result.
_POOLED = 1 << 20
#: Signs of functions of Python floats.
_SIGNS = {
    operator.add: " + ", operator.sub: " - ", operator.mul: " * ", operator.truediv: " / ",
    operator.pow: " ** ",
}  # fmt: skip
_concatenate: Any = getattr(numpy.concatenate, "_implementation", numpy.concatenate)
_copyto: Any = getattr(numpy.copyto, "_implementation", numpy.copyto)


class Executable:
    """Program that is ready to run, in one thread at a time.

    Attributes:
        source: Text of the generated function.
        nbytes: Bytes of the memory that it keeps.
        groups: Number of groups that are computed as one loop.
        engine: What runs the program, and why.
        calls_numpy: Whether its function calls NumPy's functions, which may warn of infinities.
        profiled: The function with a row of the profile for each part.
    """

    engine = "numpy"
    calls_numpy: bool = True
    profiled: ProfiledFunction

    def __init__(self, function: Any, source: str, nbytes: int, groups: int) -> None:
        self._function = function
        self.source: str = source
        self.nbytes: int = nbytes
        self.groups = groups

    def run(self, arrays: Sequence[numpy.ndarray[Any, Any]]) -> list[numpy.ndarray[Any, Any]]:
        """Return the program's outputs, and write the inputs that it writes.

        Args:
            arrays: One array for each input, with the shape, dtype and strides of the recording.
        """
        if not self.calls_numpy:
            return self._function(*arrays)  # type: ignore[no-any-return]
        with numpy.errstate(all="ignore"):
            return self._function(*arrays)  # type: ignore[no-any-return]

    def run_profiled(self, arrays: Sequence[Any], profiler: Any) -> list[Any]:
        """Run the program, each part as a block of a profile."""
        return self.profiled.run(arrays, profiler)


def prepare(program: Program) -> Executable:
    """Plan a program and generate its function."""
    program = join_products(simplify(program))
    steps = split_small(group_nodes(program, lower, least=BLOCK // 2, strided=False))
    layout = plan_memory(program, steps, writes_out, SAVED)
    return ProgramWriter(program, steps, layout).write()


def split_small(steps: Sequence[Step]) -> list[Step]:
    """Replace groups of one operation by its node."""
    return [
        step.ops[0].node if isinstance(step, LoopGroup) and len(step.ops) == 1 else step
        for step in steps
    ]


def is_product(node: Node) -> bool:
    """Whether a node is a matrix product that BLAS can write to memory of the engine's."""
    if node.kind is not Kind.CALL or node.name.rpartition(".")[2] != "matmul" or node.kwargs:
        return False
    a, b = node.args
    if not (isinstance(a, Value) and isinstance(b, Value)) or a.dtype != b.dtype:
        return False
    return a.dtype.char in "fdFD" and min(len(a.shape), len(b.shape)) > 1


def is_faster_transposed(a: Value, b: Value) -> bool:
    """Whether BLAS computes a product faster into a transposed result.

    It packs the matrix that gives the result's adjacent elements by slow strides if both matrices
    lie along the dimension of the sums, as inputs and weights do. So few rows are better there.
    The elements are the same; the copy to the result costs less than the gain.
    """
    if not (len(a.shape) == len(b.shape) == 2 and is_row_major(a) and is_row_major(transpose(b))):
        return False
    (rows, sums), columns = a.shape, b.shape[1]
    return a.dtype.char in "fd" and not is_row_major(b) and 2 * rows <= columns and 4 * rows <= sums


def writes_out(node: Node) -> bool:
    """Whether the result of a node can be computed into given memory."""
    if node.kind in (Kind.PUT, Kind.MUTATE):
        return True
    if len(node.outputs) != 1 or node.outputs[0] is None or not is_dense(node.outputs[0]):
        return False
    if is_ufunc(node):
        return True
    if is_product(node):
        return is_row_major(node.outputs[0])
    return any(test(node) for test in (is_copy, is_joining, is_reshape, is_zeros, is_fill))


def is_reshape(node: Node) -> bool:
    """Whether a node copies its argument to another shape, in row-major order."""
    out, source = node.outputs[0], node.args[0] if node.args else None
    return (
        node.kind is Kind.CALL and node.name == "ndarray.reshape" and not node.kwargs
        and isinstance(source, Value) and out is not None and is_row_major(out)
    )  # fmt: skip


def is_zeros(node: Node) -> bool:
    """Whether a node makes an array of zeros."""
    return node.kind is Kind.CALL and node.name == "numpy.zeros" and not node.reads


def is_fill(node: Node) -> bool:
    """Whether a node replaces elements of an array by one number where a broadcast mask is True.

    Masks of the array's shape are left to the backend, which is faster if they are irregular.
    """
    if node.kind is not Kind.CALL or node.name not in SELECTIONS or len(node.args) != 3:
        return False
    mask, number, array = node.args
    return (
        isinstance(mask, Value) and isinstance(array, Value) and mask.dtype.char == "?"
        and is_like(array, node.outputs[0])  # type: ignore[arg-type]
        and math.prod(mask.shape) < math.prod(array.shape) and array.dtype.kind == "f"
        and (number.shape == () and number.dtype == array.dtype if isinstance(number, Value)
             else number.__class__ in (int, float))
    )  # fmt: skip


def is_joining(node: Node) -> bool:
    """Whether a node joins arrays along a dimension that is known."""
    if node.kind is not Kind.CALL or node.name != "numpy.concatenate" or node.outputs[0] is None:
        return False
    axis = node.args[1:] or (node.kwargs.get("axis", 0),)
    parts = node.args[0]
    return (
        isinstance(parts, (tuple, list)) and all(isinstance(part, Value) for part in parts)
        and node.kwargs.keys() <= {"axis"} and len(axis) == 1 and axis[0].__class__ is int
        and all(part.dtype == node.outputs[0].dtype for part in parts)
    )  # fmt: skip


def is_dense(value: Value) -> bool:
    """Whether the elements of a value lie without gaps, in some order of its dimensions."""
    return is_row_major(value) or is_row_major(transpose(value))


def memory_order(value: Value) -> list[int]:
    """Return the dimensions in the order of memory, the last one with adjacent elements."""
    return sorted(range(len(value.shape)), key=lambda i: -value.strides[i])


def transpose(value: Value) -> Value:
    """Return a value with the dimensions in the order of memory."""
    found, order = Value.__new__(Value), memory_order(value)
    found.shape = tuple(value.shape[i] for i in order)
    found.strides = tuple(value.strides[i] for i in order)
    found.dtype = value.dtype
    return found


def lay_out(flat: Any, value: Value) -> Any:
    """Return one-dimensional memory as an array with the shape and the layout of ``value``."""
    if is_row_major(value):
        return flat.reshape(value.shape)
    order = memory_order(value)
    return flat.reshape([value.shape[i] for i in order]).transpose(numpy.argsort(order).tolist())


class ProgramWriter:
    """Writer of the function of a program.

    Attributes:
        space: Globals of the function: functions, constants, views of the arena.
        names: Name of each value in the text.
        arrays: Arrays of the values that lie at the same place at each run.
    """

    executable: type[Executable] = Executable
    array_type: type = numpy.ndarray

    def __init__(self, program: Program, steps: Sequence[Step], layout: MemoryPlan) -> None:
        self.program: Program = program
        self.steps: Sequence[Step] = steps
        self.layout: MemoryPlan = layout
        self.arena: Any = self.make_arena(layout.nbytes)
        self.space: dict[str, Any] = {
            "__name__": __name__, "copyto": _copyto, "empty": numpy.empty, "asarray": numpy.asarray,
            "empty_like": numpy.empty_like, "matmul": numpy.matmul, "call": blas.call,
            "in_parts": load("numpy").in_parts, "row_after_row": row_after_row,
            "lay_flat": lay_flat, "empty_lines": empty_lines,
            "concatenate": _concatenate, "add_parts": add_parts, "zeros": numpy.zeros,
        }  # fmt: skip
        self.by_id: dict[int, str] = {}
        self.shared: list[Any] = []  # keeps the ids of ``by_id`` in use
        self.names: dict[Value, str] = {}
        self.arrays: dict[Value, Any] = {}
        self.lines: list[str] = []
        self.functions: list[str] = []
        self.holders: dict[Value, list[str]] = {}
        self.numbers: set[Value] = set()  # that are Python floats at a run
        self.allocated: set[Value] = set()  # results for which the engine allocates memory
        self.scratches: dict[Any, Any] = {}  # see ``scratch``

    def write(self) -> Executable:
        """Return the executable."""
        for number, value in enumerate(self.program.inputs):
            self.names[value] = f"i{number}"
            if not value.shape and value.dtype.char == "d":
                self.numbers.add(value)  # or a 0-d array
        parts = []
        for at, step in enumerate(self.steps):
            first = len(self.lines)
            if isinstance(step, LoopGroup):
                self.write_group(step)
            else:
                self.write_node(step)
            parts.append((first, len(self.lines), step))
            self.write_release(at)
        self.write_results()
        self.finish()
        body = "\n    ".join(self.lines)
        text = "\n".join(self.functions) + f"\ndef run({self.header()}):\n    {body}\n"
        exec(compile(text, "<program>", "exec"), self.space)
        groups = sum(isinstance(step, LoopGroup) for step in self.steps)
        kept = self.layout.nbytes + sum(array.nbytes for array in self.scratches.values())
        made = self.executable(self.space["run"], text, kept, groups)
        made.profiled = ProfiledFunction(self.header(), self.lines, parts, self.space)
        return made

    def make_arena(self, nbytes: int) -> Any:
        """Return the memory of the values inside of the program."""
        return empty_lines((nbytes,), numpy.dtype(numpy.uint8))

    def write_group(self, group: LoopGroup) -> None:
        """Write the lines of a group."""
        write_group(self, group)

    def header(self) -> str:
        """Return the parameters of the function."""
        return ", ".join(self.names[value] for value in self.program.inputs)

    def finish(self) -> None:
        """Complete the globals of the function before it is compiled."""

    # -- names ------------------------------------------------------------------------------

    def share(self, thing: Any, prefix: str = "k") -> str:
        """Return the name of a global of the function."""
        if id(thing) not in self.by_id:
            name = self.by_id[id(thing)] = f"{prefix}{len(self.by_id)}"
            self.space[name] = self.translate(thing)
            self.shared.append(thing)
        return self.by_id[id(thing)]

    def function_of(self, node: Node) -> Any:
        """Return the function that a node calls when the program runs."""
        return self.space[self.share(node.function, "f")]

    def translate(self, thing: Any) -> Any:
        """Return what stands for a function or an array of NumPy's when the program runs."""
        return thing

    def expression(self, tree: Any) -> str:
        """Return the text of an argument."""
        kind = tree.__class__
        if kind is Value:
            return self.array_text(tree)
        if kind is float and math.isfinite(tree):
            return repr(tree)
        if kind in (int, bool, type(None), str, type(...)):
            return repr(tree) if tree is not ... else "..."
        if next(values_in(tree), None) is None:
            return self.share(tree)
        if kind is list:
            return f"[{', '.join(map(self.expression, tree))}]"
        if kind is dict:
            return f"{{{', '.join(f'{k!r}: {self.expression(v)}' for k, v in tree.items())}}}"
        if kind is slice:
            parts = (tree.start, tree.stop, tree.step)
            return f"slice({', '.join(map(self.expression, parts))})"
        return f"({''.join(self.expression(item) + ', ' for item in tree)})"

    def array_text(self, value: Value) -> str:
        """Return the text of a value as an array."""
        name = self.names[value]
        return f"asarray({name})" if value in self.numbers else name

    def arguments(self, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
        """Return the text of the arguments of a call."""
        items = [self.expression(item) for item in args]
        return ", ".join([*items, *(f"{k}={self.expression(v)}" for k, v in kwargs.items())])

    def set_array(self, value: Value, array: Any) -> None:
        """Note the array of a value that lies at the same place at each run."""
        self.arrays[value] = array
        self.names[value] = self.share(array, "a")

    def new_name(self, value: Value) -> str:
        """Return the name of a local variable for a value."""
        name = self.names[value] = f"v{len(self.names)}"
        self.holders.setdefault(self.layout.roots.get(value, value), []).append(name)
        return name

    def target(self, value: Value) -> str:
        """Return the name of the memory for a result, after the line that allocates it."""
        place = self.layout.places[value]
        if place.where is Where.INPUT:
            self.names[value] = f"i{place.number}"
        elif place.where is Where.ARENA:
            flat = self.arena[place.number : place.number + nbytes(value)].view(value.dtype)
            self.set_array(value, lay_out(flat, value))
        else:
            self.allocated.add(value)
            self.lines.append(f"{self.new_name(value)} = {self.allocation(value)}")
        return self.names[value]

    def allocation(self, value: Value) -> str:
        """Return the text that allocates memory for a result."""
        like: Any = numpy.empty(0, value.dtype)  # never read: only its layout counts
        like = numpy.lib.stride_tricks.as_strided(like, value.shape, value.strides)
        if nbytes(value) >= _POOLED:
            return f"{self.share(Pool(partial(numpy.empty_like, like)))}()"
        if is_row_major(value):
            return f"empty({value.shape}, {self.share(value.dtype)})"
        return f"empty_like({self.share(like)})"

    # -- nodes ------------------------------------------------------------------------------

    def write_node(self, node: Node) -> None:
        """Write the lines of a node."""
        if node.kind is Kind.CONSTANT:
            self.set_array(node.outputs[0], node.args[0])  # type: ignore[arg-type]
        elif node.kind is Kind.VIEW:
            self.write_view(node)
        elif node.kind in (Kind.PUT, Kind.MUTATE):
            self.write_change(node)
        elif node.kind in (Kind.CHECK, Kind.ACTION):
            self.lines.append(self.call(node))
        elif isinstance(node.function, OnFloats):
            self.write_number(node)
        elif writes_out(node):
            self.write_into(node)
        else:
            self.write_call(node)

    def call(self, node: Node) -> str:
        """Return the text of the call of a node."""
        function: Any = node.function
        if not isinstance(function, WithFloats):
            return f"{self.share(function, 'f')}({self.arguments(node.args, node.kwargs)})"
        return f"{self.share(function.function, 'f')}({self.float_arguments(node)})"

    def float_arguments(self, node: Node) -> str:
        """Return the text of the arguments of a function that gets Python floats at some places."""
        places = node.function.places  # type: ignore[union-attr]
        args = [
            self.float_text(arg) if i in places else self.expression(arg)
            for i, arg in enumerate(node.args)
        ]
        args += [
            f"{name}={self.float_text(arg) if name in places else self.expression(arg)}"
            for name, arg in node.kwargs.items()
        ]
        return ", ".join(args)

    def write_number(self, node: Node) -> None:
        """Write a formula of Python floats."""
        value: Value = node.outputs[0]  # type: ignore[assignment]
        function = node.function.function  # type: ignore[union-attr]
        args = [self.float_text(arg) for arg in node.args]
        sign = _SIGNS.get(function)
        call = f"{self.share(function, 'f')}({', '.join(args)})"
        self.lines.append(f"{self.new_name(value)} = {sign.join(args) if sign else call}")
        self.numbers.add(value)

    def float_text(self, arg: Any) -> str:
        """Return the text of an argument as a Python float."""
        if not isinstance(arg, Value):
            return f"({self.expression(arg)})"
        is_float = arg in self.numbers and arg not in self.program.inputs
        return self.names[arg] if is_float else f"float({self.names[arg]})"

    def write_view(self, node: Node) -> None:
        """Write a view; a view of memory that stays at its place is made at once."""
        source = self.arrays.get(node.args[0])
        if source is not None and next(values_in((node.args[1:], node.kwargs)), None) is None:
            found = self.function_of(node)(source, *node.args[1:], **node.kwargs)
            parts = found if isinstance(found, (tuple, list)) else [found]
            if all(isinstance(part, self.array_type) for part in parts):
                for value in node.outputs:
                    if value is not None:
                        self.set_array(value, parts[value.index])
                return
        self.write_call(node)

    def write_call(self, node: Node) -> None:
        """Write a call whose results are new arrays."""
        outputs = [value for value in node.outputs if value is not None]
        text = self.call(node)
        if len(node.outputs) == 1 and outputs:
            text = f"asarray({text})" if not outputs[0].shape else text
            self.write_result(outputs[0], text)
            return
        self.lines.append(f"t = {text}")
        for value in outputs:
            part = f"t[{value.index}]"
            part = f"asarray({part})" if not value.shape else part
            self.lines.append(f"{self.new_name(value)} = {part}")
        if outputs:
            self.lines.append("t = None")

    def write_result(self, value: Value, text: str) -> None:
        """Write the call of a function that returns a new array, and its copy to the arena."""
        place = self.layout.places.get(value)
        if place is not None and place.where is Where.ARENA:
            self.lines.append(f"copyto({self.target(value)}, {text})")
        else:
            self.lines.append(f"{self.new_name(value)} = {text}")

    def write_into(self, node: Node) -> None:
        """Write a call whose result goes to memory of the program."""
        value: Value = node.outputs[0]  # type: ignore[assignment]
        args = [*node.args]
        if is_product(node):
            self.write_product(node)
            return
        out = self.target(value)
        if is_joining(node):
            if node not in self.layout.joined:
                axis = (*node.args[1:], node.kwargs.get("axis", 0))[0]
                parts = self.expression(tuple(node.args[0]))
                self.lines.append(f"concatenate({parts}, {axis}, {out})")
            return
        if is_fill(node):
            self.write_fill(node, out)
            return
        if is_zeros(node):
            self.lines.append(f"{out}.fill(0)")
            return
        if is_reshape(node):
            parts = self.reshape(value, args[0].shape)
            self.lines.append(f"copyto({parts}, {self.expression(args[0])}, 'unsafe')")
            return
        if is_copy(node):
            self.lines.append(f"copyto({out}, {self.expression(args[0])}, 'unsafe')")
            return
        args = as_numbers(node, args)
        option = f", dtype={self.share(node.kwargs['dtype'])}" if node.kwargs else ""
        self.lines.append(
            f"{self.share(node.function, 'f')}({self.arguments(args, {})}, {out}{option})"
        )

    def write_fill(self, node: Node, out: str) -> None:
        """Write the replacement of elements: in place if the result has the array's memory."""
        mask, number, array = node.args
        place = self.layout.places[node.outputs[0]]  # type: ignore[index]
        if place.where is Where.FRESH or self.layout.places.get(array) != place:
            self.lines.append(f"copyto({out}, {self.expression(array)})")
        given = self.arguments((number, "unsafe", mask), {})
        self.lines.append(f"copyto({out}, {given})")

    def write_product(self, node: Node) -> None:
        """Write a matrix product, with the number of threads and the call of the backend's."""
        (a, b), value = node.args, node.outputs[0]
        assert value is not None
        left, right, out = self.names[a], self.names[b], self.target(value)
        size, rest = math.prod(a.shape), math.prod(b.shape)
        work = blas.products_work(_Shaped(a), _Shaped(b))
        if len(a.shape) == len(b.shape) == 2 and size > 1 < rest and work <= blas.SINGLE:
            self.lines.append(f"{left}.dot({right}, {out})")
            return
        if len(a.shape) > 2 and len(b.shape) == 2 and is_row_major(a):
            left = self.reshape(a, (-1, a.shape[-1]))
            out = self.reshape(value, (-1, b.shape[1]))
        is_host = self.array_type is numpy.ndarray
        if work > blas.SINGLE and is_host and is_faster_transposed(a, b):
            turned = self.scratch(b.shape[1], a.shape[0], value.dtype)
            self.lines.append(f"call({work}, matmul, {left}, {right}, {self.share(turned.T, 'a')})")
            self.lines.append(self.transposition(turned, value))
        elif work > blas.SINGLE:
            self.lines.append(f"call({work}, matmul, {left}, {right}, {out})")
        else:
            self.lines.append(f"matmul({left}, {right}, {out})")

    def scratch(self, rows: int, columns: int, dtype: Any) -> Any:
        """Return a matrix that holds the transpose of one result after the other."""
        key = rows, columns, dtype
        if key not in self.scratches:
            self.scratches[key] = empty_lines((rows, columns), dtype)
        return self.scratches[key]

    def transposition(self, matrix: Any, value: Value) -> str:
        """Return the text that copies the transpose of a matrix to a value."""
        return f"copyto({self.names[value]}, {self.share(matrix.T, 'a')})"

    def reshape(self, value: Value, shape: tuple[int, ...]) -> str:
        """Return the text of a row-major value with another shape."""
        array = self.arrays.get(value)
        if array is not None:
            return self.share(array.reshape(shape), "a")
        return f"{self.array_text(value)}.reshape({shape})"

    def write_change(self, node: Node) -> None:
        """Write a PUT or a MUTATE: on a copy of the base, or on the base itself if it is dead."""
        base, value = node.args[0], node.outputs[0]
        assert value is not None
        if node in self.layout.overwrites:
            if base in self.arrays:
                self.set_array(value, self.arrays[base])
            else:
                self.names[value] = self.names[base]
                self.holders[value] = self.holders.pop(base, [])
        else:
            source = self.names[base]
            self.lines.append(f"copyto({self.target(value)}, {source})")
        if node.kind is Kind.MUTATE:
            self.names[base], name = self.names[value], self.names[base]
            self.lines.append(self.call(node))
            self.names[base] = name
            return
        part = self.write_part(node, value)
        self.lines.append(f"copyto({part}, {self.expression(node.args[1])}, 'unsafe')")

    def write_part(self, node: Node, value: Value) -> str:
        """Return the name of the part of a value that a PUT writes."""
        array = self.arrays.get(value)
        if array is not None and next(values_in([view[1:] for view in node.views]), None) is None:
            for function, args, kwargs in node.views:
                array = self.translate(function)(array, *args, **kwargs)
            return self.share(as_writable(array), "a")
        name = self.names[value]
        for function, args, kwargs in node.views:
            text = f"{self.share(function, 'f')}({name}, {self.arguments(args, kwargs)})"
            self.lines.append(f"t = {text}")
            name = "t"
        return f"{self.share(as_writable)}({name})" if node.views else name

    # -- the end ----------------------------------------------------------------------------

    def write_release(self, at: int) -> None:
        """Write the release of large arrays that no later step reads."""
        for value in self.dying.get(at, ()):
            names = self.holders.get(value)
            if names and nbytes(value) >= _LARGE:
                self.lines.append(" = ".join(names) + " = None")

    @property
    def dying(self) -> dict[int, list[Value]]:
        """Roots by the last step that reads them."""
        if not hasattr(self, "_dying"):
            self._dying: dict[int, list[Value]] = {}
            for value, at in self.layout.last.items():
                self._dying.setdefault(at, []).append(value)
        return self._dying

    def write_results(self) -> None:
        """Write the copies to the inputs that the program writes, and the results."""
        results: list[str] = []
        for value in self.program.outputs:
            place = self.layout.places[self.root(value)]
            text = self.array_text(value)
            if place.where is not Where.FRESH or self.root(value) in self.arrays:
                self.lines.append(f"o{len(results)} = {text}.copy('K')")
                text = f"o{len(results)}"
            results.append(text)
        copies = []
        for number, value in self.program.writes:
            if number not in self.layout.written and value is not self.program.inputs[number]:
                text, place = self.array_text(value), self.layout.places[self.root(value)]
                if place.where is Where.INPUT and place.number != number:
                    self.lines.append(f"w{number} = {text}.copy()")
                    text = f"w{number}"
                copies.append(f"copyto(i{number}, {text}, 'unsafe')")
        self.lines += [*copies, f"return [{', '.join(results)}]"]

    def root(self, value: Value) -> Value:
        """Return the value in whose memory ``value`` lies."""
        return self.layout.roots.get(value, value)


class _Shaped:
    """Shape of a value, as an array has it."""

    def __init__(self, value: Value) -> None:
        self.shape, self.ndim, self.size = value.shape, len(value.shape), math.prod(value.shape)


def as_writable(array: Any) -> Any:
    """Return the array, or a writable view of it if it is read-only."""
    if not getattr(array.flags, "writeable", True):  # CuPy's arrays have no such flag
        array = array.view()
        array.flags.writeable = True
    return array
