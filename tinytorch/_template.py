"""The one call path, as Python source: bind, unwrap, kernel, wrap, record.

Every public function of an operation with a kernel is this text, with the operation's own names
in it, and only the steps that it needs: what ``Plan`` says decides. A function handles the calls
that need no thought, which are nearly all, and gives every other to ``slow`` in ``_call``, which
asks, converts and promotes, and then comes back to the same steps by the form ``CORE``.

Names that begin with an underscore are the template's; ``_compiled`` says what they stand for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from ._spec import REQUIRED, Op

#: Whether operations are recorded here and now: the first two tests are ``grad_enabled()`` where
#: nobody chose, without the frame of a call.
_GRAD_IS_ON = "(_scoped_grad() is None and not _GRAD.by_thread or _grad_enabled())"


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
    #: The public function of a composite, which is a function over tensors itself.
    COMPOSITE = "composite"
    #: The public function of what makes a tensor where the state says.
    CREATION = "creation"


#: The promotions that leave operands of one dtype as they are, whatever it is.
_ANY_KIND = ("arithmetic", "alike", "limits")
_OPERATORS = (Form.OPERATOR, Form.REFLECTED, Form.INPLACE_OPERATOR)
_ALWAYS_SERVED = (Form.CORE, Form.COMPOSITE, Form.CREATION)


def source(op: Op, form: Form) -> str:
    """The text of one function, which is called ``function``."""
    if form in _OPERATORS and not is_served(op, form):
        return "def function(_a, _b, /):\n    return _slow(_a, _b)\n"
    if form not in _ALWAYS_SERVED and not is_served(op, form):
        return "def function(*_args, **_options):\n    return _slow((), _args, _options)\n"
    return "\n".join(_Text(op, form).lines()) + "\n"


def is_served(op: Op, form: Form) -> bool:
    """Whether there is a call of the operation that needs no thought: one with plain tensors."""
    if form in (Form.INPLACE, Form.INPLACE_OPERATOR) and (
        op.plan.sequence is not None or op.exact_out == "reals"
    ):
        return False
    if op.kernel is None or not op.plan.tensors:
        return False
    if op.plan.sequence is not None:
        return op.plan.sequence == 0 and op.plan.tensors == (0,) and not op.view
    return _lead(op) is not None and not (op.view and (op.plan.tensors != (0,) or op.promote))


def is_binary(op: Op) -> bool:
    """Whether it is one of two operands, whose other parameters may be left out."""
    two = op.plan.tensors == op.plan.operands == (0, 1) and op.plan.positional == 2
    return two and op.plan.sequence is None and op.plan.required <= 2 and not op.view


def _lead(op: Op) -> int | None:
    """Which tensor must be there and tells the backend; None if each may be left out."""
    for i in op.plan.tensors:
        if i not in op.plan.optional and (i not in op.plan.numbers or is_binary(op)):
            return i
    return None


class _Text:
    """The text of one function, step by step."""

    def __init__(self, op: Op, form: Form) -> None:
        self.op, self.form = op, form
        self.core = form is Form.CORE
        self.inplace = form in (Form.INPLACE, Form.INPLACE_OPERATOR)
        self.two = is_binary(op) and not self.core
        lead = _lead(op) if op.plan.sequence is None else op.plan.sequence
        self.lead = 1 if form is Form.REFLECTED else 0 if lead is None else lead
        #: The operand whose dtype the others must have.
        self.measure = lead if lead in op.plan.operands else min(op.plan.operands, default=None)
        self.positional = op.plan.params[: op.plan.positional]
        sizes = op.plan.sizes is not None and op.plan.sizes == op.plan.positional - 1
        served = form in (Form.FUNCTION, Form.CREATION)
        self.sizes = self.positional[-1] if sizes and served else None
        code = op.body.__code__ if form is Form.COMPOSITE else None
        self.takes_more = code is not None and bool(code.co_flags & 0x04)
        self.all = range(len(op.plan.params))
        self.rest = [i for i in self.all if i not in op.plan.tensors]

    def lines(self) -> Iterator[str]:
        yield self._header()
        if self.form is Form.COMPOSITE:
            yield from _indented(self._composite())
            return
        if self.form is Form.CREATION:
            yield from _indented(self._creation())
            return
        if not self.core:
            yield from _indented(self._bind())
        yield from _indented(self._unwrap())
        if self.inplace:
            yield from _indented(self._write())
            return
        yield from _indented(self._kernel())
        if self.op.view:
            yield from _indented(self._view())
            return
        yield from _indented(self._wrap())
        yield from _indented(self._record())
        yield "    return _out"

    # -- the parameters --------------------------------------------------------------------

    def _header(self) -> str:
        if self.core:
            return f"def function({', '.join(('_xp', *self.op.plan.params))}):"
        if self.form in (Form.OPERATOR, Form.INPLACE_OPERATOR):
            return f"def function({', '.join(self.op.plan.params[:2])}, /):"
        if self.form is Form.REFLECTED:
            return f"def function({', '.join(self.op.plan.params[1::-1])}, /):"
        names = self.positional[:-1] if self.sizes else self.positional
        given = [f"{name}=_d{i}" for i, name in enumerate(names)]
        return (
            f"def function({', '.join((*given, *(['/'] if given else []), '*_more'))}, **_options):"
        )

    @property
    def slow(self) -> str:
        """What every other call is."""
        if self.form in _OPERATORS:
            return f"return _slow({', '.join(self.op.plan.params[:2])})"
        names = self.positional[:-1] if self.sizes else self.positional
        return f"return _slow({_tuple(names)}, _more, _options)"

    def _bind(self) -> Iterator[str]:
        """Keywords to parameters, and what has to be looked at before a kernel runs."""
        op = self.op
        named = self.form not in _OPERATORS
        yield from (
            f"{op.plan.params[i]} = _d{i}" for i in range(op.plan.positional, len(op.plan.params))
        )
        if self.sizes:
            yield from self._bind_sizes(self.sizes)
        elif named and not self.takes_more:
            yield "if _more:"
            yield f"    {self.slow}"
        if not named:
            return
        yield "if _options:"
        yield "    _left = _len(_options)"
        for i, name in enumerate(op.plan.params):
            yield f"    if {name!r} in _options:"
            given = "_more" if name == self.sizes else f"{name} is not _d{i}"
            if i < op.plan.positional:
                yield f"        if {given}:"
                yield f"            {self.slow}"
            yield f"        {name} = _options[{name!r}]"
            yield "        _left -= 1"
        if self.form is Form.CREATION:
            yield "    if 'requires_grad' in _options:"
            yield "        _requires = _options['requires_grad']"
            yield "        _left -= 1"
        yield "    if _left:"
        yield f"        {self.slow}"
        unfit = [] if is_numpys(op) else list(self._unfit())
        if unfit:
            yield f"if {' or '.join(unfit)}:"
            yield f"    {self.slow}"

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
                yield f"{name}.__class__ is not _bool and {name} is not _d{i}"
            elif kind is float:
                yield f"{name}.__class__ not in _reals and {name} is not _d{i}"
            elif op.plan.defaults[i] is REQUIRED:
                yield f"{name} is _required"

    # -- the arrays ------------------------------------------------------------------------

    def _unwrap(self) -> Iterator[str]:
        if self.core:
            yield from self._unwrap_core()
        elif self.op.plan.sequence is not None:
            yield from self._unwrap_sequence()
        elif self.two:
            yield from self._unwrap_two()
        else:
            yield from self._unwrap_several()
        if self.core:
            for i in self.rest:
                yield f"{self.op.plan.params[i]} = _unwrap({self.op.plan.params[i]})"

    def _unwrap_core(self) -> Iterator[str]:
        op = self.op
        for i in op.plan.tensors:
            name = op.plan.params[i]
            if i == op.plan.sequence:
                yield f"_a{i} = _tuple([_t._data for _t in {name}])"
                yield f"_g{i} = _any([_t._rg for _t in {name}])"
            elif i in op.plan.numbers or i in op.plan.optional:
                yield f"if _isinstance({name}, _Tensor):"
                yield f"    _a{i}, _g{i} = {name}._data, {name}._rg"
                yield "else:"
                yield f"    _a{i}, _g{i} = {name}, None"
            else:
                yield f"_a{i}, _g{i} = {name}._data, {name}._rg"

    def _unwrap_two(self) -> Iterator[str]:
        """Two tensors, or a tensor and a number, by what is known of the backend and dtype."""
        op = self.op
        a, b = self.lead, 1 - self.lead
        first, second = op.plan.params[a], op.plan.params[b]
        yield f"if {first}.__class__ not in _PLAIN:"
        yield f"    {self.slow}"
        yield f"_a{a} = {first}._data"
        yield f"_xp = {first}._xp"
        yield f"_dtype = _a{a}.dtype"
        yield "_known, _kept, _run, _kinds, _number = _last[0]"
        yield "if _known is not _xp or _kept is not _dtype:"
        yield "    _known, _kept, _run, _kinds, _number = _find(_xp, _dtype)"
        yield f"if {second}.__class__ in _PLAIN:"
        yield f"    _a{b} = {second}._data"
        yield f"    if _a{b}.dtype is not _dtype or {second}._xp is not _xp or _run is None:"
        yield f"        {self.slow}"
        yield f"    _g{b} = {second}._rg"
        yield "else:"
        yield f"    _a{b} = _number({second}) if {second}.__class__ in _kinds else None"
        unusual = " or ".join(f"{op.plan.params[i]} is not _d{i}" for i in self.rest)
        yield f"    if _a{b} is None or _run is None{f' or {unusual}' if unusual else ''}:"
        yield f"        {self.slow}"
        yield f"    _g{b} = None"
        yield f"_g{a} = {first}._rg"

    def _unwrap_several(self) -> Iterator[str]:
        op, lead = self.op, self.lead
        first = op.plan.params[lead]
        yield f"if {first}.__class__ not in _PLAIN:"
        yield f"    {self.slow}"
        yield f"_a{lead} = {first}._data"
        yield f"_xp = {first}._xp"
        yield f"_g{lead} = {first}._rg"
        yield from self._check_dtype(lead)
        for i in op.plan.tensors:
            if i != lead:
                yield from self._unwrap_one(i, op.plan.params[i])

    def _unwrap_one(self, i: int, name: str) -> Iterator[str]:
        op = self.op
        yield f"if {name}.__class__ in _PLAIN:"
        yield f"    _a{i} = {name}._data"
        yield f"    _g{i} = {name}._rg"
        yield f"    if {name}._xp is not _xp:"
        yield f"        {self.slow}"
        yield from _indented(self._check_dtype(i))
        if i in op.plan.optional and i != self.measure:
            yield f"elif {name} is None:"
            yield f"    _a{i} = _g{i} = None"
        yield "else:"
        yield f"    {self.slow}"

    def _check_dtype(self, i: int) -> Iterator[str]:
        """Operands must have one dtype, and some operations make others than floats floats."""
        op = self.op
        if op.promote is None or i not in op.plan.operands:
            return
        tests = []
        if i == self.measure:
            yield f"_dtype = _a{i}.dtype"
            if op.promote not in _ANY_KIND:
                tests.append("_dtype.kind not in 'fc'")
        else:
            tests.append(f"_a{i}.dtype is not _dtype")
        if tests:
            yield f"if {tests[0]}:"
            yield f"    {self.slow}"

    def _unwrap_sequence(self) -> Iterator[str]:
        name = self.op.plan.params[0]
        yield f"if {name}.__class__ is not _tuple and {name}.__class__ is not _list or not {name}:"
        yield f"    {self.slow}"
        yield "_a0 = []"
        yield "_g0 = False"
        yield "_xp = _dtype = None"
        yield f"for _t in {name}:"
        yield "    if _t.__class__ not in _PLAIN:"
        yield f"        {self.slow}"
        yield "    _x = _t._data"
        yield "    if _t._xp is not _xp or _x.dtype is not _dtype:"
        yield "        if _xp is not None:"
        yield f"            {self.slow}"
        yield "        _xp = _t._xp"
        yield "        _dtype = _x.dtype"
        yield "    _a0.append(_x)"
        yield "    if _t._rg:"
        yield "        _g0 = True"
        yield "_a0 = _tuple(_a0)"

    # -- the kernel ------------------------------------------------------------------------

    def _raw(self, i: int) -> str:
        return f"_a{i}" if i in self.op.plan.tensors else self.op.plan.params[i]

    @property
    def raws(self) -> str:
        """The arguments as the kernel sees them."""
        return _tuple(map(self._raw, self.all))

    @property
    def given(self) -> str:
        """The arguments with their tensors."""
        return _tuple(self.op.plan.params)

    def _at_defaults(self, positions: Iterable[int]) -> str:
        return " and ".join(f"{self.op.plan.params[i]} is _d{i}" for i in positions)

    def _call_kernel(self, out: str = "") -> Iterator[str]:
        """``_y``, from the kernel; in the way that is quickest where parameters are left out."""
        op = self.op
        first = [self._raw(i) for i in range(op.plan.positional)]
        named = [
            f"{n}={self._raw(i)}" for i, n in enumerate(op.plan.params) if i >= op.plan.positional
        ]
        if self.form is Form.CREATION:
            yield f"_y = _kernel({', '.join(('_xp', *first, *named))})"
            return
        call = f"_y = _kernel({', '.join(('_xp', *first))}"
        into = [f"out={out}"] if out else []
        whole = f"{', '.join((call, *named, *into))})"
        if self.two:
            short = f"_y = _run(_a0, _a1{f', out={out}' if out else ''})"
        elif op.whole is not None and not self.core:
            short = f"_y = _xp.{op.whole}(_a0)"
        else:
            short = f"{', '.join((call, *into))})"
            if self.core or not named or short == whole:
                yield whole
                return
        rest = (
            self.rest
            if self.two or op.whole is not None
            else range(op.plan.positional, len(op.plan.params))
        )
        usual = self._at_defaults(rest)
        if not usual:
            yield short
            return
        yield f"if {usual}:"
        yield f"    {short}"
        yield "else:"
        yield f"    {whole}"

    def _kernel(self) -> Iterator[str]:
        op = self.op
        if op.keeps is not None:
            yield "_kept = None"
            yield f"if {self.wants} and not _Recording.watched:"
            yield f"    _y, _kept = _keeps({', '.join(('_xp', self.raws[1:-1]))})"
            yield "else:"
            yield from _indented(self._call_kernel())
        elif (
            len(op.plan.tensors) == 1 and op.plan.sequence is None and not op.view and not self.core
        ):
            yield from self._call_kernel()
        else:
            yield "try:"
            yield from _indented(self._call_kernel())
            yield "except _ValueError as _error:"
            yield f"    raise _explain_shapes(_op, {self.given}, _error) from None"
        array = (
            "_xp.array_type"
            if self.core or op.plan.sequence is not None
            else f"_a{self.lead}.__class__"
        )
        yield f"if _y.__class__ is not {array}:"
        if op.keeps is None:
            yield "    if _y.__class__ is _tuple or _y.__class__ is _list:"
            yield f"        return _results(_op, _xp, _y, {self.given}, {self.raws})"
        yield "    _y = _xp.asarray(_y)"

    # -- the result ------------------------------------------------------------------------

    def _wrap(self) -> Iterator[str]:
        yield "_out = _making.new(_Tensor)"
        yield "_out._data = _y"
        yield "_out._xp = _xp"
        yield "_out._rg = False"
        yield "_out._node = _out._grad = _out._base = _out._view = None"
        yield "_out._vc = _making.version"

    @property
    def wants(self) -> str:
        """Whether a gradient is wanted of an argument, and operations are recorded."""
        grads = [f"_g{i}" for i in self.op.plan.tensors if i in self.op.backward.differentiable]
        tests = f"({' or '.join(grads)})" if len(grads) > 1 else grads[0]
        return f"{tests} and {_GRAD_IS_ON}"

    def _record(self) -> Iterator[str]:
        op = self.op
        if not op.backward.differentiable:
            return
        yield f"if {self.wants}:"
        numbers = op.plan.numbers & set(op.backward.differentiable) and not op.backward.both
        if op.plan.sequence is not None or (numbers and op.backward.joint is None):
            variant = "_backward.fixed({given})" if numbers else "_backward"
            variant = variant.format(given=self.given)
            yield f"    _record({variant}, _xp, _out, {self.given}, {self.raws})"
            return
        yield from _indented(self._node(self._result_is_differentiable()))
        yield "        _out._node = _node"
        yield "        _out._rg = True"
        if op.keeps is not None:
            yield "        _node.out = _kept"
        if op.backward.saves_out:
            yield "        _node.out = _y"
            yield "        _out._vc = [0]"  # nobody has seen the result yet
            yield "        _node.out_version = ((_out._vc, 0),)"
        yield "        if _Recording.watched:"
        yield "            _watch(_node, _out)"

    def _result_is_differentiable(self) -> str:
        kind = "_y.dtype.kind in 'fc'"
        if self.lead not in self.op.backward.differentiable or self.core:
            return kind
        return f"(_y.dtype is _a{self.lead}.dtype or {kind})"

    def _node(self, condition: str, op: str = "_backward") -> Iterator[str]:
        """``_node``, for the result ``_y``, under an ``if`` that the caller goes on with."""
        edges = list(self.op.backward.differentiable)
        for i in edges:
            name = self.op.plan.params[i]
            yield (
                f"_e{i} = ({name}._node or {name}) if _g{i} is True else "
                f"_edge_of({name}) if _g{i} else None"
            )
        some = " or ".join(f"_e{i} is not None" for i in edges)
        yield f"if ({some}){f' and {condition}' if condition else ''}:"
        yield from _indented(self._fill_node(edges, op))

    def _fill_node(self, edges: list[int], op: str) -> Iterator[str]:
        yield "_node = _new_node(_Node)"
        yield "_node.seq = _next_seq()"
        yield f"_node.op = {op if self.form is not Form.REFLECTED else '_reflected'}"
        yield "_node.xp = _xp"
        yield f"_node.edges = {_tuple(f'_e{i}' for i in edges)}"
        yield "_node.shape = _y.shape"
        yield "_node.dtype = _y.dtype"
        yield "_node.versions = _node.out = _node.out_version = _node.hooks = _node.extra = None"
        saves = self.op.backward.saves
        if not self.op.backward.both:
            yield from self._save(saves)
            return
        for_first, for_second = self.op.backward.saves_for
        if saves == for_first == for_second:
            yield from self._save(saves)
            return
        yield "if _e1 is None:"
        yield from _indented(self._save(for_first))
        yield "elif _e0 is None:"
        yield from _indented(self._save(for_second))
        yield "else:"
        yield from _indented(self._save(saves))

    def _save(self, saves: tuple[bool, ...]) -> Iterator[str]:
        """What the node keeps of the arguments."""
        op = self.op
        kept = [i for i in op.plan.tensors if saves[i]]
        args = (
            self._kept(i) if i not in op.plan.tensors or i in kept else "None" for i in self.all
        )
        yield f"_node.args = {_tuple(args)}"
        if not any(map(self._may_be_none, kept)):
            yield f"_node.saved = {_tuple(op.plan.params[i] for i in kept)}"
        elif len(kept) == 1:
            yield f"_node.saved = () if _g{kept[0]} is None else ({op.plan.params[kept[0]]},)"
        else:
            pairs = _tuple(f"({op.plan.params[i]}, _g{i})" for i in kept)
            yield f"_node.saved = _tuple([_t for _t, _g in {pairs} if _g is not None])"
        if kept:
            changed = (
                f"_g{i} is not None and {op.plan.params[i]}._vc is not None"
                if self._may_be_none(i) else f"{op.plan.params[i]}._vc is not None"
                for i in kept
            )  # fmt: skip
            yield f"if {' or '.join(changed)}:"
            yield "    _note_versions(_node)"

    def _kept(self, i: int) -> str:
        """An argument as a node keeps it: a number in the place of a tensor as Python's."""
        if self.core and i in self.op.plan.numbers:
            return f"_a{i} if _g{i} is not None else _plain_number(_a{i})"
        if self.two and i == 0 and self._may_be_none(i):
            return f"_a{i} if _g{i} is not None else {self.op.plan.params[i]}"
        return self._raw(i)

    def _may_be_none(self, i: int) -> bool:
        """Whether an argument may be a number, or left out."""
        if self.two:
            return i == 1 - self.lead
        return i in self.op.plan.optional or i in self.op.plan.numbers

    # -- views -----------------------------------------------------------------------------

    def _view(self) -> Iterator[str]:
        """The result is a view where it shares the argument's memory, and else a copy."""
        lead, source = self.lead, self.op.plan.params[self.lead]
        yield "_base = _y.base"
        yield (
            f"_is_view = _base is not None and (_base is _a{lead} or _base is _a{lead}.base) or "
            f"_xp.is_view(_y, _a{lead})"
        )
        yield f"if _y is _a{lead}:"
        yield "    _y = _y[...]"
        yield from self._wrap()
        yield "_node = None"
        if self.op.backward.differentiable:
            yield f"if {self.wants}:"
            yield from _indented(self._node("", "_backward if _is_view else _copied"))
        steps = _tuple(self.op.plan.params[i] for i in self.all if i != lead)
        yield "if _is_view:"
        kind = f"'' if _node is not None or {_GRAD_IS_ON} else _unrecorded_kind()"
        yield f"    _track(_out, {source}, (_step, {steps}), _node, {kind})"
        yield "elif _node is not None:"
        yield "    _out._node = _node"
        yield "    _out._rg = True"
        yield "if _node is not None and _Recording.watched:"
        yield "    _watch(_node, _out)"
        yield "return _out"

    # -- in place --------------------------------------------------------------------------

    def _write(self) -> Iterator[str]:
        """The result over the first argument, where nothing has to be recorded."""
        op = self.op
        target = op.plan.params[0]
        yield "_vc = input._vc".replace("input", target)
        yield "if _making.version is not None or _vc is _UNSETTLED:"
        yield f"    {self.slow}"
        grads = " or ".join(f"_g{i}" for i in op.plan.tensors)
        yield f"if ({grads}) and {_GRAD_IS_ON}:"
        yield "    if " + " or ".join(
            f"_g{i} and (_g{i} is True or _edge_of({op.plan.params[i]}) is not None)" for i in op.plan.tensors
        ) + ":"  # fmt: skip
        yield f"        {self.slow}"
        for i in op.plan.tensors[1:]:
            yield f"if _g{i} is not None and _vc is not None and {op.plan.params[i]}._vc is _vc:"
            yield f"    {self.slow}"
            if op.plan.picks:
                yield f"if {op.plan.params[i]} is {target}:"
                yield f"    {self.slow}"
        yield "try:"
        if op.plan.takes_out:
            yield from _indented(self._call_kernel("_a0"))
        else:
            yield from _indented(self._call_kernel())
            yield "    if _y.__class__ is not _a0.__class__ or _y.dtype is not _a0.dtype:"
            yield f"        {self.slow}"
            yield "    _xp.copyto(_a0, _y)"
        yield "except _ValueError:"
        yield f"    {self.slow}"
        yield "if _vc is None:"
        yield f"    {target}._vc = [1]"
        yield "else:"
        yield "    _vc[0] += 1"
        yield f"return {target}"

    # -- creation --------------------------------------------------------------------------

    def _creation(self) -> Iterator[str]:
        """A tensor of the active backend and the default dtype, or that which is asked for."""
        op = self.op
        yield "_requires = False"
        yield from self._bind()
        strange = [
            f"{op.plan.params[i]}.__class__ not in _values"
            for i in range(op.plan.positional)
            if i != op.plan.sizes and i not in op.plan.scalars
        ]
        yield f"if {' or '.join(('not _PLAIN', '_requires.__class__ is not _bool', *strange))}:"
        yield f"    {self.slow}"
        if op.plan.sizes is not None:
            yield from self._check_sizes(op.plan.params[op.plan.sizes])
        yield "_xp = _current_backend()"
        yield "if dtype is not None:"
        yield "    dtype = _xp.native_dtype(_as_dtype(dtype))"
        if op.default_dtype:
            yield "else:"
            yield "    dtype = _xp.native_dtype(_default_dtype())"
        yield from self._call_kernel()
        yield from self._wrap()
        yield "return _out.requires_grad_() if _requires else _out"

    def _check_sizes(self, name: str) -> Iterator[str]:
        """A few small ints need no look."""
        yield f"if {name}.__class__ is _tuple and _len({name}) < 4:"
        yield f"    for _n in {name}:"
        yield "        if _n.__class__ is not _int or not 0 <= _n < 65536:"
        yield f"            {name} = _checked_size(_op.name, {name})"
        yield "            break"
        yield "else:"
        yield f"    {name} = _checked_size(_op.name, {name})"

    # -- composites ------------------------------------------------------------------------

    def _composite(self) -> Iterator[str]:
        """The function itself, if nobody is to be asked, and its errors told of this one."""
        op = self.op
        yield from self._bind()
        if op.public:
            yield from self._nobody_is_asked()
        first = ", ".join((*self.positional, *(["*_more"] if self.takes_more else [])))
        named = [f"{n}={n}" for n in op.plan.params[op.plan.positional :]]
        yield "try:"
        if named:
            yield "    if _options:"
            yield f"        return _body({', '.join((*([first] if first else []), *named))})"
        yield f"    return _body({first})"
        yield "except _TOLD as _error:"
        yield f"    _given = _as_given(_op, {_tuple(self.positional)}, _more, _options)"
        yield "    _better = _told(_op, _given, _options, _error)"
        yield "    if _better is _error:"
        yield "        raise"
        yield "    raise _better from None"

    def _nobody_is_asked(self) -> Iterator[str]:
        op = self.op
        strange = "{0}.__class__ not in _PLAIN and {0}.__class__ not in _values"
        if not op.plan.tensors:
            first = [f"({strange.format(name)})" for name in self.positional[:1]]
            yield f"if {' or '.join(('not _PLAIN', *first))}:"
            yield f"    {self.slow}"
        for i in op.plan.tensors:
            name = op.plan.params[i]
            if i != op.plan.sequence:
                yield f"if {strange.format(name)}:"
                yield f"    {self.slow}"
                continue
            yield f"if {name}.__class__ is not _tuple and {name}.__class__ is not _list:"
            yield f"    {self.slow}"
            yield f"for _t in {name}:"
            yield "    if _t.__class__ not in _PLAIN:"
            yield f"        {self.slow}"
        if self.takes_more:
            yield "for _t in _more:"
            yield f"    if {strange.format('_t')}:"
            yield f"        {self.slow}"


def is_numpys(op: Op) -> bool:
    """Whether an operation takes for True and False what NumPy does."""
    return op.namespaces[0].partition(".")[0] == "numpy"


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)


def _tuple(names: Iterable[str]) -> str:
    names = tuple(names)
    return f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"
