"""NumPy's array with its methods, namespaces of functions on arrays, and ``r_``, ``mgrid``, ..."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol, overload

from ..core.tensor import Tensor
from ..dtypes import float64
from ..facade.packages import Namespace, names_of
from . import methods
from .functions import applied_functions
from .functions.conversion import float64_default, host
from .functions.index_grids import Grid, Joiner
from .ndarray import array_of_tensor as array_of_tensor
from .ndarray import ndarray as ndarray
from .ndarray import wrap_result as wrap_result
from .wrapping import host_function, scalar_rule, unwrap, wrap_callback, wrap_function, wrap_results

methods.attach_methods()
methods.attach_operators()


def namespace(
    source: ModuleType, home: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__`` and ``__dir__`` of a module that wraps functions for arrays.

    Args:
        source: A module of functions on Tensors, listed in its ``__all__``.
        home: Name of the module for arrays, such as ``"tinytorch.numpy.fft"``, which is already
            being imported.

    Returns:
        ``__getattr__``, which wraps a function on first access, and ``__dir__``.
    """
    module = sys.modules[home]
    module.__class__ = Namespace

    def get_attribute(name: str) -> Any:
        if name == "__all__":  # read by ``from tinytorch.numpy.fft import *``
            return source.__all__
        if name not in source.__all__:
            raise AttributeError(f"module {home!r} has no attribute {name!r}", name=name, obj=None)
        value = getattr(source, name)
        if isinstance(value, type):
            return names_of(module).setdefault(name, value)
        numpy_function = host_function(name, getattr(host(), home.rpartition(".")[2], None))
        wrapped = wrap_function(value, host=numpy_function, scalars=scalar_rule(name))
        wrapped.__module__ = home
        return names_of(module).setdefault(name, wrapped)

    return get_attribute, lambda: sorted(source.__all__)


class Indexed:
    """Object such as ``r_`` that makes arrays by being indexed.

    Args:
        source: Object that makes Tensors by being indexed.
    """

    def __init__(self, source: Grid | Joiner) -> None:
        self._source = source

    def __getitem__(self, key: Any) -> Any:
        tensors: list[Tensor] = []
        found = self._source[unwrap(key, tensors)]
        return found if tensors else wrap_results(found)


class Joining(Protocol):
    """Type of ``c_`` and ``r_``: indexing joins the items between the brackets to one array."""

    @overload
    def __getitem__(self, key: Tensor | tuple[Tensor, ...], /) -> Tensor: ...
    @overload
    def __getitem__(self, key: Any, /) -> ndarray: ...


class Dense(Protocol):
    """Type of ``mgrid``: indexing makes one array of slices."""

    def __getitem__(self, key: slice | tuple[slice, ...], /) -> ndarray: ...


class Open(Protocol):
    """Type of ``ogrid``: indexing makes an array of each slice."""

    @overload
    def __getitem__(self, key: slice, /) -> ndarray: ...
    @overload
    def __getitem__(self, key: tuple[slice, ...], /) -> tuple[ndarray, ...]: ...


c_: Joining = Indexed(Joiner(-1, 2, 0, float64))
r_: Joining = Indexed(Joiner(float_dtype=float64))
mgrid: Dense = Indexed(Grid(False, float64))
ogrid: Open = Indexed(Grid(True, float64))


class vectorize(applied_functions.vectorize):
    """Turn a function of numbers into one of arrays; see ``tinytorch.vectorize``.

    Example:
        >>> np.vectorize(lambda x, y: x if x > y else y)([1, 5], 3)
        array([3, 5])
    """

    def __init__(self, pyfunc: Any, *args: Any, **options: Any) -> None:
        super().__init__(wrap_callback(pyfunc, []), *args, **options)

    def __call__(  # type: ignore[override]  # arrays, not Tensors
        self, *args: Any, **kwargs: Any
    ) -> ndarray | tuple[ndarray, ...]:
        with float64_default():
            return wrap_function(super().__call__)(*args, **kwargs)  # type: ignore[no-any-return]
