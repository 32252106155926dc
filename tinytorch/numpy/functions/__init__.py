"""NumPy's functions, on Tensors.

A function here accepts Tensors and array-likes and returns Tensors. It means what it means in
NumPy: ``max(x, axis)`` returns values alone, ``std`` has ``ddof=0``, ``nonzero`` returns a tuple,
Python floats are float64, and operands are promoted by NumPy's rules. ``tinytorch.numpy`` wraps the
same functions for arrays (``numpy.wrapping``). Gradient rules run in this namespace when a backward
pass is recorded.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import NAMESPACES
from ...dispatch.promotion import to_tensor
from ...dispatch.registry import find
from ...dtypes import NAMES
from ...facade import constants
from ...facade.resolve import HOMES, missing
from ...ops.shape.strides import broadcast_shapes
from ...state import current_backend
from . import (  # noqa: F401  # importing registers their functions
    applied_functions,
    creation,
    editing,
    elementwise,
    files,
    index_grids,
    inspection,
    joins,
    ordering,
    products,
    quantiles,
    reductions,
    shapes,
    signals,
    statistics,
    ufuncs,
)
from . import fft as fft
from . import linalg as linalg
from . import polynomials as polynomials
from .inspection import VERSIONS, NamespaceInfo
from .registration import SHARED, as_numpy_function

__array_api_version__: str = VERSIONS[-1]
SHARED["broadcast_shapes"] = broadcast_shapes  # PyTorch's, and the same in NumPy


def __array_namespace_info__() -> NamespaceInfo:
    """Inspection of this namespace by the array API standard."""
    return NamespaceInfo()


def call(operation: Any, *args: Any, **kwargs: Any) -> Any:
    """Call another operation; ``Backend.call`` does so on raw arrays.

    Example:
        >>> from tinytorch.numpy import functions
        >>> functions.call(functions.add, 1, 2)
        tensor(3)
    """
    return operation(*args, **kwargs)


# -- attributes of a Backend that kernels and rules use, for rules that run on Tensors -------------

#: See ``Backend.records``.
records: bool = True
#: See ``Backend.block_elements``: Tensors are not processed in blocks.
block_elements: int | None = None


def blockwise(function: Callable[..., Any], *arrays: Any, unit: int = 1) -> Any:
    """Return ``function(*arrays)``; see ``Backend.blockwise``.

    Example:
        >>> from tinytorch.numpy import functions
        >>> functions.blockwise(lambda x: 2 * x, 3)
        6
    """
    return function(*arrays)


def in_parts(work: Callable[[int, int], Any], count: int, several: bool = False) -> list[Any]:
    """Return the results of ``work``, called once; see ``Backend.in_parts``.

    Example:
        >>> from tinytorch.numpy import functions
        >>> functions.in_parts(lambda start, stop: stop - start, 4)
        [4]
    """
    return [work(0, count)]


def check_all(condition: Tensor, message: str) -> None:
    """Raise unless all of ``condition`` holds; see ``Backend.check_all``.

    Example:
        >>> from tinytorch.numpy import functions
        >>> functions.check_all(functions.asarray([True]), "not all")
    """
    condition._xp.check_all(condition._data, message)


#: NumPy's dtypes by name.
DTYPES: frozenset[str] = frozenset(
    """bool bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64
    complex64 complex128 single double half int_ intp short long cdouble""".split()
)


def _accept_numbers(function: Any) -> Any:
    """Wrap an operation of PyTorch so that it accepts numbers for tensors, as NumPy's functions do.

    The numbers become tensors on the backend of the first tensor among the arguments, or on the
    active backend.
    """
    op = function.op

    def convert_and_call(*args: Any, **options: Any) -> Any:
        tensors = [a for a in args if isinstance(a, Tensor)]
        xp = tensors[0]._xp if tensors else current_backend()
        return function(*(_as_tensor(op, i, a, xp) for i, a in enumerate(args)), **options)

    return functools.update_wrapper(convert_and_call, function)


def _as_tensor(op: Any, position: int, value: Any, xp: Any) -> Any:
    """Convert a number to a tensor on ``xp`` if ``op`` has a tensor at this position.

    Return another value as it is.
    """
    if isinstance(value, (int, float, complex)) and position in op.plan.tensors:
        return to_tensor(op, position, value, xp)
    return value


def function_of(name: str) -> Callable[..., Any] | None:
    """NumPy's function of this name; None if there is none."""
    function: Callable[..., Any] | None = NAMESPACES["numpy"].get(name)
    if function is None and name in SHARED:
        return as_numpy_function(SHARED[name])
    return function


def _attribute(name: str) -> Any:
    """``__getattr__`` of this module.

    Return the first of these that exists: NumPy's function, a dtype, PyTorch's operation or a
    constant of this name, else the attribute of the active backend's library. Results other than
    the last one are stored in the module, so that the next access does not look them up.
    """
    function = function_of(name)
    if function is None and not name.startswith("_"):
        if name in DTYPES and current_backend().supports(NAMES[name]):
            return NAMES[name]
        function = find("", name)  # Gradient rules call operations of PyTorch, too.
        if function is not None and function.op.strict:
            function = _accept_numbers(function)
    if function is None and name in vars(constants):  # The constant `newaxis` is None.
        function = vars(constants)[name]
    elif function is None:
        return _forward(name, __dir__)
    globals()[name] = function
    return function


#: A variable of type Any, so that type checkers accept every name; users have the stubs.
__getattr__: Any = _attribute


def _forward(name: str, list_names: Callable[[], list[str]]) -> Any:
    """Return the attribute of this name of the active backend's library.

    Args:
        name: A name that NumPy does not have.
        list_names: Function that lists the names of the module, for suggestions.

    Raises:
        AttributeError: If the library has no such attribute. The message suggests similar names.
    """
    from ...facade.library_fallback import forward

    backend = current_backend()
    found = None if name.startswith("_") else forward(backend, name)
    if found is None:
        note = f" (active backend: {backend.name})"
        known = () if name.startswith("_") else list_names()
        raise AttributeError(missing("tinytorch.numpy", name, known, note), name=name, obj=None)
    return found


def __dir__() -> list[str]:
    kinds = (name for name in DTYPES if current_backend().supports(NAMES[name]))
    return sorted({*NAMESPACES["numpy"], *SHARED, *kinds, *HOMES[constants.__name__]})
