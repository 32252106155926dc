"""Python's operators on arrays: NumPy's elementwise functions by their signs."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..state.tracebacks import shorten, shorten_class
from . import wrapping
from .functions.conversion import host
from .namespace import public
from .ndarray import array_of_tensor, ndarray, wrap_result
from .ufunc import ufunc

#: Python's names of operators of two operands, and NumPy's of their functions.
OF_TWO = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
    "floordiv": "floor_divide", "mod": "remainder", "divmod": "divmod", "pow": "power",
    "lshift": "left_shift", "rshift": "right_shift", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "matmul": "matmul",
}  # fmt: skip
_ORDERS = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal",
}  # fmt: skip
_OF_ONE = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
_FUNCTIONS = {**OF_TWO, **_ORDERS, **_OF_ONE}
#: Classes of operands that have operators of their own, and whose result is theirs.
_LETS = (str, bytes, dict, set, type(None))


def _takes(other: Any) -> bool:
    """Whether an operand is one that makes an array."""
    if isinstance(other, (Tensor, *_LETS)):
        return False
    mine = getattr(other, "__array_priority__", 0.0)
    most = 0.0 if isinstance(other, host().ndarray) else ndarray.__array_priority__
    return not (mine > most or _refuses(other))


def _refuses(other: Any) -> bool:
    """Whether an operand's own operator comes first: a Series keeps its index."""
    usual = host().ndarray.__array_ufunc__
    own = getattr(type(other), "__array_ufunc__", usual)
    return own is not usual and not isinstance(other, ndarray)


#: Signs that mean to floats of one dtype what they mean to Tensors.
_SHARED = frozenset((*"add sub mul truediv pow neg abs".split(), *_ORDERS))


def _on_tensors(apply: Callable[[Any, Any], Any] | None, array: ndarray, other: Any) -> Any:
    """What an operator of Tensors gives for floats of one dtype, or ``NOT``."""
    mine: Any = array._tensor
    kind = mine._data.dtype
    if apply is None or kind.kind != "f":
        return wrapping.NOT
    cls = other.__class__
    if cls is ndarray:
        other = other._tensor
        if other._data.dtype is not kind:
            return wrapping.NOT
    elif cls is not float and cls is not int:
        return wrapping.NOT
    return wrap_result(apply(mine, other))


def _two_ways(sign: str, turn: bool) -> tuple[Any, Any]:
    """NumPy's function and Tensors' operator for a sign, with the operands exchanged or not."""
    host, apply = public(_FUNCTIONS[sign]).host, getattr(operator, f"__{sign}__", None)
    if sign not in _SHARED:
        apply = None
    if not turn:
        return host, apply
    turned = [None if f is None else lambda a, b, f=f: f(b, a) for f in (host, apply)]
    return turned[0], turned[1]


def _method(sign: str, turn: bool = False) -> Callable[..., Any]:
    function: ufunc = public(_FUNCTIONS[sign])
    host, apply = _two_ways(sign, turn)

    def method(self: ndarray, other: Any, /) -> Any:
        try:
            if host is not None:
                result = wrapping.operate(host, self, other)
                if result is not wrapping.NOT:
                    return result
            result = _on_tensors(apply, self, other)
            if result is not wrapping.NOT:
                return result
            if not _takes(other):
                return NotImplemented
            return function(other, self) if turn else function(self, other)
        except Exception as error:
            shorten(error)
            raise

    return method


def _inplace(function: ufunc) -> Callable[..., Any]:
    host = function.host

    def method(self: ndarray, other: Any, /) -> Any:
        try:
            if self._scalar:  # which does not change
                return function(self, other)
            if host is not None and wrapping.change(host, self, other):
                return self
            if isinstance(other, Tensor):
                other = array_of_tensor(other)
            return function(self, other, out=self)
        except Exception as error:
            shorten(error)
            raise

    return method


def _power(plain: Callable[..., Any]) -> Callable[..., Any]:
    """``**``, which Python's ``pow`` asks with a modulus, too."""

    def method(self: ndarray, other: Any, mod: None = None, /) -> Any:
        return plain(self, other) if mod is None else NotImplemented

    return method


#: Classes of what no number equals.
_UNLIKE = (str, bytes, type(None))


def _order(sign: str) -> Callable[..., Any]:
    plain = _method(sign)

    def method(self: ndarray, other: Any, /) -> Any:
        try:
            result = plain(self, other)
            if result is NotImplemented and sign in ("eq", "ne") and isinstance(other, _UNLIKE):
                return public("full")(self.shape, sign == "ne")  # nothing is equal
            return result
        except Exception as error:
            shorten(error)
            raise

    return method


def attach_operators() -> None:
    """Give arrays their operators."""
    members: dict[str, Any] = {}
    for sign, name in OF_TWO.items():
        function = public(name)
        members[f"__{sign}__"] = _method(sign)
        members[f"__r{sign}__"] = _method(sign, turn=True)
        if sign != "divmod":
            members[f"__i{sign}__"] = _inplace(function)
    for name in ("__mul__", "__rmul__"):
        members[name] = _repeating(members[name])
    members["__imatmul__"] = _multiplied(members["__imatmul__"])
    members |= {f"__{sign}__": _order(sign) for sign in _ORDERS}
    members |= {f"__{sign}__": _unary(sign) for sign in _OF_ONE}
    members["__pow__"] = _power(members["__pow__"])
    for name, method in members.items():
        method.__name__, method.__qualname__ = name, f"ndarray.{name}"
        setattr(ndarray, name, method)
    shorten_class(ndarray)


def _repeating(product: Callable[..., Any]) -> Callable[..., Any]:
    """``*``, by which a whole number repeats a list, as a number of NumPy's does."""

    def method(self: ndarray, other: Any, /) -> Any:
        try:
            if other.__class__ in (list, tuple) and self._scalar and self.dtype.kind in "iu":
                return other * int(self)
            return product(self, other)
        except Exception as error:
            shorten(error)
            raise

    return method


def _multiplied(inplace: Callable[..., Any]) -> Callable[..., Any]:
    """``@=``, whose result must be a matrix where the array is one."""

    def method(self: ndarray, other: Any, /) -> Any:
        if not self.ndim or getattr(other, "ndim", 2) < 2:
            raise ValueError(
                "inplace matrix multiplication requires the first operand to have at least one "
                "and the second at least two dimensions."
            )
        return inplace(self, other)

    return method


def _unary(sign: str) -> Callable[..., Any]:
    function: ufunc = public(_OF_ONE[sign])
    host, apply = ((None if f is None else lambda a, b, f=f: f(a)) for f in _two_ways(sign, False))

    def method(self: ndarray, /) -> Any:
        try:
            if host is not None:
                result = wrapping.operate(host, self, 0)
                if result is not wrapping.NOT:
                    return result
            result = _on_tensors(apply, self, 0)
            return function(self) if result is wrapping.NOT else result
        except Exception as error:
            shorten(error)
            raise

    return method
