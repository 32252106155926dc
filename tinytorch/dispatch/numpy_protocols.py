"""NumPy's functions called on tensors, and the namespace that tensors name as theirs.

``np.sum(tensor)`` goes through ``tinytorch.numpy`` and stays differentiable. What is not there
computes on the tensors' values: functions give what NumPy's give, and warn once where that loses a
gradient; elementwise functions give tensors, and refuse a tensor that requires grad.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

from ..core import dlpack, torch_function_members
from ..core.tensor import Tensor
from ..graph.late_bound import ABOVE
from .operators import UFUNCS

#: Functions that write to their first argument.
_WRITERS = frozenset(("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"))
_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
#: What ``ufunc.reduce`` and ``ufunc.accumulate`` are called as functions.
_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
    "logical_or": "any",
}  # fmt: skip
_RUNNING = {"add": "cumsum", "multiply": "cumprod"}
#: What a number of NumPy's calls as the left operand of Python's operator, as in ``pi * tensor``.
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    ufunc: getattr(operator, f"__{name}__") for name, ufunc in UFUNCS.items() if name != "div"
}


def array_namespace(self: Tensor, *, api_version: str | None = None) -> Any:
    """The namespace of the array API standard for this tensor: NumPy's functions, on Tensors.

    Args:
        api_version: The version of the standard; default the newest.

    Raises:
        ValueError: For a version that is not there.

    Example:
        >>> import tinytorch as tt
        >>> tt.ones(2).__array_namespace__().__name__
        'tinytorch.numpy.functions'
    """
    if api_version is not None and api_version not in _VERSIONS:
        raise ValueError(
            f"array API version {api_version!r} is not supported; known are {', '.join(_VERSIONS)}"
        )
    return ABOVE.graph_namespace()


def array_function(
    self: Tensor, func: Callable[..., Any], types: Any, args: Any, kwargs: Any
) -> Any:
    """What NumPy's function ``func`` gives for tensors."""
    home = (func.__module__ or "numpy").partition("numpy")[2].strip(".")
    own = _own(home, func.__name__)
    target = args[0] if func.__name__ in _WRITERS and args else kwargs.get("out")
    foreign = target is not None and not isinstance(target, Tensor)
    if own is None or foreign or _lacks_an_array(func, args):
        return func(*map(_host, args), **{name: _host(v) for name, v in kwargs.items()})
    return own(*args, **kwargs)


def array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """What NumPy's elementwise function, or a method of it, gives for tensors."""
    out = kwargs.get("out")
    ours = out is None or all(isinstance(target, Tensor) for target in out)
    if method == "__call__" and not kwargs and _is_number(inputs[0]):
        if ufunc.__name__ in _OPERATORS:
            return _OPERATORS[ufunc.__name__](inputs[0].item(), inputs[1])
    own = _ufunc_method(ufunc.__name__, method) if ours else None
    if own is None:
        host = _refusing if ours else _host
        named = {name: host(v) for name, v in kwargs.items()}
        found = getattr(ufunc, method)(*map(host, inputs), **named)
        return _wrapped(found) if ours else found
    if method == "__call__":
        # NumPy's numbers count as Python's.
        inputs = tuple(_plain(v) for v in inputs)
    elif method != "outer":
        kwargs.setdefault("axis", 0)
    return own(*inputs, **kwargs)


def _ufunc_method(name: str, method: str) -> Callable[..., Any] | None:
    if method == "__call__":
        return _own("", name)
    if method == "reduce" and name in _REDUCTIONS:
        return _own("", _REDUCTIONS[name])
    if method == "accumulate" and name in _RUNNING:
        return _own("", _RUNNING[name])
    function = _own("", name) if method == "outer" else None
    return None if function is None else lambda a, b: _outer(function, a, b)


def _outer(function: Callable[..., Any], a: Any, b: Any) -> Any:
    asarray: Any = _own("", "asarray")
    x, y = asarray(a), asarray(b)
    return function(x.reshape(tuple(x.shape) + (1,) * y.ndim), y)


def _own(home: str, name: str) -> Callable[..., Any] | None:
    """The function that stands for one of NumPy's, if there is one."""
    namespace: Any = ABOVE.graph_namespace()
    if not home:
        found: Callable[..., Any] | None = namespace.function_of(name)
        return found
    return getattr(getattr(namespace, home, None), name, None)


def _lacks_an_array(func: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Whether None stands where NumPy wants an array, and makes one of objects."""
    return any(map(_has_none, args)) and any(map(_has_none, _arrays(func, args)))


def _has_none(value: Any) -> bool:
    parts = value if isinstance(value, (list, tuple)) else (value,)
    return any(part is None for part in parts)


def _arrays(func: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Those arguments by position that NumPy's function always needs: no axis, no option."""
    try:
        parameters = inspect.signature(func).parameters.values()
    except ValueError:  # NumPy 2.0 gives those that are written in C none
        return args[:1]
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return args
    needed = [each for each in parameters if each.default is each.empty]
    return args[: sum(each.kind is not each.VAR_KEYWORD for each in needed)]


def _host(value: Any) -> Any:
    """Tensors as arrays of NumPy's, also in sequences."""
    if isinstance(value, Tensor):
        return value.__array__()
    if isinstance(value, (list, tuple)):
        return type(value)(map(_host, value))
    return value


def _refusing(value: Any) -> Any:
    """The same, but RuntimeError for a tensor that requires grad."""
    return value.numpy() if isinstance(value, Tensor) else value


def _is_number(value: Any) -> bool:
    """Whether it is one of NumPy's numbers, which unlike arrays cannot be changed."""
    return hasattr(value, "dtype") and not hasattr(value, "__setitem__")


def _plain(value: Any) -> Any:
    return value.item() if _is_number(value) else value


def _wrapped(value: Any) -> Any:
    """Arrays of NumPy's as tensors."""
    if isinstance(value, tuple):
        return tuple(map(_wrapped, value))
    if not hasattr(value, "dtype") or not hasattr(value, "__array_interface__"):
        return value
    asarray: Any = _own("", "asarray")
    return asarray(value)


def attach() -> None:
    """Give tensors the protocols."""
    protocols: dict[str, Any] = {
        "__array_namespace__": array_namespace, "__array_function__": array_function,
        "__array_ufunc__": array_ufunc, "__dlpack__": dlpack.dlpack,
        "__dlpack_device__": dlpack.dlpack_device,
        "__cuda_array_interface__": property(dlpack.cuda_array_interface),
        "__array_interface__": property(dlpack.array_interface),
        "ctypes": property(dlpack.ctypes_of), "__arrow_array__": dlpack.arrow_array,
        "_sympy_": dlpack.sympy_value,
    }  # fmt: skip
    for name, function in protocols.items():
        torch_function_members.attach(Tensor, name, function)
