"""Modules that contain modules or parameters, such as Sequential, ModuleList, ParameterDict."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby, islice
from typing import Any, NoReturn, Self, cast, overload

from ..core.tensor import Tensor
from ..dispatch.creation import typename
from ..warnings import warn
from .module import Module, indent_lines
from .parameter import Parameter

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class ParameterList(Module):
    """List of parameters, which are registered, unlike those in a Python list.

    A Tensor that is not a Parameter is converted to one; any other value is stored as it is.

    Args:
        values: Initial values. Default: none.

    Example:
        >>> tt.nn.ParameterList([tt.zeros(2, 3)])
        ParameterList(  (0): Parameter containing: [tinytorch.float32 of size 2x3])
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _get_abs_string_index(self, idx: int) -> str:
        """Return the name of the attribute at position ``idx``; indexing calls it."""
        position = operator.index(idx)
        if not -self._size <= position < self._size:
            raise IndexError(f"index {position} is out of range")
        return str(position % self._size)

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
        return _describe_values(enumerate(self), lambda tensor: str(tensor.dtype))

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Dictionary of parameters, which are registered, unlike those in a Python dict.

    A Tensor that is not a Parameter is converted to one; any other value is stored as it is.

    Args:
        parameters: Initial values: a mapping, or pairs of key and value. Default: none.

    Example:
        >>> params = tt.nn.ParameterDict({"left": tt.zeros(2), "right": tt.ones(3)})
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
        """Return the name of the attribute of ``key``; reading and writing call it."""
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
        """Return another ParameterDict with the same parameters.

        Example:
            >>> params = tt.nn.ParameterDict({"a": tt.zeros(2)})
            >>> params.copy()["a"] is params["a"]
            True
        """
        return ParameterDict(list(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of ``key``; if there is none, set it to ``default`` first.

        Example:
            >>> tt.nn.ParameterDict().setdefault("a", tt.zeros(2)).shape
            tinytorch.Size([2])
        """
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove every value.

        Example:
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
            >>> tt.nn.ParameterDict({"a": tt.zeros(2)}).pop("a").shape
            tinytorch.Size([2])
        """
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove and return the last pair of key and value.

        Example:
            >>> tt.nn.ParameterDict({"a": tt.zeros(2)}).popitem()[0]
            'a'
        """
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of ``key``, or ``default`` if there is none.

        Example:
            >>> tt.nn.ParameterDict().get("a", 0)
            0
        """
        return self[key] if key in self else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Return a new ParameterDict with the value ``default`` for every key.

        Example:
            >>> list(tt.nn.ParameterDict().fromkeys(["a", "b"]))
            ['a', 'b']
        """
        return ParameterDict([(key, default) for key in keys])

    def keys(self) -> Any:
        """Return a view of the keys.

        Example:
            >>> list(tt.nn.ParameterDict({"a": tt.zeros(2)}).keys())
            ['a']
        """
        return self._keys.keys()

    def items(self) -> Iterator[tuple[str, Any]]:
        """Iterate over the pairs of key and value.

        Example:
            >>> [key for key, _ in tt.nn.ParameterDict({"a": tt.zeros(2)}).items()]
            ['a']
        """
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterator[Any]:
        """Iterate over the values.

        Example:
            >>> [value.shape for value in tt.nn.ParameterDict({"a": tt.zeros(2)}).values()]
            [tinytorch.Size([2])]
        """
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add values; they replace those of the same keys.

        Args:
            parameters: A mapping, another ParameterDict, or pairs of key and value. A mapping
                that is neither an OrderedDict nor a ParameterDict is added in sorted order.

        Raises:
            TypeError: If the argument is none of these.
            ValueError: If an element is not a pair.

        Example:
            >>> params = tt.nn.ParameterDict()
            >>> params.update({"b": tt.zeros(2), "a": tt.ones(2)})
            >>> list(params)
            ['a', 'b']
        """
        for key, value in named_pairs("ParameterDict", parameters):
            self[key] = value

    def extra_repr(self) -> str:
        return _describe_values(self.items(), typename)

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("ParameterDict should not be called.")


def named_pairs(owner: str, source: Any) -> list[tuple[str, Any]]:
    """List the pairs of a mapping, of an object with ``items()``, or of an iterable of pairs.

    A ``ParameterDict`` sorts the pairs of a mapping without order, as PyTorch does.

    Args:
        owner: Name of the class whose ``update`` calls this, also for errors.
        source: The argument of ``update``.
    """
    if not isinstance(source, Iterable):
        raise TypeError(
            f"{owner}.update should be called with an iterable of key/value pairs, "
            f"but got {type(source).__name__}"
        )
    if isinstance(source, Mapping) or hasattr(source, "items"):
        pairs = list(source.items())
        ordered = isinstance(source, (OrderedDict, Module)) or owner != "ParameterDict"
        return pairs if ordered else sorted(pairs)
    return [_pair(owner, position, element) for position, element in enumerate(source)]


def _pair(owner: str, position: int, element: Any) -> tuple[str, Any]:
    """Return an element of an iterable of pairs as a tuple, after checks.

    ``owner`` and ``position`` are the class and the index of the element, for errors.
    """
    where = f"{owner} update sequence element #{position}"
    if not isinstance(element, Iterable):
        raise TypeError(f"{where} should be Iterable; is {type(element).__name__}")
    pair = tuple(element)
    if len(pair) != 2:
        raise ValueError(f"{where} has length {len(pair)}; 2 is required")
    return pair


def _as_parameter(value: Any) -> Any:
    """Convert a Tensor to a Parameter; return any other value as it is."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _describe_values(pairs: Iterable[tuple[Any, Any]], type_name: Callable[[Tensor], str]) -> str:
    """Return a line of ``repr`` for each pair; ``type_name`` returns a tensor's type as text."""
    return "\n".join(f"  ({key}): {_describe_value(value, type_name)}" for key, value in pairs)


def _describe_value(value: Any, type_name: Callable[[Tensor], str]) -> str:
    """Return type, size and, on a GPU, the device of a value as text; see ``_describe_values``."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    name = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(map(str, value.shape))
    device = f" ({value.device})" if value.device.type == "cuda" else ""
    return f"{name} containing: [{type_name(value)} of size {size}{device}]"


class _Indexed(Module):
    """Base class of Sequential and ModuleList: ordered children, looked up by position."""

    def _name_at(self, idx: int) -> str:
        """Return the name of the child at a position."""
        raise NotImplementedError

    def _set_modules(self, modules: Iterable[Module]) -> None:
        """Replace all children, with new names "0", "1", ..."""
        self._modules.replace((str(place), module) for place, module in enumerate(modules))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return cast("Iterator[Module]", iter(self._modules.values()))

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._name_at(idx), module)

    def __delitem__(self, idx: int | slice) -> None:
        names = list(self._modules)[idx] if isinstance(idx, slice) else [self._name_at(idx)]
        for name in names:
            delattr(self, name)
        self._set_modules(self)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, module: Module) -> Self:
        """Add a module at the end and return the container.

        Example:
            >>> len(tt.nn.Sequential(tt.nn.ReLU()).append(tt.nn.Tanh()))
            2
        """
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add several modules at the end and return the container.

        Raises:
            TypeError: If ``modules`` cannot be iterated over.

        Example:
            >>> len(tt.nn.ModuleList().extend([tt.nn.ReLU(), tt.nn.Tanh()]))
            2
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{self._get_name()}.extend should be called with an iterable, "
                f"but got {type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def _insert(self, index: int, module: Module) -> None:
        """Insert a module as ``list.insert`` does, and renumber the names."""
        modules = list(self)
        modules.insert(index, module)
        self._set_modules(modules)


class Container(Module):
    """Module with submodules from keyword arguments; deprecated: subclass ``Module`` instead.

    Args:
        **kwargs: The submodules by name.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     tt.nn.Container(act=tt.nn.ReLU())
        Container(
          (act): ReLU()
        )
    """

    def __init__(self, **kwargs: Any) -> None:
        warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in "
            "`nn.Module`. Subclass that instead.",
            FutureWarning,
        )
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class Sequential(_Indexed):
    """Chain of modules: each is called with the output of the previous one.

    Args:
        *args: The modules, named ``"0"``, ``"1"`` and so on, or one OrderedDict of modules by name.

    Example:
        >>> net = tt.nn.Sequential(tt.nn.Linear(4, 8), tt.nn.ReLU(), tt.nn.Linear(8, 2))
        >>> net(tt.zeros(3, 4)).shape
        tinytorch.Size([3, 2])
        >>> net[1:]
        Sequential(
          (1): ReLU()
          (2): Linear(in_features=8, out_features=2, bias=True)
        )
    """

    @overload
    def __init__(self, *args: Module) -> None: ...
    @overload
    def __init__(self, arg: OrderedDict[str, Module], /) -> None: ...
    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named = args[0].items()
        else:
            named = OrderedDict((str(place), module) for place, module in enumerate(args)).items()
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input: Any) -> Tensor:
        """Call the modules one after the other.

        Args:
            input: The input of the first module.

        Returns:
            The output of the last module.
        """
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return cast(Tensor, input)

    @overload
    def __getitem__(self, idx: int) -> Module: ...
    @overload
    def __getitem__(self, idx: slice) -> Self: ...
    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return self.__class__(OrderedDict(list(self._modules.items())[idx]))  # type: ignore
        return self._get_item_by_idx(self._modules.values(), idx)

    def _get_item_by_idx(self, iterator: Iterable[Any], idx: int) -> Any:
        """Return the item of ``iterator`` at position ``idx``; indexing calls it."""
        position = operator.index(idx)
        if not -len(self) <= position < len(self):
            raise IndexError(f"index {position} is out of range")
        return next(islice(iterator, position % len(self), None))

    def _name_at(self, idx: int) -> str:
        name: str = self._get_item_by_idx(self._modules, idx)
        return name

    def insert(self, index: int, module: Module) -> Self:
        """Insert a module before position ``index`` and return the container.

        Raises:
            IndexError: If ``index`` is out of range.
            AssertionError: If ``module`` is not a Module.

        Example:
            >>> tt.nn.Sequential(tt.nn.ReLU()).insert(0, tt.nn.Tanh())[0]
            Tanh()
        """
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}, got {type(module)}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        self._insert(index, module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove and return the module at a position, or a Sequential of those in a slice.

        Example:
            >>> tt.nn.Sequential(tt.nn.ReLU(), tt.nn.Tanh()).pop(-1)
            Tanh()
        """
        module = self[key]
        del self[key]
        return module

    def __add__(self, other: Sequential) -> Sequential:
        _require_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Self:
        _require_sequential(other)
        return self.extend(other)

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*self._repeat_modules(other))

    def __rmul__(self, other: int) -> Sequential:
        return self * other

    def __imul__(self, other: int) -> Self:
        self._set_modules(self._repeat_modules(other))
        return self

    def _repeat_modules(self, times: int) -> list[Module]:
        """List the children ``times`` times."""
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        return list(self) * times


class ModuleList(_Indexed):
    """List of modules, which are registered, unlike those in a Python list.

    Args:
        modules: Initial modules. Default: none.

    Example:
        >>> tt.nn.ModuleList(tt.nn.Linear(4, 4) for _ in range(3))
        ModuleList(
          (0-2): 3 x Linear(in_features=4, out_features=4, bias=True)
        )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _get_abs_string_index(self, idx: int) -> str:
        """Return the name of the module at position ``idx``; indexing calls it."""
        position = operator.index(idx)
        if not -len(self) <= position < len(self):
            raise IndexError(f"index {position} is out of range")
        return str(position % len(self))

    def _name_at(self, idx: int) -> str:
        return self._get_abs_string_index(idx)

    @overload
    def __getitem__(self, idx: int) -> Module: ...
    @overload
    def __getitem__(self, idx: slice) -> Self: ...
    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return self.__class__(list(self)[idx])
        return self._modules[self._name_at(idx)]

    def insert(self, index: int, module: Module) -> None:
        """Insert a module before position ``index``, as ``list.insert`` does.

        Example:
            >>> layers = tt.nn.ModuleList([tt.nn.ReLU()])
            >>> layers.insert(0, tt.nn.Tanh())
            >>> layers[0]
            Tanh()
        """
        self._insert(index, module)

    def pop(self, key: int | slice) -> Any:
        """Remove and return the module at a position, or a ModuleList of those in a slice.

        Example:
            >>> tt.nn.ModuleList([tt.nn.ReLU(), tt.nn.Tanh()]).pop(0)
            ReLU()
        """
        module = self[key]
        del self[key]
        return module

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __repr__(self) -> str:
        lines = []
        for text, group in groupby(enumerate(map(repr, self)), key=lambda pair: pair[1]):
            places = [place for place, _ in group]
            first, last = places[0], places[-1]
            head = f"({first})" if first == last else f"({first}-{last}): {len(places)} x"
            lines.append(f"\n  {head}: {indent_lines(text)}".replace(" x:", " x"))
        return f"{self._get_name()}({''.join(lines)}\n)" if lines else f"{self._get_name()}()"


class ModuleDict(Module):
    """Dictionary of modules, which are registered, unlike those in a Python dict.

    Args:
        modules: Initial modules: a mapping, or pairs of name and module. Default: none.

    Example:
        >>> heads = tt.nn.ModuleDict({"mean": tt.nn.Linear(4, 1), "scale": tt.nn.Linear(4, 1)})
        >>> heads["mean"](tt.zeros(4)).shape
        tinytorch.Size([1])
    """

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return cast(Module, self._modules[key])

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove every module.

        Example:
            >>> heads = tt.nn.ModuleDict({"act": tt.nn.ReLU()})
            >>> heads.clear()
            >>> len(heads)
            0
        """
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Remove and return the module with the name ``key``.

        Raises:
            KeyError: If there is none.

        Example:
            >>> tt.nn.ModuleDict({"act": tt.nn.ReLU()}).pop("act")
            ReLU()
        """
        return cast(Module, self._modules.pop(key))

    def keys(self) -> Any:
        """Return a view of the names.

        Example:
            >>> list(tt.nn.ModuleDict({"act": tt.nn.ReLU()}).keys())
            ['act']
        """
        return self._modules.keys()

    def items(self) -> Any:
        """Return a view of the pairs of name and module.

        Example:
            >>> list(tt.nn.ModuleDict({"act": tt.nn.ReLU()}).items())
            [('act', ReLU())]
        """
        return self._modules.items()

    def values(self) -> Any:
        """Return a view of the modules.

        Example:
            >>> list(tt.nn.ModuleDict({"act": tt.nn.ReLU()}).values())
            [ReLU()]
        """
        return self._modules.values()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add modules; they replace those of the same names.

        Args:
            modules: A mapping, another ModuleDict, or pairs of name and module.

        Raises:
            TypeError: If the argument is none of these.
            ValueError: If an element is not a pair.

        Example:
            >>> heads = tt.nn.ModuleDict()
            >>> heads.update([("act", tt.nn.ReLU())])
            >>> list(heads)
            ['act']
        """
        for name, module in named_pairs("ModuleDict", modules):
            self[name] = module


def _require_sequential(other: object) -> None:
    """Check that an operand of ``+`` is a Sequential."""
    if not isinstance(other, Sequential):
        raise ValueError(
            f"add operator supports only objects of Sequential class, but {type(other)} is given."
        )
