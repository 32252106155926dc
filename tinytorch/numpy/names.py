"""What ``tinytorch.numpy`` has under a name: NumPy's functions, ready for arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..state.tracebacks import short
from . import functions, wrapping
from .functions.conversion import host
from .hosted import detached, hosted, kind_of, outlined
from .scalars import scalar_type
from .ufunc import ufunc
from .wrapping import host_function, kept, scalars_of

#: Functions whose result is an array, whatever they are given.
_MAKE_ARRAYS = ("array", "asanyarray", "asarray", "ascontiguousarray", "from_dlpack")
#: Functions that write to their first argument.
_WRITE = ("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask")


def writing(function: Callable[..., None], host: Callable[..., None]) -> Callable[..., None]:
    """A function that writes to its first argument, by NumPy's own where that can be."""

    @short
    @functools.wraps(function)
    def public(*args: Any, **options: Any) -> None:
        if args and getattr(args[0], "_scalar", False):
            raise TypeError(f"{function.__name__}() argument 1 must be an array, got a scalar")
        if not wrapping.overwrite(host, args, options):
            function(*args, **options)

    return public


#: What is NumPy's own function, asked with less than the elements of arrays.
_OF_HOST = {
    "can_cast": kind_of, "common_type": outlined, "einsum_path": outlined, "isdtype": kind_of,
    "isscalar": detached, "issubdtype": kind_of, "min_scalar_type": detached,
    "promote_types": kind_of, "result_type": kind_of,
}  # fmt: skip
#: What NumPy alone has, and what to use.
ALONE = {
    name: use
    for names, use in (
        ("matrix asmatrix bmat", "matrices: use arrays of two dimensions"),
        ("memmap", "arrays in files: read them with np.load or np.fromfile"),
        ("fromregex rec recarray record", "structures: use an array for each field"),
        ("nditer nested_iters", "loops over its memory: use np.ndenumerate or np.broadcast"),
        (
            "busday_count busday_offset busdaycalendar datetime64 datetime_as_string "
            "datetime_data is_busday isnat timedelta64",
            "dates: use numbers of days or seconds",
        ),
        ("char strings", "arrays of texts: keep texts in lists"),
        ("ma", "masked arrays: use NaN and np.nanmean and the like, or where="),
        ("ctypeslib", "pointers of C: use array.ctypes"),
        ("core f2py test", "what it is built and tested with: import numpy"),
    )
    for name in names.split()
}


@functools.cache
def public(name: str) -> Any:
    """NumPy's function of this name, for arrays and Tensors; None if there is none."""
    if name in _OF_HOST:
        return hosted(getattr(host(), name), _OF_HOST[name])
    function = functions.function_of(name)
    if function is None:
        return None
    known: Any = getattr(host(), name, None)
    if hasattr(known, "nin"):  # one under several names is one object
        same = known.__name__ if functions.function_of(known.__name__) else name
        return ufunc(name, function) if same == name else public(same)
    made = kept(function, name in _MAKE_ARRAYS, host_function(name), scalars_of(name))
    if name in _WRITE:
        made = writing(made, getattr(host(), name))
    made.__module__ = "tinytorch.numpy"
    return made


@functools.cache
def of_host(name: str) -> Any:
    """What NumPy has under a name that needs no function of ours; None if it has nothing.

    Raises:
        AttributeError: For what is NumPy's alone.
    """
    if name in ALONE:
        text = f"np.{name}: NumPy alone has {ALONE[name]}"
        raise AttributeError(text, name=name, obj=None)
    value = getattr(host(), name, None)
    if isinstance(value, type):
        return scalar_type(value) if issubclass(value, host().generic) else value
    return hosted(value) if callable(value) else value
