"""Support of pandas for arrays and tensors as keys, masks, groupers and values.

pandas tests its arguments for ``numpy.ndarray``. Its functions that make these tests get a NumPy
array in the place of ours, and a NumPy scalar in the place of a 0-d one.

Reference: https://pandas.pydata.org/docs/user_guide/indexing.html
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..core.tensor import Holder, Tensor

#: Functions whose arguments are converted, by module of pandas. Most are helpers that several
#: methods call and that return at once, because the public methods of pandas count references to a
#: frame, and search the stack for the line of a warning.
_FUNCTIONS = {
    "pandas._libs.lib": ("item_from_zerodim", "is_list_like"),
    "pandas.core.dtypes.cast": ("np_can_hold_element",),
    "pandas.core.common": ("apply_if_callable", "is_bool_indexer"),
    "pandas.core.construction": ("extract_array", "sanitize_array"),
    "pandas.core.algorithms": ("_ensure_arraylike", "isin"),
    "pandas.core.missing": ("mask_missing",),
    "pandas.core.groupby.grouper": ("get_grouper",),
    "pandas.core.indexing": ("_ScalarAccessIndexer.__getitem__", "_LocationIndexer.__getitem__"),
    "pandas.core.indexes.base": ("Index.get_loc", "Index.__contains__"),
    "pandas.core.indexes.range": ("RangeIndex.get_loc", "RangeIndex.__contains__"),
    "pandas.core.indexes.multi": ("MultiIndex.get_loc", "MultiIndex.__contains__"),
    "pandas.core.indexes.datetimelike": ("DatetimeIndexOpsMixin.__contains__",),
    "pandas.core.arrays.categorical": ("Categorical.__init__",),
    "pandas.core.reshape.merge": ("merge",),
    "pandas.core.tools.timedeltas": ("to_timedelta",),
    "pandas.core.frame": ("DataFrame.set_index", "DataFrame.merge"),
    "pandas.core.generic": ("NDFrame._clip_with_one_bound",),
}
#: Of longer lists only the first element is tested.
_FEW = 64
#: Classes of elements that are never converted.
_COMMON = frozenset((bool, bytes, float, int, list, str, tuple, type(None)))


def register(module: ModuleType) -> None:
    """Convert the arguments of the functions in one of pandas' modules.

    Args:
        module: A module in the table.
    """
    for name in _FUNCTIONS[module.__name__]:
        owner, _, last = name.rpartition(".")
        owner_object = getattr(module, owner, None) if owner else module
        found = getattr(owner_object, last, None)
        if found is None:  # another version of pandas
            continue
        converted = _wrap_function(found)
        setattr(owner_object, last, converted)
        if not owner:
            _replace(last, found, converted)


def _replace(name: str, function: Any, replacement: Any) -> None:
    """Replace a function in the modules of pandas that imported it already."""
    for home, module in list(sys.modules.items()):
        if home.partition(".")[0] == "pandas" and getattr(module, name, None) is function:
            setattr(module, name, replacement)


def _wrap_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``function`` with its arguments converted by ``as_host``."""

    @functools.wraps(function)
    def call_on_host(*args: Any, **options: Any) -> Any:
        if options:
            options = {name: as_host(value) for name, value in options.items()}
        return function(*map(as_host, args), **options)

    return call_on_host


def as_host(value: Any) -> Any:
    """Convert arrays and tensors to NumPy arrays or scalars, also in lists, tuples and slices."""
    kind = value.__class__
    if kind is list or kind is tuple:
        few = value if len(value) <= _FEW else value[:1]
        if _COMMON.issuperset(map(type, few)):
            return value
        elements = [as_host(each) for each in few]
        if all(new is old for new, old in zip(elements, few, strict=True)):
            return value
        return kind(map(as_host, value))
    if kind is slice:
        return slice(as_host(value.start), as_host(value.stop), as_host(value.step))
    if kind in _COMMON or not isinstance(value, (Tensor, Holder)):
        return value
    tensor = value if isinstance(value, Tensor) else value._tensor
    # A 0-d tensor is converted as by ``item()``, also if it requires grad.
    return tensor.numpy() if tensor.ndim else tensor.detach().numpy()[()]
