"""Indexing of NumPy's array: ``array[key]`` and ``array[key] = value``."""

from __future__ import annotations

import operator
import warnings
from typing import Any

from .. import dtypes
from ..core.tensor import Holder, Tensor
from ..dispatch.call import as_numpy_error
from . import functions, wrapping
from .functions.conversion import host
from .functions.registration import raise_numpy_errors
from .ndarray import array_of_tensor, as_class_of, ndarray, wrap_result
from .wrapping import unwrap


def convert_value(tensor: Any, value: Any) -> Any:
    """Convert the value of ``array[key] = value`` to a Tensor of the array's dtype.

    A value that shares the array's memory is copied. Leading dimensions of size 1 that the array
    lacks are dropped.

    Args:
        tensor: Tensor of the array.
        value: A Tensor, a number or an array-like.

    Raises:
        OverflowError: For a sequence with a number that an integer dtype cannot hold.
        TypeError: For a Python complex number and a tensor that is not complex.
    """
    is_complex = tensor.dtype.is_complex
    if value.__class__ is complex and not is_complex:
        raise TypeError("float() argument must be a string or a real number, not 'complex'")
    # NumPy checks the range of integers in a list, but casts those of an array.
    is_checked = value.__class__ in (list, tuple) and tensor.dtype.kind in "iu"
    given: Any = functions.asarray(value, tensor.dtype if is_checked else None)
    if given.dtype.is_complex and not is_complex:
        text = "Casting complex values to real discards the imaginary part"
        warnings.warn(text, host().exceptions.ComplexWarning, stacklevel=3)
        given = given.real
    if given is tensor or (given._vc is not None and given._vc is tensor._vc):
        given = given.clone()
    while given.ndim > tensor.ndim and given.shape[0] == 1:
        given = given[0]
    return given.to(tensor.dtype)


def as_write_error(tensor: Any, place: Any, value: Any, error: Exception) -> Exception:
    """NumPy's error for an assignment that has raised an error of PyTorch.

    Args:
        tensor: Tensor of the array.
        place: The index, converted by ``as_tensor_index``.
        value: The value, converted by ``convert_value``, or a number.
        error: PyTorch's error.

    Raises:
        OverflowError: For an integer that the dtype cannot hold.
        ValueError: For another number that the dtype cannot hold, such as NaN among integers.
    """
    if not isinstance(value, Tensor):
        tensor._data.dtype.type(value)  # raises
        return as_numpy_error(error)
    found, given = tuple(tensor[place].shape), tuple(value._data.shape)
    broadcasts = all(n in (1, m) for n, m in zip(given[::-1], found[::-1], strict=False))
    if broadcasts and len(given) <= len(found):
        return as_numpy_error(error)
    texts = (str(shape).replace(" ", "") for shape in (given, found))
    parts = place if isinstance(place, tuple) else (place,)
    if any(isinstance(part, Tensor) for part in parts):
        return ValueError(
            "shape mismatch: value array of shape {} could not be broadcast to indexing result "
            "of shape {}".format(*texts)
        )
    return ValueError("could not broadcast input array from shape {} into shape {}".format(*texts))


#: Classes of indices that mean the same to arrays and Tensors.
_SAME = frozenset((int, slice, type(None), type(...), bool))
_WRONG = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
    "arrays are valid indices"
)


@raise_numpy_errors
def getitem(self: ndarray, key: Any) -> ndarray:
    """``array[key]``: a view for integers and slices, else a copy; a single element is a scalar."""
    found = wrapping.get_item(self, key)
    if found is not wrapping.NOT_CALLED:
        return found  # type: ignore[no-any-return]
    place = as_tensor_index(key)
    part: Any = self._tensor[place]
    if not part._data.shape and picks_one(place):
        return wrap_result(part.clone())
    copied = place is not key and part._base is not None and _has_0d_array(key)
    found = array_of_tensor(part.clone() if copied else part)
    return found if self.__class__ is ndarray else as_class_of(self, found)


@raise_numpy_errors
def setitem(self: ndarray, key: Any, value: Any) -> None:
    """``array[key] = value``."""
    if not self._scalar and wrapping.set_item(self, key, value):
        return
    tensor: Any = self._tensor
    if self._scalar:
        kind = self.dtype.type.__name__
        raise TypeError(f"'numpy.{kind}' object does not support item assignment")
    if tensor._xp.readonly(tensor._data):
        raise ValueError("assignment destination is read-only")
    place = as_tensor_index(key)
    if value.__class__ not in (int, float, bool):
        value = convert_value(tensor, unwrap(value, []))
    try:
        tensor[place] = value
    except RuntimeError as error:
        raise as_write_error(tensor, place, value, error) from None


def as_tensor_index(key: Any) -> Any:
    """The index of a Tensor that means what ``key`` means for an array.

    Raises:
        IndexError: For an invalid index.
    """
    if key.__class__ in _SAME:
        return key
    if key.__class__ is not tuple:
        part = _convert_item(key)
        return part if not isinstance(part, Tensor) or part._data.size else tuple(_expand(part))
    if len(key) > 1 and sum(part is ... for part in key) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if all(part.__class__ in _SAME for part in key):
        return key
    parts = [each for part in key for each in _expand(_convert_item(part))]
    places = [i for i, part in enumerate(parts) if isinstance(part, (Tensor, int))]
    # NumPy counts an integer among arrays as an advanced index, PyTorch does not.
    if places and places[-1] - places[0] >= len(places):
        parts = [functions.asarray([p]) if p.__class__ is int else p for p in parts]
    return tuple(parts)


def picks_one(key: Any) -> bool:
    """Whether a result of ``as_tensor_index`` selects one element, which becomes a scalar."""
    if key.__class__ is tuple:
        return all(part.__class__ is int for part in key)
    return key.__class__ is int


def _has_0d_array(key: Any) -> bool:
    """Whether an index contains a 0-d array, so that the result is a copy and not a view.

    It selects the same elements as an integer. A scalar counts as an integer.
    """
    parts = key if key.__class__ is tuple else (key,)
    return any(
        part.__class__ not in _SAME
        and not (part._scalar if isinstance(part, ndarray) else isinstance(part, Tensor))
        and hasattr(part, "__array_priority__")
        and not isinstance(part, host().generic)
        for part in parts
    )


def _convert_item(part: Any) -> Any:
    """Convert one item of an index: arrays and sequences become Tensors, 0-d ones bools or ints."""
    if part.__class__ in _SAME:
        return part
    if isinstance(part, Holder):
        return _check_indices(part._tensor)
    if isinstance(part, Tensor):
        return _check_indices(part)
    if isinstance(part, (str, bytes)):
        raise IndexError(_WRONG)
    if isinstance(part, (list, tuple, range)) and not len(part):
        return functions.zeros(0, dtypes.int64)
    if hasattr(part, "__index__") and not getattr(part, "shape", ()):
        return operator.index(part)
    if not hasattr(part, "__len__") and not hasattr(part, "__array__"):
        raise IndexError(_WRONG)
    return _check_indices(functions.asarray(list(part) if isinstance(part, range) else part))


def _expand(part: Any) -> list[Any]:
    """Replace a mask without elements in an index by the index tensors of ``nonzero``.

    In NumPy such a mask may have any shape.

    Args:
        part: One item of an index.

    Returns:
        The items that replace it, or a list of itself.
    """
    if isinstance(part, Tensor) and part._data.dtype.kind == "b" and not part._data.size:
        return list(functions.nonzero(part))
    return [part]


def _check_indices(tensor: Any) -> Any:
    """Check the dtype of a Tensor in an index; return a 0-d one as a bool or an int."""
    kind = tensor._data.dtype.kind
    if kind not in "iub":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if not tensor._data.shape:
        return bool(tensor) if kind == "b" else int(tensor)
    return tensor.to(dtypes.int64) if kind == "u" else tensor
