"""Bessel functions and Airy's. Most numbers come from SciPy, or on a GPU from CuPy."""

from __future__ import annotations

import math
from typing import Any

from ...dispatch.op import Array, Backend, op
from ..checks import find_special, in_single, is_half, refuse, special
from . import bessel_quotients

SPECIAL = ("special",)


@op(inplace=True, promote="float", namespaces=("", "special"), method=True)
def i0(xp: Backend, input: Array) -> Array:
    """The modified Bessel function of the first kind, order 0.

    Args:
        input: Tensor of any shape; integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.i0(tt.tensor([0.0, 1.0]))
        tensor([1.0000, 1.2661])
    """
    return _of_scipy(xp, "i0", input)


def _of_scipy(xp: Backend, name: str, x: Array, torch_name: str | None = None) -> Array:
    refuse(xp, f"{torch_name or name}_cpu", "c", x)
    return special(xp, name, x, public=torch_name)


def _of_cephes(xp: Backend, name: str, kernel: Any, x: Array) -> Array:
    refuse(xp, f"{name}_cpu", "c", x)
    if is_half(x):
        return in_single(xp, lambda xp, x: kernel(xp, x), x)
    return xp.blockwise(lambda x: kernel(xp, x), x)


i0.vjp(input=lambda xp, g, input: g * xp.call(i1, input))


@op(promote="float", namespaces=SPECIAL)
def i0e(xp: Backend, input: Array) -> Array:
    """``exp(-|x|) * i0(x)``.

    Args:
        input: Tensor of any shape; integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.i0e(tt.tensor([0.0, 1.0]))
        tensor([1.0000, 0.4658])
    """
    return _of_scipy(xp, "i0e", input)


i0e.vjp(input=lambda xp, g, input, out: g * (xp.call(i1e, input) - xp.sign(input) * out))


@op(promote="float", namespaces=SPECIAL)
def i1(xp: Backend, input: Array) -> Array:
    """The modified Bessel function of the first kind, order 1.

    Args:
        input: Tensor of any shape; integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.i1(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.5652])
    """
    return _of_scipy(xp, "i1", input)


def _over(xp: Any, out: Any, x: Any) -> Any:
    """``i1(x) / x``, which tends to 1/2 at 0."""
    zero = x == 0
    return xp.where(zero, 0.5, out / xp.where(zero, 1, x))


i1.vjp(input=lambda xp, g, input, out: g * (xp.call(i0, input) - _over(xp, out, input)))


@op(promote="float", namespaces=SPECIAL)
def i1e(xp: Backend, input: Array) -> Array:
    """``exp(-|x|) * i1(x)``.

    Args:
        input: Tensor of any shape; integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.i1e(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.2079])
    """
    return _of_scipy(xp, "i1e", input)


i1e.vjp(
    input=lambda xp, g, input, out: (
        g * (xp.call(i0e, input) - xp.sign(input) * out - _over(xp, out, input))
    )
)


@op(promote="float", namespaces=SPECIAL)
def bessel_j0(xp: Backend, input: Array) -> Array:
    """The Bessel function of the first kind, order 0. Not differentiable, as in torch.

    The numbers are torch's, whose error reaches 1e-6 where ``abs(input)`` is a little above 5;
    SciPy's are right to the last digits.

    Args:
        input: Tensor of any shape; integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.bessel_j0(tt.tensor([0.0, 1.0]))
        tensor([1.0000, 0.7652])
    """
    return _of_cephes(xp, "bessel_j0", bessel_quotients.j0, input)


@op(promote="float", namespaces=SPECIAL)
def bessel_j1(xp: Backend, input: Array) -> Array:
    """The Bessel function of the first kind, order 1. Not differentiable, as in torch.

    The numbers are torch's, whose error reaches 1e-6 where ``abs(input)`` is a little above 5;
    SciPy's are right to the last digits.

    Args:
        input: Tensor of any shape; integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.bessel_j1(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.4401])
    """
    return _of_cephes(xp, "bessel_j1", bessel_quotients.j1, input)


@op(promote="float", namespaces=SPECIAL)
def bessel_y0(xp: Backend, input: Array) -> Array:
    """The Bessel function of the second kind, order 0. Not differentiable, as in torch.

    The numbers are torch's, whose error reaches 1e-6 where ``abs(input)`` is a little above 5;
    SciPy's are right to the last digits.

    Args:
        input: Tensor of any shape; integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.bessel_y0(tt.tensor([0.0, 1.0]))
        tensor([  -inf, 0.0883])
    """
    return _of_cephes(xp, "bessel_y0", bessel_quotients.y0, input)


@op(promote="float", namespaces=SPECIAL)
def bessel_y1(xp: Backend, input: Array) -> Array:
    """The Bessel function of the second kind, order 1. Not differentiable, as in torch.

    The numbers are torch's, whose error reaches 1e-6 where ``abs(input)`` is a little above 5;
    SciPy's are right to the last digits.

    Args:
        input: Tensor of any shape; integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.bessel_y1(tt.tensor([0.0, 1.0]))
        tensor([   -inf, -0.7812])
    """
    return _of_cephes(xp, "bessel_y1", bessel_quotients.y1, input)


@op(promote="float", namespaces=SPECIAL)
def modified_bessel_i0(xp: Backend, input: Array) -> Array:
    """``i0`` by another name, without a gradient, as in torch.

    Args:
        input: Tensor of any shape; integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.modified_bessel_i0(tt.tensor([0.0, 1.0]))
        tensor([1.0000, 1.2661])
    """
    return _of_scipy(xp, "i0", input, "modified_bessel_i0")


@op(promote="float", namespaces=SPECIAL)
def modified_bessel_i1(xp: Backend, input: Array) -> Array:
    """``i1`` by another name, without a gradient, as in torch.

    Args:
        input: Tensor of any shape; integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.modified_bessel_i1(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.5652])
    """
    return _of_scipy(xp, "i1", input, "modified_bessel_i1")


@op(promote="float", namespaces=SPECIAL)
def modified_bessel_k0(xp: Backend, input: Array) -> Array:
    """The modified Bessel function of the second kind, order 0. Not differentiable.

    Args:
        input: Tensor of any shape; integers give the default dtype.

    Raises:
        ImportError: If SciPy is not installed.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.modified_bessel_k0(tt.tensor([0.0, 1.0]))
        tensor([   inf, 0.4210])
    """
    return _of_scipy(xp, "k0", input, "modified_bessel_k0")


@op(promote="float", namespaces=SPECIAL)
def modified_bessel_k1(xp: Backend, input: Array) -> Array:
    """The modified Bessel function of the second kind, order 1. Not differentiable.

    Args:
        input: Tensor of any shape; integers give the default dtype.

    Raises:
        ImportError: If SciPy is not installed.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.modified_bessel_k1(tt.tensor([0.0, 1.0]))
        tensor([   inf, 0.6019])
    """
    return _of_scipy(xp, "k1", input, "modified_bessel_k1")


@op(promote="float", namespaces=SPECIAL)
def scaled_modified_bessel_k0(xp: Backend, x: Array) -> Array:
    """``exp(x) * modified_bessel_k0(x)``. Not differentiable.

    Args:
        x: Tensor of any shape; integers give the default dtype.

    Raises:
        ImportError: If SciPy is not installed.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.scaled_modified_bessel_k0(tt.tensor([1.0]))
        tensor([1.1445])
    """
    return _of_scipy(xp, "k0e", x, "scaled_modified_bessel_k0")


@op(promote="float", namespaces=SPECIAL)
def scaled_modified_bessel_k1(xp: Backend, x: Array) -> Array:
    """``exp(x) * modified_bessel_k1(x)``. Not differentiable.

    Args:
        x: Tensor of any shape; integers give the default dtype.

    Raises:
        ImportError: If SciPy is not installed.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.scaled_modified_bessel_k1(tt.tensor([1.0]))
        tensor([1.6362])
    """
    return _of_scipy(xp, "k1e", x, "scaled_modified_bessel_k1")


@op(promote="float", namespaces=SPECIAL)
def spherical_bessel_j0(xp: Backend, x: Array) -> Array:
    """``sin(x) / x``, and 1 at 0. Not differentiable, as in torch.

    Args:
        x: Tensor of any shape; integers give the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.spherical_bessel_j0(tt.tensor([0.0, 1.0]))
        tensor([1.0000, 0.8415])
    """
    refuse(xp, "spherical_bessel_j0_cpu", "c", x)
    far = ~(xp.isinf(x) | (x == 0))
    safe = xp.where(far, x, 1)
    return xp.where(far, xp.sin(safe) / safe, xp.astype(x == 0, x.dtype))


@op(promote="float", namespaces=SPECIAL)
def airy_ai(xp: Backend, x: Array) -> Array:
    """The Airy function Ai. Not differentiable, as in torch.

    Args:
        x: Tensor of any shape; integers give the default dtype.

    Raises:
        ImportError: If SciPy is not installed.
        NotImplementedError: On CuPy, which lacks it.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.airy_ai(tt.tensor([0.0, 1.0]))
        tensor([0.3550, 0.1353])
    """
    refuse(xp, "airy_ai_cpu", "c", x)
    # Beyond 110 the numbers are below what any dtype holds, and SciPy gives NaN.
    airy = find_special(xp, "airy", "airy_ai")
    small = xp.minimum(x, 110)
    found = xp.where(x > 110, 0, xp.astype(airy(small)[0], x.dtype))
    # Below -10^6 the asymptotic series' first term is enough, and SciPy soon gives NaN. The
    # phase is so large that it takes float64 to know it.
    far = x < -1e6
    z = xp.where(far, -xp.astype(x, "float64"), 1.0)
    wave = xp.sin(z**1.5 * (2 / 3) + math.pi / 4) / (math.sqrt(math.pi) * z**0.25)
    return xp.where(far, xp.astype(wave, x.dtype), found)
