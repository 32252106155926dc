"""Types that programs for TorchScript annotate with, as ``torch.jit.annotations``."""

from __future__ import annotations

import types
from typing import (  # noqa: UP035, as programs import the old names from here
    Any, Dict, List, Optional, Tuple, Union, get_args, get_origin,
)  # fmt: skip

__all__ = [
    "Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "List",
    "Optional", "Tuple", "Union",
]  # fmt: skip

BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = list


def _is_instance(value: Any, type_: Any) -> bool:
    """Whether a value is an instance of a type, such as ``list[int]``, including its items.

    Args:
        value: The value.
        type_: A class, a generic type, a union, None, or a tuple of these.

    Raises:
        RuntimeError: For a container type without the types of its items.
    """
    if isinstance(type_, tuple):
        return any(_is_instance(value, each) for each in type_)
    origin, inner = get_origin(type_), get_args(type_)
    if origin in (Union, types.UnionType):
        return any(_is_instance(value, each) for each in inner)
    if type_ in (list, dict, tuple, List, Dict, Tuple, Optional):  # noqa: UP006
        name = getattr(type_, "__name__", str(type_))
        raise RuntimeError(
            f"Attempted to use {name} without a contained type. Please add a contained type, e.g. "
            f"{name}[int]"
        )
    if origin is None:
        return value is None if type_ is None else isinstance(value, type_)
    if not isinstance(value, origin):
        return False
    if origin is dict:
        return all(
            _is_instance(k, inner[0]) and _is_instance(v, inner[1]) for k, v in value.items()
        )
    if origin is tuple:
        return len(value) == len(inner) and all(map(_is_instance, value, inner))
    return all(_is_instance(each, inner[0]) for each in value)
