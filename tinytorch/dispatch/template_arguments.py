"""The first step of the call path: arguments to parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from .spec import REQUIRED, Op


class Form(Enum):
    """Which of an operation's functions it is."""

    #: The public function, and the method: any arguments.
    FUNCTION = "function"
    #: What is behind an operator: two operands by position.
    OPERATOR = "operator"
    #: The same after a number, which comes second: ``__radd__(other, input)``.
    REFLECTED = "reflected"
    #: The steps after conversion: the backend and all arguments, ready for the kernel.
    CORE = "core"
    #: The in-place form: the result goes into the first argument.
    INPLACE = "inplace"
    #: The same behind an operator such as ``+=``.
    INPLACE_OPERATOR = "inplace operator"
    #: What is behind ``x[index]``: a tensor and what says which of its elements are meant.
    ITEM = "item"
    #: What is behind ``x[index] = value``, in which the index comes before the value.
    SET_ITEM = "set item"
    #: The public function of a composite, which is a function over tensors itself.
    COMPOSITE = "composite"
    #: The public function of what makes a tensor where the state says.
    CREATION = "creation"


#: What the values of a composite must be that an operation stands in for, by annotation.
_STANDS_FOR = {"int": "_int", "bool": "_bool", "dtypes.dtype": "_dtypes"}
OPERATORS = (Form.OPERATOR, Form.REFLECTED, Form.INPLACE_OPERATOR, Form.ITEM, Form.SET_ITEM)
#: The forms that write over the first argument.
INPLACE = (Form.INPLACE, Form.INPLACE_OPERATOR, Form.SET_ITEM)


def is_served(op: Op, form: Form) -> bool:
    """Whether there is a call of the operation that needs no thought: one with plain tensors."""
    if form in INPLACE and (op.plan.sequence is not None or op.exact_out == "reals"):
        return False
    if op.kernel is None or not op.plan.tensors:
        return False
    if op.plan.sequence is not None:
        return op.plan.sequence == 0 and op.plan.tensors == (0,) and not op.view
    return lead(op) is not None and not (op.view and (op.plan.tensors != (0,) or op.promote))


def is_binary(op: Op) -> bool:
    """Whether it is one of two operands, whose other parameters may be left out."""
    two = op.plan.tensors == op.plan.operands == (0, 1) and op.plan.positional == 2
    return two and op.plan.sequence is None and op.plan.required <= 2 and not op.view


def lead(op: Op) -> int | None:
    """Which tensor must be there and tells the backend; None if each may be left out."""
    for i in op.plan.tensors:
        if i not in op.plan.optional and (i not in op.plan.numbers or is_binary(op)):
            return i
    return None


class Arguments:
    """The text of one function, step by step."""

    op: Op
    form: Form

    def __init__(self, op: Op, form: Form) -> None:
        self.op, self.form = op, form
        self.core: bool = form is Form.CORE
        self.inplace: bool = form in INPLACE
        self.two: bool = is_binary(op) and not self.core
        first = lead(op) if op.plan.sequence is None else op.plan.sequence
        self.lead: int = 1 if form is Form.REFLECTED else 0 if first is None else first
        #: The operand whose dtype the others must have.
        operands = op.plan.operands
        self.measure: int | None = first if first in operands else min(operands, default=None)
        self.positional: tuple[str, ...] = op.plan.params[: op.plan.positional]
        sizes = op.plan.sizes is not None and op.plan.sizes == op.plan.positional - 1
        served = form in (Form.FUNCTION, Form.CREATION)
        self.sizes: str | None = self.positional[-1] if sizes and served else None
        code = op.body.__code__ if form is Form.COMPOSITE else None
        self.takes_more: bool = code is not None and bool(code.co_flags & 0x04)
        self.all: range = range(len(op.plan.params))
        self.rest: list[int] = [i for i in self.all if i not in op.plan.tensors]

    def _header(self) -> str:
        if self.core:
            return f"def function({', '.join(('_xp', *self.op.plan.params))}):"
        if self.form is Form.REFLECTED:
            return f"def function({', '.join(self.op.plan.params[1::-1])}, /):"
        if self.form in OPERATORS:
            return f"def function({self._placed()}, /):"
        given = [f"{name}=_d{i}" for i, name in enumerate(self._slots)]
        return (
            f"def function({', '.join((*given, *(['/'] if given else []), '*_more'))}, **_options):"
        )

    @property
    def _slots(self) -> tuple[str, ...]:
        """The parameters that one argument each is for, by position."""
        return self.positional[:-1] if self.sizes else self.positional

    def _placed(self) -> str:
        """The parameters of what is behind an operator."""
        names = self.op.plan.params
        return ", ".join((names[0], *names[:0:-1]) if self.form is Form.SET_ITEM else names[:2])

    @property
    def slow(self) -> str:
        """What every other call is."""
        if self.form in OPERATORS:
            return f"return _slow({self._placed()})"
        return f"return _slow({tuple_of(self._slots)}, _more, _options)"

    def _call_low(self) -> Iterator[str]:
        """What a call is whose first tensor is below float32."""
        if not self.inplace:
            named = self.form not in OPERATORS
            values = self._slots if named else self.op.plan.params[: len(self.op.plan.tensors)]
            rest = "_more, _options" if named else "(), None"
            order = values[::-1] if self.form is Form.REFLECTED else values
            reflected = ", True" if self.form is Form.REFLECTED else ""
            yield f"_out = _in_float32({tuple_of(order)}, {rest}{reflected})"
            yield "if _out is not None:"
            yield "    return _out"
        yield self.slow

    def _bind(self) -> Iterator[str]:
        """Arguments to parameters, and what has to be looked at before a kernel runs."""
        op = self.op
        named = self.form not in OPERATORS
        if self.form is not Form.SET_ITEM:
            left_out = range(op.plan.positional, len(op.plan.params))
            yield from (f"{op.plan.params[i]} = _d{i}" for i in left_out)
        if self.sizes:
            yield from self._bind_sizes(self.sizes)
        elif named and not self.takes_more:
            yield "if _more:"
            yield f"    {self.slow}"
        if self.form in (Form.ITEM, Form.SET_ITEM):
            name = op.plan.params[-1]
            yield f"if {name}.__class__ not in _basic and not _is_basic({name}):"
            yield f"    {self.slow}"
        if not named:
            return
        yield from self._bind_named()
        unfit = [] if is_numpys(op) else list(self._unfit())
        if unfit:
            yield f"if {' or '.join(unfit)}:"
            yield f"    {self.slow}"

    def _bind_named(self) -> Iterator[str]:
        """Keywords to parameters, those first that come in no other way."""
        op = self.op
        yield "if _options:"
        yield "    _left = _len(_options)"
        for name in op.plan.params[op.plan.positional :]:
            yield f"    if {name!r} in _options:"
            yield f"        {name} = _options[{name!r}]"
            yield "        _left -= 1"
        if self.form is Form.CREATION:
            yield "    if 'requires_grad' in _options:"
            yield "        _requires = _options['requires_grad']"
            yield "        if _requires.__class__ is not _bool:"
            yield f"            {self.slow}"
            yield "        _left -= 1"
        yield "    if _left:"
        for i, name in enumerate(self.positional):
            yield f"        if {name!r} in _options:"
            yield f"            if {'_more' if name == self.sizes else f'{name} is not _d{i}'}:"
            yield f"                {self.slow}"
            yield f"            {name} = _options[{name!r}]"
            yield "            _left -= 1"
        yield "        if _left:"
        yield f"            {self.slow}"

    def _bind_sizes(self, name: str) -> Iterator[str]:
        at = self.op.plan.sizes
        yield "if _more:"
        yield f"    {name} = _more"
        yield "    _first = _more[0].__class__"
        yield "    if _first is not _int:"
        yield "        if _len(_more) > 1 or not _issubclass(_first, (_tuple, _list)):"
        yield f"            {self.slow}"
        yield f"        {name} = _more[0]"
        yield "else:"
        yield f"    {name} = _d{at}"

    def _unfit(self) -> Iterator[str]:
        """Of the plain parameters, the tests that say that somebody has to look at a value."""
        op = self.op
        for i in self.rest:
            name = op.plan.params[i]
            kind = op.plan.scalars.get(i, (None, False))[0]
            if i == op.plan.flag:
                yield name
            elif kind is bool:
                yield f"{name} is not _d{i} and {name}.__class__ is not _bool"
            elif kind is float:
                yield f"{name} is not _d{i} and {name}.__class__ not in _reals"
            elif op.registered.stands_in and op.annotations.get(name) in _STANDS_FOR:
                yield f"{name}.__class__ is not {_STANDS_FOR[op.annotations[name]]}"
            elif op.plan.defaults[i] is REQUIRED:
                yield f"{name} is _required"
            elif name == "dtype" and op.plan.tensors:
                yield "dtype is not None and (dtype.__class__ is not _dtypes or dtype in _LOW)"


def is_numpys(op: Op) -> bool:
    """Whether an operation takes for True and False what NumPy does."""
    return op.namespaces[0].partition(".")[0] == "numpy"


def indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)


def tuple_of(names: Iterable[str]) -> str:
    names = tuple(names)
    return f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"
