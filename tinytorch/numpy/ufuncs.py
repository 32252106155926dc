"""NumPy's elementwise functions: ``out=``, ``where=``, ``dtype=`` and its rules of promotion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import dtypes
from .._op import composite
from .._tensor import Tensor
from ..ops._arrays import backend_of
from ..ops.selection import where as where_
from ._dialect import (
    cast, common_dtype, float_dtype, is_number, tensor_of, top_level, written,
)  # fmt: skip

#: By name: what torch calls it if not the same, and what it gives. Of one operand, and never an
#: integer.
FLOAT_OF_ONE = {
    "acos": ("", "The angle whose cosine each element is."),
    "acosh": ("", "The inverse hyperbolic cosine of each element."),
    "arccos": ("acos", "The angle whose cosine each element is."),
    "arccosh": ("acosh", "The inverse hyperbolic cosine of each element."),
    "arcsin": ("asin", "The angle whose sine each element is."),
    "arcsinh": ("asinh", "The inverse hyperbolic sine of each element."),
    "arctan": ("atan", "The angle whose tangent each element is."),
    "arctanh": ("atanh", "The inverse hyperbolic tangent of each element."),
    "asin": ("", "The angle whose sine each element is."),
    "asinh": ("", "The inverse hyperbolic sine of each element."),
    "atan": ("", "The angle whose tangent each element is."),
    "atanh": ("", "The inverse hyperbolic tangent of each element."),
    "cbrt": ("", "The cube root of each element."),
    "cos": ("", "The cosine of each element, in radians."),
    "cosh": ("", "The hyperbolic cosine of each element."),
    "deg2rad": ("", "Degrees as radians."),
    "degrees": ("rad2deg", "Radians as degrees."),
    "exp": ("", "e to the power of each element."),
    "exp2": ("", "2 to the power of each element."),
    "expm1": ("", "e to the power of each element, less 1, exact near 0."),
    "fabs": ("abs", "The absolute value of each real element, as a float."),
    "log": ("", "The natural logarithm of each element."),
    "log10": ("", "The logarithm to base 10 of each element."),
    "log1p": ("", "The natural logarithm of 1 plus each element, exact near 0."),
    "log2": ("", "The logarithm to base 2 of each element."),
    "rad2deg": ("", "Radians as degrees."),
    "radians": ("deg2rad", "Degrees as radians."),
    "rint": ("round", "The nearest whole number, as a float; halves to the even one."),
    "signbit": ("", "Whether each element has a minus sign, also a zero."),
    "sin": ("", "The sine of each element, in radians."),
    "sinh": ("", "The hyperbolic sine of each element."),
    "sqrt": ("", "The square root of each element."),
    "tan": ("", "The tangent of each element, in radians."),
    "tanh": ("", "The hyperbolic tangent of each element."),
}
#: Of one operand, in its own dtype or bools.
OF_ONE = {
    "abs": ("", "The absolute value of each element."),
    "absolute": ("abs", "The absolute value of each element."),
    "bitwise_count": ("", "How many bits of each element's absolute value are set."),
    "bitwise_invert": ("bitwise_not", "Every bit of each integer or bool inverted."),
    "bitwise_not": ("", "Every bit of each integer or bool inverted."),
    "ceil": ("", "The smallest whole number that is not below each element."),
    "conj": ("conj_physical", "The complex conjugate of each element."),
    "conjugate": ("conj_physical", "The complex conjugate of each element."),
    "floor": ("", "The largest whole number that is not above each element."),
    "invert": ("bitwise_not", "Every bit of each integer or bool inverted."),
    "isfinite": ("", "Whether each element is neither infinite nor NaN."),
    "isinf": ("", "Whether each element is infinite."),
    "isnan": ("", "Whether each element is NaN."),
    "isneginf": ("", "Whether each element is minus infinity."),
    "isposinf": ("", "Whether each element is plus infinity."),
    "logical_not": ("", "Whether each element is zero."),
    "negative": ("neg", "Each element with the other sign."),
    "positive": ("", "Each element as it is."),
    "sign": ("sgn", "-1, 0 or 1 by the sign of each element; a complex number on the unit circle."),
    "square": ("", "Each element times itself."),
    "trunc": ("", "Each element without its fractional part."),
}
#: Of two operands, and never an integer.
FLOAT_OF_TWO = {
    "arctan2": ("atan2", "The angle of the point (x2, x1)."),
    "atan2": ("", "The angle of the point (x2, x1)."),
    "copysign": ("", "The first's size with the second's sign."),
    "heaviside": ("", "0 below zero, 1 above, the second operand at zero."),
    "hypot": ("", "The length of the hypotenuse over two sides."),
    "logaddexp": ("", "The logarithm of the sum of two exponentials."),
    "logaddexp2": ("", "The same to base 2."),
    "nextafter": ("", "The next number that can be represented towards the second operand."),
}
#: Of two operands, in their common dtype or bools.
OF_TWO = {
    "add": ("", "The sum of two operands."),
    "bitwise_and": ("", "The bits that are set in both operands."),
    "bitwise_left_shift": ("", "The first operand's bits moved up."),
    "bitwise_or": ("", "The bits that are set in either operand."),
    "bitwise_right_shift": ("", "The first operand's bits moved down."),
    "bitwise_xor": ("", "The bits that are set in one operand alone."),
    "equal": ("eq", "Whether elements are equal."),
    "floor_divide": ("", "The quotient, rounded down."),
    "fmax": ("", "The larger element; a number rather than NaN."),
    "fmin": ("", "The smaller element; a number rather than NaN."),
    "fmod": ("", "What remains of a division, with the dividend's sign."),
    "gcd": ("", "The greatest common divisor."),
    "greater": ("gt", "Whether the first element is larger."),
    "greater_equal": ("ge", "Whether the first element is not smaller."),
    "lcm": ("", "The least common multiple."),
    "left_shift": ("bitwise_left_shift", "The first operand's bits moved up."),
    "less": ("lt", "Whether the first element is smaller."),
    "less_equal": ("le", "Whether the first element is not larger."),
    "logical_and": ("", "Whether both elements are not zero."),
    "logical_or": ("", "Whether an element is not zero."),
    "logical_xor": ("", "Whether one element alone is not zero."),
    "maximum": ("", "The larger element; NaN if one is."),
    "minimum": ("", "The smaller element; NaN if one is."),
    "mod": ("remainder", "What remains of a division, with the divisor's sign."),
    "multiply": ("mul", "The product of two operands."),
    "not_equal": ("ne", "Whether elements differ."),
    "pow": ("", "The first operand to the power of the second."),
    "power": ("pow", "The first operand to the power of the second."),
    "remainder": ("", "What remains of a division, with the divisor's sign."),
    "right_shift": ("bitwise_right_shift", "The first operand's bits moved down."),
    "subtract": ("sub", "The difference of two operands."),
}

#: float64 whatever goes in.
WIDE_OF_TWO = {
    "divide": ("div", "The quotient of two operands; of integers in float64."),
    "float_power": ("", "The first operand to the power of the second, at least in float64."),
    "true_divide": ("div", "The quotient of two operands; of integers in float64."),
}


def _operands(values: tuple[Any, ...], dtype: Any, floats: str) -> list[Any]:
    """Tensors of the dtype to compute in, with Python's numbers as they are beside tensors."""
    backend = backend_of(*values)
    plain = [is_number(v) for v in values]
    if all(plain):
        plain = [False] * len(values)
    given = [v if p else tensor_of(v, backend) for v, p in zip(values, plain, strict=True)]
    kinds = {t._data.dtype for t, p in zip(given, plain, strict=True) if not p}
    if dtype is None and len(kinds) == 1 and not any(plain):
        (kind,) = kinds
        if kind.kind in "fc" and floats != "float64" or not floats:
            return given
    wanted = dtypes.as_dtype(dtype) if dtype is not None else common_dtype(*given)
    if dtype is None and floats:
        small = wanted.category < 2
        wide = floats == "wide" and small or floats == "float64"
        wanted = common_dtype(wanted, dtypes.float64) if wide else float_dtype(wanted)
    return [
        tensor_of(v, backend).to(wanted) if not p or wanted.category < 2 else _number(v, wanted)
        for v, p in zip(given, plain, strict=True)
    ]


def _alike(values: tuple[Any, ...]) -> bool:
    """Whether all operands are tensors of one floating-point dtype: nothing is to be done."""
    known = None
    for value in values:
        if not isinstance(value, Tensor):
            return False
        dtype = value._data.dtype
        if dtype.kind != "f" or known not in (None, dtype):
            return False
        known = dtype
    return True


def _number(value: Any, dtype: dtypes.dtype) -> Any:
    return float(value) if dtype.category == 2 else value


def _run(
    name: str, values: tuple[Any, ...], out: Any, where: Any, dtype: Any, floats: str
) -> Any:
    function = top_level(name)
    if out is None and where is True and dtype is None and floats != "float64" and _alike(values):
        return function(*values)
    operands = _operands(values, dtype, floats)
    if len(operands) == 2 and function.op.strict:  # type: ignore[attr-defined]
        tensor = next(v for v in operands if isinstance(v, Tensor))
        operands = [
            v if isinstance(v, Tensor) else tensor.new_full((), v)
            for v in operands
        ]
    result = function(*operands)
    if where is not True:
        other = result * 0 if out is None else (out[0] if isinstance(out, tuple) else out)
        result = where_(tensor_of(where, result._xp), cast(result, other.dtype), other)
    return written(result, out)


def _one(name: str, torch: str, summary: str, floats: str) -> Callable[..., Tensor]:
    def function(
        x: Any, /, out: Tensor | None = None, *, where: Any = True, dtype: Any = None
    ) -> Tensor:
        return _run(torch, (x,), out, where, dtype, floats)  # type: ignore[no-any-return]

    return _public(function, name, summary, "        x: Tensor, or what makes one.\n")


def _two(name: str, torch: str, summary: str, floats: str) -> Callable[..., Tensor]:
    def function(
        x1: Any, x2: Any, /, out: Tensor | None = None, *, where: Any = True, dtype: Any = None
    ) -> Tensor:
        return _run(torch, (x1, x2), out, where, dtype, floats)  # type: ignore[no-any-return]

    operands = "".join(f"        {x}: Tensor, or what makes one.\n" for x in ("x1", "x2"))
    return _public(function, name, summary, operands)


_OPTIONS = """\
        out: Where to write the result.
        where: Where to compute; elsewhere is what ``out`` holds, or zero.
        dtype: What to compute in; default by NumPy's rules of promotion.
"""


def _public(
    function: Any, name: str, summary: str, operands: str
) -> Callable[..., Tensor]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{summary}\n\n    Args:\n{operands}{_OPTIONS}    "
    return composite(  # type: ignore[no-any-return]
        function, namespaces=("numpy",), method=False
    )


for _name, (_torch, _summary) in FLOAT_OF_ONE.items():
    _one(_name, _torch or _name, _summary, "float" if _name != "signbit" else "")
for _name, (_torch, _summary) in OF_ONE.items():
    _one(_name, _torch or _name, _summary, "")
for _name, (_torch, _summary) in FLOAT_OF_TWO.items():
    _two(_name, _torch or _name, _summary, "float")
for _name, (_torch, _summary) in OF_TWO.items():
    _two(_name, _torch or _name, _summary, "")
for _name, (_torch, _summary) in WIDE_OF_TWO.items():
    _two(_name, _torch or _name, _summary, "float64" if _name == "float_power" else "wide")


@composite(namespaces=("numpy",), method=False)
def reciprocal(
    x: Any, /, out: Tensor | None = None, *, where: Any = True, dtype: Any = None
) -> Tensor:
    """1 divided by each element; of integers, without the fraction.

    Args:
        x: Tensor, or what makes one.
        out: Where to write the result.
        where: Where to compute; elsewhere is what ``out`` holds, or zero.
        dtype: What to compute in; default ``x``'s.
    """
    given = cast(tensor_of(x), dtype)
    if given.dtype.category > 1:
        return _run("reciprocal", (given,), out, where, None, "")  # type: ignore[no-any-return]
    return written(  # type: ignore[no-any-return]
        given.new_ones(()).div(given, rounding_mode="trunc"), out
    )


@composite(namespaces=("numpy",), method=False)
def ldexp(x1: Any, x2: Any, /, out: Tensor | None = None) -> Tensor:
    """``x1`` times 2 to the power of ``x2``.

    Args:
        x1: Tensor, or what makes one.
        x2: Integers.
        out: Where to write the result.
    """
    (first,) = _operands((x1,), None, "float")
    power = tensor_of(x2, first._xp)
    return written(top_level("ldexp")(first, power), out)  # type: ignore[no-any-return]


@composite(namespaces=("numpy",), method=False)
def frexp(x: Any, /) -> tuple[Tensor, Tensor]:
    """Each element as a fraction of size 0.5 to 1 and a power of 2.

    Args:
        x: Tensor, or what makes one.

    Returns:
        The fractions and the exponents.
    """
    (given,) = _operands((x,), None, "float")
    return tuple(top_level("frexp")(given))


@composite(namespaces=("numpy",), method=False)
def divmod(x1: Any, x2: Any, /) -> tuple[Tensor, Tensor]:
    """Quotients rounded down, and what remains.

    Args:
        x1: Dividends.
        x2: Divisors.
    """
    first = _run("floor_divide", (x1, x2), None, True, None, "")
    return first, _run("remainder", (x1, x2), None, True, None, "")


@composite(namespaces=("numpy",), method=False)
def modf(x: Any, /) -> tuple[Tensor, Tensor]:
    """The fractional and the integral part of each element, both with its sign.

    Args:
        x: Real tensor, or what makes one.
    """
    (given,) = _operands((x,), None, "float")
    return top_level("modf")(given)  # type: ignore[no-any-return]
