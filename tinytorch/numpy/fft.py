"""NumPy's discrete Fourier transforms on tensors: in double precision but for float32."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import dtypes
from .. import fft as _torchs
from .._tensor import Tensor
from ..ops._arrays import axes_of
from ._dialect import as_float, called, raising, tensor_of, written


def _line(name: str, summary: str) -> Callable[..., Tensor]:
    """A transform of one dimension."""

    def function(
        a: Any, n: int | None = None, axis: int = -1, norm: str | None = None,
        out: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        x = as_float(a)
        (at,) = axes_of(name, axis, x.ndim)
        return written(getattr(_torchs, name)(x, n, at, norm), out)  # type: ignore[no-any-return]

    return raising(called(function, name, f"""{summary} along ``axis``.

    Args:
        a: Tensor of at least one dimension, or what makes one.
        n: How long the signal is; it is cut or filled up with zeros. Default its own length.
        axis: The dimension; default the last.
        norm: Which direction is divided by the length: ``"backward"`` (default),
            ``"forward"``, or ``"ortho"`` for its root in both.
        out: Where to write the result.
    """))


fft: Callable[..., Tensor] = _line("fft", "The Fourier transform")
ifft: Callable[..., Tensor] = _line("ifft", "The inverse of ``fft``")
rfft: Callable[..., Tensor] = _line(
    "rfft", "The half of the Fourier transform of a real signal that tells the rest"
)
irfft: Callable[..., Tensor] = _line("irfft", "The inverse of ``rfft``")
hfft: Callable[..., Tensor] = _line(
    "hfft", "The real Fourier transform of a Hermitian signal's first half"
)
ihfft: Callable[..., Tensor] = _line("ihfft", "The inverse of ``hfft``")


def _grid(name: str, summary: str, default: Sequence[int] | None) -> Callable[..., Tensor]:
    """A transform of several dimensions."""

    def function(
        a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = default,
        norm: str | None = None, out: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        x = as_float(a)
        dims = None if axes is None else axes_of(name, axes, x.ndim)
        return written(getattr(_torchs, name)(x, s, dims, norm), out)  # type: ignore

    return raising(called(function, name, f"""{summary} along several dimensions.

    Args:
        a: Tensor, or what makes one.
        s: How long the signal is along each; default its own lengths.
        axes: The dimensions; default {"all of them" if default is None else "the last two"}.
        norm: Which direction is divided by the length: ``"backward"`` (default),
            ``"forward"``, or ``"ortho"`` for its root in both.
        out: Where to write the result.
    """))


fft2: Callable[..., Tensor] = _grid("fft2", "The Fourier transform", (-2, -1))
ifft2: Callable[..., Tensor] = _grid("ifft2", "The inverse of ``fft2``", (-2, -1))
rfft2: Callable[..., Tensor] = _grid("rfft2", "The Fourier transform of a real signal", (-2, -1))
irfft2: Callable[..., Tensor] = _grid("irfft2", "The inverse of ``rfft2``", (-2, -1))
fftn: Callable[..., Tensor] = _grid("fftn", "The Fourier transform", None)
ifftn: Callable[..., Tensor] = _grid("ifftn", "The inverse of ``fftn``", None)
rfftn: Callable[..., Tensor] = _grid("rfftn", "The Fourier transform of a real signal", None)
irfftn: Callable[..., Tensor] = _grid("irfftn", "The inverse of ``rfftn``", None)


def _shift(name: str, summary: str) -> Callable[..., Tensor]:
    def function(x: Any, axes: Any = None) -> Tensor:
        given = tensor_of(x)
        return getattr(_torchs, name)(given, axes_of(name, axes, given.ndim))  # type: ignore

    return raising(called(function, name, f"""{summary}

    Args:
        x: Tensor, or what makes one.
        axes: Dimension or dimensions; None, the default, means all.
    """))


fftshift: Callable[..., Tensor] = _shift(
    "fftshift", "The spectrum with the frequency 0 in its middle."
)
ifftshift: Callable[..., Tensor] = _shift("ifftshift", "The inverse of ``fftshift``.")


def _frequencies(name: str, summary: str) -> Callable[..., Tensor]:
    def function(n: int, d: Any = 1.0, device: Any = None) -> Tensor:
        distance = d.item() if hasattr(d, "item") else d
        make = getattr(_torchs, name)
        return make(n, distance, dtype=dtypes.float64, device=device)  # type: ignore[no-any-return]

    return raising(called(function, name, f"""{summary}

    Args:
        n: How long the signal is.
        d: The distance of its samples; default 1.
        device: Where to make them.
    """))


fftfreq: Callable[..., Tensor] = _frequencies(
    "fftfreq", "The frequencies that ``fft`` gives the parts of."
)
rfftfreq: Callable[..., Tensor] = _frequencies(
    "rfftfreq", "The frequencies that ``rfft`` gives the parts of."
)
