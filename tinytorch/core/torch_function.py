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
from ..state.bindings import VariableScope, bind
from ..state.tracebacks import shorten
from ..state.variable import Variable

if TYPE_CHECKING:
    from ..dispatch.operation import Op

#: Classes of tensors that override nothing: Tensor, Parameter, Buffer, and subclasses of them
#: without a ``__torch_function__`` that does.
_EXCLUDED: set[type] = set()
#: The lazily conjugated or negated ones among these classes; see ``core.lazy_bits``.
LAZY: set[type] = set()
#: The other classes, for the fast path. Empty while a mode or a profile is active.
PLAIN: set[type] = set()
#: ``PLAIN`` and the classes of Python's values: arguments of these never override a call.
NOT_OVERRIDING: set[type] = set()
#: Classes of arguments other than tensors.
VALUES = frozenset((type(None), bool, int, float, complex, tuple, list, str, dtype))
#: Frequent classes of values, which have no overrides.
_VALUES = frozenset((int, float, bool, complex, str, type(None), slice, type(...)))

#: Overrides that are called: 0 for all, 1 for modes only, 2 for none.
_disabled: Variable[int] = Variable("torch_function_off", 0)
#: The function that a default ``__torch_function__`` is calling.
_calling: Variable[Any] = Variable("torch_function_calling", None)
#: The modes of this context, the innermost last.
modes: Variable[tuple[Any, ...]] = Variable("torch_function_modes", ())


def disabled_torch_function(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """``__torch_function__`` of classes that override nothing, such as Parameter.

    It calls ``func`` with overrides of subclasses disabled. The protocol's ``types`` are not used.
    """
    return _call_without_subclasses(func, args, kwargs or {})


def _call_without_subclasses(func: Any, args: Any, kwargs: Any) -> Any:
    """Call ``func`` with overrides of subclasses disabled.

    Returns:
        The result of ``func``; NotImplemented if this is called inside such a call of ``func``,
        which a function of PyTorch's causes, because it calls the override again.
    """
    if _calling.get() is func:  # PyTorch's own function, which ignores DisableOverrides
        return NotImplemented
    with bind(_calling, func), DisableOverrides(1):
        return func(*args, **kwargs)


class DisableOverrides(VariableScope[int]):
    """Scope in which overrides below ``level`` are disabled; see ``_disabled``."""

    _bound_variable = _disabled

    def __init__(self, level: int) -> None:
        self._level = level

    def _bound_value(self, before: int) -> int:
        return max(self._level, before)


class DisableTorchFunctionSubclass(DisableOverrides):
    """Scope in which ``__torch_function__`` of classes is disabled, but not that of modes.

    Example:
        >>> with tt.DisableTorchFunctionSubclass():
        ...     tt.ones(1)
        tensor([1.])
    """

    def __init__(self) -> None:
        super().__init__(1)


class DisableTorchFunction(DisableOverrides):
    """Scope in which every ``__torch_function__`` is disabled.

    Example:
        >>> with tt.DisableTorchFunction():
        ...     tt.ones(1)
        tensor([1.])
    """

    def __init__(self) -> None:
        super().__init__(2)


def is_enabled(level: int = 0) -> bool:
    """Whether overrides of classes are enabled; with ``level`` 1, overrides of modes."""
    return _disabled.get() <= level


# -- arguments with overrides ------------------------------------------------------------


def overriding_arguments(values: Iterable[Any]) -> list[Any]:
    """Return a value of each class with an override: subclasses first, else from left to right."""
    found: list[Any] = []
    if not _disabled.get():
        for value in values:
            cls = type(value)
            if cls not in _EXCLUDED and cls not in _VALUES and has_override(cls):
                _insert(found, value, cls)
    return found


def has_override(cls: type) -> bool:
    """Whether a class overrides ``__torch_function__``."""
    method = getattr(cls, "__torch_function__", None)
    return method is not None and method is not disabled_torch_function and not _is_pytorchs(method)


def _is_pytorchs(method: Any) -> bool:
    """Whether a method is that of PyTorch's own tensors, which only calls the function again."""
    module: str = getattr(getattr(method, "__func__", method), "__module__", None) or ""
    return module == "torch" or module.startswith("torch.")


def _insert(found: list[Any], value: Any, cls: type) -> None:
    """Insert ``value``, of class ``cls``, before the first value of a superclass of ``cls``.

    It is added at the end if there is none, and not at all if ``found`` has a value of its class.
    """
    if any(type(other) is cls for other in found):
        return
    positions = (i for i, other in enumerate(found) if issubclass(cls, type(other)))
    found.insert(next(positions, len(found)), value)


def find_overriding(args: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
    """Return the arguments of a call with an override, also among the elements of lists.

    The order is that of ``overriding_arguments``.

    Args:
        args: Arguments by position.
        options: Arguments by name.
    """
    if _disabled.get():
        return []
    values: list[Any] = []
    for value in (*args, *options.values()) if options else args:
        cls = type(value)
        if cls is tuple or cls is list:
            values.extend(value)
        elif cls not in _EXCLUDED and cls not in _VALUES:
            values.append(value)
    return overriding_arguments(values) if values else values


def has_mode() -> bool:
    """Whether a mode is active in this context."""
    return bool(modes.get()) and is_enabled(1)


#: Operations that no class overrides: they accept a tensor of any class as data.
NOT_OVERRIDABLE = frozenset(
    ("as_tensor", "asarray", "from_numpy", "is_tensor", "tensor", "Tensor.as_subclass")
)
#: Sentinel: no override handled the call.
NO_OVERRIDE = object()


def call_override(op: Op, function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return the result of the first override that handles a call, or ``NO_OVERRIDE``.

    Args:
        op: The operation.
        function: Its function or method that was called, which the override gets.
        args: Arguments by position.
        options: Arguments by name.
    """
    if op.public:
        values = [] if op.qualname in NOT_OVERRIDABLE else find_overriding(args, options)
        if values or has_mode():
            return dispatch_override(function, values, args, options)
    return NO_OVERRIDE


# -- calls of overrides ------------------------------------------------------------------


def dispatch_override(
    func: Callable[..., Any], values: list[Any], args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Call the overrides of a call in order, and return the first result.

    The innermost mode is called first, then ``__torch_function__`` of each of ``values``. An
    override that returns NotImplemented leaves the call to the next one.

    Args:
        func: The public function that was called.
        values: The arguments with an override, a result of ``find_overriding``.
        args: Arguments of ``func`` by position.
        options: Arguments of ``func`` by name.

    Raises:
        TypeError: If every override returns NotImplemented.
    """
    result = first_result(func, values, args, options)
    if result is not NotImplemented:
        return result
    module, name = getattr(func, "__module__", None), getattr(func, "__qualname__", repr(func))
    text = (
        f"no implementation found for '{f'{module}.{name}' if module else name}' on types that "
        f"implement __torch_function__: {[type(value) for value in values]}"
    )
    raise TypeError(f"{text} nor in mode {modes.get()[-1]}" if has_mode() else text)


def first_result(
    func: Callable[..., Any], values: list[Any], args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Return the result of ``dispatch_override``, or NotImplemented if no override handles it."""
    types = tuple(map(type, values))
    func = getattr(func, "face", func)  # the getter of the property, for an attribute
    active = modes.get()
    if active and is_enabled(1):
        with bind(modes, active[:-1]):  # inside the mode the next outer one is the innermost
            result = active[-1].__torch_function__(func, types, args, options)
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


def default_torch_function(
    base: Any, cls: type, func: Any, types: Iterable[type], args: Any, kwargs: dict[str, Any]
) -> Any:
    """Tensor's own ``__torch_function__``; ``base`` is Tensor.

    Returns:
        The result of ``func`` without overrides of subclasses, its tensors as ``cls``;
        NotImplemented if ``cls`` is not a subclass of all of ``types``.
    """
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    result = _call_without_subclasses(func, args, kwargs)
    with DisableOverrides(1):
        return result if func == base.grad.__get__ else _convert_result(result, base, cls)


def _convert_result(result: Any, base: Any, cls: type) -> Any:
    """Return a result with its tensors as instances of ``cls``, also in tuples and lists.

    ``base`` is Tensor. Tensors that are instances of ``cls`` already are unchanged.
    """
    if cls is base:
        return result
    if isinstance(result, base) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        parts = [_convert_result(part, base, cls) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


# -- registration -----------------------------------------------------------------------------

#: Held while the sets of classes change.
_changing = threading.RLock()
_active = 0  # number of modes, profiles and blocks of autocast, in all threads


def exclude_class(cls: type) -> None:
    """Register a class of tensors that overrides nothing."""
    with _changing:
        _EXCLUDED.add(cls)
        if not _active:
            PLAIN.add(cls)
            NOT_OVERRIDING.update((cls, *VALUES))


def exclude_lazy_class(cls: type) -> None:
    """Register a class that overrides nothing, but whose tensors do not take the fast path."""
    with _changing:
        _EXCLUDED.add(cls)
        LAZY.add(cls)
        PLAIN.discard(cls)
        NOT_OVERRIDING.discard(cls)


def is_excluded(cls: type) -> bool:
    """Whether a class is registered as one that overrides nothing."""
    return cls in _EXCLUDED


def count_watchers(change: int) -> None:
    """Count the modes, profiles and blocks of autocast, which disable the fast path."""
    global _active
    with _changing:
        before, _active = _active > 0, _active + change
        if (_active > 0) is not before:
            if before:
                PLAIN.update(_EXCLUDED - LAZY)
                NOT_OVERRIDING.update(PLAIN | VALUES)
            else:
                PLAIN.clear()
                NOT_OVERRIDING.clear()


T = TypeVar("T", bound=type)

#: Special methods for which overrides get the method named after the operation; a reflected one is
#: the same operation. For the others overrides get the special method itself, as in PyTorch.
_BY_OPERATION = frozenset(
    f"__{name}__"
    for name in (
        "add", "radd", "sub", "mul", "rmul", "truediv", "mod", "matmul", "neg", "pos", "abs", "ne",
        "lt", "le", "gt", "ge", "rand", "ror", "rxor",
    )
)  # fmt: skip
_INPLACE = frozenset(f"__i{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod"))
#: Members that are not overridable: creation of tensors, and protocols of other libraries.
_NOT_OVERRIDABLE = frozenset((
    "__array_function__", "__array_interface__", "__array_namespace__", "__array_ufunc__",
    "__arrow_array__", "__cuda_array_interface__",
    "__class_getitem__", "__dict__", "__dlpack_device__", "__hash__", "__init_subclass__",
    "__iter__", "__new__", "__torch_function__", "__weakref__", "as_subclass",
))  # fmt: skip


def wrap_members(cls: T) -> T:
    """Decorator of a class of tensors that makes its members dispatch to overrides."""
    for name, value in list(vars(cls).items()):
        if isinstance(value, (FunctionType, property)):
            attach(cls, name, value)
    return cls


def attach(cls: type, name: str, value: Any) -> None:
    """Set a method or attribute of a class of tensors so that it dispatches to overrides."""
    if _is_overridable(name, value):
        if isinstance(value, FunctionType):
            value = wrap_method(value)
        elif isinstance(value, property):
            value = _OverridableProperty(value.fget, value.fset, value.fdel)
    setattr(cls, name, value)


def _is_overridable(name: str, value: Any) -> bool:
    """Whether a member of Tensor dispatches to overrides: a public method or property."""
    public = name.startswith("__") or not name.startswith("_")
    return public and name not in _NOT_OVERRIDABLE and hasattr(value, "__get__")


#: Flags of the code of a function with ``*args`` or ``**kwargs``.
_VARIADIC = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


@functools.cache
def wrap_method(function: FunctionType) -> Any:
    """Return a method that dispatches to overrides and calls ``function`` if there are none."""
    method: Any
    code = function.__code__
    accepts_more = code.co_kwonlyargcount or code.co_flags & _VARIADIC
    if code.co_argcount == 1 and not accepts_more:  # a faster wrapper

        def method(self: Any) -> Any:
            try:
                if self.__class__ in PLAIN:
                    return function(self)
                return _call_member(method, function, self)
            except Exception as error:
                shorten(error)
                raise

    else:

        def method(self: Any, *args: Any, **options: Any) -> Any:
            try:
                if self.__class__ in PLAIN:
                    return function(self, *args, **options)
                return _call_member(method, function, self, *args, **options)
            except Exception as error:
                shorten(error, function, options)
                raise

    return functools.update_wrapper(method, function)


class _OverridableProperty(property):
    """Property that dispatches to ``__torch_function__``."""

    def __init__(self, fget: Any, fset: Any = None, fdel: Any = None) -> None:
        def get(self: Any) -> Any:
            try:
                if self.__class__ in PLAIN:
                    return fget(self)
                return _call_member(wrapper.__get__, fget, self)
            except Exception as error:
                shorten(error)
                raise

        def set(self: Any, value: Any) -> None:
            try:
                if self.__class__ in PLAIN:
                    fset(self, value)
                else:
                    _call_member(wrapper.__set__, fset, self, value)
            except Exception as error:
                shorten(error)
                raise

        wrapper = self  # ``self`` of the getter and setter is the tensor
        super().__init__(functools.wraps(fget)(get), None if fset is None else set, fdel)
        self.__doc__ = fget.__doc__


def _call_member(public: Any, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call the overrides of a member of Tensor, or ``function`` if there are none.

    Args:
        public: The method, or the getter or setter of the property, that overrides get.
        function: The function that it wraps.
        *args: The tensor, and the arguments of the method.
        **options: Arguments of the method by name.
    """
    values = find_overriding(args, options)
    if values or has_mode():
        return dispatch_override(public, values, args, options)
    return function(*args, **options)


def names(cls: type) -> Iterator[str]:
    """Yield the names of the members of Tensor, the class ``cls``, that can be overridden."""
    found = {name: value for base in cls.__mro__[-2::-1] for name, value in vars(base).items()}
    for name, value in found.items():
        if _is_overridable(name, value):
            yield name


def member(cls: type, name: str) -> Any:
    """Return the member ``name`` of Tensor, the class ``cls``: a function or a descriptor."""
    found = inspect.getattr_static(cls, name)
    if hasattr(found, "_load"):  # the family of operations that defines it is not loaded yet
        getattr(cls, name)
        found = inspect.getattr_static(cls, name)
    return found


def operator_function(cls: type, name: str) -> Any:
    """Return the function that overrides get for an operator of Tensor.

    Args:
        cls: Tensor.
        name: The special method, such as ``__add__``, or another member.

    Returns:
        The method named after the operation (``add``, or ``add_`` for ``__iadd__``) where PyTorch
        passes that one to overrides, else the member itself.
    """
    found = member(cls, name)
    op = getattr(found, "op", None)
    if op is not None and name in _BY_OPERATION:
        return member(cls, op.name)
    return member(cls, f"{op.name}_") if op is not None and name in _INPLACE else found
