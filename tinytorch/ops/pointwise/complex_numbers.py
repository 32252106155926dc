"""Complex numbers: real and imaginary parts, signs, angles and conjugates."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.lazy_bits import Conjugate, Negative, mark_lazy
from ...core.storage import RefusedAttribute
from ...core.tensor import Tensor
from ...core.torch_function import attach, is_excluded
from ...dispatch.op import Array, Backend, Nodes, Out, composite, op, piecewise, torch_convention
from ...dispatch.out import scalar_name
from ...graph.inference import MAPPED
from ..checks import check_tensor
from ..index.filling import copy_
from ..memory_order import as_row_major


def real_sign(xp: Any, input: Any) -> Any:
    """-1, 0 or 1 by the sign of each real element; 0 for NaN, unlike NumPy's ``sign``."""
    if input.dtype.kind == "b":
        return xp.array(input)
    found = xp.sign(input)
    if input.dtype.kind in "iu":
        return found
    known = input == input
    return xp.where(known, found, 0) if xp.records else xp.masked(found, known)


@op(method=True, inplace=True, out=Out.EXACT, elementwise=True)
def sgn(xp: Backend, input: Array) -> Array:
    """Sign of each element: ``z / |z|`` for complex numbers; 0 at 0 and for a real NaN.

    Example:
        >>> tt.sgn(tt.tensor([3 + 4j, 0j]))
        tensor([0.6000+0.8000j, 0.0000+0.0000j])
    """
    if input.dtype.kind == "c":
        size = xp.absolute(input)
        return input / xp.where(size == 0, xp.asarray(1, size.dtype), size)
    return real_sign(xp, input)


def _sgn_gradient(xp: Any, g: Any, input: Any, out: Any) -> Any:
    """Gradient of ``sgn``: the part of ``g`` perpendicular to ``input``, over ``|input|``."""
    if input.dtype.kind != "c":
        return xp.zeros_like(g)
    size = xp.abs(input)
    across = g - out * xp.real(xp.conj(out) * g)
    return xp.where(size == 0, 0, across / xp.where(size == 0, 1, size))


sgn.vjp(input=torch_convention(_sgn_gradient))


def direction(xp: Any, input: Any) -> Any:
    """``sgn`` in gradient rules: without a node for real numbers, whose derivative is 0."""
    return xp.call(sgn, input) if input.dtype.kind == "c" else real_sign(xp, input)


@op(view=True, node="SelectBackward0")
def _real(xp: Backend, input: Array) -> Array:
    return input.real


# The engine converts gradients between real and complex to fit the input, which is correct here.
_real.vjp(input=lambda xp, g: g)


@composite
def real(input: Tensor) -> Tensor:
    """The real part of each element: a view of a complex tensor, or a real tensor itself.

    Example:
        >>> tt.real(tt.tensor([1 + 2j]))
        tensor([1.])
    """
    check_tensor("real", input)
    return _real(input) if _is_complex(input) else input


@op(view=True, node="SelectBackward0")
def _imag(xp: Backend, input: Array) -> Array:
    return input.imag


_imag.vjp(input=lambda xp, g: xp.call(complex, xp.zeros_like(g), -g))


@composite
def imag(input: Tensor) -> Tensor:
    """The imaginary part of each element, as a view.

    Raises:
        RuntimeError: For a real tensor.

    Example:
        >>> tt.imag(tt.tensor([1 + 2j]))
        tensor([2.])
    """
    check_tensor("imag", input)
    if not _is_complex(input):
        raise RefusedAttribute("imag is not implemented for tensors with non-complex dtypes.")
    return _imag(input)


def _is_complex(value: Any) -> bool:
    return isinstance(value, Tensor) and value._data.dtype.kind == "c"


def _set_real(self: Tensor, value: Any) -> None:
    copy_(real(self), value)


def _set_imag(self: Tensor, value: Any) -> None:
    copy_(imag(self), value)


# torch's methods of these names are attributes, which can be assigned to.
attach(Tensor, "real", property(real, _set_real))
attach(Tensor, "imag", property(imag, _set_imag))


@op(method=True, inplace=True, out=Out.EXACT, elementwise=True, aliases=(".conjugate",))
def conj_physical(xp: Backend, input: Array) -> Array:
    """The complex conjugate of each element, in new memory.

    Example:
        >>> tt.conj_physical(tt.tensor([1 + 2j]))
        tensor([1.-2.j])
    """
    return xp.conj(input) if input.dtype.kind == "c" else xp.array(input)


conj_physical.vjp(input=lambda xp, g: xp.conj(g))


@op(view=True, node="ConjBackward0")
def _conj(xp: Backend, input: Array) -> Array:
    """The memory of a lazily conjugated view, which is that of ``input``."""
    return input


_conj.vjp(input=lambda xp, g: xp.conj(g))


@composite(method=True)
def conj(input: Tensor) -> Tensor:
    """The complex conjugate: a lazily conjugated view, or a real tensor itself.

    Example:
        >>> z = tt.tensor([1 + 2j])
        >>> z.conj()
        tensor([1.-2.j])
        >>> z.conj().mul_(2)
        tensor([2.-4.j])
        >>> z
        tensor([2.+4.j])
    """
    check_tensor("conj", input)
    if not _is_complex(input):
        return input
    if MAPPED.get() or not is_excluded(type(input)):
        return conj_physical(input)
    if isinstance(input, Conjugate):
        out = _conj(input)
        out.__class__ = Tensor
        return out
    return mark_lazy(_conj(input), Conjugate)


@composite(method=True)
def resolve_conj(input: Tensor) -> Tensor:
    """A copy of a lazily conjugated tensor (its conj bit is set); other tensors themselves.

    Example:
        >>> tt.resolve_conj(tt.tensor([1 + 2j]).conj())
        tensor([1.-2.j])
    """
    check_tensor("resolve_conj", input)
    return conj_physical(conj(input)) if isinstance(input, Conjugate) else input


@composite(method=True)
def resolve_neg(input: Tensor) -> Tensor:
    """A copy of a lazily negated tensor (its neg bit is set); other tensors themselves.

    Example:
        >>> tt.resolve_neg(tt.tensor([1.0]))
        tensor([1.])
    """
    check_tensor("resolve_neg", input)
    return conj_physical(input) if isinstance(input, Negative) else input


@op(method=True, promote="float")
def angle(xp: Backend, input: Array) -> Array:
    """The angle of each element in the complex plane, in radians between -π and π.

    Args:
        input: Tensor of any shape. The angle of a real number is 0 or π, that of NaN is NaN.

    Returns:
        Real tensor of the same shape. No gradient flows to real numbers.

    Example:
        >>> tt.angle(tt.tensor([1j, -1 + 0j]))
        tensor([1.5708, 3.1416])
    """
    if input.dtype.kind == "c":
        return xp.arctan2(input.imag, input.real)
    number = xp.number(input.dtype)
    out = xp.astype(input < number(0), input.dtype)
    out *= number(xp.pi)
    return xp.where(input == input, out, input)


def _angle_gradient(xp: Any, g: Any, input: Any) -> Any:
    """Gradient of ``angle``; 0 at 0 and for real numbers."""
    if input.dtype.kind != "c":
        return xp.zeros_like(g)
    size = xp.abs(input)  # not its square, which may overflow or underflow
    nonzero = xp.where(size == 0, 1, size)
    return g * xp.where(size == 0, 0, xp.conj(input) / nonzero * -1j / nonzero)


angle.vjp(input=_angle_gradient)


def _check_parts(name: str, xp: Backend, first: Array, second: Array) -> None:
    """Raise RuntimeError unless both parts are real and of one floating-point dtype."""
    if first.dtype is second.dtype and first.dtype.kind == "f":
        return
    names = [scalar_name(xp.dtype_of(part)) for part in (first, second)]
    if first.dtype.kind != "f" or second.dtype.kind != "f":
        raise RuntimeError(
            f"{name}(): Expected both inputs to be Half, Float or Double tensors but got "
            f"{names[0]} and {names[1]}"
        )
    if names[0] != names[1]:
        raise RuntimeError(
            f"{name}(): Expected object of scalar type {names[0]} but got scalar type {names[1]} "
            "for second argument"
        )


@op(strict=True, node=Nodes(frees=True), out=Out.EXACT, elementwise=True)
def complex(xp: Backend, real: Array, imag: Array) -> Array:
    """``real + imag * 1j``: complex numbers with the given real and imaginary parts.

    Args:
        real: float32 or float64 tensor of any shape.
        imag: Tensor of the same dtype; the two shapes broadcast.

    Returns:
        complex64 or complex128 tensor of the broadcast shape.

    Raises:
        RuntimeError: For other dtypes, or if the dtypes differ.

    Example:
        >>> tt.complex(tt.tensor([1.0]), tt.tensor([2.0]))
        tensor([1.+2.j])
    """
    _check_parts("complex", xp, real, imag)
    return _join_parts(xp, real, imag)


def _join_parts(xp: Backend, real: Array, imag: Array) -> Array:
    """``real + imag * 1j``, without the NaN that results from ``inf * 1j``."""
    if real.shape == imag.shape and real.flags.c_contiguous and imag.flags.c_contiguous:
        out = xp.empty(real.shape, "complex128" if real.dtype.itemsize == 8 else "complex64")
        out.real, out.imag = real, imag
        return out
    real, imag = (
        as_row_major(xp, part) if 0 in part.strides else part
        for part in xp.broadcast_arrays(real, imag)
    )
    # There is no complex32, so parts in float16 are joined to complex64.
    wide = "float64" if real.dtype.itemsize == 8 else "float32"
    pairs = xp.stack((xp.astype(real, wide), xp.astype(imag, wide)), -1)
    return pairs.view("complex128" if wide == "float64" else "complex64")[..., 0]


complex.vjp(
    real=lambda xp, g: g,
    imag=lambda xp, g: -xp.imag(g),  # a product with 1j would mix in an infinite real part
)


@op(strict=True, out=Out.EXACT, elementwise=True)
def polar(xp: Backend, abs: Array, angle: Array) -> Array:
    """``abs * exp(1j * angle)``: complex numbers with the given magnitudes and angles.

    Args:
        abs: float32 or float64 tensor of any shape.
        angle: Tensor of the same dtype, in radians; the two shapes broadcast.

    Returns:
        complex64 or complex128 tensor of the broadcast shape.

    Raises:
        RuntimeError: For other dtypes, or if the dtypes differ.

    Example:
        >>> tt.polar(tt.tensor([2.0]), tt.tensor([0.0]))
        tensor([2.+0.j])
    """
    _check_parts("polar", xp, abs, angle)
    return _join_parts(xp, abs * xp.cos(angle), abs * xp.sin(angle))


polar.vjp(
    abs=piecewise(lambda xp, g, angle: g * xp.exp(angle * 1j)),
    angle=lambda xp, g, out: g * (out * 1j),
)


@op(view=True)
def view_as_real(xp: Backend, input: Array) -> Array:
    """View of complex numbers as pairs of real ones, in a new last dimension of size 2.

    Args:
        input: Complex tensor of shape ``(*,)``.

    Returns:
        View of shape ``(*, 2)``.

    Raises:
        RuntimeError: For a real tensor.

    Example:
        >>> tt.view_as_real(tt.tensor([1 + 2j]))
        tensor([[1., 2.]])
    """
    if input.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    # A new dimension of size 1 makes each element contiguous, for any strides.
    return input[..., None].view(input.real.dtype)


view_as_real.vjp(input=lambda xp, g: g[..., 0] - g[..., 1] * 1j)


@op(view=True)
def view_as_complex(xp: Backend, input: Array) -> Array:
    """View of pairs of real numbers as complex ones.

    Args:
        input: float32 or float64 tensor of shape ``(*, 2)`` whose pairs are contiguous.

    Returns:
        Complex view of shape ``(*,)``.

    Raises:
        RuntimeError: If the last dimension is not a contiguous pair, or for other dtypes.

    Example:
        >>> tt.view_as_complex(tt.tensor([[1.0, 2.0]]))
        tensor([1.+2.j])
    """
    if input.dtype.kind != "f" or input.dtype.itemsize < 4:
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a "
            f"tensor of scalar type: {scalar_name(xp.dtype_of(input))}"
        )
    if not input.ndim:
        raise RuntimeError("view_as_complex: Input tensor must have one or more dimensions")
    if input.shape[-1] != 2:
        raise RuntimeError(
            f"Tensor must have a last dimension of size 2, got shape {list(input.shape)}"
        )
    if input.size and input.strides[-1] != input.dtype.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if input.size and not input.flags.c_contiguous:
        steps = [step for n, step in zip(input.shape[:-1], input.strides) if n > 1]
        if any(step % (2 * input.dtype.itemsize) for step in steps):
            raise RuntimeError(
                "Tensor must have a stride divisible by 2 for all but last dimension"
            )
    wide = dtypes.complex128 if input.dtype.itemsize == 8 else dtypes.complex64
    return input.view(wide.dtype)[..., 0]


view_as_complex.vjp(input=lambda xp, g: xp.stack((xp.real(g), -xp.imag(g)), -1))
