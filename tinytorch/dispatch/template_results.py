"""The last steps: the kernel, its result as a tensor, the node that records it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .template_arguments import Form, indented, tuple_of
from .template_arrays import Arrays

#: Whether operations are recorded here and now: the first two tests are ``grad_enabled()`` where
#: nobody chose, without the frame of a call.
GRAD_IS_ON = "(_scoped_grad() is None and not _GRAD.by_thread or _grad_enabled())"


class Results(Arrays):
    """From the arrays to the recorded result."""

    def _raw(self, i: int) -> str:
        return f"_a{i}" if i in self.op.plan.tensors else self.op.plan.params[i]

    @property
    def raws(self) -> str:
        """The arguments as the kernel sees them."""
        return tuple_of(map(self._raw, self.all))

    @property
    def given(self) -> str:
        """The arguments with their tensors."""
        return tuple_of(self.op.plan.params)

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
            if op.whole is not None:
                yield f"_y = _xp.{op.whole}({', '.join((*first, 'dtype'))})"
            else:
                yield f"_y = _kernel({', '.join(('_xp', *first, *named))})"
            return
        call = f"_y = _kernel({', '.join(('_xp', *first))}"
        into = [f"out={out}"] if out else []
        whole = f"{', '.join((call, *named, *into))})"
        method = op.whole or op.plan.calls
        if self.two:
            short = f"_y = _run(_a0, _a1{f', out={out}' if out else ''})"
        elif method is not None and not self.core:
            short = f"_y = _xp.{method}(_a0)"
        else:
            short = f"{', '.join((call, *into))})"
            if self.core or not named or short == whole:
                yield whole
                return
        rest = (
            self.rest
            if self.two or method is not None
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
            yield from indented(self._call_kernel())
        elif (
            len(op.plan.tensors) == 1 and op.plan.sequence is None and not op.view and not self.core
        ):
            yield from self._call_kernel()
        else:
            yield "try:"
            yield from indented(self._call_kernel())
            if self.form is Form.ITEM:
                yield "except _no_item:"
                yield f"    {self.slow}"
            yield "except _ValueError as _error:"
            yield f"    raise _explain_shapes(_op, {self.given}, _error) from None"
        several = op.plan.sequence is not None
        array = (
            "_xp.array_type" if self.core else f"{'_x' if several else f'_a{self.lead}'}.__class__"
        )
        yield f"if _y.__class__ is not {array}:"
        if op.keeps is None:
            yield "    if _y.__class__ is _tuple or _y.__class__ is _list:"
            yield from indented(indented(self._results()))
        yield "    _y = _xp.asarray(_y)"

    def _wrap(self) -> Iterator[str]:
        yield from self._make()
        yield "_out._rg = False"
        yield "_out._node = _out._base = None"

    def _make(self) -> Iterator[str]:
        """What every new tensor has, a view or not."""
        yield "_out = _next(_tensors)"
        yield "_out._data = _y"
        yield "_out._xp = _xp"
        yield "_out._grad = None"
        yield "_out._vc = _version = _making.version"
        yield "if _version is not None:"
        yield "    _mark(_out)"

    @property
    def wants(self) -> str:
        """Whether a gradient is wanted of an argument, and operations are recorded."""
        grads = [f"_g{i}" for i in self.op.plan.tensors if i in self.op.backward.differentiable]
        tests = f"({' or '.join(grads)})" if len(grads) > 1 else grads[0]
        return f"{tests} and {GRAD_IS_ON}"

    def _record(self) -> Iterator[str]:
        op = self.op
        if not op.backward.differentiable:
            return
        yield f"if {self.wants}:"
        numbers = frozenset() if op.backward.both or op.backward.joint else op.backward.may_be_fixed
        variant = f"_backward.fixed({self.given})" if numbers else "_backward"
        general = f"    _record({variant}, _xp, _out, {self.given}, {self.raws})"
        if op.plan.sequence is None:
            by_call = bool(numbers) and (self.core or self.two)
        else:
            by_call = self.core or op.backward.saves[0]
        if by_call:
            yield general
            return
        missing = [f"_g{i} is None" for i in sorted(numbers & op.plan.optional)]
        if missing:
            yield f"    if {' or '.join(missing)}:"
            yield f"    {general}"
            yield "        return _out"
        yield from indented(self._node(self._result_is_differentiable()))
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
        kind = "_y.dtype.kind in 'fcV'"
        several = self.op.plan.sequence is not None
        if several or self.lead not in self.op.backward.differentiable or self.core:
            return kind
        return f"(_y.dtype is _a{self.lead}.dtype or {kind})"

    def _node(self, condition: str, op: str = "_backward") -> Iterator[str]:
        """``_node``, for the result ``_y``, under an ``if`` that the caller goes on with."""
        edges = list(self.op.backward.differentiable)
        several = self.op.plan.sequence
        # PyTorch makes no view's node again for a result that has no gradient.
        reached = f" and {condition}" if condition else ""
        for i in edges:
            name = self.op.plan.params[i]
            yield (
                f"_e{i} = _tuple([_edge_of(_t) for _t in {name}])" if i == several else
                f"_e{i} = ({name}._node or {name}) if _g{i} is True else "
                f"_edge_of({name}) if _g{i}{reached} else None"
            )  # fmt: skip
        some = " or ".join(
            f"_any([_e is not None for _e in _e{i}])" if i == several else f"_e{i} is not None"
            for i in edges
        )
        yield f"if ({some}){f' and {condition}' if condition else ''}:"
        yield from indented(self._fill_node(edges, op))

    def _fill_node(self, edges: list[int], op: str) -> Iterator[str]:
        yield "_node = _next(_nodes)"
        yield "_node.seq = _next_seq()"
        yield f"_node.op = {op if self.form is not Form.REFLECTED else '_reflected'}"
        yield "_node.xp = _xp"
        one = "_e0" if self.op.plan.sequence is not None else tuple_of(f"_e{i}" for i in edges)
        yield f"_node.edges = {one}"
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
        yield from indented(self._save(for_first))
        yield "elif _e0 is None:"
        yield from indented(self._save(for_second))
        yield "else:"
        yield from indented(self._save(saves))

    def _save(self, saves: tuple[bool, ...]) -> Iterator[str]:
        """What the node keeps of the arguments."""
        op = self.op
        if op.plan.sequence is not None:  # in its place stand the shapes
            shapes = "_tuple([_x.shape for _x in _a0])"
            yield f"_node.args = {tuple_of((shapes, *op.plan.params[1:]))}"
            yield "_node.saved = ()"
            return
        kept = [i for i in op.plan.tensors if saves[i]]
        args = (
            self._kept(i) if i not in op.plan.tensors or i in kept else "None" for i in self.all
        )
        yield f"_node.args = {tuple_of(args)}"
        if not any(map(self._may_be_none, kept)):
            yield f"_node.saved = {tuple_of(op.plan.params[i] for i in kept)}"
        elif len(kept) == 1:
            yield f"_node.saved = () if _g{kept[0]} is None else ({op.plan.params[kept[0]]},)"
        else:
            pairs = tuple_of(f"({op.plan.params[i]}, _g{i})" for i in kept)
            some = f"_tuple([_t for _t, _g in {pairs} if _g is not None])"
            tensors = tuple_of(op.plan.params[i] for i in kept)
            given = " and ".join(f"_g{i} is not None" for i in kept if self._may_be_none(i))
            yield f"_node.saved = {tensors} if {given} else {some}"
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
        return i in self.op.plan.optional or (self.core and i in self.op.plan.numbers)

    def _results(self) -> Iterator[str]:
        """Several results."""
        differentiable = self.op.backward.differentiable
        if not self.op.view:
            wants = self.wants if differentiable else "False"
            yield f"return _results(_op, _xp, _y, {self.given}, {self.raws}, {wants})"
            return
        rest = tuple_of(self._beside_source)
        yield "_outs = []"
        yield "_node = None"
        yield "for _y in _y:"
        yield from indented(self._shown(("_pick", "_len(_outs)", rest), "_SEVERAL"))
        yield "    _outs.append(_out)"
        yield "_outs = _tuple(_outs)"
        if differentiable:
            yield f"if {self.wants}:"
            yield f"    _record(_backward, _xp, _outs, {self.given}, {self.raws})"
        yield "return _outs"

    # -- views -----------------------------------------------------------------------------

    @property
    def _beside_source(self) -> list[str]:
        return [self.op.plan.params[i] for i in self.all if i != self.lead]

    def _view(self) -> Iterator[str]:
        """The result is a view where it shares the argument's memory, and else a copy."""
        yield "_node = None"
        yield from self._shown(("_step", *self._beside_source))
        yield "if _node is not None and _Recording.watched:"
        yield "    _watch(_node, _out)"
        yield "return _out"

    def _shown(self, step: tuple[str, ...], kind: str = "") -> Iterator[str]:
        """``_out`` for the array ``_y``, made by ``step``; recorded if it has no ``kind``."""
        lead = self.lead
        yield f"if _y is _a{lead}:"
        yield "    _y = _y[...]"
        yield "    _is_view = True"
        yield "else:"
        yield "    _base = _y.base"
        yield (
            f"    _is_view = _base is not None and (_base is _a{lead} or _base is _a{lead}.base)"
            f" or _xp.is_view(_y, _a{lead})"
        )
        yield from self._make()
        if self.op.backward.differentiable and not kind:
            yield f"if {self.wants}:"
            yield from indented(self._node("", "_backward if _is_view else _copied"))
        yield "_out._node = _node"
        yield "if _is_view:"
        yield from indented(self._track(step, kind))
        yield "else:"
        yield "    _out._rg = _node is not None"
        yield "    _out._base = None"

    def _track(self, step: tuple[str, ...], kind: str) -> Iterator[str]:
        """``views.track``, in line where no thought is needed."""
        source = self.op.plan.params[self.lead]
        yield f"_vc = {source}._vc"
        yield f"_base = {source}._base"
        yield "if _base is None:"
        yield f"    _base, _before, _kind = {source}, None, {kind or repr('')}"
        yield "else:"
        yield f"    _before, _kind = {source}._steps, {kind or f'{source}._kind'}"
        yield f"if _node is None and not {GRAD_IS_ON}:"
        yield "    _kind = _unrecorded_kind()"
        yield "if _version is not None or _vc is _UNSETTLED:"
        yield f"    _track(_out, {source}, {step[0]}, {tuple_of(step[1:])}, _node, _kind)"
        yield "else:"
        yield "    if _vc is None:"
        yield f"        _vc = {source}._vc = [0]"
        yield "    _out._vc = _vc"
        yield f"    _out._steps = {tuple_of(('_before', *step))}"
        yield "    _out._base = _base"
        yield "    _out._rg = _VIEW"
        yield "    _out._wanted = _node is not None"
        yield "    _out._kind = _kind"
        yield "    _out._attr_version = _vc[0]"
