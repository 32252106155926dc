"""bfloat16 as CuPy 14 has it: functions that copy, products, and the ufuncs with loops of ``E``.

CuPy's ``where``, ``sort`` and ``around`` have no loop for it, nor have its solvers and its random
numbers; what is not named here refuses it, also where CuPy might not.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ._array import ndarray

#: Functions and methods that take its arrays: they look at dtypes alone, copy, or have a loop.
TAKES = frozenset(
    """array asanyarray asarray ascontiguousarray asfortranarray asnumpy astype atleast_1d
    broadcast_arrays broadcast_to can_cast concatenate copy copyto diagonal dot empty_like
    expand_dims fill flip full_like get get_array_module isscalar item matmul may_share_memory
    moveaxis ndim ones_like prod promote_types ravel reshape result_type rollaxis set shape
    shares_memory size squeeze stack sum swapaxes take toDlpack tobytes tolist transpose view
    zeros_like""".split()
)


def reject_bfloat16(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``function`` to raise on bfloat16 unless its name is in ``TAKES``."""
    if name in TAKES or name.startswith("__"):
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            if type(value) is ndarray and value._host.dtype.char == "E":
                raise TypeError(f"Unsupported dtype bfloat16: {name} has no loop for it")
        return function(*args, **kwargs)

    return call
