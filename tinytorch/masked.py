"""``torch.masked``: reductions and normalisations of those elements alone that a mask is True of.

Example:
    >>> x = tt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> tt.masked.mean(x, 1, mask=x > 1)
    tensor([2.5000, 5.0000])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from . import dtypes
from .core.tensor import Tensor
from .dispatch.registry import find
from .facade.unsupported import Absent, absent

#: PyTorch has a package of this name: ``facade.reexports`` knows the modules in it.
__path__: list[str] = []

__all__ = [
    "MaskedTensor", "amax", "amin", "argmax", "argmin", "as_masked_tensor", "cumprod", "cumsum",
    "is_masked_tensor", "log_softmax", "logaddexp", "logsumexp", "masked_tensor", "mean", "median",
    "norm", "normalize", "prod", "softmax", "softmin", "std", "sum",
    "var",
]  # fmt: skip

Dims: TypeAlias = int | tuple[int, ...] | None
_F = TypeVar("_F", bound=Callable[..., Tensor])
_ARGUMENTS = {
    "input": "The tensor.",
    "dim": "The dimensions that go, or the dimension that it runs along. Default: all.",
    "keepdim": "Whether they stay, with size 1. Default: False.",
    "dtype": "What ``input`` is converted to first. Default: its own.",
    "mask": "True where elements count; broadcast. Default: all do.",
    "ord": "Which norm. Default: 2.",
    "eps": "What the norm is at least. Default: 1e-12.",
    "unbiased": "Whether to divide by one less than the number of elements. Default: True.",
    "correction": "By how much less, in the place of ``unbiased``.",
}


def _documented(
    what: str, empty: str, arguments: str, shown: str, gives: str
) -> Callable[[_F], _F]:  # fmt: skip
    """Give a function of this module its docstring.

    Args:
        what: What it computes.
        empty: What it gives where no element counts.
        arguments: Its parameters.
        shown: The arguments of its example, of the tensor ``x`` of 1, 2 and 3 without the 2.
        gives: What that gives.
    """

    def decorate(function: _F) -> _F:
        name = function.__name__
        meant = "".join(f"    {each}: {_ARGUMENTS[each]}\n" for each in arguments.split())
        function.__doc__ = (
            f"{what} the elements that count.\n\nArgs:\n{meant}\nReturns:\n    {empty} where none "
            f"does.\n\nExample:\n"
            f"    >>> x = tt.tensor([1.0, 2.0, 3.0])\n"
            f"    >>> tt.masked.{name}(x, {shown}mask=x != 2)\n    {gives}\n"
        )
        return function

    return decorate


_REDUCED, _ALONG = "input dim keepdim dtype mask", "input dim dtype mask"


def _filled(
    input: Tensor, mask: Tensor | None, dtype: Any, value: float | Callable[[Any], Any]
) -> Tensor:
    """A tensor with a value in the place of what does not count."""
    x = input if dtype is None else input.to(dtype)
    if mask is None:
        return x
    number = value(x.dtype) if callable(value) else value
    return x.masked_fill(_shaped(x, mask).logical_not(), number)


def _shaped(x: Tensor, mask: Tensor) -> Tensor:
    """A mask as booleans of the tensor's shape."""
    return mask.to(dtypes.bool).expand(x.shape)


def _counted(x: Tensor, mask: Tensor | None) -> Tensor:
    return x.new_ones(x.shape) if mask is None else _shaped(x, mask).to(x.dtype)


def _dims(x: Tensor, dim: Dims) -> tuple[int, ...]:
    if dim is None or dim == ():
        return (*range(x.ndim),)
    chosen = (dim,) if isinstance(dim, int) else tuple(dim)
    return tuple(each % max(x.ndim, 1) for each in chosen) if x.ndim else ()


def _lowest(dtype: Any) -> float:
    if dtype.is_floating_point or dtype.is_complex:
        return -math.inf
    return dtypes.iinfo(dtype).min


def _highest(dtype: Any) -> float:
    return math.inf if dtype.is_floating_point else dtypes.iinfo(dtype).max


def _floating(x: Tensor, name: str) -> None:
    if not (x.is_floating_point() or x.is_complex()):
        raise ValueError(
            f"{name}(): Could not infer output dtype. Input dtype must be either a floating point "
            f"or complex dtype. Got: {x.dtype}"
        )


@_documented("The sum of", "0", _REDUCED, "", "tensor(4.)")
def sum(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _filled(input, mask, dtype, 0)
    return x.sum(_dims(x, dim), keepdim=keepdim) if x.ndim else x.sum()


@_documented("The product of", "1", _REDUCED, "", "tensor(3.)")
def prod(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _filled(input, mask, dtype, 1)
    dims = sorted(_dims(x, dim), reverse=True)
    for each in dims:
        x = x.prod(each, keepdim=keepdim)
    return x if dims else x.prod()


@_documented("The largest of", "The least number of the dtype", _REDUCED, "", "tensor(3.)")
def amax(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _filled(input, mask, dtype, _lowest)
    return x.amax(_dims(x, dim), keepdim)


@_documented("The least of", "The largest number of the dtype", _REDUCED, "", "tensor(1.)")
def amin(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _filled(input, mask, dtype, _highest)
    return x.amin(_dims(x, dim), keepdim)


@_documented("The place of the largest of", "0", _REDUCED, "", "tensor(2.)")
def argmax(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _filled(input, mask, dtype, _lowest)
    return x.argmax(dim, keepdim).to(x.dtype)


@_documented("The place of the least of", "0", _REDUCED, "", "tensor(0.)")
def argmin(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _filled(input, mask, dtype, _highest)
    return x.argmin(dim, keepdim).to(x.dtype)


@_documented("The mean of", "NaN", _REDUCED, "", "tensor(2.)")
def mean(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _filled(input, mask, dtype, 0)
    _floating(x, "mean")
    return sum(x, dim, keepdim=keepdim) / sum(_counted(x, mask), dim, keepdim=keepdim)


@_documented("The lower median of", "NaN", _REDUCED, "", "tensor(1.)")
def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = input if dtype is None else input.to(dtype)
    if x.is_floating_point():
        values: Tensor = _filled(x, mask, None, math.nan).nanmedian(dim, keepdim).values
        return values
    count = sum(_counted(x, mask), dim, keepdim=True)
    if bool((count == 0).any()):
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not floating point"
        )
    ordered = _filled(x, mask, None, _highest).sort(dim).values
    found = ordered.gather(dim, ((count - 1) // 2).to(dtypes.int64))
    return found if keepdim else found.squeeze(dim)


@_documented("log of the sum of exp of", "-inf", _REDUCED, "", "tensor(3.1269)")
def logsumexp(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _filled(input, mask, None, _lowest)
    found: Tensor = x.logsumexp(_dims(x, dim), keepdim)
    return found.to(x.dtype if dtype is None else dtype)


@_documented("A norm of", "That of nothing", "input ord dim keepdim dtype mask", "2, ",
             "tensor(3.1623)")  # fmt: skip
def norm(
    input: Tensor, ord: float | None = 2.0, dim: Dims = None, *, keepdim: bool = False,
    dtype: Any = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    order = 2.0 if ord is None else float(ord)
    x = _filled(input, mask, dtype, math.inf if order < 0 else 0)
    _floating(x, "norm")
    return find("linalg", "vector_norm")(x, order, _dims(x, dim), keepdim)  # type: ignore[no-any-return]


def _spread(
    input: Tensor, dim: Dims, unbiased: bool | None, correction: float | None,
    keepdim: bool, dtype: Any, mask: Tensor | None,
) -> Tensor:  # fmt: skip
    """The variance; of integers in float32, of complex numbers as a complex number."""
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    less = correction if correction is not None else 0 if unbiased is False else 1
    x = input if dtype is None else input.to(dtype)
    if not (x.is_floating_point() or x.is_complex()):
        x = x.to(dtypes.float32)
    x, counted = _filled(x, mask, None, 0), _counted(x, mask)
    distances = (x - mean(x, dim, keepdim=True, mask=mask)) * counted
    total = sum(distances.conj() * distances, dim, keepdim=keepdim)
    count = sum(counted.real, dim, keepdim=keepdim)
    found: Tensor = total / (count - less).clamp(min=0)
    return found if dtype is None else found.to(dtype)


_SPREAD = "input dim unbiased correction keepdim dtype mask"


@_documented("The variance of", "NaN", _SPREAD, "", "tensor(2.)")
def var(
    input: Tensor, dim: Dims = None, unbiased: bool | None = None, *,
    correction: float | None = None, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask)


@_documented("The standard deviation of", "NaN", _SPREAD, "", "tensor(1.4142)")
def std(
    input: Tensor, dim: Dims = None, unbiased: bool | None = None, *,
    correction: float | None = None, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask).sqrt()


# -- of the same shape --------------------------------------------------------------------------


@_documented("The sums so far of", "0", _ALONG, "0, ", "tensor([1., 1., 4.])")
def cumsum(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    return _filled(input, mask, None, 0).cumsum(dim, dtype=dtype or input.dtype)


@_documented("The products so far of", "1", _ALONG, "0, ", "tensor([1., 1., 3.])")
def cumprod(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    return _filled(input, mask, None, 1).cumprod(dim, dtype=dtype or input.dtype)


@_documented("Softmax of", "0; NaN", _ALONG, "0, ", "tensor([0.1192, 0.0000, 0.8808])")
def softmax(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    return _filled(input, mask, dtype, _lowest).softmax(dim)


@_documented("The logarithm of softmax of", "-inf; NaN", _ALONG, "0, ",
             "tensor([-2.1269,    -inf, -0.1269])")  # fmt: skip
def log_softmax(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    return _filled(input, mask, dtype, _lowest).log_softmax(dim)


@_documented("Softmax of what is opposite to", "0; NaN", _ALONG, "0, ",
             "tensor([0.8808, 0.0000, 0.1192])")  # fmt: skip
def softmin(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    return (-_filled(input, mask, dtype, _highest)).softmax(dim)


@_documented("The input divided by the norm of", "0", "input ord dim eps dtype mask", "2.0, 0, ",
             "tensor([0.3162, 0.0000, 0.9487])")  # fmt: skip
def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _filled(input, mask, dtype, 0)
    return x / norm(x, ord, dim, keepdim=True, mask=mask).clamp(min=eps)


def logaddexp(
    input: Tensor, other: Tensor, *, dtype: Any = None, input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """log of the sum of exp of two tensors' elements that count.

    Args:
        input: A tensor.
        other: Another.
        dtype: What both are converted to first. Default: their own.
        input_mask: True where elements of ``input`` count. Default: all do.
        other_mask: True where elements of ``other`` count. Default: all do.

    Example:
        >>> x = tt.tensor([1.0, 2.0])
        >>> tt.masked.logaddexp(x, x, other_mask=x > 1)
        tensor([1.0000, 2.6931])
    """
    one = _filled(input, input_mask, dtype, _lowest)
    return one.logaddexp(_filled(other, other_mask, dtype, _lowest))


# -- tensors with a mask ------------------------------------------------------------------------

_WHY = "tensors have no masks here: pass mask= to the functions of this module"


class MaskedTensor(Absent, why=_WHY):
    """A tensor with a mask; nothing is one here."""


def is_masked_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a tensor with a mask: False.

    Example:
        >>> tt.masked.is_masked_tensor(tt.ones(2))
        False
    """
    return False


masked_tensor = absent("masked.masked_tensor", _WHY)
as_masked_tensor = absent("masked.as_masked_tensor", _WHY)
