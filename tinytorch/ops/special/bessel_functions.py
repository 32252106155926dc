"""Bessel functions and the Airy function. Most values are computed by SciPy, or CuPy on a GPU.

The Bessel functions J and Y of orders 0 and 1 are the rational functions of Cephes. Up to 5 they
are quotients of polynomials in x², with the first zeros as factors. Beyond 5 they are a wave whose
amplitude and phase are quotients of polynomials in (5/x)².

Source: S. L. Moshier, Cephes Mathematical Library 2.1 (1989), ``j0.c`` and ``j1.c``. There the
denominators of ``_PHASE``, ``_J`` and ``_Y`` have another leading coefficient of 1, which PyTorch's
functions omit (``aten/src/ATen/native/Math.h``). It is omitted here, too, so that results are equal
to PyTorch's. Their error is less than 1e-6, with the maximum just above 5, less than 2e-8 below 5,
and zero beyond 20.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ...backends.numpy.float_functions import evaluate_polynomial
from ...dispatch.op import Array, Backend, op
from ..checks import apply_special, check_supported, compute_in_single, find_special, is_half

Coefficients = tuple[float, ...]

# fmt: off
_AMPLITUDE_0: tuple[Coefficients, Coefficients] = (
    (7.96936729297347051624e-4, 8.28352392107440799803e-2, 1.23953371646414299388,
     5.44725003058768775090, 8.74716500199817011941, 5.30324038235394892183,
     9.99999999999999997821e-1),
    (9.24408810558863637013e-4, 8.56288474354474431428e-2, 1.25352743901058953537,
     5.47097740330417105182, 8.76190883237069594232, 5.30605288235394617618,
     1.00000000000000000218),
)
_PHASE_0: tuple[Coefficients, Coefficients] = (
    (-1.13663838898469149931e-2, -1.28252718670509318512, -1.95539544257735972385e1,
     -9.32060152123768231369e1, -1.77681167980488050595e2, -1.47077505154951170175e2,
     -5.14105326766599330220e1, -6.05014350600728481186),
    (6.43178256118178023184e1, 8.56430025976980587198e2, 3.88240183605401609683e3,
     7.24046774195652478189e3, 5.93072701187316984827e3, 2.06209331660327847417e3,
     2.42005740240291393179e2),
)
_J0: tuple[Coefficients, Coefficients] = (
    (-4.79443220978201773821e9, 1.95617491946556577543e12, -2.49248344360967716204e14,
     9.70862251047306323952e15),
    (4.99563147152651017219e2, 1.73785401676374683123e5, 4.84409658339962045305e7,
     1.11855537045356834862e10, 2.11277520115489217587e12, 3.10518229857422583814e14,
     3.18121955943204943306e16, 1.71086294081043136091e18),
)
_Y0: tuple[Coefficients, Coefficients] = (
    (1.55924367855235737965e4, -1.46639295903971606143e7, 5.43526477051876500413e9,
     -9.82136065717911466409e11, 8.75906394395366999549e13, -3.46628303384729719441e15,
     4.42733268572569800351e16, -1.84950800436986690637e16),
    (1.04128353664259848412e3, 6.26107330137134956842e5, 2.68919633393814121987e8,
     8.64002487103935000337e10, 2.02979612750105546709e13, 3.17157752842975028269e15,
     2.50596256172653059228e17),
)
_AMPLITUDE_1: tuple[Coefficients, Coefficients] = (
    (7.62125616208173112003e-4, 7.31397056940917570436e-2, 1.12719608129684925192,
     5.11207951146807644818, 8.42404590141772420927, 5.21451598682361504063,
     1.00000000000000000254),
    (5.71323128072548699714e-4, 6.88455908754495404082e-2, 1.10514232634061696926,
     5.07386386128601488557, 8.39985554327604159757, 5.20982848682361821619,
     9.99999999999999997461e-1),
)
_PHASE_1: tuple[Coefficients, Coefficients] = (
    (5.10862594750176621635e-2, 4.98213872951233449420, 7.58238284132545283818e1,
     3.66779609360150777800e2, 7.10856304998926107277e2, 5.97489612400613639965e2,
     2.11688757100572135698e2, 2.52070205858023719784e1),
    (7.42373277035675149943e1, 1.05644886038262816351e3, 4.98641058337653607651e3,
     9.56231892404756170795e3, 7.99704160447350683650e3, 2.82619278517639096600e3,
     3.36093607810698293419e2),
)
_J1: tuple[Coefficients, Coefficients] = (
    (-8.99971225705559398224e8, 4.52228297998194034323e11, -7.27494245221818276015e13,
     3.68295732863852883286e15),
    (6.20836478118054335476e2, 2.56987256757748830383e5, 8.35146791431949253037e7,
     2.21511595479792499675e10, 4.74914122079991414898e12, 7.84369607876235854894e14,
     8.95222336184627338078e16, 5.32278620332680085395e18),
)
_Y1: tuple[Coefficients, Coefficients] = (
    (1.26320474790178026440e9, -6.47355876379160291031e11, 1.14509511541823727583e14,
     -8.12770255501325109621e15, 2.02439475713594898196e17, -7.78877196265950026825e17),
    (5.94301592346128195359e2, 2.35564092943068577943e5, 7.34811944459721705660e7,
     1.87601316108706159478e10, 3.88231277496238566008e12, 6.20557727146953693363e14,
     6.87141087355300489866e16, 3.97270608116560655612e18),
)
# fmt: on


class _Order(NamedTuple):
    """Constants of one order, 0 or 1."""

    shift: float  # phase shift of the wave
    amplitude: tuple[Coefficients, Coefficients]
    phase: tuple[Coefficients, Coefficients]
    near: tuple[Coefficients, Coefficients]
    zeros: tuple[float, float]  # squares of the first two nonzero zeros of J


_ZERO = _Order(
    math.pi / 4, _AMPLITUDE_0, _PHASE_0, _J0, (5.78318596294678452118, 3.04712623436620863991e1)
)
_ONE = _Order(
    math.pi * 3 / 4,
    _AMPLITUDE_1,
    _PHASE_1,
    _J1,
    (1.46819706421238932572e1, 4.92184563216946036703e1),
)


def j0(xp: Any, x: Any) -> Any:
    """Bessel function of the first kind, order 0, for real numbers."""
    x = abs(x)
    return xp.where(x <= 5, _near_j0(xp, x), _large_argument(xp, x, _ZERO)[0])


def _near_j0(xp: Any, x: Any) -> Any:
    """``j0`` for ``0 <= x <= 5``."""
    return xp.where(x < 1e-5, 1 - x * x / 4, _small_argument(xp, x, _ZERO))


def j1(xp: Any, x: Any) -> Any:
    """Bessel function of the first kind, order 1, for real numbers."""
    size = abs(x)
    far = _large_argument(xp, size, _ONE)[0] * xp.sign(x)
    return xp.where(size <= 5, x * _small_argument(xp, x, _ONE), far)


def y0(xp: Any, x: Any) -> Any:
    """Bessel function of the second kind, order 0; -inf at 0, NaN below."""
    near = _quotient(xp, x * x, _Y0) + 2 / math.pi * xp.log(x) * _near_j0(xp, x)
    return xp.where(x <= 5, near, _large_argument(xp, x, _ZERO)[1])


def y1(xp: Any, x: Any) -> Any:
    """Bessel function of the second kind, order 1; -inf at 0, NaN below."""
    first_kind = x * _small_argument(xp, x, _ONE)
    near = x * _quotient(xp, x * x, _Y1) + 2 / math.pi * (first_kind * xp.log(x) - 1 / x)
    near = xp.where(x == 0, -math.inf, near)
    return xp.where(x <= 5, near, _large_argument(xp, x, _ONE)[1])


def _small_argument(xp: Any, x: Any, order: _Order) -> Any:
    """J of order 0, or of order 1 over ``x``, for ``0 <= x <= 5``, by a rational function."""
    square = x * x
    first, second = order.zeros
    return _quotient(xp, square, order.near) * ((square - first) * (square - second))


def _large_argument(xp: Any, x: Any, order: _Order) -> tuple[Any, Any]:
    """J and Y for arguments above 5."""
    near = 5 / x
    square = near * near
    p, q = _quotient(xp, square, order.amplitude), near * _quotient(xp, square, order.phase)
    angle = x - order.shift
    sine, cosine = xp.sin(angle), xp.cos(angle)
    size = math.sqrt(2 / math.pi) / xp.sqrt(x)
    return (p * cosine - q * sine) * size, (p * sine + q * cosine) * size


def _quotient(xp: Any, x: Any, coefficients: tuple[Coefficients, Coefficients]) -> Any:
    """Quotient of two polynomials of ``x``, given by their coefficients."""
    above, below = coefficients
    return evaluate_polynomial(xp, x, above) / evaluate_polynomial(xp, x, below)


SPECIAL = ("special",)


@op(inplace=True, promote="float", namespaces=("", "special"), method=True)
def i0(xp: Backend, input: Array) -> Array:
    """Modified Bessel function of the first kind, order 0.

    Args:
        input: Tensor of any shape; integers are converted to the default dtype.

    Example:
        >>> tt.i0(tt.tensor([0.0, 1.0]))
        tensor([1.0000, 1.2661])
    """
    return _call_scipy(xp, "i0", input)


def _call_scipy(xp: Backend, name: str, x: Array, torch_name: str | None = None) -> Array:
    """Apply SciPy's function ``name``; ``torch_name`` is PyTorch's name if it differs."""
    check_supported(xp, f"{torch_name or name}_cpu", x, unsupported="c")
    return apply_special(xp, name, x, public=torch_name)


def _call_cephes(xp: Backend, name: str, kernel: Any, x: Array) -> Array:
    """Apply ``kernel(xp, x)`` block by block; float16 in float32."""
    check_supported(xp, f"{name}_cpu", x, unsupported="c")
    if is_half(x):
        return compute_in_single(xp, lambda xp, x: kernel(xp, x), x)
    return xp.blockwise(lambda x: kernel(xp, x), x)


i0.vjp(input=lambda xp, g, input: g * xp.call(i1, input))


@op(promote="float", namespaces=SPECIAL, like=i0)
def i0e(xp: Backend, input: Array) -> Array:
    """``exp(-|x|) * i0(x)``, the exponentially scaled form of ``i0``.

    Example:
        >>> tt.special.i0e(tt.tensor([0.0, 1.0]))
        tensor([1.0000, 0.4658])
    """
    return _call_scipy(xp, "i0e", input)


i0e.vjp(input=lambda xp, g, input, out: g * (xp.call(i1e, input) - xp.sign(input) * out))


@op(promote="float", namespaces=SPECIAL, like=i0)
def i1(xp: Backend, input: Array) -> Array:
    """Modified Bessel function of the first kind, order 1.

    Example:
        >>> tt.special.i1(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.5652])
    """
    return _call_scipy(xp, "i1", input)


def _i1_over_x(xp: Any, out: Any, x: Any) -> Any:
    """``i1(x) / x``, with its limit 1/2 at 0."""
    zero = x == 0
    return xp.where(zero, 0.5, out / xp.where(zero, 1, x))


i1.vjp(input=lambda xp, g, input, out: g * (xp.call(i0, input) - _i1_over_x(xp, out, input)))


@op(promote="float", namespaces=SPECIAL, like=i0)
def i1e(xp: Backend, input: Array) -> Array:
    """``exp(-|x|) * i1(x)``, the exponentially scaled form of ``i1``.

    Example:
        >>> tt.special.i1e(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.2079])
    """
    return _call_scipy(xp, "i1e", input)


i1e.vjp(
    input=lambda xp, g, input, out: (
        g * (xp.call(i0e, input) - xp.sign(input) * out - _i1_over_x(xp, out, input))
    )
)


@op(promote="float", namespaces=SPECIAL, like=i0)
def bessel_j0(xp: Backend, input: Array) -> Array:
    """The Bessel function of the first kind, order 0. Not differentiable, as in torch.

    The values are those of torch, whose error reaches 1e-6 where ``abs(input)`` is just above 5.
    SciPy's are accurate to machine precision.

    Example:
        >>> tt.special.bessel_j0(tt.tensor([0.0, 1.0]))
        tensor([1.0000, 0.7652])
    """
    return _call_cephes(xp, "bessel_j0", j0, input)


@op(promote="float", namespaces=SPECIAL, like=i0)
def bessel_j1(xp: Backend, input: Array) -> Array:
    """The Bessel function of the first kind, order 1. Not differentiable, as in torch.

    The values are those of torch, whose error reaches 1e-6 where ``abs(input)`` is just above 5.
    SciPy's are accurate to machine precision.

    Example:
        >>> tt.special.bessel_j1(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.4401])
    """
    return _call_cephes(xp, "bessel_j1", j1, input)


@op(promote="float", namespaces=SPECIAL, like=i0)
def bessel_y0(xp: Backend, input: Array) -> Array:
    """The Bessel function of the second kind, order 0. Not differentiable, as in torch.

    The values are those of torch, whose error reaches 1e-6 where ``abs(input)`` is just above 5.
    SciPy's are accurate to machine precision.

    Example:
        >>> tt.special.bessel_y0(tt.tensor([0.0, 1.0]))
        tensor([  -inf, 0.0883])
    """
    return _call_cephes(xp, "bessel_y0", y0, input)


@op(promote="float", namespaces=SPECIAL, like=i0)
def bessel_y1(xp: Backend, input: Array) -> Array:
    """The Bessel function of the second kind, order 1. Not differentiable, as in torch.

    The values are those of torch, whose error reaches 1e-6 where ``abs(input)`` is just above 5.
    SciPy's are accurate to machine precision.

    Example:
        >>> tt.special.bessel_y1(tt.tensor([0.0, 1.0]))
        tensor([   -inf, -0.7812])
    """
    return _call_cephes(xp, "bessel_y1", y1, input)


@op(promote="float", namespaces=SPECIAL, like=i0)
def modified_bessel_i0(xp: Backend, input: Array) -> Array:
    """``i0`` without a gradient, as in torch.

    Example:
        >>> tt.special.modified_bessel_i0(tt.tensor([0.0, 1.0]))
        tensor([1.0000, 1.2661])
    """
    return _call_scipy(xp, "i0", input, "modified_bessel_i0")


@op(promote="float", namespaces=SPECIAL, like=i0)
def modified_bessel_i1(xp: Backend, input: Array) -> Array:
    """``i1`` without a gradient, as in torch.

    Example:
        >>> tt.special.modified_bessel_i1(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.5652])
    """
    return _call_scipy(xp, "i1", input, "modified_bessel_i1")


@op(promote="float", namespaces=SPECIAL, like=i0)
def modified_bessel_k0(xp: Backend, input: Array) -> Array:
    """The modified Bessel function of the second kind, order 0. Not differentiable.

    Raises:
        ImportError: If SciPy is not installed.

    Example:
        >>> tt.special.modified_bessel_k0(tt.tensor([0.0, 1.0]))
        tensor([   inf, 0.4210])
    """
    return _call_scipy(xp, "k0", input, "modified_bessel_k0")


@op(promote="float", namespaces=SPECIAL, like=i0)
def modified_bessel_k1(xp: Backend, input: Array) -> Array:
    """The modified Bessel function of the second kind, order 1. Not differentiable.

    Raises:
        ImportError: If SciPy is not installed.

    Example:
        >>> tt.special.modified_bessel_k1(tt.tensor([0.0, 1.0]))
        tensor([   inf, 0.6019])
    """
    return _call_scipy(xp, "k1", input, "modified_bessel_k1")


@op(promote="float", namespaces=SPECIAL)
def scaled_modified_bessel_k0(xp: Backend, x: Array) -> Array:
    """``exp(x) * modified_bessel_k0(x)``. Not differentiable.

    Args:
        x: Tensor of any shape; integers are converted to the default dtype.

    Raises:
        ImportError: If SciPy is not installed.

    Example:
        >>> tt.special.scaled_modified_bessel_k0(tt.tensor([1.0]))
        tensor([1.1445])
    """
    return _call_scipy(xp, "k0e", x, "scaled_modified_bessel_k0")


@op(promote="float", namespaces=SPECIAL, like=scaled_modified_bessel_k0)
def scaled_modified_bessel_k1(xp: Backend, x: Array) -> Array:
    """``exp(x) * modified_bessel_k1(x)``. Not differentiable.

    Example:
        >>> tt.special.scaled_modified_bessel_k1(tt.tensor([1.0]))
        tensor([1.6362])
    """
    return _call_scipy(xp, "k1e", x, "scaled_modified_bessel_k1")


@op(promote="float", namespaces=SPECIAL, like=scaled_modified_bessel_k0)
def spherical_bessel_j0(xp: Backend, x: Array) -> Array:
    """``sin(x) / x``, with 1 at 0. Not differentiable, as in torch.

    Raises:
        NotImplementedError: For complex tensors.

    Example:
        >>> tt.special.spherical_bessel_j0(tt.tensor([0.0, 1.0]))
        tensor([1.0000, 0.8415])
    """
    check_supported(xp, "spherical_bessel_j0_cpu", x, unsupported="c")
    found = xp.where(xp.isinf(x), 0, xp.sin(x) / x)
    return xp.where(x == xp.number(x.dtype)(0), 1, found)


@op(promote="float", namespaces=SPECIAL, like=scaled_modified_bessel_k0)
def airy_ai(xp: Backend, x: Array) -> Array:
    """The Airy function Ai. Not differentiable, as in torch.

    Raises:
        ImportError: If SciPy is not installed.
        NotImplementedError: On CuPy, which does not have it.

    Example:
        >>> tt.special.airy_ai(tt.tensor([0.0, 1.0]))
        tensor([0.3550, 0.1353])
    """
    check_supported(xp, "airy_ai_cpu", x, unsupported="c")
    # Beyond 110 the values underflow in all dtypes, and SciPy returns NaN.
    airy = find_special(xp, "airy", "airy_ai")
    small = xp.minimum(x, 110)
    found = xp.where(x > 110, 0, xp.astype(airy(small)[0], x.dtype))
    # Below -10^6 the first term of the asymptotic series suffices, and SciPy soon returns NaN. The
    # phase is so large that it requires float64.
    far = x < -1e6
    z = xp.where(far, -xp.astype(x, "float64"), 1.0)
    wave = xp.sin(z**1.5 * (2 / 3) + math.pi / 4) / (math.sqrt(math.pi) * z**0.25)
    return xp.where(far, xp.astype(wave, x.dtype), found)
