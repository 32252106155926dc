"""Names that PyTorch removed or deprecated: they raise or warn, and say what to use instead."""

from __future__ import annotations

import math
from typing import Any, NoReturn

from ...core.tensor import Tensor
from ...dispatch.op import composite
from ...warnings import warn

_REMOVED = "This function was deprecated since version 1.9 and is now removed."


@composite(method=True)
def eig(input: Tensor, *args: Any, **options: Any) -> NoReturn:
    """Removed: ``linalg.eig`` returns complex tensors.

    Args:
        input: Tensor.
        *args: Ignored.
        **options: Ignored.

    Example:
        >>> tt.eig(tt.eye(2))
        Traceback (most recent call last):
        ...
        RuntimeError: eig: This function was deprecated since version 1.9 and is now removed...
    """
    raise RuntimeError(
        f"eig: {_REMOVED} `linalg.eig` and `linalg.eigvals` return complex tensors rather than "
        "real ones that mimic them."
    )


@composite(method=True)
def lstsq(input: Tensor, *args: Any, **options: Any) -> NoReturn:
    """Removed: ``linalg.lstsq`` takes its arguments in the other order.

    Args:
        input: Tensor.
        *args: Ignored.
        **options: Ignored.

    Example:
        >>> tt.lstsq(tt.ones(2, 1), tt.eye(2))
        Traceback (most recent call last):
        ...
        RuntimeError: lstsq: This function was deprecated since version 1.9 and is now removed...
    """
    raise RuntimeError(
        f"lstsq: {_REMOVED} `linalg.lstsq` takes its arguments in the other order: "
        "lstsq(B, A) is `linalg.lstsq(A, B).solution`, without residuals in further rows."
    )


@composite
def matrix_rank(input: Tensor, *args: Any, **options: Any) -> NoReturn:
    """Removed: ``linalg.matrix_rank`` has ``hermitian`` instead of ``symmetric``.

    Args:
        input: Tensor.
        *args: Ignored.
        **options: Ignored.

    Example:
        >>> tt.matrix_rank(tt.eye(2))
        Traceback (most recent call last):
        ...
        RuntimeError: matrix_rank: This function was deprecated since version 1.9 and is now ...
    """
    raise RuntimeError(
        f"matrix_rank: {_REMOVED} Please use `linalg.matrix_rank` instead, whose parameter "
        "`hermitian` was called `symmetric`."
    )


@composite(method=True)
def solve(input: Tensor, *args: Any, **options: Any) -> NoReturn:
    """Removed: ``linalg.solve`` takes its arguments in the other order.

    Args:
        input: Tensor.
        *args: Ignored.
        **options: Ignored.

    Example:
        >>> tt.solve(tt.ones(2, 1), tt.eye(2))
        Traceback (most recent call last):
        ...
        RuntimeError: solve: This function was deprecated since version 1.9 and is now removed...
    """
    raise RuntimeError(
        f"solve: {_REMOVED} `linalg.solve` takes its arguments in the other order and does not "
        "return the LU factorization: solve(B, A).solution is `linalg.solve(A, B)`."
    )


@composite(method=True)
def symeig(input: Tensor, *args: Any, **options: Any) -> NoReturn:
    """Removed: ``linalg.eigh`` reads the lower triangle by default.

    Args:
        input: Tensor.
        *args: Ignored.
        **options: Ignored.

    Example:
        >>> tt.symeig(tt.eye(2))
        Traceback (most recent call last):
        ...
        RuntimeError: symeig: This function was deprecated since version 1.9 and is now removed...
    """
    raise RuntimeError(
        f"symeig: {_REMOVED} `linalg.eigvalsh(A)` and `linalg.eigh(A)` read the lower triangle, "
        "where symeig read the upper one: with UPLO='U' they read that."
    )


@composite(namespaces=("Tensor",))
def reinforce(input: Tensor, reward: Any) -> NoReturn:
    """Removed: the loss of a policy is minus the reward times the logarithm of its probability.

    Args:
        input: Tensor.
        reward: Ignored.

    Example:
        >>> tt.ones(1).reinforce(1.0)
        Traceback (most recent call last):
        ...
        RuntimeError: reinforce() was removed...
    """
    raise RuntimeError(
        "reinforce() was removed. Multiply minus the reward by the logarithm of the action's "
        "probability, and call backward() of that."
    )


@composite(namespaces=("Tensor",))
def resize(input: Tensor, *sizes: Any) -> Tensor:
    """``reshape``; deprecated, as it is in PyTorch.

    Args:
        input: Tensor of any shape.
        *sizes: The shape, one by one or as a sequence.

    Raises:
        RuntimeError: For another number of elements.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", UserWarning)
        ...     tt.arange(4).resize(2, 2)
        tensor([[0, 1],
                [2, 3]])
    """
    warn("non-inplace resize is deprecated")
    shape = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    return _reshape_same_size(input, tuple(shape))


@composite(namespaces=("Tensor",))
def resize_as(input: Tensor, tensor: Tensor) -> Tensor:
    """``reshape`` to the shape of another tensor; deprecated, as it is in PyTorch.

    Args:
        input: Tensor of any shape.
        tensor: Tensor with the shape for the result.

    Raises:
        RuntimeError: For another number of elements.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", UserWarning)
        ...     tt.arange(2).resize_as(tt.ones(2, 1)).shape
        tinytorch.Size([2, 1])
    """
    warn("non-inplace resize_as is deprecated")
    return _reshape_same_size(input, tuple(tensor.shape))


def _reshape_same_size(input: Tensor, shape: tuple[int, ...]) -> Tensor:
    """``input.reshape(shape)``; RuntimeError for another number of elements."""
    if math.prod(shape) != input.numel():
        raise RuntimeError(
            f"requested resize to {list(shape)} ({math.prod(shape)} elements in total), but the "
            f"given tensor has a size of {list(input.shape)} ({input.numel()} elements). resize "
            "can only change the shape of a given tensor, while preserving the number of elements."
        )
    return input.reshape(shape)
