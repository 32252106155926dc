"""``cupy.linalg``: like CuPy's, silent about singular input unless asked to raise.

cuSOLVER's status stays on the device, since reading it would make the host wait: without
``cupyx.errstate(linalg="raise")`` a failed factorisation gives garbage, here NaN.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from . import _functions, cupyx
from ._array import ndarray, unwrap, wrap
from ._manifest import names
from ._sync import log_sync

LinAlgError = numpy.linalg.LinAlgError
_CHECKED = ("cholesky", "eigh", "eigvalsh", "inv", "lstsq", "qr", "solve", "svd", "tensorinv")


def _routine(name: str) -> Callable[..., Any]:
    """Return NumPy's routine; its LinAlgError appears only under ``errstate(linalg="raise")``."""
    call = _functions.function(name, names("cupy.linalg")[name], getattr(numpy.linalg, name))

    @functools.wraps(call)
    def call_routine(*args: Any, **kwargs: Any) -> Any:
        raising = cupyx.geterr()["linalg"] == "raise"
        if raising:
            log_sync(f"linalg.{name}")
        if not isinstance(args[0], ndarray):
            raise LinAlgError("cupy.linalg only supports cupy.ndarray")
        if args[0].dtype == "float16":
            raise TypeError("float16 is unsupported in linalg")
        try:
            return call(*args, **kwargs)
        except LinAlgError:
            if raising or not _square(args[0]):
                raise
            return _garbage(name, *args, **kwargs)

    return call_routine


def _square(a: ndarray) -> bool:
    return a.ndim >= 2 and a.shape[-1] == a.shape[-2]


def _garbage(name: str, a: ndarray, *args: Any, **kwargs: Any) -> Any:
    """Return NaN in the shape of the result, for the batch as a whole."""
    healthy = numpy.broadcast_to(numpy.eye(a.shape[-1], dtype=a.dtype), a.shape)
    result = getattr(numpy.linalg, name)(healthy, *[_host(arg) for arg in args], **kwargs)
    parts = result if isinstance(result, tuple) else (result,)
    filled = tuple(wrap(numpy.full_like(part, numpy.nan)) for part in parts)
    return filled if isinstance(result, tuple) else filled[0]


def _host(value: Any) -> Any:
    return unwrap(value) if isinstance(value, ndarray) else value


def _general(name: str) -> Callable[..., Any]:
    """Return ``eig`` or ``eigvals``, which say nothing about numbers that are not finite."""
    call_routine = _routine(name)

    def general(a: ndarray) -> Any:
        finite = not isinstance(a, ndarray) or a.size and numpy.isfinite(a._host).all()
        return call_routine(a) if finite else _garbage(name, a)

    return general


def _inv(a: Any) -> Any:
    """Return the inverse, as CuPy's in the memory order of the matrix."""
    inverse = _routine("inv")(a)
    in_columns = a.ndim == 2 and a.flags.f_contiguous
    return wrap(numpy.asfortranarray(unwrap(inverse))) if in_columns else inverse


_OWN: dict[str, Any] = {name: _routine(name) for name in _CHECKED}
_OWN["inv"] = functools.wraps(_OWN["inv"])(_inv)
_OWN.update({name: _general(name) for name in ("eig", "eigvals")})
_OWN["annotations"] = None

__getattr__ = _functions.resolver("cupy.linalg", numpy.linalg, _OWN, globals())
