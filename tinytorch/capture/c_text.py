"""C text of a group: a function over rows × columns, with sizes and addresses as arguments.

The text has no size, no address and no name of a value, so that equal groups of a program share
one function. An operation is computed in the dtype in which NumPy computes it, and rounded as
there; only sums are added in another order. An operation that has no text here stays with NumPy.

A group's operations are split into levels: those of level 0 depend on no reduction of the group,
those of level k on the reductions of level k - 1 along the row. Each level is one loop over the
columns of a row. A value of a former level is computed again if that is cheap, and otherwise kept
for the length of the row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy

from .graph import Kind, Node, Value
from .grouping import Access, LoopGroup, LoopOp, is_row_major, strides_in
from .numpy_blocks import REDUCTIONS, is_copy, is_operand, is_ufunc, reduction_form

#: C's types by NumPy's letters.
TYPES = {
    "f": "f32", "d": "f64", "?": "b8", "B": "u8", "b": "i8", "h": "i16", "i": "i32", "l": "i64",
    "q": "i64", "e": "f32", "E": "f32",
}  # fmt: skip
#: Types in memory of dtypes that are computed in float32 and rounded after each operation.
_HALVES = {"e": "h16", "E": "g16"}
_INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "less": "<", "less_equal": "<=",
    "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=", "bitwise_and": "&",
    "bitwise_or": "|", "bitwise_xor": "^",
}  # fmt: skip
#: Functions of the prelude, with the letters of the dtypes that they are for.
_FUNCTIONS = {
    "maximum": "fdbhilq", "minimum": "fdbhilq", "absolute": "fdeEbhilq", "sign": "fdebhilq",
    "sqrt": "fdeE", "floor": "fdeE", "ceil": "fdeE", "trunc": "fdeE", "rint": "fde",
    "copysign": "fde", "exp": "fdeE", "log": "fdeE", "tanh": "fdeE", "erf": "fd", "ndtr": "f",
}  # fmt: skip
_LOGICAL = {"logical_and": "({0} != 0) & ({1} != 0)", "logical_or": "({0} != 0) | ({1} != 0)",
            "logical_xor": "({0} != 0) ^ ({1} != 0)", "logical_not": "{0} == 0"}  # fmt: skip
_TESTS = {
    "isnan": "{0} != {0}",
    "isinf": "fabs({0}) == INFINITY",
    "isfinite": "fabs({0}) < INFINITY",
}
_REALS = {"negative": "-{0}", "square": "{0} * {0}", "positive": "{0}", "reciprocal": "1 / {0}"}
_FLOATS, _ALL_FLOATS = "fd", "fdeE"
_SELECT = {
    "xp.where": "where",
    "numpy.where": "where",
    "xp.masked": "masked",
    "xp.between": "between",
}
_SPECIAL = {"xp.erf": "erf", "xp.ndtr": "ndtr"}
_SUMS = ("sum", "sum_along", "total", "mean", "sum_of_products")
#: Strides of fewer elements are part of the text: compilers vectorize such loads.
_FEW_STEPS = 5
#: Parameters of each function.
PARAMETERS = "char **p, const i64 *n, const i64 *slots, const char *tuple, i64 lo, i64 hi"
#: Cost of an operation from which it is not computed again in a later loop.
_DEAR = {"exp": 8, "log": 8, "tanh": 12, "erf": 12, "ndtr": 12, "divide": 4, "sqrt": 4}
_CHEAP = 6


# -- from nodes to operations ------------------------------------------------------------------


def lower(node: Node) -> list[LoopOp] | None:
    """Return the operations of a node that have C text, or None."""
    if node.kind not in (Kind.CALL, Kind.MUTATE) or len(node.outputs) != 1:
        return None
    out = node.outputs[0]
    if out is None or node.kind is Kind.MUTATE and node.name != "xp.add_scaled":
        return None
    if not all(letter(v.dtype) in TYPES for v in (out, *values_of(node.args))):
        return None
    if not all(map(is_operand, node.args)):
        return None
    if is_ufunc(node):
        return _lower_ufunc(node, out)
    if node.name in _SELECT and not node.kwargs:
        return _lower_selection(node, out)
    if node.name in _SPECIAL and not node.kwargs:
        name, (value,) = _SPECIAL[node.name], node.args
        is_known = isinstance(value, Value) and value.dtype == out.dtype
        return (
            [LoopOp(name, [value], out, node)] if is_known and is_typed(name, out.dtype) else None
        )
    if is_copy(node):
        return _lower_cast(node, out)
    if node.name == "xp.add_scaled":
        return _lower_scaled_sum(node, out)
    if node.name == "op._softmax":
        return _lower_softmax(node, out)
    return _lower_reduction(node, out)


def values_of(args: Any) -> list[Value]:
    """Return the values among the arguments of a node."""
    return [arg for arg in args if isinstance(arg, Value)]


def letter(dtype: Any) -> str:
    """Return NumPy's letter of a dtype; of another library's than ml_dtypes' bfloat16 none."""
    if dtype.num < 256:
        return str(dtype.char)
    return "E" if dtype.name == "bfloat16" else "-"


def read_text(text: str, dtype: Any) -> str:
    """Return the text of a value in memory as the type that is computed."""
    half = _HALVES.get(letter(dtype))
    return f"from_{half}({text})" if half else text


def write_element(place: str, name: str, dtype: Any) -> str:
    """Return the line that stores a computed value in memory."""
    half = _HALVES.get(letter(dtype))
    return f"{place} = to_{half}({name});" if half else f"{place} = {name};"


def memory_type(dtype: Any) -> str:
    """Return C's type of an element in memory."""
    return _HALVES.get(letter(dtype)) or TYPES[letter(dtype)]


def is_typed(name: str, dtype: Any) -> bool:
    """Whether the prelude has the function for a dtype."""
    return letter(dtype) in _FUNCTIONS.get(name, "")


def _lower_ufunc(node: Node, out: Value) -> list[LoopOp] | None:
    function: Any = node.function
    name, dtypes = function.__name__, loop_dtypes(node)
    if dtypes is None or not all(letter(dtype) in TYPES for dtype in dtypes):
        return None
    computed = dtypes[0]
    is_known = (
        name in _LOGICAL
        or name in _TESTS and letter(computed) in _ALL_FLOATS
        or name in _REALS and (letter(computed) in _ALL_FLOATS or name != "reciprocal")
        and letter(computed) != "?"
        or name == "invert"
        or name == "divide" and letter(computed) in _ALL_FLOATS
        or name in _INFIX and name != "divide" and (
            letter(computed) not in _ALL_FLOATS or not name.startswith("bitwise")
        )
        or is_typed(name, computed)
    )  # fmt: skip
    if name in ("add", "multiply", "subtract", "maximum", "minimum") and letter(computed) == "?":
        return None
    return [LoopOp(name, [*node.args], out, node)] if is_known else None


def loop_dtypes(node: Node) -> tuple[Any, ...] | None:
    """Return the dtypes in which NumPy computes a ufunc: of the arguments, then of the result."""
    function: Any = node.function
    given = tuple(
        arg.dtype if isinstance(arg, (Value, numpy.ndarray, numpy.generic)) else arg.__class__
        for arg in node.args
    )
    option: dict[str, Any] = {}
    if node.kwargs:
        option["signature"] = (*[None] * function.nin, numpy.dtype(node.kwargs["dtype"]))
    try:
        return tuple(function.resolve_dtypes((*given, None), **option))
    except TypeError:
        return None


def _lower_selection(node: Node, out: Value) -> list[LoopOp] | None:
    name, args = _SELECT[node.name], [*node.args]
    if name == "where":
        condition = args[0] if len(args) == 3 else None
        others = args[1:]
    elif name == "masked":
        condition, others = args[1], args[:1]
    else:
        condition, others = None, args
        if letter(out.dtype) not in _FLOATS:
            return None
    is_mask = isinstance(condition, Value) and letter(condition.dtype) == "?"
    if not is_mask and name != "between":
        return None
    values = values_of(others)
    if not values or any(value.dtype != out.dtype for value in values):
        return None
    return [LoopOp(name, args, out, node)]


def _lower_cast(node: Node, out: Value) -> list[LoopOp] | None:
    source = node.args[0]
    if not isinstance(source, Value):
        is_number = isinstance(source, (bool, int, float))
        return [LoopOp("cast", [source], out, node)] if is_number else None
    pair = letter(source.dtype), letter(out.dtype)
    if pair[0] in _ALL_FLOATS and pair[1] not in (*_ALL_FLOATS, "?"):
        return None  # C leaves open what NaN and large numbers become
    if pair[1] in _HALVES and pair[0] not in ("f", "?", pair[1]):
        return None  # which would be rounded twice
    return [LoopOp("cast", [source], out, node)]


def _lower_reduction(node: Node, out: Value) -> list[LoopOp] | None:
    name = REDUCTIONS.get(node.name, "")
    if name in ("max", "min", "highest"):
        form = reduction_form(node, out)
        name = "min" if name == "min" else "max"
        return None if form is not Access.ROW else [LoopOp(name, [node.args[0]], out, node, form)]
    if name not in _SUMS:
        return None
    form, value = reduction_form(node, out), node.args[0]
    if form is None:
        return None
    if name == "sum_of_products":
        product = new_value(value, node)
        return [
            LoopOp("multiply", [*node.args], product, node, is_part=True),
            LoopOp("sum", [product], out, node, form, is_part=True),
        ]  # fmt: skip
    if name == "mean":
        total = new_value(out, node)
        count = float(math.prod(value.shape) // max(1, math.prod(out.shape)))
        return [
            LoopOp("sum", [value], total, node, form, is_part=True),
            LoopOp("divide", [total, count], out, node, is_part=True),
        ]
    return [LoopOp("sum", [value], out, node, form)]


def _lower_scaled_sum(node: Node, out: Value) -> list[LoopOp] | None:
    """``target * keep + array * scale``."""
    if node.kwargs or letter(out.dtype) not in _FLOATS or node.args[1].dtype != out.dtype:
        return None
    target, array, scale, keep = (*node.args, 1.0)[:4]
    ops = []
    for value, factor in ((target, keep), (array, scale)):
        if isinstance(factor, Value) or factor != 1.0:
            ops.append(
                LoopOp("multiply", [value, factor], new_value(out, node), node, is_part=True)
            )
    parts = [op.out for op in ops]
    if isinstance(scale, float) and scale == 1.0:
        parts.append(array)
    if isinstance(keep, float) and keep == 1.0:
        parts.insert(0, target)
    return [*ops, LoopOp("add", parts, out, node, is_part=True)]


def _lower_softmax(node: Node, out: Value) -> list[LoopOp] | None:
    """Softmax along the last dimension of several rows."""
    value, dim = node.args
    last = len(value.shape) - 1
    if letter(out.dtype) not in _FLOATS or value.dtype != out.dtype or dim not in (-1, last):
        return None
    if not is_row_major(value) or not is_row_major(out) or math.prod(value.shape[:-1]) < 2:
        return None
    if value.shape[-1] < 2:
        return None
    top, total = (new_row(out, node) for _ in range(2))
    shifted, power = (new_value(out, node) for _ in range(2))
    parts = (
        ("max", [value], top, Access.ROW), ("subtract", [value, top], shifted, None),
        ("exp", [shifted], power, None), ("sum", [power], total, Access.ROW),
        ("divide", [power, total], out, None),
    )  # fmt: skip
    return [LoopOp(name, args, made, node, form, True) for name, args, made, form in parts]


def new_value(like: Value, node: Node) -> Value:
    """Return another value with the shape, dtype and layout of a value."""
    made = Value.__new__(Value)
    made.shape, made.dtype, made.strides = like.shape, like.dtype, like.strides
    made.node, made.index = node, 0
    return made


def new_row(like: Value, node: Node) -> Value:
    """Return a value with one number for each row of a row-major value."""
    made = new_value(like, node)
    made.shape = (*like.shape[:-1], 1)
    width = like.shape[-1]
    made.strides = (*(step // width for step in like.strides[:-1]), like.dtype.itemsize)
    return made


# -- text --------------------------------------------------------------------------------------


@dataclass
class Text:
    """C text of a group.

    Attributes:
        body: The function, whose name is ``NAME``.
        parameters: What each address is: a value with its form, or an array of offsets.
        sizes: The sizes that are arguments.
        is_flat: Whether the loop is over all elements, not over rows.
        sums: Whether results depend on all rows, so that one call must compute them.
    """

    body: str = ""
    parameters: list[tuple[Any, Any]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    is_flat: bool = False
    sums: bool = False


def levels(group: LoopGroup) -> dict[Value, int]:
    """Return the level of each value that a group makes; of a row's value, that of its readers."""
    found: dict[Value, int] = {}
    for op in group.ops:
        inner = [found[arg] for arg in op.args if isinstance(arg, Value) and arg in group.made]
        level = max(inner, default=0)
        found[op.out] = level + 1 if op.reduces is Access.ROW else level
    return found


def sort_by_level(group: LoopGroup) -> None:
    """Put the operations of a group in the order in which its loops compute them."""
    found = levels(group)
    group.ops.sort(key=lambda op: found[op.out] - (op.reduces is Access.ROW))


def write_text(group: LoopGroup) -> Text:
    """Return the C text of a group."""
    return TextWriter(group).write()


class TextWriter:
    """Writer of the text of a group.

    Attributes:
        cheap: Most cost of a value of a former level that is computed again.
        names: Text of each value that is known in the present scope, and of each load.
    """

    cheap: float = _CHEAP

    def __init__(self, group: LoopGroup) -> None:
        self.group, self.is_flat = group, group.is_flat
        self.text = Text(is_flat=self.is_flat, sums=bool(group.final))
        self.level = levels(group)
        self.by_out = {op.out: op for op in group.ops}
        self.head: list[str] = []  # once
        self.row: list[str] = []  # at the beginning of each row
        self.tail: list[str] = []  # at the end
        self.number = {op.out: i for i, op in enumerate(group.ops)}
        self.loads: dict[tuple[Value, Access], str] = {}
        self.stores: dict[Value, str] = {}
        self.spills: dict[Value, str] = {}
        self.is_loaded: set[str] = set()

    def write(self) -> Text:
        """Return the text."""
        group = self.group
        self.add_size(group.columns)
        for value, form in group.loads:
            self.add_load(value, form)
        for value in group.stores:
            self.add_store(value)
        for op in group.ops:
            if op.out in group.final:
                self.add_total(op)
        last = max(self.level.values(), default=0)
        for _ in range(2):  # the first pass finds which values later loops need
            loops = [self.write_level(level) for level in range(last + 1)]
        self.text.body = "\n".join(self.assemble([line for loop in loops for line in loop]))
        return self.text

    def assemble(self, lines: list[str]) -> list[str]:
        """Return the lines of the function whose levels have these lines."""
        for value, name in self.spills.items():
            kind = TYPES[letter(value.dtype)]
            self.head.append(f"{kind} *{name} = malloc((n[0] + 1) * sizeof({kind}));")
            self.tail.append(f"free({name});")
        if self.is_flat:
            loop = self.flat_loop(lines)
        else:
            loop = ["for (i64 r = lo; r < hi; r++) {", *self.row, *lines, "}"]
        declaration = f"void NAME({PARAMETERS}) {{"
        start = ["bind(p, slots, tuple);", "const i64 C = n[0]; (void)C;"]
        return [declaration, *start, *self.head, *loop, *self.tail, "}"]

    def flat_loop(self, lines: list[str]) -> list[str]:
        """Return the loop over all elements, in pieces if it has sums."""
        if not self.group.final:
            return lines
        starts = [line for line in lines if line.startswith("/*start*/")]
        ends = [line for line in lines if line.startswith("/*end*/")]
        inner = [line for line in lines if not line.startswith(("/*start*/", "/*end*/"))]
        piece = [
            "const i64 end = hi;", "for (i64 q = lo; q < end; q += 4096) {",
            "const i64 lo = q, hi = q + 4096 < end ? q + 4096 : end;", *starts, *inner, *ends, "}",
        ]  # fmt: skip
        return piece

    # -- arguments --------------------------------------------------------------------------

    def add_parameter(self, thing: Any, what: Any) -> int:
        """Append an address to the arguments and return its number."""
        self.text.parameters.append((thing, what))
        return len(self.text.parameters) - 1

    def add_size(self, size: int) -> int:
        """Append a size to the arguments and return its number."""
        self.text.sizes.append(size)
        return len(self.text.sizes) - 1

    def add_load(self, value: Value, form: Access) -> None:
        """Declare the memory that a value is read from."""
        kind, k = memory_type(value.dtype), self.add_parameter(value, form)
        number = TYPES[letter(value.dtype)]
        self.head.append(f"const {kind} *p{k} = (const {kind} *)p[{k}];")
        if form is Access.SCALAR:
            self.head.append(f"const {number} s{k} = {read_text(f'*p{k}', value.dtype)};")
            text = f"s{k}"
        elif form is Access.COLUMN or self.is_flat:
            text = read_text(f"p{k}[i]", value.dtype)
        elif form is Access.ELEMENT:
            self.row.append(f"const {kind} *v{k} = p{k} + r * C;")
            text = read_text(f"v{k}[i]", value.dtype)
        elif form is Access.ROW:
            self.row.append(f"const {number} s{k} = {read_text(f'p{k}[r]', value.dtype)};")
            text = f"s{k}"
        else:
            text = read_text(self.add_strided(value, k, kind), value.dtype)
        self.loads[value, form] = text

    def add_strided(self, value: Value, k: int, kind: str) -> str:
        """Declare a load by strides: one stride of rows, or a table of their offsets."""
        space = self.group.loads[value, Access.STRIDED]
        steps = [step // value.dtype.itemsize for step in strides_in(value, space.dims, space)]
        offsets = row_offsets(space.shape[:-1], steps[:-1])
        gaps = numpy.diff(offsets)
        if not gaps.size or (gaps == gaps[0]).all():
            j = self.add_size(int(gaps[0]) if gaps.size else 0)
            self.row.append(f"const {kind} *v{k} = p{k} + r * n[{j}];")
        else:
            j = self.add_parameter(offsets, "offsets")
            self.head.append(f"const i64 *o{k} = (const i64 *)p[{j}];")
            self.row.append(f"const {kind} *v{k} = p{k} + o{k}[r];")
        if steps[-1] in (0, 1):
            return f"v{k}[i]" if steps[-1] else f"v{k}[0]"
        if abs(steps[-1]) < _FEW_STEPS:
            return f"v{k}[i * {steps[-1]}]"
        return f"v{k}[i * n[{self.add_size(steps[-1])}]]"

    def add_store(self, value: Value) -> None:
        """Declare the memory that a result is written to."""
        kind, form = memory_type(value.dtype), self.group.made[value]
        k = self.add_parameter(value, "store")
        self.head.append(f"{kind} *p{k} = ({kind} *)p[{k}];")
        if value in self.group.final or self.is_flat:
            self.stores[value] = f"p{k}[i]"
        elif form is Access.ROW:
            self.stores[value] = f"p{k}[r]"
        else:
            self.row.append(f"{kind} *v{k} = p{k} + r * C;")
            self.stores[value] = f"v{k}[i]"

    def add_total(self, op: LoopOp) -> None:
        """Declare the sum of all rows or of all elements, in float64, and store it at the end."""
        kind, j = TYPES[letter(op.out.dtype)], self.number[op.out]
        store = self.stores.get(op.out, "").partition("[")[0]
        if op.reduces is Access.SCALAR:
            self.head.append(f"f64 c{j} = 0;")
            self.tail.append(f"*{store} = ({kind})c{j};")
            return
        self.head += [
            f"f64 *c{j} = calloc(C, sizeof(f64));", f"{kind} *d{j} = calloc(C, sizeof({kind}));",
        ]  # fmt: skip
        move = f"{{ c{j}[i] += d{j}[i]; d{j}[i] = 0; }}"
        self.row.append(f"if ((r - lo) % 64 == 0) for (i64 i = 0; i < C; i++) {move}")
        self.tail += [
            f"for (i64 i = 0; i < C; i++) {store}[i] = ({kind})(c{j}[i] + d{j}[i]);",
            f"free(c{j}); free(d{j});",
        ]  # fmt: skip

    # -- loops ------------------------------------------------------------------------------

    def write_level(self, level: int) -> list[str]:
        """Return the lines of the row's operations and the loop of a level."""
        group = self.group
        rows = [
            op for op in group.ops
            if op.form is Access.ROW and op.reduces is None and self.level[op.out] == level
        ]  # fmt: skip
        columns = [
            op for op in group.ops
            if op.form is not Access.ROW and self.level[op.out] == level
            or op.reduces is Access.ROW and self.level[op.out] == level + 1
        ]  # fmt: skip
        lines: list[str] = []
        for op in rows:
            lines.append(self.definition(op))
            if op.out in self.stores:
                lines.append(self.store(op.out))
        return lines + self.column_loop(columns) if columns else lines

    def column_loop(self, ops: list[LoopOp]) -> list[str]:
        """Return the loop that computes some operations for each column."""
        self.known: set[Value] = set()
        loads: list[str] = []
        body: list[str] = []
        sums: list[LoopOp] = []
        for op in ops:
            if op.reduces is None:
                self.compute(op, loads, body)
            else:
                sums.append(op)
                self.accumulate(op, loads, body)
        start, end = self.reduction_lines(sums)
        return [*start, *self.loop_header(sums), *loads, *body, "}", *end]

    def loop_header(self, sums: list[LoopOp]) -> list[str]:
        """Return the lines that begin a loop over columns, which reduces to ``sums``."""
        clauses = self.clauses(sums)
        bounds = "i64 i = lo; i < hi" if self.is_flat else "i64 i = 0; i < C"
        return [
            f"#pragma omp simd{clauses}" if clauses else "#pragma GCC ivdep",
            f"for ({bounds}; i++) {{",
        ]  # fmt: skip

    def reduction_lines(self, sums: list[LoopOp]) -> tuple[list[str], list[str]]:
        """Return the lines before and after a loop that reduces."""
        start, end = [], []
        mark = ("/*start*/", "/*end*/") if self.is_flat else ("", "")
        for op in sums:
            kind, name = TYPES[letter(op.out.dtype)], self.name(op.out)
            if op.reduces is Access.SCALAR:
                start.append(f"{mark[0]}{kind} {name} = 0;")
                end.append(f"{mark[1]}c{self.number[op.out]} += {name};")
            elif op.reduces is Access.ROW:
                first = {"sum": "0", "max": "-INFINITY", "min": "INFINITY"}[op.name]
                start.append(f"{kind} {name} = {first};")
                if op.name != "sum":
                    start.append(f"i32 {name}n = 0;")
                    end.append(f"if ({name}n) {name} = NAN;")
                if op.out in self.stores:
                    end.append(f"{self.stores[op.out]} = {name};")
        return start, end

    def clauses(self, sums: list[LoopOp]) -> str:
        """Return the clauses that let a compiler reorder reductions."""
        signs = {"sum": "+", "max": "max", "min": "min"}
        found = ""
        for op in sums:
            if op.reduces is not Access.COLUMN:
                found += f" reduction({signs[op.name]}:{self.name(op.out)})"
                if op.name != "sum":
                    found += f" reduction(|:{self.name(op.out)}n)"
        return found

    def accumulate(self, op: LoopOp, loads: list[str], body: list[str]) -> None:
        """Append the line that adds an element to a reduction."""
        value, name = self.operand(op, 0, op.out.dtype, loads, body), self.name(op.out)
        if op.reduces is Access.COLUMN:
            body.append(f"d{self.number[op.out]}[i] += {value};")
        elif op.name == "sum":
            body.append(f"{name} += {value};")
        else:
            sign = ">" if op.name == "max" else "<"
            body.append(f"{name} = {value} {sign} {name} ? {value} : {name};")
            body.append(f"{name}n |= {value} != {value};")

    def compute(self, op: LoopOp, loads: list[str], body: list[str]) -> None:
        """Append the lines that compute a value for one column, and store it."""
        if op.out in self.known:
            return
        body.append(self.definition(op, loads, body))
        self.known.add(op.out)
        if op.out in self.stores and op.out not in self.spills:
            body.append(self.store(op.out))
        elif op.out in self.spills:
            body.append(f"{self.spills[op.out]}[i] = {self.name(op.out)};")

    def definition(
        self, op: LoopOp, loads: list[str] | None = None, body: list[str] | None = None
    ) -> str:
        """Return the line that defines the result of an operation."""
        loads, body = ([], []) if loads is None or body is None else (loads, body)
        kind, half = TYPES[letter(op.out.dtype)], _HALVES.get(letter(op.out.dtype))
        formula = self.formula(op, loads, body)
        formula = f"from_{half}(to_{half}({formula}))" if half else formula
        return f"const {kind} {self.name(op.out)} = {formula};"

    def store(self, value: Value) -> str:
        """Return the line that stores a value."""
        return write_element(self.stores[value], self.name(value), value.dtype)

    def name(self, value: Value) -> str:
        """Return the name of a value in the text."""
        return f"t{self.number[value]}"

    # -- operands ---------------------------------------------------------------------------

    def operand(self, op: LoopOp, k: int, dtype: Any, loads: list[str], body: list[str]) -> str:
        """Return the text of an argument, converted to the dtype in which it is computed."""
        arg = op.args[k]
        if not isinstance(arg, Value):
            return number_text(arg, dtype)
        if arg in self.group.made:
            text = self.name_in_loop(arg, loads, body)
        else:
            form = op.forms[k]
            assert form is not None
            text = self.load(arg, form, loads)
        return (
            text if arg.dtype == dtype else f"(({TYPES[letter(dtype)]}){truth(text, arg, dtype)})"
        )

    def load(self, value: Value, form: Access, loads: list[str]) -> str:
        """Return the name of a loaded element, which is read at the beginning of the loop."""
        text = self.loads[value, form]
        if "[i" not in text:
            return text
        name = f"l{[*self.loads].index((value, form))}"
        line = f"const {TYPES[letter(value.dtype)]} {name} = {text};"
        if line not in loads:
            loads.append(line)
        return name

    def name_in_loop(self, value: Value, loads: list[str], body: list[str]) -> str:
        """Return the name of a value that this group computes, defined in the present loop.

        A value of a former loop is read back from the result's memory, computed again if that is
        cheap, or read from a buffer, a spill, to which the former loop writes it.
        """
        if self.group.made[value] is Access.ROW or value in self.known:
            return self.name(value)
        op = self.by_out[value]
        if value in self.stores:
            text = read_text(self.stores[value], value.dtype)
            line = f"const {TYPES[letter(value.dtype)]} {self.name(value)} = {text};"
        elif self.cost(value) <= self.cheap:
            line = self.definition(op, loads, body)
        else:
            spill = self.spills.setdefault(value, f"w{self.number[value]}")
            line = f"const {TYPES[letter(value.dtype)]} {self.name(value)} = {spill}[i];"
        body.append(line)
        self.known.add(value)
        return self.name(value)

    def cost(self, value: Value) -> int:
        """Return the cost of computing a value from what is loaded."""
        op = self.by_out.get(value)
        if op is None or op.form is Access.ROW:
            return 0
        costs = [self.cost(arg) for arg in op.args if isinstance(arg, Value)]
        return _DEAR.get(op.name, 1) + sum(costs)

    # -- formulas ---------------------------------------------------------------------------

    def formula(self, op: LoopOp, loads: list[str], body: list[str]) -> str:
        """Return the expression of an operation."""
        dtypes = [op.out.dtype] * len(op.args)
        if op.node.function.__class__ is numpy.ufunc:
            dtypes = [*(loop_dtypes(op.node) or ())][: len(op.args)]
        if op.name in ("where", "masked"):
            dtypes[0 if op.name == "where" else 1] = numpy.dtype(bool)
        if op.name == "cast":
            return self.cast(op, loads, body)
        if op.name == "between":
            return self.between(op, loads, body)
        args = [self.operand(op, k, dtypes[k], loads, body) for k in range(len(op.args))]
        kind = TYPES[letter(dtypes[-1])]
        if op.name == "where":
            return f"{args[0]} ? {args[1]} : {args[2]}"
        if op.name == "masked":
            return f"{args[1]} ? {args[0]} : 0"
        if op.name in _INFIX:
            return f"{args[0]} {_INFIX[op.name]} {args[1]}"
        for table in (_LOGICAL, _TESTS, _REALS):
            if op.name in table:
                return table[op.name].format(*args)
        if op.name == "invert":
            return f"!{args[0]}" if kind == "b8" else f"~{args[0]}"
        return f"{op.name}_{kind}({', '.join(args)})"

    def cast(self, op: LoopOp, loads: list[str], body: list[str]) -> str:
        """Return the expression of a cast."""
        source = op.args[0]
        if not isinstance(source, Value):
            return number_text(source, op.out.dtype)
        text = self.operand(op, 0, source.dtype, loads, body)
        return f"({TYPES[letter(op.out.dtype)]}){truth(text, source, op.out.dtype)}"

    def between(self, op: LoopOp, loads: list[str], body: list[str]) -> str:
        """Return the expression of a value clamped by bounds."""
        kind, dtype = TYPES[letter(op.out.dtype)], op.out.dtype
        text = self.operand(op, 0, dtype, loads, body)
        for k, name in ((1, "maximum"), (2, "minimum")):
            if k < len(op.args) and op.args[k] is not None:
                text = f"{name}_{kind}({self.operand(op, k, dtype, loads, body)}, {text})"
        return text


def row_offsets(shape: tuple[int, ...], steps: list[int]) -> Any:
    """Return the offset of the first element of each row, in elements."""
    offsets: Any = numpy.zeros(1, numpy.int64)
    for size, step in zip(shape, steps, strict=True):
        offsets = (offsets[:, None] + numpy.arange(size, dtype=numpy.int64) * step).reshape(-1)
    return offsets


def truth(text: str, source: Value, dtype: Any) -> str:
    """Return the text of a value, or of its truth if it is cast to bool."""
    return f"({text} != 0)" if letter(dtype) == "?" and letter(source.dtype) != "?" else f"({text})"


def number_text(number: Any, dtype: Any) -> str:
    """Return the literal of a number, rounded to a dtype."""
    with numpy.errstate(all="ignore"):
        rounded = numpy.asarray(number).astype(dtype)
    if letter(dtype) not in _ALL_FLOATS:
        whole = int(rounded)
        return f"(({TYPES[letter(dtype)]}){whole}LL)" if whole != -(2**63) else "INT64_MIN"
    value = float(rounded)
    if value != value:
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    return f"({value.hex()}{'' if letter(dtype) == 'd' else 'f'})"
