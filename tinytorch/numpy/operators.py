"""Python's operators on arrays: NumPy's elementwise functions by their signs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from . import direct
from .names import public
from .ndarray import array_of_tensor, ndarray
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
#: Classes of operands that have operators of their own, and whose result is theirs.
_LETS = (str, bytes, dict, set, type(None))


def _takes(other: Any) -> bool:
    """Whether an operand is one that makes an array."""
    if isinstance(other, (Tensor, *_LETS)):
        return False
    mine = getattr(other, "__array_priority__", 0.0)
    return not (mine > ndarray.__array_priority__ or _refuses(other))


def _refuses(other: Any) -> bool:
    return getattr(type(other), "__array_ufunc__", other) is None


def _forward(function: ufunc) -> Callable[..., Any]:
    host = function.host

    def method(self: ndarray, other: Any, /) -> Any:
        if host is not None:
            result = direct.operate(host, self, other)
            if result is not direct.NOT:
                return result
        return function(self, other) if _takes(other) else NotImplemented

    return method


def _reflected(function: ufunc) -> Callable[..., Any]:
    host = function.host

    def turned(mine: Any, other: Any) -> Any:
        return host(other, mine)  # type: ignore[misc]

    def method(self: ndarray, other: Any, /) -> Any:
        if host is not None:
            result = direct.operate(turned, self, other)
            if result is not direct.NOT:
                return result
        return function(other, self) if _takes(other) else NotImplemented

    return method


def _inplace(function: ufunc) -> Callable[..., Any]:
    host = function.host

    def method(self: ndarray, other: Any, /) -> Any:
        if not self._tensor._data.shape:  # a number of NumPy's, which does not change
            return function(self, other)
        if host is not None and direct.change(host, self, other):
            return self
        if isinstance(other, Tensor):
            other = array_of_tensor(other)
        return function(self, other, out=self)

    return method


def _power(plain: Callable[..., Any]) -> Callable[..., Any]:
    """``**``, which Python's ``pow`` asks with a modulus, too."""

    def method(self: ndarray, other: Any, mod: None = None, /) -> Any:
        return plain(self, other) if mod is None else NotImplemented

    return method


#: Classes of what no number equals.
_UNLIKE = (str, bytes, type(None))


def _order(sign: str, function: ufunc) -> Callable[..., Any]:
    plain = _forward(function)

    def method(self: ndarray, other: Any, /) -> Any:
        result = plain(self, other)
        if result is NotImplemented and sign in ("eq", "ne") and isinstance(other, _UNLIKE):
            return public("full")(self.shape, sign == "ne")  # nothing is equal
        return result

    return method


def attach() -> None:
    """Give arrays their operators."""
    members: dict[str, Any] = {}
    for sign, name in OF_TWO.items():
        function = public(name)
        members[f"__{sign}__"] = _forward(function)
        members[f"__r{sign}__"] = _reflected(function)
        if sign != "divmod":
            members[f"__i{sign}__"] = _inplace(function)
    for name in ("__mul__", "__rmul__"):
        members[name] = _repeating(members[name])
    members["__imatmul__"] = _multiplied(members["__imatmul__"])
    members |= {f"__{sign}__": _order(sign, public(name)) for sign, name in _ORDERS.items()}
    members |= {f"__{sign}__": _unary(public(name)) for sign, name in _OF_ONE.items()}
    members["__pow__"] = _power(members["__pow__"])
    for name, method in members.items():
        method.__name__, method.__qualname__ = name, f"ndarray.{name}"
        setattr(ndarray, name, method)


def _repeating(product: Callable[..., Any]) -> Callable[..., Any]:
    """``*``, by which a whole number repeats a list, as a number of NumPy's does."""

    def method(self: ndarray, other: Any, /) -> Any:
        if other.__class__ in (list, tuple) and not self.shape and self.dtype.kind in "iu":
            return other * int(self)
        return product(self, other)

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


def _unary(function: ufunc) -> Callable[..., Any]:
    host = function.host

    def alone(mine: Any, other: Any) -> Any:
        return host(mine)  # type: ignore[misc]

    def method(self: ndarray, /) -> Any:
        if host is not None:
            result = direct.operate(alone, self, 0)
            if result is not direct.NOT:
                return result
        return function(self)

    return method
