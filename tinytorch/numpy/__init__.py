"""NumPy's main namespace over Tensors, with NumPy's meanings.

``import tinytorch.numpy as np`` makes a NumPy script run on tensors, on whatever backend is
active and with gradients; gradient rules run here when a backward pass is recorded;
``Tensor.__array_namespace__()`` returns it.

What NumPy and PyTorch give one name is NumPy's here: ``max(x, axis)`` gives values, ``std`` has
``ddof=0``, ``nonzero`` gives a tuple, Python floats are float64, and numbers are promoted as
NumPy does. Methods and operators of tensors stay PyTorch's.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from ..core.printing import get_printoptions as get_printoptions
from ..core.printing import printoptions as printoptions
from ..core.printing import set_printoptions as set_printoptions
from ..core.tensor import Tensor
from ..dispatch.op import NAMESPACES
from ..dispatch.promotion import to_tensor
from ..dtypes import NAMES, float64
from ..dtypes import dtype as dtype
from ..dtypes import finfo as finfo
from ..dtypes import iinfo as iinfo
from ..facade.constants import False_ as False_
from ..facade.constants import True_ as True_
from ..facade.constants import e as e
from ..facade.constants import euler_gamma as euler_gamma
from ..facade.constants import inf as inf
from ..facade.constants import nan as nan
from ..facade.constants import ndarray as ndarray
from ..facade.constants import newaxis as newaxis
from ..facade.constants import pi as pi
from ..facade.resolve import find, missing
from ..ops.index.index_tools import Grid, Joiner
from ..ops.index.index_tools import index_exp as index_exp
from ..ops.index.index_tools import s_ as s_
from ..ops.reduce import applied_functions
from ..state import current_backend
from ._array_api import VERSIONS, NamespaceInfo
from ._dialect import in_float64, same
from ._errstate import errstate as errstate

for _family in (
    "ufuncs", "reductions", "nan_reductions", "quantiles", "shapes", "joins", "creation",
    "diagonals", "ordering", "products", "statistics", "parts", "files",
):  # fmt: skip
    importlib.import_module(f"tinytorch.numpy.{_family}")

from . import fft as fft  # noqa: E402  what they call is filed by now
from . import lib as lib  # noqa: E402
from . import linalg as linalg  # noqa: E402
from . import random as random  # noqa: E402
from ._examples import shown  # noqa: E402

c_: Joiner = Joiner(-1, 2, 0, float64)
r_: Joiner = Joiner(floats=float64)
mgrid: Grid = Grid(False, float64)
ogrid: Grid = Grid(True, float64)


class vectorize(applied_functions.vectorize):
    """A function of numbers as one of tensors; see ``tinytorch.vectorize``.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.vectorize(lambda x, y: x if x > y else y)([1, 5], 3)
        tensor([3, 5])
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor | tuple[Tensor, ...]:
        with in_float64():
            return super().__call__(*args, **kwargs)


__array_api_version__: str = VERSIONS[-1]


def __array_namespace_info__() -> NamespaceInfo:
    """What the array API standard lets a program ask of a namespace."""
    return NamespaceInfo()


def call(operation: Any, *args: Any, **kwargs: Any) -> Any:
    """Run another operation on tensors: what ``Backend.call`` is on raw arrays.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.call(np.add, 1, 2)
        tensor(3)
    """
    return operation(*args, **kwargs)


#: What the top level has of NumPy's alone: here Python floats are float64.
_SAME: frozenset[str] = frozenset(
    """append apply_along_axis argpartition array_equiv asanyarray ascontiguousarray astype average
    bartlett blackman broadcast_arrays broadcast_shapes common_type compress convolve copy
    copyto correlate delete diag_indices diag_indices_from digitize
    ediff1d expand_dims extract fill_diagonal flatnonzero frombuffer fromfunction fromiter
    geomspace hamming hanning histogram_bin_edges identity indices insert interp
    intersect1d iscomplex iscomplexobj isdtype isrealobj isscalar issubdtype ix_ kaiser lexsort
    matrix_transpose min_scalar_type nanargmax nanargmin nanmax nanmin
    nanstd nanvar ndim pad partition permute_dims piecewise place ptp put_along_axis
    putmask ravel_multi_index repeat resize rollaxis savez savez_compressed setxor1d
    shape size take_along_axis tri tril_indices_from trim_zeros triu_indices_from union1d
    unique_all unique_counts unique_inverse unique_values unstack unwrap""".split()
)
#: Of them those whose first two arguments end up in one tensor.
_JOINED = frozenset("append convolve correlate intersect1d setxor1d union1d".split())
#: NumPy's dtypes by name.
_DTYPES: frozenset[str] = frozenset(
    """bool bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64
    complex64 complex128 single double half int_ intp short long cdouble""".split()
)


def _with_numbers(function: Any) -> Any:
    """A function that takes numbers for tensors, as NumPy's do."""
    op = function.op

    def lenient(*args: Any, **options: Any) -> Any:
        tensors = [a for a in args if isinstance(a, Tensor)]
        xp = tensors[0]._xp if tensors else current_backend()
        return function(*(_as_tensor(op, i, a, xp) for i, a in enumerate(args)), **options)

    return functools.update_wrapper(lenient, function)


def _as_tensor(op: Any, position: int, value: Any, xp: Any) -> Any:
    if isinstance(value, (int, float, complex)) and position in op.plan.tensors:
        return to_tensor(op, position, value, xp)
    return value


def _function(name: str) -> Callable[..., Any] | None:
    """NumPy's function of this name; None if there is none."""
    function: Callable[..., Any] | None = NAMESPACES["numpy"].get(name)
    if function is None and name in _SAME:
        return same(name, 2 if name in _JOINED else 0)
    return function and shown(function, name)


def __getattr__(name: str) -> Any:
    function = _function(name)
    if function is None and not name.startswith("_"):
        if name in _DTYPES and current_backend().supports(NAMES[name]):
            return NAMES[name]
        function = find("", name)  # what gradient rules call that is not NumPy's
        if function is not None and function.op.strict:
            function = _with_numbers(function)
    if function is None:
        return _forwarded(name)
    globals()[name] = function
    return function


def _forwarded(name: str) -> Any:
    from ..facade.library_fallback import forward

    backend = current_backend()
    found = None if name.startswith("_") else forward(backend, name)
    if found is None:
        note = f" (active backend: {backend.name})"
        known = () if name.startswith("_") else __dir__()
        raise AttributeError(missing("tinytorch.numpy", name, known, note), name=name, obj=None)
    return found


#: What is defined above and public.
_OWN = (
    "False_", "True_", "c_", "call", "dtype", "e", "errstate", "euler_gamma", "fft", "finfo",
    "get_printoptions", "iinfo", "index_exp", "inf", "lib", "linalg", "mgrid", "nan", "ndarray",
    "newaxis", "ogrid", "pi", "printoptions", "r_", "random", "s_", "set_printoptions", "vectorize",
)  # fmt: skip


def __dir__() -> list[str]:
    backend = current_backend()
    kinds = {name for name in _DTYPES if backend.supports(NAMES[name])}
    return sorted({*NAMESPACES["numpy"], *_SAME, *kinds, *_OWN})
