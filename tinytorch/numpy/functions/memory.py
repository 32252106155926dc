"""How tensors lie in memory, and memory that others made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ops.shape import tensor_functions
from .conversion import as_dtype, host, tensor_of, tensors_of
from .creation import asarray
from .registration import filed, numpy_function


@numpy_function
def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Tensor:
    """``a`` in column-major order, the first index changes fastest; of at least one dimension.

    Args:
        a: Tensor, or what makes one.
        dtype: The wanted dtype; default ``a``'s.
        like: Accepted.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.asfortranarray([[1, 2], [3, 4]]).strides
        (8, 16)
    """
    found: Any = asarray(a, dtype)
    return _by_columns(found) if found.ndim else found.reshape(1)  # type: ignore[no-any-return]


def _by_columns(x: Any) -> Any:
    order = tuple(reversed(range(x.ndim)))
    return x.permute(order).contiguous().permute(order)


@numpy_function
def isfortran(a: Any) -> bool:
    """Whether a tensor is in column-major order and not in row-major order too.

    Args:
        a: Tensor, or what makes one.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.isfortran(np.ones((2, 3)).T), np.isfortran(np.ones(3))
        (True, False)
    """
    flags = tensor_of(a)._data.flags
    return bool(flags.f_contiguous and not flags.c_contiguous)


@numpy_function
def require(a: Any, dtype: Any = None, requirements: Sequence[str] = (), *, like: Any = None) -> (
    Tensor
):  # fmt: skip
    """``a`` as a tensor that lies in memory as it is asked to.

    Args:
        a: Tensor, or what makes one.
        dtype: The wanted dtype; default ``a``'s.
        requirements: ``"C"`` for row-major order, ``"F"`` for column-major, ``"O"`` for memory of
            its own; ``"A"``, ``"W"`` and ``"E"`` hold of every tensor.
        like: Accepted.

    Raises:
        ValueError: If both orders are asked for, or something else.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.require([[1, 2], [3, 4]], requirements="F").flags.f_contiguous
        True
    """
    asked = {word[0].upper() for word in requirements}
    if asked >= {"C", "F"} or not asked <= set("CFOAWE"):
        raise ValueError(f"require(): expected C or F, O, A, W and E, got {requirements!r}")
    found: Any = asarray(a, dtype)
    found = _by_columns(found) if "F" in asked else found
    found = found.contiguous() if "C" in asked else found
    return found.clone() if "O" in asked and found._is_view() else found  # type: ignore


@numpy_function
def asarray_chkfinite(a: Any, dtype: Any = None, order: str | None = None) -> Tensor:
    """``a`` as a tensor without infinities and NaNs.

    Args:
        a: Tensor, or what makes one.
        dtype: The wanted dtype; default ``a``'s.
        order: Accepted; the result is in row-major order.

    Raises:
        ValueError: If there is one.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.asarray_chkfinite([1, 2])
        array([1, 2])
    """
    found: Any = asarray(a, dtype)
    if not bool(found.isfinite().all()):
        raise ValueError("array must not contain infs or NaNs")
    return found  # type: ignore[no-any-return]


@numpy_function
def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """The memory of another library's array, through DLPack.

    Args:
        x: An array with ``__dlpack__``.
        device: Where to; default where it is.
        copy: Whether to copy; None, the default, copies only if needed, False must not copy.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.from_dlpack(np.array([1, 2]))
        array([1, 2])
    """
    found = tensor_functions.from_dlpack(x)
    return asarray(found if device is None else found.to(device=device), copy=copy)


@numpy_function
def frombuffer(
    buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0, *, like: Any = None
) -> Tensor:
    """The numbers in a buffer of bytes, in a tensor of one dimension.

    Args:
        buffer: Bytes, or an object that has the buffer interface.
        dtype: What the bytes stand for, in whatever order; default float64.
        count: How many numbers; default all.
        offset: How many bytes to skip first; default 0.
        like: Accepted.

    Returns:
        A tensor that shares the buffer's memory if that is on the host and has the processor's
        order of bytes, else a copy.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.frombuffer(bytes([1, 2, 3]), np.uint8, offset=1)
        array([2, 3], dtype=uint8)
    """
    found = host().frombuffer(buffer, dtype, count, offset)
    as_dtype(found.dtype.newbyteorder("="))
    return tensor_of(found)  # type: ignore[no-any-return]


def _sharing(name: str, summary: str) -> Callable[..., bool]:
    def function(a: Any, b: Any, /, max_work: int | None = None) -> bool:
        x, y = tensors_of(a, b)
        return bool(getattr(x._xp.library, name)(x.detach()._data, y.detach()._data, max_work))

    return filed(
        function,
        name,
        f"""{summary}.

    Args:
        a: Tensor, or what makes one.
        b: The same.
        max_work: How long to look; see ``numpy.{name}``.
    """,
        ">>> x = np.arange(4)",
        f">>> np.{name}(x[:3], x[2:])",
        "True",
    )


shares_memory: Callable[..., bool] = _sharing(
    "shares_memory", "Whether two tensors have an element in common"
)
may_share_memory: Callable[..., bool] = _sharing(
    "may_share_memory", "Whether the memory of two tensors overlaps"
)
