"""``out=`` for functions that are made of other operations."""

from __future__ import annotations

from typing import Any

from ..dispatch.call import write_unrecorded
from ..dispatch.op import OPS


def written(out: Any, result: Any, name: str) -> Any:
    """``result``, or ``out`` with the result in it if that was given.

    Args:
        out: The user's ``out=``: a tensor, a tuple of them for several results, or None.
        result: What the function computed.
        name: The function's qualified name.

    Raises:
        RuntimeError: If the result is part of a graph, or its dtype does not fit ``out``.
    """
    return result if out is None else write_unrecorded(out, result, OPS[name])
