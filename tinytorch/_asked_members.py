"""Methods and attributes of tensors whose class is asked, by ``__torch_function__``, about them.

A subclass of Tensor that may be asked gets ``Asked`` as a base in the place of Tensor. It has a
``Member`` under each of Tensor's names, so that ``Tensor`` itself, and what a program does with
plain tensors, stays as it is. While a mode is active Tensor has them, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from . import _asking
from ._tensor import Tensor, when_subclassed

#: Special methods that ask about the method of the name that their operation has; a reflected
#: one stands for the same as the plain one does. The others ask about themselves, as PyTorch's do.
_BY_OPERATION = frozenset(
    f"__{name}__" for name in (
        "add", "radd", "sub", "mul", "rmul", "truediv", "mod", "matmul", "neg", "pos", "abs", "ne",
        "lt", "le", "gt", "ge", "rand", "ror", "rxor",
    )
)  # fmt: skip
_INPLACE = frozenset(f"__i{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod"))
#: What nobody is asked about: the makings of a tensor, and the protocols of other libraries.
_UNASKED = frozenset((
    "__array_function__", "__array_namespace__", "__array_ufunc__", "__cuda_array_interface__",
    "__dict__", "__dlpack_device__", "__hash__", "__init_subclass__", "__iter__", "__new__",
    "__torch_function__", "__weakref__", "as_subclass",
))  # fmt: skip
#: What the names of Tensor mean while ``Tensor`` itself has members in their place. It stays when
#: these go: another thread may have found one and not have used it yet.
_own: dict[str, Any] = {}


class _Serving:
    """Whether Tensor has members for modes."""

    modes = False


def names() -> Iterator[str]:
    """The names of Tensor that a class may be asked about."""
    found = {name: value for cls in Tensor.__mro__[-2::-1] for name, value in vars(cls).items()}
    for name, value in found.items():
        if _may_be_asked(name, value):
            yield name


def _may_be_asked(name: str, value: Any) -> bool:
    public = name.startswith("__") or not name.startswith("_")
    return public and name not in _UNASKED and hasattr(value, "__get__")


class Member:
    """Stands for one of Tensor's methods or attributes in ``Asked``, and in Tensor for modes."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        found = _behind(Tensor if tensor is None else type(tensor), self.name)
        if tensor is None:
            return found.__get__(None, owner)
        if hasattr(found, "__set__"):
            if _is_asked(tensor):
                return _ask(found.__get__, tensor)
        elif self.name in vars(tensor):
            return vars(tensor)[self.name]
        elif _is_asked(tensor):
            ask = _ask_operator if _has_two(found, self.name) else _ask
            return partial(ask, _face(self.name, found), tensor)
        return found.__get__(tensor, owner)

    def __set__(self, tensor: Any, value: Any) -> None:
        found = _behind(type(tensor), self.name)
        if not hasattr(found, "__set__"):
            vars(tensor)[self.name] = value
        elif _is_asked(tensor):
            _ask(found.__set__, tensor, value)
        else:
            found.__set__(tensor, value)

    def __delete__(self, tensor: Any) -> None:
        found = _behind(type(tensor), self.name)
        if hasattr(found, "__delete__"):
            found.__delete__(tensor)
        elif vars(tensor).pop(self.name, self) is self:
            raise AttributeError(self.name)


def _is_asked(tensor: Any) -> bool:
    return bool(_asking.overloaded((tensor,))) or _asking.must_ask()


def _ask(func: Any, *args: Any, **options: Any) -> Any:
    return _asking.ask(func, _asking.relevant(args, options), args, options)


def _ask_operator(func: Any, *args: Any) -> Any:
    return _asking.first_answer(func, _asking.relevant(args, {}), args, {})


def _has_two(found: Any, name: str) -> bool:
    """Whether ``found`` is the method of an operator that Python has another way to compute."""
    op = getattr(found, "op", None)
    return name.startswith("__") and op is not None and len(op.tensors) == 2


def _behind(cls: type, name: str) -> Any:
    """What stands behind the members of ``name``: a function or a descriptor."""
    seen = False
    for base in cls.__mro__:
        found = vars(base).get(name)
        if isinstance(found, Member):
            seen = True
            if base is Tensor:
                return _loaded(name, _own[name])
        elif found is not None and (seen or base is Tensor):
            return _loaded(name, found)
        elif found is not None and base in Tensor.__mro__:
            return found
    raise AttributeError(name)


def _loaded(name: str, found: Any) -> Any:
    """``found``, or what it becomes once the family of operations that defines it is there."""
    load = getattr(found, "_load", None)
    if load is None:
        return found
    load()
    with _asking.changing:
        now = vars(Tensor)[name]
        return _own[name] if isinstance(now, Member) else now


def _face(name: str, found: Any) -> Any:
    """The function that a class is asked about for the method ``name``."""
    op = getattr(found, "op", None)
    if op is not None and name in _BY_OPERATION:
        return method(op.name)
    return method(f"{op.name}_") if op is not None and name in _INPLACE else found


def method(name: str) -> Any:
    """Tensor's method ``name``, whether or not a mode has its own in the place."""
    return _behind(Tensor, name)


def operator_face(name: str) -> Any:
    """The function that classes are asked about for Tensor's operator ``name``."""
    return _face(name, _behind(Tensor, name))


class _Maker:
    """Makes ``Asked`` when the first class needs it."""

    made: Any = None
    at_work = False


def asked_base() -> Any:
    """``Asked``: Tensor, with its members asked about first."""
    if _Maker.made is None:
        _Maker.at_work = True
        body: dict[str, Any] = {name: Member(name) for name in names()}
        for name in ("__hash__", "__doc__", "__module__"):
            body[name] = getattr(Tensor, name)
        _Maker.made = type("Asked", (Tensor,), {"__slots__": (), **body})
        _Maker.at_work = False
    return _Maker.made


def _prepare(cls: type) -> None:
    """Have a new subclass of Tensor asked, unless it does not want to be."""
    if not _asking.is_willing(cls):
        _asking.never_ask(cls)
    elif not _Maker.at_work:
        asked = asked_base()
        if not issubclass(cls, asked):
            bases = tuple(asked if base is Tensor else base for base in cls.__bases__)
            cls.__bases__ = bases if asked in bases else (*bases, asked)


def _serve_modes(active: bool) -> None:
    """Give Tensor members for as long as a mode is active."""
    with _asking.changing:
        _Serving.modes = active
        if active:
            for name in tuple(names()):
                _stand_in(name)
        else:
            for name, value in _own.items():
                if isinstance(vars(Tensor).get(name), Member):
                    setattr(Tensor, name, value)


def attach(name: str, value: Any) -> None:
    """Give Tensor a method or attribute, which modes are asked about if some are active."""
    with _asking.changing:
        setattr(Tensor, name, value)
        if _Serving.modes and _may_be_asked(name, value):
            _stand_in(name)


def _stand_in(name: str) -> None:
    found = next(vars(base)[name] for base in Tensor.__mro__ if name in vars(base))
    if not isinstance(found, Member):
        _own[name] = found
        setattr(Tensor, name, Member(name))


when_subclassed.append(_prepare)
_asking.when_modes(_serve_modes)
