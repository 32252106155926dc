"""Reading and writing selected elements."""

from __future__ import annotations

from typing import Any

from .._op import Array, Backend, op
from .._tensor import Tensor


@op(view=True, method=False)
def _getitem(xp: Backend, input: Array, index: Any) -> Array:
    return input[index]


_getitem.vjp(
    input=lambda xp, g, in_shape, index: xp.call(_scatter_item, g, index, tuple(in_shape))
)


@op(method=False)
def _scatter_item(xp: Backend, input: Array, index: Any, shape: Any) -> Array:
    """Zeros of ``shape`` with ``input`` added at ``index``: the gradient of reading there."""
    out = xp.zeros(shape, input.dtype)
    if _is_basic(index):
        out[index] = input
    else:
        xp.index_add(out, index, input)
    return out


_scatter_item.vjp(input=lambda xp, g, index: xp.call(_getitem, g, index))


def _is_basic(index: Any) -> bool:
    """Whether an index names each element at most once, by ints, slices and None."""
    items = index if isinstance(index, tuple) else (index,)
    return all(
        item is None or item is Ellipsis or isinstance(item, (int, slice)) for item in items
    )


def _raw_index(index: Any) -> Any:
    if isinstance(index, Tensor):
        return index._data
    if isinstance(index, tuple):
        return tuple(_raw_index(i) for i in index)
    return index


def _get(self: Tensor, index: Any) -> Any:
    return _getitem(self, _raw_index(index))


Tensor.__getitem__ = _get  # type: ignore[attr-defined]
