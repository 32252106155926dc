"""The second step: the arrays behind plain tensors, of one backend and one dtype."""

from __future__ import annotations

from collections.abc import Iterator

from .template_arguments import Arguments, Form, indented

#: The promotions that leave operands of one dtype as they are, whatever it is.
_ANY_KIND = ("arithmetic", "alike", "limits")


class Arrays(Arguments):
    """What stands between the parameters and the kernel."""

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
        yield "if _run is None:"
        yield "    if _dtype.num > 255:"
        yield from indented(indented(self._call_low()))
        yield f"    {self.slow}"
        yield f"if {second}.__class__ in _PLAIN:"
        yield f"    _a{b} = {second}._data"
        yield f"    if _a{b}.dtype is not _dtype or {second}._xp is not _xp:"
        yield f"        {self.slow}"
        yield f"    _g{b} = {second}._rg"
        yield "else:"
        yield f"    _a{b} = _number({second}) if {second}.__class__ in _kinds else None"
        unusual = [f"{op.plan.params[i]} is not _d{i}" for i in self.rest]
        if self.form is Form.SET_ITEM:  # what the dtype cannot hold is refused, or infinite
            unusual = [f"not -1e38 < _a{b} < 1e38", "_dtype.char == 'e'"]
        yield f"    if {' or '.join((f'_a{b} is None', *unusual))}:"
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
        yield from indented(self._check_dtype(i))
        if i in op.plan.optional and i != self.measure:
            yield f"elif {name} is None:"
            yield f"    _a{i} = _g{i} = None"
        yield "else:"
        yield f"    {self.slow}"

    def _check_dtype(self, i: int) -> Iterator[str]:
        """Operands must have one dtype, and some operations make others than floats floats."""
        op = self.op
        if op.promote is None or i not in op.plan.operands:
            if not op.takes_low:
                yield f"if _a{i}.dtype is not _single and _a{i}.dtype.num > 255:"
                yield from indented(self._call_low())
            return
        if i != self.measure:
            yield f"if _a{i}.dtype is not _dtype:"
            yield f"    {self.slow}"
            return
        yield f"_dtype = _a{i}.dtype"
        if op.takes_low and op.promote in _ANY_KIND:
            return
        yield "if _dtype is not _single:"
        yield "    if _dtype.num > 255:"
        yield from indented(indented(self._call_low()))
        if op.promote not in _ANY_KIND:
            yield "    if _dtype.kind not in 'fc':"
            yield f"        {self.slow}"

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
        if not self.op.takes_low:
            yield "if _dtype is not _single and _dtype.num > 255:"
            yield from indented(self._call_low())
