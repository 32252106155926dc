"""Calls of the functions that NumPy and PyTorch both have, in NumPy's words: elementwise ones."""

from __future__ import annotations

from tests.calls import Call

#: Elementwise functions of one operand, and on which data.
UNARY: list[tuple[Call, str]] = [
    (
        lambda named, v: named(v),
        "abs absolute ceil conj cos cosh deg2rad exp exp2 expm1 fix floor isfinite isinf "
        "isnan isneginf isposinf isreal negative positive rad2deg real reciprocal sign "
        "signbit sin sinc sinh square tan tanh trunc arcsinh arctan asinh atan i0",
    ),
    (lambda named, u: named(u), "acos asin atanh arccos arcsin arctanh log log10 log1p log2 sqrt"),
    (lambda named, s: named(s), "acosh arccosh"),
    (lambda named, i: named(i), "bitwise_not bitwise_invert bitwise_count invert"),
    (lambda named, b: named(b), "logical_not"),
    (lambda named, c: named(c), "angle imag"),
]
#: Elementwise functions of two operands.
BINARY: list[tuple[Call, str]] = [
    (
        lambda named, v, s: named(v, s),
        "add arctan2 atan2 copysign divide equal floor_divide fmax fmin fmod greater "
        "greater_equal hypot less less_equal logaddexp logaddexp2 logical_and logical_or "
        "logical_xor maximum minimum multiply nextafter not_equal remainder subtract "
        "true_divide float_power heaviside",
    ),
    (lambda named, v, s: named(s, v), "pow power mod"),
    (
        lambda named, i, j: named(i, j),
        "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift gcd "
        "lcm left_shift right_shift",
    ),
    (lambda named, v, i: named(v, i), "ldexp"),
]

#: What else there is to say of them.
ELEMENTWISE: list[Call] = [
    lambda lib, c: lib.abs(c),
    lambda lib: lib.abs(-3),
    lambda lib: lib.abs([1, -2]),
    lambda lib, v: lib.add(v, 1.5),
    lambda lib, i: lib.add(2, i),
    lambda lib: lib.add([1, 2], 3.5),
    lambda lib, f, i: lib.add(f, i),
    lambda lib, h: lib.add(h, h),
    lambda lib: lib.exp(1),
    lambda lib: lib.exp([0, 1]),
    lambda lib, f: lib.exp(f),
    lambda lib, h: lib.exp(h),
    lambda lib: lib.sqrt(4),
    lambda lib, i: lib.sqrt(i),
    lambda lib, h: lib.sqrt(h),
    lambda lib: lib.sin(0.5),
    lambda lib, v: lib.sin(v, dtype="float32"),
    lambda lib, i: lib.negative(i),
    lambda lib, i: lib.reciprocal(i),
    lambda lib, n: lib.sign(n),
    lambda lib, i: lib.sign(i),
    lambda lib, i: lib.square(i),
    lambda lib: lib.rint([0.5, 1.5]),
    lambda lib, i: lib.floor(i),
    lambda lib: lib.floor([1.5]),
    lambda lib, i, j: lib.divide(i, j),
    lambda lib, v: lib.divide(1, v),
    lambda lib, h: lib.divide(h, h),
    lambda lib, v: lib.maximum(v, 1.5),
    lambda lib, v: lib.maximum(1.5, v),
    lambda lib, f: lib.maximum(f, 0.1),
    lambda lib, v4, n: lib.maximum(n, v4),
    lambda lib, m: lib.minimum(m, 1),
    lambda lib, f, i: lib.minimum(f, i),
    lambda lib, v: lib.fmax(v, 1.5),
    lambda lib, n: lib.fmax(n, 0),
    lambda lib, v: lib.fmin(v, 1.5),
    lambda lib, v: lib.fmod(v, 2),
    lambda lib: lib.hypot(3.0, 4),
    lambda lib, v: lib.hypot(v, 1),
    lambda lib, v: lib.arctan2(v, 1),
    lambda lib, i, j: lib.arctan2(i, j),
    lambda lib, v: lib.atan2(1, v),
    lambda lib, v: lib.logaddexp(v, 1),
    lambda lib, v: lib.copysign(v, -1),
    lambda lib, v: lib.heaviside(v, 0.5),
    lambda lib, i: lib.heaviside(i, 1),
    lambda lib, i: lib.power(i, 2),
    lambda lib, v: lib.power(v, 2),
    lambda lib, v: lib.power(2, v),
    lambda lib, s: lib.pow(s, 0.5),
    lambda lib: lib.remainder(-3, 2),
    lambda lib, i: lib.remainder(i, 2),
    lambda lib, v: lib.floor_divide(v, 2),
    lambda lib, i: lib.floor_divide(i, 2),
    lambda lib, v: lib.nextafter(v, 0),
    lambda lib: lib.gcd(12, 8),
    lambda lib, i: lib.lcm(i, 6),
    lambda lib, b: lib.logical_and(b, True),
    lambda lib, v: lib.logical_and(v, 0),
    lambda lib, m: lib.equal(m, m.T.T),
    lambda lib, v: lib.ldexp(v, 2),
    lambda lib, v: lib.subtract(3, v),
    lambda lib: lib.multiply(2, 3),
    lambda lib, v, c: lib.multiply(c, v),
    lambda lib, nan: lib.isnan([1, nan]),
    lambda lib, c: lib.angle(c, deg=True),
    lambda lib, v: lib.angle(v),
    lambda lib, v: lib.imag(v),
    lambda lib, c: lib.real(c),
    lambda lib: lib.real([1 + 2j]),
    lambda lib, c: lib.conj(c),
    lambda lib, b: lib.bitwise_not(b),
    lambda lib, i: lib.float_power(i, 2),
    lambda lib, i: lib.true_divide(i, 2),
    lambda lib: lib.i0(2),
]
