"""Lists and dictionaries that cannot be modified: the arguments of a graph's nodes.

A change would leave the users of a node wrong; assign to ``node.args`` instead.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partialmethod
from typing import Any, NoReturn

from ..utils import _pytree

__all__ = ["immutable_dict", "immutable_list"]


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(
        f"{type(self).__name__!r} object does not support mutation. If you are attempting to "
        "modify the kwargs or args of a torch.fx.Node object, instead create a new copy of it and "
        "assign the copy to the node: new_args = ...; node.args = new_args"
    )


class immutable_list(list[Any]):
    """List that raises TypeError when it is modified.

    Example:
        >>> from tinytorch.fx.immutable_collections import immutable_list
        >>> immutable_list([1, 2])
        [1, 2]
    """

    __delitem__: Callable[..., NoReturn]
    __iadd__: Callable[..., NoReturn]
    __imul__: Callable[..., NoReturn]
    __setitem__: Callable[..., NoReturn]
    append: partialmethod[NoReturn]
    clear: partialmethod[NoReturn]
    extend: partialmethod[NoReturn]
    insert: partialmethod[NoReturn]
    pop: partialmethod[NoReturn]
    remove: partialmethod[NoReturn]
    reverse: partialmethod[NoReturn]
    sort: partialmethod[NoReturn]

    __delitem__ = __iadd__ = __imul__ = __setitem__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = partialmethod(_refuse)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (list(self),)


class immutable_dict(dict[Any, Any]):
    """Dictionary that raises TypeError when it is modified.

    Example:
        >>> from tinytorch.fx.immutable_collections import immutable_dict
        >>> immutable_dict(dim=1)
        {'dim': 1}
    """

    __delitem__: Callable[..., NoReturn]
    __ior__: Callable[..., NoReturn]
    __setitem__: Callable[..., NoReturn]
    clear: partialmethod[NoReturn]
    pop: partialmethod[NoReturn]
    popitem: partialmethod[NoReturn]
    setdefault: partialmethod[NoReturn]
    update: partialmethod[NoReturn]

    __delitem__ = __ior__ = __setitem__ = _refuse
    clear = pop = popitem = setdefault = update = partialmethod(_refuse)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


_pytree.register_pytree_node(
    immutable_list, lambda value: (list(value), None), lambda parts, _: immutable_list(parts)
)
_pytree.register_pytree_node(
    immutable_dict,
    lambda value: (list(value.values()), list(value)),
    lambda parts, keys: immutable_dict(zip(keys, parts, strict=True)),
)
