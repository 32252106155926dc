"""Parts of numbers, and rules for dtypes, as NumPy has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import composite
from ...ops.create import factories_like
from ...ops.pointwise import comparison, complex_numbers, rounding, trigonometric
from ...ops.special import bessel_functions
from . import ufuncs
from .conversion import as_float, tensor_of, written
from .registration import filed, numpy_function


@numpy_function
def real(val: Any) -> Tensor:
    """The real part of each element: a view.

    Args:
        val: Tensor, or what makes one.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.real([1 + 2j, 3.0])
        array([1., 3.])
    """
    return complex_numbers.real(tensor_of(val))  # type: ignore[no-any-return]


@numpy_function
def imag(val: Any) -> Tensor:
    """The imaginary part of each element; zeros for real ones.

    Args:
        val: Tensor, or what makes one.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.imag([1 + 2j, 3.0])
        array([2., 0.])
    """
    x = tensor_of(val)
    return complex_numbers.imag(x) if x.is_complex() else factories_like.zeros_like(x)  # type: ignore[no-any-return]


@numpy_function
def angle(z: Any, deg: bool = False) -> Tensor:
    """The angle of each complex element, from -pi to pi.

    Args:
        z: Tensor, or what makes one.
        deg: Whether in degrees.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.angle([1j, -1], deg=True)
        array([ 90., 180.])
    """
    x = tensor_of(z)
    found: Any = complex_numbers.angle(x) if x.is_complex() else ufuncs.arctan2(0, x)
    return found * (180 / math.pi) if deg else found  # type: ignore[no-any-return]


@numpy_function
def isreal(x: Any) -> Tensor:
    """Whether each element has no imaginary part.

    Args:
        x: Tensor, or what makes one.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.isreal([1 + 2j, 3.0])
        array([False,  True])
    """
    return comparison.isreal(tensor_of(x))  # type: ignore[no-any-return]


@composite(namespaces=("numpy",), aliases=("around",))
def round(a: Any, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """Each element rounded, halves to the even digit.

    Args:
        a: Tensor, or what makes one.
        decimals: How many digits after the point to keep; negative ones are before it.
        out: Where to write the result.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.round([0.5, 1.5, 2.675], 1)
        array([0.5, 1.5, 2.7])
    """
    return written(_rounded(tensor_of(a), decimals), out)  # type: ignore[no-any-return]


def _rounded(x: Any, decimals: int) -> Any:
    run = rounding.round
    if x.is_complex():
        return complex_numbers.complex(*(run(part, decimals=decimals) for part in (x.real, x.imag)))
    if x.dtype.category < 2 and decimals >= 0:
        return x.to(dtypes.float16) if x.dtype is dtypes.bool else x.clone()
    if x.dtype.category < 2:
        return run(x.to(dtypes.float64), decimals=decimals).to(x.dtype)
    return run(x, decimals=decimals)


def _elementwise(
    name: str, summary: str, compute: Callable[[Any], Any], *example: str
) -> Callable[..., Tensor]:
    """A function of one operand that has ``out=`` and no more: it is no ufunc of NumPy's."""

    def function(x: Any, out: Tensor | None = None) -> Tensor:
        return written(compute(tensor_of(x)), out)  # type: ignore[no-any-return]

    return filed(
        function,
        name,
        f"""{summary}

    Args:
        x: Tensor, or what makes one.
        out: Where to write the result.
    """,
        *example,
    )


fix: Callable[..., Tensor] = _elementwise(
    "fix", "Each element without its fractional part.", ufuncs.trunc,
    ">>> np.fix([-1.5, 1.5])", "array([-1.,  1.])",
)  # fmt: skip
isneginf: Callable[..., Tensor] = _elementwise(
    "isneginf",
    "Whether each element is minus infinity.",
    lambda x: comparison.isneginf(_real("isneginf", x)),
    ">>> np.isneginf([-np.inf, 0.0, np.inf])", "array([ True, False, False])",
)  # fmt: skip
isposinf: Callable[..., Tensor] = _elementwise(
    "isposinf",
    "Whether each element is plus infinity.",
    lambda x: comparison.isposinf(_real("isposinf", x)),
    ">>> np.isposinf([-np.inf, 0.0, np.inf])", "array([False, False,  True])",
)  # fmt: skip


def _real(name: str, x: Any) -> Any:
    if x.is_complex():
        raise TypeError(f"{name}(): complex numbers have no order, got {x.dtype.name}")
    return x


@numpy_function
def sinc(x: Any, /) -> Tensor:
    """``sin(pi x) / (pi x)``.

    Args:
        x: Tensor, or what makes one.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.sinc([0.0, 0.5])
        array([1.        , 0.63661977])
    """
    return trigonometric.sinc(as_float(x))  # type: ignore[no-any-return]


@numpy_function
def i0(x: Any) -> Tensor:
    """The modified Bessel function of the first kind, of order 0.

    Args:
        x: Tensor, or what makes one.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.i0([0.0, 1.0])
        array([1.        , 1.26606588])
    """
    return bessel_functions.i0(as_float(x))  # type: ignore[no-any-return]


@numpy_function
def real_if_close(a: Any, tol: float = 100) -> Tensor:
    """The real parts of complex numbers if all imaginary ones are nearly zero.

    Args:
        a: Tensor, or what makes one.
        tol: How far from zero: in units of the dtype's precision if above 1, else as it is.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.real_if_close([1.5 + 1e-15j, 2])
        array([1.5, 2. ])
    """
    x = tensor_of(a)
    if not x.is_complex():
        return x  # type: ignore[no-any-return]
    near = tol * dtypes.finfo(x.dtype).eps if tol > 1 else tol
    return x.real if bool((x.imag.abs() < near).all()) else x  # type: ignore[no-any-return]


@numpy_function
def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Tensor:
    """A reduction along several dimensions, one after the other; they stay, with size 1.

    Args:
        func: Called with the tensor and a dimension.
        a: Tensor, or what makes one.
        axes: The dimensions.

    Raises:
        ValueError: If ``func`` does not give a tensor of as many dimensions, or of one less.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.apply_over_axes(np.sum, [[1, 2], [3, 4]], [0, 1])
        array([[10]])
    """
    x = tensor_of(a)
    for axis in tensor_of(axes).reshape(-1).tolist():
        found, wanted = tensor_of(func(x, axis)), x.ndim
        x = found.unsqueeze(axis % wanted) if found.ndim == wanted - 1 else found
        if x.ndim != wanted:
            raise ValueError("function is not returning an array of the correct shape")
    return x  # type: ignore[no-any-return]


# -- dtypes ---------------------------------------------------------------------------------------
