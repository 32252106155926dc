"""Data types: torch's names and promotion rules, and the attributes of NumPy's dtypes.

A ``dtype`` is one object per name, shared by every backend. It compares equal to its name and to
NumPy's dtype of that name, so ``x.dtype == "float32"`` and ``x.dtype == np.float32`` both hold, and
``np.dtype(tt.float32)`` works.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, ClassVar

__all__ = ["dtype", "finfo", "iinfo", "promote_types"]

#: Category of a dtype by NumPy's kind letter: bool, integer, float and complex, in the order of
#: promotion.
_CATEGORIES = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
_INTEGER = _CATEGORIES["i"]
#: The name of the package in ``repr``; it is ``"torch"`` while the package stands in for torch.
shown_as = "tinytorch"


class dtype:
    """Type of a tensor's elements.

    Attributes:
        name: torch's name, such as ``"float32"``.
        itemsize: Bytes per element.
        kind: NumPy's kind letter: ``b``, ``u``, ``i``, ``f`` or ``c``.
        dtype: NumPy's dtype of the same name, which the NumPy backend sets; None for a type that
            NumPy does not have. ``alignment``, ``byteorder``, ``char`` and the other properties
            read its attributes.

    Example:
        >>> tt.float32.itemsize, tt.float32.is_floating_point, tt.float32 == "float32"
        (4, True, True)
    """

    __slots__ = (
        "name", "itemsize", "kind", "is_floating_point", "is_complex", "is_signed",
        "category", "dtype",
    )  # fmt: skip

    def __init__(self, name: builtins.str, itemsize: int, kind: builtins.str) -> None:
        self.name: str = name
        self.itemsize: int = itemsize
        self.kind: str = kind
        self.is_floating_point: builtins.bool = kind == "f"
        self.is_complex: builtins.bool = kind == "c"
        self.is_signed: builtins.bool = kind in "ifc"
        self.category: int = _CATEGORIES[kind]
        self.dtype: Any = None

    def __repr__(self) -> builtins.str:
        return f"{shown_as}.{self.name}"

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        if isinstance(other, dtype):
            return False
        if isinstance(other, builtins.str):
            return other == self.name
        return other is not None and other == self.dtype

    def __ne__(self, other: object) -> builtins.bool:
        return not self == other

    def __reduce__(self) -> tuple[Any, tuple[builtins.str]]:
        return _from_full_name, (self.name,)

    def __call__(self, value: Any = 0) -> Any:
        """Cast ``value`` to a NumPy scalar or array of this type, as ``np.float32(3)`` does."""
        return self.dtype.type(value)

    # Attributes of NumPy's dtype of the same name; AttributeError for a type without one.

    @property
    def alignment(self) -> int:
        """Alignment of an element in bytes."""
        return self.dtype.alignment  # type: ignore[no-any-return]

    @property
    def byteorder(self) -> builtins.str:
        """NumPy's sign for the byte order: ``=``, or ``|`` for an element of one byte."""
        return self.dtype.byteorder  # type: ignore[no-any-return]

    @property
    def char(self) -> builtins.str:
        """NumPy's letter for the type."""
        return self.dtype.char  # type: ignore[no-any-return]

    @property
    def descr(self) -> list[Any]:
        """Fields of the type as NumPy lists them: one field without a name."""
        return self.dtype.descr  # type: ignore[no-any-return]

    @property
    def fields(self) -> None:
        """None: the type is not a structured one."""
        return self.dtype.fields  # type: ignore[no-any-return]

    @property
    def hasobject(self) -> builtins.bool:
        """Whether elements are Python objects: False."""
        return self.dtype.hasobject  # type: ignore[no-any-return]

    @property
    def isnative(self) -> builtins.bool:
        """Whether the byte order is the processor's: True."""
        return self.dtype.isnative  # type: ignore[no-any-return]

    @property
    def names(self) -> None:
        """None: the type is not a structured one."""
        return self.dtype.names  # type: ignore[no-any-return]

    @property
    def num(self) -> int:
        """NumPy's number for the type."""
        return self.dtype.num  # type: ignore[no-any-return]

    @property
    def str(self) -> builtins.str:
        """NumPy's code for the type, with the byte order: ``<f4``."""
        return self.dtype.str  # type: ignore[no-any-return]

    @property
    def type(self) -> Any:
        """Class of NumPy's scalars of the type."""
        return self.dtype.type

    def newbyteorder(self, new_order: builtins.str = "S", /) -> Any:
        """NumPy's dtype of another byte order; ``"S"`` swaps the order.

        Example:
            >>> tt.int16.newbyteorder(">").str
            '>i2'
        """
        return self.dtype.newbyteorder(new_order)

    def to_real(self) -> dtype:
        """Real type with the precision of this one: ``float32`` for ``complex64``.

        Example:
            >>> tt.complex64.to_real()
            tinytorch.float32
        """
        return _BY_NAME[_REAL_OF[self.name]] if self.is_complex else self

    def to_complex(self) -> dtype:
        """Complex type with the precision of this one: ``complex64`` for ``float32``.

        Example:
            >>> tt.float64.to_complex()
            tinytorch.complex128
        """
        if self.is_complex:
            return self
        return complex128 if self.name == "float64" else complex64


bool: dtype = dtype("bool", 1, "b")
uint8: dtype = dtype("uint8", 1, "u")
uint16: dtype = dtype("uint16", 2, "u")
uint32: dtype = dtype("uint32", 4, "u")
uint64: dtype = dtype("uint64", 8, "u")
int8: dtype = dtype("int8", 1, "i")
int16: dtype = dtype("int16", 2, "i")
int32: dtype = dtype("int32", 4, "i")
int64: dtype = dtype("int64", 8, "i")
float16: dtype = dtype("float16", 2, "f")
bfloat16: dtype = dtype("bfloat16", 2, "f")
float32: dtype = dtype("float32", 4, "f")
float64: dtype = dtype("float64", 8, "f")
complex64: dtype = dtype("complex64", 8, "c")
complex128: dtype = dtype("complex128", 16, "c")

#: The float8 types of arXiv:2209.05433 and, as "uz", arXiv:2206.02915.
FLOAT8 = tuple(
    dtype(f"float8_{format}", 1, "f") for format in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz")
)
#: The types of reduced precision, whose arrays need the package ``ml_dtypes``.
LOW = (bfloat16, *FLOAT8)
#: Types without arrays, which exist because libraries refer to them by name: pairs of float16, and
#: the types of quantized tensors.
NAMED_ALONE = (
    dtype("complex32", 4, "c"),
    dtype("qint8", 1, "i"),
    dtype("quint8", 1, "u"),
    dtype("qint32", 4, "i"),
    dtype("quint4x2", 1, "u"),
    dtype("quint2x4", 1, "u"),
)
ALL = (
    bool, uint8, uint16, uint32, uint64, int8, int16, int32, int64,
    float16, bfloat16, float32, float64, complex64, complex128, *FLOAT8,
)  # fmt: skip
_BY_NAME = {d.name: d for d in ALL}
_REAL_OF = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
#: torch's second names for the same objects.
ALIASES = {
    "half": float16, "float": float32, "double": float64, "short": int16, "int": int32,
    "long": int64, "cfloat": complex64, "cdouble": complex128,
}  # fmt: skip
#: NumPy's second names.
NUMPYS = {"single": float32, "bool_": bool, "int_": int64, "intp": int64}
NAMES = {**_BY_NAME, **ALIASES, **NUMPYS}
#: NumPy's short names, such as ``f4``: kind and bytes.
_CODES = {f"{d.kind}{d.itemsize}": d for d in _BY_NAME.values() if d not in LOW}


def from_name(name: str) -> dtype:
    """Return the dtype called ``name``: one of ``NAMES``, or a short name such as ``f4``.

    Raises:
        TypeError: If there is no dtype of that name.
    """
    try:
        return NAMES[name] if name in NAMES else _CODES[name]
    except KeyError:
        known = ", ".join(_BY_NAME)
        raise TypeError(f"dtype: expected one of {known}; got {name!r}") from None


def _from_full_name(name: str) -> dtype:
    """Return the dtype called ``name``, also one without arrays; pickles of dtypes call this."""
    return next((d for d in NAMED_ALONE if d.name == name), None) or from_name(name)


_BY_PYTHON_TYPE: dict[type, dtype] = {
    type(True): bool, type(0): int64, type(0.0): float64, type(0j): complex128,
}  # fmt: skip


def as_dtype(value: Any) -> dtype:
    """Convert an argument ``dtype=`` to a dtype.

    Args:
        value: A dtype, a name of one, a Python type (``float`` is float64, as in torch), or one of
            NumPy's dtypes or scalar classes: any object whose ``name`` or ``__name__`` is that of a
            dtype, with or without underscores at the end.

    Raises:
        TypeError: For a name that no dtype has, and for an object without a name.
    """
    if isinstance(value, dtype):
        return value
    if isinstance(value, str):
        return from_name(value)
    if isinstance(value, type) and value in _BY_PYTHON_TYPE:
        return _BY_PYTHON_TYPE[value]
    name = getattr(value, "name", None) or getattr(value, "__name__", None)
    if isinstance(name, str):
        return from_name(name.rstrip("_"))
    raise TypeError(f"dtype: expected a tinytorch dtype, got {type(value).__name__}")


_PROMOTED: dict[tuple[dtype, dtype], dtype] = {}


def promote_types(type1: Any, type2: Any) -> dtype:
    """Return the smallest dtype to which both dtypes convert, by torch's table.

    Args:
        type1: A dtype.
        type2: A dtype.

    Returns:
        The promoted dtype.

    Raises:
        RuntimeError: For uint16, uint32 or uint64 with another integer type; torch
            defines no promotion for these.

    Example:
        >>> tt.promote_types(tt.int64, tt.float16)
        tinytorch.float16
    """
    a, b = as_dtype(type1), as_dtype(type2)
    if a is b:
        return a
    found = _PROMOTED.get((a, b))
    if found is None:
        found = _PROMOTED[a, b] = _promote(a, b)
    return found


def _promote(a: dtype, b: dtype) -> dtype:
    """Compute ``promote_types`` of two different dtypes."""
    if a in FLOAT8 or b in FLOAT8:
        raise RuntimeError(
            "Promotion for Float8 Types is not supported, attempted to promote "
            f"{a.name} and {b.name}"
        )
    if a.category < b.category:
        a, b = b, a
    if a.is_complex:
        wide = "float64" in (a.to_real().name, b.to_real().name)
        return complex128 if wide else complex64
    if a.is_floating_point:
        return _promote_float(a, b) if b.is_floating_point else a
    if b.kind == "b":
        return a
    return _promote_integer(a, b)


def _promote_float(a: dtype, b: dtype) -> dtype:
    """Return the wider of two different floating-point dtypes; float32 if neither is wider."""
    if a.itemsize == b.itemsize:
        return float32  # float16 with bfloat16: neither holds the other
    return a if a.itemsize > b.itemsize else b


def _promote_integer(a: dtype, b: dtype) -> dtype:
    """Return the dtype to which two different integer dtypes promote.

    uint8 is the only unsigned one that promotes: with int8 to int16, else to the signed dtype.
    """
    if a.kind == b.kind == "i":
        return a if a.itemsize > b.itemsize else b
    if {a.name, b.name} & {"uint16", "uint32", "uint64"}:
        raise RuntimeError(
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to "
            f"promote {a.name} and {b.name}"
        )
    signed = a if a.kind == "i" else b
    return int16 if signed.itemsize == 1 else signed


def combine_categories(higher: dtype | None, lower: dtype | None) -> dtype | None:
    """Return the dtype of an operation on operands of two priorities.

    Tensors with dimensions have priority over 0-d tensors, and these over Python numbers. Operands
    of the lower priority change the result only if their category (bool, integer, float, complex)
    is higher.

    Args:
        higher: The dtype to which the operands of the higher priority promote; None without any.
        lower: The same of the operands of the lower priority.

    Returns:
        The common dtype; None if both arguments are None.

    Reference: https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
    """
    if higher is None or lower is None:
        return higher or lower
    if higher.is_complex or higher.category > lower.category:
        return higher
    if higher.is_floating_point:
        return higher.to_complex() if lower.is_complex else higher
    if higher.kind == "b" or lower.category > _INTEGER:
        return promote_types(higher, lower)
    return higher


class finfo:
    """Limits of a floating-point (or complex) type: ``bits, eps, max, min, tiny, ...``.

    Args:
        type: A floating-point or complex dtype; the default is the default dtype.

    Example:
        >>> tt.finfo(tt.float32).eps
        1.1920928955078125e-07
    """

    # Widths of exponent and mantissa in bits: IEEE 754-2019 table 3.5; bfloat16 by its definition.
    _FORMATS = {"float16": (5, 10), "bfloat16": (8, 7), "float32": (8, 23), "float64": (11, 52)}
    # Of float8: mantissa width, exponent of the least normal number, largest number.
    _SMALL = {
        "float8_e4m3fn": (3, -6, 448.0), "float8_e4m3fnuz": (3, -7, 240.0),
        "float8_e5m2": (2, -14, 57344.0), "float8_e5m2fnuz": (2, -15, 57344.0),
    }  # fmt: skip

    #: Function that returns the default dtype; ``state``, which imports this module, replaces it.
    _default: Callable[[], dtype] = staticmethod(lambda: float32)

    def __init__(self, type: Any = None) -> None:
        given = self._default() if type is None else as_dtype(type)
        real = given.to_real()
        if not real.is_floating_point:
            raise TypeError(
                f"torch.finfo() requires a floating point input type, got {given!r}. "
                "Use torch.iinfo to handle integer types"
            )
        known = self._known.get(real.name)
        if known is None:
            known = self._known[real.name] = self._compute(real)
        self.__dict__.update(known)

    #: The attributes, by the name of the dtype.
    _known: ClassVar[dict[str, dict[str, Any]]] = {}
    dtype: str
    bits: int
    eps: float
    max: float
    min: float
    tiny: float
    smallest_normal: float
    smallest_subnormal: float
    resolution: float

    def _compute(self, real: Any) -> dict[str, Any]:
        """Return the attributes for a real floating-point dtype."""
        small = self._SMALL.get(real.name)
        mantissa, least, largest = small or self._ieee(*self._FORMATS[real.name])
        return {
            "dtype": real.name, "bits": 8 * real.itemsize, "eps": 2.0**-mantissa, "max": largest,
            "min": -largest, "tiny": 2.0**least, "smallest_normal": 2.0**least,
            "smallest_subnormal": 2.0 ** (least - mantissa),
            "resolution": float(10.0 ** -int(mantissa * 0.30103)),
        }  # fmt: skip

    @staticmethod
    def _ieee(exponent: int, mantissa: int) -> tuple[int, int, float]:
        """Return the mantissa's width, the least normal exponent and the largest number.

        Args:
            exponent: Width of the exponent in bits.
            mantissa: Width of the mantissa in bits.
        """
        bias = 2 ** (exponent - 1) - 1
        return mantissa, 1 - bias, (2.0 - 2.0**-mantissa) * 2.0**bias

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.tiny:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


class iinfo:
    """Limits of an integer type: ``bits, max, min``.

    Args:
        type: An integer dtype.

    Example:
        >>> tt.iinfo(tt.int8).max
        127
    """

    def __init__(self, type: Any) -> None:
        given = as_dtype(type)
        if given.kind not in "ui":
            raise TypeError(
                f"torch.iinfo() requires an integer input type, got {given!r}. "
                "Use torch.finfo to handle floating point types"
            )
        self.dtype: str = given.name
        self.bits: int = 8 * given.itemsize
        self.max: int = 2 ** (self.bits - (given.kind == "i")) - 1
        self.min: int = -(2 ** (self.bits - 1)) if given.kind == "i" else 0

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


# -- PyTorch's first names -------------------------------------------------------------------

#: The dtypes by the names of their tensors.
TENSOR_TYPES = {
    "FloatTensor": float32, "DoubleTensor": float64, "HalfTensor": float16,
    "BFloat16Tensor": bfloat16, "LongTensor": int64, "IntTensor": int32, "ShortTensor": int16,
    "CharTensor": int8, "ByteTensor": uint8, "BoolTensor": bool,
}  # fmt: skip
#: PyTorch's names of the types of storages, by dtype.
STORAGES = {
    "float32": "FloatStorage", "float64": "DoubleStorage", "float16": "HalfStorage",
    "bfloat16": "BFloat16Storage", "int64": "LongStorage", "int32": "IntStorage",
    "int16": "ShortStorage", "int8": "CharStorage", "uint8": "ByteStorage",
    "bool": "BoolStorage", "complex64": "ComplexFloatStorage",
    "complex128": "ComplexDoubleStorage",
}  # fmt: skip
