"""How a module holds its parameters, buffers and children.

The named members of a module, kept also as its plain attributes.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from copy import deepcopy
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from ...core.tensor import Tensor
from ...dispatch.creation import typename
from ...state.tracebacks import ShortTracebacks, shorten
from ..parameter import Buffer, Parameter
from . import global_hooks

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


if TYPE_CHECKING:
    from . import Module

REGISTRIES = ("_parameters", "_buffers", "_modules")


class Members(ShortTracebacks):
    """Registration, and attribute access to what is registered.

    The registries are torch's: ``_parameters``, ``_buffers`` and ``_modules`` by name, and
    ``_non_persistent_buffers_set``.
    """

    training: bool
    _parameters: Registry[Parameter | None]
    _buffers: Registry[Tensor | None]
    if TYPE_CHECKING:  # a name that typing.get_type_hints(Module) would not find
        _modules: Registry[Module | None]
    _non_persistent_buffers_set: set[str]
    _is_mirrored: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._is_mirrored = getattr(cls, "__getattr__") is getattr(Members, "__getattr__")

    def __init__(self) -> None:
        self.__dict__.update(
            training=True,
            _parameters=Registry(self),
            _buffers=Registry(self),
            _modules=Registry(self),
            _non_persistent_buffers_set=set(),
        )

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the module's state but is not trained.

        Args:
            name: The attribute it becomes.
            tensor: The buffer. None is kept as such and left out of ``state_dict``.
            persistent: Whether ``state_dict`` holds it. Default: True.

        Raises:
            KeyError: If the name is empty, has a dot, or is taken by something else.
            TypeError: If ``tensor`` is neither a Tensor nor None, or the name not a string.

        Example:
            >>> layer = tt.nn.Module()
            >>> layer.register_buffer("mean", tt.zeros(2))
            >>> layer.mean
            tensor([0., 0.])
        """
        self._check_name("buffer", "_buffers", name)
        if not _may_be_buffer(tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' "
                "(tinytorch Tensor or None required)"
            )
        self._buffers[name] = global_hooks.replaced(global_hooks.BUFFER, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter. ``self.name = nn.Parameter(...)`` does the same.

        Args:
            name: The attribute it becomes.
            param: The parameter. None is kept as such and left out of ``state_dict``.

        Raises:
            KeyError: If the name is empty, has a dot, or is taken by something else.
            TypeError: If ``param`` is neither a Parameter nor None, or the name not a string.
            ValueError: If ``param`` was computed from other tensors.

        Example:
            >>> layer = tt.nn.Module()
            >>> layer.register_parameter("scale", tt.nn.Parameter(tt.ones(2)))
            >>> [name for name, _ in layer.named_parameters()]
            ['scale']
        """
        self._check_name("parameter", "_parameters", name)
        if param is not None:
            _check_parameter(name, param)
            param = global_hooks.replaced(global_hooks.PARAMETER, self, name, param)
        self._parameters[name] = param

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child. ``self.name = module`` does the same.

        Args:
            name: The attribute it becomes.
            module: The child, or None.

        Raises:
            KeyError: If the name is empty, has a dot, or is taken by something else.
            TypeError: If ``module`` is neither a Module nor None, or the name not a string.

        Example:
            >>> from tinytorch import nn
            >>> net = nn.Module()
            >>> net.add_module("act", nn.ReLU())
            >>> net.act
            ReLU()
        """
        if module is not None and not isinstance(module, Members):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", "_modules", name)
        self._modules[name] = global_hooks.replaced(global_hooks.MODULE, self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """Add a child; another name of ``add_module``.

        Example:
            >>> from tinytorch import nn
            >>> net = nn.Module()
            >>> net.register_module("act", nn.ReLU())
            >>> net.act
            ReLU()
        """
        self.add_module(name, module)

    def _check_name(self, kind: str, registry: str, name: str) -> None:
        members = self.__dict__.get(registry)
        if members is None:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if name not in members and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')

    # Hidden from type checkers, so that a misspelt attribute is an error to them: what a module
    # assigns to ``self`` in ``__init__`` they know already.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            try:
                for registry in REGISTRIES:
                    members = self.__dict__.get(registry)
                    if members is not None and name in members:
                        return members[name]
                raise AttributeError(
                    f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self
                )
            except Exception as error:
                shorten(error)
                raise

        def __setattr__(self, name: str, value: Any) -> None:
            try:
                held = self.__dict__
                if isinstance(value, Parameter):
                    self._make_room("parameters", name)
                    self.register_parameter(name, value)
                elif name in held.get("_parameters", ()):
                    _require_none(value, f"parameter '{name}'", "tinytorch.nn.Parameter")
                    self.register_parameter(name, None)
                elif isinstance(value, Members):
                    self._make_room("modules", name)
                    self._set_module(name, value)
                elif name in held.get("_modules", ()):
                    _require_none(value, f"child module '{name}'", "tinytorch.nn.Module")
                    self._set_module(name, None)
                elif isinstance(value, Buffer) or name in held.get("_buffers", ()):
                    self._set_buffer(name, value)
                elif name in REGISTRIES:
                    self._set_registry(name, value)
                else:
                    super().__setattr__(name, value)
            except Exception as error:
                shorten(error)
                raise

    def _make_room(self, kind: str, name: str) -> None:
        """Forget whatever else ``name`` was, for it becomes one of ``kind``."""
        if f"_{kind}" not in self.__dict__:
            what = "module" if kind == "modules" else kind
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        for registry in REGISTRIES:
            if registry != f"_{kind}":
                self.__dict__[registry].pop(name, None)
        self._non_persistent_buffers_set.discard(name)
        self.__dict__.pop(name, None)

    def _set_module(self, name: str, module: Any) -> None:
        self._modules[name] = global_hooks.replaced(global_hooks.MODULE, self, name, module)

    def _set_buffer(self, name: str, value: Any) -> None:
        if not _may_be_buffer(value):
            raise TypeError(
                f"cannot assign '{typename(value)}' as buffer '{name}' "
                "(tinytorch.nn.Buffer, tinytorch.Tensor or None expected)"
            )
        persistent = (
            value.persistent
            if isinstance(value, Buffer)
            else name not in self._non_persistent_buffers_set
        )
        register = self.register_buffer
        own = type(self).register_buffer is not Members.register_buffer
        if not own or "persistent" in signature(register).parameters:
            register(name, value, persistent)
        elif persistent:  # a subclass may have forgotten it
            register(name, value)
        else:
            raise RuntimeError(
                f"cannot assign the non-persistent buffer '{name}': "
                f"{type(self).__name__}.register_buffer() has no argument persistent"
            )

    def _set_registry(self, name: str, members: Any) -> None:
        """Replace a whole registry, as in ``module._modules = OrderedDict(...)``."""
        before = self.__dict__.get(name)
        if isinstance(before, Registry):
            before.leave(self)
        if isinstance(members, Registry):
            self.__dict__[name] = members
            members.join(self)
        else:
            self.__dict__[name] = Registry(self, members)

    def __delattr__(self, name: str) -> None:
        for registry in REGISTRIES:
            if name in self.__dict__.get(registry, ()):
                del self.__dict__[registry][name]
                self._non_persistent_buffers_set.discard(name)
                self.__dict__.pop(name, None)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = {*super().__dir__(), *self._parameters, *self._modules, *self._buffers}
        return sorted(name for name in names if not name[:1].isdigit())

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for registry in REGISTRIES:
            for name, member in state.get(registry, {}).items():
                if state.get(name) is member:
                    state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name in REGISTRIES:
            before = self.__dict__.pop(name, None)
            if isinstance(before, Registry):
                before.leave(self)
        self.__dict__.update(state)
        for name in REGISTRIES:
            self._set_registry(name, self.__dict__.pop(name))


def _may_be_buffer(value: object) -> bool:
    """Whether it is a tensor, None, or of a class that answers for one."""
    return value is None or isinstance(value, Tensor) or hasattr(value, "__torch_function__")


def _check_parameter(name: str, param: object) -> None:
    if not isinstance(param, Parameter):
        raise TypeError(
            f"cannot assign '{typename(param)}' object to parameter '{name}' "
            "(tinytorch.nn.Parameter or None required)"
        )
    if param.grad_fn is not None:
        raise ValueError(
            f"Cannot assign non-leaf Tensor to parameter '{name}'. Parameters are leaves of the "
            f"graph; compute '{name}' from other tensors in the forward() method instead."
        )


def _require_none(value: object, role: str, kind: str) -> None:
    if value is not None:
        raise TypeError(f"cannot assign '{typename(value)}' as {role} ({kind} or None expected)")
