"""``__torch_function__``: classes and modes that override tinytorch's functions.

A class with this method, a subclass of Tensor or any other, overrides every public function that
is called with one of its instances; a mode overrides every call in its scope.

Reference: https://docs.pytorch.org/docs/stable/torch.overrides.html
"""

from __future__ import annotations

import functools
import importlib
import types
import warnings
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, Self, TypeVar

from .core import torch_function
from .core.tensor import Tensor
from .core.torch_function import member as tensors_member
from .core.torch_function import names as member_names
from .dispatch.op import OPS
from .dispatch.registry import find, names
from .state import Stacked

__all__ = [
    "BaseTorchFunctionMode", "TorchFunctionMode", "get_ignored_functions",
    "get_overridable_functions", "get_testing_overrides", "handle_torch_function",
    "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic",
    "is_tensor_like", "is_tensor_method_or_property", "resolve_name", "wrap_torch_function",
]  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")

#: The namespaces whose functions can be overridden, as PyTorch lists them.
_NAMESPACES = ("", "nn.functional", "linalg", "fft", "special")


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the arguments, or a mode, overrides ``__torch_function__``.

    Tensor and Parameter themselves do not override it.

    Args:
        relevant_args: The arguments.

    Example:
        >>> class Mine(tt.Tensor):
        ...     pass
        >>> tt.overrides.has_torch_function([Mine([1.0])])
        True
        >>> tt.overrides.has_torch_function([tt.ones(2)])
        False
    """
    return bool(torch_function.overriding_arguments(relevant_args)) or torch_function.has_mode()


def has_torch_function_unary(relevant_arg: Any) -> bool:
    """``has_torch_function`` for one argument.

    Args:
        relevant_arg: The argument.

    Example:
        >>> tt.overrides.has_torch_function_unary(tt.ones(2))
        False
    """
    return has_torch_function((relevant_arg,))


def has_torch_function_variadic(*relevant_args: Any) -> bool:
    """``has_torch_function`` for separate arguments.

    Args:
        *relevant_args: The arguments.

    Example:
        >>> tt.overrides.has_torch_function_variadic(tt.ones(2), tt.ones(2))
        False
    """
    return has_torch_function(relevant_args)


def handle_torch_function(
    public_api: Callable[P, R], relevant_args: Iterable[Any], *args: P.args, **kwargs: P.kwargs
) -> R:
    """Return the result of the first override of a call that does not return NotImplemented.

    Modes come first, then the arguments' classes: subclasses before their base classes, otherwise
    from left to right.

    Args:
        public_api: The function that was called.
        relevant_args: The arguments whose classes may override the function.
        *args: Positional arguments of the call.
        **kwargs: Keyword arguments of the call.

    Raises:
        TypeError: If all overrides return NotImplemented.

    Example:
        >>> class Loud:
        ...     @classmethod
        ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
        ...         return func.__name__.upper()
        >>> def double(x):
        ...     if tt.overrides.has_torch_function([x]):
        ...         return tt.overrides.handle_torch_function(double, [x], x)
        ...     return 2 * x
        >>> double(Loud())
        'DOUBLE'
    """
    result: R = torch_function.dispatch_override(
        public_api, torch_function.overriding_arguments(relevant_args), args, kwargs
    )
    return result


def wrap_torch_function(
    dispatcher: Callable[P, Iterable[Any]],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator that makes a program's function overridable by classes and modes.

    Args:
        dispatcher: Function of the same arguments that returns the relevant ones, whose classes
            may override the call.

    Example:
        >>> @tt.overrides.wrap_torch_function(lambda x: (x,))
        ... def double(x):
        ...     return 2 * x
        >>> double(tt.ones(2))
        tensor([2., 2.])
    """

    def decorate(func: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(func)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            relevant = list(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapper, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapper

    return decorate


class TorchFunctionMode(Stacked):
    """Context manager whose ``__torch_function__`` overrides every function in its scope.

    A subclass defines ``__torch_function__(self, func, types, args=(), kwargs=None)``. The mode is
    disabled while that method runs. It applies to the current thread and task; scopes nest, and
    the innermost mode is called first.

    Example:
        >>> class Count(tt.overrides.TorchFunctionMode):
        ...     calls = 0
        ...     def __torch_function__(self, func, types, args=(), kwargs=None):
        ...         self.calls += 1
        ...         return func(*args, **(kwargs or {}))
        >>> with Count() as count:
        ...     y = tt.ones(2).sin() + 1
        >>> count.calls
        3
    """

    def __init__(self) -> None:
        pass

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Compute the result of a call; subclasses define it.

        Args:
            func: The public function.
            types: The classes of the arguments that override ``__torch_function__``, too.
            args: Positional arguments of the call.
            kwargs: Keyword arguments of the call.

        Raises:
            NotImplementedError: In this class.
        """
        raise NotImplementedError

    _bound_variable = torch_function.modes
    _bound_count: Any = staticmethod(torch_function.count_watchers)

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Self:
        """Create the mode, with a deprecation warning: ``with Mode()`` is the usual way.

        Args:
            *args: Positional arguments of the class.
            **kwargs: Keyword arguments of the class.

        Example:
            >>> import warnings
            >>> from tinytorch.overrides import TorchFunctionMode
            >>> with warnings.catch_warnings(action="ignore"):
            ...     isinstance(TorchFunctionMode.push(), TorchFunctionMode)
            True
        """
        warnings.warn(
            "`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`",
            stacklevel=2,
        )
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """Mode that calls every function unchanged.

    Example:
        >>> with tt.overrides.BaseTorchFunctionMode():
        ...     tt.ones(2)
        tensor([1., 1.])
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Result of ``func``.

        Args:
            func: The public function.
            types: The classes of the arguments that override ``__torch_function__``, too.
            args: Positional arguments of the call.
            kwargs: Keyword arguments of the call.
        """
        return func(*args, **(kwargs or {}))


def is_tensor_like(inp: Any) -> bool:
    """Whether an object is a tensor, or its class defines ``__torch_function__``.

    Args:
        inp: Any object.

    Example:
        >>> tt.overrides.is_tensor_like(tt.ones(2)), tt.overrides.is_tensor_like([1.0])
        (True, False)
    """
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


@functools.cache
def _functions() -> tuple[dict[Any, list[Callable[..., Any]]], dict[Callable[..., Any], str]]:
    """Return the overridable functions by namespace, and PyTorch's name of each function."""
    found: dict[Any, list[Callable[..., Any]]] = {}
    named: dict[Callable[..., Any], str] = {}
    for name in member_names(Tensor):
        member = tensors_member(Tensor, name)
        if isinstance(member, types.FunctionType):
            named.setdefault(member, f"torch.Tensor.{name}")
            found.setdefault(Tensor, []).append(member)
        else:
            named[member.__get__] = f"torch.Tensor.{name}.__get__"
            named[member.__set__] = f"torch.Tensor.{name}.__set__"
            found.setdefault(member, []).append(member.__get__)
    for space in _NAMESPACES:
        module = importlib.import_module(f"tinytorch.{space}".rstrip("."))
        ignored = {f"{space}.{name}".lstrip(".") for name in torch_function.NOT_OVERRIDABLE}
        for name in names(space):
            function = find(space, name)
            named.setdefault(function, f"torch.{space}.{name}".replace("..", "."))
            if not name.endswith("_") and not name.startswith("_") and name not in ignored:
                found.setdefault(module, []).append(function)
    return found, named


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """Functions that classes and modes can override.

    Returns:
        A dictionary from a module, or Tensor, to its functions, and from each attribute of Tensor
        to the list of its getter.

    Example:
        >>> tt.add in tt.overrides.get_overridable_functions()[tt]
        True
    """
    return _functions()[0]


def get_ignored_functions() -> set[Callable[..., Any]]:
    """Operations that cannot be overridden, because they treat any tensor as data.

    Example:
        >>> tt.tensor in tt.overrides.get_ignored_functions()
        True
    """
    return {OPS[name].function for name in torch_function.NOT_OVERRIDABLE if name in OPS}


def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Map each overridable function to a function that accepts the same arguments and returns -1.

    Example:
        >>> tt.overrides.get_testing_overrides()[tt.add](tt.ones(2), 1)
        -1
    """
    return {func: _minus_one for each in _functions()[0].values() for func in each}


def _minus_one(*args: Any, **kwargs: Any) -> int:
    """Return -1 for any arguments."""
    return -1


def resolve_name(f: Callable[..., Any]) -> str | None:
    """PyTorch's name of an overridable function; None for any other function.

    Args:
        f: The function.

    Example:
        >>> tt.overrides.resolve_name(tt.Tensor.add)
        'torch.Tensor.add'
        >>> tt.overrides.resolve_name(tt.Tensor.grad.__get__)
        'torch.Tensor.grad.__get__'
    """
    return _functions()[1].get(f)


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether a function is a method of Tensor or the getter of one of its attributes.

    Args:
        func: The function.

    Example:
        >>> tt.overrides.is_tensor_method_or_property(tt.Tensor.add)
        True
        >>> tt.overrides.is_tensor_method_or_property(tt.add)
        False
    """
    return func in _functions()[0][Tensor] or getattr(func, "__name__", "") == "__get__"
