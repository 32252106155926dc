"""Polynomials in several bases: ``numpy.polynomial``, on arrays of any backend, with gradients.

The modules are NumPy's own, loaded once more with these arrays in the place of its own.
"""

from __future__ import annotations

import copy
import functools
import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..autograd.graph import saved_tensors_hooks
from .functions.conversion import host, is_recorded
from .namespace import to_detached, wrap_numpy
from .ndarray import ndarray

#: Where the modules below are read from.
__path__: list[str] = list(host().polynomial.__path__)


class _Arrays(ModuleType):
    """What ``np`` is there: ``tinytorch.numpy``, but NumPy's own arrays are arrays, too."""

    ndarray = (ndarray, host().ndarray)

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.modules[__name__.rpartition(".")[0]], name)


_arrays = _Arrays("np")


def _on_arrays(name: str) -> ModuleType:
    """One of NumPy's modules, in which ``np`` is ``tinytorch.numpy``."""
    module: Any = importlib.import_module(f"{__name__}.{name}")
    module.np = _arrays
    if hasattr(module, "la"):
        module.la = _arrays.linalg
    return module  # type: ignore[no-any-return]


def _saving_copies(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that writes over what it has computed with, which gradients still need."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        with saved_tensors_hooks(lambda tensor: tensor.clone(), lambda tensor: tensor):
            return function(*args, **options)

    return call


polyutils: Any = _on_arrays("polyutils")
_polybase: Any = _on_arrays("_polybase")
polynomial: Any = _on_arrays("polynomial")
chebyshev: Any = _on_arrays("chebyshev")
legendre: Any = _on_arrays("legendre")
hermite: Any = _on_arrays("hermite")
hermite_e: Any = _on_arrays("hermite_e")
laguerre: Any = _on_arrays("laguerre")

Polynomial: Any = polynomial.Polynomial
Chebyshev: Any = chebyshev.Chebyshev
Legendre: Any = legendre.Legendre
Hermite: Any = hermite.Hermite
HermiteE: Any = hermite_e.HermiteE
Laguerre: Any = laguerre.Laguerre

polyutils._fit = _saving_copies(polyutils._fit)
for _module, _kind in (
    (polynomial, Polynomial), (chebyshev, Chebyshev), (legendre, Legendre), (hermite, Hermite),
    (hermite_e, HermiteE), (laguerre, Laguerre),
):  # fmt: skip
    for _name in [name for name in vars(_module) if name.endswith(("vander", "roots"))]:
        setattr(_module, _name, _saving_copies(getattr(_module, _name)))
    _kind._roots = staticmethod(_saving_copies(_kind._roots))

_trimmed = polyutils.trimseq


def _trimseq(seq: Any) -> Any:
    """``polyutils.trimseq``, but zeros to which a gradient may flow stay."""
    return seq if isinstance(seq, ndarray) and is_recorded(seq._tensor) else _trimmed(seq)


polyutils.trimseq = _trimseq
_of_arrays = polyutils.mapdomain


def _mapdomain(x: Any, old: Any, new: Any) -> Any:
    """``polyutils.mapdomain``, also of a polynomial, which NumPy makes an array of objects of."""
    if not isinstance(x, _polybase.ABCPolyBase):
        return _of_arrays(x, old, new)
    offset, scale = polyutils.mapparms(old, new)
    return offset + scale * x


_latex_of_numbers = _polybase.ABCPolyBase._repr_latex_


def _in_latex(self: Any) -> str:
    """``_repr_latex_``, which knows no numbers but NumPy's and Python's."""
    shown = copy.copy(self)
    shown.coef, shown.domain, shown.window = to_detached(
        "_repr_latex_", [self.coef, self.domain, self.window]
    )
    return _latex_of_numbers(shown)  # type: ignore[no-any-return]


_polybase.ABCPolyBase._repr_latex_ = _in_latex
polyutils.mapdomain = _mapdomain
polyutils.format_float = wrap_numpy(host().polynomial.polyutils.format_float)


def set_default_printstyle(style: str) -> None:
    """Say how polynomials are printed.

    Args:
        style: ``"unicode"``, with small digits, or ``"ascii"``.

    Raises:
        ValueError: For another.

    Example:
        >>> np.polynomial.set_default_printstyle("ascii")
        >>> print(np.polynomial.Polynomial([1, 2, 3]))
        1.0 + 2.0 x + 3.0 x**2
        >>> np.polynomial.set_default_printstyle("unicode")
    """
    if style not in ("unicode", "ascii"):
        raise ValueError(f"set_default_printstyle(): expected 'ascii' or 'unicode', got {style!r}")
    _polybase.ABCPolyBase._use_unicode = style == "unicode"
