"""Polynomials in several bases: ``numpy.polynomial``, on arrays of any backend, with gradients.

The modules are NumPy's own. They are loaded a second time, with ``tinytorch.numpy`` as their
``np``, and patched where they assume NumPy's own arrays.
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

#: NumPy's folder, from which the modules below are imported.
__path__: list[str] = list(host().polynomial.__path__)


class _Arrays(ModuleType):
    """``np`` of these modules: ``tinytorch.numpy``, but ``np.ndarray`` includes NumPy's arrays."""

    ndarray = (ndarray, host().ndarray)

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.modules[__name__.rpartition(".")[0]], name)


_arrays = _Arrays("np")


def _load(name: str) -> ModuleType:
    """Import a second copy of NumPy's module ``numpy.polynomial.<name>``, and replace its ``np``.

    Its ``la``, which is ``numpy.linalg``, is replaced as well.
    """
    module: Any = importlib.import_module(f"{__name__}.{name}")
    module.np = _arrays
    if hasattr(module, "la"):
        module.la = _arrays.linalg
    return module  # type: ignore[no-any-return]


def _save_copies(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that overwrites its intermediate results, for gradients.

    Tensors that are saved for the backward pass are copied.
    """

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        with saved_tensors_hooks(lambda tensor: tensor.clone(), lambda tensor: tensor):
            return function(*args, **options)

    return call


polyutils: Any = _load("polyutils")
_polybase: Any = _load("_polybase")
polynomial: Any = _load("polynomial")
chebyshev: Any = _load("chebyshev")
legendre: Any = _load("legendre")
hermite: Any = _load("hermite")
hermite_e: Any = _load("hermite_e")
laguerre: Any = _load("laguerre")

Polynomial: Any = polynomial.Polynomial
Chebyshev: Any = chebyshev.Chebyshev
Legendre: Any = legendre.Legendre
Hermite: Any = hermite.Hermite
HermiteE: Any = hermite_e.HermiteE
Laguerre: Any = laguerre.Laguerre

polyutils._fit = _save_copies(polyutils._fit)
for _module, _kind in (
    (polynomial, Polynomial), (chebyshev, Chebyshev), (legendre, Legendre), (hermite, Hermite),
    (hermite_e, HermiteE), (laguerre, Laguerre),
):  # fmt: skip
    for _name in [name for name in vars(_module) if name.endswith(("vander", "roots"))]:
        setattr(_module, _name, _save_copies(getattr(_module, _name)))
    _kind._roots = staticmethod(_save_copies(_kind._roots))

_numpy_trimseq = polyutils.trimseq


def _trimseq(seq: Any) -> Any:
    """``polyutils.trimseq``, but it drops no zeros to which a gradient may flow."""
    return seq if isinstance(seq, ndarray) and is_recorded(seq._tensor) else _numpy_trimseq(seq)


polyutils.trimseq = _trimseq
_numpy_mapdomain = polyutils.mapdomain


def _mapdomain(x: Any, old: Any, new: Any) -> Any:
    """``polyutils.mapdomain``, also of a polynomial; NumPy's would need an array of objects."""
    if not isinstance(x, _polybase.ABCPolyBase):
        return _numpy_mapdomain(x, old, new)
    offset, scale = polyutils.mapparms(old, new)
    return offset + scale * x


_numpy_repr_latex = _polybase.ABCPolyBase._repr_latex_


def _repr_latex(self: Any) -> str:
    """``_repr_latex_`` of a copy with NumPy's own arrays: it formats only NumPy's scalars."""
    shown = copy.copy(self)
    shown.coef, shown.domain, shown.window = to_detached(
        "_repr_latex_", [self.coef, self.domain, self.window]
    )
    return _numpy_repr_latex(shown)  # type: ignore[no-any-return]


_polybase.ABCPolyBase._repr_latex_ = _repr_latex
polyutils.mapdomain = _mapdomain
polyutils.format_float = wrap_numpy(host().polynomial.polyutils.format_float)


def set_default_printstyle(style: str) -> None:
    """Set the style in which polynomials are printed.

    Args:
        style: ``"unicode"``, with superscripts, or ``"ascii"``.

    Raises:
        ValueError: For another style.

    Example:
        >>> np.polynomial.set_default_printstyle("ascii")
        >>> print(np.polynomial.Polynomial([1, 2, 3]))
        1.0 + 2.0 x + 3.0 x**2
        >>> np.polynomial.set_default_printstyle("unicode")
    """
    if style not in ("unicode", "ascii"):
        raise ValueError(f"set_default_printstyle(): expected 'ascii' or 'unicode', got {style!r}")
    _polybase.ABCPolyBase._use_unicode = style == "unicode"
