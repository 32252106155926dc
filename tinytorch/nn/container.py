"""Modules that hold modules: Sequential, ModuleList and ModuleDict."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from typing import Any, Self, cast, overload

from ..core.tensor import Tensor
from ..warnings import warn
from ._parameter_container import ParameterDict as ParameterDict
from ._parameter_container import ParameterList as ParameterList
from ._parameter_container import named_pairs
from .module import Module, indented

__all__ = [
    "Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential",
]  # fmt: skip


class _Indexed(Module):
    """What Sequential and ModuleList share: children in order, looked up by position."""

    def _names(self) -> list[str]:
        return list(self._modules)

    def _name_at(self, idx: int) -> str:
        raise NotImplementedError

    def _set_modules(self, modules: Iterable[Module]) -> None:
        self._modules.replace((str(place), module) for place, module in enumerate(modules))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return cast("Iterator[Module]", iter(self._modules.values()))

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._name_at(idx), module)

    def __delitem__(self, idx: int | slice) -> None:
        names = self._names()[idx] if isinstance(idx, slice) else [self._name_at(idx)]
        for name in names:
            delattr(self, name)
        self._set_modules(self)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, module: Module) -> Self:
        """Add a module at the end and return the container.

        Example:
            >>> from tinytorch import nn
            >>> len(nn.Sequential(nn.ReLU()).append(nn.Tanh()))
            2
        """
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add several modules at the end and return the container.

        Raises:
            TypeError: If ``modules`` cannot be iterated over.

        Example:
            >>> from tinytorch import nn
            >>> len(nn.ModuleList().extend([nn.ReLU(), nn.Tanh()]))
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
        modules = list(self)
        modules.insert(index, module)
        self._set_modules(modules)


class Container(Module):
    """A module with submodules by keyword; deprecated, as it is in PyTorch: subclass ``Module``.

    Args:
        **kwargs: The submodules by name.

    Example:
        >>> import warnings
        >>> import tinytorch as tt
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
    """Modules called one after the other, each with what the one before returned.

    Args:
        *args: The modules, named ``"0"``, ``"1"``, … or one OrderedDict of modules by name.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch import nn
        >>> net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
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
            input: What the first module takes.

        Returns:
            What the last module returns.
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
        """Item of ``iterator`` at a position; indexing calls it."""
        place = operator.index(idx)
        if not -len(self) <= place < len(self):
            raise IndexError(f"index {place} is out of range")
        return next(islice(iterator, place % len(self), None))

    def _name_at(self, idx: int) -> str:
        name: str = self._get_item_by_idx(self._modules, idx)
        return name

    def insert(self, index: int, module: Module) -> Self:
        """Put a module before position ``index`` and return the container.

        Raises:
            IndexError: If there is no such position.
            AssertionError: If ``module`` is not a Module.

        Example:
            >>> from tinytorch import nn
            >>> nn.Sequential(nn.ReLU()).insert(0, nn.Tanh())[0]
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
            >>> from tinytorch import nn
            >>> nn.Sequential(nn.ReLU(), nn.Tanh()).pop(-1)
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
        return Sequential(*self._repeated(other))

    def __rmul__(self, other: int) -> Sequential:
        return self * other

    def __imul__(self, other: int) -> Self:
        self._set_modules(self._repeated(other))
        return self

    def _repeated(self, times: int) -> list[Module]:
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        return list(self) * times


class ModuleList(_Indexed):
    """Modules in a list. Unlike those in a Python list, they are registered.

    Args:
        modules: What to start with. Default: nothing.

    Example:
        >>> from tinytorch import nn
        >>> nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
        ModuleList(
          (0-2): 3 x Linear(in_features=4, out_features=4, bias=True)
        )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _get_abs_string_index(self, idx: int) -> str:
        """Name of the module at a position; indexing calls it."""
        place = operator.index(idx)
        if not -len(self) <= place < len(self):
            raise IndexError(f"index {place} is out of range")
        return str(place % len(self))

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
        """Put a module before position ``index``, as ``list.insert`` does.

        Example:
            >>> from tinytorch import nn
            >>> layers = nn.ModuleList([nn.ReLU()])
            >>> layers.insert(0, nn.Tanh())
            >>> layers[0]
            Tanh()
        """
        self._insert(index, module)

    def pop(self, key: int | slice) -> Any:
        """Remove and return the module at a position, or a ModuleList of those in a slice.

        Example:
            >>> from tinytorch import nn
            >>> nn.ModuleList([nn.ReLU(), nn.Tanh()]).pop(0)
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
            lines.append(f"\n  {head}: {indented(text)}".replace(" x:", " x"))
        return f"{self._get_name()}({''.join(lines)}\n)" if lines else f"{self._get_name()}()"


class ModuleDict(Module):
    """Modules by name. Unlike those in a Python dict, they are registered.

    Args:
        modules: What to start with: a mapping, or pairs. Default: nothing.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch import nn
        >>> heads = nn.ModuleDict({"mean": nn.Linear(4, 1), "scale": nn.Linear(4, 1)})
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
            >>> from tinytorch import nn
            >>> heads = nn.ModuleDict({"act": nn.ReLU()})
            >>> heads.clear()
            >>> len(heads)
            0
        """
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Remove and return the module of that name.

        Raises:
            KeyError: If there is none.

        Example:
            >>> from tinytorch import nn
            >>> nn.ModuleDict({"act": nn.ReLU()}).pop("act")
            ReLU()
        """
        return cast(Module, self._modules.pop(key))

    def keys(self) -> Any:
        """The names.

        Example:
            >>> from tinytorch import nn
            >>> list(nn.ModuleDict({"act": nn.ReLU()}).keys())
            ['act']
        """
        return self._modules.keys()

    def items(self) -> Any:
        """Pairs of name and module.

        Example:
            >>> from tinytorch import nn
            >>> list(nn.ModuleDict({"act": nn.ReLU()}).items())
            [('act', ReLU())]
        """
        return self._modules.items()

    def values(self) -> Any:
        """The modules.

        Example:
            >>> from tinytorch import nn
            >>> list(nn.ModuleDict({"act": nn.ReLU()}).values())
            [ReLU()]
        """
        return self._modules.values()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add modules, replacing those of the same names.

        Args:
            modules: A mapping, another ModuleDict, or pairs of name and module.

        Raises:
            TypeError: If it is none of these.
            ValueError: If an element is not a pair.

        Example:
            >>> from tinytorch import nn
            >>> heads = nn.ModuleDict()
            >>> heads.update([("act", nn.ReLU())])
            >>> list(heads)
            ['act']
        """
        for name, module in named_pairs("ModuleDict", modules):
            self[name] = module


def _require_sequential(other: object) -> None:
    if not isinstance(other, Sequential):
        raise ValueError(
            f"add operator supports only objects of Sequential class, but {type(other)} is given."
        )
