"""NumPy's elementwise functions with ``out=``, ``where=``, ``dtype=`` and its promotion rules.

NumPy's own ufuncs determine the dtypes of the computation and the casts that are allowed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import composite
from ...ops.create import factories
from ...ops.pointwise import (
    comparison, complex_numbers, division, floating_point, rounding, trigonometric,
)  # fmt: skip
from ...ops.pointwise.selection import where as where_
from ...ops.special import bessel_functions
from . import elementwise
from .conversion import (
    as_dtype, as_float, backend_of, host, is_inexact, is_number, promote, tensor_of, tensors_of,
    write_out,
)  # fmt: skip
from .elementwise import (
    COMPLEX_FORMULAS, REAL_FORMULAS, UNARY, BINARY, UfuncDef, divide_with_remainder, divide_or_zero,
)  # fmt: skip
from .registration import numpy_function, register_as

#: Functions that return bools unchanged; PyTorch's functions raise for bools.
_IDENTITY_FOR_BOOLS = ("abs", "ceil", "floor", "trunc")


@functools.cache
def _loop(name: str, operands: tuple[Any, ...], dtype: Any, casting: str) -> tuple[Any, ...]:
    """NumPy's dtypes for the computation of a ufunc: of each operand, then of each result.

    Args:
        name: Name of NumPy's ufunc.
        operands: For each operand its dtype, or the type of a Python number; followed for each
            result by the dtype of the tensor in ``out``, or None.
        dtype: The argument ``dtype`` of the call, or None.
        casting: The casts that are allowed.

    Raises:
        TypeError: If the ufunc does not support these dtypes.
    """
    ufunc = getattr(host(), name)
    options: dict[str, Any] = {"casting": casting}
    if dtype is not None:
        options["signature"] = (None,) * ufunc.nin + (dtype,) * ufunc.nout
    found: tuple[Any, ...] = ufunc.resolve_dtypes(operands, **options)
    return found


def _has_one_float_dtype(values: tuple[Any, ...]) -> bool:
    """Whether all operands are tensors of one floating-point dtype, which need no promotion."""
    first: Any = None
    for value in values:
        if not isinstance(value, Tensor):
            return False
        dtype = value._data.dtype
        # `is not None`, because NumPy's float64 compares equal to None.
        if dtype.kind != "f" or (first is not None and dtype != first):
            return False
        first = dtype
    return True


def _promotion_type(value: Any) -> Any:
    """Item of ``operands`` of ``_loop`` for one operand: its dtype, or a Python number's type.

    The type of a number, which NumPy promotes weakly, is not used for a bool: its dtype is bool.
    """
    if isinstance(value, Tensor):
        return value._data.dtype
    return host().dtype(bool) if isinstance(value, bool) else type(value)


def _read_operands(values: tuple[Any, ...]) -> list[Any]:
    """Convert operands to tensors of one backend.

    Python numbers stay as they are; but if all operands are numbers, all become tensors.
    """
    backend = backend_of(*values)
    stays = [is_number(v) for v in values]
    if all(stays):
        stays = [False] * len(values)
    return [v if s else tensor_of(v, backend) for v, s in zip(values, stays, strict=True)]


def _cast_operand(value: Any, dtype: Any, tensor: Any) -> Any:
    """Cast an operand to a dtype of the computation.

    Args:
        value: The operand: a Tensor or a Python number. A number stays a number if ``tensor`` has
            the dtype, unless it is bool.
        dtype: NumPy's dtype.
        tensor: One of the operands that is a Tensor.
    """
    if isinstance(value, Tensor):
        operand: Any = value
        return operand if operand._data.dtype == dtype else operand.to(dtypes.from_name(dtype.name))
    number = dtype.type(value).item()
    if tensor._data.dtype == dtype and dtype.kind != "b":
        return number
    return tensor.new_full((), number, dtype=dtypes.from_name(dtype.name))


def _normalize_out(out: Any, count: int) -> tuple[Any, ...]:
    """Return the argument ``out`` as a tuple of a Tensor or None for each of ``count`` results."""
    found = out if isinstance(out, tuple) else (out,) + (None,) * (count - 1)
    if out is None or len(found) != count:
        if out is not None:
            raise ValueError(f"out= must hold {count} tensors, got {len(found)}")
        return (None,) * count
    for target in found:
        if target is not None and not isinstance(target, Tensor):
            raise TypeError(f"return arrays must be Tensors, got {type(target).__name__} for out=")
    return found


def _run(
    name: str, function: Callable[..., Any], values: tuple[Any, ...], out: Any = None,
    where: Any = True, casting: str = "same_kind", dtype: Any = None,
) -> Any:  # fmt: skip
    """Compute NumPy's ufunc ``name`` by ``function``, with NumPy's dtypes and options.

    Args:
        name: Name of NumPy's ufunc, which determines the dtypes.
        function: Function of tensors of those dtypes, or numbers.
        values: The operands.
        out: Tensor for the result, or a tuple of one for each result.
        where: Mask of the elements to compute.
        casting: The casts that are allowed.
        dtype: Dtype of the computation; None means NumPy's promotion rules.
    """
    count = getattr(host(), name).nout
    outs = _normalize_out(out, count)
    given = _read_operands(values)
    types = (*map(_promotion_type, given), *(None if o is None else o._data.dtype for o in outs))
    loop = _loop(name, types, None if dtype is None else as_dtype(dtype).dtype, casting)
    tensor = next(v for v in given if isinstance(v, Tensor))
    try:
        operands = [_cast_operand(v, d, tensor) for v, d in zip(given, loop, strict=False)]
    except OverflowError:
        if name not in _COMPARISONS:
            raise
        results = _compare_out_of_range(name, given)
    else:
        results = _compute(name, function, operands, loop[0].kind, tensor)
    results = results if count > 1 else (results,)
    rest = zip(results, outs, loop[len(given) :], strict=True)
    done = tuple(_write_result(r, o, d, where) for r, o, d in rest)
    return done if count > 1 else done[0]


def _compute(name: str, function: Any, operands: list[Any], kind: str, tensor: Any) -> Any:
    """Compute the results of a ufunc from operands that have the dtypes of the computation.

    Some ufuncs need another formula than PyTorch's function for complex numbers, floating-point
    numbers or integers.

    Args:
        name: Name of the ufunc.
        function: PyTorch's function, or another one of the operands.
        operands: Tensors, or Python numbers beside a tensor.
        kind: NumPy's kind letter of the first operand's dtype.
        tensor: One of the operands of the call that is a Tensor.
    """
    if kind == "b" and getattr(function, "__name__", "") in _IDENTITY_FOR_BOOLS:
        return operands[0].clone()
    if getattr(function, "op", None) is not None and function.op.strict and len(operands) == 2:
        operands = [v if isinstance(v, Tensor) else tensor.new_full((), v) for v in operands]
    if kind == "c" and name in COMPLEX_FORMULAS:
        return COMPLEX_FORMULAS[name](function, *operands)
    if kind == "f" and name in REAL_FORMULAS:
        return REAL_FORMULAS[name](function, *operands)
    if kind not in "iu":
        return function(*operands)
    if name in _COMPARISONS and len({v.dtype for v in operands if isinstance(v, Tensor)}) > 1:
        return _compare_signed_unsigned(name, function, *operands)
    formula = _INTEGER_FORMULAS.get(name)
    return function(*operands) if formula is None else formula(function, *operands)


def _write_result(result: Any, out: Any, dtype: Any, where: Any) -> Any:
    """Cast a result of a ufunc, apply the mask ``where``, and write it to ``out`` unless None.

    Args:
        result: Tensor.
        out: Tensor to write to, whose dtype the result gets, or None.
        dtype: NumPy's dtype of the result without ``out``.
        where: Mask of the elements to write; the others stay as in ``out``, or are 0.

    Returns:
        ``out``, or the result.
    """
    wanted = dtypes.from_name(dtype.name) if out is None else out.dtype
    found = result if result.dtype is wanted else result.to(wanted)
    if where is not True:
        mask = tensor_of(where, found._xp).bool()
        found = where_(mask, found, found.new_zeros(()) if out is None else out)
    if out is None:
        return found
    try:
        found = found.expand(tuple(out.shape))
    except RuntimeError:
        raise ValueError(
            f"output array has shape {list(out.shape)}, the result {list(found.shape)}"
        ) from None
    return out.copy_(found)


_COMPARISONS = ("equal", "greater", "greater_equal", "less", "less_equal", "not_equal")


def _compare_out_of_range(name: str, given: list[Any]) -> Any:
    """Compare a tensor of integers with a Python number that its dtype cannot hold.

    Every element of the dtype compares with the number as 0 does, so all results are the same.

    Args:
        name: Name of a comparison of NumPy.
        given: The two operands, in order: a Tensor and a number.
    """
    tensor = next(v for v in given if isinstance(v, Tensor))
    zero = tensor._data.dtype.type(0)
    result = getattr(host(), name)(*(zero if isinstance(v, Tensor) else v for v in given))
    return tensor.new_full(tuple(tensor.shape), bool(result), dtype=dtypes.bool)


def _compare_signed_unsigned(name: str, function: Any, a: Any, b: Any) -> Any:
    """Compare a tensor of signed integers with one of uint64, which have no common integer dtype.

    Args:
        name: Name of a comparison of NumPy.
        function: The same comparison of PyTorch.
        a: The first operand.
        b: The second operand.
    """
    # A negative element compares with every element of uint64 as -1 does with 0.
    signed, example = (a, (-1, 0)) if a._data.dtype.kind == "i" else (b, (0, -1))
    negative = signed < 0
    rest = signed.masked_fill(negative, 0).to(dtypes.uint64)
    found = function(rest, b) if signed is a else function(a, rest)
    return where_(negative, bool(getattr(host(), name)(*example)), found)


def _integer_power(function: Any, a: Any, b: Any) -> Any:
    """Power of integers by PyTorch's ``function``; raise for a negative exponent."""
    text = "Integers to negative integer powers are not allowed."
    if isinstance(b, Tensor):
        b._xp.check_all(b._data >= 0, text)
    elif b < 0:
        raise ValueError(text)
    return function(a, b)


def _integer_reciprocal(function: Any, a: Any) -> Any:
    """``1 / a`` of integers, rounded towards 0; ``function`` is not used."""
    return a.new_ones(()).div(a, rounding_mode="trunc")


#: Functions of PyTorch's function and the operands, for ufuncs that differ for integers.
_INTEGER_FORMULAS: dict[str, Callable[..., Any]] = {
    "reciprocal": _integer_reciprocal, "power": _integer_power, "pow": _integer_power,
    **dict.fromkeys(("floor_divide", "fmod", "mod", "remainder"), divide_or_zero),
}  # fmt: skip


def _make_unary(name: str, definition: UfuncDef) -> Callable[..., Any]:
    """Make and register a ufunc of one operand, with a fast path for a floating-point Tensor."""

    def function(
        x: Any, /, out: Tensor | None = None, *, where: Any = True, casting: str = "same_kind",
        order: str = "K", dtype: Any = None, subok: bool = True,
    ) -> Tensor:  # fmt: skip
        run = definition.compute
        fast = out is None and where is True and dtype is None and name not in REAL_FORMULAS
        if fast and _has_one_float_dtype((x,)):
            return run(x)  # type: ignore[no-any-return]
        return _run(name, run, (x,), out, where, casting, dtype)  # type: ignore[no-any-return]

    return _register(function, name, definition, "x")


def _make_binary(name: str, definition: UfuncDef) -> Callable[..., Any]:
    """Make and register a ufunc of two operands; Tensors of one float dtype take a fast path."""

    def function(
        x1: Any, x2: Any, /, out: Tensor | None = None, *, where: Any = True,
        casting: str = "same_kind", order: str = "K", dtype: Any = None, subok: bool = True,
    ) -> Tensor:  # fmt: skip
        run = definition.compute
        fast = out is None and where is True and dtype is None and name != "float_power"
        if fast and _has_one_float_dtype((x1, x2)):
            return run(x1, x2)  # type: ignore[no-any-return]
        return _run(name, run, (x1, x2), out, where, casting, dtype)  # type: ignore

    return _register(function, name, definition, "x1", "x2")


_OPTIONS = """\
        out: Tensor for the result.
        where: Mask of the elements to compute; others stay as in ``out``, or are 0.
        casting: The casts that are allowed: ``"no"``, ``"equiv"``, ``"safe"``, ``"same_kind"``
            (default) or ``"unsafe"``.
        order: Accepted; the result is in row-major order.
        dtype: Dtype of the computation; default by NumPy's promotion rules.
        subok: Accepted and ignored.
"""


def _register(function: Any, name: str, definition: UfuncDef, *operands: str) -> Callable[..., Any]:
    """Register a ufunc with a docstring made of its definition.

    Args:
        function: The ufunc.
        name: Its name.
        definition: Its row in the table of ufuncs.
        *operands: Names of its parameters that are operands.
    """
    listed = "".join(f"        {x}: Array-like.\n" for x in operands)
    doc = f"{definition.summary}\n\n    Args:\n{listed}{_OPTIONS}    "
    example = f">>> np.{name}({definition.operands})", definition.shown
    return register_as(function, name, doc, *example)  # type: ignore[no-any-return]


_BY_NAME: dict[str, Any] = {name: _make_unary(name, UNARY[name]) for name in UNARY}
_BY_NAME |= {name: _make_binary(name, BINARY[name]) for name in BINARY}

# The functions that this module and others call.
add: Any = _BY_NAME["add"]
divide: Any = _BY_NAME["divide"]
multiply: Any = _BY_NAME["multiply"]
power: Any = _BY_NAME["power"]
maximum: Any = _BY_NAME["maximum"]
minimum: Any = _BY_NAME["minimum"]
trunc: Any = _BY_NAME["trunc"]
arccos: Any = _BY_NAME["arccos"]
arcsin: Any = _BY_NAME["arcsin"]
arctan2: Any = _BY_NAME["arctan2"]
arctanh: Any = _BY_NAME["arctanh"]
log: Any = _BY_NAME["log"]
log2: Any = _BY_NAME["log2"]
log10: Any = _BY_NAME["log10"]
sqrt: Any = _BY_NAME["sqrt"]


@numpy_function
def floor_divide(
    x1: Any, x2: Any, /, out: Tensor | None = None, *, where: Any = True,
    casting: str = "same_kind", order: str = "K", dtype: Any = None, subok: bool = True,
) -> Tensor:  # fmt: skip
    """Quotient rounded down; the quotients of infinities are those of the array API standard.

    Args:
        x1: Dividends.
        x2: Divisors.
        out: Tensor for the result.
        where: Mask of the elements to compute; others stay as in ``out``, or are 0.
        casting: The casts that are allowed.
        order: Accepted; the result is in row-major order.
        dtype: Dtype of the computation; default by NumPy's promotion rules.
        subok: Accepted and ignored.

    Example:
        >>> np.floor_divide([7, -7], 2), np.floor_divide(np.inf, 2.0)
        (array([ 3, -4]), inf)

    Reference: https://data-apis.org/array-api/latest/API_specification
    """
    return _run("floor_divide", _floor_divide, (x1, x2), out, where, casting, dtype)  # type: ignore


def _floor_divide(a: Any, b: Any) -> Any:
    """Floor division; an infinite quotient, and 0 by an infinite divisor, are not rounded."""
    found = division.floor_divide(a, b)
    if not is_inexact(found):
        return found
    exact = division.div(a, b)
    infinite = comparison.isinf
    unbounded = exact.isinf() | (infinite(tensor_of(b, found._xp)) & (exact == 0))
    return where_(unbounded, exact, found)


@composite(namespaces=("numpy",), like=floor_divide)
def heaviside(
    x1: Any, x2: Any, /, out: Tensor | None = None, *, where: Any = True, dtype: Any = None
) -> Tensor:
    """Heaviside step function: 0 for ``x1 < 0``, ``x2`` for 0, 1 for ``x1 > 0``, NaN for NaN.

    Args:
        x1, x2: Tensor or array-like.
        out: Tensor for the result.

    Example:
        >>> np.heaviside([-1.5, 0.0, 2.0], 0.5)
        array([0. , 0.5, 1. ])
    """
    return _run("heaviside", _heaviside, (x1, x2), out, where, dtype=dtype)  # type: ignore


def _heaviside(a: Any, b: Any) -> Any:
    """PyTorch's ``heaviside`` in the common dtype, but NaN for NaN."""
    x, y = promote(*tensors_of(a, b))
    return rounding.heaviside(x, y).masked_fill(x != x, float("nan"))


@composite(namespaces=("numpy",), like=floor_divide)
def ldexp(
    x1: Any, x2: Any, /, out: Tensor | None = None, *, where: Any = True, dtype: Any = None
) -> Tensor:
    """``x1 * 2**x2``.

    Args:
        x1: Tensor or array-like.
        x2: Integers.
        out: Tensor for the result.

    Example:
        >>> np.ldexp([1.0, 3.0], 2)
        array([ 4., 12.])
    """
    return _run("ldexp", _ldexp, (x1, x2), out, where, dtype=dtype)  # type: ignore


def _ldexp(a: Any, b: Any) -> Any:
    """``a * 2**b`` in two steps, as ``2**b`` may be out of range although the product is not."""
    x, power = tensors_of(a, b)
    dtype = dtypes.float32 if x.dtype is dtypes.float16 else x.dtype
    half = power.div(2, rounding_mode="trunc")
    for part in (half, power - half):
        x = x.to(dtype) * part.to(dtype).exp2()
    return x


def _make_split(
    name: str, summary: str, compute: Callable[..., Any], *example: str
) -> Callable[..., tuple[Tensor, Tensor]]:
    """Make and register ``frexp`` or ``modf``, which split each element into two results.

    Args:
        name: Name of the ufunc.
        summary: First line of its docstring.
        compute: Function from a tensor to the two results.
        *example: Lines of the docstring's example.
    """

    def function(
        x: Any, /, out: tuple[Tensor, Tensor] | None = None, *, where: Any = True,
        casting: str = "same_kind", order: str = "K", dtype: Any = None, subok: bool = True,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        return _run(name, compute, (x,), out, where, casting, dtype)  # type: ignore

    doc = f"""{summary}

    Args:
        x: Real tensor or array-like.
        out: Tensors for both results.
        where: Mask of the elements to compute; default all.
        casting: The casts that are allowed.
        order, subok: Accepted and ignored.
        dtype: Dtype of the computation; default by NumPy's promotion rules.
    """
    return register_as(function, name, doc, *example)


frexp: Callable[..., tuple[Tensor, Tensor]] = _make_split(
    "frexp", "Fraction, of absolute value from 0.5 to 1, and power of 2 of each element.",
    floating_point.frexp,
    ">>> fraction, exponent = np.frexp([1.0, 6.0])", ">>> fraction", "array([0.5 , 0.75])",
    ">>> exponent", "array([1, 3], dtype=int32)",
)  # fmt: skip
modf: Callable[..., tuple[Tensor, Tensor]] = _make_split(
    "modf", "Fractional and integral part of each element, both with its sign.", elementwise.modf,
    ">>> fraction, whole = np.modf([-1.5, 2.25])", ">>> fraction", "array([-0.5 ,  0.25])",
    ">>> whole", "array([-1.,  2.])",
)  # fmt: skip


@composite(namespaces=("numpy",), like=floor_divide)
def divmod(
    x1: Any, x2: Any, /, out: tuple[Tensor, Tensor] | None = None, *, where: Any = True,
    casting: str = "same_kind", order: str = "K", dtype: Any = None, subok: bool = True,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Quotients rounded down, and remainders.

    Args:
        out: Tensors for both results.

    Example:
        >>> np.divmod([-7, 7], 3)
        (array([-3,  2]), array([2, 1]))
    """
    return _run("divmod", divide_with_remainder, (x1, x2), out, where, casting, dtype)  # type: ignore


@numpy_function
def real(val: Any) -> Tensor:
    """Real part of each element: a view.

    Args:
        val: Tensor or array-like.

    Example:
        >>> np.real([1 + 2j, 3.0])
        array([1., 3.])
    """
    return complex_numbers.real(tensor_of(val))


@numpy_function
def imag(val: Any) -> Tensor:
    """Imaginary part of each element; 0 for real tensors.

    Args:
        val: Tensor or array-like.

    Example:
        >>> np.imag([1 + 2j, 3.0])
        array([2., 0.])
    """
    x = tensor_of(val)
    return complex_numbers.imag(x) if x.is_complex() else factories.zeros_like(x)


@numpy_function
def angle(z: Any, deg: bool = False) -> Tensor:
    """Angle of each complex element, from -pi to pi.

    Args:
        z: Tensor or array-like.
        deg: Whether the result is in degrees.

    Example:
        >>> np.angle([1j, -1], deg=True)
        array([ 90., 180.])
    """
    x = tensor_of(z)
    found: Any = complex_numbers.angle(x) if x.is_complex() else arctan2(0, x)
    return found * (180 / math.pi) if deg else found  # type: ignore[no-any-return]


@numpy_function
def isreal(x: Any) -> Tensor:
    """Whether the imaginary part of each element is 0.

    Args:
        x: Tensor or array-like.

    Example:
        >>> np.isreal([1 + 2j, 3.0])
        array([False,  True])
    """
    return comparison.isreal(tensor_of(x))


@composite(namespaces=("numpy",), aliases=("around",))
def round(a: Any, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """Round each element; halves are rounded to the even digit.

    Args:
        a: Tensor or array-like.
        decimals: Number of digits after the decimal point; a negative number rounds digits
            before it.
        out: Tensor for the result.

    Example:
        >>> np.round([0.5, 1.5, 2.675], 1)
        array([0.5, 1.5, 2.7])
    """
    return write_out(_round(tensor_of(a), decimals), out)  # type: ignore[no-any-return]


def _round(x: Any, decimals: int) -> Any:
    """``round`` of a Tensor: of complex numbers both parts are rounded.

    Bools become float16, as in NumPy, unless ``decimals`` is negative.
    """
    run = rounding.round
    if x.is_complex():
        return complex_numbers.complex(*(run(part, decimals=decimals) for part in (x.real, x.imag)))
    if not is_inexact(x) and decimals >= 0:
        return x.to(dtypes.float16) if x.dtype is dtypes.bool else x.clone()
    if not is_inexact(x):
        return run(x.to(dtypes.float64), decimals=decimals).to(x.dtype)
    return run(x, decimals=decimals)


def _make_elementwise(
    name: str, summary: str, compute: Callable[[Any], Any], *example: str
) -> Callable[..., Tensor]:
    """Make and register an elementwise function that is not a ufunc, such as ``fix``.

    Args:
        name: Name of the function.
        summary: First line of its docstring.
        compute: Function from a tensor to the result.
        *example: Lines of the docstring's example.
    """

    def function(x: Any, out: Tensor | None = None) -> Tensor:
        return write_out(compute(tensor_of(x)), out)  # type: ignore[no-any-return]

    return register_as(
        function,
        name,
        f"""{summary}

    Args:
        x: Tensor or array-like.
        out: Tensor for the result.
    """,
        *example,
    )


fix: Callable[..., Tensor] = _make_elementwise(
    "fix", "Integral part of each element: rounded towards 0.", trunc,
    ">>> np.fix([-1.5, 1.5])", "array([-1.,  1.])",
)  # fmt: skip
isneginf: Callable[..., Tensor] = _make_elementwise(
    "isneginf",
    "Whether each element is minus infinity.",
    lambda x: comparison.isneginf(_check_real("isneginf", x)),
    ">>> np.isneginf([-np.inf, 0.0, np.inf])", "array([ True, False, False])",
)  # fmt: skip
isposinf: Callable[..., Tensor] = _make_elementwise(
    "isposinf",
    "Whether each element is plus infinity.",
    lambda x: comparison.isposinf(_check_real("isposinf", x)),
    ">>> np.isposinf([-np.inf, 0.0, np.inf])", "array([False, False,  True])",
)  # fmt: skip


def _check_real(name: str, x: Any) -> Any:
    """Return ``x``; raise a TypeError in the name of a function if it is complex."""
    if x.is_complex():
        raise TypeError(f"{name}(): complex numbers have no order, got {x.dtype.name}")
    return x


@numpy_function
def sinc(x: Any, /) -> Tensor:
    """``sin(pi * x) / (pi * x)``, and 1 for 0.

    Args:
        x: Tensor or array-like.

    Example:
        >>> np.sinc([0.0, 0.5])
        array([1.        , 0.63661977])
    """
    return trigonometric.sinc(as_float(x))


@numpy_function
def i0(x: Any) -> Tensor:
    """Modified Bessel function of the first kind, of order 0.

    Args:
        x: Tensor or array-like.

    Example:
        >>> np.i0([0.0, 1.0])
        array([1.        , 1.26606588])
    """
    return bessel_functions.i0(as_float(x))


@numpy_function
def real_if_close(a: Any, tol: float = 100) -> Tensor:
    """Real parts of complex numbers if all imaginary parts are close to 0, else the numbers.

    Args:
        a: Tensor or array-like.
        tol: Bound of the imaginary parts: in units of the dtype's precision if above 1, else
            absolute.

    Example:
        >>> np.real_if_close([1.5 + 1e-15j, 2])
        array([1.5, 2. ])
    """
    x = tensor_of(a)
    if not x.is_complex():
        return x  # type: ignore[no-any-return]
    near = tol * dtypes.finfo(x.dtype).eps if tol > 1 else tol
    return x.real if bool((x.imag.abs() < near).all()) else x  # type: ignore[no-any-return]


@numpy_function
def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Tensor:
    """Apply a reduction along several dimensions in turn; they stay, with size 1.

    Args:
        func: Function of a tensor and a dimension.
        a: Tensor or array-like.
        axes: The dimensions.

    Raises:
        ValueError: If ``func`` returns a tensor that lacks more than one dimension, or has more.

    Example:
        >>> np.apply_over_axes(np.sum, [[1, 2], [3, 4]], [0, 1])
        array([[10]])
    """
    x = tensor_of(a)
    for axis in tensor_of(axes).reshape(-1).tolist():
        found, ndim = tensor_of(func(x, axis)), x.ndim
        x = found.unsqueeze(axis % ndim) if found.ndim == ndim - 1 else found
        if x.ndim != ndim:
            raise ValueError("function is not returning an array of the correct shape")
    return x  # type: ignore[no-any-return]
