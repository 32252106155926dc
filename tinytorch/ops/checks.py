"""Helpers of the kernels: kinds of dtypes, checks of arguments, blockwise computation."""

from __future__ import annotations

import operator
from typing import Any

from .. import dtypes
from ..core.tensor import Tensor
from ..dispatch.arguments import is_rejected_bool
from ..dispatch.op import Array, Backend
from ..dispatch.out import scalar_name

OUT_OF_RANGE = (
    "{name}(): index out of range in self: "
    "index {index} is out of bounds for dimension {dim} with size {size}"
)


def kind_of(*operands: Any) -> str:
    """NumPy's kind letter of promoted operands: that of the arrays, which have one dtype.

    If there are only Python scalars, it is ``"f"`` if one is a float, else ``"i"``.
    """
    for operand in operands:
        if hasattr(operand, "dtype"):
            return operand.dtype.kind  # type: ignore[no-any-return]
    return "f" if any(isinstance(v, float) for v in operands) else "i"


def as_arrays(xp: Backend, *operands: Any) -> list[Any]:
    """Promoted operands, with each Python scalar as a 0-d array of the arrays' dtype."""
    for operand in operands:
        if not hasattr(operand, "dtype"):
            break
    else:
        return list(operands)
    dtype = next(v.dtype for v in operands if hasattr(v, "dtype"))
    return [v if hasattr(v, "dtype") else xp.asarray(v, dtype) for v in operands]


def check_supported(xp: Backend, kernel: str, *operands: Any, unsupported: str) -> None:
    """Raise PyTorch's NotImplementedError for an array of an unsupported kind of dtype.

    Args:
        xp: The backend.
        kernel: PyTorch's name of the kernel that is missing, such as ``"abs_cpu"``.
        *operands: Promoted arrays and Python scalars.
        unsupported: NumPy's letters of the unsupported kinds: b for bool, i for signed and u for
            unsigned integers, f for floats, c for complex numbers.
    """
    for operand in operands:
        dtype = getattr(operand, "dtype", None)
        if dtype is not None and dtype.kind in unsupported:
            name = scalar_name(xp.dtype_of(operand))
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{name}'")


def check_scalar_types(xp: Backend, name: str, first: Array, second: Array) -> None:
    """Raise RuntimeError for arrays of two dtypes."""
    if first.dtype != second.dtype:
        first_name, second_name = (scalar_name(xp.dtype_of(x)) for x in (first, second))
        raise RuntimeError(f"{name}: expected scalar type {first_name} but found {second_name}")


def check_not_complex(name: str, *operands: Any) -> None:
    """Raise NotImplementedError for complex operands of a function that orders its elements."""
    if kind_of(*operands) == "c":
        raise NotImplementedError(f"{name} is not supported for complex types")


def apply_special(xp: Backend, name: str, *arrays: Any, public: str | None = None) -> Any:
    """Apply SciPy's function ``name`` to arrays of one dtype; the result has that dtype.

    Args:
        xp: The backend.
        name: SciPy's name of the function.
        arrays: Its arguments.
        public: The name of the operation, for the error. Default: ``name``.
    """
    dtype = arrays[0].dtype
    wide = [xp.astype(a, "float32") for a in arrays] if dtype.itemsize < 4 else arrays
    return xp.astype(find_special(xp, name, public or name)(*wide), dtype)


def find_special(xp: Backend, name: str, public: str) -> Any:
    """SciPy's function ``name``; without SciPy, an ImportError that names the operation."""
    try:
        return xp.special(name)
    except ImportError as error:
        raise ImportError(f"{public}(): {error}", name="scipy") from None


def blockwise(xp: Any, function: Any, *arrays: Any) -> Any:
    """``function(*arrays)``, element by element; the backend may call it block by block.

    The intermediate results of a block stay in the processor's cache. While a derivative is
    recorded (``xp.records``), all elements are computed at once. If none is recorded, float16 is
    computed in float32. The last array has the shape and the dtype of the result: in a kernel it is
    the input, in a gradient rule the input or the result, after ``g``.
    """
    if not xp.records and arrays[-1].dtype.char == "e":
        return compute_in_single(xp, lambda xp, *wide: xp.blockwise(function, *wide), *arrays)
    return xp.blockwise(function, *arrays)


def compute_in_single(xp: Backend, kernel: Any, *values: Any, **options: Any) -> Any:
    """Call ``kernel`` on float16 arrays in single precision and round once, as PyTorch does."""
    wide = [xp.astype(v, "float32") if is_half(v) else v for v in values]
    return xp.astype(xp.asarray(kernel(xp, *wide, **options)), "float16")


def is_half(value: Any) -> bool:
    """Whether an operand is a float16 array."""
    return hasattr(value, "dtype") and value.dtype.char == "e"


def sum_dtype(xp: Backend, input: Array, dtype: Any) -> Any:
    """The native dtype of a sum or product: ``dtype`` if given, int64 for integers and bools."""
    if dtype is not None:
        return xp.native_dtype(dtypes.as_dtype(dtype))
    return xp.native_dtype(dtypes.int64) if input.dtype.kind in "uib" else input.dtype


def discard_imaginary(xp: Any, input: Any, dtype: Any) -> Any:
    """The real part of a complex ``input`` if the native ``dtype`` is real, else ``input``."""
    return xp.real(input) if input.dtype.kind == "c" and dtype.kind != "c" else input


def check_tensor(name: str, value: Any) -> None:
    """Raise TypeError unless the first argument, which an operation may return, is a tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(value).__name__}"
        )


def as_int(name: str, argument: str, value: Any) -> int:
    """``value`` as an int; TypeError for a bool or anything else that is not an integer."""
    if value.__class__ is int:
        return value
    if not isinstance(value, bool):
        if hasattr(value, "__index__"):
            return operator.index(value)
        if getattr(value, "shape", None) == () and value.dtype.kind in "ui":
            return int(value)  # CuPy's 0-d arrays have no __index__
    raise TypeError(f"{name}(): argument '{argument}' must be int, not {type(value).__name__}")


def as_ints(name: str, argument: str, values: Any) -> tuple[int, ...]:
    """One or several sizes or dimensions as a tuple of ints; TypeError for other values."""
    if values.__class__ is int:
        return (values,)
    if values.__class__ is tuple:
        for value in values:
            if value.__class__ is not int:
                break
        else:
            return values
    if not isinstance(values, (tuple, list)):
        single = not hasattr(values, "__iter__") or not getattr(values, "ndim", 1)
        values = (values,) if single else tuple(values)
    return tuple([
        v if v.__class__ is int else as_int_among(name, argument, v, values) for v in values
    ])  # fmt: skip


def as_int_among(name: str, argument: str, value: Any, values: Any) -> int:
    """``value``, an item of ``values``, as an int; a bool is allowed unless it is the first."""
    is_allowed_bool = value.__class__ is bool and not is_rejected_bool(value, values)
    return int(value) if is_allowed_bool else as_int(name, argument, value)


def as_repeated_ints(
    text: str, name: str, argument: str, value: Any, count: int
) -> tuple[int, ...]:
    """``value`` as ``count`` ints; a single int is repeated.

    Args:
        text: Template of the error for a wrong number of ints.
        name: Name of the operation.
        argument: Name of the argument.
        value: An int, or a sequence of ints.
        count: Number of ints.

    Raises:
        TypeError: If ``value`` holds anything but ints.
        RuntimeError: With ``text`` as its message, if there are neither 1 nor ``count`` ints.
    """
    if value.__class__ is int:
        return (value,) * count
    if value.__class__ is tuple and len(value) == count:
        for n in value:
            if n.__class__ is not int:
                break
        else:
            return value
    try:
        values = value if isinstance(value, (tuple, list)) else (value,)
        ints = tuple([n if n.__class__ is int else _as_size(n, values) for n in values])
    except TypeError:
        raise TypeError(
            f"{name}(): argument '{argument}' must be tuple of ints, not {type(value).__name__}"
        ) from None
    if len(ints) == 1:
        return ints * count
    if len(ints) != count:
        words = ("none", "one int", "two ints", "three ints")[count]
        raise RuntimeError(text.format(
            name=name, argument=argument, count=count, words=words, given=list(ints)
        ))  # fmt: skip
    return ints


def _as_size(value: Any, values: Any) -> int:
    """``value``, an item of ``values``, as an int; TypeError for a bool as the first item."""
    if is_rejected_bool(value, values):
        raise TypeError("a bool is no size")
    return operator.index(value)


def real_factor(name: str, array: Array, factor: Any) -> Any:
    """``factor`` in the kind of ``array``: for a real array, the real part of a complex factor.

    Raises:
        RuntimeError: If the array is real and the factor has an imaginary part.
    """
    kind = array.dtype.kind
    if kind == "c" or not isinstance(factor, complex):
        return factor
    if factor.imag:
        raise RuntimeError(
            f"{name}: value cannot be converted to type {array.dtype} without overflow: {factor}"
        )
    return factor.real if kind == "f" else int(factor.real)
