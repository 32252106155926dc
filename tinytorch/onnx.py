"""``torch.onnx`` for programs that ask whether they are exported: they never are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .compat.tables.unsupported import TABLES, fill

__all__ = ["OnnxExporterError", "register_custom_op_symbolic", "unregister_custom_op_symbolic"]

_F = TypeVar("_F", bound=Callable[..., Any])


class OnnxExporterError(RuntimeError):
    """What a failed export raises in PyTorch."""


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn: Callable[..., Any], opset_version: int
) -> None:
    """Take what an export would write for an operator; nothing asks for it.

    Args:
        symbolic_name: ``"mylib::name"``.
        symbolic_fn: The function that would write it.
        opset_version: ONNX's version.

    Example:
        >>> tt.onnx.register_custom_op_symbolic("mylib::twice", lambda g, x: x, 17)
    """


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Nothing: nothing was kept.

    Args:
        symbolic_name: ``"mylib::name"``.
        opset_version: ONNX's version.

    Example:
        >>> tt.onnx.unregister_custom_op_symbolic("mylib::twice", 17)
    """


def parse_args(*arg_descriptors: str) -> Callable[[_F], _F]:
    """A decorator for functions that write operators: the function itself.

    Args:
        *arg_descriptors: The kinds of its arguments, ``"v"`` or ``"i"``.

    Example:
        >>> from tinytorch.onnx.symbolic_helper import parse_args
        >>> @parse_args("v", "i")
        ... def twice(g, x, dim):
        ...     return x
        >>> twice(None, 1, 2)
        1
    """
    return lambda function: function


fill(globals(), TABLES["onnx"])
