"""The one call path, as Python source: bind, unwrap, kernel, wrap, record.

Every public function of an operation is this text, with the operation's own names in it, and only
the steps that it needs: what ``Plan`` says decides. A function handles the calls that need no
thought, which are nearly all, and gives every other to ``slow`` in ``call``, which asks, converts
and promotes, and then comes back to the same steps by the form ``CORE``.

Names that begin with an underscore are the template's; ``compiled`` says what they stand for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .spec import Op
from .template_arguments import OPERATORS, Form, indented, is_served, tuple_of
from .template_results import GRAD_IS_ON, Results

_SHORTENED = ("    except _Exception as _error:", "        _shorten(_error)", "        raise")
_ALWAYS_SERVED = (Form.CORE, Form.COMPOSITE, Form.CREATION)


def source(op: Op, form: Form) -> str:
    """The text of one function, which is called ``function``."""
    header, *body = _lines(op, form)
    if form is not Form.CORE:
        body = ["    try:", *indented(body), *_SHORTENED]
    return "\n".join((header, *body, ""))


def _lines(op: Op, form: Form) -> Iterable[str]:
    if form in OPERATORS and not is_served(op, form):
        return "def function(_a, _b, /):", "    return _slow(_a, _b)"
    if form not in _ALWAYS_SERVED and not is_served(op, form):
        return "def function(*_args, **_options):", "    return _slow((), _args, _options)"
    return Text(op, form).lines()


class Text(Results):
    """The text of one function, step by step."""

    def lines(self) -> Iterator[str]:
        yield self._header()
        if self.form is Form.COMPOSITE:
            yield from indented(self._composite())
            return
        if self.form is Form.CREATION:
            yield from indented(self._creation())
            return
        if not self.core:
            yield from indented(self._bind())
        yield from indented(self._unwrap())
        if self.inplace:
            yield from indented(self._write())
            return
        if self.form is Form.REFLECTED and self.op.name == "div":
            # As in PyTorch, whose nodes save the reciprocal and neither the divisor nor the result.
            yield f"    if _g1 and {GRAD_IS_ON}:"
            yield "        return other.reciprocal() * input"
        yield from indented(self._kernel())
        if self.op.itself:
            yield f"    if _y is _a{self.lead}:"
            yield f"        return {self.op.plan.params[self.lead]}"
        if self.op.view:
            yield from indented(self._view())
            return
        yield from indented(self._wrap())
        yield from indented(self._record())
        yield "    return _out"

    def _write(self) -> Iterator[str]:
        """The result over the first argument, where nothing has to be recorded."""
        op = self.op
        target = op.plan.params[0]
        yield "_vc = input._vc".replace("input", target)
        yield "if _making.version is not None or _vc is _UNSETTLED:"
        yield f"    {self.slow}"
        yield "if not _xp.refuses_writes and _xp.readonly(_a0):"
        yield f"    {self.slow}"
        grads = " or ".join(f"_g{i}" for i in op.plan.tensors)
        wanted = (
            f"_g{i} and (_g{i} is True or _edge_of({op.plan.params[i]}) is not None)"
            for i in op.plan.tensors
        )
        yield f"if ({grads}) and {GRAD_IS_ON} and ({' or '.join(wanted)}):"
        yield f"    {self.slow}"
        for i in op.plan.tensors[1:]:
            yield f"if _g{i} is not None and _vc is not None and {op.plan.params[i]}._vc is _vc:"
            yield f"    {self.slow}"
            if op.plan.picks:
                yield f"if {op.plan.params[i]} is {target}:"
                yield f"    {self.slow}"
        yield "try:"
        if op.plan.takes_out:
            yield from indented(self._call_kernel("_a0"))
        else:
            yield from indented(self._call_kernel())
            yield (
                "    if _y.__class__ is not _a0.__class__ or _y.dtype is not _a0.dtype"
                + (":" if len(op.plan.tensors) < 2 else " or _y.shape != _a0.shape:")
            )
            yield f"        {self.slow}"
            yield "    _xp.copyto(_a0, _y)"
        items = ", *_no_item" if self.form is Form.SET_ITEM else ""
        yield f"except (_ValueError{items}):"
        yield f"    {self.slow}"
        yield "if _vc is None:"
        yield f"    {target}._vc = [1]"
        yield "else:"
        yield "    _vc[0] += 1"
        yield "return" if self.form is Form.SET_ITEM else f"return {target}"

    # -- creation --------------------------------------------------------------------------

    def _creation(self) -> Iterator[str]:
        """A tensor of the active backend and the default dtype, or that which is asked for."""
        op = self.op
        yield from self._bind()
        strange = [
            f"{op.plan.params[i]}.__class__ not in _values"
            for i in range(op.plan.positional)
            if i != op.plan.sizes and i not in op.plan.scalars
        ]
        yield f"if {' or '.join(('not _PLAIN', *strange))}:"
        yield f"    {self.slow}"
        if op.plan.sizes is not None:
            yield from self._check_sizes(op.plan.params[op.plan.sizes])
        yield "if dtype is not None:"
        yield "    _xp = _current_backend()"
        yield "    dtype = _xp.native_dtype(_as_dtype(dtype))"
        yield "else:"
        if op.default_dtype:
            yield "    _xp, dtype = _place_of_new()"
        else:
            yield "    _xp = _current_backend()"
        yield from self._call_kernel()
        yield from self._wrap()
        yield "if _options and 'requires_grad' in _options and _requires:"
        yield "    _out.requires_grad_()"
        yield "return _out"

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
        yield f"    _given = _as_given(_op, {tuple_of(self.positional)}, _more, _options)"
        yield "    _better = _told(_op, _given, _options, _error)"
        yield "    if _better is _error:"
        yield "        raise"
        yield "    raise _better from None"

    def _low_is_wide(self, name: str) -> Iterator[str]:
        """Another way for a tensor below float32."""
        yield f"if {name}.__class__ in _PLAIN and {name}._data.dtype.num > 255:"
        yield from indented(self._call_low())

    def _nobody_is_asked(self) -> Iterator[str]:
        op = self.op
        strange = "{0}.__class__ not in _PLAIN and {0}.__class__ not in _values"
        if not op.plan.tensors:
            first = [f"({strange.format(name)})" for name in self.positional[:1]]
            yield f"if {' or '.join(('not _PLAIN', *first))}:"
            yield f"    {self.slow}"
            for name in self.positional[:1] if op.is_wide else ():
                yield from self._low_is_wide(name)
        for i in op.plan.tensors:
            name = op.plan.params[i]
            if i != op.plan.sequence:
                yield f"if {strange.format(name)}:"
                yield f"    {self.slow}"
                if op.is_wide:
                    yield from self._low_is_wide(name)
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
