"""What kernels share: kinds of dtypes, refusals, walking in blocks, dtypes of sums."""

from __future__ import annotations

import operator
from typing import Any

from .. import dtypes
from ..core.tensor import Tensor
from ..dispatch.arguments import is_leading_bool
from ..dispatch.op import Array, Backend
from ..dispatch.out import scalar_name

OUT_OF_RANGE = (
    "{name}(): index out of range in self: "
    "index {index} is out of bounds for dimension {dim} with size {size}"
)


def kind_of(*operands: Any) -> str:
    """NumPy's kind letter of promoted operands: that of the arrays among them."""
    for operand in operands:
        if hasattr(operand, "dtype"):
            return operand.dtype.kind  # type: ignore[no-any-return]
    return "f" if any(isinstance(v, float) for v in operands) else "i"


def as_arrays(xp: Backend, *operands: Any) -> list[Any]:
    """Promoted operands with the numbers among them made 0-d arrays of the same dtype."""
    dtype = next(v.dtype for v in operands if hasattr(v, "dtype"))
    return [v if hasattr(v, "dtype") else xp.asarray(v, dtype) for v in operands]


def refuse(xp: Backend, kernel: str, kinds: str, *operands: Any) -> None:
    """NotImplementedError in torch's words for operands of one of ``kinds``.

    Args:
        xp: The backend.
        kernel: torch's name of the kernel that is missing, such as ``"abs_cpu"``.
        kinds: The letters of the refused kinds.
        *operands: Promoted arrays and numbers.
    """
    for operand in operands:
        if hasattr(operand, "dtype") and operand.dtype.kind in kinds:
            name = scalar_name(xp.dtype_of(operand))
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{name}'")


def check_scalar_types(xp: Backend, name: str, first: Array, second: Array) -> None:
    """RuntimeError for arrays of two dtypes."""
    if first.dtype != second.dtype:
        wanted, found = (scalar_name(xp.dtype_of(x)) for x in (first, second))
        raise RuntimeError(f"{name}: expected scalar type {wanted} but found {found}")


def refuse_complex(name: str, *operands: Any) -> None:
    """NotImplementedError for complex operands of a function that orders numbers."""
    if kind_of(*operands) == "c":
        raise NotImplementedError(f"{name} is not supported for complex types")


def special(xp: Backend, name: str, *arrays: Any, public: str | None = None) -> Any:
    """SciPy's function ``name`` of arrays of one dtype, in that dtype.

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
    """SciPy's function ``name``; the error says which operation needs it."""
    try:
        return xp.special(name)
    except ImportError as error:
        raise ImportError(f"{public}(): {error}", name="scipy") from None


def blockwise(xp: Any, function: Any, *arrays: Any) -> Any:
    """``function(*arrays)``, element by element; on raw arrays the backend may cut them up.

    What several passes compute then stays in the processor's cache from one to the next. Raw
    halves are computed in single precision.
    """
    if not xp.records and is_half(arrays[-1]):
        return in_single(xp, lambda xp, *wide: xp.blockwise(function, *wide), *arrays)
    return xp.blockwise(function, *arrays)


def in_single(xp: Backend, kernel: Any, *values: Any, **options: Any) -> Any:
    """``kernel`` of halves, computed in single precision and rounded once, as torch does."""
    wide = [xp.astype(v, "float32") if is_half(v) else v for v in values]
    return xp.astype(xp.asarray(kernel(xp, *wide, **options)), "float16")


def is_half(value: Any) -> bool:
    """Whether an operand is an array of halves."""
    return hasattr(value, "dtype") and value.dtype.char == "e"


def running_dtype(xp: Backend, input: Array, dtype: Any) -> Any:
    """The native dtype of a sum or product: the wanted one; int64 for integers and bools."""
    if dtype is not None:
        return xp.native_dtype(dtypes.as_dtype(dtype))
    return xp.native_dtype(dtypes.int64) if input.dtype.kind in "uib" else input.dtype


def taken_in(xp: Any, input: Any, dtype: Any) -> Any:
    """What a sum or product in a native dtype takes of ``input``: real ones the real parts."""
    return xp.real(input) if input.dtype.kind == "c" and dtype.kind != "c" else input


def check_tensor(name: str, value: Any) -> None:
    """TypeError if the first argument of an operation that may give it back is no tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(value).__name__}"
        )


def integer(name: str, argument: str, value: Any) -> int:
    """``value`` as an int; TypeError for what is none."""
    if not isinstance(value, bool):
        if hasattr(value, "__index__"):
            return operator.index(value)
        if getattr(value, "shape", None) == () and value.dtype.kind in "ui":
            return int(value)  # CuPy's arrays are no indices
    raise TypeError(f"{name}(): argument '{argument}' must be int, not {type(value).__name__}")


def integers_of(name: str, argument: str, values: Any) -> tuple[int, ...]:
    """Several sizes or dimensions, or a single one, as ints; TypeError for what is none."""
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
        v if v.__class__ is int else integer_among(name, argument, v, values) for v in values
    ])  # fmt: skip


def integer_among(name: str, argument: str, value: Any, values: Any) -> int:
    """One of several values as an int; TypeError for what is none."""
    plain = value.__class__ is bool and not is_leading_bool(value, values)
    return int(value) if plain else integer(name, argument, value)


def integer_each(text: str, name: str, argument: str, value: Any, count: int) -> tuple[int, ...]:
    """``value`` as ``count`` ints, a single one for all of them.

    Raises:
        TypeError: If it holds something else than ints.
        RuntimeError: With ``text`` for another number of them.
    """
    try:
        values = value if isinstance(value, (tuple, list)) else (value,)
        given = tuple([n if n.__class__ is int else _size_among(n, values) for n in values])
    except TypeError:
        raise TypeError(
            f"{name}(): argument '{argument}' must be tuple of ints, not {type(value).__name__}"
        ) from None
    if len(given) == 1:
        return given * count
    if len(given) != count:
        words = ("none", "one int", "two ints", "three ints")[count]
        raise RuntimeError(text.format(
            name=name, argument=argument, count=count, words=words, given=list(given)
        ))  # fmt: skip
    return given


def _size_among(value: Any, values: Any) -> int:
    """One of several sizes as an int; TypeError for what is none, as a bool in front is."""
    if is_leading_bool(value, values):
        raise TypeError("a bool is no size")
    return operator.index(value)


def real_factor(name: str, array: Array, factor: Any) -> Any:
    """A number to multiply ``array`` by: of real numbers a complex one only where it is real.

    Raises:
        RuntimeError: If it has an imaginary part that the array's dtype cannot hold.
    """
    kind = array.dtype.kind
    if kind == "c" or not isinstance(factor, complex):
        return factor
    if factor.imag:
        raise RuntimeError(
            f"{name}: value cannot be converted to type {array.dtype} without overflow: {factor}"
        )
    return factor.real if kind == "f" else int(factor.real)
