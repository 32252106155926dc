"""The methods behind Python's operators."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..core import torch_function
from ..core.tensor import Tensor, wrap
from ..core.torch_function_members import operator_face
from ..graph.late_bound import ABOVE
from ..state.tracebacks import shorten
from .compiled import make_function, make_inplace_function, serve
from .signature import of_operator
from .spec import Form, Op

_NUMBERS = (bool, int, float, complex)
#: NumPy's function for each of Python's operators of two operands.
UFUNCS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "div": "divide",
    "floordiv": "floor_divide", "mod": "remainder", "pow": "power", "matmul": "matmul",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift",
    "rshift": "right_shift", "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
    "gt": "greater", "ge": "greater_equal",
}  # fmt: skip


def make_operators(op: Op, name: str) -> dict[str, Callable[..., Any]]:
    """The methods behind a Python operator: ``__add__``, ``__radd__``, ``__iadd__``."""
    if len(op.plan.tensors) == 1:
        method: Any = _unary(op, f"__{name}__")
        if op.kernel is not None and len(op.plan.params) == 1:
            method = serve(make_function(op.name), op, Form.OPERATOR, _slow_unary(method))
        return _dressed(op, name, {f"__{name}__": method})
    forward = serve(make_function(op.name), op, Form.OPERATOR, _slow)
    reflected = serve(make_function(op.name), op, Form.REFLECTED, _slow)
    methods: dict[str, Callable[..., Any]] = {f"__{name}__": forward}
    if name not in ("eq", "ne", "lt", "le", "gt", "ge"):
        methods[f"__r{name}__"] = reflected
        if op.inplace:
            methods[f"__i{name}__"] = serve(
                make_function(op.name), op, Form.INPLACE_OPERATOR, _slow_inplace
            )
    return _dressed(op, name, methods)


def _unary(op: Op, name: str) -> Callable[[Any], Any]:
    function = op.function

    def method(self: Any) -> Any:
        try:
            if self.__class__ in torch_function.PLAIN:
                return function(self)
            answer = _answer(name, self)
            return function(self) if answer is torch_function.NOBODY else answer
        except Exception as error:
            shorten(error)
            raise

    return method


def _slow_unary(method: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda op, function, operand: method(operand)


def _answer(name: str, *operands: Any) -> Any:
    """What somebody makes of an operator, the tensor whose method it is coming first."""
    values = torch_function.relevant(operands, {})
    if values or torch_function.must_ask():
        if name == "__eq__" and values and not any(isinstance(v, Tensor) for v in values):
            name = "eq"  # PyTorch asks about the operator where a class of tensors is compared
        return torch_function.first_answer(operator_face(Tensor, name), values, operands, {})
    return torch_function.NOBODY


def _slow(op: Op, function: Any, left: Any, right: Any) -> Any:
    """``left + right`` where the operands are not plain, or NotImplemented."""
    reflected = function.__name__.startswith("__r") and function.__name__ != "__rshift__"
    tensor, other = (right, left) if reflected else (left, right)
    answer = _answer(function.__name__, tensor, other)
    if answer is not torch_function.NOBODY:
        return answer
    if isinstance(other, (Tensor, *_NUMBERS)) or _is_number(other):
        return op.function(left, right)
    return _numpys(function)(left, right) if is_array(tensor, other) else NotImplemented


def _slow_inplace(op: Op, function: Any, target: Any, other: Any) -> Any:
    """``target += other``; what it does not know it leaves to ``target + other``."""
    answer = _answer(function.__name__, target, other)
    if answer is not torch_function.NOBODY:
        return answer
    if isinstance(other, (Tensor, *_NUMBERS)) or _is_number(other):
        return make_inplace_function(op)(target, other)
    if not is_array(target, other):
        return NotImplemented
    data, array = target._data, target._xp.asarray(other)
    if not _fits(_numpys(function), target, array):
        return NotImplemented
    return make_inplace_function(op)(target, array.astype(data.dtype, copy=False))


def _fits(operation: Any, target: Tensor, array: Any) -> bool:
    """Whether what one of NumPy's makes of a tensor and an array has the tensor's form."""
    data, xp = target._data, target._xp
    try:
        found = operation(*(wrap(xp.empty(0, dtype=a.dtype), xp) for a in (data, array)))
        shape = xp.broadcast_shapes(data.shape, array.shape)
    except (TypeError, ValueError):  # which the sum says, too
        return False
    return bool(found._data.dtype == data.dtype and shape == data.shape)


def _is_number(value: Any) -> bool:
    """Whether it is one of NumPy's numbers, which count as Python's do and cannot be written to."""
    return hasattr(value, "__array_interface__") and not hasattr(value, "__setitem__")


def _numpys(function: Any) -> Any:
    """NumPy's function behind an operator: what arrays beside tensors mean."""
    name = function.__name__.strip("_")
    ufunc = UFUNCS.get(name) or UFUNCS[name[1:]]
    return ABOVE.graph_namespace().function_of(ufunc)


def _dressed(op: Op, name: str, methods: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """The methods of an operator with names and signatures of their own."""
    for method_name, method in methods.items():
        method.__name__ = method_name
        method.__qualname__ = f"Tensor.{method_name}"
        method.__doc__ = op.function.__doc__
        method.__wrapped__ = inspect.unwrap(op.function)
        method.__signature__ = of_operator(op, reflected=method_name == f"__r{name}__")
        method.op = op
    return methods


def is_array(tensor: Tensor, value: Any) -> bool:
    """Whether ``value`` is an array of the tensor's backend, or a NumPy scalar or array."""
    return isinstance(value, tensor._xp.array_type) or hasattr(value, "__array_interface__")
