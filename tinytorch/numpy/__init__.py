"""NumPy's main namespace over Tensors, with NumPy's meanings.

``import tinytorch.numpy as np`` makes a NumPy script run on tensors; gradient rules run here
when a backward pass is recorded; ``Tensor.__array_namespace__()`` returns it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import _state
from .._convert import to_tensor
from .._facade import find
from .._op import OPS
from .._tensor import Tensor


def _op(name: str) -> Callable[..., Tensor]:
    return OPS[name].function


def reshape(a: Tensor, shape: Any) -> Tensor:
    """``a`` in another shape."""
    return _op("reshape")(a, shape if isinstance(shape, (tuple, list)) else (shape,))


def transpose(a: Tensor, axes: Any = None) -> Tensor:
    """``a`` with its dimensions permuted; reversed by default."""
    return _op("permute")(a, tuple(range(a.ndim))[::-1] if axes is None else axes)


def _reduce(name: str, a: Tensor, axis: Any, keepdims: bool, **options: Any) -> Tensor:
    """A reduction by torch's name, to which an empty ``axis`` means all, not none."""
    if axis == ():
        a, axis, keepdims = expand_dims(a, 0), 0, False
    return _op(name)(a, axis, keepdims, **options)


def sum(a: Tensor, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Sum along ``axis``."""
    return _reduce("sum", a, axis, keepdims, dtype=dtype)


def mean(a: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Mean along ``axis``."""
    return _reduce("mean", a, axis, keepdims)


def max(a: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Largest element along ``axis``."""
    return _reduce("amax", a, tuple(range(a.ndim)) if axis is None else axis, keepdims)


def min(a: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Smallest element along ``axis``."""
    return _reduce("amin", a, tuple(range(a.ndim)) if axis is None else axis, keepdims)


def concatenate(arrays: Any, axis: int = 0) -> Tensor:
    """``arrays`` joined along an existing axis."""
    return _op("cat")(arrays, axis)


def stack(arrays: Any, axis: int = 0) -> Tensor:
    """``arrays`` joined along a new axis."""
    return _op("stack")(arrays, axis)


def expand_dims(a: Tensor, axis: int) -> Tensor:
    """``a`` with a dimension of size 1 inserted."""
    return _op("unsqueeze")(a, axis)


def take(a: Tensor, indices: Any, axis: int) -> Tensor:
    """Elements of ``a`` along ``axis``."""
    return a[(slice(None),) * axis + (indices,)]  # type: ignore[index, no-any-return]


def astype(a: Tensor, dtype: Any) -> Tensor:
    """``a`` in another dtype, given natively or as tinytorch's."""
    wanted = a._xp.dtype_of_native(dtype) if hasattr(dtype, "char") else dtype
    return a.to(wanted)  # type: ignore[attr-defined, no-any-return]


def asarray(a: Any, dtype: Any = None) -> Tensor:
    """``a`` as a tensor on the active backend."""
    if isinstance(a, Tensor):
        return a if dtype is None else astype(a, dtype)
    return find("", "tensor")(a, dtype=dtype)  # type: ignore[no-any-return]


def call(operation: Any, *args: Any, **kwargs: Any) -> Any:
    """Run another operation on tensors: what ``Backend.call`` is on raw arrays."""
    return operation(*args, **kwargs)


#: NumPy's name for what torch calls otherwise.
_TORCH_NAMES = {
    "absolute": "abs", "negative": "neg", "power": "pow", "invert": "bitwise_not",
    "conj": "conj_physical", "conjugate": "conj_physical", "array": "clone", "fabs": "abs",
}  # fmt: skip


def _with_numbers(function: Any) -> Any:
    """A function that takes numbers for tensors, as NumPy's do."""
    op = function.op

    def lenient(*args: Any, **options: Any) -> Any:
        tensors = [a for a in args if isinstance(a, Tensor)]
        xp = tensors[0]._xp if tensors else _state.current_backend()
        return function(*(_as_tensor(op, i, a, xp) for i, a in enumerate(args)), **options)

    return functools.update_wrapper(lenient, function)


def _as_tensor(op: Any, position: int, value: Any, xp: Any) -> Any:
    if isinstance(value, (int, float, complex)) and position in op.tensors:
        return to_tensor(op, position, value, xp)
    return value


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        function = find("", _TORCH_NAMES.get(name, name))
        if function is not None:
            return _with_numbers(function) if function.op.strict else function
    raise AttributeError(
        f"module 'tinytorch.numpy' has no attribute {name!r} "
        f"(active backend: {_state.get_backend()})"
    )

