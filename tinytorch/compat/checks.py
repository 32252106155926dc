"""Checks by PyTorch's private names that programs use: ``_assert``, ``_check`` and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..core.torch_function import dispatch_override, find_overriding

__all__ = [
    "_assert", "_assert_async", "_check", "_check_index", "_check_is_size",
    "_check_not_implemented", "_check_tensor_all", "_check_tensor_all_with", "_check_type",
    "_check_value", "_check_with",
]  # fmt: skip

Message = Callable[[], object] | None


def _assert(condition: Any, message: str) -> Any:
    """Raise an AssertionError unless ``condition`` holds.

    The tracers of ``fx`` record it. It is an ``assert``, which ``python -O`` removes.

    Args:
        condition: Any object with a truth value, such as a tensor of one element.
        message: The error's text.
    """
    values = [] if isinstance(condition, Tensor) else find_overriding((condition,), {})
    if values:
        return dispatch_override(_assert, values, (condition, message), {})
    assert condition, message
    return None


def _assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """Raise RuntimeError if the element of ``input`` is zero, at once on every device.

    Args:
        input: Tensor of one element, of any dtype.
        assert_msg: The error's text, in the place of a default text.

    Raises:
        TypeError: If ``input`` is not a tensor, or ``assert_msg`` is not a str.
        RuntimeError: Also if ``input`` does not have exactly one element.
    """
    for place, (name, given, kind) in enumerate(
        (("input", input, Tensor), ("assert_msg", "" if assert_msg is None else assert_msg, str)), 1
    ):
        if not isinstance(given, kind):
            raise TypeError(
                f"_assert_async(): argument {name!r} (position {place}) must be {kind.__name__}, "
                f"not {type(given).__name__}"
            )
    if not input:
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


def _check_with(error_type: type[Exception], cond: bool, message: Message = None) -> None:
    """Raise ``error_type`` unless ``cond`` holds.

    Args:
        error_type: The type of the error.
        cond: The condition, a bool.
        message: A function that returns the error's text. Default: none.

    Raises:
        TypeError: If ``cond`` is not a bool.
    """
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        raise error_type("Expected cond to be True, but got False.")
    if not callable(message):
        raise TypeError("message must be a callable")
    raise error_type(str(message()))


def _check(cond: bool, message: Message = None) -> None:
    """Raise RuntimeError unless ``cond`` holds; see ``_check_with``."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: bool, message: Message = None) -> None:
    """Raise IndexError unless ``cond`` holds; see ``_check_with``."""
    _check_with(IndexError, cond, message)


def _check_value(cond: bool, message: Message = None) -> None:
    """Raise ValueError unless ``cond`` holds; see ``_check_with``."""
    _check_with(ValueError, cond, message)


def _check_type(cond: bool, message: Message = None) -> None:
    """Raise TypeError unless ``cond`` holds; see ``_check_with``."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: bool, message: Message = None) -> None:
    """Raise NotImplementedError unless ``cond`` holds; see ``_check_with``."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: int, message: Message = None, *, max: int | None = None) -> None:
    """Raise RuntimeError unless ``i`` is a size: not negative, and at most ``max``."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all_with(
    error_type: type[Exception], cond: Tensor, message: Message = None
) -> None:
    """Raise ``error_type`` unless every element of a bool tensor holds; see ``_check_with``.

    Raises:
        TypeError: If ``cond`` is not a bool tensor.
    """
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype.kind != "b":
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond._data.all()), message)


def _check_tensor_all(cond: Tensor, message: Message = None) -> None:
    """Raise RuntimeError unless all elements are True; see ``_check_tensor_all_with``."""
    _check_tensor_all_with(RuntimeError, cond, message)


for _name in __all__:
    globals()[_name].__module__ = "tinytorch"
