"""How a public function calls its kernel: fast paths, binding, recording, in-place and out=.

A wrapper is chosen once, when an operation is defined, to fit its kind. The fast paths (one
tensor; two tensors, or a tensor and a number) handle what needs no thought and hand
everything else to the general path: keywords, conversion, promotion, several results.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from . import _state, dtypes
from ._convert import cast_tensor, common_backend, promote_operands, to_tensor
from ._op import REQUIRED, Op
from ._signature import of_operator
from ._tensor import Tensor, new, wrap
from .autograd import views
from .autograd.engine import Anomaly
from .autograd.graph import Node, Slot, next_seq
from .autograd.views import VIEW, edge_of

grad_enabled = _state.grad_enabled

#: NumPy's spellings of parameters, where the operation has torch's.
SPELLINGS = {
    "axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input",
    "x2": "other", "dims": "dim", "self": "input", "arr": "input", "a_min": "min", "a_max": "max",
}  # fmt: skip
#: Keywords only NumPy has: their presence means the call is NumPy's.
NUMPY_KEYWORDS = frozenset(
    ("axis", "keepdims", "ddof", "kind", "num", "k", "N", "return_index", "indices_or_sections",
     "equal_nan", "a_min", "a_max", "order", "rowvar", "bias")
)  # fmt: skip


# -- fast paths -----------------------------------------------------------------------------


def make_function(op: Op) -> Callable[..., Any]:
    """The public function that fits ``op``'s kind."""
    if op.view or op.returns is not None or op.sequence is not None or not op.tensors:
        return _general(op)
    if op.params == ("input",):
        return _unary(op)
    if op.tensors == op.operands == (0, 1) and op.positional == 2 and op.params[0] == "input":
        if all(d is not REQUIRED for d in op.defaults[2:]):
            return _binary(op)
    return _general(op)


def _unary(op: Op) -> Callable[..., Any]:
    kernel = op.kernel
    only_floats = op.promote == "float"

    def function(input: Any = REQUIRED, **options: Any) -> Any:
        if options or not isinstance(input, Tensor):
            return call(op, () if input is REQUIRED else (input,), options)
        x = input._data
        if only_floats and x.dtype.kind not in "fc":
            return call(op, (input,), options)
        xp = input._xp
        y = kernel(xp, x)
        if y.__class__ is not x.__class__:
            y = xp.asarray(y)
        out = new(Tensor)
        out._data = y
        out._xp = xp
        out._rg = False
        out._node = out.grad = out._vc = out._base = out._view = None
        if input._rg and op.differentiable and grad_enabled():
            record_unary(op, xp, out, input, x)
        return out

    return function


def _binary(op: Op) -> Callable[..., Any]:
    forward = _operands(op, call)

    def function(input: Any, other: Any, **options: Any) -> Any:
        if options or not isinstance(input, Tensor):
            return call(op, (input, other), options)
        return forward(input, other)

    return function


def _operands(op: Op, fallback: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """A tensor and another, or a number; ``fallback`` takes every call that is less plain."""
    only_floats = op.promote == "float"
    kernels: dict[Any, Callable[..., Any]] = {}

    def kernel_on(xp: Any) -> Callable[..., Any]:
        # Where the kernel is one library function, it is called without a frame of ours.
        kernel = op.kernel
        found = getattr(xp, op.ufunc) if op.ufunc else lambda x, y: kernel(xp, x, y)
        kernels[xp] = found
        return found

    def forward(input: Any, other: Any) -> Any:
        x = input._data
        xp = input._xp
        rg = input._rg
        dtype = x.dtype
        if isinstance(other, Tensor):
            y = other._data
            if y.dtype is not dtype or other._xp is not xp:
                return fallback(op, (input, other), {})
            if only_floats and dtype.kind not in "fc":
                return fallback(op, (input, other), {})
            rg = rg or other._rg
        elif (other.__class__ is float or other.__class__ is int) and dtype.kind == "f":
            y = other
        else:
            return fallback(op, (input, other), {})
        try:
            z = (kernels.get(xp) or kernel_on(xp))(x, y)
        except ValueError as error:
            raise explain_shapes(op, (input, other), error) from None
        if z.__class__ is not x.__class__:
            z = xp.asarray(z)
        out = new(Tensor)
        out._data = z
        out._xp = xp
        out._rg = False
        out._node = out.grad = out._vc = out._base = out._view = None
        if rg and op.differentiable and grad_enabled():
            record_binary(op, xp, out, input, other, x, y)
        return out

    return forward


def record_unary(op: Op, xp: Any, out: Any, input: Any, x: Any) -> None:
    """``record`` for one tensor and parameters at their defaults."""
    rg = input._rg
    if rg is True:
        edge = input._node
        if edge is None:
            edge = input
    else:
        edge = edge_of(input)
        if edge is None:
            return
    y = out._data
    if y.dtype.kind not in "fc":
        return
    if op.saves[0]:
        node = Node(op, xp, (edge,), (x,), (input,), y.shape, y.dtype)
        if input._vc is not None:
            note_versions(node)
    else:
        node = Node(op, xp, (edge,), _NO_ARGUMENT, (), y.shape, y.dtype)
    if op.saves_out:
        keep_out(node, out)
    if Anomaly.enabled:
        keep_traceback(node)
    out._node = node
    out._rg = True


_NO_ARGUMENT = (None,)


def record_binary(op: Op, xp: Any, out: Any, input: Any, other: Any, x: Any, y: Any) -> None:
    """``record`` for two operands and parameters at their defaults."""
    if op.differentiable != (0, 1):
        return record(op, xp, out, (input, other, *op.defaults[2:]), (x, y, *op.defaults[2:]))
    rg = input._rg
    if rg is True:
        first = input._node
        if first is None:
            first = input
    else:
        first = edge_of(input) if rg else None
    saves = op.saves
    if y is other:  # a number
        second = None
        saved = (input,) if saves[0] else ()
    else:
        rg = other._rg
        if rg is True:
            second = other._node
            if second is None:
                second = other
        else:
            second = edge_of(other) if rg else None
        if saves[0]:
            saved = (input, other) if saves[1] else (input,)
        else:
            saved = (other,) if saves[1] else ()
    if first is None and second is None:
        return None
    z = out._data
    dtype = z.dtype
    if dtype is not x.dtype and dtype.kind not in "fc":
        return None
    # Node(...), without the frame of a call: this is the hot path.
    node = new(Node)
    node.seq = next_seq()
    node.op = op
    node.xp = xp
    node.edges = (first, second)
    node.saved = saved
    node.shape = z.shape
    node.dtype = dtype
    node.versions = node.out = node.out_version = node.hooks = node.extra = None
    if op.saves_none:
        node.args = op.bare
    else:
        args = (x if saves[0] else None, y if saves[1] else None)
        node.args = args + op.tail if op.tail else args
        for tensor in saved:
            if tensor._vc is not None:
                note_versions(node)
                break
    if op.saves_out:
        keep_out(node, out)
    if Anomaly.enabled:
        keep_traceback(node)
    out._node = node
    out._rg = True
    return None


# -- recording ----------------------------------------------------------------------------------


def record(op: Op, xp: Any, out: Any, given: tuple[Any, ...], raws: tuple[Any, ...]) -> None:
    """Make ``out`` (or each of several results) a recorded result of ``op``.

    Args:
        op: The operation.
        xp: Its backend.
        out: The result, or a tuple of results.
        given: The arguments with their tensors.
        raws: The same arguments as the kernel saw them.
    """
    node = make_node(op, xp, given, raws)
    if node is None:
        return
    if isinstance(out, tuple):
        node.shape = tuple(t._data.shape for t in out)
        node.dtype = tuple(t._data.dtype for t in out)
        if op.saves_out:
            node.out = tuple(t._data for t in out)
        for i, t in enumerate(out):
            if t._data.dtype.kind in "fc":
                t._node = Slot(node, i)
                t._rg = True
        return
    data = out._data
    if data.dtype.kind not in "fc":
        return
    node.shape = data.shape
    node.dtype = data.dtype
    if op.saves_out:
        keep_out(node, out)
    out._node = node
    out._rg = True


def make_node(op: Op, xp: Any, given: tuple[Any, ...], raws: tuple[Any, ...]) -> Node | None:
    """A node for a call of ``op``, without its result; None if no input wants a gradient."""
    if op.sequence is not None and op.sequence in op.differentiable:
        edges = tuple(edge_of(t) for t in given[op.sequence])
    else:
        edges = tuple(
            edge_of(given[i]) if isinstance(given[i], Tensor) else None for i in op.differentiable
        )
    if not any(edge is not None for edge in edges):
        return None
    args = tuple(
        raw if keep or i not in op.tensors else None
        for i, (raw, keep) in enumerate(zip(raws, op.saves, strict=True))
    )
    if op.sequence is not None and not op.saves[op.sequence]:
        shapes = tuple(tuple(raw.shape) for raw in raws[op.sequence])
        args = (*args[: op.sequence], shapes, *args[op.sequence + 1 :])
    saved: list[Any] = []
    for i in op.saved_positions:
        value = given[i]
        if isinstance(value, (tuple, list)):
            saved.extend(value)
        elif isinstance(value, Tensor):
            saved.append(value)
    node = Node(op, xp, edges, args, tuple(saved), None, None)
    note_versions(node)
    if Anomaly.enabled:
        keep_traceback(node)
    return node


def note_versions(node: Node) -> None:
    """Remember the versions of the saved tensors, unless none was ever modified."""
    for tensor in node.saved:
        cell = tensor._vc
        if cell is not None and cell[0]:
            if tensor._version == -1:
                raise RuntimeError(
                    "Inference tensors cannot be saved for backward. To work around you can "
                    "make a clone to get a normal tensor and use it in autograd."
                )
            node.versions = tuple(t._version for t in node.saved)
            return


def keep_out(node: Node, out: Tensor) -> None:
    """Save the result for the rules that use it (not the tensor: that would be a cycle)."""
    node.out = out._data
    if out._vc is None:
        out._vc = [0]
    node.out_version = (out._vc, out._vc[0])


def keep_traceback(node: Node) -> None:
    """Anomaly mode: remember where the operation was called."""
    import traceback

    node._extra()["traceback"] = traceback.format_stack()[:-3]


# -- the general path ---------------------------------------------------------------------------


def _general(op: Op) -> Callable[..., Any]:
    def function(*args: Any, **options: Any) -> Any:
        return call(op, args, options)

    return function


def call(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call ``op`` with anything a user may pass."""
    if options:
        if op.numpy_form is not None and not NUMPY_KEYWORDS.isdisjoint(options):
            return op.numpy_form(*args, **options)
        out = options.pop("out", None)
        if out is not None:
            return call_into(op, out, args, options)
    given, xp = prepare(op, args, options)
    raws = tuple(unwrap(v) for v in given)
    try:
        y = op.run(xp, raws)
    except ValueError as error:
        raise explain_shapes(op, given, error) from None
    if y.__class__ is tuple or y.__class__ is list:
        return _many(op, xp, y, given, raws)
    if y.__class__ is not xp.array_type:
        y = xp.asarray(y)
    out = wrap(y, xp)
    wants = op.differentiable and any_rg(op, given) and grad_enabled()
    if op.view and xp.is_view(y, raws[op.tensors[0]]):
        _view_result(op, xp, out, given, raws, bool(wants))
    elif wants:
        record(op, xp, out, given, raws)
    return out


def prepare(
    op: Op, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], Any]:
    """The full argument tuple, tensors converted and promoted, and the backend."""
    given = bind(op, args, options)
    xp = common_backend(op, given)
    for i in op.tensors:
        value = given[i]
        if i == op.sequence:
            if value is not None:
                given[i] = tuple(to_tensor(op, i, v, xp) for v in value)
        elif not isinstance(value, Tensor) and value is not None:
            if not isinstance(value, (bool, int, float, complex)):
                given[i] = to_tensor(op, i, value, xp)
            elif i not in op.numbers:
                given[i] = _refuse_number(op, i, value) if op.strict else to_tensor(op, i, value, xp)
            elif op.strict and not any(isinstance(given[k], Tensor) for k in op.tensors):
                _refuse_number(op, i, value)
    if op.promote is not None:
        promote_operands(op, given, xp)
    return tuple(given), xp


def _refuse_number(op: Op, position: int, value: Any) -> None:
    raise TypeError(
        f"{op.name}(): argument '{op.params[position]}' (position {position + 1}) must be Tensor, "
        f"not {type(value).__name__}"
    )


def bind(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
    """Arguments in the order of ``op.params``, defaults filled in."""
    at = op.shape_position
    if at is not None and len(args) > at and isinstance(args[at], (int, Tensor)):
        if not (len(args) == at + 1 and isinstance(args[at], Tensor) and args[at].ndim):
            args = (*args[:at], args[at:])
    n = len(args)
    if n > op.positional:
        raise TypeError(
            f"{op.name}() takes {op.positional} positional arguments but {n} were given"
        )
    given = [*args, *op.defaults[n:]]
    for name, value in options.items():
        i = op.index.get(name)
        if i is None:
            i = op.index.get(SPELLINGS.get(name, ""))
            if i is None:
                raise TypeError(f"{op.name}() got an unexpected keyword argument '{name}'")
        if i < n:
            raise TypeError(f"{op.name}() got multiple values for argument '{op.params[i]}'")
        given[i] = value
    for i in range(n, len(given)):
        if given[i] is REQUIRED:
            raise TypeError(f"{op.name}() missing required argument '{op.params[i]}' (pos {i + 1})")
    return given


def unwrap(value: Any) -> Any:
    """The raw array behind a tensor, also in tuples and lists; anything else as it is."""
    if isinstance(value, Tensor):
        return value._data
    if value.__class__ is tuple or value.__class__ is list:
        return value.__class__(unwrap(v) for v in value)
    return value


def any_rg(op: Op, given: tuple[Any, ...]) -> bool:
    """Whether a tensor among the differentiable arguments may require grad."""
    for i in op.differentiable:
        value = given[i]
        if isinstance(value, Tensor):
            if value._rg:
                return True
        elif i == op.sequence and any(t._rg for t in value):
            return True
    return False


def _view_result(
    op: Op, xp: Any, out: Tensor, given: tuple[Any, ...], raws: tuple[Any, ...], wants: bool
) -> None:
    at = op.tensors[0]
    source = given[at]
    if out._data is source._data:
        out._data = source._data[...]
    node = make_node(op, xp, given, raws) if wants else None
    if node is not None:
        node.shape = out._data.shape
        node.dtype = out._data.dtype
    refusal = ""
    if not grad_enabled() and source._rg:
        refusal = (
            "A view was created in no_grad mode and is being modified inplace with grad mode "
            "enabled. Given that this use case is ambiguous and error-prone, it is forbidden."
        )
    rest = given[:at] + given[at + 1 :]
    views.track(out, source, (op.function, rest), node, refusal)


def _many(op: Op, xp: Any, ys: Any, given: tuple[Any, ...], raws: tuple[Any, ...]) -> Any:
    array_type = xp.array_type
    outs = tuple(wrap(y if y.__class__ is array_type else xp.asarray(y), xp) for y in ys)
    if op.differentiable and any_rg(op, given) and grad_enabled():
        record(op, xp, outs, given, raws)
    if op.view:
        _many_views(op, xp, outs, given, raws)
    return outs if op.returns is None else op.returns(*outs)


def _many_views(
    op: Op, xp: Any, outs: tuple[Tensor, ...], given: tuple[Any, ...], raws: tuple[Any, ...]
) -> None:
    at = op.tensors[0]
    rest = given[:at] + given[at + 1 :]
    for i, out in enumerate(outs):
        if xp.is_view(out._data, raws[at]):
            step = (_Pick(op, i), rest)
            refusal = views.multiple_outputs_refusal(i, op.backward_name)
            views.track(out, given[at], step, out._node, refusal)


class _Pick:
    """The ``index``-th result of an operation, as a step of a view's replay."""

    def __init__(self, op: Op, index: int) -> None:
        self.op = op
        self.index = index

    def __call__(self, *args: Any) -> Any:
        return self.op.function(*args)[self.index]

    def kernel(self, xp: Any, *args: Any) -> Any:
        """The same on raw arrays."""
        return self.op.run(xp, args)[self.index]


def explain_shapes(op: Op, given: tuple[Any, ...], error: ValueError) -> Exception:
    """torch's error for operands that do not broadcast; any other error as it is."""
    text = str(error)
    shapes = [tuple(given[i]._data.shape) for i in op.tensors if isinstance(given[i], Tensor)]
    if "non-broadcastable output" in text or "Out shape" in text:  # NumPy's words, and CuPy's
        wanted = given[op.tensors[0]]._xp.broadcast_shapes(*shapes)
        return RuntimeError(
            f"{op.name}_: output with shape {list(shapes[0])} doesn't match the broadcast shape "
            f"{list(wanted)}"
        )
    if "broadcast" not in text:
        return error
    if len(shapes) == 2:
        a, b = shapes
        for k in range(1, min(len(a), len(b)) + 1):
            if a[-k] != b[-k] and 1 not in (a[-k], b[-k]):
                dim = max(len(a), len(b)) - k
                return RuntimeError(
                    f"{op.name}: The size of tensor a ({a[-k]}) must match the size of tensor b "
                    f"({b[-k]}) at non-singleton dimension {dim}; got shapes {list(a)} and "
                    f"{list(b)}"
                )
    return RuntimeError(f"{op.name}: shapes {[list(s) for s in shapes]} do not broadcast: {text}")


# -- composites ------------------------------------------------------------------------------------


def make_composite(op: Op, source: Callable[..., Any]) -> Callable[..., Any]:
    """The public function of a composite: itself, behind the layer of NumPy's spellings."""
    index = op.index

    def function(*args: Any, **options: Any) -> Any:
        if options:
            if op.numpy_form is not None and not NUMPY_KEYWORDS.isdisjoint(options):
                return op.numpy_form(*args, **options)
            for name in options:
                if name not in index:
                    options = {_spelling(op, n): v for n, v in options.items()}
                    break
        return source(*args, **options)

    return function


def _spelling(op: Op, name: str) -> str:
    if name in op.index:
        return name
    torch_name = SPELLINGS.get(name, name)
    return torch_name if torch_name in op.index else name


# -- operators ---------------------------------------------------------------------------------------


_NUMBERS = (bool, int, float, complex)


def make_operators(op: Op, name: str) -> dict[str, Callable[..., Any]]:
    """The methods behind a Python operator: ``__add__``, ``__radd__``, ``__iadd__``."""
    function = op.function
    if len(op.tensors) == 1:
        return _dressed(op, name, {f"__{name}__": lambda self: function(self)})

    def fallback(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        other = args[1]
        if isinstance(other, Tensor) or isinstance(other, _NUMBERS) or is_array(args[0], other):
            return function(*args)
        return NotImplemented

    if op.kernel is not None and op.params[:2] == ("input", "other") and op.operands == (0, 1):
        forward = _operands(op, fallback)
    else:

        def forward(self: Any, other: Any) -> Any:
            return fallback(op, (self, other), {})

    def reflected(self: Any, other: Any) -> Any:
        if isinstance(other, _NUMBERS) or is_array(self, other):
            return function(other, self)
        return NotImplemented

    methods: dict[str, Callable[..., Any]] = {f"__{name}__": forward}
    if name not in ("eq", "ne", "lt", "le", "gt", "ge"):
        methods[f"__r{name}__"] = reflected
        if op.inplace:
            from ._inplace import call_inplace

            methods[f"__i{name}__"] = lambda self, other: call_inplace(op, (self, other), {})
    return _dressed(op, name, methods)


def _dressed(op: Op, name: str, methods: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """The methods of an operator with names and signatures of their own."""
    for method_name, method in methods.items():
        method.__name__ = method_name
        method.__qualname__ = f"Tensor.{method_name}"
        method.__wrapped__ = inspect.unwrap(op.function)
        method.__signature__ = of_operator(op, reflected=method_name == f"__r{name}__")
        method.op = op
    return methods


def is_array(tensor: Tensor, value: Any) -> bool:
    """Whether ``value`` is an array of the tensor's backend, or a NumPy scalar or array."""
    return isinstance(value, tensor._xp.array_type) or hasattr(value, "__array_interface__")


def make_inplace(op: Op) -> Callable[..., Any]:
    """``name_``: the same operation, its result written over its first argument."""
    from ._inplace import make_inplace_function

    return make_inplace_function(op)


def call_into(op: Op, out: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The operation with its result written to ``out``."""
    from ._inplace import write_to_out

    return write_to_out(out, call_plain(op, args, options), op)


def call_plain(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """``call`` without recording, for a caller that writes the result elsewhere."""
    given, _ = prepare(op, args, options)
    if grad_enabled() and any(isinstance(t, Tensor) and t.requires_grad for t in given):
        raise RuntimeError(
            f"{op.name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )
    return call(op, args, options)


__all__ = ["VIEW", "call", "cast_tensor", "dtypes", "make_function", "record"]
