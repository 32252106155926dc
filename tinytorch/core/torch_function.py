"""Overrides of operations: ``__torch_function__`` of the arguments' classes, and modes.

There is no override where every tensor is of a class in ``PLAIN``, which each function reads first.
While a mode or a profile is active, in any thread, that set is empty, and every call takes the slow
path, on which overrides are called and the profile is notified.

Operations dispatch to overrides themselves (``dispatch.call``); the methods and properties in the
body of Tensor do it by the wrappers here.

Reference: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-python-api
"""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from ..dtypes import dtype
from ..state.tracebacks import shorten
from ..state.variable import Variable

if TYPE_CHECKING:
    from ..dispatch.operation import Op

#: The classes of tensors that are never asked: Tensor, Parameter, Buffer and what inherits from
#: them that nobody is.
_NEVER_ASKED: set[type] = set()
#: Those of them whose elements are not simply what is in memory; see ``core.lazy_bits``.
WAITING: set[type] = set()
#: The others; while a mode or a profile is active, nothing.
PLAIN: set[type] = set()
#: The same, and the classes of Python's values: arguments of these never override a call.
NOT_OVERRIDING: set[type] = set()
#: Classes of arguments that are no tensors.
VALUES = frozenset((type(None), bool, int, float, complex, tuple, list, str, dtype))
#: Plain values, of which there are many.
_VALUES = frozenset((int, float, bool, complex, str, type(None), slice, type(...)))

#: 0: everybody is asked; 1: modes alone; 2: nobody.
_off: Variable[int] = Variable("torch_function_off", 0)
#: The function that a default ``__torch_function__`` is calling.
_calling: Variable[Any] = Variable("torch_function_calling", None)
#: The modes of this context, the innermost last.
modes: Variable[tuple[Any, ...]] = Variable("torch_function_modes", ())


def refusing(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """``__torch_function__`` of a class that is not asked: what ``func`` gives to plain tensors."""
    return _called(func, args, kwargs or {})


def _called(func: Any, args: Any, kwargs: Any) -> Any:
    """What ``func`` gives where no class is asked; NotImplemented if it asks all the same."""
    if _calling.get() is func:  # PyTorch's own function, to which Off means nothing
        return NotImplemented
    token = _calling.set(func)
    try:
        with Off(1):
            return func(*args, **kwargs)
    finally:
        _calling.reset(token)


class Off:
    """A scope in which nobody below ``level`` is asked; see ``_off``."""

    def __init__(self, level: int) -> None:
        self._level = level
        self._tokens: list[Any] = []

    def __enter__(self) -> None:
        self._tokens.append(_off.set(max(self._level, _off.get())))

    def __exit__(self, *error: object) -> None:
        _off.reset(self._tokens.pop())


class DisableTorchFunctionSubclass(Off):
    """A scope in which no class is asked by ``__torch_function__``, though modes are.

    Example:
        >>> import tinytorch as tt
        >>> with tt.DisableTorchFunctionSubclass():
        ...     tt.ones(1)
        tensor([1.])
    """

    def __init__(self) -> None:
        super().__init__(1)


class DisableTorchFunction(Off):
    """A scope in which nobody is asked by ``__torch_function__``.

    Example:
        >>> import tinytorch as tt
        >>> with tt.DisableTorchFunction():
        ...     tt.ones(1)
        tensor([1.])
    """

    def __init__(self) -> None:
        super().__init__(2)


def is_on(level: int = 0) -> bool:
    """Whether classes are asked; with ``level`` 1, whether modes are."""
    return _off.get() <= level


# -- who is asked -----------------------------------------------------------------------------


def overloaded(values: Iterable[Any]) -> list[Any]:
    """The values to ask, one of each class: subclasses first, and else from left to right."""
    found: list[Any] = []
    if not _off.get():
        for value in values:
            cls = type(value)
            if cls not in _NEVER_ASKED and cls not in _VALUES and is_willing(cls):
                _insert(found, value, cls)
    return found


def is_willing(cls: type) -> bool:
    """Whether a class wants to be asked."""
    method = getattr(cls, "__torch_function__", None)
    return method is not None and method is not refusing and not _is_pytorchs(method)


def _is_pytorchs(method: Any) -> bool:
    """Whether it is what PyTorch's own tensors have, which would but call the function again."""
    module: str = getattr(getattr(method, "__func__", method), "__module__", None) or ""
    return module == "torch" or module.startswith("torch.")


def _insert(found: list[Any], value: Any, cls: type) -> None:
    if any(type(other) is cls for other in found):
        return
    behind = (i for i, other in enumerate(found) if issubclass(cls, type(other)))
    found.insert(next(behind, len(found)), value)


def relevant(args: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
    """``overloaded`` of a call's arguments and of what is in its lists."""
    if _off.get():
        return []
    values: list[Any] = []
    for value in (*args, *options.values()) if options else args:
        cls = type(value)
        if cls is tuple or cls is list:
            values.extend(value)
        elif cls not in _NEVER_ASKED and cls not in _VALUES:
            values.append(value)
    return overloaded(values) if values else values


def must_ask() -> bool:
    """Whether a mode wants to be asked here and now."""
    return bool(modes.get()) and is_on(1)


#: Operations that take a tensor, of whatever class, for data to make a plain one of.
UNASKED = frozenset(
    ("as_tensor", "asarray", "from_numpy", "is_tensor", "tensor", "Tensor.as_subclass")
)
#: What nobody makes of a call.
NOBODY = object()


def asked(op: Op, function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What somebody makes of a call of an operation who wants to be asked, or ``NOBODY``."""
    if op.public:
        values = [] if op.qualname in UNASKED else relevant(args, options)
        if values or must_ask():
            return ask(function, values, args, options)
    return NOBODY


# -- asking -----------------------------------------------------------------------------------


def ask(
    func: Callable[..., Any], values: list[Any], args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """What the first of the modes and ``values`` that knows ``func`` makes of the call.

    Args:
        func: The public function that was called.
        values: What ``overloaded`` gave.
        args: Its arguments by position.
        options: Its other arguments.

    Raises:
        TypeError: If nobody does.
    """
    result = first_answer(func, values, args, options)
    if result is not NotImplemented:
        return result
    module, name = getattr(func, "__module__", None), getattr(func, "__qualname__", repr(func))
    text = (
        f"no implementation found for '{f'{module}.{name}' if module else name}' on types that "
        f"implement __torch_function__: {[type(value) for value in values]}"
    )
    raise TypeError(f"{text} nor in mode {modes.get()[-1]}" if must_ask() else text)


def first_answer(
    func: Callable[..., Any], values: list[Any], args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """What ``ask`` gives, or NotImplemented if nobody knows ``func``."""
    types = tuple(map(type, values))
    func = getattr(func, "face", func)
    inner = modes.get()
    if inner and is_on(1):
        token = modes.set(inner[:-1])
        try:
            result = inner[-1].__torch_function__(func, types, args, options)
        finally:
            modes.reset(token)
        if result is not NotImplemented:
            return result
    for value in values:
        method = value.__torch_function__
        if getattr(method, "__self__", None) is value:
            warnings.warn(
                "Defining your `__torch_function__ as a plain method is deprecated and will be an "
                "error in future, please define it as a classmethod.",
                DeprecationWarning,
                stacklevel=3,
            )
        result = method(func, types, args, options)
        if result is not NotImplemented:
            return result
    return NotImplemented


def answer(
    base: Any, cls: type, func: Any, types: Iterable[type], args: Any, kwargs: dict[str, Any]
) -> Any:
    """Tensor's own ``__torch_function__``; ``base`` is Tensor.

    Returns:
        What ``func`` gives where nobody is asked, its tensors as ``cls``; NotImplemented where
        there are classes that know more of themselves than ``cls`` does.
    """
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    result = _called(func, args, kwargs)
    with Off(1):
        return result if func == base.grad.__get__ else _converted(result, base, cls)


def _converted(result: Any, base: Any, cls: type) -> Any:
    if cls is base:
        return result
    if isinstance(result, base) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        parts = [_converted(part, base, cls) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


# -- from when on -----------------------------------------------------------------------------

#: Held while what is asked changes.
_changing = threading.RLock()
_active = 0  # how many modes, profiles and blocks of autocast are, in all threads


def never_ask(cls: type) -> None:
    """Note that tensors of a class are never asked."""
    with _changing:
        _NEVER_ASKED.add(cls)
        if not _active:
            PLAIN.add(cls)
            NOT_OVERRIDING.update((cls, *VALUES))


def never_plain(cls: type) -> None:
    """Note that tensors of a class are never asked, but are no plain ones either."""
    with _changing:
        _NEVER_ASKED.add(cls)
        WAITING.add(cls)
        PLAIN.discard(cls)
        NOT_OVERRIDING.discard(cls)


def is_never_asked(cls: type) -> bool:
    """Whether tensors of a class are never asked."""
    return cls in _NEVER_ASKED


def count_watchers(change: int) -> None:
    """Note that there are more, or fewer, of those for which no call is plain."""
    global _active
    with _changing:
        before, _active = _active > 0, _active + change
        if (_active > 0) is not before:
            if before:
                PLAIN.update(_NEVER_ASKED - WAITING)
                NOT_OVERRIDING.update(PLAIN | VALUES)
            else:
                PLAIN.clear()
                NOT_OVERRIDING.clear()


def push(mode: Any) -> None:
    """Make ``mode`` the innermost one of this context."""
    modes.set((*modes.get(), mode))
    count_watchers(1)


def pop() -> Any:
    """Take the innermost mode of this context away; returns it."""
    *outer, mode = modes.get()
    modes.set(tuple(outer))
    count_watchers(-1)
    return mode


T = TypeVar("T", bound=type)

#: Special methods that ask about the method of the name that their operation has; a reflected
#: one stands for the same as the plain one does. The others ask about themselves, as PyTorch's do.
_BY_OPERATION = frozenset(
    f"__{name}__"
    for name in (
        "add", "radd", "sub", "mul", "rmul", "truediv", "mod", "matmul", "neg", "pos", "abs", "ne",
        "lt", "le", "gt", "ge", "rand", "ror", "rxor",
    )
)  # fmt: skip
_INPLACE = frozenset(f"__i{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod"))
#: What nobody is asked about: the makings of a tensor, and the protocols of other libraries.
_UNASKED = frozenset((
    "__array_function__", "__array_interface__", "__array_namespace__", "__array_ufunc__",
    "__arrow_array__", "__cuda_array_interface__",
    "__class_getitem__", "__dict__", "__dlpack_device__", "__hash__", "__init_subclass__",
    "__iter__", "__new__", "__torch_function__", "__weakref__", "as_subclass",
))  # fmt: skip


def asked_first(cls: T) -> T:
    """Decorator of a class of tensors: whoever wants to be is asked about its members."""
    for name, value in list(vars(cls).items()):
        if isinstance(value, (FunctionType, property)):
            attach(cls, name, value)
    return cls


def attach(cls: type, name: str, value: Any) -> None:
    """Give a class of tensors a method or attribute that is asked about."""
    if _may_be_asked(name, value):
        if isinstance(value, FunctionType):
            value = asking(value)
        elif isinstance(value, property):
            value = _AskedProperty(value.fget, value.fset, value.fdel)
    setattr(cls, name, value)


def _may_be_asked(name: str, value: Any) -> bool:
    public = name.startswith("__") or not name.startswith("_")
    return public and name not in _UNASKED and hasattr(value, "__get__")


@functools.cache
def asking(function: FunctionType) -> Any:
    """A method that asks before it does what ``function`` does."""
    method: Any
    code = function.__code__
    if code.co_argcount == 1 and not code.co_kwonlyargcount and not code.co_flags & 0x0C:

        def method(self: Any) -> Any:
            try:
                if self.__class__ in PLAIN:
                    return function(self)
                return _asked(method, function, self)
            except Exception as error:
                shorten(error)
                raise

    else:

        def method(self: Any, *args: Any, **options: Any) -> Any:
            try:
                if self.__class__ in PLAIN:
                    return function(self, *args, **options)
                return _asked(method, function, self, *args, **options)
            except Exception as error:
                shorten(error, function, options)
                raise

    return functools.update_wrapper(method, function)


class _AskedProperty(property):
    """An attribute of which somebody may be asked what it is."""

    def __init__(self, fget: Any, fset: Any = None, fdel: Any = None) -> None:
        def get(self: Any) -> Any:
            try:
                if self.__class__ in PLAIN:
                    return fget(self)
                return _asked(whole.__get__, fget, self)
            except Exception as error:
                shorten(error)
                raise

        def set(self: Any, value: Any) -> None:
            try:
                if self.__class__ in PLAIN:
                    fset(self, value)
                else:
                    _asked(whole.__set__, fset, self, value)
            except Exception as error:
                shorten(error)
                raise

        whole = self
        super().__init__(functools.wraps(fget)(get), None if fset is None else set, fdel)
        self.__doc__ = fget.__doc__


def _asked(face: Any, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    values = relevant(args, options)
    if values or must_ask():
        return ask(face, values, args, options)
    return function(*args, **options)


def names(cls: type) -> Iterator[str]:
    """The names of Tensor that a class may be asked about."""
    found = {name: value for base in cls.__mro__[-2::-1] for name, value in vars(base).items()}
    for name, value in found.items():
        if _may_be_asked(name, value):
            yield name


def member(cls: type, name: str) -> Any:
    """What stands behind the name ``name`` of Tensor: a function or a descriptor."""
    found = inspect.getattr_static(cls, name)
    if hasattr(found, "_load"):  # the family of operations that defines it is not there yet
        getattr(cls, name)
        found = inspect.getattr_static(cls, name)
    return found


def operator_face(cls: type, name: str) -> Any:
    """The function that classes are asked about for Tensor's operator ``name``."""
    found = member(cls, name)
    op = getattr(found, "op", None)
    if op is not None and name in _BY_OPERATION:
        return member(cls, op.name)
    return member(cls, f"{op.name}_") if op is not None and name in _INPLACE else found
