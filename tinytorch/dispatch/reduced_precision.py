"""Calls with tensors of reduced precision, computed in float32 and rounded once.

The arguments are cast to float32, the operation runs in float32, and its results are cast back if
their dtype is the reduced one. If gradients are needed, the casts are recorded: each rule runs in
float32, and the backward pass of the cast rounds its gradient.

Nearly all calls are of bfloat16 alone. The generated functions run these by ``call_in_float32``,
which costs the function's call in float32 and the casts. All others take the slow path,
``call_reduced``.

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

#: Classes of arguments that stay unchanged in float32.
_UNCHANGED = frozenset((type(None), bool, int, float, str, Size))


def call_in_float32(
    op: Op, function: Any, values: tuple[Any, ...], more: tuple[Any, ...], options: dict[str, Any],
    reflected: bool = False,
) -> Any:  # fmt: skip
    """Run a call in float32 and round its results; None if the call needs the slow path.

    A call needs it if a tensor may have an override, or has another dtype than bfloat16 and
    integers, if there is a ``dtype=``, or if the backend may have a kernel for bfloat16.

    Args:
        op: The operation.
        function: The public function, method or operator that was called.
        values: Arguments for the parameters that accept a position, also those given by name.
        more: Further arguments by position.
        options: All arguments by name.
        reflected: Whether ``function`` is the method of a reflected operator, as in ``1 - x``.
    """
    first = values[0]
    if isinstance(first, Tensor) and op.name in first._xp.low_kernels:
        return None
    operands_only = not options and len(values) == len(op.plan.operands)
    if op.name == "nan_to_num" or (op.name in _ROUNDED_FACTORS and not operands_only):
        return None
    if reflected and op.name == "div":  # PyTorch computes it so, rounding twice
        return values[0].reciprocal() * values[1]
    wide = None if more else _widen_fast(values)
    if wide is None:
        return None
    _round_numbers(op, wide, dtypes.bfloat16, reflected)
    named: dict[str, Any] = {}
    if options:
        placed = op.plan.params[: len(values)]
        named = {name: value for name, value in options.items() if name not in placed}
        others = _widen_fast(named.values())
        if others is None or not named.keys() <= op.plan.index.keys():
            return None
        named = dict(zip(named, others, strict=True))
    return _round_result(function(*wide, **named), dtypes.bfloat16)


def _widen_fast(values: Iterable[Any]) -> list[Any] | None:
    """Return arguments with float32 tensors in the place of bfloat16 ones.

    None if an argument may need the slow path: a tensor of another dtype than bfloat16, integers
    and bools, or a value that is neither a tensor nor of ``_UNCHANGED``.
    """
    wide = []
    for value in values:
        kind = value.__class__
        if kind in PLAIN:
            native = value._data.dtype
            if native is dtypes.bfloat16.dtype:
                value = _to_float32(value)
            elif native.kind not in "biu":  # bool, signed or unsigned integer
                return None
        elif kind is tuple or kind is list:
            inner = _widen_fast(value)
            if inner is None:
                return None
            value = kind(inner)
        elif kind not in _UNCHANGED:
            return None
        wide.append(value)
    return wide


def _to_float32(value: Tensor) -> Tensor:
    """Return a tensor in float32, recorded if its gradient may be needed."""
    array = value._data
    if value._rg and grad_enabled() or 0 in array.strides:
        return value.to(dtypes.float32)
    return wrap(array.astype(_FLOAT32), value._xp)


_FLOAT32 = dtypes.float32.dtype


def has_reduced(values: tuple[Any, ...] | list[Any]) -> bool:
    """Whether a tensor of reduced precision is among the arguments, or in a list among them."""
    for value in values:
        if isinstance(value, Tensor):
            if value._data.dtype.num > 255:
                return True
        elif value.__class__ in (tuple, list) and value and isinstance(value[0], Tensor):
            if has_reduced(value):
                return True
    return False


def requests_reduced(op: Op, options: dict[str, Any]) -> bool:
    """Whether a keyword argument is a tensor of reduced precision, or ``dtype=`` such a dtype."""
    if has_reduced([*options.values()]):
        return True
    dtype = options.get("dtype") if op.plan.tensors else None
    return dtype is not None and dtypes.as_dtype(dtype) in dtypes.LOW


def call_reduced(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Run an operation in float32 and round its results, on the slow path.

    If the backend has a kernel for the dtype, the arrays are not cast first.

    Args:
        op: The operation, which has a kernel.
        args: Arguments by position.
        options: Arguments by name.

    Raises:
        NotImplementedError: For a tensor of float8, if PyTorch does not support the operation.
    """
    arguments = bind(op, args, options)
    dtype_position = op.plan.index.get("dtype")
    requested = None if dtype_position is None else arguments[dtype_position]
    if dtype_position is not None and requested is not None:
        target = dtypes.as_dtype(requested)
        if target in dtypes.LOW:  # PyTorch casts the elements first, except for a mean.
            if op.name != "mean":
                arguments = [v.to(target) if isinstance(v, Tensor) else v for v in arguments]
            arguments[dtype_position] = dtypes.float32
    else:
        target = _result_dtype(op, arguments)
        _check_float8(op, arguments)
    unchanged = _has_kernel(op, arguments) or _must_agree(op, arguments)
    wide = arguments if unchanged else [_widen(value) for value in arguments]
    n = op.plan.positional
    if target in dtypes.LOW:
        _round_numbers(op, wide, target)
    named = dict(zip(op.plan.params[n:], wide[n:], strict=True))
    ready, xp = prepare(op, tuple(wide[:n]), named)
    result = apply(op, xp, ready)
    return _round_result(result, target) if target in dtypes.LOW else result


#: Positions of operands that PyTorch leaves in float32 if they are numbers or 0-d.
_FLOAT32_OPERANDS = {"mul": 1, "div": 1, "floor_divide": 1, "lerp": 2}
#: Parameters for numbers that PyTorch casts to the dtype of the tensor.
_ROUNDED_FACTORS = {
    "add": "alpha", "sub": "alpha", "rsub": "alpha", "index_add": "alpha", "addmv": "alpha beta",
    "addr": "alpha beta", "hardshrink": "lambd", "logit": "eps", "huber_loss": "delta",
}  # fmt: skip


def _round_numbers(op: Op, wide: list[Any], target: dtypes.dtype, reflected: bool = False) -> None:
    """Round the operands of another dtype to the dtype of the result, in place.

    PyTorch casts every operand to the common dtype before it computes. The limits that
    ``nan_to_num`` puts in the place of infinities are those of this dtype, too.

    Args:
        op: The operation.
        wide: The arguments in float32, changed in place.
        target: The dtype of reduced precision of the result.
        reflected: Whether the method of a reflected operator was called.
    """
    name = "" if op.kernel is None else op.kernel.__name__
    unrounded = _FLOAT32_OPERANDS.get(name, -1) if not reflected or name == "mul" else -1
    for i in op.plan.operands if op.promote is not None else ():
        if i >= len(wide) or i == op.plan.sequence:
            continue
        value = wide[i]
        if isinstance(value, Tensor):
            other = value.dtype.kind in "iu" or value.dtype.kind == "f" and not value._data.shape
            if other and (i != unrounded or value._data.shape):
                wide[i] = value.to(target).to(dtypes.float32)
        elif i != unrounded and (value.__class__ is float or value.__class__ is int):
            wide[i] = _round_number(value, target)
    for name in _ROUNDED_FACTORS.get(op.name, "").split():
        position = op.plan.index[name]
        if position < len(wide):
            wide[position] = _round_number(wide[position], target)
    if op.name == "nan_to_num":
        limits = dtypes.finfo(target)
        for position, limit in ((2, limits.max), (3, limits.min)):
            if position < len(wide) and wide[position] is None:
                wide[position] = limit


def _round_number(value: Any, target: dtypes.dtype) -> Any:
    """Return a Python number rounded to ``target``; anything else unchanged."""
    if value.__class__ is not float and value.__class__ is not int:
        return value
    return low_precision.round_scalar(value, target.dtype)


#: Operations that raise for tensors of two dtypes, besides those that write at indices.
_SAME_DTYPE = frozenset(
    "masked_scatter scatter_reduce index_reduce heaviside lerp isclose matmul mm bmm mv dot vdot "
    "linear addmm addmv addbmm baddbmm _conv conv_transpose1d conv_transpose2d conv_transpose3d "
    "conv1d conv2d conv3d bilinear prelu scaled_dot_product_attention solve solve_ex ormqr lstsq "
    "cross ldl_solve grid_sample multi_head_attention_forward tensorsolve complex "
    "polar nll_loss allclose lu_solve cholesky_solve".split()
)
#: Operations whose parameters may be wider than the input, and must not be narrower.
_WIDER_PARAMETERS = frozenset("layer_norm group_norm".split())


def _must_agree(op: Op, arguments: list[Any]) -> bool:
    """Whether an operation that requires floating-point tensors of one dtype has those of two.

    The call is then run without casts, so that it raises its error.
    """
    if op.name in _WIDER_PARAMETERS:
        if isinstance(arguments[0], Tensor) and arguments[0].dtype in dtypes.LOW:
            return False
    elif op.promote is not None or not (op.plan.picks or op.name in _SAME_DTYPE):
        return False
    float_dtypes = {t.dtype for t in arguments if isinstance(t, Tensor) and t.dtype.category > 1}
    return len(float_dtypes) > 1


def _has_kernel(op: Op, arguments: list[Any]) -> bool:
    """Whether the backend has a kernel for these arrays of reduced precision."""
    tensors = [value for value in arguments if isinstance(value, Tensor)]
    if not tensors:  # they are in a list
        return False
    recorded = grad_enabled() and any(each.requires_grad for each in tensors)
    arrays = [each._data for each in tensors]
    return tensors[0]._xp.kernel_accepts_reduced(op.name, arrays, recorded)


def call_composite_reduced(
    op: Op, body: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Run a composite in float32 and round its results.

    Args:
        op: The composite.
        body: Its function.
        args: Arguments by position.
        options: Arguments by name.
    """
    arguments = [*args, *options.values()]
    if _has_kernel(op, arguments) or _must_agree(op, arguments):
        return body(*args, **options)
    floats = [v for v in arguments if isinstance(v, Tensor) and v.dtype.category > 1]
    dtype_position = op.plan.index.get("dtype", len(args))
    if (
        options.get("dtype") is not None
        or dtype_position < len(args)
        and args[dtype_position] is not None
    ):
        return body(*args, **options)  # its operations are computed in that dtype
    target = floats[0].dtype if op.reduced is Reduced.FIRST else result_dtype(floats)
    _check_float8(op, arguments)
    if op.elementwise:  # the one operation that it calls rounds its operands
        return body(*args, **options)
    result = body(*map(_widen, args), **{n: _widen(v) for n, v in options.items()})
    return _round_result(result, target) if target in dtypes.LOW else result


def _result_dtype(op: Op, arguments: list[Any]) -> dtypes.dtype:
    """Return the dtype of the results, to which the operands promote.

    For an operation without promotion, it is that of its floating-point and complex tensors.
    """
    operands: list[Any] = []
    for i in op.plan.operands if op.promote is not None else op.plan.tensors:
        value = arguments[i]
        operands += value if i == op.plan.sequence else [value]
    if op.promote is None:
        operands = [v for v in operands if isinstance(v, Tensor) and v.dtype.category > 1]
    numbers = (Tensor, bool, int, float, complex)
    return result_dtype([v for v in operands if isinstance(v, numbers)])


#: Operations that PyTorch's CPU kernels support for float8, besides casts, copies and views.
_FLOAT8_OPERATIONS = frozenset(
    "eq ne abs isnan isreal all any flip roll index_select masked_select repeat tile mul mm matmul "
    "diag equal _all_equal index_put where cat stack".split()
)


def _check_float8(op: Op, arguments: list[Any]) -> None:
    """Raise NotImplementedError if an argument is a float8 that the operation does not support."""
    for value in arguments:
        if value.__class__ in (tuple, list):
            _check_float8(op, list(value))
        elif isinstance(value, Tensor) and value.dtype in dtypes.FLOAT8:
            if op.name not in _FLOAT8_OPERATIONS:
                raise NotImplementedError(
                    f'"{op.name}" not implemented for {scalar_name(value.dtype)!r}; cast it first, '
                    "for example to float32"
                )


def _widen(value: Any) -> Any:
    """Return a tensor of reduced precision in float32, also in lists; other values unchanged."""
    if isinstance(value, Tensor):
        if value._data.dtype.num < 256:
            return value
        return _to_float32(value)
    if value.__class__ in (tuple, list):
        return value.__class__(_widen(v) for v in value)
    return value


def _round_result(result: Any, target: dtypes.dtype) -> Any:
    """Return a result, or each of several, rounded to ``target`` if it is in float32."""
    if isinstance(result, tuple):
        return tuple.__new__(type(result), [_round_result(r, target) for r in result])
    if isinstance(result, list):
        return [_round_result(r, target) for r in result]
    if not isinstance(result, Tensor) or result._data.dtype is not _FLOAT32:
        return result
    if not (result._rg and grad_enabled()):
        return wrap(low_precision.cast(result._data, target.dtype), result._xp)
    rounded = result.to(target)
    node: Any = node_of(rounded._node)
    if node is not None:
        node.op = node.op.rename(_computed_name)
    return rounded


def _computed_name(node: Node) -> str:
    """Return the name of the rounded result's node: to PyTorch both are one operation."""
    computed: Any = node_of(node.edges[0])
    return "ToCopyBackward0" if computed is None else str(computed.name())
