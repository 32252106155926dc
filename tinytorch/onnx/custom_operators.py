"""Names of ``torch.onnx`` for exports and for operators of a program's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["OnnxExporterError", "register_custom_op_symbolic", "unregister_custom_op_symbolic"]

_F = TypeVar("_F", bound=Callable[..., Any])


class OnnxExporterError(RuntimeError):
    """A model cannot be exported; the message names the operation and the line."""


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn: Callable[..., Any], opset_version: int
) -> None:
    """Accept the function that exports an operator, and ignore it.

    Args:
        symbolic_name: Name of the operator: ``"mylib::name"``.
        symbolic_fn: Function that would add the operator's nodes to the ONNX graph.
        opset_version: Version of ONNX's operator set.

    Example:
        >>> tt.onnx.register_custom_op_symbolic("mylib::twice", lambda g, x: x, 17)
    """


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Do nothing: ``register_custom_op_symbolic`` registers nothing.

    Args:
        symbolic_name: Name of the operator: ``"mylib::name"``.
        opset_version: Version of ONNX's operator set.

    Example:
        >>> tt.onnx.unregister_custom_op_symbolic("mylib::twice", 17)
    """


def parse_args(*arg_descriptors: str) -> Callable[[_F], _F]:
    """Decorator for the functions of ``register_custom_op_symbolic``; returns them unchanged.

    Args:
        *arg_descriptors: The kinds of the function's arguments, as ``"v"`` or ``"i"``.

    Example:
        >>> from tinytorch.onnx.symbolic_helper import parse_args
        >>> @parse_args("v", "i")
        ... def twice(g, x, dim):
        ...     return x
        >>> twice(None, 1, 2)
        1
    """
    return lambda function: function
