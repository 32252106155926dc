"""Modules that hold parameters: ParameterList and ParameterDict."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn, Self, overload

from ..core.tensor import Tensor
from ..dispatch.creation import typename
from .module import Module
from .parameter import Parameter

__all__ = ["ParameterDict", "ParameterList"]


class ParameterList(Module):
    """Parameters in a list. Unlike those in a Python list, they are registered.

    A Tensor that is no Parameter becomes one; any other value is kept as it is.

    Args:
        values: What to start with. Default: nothing.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch import nn
        >>> nn.ParameterList([tt.zeros(2, 3)])
        ParameterList(  (0): Parameter containing: [tinytorch.float32 of size 2x3])
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _get_abs_string_index(self, idx: int) -> str:
        """Name of the attribute at a position; indexing calls it."""
        place = operator.index(idx)
        if not -self._size <= place < self._size:
            raise IndexError(f"index {place} is out of range")
        return str(place % self._size)

    @overload
    def __getitem__(self, idx: int) -> Any: ...
    @overload
    def __getitem__(self, idx: slice) -> Self: ...
    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return self.__class__(list(self)[idx])
        return getattr(self, self._get_abs_string_index(idx))

    def __setitem__(self, idx: int, param: Any) -> None:
        setattr(self, self._get_abs_string_index(idx), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(self._size))

    def __iadd__(self, parameters: Iterable[Any]) -> Self:
        return self.extend(parameters)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> Self:
        """Add a value at the end and return the list.

        Example:
            >>> import tinytorch as tt
            >>> len(tt.nn.ParameterList().append(tt.zeros(2)))
            1
        """
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add several values at the end and return the list.

        Raises:
            TypeError: If ``values`` cannot be iterated over, or is itself a Tensor.

        Example:
            >>> import tinytorch as tt
            >>> len(tt.nn.ParameterList().extend([tt.zeros(2), tt.ones(3)]))
            2
        """
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, "
                f"but got {type(values).__name__}"
            )
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """One line for each value."""
        return _described(enumerate(self), lambda tensor: str(tensor.dtype))

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters by name. Unlike those in a Python dict, they are registered.

    A Tensor that is no Parameter becomes one; any other value is kept as it is.

    Args:
        parameters: What to start with: a mapping, or pairs. Default: nothing.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch import nn
        >>> params = nn.ParameterDict({"left": tt.zeros(2), "right": tt.ones(3)})
        >>> params["right"].shape
        tinytorch.Size([3])
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._key_to_attr(key))

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, self._key_to_attr(key), _as_parameter(value))
        self._keys[key] = None

    def _key_to_attr(self, key: object) -> str:
        """Name of the attribute of ``key``; reading and writing call it."""
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string "
                f"(type is '{type(key).__name__}')."
            )
        return key

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __or__(self, other: ParameterDict) -> ParameterDict:
        merged = self.copy()
        merged.update(other)
        return merged

    def __ror__(self, other: Any) -> ParameterDict:
        merged = ParameterDict(other)
        merged.update(self)
        return merged

    def __ior__(self, other: Any) -> Self:  # type: ignore[misc]
        self.update(other)
        return self

    def copy(self) -> ParameterDict:
        """Another ParameterDict with the same parameters.

        Example:
            >>> import tinytorch as tt
            >>> params = tt.nn.ParameterDict({"a": tt.zeros(2)})
            >>> params.copy()["a"] is params["a"]
            True
        """
        return ParameterDict(list(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of ``key``, which becomes ``default`` where there is none.

        Example:
            >>> import tinytorch as tt
            >>> tt.nn.ParameterDict().setdefault("a", tt.zeros(2)).shape
            tinytorch.Size([2])
        """
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove every value.

        Example:
            >>> import tinytorch as tt
            >>> params = tt.nn.ParameterDict({"a": tt.zeros(2)})
            >>> params.clear()
            >>> len(params)
            0
        """
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove and return the value of ``key``.

        Example:
            >>> import tinytorch as tt
            >>> tt.nn.ParameterDict({"a": tt.zeros(2)}).pop("a").shape
            tinytorch.Size([2])
        """
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove and return the last pair of key and value.

        Example:
            >>> import tinytorch as tt
            >>> tt.nn.ParameterDict({"a": tt.zeros(2)}).popitem()[0]
            'a'
        """
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of ``key``, or ``default`` where there is none.

        Example:
            >>> from tinytorch import nn
            >>> nn.ParameterDict().get("a", 0)
            0
        """
        return self[key] if key in self else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new ParameterDict with ``default`` for every key.

        Example:
            >>> from tinytorch import nn
            >>> list(nn.ParameterDict().fromkeys(["a", "b"]))
            ['a', 'b']
        """
        return ParameterDict([(key, default) for key in keys])

    def keys(self) -> Any:
        """The keys.

        Example:
            >>> import tinytorch as tt
            >>> list(tt.nn.ParameterDict({"a": tt.zeros(2)}).keys())
            ['a']
        """
        return self._keys.keys()

    def items(self) -> Iterator[tuple[str, Any]]:
        """Pairs of key and value.

        Example:
            >>> import tinytorch as tt
            >>> [key for key, _ in tt.nn.ParameterDict({"a": tt.zeros(2)}).items()]
            ['a']
        """
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterator[Any]:
        """The values.

        Example:
            >>> import tinytorch as tt
            >>> [value.shape for value in tt.nn.ParameterDict({"a": tt.zeros(2)}).values()]
            [tinytorch.Size([2])]
        """
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add values, replacing those of the same keys.

        Args:
            parameters: A mapping, another ParameterDict, or pairs of key and value. A mapping
                that is neither an OrderedDict nor a ParameterDict is taken in sorted order.

        Raises:
            TypeError: If it is none of these.
            ValueError: If an element is not a pair.

        Example:
            >>> import tinytorch as tt
            >>> params = tt.nn.ParameterDict()
            >>> params.update({"b": tt.zeros(2), "a": tt.ones(2)})
            >>> list(params)
            ['a', 'b']
        """
        for key, value in named_pairs("ParameterDict", parameters):
            self[key] = value

    def extra_repr(self) -> str:
        """One line for each value."""
        return _described(self.items(), typename)

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("ParameterDict should not be called.")


def named_pairs(owner: str, given: Any) -> list[tuple[str, Any]]:
    """The pairs of a mapping, of a container with ``items()``, or of an iterable of pairs."""
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{owner}.update should be called with an iterable of key/value pairs, "
            f"but got {type(given).__name__}"
        )
    if isinstance(given, Mapping) or hasattr(given, "items"):
        pairs = list(given.items())
        ordered = isinstance(given, (OrderedDict, Module)) or owner != "ParameterDict"
        return pairs if ordered else sorted(pairs)
    return [_pair(owner, place, element) for place, element in enumerate(given)]


def _pair(owner: str, place: int, element: Any) -> tuple[str, Any]:
    where = f"{owner} update sequence element #{place}"
    if not isinstance(element, Iterable):
        raise TypeError(f"{where} should be Iterable; is {type(element).__name__}")
    pair = tuple(element)
    if len(pair) != 2:
        raise ValueError(f"{where} has length {len(pair)}; 2 is required")
    return pair


def _as_parameter(value: Any) -> Any:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _described(pairs: Iterable[tuple[Any, Any]], kind: Callable[[Tensor], str]) -> str:
    return "\n".join(f"  ({key}): {_description(value, kind)}" for key, value in pairs)


def _description(value: Any, kind: Callable[[Tensor], str]) -> str:
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    name = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(map(str, value.shape))
    device = f" ({value.device})" if value.device.type == "cuda" else ""
    return f"{name} containing: [{kind(value)} of size {size}{device}]"
