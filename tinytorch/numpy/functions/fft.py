"""NumPy's discrete Fourier transforms on tensors: in double precision except for float32."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import dtypes
from ... import fft as _torch_fft
from ...core.tensor import Tensor
from .conversion import as_float, axes_of, tensor_of, write_out
from .registration import describe, raise_numpy_errors

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip


def _transform(name: str, summary: str, *example: str) -> Callable[..., Tensor]:
    """Make NumPy's transform along one dimension, which calls PyTorch's of the same name.

    Args:
        name: Name of the transform.
        summary: Beginning of its docstring.
        *example: Lines of the docstring's example.
    """

    def function(
        a: Any, n: int | None = None, axis: int = -1, norm: str | None = None,
        out: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        x = as_float(a)
        (at,) = axes_of(name, axis, x.ndim)
        return write_out(getattr(_torch_fft, name)(x, n, at, norm), out)  # type: ignore[no-any-return]

    doc = f"""{summary} along ``axis``.

    Args:
        a: Tensor of at least one dimension, or array-like.
        n: Length of the signal, which is trimmed or padded with zeros; default its own length.
        axis: The dimension; default the last.
        norm: The transform that is divided by the length: ``"backward"``, the inverse (default),
            or ``"forward"``; ``"ortho"`` divides both by its square root.
        out: Tensor for the result.
    """
    return raise_numpy_errors(describe(function, name, doc, *example))


fft: Callable[..., Tensor] = _transform(
    "fft", "The Fourier transform", ">>> np.fft.fft([1.0, 2.0])", "array([ 3.+0.j, -1.+0.j])"
)
ifft: Callable[..., Tensor] = _transform(
    "ifft", "The inverse of ``fft``", ">>> np.fft.ifft([3.0, -1.0])", "array([1.+0.j, 2.+0.j])"
)
rfft: Callable[..., Tensor] = _transform(
    "rfft", "The nonredundant half of the Fourier transform of a real signal",
    ">>> np.fft.rfft([1.0, 2.0, 3.0, 4.0]).shape", "(3,)",
)  # fmt: skip
irfft: Callable[..., Tensor] = _transform(
    "irfft", "The inverse of ``rfft``", ">>> np.fft.irfft([3.0, -1.0])", "array([1., 2.])"
)
hfft: Callable[..., Tensor] = _transform(
    "hfft", "The real Fourier transform of a Hermitian signal, from its first half",
    ">>> np.fft.hfft([1.0, 2.0])", "array([ 3., -1.])",
)  # fmt: skip
ihfft: Callable[..., Tensor] = _transform(
    "ihfft", "The inverse of ``hfft``", ">>> np.fft.ihfft([3.0, -1.0]).real", "array([1., 2.])"
)


def _transform_nd(
    name: str, summary: str, default: Sequence[int] | None, *example: str
) -> Callable[..., Tensor]:
    """Make NumPy's transform along several dimensions, which calls PyTorch's of the same name.

    Args:
        name: Name of the transform.
        summary: Beginning of its docstring.
        default: Default of ``axes``: dimensions, or None for all.
        *example: Lines of the docstring's example.
    """

    def function(
        a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = default,
        norm: str | None = None, out: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        x = as_float(a)
        dims = None if axes is None else axes_of(name, axes, x.ndim)
        return write_out(getattr(_torch_fft, name)(x, s, dims, norm), out)  # type: ignore

    doc = f"""{summary} along several dimensions.

    Args:
        a: Tensor or array-like.
        s: Length of the signal along each dimension; default its own lengths.
        axes: The dimensions; default {"all of them" if default is None else "the last two"}.
        norm: The transform that is divided by the size: ``"backward"``, the inverse (default),
            or ``"forward"``; ``"ortho"`` divides both by its square root.
        out: Tensor for the result.
    """
    return raise_numpy_errors(describe(function, name, doc, *example))


fft2: Callable[..., Tensor] = _transform_nd(
    "fft2", "The Fourier transform", (-2, -1),
    ">>> np.fft.fft2([[1.0, 2.0], [3.0, 4.0]]).real", "array([[10., -2.],", "       [-4.,  0.]])",
)  # fmt: skip
ifft2: Callable[..., Tensor] = _transform_nd(
    "ifft2", "The inverse of ``fft2``", (-2, -1),
    ">>> np.fft.ifft2([[10.0, -2.0], [-4.0, 0.0]]).real", "array([[1., 2.],", "       [3., 4.]])",
)  # fmt: skip
rfft2: Callable[..., Tensor] = _transform_nd(
    "rfft2", "The Fourier transform of a real signal", (-2, -1),
    ">>> np.fft.rfft2(np.ones((4, 4))).shape", "(4, 3)",
)  # fmt: skip
irfft2: Callable[..., Tensor] = _transform_nd(
    "irfft2", "The inverse of ``rfft2``", (-2, -1),
    ">>> np.fft.irfft2(np.ones((4, 3))).shape", "(4, 4)",
)  # fmt: skip
fftn: Callable[..., Tensor] = _transform_nd(
    "fftn", "The Fourier transform", None, ">>> np.fft.fftn(np.ones((2, 2, 2))).shape", "(2, 2, 2)"
)
ifftn: Callable[..., Tensor] = _transform_nd(
    "ifftn", "The inverse of ``fftn``", None,
    ">>> np.fft.ifftn([[10.0, -2.0], [-4.0, 0.0]]).real", "array([[1., 2.],", "       [3., 4.]])",
)  # fmt: skip
rfftn: Callable[..., Tensor] = _transform_nd(
    "rfftn", "The Fourier transform of a real signal", None,
    ">>> np.fft.rfftn(np.ones((2, 2, 4))).shape", "(2, 2, 3)",
)  # fmt: skip
irfftn: Callable[..., Tensor] = _transform_nd(
    "irfftn", "The inverse of ``rfftn``", None,
    ">>> np.fft.irfftn(np.ones((2, 2, 3))).shape", "(2, 2, 4)",
)  # fmt: skip


def _shift(name: str, summary: str, *example: str) -> Callable[..., Tensor]:
    """Make NumPy's ``fftshift`` or ``ifftshift``, which calls PyTorch's.

    Args:
        name: Name of the function.
        summary: First line of its docstring.
        *example: Lines of the docstring's example.
    """

    def function(x: Any, axes: Any = None) -> Tensor:
        given = tensor_of(x)
        return getattr(_torch_fft, name)(given, axes_of(name, axes, given.ndim))  # type: ignore

    doc = f"""{summary}

    Args:
        x: Tensor or array-like.
        axes: Dimension or dimensions; None, the default, means all.
    """
    return raise_numpy_errors(describe(function, name, doc, *example))


fftshift: Callable[..., Tensor] = _shift(
    "fftshift", "Shift the zero frequency of a spectrum to its middle.",
    ">>> np.fft.fftshift([0, 1, 2, -2, -1])", "array([-2, -1,  0,  1,  2])",
)  # fmt: skip
ifftshift: Callable[..., Tensor] = _shift(
    "ifftshift", "The inverse of ``fftshift``.",
    ">>> np.fft.ifftshift([-2, -1, 0, 1, 2])", "array([ 0,  1,  2, -2, -1])",
)  # fmt: skip


def _frequencies(name: str, summary: str, *example: str) -> Callable[..., Tensor]:
    """Make NumPy's ``fftfreq`` or ``rfftfreq``, which calls PyTorch's.

    Args:
        name: Name of the function.
        summary: First line of its docstring.
        *example: Lines of the docstring's example.
    """

    def function(n: int, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> Tensor:
        distance = d.item() if hasattr(d, "item") and d.size == 1 else d
        make = getattr(_torch_fft, name)
        kind = dtypes.float64 if dtype is None else dtypes.as_dtype(dtype)
        if isinstance(distance, (bool, int, float)):
            return make(n, distance, dtype=kind, device=device)  # type: ignore[no-any-return]
        # PyTorch's function needs a number, so compute the integers k of the frequencies k / (d n).
        steps = make(n, 1 / n, dtype=kind, device=device).round()
        return steps * (1.0 / (tensor_of(distance) * n))  # type: ignore[no-any-return]

    doc = f"""{summary}

    Args:
        n: Length of the signal.
        d: The distance between samples; default 1.
        device: Device of the result.
        dtype: Default float64.
    """
    return raise_numpy_errors(describe(function, name, doc, *example))


fftfreq: Callable[..., Tensor] = _frequencies(
    "fftfreq", "The frequencies of the elements of a result of ``fft``.",
    ">>> np.fft.fftfreq(4)", "array([ 0.  ,  0.25, -0.5 , -0.25])",
)  # fmt: skip
rfftfreq: Callable[..., Tensor] = _frequencies(
    "rfftfreq", "The frequencies of the elements of a result of ``rfft``.",
    ">>> np.fft.rfftfreq(4, d=0.5)", "array([0. , 0.5, 1. ])",
)  # fmt: skip
