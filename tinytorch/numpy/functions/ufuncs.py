"""NumPy's elementwise functions: ``out=``, ``where=``, ``dtype=`` and its rules of promotion.

NumPy's own functions determine the dtypes of the computation, and which casts are allowed.
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
    comparison,
    complex_numbers,
    division,
    floating_point,
    rounding,
    trigonometric,
)
from ...ops.pointwise.selection import where as where_
from ...ops.special import bessel_functions
from . import elementwise
from .conversion import (
    as_dtype,
    as_float,
    backend_of,
    host,
    is_number,
    promote,
    tensor_of,
    tensors_of,
    write_out,
)
from .elementwise import (
    BINARY,
    COMPLEX_FORMULAS,
    REAL_FORMULAS,
    UNARY,
    UfuncDef,
    divide_or_zero,
    divide_with_remainder,
)
from .registration import numpy_function, register_as

#: Bools that these have nothing to do for, though PyTorch's refuse them.
_WHOLE = ("abs", "ceil", "floor", "trunc")


@functools.cache
def _loop(name: str, kinds: tuple[Any, ...], dtype: Any, casting: str) -> tuple[Any, ...]:
    """The dtypes of operands and results, of which some may be given.

    Args:
        name: NumPy's function.
        kinds: Of each operand its dtype or, for a number, its type; of each ``out`` its dtype.
        dtype: Of the results, as the caller asks for it.
        casting: Which casts are allowed.

    Raises:
        TypeError: If NumPy's function does not take them.
    """
    function = getattr(host(), name)
    given: dict[str, Any] = {"casting": casting}
    if dtype is not None:
        given["signature"] = (None,) * function.nin + (dtype,) * function.nout
    found: tuple[Any, ...] = function.resolve_dtypes(kinds, **given)
    return found


def _alike(values: tuple[Any, ...]) -> bool:
    """Whether all operands are tensors of one floating-point dtype: nothing is to be done."""
    known: Any = None
    for value in values:
        if not isinstance(value, Tensor):
            return False
        dtype = value._data.dtype
        # To NumPy None is float64, so the two are told apart by identity.
        if dtype.kind != "f" or (known is not None and dtype != known):
            return False
        known = dtype
    return True


def _kind(value: Any) -> Any:
    """What NumPy's promotion asks of an operand; Python's numbers but bools are weak."""
    if isinstance(value, Tensor):
        return value._data.dtype
    return host().dtype(bool) if isinstance(value, bool) else type(value)


def _operands(values: tuple[Any, ...]) -> list[Any]:
    """Tensors of one backend, with Python's numbers as they are beside them."""
    backend = backend_of(*values)
    plain = [is_number(v) for v in values]
    if all(plain):
        plain = [False] * len(values)
    return [v if p else tensor_of(v, backend) for v, p in zip(values, plain, strict=True)]


def _converted(value: Any, kind: Any, beside: Any) -> Any:
    """An operand in the dtype of the computation; a number may stay one beside a tensor."""
    if isinstance(value, Tensor):
        native: Any = value
        return native if native._data.dtype == kind else native.to(dtypes.from_name(kind.name))
    number = kind.type(value).item()
    if beside._data.dtype == kind and kind.kind != "b":
        return number
    return beside.new_full((), number, dtype=dtypes.from_name(kind.name))


def _outs(out: Any, count: int) -> tuple[Any, ...]:
    """Where each result goes, or None."""
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
    """What ``function`` gives for operands in the dtypes that NumPy's ``name`` computes in."""
    count = getattr(host(), name).nout
    outs = _outs(out, count)
    given = _operands(values)
    kinds = (*map(_kind, given), *(None if o is None else o._data.dtype for o in outs))
    wanted = None if dtype is None else as_dtype(dtype).dtype
    loop = _loop(name, kinds, wanted, casting)
    tensor = next(v for v in given if isinstance(v, Tensor))
    try:
        operands = [_converted(v, d, tensor) for v, d in zip(given, loop, strict=False)]
    except OverflowError:
        if name not in _ORDERS:
            raise
        results = _beyond(name, given)
    else:
        results = _computed(name, function, operands, loop[0].kind, tensor)
    made = results if count > 1 else (results,)
    rest = zip(made, outs, loop[len(given) :], strict=True)
    done = tuple(_placed(r, o, d, where) for r, o, d in rest)
    return done if count > 1 else done[0]


def _computed(name: str, function: Any, operands: list[Any], kind: str, tensor: Any) -> Any:
    if kind == "b" and getattr(function, "__name__", "") in _WHOLE:
        return operands[0].clone()
    if getattr(function, "op", None) is not None and function.op.strict and len(operands) == 2:
        operands = [v if isinstance(v, Tensor) else tensor.new_full((), v) for v in operands]
    if kind == "c" and name in COMPLEX_FORMULAS:
        return COMPLEX_FORMULAS[name](function, *operands)
    if kind == "f" and name in REAL_FORMULAS:
        return REAL_FORMULAS[name](function, *operands)
    if kind not in "iu":
        return function(*operands)
    if name in _ORDERS and len({v.dtype for v in operands if isinstance(v, Tensor)}) > 1:
        return _by_sign(name, function, *operands)
    own = _OF_INTEGERS.get(name)
    return function(*operands) if own is None else own(function, *operands)


def _placed(result: Any, out: Any, kind: Any, where: Any) -> Any:
    """A result in its dtype, where it was wanted, in the place that ``out=`` names."""
    wanted = dtypes.from_name(kind.name) if out is None else out.dtype
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


# -- what integers alone need --------------------------------------------------------------------

_ORDERS = ("equal", "greater", "greater_equal", "less", "less_equal", "not_equal")


def _beyond(name: str, given: list[Any]) -> Any:
    """How integers compare with a number that their dtype does not hold: all of them alike."""
    tensor = next(v for v in given if isinstance(v, Tensor))
    anyone = tensor._data.dtype.type(0)
    answer = getattr(host(), name)(*(anyone if isinstance(v, Tensor) else v for v in given))
    return tensor.new_full(tuple(tensor.shape), bool(answer), dtype=dtypes.bool)


def _by_sign(name: str, function: Any, a: Any, b: Any) -> Any:
    """How integers with a sign compare with those of 64 bits without, which no dtype joins."""
    signed, below = (a, (-1, 0)) if a._data.dtype.kind == "i" else (b, (0, -1))
    negative = signed < 0
    rest = signed.masked_fill(negative, 0).to(dtypes.uint64)
    found = function(rest, b) if signed is a else function(a, rest)
    return where_(negative, bool(getattr(host(), name)(*below)), found)


def _raised(function: Any, a: Any, b: Any) -> Any:
    text = "Integers to negative integer powers are not allowed."
    if isinstance(b, Tensor):
        b._xp.check_all(b._data >= 0, text)
    elif b < 0:
        raise ValueError(text)
    return function(a, b)


def _inverted(function: Any, a: Any) -> Any:
    return a.new_ones(()).div(a, rounding_mode="trunc")


_OF_INTEGERS: dict[str, Callable[..., Any]] = {
    "reciprocal": _inverted, "power": _raised, "pow": _raised,
    **dict.fromkeys(("floor_divide", "fmod", "mod", "remainder"), divide_or_zero),
}  # fmt: skip


# -- the functions -------------------------------------------------------------------------------


def _one(name: str, row: UfuncDef) -> Callable[..., Any]:
    def function(
        x: Any, /, out: Tensor | None = None, *, where: Any = True, casting: str = "same_kind",
        order: str = "K", dtype: Any = None, subok: bool = True,
    ) -> Tensor:  # fmt: skip
        run = row.compute
        plain = out is None and where is True and dtype is None and name not in REAL_FORMULAS
        if plain and _alike((x,)):
            return run(x)  # type: ignore[no-any-return]
        return _run(name, run, (x,), out, where, casting, dtype)  # type: ignore[no-any-return]

    return _file(function, name, row, "x")


def _two(name: str, row: UfuncDef) -> Callable[..., Any]:
    wide = name == "float_power"

    def function(
        x1: Any, x2: Any, /, out: Tensor | None = None, *, where: Any = True,
        casting: str = "same_kind", order: str = "K", dtype: Any = None, subok: bool = True,
    ) -> Tensor:  # fmt: skip
        run = row.compute
        plain = out is None and where is True and dtype is None and not wide
        if plain and _alike((x1, x2)):
            return run(x1, x2)  # type: ignore[no-any-return]
        return _run(name, run, (x1, x2), out, where, casting, dtype)  # type: ignore

    return _file(function, name, row, "x1", "x2")


_OPTIONS = """\
        out: Where to write the result.
        where: Where to compute; elsewhere is what ``out`` holds, or zero.
        casting: Which casts are allowed: ``"no"``, ``"equiv"``, ``"safe"``, ``"same_kind"``
            (default) or ``"unsafe"``.
        order: Accepted; the result is in row-major order.
        dtype: What to compute in; default by NumPy's rules of promotion.
        subok: Accepted.
"""


def _file(function: Any, name: str, row: UfuncDef, *operands: str) -> Callable[..., Any]:
    listed = "".join(f"        {x}: Array, or what makes one.\n" for x in operands)
    doc = f"{row.summary}\n\n    Args:\n{listed}{_OPTIONS}    "
    return register_as(function, name, doc, f">>> np.{name}({row.operands})", row.shown)  # type: ignore[no-any-return]


_BY_NAME: dict[str, Any] = {name: _one(name, row) for name, row in UNARY.items()}
_BY_NAME |= {name: _two(name, row) for name, row in BINARY.items()}

# Those that other functions call.
add, divide, multiply, power = map(_BY_NAME.__getitem__, ("add", "divide", "multiply", "power"))
maximum, minimum, trunc = map(_BY_NAME.__getitem__, ("maximum", "minimum", "trunc"))
arccos, arcsin, arctan2, arctanh = map(
    _BY_NAME.__getitem__, ("arccos", "arcsin", "arctan2", "arctanh")
)
log, log2, log10, sqrt = map(_BY_NAME.__getitem__, ("log", "log2", "log10", "sqrt"))


@numpy_function
def floor_divide(
    x1: Any, x2: Any, /, out: Tensor | None = None, *, where: Any = True,
    casting: str = "same_kind", order: str = "K", dtype: Any = None, subok: bool = True,
) -> Tensor:  # fmt: skip
    """The quotient, rounded down; of infinities what the array API standard says.

    Args:
        x1: Dividends.
        x2: Divisors.
        out: Where to write the result.
        where: Where to compute; elsewhere is what ``out`` holds, or zero.
        casting: Which casts are allowed.
        order: Accepted; the result is in row-major order.
        dtype: What to compute in; default by NumPy's rules of promotion.
        subok: Accepted.

    Example:
        >>> np.floor_divide([7, -7], 2), np.floor_divide(np.inf, 2.0)
        (array([ 3, -4]), inf)

    Reference: https://data-apis.org/array-api/latest/API_specification
    """
    return _run("floor_divide", _floored, (x1, x2), out, where, casting, dtype)  # type: ignore


def _floored(a: Any, b: Any) -> Any:
    found = division.floor_divide(a, b)
    if found.dtype.category < 2:
        return found
    exact = division.div(a, b)
    infinite = comparison.isinf
    unbounded = exact.isinf() | (infinite(tensor_of(b, found._xp)) & (exact == 0))
    return where_(unbounded, exact, found)


@numpy_function
def heaviside(
    x1: Any, x2: Any, /, out: Tensor | None = None, *, where: Any = True, dtype: Any = None
) -> Tensor:
    """0 below zero, 1 above, the second operand at zero; NaN of NaN.

    Args:
        x1: Tensor, or what makes one.
        x2: Tensor, or what makes one.
        out: Where to write the result.
        where: Where to compute; elsewhere is what ``out`` holds, or zero.
        dtype: What to compute in; default by NumPy's rules of promotion.

    Example:
        >>> np.heaviside([-1.5, 0.0, 2.0], 0.5)
        array([0. , 0.5, 1. ])
    """
    return _run("heaviside", _step, (x1, x2), out, where, dtype=dtype)  # type: ignore


def _step(a: Any, b: Any) -> Any:
    x, y = promote(*tensors_of(a, b))
    return rounding.heaviside(x, y).masked_fill(x != x, float("nan"))


@numpy_function
def ldexp(
    x1: Any, x2: Any, /, out: Tensor | None = None, *, where: Any = True, dtype: Any = None
) -> Tensor:
    """``x1`` times 2 to the power of ``x2``.

    Args:
        x1: Tensor, or what makes one.
        x2: Integers.
        out: Where to write the result.
        where: Where to compute; elsewhere is what ``out`` holds, or zero.
        dtype: What to compute in; default by NumPy's rules of promotion.

    Example:
        >>> np.ldexp([1.0, 3.0], 2)
        array([ 4., 12.])
    """
    return _run("ldexp", _scaled, (x1, x2), out, where, dtype=dtype)  # type: ignore


def _scaled(a: Any, b: Any) -> Any:
    """In two steps, for a power alone may be out of range where the product is not."""
    x, power = tensors_of(a, b)
    kind = dtypes.float32 if x.dtype is dtypes.float16 else x.dtype
    half = power.div(2, rounding_mode="trunc")
    for part in (half, power - half):
        x = x.to(kind) * part.to(kind).exp2()
    return x


@numpy_function
def frexp(
    x: Any, /, out: tuple[Tensor, Tensor] | None = None, *, where: Any = True,
    casting: str = "same_kind", order: str = "K", dtype: Any = None, subok: bool = True,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Each element as a fraction of size 0.5 to 1 and a power of 2.

    Args:
        x: Tensor, or what makes one.
        out: Where to write both.
        where: Which elements to compute; default all.
        casting: Which casts are allowed.
        order: Accepted.
        dtype: What to compute in; default by NumPy's rules of promotion.
        subok: Accepted.

    Returns:
        The fractions and the exponents.

    Example:
        >>> fraction, exponent = np.frexp([1.0, 6.0])
        >>> fraction
        array([0.5 , 0.75])
        >>> exponent
        array([1, 3], dtype=int32)
    """
    return _run("frexp", floating_point.frexp, (x,), out, where, casting, dtype)  # type: ignore


@numpy_function
def divmod(
    x1: Any, x2: Any, /, out: tuple[Tensor, Tensor] | None = None, *, where: Any = True,
    casting: str = "same_kind", order: str = "K", dtype: Any = None, subok: bool = True,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Quotients rounded down, and what remains.

    Args:
        x1: Dividends.
        x2: Divisors.
        out: Where to write both.
        where: Which elements to compute; default all.
        casting: Which casts are allowed.
        order: Accepted.
        dtype: What to compute in; default by NumPy's rules of promotion.
        subok: Accepted.

    Example:
        >>> np.divmod([-7, 7], 3)
        (array([-3,  2]), array([2, 1]))
    """
    return _run("divmod", divide_with_remainder, (x1, x2), out, where, casting, dtype)  # type: ignore


@numpy_function
def modf(
    x: Any, /, out: tuple[Tensor, Tensor] | None = None, *, where: Any = True,
    casting: str = "same_kind", order: str = "K", dtype: Any = None, subok: bool = True,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The fractional and the integral part of each element, both with its sign.

    Args:
        x: Real tensor, or what makes one.
        out: Where to write both.
        where: Which elements to compute; default all.
        casting: Which casts are allowed.
        order: Accepted.
        dtype: What to compute in; default by NumPy's rules of promotion.
        subok: Accepted.

    Example:
        >>> fraction, whole = np.modf([-1.5, 2.25])
        >>> fraction
        array([-0.5 ,  0.25])
        >>> whole
        array([-1.,  2.])
    """
    return _run("modf", elementwise.modf, (x,), out, where, casting, dtype)  # type: ignore


@numpy_function
def real(val: Any) -> Tensor:
    """The real part of each element: a view.

    Args:
        val: Tensor, or what makes one.

    Example:
        >>> np.real([1 + 2j, 3.0])
        array([1., 3.])
    """
    return complex_numbers.real(tensor_of(val))


@numpy_function
def imag(val: Any) -> Tensor:
    """The imaginary part of each element; zeros for real ones.

    Args:
        val: Tensor, or what makes one.

    Example:
        >>> np.imag([1 + 2j, 3.0])
        array([2., 0.])
    """
    x = tensor_of(val)
    return complex_numbers.imag(x) if x.is_complex() else factories.zeros_like(x)


@numpy_function
def angle(z: Any, deg: bool = False) -> Tensor:
    """The angle of each complex element, from -pi to pi.

    Args:
        z: Tensor, or what makes one.
        deg: Whether in degrees.

    Example:
        >>> np.angle([1j, -1], deg=True)
        array([ 90., 180.])
    """
    x = tensor_of(z)
    found: Any = complex_numbers.angle(x) if x.is_complex() else arctan2(0, x)
    return found * (180 / math.pi) if deg else found  # type: ignore[no-any-return]


@numpy_function
def isreal(x: Any) -> Tensor:
    """Whether each element has no imaginary part.

    Args:
        x: Tensor, or what makes one.

    Example:
        >>> np.isreal([1 + 2j, 3.0])
        array([False,  True])
    """
    return comparison.isreal(tensor_of(x))


@composite(namespaces=("numpy",), aliases=("around",))
def round(a: Any, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """Each element rounded, halves to the even digit.

    Args:
        a: Tensor, or what makes one.
        decimals: How many digits after the point to keep; negative ones are before it.
        out: Where to write the result.

    Example:
        >>> np.round([0.5, 1.5, 2.675], 1)
        array([0.5, 1.5, 2.7])
    """
    return write_out(_rounded(tensor_of(a), decimals), out)  # type: ignore[no-any-return]


def _rounded(x: Any, decimals: int) -> Any:
    run = rounding.round
    if x.is_complex():
        return complex_numbers.complex(*(run(part, decimals=decimals) for part in (x.real, x.imag)))
    if x.dtype.category < 2 and decimals >= 0:
        return x.to(dtypes.float16) if x.dtype is dtypes.bool else x.clone()
    if x.dtype.category < 2:
        return run(x.to(dtypes.float64), decimals=decimals).to(x.dtype)
    return run(x, decimals=decimals)


def _elementwise(
    name: str, summary: str, compute: Callable[[Any], Any], *example: str
) -> Callable[..., Tensor]:
    """A function of one operand that has ``out=`` and no more: it is no ufunc of NumPy's."""

    def function(x: Any, out: Tensor | None = None) -> Tensor:
        return write_out(compute(tensor_of(x)), out)  # type: ignore[no-any-return]

    return register_as(
        function,
        name,
        f"""{summary}

    Args:
        x: Tensor, or what makes one.
        out: Where to write the result.
    """,
        *example,
    )


fix: Callable[..., Tensor] = _elementwise(
    "fix", "Each element without its fractional part.", trunc,
    ">>> np.fix([-1.5, 1.5])", "array([-1.,  1.])",
)  # fmt: skip
isneginf: Callable[..., Tensor] = _elementwise(
    "isneginf",
    "Whether each element is minus infinity.",
    lambda x: comparison.isneginf(_real("isneginf", x)),
    ">>> np.isneginf([-np.inf, 0.0, np.inf])", "array([ True, False, False])",
)  # fmt: skip
isposinf: Callable[..., Tensor] = _elementwise(
    "isposinf",
    "Whether each element is plus infinity.",
    lambda x: comparison.isposinf(_real("isposinf", x)),
    ">>> np.isposinf([-np.inf, 0.0, np.inf])", "array([False, False,  True])",
)  # fmt: skip


def _real(name: str, x: Any) -> Any:
    if x.is_complex():
        raise TypeError(f"{name}(): complex numbers have no order, got {x.dtype.name}")
    return x


@numpy_function
def sinc(x: Any, /) -> Tensor:
    """``sin(pi x) / (pi x)``.

    Args:
        x: Tensor, or what makes one.

    Example:
        >>> np.sinc([0.0, 0.5])
        array([1.        , 0.63661977])
    """
    return trigonometric.sinc(as_float(x))


@numpy_function
def i0(x: Any) -> Tensor:
    """The modified Bessel function of the first kind, of order 0.

    Args:
        x: Tensor, or what makes one.

    Example:
        >>> np.i0([0.0, 1.0])
        array([1.        , 1.26606588])
    """
    return bessel_functions.i0(as_float(x))


@numpy_function
def real_if_close(a: Any, tol: float = 100) -> Tensor:
    """The real parts of complex numbers if all imaginary ones are nearly zero.

    Args:
        a: Tensor, or what makes one.
        tol: How far from zero: in units of the dtype's precision if above 1, else as it is.

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
    """A reduction along several dimensions, one after the other; they stay, with size 1.

    Args:
        func: Called with the tensor and a dimension.
        a: Tensor, or what makes one.
        axes: The dimensions.

    Raises:
        ValueError: If ``func`` does not give a tensor of as many dimensions, or of one less.

    Example:
        >>> np.apply_over_axes(np.sum, [[1, 2], [3, 4]], [0, 1])
        array([[10]])
    """
    x = tensor_of(a)
    for axis in tensor_of(axes).reshape(-1).tolist():
        found, wanted = tensor_of(func(x, axis)), x.ndim
        x = found.unsqueeze(axis % wanted) if found.ndim == wanted - 1 else found
        if x.ndim != wanted:
            raise ValueError("function is not returning an array of the correct shape")
    return x  # type: ignore[no-any-return]


# -- dtypes ---------------------------------------------------------------------------------------
