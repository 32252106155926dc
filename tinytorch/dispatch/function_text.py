"""Text of the generated functions, in five steps: bind, unwrap, kernel, wrap, record.

A function of an operation with a kernel is ``_FUNCTION`` with its parts filled in. A line that is
``{part}`` stands for the lines of that part, none if it is empty; other braces hold a name or an
expression. A line that ends in ``#? condition`` is written if the condition holds. Parts and
conditions are the attributes of ``_FunctionText``. A function runs nearly all calls, its fast path:
tensors of exact classes, of one backend and one dtype, and parameters of the declared classes.
Every other call goes to ``_slow``.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable
from textwrap import indent
from typing import Any

from .operation import REQUIRED, Form, Op

_FUNCTION = """
def function({header}):
    try:
        {bind}
        {unwrap}
        {kernel}
        {finish}
    except _Exception as _error:
        _shorten(_error)
        raise
"""
_BIND = """
{keyword_defaults}
if {last}.__class__ not in _basic and not _is_basic({last}): {slow}         #? by_index
{bind_named}
"""
_BIND_NAMED = """
{bind_size}
if _more: {slow}                                                            #? no_size
if _options:
    _left = _len(_options)
    {bind_keywords}
    if _options.get('requires_grad').__class__ is _bool: _left -= 1         #? creates
    _left -= _len(_options.keys() & _PLACES)                                #? creates
    if _left:
        {bind_positional}
        if _left: {slow}
if {unfit}: {slow}                                                          #? unfit
"""
_BIND_KEYWORD = """
if _n{i} in _options:
    if {also_given}: {slow}                                                 #? also_given
    {name} = _options[_n{i}]
    _left -= 1
"""
_BIND_SIZE = """
if _more:
    size = _more
    _first = _more[0].__class__
    if _first is not _int:
        if _len(_more) > 1 or not _issubclass(_first, (_tuple, _list)): {slow}
        size = _more[0]
else: size = _d{size_at}
"""
_UNWRAP_TWO = """
if {first}.__class__ not in _PLAIN: {slow}
_a{lead}, _xp, _g{lead} = {first}._data, {first}._xp, {first}._rg
_dtype = _a{lead}.dtype
_known, _kept, _run, _kinds, _number = _last[0]
if _known is not _xp or _kept is not _dtype:
    _known, _kept, _run, _kinds, _number = _find(_xp, _dtype)
if _run is None:
    if _dtype.num <= 255: {slow}
    {reduced}
if {second}.__class__ in _PLAIN:
    _a{after} = {second}._data
    if _a{after}.dtype is not _dtype or {second}._xp is not _xp: {slow}
    _g{after} = {second}._rg
else:
    _a{after} = _number({second}) if {second}.__class__ in _kinds else None
    if {unusual}: {slow}
    _g{after} = None
"""
_UNWRAP_FIRST = """
if {first}.__class__ not in _PLAIN: {slow}
_a{lead}, _xp, _g{lead} = {first}._data, {first}._xp, {first}._rg
{check_first}
{unwrap_others}
"""
_UNWRAP_OTHER = """
if {name}.__class__ in _PLAIN:
    _a{i}, _g{i} = {name}._data, {name}._rg
    if {name}._xp is not _xp: {slow}
    {check_dtype}
elif {name} is None: _a{i} = _g{i} = None                                   #? may_be_none
elif {name}.__class__ in {number_kinds}: _a{i}, _g{i} = {name}, None        #? may_be_number
else: {slow}
"""
_UNWRAP_SEQUENCE = """
if {first}.__class__ is not _tuple and {first}.__class__ is not _list or not {first}: {slow}
_a0, _g0, _xp, _dtype = [], False, None, None
for _t in {first}:
    if _t.__class__ not in _PLAIN: {slow}
    _x = _t._data
    if _t._xp is not _xp or _x.dtype is not _dtype:
        if _xp is not None: {slow}
        _xp, _dtype = _t._xp, _x.dtype
    _a0.append(_x)
    if _t._rg: _g0 = True
if _dtype is not _single and _dtype.num > 255:                              #? reduces
    {reduced}                                                               #? reduces
"""
_CHECK_DTYPE = """
if _a{i}.dtype is not _dtype: {slow}                                        #? same_dtype
_dtype = _a{i}.dtype                                                        #? sets_dtype
if {own_dtype} is not _single:                                              #? looks_at_dtype
    if {own_dtype}.num > 255:                                               #? reduces
        {reduced}                                                           #? reduces
    if _dtype.kind not in 'fc': {slow}                                      #? floats_alone
"""
_REDUCED = """
_out = _in_float32({reduced_arguments})
return _slow({slow_arguments}) if _out is None else _out
"""
_KERNEL = """
if _g1 and {grad_is_on}: return other.reciprocal() * input                  #? divides
try:
    {run_kernel}
except _no_item: {slow}                                                     #? by_index
except _ValueError as _error:
    raise _explain_shapes(_op, {given}, _error) from None
if _y.__class__ is not {array}.__class__:
    if _y.__class__ is _tuple or _y.__class__ is _list:
        return _results(_op, _xp, _y, {given}, {raws}, {wants})             #? new
        return _several_views(_pick, _xp, _y, {first}, _a{lead}, {beside}, {wants}) #? view
    _y = _xp.asarray(_y)
if _y is _a{lead}: return {first}                                           #? returns_input
"""
_WRAP = """
_out = _next(_tensors)
_out._data, _out._xp, _out._grad = _y, _xp, None
_out._vc = _version = _making.version
if _version is not None: _mark(_out)
_out._rg = False                                                            #? new
_out._node = _out._base = None                                              #? new
"""
_NEW = """
{wrap}
if {wants}:                                                                 #? differentiable
    if {left_out}: return {record_by_call}                                  #? left_out
    {node}                                                                  #? differentiable
return _out
"""
_VIEW = """
if _y is _a{lead}: _y, _is_view = _y[...], True
else:
    _base = _y.base
    _is_view = _base is not None and (_base is _a{lead} or _base is _a{lead}.base)
    _is_view = _is_view or _xp.is_view(_y, _a{lead})
{wrap}
_node = None
if {wants}:                                                                 #? differentiable
    {node}                                                                  #? differentiable
_out._node = _node
if _is_view:
    _vc, _base = {first}._vc, {first}._base
    if _base is None: _base, _before, _kind = {first}, {first}._reshaped, ''
    else: _before, _kind = {first}._view_ops, {first}._kind
    if _node is None and not {grad_is_on}: _kind = _unrecorded_kind()
    if _version is not None or _vc is _UNSETTLED:
        _track_view(_out, {first}, _step, {beside}, _node, _kind)
    else:
        if _vc is None: _vc = {first}._vc = [0]
        _out._vc, _out._view_ops = _vc, (_before, _step{step_arguments})
        _out._base, _out._rg, _out._own_rg = _base, _VIEW, _node is not None
        _out._kind, _out._attr_version = _kind, _vc[0]
else:
    _out._rg, _out._base = _node is not None, None
if _node is not None and _Recording.watched: _watch(_node, _out)
return _out
"""
_INPLACE = """
_vc = {first}._vc
if _making.version is not None or _vc is _UNSETTLED: {slow}
if not _xp.refuses_writes and _xp.readonly(_a0): {slow}
if ({any_requires_grad}) and {grad_is_on} and ({any_edge}): {slow}
{check_shared}
try:
    {run_kernel}
    if _y.__class__ is not _a0.__class__ or _y.dtype is not _a0.dtype: {slow} #? copies
    if _y.shape != _a0.shape: {slow}                                        #? copies_several
    _xp.copyto(_a0, _y)                                                     #? copies
except (_ValueError, *_no_item): {slow}
if _vc is None: {first}._vc = [1]
else: _vc[0] += 1
return {written}
"""
_CHECK_SHARED = """
if _g{i} is not None and _vc is not None and {name}._vc is _vc: {slow}
if {name} is {first}: {slow}                                                #? picks
"""
_CREATION = """
if {overridden}: {slow}
for _n in size if size.__class__ is _tuple and _len(size) < 4 else (None,): #? has_size
    if _n.__class__ is not _int or not 0 <= _n < 65536:                     #? has_size
        size = _check_size(_op.name, size)                                  #? has_size
        break                                                               #? has_size
if dtype is None and not _options: _xp, dtype = {find_place}
else:
    _xp = _backend_for(_options.get('device'), _options.get('backend'))
    if dtype is not None: dtype = _xp.native_dtype(_as_dtype(dtype))
    else: dtype = _xp.native_dtype(_default_dtype())                        #? by_default
{create}
{wrap}
if _options and _options.get('requires_grad'): _out.requires_grad_()
return _out
"""
_NODE = """
{edges}
if ({any_edge_found}){and_differentiable}:
    _node = _next(_nodes)
    _node.seq, _node.op, _node.xp = _next_seq(), {backward}, _xp
    _node.edges = {edge_tuple}
    _node.shape, _node.dtype = _y.shape, _y.dtype
    _node.versions = _node.out = _node.out_version = _node.hooks = _node.extra = None
    {save}
    _out._node, _out._rg = _node, True                                      #? new
    _node.out = _kept                                                       #? with_saved
    _node.out, _out._vc = _y, [0]                                           #? saves_out
    _node.out_version = ((_out._vc, 0),)                                    #? saves_out
    if _Recording.watched: _watch(_node, _out)                              #? new
"""
_SAVE = """
_node.args = {kept}
_node.saved = {saved}
if {changed}: _note_versions(_node)                                         #? changed
"""
_SAVE_BY_EDGE = """
if _e1 is None:
    {save_first}
elif _e0 is None:
    {save_second}
else:
    {save_both}
"""

#: Promotions that do not change operands of one dtype.
_ANY_KIND = ("arithmetic", "alike", "limits")
#: Classes of a parameter's values, by annotation, for an operation that runs a composite's calls.
_CLASSES = {"int": "_int", "bool": "_bool", "dtypes.dtype": "_dtypes"}


def write_function(op: Op, form: Form) -> str:
    """Return the text of one function, whose name in it is ``function``."""
    return _FunctionText(op, form).fill(_FUNCTION) + "\n"


def _tuple_of(names: Iterable[str]) -> str:
    """Return the text of a tuple of expressions: ``(a,)`` or ``(a, b)``."""
    names = tuple(names)
    return f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"


class _FunctionText:
    """Parts and conditions of one function's text, by the names that the skeletons use."""

    #: ``grad_enabled()``, without the frame of a call while no thread or scope has set it.
    grad_is_on = "(_scoped_grad() is None and not _GRAD.by_thread or _grad_enabled())"
    bind = unwrap = kernel = ""
    wrap = _WRAP

    def __init__(self, op: Op, form: Form) -> None:
        self.op, self.form, self.plan = op, form, op.plan
        if not op.has_fast_path(form):
            self.header = "*_more, **_options" if form.has_names else "_a, _b, /"
            self.finish = f"return _slow({'(), _more, _options' if form.has_names else '_a, _b'})"
            return
        self.names = [self._name(i) for i in range(len(op.plan.params))]
        self.lead = 1 if form is Form.REFLECTED else op.plan.lead or 0
        self.first, self.last = self.names[self.lead], self.names[-1]
        self.rest = [i for i in range(len(self.names)) if i not in op.plan.tensors]
        self.raw_names = [n if i in self.rest else f"_a{i}" for i, n in enumerate(self.names)]
        self.given, self.raws = _tuple_of(self.names), _tuple_of(self.raw_names)
        self._fill_arguments()
        if form is Form.CREATION:
            self._fill_creation()
        else:
            self._fill_arrays()
            self._fill_recording()
            self._fill_kernel()
            self._fill_finish()

    def _name(self, i: int) -> str:
        """Return the name in the text for the parameter at position ``i``.

        It does not depend on the operation's own names, so that operations can share a text.
        """
        name, tensors = self.plan.params[i], self.plan.tensors[:2]
        if i in tensors:
            return ("input", "other")[tensors.index(i)]
        return "size" if i == self.plan.sizes else name if name == "dtype" else f"p{i}"

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def fill(self, skeleton: str, **parts: Any) -> str:
        """Return a skeleton with its parts filled in, from ``parts`` or else from attributes.

        The syntax of skeletons is described at the top of this file.
        """
        values: Any = ChainMap(parts, self)  # type: ignore[arg-type]
        lines = []
        for line in skeleton.strip("\n").split("\n"):
            line, _, condition = line.partition("#? ")
            if condition and not values[condition]:
                continue
            part = line.strip()
            if not part[1:-1].isidentifier() or part[0] + part[-1] != "{}":
                lines.append(line.rstrip().format_map(values))
            elif text := values[part[1:-1]]:
                lines.append(indent(self.fill(text, **parts), line[: line.index("{")]))
        return "\n".join(lines)

    def each(self, skeleton: str, positions: Iterable[int], **parts: Any) -> str:
        """Return the lines of a skeleton filled in for each of several parameters.

        Args:
            skeleton: The text, in which ``{i}`` and ``{name}`` are the parameter's.
            positions: Positions of the parameters.
            **parts: Functions of a position that return the part.
        """
        return "\n".join(
            self.fill(skeleton, i=i, name=self.names[i], **{n: f(i) for n, f in parts.items()})
            for i in positions
        )

    def _fill_arguments(self) -> None:
        """Set the parts that bind the arguments of a call to the parameters."""
        plan, names, form, at = self.plan, self.names, self.form, self.plan.positional
        size = form in (Form.FUNCTION, Form.CREATION) and plan.sizes == at - 1
        # The parameters of the function; sizes passed one by one are in ``*_more``.
        self.slots = slots = names[: at - size]
        placed = [names[0], *names[:0:-1]] if form is Form.SET_ITEM else names[:2]
        parameters = [*(f"{name}=_d{i}" for i, name in enumerate(slots)), *(["/"] if slots else [])]
        after = placed[::-1] if form is Form.REFLECTED else placed
        header = [*parameters, "*_more", "**_options"] if form.has_names else [*after, "/"]
        self.header = ", ".join(header)
        slow = f"{_tuple_of(slots)}, _more, _options" if form.has_names else ", ".join(placed)
        self.slow, self.slow_arguments = f"return _slow({slow})", slow
        self.bind, self.bind_named = _BIND, _BIND_NAMED if form.has_names else ""
        self.by_index, self.creates = form in (Form.ITEM, Form.SET_ITEM), form is Form.CREATION
        self.bind_size, self.no_size, self.size_at = _BIND_SIZE * size, not size, plan.sizes
        keywords = [] if form is Form.SET_ITEM else range(at, len(names))
        self.keyword_defaults = self.each("{name} = _d{i}", keywords)
        self.bind_keywords = self.each(_BIND_KEYWORD, keywords, also_given=lambda i: "")
        also = [f"{name} is not _d{i}" for i, name in enumerate(slots)] + ["_more"]
        self.bind_positional = self.each(_BIND_KEYWORD, range(at), also_given=also.__getitem__)
        unfit = map(self._unfit, [] if self.op.is_numpy_function else self.rest)
        self.unfit = " or ".join(filter(None, unfit))

    def _unfit(self, i: int) -> str:
        """Return the test whether an argument is missing or of another class than declared.

        Such a call takes the slow path. The text is empty for a parameter that needs no test.
        """
        name, kind = self.names[i], self.plan.scalars.get(i, (None, False))[0]
        annotation = str(self.op.annotations.get(self.plan.params[i]))
        if kind is not None:
            classes = "is not _bool" if kind is bool else "not in _reals"
            return f"{name} is not _d{i} and {name}.__class__ {classes}"
        if self.op.registered.serves_composite and annotation in _CLASSES:
            return f"{name}.__class__ is not {_CLASSES[annotation]}"
        if self.plan.defaults[i] is REQUIRED:
            return f"{name} is _required"
        if name == "dtype" and self.plan.tensors:
            return "dtype is not None and (dtype.__class__ is not _dtypes or dtype in _LOW)"
        return name if i == self.plan.flag else ""

    def _fill_creation(self) -> None:
        """Set the parts of the function of a creation operation."""
        plan, names, whole = self.plan, self.names, self.op.backend_function
        self.finish, self.new, self.has_size = _CREATION, True, plan.sizes is not None
        self.by_default = self.op.registered.default_dtype
        self.find_place = "_place_of_new()" if self.by_default else "_current_backend(), None"
        values = [i for i in range(plan.positional) if i != plan.sizes and i not in plan.scalars]
        others = [f"{names[i]}.__class__ not in _values" for i in values]
        self.overridden = " or ".join(["not _PLAIN", *others])
        short = f"_xp.{whole}({', '.join([*names[: plan.positional], 'dtype'])})"
        self.create = f"_y = {short if whole else self._whole_call()}"

    def _fill_arrays(self) -> None:
        """Set the parts that get the arrays of the tensors and check their backend and dtype."""
        plan, op, lead, named = self.plan, self.op, self.lead, self.form.has_names
        self.two, self.sequence = plan.is_binary, plan.sequence is not None
        self.after, self.second = 1 - lead, self.names[1 - lead] if self.two else ""
        several = _UNWRAP_SEQUENCE if self.sequence else _UNWRAP_FIRST
        self.unwrap = _UNWRAP_TWO if self.two else several
        self.reduces = not op.accepts_reduced
        unusual = [f"{self.names[i]} is not _d{i}" for i in self.rest]
        if self.form is Form.SET_ITEM:  # a number beyond the dtype is an error, or infinite
            unusual = [f"not -1e38 < _a{self.after} < 1e38", "_dtype.char == 'e'"]
        self.unusual = " or ".join([f"_a{self.after} is None", *unusual])
        values = self.slots if named else self.names[: len(plan.tensors)][:: -1 if lead else 1]
        others = "_more, _options" if named else "(), None, True" if lead else "(), None"
        self.reduced_arguments = f"{_tuple_of(values)}, {others}"
        self.reduced = "{slow}" if self.form.writes else _REDUCED
        self.check_first = self._check_dtype(lead)
        # Beside floats a number needs no conversion, and without promotion none does.
        is_known = op.promote is None or lead in plan.operands
        first = None if is_known else plan.dtype_operand(lead)
        self.accepted_numbers = frozenset(
            i for i in plan.numbers if not self.two and (first is None or i > first)
        )
        self.number_kinds = "_numbers" if op.promote is None else "_reals and _dtype.kind == 'f'"
        self.unwrap_others = self.each(
            _UNWRAP_OTHER, [i for i in plan.tensors if i != lead], check_dtype=self._check_dtype,
            may_be_none=lambda i: i in plan.optional and i != plan.dtype_operand(lead),
            may_be_number=self.accepted_numbers.__contains__,
        )  # fmt: skip

    def _check_dtype(self, i: int) -> str:
        """Return the lines that check the dtype of the tensor at position ``i``.

        They take the slow path unless an operand has the common dtype, and one that needs no cast.
        """
        promote = self.op.promote
        operand = promote is not None and i in self.plan.operands
        sets_dtype = operand and i == self.plan.dtype_operand(self.lead)
        same_dtype = operand and not sets_dtype
        floats, reduces = sets_dtype and promote not in _ANY_KIND, self.reduces and not same_dtype
        return self.fill(
            _CHECK_DTYPE, i=i, sets_dtype=sets_dtype, same_dtype=same_dtype, floats_alone=floats,
            reduces=reduces, looks_at_dtype=reduces or floats,
            own_dtype="_dtype" if sets_dtype else f"_a{i}.dtype",
        )  # fmt: skip

    def _whole_call(self, out: str = "") -> str:
        """Return the text of a call of the kernel with all arguments; ``out`` is added to them."""
        at, raws = self.plan.positional, self.raw_names
        named = map("{}={}".format, self.plan.params[at:], raws[at:])
        return f"_kernel({', '.join(['_xp', *raws[:at], *named])}{out})"

    def _fill_kernel(self) -> None:
        """Set the parts that call the kernel, or the backend's function that equals it."""
        plan, op, names, raws = self.plan, self.op, self.names, self.raw_names
        self.kernel, at = "" if self.form.writes else _KERNEL, plan.positional
        self.array = "_x" if self.sequence else raws[self.lead]
        out = ", out=_a0" if self.form.writes and plan.takes_out else ""
        method, rest = op.backend_function or plan.calls, self.rest
        if self.two:
            short = f"_run(_a0, _a1{out})"
        elif method is not None:
            short = f"_xp.{method}(_a0)"
        else:
            short = f"_kernel({', '.join(['_xp', *raws[:at]])}{out})"
            rest = list(range(at, len(names)))
        usual = " and ".join(f"{names[i]} is _d{i}" for i in rest)
        self.run_kernel = f"_y = {short}"
        if usual:
            self.run_kernel += f" if {usual} else {self._whole_call(out)}"
        self.with_saved = op.registered.forward_with_saved is not None
        if self.with_saved:
            saved = f"_forward_with_saved(_xp, {', '.join(raws)})"
            when = f"{self.wants} and not _Recording.watched"
            self.run_kernel = f"_y, _kept = {saved} if {when} else ({self._whole_call()}, None)"
        self.divides = self.form is Form.REFLECTED and op.name == "div"
        self.returns_input, self.view = plan.returns_input, op.view

    def _fill_recording(self) -> None:
        """Set the parts that record the call: its condition, the edges, and the saved values."""
        backward, edges = self.op.backward, self.op.backward.differentiable
        self.differentiable, self.new, self.saves_out = edges, not self.op.view, backward.saves_out
        grads = " or ".join(f"_g{i}" for i in edges)
        self.wants = f"({grads}) and {self.grad_is_on}" if edges else "False"
        # A call with numbers among the differentiable arguments has a variant of ``Backward``.
        apart = backward.both or backward.joint
        numbers = frozenset() if apart else backward.may_be_fixed
        variant = f"_backward.drop_numbers({self.given})" if numbers else "_backward"
        self.record_by_call = f"_record({variant}, _xp, _out, {self.given}, {self.raws})"
        self.no_tensors = self.plan.optional | self.accepted_numbers
        self.left_out = " or ".join(f"_g{i} is None" for i in sorted(numbers & self.no_tensors))
        by_call = backward.saves[0] if self.sequence else numbers and self.two
        self.node = f"return {self.record_by_call}" if by_call else _NODE
        kind = "_y.dtype.kind in 'fcV'"
        if not self.sequence and self.lead in edges:
            kind = f"(_y.dtype is _a{self.lead}.dtype or {kind})"
        # PyTorch does not rebuild a view's node for a result without a gradient.
        self.and_differentiable = f" and {kind}" if self.new else ""
        self.backward = "_reflected" if self.form is Form.REFLECTED else "_backward"
        if self.op.view:
            self.backward = "_backward if _is_view else _copied"
        found = "_any([_e is not None for _e in _e{i}])" if self.sequence else "_e{i} is not None"
        self.any_edge_found = " or ".join(found.format(i=i) for i in edges)
        edge = ("_e{i} = _tuple([_edge_of(_t) for _t in {name}])" if self.sequence else
                "_e{i} = ({name}._node or {name}) if _g{i} is True else "
                "_edge_of({name}) if _g{i}{and_differentiable} else None")  # fmt: skip
        self.edges = self.each(edge, edges)
        self.edge_tuple = "_e0" if self.sequence else _tuple_of(f"_e{i}" for i in edges)
        ways = (backward.saves, *(backward.saves_for if backward.both else ()))
        self.save_both, *others = map(self._save, ways)
        self.save = self.save_both
        if {*others} - {self.save_both}:
            self.save, (self.save_first, self.save_second) = _SAVE_BY_EDGE, others

    def _save(self, saves: tuple[bool, ...]) -> str:
        """Return the lines that save in the node the arguments that its gradient rules read.

        Args:
            saves: By position, whether a rule reads the value.
        """
        names, tensors = self.names, self.plan.tensors
        if self.sequence:  # the rules read only the shapes
            shapes = "_tuple([_x.shape for _x in _a0])"
            return self.fill(_SAVE, kept=_tuple_of([shapes, *names[1:]]), saved="()", changed="")
        positions = [i for i in tensors if saves[i]]
        unread = {*tensors} - {*positions}
        # A tensor that no rule reads is replaced by None.
        kept = ["None" if i in unread else name for i, name in enumerate(self.raw_names)]
        if self.two and self.lead == 1 and saves[0]:  # a number is saved as Python's
            kept[0] = f"_a0 if _g0 is not None else {names[0]}"
        saved = _tuple_of(names[i] for i in positions)
        optional = [self.after] if self.two else self.no_tensors  # a number, or None
        # By position, the expression for whether an optional argument is a tensor.
        is_tensor = {i: f"_g{i} is not None" for i in positions if i in optional}
        if is_tensor:
            pairs = _tuple_of(f"({names[i]}, _g{i})" for i in positions)
            tensors_only = f"_tuple([_t for _t, _g in {pairs} if _g is not None])"
            otherwise = "()" if len(positions) == 1 else tensors_only
            saved += f" if {' and '.join(is_tensor.values())} else {otherwise}"
        # True in the generated code if a saved tensor has a version counter.
        changed = " or ".join(
            f"{f'{is_tensor[i]} and ' if i in is_tensor else ''}{names[i]}._vc is not None"
            for i in positions
        )
        return self.fill(_SAVE, kept=_tuple_of(kept), saved=saved, changed=changed)

    def _fill_finish(self) -> None:
        """Set the parts that wrap the result, or write it, and return."""
        op, form, names, tensors = self.op, self.form, self.names, self.plan.tensors
        self.finish = _INPLACE if form.writes else _VIEW if op.view else _NEW
        beside = [name for i, name in enumerate(names) if i != self.lead]
        self.beside = _tuple_of(beside)
        self.step_arguments = "".join(f", {name}" for name in beside)
        self.any_requires_grad = " or ".join(f"_g{i}" for i in tensors)
        self.any_edge = " or ".join(
            f"_g{i} and (_g{i} is True or _edge_of({names[i]}) is not None)" for i in tensors
        )
        self.picks, self.copies = self.plan.picks, not self.plan.takes_out
        self.copies_several = self.copies and len(tensors) > 1
        self.check_shared = self.each(_CHECK_SHARED, tensors[1:])
        self.written = "None" if form is Form.SET_ITEM else self.first
