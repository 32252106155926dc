"""What dtype a combination of tensors has."""

from __future__ import annotations

import functools
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import composite
from ...dispatch.promotion import plain_number, result_dtype

_NAMES = frozenset(("tensor", "other", "scalar", "scalar1", "scalar2"))


@composite
def result_type(*tensors: Any, **named: Any) -> dtypes.dtype:
    """The dtype of an arithmetic operation on tensors and numbers.

    Tensors with dimensions come before 0-d tensors, and those before numbers.

    Args:
        *tensors: Tensors and Python numbers; NumPy's dtypes, too.
        **named: Likewise, by PyTorch's names: ``tensor``, ``other``, ``scalar``, ``scalar1`` and
            ``scalar2``.

    Raises:
        TypeError: For another name, or nothing.

    Example:
        >>> import tinytorch as tt
        >>> tt.result_type(tt.tensor([1, 2]), 1.5)
        tinytorch.float32
    """
    for name in named.keys() - _NAMES:
        raise TypeError(f"result_type() got an unexpected keyword argument '{name}'")
    tensors = tuple(map(plain_number, (*tensors, *named.values())))
    dtypes_given = [t for t in tensors if not isinstance(t, (Tensor, int, float, complex))]
    if not dtypes_given:
        return result_dtype(tensors)
    found = [dtypes.as_dtype(t) for t in dtypes_given]
    rest = [t for t in tensors if isinstance(t, (Tensor, int, float, complex))]
    found += [result_dtype(rest)] if rest else []
    return functools.reduce(dtypes.promote_types, found)


@composite
def can_cast(from_: Any, to: Any) -> bool:
    """Whether a dtype may become another without a change of kind: no float an integer.

    Args:
        from_: The dtype there is.
        to: The one that is wanted.

    Example:
        >>> import tinytorch as tt
        >>> tt.can_cast(tt.int32, tt.float32), tt.can_cast(tt.float32, tt.int32)
        (True, False)
    """
    return dtypes.as_dtype(from_).category <= dtypes.as_dtype(to).category
