"""Collation of samples to batches: ``default_collate`` and ``default_convert``."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any, TypeAlias

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.registry import find

__all__ = ["collate", "default_collate", "default_collate_fn_map", "default_convert"]

Collate: TypeAlias = Callable[..., Any]

_EXPECTED = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def default_convert(data: Any) -> Any:
    """Convert NumPy arrays and numbers to tensors, also inside dicts, tuples and lists.

    ``DataLoader`` applies it to each sample if ``batch_size`` is None.

    Args:
        data: A sample. Values of other types are returned unchanged.

    Returns:
        The same structure with tensors.

    Example:
        >>> from tinytorch.utils.data import default_convert
        >>> default_convert({"x": tt.ones(2).numpy(), "name": "a"})
        {'x': tensor([1., 1.]), 'name': 'a'}
    """
    if isinstance(data, Tensor):
        return data
    if _is_numpy(data):
        return data if data.dtype.kind in "SUO" else find("", "as_tensor")(data)
    if isinstance(data, Mapping):
        return _rebuild_mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, (str, bytes)) or not isinstance(data, Sequence):
        return data
    converted = [default_convert(item) for item in data]
    return converted if type(data) is tuple else _rebuild_sequence(data, converted)


def default_collate(batch: Any) -> Any:
    """Combine samples to a batch: tensors are stacked along a new first dimension.

    ======================= ======================================================
    samples                 batch
    ======================= ======================================================
    tensors, NumPy arrays   a tensor ``(batch, *)``
    float                   a float64 tensor ``(batch,)``
    int, bool               an int64 or bool tensor ``(batch,)``
    str, bytes              the list, unchanged
    dict                    a dict of batches
    namedtuple              a namedtuple of batches
    tuple, list             a list of batches
    ======================= ======================================================

    Args:
        batch: A list of samples of one type.

    Returns:
        The batch.

    Raises:
        TypeError: For samples of other types.
        RuntimeError: If tensors differ in shape, or sequences in length.

    Example:
        >>> from tinytorch.utils.data import default_collate
        >>> default_collate([{"x": 1.5, "y": (0, "a")}, {"x": 2.5, "y": (1, "b")}])
        {'x': tensor([1.5000, 2.5000], dtype=tinytorch.float64), 'y': [tensor([0, 1]), ('a', 'b')]}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch: Any, *, collate_fn_map: dict[Any, Collate] | None = None) -> Any:
    """Combine samples to a batch, with a function for each type.

    Args:
        batch: A list of samples of one type.
        collate_fn_map: Functions by type or tuple of types, called as
            ``function(batch, collate_fn_map=...)``. Dicts, tuples and lists of other types are
            collated item by item. Default: no functions.

    Returns:
        The batch.

    Raises:
        TypeError: For samples without a function.
        RuntimeError: If sequences differ in length.

    Example:
        >>> from tinytorch.utils.data.collate import collate
        >>> collate([(1, 2), (3, 4)], collate_fn_map={int: lambda batch, **_: sum(batch)})
        [4, 6]
    """
    first = batch[0]
    function = _find_function(first, collate_fn_map or {})
    if function is not None:
        return function(batch, collate_fn_map=collate_fn_map)

    def collate_items(items: Any) -> Any:
        return collate(items, collate_fn_map=collate_fn_map)

    if _is_numpy(first):
        return _collate_arrays(batch)
    if isinstance(first, Mapping):
        columns = {key: collate_items([sample[key] for sample in batch]) for key in first}
        return _rebuild_mapping(first, columns)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(collate_items(column) for column in zip(*batch, strict=True)))
    if not isinstance(first, Sequence):
        raise TypeError(_EXPECTED.format(type(first)))
    if any(len(sample) != len(first) for sample in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    parts = [collate_items(column) for column in zip(*batch, strict=True)]
    return parts if isinstance(first, tuple) else _rebuild_sequence(first, parts)


def _find_function(sample: Any, table: dict[Any, Collate]) -> Collate | None:
    """Function that collates samples of a type; None if the table has none.

    Args:
        sample: A sample.
        table: Functions by type; that of the exact type precedes that of the first base class.
    """
    exact = table.get(type(sample))
    if exact is not None:
        return exact
    return next((function for kind, function in table.items() if isinstance(sample, kind)), None)


def _is_numpy(sample: Any) -> bool:
    """Whether a sample is a NumPy array or number, by class names, since NumPy is not imported."""
    return any(
        kind.__module__ == "numpy" and kind.__name__ in ("ndarray", "generic")
        for kind in type(sample).__mro__
    )


def _collate_arrays(batch: Sequence[Any]) -> Any:
    """Collate NumPy arrays or numbers: stack them as tensors; strings stay a list.

    Raises:
        TypeError: For arrays of strings or objects, and for dates.
    """
    first = batch[0]
    if isinstance(first, (str, bytes)):
        return batch
    if first.dtype.kind in "SUO":  # bytes, strings, objects
        raise TypeError(_EXPECTED.format(first.dtype))
    if first.dtype.kind == "M" and not first.shape:  # a single datetime64
        raise TypeError(_EXPECTED.format(type(first)))
    as_tensor = find("", "as_tensor")
    return find("", "stack")([as_tensor(sample) for sample in batch])


def _collate_tensors(batch: Sequence[Tensor], *, collate_fn_map: Any = None) -> Any:
    """Stack tensors; raise a ``TypeError`` for a sample of another type."""
    for index, sample in enumerate(batch):
        if not isinstance(sample, Tensor):
            raise TypeError(
                f"expected Tensor as element {index} in argument 0, but got {type(sample).__name__}"
            )
    return find("", "stack")(batch, 0)


def _collate_floats(batch: Sequence[float], *, collate_fn_map: Any = None) -> Any:
    return find("", "tensor")(batch, dtype=dtypes.float64)


def _collate_ints(batch: Sequence[int], *, collate_fn_map: Any = None) -> Any:
    return find("", "tensor")(batch)


def _collate_text(batch: Any, *, collate_fn_map: Any = None) -> Any:
    return batch


#: Functions of ``default_collate`` by type, to which programs can add their own.
default_collate_fn_map: dict[Any, Collate] = {
    Tensor: _collate_tensors,
    float: _collate_floats,
    int: _collate_ints,
    str: _collate_text,
    bytes: _collate_text,
}


def _rebuild_mapping(model: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    """``items`` in a mapping of the type of ``model``, or a dict if that cannot be constructed."""
    if type(model) is dict:
        return items
    try:
        if isinstance(model, MutableMapping):
            # A copy has the other attributes of the type, such as defaultdict's factory.
            clone = copy.copy(model)
            clone.update(items)
            return clone
        return type(model)(items)  # type: ignore[call-arg]
    except TypeError:
        return items


def _rebuild_sequence(model: Sequence[Any], items: list[Any]) -> Any:
    """``items`` in a sequence of the type of ``model``, or a list if that cannot be constructed."""
    if isinstance(model, tuple) and hasattr(model, "_fields"):
        return type(model)(*items)
    try:
        if isinstance(model, MutableSequence) and type(model) is not list:
            clone = copy.copy(model)
            for i, item in enumerate(items):
                clone[i] = item
            return clone
        return type(model)(items)  # type: ignore[call-arg]
    except TypeError:
        # The constructor has other arguments, for example that of range.
        return items
