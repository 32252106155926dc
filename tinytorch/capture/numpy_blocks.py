"""Groups for the NumPy engine: functions that compute a group block by block.

A block has as many elements as stay in the processor's cache through all operations. Values that
only the group reads are in registers: small arrays that every block uses again.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from .graph import Kind, Node, Value
from .grouping import Access, LoopGroup, LoopOp, is_row_major
from .simplify import COPIES

if TYPE_CHECKING:
    from .numpy_engine import ProgramWriter

#: Elements of a block: smaller ones need more calls, and several larger ones do not fit a cache.
#: Blocks of whole rows have half as many, since their calls take longer.
BLOCK = 131072
#: From this many elements on a second thread saves time.
_THREADED = 1 << 19
#: Functions other than ufuncs that compute each element from the same element of each argument.
POINTWISE = {
    f"xp.{name}": name
    for name in (
        "where", "masked", "between", "erf", "erfc", "erfcx", "erfinv", "ndtr", "digamma",
        "trigamma", "log1p", "expm1", "cosh", "sinh", "tan", "arctanh", "fmod", "remainder",
        "floor_divide", "logaddexp", "clip",
    )
}  # fmt: skip


def is_ufunc(node: Node) -> bool:
    """Whether a node calls a ufunc element by element, with one result."""
    function = node.function
    return (
        node.kind is Kind.CALL and isinstance(function, numpy.ufunc)
        and function.signature is None and function.nout == 1 and len(node.args) == function.nin
        and node.kwargs.keys() <= {"dtype"}
    )  # fmt: skip


#: Reductions along the last dimension that are computed row by row, by the names of their nodes.
REDUCTIONS = {
    f"{space}.{name}": name
    for space in ("xp", "ndarray", "numpy")
    for name in ("sum", "mean", "max", "min", "sum_along", "highest", "sum_of_products", "total")
}
#: Positional parameters of reductions after the array; of those that are not named here `_USUAL`.
_PARAMETERS = {"max": ("axis", "out", "keepdims"), "min": ("axis", "out", "keepdims")}
_USUAL = ("axis", "dtype", "out", "keepdims")


def is_operand(arg: Any) -> bool:
    """Whether an argument is a value or one number."""
    return not isinstance(arg, numpy.ndarray) or not arg.ndim


def is_copy(node: Node) -> bool:
    """Whether a node copies or casts its first argument."""
    return (
        node.kind is Kind.CALL and node.name.rpartition(".")[2] in COPIES and bool(node.args)
        and (isinstance(node.args[0], Value) or node.name == "fit")
    )  # fmt: skip


def lower(node: Node) -> list[LoopOp] | None:
    """Return the operation of a node that blocks can compute, or None."""
    if node.kind is not Kind.CALL or len(node.outputs) != 1 or node.outputs[0] is None:
        return None
    out = node.outputs[0]
    if not all(map(is_operand, node.args)):
        return None
    if is_ufunc(node):
        return [LoopOp(node.function.__name__, [*node.args], out, node)]  # type: ignore[union-attr]
    if node.name in POINTWISE and not node.kwargs:
        return [LoopOp(POINTWISE[node.name], [*node.args], out, node)]
    if is_copy(node):
        return [LoopOp("cast", [node.args[0]], out, node)]
    form = reduction_form(node, out) if node.name in REDUCTIONS else None
    if form is None:
        return None
    name = REDUCTIONS[node.name]
    count = 2 if name == "sum_of_products" else 1
    return [LoopOp(name, [*node.args[:count]], out, node, form)]


def reduction_form(node: Node, out: Value) -> Access | None:
    """Return the form of the result of a reduction of rows, columns or all; None of another."""
    name, value = REDUCTIONS[node.name], node.args[0]
    if not isinstance(value, Value) or value.dtype.char not in "fd" or value.dtype != out.dtype:
        return None
    if not is_row_major(value) or len(value.shape) < 1 or value.shape[-1] < 2:
        return None
    rows = math.prod(value.shape[:-1])
    if name == "sum_of_products":
        same = isinstance(node.args[1], Value) and node.args[1].shape == value.shape
        return Access.ROW if same and rows > 1 else None
    given = dict(zip(_PARAMETERS.get(name, _USUAL), node.args[1:], strict=False)) | node.kwargs
    axis, _ = given.pop("axis", None), given.pop("keepdims", None)
    if any(item is not None for item in given.values()):
        return None
    last = len(value.shape) - 1
    if axis is None:
        axes = [*range(last + 1)]
    else:
        axes = sorted(i % (last + 1) for i in (axis if isinstance(axis, tuple) else (axis,)))
    if axes == [last] and rows > 1:
        return Access.ROW
    if name in ("sum", "total") and axes == [*range(last + 1)]:
        return Access.SCALAR
    return Access.COLUMN if name == "sum" and axes == [*range(last)] and rows > 1 else None


def add_parts(parts: list[Any], index: int, out: Any) -> None:
    """Write the sum of the results of several threads."""
    total = parts[0][index]
    for part in parts[1:]:
        total = total + part[index]
    out[...] = total.reshape(out.shape)


def as_numbers(node: Node, args: list[Any]) -> list[Any]:
    """Return the arguments of a ufunc with Python scalars as 0-d arrays, which NumPy reads faster.

    That is possible where all arrays have one floating-point dtype, which the scalars take on.
    """
    dtypes = {arg.dtype for arg in node.args if isinstance(arg, Value)}
    if len(dtypes) != 1 or node.kwargs:
        return args
    (dtype,) = dtypes
    if dtype.kind != "f":
        return args
    return [numpy.array(arg, dtype) if arg.__class__ in (int, float) else arg for arg in args]


def lay_flat(array: Any, key: Any, order: list[int], shape: tuple[int, ...]) -> Any:
    """Return the elements of an array in the order of memory, in another shape.

    Args:
        array: Array that has no gaps where ``key`` selects.
        key: For each dimension 0 or all.
        order: The dimensions that are left, in the order of memory.
        shape: The shape.
    """
    return array[(*key, ...)].transpose(order).reshape(shape)


def write_group(writer: ProgramWriter, group: LoopGroup) -> None:
    """Write the function of a group, and the line that calls it."""
    _GroupWriter(writer, group).write()


class _GroupWriter:
    """Writer of the function of one group."""

    def __init__(self, writer: ProgramWriter, group: LoopGroup) -> None:
        self.writer, self.group = writer, group
        self.is_flat = group.is_flat
        self.count = group.size if self.is_flat else group.rows
        block = BLOCK if self.is_flat else BLOCK // 2 // group.columns
        self.block = max(1, min(self.count, block))
        self.name = f"g{len(writer.functions)}"
        self.text: dict[Any, str] = {}  # of a value, or a load, in the loop
        self.parameters: dict[str, str] = {}  # what is passed, by the parameter's name
        self.slices: list[str] = []
        self.body: list[str] = []
        self.registers: dict[str, Any] = {}  # shape and dtype of each
        self.free: dict[Any, list[str]] = {}
        self.held: dict[Value, tuple[Any, str]] = {}
        self.last: dict[Value, int] = {}
        self.sums: dict[Value, str] = {}  # sums over all rows

    def write(self) -> None:
        """Write the function and its call."""
        group = self.group
        for at, op in enumerate(group.ops):
            self.last.update((arg, at) for arg in op.args if isinstance(arg, Value))
        for value, form in group.loads:
            self.add_load(value, form)
        for value in group.stores:
            self.writer.target(value)
            if value not in group.final:
                self.text[value] = self.add_array(value, group.made[value])
        for at, op in enumerate(group.ops):
            self.write_op(op, at)
        self.writer.functions.append(self.function())
        parameters = ", ".join(self.parameters.values())
        blocks = -(-self.count // self.block)
        call = f"[{self.name}(0, {blocks}, {parameters})]"
        if group.size >= _THREADED and blocks > 1:
            call = f"in_parts(lambda lo, hi: {self.name}(lo, hi, {parameters}), {blocks})"
        self.writer.lines.append(f"t = {call}" if self.sums else call.strip("[]"))
        for index, value in enumerate(self.sums):
            self.writer.lines.append(f"add_parts(t, {index}, {self.writer.names[value]})")

    def function(self) -> str:
        """Return the text of the function."""
        step = f"range(lo * {self.block}, min(hi * {self.block}, {self.count}), {self.block})"
        lines = [f"def {self.name}(lo, hi, {', '.join(self.parameters)}):"]
        indent = "    "
        if not self.is_flat:
            size = self.block * self.group.columns
            lines.append(f"{indent}with row_after_row({self.group.columns}, {size}):")
            indent *= 2
        for name, (shape, dtype) in self.registers.items():
            lines.append(f"{indent}{name} = empty_lines({shape}, {self.writer.share(dtype)})")
        for value, name in self.sums.items():
            shape = () if self.group.made[value] is Access.SCALAR else (self.group.columns,)
            lines.append(f"{indent}{name} = zeros({shape}, {self.writer.share(value.dtype)})")
        lines += [f"{indent}for s in {step}:", f"{indent}    e = s + {self.block}"]
        if self.registers and self.count % self.block:
            lines.append(f"{indent}    if e > {self.count}:")
            cuts = (f"{name} = {name}[:{self.count} - s]" for name in self.registers)
            lines += [f"{indent}        {cut}" for cut in cuts]
        lines += [f"{indent}    {line}" for line in (*self.slices, *self.body)]
        if self.sums:
            lines.append(f"    return {', '.join(self.sums.values())},")
        return "\n".join(lines)

    # -- arrays -----------------------------------------------------------------------------

    def add_load(self, value: Value, form: Access) -> None:
        """Pass an array to the function and note its text in the loop."""
        self.text[value, form] = self.add_array(value, form)

    def add_array(self, value: Value, form: Access) -> str:
        """Pass the memory of a value; return the name of its part in a block."""
        name = f"p{len(self.parameters)}"
        self.parameters[name] = self.memory_text(value, form)
        if form in (Access.SCALAR, Access.COLUMN):
            return name
        part = f"x{name[1:]}"
        self.slices.append(f"{part} = {name}[s:e]")
        return part

    def memory_text(self, value: Value, form: Access) -> str:
        """Return the text of a value's memory in the shape that the loop needs."""
        group, shape = (
            self.group,
            {Access.SCALAR: (), Access.COLUMN: (self.group.columns,)}.get(form),
        )
        if form is Access.ELEMENT:
            shape = (group.size,) if self.is_flat else (group.rows, group.columns)
        elif form is Access.ROW:
            shape = (group.rows, 1)
        assert shape is not None
        if is_row_major(value) and math.prod(value.shape) == math.prod(shape):
            return self.writer.reshape(value, shape)
        key = tuple(
            slice(None) if step and size > 1 else 0
            for size, step in zip(value.shape, value.strides, strict=True)
        )  # without repeated elements
        steps = [step for step, item in zip(value.strides, key, strict=True) if item != 0]
        order = sorted(range(len(steps)), key=lambda i: -steps[i])
        array = self.writer.arrays.get(value)
        if array is not None:
            return self.writer.share(lay_flat(array, key, order, shape), "a")
        return (
            f"lay_flat({self.writer.array_text(value)}, {self.writer.share(key)}, {order}, {shape})"
        )

    # -- operations -------------------------------------------------------------------------

    def write_op(self, op: LoopOp, at: int) -> None:
        """Write the line of an operation."""
        args = [self.argument(arg, form) for arg, form in zip(op.args, op.forms, strict=True)]
        if is_ufunc(op.node) or op.name == "cast":
            out = self.text.get(op.out) or self.take_register(op, at)
            self.write_direct(op, out)
        elif op.out in self.group.final:
            name = self.sums[op.out] = f"c{len(self.sums)}"
            axis = "" if op.reduces is Access.SCALAR else ", axis=0"
            self.body.append(
                f"{name} += {self.writer.share(op.node.function, 'f')}({args[0]}{axis})"
            )
        else:
            text = self.call_text(op, args)
            if op.out in self.text:
                self.body.append(f"{self.text[op.out]}[...] = {text}")
            else:
                self.text[op.out] = f"t{at}"
                self.body.append(f"t{at} = {text}")
        for arg in op.args:
            if isinstance(arg, Value) and self.last[arg] == at and arg in self.held:
                key, name = self.held.pop(arg)
                self.free.setdefault(key, []).append(name)

    def argument(self, arg: Any, form: Access | None) -> str:
        """Return the text of an argument in the loop."""
        if not isinstance(arg, Value):
            return self.writer.expression(arg)
        return self.text[arg] if arg in self.group.made else self.text[arg, form]

    def write_direct(self, op: LoopOp, out: str) -> None:
        """Write a call that computes into a register or a part of a result."""
        args = as_numbers(op.node, op.args)
        texts = [self.argument(arg, form) for arg, form in zip(args, op.forms, strict=True)]
        if op.name == "cast":
            self.body.append(f"copyto({out}, {texts[0]}, 'unsafe')")
            return
        option = ""
        if op.node.kwargs:
            option = f", dtype={self.writer.share(op.node.kwargs['dtype'])}"
        function = self.writer.share(op.node.function, "f")
        self.body.append(f"{function}({', '.join(texts)}, {out}{option})")

    def call_text(self, op: LoopOp, args: list[str]) -> str:
        """Return the text of a call that returns a new array."""
        function = self.writer.share(op.node.function, "f")
        if op.reduces is None:
            return f"{function}({', '.join(args)})"
        if op.name == "sum_of_products":
            return f"{function}({', '.join(args)})"
        if op.name in ("sum_along", "highest"):
            return f"{function}({args[0]}, -1)"
        return f"{function}({args[0]}, axis=-1, keepdims=True)"

    def take_register(self, op: LoopOp, at: int) -> str:
        """Return a register for the result of an operation: that of a dying argument, if any."""
        shape = (self.block, 1) if op.form is Access.ROW else (self.block, self.group.columns)
        key = (shape[:1] if self.is_flat else shape, op.out.dtype)
        for arg in op.args:
            if isinstance(arg, Value) and self.last[arg] == at and arg in self.held:
                if self.held[arg][0] == key:
                    _, name = self.held.pop(arg)
                    break
        else:
            free = self.free.setdefault(key, [])
            name = free.pop() if free else f"r{len(self.registers)}"
            self.registers.setdefault(name, key)
        self.held[op.out] = key, name
        self.text[op.out] = name
        return name
