"""Special functions, which NumPy and CuPy do not have, or not both."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .devices import Array
from .errors import how_to_install
from .indices import Indices


class SpecialFunctions(Indices):
    """The part of ``Backend`` for functions by formulas of ours, and those of SciPy."""

    def erf(self, array: Array) -> Array:
        """The error function of a real floating-point array."""
        return self._error_function("erf", array)

    def erfc(self, array: Array) -> Array:
        """``1 - erf(x)``."""
        return self._error_function("erfc", array)

    def erfcx(self, array: Array) -> Array:
        """``exp(x^2) * erfc(x)``."""
        return self._error_function("erfcx", array)

    def erfinv(self, array: Array) -> Array:
        """The inverse of the error function."""
        return self._error_function("erfinv", array)

    def erfcinv(self, array: Array) -> Array:
        """The inverse of ``erfc``."""
        return self._error_function("erfcinv", array)

    def ndtr(self, array: Array) -> Array:
        """``P(X <= x)`` for a standard normal X; of float32 to 1e-7, not to 1e-7 of itself."""
        return self._error_function("ndtr", array)

    def digamma(self, array: Array) -> Array:
        """The derivative of the gamma function's logarithm, of a real floating-point array."""
        from .numpy.gamma_formulas import digamma

        return self._by_formula(digamma, array)

    def trigamma(self, array: Array) -> Array:
        """The derivative of ``digamma``."""
        from .numpy.gamma_formulas import trigamma

        return self._by_formula(trigamma, array)

    def _error_function(self, name: str, array: Array) -> Array:
        from .numpy import float_functions

        single = array.dtype.itemsize <= 4
        return self._by_formula(float_functions.formula(name, single), array)

    def _by_formula(self, formula: Callable[[Any, Array], Array], array: Array) -> Array:
        wide = array.astype("float32", copy=False) if array.dtype.itemsize < 4 else array
        values = self.blockwise(lambda part: formula(self, part), wide)
        return values.astype(array.dtype, copy=False)

    def special(self, name: str) -> Callable[..., Array]:
        """SciPy's special function ``name`` on this library's arrays, or a formula without SciPy.

        Raises:
            ImportError: If it needs a package that is not installed.
        """
        try:
            from scipy import special
        except ImportError as error:
            from .numpy.gamma_formulas import FORMULAS

            if name in FORMULAS:
                return functools.partial(FORMULAS[name], self)
            raise ImportError(
                f"the special function {name!r} is SciPy's: "
                f"install it with `{how_to_install('scipy')}`"
            ) from error
        return getattr(special, name)  # type: ignore[no-any-return]
