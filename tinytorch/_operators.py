"""The methods behind Python's operators."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from . import _asking, _inplace
from ._asked_members import operator_face
from ._inplace import call_inplace as run_inplace
from ._operands import operands
from ._signature import of_operator
from ._spec import Op
from ._tensor import Tensor

_NUMBERS = (bool, int, float, complex)


def _ask(mode: bool) -> None:
    global run_inplace
    run_inplace = _inplace.asking_inplace


_asking.when_asking(_ask)


def make_operators(op: Op, name: str) -> dict[str, Callable[..., Any]]:
    """The methods behind a Python operator: ``__add__``, ``__radd__``, ``__iadd__``."""
    function = op.function
    if len(op.tensors) == 1:
        return _dressed(op, name, {f"__{name}__": lambda self: function(self)})

    def fallback(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        tensor, other = args if isinstance(args[0], Tensor) else args[::-1]
        if other.__class__ is not Tensor and other.__class__ not in _NUMBERS:
            values = _asking.relevant(args, {})
            if values:
                own = f"__{name}__" if args[0] is tensor else f"__r{name}__"
                return _asking.first_answer(operator_face(own), values, (tensor, other), {})
        if isinstance(other, Tensor) or isinstance(other, _NUMBERS) or is_array(tensor, other):
            return function(*args)
        return NotImplemented

    def swapped(self: Any, other: Any) -> Any:
        return fallback(op, (other, self), {})

    forward: Callable[..., Any] = lambda self, other: fallback(op, (self, other), {})  # noqa: E731
    reflected: Callable[..., Any] = swapped
    if op.kernel is not None and op.operands == (0, 1) and op.positional == 2:
        forward, number_first = operands(op, fallback)
        reflected = number_first if 0 in op.numbers else reflected

    methods: dict[str, Callable[..., Any]] = {f"__{name}__": forward}
    if name not in ("eq", "ne", "lt", "le", "gt", "ge"):
        methods[f"__r{name}__"] = reflected
        if op.inplace:
            methods[f"__i{name}__"] = _in_place(op)
    return _dressed(op, name, methods)


def _in_place(op: Op) -> Callable[..., Any]:
    """The method behind ``+=``; what it does not know it leaves to the other one's ``+``."""

    def method(self: Any, other: Any) -> Any:
        if other.__class__ is not Tensor and other.__class__ not in _NUMBERS:
            known = isinstance(other, (Tensor, *_NUMBERS)) or is_array(self, other)
            if not known and not _asking.relevant((self, other), {}):
                return NotImplemented
        return run_inplace(op, (self, other), {})

    return method


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
