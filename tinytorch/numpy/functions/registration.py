"""Decorators that register NumPy's functions, under their names, docstrings and errors."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from ...dispatch.arguments import add_flag_conversion
from ...dispatch.call import as_numpy_error
from ...dispatch.op import composite
from ...state.tracebacks import short
from .conversion import as_dtype, float64_default, promote_strong

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F")
#: Converts the positional arguments of a call, or does nothing.
Prepare = Callable[..., tuple[Any, ...]] | None


class Decorator(Protocol):
    """Type of ``numpy_function``: a decorator that registers a function and returns it."""

    def __call__(self, function: F, /) -> F: ...


def _numpy_decorator(*forms: str) -> Decorator:
    """Return a decorator that registers a function under ``tinytorch.numpy``.

    Args:
        *forms: Signatures of the overloads in the function's stub; default the function's own.
    """
    decorator: Any = composite(namespaces=("numpy",), forms=forms)
    return decorator  # type: ignore[no-any-return]


#: Registers a function under ``tinytorch.numpy``.
numpy_function: Decorator = _numpy_decorator()
#: For ``atleast_1d`` and the like: one result for each argument, and no tuple around a single one.
numpy_function_per_array: Decorator = _numpy_decorator(
    "(ary: Any, /) -> Tensor", "(*arys: Any) -> tuple[Tensor, ...]"
)
#: For ``linspace``, which returns also the step if ``retstep`` is true.
numpy_function_with_step: Decorator = _numpy_decorator(
    "(..., retstep: Literal[False] = False) -> Tensor",
    "(..., retstep: Literal[True]) -> tuple[Tensor, Tensor]",
)
#: For ``where``, which returns the indices of true elements if there is nothing to choose from.
numpy_function_where: Decorator = _numpy_decorator(
    "(condition: Any, x: Any, y: Any, /) -> Tensor",
    "(condition: Any, /) -> tuple[Tensor, ...]",
)
#: For ``unique``, which returns also indices and counts if its options ask for them.
numpy_function_with_indices: Decorator = _numpy_decorator(
    "(..., return_index: Literal[False] = False, return_inverse: Literal[False] = False, "
    "return_counts: Literal[False] = False) -> Tensor",
    "(..., return_index: Literal[True]) -> tuple[Tensor, ...]",
    "(..., return_inverse: Literal[True]) -> tuple[Tensor, ...]",
    "(..., return_counts: Literal[True]) -> tuple[Tensor, ...]",
)
#: For ``polyfit``, which returns also measures of the fit if its options ask for them.
numpy_function_with_fit: Decorator = _numpy_decorator(
    "(..., full: Literal[False] = False, cov: Literal[False] = False) -> Tensor",
    "(..., full: Literal[True]) -> tuple[Tensor, Tensor, int, Tensor, float]",
    "(..., cov: Literal[True, 'unscaled']) -> tuple[Tensor, Tensor]",
)


def describe(function: F, name: str, doc: str, *example: str) -> F:
    """Set the name and the docstring of a function that a loop or a factory has made.

    Args:
        function: The function, which is returned.
        name: NumPy's name of it.
        doc: Its docstring.
        *example: The lines of an example, for a docstring that has none.
    """
    described: Any = function
    described.__name__ = described.__qualname__ = name
    described.__doc__ = add_example(doc, *example) if example else doc
    return function


def add_example(doc: str, *example: str) -> str:
    """Add an example at the end of a docstring."""
    lines = ("    Example:", *(f"        {line}" for line in example), "    ")
    return "\n".join((doc.rstrip(), "", *lines))


def register_as(function: F, name: str, doc: str, *example: str) -> F:
    """Describe a function, see ``describe``, and register it under ``tinytorch.numpy``."""
    public: Any = numpy_function(describe(function, name, doc, *example))
    return public  # type: ignore[no-any-return]


def raise_numpy_errors(function: Callable[P, R]) -> Callable[P, R]:
    """Wrap a function that is not an operation, so that its errors have NumPy's types."""

    @short
    @functools.wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        try:
            return function(*args, **options)
        except (RuntimeError, IndexError) as error:
            raise as_numpy_error(error) from None

    return call


#: Functions that ``tinytorch`` and ``tinytorch.numpy`` share, by name.
SHARED: dict[str, Callable[..., Any]] = {}
#: By shared function: its argument ``prepare`` of ``register_shared``.
_PREPARE: dict[Callable[..., Any], Prepare] = {}


@overload
def register_shared(function: F, /) -> F: ...
@overload
def register_shared(*, prepare: Prepare = None, **options: Any) -> Decorator: ...
def register_shared(function: Any = None, /, *, prepare: Prepare = None, **options: Any) -> Any:
    """Register a function of NumPy under both ``tinytorch`` and ``tinytorch.numpy``.

    PyTorch has no such function. It reads its arguments by ``array_of`` and ``float_array``:
    Python floats have the default dtype, which ``as_numpy_function`` sets to float64 for
    ``tinytorch.numpy``.

    Args:
        function: Function on Tensors.
        prepare: Converts the positional arguments of a call under ``tinytorch.numpy``, such as
            ``promote_first(2)``.
        **options: Options of ``composite``.
    """
    if function is None:
        return functools.partial(register_shared, prepare=prepare, **options)
    public: Any = composite(function, **options)
    _PREPARE[public] = prepare
    if "namespaces" not in options:
        SHARED[public.__name__] = public
    return public


def register_shared_as(function: F, name: str, doc: str, *example: str) -> F:
    """Describe a function, see ``describe``, and register it by ``register_shared``."""
    public: F = register_shared(describe(function, name, doc, *example))
    return public


def promote_first(count: int) -> Prepare:
    """Return an argument ``prepare`` of ``register_shared`` that promotes operands.

    It applies ``promote_strong`` to the first ``count`` positional arguments of a call.
    """

    def prepare(*args: Any) -> tuple[Any, ...]:
        return (*promote_strong(*args[:count]), *args[count:]) if count <= len(args) else args

    return prepare


def as_numpy_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the version for ``tinytorch.numpy`` of a function of ``register_shared``.

    In it Python floats are float64, dtypes may be NumPy's, ``prepare`` of ``register_shared``
    promotes the operands, and errors have NumPy's types.
    """
    public: Any = function
    prepare = _PREPARE.get(function)
    run = add_flag_conversion(public.op, function)
    signature = inspect.signature(function)
    names = list(signature.parameters)
    at = names.index("dtype") if "dtype" in names else None

    @raise_numpy_errors
    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if "dtype" in options:
            options["dtype"] = _read_dtype(options["dtype"])
        elif at is not None and at < len(args):
            args = (*args[:at], _read_dtype(args[at]), *args[at + 1 :])
        with float64_default():
            return run(*(args if prepare is None else prepare(*args)), **options)

    if signature.return_annotation == "Any":
        signature = signature.replace(return_annotation="Tensor | tuple[Tensor, ...]")
    call.__module__ = public.__module__.replace("tinytorch", "tinytorch.numpy", 1)
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _read_dtype(value: Any) -> Any:
    """Convert an argument ``dtype`` by ``as_dtype``; return None and a tuple as they are.

    A tuple such as ``(int, 2)`` is a dtype with a shape.
    """
    return value if value is None or isinstance(value, tuple) else as_dtype(value)
