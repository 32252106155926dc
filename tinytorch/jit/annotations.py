"""``torch.jit.annotations``: names that programs annotate with."""

from __future__ import annotations

import types
from typing import (  # noqa: UP035, the names are wanted
    Any,
    Dict,
    List,
    Optional,
    Tuple,
    Union,
    get_args,
    get_origin,
)  # fmt: skip

__all__ = [
    "Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "List",
    "Optional", "Tuple", "Union",
]  # fmt: skip

BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = list


def _is_instance(value: Any, kind: Any) -> bool:
    """Whether a value is of a type, and what it holds of the types in brackets."""
    if isinstance(kind, tuple):
        return any(_is_instance(value, each) for each in kind)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return any(_is_instance(value, each) for each in inner)
    if kind in (list, dict, tuple, List, Dict, Tuple, Optional):  # noqa: UP006
        name = getattr(kind, "__name__", str(kind))
        raise RuntimeError(
            f"Attempted to use {name} without a contained type. Please add a contained type, e.g. "
            f"{name}[int]"
        )
    if origin is None:
        return value is None if kind is None else isinstance(value, kind)
    if not isinstance(value, origin):
        return False
    if origin is dict:
        return all(
            _is_instance(k, inner[0]) and _is_instance(v, inner[1]) for k, v in value.items()
        )
    if origin is tuple:
        return len(value) == len(inner) and all(map(_is_instance, value, inner))
    return all(_is_instance(each, inner[0]) for each in value)
