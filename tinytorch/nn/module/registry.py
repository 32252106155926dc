"""The named members of a module, kept also as its plain attributes."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, TypeVar

V = TypeVar("V")

_MISSING = object()


class Registry(dict[str, V]):
    """A module's parameters, buffers or children by name, mirrored in its ``__dict__``.

    ``self.weight`` found in the instance costs 25 ns, found by ``__getattr__`` after that
    failed 400. The mirror lives here and not in the module because programs write
    ``module._parameters[name]`` and ``module._modules[name]`` themselves. A class with a
    ``__getattr__`` of its own has no mirror: it wants to be asked.

    Shallow copies of a module share its registries: what one of them is given they all have.

    Args:
        owner: The module. Held weakly, so that a module needs no garbage collector to die; None
            for what is on its way to one.
        members: What to start with.

    Example:
        >>> from tinytorch import nn
        >>> layer = nn.Linear(2, 3)
        >>> layer._parameters["weight"] is layer.weight
        True
    """

    __slots__ = ("_owners",)

    def __init__(self, owner: object | None, members: Mapping[str, V] | None = None) -> None:
        super().__init__()
        self._owners: tuple[weakref.ref[Any], ...] = ()
        if owner is not None:
            self._owners = (weakref.ref(owner),)
        if members is not None:
            self.update(members)

    def join(self, owner: object) -> None:
        """Be the registry of another module, too."""
        self._owners = (*(ref for ref in self._owners if ref() is not None), weakref.ref(owner))
        if getattr(owner, "_is_mirrored", True):
            owner.__dict__.update(self)

    def leave(self, owner: object) -> None:
        """Be the registry of that module no longer."""
        self._owners = tuple(ref for ref in self._owners if ref() not in (None, owner))
        for name in self:
            owner.__dict__.pop(name, None)

    def __setitem__(self, name: str, member: V) -> None:
        super().__setitem__(name, member)
        for ref in self._owners:
            owner = ref()
            if owner is not None and getattr(owner, "_is_mirrored", True):
                owner.__dict__[name] = member

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        for ref in self._owners:
            owner = ref()
            if owner is not None:
                owner.__dict__.pop(name, None)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (), None, None, iter(self.items())

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        return self.__reduce__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Registry[V]:
        """A registry of nobody, for the copies of all that share this one."""
        made: Registry[V] = Registry(None)
        memo[id(self)] = made
        made.update({name: deepcopy(member, memo) for name, member in self.items()})
        return made

    def __ior__(self, other: Any) -> Any:  # type: ignore[misc]
        self.update(other)
        return self

    def pop(self, name: str, default: Any = _MISSING) -> Any:
        """Remove ``name`` and return its member, or ``default`` where there is none."""
        if name not in self and default is not _MISSING:
            return default
        member = self[name]
        del self[name]
        return member

    def popitem(self) -> tuple[str, V]:
        """Remove and return the last pair."""
        name = next(reversed(self))
        return name, self.pop(name)

    def clear(self) -> None:
        """Remove every member."""
        for name in list(self):
            del self[name]

    def setdefault(self, name: str, default: Any = None) -> Any:
        """Return the member ``name``, which becomes ``default`` where there is none."""
        if name not in self:
            self[name] = default
        return self[name]

    def update(self, *others: Any, **members: Any) -> None:
        """Add the pairs of another mapping, of an iterable of pairs, or of the keywords."""
        for name, member in dict(*others, **members).items():
            self[name] = member

    def replace(self, members: Iterable[tuple[str, V]]) -> None:
        """Hold exactly these pairs, in this order."""
        pairs = list(members)
        self.clear()
        self.update(pairs)
