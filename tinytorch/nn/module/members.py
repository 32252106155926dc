"""Registries of a module's parameters, buffers and children, and attribute access to them."""

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


class MemberDict(dict[str, V]):
    """A module's parameters, buffers or children by name, mirrored in its ``__dict__``.

    Looking up ``self.weight`` in the instance takes 25 ns, by ``__getattr__`` 400 ns. The registry
    updates ``__dict__``, and not the module, because programs also assign to
    ``module._parameters[name]`` and ``module._modules[name]``. If a class overrides
    ``__getattr__``, nothing is mirrored, so that the override is called.

    Shallow copies of a module share its registries: a member that one of them registers appears
    in all.

    Args:
        owner: The module. It is referenced weakly, so that it forms no reference cycle. None for a
            registry that is assigned to a module later.
        members: Initial members. Default: none.

    Example:
        >>> layer = tt.nn.Linear(2, 3)
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
        """Add a module that shares this registry."""
        self._owners = (*(ref for ref in self._owners if ref() is not None), weakref.ref(owner))
        if getattr(owner, "_is_mirrored", True):
            owner.__dict__.update(self)

    def leave(self, owner: object) -> None:
        """Remove a module that shares this registry."""
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

    def __deepcopy__(self, memo: dict[int, Any]) -> MemberDict[V]:
        """Return a registry without owner; ``__setstate__`` makes the copied modules its owners."""
        copied: MemberDict[V] = MemberDict(None)
        memo[id(self)] = copied
        copied.update({name: deepcopy(member, memo) for name, member in self.items()})
        return copied

    def __ior__(self, other: Any) -> Any:  # type: ignore[misc]
        self.update(other)
        return self

    def pop(self, name: str, default: Any = _MISSING) -> Any:
        """Remove ``name`` and return its member, or ``default`` if there is none."""
        if name not in self and default is not _MISSING:
            return default
        member = self[name]
        del self[name]
        return member

    def popitem(self) -> tuple[str, V]:
        """Remove and return the last pair of name and member."""
        name = next(reversed(self))
        return name, self.pop(name)

    def clear(self) -> None:
        """Remove every member."""
        for name in list(self):
            del self[name]

    def setdefault(self, name: str, default: Any = None) -> Any:
        """Return the member ``name``; if there is none, set it to ``default`` first."""
        if name not in self:
            self[name] = default
        return self[name]

    def update(self, *others: Any, **members: Any) -> None:
        """Add the pairs of a mapping, of an iterable of pairs, or of keyword arguments."""
        for name, member in dict(*others, **members).items():
            self[name] = member

    def replace(self, members: Iterable[tuple[str, V]]) -> None:
        """Replace all members by these pairs, in this order."""
        pairs = list(members)
        self.clear()
        self.update(pairs)


if TYPE_CHECKING:
    from . import Module

REGISTRIES = ("_parameters", "_buffers", "_modules")


class Members(ShortTracebacks):
    """Registration of parameters, buffers and children, and attribute access to them.

    The registries have PyTorch's names: ``_parameters``, ``_buffers`` and ``_modules``, and
    ``_non_persistent_buffers_set``.
    """

    training: bool
    _parameters: MemberDict[Parameter | None]
    _buffers: MemberDict[Tensor | None]
    if TYPE_CHECKING:  # typing.get_type_hints(Module) could not resolve the name
        _modules: MemberDict[Module | None]
    _non_persistent_buffers_set: set[str]
    _is_mirrored: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._is_mirrored = getattr(cls, "__getattr__") is getattr(Members, "__getattr__")

    def __init__(self) -> None:
        self.__dict__.update(
            training=True, _parameters=MemberDict(self), _buffers=MemberDict(self),
            _modules=MemberDict(self), _non_persistent_buffers_set=set(),
        )  # fmt: skip

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the module's state but is not trained.

        Args:
            name: Name of the attribute.
            tensor: The buffer. None is registered, too, but ``state_dict`` omits it.
            persistent: Whether ``state_dict`` contains it. Default: True.

        Raises:
            KeyError: If the name is empty, contains a dot, or is that of another attribute.
            TypeError: If ``tensor`` is neither a Tensor nor None, or the name is not a string.

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
        self._buffers[name] = global_hooks.run_registration_hooks(
            global_hooks.BUFFER, self, name, tensor
        )
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter. ``self.name = nn.Parameter(...)`` does the same.

        Args:
            name: Name of the attribute.
            param: The parameter. None is registered, too, but ``state_dict`` omits it.

        Raises:
            KeyError: If the name is empty, contains a dot, or is that of another attribute.
            TypeError: If ``param`` is neither a Parameter nor None, or the name is not a string.
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
            param = global_hooks.run_registration_hooks(global_hooks.PARAMETER, self, name, param)
        self._parameters[name] = param

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child. ``self.name = module`` does the same.

        Args:
            name: Name of the attribute.
            module: The child, or None.

        Raises:
            KeyError: If the name is empty, contains a dot, or is that of another attribute.
            TypeError: If ``module`` is neither a Module nor None, or the name is not a string.

        Example:
            >>> net = tt.nn.Module()
            >>> net.add_module("act", tt.nn.ReLU())
            >>> net.act
            ReLU()
        """
        if module is not None and not isinstance(module, Members):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", "_modules", name)
        self._modules[name] = global_hooks.run_registration_hooks(
            global_hooks.MODULE, self, name, module
        )

    def register_module(self, name: str, module: Module | None) -> None:
        """Add a child; another name of ``add_module``.

        Example:
            >>> net = tt.nn.Module()
            >>> net.register_module("act", tt.nn.ReLU())
            >>> net.act
            ReLU()
        """
        self.add_module(name, module)

    def _check_name(self, kind: str, registry: str, name: str) -> None:
        """Check that ``name`` can be registered as a ``kind``: parameter, buffer or module."""
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

    # Hidden from type checkers, so that they report misspelled attributes; they infer the others
    # from the assignments in ``__init__``.
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
                attributes = self.__dict__
                if isinstance(value, Parameter):
                    self._free_name("parameters", name)
                    self.register_parameter(name, value)
                elif name in attributes.get("_parameters", ()):
                    _require_none(value, f"parameter '{name}'", "tinytorch.nn.Parameter")
                    self.register_parameter(name, None)
                elif isinstance(value, Members):
                    self._free_name("modules", name)
                    self._set_module(name, value)
                elif name in attributes.get("_modules", ()):
                    _require_none(value, f"child module '{name}'", "tinytorch.nn.Module")
                    self._set_module(name, None)
                elif isinstance(value, Buffer) or name in attributes.get("_buffers", ()):
                    self._set_buffer(name, value)
                elif name in REGISTRIES:
                    self._set_registry(name, value)
                else:
                    super().__setattr__(name, value)
            except Exception as error:
                shorten(error)
                raise

    def _free_name(self, kind: str, name: str) -> None:
        """Remove ``name`` from ``__dict__`` and all registries but that of ``kind``.

        ``kind`` is ``"parameters"`` or ``"modules"``, in which ``name`` is then registered.
        """
        if f"_{kind}" not in self.__dict__:
            member_kind = "module" if kind == "modules" else kind
            raise AttributeError(f"cannot assign {member_kind} before Module.__init__() call")
        for registry in REGISTRIES:
            if registry != f"_{kind}":
                self.__dict__[registry].pop(name, None)
        self._non_persistent_buffers_set.discard(name)
        self.__dict__.pop(name, None)

    def _set_module(self, name: str, module: Any) -> None:
        """Register a child, or None, that is assigned to an attribute."""
        self._modules[name] = global_hooks.run_registration_hooks(
            global_hooks.MODULE, self, name, module
        )

    def _set_buffer(self, name: str, value: Any) -> None:
        """Register a buffer that is assigned to an attribute, by ``register_buffer``."""
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
        overridden = type(self).register_buffer is not Members.register_buffer
        if not overridden or "persistent" in signature(register).parameters:
            register(name, value, persistent)
        elif persistent:  # an override may lack this parameter
            register(name, value)
        else:
            raise RuntimeError(
                f"cannot assign the non-persistent buffer '{name}': "
                f"{type(self).__name__}.register_buffer() has no argument persistent"
            )

    def _set_registry(self, name: str, members: Any) -> None:
        """Replace a whole registry, as in ``module._modules = OrderedDict(...)``."""
        before = self.__dict__.get(name)
        if isinstance(before, MemberDict):
            before.leave(self)
        if isinstance(members, MemberDict):
            self.__dict__[name] = members
            members.join(self)
        else:
            self.__dict__[name] = MemberDict(self, members)

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
            if isinstance(before, MemberDict):
                before.leave(self)
        self.__dict__.update(state)
        for name in REGISTRIES:
            self._set_registry(name, self.__dict__.pop(name))


def _may_be_buffer(value: object) -> bool:
    """Whether a value is a tensor, None, or overrides ``__torch_function__``."""
    return value is None or isinstance(value, Tensor) or hasattr(value, "__torch_function__")


def _check_parameter(name: str, param: object) -> None:
    """Check that a value is a Parameter and a leaf."""
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
    """Raise TypeError if a value that replaces a parameter or child is not None."""
    if value is not None:
        raise TypeError(f"cannot assign '{typename(value)}' as {role} ({kind} or None expected)")
