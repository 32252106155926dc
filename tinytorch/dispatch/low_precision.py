"""Calls with tensors of a dtype below float32: computed in float32, rounded once.

The arguments are cast to float32, the operation runs as ever, and its results are cast back if
their dtype is the low one. Where gradients are wanted the casts are recorded, so these go the same
way: each rule runs in float32, and what it gives is rounded when it passes the cast.

Nearly all calls are of bfloat16 alone: ``in_float32``, to which the written functions turn, costs
the function's call in float32 and the casts. Every other takes the long way, ``call_low``.

Reference: PyTorch's ``at::opmath_type``, the type its kernels compute in: float for bfloat16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .. import dtypes
from ..backends import low_precision
from ..core.size import Size
from ..core.tensor import Tensor, wrap
from ..core.torch_function import PLAIN
from ..graph.nodes import Node, node_of
from ..state import grad_enabled
from .arguments import bind, prepare
from .node_recording import apply
from .operation import Op, Reduced
from .out import scalar_name
from .promotion import result_dtype

#: Classes of arguments that are the same in float32.
_AS_THEY_ARE = frozenset((type(None), bool, int, float, str, Size))


def in_float32(
    op: Op, function: Any, values: tuple[Any, ...], more: tuple[Any, ...], options: dict[str, Any],
    reflected: bool = False,
) -> Any:  # fmt: skip
    """The call in float32, its results rounded; None where somebody has to look at an argument.

    That is where a tensor is not plain, or of another dtype than bfloat16 and integers, where a
    dtype is asked for, or where the backend may have a kernel for bfloat16.

    Args:
        op: The operation.
        function: The one of its functions that was called.
        values: Its parameters that can be given by position; what came by name is there, too.
        more: What else was given by position.
        options: What was given by name.
        reflected: Whether ``function`` is behind an operator after a number, as in ``1 - x``.
    """
    first = values[0]
    if isinstance(first, Tensor) and op.name in first._xp.low_kernels:
        return None
    plain = not options and len(values) == len(op.plan.operands)
    if op.name == "nan_to_num" or (op.name in _IN_THE_DTYPE and not plain):
        return None
    if reflected and op.name == "div":  # as PyTorch computes it, and rounds in between
        return values[0].reciprocal() * values[1]
    wide = None if more else _plainly_widened(values)
    if wide is None:
        return None
    _round_numbers(op, wide, dtypes.bfloat16, reflected)
    named: dict[str, Any] = {}
    if options:
        placed = op.plan.params[: len(values)]
        named = {name: value for name, value in options.items() if name not in placed}
        others = _plainly_widened(named.values())
        if others is None or not named.keys() <= op.plan.index.keys():
            return None
        named = dict(zip(named, others, strict=True))
    return _rounded(function(*wide, **named), dtypes.bfloat16)


def _plainly_widened(values: Iterable[Any]) -> list[Any] | None:
    """Arguments with float32 for bfloat16; None where one is neither that nor plain."""
    wide = []
    for value in values:
        kind = value.__class__
        if kind in PLAIN:
            native = value._data.dtype
            if native is dtypes.bfloat16.dtype:
                value = _single(value)
            elif native.kind not in "biu":
                return None
        elif kind is tuple or kind is list:
            inner = _plainly_widened(value)
            if inner is None:
                return None
            value = kind(inner)
        elif kind not in _AS_THEY_ARE:
            return None
        wide.append(value)
    return wide


def _single(value: Tensor) -> Tensor:
    """A tensor's numbers in float32; recorded where its gradient may be wanted."""
    array = value._data
    if value._rg and grad_enabled() or 0 in array.strides:
        return value.to(dtypes.float32)
    return wrap(array.astype(_FLOAT32), value._xp)


_FLOAT32 = dtypes.float32.dtype


def is_low(values: tuple[Any, ...] | list[Any]) -> bool:
    """Whether a tensor of such a dtype is among the arguments, or in a list among them."""
    for value in values:
        if isinstance(value, Tensor):
            if value._data.dtype.num > 255:
                return True
        elif value.__class__ in (tuple, list) and value and isinstance(value[0], Tensor):
            if is_low(value):
                return True
    return False


def asks_for_low(op: Op, options: dict[str, Any]) -> bool:
    """Whether a tensor of such a dtype is among the keywords, or ``dtype=`` is one of them."""
    if is_low([*options.values()]):
        return True
    wanted = options.get("dtype") if op.plan.tensors else None
    return wanted is not None and dtypes.as_dtype(wanted) in dtypes.LOW


def call_low(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The operation in float32, its results rounded.

    Raises:
        NotImplementedError: For a float8, of which PyTorch has little but storage and casts.
    """
    given = bind(op, args, options)
    at = op.plan.index.get("dtype")
    wanted = None if at is None else given[at]
    if at is not None and wanted is not None:
        target = dtypes.as_dtype(wanted)
        if target in dtypes.LOW:  # PyTorch casts the elements first, but those of a mean.
            if op.name != "mean":
                given = [v.to(target) if isinstance(v, Tensor) else v for v in given]
            given[at] = dtypes.float32
    else:
        target = _target(op, given)
        _check_float8(op, given)
    as_given = _is_taken(op, given) or _must_agree(op, given)
    wide = given if as_given else [_widened(value) for value in given]
    n = op.plan.positional
    if target in dtypes.LOW:
        _round_numbers(op, wide, target)
    named = dict(zip(op.plan.params[n:], wide[n:], strict=True))
    ready, xp = prepare(op, tuple(wide[:n]), named)
    result = apply(op, xp, ready)
    return _rounded(result, target) if target in dtypes.LOW else result


#: Operands that PyTorch keeps in float32 where they are numbers or 0-d: their positions.
_KEPT = {"mul": 1, "div": 1, "floor_divide": 1, "lerp": 2}
#: Plain parameters that PyTorch casts to the dtype of the tensor.
_IN_THE_DTYPE = {
    "add": "alpha", "sub": "alpha", "rsub": "alpha", "index_add": "alpha", "addmv": "alpha beta",
    "addr": "alpha beta", "hardshrink": "lambd", "logit": "eps", "huber_loss": "delta",
}  # fmt: skip


def _round_numbers(op: Op, wide: list[Any], target: dtypes.dtype, reflected: bool = False) -> None:
    """Round the operands that are not of the dtype of the result to it, in place.

    PyTorch casts every operand to the common dtype before it computes. The limits that
    ``nan_to_num`` puts in the place of infinities are those of this dtype, too.
    """
    name = "" if op.kernel is None else op.kernel.__name__
    kept = _KEPT.get(name, -1) if not reflected or name == "mul" else -1
    for i in op.plan.operands if op.promote is not None else ():
        if i >= len(wide) or i == op.plan.sequence:
            continue
        value = wide[i]
        if isinstance(value, Tensor):
            other = value.dtype.kind in "iu" or value.dtype.kind == "f" and not value._data.shape
            if other and (i != kept or value._data.shape):
                wide[i] = value.to(target).to(dtypes.float32)
        elif i != kept and (value.__class__ is float or value.__class__ is int):
            wide[i] = _rounded_number(value, target)
    for name in _IN_THE_DTYPE.get(op.name, "").split():
        at = op.plan.index[name]
        if at < len(wide):
            wide[at] = _rounded_number(wide[at], target)
    if op.name == "nan_to_num":
        limits = dtypes.finfo(target)
        for at, limit in ((2, limits.max), (3, limits.min)):
            if at < len(wide) and wide[at] is None:
                wide[at] = limit


def _rounded_number(value: Any, target: dtypes.dtype) -> Any:
    """A Python number as ``target`` holds it; anything else as it is."""
    if value.__class__ is not float and value.__class__ is not int:
        return value
    return low_precision.round_scalar(value, target.dtype)


#: Operations that raise for tensors of two dtypes, besides those that write at indices.
_OF_ONE_DTYPE = frozenset(
    "masked_scatter scatter_reduce index_reduce heaviside lerp isclose matmul mm bmm mv dot vdot "
    "linear addmm addmv addbmm baddbmm _conv conv_transpose1d conv_transpose2d conv_transpose3d "
    "conv1d conv2d conv3d bilinear prelu scaled_dot_product_attention solve solve_ex ormqr lstsq "
    "cross ldl_solve grid_sample multi_head_attention_forward tensorsolve complex "
    "polar nll_loss allclose lu_solve cholesky_solve".split()
)
#: Operations whose parameters may be wider than the input, and must not be narrower.
_OF_WIDER_PARAMETERS = frozenset("layer_norm group_norm".split())


def _must_agree(op: Op, given: list[Any]) -> bool:
    """Whether an operation has tensors of two dtypes and raises for these."""
    if op.name in _OF_WIDER_PARAMETERS:
        if isinstance(given[0], Tensor) and given[0].dtype in dtypes.LOW:
            return False
    elif op.promote is not None or not (op.plan.picks or op.name in _OF_ONE_DTYPE):
        return False
    floats = {t.dtype for t in given if isinstance(t, Tensor) and t.dtype.category > 1}
    return len(floats) > 1


def _is_taken(op: Op, given: list[Any]) -> bool:
    """Whether the backend has a kernel that takes the arrays as they are."""
    tensors = [value for value in given if isinstance(value, Tensor)]
    if not tensors:  # they are in a list
        return False
    recorded = grad_enabled() and any(each.requires_grad for each in tensors)
    return tensors[0]._xp.takes_low(op.name, [each._data for each in tensors], recorded)


def composite_low(
    op: Op, body: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """``call_low`` for an operation that is a function over tensors."""
    given = [*args, *options.values()]
    if _is_taken(op, given) or _must_agree(op, given):
        return body(*args, **options)
    floats = [v for v in given if isinstance(v, Tensor) and v.dtype.category > 1]
    at = op.plan.index.get("dtype", len(args))
    if options.get("dtype") is not None or at < len(args) and args[at] is not None:
        return body(*args, **options)  # its parts are computed in that dtype
    target = floats[0].dtype if op.reduced is Reduced.FIRST else result_dtype(floats)
    _check_float8(op, given)
    if op.elementwise:  # another form of one operation, which rounds its operands
        return body(*args, **options)
    result = body(*map(_widened, args), **{n: _widened(v) for n, v in options.items()})
    return _rounded(result, target) if target in dtypes.LOW else result


def _target(op: Op, given: list[Any]) -> dtypes.dtype:
    """The dtype of the results: what the operands promote to."""
    operands: list[Any] = []
    for i in op.plan.operands if op.promote is not None else op.plan.tensors:
        value = given[i]
        operands += value if i == op.plan.sequence else [value]
    if op.promote is None:
        operands = [v for v in operands if isinstance(v, Tensor) and v.dtype.category > 1]
    numbers = (Tensor, bool, int, float, complex)
    return result_dtype([v for v in operands if isinstance(v, numbers)])


#: What PyTorch's CPU kernels do with float8, casts, copies and views aside.
_OF_FLOAT8 = frozenset(
    "eq ne abs isnan isreal all any flip roll index_select masked_select repeat tile mul mm matmul "
    "diag equal _all_equal index_put where cat stack".split()
)


def _check_float8(op: Op, given: list[Any]) -> None:
    for value in given:
        if value.__class__ in (tuple, list):
            _check_float8(op, list(value))
        elif isinstance(value, Tensor) and value.dtype in dtypes.FLOAT8:
            if op.name not in _OF_FLOAT8:
                raise NotImplementedError(
                    f'"{op.name}" not implemented for {scalar_name(value.dtype)!r}; cast it first, '
                    "to float32 say"
                )


def _widened(value: Any) -> Any:
    if isinstance(value, Tensor):
        if value._data.dtype.num < 256:
            return value
        return _single(value)
    if value.__class__ in (tuple, list):
        return value.__class__(_widened(v) for v in value)
    return value


def _rounded(result: Any, target: dtypes.dtype) -> Any:
    if isinstance(result, tuple):
        return tuple.__new__(type(result), [_rounded(r, target) for r in result])
    if isinstance(result, list):
        return [_rounded(r, target) for r in result]
    if not isinstance(result, Tensor) or result._data.dtype is not _FLOAT32:
        return result
    if not (result._rg and grad_enabled()):
        return wrap(low_precision.cast(result._data, target.dtype), result._xp)
    low = result.to(target)
    made: Any = node_of(low._node)
    if made is not None:
        made.op = made.op.called(_name_of_computed)
    return low


def _name_of_computed(node: Node) -> str:
    """The name of a cast is that of what it rounds: to the program they are one operation."""
    made: Any = node_of(node.edges[0])
    return "ToCopyBackward0" if made is None else str(made.name())
