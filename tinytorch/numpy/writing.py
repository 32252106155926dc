"""Writing to parts of arrays: what NumPy accepts, in which dtype, and what it says of the rest."""

from __future__ import annotations

import warnings
from typing import Any

from ..core.tensor import Tensor
from ..dispatch.error_context import as_numpys
from . import functions
from .functions.conversion import host


def given_to(tensor: Any, value: Any) -> Any:
    """What is written to a tensor, in its dtype; a copy of what shares its memory.

    Raises:
        OverflowError: For a sequence with a number that the dtype does not hold.
        TypeError: For a complex number where there are real ones.
    """
    is_complex = tensor.dtype.category == 3
    if value.__class__ is complex and not is_complex:
        raise TypeError("float() argument must be a string or a real number, not 'complex'")
    whole = value.__class__ in (list, tuple) and tensor.dtype.category == 1
    given: Any = functions.asarray(value, tensor.dtype if whole else None)
    if given.dtype.category == 3 and not is_complex:
        text = "Casting complex values to real discards the imaginary part"
        warnings.warn(text, host().exceptions.ComplexWarning, stacklevel=3)
        given = given.real
    if given is tensor or (given._vc is not None and given._vc is tensor._vc):
        given = given.clone()
    while given.ndim > tensor.ndim and given.shape[0] == 1:
        given = given[0]
    return given.to(tensor.dtype)


def unwritten(tensor: Any, place: Any, value: Any, error: Exception) -> Exception:
    """NumPy's error for what could not be written, of which ``error`` is PyTorch's.

    Raises:
        OverflowError: For an integer that the dtype does not hold.
        ValueError: For a number that is none of its own, such as NaN among integers.
    """
    if not isinstance(value, Tensor):
        tensor._data.dtype.type(value)  # which raises
        return as_numpys(error)
    found, given = tuple(tensor[place].shape), tuple(value._data.shape)
    alike = all(n in (1, m) for n, m in zip(given[::-1], found[::-1], strict=False))
    if alike and len(given) <= len(found):
        return as_numpys(error)
    texts = (str(shape).replace(" ", "") for shape in (given, found))
    parts = place if isinstance(place, tuple) else (place,)
    if any(isinstance(part, Tensor) for part in parts):
        return ValueError(
            "shape mismatch: value array of shape {} could not be broadcast to indexing result "
            "of shape {}".format(*texts)
        )
    return ValueError("could not broadcast input array from shape {} into shape {}".format(*texts))
