"""``cupy.fft``: NumPy's transforms with CuPy's parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from ._array import ndarray
from ._functions import function, resolver
from ._manifest import names

_NORMS = (None, "backward", "ortho", "forward")


def _transform(name: str) -> Callable[..., Any]:
    call = function(name, names("cupy.fft")[name], getattr(numpy.fft, name))

    @functools.wraps(call)
    def transform(a: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(a, ndarray):
            raise TypeError("The input array a must be a cupy.ndarray")
        norm = kwargs.get("norm", args[2] if len(args) > 2 else None)
        if norm not in _NORMS:
            raise ValueError(
                f'Invalid norm value {norm}, should be "backward", "ortho", or "forward".'
            )
        return call(a, *args, **kwargs)

    return transform


_OWN: dict[str, Any] = {
    name: _transform(name)
    for name, entry in names("cupy.fft").items()
    if entry["kind"] == "function" and name.endswith(("fft", "fft2", "fftn"))
}
__getattr__ = resolver("cupy.fft", numpy.fft, {"config": None, **_OWN}, globals())
